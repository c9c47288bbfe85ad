// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// An entity that enters and is put elsewhere before the server knows that a client has it:
// a client shows it here, then there, and nowhere else. A whole session with a round trip of 300 ms.

#include "support/test_links.h"

#include <pinhole/client.h>
#include <pinhole/viewer.h>
#include <pinhole/stats.h>

#define FRAME_US 10000
#define HERE_MM 10000
#define THERE_MM 110000 // farther than the world's jump_mm
#define STEP_MM 16.0

typedef struct fixture {
    ph_schema* schema;
    ph_world* world;
    ph_client* client;
    ph_link* down;
    ph_link* up;
    ph_viewer_id viewer;
    ph_entity_id entity;
    uint64_t now_us;
    uint64_t tick_us;
} fixture;

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    fixture* f = context;
    ph_link_send(f->down, f->now_us, bytes, size);
}

// In the pinhole profile an enter without an ack is repeated only for an overdue entity.
static void setup(fixture* f, ph_profile profile, double loss)
{
    static const char TEXT[] = "class d\nplace: position\n";
    *f = (fixture){0};
    assert_int_equal(ph_schema_parse(TEXT, sizeof TEXT - 1, NULL, &f->schema, NULL), PH_OK);
    ph_world_def world = ph_world_def_default();
    ph_client_def client = ph_client_def_default();
    ph_viewer_def viewer = ph_viewer_def_default();
    world.schema = f->schema;
    client.schema = f->schema;
    world.profile = profile;
    client.profile = profile;
    viewer.max_starve_ms = 100;
    f->tick_us = world.tick_us;
    assert_int_equal(ph_world_create(&world, &f->world), PH_OK);
    assert_int_equal(ph_world_add_viewer(f->world, &viewer, &f->viewer), PH_OK);
    assert_int_equal(ph_client_create(&client, &f->client), PH_OK);
    f->down =
        test_link_create(&(ph_link_def){.seed = 1, .key = 1, .delay_us = 150000, .loss = loss});
    f->up = test_link_create(&(ph_link_def){.seed = 1, .key = 2, .delay_us = 150000});
    assert_true(f->down != NULL && f->up != NULL);
}

static void teardown(fixture* f)
{
    ph_link_destroy(f->up);
    ph_link_destroy(f->down);
    ph_client_destroy(f->client);
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
}

static void carry(fixture* f)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    uint8_t ack[PH_ACK_SIZE];
    size_t size;
    while ((size = ph_link_receive(f->down, f->now_us, bytes, sizeof bytes)) > 0) {
        assert_int_equal(ph_client_receive(f->client, f->now_us, bytes, size), PH_OK);
        ph_link_send(f->up, f->now_us, ack, ph_client_write_ack(f->client, f->now_us, ack));
    }
    while ((size = ph_link_receive(f->up, f->now_us, bytes, sizeof bytes)) > 0) {
        assert_int_equal(ph_viewer_receive_ack(f->world, f->viewer, f->now_us, bytes, size), PH_OK);
    }
}

static void run(fixture* f, int jump_frame)
{
    bool has_been_there = false;
    for (int frame = 0; frame < 300; ++frame, f->now_us += FRAME_US) {
        if (frame == 0) {
            const ph_spawn spawn = {.key = 7, .position_mm = {HERE_MM}};
            assert_int_equal(ph_world_spawn(f->world, &spawn, &f->entity), PH_OK);
        }
        ph_world_move(f->world, f->entity, frame < jump_frame ? HERE_MM : THERE_MM, 0, 0);
        if (f->now_us % f->tick_us == 0) {
            ph_world_tick(f->world);
            ph_world_send_all(f->world, f->now_us, deliver, f);
        }
        carry(f);
        ph_client_advance(f->client, f->now_us);
        ph_pose pose;
        if (ph_client_get_pose(f->client, ph_client_find(f->client, 7), &pose) == PH_OK) {
            const double x_mm = pose.position_mm[0];
            const bool is_there = x_mm >= THERE_MM - STEP_MM && x_mm <= THERE_MM + STEP_MM;
            assert_true(is_there || (x_mm >= HERE_MM - STEP_MM && x_mm <= HERE_MM + STEP_MM));
            assert_true(is_there || !has_been_there);
            has_been_there = is_there;
        }
    }
    assert_true(has_been_there);
}

// Several enters of one entity in a session are what this is about.
static void play_all(ph_profile profile, double loss)
{
    int repeated = 0;
    for (int jump_frame = 5; jump_frame < 60; jump_frame += 5) {
        fixture f;
        setup(&f, profile, loss);
        run(&f, jump_frame);
        ph_viewer_stats stats;
        assert_int_equal(ph_viewer_get_stats(f.world, f.viewer, &stats), PH_OK);
        repeated += stats.sent_enters > 1;
        teardown(&f);
    }
    assert_true(repeated > 0);
}

static void a_teleport_before_the_first_answer_is_no_motion(void** state)
{
    (void)state;
    play_all(PH_PROFILE_CLASSIC, 0.0);
}

static void a_teleport_before_the_first_answer_is_no_motion_in_pinhole(void** state)
{
    (void)state;
    play_all(PH_PROFILE_PINHOLE, 0.0);
}

static void nor_when_packets_are_lost(void** state)
{
    (void)state;
    play_all(PH_PROFILE_CLASSIC, 0.3);
}

static void nor_when_packets_are_lost_in_pinhole(void** state)
{
    (void)state;
    play_all(PH_PROFILE_PINHOLE, 0.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_teleport_before_the_first_answer_is_no_motion),
        cmocka_unit_test(a_teleport_before_the_first_answer_is_no_motion_in_pinhole),
        cmocka_unit_test(nor_when_packets_are_lost),
        cmocka_unit_test(nor_when_packets_are_lost_in_pinhole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
