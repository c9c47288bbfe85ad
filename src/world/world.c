// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A world from its creation to its end, and its tick. Memory is taken at creation and when a spawn
// finds no room, never in a tick.

#include "world/world_state.h"

#include "base/allocator.h"
#include "world/stopwatch.h"
#include "world/telling.h"
#include "world/world_def.h"

#include <limits.h>

// ---- creation

static ph_result create_tables(ph_world* world)
{
    const ph_allocator* allocator = &world->def.allocator;
    const int class_count = ph_schema_class_count(world->def.schema);
    world->tables = ph_allocate_zeroed(allocator, (size_t)class_count * sizeof(ph_table));
    if (world->tables == NULL) {
        return PH_ERROR_MEMORY;
    }
    world->class_count = class_count;
    for (int i = 0; i < class_count; ++i) {
        // Which classes will be many is not known yet: each gets an equal share to start with.
        const ph_class* described = ph_schema_class_at(world->def.schema, i);
        const int rows = world->def.entity_capacity / class_count;
        if (ph_table_create(&world->tables[i], described, allocator, rows) != PH_OK) {
            return PH_ERROR_MEMORY;
        }
    }
    return PH_OK;
}

static ph_result create_lookout(ph_world* world)
{
    const ph_vision_def* vision = &world->def.vision;
    const ph_lookout_def def = {
        .vision = vision,
        .entity_capacity = world->entities.capacity,
        .viewer_capacity = world->viewers.capacity,
        .radius_mm_max = ph_wider_radius(world->def.radius_max_mm, vision->hysteresis),
    };
    return ph_lookout_create(&world->lookout, &world->def.allocator, &def);
}

ph_result ph_world_create(const ph_world_def* def, ph_world** world)
{
    *world = NULL;
    if (!ph_world_def_is_sensible(def)) {
        return PH_ERROR_RANGE;
    }
    ph_world* made = ph_allocate_zeroed(&def->allocator, sizeof(ph_world));
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    made->def = *def;
    made->def.jump_mm = ph_jump_limit(def);
    ph_growths_fill(made->growths, def->tick_us);
    ph_told_costs_fill(&made->told_costs);
    ph_normals_fill(&made->normals, def->tick_us);
    ph_result result = ph_entities_create(&made->entities, &def->allocator, def->entity_capacity);
    made->entities.jump_mm = made->def.jump_mm;
    if (result == PH_OK) {
        result = create_tables(made);
    }
    if (result == PH_OK) {
        result = ph_forms_create(&made->forms, def->schema, &def->allocator);
    }
    if (result == PH_OK) {
        result = ph_viewers_create(&made->viewers, &def->allocator, def->viewer_capacity);
    }
    if (result == PH_OK) {
        result = create_lookout(made);
    }
    if (result != PH_OK) {
        ph_world_destroy(made);
        return result;
    }
    *world = made;
    return PH_OK;
}

void ph_world_destroy(ph_world* world)
{
    if (world == NULL) {
        return;
    }
    const ph_allocator allocator = world->def.allocator;
    ph_lookout_destroy(&world->lookout);
    ph_forms_destroy(&world->forms);
    ph_viewers_destroy(&world->viewers);
    for (int i = 0; i < world->class_count; ++i) {
        ph_table_destroy(&world->tables[i]);
    }
    ph_release_array(&allocator, world->tables, (size_t)world->class_count, sizeof(ph_table));
    ph_entities_destroy(&world->entities);
    ph_release(&allocator, world, sizeof(ph_world));
}

// ---- growth

int ph_grown_capacity(int capacity)
{
    if (capacity > INT_MAX / 2) {
        return 0;
    }
    return capacity < 8 ? 16 : 2 * capacity;
}

