// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The last second of the truth, worked out once per tick for all viewers: R + 1 places and R step
// lengths of each entity, in rings. Runs once per tick; costs some 50 ns per present entity.
//
//   places     entity 0: | 0 | 1 | ... | R |   entity 1: | 0 | 1 | ...     slot = tick modulo R + 1
//   steps_mm   entity 0: | 0 | ... | R-1 |     entity 1: | 0 | ...         slot = tick modulo R

#include "kit/truth_history.h"

#include "base/allocator.h"
#include "kit/wrap.h"

#include <math.h>

typedef struct ph_place {
    int32_t mm[3];
} ph_place;

// ---- memory

static size_t place_count(const ph_truth_history* history)
{
    return (size_t)history->entity_count * (size_t)(history->second_ticks + 1);
}

static size_t step_count(const ph_truth_history* history)
{
    return (size_t)history->entity_count * (size_t)history->second_ticks;
}

void ph_truth_history_destroy(ph_truth_history* history)
{
    if (history == NULL) {
        return;
    }
    const ph_allocator allocator = history->allocator;
    const size_t count = (size_t)history->entity_count;
    ph_release_array(&allocator, history->steps_mm, step_count(history), sizeof *history->steps_mm);
    ph_release_array(&allocator, history->places, place_count(history), sizeof *history->places);
    ph_release_array(&allocator, history->present, count, sizeof *history->present);
    ph_release_array(&allocator, history->trails, count, sizeof *history->trails);
    ph_release(&allocator, history, sizeof *history);
}

static bool take_arrays(ph_truth_history* history)
{
    const ph_allocator* allocator = &history->allocator;
    const size_t count = (size_t)history->entity_count;
    history->trails = ph_allocate_array(allocator, count, sizeof *history->trails);
    history->present = ph_allocate_array(allocator, count, sizeof *history->present);
    history->places = ph_allocate_array(allocator, place_count(history), sizeof *history->places);
    history->steps_mm =
        ph_allocate_array(allocator, step_count(history), sizeof *history->steps_mm);
    return history->trails != NULL && history->present != NULL && history->places != NULL &&
           history->steps_mm != NULL;
}

ph_result ph_truth_history_create(const ph_truth_history_def* def, ph_truth_history** history)
{
    PH_ASSERT(def->entity_count >= 0);
    PH_ASSERT(def->rate_hz >= 1 && def->rate_hz <= 1000);

    *history = NULL;
    ph_truth_history* made = ph_allocate_zeroed(&def->allocator, sizeof *made);
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    made->entity_count = def->entity_count;
    made->rate_hz = def->rate_hz;
    made->second_ticks = (int)ceil(def->rate_hz);
    made->allocator = def->allocator;
    made->tick = -1;
    if (!take_arrays(made)) {
        ph_truth_history_destroy(made);
        return PH_ERROR_MEMORY;
    }
    for (int i = 0; i < made->entity_count; ++i) {
        made->trails[i] = (ph_trail){.first_tick = PH_TRUTH_HISTORY_NEVER,
                                     .last_tick = PH_TRUTH_HISTORY_NEVER,
                                     .jump_tick = PH_TRUTH_HISTORY_NEVER};
    }
    *history = made;
    return PH_OK;
}

// ---- the tick

static ph_place* place_at(const ph_truth_history* history, int32_t entity, int32_t tick)
{
    const int32_t slots = history->second_ticks + 1;
    return &history->places[(size_t)entity * (size_t)slots + (size_t)(tick % slots)];
}

static double length_of(const int32_t way_mm[3])
{
    uint64_t squares = 0; // 3 x 2^62 at most
    for (int i = 0; i < 3; ++i) {
        squares += (uint64_t)((int64_t)way_mm[i] * way_mm[i]);
    }
    return sqrt((double)squares);
}

static void measure_way(const ph_place* from, const ph_place* to, int32_t way_mm[3])
{
    for (int i = 0; i < 3; ++i) {
        way_mm[i] = ph_wrap_mm(from->mm[i], to->mm[i]);
    }
}

static double* steps_of(const ph_truth_history* history, int32_t entity)
{
    return &history->steps_mm[(size_t)entity * (size_t)history->second_ticks];
}

static void appear(ph_truth_history* history, int32_t entity)
{
    ph_trail* trail = &history->trails[entity];
    const bool is_return = trail->first_tick != PH_TRUTH_HISTORY_NEVER;
    *trail = (ph_trail){
        .first_tick = history->tick,
        .jump_tick = is_return ? history->tick : PH_TRUTH_HISTORY_NEVER,
    };
    double* steps_mm = steps_of(history, entity);
    for (int i = 0; i < history->second_ticks; ++i) {
        steps_mm[i] = 0.0;
    }
}

static void move(ph_truth_history* history, int32_t entity, const ph_place* place)
{
    ph_trail* trail = &history->trails[entity];
    double* steps_mm = steps_of(history, entity);
    int32_t step_mm[3];
    measure_way(place_at(history, entity, history->tick - 1), place, step_mm);
    const double length_mm = length_of(step_mm);
    steps_mm[history->tick % history->second_ticks] = length_mm;
    if (history->now.is_jump != NULL && history->now.is_jump[entity]) {
        trail->jump_tick = history->tick;
    }

    double longest_mm = 0.0;
    for (int i = 0; i < history->second_ticks; ++i) {
        longest_mm = steps_mm[i] > longest_mm ? steps_mm[i] : longest_mm;
    }
    trail->longest_step_mm = longest_mm;

    const int32_t second_ago = history->tick - history->second_ticks;
    const int32_t from = trail->first_tick > second_ago ? trail->first_tick : second_ago;
    measure_way(place_at(history, entity, from), place, trail->way_mm);
    trail->way_length_mm = length_of(trail->way_mm);
}

void ph_truth_history_step(ph_truth_history* history, const ph_truth_moment* now)
{
    PH_ASSERT(history->tick < INT32_MAX / 2 - 1); // PH_TRUTH_HISTORY_NEVER can be subtracted

    ++history->tick;
    history->now = *now;
    history->present_count = 0;
    for (int32_t i = 0; i < history->entity_count; ++i) {
        if (!now->present[i]) {
            continue;
        }
        const ph_place place = {{now->x_mm[i], now->y_mm[i], now->z_mm[i]}};
        if (history->trails[i].last_tick != history->tick - 1) {
            appear(history, i);
        } else {
            move(history, i, &place);
        }
        *place_at(history, i, history->tick) = place;
        history->trails[i].last_tick = history->tick;
        history->present[history->present_count++] = i;
    }
}

// ---- asking

uint64_t ph_truth_history_planar2(const ph_truth_history* history, int32_t a, int32_t b)
{
    const ph_truth_moment* now = &history->now;
    const int64_t x_mm = ph_wrap_mm(now->x_mm[a], now->x_mm[b]);
    const int64_t y_mm = ph_wrap_mm(now->y_mm[a], now->y_mm[b]);
    return (uint64_t)(x_mm * x_mm) + (uint64_t)(y_mm * y_mm);
}

uint64_t ph_truth_history_distance2(const ph_truth_history* history, int32_t a, int32_t b)
{
    const int64_t z_mm = ph_wrap_mm(history->now.z_mm[a], history->now.z_mm[b]);
    return ph_truth_history_planar2(history, a, b) + (uint64_t)(z_mm * z_mm);
}

bool ph_truth_history_has_jumped(const ph_truth_history* history, int32_t entity)
{
    return history->tick - history->trails[entity].jump_tick < history->second_ticks;
}
