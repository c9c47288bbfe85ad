// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The arrays of all entities. One block, because growing is then one allocation that succeeds or
// fails as a whole.

#include "entities/entities.h"

#include "base/allocator.h"

#include <math.h>
#include <string.h>

#define NO_ENTITY_ORDER UINT64_MAX
// Names come from the game, not from strangers: any seed will do.
#define ENTITY_KEY_SEED UINT64_C(0x70696E686F6C65)

// Two arrays of cache lines or halves of them, three of 8 bytes and one of several times 8, eight of 4 and two of three
// times 4, four of 1. Widest first: every array is aligned whatever the capacity.
#define BYTES_PER_ENTITY                                                                           \
    (sizeof(ph_whereabouts) + sizeof(ph_stride) +                                                  \
     (size_t)((3 + PH_RECENT_TICKS) * 8 + 9 * 4 + 2 * 12 + 4 * 1))

// An allocator promises 16 bytes only: with room for one more the first may begin where a whole record
// does.
static size_t room_of(int capacity)
{
    return (size_t)capacity + 1;
}

static uint8_t* beginning_of(void* block)
{
    const size_t size = sizeof(ph_whereabouts);
    return (uint8_t*)block + ((0 - (size_t)(uintptr_t)block) & (size - 1));
}

static uint8_t* carve_array(uint8_t** rest, size_t size)
{
    uint8_t* part = *rest;
    *rest += size;
    return part;
}

static void lay_out_entities(ph_entities* entities, void* block, int capacity)
{
    const size_t count = (size_t)capacity;
    uint8_t* rest = beginning_of(block);
    entities->whereabouts = (void*)carve_array(&rest, count * sizeof(ph_whereabouts));
    entities->strides = (void*)carve_array(&rest, count * sizeof(ph_stride));
    entities->spawn_order = (void*)carve_array(&rest, count * sizeof(uint64_t));
    entities->key = (void*)carve_array(&rest, count * sizeof(uint64_t));
    entities->changes = (void*)carve_array(&rest, count * sizeof(uint64_t));
    entities->recent = (void*)carve_array(&rest, count * PH_RECENT_TICKS * sizeof(uint64_t));
    entities->x_mm = (void*)carve_array(&rest, count * sizeof(int32_t));
    entities->y_mm = (void*)carve_array(&rest, count * sizeof(int32_t));
    entities->seen_by = (void*)carve_array(&rest, count * sizeof(uint32_t));
    entities->was_mm = (void*)carve_array(&rest, count * 3 * sizeof(int32_t));
    entities->displacement_mm = (void*)carve_array(&rest, count * 3 * sizeof(int32_t));
    entities->incarnation = (void*)carve_array(&rest, count * sizeof(uint32_t));
    entities->live_place = (void*)carve_array(&rest, count * sizeof(uint32_t));
    entities->live = (void*)carve_array(&rest, count * sizeof(ph_entity_index));
    entities->resting = (void*)carve_array(&rest, count * sizeof(ph_entity_index));
    entities->visibility_changed = (void*)carve_array(&rest, count * sizeof(ph_entity_index));
    entities->arrived = (void*)carve_array(&rest, count * sizeof(ph_entity_index));
    entities->class_index = carve_array(&rest, count);
    entities->refers = carve_array(&rest, count);
    entities->flags = carve_array(&rest, count);
    entities->has_arrived = carve_array(&rest, count);
    PH_ASSERT(rest == beginning_of(block) + count * BYTES_PER_ENTITY);
    entities->block = block;
    entities->capacity = capacity;
}

static void copy_entities(ph_entities* to, const ph_entities* from)
{
    const size_t count = (size_t)from->capacity;
    memcpy(to->whereabouts, from->whereabouts, count * sizeof(ph_whereabouts));
    memcpy(to->strides, from->strides, count * sizeof(ph_stride));
    memcpy(to->spawn_order, from->spawn_order, count * sizeof(uint64_t));
    memcpy(to->key, from->key, count * sizeof(uint64_t));
    memcpy(to->changes, from->changes, count * sizeof(uint64_t));
    for (uint32_t ticks = 1; ticks <= PH_RECENT_TICKS; ++ticks) {
        memcpy(ph_entities_recent(to, ticks), ph_entities_recent(from, ticks),
               count * sizeof(uint64_t));
    }
    memcpy(to->x_mm, from->x_mm, count * sizeof(int32_t));
    memcpy(to->y_mm, from->y_mm, count * sizeof(int32_t));
    memcpy(to->seen_by, from->seen_by, count * sizeof(uint32_t));
    memcpy(to->was_mm, from->was_mm, count * 3 * sizeof(int32_t));
    memcpy(to->displacement_mm, from->displacement_mm, count * 3 * sizeof(int32_t));
    memcpy(to->incarnation, from->incarnation, count * sizeof(uint32_t));
    memcpy(to->live_place, from->live_place, count * sizeof(uint32_t));
    memcpy(to->live, from->live, count * sizeof(ph_entity_index));
    memcpy(to->resting, from->resting, count * sizeof(ph_entity_index));
    memcpy(to->visibility_changed, from->visibility_changed, count * sizeof(ph_entity_index));
    memcpy(to->arrived, from->arrived, count * sizeof(ph_entity_index));
    memcpy(to->class_index, from->class_index, count);
    memcpy(to->refers, from->refers, count);
    memcpy(to->flags, from->flags, count);
    memcpy(to->has_arrived, from->has_arrived, count);
}

