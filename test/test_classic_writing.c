// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Packets of the classic profile as a whole: what the bits of their records are counted as, and how records
// are put in order.

#include "support/test_support.h"
#include "support/viewed_world.h"

#include "replication/sender.h"
#include "world/world_state.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#define SEND_US 200000

static ph_entity_id spawn(viewed_world* x, int class_index, uint64_t name, int32_t x_mm)
{
    const ph_spawn def = {.class_index = class_index, .key = name, .position_mm = {x_mm, 0, 0}};
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(x->f.world, &def, &id), PH_OK);
    return id;
}

static void move(viewed_world* x, ph_entity_id id, int32_t x_mm)
{
    assert_int_equal(ph_world_move(x->f.world, id, x_mm, 640, 0), PH_OK);
}

static uint64_t position_bits(const viewed_world* x, int class_index)
{
    return ph_viewer_property_bits256(x->f.world, x->viewer, class_index, POSITION) /
           PH_COST_PER_BIT;
}

// Positions of persons take three times 16 bits, those of stones three times 20.
static void updates_of_several_classes_are_counted_as_their_own(void** state)
{
    (void)state;
    enum { COUNT = 5 };
    viewed_world* x = viewed_setup();
    ph_entity_id ids[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        ids[i] = spawn(x, i % 2 == 0 ? STONE : 0, (uint64_t)i, 1000 * (i + 1));
    }
    inbox_step(&x->box, SEND_US);
    inbox_ack_all(&x->box);
    assert_int_equal(position_bits(x, 0), 0);
    for (int i = 0; i < COUNT; ++i) {
        move(x, ids[i], 1000 * (i + 1));
    }
    inbox_step(&x->box, SEND_US);
    assert_int_equal(inbox_only(&x->box)->count, COUNT);
    assert_int_equal(position_bits(x, 0), 2 * 3 * 16);
    assert_int_equal(position_bits(x, STONE), 3 * 3 * 20);
    assert_int_equal(inbox_stats(&x->box).sent_updates, COUNT);
    viewed_teardown(x);
}

// What was lost is a repeat in full; of an update that says more, nothing else is.
static void what_is_sent_again_is_counted_as_a_repeat(void** state)
{
    (void)state;
    viewed_world* x = viewed_setup();
    const ph_entity_id id = viewed_person(x, 1, 1000);
    move(x, id, 1000);
    inbox_step(&x->box, SEND_US);
    assert_true(inbox_stats(&x->box).ledger.resent_bits256 == 0);
    inbox_lose_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(inbox_only(&x->box)->count, 1);
    assert_int_equal(inbox_stats(&x->box).ledger.resent_bits256, 61 * PH_COST_PER_BIT);
    inbox_lose_all(&x->box);
    viewed_set_health(x, id, 7);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(inbox_stats(&x->box).ledger.resent_bits256, (61 + 48) * PH_COST_PER_BIT);
    viewed_teardown(x);
}

// They are added by priority, which is not the order of their slots.
static void check_order(int visible_max, bool are_slots_many)
{
    enum { COUNT = 100 };
    ph_viewer_def def = ph_viewer_def_default();
    def.visible_max = visible_max;
    def.bits_per_second = 0;
    viewed_world* x = viewed_setup_with(&def);
    const ph_sender* sender = x->f.world->viewers.viewers[0].sender;
    assert_int_equal(sender->replicas.slot_count > 1024, are_slots_many);
    ph_entity_id ids[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        ids[i] = spawn(x, 0, (uint64_t)i, 1000 * (i * 7 % COUNT + 1));
    }
    inbox_step(&x->box, SEND_US);
    inbox_ack_all(&x->box);
    for (int i = 0; i < COUNT; ++i) {
        move(x, ids[i], 1000 * (i * 11 % COUNT + 1));
    }
    inbox_step(&x->box, SEND_US);
    const inbox_packet* packet = inbox_only(&x->box);
    assert_int_equal(packet->count, COUNT);
    for (int i = 1; i < COUNT; ++i) {
        assert_true(packet->records[i].slot > packet->records[i - 1].slot);
    }
    viewed_teardown(x);
}

static void updates_are_in_the_order_of_their_slots(void** state)
{
    (void)state;
    check_order(200, false);
    check_order(1000, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_of_several_classes_are_counted_as_their_own),
        cmocka_unit_test(what_is_sent_again_is_counted_as_a_repeat),
        cmocka_unit_test(updates_are_in_the_order_of_their_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
