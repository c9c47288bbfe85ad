// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Acknowledgements of many viewers at once: the same as one by one, whatever they say. And sends that were
// fetched before: the same as others.

#include "support/test_support.h"
#include "support/small_world.h"

#include "wire/ack.h"

enum { VIEWERS = 150, ENTITIES = 20, ROUNDS = 60, TICK_US = 100000 };
#define SESSION 77

typedef struct fixture {
    small_world f;
    ph_entity_id entities[ENTITIES];
    ph_viewer_id viewers[VIEWERS];
    uint32_t newest[VIEWERS];
    ph_answer answers[VIEWERS];
    uint8_t bytes[VIEWERS][PH_ACK_SIZE];
} fixture;

static fixture one_by_one; // too large for a stack
static fixture together;

static void setup(fixture* x, ph_profile profile)
{
    small_world_setup(&x->f, ENTITIES);
    x->f.def.viewer_capacity = VIEWERS;
    x->f.def.profile = profile;
    small_world_again(&x->f);
    for (int i = 0; i < ENTITIES; ++i) {
        x->entities[i] = small_world_spawn_at(&x->f, (uint64_t)i + 1, 100 * i, 0);
    }
    ph_viewer_def def = ph_viewer_def_default();
    def.session = SESSION;
    def.bits_per_second = 20000;
    for (int i = 0; i < VIEWERS; ++i) {
        assert_int_equal(ph_world_add_viewer(x->f.world, &def, &x->viewers[i]), PH_OK);
        x->newest[i] = SESSION;
    }
}

static void count(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    (void)bytes;
    (void)size;
    ++*(uint32_t*)context;
}

static void step(fixture* x, int round)
{
    for (int i = 0; i < ENTITIES; ++i) {
        const int32_t place_mm[3] = {100 * i, 37 * round + i, 0};
        assert_int_equal(
            ph_world_set(x->f.world, x->entities[i], POSITION, PH_FIELD_I32X3, place_mm, 12),
            PH_OK);
    }
    ph_world_tick(x->f.world);
    for (int i = 0; i < VIEWERS; ++i) {
        const uint64_t now_us = (uint64_t)(round + 1) * TICK_US;
        for (int turns = 0; x == &together && turns <= PH_FETCH_TURNS + 1; ++turns) {
            ph_world_fetch(x->f.world, x->viewers[(i + turns) % VIEWERS],
                           turns); // also who has gone
        }
        if (x == &together) {
            ph_world_follow(x->f.world, x->viewers[i], x->viewers[(i + 1) % VIEWERS]);
        }
        ph_world_send(x->f.world, x->viewers[i], now_us, count, &x->newest[i]);
    }
}

// Some of what a client would say (every third one gets nothing, the others everything), some of what
// nobody would, in any order, also twice.
static void answer(fixture* x, test_rng* rng)
{
    for (int i = 0; i < VIEWERS; ++i) {
        const int who = (int)test_rng_below(rng, VIEWERS);
        const uint32_t newest = x->newest[who] + 1 - (uint32_t)test_rng_below(rng, 4);
        const uint32_t count = newest - SESSION; // more than 2^31: none yet
        const uint64_t all = count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
        const ph_ack ack = {
            .newest = newest,
            .applied = test_rng_below(rng, 4) == 0 ? test_rng_next(rng)
                       : who % 3 == 0              ? 0
                                                   : all,
        };
        ph_ack_write(&ack, x->bytes[i]);
        const bool is_short = test_rng_below(rng, 20) == 0;
        x->answers[i] = (ph_answer){
            .viewer = x->viewers[who], .bytes = x->bytes[i], .size = is_short ? 5 : PH_ACK_SIZE};
    }
}

// @return How many packets have been applied so far.
static uint64_t compare_all(void)
{
    uint64_t applied = 0;
    for (int i = 0; i < VIEWERS; ++i) {
        ph_viewer_stats a = {0};
        ph_viewer_stats b = {0};
        assert_int_equal(one_by_one.answers[i].result, together.answers[i].result);
        assert_int_equal(ph_world_viewer_stats(one_by_one.f.world, one_by_one.viewers[i], &a),
                         ph_world_viewer_stats(together.f.world, together.viewers[i], &b));
        assert_memory_equal(&a, &b, sizeof a);
        applied += a.resolved - a.lost;
    }
    return applied;
}

static void run(ph_profile profile)
{
    test_rng rng = {.state = 1811};
    setup(&one_by_one, profile);
    setup(&together, profile);
    int counts[PH_RESULT_COUNT] = {0};
    uint64_t applied = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        const uint64_t now_us = (uint64_t)(round + 1) * TICK_US + 1000;
        step(&one_by_one, round);
        step(&together, round);
        test_rng same = rng;
        answer(&one_by_one, &rng);
        answer(&together, &same);
        for (int i = 0; i < VIEWERS; ++i) {
            ph_answer* a = &one_by_one.answers[i];
            a->result =
                ph_world_acknowledge(one_by_one.f.world, a->viewer, now_us, a->bytes, a->size);
            ++counts[a->result];
        }
        ph_world_acknowledge_all(together.f.world, now_us, together.answers, VIEWERS);
        if (round == ROUNDS / 2) {
            ph_world_remove_viewer(one_by_one.f.world, one_by_one.viewers[3]);
            ph_world_remove_viewer(together.f.world, together.viewers[3]);
        }
        applied = compare_all();
    }
    assert_true(applied > 10 * VIEWERS);
    assert_true(counts[PH_OK] > 100 && counts[PH_ERROR_VALUE] > 100 && counts[PH_ERROR_STALE] > 5);
    small_world_teardown(&one_by_one.f);
    small_world_teardown(&together.f);
}

static void many_at_once_are_as_one_by_one(void** state)
{
    (void)state;
    run(PH_PROFILE_CLASSIC);
    run(PH_PROFILE_PINHOLE);
}

static void nothing_is_nothing(void** state)
{
    (void)state;
    setup(&together, PH_PROFILE_CLASSIC);
    ph_world_acknowledge_all(together.f.world, 1, NULL, 0);
    small_world_teardown(&together.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_at_once_are_as_one_by_one),
        cmocka_unit_test(nothing_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
