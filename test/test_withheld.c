// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A datagram that turns out to be over the budget, or too large, is not sent. That never happens by itself:
// here a scheduler, which is asked while records are added, takes the budget or the room away behind the
// world's back. What the datagram said counts as lost and comes later, and every count is as if there had
// been none.

#include "support/test_support.h"

#include "replication/sender.h"
#include "world/world_state.h"
#include "tools/tools.h"

#include <pinhole/client.h>
#include <pinhole/viewer.h>
#include <pinhole/stats.h>

enum { ENTITIES = 20, TICK_US = 100000, CLASS_PROPERTIES = 2 };

typedef enum mischief { MISCHIEF_NONE, MISCHIEF_BUDGET, MISCHIEF_ROOM } mischief;

typedef struct fixture {
    ph_schema* schema;
    ph_world* world;
    ph_client* client;
    ph_viewer_id viewer;
    ph_sender* sender;
    ph_entity_id ids[ENTITIES];
    mischief planned;
    int delivered;
    uint64_t now_us;
} fixture;

static float do_mischief(void* context, float score)
{
    (void)score;
    fixture* f = context;
    if (f->planned == MISCHIEF_BUDGET) {
        f->sender->bucket.level = 0;
    } else if (f->planned == MISCHIEF_ROOM) {
        f->sender->reserved_bytes = PH_PAYLOAD_MAX - 4;
    }
    return 0.0f;
}

static void setup(fixture* f, ph_profile profile)
{
    static const char text[] = "class walker\nplace: position\nhealth: range 0..100\n";
    *f = (fixture){.now_us = 1000000};
    assert_int_equal(ph_schema_parse(text, sizeof text - 1, NULL, &f->schema, NULL), PH_OK);
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = f->schema;
    world_def.profile = profile;
    assert_int_equal(ph_world_create(&world_def, &f->world), PH_OK);
    for (int i = 0; i < ENTITIES; ++i) {
        const ph_spawn spawned = {.key = (uint64_t)i, .position_mm = {i * 1024, 0, 0}};
        assert_int_equal(ph_world_spawn(f->world, &spawned, &f->ids[i]), PH_OK);
    }
    ph_viewer_def viewer_def = ph_viewer_def_default();
    viewer_def.visible_max = ENTITIES;
    viewer_def.bits_per_second = 200000;
    viewer_def.session = 9;
    viewer_def.scheduler = ph_scheduler_score();
    viewer_def.scheduler.context = f;
    viewer_def.scheduler.sent = do_mischief;
    assert_int_equal(ph_world_add_viewer(f->world, &viewer_def, &f->viewer), PH_OK);
    f->sender = f->world->viewers.viewers[f->viewer.index1 - 1].sender;
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
    ++f->delivered;
    assert_int_equal(ph_client_receive(f->client, f->now_us, bytes, size), PH_OK);
}

static void step(fixture* f)
{
    uint8_t ack[PH_ACK_SIZE];
    f->now_us += TICK_US;
    ph_world_tick(f->world);
    assert_int_equal(ph_viewer_send(f->world, f->viewer, f->now_us, deliver, f), PH_OK);
    const size_t size = ph_client_write_ack(f->client, f->now_us, ack);
    if (size > 0) {
        assert_int_equal(ph_viewer_receive_ack(f->world, f->viewer, f->now_us, ack, size), PH_OK);
    }
    assert_true(ph_world_validate(f->world));
}

static ph_viewer_stats stats_of(const fixture* f)
{
    ph_viewer_stats stats;
    assert_int_equal(ph_viewer_get_stats(f->world, f->viewer, &stats), PH_OK);
    return stats;
}

static void check_ledger(const fixture* f)
{
    const ph_viewer_stats stats = stats_of(f);
    uint64_t sum = 0;
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        sum += stats.ledger.bits256[reason];
    }
    uint64_t properties = 0;
    for (int property = 0; property < CLASS_PROPERTIES; ++property) {
        properties += ph_viewer_property_bits256(f->world, f->viewer, 0, property);
    }
    assert_int_equal(sum, 2048 * stats.sent_payload_bytes);
    assert_int_equal(properties, stats.ledger.bits256[PH_REASON_PROPERTY]);
}

// One send in which it happens: nothing goes out, and nothing is counted but that.
static void send_in_vain(fixture* f, mischief planned)
{
    const ph_viewer_stats before = stats_of(f);
    const int delivered = f->delivered;
    f->planned = planned;
    step(f);
    f->planned = MISCHIEF_NONE;
    f->sender->reserved_bytes = 0;
    const ph_viewer_stats after = stats_of(f);
    assert_int_equal(after.withheld_datagrams, before.withheld_datagrams + 1);
    assert_int_equal(f->delivered, delivered);
    assert_int_equal(after.sent_datagrams, before.sent_datagrams);
    assert_int_equal(after.sent_wire_bytes, before.sent_wire_bytes);
    assert_int_equal(after.sent_enters, before.sent_enters);
    assert_int_equal(after.sent_leaves, before.sent_leaves);
    assert_int_equal(after.sent_updates, before.sent_updates);
    assert_int_equal(after.sent_significant_updates, before.sent_significant_updates);
    assert_int_equal(after.in_flight_count, before.in_flight_count + 1);
    check_ledger(f);
}

// All entities somewhere else, half of them with another health.
static void stir(fixture* f, int round)
{
    for (int i = 0; i < ENTITIES; ++i) {
        assert_int_equal(ph_world_move(f->world, f->ids[i], i * 1024, round * 2048, 0), PH_OK);
        const uint8_t health = (uint8_t)(10 + round);
        if (i % 2 == 0) {
            assert_int_equal(
                ph_world_set_property(f->world, f->ids[i], 1, PH_FIELD_U8, &health, sizeof health),
                PH_OK);
        }
    }
}

static void settle(fixture* f)
{
    for (int tick = 0; tick < 60; ++tick) {
        step(f);
    }
    const ph_viewer_stats stats = stats_of(f);
    assert_false(stats.has_diff);
    assert_int_equal(stats.in_flight_count, 0);
    assert_int_equal(stats.lost_packets, stats.withheld_datagrams);
    assert_int_equal(ph_client_entity_count(f->client), ENTITIES);
    check_ledger(f);
}

static void check_all_told(const fixture* f, int round)
{
    for (int i = 0; i < ENTITIES; ++i) {
        const ph_entity_id id = ph_client_find(f->client, (uint64_t)i);
        int32_t at_mm[3];
        uint8_t health;
        assert_int_equal(
            ph_client_get_property(f->client, id, 0, PH_FIELD_I32X3, at_mm, sizeof at_mm), PH_OK);
        assert_int_equal(
            ph_client_get_property(f->client, id, 1, PH_FIELD_U8, &health, sizeof health), PH_OK);
        assert_int_equal(at_mm[1], round * 2048);
        assert_int_equal(health, i % 2 == 0 ? 10 + round : 0);
    }
}

static void what_is_withheld_is_told_again(void** state)
{
    (void)state;
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        fixture f;
        setup(&f, (ph_profile)profile);
        send_in_vain(&f, MISCHIEF_BUDGET); // enters
        settle(&f);
        stir(&f, 1);
        send_in_vain(&f, MISCHIEF_BUDGET);
        settle(&f);
        check_all_told(&f, 1);
        stir(&f, 2);
        send_in_vain(&f, MISCHIEF_ROOM);
        settle(&f);
        check_all_told(&f, 2);
        assert_int_equal(stats_of(&f).withheld_datagrams, 3);
        teardown(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_withheld_is_told_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
