// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Codes become tables: docs/wire_pinhole.md says the same in words. Runs once per schema that has some.

#include "schema/learned_models.h"

#include "base/check.h"
#include "base/hash.h"
#include "schema/model_tables.h"

#include <pinhole/entropy.h>

#include <string.h>

// Which models there are, for callers that walk all tables, and those of the library, which a program makes.
const ph_pinhole_family_info ph_pinhole_families[PH_FAMILY_COUNT] = {
#define X(family, models, symbols) {#family, PH_AT_##family, (models), (symbols)},
    PH_PINHOLE_FAMILIES(X)
#undef X
};

const ph_model_set ph_library_models = {ph_pinhole_cumulative, ph_pinhole_costs};

#define CODES_PER_BIT 4
#define SYMBOLS_MAX 66

static const char CHARACTERS[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

_Static_assert(sizeof CHARACTERS - 2 == PH_MODEL_CODE_MAX, "a character for each code");

// 2^31 by a quarter of a bit less each.
static const uint32_t WEIGHTS[CODES_PER_BIT] = {2147483648u, 1805811301u, 1518500250u, 1276901417u};

char ph_model_code_character(int code)
{
    PH_ASSERT(code >= 0 && code <= PH_MODEL_CODE_MAX);
    return CHARACTERS[code];
}

int ph_model_code_of(char character)
{
    const char* found = character != '\0' ? strchr(CHARACTERS, character) : NULL;
    return found != NULL ? (int)(found - CHARACTERS) : -1;
}

static uint32_t weight_of(int code)
{
    return WEIGHTS[code % CODES_PER_BIT] >> code / CODES_PER_BIT;
}

int ph_model_code_nearest(uint64_t seen, uint64_t total)
{
    // Halfway between two codes, in eighths of a bit: 2^(-1/8) of a weight.
    enum { HALFWAY_PARTS = 60097, PARTS_BITS = 16 };
    PH_ASSERT(seen <= total && total >> 30 == 0);
    int code = 0;
    while (code < PH_MODEL_CODE_MAX &&
           (seen << 31) < ((uint64_t)weight_of(code) * HALFWAY_PARTS >> PARTS_BITS) * total) {
        ++code;
    }
    return code;
}

bool ph_model_walk_next(ph_model_walk* walk, int property_count)
{
    static const int OWN_SYMBOLS[] = {2, 2, PH_NUMBER_SYMBOLS};
    const bool is_begun = walk->symbols != 0;
    walk->first += is_begun ? walk->symbols + 1 : 0;
    walk->model += is_begun ? 1 : 0;
    if (walk->family < PH_FAMILY_COUNT && walk->model == ph_pinhole_families[walk->family].models) {
        walk->model = 0;
        ++walk->family;
    } else if (walk->family == PH_FAMILY_COUNT && walk->model == 3) {
        walk->model = 0;
        ++walk->property;
    }
    const bool is_own = walk->family == PH_FAMILY_COUNT;
    walk->symbols = is_own ? OWN_SYMBOLS[walk->model] : ph_pinhole_families[walk->family].symbols;
    return !is_own || walk->property < property_count;
}

// ---- tables

// 256 * (15 - log2(parts)), rounded up. Squaring a number doubles its logarithm, so each squaring yields
// one more binary digit.
static uint16_t cost_of(uint32_t parts)
{
    uint32_t digits = 0;
    while (parts >> digits > 1) {
        ++digits;
    }
    uint64_t mantissa = (uint64_t)parts << (31 - digits);
    for (int i = 0; i < 8; ++i) {
        mantissa = (mantissa * mantissa) >> 31;
        digits <<= 1;
        if (mantissa >> 32 != 0) {
            mantissa >>= 1;
            digits |= 1;
        }
    }
    return (uint16_t)(PH_MODEL_BITS * PH_COST_PER_BIT - digits);
}

void ph_model_fill_costs(const uint16_t* cumulative, int symbols, uint16_t* costs)
{
    for (int i = 0; i < symbols; ++i) {
        costs[i] = cost_of((uint32_t)cumulative[i + 1] - cumulative[i]);
    }
    costs[symbols] = 0;
}

static void fill_model(const uint8_t* codes, int symbols, uint16_t* cumulative, uint16_t* costs)
{
    uint32_t weights[SYMBOLS_MAX] = {0};
    PH_ASSERT(symbols <= SYMBOLS_MAX);
    for (int i = 0; i < symbols; ++i) {
        weights[i] = weight_of(codes[i]);
    }
    (void)ph_model_build(weights, symbols, cumulative);
    ph_model_fill_costs(cumulative, symbols, costs);
}

void ph_learned_fill(const uint8_t* codes, int property_count, uint16_t* cumulative,
                     uint16_t* costs)
{
    const size_t more = (size_t)(ph_learned_entry_count(property_count) - PH_PINHOLE_ENTRIES);
    memcpy(cumulative, ph_pinhole_cumulative, sizeof ph_pinhole_cumulative);
    memcpy(costs, ph_pinhole_costs, sizeof ph_pinhole_costs);
    memset(cumulative + PH_PINHOLE_ENTRIES, 0, more * sizeof cumulative[0]);
    memset(costs + PH_PINHOLE_ENTRIES, 0, more * sizeof costs[0]);
    ph_model_walk walk = {0};
    while (ph_model_walk_next(&walk, property_count)) {
        if (codes[walk.first] != PH_MODEL_CODE_NONE) {
            fill_model(codes + walk.first, walk.symbols, cumulative + walk.first,
                       costs + walk.first);
        }
    }
}

// ---- the fingerprint

enum { MARK_FAMILY = 17, MARK_PROPERTY = 18 }; // behind those of schema_state.c

// Codes at the end that repeat the one before say nothing.
int ph_model_code_count(const uint8_t* codes, int symbols)
{
    int count = symbols;
    while (count > 1 && codes[count - 1] == codes[count - 2]) {
        --count;
    }
    return count;
}

static uint64_t model_fingerprint(const uint8_t* codes, const ph_model_walk* walk)
{
    ph_hash hash = ph_hash_make(walk->family < PH_FAMILY_COUNT ? MARK_FAMILY : MARK_PROPERTY);
    if (walk->family < PH_FAMILY_COUNT) {
        for (const char* c = ph_pinhole_families[walk->family].name; *c != '\0'; ++c) {
            ph_hash_add_u64(&hash, (uint64_t)(unsigned char)*c);
        }
    } else {
        ph_hash_add_u64(&hash, (uint64_t)walk->property);
    }
    ph_hash_add_u64(&hash, (uint64_t)walk->model);
    const int count = ph_model_code_count(codes + walk->first, walk->symbols);
    for (int i = 0; i < count; ++i) {
        ph_hash_add_u64(&hash, codes[walk->first + i]);
    }
    return ph_hash_value(&hash);
}

// A sum, so that it does not matter in which order there are families, nor how many symbols they have: a
// reader of the classic profile need not know.
uint64_t ph_learned_fingerprint(uint64_t of_classes, const uint8_t* codes, int property_count)
{
    uint64_t sum = 0;
    bool has_any = false;
    ph_model_walk walk = {0};
    while (ph_model_walk_next(&walk, property_count)) {
        if (codes[walk.first] != PH_MODEL_CODE_NONE) {
            has_any = true;
            sum += model_fingerprint(codes, &walk);
        }
    }
    if (!has_any) {
        return of_classes;
    }
    ph_hash hash = ph_hash_make(of_classes);
    ph_hash_add_u64(&hash, sum);
    return ph_hash_value(&hash);
}
