// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "packet/header.h"

#include "support/test_support.h"

#include <pinhole/stats.h>

#include <string.h>

enum { BYTES_MAX = 48 };

static ph_header packet_header(void)
{
    return (ph_header){.sequence = 1000,
                       .horizon = 998,
                       .tick = 2047,
                       .wait = 3,
                       .leave_count = 1,
                       .enter_count = 63};
}

static ph_header hello_header(void)
{
    return (ph_header){.sequence = 7001,
                       .horizon = 7000,
                       .tick = 5,
                       .wait = PH_WAIT_UNKNOWN,
                       .has_hello = true,
                       .has_eye = true,
                       .hello = {.fingerprint = UINT64_C(0x1122334455667788),
                                 .session = 7000,
                                 .tick_us = 100000,
                                 .slot_count = 256,
                                 .version = PH_CLASSIC_VERSION},
                       .eye_mm = {-1, INT32_MIN, 123456}};
}

static size_t write(const ph_header* header, uint8_t bytes[BYTES_MAX])
{
    memset(bytes, 0, BYTES_MAX);
    ph_bit_writer writer = ph_bit_writer_make(bytes, BYTES_MAX);
    ph_header_write(header, &writer);
    assert_int_equal(ph_bit_writer_size_bits(&writer), ph_header_bits(header));
    return ph_bit_writer_finish(&writer);
}

static ph_result read(const uint8_t* bytes, size_t size, ph_header* header)
{
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    ph_header_read(&reader, header);
    return ph_bit_reader_finish(&reader);
}

static void assert_same(const ph_header* a, const ph_header* b)
{
    assert_int_equal(a->sequence, b->sequence);
    assert_int_equal(a->horizon, b->horizon);
    assert_int_equal(a->tick, b->tick);
    assert_int_equal(a->wait, b->wait);
    assert_int_equal(a->is_probe, b->is_probe);
    assert_int_equal(a->has_hello, b->has_hello);
    assert_int_equal(a->has_eye, b->has_eye);
    assert_int_equal(a->leave_count, b->leave_count);
    assert_int_equal(a->enter_count, b->enter_count);
    assert_true(a->hello.fingerprint == b->hello.fingerprint);
    assert_int_equal(a->hello.session, b->hello.session);
    assert_int_equal(a->hello.tick_us, b->hello.tick_us);
    assert_int_equal(a->hello.slot_count, b->hello.slot_count);
    assert_int_equal(a->hello.version, b->hello.version);
    assert_memory_equal(a->eye_mm, b->eye_mm, sizeof a->eye_mm);
}

static void assert_survives(const ph_header* header)
{
    uint8_t bytes[BYTES_MAX];
    const size_t size = write(header, bytes);
    ph_header again;
    assert_int_equal(read(bytes, size, &again), PH_OK);
    assert_same(header, &again);
}

// Overwrites a field that begins at a bit, as a foreign sender might.
static void patch(uint8_t* bytes, int at, uint64_t value, int width)
{
    for (int i = 0; i < width; ++i) {
        const int bit = at + i;
        bytes[bit / 8] &= (uint8_t) ~(1u << bit % 8);
        bytes[bit / 8] |= (uint8_t)((value >> i & 1) << bit % 8);
    }
}

static void assert_refused(const uint8_t* bytes, size_t size, ph_result result)
{
    static const ph_header nothing;
    ph_header header;
    memset(&header, 0xAB, sizeof header);
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    ph_header_read(&reader, &header);
    assert_int_equal(ph_bit_reader_result(&reader), result);
    assert_same(&header, &nothing);
}

static void golden_bytes(void** state)
{
    (void)state;
    // number 1000 | horizon 2, tick 2047, wait 3 | eye 0, leaves 1, enters 63
    static const uint8_t expected[] = {0xE8, 0x03, 0, 0, 0x82, 0xFF, 0x0F, 0xC1, 0x0F};
    const ph_header header = packet_header();
    uint8_t bytes[BYTES_MAX];
    assert_int_equal(write(&header, bytes), sizeof expected);
    for (size_t i = 0; i < sizeof expected; ++i) {
        assert_int_equal(bytes[i], expected[i]);
    }
}

