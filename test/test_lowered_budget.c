// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A viewer of many whose budget is lowered to a tenth: what is due is still sent, though the last packet
// supposed that half of the slots are told, and saying that the others are not would take all there is.

#include "support/test_support.h"

#include <pinhole/client.h>
#include <pinhole/viewer.h>
#include <pinhole/stats.h>

enum { ENTITIES = 300, TICK_US = 100000 };

typedef struct fixture {
    ph_schema* schema;
    ph_world* world;
    ph_client* client;
    ph_viewer_id viewer;
    ph_entity_id ids[ENTITIES];
    uint64_t now_us;
} fixture;

static void setup(fixture* f, ph_profile profile, int bits_per_second)
{
    static const char text[] = "class walker\nplace: position\n";
    *f = (fixture){.now_us = 1000000};
    assert_int_equal(ph_schema_parse(text, sizeof text - 1, NULL, &f->schema, NULL), PH_OK);
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = f->schema;
    world_def.profile = profile;
    assert_int_equal(ph_world_create(&world_def, &f->world), PH_OK);
    for (int i = 0; i < ENTITIES; ++i) {
        const ph_spawn spawned = {.key = (uint64_t)i, .position_mm = {i * 100, 0, 0}};
        assert_int_equal(ph_world_spawn(f->world, &spawned, &f->ids[i]), PH_OK);
    }
    ph_viewer_def viewer_def = ph_viewer_def_default();
    viewer_def.visible_max = ENTITIES;
    viewer_def.bits_per_second = bits_per_second;
    viewer_def.session = 9;
    assert_int_equal(ph_world_add_viewer(f->world, &viewer_def, &f->viewer), PH_OK);
    ph_client_def client_def = ph_client_def_default();
    client_def.schema = f->schema;
    client_def.profile = profile;
    client_def.slot_capacity = 2 * ENTITIES;
    assert_int_equal(ph_client_create(&client_def, &f->client), PH_OK);
}

static void teardown(fixture* f)
{
    ph_client_destroy(f->client);
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    fixture* f = context;
    assert_int_equal(ph_client_receive(f->client, f->now_us, bytes, size), PH_OK);
}

static void step(fixture* f)
{
    uint8_t ack[PH_ACK_SIZE];
    ph_world_tick(f->world);
    ph_world_send_all(f->world, f->now_us, deliver, f);
    const size_t size = ph_client_write_ack(f->client, f->now_us, ack);
    if (size > 0) {
        ph_viewer_receive_ack(f->world, f->viewer, f->now_us, ack, size);
    }
    f->now_us += TICK_US;
}

static void stir(fixture* f, test_rng* rng)
{
    for (int i = 0; i < ENTITIES; ++i) {
        const int32_t x_mm = (int32_t)(100 * i + (int)test_rng_below(rng, 200));
        assert_int_equal(ph_world_move(f->world, f->ids[i], x_mm, 0, 0), PH_OK);
    }
}

static bool is_something_due(const fixture* f)
{
    ph_viewer_stats stats;
    ph_viewer_get_stats(f->world, f->viewer, &stats);
    return stats.has_diff;
}

// After so many ticks at so much, in which all entities move.
static void lower_after(ph_profile profile, int ticks, int bits_per_second)
{
    fixture f;
    test_rng rng = {.state = 3};
    setup(&f, profile, bits_per_second);
    for (int i = 0; i < ticks; ++i) {
        stir(&f, &rng);
        step(&f);
    }
    assert_int_equal(ph_viewer_set_budget(f.world, f.viewer, 4000, 1), PH_OK);
    stir(&f, &rng);
    int tick = 0;
    do {
        step(&f);
        assert_true(++tick < 4000);
    } while (is_something_due(&f));
    assert_true(tick > 10);
    teardown(&f);
}

// Whatever the last packet supposed.
static void what_is_due_is_sent_after_a_budget_was_lowered(void** state)
{
    (void)state;
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        for (int ticks = 20; ticks < 26; ++ticks) {
            lower_after((ph_profile)profile, ticks, 1000000);
            lower_after((ph_profile)profile, ticks, 50000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_due_is_sent_after_a_budget_was_lowered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
