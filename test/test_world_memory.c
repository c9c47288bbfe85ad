// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A world and its memory: it grows, no lack of memory leaves a trace, senseless declarations are
// refused, and damage is found.

#include "support/test_support.h"
#include "support/small_world.h"

#include "world/world_state.h"
#include "tools/tools.h"

#include <pinhole/viewer.h>

#include <math.h>

static void a_world_grows_with_its_entities(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 0);
    ph_entity_id ids[300];
    for (int i = 0; i < 300; ++i) {
        ids[i] = small_world_spawn(&f, (uint64_t)i);
        person put = test_entity;
        put.health = (uint8_t)(i % 101);
        put.target = ids[i / 2];
        put.name[0] = (char)('a' + i % 26);
        assert_int_equal(ph_world_set_struct(f.world, ids[i], &put), PH_OK);
    }
    assert_true(ph_world_validate(f.world));
    for (int i = 0; i < 300; ++i) {
        person shown;
        assert_int_equal(ph_world_get_struct(f.world, ids[i], &shown), PH_OK);
        assert_int_equal(shown.health, i % 101);
        assert_true(test_is_same(shown.target, ids[i / 2]));
        assert_int_equal(shown.name[0], 'a' + i % 26);
    }
    small_world_teardown(&f);
}

static void run_in_order(void* context, int count, ph_job_fn* job, void* job_context)
{
    (void)context;
    for (int i = 0; i < count; ++i) {
        job(job_context, i);
    }
}

// Every thread has scratch of its own.
static void use_jobs(ph_world_def* def)
{
    def->run_jobs = run_in_order;
    def->sends_at_once = 3;
}

static void creation_survives_every_lack_of_memory(void** state)
{
    (void)state;
    for (int kind = PH_VISION_GRID; kind <= PH_VISION_GROUPS; ++kind) {
        small_world f;
        small_world_setup(&f, 16);
        f.def.vision.kind = (ph_vision_kind)kind;
        use_jobs(&f.def);
        ph_result result = PH_ERROR_MEMORY;
        int n = 0;
        while (result != PH_OK) {
            test_memory memory = {.fail_at = ++n};
            f.def.allocator = test_memory_allocator(&memory);
            ph_world* world = f.world;
            result = ph_world_create(&f.def, &world);
            assert_true(result == PH_OK || (result == PH_ERROR_MEMORY && world == NULL));
            ph_world_destroy(world);
            test_memory_assert_clean(&memory);
        }
        assert_true(n > 5);
        small_world_teardown(&f);
    }
}

// A small world filled to the brim, with a viewer that sees every entity.
static ph_viewer_id fill(small_world* f, ph_vision_kind kind)
{
    small_world_setup(f, 16);
    f->def.vision.kind = kind;
    use_jobs(&f->def);
    small_world_again(f);
    for (int i = 0; i < f->def.entity_capacity; ++i) {
        const ph_entity_id id = small_world_spawn(f, (uint64_t)i);
        assert_int_equal(ph_world_set_struct(f->world, id, &test_entity), PH_OK);
    }
    const ph_viewer_def viewer_def = ph_viewer_def_default();
    ph_viewer_id viewer;
    assert_int_equal(ph_world_add_viewer(f->world, &viewer_def, &viewer), PH_OK);
    ph_world_tick(f->world);
    return viewer;
}

static void assert_as_filled(small_world* f, ph_viewer_id viewer)
{
    assert_int_equal(ph_world_entity_count(f->world), f->def.entity_capacity);
    assert_true(ph_world_validate(f->world));
    ph_world_tick(f->world);
    assert_true(ph_world_validate(f->world));
    ph_vision sight;
    assert_int_equal(ph_viewer_get_vision(f->world, viewer, &sight), PH_OK);
    assert_int_equal(sight.visible_count, f->def.entity_capacity);
    assert_int_equal(sight.enter_count + sight.leave_count, 0);
    for (int i = 0; i < f->def.entity_capacity; ++i) {
        person shown;
        assert_int_equal(
            ph_world_get_struct(f->world, ph_world_find(f->world, (uint64_t)i), &shown), PH_OK);
        assert_string_equal(shown.name, "Ada");
    }
}

// The spawn that makes a world grow is tried with its first allocation failing, its second, ...
static void a_spawn_survives_every_lack_of_memory(void** state)
{
    (void)state;
    for (int kind = PH_VISION_GRID; kind <= PH_VISION_GROUPS; ++kind) {
        ph_result result = PH_ERROR_MEMORY;
        int n = 0;
        while (result != PH_OK) {
            small_world f;
            const ph_viewer_id viewer = fill(&f, (ph_vision_kind)kind);
            f.memory.fail_at = f.memory.allocate_count + ++n;
            ph_entity_id id;
            result = ph_world_spawn(f.world, &(ph_spawn){.key = 99}, &id);
            if (result != PH_OK) {
                assert_int_equal(result, PH_ERROR_MEMORY);
                assert_true(test_is_none(id));
                assert_as_filled(&f, viewer);
            }
            small_world_teardown(&f);
        }
        assert_true(n > 4);
    }
}

