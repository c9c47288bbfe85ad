// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Smooth properties. The motion of a number: what changes evenly is followed exactly, what jitters is shown as
// told, jumps are shown at once, angles go the shorter way round. And whole sessions over a link: every coding
// that has an order is shown right at any moment with few updates, stops are shown, what rests is exact, and a
// delay shows the past.

#include "support/test_links.h"
#include "support/test_memory.h"

#include "client/client_state.h"
#include "motion/smooth.h"
#include "replication/shown_estimate.h"
#include "replication/sender.h"
#include "world/world_state.h"

#include <pinhole/client.h>
#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_US 16667
#define LONG_S 15.0f

static const ph_number_scale LADDER = {.top = 1000.0};
static const ph_number_scale CIRCLE = {.top = 256.0, .is_turn = true};

// ---- the motion of a number

static void show(ph_number_track* track, const ph_number_scale* scale, int64_t time_us,
                 int64_t delay_us)
{
    const ph_frame_time frame = ph_frame_time_make(time_us, FRAME_US, delay_us);
    ph_number_track_show(track, scale, LONG_S, &frame);
}

// All frames up to some time.
static void run(ph_number_track* track, const ph_number_scale* scale, int64_t from_us,
                int64_t to_us)
{
    for (int64_t t = from_us; t <= to_us; t += FRAME_US) {
        show(track, scale, t, 0);
    }
}

static void what_changes_evenly_is_shown_where_it_is(void** state)
{
    (void)state;
    ph_number_track track = {0};
    for (int i = 0; i <= 3; ++i) {
        ph_number_track_add(&track, &LADDER, i * 1000000, 100.0 + 5.0 * i, false);
    }
    show(&track, &LADDER, 3000000, 0);
    for (int64_t t = 3000000; t < 6000000; t += FRAME_US) {
        show(&track, &LADDER, t, 0);
        assert_true(fabs(track.shown - (100.0 + 5e-6 * (double)t)) < 0.01);
    }
}

static void what_comes_twice_stands(void** state)
{
    (void)state;
    ph_number_track track = {0};
    ph_number_track_add(&track, &LADDER, 0, 100.0, false);
    ph_number_track_add(&track, &LADDER, 1000000, 105.0, false);
    ph_number_track_add(&track, &LADDER, 2000000, 110.0, false);
    ph_number_track_add(&track, &LADDER, 3000000, 110.0, false);
    assert_true(track.motion.rate == 0.0);
    for (int64_t t = 3000000; t < 4000000; t += FRAME_US) {
        show(&track, &LADDER, t, 0);
    }
    assert_true(track.shown == 110.0);
    const double before = track.motion.value;
    for (int i = 1; i < 100; ++i) { // no rounding adds up
        ph_number_track_add(&track, &CIRCLE, 3000000 + i * 123457, (double)(i * 37 % 256), false);
        assert_true(track.motion.value == floor(track.motion.value));
    }
    assert_true(track.motion.value != before);
}

// What it had been shown at goes over into the new samples without a step.
static void a_correction_is_no_jolt(void** state)
{
    (void)state;
    ph_number_track track = {0};
    for (int i = 0; i <= 3; ++i) {
        ph_number_track_add(&track, &LADDER, i * 1000000, 100.0 + 10.0 * i, false);
    }
    show(&track, &LADDER, 3980000, 0);
    const double before = track.shown;
    ph_number_track_add(&track, &LADDER, 4000000, 136.0, false);
    show(&track, &LADDER, 4000000, 0);
    assert_true(fabs(track.shown - before) < 2.5);
    for (int64_t t = 4000000; t < 4300000; t += FRAME_US) {
        show(&track, &LADDER, t, 0);
    }
    double at = ph_number_motion_at(&track.motion, &LADDER, 0.3f - 0.005f, LONG_S);
    assert_true(fabs(track.shown - at) < 0.2);
}

static void a_jump_is_shown_at_once_and_goes_on_as_before(void** state)
{
    (void)state;
    ph_number_track track = {0};
    for (int i = 0; i <= 5; ++i) {
        ph_number_track_add(&track, &LADDER, i * 1000000, 500.0 - 3.0 * i, false);
        show(&track, &LADDER, i * 1000000, 0);
    }
    ph_number_track_add(&track, &LADDER, 6000000, 900.0, false);
    show(&track, &LADDER, 6000000, 0);
    assert_true(track.shown == 900.0);
    run(&track, &LADDER, 6000000 + FRAME_US, 7000000);
    assert_true(fabs(track.shown - 897.0) < 0.1);
}

static void what_its_entity_jumped_with_is_shown_at_once(void** state)
{
    (void)state;
    ph_number_track track = {0};
    for (int i = 0; i <= 5; ++i) {
        ph_number_track_add(&track, &LADDER, i * 1000000, 500.0 - 30.0 * i, false);
        show(&track, &LADDER, i * 1000000, 0);
    }
    ph_number_track_add(&track, &LADDER, 6000000, 340.0, true);
    show(&track, &LADDER, 6000000, 0);
    assert_true(track.shown == 340.0);
}

static void what_jitters_is_shown_as_told(void** state)
{
    (void)state;
    static const double VALUES[] = {500, 480, 512, 493, 520, 485, 500, 517, 488, 505, 481, 510};
    ph_number_track track = {0};
    for (int i = 0; i < 12; ++i) {
        ph_number_track_add(&track, &LADDER, i * 200000, VALUES[i], false);
        if (i > 3) {
            assert_true(ph_number_motion_at(&track.motion, &LADDER, 0.2f, LONG_S) == VALUES[i]);
        }
    }
}

