// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The error scheduler over plain arrays: what makes a priority, what goes along, what waits, and the
// same bits everywhere.

#include "support/ranked_slots.h"

#include <pinhole/schedule.h>

#include <math.h>

#define POSITION UINT64_C(1)
#define HEADING UINT64_C(2)
#define HAT UINT64_C(4)

// Every entity is shown 100 mm away from the truth, 10 m away, since half a second.
static void setup(ranked_slots* f)
{
    ranked_slots_setup(f, ph_scheduler_error());
    for (int i = 0; i < RANKED_SLOTS; ++i) {
        f->distance_mm[i] = 10000.0f;
        f->range_mm[i] = 10000.0f;
        f->dirty[i] = POSITION;
        f->error_mm[i] = 100.0f;
        f->age_s[i] = 0.5f;
        f->position_bits[i] = 8.0f;
    }
    f->errors.record_bits = 3.0f;
    f->errors.heading_bits = 4.0f;
    f->errors.other_bits = 6.0f;
    f->errors.enter_bits = 80.0f;
}

static void newcomer(ranked_slots* f, int slot)
{
    f->missing[slot] = 1.0f;
    f->error_mm[slot] = 0.0f;
    f->age_s[slot] = 0.0f;
}

static void the_larger_angle_goes_first(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.error_mm[1] = 200.0f;
    f.range_mm[2] = 5000.0f;
    ranked_slots_rank(&f);
    assert_true(f.priority[1] > f.priority[0]);
    assert_true(f.priority[2] == f.priority[1]);
}

static void what_will_drift_goes_before_what_stands(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.growth_mm_s[1] = 300.0f;
    ranked_slots_rank(&f);
    assert_true(f.priority[1] > f.priority[0]);
}

static void an_entity_sent_long_ago_goes_first(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.age_s[1] = 2.0f;
    ranked_slots_rank(&f);
    assert_true(f.priority[1] > f.priority[0]);
}

static void of_two_equal_errors_the_cheaper_goes_first(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.position_bits[1] = 16.0f;
    ranked_slots_rank(&f);
    assert_true(f.priority[0] > f.priority[1]);
}

static void a_near_newcomer_goes_before_a_far_update(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    newcomer(&f, 1);
    f.range_mm[0] = 50000.0f;
    ranked_slots_rank(&f);
    assert_true(f.priority[1] > f.priority[0]);
}

static void a_far_newcomer_goes_after_a_near_update(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    newcomer(&f, 1);
    f.range_mm[1] = 200000.0f;
    f.range_mm[0] = 3000.0f;
    ranked_slots_rank(&f);
    assert_true(f.priority[0] > f.priority[1] && f.priority[1] > 0.0f);
    f.age_s[1] = 5.0f; // but not for ever
    ranked_slots_rank(&f);
    assert_true(f.priority[1] > f.priority[0]);
}

static void a_hint_weighs(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.weight[1] = 4.0f;
    f.weight[2] = 0.0f;
    ranked_slots_rank(&f);
    assert_true(f.priority[1] == 4.0f * f.priority[0]);
    assert_true(f.priority[2] == 0.0f);
}

static void an_empty_slot_or_one_with_nothing_due_is_not_visited(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.distance_mm[1] = INFINITY;
    f.dirty[2] = 0;
    f.dirty[3] = UINT64_C(1) << 63;
    ranked_slots_rank(&f);
    assert_true(f.priority[1] == 0.0f && f.priority[2] == 0.0f);
    assert_true(f.priority[3] > 0.0f);
}

static void an_entity_shown_right_with_something_due_is_visited_last(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.error_mm[1] = 0.0f;
    ranked_slots_rank(&f);
    assert_true(f.priority[1] > 0.0f && f.priority[1] < 1e-20f * f.priority[0]);
}

// ---- what of it is sent

static uint64_t filter_only(const ranked_slots* f, uint64_t significant)
{
    const ph_visit visit = {
        .distance_mm = f->distance_mm[0],
        .weight = 1.0f,
        .diff = POSITION | HEADING | HAT,
        .significant = significant,
        .position = POSITION,
        .heading = HEADING,
        .change = f->change[0],
        .errors = &f->errors,
        .note = f->notes[0],
    };
    return f->scheduler.filter(f->scheduler.context, &visit);
}

static uint64_t filter(ranked_slots* f, uint64_t significant)
{
    ranked_slots_rank(f);
    return filter_only(f, significant);
}

static void only_what_is_wrong_is_sent(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    assert_int_equal(filter(&f, 0), POSITION);
    f.turn_rad[0] = 1.0f;
    assert_int_equal(filter(&f, 0), POSITION | HEADING);
    f.error_mm[0] = 0.0f;
    assert_int_equal(filter(&f, 0), HEADING);
    f.turn_rad[0] = 0.0f;
    f.change[0] = 1.0f;
    assert_int_equal(filter(&f, HAT), HAT);
}

