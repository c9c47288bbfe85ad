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

/// Creates one end of a connection; the other one is new, too. All its memory is taken here.
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

// ---- datagrams

/// How many bytes the section of the next datagram will take: PH_MESSAGES_EMPTY_SIZE or more. The plan
/// binds: the next ph_messages_pack() writes no more than that, and those after it
/// PH_MESSAGES_EMPTY_SIZE, until there is another plan.
PH_API size_t ph_messages_plan(ph_messages* messages, uint64_t now_us);

/// The same for a datagram without anything else, 0 when none is wanted: nothing is to be said, or it
/// can wait for a datagram that goes anyway, or the share cannot pay for the overhead yet.
PH_API size_t ph_messages_plan_alone(ph_messages* messages, uint64_t now_us);

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

#ifdef __cplusplus
}
#endif

#endif
