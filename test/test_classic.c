// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records of the classic profile, bit by bit. What a reader refuses is in test_classic_refusals.c,
// random records are in test_classic_random.c.

#include "packet/classic_records.h"
#include "packet/header.h"

#include "support/record_fixture.h"

#include <stdio.h>
#include <string.h>

static void assert_written(record_fixture* f, const ph_record* record, const field* fields)
{
    uint8_t expected[64];
    const size_t size = write_fields(fields, expected);
    memset(f->bytes, 0, sizeof f->bytes);
    ph_bit_writer writer = ph_bit_writer_make(f->bytes, sizeof f->bytes);
    ph_classic_write_record(&f->frame, record, &writer);
    size_t bits = 0;
    for (; fields->width > 0; ++fields) {
        bits += (size_t)fields->width;
    }
    assert_int_equal(ph_bit_writer_size_bits(&writer), bits);
    assert_int_equal(ph_classic_record_bits(&f->frame, record, NULL), bits);
    assert_int_equal(ph_bit_writer_finish(&writer), size);
    assert_memory_equal(f->bytes, expected, size);
}

static void a_leave_is_a_slot_and_an_association(void** state)
{
    record_fixture* f = *state;
    const ph_record record = {.kind = PH_RECORD_LEAVE, .slot = 0xA5, .association = 4 + 2};
    assert_written(f, &record, (field[]){HEAD, END});
    f->frame.slot_bits = 12;
    assert_written(f, &record, (field[]){{0xA5, 12}, {2, 2}, END});
}

// The number that everything is measured against, however many properties the class has.
static void a_position_costs_61_bits(void** state)
{
    record_fixture* f = *state;
    ph_record record = record_of(f, PH_RECORD_UPDATE, KART, PLACE);
    f->frame.eye_mm[0] = 0x12300000;
    f->words[1] = 0x12300010;
    f->words[2] = (uint32_t)-16;
    f->words[3] = 0x7FFF0;
    assert_written(
        f, &record,
        (field[]){HEAD, {0, 1}, {1, 1}, {1, 16}, {0xFFFF, 16}, {0x7FFF, 16}, {0, 1}, END});
    assert_int_equal(ph_classic_record_bits(&f->frame, &record, NULL), 61);
}

static void a_jump_costs_two_bits_more(void** state)
{
    record_fixture* f = *state;
    ph_record record = record_of(f, PH_RECORD_UPDATE, KART, PLACE);
    record.is_jump = true;
    assert_written(f, &record, (field[]){HEAD, {3, 3}, {1, 1}, {0, 48}, {0, 1}, END});
    assert_int_equal(ph_classic_record_bits(&f->frame, &record, NULL), 63);
}

static void outside_of_the_window_a_position_is_in_full(void** state)
{
    record_fixture* f = *state;
    ph_record record = record_of(f, PH_RECORD_UPDATE, KART, PLACE);
    for (int axis = 0; axis < 3; ++axis) {
        // The window has 2^15 steps on either side, the lower end included.
        const uint32_t inside[] = {0x7FFF0, (uint32_t)-0x80000};
        const uint32_t outside[] = {0x80000, (uint32_t)-0x80010};
        for (int side = 0; side < 2; ++side) {
            memset(f->words, 0, sizeof f->words);
            f->words[1 + axis] = inside[side];
            assert_int_equal(ph_classic_record_bits(&f->frame, &record, NULL), 61);
            f->words[1 + axis] = outside[side];
            const uint64_t steps = outside[side] >> 4;
            assert_written(f, &record,
                           (field[]){HEAD,
                                     {1, 1},
                                     {0, 1},
                                     {1, 1},
                                     {1, 1},
                                     {axis == 0 ? steps : 0, 28},
                                     {axis == 1 ? steps : 0, 28},
                                     {axis == 2 ? steps : 0, 28},
                                     {0, 1},
                                     END});
        }
    }
}

static void an_altitude_is_a_layer_or_an_escape(void** state)
{
    record_fixture* f = *state;
    ph_record record = record_of(f, PH_RECORD_UPDATE, ROCK, 1);
    f->words[2] = 4000;
    assert_written(f, &record, (field[]){HEAD, {0, 1}, {1, 1}, {0, 32}, {1, 2}, {0, 1}, END});
    // However high: an escape is in full already, and the window is one of x and y.
    f->words[2] = 0x1000000;
    assert_written(
        f, &record,
        (field[]){HEAD, {0, 1}, {1, 1}, {0, 32}, {2, 2}, {0x8000000 + 0x100000, 28}, {0, 1}, END});
    f->words[0] = 0x80000;
    f->words[2] = (uint32_t)-100;
    assert_written(f, &record,
                   (field[]){HEAD, {5, 3}, {1, 1}, {0x8000, 28}, {0, 28}, {0, 2}, {0, 1}, END});
}

