// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "mail/mail_outbox.h"

#include <string.h>

// Before anything is known, and the bounds of waiting.
#define FIRST_WAIT_US 300000.0
#define WAIT_MIN_US 50000.0
#define WAIT_MAX_US 3000000.0
// How long one that was sent later must have been on its way before the earlier one counts as lost:
// a part of the round trip, as reordering goes.
#define REORDER_SHARE 4.0
#define REORDER_MIN_US 10000.0

#define RTT_SHARE 8.0
#define DEVIATION_SHARE 4.0
#define DEVIATIONS 4.0

// Numbers wrap: how far a is ahead of b, behind it if negative.
static int ahead(uint16_t a, uint16_t b)
{
    return (int16_t)(uint16_t)(a - b);
}

static ph_mail_sent* at(const ph_mail_outbox* outbox, uint16_t number)
{
    return &outbox->sent[number & (outbox->capacity - 1)];
}

static uint8_t* bytes_at(const ph_mail_outbox* outbox, uint16_t number)
{
    return outbox->bytes[number & (outbox->capacity - 1)];
}

bool ph_mail_outbox_post(ph_mail_outbox* outbox, const uint8_t* bytes, size_t size)
{
    const int count = (int)((size + PH_MAIL_FRAGMENT_BYTES - 1) / PH_MAIL_FRAGMENT_BYTES);
    if (ph_mail_outbox_count(outbox) + count > outbox->capacity) {
        return false;
    }
    for (int left = count - 1; left >= 0; --left) {
        const size_t part = left > 0 ? PH_MAIL_FRAGMENT_BYTES : size;
        *at(outbox, outbox->end) = (ph_mail_sent){.left = (uint8_t)left, .size = (uint8_t)part};
        memcpy(bytes_at(outbox, outbox->end), bytes, part);
        bytes += part;
        size -= part;
        ++outbox->end;
    }
    return true;
}

// ---- what is due

// What was sent twice waits longer, but not much: the share limits what is sent, and a link that loses
// a third would else be silent for seconds.
static double wait_us(const ph_mail_outbox* outbox, int send_count)
{
    double wait =
        outbox->rtt_us == 0.0 ? FIRST_WAIT_US : outbox->rtt_us + DEVIATIONS * outbox->deviation_us;
    wait = wait > WAIT_MIN_US ? wait : WAIT_MIN_US;
    wait *= send_count == 1 ? 1.0 : send_count == 2 ? 1.5 : 2.0;
    return wait < WAIT_MAX_US ? wait : WAIT_MAX_US;
}

static bool is_due(const ph_mail_outbox* outbox, const ph_mail_sent* sent, uint64_t now_us)
{
    if (sent->is_delivered) {
        return false;
    }
    if (sent->send_count == 0) {
        return true;
    }
    const double share_us = outbox->rtt_us / REORDER_SHARE;
    const double reorder_us = share_us > REORDER_MIN_US ? share_us : REORDER_MIN_US;
    if (outbox->proven_us > sent->sent_us &&
        (double)(outbox->proven_us - sent->sent_us) > reorder_us) {
        return true;
    }
    return now_us > sent->sent_us &&
           (double)(now_us - sent->sent_us) >= wait_us(outbox, sent->send_count);
}

bool ph_mail_outbox_try_due(const ph_mail_outbox* outbox, uint16_t from, uint64_t now_us,
                            ph_mail_fragment* fragment)
{
    uint16_t number = ahead(from, outbox->oldest) > 0 ? from : outbox->oldest;
    for (; ahead(number, outbox->end) < 0 && ahead(number, outbox->oldest) < PH_MAIL_WINDOW;
         ++number) {
        const ph_mail_sent* sent = at(outbox, number);
        if (is_due(outbox, sent, now_us)) {
            *fragment = (ph_mail_fragment){.number = number,
                                           .left = sent->left,
                                           .size = sent->size,
                                           .bytes = bytes_at(outbox, number)};
            return true;
        }
    }
    return false;
}

void ph_mail_outbox_note_sent(ph_mail_outbox* outbox, uint16_t number, uint64_t now_us)
{
    ph_mail_sent* sent = at(outbox, number);
    sent->sent_us = now_us;
    sent->send_count = (uint8_t)(sent->send_count + (sent->send_count < UINT8_MAX));
    if (ahead(number, outbox->unsent) >= 0) {
        outbox->unsent = (uint16_t)(number + 1);
    }
}

// ---- receipts

bool ph_mail_outbox_is_possible(const ph_mail_outbox* outbox, uint16_t next, uint32_t mask)
{
    if (ahead(next, outbox->unsent) > 0) {
        return false;
    }
    for (int i = 0; i < PH_MAIL_WINDOW - 1; ++i) {
        if ((mask >> i & 1) != 0 && ahead((uint16_t)(next + 1 + i), outbox->unsent) >= 0) {
            return false;
        }
    }
    return true;
}

static void measure(ph_mail_outbox* outbox, double rtt_us)
{
    if (outbox->rtt_us == 0.0) {
        outbox->rtt_us = rtt_us > 1.0 ? rtt_us : 1.0;
        outbox->deviation_us = rtt_us / 2.0;
        return;
    }
    const double off_us = rtt_us - outbox->rtt_us;
    outbox->deviation_us +=
        ((off_us < 0.0 ? -off_us : off_us) - outbox->deviation_us) / DEVIATION_SHARE;
    outbox->rtt_us += off_us / RTT_SHARE;
}

// Of one that went out twice nobody knows which of them arrived.
static void note_delivered(ph_mail_outbox* outbox, uint16_t number, uint64_t* latest_us)
{
    ph_mail_sent* sent = at(outbox, number);
    if (!sent->is_delivered && sent->send_count == 1 && sent->sent_us > *latest_us) {
        *latest_us = sent->sent_us;
    }
    sent->is_delivered = true;
}

int ph_mail_outbox_take_receipt(ph_mail_outbox* outbox, uint64_t now_us, uint16_t next,
                                uint32_t mask)
{
    PH_ASSERT(ph_mail_outbox_is_possible(outbox, next, mask));

    uint64_t latest_us = 0;
    for (uint16_t number = outbox->oldest; ahead(number, next) < 0; ++number) {
        note_delivered(outbox, number, &latest_us);
    }
    for (int i = 0; i < PH_MAIL_WINDOW - 1; ++i) {
        const uint16_t number = (uint16_t)(next + 1 + i);
        if ((mask >> i & 1) != 0 && ahead(number, outbox->oldest) >= 0) {
            note_delivered(outbox, number, &latest_us);
        }
    }
    if (latest_us > 0 && now_us >= latest_us) {
        measure(outbox, (double)(now_us - latest_us));
        outbox->proven_us = latest_us > outbox->proven_us ? latest_us : outbox->proven_us;
    }
    int message_count = 0;
    while (outbox->oldest != outbox->unsent && at(outbox, outbox->oldest)->is_delivered) {
        message_count += at(outbox, outbox->oldest)->left == 0;
        ++outbox->oldest;
    }
    return message_count;
}
