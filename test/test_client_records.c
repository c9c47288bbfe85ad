// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What records do to a client: which entity is in which slot, which records no server writes,
// names, references, positions around an eye, the ground.

#include "support/client_scene.h"

#include "client/client_state.h"

#include <pinhole/stats.h>

#include <string.h>

static int setup(void** state)
{
    static client_scene scene;
    client_scene_setup(&scene);
    client_scene_begin(&scene);
    *state = &scene;
    return 0;
}

static int teardown(void** state)
{
    client_scene_teardown(*state);
    return 0;
}

static ph_entity_id id_of(int slot, uint32_t association)
{
    return (ph_entity_id){.index1 = (uint32_t)slot + 1, .generation = association};
}

// ---- associations

static void enters_updates_and_leaves(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_after(scene, 2, 1);
    client_packet_leave(&packet, 1, 1);
    client_record_health(client_packet_enter(&packet, 2, 1, SCENE_WALKER, 12), &packet, 30);
    client_record_health(client_packet_update(&packet, 0, 1), &packet, 20);
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    assert_int_equal(ph_client_entity_count(scene->client), 2);
    assert_int_equal(client_scene_walker(scene, 10).health, 20);
    assert_int_equal(client_scene_walker(scene, 12).health, 30);
    assert_int_equal(ph_client_find(scene->client, 11).index1, 0);
    assert_false(ph_client_is_in_view(scene->client, id_of(1, 1)));
    assert_true(ph_client_is_in_view(scene->client, id_of(2, 1)));
}

static void what_an_enter_does_not_mention_is_initial(void** state)
{
    client_scene* scene = *state;
    client_packet first = client_packet_after(scene, 2, 1);
    client_record* it = client_packet_enter(&first, 2, 1, SCENE_WALKER, 12);
    client_record_health(it, &first, 30);
    client_record_text(it, &first, WALKER_NAME, "Ann");
    assert_int_equal(client_scene_send(scene, &first), PH_OK);
    // Of the same entity, because the first was not acknowledged yet.
    client_packet again = client_packet_after(scene, 3, 1);
    client_packet_enter(&again, 2, 1, SCENE_WALKER, 12);
    assert_int_equal(client_scene_send(scene, &again), PH_OK);
    const walker seen = client_scene_walker(scene, 12);
    assert_int_equal(seen.health, 100);
    assert_string_equal(seen.name, "");
    assert_int_equal(ph_client_get_stats(scene->client).applied_enters, 3);
    assert_int_equal(ph_client_get_stats(scene->client).applied_updates, 1);
}

static void a_slot_is_used_again_after_its_leave(void** state)
{
    client_scene* scene = *state;
    int number = 2;
    for (uint32_t association = 1; association < 12; ++association) {
        client_packet leave = client_packet_after(scene, number, number - 1);
        client_packet_leave(&leave, 1, association);
        assert_int_equal(client_scene_send(scene, &leave), PH_OK);
        ++number;
        client_packet enter = client_packet_after(scene, number, number - 1);
        client_packet_enter(&enter, 1, association + 1, SCENE_WALKER, 20 + association);
        assert_int_equal(client_scene_send(scene, &enter), PH_OK);
        ++number;
        assert_true(ph_client_is_in_view(scene->client, id_of(1, association + 1)));
        assert_false(ph_client_is_in_view(scene->client, id_of(1, association)));
    }
}

static void a_leave_may_be_said_again(void** state)
{
    client_scene* scene = *state;
    for (int i = 2; i < 4; ++i) {
        client_packet packet = client_packet_after(scene, i, 1);
        client_packet_leave(&packet, 1, 1);
        assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    }
    assert_int_equal(ph_client_get_stats(scene->client).applied_leaves, 1);
}

static void a_leave_of_an_entity_never_seen_counts_on(void** state)
{
    client_scene* scene = *state;
    client_packet never = client_packet_after(scene, 2, 1);
    client_packet_leave(&never, 2, 1);
    assert_int_equal(client_scene_send(scene, &never), PH_OK);
    assert_int_equal(ph_client_get_stats(scene->client).applied_leaves, 0);
    client_packet same = client_packet_after(scene, 3, 2);
    client_packet_enter(&same, 2, 1, SCENE_WALKER, 12);
    client_scene_refuse(scene, &same, PH_CLIENT_REFUSAL_RECORD);
    client_packet next = client_packet_after(scene, 3, 2);
    client_packet_enter(&next, 2, 2, SCENE_WALKER, 12);
    assert_int_equal(client_scene_send(scene, &next), PH_OK);
    assert_true(ph_client_is_in_view(scene->client, id_of(2, 2)));
}

