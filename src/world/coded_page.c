// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/coded_page.h"

#include <string.h>

static int64_t flags_cost(const ph_coded_page* page)
{
    int64_t cost256 = 0;
    for (int urgency = 0; urgency < PH_URGENCIES; ++urgency) {
        cost256 +=
            page->silent[urgency] * (int64_t)ph_coded_told_cost256(&page->frame, urgency, false) +
            page->told[urgency] * (int64_t)ph_coded_told_cost256(&page->frame, urgency, true);
    }
    return cost256;
}

void ph_coded_page_begin(ph_coded_page* page, const ph_coded_frame* frame, ph_baselines* baselines,
                         int slot_count)
{
    page->frame = *frame;
    page->baselines = baselines;
    page->slot_count = slot_count;
    page->records256 = 0;
    memset(page->told, 0, sizeof page->told);
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
    memcpy(page->silent, counts, sizeof page->silent);
    page->flags256 = flags_cost(page);
}

void ph_coded_page_untell(ph_coded_page* page, int slot)
{
    const int urgency = page->baselines->urgencies[slot];
    --page->told[urgency];
    ++page->silent[urgency];
}

void ph_coded_page_return(ph_coded_page* page, const ph_page_mark* mark)
{
    page->flags256 = mark->flags256;
    page->records256 = mark->records256;
    page->frame.density = mark->density;
}

void ph_coded_page_settle(ph_coded_page* page)
{
    page->frame.density = ph_coded_best_density(page->told, page->silent);
    page->flags256 = flags_cost(page);
}
