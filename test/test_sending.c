// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What one viewer is sent, packet by packet, with acknowledgements written by hand: the rules of
// replicas, and the cases that break simpler ones.

#include "support/test_support.h"
#include "support/viewed_world.h"

#include "replication/sender.h"
#include "world/world_state.h"
#include "tools/tools.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <string.h>

#define SEND_US 200000
#define SECOND_US 1000000

// ---- enters

static void a_newcomer_is_told_as_a_whole(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = small_world_spawn_at(&x->f, 4711, 5000, -3000);
    viewed_set_health(x, id, 50);
    inbox_step(&x->box, SEND_US);
    const inbox_packet* packet = inbox_only(&x->box);
    assert_true(packet->header.has_hello);
    assert_true(packet->header.has_eye);
    assert_int_equal(packet->header.enter_count, 1);
    const ph_record* enter = inbox_find(&x->box, viewed_slot(x, id));
    assert_int_equal(enter->kind, PH_RECORD_ENTER);
    assert_int_equal(enter->key, 4711);
    assert_int_equal(enter->association & 3, 1);
    assert_true(enter->properties == (BIT(POSITION) | BIT(HEALTH))); // the rest is initial
    assert_int_equal(viewed_health(x, enter), 50);
    assert_int_equal((int32_t)inbox_value(&x->box, enter, POSITION)[0], 4992);
    assert_int_equal((int32_t)inbox_value(&x->box, enter, POSITION)[1], -3008);
    viewed_teardown(x);
}

static void until_its_enter_is_known_every_record_is_an_enter(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = small_world_spawn(&x->f, 1);
    for (int i = 0; i < 3; ++i) {
        viewed_set_health(x, id, (uint8_t)(10 + i));
        inbox_step(&x->box, SEND_US);
        assert_int_equal(inbox_find(&x->box, viewed_slot(x, id))->kind, PH_RECORD_ENTER);
    }
    assert_int_equal(inbox_ack(&x->box, 1, 1), PH_OK); // the first; two are still in flight
    viewed_set_health(x, id, 20);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(inbox_find(&x->box, viewed_slot(x, id))->kind, PH_RECORD_UPDATE);
    viewed_teardown(x);
}

static void newcomers_come_nearest_first(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 2000;
    def.burst_bits = 1;
    viewed_world* x = viewed_setup_with(&def);
    for (int i = 0; i < 40; ++i) {
        small_world_spawn_at(&x->f, (uint64_t)i, 100000 - 2000 * i, 0);
        ph_world_tick(x->f.world); // so that slots are in another order
    }
    int32_t last_mm = -1;
    for (int i = 0; i < 60; ++i) {
        inbox_step(&x->box, SEND_US);
        int32_t furthest_mm = last_mm;
        for (int k = 0; x->box.count > 0 && k < x->box.packets[0].count; ++k) {
            const ph_record* enter = &x->box.packets[0].records[k];
            const int32_t x_mm = (int32_t)inbox_value(&x->box, enter, POSITION)[0];
            assert_true(x_mm > last_mm); // a packet is in slot order
            furthest_mm = x_mm > furthest_mm ? x_mm : furthest_mm;
        }
        last_mm = furthest_mm;
        if (x->box.count > 0) {
            inbox_ack_all(&x->box);
        }
    }
    assert_true(last_mm > 90000);
    viewed_teardown(x);
}

static void a_lost_enter_is_told_again(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = small_world_spawn(&x->f, 1);
    inbox_step(&x->box, SEND_US);
    inbox_lose_all(&x->box);
    viewed_set_health(x, id, 33);
    inbox_step(&x->box, SEND_US);
    const ph_record* enter = inbox_find(&x->box, viewed_slot(x, id));
    assert_int_equal(enter->kind, PH_RECORD_ENTER);
    assert_int_equal(viewed_health(x, enter), 33);
    assert_int_equal(enter->association & 3, 1);
    assert_true(inbox_stats(&x->box).ledger.resent_bits256 > 0);
    viewed_teardown(x);
}

// ---- updates

static void what_the_client_has_is_not_told(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    for (int i = 0; i < 5; ++i) {
        inbox_step(&x->box, SEND_US);
        assert_int_equal(x->box.count, 0);
    }
    viewed_set_health(x, id, 7);
    inbox_step(&x->box, SEND_US);
    const ph_record* update = inbox_find(&x->box, viewed_slot(x, id));
    assert_int_equal(update->kind, PH_RECORD_UPDATE);
    assert_true(update->properties == BIT(HEALTH));
    inbox_step(&x->box, SEND_US); // in flight
    assert_int_equal(x->box.count, 0);
    viewed_teardown(x);
}

// A, then B, then A again while B is in flight: the client must not end with B.
static void there_and_back_is_told_while_the_way_there_is_in_flight(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    viewed_set_health(x, id, 60);
    inbox_step(&x->box, SEND_US);
    viewed_set_health(x, id, 100);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(viewed_health(x, inbox_find(&x->box, viewed_slot(x, id))), 100);
    inbox_ack_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    viewed_teardown(x);
}

