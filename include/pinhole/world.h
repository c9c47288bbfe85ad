// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The sending side: all entities of a game and their state, in ticks.
//
//     ph_world_def def = ph_world_def_default();
//     def.schema = schema;
//     ph_world* world;
//     ph_world_create(&def, &world);
//
//     ph_entity_id kart;
//     ph_world_spawn(world, &(ph_spawn){.key = 7}, &kart);
//     for (;;) {
//         ph_world_set_struct(world, kart, &my_kart);         // whenever it changes
//         ph_world_tick(world);                               // every tick_us
//         ...                                                 // send: viewer.h
//     }
//
// State is quantised once, when it is set, into the integers that go on the wire; a change smaller
// than a step is no change. Between two ticks the game may do anything; a tick allocates nothing.
//
// Positions are int64 millimetres, within PH_POSITION_MIN_MM..PH_POSITION_MAX_MM (base.h).
//
// An entity has an id, which is the world's and says whether the entity still lives, and a key, which
// is the game's and the only one of the two that clients see.
//
// Threads: a world is used by one thread at a time; worlds share nothing. The exceptions are sends and
// acks of different viewers (viewer.h).

#ifndef PINHOLE_WORLD_H
#define PINHOLE_WORLD_H

#include <pinhole/base.h>
#include <pinhole/error.h>
#include <pinhole/ground.h>
#include <pinhole/packet.h>
#include <pinhole/schema.h>
#include <pinhole/vision.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ph_world ph_world;

/// May hide an entity from a viewer for reasons of the game. Called only where the masks allow the
/// entity to be seen; the answer must not depend on anything that this viewer may not know. Called
/// during ph_world_tick(): it must not change the world. With run_jobs and a sends_at_once above 1 it
/// is called for different viewers at the same time. A new "no" counts from the viewer's next refresh
/// (see refresh_ticks of ph_vision_def); to hide an entity at once, change its masks.
typedef bool ph_may_see_fn(void* context, ph_viewer_id viewer, ph_entity_id entity);

/// How to build a world. Start from ph_world_def_default() and change what you need.
typedef struct ph_world_def {
    /// Required. Must outlive the world.
    const ph_schema* schema;
    /// Live entities expected. More are accepted: storage then grows at the spawn. Default 1,024.
    int entity_capacity;
    /// Viewers expected. More are accepted in the same way. Default 64.
    int viewer_capacity;
    /// Largest vision radius of any viewer, in mm. Default 250,000.
    int32_t radius_max_mm;
    ph_vision_def vision;
    /// Optional filter beside the masks.
    ph_may_see_fn* may_see;
    void* may_see_context;
    /// How packets are written: the clients must have the same. Default PH_PROFILE_PINHOLE. A
    /// client with another one shows nothing, and its ph_client_receive() returns PH_ERROR_VALUE or
    /// PH_ERROR_STALE, not PH_ERROR_SCHEMA; it counts them in refused_datagrams of ph_client_stats.
    ph_profile profile;
    /// Time from one tick to the next, in microseconds, 1,000..10,000,000. Default 100,000.
    uint32_t tick_us;
    /// What is a jump, which clients show as one. 0: a move faster than 100 m/s for the length of a
    /// tick which is not like the entity's last one, or like as many of them as ticks have passed. So
    /// what keeps its speed never jumps, up to 10 km/s and more; only its first fast move is taken for
    /// a jump. Otherwise: every move further than so many mm. Also ph_world_jump().
    int32_t jump_mm;
    /// What there is to stand on, the same as the clients'. Zero-initialised: nothing. For classes
    /// whose position has a ground_tolerance_mm.
    ph_ground ground;
    /// What runs the sends of ph_world_send_all(), one job for each place of a viewer (some are
    /// empty), and may use many threads for them: deliver is then called for different viewers at the
    /// same time. It also runs the refresh of visions in ph_world_tick(), from 257 viewers on, as
    /// sends_at_once jobs that share the viewers: may_see is then called in the same way. What viewers
    /// see and are sent is the same on any number of threads. A job takes less than 16 kB of stack.
    /// Default NULL: one after the other, on the caller's thread.
    ph_run_jobs_fn* run_jobs;
    void* run_jobs_context;
    /// How many sends, or refreshes of visions, may run at the same time, on as many threads, 1..256.
    /// Each needs some 90 kB, taken at creation and when a viewer with more slots than any before is
    /// added, and with run_jobs 37 bytes for each place of an entity (PH_VISION_GROUPS: 89). Default 1.
    /// Also ph_world_set_sends_at_once().
    int sends_at_once;
    /// How many despawned entities are remembered, the newest ones, for exports of changes
    /// (transfer.h); 32 bytes each. Default 0.
    int removal_capacity;
    /// Zero-initialised means malloc and free.
    ph_allocator allocator;
    /// Is told what was wrong with a call (pinhole/error.h). Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;
    /// Set by ph_world_def_default(). Do not touch.
    uint32_t cookie;
} ph_world_def;

