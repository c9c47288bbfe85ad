// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The public functions about entities. First which exist: spawn, despawn, keys, visibility; a few
// calls per tick, and a spawn may allocate. Then their state, in and out: set, get, move. Setting a
// struct is the hot one: once per entity and tick.

#include "base/position.h"
#include "entities/columns.h"
#include "schema/property.h"
#include "world/world_state.h"

#include <string.h>

// ---- which entities there are

static uint8_t flags_of(bool is_always_visible, bool is_never_visible)
{
    return (uint8_t)((is_always_visible ? PH_SEEN_ALWAYS : 0u) |
                     (is_never_visible ? PH_SEEN_NEVER : 0u));
}

ph_result ph_world_spawn(ph_world* world, const ph_spawn* spawn, ph_entity_id* entity)
{
    *entity = (ph_entity_id){0};
    ph_check check = ph_world_call(world, __func__);
    ph_check_range(&check, "ph_spawn.class_index", spawn->class_index, 0,
                   world->store.class_count - 1);
    ph_check_position(&check, "ph_spawn.position_mm", spawn->position_mm);
    if (check.result != PH_OK) {
        return check.result;
    }
    if (ph_entities_has_key(&world->store.entities, spawn->key, NULL)) {
        return ph_fail(&check, PH_ERROR_TAKEN, "ph_spawn.key",
                       "is %llu, which another entity has; it must be unique in the world",
                       (unsigned long long)spawn->key);
    }
    if (ph_world_make_room(world, spawn->class_index) != PH_OK) {
        return ph_fail_memory(&check);
    }
    const ph_newcomer newcomer = {
        .key = spawn->key,
        .position_mm = {(int32_t)spawn->position_mm[0], (int32_t)spawn->position_mm[1],
                        (int32_t)spawn->position_mm[2]},
        // In a zero-initialised struct 0 means all viewers; later, a mask of 0 means none.
        .seen_by = spawn->seen_by != 0 ? spawn->seen_by : UINT32_MAX,
        .flags = flags_of(spawn->is_always_visible, spawn->is_never_visible),
        .class_index = (uint8_t)spawn->class_index,
    };
    const ph_entity_index index = ph_entities_add(&world->store.entities, &newcomer);
    ph_whereabouts* made = &world->store.entities.whereabouts[index];
    made->row = ph_table_take_row(&world->store.tables[spawn->class_index], index);
    made->renewed_tick = world->store.tick;
    world->is_sorted = false;
    *entity = ph_entities_id(&world->store.entities, index);
    return PH_OK;
}

ph_result ph_world_despawn(ph_world* world, ph_entity_id entity)
{
    ph_entities* entities = &world->store.entities;
    const ph_entity_index index = ph_entities_find(entities, entity);
    if (index == PH_ENTITY_NONE) {
        return ph_world_fail_entity(world, __func__, entity);
    }
    ph_whereabouts* at = &entities->whereabouts[index];
    const ph_removal removal = {
        .key = entities->key[index],
        .tick = world->store.tick,
        .incarnation = entities->incarnation[index],
        .ownership = {.owner = at->owner, .epoch = at->epoch},
        .place_mm = {at->position_mm[0], at->position_mm[1]},
    };
    ph_removals_note(&world->removals, &removal);
    at->renewed_tick = world->store.tick; // exporters need not ask whether it is alive
    ph_table_give_back_row(&world->store.tables[entities->class_index[index]], at->row);
    // Without viewers nothing refers to an index, and a world that is never ticked may go on for
    // ever.
    ph_entities_remove(entities, index, world->viewers.ids.live_count > 0);
    world->is_sorted = false;
    return PH_OK;
}

bool ph_world_is_alive(const ph_world* world, ph_entity_id entity)
{
    return ph_entities_find(&world->store.entities, entity) != PH_ENTITY_NONE;
}

int ph_world_entity_count(const ph_world* world)
{
    return world->store.entities.live_count;
}

ph_entity_id ph_world_live_entity(const ph_world* world, int i)
{
    const ph_entities* entities = &world->store.entities;
    return i >= 0 && i < entities->live_count ? ph_entities_id(entities, entities->live[i])
                                              : (ph_entity_id){0};
}

ph_entity_id ph_world_find(const ph_world* world, uint64_t key)
{
    ph_entity_index index;
    if (!ph_entities_has_key(&world->store.entities, key, &index)) {
        return (ph_entity_id){0};
    }
    return ph_entities_id(&world->store.entities, index);
}

