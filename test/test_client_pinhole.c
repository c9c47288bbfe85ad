// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client of the pinhole profile: what it takes, and against which baselines it reads. Every packet
// that is applied also compares the baselines with those worked out from the very first packet
// (pinhole_scene.h).

#include "support/pinhole_scene.h"

#include "client/client_state.h"
#include "packet/header.h"

#include <pinhole/stats.h>

#include <string.h>

static pinhole_scene scene;

// ---- what is taken

static void an_enter_tells_the_whole_state(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_after(&scene, 2, 1);
    client_record* it = client_packet_enter(&packet, 5, 1, SCENE_WALKER, 300);
    client_record_place(it, &packet, 64000, -32000, 1600);
    client_record_health(it, &packet, 7);
    client_record_target(it, &packet, 1, 1);
    client_record_text(it, &packet, WALKER_NAME, "ann");
    pinhole_scene_apply(&scene, &packet);
    const walker ann = client_scene_walker(&scene.base, 300);
    assert_int_equal(ann.position_mm[0], 64000);
    assert_int_equal(ann.position_mm[1], -32000);
    assert_int_equal(ann.position_mm[2], 1600);
    assert_int_equal(ann.health, 7);
    assert_string_equal(ann.name, "ann");
    assert_int_equal(ann.target.index1, 2);
    pinhole_scene_teardown(&scene);
}

static void an_update_is_read_against_what_both_ends_know(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    for (int i = 2; i < 40; ++i) {
        client_packet packet = pinhole_packet_place(&scene, i, i - 1, 160 * i);
        pinhole_scene_apply(&scene, &packet);
        assert_int_equal(pinhole_scene_x_mm(&scene, 10), 160 * i);
    }
    assert_int_equal(client_scene_walker(&scene.base, 11).position_mm[0], 0);
    pinhole_scene_teardown(&scene);
}

// The sender hears of the client late and in steps; much was applied that it does not know of.
static void a_horizon_may_stay_behind_and_go_on_in_steps(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    for (int i = 2; i < 200; ++i) {
        client_packet packet =
            pinhole_packet_place(&scene, i, i < 60 ? 1 : i - 1 - i % 50, i % 7 * 1600);
        pinhole_scene_apply(&scene, &packet);
        assert_int_equal(pinhole_scene_x_mm(&scene, 10), i % 7 * 1600);
    }
    pinhole_scene_teardown(&scene);
}

// A horizon may also be one that never came: the newest one before it counts.
static void packets_that_got_lost_are_no_baselines(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    for (int i = 2; i < 120; ++i) {
        if (i % 5 < 2) {
            continue;
        }
        const int horizon = i % 5 == 2 && i > 4 ? i - 3 : i - 1 - i % 2;
        client_packet packet = pinhole_packet_place(&scene, i, i > 4 ? horizon : 1, 16 * i * i);
        pinhole_scene_apply(&scene, &packet);
        assert_int_equal(pinhole_scene_x_mm(&scene, 10), 16 * i * i);
    }
    pinhole_scene_teardown(&scene);
}

static void numbers_go_on_beyond_16_bits(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    for (int i = 65; i < 3 * 65536; i += 63) {
        client_packet packet = pinhole_packet_probe(&scene, i);
        assert_int_equal(pinhole_scene_send(&scene, &packet), PH_OK);
    }
    const int newest = (int)(scene.base.client->session.arrivals.receipt.newest - SCENE_SESSION);
    client_packet packet = pinhole_packet_place(&scene, newest + 1, newest, 4800);
    pinhole_scene_apply(&scene, &packet);
    assert_int_equal(ph_client_get_stats(scene.base.client).newest_sequence,
                     SCENE_SESSION + (uint32_t)newest + 1);
    pinhole_scene_teardown(&scene);
}

// No local clock matters: our own stands still, or runs away.
static void a_tick_is_certain_whatever_our_clock_says(void** state)
{
    (void)state;
    static const uint32_t ticks[] = {5, 2051, 2052, 5000, 5000, 4000000, 4002046, 4004093};
    pinhole_scene_setup_begun(&scene);
    int32_t x_mm = 0;
    for (int i = 0; i < (int)(sizeof ticks / sizeof ticks[0]); ++i) {
        x_mm += 3200;
        client_packet packet = pinhole_packet_place(&scene, 2 + i, 1 + i, x_mm);
        packet.header.whole_tick = ticks[i];
        scene.base.now_us += i % 2 == 0 ? 0 : 1000000000;
        pinhole_scene_apply(&scene, &packet);
        assert_int_equal(ph_client_get_stats(scene.base.client).newest_tick, ticks[i]);
        assert_int_equal(pinhole_scene_x_mm(&scene, 10), x_mm);
    }
    pinhole_scene_teardown(&scene);
}

