// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per part; the checksum once per byte.

#include "journal/journal_part.h"

#include <math.h>
#include <string.h>

// No text has the first byte, and a file that was taken for text has lost the third.
static const uint8_t PART_MARK[4] = {0x89, 'P', 0x0A, 'R'};

enum { PART_VERSION = 1, SUM_AT = 24, HEADER_SUM_AT = 28, PART_FLAG_JUMPS = 1 };

#define NANO 1e9
#define RATE_NANO_MIN UINT64_C(1000000)
#define RATE_NANO_MAX UINT64_C(1000000000000)

// ---- numbers: the lowest byte first

static void number_to(uint8_t* bytes, uint64_t value, int count)
{
    for (int i = 0; i < count; ++i) {
        bytes[i] = (uint8_t)(value >> 8 * i);
    }
}

static uint64_t number_at(const uint8_t* bytes, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; ++i) {
        value |= (uint64_t)bytes[i] << 8 * i;
    }
    return value;
}

// CRC-32 as of gzip and PNG, four bits at a time: it finds every flipped bit, and its table is short.
static uint32_t checksum(const uint8_t* bytes, size_t size)
{
    static const uint32_t NIBBLES[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
        0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < size; ++i) {
        sum ^= bytes[i];
        sum = NIBBLES[sum & 15] ^ (sum >> 4);
        sum = NIBBLES[sum & 15] ^ (sum >> 4);
    }
    return ~sum;
}

// ---- parts

void ph_part_seal(const ph_part* part, uint8_t* bytes)
{
    memset(bytes, 0, PH_PART_HEADER_BYTES);
    memcpy(bytes, PART_MARK, sizeof PART_MARK);
    bytes[4] = PART_VERSION;
    bytes[5] = (uint8_t)part->kind;
    number_to(bytes + 8, part->body_size, 4);
    number_to(bytes + 12, part->sequence, 4);
    number_to(bytes + 16, part->first_tick, 4);
    number_to(bytes + 20, part->end_tick, 4);
    number_to(bytes + SUM_AT, checksum(bytes + PH_PART_HEADER_BYTES, part->body_size), 4);
    number_to(bytes + HEADER_SUM_AT, checksum(bytes, HEADER_SUM_AT), 4);
}

static bool is_sensible(const ph_part* part)
{
    const uint32_t ticks = part->end_tick - part->first_tick;
    if (part->kind == PH_PART_HEAD || part->kind == PH_PART_END) {
        return ticks == 0;
    }
    return part->end_tick > part->first_tick && ticks <= PH_PART_TICKS_MAX;
}

bool ph_part_read(ph_part* part, const uint8_t* bytes, size_t size)
{
    if (size < PH_PART_HEADER_BYTES || memcmp(bytes, PART_MARK, sizeof PART_MARK) != 0 ||
        number_at(bytes + HEADER_SUM_AT, 4) != checksum(bytes, HEADER_SUM_AT)) {
        return false;
    }
    if (bytes[4] != PART_VERSION || bytes[5] >= PH_PART_KIND_COUNT ||
        number_at(bytes + 6, 2) != 0) {
        return false;
    }
    const ph_part read = {
        .kind = (ph_part_kind)bytes[5],
        .body_size = (uint32_t)number_at(bytes + 8, 4),
        .sequence = (uint32_t)number_at(bytes + 12, 4),
        .first_tick = (uint32_t)number_at(bytes + 16, 4),
        .end_tick = (uint32_t)number_at(bytes + 20, 4),
    };
    if (!is_sensible(&read) || read.body_size > PH_PART_BODY_MAX ||
        read.body_size > size - PH_PART_HEADER_BYTES ||
        number_at(bytes + SUM_AT, 4) != checksum(bytes + PH_PART_HEADER_BYTES, read.body_size)) {
        return false;
    }
    *part = read;
    return true;
}

size_t ph_part_find_mark(const uint8_t* bytes, size_t size, size_t from)
{
    while (from + sizeof PART_MARK <= size) {
        const uint8_t* found =
            memchr(bytes + from, PART_MARK[0], size - from - (sizeof PART_MARK - 1));
        if (found == NULL) {
            return size;
        }
        if (memcmp(found, PART_MARK, sizeof PART_MARK) == 0) {
            return (size_t)(found - bytes);
        }
        from = (size_t)(found - bytes) + 1;
    }
    return size;
}

// ---- heads

size_t ph_journal_head_size(const ph_journal_head* head)
{
    return PH_HEAD_FIXED_BYTES + head->schema_length;
}

void ph_journal_head_write(const ph_journal_head* head, uint8_t* bytes)
{
    number_to(bytes, (uint64_t)floor(head->rate_hz * NANO + 0.5), 8);
    number_to(bytes + 8, head->has_jumps ? PART_FLAG_JUMPS : 0, 4);
    number_to(bytes + 12, head->dropped_ticks, 4);
    number_to(bytes + 16, head->fingerprint, 8);
    number_to(bytes + 24, head->schema_length, 4);
    memcpy(bytes + PH_HEAD_FIXED_BYTES, head->schema_text, head->schema_length);
}

bool ph_journal_head_read(ph_journal_head* head, const uint8_t* bytes, size_t size)
{
    if (size < PH_HEAD_FIXED_BYTES) {
        return false;
    }
    const uint64_t rate = number_at(bytes, 8);
    const uint64_t flags = number_at(bytes + 8, 4);
    const size_t length = (size_t)number_at(bytes + 24, 4);
    if (rate < RATE_NANO_MIN || rate > RATE_NANO_MAX || flags > PART_FLAG_JUMPS ||
        length != size - PH_HEAD_FIXED_BYTES || length > PH_HEAD_SCHEMA_MAX) {
        return false;
    }
    *head = (ph_journal_head){
        .rate_hz = (double)rate / NANO,
        .has_jumps = flags == PART_FLAG_JUMPS,
        .dropped_ticks = (uint32_t)number_at(bytes + 12, 4),
        .fingerprint = number_at(bytes + 16, 8),
        .schema_text = (const char*)bytes + PH_HEAD_FIXED_BYTES,
        .schema_length = length,
    };
    return true;
}
