// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Rotations in space as a client shows them: what spins evenly is shown where it is, the shorter way round, without a
// jolt, also after half a turn and more between samples; what has stopped rests exactly; a delay goes
// straight between samples; a jump is shown at once.

#include "support/test_support.h"

#include "motion/turn.h"

#include <math.h>
#include <string.h>

#define DEGREES 57.29578f
#define FRAME_US 16667
#define LONG_S 15.0f

static void about(const float axis[3], float degrees, float rotation[4])
{
    const float length = sqrtf(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    const float half = degrees / DEGREES / 2.0f;
    for (int k = 0; k < 3; ++k) {
        rotation[k] = sinf(half) * axis[k] / length;
    }
    rotation[3] = cosf(half);
}

static const float AXIS[3] = {1.0f, -2.0f, 0.5f};

static void add(ph_turn_track* track, int64_t time_us, float degrees, bool is_jump)
{
    float rotation[4];
    about(AXIS, degrees, rotation);
    ph_turn_track_add(track, time_us, rotation, is_jump);
}

static void show(ph_turn_track* track, int64_t time_us, int64_t delay_us)
{
    const ph_frame_time frame = ph_frame_time_make(time_us, FRAME_US, delay_us);
    ph_turn_track_show(track, LONG_S, &frame);
}

static float off_by(const ph_turn_track* track, float degrees)
{
    float rotation[4];
    about(AXIS, degrees, rotation);
    return DEGREES * ph_turn_angle(track->shown, rotation);
}

// ---- arithmetic

static void vectors_lead_from_one_to_another(void** state)
{
    (void)state;
    for (int i = -179; i <= 179; ++i) {
        float from[4];
        float to[4];
        float vector[3];
        float turned[4];
        about((const float[]){0.3f, 1.0f, 2.0f}, 77.0f, from);
        about(AXIS, (float)i, turned);
        ph_turn_multiply(turned, from, to);
        ph_turn_between(from, to, vector);
        const float length =
            sqrtf(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
        assert_true(fabsf(length * DEGREES - fabsf((float)i)) < 0.01f);
        ph_turn_of_vector(vector, turned);
        ph_turn_multiply(turned, from, turned);
        assert_true(ph_turn_angle(turned, to) * DEGREES < 0.02f);
    }
}

static void both_signs_are_one_rotation(void** state)
{
    (void)state;
    float q[4];
    about(AXIS, 130.0f, q);
    const float other[4] = {-q[0], -q[1], -q[2], -q[3]};
    float vector[3];
    ph_turn_between(q, other, vector);
    assert_true(fabsf(vector[0]) + fabsf(vector[1]) + fabsf(vector[2]) < 1e-3f);
    assert_true(ph_turn_angle(q, other) < 1e-3f);
    assert_true(ph_turn_chord(q, other) < 1e-3f);
}

// Many turns ahead.
static void a_long_way_is_as_exact(void** state)
{
    (void)state;
    const float vector[3] = {0.0f, 0.0f, 40.0f};
    float q[4];
    ph_turn_of_vector(vector, q);
    assert_true(fabsf(fabsf(q[2]) - fabsf(sinf(20.0f))) < 1e-4f);
    assert_true(fabsf(fabsf(q[3]) - fabsf(cosf(20.0f))) < 1e-4f);
}

static void the_heading_is_where_the_nose_points(void** state)
{
    (void)state;
    float q[4];
    about((const float[]){0.0f, 0.0f, 1.0f}, 250.0f, q);
    assert_true(fabsf(ph_turn_heading(q) - 250.0f) < 0.01f);
    about((const float[]){1.0f, 0.0f, 0.0f}, 90.0f, q); // rolled
    assert_true(ph_turn_heading(q) == 0.0f);
}

// ---- shown

// 57 degrees a second, a sample every 200 ms, rounded to 2 degrees: within so much, and no frame moves by more
// than three times the spin and a degree, nor back.
static void an_even_spin_is_shown_where_it_is(void** state)
{
    (void)state;
    ph_turn_track track = {0};
    float before[4] = {0};
    for (int i = 0; i < 300; ++i) {
        const int64_t now_us = 60000 + i * (int64_t)FRAME_US;
        if (i % 12 == 0) {
            const float told = 2.0f * floorf(57.3f * (float)i / 60.0f / 2.0f + 0.5f);
            add(&track, now_us - 60000, told, false);
        }
        show(&track, now_us, 0);
        if (i > 60) {
            assert_true(off_by(&track, 57.3f * (float)now_us / 1e6f) < 4.0f);
            assert_true(ph_turn_angle(before, track.shown) * DEGREES < 3.0f * 57.3f / 60.0f + 1.0f);
        }
        memcpy(before, track.shown, sizeof before);
    }
}

// 300 degrees a second and a sample every second: silence means that the spin goes on.
static void more_than_a_turn_between_samples_is_followed(void** state)
{
    (void)state;
    ph_turn_track track = {0};
    add(&track, 0, 0.0f, false);
    add(&track, 100000, 30.0f, false);
    for (int i = 0; i < 600; ++i) {
        const int64_t now_us = 100000 + i * (int64_t)FRAME_US;
        if (i % 60 == 59) {
            add(&track, now_us, fmodf(300.0f * (float)now_us / 1e6f, 360.0f), false);
        }
        show(&track, now_us, 0);
    }
    assert_true(off_by(&track, fmodf(300.0f * (100000.0f + 599.0f * FRAME_US) / 1e6f, 360.0f)) <
                20.0f);
}

// From 170 degrees to 190: through 180, never through 0.
static void it_turns_the_shorter_way(void** state)
{
    (void)state;
    ph_turn_track track = {0};
    add(&track, 0, 170.0f, false);
    show(&track, 50000, 0);
    add(&track, 1000000, -170.0f, false); // of the other sign
    for (int64_t t = 1000000; t < 1400000; t += FRAME_US) {
        show(&track, t, 0);
        assert_true(off_by(&track, 180.0f) < 20.0f);
    }
}

static void a_correction_takes_some_frames(void** state)
{
    (void)state;
    ph_turn_track track = {0};
    add(&track, 0, 0.0f, false);
    add(&track, 100000, 0.0f, false);
    show(&track, 150000, 0);
    add(&track, 200000, 10.0f, false);
    show(&track, 200000, 0);
    const float first = off_by(&track, 0.0f);
    assert_true(first > 1.0f && first < 9.0f);
}

static void what_is_told_twice_stands(void** state)
{
    (void)state;
    ph_turn_track track = {0};
    add(&track, 0, 0.0f, false);
    add(&track, 200000, 20.0f, false);
    add(&track, 400000, 40.0f, false);
    show(&track, 500000, 0);
    assert_true(off_by(&track, 40.0f) > 5.0f);
    add(&track, 500000, 40.0f, false);
    for (int64_t t = 500000; t < 1500000; t += FRAME_US) {
        show(&track, t, 0);
    }
    assert_true(off_by(&track, 40.0f) < 0.05f);
}

static void a_jump_is_shown_at_once_and_spins_nothing(void** state)
{
    (void)state;
    ph_turn_track track = {0};
    add(&track, 0, 0.0f, false);
    add(&track, 100000, 10.0f, false);
    show(&track, 150000, 0);
    add(&track, 200000, 120.0f, true);
    show(&track, 300000, 0);
    assert_true(off_by(&track, 120.0f) < 0.05f);
}

static void a_delay_goes_straight_between_samples(void** state)
{
    (void)state;
    ph_turn_track track = {0};
    add(&track, 0, 10.0f, false);
    add(&track, 100000, 30.0f, false);
    add(&track, 200000, 130.0f, false);
    show(&track, 350000, 200000); // at 150 ms
    assert_true(off_by(&track, 80.0f) < 0.05f);
    show(&track, 360000, 335000); // at 25 ms
    assert_true(off_by(&track, 15.0f) < 0.05f);
    show(&track, 900000, 100000); // behind the newest
    assert_true(off_by(&track, 130.0f) < 0.05f);
}

static void time_that_goes_back_begins_again(void** state)
{
    (void)state;
    ph_turn_track track = {0};
    add(&track, 500000, 0.0f, false);
    add(&track, 600000, 50.0f, false);
    show(&track, 600000, 0);
    add(&track, 100000, 20.0f, false);
    assert_int_equal(track.count, 1);
    for (int64_t t = 100000; t < 1100000; t += FRAME_US) {
        show(&track, t, 0);
    }
    assert_true(off_by(&track, 20.0f) < 0.05f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_lead_from_one_to_another),
        cmocka_unit_test(both_signs_are_one_rotation),
        cmocka_unit_test(a_long_way_is_as_exact),
        cmocka_unit_test(the_heading_is_where_the_nose_points),
        cmocka_unit_test(an_even_spin_is_shown_where_it_is),
        cmocka_unit_test(more_than_a_turn_between_samples_is_followed),
        cmocka_unit_test(it_turns_the_shorter_way),
        cmocka_unit_test(a_correction_takes_some_frames),
        cmocka_unit_test(what_is_told_twice_stands),
        cmocka_unit_test(a_jump_is_shown_at_once_and_spins_nothing),
        cmocka_unit_test(a_delay_goes_straight_between_samples),
        cmocka_unit_test(time_that_goes_back_begins_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
