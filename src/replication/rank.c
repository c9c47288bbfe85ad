// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What comes before the first visit of a send: what ticks have changed is propagated to the replicas, then one
// pass over the slots each for distances and paths, for references, for what waits, for how much has
// changed and for what is wrong on the client's screen; then the scheduler ranks. Sweeps over arrays
// by slot, most of them in vectors: a few microseconds for 250 slots.

#include "replication/send.h"

#include "base/bitset.h"
#include "base/math.h"
#include "base/compiler.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// Entities lie here and there: what is wanted of them is first laid side by side, so many slots at a
// time, and then measured by loops that compilers turn into vectors.
enum { SCAN_SLOTS = 64 };

// An entity that stands is sent again when it would be shown this far away: two steps of the usual
// coding. From 16 to 100 mm nothing changes by more than a hundredth.
#define OVERSHOOT_MM 32.0f
// And one that has stopped turning, when it would be shown turned by more than half a degree.
#define OVERSHOOT_RADIANS 0.0087f

// ---- what ticks leave for sends

void ph_propagate_vision(const ph_store* store, ph_sender* sender, const ph_vision* sight)
{
    ph_replicas* replicas = &sender->replicas;
    for (int i = 0; i < sight->leave_count; ++i) {
        ph_replicas_leave(replicas, sight->leaves[i]);
    }
    for (int i = 0; i < sight->enter_count; ++i) {
        const int slot = sight->enters[i];
        const ph_entity_index entity = sight->entities[slot];
        const ph_whereabouts* where = &store->entities.whereabouts[entity];
        const int class_index = store->entities.class_index[entity];
        ph_replicas_enter(replicas, slot, class_index,
                          store->class_info.layouts.layouts[class_index].all);
        // What the entity did before it came into view leaves no trace.
        ph_replicas_at(replicas, slot)->since_tick = store->tick;
        ph_replicas_at(replicas, slot)->stir = where->stir;
        replicas->mileage_mm[slot] = where->mileage_mm;
        replicas->weight[slot] =
            ph_hints_weight(&sender->hints, ph_entities_id(&store->entities, entity));
    }
}

// Newcomers are sent as a whole; bits that are set for them too do no harm, whatever the tick.
void ph_propagate_dirty(const ph_store* store, ph_sender* sender, const ph_slots* slots,
                        uint32_t last_tick)
{
    const uint32_t tick_count = last_tick - sender->propagated_tick;
    sender->propagated_tick = last_tick;
    const ph_slot_list shown = ph_slots_shown(slots);
    if (tick_count == 0 || shown.count == 0) {
        return;
    }
    const uint64_t* changes = ph_entities_recent(&store->entities, tick_count);
    const ph_entity_index* shows = ph_slots_sight(slots).entities;
    const uint8_t* class_index = sender->replicas.class_index;
    uint64_t* restrict dirty = sender->replicas.dirty;
    const uint64_t* masks = sender->masks;
    const bool has_own = shown.slots[0] == 0;
    if (has_own) {
        dirty[0] |= changes[shows[0]] & ph_sender_mask(sender, store->class_count, 0);
    }
    for (int i = has_own; i < shown.count; ++i) {
        const size_t slot = shown.slots[i];
        dirty[slot] |= changes[shows[slot]] & masks[class_index[slot]];
    }
}

uint64_t ph_dirty_of(const ph_send_context* context, int slot)
{
    const ph_sender* sender = context->sender;
    const ph_store* store = context->store;
    const ph_entity_index entity = context->entities[slot];
    const uint64_t dirty = sender->replicas.dirty[slot];
    const uint32_t tick_count = store->tick - sender->propagated_tick;
    if (entity == PH_ENTITY_NONE) {
        return dirty;
    }
    const uint64_t changes =
        tick_count > 0 ? ph_entities_recent(&store->entities, tick_count)[entity] : 0;
    const uint64_t all = dirty | (changes & ph_sender_mask(sender, store->class_count, slot));
    return sender->replicas.estimates != NULL && sender->replicas.estimates->smooth.parts > 0
               ? ph_smooth_judge(context, slot, all).dirty
               : all;
}

