// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Fragments that have come, until their messages are taken. A ring by number:
//
//   | free ... | taken .. (complete, in order) .. next .. (some have come, some not) .. next + 31 | free ...
//
// Once per fragment and message, some tens of nanoseconds.

#ifndef PH_MAIL_MAIL_INBOX_H
#define PH_MAIL_MAIL_INBOX_H

#include "mail/mail_section.h"

typedef struct ph_mail_arrived {
    uint8_t left;
    uint8_t size;
} ph_mail_arrived;

typedef struct ph_mail_inbox {
    ph_mail_arrived* arrived; // by number, modulo capacity
    uint8_t (*bytes)[PH_MAIL_FRAGMENT_BYTES];
    int capacity;   // a power of two
    uint16_t taken; // the first of the next message
    uint16_t next;  // the first that has not come
    uint32_t early; // bit i: next + i has come; never bit 0
} ph_mail_inbox;

// PH_MAIL_REFUSAL_COUNT when the fragments of a section can be what the other end has sent, else why
// not. Changes nothing.
ph_mail_refusal ph_mail_inbox_judge(const ph_mail_inbox* inbox, const ph_mail_section* section);

typedef enum ph_mail_storing {
    PH_MAIL_STORED,
    PH_MAIL_DOUBLED,
    PH_MAIL_WITHOUT_ROOM,
} ph_mail_storing;

// Only of a section that was judged possible.
ph_mail_storing ph_mail_inbox_store(ph_mail_inbox* inbox, const ph_mail_fragment* fragment);

// @return Bytes of the next message, 0 when it is not complete.
size_t ph_mail_inbox_take(ph_mail_inbox* inbox, uint8_t bytes[PH_MAIL_MESSAGE_MAX]);

#endif
