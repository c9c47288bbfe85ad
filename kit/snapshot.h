// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Plain snapshots, as a good shooter of today sends them: the yardstick beside the library's own two
// profiles. A snapshot is the whole state of all that a viewer sees at one tick, quantised as the schema
// says, and written as the difference to the newest snapshot that the client has acked. The sender
// has no priorities and no prediction: every visible entity is in every snapshot.
//
//   sequence      7        8        9       10
//   sent        against 5    5        7        7        the newest that was acked by then
//   fate         acked     lost   in flight  in flight
//
// What was chosen in favour of snapshots, where the words above leave a choice:
//   - the same vision, slots, quantisation and distances as the profiles; the same motion model, clock
//     and convergence at the client, which is given every position of every snapshot, the unchanged
//     ones too: that an entity stands is known at once (13 kbit/s in the town: 0.69 mrad; given the
//     changed ones alone 1.28). Following velocities in full, as pinhole's clients do, is worse in
//     the crowd (13.4 instead of 13.2) and hardly better elsewhere
//   - one class costs no bits; an entity that did not change costs one; properties that changed nowhere
//     cost nothing; differences have size classes whose widths are chosen anew for each snapshot
//   - an enter has its position relative to the viewer's own; a height on a ground is a layer
//   - a difference below the property's significant one waits until the entity stands (in the crowd
//     13.2 mrad instead of 14.3)
//   - newcomers, the nearest first, join as far as one datagram or the tokens at hand reach; so the
//     first snapshot of a crowd is not a burst of ten datagrams, of which all must arrive
//   - a snapshot leaves as soon as the bucket can pay for the whole of it. One that is larger than the
//     bucket leaves when that is full, and what is left of it as tokens come in
//   - acks are repeated where snapshots come seldom, as the profiles' are
//   - no hello, no session, no schema's fingerprint: the simulator's two ends know each other
//
// Both ends keep the last PH_SNAPSHOT_RING snapshots. Here is what they share: which properties there
// are, and a snapshot in memory. snapshot_code.h has the bits, snapshot_sender.h and snapshot_client.h the
// ends. Memory is taken at creation.

#ifndef PINHOLE_KIT_SNAPSHOT_H
#define PINHOLE_KIT_SNAPSHOT_H

#include "kit/way.h"

#include "schema/property.h"

#include <pinhole/ground.h>
#include <pinhole/schema.h>

// Snapshots that may be in flight, and how far back a baseline may be.
#define PH_SNAPSHOT_RING 32
// Sequences on the wire are modulo this.
#define PH_SNAPSHOT_SEQUENCES 0x8000u
// Beside the position; a mask of all fits 64 bits. What a schema has beyond is not sent.
#define PH_SNAPSHOT_PROPERTIES_MAX 62

// A property that snapshots carry: a number or a text, meant for all viewers.
typedef struct ph_snapshot_property {
    int property; // of the schema's only class
    const ph_property* described;
    ph_field field;       // as what it is read from the world
    uint16_t offset;      // of its value in the block of an entity
    uint16_t size;        // words, or a uint16_t length and the bytes of a text
    bool is_once;         // sent with the enter alone
    double distance_mm2;  // 0: as far as the viewer sees
    uint64_t significant; // a difference of so many levels is worth sending, at least 1
} ph_snapshot_property;

// The block of one entity: | x y z | value | value | ...
typedef struct ph_snapshot_layout {
    const ph_property* position;
    int position_property;
    ph_ground ground; // {0} unless the position is told by layers
    ph_snapshot_property properties[PH_PROPERTIES_MAX];
    int count;       // beside the position
    int heading;     // of these; -1: none
    int orientation; // likewise
    int stride;      // bytes of a block
    int slot_count;
    int slot_bits;
    // Bytes of a datagram at most: all but the last fragment of a snapshot are so large. Less than
    // PH_PAYLOAD_MAX where the bucket cannot pay for that.
    int payload_max;
} ph_snapshot_layout;

#define PH_SNAPSHOT_PAYLOAD_MIN 16

// Of the schema's only class, and of what both ends agreed upon: so both get the
// same. The schema outlives it.
// @return False when there are several classes, or the terms are none (slots 1..65,535, payload
// PH_SNAPSHOT_PAYLOAD_MIN..PH_PAYLOAD_MAX).
bool ph_snapshot_layout_make(ph_snapshot_layout* layout, const ph_schema* schema,
                             const ph_ground* ground, const ph_way_terms* terms);

// The most bits that an enter or an update of one entity can take.
int ph_snapshot_entity_bits_max(const ph_snapshot_layout* layout);

// All that is visible at one tick. Arrays by slot; what a slot without an entity holds means nothing.
typedef struct ph_snapshot {
    uint32_t sequence; // 0..PH_SNAPSHOT_SEQUENCES - 1
    uint32_t tick;
    bool is_used;  // in a ring: there is one
    bool is_quiet; // nothing in it differs from its baseline
    int entity_count;
    bool* is_there;
    uint64_t* keys;
    uint8_t* jump_ages; // ticks since the entity jumped, if it did since the baseline; 0: no
    uint8_t* blocks;
} ph_snapshot;

// @return False when there is no memory; destroy it all the same.
bool ph_snapshot_create(ph_snapshot* snapshot, const ph_snapshot_layout* layout);
void ph_snapshot_destroy(ph_snapshot* snapshot); // {0} is allowed
void ph_snapshot_copy(ph_snapshot* snapshot, const ph_snapshot* from,
                      const ph_snapshot_layout* layout);
void ph_snapshot_clear(ph_snapshot* snapshot, const ph_snapshot_layout* layout);

uint8_t* ph_snapshot_block(const ph_snapshot* snapshot, const ph_snapshot_layout* layout, int slot);

// An entity of which nothing is known but its position: values are the initial ones.
void ph_snapshot_reset_block(const ph_snapshot_layout* layout, uint8_t* block);

// Words of a value that is no text, and back.
void ph_snapshot_load(const ph_snapshot_property* property, const uint8_t* block, uint32_t* words);
void ph_snapshot_store(const ph_snapshot_property* property, const uint32_t* words, uint8_t* block);
// A text, borrowed; and back.
ph_text ph_snapshot_text(const ph_snapshot_property* property, const uint8_t* block);
void ph_snapshot_store_text(const ph_snapshot_property* property, ph_text text, uint8_t* block);

void ph_snapshot_load_position(const uint8_t* block, uint32_t words[3]);
void ph_snapshot_store_position(const uint32_t words[3], uint8_t* block);

// Whether both hold the same entities with the same values; not when they were made.
bool ph_snapshot_is_same(const ph_snapshot* a, const ph_snapshot* b,
                         const ph_snapshot_layout* layout);

// How much later a is than b, -PH_SNAPSHOT_SEQUENCES / 2 ..< PH_SNAPSHOT_SEQUENCES / 2.
int ph_snapshot_sequence_difference(uint32_t a, uint32_t b);

#endif
