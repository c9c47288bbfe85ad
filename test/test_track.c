// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is shown of one entity: extrapolated, without jumps and without walking backwards; teleports at
// once; an entity at rest exactly where it stands; with a delay exactly between samples.

#include "support/test_support.h"

#include "motion/track.h"

#include <math.h>
#include <string.h>

#define FRAME_US 16667
#define SEND_US 200000
#define LATENCY_US 60000
#define DELAY_US 300000

// One entity, its class, and the clock of both ends.
typedef struct fixture {
    ph_track track;
    ph_motion_model motion_model;
    int64_t now_us;
    int64_t delay_us;
} fixture;

static fixture make_fixture(int64_t delay_us)
{
    return (fixture){.motion_model = ph_motion_model_make(), .delay_us = delay_us};
}

static void add(fixture* f, int64_t time_us, int32_t x, int32_t y)
{
    const ph_sample sample = {.time_us = time_us, .position_mm = {x, y, 500}};
    ph_track_add(&f->track, &f->motion_model, &sample);
}

static void add_jump(fixture* f, int64_t time_us, int32_t x, int32_t y)
{
    const ph_sample sample = {.time_us = time_us, .position_mm = {x, y, 500}, .is_jump = true};
    ph_track_add(&f->track, &f->motion_model, &sample);
}

// One frame later.
static double show(fixture* f)
{
    f->now_us += FRAME_US;
    const ph_frame_time frame = ph_frame_time_make(f->now_us, FRAME_US, f->delay_us);
    ph_track_show(&f->track, &f->motion_model, &frame);
    double position_mm[3];
    ph_track_position(&f->track, position_mm);
    return position_mm[0];
}

// Where it will be, less the newest sample.
static void predict(const ph_track* track, const ph_motion_model* motion_model, int64_t time_us,
                    float offset_mm[3])
{
    ph_motion_target target;
    ph_track_extrapolate(track, motion_model, (float)(time_us - track->time_us) * 1e-6f, &target);
    memcpy(offset_mm, target.mm, sizeof target.mm);
}

static double show_until(fixture* f, int64_t time_us)
{
    double x = show(f);
    while (f->now_us < time_us) {
        x = show(f);
    }
    return x;
}

// A straight walk along x at 2 m/s, a sample every 200 ms that comes 60 ms late.
static int32_t walk_x(int64_t time_us)
{
    return (int32_t)(time_us * 2 / 1000);
}

static void walk_for(fixture* f, int sends)
{
    for (int i = 0; i < sends; ++i) {
        const int64_t sent_us = f->track.count == 0 ? 0 : f->track.time_us + SEND_US;
        add(f, sent_us, walk_x(sent_us), 0);
        show_until(f, sent_us + LATENCY_US + SEND_US);
    }
}

// ---- now

static void a_straight_walk_is_shown_where_it_is_now(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    walk_for(&f, 8);
    for (int i = 0; i < 40; ++i) {
        if (f.now_us >= f.track.time_us + SEND_US + LATENCY_US) {
            add(&f, f.track.time_us + SEND_US, walk_x(f.track.time_us + SEND_US), 0);
        }
        const double x = show(&f);
        assert_true(fabs(x - walk_x(f.now_us)) < 2.0);
    }
}

// The same place told twice: it stands there, and the walk before it bends nothing. Samples of 50 ms,
// which else count as legs with those before.
static void an_entity_sent_twice_at_a_place_stands_there(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    for (int i = 0; i <= 8; ++i) {
        add(&f, i * 50000, walk_x(i * 50000), 0);
    }
    add(&f, 450000, walk_x(400000), 0);
    f.now_us = 500000;
    for (int i = 0; i < 60; ++i) {
        assert_true(fabs(show(&f) - walk_x(400000)) < 1.0);
    }
}

// Samples of 200 ms, x of which grows by 400 mm and then by so many: how far it goes in the next 200 ms.
static float extrapolated_mm(float step_mm, int32_t last_mm)
{
    fixture f = make_fixture(0);
    f.motion_model.step_mm = step_mm;
    add(&f, 0, 0, 0);
    add(&f, 200000, 400, 0);
    add(&f, 400000, 400 + last_mm, 0);
    float offset_mm[3];
    predict(&f.track, &f.motion_model, 600000, offset_mm);
    return offset_mm[0];
}