ph_result ph_world_identify(const ph_world* world, ph_entity_id entity, uint64_t* key,
                            int* class_index)
{
    const ph_entity_index index = ph_entities_find(&world->store.entities, entity);
    if (index == PH_ENTITY_NONE) {
        return ph_world_fail_entity(world, __func__, entity);
    }
    if (key != NULL) {
        *key = world->store.entities.key[index];
    }
    if (class_index != NULL) {
        *class_index = world->store.entities.class_index[index];
    }
    return PH_OK;
}

ph_result ph_world_describe(const ph_world* world, ph_entity_id entity, ph_spawn* spawn)
{
    const ph_entities* entities = &world->store.entities;
    const ph_entity_index index = ph_entities_find(entities, entity);
    *spawn = (ph_spawn){0};
    if (index == PH_ENTITY_NONE) {
        return ph_world_fail_entity(world, __func__, entity);
    }
    const int32_t* position_mm = entities->whereabouts[index].position_mm;
    *spawn = (ph_spawn){
        .class_index = entities->class_index[index],
        .key = entities->key[index],
        .position_mm = {position_mm[0], position_mm[1], position_mm[2]},
        .seen_by = entities->seen_by[index],
        .is_always_visible = (entities->flags[index] & PH_SEEN_ALWAYS) != 0,
        .is_never_visible = (entities->flags[index] & PH_SEEN_NEVER) != 0,
    };
    return PH_OK;
}

ph_result ph_world_set_visibility(ph_world* world, ph_entity_id entity, uint32_t seen_by,
                                  bool is_always_visible, bool is_never_visible)
{
    const ph_entity_index index = ph_entities_find(&world->store.entities, entity);
    if (index == PH_ENTITY_NONE) {
        return ph_world_fail_entity(world, __func__, entity);
    }
    ph_entities_set_visibility(&world->store.entities, index, seen_by,
                               flags_of(is_always_visible, is_never_visible));
    world->store.entities.whereabouts[index].renewed_tick = world->store.tick;
    world->is_sorted = false;
    return PH_OK;
}

ph_result ph_world_set_ownership(ph_world* world, ph_entity_id entity, ph_ownership ownership)
{
    const ph_entity_index index = ph_entities_find(&world->store.entities, entity);
    if (index == PH_ENTITY_NONE) {
        return ph_world_fail_entity(world, __func__, entity);
    }
    ph_whereabouts* at = &world->store.entities.whereabouts[index];
    at->owner = ownership.owner;
    at->epoch = ownership.epoch;
    at->imported_stamp = 0;
    at->renewed_tick = world->store.tick;
    return PH_OK;
}

ph_result ph_world_get_ownership(const ph_world* world, ph_entity_id entity,
                                 ph_ownership* ownership)
{
    *ownership = (ph_ownership){0};
    const ph_entity_index index = ph_entities_find(&world->store.entities, entity);
    if (index == PH_ENTITY_NONE) {
        return ph_world_fail_entity(world, __func__, entity);
    }
    const ph_whereabouts* at = &world->store.entities.whereabouts[index];
    *ownership = (ph_ownership){.owner = at->owner, .epoch = at->epoch};
    return PH_OK;
}

ph_entity_id ph_world_entity_at(const ph_world* world, ph_entity_index index)
{
    return ph_entities_id(&world->store.entities, index);
}

// ---- state, in and out
//
// Each value is quantised here, once for all viewers. A number out of range is clamped, what is none (NaN,
// text that is not UTF-8) is refused by itself: the rest of a struct still counts.

// One entity and where its state is.
typedef struct placed {
    ph_entity_index index;
    uint32_t row;
    ph_table* table;
} placed;

static bool try_find_place(const ph_world* world, ph_entity_id entity, placed* found)
{
    const ph_entity_index index = ph_entities_find(&world->store.entities, entity);
    if (index == PH_ENTITY_NONE) {
        return false;
    }
    found->index = index;
    found->row = world->store.entities.whereabouts[index].row;
    found->table = &world->store.tables[world->store.entities.class_index[index]];
    return true;
}

// ---- storing

static const ph_layout* class_of_entity(const ph_world* world, placed at)
{
    return &world->store.class_info.layouts.layouts[world->store.entities.class_index[at.index]];
}

