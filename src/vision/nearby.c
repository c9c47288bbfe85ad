// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The one place that knows which of the two kinds of vision a world has.

#include "vision/nearby.h"

#include "base/allocator.h"
#include "vision/sweep.h"

// ---- memory

static ph_result reserve_seen(const ph_allocator* allocator, ph_seen** seen, int* count, int wanted)
{
    if (wanted <= *count) {
        return PH_OK;
    }
    ph_seen* grown = ph_allocate_array(allocator, (size_t)wanted, sizeof(ph_seen));
    if (grown == NULL) {
        return PH_ERROR_MEMORY;
    }
    ph_release_array(allocator, *seen, (size_t)*count, sizeof(ph_seen));
    *seen = grown;
    *count = wanted;
    return PH_OK;
}

static ph_result reserve_visibility(const ph_allocator* allocator, ph_question* question,
                                    int entity_capacity)
{
    if (entity_capacity <= question->visibility_count) {
        return PH_OK;
    }
    uint8_t* grown = ph_allocate_zeroed(allocator, (size_t)entity_capacity);
    if (grown == NULL) {
        return PH_ERROR_MEMORY;
    }
    ph_release(allocator, question->visibility, (size_t)question->visibility_count);
    question->visibility = grown;
    question->visibility_count = entity_capacity;
    return PH_OK;
}

static ph_result reserve_question(const ph_allocator* allocator, ph_question* question,
                                  int entity_capacity, int wanted)
{
    ph_result result = reserve_seen(allocator, &question->scratch, &question->scratch_count,
                                    ph_sweep_scratch_count(entity_capacity));
    if (result == PH_OK) {
        result = reserve_visibility(allocator, question, entity_capacity);
    }
    if (result == PH_OK) {
        result = reserve_seen(allocator, &question->seen, &question->seen_count, wanted);
    }
    return result;
}

static void release_question(const ph_allocator* allocator, ph_question* question)
{
    ph_release_array(allocator, question->seen, (size_t)question->seen_count, sizeof(ph_seen));
    ph_release(allocator, question->visibility, (size_t)question->visibility_count);
    ph_release_array(allocator, question->scratch, (size_t)question->scratch_count,
                     sizeof(ph_seen));
}

// All of them. After a failure some have more room than they need.
static ph_result reserve_scratch(ph_nearby* nearby, int entity_capacity, int wanted)
{
    for (int i = 0; i < nearby->question_count; ++i) {
        if (reserve_question(&nearby->allocator, &nearby->questions[i], entity_capacity, wanted) !=
            PH_OK) {
            return PH_ERROR_MEMORY;
        }
    }
    nearby->entity_capacity = ph_greatest(entity_capacity, nearby->entity_capacity);
    nearby->wanted_max = ph_greatest(wanted, nearby->wanted_max);
    return PH_OK;
}

static void release_questions(const ph_allocator* allocator, ph_question* questions, int first,
                              int count)
{
    for (int i = first; i < count; ++i) {
        release_question(allocator, &questions[i]);
    }
    ph_release_array(allocator, questions, (size_t)count, sizeof(ph_question));
}