static void a_little_turn_does_not_go_along(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.error_mm[0] = 1000.0f;
    f.turn_rad[0] = 0.1f;
    assert_int_equal(filter(&f, 0), POSITION);
}

static void what_no_viewer_would_see_waits(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.error_mm[0] = 0.9f; // of 10 m: less than a tenth of a milliradian
    assert_int_equal(filter(&f, 0), 0);
    f.error_mm[0] = 1.1f;
    assert_int_equal(filter(&f, 0), POSITION);
}

static void what_has_settled_or_got_lost_goes_however_small(void** state)
{
    (void)state;
    ranked_slots f;
    setup(&f);
    f.error_mm[0] = 0.0f;
    ranked_slots_rank(&f);
    ph_visit visit = {.diff = POSITION | HAT,
                      .settled = POSITION,
                      .position = POSITION,
                      .heading = HEADING,
                      .errors = &f.errors,
                      .note = f.notes[0]};
    assert_int_equal(f.scheduler.filter(f.scheduler.context, &visit), POSITION);
    visit.settled = 0;
    visit.lost = HAT | HEADING; // of which only the hat is due
    assert_int_equal(f.scheduler.filter(f.scheduler.context, &visit), HAT);
}

// As when a game ranks by itself: sanitizers see it when that is not defined.
static void a_note_may_be_anything(void** state)
{
    (void)state;
    const uint32_t rubbish[] = {8, 1000, UINT32_MAX - 7, UINT32_MAX};
    ranked_slots f;
    setup(&f);
    for (size_t i = 0; i < sizeof rubbish / sizeof rubbish[0]; ++i) {
        f.notes[0] = rubbish[i];
        assert_true((filter_only(&f, UINT64_MAX) & ~(POSITION | HEADING | HAT)) == 0);
    }
}

static void scores_are_left_alone(void** state)
{
    (void)state;
    const ph_scheduler scheduler = ph_scheduler_error();
    assert_true(scheduler.sent(scheduler.context, 3.0f) == 3.0f);
    assert_true(scheduler.lost(scheduler.context, 3.0f, 5.0f) == 3.0f);
}

// ---- determinism

static float any(test_rng* rng, int below)
{
    return (float)test_rng_below(rng, (uint64_t)below);
}

static void fill_at_random(ranked_slots* f, test_rng* rng)
{
    for (int i = 0; i < RANKED_SLOTS; ++i) {
        f->range_mm[i] = 1000.0f + any(rng, 250000);
        f->error_mm[i] = any(rng, 100000) / 16.0f;
        f->growth_mm_s[i] = any(rng, 20000);
        f->turn_rad[i] = any(rng, 256) / 81.0f;
        f->age_s[i] = any(rng, 1000) / 100.0f;
        f->missing[i] = test_rng_below(rng, 8) == 0 ? 1.0f : 0.0f;
        f->position_bits[i] = 3.0f + any(rng, 1000) / 64.0f;
        f->change[i] = any(rng, 32) / 8.0f;
        f->dirty[i] = test_rng_below(rng, 8);
        f->distance_mm[i] = test_rng_below(rng, 16) == 0 ? INFINITY : 5000.0f;
    }
}

// Pins every bit, for all compilers and vectors.
static void priorities_are_the_same_everywhere(void** state)
{
    (void)state;
    test_rng rng = {.state = 20260};
    ranked_slots f;
    setup(&f);
    ph_hash hash = ph_hash_make(0);
    for (int round = 0; round < 50; ++round) {
        fill_at_random(&f, &rng);
        ranked_slots_rank(&f);
        ph_hash_add(&hash, f.priority, sizeof f.priority);
    }
    assert_int_equal(ph_hash_value(&hash), UINT64_C(0x4135035855ba4b54));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_larger_angle_goes_first),
        cmocka_unit_test(what_will_drift_goes_before_what_stands),
        cmocka_unit_test(an_entity_sent_long_ago_goes_first),
        cmocka_unit_test(of_two_equal_errors_the_cheaper_goes_first),
        cmocka_unit_test(a_near_newcomer_goes_before_a_far_update),
        cmocka_unit_test(a_far_newcomer_goes_after_a_near_update),
        cmocka_unit_test(a_hint_weighs),
        cmocka_unit_test(an_empty_slot_or_one_with_nothing_due_is_not_visited),
        cmocka_unit_test(an_entity_shown_right_with_something_due_is_visited_last),
        cmocka_unit_test(only_what_is_wrong_is_sent),
        cmocka_unit_test(a_little_turn_does_not_go_along),
        cmocka_unit_test(what_no_viewer_would_see_waits),
        cmocka_unit_test(what_has_settled_or_got_lost_goes_however_small),
        cmocka_unit_test(a_note_may_be_anything),
        cmocka_unit_test(scores_are_left_alone),
        cmocka_unit_test(priorities_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
