// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The fixture of the tests of records.

#include "record_fixture.h"

#include <string.h>

static const char declarations[] = "class kart\n"
                                   " alive: bool\n"
                                   " place: position\n"
                                   " heading: angle 8\n"
                                   " target: entity\n"
                                   " name: string 3\n"
                                   " mood: enum 5 initial 1\n"
                                   "class rock\n"
                                   " place: position ground 500\n"
                                   "class star\n"
                                   " place: position 32 step 1\n";

// Two floors everywhere.
static int floors(const void* context, int64_t x_mm, int64_t y_mm,
                  int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)context;
    (void)x_mm;
    (void)y_mm;
    heights_mm[0] = -100;
    heights_mm[1] = 4000;
    return 2;
}

int record_fixture_setup(void** state)
{
    static record_fixture f;
    f = (record_fixture){.ground = {.layers = floors}};
    assert_int_equal(ph_schema_parse(declarations, sizeof declarations - 1, NULL, &f.schema, NULL),
                     PH_OK);
    assert_int_equal(ph_layouts_create(&f.layouts, f.schema, NULL), PH_OK);
    f.frame = (ph_frame){.layouts = &f.layouts, .ground = &f.ground, .slot_bits = 8};
    *state = &f;
    return 0;
}

int record_fixture_teardown(void** state)
{
    record_fixture* f = *state;
    ph_layouts_destroy(&f->layouts);
    ph_schema_destroy(f->schema);
    return 0;
}

ph_record record_of(record_fixture* f, ph_record_kind kind, int class_index, uint64_t properties)
{
    ph_layout_reset(&f->layouts.layouts[class_index], f->words, f->texts);
    return (ph_record){.kind = (uint8_t)kind,
                       .slot = 0xA5,
                       .association = 4 + 2,
                       .class_index = (uint8_t)class_index,
                       .properties = properties,
                       .words = f->words,
                       .texts = f->texts};
}

size_t write_fields(const field* fields, uint8_t bytes[FIXTURE_BYTES])
{
    memset(bytes, 0, FIXTURE_BYTES);
    ph_bit_writer writer = ph_bit_writer_make(bytes, FIXTURE_BYTES);
    for (; fields->width > 0; ++fields) {
        ph_bits_write(&writer, fields->value, fields->width);
    }
    return ph_bit_writer_finish(&writer);
}