// The part of it that is bend: where all is rounding, nothing is.
static float bend_of_last(float step_mm, int32_t last_mm)
{
    return extrapolated_mm(step_mm, last_mm) - extrapolated_mm(1e4f, last_mm);
}

// 8 mm more in 200 ms are no change where positions are rounded to 16 mm: three of them, of which the
// middle one counts twice, are sqrt(256 / 6 * (25 + 100 + 25)) = 80 mm/s off. 400 mm more are one, nearly.
static void what_rounding_looks_like_bends_nothing(void** state)
{
    (void)state;
    assert_true(bend_of_last(16.0f, 408) == 0.0f);
    assert_true(bend_of_last(16.0f, 416) == 0.0f);
    assert_true(bend_of_last(0.0f, 408) > 3.0f);
    const float whole_mm = bend_of_last(0.0f, 800);
    assert_true(bend_of_last(16.0f, 800) < whole_mm && bend_of_last(16.0f, 800) > 0.99f * whole_mm);
    const float share = bend_of_last(16.0f, 432) / bend_of_last(0.0f, 432); // 160 mm/s
    assert_true(share > 0.74f && share < 0.76f);
}

// By class: without a bend it goes straight on, and a longer leg takes both steps for one.
static void a_class_may_bend_less_and_look_back_longer(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    f.motion_model.is_vouched = true; // velocities are followed in full
    add(&f, 0, 0, 0);
    add(&f, 200000, 100, 0);
    add(&f, 400000, 120, 0);
    float offset_mm[3];
    f.motion_model.bend = 0.0f;
    predict(&f.track, &f.motion_model, 600000, offset_mm);
    assert_float_equal(offset_mm[0], 20.0, 0.5);
    f.motion_model.leg_s = 0.3f;
    predict(&f.track, &f.motion_model, 600000, offset_mm);
    assert_float_equal(offset_mm[0], 60.0, 0.5);
}

// A newcomer whose velocity came with it moves from the first frame on, and nothing is learned of
// newcomers.
static void a_walk_that_begins_with_its_velocity_is_shown_where_it_is_now(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    const ph_motion_model before = f.motion_model;
    const ph_sample sample = {.time_us = SEND_US, .position_mm = {walk_x(SEND_US), 0, 500}};
    const ph_step step = {.mm = {500.0f, 0.0f, 0.0f}, .seconds = 0.25f};
    ph_track_begin(&f.track, &sample, &step);
    f.now_us = SEND_US + LATENCY_US;
    for (int i = 0; i < 20; ++i) {
        const double x = show(&f);
        assert_true(fabs(x - walk_x(f.now_us)) < 2.0);
    }
    assert_true(f.motion_model.newcomers == before.newcomers);
}

static void a_straight_walk_never_goes_back(void** state)
{
    (void)state;
    test_rng rng = {.state = 77};
    fixture f = make_fixture(0);
    double last_x = -1.0;
    int64_t sent_us = 0;
    int64_t arrival_us = LATENCY_US;
    for (int i = 0; i < 3000; ++i) {
        if (f.now_us >= arrival_us) {
            add(&f, sent_us, walk_x(sent_us), 0);
            sent_us += SEND_US * (int64_t)(1 + test_rng_below(&rng, 3));
            arrival_us = sent_us + 50000 + (int64_t)test_rng_below(&rng, 20000);
        }
        if (f.track.count > 0) {
            const double x = show(&f);
            assert_true(x >= last_x - 0.01);
            last_x = x;
        } else {
            f.now_us += FRAME_US;
        }
    }
}

// Random ways: from frame to frame nothing moves faster than the limit that samples set, unless it
// leaps once over more than that takes long.
static void nothing_is_shown_faster_than_its_limit(void** state)
{
    (void)state;
    test_rng rng = {.state = 4711};
    fixture f = make_fixture(0);
    int32_t x = 0;
    int leaps = 0;
    double last_x = 0.0;
    for (int i = 0; i < 500; ++i) {
        x += (int32_t)test_rng_below(&rng, 800) - 400;
        add(&f, i * SEND_US, x, 0);
        for (int k = 0; k < 12; ++k) {
            const double shown = show(&f);
            const bool is_first = i == 0 && k == 0;
            // 700 mm/s and 2.5 times the 2 m/s that samples reach.
            leaps += !is_first && fabs(shown - last_x) > 5700.0 * FRAME_US * 1e-6 + 0.1;
            last_x = shown;
        }
    }
    assert_int_equal(leaps, 0);
}

