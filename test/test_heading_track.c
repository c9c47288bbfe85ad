// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Headings: the shortest way round, a turn extrapolated for a short time, exactly between samples with
// a delay.

#include "support/test_support.h"

#include "motion/track.h"

#include <math.h>

static float show_at(ph_heading_track* heading, int64_t time_us, int64_t delay_us)
{
    const ph_frame_time frame = ph_frame_time_make(time_us, 16667, delay_us);
    ph_heading_track_show(heading, &frame);
    return heading->shown;
}

static void the_first_is_shown_as_it_is(void** state)
{
    (void)state;
    ph_heading_track heading = {0};
    ph_heading_track_add(&heading, 0, -90.0f);
    assert_true(show_at(&heading, 60000, 0) == 270.0f);
}

// From one to another through 0, and never out of the sector between them.
static void turn_within_sector(float from, float to)
{
    ph_heading_track heading = {0};
    ph_heading_track_add(&heading, 0, from);
    show_at(&heading, 60000, 0);
    ph_heading_track_add(&heading, 1000000, to);
    const float high = fmaxf(from, to);
    const float low = fminf(from, to);
    float shown = from;
    for (int64_t t = 1060000; t < 2000000; t += 16667) {
        shown = show_at(&heading, t, 0);
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
    ph_heading_track heading = {0};
    ph_heading_track_add(&heading, 0, 0.0f);
    ph_heading_track_add(&heading, 100000, 20.0f);
    ph_heading_track_add(&heading, 200000, 40.0f);
    const float soon = show_at(&heading, 300000, 0);
    assert_true(soon > 50.0f && soon < 60.0f);
    float later = soon;
    for (int64_t t = 300000; t < 1000000; t += 16667) {
        later = show_at(&heading, t, 0);
        assert_true(later >= 40.0f && later < 70.0f);
    }
    assert_true(later == 40.0f);
}

static void a_delay_goes_through_the_samples(void** state)
{
    (void)state;
    ph_heading_track heading = {0};
    ph_heading_track_add(&heading, 0, 340.0f);
    ph_heading_track_add(&heading, 200000, 0.0f);
    ph_heading_track_add(&heading, 400000, 90.0f);
    assert_true(show_at(&heading, 200000, 300000) == 340.0f); // before all
    assert_true(show_at(&heading, 300000, 300000) == 340.0f);
    assert_true(show_at(&heading, 400000, 300000) == 350.0f);
    assert_true(show_at(&heading, 500000, 300000) == 0.0f);
    assert_true(show_at(&heading, 600000, 300000) == 45.0f);
    assert_true(show_at(&heading, 700000, 300000) == 90.0f);
    assert_true(show_at(&heading, 900000, 300000) == 90.0f); // behind all
}

static void a_heading_of_the_same_moment_takes_its_place(void** state)
{
    (void)state;
    ph_heading_track heading = {0};
    ph_heading_track_add(&heading, 0, 10.0f);
    ph_heading_track_add(&heading, 100000, 20.0f);
    ph_heading_track_add(&heading, 100000, 30.0f);
    assert_int_equal(heading.count, 2);
    assert_true(heading.degrees[0] == 30.0f && heading.degrees[1] == 10.0f);
}

static void time_that_goes_back_begins_again(void** state)
{
    (void)state;
    ph_heading_track heading = {0};
    ph_heading_track_add(&heading, 0, 10.0f);
    ph_heading_track_add(&heading, 5000000, 20.0f);
    ph_heading_track_add(&heading, 100000, 30.0f);
    assert_int_equal(heading.count, 1);
    ph_heading_track_add(&heading, 200000, 40.0f);
    assert_int_equal(heading.count, 2);
    assert_true(heading.degrees[1] == 30.0f && fabsf(heading.seconds[0] - 0.1f) < 1e-6f);
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
