// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Who is in the world: spawn, despawn, names, visibility. A few calls per tick; a spawn may
// allocate.

#include "world/world_state.h"

static uint8_t flags_of(bool is_always_visible, bool is_never_visible)
{
    return (uint8_t)((is_always_visible ? PH_SEEN_ALWAYS : 0u) |
                     (is_never_visible ? PH_SEEN_NEVER : 0u));
}

ph_result ph_world_spawn(ph_world* world, const ph_spawn* spawn, ph_entity_id* entity)
{
    *entity = (ph_entity_id){0};
    if (spawn->class_index < 0 || spawn->class_index >= world->class_count) {
        return PH_ERROR_VALUE;
    }
    if (ph_entities_has_name(&world->entities, spawn->name, NULL)) {
        return PH_ERROR_TAKEN;
    }
    if (ph_world_make_room(world, spawn->class_index) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    const ph_newcomer newcomer = {
        .name = spawn->name,
        .position_mm = {spawn->position_mm[0], spawn->position_mm[1], spawn->position_mm[2]},
        // A zero-initialised struct means everybody; later, a mask of 0 means nobody.
        .seen_by = spawn->seen_by != 0 ? spawn->seen_by : UINT32_MAX,
        .flags = flags_of(spawn->is_always_visible, spawn->is_never_visible),
        .class_index = (uint8_t)spawn->class_index,
    };
    const ph_entity_index index = ph_entities_add(&world->entities, &newcomer);
    world->entities.whereabouts[index].row =
        ph_table_take_row(&world->tables[spawn->class_index], index);
    world->is_sorted = false;
    *entity = ph_entities_id(&world->entities, index);
    return PH_OK;
}

ph_result ph_world_despawn(ph_world* world, ph_entity_id entity)
{
    ph_entities* entities = &world->entities;
    const ph_entity_index index = ph_entities_find(entities, entity);
    if (index == PH_ENTITY_NONE) {
        return PH_ERROR_STALE;
    }
    ph_table_give_back_row(&world->tables[entities->class_index[index]],
                           entities->whereabouts[index].row);
    // Without viewers nobody holds on to an index, and a world that is never ticked may go on for
    // ever.
    ph_entities_remove(entities, index, world->viewers.ids.live_count > 0);
    world->is_sorted = false;
    return PH_OK;
}

bool ph_world_is_alive(const ph_world* world, ph_entity_id entity)
{
    return ph_entities_find(&world->entities, entity) != PH_ENTITY_NONE;
}

int ph_world_entity_count(const ph_world* world)
{
    return world->entities.live_count;
}

ph_entity_id ph_world_find(const ph_world* world, uint64_t name)
{
    ph_entity_index index;
    if (!ph_entities_has_name(&world->entities, name, &index)) {
        return (ph_entity_id){0};
    }
    return ph_entities_id(&world->entities, index);
}

ph_result ph_world_identify(const ph_world* world, ph_entity_id entity, uint64_t* name,
                            int* class_index)
{
    const ph_entity_index index = ph_entities_find(&world->entities, entity);
    if (index == PH_ENTITY_NONE) {
        return PH_ERROR_STALE;
    }
    if (name != NULL) {
        *name = world->entities.name[index];
    }
    if (class_index != NULL) {
        *class_index = world->entities.class_index[index];
    }
    return PH_OK;
}

ph_result ph_world_set_visibility(ph_world* world, ph_entity_id entity, uint32_t seen_by,
                                  bool is_always_visible, bool is_never_visible)
{
    const ph_entity_index index = ph_entities_find(&world->entities, entity);
    if (index == PH_ENTITY_NONE) {
        return PH_ERROR_STALE;
    }
    ph_entities_veil(&world->entities, index, seen_by,
                     flags_of(is_always_visible, is_never_visible));
    world->is_sorted = false;
    return PH_OK;
}

ph_entity_id ph_world_entity_at(const ph_world* world, ph_entity_index index)
{
    return ph_entities_id(&world->entities, index);
}
