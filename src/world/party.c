// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/party.h"

#include "wire/coded_header.h"
#include "wire/coded_neighbour.h"

#include <string.h>

// With fewer enters a spread is not worth its bits.
#define SPREAD_WORTH 4

// How far back what one costs depends on others: its neighbour, and what that was told from.
#define REACH 2

// ---- from one to the next

void ph_party_word(ph_datagram* datagram, ph_party_walk* walk, const ph_choice* choice,
                   ph_coded_record* made)
{
    ph_wording_change(&datagram->wording, &datagram->page.frame, choice, made);
    made->before = walk->is_begun ? &walk->before : NULL;
}

void ph_party_pass(ph_datagram* datagram, ph_party_walk* walk, ph_coded_record* made)
{
    const ph_coded_frame* frame = &datagram->page.frame;
    if (made->record.kind == PH_RECORD_ENTER) {
        const int class_index = made->record.class_index;
        const size_t count = (size_t)frame->frame.layouts->layouts[class_index].word_count;
        walk->turn = 1 - walk->turn;
        memcpy(walk->words[walk->turn], made->record.words, count * sizeof(uint32_t));
        made->record.words = walk->words[walk->turn];
    }
    walk->before = ph_coded_neighbour_of(frame, made);
    walk->is_begun = true;
}

// Those who leave, or those who enter, in the order of their slots.
typedef struct party {
    ph_choice members[PH_CODED_COUNT_MAX + 1];
    int count;
} party;

// @return At which place.
static int insert(party* into, const ph_choice* choice)
{
    int at = into->count++;
    for (; at > 0 && into->members[at - 1].slot > choice->slot; --at) {
        into->members[at] = into->members[at - 1];
    }
    into->members[at] = *choice;
    return at;
}

static void gather(const ph_datagram* datagram, ph_record_kind kind, party* found)
{
    found->count = 0;
    for (int i = 0; i < datagram->count; ++i) {
        if (ph_chosen_kind(&datagram->chosen[i]) == kind) {
            const ph_choice choice = ph_chosen_choice(&datagram->chosen[i]);
            insert(found, &choice);
        }
    }
}

// What members first..end-1 cost; steps, if it is not NULL, has those from each to the next.
static int64_t stretch256(ph_datagram* datagram, const party* of, int first, int end,
                          ph_coded_steps* steps)
{
    const ph_coded_frame* frame = &datagram->page.frame;
    ph_party_walk walk = {.is_begun = false};
    int64_t cost256 = 0;
    for (int i = first > REACH ? first - REACH : 0; i < end && i < of->count; ++i) {
        const ph_coded_neighbour before = walk.before;
        ph_coded_record made;
        ph_party_word(datagram, &walk, &of->members[i], &made);
        cost256 += i >= first ? ph_coded_cost256(frame, &made, NULL) : 0;
        ph_party_pass(datagram, &walk, &made);
        if (steps != NULL && i > 0) {
            ph_coded_steps_add(steps, frame, &before, &walk.before);
        }
    }
    return cost256;
}

// ---- one more

uint32_t ph_party_join(ph_datagram* datagram, const ph_choice* choice)
{
    party joined;
    gather(datagram, choice->kind, &joined);
    const party former = joined;
    const int at = insert(&joined, choice);
    const uint32_t cost256 = (uint32_t)stretch256(datagram, &joined, at, at + 1, NULL);
    datagram->page.records256 += cost256;
    // And what those behind it cost more than without it.
    if (at < former.count) {
        datagram->page.records256 += stretch256(datagram, &joined, at + 1, at + 1 + REACH, NULL) -
                                     stretch256(datagram, &former, at, at + REACH, NULL);
    }
    return cost256;
}

// ---- spread

// What they cost with the spread of the frame, which is told as well; and their steps.
static int64_t party256(ph_datagram* datagram, const party* entering, ph_coded_steps* steps)
{
    return PH_COST_PER_BIT * ph_party_spread_bits(datagram, entering->count) +
           stretch256(datagram, entering, 0, entering->count, steps);
}

void ph_party_settle(ph_datagram* datagram)
{
    if (datagram->counts[PH_RECORD_ENTER] < SPREAD_WORTH) {
        return;
    }
    party entering;
    gather(datagram, PH_RECORD_ENTER, &entering);
    ph_coded_page* page = &datagram->page;
    const ph_coded_spread former = page->frame.spread;
    const int former_bits = ph_party_spread_bits(datagram, entering.count);
    ph_coded_steps steps = {0};
    const int64_t former256 = party256(datagram, &entering, &steps);
    page->frame.spread = ph_coded_steps_spread(&steps);
    page->frame.spread.coarse = former.coarse;
    const int64_t now256 = party256(datagram, &entering, NULL);
    if (now256 >= former256) {
        page->frame.spread = former;
        return;
    }
    // The page has the records, not what stands before them.
    const int64_t bits = ph_party_spread_bits(datagram, entering.count) - former_bits;
    page->records256 += now256 - former256 - PH_COST_PER_BIT * bits;
}
