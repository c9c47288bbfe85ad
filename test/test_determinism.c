// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The promise: same inputs, same bytes, whatever the compiler, the optimisation or the memory. One
// golden number for each profile stands for every byte of every packet of four sessions; each build
// that runs the tests compares with it. It changes with the wire and with what is sent when, and with nothing
// else; a change on purpose takes the number that the failing test prints.

#include "support/test_memory.h"
#include "support/test_session.h"

static const uint64_t GOLDEN[PH_PROFILE_COUNT] = {
    [PH_PROFILE_CLASSIC] = UINT64_C(0xDF7D6DCF3A4B0AD1),
    [PH_PROFILE_PINHOLE] = UINT64_C(0xFDE437990F5D7B09),
};

// The same of drawn worlds, from the whole range of every def field: of the first WIDE_ROUNDS of them.
static const uint64_t GOLDEN_WIDE[PH_PROFILE_COUNT] = {
    [PH_PROFILE_CLASSIC] = UINT64_C(0x2DCEFED759A9AAC7),
    [PH_PROFILE_PINHOLE] = UINT64_C(0x0F46EC87BE6F33AC),
};

enum { STEPS = 150, WIDE_ROUNDS = 40 };

static uint64_t play(ph_profile profile, session_schema schema, ph_vision_kind vision,
                     ph_allocator allocator)
{
    static test_session session;
    const session_def def = {
        .seed = 77 + (uint64_t)schema,
        .schema = schema,
        .vision = vision,
        .profile = profile,
        .entity_count = 60,
        .viewer_count = 4,
        .bits_per_second = 20000,
        .network = {.delay_us = 40000, .jitter_us = 80000, .loss = 0.1, .duplication = 0.05},
        .allocator = allocator,
    };
    session_setup(&session, &def);
    ph_hash hash = ph_hash_make(0);
    for (int step = 0; step < STEPS; ++step) {
        session_stir(&session, 15);
        session_step(&session);
        for (int i = 0; i < SESSION_VIEWERS_MAX; ++i) {
            ph_hash_add_u64(&hash, ph_hash_value(&session.viewers[i].packets));
        }
    }
    assert_true(session.packet_count > 200);
    session_teardown(&session);
    return ph_hash_value(&hash);
}

static uint64_t play_all(ph_profile profile, ph_allocator allocator)
{
    ph_hash hash = ph_hash_make(0);
    for (int schema = 0; schema < SESSION_SCHEMA_COUNT; ++schema) {
        const ph_vision_kind vision = schema % 2 == 0 ? PH_VISION_GRID : PH_VISION_GROUPS;
        ph_hash_add_u64(&hash, play(profile, (session_schema)schema, vision, allocator));
    }
    return ph_hash_value(&hash);
}

static void check(ph_profile profile, ph_allocator allocator)
{
    const uint64_t hash = play_all(profile, allocator);
    if (hash != GOLDEN[profile]) {
        fail_msg("profile %d: the packets are others: 0x%016llX", (int)profile,
                 (unsigned long long)hash);
    }
}

static void every_build_sends_the_golden_bytes(void** state)
{
    (void)state;
    check(PH_PROFILE_CLASSIC, (ph_allocator){0});
}

static void every_build_sends_the_golden_bytes_of_pinhole(void** state)
{
    (void)state;
    check(PH_PROFILE_PINHOLE, (ph_allocator){0});
}

// Fresh memory is full of rubbish here.
static void what_memory_held_before_does_not_matter(void** state)
{
    (void)state;
    test_memory memory = {0};
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        check((ph_profile)profile, test_memory_allocator(&memory));
    }
    test_memory_assert_clean(&memory);
}

// Otherwise the number would stand for nothing.
static void other_sessions_send_other_bytes(void** state)
{
    (void)state;
    for (int i = 0; i < PH_PROFILE_COUNT; ++i) {
        const ph_profile profile = (ph_profile)i;
        const ph_allocator allocator = {0};
        const uint64_t walkers = play(profile, SESSION_WALKERS, PH_VISION_GRID, allocator);
        assert_int_equal(play(profile, SESSION_WALKERS, PH_VISION_GRID, allocator), walkers);
        assert_int_not_equal(play(profile, SESSION_PEBBLES, PH_VISION_GRID, allocator), walkers);
    }
}

// ---- the whole range of every def

static uint64_t play_wide(ph_profile profile, int round, ph_allocator allocator)
{
    static test_session session;
    const session_def def = {.seed = 60000 + (uint64_t)round,
                             .is_wide = true,
                             .is_restless = true,
                             .profile = profile,
                             .crowd_max = 1000,
                             .allocator = allocator};
    session_setup(&session, &def);
    ph_hash hash = ph_hash_make(0);
    for (int step = 0; step < session.wide.steps; ++step) {
        session_stir_wide(&session);
        session_step(&session);
        for (int i = 0; i < SESSION_VIEWERS_MAX; ++i) {
            ph_hash_add_u64(&hash, ph_hash_value(&session.viewers[i].packets));
        }
    }
    session_teardown(&session);
    return ph_hash_value(&hash);
}

static void play_all_wide(ph_profile profile)
{
    const draw_rounds rounds = draw_rounds_of(WIDE_ROUNDS);
    test_memory memory = {0};
    ph_hash all = ph_hash_make(0);
    for (int i = rounds.first; i < rounds.end; ++i) {
        draw_begin(i);
        const uint64_t hash = play_wide(profile, i, (ph_allocator){0});
        if (play_wide(profile, i, test_memory_allocator(&memory)) != hash) {
            fail_msg("profile %d, round %d: the packets depend on the memory", (int)profile, i);
        }
        ph_hash_add_u64(&all, hash);
    }
    draw_end();
    test_memory_assert_clean(&memory);
    const bool is_usual = rounds.first == 0 && rounds.end == WIDE_ROUNDS;
    if (is_usual && ph_hash_value(&all) != GOLDEN_WIDE[profile]) {
        fail_msg("profile %d: the packets are others: 0x%016llX", (int)profile,
                 (unsigned long long)ph_hash_value(&all));
    }
}

static void every_build_sends_the_golden_bytes_at_any_setting(void** state)
{
    (void)state;
    play_all_wide(PH_PROFILE_CLASSIC);
}

static void every_build_sends_the_golden_bytes_at_any_setting_in_pinhole(void** state)
{
    (void)state;
    play_all_wide(PH_PROFILE_PINHOLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_build_sends_the_golden_bytes),
        cmocka_unit_test(every_build_sends_the_golden_bytes_of_pinhole),
        cmocka_unit_test(what_memory_held_before_does_not_matter),
        cmocka_unit_test(other_sessions_send_other_bytes),
        draw_unit_test(every_build_sends_the_golden_bytes_at_any_setting),
        draw_unit_test(every_build_sends_the_golden_bytes_at_any_setting_in_pinhole),
    };
    draw_filter_tests();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
