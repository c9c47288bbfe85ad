// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Positions are 64 bits wide in the contract: the whole range goes in and comes out, by every call and
// field, and what lies beyond it is refused with nothing changed.

#include "test_support.h"

#include <pinhole/pinhole.h>

typedef struct wagon {
    int64_t position_mm[3];
    uint8_t load;
} wagon;

static const ph_property_def wagon_properties[] = {
    {.name = "position",
     .coding = PH_CODING_POSITION,
     .step = 1,
     .field = PH_FIELD_I64X3,
     .offset = offsetof(wagon, position_mm)},
    {.name = "load", .field = PH_FIELD_U8, .offset = offsetof(wagon, load)},
};

static const ph_class_def wagon_class = {.name = "wagon",
                                         .properties = wagon_properties,
                                         .property_count = 2,
                                         .struct_size = sizeof(wagon)};

typedef struct fixture {
    ph_schema* schema;
    ph_world* world;
    ph_entity_id entity;
} fixture;

static int setup(void** state)
{
    static fixture f;
    assert_int_equal(ph_schema_create(&wagon_class, 1, NULL, &f.schema, NULL), PH_OK);
    ph_world_def def = ph_world_def_default();
    def.schema = f.schema;
    assert_int_equal(ph_world_create(&def, &f.world), PH_OK);
    assert_int_equal(ph_world_spawn(f.world, &(ph_spawn){.key = 1}, &f.entity), PH_OK);
    *state = &f;
    return 0;
}

static int teardown(void** state)
{
    fixture* f = *state;
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
    return 0;
}

static void assert_at(const fixture* f, int64_t x_mm, int64_t y_mm, int64_t z_mm)
{
    const int64_t expected_mm[3] = {x_mm, y_mm, z_mm};
    wagon shown = {0};
    assert_int_equal(ph_world_get_struct(f->world, f->entity, &shown), PH_OK);
    assert_memory_equal(shown.position_mm, expected_mm, sizeof expected_mm);
    int64_t wide_mm[3];
    assert_int_equal(
        ph_world_get_property(f->world, f->entity, 0, PH_FIELD_I64X3, wide_mm, sizeof wide_mm),
        PH_OK);
    assert_memory_equal(wide_mm, expected_mm, sizeof expected_mm);
}

static void the_whole_range_goes_in_and_out(void** state)
{
    const fixture* f = *state;
    assert_int_equal(ph_world_move(f->world, f->entity, PH_POSITION_MIN_MM, PH_POSITION_MAX_MM, -1),
                     PH_OK);
    assert_at(f, PH_POSITION_MIN_MM, PH_POSITION_MAX_MM, -1);
    const wagon w = {.position_mm = {PH_POSITION_MAX_MM, 7, PH_POSITION_MIN_MM}};
    assert_int_equal(ph_world_set_struct(f->world, f->entity, &w), PH_OK);
    assert_at(f, PH_POSITION_MAX_MM, 7, PH_POSITION_MIN_MM);
    const int32_t narrow_mm[3] = {INT32_MIN, INT32_MAX, 5};
    assert_int_equal(
        ph_world_set_property(f->world, f->entity, 0, PH_FIELD_I32X3, narrow_mm, sizeof narrow_mm),
        PH_OK);
    assert_at(f, INT32_MIN, INT32_MAX, 5);
}

static void what_lies_beyond_is_refused_and_changes_nothing(void** state)
{
    const fixture* f = *state;
    static const int64_t BEYOND_MM[] = {PH_POSITION_MIN_MM - 1, PH_POSITION_MAX_MM + 1, INT64_MIN,
                                        INT64_MAX, INT64_C(1) << 32};
    assert_int_equal(ph_world_move(f->world, f->entity, 1, 2, 3), PH_OK);
    for (size_t i = 0; i < sizeof BEYOND_MM / sizeof BEYOND_MM[0]; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            int64_t to_mm[3] = {4, 5, 6};
            to_mm[axis] = BEYOND_MM[i];
            assert_int_equal(ph_world_move(f->world, f->entity, to_mm[0], to_mm[1], to_mm[2]),
                             PH_ERROR_ARGUMENT);
            assert_int_equal(
                ph_world_set_property(f->world, f->entity, 0, PH_FIELD_I64X3, to_mm, sizeof to_mm),
                PH_ERROR_VALUE);
            ph_spawn spawn = {.key = 2};
            spawn.position_mm[axis] = BEYOND_MM[i];
            ph_entity_id made;
            assert_int_equal(ph_world_spawn(f->world, &spawn, &made), PH_ERROR_ARGUMENT);
            assert_int_equal(made.index1, 0);
            ph_viewer_def viewer = ph_viewer_def_default();
            viewer.eye_mm[axis] = BEYOND_MM[i];
            ph_viewer_id added;
            assert_int_equal(ph_world_add_viewer(f->world, &viewer, &added), PH_ERROR_ARGUMENT);
        }
    }
    assert_at(f, 1, 2, 3);
}

static void an_eye_moves_within_the_range_only(void** state)
{
    const fixture* f = *state;
    ph_viewer_def def = ph_viewer_def_default();
    def.eye_mm[0] = PH_POSITION_MAX_MM;
    ph_viewer_id viewer;
    assert_int_equal(ph_world_add_viewer(f->world, &def, &viewer), PH_OK);
    assert_int_equal(ph_viewer_set_eye(f->world, viewer, PH_POSITION_MIN_MM, 0, 0), PH_OK);
    assert_int_equal(ph_viewer_set_eye(f->world, viewer, 0, PH_POSITION_MIN_MM - 1, 0),
                     PH_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_whole_range_goes_in_and_out, setup, teardown),
        cmocka_unit_test_setup_teardown(what_lies_beyond_is_refused_and_changes_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_eye_moves_within_the_range_only, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
