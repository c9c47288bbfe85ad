// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records of the classic profile, bit by bit, and everything that a reader refuses. Random ones are
// in test_classic_random.c.

#include "wire/classic.h"

#include "support/test_support.h"

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

enum { KART = 0, ROCK, STAR };
enum { ALIVE = 1, PLACE = 2, HEADING = 4, TARGET = 8, NAME = 16, MOOD = 32 };

typedef struct fixture {
    ph_schema* schema;
    ph_layouts layouts;
    ph_ground ground;
    ph_frame frame;
    uint32_t words[16];
    uint8_t texts[16];
    uint8_t bytes[64];
} fixture;

// Two floors everywhere.
static int floors(const void* context, int32_t x_mm, int32_t y_mm,
                  int32_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)context;
    (void)x_mm;
    (void)y_mm;
    heights_mm[0] = -100;
    heights_mm[1] = 4000;
    return 2;
}

static int setup(void** state)
{
    static fixture f;
    f = (fixture){.ground = {.layers = floors}};
    assert_int_equal(ph_schema_parse(declarations, sizeof declarations - 1, NULL, &f.schema, NULL),
                     PH_OK);
    assert_int_equal(ph_layouts_create(&f.layouts, f.schema, NULL), PH_OK);
    f.frame = (ph_frame){.layouts = &f.layouts, .ground = &f.ground, .slot_bits = 8};
    *state = &f;
    return 0;
}

static int teardown(void** state)
{
    fixture* f = *state;
    ph_layouts_destroy(&f->layouts);
    ph_schema_destroy(f->schema);
    return 0;
}

static ph_record record_of(fixture* f, ph_record_kind kind, int class_index, uint64_t properties)
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

// Writes a list of value, width pairs, ended by a width of 0, and compares.
typedef struct field {
    uint64_t value;
    int width;
} field;

static size_t write_fields(const field* fields, uint8_t bytes[64])
{
    memset(bytes, 0, 64);
    ph_bit_writer writer = ph_bit_writer_make(bytes, 64);
    for (; fields->width > 0; ++fields) {
        ph_bits_write(&writer, fields->value, fields->width);
    }
    return ph_bit_writer_finish(&writer);
}

static void assert_written(fixture* f, const ph_record* record, const field* fields)
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

// Reads a record from fields. @return What the reader says of it.
static ph_result read_fields(fixture* f, ph_record* record, const field* fields)
{
    const size_t size = write_fields(fields, f->bytes);
    ph_bit_reader reader = ph_bit_reader_make(f->bytes, size);
    ph_classic_read_slot(&f->frame, &reader, record);
    if (record->kind == PH_RECORD_ENTER) {
        ph_classic_read_name(&f->frame, &reader, record);
    }
    ph_classic_read_body(&f->frame, &reader, record);
    return ph_bit_reader_finish(&reader);
}

static void assert_refused(fixture* f, ph_record_kind kind, int class_index, const field* fields)
{
    ph_record record = record_of(f, kind, class_index, 0);
    assert_int_equal(read_fields(f, &record, fields), PH_ERROR_VALUE);
}

#define HEAD                                                                                       \
    {0xA5, 8},                                                                                     \
    {                                                                                              \
        2, 2                                                                                       \
    }
#define END                                                                                        \
    {                                                                                              \
        0, 0                                                                                       \
    }

// ---- what is written

static void a_leave_is_a_slot_and_an_association(void** state)
{
    fixture* f = *state;
    const ph_record record = {.kind = PH_RECORD_LEAVE, .slot = 0xA5, .association = 4 + 2};
    assert_written(f, &record, (field[]){HEAD, END});
    f->frame.slot_bits = 12;
    assert_written(f, &record, (field[]){{0xA5, 12}, {2, 2}, END});
}

// The number that everything is measured against, however many properties the class has.
static void a_position_costs_61_bits(void** state)
{
    fixture* f = *state;
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
    fixture* f = *state;
    ph_record record = record_of(f, PH_RECORD_UPDATE, KART, PLACE);
    record.is_jump = true;
    assert_written(f, &record, (field[]){HEAD, {3, 3}, {1, 1}, {0, 48}, {0, 1}, END});
    assert_int_equal(ph_classic_record_bits(&f->frame, &record, NULL), 63);
}

