// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Heights are asked for once per player and step, and by every reader and writer of an altitude;
// ways once per place that an actor passes.

#include "kit/town.h"

#include <stdbool.h>
#include <stdlib.h>

// ---- what people stand on

enum {
    DECK_HALF_LENGTH_MM = 75000,
    RAMP_END_MM = 99000,
    DECK_LOW_Y_MM = 26000,
    DECK_HIGH_Y_MM = 34000,
    TERRACE_HALF_WIDTH_MM = 18000,
    TERRACE_HIGH_Y_MM = 44000,
    STAIRS_LOW_X_MM = 6000,
    STAIRS_HIGH_X_MM = 16000,
    STAIRS_HIGH_Y_MM = 56000,
    STAIR_DEPTH_MM = 500,
    STAIR_RISE_MM = 250,
    NARROW_MM = 3000, // so near to them it is narrow
};

static int32_t street_mm(int32_t x_mm, int32_t y_mm)
{
    return x_mm / 40 + y_mm / 60;
}

static bool is_within(int32_t value, int32_t low, int32_t high)
{
    return value >= low && value <= high;
}

static bool is_on_gallery(int32_t x_mm, int32_t y_mm)
{
    if (is_within(y_mm, DECK_LOW_Y_MM, DECK_HIGH_Y_MM)) {
        return is_within(x_mm, -DECK_HALF_LENGTH_MM, DECK_HALF_LENGTH_MM);
    }
    return is_within(y_mm, DECK_HIGH_Y_MM, TERRACE_HIGH_Y_MM) &&
           is_within(x_mm, -TERRACE_HALF_WIDTH_MM, TERRACE_HALF_WIDTH_MM);
}

// How high the ramps and the stairs are above the street; 0 beside them. They are solid: no actor
// walks below.
static int32_t climb_mm(int32_t x_mm, int32_t y_mm)
{
    const int32_t ramp_length_mm = RAMP_END_MM - DECK_HALF_LENGTH_MM;
    if (is_within(y_mm, DECK_LOW_Y_MM, DECK_HIGH_Y_MM) &&
        is_within(x_mm, -RAMP_END_MM, RAMP_END_MM)) {
        return (RAMP_END_MM - abs(x_mm)) / (ramp_length_mm / PH_TOWN_RISE_MM);
    }
    if (is_within(x_mm, STAIRS_LOW_X_MM, STAIRS_HIGH_X_MM) &&
        is_within(y_mm, TERRACE_HIGH_Y_MM, STAIRS_HIGH_Y_MM)) {
        return (STAIRS_HIGH_Y_MM - y_mm) / STAIR_DEPTH_MM * STAIR_RISE_MM;
    }
    return 0;
}

int ph_town_layers(const void* context, int64_t x_mm, int64_t y_mm,
                   int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)context;
    const int32_t x = (int32_t)x_mm;
    const int32_t y = (int32_t)y_mm;
    heights_mm[0] = street_mm(x, y);
    if (is_on_gallery(x, y)) {
        heights_mm[1] = heights_mm[0] + PH_TOWN_RISE_MM;
        return 2;
    }
    heights_mm[0] += climb_mm(x, y);
    return 1;
}

int32_t ph_town_stand_mm(int32_t x_mm, int32_t y_mm, int32_t z_mm)
{
    int64_t heights_mm[PH_GROUND_LAYERS_MAX];
    const int count = ph_town_layers(NULL, x_mm, y_mm, heights_mm);
    const bool is_upstairs = count == 2 && z_mm - heights_mm[0] > PH_TOWN_RISE_MM / 2;
    return (int32_t)heights_mm[is_upstairs ? 1 : 0];
}

bool ph_town_is_open(int32_t x_mm, int32_t y_mm, int32_t z_mm)
{
    return !is_within(y_mm, DECK_LOW_Y_MM - NARROW_MM, STAIRS_HIGH_Y_MM + NARROW_MM) &&
           z_mm == street_mm(x_mm, y_mm);
}

// ---- where people go

// The crossings are 0..24, five to a row; the others follow.
enum { ROW_LENGTH = 5, CROSSING_COUNT = ROW_LENGTH * ROW_LENGTH };
#define CROSSING_GAP_M 60.0

static const double OTHER_PLACES_M[PH_TOWN_PLACES - CROSSING_COUNT][2] = {
    {-120, 30}, {-102, 30}, {-72, 30}, {-40, 30},            // street, western ramp, gallery
    {0, 30},    {40, 30},   {72, 30},  {102, 30}, {120, 30}, // gallery, eastern ramp, street
    {0, 39},    {11, 38},   {11, 60},                        // terrace, top and foot of the stairs
};

// The ways beside those between neighbouring crossings.
static const uint8_t WAYS[][2] = {{10, 25}, {25, 15}, {25, 26}, {26, 27}, {27, 28}, {28, 29},
                                  {29, 30}, {30, 31}, {31, 32}, {32, 33}, {14, 33}, {33, 19},
                                  {29, 34}, {34, 35}, {35, 36}, {17, 36}, {36, 18}};
enum { WAY_COUNT = sizeof WAYS / sizeof WAYS[0] };

void ph_town_find(int place, double* x_mm, double* y_mm)
{
    if (place < CROSSING_COUNT) {
        *x_mm = 1000.0 * CROSSING_GAP_M * (place % ROW_LENGTH - ROW_LENGTH / 2);
        *y_mm = 1000.0 * CROSSING_GAP_M * (place / ROW_LENGTH - ROW_LENGTH / 2);
    } else {
        *x_mm = 1000.0 * OTHER_PLACES_M[place - CROSSING_COUNT][0];
        *y_mm = 1000.0 * OTHER_PLACES_M[place - CROSSING_COUNT][1];
    }
}

static bool is_beside(int a, int b)
{
    if (a < CROSSING_COUNT && b < CROSSING_COUNT) {
        return abs(a % ROW_LENGTH - b % ROW_LENGTH) + abs(a / ROW_LENGTH - b / ROW_LENGTH) == 1;
    }
    for (int i = 0; i < WAY_COUNT; ++i) {
        if ((WAYS[i][0] == a && WAYS[i][1] == b) || (WAYS[i][0] == b && WAYS[i][1] == a)) {
            return true;
        }
    }
    return false;
}

// By the number of places on the way, outwards from the goal.
static void find_distances(int goal, int distances[PH_TOWN_PLACES])
{
    int queue[PH_TOWN_PLACES] = {goal};
    int queued = 1;
    for (int i = 0; i < PH_TOWN_PLACES; ++i) {
        distances[i] = -1;
    }
    distances[goal] = 0;
    for (int i = 0; i < queued; ++i) {
        for (int next = 0; next < PH_TOWN_PLACES; ++next) {
            if (distances[next] < 0 && is_beside(queue[i], next)) {
                distances[next] = distances[queue[i]] + 1;
                queue[queued++] = next;
            }
        }
    }
}

int ph_town_next(int from, int goal, int turn)
{
    int distances[PH_TOWN_PLACES];
    find_distances(goal, distances);
    int choices[PH_TOWN_PLACES];
    int choice_count = 0;
    for (int i = 0; i < PH_TOWN_PLACES; ++i) {
        if (is_beside(from, i) && distances[i] < distances[from]) {
            choices[choice_count++] = i;
        }
    }
    return choice_count > 0 ? choices[turn % choice_count] : goal;
}
