// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Recordings written by `pinhole convert` and read again: every cell is the same, and what cannot be read is said.

#include "support/test_support.h"

#include "kit/column_bindings.h"
#include "kit/derive.h"
#include "kit/file_text.h"
#include "kit/recording_csv.h"
#include "kit/recording_replay.h"
#include "kit/recording_write.h"
#include "kit/scene_recording.h"

#include <pinhole/recorder.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 22, RECORDED_TICKS = 8 };

typedef struct written_file {
    char* bytes;
    size_t size;
    size_t limit; // writing fails beyond
} written_file;

static bool write_file(void* context, const void* bytes, size_t size)
{
    written_file* to = context;
    if (to->size + size > to->limit) {
        return false;
    }
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return true;
}

static written_file make_file(void)
{
    written_file made = {.bytes = malloc(FILE_MAX), .limit = FILE_MAX};
    assert_non_null(made.bytes);
    return made;
}

static ph_recording* parse_text(const char* text)
{
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    ph_recording* made = ph_recording_parse(text, strlen(text), &def, &fault);
    if (made == NULL) {
        fail_msg("%d: %s", fault.line, fault.message);
    }
    return made;
}

static ph_recording* read_again(const written_file* file)
{
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    ph_recording* made = ph_recording_replay_parse(file->bytes, file->size, &def, &fault);
    if (made == NULL) {
        fail_msg("%s", fault.message);
    }
    return made;
}

static void write_again(const ph_recording* recording, written_file* file, char* note)
{
    const ph_recording_sink sink = {.write = write_file, .context = file};
    ph_fault fault = {0};
    if (!ph_recording_write(recording, &sink, note, &fault)) {
        fail_msg("%d: %s", fault.line, fault.message);
    }
}

static void assert_same_cell(double a, double b)
{
    assert_true(a == b || (isnan(a) && isnan(b)));
}

static void assert_same_columns(const ph_recording* a, const ph_recording* b)
{
    assert_int_equal(a->column_count, b->column_count);
    for (int c = 0; c < a->column_count; ++c) {
        const ph_column* left = &a->columns[c];
        const int found = ph_recording_find_column(b, left->name);
        assert_true(found >= 0);
        const ph_column* right = &b->columns[found];
        assert_int_equal(left->kind, right->kind);
        assert_int_equal(left->decimals, right->decimals);
        assert_true(left->low == right->low && left->high == right->high);
        assert_int_equal(left->lexicon.count, right->lexicon.count);
        for (int w = 0; w < left->lexicon.count; ++w) {
            assert_string_equal(left->lexicon.words[w], right->lexicon.words[w]);
        }
        for (int row = 0; row < a->row_count; ++row) {
            assert_same_cell(left->value[row], right->value[row]);
        }
    }
}

static void assert_same(const ph_recording* a, const ph_recording* b)
{
    assert_true(a->rate_hz == b->rate_hz);
    assert_int_equal(a->first_tick, b->first_tick);
    assert_int_equal(a->tick_count, b->tick_count);
    assert_int_equal(a->row_count, b->row_count);
    assert_int_equal(a->entity_count, b->entity_count);
    assert_int_equal(a->has_marks, b->has_marks);
    assert_memory_equal(a->id, b->id, (size_t)a->entity_count * sizeof *a->id);
    const size_t rows = (size_t)a->row_count;
    assert_memory_equal(a->x_mm, b->x_mm, rows * sizeof *a->x_mm);
    assert_memory_equal(a->y_mm, b->y_mm, rows * sizeof *a->y_mm);
    assert_memory_equal(a->z_mm, b->z_mm, rows * sizeof *a->z_mm);
    assert_memory_equal(a->heading_deg, b->heading_deg, rows * sizeof *a->heading_deg);
    assert_memory_equal(a->is_jump, b->is_jump, rows * sizeof *a->is_jump);
    assert_same_columns(a, b);
}

// There and back, as bytes and as text. @return The size of the bytes.
static size_t assert_lossless(ph_recording* recording, const char* expected_note)
{
    written_file file = make_file();
    char note[PH_RECORDING_NOTE_MAX];
    write_again(recording, &file, note);
    assert_string_equal(note, expected_note);
    ph_recording* again = read_again(&file);
    assert_string_equal(again->note, "");
    assert_same(recording, again);

    written_file text = make_file();
    const ph_recording_sink sink = {.write = write_file, .context = &text};
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    assert_true(ph_recording_write_csv(again, &sink, &fault));
    ph_recording* parsed = ph_recording_parse(text.bytes, text.size, &def, &fault);
    assert_non_null(parsed);
    assert_same(recording, parsed);
    ph_recording_destroy(parsed);
    ph_recording_destroy(again);
    free(text.bytes);
    free(file.bytes);
    return file.size;
}

