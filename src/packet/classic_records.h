// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records as the classic profile writes them. Behind the header come leaves, enters, updates, each
// kind in ascending order of slots, no slot twice in a packet; zero bits up to the next byte.
//
//   leave    slot 8 | association 2
//   enter    slot 8 | association 2 | class 8 | key 44 | time 1 | position 48 | rest 1 | ...
//   update   slot 8 | association 2 | time 1 | position? 1 | position 48 | rest 1 | ...
//
//   slot      8 bits, or as many as the viewer's slot count needs if that is more
//   key       1 bit and 43, or for larger keys 1 bit and 64
//   time      0; or 1 and two more bits, not both 0: it jumped since the position that the client is
//             known to have, in an enter since one that an earlier enter may have told; its position
//             is in full
//   position  x, y, z shortened by truncated coordinates around the eye, 16 bits each unless the
//             class says otherwise; in full (only when one of them is outside the window): all bits
//             above the step. With a ground, z is an altitude (ground.h) either way
//   rest      1: presence flags follow, one for each property but the position in the order of the
//             class, then the values present
//
// In an enter, what is absent is at its initial value, and what is present is not. A reference is 1
// bit for none (0), or slot and association. 61 bits for a position, whatever the class.

#ifndef PH_PACKET_CLASSIC_RECORDS_H
#define PH_PACKET_CLASSIC_RECORDS_H

#include "base/bitset.h"
#include "packet/layout.h"

#include <pinhole/packet.h>

#define PH_CLASSIC_SLOT_BITS_MIN 8
#define PH_CLASSIC_SLOT_BITS_MAX 16
#define PH_CLASSIC_ASSOCIATION_BITS 2
#define PH_CLASSIC_ASSOCIATION_MASK ((1u << PH_CLASSIC_ASSOCIATION_BITS) - 1)
#define PH_CLASSIC_CLASS_BITS 8
#define PH_CLASSIC_KEY_BITS 43      // behind a bit of 0
#define PH_CLASSIC_WIDE_KEY_BITS 64 // behind a bit of 1

// The most that an enter costs beside its values and presence flags: slot, association, class, a
// wide key, three bits of time, the rest flag.
#define PH_CLASSIC_ENTER_BITS_MAX                                                                  \
    (PH_CLASSIC_SLOT_BITS_MAX + PH_CLASSIC_ASSOCIATION_BITS + PH_CLASSIC_CLASS_BITS + 1 +          \
     PH_CLASSIC_WIDE_KEY_BITS + 3 + 1)

typedef enum ph_record_kind {
    PH_RECORD_LEAVE = 0,
    PH_RECORD_ENTER,
    PH_RECORD_UPDATE,
} ph_record_kind;

// What one packet says of one slot. The blocks are laid out by the class (layout.h); only what
// `properties` names is written or read.
typedef struct ph_record {
    uint64_t key;         // ENTER
    uint64_t properties;  // ENTER: the position always
    uint32_t association; // counts the slot's entities; the wire has its two low bits
    uint16_t slot;
    uint8_t kind;        // ph_record_kind
    uint8_t class_index; // ENTER, UPDATE
    bool is_jump;        // ENTER, UPDATE: with a position
    // ENTER of the pinhole profile: how it moves, see ph_baseline_velocity_ticks(); else 0.
    int16_t velocity[3];
    // The same of a class with an orientation: how it turns, as the levels of a rotation whose last component is
    // left out.
    int16_t spin[3];
    uint32_t* words; // reading a reference leaves slot + 1 and the two low bits
    uint8_t* texts;  // NULL when the class has none
} ph_record;

// What records of one packet have in common.
typedef struct ph_frame {
    const ph_layouts* layouts;
    const ph_ground* ground;
    int slot_bits;
    int32_t eye_mm[3]; // that positions are restored around
} ph_frame;

// Where the bits of a record went; added to. The sum of all is what the record costs.
typedef union ph_record_bits {
    struct {
        uint32_t property_bits[PH_PROPERTIES_MAX];
        uint32_t mask_bits; // every flag
        uint32_t slot_bits; // slot and association, in an enter also class and key
    };
    uint32_t parts[PH_PROPERTIES_MAX + 2]; // the same by number
} ph_record_bits;

// Exact. stats may be NULL.
int ph_classic_record_bits(const ph_frame* frame, const ph_record* record, ph_record_bits* stats);

void ph_classic_write_record(const ph_frame* frame, const ph_record* record, ph_bit_writer* writer);

// Room for any record by itself, and for what readers of whole words look at behind it.
#define PH_CLASSIC_RECORD_BYTES (PH_PAYLOAD_MAX + 8)

// The least that an update of such properties may cost: to ask before anything is worked out.
int ph_classic_least_bits(const ph_frame* frame, const ph_layout* layout, uint64_t properties);

// An update by itself, from the lowest bit of the first byte on, and its bit statistics, which are
// set, not added to: other properties' bits stay as they are. @return How many bits.
int ph_classic_write_update(const ph_frame* frame, const ph_record* record, uint8_t* bytes,
                            ph_record_bits* stats);

// So many bits that stand by themselves; up to eight bytes behind them may be looked at.
void ph_classic_write_kept(const uint8_t* bytes, int bits, ph_bit_writer* writer);

// Reading goes in two steps, because what an update is made of depends on the slot's class:
// first slot and association (its two low bits), then, with class_index (UPDATE) and blocks set by
// the caller, what. The blocks must be at least as large as the class's; only what was sent is
// written to them. All fail the reader for what no sender writes; the blocks are worth nothing
// then. Whether a slot, or that of a reference, exists at all is for the caller to check.
void ph_classic_read_slot(const ph_frame* frame, ph_bit_reader* reader, ph_record* record);

// ENTER only, between the two: class and key. Fails for a class that does not exist.
void ph_classic_read_key(const ph_frame* frame, ph_bit_reader* reader, ph_record* record);

void ph_classic_read_body(const ph_frame* frame, ph_bit_reader* reader, ph_record* record);

#endif
