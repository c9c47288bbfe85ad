// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Integer codings: published examples, exact costs, one legal form for each value.

#include "support/test_support.h"

#include <pinhole/integers.h>

#include <string.h>

// Every coding under test, as data; the direct functions are reached through it.
static const ph_integer codings[] = {
    {.kind = PH_INTEGER_RANGE, .lo = 0, .hi = 0},
    {.kind = PH_INTEGER_RANGE, .lo = 0, .hi = 1},
    {.kind = PH_INTEGER_RANGE, .lo = 0, .hi = 2},
    {.kind = PH_INTEGER_RANGE, .lo = -3, .hi = 3},
    {.kind = PH_INTEGER_RANGE, .lo = -1000, .hi = -900, .has_default = true, .default_value = -950},
    {.kind = PH_INTEGER_RANGE, .lo = INT64_MIN, .hi = INT64_MAX},
    {.kind = PH_INTEGER_RANGE, .lo = INT64_MIN, .hi = 0},
    {.kind = PH_INTEGER_VARINT, .lo = 0, .hi = INT64_MAX},
    {.kind = PH_INTEGER_VARINT, .lo = 0, .hi = 300, .has_default = true, .default_value = 7},
    {.kind = PH_INTEGER_VARINT, .lo = INT64_MIN, .hi = INT64_MAX},
    {.kind = PH_INTEGER_TWO_BIT, .lo = 0, .hi = UINT32_MAX},
    {.kind = PH_INTEGER_TWO_BIT, .lo = INT32_MIN, .hi = INT32_MAX},
    {.kind = PH_INTEGER_TWO_BIT, .lo = 0, .hi = 100, .has_default = true},
    {.kind = PH_INTEGER_GAMMA, .lo = 0, .hi = UINT32_MAX},
    {.kind = PH_INTEGER_GAMMA, .lo = -50, .hi = 70, .has_default = true, .default_value = -1},
    {.kind = PH_INTEGER_RICE, .lo = 0, .hi = UINT32_MAX, .rice_k = 0},
    {.kind = PH_INTEGER_RICE, .lo = 0, .hi = UINT32_MAX, .rice_k = 4},
    {.kind = PH_INTEGER_RICE, .lo = INT32_MIN, .hi = INT32_MAX, .rice_k = 31},
    {.kind = PH_INTEGER_RICE, .lo = -9, .hi = 9, .rice_k = 2, .has_default = true},
};
#define CODING_COUNT ((int)(sizeof codings / sizeof codings[0]))

// Legal values that sit where lengths change, and random ones of every magnitude.
static int64_t pick_value(const ph_integer* coding, test_rng* rng)
{
    const uint64_t magnitude = test_rng_next(rng) >> test_rng_below(rng, 64);
    const uint64_t span = (uint64_t)coding->hi - (uint64_t)coding->lo;
    const uint64_t small = span == UINT64_MAX ? magnitude : magnitude % (span + 1);
    int64_t value = 0;
    switch (test_rng_below(rng, 5)) {
    case 0:
        return coding->lo;
    case 1:
        return coding->hi;
    case 2:
        value = ph_unzigzag(magnitude);
        break;
    case 3:
        value = (int64_t)(UINT64_C(1) << test_rng_below(rng, 63)) - (int64_t)test_rng_below(rng, 2);
        break;
    default:
        return (int64_t)((uint64_t)coding->lo + small);
    }
    return coding->lo <= value && value <= coding->hi ? value : coding->default_value;
}

static void width_counts_the_bits_of_a_number(void** state)
{
    (void)state;
    assert_int_equal(ph_width_of(0), 0);
    for (int bit = 0; bit < 64; ++bit) {
        assert_int_equal(ph_width_of(UINT64_C(1) << bit), bit + 1);
        assert_int_equal(ph_width_of((UINT64_C(1) << bit) - 1), bit);
    }
    assert_int_equal(ph_width_of(UINT64_MAX), 64);
}

