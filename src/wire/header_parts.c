// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The parts that a header has whatever the profile. Once per packet.

#include "wire/header_parts.h"

#define HORIZON_PROBE 0
#define HORIZON_HELLO_PROBE 126
#define HORIZON_HELLO 127

#define TICK_US_MIN 1000
#define TICK_US_MAX 10000000
#define SLOT_COUNT_MIN 2

_Static_assert(PH_WAIT_UNKNOWN == (1 << PH_WAIT_BITS) - 1, "unknown is the last wait");
_Static_assert(PH_FLIGHT_MAX < HORIZON_HELLO_PROBE, "horizons and codes do not meet");

// ---- the horizon

static uint32_t horizon_code(const ph_header* header)
{
    if (header->has_hello) {
        return header->is_probe ? HORIZON_HELLO_PROBE : HORIZON_HELLO;
    }
    return header->is_probe ? HORIZON_PROBE : header->number - header->horizon;
}

void ph_header_write_horizon(const ph_header* header, ph_bit_writer* writer)
{
    ph_bits_write(writer, horizon_code(header), PH_HORIZON_BITS);
}

uint32_t ph_header_read_horizon(ph_header* header, ph_bit_reader* reader)
{
    const uint32_t code = (uint32_t)ph_bits_read(reader, PH_HORIZON_BITS);
    header->is_probe = code == HORIZON_PROBE || code == HORIZON_HELLO_PROBE;
    header->has_hello = code == HORIZON_HELLO || code == HORIZON_HELLO_PROBE;
    return code;
}

// ---- hello and eye

void ph_header_write_hello(const ph_hello* hello, ph_bit_writer* writer)
{
    ph_bits_write(writer, hello->slot_count, 16);
    ph_bits_write(writer, hello->tick_us, 32);
    ph_bits_write(writer, hello->session, 32);
    ph_bits_write(writer, hello->fingerprint, 64);
}

void ph_header_read_hello(ph_hello* hello, ph_bit_reader* reader)
{
    hello->slot_count = (uint16_t)ph_bits_read(reader, 16);
    hello->tick_us = (uint32_t)ph_bits_read(reader, 32);
    hello->session = (uint32_t)ph_bits_read(reader, 32);
    hello->fingerprint = ph_bits_read(reader, 64);
}

void ph_header_write_eye(const ph_header* header, ph_bit_writer* writer)
{
    for (int i = 0; header->has_eye && i < 3; ++i) {
        ph_bits_write(writer, (uint32_t)header->eye_mm[i], 32);
    }
}

void ph_header_read_eye(ph_header* header, ph_bit_reader* reader)
{
    for (int i = 0; header->has_eye && i < 3; ++i) {
        header->eye_mm[i] = (int32_t)(uint32_t)ph_bits_read(reader, 32);
    }
}

// ---- what must be true

// How far a number may be ahead of its horizon. A probe without a hello does not tell.
static bool is_ahead(uint32_t number, uint32_t horizon)
{
    const uint32_t ahead = number - horizon;
    return ahead >= 1 && ahead <= PH_FLIGHT_MAX;
}

bool ph_header_is_sound(const ph_header* header)
{
    const ph_hello* hello = &header->hello;
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