// Every association, for every kind of record, in a full slot and in an empty one.
static void other_associations_are_refused(void** state)
{
    client_scene* scene = *state;
    for (uint32_t steps = 0; steps < 4; ++steps) {
        for (int slot = 1; slot < 3; ++slot) {
            const bool is_entered = slot == 1;
            const uint32_t association = (is_entered ? 1 : 0) + steps;
            client_packet update = client_packet_after(scene, 2, 1);
            client_record_health(client_packet_update(&update, slot, association), &update, 1);
            client_packet enter = client_packet_after(scene, 2, 1);
            client_packet_enter(&enter, slot, association, SCENE_WALKER, is_entered ? 11 : 12);
            client_packet leave = client_packet_after(scene, 2, 1);
            client_packet_leave(&leave, slot, association);
            if (!(is_entered && steps == 0)) {
                client_scene_refuse(scene, &update, PH_CLIENT_REFUSAL_RECORD);
            }
            if (steps != (is_entered ? 0 : 1)) {
                client_scene_refuse(scene, &enter, PH_CLIENT_REFUSAL_RECORD);
                client_scene_refuse(scene, &leave, PH_CLIENT_REFUSAL_RECORD);
            }
        }
    }
}

static void a_slot_does_not_change_its_entity_without_a_leave(void** state)
{
    client_scene* scene = *state;
    client_packet name = client_packet_after(scene, 2, 1);
    client_packet_enter(&name, 1, 1, SCENE_WALKER, 12);
    client_scene_refuse(scene, &name, PH_CLIENT_REFUSAL_RECORD);
    client_packet class = client_packet_after(scene, 2, 1);
    client_packet_enter(&class, 1, 1, SCENE_STONE, 11);
    client_scene_refuse(scene, &class, PH_CLIENT_REFUSAL_RECORD);
}

// ---- order within a packet

static void slots_beyond_the_session_are_refused(void** state)
{
    client_scene* scene = *state;
    client_scene_teardown(scene);
    client_scene_setup_with(scene, SCENE_SLOTS, 2 * SCENE_SLOTS);
    client_scene_begin(scene);
    client_packet packet = client_packet_after(scene, 2, 1);
    client_packet_enter(&packet, SCENE_SLOTS, 1, SCENE_WALKER, 12);
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    client_packet last = client_packet_after(scene, 2, 1);
    client_packet_enter(&last, SCENE_SLOTS - 1, 1, SCENE_WALKER, 12);
    assert_int_equal(client_scene_send(scene, &last), PH_OK);
}

static void slots_that_do_not_ascend_are_refused(void** state)
{
    client_scene* scene = *state;
    client_packet leaves = client_packet_after(scene, 2, 1);
    client_packet_leave(&leaves, 1, 1);
    client_packet_leave(&leaves, 0, 1);
    client_scene_refuse(scene, &leaves, PH_CLIENT_REFUSAL_RECORD);
    client_packet enters = client_packet_after(scene, 2, 1);
    client_packet_enter(&enters, 3, 1, SCENE_WALKER, 12);
    client_packet_enter(&enters, 2, 1, SCENE_WALKER, 13);
    client_scene_refuse(scene, &enters, PH_CLIENT_REFUSAL_RECORD);
    client_packet updates = client_packet_after(scene, 2, 1);
    client_record_health(client_packet_update(&updates, 1, 1), &updates, 1);
    client_record_health(client_packet_update(&updates, 0, 1), &updates, 1);
    client_scene_refuse(scene, &updates, PH_CLIENT_REFUSAL_RECORD);
}

static void a_slot_twice_is_refused(void** state)
{
    client_scene* scene = *state;
    client_packet updates = client_packet_after(scene, 2, 1);
    client_record_health(client_packet_update(&updates, 1, 1), &updates, 1);
    client_record_health(client_packet_update(&updates, 1, 1), &updates, 2);
    client_scene_refuse(scene, &updates, PH_CLIENT_REFUSAL_RECORD);
    client_packet left = client_packet_after(scene, 2, 1);
    client_packet_leave(&left, 1, 1);
    client_record_health(client_packet_update(&left, 1, 1), &left, 1);
    client_scene_refuse(scene, &left, PH_CLIENT_REFUSAL_RECORD);
    client_packet reused = client_packet_after(scene, 2, 1);
    client_packet_leave(&reused, 1, 1);
    client_packet_enter(&reused, 1, 2, SCENE_WALKER, 12);
    client_scene_refuse(scene, &reused, PH_CLIENT_REFUSAL_RECORD);
}

