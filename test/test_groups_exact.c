// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Groups find what brute force finds, whichever viewers share a list: random worlds of all shapes,
// a random life, and how many lists that takes.

#include "support/groups_scene.h"
#include "support/test_support.h"

enum {
    WORLDS = 1000,
    METRE = GROUPS_METRE,
};

typedef enum shape { SHAPE_EVEN, SHAPE_CLUSTERS, SHAPE_LINE, SHAPE_POINT, SHAPE_COUNT } shape;

typedef struct landscape {
    shape shape;
    int32_t x_mm; // somewhere in the middle
    int32_t y_mm;
    int64_t span_mm;
} landscape;

static int32_t near_to(test_rng* rng, int32_t middle, int64_t span_mm)
{
    const uint32_t away = (uint32_t)test_rng_below(rng, 2 * (uint64_t)span_mm + 1);
    return (int32_t)((uint32_t)middle + away - (uint32_t)span_mm);
}

// Half of all worlds lie on the edge: their middle is next to where the numbers wrap.
static landscape make_landscape(test_rng* rng)
{
    const int64_t spans_mm[] = {1, 50, 20000, 200000, 2000000, INT64_C(1) << 31};
    const bool is_edge = test_rng_below(rng, 2) == 0;
    return (landscape){
        .shape = (shape)test_rng_below(rng, SHAPE_COUNT),
        .x_mm = is_edge ? INT32_MAX : (int32_t)test_rng_next(rng),
        .y_mm = is_edge ? INT32_MIN : (int32_t)test_rng_next(rng),
        .span_mm = spans_mm[test_rng_below(rng, sizeof(spans_mm) / sizeof(spans_mm[0]))],
    };
}

static void choose_place(test_rng* rng, const landscape* land, int32_t* x_mm, int32_t* y_mm)
{
    *x_mm = land->x_mm;
    *y_mm = land->y_mm;
    switch (land->shape) {
    case SHAPE_CLUSTERS:
        *x_mm = (int32_t)((uint32_t)land->x_mm +
                          (uint32_t)(land->span_mm / 2) * (uint32_t)test_rng_below(rng, 3));
        *x_mm = near_to(rng, *x_mm, land->span_mm / 10);
        *y_mm = near_to(rng, land->y_mm, land->span_mm / 10);
        break;
    case SHAPE_LINE:
        *x_mm = near_to(rng, land->x_mm, land->span_mm);
        break;
    case SHAPE_POINT:
        break;
    default:
        *x_mm = near_to(rng, land->x_mm, land->span_mm);
        *y_mm = near_to(rng, land->y_mm, land->span_mm);
    }
}

static bool is_picky(void* context, uint32_t viewer, ph_entity_index entity)
{
    (void)context;
    return (viewer + entity) % 3 != 0;
}

static void fill_crowd(groups_scene* s, test_rng* rng, const landscape* land)
{
    const int entity_count = (int)test_rng_below(rng, GROUPS_CROWD + 1);
    const bool is_filtered = test_rng_below(rng, 2) == 0;
    const bool is_flagged = test_rng_below(rng, 2) == 0;
    for (int i = 0; i < entity_count; ++i) {
        int32_t x_mm;
        int32_t y_mm;
        choose_place(rng, land, &x_mm, &y_mm);
        groups_scene_spawn(s, x_mm, y_mm);
        if (is_filtered) {
            s->seen_by[i] = (uint32_t)test_rng_below(rng, 4);
        }
        if (is_flagged && test_rng_below(rng, 20) == 0) {
            s->flags[i] = (uint8_t)(1 + test_rng_below(rng, 3));
        }
    }
}