static void sizes_are_those_of_the_document(void** state)
{
    (void)state;
    ph_header header = packet_header();
    assert_int_equal(ph_header_bits(&header), 68);
    header.has_eye = true;
    assert_int_equal(ph_header_bits(&header), 68 + 96);
    header = hello_header();
    assert_int_equal(ph_header_bits(&header), 68 + 152 + 96);
    header.has_eye = false;
    assert_int_equal(ph_header_bits(&header), 68 + 152);
}

static void every_kind_survives(void** state)
{
    (void)state;
    ph_header header = packet_header();
    assert_survives(&header);
    header.horizon = header.sequence - 64;
    header.has_eye = true;
    header.eye_mm[1] = -5;
    assert_survives(&header);
    header = hello_header();
    assert_survives(&header);
    header.has_eye = false;
    memset(header.eye_mm, 0, sizeof header.eye_mm);
    header.is_probe = true;
    assert_survives(&header);
    header = (ph_header){.sequence = 3, .horizon = 3, .tick = 9, .wait = 30, .is_probe = true};
    assert_survives(&header);
}

static void horizons_wrap(void** state)
{
    (void)state;
    ph_header header = packet_header();
    header.sequence = 5;
    header.horizon = UINT32_MAX - 10;
    assert_survives(&header);
    header = hello_header();
    header.sequence = 3;
    header.horizon = header.hello.session = UINT32_MAX;
    assert_survives(&header);
}

static void random_headers_survive(void** state)
{
    (void)state;
    test_rng rng = {.state = 68};
    for (int i = 0; i < 5000; ++i) {
        ph_header header = {.sequence = (uint32_t)test_rng_next(&rng),
                            .tick = (uint16_t)test_rng_below(&rng, 2048),
                            .wait = (uint8_t)test_rng_below(&rng, 32),
                            .has_hello = test_rng_below(&rng, 2) == 0,
                            .is_probe = test_rng_below(&rng, 3) == 0};
        const uint32_t ahead = 1 + (uint32_t)test_rng_below(&rng, 64);
        header.horizon = header.sequence - (header.is_probe && !header.has_hello ? 0 : ahead);
        if (header.has_hello) {
            header.hello = (ph_hello){.fingerprint = test_rng_next(&rng),
                                      .session = header.horizon,
                                      .tick_us = 1000 + (uint32_t)test_rng_below(&rng, 9999001),
                                      .slot_count = (uint16_t)(2 + test_rng_below(&rng, 65534)),
                                      .version = PH_CLASSIC_VERSION};
        }
        if (!header.is_probe) {
            header.leave_count = (int)test_rng_below(&rng, 64);
            header.enter_count = (int)test_rng_below(&rng, 64);
            header.has_eye = test_rng_below(&rng, 2) == 0;
            for (int k = 0; header.has_eye && k < 3; ++k) {
                header.eye_mm[k] = (int32_t)(uint32_t)test_rng_next(&rng);
            }
        }
        assert_survives(&header);
    }
}

static void reserved_horizons_are_refused(void** state)
{
    (void)state;
    const ph_header header = packet_header();
    uint8_t bytes[BYTES_MAX];
    const size_t size = write(&header, bytes);
    ph_header again;
    for (uint64_t code = 1; code <= 125; ++code) {
        patch(bytes, 32, code, 7);
        if (code <= 64) {
            assert_int_equal(read(bytes, size, &again), PH_OK);
            assert_int_equal(again.horizon, 1000 - code);
        } else {
            assert_refused(bytes, size, PH_ERROR_VALUE);
        }
    }
}