#define NAMES "tick,entity,x_mm,y_mm,z_mm,heading_deg"

static void every_cell_comes_back(void** state)
{
    (void)state;
    ph_recording* recording = parse_text("# rate 23.976\n" NAMES ",kind,hp,tilt_deg,mass\n"
                                         "70,1,100,-200,0,10.5,wolf,7,0.25,-3\n"
                                         "70,9,-100,2147483647,-2147483648,359.9,box,,,\n"
                                         "71,1,150,210,0,11,wolf,6,0.5,-3\n"
                                         "72,1,900000000,210,0,0.01,bear,5,-0.75,-3\n"
                                         "74,1,900000000,210,0,0.01,bear,,-0.75,-3\n"
                                         "74,2000000000,0,0,0,0,,,,\n");
    assert_lossless(recording, "");
    ph_recording_destroy(recording);
}

static void marks_of_jumps_come_back(void** state)
{
    (void)state;
    ph_recording* recording = parse_text("# rate 10\n" NAMES ",teleport,hp\n"
                                         "0,1,100,200,0,0,1,1\n"
                                         "1,1,100,200,0,0,1,1\n"
                                         "2,1,990000,200,0,0,0,1\n"
                                         "3,1,5,200,0,0,1,\n"
                                         "4,1,6,200,0,0,1,2\n");
    assert_lossless(recording, "");
    ph_recording_destroy(recording);
}

static void scenes_come_back(void** state)
{
    (void)state;
    static const char* const SCENES[] = {"town", "asteroids", "edge"};
    for (int i = 0; i < 3; ++i) {
        ph_fault fault = {0};
        const ph_scene_recording_def def = {.scene = SCENES[i], .count = 12, .seconds = 3.0};
        ph_recording* recording = ph_scene_recording_make(&def, &fault);
        assert_non_null(recording);
        written_file file = make_file();
        char note[PH_RECORDING_NOTE_MAX];
        write_again(recording, &file, note);
        ph_recording* again = read_again(&file);
        assert_int_equal(again->row_count, recording->row_count);
        const size_t bytes = (size_t)again->row_count * sizeof(int32_t);
        assert_memory_equal(again->x_mm, recording->x_mm, bytes);
        assert_memory_equal(again->z_mm, recording->z_mm, bytes);
        ph_recording_destroy(again);
        ph_recording_destroy(recording);
        free(file.bytes);
    }
}

static void odd_columns_are_kept_or_named(void** state)
{
    (void)state;
    ph_recording* one = parse_text("# rate 1\n" NAMES ",flat\n5,3,1,1,1,1,8\n");
    assert_lossless(one, "");
    ph_recording_destroy(one);

    ph_recording* empty =
        parse_text("# rate 2\n" NAMES ",none,hp\n0,1,1,1,1,1,,5\n1,1,1,1,1,1,,5\n");
    written_file file = make_file();
    char note[PH_RECORDING_NOTE_MAX];
    write_again(empty, &file, note);
    assert_string_equal(note, "column none is empty and left out");
    ph_recording* again = read_again(&file);
    assert_int_equal(again->column_count, 1);
    ph_recording_destroy(again);
    ph_recording_destroy(empty);

    file.size = 0;
    ph_recording* fine = parse_text("# rate 2\n" NAMES ",mass\n0,1,1,1,1,1,123456.789012345\n");
    write_again(fine, &file, note);
    assert_string_equal(note, "column mass is kept to 3 of its 9 decimals");
    again = read_again(&file);
    assert_true(again->columns[0].value[0] == 123456.789);
    ph_recording_destroy(again);
    ph_recording_destroy(fine);
    free(file.bytes);
}

static void what_is_missing_is_said(void** state)
{
    (void)state;
    ph_recording* recording =
        parse_text("# rate 1\n" NAMES "\n0,1,1,1,1,1\n1,1,2,1,1,1\n2,1,3,1,1,1\n");
    written_file file = make_file();
    char note[PH_RECORDING_NOTE_MAX];
    write_again(recording, &file, note);
    ph_recording_destroy(recording);
    const size_t whole = file.size;

    const ph_recording_def def = {0};
    ph_fault fault = {0};
    for (size_t size = 1; size < whole; ++size) {
        ph_recording* made = ph_recording_replay_parse(file.bytes, size, &def, &fault);
        assert_true(made != NULL ? made->note[0] != '\0' : fault.message[0] != '\0');
        ph_recording_destroy(made);
    }
    file.size = whole - 10;
    ph_recording* cut = read_again(&file);
    assert_non_null(strstr(cut->note, "it breaks off behind tick 2"));
    ph_recording_destroy(cut);

    assert_true(ph_recording_replay_suits(file.bytes, 1));
    assert_null(ph_recording_replay_parse(file.bytes, 3, &def, &fault));
    assert_string_equal(fault.message, "no part of a recording can be read");
    free(file.bytes);
}

