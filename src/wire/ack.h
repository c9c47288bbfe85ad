// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Acknowledgements, and the receiving end's memory of which packets it applied.
//
// Packets are applied only in ascending order: one that is not newer than the newest heard of is
// dropped unread. So an ack is a promise about all packets up to its newest number:
//
//   newest     32 bits   the newest number heard of, applied or not
//   applied    64 bits   bit i (the lowest first): newest - i was applied
//   lag         8 bits   how long after the first one that named this newest number it leaves, in ms
//
// Numbers wrap: they are compared by difference. One ack per packet, nothing allocates.

#ifndef PH_WIRE_ACK_H
#define PH_WIRE_ACK_H

#include <pinhole/packet.h>

// Whether a comes behind b: less than half of all numbers ahead.
static inline bool ph_number_is_ahead(uint32_t a, uint32_t b)
{
    return a - b - 1 < UINT32_C(0x7FFFFFFF);
}

typedef struct ph_ack {
    uint32_t newest;
    uint64_t applied;
    uint8_t lag_ms; // 0: the first, or as good as
} ph_ack;

// So long, or longer: nobody knows.
#define PH_ACK_LAG_UNKNOWN 255

void ph_ack_write(const ph_ack* ack, uint8_t bytes[PH_ACK_SIZE]);

// @return False, and *ack untouched, when the bytes are no ack by their size. What they say is the
// sender's to judge.
bool ph_ack_read(const void* bytes, size_t size, ph_ack* ack);

// The receiving end: what it keeps is what it says, but for the lag. Begins with a hello at the
// session's number; numbers up to it count as never applied.
typedef ph_ack ph_receipt;

ph_receipt ph_receipt_make(uint32_t session);

// Whether this number is newer than everything heard of. A new one is at most PH_FLIGHT_MAX ahead of
// its horizon, and that is not ahead of the newest heard of: nobody could have told the sender. A
// probe, whose horizon is its own number, is at most PH_FLIGHT_MAX ahead of the newest.
typedef enum ph_news {
    PH_NEWS_OLD = 0,
    PH_NEWS_NEW,
    PH_NEWS_IMPOSSIBLE,
} ph_news;
ph_news ph_receipt_judge(const ph_receipt* receipt, uint32_t number, uint32_t horizon);

// A new number was heard of; whether its packet was applied (a probe never is). Only what was judged
// new.
void ph_receipt_note(ph_receipt* receipt, uint32_t number, bool is_applied);

#endif
