// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "serve_guest.h"

#include <string.h>

enum { INPUT_BYTES = 12 };

void serve_guest_begin(serve_guest* guest, const serve_stage* stage, uint64_t client_id)
{
    guest->client_id = client_id;
    guest->actor = serve_stage_choose(stage, client_id);
    guest->entity = serve_stage_entity(stage, guest->actor);
    guest->is_free = false;
}

// ---- mail

static void return_messages(serve_guest* guest, ph_mail* mail)
{
    uint8_t message[PH_MAIL_MESSAGE_MAX];
    for (size_t size; (size = ph_mail_take(mail, message)) > 0;) {
        ++guest->messages;
        if (ph_mail_post(mail, message, size) != PH_OK) {
            ++guest->messages_dropped;
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

void serve_guest_heed(serve_guest* guest, ph_mail* mail)
{
    return_messages(guest, mail);
    const ph_mail_input input = ph_mail_newest_input(mail);
    if (input.size == INPUT_BYTES) {
        for (int axis = 0; axis < 3; ++axis) {
            guest->eye_mm[axis] = coordinate_at(input.bytes + 4 * axis);
        }
        guest->is_free = true;
    }
    ph_mail_set_processed(mail, input.number);
}

// ---- its eye

static void go_where_it_says(serve_guest* guest, ph_world* world, ph_viewer_id viewer)
{
    if (guest->entity.index1 != 0) {
        ph_world_set_own(world, viewer, (ph_entity_id){0});
        guest->entity = (ph_entity_id){0};
    }
    ph_world_set_eye(world, viewer, guest->eye_mm[0], guest->eye_mm[1], guest->eye_mm[2]);
}

// Of nearly all of them every tick finds that there is nothing to do: they do not touch the host.
void serve_guest_follow(serve_guest* guest, const serve_stage* stage, const ph_host* host,
                        int client)
{
    if (guest->is_free) {
        go_where_it_says(guest, stage->world, ph_host_viewer(host, client));
        return;
    }
    const ph_entity_id entity = serve_stage_entity(stage, guest->actor);
    if (entity.index1 != 0 &&
        (entity.index1 != guest->entity.index1 || entity.generation != guest->entity.generation)) {
        ph_world_set_own(stage->world, ph_host_viewer(host, client), entity);
        guest->entity = entity;
    }
}

void serve_guest_eye(const serve_guest* guest, const serve_stage* stage, int32_t eye_mm[3])
{
    if (guest->is_free) {
        memcpy(eye_mm, guest->eye_mm, sizeof guest->eye_mm);
    } else {
        serve_stage_place(stage, guest->actor, eye_mm);
    }
}
