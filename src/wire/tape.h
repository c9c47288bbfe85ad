// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What records of the pinhole profile say, as symbols and raw bits that are yet to be written. A
// record is worked out once, when it is chosen: where its motion leads, which models suit it, what
// differs. That tells its cost, and leaves a tape. When the packet is closed, tapes are played in the
// order of slots.
//
//   | symbol  symbol  symbol | bits | MARK position  MARK heading | END |      tokens of 32 bits
//
// A mark says what was for what, and what that cost. Raw bits go to the other end of the packet than
// symbols: they are gathered, and so are marks, and mostly stand behind all symbols, which can then be
// written in one go. Several tokens per record; nothing allocates.

#ifndef PH_WIRE_TAPE_H
#define PH_WIRE_TAPE_H

#include "wire/classic.h"
#include "wire/coded_tables.h"

#include <pinhole/entropy.h>

// The longest record: up to 1,200 bytes of texts in pieces of 24 bits, and 64 properties of at most
// seven tokens each, some more for the position and whom it is about.
#define PH_TAPE_RECORD_MAX 1280

#define PH_TAPE_MARKS_MAX 8

// {0} has no room. Once it is full it stays so, and what it says of the last record is worth nothing.
typedef struct ph_tape {
    uint32_t* tokens; // the caller's
    int capacity;
    int count;
    bool is_full;
    int gathered_bits; // 0..PH_TOKEN_BITS_MAX, for the next token of raw bits
    uint64_t gathered;
    int mark_count; // that are to come
    uint32_t marks[PH_TAPE_MARKS_MAX];
} ph_tape;

// A token, from its high bits: two of kind, then
//
//   SYMBOL    entry of the tables
//   BITS      width 1..24 in 6 bits, value 24
//   UNIFORM   value; the next token is the count
//   MARK      property, or the mask, or whom, or the end, in 7 bits; cost in 1/256 bit 23
#define PH_TOKEN_KIND_SHIFT 30
#define PH_TOKEN_BITS_MAX 24
#define PH_TOKEN_COST_BITS 23
enum { PH_TOKEN_SYMBOL, PH_TOKEN_BITS, PH_TOKEN_UNIFORM, PH_TOKEN_MARK };

// All tokens below this are symbols.
#define PH_TOKEN_SYMBOLS (UINT32_C(1) << PH_TOKEN_KIND_SHIFT)

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

// A token of raw bits, the first of those gathered.
void ph_tape_put_bits(ph_tape* tape);

// 0..64 bits; higher bits of the value are ignored.
static inline void ph_tape_bits(ph_tape* tape, uint64_t value, int width)
{
    while (width > 0) {
        const int piece = width < 32 ? width : 32;
        tape->gathered |= (value & ((UINT64_C(1) << piece) - 1)) << tape->gathered_bits;
        tape->gathered_bits += piece;
        width -= piece;
        value >>= piece;
        while (tape->gathered_bits > PH_TOKEN_BITS_MAX) {
            ph_tape_put_bits(tape);
        }
    }
}

// All that a bit writer holds.
void ph_tape_append(ph_tape* tape, ph_bit_writer* writer);

// What was said since the last mark is for this property, or for saying which, or of whom; and cost
// so much.
#define PH_TAPE_MASK PH_PROPERTIES_MAX
#define PH_TAPE_WHO (PH_PROPERTIES_MAX + 1)
void ph_tape_put_marks(ph_tape* tape);
static inline void ph_tape_mark(ph_tape* tape, int property, uint32_t cost256)
{
    PH_ASSERT(cost256 >> PH_TOKEN_COST_BITS == 0);
    if (tape->mark_count == PH_TAPE_MARKS_MAX) {
        ph_tape_put_marks(tape);
    }
    tape->marks[tape->mark_count++] = (uint32_t)property << PH_TOKEN_COST_BITS | cost256;
}

// The record ends, and cost so much in all.
void ph_tape_end(ph_tape* tape, uint32_t cost256);

// Takes back all but the first so many tokens, which are those of whole records.
static inline void ph_tape_rewind(ph_tape* tape, int count)
{
    tape->count = count;
    tape->is_full = false;
    tape->gathered = 0;
    tape->gathered_bits = 0;
    tape->mark_count = 0;
}

// Raw bits of several records, on their way to the packet.
typedef struct ph_raw_bits {
    uint64_t bits;
    int width;
} ph_raw_bits;
void ph_raw_bits_flush(ph_raw_bits* raw, ph_entropy_writer* writer);

// Plays one record, from its first token; its raw bits follow those that are there already, and are
// written with them, now or when they are flushed. The bill, in 1/256 bit, is not added to: what was
// marked is set, and all else stays as it is; may be NULL. So may the counts.
// @return What it cost, in 1/256 bit.
uint32_t ph_tape_play(const uint32_t* tokens, ph_entropy_writer* writer, ph_raw_bits* raw,
                      ph_bill* bill, ph_coded_counts* counts);

// Where a bill has what was marked so.
static inline uint32_t* ph_tape_billed(ph_bill* bill, int property)
{
    return property == PH_TAPE_WHO    ? &bill->slot_bits
           : property == PH_TAPE_MASK ? &bill->mask_bits
                                      : &bill->property_bits[property];
}

// What one of count equally likely values costs, never too little.
uint32_t ph_tape_uniform_cost256(uint32_t count);

#endif
