// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reliable messages and player input: small things that must arrive, in the datagrams that go anyway
// and in the same budget.
//
// One ph_messages stands at each end of a connection; both are alike. It has no socket and no clock.
// Every datagram of the connection begins with a section of messages, one byte when there is nothing to
// say, and behind it stands a packet of the view, an ack, or nothing. docs/wire_message.md describes
// every bit.
//
//     ph_messages_send(messages, "hello", 5);                          // any time
//     while ((size = ph_messages_receive(messages, bytes)) > 0) { ... }  // after each datagram
//
// Server, once per client and tick, and when a datagram came:
//
//     ph_viewer_reserve(world, viewer, PH_MESSAGES_EMPTY_SIZE,
//                       (int)ph_messages_plan(messages, now_us) - PH_MESSAGES_EMPTY_SIZE);
//     ph_viewer_send(world, viewer, now_us, deliver, client);    // deliver packs, and sends
//     size_t size = ph_messages_plan_alone(messages, now_us);
//     if (size > 0 && ph_viewer_spend(world, viewer, now_us, (int)size) == PH_OK) {
//         send(client, bytes, ph_messages_pack(messages, NULL, 0, bytes));
//     }
//     ...
//     if (ph_messages_unpack(messages, now_us, bytes, size, &rest) == PH_OK && rest.size > 0) {
//         ph_viewer_receive_ack(world, viewer, now_us, rest.bytes, rest.size);
//     }
//
// Client, for every packet that came and at least as often as there is new input:
//
//     ph_messages_plan(messages, now_us);
//     size_t ack_size = ph_client_write_ack(client, now_us, ack);
//     send(server, bytes, ph_messages_pack(messages, ack, ack_size, bytes));
//
// Messages arrive whole, in order, each exactly once, whatever the network loses, doubles or reorders.
// They have a share of the budget and no more: the view is never starved by them. Input is not a queue:
// only the newest counts, it goes with every datagram until the other end has it, and the number of the
// last input that was processed comes back.
//
// Two more channels, for what messages are not made for:
//
//   - Blocks: a map, a saved character; one byte up to many megabytes, in order, each exactly once. They
//     have a share of their own, may take what the rest leaves, and never hold up a message. In a tick, ask
//     ph_messages_plan_block() before and behind the view's send, until it wants no datagram any more.
//   - Unreliable messages: effects, voice. They go once, soon or not at all, from the messages' share.
//
// Threads: one at a time; objects share nothing.

#ifndef PINHOLE_MESSAGE_H
#define PINHOLE_MESSAGE_H

#include <pinhole/base.h>
#include <pinhole/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes of one message: 1..PH_MESSAGE_SIZE_MAX.
#define PH_MESSAGE_SIZE_MAX 1024

/// Bytes of an input: 0..PH_INPUT_SIZE_MAX, and at most section_max less PH_MESSAGES_BESIDE_INPUT:
/// beside it there is always room for a fragment.
#define PH_INPUT_SIZE_MAX 255
#define PH_MESSAGES_BESIDE_INPUT 82

/// A section with nothing to say.
#define PH_MESSAGES_EMPTY_SIZE 1

/// Queues are counted in fragments; a message takes one for each started so many bytes.
#define PH_MESSAGE_FRAGMENT_SIZE 64

/// The least section_max.
#define PH_MESSAGES_SECTION_MIN 96

/// Bytes of one block: 1..PH_BLOCK_SIZE_MAX, and at most what the other end accepts. 1 GB.
#define PH_BLOCK_SIZE_MAX (1 << 30)

/// How many blocks one end may have that are sent or wait for that.
#define PH_BLOCKS_QUEUED_MAX 16

/// Bytes of one unreliable message: 1..PH_UNRELIABLE_SIZE_MAX. At 13 kbit/s the share saves up enough for some 380 of
/// them at once; one that is never paid for is dropped.
#define PH_UNRELIABLE_SIZE_MAX 1000

