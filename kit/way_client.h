// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The client's end of a way (way.h): what a datagram and a clock of its own tell it. Needs neither world
// nor recording nor thread. The functions do what those of pinhole/client.h do that have these names.

#ifndef PINHOLE_KIT_WAY_CLIENT_H
#define PINHOLE_KIT_WAY_CLIENT_H

#include "kit/sim_result.h"
#include "kit/way.h"

#include <pinhole/client.h>

typedef struct ph_way_client ph_way_client;

typedef struct ph_way_client_def {
    ph_way way;
    const ph_schema* schema; // outlives the client
    ph_ground ground;
    ph_way_terms terms; // as the sender has them
    uint32_t tick_us;   // of the world; snapshots
    int show_delay_ms;  // 0: shown now
    // Of a profile: a client that lives elsewhere, behind a socket for example, and outlives this one; the
    // rest of the def means nothing then. NULL: one is made.
    ph_client* borrowed;
} ph_way_client_def;

// @return NULL when there is no memory, or the terms are none that a sender has.
ph_way_client* ph_way_client_create(const ph_way_client_def* def);
void ph_way_client_destroy(ph_way_client* client); // NULL is allowed

// ---- bytes

ph_result ph_way_client_receive(ph_way_client* client, uint64_t now_us, const void* bytes,
                                size_t size);
size_t ph_way_client_write_ack(ph_way_client* client, uint64_t now_us, uint8_t bytes[PH_ACK_SIZE]);
uint64_t ph_way_client_ack_due_us(const ph_way_client* client);
ph_sim_arrivals ph_way_client_arrivals(const ph_way_client* client); // so far

// ---- what is shown, and what is known

void ph_way_client_advance(ph_way_client* client, uint64_t now_us);
bool ph_way_client_poll(ph_way_client* client, ph_event* event);
ph_result ph_way_client_get_pose(const ph_way_client* client, ph_entity_id entity, ph_pose* pose);
ph_result ph_way_client_get_property(const ph_way_client* client, ph_entity_id entity, int property,
                                     ph_field field, void* value, size_t size);
ph_entity_id ph_way_client_find(const ph_way_client* client, uint64_t key);
int ph_way_client_entity_count(const ph_way_client* client);
int ph_way_client_slot_count(const ph_way_client* client);
ph_entity_id ph_way_client_entity_at(const ph_way_client* client, int slot);
// @return PH_OK or PH_ERROR_STALE.
ph_result ph_way_client_identify(const ph_way_client* client, ph_entity_id entity, uint64_t* key);

#endif
