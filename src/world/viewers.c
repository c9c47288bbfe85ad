// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The table of viewers, and the refresh of those whose turn it is, once per tick: which entities are
// near is vision/nearby.c's to say, which enter and leave is decided by vision/slots.c. Here is which
// viewers must look before their turn, and that the replicas hear of what came and went.

#include "world/viewers.h"

#include "base/allocator.h"
#include "replication/send.h"
#include "vision/select.h"

#include <stdatomic.h>
#include <string.h>

// ---- memory

ph_result ph_viewers_create(ph_viewers* viewers, const ph_allocator* allocator, int capacity)
{
    *viewers = (ph_viewers){.allocator = *allocator, .ids = {.allocator = *allocator}};
    const ph_result result = ph_viewers_reserve(viewers, capacity);
    if (result != PH_OK) {
        ph_viewers_destroy(viewers);
    }
    return result;
}

static void release_viewer_arrays(ph_viewers* viewers)
{
    const size_t capacity = (size_t)viewers->capacity;
    ph_release_array(&viewers->allocator, viewers->eyes, capacity, sizeof(ph_eye));
    ph_release_array(&viewers->allocator, viewers->viewers, capacity, sizeof(ph_viewer));
}

void ph_viewers_destroy(ph_viewers* viewers)
{
    for (int i = 0; i < viewers->ids.used_count; ++i) {
        ph_slots_destroy(viewers->viewers[i].slots);
        ph_sender_destroy(viewers->viewers[i].sender);
    }
    release_viewer_arrays(viewers);
    ph_id_pool_destroy(&viewers->ids);
    *viewers = (ph_viewers){0};
}