static void it_stays_within_its_range(void** state)
{
    (void)state;
    ph_number_track track = {0};
    for (int i = 0; i <= 4; ++i) {
        ph_number_track_add(&track, &LADDER, i * 1000000, 20.0 - 4.0 * i, false);
        show(&track, &LADDER, i * 1000000, 0);
    }
    run(&track, &LADDER, 4000000, 7000000);
    assert_true(track.shown == 0.0);
}

static void an_angle_goes_the_shorter_way_round(void** state)
{
    (void)state;
    ph_number_track track = {0};
    for (int i = 0; i <= 20; ++i) {
        ph_number_track_add(&track, &CIRCLE, i * 1000000, (double)(i * 100 % 256), false);
        run(&track, &CIRCLE, i * 1000000, i * 1000000 + 900000);
    }
    for (int i = 0; i < 60; ++i) {
        const double before = track.shown;
        const int64_t t = 20900000 + i * FRAME_US;
        show(&track, &CIRCLE, t, 0);
        const double truth = 100.0 * (double)t * 1e-6;
        assert_true(fabs(ph_number_difference(&CIRCLE, track.shown, truth)) < 0.1);
        assert_true(i == 0 || fabs(track.shown - before) < 2.0);
    }
}

static void a_delay_goes_straight_from_sample_to_sample(void** state)
{
    (void)state;
    ph_number_track track = {0};
    ph_number_track_add(&track, &LADDER, 0, 100.0, false);
    ph_number_track_add(&track, &LADDER, 1000000, 103.0, false);
    ph_number_track_add(&track, &LADDER, 2000000, 101.0, false);
    ph_number_track_add(&track, &LADDER, 3000000, 901.0, false);
    show(&track, &LADDER, 1500000, 1000000);
    assert_true(fabs(track.shown - 101.5) < 1e-3);
    show(&track, &LADDER, 2500000, 1000000);
    assert_true(fabs(track.shown - 102.0) < 1e-3);
    show(&track, &LADDER, 3999999, 1000000);
    assert_true(track.shown == 101.0); // nothing leads to a jump
}

// ---- whole sessions

enum { ENTITIES = 100, PROPERTY = 1 };
#define TICK_US UINT64_C(100000)
#define SESSION_FRAME_US UINT64_C(20000)

// What the property is at some time, in its unit.
typedef void truth_fn(int entity, double seconds, double numbers[4]);

typedef struct session_def {
    const char* coding;
    truth_fn* truth;
    ph_field field; // of doubles
    int count;
    double turn; // of an angle
    ph_profile profile;
    int bits_per_second;
    int delay_ms;
    double loss;
    uint32_t link_us; // either way; 0: 50 ms
    bool is_smooth;
} session_def;

typedef struct session {
    session_def def;
    ph_schema* schema;
    ph_world* world;
    ph_client* client;
    ph_link* down;
    ph_link* up;
    ph_viewer_id viewer;
    ph_entity_id entities[ENTITIES];
    test_memory* memory; // NULL: that of the C library
    uint64_t now_us;
    uint64_t frozen_us; // from here on the truth stands; 0: it goes on
    double error_sum;   // of what is shown
    double worst;
    int error_count;
} session;

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    session* s = context;
    ph_link_send(s->down, s->now_us, bytes, size);
}

// With a schema.
static void session_open(session* s)
{
    const session_def* def = &s->def;
    ph_world_def world = ph_world_def_default();
    ph_client_def client = ph_client_def_default();
    ph_viewer_def viewer = ph_viewer_def_default();
    world.schema = s->schema;
    world.profile = def->profile;
    world.tick_us = (uint32_t)TICK_US;
    client.schema = s->schema;
    client.profile = def->profile;
    client.interpolation_delay_ms = def->delay_ms;
    viewer.bits_per_second = def->bits_per_second;
    if (s->memory != NULL) {
        world.allocator = test_memory_allocator(s->memory);
        client.allocator = test_memory_allocator(s->memory);
    }
    assert_int_equal(ph_world_create(&world, &s->world), PH_OK);
    assert_int_equal(ph_world_add_viewer(s->world, &viewer, &s->viewer), PH_OK);
    assert_int_equal(ph_client_create(&client, &s->client), PH_OK);
    s->down =
        test_link_create(&(ph_link_def){.seed = 1, .key = 1, .delay_us = 50000, .loss = def->loss});
    s->up =
        test_link_create(&(ph_link_def){.seed = 1, .key = 2, .delay_us = 50000, .loss = def->loss});
    for (int i = 0; i < ENTITIES; ++i) {
        const ph_spawn spawn = {.key = (uint64_t)(i + 1),
                                .position_mm = {i % 10 * 3000, i / 10 * 3000}};
        assert_int_equal(ph_world_spawn(s->world, &spawn, &s->entities[i]), PH_OK);
    }
}

static void session_setup(session* s, const session_def* def)
{
    char text[200];
    const int length = snprintf(text, sizeof text, "class d\nplace: position\nvalue: %s%s\n",
                                def->coding, def->is_smooth ? " smooth" : "");
    *s = (session){.def = *def};
    assert_int_equal(ph_schema_parse(text, (size_t)length, NULL, &s->schema, NULL), PH_OK);
    session_open(s);
}

static void session_teardown(session* s)
{
    ph_link_destroy(s->up);
    ph_link_destroy(s->down);
    ph_client_destroy(s->client);
    ph_world_destroy(s->world);
    ph_schema_destroy(s->schema);
}