static void zigzag_puts_small_magnitudes_first(void** state)
{
    (void)state;
    const int64_t order[] = {0, -1, 1, -2, 2, -3, 3};
    for (int i = 0; i < 7; ++i) {
        assert_int_equal(ph_zigzag(order[i]), i);
        assert_int_equal(ph_unzigzag((uint64_t)i), order[i]);
    }
    assert_true(ph_zigzag(INT64_MIN) == UINT64_MAX);
    assert_true(ph_unzigzag(UINT64_MAX) == INT64_MIN);
    assert_true(ph_unzigzag(ph_zigzag(INT64_MAX)) == INT64_MAX);
}

static void published_varint_examples(void** state)
{
    (void)state;
    uint8_t bytes[16] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_varint_write(&writer, 1);
    ph_varint_write(&writer, 300);
    assert_int_equal(ph_bit_writer_finish(&writer), 3);
    assert_int_equal(bytes[0], 0x01); // 00000001
    assert_int_equal(bytes[1], 0xAC); // 10101100
    assert_int_equal(bytes[2], 0x02); // 00000010
    assert_int_equal(ph_varint_cost_bits(127), 8);
    assert_int_equal(ph_varint_cost_bits(128), 16);
    assert_int_equal(ph_varint_cost_bits(UINT64_MAX), 80);
}

static void published_two_bit_examples(void** state)
{
    (void)state;
    assert_int_equal(ph_two_bit_cost_bits(0), 10);
    assert_int_equal(ph_two_bit_cost_bits(1), 10);
    assert_int_equal(ph_two_bit_cost_bits(128), 10);
    assert_int_equal(ph_two_bit_cost_bits(255), 10);
    assert_int_equal(ph_two_bit_cost_bits(300), 18);
    assert_int_equal(ph_two_bit_cost_bits(65536), 26);
    assert_int_equal(ph_two_bit_cost_bits(UINT32_MAX), 34);
    uint8_t bytes[8] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_two_bit_write(&writer, 300);
    assert_int_equal(ph_bit_writer_size_bits(&writer), 18);
    (void)ph_bit_writer_finish(&writer);
    assert_int_equal(bytes[0], (300 << 2 | 1) & 0xFF);
    assert_int_equal(bytes[1], 300 >> 6);
}

static void known_costs_of_the_others(void** state)
{
    (void)state;
    assert_int_equal(ph_range_cost_bits(0, 3), 2);
    assert_int_equal(ph_range_cost_bits(0, 4), 3);
    assert_int_equal(ph_range_cost_bits(-5, -5), 0);
    assert_int_equal(ph_range_cost_bits(INT64_MIN, INT64_MAX), 64);
    assert_int_equal(ph_enum_cost_bits(1), 0);
    assert_int_equal(ph_enum_cost_bits(4), 2);
    assert_int_equal(ph_enum_cost_bits(5), 3);
    assert_int_equal(ph_enum_cost_bits(UINT32_MAX), 32);
    assert_int_equal(ph_gamma_cost_bits(0), 1);
    assert_int_equal(ph_gamma_cost_bits(1), 3);
    assert_int_equal(ph_gamma_cost_bits(2), 3);
    assert_int_equal(ph_gamma_cost_bits(3), 5);
    assert_int_equal(ph_gamma_cost_bits(UINT32_MAX), 65);
    assert_int_equal(ph_rice_cost_bits(0, 0), 1);
    assert_int_equal(ph_rice_cost_bits(15, 0), 16);
    assert_int_equal(ph_rice_cost_bits(16, 0), 48);
    assert_int_equal(ph_rice_cost_bits(13, 3), 5);
}

static void golden_bytes_of_gamma_and_rice(void** state)
{
    (void)state;
    uint8_t bytes[8] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_gamma_write(&writer, 0);    // 1
    ph_gamma_write(&writer, 4);    // 5 = 101: 0 0 1, then 01 low bit first: 1 0
    ph_rice_write(&writer, 13, 3); // quotient 1: 1 0, then 101 low bit first: 1 0 1
    assert_int_equal(ph_bit_writer_finish(&writer), 2);
    // In the order of writing: 1 00110 | 10101; in bytes, low bit first: 01 011001, 101
    assert_int_equal(bytes[0], 0x59);
    assert_int_equal(bytes[1], 0x05);
}

