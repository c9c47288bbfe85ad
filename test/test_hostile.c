// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The promise: bytes from outside do no harm. Random, mutated, replayed and forged ones, millions of
// them, in both directions: nothing breaks, what is refused leaves no trace, a session among rubbish
// goes on as if there were none, and a client that lies harms only itself.

#include "support/random_record.h"
#include "support/test_session.h"

#include "client/client_state.h"
#include "packet/header.h"
#include "tools/tools.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <string.h>

enum {
    STREAM_MAX = 400,
    VIEWERS = 4,
    BATCH = 64, // refused ones between two looks at the whole client
    WIDE_ROUNDS = 24,
};

typedef struct parcel {
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
} parcel;

// What an honest world sent to viewer 0.
static parcel stream[STREAM_MAX];
static int stream_count;
static test_session session;

static uint64_t below(test_rng* rng, uint64_t limit)
{
    return test_rng_below(rng, limit);
}

static session_def def_of(ph_profile profile, uint64_t seed)
{
    return (session_def){
        .seed = seed,
        .schema = (session_schema)(seed % SESSION_SCHEMA_COUNT),
        .vision = seed % 2 == 0 ? PH_VISION_GRID : PH_VISION_GROUPS,
        .profile = profile,
        .is_viewing_steady = true,
        .entity_count = 30,
        .viewer_count = VIEWERS,
        .visible_max = 8,
        .bits_per_second = 30000,
        .network = {.delay_us = 10000, .jitter_us = 50000, .loss = 0.1},
    };
}

// The whole range of every def field; of slots sometimes only. Budgets that settle soon: attacks are
// many, and each session is played four times.
static session_def wide_def_of(ph_profile profile, int round)
{
    return (session_def){
        .seed = 70000 + (uint64_t)round,
        .is_wide = true,
        .profile = profile,
        .is_viewing_steady = true,
        .viewer_count = VIEWERS,
        .bits_per_second = round % 8 == 1 ? 0 : 20000,
        .crowd_max = round % 4 == 0 ? 600 : 60,
        .slot_count_max = round % 8 == 0 ? 0 : 300,
    };
}

static void fill(test_rng* rng, uint8_t* bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)test_rng_next(rng);
    }
}

// ---- the client

static void record(test_session* from, int viewer, const void* bytes, size_t size)
{
    (void)from;
    if (viewer == 0 && stream_count < STREAM_MAX) {
        memcpy(stream[stream_count].bytes, bytes, size);
        stream[stream_count++].size = size;
    }
}

static void record_stream(const session_def* def)
{
    stream_count = 0;
    session_setup(&session, def);
    session_set_network(&session, &(ph_link_def){0});
    session.on_sent = record;
    for (int i = 0; i < 400 && stream_count < 60; ++i) {
        session_stir(&session, 10);
        session_step(&session);
    }
    assert_true(stream_count == 60 || def->is_wide);
}

// In the state after so many packets of the stream.
static ph_client* make_victim(int packets)
{
    ph_client_def def = ph_client_def_default();
    def.schema = session.schema;
    def.slot_capacity = session.def.is_wide ? session.viewers[0].def.slot_count : SESSION_SLOTS_MAX;
    def.profile = session.def.profile;
    def.ground = random_record_ground();
    ph_client* client;
    assert_int_equal(ph_client_create(&def, &client), PH_OK);
    for (int i = 0; i < packets; ++i) {
        ph_client_receive(client, 1000u * (unsigned)i, stream[i].bytes, stream[i].size);
    }
    return client;
}

