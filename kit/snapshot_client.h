// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The receiving end of snapshots: puts fragments together, keeps the last snapshots as baselines, acks,
// and shows what the newest one says by the library's own means (clock, tracks, motion model), now or
// delayed. The functions are those of pinhole/client.h.

#ifndef PINHOLE_KIT_SNAPSHOT_CLIENT_H
#define PINHOLE_KIT_SNAPSHOT_CLIENT_H

#include "kit/snapshot_code.h"

#include <pinhole/client.h>

typedef struct ph_snapshot_client ph_snapshot_client;

typedef struct ph_snapshot_client_def {
    const ph_snapshot_layout* layout; // outlives the client
    uint32_t tick_us;
    int show_delay_ms; // 0: now
} ph_snapshot_client_def;

// @return NULL when there is no memory.
ph_snapshot_client* ph_snapshot_client_create(const ph_snapshot_client_def* def);
void ph_snapshot_client_destroy(ph_snapshot_client* client); // NULL is allowed

// Takes a datagram, whatever it is. A snapshot is applied with its last fragment, whole or not at all,
// and only when it is newer than all before it.
// @return PH_OK; PH_ERROR_STALE for one that comes too late or twice; PH_ERROR_VALUE for what no
// sender sends, a baseline that the client does not have included.
ph_result ph_snapshot_client_receive(ph_snapshot_client* client, uint64_t now_us, const void* bytes,
                                     size_t size);

// @return PH_SNAPSHOT_ACK_SIZE, or 0 before the first snapshot.
size_t ph_snapshot_client_write_ack(ph_snapshot_client* client, uint64_t now_us, uint8_t* bytes);
uint64_t ph_snapshot_client_ack_due_us(const ph_snapshot_client* client);

void ph_snapshot_client_advance(ph_snapshot_client* client, uint64_t now_us);
bool ph_snapshot_client_poll(ph_snapshot_client* client, ph_event* event);
ph_result ph_snapshot_client_get_pose(const ph_snapshot_client* client, ph_entity_id entity,
                                      ph_pose* pose);
ph_result ph_snapshot_client_get_property(const ph_snapshot_client* client, ph_entity_id entity,
                                          int property, ph_field field, void* value, size_t size);
ph_entity_id ph_snapshot_client_find(const ph_snapshot_client* client, uint64_t key);
ph_entity_id ph_snapshot_client_entity_at(const ph_snapshot_client* client, int slot);
ph_result ph_snapshot_client_identify(const ph_snapshot_client* client, ph_entity_id entity,
                                      uint64_t* key);

// Datagrams so far; late are those that answered PH_ERROR_STALE, refused those that answered PH_ERROR_VALUE.
ph_sim_arrivals ph_snapshot_client_arrivals(const ph_snapshot_client* client);

// The newest snapshot, or NULL before the first.
const ph_snapshot* ph_snapshot_client_newest(const ph_snapshot_client* client);

#endif
