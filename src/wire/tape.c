// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Recording and playing tokens, which tape.h describes.

#include "wire/tape.h"

#include "bits/narrow.h"

#define VALUE_BITS 16
#define VALUE_MASK 0xFFFFu
#define BITS_MASK ((UINT32_C(1) << PH_TOKEN_BITS_MAX) - 1)
#define WIDTH_MASK 63u
#define COST_MASK ((UINT32_C(1) << PH_TOKEN_COST_BITS) - 1)
#define MARK_MASK 127u
#define MARK_END 127u

_Static_assert(PH_CODED_ENTRIES <= 1 << VALUE_BITS, "an entry fits a token");
_Static_assert(PH_TAPE_WHO < MARK_END, "every mark is another one");

// ---- recording

void ph_tape_uniform(ph_tape* tape, uint32_t value, uint32_t count)
{
    PH_ASSERT(value < count && count <= UINT32_C(1) << VALUE_BITS);

    ph_tape_put(tape, PH_TOKEN_UNIFORM, value);
    ph_tape_put(tape, 0, count);
}

void ph_tape_put_bits(ph_tape* tape)
{
    const int width =
        tape->gathered_bits < PH_TOKEN_BITS_MAX ? tape->gathered_bits : PH_TOKEN_BITS_MAX;
    const uint32_t bits = (uint32_t)tape->gathered & BITS_MASK;
    ph_tape_put(tape, PH_TOKEN_BITS, (uint32_t)width << PH_TOKEN_BITS_MAX | bits);
    tape->gathered >>= width;
    tape->gathered_bits -= width;
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

void ph_tape_put_marks(ph_tape* tape)
{
    for (int i = 0; i < tape->mark_count; ++i) {
        ph_tape_put(tape, PH_TOKEN_MARK, tape->marks[i]);
    }
    tape->mark_count = 0;
}

void ph_tape_end(ph_tape* tape, uint32_t cost256)
{
    PH_ASSERT(cost256 >> PH_TOKEN_COST_BITS == 0);

    if (tape->gathered_bits > 0) {
        ph_tape_put_bits(tape);
    }
    ph_tape_put_marks(tape);
    ph_tape_put(tape, PH_TOKEN_MARK, MARK_END << PH_TOKEN_COST_BITS | cost256);
}

// ---- playing

void ph_raw_bits_flush(ph_raw_bits* raw, ph_entropy_writer* writer)
{
    ph_bits_write(&writer->raw, raw->bits, raw->width);
    *raw = (ph_raw_bits){0};
}

static void gather(ph_raw_bits* raw, ph_entropy_writer* writer, uint32_t token)
{
    const int width = (int)(token >> PH_TOKEN_BITS_MAX & WIDTH_MASK);
    if (raw->width + width > 64) {
        ph_raw_bits_flush(raw, writer);
    }
    raw->bits |= (uint64_t)(token & BITS_MASK) << raw->width;
    raw->width += width;
}

uint32_t ph_tape_uniform_cost256(uint32_t count)
{
    // Rounded to nearest there, never too little here; powers of two are exact.
    return ph_uniform_cost(count) + ((count & (count - 1)) != 0 ? 1 : 0);
}

// What was said how often. Only tables that are learned ask for it.
static void count_tokens(const uint32_t* tokens, ph_coded_counts* counts)
{
    for (;;) {
        const uint32_t token = *tokens++;
        switch (token >> PH_TOKEN_KIND_SHIFT) {
        case PH_TOKEN_SYMBOL:
            ++counts->seen[token];
            break;
        case PH_TOKEN_BITS:
            counts->raw_bits += token >> PH_TOKEN_BITS_MAX & WIDTH_MASK;
            break;
        case PH_TOKEN_UNIFORM:
            counts->uniform256 += ph_tape_uniform_cost256(*tokens++);
            break;
        default:
            if ((token >> PH_TOKEN_COST_BITS & MARK_MASK) == MARK_END) {
                return;
            }
            break;
        }
    }
}

uint32_t ph_tape_play(const uint32_t* tokens, ph_entropy_writer* writer, ph_raw_bits* raw,
                      ph_bill* bill, ph_coded_counts* counts)
{
    if (counts != NULL) {
        count_tokens(tokens, counts);
    }
    for (;;) {
        tokens = ph_entropy_write_entries(writer, ph_coded_cumulative, tokens, PH_TOKEN_SYMBOLS);
        const uint32_t token = *tokens++;
        switch (token >> PH_TOKEN_KIND_SHIFT) {
        case PH_TOKEN_BITS:
            gather(raw, writer, token);
            break;
        case PH_TOKEN_UNIFORM:
            ph_entropy_write_uniform(writer, token & VALUE_MASK, *tokens++);
            break;
        default: {
            const uint32_t marked = token >> PH_TOKEN_COST_BITS & MARK_MASK;
            if (marked == MARK_END) {
                return token & COST_MASK;
            }
            if (bill != NULL) {
                *ph_tape_billed(bill, (int)marked) = token & COST_MASK;
            }
            break;
        }
        }
    }
}