// Two classes at most, so that groups have members.
static void fill_viewers(groups_scene* s, test_rng* rng, const landscape* land)
{
    const int64_t radii_mm[] = {0, 1000, 100000, 300000, INT64_C(1) << 31};
    const int wanteds[] = {1, 2, 20, 100, GROUPS_CROWD, GROUPS_WANTED_MAX};
    const uint32_t viewer_count = 1 + (uint32_t)test_rng_below(rng, 40);
    const int64_t radius_mm = radii_mm[test_rng_below(rng, 5)];
    const int wanted = wanteds[test_rng_below(rng, 6)];
    const bool is_filtered = test_rng_below(rng, 2) == 0;
    const bool has_callback = test_rng_below(rng, 4) == 0;
    for (uint32_t viewer = 0; viewer < viewer_count; ++viewer) {
        int32_t x_mm;
        int32_t y_mm;
        choose_place(rng, land, &x_mm, &y_mm);
        groups_scene_add(s, viewer, x_mm, y_mm);
        ph_eye* eye = &s->eyes[viewer];
        eye->radius_mm = radius_mm;
        eye->wanted = wanted;
        eye->sees = is_filtered ? 1 + (uint32_t)test_rng_below(rng, 2) : 1;
        eye->callback = has_callback ? is_picky : NULL;
        if (s->crowd.live_count > 0 && test_rng_below(rng, 2) == 0) {
            // A player: stands where its entity does.
            eye->own = (ph_entity_index)test_rng_below(rng, (uint64_t)s->crowd.live_count);
            eye->x_mm = s->x_mm[eye->own];
            eye->y_mm = s->y_mm[eye->own];
        }
    }
}

static void shake(groups_scene* s, test_rng* rng)
{
    for (int i = 0; i < s->crowd.live_count; ++i) {
        s->x_mm[i] = near_to(rng, s->x_mm[i], 15 * METRE);
        s->y_mm[i] = near_to(rng, s->y_mm[i], 15 * METRE);
    }
    for (int viewer = 0; viewer < GROUPS_VIEWERS; ++viewer) {
        ph_eye* eye = &s->eyes[viewer];
        eye->x_mm = near_to(rng, eye->x_mm, 15 * METRE);
        eye->y_mm = near_to(rng, eye->y_mm, 15 * METRE);
    }
}

static void a_thousand_random_worlds_equal_brute_force(void** state)
{
    (void)state;
    test_rng rng = {.state = 3003};
    uint64_t lists = 0;
    uint64_t shared_lists = 0;
    for (int world = 0; world < WORLDS; ++world) {
        groups_scene s;
        groups_scene_setup(&s);
        const landscape land = make_landscape(&rng);
        fill_crowd(&s, &rng, &land);
        fill_viewers(&s, &rng, &land);
        for (int tick = 0; tick < 3; ++tick) {
            groups_scene_update(&s);
            groups_scene_check_all(&s);
            shake(&s, &rng);
        }
        lists += s.stats.made_lists;
        shared_lists += s.stats.shared_lists;
        groups_scene_teardown(&s);
    }
    // The worlds were worth it: most viewers had company.
    assert_true(lists > WORLDS);
    assert_true(shared_lists > 10 * WORLDS);
}

// Distances that are no whole numbers, members and entities exactly on the bounds: a rounding that
// goes the wrong way loses an entity here.
static void bounds_are_rounded_to_the_safe_side(void** state)
{
    (void)state;
    test_rng rng = {.state = 4004};
    for (int world = 0; world < 3000; ++world) {
        groups_scene s;
        groups_scene_setup(&s);
        for (int i = 0; i < 12; ++i) {
            groups_scene_spawn(&s, near_to(&rng, 0, 12), near_to(&rng, 0, 12));
        }
        const int64_t radius_mm = (int64_t)test_rng_below(&rng, 16);
        const int wanted = 1 + (int)test_rng_below(&rng, 8);
        for (uint32_t viewer = 0; viewer < 5; ++viewer) {
            groups_scene_add(&s, viewer, near_to(&rng, 0, 6), near_to(&rng, 0, 6));
            s.eyes[viewer].radius_mm = radius_mm;
            s.eyes[viewer].wanted = wanted;
            s.eyes[viewer].own = test_rng_below(&rng, 2) == 0 ? viewer : PH_ENTITY_NONE;
        }
        groups_scene_update(&s);
        assert_int_equal(s.stats.group_count, 1);
        groups_scene_check_all(&s);
        groups_scene_teardown(&s);
    }
}

// ---- lists

static void one_list_serves_a_whole_group(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 33; ++i) {
        groups_scene_add(&s, i, (int32_t)(i % 3) * 1000 * METRE, 0);
        groups_scene_spawn(&s, (int32_t)(i % 3) * 1000 * METRE, METRE);
    }
    groups_scene_update(&s);
    groups_scene_check_all(&s);
    assert_int_equal(s.stats.made_lists, 3);
    assert_int_equal(s.stats.shared_lists, 30);
    groups_scene_check_all(&s); // the list of the last group is still there
    groups_scene_update(&s);
    groups_scene_check(&s, 2, 0); // but not after an update
    assert_int_equal(s.stats.made_lists, 7);
    groups_scene_teardown(&s);
}

