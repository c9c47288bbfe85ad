// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What one viewer is sent, packet by packet, with acknowledgements written by hand: the rules of
// knowledge, and the cases that break simpler ones.

#include "support/test_support.h"
#include "support/inbox.h"
#include "support/small_world.h"

#include "world/sender.h"
#include "world/world_state.h"

#include <string.h>

#define SEND_US 200000
#define SECOND_US 1000000

typedef struct fixture {
    small_world f;
    ph_viewer_id viewer;
    inbox box;
} fixture;

static fixture shared; // too large for a stack

static fixture* setup_with(const ph_viewer_def* def)
{
    fixture* x = &shared;
    small_world_setup(&x->f, 64);
    assert_int_equal(ph_world_add_viewer(x->f.world, def, &x->viewer), PH_OK);
    inbox_setup(&x->box, x->f.world, x->f.schema, x->viewer);
    return x;
}

// A spectator at the origin with more bits than it needs.
static fixture* setup(void)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 1000000;
    return setup_with(&def);
}

static void teardown(fixture* x)
{
    inbox_teardown(&x->box);
    small_world_teardown(&x->f);
}

static int slot_of(const fixture* x, ph_entity_id id)
{
    const int slot = small_world_slot(&x->f, x->viewer, id);
    assert_true(slot >= 0);
    return slot;
}

// Somebody whose enter is known to have arrived.
static ph_entity_id known_person(fixture* x, uint64_t name, int32_t x_mm)
{
    const ph_entity_id id = small_world_spawn_at(&x->f, name, x_mm, 0);
    inbox_step(&x->box, SEND_US);
    inbox_ack_all(&x->box);
    assert_non_null(inbox_find(&x->box, slot_of(x, id)));
    return id;
}

static void set_health(fixture* x, ph_entity_id id, uint8_t health)
{
    assert_int_equal(ph_world_set(x->f.world, id, HEALTH, PH_FIELD_U8, &health, sizeof health),
                     PH_OK);
}

static uint32_t health_in(const fixture* x, const ph_record* record)
{
    return inbox_value(&x->box, record, HEALTH)[0];
}

// ---- enters

static void a_newcomer_is_told_as_a_whole(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = small_world_spawn_at(&x->f, 4711, 5000, -3000);
    set_health(x, id, 50);
    inbox_step(&x->box, SEND_US);
    const inbox_letter* letter = inbox_only(&x->box);
    assert_true(letter->header.has_hello);
    assert_true(letter->header.has_eye);
    assert_int_equal(letter->header.enter_count, 1);
    const ph_record* enter = inbox_find(&x->box, slot_of(x, id));
    assert_int_equal(enter->kind, PH_RECORD_ENTER);
    assert_int_equal(enter->name, 4711);
    assert_int_equal(enter->association & 3, 1);
    assert_true(enter->properties == (BIT(POSITION) | BIT(HEALTH))); // the rest is initial
    assert_int_equal(health_in(x, enter), 50);
    assert_int_equal((int32_t)inbox_value(&x->box, enter, POSITION)[0], 4992);
    assert_int_equal((int32_t)inbox_value(&x->box, enter, POSITION)[1], -3008);
    teardown(x);
}

static void until_its_enter_is_known_every_record_is_an_enter(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = small_world_spawn(&x->f, 1);
    for (int i = 0; i < 3; ++i) {
        set_health(x, id, (uint8_t)(10 + i));
        inbox_step(&x->box, SEND_US);
        assert_int_equal(inbox_find(&x->box, slot_of(x, id))->kind, PH_RECORD_ENTER);
    }
    assert_int_equal(inbox_ack(&x->box, 1, 1), PH_OK); // the first; two are still on their way
    set_health(x, id, 20);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(inbox_find(&x->box, slot_of(x, id))->kind, PH_RECORD_UPDATE);
    teardown(x);
}

