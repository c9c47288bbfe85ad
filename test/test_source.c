// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A recording played into a world, and read back from there.

#include "test_support.h"

#include "kit/attitude.h"
#include "kit/derive.h"
#include "kit/scene_recording.h"
#include "kit/recording_csv.h"
#include "kit/scene.h"
#include "kit/source.h"
#include "support/test_memory.h"
#include "tools/tools.h"

#include <math.h>
#include <string.h>

typedef struct fixture {
    ph_recording* recording;
    ph_schema* schema;
    ph_source* source;
    test_memory memory;
    ph_world* world;
} fixture;

// The entities of yard.csv and, when derived, their properties.
enum { WOLF, SHY_WOLF, CHEST };
enum { POSITION, HEADING, KIND, HEALTH, SPEED, TILT_DEG, LEVEL };

static void make_world(fixture* f)
{
    f->memory = (test_memory){0};
    ph_world_def def = ph_world_def_default();
    def.schema = f->schema;
    def.allocator = test_memory_allocator(&f->memory);
    def.ground = f->recording->ground;
    def.entity_capacity = 1;
    assert_int_equal(ph_world_create(&def, &f->world), PH_OK);
}

static void begin(fixture* f, ph_recording* recording, const char* schema_path)
{
    ph_fault fault = {0};
    f->recording = recording;
    f->schema = schema_path != NULL ? ph_derive_load(schema_path, &fault)
                                    : ph_derive_schema(recording, &fault);
    assert_non_null(f->schema);
    f->source = ph_source_create(recording, f->schema, &fault);
    if (f->source == NULL) {
        fail_msg("%d: %s", fault.line, fault.message);
    }
    make_world(f);
}

static void begin_yard(fixture* f, const char* schema_path)
{
    const ph_recording_def def = {0};
    ph_fault fault;
    ph_recording* yard = ph_recording_load("test/recordings/yard.csv", &def, &fault);
    assert_non_null(yard);
    begin(f, yard, schema_path);
}

static void end(fixture* f)
{
    ph_source_destroy(f->source);
    assert_true(ph_world_validate(f->world));
    ph_world_destroy(f->world);
    test_memory_assert_clean(&f->memory);
    ph_schema_destroy(f->schema);
    ph_recording_destroy(f->recording);
}

static double read_number(const fixture* f, int entity, int property)
{
    double value = -12345.0;
    const ph_entity_id id = f->source->entity_id[entity];
    if (ph_world_get_property(f->world, id, property, PH_FIELD_F64, &value, sizeof value) !=
        PH_OK) {
        int64_t whole = -12345;
        assert_int_equal(
            ph_world_get_property(f->world, id, property, PH_FIELD_I64, &whole, sizeof whole),
            PH_OK);
        value = (double)whole;
    }
    return value;
}

static void assert_position(const fixture* f, int entity, int32_t x_mm, int32_t y_mm, int32_t z_mm)
{
    int32_t mm[3];
    assert_int_equal(ph_world_get_property(f->world, f->source->entity_id[entity], POSITION,
                                           PH_FIELD_I32X3, mm, sizeof mm),
                     PH_OK);
    assert_int_equal(mm[0], x_mm);
    assert_int_equal(mm[1], y_mm);
    assert_int_equal(mm[2], z_mm);
}

static void put(fixture* f)
{
    assert_int_equal(ph_source_put(f->source, f->world), PH_OK);
}

static void step(fixture* f)
{
    assert_true(ph_source_step(f->source));
    put(f);
}

// ---- the present tick

static void the_arrays_show_the_present_tick(void** state)
{
    (void)state;
    fixture f;
    begin_yard(&f, NULL);
    assert_int_equal(f.source->present_count, 3);
    assert_int_equal(f.source->x_mm[SHY_WOLF], -1600);
    assert_true(f.source->heading_deg[SHY_WOLF] == 270.5f);
    assert_true(ph_source_value(f.source, 1, SHY_WOLF) == 80.0);
    assert_true(isnan(ph_source_value(f.source, 1, CHEST)));
    assert_true(ph_source_step(f.source));
    assert_int_equal(f.source->tick, 1);
    assert_int_equal(f.source->present_count, 2);
    assert_false(f.source->present[SHY_WOLF]);
    assert_int_equal(f.source->row[SHY_WOLF], -1);
    assert_int_equal(f.source->x_mm[WOLF], 1040);
    end(&f);
}