// The speed by which catching up is limited: 2 m/s for a second, then another way.
static double speed_after(int64_t leg_us, int32_t way_mm)
{
    fixture f = make_fixture(0);
    add(&f, 0, 0, 0);
    add(&f, 1000000, 2000, 0);
    add(&f, 1000000 + leg_us, 2000 + way_mm, 0);
    ph_motion_target target;
    ph_track_extrapolate(&f.track, &f.motion_model, 0.1f, &target);
    return (double)target.speed_mm_s;
}

static void an_entity_fast_long_ago_does_not_catch_up_as_fast(void** state)
{
    (void)state;
    assert_true(fabs(speed_after(900000, 450) - 2000.0) < 1.0);
    assert_true(fabs(speed_after(1100000, 550) - 500.0) < 1.0);
    assert_true(fabs(speed_after(1100000, 5500) - 5000.0) < 1.0);
    assert_true(fabs(speed_after(1100000, 0) - 2000.0) < 1.0); // it has just stopped
}

static void an_entity_at_rest_is_shown_exactly_there(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    walk_for(&f, 10);
    const double x = show_until(&f, f.now_us + 2900000);
    assert_true(x == (double)f.track.newest_mm[0]);
}

// Three intervals and a bit at 2 m/s, a pause, then back; never faster than it came.
static void silence_ends_the_motion_and_goes_back_gently(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    walk_for(&f, 10);
    double last_x = show(&f);
    double furthest = last_x;
    for (int i = 0; i < 180; ++i) {
        const double x = show(&f);
        assert_true(x - last_x > -2.1 * FRAME_US / 1000.0);
        furthest = fmax(furthest, x);
        last_x = x;
    }
    assert_true(furthest < f.track.newest_mm[0] + 2000.0);
    assert_true(furthest > f.track.newest_mm[0] + 600.0);
}

// Shown 200 mm too far ahead of an entity that slowed down: it waits more than it walks back.
static void an_entity_shown_too_far_ahead_hardly_walks_back(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    walk_for(&f, 10);
    double last_x = show(&f);
    const int64_t sent_us = f.track.time_us + SEND_US;
    add(&f, sent_us, walk_x(sent_us) - 300, 0);
    for (int i = 0; i < 10; ++i) {
        const double x = show(&f);
        assert_true(x - last_x > -0.31 * FRAME_US / 1000.0);
        last_x = x;
    }
}

static void a_teleport_is_shown_at_once(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    walk_for(&f, 6);
    const int32_t x = f.track.newest_mm[0] + 500; // near enough to glide there
    add_jump(&f, f.track.time_us + SEND_US, x, 40);
    assert_true(show(&f) == (double)x);
    // The walk before it says nothing about what comes after.
    assert_true(show_until(&f, f.now_us + 150000) == (double)x);
}

static void a_difference_that_would_take_long_is_one_leap(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    add(&f, 0, 0, 0);
    show(&f);
    add(&f, 10000000, 90000, 0); // 90 m in 10 s, nothing in between
    f.now_us = 10000000 + LATENCY_US;
    const double x = show(&f);
    assert_true(x >= 90000.0 && x < 91000.0);
}

static void a_turn_is_bent_towards(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    add(&f, 0, 0, 0);
    add(&f, 200000, 400, 0);
    add(&f, 400000, 700, 200);
    float offset_mm[3];
    predict(&f.track, &f.motion_model, 500000, offset_mm);
    assert_true(offset_mm[0] > 0.0f && offset_mm[0] < 150.0f);
    assert_true(offset_mm[1] > 100.0f);
    // Not after long intervals.
    fixture slow = make_fixture(0);
    add(&slow, 0, 0, 0);
    add(&slow, 1000000, 400, 0);
    add(&slow, 2000000, 700, 200);
    predict(&slow.track, &slow.motion_model, 2100000, offset_mm);
    assert_true(fabsf(offset_mm[1] - 20.0f) < 3.0f);
}

static void a_newcomer_goes_where_it_looks(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    for (int i = 0; i < 30; ++i) {
        ph_track other = {0};
        for (int k = 0; k < 2; ++k) {
            const ph_sample sample = {.time_us = k * SEND_US,
                                      .position_mm = {walk_x(k * SEND_US), i, 0}};
            ph_heading_track_add(&other.heading, sample.time_us, 0.0f);
            ph_track_add(&other, &f.motion_model, &sample);
        }
    }
    ph_track newcomer = {0};
    ph_heading_track_add(&newcomer.heading, 0, 90.0f);
    const ph_sample sample = {.position_mm = {0, 0, 0}};
    ph_track_add(&newcomer, &f.motion_model, &sample);
    float offset_mm[3];
    predict(&newcomer, &f.motion_model, SEND_US, offset_mm);
    assert_true(fabsf(offset_mm[0]) < 1.0f);
    assert_true(fabsf(offset_mm[1] - 400.0f) < 1.0f);
}

