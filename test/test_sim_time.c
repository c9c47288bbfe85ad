// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Time through whole sessions of the simulator: clocks that drift apart, and packets that overtake each other.

#include "test_support.h"

#include "kit/derive.h"
#include "kit/scene_recording.h"
#include "kit/sim.h"

typedef struct fixture {
    ph_recording* recording;
    ph_schema* schema;
    ph_pool* pool;
    ph_sim_def def;
} fixture;

static void set_up(fixture* f, const char* scene, int count, double rate_hz)
{
    ph_fault fault = {0};
    const ph_scene_recording_def recording = {
        .scene = scene, .count = count, .seconds = 30.0, .rate_hz = rate_hz, .seed = 7};
    f->recording = ph_scene_recording_make(&recording, &fault);
    assert_non_null(f->recording);
    f->schema = ph_derive_schema(f->recording, &fault);
    assert_non_null(f->schema);
    f->pool = ph_pool_create(1);
    f->def = ph_sim_def_default();
    f->def.viewers = 3;
    f->def.skips_standstill = true;
}

static void tear_down(fixture* f)
{
    ph_pool_destroy(f->pool);
    ph_schema_destroy(f->schema);
    ph_recording_destroy(f->recording);
}

static ph_sim_result run(const fixture* f)
{
    ph_sim_result result;
    ph_fault fault = {0};
    if (!ph_sim_run(&f->def, f->recording, f->schema, f->pool, &result, &fault)) {
        fail_msg("%s", fault.message);
    }
    return result;
}

// ---- clocks that drift apart

static double error_with_drift(fixture* f, double drift)
{
    f->def.drift = drift;
    return run(f).figures.error_mm.mean;
}

// From the first packet on, the time included in which it is found out. Without knowing the drift the error is 3 to
// 9 times as large.
static void clocks_two_percent_apart_show_as_well(void** state)
{
    (void)state;
    static const char* const SCENES[] = {"wander", "race"};
    for (int i = 0; i < 4; ++i) {
        fixture f;
        set_up(&f, SCENES[i / 2], 60, 0.0);
        f.def.profile = i % 2 == 0 ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE;
        f.def.hz = i % 2 == 0 ? 5.0 : 0.0;
        const double none_mm = error_with_drift(&f, 0.0);
        const double fast_mm = error_with_drift(&f, 0.02);
        const double slow_mm = error_with_drift(&f, -0.02);
        print_message("%s, %s: %.1f mm, 2 %% fast %.1f mm, slow %.1f mm\n", SCENES[i / 2],
                      i % 2 == 0 ? "classic" : "pinhole", none_mm, fast_mm, slow_mm);
        assert_true(fast_mm < 1.2 * none_mm);
        assert_true(slow_mm < 1.2 * none_mm);
        tear_down(&f);
    }
}

// ---- packets that overtake each other

typedef struct reordering {
    double hz;
    double jitter_ms;
    double late_share_max; // of the datagrams that come
} reordering;

static void packets_that_overtake_others_are_not_dropped(void** state)
{
    (void)state;
    static const reordering CASES[] = {
        {128.0, 10.0, 0.003}, {128.0, 20.0, 0.02}, {60.0, 40.0, 0.02}, {30.0, 10.0, 0.0}};
    for (int i = 0; i < 8; ++i) {
        const reordering* is = &CASES[i / 2];
        fixture f;
        set_up(&f, "race", 30, is->hz);
        f.def.profile = i % 2 == 0 ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE;
        f.def.hz = is->hz;
        f.def.kbps = 200.0;
        f.def.jitter_ms = is->jitter_ms;
        f.def.seconds = 15.0;
        const ph_sim_result result = run(&f);
        const ph_sim_traffic* traffic = &result.traffic;
        const double late = (double)traffic->late / (double)traffic->received;
        const double lost = (double)traffic->lost / (double)traffic->resolved;
        print_message("%s, %g Hz, jitter of %g ms: %.2f %% late, %.2f %% lost, error %.2f mm\n",
                      i % 2 == 0 ? "classic" : "pinhole", is->hz, is->jitter_ms, 100.0 * late,
                      100.0 * lost, result.figures.error_mm.mean);
        assert_int_equal(traffic->refused, 0);
        assert_int_equal(traffic->overruns, 0);
        assert_true(late <= is->late_share_max);
        tear_down(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_two_percent_apart_show_as_well),
        cmocka_unit_test(packets_that_overtake_others_are_not_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
