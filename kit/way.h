// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The ways to keep a viewer's client up to date that are compared with each other: the two profiles of
// the library, and plain snapshots (snapshot.h). Each has two ends, and each end stands without the other:
//
//   ph_way_sender ──▶ datagrams ──▶ ph_way_client: what is shown
//       of a world ◀── acks ◀──
//
// The simulator has both (sim_session.h). A server has senders alone, a page in a browser clients alone:
// way, way_client, snapshot, snapshot_read, snapshot_client and town are also built as WebAssembly. So all
// that a client must know to be made is said in a few words: a way, a schema as text, the name of a
// ground, two numbers.

#ifndef PINHOLE_KIT_WAY_H
#define PINHOLE_KIT_WAY_H

#include <pinhole/ground.h>

#include <stdbool.h>

typedef enum ph_way { PH_WAY_CLASSIC = 0, PH_WAY_PINHOLE, PH_WAY_SNAPSHOT, PH_WAY_COUNT } ph_way;

// "classic", "pinhole" or "snapshot".
const char* ph_way_name(ph_way way);
// @return False when there is no such way.
bool ph_way_find(const char* name, ph_way* way);

// What a client must know of its sender. Profiles tell their clients themselves: for them slot_count is
// what the client has room for, and payload_max means nothing.
typedef struct ph_way_terms {
    int slot_count;  // the viewer's
    int payload_max; // bytes of a datagram at most
} ph_way_terms;

// Grounds that both ends know by a name: "town", and "" for none.
// @return NULL for a ground without a name.
const char* ph_way_ground_name(const ph_ground* ground);
// @return False when there is none of that name.
bool ph_way_find_ground(const char* name, ph_ground* ground);

#endif