static void enum_refuses_what_is_not_one_of_its_values(void** state)
{
    (void)state;
    for (uint32_t count = 1; count <= 70; ++count) {
        for (uint32_t code = 0; code < 128; ++code) {
            const uint8_t bytes[1] = {(uint8_t)code};
            const int width = ph_enum_cost_bits(count);
            ph_bit_reader reader = ph_bit_reader_make(bytes, 1);
            const uint32_t value = ph_enum_read(&reader, count);
            const uint32_t field = code & ((1u << width) - 1);
            const bool is_legal = field < count;
            assert_int_equal(ph_bit_reader_result(&reader), is_legal ? PH_OK : PH_ERROR_VALUE);
            assert_int_equal(value, is_legal ? field : 0);
        }
        uint8_t bytes[8] = {0};
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_enum_write(&writer, count - 1, count);
        assert_int_equal(ph_bit_writer_result(&writer), PH_OK);
        ph_enum_write(&writer, count, count);
        assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_VALUE);
    }
}

// Whatever a coding is given comes back, and costs exactly what it says.
static void every_coding_returns_its_values_at_their_exact_cost(void** state)
{
    (void)state;
    test_rng rng = {.state = 31};
    for (int c = 0; c < CODING_COUNT; ++c) {
        const ph_integer* coding = &codings[c];
        assert_int_equal(ph_integer_check(coding), PH_OK);
        for (int round = 0; round < 3000; ++round) {
            const int64_t value = pick_value(coding, &rng);
            const int offset = (int)test_rng_below(&rng, 9);
            uint8_t bytes[24] = {0};
            ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
            ph_bits_write(&writer, UINT64_MAX, offset);
            ph_integer_write(coding, &writer, value);
            const size_t cost_bits = ph_bit_writer_size_bits(&writer) - (size_t)offset;
            assert_int_equal(cost_bits, ph_integer_cost_bits(coding, value));
            assert_true(cost_bits <= (size_t)ph_integer_max_bits(coding));
            const size_t size = ph_bit_writer_finish(&writer);
            ph_bit_reader reader = ph_bit_reader_make(bytes, size);
            (void)ph_bits_read(&reader, offset);
            assert_true(ph_integer_read(coding, &reader) == value);
            assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
        }
    }
}

// Random bits: what the reader accepts is what the writer writes for that value, bit for bit.
static void every_value_has_one_legal_form(void** state)
{
    (void)state;
    test_rng rng = {.state = 63};
    int accepted[CODING_COUNT] = {0};
    for (int c = 0; c < CODING_COUNT; ++c) {
        const ph_integer* coding = &codings[c];
        for (int round = 0; round < 20000; ++round) {
            uint8_t bytes[16];
            for (int i = 0; i < 16; ++i) {
                bytes[i] = (uint8_t)(test_rng_next(&rng) & test_rng_next(&rng));
            }
            ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
            const int64_t value = ph_integer_read(coding, &reader);
            if (ph_bit_reader_result(&reader) != PH_OK) {
                assert_true(value == coding->lo);
                continue;
            }
            ++accepted[c];
            const size_t used_bits = 8 * sizeof bytes - ph_bit_reader_left_bits(&reader);
            uint8_t again[16] = {0};
            ph_bit_writer writer = ph_bit_writer_make(again, sizeof again);
            ph_integer_write(coding, &writer, value);
            assert_int_equal(ph_bit_writer_size_bits(&writer), used_bits);
            (void)ph_bit_writer_finish(&writer);
            ph_bit_reader left = ph_bit_reader_make(bytes, sizeof bytes);
            ph_bit_reader right = ph_bit_reader_make(again, sizeof again);
            for (size_t bit = 0; bit < used_bits; ++bit) {
                assert_int_equal(ph_bits_read_bool(&left), ph_bits_read_bool(&right));
            }
        }
        assert_true(accepted[c] > 0);
    }
}

static void expect_refused(const ph_integer* coding, const uint8_t* bytes, size_t size,
                           ph_result expected)
{
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    assert_true(ph_integer_read(coding, &reader) == coding->lo);
    assert_int_equal(ph_bit_reader_result(&reader), expected);
}

