// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is a jolt and what is not, on cases made by hand. 10 ticks a second: the last second of tick
// t has the steps to the ticks t-9 .. t. Entity 1 is shown, and mostly walks along x by 100 mm a
// tick, so that a shown movement may be 3 x 100 + 50 = 350 mm.

#include "kit/meter.h"

#include "support/meter_stage.h"
#include "support/test_support.h"

#include <math.h>

enum { STEP_MM = 100 };

// One tick: the truth moves by truth_mm along x, what is shown by (x, y, z).
static void move(meter_stage* stage, int truth_mm, double x_mm, double y_mm, double z_mm)
{
    const double* shown_mm = stage->shown[1].position_mm;
    stage->x_mm[1] += truth_mm;
    meter_stage_show(stage, 1, shown_mm[0] + x_mm, shown_mm[1] + y_mm, shown_mm[2] + z_mm);
    meter_stage_tick(stage);
}

static void walk(meter_stage* stage, int ticks)
{
    for (int i = 0; i < ticks; ++i) {
        move(stage, STEP_MM, STEP_MM, 0.0, 0.0);
    }
}

static void open_walking(meter_stage* stage, int ticks)
{
    meter_stage_open(stage, 2);
    meter_stage_show(stage, 1, 0.0, 0.0, 0.0);
    walk(stage, ticks);
}

static int jolts_of(const meter_stage* stage)
{
    return (int)meter_stage_figures(stage)->jolt_count;
}

static void walking_with_the_truth_has_no_jolts(void** state)
{
    (void)state;
    meter_stage stage;
    open_walking(&stage, 30);
    assert_int_equal(jolts_of(&stage), 0);
    meter_stage_close(&stage);
}

// Shown as the client may show it: extrapolated beyond the edge, then told of on the other side.
static void walking_across_the_edge_of_the_world_is_no_jolt(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    stage.x_mm[1] = INT32_MAX - 20 * STEP_MM;
    meter_stage_show(&stage, 1, stage.x_mm[1], 0.0, 0.0);
    walk(&stage, 20);
    stage.x_mm[1] = INT32_MIN + STEP_MM - 1;
    meter_stage_show(&stage, 1, (double)INT32_MAX + STEP_MM, 0.0, 0.0);
    meter_stage_tick(&stage);
    stage.shown[1].position_mm[0] = stage.x_mm[1];
    walk(&stage, 15);
    assert_int_equal(jolts_of(&stage), 0);
    move(&stage, STEP_MM, 360.0, 0.0, 0.0);
    assert_int_equal(jolts_of(&stage), 1);
    meter_stage_close(&stage);
}

// (350, 0, 0) is as far as it may go, (280, 210, 0) is as long; (280, 0, 210.1) is longer.
static void a_jolt_is_longer_than_three_steps_and_50_mm(void** state)
{
    (void)state;
    meter_stage stage;
    open_walking(&stage, 20);
    move(&stage, STEP_MM, 350.0, 0.0, 0.0);
    move(&stage, STEP_MM, 280.0, 210.0, 0.0);
    assert_int_equal(jolts_of(&stage), 0);
    move(&stage, STEP_MM, 280.0, 0.0, 210.1);
    assert_int_equal(jolts_of(&stage), 1);
    move(&stage, STEP_MM, 350.1, 0.0, 0.0);
    assert_int_equal(jolts_of(&stage), 2);
    meter_stage_close(&stage);
}

// Only the part along the way counts: sideways by 300 mm is none.
static void a_jolt_goes_back_by_more_than_50_mm(void** state)
{
    (void)state;
    meter_stage stage;
    open_walking(&stage, 20);
    move(&stage, STEP_MM, -50.0, 300.0, 0.0);
    assert_int_equal(jolts_of(&stage), 0);
    move(&stage, STEP_MM, -50.1, 0.0, 0.0);
    assert_int_equal(jolts_of(&stage), 1);
    meter_stage_close(&stage);
}

// Forth by 100 mm and back again, five times in a second: there is no way, but the steps are long.
static void an_entity_that_gets_nowhere_has_no_direction(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    for (int i = 0; i < 20; ++i) {
        move(&stage, i % 2 == 0 ? STEP_MM : -STEP_MM, 0.0, 0.0, 0.0);
    }
    move(&stage, STEP_MM, -300.0, 0.0, 0.0);
    assert_int_equal(jolts_of(&stage), 0);
    meter_stage_close(&stage);
}

// The step of 500 mm to tick 20 is in the last second of the ticks 20 .. 29, no longer in that of 30.
static void the_longest_step_is_that_of_the_last_second(void** state)
{
    (void)state;
    meter_stage stage;
    open_walking(&stage, 20);
    move(&stage, 500, 0.0, 0.0, 0.0);
    walk(&stage, 8);
    move(&stage, STEP_MM, 1550.0, 0.0, 0.0); // tick 29
    assert_int_equal(jolts_of(&stage), 0);
    move(&stage, STEP_MM, 350.1, 0.0, 0.0);
    assert_int_equal(jolts_of(&stage), 1);
    meter_stage_close(&stage);
}

// Turns round at tick 20, having come from 0.1 m to 2 m. At tick 26 it is at 1.3 m, and was at 1.7 m
// a second before.
static void the_direction_is_that_of_the_last_second(void** state)
{
    (void)state;
    meter_stage stage;
    open_walking(&stage, 20);
    for (int i = 0; i < 6; ++i) {
        move(&stage, -STEP_MM, -40.0, 0.0, 0.0);
    }
    assert_int_equal(jolts_of(&stage), 0);
    move(&stage, -STEP_MM, 51.0, 0.0, 0.0); // forth, which is now against the way
    assert_int_equal(jolts_of(&stage), 1);
    meter_stage_close(&stage);
}

