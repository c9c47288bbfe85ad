// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The simulator on small scenes, whole sessions at a time. Also run under ThreadSanitizer.

#include "test_support.h"

#include "kit/derive.h"
#include "kit/scene_recording.h"
#include "kit/sim.h"
#include "kit/sim_dump.h"

#include <math.h>
#include <string.h>

typedef struct fixture {
    ph_recording* recording;
    ph_schema* schema;
    ph_sim_def def;
    ph_sim_result result;
} fixture;

static void set_up(fixture* f, const char* scene, int count, double seconds)
{
    ph_fault fault = {0};
    const ph_scene_recording_def recording = {
        .scene = scene, .count = count, .seconds = seconds, .seed = 7};
    f->recording = ph_scene_recording_make(&recording, &fault);
    assert_non_null(f->recording);
    f->schema = ph_derive_schema(f->recording, &fault);
    assert_non_null(f->schema);
    f->def = ph_sim_def_default();
    f->def.viewers = 3;
}

static void tear_down(fixture* f)
{
    ph_schema_destroy(f->schema);
    ph_recording_destroy(f->recording);
}

static void run_on(fixture* f, int thread_count)
{
    ph_fault fault = {0};
    ph_pool* pool = ph_pool_create(thread_count);
    const bool is_done = ph_sim_run(&f->def, f->recording, f->schema, pool, &f->result, &fault);
    ph_pool_destroy(pool);
    if (!is_done) {
        fail_msg("%s", fault.message);
    }
}

static void the_promises_hold_on_a_town(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "town", 30, 14.0);
    run_on(&f, 1);
    const ph_sim_rates rates = ph_sim_result_rates(&f.result);
    assert_int_equal(f.result.viewer_count, 3);
    assert_int_equal(f.result.traffic.overruns, 0);
    assert_true(f.result.is_converged);
    assert_true(f.result.figures.error_mm.mean > 0.0);
    assert_true(rates.budget_used_pct >= 95.0);
    assert_true(rates.wire_kbps_mean > 0.0);
    tear_down(&f);
}

// Walkers of a town, every third of which is of another class.
static void of_several_classes(fixture* f, double seconds)
{
    ph_fault fault = {0};
    const ph_scene_recording_def town = {
        .scene = "town", .count = 30, .seconds = seconds, .seed = 7};
    f->recording = ph_scene_recording_make(&town, &fault);
    assert_non_null(f->recording);
    ph_column* class_column = &f->recording->columns[0];
    memcpy(class_column->name, "class", sizeof "class");
    class_column->kind = PH_COLUMN_WORD;
    ph_lexicon_add(&class_column->lexicon, "guard", 5);
    ph_lexicon_add(&class_column->lexicon, "smith", 5);
    for (int e = 0; e < f->recording->entity_count; ++e) {
        int first;
        const int rows = ph_recording_rows(f->recording, e, &first);
        for (int i = first; i < first + rows; ++i) {
            class_column->value[i] = e % 3 == 0 ? 0 : 1;
        }
    }
    // Of one only: the last column is the smiths' alone, and told less far.
    ph_column* last = &f->recording->columns[f->recording->column_count - 1];
    for (int row = 0; row < f->recording->row_count; ++row) {
        last->value[row] = class_column->value[row] == 0.0 ? (double)NAN : last->value[row];
    }
    ph_recording_find_classes(f->recording);
    f->schema = ph_derive_schema(f->recording, &fault);
    assert_non_null(f->schema);
    assert_int_equal(ph_schema_class_count(f->schema), 2);
    f->def = ph_sim_def_default();
    f->def.viewers = 3;
}