static void a_lost_value_is_told_as_it_is_then(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    viewed_set_health(x, id, 60);
    inbox_step(&x->box, SEND_US);
    inbox_lose_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(viewed_health(x, inbox_find(&x->box, viewed_slot(x, id))), 60);
    viewed_set_health(x, id, 61);
    inbox_lose_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(viewed_health(x, inbox_find(&x->box, viewed_slot(x, id))), 61);
    viewed_teardown(x);
}

static void a_loss_gives_the_score_back(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    const float* score = &x->f.world->viewers.viewers[0].sender->replicas.score[viewed_slot(x, id)];
    viewed_set_health(x, id, 60);
    inbox_step(&x->box, SEND_US);
    assert_true(*score == 0.0f);
    inbox_lose_all(&x->box);
    assert_true(*score == 10.0f); // 10,000 / 1,000 mm
    viewed_teardown(x);
}

// B is lost after A was put back: the client has A, nothing is due.
static void a_lost_way_there_needs_no_way_back(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    viewed_set_health(x, id, 60);
    inbox_step(&x->box, SEND_US);
    viewed_set_health(x, id, 100);
    inbox_lose_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    assert_false(inbox_stats(&x->box).has_diff);
    viewed_teardown(x);
}

// The older of two packets is lost, the newer carried the same property: nothing to repeat.
static void a_newer_packet_makes_good_for_a_lost_one(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    viewed_set_health(x, id, 60);
    inbox_step(&x->box, SEND_US);
    viewed_set_health(x, id, 61);
    inbox_step(&x->box, SEND_US);
    const uint32_t newest = inbox_newest(&x->box);
    assert_int_equal(inbox_ack(&x->box, newest, 5), PH_OK); // the one between is lost
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    assert_int_equal(inbox_stats(&x->box).lost_packets, 1);
    viewed_teardown(x);
}

static void texts_are_told_when_they_change(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    const char* const names[] = {"Ada", "Ida", ""};
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(
            ph_world_set_property(x->f.world, id, NAME, PH_FIELD_TEXT, names[i], strlen(names[i])),
            PH_OK);
        inbox_step(&x->box, SEND_US);
        const ph_record* update = inbox_find(&x->box, viewed_slot(x, id));
        assert_true(update->properties == BIT(NAME));
        const ph_text text = ph_layout_text(&x->box.layouts.layouts[0], update->texts, NAME);
        assert_int_equal(text.length, strlen(names[i]));
        assert_memory_equal(text.bytes, names[i], text.length);
        inbox_ack_all(&x->box);
    }
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    viewed_teardown(x);
}

// ---- without answers

static void without_answers_only_probes_go_out(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    int packet_count = 0;
    int probe_count = 0;
    for (int i = 0; i < 100; ++i) {
        viewed_set_health(x, id, (uint8_t)(i % 90));
        inbox_step(&x->box, SEND_US);
        if (x->box.count > 0) {
            const bool is_probe = inbox_only(&x->box)->header.is_probe;
            packet_count += !is_probe;
            probe_count += is_probe;
            assert_true(!is_probe || x->box.packets[0].header.sequence == inbox_newest(&x->box));
        }
    }
    assert_int_equal(packet_count, PH_FLIGHT_MAX);
    assert_int_equal(probe_count, (100 - PH_FLIGHT_MAX) * SEND_US / SECOND_US);
    // One answer resolves everything.
    assert_int_equal(inbox_ack(&x->box, inbox_newest(&x->box), UINT64_MAX >> 1 << 1), PH_OK);
    assert_int_equal(inbox_stats(&x->box).in_flight_count, 0);
    viewed_set_health(x, id, 99);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(viewed_health(x, inbox_find(&x->box, viewed_slot(x, id))), 99);
    viewed_teardown(x);
}

// The last packet is lost and nothing is due any more: a probe asks what became of it.
static void a_probe_asks_for_the_last_packet(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    viewed_set_health(x, id, 5);
    inbox_step(&x->box, SEND_US);
    for (int i = 0; i < 4; ++i) {
        inbox_step(&x->box, SEND_US);
        assert_int_equal(x->box.count, 0);
    }
    inbox_step(&x->box, SEND_US);
    assert_true(inbox_only(&x->box)->header.is_probe);
    inbox_lose_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(viewed_health(x, inbox_find(&x->box, viewed_slot(x, id))), 5);
    viewed_teardown(x);
}

static void a_client_that_never_answers_gets_hellos(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = small_world_spawn(&x->f, 1);
    for (int i = 0; i < 400; ++i) {
        viewed_set_health(x, id, (uint8_t)(i % 90));
        inbox_step(&x->box, SEND_US);
        for (int k = 0; k < x->box.count; ++k) {
            assert_true(x->box.packets[k].header.has_hello);
            assert_int_equal(x->box.packets[k].header.horizon, 0);
        }
    }
    assert_int_equal(inbox_stats(&x->box).in_flight_count, PH_FLIGHT_MAX);
    assert_true(ph_world_validate(x->f.world));
    viewed_teardown(x);
}

