// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What records of the pinhole profile say, as symbols and raw bits.
//
// Symbol buffer: a record is worked out once, when it is chosen: where its motion leads, which models
// suit it, what differs. That gives its cost, and tokens in a buffer. When the packet is closed, the
// tokens are played into it in the order of slots.
//
//   | symbol | MARK mask | symbol  symbol  symbol | MARK position | bits, END |      tokens of 32 bits
//
// A mark says which property the tokens before it are for, and what they cost. Raw bits go to the other
// end of the packet than symbols, so they are gathered, and the last token of a record has the rest.
//
// Coder: one way through a record for three purposes: what would it cost, what is to be written (to a
// symbol buffer), read it. Every function takes the value to write and returns the value that is there,
// so cost, writer and reader cannot come apart. While reading, the given value does not matter; after a
// failure zeros are read.
//
// A universal coder has no tables (except for the flags of slots, which the header states): a symbol is
// its number by gamma, at the raw end, a residual Exp-Golomb by its expected size. Whole bits, the same
// in every game: what is left of the pinhole profile without its models.
//
// Several calls per record; nothing allocates. The way of one update is one function with its coder in
// registers, so what it calls for each symbol is inline; the rest is in symbols.c.

#ifndef PH_PACKET_SYMBOLS_H
#define PH_PACKET_SYMBOLS_H

#include "base/compiler.h"
#include "packet/baseline.h"
#include "packet/classic_records.h"
#include "schema/model_tables.h"

#include <pinhole/entropy.h>

// ---- the symbol buffer

// The longest record: up to 1,200 bytes of texts in pieces of 24 bits, and 64 properties of at most
// seven tokens each, some more for the position, slot and key.
#define PH_SYMBOL_BUFFER_RECORD_MAX 1280

// Tokens go to the caller's memory. {0} has no room. Once it is full it stays so, and what it says of
// the last record is worth nothing.
typedef struct ph_symbol_buffer {
    uint32_t* next;
    uint32_t* end;
    bool is_full;
    int gathered_bits; // 0..32, for the next tokens of raw bits; between records 0
    uint64_t gathered;
} ph_symbol_buffer;

ph_symbol_buffer ph_symbol_buffer_make(uint32_t* tokens, int capacity);

// A token, from its high bits: two of kind, then
//
//   SYMBOL    entry of the tables
//   BITS      whether it ends the record in 1 bit, width 0..24 in 5, value 24
//   UNIFORM   value; the next token is the count
//   MARK      property, or PH_SYMBOL_BUFFER_..., in 7 bits; cost in 1/256 bit 23
#define PH_TOKEN_KIND_SHIFT 30
#define PH_TOKEN_BITS_MAX 24
#define PH_TOKEN_COST_BITS 23
#define PH_TOKEN_END (UINT32_C(1) << 29)
#define PH_TOKEN_WIDTH_MASK 31u
#define PH_TOKEN_VALUE_MASK 0xFFFFu
#define PH_TOKEN_MARK_MASK 127u

enum { PH_TOKEN_SYMBOL, PH_TOKEN_BITS, PH_TOKEN_UNIFORM, PH_TOKEN_MARK };

// All tokens below this are symbols, below this bits, all from this on marks.
#define PH_TOKEN_SYMBOLS (UINT32_C(1) << PH_TOKEN_KIND_SHIFT)
#define PH_TOKEN_UNIFORMS ((uint32_t)PH_TOKEN_UNIFORM << PH_TOKEN_KIND_SHIFT)
#define PH_TOKEN_MARKS ((uint32_t)PH_TOKEN_MARK << PH_TOKEN_KIND_SHIFT)

PH_ALWAYS_INLINE void ph_symbol_buffer_put(ph_symbol_buffer* symbols, uint32_t kind, uint32_t rest)
{
    if (PH_UNLIKELY(symbols->next == symbols->end)) {
        symbols->is_full = true;
        return;
    }
    *symbols->next++ = kind << PH_TOKEN_KIND_SHIFT | rest;
}

// One of count equally likely values, count 1..2^16.
void ph_symbol_buffer_uniform(ph_symbol_buffer* symbols, uint32_t value, uint32_t count);

