// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A small world with one viewer whose client is an inbox.

#ifndef PINHOLE_TEST_VIEWED_WORLD_H
#define PINHOLE_TEST_VIEWED_WORLD_H

#include "support/inbox.h"
#include "support/small_world.h"

#include <pinhole/viewer.h>

typedef struct viewed_world {
    small_world f;
    ph_viewer_id viewer;
    inbox box;
} viewed_world;

// There is but one at a time: it is too large for a stack.
viewed_world* viewed_setup_with(const ph_viewer_def* def);
// A spectator at the origin with more bits than it needs.
viewed_world* viewed_setup(void);
void viewed_teardown(viewed_world* x);

// The slot in which the viewer sees an entity, which it does.
int viewed_slot(const viewed_world* x, ph_entity_id id);

// An entity whose enter is known to have arrived.
ph_entity_id viewed_person(viewed_world* x, uint64_t name, int32_t x_mm);

void viewed_set_health(viewed_world* x, ph_entity_id id, uint8_t health);
// What a record says of it.
uint32_t viewed_health(const viewed_world* x, const ph_record* record);

#endif
