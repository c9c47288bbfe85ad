// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Packets of random content for the range coder: a list of things to write, replayed for writing and for
// reading.

#ifndef PINHOLE_TEST_ENTROPY_ITEMS_H
#define PINHOLE_TEST_ENTROPY_ITEMS_H

#include "support/test_support.h"

#include <pinhole/entropy.h>

// Models of different shapes: a coin, rare symbols at either end, a skewed one of seven, a certain one.
#define TEST_MODEL_COUNT 5
#define TEST_MODEL_COIN 0
#define TEST_MODEL_SKEWED 3
extern const ph_model test_models[TEST_MODEL_COUNT];

typedef enum item_kind { ITEM_SYMBOL, ITEM_UNIFORM, ITEM_RAW, ITEM_VARINT } item_kind;

typedef struct item {
    item_kind kind;
    int model;
    uint32_t count;
    int width;
    uint64_t value;
} item;

item random_item(test_rng* rng);
void write_item(ph_entropy_writer* writer, const item* it);
uint64_t read_item(ph_entropy_reader* reader, const item* it);

#endif
