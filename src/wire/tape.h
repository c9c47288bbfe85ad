// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What records of the pinhole profile say, as symbols and raw bits that are yet to be written. A
// record is worked out once, when it is chosen: where its motion leads, which models suit it, what
// differs. That tells its cost, and leaves a tape. When the packet is closed, tapes are played in the
// order of slots.
//
//   | symbol  symbol  bits  MARK position | symbol  bits  MARK heading | END |      tokens of 32 bits
//
// A mark says what all since the one before was for. Several tokens per record; nothing allocates.

#ifndef PH_WIRE_TAPE_H
#define PH_WIRE_TAPE_H

#include "wire/classic.h"
#include "wire/coded_tables.h"

#include <pinhole/entropy.h>

// The longest record: up to 1,200 bytes of texts in pieces of 16 bits, and 64 properties of at most
// seven tokens each, some more for the position and whom it is about.
#define PH_TAPE_RECORD_MAX 1280

// {0} has no room. Once it is full it stays so, and what it says of the last record is worth nothing.
typedef struct ph_tape {
    uint32_t* tokens; // the caller's
    int capacity;
    int count;
    bool is_full;
} ph_tape;

// A token, from its high bits: two of kind, then
//
//   SYMBOL    entry of the tables
//   BITS      width 1..16, value 16
//   UNIFORM   value; the next token is the count
//   MARK      property, or the mask, or whom, or the end
#define PH_TOKEN_KIND_SHIFT 30
#define PH_TOKEN_VALUE_BITS 16
#define PH_TOKEN_WIDTH_SHIFT PH_TOKEN_VALUE_BITS
enum { PH_TOKEN_SYMBOL, PH_TOKEN_BITS, PH_TOKEN_UNIFORM, PH_TOKEN_MARK };

static inline void ph_tape_put(ph_tape* tape, uint32_t kind, uint32_t rest)
{
    if (tape->count == tape->capacity) {
        tape->is_full = true;
        return;
    }
    tape->tokens[tape->count++] = kind << PH_TOKEN_KIND_SHIFT | rest;
}

// A symbol by its entry of the tables.
static inline void ph_tape_symbol(ph_tape* tape, int entry)
{
    ph_tape_put(tape, PH_TOKEN_SYMBOL, (uint32_t)entry);
}

// One of count equally likely values, count 1..2^16.
void ph_tape_uniform(ph_tape* tape, uint32_t value, uint32_t count);

// 0..64 bits; higher bits of the value are ignored.
static inline void ph_tape_bits(ph_tape* tape, uint64_t value, int width)
{
    for (; width > 0; width -= PH_TOKEN_VALUE_BITS, value >>= PH_TOKEN_VALUE_BITS) {
        const int piece = width < PH_TOKEN_VALUE_BITS ? width : PH_TOKEN_VALUE_BITS;
        const uint32_t low = (uint32_t)value & ((UINT32_C(1) << piece) - 1);
        ph_tape_put(tape, PH_TOKEN_BITS, (uint32_t)piece << PH_TOKEN_WIDTH_SHIFT | low);
    }
}

// All that a bit writer holds.
void ph_tape_append(ph_tape* tape, ph_bit_writer* writer);

// What was said since the last mark is for this property; or for saying which, or of whom.
#define PH_TAPE_MASK PH_PROPERTIES_MAX
#define PH_TAPE_WHO (PH_PROPERTIES_MAX + 1)
static inline void ph_tape_mark(ph_tape* tape, int property)
{
    ph_tape_put(tape, PH_TOKEN_MARK, (uint32_t)property);
}
void ph_tape_end(ph_tape* tape);

// Plays one record, from its first token. The bill, in 1/256 bit, is not added to: what was marked is
// set, and all else stays as it is; may be NULL. So may the counts.
// @return What it cost, in 1/256 bit.
uint32_t ph_tape_play(const uint32_t* tokens, ph_entropy_writer* writer, ph_bill* bill,
                      ph_coded_counts* counts);

// Where a bill has what was marked so.
uint32_t* ph_tape_billed(ph_bill* bill, int property);

// What one of count equally likely values costs, never too little.
uint32_t ph_tape_uniform_cost256(uint32_t count);

#endif