static void outside_of_the_window_a_position_is_in_full(void** state)
{
    fixture* f = *state;
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
    fixture* f = *state;
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
    fixture* f = *state;
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
    fixture* f = *state;
    ph_record record = record_of(f, PH_RECORD_ENTER, KART, PLACE | NAME);
    record.name = (UINT64_C(1) << 43) - 1;
    ph_layout_store_text(&f->layouts.layouts[KART], f->texts, 4,
                         (ph_text){(const uint8_t*)"ab", 2});
    assert_written(f, &record,
                   (field[]){HEAD,
                             {KART, 8},
                             {0, 1},
                             {record.name, 43},
                             {0, 1},
                             {0, 48},
                             {1, 1},
                             {1 << 3, 5},
                             {2, 2},
                             {'a', 8},
                             {'b', 8},
                             END});
    record = record_of(f, PH_RECORD_ENTER, ROCK, 1);
    record.name = UINT64_C(1) << 43;
    f->words[2] = 4000;
    assert_written(
        f, &record,
        (field[]){
            HEAD, {ROCK, 8}, {1, 1}, {record.name, 64}, {0, 1}, {0, 32}, {1, 2}, {0, 1}, END});
}

static void a_reference_is_none_or_slot_and_association(void** state)
{
    fixture* f = *state;
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

static void slots_have_8_bits_or_as_many_as_they_need(void** state)
{
    (void)state;
    assert_int_equal(ph_classic_slot_bits(1), 8);
    assert_int_equal(ph_classic_slot_bits(256), 8);
    assert_int_equal(ph_classic_slot_bits(257), 9);
    assert_int_equal(ph_classic_slot_bits(512), 9);
    assert_int_equal(ph_classic_slot_bits(513), 10);
    assert_int_equal(ph_classic_slot_bits(65535), 16);
}

static void a_bill_says_what_each_bit_was_for(void** state)
{
    fixture* f = *state;
    ph_record record = record_of(f, PH_RECORD_UPDATE, KART, PLACE | HEADING | TARGET);
    record.is_jump = true;
    ph_bill bill = {.slot_bits = 1000, .mask_bits = 2000, .property_bits = {[1] = 3000}};
    assert_int_equal(ph_classic_record_bits(&f->frame, &record, &bill), 10 + 10 + 48 + 8 + 1);
    assert_int_equal(bill.slot_bits, 1010);
    assert_int_equal(bill.mask_bits, 2000 + 3 + 1 + 1 + 5);
    assert_int_equal(bill.property_bits[0], 0);
    assert_int_equal(bill.property_bits[1], 3048);
    assert_int_equal(bill.property_bits[2], 8);
    assert_int_equal(bill.property_bits[3], 1);
    record = (ph_record){.kind = PH_RECORD_LEAVE};
    bill = (ph_bill){0};
    assert_int_equal(ph_classic_record_bits(&f->frame, &record, &bill), 10);
    assert_int_equal(bill.slot_bits, 10);
    record = record_of(f, PH_RECORD_ENTER, STAR, 1);
    bill = (ph_bill){0};
    assert_int_equal(ph_classic_record_bits(&f->frame, &record, &bill), 10 + 8 + 44 + 1 + 96 + 1);
    assert_int_equal(bill.slot_bits, 10 + 8 + 44);
    assert_int_equal(bill.mask_bits, 2);
    assert_int_equal(bill.property_bits[0], 96);
}

// ---- what is refused

static void an_update_that_says_nothing_is_refused(void** state)
{
    assert_refused(*state, PH_RECORD_UPDATE, KART, (field[]){HEAD, {0, 1}, {0, 1}, {0, 1}, END});
}

static void a_time_flag_that_says_nothing_is_refused(void** state)
{
    assert_refused(*state, PH_RECORD_UPDATE, KART,
                   (field[]){HEAD, {1, 1}, {0, 2}, {1, 1}, {0, 48}, {0, 1}, END});
    assert_refused(*state, PH_RECORD_ENTER, KART,
                   (field[]){HEAD, {KART, 8}, {0, 44}, {1, 1}, {0, 2}, {0, 48}, {0, 1}, END});
}

static void time_bits_without_a_position_are_refused(void** state)
{
    for (uint64_t bits = 1; bits < 4; ++bits) {
        assert_refused(*state, PH_RECORD_UPDATE, KART,
                       (field[]){HEAD, {1, 1}, {bits, 2}, {0, 1}, {1, 1}, {1, 5}, {1, 1}, END});
    }
}

static void an_enter_does_not_jump(void** state)
{
    assert_refused(*state, PH_RECORD_ENTER, KART,
                   (field[]){HEAD, {KART, 8}, {0, 44}, {1, 1}, {1, 2}, {0, 48}, {0, 1}, END});
}

static void a_full_position_inside_the_window_is_refused(void** state)
{
    fixture* f = *state;
    const field last_inside[] = {HEAD, {5, 3}, {1, 1}, {0, 56}, {0x7FFF, 28}, {0, 1}, END};
    const field first_outside[] = {HEAD, {5, 3}, {1, 1}, {0, 56}, {0x8000, 28}, {0, 1}, END};
    assert_refused(f, PH_RECORD_UPDATE, KART, last_inside);
    ph_record record = record_of(f, PH_RECORD_UPDATE, KART, 0);
    assert_int_equal(read_fields(f, &record, first_outside), PH_OK);
    assert_int_equal(f->words[3], 0x80000);
    // An altitude is no reason.
    assert_refused(f, PH_RECORD_UPDATE, ROCK,
                   (field[]){HEAD, {5, 3}, {1, 1}, {0, 56}, {2, 2}, {0xFFFFFF, 28}, {0, 1}, END});
    // A window as large as the world has no outside.
    assert_refused(
        f, PH_RECORD_UPDATE, STAR,
        (field[]){HEAD, {5, 3}, {1, 1}, {UINT32_C(0x80000000), 32}, {0, 32}, {0, 32}, {0, 1}, END});
}

static void an_altitude_that_no_sender_writes_is_refused(void** state)
{
    fixture* f = *state;
    assert_refused(f, PH_RECORD_UPDATE, ROCK,
                   (field[]){HEAD, {0, 1}, {1, 1}, {0, 32}, {3, 2}, {0, 1}, END});
    // An escape to where the upper floor would serve.
    assert_refused(
        f, PH_RECORD_UPDATE, ROCK,
        (field[]){HEAD, {0, 1}, {1, 1}, {0, 32}, {2, 2}, {0x8000000 + 250, 28}, {0, 1}, END});
}

static void presence_flags_of_nothing_are_refused(void** state)
{
    assert_refused(*state, PH_RECORD_UPDATE, KART,
                   (field[]){HEAD, {0, 1}, {1, 1}, {0, 48}, {1, 1}, {0, 5}, END});
    // A class of a position alone has no rest.
    assert_refused(*state, PH_RECORD_UPDATE, STAR,
                   (field[]){HEAD, {0, 1}, {1, 1}, {0, 48}, {0, 48}, {1, 1}, END});
}

static void a_wide_name_that_need_not_be_is_refused(void** state)
{
    fixture* f = *state;
    const field narrow[] = {HEAD,    {KART, 8}, {1, 1}, {(UINT64_C(1) << 43) - 1, 64},
                            {0, 49}, {0, 1},    END};
    const field wide[] = {HEAD, {KART, 8}, {1, 1}, {UINT64_C(1) << 43, 64}, {0, 49}, {0, 1}, END};
    assert_refused(f, PH_RECORD_ENTER, KART, narrow);
    ph_record record = record_of(f, PH_RECORD_ENTER, KART, 0);
    assert_int_equal(read_fields(f, &record, wide), PH_OK);
    assert_true(record.name == UINT64_C(1) << 43);
}

static void a_class_that_does_not_exist_is_refused(void** state)
{
    fixture* f = *state;
    const field fields[] = {{0xA5, 8}, {2, 2}, {3, 8}, {0, 44}, END};
    const size_t size = write_fields(fields, f->bytes);
    ph_bit_reader reader = ph_bit_reader_make(f->bytes, size);
    ph_record record = {.kind = PH_RECORD_ENTER};
    ph_classic_read_slot(&f->frame, &reader, &record);
    ph_classic_read_name(&f->frame, &reader, &record);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_VALUE);
    assert_int_equal(record.class_index, 0);
}

