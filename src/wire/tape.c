// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Recording and playing tokens, which tape.h describes. Raw bits of a record go to the other end of the packet than its symbols, so they are gathered and
// written at once.

#include "wire/tape.h"

#define VALUE_MASK 0xFFFFu
#define MARK_END 255u

_Static_assert(PH_CODED_ENTRIES <= 1 << 16, "an entry fits a token");

// ---- recording

void ph_tape_uniform(ph_tape* tape, uint32_t value, uint32_t count)
{
    PH_ASSERT(value < count && count <= UINT32_C(1) << PH_TOKEN_VALUE_BITS);

    ph_tape_put(tape, PH_TOKEN_UNIFORM, value);
    ph_tape_put(tape, 0, count);
}

void ph_tape_append(ph_tape* tape, ph_bit_writer* writer)
{
    const size_t size_bits = ph_bit_writer_size_bits(writer);
    const size_t size = ph_bit_writer_finish(writer);
    ph_bit_reader reader = ph_bit_reader_make(writer->bytes, size);
    for (size_t left = size_bits; left > 0;) {
        const int piece = left < PH_TOKEN_VALUE_BITS ? (int)left : PH_TOKEN_VALUE_BITS;
        ph_tape_bits(tape, ph_bits_read(&reader, piece), piece);
        left -= (size_t)piece;
    }
}

void ph_tape_end(ph_tape* tape)
{
    ph_tape_put(tape, PH_TOKEN_MARK, MARK_END);
}

// ---- playing

// Bits for the raw end. So many are kept back at most, and none is kept for long.
typedef struct gathering {
    uint64_t bits;
    int width;
} gathering;

static void flush(gathering* raw, ph_entropy_writer* writer)
{
    ph_bits_write(&writer->raw, raw->bits, raw->width);
    *raw = (gathering){0};
}

static void gather(gathering* raw, ph_entropy_writer* writer, uint32_t token)
{
    const int width = (int)(token >> PH_TOKEN_WIDTH_SHIFT & 31u);
    if (raw->width + width > 64) {
        flush(raw, writer);
    }
    raw->bits |= (uint64_t)(token & VALUE_MASK) << raw->width;
    raw->width += width;
}

static void count_symbol(ph_coded_counts* counts, uint32_t entry)
{
    if (counts != NULL) {
        ++counts->seen[entry];
    }
}

uint32_t ph_tape_uniform_cost256(uint32_t count)
{
    // Rounded to nearest there, never too little here; powers of two are exact.
    return ph_uniform_cost(count) + ((count & (count - 1)) != 0 ? 1 : 0);
}

uint32_t* ph_tape_billed(ph_bill* bill, int property)
{
    switch (property) {
    case PH_TAPE_WHO:
        return &bill->slot_bits;
    case PH_TAPE_MASK:
        return &bill->mask_bits;
    default:
        return &bill->property_bits[property];
    }
}

static void count_others(ph_coded_counts* counts, uint32_t raw_bits, uint32_t uniform256)
{
    if (counts != NULL) {
        counts->raw_bits += raw_bits;
        counts->uniform256 += uniform256;
    }
}

uint32_t ph_tape_play(const uint32_t* tokens, ph_entropy_writer* writer, ph_bill* bill,
                      ph_coded_counts* counts)
{
    gathering raw = {0};
    uint32_t raw_bits = 0;
    uint32_t uniform256 = 0;
    uint32_t cost256 = 0;
    uint32_t billed256 = 0;
    for (;;) {
        const uint32_t token = *tokens++;
        const uint32_t value = token & VALUE_MASK;
        switch (token >> PH_TOKEN_KIND_SHIFT) {
        case PH_TOKEN_SYMBOL:
            // An entry and the next one are all that a writer looks at.
            ph_entropy_write(writer,
                             &(ph_model){.cumulative = &ph_coded_cumulative[value], .count = 2}, 0);
            cost256 += ph_coded_costs[value];
            count_symbol(counts, value);
            break;
        case PH_TOKEN_BITS:
            gather(&raw, writer, token);
            raw_bits += token >> PH_TOKEN_WIDTH_SHIFT & 31u;
            cost256 += (token >> PH_TOKEN_WIDTH_SHIFT & 31u) * PH_COST_PER_BIT;
            break;
        case PH_TOKEN_UNIFORM:
            ph_entropy_write_uniform(writer, value, *tokens);
            uniform256 += ph_tape_uniform_cost256(*tokens);
            cost256 += ph_tape_uniform_cost256(*tokens++);
            break;
        default:
            if (value == MARK_END) {
                flush(&raw, writer);
                count_others(counts, raw_bits, uniform256);
                return cost256;
            }
            if (bill != NULL) {
                *ph_tape_billed(bill, (int)value) = cost256 - billed256;
            }
            billed256 = cost256;
            break;
        }
    }
}