// As clients will have it.
static void load_position_field(const ph_world* world, placed at, uint32_t words[3])
{
    ph_layout_round_position(class_of_entity(world, at), &world->def.ground,
                             world->store.entities.whereabouts[at.index].position_mm, words);
}

// A millimetre may take an entity from one layer of the ground to another: where there is a ground,
// only the whole way to the client's coordinates tells whether they are others.
static bool move_on_ground(ph_world* world, placed at, const ph_move* move)
{
    uint32_t before[3];
    uint32_t after[3];
    load_position_field(world, at, before);
    ph_entities_move(&world->store.entities, at.index, move);
    load_position_field(world, at, after);
    return memcmp(before, after, sizeof before) != 0;
}

// The bit is set only when the coordinates that go on the wire become others; the rest still counts
// for vision and mileage.
static uint64_t store_position(ph_world* world, placed at, const int32_t position_mm[3],
                               bool is_jump)
{
    ph_entities* entities = &world->store.entities;
    const int property = at.table->described->position;
    const ph_property* described = &at.table->described->properties[property];
    const int shift = class_of_entity(world, at)->finest_shift;
    const int32_t* was_mm = entities->whereabouts[at.index].position_mm;
    const uint32_t difference = ((uint32_t)was_mm[0] ^ (uint32_t)position_mm[0]) |
                                ((uint32_t)was_mm[1] ^ (uint32_t)position_mm[1]) |
                                ((uint32_t)was_mm[2] ^ (uint32_t)position_mm[2]);
    if (difference == 0) {
        return 0;
    }
    world->is_sorted = false;
    entities->whereabouts[at.index].placed_tick = world->store.tick;
    const ph_move move = {
        .position_mm = {position_mm[0], position_mm[1], position_mm[2]},
        .tick = world->store.tick,
        .is_jump = is_jump,
    };
    bool has_changed = difference >> shift != 0;
    if (described->def.ground_tolerance_mm != 0) {
        has_changed = move_on_ground(world, at, &move);
    } else {
        ph_entities_move(entities, at.index, &move);
    }
    if (has_changed) {
        entities->whereabouts[at.index].moved_tick = world->store.tick;
    }
    return (uint64_t)has_changed << property;
}

// A stale id is kept as none: it can never come to name another entity.
static void forget_stale(const ph_world* world, uint32_t words[2])
{
    const ph_entity_id id = {.index1 = words[0], .generation = words[1]};
    if (ph_entities_find(&world->store.entities, id) == PH_ENTITY_NONE) {
        words[0] = 0;
        words[1] = 0;
    }
}

// A property with an audience: its change must not affect other viewers.
static void stir(ph_world* world, placed at, int property, const uint32_t* before,
                 const uint32_t* after)
{
    const int class_index = world->store.entities.class_index[at.index];
    if ((world->store.class_info.stirring[class_index] >> property & 1) != 0) {
        const ph_property* described = &at.table->described->properties[property];
        world->store.entities.whereabouts[at.index].stir +=
            ph_difference_stir(described, before, after);
    }
}

// Takes the text of STRING and BYTES, the words of all others.
// @return The change bit of the property, if it changed.
static uint64_t store(ph_world* world, placed at, int property, uint32_t* words,
                      const ph_text* text)
{
    const ph_property* described = &at.table->described->properties[property];
    uint32_t before[PH_VALUE_WORDS_MAX] = {0};
    bool has_changed;
    if (described->is_text) {
        has_changed = ph_table_store_text(at.table, property, at.row, *text);
    } else if (described->def.coding == PH_CODING_POSITION) {
        return store_position(world, at,
                              (int32_t[3]){(int32_t)words[0], (int32_t)words[1], (int32_t)words[2]},
                              false);
    } else {
        if (described->def.coding == PH_CODING_ENTITY) {
            // The kept one, too: that its entity is gone is no change of the property.
            forget_stale(world, ph_table_value(at.table, property, at.row));
            forget_stale(world, words);
            ph_entities_note_reference(&world->store.entities, at.index, words[0] != 0);
        }
        memcpy(before, ph_table_value(at.table, property, at.row),
               (size_t)described->words * sizeof before[0]);
        has_changed = ph_table_store(at.table, property, at.row, words);
    }
    if (has_changed) {
        stir(world, at, property, before, words);
        ph_table_stamp(at.table, property, at.row, world->store.tick);
    }
    return (uint64_t)has_changed << property;
}

