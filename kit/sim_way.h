// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One way to keep a viewer's client up to date: both ends of a connection, as a table of functions. The
// session (sim_session.h) moves the bytes between them and measures; it knows no more of a way than this.
//
//   send ──▶ datagrams ──▶ receive, advance, pose and property: what is shown
//   take_ack ◀── acks ◀── write_ack
//
// Fillings: the two profiles of the library (sim_way_profile.c) and plain snapshots
// (sim_way_snapshot.c). Times are those of the end that is called: the client's clock is not the
// server's.

#ifndef PINHOLE_KIT_SIM_WAY_H
#define PINHOLE_KIT_SIM_WAY_H

#include "kit/sim_stage.h"

#include <pinhole/client.h>
#include <pinhole/stats.h>
#include <pinhole/viewer.h>

typedef struct ph_sim_way_def {
    const ph_sim_stage* stage; // outlives the way
    int slot_capacity;         // slots of a viewer at most
    int show_delay_ms;         // 0: shown now
} ph_sim_way_def;

// What was sent since the viewer was added; the same as in ph_sim_traffic.
typedef struct ph_sim_counts {
    ph_ledger ledger;
    uint64_t property_bits256[PH_PROPERTIES_MAX];
    uint64_t enters;
    uint64_t leaves;
    uint64_t updates;
    uint64_t significant_updates;
    uint64_t resolved;
    uint64_t lost;
    uint64_t withheld; // datagrams that would have been over the budget
} ph_sim_counts;

// `state` is what create gave. Different states may be used on different threads, but for connect and
// attend, which may change the world.
typedef struct ph_sim_way {
    // @return NULL when there is no memory.
    void* (*create)(const ph_sim_way_def* def);
    void (*destroy)(void* state); // NULL is allowed

    // The sender. The world has the viewer; its bucket is as deep as the world says. No client is
    // asked before. @return False when there is no memory.
    bool (*connect)(void* state, ph_viewer_id viewer, uint64_t now_us);
    void (*attend)(void* state); // before every tick of the world
    bool (*is_send_due)(void* state, uint64_t now_us);
    void (*send)(void* state, uint64_t now_us, ph_deliver_fn* deliver, void* context);
    bool (*has_diff)(const void* state); // something is due that was not sent
    void (*take_ack)(void* state, uint64_t now_us, const void* bytes, size_t size);
    void (*count)(const void* state, ph_sim_counts* counts);

    // The client; as the functions of pinhole/client.h with these names.
    void (*receive)(void* state, uint64_t now_us, const void* bytes, size_t size);
    size_t (*write_ack)(void* state, uint64_t now_us, uint8_t bytes[PH_ACK_SIZE]);
    uint64_t (*ack_due_us)(const void* state);
    void (*advance)(void* state, uint64_t now_us);
    bool (*poll)(void* state, ph_event* event);
    ph_result (*get_pose)(const void* state, ph_entity_id entity, ph_pose* pose);
    ph_result (*get_property)(const void* state, ph_entity_id entity, int property, ph_field field,
                              void* value, size_t size);
    ph_entity_id (*find)(const void* state, uint64_t key);
    int (*entity_count)(const void* state);
    ph_sim_arrivals (*arrivals)(const void* state); // so far
} ph_sim_way;

extern const ph_sim_way ph_sim_way_profile;
extern const ph_sim_way ph_sim_way_snapshot;

// A way and its state, as the session has them.
typedef struct ph_sim_connection {
    const ph_sim_way* way;
    void* state;
} ph_sim_connection;

#endif