ph_result ph_viewers_reserve(ph_viewers* viewers, int capacity)
{
    if (capacity <= viewers->capacity) {
        return PH_OK;
    }
    if (ph_id_pool_reserve(&viewers->ids, capacity) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    ph_viewers grown = *viewers;
    grown.capacity = capacity;
    grown.eyes = ph_allocate_array(&viewers->allocator, (size_t)capacity, sizeof(ph_eye));
    grown.viewers = ph_allocate_array(&viewers->allocator, (size_t)capacity, sizeof(ph_viewer));
    if (grown.eyes == NULL || grown.viewers == NULL) {
        release_viewer_arrays(&grown);
        return PH_ERROR_MEMORY;
    }
    const size_t used = (size_t)viewers->ids.used_count;
    if (used > 0) {
        memcpy(grown.eyes, viewers->eyes, used * sizeof(ph_eye));
        memcpy(grown.viewers, viewers->viewers, used * sizeof(ph_viewer));
    }
    release_viewer_arrays(viewers);
    *viewers = grown;
    return PH_OK;
}

bool ph_viewers_is_full(const ph_viewers* viewers)
{
    return viewers->ids.live_count + viewers->ids.retired_count >= viewers->capacity;
}

ph_id ph_viewers_add(ph_viewers* viewers, const ph_viewer* viewer, const ph_eye* eye)
{
    PH_ASSERT(!ph_viewers_is_full(viewers));

    const ph_id id = ph_id_pool_take(&viewers->ids);
    const int index = ph_id_index(id);
    viewers->viewers[index] = *viewer;
    viewers->viewers[index].id = (ph_viewer_id){.index1 = id.index1, .generation = id.generation};
    viewers->viewers[index].is_urgent = true;
    viewers->eyes[index] = *eye;
    viewers->eyes[index].viewer = (uint32_t)index;
    return id;
}

void ph_viewers_remove(ph_viewers* viewers, ph_id id)
{
    ph_viewer* viewer = &viewers->viewers[ph_id_index(id)];
    viewers->stats.slot_waits += ph_slots_waits(viewer->slots);
    ph_slots_destroy(viewer->slots);
    ph_sender_destroy(viewer->sender);
    *viewer = (ph_viewer){0};
    ph_id_pool_give_back(&viewers->ids, id);
}

// ---- the tick

void ph_viewers_look_from(ph_viewers* viewers, uint32_t viewer, const int32_t eye_mm[3],
                          int64_t far_mm)
{
    ph_eye* eye = &viewers->eyes[viewer];
    const uint64_t distance2 = ph_distance2(eye->x_mm, eye->y_mm, eye_mm[0], eye_mm[1]);
    // No way is as long as 2^32 mm, whose square would not fit.
    if (far_mm <= UINT32_MAX && distance2 > (uint64_t)far_mm * (uint64_t)far_mm) {
        viewers->viewers[viewer].has_leapt = true;
    }
    eye->x_mm = eye_mm[0];
    eye->y_mm = eye_mm[1];
    viewers->viewers[viewer].eye_z_mm = eye_mm[2];
}

void ph_viewers_follow(ph_viewers* viewers, uint32_t viewer, const ph_entities* entities)
{
    ph_eye* eye = &viewers->eyes[viewer];
    const ph_entity_id own = viewers->viewers[viewer].own;
    eye->own = ph_entities_find(entities, own);
    // It may have moved and died since the last tick: then it rests, where it died.
    const ph_entity_index place = ph_entities_find_or_resting(entities, own);
    if (place != PH_ENTITY_NONE) {
        ph_viewers_look_from(viewers, viewer, entities->whereabouts[place].position_mm,
                             entities->far_mm);
    }
}

// Whether what this slot shows is gone, or hidden from all viewers but its own.
static bool is_vanished(const ph_entities* entities, const ph_eye* eye, int slot,
                        ph_entity_index entity)
{
    return entities->spawn_order[entity] == UINT64_MAX ||
           (slot != 0 && ((entities->flags[entity] & PH_SEEN_NEVER) != 0 ||
                          (entities->seen_by[entity] & eye->sees) == 0));
}

static bool shows_vanished_anywhere(const ph_slots* slots, const ph_entities* entities,
                                    const ph_eye* eye)
{
    const ph_vision sight = ph_slots_sight(slots);
    for (int slot = 0; slot < sight.slot_count; ++slot) {
        const ph_entity_index entity = sight.entities[slot];
        if (entity != PH_ENTITY_NONE && is_vanished(entities, eye, slot, entity)) {
            return true;
        }
    }
    return false;
}

static bool shows_vanished_of(const ph_slots* slots, const ph_entities* entities, const ph_eye* eye,
                              const ph_entity_index* list, int count)
{
    for (int i = 0; i < count; ++i) {
        const int slot = ph_slots_find(slots, list[i]);
        if (slot >= 0 && is_vanished(entities, eye, slot, list[i])) {
            return true;
        }
    }
    return false;
}

// A viewer that waits for its turn must not go on showing what is gone or hidden since: the first
// because the index will soon be another entity's, the second because what may not be seen is not
// sent. A game's own callback is not asked: its results change without notice, and count from the
// next turn. Few vanish in a tick, and most of them far away: each is looked up, which costs about
// as much as looking at one slot.
static bool shows_vanished(const ph_viewers* viewers, uint32_t viewer, const ph_entities* entities)
{
    const int64_t asked_count =
        (int64_t)entities->resting_count + entities->visibility_changed_count;
    if (asked_count == 0) {
        return false; // without a look at the slots, which are cold
    }
    const ph_slots* slots = viewers->viewers[viewer].slots;
    const ph_eye* eye = &viewers->eyes[viewer];
    if (entities->have_more_visibility_changed || asked_count > ph_slots_sight(slots).slot_count) {
        return shows_vanished_anywhere(slots, entities, eye);
    }
    return shows_vanished_of(slots, entities, eye, entities->resting, entities->resting_count) ||
           shows_vanished_of(slots, entities, eye, entities->visibility_changed,
                             entities->visibility_changed_count);
}

// Whether an entity that has arrived came into the reach of newcomers, may be seen and is not shown yet.
// Distances first: slots are cold, and of many that arrive most are far away.
static bool misses_arrival(const ph_viewer* viewer, const ph_eye* eye, const ph_entities* entities,
                           const ph_entity_arrays* arrays)
{
    const uint64_t enter2 = viewer->view.enter.distance2;
    for (int i = 0; i < entities->arrived_count; ++i) {
        const ph_entity_index entity = entities->arrived[i];
        const uint64_t distance2 =
            ph_distance2(arrays->x_mm[entity], arrays->y_mm[entity], eye->x_mm, eye->y_mm);
        if ((distance2 < enter2 || (arrays->flags[entity] & PH_SEEN_ALWAYS) != 0) &&
            arrays->spawn_order[entity] != UINT64_MAX && // it may have died since
            ph_slots_find(viewer->slots, entity) < 0 && ph_eye_may_see(eye, arrays, entity)) {
            return true;
        }
    }
    return false;
}

static bool is_lost_to(const ph_viewer* viewer, const ph_eye* eye, const ph_entity_arrays* arrays,
                       ph_entity_index entity)
{
    return (arrays->flags[entity] & PH_SEEN_ALWAYS) == 0 &&
           arrays->spawn_order[entity] != UINT64_MAX &&
           ph_distance2(arrays->x_mm[entity], arrays->y_mm[entity], eye->x_mm, eye->y_mm) >
               viewer->view.wide.distance2;
}

// Whether an entity that is shown went out of reach at once. Of those that have arrived or of those that are
// shown the fewer are looked at.
static bool shows_departed(const ph_viewer* viewer, const ph_eye* eye, const ph_entities* entities,
                           const ph_entity_arrays* arrays)
{
    const ph_vision sight = ph_slots_sight(viewer->slots);
    if (entities->arrived_count <= sight.slot_count) {
        for (int i = 0; i < entities->arrived_count; ++i) {
            const ph_entity_index entity = entities->arrived[i];
            if (is_lost_to(viewer, eye, arrays, entity) &&
                ph_slots_find(viewer->slots, entity) >= 0) {
                return true;
            }
        }
        return false;
    }
    for (int slot = 0; slot < sight.slot_count; ++slot) {
        const ph_entity_index entity = sight.entities[slot];
        if (entity != PH_ENTITY_NONE && entities->has_arrived[entity] != 0 &&
            is_lost_to(viewer, eye, arrays, entity)) {
            return true;
        }
    }
    return false;
}

// Whether an entity has come into view or left it at once: spawned, shown to more, or by a jump; or the eye
// itself has leapt. An entity that comes step by step is seen when it is the viewer's turn. What the viewer may
// not see leaves no trace in when it is refreshed.
static bool sees_arrival(const ph_viewers* viewers, uint32_t viewer, const ph_entities* entities,
                         const ph_entity_arrays* arrays)
{
    const ph_viewer* seer = &viewers->viewers[viewer];
    const ph_eye* eye = &viewers->eyes[viewer];
    return seer->has_leapt ||
           (entities->arrived_count > 0 && (misses_arrival(seer, eye, entities, arrays) ||
                                            shows_departed(seer, eye, entities, arrays)));
}

static bool is_turn(uint32_t viewer, const ph_refresh* refresh)
{
    return (viewer + refresh->store->tick) % (uint32_t)refresh->vision->refresh_ticks == 0;
}

// Whether what a viewer shows may be gone, or hidden.
static bool may_show_vanished(const ph_viewers* viewers, uint32_t viewer,
                              const ph_entities* entities)
{
    return viewers->viewers[viewer].is_urgent || shows_vanished(viewers, viewer, entities);
}

// ---- all viewers, a range at a time

// Viewers that one thread takes at a time. Those of a range share the candidate lists of their groups,
// so fewer would make lists more often; more would leave threads without work at the end.
enum { RANGE_VIEWERS = 256 };

// What is done for all viewers, and by how many jobs. Each job has a question of its own, and takes the
// next range until none is left. Which range falls to which job changes no result: a range begins
// with nothing prepared, and a viewer changes nothing but its own.
typedef struct viewer_pass {
    ph_viewers* viewers;
    const ph_refresh* refresh;
    ph_entity_arrays arrays;
    const uint32_t* order; // NULL: by index
    int count;             // of the order, or of indexes
    void (*visit)(const struct viewer_pass* pass, uint32_t viewer, int question);
    atomic_int next; // range that no job has taken
} viewer_pass;

static void visit_range(viewer_pass* pass, int first, int question)
{
    const int end = ph_least(first + RANGE_VIEWERS, pass->count);
    ph_nearby_begin(pass->refresh->nearby, question);
    for (int i = first; i < end; ++i) {
        const uint32_t viewer = pass->order != NULL ? pass->order[i] : (uint32_t)i;
        if (pass->viewers->viewers[viewer].slots != NULL) {
            pass->visit(pass, viewer, question);
        }
    }
}

// A job.
static void visit_ranges(void* context, int question)
{
    viewer_pass* pass = context;
    const int range_count = (pass->count + RANGE_VIEWERS - 1) / RANGE_VIEWERS;
    int range = atomic_fetch_add_explicit(&pass->next, 1, memory_order_relaxed);
    while (range < range_count) {
        visit_range(pass, range * RANGE_VIEWERS, question);
        range = atomic_fetch_add_explicit(&pass->next, 1, memory_order_relaxed);
    }
}

// One range is not worth waking a thread.
static void run_pass(viewer_pass* pass)
{
    const ph_refresh* refresh = pass->refresh;
    if (refresh->run_jobs == NULL || refresh->nearby->question_count == 1 ||
        pass->count <= RANGE_VIEWERS) {
        visit_ranges(pass, 0);
        return;
    }
    refresh->run_jobs(refresh->run_jobs_context, refresh->nearby->question_count, visit_ranges,
                      pass);
}

// ---- the refresh

static void refresh_one(const viewer_pass* pass, uint32_t index, int question, bool is_calm)
{
    const ph_refresh* refresh = pass->refresh;
    ph_viewer* viewer = &pass->viewers->viewers[index];
    const ph_eye* wider = &pass->viewers->eyes[index];
    ph_eye exact = *wider;
    exact.radius_mm = viewer->radius_mm;
    exact.wanted = viewer->visible_max;
    ph_question* found =
        ph_nearby_ask(refresh->nearby, question, &pass->arrays, wider, exact.wanted, &viewer->view);
    exact.visibility = found->visibility;
    ph_slots_step step = {
        .arrays = &pass->arrays,
        .eye = &exact,
        .view = &viewer->view,
        .newcomers = found->seen,
        .tick = refresh->store->tick,
        .stay_ticks = refresh->vision->stay_ticks,
        // What the game refuses is not among the ALWAYS ones that are counted, and may be shown still.
        .is_calm = is_calm && found->always_count == 0 && wider->callback == NULL,
        .is_chained = viewer->sender->is_pinhole,
    };
    const int missing = ph_slots_judge(viewer->slots, &step);
    if (missing > 0) {
        step.newcomer_count =
            ph_question_find_newcomers(found, &viewer->view, viewer->slots, missing);
    }
    ph_slots_refresh(viewer->slots, &step);
    const ph_vision sight = ph_slots_sight(viewer->slots);
    viewer->refreshed_tick = refresh->store->tick;
    viewer->is_sight_new = sight.enter_count + sight.leave_count > 0;
    viewer->is_urgent = false;
    viewer->has_leapt = false;
}

static void refresh_if_due(const viewer_pass* pass, uint32_t viewer, int question)
{
    const ph_entities* entities = &pass->refresh->store->entities;
    const bool is_calm = !may_show_vanished(pass->viewers, viewer, entities);
    if (!is_calm || is_turn(viewer, pass->refresh) ||
        sees_arrival(pass->viewers, viewer, entities, &pass->arrays)) {
        refresh_one(pass, viewer, question, is_calm);
    }
}

static void follow_all(ph_viewers* viewers, const ph_entities* entities)
{
    for (uint32_t i = 0; i < (uint32_t)viewers->ids.used_count; ++i) {
        if (viewers->viewers[i].slots != NULL) {
            ph_viewers_follow(viewers, i, entities);
        }
    }
}

static void count_refreshes(ph_viewers* viewers, uint32_t tick)
{
    for (int i = 0; i < viewers->ids.used_count; ++i) {
        const ph_viewer* viewer = &viewers->viewers[i];
        if (viewer->slots == NULL || viewer->refreshed_tick != tick) {
            continue;
        }
        ++viewers->stats.refreshes;
        if (viewer->is_sight_new) {
            const ph_vision sight = ph_slots_sight(viewer->slots);
            viewers->stats.enters += (uint64_t)sight.enter_count;
            viewers->stats.leaves += (uint64_t)sight.leave_count;
        }
    }
}

void ph_viewers_refresh(ph_viewers* viewers, const ph_refresh* refresh)
{
    const ph_entities* entities = &refresh->store->entities;
    follow_all(viewers, entities);
    viewer_pass pass = {
        .viewers = viewers,
        .refresh = refresh,
        .arrays = ph_entities_arrays(entities),
        .visit = refresh_if_due,
    };
    ph_nearby_sort(refresh->nearby, &pass.arrays, viewers->eyes);
    // An order names the living only; without one, the index goes over all that ever were.
    pass.order = ph_nearby_order(refresh->nearby);
    pass.count = pass.order != NULL ? viewers->ids.live_count : viewers->ids.used_count;
    run_pass(&pass);
    count_refreshes(viewers, refresh->store->tick);
}

static void propagate_one(const viewer_pass* pass, uint32_t index, int question)
{
    (void)question;
    const ph_store* store = pass->refresh->store;
    const ph_viewer* viewer = &pass->viewers->viewers[index];
    if (viewer->refreshed_tick == store->tick && viewer->is_sight_new) {
        const ph_vision sight = ph_slots_sight(viewer->slots);
        ph_propagate_vision(store, viewer->sender, &sight);
    }
    if (store->tick - viewer->sender->propagated_tick > PH_RECENT_TICKS) {
        ph_propagate_dirty(store, viewer->sender, viewer->slots, store->tick - 1);
    }
}

void ph_viewers_propagate(ph_viewers* viewers, const ph_refresh* refresh)
{
    viewer_pass pass = {
        .viewers = viewers,
        .refresh = refresh,
        .count = viewers->ids.used_count,
        .visit = propagate_one,
    };
    run_pass(&pass);
}

// ---- soundness

// Whether the slots and what the client was told of them agree.
static bool are_replicas_sound(const ph_viewer* viewer)
{
    const ph_vision sight = ph_slots_sight(viewer->slots);
    const ph_replicas* replicas = &viewer->sender->replicas;
    int newcomer_count = 0;
    for (int slot = 0; slot < sight.slot_count; ++slot) {
        const ph_slot_state state = ph_slots_state(viewer->slots, slot);
        const bool is_leaving = ph_replicas_is_leaving(replicas, slot);
        if (is_leaving != (state == PH_SLOT_RESTING) ||
            (state == PH_SLOT_FREE && replicas->state[slot] != PH_REPLICA_ABSENT)) {
            return false;
        }
        newcomer_count += state == PH_SLOT_SHOWN && replicas->state[slot] == PH_REPLICA_ABSENT;
    }
    return sight.slot_count == replicas->slot_count && newcomer_count == replicas->newcomer_count;
}

static bool is_viewer_sound(const ph_viewers* viewers, int index, const ph_entities* entities)
{
    const ph_viewer* viewer = &viewers->viewers[index];
    const ph_eye* eye = &viewers->eyes[index];
    if (eye->viewer != (uint32_t)index || eye->wanted < viewer->visible_max ||
        eye->radius_mm < viewer->radius_mm || !ph_slots_validate(viewer->slots) ||
        !ph_sender_validate(viewer->sender) || !are_replicas_sound(viewer)) {
        return false;
    }
    const ph_vision sight = ph_slots_sight(viewer->slots);
    for (int slot = 0; slot < sight.slot_count; ++slot) {
        const ph_entity_index entity = sight.entities[slot];
        // A live entity, or one with an index that still rests.
        if (entity != PH_ENTITY_NONE && (entity >= (uint32_t)entities->capacity ||
                                         ph_id_pool_at(&entities->ids, (int)entity).index1 == 0)) {
            return false;
        }
    }
    return true;
}

bool ph_viewers_validate(const ph_viewers* viewers, const ph_entities* entities)
{
    if (!ph_id_pool_validate(&viewers->ids) || viewers->ids.used_count > viewers->capacity) {
        return false;
    }
    for (int i = 0; i < viewers->ids.used_count; ++i) {
        const bool is_live = ph_id_pool_at(&viewers->ids, i).index1 != 0;
        if ((viewers->viewers[i].slots != NULL) != is_live ||
            (is_live && !is_viewer_sound(viewers, i, entities))) {
            return false;
        }
    }
    return true;
}