// A world with one entity of this schema, recorded for some ticks.
static written_file record_world(const char* schema_text, double value, uint64_t key)
{
    ph_schema* schema;
    ph_error error = {0};
    if (ph_schema_parse(schema_text, strlen(schema_text), NULL, &schema, &error) != PH_OK) {
        fail_msg("%s", error.text);
    }
    written_file file = make_file();
    ph_world* world;
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = schema;
    assert_int_equal(ph_world_create(&world_def, &world), PH_OK);
    ph_recorder* recorder;
    ph_recorder_def def = ph_recorder_def_default();
    def.world = world;
    assert_int_equal(ph_recorder_create(&def, &recorder), PH_OK);
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(world, &(ph_spawn){.key = key}, &id), PH_OK);
    const ph_class_def* type = ph_schema_class(schema, 0);
    for (int tick = 0; tick < RECORDED_TICKS; ++tick) {
        for (int p = 1; p < type->property_count; ++p) {
            const double number = value + tick;
            const int64_t whole = (int64_t)number;
            if (type->properties[p].coding == PH_CODING_RANGE) {
                assert_int_equal(
                    ph_world_set_property(world, id, p, PH_FIELD_I64, &whole, sizeof whole), PH_OK);
            } else if (type->properties[p].coding == PH_CODING_FIXED) {
                assert_int_equal(
                    ph_world_set_property(world, id, p, PH_FIELD_F64, &number, sizeof number),
                    PH_OK);
            }
        }
        ph_world_tick(world);
        assert_int_equal(ph_recorder_tick(recorder), PH_OK);
    }
    assert_int_equal(ph_recorder_finish(recorder, write_file, &file), PH_OK);
    ph_recorder_destroy(recorder);
    ph_world_destroy(world);
    ph_schema_destroy(schema);
    return file;
}

static void properties_named_as_columns_have_columns_of_their_own(void** state)
{
    (void)state;
    static const char SCHEMA[] =
        "class kart\n    at: position\n    heading: range 0..19\n    entity: range 0..19\n"
        "    position: range 0..19\n    tick: range 0..19\n    teleport: range 0..19\n"
        "    v: vec3 0..9 step 1\n    v_x: range 0..19\n";
    written_file file = record_world(SCHEMA, 4.0, 5);
    ph_recording* recording = read_again(&file);
    assert_string_equal(recording->note, "1 property has no column"); // v_x is that of v
    assert_int_equal(ph_recording_find_column(recording, "entity"), -1);
    static const char* const NAMES_OF[] = {"heading", "entity", "position", "tick", "teleport"};
    for (int i = 0; i < 5; ++i) {
        const int column = ph_recording_find_property(recording, NAMES_OF[i]);
        assert_true(column >= 0 && recording->columns[column].value[2] == 6.0);
    }
    assert_lossless(recording, "");
    ph_fault fault = {0};
    ph_schema* derived = ph_derive_schema(recording, &fault);
    assert_non_null(derived);
    ph_schema_destroy(derived);
    // The recorded schema takes each from its own column.
    ph_schema* recorded;
    ph_column_bindings bindings;
    assert_int_equal(ph_schema_parse(SCHEMA, strlen(SCHEMA), NULL, &recorded, NULL), PH_OK);
    assert_true(ph_column_bindings_make(recorded, recording, 0, &bindings, &fault));
    assert_true(bindings.count >= 5 && bindings.is_heading_ignored);
    ph_schema_destroy(recorded);
    ph_recording_destroy(recording);
    free(file.bytes);
}