ph_result ph_entities_create(ph_entities* entities, const ph_allocator* allocator, int capacity)
{
    *entities = (ph_entities){
        .allocator = *allocator,
        .lately = {.allocator = *allocator, .seed = ENTITY_KEY_SEED},
        .far_mm = INT64_MAX,
    };
    ph_result result = ph_id_pool_create(&entities->ids, allocator, capacity);
    if (result == PH_OK) {
        result = ph_hash_map_create(&entities->by_key, allocator, capacity, ENTITY_KEY_SEED);
    }
    if (result == PH_OK) {
        result = ph_entities_reserve(entities, capacity);
    }
    if (result != PH_OK) {
        ph_entities_destroy(entities);
    }
    return result;
}

void ph_entities_destroy(ph_entities* entities)
{
    ph_release_array(&entities->allocator, entities->block, room_of(entities->capacity),
                     BYTES_PER_ENTITY);
    ph_hash_map_destroy(&entities->by_key);
    ph_hash_map_destroy(&entities->lately);
    ph_id_pool_destroy(&entities->ids);
    *entities = (ph_entities){0};
}

ph_result ph_entities_reserve(ph_entities* entities, int capacity)
{
    if (capacity <= entities->capacity) {
        return PH_OK;
    }
    // The pool may end up with more room than the arrays, which decide: see ph_entities_is_full().
    if (ph_id_pool_reserve(&entities->ids, capacity) != PH_OK ||
        ph_hash_map_reserve(&entities->by_key, capacity) != PH_OK ||
        ph_hash_map_reserve(&entities->lately, capacity) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    void* block = ph_allocate_array(&entities->allocator, room_of(capacity), BYTES_PER_ENTITY);
    if (block == NULL) {
        return PH_ERROR_MEMORY;
    }
    ph_entities grown = *entities;
    lay_out_entities(&grown, block, capacity);
    // Blank beyond the old end: no entity there, and no index looks like rubbish in a debugger.
    memset(block, 0, room_of(capacity) * BYTES_PER_ENTITY);
    if (entities->block != NULL) {
        copy_entities(&grown, entities);
    }
    for (int i = entities->capacity; i < capacity; ++i) {
        grown.spawn_order[i] = NO_ENTITY_ORDER;
    }
    ph_release_array(&entities->allocator, entities->block, room_of(entities->capacity),
                     BYTES_PER_ENTITY);
    *entities = grown;
    return PH_OK;
}

bool ph_entities_is_full(const ph_entities* entities)
{
    // Indices that rest are still taken in the pool; retired ones never come back.
    return entities->ids.live_count + entities->ids.retired_count >= entities->capacity;
}

bool ph_entities_has_key(const ph_entities* entities, uint64_t key, ph_entity_index* index)
{
    uint32_t found;
    if (!ph_hash_map_try_find(&entities->by_key, key, &found)) {
        return false;
    }
    if (index != NULL) {
        *index = found;
    }
    return true;
}

static void put_at(ph_entities* entities, ph_entity_index index, const int32_t position_mm[3])
{
    ph_whereabouts* at = &entities->whereabouts[index];
    for (int axis = 0; axis < 3; ++axis) {
        at->position_mm[axis] = position_mm[axis];
    }
    entities->x_mm[index] = position_mm[0];
    entities->y_mm[index] = position_mm[1];
}

// Entities that came to a place at once, not step by step. An index stays listed when its entity dies.
static void note_arrival(ph_entities* entities, ph_entity_index index)
{
    if (entities->has_arrived[index] == 0) {
        entities->has_arrived[index] = 1;
        entities->arrived[entities->arrived_count++] = index;
    }
}

// ---- incarnations

// Another one than all before it that had the key.
static uint32_t next_incarnation(const ph_entities* entities, uint64_t key)
{
    const uint32_t first = entities->spawn_clock << PH_RESPAWN_BITS;
    uint32_t last;
    if (ph_hash_map_try_find(&entities->lately, key, &last) &&
        last - first < UINT32_C(1) << PH_RESPAWN_BITS) {
        return last + 1;
    }
    return first;
}

// There is room for all entities. Where more are removed, because they come and go within a tick or a world is never
// ticked, the clock goes on instead: all later incarnations are others.
static void remember_incarnation(ph_entities* entities, ph_entity_index index)
{
    ph_hash_map* lately = &entities->lately;
    if (lately->count == lately->limit) {
        ++entities->spawn_clock;
        ph_hash_map_clear(lately);
    }
    ph_hash_map_insert(lately, entities->key[index], entities->incarnation[index]);
}

ph_entity_index ph_entities_add(ph_entities* entities, const ph_newcomer* newcomer)
{
    PH_ASSERT(!ph_entities_is_full(entities));

    const ph_id id = ph_id_pool_take(&entities->ids);
    const ph_entity_index index = id.index1 - 1;
    const bool is_named = ph_hash_map_insert(&entities->by_key, newcomer->key, index);
    PH_ASSERT(is_named);
    (void)is_named;
    entities->incarnation[index] = next_incarnation(entities, newcomer->key);
    entities->spawn_order[index] = entities->next_spawn_order++;
    entities->key[index] = newcomer->key;
    entities->changes[index] = 0;
    for (uint32_t ticks = 1; ticks <= PH_RECENT_TICKS; ++ticks) {
        ph_entities_recent(entities, ticks)[index] = 0;
    }
    entities->whereabouts[index] = (ph_whereabouts){0};
    entities->strides[index] = (ph_stride){0};
    put_at(entities, index, newcomer->position_mm);
    memcpy(&entities->was_mm[3 * (size_t)index], newcomer->position_mm,
           sizeof newcomer->position_mm);
    // No viewer has seen it where it was spawned, if it was moved since.
    memset(&entities->displacement_mm[3 * (size_t)index], 0, sizeof newcomer->position_mm);
    entities->displacement_mm[3 * (size_t)index] = PH_NO_DISPLACEMENT;
    entities->refers[index] = 0;
    entities->seen_by[index] = newcomer->seen_by;
    entities->flags[index] = newcomer->flags;
    entities->class_index[index] = newcomer->class_index;
    entities->live_place[index] = (uint32_t)entities->live_count;
    entities->live[entities->live_count++] = index;
    note_arrival(entities, index);
    return index;
}

void ph_entities_remove(ph_entities* entities, ph_entity_index index, bool is_to_rest)
{
    PH_ASSERT(entities->spawn_order[index] != NO_ENTITY_ORDER);

    ph_hash_map_remove(&entities->by_key, entities->key[index]);
    remember_incarnation(entities, index);
    const uint32_t place = entities->live_place[index];
    const ph_entity_index last = entities->live[--entities->live_count];
    entities->live[place] = last;
    entities->live_place[last] = place;
    entities->spawn_order[index] = NO_ENTITY_ORDER;
    entities->referring_count -= entities->refers[index];
    if (is_to_rest) {
        entities->resting[entities->resting_count++] = index;
    } else {
        ph_id_pool_give_back(&entities->ids, ph_id_pool_at(&entities->ids, (int)index));
    }
}

// More may see it from now on, but not where it comes from.
static bool is_unveiled(const ph_entities* entities, ph_entity_index index, uint32_t seen_by,
                        uint8_t flags)
{
    return (seen_by & ~entities->seen_by[index]) != 0 || flags != entities->flags[index];
}

void ph_entities_set_visibility(ph_entities* entities, ph_entity_index index, uint32_t seen_by,
                                uint8_t flags)
{
    if (is_unveiled(entities, index, seen_by, flags)) {
        entities->displacement_mm[3 * (size_t)index] = PH_NO_DISPLACEMENT;
        memset(entities->whereabouts[index].velocity_mm_s, 0,
               sizeof entities->whereabouts[index].velocity_mm_s);
        entities->strides[index].is_unveiled = 1;
        if ((flags & PH_SEEN_NEVER) == 0) {
            note_arrival(entities, index);
        }
    }
    entities->seen_by[index] = seen_by;
    entities->flags[index] = flags;
    if (entities->visibility_changed_count < entities->capacity) {
        entities->visibility_changed[entities->visibility_changed_count++] = index;
    } else {
        entities->have_more_visibility_changed = true;
    }
}

void ph_entities_wake(ph_entities* entities)
{
    for (int i = 0; i < entities->resting_count; ++i) {
        const ph_id id = ph_id_pool_at(&entities->ids, (int)entities->resting[i]);
        ph_id_pool_give_back(&entities->ids, id);
    }
    entities->resting_count = 0;
    entities->visibility_changed_count = 0;
    entities->have_more_visibility_changed = false;
    for (int i = 0; i < entities->arrived_count; ++i) {
        entities->has_arrived[entities->arrived[i]] = 0;
    }
    entities->arrived_count = 0;
    ++entities->spawn_clock;
    if (entities->lately.count > 0) {
        ph_hash_map_clear(&entities->lately);
    }
}

// Cheaper than asking which have changed: some bytes an entity, at the speed of memory.
void ph_entities_file_changes(ph_entities* entities)
{
    const size_t count = (size_t)entities->ids.used_count;
    uint64_t* changes = entities->changes;
    if (count == 0) {
        return; // there may be no memory at all
    }
    for (uint32_t ticks = PH_RECENT_TICKS; ticks > 1; --ticks) {
        uint64_t* sum = ph_entities_recent(entities, ticks);
        const uint64_t* shorter = ph_entities_recent(entities, ticks - 1);
        for (size_t i = 0; i < count; ++i) {
            sum[i] = shorter[i] | changes[i];
        }
    }
    memcpy(ph_entities_recent(entities, 1), changes, count * sizeof *changes);
    memset(changes, 0, count * sizeof *changes);
}

ph_entity_index ph_entities_find_or_resting(const ph_entities* entities, ph_entity_id id)
{
    const ph_id pooled = {.index1 = id.index1, .generation = id.generation};
    return ph_id_pool_is_live(&entities->ids, pooled) ? id.index1 - 1 : PH_ENTITY_NONE;
}

ph_entity_index ph_entities_find(const ph_entities* entities, ph_entity_id id)
{
    const ph_entity_index index = ph_entities_find_or_resting(entities, id);
    if (index == PH_ENTITY_NONE || entities->spawn_order[index] == NO_ENTITY_ORDER) {
        return PH_ENTITY_NONE;
    }
    return index;
}

ph_entity_id ph_entities_id(const ph_entities* entities, ph_entity_index index)
{
    if (index >= (uint32_t)entities->capacity || entities->spawn_order[index] == NO_ENTITY_ORDER) {
        return (ph_entity_id){0};
    }
    const ph_id id = ph_id_pool_at(&entities->ids, (int)index);
    return (ph_entity_id){.index1 = id.index1, .generation = id.generation};
}

// Squares of three differences of at most 2^31 sum to less than 2^64.
static uint64_t squared_distance(const int32_t from_mm[3], const int32_t to_mm[3])
{
    uint64_t sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t difference_mm = (int32_t)((uint32_t)to_mm[axis] - (uint32_t)from_mm[axis]);
        sum += (uint64_t)(difference_mm * difference_mm);
    }
    return sum;
}

