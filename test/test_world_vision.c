// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Viewers of a world and the entities that they see; where their eyes are and when they are
// refreshed is in test_world_turns.c. How the nearest are found is tested with grid and groups, how
// slots are given with the slots.

#include "support/test_support.h"
#include "support/small_world.h"

#include "kit/scene.h"
#include "vision/select.h"
#include "world/world_state.h"
#include "tools/tools.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <stdlib.h>

// ---- what it sees

static void a_viewer_sees_the_nearest_and_its_own_entity_is_slot_0(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id own = small_world_spawn_at(&f, 1, 0, 0);
    const ph_entity_id far = small_world_spawn_at(&f, 2, 9000, 0);
    const ph_entity_id near = small_world_spawn_at(&f, 3, 0, -2000);
    const ph_entity_id middle = small_world_spawn_at(&f, 4, 3000, 3000);
    const ph_entity_id out_of_range = small_world_spawn_at(&f, 5, 251000, 0);
    const ph_viewer_id viewer = small_world_add_viewer(&f, own, 2);
    assert_int_equal(small_world_sight(&f, viewer).visible_count, 0);
    ph_world_tick(f.world);
    assert_int_equal(small_world_slot(&f, viewer, own), 0);
    assert_true(small_world_sees(&f, viewer, near) && small_world_sees(&f, viewer, middle));
    assert_false(small_world_sees(&f, viewer, far) || small_world_sees(&f, viewer, out_of_range));
    const ph_vision sight = small_world_sight(&f, viewer);
    assert_int_equal(sight.slot_count, 4);
    assert_int_equal(sight.visible_count, 2);
    // Its own first, then nearest first.
    assert_int_equal(sight.enter_count, 3);
    assert_int_equal(sight.enters[0], 0);
    assert_int_equal(sight.enters[1], small_world_slot(&f, viewer, near));
    assert_int_equal(sight.enters[2], small_world_slot(&f, viewer, middle));
    ph_world_tick(f.world);
    assert_int_equal(small_world_sight(&f, viewer).enter_count, 0);
    small_world_teardown(&f);
}

static void a_spectator_sees_from_its_eye_across_the_edge_of_the_world(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id east = small_world_spawn_at(&f, 1, INT32_MIN + 5000, INT32_MAX);
    const ph_entity_id west = small_world_spawn_at(&f, 2, INT32_MAX - 5000, INT32_MIN);
    const ph_viewer_id viewer = small_world_add_viewer(&f, (ph_entity_id){0}, 10);
    ph_world_tick(f.world);
    assert_int_equal(small_world_sight(&f, viewer).visible_count, 0);
    assert_int_equal(ph_viewer_set_eye(f.world, viewer, INT32_MAX, INT32_MAX, 0), PH_OK);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, east) && small_world_sees(&f, viewer, west));
    assert_int_equal(small_world_sight(&f, viewer).entities[0], PH_ENTITY_NONE);
    small_world_teardown(&f);
}

static bool is_even(void* context, ph_viewer_id viewer, ph_entity_id entity)
{
    uint64_t name;
    const small_world* f = context;
    assert_int_equal(viewer.index1, 1);
    assert_int_equal(ph_world_identify(f->world, entity, &name, NULL), PH_OK);
    return name % 2 == 0;
}