// The class learns that velocities are not worth following for long.
static void an_entity_that_turns_all_the_time_is_not_extrapolated_far(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    const int32_t corners[4][2] = {{0, 0}, {4000, 0}, {4000, 4000}, {0, 4000}};
    for (int i = 0; i < 100; ++i) {
        add(&f, (int64_t)i * 1000000, corners[i % 4][0], corners[i % 4][1]);
    }
    assert_true(ph_motion_model_share(&f.motion_model, 1.0f) < 0.2f);
    assert_true(ph_motion_model_share(&f.motion_model, 0.1f) > 0.99f);
}

// ---- delayed

static void a_delay_shows_every_sample_exactly(void** state)
{
    (void)state;
    test_rng rng = {.state = 99};
    fixture f = make_fixture(DELAY_US);
    int32_t way[200];
    int32_t x = 0;
    for (int i = 0; i < 200; ++i) {
        x += (int32_t)test_rng_below(&rng, 600) - 100;
        way[i] = x;
    }
    int next = 0;
    // Frames of 10 ms, so that each sample's own moment is shown.
    for (int64_t now_us = 0; now_us < 190 * 200000; now_us += 10000) {
        while (next < 200 && next * SEND_US + LATENCY_US <= now_us) {
            add(&f, next * SEND_US, way[next], 0);
            ++next;
        }
        const int64_t shown_us = now_us - DELAY_US;
        if (f.track.count == 0 || shown_us < 0) {
            continue;
        }
        const ph_frame_time frame = ph_frame_time_make(now_us, 10000, DELAY_US);
        ph_track_show(&f.track, &f.motion_model, &frame);
        double position_mm[3];
        ph_track_position(&f.track, position_mm);
        const int i = (int)(shown_us / SEND_US);
        const double share = (double)(shown_us % SEND_US) / SEND_US;
        const double expected = way[i] + (way[i + 1] - way[i]) * share;
        assert_true(fabs(position_mm[0] - expected) < (share <= 0.0 ? 0.001 : 0.05));
    }
}

static void a_delayed_teleport_is_shown_when_its_time_comes(void** state)
{
    (void)state;
    fixture f = make_fixture(DELAY_US);
    add(&f, 0, 0, 0);
    add(&f, 200000, 400, 0);
    add_jump(&f, 400000, 700, 0);
    f.now_us = 400000;
    while (f.now_us + FRAME_US - DELAY_US < 400000) {
        assert_true(show(&f) <= 400.0);
    }
    assert_true(show(&f) == 700.0);
}

static void a_delay_without_samples_stands(void** state)
{
    (void)state;
    fixture f = make_fixture(DELAY_US);
    walk_for(&f, 10);
    assert_true(show_until(&f, f.now_us + 1000000) == (double)f.track.newest_mm[0]);
}

// ---- both

static void the_edge_of_the_world_is_no_edge(void** state)
{
    (void)state;
    for (int64_t delay_us = 0; delay_us <= DELAY_US; delay_us += DELAY_US) {
        fixture near_zero = make_fixture(delay_us);
        fixture at_edge = make_fixture(delay_us);
        const uint32_t shift = UINT32_C(2147483000);
        for (int i = 0; i < 10; ++i) {
            const int32_t x = walk_x(i * SEND_US);
            add(&near_zero, i * SEND_US, x, 0);
            add(&at_edge, i * SEND_US, (int32_t)((uint32_t)x + shift), 0);
            for (int k = 0; k < 12; ++k) {
                const double expected = show(&near_zero) + (double)shift;
                const double wrapped = expected >= 0x1p31 ? expected - 0x1p32 : expected;
                assert_true(show(&at_edge) == wrapped);
            }
        }
    }
}

