// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Tokens of the symbol buffer, and the coder's symbols, raw bits and numbers, costed, put into a symbol
// buffer or read: what is not inline in symbols.h.

#include "packet/symbols.h"

#include "bits/entropy_run.h"

#include <pinhole/integers.h>

#include <stddef.h>

#define UNIFORM_BITS_MAX 16

_Static_assert(PH_PINHOLE_ENTRIES <= PH_TOKEN_VALUE_MASK + 1, "an entry fits a token");

_Static_assert(PH_SYMBOL_BUFFER_WHO <= PH_TOKEN_MARK_MASK, "every mark is another one");

// ---- the symbol buffer

ph_symbol_buffer ph_symbol_buffer_make(uint32_t* tokens, int capacity)
{
    return (ph_symbol_buffer){.next = tokens, .end = tokens + capacity};
}

void ph_symbol_buffer_rewind(ph_symbol_buffer* symbols, uint32_t* begun)
{
    *symbols = (ph_symbol_buffer){.next = begun, .end = symbols->end};
}

void ph_symbol_buffer_uniform(ph_symbol_buffer* symbols, uint32_t value, uint32_t count)
{
    PH_ASSERT(value < count && count <= PH_TOKEN_VALUE_MASK + 1);

    ph_symbol_buffer_put(symbols, PH_TOKEN_UNIFORM, value);
    ph_symbol_buffer_put(symbols, 0, count);
}

void ph_symbol_buffer_append(ph_symbol_buffer* symbols, ph_bit_writer* writer)
{
    const size_t size_bits = ph_bit_writer_size_bits(writer);
    const size_t size = ph_bit_writer_finish(writer);
    ph_bit_reader reader = ph_bit_reader_make(writer->bytes, size);
    for (size_t left = size_bits; left > 0;) {
        const int piece = left < 32 ? (int)left : 32;
        ph_symbol_buffer_bits(symbols, ph_bits_read(&reader, piece), piece);
        left -= (size_t)piece;
    }
}

// ---- playing

void ph_symbol_player_begin(ph_symbol_player* player, const ph_model_set* models,
                            ph_entropy_writer* writer)
{
    player->writer = writer;
    player->cumulative = models->cumulative;
    player->raw = 0;
    player->raw_bits = 0;
    player->entry_count = 0;
}

static void write_entries(ph_symbol_player* player)
{
    if (player->entry_count == 0) {
        return;
    }
    ph_entropy_write_entries(player->writer, player->cumulative, player->entries,
                             player->entry_count);
    player->entry_count = 0;
}

void ph_symbol_player_end(ph_symbol_player* player)
{
    write_entries(player);
    ph_bits_write(&player->writer->raw, player->raw, player->raw_bits);
    player->raw = 0;
    player->raw_bits = 0;
}

void ph_symbol_player_put(ph_symbol_player* player, int entry)
{
    if (PH_UNLIKELY(player->entry_count == PH_SYMBOL_PLAYER_ENTRIES)) {
        write_entries(player);
    }
    player->entries[player->entry_count++] = (uint16_t)entry;
}

static void add_cost(ph_symbol_buffer_costs* costs, uint32_t mark)
{
    const int number = (int)(mark >> PH_TOKEN_COST_BITS & PH_TOKEN_MARK_MASK);
    const uint32_t cost256 = mark & ((UINT32_C(1) << PH_TOKEN_COST_BITS) - 1);
    if (number < PH_SYMBOL_BUFFER_MASK) {
        costs->properties256[number] += cost256;
    } else {
        costs->others256[number - PH_SYMBOL_BUFFER_MASK] += cost256;
    }
}

// Few records have more than symbols, marks and an end.
void ph_symbol_player_play(ph_symbol_player* player, const uint32_t* tokens,
                           ph_symbol_buffer_costs* costs)
{
    for (;;) {
        const uint32_t token = *tokens++;
        if (token < PH_TOKEN_SYMBOLS) {
            ph_symbol_player_put(player, (int)token);
        } else if (token >= PH_TOKEN_MARKS) {
            if (costs != NULL) {
                add_cost(costs, token);
            }
        } else if (PH_UNLIKELY(token >= PH_TOKEN_UNIFORMS)) {
            write_entries(player);
            ph_entropy_write_uniform(player->writer, token & PH_TOKEN_VALUE_MASK, *tokens++);
        } else {
            const uint32_t bits = token & ((UINT32_C(1) << PH_TOKEN_BITS_MAX) - 1);
            const int width = (int)(token >> PH_TOKEN_BITS_MAX & PH_TOKEN_WIDTH_MASK);
            if (PH_UNLIKELY(player->raw_bits + width >= 64)) {
                ph_symbol_player_end(player);
            }
            player->raw |= (uint64_t)bits << player->raw_bits;
            player->raw_bits += width;
            if ((token & PH_TOKEN_END) != 0) {
                return;
            }
        }
    }
}