// Another entity under the same key has not moved there; one that was away has not either, but that is no jump.
static void another_entity_of_the_same_key_is_a_jump(void** state)
{
    (void)state;
    static const char SCHEMA[] = "class kart\n    at: position\n";
    ph_schema* schema;
    ph_world* world;
    ph_recorder* recorder;
    written_file file = make_file();
    ph_world_def world_def = ph_world_def_default();
    ph_recorder_def def = ph_recorder_def_default();
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &schema, NULL), PH_OK);
    world_def.schema = schema;
    assert_int_equal(ph_world_create(&world_def, &world), PH_OK);
    def.world = world;
    assert_int_equal(ph_recorder_create(&def, &recorder), PH_OK);
    for (int tick = 0; tick < 7; ++tick) {
        ph_entity_id id = ph_world_find(world, 5);
        if (tick != 3 && id.index1 != 0) {
            ph_world_despawn(world, id); // anew in ticks 2 and 6; away in 4
        }
        if (tick != 3 && tick != 4) {
            const ph_spawn spawn = {.key = 5, .position_mm = {tick * 100, 0, 0}};
            assert_int_equal(ph_world_spawn(world, &spawn, &id), PH_OK);
        }
        ph_world_tick(world);
        assert_int_equal(ph_recorder_tick(recorder), PH_OK);
    }
    assert_int_equal(ph_recorder_finish(recorder, write_file, &file), PH_OK);
    ph_recording* recording = read_again(&file);
    assert_true(recording->has_marks && recording->entity_count == 1);
    static const int JUMPS[] = {0, 1, 1, 0, -1, 0, 1};
    for (int tick = 0; tick < 7; ++tick) {
        const int row = ph_recording_row(recording, 0, tick);
        assert_int_equal(row >= 0 ? recording->is_jump[row] : -1, JUMPS[tick]);
    }
    ph_recording_destroy(recording);
    ph_recorder_destroy(recorder);
    ph_world_destroy(world);
    ph_schema_destroy(schema);
    free(file.bytes);
}

// Two classes that share a name, and a key that goes from one to the other.
static written_file record_park(const char* schema_text)
{
    ph_schema* schema;
    ph_world* world;
    ph_recorder* recorder;
    written_file file = make_file();
    assert_int_equal(ph_schema_parse(schema_text, strlen(schema_text), NULL, &schema, NULL), PH_OK);
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = schema;
    assert_int_equal(ph_world_create(&world_def, &world), PH_OK);
    ph_recorder_def def = ph_recorder_def_default();
    def.world = world;
    assert_int_equal(ph_recorder_create(&def, &recorder), PH_OK);
    ph_entity_id car;
    ph_entity_id other;
    assert_int_equal(ph_world_spawn(world, &(ph_spawn){.class_index = 1, .key = 5}, &car), PH_OK);
    assert_int_equal(ph_world_spawn(world, &(ph_spawn){.class_index = 0, .key = 7}, &other), PH_OK);
    for (int tick = 0; tick < RECORDED_TICKS; ++tick) {
        const int64_t health = 20 + tick;
        ph_world_set_property(world, car, 1, PH_FIELD_I64, &health, sizeof health);
        if (tick == 4) {
            ph_world_despawn(world, other);
            ph_world_spawn(world, &(ph_spawn){.class_index = 1, .key = 7}, &other);
        }
        ph_world_tick(world);
        assert_int_equal(ph_recorder_tick(recorder), PH_OK);
    }
    assert_int_equal(ph_recorder_finish(recorder, write_file, &file), PH_OK);
    ph_recorder_destroy(recorder);
    ph_world_destroy(world);
    ph_schema_destroy(schema);
    return file;
}

static void each_entity_has_the_class_that_it_was_recorded_with(void** state)
{
    (void)state;
    static const char SCHEMA[] =
        "class lamp\n    at: position\n    class: range 0..3\nclass car\n    at: position\n"
        "    health: range 0..99\nclass tree\n    at: position\n";
    written_file file = record_park(SCHEMA);
    ph_recording* recording = read_again(&file);
    assert_int_equal(ph_recording_class_count(recording), 2); // there is no tree
    const int column = recording->class_column;
    assert_true(column >= 0);
    for (int tick = 0; tick < RECORDED_TICKS; ++tick) {
        const int car = ph_recording_class(recording, ph_recording_row(recording, 0, tick));
        const int other = ph_recording_class(recording, ph_recording_row(recording, 1, tick));
        assert_string_equal(ph_recording_class_name(recording, car), "car");
        assert_string_equal(ph_recording_class_name(recording, other), tick < 4 ? "lamp" : "car");
    }
    // The schema that it was recorded with takes all of it; a property called class has a column, too.
    ph_schema* recorded;
    ph_fault fault = {0};
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &recorded, NULL), PH_OK);
    ph_column_bindings* bindings = ph_column_bindings_make_all(recorded, recording, &fault);
    assert_non_null(bindings);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(bindings[i].unbound_properties, 0);
        assert_int_equal(bindings[i].count, 1);
    }
    free(bindings);
    ph_schema_destroy(recorded);
    // As text, and as bytes once more.
    assert_lossless(recording, "");
    ph_recording_destroy(recording);
    free(file.bytes);
}