static void session_carry(session* s)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    uint8_t ack[PH_ACK_SIZE];
    size_t size;
    while ((size = ph_link_receive(s->down, s->now_us, bytes, sizeof bytes)) > 0) {
        assert_int_equal(ph_client_receive(s->client, s->now_us, bytes, size), PH_OK);
    }
    if (ph_client_ack_due_us(s->client) <= s->now_us) {
        ph_link_send(s->up, s->now_us, ack, ph_client_write_ack(s->client, s->now_us, ack));
    }
    while ((size = ph_link_receive(s->up, s->now_us, bytes, sizeof bytes)) > 0) {
        assert_int_equal(ph_viewer_receive_ack(s->world, s->viewer, s->now_us, bytes, size), PH_OK);
    }
}

static void session_truth(const session* s, int entity, uint64_t now_us, double numbers[4])
{
    const bool is_frozen = s->frozen_us != 0 && now_us > s->frozen_us;
    s->def.truth(entity, (double)(is_frozen ? s->frozen_us : now_us) * 1e-6, numbers);
}

static double off_by(const session* s, const double shown[4], const double truth[4])
{
    if (s->def.count == 4) { // the angle between two rotations, in degrees
        double product = 0.0;
        for (int i = 0; i < 4; ++i) {
            product += shown[i] * truth[i];
        }
        return 114.6 * acos(fmin(fabs(product), 1.0));
    }
    double worst = 0.0;
    for (int i = 0; i < s->def.count; ++i) {
        double off = shown[i] - truth[i];
        off -= s->def.turn > 0.0 ? s->def.turn * floor(off / s->def.turn + 0.5) : 0.0;
        worst = fmax(worst, fabs(off));
    }
    return worst;
}

static void session_judge(session* s)
{
    const uint64_t shown_us = s->now_us - 1000 * (uint64_t)s->def.delay_ms;
    for (int i = 0; i < ENTITIES; ++i) {
        const ph_entity_id entity = ph_client_find(s->client, (uint64_t)(i + 1));
        double shown[4] = {0};
        double truth[4];
        session_truth(s, i, shown_us, truth);
        const ph_result result =
            s->def.is_smooth ? ph_client_get_shown(s->client, entity, PROPERTY, shown)
                             : ph_client_get_property(s->client, entity, PROPERTY, s->def.field,
                                                      shown, ph_field_size(s->def.field, 0));
        assert_int_equal(result, PH_OK);
        const double off = off_by(s, shown, truth);
        s->error_sum += off;
        s->worst = fmax(s->worst, off);
        ++s->error_count;
    }
}

// @return Updates per entity and second.
static double session_run(session* s, int frames, bool is_judged)
{
    ph_viewer_stats stats;
    assert_int_equal(ph_viewer_get_stats(s->world, s->viewer, &stats), PH_OK);
    const uint64_t before = stats.sent_updates;
    for (int frame = 0; frame < frames; ++frame, s->now_us += SESSION_FRAME_US) {
        if (s->now_us % TICK_US == 0) {
            for (int i = 0; i < ENTITIES; ++i) {
                double numbers[4];
                session_truth(s, i, s->now_us, numbers);
                assert_int_equal(ph_world_set_property(s->world, s->entities[i], PROPERTY,
                                                       s->def.field, numbers,
                                                       ph_field_size(s->def.field, 0)),
                                 PH_OK);
            }
            ph_world_tick(s->world);
            ph_world_send_all(s->world, s->now_us, deliver, s);
        }
        session_carry(s);
        ph_client_advance(s->client, s->now_us);
        if (is_judged) {
            session_judge(s);
        }
    }
    assert_int_equal(ph_viewer_get_stats(s->world, s->viewer, &stats), PH_OK);
    return (double)(stats.sent_updates - before) /
           (ENTITIES * (double)frames * (double)SESSION_FRAME_US * 1e-6);
}

// 10..110 degrees a second, either way.
static void turret(int entity, double seconds, double numbers[4])
{
    const double speed = (10.0 + entity) * (entity % 2 == 0 ? 1.0 : -1.0);
    const double turned = 37.0 * entity + speed * seconds;
    numbers[0] = turned - 360.0 * floor(turned / 360.0);
}

// Runs empty at 0.5..3 a second, and is filled.
static void gauge(int entity, double seconds, double numbers[4])
{
    const double rate = 0.5 + 2.5 * entity / ENTITIES;
    const double used = 7.0 * entity + rate * seconds;
    numbers[0] = 100.0 - (used - 100.0 * floor(used / 100.0));
}

// Faster and slower, in waves of 7..17 s.
static void speed(int entity, double seconds, double numbers[4])
{
    numbers[0] = 50.0 + 50.0 * sin(6.283 * seconds / (7.0 + 0.1 * entity));
}

static void arm(int entity, double seconds, double numbers[4])
{
    for (int i = 0; i < 3; ++i) {
        const double at = (entity + 1) * 0.01 * seconds * (i + 1);
        const double wave = at - 20.0 * floor(at / 20.0);
        numbers[i] = wave < 10.0 ? wave - 5.0 : 15.0 - wave;
    }
}

static void propeller(int entity, double seconds, double numbers[4])
{
    const double half = seconds * (0.2 + 0.01 * entity);
    numbers[0] = 0.6 * sin(half);
    numbers[1] = 0.0;
    numbers[2] = 0.8 * sin(half);
    numbers[3] = cos(half);
}

