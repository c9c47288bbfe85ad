// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What records of the pinhole profile say, as symbols and raw bits that are yet to be written. A
// record is worked out once, when it is chosen: where its motion leads, which models suit it, what
// differs. That tells its cost, and leaves a tape. When the packet is closed, tapes are played in the
// order of slots.
//
//   | symbol | MARK mask | symbol  symbol  symbol | MARK position | bits, END |      tokens of 32 bits
//
// A mark says what was for what, and what that cost. Raw bits go to the other end of the packet than
// symbols, so they are gathered, and the last token of a record has what is left of them. Several
// tokens per record; nothing allocates.

#ifndef PH_WIRE_TAPE_H
#define PH_WIRE_TAPE_H

#include "base/inline.h"
#include "bits/narrow.h"
#include "wire/classic.h"
#include "wire/coded_tables.h"

#include <stddef.h>

// The longest record: up to 1,200 bytes of texts in pieces of 24 bits, and 64 properties of at most
// seven tokens each, some more for the position and whom it is about.
#define PH_TAPE_RECORD_MAX 1280

// Tokens go to the caller's memory. {0} has no room. Once it is full it stays so, and what it says of
// the last record is worth nothing.
typedef struct ph_tape {
    uint32_t* next;
    uint32_t* end;
    bool is_full;
    bool is_roomy;     // there is room for all that is yet to come of a record: nobody need look
    int gathered_bits; // 0..32, for the next tokens of raw bits; between records 0
    uint64_t gathered;
} ph_tape;

static inline ph_tape ph_tape_make(uint32_t* tokens, int capacity)
{
    return (ph_tape){.next = tokens, .end = tokens + capacity};
}

// A token, from its high bits: two of kind, then
//
//   SYMBOL    entry of the tables
//   BITS      whether it ends the record in 1 bit, width 0..24 in 5, value 24
//   UNIFORM   value; the next token is the count
//   MARK      property, or the mask, or whom, in 7 bits; cost in 1/256 bit 23
#define PH_TOKEN_KIND_SHIFT 30
#define PH_TOKEN_BITS_MAX 24
#define PH_TOKEN_COST_BITS 23
#define PH_TOKEN_END (UINT32_C(1) << 29)
#define PH_TOKEN_WIDTH_MASK 31u
#define PH_TOKEN_VALUE_MASK 0xFFFFu
#define PH_TOKEN_MARK_MASK 127u
enum { PH_TOKEN_SYMBOL, PH_TOKEN_BITS, PH_TOKEN_UNIFORM, PH_TOKEN_MARK };

// All tokens below this are symbols, below this bits, all from this on marks.
#define PH_TOKEN_SYMBOLS (UINT32_C(1) << PH_TOKEN_KIND_SHIFT)
#define PH_TOKEN_UNIFORMS ((uint32_t)PH_TOKEN_UNIFORM << PH_TOKEN_KIND_SHIFT)
#define PH_TOKEN_MARKS ((uint32_t)PH_TOKEN_MARK << PH_TOKEN_KIND_SHIFT)

// Whether so many tokens fit.
PH_ALWAYS_INLINE bool ph_tape_has_room(const ph_tape* tape, int count)
{
    return tape->end - tape->next >= count;
}

PH_ALWAYS_INLINE void ph_tape_put(ph_tape* tape, uint32_t kind, uint32_t rest)
{
    PH_ASSERT(!tape->is_roomy || tape->next < tape->end);
    if (!tape->is_roomy && PH_UNLIKELY(tape->next == tape->end)) {
        tape->is_full = true;
        return;
    }
    *tape->next++ = kind << PH_TOKEN_KIND_SHIFT | rest;
}

// A symbol by its entry of the tables.
PH_ALWAYS_INLINE void ph_tape_symbol(ph_tape* tape, uint32_t entry)
{
    ph_tape_put(tape, PH_TOKEN_SYMBOL, entry);
}

// One of count equally likely values, count 1..2^16.
void ph_tape_uniform(ph_tape* tape, uint32_t value, uint32_t count);

// A token of raw bits, the first of those gathered, or the last of a record (end: PH_TOKEN_END, else 0).
PH_ALWAYS_INLINE void ph_tape_put_bits(ph_tape* tape, int width, uint32_t end)
{
    const uint32_t bits = (uint32_t)tape->gathered & ((UINT32_C(1) << PH_TOKEN_BITS_MAX) - 1);
    ph_tape_put(tape, PH_TOKEN_BITS, end | (uint32_t)width << PH_TOKEN_BITS_MAX | bits);
    tape->gathered >>= width;
    tape->gathered_bits -= width;
}

PH_ALWAYS_INLINE void ph_tape_put_gathered(ph_tape* tape)
{
    while (PH_UNLIKELY(tape->gathered_bits > PH_TOKEN_BITS_MAX)) {
        ph_tape_put_bits(tape, PH_TOKEN_BITS_MAX, 0);
    }
}

// One bit, or none and 0. Nobody looks whether there are enough for a token: so no more than eight of
// them in a row, or their record ends.
PH_ALWAYS_INLINE void ph_tape_bit(ph_tape* tape, uint32_t bit, int width)
{
    tape->gathered |= (uint64_t)bit << tape->gathered_bits;
    tape->gathered_bits += width;
    PH_ASSERT(tape->gathered_bits <= 32);
}

