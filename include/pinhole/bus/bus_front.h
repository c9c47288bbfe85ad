// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A front-end of a world on several machines: it has the connections of players (ph_host) and a local world of what
// they can see, which it gets from the sims (bus_sim.h), cell by cell. The game writes no code for single entities here.
//
//     ph_bus_front_create(&def, &front);
//     for (;;) {
//         ph_host_receive(host, next_tick_us);
//         ph_host_tick(host);
//         for (ph_net_event event; ph_host_next_event(host, &event);) { ph_bus_front_take(front, &event); }
//         ph_bus_front_tick(front, now_us);        // what has come goes into the world; players' messages go out
//         ph_world_tick(world);
//         ph_host_send(host, UINT64_MAX);
//     }
//
// It subscribes to the cells around its viewers, on the channels that these may see, a little further than they see,
// and keeps them for a while; where most of a block of 4 x 4 cells is wanted, to the block. Lost messages are noticed
// by their sequence, and made good by a snapshot of the cell.
//
// A player that connects is attached to its entity at the sim that owns it (ph_ticket, region.h); until that has
// answered it is connected and not admitted. Its messages are acked when they are safe at the sim. When the front-end
// dies, the player goes on at another one by a spare token (docs/moving.md), and the sim hands everything over.
//
// One thread uses a front, the world's. No call waits for the network.

#ifndef PINHOLE_BUS_BUS_FRONT_H
#define PINHOLE_BUS_BUS_FRONT_H

#include <pinhole/bus/refusal.h>
#include <pinhole/bus/region.h>
#include <pinhole/net/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How to make one. Start from ph_bus_front_def_default() and change what you need.
typedef struct ph_bus_front_def {
    /// Outlives the front.
    ph_bus_transport transport;
    /// Outlives the front. It has no entities but those that the front brings.
    ph_world* world;
    /// Outlives the front. NULL: no players, only interests: for tools.
    ph_host* host;
    /// As in ph_bus_sim_def; the name is this front-end's own.
    const char* world_name;
    const char* name;
    int32_t cell_mm;
    /// What all players have in common; entity, sees, audience and session are filled in.
    ph_viewer_def view;
    /// NULL: ph_messages_def_default(). holds_acks is set here. Outlives the front.
    const ph_messages_def* messages;
    /// So much further than its radius the cells around a viewer are subscribed to, and so much further still they are
    /// kept, in mm. Default 50,000 each.
    int32_t margin_mm;
    int32_t keep_mm;
    /// A cell that no viewer needs any more is kept for so long, in ms. Default 3,000.
    int keep_ms;
    /// How long an attach may go unanswered before the player is refused, in ms. Default 10,000.
    int attach_ms;
    /// For the director (docs/distributed.md): how many clients the host takes, and when it was opened, in us of Unix
    /// time. It is told twice a second, and asked for spare tokens. Default 0: neither; the game gives spares itself.
    int client_capacity;
    uint64_t started_us;
    /// Removed entities that are remembered, so that late messages do not bring them back. Default 65,536.
    int tombstone_capacity;
    /// Zero-initialised means malloc and free.
    ph_allocator allocator;
    /// Is told what was wrong with a call (pinhole/error.h). Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;
    /// Set by ph_bus_front_def_default(). Do not touch.
    uint32_t cookie;
} ph_bus_front_def;

typedef struct ph_bus_front ph_bus_front;

/// The defaults named above; transport, world and names are still to be set.
PH_API ph_bus_front_def ph_bus_front_def_default(void);

/// @return PH_OK, PH_ERROR_ARGUMENT (a field of the def), PH_ERROR_MEMORY; *front is NULL unless PH_OK.
PH_API ph_result ph_bus_front_create(const ph_bus_front_def* def, ph_bus_front** front);
PH_API void ph_bus_front_destroy(ph_bus_front* front); // NULL is allowed

/// An event of the host: players come and go. @return False when its token has no ticket: it is the game's.
PH_API bool ph_bus_front_take(ph_bus_front* front, const ph_net_event* event);

/// Once a tick, before the world's: what has come from the sims goes into the world, players' messages and inputs go to
/// the sims, cells are subscribed to and left. Time as in bus_sim.h.
PH_API void ph_bus_front_tick(ph_bus_front* front, uint64_t now_us);

/// Sends all players to other front-ends, with tokens of the director, so that this one can stop: ph_host_empty(). Go on
/// ticking until ph_host_client_count() is 0, or as long as one likes to wait. Nothing without a host.
PH_API void ph_bus_front_empty(ph_bus_front* front);

// ---- interests without players, for tools, spectators and tests

/// Keeps the cells within the radius of a place subscribed to. @return Names it, from 1; 0: no memory.
PH_API int ph_bus_front_add_interest(ph_bus_front* front, const int64_t place_mm[3],
                                     int32_t radius_mm, uint32_t sees);
/// The same interest around another place.
PH_API void ph_bus_front_move_interest(ph_bus_front* front, int interest,
                                       const int64_t place_mm[3]);
/// Its cells are left, unless others need them. 0 is allowed.
PH_API void ph_bus_front_remove_interest(ph_bus_front* front, int interest);

// ---- questions

/// Whether all cells that are wanted are subscribed to and known whole.
PH_API bool ph_bus_front_is_complete(const ph_bus_front* front);

/// Where an entity of the local world comes from.
typedef struct ph_bus_source {
    int region; ///< PH_REGION_NONE: from no sim
    uint32_t epoch;
    char sim[PH_BUS_NAME_SIZE]; ///< the region's owner, or "" while it is not known
} ph_bus_source;

/// @return False, with no region, for a stale entity.
PH_API bool ph_bus_front_get_source(const ph_bus_front* front, ph_entity_id entity,
                                    ph_bus_source* source);

/// Since it was created; those with "now" are of this moment.
typedef struct ph_bus_front_stats {
    int players;          ///< now: admitted
    int attaching;        ///< now: connected, and not yet attached
    int entities;         ///< now
    int cells;            ///< now: wanted
    int subscriptions;    ///< now
    int incomplete_cells; ///< now: wait for a snapshot
    uint64_t batches;
    uint64_t records;
    uint64_t bytes;
    uint64_t gaps;
    uint64_t snapshots; ///< cells that were asked for
    uint64_t old_epoch; ///< messages of a former owner, dropped
    uint64_t old_sequence;
    uint64_t confirmed_messages; ///< of players, safe at a sim
    uint64_t told_messages;      ///< to players, handed to their connection
    uint64_t attached;
    uint64_t refused_players;
    uint64_t resent;      ///< to a sim, because no answer came or the entity had moved
    uint64_t refused[16]; ///< malformed messages, by ph_bus_refusal
} ph_bus_front_stats;

/// What a front-end has done so far.
PH_API ph_bus_front_stats ph_bus_front_get_stats(const ph_bus_front* front);

#ifdef __cplusplus
}
#endif

#endif
