// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Many entities that come into view at once, from a world to a client of the pinhole profile: each
// is sent once, at whatever time, and exactly where the budget pays for it.

#include "test_support.h"

#include <pinhole/pinhole.h>

#include <math.h>
#include <string.h>

enum { CROWD = 600, STEP_MM = 16 };
static const uint64_t MS_WRAP_US = UINT64_C(4294967296000); // milliseconds in 32 bits begin anew

typedef struct stage {
    ph_schema* schema;
    ph_world* world;
    ph_viewer_id viewer;
    ph_client* client;
    ph_entity_id crowd[CROWD];
    uint64_t now_us;
} stage;

static int32_t place_mm(int i, bool is_y)
{
    return (int32_t)(300.0 * i * (is_y ? sin(i) : cos(i)));
}

static void setup(stage* s, const char* schema, int bits_per_second)
{
    *s = (stage){0};
    assert_int_equal(ph_schema_parse(schema, strlen(schema), NULL, &s->schema, NULL), PH_OK);
    ph_world_def world = ph_world_def_default();
    ph_viewer_def viewer = ph_viewer_def_default();
    ph_client_def client = ph_client_def_default();
    world.schema = s->schema;
    client.schema = s->schema;
    client.slot_capacity = 4 * CROWD;
    viewer.visible_max = CROWD;
    viewer.bits_per_second = bits_per_second;
    assert_int_equal(ph_world_create(&world, &s->world), PH_OK);
    assert_int_equal(ph_world_add_viewer(s->world, &viewer, &s->viewer), PH_OK);
    assert_int_equal(ph_client_create(&client, &s->client), PH_OK);
}

static void teardown(stage* s)
{
    ph_client_destroy(s->client);
    ph_world_destroy(s->world);
    ph_schema_destroy(s->schema);
}

static void come(stage* s, int count)
{
    for (int i = 0; i < count; ++i) {
        const ph_spawn spawn = {.key = (uint64_t)i,
                                .position_mm = {place_mm(i, false), place_mm(i, true), 0}};
        assert_int_equal(ph_world_spawn(s->world, &spawn, &s->crowd[i]), PH_OK);
    }
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    const stage* s = context;
    assert_int_equal(ph_client_receive(s->client, s->now_us, bytes, size), PH_OK);
}

static void send(stage* s)
{
    ph_world_tick(s->world);
    assert_int_equal(ph_viewer_send(s->world, s->viewer, s->now_us, deliver, s), PH_OK);
}

static void answer(const stage* s)
{
    uint8_t ack[PH_ACK_SIZE];
    const size_t size = ph_client_write_ack(s->client, s->now_us, ack);
    ph_viewer_receive_ack(s->world, s->viewer, s->now_us, ack, size);
}

static uint64_t enters_of(const stage* s)
{
    ph_viewer_stats stats;
    assert_int_equal(ph_viewer_get_stats(s->world, s->viewer, &stats), PH_OK);
    return stats.sent_enters;
}

static void no_entity_is_sent_twice_at_once(void** state)
{
    (void)state;
    const uint64_t starts_us[] = {0, 999, 1000, MS_WRAP_US - 1, MS_WRAP_US, MS_WRAP_US + 999};
    const int rates[] = {13000, 1000000};
    for (size_t i = 0; i < sizeof starts_us / sizeof starts_us[0]; ++i) {
        for (size_t j = 0; j < sizeof rates / sizeof rates[0]; ++j) {
            stage s;
            setup(&s, "class dancer\n place: position\n", rates[j]);
            come(&s, CROWD);
            s.now_us = starts_us[i];
            for (int sends = 0; sends < 4; ++sends, s.now_us += 200) {
                send(&s);
            }
            assert_int_equal(enters_of(&s), ph_client_entity_count(s.client));
            teardown(&s);
        }
    }
}

static void an_entity_that_can_be_paid_for_is_sent_exactly(void** state)
{
    (void)state;
    stage s;
    setup(&s, "class dancer\n place: position\n", 10000000);
    come(&s, CROWD);
    s.now_us = 5000000;
    send(&s);
    assert_int_equal(enters_of(&s), CROWD);
    ph_client_advance(s.client, s.now_us);
    for (int i = 0; i < CROWD; ++i) {
        ph_pose pose;
        assert_int_equal(ph_client_get_pose(s.client, ph_client_find(s.client, (uint64_t)i), &pose),
                         PH_OK);
        assert_true(fabs(pose.position_mm[0] - place_mm(i, false)) <= STEP_MM);
        assert_true(fabs(pose.position_mm[1] - place_mm(i, true)) <= STEP_MM);
    }
    teardown(&s);
}

// There are no coarser ones.
static void the_greatest_steps_are_told(void** state)
{
    (void)state;
    stage s;
    setup(&s, "class rock\n place: position 1 step 2147483648\n", 13000);
    come(&s, 3);
    for (int i = 0; i < 50; ++i) {
        s.now_us += 100000;
        for (int j = 0; j < 3; ++j) {
            ph_world_move(s.world, s.crowd[j], i % 2 == 0 ? -1000 : 1000, 0, 0);
        }
        send(&s);
        answer(&s);
    }
    assert_int_equal(ph_client_entity_count(s.client), 3);
    ph_viewer_stats stats;
    assert_int_equal(ph_viewer_get_stats(s.world, s.viewer, &stats), PH_OK);
    assert_true(stats.sent_updates > 0);
    teardown(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_entity_is_sent_twice_at_once),
        cmocka_unit_test(an_entity_that_can_be_paid_for_is_sent_exactly),
        cmocka_unit_test(the_greatest_steps_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
