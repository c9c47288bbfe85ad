// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per despawn.

#include "world/removals.h"

#include "base/allocator.h"

ph_result ph_removals_create(ph_removals* removals, const ph_allocator* allocator, int capacity)
{
    *removals = (ph_removals){.allocator = *allocator};
    if (capacity == 0) {
        return PH_OK;
    }
    removals->ring = ph_allocate_array(allocator, (size_t)capacity, sizeof(ph_removal));
    if (removals->ring == NULL) {
        *removals = (ph_removals){0};
        return PH_ERROR_MEMORY;
    }
    removals->capacity = capacity;
    return PH_OK;
}

void ph_removals_destroy(ph_removals* removals)
{
    ph_release_array(&removals->allocator, removals->ring, (size_t)removals->capacity,
                     sizeof(ph_removal));
    *removals = (ph_removals){0};
}

static void forget_removal(ph_removals* removals, uint32_t tick)
{
    removals->has_forgotten = true;
    removals->forgotten_tick = tick;
}

void ph_removals_note(ph_removals* removals, const ph_removal* removal)
{
    if (removals->capacity == 0) {
        forget_removal(removals, removal->tick);
        return;
    }
    if (removals->count == removals->capacity) {
        forget_removal(removals, removals->ring[removals->first].tick);
        removals->first = (removals->first + 1) % removals->capacity;
        --removals->count;
    }
    removals->ring[(removals->first + removals->count++) % removals->capacity] = *removal;
}

const ph_removal* ph_removals_at(const ph_removals* removals, int i)
{
    PH_ASSERT(0 <= i && i < removals->count);

    return &removals->ring[(removals->first + i) % removals->capacity];
}

bool ph_removals_reach(const ph_removals* removals, uint32_t since_tick)
{
    return !removals->has_forgotten || removals->forgotten_tick < since_tick;
}
