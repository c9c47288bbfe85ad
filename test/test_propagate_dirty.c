// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a tick leaves for the next sends, and what it does not: nothing of entities that are not
// seen.

#include "support/test_support.h"
#include "support/small_world.h"

#include "base/hash.h"
#include "replication/sender.h"
#include "world/world_state.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

typedef struct fixture {
    small_world f;
    ph_viewer_id viewer;
    ph_hash hash; // of all that was sent
    uint64_t now_us;
} fixture;

static void take_in(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    fixture* x = context;
    ph_hash_add_u64(&x->hash, size);
    ph_hash_add(&x->hash, bytes, size);
}

// As the next send will find it.
static const ph_replicas* replicas_of(const fixture* x)
{
    const ph_send_context context = ph_world_send_context(x->f.world, x->viewer.index1 - 1);
    ph_propagate_dirty(context.store, context.sender, context.slots, context.store->tick);
    return &x->f.world->viewers.viewers[x->viewer.index1 - 1].sender->replicas;
}

static void setup(fixture* x, int bits_per_second)
{
    *x = (fixture){.hash = ph_hash_make(0), .now_us = 1000000};
    small_world_setup(&x->f, 256);
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = bits_per_second;
    def.max_starve_ms = 2000;
    def.sees = 1;
    assert_int_equal(ph_world_add_viewer(x->f.world, &def, &x->viewer), PH_OK);
}

// Everything up to now was applied.
static void acknowledge(fixture* x)
{
    const ph_sender* sender = x->f.world->viewers.viewers[x->viewer.index1 - 1].sender;
    const int news = sender->flight.count;
    if (news == 0) {
        return;
    }
    const uint64_t applied =
        news < 64 ? sender->acked << news | ((UINT64_C(1) << news) - 1) : UINT64_MAX;
    uint8_t bytes[PH_ACK_SIZE] = {0}; // no lag
    for (int i = 0; i < 4; ++i) {
        bytes[i] = (uint8_t)(sender->newest >> 8 * i);
    }
    for (int i = 0; i < 8; ++i) {
        bytes[4 + i] = (uint8_t)(applied >> 8 * i);
    }
    assert_int_equal(ph_viewer_receive_ack(x->f.world, x->viewer, x->now_us, bytes, sizeof bytes),
                     PH_OK);
}

static void step(fixture* x, bool is_answered)
{
    x->now_us += 200000;
    ph_world_tick(x->f.world);
    assert_int_equal(ph_viewer_send(x->f.world, x->viewer, x->now_us, take_in, x), PH_OK);
    if (is_answered) {
        acknowledge(x);
    }
}

// An entity that the client has.
typedef struct known_one {
    ph_entity_id id;
    int slot;
} known_one;

static known_one make_known_one(fixture* x)
{
    const ph_entity_id id = small_world_spawn_at(&x->f, 1, 1000, 0);
    step(x, true);
    return (known_one){.id = id, .slot = small_world_slot(&x->f, x->viewer, id)};
}

static void hurt(fixture* x, const known_one* it)
{
    const uint8_t health = 5;
    assert_int_equal(ph_world_set_property(x->f.world, it->id, HEALTH, PH_FIELD_U8, &health, 1),
                     PH_OK);
}

static void changes_touch_their_slot(void** state)
{
    (void)state;
    fixture x;
    setup(&x, 0);
    const known_one it = make_known_one(&x);
    assert_true(replicas_of(&x)->dirty[it.slot] == 0);
    hurt(&x, &it);
    ph_world_tick(x.f.world);
    assert_true(replicas_of(&x)->dirty[it.slot] == BIT(HEALTH));
    ph_world_tick(x.f.world);
    assert_true(replicas_of(&x)->dirty[it.slot] == BIT(HEALTH)); // until it is sent
    small_world_teardown(&x.f);
}

// Changes are filed for a few ticks only; a viewer that is not sent to hears of them in time.
static void no_change_is_forgotten_before_the_next_send(void** state)
{
    (void)state;
    for (int pause = 1; pause <= 3 * PH_RECENT_TICKS; ++pause) {
        for (int when = 0; when < pause; ++when) {
            fixture x;
            setup(&x, 0);
            const known_one it = make_known_one(&x);
            for (int i = 0; i < pause; ++i) {
                if (i == when) {
                    hurt(&x, &it);
                }
                ph_world_tick(x.f.world);
            }
            assert_true(replicas_of(&x)->dirty[it.slot] == BIT(HEALTH));
            small_world_teardown(&x.f);
        }
    }
}

