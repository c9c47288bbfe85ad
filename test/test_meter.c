// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Each figure by itself, on cases made by hand. 10 ticks a second: the last second of tick t is
// t-10 .. t. The viewer, entity 0, stands at the origin; radius 100 m. Jolts are in
// test_meter_jolts.c.

#include "kit/meter.h"

#include "support/meter_stage.h"
#include "support/test_memory.h"
#include "support/test_support.h"

#include <math.h>

#define DEGREES_PER_RADIAN 57.29577951308232

static void assert_close(double found, double expected)
{
    if (fabs(found - expected) > 1e-9) {
        fail_msg("found %.12g, expected %.12g", found, expected);
    }
}

// ---- error

// Off by (3, 4, 12): 13 mm. The entity is at (3, 4, 12) m, 13 m away in space: 1 mrad.
static void the_error_is_the_distance_in_space(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    stage.x_mm[1] = 3000;
    stage.y_mm[1] = 4000;
    stage.z_mm[1] = 12000;
    meter_stage_show(&stage, 1, 3003.0, 3996.0, 12012.0);
    meter_stage_tick(&stage);
    const ph_figures_summary summary = meter_stage_summary(&stage);
    assert_close(summary.error_mm.mean, 13.0);
    assert_close(summary.error_mrad.mean, 1.0);
    meter_stage_close(&stage);
}

// At 0.5 m, 13 mm would be 26 mrad; as if it were at 1 m: 13.
static void nothing_is_nearer_than_a_metre(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    stage.x_mm[1] = 500;
    meter_stage_show(&stage, 1, 513.0, 0.0, 0.0);
    meter_stage_tick(&stage);
    assert_close(meter_stage_summary(&stage).error_mrad.mean, 13.0);
    meter_stage_close(&stage);
}

// The viewer stands at the edge of the world, the entity 5 m beyond it, and its client shows it 13 mm
// further: from the first side or from the other.
static void the_error_is_the_shorter_way_across_the_edge(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    stage.x_mm[0] = INT32_MAX;
    stage.x_mm[1] = INT32_MIN + 4999;
    meter_stage_show(&stage, 1, (double)INT32_MIN + 5012.0, 0.0, 0.0);
    meter_stage_tick(&stage);
    assert_close(meter_stage_summary(&stage).error_mm.mean, 13.0);
    meter_stage_show(&stage, 1, (double)INT32_MAX + 5013.0, 0.0, 0.0);
    meter_stage_tick(&stage);
    assert_close(meter_stage_summary(&stage).error_mm.mean, 13.0);
    assert_close(meter_stage_summary(&stage).error_mrad.mean, 2.6);
    meter_stage_close(&stage);
}

// 5 m off at a distance of 2 m would be 2,500 mrad.
static void no_error_is_more_than_1000_mrad(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    stage.y_mm[1] = 2000;
    meter_stage_show(&stage, 1, 0.0, 7000.0, 0.0);
    meter_stage_tick(&stage);
    assert_close(meter_stage_summary(&stage).error_mm.mean, 5000.0);
    assert_close(meter_stage_summary(&stage).error_mrad.mean, 1000.0);
    meter_stage_close(&stage);
}

// The same samples over two frames: 10 mm, then 30 mm: mean 20, the first of the two is the median.
static void every_frame_counts_once(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    meter_stage_show(&stage, 1, 10.0, 0.0, 0.0);
    meter_stage_tick(&stage);
    meter_stage_show(&stage, 1, 0.0, 30.0, 0.0);
    meter_stage_tick(&stage);
    const ph_spread_summary error_mm = meter_stage_summary(&stage).error_mm;
    assert_close(error_mm.mean, 20.0);
    assert_true(fabs(error_mm.p50 - 10.0) <= 0.01);
    assert_close(error_mm.p99, 30.0);
    meter_stage_close(&stage);
}

