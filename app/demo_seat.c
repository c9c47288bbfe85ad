// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per viewer and tick of the demo.

#include "demo_seat.h"

#include <math.h>

enum { POSITION = PH_CREATURE_POSITION };

static uint64_t earlier(uint64_t a_us, uint64_t b_us)
{
    return a_us < b_us ? a_us : b_us;
}

// ---- coming and going

static ph_result add_viewer(demo_seat* seat, const demo_seat_def* def)
{
    ph_world* world = seat->cast->world;
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.entity = seat->own;
    viewer.bits_per_second = def->bits_per_second;
    viewer.session = (uint32_t)(1 + 1000 * def->actor);
    const ph_result result = ph_world_add_viewer(world, &viewer, &seat->viewer);
    if (result != PH_OK) {
        return result;
    }
    ph_world_viewer_stats(world, seat->viewer, &seat->before);
    const ph_sim_wire_def wire = {
        .bits_per_second = def->bits_per_second,
        .depth_bits = seat->before.tokens_bits, // the bucket is full at the start
        .overhead_bytes = viewer.overhead_bytes,
        .rate_hz = seat->cast->scene->rate_hz,
        .now_us = def->now_us,
    };
    return ph_sim_wire_create(&seat->wire, &wire, &seat->traffic) ? PH_OK : PH_ERROR_MEMORY;
}

ph_result demo_seat_create(demo_seat* seat, const demo_seat_def* def)
{
    *seat =
        (demo_seat){.cast = def->cast, .actor = def->actor, .own = def->cast->entity[def->actor]};
    ph_link_def down = def->link;
    ph_link_def up = def->link;
    down.key = 2 * (uint64_t)def->actor;
    up.key = down.key + 1;
    seat->down = ph_link_create(&down);
    seat->up = ph_link_create(&up);
    if (seat->down == NULL || seat->up == NULL) {
        return PH_ERROR_MEMORY;
    }
    ph_client_def client = ph_client_def_default();
    client.schema = def->schema;
    const ph_result result = ph_client_create(&client, &seat->client);
    return result == PH_OK ? add_viewer(seat, def) : result;
}

void demo_seat_destroy(demo_seat* seat)
{
    ph_sim_wire_destroy(&seat->wire);
    ph_client_destroy(seat->client);
    ph_link_destroy(seat->up);
    ph_link_destroy(seat->down);
    *seat = (demo_seat){0};
}

void demo_seat_follow(demo_seat* seat)
{
    const ph_entity_id entity = seat->cast->entity[seat->actor];
    const bool is_same =
        entity.index1 == seat->own.index1 && entity.generation == seat->own.generation;
    if (entity.index1 != 0 && !is_same) {
        seat->own = entity;
        ph_world_set_own(seat->cast->world, seat->viewer, entity);
    }
}

// ---- bytes

void demo_seat_begin_sends(demo_seat* seat, uint64_t now_us)
{
    ph_sim_wire_tick(&seat->wire, now_us, true);
}

void demo_seat_send(demo_seat* seat, uint64_t now_us, const void* bytes, size_t size)
{
    ph_sim_wire_send(&seat->wire, size);
    ph_link_send(seat->down, now_us, bytes, size);
}

static void receive_at(demo_seat* seat, uint64_t now_us)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
    while ((size = ph_link_receive(seat->down, now_us, bytes, sizeof bytes)) > 0) {
        ph_client_receive(seat->client, now_us, bytes, size);
        uint8_t ack[PH_ACK_SIZE];
        const size_t ack_size = ph_client_ack(seat->client, now_us, ack);
        if (ack_size > 0) {
            ph_link_send(seat->up, now_us, ack, ack_size);
        }
    }
    while ((size = ph_link_receive(seat->up, now_us, bytes, sizeof bytes)) > 0) {
        ph_world_acknowledge(seat->cast->world, seat->viewer, now_us, bytes, size);
    }
}

void demo_seat_receive_until(demo_seat* seat, uint64_t end_us)
{
    uint64_t next_us;
    while ((next_us = earlier(ph_link_next_us(seat->down), ph_link_next_us(seat->up))) < end_us) {
        receive_at(seat, next_us);
    }
}

// ---- what is counted

static double distance_mm(const ph_scene* scene, int actor, const double at_mm[3])
{
    const double x_mm = at_mm[0] - scene->x_mm[actor];
    const double y_mm = at_mm[1] - scene->y_mm[actor];
    const double z_mm = at_mm[2] - scene->z_mm[actor];
    return sqrt(x_mm * x_mm + y_mm * y_mm + z_mm * z_mm);
}

void demo_seat_compare(demo_seat* seat, uint64_t now_us)
{
    const ph_client* client = seat->client;
    ph_client_advance(seat->client, now_us);
    for (int i = 0; i < seat->cast->scene->count; ++i) {
        const ph_entity_id entity = ph_client_find(client, (uint64_t)i);
        int32_t told[3];
        ph_pose pose;
        if (i == seat->actor || !seat->cast->scene->present[i] ||
            ph_client_read(client, entity, POSITION, PH_FIELD_I32X3, told, sizeof told) != PH_OK ||
            ph_client_show(client, entity, &pose) != PH_OK) {
            continue;
        }
        const double known_mm[3] = {told[0], told[1], told[2]};
        seat->known_error_mm += distance_mm(seat->cast->scene, i, known_mm);
        seat->shown_error_mm += distance_mm(seat->cast->scene, i, pose.position_mm);
        seat->error_count += 1;
    }
}

static int count_missing(const demo_seat* seat)
{
    const ph_world* world = seat->cast->world;
    ph_sight sight;
    ph_world_sight(world, seat->viewer, &sight);
    int missing = 0;
    for (int slot = 1; slot < sight.slot_count; ++slot) {
        uint64_t name;
        const ph_entity_id entity = ph_world_entity_at(world, sight.entities[slot]);
        if (ph_world_identify(world, entity, &name, NULL) == PH_OK &&
            ph_client_find(seat->client, name).index1 == 0) {
            ++missing;
        }
    }
    return missing;
}

static int count_shown(const demo_seat* seat)
{
    const bool has_own = ph_client_entity_at(seat->client, 0).index1 != 0;
    return ph_client_entity_count(seat->client) - (has_own ? 1 : 0);
}

demo_line demo_seat_take_line(demo_seat* seat)
{
    ph_viewer_stats now;
    ph_world_viewer_stats(seat->cast->world, seat->viewer, &now);
    const double count = seat->error_count > 0 ? (double)seat->error_count : 1.0;
    const demo_line line = {
        .wire_bits = 8.0 * (double)(now.wire_bytes - seat->before.wire_bytes),
        .updates = now.updates - seat->before.updates,
        .known_error_mm = seat->known_error_mm / count,
        .shown_error_mm = seat->shown_error_mm / count,
        .shown = count_shown(seat),
        .missing = count_missing(seat),
    };
    seat->before = now;
    seat->known_error_mm = 0.0;
    seat->shown_error_mm = 0.0;
    seat->error_count = 0;
    return line;
}
