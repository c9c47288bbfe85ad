// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What messages of the bus consist of: numbers, names, texts, bytes. Every message and item has one function that goes
// over its fields, for both directions: a coder writes them behind what is in a writer, or reads them from bytes, and
// checks the ranges either way. So writing and reading cannot disagree.
//
// A coder fails stickily. Reading: the first reason stays, and all that follows reads as 0. Writing a value that is
// out of its range is misuse and asserted; without assertions the message is not written.

#ifndef PH_BUS_BUS_CODER_H
#define PH_BUS_BUS_CODER_H

#include "bus/bus_wire.h"

typedef struct bus_coder {
    bus_writer* writer; // NULL: it reads
    const uint8_t* at;  // reading: what is left
    size_t left;
    ph_bus_refusal when_cut; // the reason when there are too few bytes
    ph_bus_refusal refusal;
    bool is_refused;
} bus_coder;

enum { BUS_HEAD_SIZE = 2 }; // version, kind

// The head, and a coder for what follows.
bus_coder bus_coder_write(bus_writer* writer, bus_kind kind);
bus_coder bus_coder_read(const uint8_t* bytes, size_t size, bus_kind kind);
// Writing: nothing of it stays if it failed; it began at this size. @return Whether it is written.
bool bus_coder_end_write(bus_coder* coder, size_t begin);
// Reading: nothing may be left; on failure the message is zero. @return Whether it is read.
bool bus_coder_end_read(bus_coder* coder, void* message, size_t size, ph_bus_refusal* refusal);

void bus_coder_refuse(bus_coder* coder, ph_bus_refusal refusal);
// A rule on values: refuses unless it holds.
static inline void bus_code_rule(bus_coder* coder, bool holds)
{
    if (PH_UNLIKELY(!holds)) {
        bus_coder_refuse(coder, PH_BUS_REFUSAL_FIELD);
    }
}

// Room behind what is written. @return NULL: it is short.
uint8_t* bus_writer_extend(bus_writer* writer, size_t size);

// So many bytes of what is left. @return NULL: refused.
static inline const uint8_t* bus_coder_take(bus_coder* coder, size_t size)
{
    if (PH_UNLIKELY(coder->left < size)) {
        bus_coder_refuse(coder, coder->when_cut);
        return NULL;
    }
    const uint8_t* taken = coder->at;
    coder->at += size;
    coder->left -= size;
    return taken;
}

// A number of 1..8 bytes. @return The value; read, or the one that was written.
static inline uint64_t bus_code_number(bus_coder* coder, uint64_t value, int width)
{
    if (coder->writer != NULL) {
        uint8_t* at = bus_writer_extend(coder->writer, (size_t)width);
        for (int i = 0; at != NULL && i < width; ++i) {
            at[i] = (uint8_t)(value >> (8 * i));
        }
        return value;
    }
    const uint8_t* at = bus_coder_take(coder, (size_t)width);
    uint64_t number = 0;
    for (int i = 0; at != NULL && i < width; ++i) {
        number |= (uint64_t)at[i] << (8 * i);
    }
    return number;
}

static inline void bus_code_u16(bus_coder* coder, uint16_t* value)
{
    *value = (uint16_t)bus_code_number(coder, *value, 2);
}

static inline void bus_code_u32(bus_coder* coder, uint32_t* value)
{
    *value = (uint32_t)bus_code_number(coder, *value, 4);
}

static inline void bus_code_u64(bus_coder* coder, uint64_t* value)
{
    *value = bus_code_number(coder, *value, 8);
}

// Two's complement.
static inline void bus_code_i32(bus_coder* coder, int32_t* value)
{
    const uint32_t number = (uint32_t)bus_code_number(coder, (uint32_t)*value, 4);
    *value = number <= INT32_MAX ? (int32_t)number : -(int32_t)(UINT32_MAX - number) - 1;
}

// 0..max in one or two bytes.
static inline void bus_code_int(bus_coder* coder, int* value, int width, int max)
{
    *value = (int)bus_code_number(coder, (uint64_t)*value, width);
    bus_code_rule(coder, *value >= 0 && *value <= max);
}

static inline void bus_code_region(bus_coder* coder, int* region)
{
    bus_code_int(coder, region, 2, PH_REGION_MAX);
}

static inline void bus_code_bool(bus_coder* coder, bool* value)
{
    int number = *value;
    bus_code_int(coder, &number, 1, 1);
    *value = number == 1;
}

// Two of them as bits 0 and 1 of a byte.
void bus_code_flags(bus_coder* coder, bool* bit0, bool* bit1);

// Size 1, characters. Read: filled up with zeros.
void bus_code_name(bus_coder* coder, char name[PH_BUS_NAME_SIZE], bool may_be_empty);

// Bytes without their size. Read: they lead into the message; NULL when there are none.
void bus_code_raw(bus_coder* coder, const uint8_t** bytes, size_t size);
// Size of 1, 2 or 4 bytes, bytes.
void bus_code_bytes(bus_coder* coder, const uint8_t** bytes, size_t* size, int width, size_t max);
// All that is left.
void bus_code_rest(bus_coder* coder, const uint8_t** bytes, size_t* size);
// The same with size 1 for a text that is shown to people: UTF-8 without control characters.
void bus_code_text(bus_coder* coder, const uint8_t** bytes, size_t* size, size_t max);

// Count messages of a player, each: size 2, bytes. Read: finds out how many bytes these are.
void bus_code_messages(bus_coder* coder, int count, const uint8_t** bytes, size_t* size);

void bus_code_session(bus_coder* coder, bus_session* session);

#endif