// 0..64 raw bits; higher bits of the value are ignored. So many that are gathered make a token.
PH_ALWAYS_INLINE void ph_symbol_buffer_bits(ph_symbol_buffer* symbols, uint64_t value, int width)
{
    const uint32_t full = (uint32_t)PH_TOKEN_BITS_MAX << PH_TOKEN_BITS_MAX;
    const uint32_t mask = (UINT32_C(1) << PH_TOKEN_BITS_MAX) - 1;
    do {
        const int piece = width < 32 ? width : 32;
        symbols->gathered |= (value & ((UINT64_C(1) << piece) - 1)) << symbols->gathered_bits;
        symbols->gathered_bits += piece;
        width -= piece;
        value >>= piece;
        while (PH_UNLIKELY(symbols->gathered_bits > PH_TOKEN_BITS_MAX)) {
            ph_symbol_buffer_put(symbols, PH_TOKEN_BITS,
                                 full | ((uint32_t)symbols->gathered & mask));
            symbols->gathered >>= PH_TOKEN_BITS_MAX;
            symbols->gathered_bits -= PH_TOKEN_BITS_MAX;
        }
    } while (width > 0);
}

// All that a bit writer holds.
void ph_symbol_buffer_append(ph_symbol_buffer* symbols, ph_bit_writer* writer);

// What a mark is for, beside properties: which of them are sent; slot, association and so on.
#define PH_SYMBOL_BUFFER_MASK PH_PROPERTIES_MAX
#define PH_SYMBOL_BUFFER_WHO (PH_PROPERTIES_MAX + 1)

PH_ALWAYS_INLINE void ph_symbol_buffer_mark(ph_symbol_buffer* symbols, int property,
                                            uint32_t cost256)
{
    PH_ASSERT(cost256 >> PH_TOKEN_COST_BITS == 0);
    ph_symbol_buffer_put(symbols, PH_TOKEN_MARK,
                         (uint32_t)property << PH_TOKEN_COST_BITS | cost256);
}

// The record ends, with what was gathered last.
PH_ALWAYS_INLINE void ph_symbol_buffer_end(ph_symbol_buffer* symbols)
{
    ph_symbol_buffer_bits(symbols, 0, 0);
    ph_symbol_buffer_put(symbols, PH_TOKEN_BITS,
                         PH_TOKEN_END | (uint32_t)symbols->gathered_bits << PH_TOKEN_BITS_MAX |
                             (uint32_t)symbols->gathered);
    symbols->gathered = 0;
    symbols->gathered_bits = 0;
}

// Back to where a record began.
void ph_symbol_buffer_rewind(ph_symbol_buffer* symbols, uint32_t* begun);

// ---- playing

// What records cost, by their marks, in 1/256 bit; added to.
typedef struct ph_symbol_buffer_costs {
    uint64_t* properties256; // by property of the class
    uint64_t others256[2];   // from PH_SYMBOL_BUFFER_MASK on
} ph_symbol_buffer_costs;

// Symbols and raw bits of several records, not yet in the packet.
#define PH_SYMBOL_PLAYER_ENTRIES 256

typedef struct ph_symbol_player {
    ph_entropy_writer* writer;
    const uint16_t* cumulative;
    uint64_t raw;
    int raw_bits; // 0..63
    int entry_count;
    uint16_t entries[PH_SYMBOL_PLAYER_ENTRIES];
} ph_symbol_player;

// Until the end only the player writes to the packet.
void ph_symbol_player_begin(ph_symbol_player* player, const ph_model_set* models,
                            ph_entropy_writer* writer);

// A symbol by its entry of the tables.
void ph_symbol_player_put(ph_symbol_player* player, int entry);

// One record, from its first token. costs may be NULL.
void ph_symbol_player_play(ph_symbol_player* player, const uint32_t* tokens,
                           ph_symbol_buffer_costs* costs);

void ph_symbol_player_end(ph_symbol_player* player);

// What one record costs, without playing it: the parts that it marks are added to stats, in 1/256 bit.
void ph_symbol_buffer_add_stats(const uint32_t* tokens, ph_record_bits* stats);

// What one record says how often. Only needed when tables are learned.
void ph_symbol_buffer_count(const uint32_t* tokens, ph_pinhole_counts* counts);

// What one of count equally likely values costs, never too little.
uint32_t ph_symbol_buffer_uniform_cost256(uint32_t count);

// ---- the coder