ph_result ph_nearby_reserve_questions(ph_nearby* nearby, int question_count)
{
    const int old_count = nearby->question_count;
    if (question_count <= old_count) {
        return PH_OK;
    }
    const ph_allocator* allocator = &nearby->allocator;
    if (nearby->groups != NULL &&
        ph_groups_reserve_lists(nearby->groups, question_count) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    ph_question* grown =
        ph_allocate_zeroed(allocator, (size_t)question_count * sizeof(ph_question));
    if (grown == NULL) {
        return PH_ERROR_MEMORY;
    }
    for (int i = old_count; i < question_count; ++i) {
        if (reserve_question(allocator, &grown[i], nearby->entity_capacity, nearby->wanted_max) !=
            PH_OK) {
            release_questions(allocator, grown, old_count, question_count);
            return PH_ERROR_MEMORY;
        }
    }
    for (int i = 0; i < old_count; ++i) {
        grown[i] = nearby->questions[i];
    }
    ph_release_array(allocator, nearby->questions, (size_t)old_count, sizeof(ph_question));
    nearby->questions = grown;
    nearby->question_count = question_count;
    return PH_OK;
}

// The lists of a group reach further than the question of any member.
static int64_t radius_with_groups(const ph_nearby_def* def)
{
    const int64_t half_world_mm = INT64_C(1) << 31;
    const int64_t radius_mm =
        def->radius_mm_max +
        (def->vision->kind == PH_VISION_GROUPS ? def->vision->group_split_mm : 0);
    return radius_mm < half_world_mm ? radius_mm : half_world_mm;
}

ph_result ph_nearby_create(ph_nearby* nearby, const ph_allocator* allocator,
                           const ph_nearby_def* def)
{
    *nearby = (ph_nearby){.allocator = *allocator,
                          .radius_mm_max = radius_with_groups(def),
                          .entity_capacity = def->entity_capacity};
    ph_result result = ph_grid_create(allocator, def->vision->cell_mm, def->entity_capacity,
                                      nearby->radius_mm_max, &nearby->grid);
    if (result == PH_OK && def->vision->kind == PH_VISION_GROUPS) {
        result = ph_groups_create(allocator, def->vision, def->viewer_capacity,
                                  def->entity_capacity, &nearby->groups);
    }
    if (result == PH_OK) {
        result = ph_nearby_reserve_questions(nearby, def->question_count);
    }
    if (result != PH_OK) {
        ph_nearby_destroy(nearby);
    }
    return result;
}

void ph_nearby_destroy(ph_nearby* nearby)
{
    release_questions(&nearby->allocator, nearby->questions, 0, nearby->question_count);
    ph_groups_destroy(nearby->groups);
    ph_grid_destroy(nearby->grid);
    *nearby = (ph_nearby){0};
}

ph_result ph_nearby_reserve_entities(ph_nearby* nearby, int entity_capacity, int viewer_capacity)
{
    // Scratch before grid: a grid that has grown uses all the scratch that its capacity asks for.
    ph_result result = reserve_scratch(nearby, entity_capacity, nearby->wanted_max);
    if (result == PH_OK && nearby->groups != NULL) {
        result = ph_groups_reserve(nearby->groups, viewer_capacity, entity_capacity);
    }
    if (result == PH_OK) {
        result = ph_grid_reserve(nearby->grid, entity_capacity, nearby->radius_mm_max);
    }
    return result;
}

ph_result ph_nearby_reserve_viewers(ph_nearby* nearby, int entity_capacity, int viewer_capacity)
{
    if (nearby->groups == NULL) {
        return PH_OK;
    }
    return ph_groups_reserve(nearby->groups, viewer_capacity, entity_capacity);
}

ph_result ph_nearby_reserve_results(ph_nearby* nearby, int wanted)
{
    return reserve_scratch(nearby, nearby->entity_capacity, wanted);
}

// ---- the tick

void ph_nearby_add(ph_nearby* nearby, uint32_t viewer, const ph_eye* eye)
{
    if (nearby->groups != NULL) {
        ph_groups_add(nearby->groups, viewer, eye);
    }
}

void ph_nearby_remove(ph_nearby* nearby, uint32_t viewer)
{
    if (nearby->groups != NULL) {
        ph_groups_remove(nearby->groups, viewer);
    }
}

void ph_nearby_sort(ph_nearby* nearby, const ph_entity_arrays* arrays, const ph_eye* eyes)
{
    ph_grid_rebuild(nearby->grid, arrays);
    if (nearby->groups != NULL) {
        ph_groups_update(nearby->groups, eyes);
    }
}

// One group after the other: each list is made once.
const uint32_t* ph_nearby_order(const ph_nearby* nearby)
{
    const uint32_t* viewers = NULL;
    if (nearby->groups != NULL) {
        ph_groups_order(nearby->groups, &viewers);
    }
    return viewers;
}

// ALWAYS entities are in no sweep. The spawn orders below which they are seen: those that were
// spawned first come first.
static uint64_t end_of_orders(const ph_seen* seen, int count)
{
    uint64_t end = 0;
    for (int i = 0; i < count; ++i) {
        end = seen[i].spawn_order < end ? end : seen[i].spawn_order + 1;
    }
    return end;
}

void ph_nearby_begin(const ph_nearby* nearby, int question)
{
    if (nearby->groups != NULL) {
        ph_groups_forget_list(nearby->groups, question);
    }
}

ph_question* ph_nearby_ask(const ph_nearby* nearby, int question, const ph_entity_arrays* arrays,
                           const ph_eye* eye, int first, ph_view* view)
{
    ph_question* of = &nearby->questions[question];
    PH_ASSERT(eye->wanted <= of->seen_count && eye->radius_mm <= nearby->radius_mm_max);

    of->eye = *eye;
    of->eye.visibility = of->visibility;
    eye = &of->eye; // the sweep goes on looking at it
    const int always_count =
        ph_grid_always(nearby->grid, arrays, eye, first, of->scratch, of->seen);
    of->always_count = ph_least(always_count, first);
    view->near_always_end = end_of_orders(of->seen, of->always_count);
    view->wide_always_end = end_of_orders(of->seen, always_count);
    const int wanted = eye->wanted - always_count;
    const int first_left = first - of->always_count;
    of->sweep = nearby->groups == NULL
                    ? ph_grid_gather(nearby->grid, eye, wanted, view, of->scratch)
                    : ph_groups_gather(nearby->groups, question, nearby->grid, arrays, eye, wanted,
                                       view, of->scratch);
    ph_sweep_view(&of->sweep, wanted, first_left, view);
    view->enter_count += of->always_count;
    return of;
}

int ph_question_find_newcomers(ph_question* question, const ph_view* view, const ph_slots* slots,
                               int expected)
{
    const ph_sweep* sweep = &question->sweep;
    const int always_count = ph_slots_sift(slots, question->seen, question->always_count);
    ph_seen* seen = question->seen + always_count;
    expected -= always_count;
    // Most have just come across the edge: they are looked for from the outside in.
    const ph_reach inside = {.distance2 = view->enter.distance2 / 8 * 7};
    int count = ph_slots_sift(slots, seen, ph_sweep_list(sweep, &inside, &view->enter, seen));
    if (count < expected) {
        ph_seen* rest = seen + count;
        count += ph_slots_sift(slots, rest, ph_sweep_list(sweep, &(ph_reach){0}, &inside, rest));
    }
    return always_count + count;
}

bool ph_nearby_validate(const ph_nearby* nearby, const ph_entity_arrays* arrays, const ph_eye* eyes)
{
    return ph_grid_validate(nearby->grid, arrays) &&
           (nearby->groups == NULL || ph_groups_validate(nearby->groups, eyes));
}
