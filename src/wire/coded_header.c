// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The header of a pinhole packet. Once per packet; coded_header.h has the drawing.

#include "wire/coded_header.h"

#include "wire/header_parts.h"

#include <pinhole/integers.h>

#define NUMBER_BITS 16
#define DENSITY_BITS 4
#define PRECISION_BITS 16
#define WHOLE_TICK_BITS 32
#define FIXED_BITS (NUMBER_BITS + PH_HORIZON_BITS + PH_TICK_BITS + PH_WAIT_BITS + 1 + DENSITY_BITS)

_Static_assert(FIXED_BITS + 2 == PH_CODED_HEADER_BITS_MIN, "two counts of one bit each");
_Static_assert(PH_CODED_COUNT_MAX < 127, "a gamma of at most 13 bits");

static bool is_foreign(const ph_header* header)
{
    return header->has_hello && !ph_coded_is_version(header->hello.version);
}

// A probe has no records to be read by its tick.
static bool has_whole_tick(const ph_header* header)
{
    return !header->is_probe && header->tick == PH_CODED_TICK_WHOLE;
}

// What both writer and reader ask of a header; a hello of another version may say anything.
static bool is_sound(const ph_header* header)
{
    if (is_foreign(header)) {
        return true;
    }
    if (header->is_probe ? header->density != 0 || header->tick != 0
                         : header->has_hello && !has_whole_tick(header)) {
        return false; // before the first acknowledgement there is nothing to count ticks from
    }
    return ph_header_is_sound(header);
}

int ph_coded_header_bits(const ph_header* header)
{
    return FIXED_BITS + ph_gamma_cost_bits((uint32_t)header->leave_count) +
           ph_gamma_cost_bits((uint32_t)header->enter_count) +
           (header->has_hello ? PH_HELLO_BITS + PRECISION_BITS : 0) +
           (has_whole_tick(header) ? WHOLE_TICK_BITS : 0) + (header->has_eye ? PH_EYE_BITS : 0);
}

static void write_hello(const ph_hello* hello, ph_bit_writer* writer)
{
    ph_bits_write(writer, hello->version, 8);
    ph_header_write_hello(hello, writer);
    ph_bits_write(writer, hello->precision, PRECISION_BITS);
}

static void read_hello(ph_bit_reader* reader, ph_hello* hello)
{
    hello->version = (uint8_t)ph_bits_read(reader, 8);
    if (!ph_coded_is_version(hello->version)) {
        return; // it may be shorter than ours
    }
    ph_header_read_hello(hello, reader);
    hello->precision = (uint16_t)ph_bits_read(reader, PRECISION_BITS);
}

void ph_coded_header_write(const ph_header* header, ph_bit_writer* writer)
{
    PH_ASSERT(is_sound(header));
    PH_ASSERT(header->tick < 1 << PH_TICK_BITS && header->wait <= PH_WAIT_UNKNOWN);
    PH_ASSERT(header->density < 1 << DENSITY_BITS);
    PH_ASSERT(header->leave_count >= 0 && header->leave_count <= PH_CODED_COUNT_MAX);
    PH_ASSERT(header->enter_count >= 0 && header->enter_count <= PH_CODED_COUNT_MAX);

    ph_bits_write(writer, header->number, NUMBER_BITS);
    ph_header_write_horizon(header, writer);
    ph_bits_write(writer, header->tick, PH_TICK_BITS);
    ph_bits_write(writer, header->wait, PH_WAIT_BITS);
    ph_bits_write_bool(writer, header->has_eye);
    ph_bits_write(writer, header->density, DENSITY_BITS);
    ph_gamma_write(writer, (uint32_t)header->leave_count);
    ph_gamma_write(writer, (uint32_t)header->enter_count);
    if (header->has_hello) {
        write_hello(&header->hello, writer);
    }
    if (has_whole_tick(header)) {
        ph_bits_write(writer, header->whole_tick, WHOLE_TICK_BITS);
    }
    ph_header_write_eye(header, writer);
}

// The number with these low bits that is nearest to the given one.
static uint32_t extend(uint32_t low, uint32_t near_number)
{
    const uint32_t ahead = (low - near_number) & UINT16_MAX;
    return near_number + ahead - (ahead > INT16_MAX ? UINT32_C(1) << NUMBER_BITS : 0);
}

static int read_count(ph_bit_reader* reader)
{
    const uint32_t count = ph_gamma_read(reader);
    if (count > PH_CODED_COUNT_MAX) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
        return 0;
    }
    return (int)count;
}

void ph_coded_header_read(ph_bit_reader* reader, uint32_t newest, ph_header* header)
{
    ph_header read = {0};
    const uint32_t low = (uint32_t)ph_bits_read(reader, NUMBER_BITS);
    const uint32_t code = ph_header_read_horizon(&read, reader);
    read.tick = (uint16_t)ph_bits_read(reader, PH_TICK_BITS);
    read.wait = (uint8_t)ph_bits_read(reader, PH_WAIT_BITS);
    read.has_eye = ph_bits_read_bool(reader);
    read.density = (uint8_t)ph_bits_read(reader, DENSITY_BITS);
    read.leave_count = read_count(reader);
    read.enter_count = read_count(reader);
    if (read.has_hello) {
        read_hello(reader, &read.hello);
    }
    if (has_whole_tick(&read) && !is_foreign(&read)) {
        read.whole_tick = (uint32_t)ph_bits_read(reader, WHOLE_TICK_BITS);
    }
    read.number = extend(low, read.has_hello ? read.hello.session : newest);
    // A code that stands for nothing comes out as a horizon too far behind.
    read.horizon = read.has_hello ? read.hello.session : read.number - code;
    read.has_eye = read.has_eye && !is_foreign(&read);
    ph_header_read_eye(&read, reader);
    if (!is_sound(&read)) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    *header = ph_bit_reader_result(reader) == PH_OK ? read : (ph_header){0};
}
