// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client of the pinhole profile refuses, and that nothing is left of that.

#include "support/pinhole_scene.h"

#include "client/client_state.h"
#include "packet/header.h"

#include <pinhole/stats.h>

#include <string.h>

static pinhole_scene scene;

// Names are looked at last, when everything has been read: by then the baselines have moved on.
static client_packet forged(int number, int horizon)
{
    client_packet packet = pinhole_packet_after(&scene, number, horizon);
    client_packet_enter(&packet, 14, 1, SCENE_WALKER, 99);
    client_packet_enter(&packet, 15, 1, SCENE_WALKER, 99);
    return packet;
}

static void a_refused_packet_does_not_move_the_baselines(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    for (int i = 2; i < 10; ++i) {
        client_packet packet = pinhole_packet_place(&scene, i, 1, 1600 * i);
        pinhole_scene_apply(&scene, &packet);
    }
    client_packet packet = forged(11, 9);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    // The server itself has not heard of anything yet.
    packet = pinhole_packet_place(&scene, 10, 1, 48);
    pinhole_scene_apply(&scene, &packet);
    assert_int_equal(pinhole_scene_x_mm(&scene, 10), 48);
    packet = forged(12, 10);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    packet = pinhole_packet_place(&scene, 11, 5, 64);
    pinhole_scene_apply(&scene, &packet);
    assert_int_equal(pinhole_scene_x_mm(&scene, 10), 64);
    pinhole_scene_teardown(&scene);
}

static void a_horizon_that_goes_back_is_refused(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_place(&scene, 2, 1, 16);
    pinhole_scene_apply(&scene, &packet);
    packet = pinhole_packet_place(&scene, 3, 2, 32);
    pinhole_scene_apply(&scene, &packet);
    packet = pinhole_packet_place(&scene, 4, 1, 48);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_SEQUENCE);
    pinhole_scene_teardown(&scene);
}

static void a_horizon_ahead_of_what_came_is_refused(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_place(&scene, 4, 2, 16);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_SEQUENCE);
    pinhole_scene_teardown(&scene);
}

static void an_enter_of_a_known_entity_is_refused(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_after(&scene, 2, 1);
    client_packet_enter(&packet, 0, 1, SCENE_WALKER, 10);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    pinhole_scene_teardown(&scene);
}

static void an_update_of_an_entity_that_left_is_refused(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_after(&scene, 2, 1);
    client_packet_leave(&packet, 0, 1);
    pinhole_scene_apply(&scene, &packet);
    packet = pinhole_packet_place(&scene, 3, 1, 16);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    pinhole_scene_teardown(&scene);
}

// The baseline is one of a walker, and by now there is a stone.
static void an_update_of_an_entity_that_was_replaced_is_refused(void** state)
{
    (void)state;
    pinhole_scene_setup(&scene);
    client_packet packet = pinhole_packet_make(&scene, 1);
    client_packet_enter(&packet, 0, 1, SCENE_WALKER, 10);
    pinhole_scene_apply(&scene, &packet);
    packet = pinhole_packet_make(&scene, 2);
    client_packet_leave(&packet, 0, 1);
    pinhole_scene_apply(&scene, &packet);
    packet = pinhole_packet_make(&scene, 3);
    client_packet_enter(&packet, 0, 2, SCENE_STONE, 20);
    pinhole_scene_apply(&scene, &packet);
    packet = pinhole_packet_place(&scene, 4, 1, 16);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    pinhole_scene_teardown(&scene);
}

static void a_slot_is_told_once(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_place(&scene, 2, 1, 16);
    client_packet_leave(&packet, 0, 1);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    pinhole_scene_teardown(&scene);
}

static void a_slot_that_does_not_exist_is_refused(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_after(&scene, 2, 1);
    client_packet_leave(&packet, SCENE_SLOTS, 1);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    packet = pinhole_packet_after(&scene, 2, 1);
    client_packet_enter(&packet, SCENE_SLOTS, 1, SCENE_WALKER, 12);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    pinhole_scene_teardown(&scene);
}

static void an_association_of_no_entity_is_refused(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_after(&scene, 2, 1);
    client_packet_leave(&packet, 0, 2);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    packet = pinhole_packet_after(&scene, 2, 1);
    client_packet_enter(&packet, 5, 2, SCENE_WALKER, 12);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    pinhole_scene_teardown(&scene);
}

static void a_reference_to_no_entity_is_refused(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_after(&scene, 2, 1);
    client_record* it = client_packet_update(&packet, 0, 1);
    client_record_target(it, &packet, 7, 1);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    packet = pinhole_packet_after(&scene, 2, 1);
    it = client_packet_update(&packet, 0, 1);
    client_record_target(it, &packet, 1, 2);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    pinhole_scene_teardown(&scene);
}

static void a_place_without_an_eye_is_refused(void** state)
{
    (void)state;
    pinhole_scene_setup(&scene);
    client_packet packet = pinhole_packet_make(&scene, 1);
    packet.header.has_eye = false;
    client_packet_enter(&packet, 0, 1, SCENE_WALKER, 10);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_RECORD);
    pinhole_scene_teardown(&scene);
}

// The header as it is, and no records.
static void write_bare(client_packet* packet)
{
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, packet->bytes, sizeof packet->bytes);
    ph_pinhole_header_write(&packet->header, &writer.raw);
    packet->size = ph_entropy_writer_finish(&writer);
}

