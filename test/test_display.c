// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client shows of the packets that it got: motion extrapolated to now or delayed, headings,
// teleports, newcomers in old slots; without allocating.

#include "support/client_scene.h"

#include "client/client_state.h"

#include <math.h>

// 1.6 m/s: ten steps of the coding from packet to packet.
#define WAY_MM 160
#define HALF_STEP_MM 8
#define WALKER 10

static int32_t walk_x(int packet)
{
    return 1600 + packet * WAY_MM;
}

static ph_pose pose_of(const client_scene* scene, uint64_t name)
{
    ph_pose pose;
    const ph_entity_id entity = ph_client_find(scene->client, name);
    assert_int_equal(ph_client_get_pose(scene->client, entity, &pose), PH_OK);
    return pose;
}

static void tell_heading(client_record* it, const client_packet* packet, uint32_t level)
{
    it->words[packet->layouts->layouts[SCENE_WALKER].word[WALKER_HEADING]] = level;
    it->record.properties |= UINT64_C(1) << WALKER_HEADING;
}

// Packets first..last, one every 100 ms, with a frame after each.
static void walk(client_scene* scene, int first, int last)
{
    for (int i = first; i <= last; ++i) {
        client_packet packet = client_packet_after(scene, i, i - 1);
        client_record* it = client_packet_update(&packet, 0, 1);
        client_record_place(it, &packet, walk_x(i), 0, 5000);
        assert_int_equal(client_scene_send(scene, &packet), PH_OK);
        ph_client_advance(scene->client, scene->now_us);
    }
}

static void begin(client_scene* scene, int interpolation_delay_ms)
{
    client_scene_setup(scene);
    scene->client->display.delay_us = interpolation_delay_ms * 1000;
    client_scene_begin(scene);
    client_packet packet = client_packet_after(scene, 2, 1);
    client_record* it = client_packet_update(&packet, 0, 1);
    client_record_place(it, &packet, walk_x(2), 0, 5000);
    it->record.is_jump = true;
    assert_int_equal(client_scene_send(scene, &packet), PH_OK);
}

static void a_walker_is_shown_where_it_is_by_now(void** state)
{
    (void)state;
    client_scene scene;
    begin(&scene, 0);
    walk(&scene, 3, 20);
    // Without a round trip measured, the way is taken to be 50 ms.
    const ph_pose pose = pose_of(&scene, WALKER);
    assert_true(fabs(pose.position_mm[0] - (walk_x(20) + WAY_MM / 2 + HALF_STEP_MM)) < 2.0);
    assert_true(pose.position_mm[1] == HALF_STEP_MM);
    assert_true(pose.position_mm[2] == 4992.0); // as it was told
    client_scene_teardown(&scene);
}

static void a_delay_shows_the_past(void** state)
{
    (void)state;
    client_scene scene;
    begin(&scene, 250);
    walk(&scene, 3, 20);
    // 50 ms on the way and 250 ms of delay: two packets ago.
    const ph_pose pose = pose_of(&scene, WALKER);
    assert_true(fabs(pose.position_mm[0] - (walk_x(18) + HALF_STEP_MM)) < 0.1);
    client_scene_teardown(&scene);
}

static void the_servers_time_is_known(void** state)
{
    (void)state;
    client_scene scene;
    client_scene_setup(&scene);
    assert_true(ph_client_server_time_us(scene.client, 123) == 0.0);
    client_scene_begin(&scene);
    walk(&scene, 2, 10);
    const double now_us = ph_client_server_time_us(scene.client, scene.now_us);
    assert_true(fabs(now_us - (10 * SCENE_TICK_US + 50000.0)) < 1.0);
    client_scene_teardown(&scene);
}

// The server says how long our acks lay there; what is left of the time is the way there and back.
static void a_measured_round_trip_moves_the_clock(void** state)
{
    (void)state;
    client_scene scene;
    client_scene_setup(&scene);
    client_scene_begin(&scene);
    for (int i = 2; i <= 40; ++i) {
        client_packet packet = client_packet_after(&scene, i, i - 1);
        packet.header.wait = 7; // 60 ms of 100
        uint8_t ack[PH_ACK_SIZE];
        assert_int_equal(ph_client_write_ack(scene.client, scene.now_us, ack), PH_ACK_SIZE);
        assert_int_equal(client_scene_send(&scene, &packet), PH_OK);
    }
    const double now_us = ph_client_server_time_us(scene.client, scene.now_us + 90000);
    assert_true(fabs(now_us - (40 * SCENE_TICK_US + 90000.0 + 20000.0)) < 100.0);
    client_scene_teardown(&scene);
}

