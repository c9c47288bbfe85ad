// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which packets are held back, and for how long.

#include "client/reorder.h"

#include "packet/header.h"

#include <string.h>

// So many gaps in a row may be losses before packets are no longer held back.
#define TRUST_MAX 8

// The wait rises at once with those that come late, and falls slowly with those that come sooner. (With
// half of the rise twice as many come too late.)
#define FALL 64

void ph_reorder_learn_late(ph_reorder* reorder, uint64_t late_us)
{
    const uint32_t late = (uint32_t)(late_us < reorder->most_us ? late_us : reorder->most_us);
    reorder->trust = reorder->most_us > 0 ? TRUST_MAX : 0;
    if (late > reorder->wait_us) {
        reorder->wait_us = late;
    } else {
        reorder->wait_us -= (reorder->wait_us - late) / FALL;
    }
}

const ph_held_packet* ph_reorder_newer(const ph_reorder* reorder, uint32_t sequence)
{
    for (int i = 0; i < reorder->count; ++i) {
        if (ph_sequence_is_ahead(reorder->held[i].sequence, sequence)) {
            return &reorder->held[i];
        }
    }
    return NULL;
}

bool ph_reorder_is_overtaken(const ph_reorder* reorder, uint32_t sequence, uint64_t came_us)
{
    for (int i = 0; i < reorder->count; ++i) {
        if (ph_sequence_is_ahead(reorder->held[i].sequence, sequence) &&
            reorder->held[i].came_us < came_us) {
            return true;
        }
    }
    return false;
}

void ph_reorder_hold(ph_reorder* reorder, uint32_t sequence, uint64_t now_us, const void* bytes,
                     size_t size)
{
    PH_ASSERT(size <= PH_PAYLOAD_MAX);
    PH_ASSERT(reorder->count < PH_REORDER_MAX);

    const ph_held_packet* newer = ph_reorder_newer(reorder, sequence);
    const int place = newer != NULL ? (int)(newer - reorder->held) : reorder->count;
    ph_held_packet* held = &reorder->held[place];
    memmove(held + 1, held, (size_t)(reorder->count - place) * sizeof *held);
    held->came_us = now_us;
    held->due_us = reorder->trust > 0 ? now_us + reorder->wait_us : 0;
    held->sequence = sequence;
    held->size = (uint16_t)size;
    memcpy(held->bytes, bytes, size);
    ++reorder->count;
}

bool ph_reorder_is_next(const ph_reorder* reorder, uint32_t newest, uint64_t now_us)
{
    return reorder->count > 0 && (!ph_sequence_is_ahead(reorder->held[0].sequence, newest + 1) ||
                                  ph_reorder_due_us(reorder) <= now_us);
}

void ph_reorder_remove_first(ph_reorder* reorder, bool is_gap)
{
    PH_ASSERT(reorder->count > 0);

    --reorder->count;
    memmove(&reorder->held[0], &reorder->held[1], (size_t)reorder->count * sizeof reorder->held[0]);
    if (is_gap && reorder->trust > 0) {
        --reorder->trust;
        reorder->wait_us = reorder->trust == 0 ? 0 : reorder->wait_us;
    }
    for (int i = 0; i < reorder->count && reorder->trust == 0; ++i) {
        reorder->held[i].due_us = 0; // else the next packet, which is not held, would pass over it
    }
}

uint64_t ph_reorder_due_us(const ph_reorder* reorder)
{
    uint64_t due_us = UINT64_MAX;
    for (int i = 0; i < reorder->count; ++i) {
        due_us = reorder->held[i].due_us < due_us ? reorder->held[i].due_us : due_us;
    }
    return due_us;
}

bool ph_reorder_validate(const ph_reorder* reorder, uint32_t newest)
{
    if (reorder->count < 0 || reorder->count > PH_REORDER_MAX || reorder->trust < 0 ||
        reorder->trust > TRUST_MAX || reorder->wait_us > reorder->most_us ||
        (reorder->trust == 0 && reorder->count > 0)) {
        return false;
    }
    uint32_t least = newest + 2; // the next one would have been applied
    for (int i = 0; i < reorder->count; ++i) {
        if (ph_sequence_is_ahead(least, reorder->held[i].sequence) ||
            reorder->held[i].size > PH_PAYLOAD_MAX) {
            return false;
        }
        least = reorder->held[i].sequence;
    }
    return true;
}
