// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which acknowledgements count, and what becomes of those that do not.

#include "support/test_support.h"
#include "support/inbox.h"
#include "support/small_world.h"

#include "packet/header.h"
#include "replication/sender.h"
#include "world/world_state.h"
#include "tools/tools.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#define SEND_US 200000
#define FAR_MM 20000 // no entity gets there within a tick

typedef struct fixture {
    small_world f;
    ph_viewer_id viewer;
    ph_entity_id entity;
    inbox box;
    uint8_t health;
} fixture;

static fixture shared; // too large for a stack

static fixture* setup(uint32_t session)
{
    fixture* x = &shared;
    small_world_setup(&x->f, 16);
    ph_viewer_def def = ph_viewer_def_default();
    def.session = session;
    def.bits_per_second = 100000;
    assert_int_equal(ph_world_add_viewer(x->f.world, &def, &x->viewer), PH_OK);
    x->entity = small_world_spawn(&x->f, 1);
    x->health = 0;
    inbox_setup(&x->box, x->f.world, x->f.schema, x->viewer);
    return x;
}

static void teardown(fixture* x)
{
    inbox_teardown(&x->box);
    small_world_teardown(&x->f);
}

// Sends so many packets with one record each.
static void send(fixture* x, int count)
{
    for (int i = 0; i < count; ++i) {
        x->health = (uint8_t)((x->health + 1) % 90);
        assert_int_equal(
            ph_world_set_property(x->f.world, x->entity, HEALTH, PH_FIELD_U8, &x->health, 1),
            PH_OK);
        inbox_step(&x->box, SEND_US);
        assert_int_equal(x->box.count, 1);
    }
}

static void news_resolves_everything_up_to_its_number(void** state)
{
    (void)state;
    fixture* x = setup(1000);
    send(x, 6);
    assert_int_equal(x->box.packets[0].header.sequence, 1006);
    assert_int_equal(inbox_ack(&x->box, 1004, 0xB), PH_OK);
    const ph_viewer_stats stats = inbox_stats(&x->box);
    assert_int_equal(stats.new_acks, 1);
    assert_int_equal(stats.resolved_packets, 4);
    assert_int_equal(stats.lost_packets, 1); // 1002
    assert_int_equal(stats.in_flight_count, 2);
    send(x, 1);
    assert_int_equal(x->box.packets[0].header.horizon, 1004);
    assert_false(x->box.packets[0].header.has_hello);
    teardown(x);
}

static void what_comes_late_or_twice_is_old(void** state)
{
    (void)state;
    fixture* x = setup(0);
    send(x, 5);
    assert_int_equal(inbox_ack(&x->box, 4, 0xD), PH_OK);
    assert_int_equal(inbox_ack(&x->box, 4, 0xD), PH_OK);
    assert_int_equal(inbox_ack(&x->box, 3, 0x6), PH_OK);
    const ph_viewer_stats stats = inbox_stats(&x->box);
    assert_int_equal(stats.new_acks, 1);
    assert_int_equal(stats.old_acks, 2);
    assert_int_equal(stats.resolved_packets, 4);
    teardown(x);
}

// The first resolution is final, whichever way a later one lies.
static void contradictions_change_nothing(void** state)
{
    (void)state;
    fixture* x = setup(0);
    send(x, 5);
    assert_int_equal(inbox_ack(&x->box, 3, 0x5), PH_OK); // 2 is lost
    assert_int_equal(inbox_ack(&x->box, 3, 0x7), PH_ERROR_VALUE);
    assert_int_equal(inbox_ack(&x->box, 3, 0x4), PH_ERROR_VALUE);
    assert_int_equal(inbox_ack(&x->box, 2, 0x3), PH_ERROR_VALUE);
    assert_int_equal(inbox_ack(&x->box, 5, 0x1F), PH_ERROR_VALUE); // news, but contrary
    ph_viewer_stats stats = inbox_stats(&x->box);
    assert_int_equal(stats.contrary_acks, 4);
    assert_int_equal(stats.resolved_packets, 3);
    assert_int_equal(stats.in_flight_count, 2);
    assert_int_equal(inbox_ack(&x->box, 5, 0x17), PH_OK);
    stats = inbox_stats(&x->box);
    assert_int_equal(stats.resolved_packets, 5);
    assert_int_equal(stats.lost_packets, 1);
    teardown(x);
}

