// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A host on loopback with a small world, for tests of what clients and hosts say to each other.

#ifndef PINHOLE_HOST_STAGE_H
#define PINHOLE_HOST_STAGE_H

#include "test_memory.h"
#include "test_support.h"

#include <pinhole/net/host.h>
#include <pinhole/net/netcode.h>
#include <pinhole/pinhole.h>

enum { STAGE_ENTITIES = 20, STAGE_TICK_US = 10000, STAGE_TICKS_MAX = 500 };

#define STAGE_SCHEMA "class ship\n    place: position\n    hull: range 0..100\n"

typedef struct host_stage {
    ph_schema* schema;
    ph_world* world;
    ph_host* host;
    test_memory memory; // of the host
    ph_entity_id entities[STAGE_ENTITIES];
    ph_viewer_def viewer; // of every client
    bool is_closed;       // no client is admitted
    const char* refusal;  // clients that connect are refused so
    int connected;
    int ended;
    ph_net_end end; // of the last that has ended
    char reason[PH_ERROR_TEXT_SIZE];
    ph_error error; // the newest of the host
    int error_count;
    char text[PH_MESSAGE_SIZE_MAX + 1]; // the newest message of any client
    uint8_t input;                      // the newest, when it is one byte
} host_stage;

/// schema may be NULL: STAGE_SCHEMA. ground may be NULL.
void host_stage_open(host_stage* s, const char* schema, ph_profile profile,
                     const ph_ground* ground);
void host_stage_close(host_stage* s);

/// A tick of the host and the world, about STAGE_TICK_US long.
void host_stage_tick(host_stage* s);

/// A token of a client for this host.
void host_stage_token(const host_stage* s, uint64_t client_id, uint8_t token[PH_TOKEN_SIZE]);

#endif
