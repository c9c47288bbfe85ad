// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The client's side of the admission (docs/wire_admission.md). A few times per connection.
//
//   join ──▶ welcome ──▶ same schema: the view is made, of the server's size and profile
//                   └──▶ another one: its text is asked for, compared, and what differs is told to both ends

#include "net/peer_state.h"

#include "base/allocator.h"
#include "base/check.h"

#include <stdio.h>
#include <string.h>

enum {
    JOIN_EVERY_US = 100000,
    ASK_EVERY_US = 200000,
    SCHEMA_TEXT_MAX = 1 << 16,
    SCHEMA_US = 10000000, // so long does a server tell its schema
    OLD_SERVER_US = 5000000,
    WAITING_US = 5000000,
    REFUSALS = 3,
};

static void say(ph_peer* peer, const ph_admission* admission)
{
    uint8_t bytes[PH_ADMISSION_SIZE_MAX];
    ph_peer_say(peer, bytes, ph_admission_write(admission, bytes));
}

void ph_peer_admission_reset(ph_peer* peer)
{
    ph_release(&peer->def.allocator, peer->schema.text, peer->schema.size);
    peer->schema = (ph_peer_schema){0};
    peer->welcome = (ph_admission){0};
    peer->joined_us = 0;
    peer->early_us = 0;
    peer->early_count = 0;
}

ph_admission ph_peer_join(const ph_peer* peer)
{
    return (ph_admission){
        .kind = PH_ADMISSION_JOIN,
        .version = PH_ADMISSION_VERSION,
        .has_ground = peer->has_ground,
        .slots = (uint16_t)peer->def.slot_max,
        .fingerprint = ph_schema_fingerprint(peer->def.schema),
        .wire_versions = 1u << PH_WIRE_VERSION_CLASSIC | 1u << PH_WIRE_VERSION_PINHOLE,
    };
}

// ---- the end

// The server told us why.
static void be_refused(ph_peer* peer, const ph_admission* refusal)
{
    const ph_refusal reason = ph_admission_refusal(refusal->code);
    char text[PH_ERROR_TEXT_SIZE];
    if (refusal->size > 0) {
        memcpy(text, refusal->bytes, refusal->size);
        text[refusal->size] = '\0';
    } else {
        snprintf(text, sizeof text, "the server refuses us: %s", ph_refusal_name(reason));
    }
    ph_net_client_disconnect(peer->link->net);
    ph_peer_end(peer, &(ph_peer_event){.kind = PH_PEER_REFUSED, .refusal = reason}, text);
}

// We tell the server why.
static void refuse(ph_peer* peer, ph_refusal reason, const char* text)
{
    uint8_t sentence[PH_REFUSAL_TEXT_MAX];
    const ph_admission refusal = {
        .kind = PH_ADMISSION_REFUSAL,
        .code = (uint8_t)reason,
        .bytes = sentence,
        .size = ph_admission_sentence(text, sentence),
    };
    for (int i = 0; i < REFUSALS; ++i) {
        say(peer, &refusal);
    }
    ph_net_client_disconnect(peer->link->net);
    ph_peer_end(peer, &(ph_peer_event){.kind = PH_PEER_REFUSED, .refusal = reason}, text);
}

// ---- another schema

static void refuse_schema(ph_peer* peer)
{
    char text[PH_ERROR_TEXT_SIZE];
    ph_admission_print_fingerprints(peer->welcome.fingerprint,
                                    ph_schema_fingerprint(peer->def.schema), text);
    refuse(peer, PH_REFUSAL_SCHEMA, text);
}

// All of the server's schema has come.
static void compare_schemas(ph_peer* peer)
{
    char text[PH_ERROR_TEXT_SIZE];
    ph_schema* servers = NULL;
    const bool has_sentence =
        ph_schema_parse(peer->schema.text, peer->schema.size, &peer->def.allocator, &servers,
                        NULL) == PH_OK &&
        ph_schema_difference(servers, "server", peer->def.schema, "client", text);
    ph_schema_destroy(servers);
    if (has_sentence) {
        refuse(peer, PH_REFUSAL_SCHEMA, text);
    } else {
        refuse_schema(peer);
    }
}

static void ask(ph_peer* peer)
{
    peer->schema.asked_us = peer->now_us;
    say(peer, &(ph_admission){.kind = PH_ADMISSION_ASK, .offset = (uint32_t)peer->schema.got});
}

static void begin_schema(ph_peer* peer)
{
    const size_t size = peer->welcome.schema_size;
    peer->schema = (ph_peer_schema){
        .text = size <= SCHEMA_TEXT_MAX ? ph_allocate_zeroed(&peer->def.allocator, size) : NULL,
        .size = size,
        .start_us = peer->now_us,
    };
    if (peer->schema.text == NULL) {
        refuse_schema(peer); // too long, or no memory
    } else {
        ask(peer);
    }
}