// ---- growth

static void a_raised_budget_keeps_what_is_in_flight(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    viewed_world* x = viewed_setup_with(&def);
    const ph_entity_id id = viewed_person(x, 1, 1000);
    for (int i = 0; i < 10; ++i) {
        viewed_set_health(x, id, (uint8_t)i);
        inbox_step(&x->box, SEND_US);
    }
    assert_int_equal(inbox_ack(&x->box, 4, 0xF), PH_OK); // the ring no longer begins at its front
    x->f.memory.fail_at = x->f.memory.allocate_count + 1;
    assert_int_equal(ph_viewer_set_budget(x->f.world, x->viewer, 0, 0), PH_ERROR_MEMORY);
    assert_true(ph_world_validate(x->f.world));
    assert_int_equal(ph_viewer_set_budget(x->f.world, x->viewer, 0, 0), PH_OK);
    assert_true(ph_world_validate(x->f.world));
    inbox_lose_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(viewed_health(x, inbox_find(&x->box, viewed_slot(x, id))), 9);
    viewed_teardown(x);
}

static void a_warm_send_allocates_nothing(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    ph_entity_id ids[30];
    for (int i = 0; i < 30; ++i) {
        ids[i] = small_world_spawn_at(&x->f, (uint64_t)i, 1000 * i, 0);
    }
    inbox_step(&x->box, SEND_US);
    inbox_ack_all(&x->box);
    const int before = x->f.memory.allocate_count;
    for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < 30; ++i) {
            const int32_t x_mm = i % 7 == round % 7 ? 900000 : 1000 * i + round * 200;
            assert_int_equal(ph_world_move(x->f.world, ids[i], x_mm, 0, 0), PH_OK);
        }
        inbox_step(&x->box, SEND_US);
        if (round % 3 != 0) {
            inbox_ack_all(&x->box);
        }
        assert_true(ph_world_validate(x->f.world));
    }
    assert_int_equal(x->f.memory.allocate_count, before);
    viewed_teardown(x);
}

// ---- figures

// The entity that has waited for longest counts, whichever slot it has, and only while it has
// something due.
static void the_longest_wait_is_that_of_an_entity_with_news(void** state)
{
    (void)state;
    enum { PEOPLE = 4, IDLE = 2 };
    static const uint32_t waits_ms[PEOPLE] = {300, 500, 1500, 800};
    for (int turned = 0; turned < PEOPLE; ++turned) {
        viewed_world* x = viewed_setup();
        ph_entity_id ids[PEOPLE];
        for (int i = 0; i < PEOPLE; ++i) {
            ids[i] = viewed_person(x, (uint64_t)i + 1, 1000 * i);
        }
        const ph_sender* sender = x->f.world->viewers.viewers[0].sender;
        for (int i = 0; i < PEOPLE; ++i) {
            const int slot = viewed_slot(x, ids[(i + turned) % PEOPLE]);
            sender->replicas.waiting_ms[slot] = sender->now_ms - waits_ms[i];
            if (i != IDLE) {
                viewed_set_health(x, ids[(i + turned) % PEOPLE], (uint8_t)(10 + i));
            }
        }
        ph_world_tick(x->f.world); // it knows of changes from now on
        const ph_viewer_stats stats = inbox_stats(&x->box);
        assert_true(stats.has_diff);
        assert_int_equal((int)stats.longest_wait_ms, 800);
        viewed_teardown(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_newcomer_is_told_as_a_whole),
        cmocka_unit_test(until_its_enter_is_known_every_record_is_an_enter),
        cmocka_unit_test(newcomers_come_nearest_first),
        cmocka_unit_test(a_lost_enter_is_told_again),
        cmocka_unit_test(what_the_client_has_is_not_told),
        cmocka_unit_test(there_and_back_is_told_while_the_way_there_is_in_flight),
        cmocka_unit_test(a_lost_value_is_told_as_it_is_then),
        cmocka_unit_test(a_loss_gives_the_score_back),
        cmocka_unit_test(a_lost_way_there_needs_no_way_back),
        cmocka_unit_test(a_newer_packet_makes_good_for_a_lost_one),
        cmocka_unit_test(texts_are_told_when_they_change),
        cmocka_unit_test(without_answers_only_probes_go_out),
        cmocka_unit_test(a_probe_asks_for_the_last_packet),
        cmocka_unit_test(a_client_that_never_answers_gets_hellos),
        cmocka_unit_test(a_raised_budget_keeps_what_is_in_flight),
        cmocka_unit_test(a_warm_send_allocates_nothing),
        cmocka_unit_test(the_longest_wait_is_that_of_an_entity_with_news),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