// With the most updates per entity and second that are taken for it, the largest mean error, and the largest of all
// where nothing jumps.
static const struct smooth_case {
    session_def def;
    double updates;
    double mean;
    double worst;
} CASES[] = {
    {{.coding = "angle 10", .truth = turret, .field = PH_FIELD_F64, .count = 1, .turn = 360.0},
     0.6,
     0.36,
     1.2},
    {{.coding = "fixed 0..100 step 0.1", .truth = gauge, .field = PH_FIELD_F64, .count = 1},
     0.5,
     0.3,
     101.0},
    {{.coding = "fixed 0..100 step 0.5", .truth = speed, .field = PH_FIELD_F64, .count = 1},
     3.0,
     0.7,
     4.0},
    {{.coding = "vec3 -5..5 step 0.01", .truth = arm, .field = PH_FIELD_F64X3, .count = 3},
     1.8,
     0.03,
     0.9},
    {{.coding = "quaternion 11", .truth = propeller, .field = PH_FIELD_F64X4, .count = 4},
     0.8,
     0.25,
     0.8},
};

enum { CASE_COUNT = sizeof CASES / sizeof CASES[0] };

typedef struct session_result {
    double updates;
    double kbps;
    double mean;
    double worst;
} session_result;

static session_result play(const session_def* def)
{
    session s;
    session_setup(&s, def);
    session_run(&s, 1500, false);
    const uint64_t before = ph_link_get_stats(s.down).sent_bytes;
    session_result result = {.updates = session_run(&s, 1500, true)};
    const uint64_t bytes = ph_link_get_stats(s.down).sent_bytes - before;
    result.kbps = 8e-3 * (double)bytes / (1500.0 * (double)SESSION_FRAME_US * 1e-6);
    result.mean = s.error_sum / s.error_count;
    result.worst = s.worst;
    session_teardown(&s);
    return result;
}

static void few_updates_show_it_right(void** state)
{
    (void)state;
    static const int BUDGETS[] = {0, 13000};
    for (int i = 0; i < CASE_COUNT; ++i) {
        for (int b = 0; b < 2; ++b) {
            session_def def = CASES[i].def;
            def.profile = PH_PROFILE_PINHOLE;
            def.bits_per_second = BUDGETS[b];
            const session_result plain = play(&def);
            def.is_smooth = true;
            const session_result smooth = play(&def);
            print_message(
                "%-22s %5d bit/s: updates %5.2f, smooth %4.2f; kbit/s %5.1f, smooth %4.1f; "
                "mean error %7.4f, smooth %6.4f\n",
                def.coding, BUDGETS[b], plain.updates, smooth.updates, plain.kbps, smooth.kbps,
                plain.mean, smooth.mean);
            assert_true(smooth.updates <= CASES[i].updates);
            assert_true(smooth.mean <= CASES[i].mean);
            assert_true(smooth.mean < plain.mean);
            assert_true(smooth.worst <= CASES[i].worst);
        }
    }
}

// It sends as much as without the mark, but what is shown is nearer to the truth.
static void classic_shows_it_nearer_to_the_truth(void** state)
{
    (void)state;
    for (int i = 0; i < CASE_COUNT; ++i) {
        session_def def = CASES[i].def;
        def.profile = PH_PROFILE_CLASSIC;
        const session_result plain = play(&def);
        def.is_smooth = true;
        const session_result smooth = play(&def);
        print_message(
            "%-22s classic: updates %5.2f, smooth %5.2f; mean error %7.4f, smooth %6.4f\n",
            def.coding, plain.updates, smooth.updates, plain.mean, smooth.mean);
        assert_true(smooth.updates == plain.updates);
        assert_true(smooth.mean < 0.8 * plain.mean);
    }
}

// Also where packets get lost: nothing runs on, and what rests is exactly what the property is.
static void what_stops_is_shown_at_rest(void** state)
{
    (void)state;
    for (int i = 0; i < CASE_COUNT; ++i) {
        session s;
        session_def def = CASES[i].def;
        def.profile = PH_PROFILE_PINHOLE;
        def.bits_per_second = 26000;
        def.loss = 0.1;
        def.is_smooth = true;
        session_setup(&s, &def);
        session_run(&s, 1000, false);
        s.frozen_us = s.now_us;
        session_run(&s, 250, false);
        session_run(&s, 50, true);
        assert_true(s.worst <= 2.0 * CASES[i].mean);
        session_run(&s, 850, false); // nothing is extrapolated for longer than 15 s
        for (int k = 0; k < ENTITIES; ++k) {
            double shown[4] = {0};
            double told[4] = {0};
            double truth[4];
            const ph_entity_id entity = ph_client_find(s.client, (uint64_t)(k + 1));
            assert_int_equal(ph_client_get_shown(s.client, entity, PROPERTY, shown), PH_OK);
            assert_int_equal(ph_client_get_property(s.client, entity, PROPERTY, def.field, told,
                                                    ph_field_size(def.field, 0)),
                             PH_OK);
            assert_int_equal(ph_world_get_property(s.world, s.entities[k], PROPERTY, def.field,
                                                   truth, ph_field_size(def.field, 0)),
                             PH_OK);
            assert_memory_equal(told, truth, ph_field_size(def.field, 0));
            for (int c = 0; c < def.count; ++c) {
                assert_true(def.count == 4 ? fabs(shown[c] - told[c]) < 1e-6 : shown[c] == told[c]);
            }
        }
        session_teardown(&s);
    }
}

static void a_delay_shows_the_past(void** state)
{
    (void)state;
    for (int i = 0; i < CASE_COUNT; ++i) {
        session_def def = CASES[i].def;
        def.profile = PH_PROFILE_PINHOLE;
        def.delay_ms = 300;
        def.is_smooth = true;
        const session_result smooth = play(&def);
        assert_true(smooth.mean <= 2.0 * CASES[i].mean);
    }
}

