// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/booking.h"

#define HELLO_PRECISION_BITS 16

ph_booking ph_booking_make(ph_sender* sender)
{
    return (ph_booking){.sender = sender};
}

static void book(ph_booking* booking, ph_reason reason, uint64_t cost256)
{
    booking->page.bits256[reason] += cost256;
}

static void book_repeat(ph_booking* booking, uint64_t cost256)
{
    booking->page.repeat_bits256 += cost256;
}

void ph_booking_header(ph_booking* booking, const ph_header* header, int header_bits)
{
    const bool is_coded = ph_sender_is_coded(booking->sender);
    const int hello_bits =
        header->has_hello ? PH_HELLO_BITS + (is_coded ? HELLO_PRECISION_BITS : 0) : 0;
    const int eye_bits = header->has_eye ? PH_EYE_BITS : 0;
    const int rest_bits = header_bits - hello_bits - eye_bits;
    book(booking, PH_REASON_HEADER, (uint64_t)rest_bits * PH_COST_PER_BIT);
    book(booking, PH_REASON_HELLO, (uint64_t)hello_bits * PH_COST_PER_BIT);
    book(booking, PH_REASON_EYE, (uint64_t)eye_bits * PH_COST_PER_BIT);
}

void ph_booking_change(ph_booking* booking, ph_record_kind kind, uint64_t cost256, bool is_repeat)
{
    const bool is_enter = kind == PH_RECORD_ENTER;
    book(booking, is_enter ? PH_REASON_ENTER : PH_REASON_LEAVE, cost256);
    if (is_repeat) {
        book_repeat(booking, cost256);
    }
    booking->sender->stats.enters += is_enter;
    booking->sender->stats.leaves += !is_enter;
}

void ph_booking_updates(ph_booking* booking, const ph_booked_updates* updates)
{
    book(booking, PH_REASON_SLOT, updates->flags256);
    book(booking, PH_REASON_MASK, updates->masks256);
    book(booking, PH_REASON_PROPERTY, updates->values256);
    book_repeat(booking, updates->repeats256);
    booking->sender->stats.updates += (uint64_t)updates->count;
    booking->sender->stats.significant_updates += (uint64_t)updates->significant;
}

// Costs of symbols are rounded up, so all of them together may be some parts of a bit more than the
// packet. That is taken back where it does no harm to the bills of single properties.
static void take_back(ph_ledger* page, uint64_t excess256)
{
    static const ph_reason REASONS[] = {PH_REASON_SLOT, PH_REASON_ENTER, PH_REASON_MASK,
                                        PH_REASON_LEAVE, PH_REASON_HEADER};
    for (size_t i = 0; i < sizeof REASONS / sizeof REASONS[0]; ++i) {
        uint64_t* cost256 = &page->bits256[REASONS[i]];
        const uint64_t part256 = excess256 < *cost256 ? excess256 : *cost256;
        *cost256 -= part256;
        excess256 -= part256;
    }
    PH_ASSERT(excess256 == 0);
}

static void balance(ph_ledger* page, size_t size)
{
    uint64_t sum256 = 0;
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        sum256 += page->bits256[reason];
    }
    const uint64_t all256 = (uint64_t)size * 8 * PH_COST_PER_BIT;
    if (sum256 > all256) {
        take_back(page, sum256 - all256);
    } else {
        page->bits256[PH_REASON_PADDING] = all256 - sum256;
    }
}

void ph_booking_close(ph_booking* booking, size_t size)
{
    ph_sender* sender = booking->sender;
    balance(&booking->page, size);
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        sender->stats.ledger.bits256[reason] += booking->page.bits256[reason];
    }
    sender->stats.ledger.repeat_bits256 += booking->page.repeat_bits256;
    const int added_bytes = sender->reserved_bytes + sender->reserved_next_bytes;
    sender->stats.ledger.bits256[PH_REASON_RESERVED] += 8 * PH_COST_PER_BIT * (uint64_t)added_bytes;
    sender->reserved_next_bytes = 0;
    ph_sender_pay(sender, (int)size + added_bytes);
    sender->sent_us = sender->now_us;
}
