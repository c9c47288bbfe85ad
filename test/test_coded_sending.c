// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whole sessions of the pinhole profile between the world and real clients, over networks that lose,
// double and reorder: both ends agree on the baselines of every packet that counts, every bit is in
// the ledger, nobody spends more than it may, and in the end everybody has everything exactly.

#include "support/test_memory.h"
#include "support/test_session.h"

#include "client/client_state.h"
#include "world/sender.h"
#include "world/world_state.h"

enum { STEPS = 150, STEPS_MAX = 6000, REMEMBERED = 256 };

static struct {
    uint64_t digests[SESSION_VIEWERS_MAX][REMEMBERED]; // by number of the packet
    uint64_t packets[SESSION_VIEWERS_MAX];
    uint64_t applied[SESSION_VIEWERS_MAX];
    uint64_t compared;
    uint64_t updates;
} seen;

static const ph_sender* sender_of(const test_session* session, int viewer)
{
    const uint32_t index = session->viewers[viewer].id.index1 - 1;
    return session->world->viewers.viewers[index].sender;
}

// ---- what each end takes for known

static uint64_t digest_of(const test_session* session, const ph_sender* sender)
{
    const ph_world* world = session->world;
    const ph_baseline_rules rules = {
        .layouts = &world->forms.layouts,
        .packings = world->forms.packings,
        .tick_us = world->def.tick_us,
    };
    ph_hash hash = ph_hash_make(0);
    for (int slot = 0; slot < sender->knowledge.slot_count; ++slot) {
        ph_hash_add_u64(&hash,
                        ph_baseline_digest(&sender->baselines.slots[slot],
                                           ph_knowledge_known(&sender->knowledge, slot), &rules));
    }
    return ph_hash_value(&hash);
}

static void remember(test_session* session, int viewer, const void* bytes, size_t size)
{
    (void)bytes;
    (void)size;
    const ph_sender* sender = sender_of(session, viewer);
    if (sender->packet_count != seen.packets[viewer]) { // no probe
        seen.packets[viewer] = sender->packet_count;
        seen.digests[viewer][sender->newest % REMEMBERED] = digest_of(session, sender);
    }
}

static void compare(test_session* session, int viewer, const void* bytes, size_t size)
{
    (void)bytes;
    (void)size;
    const ph_client* client = session->viewers[viewer].client;
    const ph_client_stats stats = ph_client_get_stats(client);
    if (stats.applied == seen.applied[viewer]) {
        return;
    }
    seen.applied[viewer] = stats.applied;
    if (ph_client_baseline_digest(client) !=
        seen.digests[viewer][stats.newest_number % REMEMBERED]) {
        fail_msg("%s: viewer %d has other baselines for packet %u", session_label(session), viewer,
                 (unsigned)stats.newest_number);
    }
    ++seen.compared;
}

// ---- sessions

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
                    .doubling = 0.1 * (double)(seed % 3)},
    };
}

static void begin(test_session* session, const session_def* def)
{
    memset(&seen.packets, 0, sizeof seen.packets);
    memset(&seen.applied, 0, sizeof seen.applied);
    session_setup(session, def);
    session->on_sent = remember;
    session->on_received = compare;
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
    seen.compared = 0;
    for (uint64_t seed = 0; seed < 24; ++seed) {
        const session_def def = make_def(seed, SCHEMAS[seed % 4]);
        begin(&session, &def);
        for (int round = 0; round < 2; ++round) {
            stir(&session, STEPS, 12);
            session_settle(&session, STEPS_MAX);
        }
        session_teardown(&session);
    }
    assert_true(seen.compared > 5000);
}

// The same differences without the models.
static void universal_codes_end_up_equal_too(void** state)
{
    (void)state;
    static test_session session;
    seen.compared = 0;
    for (uint64_t seed = 200; seed < 206; ++seed) {
        session_def def = make_def(seed, SCHEMAS[seed % 4]);
        def.is_universal = true;
        begin(&session, &def);
        stir(&session, STEPS, 12);
        session_settle(&session, STEPS_MAX);
        session_teardown(&session);
    }
    assert_true(seen.compared > 500);
}

// ---- the ledger

static void every_bit_is_in_the_ledger(void** state)
{
    (void)state;
    static test_session session;
    for (uint64_t seed = 100; seed < 108; ++seed) {
        const session_def def = make_def(seed, SCHEMAS[seed % 4]);
        begin(&session, &def);
        stir(&session, STEPS, 12);
        for (int viewer = 0; viewer < def.viewer_count; ++viewer) {
            ph_viewer_stats stats;
            assert_int_equal(
                ph_world_viewer_stats(session.world, session.viewers[viewer].id, &stats), PH_OK);
            uint64_t sum = 0;
            for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
                sum += stats.ledger.bits256[reason];
            }
            assert_int_equal(sum, 2048 * stats.payload_bytes);
            assert_true(stats.ledger.repeat_bits256 <= sum);
            uint64_t properties = 0;
            for (int class_index = 0; class_index < session.world->class_count; ++class_index) {
                for (int p = 0; p < session_property_count(&session, class_index); ++p) {
                    properties += ph_world_property_bits256(
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