// @return False for one that a host does not send.
static bool take_piece(ph_peer* peer, const ph_admission* piece)
{
    ph_peer_schema* schema = &peer->schema;
    if (schema->text == NULL || piece->offset + piece->size > schema->size) {
        return false;
    }
    if (piece->offset != schema->got) {
        return true; // came twice
    }
    memcpy(schema->text + schema->got, piece->bytes, piece->size);
    schema->got += piece->size;
    if (schema->got == schema->size) {
        compare_schemas(peer);
    } else {
        ask(peer);
    }
    return true;
}

// ---- the welcome

static ph_result make_view(ph_peer* peer)
{
    ph_client_def def = ph_client_def_default();
    def.schema = peer->def.schema;
    def.profile = peer->welcome.wire_version == PH_WIRE_VERSION_CLASSIC ? PH_PROFILE_CLASSIC
                                                                        : PH_PROFILE_PINHOLE;
    def.slot_capacity = peer->welcome.slots;
    def.ground = peer->def.ground;
    def.interpolation_delay_ms = peer->def.interpolation_delay_ms;
    def.reorder_wait_ms = peer->def.reorder_wait_ms;
    def.allocator = peer->def.allocator;
    def.on_error = peer->def.on_error;
    def.on_error_context = peer->def.on_error_context;
    return ph_client_create(&def, &peer->view);
}

static void take_early_packets(ph_peer* peer)
{
    for (int i = 0; i < peer->early_count; ++i) {
        const ph_peer_early* early = &peer->early[i];
        ph_peer_take_packet(peer, early->now_us, early->bytes, early->size);
    }
    peer->early_count = 0;
}

static void join(ph_peer* peer)
{
    char text[PH_ERROR_TEXT_SIZE];
    if (make_view(peer) != PH_OK) {
        snprintf(text, sizeof text, "client has no memory for %d slots", peer->welcome.slots);
        refuse(peer, PH_REFUSAL_MEMORY, text);
        return;
    }
    peer->state = PH_PEER_STATE_JOINED;
    peer->is_connected_due = true;
    take_early_packets(peer);
}

static void take_welcome(ph_peer* peer, const ph_admission* welcome)
{
    if (peer->welcome.kind != 0) {
        return; // of another join
    }
    peer->welcome = *welcome;
    char text[PH_ERROR_TEXT_SIZE];
    // A host looks at it as well, but for one that did not.
    const ph_admission join_sent = ph_peer_join(peer);
    const ph_refusal fault = ph_admission_find_misfit(&join_sent, welcome, text);
    if (fault != PH_REFUSAL_NONE) {
        refuse(peer, fault, text);
    } else if (welcome->fingerprint != ph_schema_fingerprint(peer->def.schema)) {
        begin_schema(peer);
    } else {
        join(peer);
    }
}

// ---- payloads and time

void ph_peer_admission_take(ph_peer* peer, const uint8_t* bytes, size_t size)
{
    ph_admission admission;
    bool is_good = ph_admission_read(bytes, size, &admission);
    if (is_good) {
        switch (admission.kind) {
        case PH_ADMISSION_WELCOME:
            take_welcome(peer, &admission);
            break;
        case PH_ADMISSION_PIECE:
            is_good = take_piece(peer, &admission);
            break;
        case PH_ADMISSION_REFUSAL:
            be_refused(peer, &admission);
            break;
        case PH_ADMISSION_SPARE:
            is_good = ph_peer_spares_take(peer, &admission);
            break;
        case PH_ADMISSION_ANSWER:
            break; // that it came is all it says
        default:
            is_good = false; // the wrong direction
            break;
        }
    }
    peer->refused_payloads += is_good ? 0 : 1;
}

static void say_join(ph_peer* peer)
{
    peer->joined_us = peer->now_us;
    const ph_admission admission = ph_peer_join(peer);
    say(peer, &admission);
}

void ph_peer_admission_tick(ph_peer* peer)
{
    if (peer->schema.text != NULL) {
        if (peer->now_us >= peer->schema.start_us + SCHEMA_US) {
            refuse_schema(peer);
        } else if (peer->now_us >= peer->schema.asked_us + ASK_EVERY_US) {
            ask(peer);
        }
        return;
    }
    if (!peer->has_waited && peer->early_us == 0 && peer->now_us - peer->joining_us >= WAITING_US) {
        peer->has_waited = true;
        peer->is_waiting_due = true;
    }
    if (peer->early_us != 0 && peer->now_us >= peer->early_us + OLD_SERVER_US) {
        refuse(
            peer, PH_REFUSAL_VERSION,
            "the server sends a view but does not answer our join: it is older than this client");
    } else if (peer->joined_us == 0 || peer->now_us >= peer->joined_us + JOIN_EVERY_US) {
        say_join(peer);
    }
}
