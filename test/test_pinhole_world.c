// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The sender of the pinhole profile by itself: velocities, coarse positions that become exact, its
// own pacing, memory, and costs. A client that applies everything is played by acknowledgements.

#include "support/small_world.h"
#include "support/test_support.h"

#include "packet/header.h"
#include "replication/shown_estimate.h"
#include "replication/sender.h"
#include "world/world_state.h"
#include "tools/tools.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <string.h>

enum { TICK_US = 100000, PERSONS = 40, FAR_MM = 200000 };

typedef struct fixture {
    small_world f;
    ph_viewer_id viewer;
    ph_entity_id persons[PERSONS];
    uint64_t now_us;
    int datagrams; // of the last step
    size_t bytes;
} fixture;

static ph_viewer_def viewer_def(void)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.visible_max = 60;
    return def;
}

static void setup(fixture* x, const ph_viewer_def* def)
{
    *x = (fixture){.now_us = 5000000};
    small_world_setup(&x->f, 64);
    x->f.def.profile = PH_PROFILE_PINHOLE;
    small_world_again(&x->f);
    assert_int_equal(ph_world_add_viewer(x->f.world, def, &x->viewer), PH_OK);
}

static void teardown(fixture* x)
{
    small_world_teardown(&x->f);
}

static ph_sender* sender_of(const fixture* x)
{
    return x->f.world->viewers.viewers[x->viewer.index1 - 1].sender;
}

static const ph_baseline* baseline_of(const fixture* x, ph_entity_id entity)
{
    return &sender_of(x)->replicas.baselines.slots[small_world_slot(&x->f, x->viewer, entity)];
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    (void)bytes;
    fixture* x = context;
    ++x->datagrams;
    x->bytes += size;
}

// Everything in flight was applied, or nothing was.
static void answer(fixture* x, bool is_applied)
{
    const ph_sender* sender = sender_of(x);
    const int news = sender->flight.count;
    if (news == 0) {
        return;
    }
    const uint64_t fates = is_applied ? (UINT64_C(1) << news) - 1 : 0;
    uint8_t bytes[PH_ACK_SIZE];
    ph_ack_write(&(ph_ack){.newest = sender->newest, .applied = sender->acked << news | fates},
                 bytes);
    assert_int_equal(ph_viewer_receive_ack(x->f.world, x->viewer, x->now_us, bytes, sizeof bytes),
                     PH_OK);
}

static void step(fixture* x)
{
    x->now_us += TICK_US;
    x->datagrams = 0;
    ph_world_tick(x->f.world);
    ph_world_send_all(x->f.world, x->now_us, deliver, x);
    assert_true(ph_world_validate(x->f.world));
}

static void step_and_answer(fixture* x)
{
    step(x);
    answer(x, true);
}

static ph_viewer_stats stats_of(const fixture* x)
{
    ph_viewer_stats stats;
    assert_int_equal(ph_viewer_get_stats(x->f.world, x->viewer, &stats), PH_OK);
    return stats;
}

static void spawn_persons(fixture* x)
{
    for (int i = 0; i < PERSONS; ++i) {
        x->persons[i] = small_world_spawn_at(&x->f, (uint64_t)i + 1, 1000 * i, 2000 * i);
    }
}

static void walk(fixture* x, int tick)
{
    for (int i = 0; i < PERSONS; ++i) {
        const int32_t x_mm = 1000 * i + 130 * tick;
        const int32_t y_mm = 2000 * i + (tick * (i + 7) % 31) * 50;
        assert_int_equal(ph_world_move(x->f.world, x->persons[i], x_mm, y_mm, 0), PH_OK);
    }
}

// ---- enters

static void an_enter_says_how_it_moves(void** state)
{
    (void)state;
    fixture x;
    const ph_viewer_def def = viewer_def();
    setup(&x, &def);
    const ph_entity_id mover = small_world_spawn_at(&x.f, 1, 0, 0);
    const ph_entity_id rester = small_world_spawn_at(&x.f, 2, 5000, 0);
    ph_world_tick(x.f.world);
    ph_world_move(x.f.world, mover, 160, -320, 0);
    step_and_answer(&x);
    const ph_baseline* moving = baseline_of(&x, mover);
    assert_true(moving->is_entered);
    assert_int_equal(moving->sample_count, 2);
    int32_t next_mm[3];
    ph_baseline_predict(moving, x.f.world->store.tick + 1, TICK_US, next_mm);
    assert_in_range(next_mm[0], 304, 336);
    assert_in_range(-next_mm[1], 608, 672);
    assert_int_equal(baseline_of(&x, rester)->sample_count, 1);
    teardown(&x);
}

