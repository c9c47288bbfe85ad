// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per wish, over all front-ends.

#include "director_fronts.h"

#include <math.h>
#include <string.h>

#define SILENT_US UINT64_C(2000000)
// Being 1 km from the middle of a front-end's players counts as much as a front-end that is fuller by so much.
#define FULLER_PER_KM 0.1
#define METRES_PER_KM 1e6
// A spare is used seldom: it counts as so much of a player.
#define SPARE_SHARE 0.2
// Of the players that were sent there, so many are still not in the next report.
#define FADING 0.5

// ---- who there is

static director_front* find(director_fronts* fronts, const char* name)
{
    for (int i = 0; i < fronts->count; ++i) {
        if (strcmp(fronts->all[i].report.front, name) == 0) {
            return &fronts->all[i];
        }
    }
    return NULL;
}

void director_fronts_take(director_fronts* fronts, const bus_front_report* report, uint64_t now_us)
{
    director_front* at = find(fronts, report->front);
    if (at == NULL && fronts->count < DIRECTOR_FRONTS_MAX) {
        at = &fronts->all[fronts->count++];
        *at = (director_front){0};
    }
    if (at != NULL) {
        at->report = *report;
        at->heard_us = now_us;
        at->sent *= FADING;
    }
}

void director_fronts_forget(director_fronts* fronts, uint64_t now_us)
{
    for (int i = fronts->count - 1; i >= 0; --i) {
        if (now_us - fronts->all[i].heard_us > SILENT_US) {
            fronts->all[i] = fronts->all[--fronts->count];
        }
    }
}

// ---- which one

static double distance_km(const director_front* at, const int32_t* place_mm)
{
    if (place_mm == NULL || at->report.clients == 0) {
        return 0.0;
    }
    const double x = (double)place_mm[0] - at->report.centre_mm[0];
    const double y = (double)place_mm[1] - at->report.centre_mm[1];
    const double beyond = hypot(x, y) - at->report.spread_mm;
    return beyond > 0.0 ? beyond / METRES_PER_KM : 0.0;
}

static bool has_room(const director_front* at, const char* not_front)
{
    return !at->report.is_emptying && at->report.clients + at->sent < at->report.capacity &&
           strcmp(at->report.front, not_front) != 0;
}

// Below 1e-6: only where all else is alike.
static double lot_of(uint64_t client_id, int front)
{
    const uint64_t mixed = (client_id + 1) * UINT64_C(0x9E3779B97F4A7C15) ^
                           (uint64_t)(front + 1) * UINT64_C(0xC2B2AE3D27D4EB4F);
    return (double)(mixed * UINT64_C(0x9E3779B97F4A7C15) >> 44) * 1e-12;
}

static double cost_of(const director_front* at, const director_question* question, int front)
{
    return (at->report.clients + at->sent) / (double)at->report.capacity +
           FULLER_PER_KM * distance_km(at, question->place_mm) + lot_of(question->client_id, front);
}

static bool is_chosen(const director_front* at, const director_front* const* chosen, int count)
{
    for (int i = 0; i < count; ++i) {
        if (chosen[i] == at) {
            return true;
        }
    }
    return false;
}

int director_fronts_choose(director_fronts* fronts, const director_question* question,
                           const director_front* chosen[DIRECTOR_CHOICES_MAX])
{
    int count = 0;
    while (count < question->count) {
        director_front* best = NULL;
        double best_cost = 0.0;
        for (int i = 0; i < fronts->count; ++i) {
            director_front* at = &fronts->all[i];
            const double cost = cost_of(at, question, i);
            if (has_room(at, question->not_front) && !is_chosen(at, chosen, count) &&
                (best == NULL || cost < best_cost)) {
                best = at;
                best_cost = cost;
            }
        }
        if (best == NULL) {
            break;
        }
        best->sent += count == 0 && question->not_front[0] == '\0' ? 1.0 : SPARE_SHARE;
        chosen[count++] = best;
    }
    return count;
}
