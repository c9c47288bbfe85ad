// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Slots for a scheduler to rank.

#include "ranked_slots.h"

#include <pinhole/schedule.h>

#include <string.h>

void ranked_slots_setup(ranked_slots* slots, ph_scheduler scheduler)
{
    memset(slots, 0, sizeof *slots);
    for (int i = 0; i < RANKED_SLOTS; ++i) {
        slots->weight[i] = 1.0f;
    }
    slots->errors = (ph_ranking_errors){
        .range_mm = slots->range_mm,
        .error_mm = slots->error_mm,
        .growth_mm_s = slots->growth_mm_s,
        .turn_rad = slots->turn_rad,
        .age_s = slots->age_s,
        .missing = slots->missing,
        .position_bits = slots->position_bits,
    };
    slots->ranking = (ph_ranking){
        .slot_count = RANKED_SLOTS,
        .distance_mm = slots->distance_mm,
        .weight = slots->weight,
        .mileage_mm = slots->mileage_mm,
        .dirty = slots->dirty,
        .score = slots->score,
        .priority = slots->priority,
        .notes = slots->notes,
        .change = scheduler.wants_change || scheduler.wants_errors ? slots->change : NULL,
        .errors = scheduler.wants_errors ? &slots->errors : NULL,
    };
    slots->scheduler = scheduler;
}

void ranked_slots_rank(ranked_slots* slots)
{
    slots->scheduler.rank(slots->scheduler.context, &slots->ranking);
}

void ranked_slots_hash(const ranked_slots* slots, ph_hash* hash)
{
    for (int i = 0; i < RANKED_SLOTS; ++i) {
        uint32_t bits[2];
        memcpy(&bits[0], &slots->score[i], sizeof bits[0]);
        memcpy(&bits[1], &slots->priority[i], sizeof bits[1]);
        ph_hash_add_u64(hash, bits[0] | (uint64_t)bits[1] << 32);
    }
}
