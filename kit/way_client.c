// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Nothing but calls: of the library's client, or of the one for snapshots.

#include "kit/way_client.h"

#include "kit/snapshot_client.h"

#include <stdlib.h>

struct ph_way_client {
    ph_client* profile;           // NULL: snapshots
    bool is_borrowed;             // that one
    ph_snapshot_client* snapshot; // NULL: a profile
    ph_snapshot_layout layout;    // of snapshots
};

// ---- memory

static bool create_profile(ph_way_client* client, const ph_way_client_def* def)
{
    ph_client_def wanted = ph_client_def_default();
    wanted.schema = def->schema;
    wanted.profile = def->way == PH_WAY_CLASSIC ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE;
    wanted.slot_capacity = def->terms.slot_count;
    wanted.ground = def->ground;
    wanted.interpolation_delay_ms = def->show_delay_ms;
    return ph_client_create(&wanted, &client->profile) == PH_OK;
}

static bool create_snapshot(ph_way_client* client, const ph_way_client_def* def)
{
    if (!ph_snapshot_layout_make(&client->layout, def->schema, &def->ground, &def->terms)) {
        return false;
    }
    const ph_snapshot_client_def wanted = {
        .layout = &client->layout,
        .tick_us = def->tick_us,
        .show_delay_ms = def->show_delay_ms,
    };
    client->snapshot = ph_snapshot_client_create(&wanted);
    return client->snapshot != NULL;
}

ph_way_client* ph_way_client_create(const ph_way_client_def* def)
{
    ph_way_client* client = calloc(1, sizeof *client);
    if (client == NULL) {
        return NULL;
    }
    client->profile = def->borrowed;
    client->is_borrowed = def->borrowed != NULL;
    if (client->is_borrowed) {
        return client;
    }
    const bool is_done =
        def->way == PH_WAY_SNAPSHOT ? create_snapshot(client, def) : create_profile(client, def);
    if (!is_done) {
        ph_way_client_destroy(client);
        return NULL;
    }
    return client;
}

void ph_way_client_destroy(ph_way_client* client)
{
    if (client != NULL) {
        ph_client_destroy(client->is_borrowed ? NULL : client->profile);
        ph_snapshot_client_destroy(client->snapshot);
        free(client);
    }
}

// ---- bytes

ph_result ph_way_client_receive(ph_way_client* client, uint64_t now_us, const void* bytes,
                                size_t size)
{
    return client->profile != NULL
               ? ph_client_receive(client->profile, now_us, bytes, size)
               : ph_snapshot_client_receive(client->snapshot, now_us, bytes, size);
}

size_t ph_way_client_write_ack(ph_way_client* client, uint64_t now_us, uint8_t bytes[PH_ACK_SIZE])
{
    _Static_assert(PH_SNAPSHOT_ACK_SIZE <= PH_ACK_SIZE, "it fits");
    return client->profile != NULL ? ph_client_write_ack(client->profile, now_us, bytes)
                                   : ph_snapshot_client_write_ack(client->snapshot, now_us, bytes);
}

uint64_t ph_way_client_ack_due_us(const ph_way_client* client)
{
    return client->profile != NULL ? ph_client_ack_due_us(client->profile)
                                   : ph_snapshot_client_ack_due_us(client->snapshot);
}

static ph_sim_arrivals profile_arrivals(const ph_client* client)
{
    const ph_client_stats stats = ph_client_get_stats(client);
    ph_sim_arrivals sum = {
        .received = stats.received_datagrams,
        .late = stats.refused_datagrams[PH_CLIENT_REFUSAL_OLD],
    };
    for (int reason = PH_CLIENT_REFUSAL_HELLO; reason < PH_CLIENT_REFUSAL_COUNT; ++reason) {
        sum.refused += stats.refused_datagrams[reason];
    }
    return sum;
}

ph_sim_arrivals ph_way_client_arrivals(const ph_way_client* client)
{
    return client->profile != NULL ? profile_arrivals(client->profile)
                                   : ph_snapshot_client_arrivals(client->snapshot);
}

// ---- what is shown, and what is known

void ph_way_client_advance(ph_way_client* client, uint64_t now_us)
{
    if (client->profile != NULL) {
        ph_client_advance(client->profile, now_us);
    } else {
        ph_snapshot_client_advance(client->snapshot, now_us);
    }
}

bool ph_way_client_poll(ph_way_client* client, ph_event* event)
{
    return client->profile != NULL ? ph_client_poll(client->profile, event)
                                   : ph_snapshot_client_poll(client->snapshot, event);
}

ph_result ph_way_client_get_pose(const ph_way_client* client, ph_entity_id entity, ph_pose* pose)
{
    return client->profile != NULL ? ph_client_get_pose(client->profile, entity, pose)
                                   : ph_snapshot_client_get_pose(client->snapshot, entity, pose);
}

ph_result ph_way_client_get_property(const ph_way_client* client, ph_entity_id entity, int property,
                                     ph_field field, void* value, size_t size)
{
    return client->profile != NULL
               ? ph_client_get_property(client->profile, entity, property, field, value, size)
               : ph_snapshot_client_get_property(client->snapshot, entity, property, field, value,
                                                 size);
}

ph_entity_id ph_way_client_find(const ph_way_client* client, uint64_t key)
{
    return client->profile != NULL ? ph_client_find(client->profile, key)
                                   : ph_snapshot_client_find(client->snapshot, key);
}

int ph_way_client_entity_count(const ph_way_client* client)
{
    if (client->profile != NULL) {
        return ph_client_entity_count(client->profile);
    }
    const ph_snapshot* newest = ph_snapshot_client_newest(client->snapshot);
    return newest != NULL ? newest->entity_count : 0;
}

int ph_way_client_slot_count(const ph_way_client* client)
{
    if (client->profile != NULL) {
        return ph_client_slot_count(client->profile);
    }
    return ph_snapshot_client_newest(client->snapshot) != NULL ? client->layout.slot_count : 0;
}

ph_entity_id ph_way_client_entity_at(const ph_way_client* client, int slot)
{
    return client->profile != NULL ? ph_client_entity_at(client->profile, slot)
                                   : ph_snapshot_client_entity_at(client->snapshot, slot);
}

ph_result ph_way_client_identify(const ph_way_client* client, ph_entity_id entity, uint64_t* key)
{
    return client->profile != NULL ? ph_client_identify(client->profile, entity, key, NULL)
                                   : ph_snapshot_client_identify(client->snapshot, entity, key);
}
