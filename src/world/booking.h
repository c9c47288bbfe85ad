// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What every bit of one packet was for. The page is filled record by record; when the packet's
// size is known, the page is balanced and goes into the sender's ledger, and the packet is paid for.
// Everything in 1/256 bit. Once per packet and per record.

#ifndef PH_WORLD_BOOKING_H
#define PH_WORLD_BOOKING_H

#include "base/bitset.h"
#include "wire/classic.h"
#include "wire/header.h"
#include "world/sender.h"

#include <pinhole/entropy.h>

typedef struct ph_booking {
    ph_sender* sender;
    ph_ledger page;
} ph_booking;

ph_booking ph_booking_make(ph_sender* sender);

// header_bits: all of it.
void ph_booking_header(ph_booking* booking, const ph_header* header, int header_bits);

// A leave or an enter. is_repeat: was said before, and lost.
void ph_booking_change(ph_booking* booking, ph_record_kind kind, uint64_t cost256, bool is_repeat);

// An update of the classic profile. What was lost before and is said again counts as repeat; who and which only if nothing
// else is said. first_property is that of its class in the sender's bills.
typedef struct ph_booked_update {
    uint64_t properties;
    uint64_t repeats;
    const ph_bill* bill; // in bits
    int first_property;
    bool is_significant;
} ph_booked_update;

// unit: a bit, or what takes it back, modulo 2^64.
static inline void ph_booking_count(ph_booking* booking, const ph_booked_update* update,
                                    uint64_t unit)
{
    uint64_t* bills256 = booking->sender->property_bits256 + update->first_property;
    const uint64_t slot256 = update->bill->slot_bits * unit;
    const uint64_t mask256 = update->bill->mask_bits * unit;
    uint64_t values256 = 0;
    uint64_t repeated256 = update->repeats == update->properties ? slot256 + mask256 : 0;
    for (uint64_t left = update->properties; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const uint64_t cost256 = update->bill->property_bits[property] * unit;
        values256 += cost256;
        bills256[property] += cost256;
        repeated256 += (update->repeats >> property & 1) != 0 ? cost256 : 0;
    }
    booking->page.bits256[PH_REASON_SLOT] += slot256;
    booking->page.bits256[PH_REASON_MASK] += mask256;
    booking->page.bits256[PH_REASON_PROPERTY] += values256;
    booking->page.repeat_bits256 += repeated256;
}

static inline void ph_booking_update(ph_booking* booking, const ph_booked_update* update)
{
    ph_booking_count(booking, update, PH_COST_PER_BIT);
    ++booking->sender->stats.updates;
    booking->sender->stats.significant_updates += update->is_significant;
}

// One that was booked is said in another way after all.
static inline void ph_booking_take_back(ph_booking* booking, const ph_booked_update* update)
{
    ph_booking_count(booking, update, -(uint64_t)PH_COST_PER_BIT);
    --booking->sender->stats.updates;
    booking->sender->stats.significant_updates -= update->is_significant;
}

// All updates of a packet of the pinhole profile, whose properties are in the sender's bills already.
typedef struct ph_booked_updates {
    uint64_t flags256; // that nothing is said of a slot costs, too
    uint64_t masks256;
    uint64_t values256;
    uint64_t repeats256;
    int count;
    int significant;
} ph_booked_updates;

void ph_booking_updates(ph_booking* booking, const ph_booked_updates* updates);

// The whole packet, of so many bytes.
void ph_booking_close(ph_booking* booking, size_t size);

#endif