static void the_first_shown_frame_is_exempt(void** state)
{
    (void)state;
    meter_stage stage;
    open_walking(&stage, 20);
    stage.is_shown[1] = false;
    stage.x_mm[1] += STEP_MM;
    meter_stage_tick(&stage);
    move(&stage, STEP_MM, 5000.0, 0.0, 0.0); // shown again, elsewhere
    assert_int_equal(jolts_of(&stage), 0);
    move(&stage, STEP_MM, 5000.0, 0.0, 0.0);
    assert_int_equal(jolts_of(&stage), 1);
    meter_stage_close(&stage);
}

// Marked as one, of whatever length: the frames of the ticks 20 .. 29 are exempt.
static void the_second_after_a_jump_is_exempt(void** state)
{
    (void)state;
    meter_stage stage;
    open_walking(&stage, 20);
    stage.is_jump[1] = true;
    move(&stage, 3000, 0.0, 0.0, 0.0);
    walk(&stage, 8);
    move(&stage, STEP_MM, 90000.0, 0.0, 0.0); // tick 29
    assert_int_equal(jolts_of(&stage), 0);
    move(&stage, STEP_MM, 351.0, 0.0, 0.0);
    assert_int_equal(jolts_of(&stage), 1);
    meter_stage_close(&stage);
}

// 200,000 mm, 2 km/s, is a long step: then 600,050 mm are allowed, and no more.
static void a_step_that_is_not_marked_is_no_jump(void** state)
{
    (void)state;
    meter_stage stage;
    open_walking(&stage, 20);
    move(&stage, 200000, 0.0, 0.0, 0.0);
    move(&stage, STEP_MM, 600050.0, 0.0, 0.0);
    assert_int_equal(jolts_of(&stage), 0);
    move(&stage, STEP_MM, 600050.1, 0.0, 0.0);
    assert_int_equal(jolts_of(&stage), 1);
    meter_stage_close(&stage);
}

// Absent at tick 20, back at tick 21: shown all the time, exempt at the ticks 21 .. 30; at tick 20
// there is no truth to judge it by.
static void the_second_after_a_return_is_exempt(void** state)
{
    (void)state;
    meter_stage stage;
    open_walking(&stage, 20);
    stage.present[1] = false;
    move(&stage, 0, 9000.0, 0.0, 0.0);
    stage.present[1] = true;
    move(&stage, 0, 9000.0, 0.0, 0.0);
    walk(&stage, 8);
    move(&stage, STEP_MM, 9000.0, 0.0, 0.0); // tick 30
    assert_int_equal(jolts_of(&stage), 0);
    move(&stage, STEP_MM, 9000.0, 0.0, 0.0);
    assert_int_equal(jolts_of(&stage), 1);
    meter_stage_close(&stage);
}

// It appeared at tick 0 and is judged from tick 1 on: the first appearance is no jump.
static void a_first_appearance_is_no_jump(void** state)
{
    (void)state;
    meter_stage stage;
    open_walking(&stage, 1);
    move(&stage, STEP_MM, 351.0, 0.0, 0.0);
    assert_int_equal(jolts_of(&stage), 1);
    meter_stage_close(&stage);
}

static void nothing_is_judged_across_an_absence_of_the_viewer(void** state)
{
    (void)state;
    meter_stage stage;
    open_walking(&stage, 20);
    stage.present[0] = false;
    walk(&stage, 1);
    stage.present[0] = true;
    move(&stage, STEP_MM, 9000.0, 0.0, 0.0);
    assert_int_equal(jolts_of(&stage), 0);
    meter_stage_close(&stage);
}

// 30 frames of one shown entity are 3 s: two jolts are 40 a minute. A ghost beside it, which the
// truth does not have, makes no difference.
static void jolts_are_told_per_shown_entity_and_minute(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 3);
    stage.present[2] = false;
    meter_stage_show(&stage, 1, 0.0, 0.0, 0.0);
    meter_stage_show(&stage, 2, 0.0, 0.0, 0.0);
    walk(&stage, 28);
    move(&stage, STEP_MM, 0.0, 0.0, 400.0);
    move(&stage, STEP_MM, 0.0, 0.0, -400.0);
    assert_true(fabs(meter_stage_summary(&stage).jolts_per_min - 40.0) < 1e-9);
    meter_stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walking_with_the_truth_has_no_jolts),
        cmocka_unit_test(walking_across_the_edge_of_the_world_is_no_jolt),
        cmocka_unit_test(a_jolt_is_longer_than_three_steps_and_50_mm),
        cmocka_unit_test(a_jolt_goes_back_by_more_than_50_mm),
        cmocka_unit_test(an_entity_that_gets_nowhere_has_no_direction),
        cmocka_unit_test(the_longest_step_is_that_of_the_last_second),
        cmocka_unit_test(the_direction_is_that_of_the_last_second),
        cmocka_unit_test(the_first_shown_frame_is_exempt),
        cmocka_unit_test(the_second_after_a_jump_is_exempt),
        cmocka_unit_test(a_step_that_is_not_marked_is_no_jump),
        cmocka_unit_test(the_second_after_a_return_is_exempt),
        cmocka_unit_test(a_first_appearance_is_no_jump),
        cmocka_unit_test(nothing_is_judged_across_an_absence_of_the_viewer),
        cmocka_unit_test(jolts_are_told_per_shown_entity_and_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
