// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Headers of both profiles, acks, and the names of what bits are for. Once per packet;
// header.h has the drawings.

#include "packet/header.h"

#include "packet/classic_records.h"

#include <pinhole/bits.h>
#include <pinhole/integers.h>
#include <pinhole/stats.h>

#define HORIZON_PROBE 0
#define HORIZON_HELLO_PROBE 126
#define HORIZON_HELLO 127
#define HELLO_TICK_US_MIN 1000
#define HELLO_TICK_US_MAX 10000000
#define SLOT_COUNT_MIN 2

_Static_assert(PH_WAIT_UNKNOWN == (1 << PH_WAIT_BITS) - 1, "unknown is the last wait");

_Static_assert(PH_FLIGHT_MAX < HORIZON_HELLO_PROBE, "horizons and codes do not meet");

int ph_slot_bits(int slot_count)
{
    PH_ASSERT(slot_count >= 1 && slot_count <= 1 << PH_CLASSIC_SLOT_BITS_MAX);

    const int bits = ph_width_of((uint64_t)slot_count - 1);
    return bits > PH_CLASSIC_SLOT_BITS_MIN ? bits : PH_CLASSIC_SLOT_BITS_MIN;
}

bool ph_sequence_is_ahead(uint32_t a, uint32_t b)
{
    return a - b - 1 < UINT32_C(0x7FFFFFFF);
}

// ---- the horizon

static uint32_t horizon_code(const ph_header* header)
{
    if (header->has_hello) {
        return header->is_probe ? HORIZON_HELLO_PROBE : HORIZON_HELLO;
    }
    return header->is_probe ? HORIZON_PROBE : header->sequence - header->horizon;
}

static void header_write_horizon(const ph_header* header, ph_bit_writer* writer)
{
    ph_bits_write(writer, horizon_code(header), PH_HORIZON_BITS);
}

// What the code says of the packet: is_probe and has_hello. @return The code: how far the sequence is
// ahead of the horizon, unless there is a hello. One that stands for nothing is too far.
static uint32_t header_read_horizon(ph_header* header, ph_bit_reader* reader)
{
    const uint32_t code = (uint32_t)ph_bits_read(reader, PH_HORIZON_BITS);
    header->is_probe = code == HORIZON_PROBE || code == HORIZON_HELLO_PROBE;
    header->has_hello = code == HORIZON_HELLO || code == HORIZON_HELLO_PROBE;
    return code;
}

// ---- hello and eye

// A hello behind its version, which a reader has to understand first.
static void header_write_hello(const ph_hello* hello, ph_bit_writer* writer)
{
    ph_bits_write(writer, hello->slot_count, 16);
    ph_bits_write(writer, hello->tick_us, 32);
    ph_bits_write(writer, hello->session, 32);
    ph_bits_write(writer, hello->fingerprint, 64);
}

static void header_read_hello(ph_hello* hello, ph_bit_reader* reader)
{
    hello->slot_count = (uint16_t)ph_bits_read(reader, 16);
    hello->tick_us = (uint32_t)ph_bits_read(reader, 32);
    hello->session = (uint32_t)ph_bits_read(reader, 32);
    hello->fingerprint = ph_bits_read(reader, 64);
}

// Nothing where has_eye says so.
static void header_write_eye(const ph_header* header, ph_bit_writer* writer)
{
    for (int i = 0; header->has_eye && i < 3; ++i) {
        ph_bits_write(writer, (uint32_t)header->eye_mm[i], 32);
    }
}

static void header_read_eye(ph_header* header, ph_bit_reader* reader)
{
    for (int i = 0; header->has_eye && i < 3; ++i) {
        header->eye_mm[i] = (int32_t)(uint32_t)ph_bits_read(reader, 32);
    }
}

// ---- what must be true

// How far a sequence may be ahead of its horizon. A probe without a hello does not tell.
static bool is_ahead(uint32_t sequence, uint32_t horizon)
{
    const uint32_t ahead = sequence - horizon;
    return ahead >= 1 && ahead <= PH_FLIGHT_MAX;
}

// What both writers assert and both readers ask of a header whose version they know.
static bool header_is_sound(const ph_header* header)
{
    const ph_hello* hello = &header->hello;
    if (header->is_probe &&
        (header->has_eye || header->leave_count > 0 || header->enter_count > 0)) {
        return false;
    }
    if (!header->has_hello) {
        return header->is_probe || is_ahead(header->sequence, header->horizon);
    }
    return is_ahead(header->sequence, hello->session) && hello->slot_count >= SLOT_COUNT_MIN &&
           hello->tick_us >= HELLO_TICK_US_MIN && hello->tick_us <= HELLO_TICK_US_MAX;
}