static void newcomers_come_nearest_first(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 2000;
    def.burst_bits = 1;
    fixture* x = setup_with(&def);
    for (int i = 0; i < 40; ++i) {
        small_world_spawn_at(&x->f, (uint64_t)i, 100000 - 2000 * i, 0);
    }
    int32_t last_mm = -1;
    for (int i = 0; i < 60; ++i) {
        inbox_step(&x->box, SEND_US);
        int32_t furthest_mm = last_mm;
        for (int k = 0; x->box.count > 0 && k < x->box.letters[0].count; ++k) {
            const ph_record* enter = &x->box.letters[0].records[k];
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
    teardown(x);
}

static void a_lost_enter_is_told_again(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = small_world_spawn(&x->f, 1);
    inbox_step(&x->box, SEND_US);
    inbox_lose_all(&x->box);
    set_health(x, id, 33);
    inbox_step(&x->box, SEND_US);
    const ph_record* enter = inbox_find(&x->box, slot_of(x, id));
    assert_int_equal(enter->kind, PH_RECORD_ENTER);
    assert_int_equal(health_in(x, enter), 33);
    assert_int_equal(enter->association & 3, 1);
    assert_true(inbox_stats(&x->box).ledger.repeat_bits256 > 0);
    teardown(x);
}

// ---- updates

static void what_the_client_has_is_not_told(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    for (int i = 0; i < 5; ++i) {
        inbox_step(&x->box, SEND_US);
        assert_int_equal(x->box.count, 0);
    }
    set_health(x, id, 7);
    inbox_step(&x->box, SEND_US);
    const ph_record* update = inbox_find(&x->box, slot_of(x, id));
    assert_int_equal(update->kind, PH_RECORD_UPDATE);
    assert_true(update->properties == BIT(HEALTH));
    inbox_step(&x->box, SEND_US); // on its way
    assert_int_equal(x->box.count, 0);
    teardown(x);
}

// A, then B, then A again while B is on its way: the client must not end with B.
static void there_and_back_is_told_while_the_way_there_is_in_flight(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    set_health(x, id, 60);
    inbox_step(&x->box, SEND_US);
    set_health(x, id, 100);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(health_in(x, inbox_find(&x->box, slot_of(x, id))), 100);
    inbox_ack_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    teardown(x);
}

static void a_lost_value_is_told_as_it_is_then(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    set_health(x, id, 60);
    inbox_step(&x->box, SEND_US);
    inbox_lose_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(health_in(x, inbox_find(&x->box, slot_of(x, id))), 60);
    set_health(x, id, 61);
    inbox_lose_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(health_in(x, inbox_find(&x->box, slot_of(x, id))), 61);
    teardown(x);
}

// B is lost after A was put back: the client has A, nothing is due.
static void a_lost_way_there_needs_no_way_back(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    set_health(x, id, 60);
    inbox_step(&x->box, SEND_US);
    set_health(x, id, 100);
    inbox_lose_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    assert_false(inbox_stats(&x->box).is_something_due);
    teardown(x);
}

// The older of two packets is lost, the newer carried the same property: nothing to repeat.
static void a_newer_packet_makes_good_for_a_lost_one(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    set_health(x, id, 60);
    inbox_step(&x->box, SEND_US);
    set_health(x, id, 61);
    inbox_step(&x->box, SEND_US);
    const uint32_t newest = inbox_newest(&x->box);
    assert_int_equal(inbox_ack(&x->box, newest, 5), PH_OK); // the one between is lost
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    assert_int_equal(inbox_stats(&x->box).lost, 1);
    teardown(x);
}

static void texts_are_told_when_they_change(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    const char* const names[] = {"Ada", "Ida", ""};
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(
            ph_world_set(x->f.world, id, NAME, PH_FIELD_TEXT, names[i], strlen(names[i])), PH_OK);
        inbox_step(&x->box, SEND_US);
        const ph_record* update = inbox_find(&x->box, slot_of(x, id));
        assert_true(update->properties == BIT(NAME));
        const ph_text text = ph_layout_text(&x->box.layouts.layouts[0], update->texts, NAME);
        assert_int_equal(text.length, strlen(names[i]));
        assert_memory_equal(text.bytes, names[i], text.length);
        inbox_ack_all(&x->box);
    }
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    teardown(x);
}

// ---- leaves

static void move_away(fixture* x, ph_entity_id id)
{
    assert_int_equal(ph_world_move(x->f.world, id, 2000000, 0, 0), PH_OK);
}

static void a_leave_is_told_until_it_is_known(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    const int slot = slot_of(x, id);
    move_away(x, id);
    for (int i = 0; i < 3; ++i) {
        inbox_step(&x->box, SEND_US);
        assert_int_equal(inbox_find(&x->box, slot)->kind, PH_RECORD_LEAVE);
        inbox_step(&x->box, SEND_US); // on its way
        assert_int_equal(x->box.count, 0);
        assert_int_equal(ph_world_free_slot(x->f.world, x->viewer, slot), PH_ERROR_VALUE);
        inbox_lose_all(&x->box);
    }
    inbox_step(&x->box, SEND_US);
    inbox_ack_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    teardown(x);
}

// Three slots: the own entity's, and two for others.
static fixture* setup_narrow(void)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 1000000;
    def.visible_max = 1;
    def.slot_count = 2;
    return setup_with(&def);
}

