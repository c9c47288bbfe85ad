// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A small world with one viewer whose client is an inbox.

#ifndef PINHOLE_TEST_TOLD_WORLD_H
#define PINHOLE_TEST_TOLD_WORLD_H

#include "support/inbox.h"
#include "support/small_world.h"

#include <pinhole/viewer.h>

typedef struct told_world {
    small_world f;
    ph_viewer_id viewer;
    inbox box;
} told_world;

// There is but one at a time: it is too large for a stack.
told_world* told_setup_with(const ph_viewer_def* def);
// A spectator at the origin with more bits than it needs.
told_world* told_setup(void);
void told_teardown(told_world* x);

// The slot in which the viewer sees an entity, which it does.
int told_slot(const told_world* x, ph_entity_id id);

// Somebody whose enter is known to have arrived.
ph_entity_id told_person(told_world* x, uint64_t name, int32_t x_mm);

void told_set_health(told_world* x, ph_entity_id id, uint8_t health);
// What a record says of it.
uint32_t told_health(const told_world* x, const ph_record* record);

#endif
