// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One end of a connection, in one block of memory:
//
//   | ph_mail | sent | bytes of the outbox | arrived | bytes of the inbox |

#ifndef PH_MAIL_MAIL_STATE_H
#define PH_MAIL_MAIL_STATE_H

#include "mail/mail_inbox.h"
#include "mail/mail_outbox.h"
#include "schedule/token_bucket.h"

// Answers are repeated, because nobody says that one has come.
#define PH_MAIL_ANSWER_REPEATS 2

// What was promised to whoever asked how much room the next section will take.
typedef struct ph_mail_promise {
    size_t room;
    uint64_t now_us;
} ph_mail_promise;

// What a section that says nothing looks at, and most say nothing, stands together at the front: a cache
// line when it is read; when it is written, also one of the outbox and one of counts.
struct ph_mail {
    uint64_t sections_read; // of the stats
    ph_mail_promise promise;
    int receipts_owed; // sections that shall carry one
    int answers_owed;

    // Since when messages, or anything else, wait for a datagram; 0: they do not.
    uint64_t messages_wait_us;
    uint64_t rest_waits_us;

    // Our input, and what the other end is known to have and to have processed.
    uint32_t input_number; // 0: none
    uint32_t input_delivered;
    uint32_t input_processed;
    uint8_t input_size;
    uint8_t their_size;

    ph_mail_outbox outbox;
    ph_mail_stats stats;

    // The other end's.
    uint32_t their_number; // 0: none
    uint32_t their_processed;

    ph_mail_inbox inbox;
    ph_token_bucket share;
    ph_mail_def def;
    size_t size_bytes;
    uint8_t input_bytes[PH_MAIL_INPUT_MAX];
    uint8_t their_bytes[PH_MAIL_INPUT_MAX];
};

#endif
