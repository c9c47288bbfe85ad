// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A sender and a client of the pinhole profile without a world between them: random schemas, random
// baselines, random packets, written by one end and read by the other.

#ifndef PINHOLE_CODED_PAIR_H
#define PINHOLE_CODED_PAIR_H

#include "random_record.h"
#include "random_schema.h"

#include "packet/pinhole_records.h"

enum {
    CODED_SLOTS = 20,
    CODED_KNOWN_MAX = PH_PROPERTIES_MAX * PH_PACKED_MAX,
    CODED_BYTES_MAX = 1 << 16,
};

/// What one end knows of every slot.
typedef struct coded_end {
    ph_baseline baselines[CODED_SLOTS];
    uint8_t known[CODED_SLOTS][CODED_KNOWN_MAX];
    uint64_t name_base;
} coded_end;

/// Records as they stand in a packet: leaves, enters, updates. They point into the packet.
typedef struct coded_packet {
    ph_coded_record coded[CODED_SLOTS];
    ph_coded_neighbour neighbours[CODED_SLOTS]; // of which each is told, if it is
    ph_coded_spread spread;
    random_record blocks[CODED_SLOTS];
    int count;
    int leave_count;
    int enter_count;
    uint32_t tick;
} coded_packet;

typedef struct coded_pair {
    random_schema tables;
    ph_schema* schema;
    ph_layouts layouts;
    ph_packing packings[RANDOM_CLASSES_MAX];
    ph_ground ground;
    ph_baseline_rules rules;
    ph_coded_frame frame; // of the packet at hand
} coded_pair;

void coded_pair_setup(coded_pair* pair, test_rng* rng);
void coded_pair_teardown(coded_pair* pair);

/// Time goes on, the eye moves, any density.
void coded_pair_next(coded_pair* pair, test_rng* rng);

/// Records that a sender with these baselines could write now.
void coded_pair_fill(coded_pair* pair, const coded_end* end, coded_packet* packet, test_rng* rng);

/// @return Size in bytes; *cost256: what was promised, in 1/256 bit.
size_t coded_pair_write(coded_pair* pair, const coded_end* end, const coded_packet* packet,
                        uint8_t* bytes, uint64_t* cost256);

/// @return What the reader's end says.
ph_result coded_pair_read(coded_pair* pair, const coded_end* end, const uint8_t* bytes, size_t size,
                          coded_packet* packet);

/// The packet was applied and both ends know it.
void coded_pair_take(const coded_pair* pair, coded_end* end, const coded_packet* packet);

uint64_t coded_pair_digest(const coded_pair* pair, const coded_end* end);

#endif