// 0.04 mm is what a dump does not hold, 0.06 mm is 0.1 there.
static void shown_positions_are_taken_as_a_dump_has_them(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 3);
    meter_stage_show(&stage, 1, 0.04, 0.0, 0.0);
    meter_stage_show(&stage, 2, 0.0, -0.06, 0.0);
    meter_stage_tick(&stage);
    assert_close(meter_stage_figures(&stage)->error_mm.least, 0.0);
    assert_close(meter_stage_figures(&stage)->error_mm.greatest, 0.1);
    meter_stage_close(&stage);
}

static void the_absent_and_the_viewer_itself_have_no_error(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    stage.present[1] = false;
    meter_stage_show(&stage, 0, 100.0, 0.0, 0.0);
    meter_stage_show(&stage, 1, 100.0, 0.0, 0.0);
    meter_stage_tick(&stage);
    assert_int_equal(meter_stage_figures(&stage)->error_mm.count, 0);
    assert_int_equal(meter_stage_figures(&stage)->error_mrad.count, 0);
    assert_int_equal(meter_stage_figures(&stage)->shown_count, 1);
    meter_stage_close(&stage);
}

static void nothing_counts_while_the_viewer_is_absent(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    stage.present[0] = false;
    meter_stage_show(&stage, 1, 100.0, 0.0, 0.0);
    meter_stage_ticks(&stage, 30);
    assert_int_equal(meter_stage_figures(&stage)->shown_count, 0);
    assert_int_equal(meter_stage_figures(&stage)->error_mm.count, 0);
    assert_int_equal(meter_stage_figures(&stage)->must_count, 0);
    assert_int_equal(meter_stage_figures(&stage)->join_count, 0);
    meter_stage_close(&stage);
}

// ---- heading

static void show_heading(meter_stage* stage, int entity, double heading_deg)
{
    stage->is_shown[entity] = true;
    stage->shown[entity].has_heading = true;
    stage->shown[entity].heading_deg = heading_deg;
}

// From 359.5 to 0.5 it is 1 degree, from 270 to 30.25 it is 120.25, from 10 to 200.5 it is 169.5.
// A quarter turn about z shown as a third of a turn about the same axis: 30 degrees, whatever the sign of either; and
// at any distance.
static void rotations_differ_by_their_angle(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    stage.x_mm[1] = 90000;
    stage.has_rotations = true;
    stage.rotation[1][2] = -sin(45.0 / DEGREES_PER_RADIAN);
    stage.rotation[1][3] = -cos(45.0 / DEGREES_PER_RADIAN);
    meter_stage_show(&stage, 1, 90000.0, 0.0, 0.0);
    meter_stage_tick(&stage); // shown without one: no sample
    assert_int_equal(meter_stage_figures(&stage)->rotation_deg.count, 0);
    stage.shown[1].has_rotation = true;
    stage.shown[1].rotation[2] = sin(60.0 / DEGREES_PER_RADIAN);
    stage.shown[1].rotation[3] = cos(60.0 / DEGREES_PER_RADIAN);
    meter_stage_tick(&stage);
    assert_int_equal(meter_stage_figures(&stage)->rotation_deg.count, 1);
    assert_true(fabs(meter_stage_summary(&stage).rotation_deg.mean - 30.0) < 1e-4);
    stage.has_rotations = false; // the truth has none: no sample
    meter_stage_tick(&stage);
    assert_int_equal(meter_stage_figures(&stage)->rotation_deg.count, 1);
    meter_stage_close(&stage);
}

static void headings_differ_by_the_smaller_angle(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 4);
    stage.heading_deg[1] = 0.5f;
    stage.heading_deg[2] = 270.0f;
    stage.heading_deg[3] = 10.0f;
    show_heading(&stage, 1, -0.5);
    show_heading(&stage, 2, 30.25 + 720.0);
    show_heading(&stage, 3, 200.5);
    meter_stage_tick(&stage);
    assert_int_equal(meter_stage_figures(&stage)->heading_deg.count, 3);
    assert_close(meter_stage_figures(&stage)->heading_deg.least, 1.0);
    assert_close(meter_stage_figures(&stage)->heading_deg.greatest, 169.5);
    assert_close(meter_stage_summary(&stage).heading_deg.mean, (1.0 + 120.25 + 169.5) / 3.0);
    meter_stage_close(&stage);
}