// An enter leaves out what is at its initial value; an update may say it.
static void an_initial_value_in_an_enter_is_refused(void** state)
{
    fixture* f = *state;
    static const struct {
        uint64_t flag;
        field initial;
        field other;
    } rows[] = {
        {1 << 0, {0, 1}, {1, 1}},             // alive
        {1 << 1, {0, 8}, {1, 8}},             // heading
        {1 << 2, {0, 1}, {1 | 7 << 1, 11}},   // target
        {1 << 3, {0, 2}, {1 | 'x' << 2, 10}}, // name
        {1 << 4, {1, 3}, {0, 3}},             // mood
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        field enter[] = {HEAD, {KART, 8}, {0, 44}, {0, 49}, {1, 1}, {rows[i].flag, 5}, END, END};
        field update[] = {HEAD, {0, 2}, {1, 1}, {rows[i].flag, 5}, END, END};
        enter[7] = rows[i].initial;
        update[5] = rows[i].initial;
        assert_refused(f, PH_RECORD_ENTER, KART, enter);
        ph_record record = record_of(f, PH_RECORD_UPDATE, KART, 0);
        assert_int_equal(read_fields(f, &record, update), PH_OK);
        enter[7] = rows[i].other;
        record = record_of(f, PH_RECORD_ENTER, KART, 0);
        assert_int_equal(read_fields(f, &record, enter), PH_OK);
        assert_true(record.properties == (PLACE | (rows[i].flag == 1 ? 1 : rows[i].flag << 1)));
    }
}

