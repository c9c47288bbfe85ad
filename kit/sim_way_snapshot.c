// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Plain snapshots as a way of the simulator. The viewer is one of the world's, which sees for it and is
// never asked to send.

#include "kit/sim_way.h"
#include "kit/snapshot_client.h"
#include "kit/snapshot_sender.h"

#include <stdlib.h>

typedef struct snapshot_state {
    ph_sim_way_def def;
    ph_snapshot_layout layout;
    ph_snapshot_sender* sender;
    ph_snapshot_client* client;
} snapshot_state;

static void destroy(void* state)
{
    snapshot_state* of = state;
    if (of != NULL) {
        ph_snapshot_client_destroy(of->client);
        ph_snapshot_sender_destroy(of->sender);
        free(of);
    }
}

static void* create(const ph_sim_way_def* def)
{
    snapshot_state* of = calloc(1, sizeof *of);
    if (of != NULL) {
        of->def = *def;
    }
    return of;
}

// ---- the sender

static ph_snapshot_layout make_layout(const ph_sim_stage* stage, int slot_count)
{
    const ph_column_bindings* columns = &stage->source->bindings;
    ph_snapshot_binding bindings[PH_PROPERTIES_MAX];
    for (int i = 0; i < columns->count; ++i) {
        bindings[i] = (ph_snapshot_binding){.property = columns->items[i].property,
                                            .field = columns->items[i].field};
    }
    return ph_snapshot_layout_make(stage->schema, &stage->recording->ground, bindings,
                                   columns->count, slot_count);
}

static bool connect_viewer(void* state, ph_viewer_id viewer, uint64_t now_us)
{
    snapshot_state* of = state;
    const ph_sim_stage* stage = of->def.stage;
    ph_viewer_stats stats;
    ph_viewer_get_stats(stage->world, viewer, &stats);
    of->layout = make_layout(stage, ph_viewer_slot_count(stage->world, viewer));
    const int64_t payable = stats.token_bits / 8 - stage->def->overhead_bytes;
    const bool is_limited = stage->def->kbps > 0.0;
    of->layout.payload_max = is_limited && payable < PH_PAYLOAD_MAX ? (int)payable : PH_PAYLOAD_MAX;
    const ph_snapshot_sender_def sender = {
        .world = stage->world,
        .layout = &of->layout,
        .viewer = viewer,
        .bits_per_second = (int64_t)(stage->def->kbps * 1000.0 + 0.5),
        .depth_bits = stats.token_bits, // nothing is spent yet
        .overhead_bytes = stage->def->overhead_bytes,
        .tick_us = stage->tick_us,
        .now_us = now_us,
    };
    const ph_snapshot_client_def client = {
        .layout = &of->layout,
        .tick_us = stage->tick_us,
        .show_delay_ms = of->def.show_delay_ms,
    };
    of->sender = ph_snapshot_sender_create(&sender);
    of->client = ph_snapshot_client_create(&client);
    return of->sender != NULL && of->client != NULL;
}

static void attend(void* state)
{
    const snapshot_state* of = state;
    ph_snapshot_sender_free_slots(of->sender);
}

static bool is_send_due(void* state, uint64_t now_us)
{
    (void)state;
    (void)now_us;
    return true; // it looks at every tick, and sends what the bucket pays for
}

static void send(void* state, uint64_t now_us, ph_deliver_fn* deliver, void* context)
{
    const snapshot_state* of = state;
    const uint32_t tick = (uint32_t)of->def.stage->tick + 1; // 0 is none
    ph_snapshot_sender_send(of->sender, tick, now_us, deliver, context);
}

static bool has_diff(const void* state)
{
    const snapshot_state* of = state;
    return ph_snapshot_sender_is_waiting(of->sender);
}

static void take_ack(void* state, uint64_t now_us, const void* bytes, size_t size)
{
    const snapshot_state* of = state;
    ph_snapshot_sender_take_ack(of->sender, now_us, bytes, size);
}

static void count(const void* state, ph_sim_counts* counts)
{
    const snapshot_state* of = state;
    *counts = ph_snapshot_sender_counts(of->sender);
}

// ---- the client

static void receive(void* state, uint64_t now_us, const void* bytes, size_t size)
{
    const snapshot_state* of = state;
    ph_snapshot_client_receive(of->client, now_us, bytes, size);
}

static size_t write_ack(void* state, uint64_t now_us, uint8_t bytes[PH_ACK_SIZE])
{
    const snapshot_state* of = state;
    _Static_assert(PH_SNAPSHOT_ACK_SIZE <= PH_ACK_SIZE, "it fits");
    return ph_snapshot_client_write_ack(of->client, now_us, bytes);
}

static uint64_t ack_due_us(const void* state)
{
    const snapshot_state* of = state;
    return ph_snapshot_client_ack_due_us(of->client);
}

static void advance(void* state, uint64_t now_us)
{
    const snapshot_state* of = state;
    ph_snapshot_client_advance(of->client, now_us);
}

static bool poll(void* state, ph_event* event)
{
    const snapshot_state* of = state;
    return ph_snapshot_client_poll(of->client, event);
}

static ph_result get_pose(const void* state, ph_entity_id entity, ph_pose* pose)
{
    const snapshot_state* of = state;
    return ph_snapshot_client_get_pose(of->client, entity, pose);
}

static ph_result get_property(const void* state, ph_entity_id entity, int property, ph_field field,
                              void* value, size_t size)
{
    const snapshot_state* of = state;
    return ph_snapshot_client_get_property(of->client, entity, property, field, value, size);
}

static ph_entity_id find(const void* state, uint64_t key)
{
    const snapshot_state* of = state;
    return ph_snapshot_client_find(of->client, key);
}

static int entity_count(const void* state)
{
    const snapshot_state* of = state;
    const ph_snapshot* newest = ph_snapshot_client_newest(of->client);
    return newest != NULL ? newest->entity_count : 0;
}

static ph_sim_arrivals arrivals(const void* state)
{
    const snapshot_state* of = state;
    return ph_snapshot_client_arrivals(of->client);
}

const ph_sim_way ph_sim_way_snapshot = {
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
