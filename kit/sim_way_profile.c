// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The library itself, with the profile that the def names: a viewer of the world at one end, a ph_client
// at the other. Nothing but calls.

#include "kit/sim_way.h"

#include <stdlib.h>

typedef struct profile_state {
    const ph_sim_stage* stage;
    ph_viewer_id viewer;
    ph_client* client;
} profile_state;

static void destroy(void* state)
{
    profile_state* of = state;
    if (of != NULL) {
        ph_client_destroy(of->client);
        free(of);
    }
}

static void* create(const ph_sim_way_def* def)
{
    profile_state* of = calloc(1, sizeof *of);
    if (of == NULL) {
        return NULL;
    }
    const ph_sim_stage* stage = def->stage;
    of->stage = stage;
    ph_client_def client = ph_client_def_default();
    client.schema = stage->schema;
    client.profile = stage->def->profile;
    client.slot_capacity = def->slot_capacity;
    client.ground = stage->recording->ground;
    client.interpolation_delay_ms = def->show_delay_ms;
    if (ph_client_create(&client, &of->client) != PH_OK) {
        destroy(of);
        return NULL;
    }
    return of;
}

// ---- the sender

static bool connect_viewer(void* state, ph_viewer_id viewer, uint64_t now_us)
{
    (void)now_us; // the world learns it with the first send
    profile_state* of = state;
    of->viewer = viewer;
    return true;
}

static void attend(void* state)
{
    (void)state;
}

static bool is_send_due(void* state, uint64_t now_us)
{
    const profile_state* of = state;
    return ph_viewer_is_send_due(of->stage->world, of->viewer, now_us);
}

static void send(void* state, uint64_t now_us, ph_deliver_fn* deliver, void* context)
{
    const profile_state* of = state;
    ph_viewer_send(of->stage->world, of->viewer, now_us, deliver, context);
}

static bool has_diff(const void* state)
{
    const profile_state* of = state;
    ph_viewer_stats stats;
    ph_viewer_get_stats(of->stage->world, of->viewer, &stats);
    return stats.has_diff;
}

static void take_ack(void* state, uint64_t now_us, const void* bytes, size_t size)
{
    const profile_state* of = state;
    ph_viewer_receive_ack(of->stage->world, of->viewer, now_us, bytes, size);
}

static void count(const void* state, ph_sim_counts* counts)
{
    const profile_state* of = state;
    const ph_world* world = of->stage->world;
    ph_viewer_stats stats;
    ph_viewer_get_stats(world, of->viewer, &stats);
    *counts = (ph_sim_counts){
        .ledger = stats.ledger,
        .enters = stats.sent_enters,
        .leaves = stats.sent_leaves,
        .updates = stats.sent_updates,
        .significant_updates = stats.sent_significant_updates,
        .resolved = stats.resolved_packets,
        .lost = stats.lost_packets,
        .withheld = stats.withheld_datagrams,
    };
    const int property_count = ph_schema_class(of->stage->schema, 0)->property_count;
    for (int p = 0; p < property_count; ++p) {
        counts->property_bits256[p] = ph_viewer_property_bits256(world, of->viewer, 0, p);
    }
}

// ---- the client

static const ph_client* client_of(const void* state)
{
    return ((const profile_state*)state)->client;
}

static void receive(void* state, uint64_t now_us, const void* bytes, size_t size)
{
    const profile_state* of = state;
    ph_client_receive(of->client, now_us, bytes, size);
}

static size_t write_ack(void* state, uint64_t now_us, uint8_t bytes[PH_ACK_SIZE])
{
    const profile_state* of = state;
    return ph_client_write_ack(of->client, now_us, bytes);
}

static uint64_t ack_due_us(const void* state)
{
    return ph_client_ack_due_us(client_of(state));
}

static void advance(void* state, uint64_t now_us)
{
    const profile_state* of = state;
    ph_client_advance(of->client, now_us);
}

static bool poll(void* state, ph_event* event)
{
    const profile_state* of = state;
    return ph_client_poll(of->client, event);
}

static ph_result get_pose(const void* state, ph_entity_id entity, ph_pose* pose)
{
    return ph_client_get_pose(client_of(state), entity, pose);
}

static ph_result get_property(const void* state, ph_entity_id entity, int property, ph_field field,
                              void* value, size_t size)
{
    return ph_client_get_property(client_of(state), entity, property, field, value, size);
}

static ph_entity_id find(const void* state, uint64_t key)
{
    return ph_client_find(client_of(state), key);
}

static int entity_count(const void* state)
{
    return ph_client_entity_count(client_of(state));
}

static ph_sim_arrivals arrivals(const void* state)
{
    const ph_client_stats stats = ph_client_get_stats(client_of(state));
    ph_sim_arrivals sum = {
        .received = stats.received_datagrams,
        .late = stats.refused_datagrams[PH_CLIENT_REFUSAL_OLD],
    };
    for (int reason = PH_CLIENT_REFUSAL_HELLO; reason < PH_CLIENT_REFUSAL_COUNT; ++reason) {
        sum.refused += stats.refused_datagrams[reason];
    }
    return sum;
}

const ph_sim_way ph_sim_way_profile = {
    .create = create,
    .destroy = destroy,
    .connect = connect_viewer,
    .attend = attend,
    .is_send_due = is_send_due,
    .send = send,
    .has_diff = has_diff,
    .take_ack = take_ack,
    .count = count,
    .receive = receive,
    .write_ack = write_ack,
    .ack_due_us = ack_due_us,
    .advance = advance,
    .poll = poll,
    .get_pose = get_pose,
    .get_property = get_property,
    .find = find,
    .entity_count = entity_count,
    .arrivals = arrivals,
};
