// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The entities of a world: ids, keys, and the few numbers of each that are swept or looked up every
// tick. Everything else an entity has is in the table of its class (columns.h).
//
// One block of parallel arrays by entity index. Indices are handed out by an id pool; the live ones
// stand dense in `live`, in no particular order, and each knows its place there, so that it is
// removed by moving the last one into it.
//
//   index          0    1    2    3    4
//   spawn_order    7    -    3    9    -          - is UINT64_MAX: none
//   x_mm         120    .  -40   16    .
//   live_place     1    .    0    2    .
//   live           2    0    3                    live_count = 3
//
// Adding and removing cost a few dozen instructions, moving about ten; only reserve allocates.

#ifndef PH_ENTITIES_ENTITIES_H
#define PH_ENTITIES_ENTITIES_H

#include "base/hash.h"
#include "base/id_pool.h"
#include "motion/stride.h"
#include "vision/entity_arrays.h"

// What one move adds to the mileage at most: 1,049 m. A jump of thousands of kilometres is no
// path; counted in full, two of them could bring the sum round to where it was.
#define PH_MILEAGE_MOVE_MAX (UINT32_C(1) << 20)
// The first part of a way that there is not, until the next tick.
#define PH_NO_DISPLACEMENT INT32_MIN
// Incarnations ascend by so many bits a tick: as often a key may be given anew in it.
#define PH_RESPAWN_BITS 6
// For so many ticks changes are remembered: viewers look at them when they are sent to.
#define PH_RECENT_TICKS 4

// Where one is, and what else senders ask of those in view: together, because those lie here and there in
// the arrays, and each array would be another line to wait for. A cache line, and never a part of two.
typedef struct ph_whereabouts {
    int32_t position_mm[3];
    uint32_t mileage_mm;    // path length, modulo 2^32
    float velocity_mm_s[3]; // of its way; 0 when it has none
    uint32_t row;           // in the table of its class
    uint32_t stir;          // what else all viewers may see has changed, as a path (columns.h)
    uint32_t moved_tick;    // when the position last changed
    uint16_t jumps;         // moves that were no motion, modulo 2^16
    bool has_jumped;        // since the last tick
    // For exports, which ask of all; by the count of ticks when it happened.
    uint32_t placed_tick;  // the position changed, be it by a millimetre
    uint32_t renewed_tick; // it was spawned or despawned, its visibility or ownership was set
    uint32_t owner;
    uint32_t epoch;
    uint32_t imported_stamp; // of the batch whose state this is; 0 where there is none
} ph_whereabouts;

_Static_assert(sizeof(ph_whereabouts) == 64, "one in a cache line");

typedef struct ph_entities {
    ph_whereabouts* whereabouts;
    ph_stride* strides;    // how each came to where it is; unless the game says what a jump is
    uint64_t* spawn_order; // ascending with time; UINT64_MAX: no entity
    uint64_t* key;         // given by the game, unique
    uint64_t* changes;     // bit p: property p has changed since the last tick
    uint64_t* recent;      // what changed before the last tick; then before the last two, and so on
    int32_t* x_mm;         // as in whereabouts: all of them are swept
    int32_t* y_mm;
    uint32_t* seen_by;        // mask
    int32_t* was_mm;          // three each: where it was at the last tick
    int32_t* displacement_mm; // three each: from the tick before to that one; none after a jump, or
                              // from where it may have been hidden
    uint32_t* incarnation; // which of those that had this key, for exports and imports: spawn_clock
                           // and how often the key was given in it
    uint32_t* live_place;  // where live[] names it
    ph_entity_index* live;
    ph_entity_index* resting; // despawned, but their indices are not given out before the next tick
    ph_entity_index*
        visibility_changed; // whose visibility was set since the last tick; may name one twice
    ph_entity_index*
        arrived; // spawned, shown to more, or moved far since the last tick; none twice
    uint8_t* class_index;
    uint8_t* refers;      // 1: a reference of it may name an entity
    uint8_t* flags;       // PH_SEEN_ALWAYS, PH_SEEN_NEVER
    uint8_t* has_arrived; // 1: `arrived` names it
    int live_count;
    int resting_count;
    int arrived_count;
    int referring_count; // of the living, those whose `refers` is 1
    int visibility_changed_count;
    bool have_more_visibility_changed; // than there is room for
    int capacity;                      // of every array
    void* block;                       // that holds them all
    ph_id_pool ids;
    ph_hash_map by_key; // key -> index
    uint64_t next_spawn_order;
    // What an incarnation is made of depends on nothing but when its key was given, and how often: a
    // counter of all spawns would tell importers of entities that they may not know of.
    ph_hash_map lately;   // key -> incarnation, of those removed since the last tick
    uint32_t spawn_clock; // ticks, and how often `lately` was full
    int64_t far_mm;       // longer moves may take it into views at once; INT64_MAX unless it is set
    ph_stride_rule stride_rule; // of jumps
    bool is_far_a_jump;         // the game's own rule instead
    ph_allocator allocator;
} ph_entities;