static void a_teleport_is_shown_at_once(void** state)
{
    (void)state;
    client_scene scene;
    begin(&scene, 0);
    walk(&scene, 3, 10);
    client_packet packet = client_packet_after(&scene, 11, 10);
    client_record* it = client_packet_update(&packet, 0, 1);
    client_record_place(it, &packet, 1600, 0, 5000);
    it->record.is_jump = true;
    assert_int_equal(client_scene_send(&scene, &packet), PH_OK);
    ph_client_advance(scene.client, scene.now_us);
    assert_true(pose_of(&scene, WALKER).position_mm[0] == 1600 + HALF_STEP_MM);
    client_scene_teardown(&scene);
}

// Before the first answer all records are enters; one of them says that the entity jumped.
static void a_teleport_between_two_enters_is_shown_at_once(void** state)
{
    (void)state;
    client_scene scene;
    client_scene_setup(&scene);
    client_scene_begin(&scene);
    for (int i = 2; i <= 4; ++i) {
        client_packet packet = client_packet_make(&scene, i);
        client_record* it = client_packet_enter(&packet, 0, 1, SCENE_WALKER, WALKER);
        client_record_place(it, &packet, i < 4 ? 1600 + i * WAY_MM : 90000, 0, 5000);
        it->record.is_jump = i == 4;
        assert_int_equal(client_scene_send(&scene, &packet), PH_OK);
        ph_client_advance(scene.client, scene.now_us);
    }
    for (int frame = 1; frame < 50; ++frame) {
        assert_true(pose_of(&scene, WALKER).position_mm[0] == 90000 + HALF_STEP_MM);
        ph_client_advance(scene.client, scene.now_us + (uint64_t)frame * 20000);
    }
    client_scene_teardown(&scene);
}

static void a_newcomer_is_there_before_the_next_frame(void** state)
{
    (void)state;
    client_scene scene;
    begin(&scene, 0);
    walk(&scene, 3, 6);
    client_packet packet = client_packet_after(&scene, 7, 6);
    client_record* it = client_packet_enter(&packet, 5, 1, SCENE_WALKER, 77);
    client_record_place(it, &packet, 3200, 1600, 9000);
    tell_heading(it, &packet, 64);
    assert_int_equal(client_scene_send(&scene, &packet), PH_OK);
    const ph_pose pose = pose_of(&scene, 77);
    assert_true(pose.position_mm[0] == 3200 + HALF_STEP_MM);
    assert_true(pose.has_heading && pose.heading_deg == 90.0);
    client_scene_teardown(&scene);
}

// An entity that takes over a slot has nothing of the motion of the one before.
static void a_slot_begins_anew_with_each_entity(void** state)
{
    (void)state;
    client_scene scene;
    begin(&scene, 0);
    walk(&scene, 3, 10);
    client_packet leave = client_packet_after(&scene, 11, 10);
    client_packet_leave(&leave, 0, 1);
    assert_int_equal(client_scene_send(&scene, &leave), PH_OK);
    ph_client_advance(scene.client, scene.now_us);
    client_packet enter = client_packet_after(&scene, 12, 11);
    client_record_place(client_packet_enter(&enter, 0, 2, SCENE_WALKER, 99), &enter, 320, 0, 5000);
    assert_int_equal(client_scene_send(&scene, &enter), PH_OK);
    for (int i = 0; i < 10; ++i) {
        ph_client_advance(scene.client, scene.now_us + (uint64_t)i * 16000);
        assert_true(pose_of(&scene, 99).position_mm[0] == 320 + HALF_STEP_MM);
    }
    client_scene_teardown(&scene);
}

