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

static ph_result reserve_visibility(ph_nearby* nearby, int entity_capacity)
{
    if (entity_capacity <= nearby->visibility_count) {
        return PH_OK;
    }
    uint8_t* grown = ph_allocate_zeroed(&nearby->allocator, (size_t)entity_capacity);
    if (grown == NULL) {
        return PH_ERROR_MEMORY;
    }
    ph_release(&nearby->allocator, nearby->visibility, (size_t)nearby->visibility_count);
    nearby->visibility = grown;
    nearby->visibility_count = entity_capacity;
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
    *nearby = (ph_nearby){.allocator = *allocator, .radius_mm_max = radius_with_groups(def)};
    ph_result result = ph_grid_create(allocator, def->vision->cell_mm, def->entity_capacity,
                                      nearby->radius_mm_max, &nearby->grid);
    if (result == PH_OK && def->vision->kind == PH_VISION_GROUPS) {
        result = ph_groups_create(allocator, def->vision, def->viewer_capacity,
                                  def->entity_capacity, &nearby->groups);
    }
    if (result == PH_OK) {
        result = reserve_seen(allocator, &nearby->scratch, &nearby->scratch_count,
                              ph_grid_scratch_count(nearby->grid));
    }
    if (result == PH_OK) {
        result = reserve_visibility(nearby, def->entity_capacity);
    }
    if (result != PH_OK) {
        ph_nearby_destroy(nearby);
    }
    return result;
}

void ph_nearby_destroy(ph_nearby* nearby)
{
    const ph_allocator* allocator = &nearby->allocator;
    ph_release_array(allocator, nearby->seen, (size_t)nearby->seen_count, sizeof(ph_seen));
    ph_release(allocator, nearby->visibility, (size_t)nearby->visibility_count);
    ph_release_array(allocator, nearby->scratch, (size_t)nearby->scratch_count, sizeof(ph_seen));
    ph_groups_destroy(nearby->groups);
    ph_grid_destroy(nearby->grid);
    *nearby = (ph_nearby){0};
}

ph_result ph_nearby_reserve_entities(ph_nearby* nearby, int entity_capacity, int viewer_capacity)
{
    // Scratch before grid: a grid that has grown uses all the scratch that its capacity asks for.
    ph_result result = reserve_seen(&nearby->allocator, &nearby->scratch, &nearby->scratch_count,
                                    ph_sweep_scratch_count(entity_capacity));
    if (result == PH_OK) {
        result = reserve_visibility(nearby, entity_capacity);
    }
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
    return reserve_seen(&nearby->allocator, &nearby->seen, &nearby->seen_count, wanted);
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

void ph_nearby_ask(ph_nearby* nearby, const ph_entity_arrays* arrays, const ph_eye* eye, int first,
                   ph_view* view)
{
    PH_ASSERT(eye->wanted <= nearby->seen_count && eye->radius_mm <= nearby->radius_mm_max);

    nearby->eye = *eye;
    nearby->eye.visibility = nearby->visibility;
    eye = &nearby->eye; // the sweep goes on looking at it
    const int always_count =
        ph_grid_always(nearby->grid, arrays, eye, first, nearby->scratch, nearby->seen);
    nearby->always_count = ph_least(always_count, first);
    view->near_always_end = end_of_orders(nearby->seen, nearby->always_count);
    view->wide_always_end = end_of_orders(nearby->seen, always_count);
    const int wanted = eye->wanted - always_count;
    const int first_left = first - nearby->always_count;
    nearby->sweep = nearby->groups == NULL
                        ? ph_grid_gather(nearby->grid, eye, wanted, view, nearby->scratch)
                        : ph_groups_gather(nearby->groups, nearby->grid, arrays, eye->viewer, eye,
                                           wanted, view, nearby->scratch);
    ph_sweep_view(&nearby->sweep, wanted, first_left, view);
    view->enter_count += nearby->always_count;
}

int ph_nearby_find_newcomers(ph_nearby* nearby, const ph_view* view, const ph_slots* slots,
                             int expected)
{
    const ph_sweep* sweep = &nearby->sweep;
    const int always_count = ph_slots_sift(slots, nearby->seen, nearby->always_count);
    ph_seen* seen = nearby->seen + always_count;
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