// 1: at 50 m in the plane, however high. 2: a millimetre further. 3: shown without a heading.
static void headings_count_within_50_m(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 4);
    stage.x_mm[1] = 30000;
    stage.y_mm[1] = -40000;
    stage.z_mm[1] = 9000;
    stage.x_mm[2] = 50001;
    show_heading(&stage, 1, 10.0);
    show_heading(&stage, 2, 20.0);
    meter_stage_show(&stage, 3, 0.0, 0.0, 0.0);
    meter_stage_tick(&stage);
    assert_int_equal(meter_stage_figures(&stage)->heading_deg.count, 1);
    assert_close(meter_stage_summary(&stage).heading_deg.mean, 10.0);
    meter_stage_close(&stage);
}

// ---- stale

static const double STAGE_DISTANCES_M[2] = {20.0, 0.0}; // 0: everywhere

static void open_with_properties(meter_stage* stage)
{
    const ph_meter_def def = {
        .slots = METER_STAGE_SLOTS,
        .property_distance_m = STAGE_DISTANCES_M,
        .property_count = 2,
    };
    meter_stage_open_with(stage, 2, &def);
    meter_stage_show(stage, 1, 0.0, 0.0, 0.0);
}

// Nine frames; it differs in those of ticks 5, 6, 7: 0, 100, 200 ms, and 0 in the other six.
static void stale_is_how_long_it_has_differed(void** state)
{
    (void)state;
    meter_stage stage;
    open_with_properties(&stage);
    stage.shown[1].properties = 1u << 0;
    meter_stage_ticks(&stage, 5);
    stage.shown[1].differing = 1u << 0;
    meter_stage_ticks(&stage, 3);
    stage.shown[1].differing = 0;
    meter_stage_tick(&stage);
    assert_int_equal(meter_stage_figures(&stage)->stale_ms.count, 9);
    assert_close(meter_stage_summary(&stage).stale_ms.mean, 300.0 / 9.0);
    assert_close(meter_stage_summary(&stage).stale_ms.p99, 200.0);
    meter_stage_close(&stage);
}

// Both differ in five frames, but in the third the entity is 21 m away. Property 0 (20 m): 0, 100,
// nothing, 0, 100. Property 1 (everywhere): 0, 100, 200, 300, 400.
static void a_property_is_asked_within_its_distance_only(void** state)
{
    (void)state;
    meter_stage stage;
    open_with_properties(&stage);
    stage.shown[1].properties = 3;
    stage.shown[1].differing = 3;
    meter_stage_ticks(&stage, 2);
    stage.x_mm[1] = 21000;
    meter_stage_tick(&stage);
    stage.x_mm[1] = 20000;
    meter_stage_ticks(&stage, 2);
    assert_int_equal(meter_stage_figures(&stage)->stale_ms.count, 9);
    assert_close(meter_stage_summary(&stage).stale_ms.mean, (200.0 + 1000.0) / 9.0);
    meter_stage_close(&stage);
}

// It differs all the time, but is not shown at tick 2: 0, 100, nothing, 0.
static void an_entity_that_is_not_shown_starts_anew(void** state)
{
    (void)state;
    meter_stage stage;
    open_with_properties(&stage);
    stage.shown[1].properties = 2;
    stage.shown[1].differing = 3; // bit 0 is none of its properties
    meter_stage_ticks(&stage, 2);
    stage.is_shown[1] = false;
    meter_stage_tick(&stage);
    stage.is_shown[1] = true;
    meter_stage_tick(&stage);
    assert_int_equal(meter_stage_figures(&stage)->stale_ms.count, 3);
    assert_close(meter_stage_summary(&stage).stale_ms.mean, 100.0 / 3.0);
    meter_stage_close(&stage);
}

