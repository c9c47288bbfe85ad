// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/coded_page.h"
#include "wire/coded_told.h"

#include <string.h>

static int64_t flag_cost(const ph_coded_page* page, int urgency, bool is_told)
{
    return ph_coded_told_cost256(&page->frame, urgency, is_told);
}

static int64_t flags_cost(const ph_coded_page* page)
{
    int64_t cost256 = 0;
    for (int urgency = 0; urgency < PH_URGENCIES; ++urgency) {
        cost256 += page->told[urgency] * flag_cost(page, urgency, true);
        cost256 += page->silent[urgency] * flag_cost(page, urgency, false);
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
    memset(page->silent, 0, sizeof page->silent);
    memset(baselines->chosen, 0, (size_t)slot_count * sizeof baselines->chosen[0]);
    memset(baselines->coarse, 0, (size_t)slot_count);
    for (int slot = 0; slot < slot_count; ++slot) {
        const ph_baseline* baseline = &baselines->slots[slot];
        if (baseline->is_entered) {
            const int urgency = ph_coded_urgency(frame, baseline);
            baselines->urgencies[slot] = (uint8_t)urgency;
            ++page->silent[urgency];
        }
    }
    page->flags256 = flags_cost(page);
}

int64_t ph_coded_page_bits(const ph_coded_page* page)
{
    const int64_t cost256 = page->flags256 + page->records256;
    return (cost256 + PH_COST_PER_BIT - 1) / PH_COST_PER_BIT + PH_CODED_SLACK_BITS;
}

void ph_coded_page_tell(ph_coded_page* page, int slot, int64_t record256)
{
    const int urgency = page->baselines->urgencies[slot];
    ++page->told[urgency];
    --page->silent[urgency];
    page->flags256 += flag_cost(page, urgency, true) - flag_cost(page, urgency, false);
    page->records256 += record256;
}

ph_page_mark ph_coded_page_mark(const ph_coded_page* page)
{
    return (ph_page_mark){page->flags256, page->records256, page->frame.density};
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
