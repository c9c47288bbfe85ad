// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A sender whose positions have finest steps: what it refines, and when; in which steps it tells; what that costs. A
// client that applies everything is played by acknowledgements.

#include "support/small_world.h"
#include "support/test_support.h"

#include "packet/header.h"
#include "replication/sender.h"
#include "tools/tools.h"
#include "world/world_state.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <string.h>

enum { TICK_US = 100000, CROWD = 200, ENOUGH = 200000 };

typedef struct fixture {
    small_world f;
    ph_schema* schema;
    ph_viewer_id viewer;
    uint64_t now_us;
    ph_entity_id walkers[CROWD];
} fixture;

static void setup(fixture* x, double finest, int bits_per_second)
{
    *x = (fixture){.now_us = 5000000};
    const ph_property_def place = {.name = "place", .coding = PH_CODING_POSITION, .finest = finest};
    const ph_class_def walker = {.name = "walker", .properties = &place, .property_count = 1};
    assert_int_equal(ph_schema_create(&walker, 1, NULL, &x->schema, NULL), PH_OK);
    small_world_setup(&x->f, 2 * CROWD);
    x->f.def.profile = PH_PROFILE_PINHOLE;
    x->f.def.schema = x->schema;
    small_world_again(&x->f);
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = bits_per_second;
    def.visible_max = CROWD + 50;
    assert_int_equal(ph_world_add_viewer(x->f.world, &def, &x->viewer), PH_OK);
}

static void teardown(fixture* x)
{
    small_world_teardown(&x->f);
    ph_schema_destroy(x->schema);
}

static ph_sender* sender_of(const fixture* x)
{
    return x->f.world->viewers.viewers[x->viewer.index1 - 1].sender;
}

static void ignore(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)context;
    (void)viewer;
    (void)bytes;
    (void)size;
}

static void send(fixture* x)
{
    x->now_us += TICK_US;
    ph_world_send_all(x->f.world, x->now_us, ignore, NULL);
    assert_true(ph_world_validate(x->f.world));
}

static void step(fixture* x)
{
    ph_world_tick(x->f.world);
    send(x);
}

// Everything in flight was applied.
static void answer(fixture* x)
{
    const ph_sender* sender = sender_of(x);
    const int news = sender->flight.count;
    if (news == 0) {
        return;
    }
    uint8_t bytes[PH_ACK_SIZE];
    const uint64_t fates = (UINT64_C(1) << news) - 1;
    ph_ack_write(&(ph_ack){.newest = sender->newest, .applied = sender->acked << news | fates},
                 bytes);
    assert_int_equal(ph_viewer_receive_ack(x->f.world, x->viewer, x->now_us, bytes, sizeof bytes),
                     PH_OK);
}

static void steps_answered(fixture* x, int count)
{
    for (int i = 0; i < count; ++i) {
        step(x);
        answer(x);
    }
}

static int32_t known_x(const fixture* x, ph_entity_id entity)
{
    const int slot = small_world_slot(&x->f, x->viewer, entity);
    return sender_of(x)->replicas.baselines.slots[slot].position_mm[0][0];
}

// ---- refining

static void a_jump_is_told_once_and_refined_when_it_is_acked(void** state)
{
    (void)state;
    fixture x;
    setup(&x, 1, ENOUGH);
    const ph_entity_id one = small_world_spawn_at(&x.f, 1, 1003, 0);
    steps_answered(&x, 20);
    assert_int_equal(known_x(&x, one), 1003);
    assert_int_equal(ph_world_jump(x.f.world, one, 70005, 0, 0), PH_OK);
    const uint64_t before = sender_of(&x)->stats.sent_updates;
    for (int i = 0; i < 4; ++i) {
        step(&x);
        assert_int_equal(sender_of(&x)->stats.sent_updates, before + 1);
    }
    steps_answered(&x, 5);
    assert_int_equal(known_x(&x, one), 70005);
    assert_int_equal(sender_of(&x)->stats.sent_updates, before + 2);
    teardown(&x);
}

