// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Packets that came before an older one. Packets are applied in the order in which they were sent, and
// an ack promises that what it passes over never will be. So a packet that overtakes another one is held
// back for a moment, unacked, and is applied behind it:
//
//   sent      87    88    89    90            jitter of 10 ms, a packet each 8 ms
//   came      87    89    88    90
//   applied   87          88,89 90            89 waited for 88; without that 88 would be dropped
//
// How long is learned from packets that came late, up to a limit (ph_client_def.reorder_wait_ms). Where
// nothing is reordered, nothing is held: a gap is then a loss, and waiting would be in vain. Datagrams
// that are read in one go have one time; those wait until all are read, which is when the client is next
// asked for an ack or a frame.
//
// Once per packet that comes out of order; nothing allocates.

#ifndef PH_CLIENT_REORDER_H
#define PH_CLIENT_REORDER_H

#include <pinhole/packet.h>

// At 128 packets a second four are 31 ms.
#define PH_REORDER_MAX 4

typedef struct ph_held_packet {
    uint64_t came_us;
    uint64_t due_us; // applied then, whatever is missing; 0: at once
    uint32_t sequence;
    uint16_t size;
    uint8_t bytes[PH_PAYLOAD_MAX];
} ph_held_packet;

// {0} holds nothing.
typedef struct ph_reorder {
    ph_held_packet held[PH_REORDER_MAX]; // by sequence, the oldest first
    int count;
    int trust;        // gaps that may stay open before nothing is held any more; 0: nothing is
    uint32_t wait_us; // how long packets come late, most of them
    uint32_t most_us; // it is never longer; 0: nothing is held
} ph_reorder;

// A packet came so long after a newer one.
void ph_reorder_learn_late(ph_reorder* reorder, uint64_t late_us);

// Holds a packet back, which is newer than one that is missing; there is room. Of two with one sequence
// the first that came has its turn first: one of them may be forged.
void ph_reorder_hold(ph_reorder* reorder, uint32_t sequence, uint64_t now_us, const void* bytes,
                     size_t size);

// The oldest held packet that is newer than this one, or NULL.
const ph_held_packet* ph_reorder_newer(const ph_reorder* reorder, uint32_t sequence);

// Whether a packet that came then came behind a newer one, which is held.
bool ph_reorder_is_overtaken(const ph_reorder* reorder, uint32_t sequence, uint64_t came_us);

// Whether the turn of the oldest held packet has come: it does not come behind one that is missing, or
// its time, or that of one behind it, is up.
bool ph_reorder_is_next(const ph_reorder* reorder, uint32_t newest, uint64_t now_us);

// The oldest is taken out. is_gap: something before it is still missing, and was waited for in vain; when
// that was so too often, the turn of all others has come.
void ph_reorder_remove_first(ph_reorder* reorder, bool is_gap);

// When the next one is due; UINT64_MAX: none is held.
uint64_t ph_reorder_due_us(const ph_reorder* reorder);

bool ph_reorder_validate(const ph_reorder* reorder, uint32_t newest);

#endif
