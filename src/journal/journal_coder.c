// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A symbol costs some 30 ns, most of which is learning.

#include "journal/journal_coder.h"

#include "base/math.h"

void ph_journal_coder_write(ph_journal_coder* coder, void* bytes, size_t capacity)
{
    coder->is_reading = false;
    ph_entropy_writer_init(&coder->writer, bytes, capacity);
}

void ph_journal_coder_read(ph_journal_coder* coder, const void* bytes, size_t size)
{
    coder->is_reading = true;
    ph_entropy_reader_init(&coder->reader, bytes, size);
}

ph_result ph_journal_coder_result(const ph_journal_coder* coder)
{
    return coder->is_reading ? ph_entropy_reader_result(&coder->reader)
                             : ph_entropy_writer_result(&coder->writer);
}

int ph_journal_symbol(ph_journal_coder* coder, ph_adaptive* model, int symbol)
{
    const ph_model now = ph_adaptive_model(model);
    if (coder->is_reading) {
        symbol = ph_entropy_read(&coder->reader, &now);
    } else {
        ph_entropy_write(&coder->writer, &now, symbol);
    }
    ph_adaptive_learn(model, symbol);
    return symbol;
}

static uint64_t some_bits(ph_journal_coder* coder, uint64_t value, int width)
{
    if (coder->is_reading) {
        return ph_bits_read(&coder->reader.raw, width);
    }
    ph_bits_write(&coder->writer.raw, value & ((UINT64_C(1) << width) - 1), width);
    return value;
}

uint64_t ph_journal_bits(ph_journal_coder* coder, uint64_t value, int width)
{
    if (width == 0) {
        return 0;
    }
    if (width <= 32) {
        return some_bits(coder, value, width);
    }
    const uint64_t low = some_bits(coder, value & UINT32_MAX, 32);
    return some_bits(coder, value >> 32, width - 32) << 32 | low;
}

uint32_t ph_journal_uniform(ph_journal_coder* coder, uint32_t value, uint32_t count)
{
    if (coder->is_reading) {
        return ph_entropy_read_uniform(&coder->reader, count);
    }
    ph_entropy_write_uniform(&coder->writer, value, count);
    return value;
}

// ---- numbers of any size

//   symbol   0  1  2  3  4    5    6     7     8      ...  21            22
//   value    0  1  2  3  4,5  6,7  8-11  12-15 16-23       1536-2047     2048 and more
enum { LAST_HALF = PH_JOURNAL_SIZE_SYMBOLS - 2, HALVED_OCTAVES = 11 };

static int symbol_of(uint64_t value)
{
    if (value < 2) {
        return (int)value;
    }
    const int octave = ph_word_width(value) - 1;
    return octave < HALVED_OCTAVES ? 2 * octave + (int)(value >> (octave - 1) & 1) : LAST_HALF + 1;
}

uint64_t ph_journal_size(ph_journal_coder* coder, ph_adaptive* model, uint64_t value)
{
    const int symbol = ph_journal_symbol(coder, model, coder->is_reading ? 0 : symbol_of(value));
    if (symbol < 4) {
        return (uint64_t)symbol;
    }
    if (symbol <= LAST_HALF) {
        const int octave = symbol / 2;
        const uint64_t base = (uint64_t)(2 + symbol % 2) << (octave - 1);
        return base | ph_journal_bits(coder, value & ~base, octave - 1);
    }
    const int octave =
        (int)ph_journal_bits(coder, coder->is_reading ? 0 : (uint64_t)ph_word_width(value) - 1, 6);
    const uint64_t base = UINT64_C(1) << octave;
    return base | ph_journal_bits(coder, value & ~base, octave);
}
