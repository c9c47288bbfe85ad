// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A viewer that looks again and again, each time beginning where it ended: its views are those of
// brute force whatever has happened in between, and so are the entities that it is shown.

#include "support/random_crowd.h"
#include "support/test_memory.h"
#include "support/test_support.h"

#include "vision/select.h"
#include "vision/nearby.h"

#include <string.h>

enum {
    WORLDS = 60,
    STEPS = 30,
    VIEWERS = 3,                       // that stand together; the first is looked at
    SLOTS = 2 * RANDOM_CROWD_MAX + 10, // so many that no entity ever waits
};

typedef struct fixture {
    random_crowd world;
    test_rng rng;
    uint64_t next_order;
    ph_eye eye;
    ph_eye eyes[VIEWERS];
    int64_t radius_mm_max;
    int first;
    ph_nearby nearby;
    ph_view view;
    ph_slots* slots;
    uint32_t tick;
    test_memory memory;
    ph_seen scratch[RANDOM_CROWD_MAX];
    ph_seen exact[RANDOM_CROWD_MAX];
    int exact_count;
    bool is_exact[RANDOM_CROWD_MAX]; // by entity
    bool is_near[RANDOM_CROWD_MAX];
} fixture;

static int draw(fixture* f, int count)
{
    return (int)test_rng_below(&f->rng, (uint64_t)count);
}

// Any question; the exact vision of slots is a part of it.
static void ask_otherwise(fixture* f)
{
    f->eye = random_eye_make(&f->world, &f->rng);
    f->eye.viewer = 0;
    f->eye.radius_mm = f->eye.radius_mm < f->radius_mm_max ? f->eye.radius_mm : f->radius_mm_max;
    f->eye.wanted = f->eye.wanted < 1 ? 1 : f->eye.wanted;
    f->eye.wanted = f->eye.wanted < RANDOM_CROWD_MAX ? f->eye.wanted : RANDOM_CROWD_MAX;
    f->first = 1 + draw(f, f->eye.wanted);
    f->eye.enter_mm = draw(f, 3) == 0 ? f->eye.radius_mm : f->eye.radius_mm * 10 / 11;
}

// The others ask the same, from a few metres aside.
static void stand_together(fixture* f)
{
    f->eyes[0] = f->eye;
    for (uint32_t i = 1; i < VIEWERS; ++i) {
        f->eyes[i] = f->eye;
        f->eyes[i].viewer = i;
        f->eyes[i].own = PH_ENTITY_NONE;
        f->eyes[i].x_mm = (int32_t)((uint32_t)f->eye.x_mm + (uint32_t)draw(f, 5000));
    }
}

static void setup(fixture* f, ph_vision_kind kind)
{
    random_crowd_make(&f->world, &f->rng);
    const int64_t half_world_mm = INT64_C(1) << 31;
    f->radius_mm_max = 2 * f->world.side_mm < half_world_mm ? 2 * f->world.side_mm : half_world_mm;
    const ph_allocator allocator = test_memory_allocator(&f->memory);
    ph_vision_def vision = {.kind = kind,
                            .cell_mm = 1 + (int32_t)(f->world.side_mm / (1 + draw(f, 30))),
                            .group_split_mm = 60000,
                            .group_merge_mm = 20000,
                            .refresh_ticks = 1,
                            .hysteresis = 1.1};
    const ph_nearby_def def = {.vision = &vision,
                               .entity_capacity = f->world.crowd.capacity,
                               .viewer_capacity = VIEWERS,
                               .radius_mm_max = f->radius_mm_max,
                               .question_count = 1};
    assert_int_equal(ph_nearby_create(&f->nearby, &allocator, &def), PH_OK);
    assert_int_equal(ph_nearby_reserve_results(&f->nearby, RANDOM_CROWD_MAX), PH_OK);
    assert_int_equal(ph_slots_create(&allocator, SLOTS, &f->slots), PH_OK);
    f->next_order = 2000000;
    f->view = (ph_view){0};
    ask_otherwise(f);
    stand_together(f);
    for (uint32_t i = 0; i < VIEWERS; ++i) {
        ph_nearby_add(&f->nearby, i, &f->eyes[i]);
    }
}

