// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Acknowledgements: thirteen bytes, low ones first, and the receiving end's memory. Once per packet.
//
//     byte 0..3    newest
//     byte 4..11   applied, the newest packet in the lowest bit
//     byte 12      lag, in ms

#include "wire/ack.h"

#include <pinhole/bits.h>

_Static_assert(PH_ACK_SIZE == 4 + 8 + 1, "the drawing above");
_Static_assert(PH_FLIGHT_MAX == 64, "an ack has one bit for each packet in flight");

void ph_ack_write(const ph_ack* ack, uint8_t bytes[PH_ACK_SIZE])
{
    for (int i = 0; i < 4; ++i) {
        bytes[i] = (uint8_t)(ack->newest >> (8 * i));
    }
    ph_bits_store64(bytes + 4, ack->applied);
    bytes[12] = ack->lag_ms;
}

bool ph_ack_read(const void* bytes, size_t size, ph_ack* ack)
{
    if (size != PH_ACK_SIZE) {
        return false;
    }
    const uint8_t* next = bytes;
    uint32_t newest = 0;
    for (int i = 0; i < 4; ++i) {
        newest |= (uint32_t)next[i] << (8 * i);
    }
    *ack = (ph_ack){.newest = newest, .applied = ph_bits_load64(next + 4), .lag_ms = next[12]};
    return true;
}

ph_receipt ph_receipt_make(uint32_t session)
{
    return (ph_receipt){.newest = session};
}

ph_news ph_receipt_judge(const ph_receipt* receipt, uint32_t number, uint32_t horizon)
{
    if (!ph_number_is_ahead(number, receipt->newest)) {
        return PH_NEWS_OLD;
    }
    // A probe knows no horizon. Whatever it is, the newest heard of is not behind it.
    const uint32_t known = horizon == number ? receipt->newest : horizon;
    if (ph_number_is_ahead(known, receipt->newest) || number - known > PH_FLIGHT_MAX) {
        return PH_NEWS_IMPOSSIBLE;
    }
    return PH_NEWS_NEW;
}

void ph_receipt_note(ph_receipt* receipt, uint32_t number, bool is_applied)
{
    PH_ASSERT(ph_number_is_ahead(number, receipt->newest));

    const uint32_t ahead = number - receipt->newest;
    const uint64_t earlier = ahead < 64 ? receipt->applied << ahead : 0;
    receipt->applied = earlier | (is_applied ? 1 : 0);
    receipt->newest = number;
}