void ph_world_store_value(ph_world* world, ph_entity_index index, int property, uint32_t* words,
                          const ph_text* text)
{
    ph_entities* entities = &world->store.entities;
    const placed at = {
        .index = index,
        .row = entities->whereabouts[index].row,
        .table = &world->store.tables[entities->class_index[index]],
    };
    entities->changes[index] |= store(world, at, property, words, text);
}

void ph_world_store_position(ph_world* world, ph_entity_index index, const int32_t position_mm[3])
{
    ph_entities* entities = &world->store.entities;
    const placed at = {
        .index = index,
        .row = entities->whereabouts[index].row,
        .table = &world->store.tables[entities->class_index[index]],
    };
    entities->changes[index] |= store_position(world, at, position_mm, false);
}

// One bound property of the game's struct. What is refused is reported and counted, and keeps the value
// that it has. @return PH_OK, or why it was refused; *changes gets the bit of the property if it changed.
static ph_result set_bound(ph_world* world, placed at, int p, const void* state, uint64_t* changes)
{
    const ph_class* described = at.table->described;
    const ph_property* property = &described->properties[p];
    const uint8_t* value = (const uint8_t*)state + property->def.offset;
    uint32_t words[PH_VALUE_WORDS_MAX];
    ph_text text = {0};
    bool is_clamped = false;
    const ph_result result = property->is_text ? ph_property_text(property, state, &text)
                                               : ph_property_take(property, property->def.field,
                                                                  value, words, &is_clamped);
    if (PH_UNLIKELY(result != PH_OK)) {
        const ph_check call = ph_world_call(world, "ph_world_set_struct");
        ++world->refused_values;
        return ph_property_fail(&call, described, p, result, property->def.field, value);
    }
    world->clamped_values += is_clamped;
    *changes |= store(world, at, p, words, &text);
    return PH_OK;
}

ph_result ph_world_set_struct(ph_world* world, ph_entity_id entity, const void* state)
{
    placed at;
    if (!try_find_place(world, entity, &at)) {
        return ph_world_fail_entity(world, __func__, entity);
    }
    const ph_class* described = at.table->described;
    ph_result first = PH_OK;
    uint64_t changes = 0;
    for (int p = 0; p < described->def.property_count; ++p) {
        if (described->properties[p].def.field != PH_FIELD_NONE) {
            const ph_result result = set_bound(world, at, p, state, &changes);
            first = first == PH_OK ? result : first;
        }
    }
    world->store.entities.changes[at.index] |= changes;
    return first;
}

// Of the public function of that name.
static ph_result put(ph_world* world, const char* function, ph_entity_id entity,
                     const int64_t position_mm[3], bool is_jump)
{
    placed at;
    if (!try_find_place(world, entity, &at)) {
        return ph_world_fail_entity(world, function, entity);
    }
    if (!ph_is_position(position_mm)) {
        ph_check check = ph_world_call(world, function);
        ph_check_position(&check, "position", position_mm);
        return check.result;
    }
    const int32_t narrow_mm[3] = {(int32_t)position_mm[0], (int32_t)position_mm[1],
                                  (int32_t)position_mm[2]};
    world->store.entities.changes[at.index] |= store_position(world, at, narrow_mm, is_jump);
    return PH_OK;
}

ph_result ph_world_move(ph_world* world, ph_entity_id entity, int64_t x_mm, int64_t y_mm,
                        int64_t z_mm)
{
    return put(world, __func__, entity, (int64_t[3]){x_mm, y_mm, z_mm}, false);
}

ph_result ph_world_jump(ph_world* world, ph_entity_id entity, int64_t x_mm, int64_t y_mm,
                        int64_t z_mm)
{
    return put(world, __func__, entity, (int64_t[3]){x_mm, y_mm, z_mm}, true);
}

// ---- one property by itself

static size_t length_before_zero(const char* text, size_t size)
{
    const char* end = size > 0 ? memchr(text, '\0', size) : NULL;
    return end != NULL ? (size_t)(end - text) : size;
}

