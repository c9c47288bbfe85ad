// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Headings: the shortest way round, a turn carried on for a moment, exactly between samples with a
// delay.

#include "support/test_support.h"

#include "motion/bearing.h"

static float show_at(ph_bearing* bearing, int64_t time_us, int64_t delay_us)
{
    const ph_moment moment = ph_moment_make(time_us, 16667, delay_us);
    ph_bearing_show(bearing, &moment);
    return bearing->shown;
}

static void the_first_is_shown_as_it_is(void** state)
{
    (void)state;
    ph_bearing bearing = {0};
    ph_bearing_add(&bearing, 0, -90.0f);
    assert_true(show_at(&bearing, 60000, 0) == 270.0f);
}

// From one to another through 0, and never out of the sector between them.
static void turn_within_sector(float from, float to)
{
    ph_bearing bearing = {0};
    ph_bearing_add(&bearing, 0, from);
    show_at(&bearing, 60000, 0);
    ph_bearing_add(&bearing, 1000000, to);
    const float high = fmaxf(from, to);
    const float low = fminf(from, to);
    float shown = from;
    for (int64_t t = 1060000; t < 2000000; t += 16667) {
        shown = show_at(&bearing, t, 0);
        assert_true(shown >= high || shown <= low);
    }
    assert_true(shown == to);
}

static void it_turns_the_shortest_way(void** state)
{
    (void)state;
    turn_within_sector(350.0f, 20.0f);
    turn_within_sector(20.0f, 350.0f);
}

static void a_turn_goes_on_and_then_rests(void** state)
{
    (void)state;
    ph_bearing bearing = {0};
    ph_bearing_add(&bearing, 0, 0.0f);
    ph_bearing_add(&bearing, 100000, 20.0f);
    ph_bearing_add(&bearing, 200000, 40.0f);
    const float soon = show_at(&bearing, 300000, 0);
    assert_true(soon > 50.0f && soon < 60.0f);
    float later = soon;
    for (int64_t t = 300000; t < 1000000; t += 16667) {
        later = show_at(&bearing, t, 0);
        assert_true(later >= 40.0f && later < 70.0f);
    }
    assert_true(later == 40.0f);
}

static void a_delay_goes_through_the_samples(void** state)
{
    (void)state;
    ph_bearing bearing = {0};
    ph_bearing_add(&bearing, 0, 340.0f);
    ph_bearing_add(&bearing, 200000, 0.0f);
    ph_bearing_add(&bearing, 400000, 90.0f);
    assert_true(show_at(&bearing, 200000, 300000) == 340.0f); // before all
    assert_true(show_at(&bearing, 300000, 300000) == 340.0f);
    assert_true(show_at(&bearing, 400000, 300000) == 350.0f);
    assert_true(show_at(&bearing, 500000, 300000) == 0.0f);
    assert_true(show_at(&bearing, 600000, 300000) == 45.0f);
    assert_true(show_at(&bearing, 700000, 300000) == 90.0f);
    assert_true(show_at(&bearing, 900000, 300000) == 90.0f); // behind all
}

static void a_heading_of_the_same_moment_takes_its_place(void** state)
{
    (void)state;
    ph_bearing bearing = {0};
    ph_bearing_add(&bearing, 0, 10.0f);
    ph_bearing_add(&bearing, 100000, 20.0f);
    ph_bearing_add(&bearing, 100000, 30.0f);
    assert_int_equal(bearing.count, 2);
    assert_true(bearing.degrees[0] == 30.0f && bearing.degrees[1] == 10.0f);
}

static void time_that_goes_back_begins_again(void** state)
{
    (void)state;
    ph_bearing bearing = {0};
    ph_bearing_add(&bearing, 0, 10.0f);
    ph_bearing_add(&bearing, 5000000, 20.0f);
    ph_bearing_add(&bearing, 100000, 30.0f);
    assert_int_equal(bearing.count, 1);
    ph_bearing_add(&bearing, 200000, 40.0f);
    assert_int_equal(bearing.count, 2);
    assert_true(bearing.degrees[1] == 30.0f && fabsf(bearing.seconds[0] - 0.1f) < 1e-6f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_shown_as_it_is),
        cmocka_unit_test(it_turns_the_shortest_way),
        cmocka_unit_test(a_turn_goes_on_and_then_rests),
        cmocka_unit_test(a_delay_goes_through_the_samples),
        cmocka_unit_test(a_heading_of_the_same_moment_takes_its_place),
        cmocka_unit_test(time_that_goes_back_begins_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
