// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What one end of a connection keeps: fragments that have come (inbox), fragments that are to arrive
// (outbox), and the rest.

#ifndef PH_MESSAGE_MESSAGE_STATE_H
#define PH_MESSAGE_MESSAGE_STATE_H

#include "message/message_section.h"
#include "schedule/pacing.h"

#include <pinhole/stats.h>

#include <stddef.h>

// ---- the inbox
//
// Fragments that have come, until their messages are taken. A ring by sequence:
//
//   | free ... | taken .. (complete, in order) .. next .. (some have come, some not) .. next + 31 | free ...
//
// Once per fragment and message, some tens of nanoseconds.

typedef struct ph_message_arrived {
    uint8_t left;
    uint8_t size;
} ph_message_arrived;

typedef struct ph_message_inbox {
    ph_message_arrived* arrived; // by sequence, modulo capacity
    uint8_t (*bytes)[PH_MESSAGE_FRAGMENT_SIZE];
    int capacity;   // a power of two
    uint16_t taken; // the first of the next message
    uint16_t next;  // the first that has not come
    uint32_t early; // bit i: next + i has come; never bit 0

    // With held acks: messages that the game has and has not confirmed, the fragments of each, the oldest first. They
    // are no more than the window: the other end sends nothing beyond it.
    uint16_t confirmed; // the first fragment of these
    int unconfirmed_count;
    uint8_t unconfirmed[PH_MESSAGE_WINDOW];
} ph_message_inbox;

// PH_MESSAGES_REFUSAL_COUNT when the fragments of a section can be what the other end has sent, else why
// not. Changes nothing.
ph_messages_refusal ph_message_inbox_judge(const ph_message_inbox* inbox,
                                           const ph_message_section* section);

typedef enum ph_message_storing {
    PH_MESSAGE_STORED,
    PH_MESSAGE_DOUBLED,
    PH_MESSAGE_WITHOUT_ROOM,
} ph_message_storing;

// Only of a section that was judged possible.
ph_message_storing ph_message_inbox_store(ph_message_inbox* inbox,
                                          const ph_message_fragment* fragment);

// Of held acks: so many messages more are confirmed. At most unconfirmed_count.
void ph_message_inbox_confirm(ph_message_inbox* inbox, int count);

// @return Bytes of the next message, 0 when it is not complete.
size_t ph_message_inbox_take(ph_message_inbox* inbox, uint8_t bytes[PH_MESSAGE_SIZE_MAX]);

// ---- the outbox
//
// Fragments of messages from the moment they are posted until the other end is known to have them. A
// ring by sequence:
//
//   | delivered, free ... | oldest .. (in the window: sent, some of them delivered) .. unsent .. | end ..
//
// A fragment goes out, and again when it counts as lost: when one that was sent clearly later has
// arrived, or when the usual round trip and more has passed. Posting and acks take some tens of
// nanoseconds for each fragment; what is due is looked for in the window, 32 of them.

typedef struct ph_message_sent {
    uint64_t sent_us; // last
    uint8_t send_count;
    uint8_t left;
    uint8_t size;
    bool is_delivered;
} ph_message_sent;

// How long a round trip takes, the time that the other end waited for a datagram included: by what was sent once and
// acked. Messages and blocks have one each.
typedef struct ph_message_rtt {
    double rtt_us; // 0: none yet
    double deviation_us;
    uint64_t proven_us; // when the latest of those that arrived was sent
} ph_message_rtt;

// What was sent at this time, for the first time, was acked now.
void ph_message_rtt_note(ph_message_rtt* rtt, uint64_t now_us, uint64_t sent_us);

// Whether what was last sent at this time, the so-many-th time, counts as lost.
bool ph_message_rtt_is_lost(const ph_message_rtt* rtt, uint64_t now_us, uint64_t sent_us,
                            int send_count);

typedef struct ph_message_outbox {
    ph_message_sent* sent; // by sequence, modulo capacity
    uint8_t (*bytes)[PH_MESSAGE_FRAGMENT_SIZE];
    int capacity;    // a power of two
    uint16_t oldest; // the first not known to have arrived
    uint16_t unsent; // the first that was never sent
    uint16_t end;    // behind the newest
    bool
        is_imported; // all in it may have been sent by another server, and have come: unsent is the end
    ph_message_rtt rtt;
} ph_message_outbox;

