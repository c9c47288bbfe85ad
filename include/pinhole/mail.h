// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reliable messages, and what a player does: small things that must arrive, in the datagrams that go
// anyway and in the same budget. One mail stands at each end of a connection; both are alike. It has no
// socket and no clock. Every datagram of the connection then begins with a section of the mail, one
// byte when there is nothing to say, and behind it stands a packet of the view, an acknowledgement, or
// nothing. docs/wire_mail.md describes every bit.
//
// Server, once per client and tick, and when a datagram came:
//
//     ph_world_reserve(world, viewer, PH_MAIL_EMPTY_SIZE,
//                      (int)ph_mail_wants(mail, now_us) - PH_MAIL_EMPTY_SIZE);
//     ph_world_send(world, viewer, now_us, deliver, client);    // deliver packs, and sends
//     size_t size = ph_mail_wants_alone(mail, now_us);
//     if (size > 0 && ph_world_spend(world, viewer, now_us, (int)size) == PH_OK) {
//         send(client, bytes, ph_mail_pack(mail, NULL, 0, bytes));
//     }
//     ...
//     if (ph_mail_unpack(mail, now_us, bytes, size, &rest) == PH_OK && rest.size > 0) {
//         ph_world_acknowledge(world, viewer, now_us, rest.bytes, rest.size);
//     }
//
// Client, for every packet that came and at least as often as there is new input:
//
//     ph_mail_wants(mail, now_us);
//     send(server, bytes, ph_mail_pack(mail, ack, ph_client_ack(client, now_us, ack), bytes));
//
// Messages arrive whole, in order, each exactly once, whatever the network loses, doubles or reorders.
// They have a share of the budget and no more: the view is never starved by them. Input is not a queue:
// only the newest counts, it goes with every datagram until the other end has it, and the number of the
// last input that was processed comes back.

#ifndef PINHOLE_MAIL_H
#define PINHOLE_MAIL_H

#include <pinhole/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The most that one datagram carries, section and packet together. As PH_PAYLOAD_MAX.
#define PH_MAIL_DATAGRAM_MAX 1200

/// Bytes of one message: 1..PH_MAIL_MESSAGE_MAX.
#define PH_MAIL_MESSAGE_MAX 1024

/// Bytes of an input: 0..PH_MAIL_INPUT_MAX, and at most section_max less PH_MAIL_BESIDE_INPUT: beside it
/// there is always room for a fragment.
#define PH_MAIL_INPUT_MAX 255
#define PH_MAIL_BESIDE_INPUT 82

/// A section with nothing to say.
#define PH_MAIL_EMPTY_SIZE 1

/// Queues are counted in fragments; a message takes one for each started so many bytes.
#define PH_MAIL_FRAGMENT_BYTES 64

/// The least section_max.
#define PH_MAIL_SECTION_MIN 96

typedef struct ph_mail ph_mail;

/// How to build one end. Start from ph_mail_def_default() and change what you need.
typedef struct ph_mail_def {
    /// The budget of which messages have a share, bits per second. 0: no limit. Default 13,000.
    int bits_per_second;
    /// How much of it messages may take, 1..100. Default 25. What was not used is saved up for a second,
    /// at least for the largest section in a datagram of its own. Input and receipts are few bytes and do
    /// not count.
    int share_percent;
    /// The most that one section takes, bytes, PH_MAIL_SECTION_MIN..PH_MAIL_DATAGRAM_MAX; a server's is
    /// at most ph_world_reserve_max(). Default 384.
    int section_max;
    /// What a datagram costs beside its payload: mail that goes alone pays for that from its share.
    /// Default 48.
    int overhead_bytes;
    /// Mail that has found no datagram to go with for so long wants one of its own. Default 100.
    int patience_ms;
    /// How many fragments may wait to be sent or to be acknowledged, and how many may have come and not
    /// been taken, 32..1024, powers of two. Default 64 each: 4 kB.
    int outbox_fragments;
    int inbox_fragments;
    /// Zero-initialised means malloc and free.
    ph_allocator allocator;
    /// Set by ph_mail_def_default(). Do not touch.
    uint32_t cookie;
} ph_mail_def;

PH_API ph_mail_def ph_mail_def_default(void);

/// Creates one end of a connection; the other one is new, too. All its memory is taken here.
/// @return PH_OK, PH_ERROR_RANGE (a def field makes no sense), or PH_ERROR_MEMORY; *mail is NULL
/// unless PH_OK.
PH_API ph_result ph_mail_create(const ph_mail_def* def, ph_mail** mail);

/// NULL is allowed.
PH_API void ph_mail_destroy(ph_mail* mail);

/// Another budget from now on, as in the def: tell it what ph_world_set_budget() is told.
PH_API void ph_mail_set_budget(ph_mail* mail, int bits_per_second);

// ---- messages

/// Puts a message behind those that wait. The bytes are copied.
/// @return PH_OK, PH_ERROR_RANGE (no such size), or PH_ERROR_FULL: the other end, or the budget, does
/// not keep up; nothing was queued.
PH_API ph_result ph_mail_post(ph_mail* mail, const void* bytes, size_t size);

/// The next message of the other end, in the order in which they were posted. Take all of them after
/// each datagram: what is not taken fills the inbox, and then nothing more is accepted.
/// @return Its size, 0 when there is none.
PH_API size_t ph_mail_take(ph_mail* mail, uint8_t bytes[PH_MAIL_MESSAGE_MAX]);

