// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Written for clarity: every look goes over the whole crowd.

#include "slots_scene.h"

#include "test_support.h"

#include "vision/select.h"

#include <string.h>

void scene_setup(slots_scene* scene, int slot_count, int wanted)
{
    *scene = (slots_scene){.tick = 1000};
    scene->crowd = (ph_entity_arrays){.x_mm = scene->x_mm,
                                      .y_mm = scene->y_mm,
                                      .seen_by = scene->seen_by,
                                      .flags = scene->flags,
                                      .spawn_order = scene->spawn_order,
                                      .live = scene->live,
                                      .capacity = SCENE_CROWD};
    scene->eye =
        (ph_eye){.sees = 1, .own = PH_ENTITY_NONE, .radius_mm = SCENE_RADIUS, .wanted = wanted};
    for (int i = 0; i < SCENE_CROWD; ++i) {
        scene->spawn_order[i] = UINT64_MAX;
    }
    const ph_allocator allocator = test_memory_allocator(&scene->memory);
    assert_int_equal(ph_slots_create(&allocator, slot_count, &scene->slots), PH_OK);
    assert_true(ph_slots_validate(scene->slots));
    scene->sight = ph_slots_sight(scene->slots);
}

void scene_teardown(slots_scene* scene)
{
    assert_int_equal(scene->memory.allocate_count, 1);
    ph_slots_destroy(scene->slots);
    test_memory_assert_clean(&scene->memory);
}

void scene_spawn(slots_scene* scene, ph_entity_index entity, int32_t x_mm)
{
    assert_true(scene->spawn_order[entity] == UINT64_MAX);
    scene->x_mm[entity] = x_mm;
    scene->y_mm[entity] = 0;
    scene->seen_by[entity] = 1;
    scene->flags[entity] = 0;
    scene->spawn_order[entity] = scene->next_order++;
    scene->live[scene->crowd.live_count++] = entity;
}

void scene_despawn(slots_scene* scene, ph_entity_index entity)
{
    int i = 0;
    while (scene->live[i] != entity) {
        ++i;
    }
    scene->live[i] = scene->live[--scene->crowd.live_count];
    scene->spawn_order[entity] = UINT64_MAX;
}

int scene_look(const slots_scene* scene, ph_seen* seen)
{
    ph_seen scratch[SCENE_CROWD];
    ph_eye wide = scene->eye;
    wide.wanted = (wide.wanted * 11 + 9) / 10;
    wide.radius_mm = wide.radius_mm * 11 / 10;
    return ph_nearest_brute_force(&scene->crowd, &wide, scene->eye.wanted, scratch, seen);
}

// Takes one more into a reach, which says of the furthest how far it is, and of the always visible
// which was spawned last.
static void widen(const slots_scene* scene, ph_reach* reach, uint64_t* always_end,
                  const ph_seen* seen)
{
    if ((scene->flags[seen->entity] & PH_SEEN_ALWAYS) != 0) {
        *always_end = seen->spawn_order < *always_end ? *always_end : seen->spawn_order + 1;
    } else if (!ph_reach_has(reach, seen->distance2, seen->spawn_order)) {
        *reach = (ph_reach){seen->distance2, seen->spawn_order + 1};
    }
}

static ph_view view_of(const slots_scene* scene, const ph_seen* seen, int count)
{
    const uint64_t radius2 = (uint64_t)(scene->eye.radius_mm * scene->eye.radius_mm);
    ph_view view = {0};
    for (int i = 0; i < count; ++i) {
        widen(scene, &view.wide, &view.wide_always_end, &seen[i]);
        if (i < scene->eye.wanted) {
            widen(scene, &view.near, &view.near_always_end, &seen[i]);
        }
        if (i < scene->eye.wanted && seen[i].distance2 <= radius2) {
            widen(scene, &view.enter, &view.near_always_end, &seen[i]);
            ++view.enter_count;
        }
    }
    return view;
}

// Whether the world would say so: every entity shown is still there and may be seen, and none is
// seen at any distance.
static bool is_calm(const slots_scene* scene)
{
    for (int i = 0; i < SCENE_CROWD; ++i) {
        if (scene->spawn_order[i] != UINT64_MAX && (scene->flags[i] & PH_SEEN_ALWAYS) != 0) {
            return false;
        }
    }
    for (int slot = 1; slot < scene->sight.slot_count; ++slot) {
        const ph_entity_index entity = scene->sight.entities[slot];
        if (entity != PH_ENTITY_NONE &&
            (scene->spawn_order[entity] != scene->last_order[entity] ||
             (scene->seen_by[entity] & scene->eye.sees) == 0 || scene->flags[entity] != 0)) {
            return false;
        }
    }
    return true;
}

void scene_refresh(slots_scene* scene)
{
    ph_seen seen[SCENE_CROWD];
    const int seen_count = scene_look(scene, seen);
    const ph_view view = view_of(scene, seen, seen_count);
    ph_slots_step step = {
        .arrays = &scene->crowd,
        .eye = &scene->eye,
        .view = &view,
        .newcomers = seen,
        .tick = scene->tick,
        .stay_ticks = scene->stay_ticks,
        .is_calm = !scene->is_wary && is_calm(scene),
    };
    const int missing = ph_slots_judge(scene->slots, &step);
    int near_count = 0;
    for (int i = 0; i < seen_count; ++i) {
        const bool is_always = (scene->flags[seen[i].entity] & PH_SEEN_ALWAYS) != 0;
        seen[near_count] = seen[i];
        near_count += is_always ? seen[i].spawn_order < view.near_always_end
                                : ph_reach_has(&view.enter, seen[i].distance2, seen[i].spawn_order);
    }
    assert_int_equal(near_count, view.enter_count);
    step.newcomer_count = ph_slots_sift(scene->slots, seen, near_count);
    assert_int_equal(step.newcomer_count, missing);
    ph_slots_refresh(scene->slots, &step);
    ++scene->tick;
    assert_true(ph_slots_validate(scene->slots));
    scene->sight = ph_slots_sight(scene->slots);
    memcpy(scene->last_order, scene->spawn_order, sizeof scene->last_order);
    scene->calm_count += step.is_calm;
    scene->event_count += scene->sight.enter_count + scene->sight.leave_count;
}

void scene_free_all_resting(slots_scene* scene)
{
    for (int slot = 0; slot < scene->sight.slot_count; ++slot) {
        if (ph_slots_state(scene->slots, slot) == PH_SLOT_RESTING) {
            ph_slots_free(scene->slots, slot);
        }
    }
}

bool scene_is_shown(const slots_scene* scene, ph_entity_index entity)
{
    return ph_slots_find(scene->slots, entity) >= 0;
}

void scene_assert_slots(const uint16_t* slots, int count, const uint16_t* expected,
                        int expected_count)
{
    assert_int_equal(count, expected_count);
    for (int i = 0; i < count; ++i) {
        assert_int_equal(slots[i], expected[i]);
    }
}
