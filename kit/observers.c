// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per run of the simulator, over all rows.

#include "kit/observers.h"

#include "kit/wrap.h"

#include <math.h>
#include <stdlib.h>

#define PATH_MIN_MM 10000.0

typedef struct candidate {
    int entity;
    int first_tick;
    double path_mm;
} candidate;

static double step_mm(const ph_recording* recording, int row)
{
    const double x = ph_wrap_mm(recording->x_mm[row], recording->x_mm[row + 1]);
    const double y = ph_wrap_mm(recording->y_mm[row], recording->y_mm[row + 1]);
    const double z = ph_wrap_mm(recording->z_mm[row], recording->z_mm[row + 1]);
    return sqrt(x * x + y * y + z * z);
}

static double path_mm(const ph_recording* recording, int entity)
{
    double sum_mm = 0.0;
    for (int s = recording->first_span[entity]; s < recording->first_span[entity + 1]; ++s) {
        const ph_span* span = &recording->spans[s];
        const int last_row = span->first_row + (span->end_tick - span->first_tick) - 1;
        for (int row = span->first_row; row < last_row; ++row) {
            sum_mm += step_mm(recording, row);
        }
    }
    return sum_mm;
}

// Entities are in the order of their ids.
static int compare(const void* a, const void* b)
{
    const candidate* left = a;
    const candidate* right = b;
    if (left->path_mm != right->path_mm) {
        return left->path_mm > right->path_mm ? -1 : 1;
    }
    if (left->first_tick != right->first_tick) {
        return left->first_tick < right->first_tick ? -1 : 1;
    }
    return left->entity < right->entity ? -1 : 1;
}

static int find_candidates(const ph_recording* recording, candidate* found)
{
    int count = 0;
    for (int e = 0; e < recording->entity_count; ++e) {
        int first_row;
        if (ph_recording_rows(recording, e, &first_row) <
            PH_OBSERVER_SECONDS_MIN * recording->rate_hz) {
            continue;
        }
        const candidate made = {
            .entity = e,
            .first_tick = recording->spans[recording->first_span[e]].first_tick,
            .path_mm = path_mm(recording, e),
        };
        if (made.path_mm >= PATH_MIN_MM) {
            found[count++] = made;
        }
    }
    return count;
}

int ph_observers_choose(const ph_recording* recording, int max, int* entities)
{
    candidate* found = malloc((size_t)recording->entity_count * sizeof(candidate));
    if (found == NULL) {
        return -1;
    }
    const int count = find_candidates(recording, found);
    qsort(found, (size_t)count, sizeof(candidate), compare);
    const int chosen = count < max ? count : max;
    for (int i = 0; i < chosen; ++i) {
        entities[i] = found[i].entity;
    }
    free(found);
    return chosen;
}