static uint32_t root_of(uint64_t square)
{
    if (square >= (uint64_t)PH_MILEAGE_MOVE_MAX * PH_MILEAGE_MOVE_MAX) {
        return PH_MILEAGE_MOVE_MAX;
    }
    // Below 2^40 the square is exact in a double, its root is correctly rounded on every machine,
    // and no root of a whole number comes nearer to a half than 2^-23: the nearest millimetre,
    // exactly.
    return (uint32_t)(sqrt((double)square) + 0.5);
}

uint32_t ph_distance_mm(const int32_t from_mm[3], const int32_t to_mm[3])
{
    return root_of(squared_distance(from_mm, to_mm));
}

// Whether a move is no motion: by the game's own rule, or by how the entity moved before.
static bool is_no_motion(ph_entities* entities, ph_entity_index index, const ph_move* move,
                         bool is_far)
{
    if (entities->is_far_a_jump) {
        return is_far;
    }
    const int32_t* from_mm = entities->whereabouts[index].position_mm;
    int32_t step_mm[3];
    for (int axis = 0; axis < 3; ++axis) {
        step_mm[axis] = (int32_t)((uint32_t)move->position_mm[axis] - (uint32_t)from_mm[axis]);
    }
    return ph_stride_add(&entities->strides[index], &entities->stride_rule, move->tick, step_mm);
}