static void the_64th_property_is_one_like_any_other(void** state)
{
    (void)state;
    double distances_m[PH_METER_PROPERTIES_MAX];
    for (int i = 0; i < PH_METER_PROPERTIES_MAX; ++i) {
        distances_m[i] = i + 1.0; // 64 distances
    }
    const ph_meter_def def = {
        .slots = METER_STAGE_SLOTS,
        .property_distance_m = distances_m,
        .property_count = PH_METER_PROPERTIES_MAX,
    };
    meter_stage stage;
    meter_stage_open_with(&stage, 2, &def);
    stage.x_mm[1] = 64000;
    meter_stage_show(&stage, 1, 64000.0, 0.0, 0.0);
    stage.shown[1].properties = UINT64_MAX;
    stage.shown[1].differing = UINT64_MAX;
    meter_stage_ticks(&stage, 3);
    assert_int_equal(meter_stage_figures(&stage)->stale_ms.count, 3);
    assert_close(meter_stage_summary(&stage).stale_ms.mean, 100.0);
    meter_stage_close(&stage);
}

// ---- missing

// In the core from tick 0 on: it must be shown from tick 10 on. Shown at tick 12 alone.
static void missing_begins_after_a_second(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    meter_stage_ticks(&stage, 12);
    assert_int_equal(meter_stage_figures(&stage)->must_count, 2);
    assert_close(meter_stage_summary(&stage).missing_pct, 100.0);
    meter_stage_show(&stage, 1, 0.0, 0.0, 0.0);
    meter_stage_tick(&stage);
    assert_close(meter_stage_summary(&stage).missing_pct, 200.0 / 3.0);
    meter_stage_close(&stage);
}

// Absent at tick 5, back at tick 6: asked for from tick 16 on. 20 ticks: 16, 17, 18, 19.
static void an_entity_that_comes_back_has_another_second(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    meter_stage_ticks(&stage, 5);
    stage.present[1] = false;
    meter_stage_tick(&stage);
    stage.present[1] = true;
    meter_stage_ticks(&stage, 14);
    assert_int_equal(meter_stage_figures(&stage)->must_count, 4);
    meter_stage_close(&stage);
}

// The same when it is the viewer that was away.
static void a_viewer_that_comes_back_has_another_second(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    meter_stage_ticks(&stage, 5);
    stage.present[0] = false;
    meter_stage_tick(&stage);
    stage.present[0] = true;
    meter_stage_ticks(&stage, 14);
    assert_int_equal(meter_stage_figures(&stage)->must_count, 4);
    meter_stage_close(&stage);
}

// 1: at 90 m, 0.9 x radius. 2: a millimetre further. 3: above the eye, which is near in the plane.
static void the_core_ends_at_nine_tenths_of_the_radius(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 4);
    stage.x_mm[1] = -90000;
    stage.y_mm[2] = 90001;
    stage.z_mm[3] = 500000;
    meter_stage_ticks(&stage, 11);
    assert_int_equal(meter_stage_figures(&stage)->must_count, 2);
    meter_stage_close(&stage);
}

// 5 slots: ranks 1..4 are in the core. 2 and 4 are nearest; 1, 3, 5, 6 are equally far, but 1 is a
// tick younger: so 3 and 5 come next.
static void the_core_ends_at_nine_tenths_of_the_slots(void** state)
{
    (void)state;
    const ph_meter_def def = {.slots = 5};
    meter_stage stage;
    meter_stage_open_with(&stage, 7, &def);
    const int32_t x_mm[7] = {0, 5000, 4999, -5000, 1, 5000, 5000};
    for (int i = 1; i < 7; ++i) {
        stage.x_mm[i] = x_mm[i];
    }
    stage.present[1] = false;
    meter_stage_tick(&stage);
    stage.present[1] = true;
    meter_stage_ticks(&stage, 10);
    const int core[4] = {2, 3, 4, 5};
    for (int i = 0; i < 4; ++i) {
        meter_stage_show(&stage, core[i], 0.0, 0.0, 0.0);
    }
    meter_stage_tick(&stage);
    assert_int_equal(meter_stage_figures(&stage)->must_count, 8);
    assert_int_equal(meter_stage_figures(&stage)->missing_count, 4);
    meter_stage_close(&stage);
}