static void a_viewer_alone_needs_no_list(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    groups_scene_add(&s, 0, 0, 0);
    groups_scene_spawn(&s, 0, 0);
    groups_scene_update(&s);
    groups_scene_check(&s, 0, 1);
    assert_int_equal(s.stats.made_lists, 0);
    groups_scene_add(&s, 1, 0, 0);
    groups_scene_check(&s, 1, 1); // before its first update
    assert_int_equal(s.stats.made_lists, 0);
    groups_scene_teardown(&s);
}

// Forty times as many in the first millimetre as are wanted.
static void a_crowd_on_one_point_sees_its_nearest(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (int i = 0; i < GROUPS_CROWD; ++i) {
        groups_scene_spawn(&s, 5 * METRE, 5 * METRE);
    }
    for (uint32_t i = 0; i < GROUPS_VIEWERS; ++i) {
        groups_scene_add(&s, i, 5 * METRE, 5 * METRE);
        s.eyes[i].own = i;
        s.eyes[i].radius_mm = i % 2 == 0 ? 0 : METRE;
    }
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 2);
    groups_scene_check_all(&s);
    ph_seen seen[10];
    assert_int_equal(ph_groups_nearest(s.groups, s.grid, &s.crowd, &s.eyes[0], 10, s.scratch, seen),
                     10);
    groups_scene_teardown(&s);
}

// ---- everything at once

static void change_viewer(groups_scene* s, test_rng* rng, uint32_t viewer)
{
    if (!s->is_added[viewer]) {
        groups_scene_add(s, viewer, (int32_t)test_rng_below(rng, 300 * METRE),
                         (int32_t)test_rng_below(rng, 300 * METRE));
        return;
    }
    switch (test_rng_below(rng, 40)) {
    case 0:
        groups_scene_remove(s, viewer);
        break;
    case 1:
        s->eyes[viewer].x_mm = (int32_t)test_rng_next(rng);
        break;
    case 2:
        s->eyes[viewer].sees = 1 + (uint32_t)test_rng_below(rng, 2);
        break;
    case 3:
        s->eyes[viewer].x_mm = 0;
        s->eyes[viewer].y_mm = 0;
        break;
    default:
        s->eyes[viewer].x_mm = near_to(rng, s->eyes[viewer].x_mm, 5 * METRE);
        s->eyes[viewer].y_mm = near_to(rng, s->eyes[viewer].y_mm, 5 * METRE);
    }
}

static void a_random_life_stays_sound_and_exact(void** state)
{
    (void)state;
    test_rng rng = {.state = 53};
    groups_scene s;
    groups_scene_setup(&s);
    for (int i = 0; i < GROUPS_CROWD; ++i) {
        groups_scene_spawn(&s, (int32_t)test_rng_below(&rng, 300 * METRE),
                           (int32_t)test_rng_below(&rng, 300 * METRE));
        s.seen_by[i] = 1 + (uint32_t)test_rng_below(&rng, 3);
    }
    for (int tick = 0; tick < 2000; ++tick) {
        for (int i = 0; i < 60; ++i) {
            change_viewer(&s, &rng, (uint32_t)test_rng_below(&rng, GROUPS_VIEWERS));
        }
        groups_scene_update(&s);
        const uint32_t asked = (uint32_t)test_rng_below(&rng, GROUPS_VIEWERS);
        if (s.is_added[asked]) {
            groups_scene_check(&s, asked, 5);
        }
    }
    assert_true(s.stats.split_groups > 1000 && s.stats.merged_groups > 1000);
    groups_scene_teardown(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_random_worlds_equal_brute_force),
        cmocka_unit_test(bounds_are_rounded_to_the_safe_side),
        cmocka_unit_test(one_list_serves_a_whole_group),
        cmocka_unit_test(a_viewer_alone_needs_no_list),
        cmocka_unit_test(a_crowd_on_one_point_sees_its_nearest),
        cmocka_unit_test(a_random_life_stays_sound_and_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