static void a_sample_of_the_same_moment_takes_its_place(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    fixture g = make_fixture(0);
    add(&f, 0, 0, 0);
    add(&f, 200000, 400, 0);
    add(&g, 0, 0, 0);
    add(&g, 200000, 390, 0);
    add(&g, 200000, 400, 0);
    float f_mm[3];
    float g_mm[3];
    predict(&f.track, &f.motion_model, 300000, f_mm);
    predict(&g.track, &g.motion_model, 300000, g_mm);
    assert_memory_equal(f_mm, g_mm, sizeof f_mm);
    assert_int_equal(g.track.newest_mm[0], 400);
    assert_int_equal(g.track.count, 2);
}

// Whatever comes, in whatever order and however far: numbers stay numbers, within the world.
static void time_that_goes_back_begins_again(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    walk_for(&f, 4);
    const double last_x = show(&f);
    add(&f, 100000, (int32_t)last_x + 50, 0);
    assert_int_equal(f.track.count, 1);
    assert_true(f.track.time_us == 100000);
    // No leap, and from then on as usual.
    assert_true(fabs(show(&f) - last_x) < 20.0);
    add(&f, 300000, (int32_t)last_x + 450, 0);
    assert_int_equal(f.track.count, 2);
    add_jump(&f, 200000, 7000, 0);
    assert_true(show(&f) == 7000.0);
    add(&f, 100000, (int32_t)last_x + 50, 0);
    add(&f, 300000, (int32_t)last_x + 450, 0);
    assert_true(f.track.steps[0].mm[0] == 400.0f && fabsf(f.track.steps[0].seconds - 0.2f) < 1e-6f);
}

static void a_newcomer_of_several_samples_is_shown_at_the_newest(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    add(&f, 0, 1000, 0);
    add(&f, SEND_US, 9000000, 0);
    for (int k = 0; k < 3; ++k) {
        assert_true(f.track.shown_mm[k] == 0.0f); // nothing was shown that could lie elsewhere
    }
    double position_mm[3];
    ph_track_position(&f.track, position_mm);
    assert_true(position_mm[0] == 9000000.0);
}

// A step is never longer than the world is wide, however often its end is told anew.
static void samples_of_one_moment_do_not_add_up(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    add(&f, 0, 0, 0);
    add(&f, SEND_US, 100, 0);
    show(&f);
    for (int i = 0; i < 300; ++i) {
        add(&f, SEND_US, (int32_t)(UINT32_C(0x70000000) * (uint32_t)(i % 2 + 1)), 0);
    }
    add(&f, SEND_US, 2000, 0);
    assert_true(f.track.steps[0].mm[0] == 2000.0f);
    assert_true(fabsf(f.track.shown_mm[0]) < 0x1p31f);
}

static bool is_finite_model(const ph_motion_model* motion_model)
{
    float sum = motion_model->interval_limit + motion_model->usual_pause_s +
                motion_model->first_pause_s + motion_model->forward_mm_s + motion_model->newcomers +
                motion_model->movers;
    for (int i = 0; i < PH_MOTION_MODEL_AGES; ++i) {
        sum += motion_model->products[i] + motion_model->squares[i];
    }
    return isfinite(sum) && isfinite(ph_motion_model_share(motion_model, 0.3f));
}

// Across the world within a microsecond, then nothing for years: squares of that are no floats.
static void a_speed_of_no_world_teaches_nothing(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    add(&f, 0, INT32_MIN, 0);
    add(&f, 1, -1, 0);
    add(&f, INT64_C(1) << 60, INT32_MAX, 0);
    add(&f, (INT64_C(1) << 60) + 200000, 0, 0);
    assert_true(is_finite_model(&f.motion_model));
}

static void wild_samples_do_no_harm(void** state)
{
    (void)state;
    test_rng rng = {.state = 31337};
    for (int round = 0; round < 300; ++round) {
        fixture f = make_fixture(round % 2 == 0 ? 0 : DELAY_US);
        int64_t time_us = 0;
        for (int i = 0; i < 60; ++i) {
            const bool is_same = test_rng_below(&rng, 4) == 0;
            const int64_t wild_us = (int64_t)test_rng_below(&rng, UINT64_C(1) << (10 + i % 52));
            time_us = is_same ? time_us : round % 3 == 0 ? wild_us : time_us + wild_us % 3000000;
            const ph_sample sample = {
                .time_us = time_us,
                .position_mm = {(int32_t)(uint32_t)test_rng_next(&rng),
                                (int32_t)test_rng_below(&rng, 5),
                                (int32_t)(uint32_t)test_rng_next(&rng)},
                .is_jump = test_rng_below(&rng, 4) == 0,
            };
            ph_track_add(&f.track, &f.motion_model, &sample);
            ph_heading_track_add(&f.track.heading, sample.time_us, (float)(i * 1000 - 30000));
            f.now_us = sample.time_us + (int64_t)test_rng_below(&rng, 3000000) - 1000000;
            show(&f);
            double position_mm[3];
            ph_track_position(&f.track, position_mm);
            for (int k = 0; k < 3; ++k) {
                assert_true(position_mm[k] >= -0x1p31 && position_mm[k] < 0x1p31);
                assert_true(isfinite(f.track.shown_mm[k]) && isfinite(f.track.steps[0].mm[k]));
            }
            assert_true(f.track.heading.shown >= 0.0f && f.track.heading.shown < 360.0f);
            assert_true(is_finite_model(&f.motion_model));
        }
    }
}

