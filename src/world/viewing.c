// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The viewers of a world as the game handles them: a few calls per tick; adding one allocates.

#include "world/world_state.h"

#include "world/sender.h"
#include "world/world_def.h"

#define HINT_MAX 1000000.0

// ---- coming and going

// What vision asks, in the words of the public contract.
static bool ask_game(void* context, uint32_t viewer, ph_entity_index entity)
{
    const ph_world* world = context;
    const ph_id id = ph_id_pool_at(&world->viewers.ids, (int)viewer);
    const ph_viewer_id viewer_id = {.index1 = id.index1, .generation = id.generation};
    return world->def.may_see(world->def.may_see_context, viewer_id,
                              ph_entities_id(&world->entities, entity));
}

static ph_eye eye_of(ph_world* world, const ph_viewer_def* def)
{
    const double hysteresis = world->def.vision.hysteresis;
    return (ph_eye){
        .x_mm = def->eye_mm[0],
        .y_mm = def->eye_mm[1],
        .sees = def->sees,
        .own = PH_ENTITY_NONE,
        .radius_mm = ph_wider_radius(def->radius_mm, hysteresis),
        .wanted = ph_wider_count(def->visible_max, hysteresis),
        .enter_mm = def->radius_mm,
        .callback = world->def.may_see != NULL ? ask_game : NULL,
        .context = world,
    };
}

// On PH_ERROR_MEMORY some of them may have more room than they need; nothing else has changed.
static ph_result make_room(ph_world* world, int wanted)
{
    if (ph_lookout_reserve_answers(&world->lookout, wanted) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    if (!ph_viewers_is_full(&world->viewers)) {
        return PH_OK;
    }
    const int capacity = ph_grown_capacity(world->viewers.capacity);
    if (capacity == 0 ||
        ph_lookout_reserve_viewers(&world->lookout, world->entities.capacity, capacity) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    return ph_viewers_reserve(&world->viewers, capacity);
}

ph_result ph_world_add_viewer(ph_world* world, const ph_viewer_def* def, ph_viewer_id* viewer)
{
    *viewer = (ph_viewer_id){0};
    if (!ph_viewer_def_is_sensible(def, world->def.radius_max_mm)) {
        return PH_ERROR_RANGE;
    }
    if (def->entity.index1 != 0 && !ph_world_is_alive(world, def->entity)) {
        return PH_ERROR_STALE;
    }
    const ph_eye eye = eye_of(world, def);
    ph_viewer made = {
        .own = def->entity,
        .eye_z_mm = def->eye_mm[2],
        .audience = def->audience,
        .radius_mm = def->radius_mm,
        .visible_max = def->visible_max,
    };
    const ph_sender_def sender_def = {
        .forms = &world->forms,
        .viewer = def,
        .profile = world->def.profile,
        .slot_count = ph_slot_count_of(def, world->def.profile),
    };
    world->are_ways_wanted =
        world->are_ways_wanted || ph_sender_scheduler(&sender_def).wants_errors;
    if (make_room(world, eye.wanted) != PH_OK ||
        ph_slots_create(&world->def.allocator, sender_def.slot_count, &made.slots) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    if (ph_sender_create(&world->def.allocator, &sender_def, &made.sender) != PH_OK) {
        ph_slots_destroy(made.slots);
        return PH_ERROR_MEMORY;
    }
    made.told_tick = world->tick;
    const ph_id id = ph_viewers_add(&world->viewers, &made, &eye);
    const uint32_t index = id.index1 - 1;
    ph_viewers_follow(&world->viewers, index, &world->entities);
    ph_lookout_add(&world->lookout, index, &world->viewers.eyes[index]);
    world->is_sorted = false;
    *viewer = (ph_viewer_id){.index1 = id.index1, .generation = id.generation};
    return PH_OK;
}

bool ph_world_try_viewer(const ph_world* world, ph_viewer_id viewer, uint32_t* index)
{
    const ph_id id = {.index1 = viewer.index1, .generation = viewer.generation};
    if (!ph_id_pool_is_live(&world->viewers.ids, id)) {
        return false;
    }
    *index = viewer.index1 - 1;
    return true;
}

ph_result ph_world_remove_viewer(ph_world* world, ph_viewer_id viewer)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return PH_ERROR_STALE;
    }
    ph_lookout_remove(&world->lookout, index);
    ph_viewers_remove(&world->viewers,
                      (ph_id){.index1 = viewer.index1, .generation = viewer.generation});
    world->is_sorted = false;
    return PH_OK;
}

// ---- changes

ph_result ph_world_set_eye(ph_world* world, ph_viewer_id viewer, int32_t x_mm, int32_t y_mm,
                           int32_t z_mm)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return PH_ERROR_STALE;
    }
    ph_viewer* moved = &world->viewers.viewers[index];
    if (ph_world_is_alive(world, moved->own)) {
        return PH_ERROR_VALUE;
    }
    moved->own = (ph_entity_id){0}; // or the next tick would look from where it died
    const int32_t eye_mm[3] = {x_mm, y_mm, z_mm};
    ph_viewers_look_from(&world->viewers, index, eye_mm, world->entities.jump_mm);
    world->is_sorted = false;
    return PH_OK;
}

