// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A snapshot as bits. Once per viewer and tick to write (how large it is decides when it leaves), once
// per snapshot to read.
//
//   head       back 5 (0: no baseline), wait 5, tick 16 after the baseline's; without a baseline, and
//              after 65,535, which says so, the whole tick in 32
//   leaves     a bit before each, then its slot; a 0 at the end
//   changes    which properties changed anywhere, a bit each (x and y are one, z is one); of each its
//              size classes; a bit: entities jumped
//   entities   of the baseline, but for those that left, by slot: a bit, changed or not; then a bit for
//              each property that changed anywhere, and the values that changed
//   enters     a bit before each, then slot, key, position, values; a 0 at the end
//
// Differences of x and y share a class of 2 bits: three widths that the head of the changes names, or
// the whole coordinate. So do those of z. A number has one width and the whole value. All are written
// with the sign in the lowest bit (zigzag).
//
// snapshot datagram: sequence 15, is a fragment 1; if it is: number 15, is the last 1; then bytes of
// the snapshot.

#ifndef PINHOLE_KIT_SNAPSHOT_CODE_H
#define PINHOLE_KIT_SNAPSHOT_CODE_H

#include "kit/sim_result.h"
#include "kit/snapshot.h"

#include <pinhole/bits.h>

// How long the newest ack had waited at the sender when the snapshot left, in these units.
#define PH_SNAPSHOT_WAIT_US 8000
#define PH_SNAPSHOT_WAIT_UNKNOWN 31

// An ack: the sequence of the newest snapshot that the client has, and how many milliseconds after the
// first ack of it this one leaves; 255: unknown.
#define PH_SNAPSHOT_ACK_SIZE 3
#define PH_SNAPSHOT_LAG_UNKNOWN 255

#define PH_SNAPSHOT_DATAGRAM_HEAD 2
#define PH_SNAPSHOT_FRAGMENT_HEAD 4

// What one datagram carries of a snapshot, alone and as a fragment.
static inline size_t ph_snapshot_alone_bytes(const ph_snapshot_layout* layout)
{
    return (size_t)layout->payload_max - PH_SNAPSHOT_DATAGRAM_HEAD;
}

static inline size_t ph_snapshot_fragment_bytes(const ph_snapshot_layout* layout)
{
    return (size_t)layout->payload_max - PH_SNAPSHOT_FRAGMENT_HEAD;
}

typedef struct ph_snapshot_head {
    int back;      // from the sequence of the snapshot to that of its baseline; 0: none
    uint32_t tick; // after that of the baseline, or whole
    bool is_whole_tick;
    uint8_t wait; // 0..PH_SNAPSHOT_WAIT_UNKNOWN
} ph_snapshot_head;

// What the bits of a snapshot were for, in its order; as in pinhole/stats.h.
typedef struct ph_snapshot_items {
    ph_trace_item* items;
    int count;
    int capacity;
} ph_snapshot_items;

// As many as any snapshot has.
int ph_snapshot_items_max(const ph_snapshot_layout* layout);

typedef struct ph_snapshot_writing {
    const ph_snapshot_layout* layout;
    const ph_snapshot* baseline; // NULL: none
    uint8_t wait;
    // Slots of entities that the baseline lacks, in the order in which they join. Their keys and blocks
    // are in the snapshot, which does not have them as there yet.
    const uint16_t* newcomers;
    int newcomer_count;
    size_t limit_bits; // newcomers that go beyond are left out; but one joins in any case
    uint8_t* bytes;
    size_t capacity;
    ph_snapshot_items* items; // filled; NULL: not wanted
} ph_snapshot_writing;

// Writes a snapshot. The newcomers that joined are there afterwards, and is_quiet is set.
// @return Its size in bytes, and what the bits were for in *counts; 0: it does not fit.
size_t ph_snapshot_write(const ph_snapshot_writing* writing, ph_snapshot* snapshot,
                         ph_sim_counts* counts);

// Reads the head. The reader fails when there is none.
ph_snapshot_head ph_snapshot_read_head(ph_bit_reader* reader);

// Reads the rest into *snapshot, which is not the baseline (NULL when the head says none). Bytes are
// checked: one that is refused leaves a snapshot without meaning.
// @return PH_OK or PH_ERROR_VALUE.
ph_result ph_snapshot_read(ph_bit_reader* reader, const ph_snapshot_layout* layout,
                           const ph_snapshot* baseline, ph_snapshot* snapshot);

#endif