static void masks_flags_and_the_games_callback_decide_what_may_be_seen(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    f.def.may_see = is_even;
    f.def.may_see_context = &f;
    small_world_again(&f);
    const ph_entity_id own = small_world_spawn_at(&f, 1, 0, 0);
    const ph_entity_id odd = small_world_spawn_at(&f, 3, 1000, 0);
    const ph_entity_id even = small_world_spawn_at(&f, 4, 2000, 0);
    const ph_entity_id masked = small_world_spawn_at(&f, 6, 3000, 0);
    const ph_entity_id never = small_world_spawn_at(&f, 8, 4000, 0);
    const ph_entity_id always = small_world_spawn_at(&f, 10, 2000000, 0);
    const ph_entity_id odd_always = small_world_spawn_at(&f, 11, 2000000, 0);
    assert_int_equal(ph_world_set_visibility(f.world, own, 2, false, true), PH_OK);
    assert_int_equal(ph_world_set_visibility(f.world, masked, 2, false, false), PH_OK);
    assert_int_equal(ph_world_set_visibility(f.world, never, 1, false, true), PH_OK);
    assert_int_equal(ph_world_set_visibility(f.world, always, 1, true, false), PH_OK);
    assert_int_equal(ph_world_set_visibility(f.world, odd_always, 1, true, false), PH_OK);
    ph_viewer_def def = ph_viewer_def_default();
    def.entity = own;
    def.sees = 1;
    ph_viewer_id viewer;
    assert_int_equal(ph_world_add_viewer(f.world, &def, &viewer), PH_OK);
    ph_world_tick(f.world);
    assert_int_equal(small_world_slot(&f, viewer, own), 0);
    assert_true(small_world_sees(&f, viewer, even) && small_world_sees(&f, viewer, always));
    assert_false(small_world_sees(&f, viewer, odd) || small_world_sees(&f, viewer, masked) ||
                 small_world_sees(&f, viewer, never) || small_world_sees(&f, viewer, odd_always));

    // From now on it may see others.
    assert_int_equal(ph_viewer_set_sees(f.world, viewer, 2), PH_OK);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, masked) &&
                small_world_sees(&f, viewer, even)); // seen by all viewers
    assert_false(small_world_sees(&f, viewer, always) || small_world_sees(&f, viewer, never));
    small_world_teardown(&f);
}

// A mask that was worked out and came to nothing must not open what it was to close.
static void a_mask_without_bits_hides_unless_it_was_never_set(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id own = small_world_spawn_at(&f, 1, 0, 0);
    const ph_entity_id other = small_world_spawn_at(&f, 2, 1000, 0);
    const ph_viewer_id viewer = small_world_add_viewer(&f, own, 10);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, other)); // spawned with 0: for all viewers
    assert_int_equal(ph_world_set_visibility(f.world, other, 0, false, false), PH_OK);
    assert_int_equal(ph_world_set_visibility(f.world, own, 0, false, false), PH_OK);
    ph_world_tick(f.world);
    assert_false(small_world_sees(&f, viewer, other));
    assert_int_equal(small_world_slot(&f, viewer, own), 0);
    assert_int_equal(ph_world_set_visibility(f.world, other, 0, true, false), PH_OK);
    ph_world_tick(f.world);
    assert_false(small_world_sees(&f, viewer, other)); // nor at any distance
    assert_int_equal(ph_world_set_visibility(f.world, other, UINT32_MAX, false, false), PH_OK);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, other));
    small_world_teardown(&f);
}

// The promise in one line: with no hysteresis, the N nearest that may be seen, whatever happens.
static void assert_nearest(const small_world* f, ph_viewer_id viewer)
{
    const uint32_t index = viewer.index1 - 1;
    const ph_entity_arrays crowd = ph_entities_arrays(&f->world->store.entities);
    const ph_eye* eye = &f->world->viewers.eyes[index];
    ph_seen scratch[200];
    ph_seen seen[200];
    const int count = ph_nearest_brute_force(&crowd, eye, eye->wanted, scratch, seen);
    const ph_vision sight = small_world_sight(f, viewer);
    assert_int_equal(sight.visible_count, count);
    for (int i = 0; i < count; ++i) {
        assert_true(ph_slots_find(f->world->viewers.viewers[index].slots, seen[i].entity) > 0);
    }
}