// What a text becomes whose cells are empty here and there is one class; a name like theirs is none of them.
static void things_are_of_one_class(void** state)
{
    (void)state;
    ph_recording* holes = parse_text("# rate 2\n" NAMES ",hp\n0,1,1,1,1,1,5\n0,2,1,1,1,1,\n");
    written_file file = make_file();
    char note[PH_RECORDING_NOTE_MAX];
    write_again(holes, &file, note);
    ph_recording* again = read_again(&file);
    assert_int_equal(again->class_column, -1);
    ph_recording_destroy(again);
    ph_recording_destroy(holes);
    free(file.bytes);
    file = record_park(
        "class thing\n at: position\nclass thing_2nd\n at: position\n    hp: range 0..99\n");
    again = read_again(&file);
    assert_int_equal(ph_recording_class_count(again), 2);
    ph_recording_destroy(again);
    free(file.bytes);
}

// Keys that are no number of text are numbered, as they appear.
static void large_keys_are_numbered(void** state)
{
    (void)state;
    written_file file = record_world("class kart\n    at: position\n", 0.0, UINT64_MAX);
    ph_recording* recording = read_again(&file);
    assert_int_equal(recording->entity_count, 1);
    assert_int_equal(recording->id[0], 0);
    assert_int_equal(recording->row_count, RECORDED_TICKS);
    ph_recording_destroy(recording);
    free(file.bytes);
}

// Each of them takes 301 characters: 62 columns are more than most rows.
static void the_longest_rows_fit_into_text(void** state)
{
    (void)state;
    char schema[8192] = "class star\n    at: position\n";
    for (int i = 0; i < PH_RECORDING_COLUMNS_MAX; ++i) {
        const size_t used = strlen(schema);
        snprintf(schema + used, sizeof schema - used,
                 "    mass_%d: fixed -1e300..1e300 step 1e294\n", i);
    }
    written_file file = record_world(schema, -1e300, 5);
    ph_recording* recording = read_again(&file);
    written_file text = make_file();
    const ph_recording_sink sink = {.write = write_file, .context = &text};
    ph_fault fault = {0};
    assert_true(ph_recording_write_csv(recording, &sink, &fault));
    assert_true(text.size > (size_t)RECORDED_TICKS * 300 * PH_RECORDING_COLUMNS_MAX);
    ph_recording_destroy(recording);
    free(text.bytes);
    free(file.bytes);
}

static void golden_bytes_are_the_same(void** state)
{
    (void)state;
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    ph_file_text golden;
    assert_true(ph_file_text_load("test/golden/recording/walk.phrec", &golden, &fault));
    ph_recording* walk = ph_recording_load("test/golden/recording/walk.csv", &def, &fault);
    assert_non_null(walk);
    written_file file = make_file();
    char note[PH_RECORDING_NOTE_MAX];
    write_again(walk, &file, note);
    assert_int_equal(file.size, golden.length);
    assert_memory_equal(file.bytes, golden.bytes, file.size);
    ph_recording* loaded = ph_recording_load("test/golden/recording/walk.phrec", &def, &fault);
    assert_non_null(loaded);
    assert_same(walk, loaded);
    ph_recording_destroy(loaded);
    ph_recording_destroy(walk);
    ph_file_text_unload(&golden);
    free(file.bytes);
}

static void a_full_disk_is_said(void** state)
{
    (void)state;
    ph_recording* recording = parse_text("# rate 1\n" NAMES "\n0,1,1,1,1,1\n");
    written_file file = make_file();
    file.limit = 100;
    const ph_recording_sink sink = {.write = write_file, .context = &file};
    char note[PH_RECORDING_NOTE_MAX];
    ph_fault fault = {0};
    assert_false(ph_recording_write(recording, &sink, note, &fault));
    assert_string_equal(fault.message, "it cannot be written. Is the disk full?");
    file.limit = 10;
    file.size = 0;
    assert_false(ph_recording_write_csv(recording, &sink, &fault));
    ph_recording_destroy(recording);
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_comes_back),
        cmocka_unit_test(marks_of_jumps_come_back),
        cmocka_unit_test(scenes_come_back),
        cmocka_unit_test(odd_columns_are_kept_or_named),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(golden_bytes_are_the_same),
        cmocka_unit_test(a_full_disk_is_said),
        cmocka_unit_test(properties_named_as_columns_have_columns_of_their_own),
        cmocka_unit_test(the_longest_rows_fit_into_text),
        cmocka_unit_test(another_entity_of_the_same_key_is_a_jump),
        cmocka_unit_test(each_entity_has_the_class_that_it_was_recorded_with),
        cmocka_unit_test(things_are_of_one_class),
        cmocka_unit_test(large_keys_are_numbered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