/// The defaults named above; the schema is still to be set.
PH_API ph_world_def ph_world_def_default(void);

/// Creates a world without entities and viewers.
/// @return PH_OK, PH_ERROR_ARGUMENT (a field of the def), or PH_ERROR_MEMORY; *world is NULL
/// unless PH_OK and nothing is leaked.
PH_API ph_result ph_world_create(const ph_world_def* def, ph_world** world);

/// What it was made from, with what zeros stood for filled in. Valid as long as the world.
PH_API const ph_world_def* ph_world_get_def(const ph_world* world);

/// Destroys a world; every id it issued becomes void. NULL is allowed.
PH_API void ph_world_destroy(ph_world* world);

// ---- entities

/// What an entity starts with. Zero-initialised: class 0 at (0, 0, 0), seen by all viewers near it.
typedef struct ph_spawn {
    /// Index of the class in the schema.
    int class_index;
    /// The game's own number for it: unique in the world, and the only identity that goes on the wire;
    /// small numbers cost few bits.
    uint64_t key;
    /// Each within PH_POSITION_MIN_MM..PH_POSITION_MAX_MM.
    int64_t position_mm[3];
    /// Which viewers may see it: those whose `sees` has a bit in common with this mask. Here, and only
    /// here, 0 means all bits.
    uint32_t seen_by;
    /// Seen at any distance, before all others, by those who may see it.
    bool is_always_visible;
    /// Seen by its own viewer only.
    bool is_never_visible;
} ph_spawn;

/// Adds an entity. Viewers see it from the next tick.
/// @return PH_OK, PH_ERROR_ARGUMENT (no such class or position), PH_ERROR_TAKEN (the key),
/// PH_ERROR_MEMORY with the world as it was; *entity is {0} unless PH_OK.
PH_API ph_result ph_world_spawn(ph_world* world, const ph_spawn* spawn, ph_entity_id* entity);

/// Removes an entity; its id is stale from now on, its key free.
/// @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_world_despawn(ph_world* world, ph_entity_id entity);

/// Whether the id is that of an entity of this world that was not despawned. {0} is not.
PH_API bool ph_world_is_alive(const ph_world* world, ph_entity_id entity);

/// What a spawn would need to make this entity again: class, key, position as it was set, and visibility as it is now, in
/// which a seen_by of 0 means its own viewer only. @return PH_OK, or PH_ERROR_STALE with *spawn all zero.
PH_API ph_result ph_world_describe(const ph_world* world, ph_entity_id entity, ph_spawn* spawn);

/// Entities alive now.
PH_API int ph_world_entity_count(const ph_world* world);

/// One of the entities alive now, i = 0..ph_world_entity_count()-1, else {0}. To go over all of them: which i an
/// entity has changes with any spawn and despawn.
PH_API ph_entity_id ph_world_live_entity(const ph_world* world, int i);

/// The entity with this key, or {0}.
PH_API ph_entity_id ph_world_find(const ph_world* world, uint64_t key);

/// Key and class of a live entity. Either pointer may be NULL. @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_world_identify(const ph_world* world, ph_entity_id entity, uint64_t* key,
                                   int* class_index);

// ---- state: a whole struct of the game's, or one property
//
// A struct is the one that the class was bound to by offsetof (schema.h). A property is its index in
// the class and a value with its field type; it may be bound or not.

