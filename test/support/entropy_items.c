// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Random packets; see the header.

#include "support/entropy_items.h"

#include <pinhole/integers.h>

static const uint16_t coin_table[] = {0, 1 << 14, 1 << 15};
static const uint16_t rare_table[] = {0, 32767, 32768};
static const uint16_t reversed_rare_table[] = {0, 1, 32768};
static const uint16_t skewed_table[] = {0, 20000, 28000, 31000, 32000, 32500, 32700, 32768};
static const uint16_t certain_table[] = {0, 32768};
const ph_model test_models[TEST_MODEL_COUNT] = {
    {.cumulative = coin_table, .count = 2},          {.cumulative = rare_table, .count = 2},
    {.cumulative = reversed_rare_table, .count = 2}, {.cumulative = skewed_table, .count = 7},
    {.cumulative = certain_table, .count = 1},
};

item random_item(test_rng* rng)
{
    item it = {.kind = (item_kind)test_rng_below(rng, 4)};
    switch (it.kind) {
    case ITEM_SYMBOL:
        it.model = (int)test_rng_below(rng, TEST_MODEL_COUNT);
        it.value = test_rng_below(rng, test_models[it.model].count);
        break;
    case ITEM_UNIFORM:
        it.count = 1 + (uint32_t)((test_rng_next(rng) & 0xFFFFFFFE) >> test_rng_below(rng, 32));
        it.value = test_rng_below(rng, it.count);
        break;
    case ITEM_RAW:
        it.width = (int)test_rng_below(rng, 65);
        it.value = test_rng_next(rng) >> (it.width == 0 ? 63 : 64 - it.width);
        it.value = it.width == 0 ? 0 : it.value;
        break;
    case ITEM_VARINT:
    default:
        it.value = test_rng_next(rng) >> test_rng_below(rng, 64);
        break;
    }
    return it;
}

void write_item(ph_entropy_writer* writer, const item* it)
{
    switch (it->kind) {
    case ITEM_SYMBOL:
        ph_entropy_write(writer, &test_models[it->model], (int)it->value);
        break;
    case ITEM_UNIFORM:
        ph_entropy_write_uniform(writer, (uint32_t)it->value, it->count);
        break;
    case ITEM_RAW:
        ph_bits_write(&writer->raw, it->value, it->width);
        break;
    case ITEM_VARINT:
    default:
        ph_varint_write(&writer->raw, it->value);
        break;
    }
}

uint64_t read_item(ph_entropy_reader* reader, const item* it)
{
    switch (it->kind) {
    case ITEM_SYMBOL:
        return (uint64_t)ph_entropy_read(reader, &test_models[it->model]);
    case ITEM_UNIFORM:
        return ph_entropy_read_uniform(reader, it->count);
    case ITEM_RAW:
        return ph_bits_read(&reader->raw, it->width);
    case ITEM_VARINT:
    default:
        return ph_varint_read(&reader->raw);
    }
}
