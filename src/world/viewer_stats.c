// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How a viewer is doing. Most figures are kept as they happen; what is due is looked for when
// somebody asks.

#include "world/due.h"
#include "world/telling.h"

// Whether this slot has something that the next send would say, if it could.
static bool is_slot_due(const ph_outlook* outlook, uint32_t viewer, int slot)
{
    const ph_sender* sender = outlook->sender;
    const ph_knowledge* knowledge = &sender->knowledge;
    if (ph_knowledge_is_leaving(knowledge, slot)) {
        return knowledge->touched[slot] != 0 && !ph_knowledge_is_gone(knowledge, slot);
    }
    if (!ph_outlook_is_there(outlook, slot)) {
        return false;
    }
    if (knowledge->told[slot] == PH_TOLD_NOTHING) {
        return true;
    }
    const ph_world* world = outlook->world;
    const int class_index = knowledge->class_index[slot];
    const uint64_t mask = sender->masks[(slot == 0 ? world->class_count : 0) + class_index];
    uint64_t asked =
        ph_tell_touched(world, viewer, slot) | ph_knowledge_at(knowledge, slot)->beyond;
    if (knowledge->are_references_stale) {
        asked |= world->forms.layouts.layouts[class_index].references;
    }
    return ph_outlook_compare(outlook, slot, asked & mask, NULL).due != 0;
}

// How long a slot has been waiting, if it has something due. Milliseconds wrap after 49 days; the time of a
// send that was told late may lie before.
static double waited_ms(const ph_sender* sender, int slot)
{
    const uint32_t since_ms = sender->knowledge.waiting_ms[slot];
    const uint32_t passed_ms = ph_sender_now_ms(sender) - since_ms;
    return since_ms != 0 && passed_ms <= INT32_MAX ? passed_ms : 0.0;
}

// Only who has waited for longer than those before can change the answer: of hundreds, few are compared.
static void look_for_due(const ph_outlook* outlook, uint32_t viewer, ph_viewer_stats* stats)
{
    const ph_sender* sender = outlook->sender;
    for (int slot = 0; slot < sender->knowledge.slot_count; ++slot) {
        const double waited = waited_ms(sender, slot);
        const bool may_count = !stats->is_something_due || waited > stats->oldest_due_ms;
        if (may_count && is_slot_due(outlook, viewer, slot)) {
            stats->is_something_due = true;
            stats->oldest_due_ms = waited;
        }
    }
}

ph_result ph_world_viewer_stats(const ph_world* world, ph_viewer_id viewer, ph_viewer_stats* stats)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index)) {
        *stats = (ph_viewer_stats){0};
        return PH_ERROR_STALE;
    }
    const ph_outlook outlook = ph_outlook_make(world, index);
    const ph_sender* sender = outlook.sender;
    *stats = sender->stats;
    stats->kbps = (double)sender->last_second_bytes * 8.0 / 1000.0;
    stats->in_flight = sender->flight.count;
    stats->tokens_bits =
        sender->is_started ? ph_token_bucket_bits(&sender->bucket) : sender->depth_bits;
    look_for_due(&outlook, index, stats);
    return PH_OK;
}

uint64_t ph_world_property_bits256(const ph_world* world, ph_viewer_id viewer, int class_index,
                                   int property)
{
    uint32_t index;
    if (!ph_world_try_viewer(world, viewer, &index) || class_index < 0 ||
        class_index >= world->class_count || property < 0 ||
        property >= world->tables[class_index].described->def.property_count) {
        return 0;
    }
    const int first = world->forms.first_property[class_index];
    return world->viewers.viewers[index].sender->property_bits256[first + property];
}

ph_stage_times ph_world_stage_times(const ph_world* world)
{
    ph_stage_times times = world->times;
    for (int i = 0; i < world->viewers.ids.used_count; ++i) {
        const ph_viewer* viewer = &world->viewers.viewers[i];
        for (int stage = 0; stage < PH_STAGE_COUNT && viewer->slots != NULL; ++stage) {
            times.ns[stage] += viewer->sender->times.ns[stage];
        }
    }
    return times;
}
