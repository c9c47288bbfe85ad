// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What an entity's priority for one viewer is made of: the scheduler is asked once more, about this
// slot alone and with a copy of its score. When the game asks; a microsecond.

#include "replication/send.h"
#include "replication/shown_estimate.h"

#include <math.h>

static float manhattan_mm(const ph_send_context* context, ph_entity_index entity)
{
    const ph_entities* entities = &context->store->entities;
    const int32_t dx = ph_difference_mm(entities->x_mm[entity], context->eye_x_mm);
    const int32_t dy = ph_difference_mm(entities->y_mm[entity], context->eye_y_mm);
    return fmaxf(fabsf((float)dx) + fabsf((float)dy), 1.0f);
}

static void tell_errors(const ph_error_arrays* error_arrays, ph_explanation* explanation)
{
    const double mrad_per_mm = 1000.0 / (double)*error_arrays->range_mm;
    explanation->range_mm = (double)*error_arrays->range_mm;
    explanation->error_mm = (double)*error_arrays->error_mm;
    explanation->error_mrad = explanation->error_mm * mrad_per_mm;
    explanation->growth_mrad_s = (double)*error_arrays->growth_mm_s * mrad_per_mm;
    explanation->heading_rad = (double)*error_arrays->turn_rad;
    explanation->position_bits = (double)*error_arrays->position_bits;
}

// Every array has one element: that of the slot.
static void ask_scheduler(const ph_send_context* context, int slot, ph_explanation* explanation)
{
    const ph_sender* sender = context->sender;
    const ph_replicas* replicas = &sender->replicas;
    const ph_entity_index entity = context->entities[slot];
    const float distance_mm = manhattan_mm(context, entity);
    const uint32_t mileage_mm =
        context->store->entities.whereabouts[entity].mileage_mm - replicas->mileage_mm[slot];
    const float change = ph_change_of(context, slot, explanation->dirty);
    float score = replicas->score[slot];
    float priority = 0.0f;
    uint32_t note = 0;
    float memory[PH_ERROR_ARRAYS];
    const ph_error_arrays error_arrays = ph_error_arrays_make(memory, 1);
    ph_ranking_errors errors;
    const uint16_t shown = (uint16_t)slot;
    if (sender->replicas.estimates != NULL) {
        errors = ph_shown_errors_fill(&(ph_error_span){.context = context,
                                                       .first = slot,
                                                       .count = 1,
                                                       .shown = {&shown, 1},
                                                       .error_arrays = &error_arrays,
                                                       .dirty = &explanation->dirty});
        tell_errors(&error_arrays, explanation);
    }
    const ph_ranking ranking = {
        .slot_count = 1,
        .distance_mm = &distance_mm,
        .weight = &replicas->weight[slot],
        .mileage_mm = &mileage_mm,
        .dirty = &explanation->dirty,
        .score = &score,
        .priority = &priority,
        .notes = &note,
        .change = &change,
        .errors = sender->scheduler.wants_errors ? &errors : NULL,
    };
    sender->scheduler.rank(sender->scheduler.context, &ranking);
    explanation->distance_mm = (double)distance_mm;
    explanation->mileage_mm = mileage_mm;
    explanation->change = (double)change;
    explanation->priority = (double)priority;
}

// PH_EXPLAIN_... by ph_replica_state.
static ph_explain_state state_of(const ph_replicas* replicas, int slot)
{
    switch (replicas->state[slot]) {
    case PH_REPLICA_ABSENT:
        return PH_EXPLAIN_NEWCOMER;
    case PH_REPLICA_ENTERING:
        return PH_EXPLAIN_ENTERING;
    default:
        return PH_EXPLAIN_ENTERED;
    }
}

void ph_explain(const ph_send_context* context, int slot, ph_explanation* explanation)
{
    const ph_sender* sender = context->sender;
    const ph_replicas* replicas = &sender->replicas;
    const uint32_t now_ms = sender->now_ms;
    explanation->state = state_of(replicas, slot);
    explanation->slot = slot;
    explanation->dirty = ph_dirty_of(context, slot);
    explanation->weight = (double)replicas->weight[slot];
    explanation->score = (double)replicas->score[slot];
    if (explanation->state != PH_EXPLAIN_NEWCOMER) {
        explanation->since_sent_ms = now_ms - ph_replicas_at(replicas, slot)->served_ms;
    }
    if (replicas->waiting_ms[slot] != 0) {
        explanation->wait_ms = now_ms - replicas->waiting_ms[slot];
    }
    ask_scheduler(context, slot, explanation);
}

// ---- how a viewer is doing: most figures are kept as they happen; what differs is looked for when the
// game asks

// Whether this slot has something that the next send would say, if it could.
static bool is_slot_waiting(const ph_send_context* context, int slot)
{
    const ph_sender* sender = context->sender;
    const ph_replicas* replicas = &sender->replicas;
    if (ph_replicas_is_leaving(replicas, slot)) {
        return replicas->dirty[slot] != 0 && !ph_replicas_is_gone(replicas, slot);
    }
    if (!ph_send_context_is_there(context, slot)) {
        return false;
    }
    if (replicas->state[slot] == PH_REPLICA_ABSENT) {
        return true;
    }
    const ph_store* store = context->store;
    const int class_index = replicas->class_index[slot];
    const uint64_t mask = ph_sender_mask(sender, store->class_count, slot);
    uint64_t asked = ph_dirty_of(context, slot) | ph_replicas_at(replicas, slot)->out_of_range;
    if (replicas->are_references_stale) {
        asked |= store->class_info.layouts.layouts[class_index].references;
    }
    ph_place at;
    ph_diff diff;
    ph_send_context_place(context, slot, &at);
    ph_diff_compare(context, &at, asked & mask, NULL, &diff);
    return diff.different != 0;
}

// How long a slot has been waiting, if it has something to send. Milliseconds wrap after 49 days; the time of a
// send that was told late may lie before.
static double waited_ms(const ph_sender* sender, int slot)
{
    const uint32_t since_ms = sender->replicas.waiting_ms[slot];
    const uint32_t passed_ms = sender->now_ms - since_ms;
    return since_ms != 0 && passed_ms <= INT32_MAX ? passed_ms : 0.0;
}

// Only a slot that has waited for longer than those before can change the result: of hundreds, few
// are compared.
static void look_for_waiting(const ph_send_context* context, ph_viewer_stats* stats)
{
    const ph_sender* sender = context->sender;
    for (int slot = 0; slot < sender->replicas.slot_count; ++slot) {
        const double waited = waited_ms(sender, slot);
        const bool may_count = !stats->has_diff || waited > stats->longest_wait_ms;
        if (may_count && is_slot_waiting(context, slot)) {
            stats->has_diff = true;
            stats->longest_wait_ms = waited;
        }
    }
}

void ph_viewer_stats_fill(const ph_send_context* context, ph_viewer_stats* stats)
{
    const ph_sender* sender = context->sender;
    *stats = sender->stats;
    stats->sent_kbps = (double)sender->last_second_bytes * 8.0 / 1000.0;
    stats->in_flight_count = sender->flight.count;
    stats->token_bits =
        sender->is_started ? ph_token_bucket_bits(&sender->bucket) : sender->depth_bits;
    look_for_waiting(context, stats);
}