static void counts_without_their_records_are_refused(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_after(scene, 2, 1);
    packet.header.leave_count = PH_HEADER_COUNT_MAX;
    packet.header.enter_count = PH_HEADER_COUNT_MAX;
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_SIZE);
}

static void a_class_that_does_not_exist_is_refused(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_after(scene, 2, 1);
    client_packet_enter(&packet, 2, 1, SCENE_WALKER, 12);
    client_packet_write(&packet);
    // Behind the header come slot and association, then the class.
    const int at = PH_HEADER_BITS + PH_CLASSIC_SLOT_BITS_MIN + PH_CLASSIC_ASSOCIATION_BITS;
    packet.bytes[(at + 1) / 8] |= (uint8_t)(1u << ((at + 1) % 8));
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_RECORD);
}

// ---- names

static void an_entity_that_enters_elsewhere_has_left(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_after(scene, 2, 1);
    client_record_health(client_packet_enter(&packet, 5, 1, SCENE_WALKER, 11), &packet, 5);
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    assert_int_equal(ph_client_entity_count(scene->client), 2);
    assert_int_equal(ph_client_find(scene->client, 11).index1, 5 + 1);
    assert_false(ph_client_is_in_view(scene->client, id_of(1, 1)));
    // Its leave comes at last, and then the slot is used again.
    client_packet late = client_packet_after(scene, 3, 2);
    client_packet_leave(&late, 1, 1);
    assert_int_equal(client_scene_send(scene, &late), PH_OK);
    client_packet reused = client_packet_after(scene, 4, 3);
    client_packet_enter(&reused, 1, 2, SCENE_WALKER, 12);
    assert_int_equal(client_scene_send(scene, &reused), PH_OK);
    assert_int_equal(ph_client_get_stats(scene->client).applied_leaves, 1);
}

static void a_name_in_two_slots_is_refused(void** state)
{
    client_scene* scene = *state;
    client_packet twice = client_packet_after(scene, 2, 1);
    client_packet_enter(&twice, 5, 1, SCENE_WALKER, 12);
    client_packet_enter(&twice, 6, 1, SCENE_WALKER, 12);
    client_scene_refuse(scene, &twice, PH_CLIENT_REFUSAL_RECORD);
    client_packet updated = client_packet_after(scene, 2, 1);
    client_packet_enter(&updated, 5, 1, SCENE_WALKER, 11);
    client_record_health(client_packet_update(&updated, 1, 1), &updated, 1);
    client_scene_refuse(scene, &updated, PH_CLIENT_REFUSAL_RECORD);
    client_packet left = client_packet_after(scene, 2, 1);
    client_packet_leave(&left, 1, 1);
    client_packet_enter(&left, 5, 1, SCENE_WALKER, 11);
    assert_int_equal(client_scene_send(scene, &left), PH_OK);
}

// ---- references

static void references_name_entities_in_view(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_after(scene, 2, 1);
    client_record_target(client_packet_update(&packet, 0, 1), &packet, 1, 1);
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    const ph_entity_id target = client_scene_walker(scene, 10).target;
    uint64_t name = 0;
    assert_int_equal(ph_client_identify(scene->client, target, &name, NULL), PH_OK);
    assert_int_equal(name, 11);
}

static void a_reference_may_be_taken_back(void** state)
{
    client_scene* scene = *state;
    client_packet told = client_packet_after(scene, 2, 1);
    client_record_target(client_packet_update(&told, 0, 1), &told, 1, 1);
    assert_int_equal(client_scene_send(scene, &told), PH_OK);
    client_packet none = client_packet_after(scene, 3, 2);
    client_record_target(client_packet_update(&none, 0, 1), &none, -1, 0);
    assert_int_equal(client_scene_send(scene, &none), PH_OK);
    assert_int_equal(client_scene_walker(scene, 10).target.index1, 0);
}