static void presence_flags_leave_out_the_position(void** state)
{
    record_fixture* f = *state;
    ph_record record = record_of(f, PH_RECORD_UPDATE, KART, ALIVE | HEADING | MOOD);
    f->words[0] = 1;
    f->words[4] = 200;
    f->words[8] = 4;
    assert_written(
        f, &record,
        (field[]){
            HEAD, {0, 1}, {0, 1}, {1, 1}, {1 | 1 << 1 | 1 << 4, 5}, {1, 1}, {200, 8}, {4, 3}, END});
    // With the position as well: it stands in front of the flags.
    record.properties |= PLACE;
    f->words[1] = 32;
    assert_written(f, &record,
                   (field[]){HEAD,
                             {0, 1},
                             {1, 1},
                             {2, 16},
                             {0, 32},
                             {1, 1},
                             {1 | 1 << 1 | 1 << 4, 5},
                             {1, 1},
                             {200, 8},
                             {4, 3},
                             END});
}

static void an_enter_has_class_and_name(void** state)
{
    record_fixture* f = *state;
    ph_record record = record_of(f, PH_RECORD_ENTER, KART, PLACE | NAME);
    record.key = (UINT64_C(1) << 43) - 1;
    ph_layout_store_text(&f->layouts.layouts[KART], f->texts, 4,
                         (ph_text){(const uint8_t*)"ab", 2});
    assert_written(f, &record,
                   (field[]){HEAD,
                             {KART, 8},
                             {0, 1},
                             {record.key, 43},
                             {0, 1},
                             {0, 48},
                             {1, 1},
                             {1 << 3, 5},
                             {2, 2},
                             {'a', 8},
                             {'b', 8},
                             END});
    record = record_of(f, PH_RECORD_ENTER, ROCK, 1);
    record.key = UINT64_C(1) << 43;
    f->words[2] = 4000;
    assert_written(
        f, &record,
        (field[]){HEAD, {ROCK, 8}, {1, 1}, {record.key, 64}, {0, 1}, {0, 32}, {1, 2}, {0, 1}, END});
}

static void a_reference_is_none_or_slot_and_association(void** state)
{
    record_fixture* f = *state;
    f->frame.slot_bits = 9;
    ph_record record = record_of(f, PH_RECORD_UPDATE, KART, TARGET);
    assert_written(f, &record,
                   (field[]){{0xA5, 9}, {2, 2}, {0, 2}, {1, 1}, {1 << 2, 5}, {0, 1}, END});
    f->words[5] = 511 + 1;
    f->words[6] = 1000003;
    assert_written(
        f, &record,
        (field[]){{0xA5, 9}, {2, 2}, {0, 2}, {1, 1}, {1 << 2, 5}, {1, 1}, {511, 9}, {3, 2}, END});
    ph_record read = record_of(f, PH_RECORD_UPDATE, KART, 0);
    ph_bit_reader reader = ph_bit_reader_make(f->bytes, 5);
    ph_classic_read_slot(&f->frame, &reader, &read);
    ph_classic_read_body(&f->frame, &reader, &read);
    assert_int_equal(ph_bit_reader_result(&reader), PH_OK);
    assert_true(read.properties == TARGET);
    assert_int_equal(f->words[5], 512);
    assert_int_equal(f->words[6], 3);
}

// As many properties as there can be: their flags and the bit in front fill a field.
static void a_class_of_64_properties_is_told_in_whole(void** state)
{
    record_fixture* f = *state;
    for (int position = 0; position < 64; position += 21) {
        ph_property_def properties[64];
        char names[64][16];
        for (int i = 0; i < 64; ++i) {
            snprintf(names[i], sizeof names[i], "p%d", i);
            properties[i] = i == position ? ph_property_position(names[i])
                                          : ph_property_range(names[i], 0, 255);
        }
        const ph_class_def type = {.name = "all", .properties = properties, .property_count = 64};
        ph_schema* schema;
        ph_layouts layouts;
        assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, NULL), PH_OK);
        assert_int_equal(ph_layouts_create(&layouts, schema, NULL), PH_OK);
        const ph_frame frame = {.layouts = &layouts, .ground = &f->ground, .slot_bits = 8};
        uint32_t words[66];
        for (uint32_t i = 0; i < 66; ++i) {
            words[i] = 16 + 2 * (i & 7);
        }
        memset(words + layouts.layouts[0].word[position], 0, 3 * sizeof words[0]);
        ph_record record = {.kind = PH_RECORD_ENTER, .properties = UINT64_MAX, .words = words};
        uint8_t bytes[200];
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_classic_write_record(&frame, &record, &writer);
        assert_int_equal(ph_bit_writer_size_bits(&writer), 10 + 8 + 44 + 1 + 48 + 1 + 63 + 63 * 8);

        uint32_t read[66] = {0};
        record = (ph_record){.kind = PH_RECORD_ENTER, .words = read};
        ph_bit_reader reader = ph_bit_reader_make(bytes, ph_bit_writer_finish(&writer));
        ph_classic_read_slot(&frame, &reader, &record);
        ph_classic_read_key(&frame, &reader, &record);
        ph_classic_read_body(&frame, &reader, &record);
        assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
        assert_true(record.properties == UINT64_MAX);
        assert_memory_equal(read, words, sizeof words);
        ph_layouts_destroy(&layouts);
        ph_schema_destroy(schema);
    }
}