static void the_promises_hold_for_several_classes(void** state)
{
    (void)state;
    fixture f;
    of_several_classes(&f, 14.0);
    static ph_sim_miss misses[3][2];
    f.def.misses = misses[0];
    run_on(&f, 2);
    assert_true(f.result.is_converged);
    assert_int_equal(f.result.traffic.overruns + f.result.traffic.refused, 0);
    assert_true(f.result.figures.stale_ms.mean > 0.0 && f.result.figures.stale_ms.p50 == 0.0);
    uint64_t sum = 0;
    int guards = 0;
    int smiths = 0;
    ph_sim_bits bits;
    for (int i = 0; ph_sim_result_bits(&f.result, i, &bits); ++i) {
        sum += bits.bits256;
        guards += strncmp(bits.key, "guard.", 6) == 0 && bits.bits256 > 0 ? 1 : 0;
        smiths += strncmp(bits.key, "smith.", 6) == 0 && bits.bits256 > 0 ? 1 : 0;
    }
    assert_true(sum == 8 * 256 * f.result.traffic.payload_bytes);
    assert_true(guards >= 2 && smiths >= 2);
    // Errors by class are those of all.
    double mrad = 0.0;
    double count = 0.0;
    for (int i = 0; i < 6; ++i) {
        assert_true(misses[i / 2][i % 2].count > 0);
        mrad += misses[i / 2][i % 2].mrad;
        count += (double)misses[i / 2][i % 2].count;
    }
    assert_true(fabs(mrad / count / f.result.figures.error_mrad.mean - 1.0) < 1e-9);
    // Snapshots know one.
    ph_fault fault = {0};
    ph_pool* pool = ph_pool_create(1);
    f.def.is_snapshot = true;
    f.def.profile = PH_PROFILE_CLASSIC;
    assert_false(ph_sim_run(&f.def, f.recording, f.schema, pool, &f.result, &fault));
    assert_string_equal(fault.message,
                        "snapshots know one class, and there are 2: give a --schema of one");
    ph_pool_destroy(pool);
    tear_down(&f);
}

static void bits_by_reason_add_up_exactly(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "town", 30, 14.0);
    f.def.loss = 0.2;
    f.def.skips_standstill = true;
    run_on(&f, 1);
    uint64_t sum = 0;
    ph_sim_bits bits;
    for (int i = 0; ph_sim_result_bits(&f.result, i, &bits); ++i) {
        sum += bits.bits256;
    }
    assert_true(f.result.traffic.payload_bytes > 0);
    assert_int_equal(sum, f.result.traffic.payload_bytes * 8 * 256);
    tear_down(&f);
}

// Every part by itself, at both ends: the wire of classic in the sender's pacing, differences
// without models, positions that are always exact.
static void parts_can_be_exchanged_one_by_one(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "town", 20, 11.0);
    f.def.kbps = 4.0;
    const ph_sim_def usual = f.def;
    ph_sim_def defs[5] = {usual, usual, usual, usual, usual};
    defs[0].profile = PH_PROFILE_CLASSIC;
    defs[1].is_universal = true;
    defs[2].precision_mrad = 0.0;
    defs[3].hz = 5.0;
    defs[4].scheduler = ph_scheduler_buckets();
    run_on(&f, 1);
    const double whole_mrad = f.result.figures.error_mrad.mean;
    for (int i = 0; i < 5; ++i) {
        f.def = defs[i];
        run_on(&f, 1);
        assert_true(f.result.is_converged);
        assert_int_equal(f.result.traffic.overruns, 0);
        assert_true(f.result.figures.error_mrad.mean != whole_mrad);
    }
    tear_down(&f);
}

// ---- orientations

// What of the payload tells a property.
static double bits_of(const ph_sim_result* result, const char* property)
{
    double found = 0.0;
    ph_sim_bits bits;
    for (int i = 0; ph_sim_result_bits(result, i, &bits); ++i) {
        found += strcmp(bits.key, property) == 0 ? (double)bits.bits256 / 256.0 : 0.0;
    }
    return found;
}

// The promises at any budget and on any link, and the same to both ends when all stands still.
static void the_promises_hold_for_what_turns_in_space(void** state)
{
    (void)state;
    static const double KBPS[] = {2.0, 13.0, 40.0, 0.0};
    static const double LOSS[] = {0.01, 0.3, 0.0, 0.1};
    static const char* const SCENES[] = {"asteroids", "spin", "race", "spin"};
    for (int i = 0; i < 4; ++i) {
        for (int profile = 0; profile < 2; ++profile) {
            fixture f;
            set_up(&f, SCENES[i], 30, 12.0);
            f.def.kbps = KBPS[i];
            f.def.loss = LOSS[i];
            f.def.profile = profile == 0 ? PH_PROFILE_PINHOLE : PH_PROFILE_CLASSIC;
            run_on(&f, 1);
            assert_int_equal(f.result.traffic.overruns, 0);
            assert_int_equal(f.result.traffic.refused, 0);
            assert_true(f.result.is_converged);
            assert_true(ph_sim_result_rates(&f.result).budget_used_pct >= 95.0);
            assert_true(f.result.figures.rotation_deg.mean > 0.0);
            tear_down(&f);
        }
    }
}

// Bodies in free spin are told some two or three times a second each, though the budget would let all be told ten
// times; and shown within two degrees nevertheless.
static void what_is_shown_turned_right_is_not_told(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "spin", 30, 14.0);
    f.def.kbps = 13.0;
    f.def.skips_standstill = true;
    run_on(&f, 1);
    const double bodies = 29.0;
    const double each = bits_of(&f.result, "orientation") / (bodies * 3.0 * 14.0);
    assert_true(f.result.figures.rotation_deg.mean < 2.0);
    if (!(each < 70.0)) {
        fail_msg("%g bits a second for each body", each);
    }
    tear_down(&f);
}

