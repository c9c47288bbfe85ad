// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the first viewer of a run was sent, when it came, and what its bits were for, with the truth beside
// it: as frames of a feed (feed.h). Times are those of the viewer's client: with the same datagrams at the
// same times another client shows the same, and has the same figures to the last bit.
//
//     ph_sim_capture captures[2] = {{.place = 0}, {.place = 1}};
//     def.capture = &captures[0]; ph_sim_run(...)            classic
//     def.capture = &captures[1]; ph_sim_run(...)            pinhole, on the same truth and links
//     ph_sim_capture_merge(captures, 2, &feed);

#ifndef PINHOLE_KIT_SIM_CAPTURE_H
#define PINHOLE_KIT_SIM_CAPTURE_H

#include "kit/feed.h"

// {0} but for the place is empty, and may be destroyed. Read-only outside.
typedef struct ph_sim_capture {
    int place;       // of the way among those that are shown. The first has the truth as well
    size_t size_max; // of the feed in bytes; beyond it nothing is kept. 0: no limit
    bool is_cut;     // that happened
    ph_feed feed;
    // Known after the run.
    ph_way way;
    ph_way_terms terms;
    uint32_t viewer; // id of the viewer's own entity
    uint32_t tick_us;
    int show_delay_ms;
} ph_sim_capture;

void ph_sim_capture_destroy(ph_sim_capture* capture);

// Whether another frame is to be added. Sets is_cut when it is not.
bool ph_sim_capture_goes_on(ph_sim_capture* capture);

// All frames of all ways, by their times; at one moment datagrams come before the truth. Appends.
void ph_sim_capture_merge(const ph_sim_capture* captures, int count, ph_feed* feed);

#endif