/// Whether every message posted is known to have arrived.
PH_API bool ph_mail_is_delivered(const ph_mail* mail);

// ---- input

/// What the player does now. Inputs are counted from 1 by the game, each number higher than the last;
/// some may be left out, but not 32,768 or more beyond the newest that the other end is known to have.
/// Replaces the one before, arrived or not: put the last few of them in, if each counts.
/// @return PH_OK or PH_ERROR_RANGE (number or size) with everything as before.
PH_API ph_result ph_mail_set_input(ph_mail* mail, uint32_t number, const void* bytes, size_t size);

typedef struct ph_mail_input {
    /// 0: none has come yet.
    uint32_t number;
    size_t size;
    /// Valid until the next section is read.
    const uint8_t* bytes;
} ph_mail_input;

/// The newest input of the other end.
PH_API ph_mail_input ph_mail_newest_input(const ph_mail* mail);

/// Tells the other end that its input up to this number has had its effect on the world. A server that
/// does not care says so at once, or the client goes on asking.
/// @return PH_OK, or PH_ERROR_RANGE: higher than the newest that came, or lower than what was said
/// before.
PH_API ph_result ph_mail_set_processed(ph_mail* mail, uint32_t number);

/// Up to which of our inputs the other end is known to have processed them: those behind it are to be
/// played again on top of what the view shows. 0: none.
PH_API uint32_t ph_mail_processed(const ph_mail* mail);

// ---- datagrams

/// How many bytes the section of the next datagram will take: PH_MAIL_EMPTY_SIZE or more. The mail keeps
/// its word: the next ph_mail_pack() writes no more than that, and those after it PH_MAIL_EMPTY_SIZE,
/// until somebody asks again.
PH_API size_t ph_mail_wants(ph_mail* mail, uint64_t now_us);

/// The same for a datagram without anything else, 0 when none is wanted: nothing is to be said, or it
/// can wait for a datagram that goes anyway, or the share cannot pay for the overhead yet.
PH_API size_t ph_mail_wants_alone(ph_mail* mail, uint64_t now_us);

/// Puts a datagram together: a section of what was last wanted, and a packet behind it. packet may be
/// NULL with size 0: mail alone. Together they take PH_MAIL_DATAGRAM_MAX bytes at most (misuse).
/// @return Bytes of the whole.
PH_API size_t ph_mail_pack(ph_mail* mail, const void* packet, size_t size,
                           uint8_t bytes[PH_MAIL_DATAGRAM_MAX]);

/// What stands behind the section.
typedef struct ph_mail_rest {
    const uint8_t* bytes;
    /// 0: nothing.
    size_t size;
} ph_mail_rest;

/// Takes a datagram apart: reads its section, and says what is left.
/// @return PH_OK, or PH_ERROR_VALUE for a section that no mail of the other end writes; it is counted,
/// nothing of it was done, *rest is {0}, and the datagram is best forgotten.
PH_API ph_result ph_mail_unpack(ph_mail* mail, uint64_t now_us, const void* bytes, size_t size,
                                ph_mail_rest* rest);

/// For whoever puts datagrams together by other means: writes a section of at most room bytes, 1 or
/// more; what it takes of its share, it pays. @return Its size, never 0.
PH_API size_t ph_mail_write(ph_mail* mail, uint64_t now_us, size_t room, uint8_t* bytes);

/// And reads one: *used is its size, 0 when it is refused. @return As ph_mail_unpack().
PH_API ph_result ph_mail_read(ph_mail* mail, uint64_t now_us, const void* bytes, size_t size,
                              size_t* used);

// ---- figures

/// Why a section was refused.
typedef enum ph_mail_refusal {
    /// It ends before it is complete, or spare bits are not zero.
    PH_MAIL_MALFORMED = 0,
    /// It acknowledges what was never sent, or names an input that was never set or cannot have come.
    PH_MAIL_IMPOSSIBLE_RECEIPT,
    /// A fragment further ahead than anybody may send.
    PH_MAIL_BEYOND_WINDOW,
    /// A fragment that came before with other bytes, or that does not fit its neighbours.
    PH_MAIL_CONTRARY,
    PH_MAIL_REFUSAL_COUNT
} ph_mail_refusal;

/// A short lower-case name ("malformed"), never NULL. Static storage.
PH_API const char* ph_mail_refusal_name(ph_mail_refusal refusal);

/// Counts are since creation.
typedef struct ph_mail_stats {
    uint64_t posted;
    uint64_t delivered; // of these, known to have arrived
    uint64_t taken;
    uint64_t sections_written;
    uint64_t bytes_written;
    uint64_t sections_read;
    uint64_t sections_refused[PH_MAIL_REFUSAL_COUNT];
    uint64_t fragments_sent; // each time
    uint64_t fragments_resent;
    uint64_t fragments_doubled; // came, and were there before
    uint64_t fragments_without_room;
    /// Messages and parts of them that wait, and may wait.
    int outbox_fragments;
    int outbox_capacity;
    /// From a fragment to its receipt, the other end's waiting for a datagram included. Smoothed; 0
    /// before the first.
    double rtt_ms;
} ph_mail_stats;

PH_API ph_mail_stats ph_mail_get_stats(const ph_mail* mail);

#ifdef __cplusplus
}
#endif

#endif