// What turns otherwise before it is told again cannot be followed: its bits are the positions'. With bits enough it is.
static void what_cannot_be_followed_is_not_told(void** state)
{
    (void)state;
    static const double KBPS[] = {4.0, 40.0};
    double shares[2];
    double degrees[2];
    for (int i = 0; i < 2; ++i) {
        fixture f;
        set_up(&f, "asteroids", 80, 14.0);
        f.def.kbps = KBPS[i];
        f.def.skips_standstill = true;
        run_on(&f, 1);
        shares[i] = bits_of(&f.result, "orientation") / bits_of(&f.result, "position");
        degrees[i] = f.result.figures.rotation_deg.mean;
        tear_down(&f);
    }
    if (!(shares[0] < 0.08 && shares[1] > 0.2 && degrees[1] < 25.0)) {
        fail_msg("with 4 kbit/s %g of what positions take, with 40 %g and %g degrees", shares[0],
                 shares[1], degrees[1]);
    }
}

// Entities that come in a crowd are told coarsely how they are turned, and not how they turn.
static void a_crowd_enters_with_few_bits_for_orientations(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "asteroids", 120, 11.0);
    f.def.kbps = 4.0;
    f.def.skips_standstill = true;
    run_on(&f, 1);
    const double each = bits_of(&f.result, "enter") / (double)f.result.traffic.enters;
    if (!(f.result.traffic.enters >= 3 * 119 && each < 98.0)) {
        fail_msg("%g bits for each of %llu enters", each,
                 (unsigned long long)f.result.traffic.enters);
    }
    tear_down(&f);
}

// ---- plain snapshots: the same promises

static void use_snapshots(fixture* f)
{
    f->def.is_snapshot = true;
    f->def.profile = PH_PROFILE_CLASSIC;
}

static uint64_t sum_of_bits(const ph_sim_result* result)
{
    uint64_t sum = 0;
    ph_sim_bits bits;
    for (int i = 0; ph_sim_result_bits(result, i, &bits); ++i) {
        sum += bits.bits256;
    }
    return sum;
}

static void snapshots_keep_the_promises_at_any_budget(void** state)
{
    (void)state;
    static const double KBPS[] = {1.0, 4.0, 13.0, 60.0, 0.0};
    static const double BURST_S[] = {0.0, 0.3, 1.0, 3.0, 1.0};
    static const double LOSS[] = {0.0, 0.2, 0.01, 0.5, 0.1};
    static const char* const SCENES[] = {"town", "asteroids", "race", "asteroids", "town"};
    for (int i = 0; i < 5; ++i) {
        fixture f;
        set_up(&f, SCENES[i], 40, 12.0);
        use_snapshots(&f);
        f.def.kbps = KBPS[i];
        f.def.burst_s = BURST_S[i];
        f.def.loss = LOSS[i];
        run_on(&f, 1);
        assert_int_equal(f.result.traffic.overruns, 0);
        assert_int_equal(f.result.traffic.refused, 0);
        assert_true(f.result.is_converged);
        assert_true(ph_sim_result_rates(&f.result).budget_used_pct >= 95.0);
        assert_true(f.result.traffic.payload_bytes > 0);
        assert_int_equal(sum_of_bits(&f.result), f.result.traffic.payload_bytes * 8 * 256);
        // One a tick at most, and here it fits a datagram, if a small bucket does not cut it.
        assert_true(KBPS[i] > 0.0 || f.result.traffic.datagrams <= f.result.traffic.frames);
        tear_down(&f);
    }
}

static void snapshots_without_limit_show_the_truth(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "wander", 20, 12.0);
    use_snapshots(&f);
    f.def.kbps = 0.0;
    f.def.rtt_ms = 0.0;
    f.def.jitter_ms = 0.0;
    f.def.loss = 0.0;
    run_on(&f, 1);
    assert_true(f.result.is_converged);
    assert_true(f.result.figures.error_mm.p50 < 30.0); // as of the profiles, above
    assert_true(f.result.figures.missing_pct == 0.0);
    assert_true(f.result.figures.ghost_pct == 0.0);
    tear_down(&f);
}