static inline int ph_message_outbox_count(const ph_message_outbox* outbox)
{
    return (uint16_t)(outbox->end - outbox->oldest);
}

// @return False, and nothing is queued, when there is no room. Size 1..PH_MESSAGE_SIZE_MAX.
bool ph_message_outbox_post(ph_message_outbox* outbox, const uint8_t* bytes, size_t size);

// The first fragment from this sequence on that should be sent now. @return False when there is none.
bool ph_message_outbox_try_due(const ph_message_outbox* outbox, uint16_t from, uint64_t now_us,
                               ph_message_fragment* fragment);

void ph_message_outbox_note_sent(ph_message_outbox* outbox, uint16_t sequence, uint64_t now_us);

// Whether nothing in it was never sent.
bool ph_message_outbox_is_possible(const ph_message_outbox* outbox, uint16_t next, uint32_t mask);

// Only of what is possible. @return Messages that are delivered now and were not before.
int ph_message_outbox_take_ack(ph_message_outbox* outbox, uint64_t now_us, uint16_t next,
                               uint32_t mask);

// ---- one end of a connection, in one block of memory:
//
//   | ph_messages | sent | arrived | bytes of the outbox | bytes of the inbox | ph_bulk and its queues |

// So many sections say what has come: should all of them get lost, the other end sends it again, and
// that is answered anew.
#define PH_MESSAGE_ACK_REPEATS 3

// Answers are repeated, because their arrival is not acked.
#define PH_MESSAGE_INPUT_ACK_REPEATS 2

#define PH_MESSAGE_US_PER_MS 1000

// What was promised when the caller asked how much room the next section will take.
typedef struct ph_message_promise {
    size_t room;
    uint64_t now_us;
} ph_message_promise;

typedef struct ph_bulk ph_bulk;

// What a section that says nothing looks at, and most say nothing, stands together at the front: a cache
// line when it is read; when it is written, also one of the outbox and one of counts.
struct ph_messages {
    uint64_t sections_read; // of the stats
    ph_message_promise promise;
    int acks_owed; // sections that shall carry one
    int input_acks_owed;

    // Since when messages, or anything else, wait for a datagram; 0: they do not.
    uint64_t messages_wait_us;
    uint64_t rest_waits_us;

    // Our input, and what the other end is known to have and to have processed.
    uint32_t input_number; // 0: none
    uint32_t input_delivered;
    uint32_t input_processed;
    uint8_t input_size;
    uint8_t their_size;
    bool has_bulk;          // something of blocks or unreliable messages waits to be sent or acked
    bool is_block_promised; // the promise is for a datagram of blocks

    ph_message_outbox outbox;
    ph_messages_stats stats;

    // The other end's.
    uint32_t their_number; // 0: none
    uint32_t their_processed;

    // A connection that goes on after another one.
    bool is_continued;     // by ph_messages_import()
    bool is_input_unknown; // whether the other end has our input, whatever the one before it said

    ph_message_inbox inbox;
    ph_token_bucket share;
    ph_bulk* bulk;
    ph_messages_def def;
    size_t size_bytes;
    uint8_t input_bytes[PH_INPUT_SIZE_MAX];
    uint8_t their_bytes[PH_INPUT_SIZE_MAX];
};

_Static_assert(offsetof(struct ph_messages, outbox) == 64, "the front is one line");

// Of the budget, for messages or for blocks.
typedef struct ph_message_share {
    int64_t bits_per_second; // rounded up, as 0 is no limit
    int64_t depth_bits; // what it saves up: a second of it, at least a section with its overhead
} ph_message_share;

static inline ph_message_share ph_message_share_of(const ph_messages_def* def, int percent)
{
    const int64_t least_bits = 8 * (int64_t)(def->overhead_bytes + def->section_max);
    const int64_t share = ((int64_t)def->bits_per_second * percent + 99) / 100;
    return (ph_message_share){share, share > least_bits ? share : least_bits};
}

// Another receiver goes on: what is not known to have arrived is due at once.
void ph_message_outbox_send_again(ph_message_outbox* outbox);

// ---- message_compose.c

// Of the room, bits rounded up to whole bytes.
static inline int64_t ph_message_whole_bytes(int64_t bits)
{
    return 8 * ((bits + 7) / 8);
}

#endif