static void headings_come_with_and_without_positions(void** state)
{
    (void)state;
    client_scene scene;
    begin(&scene, 0);
    assert_true(pose_of(&scene, WALKER).heading_deg == 0.0);
    client_packet packet = client_packet_after(&scene, 3, 2);
    tell_heading(client_packet_update(&packet, 0, 1), &packet, 32);
    assert_int_equal(client_scene_send(&scene, &packet), PH_OK);
    ph_client_advance(scene.client, scene.now_us);
    const ph_pose pose = pose_of(&scene, WALKER);
    assert_true(pose.heading_deg == 45.0);
    assert_true(pose.position_mm[0] == walk_x(2) + HALF_STEP_MM);
    client_scene_teardown(&scene);
}

static void a_class_without_a_heading_shows_none(void** state)
{
    (void)state;
    client_scene scene;
    begin(&scene, 0);
    client_packet packet = client_packet_after(&scene, 3, 2);
    client_packet_enter(&packet, 7, 1, SCENE_STONE, 70);
    assert_int_equal(client_scene_send(&scene, &packet), PH_OK);
    ph_client_advance(scene.client, scene.now_us);
    assert_false(pose_of(&scene, 70).has_heading);
    client_scene_teardown(&scene);
}

static void an_entity_that_has_left_is_not_shown(void** state)
{
    (void)state;
    client_scene scene;
    begin(&scene, 0);
    const ph_entity_id entity = ph_client_find(scene.client, WALKER);
    client_packet leave = client_packet_after(&scene, 3, 2);
    client_packet_leave(&leave, 0, 1);
    assert_int_equal(client_scene_send(&scene, &leave), PH_OK);
    ph_pose pose;
    assert_int_equal(ph_client_get_pose(scene.client, entity, &pose), PH_ERROR_STALE);
    assert_int_equal(ph_client_get_pose(scene.client, (ph_entity_id){0}, &pose), PH_ERROR_STALE);
    client_scene_teardown(&scene);
}

static void showing_allocates_nothing(void** state)
{
    (void)state;
    client_scene scene;
    begin(&scene, 0);
    const int before = scene.memory.allocate_count;
    walk(&scene, 3, 60);
    pose_of(&scene, WALKER);
    assert_int_equal(scene.memory.allocate_count, before);
    client_scene_teardown(&scene);
}

static void a_frame_before_any_packet_does_nothing(void** state)
{
    (void)state;
    client_scene scene;
    client_scene_setup(&scene);
    ph_client_advance(scene.client, 1000);
    ph_client_advance(scene.client, 500); // and time that went back is none
    assert_int_equal(ph_client_entity_count(scene.client), 0);
    client_scene_teardown(&scene);
}

static void delays_out_of_range_are_refused(void** state)
{
    (void)state;
    ph_schema* schema = client_scene_schema();
    const int delays_ms[] = {-1, 0, 10000, 10001};
    for (int i = 0; i < 4; ++i) {
        ph_client_def def = ph_client_def_default();
        def.schema = schema;
        def.interpolation_delay_ms = delays_ms[i];
        ph_client* client;
        const bool is_good = delays_ms[i] >= 0 && delays_ms[i] <= 10000;
        assert_int_equal(ph_client_create(&def, &client), is_good ? PH_OK : PH_ERROR_ARGUMENT);
        assert_true(client == NULL || client->display.delay_us == delays_ms[i] * 1000);
        ph_client_destroy(client);
    }
    ph_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walker_is_shown_where_it_is_by_now),
        cmocka_unit_test(a_delay_shows_the_past),
        cmocka_unit_test(the_servers_time_is_known),
        cmocka_unit_test(a_measured_round_trip_moves_the_clock),
        cmocka_unit_test(a_teleport_is_shown_at_once),
        cmocka_unit_test(a_teleport_between_two_enters_is_shown_at_once),
        cmocka_unit_test(a_newcomer_is_there_before_the_next_frame),
        cmocka_unit_test(a_slot_begins_anew_with_each_entity),
        cmocka_unit_test(headings_come_with_and_without_positions),
        cmocka_unit_test(a_class_without_a_heading_shows_none),
        cmocka_unit_test(an_entity_that_has_left_is_not_shown),
        cmocka_unit_test(showing_allocates_nothing),
        cmocka_unit_test(a_frame_before_any_packet_does_nothing),
        cmocka_unit_test(delays_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