void ph_entities_move(ph_entities* entities, ph_entity_index index, const ph_move* move)
{
    ph_whereabouts* at = &entities->whereabouts[index];
    const uint64_t square = squared_distance(at->position_mm, move->position_mm);
    at->mileage_mm += root_of(square);
    // No move is as long as 2^32 mm, whose square would not fit.
    const bool is_far = entities->far_mm <= UINT32_MAX &&
                        square > (uint64_t)entities->far_mm * (uint64_t)entities->far_mm;
    const bool is_jump = is_no_motion(entities, index, move, is_far) || move->is_jump;
    if (is_jump) {
        ++at->jumps;
        at->has_jumped = true;
    }
    if (is_far || is_jump) {
        note_arrival(entities, index);
    }
    put_at(entities, index, move->position_mm);
}

void ph_entities_note_displacements(ph_entities* entities, float tick_s)
{
    for (int i = 0; i < entities->live_count; ++i) {
        const ph_entity_index index = entities->live[i];
        ph_whereabouts* at = &entities->whereabouts[index];
        int32_t* was_mm = &entities->was_mm[3 * (size_t)index];
        int32_t* displacement_mm = &entities->displacement_mm[3 * (size_t)index];
        // From behind a jump nothing leads here.
        const bool is_step = displacement_mm[0] != PH_NO_DISPLACEMENT && !at->has_jumped;
        at->has_jumped = false;
        for (int axis = 0; axis < 3; ++axis) {
            const uint32_t moved_mm = (uint32_t)at->position_mm[axis] - (uint32_t)was_mm[axis];
            displacement_mm[axis] = is_step ? (int32_t)moved_mm : 0;
            was_mm[axis] = at->position_mm[axis];
            at->velocity_mm_s[axis] = (float)displacement_mm[axis] / tick_s;
        }
    }
}