static void a_slot_is_used_again_with_the_next_number(void** state)
{
    (void)state;
    fixture* x = setup_narrow();
    const ph_entity_id first = known_person(x, 1, 1000);
    const int slot = slot_of(x, first);
    assert_int_equal(ph_world_despawn(x->f.world, first), PH_OK);
    const ph_entity_id second = small_world_spawn_at(&x->f, 2, 1000, 0);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(inbox_find(&x->box, slot)->kind, PH_RECORD_LEAVE);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0); // the slot rests
    inbox_ack_all(&x->box);
    inbox_step(&x->box, SEND_US);
    const ph_record* enter = inbox_find(&x->box, slot_of(x, second));
    assert_int_equal(slot_of(x, second), slot);
    assert_int_equal(enter->kind, PH_RECORD_ENTER);
    assert_int_equal(enter->association & 3, 2);
    assert_int_equal(enter->name, 2);
    teardown(x);
}

static void whoever_never_arrived_needs_no_leave(void** state)
{
    (void)state;
    fixture* x = setup_narrow();
    const ph_entity_id first = small_world_spawn_at(&x->f, 1, 1000, 0);
    inbox_step(&x->box, SEND_US);
    inbox_lose_all(&x->box);
    assert_int_equal(ph_world_despawn(x->f.world, first), PH_OK);
    const ph_entity_id second = small_world_spawn_at(&x->f, 2, 1000, 0);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0); // the slot was left; the send has freed it
    inbox_step(&x->box, SEND_US);
    const ph_record* enter = inbox_find(&x->box, slot_of(x, second));
    assert_int_equal(enter->name, 2);
    assert_int_equal(enter->association & 3, 1); // the same number again
    assert_int_equal(inbox_stats(&x->box).leaves, 0);
    teardown(x);
}

// It left while its enter was on its way. The enter is lost, the leave arrives: the number counts.
static void a_leave_may_arrive_without_its_enter(void** state)
{
    (void)state;
    fixture* x = setup_narrow();
    const ph_entity_id first = small_world_spawn_at(&x->f, 1, 1000, 0);
    inbox_step(&x->box, SEND_US);
    const int slot = slot_of(x, first);
    assert_int_equal(ph_world_despawn(x->f.world, first), PH_OK);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(inbox_find(&x->box, slot)->kind, PH_RECORD_LEAVE);
    assert_int_equal(inbox_ack(&x->box, 2, 1), PH_OK);
    const ph_entity_id second = small_world_spawn_at(&x->f, 2, 1000, 0);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(inbox_find(&x->box, slot_of(x, second))->association & 3, 2);
    teardown(x);
}

