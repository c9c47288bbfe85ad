// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The load scene: all creatures are in the world, move there as the scene says, and the same seed
// moves them alike.

#include "test_support.h"

#include "kit/creature.h"
#include "kit/load_scene.h"

enum { COUNT = 200, TICKS = 50, SEED = 7 };

static ph_world* make_world(const ph_load_scene* load)
{
    ph_world_def def = ph_world_def_default();
    def.schema = load->schema;
    ph_world* world = NULL;
    assert_int_equal(ph_world_create(&def, &world), PH_OK);
    return world;
}

static void the_world_follows_the_load_scene(void** state)
{
    (void)state;
    ph_load_scene* load = ph_load_scene_create(COUNT, SEED);
    ph_world* world = make_world(load);
    assert_int_equal(ph_load_scene_put(load, world), PH_OK);
    assert_int_equal(ph_world_entity_count(world), COUNT);
    int moved = 0;
    for (int tick = 0; tick < TICKS; ++tick) {
        const int32_t x_mm = load->x_mm[0];
        ph_load_scene_step(load, world);
        ph_world_tick(world);
        moved += load->x_mm[0] != x_mm ? 1 : 0;
        for (int i = 0; i < COUNT; ++i) {
            ph_creature creature = {0};
            assert_int_equal(ph_world_get_struct(world, load->id[i], &creature), PH_OK);
            assert_in_range(load->x_mm[i] - creature.position_mm[0], 0, 15);
            assert_in_range(load->y_mm[i] - creature.position_mm[1], 0, 15);
        }
    }
    assert_true(moved > TICKS / 2);
    ph_world_destroy(world);
    ph_load_scene_destroy(load);
}

static void the_same_seed_moves_alike(void** state)
{
    (void)state;
    ph_load_scene* one = ph_load_scene_create(COUNT, SEED);
    ph_load_scene* two = ph_load_scene_create(COUNT, SEED);
    ph_world* first = make_world(one);
    ph_world* second = make_world(two);
    ph_load_scene_put(one, first);
    ph_load_scene_put(two, second);
    for (int tick = 0; tick < TICKS; ++tick) {
        ph_load_scene_step(one, first);
        ph_load_scene_step(two, second);
        assert_memory_equal(one->x_mm, two->x_mm, COUNT * sizeof *one->x_mm);
        assert_memory_equal(one->y_mm, two->y_mm, COUNT * sizeof *one->y_mm);
    }
    ph_world_destroy(second);
    ph_world_destroy(first);
    ph_load_scene_destroy(two);
    ph_load_scene_destroy(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_world_follows_the_load_scene),
        cmocka_unit_test(the_same_seed_moves_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