static void an_absent_entity_stays_where_it_was(void** state)
{
    (void)state;
    fixture f;
    begin_yard(&f, NULL);
    ph_source_step(f.source);
    assert_int_equal(f.source->x_mm[SHY_WOLF], -1600);
    assert_int_equal(f.source->z_mm[SHY_WOLF], -48);
    end(&f);
}

static void the_last_tick_is_the_end(void** state)
{
    (void)state;
    fixture f;
    begin_yard(&f, NULL);
    for (int i = 0; i < 3; ++i) {
        assert_true(ph_source_step(f.source));
    }
    assert_false(ph_source_step(f.source));
    assert_int_equal(f.source->tick, 3);
    assert_int_equal(f.source->x_mm[SHY_WOLF], -3200);
    end(&f);
}

// ---- classes

static int class_of(const fixture* f, int entity)
{
    int class_index = -1;
    assert_int_equal(ph_world_identify(f->world, f->source->entity_id[entity], NULL, &class_index),
                     PH_OK);
    return class_index;
}

static ph_entity_id reference_of(const fixture* f, int entity, int property)
{
    ph_entity_id id;
    assert_int_equal(ph_world_get_property(f->world, f->source->entity_id[entity], property,
                                           PH_FIELD_ENTITY, &id, sizeof id),
                     PH_OK);
    return id;
}

// Entity 3 becomes a car; what 1 pulls comes later in the same tick, leaves, and is there again.
static void entities_are_of_their_class_and_refer_to_each_other(void** state)
{
    (void)state;
    static const char CSV[] =
        "# rate 2\ntick,entity,x_mm,y_mm,z_mm,heading_deg,class,fuel,pulls,v_x,v_y,v_z,lit\n"
        "0,1,0,0,0,0,car,80,7,1,-2,0.5,\n0,3,9,0,0,0,lamp,,,,,,1\n0,7,0,0,0,0,car,5,,,,,\n"
        "1,1,0,0,0,0,car,80,7,1,-2,1.5,\n1,3,9,0,0,0,car,33,1,0,0,0,\n"
        "2,1,0,0,0,0,car,80,7,1,-2,1.5,\n2,3,9,0,0,0,car,33,1,0,0,0,\n2,7,0,0,0,0,car,5,99,,,,\n";
    static const char SCHEMA[] = "class lamp\np: position\nlit: bool\n"
                                 "class car\np: position\nfuel: range 0..99\npulls: entity\nv: "
                                 "vec3 -9..9 step 0.5 initial 3\n";
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    fixture f = {.recording = ph_recording_parse(CSV, sizeof CSV - 1, &def, &fault)};
    assert_non_null(f.recording);
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &f.schema, NULL), PH_OK);
    f.source = ph_source_create(f.recording, f.schema, &fault);
    assert_non_null(f.source);
    make_world(&f);
    put(&f);
    assert_int_equal(class_of(&f, 0), 1);
    assert_int_equal(class_of(&f, 1), 0);
    assert_true(read_number(&f, 0, 1) == 80.0 && read_number(&f, 1, 1) == 1.0);
    assert_int_equal(reference_of(&f, 0, 2).index1, f.source->entity_id[2].index1);
    assert_int_equal(reference_of(&f, 2, 2).index1, 0);
    double v[3];
    ph_world_get_property(f.world, f.source->entity_id[0], 3, PH_FIELD_F64X3, v, sizeof v);
    assert_true(v[0] == 1.0 && v[1] == -2.0 && v[2] == 0.5);
    ph_world_get_property(f.world, f.source->entity_id[2], 3, PH_FIELD_F64X3, v, sizeof v);
    assert_true(v[0] == 3.0 && v[2] == 3.0);
    step(&f);
    assert_int_equal(class_of(&f, 1), 1);
    assert_true(read_number(&f, 1, 1) == 33.0);
    ph_world_get_property(f.world, f.source->entity_id[0], 3, PH_FIELD_F64X3, v, sizeof v);
    assert_true(v[2] == 1.5);
    assert_int_equal(reference_of(&f, 0, 2).index1, 0); // 7 is away
    assert_int_equal(reference_of(&f, 1, 2).index1, f.source->entity_id[0].index1);
    step(&f);
    assert_int_equal(reference_of(&f, 0, 2).index1, f.source->entity_id[2].index1);
    assert_int_equal(reference_of(&f, 2, 2).index1, 0); // there is no 99
    assert_int_equal(ph_world_entity_count(f.world), 3);
    // One at a time, of a row of another class.
    const int row = f.recording->spans[f.recording->first_span[1]].first_row;
    assert_int_equal(ph_source_set_row(f.source, f.world, f.source->entity_id[1], row, -1),
                     PH_ERROR_ARGUMENT);
    end(&f);
}