// ---- what tokens cost

uint32_t ph_symbol_buffer_uniform_cost256(uint32_t count)
{
    // Rounded to nearest there, never too little here; powers of two are exact.
    return ph_uniform_cost(count) + ((count & (count - 1)) != 0 ? 1 : 0);
}

// A mark is the index of a part in the bit statistics.
_Static_assert(offsetof(ph_record_bits, parts[PH_SYMBOL_BUFFER_MASK]) ==
                       offsetof(ph_record_bits, mask_bits) &&
                   offsetof(ph_record_bits, parts[PH_SYMBOL_BUFFER_WHO]) ==
                       offsetof(ph_record_bits, slot_bits),
               "behind the properties");

void ph_symbol_buffer_add_stats(const uint32_t* tokens, ph_record_bits* stats)
{
    for (;; ++tokens) {
        const uint32_t kind = *tokens >> PH_TOKEN_KIND_SHIFT;
        if (kind == PH_TOKEN_MARK) {
            stats->parts[*tokens >> PH_TOKEN_COST_BITS & PH_TOKEN_MARK_MASK] +=
                *tokens & ((UINT32_C(1) << PH_TOKEN_COST_BITS) - 1);
        } else if (kind == PH_TOKEN_UNIFORM) {
            ++tokens;
        } else if (kind == PH_TOKEN_BITS && (*tokens & PH_TOKEN_END) != 0) {
            return;
        }
    }
}

void ph_symbol_buffer_count(const uint32_t* tokens, ph_pinhole_counts* counts)
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
            counts->uniform256 += ph_symbol_buffer_uniform_cost256(*tokens++);
            break;
        default:
            break;
        }
    }
}

// ---- symbols

static bool has_model(bool is_universal, ph_pinhole_family family)
{
    return !is_universal || family == PH_FAMILY_TOLD;
}

uint32_t ph_coder_symbol_cost256(const ph_coder* coder, ph_pinhole_family family, int model,
                                 int symbol)
{
    const ph_pinhole_family_info* info = &ph_pinhole_families[family];
    if (has_model(coder->is_universal, family)) {
        return coder->costs[info->first + model * (info->symbols + 1) + symbol];
    }
    const int bits = info->symbols == 2 ? 1 : ph_gamma_cost_bits((uint32_t)symbol);
    return (uint32_t)bits * PH_COST_PER_BIT;
}

static uint32_t code_gamma(ph_coder* coder, uint32_t value)
{
    if (coder->reader != NULL) {
        return ph_gamma_read(&coder->reader->raw);
    }
    coder->cost256 += (uint32_t)ph_gamma_cost_bits(value) * PH_COST_PER_BIT;
    if (ph_coder_has_buffer(coder)) {
        uint8_t bytes[16];
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_gamma_write(&writer, value);
        ph_symbol_buffer_append(&coder->symbols, &writer);
    }
    return value;
}

static int read_entry(const ph_coder* coder, int first, int symbols)
{
    const ph_model table = {.cumulative = coder->cumulative + first, .count = (uint16_t)symbols};
    return ph_entropy_read(coder->reader, &table);
}

int ph_coder_own_symbol(ph_coder* coder, int first, int symbols, int symbol)
{
    if (coder->reader != NULL) {
        return read_entry(coder, first, symbols);
    }
    PH_ASSERT(symbol >= 0 && symbol < symbols);
    coder->cost256 += coder->costs[first + symbol];
    if (ph_coder_has_buffer(coder)) {
        ph_symbol_buffer_put(&coder->symbols, PH_TOKEN_SYMBOL, (uint32_t)(first + symbol));
    }
    return symbol;
}