static void a_warm_session_allocates_nothing(void** state)
{
    (void)state;
    for (int i = 0; i < CASE_COUNT; ++i) {
        test_memory memory = {0};
        session s = {.def = CASES[i].def, .memory = &memory};
        char text[200];
        const int length = snprintf(text, sizeof text,
                                    "class d\nplace: position\nvalue: %s smooth\n", s.def.coding);
        s.def.is_smooth = true;
        s.def.profile = PH_PROFILE_PINHOLE;
        assert_int_equal(ph_schema_parse(text, (size_t)length, NULL, &s.schema, NULL), PH_OK);
        session_open(&s);
        session_run(&s, 500, false);
        const int count = memory.allocate_count;
        session_run(&s, 500, true);
        assert_int_equal(memory.allocate_count, count);
        session_teardown(&s);
        test_memory_assert_clean(&memory);
    }
}

// What a sender takes its client to know is what it knows, as soon as it has heard of everything.
static void compare_with_the_sender(int of_case, double loss)
{
    session s;
    session_def def = CASES[of_case].def;
    def.is_smooth = true;
    def.profile = PH_PROFILE_PINHOLE;
    def.loss = loss;
    def.link_us = 250000;
    session_setup(&s, &def);
    int compared = 0;
    for (int round = 0; round < 40; ++round) {
        session_run(&s, 25, false);
        const ph_viewer* viewer = &s.world->viewers.viewers[s.viewer.index1 - 1];
        const ph_replicas* replicas = &viewer->sender->replicas;
        for (int slot = 0; slot < ph_client_slot_count(s.client); ++slot) {
            if (ph_client_entity_at(s.client, slot).index1 == 0 ||
                ph_replicas_at(replicas, slot)->in_flight > 0) {
                continue;
            }
            const ph_number_motion* shown = &s.client->display.smooth.tracks[slot].number.motion;
            const ph_number_motion* taken = &replicas->estimates->smooth.sent[slot].number;
            assert_true(shown->value == taken->value);
            assert_true(fabs(shown->rate - taken->rate) < 1e-3);
            assert_int_equal(ph_number_motion_goes(shown), ph_number_motion_goes(taken));
            ++compared;
        }
    }
    assert_true(compared > 20 * ENTITIES);
    session_teardown(&s);
}

static void a_sender_knows_what_is_shown(void** state)
{
    (void)state;
    compare_with_the_sender(0, 0.0);
    compare_with_the_sender(2, 0.1);
}

// ---- both ends

// What both make of the same samples, to the last bit: by these a sender decides what to tell.
static void hear_at_both_ends(session* s, uint32_t tick_us, uint32_t tick, uint32_t value)
{
    const ph_viewer* viewer = &s->world->viewers.viewers[s->viewer.index1 - 1];
    ph_replicas replicas = viewer->sender->replicas;
    const ph_layout* layout = &replicas.rules.layouts->layouts[0];
    uint32_t words[8] = {0};
    words[layout->word[PROPERTY]] = value;
    const ph_flight_item item = {.properties = UINT64_C(1) << PROPERTY, .kind = PH_RECORD_UPDATE};
    replicas.rules.tick_us = tick_us;
    ph_smooth_estimate* sent = replicas.estimates->smooth.sent;
    (void)ph_smooth_estimates_add(&replicas, sent, &item, words, tick);
    const ph_smooth_sample sample = {
        .time_us = (int64_t)tick * tick_us, .words = words, .properties = UINT64_C(1) << PROPERTY};
    ph_smooth_display_add(&s->client->display.smooth, 0, layout, &sample);
    const ph_number_motion* shown = &s->client->display.smooth.tracks[0].number.motion;
    assert_int_equal(ph_number_motion_goes(shown), ph_number_motion_goes(&sent->number));
    assert_int_equal(shown->has_jumped, sent->number.has_jumped);
    assert_true(shown->value == sent->number.value);
    assert_true(shown->rate == sent->number.rate);
    assert_true(shown->rated_off == sent->number.rated_off);
    assert_true(shown->kept_off == sent->number.kept_off);
}

// Ramps of whole steps a tick, so that the truth is exactly between going on and standing, again and again.
static void both_ends_agree_whether_a_number_moves(void** state)
{
    (void)state;
    static const uint32_t TICKS_US[] = {50000, 16667, 62500, 33333, 100000, 7001};
    session s;
    const session_def def = {
        .coding = "range 0..100000", .is_smooth = true, .profile = PH_PROFILE_PINHOLE};
    session_setup(&s, &def);
    const ph_viewer* viewer = &s.world->viewers.viewers[s.viewer.index1 - 1];
    uint32_t random = 1;
    for (int round = 0; round < 3000; ++round) {
        const uint32_t tick_us = TICKS_US[round % 6];
        uint32_t tick = 1000;
        uint32_t value = 50000;
        ph_smooth_estimates_begin(&viewer->sender->replicas.estimates->smooth, 0);
        ph_smooth_display_enter(&s.client->display.smooth, 0);
        hear_at_both_ends(&s, tick_us, tick, value);
        for (int i = 0; i < 12; ++i) {
            random = random * 1664525 + 1013904223;
            const uint32_t ticks = round < 6 && i < 3 ? (uint32_t)((i + 1) * (i + 1)) // 1, 4, 9
                                                      : 1 + (random >> 8) % 9;
            const int rate = round < 6 && i < 3 ? (i == 1 ? 20 : 10) : 10 * (int)(random >> 16 & 3);
            tick += ticks;
            value += ticks * (uint32_t)((random >> 20 & 1) != 0 && round >= 6 ? -rate : rate);
            hear_at_both_ends(&s, tick_us, tick, value);
        }
    }
    session_teardown(&s);
}

