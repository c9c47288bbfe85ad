// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The last second of the truth, worked out once per tick for all viewers: R + 1 places and R step
// lengths of each entity, in rings. Runs once per tick; costs some 50 ns per present entity.
//
//   places     entity 0: | 0 | 1 | ... | R |   entity 1: | 0 | 1 | ...     slot = tick modulo R + 1
//   steps_mm   entity 0: | 0 | ... | R-1 |     entity 1: | 0 | ...         slot = tick modulo R

#include "kit/past.h"

#include "base/allocator.h"
#include "kit/wrap.h"

#include <math.h>

#define JUMP_MM_PER_S 100000.0

typedef struct ph_place {
    int32_t mm[3];
} ph_place;

// ---- memory

static size_t place_count(const ph_past* past)
{
    return (size_t)past->entity_count * (size_t)(past->rate_hz + 1);
}

static size_t step_count(const ph_past* past)
{
    return (size_t)past->entity_count * (size_t)past->rate_hz;
}

void ph_past_destroy(ph_past* past)
{
    if (past == NULL) {
        return;
    }
    const ph_allocator allocator = past->allocator;
    const size_t count = (size_t)past->entity_count;
    ph_release_array(&allocator, past->steps_mm, step_count(past), sizeof *past->steps_mm);
    ph_release_array(&allocator, past->places, place_count(past), sizeof *past->places);
    ph_release_array(&allocator, past->present, count, sizeof *past->present);
    ph_release_array(&allocator, past->trails, count, sizeof *past->trails);
    ph_release(&allocator, past, sizeof *past);
}

static bool take_arrays(ph_past* past)
{
    const ph_allocator* allocator = &past->allocator;
    const size_t count = (size_t)past->entity_count;
    past->trails = ph_allocate_array(allocator, count, sizeof *past->trails);
    past->present = ph_allocate_array(allocator, count, sizeof *past->present);
    past->places = ph_allocate_array(allocator, place_count(past), sizeof *past->places);
    past->steps_mm = ph_allocate_array(allocator, step_count(past), sizeof *past->steps_mm);
    return past->trails != NULL && past->present != NULL && past->places != NULL &&
           past->steps_mm != NULL;
}

ph_result ph_past_create(const ph_past_def* def, ph_past** past)
{
    PH_ASSERT(def->entity_count >= 0);
    PH_ASSERT(def->rate_hz >= 1 && def->rate_hz <= 1000);

    *past = NULL;
    ph_past* made = ph_allocate_zeroed(&def->allocator, sizeof *made);
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    made->entity_count = def->entity_count;
    made->rate_hz = def->rate_hz;
    made->allocator = def->allocator;
    made->tick = -1;
    if (!take_arrays(made)) {
        ph_past_destroy(made);
        return PH_ERROR_MEMORY;
    }
    for (int i = 0; i < made->entity_count; ++i) {
        made->trails[i] = (ph_trail){
            .first_tick = PH_PAST_NEVER, .last_tick = PH_PAST_NEVER, .jump_tick = PH_PAST_NEVER};
    }
    *past = made;
    return PH_OK;
}

// ---- the tick

static ph_place* place_at(const ph_past* past, int32_t entity, int32_t tick)
{
    const int32_t slots = past->rate_hz + 1;
    return &past->places[(size_t)entity * (size_t)slots + (size_t)(tick % slots)];
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

static double* steps_of(const ph_past* past, int32_t entity)
{
    return &past->steps_mm[(size_t)entity * (size_t)past->rate_hz];
}

static void appear(ph_past* past, int32_t entity)
{
    ph_trail* trail = &past->trails[entity];
    const bool is_return = trail->first_tick != PH_PAST_NEVER;
    *trail = (ph_trail){
        .first_tick = past->tick,
        .jump_tick = is_return ? past->tick : PH_PAST_NEVER,
    };
    double* steps_mm = steps_of(past, entity);
    for (int i = 0; i < past->rate_hz; ++i) {
        steps_mm[i] = 0.0;
    }
}

static void move(ph_past* past, int32_t entity, const ph_place* place)
{
    ph_trail* trail = &past->trails[entity];
    double* steps_mm = steps_of(past, entity);
    int32_t step_mm[3];
    measure_way(place_at(past, entity, past->tick - 1), place, step_mm);
    const double length_mm = length_of(step_mm);
    steps_mm[past->tick % past->rate_hz] = length_mm;
    if (length_mm * past->rate_hz > JUMP_MM_PER_S) {
        trail->jump_tick = past->tick;
    }

    double longest_mm = 0.0;
    for (int i = 0; i < past->rate_hz; ++i) {
        longest_mm = steps_mm[i] > longest_mm ? steps_mm[i] : longest_mm;
    }
    trail->longest_step_mm = longest_mm;

    const int32_t second_ago = past->tick - past->rate_hz;
    const int32_t from = trail->first_tick > second_ago ? trail->first_tick : second_ago;
    measure_way(place_at(past, entity, from), place, trail->way_mm);
    trail->way_length_mm = length_of(trail->way_mm);
}

void ph_past_step(ph_past* past, const ph_truth_moment* now)
{
    PH_ASSERT(past->tick < INT32_MAX / 2 - 1); // PH_PAST_NEVER can be subtracted

    ++past->tick;
    past->now = *now;
    past->present_count = 0;
    for (int32_t i = 0; i < past->entity_count; ++i) {
        if (!now->present[i]) {
            continue;
        }
        const ph_place place = {{now->x_mm[i], now->y_mm[i], now->z_mm[i]}};
        if (past->trails[i].last_tick != past->tick - 1) {
            appear(past, i);
        } else {
            move(past, i, &place);
        }
        *place_at(past, i, past->tick) = place;
        past->trails[i].last_tick = past->tick;
        past->present[past->present_count++] = i;
    }
}

// ---- asking

uint64_t ph_past_planar2(const ph_past* past, int32_t a, int32_t b)
{
    const ph_truth_moment* now = &past->now;
    const int64_t x_mm = ph_wrap_mm(now->x_mm[a], now->x_mm[b]);
    const int64_t y_mm = ph_wrap_mm(now->y_mm[a], now->y_mm[b]);
    return (uint64_t)(x_mm * x_mm) + (uint64_t)(y_mm * y_mm);
}

uint64_t ph_past_distance2(const ph_past* past, int32_t a, int32_t b)
{
    const int64_t z_mm = ph_wrap_mm(past->now.z_mm[a], past->now.z_mm[b]);
    return ph_past_planar2(past, a, b) + (uint64_t)(z_mm * z_mm);
}

bool ph_past_has_jumped(const ph_past* past, int32_t entity)
{
    return past->tick - past->trails[entity].jump_tick < past->rate_hz;
}