static void teardown(fixture* f)
{
    ph_slots_destroy(f->slots);
    ph_nearby_destroy(&f->nearby);
    test_memory_assert_clean(&f->memory);
}

// ---- what happens between two looks

static void drift(fixture* f, int64_t way_mm)
{
    for (int i = 0; i < f->world.crowd.capacity; ++i) {
        const int64_t dx = (int64_t)test_rng_below(&f->rng, (uint64_t)(2 * way_mm + 1)) - way_mm;
        const int64_t dy = (int64_t)test_rng_below(&f->rng, (uint64_t)(2 * way_mm + 1)) - way_mm;
        f->world.x_mm[i] = (int32_t)((uint32_t)f->world.x_mm[i] + (uint32_t)dx);
        f->world.y_mm[i] = (int32_t)((uint32_t)f->world.y_mm[i] + (uint32_t)dy);
    }
}

static void all_on_one_point(fixture* f)
{
    for (int i = 0; i < f->world.crowd.capacity; ++i) {
        f->world.x_mm[i] = f->world.x_mm[0];
        f->world.y_mm[i] = f->world.y_mm[0];
    }
}

static void hide_some(fixture* f)
{
    for (int i = 0; i < f->world.crowd.capacity; ++i) {
        if (draw(f, 4) == 0) {
            f->world.seen_by[i] = (uint32_t)draw(f, 8);
            f->world.flags[i] = (uint8_t)(draw(f, 5) == 0 ? draw(f, 4) : 0);
        }
    }
}

// Another entity has the index.
static void replace_some(fixture* f)
{
    for (int i = 0; i < f->world.crowd.live_count; ++i) {
        if (draw(f, 10) == 0) {
            f->world.spawn_order[f->world.live[i]] = f->next_order++;
        }
    }
}

static void remove_some(fixture* f)
{
    ph_entity_arrays* crowd = &f->world.crowd;
    for (int i = crowd->live_count - 1; i >= 0; --i) {
        if (draw(f, 20) == 0) {
            f->world.spawn_order[f->world.live[i]] = UINT64_MAX;
            f->world.live[i] = f->world.live[--crowd->live_count];
        }
    }
}

static void happen(fixture* f)
{
    switch (draw(f, 16)) {
    case 0:
        drift(f, 1 + f->world.side_mm / 2);
        break;
    case 1:
        all_on_one_point(f);
        break;
    case 2:
        hide_some(f);
        break;
    case 3:
        replace_some(f);
        break;
    case 4:
        remove_some(f);
        break;
    case 5:
        ask_otherwise(f);
        break;
    case 6:
        f->eye.sees = 1 + (uint32_t)draw(f, 7);
        break;
    case 7:
        f->eye.radius_mm = f->eye.enter_mm;
        break;
    default: // as most of the time
        drift(f, 1 + f->world.side_mm / 500);
        break;
    }
}

// ---- what is found

static void look_at_all(fixture* f)
{
    f->exact_count =
        ph_nearest_brute_force(&f->world.crowd, &f->eye, f->first, f->scratch, f->exact);
    memset(f->is_exact, 0, sizeof f->is_exact);
    memset(f->is_near, 0, sizeof f->is_near);
    for (int i = 0; i < f->exact_count; ++i) {
        f->is_exact[f->exact[i].entity] = true;
        f->is_near[f->exact[i].entity] = i < f->first;
    }
}