static void the_impossible_is_refused(void** state)
{
    (void)state;
    fixture* x = setup(50);
    assert_int_equal(inbox_ack(&x->box, 50, 0), PH_ERROR_VALUE); // before anything was sent
    assert_int_equal(inbox_ack(&x->box, 51, 1), PH_ERROR_VALUE);
    send(x, 3);
    assert_int_equal(inbox_ack(&x->box, 54, 1), PH_ERROR_VALUE); // ahead
    assert_int_equal(inbox_ack(&x->box, 50, 1), PH_ERROR_VALUE); // the session
    assert_int_equal(inbox_ack(&x->box, 49, 1), PH_ERROR_VALUE); // before it
    assert_int_equal(inbox_ack(&x->box, 53 + UINT32_C(0x80000000), 1), PH_ERROR_VALUE);
    assert_int_equal(inbox_ack(&x->box, 53, 0xF), PH_ERROR_VALUE); // the session was applied?
    assert_int_equal(inbox_ack(&x->box, 51, 0x2), PH_ERROR_VALUE);
    const ph_viewer_stats stats = inbox_stats(&x->box);
    assert_int_equal(stats.impossible_acks, 8);
    assert_int_equal(stats.resolved_packets, 0);
    assert_int_equal(stats.in_flight_count, 3);
    teardown(x);
}

static void bytes_of_another_size_are_malformed(void** state)
{
    (void)state;
    fixture* x = setup(0);
    send(x, 1);
    const uint8_t bytes[PH_ACK_SIZE + 1] = {1};
    for (size_t size = 0; size <= PH_ACK_SIZE + 1; ++size) {
        if (size != PH_ACK_SIZE) {
            assert_int_equal(ph_viewer_receive_ack(x->f.world, x->viewer, 0, bytes, size),
                             PH_ERROR_VALUE);
        }
    }
    assert_int_equal(inbox_stats(&x->box).malformed_acks, PH_ACK_SIZE + 1);
    assert_int_equal(ph_viewer_receive_ack(x->f.world, (ph_viewer_id){0}, 0, bytes, PH_ACK_SIZE),
                     PH_ERROR_STALE);
    teardown(x);
}

static void numbers_wrap(void** state)
{
    (void)state;
    fixture* x = setup(UINT32_MAX - 10);
    for (int i = 0; i < 30; ++i) {
        send(x, 1);
        inbox_ack_all(&x->box);
    }
    assert_int_equal(inbox_newest(&x->box), 19);
    const ph_viewer_stats stats = inbox_stats(&x->box);
    assert_int_equal(stats.new_acks, 30);
    assert_int_equal(stats.lost_packets, 0);
    assert_int_equal(inbox_ack(&x->box, UINT32_MAX - 10, 0), PH_ERROR_VALUE);
    teardown(x);
}

static void round_trip_and_loss_are_smoothed(void** state)
{
    (void)state;
    fixture* x = setup(0);
    send(x, 1);
    x->box.now_us += 80000;
    inbox_ack_all(&x->box);
    assert_true(inbox_stats(&x->box).rtt_ms == 80.0);
    send(x, 1);
    x->box.now_us += 160000;
    inbox_ack_all(&x->box);
    assert_true(inbox_stats(&x->box).rtt_ms == 90.0);
    for (int i = 0; i < 200; ++i) {
        send(x, 1);
        if (i % 2 == 0) {
            inbox_lose_all(&x->box);
        } else {
            inbox_ack_all(&x->box);
        }
    }
    const double loss = inbox_stats(&x->box).loss;
    assert_true(loss > 0.4 && loss < 0.6);
    teardown(x);
}

// The packet got lost; the client knows of it by a probe, long after it was sent.
static void what_is_known_by_a_probe_alone_measures_nothing(void** state)
{
    (void)state;
    fixture* x = setup(0);
    send(x, 1);
    x->box.now_us += 20000;
    inbox_ack_all(&x->box);
    assert_true(inbox_stats(&x->box).rtt_ms == 20.0);
    for (int i = 0; i < 10; ++i) {
        send(x, 1);
        x->box.now_us += 1500000;
        inbox_step(&x->box, SEND_US); // the probe
        x->box.now_us += 20000;
        inbox_lose_all(&x->box);
    }
    const ph_viewer_stats stats = inbox_stats(&x->box);
    assert_true(stats.lost_packets >= 10);
    assert_int_equal(stats.rtt_samples, 1);
    assert_int_equal(stats.rtt_sum_us, 20000);
    assert_true(stats.rtt_ms == 20.0);
    teardown(x);
}

