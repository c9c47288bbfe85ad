// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Leaves and enters of one pinhole packet: each is told from the one before it, in the order of slots,
// so what one costs depends on who else comes along; and the spread of those who enter together.
//
// A few hundred nanoseconds for each leave and enter, which are few; a spread is looked for when a
// datagram is nearly full of enters, and before it is written.

#ifndef PH_WORLD_PARTY_H
#define PH_WORLD_PARTY_H

#include "world/datagram.h"
#include "wire/coded_neighbour.h"

// From one leave or enter to the next, in the order of slots. {0} before the first.
typedef struct ph_party_walk {
    ph_coded_neighbour before;
    bool is_begun;
    int turn;
    uint32_t words[2][PH_RECORD_WORDS_MAX]; // of the last enter, and the one before
} ph_party_walk;

// The next one as it is told, from the last; and it is the last from now on: its words move to the walk.
void ph_party_word(ph_datagram* datagram, ph_party_walk* walk, const ph_choice* choice,
                   ph_coded_record* made);
void ph_party_pass(ph_datagram* datagram, ph_party_walk* walk, ph_coded_record* made);

// Puts a leave or an enter on the page. Uses the wording of the datagram. @return What it costs by
// itself, in 1/256 bit.
uint32_t ph_party_join(ph_datagram* datagram, const ph_choice* choice);

// States another spread if that is cheaper.
void ph_party_settle(ph_datagram* datagram);

// What stands before the enters, when there are so many.
static inline int ph_party_spread_bits(const ph_datagram* datagram, int enter_count)
{
    return ph_coded_spread_bits(&datagram->page.frame, enter_count);
}

#endif