// It stops beside the end of its range, which the client has clamped it to: nearly right, but not for ever.
static void what_stands_is_told_exactly_in_the_end(void** state)
{
    (void)state;
    session s;
    const session_def def = {
        .coding = "range 0..100", .is_smooth = true, .profile = PH_PROFILE_PINHOLE};
    session_setup(&s, &def);
    for (int tick = 0; tick < 120; ++tick, s.now_us += TICK_US) {
        const int64_t value = tick < 49 ? 2 * tick + 1 : 99;
        assert_int_equal(ph_world_set_property(s.world, s.entities[0], PROPERTY, PH_FIELD_I64,
                                               &value, sizeof value),
                         PH_OK);
        ph_world_tick(s.world);
        ph_world_send_all(s.world, s.now_us, deliver, &s);
        for (uint64_t i = 0; i < 5; ++i) {
            session_carry(&s);
            s.now_us += SESSION_FRAME_US;
            ph_client_advance(s.client, s.now_us);
        }
        s.now_us -= TICK_US;
    }
    double numbers[4];
    assert_int_equal(ph_client_get_shown(s.client, ph_client_find(s.client, 1), PROPERTY, numbers),
                     PH_OK);
    assert_true(numbers[0] == 99.0);
    session_teardown(&s);
}

// It stops at the very value that was told last, while the viewer is too far away to be told.
static void nothing_is_told_of_what_is_out_of_range(void** state)
{
    (void)state;
    session s;
    const session_def def = {
        .coding = "range 0..1000 distance 50", .is_smooth = true, .profile = PH_PROFILE_PINHOLE};
    session_setup(&s, &def);
    ph_viewer_stats before = {0};
    ph_viewer_stats after = {0};
    for (int tick = 0; tick < 60; ++tick, s.now_us += TICK_US) {
        const int64_t value = tick < 30 ? 10 * tick : 315;
        assert_int_equal(ph_world_set_property(s.world, s.entities[0], PROPERTY, PH_FIELD_I64,
                                               &value, sizeof value),
                         PH_OK);
        if (tick == 31) {
            assert_int_equal(ph_viewer_set_eye(s.world, s.viewer, 100000, 0, 0), PH_OK);
            assert_int_equal(ph_viewer_get_stats(s.world, s.viewer, &before), PH_OK);
        }
        ph_world_tick(s.world);
        ph_world_send_all(s.world, s.now_us, deliver, &s);
        session_carry(&s);
        ph_client_advance(s.client, s.now_us);
    }
    assert_int_equal(ph_viewer_get_stats(s.world, s.viewer, &after), PH_OK);
    assert_true(before.sent_updates > 0);
    assert_true(after.sent_updates == before.sent_updates);
    // Back again: now it is.
    assert_int_equal(ph_viewer_set_eye(s.world, s.viewer, 0, 0, 0), PH_OK);
    for (int tick = 0; tick < 20; ++tick, s.now_us += TICK_US) {
        ph_world_tick(s.world);
        ph_world_send_all(s.world, s.now_us, deliver, &s);
        session_carry(&s);
        for (int frame = 0; frame < 5; ++frame) {
            ph_client_advance(s.client, s.now_us + (uint64_t)frame * SESSION_FRAME_US);
        }
    }
    double numbers[4];
    assert_int_equal(ph_client_get_shown(s.client, ph_client_find(s.client, 1), PROPERTY, numbers),
                     PH_OK);
    assert_true(numbers[0] == 315.0);
    session_teardown(&s);
}

// A lid that is shut and open: never between.
static void lid(int entity, double seconds, double numbers[4])
{
    const bool is_open = ((int)seconds / 3 + entity) % 2 == 0;
    numbers[0] = is_open ? 0.0 : sqrt(0.5);
    numbers[1] = 0.0;
    numbers[2] = 0.0;
    numbers[3] = is_open ? 1.0 : sqrt(0.5);
}

static void a_rotation_that_jumps_is_shown_there_at_once(void** state)
{
    (void)state;
    session s;
    const session_def def = {.coding = "quaternion 11",
                             .truth = lid,
                             .field = PH_FIELD_F64X4,
                             .count = 4,
                             .is_smooth = true,
                             .profile = PH_PROFILE_PINHOLE};
    session_setup(&s, &def);
    session_run(&s, 500, false);
    int between = 0;
    for (int frame = 0; frame < 1000; ++frame) {
        session_run(&s, 1, false);
        for (int i = 0; i < ENTITIES; ++i) {
            double shown[4];
            assert_int_equal(ph_client_get_shown(s.client,
                                                 ph_client_find(s.client, (uint64_t)(i + 1)),
                                                 PROPERTY, shown),
                             PH_OK);
            const double x = fabs(shown[0]); // the sine of half of 0 or 90 degrees
            between += x > 0.17 && x < 0.57;
        }
    }
    assert_int_equal(between, 0);
    session_teardown(&s);
}

// ---- the digest

static void assert_in_the_digest(session* s, void* field)
{
    const uint64_t digest = ph_client_digest(s->client);
    *(uint8_t*)field ^= 1;
    assert_true(ph_client_digest(s->client) != digest);
    *(uint8_t*)field ^= 1;
    assert_true(ph_client_digest(s->client) == digest);
}