int ph_coder_read_symbol(const ph_coder* coder, ph_pinhole_family family, int model)
{
    ph_entropy_reader* reader = coder->reader;
    const ph_pinhole_family_info* info = &ph_pinhole_families[family];
    PH_ASSERT(model >= 0 && model < info->models);
    if (has_model(coder->is_universal, family)) {
        return read_entry(coder, info->first + model * (info->symbols + 1), info->symbols);
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

void ph_coder_tell_universal(ph_coder* coder, ph_pinhole_family family, int symbol)
{
    if (ph_pinhole_families[family].symbols == 2) {
        ph_coder_raw(coder, (uint64_t)symbol, 1);
    } else {
        code_gamma(coder, (uint32_t)symbol); // the likelier symbols of a family stand in front
    }
}

uint32_t ph_coder_uniform(ph_coder* coder, uint32_t value, uint32_t count)
{
    PH_ASSERT(count >= 1);

    const int width = ph_word_width(count - 1);
    const int low_bits = width > UNIFORM_BITS_MAX ? width - UNIFORM_BITS_MAX : 0;
    const uint32_t high_count = ((count - 1) >> low_bits) + 1;
    uint32_t high = value >> low_bits;
    if (coder->reader != NULL) {
        high = ph_entropy_read_uniform(coder->reader, high_count);
    } else {
        coder->cost256 += ph_symbol_buffer_uniform_cost256(high_count);
        if (ph_coder_has_buffer(coder)) {
            ph_symbol_buffer_uniform(&coder->symbols, high, high_count);
        }
    }
    const uint32_t low = (uint32_t)ph_coder_raw(coder, value, low_bits);
    const uint32_t low_mask = (UINT32_C(1) << low_bits) - 1;
    const uint32_t read = high << low_bits | (low & low_mask);
    ph_coder_refuse_if(coder, read >= count);
    return read < count ? read : 0;
}

// ---- numbers

uint64_t ph_coder_below_length(ph_coder* coder, int length, uint64_t value)
{
    if (length < 2) {
        return (uint64_t)length;
    }
    const uint64_t highest = UINT64_C(1) << (length - 1);
    return highest | (ph_coder_raw(coder, value, length - 1) & (highest - 1));
}

uint64_t ph_coder_length(ph_coder* coder, ph_pinhole_family family, int model, uint64_t value)
{
    const int length = ph_coder_symbol(coder, family, model, ph_word_width(value));
    return ph_coder_below_length(coder, length, value);
}

int64_t ph_coder_signed_length(ph_coder* coder, ph_pinhole_family family, int model, int64_t value)
{
    const uint64_t magnitude = ph_coder_length(coder, family, model, ph_coder_magnitude_of(value));
    const bool is_negative = magnitude != 0 && ph_coder_raw(coder, value < 0 ? 1 : 0, 1) != 0;
    return is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
}

// Exp-Golomb: what is above so many low bits by gamma.
static uint64_t universal_magnitude(ph_coder* coder, int low_bits, uint64_t value)
{
    const uint64_t high = code_gamma(coder, (uint32_t)(value >> low_bits));
    ph_coder_refuse_if(coder, high > UINT32_MAX >> low_bits);
    const uint64_t low = ph_coder_raw(coder, value, low_bits);
    return high << low_bits | (low & ((UINT64_C(1) << low_bits) - 1));
}

// A symbol for small magnitudes as they are, for larger ones by their length. Beyond the last scale, half
// a bit is split off for each further scale. No number is longer than 32 bits, so nothing is gained by
// splitting off more than 16.
int64_t ph_coder_any_residual(ph_coder* coder, ph_pinhole_family family, int scale, int64_t steps)
{
    enum { SCALE_MAX = PH_SCALES - 1 + 2 * 16, DIRECT_BITS = 4 };
    _Static_assert(1 << DIRECT_BITS == PH_MAGNITUDES_DIRECT, "direct up to a length");
    scale = scale < SCALE_MAX ? scale : SCALE_MAX;
    const int shift = scale < PH_SCALES ? 0 : (scale - (PH_SCALES - 1) + 1) / 2;
    const int model = scale - 2 * shift;
    const uint64_t given = ph_coder_magnitude_of(steps);
    const uint64_t given_high = given >> shift;
    uint64_t high;
    if (coder->is_universal) {
        high = universal_magnitude(coder, model / 2, given_high);
    } else {
        const bool is_direct = given_high < PH_MAGNITUDES_DIRECT;
        const int longer = ph_word_width(given_high) - 1 - DIRECT_BITS;
        const int symbol = ph_coder_symbol(
            coder, family, model, is_direct ? (int)given_high : PH_MAGNITUDES_DIRECT + longer);
        high = (uint64_t)symbol;
        if (symbol >= PH_MAGNITUDES_DIRECT) {
            const int low_bits = symbol - PH_MAGNITUDES_DIRECT + DIRECT_BITS;
            const uint64_t highest = UINT64_C(1) << low_bits;
            high = highest | (ph_coder_raw(coder, given_high, low_bits) & (highest - 1));
        }
    }
    const uint64_t low = ph_coder_raw(coder, given, shift) & ((UINT64_C(1) << shift) - 1);
    const uint64_t magnitude = high << shift | low;
    const bool is_negative = magnitude != 0 && ph_coder_raw(coder, steps < 0 ? 1 : 0, 1) != 0;
    return is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
}