static void without_hysteresis_a_sight_is_exactly_the_nearest(void** state)
{
    (void)state;
    for (int kind = PH_VISION_GRID; kind <= PH_VISION_GROUPS; ++kind) {
        small_world f;
        small_world_setup(&f, 16);
        f.def.vision.kind = (ph_vision_kind)kind;
        f.def.vision.hysteresis = 1.0;
        f.def.vision.stay_ticks = 0;
        small_world_again(&f);
        test_rng rng = {.state = 31};
        ph_entity_id ids[150];
        ph_viewer_id viewers[10];
        for (int i = 0; i < 150; ++i) {
            ids[i] = small_world_spawn_at(&f, (uint64_t)i, 0, 0);
        }
        for (int v = 0; v < 10; ++v) {
            viewers[v] = small_world_add_viewer(&f, v < 8 ? ids[v] : (ph_entity_id){0}, 5 + 4 * v);
        }
        for (int tick = 0; tick < 60; ++tick) {
            const int spread_mm = 1000 << test_rng_below(&rng, 10);
            for (int i = 0; i < 150; ++i) {
                const int x_mm = (int)test_rng_below(&rng, (uint64_t)spread_mm);
                const int y_mm = (int)test_rng_below(&rng, (uint64_t)spread_mm);
                assert_int_equal(ph_world_move(f.world, ids[i], x_mm, y_mm, 0), PH_OK);
            }
            ph_world_tick(f.world);
            for (int v = 0; v < 10; ++v) {
                small_world_free_left(&f, viewers[v]);
            }
            // Newcomers may have had to wait for the slots that were left just now.
            ph_world_tick(f.world);
            for (int v = 0; v < 10; ++v) {
                assert_nearest(&f, viewers[v]);
            }
            assert_true(ph_world_validate(f.world));
        }
        small_world_teardown(&f);
    }
}

// ---- coming and going