/// Channels of unreliable messages of which the newest wins: 0..PH_UNRELIABLE_CHANNELS - 1.
#define PH_UNRELIABLE_CHANNELS 16

typedef struct ph_messages ph_messages;

/// How to build one end. Start from ph_messages_def_default() and change what you need.
typedef struct ph_messages_def {
    /// The budget of which messages have a share, bits per second. 0: no limit. Default 13,000.
    int bits_per_second;
    /// How much of it messages may take, 1..100. Default 25. What was not used is saved up for a second,
    /// at least for the largest section in a datagram of its own. Input and acks are few bytes and do
    /// not count.
    int share_percent;
    /// The most that one section takes, bytes, PH_MESSAGES_SECTION_MIN..PH_PAYLOAD_MAX; a server's is
    /// at most ph_viewer_reserve_max(). Default 384.
    int section_max;
    /// What a datagram costs beside its payload, bytes, 0..1,000: messages that go alone pay for that
    /// from their share. Default 48.
    int overhead_bytes;
    /// Messages that have found no datagram to go with for so long want one of their own, 0..60,000.
    /// Default 100.
    int max_wait_ms;
    /// How many fragments may wait to be sent or acked, and how many may have come and not been received
    /// by the game, 32..1,024, powers of two. Default 64 each: 4 kB.
    int send_queue_fragments;
    int receive_queue_fragments;
    /// How much of the budget blocks may always take, 1..100. Default 25. Saved up as the messages' share is. What the
    /// rest leaves they may take beside it: see ph_messages_plan_block().
    int block_share_percent;
    /// The largest block that this end accepts, bytes, 0..PH_BLOCK_SIZE_MAX. A block takes that much memory from
    /// when it begins to come until it was received, one at a time, whatever the other end does. 0
    /// (the default): none. What is larger is refused, and the other end is told.
    int block_size_max;
    /// An unreliable message that has found no datagram for so long is dropped, 1..60,000; after a quarter of that it
    /// wants one of its own. Default 250.
    int unreliable_max_wait_ms;
    /// How much of unreliable messages may wait to be sent, and how much may have come and not been
    /// received by the game: bytes, 16 for each and its own rounded up to 8; 1,024..65,536. Default 2,048.
    int unreliable_queue_bytes;
    /// Acks what the game has confirmed by ph_messages_confirm(), not what has come: for a front-end that passes
    /// messages on, and may die before they are safe (docs/moving.md). Default false.
    bool holds_acks;
    /// Zero-initialised means malloc and free.
    ph_allocator allocator;
    /// Is told what was wrong with a call (pinhole/error.h). Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;
    /// Set by ph_messages_def_default(). Do not touch.
    uint32_t cookie;
} ph_messages_def;

/// The defaults named above. They will do as they are.
PH_API ph_messages_def ph_messages_def_default(void);

/// Creates one end of a connection; the other one is new, too. All its memory is taken here, but for blocks: see
/// ph_messages_send_block() and block_size_max.
/// @return PH_OK, PH_ERROR_ARGUMENT (a field of the def), or PH_ERROR_MEMORY; *messages is NULL
/// unless PH_OK.
PH_API ph_result ph_messages_create(const ph_messages_def* def, ph_messages** messages);

/// NULL is allowed.
PH_API void ph_messages_destroy(ph_messages* messages);

/// Another budget from now on, as in the def: tell it what ph_viewer_set_budget() is told.
PH_API void ph_messages_set_budget(ph_messages* messages, int bits_per_second);

// ---- messages

/// Queues a message behind those that wait. The bytes are copied.
/// @return PH_OK, PH_ERROR_ARGUMENT (the size is not 1..PH_MESSAGE_SIZE_MAX), or PH_ERROR_FULL: the other
/// end, or the budget, does not keep up; nothing was queued, try again later.
PH_API ph_result ph_messages_send(ph_messages* messages, const void* bytes, size_t size);