// It is hidden from one send, and was there at the ticks before and after.
static void what_is_hidden_is_refined_when_it_is_back(void** state)
{
    (void)state;
    fixture x;
    setup(&x, 1, ENOUGH);
    const ph_entity_id one = small_world_spawn_at(&x.f, 1, 1003, 0);
    const ph_entity_id other = small_world_spawn_at(&x.f, 2, 5003, 0);
    step(&x);
    answer(&x);
    assert_int_equal(known_x(&x, one), 992);
    assert_int_equal(ph_world_set_visibility(x.f.world, one, 0, false, false), PH_OK);
    for (int i = 0; i < 3; ++i) {
        send(&x);
        answer(&x);
    }
    assert_int_equal(known_x(&x, other), 5003);
    assert_int_equal(known_x(&x, one), 992);
    assert_int_equal(ph_world_set_visibility(x.f.world, one, UINT32_MAX, false, false), PH_OK);
    steps_answered(&x, 5);
    assert_int_equal(known_x(&x, one), 1003);
    teardown(&x);
}

// ---- steps

static void spawn_crowd(fixture* x, int from, int to)
{
    for (int i = from; i < to; ++i) {
        x->walkers[i] =
            small_world_spawn_at(&x->f, (uint64_t)i + 1, 300 * (i % 20) + 3, 300 * (i / 20) + 5);
    }
}

static void walk(fixture* x, int from, int to, int tick)
{
    for (int i = from; i < to; ++i) {
        const int turn = (tick + i) / 7 % 2 == 0 ? tick : 7 - tick;
        ph_world_move(x->f.world, x->walkers[i], 300 * (i % 20) + 3 + 70 * (turn % 7),
                      300 * (i / 20) + 5 + 110 * (turn % 5), 0);
    }
}

// They are no updates: how long they wait says nothing of how often updates come.
static void newcomers_do_not_make_steps_coarse(void** state)
{
    (void)state;
    fixture x;
    setup(&x, 1, 4000);
    spawn_crowd(&x, 0, CROWD);
    step(&x);
    assert_true(sender_of(&x)->stats.sent_enters > 0);
    assert_int_equal(sender_of(&x)->interval_us, 0);
    for (int i = 0; i < 50 && sender_of(&x)->replicas.newcomer_count > 0; ++i) {
        answer(&x);
        step(&x);
        assert_int_equal(sender_of(&x)->step, 0);
    }
    teardown(&x);
}

// Where few bits are, up to the step of the class, and no further.
static void steps_are_no_coarser_than_a_class_has(void** state)
{
    (void)state;
    fixture x;
    setup(&x, 8, 3000);
    spawn_crowd(&x, 0, CROWD);
    int coarsest = 0;
    for (int tick = 0; tick < 900; ++tick) {
        walk(&x, 0, CROWD, tick);
        step(&x);
        answer(&x);
        const int now = sender_of(&x)->step;
        coarsest = now > coarsest ? now : coarsest;
    }
    assert_int_equal(coarsest, 1);
    teardown(&x);
}

// ---- what a step costs

static void the_step_of_a_packet_is_counted_as_its_header(void** state)
{
    (void)state;
    fixture x;
    setup(&x, 1, ENOUGH);
    spawn_crowd(&x, 0, 10);
    steps_answered(&x, 20);
    const ph_viewer_stats before = sender_of(&x)->stats;
    for (int tick = 0; tick < 10; ++tick) {
        walk(&x, 0, 10, tick);
        steps_answered(&x, 1);
    }
    const ph_viewer_stats* after = &sender_of(&x)->stats;
    const uint64_t datagrams = after->sent_datagrams - before.sent_datagrams;
    assert_true(datagrams >= 10);
    assert_int_equal(after->ledger.bits256[PH_REASON_HEADER] -
                         before.ledger.bits256[PH_REASON_HEADER],
                     datagrams * (PH_PINHOLE_HEADER_BITS_MIN + 3) * 256);
    teardown(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_jump_is_told_once_and_refined_when_it_is_acked),
        cmocka_unit_test(what_is_hidden_is_refined_when_it_is_back),
        cmocka_unit_test(newcomers_do_not_make_steps_coarse),
        cmocka_unit_test(steps_are_no_coarser_than_a_class_has),
        cmocka_unit_test(the_step_of_a_packet_is_counted_as_its_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