// ---- in a world

static void a_put_spawns_every_entity_with_all_values(void** state)
{
    (void)state;
    fixture f;
    begin_yard(&f, NULL);
    put(&f);
    assert_int_equal(ph_world_entity_count(f.world), 3);
    uint64_t name;
    assert_int_equal(ph_world_identify(f.world, f.source->entity_id[SHY_WOLF], &name, NULL), PH_OK);
    assert_int_equal(name, 9);
    assert_position(&f, SHY_WOLF, -1600, 0, -48);
    assert_true(fabs(read_number(&f, SHY_WOLF, HEADING) - 270.5) < 0.71);
    assert_true(read_number(&f, SHY_WOLF, KIND) == 1.0);
    assert_true(read_number(&f, CHEST, KIND) == 0.0);
    assert_true(read_number(&f, SHY_WOLF, HEALTH) == 80.0);
    assert_true(fabs(read_number(&f, WOLF, SPEED) - 1.25) < 1e-9);
    assert_true(fabs(read_number(&f, WOLF, TILT_DEG) - 354.5) < 0.71);
    assert_true(read_number(&f, CHEST, LEVEL) == 3.0);
    end(&f);
}

static void an_empty_cell_is_the_initial_value(void** state)
{
    (void)state;
    fixture f;
    begin_yard(&f, NULL);
    put(&f);
    assert_true(read_number(&f, CHEST, HEALTH) == 80.0);
    assert_true(read_number(&f, CHEST, SPEED) == 0.0);
    end(&f);
}

static void a_cell_that_becomes_empty_is_the_initial_value_again(void** state)
{
    (void)state;
    const char csv[] = "# rate 2\ntick,entity,x_mm,y_mm,z_mm,heading_deg,hat\n"
                       "0,1,0,0,0,0,9\n1,1,0,0,0,0,\n2,1,0,0,0,0,7\n";
    const ph_recording_def def = {0};
    ph_fault fault;
    ph_recording* made = ph_recording_parse(csv, sizeof csv - 1, &def, &fault);
    assert_non_null(made);
    fixture f;
    begin(&f, made, NULL);
    put(&f);
    assert_true(read_number(&f, 0, 2) == 9.0);
    step(&f);
    assert_true(read_number(&f, 0, 2) == 7.0); // of 7..9 the end that is nearer to 0
    end(&f);
}

static void only_what_changed_is_set(void** state)
{
    (void)state;
    fixture f;
    begin_yard(&f, NULL);
    put(&f);
    ph_world_tick(f.world);
    step(&f);
    assert_int_equal(ph_world_changed_properties(f.world, f.source->entity_id[WOLF]),
                     1u << POSITION | 1u << HEALTH | 1u << SPEED);
    assert_int_equal(ph_world_changed_properties(f.world, f.source->entity_id[CHEST]), 0);
    assert_position(&f, WOLF, 1040, 2032, 0);
    assert_true(read_number(&f, WOLF, HEALTH) == 98.0);
    end(&f);
}

static void a_move_along_any_axis_arrives(void** state)
{
    (void)state;
    const char csv[] = "# rate 2\ntick,entity,x_mm,y_mm,z_mm,heading_deg\n"
                       "0,1,0,0,0,0\n1,1,16,0,0,0\n2,1,16,32,0,0\n3,1,16,32,48,0\n";
    const ph_recording_def def = {0};
    ph_fault fault;
    ph_recording* made = ph_recording_parse(csv, sizeof csv - 1, &def, &fault);
    assert_non_null(made);
    fixture f;
    begin(&f, made, NULL);
    put(&f);
    assert_position(&f, 0, 0, 0, 0);
    step(&f);
    assert_position(&f, 0, 16, 0, 0);
    step(&f);
    assert_position(&f, 0, 16, 32, 0);
    step(&f);
    assert_position(&f, 0, 16, 32, 48);
    end(&f);
}