ph_result ph_world_set_own(ph_world* world, ph_viewer_id viewer, ph_entity_id entity)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index) ||
        (entity.index1 != 0 && !ph_world_is_alive(world, entity))) {
        return PH_ERROR_STALE;
    }
    // The eye of a spectator begins where the last own entity is now.
    ph_viewers_follow(&world->viewers, index, &world->entities);
    world->viewers.viewers[index].own = entity;
    world->viewers.viewers[index].sender->widened_tick = world->tick;
    world->viewers.viewers[index].is_urgent = true;
    world->is_sorted = false;
    return PH_OK;
}

ph_result ph_world_set_sees(ph_world* world, ph_viewer_id viewer, uint32_t sees)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return PH_ERROR_STALE;
    }
    world->viewers.eyes[index].sees = sees;
    world->viewers.viewers[index].sender->widened_tick = world->tick;
    world->viewers.viewers[index].is_urgent = true;
    world->is_sorted = false;
    return PH_OK;
}

// ---- what is seen

ph_result ph_world_sight(const ph_world* world, ph_viewer_id viewer, ph_sight* sight)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        *sight = (ph_sight){0};
        return PH_ERROR_STALE;
    }
    const ph_viewer* seer = &world->viewers.viewers[index];
    *sight = ph_slots_sight(seer->slots);
    if (seer->refreshed_tick != world->tick) {
        sight->enter_count = 0;
        sight->leave_count = 0;
    }
    return PH_OK;
}

ph_result ph_world_free_slot(ph_world* world, ph_viewer_id viewer, int slot)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return PH_ERROR_STALE;
    }
    ph_slots* slots = world->viewers.viewers[index].slots;
    if (slot < 0 || slot >= ph_slots_sight(slots).slot_count ||
        ph_slots_state(slots, slot) != PH_SLOT_RESTING) {
        return PH_ERROR_VALUE;
    }
    ph_knowledge* knowledge = &world->viewers.viewers[index].sender->knowledge;
    if (!ph_knowledge_is_gone(knowledge, slot)) {
        return PH_ERROR_VALUE; // its client was told of it by a send, and will say when it is free
    }
    ph_knowledge_free(knowledge, slot, false);
    ph_slots_free(slots, slot);
    return PH_OK;
}

// ---- what is sent

ph_result ph_world_set_budget(ph_world* world, ph_viewer_id viewer, int bits_per_second,
                              int burst_bits)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        return PH_ERROR_STALE;
    }
    if (!ph_budget_is_sensible(bits_per_second, burst_bits)) {
        return PH_ERROR_RANGE;
    }
    return ph_sender_set_budget(world->viewers.viewers[index].sender, &world->forms,
                                bits_per_second, burst_bits);
}

ph_result ph_world_set_hint(ph_world* world, ph_viewer_id viewer, ph_entity_id entity,
                            double weight)
{
    uint32_t index;
    const ph_entity_index hinted = ph_entities_find(&world->entities, entity);
    if (!ph_world_try_viewer(world, viewer, &index) || hinted == PH_ENTITY_NONE) {
        return PH_ERROR_STALE;
    }
    if (!(weight >= 0.0 && weight <= HINT_MAX)) { // NaN, too
        return PH_ERROR_RANGE;
    }
    ph_viewer* seer = &world->viewers.viewers[index];
    const ph_result result = ph_hints_set(&seer->sender->hints, &world->entities,
                                          &world->def.allocator, entity, (float)weight);
    const int slot = ph_slots_find(seer->slots, hinted);
    if (result == PH_OK && slot >= 0) {
        seer->sender->knowledge.weight[slot] = (float)weight;
    }
    return result;
}

ph_vision_stats ph_world_vision_stats(const ph_world* world)
{
    ph_vision_stats stats = world->viewers.stats;
    for (int i = 0; i < world->viewers.ids.used_count; ++i) {
        if (world->viewers.viewers[i].slots != NULL) {
            stats.waits += ph_slots_waits(world->viewers.viewers[i].slots);
        }
    }
    if (world->lookout.groups != NULL) {
        ph_groups_stats(world->lookout.groups, &stats);
    }
    return stats;
}