static void a_jump_is_no_velocity(void** state)
{
    (void)state;
    fixture x;
    const ph_viewer_def def = viewer_def();
    setup(&x, &def);
    const ph_entity_id jumper = small_world_spawn_at(&x.f, 1, 0, 0);
    ph_world_tick(x.f.world);
    ph_world_move(x.f.world, jumper, 100000, 0, 0);
    step_and_answer(&x);
    assert_int_equal(baseline_of(&x, jumper)->sample_count, 1);
    teardown(&x);
}

// 110 m/s: its first step may be a jump.
static void what_keeps_its_speed_never_jumps(void** state)
{
    (void)state;
    fixture x;
    const ph_viewer_def def = viewer_def();
    setup(&x, &def);
    const ph_entity_id body = small_world_spawn_at(&x.f, 1, 0, 0);
    for (int tick = 1; tick < 15; ++tick) {
        ph_world_move(x.f.world, body, 11000 * tick, 0, 0);
        step_and_answer(&x);
    }
    const ph_entities* entities = &x.f.world->store.entities;
    const ph_entity_index index = ph_entities_find(entities, body);
    assert_int_equal(entities->whereabouts[index].jumps, 1);
    assert_int_equal(baseline_of(&x, body)->sample_count, 2);
    teardown(&x);
}

static void a_game_can_say_that_a_move_is_a_jump(void** state)
{
    (void)state;
    fixture x;
    const ph_viewer_def def = viewer_def();
    setup(&x, &def);
    const ph_entity_id walker = small_world_spawn_at(&x.f, 1, 0, 0);
    for (int tick = 1; tick < 10; ++tick) {
        ph_world_move(x.f.world, walker, 100 * tick, 0, 0);
        step_and_answer(&x);
    }
    assert_int_equal(baseline_of(&x, walker)->sample_count, 2);
    assert_int_equal(ph_world_jump(x.f.world, walker, 800, 500, 0), PH_OK);
    step_and_answer(&x);
    assert_int_equal(baseline_of(&x, walker)->sample_count, 1);
    assert_int_equal(ph_world_jump(x.f.world, walker, INT64_MAX, 0, 0), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_world_jump(x.f.world, (ph_entity_id){0}, 0, 0, 0), PH_ERROR_STALE);
    teardown(&x);
}

static void an_enter_is_told_again_when_it_is_lost_or_not_answered_for(void** state)
{
    (void)state;
    fixture x;
    ph_viewer_def def = viewer_def();
    def.bits_per_second = 5000; // so that no datagram has bits to spare
    setup(&x, &def);
    spawn_persons(&x);
    for (int tick = 0; tick < 5; ++tick) {
        walk(&x, tick);
        step(&x);
    }
    assert_int_equal(stats_of(&x).sent_enters, PERSONS);
    answer(&x, false);
    walk(&x, 6);
    for (int i = 0; i < 4; ++i) {
        step(&x);
    }
    assert_int_equal(stats_of(&x).sent_enters, 2 * PERSONS);
    for (int i = 0; i < 6; ++i) {
        step(&x);
    }
    assert_int_equal(stats_of(&x).sent_enters, 3 * PERSONS);
    teardown(&x);
}

// ---- precision

// How often an entity far away is sent coarsely that moves by so much each tick and turns round now
// and then; it ends at rest, and exactly there.
static int count_coarse(int32_t step_mm, int turning_ticks)
{
    fixture x;
    ph_viewer_def def = viewer_def();
    def.precision_mrad = 5.0;
    def.bits_per_second = 4000;
    def.scheduler = ph_scheduler_score(); // by error, steady motion need not be sent
    setup(&x, &def);
    spawn_persons(&x); // so that no datagram has bits to spare
    const ph_entity_id far_one = small_world_spawn_at(&x.f, 1000, FAR_MM, 0);
    for (int i = 0; i < 20; ++i) {
        walk(&x, i);
        step_and_answer(&x);
    }
    int coarse_count = 0;
    int32_t x_mm = FAR_MM;
    for (int tick = 0; tick < 60; ++tick) {
        x_mm += tick / turning_ticks % 2 == 0 ? step_mm : -step_mm;
        ph_world_move(x.f.world, far_one, x_mm, 0, 0);
        walk(&x, 20 + tick);
        step_and_answer(&x);
        const ph_baseline* baseline = baseline_of(&x, far_one);
        if (baseline->tick[0] == x.f.world->store.tick) {
            const int32_t off_mm = baseline->position_mm[0][0] - x_mm;
            assert_in_range(off_mm + 1000, 0, 2000); // 5 mrad of 200 m
            coarse_count += off_mm != 0;
        }
    }
    for (int i = 0; i < 30; ++i) {
        walk(&x, 80 + i);
        step_and_answer(&x);
    }
    assert_int_equal(baseline_of(&x, far_one)->position_mm[0][0], x_mm / 16 * 16);
    teardown(&x);
    return coarse_count;
}

