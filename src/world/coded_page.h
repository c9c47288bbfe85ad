// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the records of one pinhole packet cost while they are chosen. Every slot that the client is
// known to have costs a flag, told or not, by how urgent it is and how many are told: the header
// states a density for that. So the page adds up what all flags cost at the present one, and counts who is
// told by urgency: another density may be chosen at any time.
//
//   page    | leaves | enters | flag [record] flag flag [record] ... |
//
// Begun for every packet, with a look at every slot up to the last one that is entered; a few additions per
// record.

#ifndef PH_WORLD_CODED_PAGE_H
#define PH_WORLD_CODED_PAGE_H

#include "wire/coded_told.h"
#include "world/baselines.h"

// Of a slot that the client is not known to have.
#define PH_URGENCY_NONE PH_URGENCIES

typedef struct ph_coded_page {
    ph_coded_frame frame;
    const ph_baselines* baselines;
    const ph_told_costs* costs;
    ph_told_sums flags;
    int64_t flags256; // what all of them cost, at the density of the frame
    int64_t records256;
} ph_coded_page;

// Nobody is told yet; the baselines' urgencies, up to the end of those who are entered (which is found anew),
// are those of this packet. Of the frame only the density and the spread may change from now on.
void ph_coded_page_begin(ph_coded_page* page, const ph_coded_frame* frame,
                         const ph_told_costs* costs, ph_baselines* baselines, int slot_count);

// What all flags cost.
static inline int64_t ph_coded_page_flags256(const ph_coded_page* page)
{
    return page->flags256;
}

// Flags and records so far, in whole bits, with all that may be lost at the end.
static inline int64_t ph_coded_page_bits(const ph_coded_page* page)
{
    const uint64_t cost256 = (uint64_t)(ph_coded_page_flags256(page) + page->records256);
    return (int64_t)((cost256 + PH_COST_PER_BIT - 1) / PH_COST_PER_BIT) + PH_CODED_SLACK_BITS;
}

// Of somebody who is entered: of others it may be that of an older packet.
static inline int ph_coded_page_urgency(const ph_coded_page* page, int slot)
{
    const int urgency = page->baselines->urgencies[slot];
    PH_ASSERT(slot < page->baselines->entered_end && urgency < PH_URGENCIES);
    return urgency;
}

// An update: its slot's flag turns, its record costs so much.
static inline void ph_coded_page_tell(ph_coded_page* page, int slot, int64_t record256)
{
    const int urgency = ph_coded_page_urgency(page, slot);
    ++page->flags.told[urgency];
    page->flags256 += page->costs->turned256[urgency][page->frame.density];
    page->records256 += record256;
}

// And back.
void ph_coded_page_untell(ph_coded_page* page, int slot, int64_t record256);

// A moment to go back to, unless somebody was told since then.
typedef struct ph_page_mark {
    int64_t flags256;
    int64_t records256;
    int density;
} ph_page_mark;

static inline ph_page_mark ph_coded_page_mark(const ph_coded_page* page)
{
    return (ph_page_mark){page->flags256, page->records256, page->frame.density};
}

void ph_coded_page_return(ph_coded_page* page, const ph_page_mark* mark);

// The density that makes the flags cheapest.
void ph_coded_page_settle(ph_coded_page* page);

#endif