static void adding_a_viewer_survives_every_lack_of_memory(void** state)
{
    (void)state;
    for (int kind = PH_VISION_GRID; kind <= PH_VISION_GROUPS; ++kind) {
        ph_result result = PH_ERROR_MEMORY;
        int n = 0;
        while (result != PH_OK) {
            small_world f;
            const ph_viewer_id first = fill(&f, (ph_vision_kind)kind);
            f.memory.fail_at = f.memory.allocate_count + ++n;
            ph_viewer_def def = ph_viewer_def_default();
            def.visible_max = 400; // more than any viewer wanted before
            ph_viewer_id second;
            result = ph_world_add_viewer(f.world, &def, &second);
            if (result != PH_OK) {
                assert_int_equal(result, PH_ERROR_MEMORY);
                assert_true(second.index1 == 0 && second.generation == 0);
                assert_as_filled(&f, first);
            }
            small_world_teardown(&f);
        }
        assert_true(n > 3);
    }
}

static void more_threads_survive_every_lack_of_memory(void** state)
{
    (void)state;
    for (int kind = PH_VISION_GRID; kind <= PH_VISION_GROUPS; ++kind) {
        ph_result result = PH_ERROR_MEMORY;
        int n = 0;
        while (result != PH_OK) {
            small_world f;
            const ph_viewer_id viewer = fill(&f, (ph_vision_kind)kind);
            f.memory.fail_at = f.memory.allocate_count + ++n;
            result = ph_world_set_sends_at_once(f.world, 5);
            assert_true(result == PH_OK || result == PH_ERROR_MEMORY);
            assert_as_filled(&f, viewer);
            small_world_teardown(&f);
        }
        assert_true(n > 8);
    }
}

// An index that has used up its generations never comes back: the next one needs another place, in
// arrays that have none left.
static void a_world_grows_around_indices_that_are_worn_out(void** state)
{
    (void)state;
    for (int kind = PH_VISION_GRID; kind <= PH_VISION_GROUPS; ++kind) {
        small_world f;
        small_world_setup(&f, 2);
        f.def.vision.kind = (ph_vision_kind)kind;
        small_world_again(&f);
        for (int i = 0; i < 40; ++i) {
            ph_entity_id own = small_world_spawn(&f, (uint64_t)i);
            f.world->store.entities.ids.slots[own.index1 - 1].generation = UINT32_MAX;
            own.generation = UINT32_MAX;
            ph_viewer_id viewer = small_world_add_viewer(&f, own, 10);
            f.world->viewers.ids.slots[viewer.index1 - 1].generation = UINT32_MAX;
            f.world->viewers.viewers[viewer.index1 - 1].id.generation = UINT32_MAX;
            viewer.generation = UINT32_MAX;
            ph_world_tick(f.world);
            assert_int_equal(small_world_slot(&f, viewer, own), 0);
            assert_int_equal(ph_world_despawn(f.world, own), PH_OK);
            assert_int_equal(ph_world_remove_viewer(f.world, viewer), PH_OK);
            ph_world_tick(f.world);
            assert_true(ph_world_validate(f.world));
        }
        assert_int_equal(f.world->store.entities.ids.retired_count, 40);
        assert_int_equal(f.world->viewers.ids.retired_count, 40);
        small_world_teardown(&f);
    }
}

static void senseless_worlds_are_refused(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    ph_world* world = f.world;
#define REFUSED(field, value)                                                                      \
    do {                                                                                           \
        ph_world_def def = f.def;                                                                  \
        def.field = value;                                                                         \
        assert_int_equal(ph_world_create(&def, &world), PH_ERROR_ARGUMENT);                        \
        assert_null(world);                                                                        \
    } while (0)
    REFUSED(schema, NULL);
    REFUSED(entity_capacity, -1);
    REFUSED(viewer_capacity, -1);
    REFUSED(radius_max_mm, -1);
    REFUSED(vision.kind, (ph_vision_kind)2);
    REFUSED(vision.cell_mm, 0);
    REFUSED(vision.group_split_mm, 0);
    REFUSED(vision.group_merge_mm, 0);
    REFUSED(vision.group_merge_mm, 30000); // half of the split
    REFUSED(vision.refresh_ticks, 0);
    REFUSED(vision.stay_ticks, -1);
    REFUSED(vision.hysteresis, 0.99);
    REFUSED(vision.hysteresis, 17.0);
    REFUSED(vision.hysteresis, (double)NAN);
#undef REFUSED
    ph_world_destroy(NULL);
    small_world_teardown(&f);
}

