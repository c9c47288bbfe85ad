// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A simulation server of a world on several machines: it owns regions, simulates what is in them, and publishes what
// changes to front-ends (bus_front.h). The game keeps its ph_world as ever, without viewers.
//
//     ph_bus_sim_create(&def, &sim);
//     for (;;) {                                   // every tick
//         ph_bus_sim_receive(sim, clock_us());
//         for (ph_bus_event event; ph_bus_sim_next_event(sim, &event);) { ... }
//         ...                                      // the game moves the entities that ph_bus_sim_owns()
//         ph_world_tick(world);
//         ph_bus_sim_publish(sim, clock_us());
//     }
//
// **Ownership.** A sim names the regions that it wants. One without an owner it takes; for one that has an owner it
// stands by: it copies the region's entities and players into its world, and takes over when the owner is silent.
// Owners are fenced: one that was frozen or cut off for long proves by a compare-and-swap that it still is the owner
// before it publishes anything more, and steps down if it is not.
//
// **Entities** belong to the region they stand in. One that walks into another region is handed over: it is frozen,
// offered until it is accepted, and forgotten then. Exactly one sim owns it at any time. A new entity of the game is
// filed under its region at the next publish; where no region is, or one of another sim, it is handed over, too.
//
// **Players.** Each is attached to an entity, by the front-end that has its connection, and goes with its entity from
// sim to sim. Its messages come in order and exactly once, its inputs never go back, whatever dies; with a standby,
// messages are confirmed when the standby has them, too. (When the bus loses what the standby is told, and the sim dies
// within 0.3 s, a message may come to the next sim once more: its number is the same.)
//
// One thread uses a sim, the world's. No call waits for the network.

#ifndef PINHOLE_BUS_BUS_SIM_H
#define PINHOLE_BUS_BUS_SIM_H

#include <pinhole/bus/refusal.h>
#include <pinhole/bus/region.h>
#include <pinhole/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a player may see; filled in by the game when it is attached.
typedef struct ph_bus_view {
    uint32_t sees;     ///< as in ph_viewer_def; all bits unless the game says otherwise
    uint32_t audience; ///< as in ph_viewer_def; 0 unless the game says otherwise
} ph_bus_view;

/// Whether a player may come in with this entity, which the sim owns, and what it may see. The token has been proven
/// by the front-end. NULL in the def: every player may.
typedef bool ph_bus_on_attach_fn(void* context, uint64_t client_id, uint64_t key,
                                 ph_entity_id entity, ph_bus_view* view);

/// How to make one. Start from ph_bus_sim_def_default() and change what you need.
typedef struct ph_bus_sim_def {
    /// Outlives the sim.
    ph_bus_transport transport;
    /// Outlives the sim; without viewers.
    ph_world* world;
    /// Of the world, the same on all machines; and of this sim, its own. 1..31 of A-Z, a-z, 0-9, '-' and '_'; copied.
    const char* world_name;
    const char* name;
    /// Side of a cell in mm, the same on all machines. Default 250,000.
    int32_t cell_mm;
    /// All regions of the world, the same on all machines; copied. A cell is in one of them at most; a region may
    /// have several rectangles. A sim that hears by an offer that another one divides the world otherwise says so by
    /// on_error, once.
    const ph_region* regions;
    int region_count;
    /// Numbers of those that this sim wants to own or to stand by for; copied.
    const int* wanted;
    int wanted_count;
    /// How long an owner may be silent before a standby takes over, in ms, 200..60,000. Default 800.
    int suspect_ms;
    /// An owner without a standby that has not published for so long, or was disconnected, proves its ownership before
    /// it goes on, in ms; less than half of suspect_ms. One with a standby has until suspect_ms is nearly over.
    /// Default 300.
    int verify_ms;
    /// How many players may be attached. Default 4,096.
    int player_capacity;
    /// How many messages to one player may wait until a front-end has them. Default 256.
    int player_queue_messages;
    ph_bus_on_attach_fn* on_attach;
    void* on_attach_context;
    /// Zero-initialised means malloc and free.
    ph_allocator allocator;
    /// Is told what was wrong with a call (pinhole/error.h). Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;
    /// Set by ph_bus_sim_def_default(). Do not touch.
    uint32_t cookie;
} ph_bus_sim_def;

typedef struct ph_bus_sim ph_bus_sim;

/// The defaults named above; transport, world, names and regions are still to be set.
PH_API ph_bus_sim_def ph_bus_sim_def_default(void);

/// @return PH_OK, PH_ERROR_ARGUMENT (a field of the def), PH_ERROR_MEMORY; *sim is NULL unless PH_OK.
PH_API ph_result ph_bus_sim_create(const ph_bus_sim_def* def, ph_bus_sim** sim);
/// Ends its subscriptions and publishes nothing: release the regions first, or a standby notices by the silence. NULL
/// is allowed.
PH_API void ph_bus_sim_destroy(ph_bus_sim* sim);

// ---- a tick, in this order

