// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Fragments of messages from the moment they are posted until the other end is known to have them. A
// ring by number:
//
//   | delivered, free ... | oldest .. (in the window: sent, some of them delivered) .. unsent .. | end ..
//
// A fragment goes out, and again when it counts as lost: when one that was sent clearly later has
// arrived, or when the usual round trip and more has passed. Posting and receipts take some tens of
// nanoseconds for each fragment; what is due is looked for in the window, 32 of them.

#ifndef PH_MAIL_MAIL_OUTBOX_H
#define PH_MAIL_MAIL_OUTBOX_H

#include "mail/mail_section.h"

typedef struct ph_mail_sent {
    uint64_t sent_us; // last
    uint8_t send_count;
    uint8_t left;
    uint8_t size;
    bool is_delivered;
} ph_mail_sent;

typedef struct ph_mail_outbox {
    ph_mail_sent* sent; // by number, modulo capacity
    uint8_t (*bytes)[PH_MAIL_FRAGMENT_BYTES];
    int capacity;    // a power of two
    uint16_t oldest; // the first not known to have arrived
    uint16_t unsent; // the first that was never sent
    uint16_t end;    // behind the newest

    // Round trips of fragments sent once.
    double rtt_us; // 0: none yet
    double deviation_us;
    uint64_t proven_us; // when the latest of those that arrived was sent
} ph_mail_outbox;

static inline int ph_mail_outbox_count(const ph_mail_outbox* outbox)
{
    return (uint16_t)(outbox->end - outbox->oldest);
}

// @return False, and nothing is queued, when there is no room. Size 1..PH_MAIL_MESSAGE_MAX.
bool ph_mail_outbox_post(ph_mail_outbox* outbox, const uint8_t* bytes, size_t size);

// The first fragment from this number on that should be sent now. @return False when there is none.
bool ph_mail_outbox_try_due(const ph_mail_outbox* outbox, uint16_t from, uint64_t now_us,
                            ph_mail_fragment* fragment);

void ph_mail_outbox_note_sent(ph_mail_outbox* outbox, uint16_t number, uint64_t now_us);

// Whether nothing in it was never sent.
bool ph_mail_outbox_is_possible(const ph_mail_outbox* outbox, uint16_t next, uint32_t mask);

// Only of what is possible. @return Messages that are delivered now and were not before.
int ph_mail_outbox_take_receipt(ph_mail_outbox* outbox, uint64_t now_us, uint16_t next,
                                uint32_t mask);

#endif
