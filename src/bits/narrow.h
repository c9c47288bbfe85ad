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

// Narrows the interval to [offset, offset + size) of it. The writer has not failed.
static inline void ph_entropy_narrow(ph_entropy_writer* writer, uint64_t offset, uint64_t size)
{
    const uint64_t low = writer->low + offset;
    // No ending takes more than eight bytes, nor the raw end's partial byte more than one: far from
    // the end of the buffer that settles it.
    if (PH_UNLIKELY(writer->shifted + writer->raw.stored + 9 > writer->raw.capacity) &&
        !ph_entropy_fits_exactly(writer, low, size)) {
        ph_bit_writer_fail(&writer->raw, PH_ERROR_END);
        return;
    }
    if (PH_UNLIKELY(low < offset)) {
        ph_entropy_carry(writer);
    }
    writer->low = low;
    writer->range = size;
    if (PH_UNLIKELY(size < PH_RANGE_MIN)) {
        ph_entropy_shift_out(writer);
    }
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

#endif
