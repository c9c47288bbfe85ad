// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Symbols, raw bits and numbers of the pinhole profile, costed, put on a tape or read.

#include "wire/coder.h"

#include "wire/surprise.h"

#include <pinhole/integers.h>

#define UNIFORM_BITS_MAX 16
#define SIZE_PER_SCALE (PH_SIZE_PER_BIT / 2)
// No number is longer than 32 bits, so nothing is gained by splitting off more than 16.
#define SCALE_MAX (PH_SCALES - 1 + 2 * 16)

static bool has_model(const ph_coder* coder, ph_coded_family family)
{
    return !coder->is_universal || family == PH_FAMILY_TOLD;
}

uint32_t ph_coder_symbol_cost256(const ph_coder* coder, ph_coded_family family, int model,
                                 int symbol)
{
    const ph_coded_family_info* info = &ph_coded_families[family];
    if (has_model(coder, family)) {
        return ph_coded_costs[info->first + model * (info->symbols + 1) + symbol];
    }
    const int bits = info->symbols == 2 ? 1 : ph_gamma_cost_bits((uint32_t)symbol);
    return (uint32_t)bits * PH_COST_PER_BIT;
}

static uint32_t code_gamma(ph_coder* coder, uint32_t value)
{
    if (coder->reader != NULL) {
        return ph_gamma_read(&coder->reader->raw);
    }
    ph_coder_charge_bits(coder, ph_gamma_cost_bits(value));
    if (coder->tape != NULL) {
        uint8_t bytes[16];
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_gamma_write(&writer, value);
        ph_tape_append(coder->tape, &writer);
    }
    return value;
}

// The likelier symbols of a family stand in front.
static int universal_symbol(ph_coder* coder, int symbols, int symbol)
{
    if (symbols == 2) {
        return (int)ph_coder_raw(coder, (uint64_t)symbol, 1);
    }
    const uint32_t told = code_gamma(coder, (uint32_t)symbol);
    ph_coder_refuse_if(coder, told >= (uint32_t)symbols);
    return told < (uint32_t)symbols ? (int)told : 0;
}

int ph_coder_symbol_otherwise(ph_coder* coder, ph_coded_family family, int model, int symbol)
{
    const ph_coded_family_info* info = &ph_coded_families[family];
    PH_ASSERT(model >= 0 && model < info->models);
    if (!has_model(coder, family)) {
        return universal_symbol(coder, info->symbols, symbol);
    }
    const int first = info->first + model * (info->symbols + 1);
    if (coder->reader != NULL) {
        const ph_model table = {.cumulative = ph_coded_cumulative + first, .count = info->symbols};
        return ph_entropy_read(coder->reader, &table);
    }
    PH_ASSERT(symbol >= 0 && symbol < info->symbols);
    coder->cost256 += ph_coded_costs[first + symbol];
    if (coder->tape != NULL) {
        ph_tape_symbol(coder->tape, first + symbol);
    }
    return symbol;
}

uint64_t ph_coder_raw(ph_coder* coder, uint64_t value, int bits)
{
    if (coder->reader != NULL) {
        return ph_bits_read(&coder->reader->raw, bits);
    }
    ph_coder_charge_bits(coder, bits);
    if (coder->tape != NULL) {
        ph_tape_bits(coder->tape, value, bits);
    }
    return value;
}

static uint32_t few_uniform(ph_coder* coder, uint32_t value, uint32_t count)
{
    if (coder->reader != NULL) {
        return ph_entropy_read_uniform(coder->reader, count);
    }
    coder->cost256 += ph_tape_uniform_cost256(count);
    if (coder->tape != NULL) {
        ph_tape_uniform(coder->tape, value, count);
    }
    return value;
}

uint32_t ph_coder_uniform(ph_coder* coder, uint32_t value, uint32_t count)
{
    PH_ASSERT(count >= 1);

    const int width = ph_width_of(count - 1);
    const int low_bits = width > UNIFORM_BITS_MAX ? width - UNIFORM_BITS_MAX : 0;
    const uint32_t high_count = ((count - 1) >> low_bits) + 1;
    const uint32_t high = few_uniform(coder, value >> low_bits, high_count);
    const uint32_t low = (uint32_t)ph_coder_raw(coder, value, low_bits);
    const uint32_t low_mask = (UINT32_C(1) << low_bits) - 1;
    const uint32_t read = high << low_bits | (low & low_mask);
    ph_coder_refuse_if(coder, read >= count);
    return read < count ? read : 0;
}

