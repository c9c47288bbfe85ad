// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The last second of the truth, next to looking back through everything that ever was.

#include "kit/truth_history.h"

#include "support/test_memory.h"
#include "support/test_support.h"

#include <math.h>

enum { ENTITY_COUNT = 8, RATE_HZ = 7, TICK_COUNT = 400 };

typedef struct moment {
    bool present[ENTITY_COUNT];
    int32_t mm[3][ENTITY_COUNT];
    bool is_jump[ENTITY_COUNT];
} moment;

static ph_truth_moment truth_of(const moment* now)
{
    return (ph_truth_moment){
        .present = now->present,
        .x_mm = now->mm[0],
        .y_mm = now->mm[1],
        .z_mm = now->mm[2],
        .is_jump = now->is_jump,
    };
}

// Walks, stops, goes far, jumps, goes away and comes back.
static void draw_moment(test_rng* rng, const moment* before, moment* now)
{
    *now = *before;
    for (int i = 0; i < ENTITY_COUNT; ++i) {
        if (test_rng_below(rng, 12) == 0) {
            now->present[i] = !now->present[i];
        }
        now->is_jump[i] = test_rng_below(rng, 30) == 0;
        const int reach_mm = test_rng_below(rng, 20) == 0 ? 30000 : 900;
        for (int axis = 0; axis < 3; ++axis) {
            now->mm[axis][i] += (int32_t)test_rng_below(rng, (uint64_t)reach_mm) - reach_mm / 2;
        }
    }
}

static double distance_mm(const moment* a, const moment* b, int entity)
{
    double square = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        const double off_mm = (double)b->mm[axis][entity] - a->mm[axis][entity];
        square += off_mm * off_mm;
    }
    return sqrt(square);
}

static int first_of_stay(const moment* moments, int tick, int entity)
{
    int first = tick;
    while (first > 0 && moments[first - 1].present[entity]) {
        --first;
    }
    return first;
}

static bool was_ever_present(const moment* moments, int before_tick, int entity)
{
    for (int tick = 0; tick < before_tick; ++tick) {
        if (moments[tick].present[entity]) {
            return true;
        }
    }
    return false;
}

static bool is_jump(const moment* moments, int tick, int entity)
{
    if (!moments[tick].present[entity]) {
        return false;
    }
    if (first_of_stay(moments, tick, entity) == tick) {
        return was_ever_present(moments, tick, entity);
    }
    return moments[tick].is_jump[entity];
}

static void check_entity(const ph_truth_history* history, const moment* moments, int entity)
{
    const int tick = history->tick;
    const int stay = first_of_stay(moments, tick, entity);
    double longest_mm = 0.0;
    bool has_jumped = false;
    for (int at = tick - RATE_HZ + 1; at <= tick; ++at) {
        if (at > stay) {
            longest_mm = fmax(longest_mm, distance_mm(&moments[at - 1], &moments[at], entity));
        }
        has_jumped = has_jumped || (at >= 0 && is_jump(moments, at, entity));
    }
    const int from = stay > tick - RATE_HZ ? stay : tick - RATE_HZ;
    const ph_trail* trail = &history->trails[entity];
    assert_int_equal(trail->first_tick, stay);
    assert_int_equal(ph_truth_history_has_jumped(history, entity), has_jumped);
    assert_true(fabs(trail->longest_step_mm - longest_mm) < 1e-6);
    for (int axis = 0; axis < 3; ++axis) {
        assert_int_equal(trail->way_mm[axis],
                         moments[tick].mm[axis][entity] - moments[from].mm[axis][entity]);
    }
    const double way_mm = distance_mm(&moments[from], &moments[tick], entity);
    assert_true(fabs(trail->way_length_mm - way_mm) < 1e-6);
}

static void equals_looking_back_through_everything(void** state)
{
    (void)state;
    static moment moments[TICK_COUNT];
    test_rng rng = {.state = 61};
    ph_truth_history* history;
    const ph_truth_history_def def = {.entity_count = ENTITY_COUNT, .rate_hz = RATE_HZ};
    assert_int_equal(ph_truth_history_create(&def, &history), PH_OK);
    for (int tick = 0; tick < TICK_COUNT; ++tick) {
        draw_moment(&rng, &moments[tick > 0 ? tick - 1 : 0], &moments[tick]);
        const ph_truth_moment truth = truth_of(&moments[tick]);
        ph_truth_history_step(history, &truth);
        int listed = 0;
        for (int i = 0; i < ENTITY_COUNT; ++i) {
            if (moments[tick].present[i]) {
                assert_int_equal(history->present[listed++], i);
                check_entity(history, moments, i);
            }
        }
        assert_int_equal(history->present_count, listed);
    }
    ph_truth_history_destroy(history);
}

// From 2^31 - 10 to -2^31 + 20 it is 30 mm, not 4,295 km.
static void distances_cross_the_edge_of_the_world(void** state)
{
    (void)state;
    const moment now = {
        .present = {true, true},
        .mm = {{INT32_MAX - 9, INT32_MIN + 20}, {40, 0}, {INT32_MIN, INT32_MAX - 119}},
    };
    ph_truth_history* history;
    assert_int_equal(
        ph_truth_history_create(&(ph_truth_history_def){.entity_count = 2, .rate_hz = 1}, &history),
        PH_OK);
    const ph_truth_moment truth = truth_of(&now);
    ph_truth_history_step(history, &truth);
    assert_true(ph_truth_history_planar2(history, 0, 1) == 50 * 50);
    assert_true(ph_truth_history_planar2(history, 1, 0) == 50 * 50);
    assert_true(ph_truth_history_distance2(history, 0, 1) == 50 * 50 + 120 * 120);
    ph_truth_history_destroy(history);
}

static void without_memory_there_is_no_history(void** state)
{
    (void)state;
    ph_result result = PH_ERROR_MEMORY;
    for (int n = 1; result != PH_OK; ++n) {
        test_memory memory = {.fail_at = n};
        const ph_truth_history_def def = {
            .entity_count = 4, .rate_hz = 3, .allocator = test_memory_allocator(&memory)};
        ph_truth_history* history;
        result = ph_truth_history_create(&def, &history);
        assert_true((history != NULL) == (result == PH_OK));
        ph_truth_history_destroy(history);
        test_memory_assert_clean(&memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_looking_back_through_everything),
        cmocka_unit_test(distances_cross_the_edge_of_the_world),
        cmocka_unit_test(without_memory_there_is_no_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
