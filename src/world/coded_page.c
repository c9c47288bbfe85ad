// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/coded_page.h"

#include <string.h>

void ph_coded_page_begin(ph_coded_page* page, const ph_coded_frame* frame,
                         const ph_told_costs* costs, ph_baselines* baselines, int slot_count)
{
    page->frame = *frame;
    page->baselines = baselines;
    page->costs = costs;
    page->slot_count = slot_count;
    page->records256 = 0;
    memset(baselines->chosen, 0, (size_t)slot_count * sizeof baselines->chosen[0]);
    memset(baselines->coarse, 0, (size_t)slot_count);
    int counts[PH_URGENCIES + 1] = {0}; // and of those who have none
    for (int slot = 0; slot < slot_count; ++slot) {
        const ph_baseline* baseline = &baselines->slots[slot];
        const int urgency =
            baseline->is_entered ? ph_coded_urgency(&page->frame, baseline) : PH_URGENCY_NONE;
        baselines->urgencies[slot] = (uint8_t)urgency;
        ++counts[urgency];
    }
    ph_told_sums_begin(&page->flags, costs, counts);
}

void ph_coded_page_untell(ph_coded_page* page, int slot, int64_t record256)
{
    ph_told_sums_untell(&page->flags, page->costs, page->baselines->urgencies[slot]);
    page->records256 -= record256;
}

void ph_coded_page_return(ph_coded_page* page, const ph_page_mark* mark)
{
    page->records256 = mark->records256;
    page->frame.density = mark->density;
}

void ph_coded_page_settle(ph_coded_page* page)
{
    page->frame.density = ph_coded_best_density(&page->flags);
}
