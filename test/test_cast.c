// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Scene, creature and world together: who is on stage is in the world, and lives there.

#include "support/test_support.h"

#include "base/hash.h"
#include "kit/cast.h"

#include <string.h>

enum { ACTOR_COUNT = 150 };

typedef struct fixture {
    ph_schema* schema;
    ph_world* world;
    ph_scene* scene;
    ph_cast* cast;
} fixture;

static void setup(fixture* f)
{
    const ph_class_def creature = ph_creature_class();
    assert_int_equal(ph_schema_create(&creature, 1, NULL, &f->schema, NULL), PH_OK);
    ph_world_def def = ph_world_def_default();
    def.schema = f->schema;
    assert_int_equal(ph_world_create(&def, &f->world), PH_OK);
    f->scene = ph_scene_create("wander", ACTOR_COUNT, 10, 3);
    f->cast = ph_cast_create(f->scene, f->world, 0, 4);
    assert_non_null(f->cast);
}

static void teardown(fixture* f)
{
    assert_true(ph_world_validate(f->world));
    ph_cast_destroy(f->cast);
    ph_scene_destroy(f->scene);
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
}

static void step(fixture* f)
{
    ph_scene_step(f->scene);
    assert_int_equal(ph_cast_step(f->cast), PH_OK);
}

static void who_is_on_stage_is_in_the_world_where_it_stands(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    int absent_count = 0;
    for (int i = 0; i < 300; ++i) {
        step(&f);
        for (int k = 0; k < ACTOR_COUNT; ++k) {
            const ph_entity_id id = ph_world_find(f.world, (uint64_t)k);
            assert_int_equal(ph_world_is_alive(f.world, id), f.scene->present[k]);
            absent_count += !f.scene->present[k];
            ph_creature shown;
            if (ph_world_get(f.world, id, &shown) == PH_OK) {
                assert_in_range(f.scene->x_mm[k] - shown.position_mm[0], 0, 15);
                assert_in_range(f.scene->y_mm[k] - shown.position_mm[1], 0, 15);
                assert_in_range(f.scene->z_mm[k] - shown.position_mm[2], 0, 15);
                assert_string_equal(shown.name, f.cast->creature[k].name);
            }
        }
        ph_world_tick(f.world);
    }
    assert_true(absent_count > 0);
    teardown(&f);
}

static void creatures_do_more_than_walk(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    uint64_t changed = 0;
    for (int i = 0; i < 600; ++i) {
        ph_world_tick(f.world);
        step(&f);
        for (int k = 0; k < ACTOR_COUNT; ++k) {
            changed |= ph_world_changes(f.world, f.cast->entity[k]);
        }
    }
    const int lively[] = {PH_CREATURE_POSITION,   PH_CREATURE_HEADING, PH_CREATURE_BEHAVIOUR,
                          PH_CREATURE_TARGET,     PH_CREATURE_MODE,    PH_CREATURE_STAMINA,
                          PH_CREATURE_HIT_POINTS, PH_CREATURE_EFFECTS};
    for (size_t i = 0; i < sizeof lively / sizeof lively[0]; ++i) {
        assert_true((changed >> lively[i] & 1) != 0);
    }
    teardown(&f);
}

static uint64_t play(void)
{
    fixture f;
    setup(&f);
    ph_hash hash = ph_hash_make(0);
    for (int i = 0; i < 50; ++i) {
        step(&f);
        for (int k = 0; k < ACTOR_COUNT; ++k) {
            ph_hash_add_u64(&hash, ph_world_changes(f.world, f.cast->entity[k]));
            ph_hash_add_u64(&hash, f.cast->creature[k].hit_points);
            ph_hash_add_u64(&hash, f.cast->creature[k].target.index1);
        }
        ph_world_tick(f.world);
    }
    teardown(&f);
    return ph_hash_value(&hash);
}

// The number is the same with every compiler: measurements that name a scene rest on it.
static void fifty_steps_have_a_golden_hash(void** state)
{
    (void)state;
    assert_int_equal(play(), UINT64_C(0x9C3397E4866AC259));
}

static void a_taken_name_is_no_stage(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    assert_null(ph_cast_create(f.scene, f.world, 0, 4));
    ph_cast_destroy(NULL);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_on_stage_is_in_the_world_where_it_stands),
        cmocka_unit_test(creatures_do_more_than_walk),
        cmocka_unit_test(fifty_steps_have_a_golden_hash),
        cmocka_unit_test(a_taken_name_is_no_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
