// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The promise: after the world stops changing, every client equals the world's quantised state,
// exactly: which entities are visible, every property within its distance and audience, references,
// texts. Whatever was lost, doubled or reordered before, and even if half of everything goes on
// being lost.

#include "support/test_session.h"

#include <pinhole/viewer.h>

#include <stdio.h>

enum { STEPS_MAX = 6000, WIDE_ROUNDS = 40 };

typedef struct stretch {
    session_schema schema;
    int sessions;
    int steps;
    int changes; // per step
} stretch;

static const stretch STRETCHES[] = {
    {SESSION_CREATURES, 10, 120, 12},
    {SESSION_WALKERS, 10, 120, 12},
    {SESSION_PEBBLES, 10, 120, 12},
    {SESSION_RANDOM, 30, 60, 8},
    {SESSION_CARRIED, 10, 120, 12},
};

static uint64_t packet_count;

// Half of the sessions stop losing packets when the world stops.
static void run_one(const session_def* def, const stretch* kind)
{
    static test_session session;
    session_setup(&session, def);
    for (int round = 0; round < 3; ++round) {
        for (int step = 0; step < kind->steps; ++step) {
            session_stir(&session, kind->changes);
            session_step(&session);
        }
        if (def->seed % 2 == 0 && round == 2) {
            session_set_network(&session, &(ph_link_def){.delay_us = def->network.delay_us});
        }
        session_settle(&session, STEPS_MAX);
    }
    packet_count += session.packet_count;
    session_teardown(&session);
}

static void run_all(ph_profile profile, ph_vision_kind vision)
{
    for (size_t k = 0; k < sizeof STRETCHES / sizeof STRETCHES[0]; ++k) {
        for (int i = 0; i < STRETCHES[k].sessions; ++i) {
            const session_def def = {
                .seed = 100 * k + (uint64_t)i + (vision == PH_VISION_GROUPS ? 1000 : 0),
                .is_restless = true,
                .reorder_wait_ms = i % 2 == 0 ? 30 : 0,
                .schema = STRETCHES[k].schema,
                .vision = vision,
                .profile = profile,
                .entity_count = 50,
                .viewer_count = 4,
                .network = {.delay_us = 20000u * (uint32_t)(i % 4),
                            .jitter_us = 90000u * (uint32_t)(i % 3),
                            .loss = 0.125 * (i % 5),
                            .duplication = 0.1 * (i % 3)},
            };
            run_one(&def, &STRETCHES[k]);
        }
    }
}

static void clients_equal_the_world_by_grid(void** state)
{
    (void)state;
    run_all(PH_PROFILE_CLASSIC, PH_VISION_GRID);
}

static void clients_equal_the_world_by_grid_in_pinhole(void** state)
{
    (void)state;
    run_all(PH_PROFILE_PINHOLE, PH_VISION_GRID);
}

static void clients_equal_the_world_by_groups(void** state)
{
    (void)state;
    run_all(PH_PROFILE_CLASSIC, PH_VISION_GROUPS);
}

static void clients_equal_the_world_by_groups_in_pinhole(void** state)
{
    (void)state;
    run_all(PH_PROFILE_PINHOLE, PH_VISION_GROUPS);
}

// ---- distances up to the greatest

typedef struct pair {
    ph_world* world;
    ph_client* client;
    ph_viewer_id viewer;
    uint64_t now_us;
} pair;

static void hand_over(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    const pair* of = context;
    assert_int_equal(ph_client_receive(of->client, of->now_us, bytes, size), PH_OK);
}

static void step_pair(pair* of)
{
    uint8_t ack[PH_ACK_SIZE];
    of->now_us += SESSION_TICK_US;
    ph_world_tick(of->world);
    assert_int_equal(ph_viewer_send(of->world, of->viewer, of->now_us, hand_over, of), PH_OK);
    const size_t size = ph_client_write_ack(of->client, of->now_us, ack);
    if (size > 0) {
        ph_viewer_receive_ack(of->world, of->viewer, of->now_us, ack, size);
    }
}

