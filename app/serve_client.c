// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "serve_client.h"

#include <pinhole/viewer.h>

#include <string.h>

enum { INPUT_BYTES = 12 };

void serve_client_begin(serve_client* client, const serve_stage* stage, uint64_t client_id)
{
    client->client_id = client_id;
    client->actor = serve_stage_choose(stage, client_id);
    client->entity = serve_stage_entity(stage, client->actor);
    client->is_free = false;
    client->is_refused = false;
}

// ---- messages

static void return_messages(serve_client* client, ph_messages* messages)
{
    uint8_t message[PH_MESSAGE_SIZE_MAX];
    for (size_t size; (size = ph_messages_receive(messages, message)) > 0;) {
        ++client->messages;
        if (ph_messages_send(messages, message, size) != PH_OK) {
            ++client->messages_dropped;
        }
    }
}

static int32_t coordinate_at(const uint8_t* bytes)
{
    const uint32_t bits = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                          (uint32_t)bytes[3] << 24;
    int32_t coordinate_mm;
    memcpy(&coordinate_mm, &bits, sizeof coordinate_mm);
    return coordinate_mm;
}

void serve_client_receive(serve_client* client, ph_messages* messages)
{
    return_messages(client, messages);
    const ph_input input = ph_messages_newest_input(messages);
    if (input.size == INPUT_BYTES) {
        for (int axis = 0; axis < 3; ++axis) {
            client->eye_mm[axis] = coordinate_at(input.bytes + 4 * axis);
        }
        client->is_free = true;
    }
    ph_messages_set_processed_input(messages, input.number);
}

// ---- its eye

static void go_where_it_says(serve_client* client, ph_world* world, ph_viewer_id viewer)
{
    if (client->entity.index1 != 0) {
        ph_viewer_set_entity(world, viewer, (ph_entity_id){0});
        client->entity = (ph_entity_id){0};
    }
    ph_viewer_set_eye(world, viewer, client->eye_mm[0], client->eye_mm[1], client->eye_mm[2]);
}

// Of nearly all of them every tick finds that there is nothing to do: they do not touch the host.
void serve_client_follow(serve_client* client, const serve_stage* stage, const ph_host* host,
                         int index)
{
    if (client->is_free) {
        go_where_it_says(client, stage->world, ph_host_viewer(host, index));
        return;
    }
    const ph_entity_id entity = serve_stage_entity(stage, client->actor);
    if (entity.index1 != 0 && (entity.index1 != client->entity.index1 ||
                               entity.generation != client->entity.generation)) {
        ph_viewer_set_entity(stage->world, ph_host_viewer(host, index), entity);
        client->entity = entity;
    }
}

void serve_client_eye(const serve_client* client, const serve_stage* stage, int32_t eye_mm[3])
{
    if (client->is_free) {
        memcpy(eye_mm, client->eye_mm, sizeof client->eye_mm);
    } else {
        serve_stage_place(stage, client->actor, eye_mm);
    }
}
