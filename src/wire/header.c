// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The header of a classic packet. Once per packet; header.h has the drawing.

#include "wire/header_parts.h"

#define COUNT_BITS 6
#define REST_BITS (PH_HORIZON_BITS + PH_TICK_BITS + PH_WAIT_BITS + 1 + 2 * COUNT_BITS)

_Static_assert(32 + REST_BITS == PH_HEADER_BITS, "68 bits, as the drawing says");
_Static_assert(PH_HEADER_COUNT_MAX == (1 << COUNT_BITS) - 1, "a count fills its field");

// With another version nobody knows what stands where: everything but the version is unknown.
static bool is_foreign(const ph_header* header)
{
    return header->has_hello && header->hello.version != PH_CLASSIC_VERSION;
}

// A hello of another version may say anything.
static bool is_sound(const ph_header* header)
{
    return is_foreign(header) || ph_header_is_sound(header);
}

int ph_header_bits(const ph_header* header)
{
    return PH_HEADER_BITS + (header->has_hello ? PH_HELLO_BITS : 0) +
           (header->has_eye ? PH_EYE_BITS : 0);
}

void ph_header_write(const ph_header* header, ph_bit_writer* writer)
{
    PH_ASSERT(is_sound(header));
    PH_ASSERT(header->tick < 1 << PH_TICK_BITS && header->wait <= PH_WAIT_UNKNOWN);
    PH_ASSERT(header->leave_count >= 0 && header->leave_count <= PH_HEADER_COUNT_MAX);
    PH_ASSERT(header->enter_count >= 0 && header->enter_count <= PH_HEADER_COUNT_MAX);

    ph_bits_write(writer, header->number, 32);
    ph_header_write_horizon(header, writer);
    ph_bits_write(writer, header->tick, PH_TICK_BITS);
    ph_bits_write(writer, header->wait, PH_WAIT_BITS);
    ph_bits_write_bool(writer, header->has_eye);
    ph_bits_write(writer, (uint64_t)header->leave_count, COUNT_BITS);
    ph_bits_write(writer, (uint64_t)header->enter_count, COUNT_BITS);
    if (header->has_hello) {
        ph_bits_write(writer, header->hello.version, 8);
        ph_header_write_hello(&header->hello, writer);
    }
    ph_header_write_eye(header, writer);
}

void ph_header_read(ph_bit_reader* reader, ph_header* header)
{
    ph_header read = {.number = (uint32_t)ph_bits_read(reader, 32)};
    read.horizon = read.number - ph_header_read_horizon(&read, reader);
    read.tick = (uint16_t)ph_bits_read(reader, PH_TICK_BITS);
    read.wait = (uint8_t)ph_bits_read(reader, PH_WAIT_BITS);
    read.has_eye = ph_bits_read_bool(reader);
    read.leave_count = (int)ph_bits_read(reader, COUNT_BITS);
    read.enter_count = (int)ph_bits_read(reader, COUNT_BITS);
    if (read.has_hello) {
        read.hello.version = (uint8_t)ph_bits_read(reader, 8);
    }
    if (read.has_hello && !is_foreign(&read)) {
        ph_header_read_hello(&read.hello, reader);
    }
    read.horizon = read.has_hello ? read.hello.session : read.horizon;
    read.has_eye = read.has_eye && !is_foreign(&read);
    ph_header_read_eye(&read, reader);
    if (!is_sound(&read)) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    *header = ph_bit_reader_result(reader) == PH_OK ? read : (ph_header){0};
}