static void turn_is_in_the_digest(session* s, ph_turn_track* turn)
{
    void* fields[] = {&turn->time_us,         &turn->motion.rotation[3], &turn->motion.spin[2],
                      &turn->motion.is_there, &turn->shown[3],           &turn->motion.has_spin,
                      &turn->count,           &turn->is_shown,           &turn->jumps,
                      &turn->has_jumped,      &turn->seconds[4],         &turn->rotations[5][3]};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
        assert_in_the_digest(s, fields[i]);
    }
}

static void number_is_in_the_digest(session* s, ph_number_track* number)
{
    ph_number_motion* motion = &number->motion;
    void* fields[] = {&number->time_us,    &motion->value,      &motion->rate,
                      &motion->rated_off,  &motion->kept_off,   &motion->is_there,
                      &motion->has_jumped, &number->shown,      &number->count,
                      &number->is_shown,   &number->has_jumped, &number->jumps,
                      &number->values[5],  &number->seconds[4]};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
        assert_in_the_digest(s, fields[i]);
    }
}

// Two clients with one digest will show the same.
static void the_digest_has_what_is_shown(void** state)
{
    (void)state;
    static const char TEXT[] =
        "class d radius 2\nplace: position\nattitude: quaternion 11 orientation\n"
        "lift: vec3 -5..5 step 0.1 smooth\nturned: quaternion 11 smooth\n";
    session s = {.def.profile = PH_PROFILE_PINHOLE};
    assert_int_equal(ph_schema_parse(TEXT, sizeof TEXT - 1, NULL, &s.schema, NULL), PH_OK);
    session_open(&s);
    for (int tick = 0; tick < 10; ++tick, s.now_us += TICK_US) {
        ph_world_tick(s.world);
        ph_world_send_all(s.world, s.now_us, deliver, &s);
        session_carry(&s);
        ph_client_advance(s.client, s.now_us);
    }
    const ph_entity_id entity = ph_client_find(s.client, 1);
    const ph_client* owner;
    const int slot = ph_client_locate(s.client, entity, &owner);
    ph_display* display = &s.client->display;
    ph_smooth_track* parts = &display->smooth.tracks[slot * 4];
    assert_int_equal(display->smooth.parts, 4);
    turn_is_in_the_digest(&s, &display->turns[slot]);
    number_is_in_the_digest(&s, &parts[0].number);
    number_is_in_the_digest(&s, &parts[2].number);
    turn_is_in_the_digest(&s, &parts[3].turn);
    assert_in_the_digest(&s, &display->tracks[slot].finer);
    assert_in_the_digest(&s, &display->tracks[slot].former_finer);
    session_teardown(&s);
}

// ---- what a game asks

typedef struct tank {
    int32_t place_mm[3];
    float aim;
    uint8_t fuel;
    double lift[3];
    float turned[4];
    int16_t name;
} tank;

#define BOUND(type, member) .field = type, .offset = offsetof(tank, member)

static void the_struct_has_what_is_shown(void** state)
{
    (void)state;
    const ph_property_def properties[] = {
        {.name = "place", .coding = PH_CODING_POSITION, BOUND(PH_FIELD_I32X3, place_mm)},
        {.name = "aim", .coding = PH_CODING_ANGLE, .is_smooth = true, BOUND(PH_FIELD_F32, aim)},
        {.name = "fuel",
         .coding = PH_CODING_FIXED,
         .hi = 200,
         .step = 1,
         .is_smooth = true,
         BOUND(PH_FIELD_U8, fuel)},
        {.name = "lift",
         .coding = PH_CODING_VEC3,
         .lo = -10,
         .hi = 10,
         .step = 0.5,
         .is_smooth = true,
         BOUND(PH_FIELD_F64X3, lift)},
        {.name = "turned",
         .coding = PH_CODING_QUATERNION,
         .is_smooth = true,
         BOUND(PH_FIELD_F32X4, turned)},
        {.name = "name", .coding = PH_CODING_RANGE, .hi = 99, BOUND(PH_FIELD_I16, name)},
    };
    const ph_class_def type = {.name = "tank",
                               .properties = properties,
                               .property_count = sizeof properties / sizeof properties[0],
                               .struct_size = sizeof(tank)};
    ph_schema* schema = NULL;
    ph_error error;
    assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, &error), PH_OK);
    session s = {0};
    s.schema = schema;
    session_open(&s);
    for (int frame = 0; frame < 150; ++frame, s.now_us += SESSION_FRAME_US) {
        if (s.now_us % TICK_US == 0) {
            const double seconds = (double)s.now_us * 1e-6;
            const tank told = {.place_mm = {16, 32, 48},
                               .aim = (float)(seconds * 20.0),
                               .fuel = (uint8_t)(200.0 - seconds * 10.0),
                               .lift = {seconds, -seconds, 3.0},
                               .turned = {0.0f, 0.0f, (float)sin(seconds), (float)cos(seconds)},
                               .name = 42};
            assert_int_equal(ph_world_set_struct(s.world, s.entities[0], &told), PH_OK);
            ph_world_tick(s.world);
            ph_world_send_all(s.world, s.now_us, deliver, &s);
        }
        session_carry(&s);
        ph_client_advance(s.client, s.now_us);
    }
    const double seconds = (double)(s.now_us - SESSION_FRAME_US) * 1e-6;
    const ph_entity_id entity = ph_client_find(s.client, 1);
    tank shown = {.name = -1};
    assert_int_equal(ph_client_get_shown_struct(s.client, entity, &shown), PH_OK);
    assert_true(fabs((double)shown.aim - seconds * 20.0) < 2.0);
    assert_true(abs(shown.fuel - (int)(200.0 - seconds * 10.0)) <= 2);
    assert_true(fabs(shown.lift[0] - seconds) < 0.8 && fabs(shown.lift[1] + seconds) < 0.8);
    assert_true(shown.lift[2] == 3.0);
    assert_true(fabs(fabs((double)shown.turned[2]) - fabs(sin(seconds))) < 0.02);
    assert_int_equal(shown.place_mm[1], 32);
    assert_int_equal(shown.name, 42);
    double numbers[4] = {7.0, 7.0, 7.0, 7.0};
    assert_int_equal(ph_client_get_shown(s.client, entity, 2, numbers), PH_OK);
    assert_true(fabs(numbers[0] - (double)shown.fuel) <= 0.5 && numbers[1] == 7.0);
    assert_int_equal(ph_client_get_shown(s.client, entity, 5, numbers), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_client_get_shown(s.client, entity, 0, numbers), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_client_get_shown(s.client, entity, 6, numbers), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_client_get_shown(s.client, entity, -1, numbers), PH_ERROR_ARGUMENT);
    const ph_entity_id none = {0};
    assert_int_equal(ph_client_get_shown(s.client, none, 2, numbers), PH_ERROR_STALE);
    assert_int_equal(ph_client_get_shown_struct(s.client, none, &shown), PH_ERROR_STALE);
    session_teardown(&s);
}