// ---- distances and paths

typedef struct scan_section {
    int first; // slot
    int count;
    uint32_t whereabouts[SCAN_SLOTS][4];
    uint32_t is_awake[SCAN_SLOTS]; // came near enough for something more, if it is there
} scan_section;

// The first 16 bytes of an entity's whereabouts: a load and a store each.
enum { PLACE_X, PLACE_Y, PLACE_Z, PLACE_MILEAGE };
_Static_assert(offsetof(ph_whereabouts, mileage_mm) == PLACE_MILEAGE * sizeof(uint32_t),
               "the path stands behind the position");

// Distance and path of the slots in the scan_section. @return Whether any is awake.
PH_ALWAYS_INLINE bool measure_section(ph_sending* send, scan_section* in)
{
    const ph_replicas* replicas = &send->sender->replicas;
    const ph_whereabouts* all = send->context->store->entities.whereabouts;
    const ph_entity_index* shows = send->context->entities + in->first;
    const int count = in->count;
    for (int i = 0; i < count; ++i) {
        // Of any entity where none is shown: it does not count.
        const ph_entity_index entity = shows[i] != PH_ENTITY_NONE ? shows[i] : 0;
        memcpy(in->whereabouts[i], &all[entity], sizeof in->whereabouts[i]);
    }
    const uint32_t* sent_mm = replicas->mileage_mm + in->first;
    const float* wake_mm2 = replicas->wake_mm2 + in->first;
    float* restrict distance_mm = send->distance_mm + in->first;
    uint32_t* restrict mileage_mm = send->mileage_mm + in->first;
    const int32_t eye_x_mm = send->context->eye_x_mm;
    const int32_t eye_y_mm = send->context->eye_y_mm;
    uint32_t are_awake = 0;
    for (int i = 0; i < count; ++i) {
        const uint32_t is_free = ph_bits_if(shows[i] == PH_ENTITY_NONE);
        const uint32_t* at = in->whereabouts[i];
        const float dx = (float)ph_difference_mm((int32_t)at[PLACE_X], eye_x_mm);
        const float dy = (float)ph_difference_mm((int32_t)at[PLACE_Y], eye_y_mm);
        const float manhattan_mm = fabsf(dx) + fabsf(dy);
        const float least_mm = is_free ? INFINITY : 1.0f;
        const uint32_t walked_mm = at[PLACE_MILEAGE] - sent_mm[i];
        distance_mm[i] = manhattan_mm > least_mm ? manhattan_mm : least_mm;
        mileage_mm[i] = walked_mm & ~is_free;
        const uint32_t is_near = ph_bits_if(dx * dx + dy * dy <= wake_mm2[i]);
        in->is_awake[i] = is_near & ph_bits_if(wake_mm2[i] > 0.0f) & ~is_free;
        are_awake |= in->is_awake[i];
    }
    return are_awake != 0;
}

// What was out of range may differ in range now: it is dirty.
static void wake_section(ph_sending* send, const scan_section* in)
{
    ph_replicas* replicas = &send->sender->replicas;
    for (int i = 0; i < in->count; ++i) {
        const int slot = in->first + i;
        if (in->is_awake[i] == 0 || !ph_send_context_is_there(send->context, slot)) {
            continue;
        }
        ph_replica* replica = ph_replicas_at(replicas, slot);
        replicas->dirty[slot] |= replica->out_of_range;
        replicas->wake_mm2[slot] = 0.0f;
        replica->out_of_range = 0;
    }
}

