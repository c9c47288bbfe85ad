// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Ticks, round trips and clocks through the whole client: what goes on while the game answers late,
// sleeps, or has a clock from nowhere.

#include "support/client_scene.h"

#include "client/client_state.h"
#include "tools/tools.h"

#include <pinhole/stats.h>

#include <math.h>
#include <string.h>

enum { WALKER = 10, TICKS = 1 << PH_TICK_BITS };

static client_scene scene;

static int setup(void** state)
{
    (void)state;
    client_scene_setup(&scene);
    client_scene_begin(&scene);
    return 0;
}

static int teardown(void** state)
{
    (void)state;
    client_scene_teardown(&scene);
    return 0;
}

static void send_at(int number, int horizon, uint64_t now_us, uint32_t tick)
{
    client_packet packet = client_packet_after(&scene, number, horizon);
    packet.header.tick = (uint16_t)(tick % TICKS);
    client_record_place(client_packet_update(&packet, 0, 1), &packet, 160 * number, 0, 5000);
    client_packet_write(&packet);
    scene.now_us = now_us;
    assert_int_equal(ph_client_receive(scene.client, now_us, packet.bytes, packet.size), PH_OK);
    assert_true(ph_client_validate(scene.client));
}

// @return The lag that the answer states.
static int answer_at(uint64_t now_us)
{
    uint8_t bytes[PH_ACK_SIZE];
    ph_ack ack;
    assert_int_equal(ph_client_write_ack(scene.client, now_us, bytes), PH_ACK_SIZE);
    assert_true(ph_ack_read(bytes, sizeof bytes, &ack));
    assert_true(ph_client_validate(scene.client));
    return ack.lag_ms;
}

static uint64_t tick_of(void)
{
    return scene.client->session.arrivals.last.tick;
}

// ---- ticks

// A clock that stood still while the computer slept expects a tick long past.
static void ticks_never_go_back(void** state)
{
    (void)state;
    const uint64_t now_us = scene.now_us;
    send_at(2, 1, now_us + 1000, 1200); // 1 before, at 1: 1,199 ahead by a clock that stood still
    assert_int_equal(tick_of(), 1200);
    send_at(3, 2, now_us + 2000, 1200);
    assert_int_equal(tick_of(), 1200);
    send_at(4, 3, now_us + 3000, 1199 + TICKS);
    assert_int_equal(tick_of(), 1199 + TICKS);
    const ph_track* track = &scene.client->display.tracks[0];
    assert_true(track->time_us == (1199 + TICKS) * (int64_t)SCENE_TICK_US);
    assert_true(track->steps[0].seconds > 0.0f);
}

// 136 years at 1 ms; the wire has 11 bits, and ours go on.
static void ticks_do_not_wrap(void** state)
{
    (void)state;
    const uint64_t hidden = UINT64_C(1) << 32;
    const uint64_t since_us = hidden * SCENE_TICK_US;
    send_at(2, 1, scene.now_us + since_us, 1);
    assert_true(tick_of() == hidden + 1);
    send_at(3, 2, scene.now_us + SCENE_TICK_US, 2);
    assert_true(tick_of() == hidden + 2);
    const ph_track* track = &scene.client->display.tracks[0];
    assert_true(fabsf(track->steps[0].seconds - 0.1f) < 0.001f);
}

// ---- round trips

// The answer goes back 70 ms after packet 1; packet 2 was sent in the knowledge of that, 20 ms after it came.
static void a_round_trip_begins_with_the_answer(void** state)
{
    (void)state;
    const uint64_t now_us = scene.now_us;
    answer_at(now_us + 70000);
    answer_at(now_us + 90000); // the same once more
    client_packet packet = client_packet_after(&scene, 2, 1);
    packet.header.wait = 2;
    client_packet_write(&packet);
    assert_int_equal(ph_client_receive(scene.client, now_us + 190000, packet.bytes, packet.size),
                     PH_OK);
    assert_true(ph_client_get_stats(scene.client).rtt_ms == 100.0);
}

static void without_an_answer_nothing_is_measured(void** state)
{
    (void)state;
    client_packet packet = client_packet_after(&scene, 2, 1);
    packet.header.wait = 2;
    assert_int_equal(client_scene_send(&scene, &packet), PH_OK);
    assert_true(ph_client_get_stats(scene.client).rtt_ms == 0.0);
}

