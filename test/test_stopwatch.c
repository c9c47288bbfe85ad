// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A world that measures itself, by a clock that a test turns by hand: each reading is one
// nanosecond later than the last.

#include "support/test_support.h"
#include "support/inbox.h"
#include "support/small_world.h"
#include "tools/tools.h"

#include <pinhole/viewer.h>

#define SEND_US 200000

static uint64_t next_ns(void* context)
{
    uint64_t* now_ns = context;
    return (*now_ns)++;
}

typedef struct fixture {
    small_world f;
    ph_viewer_id viewer;
    inbox box;
    uint64_t now_ns;
} fixture;

static fixture shared; // too large for a stack

static fixture* setup(void)
{
    fixture* x = &shared;
    small_world_setup(&x->f, 64);
    const ph_viewer_def def = ph_viewer_def_default();
    assert_int_equal(ph_world_add_viewer(x->f.world, &def, &x->viewer), PH_OK);
    inbox_setup(&x->box, x->f.world, x->f.schema, x->viewer);
    x->now_ns = 1000;
    return x;
}

static void teardown(fixture* x)
{
    inbox_teardown(&x->box);
    small_world_teardown(&x->f);
}

static uint64_t sum_of(const ph_world* world)
{
    const ph_stage_times times = ph_world_stage_times(world);
    uint64_t sum = 0;
    for (int stage = 0; stage < PH_STAGE_COUNT; ++stage) {
        sum += times.ns[stage];
    }
    return sum;
}

static void without_a_clock_nothing_is_measured(void** state)
{
    (void)state;
    fixture* x = setup();
    small_world_spawn(&x->f, 1);
    inbox_step(&x->box, SEND_US);
    inbox_ack_all(&x->box);
    assert_int_equal(sum_of(x->f.world), 0);
    teardown(x);
}

// From reading to reading is 1 ns: a tick has two laps, a send with one packet five.
static void every_stage_is_measured(void** state)
{
    (void)state;
    fixture* x = setup();
    ph_world_set_clock(x->f.world, next_ns, &x->now_ns);
    small_world_spawn(&x->f, 1);
    inbox_step(&x->box, SEND_US);
    inbox_ack_all(&x->box);
    const ph_stage_times times = ph_world_stage_times(x->f.world);
    assert_int_equal(times.ns[PH_STAGE_VISION], 1);
    assert_int_equal(times.ns[PH_STAGE_REPLICAS], 2);
    assert_int_equal(times.ns[PH_STAGE_SCORE], 1);
    assert_int_equal(times.ns[PH_STAGE_PICK], 2);
    assert_int_equal(times.ns[PH_STAGE_ENCODE], 1);
    assert_int_equal(times.ns[PH_STAGE_ACKS], 1);
    teardown(x);
}

static void deliver_slowly(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    (void)bytes;
    (void)size;
    *(uint64_t*)context += 1000000;
}

static void what_a_game_does_in_deliver_does_not_count(void** state)
{
    (void)state;
    fixture* x = setup();
    ph_world_set_clock(x->f.world, next_ns, &x->now_ns);
    small_world_spawn(&x->f, 1);
    ph_world_tick(x->f.world);
    assert_int_equal(ph_viewer_send(x->f.world, x->viewer, SEND_US, deliver_slowly, &x->now_ns),
                     PH_OK);
    assert_true(x->now_ns > 1000000);
    assert_in_range(sum_of(x->f.world), 1, 100);
    teardown(x);
}

static void a_clock_taken_back_measures_no_more(void** state)
{
    (void)state;
    fixture* x = setup();
    ph_world_set_clock(x->f.world, next_ns, &x->now_ns);
    inbox_step(&x->box, SEND_US);
    const uint64_t before_ns = sum_of(x->f.world);
    assert_true(before_ns > 0);
    ph_world_set_clock(x->f.world, NULL, NULL);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(sum_of(x->f.world), before_ns);
    teardown(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_clock_nothing_is_measured),
        cmocka_unit_test(every_stage_is_measured),
        cmocka_unit_test(what_a_game_does_in_deliver_does_not_count),
        cmocka_unit_test(a_clock_taken_back_measures_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
