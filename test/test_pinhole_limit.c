// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The dearest enter of a class that takes all that a schema may take: one datagram holds it, with
// the dearest header there is, whatever the tables say.

#include "packet/pinhole_records.h"

#include "packet/header.h"
#include "schema/model_tables.h"

#include "support/test_support.h"

#include <pinhole/vision.h>

#include <stdio.h>
#include <string.h>

// 84 + 8010 bits; the rest is filled with angles and bools until nothing is left.
static const char HEAD[] = "class crate\nplace: position\nheading: angle 32\ntext: string 1000\n";

enum { WORDS = PH_PROPERTIES_MAX * PH_VALUE_WORDS_MAX, TEXTS = 2048, SCHEMA_BYTES = 4096 };

typedef struct fixture {
    ph_schema* schema;
    ph_layouts layouts;
    ph_packing packing;
    ph_pinhole_frame frame;
    uint32_t words[WORDS];
    uint8_t texts[TEXTS];
} fixture;

static bool try_schema(const char* text, ph_schema** schema)
{
    return ph_schema_parse(text, strlen(text), NULL, schema, NULL) == PH_OK;
}

// As many angles as the limit allows, the widest first.
static void make_schema(ph_schema** schema)
{
    char text[SCHEMA_BYTES];
    size_t length = sizeof HEAD - 1;
    memcpy(text, HEAD, sizeof HEAD);
    int count = 0;
    for (int width = 32; width > 0;) {
        const int added =
            snprintf(text + length, sizeof text - length, "p%d: angle %d\n", count, width);
        if (count < PH_PROPERTIES_MAX - 3 && try_schema(text, schema)) {
            ph_schema_destroy(*schema);
            length += (size_t)added;
            ++count;
        } else {
            --width;
        }
    }
    text[length] = '\0';
    assert_true(try_schema(text, schema));
}

static void setup(fixture* f)
{
    *f = (fixture){0};
    make_schema(&f->schema);
    assert_int_equal(ph_layouts_create(&f->layouts, f->schema, NULL), PH_OK);
    assert_int_equal(ph_class_max_bits(f->layouts.layouts[0].described), PH_CLASS_BITS_MAX);
    f->packing = ph_packing_make(&f->layouts.layouts[0]);
    f->frame =
        (ph_pinhole_frame){.frame = {.layouts = &f->layouts, .slot_bits = PH_CLASSIC_SLOT_BITS_MAX},
                           .packings = &f->packing,
                           .tick_us = 50000};
}

static void teardown(fixture* f)
{
    ph_layouts_destroy(&f->layouts);
    ph_schema_destroy(f->schema);
}

// Everything at its widest: nothing is near anything, nothing is initial.
static ph_pinhole_record dearest_enter(fixture* f)
{
    const ph_layout* layout = &f->layouts.layouts[0];
    const ph_class* described = layout->described;
    ph_layout_reset(layout, f->words, f->texts);
    for (int i = 0; i < described->def.property_count; ++i) {
        const ph_property* property = &described->properties[i];
        if (property->is_text) {
            uint8_t bytes[PH_TEXT_LENGTH_MAX];
            memset(bytes, 'x', sizeof bytes);
            ph_layout_store_text(layout, f->texts, i,
                                 (ph_text){.bytes = bytes, .length = PH_TEXT_LENGTH_MAX});
        } else if (property->is_number) {
            f->words[layout->word[i]] = (uint32_t)ph_property_top(property, 0);
        }
    }
    for (int i = 0; i < 3; ++i) {
        f->words[layout->word[described->position] + i] = UINT32_C(1) << 31;
    }
    return (ph_pinhole_record){.record = {.kind = PH_RECORD_ENTER,
                                          .properties = layout->all,
                                          .association = 3,
                                          .slot = UINT16_MAX,
                                          .key = UINT64_MAX,
                                          .is_jump = true,
                                          .velocity = {INT16_MAX, -INT16_MAX, INT16_MAX},
                                          .words = f->words,
                                          .texts = f->texts}};
}

static ph_header dearest_header(void)
{
    return (ph_header){.sequence = 6,
                       .horizon = 5,
                       .tick = PH_PINHOLE_TICK_WHOLE,
                       .wait = 31,
                       .has_hello = true,
                       .has_eye = true,
                       .enter_count = 1,
                       .hello = {.session = 5,
                                 .tick_us = 50000,
                                 .slot_count = UINT16_MAX,
                                 .version = PH_PINHOLE_VERSION}};
}

static void the_dearest_enter_fits_a_datagram(void** state)
{
    (void)state;
    static fixture f;
    setup(&f);
    const ph_pinhole_record coded = dearest_enter(&f);
    const ph_header header = dearest_header();
    const uint32_t cost256 = ph_pinhole_cost256(&f.frame, &coded, NULL);
    assert_true(cost256 > PH_CLASS_BITS_MAX * PH_COST_PER_BIT);
    assert_true(cost256 <= (PH_CLASS_BITS_MAX + PH_PINHOLE_ENTER_BITS_MAX) * PH_COST_PER_BIT);
    uint8_t bytes[PH_PAYLOAD_MAX];
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, sizeof bytes);
    ph_pinhole_header_write(&header, &writer.raw);
    ph_pinhole_write(&f.frame, &writer, &coded);
    assert_int_equal(ph_entropy_writer_result(&writer), PH_OK);
    assert_in_range(ph_entropy_writer_finish(&writer), PH_CLASS_BITS_MAX / 8, PH_PAYLOAD_MAX);
    teardown(&f);
}

// An update brings the flags of all known entities. It lacks what only an enter says: so where an
// enter fits, an update does, too, in a full view and beside as many that are leaving, whatever
// both ends expect of them.
static void the_flags_of_a_full_view_cost_less_than_an_enter_has_more(void** state)
{
    (void)state;
    const int slot_bits = PH_MODEL_BITS + 15;
    const int name_bits = 2 * PH_MODEL_BITS + 63;
    const int velocity_bits = PH_MODEL_BITS + 3 * (PH_MODEL_BITS + 15);
    const int spare256 = (slot_bits + name_bits + velocity_bits) * PH_COST_PER_BIT;
    static ph_told_costs costs;
    ph_told_costs_fill(&costs, &ph_library_models);
    for (int silent = 0; silent < PH_URGENCIES; ++silent) {
        for (int told = 0; told < PH_URGENCIES; ++told) {
            int counts[PH_URGENCIES] = {0};
            counts[silent] += 2 * PH_VISIBLE_MAX;
            counts[told] += 1;
            ph_told_sums sums;
            ph_told_sums_begin(&sums, &costs, counts);
            sums.told[told] = 1;
            // At this density, so at the best as well, and of any mixture of them.
            assert_in_range(ph_told_sums_cost256(&sums, &costs, 1), 1, spare256);
            const int best = ph_pinhole_best_density(&sums, &costs);
            assert_int_not_equal(best, PH_DENSITY_NONE);
            assert_true(ph_told_sums_cost256(&sums, &costs, best) <=
                        ph_told_sums_cost256(&sums, &costs, 1));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_dearest_enter_fits_a_datagram),
        cmocka_unit_test(the_flags_of_a_full_view_cost_less_than_an_enter_has_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
