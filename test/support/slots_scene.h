// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A small crowd, one viewer and its slots. A refresh looks as the world does: an exact query a
// tenth wider than the vision, then the slots, then a validation.

#ifndef PINHOLE_SLOTS_SCENE_H
#define PINHOLE_SLOTS_SCENE_H

#include "test_memory.h"

#include "vision/slots.h"

enum {
    SCENE_CROWD = 640, // entity indices are below
    METRE = 1000,
    SCENE_RADIUS = 100 * METRE,
};

typedef struct slots_scene {
    int32_t x_mm[SCENE_CROWD];
    int32_t y_mm[SCENE_CROWD];
    uint32_t seen_by[SCENE_CROWD];
    uint8_t flags[SCENE_CROWD];
    uint64_t spawn_order[SCENE_CROWD];
    ph_entity_index live[SCENE_CROWD];
    ph_entity_arrays crowd;
    ph_eye eye; // a spectator at (0, 0) until told otherwise
    uint32_t tick;
    int stay_ticks;
    uint64_t next_order;
    uint64_t last_order[SCENE_CROWD]; // spawn orders at the last refresh
    bool is_wary;                     // refreshes are never told that nothing happened
    int calm_count;                   // refreshes that were
    int event_count;                  // enters and leaves so far
    test_memory memory;
    ph_slots* slots;
    ph_vision sight; // after the last refresh
} slots_scene;

void scene_setup(slots_scene* scene, int slot_count, int wanted);

// Checks that nothing was allocated after the setup, and nothing leaked.
void scene_teardown(slots_scene* scene);

// At (x_mm, 0), to be seen by mask 1, which is the eye's.
void scene_spawn(slots_scene* scene, ph_entity_index entity, int32_t x_mm);
void scene_despawn(slots_scene* scene, ph_entity_index entity);

// The wider query. @return How many were written to seen, of SCENE_CROWD at most.
int scene_look(const slots_scene* scene, ph_seen* seen);

void scene_refresh(slots_scene* scene);
void scene_free_all_resting(slots_scene* scene);
bool scene_is_shown(const slots_scene* scene, ph_entity_index entity);

// Fails the test unless both lists are the same.
void scene_assert_slots(const uint16_t* slots, int count, const uint16_t* expected,
                        int expected_count);

// The enters or leaves of the last refresh: SCENE_ASSERT_ENTERS(&scene, 3, 1);
#define SCENE_ASSERT_ENTERS(s, ...)                                                                \
    do {                                                                                           \
        const uint16_t expected[] = {__VA_ARGS__};                                                 \
        scene_assert_slots((s)->sight.enters, (s)->sight.enter_count, expected,                    \
                           (int)(sizeof(expected) / sizeof(expected[0])));                         \
    } while (0)

#define SCENE_ASSERT_LEAVES(s, ...)                                                                \
    do {                                                                                           \
        const uint16_t expected[] = {__VA_ARGS__};                                                 \
        scene_assert_slots((s)->sight.leaves, (s)->sight.leave_count, expected,                    \
                           (int)(sizeof(expected) / sizeof(expected[0])));                         \
    } while (0)

#endif