static void a_reference_ends_with_its_entity(void** state)
{
    client_scene* scene = *state;
    client_packet told = client_packet_after(scene, 2, 1);
    client_record_target(client_packet_update(&told, 0, 1), &told, 1, 1);
    assert_int_equal(client_scene_send(scene, &told), PH_OK);
    client_packet left = client_packet_after(scene, 3, 2);
    client_packet_leave(&left, 1, 1);
    assert_int_equal(client_scene_send(scene, &left), PH_OK);
    assert_int_equal(client_scene_walker(scene, 10).target.index1, 0);
    // Nor does it ever reach the next one in that slot, also when its two bits come round.
    for (uint32_t association = 2; association < 7; ++association) {
        const int number = 2 * (int)association;
        client_packet enter = client_packet_after(scene, number, number - 1);
        client_packet_enter(&enter, 1, association, SCENE_WALKER, 20 + association);
        assert_int_equal(client_scene_send(scene, &enter), PH_OK);
        assert_int_equal(client_scene_walker(scene, 10).target.index1, 0);
        client_packet leave = client_packet_after(scene, number + 1, number);
        client_packet_leave(&leave, 1, association);
        assert_int_equal(client_scene_send(scene, &leave), PH_OK);
    }
}

static void a_reference_is_exact_whatever_its_two_bits(void** state)
{
    client_scene* scene = *state;
    int number = 2;
    for (uint32_t association = 1; association < 9; ++association) {
        client_packet told = client_packet_after(scene, number, number - 1);
        client_record_target(client_packet_update(&told, 0, 1), &told, 1, association);
        assert_int_equal(client_scene_send(scene, &told), PH_OK);
        const ph_entity_id target = client_scene_walker(scene, 10).target;
        assert_int_equal(target.index1, 1 + 1);
        assert_int_equal(target.generation, association);
        client_packet left = client_packet_after(scene, number + 1, number);
        client_packet_leave(&left, 1, association);
        assert_int_equal(client_scene_send(scene, &left), PH_OK);
        client_packet enter = client_packet_after(scene, number + 2, number + 1);
        client_packet_enter(&enter, 1, association + 1, SCENE_WALKER, 20);
        assert_int_equal(client_scene_send(scene, &enter), PH_OK);
        number += 3;
    }
}

static void references_to_no_entity_are_refused(void** state)
{
    client_scene* scene = *state;
    const struct {
        int slot;
        uint32_t association;
    } targets[] = {{2, 1}, {2, 0}, {1, 2}, {1, 0}, {SCENE_SLOTS, 1}, {255, 1}};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; ++i) {
        client_packet packet = client_packet_after(scene, 2, 1);
        client_record_target(client_packet_update(&packet, 0, 1), &packet, targets[i].slot,
                             targets[i].association);
        client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    }
    // Not even to one that enters with the same packet: the server cannot know that it will.
    client_packet both = client_packet_after(scene, 2, 1);
    client_packet_enter(&both, 2, 1, SCENE_WALKER, 12);
    client_record_target(client_packet_update(&both, 0, 1), &both, 2, 1);
    client_scene_refuse(scene, &both, PH_CLIENT_REFUSAL_RECORD);
}

// ---- positions

static void positions_stand_around_the_eye_of_the_horizon(void** state)
{
    client_scene* scene = *state; // packet 1 carried the eye (0, 0, 0)
    const int32_t far_mm = 3000000;
    client_packet jump = client_packet_after(scene, 2, 1);
    jump.header.has_eye = true;
    jump.eye_mm[0] = far_mm;
    client_record_place(client_packet_update(&jump, 0, 1), &jump, far_mm + 160, 0, 0);
    assert_int_equal(client_scene_send(scene, &jump), PH_OK);
    assert_int_equal(client_scene_walker(scene, 10).position_mm[0], far_mm + 160);
    // The server does not know yet that packet 2 arrived.
    client_packet unknowing = client_packet_after(scene, 3, 1);
    client_record_place(client_packet_update(&unknowing, 0, 1), &unknowing, 320, 0, 0);
    assert_int_equal(client_scene_send(scene, &unknowing), PH_OK);
    assert_int_equal(client_scene_walker(scene, 10).position_mm[0], 320);
    // Now it does; packet 3 carried no eye.
    client_packet knowing = client_packet_after(scene, 4, 3);
    knowing.eye_mm[0] = far_mm;
    client_record_place(client_packet_update(&knowing, 0, 1), &knowing, far_mm + 480, 0, 0);
    assert_int_equal(client_scene_send(scene, &knowing), PH_OK);
    assert_int_equal(client_scene_walker(scene, 10).position_mm[0], far_mm + 480);
}