PH_WIDE static void scan_places(ph_sending* send)
{
    const ph_send_context* context = send->context;
    const int slot_end = context->slot_end;
    scan_section in;
    for (in.first = 0; in.first < slot_end; in.first += SCAN_SLOTS) {
        const int left = slot_end - in.first;
        in.count = left < SCAN_SLOTS ? left : SCAN_SLOTS;
        if (measure_section(send, &in)) {
            wake_section(send, &in);
        }
    }
    // An entity that the client has never heard of has gone no way since; one that is not there is
    // nowhere.
    const bool has_newcomers = send->sender->replicas.newcomer_count > 0;
    for (int slot = 0; (has_newcomers || !context->are_all_there) && slot < slot_end; ++slot) {
        const bool is_absent = !context->are_all_there && !ph_send_context_is_there(context, slot);
        if (is_absent || send->sender->replicas.state[slot] == PH_REPLICA_ABSENT) {
            send->mileage_mm[slot] = 0;
        }
        send->distance_mm[slot] = is_absent ? INFINITY : send->distance_mm[slot];
    }
}

// ---- references

// References of a slot that may map to another slot than before.
static uint64_t suspect_references(const ph_send_context* context, int slot, uint64_t references,
                                   bool is_stale)
{
    const ph_replicas* replicas = &context->sender->replicas;
    if (!is_stale || replicas->points[slot]) {
        return is_stale ? references : replicas->dirty[slot] & references;
    }
    const ph_store* store = context->store;
    const ph_table* table = &store->tables[replicas->class_index[slot]];
    const uint32_t row = store->entities.whereabouts[context->entities[slot]].row;
    uint64_t suspect = replicas->dirty[slot] & references;
    for (uint64_t left = references; left != 0; left &= left - 1) {
        const bool is_named = *ph_table_value(table, ph_word_lowest_bit(left), row) != 0;
        suspect |= is_named ? left & -left : 0;
    }
    return suspect;
}

// References are compared at once, not when their turn comes: that one has changed from an unseen
// entity to another must not even count as waiting.
static void settle_references(const ph_send_context* context, int slot, uint64_t references,
                              bool is_stale)
{
    ph_replicas* replicas = &context->sender->replicas;
    const int state = replicas->state[slot];
    references &= ph_sender_mask(context->sender, context->store->class_count, slot);
    if (references == 0 || (state != PH_REPLICA_ENTERING && state != PH_REPLICA_ENTERED)) {
        return;
    }
    if (!ph_send_context_is_there(context, slot)) {
        replicas->dirty[slot] &= ~references; // all are stale until it can be asked again
        return;
    }
    const uint64_t asked = suspect_references(context, slot, references, is_stale);
    ph_place at;
    ph_diff diff;
    ph_send_context_place(context, slot, &at);
    ph_diff_compare(context, &at, asked, NULL, &diff);
    ph_diff_keep(replicas, &at, asked, &diff);
}

// Of newcomers, which are sent as a whole, everything is dirty: they do not count.
PH_WIDE static uint64_t dirty_of_known(const ph_replicas* replicas, int slot_end)
{
    const uint8_t* state = replicas->state;
    uint64_t dirty = 0;
    for (int slot = 0; slot < slot_end; ++slot) {
        dirty |= replicas->dirty[slot] & -(uint64_t)(state[slot] != PH_REPLICA_ABSENT);
    }
    return dirty;
}

// Whether an entity that is shown is gone, or hidden from this viewer, since the tick. That some entity is,
// which the viewer may never have seen, must change nothing.
static bool has_absent(const ph_send_context* context)
{
    for (int i = 0; !context->are_all_there && i < context->shown.count; ++i) {
        if (!ph_send_context_is_there(context, context->shown.slots[i])) {
            return true;
        }
    }
    return false;
}

void ph_scan_references(const ph_send_context* context)
{
    ph_replicas* replicas = &context->sender->replicas;
    const ph_store* store = context->store;
    const ph_layout* layouts = store->class_info.layouts.layouts;
    const int slot_end = context->slot_end;
    uint64_t of_all = 0;
    for (int i = 0; i < store->class_count; ++i) {
        of_all |= layouts[i].references;
    }
    // Whether any entity at all refers to another, or did in what a client was sent.
    const bool has_pointers = store->entities.referring_count > 0 ||
                              memchr(replicas->points, 1, (size_t)slot_end) != NULL;
    const bool is_stale = replicas->are_references_stale;
    // An entity that is not there is passed over, and so is what points at it; it may be back before
    // the next tick.
    replicas->are_references_stale = has_absent(context);
    if (!(is_stale && has_pointers) && (dirty_of_known(replicas, slot_end) & of_all) == 0) {
        return; // as most of the time
    }
    const uint8_t* refers = store->entities.refers;
    const uint8_t stale = is_stale ? UINT8_MAX : 0;
    for (int i = 0; i < context->shown.count; ++i) {
        const int slot = context->shown.slots[i];
        // What refers to nothing, and did not when it was last sent, need not be looked at.
        const uint64_t points = (refers[context->entities[slot]] | replicas->points[slot]) & stale;
        const uint64_t references = layouts[replicas->class_index[slot]].references;
        if (references != 0 && ((replicas->dirty[slot] & references) | points) != 0) {
            settle_references(context, slot, references, is_stale);
        }
    }
}