static void slots_have_8_bits_or_as_many_as_they_need(void** state)
{
    (void)state;
    assert_int_equal(ph_slot_bits(1), 8);
    assert_int_equal(ph_slot_bits(256), 8);
    assert_int_equal(ph_slot_bits(257), 9);
    assert_int_equal(ph_slot_bits(512), 9);
    assert_int_equal(ph_slot_bits(513), 10);
    assert_int_equal(ph_slot_bits(65535), 16);
}

static void a_bill_says_what_each_bit_was_for(void** state)
{
    record_fixture* f = *state;
    ph_record record = record_of(f, PH_RECORD_UPDATE, KART, PLACE | HEADING | TARGET);
    record.is_jump = true;
    ph_record_bits stats = {.slot_bits = 1000, .mask_bits = 2000, .property_bits = {[1] = 3000}};
    assert_int_equal(ph_classic_record_bits(&f->frame, &record, &stats), 10 + 10 + 48 + 8 + 1);
    assert_int_equal(stats.slot_bits, 1010);
    assert_int_equal(stats.mask_bits, 2000 + 3 + 1 + 1 + 5);
    assert_int_equal(stats.property_bits[0], 0);
    assert_int_equal(stats.property_bits[1], 3048);
    assert_int_equal(stats.property_bits[2], 8);
    assert_int_equal(stats.property_bits[3], 1);
    record = (ph_record){.kind = PH_RECORD_LEAVE};
    stats = (ph_record_bits){0};
    assert_int_equal(ph_classic_record_bits(&f->frame, &record, &stats), 10);
    assert_int_equal(stats.slot_bits, 10);
    record = record_of(f, PH_RECORD_ENTER, STAR, 1);
    stats = (ph_record_bits){0};
    assert_int_equal(ph_classic_record_bits(&f->frame, &record, &stats), 10 + 8 + 44 + 1 + 96 + 1);
    assert_int_equal(stats.slot_bits, 10 + 8 + 44);
    assert_int_equal(stats.mask_bits, 2);
    assert_int_equal(stats.property_bits[0], 96);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_leave_is_a_slot_and_an_association, record_fixture_setup,
                                        record_fixture_teardown),
        cmocka_unit_test_setup_teardown(a_position_costs_61_bits, record_fixture_setup,
                                        record_fixture_teardown),
        cmocka_unit_test_setup_teardown(a_jump_costs_two_bits_more, record_fixture_setup,
                                        record_fixture_teardown),
        cmocka_unit_test_setup_teardown(outside_of_the_window_a_position_is_in_full,
                                        record_fixture_setup, record_fixture_teardown),
        cmocka_unit_test_setup_teardown(an_altitude_is_a_layer_or_an_escape, record_fixture_setup,
                                        record_fixture_teardown),
        cmocka_unit_test_setup_teardown(presence_flags_leave_out_the_position, record_fixture_setup,
                                        record_fixture_teardown),
        cmocka_unit_test_setup_teardown(an_enter_has_class_and_name, record_fixture_setup,
                                        record_fixture_teardown),
        cmocka_unit_test_setup_teardown(a_reference_is_none_or_slot_and_association,
                                        record_fixture_setup, record_fixture_teardown),
        cmocka_unit_test_setup_teardown(a_class_of_64_properties_is_told_in_whole,
                                        record_fixture_setup, record_fixture_teardown),
        cmocka_unit_test(slots_have_8_bits_or_as_many_as_they_need),
        cmocka_unit_test_setup_teardown(a_bill_says_what_each_bit_was_for, record_fixture_setup,
                                        record_fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
