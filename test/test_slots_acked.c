// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which entities leave a view, where a view is seen from, and which entity refers to which: the
// slots of a viewer as its client comes to know them, with acknowledgements written by hand.

#include "support/test_support.h"
#include "support/viewed_world.h"

#include <pinhole/viewer.h>

#define SEND_US 200000

// ---- leaves

static void move_away(viewed_world* x, ph_entity_id id)
{
    assert_int_equal(ph_world_move(x->f.world, id, 2000000, 0, 0), PH_OK);
}

static void a_leave_is_told_until_it_is_known(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    const int slot = viewed_slot(x, id);
    move_away(x, id);
    for (int i = 0; i < 3; ++i) {
        inbox_step(&x->box, SEND_US);
        assert_int_equal(inbox_find(&x->box, slot)->kind, PH_RECORD_LEAVE);
        inbox_step(&x->box, SEND_US); // in flight
        assert_int_equal(x->box.count, 0);
        assert_int_equal(ph_viewer_free_slot(x->f.world, x->viewer, slot), PH_ERROR_ARGUMENT);
        inbox_lose_all(&x->box);
    }
    inbox_step(&x->box, SEND_US);
    inbox_ack_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    viewed_teardown(x);
}

// Three slots: the own entity's, and two for others.
static viewed_world* setup_narrow(void)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 1000000;
    def.visible_max = 1;
    def.slot_count = 2;
    return viewed_setup_with(&def);
}

static void a_slot_is_used_again_with_the_next_number(void** state)
{
    (void)state;
    viewed_world* x = setup_narrow();
    const ph_entity_id first = viewed_person(x, 1, 1000);
    const int slot = viewed_slot(x, first);
    assert_int_equal(ph_world_despawn(x->f.world, first), PH_OK);
    const ph_entity_id second = small_world_spawn_at(&x->f, 2, 1000, 0);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(inbox_find(&x->box, slot)->kind, PH_RECORD_LEAVE);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0); // the slot rests
    inbox_ack_all(&x->box);
    inbox_step(&x->box, SEND_US);
    const ph_record* enter = inbox_find(&x->box, viewed_slot(x, second));
    assert_int_equal(viewed_slot(x, second), slot);
    assert_int_equal(enter->kind, PH_RECORD_ENTER);
    assert_int_equal(enter->association & 3, 2);
    assert_int_equal(enter->key, 2);
    viewed_teardown(x);
}

static void an_entity_that_never_arrived_needs_no_leave(void** state)
{
    (void)state;
    viewed_world* x = setup_narrow();
    const ph_entity_id first = small_world_spawn_at(&x->f, 1, 1000, 0);
    inbox_step(&x->box, SEND_US);
    inbox_lose_all(&x->box);
    assert_int_equal(ph_world_despawn(x->f.world, first), PH_OK);
    const ph_entity_id second = small_world_spawn_at(&x->f, 2, 1000, 0);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0); // the slot was left; the send has freed it
    inbox_step(&x->box, SEND_US);
    const ph_record* enter = inbox_find(&x->box, viewed_slot(x, second));
    assert_int_equal(enter->key, 2);
    assert_int_equal(enter->association & 3, 1); // the same number again
    assert_int_equal(inbox_stats(&x->box).sent_leaves, 0);
    viewed_teardown(x);
}

// It left while its enter was in flight. The enter is lost, the leave arrives: the number counts.
static void a_leave_may_arrive_without_its_enter(void** state)
{
    (void)state;
    viewed_world* x = setup_narrow();
    const ph_entity_id first = small_world_spawn_at(&x->f, 1, 1000, 0);
    inbox_step(&x->box, SEND_US);
    const int slot = viewed_slot(x, first);
    assert_int_equal(ph_world_despawn(x->f.world, first), PH_OK);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(inbox_find(&x->box, slot)->kind, PH_RECORD_LEAVE);
    assert_int_equal(inbox_ack(&x->box, 2, 1), PH_OK);
    const ph_entity_id second = small_world_spawn_at(&x->f, 2, 1000, 0);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(inbox_find(&x->box, viewed_slot(x, second))->association & 3, 2);
    viewed_teardown(x);
}