// ---- what waits

// An entity that was entered, and should have been acked by now, waits for its turn like others.
static void scan_late_acks(const ph_sending* send)
{
    const ph_slot_list shown = send->context->shown;
    ph_replicas* replicas = &send->sender->replicas;
    const ph_layout* layouts = send->context->store->class_info.layouts.layouts;
    for (int i = 0; i < shown.count; ++i) {
        const int slot = shown.slots[i];
        if (replicas->state[slot] == PH_REPLICA_ENTERING &&
            ph_sender_is_ack_late(send->sender, slot)) {
            replicas->dirty[slot] |= layouts[replicas->class_index[slot]].position;
        }
    }
}

// Only what is in view waits; leaves have a stage of their own.
PH_WIDE static void scan_waiting(ph_sending* send)
{
    const ph_entity_index* shows = send->context->entities;
    const uint64_t* dirty = send->sender->replicas.dirty;
    uint32_t* restrict waiting_ms = send->sender->replicas.waiting_ms;
    const int slot_end = send->context->slot_end;
    const uint32_t now_ms = send->now_ms;
    const uint32_t max_starve_ms = send->sender->max_starve_ms;
    int overdue_count = 0;
    int dirty_count = 0;
    for (int slot = 0; slot < slot_end; ++slot) {
        // Halves, because vectors of whole words are not compared everywhere.
        const uint32_t either = (uint32_t)(dirty[slot] | dirty[slot] >> 32);
        const bool is_dirty = (either != 0) & (shows[slot] != PH_ENTITY_NONE);
        const uint32_t since_ms = waiting_ms[slot] != 0 ? waiting_ms[slot] : now_ms;
        waiting_ms[slot] = is_dirty ? since_ms : 0;
        overdue_count += is_dirty & (now_ms - since_ms > max_starve_ms);
        dirty_count += is_dirty;
    }
    send->overdue_count = overdue_count;
    send->dirty_count = dirty_count;
}

void ph_scan_slots(ph_sending* send)
{
    scan_places(send);
    if (send->sender->ack_wait_ms != 0 && send->sender->flight.count > 0) {
        scan_late_acks(send);
    }
    ph_scan_references(send->context);
    scan_waiting(send);
}

// ---- change

// How much beside the position has changed of an entity since it was sent. Values are not compared:
// each entity sums up its changes as it does its path, and each replica knows the sum of when it was
// last sent in full. Where errors are ranked a heading has its own, and counts only beside
// something else; an orientation never counts then.
float ph_change_of(const ph_send_context* context, int slot, uint64_t dirty)
{
    const ph_sender* sender = context->sender;
    const ph_class_info* class_info = &context->store->class_info;
    const int class_index = sender->replicas.class_index[slot];
    const ph_layout* layout = &class_info->layouts.layouts[class_index];
    const uint64_t heading = sender->scheduler.wants_errors ? layout->facing : 0;
    const uint64_t others = dirty & ~layout->position;
    if ((others & ~heading) == 0 || context->entities[slot] == PH_ENTITY_NONE) {
        return 0.0f;
    }
    const ph_replica* replica = ph_replicas_at(&sender->replicas, slot);
    const uint64_t stirring = class_info->stirring[class_index];
    // What is not in the sum, or was taken out of it when it was sent: once each.
    const uint64_t orientation = heading & layout->orientation;
    const uint64_t counted = others & ~orientation & (~stirring | replica->lost);
    const uint32_t path =
        context->store->entities.whereabouts[context->entities[slot]].stir - replica->stir;
    const float stirred = (others & stirring) != 0 ? (float)path / PH_STIR_UNIT : 0.0f;
    return stirred + (float)ph_word_count_bits(counted);
}

