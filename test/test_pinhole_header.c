// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The header of a pinhole packet: there and back, and what is refused.

#include "packet/header.h"

#include <pinhole/integers.h>

#include "support/test_support.h"

#include <string.h>

enum { BYTES = 64 };

static ph_header plain_header(void)
{
    return (ph_header){
        .sequence = 70000, .horizon = 69990, .tick = 2046, .wait = 31, .density = 15};
}

static ph_header hello_header(void)
{
    ph_header header = plain_header();
    header.has_hello = true;
    header.horizon = 69999;
    header.tick = PH_PINHOLE_TICK_WHOLE;
    header.whole_tick = 4000000000;
    header.hello = (ph_hello){.fingerprint = UINT64_C(0x123456789ABCDEF0),
                              .session = 69999,
                              .tick_us = 50000,
                              .slot_count = 500,
                              .version = PH_PINHOLE_VERSION,
                              .precision = 1024};
    return header;
}

static size_t write_header(const ph_header* header, uint8_t bytes[BYTES])
{
    memset(bytes, 0, BYTES);
    ph_bit_writer writer = ph_bit_writer_make(bytes, BYTES);
    ph_pinhole_header_write(header, &writer);
    assert_int_equal(ph_bit_writer_size_bits(&writer), ph_pinhole_header_bits(header));
    assert_in_range(ph_pinhole_header_bits(header), PH_PINHOLE_HEADER_BITS_MIN,
                    PH_PINHOLE_HEADER_BITS_MAX);
    return ph_bit_writer_finish(&writer);
}

static ph_result read_header(const uint8_t* bytes, size_t size, uint32_t newest, ph_header* header)
{
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    ph_pinhole_header_read(&reader, newest, header);
    return ph_bit_reader_result(&reader);
}

static void assert_returns(const ph_header* header, uint32_t newest)
{
    uint8_t bytes[BYTES];
    const size_t size = write_header(header, bytes);
    ph_header read;
    assert_int_equal(read_header(bytes, size, newest, &read), PH_OK);
    assert_memory_equal(&read, header, sizeof read);
}

static void headers_come_back(void** state)
{
    (void)state;
    ph_header header = plain_header();
    assert_int_equal(ph_pinhole_header_bits(&header), PH_PINHOLE_HEADER_BITS_MIN);
    assert_returns(&header, 69995);
    header.has_eye = true;
    header.eye_mm[0] = -5;
    header.eye_mm[2] = INT32_MIN;
    header.leave_count = PH_PINHOLE_COUNT_MAX;
    header.enter_count = 3;
    assert_returns(&header, 69995);
    header.tick = PH_PINHOLE_TICK_WHOLE;
    header.whole_tick = 123456789;
    assert_returns(&header, 69995);
    header = hello_header();
    assert_returns(&header, 0);
}

static void a_probe_names_the_newest_number(void** state)
{
    (void)state;
    const ph_header header = {.sequence = 70000, .horizon = 70000, .is_probe = true};
    assert_returns(&header, 69980);
}

static void numbers_are_those_nearest_to_the_newest(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 200; ++i) {
        const uint32_t newest = i * UINT32_C(123456789);
        ph_header header = {.sequence = newest + 32767, .density = 1};
        header.horizon = header.sequence - 1;
        assert_returns(&header, newest);
        header.sequence = newest - 32768;
        header.horizon = header.sequence - 64;
        assert_returns(&header, newest);
    }
}

// One field at a time, written as no sender would.
static void assert_refused(const ph_header* header, size_t bit, uint8_t flip)
{
    uint8_t bytes[BYTES];
    const size_t size = write_header(header, bytes);
    bytes[bit / 8] ^= (uint8_t)(flip << bit % 8);
    ph_header read;
    assert_int_equal(read_header(bytes, size, header->sequence, &read), PH_ERROR_VALUE);
    const ph_header empty = {0};
    assert_memory_equal(&read, &empty, sizeof empty);
}

static void what_no_sender_writes_is_refused(void** state)
{
    (void)state;
    // Horizon 10 becomes 74, beyond what can be in flight.
    ph_header header = plain_header();
    assert_refused(&header, 16 + 6, 1);
    // A probe with a density, with an eye.
    header = (ph_header){.sequence = 9, .horizon = 9, .is_probe = true};
    assert_refused(&header, 16 + 7 + 11 + 5 + 1, 1);
    uint8_t bytes[BYTES];
    ph_header read;
    // A hello of another session: its number is not ahead of it.
    header = hello_header();
    const size_t size = write_header(&header, bytes);
    bytes[1] ^= 0xFF;
    assert_int_equal(read_header(bytes, size, 0, &read), PH_ERROR_VALUE);
    // Cut off anywhere.
    for (size_t cut = 0; cut < size; ++cut) {
        write_header(&header, bytes);
        assert_int_not_equal(read_header(bytes, cut, 0, &read), PH_OK);
    }
}

static void a_hello_of_another_version_only_says_which(void** state)
{
    (void)state;
    ph_header header = hello_header();
    header.hello.version = PH_UNIVERSAL_VERSION + 1;
    header.hello.tick_us = 0;
    header.hello.slot_count = 0;
    uint8_t bytes[BYTES];
    const size_t size = write_header(&header, bytes);
    ph_header read;
    // From the end of its version on, wherever it ends.
    for (size_t cut = (PH_PINHOLE_HEADER_BITS_MIN + 8 + 7) / 8; cut <= size; ++cut) {
        assert_int_equal(read_header(bytes, cut, 0, &read), PH_OK);
        assert_true(read.has_hello && !read.has_eye);
        assert_int_equal(read.hello.version, PH_UNIVERSAL_VERSION + 1);
    }
}

static void counts_above_the_most_are_refused(void** state)
{
    (void)state;
    const ph_header header = plain_header();
    uint8_t bytes[BYTES] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_bits_write(&writer, header.sequence, 16);
    ph_bits_write(&writer, 10, 7);
    ph_bits_write(&writer, 0, 11 + 5 + 1 + 4);
    ph_gamma_write(&writer, PH_PINHOLE_COUNT_MAX + 1);
    ph_gamma_write(&writer, 0);
    const size_t size = ph_bit_writer_finish(&writer);
    ph_header read;
    assert_int_equal(read_header(bytes, size, header.sequence, &read), PH_ERROR_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_come_back),
        cmocka_unit_test(a_probe_names_the_newest_number),
        cmocka_unit_test(numbers_are_those_nearest_to_the_newest),
        cmocka_unit_test(what_no_sender_writes_is_refused),
        cmocka_unit_test(a_hello_of_another_version_only_says_which),
        cmocka_unit_test(counts_above_the_most_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
