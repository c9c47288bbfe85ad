// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a game is told, in which order, and how little of it is kept while it does not ask.

#include "support/client_scene.h"
#include "tools/tools.h"

#include <pinhole/stats.h>

#include <string.h>

#define BIT(property) (UINT64_C(1) << (property))

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

static void expect(client_scene* scene, ph_event_kind kind, uint64_t name, uint64_t properties)
{
    ph_event event;
    assert_true(ph_client_poll(scene->client, &event));
    assert_true(ph_client_validate(scene->client));
    assert_int_equal(event.kind, kind);
    assert_int_equal(event.key, name);
    assert_int_equal(event.properties, properties);
    assert_int_equal(event.class_index, SCENE_WALKER);
    assert_int_equal(ph_client_is_in_view(scene->client, event.entity), kind != PH_EVENT_LEAVE);
}

static void expect_nothing(client_scene* scene)
{
    ph_event event;
    assert_false(ph_client_poll(scene->client, &event));
}

static void send_update(client_scene* scene, int number, int health)
{
    client_packet packet = client_packet_after(scene, number, number - 1);
    client_record_health(client_packet_update(&packet, 0, 1), &packet, health);
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
}

static void send_enter(client_scene* scene, int number, int slot, uint32_t association,
                       uint64_t name)
{
    client_packet packet = client_packet_after(scene, number, number - 1);
    client_record* it = client_packet_enter(&packet, slot, association, SCENE_WALKER, name);
    client_record_health(it, &packet, 50);
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
}

static void send_leave(client_scene* scene, int number, int slot, uint32_t association)
{
    client_packet packet = client_packet_after(scene, number, number - 1);
    client_packet_leave(&packet, slot, association);
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
}

static const uint64_t told = BIT(WALKER_POSITION) | BIT(WALKER_HEALTH);

static void events_come_once(void** state)
{
    client_scene* scene = *state;
    send_enter(scene, 2, 2, 1, 12);
    expect(scene, PH_EVENT_ENTER, 12, told);
    expect_nothing(scene);
    send_update(scene, 3, 50);
    expect(scene, PH_EVENT_UPDATE, 10, BIT(WALKER_HEALTH));
    expect_nothing(scene);
    send_leave(scene, 4, 2, 1);
    expect(scene, PH_EVENT_LEAVE, 12, 0);
    expect_nothing(scene);
}

static void updates_of_one_entity_come_together(void** state)
{
    client_scene* scene = *state;
    send_update(scene, 2, 50);
    send_update(scene, 3, 51);
    client_packet packet = client_packet_after(scene, 4, 3);
    client_record_place(client_packet_update(&packet, 0, 1), &packet, 16, 16, 16);
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    expect(scene, PH_EVENT_UPDATE, 10, told);
    expect_nothing(scene);
}

static void updates_before_the_enter_was_told_belong_to_it(void** state)
{
    client_scene* scene = *state;
    send_enter(scene, 2, 2, 1, 12);
    client_packet packet = client_packet_after(scene, 3, 2);
    client_record_text(client_packet_update(&packet, 2, 1), &packet, WALKER_NAME, "Ann");
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    expect(scene, PH_EVENT_ENTER, 12, told | BIT(WALKER_NAME));
    expect_nothing(scene);
}

static void an_enter_told_again_is_an_update(void** state)
{
    client_scene* scene = *state;
    send_enter(scene, 2, 2, 1, 12);
    expect(scene, PH_EVENT_ENTER, 12, told);
    client_packet packet = client_packet_after(scene, 3, 1);
    packet.header.horizon = SCENE_SESSION + 2;
    client_packet_enter(&packet, 2, 1, SCENE_WALKER, 12); // health is at its beginning again
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
    expect(scene, PH_EVENT_UPDATE, 12, told);
    expect_nothing(scene);
}

