// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whole sessions of the pinhole profile between the world and real clients, over networks that lose,
// double and reorder: both ends agree on the baselines of every packet that counts, every bit is in
// the ledger, no viewer is sent more than its budget, and in the end every client has everything
// exactly. It is the session that compares the baselines (session_baselines.h).

#include "support/test_session.h"

#include "world/world_state.h"
#include "tools/tools.h"

#include <pinhole/stats.h>

enum { STEPS = 150, STEPS_MAX = 6000 };

static session_def make_def(uint64_t seed, session_schema schema)
{
    return (session_def){
        .seed = seed,
        .schema = schema,
        .profile = PH_PROFILE_PINHOLE,
        .entity_count = 50,
        .viewer_count = 4,
        .is_viewing_steady = true,
        .network = {.delay_us = 20000u * (uint32_t)(seed % 4),
                    .jitter_us = 90000u * (uint32_t)(seed % 3),
                    .loss = 0.125 * (double)(seed % 5),
                    .duplication = 0.1 * (double)(seed % 3)},
    };
}

// @return How many packets were compared by baselines.
static uint64_t end(test_session* session)
{
    uint64_t compared = 0;
    for (int viewer = 0; viewer < session->def.viewer_count; ++viewer) {
        compared += session->viewers[viewer].baselines.compared_count;
    }
    session_teardown(session);
    return compared;
}

static void stir(test_session* session, int steps, int changes)
{
    for (int step = 0; step < steps; ++step) {
        session_stir(session, changes);
        session_step(session);
        assert_true(ph_world_validate(session->world));
    }
}

static const session_schema SCHEMAS[] = {SESSION_CREATURES, SESSION_WALKERS, SESSION_PEBBLES,
                                         SESSION_RANDOM};

static void both_ends_agree_and_end_up_equal(void** state)
{
    (void)state;
    static test_session session;
    uint64_t compared = 0;
    for (uint64_t seed = 0; seed < 24; ++seed) {
        const session_def def = make_def(seed, SCHEMAS[seed % 4]);
        session_setup(&session, &def);
        for (int round = 0; round < 2; ++round) {
            stir(&session, STEPS, 12);
            session_settle(&session, STEPS_MAX);
        }
        compared += end(&session);
    }
    assert_true(compared > 5000);
}

// The same differences without the models.
static void universal_codes_end_up_equal_too(void** state)
{
    (void)state;
    static test_session session;
    uint64_t compared = 0;
    for (uint64_t seed = 200; seed < 206; ++seed) {
        session_def def = make_def(seed, SCHEMAS[seed % 4]);
        def.is_universal = true;
        session_setup(&session, &def);
        stir(&session, STEPS, 12);
        session_settle(&session, STEPS_MAX);
        compared += end(&session);
    }
    assert_true(compared > 500);
}

// ---- the ledger

static void every_bit_is_in_the_ledger(void** state)
{
    (void)state;
    static test_session session;
    for (uint64_t seed = 100; seed < 108; ++seed) {
        const session_def def = make_def(seed, SCHEMAS[seed % 4]);
        session_setup(&session, &def);
        stir(&session, STEPS, 12);
        for (int viewer = 0; viewer < def.viewer_count; ++viewer) {
            ph_viewer_stats stats;
            assert_int_equal(ph_viewer_get_stats(session.world, session.viewers[viewer].id, &stats),
                             PH_OK);
            uint64_t sum = 0;
            for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
                sum += stats.ledger.bits256[reason];
            }
            assert_int_equal(sum, 2048 * stats.sent_payload_bytes);
            assert_true(stats.ledger.resent_bits256 <= sum);
            uint64_t properties = 0;
            for (int class_index = 0; class_index < session.world->store.class_count;
                 ++class_index) {
                for (int p = 0; p < session_property_count(&session, class_index); ++p) {
                    properties += ph_viewer_property_bits256(
                        session.world, session.viewers[viewer].id, class_index, p);
                }
            }
            assert_int_equal(properties, stats.ledger.bits256[PH_REASON_PROPERTY]);
        }
        session_teardown(&session);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_agree_and_end_up_equal),
        cmocka_unit_test(universal_codes_end_up_equal_too),
        cmocka_unit_test(every_bit_is_in_the_ledger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