static void a_left_slot_is_free_when_the_game_says_so(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id other = small_world_spawn_at(&f, 2, 1000, 0);
    const ph_viewer_id viewer = small_world_add_viewer(&f, (ph_entity_id){0}, 1);
    ph_world_tick(f.world);
    assert_int_equal(small_world_slot(&f, viewer, other), 1);
    assert_int_equal(ph_viewer_free_slot(f.world, viewer, 1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_despawn(f.world, other), PH_OK);
    ph_world_tick(f.world);
    assert_int_equal(small_world_sight(&f, viewer).leave_count, 1);
    assert_int_equal(small_world_sight(&f, viewer).leaves[0], 1);

    const ph_entity_id next = small_world_spawn_at(&f, 3, 1000, 0);
    ph_world_tick(f.world); // the only slot still rests
    assert_false(small_world_sees(&f, viewer, next));
    assert_int_equal(ph_world_get_stats(f.world).vision.slot_waits, 1);
    assert_int_equal(ph_viewer_free_slot(f.world, viewer, 1), PH_OK);
    assert_int_equal(ph_viewer_free_slot(f.world, viewer, 1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_viewer_free_slot(f.world, viewer, -1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_viewer_free_slot(f.world, viewer, 2), PH_ERROR_ARGUMENT);
    ph_world_tick(f.world);
    assert_true(small_world_sees(&f, viewer, next));
    small_world_teardown(&f);
}

static void a_teleport_changes_everything_at_once(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id own = small_world_spawn_at(&f, 100, 0, 0);
    for (int i = 0; i < 50; ++i) {
        small_world_spawn_at(&f, (uint64_t)i, 1000 * i, 0);
        small_world_spawn_at(&f, (uint64_t)i + 50, 1000 * i, 1000000000);
    }
    const ph_viewer_id viewer = small_world_add_viewer(&f, own, 60);
    for (int tick = 0; tick < 20; ++tick) {
        ph_world_tick(f.world);
    }
    assert_int_equal(small_world_sight(&f, viewer).visible_count, 50);
    assert_int_equal(ph_world_move(f.world, own, 0, 1000000000, 0), PH_OK);
    ph_world_tick(f.world);
    const ph_vision sight = small_world_sight(&f, viewer);
    assert_int_equal(sight.leave_count, 50);
    assert_int_equal(sight.enter_count, 50);
    assert_int_equal(sight.visible_count, 50);
    assert_int_equal(small_world_slot(&f, viewer, own), 0);
    small_world_teardown(&f);
}

// The stay time is for the edge, not for another place.
static void a_jump_right_after_the_enter_leaves_nothing_behind_in_sight(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_viewer_id viewer = small_world_add_viewer(&f, (ph_entity_id){0}, 10);
    for (int i = 0; i < 8; ++i) {
        small_world_spawn_at(&f, (uint64_t)i, 1000 * i, 0);
    }
    ph_world_tick(f.world);
    assert_int_equal(small_world_sight(&f, viewer).visible_count, 8);
    assert_int_equal(ph_viewer_set_eye(f.world, viewer, 100000000, 0, 0), PH_OK);
    ph_world_tick(f.world);
    assert_int_equal(small_world_sight(&f, viewer).visible_count, 0);
    assert_int_equal(small_world_sight(&f, viewer).leave_count, 8);
    small_world_teardown(&f);
}

static void entities_enter_within_the_radius_and_leave_a_tenth_beyond(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    f.def.vision.stay_ticks = 0;
    small_world_again(&f);
    const ph_entity_id other = small_world_spawn_at(&f, 1, 250001, 0);
    const ph_viewer_id viewer = small_world_add_viewer(&f, (ph_entity_id){0}, 10);
    const struct {
        int32_t x_mm;
        bool is_seen;
    } way[] = {{250001, false}, {250000, true}, {274999, true}, {275001, false}, {250001, false}};
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(ph_world_move(f.world, other, way[i].x_mm, 0, 0), PH_OK);
        ph_world_tick(f.world);
        assert_int_equal(small_world_sees(&f, viewer, other), way[i].is_seen);
    }
    small_world_teardown(&f);
}

// All of them near; then newcomers come in front of them one by one, and are looked at after each.
static int count_most_visible(int visible_max, int newcomer_count)
{
    small_world f;
    small_world_setup(&f, 16);
    f.def.vision.stay_ticks = 0;
    small_world_again(&f);
    for (int i = 0; i < visible_max; ++i) {
        small_world_spawn_at(&f, (uint64_t)i, 1000 + i, 0);
    }
    const ph_viewer_id viewer = small_world_add_viewer(&f, (ph_entity_id){0}, visible_max);
    ph_world_tick(f.world);
    int most = 0;
    for (int i = 0; i < newcomer_count; ++i) {
        small_world_spawn_at(&f, (uint64_t)(visible_max + i), 0, 0);
        ph_world_tick(f.world);
        const int count = small_world_sight(&f, viewer).visible_count;
        most = count > most ? count : most;
    }
    small_world_teardown(&f);
    return most;
}

static void a_tenth_more_than_the_visible_limit_stays_and_no_more(void** state)
{
    (void)state;
    // 100 * 1.1 is a little more than 110 in a double, 7 * 1.1 in earnest more than 7.
    assert_int_equal(count_most_visible(100, 14), 110);
    assert_int_equal(count_most_visible(10, 4), 11);
    assert_int_equal(count_most_visible(7, 4), 8);
}

static uint64_t count_events_on_the_edge(double hysteresis, int stay_ticks)
{
    small_world f;
    small_world_setup(&f, 128);
    f.def.vision.hysteresis = hysteresis;
    f.def.vision.stay_ticks = stay_ticks;
    small_world_again(&f);
    ph_scene* scene = ph_scene_create("edge", 100, 10, 2024);
    ph_entity_id ids[100];
    for (int i = 0; i < scene->count; ++i) {
        ids[i] = small_world_spawn_at(&f, (uint64_t)i, scene->x_mm[i], scene->y_mm[i]);
    }
    const ph_viewer_id viewer = small_world_add_viewer(&f, ids[0], 250);
    for (int tick = 0; tick < 600; ++tick) {
        ph_scene_step(scene);
        for (int i = 0; i < scene->count; ++i) {
            ph_world_move(f.world, ids[i], scene->x_mm[i], scene->y_mm[i], 0);
        }
        ph_world_tick(f.world);
        small_world_free_left(&f, viewer);
    }
    const ph_vision_stats stats = ph_world_get_stats(f.world).vision;
    ph_scene_destroy(scene);
    small_world_teardown(&f);
    return stats.enters + stats.leaves;
}

static void dancing_on_the_edge_causes_no_storm(void** state)
{
    (void)state;
    // All entities enter, and only those that dance far out leave and come back.
    const uint64_t calm = count_events_on_the_edge(1.1, 10);
    const uint64_t storm = count_events_on_the_edge(1.0, 0);
    assert_in_range(calm, 90, 250);
    assert_true(storm > 10 * calm);
}

// ---- the rest

static void senseless_viewers_are_refused(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_viewer_def sound = ph_viewer_def_default();
    ph_viewer_def defs[8];
    for (int i = 0; i < 8; ++i) {
        defs[i] = sound;
    }
    defs[0].radius_mm = -1;
    defs[1].radius_mm = f.def.radius_max_mm + 1;
    defs[2].visible_max = 0;
    defs[3].visible_max = PH_VISIBLE_MAX + 1;
    defs[4].slot_count = defs[4].visible_max;
    defs[5].slot_count = 65536;
    defs[6].slot_count = -1;
    defs[7].entity = (ph_entity_id){.index1 = 1, .generation = 1};
    for (int i = 0; i < 8; ++i) {
        ph_viewer_id viewer = {1, 1};
        assert_int_equal(ph_world_add_viewer(f.world, &defs[i], &viewer),
                         i == 7 ? PH_ERROR_STALE : PH_ERROR_ARGUMENT);
        assert_int_equal(viewer.index1, 0);
    }
    ph_viewer_def largest = sound;
    largest.visible_max = PH_VISIBLE_MAX;
    largest.slot_count = 65535;
    ph_viewer_id viewer;
    assert_int_equal(ph_world_add_viewer(f.world, &largest, &viewer), PH_OK);
    ph_world_tick(f.world);
    small_world_teardown(&f);
}

static void every_call_recognises_a_stale_viewer(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_viewer_id viewer = small_world_add_viewer(&f, (ph_entity_id){0}, 10);
    assert_int_equal(ph_world_remove_viewer(f.world, viewer), PH_OK);
    const ph_viewer_id other = small_world_add_viewer(&f, (ph_entity_id){0}, 10);
    assert_int_equal(other.index1, viewer.index1);
    ph_vision sight = {.slot_count = 7};
    assert_int_equal(ph_world_remove_viewer(f.world, viewer), PH_ERROR_STALE);
    assert_int_equal(ph_viewer_set_eye(f.world, viewer, 0, 0, 0), PH_ERROR_STALE);
    assert_int_equal(ph_viewer_set_entity(f.world, viewer, (ph_entity_id){0}), PH_ERROR_STALE);
    assert_int_equal(ph_viewer_set_sees(f.world, viewer, 1), PH_ERROR_STALE);
    assert_int_equal(ph_viewer_free_slot(f.world, viewer, 1), PH_ERROR_STALE);
    assert_int_equal(ph_viewer_get_vision(f.world, viewer, &sight), PH_ERROR_STALE);
    assert_int_equal(sight.slot_count, 0);
    assert_int_equal(ph_viewer_get_vision(f.world, (ph_viewer_id){0}, &sight), PH_ERROR_STALE);
    small_world_teardown(&f);
}

// With walkers, enters and leaves, spawns and despawns before it: the tick itself takes no memory.
static void a_warm_tick_allocates_nothing(void** state)
{
    (void)state;
    for (int kind = PH_VISION_GRID; kind <= PH_VISION_GROUPS; ++kind) {
        small_world f;
        small_world_setup(&f, 16);
        f.def.vision.kind = (ph_vision_kind)kind;
        small_world_again(&f);
        ph_scene* scene = ph_scene_create("wander", 300, 2, 5);
        ph_entity_id ids[300];
        ph_viewer_id viewers[12];
        for (int i = 0; i < scene->count; ++i) {
            ids[i] = small_world_spawn_at(&f, (uint64_t)i, scene->x_mm[i], scene->y_mm[i]);
        }
        for (int v = 0; v < 12; ++v) {
            viewers[v] = small_world_add_viewer(&f, v < 10 ? ids[v] : (ph_entity_id){0}, 40);
        }
        ph_world_tick(f.world);
        for (int tick = 0; tick < 200; ++tick) {
            ph_scene_step(scene);
            for (int i = 0; i < scene->count; ++i) {
                ph_world_move(f.world, ids[i], scene->x_mm[i], scene->y_mm[i], scene->z_mm[i]);
            }
            ph_world_despawn(f.world, ids[tick]);
            ids[tick] = small_world_spawn_at(&f, (uint64_t)(1000 + tick), scene->x_mm[tick],
                                             scene->y_mm[tick]);
            const int allocate_count = f.memory.allocate_count;
            ph_world_tick(f.world);
            assert_int_equal(f.memory.allocate_count, allocate_count);
            for (int v = 0; v < 12; ++v) {
                small_world_free_left(&f, viewers[v]);
            }
        }
        const ph_vision_stats stats = ph_world_get_stats(f.world).vision;
        assert_true(stats.refreshes == 12 * 201 && stats.enters > 500 && stats.leaves > 100);
        assert_true((stats.made_lists > 0) == (kind == PH_VISION_GROUPS));
        ph_scene_destroy(scene);
        small_world_teardown(&f);
    }
}

static void waits_of_removed_viewers_still_count(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id other = small_world_spawn_at(&f, 1, 0, 0);
    const ph_viewer_id viewer = small_world_add_viewer(&f, (ph_entity_id){0}, 1);
    ph_world_tick(f.world);
    assert_int_equal(ph_world_despawn(f.world, other), PH_OK);
    small_world_spawn_at(&f, 2, 0, 0);
    ph_world_tick(f.world);
    const uint64_t waits = ph_world_get_stats(f.world).vision.slot_waits;
    assert_true(waits > 0);
    assert_int_equal(ph_world_remove_viewer(f.world, viewer), PH_OK);
    assert_int_equal(ph_world_get_stats(f.world).vision.slot_waits, waits);
    small_world_teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_viewer_sees_the_nearest_and_its_own_entity_is_slot_0),
        cmocka_unit_test(a_spectator_sees_from_its_eye_across_the_edge_of_the_world),
        cmocka_unit_test(masks_flags_and_the_games_callback_decide_what_may_be_seen),
        cmocka_unit_test(a_mask_without_bits_hides_unless_it_was_never_set),
        cmocka_unit_test(without_hysteresis_a_sight_is_exactly_the_nearest),
        cmocka_unit_test(a_left_slot_is_free_when_the_game_says_so),
        cmocka_unit_test(a_teleport_changes_everything_at_once),
        cmocka_unit_test(a_jump_right_after_the_enter_leaves_nothing_behind_in_sight),
        cmocka_unit_test(entities_enter_within_the_radius_and_leave_a_tenth_beyond),
        cmocka_unit_test(a_tenth_more_than_the_visible_limit_stays_and_no_more),
        cmocka_unit_test(dancing_on_the_edge_causes_no_storm),
        cmocka_unit_test(senseless_viewers_are_refused),
        cmocka_unit_test(every_call_recognises_a_stale_viewer),
        cmocka_unit_test(a_warm_tick_allocates_nothing),
        cmocka_unit_test(waits_of_removed_viewers_still_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