static void a_probe_carries_nothing(void** state)
{
    (void)state;
    for (int with_hello = 0; with_hello < 2; ++with_hello) {
        ph_header header = hello_header();
        header.is_probe = true;
        header.has_eye = false;
        header.has_hello = with_hello == 1;
        uint8_t bytes[BYTES_MAX];
        const size_t size = write(&header, bytes) + 12; // room for the eye that is announced
        patch(bytes, 55, 1, 1);
        assert_refused(bytes, size, PH_ERROR_VALUE);
        patch(bytes, 55, 0, 1);
        patch(bytes, 56, 1, 6);
        assert_refused(bytes, size, PH_ERROR_VALUE);
        patch(bytes, 56, 0, 6);
        patch(bytes, 62, 32, 6);
        assert_refused(bytes, size, PH_ERROR_VALUE);
        patch(bytes, 62, 0, 6);
        ph_header again;
        assert_int_equal(read(bytes, size - 12, &again), PH_OK);
    }
}

static void a_hello_out_of_range_is_refused(void** state)
{
    (void)state;
    static const struct {
        int at;
        int width;
        uint64_t value;
        bool is_legal;
    } rows[] = {
        {68 + 8, 16, 0, false},         {68 + 8, 16, 1, false},          {68 + 8, 16, 2, true},
        {68 + 8, 16, 65535, true},      {68 + 24, 32, 999, false},       {68 + 24, 32, 1000, true},
        {68 + 24, 32, 10000000, true},  {68 + 24, 32, 10000001, false},  {68 + 56, 32, 7001, false},
        {68 + 56, 32, 7001 - 64, true}, {68 + 56, 32, 7001 - 65, false}, {68 + 56, 32, 7002, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const ph_header header = hello_header();
        uint8_t bytes[BYTES_MAX];
        const size_t size = write(&header, bytes);
        patch(bytes, rows[i].at, rows[i].value, rows[i].width);
        if (rows[i].is_legal) {
            ph_header again;
            assert_int_equal(read(bytes, size, &again), PH_OK);
        } else {
            assert_refused(bytes, size, PH_ERROR_VALUE);
        }
    }
}

// It is unknown what another version means by the rest, but that it is another can be said.
static void another_version_is_read_and_not_judged(void** state)
{
    (void)state;
    const ph_header header = hello_header();
    uint8_t bytes[BYTES_MAX];
    const size_t size = write(&header, bytes);
    patch(bytes, 68, 2, 8);
    patch(bytes, 68 + 8, 0, 16);
    ph_header again;
    // From the end of its version on, wherever it ends.
    for (size_t cut = (68 + 8 + 7) / 8; cut <= size; ++cut) {
        ph_bit_reader reader = ph_bit_reader_make(bytes, cut);
        ph_header_read(&reader, &again);
        assert_int_equal(ph_bit_reader_result(&reader), PH_OK);
        assert_true(again.has_hello && !again.has_eye);
        assert_int_equal(again.hello.version, 2);
    }
}

static void a_header_that_is_cut_off_is_refused(void** state)
{
    (void)state;
    const ph_header headers[] = {packet_header(), hello_header()};
    for (int i = 0; i < 2; ++i) {
        uint8_t bytes[BYTES_MAX];
        const size_t size = write(&headers[i], bytes);
        for (size_t cut = 0; cut < size; ++cut) {
            assert_refused(bytes, cut, PH_ERROR_END);
        }
    }
}

static void every_reason_has_a_name(void** state)
{
    (void)state;
    assert_string_equal(ph_reason_name(PH_REASON_HEADER), "header");
    assert_string_equal(ph_reason_name(PH_REASON_PADDING), "padding");
    assert_string_equal(ph_reason_name(PH_REASON_COUNT), "unknown");
    for (int i = 0; i < PH_REASON_COUNT; ++i) {
        for (int k = 0; k < i; ++k) {
            assert_string_not_equal(ph_reason_name((ph_reason)i), ph_reason_name((ph_reason)k));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_bytes),
        cmocka_unit_test(sizes_are_those_of_the_document),
        cmocka_unit_test(every_kind_survives),
        cmocka_unit_test(horizons_wrap),
        cmocka_unit_test(random_headers_survive),
        cmocka_unit_test(reserved_horizons_are_refused),
        cmocka_unit_test(a_probe_carries_nothing),
        cmocka_unit_test(a_hello_out_of_range_is_refused),
        cmocka_unit_test(another_version_is_read_and_not_judged),
        cmocka_unit_test(a_header_that_is_cut_off_is_refused),
        cmocka_unit_test(every_reason_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