static void the_same_samples_show_the_same(void** state)
{
    (void)state;
    fixture runs[2];
    for (int r = 0; r < 2; ++r) {
        test_rng rng = {.state = 5};
        memset(&runs[r], r == 0 ? 0x55 : 0xAA, sizeof runs[r]);
        runs[r] = make_fixture(0);
        for (int i = 0; i < 200; ++i) {
            add(&runs[r], i * 100000, (int32_t)test_rng_below(&rng, 5000), i * 3);
            show(&runs[r]);
        }
    }
    assert_memory_equal(runs[0].track.shown_mm, runs[1].track.shown_mm, sizeof(float[3]));
    assert_memory_equal(&runs[0].motion_model, &runs[1].motion_model, sizeof(ph_motion_model));
}

// Two records of one tick, the second a teleport: what lies between is no way that the entity went.
static void a_jump_in_the_tick_of_the_last_sample_is_no_motion(void** state)
{
    (void)state;
    fixture f = make_fixture(0);
    walk_for(&f, 8);
    add_jump(&f, f.track.time_us, walk_x(f.track.time_us) + 50000, 0);
    float offset_mm[3];
    predict(&f.track, &f.motion_model, f.track.time_us + SEND_US, offset_mm);
    assert_true(fabsf(offset_mm[0]) < 1.0f && fabsf(offset_mm[1]) < 1.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_straight_walk_is_shown_where_it_is_now),
        cmocka_unit_test(an_entity_sent_twice_at_a_place_stands_there),
        cmocka_unit_test(what_rounding_looks_like_bends_nothing),
        cmocka_unit_test(a_class_may_bend_less_and_look_back_longer),
        cmocka_unit_test(a_walk_that_begins_with_its_velocity_is_shown_where_it_is_now),
        cmocka_unit_test(a_straight_walk_never_goes_back),
        cmocka_unit_test(nothing_is_shown_faster_than_its_limit),
        cmocka_unit_test(an_entity_fast_long_ago_does_not_catch_up_as_fast),
        cmocka_unit_test(an_entity_at_rest_is_shown_exactly_there),
        cmocka_unit_test(silence_ends_the_motion_and_goes_back_gently),
        cmocka_unit_test(an_entity_shown_too_far_ahead_hardly_walks_back),
        cmocka_unit_test(a_teleport_is_shown_at_once),
        cmocka_unit_test(a_difference_that_would_take_long_is_one_leap),
        cmocka_unit_test(a_turn_is_bent_towards),
        cmocka_unit_test(a_newcomer_goes_where_it_looks),
        cmocka_unit_test(an_entity_that_turns_all_the_time_is_not_extrapolated_far),
        cmocka_unit_test(a_delay_shows_every_sample_exactly),
        cmocka_unit_test(a_delayed_teleport_is_shown_when_its_time_comes),
        cmocka_unit_test(a_delay_without_samples_stands),
        cmocka_unit_test(the_edge_of_the_world_is_no_edge),
        cmocka_unit_test(a_sample_of_the_same_moment_takes_its_place),
        cmocka_unit_test(time_that_goes_back_begins_again),
        cmocka_unit_test(a_newcomer_of_several_samples_is_shown_at_the_newest),
        cmocka_unit_test(samples_of_one_moment_do_not_add_up),
        cmocka_unit_test(a_speed_of_no_world_teaches_nothing),
        cmocka_unit_test(wild_samples_do_no_harm),
        cmocka_unit_test(the_same_samples_show_the_same),
        cmocka_unit_test(a_jump_in_the_tick_of_the_last_sample_is_no_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