static void a_tick_is_certain_when_nothing_came_for_longer_than_the_ring(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    for (int i = 65; i < 600; i += 64) {
        client_packet probe = pinhole_packet_probe(&scene, i);
        assert_int_equal(pinhole_scene_send(&scene, &probe), PH_OK);
    }
    const int newest = (int)(scene.base.client->session.arrivals.receipt.newest - SCENE_SESSION);
    client_packet packet = pinhole_packet_place(&scene, newest + 1, newest, 320);
    packet.header.whole_tick = 1000;
    pinhole_scene_apply(&scene, &packet);
    assert_int_equal(packet.header.tick, 999);
    assert_int_equal(ph_client_get_stats(scene.base.client).newest_tick, 1000);
    pinhole_scene_teardown(&scene);
}

static void a_leave_empties_the_baseline(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_after(&scene, 2, 1);
    client_packet_leave(&packet, 1, 1);
    pinhole_scene_apply(&scene, &packet);
    assert_int_equal(ph_client_entity_count(scene.base.client), 1);
    packet = pinhole_packet_after(&scene, 3, 2);
    client_record* it = client_packet_enter(&packet, 1, 2, SCENE_STONE, 77);
    client_record_place(it, &packet, 800, 800, 5000);
    pinhole_scene_apply(&scene, &packet);
    packet = pinhole_packet_after(&scene, 4, 3);
    it = client_packet_update(&packet, 1, 2);
    it->record.class_index = SCENE_STONE;
    client_record_place(it, &packet, 1600, 800, 9000);
    pinhole_scene_apply(&scene, &packet);
    assert_int_equal(ph_client_find(scene.base.client, 77).generation, 2);
    pinhole_scene_teardown(&scene);
}

// An entity whose enter is not known to have come is entered again, whatever came.
static void an_enter_is_told_again_until_it_is_known(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    for (int i = 2; i < 6; ++i) {
        client_packet packet = pinhole_packet_after(&scene, i, 1);
        client_record* it = client_packet_enter(&packet, 3, 1, SCENE_WALKER, 12);
        client_record_health(it, &packet, i);
        pinhole_scene_apply(&scene, &packet);
        assert_int_equal(client_scene_walker(&scene.base, 12).health, i);
    }
    assert_int_equal(ph_client_get_stats(scene.base.client).applied_enters, 3);
    client_packet packet = pinhole_packet_after(&scene, 6, 3);
    client_record* it = client_packet_update(&packet, 3, 1);
    client_record_health(it, &packet, 50);
    pinhole_scene_apply(&scene, &packet);
    assert_int_equal(client_scene_walker(&scene.base, 12).health, 50);
    pinhole_scene_teardown(&scene);
}

static void a_coarse_position_is_taken_as_it_is(void** state)
{
    (void)state;
    pinhole_scene_setup(&scene);
    scene.precision = 1024 * 4;
    client_packet packet = pinhole_packet_make(&scene, 1);
    client_record* it = client_packet_enter(&packet, 0, 1, SCENE_WALKER, 10);
    client_record_place(it, &packet, 100000, 0, 0);
    pinhole_scene_apply(&scene, &packet);
    packet = pinhole_packet_after(&scene, 2, 1);
    packet.header.whole_tick = 30;
    const pinhole_baselines baselines = pinhole_scene_baselines(&scene, packet.header.horizon);
    const ph_pinhole_frame frame = pinhole_scene_frame(&scene, &packet, &baselines);
    const int coarse = ph_pinhole_coarse(&frame, &baselines.slots[0]);
    assert_in_range(coarse, 1, PH_COARSE_MAX);
    it = client_packet_update(&packet, 0, 1);
    client_record_place(it, &packet, 101616, 160, 0);
    it->coarse = (uint8_t)coarse;
    const ph_layout* layout = &scene.base.layouts.layouts[SCENE_WALKER];
    assert_true(
        ph_pinhole_round(&frame, layout, coarse, it->words + layout->word[WALKER_POSITION]));
    pinhole_scene_apply(&scene, &packet);
    assert_int_equal(pinhole_scene_x_mm(&scene, 10),
                     (int32_t)it->words[layout->word[WALKER_POSITION]]);
    pinhole_scene_teardown(&scene);
}

static void packets_without_records_count(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    for (int i = 2; i < 200; ++i) {
        client_packet packet = pinhole_packet_after(&scene, i, i - 1);
        pinhole_scene_apply(&scene, &packet);
    }
    client_packet packet = pinhole_packet_place(&scene, 200, 199, 16);
    pinhole_scene_apply(&scene, &packet);
    assert_int_equal(pinhole_scene_x_mm(&scene, 10), 16);
    pinhole_scene_teardown(&scene);
}

static void what_came_once_is_old_when_it_comes_again(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_place(&scene, 2, 1, 16);
    pinhole_scene_apply(&scene, &packet);
    client_packet later = pinhole_packet_place(&scene, 9, 2, 32);
    pinhole_scene_apply(&scene, &later);
    pinhole_scene_refuse(&scene, &packet, PH_CLIENT_REFUSAL_OLD);
    pinhole_scene_refuse(&scene, &later, PH_CLIENT_REFUSAL_OLD);
    pinhole_scene_teardown(&scene);
}

