// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The error scheduler as the world sees it: what there is to choose by was worked out for all slots when
// they were ranked, so that a visit, of which there are hundreds in a send, has next to nothing to do.

#ifndef PH_SCHEDULE_ERROR_H
#define PH_SCHEDULE_ERROR_H

#include <pinhole/schedule.h>

#include <string.h>

// What of a slot is worth telling: a sum of these is what `rank` leaves in `kept`, as its bits. As a number
// it would have to be made an integer, and where a game ranks by itself it may be anything.
enum { PH_WORTH_POSITION = 1, PH_WORTH_HEADING = 2, PH_WORTH_OTHERS = 4 };

// As properties; of others those that differ significantly.
static inline uint64_t ph_error_choose(float kept, uint64_t position, uint64_t heading,
                                       uint64_t significant)
{
    uint32_t worth;
    memcpy(&worth, &kept, sizeof worth);
    uint64_t chosen = (worth & PH_WORTH_OTHERS) != 0 ? significant & ~(position | heading) : 0;
    chosen |= (worth & PH_WORTH_POSITION) != 0 ? position : 0;
    chosen |= (worth & PH_WORTH_HEADING) != 0 ? heading : 0;
    return chosen;
}

// The functions of ph_scheduler_error(), for whoever has to know whether it is meant.
uint64_t ph_error_filter(void* context, const ph_visit* visit);
float ph_error_sent(void* context, float score); // which is left alone

#endif
