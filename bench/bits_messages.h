// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What `pinhole bench bits` writes and reads: a few packets' worth of numbers from a seeded
// generator, and the packets made of them.

#ifndef PH_BENCH_BITS_MESSAGES_H
#define PH_BENCH_BITS_MESSAGES_H

#include "unchecked_bits.h"

#include <pinhole/entropy.h>

#define PACKET_COUNT 64
#define PACKET_BYTES 1200
// A number takes two bits or more on average, in every set.
#define NUMBERS_MAX (PACKET_COUNT * PACKET_BYTES * 4)

// Packet p holds the numbers first[p]..first[p + 1].
typedef struct bits_messages {
    uint32_t value[NUMBERS_MAX];
    uint8_t width[NUMBERS_MAX]; // mixed fields only
    int first[PACKET_COUNT + 1];
    uint8_t bytes[PACKET_COUNT][PACKET_BYTES + UNCHECKED_SPARE_BYTES];
    size_t size[PACKET_COUNT];
    ph_model model; // symbols only
} bits_messages;

// Draws one number; next is 64 random bits.
typedef struct bits_source {
    // Returns the number and sets its cost in the model's unit (1/256 bit).
    uint32_t (*draw)(uint64_t next, const ph_model* model, uint32_t* cost);
    const ph_model* model; // symbols only
} bits_source;

// Fills the numbers, packets as full as they get without overflowing. The packets themselves are
// for the writers to fill.
void bits_messages_draw(bits_messages* messages, uint64_t seed, const bits_source* source);

// The sources. Mixed fields of 1..32 bits: also sets the widths.
void bits_messages_draw_fields(bits_messages* messages, uint64_t seed);

uint32_t bits_draw_symbol(uint64_t next, const ph_model* model, uint32_t* cost);

// Values for each integer coding, spread as that coding likes them.
#define BITS_RANGE_LO (-500)
#define BITS_RANGE_HI 500
#define BITS_ENUM_COUNT 12u
#define BITS_RICE_K 3
uint32_t bits_draw_range(uint64_t next, const ph_model* model, uint32_t* cost); // distance from lo
uint32_t bits_draw_enum(uint64_t next, const ph_model* model, uint32_t* cost);
uint32_t bits_draw_varint(uint64_t next, const ph_model* model, uint32_t* cost);
uint32_t bits_draw_two_bit(uint64_t next, const ph_model* model, uint32_t* cost);
uint32_t bits_draw_gamma(uint64_t next, const ph_model* model, uint32_t* cost);
uint32_t bits_draw_rice(uint64_t next, const ph_model* model, uint32_t* cost);

// Skewed counts, each symbol a bit rarer than the one before; a table for ph_model.
void bits_skewed_table(int count, uint16_t* cumulative);

#endif
