// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One step of the range coder (entropy.c), for whoever writes many symbols in a row: a call for each
// costs more than the step, and so does fetching and storing the interval.

#ifndef PH_BITS_NARROW_H
#define PH_BITS_NARROW_H

#include "base/inline.h"

#include <pinhole/entropy.h>

#define PH_RANGE_MIN (UINT64_C(1) << 32)

// The rare parts of a step: 1 is added to what was shifted out; 32 bits are shifted out; whether an
// ending for this interval fits with everything else.
void ph_entropy_carry(ph_entropy_writer* writer);
void ph_entropy_shift_out(ph_entropy_writer* writer);
bool ph_entropy_fits_exactly(const ph_entropy_writer* writer, uint64_t low, uint64_t range);

// Whether anything fits: no ending takes more than eight bytes, nor the raw end's partial byte more than
// one.
static inline bool ph_entropy_is_far(const ph_entropy_writer* writer)
{
    return writer->shifted + writer->raw.stored + 9 <= writer->raw.capacity;
}

static inline void ph_entropy_settle(ph_entropy_writer* writer, uint64_t low, uint64_t range,
                                     bool is_carried)
{
    if (PH_UNLIKELY(is_carried)) {
        ph_entropy_carry(writer);
    }
    writer->low = low;
    writer->range = range;
    if (PH_UNLIKELY(range < PH_RANGE_MIN)) {
        ph_entropy_shift_out(writer);
    }
}

// Narrows the interval to [offset, offset + size) of it. The writer has not failed.
static inline void ph_entropy_narrow(ph_entropy_writer* writer, uint64_t offset, uint64_t size)
{
    const uint64_t low = writer->low + offset;
    if (PH_UNLIKELY(!ph_entropy_is_far(writer)) && !ph_entropy_fits_exactly(writer, low, size)) {
        ph_bit_writer_fail(&writer->raw, PH_ERROR_END);
        return;
    }
    ph_entropy_settle(writer, low, size, low < offset);
}

// The symbol whose probability stands between this entry of a valid table and the next one.
static inline void ph_entropy_write_entry(ph_entropy_writer* writer, const uint16_t* entry)
{
    if (PH_UNLIKELY(writer->raw.result != PH_OK)) {
        return;
    }
    const uint64_t part = writer->range >> PH_MODEL_BITS;
    const uint64_t first = entry[0];
    ph_entropy_narrow(writer, part * first, part * (entry[1] - first));
}

// Many symbols in a row: meanwhile the interval is held here, in registers, and the writer's is stale.
typedef struct ph_entropy_run {
    ph_entropy_writer* writer;
    uint64_t low;
    uint64_t range;
    uint64_t least; // a range below this is none of the usual: all of them, where the end is near
    uint64_t carry; // 1: to be added to what was shifted out. Twice in a row low cannot overflow
} ph_entropy_run;

static inline uint64_t ph_entropy_least(const ph_entropy_writer* writer)
{
    const bool is_usual = ph_entropy_is_far(writer) && writer->raw.result == PH_OK;
    return is_usual ? PH_RANGE_MIN : UINT64_MAX;
}

PH_ALWAYS_INLINE ph_entropy_run ph_entropy_run_begin(ph_entropy_writer* writer)
{
    return (ph_entropy_run){
        .writer = writer,
        .low = writer->low,
        .range = writer->range,
        .least = ph_entropy_least(writer),
    };
}

// Whatever else is done with the writer happens between an end and the next beginning.
PH_ALWAYS_INLINE void ph_entropy_run_end(const ph_entropy_run* run)
{
    if (run->carry != 0) {
        ph_entropy_carry(run->writer);
    }
    run->writer->low = run->low;
    run->writer->range = run->range;
}

// One in 32 bits: the carry is added, this word is shifted out. @return The least range from now on.
uint64_t ph_entropy_run_shift(ph_entropy_writer* writer, uint32_t word, bool is_carried);

// Where the end is near.
void ph_entropy_narrow_slowly(ph_entropy_writer* writer, uint64_t offset, uint64_t size);

// A step that does not go as usual. A range of nothing is that of no valid model.
PH_ALWAYS_INLINE void ph_entropy_run_rare(ph_entropy_run* run, uint64_t offset, uint64_t size)
{
    if (run->least != PH_RANGE_MIN || size == 0) {
        ph_entropy_run_end(run);
        ph_entropy_narrow_slowly(run->writer, offset, size);
        *run = ph_entropy_run_begin(run->writer);
        return;
    }
    const uint64_t low = run->low + offset;
    const bool is_carried = run->carry != 0 || low < offset;
    run->least = ph_entropy_run_shift(run->writer, (uint32_t)(low >> 32), is_carried);
    run->low = low << 32;
    run->range = size << 32;
    run->carry = 0;
}

// The symbol at an entry, as ph_entropy_write_entry().
PH_ALWAYS_INLINE void ph_entropy_run_entry(ph_entropy_run* run, const uint16_t* entry)
{
    const uint64_t part = run->range >> PH_MODEL_BITS;
    const uint64_t first = entry[0];
    const uint64_t offset = part * first;
    const uint64_t size = part * (entry[1] - first);
    if (PH_UNLIKELY(size < run->least)) {
        ph_entropy_run_rare(run, offset, size);
        return;
    }
    run->low += offset;
    run->carry += run->low < offset ? 1 : 0;
    run->range = size;
}

#endif