// Everything that needs a place for each entity; the arrays themselves last, because the others may
// have more room than these, but never less.
static ph_result grow_entities(ph_world* world)
{
    const int capacity = ph_grown_capacity(world->entities.capacity);
    if (capacity == 0 ||
        ph_lookout_reserve_entities(&world->lookout, capacity, world->viewers.capacity) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    world->is_sorted = false;
    return ph_entities_reserve(&world->entities, capacity);
}

ph_result ph_world_make_room(ph_world* world, int class_index)
{
    ph_table* table = &world->tables[class_index];
    if (ph_table_is_full(table)) {
        const int rows = ph_grown_capacity(table->capacity);
        if (rows == 0 || ph_table_reserve(table, rows) != PH_OK) {
            return PH_ERROR_MEMORY;
        }
    }
    return ph_entities_is_full(&world->entities) ? grow_entities(world) : PH_OK;
}

// ---- time

void ph_world_tick(ph_world* world)
{
    ph_stopwatch watch = ph_stopwatch_make(world->now_ns, world->now_context, &world->times);
    ++world->tick;
    if (world->def.profile == PH_PROFILE_PINHOLE || world->are_ways_wanted) {
        ph_entities_note_ways(&world->entities, ph_world_tick_s(world));
    }
    // Nobody looks: nothing to sort.
    if (world->viewers.ids.live_count > 0) {
        const ph_refresh refresh = {
            .entities = &world->entities,
            .lookout = &world->lookout,
            .vision = &world->def.vision,
            .tick = world->tick,
        };
        ph_viewers_refresh(&world->viewers, &refresh);
        world->is_sorted = true;
        ph_stopwatch_lap(&watch, PH_STAGE_VISION);
        ph_tell_tick(world);
    }
    ph_entities_wake(&world->entities);
    ph_entities_file_changes(&world->entities);
    ph_stopwatch_lap(&watch, PH_STAGE_KNOWLEDGE);
}

void ph_world_set_clock(ph_world* world, ph_now_ns* now_ns, void* context)
{
    world->now_ns = now_ns;
    world->now_context = context;
}

uint32_t ph_world_now(const ph_world* world)
{
    return world->tick;
}

// ---- validation

// References name somebody who lives or lived, or nobody.
static bool are_references_sound(const ph_world* world, const ph_table* table, uint32_t row)
{
    for (int p = 0; p < table->described->def.property_count; ++p) {
        if (table->described->properties[p].def.coding != PH_CODING_ENTITY) {
            continue;
        }
        const uint32_t* words = ph_table_value(table, p, row);
        const ph_id_pool* ids = &world->entities.ids;
        const bool is_none = words[0] == 0 && words[1] == 0;
        if (!is_none && (words[0] == 0 || words[0] > (uint32_t)ids->used_count || words[1] == 0 ||
                         words[1] > ids->slots[words[0] - 1].generation)) {
            return false;
        }
    }
    return true;
}

static bool are_rows_sound(const ph_world* world)
{
    const ph_entities* entities = &world->entities;
    for (int i = 0; i < entities->live_count; ++i) {
        const ph_entity_index index = entities->live[i];
        if (entities->class_index[index] >= world->class_count) {
            return false;
        }
        const ph_table* table = &world->tables[entities->class_index[index]];
        const uint32_t row = entities->whereabouts[index].row;
        if (row >= (uint32_t)table->used_count || table->owner[row] != index ||
            !are_references_sound(world, table, row)) {
            return false;
        }
    }
    return true;
}

static bool is_vision_sound(const ph_world* world)
{
    const ph_crowd crowd = ph_entities_crowd(&world->entities);
    return ph_viewers_validate(&world->viewers, &world->entities) &&
           (!world->is_sorted || ph_lookout_validate(&world->lookout, &crowd, world->viewers.eyes));
}

bool ph_world_validate(const ph_world* world)
{
    int rows = 0;
    for (int i = 0; i < world->class_count; ++i) {
        if (!ph_table_validate(&world->tables[i])) {
            return false;
        }
        rows += world->tables[i].used_count - world->tables[i].free_count;
    }
    return ph_entities_validate(&world->entities) && rows == world->entities.live_count &&
           are_rows_sound(world) && is_vision_sound(world);
}