static void flip_bits(test_rng* rng, parcel* it)
{
    for (uint64_t flips = 1 + below(rng, 4); flips > 0; --flips) {
        const uint64_t bit = below(rng, 8 * it->size);
        it->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

// Of the smallest one.
static size_t header_bytes(void)
{
    return session.def.profile == PH_PROFILE_PINHOLE ? 6 : 9;
}

// Rubbish of all kinds: from noise to the packet that is expected next, with a bit or two changed.
static void draw_rubbish(test_rng* rng, int expected, parcel* it)
{
    const uint64_t kind = below(rng, 8);
    if (kind < 2) {
        it->size = (size_t)below(rng, kind == 0 ? 24 : PH_PAYLOAD_MAX / 4);
        fill(rng, it->bytes, it->size);
        return;
    }
    const int from = kind < 6 ? expected : (int)below(rng, (uint64_t)stream_count);
    it->size = stream[from].size;
    memcpy(it->bytes, stream[from].bytes, it->size);
    switch (kind) {
    case 2: // the header, and noise behind it
        if (it->size > header_bytes()) {
            fill(rng, it->bytes + header_bytes(), it->size - header_bytes());
        }
        break;
    case 3:
        it->size = (size_t)below(rng, it->size);
        break;
    case 4: // two packets in one
        memcpy(it->bytes + it->size / 2, stream[from / 2].bytes,
               it->size - it->size / 2 < stream[from / 2].size ? it->size - it->size / 2
                                                               : stream[from / 2].size);
        break;
    default:
        flip_bits(rng, it);
        break;
    }
}

static uint64_t accepted_count; // of the profile under attack
static uint64_t refused_count;

// Some rubbish is legal: only the transport could tell. It is taken, and the attack goes on.
static void attack_client(uint64_t seed, int rounds)
{
    test_rng rng = {.state = seed};
    for (int round = 0; round < rounds; ++round) {
        const int known = (int)below(&rng, (uint64_t)stream_count);
        ph_client* victim = make_victim(known);
        uint64_t before = ph_client_digest(victim);
        for (int i = 0; i < BATCH; ++i) {
            parcel it;
            draw_rubbish(&rng, known, &it);
            const bool is_refused = ph_client_receive(victim, 1000000, it.bytes, it.size) != PH_OK;
            refused_count += is_refused;
            accepted_count += !is_refused;
            if (!is_refused || i % 16 == 15) {
                const uint64_t after = ph_client_digest(victim);
                assert_true(!is_refused || after == before);
                before = after;
            }
        }
        assert_true(ph_client_validate(victim));
        ph_client_destroy(victim);
    }
}

// Cheap noise, in great numbers, at one client.
static void flood_client(uint64_t seed, int count)
{
    test_rng rng = {.state = seed};
    ph_client* victim = make_victim(stream_count / 2);
    uint64_t before = ph_client_digest(victim);
    for (int i = 0; i < count; ++i) {
        uint8_t bytes[32];
        const size_t size = (size_t)below(&rng, sizeof bytes + 1);
        fill(&rng, bytes, size);
        if (i % 2 == 0 && size >= 4) {
            memcpy(bytes, stream[stream_count / 2].bytes, 4); // a number that is expected
        }
        const bool is_refused = ph_client_receive(victim, 1000000, bytes, size) != PH_OK;
        refused_count += is_refused;
        accepted_count += !is_refused;
        if (!is_refused || i % 1024 == 0) {
            const uint64_t after = ph_client_digest(victim);
            assert_true(!is_refused || after == before);
            before = after;
        }
    }
    assert_true(ph_client_validate(victim));
    ph_client_destroy(victim);
}

static void attack_clients(ph_profile profile)
{
    accepted_count = 0;
    refused_count = 0;
    for (uint64_t seed = 20; seed < 24; ++seed) {
        session_def def = def_of(profile, seed);
        def.network = (ph_link_def){0};
        record_stream(&def);
        attack_client(seed, 1000);
        flood_client(seed, 300000);
        session_teardown(&session);
    }
    assert_true(refused_count > 1300000);
    assert_true(accepted_count > 1000);
}

static void rubbish_to_a_client_leaves_no_trace(void** state)
{
    (void)state;
    attack_clients(PH_PROFILE_CLASSIC);
}

static void rubbish_to_a_pinhole_client_leaves_no_trace(void** state)
{
    (void)state;
    attack_clients(PH_PROFILE_PINHOLE);
}

// Some see so little, or are sent to so rarely, that there is nothing to change.
static void attack_wide_clients(ph_profile profile)
{
    const draw_rounds rounds = draw_rounds_of(WIDE_ROUNDS);
    for (int i = rounds.first; i < rounds.end; ++i) {
        draw_begin(i);
        const session_def def = wide_def_of(profile, i);
        record_stream(&def);
        if (stream_count > 0) {
            const int slots = session.viewers[0].def.slot_count;
            attack_client((uint64_t)i, 1 + 10000 / (slots + 100));
            flood_client((uint64_t)i, 2000);
        }
        session_teardown(&session);
    }
    draw_end();
}

static void rubbish_to_a_client_leaves_no_trace_at_any_setting(void** state)
{
    (void)state;
    attack_wide_clients(PH_PROFILE_CLASSIC);
}

static void rubbish_to_a_pinhole_client_leaves_no_trace_at_any_setting(void** state)
{
    (void)state;
    attack_wide_clients(PH_PROFILE_PINHOLE);
}

// ---- the world

static uint64_t refused_acks;

static void attack_world(test_rng* rng, int viewer)
{
    const session_viewer* from = &session.viewers[viewer];
    uint8_t bytes[PH_ACK_SIZE + 2];
    fill(rng, bytes, sizeof bytes);
    const uint64_t kind = below(rng, 4);
    size_t size = kind == 0 ? (size_t)below(rng, sizeof bytes + 1) : PH_ACK_SIZE;
    if (kind >= 2) {
        const uint32_t newest = from->def.session + (uint32_t)below(rng, 200);
        const uint64_t applied = kind == 2 ? test_rng_next(rng) : UINT64_MAX << below(rng, 64);
        ph_ack_write(&(ph_ack){.newest = newest, .applied = applied}, bytes);
    }
    const ph_result result =
        ph_viewer_receive_ack(session.world, from->id, session.now_us, bytes, size);
    assert_true(result == PH_OK || result == PH_ERROR_VALUE);
    refused_acks += result == PH_ERROR_VALUE;
}

static void attack_worlds(ph_profile profile)
{
    refused_acks = 0;
    for (uint64_t seed = 30; seed < 34; ++seed) {
        test_rng rng = {.state = seed};
        const session_def def = def_of(profile, seed);
        session_setup(&session, &def);
        session.viewers[0].is_mute = true;
        for (int step = 0; step < 100; ++step) {
            session_stir(&session, 10);
            session_step(&session);
            for (int i = 0; i < 3000; ++i) {
                attack_world(&rng, 0);
            }
            assert_true(ph_world_validate(session.world));
        }
        ph_viewer_stats stats;
        ph_viewer_get_stats(session.world, session.viewers[0].id, &stats);
        assert_true(stats.malformed_acks > 0 && stats.impossible_acks > 0);
        session_settle(&session, 2000); // the others
        session_teardown(&session);
    }
    assert_true(refused_acks > 1100000);
}

static void rubbish_to_a_world_breaks_nothing(void** state)
{
    (void)state;
    attack_worlds(PH_PROFILE_CLASSIC);
}

static void rubbish_to_a_pinhole_world_breaks_nothing(void** state)
{
    (void)state;
    attack_worlds(PH_PROFILE_PINHOLE);
}

static void attack_wide_worlds(ph_profile profile)
{
    const draw_rounds rounds = draw_rounds_of(WIDE_ROUNDS);
    for (int round = rounds.first; round < rounds.end; ++round) {
        draw_begin(round);
        test_rng rng = {.state = (uint64_t)round};
        const session_def def = wide_def_of(profile, round);
        session_setup(&session, &def);
        session.viewers[0].is_mute = true;
        for (int step = 0; step < session.wide.steps; ++step) {
            session_stir_wide(&session);
            session_step(&session);
            for (int i = 0; i < 300; ++i) {
                attack_world(&rng, 0);
            }
        }
        assert_true(ph_world_validate(session.world));
        session_settle_wide(&session); // the others
        session_teardown(&session);
    }
    draw_end();
}

static void rubbish_to_a_world_breaks_nothing_at_any_setting(void** state)
{
    (void)state;
    attack_wide_worlds(PH_PROFILE_CLASSIC);
}

static void rubbish_to_a_pinhole_world_breaks_nothing_at_any_setting(void** state)
{
    (void)state;
    attack_wide_worlds(PH_PROFILE_PINHOLE);
}

// ---- whole sessions

typedef enum attack {
    ATTACK_NONE,
    ATTACK_NETWORK, // rubbish and replays, in both directions, to all
    ATTACK_CLIENT,  // viewer 0 answers at random
} attack;

static test_rng attacker;
static parcel overheard[64]; // of any viewer
static uint64_t heard_count;

static void throw_rubbish(test_session* at, int viewer, const void* bytes, size_t size)
{
    session_viewer* victim = &at->viewers[viewer];
    parcel* heard = &overheard[heard_count % 64];
    memcpy(heard->bytes, bytes, size);
    heard->size = size;
    uint8_t ack[PH_ACK_SIZE];
    ph_client_write_ack(victim->client, at->now_us, ack);
    ++heard_count;
    for (int i = 0; i < 6; ++i) {
        parcel it;
        const parcel* old = &overheard[below(&attacker, heard_count < 64 ? heard_count : 64)];
        it.size = (size_t)below(&attacker, 100);
        fill(&attacker, it.bytes, it.size);
        const bool is_replay = i % 2 == 0;
        const ph_result result =
            ph_client_receive(victim->client, at->now_us, is_replay ? old->bytes : it.bytes,
                              is_replay ? old->size : it.size);
        const bool is_probe = result == PH_OK && is_replay; // one that said so before
        assert_true(result != PH_OK || is_probe);
        const bool is_random = below(&attacker, 2) == 0;
        assert_int_equal(ph_viewer_receive_ack(at->world, victim->id, at->now_us,
                                               is_random ? it.bytes : ack,
                                               is_random ? it.size : PH_ACK_SIZE - 1),
                         PH_ERROR_VALUE);
    }
}

// Now and then a lie is believed; that is the liar's loss.
static void lie(test_session* at, int viewer, const void* bytes, size_t size)
{
    (void)bytes;
    (void)size;
    if (viewer != 0) {
        return;
    }
    const session_viewer* liar = &at->viewers[0];
    for (int i = 0; i < 8; ++i) {
        ph_ack ack = {.newest = liar->def.session + (uint32_t)below(&attacker, 300)};
        ack.applied = i % 2 == 0 ? UINT64_MAX >> below(&attacker, 64) : test_rng_next(&attacker);
        uint8_t forged[PH_ACK_SIZE];
        ph_ack_write(&ack, forged);
        ph_viewer_receive_ack(at->world, liar->id, at->now_us, forged, sizeof forged);
    }
}

static void play(const session_def* def, attack how, uint64_t hashes[VIEWERS])
{
    attacker = (test_rng){.state = def->seed + 1};
    heard_count = 0;
    session_setup(&session, def);
    session.on_received = how == ATTACK_NETWORK ? throw_rubbish : how == ATTACK_CLIENT ? lie : NULL;
    session.viewers[0].is_mute = how == ATTACK_CLIENT;
    const int steps = def->is_wide ? session.wide.steps : 120;
    for (int step = 0; step < steps; ++step) {
        session_stir(&session, 10);
        session_step(&session);
    }
    for (int i = 0; i < VIEWERS; ++i) {
        hashes[i] = ph_hash_value(&session.viewers[i].packets);
    }
    if (def->is_wide) {
        session_settle_wide(&session);
    } else {
        session_settle(&session, 2000);
    }
    session_teardown(&session);
}

// Every viewer from the first is sent the same, whatever happens.
static void compare_def(const session_def* def, attack how, int first)
{
    uint64_t quiet[VIEWERS];
    uint64_t noisy[VIEWERS];
    play(def, ATTACK_NONE, quiet);
    play(def, how, noisy);
    for (int i = 0; i < first && !def->is_wide; ++i) {
        assert_int_not_equal(quiet[i], noisy[i]);
    }
    for (int i = first; i < VIEWERS; ++i) {
        if (quiet[i] != noisy[i]) {
            fail_msg("profile %d, seed %llu: viewer %d was sent something else", (int)def->profile,
                     (unsigned long long)def->seed, i);
        }
    }
}

static void compare(ph_profile profile, uint64_t seed, attack how, int first)
{
    const session_def def = def_of(profile, seed);
    compare_def(&def, how, first);
}

static void compare_wide(ph_profile profile)
{
    const draw_rounds rounds = draw_rounds_of(WIDE_ROUNDS);
    for (int i = rounds.first; i < rounds.end; ++i) {
        draw_begin(i);
        const session_def def = wide_def_of(profile, i);
        compare_def(&def, ATTACK_NETWORK, 0);
        compare_def(&def, ATTACK_CLIENT, 1);
    }
    draw_end();
}

static void attacks_change_nothing_at_any_setting(void** state)
{
    (void)state;
    compare_wide(PH_PROFILE_CLASSIC);
}

static void attacks_change_nothing_at_any_setting_in_pinhole(void** state)
{
    (void)state;
    compare_wide(PH_PROFILE_PINHOLE);
}

static void rubbish_on_the_network_changes_nothing(void** state)
{
    (void)state;
    for (uint64_t seed = 40; seed < 46; ++seed) {
        compare(PH_PROFILE_CLASSIC, seed, ATTACK_NETWORK, 0);
        compare(PH_PROFILE_PINHOLE, seed, ATTACK_NETWORK, 0);
    }
}

static void a_client_that_lies_harms_no_other(void** state)
{
    (void)state;
    for (uint64_t seed = 50; seed < 56; ++seed) {
        compare(PH_PROFILE_CLASSIC, seed, ATTACK_CLIENT, 1);
        compare(PH_PROFILE_PINHOLE, seed, ATTACK_CLIENT, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rubbish_to_a_client_leaves_no_trace),
        cmocka_unit_test(rubbish_to_a_pinhole_client_leaves_no_trace),
        cmocka_unit_test(rubbish_to_a_world_breaks_nothing),
        cmocka_unit_test(rubbish_to_a_pinhole_world_breaks_nothing),
        cmocka_unit_test(rubbish_on_the_network_changes_nothing),
        cmocka_unit_test(a_client_that_lies_harms_no_other),
        draw_unit_test(rubbish_to_a_client_leaves_no_trace_at_any_setting),
        draw_unit_test(rubbish_to_a_pinhole_client_leaves_no_trace_at_any_setting),
        draw_unit_test(rubbish_to_a_world_breaks_nothing_at_any_setting),
        draw_unit_test(rubbish_to_a_pinhole_world_breaks_nothing_at_any_setting),
        draw_unit_test(attacks_change_nothing_at_any_setting),
        draw_unit_test(attacks_change_nothing_at_any_setting_in_pinhole),
    };
    draw_filter_tests();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
