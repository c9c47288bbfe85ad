// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Everything that a reader of classic records refuses, one by one.

#include "packet/classic_records.h"

#include "support/record_fixture.h"

// Reads a record from fields. @return What the reader says of it.
static ph_result read_fields(record_fixture* f, ph_record* record, const field* fields)
{
    const size_t size = write_fields(fields, f->bytes);
    ph_bit_reader reader = ph_bit_reader_make(f->bytes, size);
    ph_classic_read_slot(&f->frame, &reader, record);
    if (record->kind == PH_RECORD_ENTER) {
        ph_classic_read_key(&f->frame, &reader, record);
    }
    ph_classic_read_body(&f->frame, &reader, record);
    return ph_bit_reader_finish(&reader);
}

static void assert_refused(record_fixture* f, ph_record_kind kind, int class_index,
                           const field* fields)
{
    ph_record record = record_of(f, kind, class_index, 0);
    assert_int_equal(read_fields(f, &record, fields), PH_ERROR_VALUE);
}

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

static void a_full_position_inside_the_window_is_refused(void** state)
{
    record_fixture* f = *state;
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
    record_fixture* f = *state;
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
    record_fixture* f = *state;
    const field narrow[] = {HEAD,    {KART, 8}, {1, 1}, {(UINT64_C(1) << 43) - 1, 64},
                            {0, 49}, {0, 1},    END};
    const field wide[] = {HEAD, {KART, 8}, {1, 1}, {UINT64_C(1) << 43, 64}, {0, 49}, {0, 1}, END};
    assert_refused(f, PH_RECORD_ENTER, KART, narrow);
    ph_record record = record_of(f, PH_RECORD_ENTER, KART, 0);
    assert_int_equal(read_fields(f, &record, wide), PH_OK);
    assert_true(record.key == UINT64_C(1) << 43);
}

static void a_class_that_does_not_exist_is_refused(void** state)
{
    record_fixture* f = *state;
    const field fields[] = {{0xA5, 8}, {2, 2}, {3, 8}, {0, 44}, END};
    const size_t size = write_fields(fields, f->bytes);
    ph_bit_reader reader = ph_bit_reader_make(f->bytes, size);
    ph_record record = {.kind = PH_RECORD_ENTER};
    ph_classic_read_slot(&f->frame, &reader, &record);
    ph_classic_read_key(&f->frame, &reader, &record);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_VALUE);
    assert_int_equal(record.class_index, 0);
}

// An enter leaves out what is at its initial value; an update may say it.
static void an_initial_value_in_an_enter_is_refused(void** state)
{
    record_fixture* f = *state;
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
    record_fixture* f = *state;
    ph_record record = record_of(f, PH_RECORD_UPDATE, KART, 0);
    assert_int_equal(
        read_fields(f, &record, (field[]){HEAD, {0, 2}, {1, 1}, {1 << 4, 5}, {4, 3}, END}), PH_OK);
    assert_int_equal(f->words[8], 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_update_that_says_nothing_is_refused,
                                        record_fixture_setup, record_fixture_teardown),
        cmocka_unit_test_setup_teardown(a_time_flag_that_says_nothing_is_refused,
                                        record_fixture_setup, record_fixture_teardown),
        cmocka_unit_test_setup_teardown(time_bits_without_a_position_are_refused,
                                        record_fixture_setup, record_fixture_teardown),
        cmocka_unit_test_setup_teardown(a_full_position_inside_the_window_is_refused,
                                        record_fixture_setup, record_fixture_teardown),
        cmocka_unit_test_setup_teardown(an_altitude_that_no_sender_writes_is_refused,
                                        record_fixture_setup, record_fixture_teardown),
        cmocka_unit_test_setup_teardown(presence_flags_of_nothing_are_refused, record_fixture_setup,
                                        record_fixture_teardown),
        cmocka_unit_test_setup_teardown(a_wide_name_that_need_not_be_is_refused,
                                        record_fixture_setup, record_fixture_teardown),
        cmocka_unit_test_setup_teardown(a_class_that_does_not_exist_is_refused,
                                        record_fixture_setup, record_fixture_teardown),
        cmocka_unit_test_setup_teardown(an_initial_value_in_an_enter_is_refused,
                                        record_fixture_setup, record_fixture_teardown),
        cmocka_unit_test_setup_teardown(a_value_out_of_range_is_refused, record_fixture_setup,
                                        record_fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