static void an_entity_that_came_and_went_is_not_mentioned(void** state)
{
    client_scene* scene = *state;
    send_enter(scene, 2, 2, 1, 12);
    send_leave(scene, 3, 2, 1);
    expect_nothing(scene);
    // Nor when a known entity had the slot before.
    send_leave(scene, 4, 1, 1);
    send_enter(scene, 5, 1, 2, 13);
    send_leave(scene, 6, 1, 2);
    send_enter(scene, 7, 1, 3, 14);
    expect(scene, PH_EVENT_LEAVE, 11, 0);
    expect(scene, PH_EVENT_ENTER, 14, told);
    expect_nothing(scene);
}

static void news_of_an_entity_that_left_are_dropped(void** state)
{
    client_scene* scene = *state;
    send_update(scene, 2, 50);
    send_leave(scene, 3, 0, 1);
    expect(scene, PH_EVENT_LEAVE, 10, 0);
    expect_nothing(scene);
}

// Also when the new slot was mentioned before, and comes first.
static void an_entity_that_changes_the_slot_leaves_before_entering(void** state)
{
    client_scene* scene = *state;
    send_leave(scene, 2, 0, 1);
    send_enter(scene, 3, 0, 2, 11);
    expect(scene, PH_EVENT_LEAVE, 10, 0);
    expect(scene, PH_EVENT_LEAVE, 11, 0);
    expect(scene, PH_EVENT_ENTER, 11, told);
    expect_nothing(scene);
}

static void a_refused_packet_takes_nothing_from_what_is_owed(void** state)
{
    client_scene* scene = *state;
    send_update(scene, 2, 50);
    send_leave(scene, 3, 1, 1);
    client_packet packet = client_packet_after(scene, 4, 3);
    client_packet_leave(&packet, 0, 1);
    client_packet_enter(&packet, 1, 2, SCENE_WALKER, 12);
    client_record_health(client_packet_update(&packet, 5, 1), &packet, 1); // no entity is there
    client_scene_refuse(scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    expect(scene, PH_EVENT_LEAVE, 11, 0);
    expect(scene, PH_EVENT_UPDATE, 10, BIT(WALKER_HEALTH));
    expect_nothing(scene);
}

static void user_pointers_come_with_the_events(void** state)
{
    client_scene* scene = *state;
    int object = 0;
    ph_event event;
    const ph_entity_id id = ph_client_find(scene->client, 10);
    assert_null(ph_client_user(scene->client, id));
    assert_int_equal(ph_client_set_user(scene->client, id, &object), PH_OK);
    assert_ptr_equal(ph_client_user(scene->client, id), &object);
    send_update(scene, 2, 50);
    assert_true(ph_client_poll(scene->client, &event));
    assert_ptr_equal(event.user, &object);
    send_leave(scene, 3, 0, 1);
    send_enter(scene, 4, 0, 2, 12);
    assert_null(ph_client_user(scene->client, id));
    assert_int_equal(ph_client_set_user(scene->client, id, &object), PH_ERROR_STALE);
    assert_true(ph_client_poll(scene->client, &event));
    assert_int_equal(event.kind, PH_EVENT_LEAVE);
    assert_ptr_equal(event.user, &object);
    assert_int_equal(event.entity.index1, id.index1);
    assert_int_equal(event.entity.generation, id.generation);
    assert_true(ph_client_poll(scene->client, &event));
    assert_int_equal(event.kind, PH_EVENT_ENTER);
    assert_null(event.user);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(events_come_once),
        TEST(updates_of_one_entity_come_together),
        TEST(updates_before_the_enter_was_told_belong_to_it),
        TEST(an_enter_told_again_is_an_update),
        TEST(an_entity_that_came_and_went_is_not_mentioned),
        TEST(news_of_an_entity_that_left_are_dropped),
        TEST(an_entity_that_changes_the_slot_leaves_before_entering),
        TEST(a_refused_packet_takes_nothing_from_what_is_owed),
        TEST(user_pointers_come_with_the_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