// ---- priorities

// An entity that stands where it was last sent, but is going to be shown elsewhere, is sent again.
// The error alone does not say so: rounded altitudes are always wrong by a little.
static void find_overshoots(ph_sending* send)
{
    const ph_replicas* replicas = &send->sender->replicas;
    const ph_layout* layouts = send->context->store->class_info.layouts.layouts;
    const uint8_t* state = replicas->state;
    const uint8_t* class_index = replicas->class_index;
    const float* error_mm = send->error_arrays.error_mm;
    const float* extrapolated_mm = send->error_arrays.extrapolated_mm;
    uint8_t* restrict overshoots = send->sender->replicas.overshoots;
    uint64_t* restrict dirty = replicas->dirty;
    const int slot_end = send->context->slot_end;
    for (int slot = 0; slot < slot_end; ++slot) {
        overshoots[slot] =
            (uint8_t)((state[slot] == PH_REPLICA_ENTERED) & (error_mm[slot] > OVERSHOOT_MM) &
                      (extrapolated_mm[slot] > OVERSHOOT_MM));
        // Unpredictable branch: use a mask.
        dirty[slot] |= layouts[class_index[slot]].position & -(uint64_t)overshoots[slot];
    }
}

// The same of one that the client turns on, though it has come to rest as it was last sent.
static void find_turned_overshoots(ph_sending* send)
{
    const ph_replicas* replicas = &send->sender->replicas;
    const ph_layout* layouts = send->context->store->class_info.layouts.layouts;
    const ph_slot_list shown = send->context->shown;
    for (int i = 0; i < shown.count; ++i) {
        const int slot = shown.slots[i];
        const uint64_t orientation = layouts[replicas->class_index[slot]].orientation;
        if (orientation != 0 && replicas->state[slot] == PH_REPLICA_ENTERED &&
            send->error_arrays.rotation_rad[slot] > OVERSHOOT_RADIANS &&
            send->error_arrays.spun_mm[slot] > 0.0f) {
            replicas->overshoots[slot] |= PH_OVERSHOOT_ROTATION;
            replicas->dirty[slot] |= orientation;
        }
    }
}

void ph_rank_slots(ph_sending* send)
{
    const ph_send_context* context = send->context;
    const ph_replicas* replicas = &send->sender->replicas;
    const ph_scheduler* scheduler = &send->sender->scheduler;
    const bool has_change = scheduler->wants_change || scheduler->wants_errors;
    for (int slot = 0; has_change && slot < context->slot_end; ++slot) {
        send->change[slot] = ph_change_of(context, slot, replicas->dirty[slot]);
    }
    if (send->sender->replicas.estimates != NULL) {
        if (send->sender->replicas.estimates->turns.watches != NULL) {
            ph_turn_watch_all(context);
        }
        send->errors = ph_shown_errors_fill(&(ph_error_span){
            .context = context,
            .count = context->slot_end,
            .shown = context->shown,
            .error_arrays = &send->error_arrays,
            .dirty = replicas->dirty,
        });
        find_overshoots(send);
        if (send->errors.rotation_mm != NULL) {
            find_turned_overshoots(send);
        }
    }
    const ph_ranking ranking = {
        .slot_count = context->slot_end,
        .distance_mm = send->distance_mm,
        .weight = replicas->weight,
        .mileage_mm = send->mileage_mm,
        .dirty = replicas->dirty,
        .score = replicas->score,
        .priority = send->priority,
        .notes = send->notes,
        .change = has_change ? send->change : NULL,
        .errors = scheduler->wants_errors ? &send->errors : NULL,
    };
    scheduler->rank(scheduler->context, &ranking);
}