// Enter and leave are both lost: the client never had it, the number is used again.
static void enter_and_leave_may_both_be_lost(void** state)
{
    (void)state;
    viewed_world* x = setup_narrow();
    const ph_entity_id first = small_world_spawn_at(&x->f, 1, 1000, 0);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(ph_world_despawn(x->f.world, first), PH_OK);
    inbox_step(&x->box, SEND_US);
    inbox_lose_all(&x->box);
    const ph_entity_id second = small_world_spawn_at(&x->f, 2, 1000, 0);
    inbox_step(&x->box, SEND_US);
    const ph_record* enter = inbox_find(&x->box, viewed_slot(x, second));
    assert_int_equal(enter->kind, PH_RECORD_ENTER);
    assert_int_equal(enter->association & 3, 1);
    viewed_teardown(x);
}

static void the_dead_are_told_of_no_more(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    viewed_set_health(x, id, 3);
    ph_world_tick(x->f.world);
    assert_int_equal(ph_world_despawn(x->f.world, id), PH_OK);
    small_world_spawn_at(&x->f, 2, 1000, 0); // takes its row
    inbox_send(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    viewed_teardown(x);
}

static void the_hidden_are_told_of_no_more(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    viewed_set_health(x, id, 3);
    ph_world_tick(x->f.world);
    assert_int_equal(ph_world_set_visibility(x->f.world, id, 0, false, false), PH_OK);
    inbox_send(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    viewed_teardown(x);
}

// ---- eyes and jumps

static void an_eye_is_told_until_it_is_known(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = small_world_spawn(&x->f, 1);
    inbox_step(&x->box, SEND_US);
    assert_true(inbox_only(&x->box)->header.has_eye);
    viewed_set_health(x, id, 1);
    inbox_step(&x->box, SEND_US);
    assert_true(inbox_only(&x->box)->header.has_eye);
    inbox_ack_all(&x->box);
    viewed_set_health(x, id, 2);
    inbox_step(&x->box, SEND_US);
    assert_false(inbox_only(&x->box)->header.has_eye);
    // A step is not worth it, 200 m are.
    assert_int_equal(ph_viewer_set_eye(x->f.world, x->viewer, 5000, 0, 0), PH_OK);
    viewed_set_health(x, id, 3);
    inbox_step(&x->box, SEND_US);
    assert_false(inbox_only(&x->box)->header.has_eye);
    assert_int_equal(ph_viewer_set_eye(x->f.world, x->viewer, 200000, 0, 0), PH_OK);
    viewed_set_health(x, id, 4);
    inbox_step(&x->box, SEND_US);
    assert_true(inbox_only(&x->box)->header.has_eye);
    assert_int_equal(inbox_only(&x->box)->header.eye_mm[0], 200000);
    viewed_teardown(x);
}

static void a_jump_is_told_as_one_until_it_is_known(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    assert_int_equal(ph_world_move(x->f.world, id, 9000, 0, 0), PH_OK); // 8 m: no jump
    inbox_step(&x->box, SEND_US);
    assert_false(inbox_find(&x->box, viewed_slot(x, id))->is_jump);
    inbox_ack_all(&x->box);
    assert_int_equal(ph_world_move(x->f.world, id, 29000, 0, 0), PH_OK);
    inbox_step(&x->box, SEND_US);
    assert_true(inbox_find(&x->box, viewed_slot(x, id))->is_jump);
    inbox_lose_all(&x->box);
    assert_int_equal(ph_world_move(x->f.world, id, 30000, 0, 0), PH_OK);
    inbox_step(&x->box, SEND_US);
    assert_true(inbox_find(&x->box, viewed_slot(x, id))->is_jump);
    inbox_ack_all(&x->box);
    assert_int_equal(ph_world_move(x->f.world, id, 31000, 0, 0), PH_OK);
    inbox_step(&x->box, SEND_US);
    assert_false(inbox_find(&x->box, viewed_slot(x, id))->is_jump);
    viewed_teardown(x);
}

// The viewer teleports with an entity beside it; the first packet from there is lost. What follows
// must not be read around the old eye.
static void after_a_lost_teleport_packets_still_bring_their_eye(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    assert_int_equal(ph_viewer_set_eye(x->f.world, x->viewer, 5000000, 0, 0), PH_OK);
    assert_int_equal(ph_world_move(x->f.world, id, 5001000, 0, 0), PH_OK);
    for (int i = 0; i < 3; ++i) {
        inbox_step(&x->box, SEND_US);
        const inbox_packet* packet = inbox_only(&x->box);
        assert_true(packet->header.has_eye);
        const ph_record* update = inbox_find(&x->box, viewed_slot(x, id));
        assert_int_equal(inbox_value(&x->box, update, POSITION)[0], 5001000 & ~15);
        inbox_lose_all(&x->box);
    }
    viewed_teardown(x);
}

// ---- references

static void put_target(viewed_world* x, ph_entity_id id, ph_entity_id target)
{
    assert_int_equal(
        ph_world_set_property(x->f.world, id, TARGET, PH_FIELD_ENTITY, &target, sizeof target),
        PH_OK);
}

static void a_reference_waits_for_its_target_to_arrive(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    const ph_entity_id target = small_world_spawn_at(&x->f, 2, 2000, 0);
    put_target(x, id, target);
    inbox_step(&x->box, SEND_US);
    assert_null(inbox_find(&x->box, viewed_slot(x, id)));
    assert_non_null(inbox_find(&x->box, viewed_slot(x, target)));
    inbox_ack_all(&x->box);
    inbox_step(&x->box, SEND_US);
    const ph_record* update = inbox_find(&x->box, viewed_slot(x, id));
    assert_true(update->properties == BIT(TARGET));
    assert_int_equal(inbox_value(&x->box, update, TARGET)[0], viewed_slot(x, target) + 1);
    assert_int_equal(inbox_value(&x->box, update, TARGET)[1], 1);
    inbox_ack_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(x->box.count, 0);
    viewed_teardown(x);
}

static void a_reference_ends_when_its_target_leaves(void** state)
{
    (void)state;
    for (int is_put_back = 0; is_put_back <= 1; ++is_put_back) {
        viewed_world* x = viewed_setup();
        const ph_entity_id id = viewed_person(x, 1, 1000);
        const ph_entity_id target = viewed_person(x, 2, 2000);
        put_target(x, id, target);
        inbox_step(&x->box, SEND_US);
        inbox_ack_all(&x->box);
        assert_int_equal(ph_world_despawn(x->f.world, target), PH_OK);
        if (is_put_back != 0) {
            put_target(x, id, (ph_entity_id){0}); // no change of the property, says the world
        }
        inbox_step(&x->box, SEND_US);
        const ph_record* update = inbox_find(&x->box, viewed_slot(x, id));
        assert_true(update->properties == BIT(TARGET));
        assert_int_equal(inbox_value(&x->box, update, TARGET)[0], 0);
        viewed_teardown(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leave_is_told_until_it_is_known),
        cmocka_unit_test(a_slot_is_used_again_with_the_next_number),
        cmocka_unit_test(an_entity_that_never_arrived_needs_no_leave),
        cmocka_unit_test(a_leave_may_arrive_without_its_enter),
        cmocka_unit_test(enter_and_leave_may_both_be_lost),
        cmocka_unit_test(the_dead_are_told_of_no_more),
        cmocka_unit_test(the_hidden_are_told_of_no_more),
        cmocka_unit_test(an_eye_is_told_until_it_is_known),
        cmocka_unit_test(a_jump_is_told_as_one_until_it_is_known),
        cmocka_unit_test(after_a_lost_teleport_packets_still_bring_their_eye),
        cmocka_unit_test(a_reference_waits_for_its_target_to_arrive),
        cmocka_unit_test(a_reference_ends_when_its_target_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
