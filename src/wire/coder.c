// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Symbols, raw bits and numbers of the pinhole profile, costed, put on a tape or read.

#include "wire/coder.h"

#include <pinhole/integers.h>

#define UNIFORM_BITS_MAX 16

uint32_t ph_coder_symbol_cost256(const ph_coder* coder, ph_coded_family family, int model,
                                 int symbol)
{
    const ph_coded_family_info* info = &ph_coded_families[family];
    if (ph_coder_has_model(coder->is_universal, family)) {
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
    if (ph_coder_has_tape(coder)) {
        uint8_t bytes[16];
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_gamma_write(&writer, value);
        ph_tape_append(&coder->tape, &writer);
    }
    return value;
}

int ph_coder_read_symbol(ph_entropy_reader* reader, bool is_universal, ph_coded_family family,
                         int model)
{
    const ph_coded_family_info* info = &ph_coded_families[family];
    PH_ASSERT(model >= 0 && model < info->models);
    if (ph_coder_has_model(is_universal, family)) {
        const int first = info->first + model * (info->symbols + 1);
        const ph_model table = {.cumulative = ph_coded_cumulative + first, .count = info->symbols};
        return ph_entropy_read(reader, &table);
    }
    if (info->symbols == 2) {
        return (int)ph_bits_read(&reader->raw, 1);
    }
    const uint32_t told = ph_gamma_read(&reader->raw);
    if (told >= info->symbols) {
        ph_bit_reader_fail(&reader->raw, PH_ERROR_VALUE);
        return 0;
    }
    return (int)told;
}

void ph_coder_tell_universal(ph_coder* coder, ph_coded_family family, int symbol)
{
    if (ph_coded_families[family].symbols == 2) {
        ph_coder_raw(coder, (uint64_t)symbol, 1);
    } else {
        code_gamma(coder, (uint32_t)symbol); // the likelier symbols of a family stand in front
    }
}

static uint32_t few_uniform(ph_coder* coder, uint32_t value, uint32_t count)
{
    if (coder->reader != NULL) {
        return ph_entropy_read_uniform(coder->reader, count);
    }
    coder->cost256 += ph_tape_uniform_cost256(count);
    if (ph_coder_has_tape(coder)) {
        ph_tape_uniform(&coder->tape, value, count);
    }
    return value;
}

uint32_t ph_coder_uniform(ph_coder* coder, uint32_t value, uint32_t count)
{
    PH_ASSERT(count >= 1);

    const int width = ph_word_width(count - 1);
    const int low_bits = width > UNIFORM_BITS_MAX ? width - UNIFORM_BITS_MAX : 0;
    const uint32_t high_count = ((count - 1) >> low_bits) + 1;
    const uint32_t high = few_uniform(coder, value >> low_bits, high_count);
    const uint32_t low = (uint32_t)ph_coder_raw(coder, value, low_bits);
    const uint32_t low_mask = (UINT32_C(1) << low_bits) - 1;
    const uint32_t read = high << low_bits | (low & low_mask);
    ph_coder_refuse_if(coder, read >= count);
    return read < count ? read : 0;
}

uint64_t ph_coder_length(ph_coder* coder, ph_coded_family family, int model, uint64_t value)
{
    const int length = ph_coder_symbol(coder, family, model, ph_word_width(value));
    return ph_coder_below_length(coder, length, value);
}

int64_t ph_coder_signed_length(ph_coder* coder, ph_coded_family family, int model, int64_t value)
{
    const uint64_t magnitude = ph_coder_length(coder, family, model, ph_coder_magnitude_of(value));
    return ph_coder_with_sign(coder, magnitude, value < 0);
}

// Exp-Golomb: what is above so many low bits by gamma.
static uint64_t universal_magnitude(ph_coder* coder, int low_bits, uint64_t value)
{
    const uint64_t high = code_gamma(coder, (uint32_t)(value >> low_bits));
    ph_coder_refuse_if(coder, high > UINT32_MAX >> low_bits);
    const uint64_t low = ph_coder_raw(coder, value, low_bits);
    return high << low_bits | (low & ((UINT64_C(1) << low_bits) - 1));
}

uint64_t ph_coder_magnitude(ph_coder* coder, ph_coded_family family, int model, uint64_t value)
{
    if (coder->is_universal) {
        return universal_magnitude(coder, model / 2, value);
    }
    const int symbol =
        ph_coder_symbol_of(coder, family, PH_MAGNITUDES, model, ph_coder_magnitude_symbol(value));
    if (symbol < PH_MAGNITUDES_DIRECT) {
        return (uint64_t)symbol;
    }
    return ph_coder_below_length(
        coder, symbol - PH_MAGNITUDES_DIRECT + ph_word_width(PH_MAGNITUDES_DIRECT), value);
}

// The last scale but one or the last.
static int64_t great_surprise(ph_coder* coder, ph_coded_family family, int scale, int64_t steps)
{
    // No number is longer than 32 bits, so nothing is gained by splitting off more than 16.
    enum { SCALE_MAX = PH_SCALES - 1 + 2 * 16 };
    scale = scale < SCALE_MAX ? scale : SCALE_MAX;
    const int shift = (scale - (PH_SCALES - 1) + 1) / 2;
    const uint64_t magnitude = ph_coder_magnitude_of(steps);
    const uint64_t high = ph_coder_magnitude(coder, family, scale - 2 * shift, magnitude >> shift);
    const uint64_t low = ph_coder_raw(coder, magnitude, shift);
    const uint64_t low_mask = (UINT64_C(1) << shift) - 1;
    return ph_coder_with_sign(coder, high << shift | (low & low_mask), steps < 0);
}

int64_t ph_coder_any_surprise(ph_coder* coder, ph_coded_family family, int scale, int64_t steps)
{
    if (scale >= PH_SCALES) {
        return great_surprise(coder, family, scale, steps);
    }
    const uint64_t told = ph_coder_magnitude(coder, family, scale, ph_coder_magnitude_of(steps));
    return ph_coder_with_sign(coder, told, steps < 0);
}