// What a new entity starts with.
typedef struct ph_newcomer {
    uint64_t key;
    int32_t position_mm[3];
    uint32_t seen_by;
    uint8_t flags;
    uint8_t class_index;
} ph_newcomer;

// @return PH_OK, or PH_ERROR_MEMORY with *entities set to {0}.
ph_result ph_entities_create(ph_entities* entities, const ph_allocator* allocator, int capacity);

void ph_entities_destroy(ph_entities* entities);

// Makes room for capacity indices in all. @return PH_OK, or PH_ERROR_MEMORY with everything as
// before.
ph_result ph_entities_reserve(ph_entities* entities, int capacity);

// True when no index is left: reserve first.
bool ph_entities_is_full(const ph_entities* entities);

// Whether a key is taken; *index, unless NULL, is then the entity that has it.
bool ph_entities_has_key(const ph_entities* entities, uint64_t key, ph_entity_index* index);

// Adds one; not when full, nor under a taken key. The row is the caller's to set.
ph_entity_index ph_entities_add(ph_entities* entities, const ph_newcomer* newcomer);

// Removes a live one: its id is stale from now on. While it rests its index names no other, so
// that a holder of the index (a sight of the last tick) cannot take a newcomer for it.
void ph_entities_remove(ph_entities* entities, ph_entity_index index, bool is_to_rest);

// Changes which viewers may see it.
void ph_entities_set_visibility(ph_entities* entities, ph_entity_index index, uint32_t seen_by,
                                uint8_t flags);

// Whether the visibility of any entity was changed since the last tick.
bool ph_entities_has_visibility_changed(const ph_entities* entities);

// Gives all resting indices back and forgets which visibilities changed and what has arrived. Once per
// tick.
void ph_entities_wake(ph_entities* entities);

// All change bits become those of the last tick, and there are none for the next. Once per tick.
void ph_entities_file_changes(ph_entities* entities);

// What changed before the last so many ticks, 1..PH_RECENT_TICKS, by entity. Summed up when they are
// filed, because more viewers than one ask.
uint64_t* ph_entities_recent(const ph_entities* entities, uint32_t tick_count);

// The index of a live id, or PH_ENTITY_NONE. Any bits may be asked about.
ph_entity_index ph_entities_find(const ph_entities* entities, ph_entity_id id);

// As find, but an entity that rests is found, too: its place in the arrays is where it was removed.
ph_entity_index ph_entities_find_or_resting(const ph_entities* entities, ph_entity_id id);

// The id of a live index, else {0}. Any index may be asked about.
ph_entity_id ph_entities_id(const ph_entities* entities, ph_entity_index index);

// A reference of it was set: whether it may name an entity.
void ph_entities_note_reference(ph_entities* entities, ph_entity_index index, bool is_named);

typedef struct ph_move {
    int32_t position_mm[3];
    uint32_t tick; // the last one
    bool is_jump;  // the game says so
} ph_move;

// Puts it there and adds the way to its mileage. What is no motion counts as a jump, too.
void ph_entities_move(ph_entities* entities, ph_entity_index index, const ph_move* move);

// A tick: what each has moved since the last one is its way now. For worlds that tell of velocities.
void ph_entities_note_displacements(ph_entities* entities, float tick_s);

// Length of a way, to the nearest millimetre, at most PH_MILEAGE_MOVE_MAX; across the world's edge
// it is the short one.
uint32_t ph_distance_mm(const int32_t from_mm[3], const int32_t to_mm[3]);

// As vision looks at them. Borrowed until the next add, remove or reserve.
ph_entity_arrays ph_entities_arrays(const ph_entities* entities);

// Whether ids, keys, live list and resting list agree. For tests; walks everything.
bool ph_entities_validate(const ph_entities* entities);

#endif