// 0..64 bits; higher bits of the value are ignored.
PH_ALWAYS_INLINE void ph_tape_bits(ph_tape* tape, uint64_t value, int width)
{
    while (width > 0) {
        const int piece = width < 32 ? width : 32;
        tape->gathered |= (value & ((UINT64_C(1) << piece) - 1)) << tape->gathered_bits;
        tape->gathered_bits += piece;
        width -= piece;
        value >>= piece;
        ph_tape_put_gathered(tape);
    }
}

// All that a bit writer holds.
void ph_tape_append(ph_tape* tape, ph_bit_writer* writer);

// What was said since the last mark is for this property, or for saying which, or of whom; and cost
// so much.
#define PH_TAPE_MASK PH_PROPERTIES_MAX
#define PH_TAPE_WHO (PH_PROPERTIES_MAX + 1)
PH_ALWAYS_INLINE void ph_tape_mark(ph_tape* tape, int property, uint32_t cost256)
{
    PH_ASSERT(cost256 >> PH_TOKEN_COST_BITS == 0);
    ph_tape_put(tape, PH_TOKEN_MARK, (uint32_t)property << PH_TOKEN_COST_BITS | cost256);
}

// The record ends.
PH_ALWAYS_INLINE void ph_tape_end(ph_tape* tape)
{
    ph_tape_put_gathered(tape);
    ph_tape_put_bits(tape, tape->gathered_bits, PH_TOKEN_END);
}

// Back to where a record began.
PH_ALWAYS_INLINE void ph_tape_rewind(ph_tape* tape, uint32_t* begun)
{
    *tape = (ph_tape){.next = begun, .end = tape->end};
}

// ---- playing

// Raw bits of several records, on their way to the packet.
typedef struct ph_raw_bits {
    uint64_t bits;
    int width;
} ph_raw_bits;

PH_ALWAYS_INLINE void ph_raw_bits_flush(ph_raw_bits* raw, ph_entropy_run* run)
{
    ph_entropy_run_end(run);
    ph_bits_write(&run->writer->raw, raw->bits, raw->width);
    *run = ph_entropy_run_begin(run->writer);
    *raw = (ph_raw_bits){0};
}

// Those of a token.
PH_ALWAYS_INLINE void ph_raw_bits_add(ph_raw_bits* raw, ph_entropy_run* run, uint32_t token)
{
    const uint32_t bits = token & ((UINT32_C(1) << PH_TOKEN_BITS_MAX) - 1);
    const int width = (int)(token >> PH_TOKEN_BITS_MAX & PH_TOKEN_WIDTH_MASK);
    if (PH_UNLIKELY(raw->width + width >= 64)) {
        ph_raw_bits_flush(raw, run);
    }
    raw->bits |= (uint64_t)bits << raw->width;
    raw->width += width;
}

// What records cost, by their marks, in 1/256 bit; added to.
typedef struct ph_tape_costs {
    uint64_t* properties256; // by property of the class
    uint64_t others256[2];   // which, of whom: from PH_TAPE_MASK on
} ph_tape_costs;

// Of a mark all bits above the cost are its number, those of its kind as well: which is why the kind is
// taken off where an address is worked out anyway.
PH_ALWAYS_INLINE void ph_tape_cost(ph_tape_costs* costs, uint32_t mark)
{
    enum { FIRST = PH_TOKEN_MARK << (PH_TOKEN_KIND_SHIFT - PH_TOKEN_COST_BITS) };
    const size_t number = mark >> PH_TOKEN_COST_BITS;
    const uint32_t cost256 = mark & ((UINT32_C(1) << PH_TOKEN_COST_BITS) - 1);
    if (number < FIRST + PH_TAPE_MASK) {
        costs->properties256[number - FIRST] += cost256;
    } else {
        costs->others256[number - FIRST - PH_TAPE_MASK] += cost256;
    }
}

// Plays one record, from its first token; its raw bits follow those that are there already, and are
// written with them, now or when they are flushed. costs may be NULL. Few records have more than symbols,
// marks and an end.
PH_ALWAYS_INLINE void ph_tape_play(const uint32_t* tokens, ph_entropy_run* run, ph_raw_bits* raw,
                                   ph_tape_costs* costs)
{
    for (;;) {
        const uint32_t token = *tokens++;
        if (token < PH_TOKEN_SYMBOLS) {
            ph_entropy_run_entry(run, &ph_coded_cumulative[token]);
        } else if (token >= PH_TOKEN_MARKS) {
            if (costs != NULL) {
                ph_tape_cost(costs, token);
            }
        } else if (PH_UNLIKELY(token >= PH_TOKEN_UNIFORMS)) {
            ph_entropy_run_end(run);
            ph_entropy_write_uniform(run->writer, token & PH_TOKEN_VALUE_MASK, *tokens++);
            *run = ph_entropy_run_begin(run->writer);
        } else {
            ph_raw_bits_add(raw, run, token);
            if ((token & PH_TOKEN_END) != 0) {
                return;
            }
        }
    }
}

// What one record costs, without playing it: what is marked in a bill, in 1/256 bit, is added to.
void ph_tape_bill(const uint32_t* tokens, ph_bill* bill);

// What one record says how often. Only tables that are learned ask for it.
void ph_tape_count(const uint32_t* tokens, ph_coded_counts* counts);

// What one of count equally likely values costs, never too little.
uint32_t ph_tape_uniform_cost256(uint32_t count);

#endif