static ph_result ack_late(fixture* x, uint8_t lag_ms)
{
    const uint32_t newest = inbox_newest(&x->box);
    uint8_t bytes[PH_ACK_SIZE];
    ph_ack_write(
        &(ph_ack){.newest = newest, .applied = (UINT64_C(1) << newest) - 1, .lag_ms = lag_ms},
        bytes);
    return ph_viewer_receive_ack(x->f.world, x->viewer, x->box.now_us, bytes, sizeof bytes);
}

// The first answer got lost, the one that came left 50 ms later: the way is no longer for that, and
// the client counts the wait from its first one.
static void an_answer_that_was_given_again_makes_no_way_longer(void** state)
{
    (void)state;
    fixture* x = setup(0);
    send(x, 1);
    x->box.now_us += 130000;
    assert_int_equal(ack_late(x, 50), PH_OK);
    assert_true(inbox_stats(&x->box).rtt_ms == 80.0);
    assert_int_equal(inbox_stats(&x->box).rtt_samples, 1);
    assert_int_equal(inbox_stats(&x->box).rtt_sum_us, 80000);
    x->box.now_us -= SEND_US - 30000;
    send(x, 1); // 30 ms later
    assert_int_equal(x->box.packets[0].header.wait, (30 + 50) / 8);
    teardown(x);
}

static void answers_of_an_unknown_or_impossible_lag_measure_nothing(void** state)
{
    (void)state;
    fixture* x = setup(0);
    send(x, 1);
    x->box.now_us += 80000;
    assert_int_equal(ack_late(x, 81), PH_OK); // before the packet left
    send(x, 1);
    x->box.now_us += 400000;
    assert_int_equal(ack_late(x, PH_ACK_LAG_UNKNOWN), PH_OK);
    assert_int_equal(inbox_stats(&x->box).rtt_samples, 0);
    assert_true(inbox_stats(&x->box).rtt_ms == 0.0);
    send(x, 1);
    assert_int_equal(x->box.packets[0].header.wait, PH_WAIT_UNKNOWN);
    x->box.now_us += 80000;
    assert_int_equal(ack_late(x, 80), PH_OK);
    assert_int_equal(inbox_stats(&x->box).rtt_samples, 1);
    teardown(x);
}

// Whatever unknown senders send, the world stays sound, and honest answers still count.
static void forged_acknowledgements_do_no_harm(void** state)
{
    (void)state;
    test_rng rng = {.state = 4103};
    fixture* x = setup(7);
    for (int round = 0; round < 3000; ++round) {
        if (inbox_stats(&x->box).in_flight_count < PH_FLIGHT_MAX) {
            send(x, 1);
        } else {
            inbox_ack_all(&x->box);
        }
        const uint32_t newest = inbox_newest(&x->box) + 3 - (uint32_t)test_rng_below(&rng, 80);
        const uint64_t applied = test_rng_next(&rng) | test_rng_next(&rng);
        (void)inbox_ack(&x->box, newest, applied);
        uint8_t bytes[PH_ACK_SIZE];
        for (size_t i = 0; i < sizeof bytes; ++i) {
            bytes[i] = (uint8_t)test_rng_next(&rng);
        }
        (void)ph_viewer_receive_ack(x->f.world, x->viewer, x->box.now_us, bytes, sizeof bytes);
        assert_true(ph_world_validate(x->f.world));
    }
    const ph_viewer_stats stats = inbox_stats(&x->box);
    assert_true(stats.contrary_acks > 100 && stats.impossible_acks > 100);
    teardown(x);
}

// ---- what the client then has

