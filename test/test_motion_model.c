// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client learns of how a class moves: how far velocities are worth following, what silence
// means, how fast newcomers are.

#include "support/test_support.h"

#include "motion/motion_model.h"

#include <math.h>

static void velocities_are_followed_until_samples_say_otherwise(void** state)
{
    (void)state;
    const ph_motion_model motion_model = ph_motion_model_make();
    for (float age_s = 0.0f; age_s < 20.0f; age_s += 0.1f) {
        assert_true(ph_motion_model_share(&motion_model, age_s) == 1.0f);
    }
    assert_true(ph_motion_model_forward(&motion_model) == 0.0f);
}

static void the_share_is_learned_for_each_age(void** state)
{
    (void)state;
    ph_motion_model motion_model = ph_motion_model_make();
    const float promised_mm[3] = {1000.0f, 0.0f, 0.0f};
    const float all_mm[3] = {1000.0f, 0.0f, 0.0f};
    const float third_mm[3] = {333.0f, 0.0f, 0.0f};
    for (int i = 0; i < 300; ++i) {
        ph_motion_model_learn_displacement(&motion_model, promised_mm, all_mm, 0.25f);
        ph_motion_model_learn_displacement(&motion_model, promised_mm, third_mm, 2.0f);
    }
    assert_true(fabsf(ph_motion_model_share(&motion_model, 0.25f) - 1.0f) < 0.02f);
    assert_true(fabsf(ph_motion_model_share(&motion_model, 2.0f) - 0.333f) < 0.02f);
    const float between = ph_motion_model_share(&motion_model, 1.5f);
    assert_true(between > 0.34f && between < 0.99f);
}

static void a_vouched_entity_moves_in_full_through_silence(void** state)
{
    (void)state;
    ph_motion_model motion_model = ph_motion_model_make();
    motion_model.is_vouched = true;
    const float promised_mm[3] = {1000.0f, 0.0f, 0.0f};
    const float gone_mm[3] = {100.0f, 0.0f, 0.0f};
    for (int i = 0; i < 300; ++i) {
        ph_motion_model_learn_displacement(&motion_model, promised_mm, gone_mm, 0.25f);
    }
    assert_true(ph_motion_model_share(&motion_model, 0.25f) == 1.0f);
    for (int i = 0; i < 300; ++i) {
        ph_motion_model_learn_pause(&motion_model, 0.25f, 0.25f);
    }
    assert_true(ph_motion_model_limit_s(&motion_model, 0.25f) > 10.0f);
}

static void the_share_stays_within_bounds(void** state)
{
    (void)state;
    ph_motion_model motion_model = ph_motion_model_make();
    const float promised_mm[3] = {1000.0f, 0.0f, 0.0f};
    const float back_mm[3] = {-5000.0f, 0.0f, 0.0f};
    const float far_mm[3] = {5000.0f, 0.0f, 0.0f};
    for (int i = 0; i < 300; ++i) {
        ph_motion_model_learn_displacement(&motion_model, promised_mm, back_mm, 0.5f);
        ph_motion_model_learn_displacement(&motion_model, promised_mm, far_mm, 100.0f);
    }
    assert_true(ph_motion_model_share(&motion_model, 0.5f) == 0.0f);
    assert_true(ph_motion_model_share(&motion_model, 100.0f) == 1.1f);
}

// Regular samples: silence of a little more than an interval means something. Irregular ones: it
// does not.
static void max_starve_time_follows_the_pacing(void** state)
{
    (void)state;
    test_rng rng = {.state = 12};
    ph_motion_model regular = ph_motion_model_make();
    ph_motion_model irregular = ph_motion_model_make();
    for (int i = 0; i < 5000; ++i) {
        ph_motion_model_learn_pause(&regular, 0.2f, 0.2f);
        const float pause_s = 0.2f * (float)(1 + test_rng_below(&rng, 10));
        ph_motion_model_learn_pause(&irregular, pause_s, 0.2f);
    }
    assert_true(ph_motion_model_limit_s(&regular, 0.2f) < 0.4f);
    assert_true(ph_motion_model_limit_s(&irregular, 0.2f) > 1.5f);
}

static void enter_and_move(ph_motion_model* motion_model, int count, float pause_s,
                           float forward_mm_s)
{
    for (int i = 0; i < count; ++i) {
        ph_motion_model_learn_newcomer(motion_model);
        ph_motion_model_learn_second(motion_model, pause_s, forward_mm_s);
    }
}

static void newcomers_are_expected_to_move_as_others_did(void** state)
{
    (void)state;
    ph_motion_model motion_model = ph_motion_model_make();
    enter_and_move(&motion_model, 500, 0.3f, 1000.0f);
    assert_true(fabsf(ph_motion_model_forward(&motion_model) - 1000.0f) < 1.0f);
    assert_true(fabsf(motion_model.first_pause_s - 0.3f) < 0.05f);
    enter_and_move(&motion_model, 500, 0.3f, 500.0f);
    assert_true(fabsf(ph_motion_model_forward(&motion_model) - 500.0f) < 20.0f);
}

static void where_most_newcomers_stand_none_is_expected_to_move(void** state)
{
    (void)state;
    ph_motion_model motion_model = ph_motion_model_make();
    for (int i = 0; i < 100; ++i) {
        enter_and_move(&motion_model, 1, 0.3f, 1000.0f);
        ph_motion_model_learn_newcomer(&motion_model); // never heard of again
        ph_motion_model_learn_newcomer(&motion_model);
    }
    assert_true(ph_motion_model_forward(&motion_model) == 0.0f);
}

// It stood and started much later: not one that moved when it entered.
static void a_late_second_sample_is_no_mover(void** state)
{
    (void)state;
    ph_motion_model motion_model = ph_motion_model_make();
    for (int i = 0; i < 300; ++i) {
        ph_motion_model_learn_pause(&motion_model, 0.2f, 0.2f);
    }
    enter_and_move(&motion_model, 100, 5.0f, 1000.0f);
    assert_true(ph_motion_model_forward(&motion_model) == 0.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_are_followed_until_samples_say_otherwise),
        cmocka_unit_test(the_share_is_learned_for_each_age),
        cmocka_unit_test(a_vouched_entity_moves_in_full_through_silence),
        cmocka_unit_test(the_share_stays_within_bounds),
        cmocka_unit_test(max_starve_time_follows_the_pacing),
        cmocka_unit_test(newcomers_are_expected_to_move_as_others_did),
        cmocka_unit_test(where_most_newcomers_stand_none_is_expected_to_move),
        cmocka_unit_test(a_late_second_sample_is_no_mover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