// Enter and leave are both lost: nobody knows of it, the number is used again.
static void enter_and_leave_may_both_be_lost(void** state)
{
    (void)state;
    fixture* x = setup_narrow();
    const ph_entity_id first = small_world_spawn_at(&x->f, 1, 1000, 0);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(ph_world_despawn(x->f.world, first), PH_OK);
    inbox_step(&x->box, SEND_US);
    inbox_lose_all(&x->box);
    const ph_entity_id second = small_world_spawn_at(&x->f, 2, 1000, 0);
    inbox_step(&x->box, SEND_US);
    const ph_record* enter = inbox_find(&x->box, slot_of(x, second));
    assert_int_equal(enter->kind, PH_RECORD_ENTER);
    assert_int_equal(enter->association & 3, 1);
    teardown(x);
}

static void the_dead_are_told_of_no_more(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    set_health(x, id, 3);
    ph_world_tick(x->f.world);
    assert_int_equal(ph_world_despawn(x->f.world, id), PH_OK);
    small_world_spawn_at(&x->f, 2, 1000, 0); // takes its row
    inbox_send(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    teardown(x);
}

static void the_hidden_are_told_of_no_more(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    set_health(x, id, 3);
    ph_world_tick(x->f.world);
    assert_int_equal(ph_world_set_visibility(x->f.world, id, 0, false, false), PH_OK);
    inbox_send(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    teardown(x);
}

// ---- eyes and jumps

static void an_eye_is_told_until_it_is_known(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = small_world_spawn(&x->f, 1);
    inbox_step(&x->box, SEND_US);
    assert_true(inbox_only(&x->box)->header.has_eye);
    set_health(x, id, 1);
    inbox_step(&x->box, SEND_US);
    assert_true(inbox_only(&x->box)->header.has_eye);
    inbox_ack_all(&x->box);
    set_health(x, id, 2);
    inbox_step(&x->box, SEND_US);
    assert_false(inbox_only(&x->box)->header.has_eye);
    // A step is not worth it, 200 m are.
    assert_int_equal(ph_world_set_eye(x->f.world, x->viewer, 5000, 0, 0), PH_OK);
    set_health(x, id, 3);
    inbox_step(&x->box, SEND_US);
    assert_false(inbox_only(&x->box)->header.has_eye);
    assert_int_equal(ph_world_set_eye(x->f.world, x->viewer, 200000, 0, 0), PH_OK);
    set_health(x, id, 4);
    inbox_step(&x->box, SEND_US);
    assert_true(inbox_only(&x->box)->header.has_eye);
    assert_int_equal(inbox_only(&x->box)->header.eye_mm[0], 200000);
    teardown(x);
}

static void a_jump_is_told_as_one_until_it_is_known(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    assert_int_equal(ph_world_move(x->f.world, id, 9000, 0, 0), PH_OK); // 8 m: no jump
    inbox_step(&x->box, SEND_US);
    assert_false(inbox_find(&x->box, slot_of(x, id))->is_jump);
    inbox_ack_all(&x->box);
    assert_int_equal(ph_world_move(x->f.world, id, 29000, 0, 0), PH_OK);
    inbox_step(&x->box, SEND_US);
    assert_true(inbox_find(&x->box, slot_of(x, id))->is_jump);
    inbox_lose_all(&x->box);
    assert_int_equal(ph_world_move(x->f.world, id, 30000, 0, 0), PH_OK);
    inbox_step(&x->box, SEND_US);
    assert_true(inbox_find(&x->box, slot_of(x, id))->is_jump);
    inbox_ack_all(&x->box);
    assert_int_equal(ph_world_move(x->f.world, id, 31000, 0, 0), PH_OK);
    inbox_step(&x->box, SEND_US);
    assert_false(inbox_find(&x->box, slot_of(x, id))->is_jump);
    teardown(x);
}

// The viewer teleports with an entity beside it; the first packet from there is lost. What follows
// must not be read around the old eye.
static void after_a_lost_teleport_packets_still_bring_their_eye(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    assert_int_equal(ph_world_set_eye(x->f.world, x->viewer, 5000000, 0, 0), PH_OK);
    assert_int_equal(ph_world_move(x->f.world, id, 5001000, 0, 0), PH_OK);
    for (int i = 0; i < 3; ++i) {
        inbox_step(&x->box, SEND_US);
        const inbox_letter* letter = inbox_only(&x->box);
        assert_true(letter->header.has_eye);
        const ph_record* update = inbox_find(&x->box, slot_of(x, id));
        assert_int_equal(inbox_value(&x->box, update, POSITION)[0], 5001000 & ~15);
        inbox_lose_all(&x->box);
    }
    teardown(x);
}

// ---- without answers

static void without_answers_only_probes_go_out(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    int packet_count = 0;
    int probe_count = 0;
    for (int i = 0; i < 100; ++i) {
        set_health(x, id, (uint8_t)(i % 90));
        inbox_step(&x->box, SEND_US);
        if (x->box.count > 0) {
            const bool is_probe = inbox_only(&x->box)->header.is_probe;
            packet_count += !is_probe;
            probe_count += is_probe;
            assert_true(!is_probe || x->box.letters[0].header.number == inbox_newest(&x->box));
        }
    }
    assert_int_equal(packet_count, PH_FLIGHT_MAX);
    assert_int_equal(probe_count, (100 - PH_FLIGHT_MAX) * SEND_US / SECOND_US);
    // One answer resolves everything.
    assert_int_equal(inbox_ack(&x->box, inbox_newest(&x->box), UINT64_MAX >> 1 << 1), PH_OK);
    assert_int_equal(inbox_stats(&x->box).in_flight, 0);
    set_health(x, id, 99);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(health_in(x, inbox_find(&x->box, slot_of(x, id))), 99);
    teardown(x);
}

// The last packet is lost and nothing is due any more: a probe asks what became of it.
static void a_probe_asks_for_the_last_packet(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    set_health(x, id, 5);
    inbox_step(&x->box, SEND_US);
    for (int i = 0; i < 4; ++i) {
        inbox_step(&x->box, SEND_US);
        assert_int_equal(x->box.count, 0);
    }
    inbox_step(&x->box, SEND_US);
    assert_true(inbox_only(&x->box)->header.is_probe);
    inbox_lose_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(health_in(x, inbox_find(&x->box, slot_of(x, id))), 5);
    teardown(x);
}

static void a_client_that_never_answers_gets_hellos(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = small_world_spawn(&x->f, 1);
    for (int i = 0; i < 400; ++i) {
        set_health(x, id, (uint8_t)(i % 90));
        inbox_step(&x->box, SEND_US);
        for (int k = 0; k < x->box.count; ++k) {
            assert_true(x->box.letters[k].header.has_hello);
            assert_int_equal(x->box.letters[k].header.horizon, 0);
        }
    }
    assert_int_equal(inbox_stats(&x->box).in_flight, PH_FLIGHT_MAX);
    assert_true(ph_world_validate(x->f.world));
    teardown(x);
}

// ---- references

static void put_target(fixture* x, ph_entity_id id, ph_entity_id target)
{
    assert_int_equal(ph_world_set(x->f.world, id, TARGET, PH_FIELD_ENTITY, &target, sizeof target),
                     PH_OK);
}

static void a_reference_waits_for_its_target_to_arrive(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id id = known_person(x, 1, 1000);
    const ph_entity_id target = small_world_spawn_at(&x->f, 2, 2000, 0);
    put_target(x, id, target);
    inbox_step(&x->box, SEND_US);
    assert_null(inbox_find(&x->box, slot_of(x, id)));
    assert_non_null(inbox_find(&x->box, slot_of(x, target)));
    inbox_ack_all(&x->box);
    inbox_step(&x->box, SEND_US);
    const ph_record* update = inbox_find(&x->box, slot_of(x, id));
    assert_true(update->properties == BIT(TARGET));
    assert_int_equal(inbox_value(&x->box, update, TARGET)[0], slot_of(x, target) + 1);
    assert_int_equal(inbox_value(&x->box, update, TARGET)[1], 1);
    inbox_ack_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    teardown(x);
}

static void a_reference_ends_when_its_target_leaves(void** state)
{
    (void)state;
    for (int is_put_back = 0; is_put_back <= 1; ++is_put_back) {
        fixture* x = setup();
        const ph_entity_id id = known_person(x, 1, 1000);
        const ph_entity_id target = known_person(x, 2, 2000);
        put_target(x, id, target);
        inbox_step(&x->box, SEND_US);
        inbox_ack_all(&x->box);
        assert_int_equal(ph_world_despawn(x->f.world, target), PH_OK);
        if (is_put_back != 0) {
            put_target(x, id, (ph_entity_id){0}); // no change of the property, says the world
        }
        inbox_step(&x->box, SEND_US);
        const ph_record* update = inbox_find(&x->box, slot_of(x, id));
        assert_true(update->properties == BIT(TARGET));
        assert_int_equal(inbox_value(&x->box, update, TARGET)[0], 0);
        teardown(x);
    }
}

// ---- growth

static void a_raised_budget_keeps_what_is_in_flight(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    fixture* x = setup_with(&def);
    const ph_entity_id id = known_person(x, 1, 1000);
    for (int i = 0; i < 10; ++i) {
        set_health(x, id, (uint8_t)i);
        inbox_step(&x->box, SEND_US);
    }
    x->f.memory.fail_at = x->f.memory.allocate_count + 1;
    assert_int_equal(ph_world_set_budget(x->f.world, x->viewer, 0, 0), PH_ERROR_MEMORY);
    assert_true(ph_world_validate(x->f.world));
    assert_int_equal(ph_world_set_budget(x->f.world, x->viewer, 0, 0), PH_OK);
    assert_true(ph_world_validate(x->f.world));
    inbox_lose_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(health_in(x, inbox_find(&x->box, slot_of(x, id))), 9);
    teardown(x);
}

static void a_warm_send_allocates_nothing(void** state)
{
    (void)state;
    fixture* x = setup();
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
    teardown(x);
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
        cmocka_unit_test(a_lost_way_there_needs_no_way_back),
        cmocka_unit_test(a_newer_packet_makes_good_for_a_lost_one),
        cmocka_unit_test(texts_are_told_when_they_change),
        cmocka_unit_test(a_leave_is_told_until_it_is_known),
        cmocka_unit_test(a_slot_is_used_again_with_the_next_number),
        cmocka_unit_test(whoever_never_arrived_needs_no_leave),
        cmocka_unit_test(a_leave_may_arrive_without_its_enter),
        cmocka_unit_test(enter_and_leave_may_both_be_lost),
        cmocka_unit_test(the_dead_are_told_of_no_more),
        cmocka_unit_test(the_hidden_are_told_of_no_more),
        cmocka_unit_test(an_eye_is_told_until_it_is_known),
        cmocka_unit_test(a_jump_is_told_as_one_until_it_is_known),
        cmocka_unit_test(after_a_lost_teleport_packets_still_bring_their_eye),
        cmocka_unit_test(without_answers_only_probes_go_out),
        cmocka_unit_test(a_probe_asks_for_the_last_packet),
        cmocka_unit_test(a_client_that_never_answers_gets_hellos),
        cmocka_unit_test(a_reference_waits_for_its_target_to_arrive),
        cmocka_unit_test(a_reference_ends_when_its_target_leaves),
        cmocka_unit_test(a_raised_budget_keeps_what_is_in_flight),
        cmocka_unit_test(a_warm_send_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