// A string ends at a zero byte or with the size; bytes bring their length with them.
static ph_result text_of_value(const ph_property* described, ph_field field, const void* value,
                               size_t size, ph_text* text)
{
    const uint8_t* bytes = value;
    size_t length;
    if (field == PH_FIELD_BYTES) {
        uint16_t stated;
        memcpy(&stated, bytes, sizeof stated);
        bytes += sizeof stated;
        length = stated;
        if (length > size - sizeof stated) {
            return PH_ERROR_TOO_LONG;
        }
    } else {
        length = length_before_zero(value, size);
    }
    const ph_result result = ph_property_check_text(described, bytes, length);
    if (result == PH_OK) {
        *text = (ph_text){.bytes = bytes, .length = (uint16_t)length};
    }
    return result;
}

ph_result ph_world_set_property(ph_world* world, ph_entity_id entity, int property, ph_field field,
                                const void* value, size_t size)
{
    placed at;
    if (!try_find_place(world, entity, &at)) {
        return ph_world_fail_entity(world, __func__, entity);
    }
    const ph_class* described = at.table->described;
    ph_check call = ph_world_call(world, __func__);
    if (ph_property_check_call(&call, described, property, field, size) != PH_OK) {
        return PH_ERROR_ARGUMENT;
    }
    uint32_t words[PH_VALUE_WORDS_MAX];
    ph_text text = {0};
    const ph_property* one = &described->properties[property];
    bool is_clamped = false;
    const ph_result result = one->is_text ? text_of_value(one, field, value, size, &text)
                                          : ph_property_take(one, field, value, words, &is_clamped);
    world->clamped_values += is_clamped;
    if (result != PH_OK) {
        ++world->refused_values;
        return ph_property_fail(&call, described, property, result, field, value);
    }
    world->store.entities.changes[at.index] |= store(world, at, property, words, &text);
    return PH_OK;
}

// ---- out again

// The words as clients see them: coordinates rounded to the steps and layers of the wire, none
// where a reference is stale. Everything but text.
static void load_field(const ph_world* world, placed at, int property, uint32_t* words)
{
    const ph_property* described = &at.table->described->properties[property];
    if (described->def.coding == PH_CODING_POSITION) {
        load_position_field(world, at, words);
        return;
    }
    memcpy(words, ph_table_value(at.table, property, at.row),
           (size_t)described->words * sizeof(uint32_t));
    if (described->def.coding == PH_CODING_ENTITY) {
        forget_stale(world, words);
    }
}

ph_result ph_world_get_struct(const ph_world* world, ph_entity_id entity, void* state)
{
    placed at;
    if (!try_find_place(world, entity, &at)) {
        return ph_world_fail_entity(world, __func__, entity);
    }
    const ph_class* described = at.table->described;
    for (int p = 0; p < described->def.property_count; ++p) {
        const ph_property* property = &described->properties[p];
        if (property->def.field == PH_FIELD_NONE) {
            continue;
        }
        if (property->is_text) {
            ph_property_restore_text(property, ph_table_text(at.table, p, at.row), state);
            continue;
        }
        uint32_t words[PH_VALUE_WORDS_MAX];
        load_field(world, at, p, words);
        ph_property_restore(property, words, state);
    }
    return PH_OK;
}

ph_result ph_world_get_property(const ph_world* world, ph_entity_id entity, int property,
                                ph_field field, void* value, size_t size)
{
    placed at;
    if (!try_find_place(world, entity, &at)) {
        return ph_world_fail_entity(world, __func__, entity);
    }
    const ph_class* described = at.table->described;
    ph_check call = ph_world_call(world, __func__);
    if (ph_property_check_call(&call, described, property, field, size) != PH_OK) {
        return PH_ERROR_ARGUMENT;
    }
    const ph_property* one = &described->properties[property];
    ph_result result;
    if (one->is_text) {
        result = ph_text_restore(ph_table_text(at.table, property, at.row), field, value, size);
    } else {
        uint32_t words[PH_VALUE_WORDS_MAX];
        load_field(world, at, property, words);
        result = ph_property_restore_field(one, field, words, value);
    }
    return result == PH_OK ? PH_OK
                           : ph_property_fail_out(&call, described, property, result, field, size);
}

uint64_t ph_world_changed_properties(const ph_world* world, ph_entity_id entity)
{
    const ph_entity_index index = ph_entities_find(&world->store.entities, entity);
    return index != PH_ENTITY_NONE ? world->store.entities.changes[index] : 0;
}

uint32_t ph_world_mileage(const ph_world* world, ph_entity_id entity)
{
    const ph_entity_index index = ph_entities_find(&world->store.entities, entity);
    return index != PH_ENTITY_NONE ? world->store.entities.whereabouts[index].mileage_mm : 0;
}
