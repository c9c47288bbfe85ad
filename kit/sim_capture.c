// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per frame of a feed.

#include "kit/sim_capture.h"

void ph_sim_capture_destroy(ph_sim_capture* capture)
{
    ph_feed_destroy(&capture->feed);
}

bool ph_sim_capture_goes_on(ph_sim_capture* capture)
{
    capture->is_cut =
        capture->is_cut || (capture->size_max > 0 && capture->feed.size > capture->size_max);
    return !capture->is_cut;
}

// ---- merging

// The next frame of one way.
typedef struct cursor {
    const ph_feed* feed;
    size_t at;
    const uint8_t* frame; // NULL: none is left
    size_t size;
    uint64_t time_us;
} cursor;

static bool is_truth(const cursor* of)
{
    return of->frame[0] == PH_FEED_TRUTH;
}

static void move_on(cursor* of)
{
    if (!ph_feed_next(of->feed, &of->at, &of->frame, &of->size)) {
        of->frame = NULL;
        return;
    }
    const uint8_t* time = of->frame + (is_truth(of) ? 1 : 2);
    of->time_us = 0;
    for (int i = 0; i < 8; ++i) {
        of->time_us |= (uint64_t)time[i] << 8 * i;
    }
}

static bool is_before(const cursor* a, const cursor* b)
{
    return a->time_us != b->time_us ? a->time_us < b->time_us : !is_truth(a) && is_truth(b);
}

void ph_sim_capture_merge(const ph_sim_capture* captures, int count, ph_feed* feed)
{
    cursor cursors[PH_WAY_COUNT];
    for (int i = 0; i < count; ++i) {
        cursors[i] = (cursor){.feed = &captures[i].feed};
        move_on(&cursors[i]);
    }
    for (;;) {
        cursor* next = NULL;
        for (int i = 0; i < count; ++i) {
            if (cursors[i].frame != NULL && (next == NULL || is_before(&cursors[i], next))) {
                next = &cursors[i];
            }
        }
        if (next == NULL) {
            return;
        }
        ph_feed_append(feed, next->frame, next->size);
        move_on(next);
    }
}