// A value that is sent so far, of an entity so far away: whether a change of it comes.
static bool is_told(ph_profile profile, double distance_m, int32_t x_mm, int32_t y_mm)
{
    const ph_property_def properties[] = {
        {.name = "place", .coding = PH_CODING_POSITION},
        {.name = "health", .coding = PH_CODING_RANGE, .hi = 100, .distance_m = distance_m},
    };
    const ph_class_def walker = {.name = "walker", .properties = properties, .property_count = 2};
    ph_schema* schema;
    assert_int_equal(ph_schema_create(&walker, 1, NULL, &schema, NULL), PH_OK);
    pair of = {.now_us = 1000000};
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = schema;
    world_def.profile = profile;
    world_def.radius_max_mm = INT32_MAX;
    assert_int_equal(ph_world_create(&world_def, &of.world), PH_OK);
    ph_viewer_def viewer_def = ph_viewer_def_default();
    viewer_def.radius_mm = INT32_MAX;
    viewer_def.session = 3;
    assert_int_equal(ph_world_add_viewer(of.world, &viewer_def, &of.viewer), PH_OK);
    ph_client_def client_def = ph_client_def_default();
    client_def.schema = schema;
    client_def.profile = profile;
    client_def.slot_capacity = 2 * viewer_def.visible_max;
    assert_int_equal(ph_client_create(&client_def, &of.client), PH_OK);
    ph_entity_id entity;
    assert_int_equal(
        ph_world_spawn(of.world, &(ph_spawn){.key = 7, .position_mm = {x_mm, y_mm, 0}}, &entity),
        PH_OK);
    for (int tick = 0; tick < 20; ++tick) {
        step_pair(&of);
    }
    const uint8_t health = 42;
    assert_int_equal(
        ph_world_set_property(of.world, entity, 1, PH_FIELD_U8, &health, sizeof health), PH_OK);
    for (int tick = 0; tick < 40; ++tick) {
        step_pair(&of);
    }
    uint8_t shown = 0;
    const ph_entity_id seen = ph_client_find(of.client, 7);
    assert_int_equal(ph_client_get_property(of.client, seen, 1, PH_FIELD_U8, &shown, sizeof shown),
                     PH_OK);
    ph_client_destroy(of.client);
    ph_world_destroy(of.world);
    ph_schema_destroy(schema);
    return shown == health;
}

// A schema allows 5,000 km. Squares of more than 2^32-1 mm do not fit 64 bits, and no entity is
// that far away.
static void the_greatest_distances_reach_every_viewer(void** state)
{
    (void)state;
    static const double DISTANCES_M[] = {4294967.295, 4294967.296, 4294967.297, 4294968.0,
                                         4500000.0,   5000000.0,   0.0};
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        for (size_t i = 0; i < sizeof DISTANCES_M / sizeof DISTANCES_M[0]; ++i) {
            assert_true(is_told((ph_profile)profile, DISTANCES_M[i], 10000, 0));
        }
        assert_true(is_told((ph_profile)profile, 2000.0, 2000000, 0));
        assert_false(is_told((ph_profile)profile, 2000.0, 2000001 + 32, 0));
        assert_true(is_told((ph_profile)profile, 2147483.0, 1518000000, 1518000000));
        assert_false(is_told((ph_profile)profile, 2146000.0, 1518000000, 1518000000));
    }
}

// ---- the whole range of every def

static void run_wide(ph_profile profile, int usual)
{
    static test_session session;
    const draw_rounds rounds = draw_rounds_of(usual);
    for (int i = rounds.first; i < rounds.end; ++i) {
        draw_begin(i);
        const session_def def = {
            .seed = 20000 + (uint64_t)i, .is_wide = true, .is_restless = true, .profile = profile};
        session_setup(&session, &def);
        for (int step = 0; step < session.wide.steps; ++step) {
            session_stir_wide(&session);
            session_step(&session);
        }
        session_settle_wide(&session);
        packet_count += session.packet_count;
        session_teardown(&session);
    }
    draw_end();
}

static void clients_equal_the_world_at_any_setting(void** state)
{
    (void)state;
    run_wide(PH_PROFILE_CLASSIC, WIDE_ROUNDS);
}

static void clients_equal_the_world_at_any_setting_in_pinhole(void** state)
{
    (void)state;
    run_wide(PH_PROFILE_PINHOLE, WIDE_ROUNDS);
}

static void many_packets_were_sent(void** state)
{
    (void)state;
    assert_true(packet_count > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_equal_the_world_by_grid),
        cmocka_unit_test(clients_equal_the_world_by_grid_in_pinhole),
        cmocka_unit_test(clients_equal_the_world_by_groups),
        cmocka_unit_test(clients_equal_the_world_by_groups_in_pinhole),
        cmocka_unit_test(the_greatest_distances_reach_every_viewer),
        draw_unit_test(clients_equal_the_world_at_any_setting),
        draw_unit_test(clients_equal_the_world_at_any_setting_in_pinhole),
        cmocka_unit_test(many_packets_were_sent),
    };
    draw_filter_tests();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