static void snapshots_are_the_same_on_any_number_of_threads(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "asteroids", 20, 11.0);
    use_snapshots(&f);
    f.def.kbps = 6.0;
    f.def.loss = 0.1;
    ph_sim_result results[2];
    for (int i = 0; i < 2; ++i) {
        run_on(&f, 1 + 2 * i);
        f.result.traffic.cpu_ns = 0;
        results[i] = f.result;
    }
    assert_memory_equal(&results[0].traffic, &results[1].traffic, sizeof results[0].traffic);
    assert_memory_equal(&results[0].figures, &results[1].figures, sizeof results[0].figures);
    assert_true(results[0].converge_s == results[1].converge_s);
    tear_down(&f);
}

static void the_number_of_threads_changes_nothing(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "asteroids", 20, 11.0);
    f.def.kbps = 6.0;
    ph_sim_result results[2];
    for (int i = 0; i < 2; ++i) {
        run_on(&f, 1 + 2 * i);
        f.result.traffic.cpu_ns = 0;
        results[i] = f.result;
    }
    assert_memory_equal(&results[0].traffic, &results[1].traffic, sizeof results[0].traffic);
    assert_memory_equal(&results[0].figures, &results[1].figures, sizeof results[0].figures);
    assert_true(results[0].converge_s == results[1].converge_s);
    tear_down(&f);
}

static void another_seed_meets_another_network(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "race", 8, 12.0);
    f.def.skips_standstill = true;
    f.def.loss = 0.1;
    run_on(&f, 1);
    const double first = f.result.figures.error_mm.mean;
    f.def.seed = 2;
    run_on(&f, 1);
    assert_true(f.result.figures.error_mm.mean != first);
    tear_down(&f);
}

// With every bit that it wants, and no network in between, a client shows what is there.
static void a_perfect_link_without_limit_shows_the_truth(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "wander", 20, 12.0);
    f.def.kbps = 0.0;
    f.def.hz = 1000.0;
    f.def.rtt_ms = 0.0;
    f.def.jitter_ms = 0.0;
    f.def.loss = 0.0;
    run_on(&f, 1);
    assert_true(f.result.is_converged);
    assert_true(f.result.figures.error_mm.p50 <
                30.0); // a step of 16 mm, and what convergence leaves
    assert_true(f.result.figures.missing_pct == 0.0);
    assert_int_equal(f.result.traffic.overruns, 0);
    tear_down(&f);
}

static void nothing_arrives_when_everything_is_lost(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "wander", 12, 12.0);
    f.def.loss = 1.0;
    run_on(&f, 1);
    assert_false(f.result.is_converged);
    assert_true(f.result.converge_s == 120.0);
    assert_true(f.result.figures.error_mm.mean == 0.0);
    assert_int_equal(f.result.traffic.overruns, 0);
    tear_down(&f);
}

// To be equal with the last tick that is waited for is to be equal.
static void equality_at_the_last_moment_counts(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "town", 30, 14.0);
    f.def.loss = 0.2;
    run_on(&f, 1);
    assert_true(f.result.is_converged && f.result.converge_s > 0.0);
    const double converge_s = f.result.converge_s;
    f.def.standstill_s = converge_s;
    run_on(&f, 1);
    assert_true(f.result.is_converged);
    f.def.standstill_s = converge_s - 1.0 / f.result.rate_hz;
    run_on(&f, 1);
    assert_false(f.result.is_converged);
    tear_down(&f);
}

typedef struct seconds_seen {
    int count;
    ph_sim_traffic traffic;
    double error_sum;
} seconds_seen;

static void see_second(void* context, const ph_sim_second* second)
{
    seconds_seen* seen = context;
    assert_int_equal(second->second, 1 + seen->count / 3);
    assert_int_equal(second->viewer, seen->count % 3);
    ++seen->count;
    ph_sim_traffic_merge(&seen->traffic, &second->traffic);
    seen->error_sum += second->figures.error_mm.mean;
}

static void seconds_add_up_to_the_whole(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "town", 30, 14.0);
    f.def.skips_standstill = true;
    seconds_seen seen = {0};
    f.def.on_second = see_second;
    f.def.second_context = &seen;
    f.def.seconds = 12.0;
    run_on(&f, 2);
    const ph_sim_traffic* whole = &f.result.traffic;
    assert_int_equal(seen.count, 3 * 12);
    assert_int_equal(seen.traffic.frames, whole->frames);
    assert_int_equal(seen.traffic.wire_bytes, whole->wire_bytes);
    assert_int_equal(seen.traffic.updates, whole->updates);
    assert_memory_equal(&seen.traffic.ledger, &whole->ledger, sizeof whole->ledger);
    assert_true(seen.error_sum > 0.0);
    assert_int_equal(whole->refused, 0);
    tear_down(&f);
}