static void a_value_out_of_range_is_refused(void** state)
{
    assert_refused(*state, PH_RECORD_UPDATE, KART,
                   (field[]){HEAD, {0, 2}, {1, 1}, {1 << 4, 5}, {5, 3}, END});
    fixture* f = *state;
    ph_record record = record_of(f, PH_RECORD_UPDATE, KART, 0);
    assert_int_equal(
        read_fields(f, &record, (field[]){HEAD, {0, 2}, {1, 1}, {1 << 4, 5}, {4, 3}, END}), PH_OK);
    assert_int_equal(f->words[8], 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_leave_is_a_slot_and_an_association, setup, teardown),
        cmocka_unit_test_setup_teardown(a_position_costs_61_bits, setup, teardown),
        cmocka_unit_test_setup_teardown(a_jump_costs_two_bits_more, setup, teardown),
        cmocka_unit_test_setup_teardown(outside_of_the_window_a_position_is_in_full, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_altitude_is_a_layer_or_an_escape, setup, teardown),
        cmocka_unit_test_setup_teardown(presence_flags_leave_out_the_position, setup, teardown),
        cmocka_unit_test_setup_teardown(an_enter_has_class_and_name, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reference_is_none_or_slot_and_association, setup,
                                        teardown),
        cmocka_unit_test(slots_have_8_bits_or_as_many_as_they_need),
        cmocka_unit_test_setup_teardown(a_bill_says_what_each_bit_was_for, setup, teardown),
        cmocka_unit_test_setup_teardown(an_update_that_says_nothing_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_time_flag_that_says_nothing_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(time_bits_without_a_position_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(an_enter_does_not_jump, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_position_inside_the_window_is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_altitude_that_no_sender_writes_is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(presence_flags_of_nothing_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wide_name_that_need_not_be_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_class_that_does_not_exist_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(an_initial_value_in_an_enter_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_value_out_of_range_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
