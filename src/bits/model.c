// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Models of the range coder: static tables made from counts, tables that learn, and what a symbol
// costs. Tables are made rarely; learning runs once per symbol of an ordered stream.

#include "pinhole/entropy.h"

bool ph_model_is_valid(const ph_model* model)
{
    if (model->cumulative == NULL || model->count < 1 || model->count > PH_MODEL_SYMBOLS_MAX) {
        return false;
    }
    for (int i = 0; i < model->count; ++i) {
        if (model->cumulative[i] >= model->cumulative[i + 1]) {
            return false;
        }
    }
    return model->cumulative[0] == 0 && model->cumulative[model->count] == PH_MODEL_TOTAL;
}

ph_result ph_model_build(const uint32_t* seen, int count, uint16_t* cumulative)
{
    if (count < 1 || count > PH_MODEL_SYMBOLS_MAX) {
        return PH_ERROR_WIDTH;
    }
    uint64_t total = 0;
    for (int i = 0; i < count; ++i) {
        total += seen[i];
    }
    // One part for every symbol, so that none is impossible; the others in proportion, by rounding
    // the running sum: parts then add up to the total without any correction afterwards.
    const uint64_t spread = (uint64_t)(PH_MODEL_TOTAL - count);
    uint64_t sum = 0;
    cumulative[0] = 0;
    for (int i = 0; i < count; ++i) {
        sum += total != 0 ? seen[i] : 1;
        const uint64_t weight = total != 0 ? total : (uint64_t)count;
        cumulative[i + 1] = (uint16_t)((uint64_t)(i + 1) + (sum * spread + weight / 2) / weight);
    }
    return PH_OK;
}

// log2(value) in 1/256 bit, rounded to nearest; value >= 1. Squaring a number doubles its
// logarithm, so each squaring yields one more binary digit. Integers only: the ledger is the same
// everywhere.
static uint32_t log2_cost(uint32_t value)
{
    uint32_t whole = 0;
    while (value >> whole > 1) {
        ++whole;
    }
    uint64_t mantissa = (uint64_t)value << (31 - whole); // 1.0 is 2^31
    uint32_t digits = whole;
    for (int i = 0; i < 9; ++i) { // eight digits and one to round
        mantissa = (mantissa * mantissa) >> 31;
        digits <<= 1;
        if (mantissa >> 32 != 0) {
            mantissa >>= 1;
            digits |= 1;
        }
    }
    return (digits + 1) >> 1;
}

uint32_t ph_model_cost(const ph_model* model, int symbol)
{
    PH_ASSERT(0 <= symbol && symbol < model->count);
    const uint32_t parts =
        (uint32_t)model->cumulative[symbol + 1] - (uint32_t)model->cumulative[symbol];
    return PH_MODEL_BITS * PH_COST_PER_BIT - log2_cost(parts);
}

uint32_t ph_uniform_cost(uint32_t count)
{
    PH_ASSERT(count >= 1);
    return log2_cost(count);
}

// ---- learning

// Each entry moves towards where it would stand if the symbol just seen were certain, by 1/2^rate
// of the way. Both the table and its target ascend by at least 1 from entry to entry, and so does
// every mixture of them rounded this way: no symbol ever becomes impossible.
#define RATE_FIRST 3
#define RATE_LAST 7
#define SEEN_MAX 256

void ph_adaptive_init(ph_adaptive* model, int count)
{
    PH_ASSERT(1 <= count && count <= PH_ADAPTIVE_SYMBOLS_MAX);
    *model = (ph_adaptive){.count = (uint16_t)count};
    for (int i = 0; i <= count; ++i) {
        model->cumulative[i] = (uint16_t)(PH_MODEL_TOTAL * i / count);
    }
}

// Fast at first, while little is known, then slower and finer.
static int learning_rate(int seen)
{
    int rate = RATE_FIRST;
    for (int bound = 16; rate < RATE_LAST && seen >= bound; bound *= 2) {
        ++rate;
    }
    return rate;
}

void ph_adaptive_learn(ph_adaptive* model, int symbol)
{
    PH_ASSERT(0 <= symbol && symbol < model->count);
    const int rate = learning_rate(model->seen);
    for (int i = 1; i < model->count; ++i) {
        const int target = i <= symbol ? i : PH_MODEL_TOTAL - model->count + i;
        const int way = target - model->cumulative[i];
        // A right shift that rounds down for negative numbers, too, on every compiler.
        const int step = way >= 0 ? way >> rate : -((-way + (1 << rate) - 1) >> rate);
        model->cumulative[i] = (uint16_t)(model->cumulative[i] + step);
    }
    if (model->seen < SEEN_MAX) {
        ++model->seen;
    }
}

ph_model ph_adaptive_model(const ph_adaptive* model)
{
    return (ph_model){.cumulative = model->cumulative, .count = model->count};
}