static double priority_of(const fixture* x, ph_entity_id entity)
{
    ph_explanation why;
    assert_int_equal(ph_viewer_explain(x->f.world, x->viewer, entity, &why), PH_OK);
    assert_int_equal(why.state, PH_EXPLAIN_ENTERING);
    return why.priority;
}

// Both were sent at the same time, and no ack comes; one of them came into view a second earlier,
// and its first enter is known to be lost.
static void an_entity_missing_for_longer_comes_sooner_when_unacked_too(void** state)
{
    (void)state;
    fixture x;
    const ph_viewer_def def = viewer_def();
    setup(&x, &def);
    const ph_entity_id early = small_world_spawn_at(&x.f, 1, 5000, 0);
    step(&x);
    answer(&x, false);
    for (int i = 0; i < 10; ++i) {
        ph_world_tick(x.f.world);
        x.now_us += TICK_US;
    }
    const ph_entity_id late = small_world_spawn_at(&x.f, 2, -5000, 0);
    step(&x);
    assert_int_equal(stats_of(&x).sent_enters, 3);
    for (int i = 0; i < 7; ++i) {
        ph_world_move(x.f.world, early, 5000 + 16 * i, 0, 0);
        ph_world_move(x.f.world, late, -5000 - 16 * i, 0, 0);
        ph_world_tick(x.f.world);
        x.now_us += TICK_US;
    }
    ph_viewer_is_send_due(x.f.world, x.viewer, x.now_us); // time passes
    assert_true(priority_of(&x, early) > 1.5 * priority_of(&x, late));
    teardown(&x);
}

static void far_away_is_coarse_where_much_is_wrong(void** state)
{
    (void)state;
    assert_true(count_coarse(4800, 4) > 5);
    assert_int_equal(count_coarse(176, 60), 0);
}

static void with_bits_to_spare_everything_is_exact(void** state)
{
    (void)state;
    for (int is_unlimited = 0; is_unlimited <= 1; ++is_unlimited) {
        fixture x;
        ph_viewer_def def = viewer_def();
        def.bits_per_second = is_unlimited ? 0 : 200000;
        setup(&x, &def);
        const ph_entity_id far_one = small_world_spawn_at(&x.f, 1000, FAR_MM, 0);
        for (int tick = 0; tick < 40; ++tick) {
            const int32_t x_mm = FAR_MM + 176 * tick;
            ph_world_move(x.f.world, far_one, x_mm, 0, 0);
            step_and_answer(&x);
            assert_int_equal(baseline_of(&x, far_one)->position_mm[0][0], x_mm / 16 * 16);
        }
        teardown(&x);
    }
}

// A position that was told coarsely and then exactly, in one packet, is applied but once. What is
// expected of the client goes by that, not by the way to the coarse one.
static void what_became_exact_is_expected_as_it_is_applied(void** state)
{
    (void)state;
    fixture x;
    ph_viewer_def def = viewer_def();
    def.precision_mrad = 5.0;
    def.bits_per_second = 200000;
    setup(&x, &def);
    const ph_entity_id far_one = small_world_spawn_at(&x.f, 1000, FAR_MM, 0);
    step_and_answer(&x);
    const ph_shown_estimates* estimates = sender_of(&x)->replicas.estimates;
    const int slot = small_world_slot(&x.f, x.viewer, far_one);
    int revised_count = 0;
    int32_t x_mm = FAR_MM;
    for (int tick = 0; tick < 40; ++tick) {
        x_mm += tick / 4 % 2 == 0 ? 4848 : -4928;
        ph_world_move(x.f.world, far_one, x_mm, 0, 0);
        step(&x);
        revised_count += (estimates->marks[slot] & PH_ESTIMATE_REVISED) != 0;
        answer(&x, true);
        const ph_baseline* baseline = baseline_of(&x, far_one);
        assert_int_equal(baseline->tick[0], x.f.world->store.tick);
        const ph_shown_estimate* known = (estimates->marks[slot] & PH_ESTIMATE_APART) != 0
                                             ? &estimates->known[slot]
                                             : &estimates->sent[slot];
        const float way_mm = (float)(baseline->position_mm[0][0] - baseline->position_mm[1][0]);
        const float time_s = (float)(baseline->tick[0] - baseline->tick[1]) * 0.1f;
        assert_float_equal(known->velocity_mm_s[0], way_mm / time_s, 0.5);
    }
    assert_true(revised_count > 10);
    teardown(&x);
}

