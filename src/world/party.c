// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/party.h"

#include "wire/coded_header.h"
#include "wire/coded_neighbour.h"

// With fewer enters a spread is not worth its bits.
#define SPREAD_WORTH 4

static ph_coded_record wording_of(ph_datagram* datagram, const ph_chosen* chosen)
{
    const ph_choice choice = ph_chosen_choice(chosen);
    ph_coded_record made;
    ph_wording_change(&datagram->wording, &datagram->page.frame, &choice, &made);
    return made;
}

// ---- one more

// Those of the same kind next to this slot, NULL when there is none.
typedef struct neighbours {
    const ph_chosen* below;
    const ph_chosen* above;
} neighbours;

static neighbours find_neighbours(const ph_datagram* datagram, const ph_choice* choice)
{
    neighbours found = {0};
    for (int i = 0; i < datagram->count; ++i) {
        const ph_chosen* each = &datagram->chosen[i];
        const int slot = ph_chosen_slot(each);
        if (ph_chosen_kind(each) != choice->kind) {
            continue;
        }
        if (slot < choice->slot && (found.below == NULL || slot > ph_chosen_slot(found.below))) {
            found.below = each;
        } else if (slot > choice->slot &&
                   (found.above == NULL || slot < ph_chosen_slot(found.above))) {
            found.above = each;
        }
    }
    return found;
}

// What it costs more to tell one from its new neighbour than from the former.
static int64_t moved256(ph_datagram* datagram, const ph_chosen* chosen,
                        const ph_coded_neighbour* former, const ph_coded_neighbour* now)
{
    const ph_coded_frame* frame = &datagram->page.frame;
    ph_coded_record made = wording_of(datagram, chosen);
    made.before = former;
    const int64_t former256 = ph_coded_cost256(frame, &made, NULL);
    made.before = now;
    return ph_coded_cost256(frame, &made, NULL) - former256;
}

uint32_t ph_party_join(ph_datagram* datagram, const ph_choice* choice)
{
    const ph_coded_frame* frame = &datagram->page.frame;
    const neighbours beside = find_neighbours(datagram, choice);
    ph_coded_neighbour below;
    if (beside.below != NULL) {
        const ph_coded_record made = wording_of(datagram, beside.below);
        below = ph_coded_neighbour_of(frame, &made.record);
    }
    ph_coded_record made;
    ph_wording_change(&datagram->wording, frame, choice, &made);
    made.before = beside.below != NULL ? &below : NULL;
    const ph_coded_neighbour middle = ph_coded_neighbour_of(frame, &made.record);
    const uint32_t cost256 = ph_coded_cost256(frame, &made, NULL);
    datagram->page.records256 += cost256;
    if (beside.above != NULL) {
        datagram->page.records256 += moved256(datagram, beside.above, made.before, &middle);
    }
    return cost256;
}

// ---- spread

// Those who enter, in the order of their slots.
typedef struct party {
    const ph_chosen* members[PH_CODED_COUNT_MAX];
    int count;
} party;

static void gather(const ph_datagram* datagram, party* found)
{
    found->count = 0;
    for (int i = 0; i < datagram->count; ++i) {
        const ph_chosen* each = &datagram->chosen[i];
        if (ph_chosen_kind(each) != PH_RECORD_ENTER) {
            continue;
        }
        int at = found->count++;
        for (; at > 0 && ph_chosen_slot(found->members[at - 1]) > ph_chosen_slot(each); --at) {
            found->members[at] = found->members[at - 1];
        }
        found->members[at] = each;
    }
}

// What they cost with the spread of the frame, which is told as well; and their steps.
static int64_t party256(ph_datagram* datagram, const party* entering, ph_coded_steps* steps)
{
    const ph_coded_frame* frame = &datagram->page.frame;
    ph_coded_neighbour before;
    int64_t cost256 = PH_COST_PER_BIT * ph_party_spread_bits(datagram, entering->count);
    for (int i = 0; i < entering->count; ++i) {
        ph_coded_record made = wording_of(datagram, entering->members[i]);
        made.before = i > 0 ? &before : NULL;
        cost256 += ph_coded_cost256(frame, &made, NULL);
        const ph_coded_neighbour now = ph_coded_neighbour_of(frame, &made.record);
        if (i > 0) {
            ph_coded_steps_add(steps, &before, &now);
        }
        before = now;
    }
    return cost256;
}

void ph_party_settle(ph_datagram* datagram)
{
    if (datagram->counts[PH_RECORD_ENTER] < SPREAD_WORTH) {
        return;
    }
    party entering;
    gather(datagram, &entering);
    ph_coded_page* page = &datagram->page;
    const ph_coded_spread former = page->frame.spread;
    const int former_bits = ph_party_spread_bits(datagram, entering.count);
    ph_coded_steps steps = {0};
    const int64_t former256 = party256(datagram, &entering, &steps);
    page->frame.spread = ph_coded_steps_spread(&steps);
    const int64_t now256 = party256(datagram, &entering, &steps);
    if (now256 >= former256) {
        page->frame.spread = former;
        return;
    }
    // The page has the records, not what stands before them.
    const int64_t bits = ph_party_spread_bits(datagram, entering.count) - former_bits;
    page->records256 += now256 - former256 - PH_COST_PER_BIT * bits;
}
