// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is motion and what is a jump, from 0.1 m/s to 10 km/s.

#include "motion/stride.h"

#include "support/test_support.h"

#include <math.h>

enum { TICK_US = 100000 };

// A body that goes on along a curve, and where it is taken to be.
typedef struct body {
    ph_stride stride;
    ph_stride_rule rule;
    uint32_t tick;
    double mm[3];
    double mm_tick[3]; // velocity
    int32_t told_mm[3];
} body;

static double normal_of(test_rng* rng)
{
    return test_rng_unit(rng) + test_rng_unit(rng) + test_rng_unit(rng) - 1.5;
}

static void draw_direction(test_rng* rng, double length, double out[3])
{
    double square = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        out[axis] = normal_of(rng);
        square += out[axis] * out[axis];
    }
    for (int axis = 0; axis < 3; ++axis) {
        out[axis] *= length / sqrt(square);
    }
}

static body make_body(test_rng* rng, uint32_t tick_us, double m_s)
{
    body made = {.rule = ph_stride_rule_make(tick_us)};
    draw_direction(rng, m_s * tick_us / 1000.0, made.mm_tick);
    return made;
}

static bool tell(body* one)
{
    int32_t step_mm[3];
    for (int axis = 0; axis < 3; ++axis) {
        const int32_t now_mm = (int32_t)lrint(one->mm[axis]);
        step_mm[axis] = now_mm - one->told_mm[axis];
        one->told_mm[axis] = now_mm;
    }
    return ph_stride_add(&one->stride, &one->rule, one->tick, step_mm);
}

static void advance(body* one, int ticks)
{
    one->tick += (uint32_t)ticks;
    for (int axis = 0; axis < 3; ++axis) {
        one->mm[axis] += ticks * one->mm_tick[axis];
    }
}

// 0.1 m/s to 10 km/s, thirty in each tenfold of speed.
static double speed_at(int i)
{
    return 0.1 * pow(10.0, i / 30.0);
}

enum { SPEEDS = 151 };

// Pushed by up to 20 m/s and a hundredth of the speed in every tick; the first step may be a jump.
static void what_moves_never_jumps(void** state)
{
    (void)state;
    test_rng rng = {.state = 25};
    for (int i = 0; i < SPEEDS; ++i) {
        const double m_s = speed_at(i);
        body one = make_body(&rng, TICK_US, m_s);
        for (int t = 0; t < 100; ++t) {
            double push[3];
            draw_direction(&rng, fmin(20.0, m_s) * 100.0 + m_s, push);
            for (int axis = 0; axis < 3; ++axis) {
                one.mm_tick[axis] += push[axis];
            }
            advance(&one, 1);
            assert_true(!tell(&one) || (t == 0 && m_s > 80.0));
        }
    }
}

// Wherever it goes, and it goes on from there as before.
static void no_jump_of_100_m_is_missed(void** state)
{
    (void)state;
    test_rng rng = {.state = 26};
    for (int i = 0; i < SPEEDS; ++i) {
        body one = make_body(&rng, TICK_US, speed_at(i));
        for (int t = 0; t < 200; ++t) {
            advance(&one, 1);
            const bool is_jump = t % 5 == 4;
            double jump_mm[3] = {0};
            if (is_jump) {
                draw_direction(&rng, 100000.0, jump_mm);
            }
            for (int axis = 0; axis < 3; ++axis) {
                one.mm[axis] += jump_mm[axis];
            }
            const double step_mm =
                hypot(hypot(one.mm[0] - one.told_mm[0], one.mm[1] - one.told_mm[1]),
                      one.mm[2] - one.told_mm[2]);
            // What ends nearly where it began has not gone anywhere.
            const bool is_nowhere = step_mm <= 10001.0;
            const bool is_taken_for_one = tell(&one);
            assert_true(is_taken_for_one == is_jump || t == 0 || is_nowhere);
        }
    }
}

// At 30 ticks a second, moved at every third, then at every one, then after half a second.
static void an_entity_may_be_moved_less_often_than_the_world_ticks(void** state)
{
    (void)state;
    test_rng rng = {.state = 27};
    static const int PAUSES[] = {3, 3, 3, 3, 3, 1, 1, 1, 15, 1, 2, 1, 7, 7, 3};
    for (int i = 0; i < SPEEDS; ++i) {
        body one = make_body(&rng, 33333, speed_at(i));
        advance(&one, 1);
        tell(&one);
        advance(&one, 1);
        assert_false(tell(&one));
        for (size_t p = 0; p < sizeof PAUSES / sizeof PAUSES[0]; ++p) {
            advance(&one, PAUSES[p]);
            assert_false(tell(&one));
        }
    }
}

static bool step_by(ph_stride* stride, const ph_stride_rule* rule, uint32_t tick, int32_t x_mm)
{
    return ph_stride_add(stride, rule, tick, (int32_t[3]){x_mm, 0, 0});
}

static void a_jump_and_back_are_two(void** state)
{
    (void)state;
    const ph_stride_rule rule = ph_stride_rule_make(TICK_US);
    ph_stride stride = {0};
    for (uint32_t tick = 1; tick < 20; ++tick) {
        assert_true(step_by(&stride, &rule, tick, tick % 2 == 0 ? 30000 : -30000));
    }
}

static void what_stops_or_starts_slowly_moves(void** state)
{
    (void)state;
    const ph_stride_rule rule = ph_stride_rule_make(TICK_US);
    ph_stride stride = {0};
    assert_false(step_by(&stride, &rule, 1, 10000)); // 100 m/s
    assert_true(step_by(&stride, &rule, 2, -10001));
    assert_true(step_by(&stride, &rule, 3, 200000)); // 2 km/s: the first step
    assert_false(step_by(&stride, &rule, 4, 200000));
    assert_true(step_by(&stride, &rule, 5, 5000000)); // away, and on as before
    assert_false(step_by(&stride, &rule, 6, 200000));
    assert_false(step_by(&stride, &rule, 7, 0)); // a wall
    assert_true(step_by(&stride, &rule, 8, 200000));
    assert_false(step_by(&stride, &rule, 9, 10000));
}

// What is shown to more viewers than before: they must not learn from a jump how it moved while it was hidden.
static void what_is_unveiled_has_no_past(void** state)
{
    (void)state;
    const ph_stride_rule rule = ph_stride_rule_make(TICK_US);
    for (int hidden_mm = -200000; hidden_mm <= 200000; hidden_mm += 50000) {
        ph_stride stride = {0};
        for (uint32_t tick = 1; tick < 4; ++tick) {
            (void)step_by(&stride, &rule, tick, hidden_mm);
        }
        stride.is_unveiled = 1;
        (void)step_by(&stride, &rule, 4, hidden_mm + 7); // from where it was hidden
        assert_true(step_by(&stride, &rule, 5, 200000));
        assert_false(step_by(&stride, &rule, 6, 200000));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_moves_never_jumps),
        cmocka_unit_test(no_jump_of_100_m_is_missed),
        cmocka_unit_test(an_entity_may_be_moved_less_often_than_the_world_ticks),
        cmocka_unit_test(a_jump_and_back_are_two),
        cmocka_unit_test(what_stops_or_starts_slowly_moves),
        cmocka_unit_test(what_is_unveiled_has_no_past),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