// Everything that the bits of `changes` name becomes another; the rest stays.
static void change(fixture* x, unsigned changes)
{
    static const int properties[] = {POSITION, HEADING, HEALTH, MONEY};
    const int number = ++x->health;
    const float heading_deg = (float)(number * 20);
    const uint8_t health = (uint8_t)number;
    const int64_t money = number * 3;
    for (int i = 0; i < 4; ++i) {
        const bool is_asked = (changes >> i & 1) != 0;
        if (is_asked && properties[i] == POSITION) {
            ph_world_move(x->f.world, x->entity, number * 1000, number * -700, 0);
        } else if (is_asked && properties[i] == HEADING) {
            ph_world_set_property(x->f.world, x->entity, HEADING, PH_FIELD_F32, &heading_deg,
                                  sizeof heading_deg);
        } else if (is_asked && properties[i] == HEALTH) {
            ph_world_set_property(x->f.world, x->entity, HEALTH, PH_FIELD_U8, &health,
                                  sizeof health);
        } else if (is_asked) {
            ph_world_set_property(x->f.world, x->entity, MONEY, PH_FIELD_I64, &money, sizeof money);
        }
    }
}

// Whatever a record tells, a position with what follows it or without, takes its own place among the
// known values, and nothing else changes there.
static void what_was_applied_is_known(void** state)
{
    (void)state;
    fixture* x = setup(7);
    inbox_step(&x->box, SEND_US);
    inbox_ack_all(&x->box);
    const int slot = small_world_slot(&x->f, x->viewer, x->entity);
    const ph_sender* sender = x->f.world->viewers.viewers[0].sender;
    const ph_packing* packing = &x->f.world->store.class_info.packings[0];
    const ph_replica* replica = ph_replicas_at(&sender->replicas, slot);
    uint64_t told = 0;
    for (unsigned changes = 1; changes < 16; ++changes) {
        change(x, changes);
        inbox_step(&x->box, SEND_US);
        assert_int_equal(replica->in_flight, 1);
        const ph_flight_item item = ph_flight_read(&sender->flight, replica->newest_item);
        assert_int_equal(item.kind, PH_RECORD_UPDATE);
        told |= UINT64_C(1) << (item.properties & 7);
        uint8_t expected[PH_PROPERTIES_MAX * PH_PACKED_MAX];
        const uint8_t* known = replica->known;
        memcpy(expected, known, packing->stride);
        ph_packing_spread(packing, item.properties, item.values, expected);
        assert_memory_not_equal(known, expected, packing->stride);
        inbox_ack_all(&x->box);
        assert_memory_equal(known, expected, packing->stride);
        assert_int_equal(replica->in_flight, 0);
    }
    assert_int_equal(told, 0xFF); // every choice of the first three
    teardown(x);
}

// The place of an entity that has jumped is known as one behind that jump.
static void jumps_that_were_applied_are_known(void** state)
{
    (void)state;
    fixture* x = setup(7);
    inbox_step(&x->box, SEND_US);
    inbox_ack_all(&x->box);
    const int slot = small_world_slot(&x->f, x->viewer, x->entity);
    const ph_sender* sender = x->f.world->viewers.viewers[0].sender;
    const ph_replica* replica = ph_replicas_at(&sender->replicas, slot);
    for (unsigned others = 0; others < 16; others += 2) {
        const uint16_t before = replica->jumps;
        ph_world_move(x->f.world, x->entity, others % 4 == 0 ? FAR_MM : 0, 0, 0);
        change(x, others);
        inbox_step(&x->box, SEND_US);
        assert_int_equal(replica->jumps, before);
        inbox_ack_all(&x->box);
        assert_int_equal(replica->jumps, before + 1);
    }
    teardown(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(news_resolves_everything_up_to_its_number),
        cmocka_unit_test(what_comes_late_or_twice_is_old),
        cmocka_unit_test(contradictions_change_nothing),
        cmocka_unit_test(the_impossible_is_refused),
        cmocka_unit_test(bytes_of_another_size_are_malformed),
        cmocka_unit_test(numbers_wrap),
        cmocka_unit_test(round_trip_and_loss_are_smoothed),
        cmocka_unit_test(what_is_known_by_a_probe_alone_measures_nothing),
        cmocka_unit_test(an_answer_that_was_given_again_makes_no_way_longer),
        cmocka_unit_test(answers_of_an_unknown_or_impossible_lag_measure_nothing),
        cmocka_unit_test(forged_acknowledgements_do_no_harm),
        cmocka_unit_test(what_was_applied_is_known),
        cmocka_unit_test(jumps_that_were_applied_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