// ---- what is shown

// A newcomer that tells how it moves is shown moving from its first frame on.
static void a_newcomer_moves_as_it_was_told(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    client_packet packet = pinhole_packet_after(&scene, 2, 1);
    client_record* it = client_packet_enter(&packet, 2, 1, SCENE_WALKER, 12);
    it->record.velocity[0] = 100; // steps of 16 mm
    client_packet_enter(&packet, 3, 1, SCENE_WALKER, 13);
    pinhole_scene_apply(&scene, &packet);
    ph_client* client = scene.base.client;
    ph_pose from = {0};
    ph_pose to = {0};
    ph_pose standing = {0};
    ph_client_advance(client, scene.base.now_us);
    assert_int_equal(ph_client_get_pose(client, ph_client_find(client, 12), &from), PH_OK);
    for (int i = 1; i <= 10; ++i) {
        ph_client_advance(client, scene.base.now_us + (uint64_t)i * 20000);
    }
    assert_int_equal(ph_client_get_pose(client, ph_client_find(client, 12), &to), PH_OK);
    assert_int_equal(ph_client_get_pose(client, ph_client_find(client, 13), &standing), PH_OK);
    const double velocity_s = ph_baseline_velocity_ticks(SCENE_TICK_US) * SCENE_TICK_US * 1e-6;
    const double way_mm = 1600.0 / velocity_s * 0.2;
    assert_true(to.position_mm[0] - from.position_mm[0] > 0.8 * way_mm);
    assert_true(to.position_mm[0] - from.position_mm[0] < 1.2 * way_mm);
    assert_true(standing.position_mm[0] > 7.0 && standing.position_mm[0] < 9.0);
    pinhole_scene_teardown(&scene);
}

// Where silence means that the motion shown is right, samples are those that residual; they must
// not teach that velocities are worth little.
static void residuals_do_not_teach_to_stand_still(void** state)
{
    (void)state;
    pinhole_scene_setup_begun(&scene);
    for (int i = 2; i < 100; ++i) {
        client_packet packet = pinhole_packet_place(&scene, i, i - 1, i % 2 == 0 ? 1600 : 0);
        pinhole_scene_apply(&scene, &packet);
    }
    const ph_motion_model* motion_model =
        &scene.base.client->display.classes[SCENE_WALKER].motion_model;
    assert_true(ph_motion_model_share(motion_model, 0.1f) >= 1.0f);
    assert_true(ph_motion_model_share(motion_model, 0.3f) >= 1.0f);
    pinhole_scene_teardown(&scene);
}

// ---- memory

// A record may take less than a bit, so a packet may tell all slots, however many.
static void a_packet_may_tell_every_slot(void** state)
{
    (void)state;
    client_scene many;
    client_scene_setup_profile(&many, PH_PROFILE_PINHOLE, 5000, 5000);
    assert_int_equal(many.client->decoded.capacity, 5000);
    client_scene_teardown(&many);
}

static void creation_survives_every_lack_of_memory(void** state)
{
    (void)state;
    ph_schema* schema = client_scene_schema();
    ph_result result = PH_ERROR_MEMORY;
    for (int fail_at = 0; result != PH_OK; ++fail_at) {
        test_memory memory = {.fail_at = fail_at + 1};
        ph_client_def def = ph_client_def_default();
        def.schema = schema;
        def.profile = PH_PROFILE_PINHOLE;
        def.allocator = test_memory_allocator(&memory);
        ph_client* client = NULL;
        result = ph_client_create(&def, &client);
        assert_true(result == PH_OK || (result == PH_ERROR_MEMORY && client == NULL));
        ph_client_destroy(client);
        test_memory_assert_clean(&memory);
    }
    ph_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_enter_tells_the_whole_state),
        cmocka_unit_test(an_update_is_read_against_what_both_ends_know),
        cmocka_unit_test(a_horizon_may_stay_behind_and_go_on_in_steps),
        cmocka_unit_test(packets_that_got_lost_are_no_baselines),
        cmocka_unit_test(numbers_go_on_beyond_16_bits),
        cmocka_unit_test(a_tick_is_certain_whatever_our_clock_says),
        cmocka_unit_test(a_tick_is_certain_when_nothing_came_for_longer_than_the_ring),
        cmocka_unit_test(a_leave_empties_the_baseline),
        cmocka_unit_test(an_enter_is_told_again_until_it_is_known),
        cmocka_unit_test(a_coarse_position_is_taken_as_it_is),
        cmocka_unit_test(packets_without_records_count),
        cmocka_unit_test(what_came_once_is_old_when_it_comes_again),
        cmocka_unit_test(a_newcomer_moves_as_it_was_told),
        cmocka_unit_test(residuals_do_not_teach_to_stand_still),
        cmocka_unit_test(a_packet_may_tell_every_slot),
        cmocka_unit_test(creation_survives_every_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