/// The next message of the other end, in the order in which they were sent. Receive all of them after
/// each datagram: what is not received fills the queue, and then nothing more is accepted.
/// @return Its size, 0 when there is none.
PH_API size_t ph_messages_receive(ph_messages* messages, uint8_t bytes[PH_MESSAGE_SIZE_MAX]);

/// Whether every message sent is known to have arrived.
PH_API bool ph_messages_is_all_acked(const ph_messages* messages);

// ---- input

/// What the player does now. Inputs are counted from 1 by the game, each number higher than the last;
/// some may be left out, but not 32,768 or more beyond the newest that the other end is known to have.
/// Replaces the one before, arrived or not: put the last few of them in, if each counts.
/// @return PH_OK or PH_ERROR_ARGUMENT (number or size) with everything as before.
PH_API ph_result ph_messages_set_input(ph_messages* messages, uint32_t number, const void* bytes,
                                       size_t size);

/// An input as it came from the other end.
typedef struct ph_input {
    /// 0: none has come yet.
    uint32_t number;
    size_t size;
    /// Valid until the next section is read.
    const uint8_t* bytes;
} ph_input;

/// The newest input of the other end.
PH_API ph_input ph_messages_newest_input(const ph_messages* messages);

/// Tells the other end that its input up to this number has had its effect on the world. A server that
/// does not need that says so at once, or the client goes on asking.
/// @return PH_OK, or PH_ERROR_ARGUMENT: higher than the newest that came, or lower than what was said
/// before.
PH_API ph_result ph_messages_set_processed_input(ph_messages* messages, uint32_t number);

/// Up to which of our inputs the other end is known to have processed them: those behind it are to be
/// predicted again on top of what the view shows. 0: none.
PH_API uint32_t ph_messages_processed_input(const ph_messages* messages);

// ---- blocks

/// Queues a block behind those that wait. The bytes are copied: memory is taken from the def's allocator and given
/// back when the block has ended. The tag is the game's, to tell blocks apart: it arrives with the block.
/// @param id May be NULL. Names the block at this end: counted from 1.
/// @return PH_OK, PH_ERROR_ARGUMENT (the size is not 1..PH_BLOCK_SIZE_MAX), PH_ERROR_FULL (PH_BLOCKS_QUEUED_MAX wait:
/// try again later), or PH_ERROR_MEMORY.
PH_API ph_result ph_messages_send_block(ph_messages* messages, uint32_t tag, const void* bytes,
                                        size_t size, uint32_t* id);

/// The same without a copy, for one map that goes to many: the bytes stay as they are until the block has ended
/// (ph_messages_next_block_end()) or ph_messages_destroy() was called. Reading freed memory is what comes of
/// forgetting that, so rather use ph_messages_send_block() for what is small.
PH_API ph_result ph_messages_lend_block(ph_messages* messages, uint32_t tag, const void* bytes,
                                        size_t size, uint32_t* id);

/// Takes a block back. Its end follows: at once when nothing of it was sent, else when the other end knows; until
/// then lent bytes are still the game's to keep. It may have arrived all the same.
/// @return PH_OK, or PH_ERROR_STALE: it has ended, or there never was one.
PH_API ph_result ph_messages_cancel_block(ph_messages* messages, uint32_t id);

/// How a block that was sent has ended.
typedef enum ph_block_outcome {
    PH_BLOCK_SENT = 1,  ///< all of it has arrived
    PH_BLOCK_REFUSED,   ///< the other end does not accept it: see accepted_max
    PH_BLOCK_CANCELLED, ///< by ph_messages_cancel_block()
} ph_block_outcome;

/// The end of a block that was sent.
typedef struct ph_block_end {
    ph_block_outcome outcome;
    uint32_t id;
    uint32_t tag;
    size_t size;
    /// REFUSED: the largest block that the other end accepts, in bytes; 0: none at all. If the block is not larger,
    /// the other end had no memory for it. Else 0.
    size_t accepted_max;
} ph_block_end;