/// Takes what has come. The time is any clock that only goes on, in us, and the same for all calls. Read it for each
/// call: an owner that was frozen in between sees by it that it may be none any more.
PH_API void ph_bus_sim_receive(ph_bus_sim* sim, uint64_t now_us);

typedef enum ph_bus_event_kind {
    /// The region is owned from now on. `count` entities were inherited from the owner before, and are told by
    /// ENTITY_GAINED; is_new: nothing was heard of it, so that the game fills it.
    PH_BUS_REGION_GAINED = 1,
    /// Another one owns it. Its entities are told by ENTITY_LOST.
    PH_BUS_REGION_LOST,
    /// The game simulates it from now on.
    PH_BUS_ENTITY_GAINED,
    /// The game no longer simulates it. It may still be in the world, as another sim's.
    PH_BUS_ENTITY_LOST,
    /// A player has come to its entity, or its entity has come here with it. is_new: it begins anew.
    PH_BUS_PLAYER_ATTACHED,
    /// It has left, or has gone with its entity.
    PH_BUS_PLAYER_DETACHED,
    PH_BUS_PLAYER_MESSAGE,
    /// The newest one; numbers only rise.
    PH_BUS_PLAYER_INPUT,
} ph_bus_event_kind;

typedef struct ph_bus_event {
    ph_bus_event_kind kind;
    int region;
    uint32_t epoch; ///< of REGION_GAINED
    int count;      ///< of REGION_GAINED
    bool is_new;
    ph_entity_id entity; ///< {0} when it is not in the world
    uint64_t key;
    uint64_t client_id;
    uint64_t number;      ///< of messages and inputs, counted from 1
    const uint8_t* bytes; ///< of messages and inputs; valid until the next event is taken
    size_t size;
} ph_bus_event;

/// Take all of them after each ph_bus_sim_receive(). @return False when there is none.
PH_API bool ph_bus_sim_next_event(ph_bus_sim* sim, ph_bus_event* event);

/// After the game's step and the world's tick: changes go out, entities that have crossed a border are offered.
PH_API void ph_bus_sim_publish(ph_bus_sim* sim, uint64_t now_us);

// ---- questions and answers

/// Whether this sim owns the region now, and has proven it.
PH_API bool ph_bus_sim_owns_region(const ph_bus_sim* sim, int region);
/// Whether the game simulates this entity: it is of an owned region, and not being handed over.
PH_API bool ph_bus_sim_owns(const ph_bus_sim* sim, ph_entity_id entity);

/// A message to a player, in order and exactly once. The bytes are copied.
/// @return PH_OK; PH_ERROR_STALE: it is not attached here, which is no fault; PH_ERROR_ARGUMENT (the size is not
/// 1..PH_MESSAGE_SIZE_MAX); PH_ERROR_FULL: its queue is full, its front-end or link does not keep up.
PH_API ph_result ph_bus_sim_tell(ph_bus_sim* sim, uint64_t client_id, const void* bytes,
                                 size_t size);

/// Sends a player away, with a reason that it is shown. Nothing when it is not attached here.
PH_API void ph_bus_sim_refuse(ph_bus_sim* sim, uint64_t client_id, const char* text);

/// Gives all regions to those that stand by, for an update: call it, go on ticking until
/// ph_bus_sim_region_count() is 0 or as long as one likes to wait. Regions without a standby stay. From then on the
/// sim wants none: one that it was about to take it leaves.
PH_API void ph_bus_sim_release(ph_bus_sim* sim);

/// How many regions it owns now.
PH_API int ph_bus_sim_region_count(const ph_bus_sim* sim);

/// Since it was created; those with "now" are of this moment.
typedef struct ph_bus_sim_stats {
    int owned_regions;   ///< now
    int standby_regions; ///< now: copied, to take over
    int covered_regions; ///< now: owned, and another sim stands by
    int entities;        ///< now, simulated here
    int players;         ///< now
    int offered;         ///< now: entities that are being handed over
    uint64_t published_batches;
    uint64_t published_records;
    uint64_t published_bytes;
    uint64_t unsent_messages; ///< that the transport could not take
    uint64_t snapshots;       ///< cells that were asked for and sent whole
    uint64_t given;           ///< entities
    uint64_t taken;
    uint64_t takeovers;         ///< regions taken from a silent owner
    uint64_t fenced;            ///< regions lost because another one had taken over
    uint64_t verifications;     ///< how often ownership was to be proven
    uint64_t received_messages; ///< of players, each once
    uint64_t repeated_messages; ///< that came again and were ignored
    uint64_t received_inputs;
    uint64_t refused_attaches; ///< of an older generation, or refused by the game
    uint64_t gaps;             ///< in what a standby copies
    uint64_t refused[16];      ///< malformed messages, by ph_bus_refusal
} ph_bus_sim_stats;

/// What a sim has done so far.
PH_API ph_bus_sim_stats ph_bus_sim_get_stats(const ph_bus_sim* sim);

#ifdef __cplusplus
}
#endif

#endif