// ---- ghosts

// Present until tick 2 and shown for ever: the ticks 3 .. 13 are the first second without it.
static void a_ghost_is_gone_for_a_second(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    meter_stage_show(&stage, 1, 0.0, 0.0, 0.0);
    meter_stage_ticks(&stage, 3);
    stage.present[1] = false;
    meter_stage_ticks(&stage, 10);
    assert_int_equal(meter_stage_figures(&stage)->ghost_count, 0);
    meter_stage_ticks(&stage, 2);
    assert_close(meter_stage_summary(&stage).ghost_pct, 100.0 * 2.0 / 15.0);
    meter_stage_close(&stage);
}

// 1: at 120 m, 1.2 x radius. 2: a millimetre further from tick 0 on, a ghost from tick 10 on.
static void an_entity_far_away_for_a_second_is_a_ghost_too(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 3);
    stage.x_mm[1] = 120000;
    stage.x_mm[2] = 120001;
    meter_stage_show(&stage, 1, 0.0, 0.0, 0.0);
    meter_stage_show(&stage, 2, 0.0, 0.0, 0.0);
    meter_stage_ticks(&stage, 13);
    assert_int_equal(meter_stage_figures(&stage)->ghost_count, 3);
    assert_int_equal(meter_stage_figures(&stage)->shown_count, 26);
    meter_stage_close(&stage);
}

// ---- joining

// Of 20 in the core, 95 % are 19: 18 are shown at once, the 19th at tick 7.
static void joining_ends_with_95_of_a_hundred(void** state)
{
    (void)state;
    const ph_meter_def def = {.slots = 30};
    meter_stage stage;
    meter_stage_open_with(&stage, 21, &def);
    for (int i = 1; i <= 18; ++i) {
        meter_stage_show(&stage, i, 0.0, 0.0, 0.0);
    }
    meter_stage_ticks(&stage, 7);
    meter_stage_show(&stage, 19, 0.0, 0.0, 0.0);
    meter_stage_ticks(&stage, 5);
    stage.is_shown[1] = false; // later losses are not about joining
    meter_stage_ticks(&stage, 5);
    assert_close(meter_stage_summary(&stage).join_s, 0.7);
    meter_stage_close(&stage);
}

// 1 is shown from tick 3 on; 2 appears at tick 2 and is not asked for until tick 12.
static void newcomers_do_not_hold_up_joining(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 3);
    stage.present[2] = false;
    meter_stage_ticks(&stage, 2);
    stage.present[2] = true;
    meter_stage_tick(&stage);
    meter_stage_show(&stage, 1, 0.0, 0.0, 0.0);
    meter_stage_tick(&stage);
    assert_close(meter_stage_summary(&stage).join_s, 0.3);
    meter_stage_close(&stage);
}

// Starts at tick 4, its last frame is tick 18: 1.4 s.
static void a_viewer_that_never_joins_counts_with_all_its_time(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    stage.present[0] = false;
    meter_stage_ticks(&stage, 4);
    stage.present[0] = true;
    meter_stage_ticks(&stage, 15);
    stage.present[0] = false;
    meter_stage_ticks(&stage, 5);
    assert_close(meter_stage_summary(&stage).join_s, 1.4);
    meter_stage_close(&stage);
}

static void a_viewer_that_is_alone_has_joined_at_once(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 1);
    meter_stage_ticks(&stage, 5);
    assert_int_equal(meter_stage_figures(&stage)->join_count, 1);
    assert_close(meter_stage_summary(&stage).join_s, 0.0);
    meter_stage_close(&stage);
}