uint64_t ph_coder_below_length(ph_coder* coder, int length, uint64_t value)
{
    if (length < 2) {
        return (uint64_t)length;
    }
    const uint64_t highest = UINT64_C(1) << (length - 1);
    return highest | (ph_coder_raw(coder, value, length - 1) & (highest - 1));
}

uint64_t ph_coder_length(ph_coder* coder, ph_coded_family family, int model, uint64_t value)
{
    const int length = ph_coder_symbol(coder, family, model, ph_width_of(value));
    return ph_coder_below_length(coder, length, value);
}

static uint64_t magnitude_of(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static int64_t with_sign(ph_coder* coder, uint64_t magnitude, bool is_negative)
{
    const bool has_sign = magnitude != 0 && ph_coder_raw(coder, is_negative ? 1 : 0, 1) != 0;
    return has_sign ? -(int64_t)magnitude : (int64_t)magnitude;
}

int64_t ph_coder_signed_length(ph_coder* coder, ph_coded_family family, int model, int64_t value)
{
    const uint64_t magnitude = ph_coder_length(coder, family, model, magnitude_of(value));
    return with_sign(coder, magnitude, value < 0);
}

// Exp-Golomb: what is above so many low bits by gamma.
static uint64_t universal_magnitude(ph_coder* coder, int low_bits, uint64_t value)
{
    const uint64_t high = code_gamma(coder, (uint32_t)(value >> low_bits));
    ph_coder_refuse_if(coder, high > UINT32_MAX >> low_bits);
    const uint64_t low = ph_coder_raw(coder, value, low_bits);
    return high << low_bits | (low & ((UINT64_C(1) << low_bits) - 1));
}

// Small ones as they are, larger ones by their length.
static uint64_t code_magnitude(ph_coder* coder, ph_coded_family family, int model, uint64_t value)
{
    if (coder->is_universal) {
        return universal_magnitude(coder, model / 2, value);
    }
    enum { DIRECT_BITS = 4 };
    _Static_assert(1 << DIRECT_BITS == PH_MAGNITUDES_DIRECT, "direct up to a length");
    const int given = value < PH_MAGNITUDES_DIRECT
                          ? (int)value
                          : PH_MAGNITUDES_DIRECT + ph_width_of(value) - 1 - DIRECT_BITS;
    const int symbol = ph_coder_symbol(coder, family, model, given);
    if (symbol < PH_MAGNITUDES_DIRECT) {
        return (uint64_t)symbol;
    }
    return ph_coder_below_length(coder, symbol - PH_MAGNITUDES_DIRECT + 1 + DIRECT_BITS, value);
}

int64_t ph_coder_surprise(ph_coder* coder, ph_coded_family family, int size, int64_t steps)
{
    int scale = size > 0 ? size / SIZE_PER_SCALE : 0;
    scale = scale < SCALE_MAX ? scale : SCALE_MAX;
    // Beyond the last scale: the last but one or the last, by whole bits.
    const int above = scale - (PH_SCALES - 1);
    const int shift = above > 0 ? (above + 1) / 2 : 0;
    const uint64_t magnitude = magnitude_of(steps);
    const uint64_t high = code_magnitude(coder, family, scale - 2 * shift, magnitude >> shift);
    const uint64_t low = ph_coder_raw(coder, magnitude, shift);
    const uint64_t low_mask = (UINT64_C(1) << shift) - 1;
    return with_sign(coder, high << shift | (low & low_mask), steps < 0);
}

// ---- bills

void ph_coder_mark(ph_coder* coder, int property)
{
    if (coder->tape != NULL) {
        ph_tape_mark(coder->tape, property);
    }
    if (coder->bill != NULL) {
        *ph_tape_billed(coder->bill, property) += coder->cost256 - coder->billed256;
    }
    coder->billed256 = coder->cost256;
}
