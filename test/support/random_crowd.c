// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Random crowds, random questions, and the answer they must get.

#include "random_crowd.h"

#include "vision/select.h"

#include <stdlib.h>

typedef enum crowd_layout {
    LAYOUT_EVEN = 0,
    LAYOUT_CLUSTERS,
    LAYOUT_LINE,
    LAYOUT_POINT,
    LAYOUT_LATTICE,
    LAYOUT_COUNT,
} crowd_layout;

typedef struct point {
    int64_t x_mm;
    int64_t y_mm;
} point;

static int64_t below(test_rng* rng, int64_t limit)
{
    return (int64_t)test_rng_below(rng, (uint64_t)limit);
}

static point random_point(test_rng* rng, crowd_layout layout, int64_t side_mm)
{
    const int64_t x_mm = below(rng, side_mm);
    const int64_t y_mm = below(rng, side_mm);
    switch (layout) {
    case LAYOUT_CLUSTERS:
        // Four places, each a hundredth as wide as all.
        return (point){side_mm / 4 * below(rng, 2) + x_mm / 100,
                       side_mm / 4 * below(rng, 2) + y_mm / 100};
    case LAYOUT_LINE:
        return (point){x_mm, side_mm / 3};
    case LAYOUT_POINT:
        return (point){side_mm / 2, side_mm / 2};
    case LAYOUT_LATTICE:
        return (point){x_mm - x_mm % (side_mm / 16 + 1), y_mm - y_mm % (side_mm / 16 + 1)};
    default:
        return (point){x_mm, y_mm};
    }
}

// From a few metres to the whole world, more often the middle.
static int64_t random_side(test_rng* rng)
{
    const int bits = 8 + (int)test_rng_below(rng, test_rng_below(rng, 4) == 0 ? 25 : 15);
    return INT64_C(1) << bits;
}

static uint32_t random_origin(test_rng* rng)
{
    const uint32_t origins[] = {0, 0x80000000u, 0xFFFFFF00u, (uint32_t)test_rng_next(rng)};
    return origins[test_rng_below(rng, 4)] - (uint32_t)test_rng_below(rng, 100000);
}

static uint8_t random_flags(test_rng* rng)
{
    const uint64_t draw = test_rng_below(rng, 100);
    return draw < 2   ? PH_SEEN_ALWAYS
           : draw < 5 ? PH_SEEN_NEVER
           : draw < 6 ? PH_SEEN_ALWAYS | PH_SEEN_NEVER
                      : 0;
}

void random_crowd_make(random_crowd* made, test_rng* rng)
{
    const crowd_layout layout = (crowd_layout)test_rng_below(rng, LAYOUT_COUNT);
    const bool has_flags = test_rng_below(rng, 2) == 0;
    const bool has_masks = test_rng_below(rng, 2) == 0;
    const int capacity = 1 + (int)test_rng_below(rng, RANDOM_CROWD_MAX);
    const uint32_t origin_x = random_origin(rng);
    const uint32_t origin_y = random_origin(rng);
    made->side_mm = random_side(rng);
    int live_count = 0;
    for (int i = 0; i < capacity; ++i) {
        const point at = random_point(rng, layout, made->side_mm);
        made->x_mm[i] = (int32_t)(origin_x + (uint32_t)at.x_mm);
        made->y_mm[i] = (int32_t)(origin_y + (uint32_t)at.y_mm);
        made->seen_by[i] = has_masks ? (uint32_t)test_rng_below(rng, 8) : 1;
        made->flags[i] = has_flags ? random_flags(rng) : 0;
        // Unique, and not in the order of indices.
        made->spawn_order[i] = ((uint64_t)i * 7919) % 1000003;
        if (test_rng_below(rng, 10) == 0) {
            made->spawn_order[i] = UINT64_MAX;
        } else {
            made->live[live_count++] = (ph_entity_index)i;
        }
    }
    made->crowd = (ph_entity_arrays){
        .x_mm = made->x_mm,
        .y_mm = made->y_mm,
        .seen_by = made->seen_by,
        .flags = made->flags,
        .spawn_order = made->spawn_order,
        .live = made->live,
        .live_count = live_count,
        .capacity = capacity,
    };
}

bool random_eye_callback(void* context, uint32_t viewer, ph_entity_index entity)
{
    (void)context;
    return (viewer * 31 + entity * 17) % 3 != 0;
}

ph_eye random_eye_make(const random_crowd* made, test_rng* rng)
{
    const ph_entity_arrays* crowd = &made->crowd;
    const ph_entity_index near = (ph_entity_index)test_rng_below(rng, (uint64_t)crowd->capacity);
    const bool is_own = test_rng_below(rng, 2) == 0;
    const int64_t aside_mm = is_own ? 0 : below(rng, made->side_mm) - made->side_mm / 2;
    // Up to three times the area, but sometimes nothing and sometimes all.
    const uint64_t kind = test_rng_below(rng, 16);
    int64_t radius_mm = kind == 0   ? 0
                        : kind == 1 ? INT64_C(1) << 31
                                    : below(rng, 3 * made->side_mm / (1 + below(rng, 8)) + 1);
    radius_mm = radius_mm < INT64_C(1) << 31 ? radius_mm : INT64_C(1) << 31;
    const int wanted_max[] = {2, 30, 300, RANDOM_CROWD_MAX + 1};
    return (ph_eye){
        .x_mm = (int32_t)((uint32_t)crowd->x_mm[near] + (uint32_t)aside_mm),
        .y_mm = (int32_t)((uint32_t)crowd->y_mm[near] - (uint32_t)aside_mm),
        .sees = 1 + (uint32_t)test_rng_below(rng, 7),
        .viewer = (uint32_t)test_rng_below(rng, 100),
        .own = is_own ? near : PH_ENTITY_NONE,
        .radius_mm = radius_mm,
        .wanted = (int)test_rng_below(rng, (uint64_t)wanted_max[test_rng_below(rng, 4)]),
        .callback = test_rng_below(rng, 3) == 0 ? random_eye_callback : NULL,
    };
}

static void assert_same_set(ph_seen* left, ph_seen* right, int count)
{
    ph_sort_nearest(left, count);
    ph_sort_nearest(right, count);
    for (int i = 0; i < count; ++i) {
        assert_int_equal(left[i].entity, right[i].entity);
        assert_true(left[i].distance2 == right[i].distance2);
        assert_true(left[i].spawn_order == right[i].spawn_order);
    }
}

void assert_exact_answer(const ph_entity_arrays* crowd, const ph_eye* eye, int first,
                         const ph_seen* seen, int count)
{
    const size_t size = (size_t)(crowd->live_count + count + 1) * sizeof(ph_seen);
    ph_seen* scratch = malloc(size);
    ph_seen* exact = malloc(size);
    ph_seen* copy = malloc(size);
    assert_true(scratch != NULL && exact != NULL && copy != NULL);
    const int exact_count = ph_nearest_brute_force(crowd, eye, first, scratch, exact);
    assert_int_equal(count, exact_count);
    for (int i = 0; i < count; ++i) {
        copy[i] = seen[i];
    }
    const int front = first < count ? first : count;
    assert_same_set(copy, exact, front);
    assert_same_set(copy + front, exact + front, count - front);
    free(copy);
    free(exact);
    free(scratch);
}