// ---- memory

// The second that was seen still counts for what must be shown.
static void a_cleared_meter_counts_anew_and_remembers(void** state)
{
    (void)state;
    meter_stage stage;
    meter_stage_open(&stage, 2);
    stage.x_mm[1] = 5000;
    meter_stage_ticks(&stage, 11);
    assert_int_equal(meter_stage_figures(&stage)->must_count, 1);
    ph_meter_clear(stage.meter);
    assert_int_equal(meter_stage_figures(&stage)->must_count, 0);
    meter_stage_show(&stage, 1, 5003.0, 0.0, 0.0);
    meter_stage_ticks(&stage, 2);
    assert_int_equal(meter_stage_figures(&stage)->must_count, 2);
    assert_int_equal(meter_stage_figures(&stage)->missing_count, 0);
    assert_close(meter_stage_summary(&stage).error_mm.mean, 3.0);
    meter_stage_close(&stage);
}

static void without_memory_there_is_no_meter(void** state)
{
    (void)state;
    ph_truth_history* history;
    assert_int_equal(
        ph_truth_history_create(&(ph_truth_history_def){.entity_count = 3, .rate_hz = 5}, &history),
        PH_OK);
    ph_result result = PH_ERROR_MEMORY;
    for (int n = 1; result != PH_OK; ++n) {
        test_memory memory = {.fail_at = n};
        ph_meter_def def = {
            .history = history,
            .property_distance_m = STAGE_DISTANCES_M,
            .property_count = 2,
            .allocator = test_memory_allocator(&memory),
        };
        ph_meter* meter;
        result = ph_meter_create(&def, &meter);
        assert_true((meter != NULL) == (result == PH_OK));
        ph_meter_destroy(meter);
        test_memory_assert_clean(&memory);
    }
    ph_truth_history_destroy(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_error_is_the_distance_in_space),
        cmocka_unit_test(the_error_is_the_shorter_way_across_the_edge),
        cmocka_unit_test(nothing_is_nearer_than_a_metre),
        cmocka_unit_test(no_error_is_more_than_1000_mrad),
        cmocka_unit_test(every_frame_counts_once),
        cmocka_unit_test(shown_positions_are_taken_as_a_dump_has_them),
        cmocka_unit_test(the_absent_and_the_viewer_itself_have_no_error),
        cmocka_unit_test(nothing_counts_while_the_viewer_is_absent),
        cmocka_unit_test(rotations_differ_by_their_angle),
        cmocka_unit_test(headings_differ_by_the_smaller_angle),
        cmocka_unit_test(headings_count_within_50_m),
        cmocka_unit_test(stale_is_how_long_it_has_differed),
        cmocka_unit_test(a_property_is_asked_within_its_distance_only),
        cmocka_unit_test(an_entity_that_is_not_shown_starts_anew),
        cmocka_unit_test(the_64th_property_is_one_like_any_other),
        cmocka_unit_test(missing_begins_after_a_second),
        cmocka_unit_test(an_entity_that_comes_back_has_another_second),
        cmocka_unit_test(a_viewer_that_comes_back_has_another_second),
        cmocka_unit_test(the_core_ends_at_nine_tenths_of_the_radius),
        cmocka_unit_test(the_core_ends_at_nine_tenths_of_the_slots),
        cmocka_unit_test(a_ghost_is_gone_for_a_second),
        cmocka_unit_test(an_entity_far_away_for_a_second_is_a_ghost_too),
        cmocka_unit_test(joining_ends_with_95_of_a_hundred),
        cmocka_unit_test(newcomers_do_not_hold_up_joining),
        cmocka_unit_test(a_viewer_that_never_joins_counts_with_all_its_time),
        cmocka_unit_test(a_viewer_that_is_alone_has_joined_at_once),
        cmocka_unit_test(a_cleared_meter_counts_anew_and_remembers),
        cmocka_unit_test(without_memory_there_is_no_meter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
