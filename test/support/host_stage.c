// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "host_stage.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const uint8_t key[PH_NETCODE_KEY_SIZE] = "a key of 32 bytes for the tests";

static void on_messages(void* context, int client, ph_messages* messages)
{
    (void)client;
    host_stage* s = context;
    uint8_t text[PH_MESSAGE_SIZE_MAX];
    for (size_t size; (size = ph_messages_receive(messages, text)) > 0;) {
        memcpy(s->text, text, size);
        s->text[size] = '\0';
    }
    const ph_input input = ph_messages_newest_input(messages);
    s->input = input.size == 1 ? input.bytes[0] : 0;
    ph_messages_set_processed_input(messages, input.number);
}

static void on_error(void* context, const ph_error* error)
{
    host_stage* s = context;
    s->error = *error;
    ++s->error_count;
}

static void make_world(host_stage* s, const char* schema, ph_profile profile,
                       const ph_ground* ground)
{
    assert_int_equal(ph_schema_parse(schema, strlen(schema), NULL, &s->schema, NULL), PH_OK);
    ph_world_def def = ph_world_def_default();
    def.schema = s->schema;
    def.tick_us = STAGE_TICK_US;
    def.profile = profile;
    if (ground != NULL) {
        def.ground = *ground;
    }
    assert_int_equal(ph_world_create(&def, &s->world), PH_OK);
    for (uint32_t i = 0; i < STAGE_ENTITIES; ++i) {
        const ph_spawn spawn = {.key = i + 1, .position_mm = {(int32_t)i * 1000, 0, 0}};
        assert_int_equal(ph_world_spawn(s->world, &spawn, &s->entities[i]), PH_OK);
    }
}

void host_stage_open(host_stage* s, const char* schema, ph_profile profile, const ph_ground* ground)
{
    *s = (host_stage){.viewer = ph_viewer_def_default()};
    make_world(s, schema != NULL ? schema : STAGE_SCHEMA, profile, ground);
    ph_host_def def = ph_host_def_default();
    def.world = s->world;
    def.tick_us = STAGE_TICK_US;
    def.client_capacity = 8;
    def.on_messages = on_messages;
    def.on_messages_context = s;
    def.on_error = on_error;
    def.on_error_context = s;
    def.allocator = test_memory_allocator(&s->memory);
    memcpy(def.private_key, key, sizeof key);
    assert_int_equal(ph_host_open(&def, &s->host), PH_OK);
}

void host_stage_close(host_stage* s)
{
    ph_host_close(s->host);
    ph_world_destroy(s->world);
    ph_schema_destroy(s->schema);
    test_memory_assert_clean(&s->memory);
}

static void take_event(host_stage* s, const ph_net_event* event)
{
    if (event->kind == PH_NET_DISCONNECTED) {
        ++s->ended;
        s->end = event->end;
        snprintf(s->reason, sizeof s->reason, "%s", event->reason);
        return;
    }
    ++s->connected;
    assert_string_equal(event->reason, "");
    if (s->refusal != NULL) {
        ph_host_refuse(s->host, event->client, s->refusal);
    } else if (!s->is_closed) {
        assert_int_equal(ph_host_admit(s->host, event->client, &s->viewer, NULL), PH_OK);
    }
}

void host_stage_tick(host_stage* s)
{
    ph_host_receive(s->host, ph_socket_now_us() + STAGE_TICK_US);
    ph_host_tick(s->host);
    for (ph_net_event event; ph_host_next_event(s->host, &event);) {
        take_event(s, &event);
    }
    ph_world_tick(s->world);
    ph_host_send(s->host, UINT64_MAX);
}

void host_stage_token(const host_stage* s, uint64_t client_id, uint8_t token[PH_TOKEN_SIZE])
{
    ph_token_def def = ph_token_def_default();
    def.client_id = client_id;
    def.create_s = (uint64_t)time(NULL);
    def.addresses[def.address_count++] = ph_host_public_address(s->host);
    memcpy(def.private_key, key, sizeof key);
    assert_int_equal(ph_token_write(&def, token), PH_OK);
}
