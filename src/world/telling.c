// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One pass over the slots of each viewer: a gather of 8 bytes per entity in view, a fraction of a
// microsecond for 250.

#include "world/telling.h"

#include "base/prefetch.h"
#include "world/sender.h"

static void tell_of_vision(const ph_world* world, const ph_viewer* viewer, const ph_sight* sight)
{
    ph_sender* sender = viewer->sender;
    ph_knowledge* knowledge = &sender->knowledge;
    for (int i = 0; i < sight->leave_count; ++i) {
        ph_knowledge_leave(knowledge, sight->leaves[i]);
    }
    for (int i = 0; i < sight->enter_count; ++i) {
        const int slot = sight->enters[i];
        const ph_entity_index entity = sight->entities[slot];
        const int class_index = world->entities.class_index[entity];
        ph_knowledge_enter(knowledge, slot, class_index,
                           world->forms.layouts.layouts[class_index].all);
        // What it did before is nobody's business here.
        ph_knowledge_at(knowledge, slot)->since_tick = world->tick;
        knowledge->mileage_mm[slot] = world->entities.mileage_mm[entity];
        ph_knowledge_at(knowledge, slot)->stir = world->entities.stir[entity];
        knowledge->weight[slot] =
            ph_hints_weight(&sender->hints, ph_entities_id(&world->entities, entity));
    }
}

// Newcomers are told of as a whole; bits that are set for them too do no harm.
static void tell_of_changes(const ph_world* world, const ph_viewer* viewer, const ph_sight* sight)
{
    const uint64_t* changes = world->entities.changes;
    const uint64_t* masks = viewer->sender->masks;
    const uint8_t* class_index = viewer->sender->knowledge.class_index;
    uint64_t* touched = viewer->sender->knowledge.touched;
    if (sight->entities[0] != PH_ENTITY_NONE) {
        touched[0] |= changes[sight->entities[0]] & masks[world->class_count + class_index[0]];
    }
    const ph_slot_list shown = ph_slots_shown(viewer->slots);
    for (int i = shown.count > 0 && shown.slots[0] == 0; i < shown.count; ++i) {
        const int slot = shown.slots[i];
        touched[slot] |= changes[sight->entities[slot]] & masks[class_index[slot]];
    }
}

// Where its arrays are.
static void prefetch_head(const ph_viewer* viewer)
{
    ph_prefetch(viewer->slots);
    ph_prefetch_bytes(viewer->sender, sizeof(ph_knowledge));
}

// What the changes of a viewer will be written into.
static void prefetch(const ph_viewer* viewer)
{
    if (viewer->slots != NULL) {
        const ph_knowledge* knowledge = &viewer->sender->knowledge;
        const ph_sight sight = ph_slots_sight(viewer->slots);
        const size_t count = (size_t)sight.slot_count;
        ph_prefetch_bytes(sight.entities, count * sizeof sight.entities[0]);
        ph_prefetch_bytes(knowledge->touched, count * sizeof knowledge->touched[0]);
        ph_prefetch_bytes(knowledge->class_index, count);
    }
}

void ph_tell_tick(ph_world* world)
{
    for (int i = 0; i < world->viewers.ids.used_count; ++i) {
        const ph_viewer* viewer = &world->viewers.viewers[i];
        if (viewer->slots == NULL) {
            continue;
        }
        if (i + 2 < world->viewers.ids.used_count) {
            prefetch(&viewer[1]);
            prefetch_head(&viewer[2]);
        }
        const ph_sight sight = ph_slots_sight(viewer->slots);
        if (viewer->refreshed_tick == world->tick) {
            tell_of_vision(world, viewer, &sight);
        }
        tell_of_changes(world, viewer, &sight);
    }
}
