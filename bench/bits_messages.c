// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The numbers of `pinhole bench bits`. Nothing here is timed.

#include "bits_messages.h"

#include "base/rng.h"

#include <pinhole/integers.h>

#define PACKET_COST (8 * PACKET_BYTES * PH_COST_PER_BIT)
// A range coder rounds its packet up and its costs are rounded, too: leave it some room.
#define SYMBOL_SPARE_COST (64 * PH_COST_PER_BIT)

void bits_messages_draw(bits_messages* messages, uint64_t seed, const bits_source* source)
{
    ph_rng rng = ph_rng_make(seed);
    const uint32_t room = PACKET_COST - (source->model != NULL ? SYMBOL_SPARE_COST : 0);
    int count = 0;
    for (int packet = 0; packet < PACKET_COUNT; ++packet) {
        messages->first[packet] = count;
        uint32_t used = 0;
        for (;;) {
            uint32_t cost = 0;
            const uint32_t value = source->draw(ph_rng_next(&rng), source->model, &cost);
            if (used + cost > room || count == NUMBERS_MAX) {
                break;
            }
            used += cost;
            messages->value[count] = value;
            count += 1;
        }
    }
    messages->first[PACKET_COUNT] = count;
}

static uint32_t draw_field(uint64_t next, const ph_model* model, uint32_t* cost)
{
    (void)model;
    const uint32_t width = 1 + (uint32_t)(next % 32);
    *cost = width * PH_COST_PER_BIT;
    // The highest bit is set, so that the width can be found again in the value.
    return (uint32_t)(next >> 32) >> (32 - width) | 1u << (width - 1);
}

void bits_messages_draw_fields(bits_messages* messages, uint64_t seed)
{
    bits_messages_draw(messages, seed, &(bits_source){.draw = draw_field});
    for (int i = 0; i < messages->first[PACKET_COUNT]; ++i) {
        messages->width[i] = (uint8_t)ph_width_of(messages->value[i]);
    }
}

uint32_t bits_draw_symbol(uint64_t next, const ph_model* model, uint32_t* cost)
{
    const uint32_t place = (uint32_t)(next % PH_MODEL_TOTAL);
    int symbol = 0;
    while (model->cumulative[symbol + 1] <= place) {
        ++symbol;
    }
    *cost = ph_model_cost(model, symbol);
    return (uint32_t)symbol;
}

// A number of random length, 1..most bits.
static uint32_t any_length(uint64_t next, uint32_t most)
{
    return (uint32_t)(next >> 32) >> (31 - next % most);
}

// Half of them 0, a quarter 1, an eighth 2 ...
static uint32_t halving(uint64_t next)
{
    uint32_t zeros = 0;
    while (zeros < 31 && (next >> zeros & 1) == 0) {
        ++zeros;
    }
    return zeros;
}

uint32_t bits_draw_range(uint64_t next, const ph_model* model, uint32_t* cost)
{
    (void)model;
    *cost = (uint32_t)ph_range_cost_bits(BITS_RANGE_LO, BITS_RANGE_HI) * PH_COST_PER_BIT;
    return (uint32_t)(next % (BITS_RANGE_HI - BITS_RANGE_LO + 1));
}

uint32_t bits_draw_enum(uint64_t next, const ph_model* model, uint32_t* cost)
{
    (void)model;
    *cost = (uint32_t)ph_enum_cost_bits(BITS_ENUM_COUNT) * PH_COST_PER_BIT;
    return (uint32_t)(next % BITS_ENUM_COUNT);
}

uint32_t bits_draw_varint(uint64_t next, const ph_model* model, uint32_t* cost)
{
    (void)model;
    const uint32_t value = any_length(next, 28);
    *cost = (uint32_t)ph_varint_cost_bits(value) * PH_COST_PER_BIT;
    return value;
}

uint32_t bits_draw_two_bit(uint64_t next, const ph_model* model, uint32_t* cost)
{
    (void)model;
    const uint32_t value = any_length(next, 32);
    *cost = (uint32_t)ph_two_bit_cost_bits(value) * PH_COST_PER_BIT;
    return value;
}

uint32_t bits_draw_gamma(uint64_t next, const ph_model* model, uint32_t* cost)
{
    (void)model;
    const uint32_t value = (1u << halving(next) / 2) - 1 + (uint32_t)(next >> 60);
    *cost = (uint32_t)ph_gamma_cost_bits(value) * PH_COST_PER_BIT;
    return value;
}

uint32_t bits_draw_rice(uint64_t next, const ph_model* model, uint32_t* cost)
{
    (void)model;
    const uint32_t value = halving(next) << BITS_RICE_K | (uint32_t)(next >> 61);
    *cost = (uint32_t)ph_rice_cost_bits(value, BITS_RICE_K) * PH_COST_PER_BIT;
    return value;
}

void bits_skewed_table(int count, uint16_t* cumulative)
{
    uint32_t seen[PH_MODEL_SYMBOLS_MAX];
    double share = 1e6;
    for (int i = 0; i < count; ++i) {
        seen[i] = (uint32_t)share;
        share *= 1.0 - 4.0 / (count + 4);
    }
    ph_model_build(seen, count, cumulative);
}