static void entities_that_vanish_are_despawned_and_come_back(void** state)
{
    (void)state;
    fixture f;
    begin_yard(&f, NULL);
    put(&f);
    const ph_entity_id before = f.source->entity_id[SHY_WOLF];
    step(&f);
    assert_false(ph_world_is_alive(f.world, before));
    assert_int_equal(f.source->entity_id[SHY_WOLF].index1, 0);
    assert_int_equal(ph_world_entity_count(f.world), 2);
    step(&f);
    step(&f);
    assert_position(&f, SHY_WOLF, -3200, 0, 0);
    assert_true(read_number(&f, SHY_WOLF, HEALTH) == 81.0);
    assert_int_equal(ph_world_find(f.world, 9).index1, f.source->entity_id[SHY_WOLF].index1);
    assert_int_equal(ph_world_find(f.world, 12).index1, 0);
    end(&f);
}

static void ticks_may_be_left_out_between_two_puts(void** state)
{
    (void)state;
    fixture f;
    begin_yard(&f, NULL);
    put(&f);
    assert_true(ph_source_step(f.source));
    assert_true(ph_source_step(f.source));
    step(&f);
    assert_int_equal(ph_world_entity_count(f.world), 2);
    assert_position(&f, WOLF, 1088, 2080, 16);
    assert_position(&f, SHY_WOLF, -3200, 0, 0);
    end(&f);
}

static void a_rewound_source_plays_into_another_world(void** state)
{
    (void)state;
    fixture f;
    begin_yard(&f, NULL);
    put(&f);
    step(&f);
    ph_source_rewind(f.source);
    ph_world_destroy(f.world);
    test_memory_assert_clean(&f.memory);
    make_world(&f);
    put(&f);
    assert_int_equal(ph_world_entity_count(f.world), 3);
    assert_position(&f, WOLF, 992, 2000, 0);
    end(&f);
}

// What is there at both ends stays the same entity; what is not, comes and goes.
static void a_loop_goes_on_in_the_same_world(void** state)
{
    (void)state;
    fixture f;
    begin_yard(&f, NULL);
    put(&f);
    const ph_entity_id wolf = f.source->entity_id[WOLF];
    while (ph_source_step(f.source)) {
        put(&f);
    }
    ph_source_loop(f.source);
    put(&f);
    assert_int_equal(ph_world_entity_count(f.world), 3);
    assert_position(&f, WOLF, 992, 2000, 0);
    assert_true(ph_world_is_alive(f.world, wolf));
    end(&f);
}

static void a_schema_of_ones_own_is_filled(void** state)
{
    (void)state;
    enum { PLACE, COURSE, HEALTH_OF_OWN, KIND_AS_TEXT, MOOD };
    fixture f;
    begin_yard(&f, "test/recordings/wolf.schema");
    put(&f);
    char kind[16];
    assert_int_equal(ph_world_get_property(f.world, f.source->entity_id[CHEST], KIND_AS_TEXT,
                                           PH_FIELD_TEXT, kind, sizeof kind),
                     PH_OK);
    assert_string_equal(kind, "chest");
    assert_true(read_number(&f, CHEST, HEALTH_OF_OWN) == 100.0);
    assert_true(read_number(&f, WOLF, MOOD) == 4.0);
    // 45 degrees, in radians.
    assert_true(fabs(read_number(&f, WOLF, COURSE) - 0.7854) < 0.001);
    end(&f);
}

static void a_name_that_is_taken_ends_the_put(void** state)
{
    (void)state;
    fixture f;
    begin_yard(&f, NULL);
    ph_entity_id stranger;
    assert_int_equal(ph_world_spawn(f.world, &(ph_spawn){.key = 9}, &stranger), PH_OK);
    assert_int_equal(ph_source_put(f.source, f.world), PH_ERROR_TAKEN);
    assert_int_equal(ph_world_despawn(f.world, stranger), PH_OK);
    put(&f);
    assert_int_equal(ph_world_entity_count(f.world), 3);
    end(&f);
}

static void no_memory_leaves_nothing_half_done(void** state)
{
    (void)state;
    for (int n = 1;; ++n) {
        fixture f;
        begin_yard(&f, NULL);
        f.memory.fail_at = f.memory.allocate_count + n;
        const ph_result result = ph_source_put(f.source, f.world);
        if (result != PH_OK) {
            assert_int_equal(result, PH_ERROR_MEMORY);
            put(&f);
        }
        assert_int_equal(ph_world_entity_count(f.world), 3);
        assert_true(read_number(&f, WOLF, HEALTH) == 100.0);
        end(&f);
        if (result == PH_OK) {
            assert_true(n > 1);
            return;
        }
    }
}