static void a_tick_that_goes_back_is_refused(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_place(&scene, 2, 1, 16);
    packet.header.whole_tick = 50;
    pinhole_scene_apply(&scene, &packet);
    packet = pinhole_packet_place(&scene, 3, 1, 32);
    packet.header.whole_tick = 49;
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_SEQUENCE);
    packet = pinhole_packet_place(&scene, 3, 1, 32);
    packet.header.whole_tick = 50;
    pinhole_scene_apply(&scene, &packet);
    pinhole_scene_teardown(&scene);
}

// The server has heard of us, and that none of its packets was applied.
static void a_tick_is_told_as_a_whole_when_nothing_is_known_to_be_applied(void** state)
{
    (void)state;
    pinhole_scene_setup(&scene);
    client_packet packet = pinhole_packet_make(&scene, 1);
    packet.header.is_probe = true;
    packet.header.has_eye = false;
    packet.header.tick = 0;
    pinhole_scene_apply(&scene, &packet);
    packet = pinhole_packet_after(&scene, 2, 1);
    packet.header.tick = 5;
    write_bare(&packet);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_SEQUENCE);
    packet = pinhole_packet_after(&scene, 2, 1);
    packet.header.whole_tick = 123456;
    pinhole_scene_apply(&scene, &packet);
    assert_int_equal(ph_client_get_stats(scene.base.client).newest_tick, 123456);
    pinhole_scene_teardown(&scene);
}

// One value, one way to write it.
static void a_tick_told_as_a_whole_without_need_is_refused(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_after(&scene, 2, 1);
    packet.header.tick = PH_PINHOLE_TICK_WHOLE;
    packet.header.whole_tick = 1 + PH_PINHOLE_TICK_WHOLE - 1;
    write_bare(&packet);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_SEQUENCE);
    pinhole_scene_teardown(&scene);
}

static void another_hello_is_refused(void** state)
{
    (void)state;
    pinhole_scene_setup(&scene);
    client_packet packet = pinhole_packet_make(&scene, 1);
    packet.header.hello.fingerprint ^= 1;
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_HELLO);
    packet = pinhole_packet_make(&scene, 1);
    packet.header.hello.version = PH_CLASSIC_VERSION;
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_HELLO);
    packet = pinhole_packet_make(&scene, 1);
    pinhole_scene_apply(&scene, &packet);
    packet = pinhole_packet_make(&scene, 2);
    packet.header.hello.precision = 5;
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_HELLO);
    pinhole_scene_teardown(&scene);
}

// The header is at the end, so what is cut off is cut off at the front. (Less cut off may well be
// another packet.)
static void a_packet_without_all_of_its_header_is_refused(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_place(&scene, 2, 1, 77760);
    pinhole_packet_write(&scene, &packet);
    const uint64_t digest = ph_client_digest(scene.base.client);
    for (size_t size = 0; size < PH_PINHOLE_HEADER_BITS_MIN / 8; ++size) {
        const uint8_t* bytes = packet.bytes + packet.size - size;
        assert_int_equal(client_scene_receive(&scene.base, bytes, size), PH_ERROR_VALUE);
        assert_int_equal(ph_client_digest(scene.base.client), digest);
    }
    const ph_client_stats stats = ph_client_get_stats(scene.base.client);
    assert_int_equal(stats.refused_datagrams[PH_CLIENT_REFUSAL_SIZE],
                     PH_PINHOLE_HEADER_BITS_MIN / 8);
    pinhole_scene_apply(&scene, &packet);
    pinhole_scene_teardown(&scene);
}

static void a_probe_has_nothing_behind_it(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_probe(&scene, 3);
    pinhole_packet_write(&scene, &packet);
    memmove(packet.bytes + 2, packet.bytes, packet.size);
    memset(packet.bytes, 0, 2);
    packet.size += 2;
    const uint64_t digest = ph_client_digest(scene.base.client);
    assert_int_equal(client_scene_receive(&scene.base, packet.bytes, packet.size), PH_ERROR_VALUE);
    assert_int_equal(ph_client_digest(scene.base.client), digest);
    pinhole_scene_teardown(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_packet_does_not_move_the_baselines),
        cmocka_unit_test(a_horizon_that_goes_back_is_refused),
        cmocka_unit_test(a_horizon_ahead_of_what_came_is_refused),
        cmocka_unit_test(an_enter_of_a_known_entity_is_refused),
        cmocka_unit_test(an_update_of_an_entity_that_left_is_refused),
        cmocka_unit_test(an_update_of_an_entity_that_was_replaced_is_refused),
        cmocka_unit_test(a_slot_is_told_once),
        cmocka_unit_test(a_slot_that_does_not_exist_is_refused),
        cmocka_unit_test(an_association_of_no_entity_is_refused),
        cmocka_unit_test(a_reference_to_no_entity_is_refused),
        cmocka_unit_test(a_place_without_an_eye_is_refused),
        cmocka_unit_test(a_tick_that_goes_back_is_refused),
        cmocka_unit_test(a_tick_is_told_as_a_whole_when_nothing_is_known_to_be_applied),
        cmocka_unit_test(a_tick_told_as_a_whole_without_need_is_refused),
        cmocka_unit_test(another_hello_is_refused),
        cmocka_unit_test(a_packet_without_all_of_its_header_is_refused),
        cmocka_unit_test(a_probe_has_nothing_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
