// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client is to the stage: an entity that it looks from, or an eye that goes where the
// client says. Different clients may be used on different threads.

#ifndef PH_APP_SERVE_CLIENT_H
#define PH_APP_SERVE_CLIENT_H

#include "serve_stage.h"

#include <pinhole/net/host.h>

typedef struct serve_client {
    uint64_t client_id;
    ph_entity_id entity;
    int actor;         // that it looks from
    bool is_free;      // the client says where its eye is; it follows no actor
    bool is_refused;   // there was no view for it
    int32_t eye_mm[3]; // when it is free
    // Of all clients of this slot, one after the other: messages that came, and those that did not
    // fit into the queue back.
    uint64_t messages;
    uint64_t messages_dropped;
} serve_client;

// Another client takes this slot.
void serve_client_begin(serve_client* client, const serve_stage* stage, uint64_t client_id);

// What has come: messages go back to their sender; input of 12 bytes, three coordinates in mm
// (little-endian), takes the eye there.
void serve_client_receive(serve_client* client, ph_messages* messages);

// Once per tick, before the world's tick: the eye follows its actor, also when that comes back, or
// goes where the client has said.
void serve_client_follow(serve_client* client, const serve_stage* stage, const ph_host* host,
                         int index);

// Where its eye is.
void serve_client_eye(const serve_client* client, const serve_stage* stage, int32_t eye_mm[3]);

#endif