// With neither symbol buffer nor reader it adds up costs.
typedef struct ph_coder {
    ph_symbol_buffer symbols;  // {0}: none
    ph_entropy_reader* reader; // NULL: it does not read
    ph_record_bits* stats;     // not while reading: may be NULL; in 1/256 bit, added to
    // Of the set of models; a pointer to the set would be followed for each symbol.
    const uint16_t* cumulative;
    const uint16_t* costs;
    bool is_universal;
    bool is_buffering;   // a symbol buffer for symbols of the models: the case that runs most
    uint32_t cost256;    // never less than what is written takes
    uint32_t counted256; // of that
} ph_coder;

// A coder stays in registers only as long as no function that is not inline gets its address. Such
// functions work on a copy, which ph_coder_take() takes over. Copied field by field: a struct that is
// copied as a whole is in memory as a whole.
//
// The symbol buffer goes on where it is; ph_coder_end_buffer() tells it how far that was.
PH_ALWAYS_INLINE ph_coder ph_coder_make_buffer(const ph_symbol_buffer* symbols,
                                               const ph_model_set* models, bool is_universal)
{
    return (ph_coder){
        .cumulative = models->cumulative,
        .costs = models->costs,
        .symbols = {.next = symbols->next, .end = symbols->end, .is_full = symbols->is_full},
        .is_universal = is_universal,
        .is_buffering = !is_universal};
}

PH_ALWAYS_INLINE void ph_coder_end_buffer(ph_coder* coder, ph_symbol_buffer* symbols)
{
    ph_symbol_buffer_end(&coder->symbols);
    symbols->next = coder->symbols.next;
    symbols->is_full = coder->symbols.is_full;
}

PH_ALWAYS_INLINE ph_coder ph_coder_copy(const ph_coder* coder)
{
    const ph_symbol_buffer* symbols = &coder->symbols;
    return (ph_coder){.symbols = {.next = symbols->next,
                                  .end = symbols->end,
                                  .is_full = symbols->is_full,
                                  .gathered_bits = symbols->gathered_bits,
                                  .gathered = symbols->gathered},
                      .reader = coder->reader,
                      .stats = coder->stats,
                      .cumulative = coder->cumulative,
                      .costs = coder->costs,
                      .is_universal = coder->is_universal,
                      .is_buffering = coder->is_buffering,
                      .cost256 = coder->cost256,
                      .counted256 = coder->counted256};
}

PH_ALWAYS_INLINE void ph_coder_take(ph_coder* coder, const ph_coder* copy)
{
    coder->symbols.next = copy->symbols.next;
    coder->symbols.is_full = copy->symbols.is_full;
    coder->symbols.gathered_bits = copy->symbols.gathered_bits;
    coder->symbols.gathered = copy->symbols.gathered;
    coder->cost256 = copy->cost256;
    coder->counted256 = copy->counted256;
}