// On a ground an altitude is that of a layer nearby, else rounded down as x and y are.
static void assert_is_there(const fixture* f, int entity)
{
    int32_t mm[3];
    assert_int_equal(ph_world_get_property(f->world, f->source->entity_id[entity], POSITION,
                                           PH_FIELD_I32X3, mm, sizeof mm),
                     PH_OK);
    assert_int_equal(mm[0], f->source->x_mm[entity] & ~15);
    assert_int_equal(mm[1], f->source->y_mm[entity] & ~15);
    const int32_t tolerance_mm = f->recording->altitude.tolerance_mm;
    assert_in_range(f->source->z_mm[entity] - mm[2] + tolerance_mm, 0, 15 + 2 * tolerance_mm);
    for (int c = 0; c < f->recording->column_count; ++c) {
        assert_true(read_number(f, entity, 2 + c) == ph_source_value(f->source, c, entity));
    }
}

// Whole scenes: after every put the world is what the scene says.
static void a_scene_arrives_in_the_world(void** state)
{
    (void)state;
    for (int s = 0; ph_scene_name(s) != NULL; ++s) {
        const ph_scene_recording_def def = {.scene = ph_scene_name(s),
                                            .count = 20,
                                            .rate_hz = 2,
                                            .seconds = 30.0,
                                            .seed = 5,
                                            .is_flat = true};
        ph_fault fault;
        ph_recording* recording = ph_scene_recording_make(&def, &fault);
        assert_non_null(recording);
        fixture f;
        begin(&f, recording, NULL);
        do {
            put(&f);
            ph_world_tick(f.world);
            assert_int_equal(ph_world_entity_count(f.world), f.source->present_count);
            for (int e = 0; e < recording->entity_count; ++e) {
                if (f.source->present[e]) {
                    assert_is_there(&f, e);
                }
            }
        } while (ph_source_step(f.source));
        end(&f);
    }
}

// As the recording has it, to the step of the property; the heading is that of the rotation.
static void what_turns_in_space_arrives_in_the_world(void** state)
{
    (void)state;
    const ph_scene_recording_def def = {.scene = "spin", .count = 20, .seconds = 3.0, .seed = 5};
    ph_fault fault;
    ph_recording* recording = ph_scene_recording_make(&def, &fault);
    assert_non_null(recording);
    fixture f;
    begin(&f, recording, NULL);
    do {
        put(&f);
        for (int e = 0; e < recording->entity_count; ++e) {
            const double* truth = f.source->rotation[e];
            double there[4] = {0};
            assert_int_equal(ph_world_get_property(f.world, f.source->entity_id[e], 1,
                                                   PH_FIELD_F64X4, there, sizeof there),
                             PH_OK);
            assert_true(ph_attitude_between_deg(truth, there) < 0.2);
            assert_true(fabs((double)f.source->heading_deg[e] - ph_attitude_heading_deg(truth)) <
                        0.01);
        }
        ph_world_tick(f.world);
    } while (ph_source_step(f.source));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_arrays_show_the_present_tick),
        cmocka_unit_test(an_absent_entity_stays_where_it_was),
        cmocka_unit_test(the_last_tick_is_the_end),
        cmocka_unit_test(entities_are_of_their_class_and_refer_to_each_other),
        cmocka_unit_test(a_put_spawns_every_entity_with_all_values),
        cmocka_unit_test(an_empty_cell_is_the_initial_value),
        cmocka_unit_test(a_cell_that_becomes_empty_is_the_initial_value_again),
        cmocka_unit_test(only_what_changed_is_set),
        cmocka_unit_test(a_move_along_any_axis_arrives),
        cmocka_unit_test(entities_that_vanish_are_despawned_and_come_back),
        cmocka_unit_test(ticks_may_be_left_out_between_two_puts),
        cmocka_unit_test(a_rewound_source_plays_into_another_world),
        cmocka_unit_test(a_loop_goes_on_in_the_same_world),
        cmocka_unit_test(a_schema_of_ones_own_is_filled),
        cmocka_unit_test(a_name_that_is_taken_ends_the_put),
        cmocka_unit_test(no_memory_leaves_nothing_half_done),
        cmocka_unit_test(a_scene_arrives_in_the_world),
        cmocka_unit_test(what_turns_in_space_arrives_in_the_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