static void overlong_forms_are_refused(void** state)
{
    (void)state;
    const ph_integer varint = {.kind = PH_INTEGER_VARINT, .hi = INT64_MAX};
    expect_refused(&varint, (const uint8_t[]){0x80, 0x00}, 2, PH_ERROR_VALUE);
    expect_refused(&varint, (const uint8_t[]){0xAC, 0x82, 0x00}, 3, PH_ERROR_VALUE);
    expect_refused(&varint,
                   (const uint8_t[]){0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02},
                   10, PH_ERROR_VALUE);
    expect_refused(
        &varint,
        (const uint8_t[]){0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0x00}, 11,
        PH_ERROR_VALUE);
    expect_refused(&varint, (const uint8_t[]){0x80}, 1, PH_ERROR_END);
    // Above INT64_MAX: legal as a varint, outside the declared values.
    expect_refused(&varint,
                   (const uint8_t[]){0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01},
                   10, PH_ERROR_VALUE);

    const ph_integer two_bit = {.kind = PH_INTEGER_TWO_BIT, .hi = UINT32_MAX};
    // 255 in two bytes: the length 01, then the value, low bits first.
    expect_refused(&two_bit, (const uint8_t[]){0xFD, 0x03, 0x00}, 3, PH_ERROR_VALUE);
    expect_refused(&two_bit, (const uint8_t[]){0x03, 0, 0, 0}, 4, PH_ERROR_END);

    const ph_integer gamma = {.kind = PH_INTEGER_GAMMA, .hi = UINT32_MAX};
    uint8_t zeros[32] = {0};
    expect_refused(&gamma, zeros, sizeof zeros, PH_ERROR_VALUE); // 33 zeros are too many
    expect_refused(&gamma, zeros, 2, PH_ERROR_END);
    zeros[4] = 0x03; // 32 zeros, a one, and low bits that are not 0: above UINT32_MAX
    expect_refused(&gamma, zeros, sizeof zeros, PH_ERROR_VALUE);

    const ph_integer rice = {.kind = PH_INTEGER_RICE, .hi = UINT32_MAX, .rice_k = 0};
    expect_refused(&rice, (const uint8_t[]){0xFF, 0xFF, 15, 0, 0, 0}, 6, PH_ERROR_VALUE);
    expect_refused(&rice, (const uint8_t[]){0xFF, 0xFF, 16, 0, 0}, 5, PH_ERROR_END);
    const ph_integer wide_rice = {.kind = PH_INTEGER_RICE, .hi = UINT32_MAX, .rice_k = 31};
    expect_refused(&wide_rice, (const uint8_t[]){0x07, 0, 0, 0, 0, 0}, 6, PH_ERROR_VALUE);
}

static void default_costs_one_bit_and_may_not_be_spelled_out(void** state)
{
    (void)state;
    const ph_integer coding = {
        .kind = PH_INTEGER_RANGE, .lo = -8, .hi = 7, .has_default = true, .default_value = -1};
    assert_int_equal(ph_integer_cost_bits(&coding, -1), 1);
    assert_int_equal(ph_integer_cost_bits(&coding, 0), 5);
    assert_int_equal(ph_integer_max_bits(&coding), 5);
    const uint8_t spelled_out[1] = {(uint8_t)((-1 + 8) << 1)};
    expect_refused(&coding, spelled_out, 1, PH_ERROR_VALUE);
}

static void writers_fail_on_values_outside(void** state)
{
    (void)state;
    for (int c = 0; c < CODING_COUNT; ++c) {
        const ph_integer* coding = &codings[c];
        if (coding->hi == INT64_MAX) {
            continue;
        }
        uint8_t bytes[24] = {0};
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_integer_write(coding, &writer, coding->hi + 1);
        assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_VALUE);
        assert_int_equal(ph_bit_writer_size_bits(&writer), 0);
    }
    uint8_t bytes[8] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_range_write(&writer, -4, -3, 3);
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_VALUE);
}

