// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One way through a record for three purposes: what would it cost, what is to be written (on a tape,
// tape.h), read it. Every function takes the value to write and returns the value that stands there,
// so cost, writer and reader cannot come apart. While reading, what is given does not matter; after a
// failure zeros are read.
//
// A universal coder knows no tables (but for who is told, which the header states): a symbol is its
// number by gamma, at the raw end, a surprise Exp-Golomb by its expected size. Whole bits, the same in
// every game: what is left of the pinhole profile when its models are taken away.
//
// Several calls per record; nothing allocates.

#ifndef PH_WIRE_CODER_H
#define PH_WIRE_CODER_H

#include "base/inline.h"
#include "wire/surprise.h"
#include "wire/tape.h"

// With neither tape nor reader it adds up costs.
typedef struct ph_coder {
    ph_tape tape; // {0}: none
    ph_entropy_reader* reader;
    ph_bill* bill; // not while reading: may be NULL; in 1/256 bit, added to
    bool is_universal;
    bool is_taping;     // a tape for symbols of the models: the way that runs most
    uint32_t cost256;   // never less than what is written takes
    uint32_t billed256; // of that
} ph_coder;

// The way that runs most is one function as a whole, with its coder, the tape in it, in registers:
// what it consists of is always inline. All else works on a copy, and what became of that is taken over;
// so what a coder is for stays known.
//
// The tape goes on where it is; ph_coder_end_tape() tells it how far that was.
PH_ALWAYS_INLINE ph_coder ph_coder_make_tape(const ph_tape* tape, bool is_universal)
{
    return (ph_coder){.tape = {.next = tape->next, .end = tape->end, .is_full = tape->is_full},
                      .is_universal = is_universal,
                      .is_taping = !is_universal};
}

PH_ALWAYS_INLINE void ph_coder_end_tape(ph_coder* coder, ph_tape* tape)
{
    ph_tape_end(&coder->tape);
    tape->next = coder->tape.next;
    tape->is_full = coder->tape.is_full;
}

// One by one: a struct that is copied as a whole is in memory as a whole.
PH_ALWAYS_INLINE ph_coder ph_coder_copy(const ph_coder* coder)
{
    const ph_tape* tape = &coder->tape;
    return (ph_coder){.tape = {.next = tape->next,
                               .end = tape->end,
                               .is_full = tape->is_full,
                               .gathered_bits = tape->gathered_bits,
                               .gathered = tape->gathered},
                      .reader = coder->reader,
                      .bill = coder->bill,
                      .is_universal = coder->is_universal,
                      .is_taping = coder->is_taping,
                      .cost256 = coder->cost256,
                      .billed256 = coder->billed256};
}

PH_ALWAYS_INLINE void ph_coder_take(ph_coder* coder, const ph_coder* copy)
{
    coder->tape.next = copy->tape.next;
    coder->tape.is_full = copy->tape.is_full;
    coder->tape.gathered_bits = copy->tape.gathered_bits;
    coder->tape.gathered = copy->tape.gathered;
    coder->cost256 = copy->cost256;
    coder->billed256 = copy->billed256;
}

PH_ALWAYS_INLINE bool ph_coder_has_tape(const ph_coder* coder)
{
    return coder->is_taping || coder->tape.end != NULL;
}

PH_ALWAYS_INLINE bool ph_coder_is_reading(const ph_coder* coder)
{
    return coder->reader != NULL;
}

// For bits that other modules read and write at the raw end.
PH_ALWAYS_INLINE void ph_coder_charge_bits(ph_coder* coder, int bits)
{
    coder->cost256 += (uint32_t)bits * PH_COST_PER_BIT;
}

// What no sender writes.
PH_ALWAYS_INLINE void ph_coder_refuse_if(ph_coder* coder, bool is_wrong)
{
    if (is_wrong && coder->reader != NULL) {
        ph_bit_reader_fail(&coder->reader->raw, PH_ERROR_VALUE);
    }
}