static void both_kinds_of_vision_show_the_same(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "town", 30, 12.0);
    f.def.skips_standstill = true;
    run_on(&f, 1);
    const ph_sim_result by_grid = f.result;
    f.def.vision = PH_VISION_GROUPS;
    run_on(&f, 1);
    assert_memory_equal(&by_grid.figures, &f.result.figures, sizeof by_grid.figures);
    tear_down(&f);
}

static void less_budget_shows_less_well(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "asteroids", 60, 11.0);
    f.def.skips_standstill = true;
    double errors[2];
    for (int i = 0; i < 2; ++i) {
        f.def.kbps = i == 0 ? 4.0 : 26.0;
        run_on(&f, 1);
        errors[i] = f.result.figures.error_mrad.mean;
    }
    assert_true(errors[0] > 1.5 * errors[1]);
    tear_down(&f);
}

static void a_truth_without_movement_has_no_viewers(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "still", 5, 12.0);
    ph_fault fault = {0};
    ph_pool* pool = ph_pool_create(1);
    assert_false(ph_sim_run(&f.def, f.recording, f.schema, pool, &f.result, &fault));
    assert_non_null(strstr(fault.message, "there is no viewer"));
    ph_pool_destroy(pool);
    tear_down(&f);
}

static void a_truth_that_is_too_short_says_so(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "wander", 12, 5.0);
    ph_fault fault = {0};
    ph_pool* pool = ph_pool_create(1);
    assert_false(ph_sim_run(&f.def, f.recording, f.schema, pool, &f.result, &fault));
    assert_non_null(strstr(fault.message, "10 s are the least"));
    ph_pool_destroy(pool);
    tear_down(&f);
}

static void a_row_of_the_dump_is_what_the_meter_takes(void** state)
{
    (void)state;
    ph_sim_dump dump = {0};
    const ph_shown shown = {
        .has_heading = true,
        .position_mm = {-1234.56, 0.04, 99.95},
        .heading_deg = 370.056,
    };
    ph_sim_dump_add(&dump, &(ph_sim_row){.time_ms = 62.5, .viewer = 3, .entity = 4000000000},
                    &shown);
    const char expected[] = "62.500,3,4000000000,-1234.6,0.0,100.0,10.06\n";
    assert_int_equal(dump.length, sizeof expected - 1);
    assert_memory_equal(dump.text, expected, sizeof expected - 1);
    ph_sim_dump_destroy(&dump);
}

// An orientation is dirty nearly all the time. What else has changed is forgotten all the same once it was told, and
// does not count for ever.
static void what_turns_does_not_tell_its_other_properties_all_the_time(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "asteroids", 60, 20.0);
    f.def.kbps = 4.0;
    f.def.skips_standstill = true;
    run_on(&f, 1);
    const double share = bits_of(&f.result, "spin") / bits_of(&f.result, "position");
    if (!(share < 0.055)) {
        fail_msg("the property spin has %g times the bits of positions", share);
    }
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_promises_hold_on_a_town),
        cmocka_unit_test(the_promises_hold_for_several_classes),
        cmocka_unit_test(bits_by_reason_add_up_exactly),
        cmocka_unit_test(parts_can_be_exchanged_one_by_one),
        cmocka_unit_test(the_promises_hold_for_what_turns_in_space),
        cmocka_unit_test(what_is_shown_turned_right_is_not_told),
        cmocka_unit_test(what_cannot_be_followed_is_not_told),
        cmocka_unit_test(a_crowd_enters_with_few_bits_for_orientations),
        cmocka_unit_test(what_turns_does_not_tell_its_other_properties_all_the_time),
        cmocka_unit_test(snapshots_keep_the_promises_at_any_budget),
        cmocka_unit_test(snapshots_without_limit_show_the_truth),
        cmocka_unit_test(snapshots_are_the_same_on_any_number_of_threads),
        cmocka_unit_test(the_number_of_threads_changes_nothing),
        cmocka_unit_test(another_seed_meets_another_network),
        cmocka_unit_test(a_perfect_link_without_limit_shows_the_truth),
        cmocka_unit_test(nothing_arrives_when_everything_is_lost),
        cmocka_unit_test(equality_at_the_last_moment_counts),
        cmocka_unit_test(seconds_add_up_to_the_whole),
        cmocka_unit_test(both_kinds_of_vision_show_the_same),
        cmocka_unit_test(a_truth_that_is_too_short_says_so),
        cmocka_unit_test(less_budget_shows_less_well),
        cmocka_unit_test(a_truth_without_movement_has_no_viewers),
        cmocka_unit_test(a_row_of_the_dump_is_what_the_meter_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