// A value is written whole or not at all, at every distance from the end.
static void values_that_do_not_fit_are_not_begun(void** state)
{
    (void)state;
    for (int c = 0; c < CODING_COUNT; ++c) {
        const ph_integer* coding = &codings[c];
        const int64_t value = coding->hi;
        const int cost_bits = ph_integer_cost_bits(coding, value);
        for (int room_bits = 0; room_bits < cost_bits; ++room_bits) {
            uint8_t bytes[11] = {0};
            const int used_bits = 8 * (int)sizeof bytes - room_bits;
            ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
            for (int i = 0; i < used_bits; ++i) {
                ph_bits_write_bool(&writer, false);
            }
            ph_integer_write(coding, &writer, value);
            assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_END);
            assert_int_equal(ph_bit_writer_size_bits(&writer), used_bits);
        }
    }
}

// The same of the functions themselves, which ph_integer_write() calls.
static void direct_writes_and_reads_are_whole_or_nothing(void** state)
{
    (void)state;
    for (int room_bytes = 0; room_bytes <= 8; ++room_bytes) {
        uint8_t bytes[8] = {0};
        ph_bit_writer writer = ph_bit_writer_make(bytes, (size_t)room_bytes);
        ph_varint_write(&writer, UINT64_MAX);
        assert_int_equal(ph_bit_writer_size_bits(&writer), 0);
        writer = ph_bit_writer_make(bytes, (size_t)room_bytes);
        ph_gamma_write(&writer, UINT32_MAX);
        assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_END);
        assert_int_equal(ph_bit_writer_size_bits(&writer), 0);
    }
    const uint8_t overlong_two_bit[3] = {0xFD, 0x03, 0x00};
    ph_bit_reader reader = ph_bit_reader_make(overlong_two_bit, 3);
    assert_int_equal(ph_two_bit_read(&reader), 0);
    const uint8_t overlong_rice[6] = {0xFF, 0xFF, 15, 0, 0, 0};
    reader = ph_bit_reader_make(overlong_rice, 6);
    assert_int_equal(ph_rice_read(&reader, 0), 0);
}

static void impossible_declarations_are_refused(void** state)
{
    (void)state;
    const ph_integer upside_down = {.lo = 1, .hi = 0};
    assert_int_equal(ph_integer_check(&upside_down), PH_ERROR_RANGE);
    const ph_integer unknown = {.kind = PH_INTEGER_KIND_COUNT, .hi = 1};
    assert_int_equal(ph_integer_check(&unknown), PH_ERROR_RANGE);
    const ph_integer too_wide = {.kind = PH_INTEGER_TWO_BIT, .hi = INT64_C(1) << 32};
    assert_int_equal(ph_integer_check(&too_wide), PH_ERROR_WIDTH);
    const ph_integer too_deep = {.kind = PH_INTEGER_GAMMA, .lo = (int64_t)INT32_MIN - 1, .hi = 0};
    assert_int_equal(ph_integer_check(&too_deep), PH_ERROR_WIDTH);
    const ph_integer steep = {.kind = PH_INTEGER_RICE, .hi = 9, .rice_k = 32};
    assert_int_equal(ph_integer_check(&steep), PH_ERROR_WIDTH);
    const ph_integer hollow = {.kind = PH_INTEGER_RICE, .hi = 9, .rice_k = -1};
    assert_int_equal(ph_integer_check(&hollow), PH_ERROR_WIDTH);
    const ph_integer stray = {.hi = 9, .has_default = true, .default_value = 10};
    assert_int_equal(ph_integer_check(&stray), PH_ERROR_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(width_counts_the_bits_of_a_number),
        cmocka_unit_test(zigzag_puts_small_magnitudes_first),
        cmocka_unit_test(published_varint_examples),
        cmocka_unit_test(published_two_bit_examples),
        cmocka_unit_test(known_costs_of_the_others),
        cmocka_unit_test(golden_bytes_of_gamma_and_rice),
        cmocka_unit_test(enum_refuses_what_is_not_one_of_its_values),
        cmocka_unit_test(every_coding_returns_its_values_at_their_exact_cost),
        cmocka_unit_test(every_value_has_one_legal_form),
        cmocka_unit_test(overlong_forms_are_refused),
        cmocka_unit_test(default_costs_one_bit_and_may_not_be_spelled_out),
        cmocka_unit_test(writers_fail_on_values_outside),
        cmocka_unit_test(values_that_do_not_fit_are_not_begun),
        cmocka_unit_test(direct_writes_and_reads_are_whole_or_nothing),
        cmocka_unit_test(impossible_declarations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