// ---- pacing

static void a_sender_with_nothing_due_is_silent(void** state)
{
    (void)state;
    fixture x;
    const ph_viewer_def def = viewer_def();
    setup(&x, &def);
    spawn_persons(&x);
    for (int i = 0; i < 40; ++i) {
        step_and_answer(&x);
    }
    const uint64_t datagrams = stats_of(&x).sent_datagrams;
    for (int i = 0; i < 40; ++i) {
        step_and_answer(&x);
    }
    assert_int_equal(stats_of(&x).sent_datagrams, datagrams);
    walk(&x, 1);
    step(&x);
    assert_int_equal(x.datagrams, 1);
    teardown(&x);
}

// The budget is spent, in datagrams that are worth their overhead.
static void a_crowd_is_told_of_in_few_datagrams(void** state)
{
    (void)state;
    int datagrams[2] = {0};
    for (int is_small = 0; is_small <= 1; ++is_small) {
        fixture x;
        ph_viewer_def def = viewer_def();
        def.bits_per_second = is_small ? 1500 : 6000;
        setup(&x, &def);
        spawn_persons(&x);
        for (int tick = 0; tick < 200; ++tick) {
            walk(&x, tick);
            step_and_answer(&x);
            datagrams[is_small] += x.datagrams;
        }
        const ph_viewer_stats stats = stats_of(&x);
        assert_true((double)stats.sent_wire_bytes * 8.0 > 0.9 * 20.0 * def.bits_per_second);
        assert_true((int64_t)stats.sent_wire_bytes * 8 <=
                    20 * def.bits_per_second + sender_of(&x)->depth_bits);
        teardown(&x);
    }
    assert_in_range(datagrams[0], 80, 180);
    assert_in_range(datagrams[1], 18, 50);
}

// Walks on, and is answered, until a datagram leaves. @return How many ticks that took.
static int ticks_to_next_datagram(fixture* x, int* tick)
{
    int ticks = 0;
    do {
        walk(x, ++*tick);
        answer(x, true);
        step(x);
        ++ticks;
    } while (x->datagrams == 0 && ticks < 100);
    return ticks;
}

// Others are told of once a second; a leave does not wait for them, least of all one that was lost.
static void leaves_hurry(void** state)
{
    (void)state;
    fixture x;
    ph_viewer_def def = viewer_def();
    def.bits_per_second = 1000;
    setup(&x, &def);
    spawn_persons(&x);
    const ph_entity_id leaver = small_world_spawn_at(&x.f, PERSONS + 1, 500, 0);
    int tick = 0;
    for (int i = 0; i < 10; ++i) {
        ticks_to_next_datagram(&x, &tick);
    }
    assert_true(ticks_to_next_datagram(&x, &tick) > 7);
    assert_int_equal(ph_world_despawn(x.f.world, leaver), PH_OK);
    assert_in_range(ticks_to_next_datagram(&x, &tick), 6, 7);
    assert_int_equal(stats_of(&x).sent_leaves, 1);
    answer(&x, false);
    assert_in_range(ticks_to_next_datagram(&x, &tick), 4, 5);
    assert_int_equal(stats_of(&x).sent_leaves, 2);
    teardown(&x);
}

// Steps until the next datagram, which tells one update. @return What the ledger has more than before.
static ph_ledger spent_on_update(fixture* x)
{
    const ph_viewer_stats before = stats_of(x);
    for (int i = 0; i < 10 && stats_of(x).sent_updates == before.sent_updates; ++i) {
        step(x);
    }
    const ph_viewer_stats after = stats_of(x);
    assert_int_equal(after.sent_updates, before.sent_updates + 1);
    ph_ledger spent = {.resent_bits256 =
                           after.ledger.resent_bits256 - before.ledger.resent_bits256};
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        spent.bits256[reason] = after.ledger.bits256[reason] - before.ledger.bits256[reason];
    }
    return spent;
}