/// The next block that has ended, in the order of their ends. Only the last PH_BLOCKS_QUEUED_MAX are kept. @return
/// False when there is none.
PH_API bool ph_messages_next_block_end(ph_messages* messages, ph_block_end* end);

/// How far a block has come.
typedef struct ph_block_progress {
    uint32_t tag;
    /// Bytes that the other end is known to have; of one that comes, bytes that have come.
    size_t done;
    /// Bytes of all of it.
    size_t size;
} ph_block_progress;

/// The block that is being sent: the first of those that wait. @return False, with *progress all zero, when there is
/// none.
PH_API bool ph_messages_sending_block(const ph_messages* messages, ph_block_progress* progress);

/// The block that is coming. @return False, with *progress all zero, when none has begun.
PH_API bool ph_messages_receiving_block(const ph_messages* messages, ph_block_progress* progress);

/// A block that has come.
typedef struct ph_block {
    uint32_t tag;
    size_t size;
    /// Valid until the next ph_messages_receive_block(), whatever that returns, or ph_messages_destroy().
    const uint8_t* bytes;
} ph_block;

/// The next block of the other end that has come whole, in the order in which they were sent. Call it until it
/// returns false: that gives back the memory of the last one, and only then does another block begin to come.
PH_API bool ph_messages_receive_block(ph_messages* messages, ph_block* block);

// ---- unreliable messages

/// What becomes of unreliable messages that overtake each other.
typedef enum ph_unreliable_kind {
    /// Each is handed out at most once, in the order in which they come; one that comes after 64 newer ones is dropped.
    PH_UNRELIABLE_ONCE = 0,
    /// Of each channel, none is handed out after a newer one. While one waits to be sent, a newer one of its
    /// channel replaces it.
    PH_UNRELIABLE_NEWEST,
} ph_unreliable_kind;

/// Sends bytes once, with the next datagram that has room, within the messages' share; they arrive or not. Copied.
/// @param channel 0..PH_UNRELIABLE_CHANNELS - 1; of PH_UNRELIABLE_ONCE it only arrives with the message.
/// @return PH_OK, PH_ERROR_ARGUMENT (kind, channel, or the size is not 1..PH_UNRELIABLE_SIZE_MAX), or PH_ERROR_FULL:
/// too much waits.
PH_API ph_result ph_messages_send_unreliable(ph_messages* messages, ph_unreliable_kind kind,
                                             int channel, const void* bytes, size_t size);

/// An unreliable message that has come.
typedef struct ph_unreliable {
    ph_unreliable_kind kind;
    int channel;
    size_t size;
    /// Valid until the next ph_messages_receive_unreliable(), and until a datagram comes.
    const uint8_t* bytes;
} ph_unreliable;

/// The next unreliable message of the other end. Receive all of them after each datagram: what finds no room is
/// dropped. @return False when there is none.
PH_API bool ph_messages_receive_unreliable(ph_messages* messages, ph_unreliable* message);

// ---- a connection that moves to another server

/// The state of this end as bytes: what has come, what is not known to have arrived (messages, not blocks), the
/// newest input. With it another server goes on where this one ended, each message exactly once: docs/moving.md says
/// when to take it. Its size is at most 340 bytes and 66 for each fragment in both queues.
/// @param bytes May be NULL with a capacity of 0. Nothing is written unless all of it fits.
/// @return Bytes of the whole.
PH_API size_t ph_messages_export(const ph_messages* messages, void* bytes, size_t capacity);

/// Gives a new end the state of another: before anything was sent, received or carried. Its client goes on by
/// ph_messages_continue(). Blocks that were under way are the game's to send again, in the same order: what the
/// client has already it drops.
/// @return PH_OK; PH_ERROR_VALUE for bytes that ph_messages_export() did not write; PH_ERROR_FULL when the queues of
/// the def have no room for what is in it; PH_ERROR_ARGUMENT when it is not new. Unless PH_OK everything is as before.
PH_API ph_result ph_messages_import(ph_messages* messages, const void* bytes, size_t size);