static void a_position_without_an_eye_is_refused(void** state)
{
    client_scene* scene = *state;
    client_scene_teardown(scene);
    client_scene_setup(scene);
    client_packet packet = client_packet_make(scene, 1);
    packet.header.has_eye = false;
    client_packet_enter(&packet, 0, 1, SCENE_WALKER, 10);
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    client_packet empty = client_packet_make(scene, 1);
    empty.header.has_eye = false;
    client_packet_leave(&empty, 0, 1);
    assert_int_equal(client_scene_send(scene, &empty), PH_OK);
}

static void positions_outside_the_window_come_in_full(void** state)
{
    client_scene* scene = *state;
    client_packet packet = client_packet_after(scene, 2, 1);
    client_record* it = client_packet_update(&packet, 0, 1);
    client_record_place(it, &packet, INT32_MIN, INT32_MAX, -1);
    it->record.is_jump = true;
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    const walker seen = client_scene_walker(scene, 10);
    assert_int_equal(seen.position_mm[0], INT32_MIN);
    assert_int_equal(seen.position_mm[1], INT32_MAX - 15);
    assert_int_equal(seen.position_mm[2], -16);
}

static void a_stone_lies_on_the_ground(void** state)
{
    client_scene* scene = *state;
    const int32_t places[][4] = {// x, y, z, and the z that the client has
                                 {16, -16, 5070, 5000},
                                 {16, 16, 8950, 9000},
                                 {-16, 16, 9000, 9000},
                                 {-16, -16, 777, 768}};
    client_packet packet = client_packet_after(scene, 2, 1);
    for (int i = 0; i < 4; ++i) {
        client_record* it = client_packet_enter(&packet, 2 + i, 1, SCENE_STONE, 20 + (uint64_t)i);
        client_record_place(it, &packet, places[i][0], places[i][1], places[i][2]);
    }
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    for (int i = 0; i < 4; ++i) {
        int32_t place_mm[3];
        const ph_entity_id stone = ph_client_find(scene->client, 20 + (uint64_t)i);
        assert_int_equal(ph_client_get_property(scene->client, stone, 0, PH_FIELD_I32X3, place_mm,
                                                sizeof place_mm),
                         PH_OK);
        assert_int_equal(place_mm[0], places[i][0]);
        assert_int_equal(place_mm[2], places[i][3]);
    }
}

// ---- wide slots

static void slots_may_be_wider_than_a_byte(void** state)
{
    client_scene* scene = *state;
    client_scene_teardown(scene);
    client_scene_setup_with(scene, 65535, 65535);
    client_packet packet = client_packet_make(scene, 1);
    client_packet_enter(&packet, 1, 1, SCENE_WALKER, 10);
    client_packet_enter(&packet, 65534, 1, SCENE_WALKER, UINT64_MAX);
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    client_packet next = client_packet_after(scene, 2, 1);
    client_record_target(client_packet_update(&next, 1, 1), &next, 65534, 1);
    assert_int_equal(client_scene_send(scene, &next), PH_OK);
    const ph_entity_id target = client_scene_walker(scene, 10).target;
    uint64_t name = 0;
    assert_int_equal(ph_client_identify(scene->client, target, &name, NULL), PH_OK);
    assert_true(name == UINT64_MAX);
    assert_int_equal(ph_client_entity_at(scene->client, 65534).index1, 65535);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(enters_updates_and_leaves),
        TEST(what_an_enter_does_not_mention_is_initial),
        TEST(a_slot_is_used_again_after_its_leave),
        TEST(a_leave_may_be_said_again),
        TEST(a_leave_of_an_entity_never_seen_counts_on),
        TEST(other_associations_are_refused),
        TEST(a_slot_does_not_change_its_entity_without_a_leave),
        TEST(slots_beyond_the_session_are_refused),
        TEST(slots_that_do_not_ascend_are_refused),
        TEST(a_slot_twice_is_refused),
        TEST(counts_without_their_records_are_refused),
        TEST(a_class_that_does_not_exist_is_refused),
        TEST(an_entity_that_enters_elsewhere_has_left),
        TEST(a_name_in_two_slots_is_refused),
        TEST(references_name_entities_in_view),
        TEST(a_reference_may_be_taken_back),
        TEST(a_reference_ends_with_its_entity),
        TEST(a_reference_is_exact_whatever_its_two_bits),
        TEST(references_to_no_entity_are_refused),
        TEST(positions_stand_around_the_eye_of_the_horizon),
        TEST(a_position_without_an_eye_is_refused),
        TEST(positions_outside_the_window_come_in_full),
        TEST(a_stone_lies_on_the_ground),
        TEST(slots_may_be_wider_than_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