// ---- the header of a classic packet

#define COUNT_BITS 6
#define REST_BITS (PH_HORIZON_BITS + PH_TICK_BITS + PH_WAIT_BITS + 1 + 2 * COUNT_BITS)

_Static_assert(32 + REST_BITS == PH_HEADER_BITS, "68 bits, as the drawing says");

_Static_assert(PH_HEADER_COUNT_MAX == (1 << COUNT_BITS) - 1, "a count fills its field");

// What another version means is not known: nothing of it but the version.
static bool classic_header_is_foreign(const ph_header* header)
{
    return header->has_hello && header->hello.version != PH_CLASSIC_VERSION;
}

// A hello of another version may say anything.
static bool classic_header_is_sound(const ph_header* header)
{
    return classic_header_is_foreign(header) || header_is_sound(header);
}

int ph_header_bits(const ph_header* header)
{
    return PH_HEADER_BITS + (header->has_hello ? PH_HELLO_BITS : 0) +
           (header->has_eye ? PH_EYE_BITS : 0);
}

void ph_header_write(const ph_header* header, ph_bit_writer* writer)
{
    PH_ASSERT(classic_header_is_sound(header));
    PH_ASSERT(header->tick < 1 << PH_TICK_BITS && header->wait <= PH_WAIT_UNKNOWN);
    PH_ASSERT(header->leave_count >= 0 && header->leave_count <= PH_HEADER_COUNT_MAX);
    PH_ASSERT(header->enter_count >= 0 && header->enter_count <= PH_HEADER_COUNT_MAX);

    ph_bits_write(writer, header->sequence, 32);
    header_write_horizon(header, writer);
    ph_bits_write(writer, header->tick, PH_TICK_BITS);
    ph_bits_write(writer, header->wait, PH_WAIT_BITS);
    ph_bits_write_bool(writer, header->has_eye);
    ph_bits_write(writer, (uint64_t)header->leave_count, COUNT_BITS);
    ph_bits_write(writer, (uint64_t)header->enter_count, COUNT_BITS);
    if (header->has_hello) {
        ph_bits_write(writer, header->hello.version, 8);
        header_write_hello(&header->hello, writer);
    }
    header_write_eye(header, writer);
}

void ph_header_read(ph_bit_reader* reader, ph_header* header)
{
    ph_header read = {.sequence = (uint32_t)ph_bits_read(reader, 32)};
    read.horizon = read.sequence - header_read_horizon(&read, reader);
    read.tick = (uint16_t)ph_bits_read(reader, PH_TICK_BITS);
    read.wait = (uint8_t)ph_bits_read(reader, PH_WAIT_BITS);
    read.has_eye = ph_bits_read_bool(reader);
    read.leave_count = (int)ph_bits_read(reader, COUNT_BITS);
    read.enter_count = (int)ph_bits_read(reader, COUNT_BITS);
    if (read.has_hello) {
        read.hello.version = (uint8_t)ph_bits_read(reader, 8);
    }
    if (read.has_hello && !classic_header_is_foreign(&read)) {
        header_read_hello(&read.hello, reader);
    }
    read.horizon = read.has_hello ? read.hello.session : read.horizon;
    read.has_eye = read.has_eye && !classic_header_is_foreign(&read);
    header_read_eye(&read, reader);
    if (!classic_header_is_sound(&read)) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    *header = ph_bit_reader_result(reader) == PH_OK ? read : (ph_header){0};
}

// ---- the header of a pinhole packet

#define HEADER_SEQUENCE_BITS 16
#define DENSITY_BITS 4
#define PRECISION_BITS 16
#define WHOLE_TICK_BITS 32
#define FIXED_BITS                                                                                 \
    (HEADER_SEQUENCE_BITS + PH_HORIZON_BITS + PH_TICK_BITS + PH_WAIT_BITS + 1 + DENSITY_BITS)

_Static_assert(FIXED_BITS + 2 == PH_PINHOLE_HEADER_BITS_MIN, "two counts of one bit each");

_Static_assert(PH_PINHOLE_COUNT_MAX < 127, "a gamma of at most 13 bits");

