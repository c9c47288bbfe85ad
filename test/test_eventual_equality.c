// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The promise: after the world stops changing, every client equals the world's quantised state,
// exactly: who is visible, every property within its distance and audience, references, texts.
// Whatever was lost, doubled or reordered before, and even if half of everything goes on being lost.

#include "support/test_session.h"

#include <stdio.h>

enum { STEPS_MAX = 6000 };

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
                .schema = STRETCHES[k].schema,
                .vision = vision,
                .profile = profile,
                .entity_count = 50,
                .viewer_count = 4,
                .network = {.delay_us = 20000u * (uint32_t)(i % 4),
                            .jitter_us = 90000u * (uint32_t)(i % 3),
                            .loss = 0.125 * (i % 5),
                            .doubling = 0.1 * (i % 3)},
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
        cmocka_unit_test(many_packets_were_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