typedef struct compass {
    int32_t place_mm[3];
    uint16_t whole;
    float real;
    double exact;
} compass;

#undef BOUND
#define BOUND(type, member) .field = type, .offset = offsetof(compass, member)

// 359.7 degrees are 360 in whole ones: that is 0, as in ph_client_get_struct().
static void the_struct_never_has_a_full_turn(void** state)
{
    (void)state;
    const ph_property_def properties[] = {
        {.name = "place", .coding = PH_CODING_POSITION, BOUND(PH_FIELD_I32X3, place_mm)},
        {.name = "whole",
         .coding = PH_CODING_ANGLE,
         .bits = 12,
         .is_smooth = true,
         BOUND(PH_FIELD_U16, whole)},
        {.name = "real",
         .coding = PH_CODING_ANGLE,
         .bits = 26,
         .is_smooth = true,
         BOUND(PH_FIELD_F32, real)},
        {.name = "exact",
         .coding = PH_CODING_ANGLE,
         .bits = 26,
         .is_smooth = true,
         BOUND(PH_FIELD_F64, exact)},
    };
    const ph_class_def type = {.name = "compass",
                               .properties = properties,
                               .property_count = sizeof properties / sizeof properties[0],
                               .struct_size = sizeof(compass)};
    session s = {0};
    ph_error error;
    assert_int_equal(ph_schema_create(&type, 1, NULL, &s.schema, &error), PH_OK);
    session_open(&s);
    const double numbers[] = {359.7, 359.999995, 359.999995};
    for (int p = 0; p < 3; ++p) {
        assert_int_equal(ph_world_set_property(s.world, s.entities[0], p + 1, PH_FIELD_F64,
                                               &numbers[p], sizeof numbers[p]),
                         PH_OK);
    }
    for (int tick = 0; tick < 20; ++tick, s.now_us += TICK_US) {
        ph_world_tick(s.world);
        ph_world_send_all(s.world, s.now_us, deliver, &s);
        session_carry(&s);
        ph_client_advance(s.client, s.now_us);
    }
    const ph_entity_id entity = ph_client_find(s.client, 1);
    compass shown = {.whole = 7};
    compass told = {.whole = 7};
    assert_int_equal(ph_client_get_struct(s.client, entity, &told), PH_OK);
    assert_int_equal(ph_client_get_shown_struct(s.client, entity, &shown), PH_OK);
    assert_true(shown.exact > 359.9999 && shown.exact < 360.0);
    assert_int_equal(told.whole, 0);
    assert_int_equal(shown.whole, 0);
    assert_true(told.real == 0.0f);
    assert_true(shown.real == 0.0f);
    session_teardown(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_changes_evenly_is_shown_where_it_is),
        cmocka_unit_test(what_comes_twice_stands),
        cmocka_unit_test(a_correction_is_no_jolt),
        cmocka_unit_test(a_jump_is_shown_at_once_and_goes_on_as_before),
        cmocka_unit_test(what_its_entity_jumped_with_is_shown_at_once),
        cmocka_unit_test(what_jitters_is_shown_as_told),
        cmocka_unit_test(it_stays_within_its_range),
        cmocka_unit_test(an_angle_goes_the_shorter_way_round),
        cmocka_unit_test(a_delay_goes_straight_from_sample_to_sample),
        cmocka_unit_test(few_updates_show_it_right),
        cmocka_unit_test(classic_shows_it_nearer_to_the_truth),
        cmocka_unit_test(what_stops_is_shown_at_rest),
        cmocka_unit_test(a_delay_shows_the_past),
        cmocka_unit_test(a_rotation_that_jumps_is_shown_there_at_once),
        cmocka_unit_test(a_warm_session_allocates_nothing),
        cmocka_unit_test(a_sender_knows_what_is_shown),
        cmocka_unit_test(both_ends_agree_whether_a_number_moves),
        cmocka_unit_test(what_stands_is_told_exactly_in_the_end),
        cmocka_unit_test(nothing_is_told_of_what_is_out_of_range),
        cmocka_unit_test(the_digest_has_what_is_shown),
        cmocka_unit_test(the_struct_has_what_is_shown),
        cmocka_unit_test(the_struct_never_has_a_full_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
