// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Numbers of a recording as symbols of adaptive models and raw bits. One function serves both ends: it writes
// the value that it is given, or reads one and returns it. So the two cannot disagree about an order. A few
// times for each value that changes.

#ifndef PH_JOURNAL_JOURNAL_CODER_H
#define PH_JOURNAL_JOURNAL_CODER_H

#include <pinhole/entropy.h>

// Lives where it was begun: the coders know their addresses.
typedef struct ph_journal_coder {
    bool is_reading;
    ph_entropy_writer writer;
    ph_entropy_reader reader;
} ph_journal_coder;

void ph_journal_coder_write(ph_journal_coder* coder, void* bytes, size_t capacity);
void ph_journal_coder_read(ph_journal_coder* coder, const void* bytes, size_t size);

// PH_OK, or the first failure; what was read since is 0.
ph_result ph_journal_coder_result(const ph_journal_coder* coder);

// A symbol of a model, which learns it.
int ph_journal_symbol(ph_journal_coder* coder, ph_adaptive* model, int symbol);

static inline bool ph_journal_flag(ph_journal_coder* coder, ph_adaptive* model, bool is_set)
{
    return ph_journal_symbol(coder, model, is_set ? 1 : 0) != 0;
}

// 0..64 raw bits.
uint64_t ph_journal_bits(ph_journal_coder* coder, uint64_t value, int width);

// One of count equally likely values. count is 1 or more.
uint32_t ph_journal_uniform(ph_journal_coder* coder, uint32_t value, uint32_t count);

// Any 64-bit number, small ones in few bits: a symbol for 0, 1, and each half of an octave up to 2,047,
// then raw bits; from 2,048 on the octave itself is raw, too. Models for it have so many symbols.
#define PH_JOURNAL_SIZE_SYMBOLS 23

uint64_t ph_journal_size(ph_journal_coder* coder, ph_adaptive* model, uint64_t value);

#endif
