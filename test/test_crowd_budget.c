// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The promise of test_never_over_budget.c for viewers with hundreds of entities in view: there the flags of
// all entities without a record are a good part of a small datagram, and the first record after a
// datagram without any brings all of them at once.

#include "support/test_support.h"

#include <pinhole/client.h>
#include <pinhole/viewer.h>
#include <pinhole/stats.h>

enum { LEAST_IN_VIEW = 300, MOST_IN_VIEW = 1200, SPARE = 40, TICK_US = 100000, SIDE_MM = 150000 };

#define PARTS INT64_C(1000000) // of a bit

typedef struct fixture {
    test_rng rng;
    ph_schema* schema;
    ph_world* world;
    ph_client* client;
    ph_viewer_id viewer;
    ph_viewer_def def;
    ph_entity_id ids[MOST_IN_VIEW + SPARE];
    int32_t at_mm[MOST_IN_VIEW + SPARE][2];
    uint64_t next_name;
    int count;
    uint64_t now_us;
    // A bucket of our own, full until there is a limit.
    bool is_limited;
    int64_t level; // in parts
    int64_t depth_bits;
    int datagrams;
} fixture;

static int below(fixture* f, int limit)
{
    return (int)test_rng_below(&f->rng, (uint64_t)limit);
}

static int32_t somewhere(fixture* f)
{
    return below(f, SIDE_MM) - SIDE_MM / 2;
}

static void spawn(fixture* f)
{
    int32_t* at_mm = f->at_mm[f->count];
    at_mm[0] = somewhere(f);
    at_mm[1] = somewhere(f);
    const ph_spawn spawned = {.key = f->next_name++, .position_mm = {at_mm[0], at_mm[1], 0}};
    assert_int_equal(ph_world_spawn(f->world, &spawned, &f->ids[f->count++]), PH_OK);
}

static void setup(fixture* f, ph_profile profile, uint64_t seed)
{
    static const char text[] =
        "class walker\nplace: position\nheading: angle\nhealth: range 0..100\n";
    *f = (fixture){.rng = {.state = seed}, .now_us = 1000000};
    assert_int_equal(ph_schema_parse(text, sizeof text - 1, NULL, &f->schema, NULL), PH_OK);
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = f->schema;
    world_def.profile = profile;
    assert_int_equal(ph_world_create(&world_def, &f->world), PH_OK);
    const int in_view = LEAST_IN_VIEW + below(f, MOST_IN_VIEW - LEAST_IN_VIEW + 1);
    while (f->count < in_view) {
        spawn(f);
    }
    f->def = ph_viewer_def_default();
    f->def.visible_max = MOST_IN_VIEW + SPARE;
    f->def.sends_per_second = 10.0;
    f->def.bits_per_second = 1500 + below(f, 12000);
    f->def.burst_bits = 1; // one datagram
    f->def.session = (uint32_t)seed;
    assert_int_equal(ph_world_add_viewer(f->world, &f->def, &f->viewer), PH_OK);
    ph_client_def client_def = ph_client_def_default();
    client_def.schema = f->schema;
    client_def.profile = profile;
    client_def.slot_capacity = 2 * f->def.visible_max;
    assert_int_equal(ph_client_create(&client_def, &f->client), PH_OK);
    ph_viewer_stats stats;
    ph_viewer_get_stats(f->world, f->viewer, &stats);
    f->depth_bits = stats.token_bits;
    f->level = f->depth_bits * PARTS;
    assert_int_equal(ph_viewer_set_budget(f->world, f->viewer, 0, 1), PH_OK);
}

static void teardown(fixture* f)
{
    ph_viewer_stats stats;
    ph_viewer_get_stats(f->world, f->viewer, &stats);
    if (stats.withheld_datagrams > 0) {
        fail_msg("seed %u: %llu datagrams were withheld", f->def.session,
                 (unsigned long long)stats.withheld_datagrams);
    }
    ph_client_destroy(f->client);
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    fixture* f = context;
    assert_in_range(size, 1, PH_PAYLOAD_MAX);
    ++f->datagrams;
    if (f->is_limited) {
        f->level -= 8 * (int64_t)(size + (size_t)f->def.overhead_bytes) * PARTS;
    }
    if (f->level < 0) {
        fail_msg("seed %u, %d in view: %lld millionths of a bit over the budget", f->def.session,
                 f->count, (long long)-f->level);
    }
    if (below(f, 10) != 0) {
        assert_int_equal(ph_client_receive(f->client, f->now_us, bytes, size), PH_OK);
    }
}

static void step(fixture* f)
{
    uint8_t ack[PH_ACK_SIZE];
    ph_world_tick(f->world);
    assert_int_equal(ph_viewer_send(f->world, f->viewer, f->now_us, deliver, f), PH_OK);
    const size_t size = ph_client_write_ack(f->client, f->now_us, ack);
    if (size > 0) {
        ph_viewer_receive_ack(f->world, f->viewer, f->now_us, ack, size);
    }
    f->now_us += TICK_US;
    f->level += (int64_t)TICK_US * f->def.bits_per_second;
    f->level = f->level < f->depth_bits * PARTS ? f->level : f->depth_bits * PARTS;
}

static void walk(fixture* f, int reach_mm)
{
    for (int i = 0; i < f->count; ++i) {
        int32_t* at_mm = f->at_mm[i];
        at_mm[0] += below(f, 2 * reach_mm) - reach_mm;
        at_mm[1] += below(f, 2 * reach_mm) - reach_mm;
        assert_int_equal(ph_world_move(f->world, f->ids[i], at_mm[0], at_mm[1], 0), PH_OK);
    }
}

// Some come, some go: datagrams that tell of no other entity.
static void come_and_go(fixture* f, int most)
{
    for (int i = below(f, most + 1); i > 0 && f->count < MOST_IN_VIEW + SPARE; --i) {
        spawn(f);
    }
    for (int i = below(f, most + 1); i > 0 && f->count > LEAST_IN_VIEW; --i) {
        const int at = below(f, f->count);
        assert_int_equal(ph_world_despawn(f->world, f->ids[at]), PH_OK);
        f->ids[at] = f->ids[--f->count];
        f->at_mm[at][0] = f->at_mm[f->count][0];
        f->at_mm[at][1] = f->at_mm[f->count][1];
    }
}

static void run_one(ph_profile profile, uint64_t seed, int* datagrams)
{
    static fixture f;
    setup(&f, profile, seed);
    const int reach_mm = 1 << below(&f, 12);
    const int most = 1 << below(&f, 6);
    for (int tick = 0; tick < 20; ++tick) {
        walk(&f, reach_mm);
        step(&f);
    }
    f.is_limited = true;
    assert_int_equal(ph_viewer_set_budget(f.world, f.viewer, f.def.bits_per_second, 1), PH_OK);
    for (int tick = 0; tick < 200; ++tick) {
        come_and_go(&f, most);
        if (tick % 8 == 0) {
            walk(&f, reach_mm);
        }
        step(&f);
    }
    *datagrams += f.datagrams;
    teardown(&f);
}

static void run_all(ph_profile profile, int worlds)
{
    int datagrams = 0;
    for (int seed = 1; seed <= worlds; ++seed) {
        run_one(profile, (uint64_t)seed, &datagrams);
    }
    assert_true(datagrams > 100 * worlds);
}

static void no_datagram_is_over_the_budget(void** state)
{
    (void)state;
    run_all(PH_PROFILE_CLASSIC, 2);
    run_all(PH_PROFILE_PINHOLE, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_datagram_is_over_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
