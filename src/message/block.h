// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Blocks: those that are sent or wait for that (outbox), and the one that comes (inbox). One block goes at a time and
// is numbered when it begins. It is cut into pieces; of the first 1,024 that the other end does not have, any may be
// in flight.
//
//   | acked ... | oldest .. (sent, some of them acked) .. unsent .. | .. piece_count
//
// A block is over when the other end says that it expects the next one: it has all of it, has refused it, or knows
// that it was cancelled. Only then does the next one begin. So each end knows of one block alone, and what is behind
// it is a double.

#ifndef PH_MESSAGE_BLOCK_H
#define PH_MESSAGE_BLOCK_H

#include "message/bulk_section.h"
#include "message/message_state.h"

// Numbers wrap: how far a is ahead of b, behind it if negative.
static inline int ph_blocks_ahead(uint16_t a, uint16_t b)
{
    return (int16_t)(uint16_t)(a - b);
}

static inline uint32_t ph_block_piece_count(uint32_t size)
{
    return (size + PH_BLOCK_PIECE_SIZE - 1) / PH_BLOCK_PIECE_SIZE;
}

static inline uint32_t ph_block_piece_size(uint32_t block_size, uint32_t piece)
{
    const uint32_t left = block_size - piece * PH_BLOCK_PIECE_SIZE;
    return left < PH_BLOCK_PIECE_SIZE ? left : PH_BLOCK_PIECE_SIZE;
}

// Of all runs.
static inline int ph_block_count_pieces(const ph_block_pieces* pieces)
{
    int count = 0;
    for (int i = 0; i < pieces->run_count; ++i) {
        count += pieces->runs[i].count;
    }
    return count;
}

// ---- the outbox

typedef struct ph_block_sent_piece {
    uint64_t sent_us; // last
    uint8_t send_count;
    bool is_delivered;
} ph_block_sent_piece;

typedef struct ph_block_item {
    const uint8_t* bytes;
    uint32_t size;
    uint32_t tag;
    uint32_t id;
    bool is_copy; // ours to release
} ph_block_item;

// How much may be in flight, in pieces. It doubles with each round trip until much is lost, is halved then, and grows
// slowly from there on. A tenth lost is not much: radio links lose as much by themselves, while a queue that runs
// over loses a large part of what is sent.
typedef struct ph_block_congestion {
    int window;
    bool has_lost; // the first growth is over
    // The present round trip.
    uint64_t round_us;
    int acked;
    int resent;
} ph_block_congestion;

// What is known about one moment, so that the datagrams of one tick do not search the window again.
typedef struct ph_block_scan {
    uint64_t now_us;
    uint32_t from; // no piece before it is due
    int in_flight;
    bool is_valid;
} ph_block_scan;

typedef struct ph_block_outbox {
    ph_block_item queue[PH_BLOCKS_QUEUED_MAX]; // the first one is sent
    int count;
    uint32_t last_id;
    uint16_t number;     // of the first one
    bool was_one_before; // some block has ended that the other end knows of
    bool is_begun;       // the other end is known to have tag and size
    bool is_held_up;     // the last ack named it, and nothing of it had been taken
    bool is_cancelled;   // the other end is to be told
    bool
        may_be_over; // all of it was sent, or that it is cancelled, by a connection before this one
    uint8_t cancel_count;      // how often it was
    uint64_t cancelled_us;     // when it last was
    ph_block_sent_piece* sent; // by piece, modulo the window; NULL before the first block
    uint32_t oldest;
    uint32_t unsent;
    uint32_t piece_count;
    uint32_t acked_bytes;
    ph_message_rtt rtt;
    ph_block_congestion congestion;
    ph_block_scan scan;
    ph_block_end ends[PH_BLOCKS_QUEUED_MAX]; // a ring
    int first_end;
    int end_count;
} ph_block_outbox;

// @return PH_OK, PH_ERROR_FULL or PH_ERROR_MEMORY. Size 1..PH_BLOCK_SIZE_MAX.
ph_result ph_block_outbox_post(ph_block_outbox* outbox, const ph_allocator* allocator,
                               const ph_block_item* item);
void ph_block_outbox_destroy(ph_block_outbox* outbox, const ph_allocator* allocator);

// Another receiver goes on, which has nothing of the first block: that is sent from its first piece on.
void ph_block_outbox_begin_again(ph_block_outbox* outbox);

// @return False when there is no such block.
bool ph_block_outbox_cancel(ph_block_outbox* outbox, const ph_allocator* allocator, uint32_t id,
                            uint64_t* cancelled);

bool ph_block_outbox_try_end(ph_block_outbox* outbox, ph_block_end* end);

// What should be sent now in so many bits. @return Bits that it takes, 0: nothing.
int64_t ph_block_outbox_compose(ph_block_outbox* outbox, uint64_t now_us, int64_t room_bits,
                                ph_block_pieces* pieces);
// Whether compose finds nothing that it would leave behind.
bool ph_block_outbox_is_last(const ph_block_outbox* outbox, const ph_block_pieces* pieces);
// @return Of its pieces, those that were sent before.
int ph_block_outbox_note_sent(ph_block_outbox* outbox, uint64_t now_us,
                              const ph_block_pieces* pieces);

// Whether the other end may say that.
bool ph_block_outbox_is_possible(const ph_block_outbox* outbox, const ph_block_ack* ack);
// Only of what is possible. @return Whether a block has ended.
bool ph_block_outbox_take_ack(ph_block_outbox* outbox, const ph_allocator* allocator,
                              uint64_t now_us, const ph_block_ack* ack);

// ---- the inbox

typedef struct ph_block_inbox {
    uint16_t number;    // of the block that comes, or is expected next
    bool was_refused;   // the one before it
    bool is_begun;      // tag, size and memory are there
    bool is_whole;      // the bytes are those of a block that has come, and nothing else comes in
    bool is_handed_out; // and the game has it
    int size_max;       // bytes
    uint8_t* bytes;     // NULL: none
    uint32_t size;
    uint32_t tag;
    uint32_t next; // the first piece that has not come
    uint32_t end;  // behind the last one that has
    uint32_t come_bytes;
    // Bit by piece, modulo the window: those from next on that have come.
    uint8_t early[PH_BLOCK_MAP_SIZE];
} ph_block_inbox;

void ph_block_inbox_destroy(ph_block_inbox* inbox, const ph_allocator* allocator);

// Another sender goes on: what has come of a block that is not whole is forgotten.
void ph_block_inbox_begin_again(ph_block_inbox* inbox, const ph_allocator* allocator);

// PH_MESSAGES_REFUSAL_COUNT when the other end can have sent this, else why not. Changes nothing.
ph_messages_refusal ph_block_inbox_judge(const ph_block_inbox* inbox,
                                         const ph_block_pieces* pieces);

typedef struct ph_block_storing {
    int duplicates;
    int dropped;
} ph_block_storing;

// Only of pieces that were judged possible. Allocates when a block begins.
ph_block_storing ph_block_inbox_store(ph_block_inbox* inbox, const ph_allocator* allocator,
                                      const ph_block_pieces* pieces);

// What has come, its map cut to what fits into so many bits. @return Bits, 0 when it does not fit.
int64_t ph_block_inbox_compose_ack(const ph_block_inbox* inbox, int64_t room_bits,
                                   ph_block_ack* ack);

// The block that has come, once; the next call gives its memory back.
bool ph_block_inbox_take(ph_block_inbox* inbox, const ph_allocator* allocator, ph_block* block);

#endif
