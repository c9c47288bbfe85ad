// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Batches written byte by byte from docs/wire_transfer.md: each rule of a record that can be broken alone is, and the
// batch is refused for that reason, with nothing changed.

#include "support/test_support.h"

#include <pinhole/transfer.h>

#include <string.h>

static const char SCHEMA[] = "class stone\n    at: position\n    weight: range 0..200\n";

enum { BYTES_MAX = 128, KIND_REMOVED = 0, KIND_LEFT, KIND_CHANGED, KIND_STATE };
enum { HAS_POSITION = 1 << 2, HAS_VALUES = 1 << 3 };

typedef struct fixture {
    ph_schema* schema;
    ph_world* world;
    ph_importer* importer;
    uint8_t bytes[BYTES_MAX];
    size_t size;
} fixture;

static void setup(fixture* f)
{
    *f = (fixture){.size = 0};
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &f->schema, NULL), PH_OK);
    ph_world_def def = ph_world_def_default();
    def.schema = f->schema;
    assert_int_equal(ph_world_create(&def, &f->world), PH_OK);
    assert_int_equal(ph_importer_create(&(ph_importer_def){.world = f->world}, &f->importer),
                     PH_OK);
}

static void teardown(fixture* f)
{
    ph_importer_destroy(f->importer);
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
}

static void add(fixture* f, uint64_t number, int width)
{
    assert_true(f->size + (size_t)width <= BYTES_MAX);
    for (int i = 0; i < width; ++i) {
        f->bytes[f->size++] = (uint8_t)(number >> 8 * i);
    }
}

// Changes with one record. area_mm: they are of 0..area_mm both ways; 0: of everywhere.
static void begin_batch(fixture* f, int32_t area_mm)
{
    f->size = 0;
    add(f, 2, 1);
    add(f, area_mm > 0 ? 2 : 0, 1);
    add(f, 1, 2);
    add(f, 0, 8); // owner, stamp
    add(f, ph_schema_fingerprint(f->schema), 8);
    for (int i = 0; area_mm > 0 && i < 2; ++i) {
        add(f, 0, 4);
        add(f, (uint32_t)area_mm, 4);
    }
}

// Of so many bytes: a key of 7, an incarnation of 1.
static void add_fixed(fixture* f, int head, int key_width, int incarnation_width, int epoch_width)
{
    add(f,
        (uint64_t)(head | (key_width - 1) << 4 | (incarnation_width - 1) << 7 | epoch_width << 9),
        2);
    add(f, 7, key_width);
    add(f, 1, incarnation_width);
}

static void add_position(fixture* f, int32_t x_mm, int32_t y_mm)
{
    add(f, (uint32_t)x_mm, 4);
    add(f, (uint32_t)y_mm, 4);
    add(f, 0, 4);
}

static void assert_refused(fixture* f, ph_import_refusal refusal)
{
    const ph_import_stats before = ph_importer_get_stats(f->importer);
    const ph_result result = ph_importer_take(f->importer, f->bytes, f->size);
    const ph_import_stats after = ph_importer_get_stats(f->importer);
    assert_int_equal(result, PH_ERROR_VALUE);
    assert_int_equal(after.refused[refusal], before.refused[refusal] + 1);
    assert_int_equal(ph_world_entity_count(f->world), 0);
}

static void numbers_have_no_byte_too_many(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    begin_batch(&f, 0);
    add_fixed(&f, KIND_REMOVED, 1, 1, 0);
    assert_int_equal(ph_importer_take(f.importer, f.bytes, f.size), PH_OK);
    for (int width = 2; width <= 8; ++width) {
        begin_batch(&f, 0);
        add_fixed(&f, KIND_REMOVED, width, 1, 0);
        assert_refused(&f, PH_IMPORT_REFUSAL_VALUE);
        begin_batch(&f, 0);
        add_fixed(&f, KIND_REMOVED, 1, width > 4 ? 4 : width, 0);
        assert_refused(&f, PH_IMPORT_REFUSAL_VALUE);
    }
    for (int width = 1; width <= 4; ++width) { // an epoch of 0 has none
        begin_batch(&f, 0);
        add_fixed(&f, KIND_REMOVED, 1, 1, width);
        add(&f, 0, width);
        assert_refused(&f, PH_IMPORT_REFUSAL_VALUE);
    }
    begin_batch(&f, 0);
    add_fixed(&f, KIND_REMOVED, 1, 1, 4);
    add(&f, UINT32_MAX, 4);
    assert_int_equal(ph_importer_take(f.importer, f.bytes, f.size), PH_OK);
    teardown(&f);
}

static void heads_say_only_what_there_is(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    for (int width = 5; width <= 7; ++width) {
        begin_batch(&f, 0);
        add_fixed(&f, KIND_REMOVED, 1, 1, width);
        add(&f, UINT64_MAX, width);
        assert_refused(&f, PH_IMPORT_REFUSAL_RECORD);
    }
    static const int HEADS[] = {
        KIND_REMOVED | 1 << 12,       KIND_REMOVED | 1 << 15,
        KIND_REMOVED | HAS_POSITION,  KIND_LEFT,
        /* of a cell */ KIND_CHANGED, /* nothing */ KIND_STATE | HAS_VALUES,
        KIND_CHANGED | HAS_POSITION,  KIND_CHANGED | HAS_POSITION,
        KIND_CHANGED | HAS_VALUES,
    };
    static const uint8_t CLASSES[] = {0, 0, 0, 0, 0, 0, 1, 255, 0};
    for (size_t i = 0; i < sizeof HEADS / sizeof HEADS[0]; ++i) {
        begin_batch(&f, 0);
        add_fixed(&f, HEADS[i], 1, 1, 0);
        if ((HEADS[i] & 3) >= KIND_CHANGED) {
            add(&f, CLASSES[i], 1);
            add_position(&f, 0, 0); // also a mask of 0
        }
        assert_refused(&f, PH_IMPORT_REFUSAL_RECORD);
    }
    teardown(&f);
}

static void positions_lie_in_the_area(void** state)
{
    (void)state;
    static const int32_t OUTSIDE[][2] = {{-1, 0}, {0, -1}, {5001, 0}, {0, 5001}};
    fixture f;
    setup(&f);
    for (int i = 0; i < 4; ++i) {
        begin_batch(&f, 5000);
        add_fixed(&f, KIND_CHANGED | HAS_POSITION, 1, 1, 0);
        add(&f, 0, 1);
        add_position(&f, OUTSIDE[i][0], OUTSIDE[i][1]);
        assert_refused(&f, PH_IMPORT_REFUSAL_RECORD);
    }
    begin_batch(&f, 5000);
    add_fixed(&f, KIND_STATE, 1, 1, 0);
    add(&f, 0, 1);
    add(&f, UINT32_MAX, 4);
    add(&f, 0, 1);
    add_position(&f, 5000, 0);
    add(&f, 200, 1);
    assert_int_equal(ph_importer_take(f.importer, f.bytes, f.size), PH_OK);
    assert_int_equal(ph_world_entity_count(f.world), 1);
    assert_true(ph_world_find(f.world, 7).index1 != 0);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_no_byte_too_many),
        cmocka_unit_test(heads_say_only_what_there_is),
        cmocka_unit_test(positions_lie_in_the_area),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
