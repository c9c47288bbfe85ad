// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs a few times per program.

#include "kit/learn.h"

#include "schema/schema_state.h"

#include <pinhole/entropy.h>

#include <stdlib.h>
#include <string.h>

enum {
    PARTS = 32768,      // of which probabilities are
    PRIOR_FAMILY = 150, // so many symbols weigh what the base says of a family's model
    PRIOR_TOLD = 4,     // and of a property's
    PRIOR_NUMBER = 40,
    SAVED_BITS_MIN = 48,     // what a model saves at least
    SAVED_BITS_PER_CODE = 2, // and for each of its symbols, because texts have a length as well
    TRIAL_TOLD = 12,         // 3 bits to be told, nothing not to be: about as it is without
};

// ---- codes

static uint8_t* codes_of(const ph_schema* schema, ph_fault* fault)
{
    if (schema->property_count > PH_LEARNED_PROPERTIES_MAX) {
        ph_fault_set(fault, 0, 0, "models can be learned for %d properties at most",
                     (int)PH_LEARNED_PROPERTIES_MAX);
        return NULL;
    }
    const size_t size = (size_t)ph_learned_entry_count(schema->property_count);
    uint8_t* codes = malloc(size);
    if (codes == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    memset(codes, PH_MODEL_CODE_NONE, size);
    if (schema->codes != NULL) {
        memcpy(codes, schema->codes, size);
    }
    return codes;
}

ph_schema* ph_learn_remake(const ph_schema* schema, uint8_t* codes, ph_fault* fault)
{
    ph_schema* made = NULL;
    ph_class_def* defs = malloc((size_t)schema->class_count * sizeof defs[0]);
    ph_error error = {0};
    for (int c = 0; defs != NULL && c < schema->class_count; ++c) {
        defs[c] = schema->classes[c].def;
    }
    if (defs == NULL ||
        ph_schema_make(defs, schema->class_count, codes, NULL, &made, &error) != PH_OK) {
        ph_fault_set_memory(fault);
    }
    free(defs);
    free(codes);
    return made;
}

// Of weights that are no larger than 2^62 together.
static void make_codes(const uint64_t* weights, int symbols, uint8_t* codes)
{
    uint64_t total = 0;
    for (int i = 0; i < symbols; ++i) {
        total += weights[i];
    }
    int shift = 0;
    while (total >> shift >> 30 != 0) {
        ++shift;
    }
    for (int i = 0; i < symbols; ++i) {
        codes[i] = (uint8_t)ph_model_code_nearest(weights[i] >> shift, total >> shift);
    }
}

// ---- which models

static int number_model_of(const ph_schema* schema, int property)
{
    const ph_property* described =
        &schema->classes[0].properties[property]; // they lie side by side
    if (!described->is_number || described->words > 1) {
        return 3;
    }
    const uint64_t top = ph_property_top(described, 0);
    return top >> 4 == 0 ? 0 : top >> 8 == 0 ? 1 : top >> 16 == 0 ? 2 : 3;
}

// What the base takes for likely, and how many symbols that weighs.
static int prior_of(const ph_schema* base, const ph_model_walk* walk, uint32_t* parts)
{
    const bool is_family = walk->family < PH_FAMILY_COUNT;
    if (!is_family && walk->model < 2) {
        parts[0] = parts[1] = PARTS / 2;
        return PRIOR_TOLD;
    }
    const int first =
        is_family ? walk->first
                  : PH_AT_NUMBER + number_model_of(base, walk->property) * (PH_NUMBER_SYMBOLS + 1);
    for (int i = 0; i < walk->symbols; ++i) {
        parts[i] =
            (uint32_t)base->models.cumulative[first + i + 1] - base->models.cumulative[first + i];
    }
    return is_family ? PRIOR_FAMILY : PRIOR_NUMBER;
}

static bool is_seen(const ph_model_walk* walk, const uint64_t* seen)
{
    uint64_t sum = 0;
    for (int i = 0; i < walk->symbols; ++i) {
        sum += seen[walk->first + i];
    }
    return sum > 0;
}

ph_schema* ph_learn_trial(const ph_schema* base, ph_fault* fault)
{
    uint8_t* codes = codes_of(base, fault);
    if (codes == NULL) {
        return NULL;
    }
    ph_model_walk walk = {0};
    while (ph_model_walk_next(&walk, base->property_count)) {
        uint8_t* own = codes + walk.first;
        if (walk.family < PH_FAMILY_COUNT || own[0] != PH_MODEL_CODE_NONE) {
            continue;
        }
        if (walk.model < 2) {
            own[0] = 0;
            own[1] = TRIAL_TOLD;
            continue;
        }
        uint32_t parts[PH_NUMBER_SYMBOLS];
        (void)prior_of(base, &walk, parts);
        for (int i = 0; i < walk.symbols; ++i) {
            own[i] = (uint8_t)ph_model_code_nearest(parts[i], PARTS);
        }
    }
    return ph_learn_remake(base, codes, fault);
}

// ---- learning

// What a model of these codes costs, of the symbols counted, against the base.
static bool is_worth_it(const ph_schema* base, const ph_schema* learned, const ph_model_walk* walk,
                        const uint64_t* seen)
{
    const bool is_family = walk->family < PH_FAMILY_COUNT;
    const int first =
        is_family ? walk->first
                  : PH_AT_NUMBER + number_model_of(base, walk->property) * (PH_NUMBER_SYMBOLS + 1);
    int64_t saved256 = 0;
    for (int i = 0; i < walk->symbols; ++i) {
        saved256 +=
            (int64_t)seen[walk->first + i] * ((int64_t)base->models.costs[first + i] -
                                              (int64_t)learned->models.costs[walk->first + i]);
    }
    const int64_t least = SAVED_BITS_MIN + SAVED_BITS_PER_CODE * walk->symbols;
    return saved256 >= least * PH_COST_PER_BIT;
}

static void learn_all(const ph_schema* base, const ph_pinhole_counts* counts, bool has_flags,
                      uint8_t* codes)
{
    ph_model_walk walk = {0};
    while (ph_model_walk_next(&walk, base->property_count)) {
        uint64_t weights[66];
        uint32_t parts[66];
        const bool is_told = walk.family == PH_FAMILY_COUNT && walk.model < 2;
        // Flags of slots follow a curve over densities, which a sender chooses by what they cost: learned
        // one by one they save half a percent, and less suits low budgets then. A game that always tells
        // everything is the exception.
        if ((walk.family == PH_FAMILY_TOLD && !has_flags) ||
            (!is_told && !is_seen(&walk, counts->seen))) {
            continue;
        }
        const uint64_t prior = (uint64_t)prior_of(base, &walk, parts);
        for (int i = 0; i < walk.symbols; ++i) {
            weights[i] = counts->seen[walk.first + i] * PARTS + prior * parts[i];
        }
        make_codes(weights, walk.symbols, codes + walk.first);
    }
}

// Flags for each property are worth it where some of them are often told.
static bool has_told(const ph_schema* schema, const ph_pinhole_counts* counts)
{
    uint64_t told = 0;
    for (int p = 0; p < schema->property_count; ++p) {
        told += counts->seen[ph_learned_told_entry(p, false) + 1] +
                counts->seen[ph_learned_told_entry(p, true) + 1];
    }
    return told >= SAVED_BITS_MIN;
}

ph_schema* ph_learn_schema(const ph_schema* base, const ph_pinhole_counts* counts, bool has_flags,
                           ph_fault* fault)
{
    uint8_t* codes = codes_of(base, fault);
    uint8_t* kept = codes_of(base, fault);
    ph_schema* all = NULL;
    ph_schema* made = NULL;
    if (codes != NULL && kept != NULL) {
        learn_all(base, counts, has_flags, codes);
        const size_t size = (size_t)ph_learned_entry_count(base->property_count);
        memcpy(kept, codes, size);
        all = ph_learn_remake(base, codes, fault);
        codes = NULL;
    }
    if (all != NULL) {
        const bool is_told_worth_it = has_told(base, counts);
        ph_model_walk walk = {0};
        while (ph_model_walk_next(&walk, base->property_count)) {
            const bool is_told = walk.family == PH_FAMILY_COUNT && walk.model < 2;
            const bool is_kept =
                is_told ? is_told_worth_it : is_worth_it(base, all, &walk, counts->seen);
            if (!is_kept) {
                kept[walk.first] =
                    base->codes != NULL ? base->codes[walk.first] : PH_MODEL_CODE_NONE;
            }
        }
        made = ph_learn_remake(base, kept, fault);
        kept = NULL;
    }
    ph_schema_destroy(all);
    free(codes);
    free(kept);
    return made;
}

// ---- what it is worth

uint64_t ph_learn_cost256(const ph_schema* schema, const ph_pinhole_counts* counts)
{
    uint64_t cost256 = counts->raw_bits * PH_COST_PER_BIT + counts->uniform256;
    const int count =
        schema->codes != NULL ? ph_learned_entry_count(schema->property_count) : PH_PINHOLE_ENTRIES;
    for (int i = 0; i < count; ++i) {
        cost256 += counts->seen[i] * schema->models.costs[i];
    }
    return cost256;
}

int ph_learn_model_count(const ph_schema* schema)
{
    int count = 0;
    ph_model_walk walk = {0};
    while (schema->codes != NULL && ph_model_walk_next(&walk, schema->property_count)) {
        count += schema->codes[walk.first] != PH_MODEL_CODE_NONE ? 1 : 0;
    }
    return count;
}

void ph_learn_add(ph_pinhole_counts* sum, const ph_pinhole_counts* more, int weight)
{
    const uint64_t times = (uint64_t)weight;
    for (size_t i = 0; i < sizeof sum->seen / sizeof sum->seen[0]; ++i) {
        sum->seen[i] += times * more->seen[i];
    }
    sum->raw_bits += times * more->raw_bits;
    sum->uniform256 += times * more->uniform256;
    sum->updates += times * more->updates;
}