static void assert_view_is_exact(const fixture* f)
{
    const ph_entity_arrays* crowd = &f->world.crowd;
    const ph_view* view = &f->view;
    int enter_count = 0;
    for (int i = 0; i < crowd->live_count; ++i) {
        const ph_entity_index entity = crowd->live[i];
        if (!ph_eye_may_see(&f->eye, crowd, entity)) {
            continue;
        }
        const uint64_t order = crowd->spawn_order[entity];
        const uint64_t distance2 =
            ph_distance2(crowd->x_mm[entity], crowd->y_mm[entity], f->eye.x_mm, f->eye.y_mm);
        const bool is_always = (crowd->flags[entity] & PH_SEEN_ALWAYS) != 0;
        const bool is_entering =
            f->is_near[entity] &&
            (is_always || distance2 <= (uint64_t)(f->eye.enter_mm * f->eye.enter_mm));
        enter_count += is_entering;
        if (is_always) {
            assert_int_equal(order < view->wide_always_end, f->is_exact[entity]);
            assert_int_equal(order < view->near_always_end, f->is_near[entity]);
        } else {
            assert_int_equal(ph_reach_has(&view->wide, distance2, order), f->is_exact[entity]);
            assert_int_equal(ph_reach_has(&view->near, distance2, order), f->is_near[entity]);
            assert_int_equal(ph_reach_has(&view->enter, distance2, order), is_entering);
        }
    }
    assert_int_equal(view->enter_count, enter_count);
}

static void assert_shows_the_exact(const fixture* f)
{
    const ph_entity_arrays* crowd = &f->world.crowd;
    for (int i = 0; i < crowd->live_count; ++i) {
        const ph_entity_index entity = crowd->live[i];
        const int slot = ph_slots_find(f->slots, entity);
        const bool is_shown = slot >= 0;
        const bool is_always = (crowd->flags[entity] & PH_SEEN_ALWAYS) != 0;
        const uint64_t distance2 =
            ph_distance2(crowd->x_mm[entity], crowd->y_mm[entity], f->eye.x_mm, f->eye.y_mm);
        if (entity == f->eye.own) {
            continue;
        }
        assert_true(!is_shown || f->is_exact[entity]);
        assert_true(is_shown || !f->is_near[entity] ||
                    (!is_always && distance2 > (uint64_t)(f->eye.enter_mm * f->eye.enter_mm)));
    }
}

static void refresh(fixture* f)
{
    ph_eye exact = f->eye;
    exact.wanted = f->first;
    exact.radius_mm = f->eye.enter_mm;
    exact.visibility = f->nearby.questions[0].visibility;
    ph_slots_step step = {.arrays = &f->world.crowd,
                          .eye = &exact,
                          .view = &f->view,
                          .newcomers = f->nearby.questions[0].seen,
                          .tick = ++f->tick};
    const int missing = ph_slots_judge(f->slots, &step);
    assert_true(missing >= 0);
    step.newcomer_count =
        ph_question_find_newcomers(&f->nearby.questions[0], &f->view, f->slots, missing);
    assert_int_equal(step.newcomer_count, missing);
    ph_slots_refresh(f->slots, &step);
    assert_true(ph_slots_validate(f->slots));
    for (int slot = 0; slot < SLOTS; ++slot) {
        if (ph_slots_state(f->slots, slot) == PH_SLOT_RESTING) {
            ph_slots_free(f->slots, slot);
        }
    }
}

static void look_again_and_again(ph_vision_kind kind, uint64_t seed)
{
    static fixture f;
    f = (fixture){.rng = {.state = seed}};
    for (int world = 0; world < WORLDS; ++world) {
        setup(&f, kind);
        for (int step = 0; step < STEPS; ++step) {
            happen(&f);
            stand_together(&f);
            ph_nearby_sort(&f.nearby, &f.world.crowd, f.eyes);
            ph_nearby_ask(&f.nearby, 0, &f.world.crowd, &f.eye, f.first, &f.view);
            look_at_all(&f);
            assert_view_is_exact(&f);
            refresh(&f);
            assert_shows_the_exact(&f);
        }
        teardown(&f);
    }
}

static void views_of_the_grid_are_exact_wherever_they_begin(void** state)
{
    (void)state;
    look_again_and_again(PH_VISION_GRID, 4711);
}

static void views_of_groups_are_exact_wherever_they_begin(void** state)
{
    (void)state;
    look_again_and_again(PH_VISION_GROUPS, 4712);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_of_the_grid_are_exact_wherever_they_begin),
        cmocka_unit_test(views_of_groups_are_exact_wherever_they_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