static void ticks_are_counted(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    for (uint32_t i = 0; i < 5; ++i) {
        assert_int_equal(ph_world_tick_count(f.world), i);
        ph_world_tick(f.world);
    }
    small_world_teardown(&f);
}

static void assert_damage_is_seen(const ph_world* world, void* place, size_t size)
{
    uint8_t* bytes = place;
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)~bytes[i];
    }
    assert_false(ph_world_validate(world));
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)~bytes[i];
    }
    assert_true(ph_world_validate(world));
}

// Most of what validate looks at, damaged one by one.
static void validate_sees_damage(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const ph_entity_id target = small_world_spawn(&f, 1);
    const ph_entity_id id = small_world_spawn(&f, 2);
    person put = test_entity;
    put.target = target;
    assert_int_equal(ph_world_set_struct(f.world, id, &put), PH_OK);
    ph_world_despawn(f.world, small_world_spawn(&f, 3));
    ph_entities* entities = &f.world->store.entities;
    ph_table* table = &f.world->store.tables[0];
    assert_damage_is_seen(f.world, &entities->live_count, sizeof entities->live_count);
    assert_damage_is_seen(f.world, &entities->live[0], sizeof entities->live[0]);
    assert_damage_is_seen(f.world, &entities->live_place[1], sizeof entities->live_place[1]);
    assert_damage_is_seen(f.world, &entities->key[0], sizeof entities->key[0]);
    assert_damage_is_seen(f.world, &entities->flags[0], sizeof entities->flags[0]);
    assert_damage_is_seen(f.world, &entities->spawn_order[0], sizeof entities->spawn_order[0]);
    assert_damage_is_seen(f.world, &entities->spawn_order[2], sizeof entities->spawn_order[2]);
    assert_damage_is_seen(f.world, &entities->class_index[0], sizeof entities->class_index[0]);
    assert_damage_is_seen(f.world, &entities->whereabouts[0].row,
                          sizeof entities->whereabouts[0].row);
    assert_damage_is_seen(f.world, &entities->resting_count, sizeof entities->resting_count);
    assert_damage_is_seen(f.world, &table->free_count, sizeof table->free_count);
    assert_damage_is_seen(f.world, &table->free_rows[0], sizeof table->free_rows[0]);
    assert_damage_is_seen(f.world, &table->owner[0], sizeof table->owner[0]);
    assert_damage_is_seen(f.world, &ph_table_value(table, TARGET, 1)[0],
                          sizeof ph_table_value(table, TARGET, 1)[0]);
    assert_damage_is_seen(f.world, &ph_table_value(table, TARGET, 1)[1],
                          sizeof ph_table_value(table, TARGET, 1)[1]);
    small_world_teardown(&f);
}

// A host lowers and raises budgets in its tick, and adds messages to datagrams. Found by pinhole soak.
static void a_budget_that_is_not_raised_allocates_nothing(void** state)
{
    (void)state;
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        small_world f;
        small_world_setup(&f, 16);
        f.def.profile = (ph_profile)profile;
        small_world_again(&f);
        for (int bits_per_second = 1000; bits_per_second < 100000; bits_per_second *= 3) {
            ph_viewer_def def = ph_viewer_def_default();
            def.bits_per_second = bits_per_second;
            ph_viewer_id viewer;
            assert_int_equal(ph_world_add_viewer(f.world, &def, &viewer), PH_OK);
            const int most = ph_viewer_reserve_max(f.world, viewer);
            assert_int_equal(ph_viewer_reserve(f.world, viewer, 0, most), PH_OK);
            const int before = f.memory.allocate_count;
            assert_int_equal(ph_viewer_set_budget(f.world, viewer, bits_per_second / 2 + 500, 0),
                             PH_OK);
            assert_int_equal(ph_viewer_set_budget(f.world, viewer, bits_per_second, 0), PH_OK);
            assert_int_equal(f.memory.allocate_count, before);
            assert_int_equal(ph_world_remove_viewer(f.world, viewer), PH_OK);
        }
        small_world_teardown(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_world_grows_with_its_entities),
        cmocka_unit_test(creation_survives_every_lack_of_memory),
        cmocka_unit_test(a_spawn_survives_every_lack_of_memory),
        cmocka_unit_test(adding_a_viewer_survives_every_lack_of_memory),
        cmocka_unit_test(more_threads_survive_every_lack_of_memory),
        cmocka_unit_test(a_world_grows_around_indices_that_are_worn_out),
        cmocka_unit_test(senseless_worlds_are_refused),
        cmocka_unit_test(ticks_are_counted),
        cmocka_unit_test(validate_sees_damage),
        cmocka_unit_test(a_budget_that_is_not_raised_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