// Several threads may ask about the same viewer, because the answers are worked out and not kept.
static void asking_writes_nothing(void** state)
{
    (void)state;
    fixture x;
    setup(&x, 0);
    const known_one it = make_known_one(&x);
    hurt(&x, &it);
    ph_world_tick(x.f.world);
    const ph_viewer* viewer = &x.f.world->viewers.viewers[x.viewer.index1 - 1];
    const uint32_t before_tick = viewer->sender->propagated_tick;
    ph_viewer_stats stats;
    assert_int_equal(ph_viewer_get_stats(x.f.world, x.viewer, &stats), PH_OK);
    assert_true(stats.has_diff);
    ph_explanation why;
    assert_int_equal(ph_viewer_explain(x.f.world, x.viewer, it.id, &why), PH_OK);
    assert_true(why.dirty == BIT(HEALTH) && why.change > 0.0);
    assert_int_equal(viewer->sender->propagated_tick, before_tick);
    assert_true(viewer->sender->replicas.dirty[it.slot] == 0);
    small_world_teardown(&x.f);
}

static void filed_changes_survive_growth(void** state)
{
    (void)state;
    fixture x;
    setup(&x, 0);
    const known_one it = make_known_one(&x);
    hurt(&x, &it);
    ph_world_tick(x.f.world);
    const int capacity = x.f.world->store.entities.capacity;
    for (int i = 0; i < capacity; ++i) {
        small_world_spawn_at(&x.f, 2 + (uint64_t)i, 2000 + 10 * i, 0);
    }
    assert_true(x.f.world->store.entities.capacity > capacity);
    assert_true(replicas_of(&x)->dirty[it.slot] == BIT(HEALTH));
    small_world_teardown(&x.f);
}

// One run: entities that point at each other and at the unseen. What the unseen do is up to the
// seed.
static uint64_t play(uint64_t unseen_seed)
{
    fixture x;
    setup(&x, 4000); // less than all the news: which entity waits since when makes a difference
    test_rng rng = {.state = 4106};
    test_rng unseen = {.state = unseen_seed};
    ph_entity_id seen_ids[40];
    ph_entity_id unseen_ids[40];
    for (int i = 0; i < 40; ++i) {
        seen_ids[i] = small_world_spawn_at(&x.f, (uint64_t)i, 500 * i, 0);
        const ph_spawn ghost = {
            .key = 1000 + (uint64_t)i, .position_mm = {300 * i, 0, 0}, .seen_by = 2};
        assert_int_equal(ph_world_spawn(x.f.world, &ghost, &unseen_ids[i]), PH_OK);
    }
    for (int round = 0; round < 300; ++round) {
        for (int i = 0; i < 40; ++i) {
            // Either an entity that is seen, the same in every run, or one of the unseen.
            const uint64_t choice = test_rng_below(&rng, 80);
            ph_entity_id target = choice < 40 ? seen_ids[choice] : (ph_entity_id){0};
            const uint64_t ghost = test_rng_below(&unseen, 41);
            if (choice >= 40 && ghost < 40) {
                target = unseen_ids[ghost];
            }
            if (choice % 8 != 0) {
                assert_int_equal(ph_world_set_property(x.f.world, seen_ids[i], TARGET,
                                                       PH_FIELD_ENTITY, &target, sizeof target),
                                 PH_OK);
            }
            // Most rest: then nothing but the reference could make them wait.
            const int32_t step_mm = (int32_t)test_rng_below(&rng, 4000);
            if (test_rng_below(&rng, 4) == 0) {
                assert_int_equal(ph_world_move(x.f.world, seen_ids[i], 500 * i + step_mm, 0, 0),
                                 PH_OK);
            }
            const int32_t far_mm = (int32_t)test_rng_below(&unseen, 100000);
            assert_int_equal(ph_world_move(x.f.world, unseen_ids[i], far_mm, 0, 0), PH_OK);
        }
        step(&x, test_rng_below(&rng, 3) != 0);
    }
    small_world_teardown(&x.f);
    return ph_hash_value(&x.hash);
}

static void references_to_the_unseen_leave_no_trace(void** state)
{
    (void)state;
    const uint64_t expected = play(1);
    for (uint64_t seed = 2; seed < 8; ++seed) {
        assert_true(play(seed) == expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_touch_their_slot),
        cmocka_unit_test(no_change_is_forgotten_before_the_next_send),
        cmocka_unit_test(asking_writes_nothing),
        cmocka_unit_test(filed_changes_survive_growth),
        cmocka_unit_test(references_to_the_unseen_leave_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
