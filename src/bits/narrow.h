// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One step of the range coder (entropy.c), for whoever writes many symbols in a row: a call for each
// costs more than the step.

#ifndef PH_BITS_NARROW_H
#define PH_BITS_NARROW_H

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

// One after the other, the symbols at these entries of one table, up to the first that is not below
// `end`. @return Where that is.
static inline const uint32_t* ph_entropy_write_entries(ph_entropy_writer* writer,
                                                       const uint16_t* table,
                                                       const uint32_t* entries, uint32_t end)
{
    while (*entries < end && ph_entropy_is_far(writer) && writer->raw.result == PH_OK) {
        // What was shifted out, and so how far the end is, stays the same until the next time.
        uint64_t low = writer->low;
        uint64_t range = writer->range;
        bool is_carried;
        do {
            const uint16_t* entry = &table[*entries++];
            const uint64_t first = entry[0];
            const uint64_t part = range >> PH_MODEL_BITS;
            const uint64_t offset = part * first;
            low += offset;
            range = part * (entry[1] - first);
            is_carried = low < offset;
        } while (*entries < end && !is_carried && range >= PH_RANGE_MIN);
        ph_entropy_settle(writer, low, range, is_carried);
    }
    for (; *entries < end; ++entries) {
        ph_entropy_write_entry(writer, &table[*entries]);
    }
    return entries;
}

#endif
