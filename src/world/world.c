// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A world from its creation to its end, and its tick. Memory is taken at creation and when a spawn
// finds no room, never in a tick.

#include "base/allocator.h"
#include "replication/send.h"
#include "world/world_state.h"
#include "tools/tools.h"

// ---- creation

// Without jobs one thread refreshes all viewers, however many sends run at once.
int ph_world_question_count(const ph_world_def* def, int sends_at_once)
{
    return def->run_jobs != NULL ? sends_at_once : 1;
}

static ph_result create_nearby(ph_world* world)
{
    const ph_vision_def* vision = &world->def.vision;
    const ph_nearby_def def = {
        .vision = vision,
        .entity_capacity = world->store.entities.capacity,
        .viewer_capacity = world->viewers.capacity,
        .radius_mm_max = ph_wider_radius(world->def.radius_max_mm, vision->hysteresis),
        .question_count = ph_world_question_count(&world->def, world->def.sends_at_once),
    };
    return ph_nearby_create(&world->nearby, &world->def.allocator, &def);
}

ph_result ph_world_create(const ph_world_def* def, ph_world** world)
{
    *world = NULL;
    if (ph_world_def_check(def) != PH_OK) {
        return PH_ERROR_ARGUMENT;
    }
    const ph_check call = ph_check_begin(def->on_error, def->on_error_context, __func__);
    ph_world* made = ph_allocate_zeroed(&def->allocator, sizeof(ph_world));
    if (made == NULL) {
        return ph_fail_memory(&call);
    }
    made->def = *def;
    const ph_store_def store_def = {
        .profile = def->profile,
        .schema = def->schema,
        .ground = def->ground,
        .tick_us = def->tick_us,
        .jump_mm = def->jump_mm,
        .entity_capacity = def->entity_capacity,
        .has_filter = def->may_see != NULL,
    };
    ph_result result = ph_store_create(&made->store, &store_def, &def->allocator);
    made->sends.allocator = def->allocator;
    if (result == PH_OK) {
        result = ph_send_blocks_reserve(&made->sends, def->sends_at_once, 0);
    }
    if (result == PH_OK) {
        result = ph_viewers_create(&made->viewers, &def->allocator, def->viewer_capacity);
    }
    if (result == PH_OK) {
        result = ph_removals_create(&made->removals, &def->allocator, def->removal_capacity);
    }
    if (result == PH_OK) {
        result = create_nearby(made);
    }
    if (result != PH_OK) {
        ph_world_destroy(made);
        return ph_fail_memory(&call); // nothing else can fail
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
    ph_send_blocks_destroy(&world->sends);
    ph_nearby_destroy(&world->nearby);
    ph_removals_destroy(&world->removals);
    ph_viewers_destroy(&world->viewers);
    ph_store_destroy(&world->store);
    ph_release(&allocator, world, sizeof(ph_world));
}

const ph_world_def* ph_world_get_def(const ph_world* world)
{
    return &world->def;
}

// ---- growth

// Everything that needs a place for each entity; the arrays themselves last, because the others may
// have more room than these, but never less.
static ph_result grow_entities(ph_world* world)
{
    const int capacity = ph_grown_capacity(world->store.entities.capacity);
    if (capacity == 0 ||
        ph_nearby_reserve_entities(&world->nearby, capacity, world->viewers.capacity) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    world->is_sorted = false;
    return ph_entities_reserve(&world->store.entities, capacity);
}

ph_result ph_world_make_room(ph_world* world, int class_index)
{
    if (ph_store_make_row(&world->store, class_index) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    return ph_entities_is_full(&world->store.entities) ? grow_entities(world) : PH_OK;
}

// Indices that rest, or are worn out, are none that can be given.
static bool has_room_for(const ph_entities* entities, int count)
{
    const ph_id_pool* ids = &entities->ids;
    return entities->capacity - ids->live_count - ids->retired_count >= count;
}

ph_result ph_world_make_much_room(ph_world* world, const int* counts)
{
    int sum = 0;
    for (int i = 0; i < world->store.class_count; ++i) {
        ph_table* table = &world->store.tables[i];
        const int free_count = table->free_count + table->capacity - table->used_count;
        if (free_count < counts[i] &&
            ph_table_reserve(table, ph_greatest(table->capacity - free_count + counts[i],
                                                ph_grown_capacity(table->capacity))) != PH_OK) {
            return PH_ERROR_MEMORY;
        }
        sum += counts[i];
    }
    while (!has_room_for(&world->store.entities, sum)) {
        if (grow_entities(world) != PH_OK) {
            return PH_ERROR_MEMORY;
        }
    }
    return PH_OK;
}

// ---- time

void ph_world_tick(ph_world* world)
{
    ph_stopwatch watch = ph_stopwatch_make(world->clock, &world->times);
    ++world->store.tick;
    if (world->def.profile == PH_PROFILE_PINHOLE || world->are_displacements_wanted) {
        ph_entities_note_displacements(&world->store.entities, world->store.tick_s);
    }
    // Without viewers there is nothing to sort for.
    if (world->viewers.ids.live_count > 0) {
        const ph_refresh refresh = {
            .store = &world->store,
            .nearby = &world->nearby,
            .vision = &world->def.vision,
            .run_jobs = world->def.run_jobs,
            .run_jobs_context = world->def.run_jobs_context,
        };
        ph_viewers_refresh(&world->viewers, &refresh);
        world->is_sorted = true;
        ph_stopwatch_lap(&watch, PH_STAGE_VISION);
        ph_viewers_propagate(&world->viewers, &refresh);
    }
    ph_entities_wake(&world->store.entities);
    ph_entities_file_changes(&world->store.entities);
    ph_stopwatch_lap(&watch, PH_STAGE_REPLICAS);
}

void ph_world_set_clock(ph_world* world, ph_now_ns_fn* now_ns, void* context)
{
    world->clock = (ph_lent_clock){now_ns, context};
}

uint32_t ph_world_tick_count(const ph_world* world)
{
    return world->store.tick;
}

// ---- validation

static bool is_vision_sound(const ph_world* world)
{
    const ph_entity_arrays arrays = ph_entities_arrays(&world->store.entities);
    return ph_viewers_validate(&world->viewers, &world->store.entities) &&
           (!world->is_sorted || ph_nearby_validate(&world->nearby, &arrays, world->viewers.eyes));
}

bool ph_world_validate(const ph_world* world)
{
    return ph_store_validate(&world->store) && is_vision_sound(world);
}