/// Sets every bound property from the game's struct, and notes what changed. A reference to an entity
/// that is gone is kept as {0}.
///
/// A number out of its range becomes the nearest inside and is counted (clamped_values of
/// ph_world_stats); is_strict of ph_property_def refuses it instead. Less than half a step beyond
/// an end is rounding: not counted, not refused.
///
/// Refused are NaN, text that is not UTF-8 or is longer than max_length, a rotation whose length is
/// not 1, an alternative that an ENUM does not have, and positions out of range. Such a property
/// keeps its value, on_error names it, and refused_values counts it. All other properties are set.
/// @return PH_OK, PH_ERROR_STALE, or why the first value that was refused was.
PH_API ph_result ph_world_set_struct(ph_world* world, ph_entity_id entity, const void* state);

/// Fills the game's struct with the state as clients will see it: quantised, coordinates rounded
/// down to the step of the wire, the height that of the ground's layer where there is one, a
/// reference to an entity that is gone as {0}. Unbound bytes are left alone.
/// @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_world_get_struct(const ph_world* world, ph_entity_id entity, void* state);

/// Sets one property from a value of the given field type; any will do that the coding can be bound
/// to. Clamps and refuses as ph_world_set_struct(). size is that of the value: for TEXT the string
/// ends there, or before at a zero byte; BYTES begin with their length, as in a struct.
/// @return PH_OK, PH_ERROR_STALE, PH_ERROR_ARGUMENT (no such property, wrong type or size), or why it
/// was refused; nothing is changed then.
PH_API ph_result ph_world_set_property(ph_world* world, ph_entity_id entity, int property,
                                       ph_field field, const void* value, size_t size);

/// Gets one property, as ph_world_get_struct() does, as a value of the given field type and size.
/// TEXT is ended by a zero byte, BYTES begin with their length: size must have room for it.
/// @return PH_OK, PH_ERROR_STALE, PH_ERROR_ARGUMENT (no such property, wrong type or size),
/// PH_ERROR_VALUE (the field cannot hold the value), PH_ERROR_TOO_LONG (a text does not fit).
PH_API ph_result ph_world_get_property(const ph_world* world, ph_entity_id entity, int property,
                                       ph_field field, void* value, size_t size);

/// Moves an entity; the same as setting its position. @return PH_OK, PH_ERROR_STALE, or PH_ERROR_ARGUMENT:
/// not within PH_POSITION_MIN_MM..PH_POSITION_MAX_MM, nothing is changed.
PH_API ph_result ph_world_move(ph_world* world, ph_entity_id entity, int64_t x_mm, int64_t y_mm,
                               int64_t z_mm);

/// The same by a jump, of any length: clients show it there at once.
PH_API ph_result ph_world_jump(ph_world* world, ph_entity_id entity, int64_t x_mm, int64_t y_mm,
                               int64_t z_mm);

/// Changes which viewers may see it (see ph_spawn). A seen_by of 0 means its own viewer only: a mask
/// that was worked out and came to nothing opens nothing. @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_world_set_visibility(ph_world* world, ph_entity_id entity, uint32_t seen_by,
                                         bool is_always_visible, bool is_never_visible);

/// Bit p is set when what the wire carries of property p has changed since the last tick. A new
/// entity has no bit set; that the entity behind a reference is gone sets none. 0 for a stale id.
PH_API uint64_t ph_world_changed_properties(const ph_world* world, ph_entity_id entity);

/// Path length in mm since the spawn, modulo 2^32: counts every move, also there and back, also
/// below the step of the wire, each to the nearest mm. A move counts 2^20 mm (1,049 m) at most: a
/// jump is no path, and many kilometres at once could bring the sum round to where it was. 0 for a
/// stale id.
PH_API uint32_t ph_world_mileage(const ph_world* world, ph_entity_id entity);

// ---- time

/// One tick: sorts the entities, refreshes the vision of the viewers whose turn it is (and of those
/// that are new, or show an entity that was despawned or hidden since), and then forgets which
/// properties had changed. Allocates nothing.
PH_API void ph_world_tick(ph_world* world);

/// Ticks since the world was created.
PH_API uint32_t ph_world_tick_count(const ph_world* world);

#ifdef __cplusplus
}
#endif

#endif