bool ph_pinhole_is_version(int version)
{
    return version == PH_PINHOLE_VERSION || version == PH_UNIVERSAL_VERSION;
}

static bool pinhole_header_is_foreign(const ph_header* header)
{
    return header->has_hello && !ph_pinhole_is_version(header->hello.version);
}

// A probe has no records to be read by its tick.
static bool has_whole_tick(const ph_header* header)
{
    return !header->is_probe && header->tick == PH_PINHOLE_TICK_WHOLE;
}

// What both writer and reader ask of a header; a hello of another version may say anything.
static bool pinhole_header_is_sound(const ph_header* header)
{
    if (pinhole_header_is_foreign(header)) {
        return true;
    }
    if (header->is_probe ? header->density != 0 || header->tick != 0
                         : header->has_hello && !has_whole_tick(header)) {
        return false; // before the first ack there is nothing to count ticks from
    }
    return header_is_sound(header);
}

int ph_pinhole_header_bits(const ph_header* header)
{
    return FIXED_BITS + ph_gamma_cost_bits((uint32_t)header->leave_count) +
           ph_gamma_cost_bits((uint32_t)header->enter_count) +
           (header->has_hello ? PH_HELLO_BITS + PRECISION_BITS : 0) +
           (has_whole_tick(header) ? WHOLE_TICK_BITS : 0) + (header->has_eye ? PH_EYE_BITS : 0);
}

static void write_pinhole_hello(const ph_hello* hello, ph_bit_writer* writer)
{
    ph_bits_write(writer, hello->version, 8);
    header_write_hello(hello, writer);
    ph_bits_write(writer, hello->precision, PRECISION_BITS);
}

static void read_pinhole_hello(ph_bit_reader* reader, ph_hello* hello)
{
    hello->version = (uint8_t)ph_bits_read(reader, 8);
    if (!ph_pinhole_is_version(hello->version)) {
        return; // it may be shorter than ours
    }
    header_read_hello(hello, reader);
    hello->precision = (uint16_t)ph_bits_read(reader, PRECISION_BITS);
}

void ph_pinhole_header_write(const ph_header* header, ph_bit_writer* writer)
{
    PH_ASSERT(pinhole_header_is_sound(header));
    PH_ASSERT(header->tick < 1 << PH_TICK_BITS && header->wait <= PH_WAIT_UNKNOWN);
    PH_ASSERT(header->density < 1 << DENSITY_BITS);
    PH_ASSERT(header->leave_count >= 0 && header->leave_count <= PH_PINHOLE_COUNT_MAX);
    PH_ASSERT(header->enter_count >= 0 && header->enter_count <= PH_PINHOLE_COUNT_MAX);

    ph_bits_write(writer, header->sequence, HEADER_SEQUENCE_BITS);
    header_write_horizon(header, writer);
    ph_bits_write(writer, header->tick, PH_TICK_BITS);
    ph_bits_write(writer, header->wait, PH_WAIT_BITS);
    ph_bits_write_bool(writer, header->has_eye);
    ph_bits_write(writer, header->density, DENSITY_BITS);
    ph_gamma_write(writer, (uint32_t)header->leave_count);
    ph_gamma_write(writer, (uint32_t)header->enter_count);
    if (header->has_hello) {
        write_pinhole_hello(&header->hello, writer);
    }
    if (has_whole_tick(header)) {
        ph_bits_write(writer, header->whole_tick, WHOLE_TICK_BITS);
    }
    header_write_eye(header, writer);
}

// The sequence with these low bits that is nearest to the given one.
static uint32_t extend_sequence(uint32_t low, uint32_t near_sequence)
{
    const uint32_t ahead = (low - near_sequence) & UINT16_MAX;
    return near_sequence + ahead - (ahead > INT16_MAX ? UINT32_C(1) << HEADER_SEQUENCE_BITS : 0);
}

static int read_count(ph_bit_reader* reader)
{
    const uint32_t count = ph_gamma_read(reader);
    if (count > PH_PINHOLE_COUNT_MAX) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
        return 0;
    }
    return (int)count;
}

