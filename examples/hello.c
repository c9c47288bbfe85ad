// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A hundred dancers circle a viewer, which watches over a link that loses one datagram in ten.

#include <pinhole/pinhole.h>

#include <math.h>
#include <stdio.h>

enum { DANCERS = 100, SECONDS = 10, TICK_US = 100000, FRAME_US = 50000 };
static const char SCHEMA[] = "class dancer\n    place: position\n";
static uint64_t now_us; // time is the game's, too

static void deliver(void* link, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer; // there is but one
    ph_link_send(link, now_us, bytes, size);
}

// Moves the dancers. Returns how far they are from where the client shows them, on average.
static double dance(ph_world* world, ph_client* client, int tick)
{
    double error_mm = 0.0;
    ph_client_advance(client, now_us);
    for (uint32_t i = 0; i < DANCERS; ++i) {
        const int32_t x_mm = (int32_t)(1000.0 * i * cos(i + 0.002 * tick));
        const int32_t y_mm = (int32_t)(1000.0 * i * sin(i + 0.002 * tick));
        ph_world_move(world, ph_world_find(world, i), x_mm, y_mm, 0);
        ph_pose pose;
        if (ph_client_get_pose(client, ph_client_find(client, i), &pose) == PH_OK) {
            error_mm += hypot(pose.position_mm[0] - x_mm, pose.position_mm[1] - y_mm) /
                        ph_client_entity_count(client);
        }
    }
    return error_mm;
}

int main(void)
{
    ph_schema* schema; // NULL should the text be wrong: world and client refuse that
    ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &schema, NULL);
    ph_world_def world_def = ph_world_def_default();
    ph_client_def client_def = ph_client_def_default();
    const ph_viewer_def viewer_def = ph_viewer_def_default(); // 13 kbit/s; the eye is at (0, 0, 0)
    world_def.schema = client_def.schema = schema;
    world_def.on_error = client_def.on_error = ph_error_print; // should a call be wrong
    ph_world* world = NULL;
    ph_client* client = NULL;
    ph_viewer_id viewer = {0};
    ph_link *down = NULL, *up = NULL; // a simulated network, where a game has its sockets
    ph_link_create(&(ph_link_def){.seed = 2, .delay_us = 50000, .loss = 0.1}, &down);
    ph_link_create(&(ph_link_def){.seed = 3, .delay_us = 50000}, &up);
    bool is_well = down && up && ph_world_create(&world_def, &world) == PH_OK &&
                   ph_world_add_viewer(world, &viewer_def, &viewer) == PH_OK &&
                   ph_client_create(&client_def, &client) == PH_OK;
    for (uint32_t i = 0; i < DANCERS && is_well; ++i) {
        is_well = ph_world_spawn(world, &(ph_spawn){.key = i}, &(ph_entity_id){0}) == PH_OK;
    }
    puts(is_well ? "second  kbit/s  in view  updates  lost  mean error" : "cannot start");
    for (; now_us <= SECONDS * 1000000 && is_well; now_us += FRAME_US) {
        uint8_t data[PH_PAYLOAD_MAX];
        for (size_t size; (size = ph_link_receive(down, now_us, data, sizeof data)) > 0;) {
            ph_client_receive(client, now_us, data, size);
            ph_link_send(up, now_us, data, ph_client_write_ack(client, now_us, data));
        }
        for (size_t size; (size = ph_link_receive(up, now_us, data, sizeof data)) > 0;) {
            ph_viewer_receive_ack(world, viewer, now_us, data, size);
        }
        if (now_us % TICK_US != 0) {
            continue;
        }
        const double error_mm = dance(world, client, (int)(now_us / TICK_US));
        ph_world_tick(world);
        ph_world_send_all(world, now_us, deliver, down);
        ph_viewer_stats stats;
        if (now_us % 1000000 == 0 && ph_viewer_get_stats(world, viewer, &stats) == PH_OK) {
            printf("%6d  %6.1f  %7d  %7d  %4d  %7.0f mm\n", (int)(now_us / 1000000),
                   stats.sent_kbps, ph_client_entity_count(client), (int)stats.sent_updates,
                   (int)stats.lost_packets, error_mm);
        }
    }
    ph_client_destroy(client);
    ph_world_destroy(world);
    ph_schema_destroy(schema);
    ph_link_destroy(down);
    ph_link_destroy(up);
    return is_well ? 0 : 1;
}