// What was lost counts; which entity and property only when nothing else is said.
static void a_lost_update_is_booked_as_said_again(void** state)
{
    (void)state;
    fixture x;
    const ph_viewer_def def = viewer_def();
    setup(&x, &def);
    const ph_entity_id only = small_world_spawn_at(&x.f, 1, 0, 0);
    step_and_answer(&x);
    ph_world_move(x.f.world, only, 700, -3000, 0);
    assert_int_equal(spent_on_update(&x).resent_bits256, 0);
    answer(&x, false);
    const ph_ledger again = spent_on_update(&x);
    const uint64_t place256 = again.bits256[PH_REASON_PROPERTY];
    assert_true(place256 > 0 && again.bits256[PH_REASON_MASK] > 0);
    assert_int_equal(again.resent_bits256,
                     again.bits256[PH_REASON_SLOT] + again.bits256[PH_REASON_MASK] + place256);
    answer(&x, false);
    const uint8_t health = 33;
    assert_int_equal(
        ph_world_set_property(x.f.world, only, HEALTH, PH_FIELD_U8, &health, sizeof health), PH_OK);
    const uint64_t health256 = ph_viewer_property_bits256(x.f.world, x.viewer, 0, HEALTH);
    const ph_ledger both = spent_on_update(&x);
    const uint64_t news256 = ph_viewer_property_bits256(x.f.world, x.viewer, 0, HEALTH) - health256;
    assert_true(news256 > 0);
    assert_int_equal(both.resent_bits256, both.bits256[PH_REASON_PROPERTY] - news256);
    teardown(&x);
}

static void the_pacing_can_be_asked_for(void** state)
{
    (void)state;
    fixture x;
    const ph_viewer_def def = viewer_def();
    setup(&x, &def);
    spawn_persons(&x);
    ph_world_tick(x.f.world);
    assert_true(ph_viewer_is_send_due(x.f.world, x.viewer, x.now_us));
    for (int i = 0; i < 40; ++i) {
        step_and_answer(&x);
    }
    const uint64_t silent_us = x.now_us - sender_of(&x)->sent_us;
    assert_true(silent_us > 1000000);
    walk(&x, 1);
    step(&x);
    assert_int_equal(x.datagrams, 1);
    assert_false(ph_viewer_is_send_due(x.f.world, x.viewer, x.now_us));
    assert_false(ph_viewer_is_send_due(x.f.world, x.viewer, x.now_us + 900000));
    assert_true(ph_viewer_is_send_due(x.f.world, x.viewer, x.now_us + 1000000));
    assert_false(ph_viewer_is_send_due(x.f.world, (ph_viewer_id){7, 7}, x.now_us));
    assert_true(ph_viewer_sends_per_second(x.f.world, x.viewer) == PH_SENDS_AUTO);
    assert_true(ph_viewer_sends_per_second(x.f.world, (ph_viewer_id){7, 7}) == 0.0);
    teardown(&x);
}

// ---- memory

static void a_warm_world_allocates_nothing(void** state)
{
    (void)state;
    fixture x;
    const ph_viewer_def def = viewer_def();
    setup(&x, &def);
    spawn_persons(&x);
    const int before = x.f.memory.allocate_count;
    for (int tick = 0; tick < 100; ++tick) {
        walk(&x, tick);
        step(&x);
        answer(&x, tick % 5 != 0);
    }
    assert_int_equal(x.f.memory.allocate_count, before);
    assert_true(stats_of(&x).sent_updates > 1000);
    teardown(&x);
}

static void slots_are_twice_as_many_as_are_visible(void** state)
{
    (void)state;
    fixture x;
    ph_viewer_def def = viewer_def();
    def.visible_max = 250;
    setup(&x, &def);
    assert_int_equal(sender_of(&x)->replicas.slot_count, 500);
    teardown(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_enter_says_how_it_moves),
        cmocka_unit_test(a_jump_is_no_velocity),
        cmocka_unit_test(what_keeps_its_speed_never_jumps),
        cmocka_unit_test(a_game_can_say_that_a_move_is_a_jump),
        cmocka_unit_test(an_enter_is_told_again_when_it_is_lost_or_not_answered_for),
        cmocka_unit_test(an_entity_missing_for_longer_comes_sooner_when_unacked_too),
        cmocka_unit_test(far_away_is_coarse_where_much_is_wrong),
        cmocka_unit_test(with_bits_to_spare_everything_is_exact),
        cmocka_unit_test(what_became_exact_is_expected_as_it_is_applied),
        cmocka_unit_test(a_sender_with_nothing_due_is_silent),
        cmocka_unit_test(a_crowd_is_told_of_in_few_datagrams),
        cmocka_unit_test(leaves_hurry),
        cmocka_unit_test(a_lost_update_is_booked_as_said_again),
        cmocka_unit_test(the_pacing_can_be_asked_for),
        cmocka_unit_test(a_warm_world_allocates_nothing),
        cmocka_unit_test(slots_are_twice_as_many_as_are_visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