// ---- symbols

// What a symbol takes, in 1/256 bit.
uint32_t ph_coder_symbol_cost256(const ph_coder* coder, ph_coded_family family, int model,
                                 int symbol);

PH_ALWAYS_INLINE bool ph_coder_has_model(bool is_universal, ph_coded_family family)
{
    return !is_universal || family == PH_FAMILY_TOLD;
}

// A symbol of one model of a family, that has so many symbols.
int ph_coder_read_symbol(ph_entropy_reader* reader, bool is_universal, ph_coded_family family,
                         int model);
void ph_coder_tell_universal(ph_coder* coder, ph_coded_family family, int symbol);
PH_ALWAYS_INLINE void ph_coder_tell_entry(ph_coder* coder, uint32_t entry)
{
    coder->cost256 += ph_coded_costs[entry];
    if (ph_coder_has_tape(coder)) {
        ph_tape_symbol(&coder->tape, entry);
    }
}

PH_ALWAYS_INLINE int ph_coder_symbol_of(ph_coder* coder, ph_coded_family family, int symbols,
                                        int model, int symbol)
{
    if (coder->reader != NULL) {
        return ph_coder_read_symbol(coder->reader, coder->is_universal, family, model);
    }
    PH_ASSERT(model >= 0 && model < ph_coded_families[family].models);
    PH_ASSERT(symbols == ph_coded_families[family].symbols);
    PH_ASSERT(symbol >= 0 && symbol < symbols);
    if (!ph_coder_has_model(coder->is_universal, family)) {
        ph_coder copy = ph_coder_copy(coder);
        ph_coder_tell_universal(&copy, family, symbol);
        ph_coder_take(coder, &copy);
        return symbol;
    }
    ph_coder_tell_entry(coder, ph_coded_first(family) + (uint32_t)(model * (symbols + 1) + symbol));
    return symbol;
}

PH_ALWAYS_INLINE int ph_coder_symbol(ph_coder* coder, ph_coded_family family, int model, int symbol)
{
    return ph_coder_symbol_of(coder, family, ph_coded_families[family].symbols, model, symbol);
}

PH_ALWAYS_INLINE bool ph_coder_flag(ph_coder* coder, ph_coded_family family, int model, bool is_set)
{
    return ph_coder_symbol(coder, family, model, is_set ? 1 : 0) != 0;
}

// One of count equally likely values, count >= 1. Above 2^16 low bits go to the raw end, where they
// lose nothing to rounding.
uint32_t ph_coder_uniform(ph_coder* coder, uint32_t value, uint32_t count);

// ---- raw bits

// 0..64 bits at the raw end.
PH_ALWAYS_INLINE uint64_t ph_coder_raw(ph_coder* coder, uint64_t value, int bits)
{
    if (coder->reader != NULL) {
        return ph_bits_read(&coder->reader->raw, bits);
    }
    ph_coder_charge_bits(coder, bits);
    if (ph_coder_has_tape(coder)) {
        ph_tape_bits(&coder->tape, value, bits);
    }
    return value;
}

// ---- numbers

// The rest of a number whose length is told already.
PH_ALWAYS_INLINE uint64_t ph_coder_below_length(ph_coder* coder, int length, uint64_t value)
{
    if (length < 2) {
        return (uint64_t)length;
    }
    const uint64_t highest = UINT64_C(1) << (length - 1);
    return highest | (ph_coder_raw(coder, value, length - 1) & (highest - 1));
}

// A number by its length in bits as a symbol, then what follows its highest bit. Lengths up to
// the family's last symbol; `symbols` of them are lengths.
uint64_t ph_coder_length(ph_coder* coder, ph_coded_family family, int model, uint64_t value);

PH_ALWAYS_INLINE uint64_t ph_coder_magnitude_of(int64_t value)
{
    const uint64_t sign = 0 - (uint64_t)(value < 0);
    return ((uint64_t)value ^ sign) - sign;
}