PH_ALWAYS_INLINE bool ph_coder_has_buffer(const ph_coder* coder)
{
    return coder->is_buffering || coder->symbols.end != NULL;
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
uint32_t ph_coder_symbol_cost256(const ph_coder* coder, ph_pinhole_family family, int model,
                                 int symbol);

int ph_coder_read_symbol(const ph_coder* coder, ph_pinhole_family family, int model);

void ph_coder_tell_universal(ph_coder* coder, ph_pinhole_family family, int symbol);

// A symbol of one model of a family.
PH_ALWAYS_INLINE int ph_coder_symbol(ph_coder* coder, ph_pinhole_family family, int model,
                                     int symbol)
{
    if (coder->reader != NULL) {
        return ph_coder_read_symbol(coder, family, model);
    }
    const ph_pinhole_family_info* info = &ph_pinhole_families[family];
    PH_ASSERT(model >= 0 && model < info->models);
    PH_ASSERT(symbol >= 0 && symbol < info->symbols);
    if (coder->is_universal && family != PH_FAMILY_TOLD) {
        ph_coder copy = ph_coder_copy(coder);
        ph_coder_tell_universal(&copy, family, symbol);
        ph_coder_take(coder, &copy);
        return symbol;
    }
    const int entry = info->first + model * (info->symbols + 1) + symbol;
    coder->cost256 += coder->costs[entry];
    if (ph_coder_has_buffer(coder)) {
        ph_symbol_buffer_put(&coder->symbols, PH_TOKEN_SYMBOL, (uint32_t)entry);
    }
    return symbol;
}

PH_ALWAYS_INLINE bool ph_coder_flag(ph_coder* coder, ph_pinhole_family family, int model,
                                    bool is_set)
{
    return ph_coder_symbol(coder, family, model, is_set ? 1 : 0) != 0;
}

// A symbol of the model that begins at an entry: one that a schema has for a property.
int ph_coder_own_symbol(ph_coder* coder, int first, int symbols, int symbol);

// One of count equally likely values, count >= 1. Above 2^16 low bits go to the raw end, where they
// lose nothing to rounding.
uint32_t ph_coder_uniform(ph_coder* coder, uint32_t value, uint32_t count);

// ---- numbers

// 0..64 bits at the raw end.
PH_ALWAYS_INLINE uint64_t ph_coder_raw(ph_coder* coder, uint64_t value, int bits)
{
    if (coder->reader != NULL) {
        return ph_bits_read(&coder->reader->raw, bits);
    }
    coder->cost256 += (uint32_t)bits * PH_COST_PER_BIT;
    if (ph_coder_has_buffer(coder)) {
        ph_symbol_buffer_bits(&coder->symbols, value, bits);
    }
    return value;
}

// The rest of a number whose length is sent already.
uint64_t ph_coder_below_length(ph_coder* coder, int length, uint64_t value);

// A number by its length in bits as a symbol, then what follows its highest bit. Lengths up to
// the family's last symbol.
uint64_t ph_coder_length(ph_coder* coder, ph_pinhole_family family, int model, uint64_t value);

// The same with a sign; 0 has none.
int64_t ph_coder_signed_length(ph_coder* coder, ph_pinhole_family family, int model, int64_t value);

PH_ALWAYS_INLINE uint64_t ph_coder_magnitude_of(int64_t value)
{
    const uint64_t sign = 0 - (uint64_t)(value < 0);
    return ((uint64_t)value ^ sign) - sign;
}

// A residual of about this size (1/8 bit, may be negative), -2^31..2^31. Families with PH_SCALES
// models. Beyond the last scale low bits are raw.
#define PH_SIZE_PER_SCALE (PH_SIZE_PER_BIT / 2)

int64_t ph_coder_any_residual(ph_coder* coder, ph_pinhole_family family, int scale, int64_t steps);

// Small ones with a model, to a symbol buffer, are what most records mostly consist of. Whether a number
// is negative is random, so its sign is no branch: 0 has a sign of no bits. No more than eight such signs
// follow each other without other raw bits, so they are only gathered.
PH_ALWAYS_INLINE int64_t ph_coder_residual(ph_coder* coder, ph_pinhole_family family, int size,
                                           int64_t steps)
{
    const int scale = (size > 0 ? size : 0) / PH_SIZE_PER_SCALE;
    const uint64_t magnitude = ph_coder_magnitude_of(steps);
    if (coder->is_buffering && PH_LIKELY(scale < PH_SCALES && magnitude < PH_MAGNITUDES_DIRECT)) {
        ph_coder_symbol(coder, family, scale, (int)magnitude);
        const int sign_bits = magnitude != 0 ? 1 : 0;
        coder->cost256 += (uint32_t)sign_bits * PH_COST_PER_BIT;
        coder->symbols.gathered |= (uint64_t)(steps < 0) << coder->symbols.gathered_bits;
        coder->symbols.gathered_bits += sign_bits;
        PH_ASSERT(coder->symbols.gathered_bits <= 32);
        return steps;
    }
    ph_coder copy = ph_coder_copy(coder);
    const int64_t told = ph_coder_any_residual(&copy, family, scale, steps);
    ph_coder_take(coder, &copy);
    return told;
}

// ---- bit statistics

// All since the last mark was for this property, PH_SYMBOL_BUFFER_MASK or PH_SYMBOL_BUFFER_WHO.
PH_ALWAYS_INLINE void ph_coder_mark(ph_coder* coder, int property)
{
    const uint32_t since256 = coder->cost256 - coder->counted256;
    if (ph_coder_has_buffer(coder)) {
        ph_symbol_buffer_mark(&coder->symbols, property, since256);
    }
    if (coder->stats != NULL) {
        coder->stats->parts[property] += since256;
    }
    coder->counted256 = coder->cost256;
}

#endif
