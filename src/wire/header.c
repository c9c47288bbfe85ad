// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The header of a classic packet. Once per packet; header.h has the drawing.

#include "wire/header.h"

#define HORIZON_PROBE 0
#define HORIZON_HELLO_PROBE 126
#define HORIZON_HELLO 127

#define TICK_US_MIN 1000
#define TICK_US_MAX 10000000
#define SLOT_COUNT_MIN 2

// What stands behind the number. The horizon is its lowest field, because it is the first.
#define HORIZON_BITS 7
#define WAIT_BITS 5
#define COUNT_BITS 6
#define TICK_AT HORIZON_BITS
#define WAIT_AT (TICK_AT + PH_TICK_BITS)
#define EYE_AT (WAIT_AT + WAIT_BITS)
#define LEAVES_AT (EYE_AT + 1)
#define ENTERS_AT (LEAVES_AT + COUNT_BITS)
#define REST_BITS (ENTERS_AT + COUNT_BITS)

_Static_assert(32 + REST_BITS == PH_HEADER_BITS, "68 bits, as the drawing says");
_Static_assert(PH_HEADER_COUNT_MAX == (1 << COUNT_BITS) - 1, "a count fills its field");
_Static_assert(PH_WAIT_UNKNOWN == (1 << WAIT_BITS) - 1, "unknown is the last wait");
_Static_assert(PH_FLIGHT_MAX < HORIZON_HELLO_PROBE, "horizons and codes do not meet");

static uint32_t horizon_code(const ph_header* header)
{
    if (header->has_hello) {
        return header->is_probe ? HORIZON_HELLO_PROBE : HORIZON_HELLO;
    }
    return header->is_probe ? HORIZON_PROBE : header->number - header->horizon;
}

// How far a number may be ahead of its horizon. A probe without a hello does not tell.
static bool is_ahead(uint32_t number, uint32_t horizon)
{
    const uint32_t ahead = number - horizon;
    return ahead >= 1 && ahead <= PH_FLIGHT_MAX;
}

// With another version nobody knows what stands where: everything but the version is unknown.
static bool is_foreign(const ph_header* header)
{
    return header->has_hello && header->hello.version != PH_CLASSIC_VERSION;
}

// What both writer and reader ask of a header; a hello of another version may say anything.
static bool is_sound(const ph_header* header)
{
    const ph_hello* hello = &header->hello;
    if (is_foreign(header)) {
        return true;
    }
    if (header->is_probe &&
        (header->has_eye || header->leave_count > 0 || header->enter_count > 0)) {
        return false;
    }
    if (!header->has_hello) {
        return header->is_probe || is_ahead(header->number, header->horizon);
    }
    return is_ahead(header->number, hello->session) && hello->slot_count >= SLOT_COUNT_MIN &&
           hello->tick_us >= TICK_US_MIN && hello->tick_us <= TICK_US_MAX;
}

int ph_header_bits(const ph_header* header)
{
    return PH_HEADER_BITS + (header->has_hello ? PH_HELLO_BITS : 0) +
           (header->has_eye ? PH_EYE_BITS : 0);
}

static void write_hello(const ph_hello* hello, ph_bit_writer* writer)
{
    ph_bits_write(writer, hello->version, 8);
    ph_bits_write(writer, hello->slot_count, 16);
    ph_bits_write(writer, hello->tick_us, 32);
    ph_bits_write(writer, hello->session, 32);
    ph_bits_write(writer, hello->fingerprint, 64);
}

static void read_hello(ph_bit_reader* reader, ph_hello* hello)
{
    hello->version = (uint8_t)ph_bits_read(reader, 8);
    if (hello->version != PH_CLASSIC_VERSION) {
        return; // it may be shorter than ours
    }
    hello->slot_count = (uint16_t)ph_bits_read(reader, 16);
    hello->tick_us = (uint32_t)ph_bits_read(reader, 32);
    hello->session = (uint32_t)ph_bits_read(reader, 32);
    hello->fingerprint = ph_bits_read(reader, 64);
}

void ph_header_write(const ph_header* header, ph_bit_writer* writer)
{
    PH_ASSERT(is_sound(header));
    PH_ASSERT(header->tick < 1 << PH_TICK_BITS && header->wait <= PH_WAIT_UNKNOWN);
    PH_ASSERT(header->leave_count >= 0 && header->leave_count <= PH_HEADER_COUNT_MAX);
    PH_ASSERT(header->enter_count >= 0 && header->enter_count <= PH_HEADER_COUNT_MAX);

    const uint64_t rest =
        (uint64_t)horizon_code(header) | (uint64_t)header->tick << TICK_AT |
        (uint64_t)header->wait << WAIT_AT | (uint64_t)(header->has_eye ? 1 : 0) << EYE_AT |
        (uint64_t)header->leave_count << LEAVES_AT | (uint64_t)header->enter_count << ENTERS_AT;
    ph_bits_write(writer, header->number, 32);
    ph_bits_write(writer, rest, REST_BITS);
    if (header->has_hello) {
        write_hello(&header->hello, writer);
    }
    for (int i = 0; header->has_eye && i < 3; ++i) {
        ph_bits_write(writer, (uint32_t)header->eye_mm[i], 32);
    }
}

// A code that stands for nothing comes out as a horizon too far behind.
static void read_horizon(ph_bit_reader* reader, ph_header* header)
{
    const uint32_t code = (uint32_t)ph_bits_read(reader, HORIZON_BITS);
    header->is_probe = code == HORIZON_PROBE || code == HORIZON_HELLO_PROBE;
    header->has_hello = code == HORIZON_HELLO || code == HORIZON_HELLO_PROBE;
    header->horizon = header->number - code;
}

void ph_header_read(ph_bit_reader* reader, ph_header* header)
{
    ph_header read = {.number = (uint32_t)ph_bits_read(reader, 32)};
    read_horizon(reader, &read);
    read.tick = (uint16_t)ph_bits_read(reader, PH_TICK_BITS);
    read.wait = (uint8_t)ph_bits_read(reader, WAIT_BITS);
    read.has_eye = ph_bits_read_bool(reader);
    read.leave_count = (int)ph_bits_read(reader, COUNT_BITS);
    read.enter_count = (int)ph_bits_read(reader, COUNT_BITS);
    if (read.has_hello) {
        read_hello(reader, &read.hello);
        read.horizon = read.hello.session;
    }
    read.has_eye = read.has_eye && !is_foreign(&read);
    for (int i = 0; read.has_eye && i < 3; ++i) {
        read.eye_mm[i] = (int32_t)(uint32_t)ph_bits_read(reader, 32);
    }
    if (!is_sound(&read)) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    *header = ph_bit_reader_result(reader) == PH_OK ? read : (ph_header){0};
}