PH_ALWAYS_INLINE int64_t ph_coder_with_sign(ph_coder* coder, uint64_t magnitude, bool is_negative)
{
    const bool has_sign = magnitude != 0 && ph_coder_raw(coder, is_negative ? 1 : 0, 1) != 0;
    return has_sign ? -(int64_t)magnitude : (int64_t)magnitude;
}

// The same with a sign; 0 has none.
int64_t ph_coder_signed_length(ph_coder* coder, ph_coded_family family, int model, int64_t value);

// Small ones as they are, larger ones by their length.
PH_ALWAYS_INLINE int ph_coder_magnitude_symbol(uint64_t value)
{
    enum { DIRECT_BITS = 4 };
    _Static_assert(1 << DIRECT_BITS == PH_MAGNITUDES_DIRECT, "direct up to a length");
    return PH_LIKELY(value < PH_MAGNITUDES_DIRECT)
               ? (int)value
               : PH_MAGNITUDES_DIRECT + ph_word_width(value) - 1 - DIRECT_BITS;
}

// Universal: Exp-Golomb.
uint64_t ph_coder_magnitude(ph_coder* coder, ph_coded_family family, int model, uint64_t value);

// Magnitude and sign, of a model that there is, on a tape: what most records mostly consist of. Whether
// a number is negative is as good as random: so that is no branch.
PH_ALWAYS_INLINE void ph_coder_tape_surprise(ph_coder* coder, uint32_t first, int model,
                                             int64_t value)
{
    const uint64_t magnitude = ph_coder_magnitude_of(value);
    const uint32_t sign = value < 0 ? 1 : 0;
    const int symbol = ph_coder_magnitude_symbol(magnitude);
    ph_coder_tell_entry(coder, first + (uint32_t)(model * (PH_MAGNITUDES + 1) + symbol));
    if (PH_LIKELY(magnitude < PH_MAGNITUDES_DIRECT)) {
        const int sign_bits = magnitude != 0 ? 1 : 0;
        ph_coder_charge_bits(coder, sign_bits);
        ph_tape_bit(&coder->tape, sign, sign_bits);
    } else {
        ph_coder_below_length(coder, ph_word_width(magnitude), magnitude);
        ph_coder_raw(coder, sign, 1);
    }
}

// A surprise of about this size (1/8 bit, may be negative), -2^31..2^31. Families with PH_SCALES
// models; first: what ph_coded_first() says of it. Beyond the last scale it is told by whole bits.
#define PH_SIZE_PER_SCALE (PH_SIZE_PER_BIT / 2)
int64_t ph_coder_any_surprise(ph_coder* coder, ph_coded_family family, int scale, int64_t steps);
PH_ALWAYS_INLINE int64_t ph_coder_surprise(ph_coder* coder, ph_coded_family family, uint32_t first,
                                           int size, int64_t steps)
{
    PH_ASSERT(first == ph_coded_first(family));
    const int positive = size > 0 ? size : 0;
    const int scale = positive / PH_SIZE_PER_SCALE;
    if (coder->is_taping && PH_LIKELY(scale < PH_SCALES)) {
        ph_coder_tape_surprise(coder, first, scale, steps);
        return steps;
    }
    ph_coder copy = ph_coder_copy(coder);
    const int64_t told = ph_coder_any_surprise(&copy, family, scale, steps);
    ph_coder_take(coder, &copy);
    return told;
}

// ---- bills

// All since the last mark was for this property, PH_TAPE_MASK or PH_TAPE_WHO.
PH_ALWAYS_INLINE void ph_coder_mark(ph_coder* coder, int property)
{
    const uint32_t since256 = coder->cost256 - coder->billed256;
    if (ph_coder_has_tape(coder)) {
        ph_tape_mark(&coder->tape, property, since256);
    }
    if (coder->bill != NULL) {
        coder->bill->parts[property] += since256;
    }
    coder->billed256 = coder->cost256;
}

#endif
