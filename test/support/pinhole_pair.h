// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A sender and a client of the pinhole profile without a world between them: random schemas, random
// baselines, random packets, written by one end and read by the other.

#ifndef PINHOLE_PAIR_H
#define PINHOLE_PAIR_H

#include "random_record.h"
#include "random_schema.h"

#include "packet/pinhole_records.h"

enum {
    PINHOLE_SLOTS = 20,
    PINHOLE_KNOWN_MAX = PH_PROPERTIES_MAX * PH_PACKED_MAX,
    PINHOLE_BYTES_MAX = 1 << 16,
};

/// What one end knows of every slot.
typedef struct pinhole_end {
    ph_baseline baselines[PINHOLE_SLOTS];
    uint8_t known[PINHOLE_SLOTS][PINHOLE_KNOWN_MAX];
    uint64_t key_base;
} pinhole_end;

/// Records as they stand in a packet: leaves, enters, updates. They point into the packet.
typedef struct pinhole_packet {
    ph_pinhole_record coded[PINHOLE_SLOTS];
    ph_pinhole_neighbour neighbours[PINHOLE_SLOTS]; // of which each is told, if it is
    ph_pinhole_spread spread;
    random_record blocks[PINHOLE_SLOTS];
    int count;
    int leave_count;
    int enter_count;
    uint32_t tick;
} pinhole_packet;

typedef struct pinhole_pair {
    random_schema tables;
    ph_schema* schema;
    ph_layouts layouts;
    ph_packing packings[RANDOM_CLASSES_MAX];
    ph_ground ground;
    ph_baseline_rules rules;
    ph_pinhole_frame frame; // of the packet at hand
} pinhole_pair;

void pinhole_pair_setup(pinhole_pair* pair, test_rng* rng);
void pinhole_pair_teardown(pinhole_pair* pair);

/// Time goes on, the eye moves, any density.
void pinhole_pair_next(pinhole_pair* pair, test_rng* rng);

/// Records that a sender with these baselines could write now.
void pinhole_pair_fill(pinhole_pair* pair, const pinhole_end* end, pinhole_packet* packet,
                       test_rng* rng);

/// @return Size in bytes; *cost256: what was promised, in 1/256 bit.
size_t pinhole_pair_write(pinhole_pair* pair, const pinhole_end* end, const pinhole_packet* packet,
                          uint8_t* bytes, uint64_t* cost256);

/// @return What the reader's end says.
ph_result pinhole_pair_read(pinhole_pair* pair, const pinhole_end* end, const uint8_t* bytes,
                            size_t size, pinhole_packet* packet);

/// The packet was applied and both ends know it.
void pinhole_pair_take(const pinhole_pair* pair, pinhole_end* end, const pinhole_packet* packet);

uint64_t pinhole_pair_digest(const pinhole_pair* pair, const pinhole_end* end);

#endif