ph_entity_arrays ph_entities_arrays(const ph_entities* entities)
{
    return (ph_entity_arrays){
        .x_mm = entities->x_mm,
        .y_mm = entities->y_mm,
        .seen_by = entities->seen_by,
        .flags = entities->flags,
        .spawn_order = entities->spawn_order,
        .live = entities->live,
        .live_count = entities->live_count,
        .capacity = entities->capacity,
    };
}

static bool is_index_sound(const ph_entities* entities, ph_entity_index index, int place)
{
    ph_entity_index named;
    return index < (uint32_t)entities->capacity && entities->live_place[index] == (uint32_t)place &&
           entities->spawn_order[index] < entities->next_spawn_order &&
           entities->whereabouts[index].position_mm[0] == entities->x_mm[index] &&
           entities->whereabouts[index].position_mm[1] == entities->y_mm[index] &&
           ph_id_pool_at(&entities->ids, (int)index).index1 != 0 &&
           ph_entities_has_key(entities, entities->key[index], &named) && named == index &&
           (entities->flags[index] & ~(PH_SEEN_ALWAYS | PH_SEEN_NEVER)) == 0;
}

static int count_somebody(const ph_entities* entities)
{
    int count = 0;
    for (int i = 0; i < entities->capacity; ++i) {
        count += entities->spawn_order[i] != NO_ENTITY_ORDER;
    }
    return count;
}

bool ph_entities_validate(const ph_entities* entities)
{
    if (!ph_id_pool_validate(&entities->ids) || !ph_hash_map_validate(&entities->by_key) ||
        entities->by_key.count != entities->live_count ||
        entities->ids.live_count != entities->live_count + entities->resting_count ||
        entities->ids.capacity < entities->capacity ||
        count_somebody(entities) != entities->live_count) {
        return false;
    }
    // Each place is named back by its entity, so no entity stands in two of them.
    int referring_count = 0;
    for (int place = 0; place < entities->live_count; ++place) {
        if (!is_index_sound(entities, entities->live[place], place)) {
            return false;
        }
        referring_count += entities->refers[entities->live[place]];
    }
    if (referring_count != entities->referring_count) {
        return false;
    }
    for (int i = 0; i < entities->resting_count; ++i) {
        const ph_entity_index index = entities->resting[i];
        if (index >= (uint32_t)entities->capacity ||
            entities->spawn_order[index] != NO_ENTITY_ORDER ||
            ph_id_pool_at(&entities->ids, (int)index).index1 == 0) {
            return false;
        }
    }
    return true;
}

bool ph_entities_has_visibility_changed(const ph_entities* entities)
{
    return entities->visibility_changed_count > 0 || entities->have_more_visibility_changed;
}

uint64_t* ph_entities_recent(const ph_entities* entities, uint32_t tick_count)
{
    PH_ASSERT(0 < tick_count && tick_count <= PH_RECENT_TICKS);

    return entities->recent + (size_t)(tick_count - 1) * (size_t)entities->capacity;
}

void ph_entities_note_reference(ph_entities* entities, ph_entity_index index, bool is_named)
{
    entities->referring_count += is_named && entities->refers[index] == 0;
    entities->refers[index] |= is_named;
}