// A second later the probe comes again: one of two answers was heard, and it is unknown which.
static void a_probe_that_is_asked_again_measures_nothing(void** state)
{
    (void)state;
    client_packet probe = client_packet_probe(&scene, 3);
    assert_int_equal(client_scene_send(&scene, &probe), PH_OK);
    answer_at(scene.now_us);
    scene.now_us += 900000;
    assert_int_equal(client_scene_send(&scene, &probe), PH_OK);
    answer_at(scene.now_us);
    client_packet packet = client_packet_after(&scene, 4, 3);
    packet.header.wait = 2;
    assert_int_equal(client_scene_send(&scene, &packet), PH_OK);
    assert_true(ph_client_get_stats(scene.client).rtt_ms == 0.0);
}

// ---- answers

static uint64_t due_us(void)
{
    return ph_client_ack_due_us(scene.client);
}

static void before_the_first_packet_nothing_is_to_be_answered(void** state)
{
    (void)state;
    client_scene fresh;
    client_scene_setup(&fresh);
    assert_true(ph_client_ack_due_us(fresh.client) == UINT64_MAX);
    client_scene_teardown(&fresh);
}

// Packet 1 came long after anything else, and nothing follows it.
static void a_rare_packet_is_answered_once_more(void** state)
{
    (void)state;
    const uint64_t now_us = scene.now_us;
    assert_true(due_us() == now_us);
    assert_int_equal(answer_at(now_us + 7000), 0);
    assert_true(due_us() == now_us + 57000);
    assert_int_equal(answer_at(now_us + 57000), 50);
    assert_true(due_us() == UINT64_MAX);
}

static void what_others_soon_follow_is_answered_once(void** state)
{
    (void)state;
    const uint64_t now_us = scene.now_us;
    answer_at(now_us);
    send_at(2, 1, now_us + 299000, 2);
    assert_true(due_us() == now_us + 299000);
    answer_at(now_us + 299000);
    assert_true(due_us() == UINT64_MAX);
    send_at(3, 1, now_us + 599000, 3);
    answer_at(now_us + 599000);
    assert_true(due_us() == now_us + 649000);
    send_at(4, 1, now_us + 640000, 4); // instead of the repeat
    assert_int_equal(answer_at(now_us + 640000), 0);
    assert_true(due_us() == UINT64_MAX);
}

static void an_answer_says_how_late_it_is(void** state)
{
    (void)state;
    const uint64_t now_us = scene.now_us;
    assert_int_equal(answer_at(now_us), 0);
    assert_int_equal(answer_at(now_us + 499), 0);
    assert_int_equal(answer_at(now_us + 500), 1);
    assert_int_equal(answer_at(now_us + 254000), 254);
    assert_int_equal(answer_at(now_us + 255000), PH_ACK_LAG_UNKNOWN);
    assert_int_equal(answer_at(now_us + 3600000000), PH_ACK_LAG_UNKNOWN);
}

static void a_probe_that_is_asked_again_is_answered_again(void** state)
{
    (void)state;
    client_packet probe = client_packet_probe(&scene, 3);
    assert_int_equal(client_scene_send(&scene, &probe), PH_OK);
    answer_at(scene.now_us);
    answer_at(scene.now_us + 50000);
    assert_true(due_us() == UINT64_MAX);
    scene.now_us += 900000;
    assert_int_equal(client_scene_send(&scene, &probe), PH_OK);
    assert_true(due_us() <= scene.now_us);
    answer_at(scene.now_us);
    assert_true(due_us() == UINT64_MAX);
}

// ---- clocks

static void the_end_of_time_does_no_harm(void** state)
{
    (void)state;
    const uint64_t moments_us[] = {UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX};
    for (int i = 0; i < 3; ++i) {
        ph_client_advance(scene.client, moments_us[i]);
        ph_pose pose;
        assert_int_equal(
            ph_client_get_pose(scene.client, ph_client_find(scene.client, WALKER), &pose), PH_OK);
        assert_true(isfinite(pose.position_mm[0]));
        assert_true(isfinite(ph_client_server_time_us(scene.client, moments_us[i])));
        send_at(2 + i, 1 + i, moments_us[i], (uint32_t)i);
        answer_at(moments_us[i]);
    }
    ph_client_advance(scene.client, UINT64_MAX);
    assert_true(ph_client_validate(scene.client));
}

#define BEGUN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEGUN(ticks_never_go_back),
        BEGUN(ticks_do_not_wrap),
        BEGUN(a_round_trip_begins_with_the_answer),
        BEGUN(without_an_answer_nothing_is_measured),
        BEGUN(a_probe_that_is_asked_again_measures_nothing),
        cmocka_unit_test(before_the_first_packet_nothing_is_to_be_answered),
        BEGUN(a_rare_packet_is_answered_once_more),
        BEGUN(what_others_soon_follow_is_answered_once),
        BEGUN(an_answer_says_how_late_it_is),
        BEGUN(a_probe_that_is_asked_again_is_answered_again),
        BEGUN(the_end_of_time_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