void ph_pinhole_header_read(ph_bit_reader* reader, uint32_t newest, ph_header* header)
{
    ph_header read = {0};
    const uint32_t low = (uint32_t)ph_bits_read(reader, HEADER_SEQUENCE_BITS);
    const uint32_t code = header_read_horizon(&read, reader);
    read.tick = (uint16_t)ph_bits_read(reader, PH_TICK_BITS);
    read.wait = (uint8_t)ph_bits_read(reader, PH_WAIT_BITS);
    read.has_eye = ph_bits_read_bool(reader);
    read.density = (uint8_t)ph_bits_read(reader, DENSITY_BITS);
    read.leave_count = read_count(reader);
    read.enter_count = read_count(reader);
    if (read.has_hello) {
        read_pinhole_hello(reader, &read.hello);
    }
    if (has_whole_tick(&read) && !pinhole_header_is_foreign(&read)) {
        read.whole_tick = (uint32_t)ph_bits_read(reader, WHOLE_TICK_BITS);
    }
    read.sequence = extend_sequence(low, read.has_hello ? read.hello.session : newest);
    // A code that stands for nothing comes out as a horizon too far behind.
    read.horizon = read.has_hello ? read.hello.session : read.sequence - code;
    read.has_eye = read.has_eye && !pinhole_header_is_foreign(&read);
    header_read_eye(&read, reader);
    if (!pinhole_header_is_sound(&read)) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    *header = ph_bit_reader_result(reader) == PH_OK ? read : (ph_header){0};
}

// ---- acks
//
// Thirteen bytes, low ones first, and the receiving end's memory.
//
//     byte 0..3    newest
//     byte 4..11   applied, the newest packet in the lowest bit
//     byte 12      lag, in ms

_Static_assert(PH_ACK_SIZE == 4 + 8 + 1, "the drawing above");

_Static_assert(PH_FLIGHT_MAX == 64, "an ack has one bit for each packet in flight");

void ph_ack_write(const ph_ack* ack, uint8_t bytes[PH_ACK_SIZE])
{
    for (int i = 0; i < 4; ++i) {
        bytes[i] = (uint8_t)(ack->newest >> (8 * i));
    }
    ph_bits_store64(bytes + 4, ack->applied);
    bytes[12] = ack->lag_ms;
}

bool ph_ack_read(const void* bytes, size_t size, ph_ack* ack)
{
    if (size != PH_ACK_SIZE) {
        return false;
    }
    const uint8_t* next = bytes;
    uint32_t newest = 0;
    for (int i = 0; i < 4; ++i) {
        newest |= (uint32_t)next[i] << (8 * i);
    }
    *ack = (ph_ack){.newest = newest, .applied = ph_bits_load64(next + 4), .lag_ms = next[12]};
    return true;
}

ph_receipt ph_receipt_make(uint32_t session)
{
    return (ph_receipt){.newest = session};
}

ph_news ph_receipt_judge(const ph_receipt* receipt, uint32_t sequence, uint32_t horizon)
{
    if (!ph_sequence_is_ahead(sequence, receipt->newest)) {
        return PH_NEWS_OLD;
    }
    // A probe knows no horizon. Whatever it is, the newest heard of is not behind it.
    const uint32_t known = horizon == sequence ? receipt->newest : horizon;
    if (ph_sequence_is_ahead(known, receipt->newest) || sequence - known > PH_FLIGHT_MAX) {
        return PH_NEWS_IMPOSSIBLE;
    }
    return PH_NEWS_NEW;
}

void ph_receipt_note(ph_receipt* receipt, uint32_t sequence, bool is_applied)
{
    PH_ASSERT(ph_sequence_is_ahead(sequence, receipt->newest));

    const uint32_t ahead = sequence - receipt->newest;
    const uint64_t earlier = ahead < 64 ? receipt->applied << ahead : 0;
    receipt->applied = earlier | (is_applied ? 1 : 0);
    receipt->newest = sequence;
}

// ---- names

const char* ph_reason_name(ph_reason reason)
{
    static const char* const names[] = {
        [PH_REASON_HEADER] = "header",   [PH_REASON_HELLO] = "hello",
        [PH_REASON_EYE] = "eye",         [PH_REASON_LEAVE] = "leave",
        [PH_REASON_ENTER] = "enter",     [PH_REASON_SLOT] = "slot",
        [PH_REASON_MASK] = "mask",       [PH_REASON_PROPERTY] = "property",
        [PH_REASON_PADDING] = "padding", [PH_REASON_RESERVED] = "reserved",
    };
    _Static_assert(sizeof names / sizeof names[0] == PH_REASON_COUNT, "a name for every reason");

    return reason >= 0 && reason < PH_REASON_COUNT ? names[reason] : "unknown";
}
