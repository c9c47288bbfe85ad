// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/coded_page.h"

#include "base/prefetch.h"

#include <string.h>

// How many baselines are fetched ahead: they are in no cache when a send begins.
#define FETCH_AHEAD 12

// How urgent every slot is, and how many are how urgent: in two counts, of every other slot, because one
// that follows another of the same urgency would wait for it. The frame is a copy: whatever is written to,
// it stays as it is.
static void fill_urgencies(const ph_coded_frame frame, const ph_baseline* slots, int slot_end,
                           uint8_t* urgencies, int counts[2][PH_URGENCIES + 1])
{
    int class_index = -1;
    int class_size = 0;
    for (int slot = 0; slot < slot_end; ++slot) {
        const ph_baseline* baseline = &slots[slot];
        int urgency = PH_URGENCY_NONE;
        ph_prefetch(&slots[slot + FETCH_AHEAD < slot_end ? slot + FETCH_AHEAD : slot]);
        if (baseline->is_entered) {
            if (baseline->class_index != class_index) {
                class_index = baseline->class_index;
                class_size = ph_coded_class_size(&frame, class_index);
            }
            urgency = ph_coded_urgency_in(&frame, baseline, class_size);
        }
        urgencies[slot] = (uint8_t)urgency;
        ++counts[slot % 2][urgency];
    }
    for (int i = 0; i <= PH_URGENCIES; ++i) {
        counts[0][i] += counts[1][i];
    }
}

void ph_coded_page_begin(ph_coded_page* page, const ph_coded_frame* frame,
                         const ph_told_costs* costs, ph_baselines* baselines, int slot_count)
{
    page->frame = *frame;
    page->baselines = baselines;
    page->costs = costs;
    page->records256 = 0;
    memset(baselines->chosen, 0, (size_t)slot_count * sizeof baselines->chosen[0]);
    memset(baselines->coarse, 0, (size_t)slot_count);
    int counts[2][PH_URGENCIES + 1] = {{0}}; // and of those who have none
    while (baselines->entered_end > 0 && !baselines->slots[baselines->entered_end - 1].is_entered) {
        --baselines->entered_end; // it has left since
    }
    fill_urgencies(*frame, baselines->slots, baselines->entered_end, baselines->urgencies, counts);
    ph_told_sums_begin(&page->flags, costs, counts[0]);
    page->flags256 = page->flags.silent256[frame->density];
}

void ph_coded_page_untell(ph_coded_page* page, int slot, int64_t record256)
{
    const int urgency = ph_coded_page_urgency(page, slot);
    --page->flags.told[urgency];
    page->flags256 -= page->costs->turned256[urgency][page->frame.density];
    page->records256 -= record256;
}

void ph_coded_page_return(ph_coded_page* page, const ph_page_mark* mark)
{
    page->flags256 = mark->flags256;
    page->records256 = mark->records256;
    page->frame.density = mark->density;
}

void ph_coded_page_settle(ph_coded_page* page)
{
    PH_ASSERT(page->flags256 ==
              ph_told_sums_cost256(&page->flags, page->costs, page->frame.density));

    page->frame.density = ph_coded_best_density(&page->flags, page->costs);
    page->flags256 = ph_told_sums_cost256(&page->flags, page->costs, page->frame.density);
}