/// Whether ph_messages_import() has given it the state of another.
PH_API bool ph_messages_is_continued(const ph_messages* messages);

/// The other end is another server from now on, which has imported the state of the one before: whatever is not known
/// to have arrived goes out again. Messages and input stay in order and exactly once. A block that was under way begins
/// again with its first piece. Of unreliable messages none comes late or twice.
PH_API void ph_messages_continue(ph_messages* messages);

/// With holds_acks: so many of the messages that ph_messages_receive() has handed out, counted from the first of the
/// first server on, are safe now: known to what outlives this process. Their acks go out.
/// @return PH_OK, or PH_ERROR_ARGUMENT: more than were handed out, or fewer than before.
PH_API ph_result ph_messages_confirm(ph_messages* messages, uint64_t count);

/// How many messages have been handed out, those of servers before this one included: the number of the newest, counted
/// from 1. What processes them ignores numbers that it knows.
PH_API uint64_t ph_messages_received_count(const ph_messages* messages);

// ---- datagrams

/// How many bytes the section of the next datagram will take: PH_MESSAGES_EMPTY_SIZE or more. The plan
/// binds: the next ph_messages_pack() writes no more than that, and those after it
/// PH_MESSAGES_EMPTY_SIZE, until there is another plan.
PH_API size_t ph_messages_plan(ph_messages* messages, uint64_t now_us);

/// The same for a datagram without anything else, 0 when none is wanted: nothing is to be said, or it
/// can wait for a datagram that goes anyway, or the share cannot pay for the overhead yet.
PH_API size_t ph_messages_plan_alone(ph_messages* messages, uint64_t now_us);

/// The same for a datagram of blocks alone: pieces of one, or an ack of those that came. 0 when none is wanted: there
/// is nothing to send, as much is in flight as the link seems to carry, or the share has not saved up enough. Ask
/// again after each datagram, until it is 0: without a limit a tick has many. Before the view's send, so that blocks
/// get their share, with spare_bits 0; and behind it with what is left.
/// @param left_bits What the whole budget can pay for now: ph_viewer_left_bits().
/// @param spare_bits How much of that nothing else is going to use, so that blocks may take it beyond their share.
PH_API size_t ph_messages_plan_block(ph_messages* messages, uint64_t now_us, int64_t left_bits,
                                     int64_t spare_bits);

/// Whether anything of blocks or unreliable messages waits to be sent or acked.
PH_API bool ph_messages_has_bulk(const ph_messages* messages);

/// Puts a datagram together: a section of what was last planned, and a packet behind it. packet may be
/// NULL with size 0: messages alone. Together they take PH_PAYLOAD_MAX bytes at most (misuse).
/// @return Bytes of the whole.
PH_API size_t ph_messages_pack(ph_messages* messages, const void* packet, size_t size,
                               uint8_t bytes[PH_PAYLOAD_MAX]);

/// What stands behind the section.
typedef struct ph_messages_rest {
    const uint8_t* bytes;
    /// 0: nothing.
    size_t size;
} ph_messages_rest;

/// Takes a datagram apart: reads its section, and says what is left.
/// @return PH_OK, or PH_ERROR_VALUE for a section that the other end never writes; it is counted,
/// nothing of it was done, *rest is {0}, and the datagram is best forgotten.
PH_API ph_result ph_messages_unpack(ph_messages* messages, uint64_t now_us, const void* bytes,
                                    size_t size, ph_messages_rest* rest);

/// Whether a datagram has a packet behind its section, without a ph_messages to read that: for a program that holds
/// datagrams back until it is known which connection they belong to.
/// @return Bytes of the section, as far as bytes alone can say; 0: malformed.
PH_API size_t ph_messages_section_size(const void* bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
