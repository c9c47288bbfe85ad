// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Recording and playing tokens, which tape.h describes.

#include "wire/tape.h"

_Static_assert(PH_CODED_ENTRIES <= PH_TOKEN_VALUE_MASK + 1, "an entry fits a token");
_Static_assert(PH_TAPE_WHO <= PH_TOKEN_MARK_MASK, "every mark is another one");

// ---- recording

void ph_tape_uniform(ph_tape* tape, uint32_t value, uint32_t count)
{
    PH_ASSERT(value < count && count <= PH_TOKEN_VALUE_MASK + 1);

    ph_tape_put(tape, PH_TOKEN_UNIFORM, value);
    ph_tape_put(tape, 0, count);
}

void ph_tape_append(ph_tape* tape, ph_bit_writer* writer)
{
    const size_t size_bits = ph_bit_writer_size_bits(writer);
    const size_t size = ph_bit_writer_finish(writer);
    ph_bit_reader reader = ph_bit_reader_make(writer->bytes, size);
    for (size_t left = size_bits; left > 0;) {
        const int piece = left < 32 ? (int)left : 32;
        ph_tape_bits(tape, ph_bits_read(&reader, piece), piece);
        left -= (size_t)piece;
    }
}

// ---- playing

uint32_t ph_tape_uniform_cost256(uint32_t count)
{
    // Rounded to nearest there, never too little here; powers of two are exact.
    return ph_uniform_cost(count) + ((count & (count - 1)) != 0 ? 1 : 0);
}

// A mark is the number of what a bill has.
_Static_assert(offsetof(ph_bill, parts[PH_TAPE_MASK]) == offsetof(ph_bill, mask_bits) &&
                   offsetof(ph_bill, parts[PH_TAPE_WHO]) == offsetof(ph_bill, slot_bits),
               "behind the properties");

void ph_tape_bill(const uint32_t* tokens, ph_bill* bill)
{
    for (;; ++tokens) {
        const uint32_t kind = *tokens >> PH_TOKEN_KIND_SHIFT;
        if (kind == PH_TOKEN_MARK) {
            bill->parts[*tokens >> PH_TOKEN_COST_BITS & PH_TOKEN_MARK_MASK] +=
                *tokens & ((UINT32_C(1) << PH_TOKEN_COST_BITS) - 1);
        } else if (kind == PH_TOKEN_UNIFORM) {
            ++tokens;
        } else if (kind == PH_TOKEN_BITS && (*tokens & PH_TOKEN_END) != 0) {
            return;
        }
    }
}

void ph_tape_count(const uint32_t* tokens, ph_coded_counts* counts)
{
    for (;;) {
        const uint32_t token = *tokens++;
        switch (token >> PH_TOKEN_KIND_SHIFT) {
        case PH_TOKEN_SYMBOL:
            ++counts->seen[token];
            break;
        case PH_TOKEN_BITS:
            counts->raw_bits += token >> PH_TOKEN_BITS_MAX & PH_TOKEN_WIDTH_MASK;
            if ((token & PH_TOKEN_END) != 0) {
                return;
            }
            break;
        case PH_TOKEN_UNIFORM:
            counts->uniform256 += ph_tape_uniform_cost256(*tokens++);
            break;
        default:
            break;
        }
    }
}
