// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A look at the whole world of a demonstration, for its page: a follower of all cells (ph_bus_front without a host), as
// a tool of any game could have, so that each entity says which sim it comes from; and what front-ends report of their
// players.

#ifndef PH_APP_CLUSTER_WATCH_H
#define PH_APP_CLUSTER_WATCH_H

#include "cluster_stage.h"
#include "kit/json.h"

typedef struct cluster_watch cluster_watch;

// With a connection of its own, so that a page changes nothing for the stage. The stage outlives it and is open.
// @return NULL with *fault filled.
cluster_watch* cluster_watch_open(const cluster_stage* stage, ph_fault* fault);
void cluster_watch_close(cluster_watch* watch); // NULL is allowed

// Takes what has come. A few dozen times a second.
void cluster_watch_turn(cluster_watch* watch, uint64_t now_us);

// Everything that the page shows, as one object (docs/wire_feed.md).
void cluster_watch_write(const cluster_watch* watch, ph_json* json);

#endif
