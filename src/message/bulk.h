// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Blocks and unreliable messages of one end: what they keep, what of them goes into the next datagram, which share
// pays for it, and what one of the other end means. Looked at only while has_bulk of ph_messages says so, or when a
// bulk section has come.

#ifndef PH_MESSAGE_BULK_H
#define PH_MESSAGE_BULK_H

#include "message/block.h"
#include "message/unreliable.h"

struct ph_bulk {
    ph_block_outbox outbox;
    ph_block_inbox inbox;
    ph_token_bucket block_share;
    int64_t spare_bits;        // of the datagram of blocks that was promised: paid before the share
    uint64_t blocks_wait_us;   // since when pieces wait; 0: they do not
    uint64_t block_ack_us;     // when the last ack was written
    int block_acks_owed;       // sections that shall carry one
    bool is_unreliable_urgent; // one has waited long enough for a datagram of its own

    ph_unreliable_queue to_send;
    ph_unreliable_queue to_receive;
    int handed_out;         // bytes of the first of these, which the game has; 0: none
    uint16_t once_sequence; // of the next one that goes
    uint16_t newest_sequence[PH_UNRELIABLE_CHANNELS];
    ph_unreliable_seen seen;
};

// Memory of it: itself, and the queues behind it.
size_t ph_bulk_bytes(const ph_messages_def* def);
void ph_bulk_init(ph_messages* messages, ph_bulk* bulk);
void ph_bulk_destroy(ph_messages* messages);
void ph_bulk_set_budget(ph_messages* messages, uint64_t now_us);

// ---- what goes

typedef struct ph_bulk_composed {
    ph_bulk_section section;
    int offsets[PH_BULK_UNRELIABLE_MAX]; // of its unreliable messages
    int64_t bits;                        // 0: nothing
    int64_t message_bits;                // that the messages' share pays
    int64_t block_bits;                  // that the blocks' share pays
} ph_bulk_composed;

// Bytes, when there is nothing 0.
size_t ph_bulk_size(const ph_bulk_composed* b);

// What of a datagram may be taken: with a packet, alone for messages (no blocks), alone for blocks (no messages).
typedef struct ph_bulk_room {
    int64_t bits;
    int64_t message_bits; // that the messages' share has left
    int64_t block_bits;   // that blocks may take
    bool has_messages;
    bool has_blocks;
} ph_bulk_room;

void ph_bulk_compose(ph_messages* messages, uint64_t now_us, const ph_bulk_room* room,
                     ph_bulk_composed* b);

// Time passes for unreliable messages: some are dropped.
void ph_bulk_pass_time(ph_messages* messages, uint64_t now_us);

void ph_bulk_note_written(ph_messages* messages, uint64_t now_us, const ph_bulk_composed* b);

// ---- what comes

ph_messages_refusal ph_bulk_judge(const ph_messages* messages, const ph_bulk_section* section);
void ph_bulk_take(ph_messages* messages, uint64_t now_us, const ph_bulk_section* section);

#endif
