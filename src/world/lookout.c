// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The one place that knows which of the two kinds of vision a world has.

#include "world/lookout.h"

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

static ph_result reserve_verdicts(ph_lookout* lookout, int entity_capacity)
{
    if (entity_capacity <= lookout->verdict_count) {
        return PH_OK;
    }
    uint8_t* grown = ph_allocate_zeroed(&lookout->allocator, (size_t)entity_capacity);
    if (grown == NULL) {
        return PH_ERROR_MEMORY;
    }
    ph_release(&lookout->allocator, lookout->verdicts, (size_t)lookout->verdict_count);
    lookout->verdicts = grown;
    lookout->verdict_count = entity_capacity;
    return PH_OK;
}

// The lists of a group reach further than the question of any member.
static int64_t radius_with_groups(const ph_lookout_def* def)
{
    const int64_t half_world_mm = INT64_C(1) << 31;
    const int64_t radius_mm =
        def->radius_mm_max +
        (def->vision->kind == PH_VISION_GROUPS ? def->vision->group_split_mm : 0);
    return radius_mm < half_world_mm ? radius_mm : half_world_mm;
}

ph_result ph_lookout_create(ph_lookout* lookout, const ph_allocator* allocator,
                            const ph_lookout_def* def)
{
    *lookout = (ph_lookout){.allocator = *allocator, .radius_mm_max = radius_with_groups(def)};
    ph_result result = ph_grid_create(allocator, def->vision->cell_mm, def->entity_capacity,
                                      lookout->radius_mm_max, &lookout->grid);
    if (result == PH_OK && def->vision->kind == PH_VISION_GROUPS) {
        result = ph_groups_create(allocator, def->vision, def->viewer_capacity,
                                  def->entity_capacity, &lookout->groups);
    }
    if (result == PH_OK) {
        result = reserve_seen(allocator, &lookout->scratch, &lookout->scratch_count,
                              ph_grid_scratch_count(lookout->grid));
    }
    if (result == PH_OK) {
        result = reserve_verdicts(lookout, def->entity_capacity);
    }
    if (result != PH_OK) {
        ph_lookout_destroy(lookout);
    }
    return result;
}

void ph_lookout_destroy(ph_lookout* lookout)
{
    const ph_allocator* allocator = &lookout->allocator;
    ph_release_array(allocator, lookout->seen, (size_t)lookout->seen_count, sizeof(ph_seen));
    ph_release(allocator, lookout->verdicts, (size_t)lookout->verdict_count);
    ph_release_array(allocator, lookout->scratch, (size_t)lookout->scratch_count, sizeof(ph_seen));
    ph_groups_destroy(lookout->groups);
    ph_grid_destroy(lookout->grid);
    *lookout = (ph_lookout){0};
}

ph_result ph_lookout_reserve_entities(ph_lookout* lookout, int entity_capacity, int viewer_capacity)
{
    // Scratch before grid: a grid that has grown uses all the scratch that its capacity asks for.
    ph_result result = reserve_seen(&lookout->allocator, &lookout->scratch, &lookout->scratch_count,
                                    ph_sweep_scratch_count(entity_capacity));
    if (result == PH_OK) {
        result = reserve_verdicts(lookout, entity_capacity);
    }
    if (result == PH_OK && lookout->groups != NULL) {
        result = ph_groups_reserve(lookout->groups, viewer_capacity, entity_capacity);
    }
    if (result == PH_OK) {
        result = ph_grid_reserve(lookout->grid, entity_capacity, lookout->radius_mm_max);
    }
    return result;
}

ph_result ph_lookout_reserve_viewers(ph_lookout* lookout, int entity_capacity, int viewer_capacity)
{
    if (lookout->groups == NULL) {
        return PH_OK;
    }
    return ph_groups_reserve(lookout->groups, viewer_capacity, entity_capacity);
}

ph_result ph_lookout_reserve_answers(ph_lookout* lookout, int wanted)
{
    return reserve_seen(&lookout->allocator, &lookout->seen, &lookout->seen_count, wanted);
}

// ---- the tick

void ph_lookout_add(ph_lookout* lookout, uint32_t viewer, const ph_eye* eye)
{
    if (lookout->groups != NULL) {
        ph_groups_add(lookout->groups, viewer, eye);
    }
}

void ph_lookout_remove(ph_lookout* lookout, uint32_t viewer)
{
    if (lookout->groups != NULL) {
        ph_groups_remove(lookout->groups, viewer);
    }
}

void ph_lookout_sort(ph_lookout* lookout, const ph_crowd* crowd, const ph_eye* eyes)
{
    ph_grid_rebuild(lookout->grid, crowd);
    if (lookout->groups != NULL) {
        ph_groups_update(lookout->groups, eyes);
    }
}

// One group after the other: each list is made once.
const uint32_t* ph_lookout_order(const ph_lookout* lookout)
{
    const uint32_t* viewers = NULL;
    if (lookout->groups != NULL) {
        ph_groups_order(lookout->groups, &viewers);
    }
    return viewers;
}

// ALWAYS entities are in nobody's sweep. The spawn orders below which they are seen: those who were
// spawned first come first.
static uint64_t end_of_orders(const ph_seen* seen, int count)
{
    uint64_t end = 0;
    for (int i = 0; i < count; ++i) {
        end = seen[i].spawn_order < end ? end : seen[i].spawn_order + 1;
    }
    return end;
}

void ph_lookout_ask(ph_lookout* lookout, const ph_crowd* crowd, const ph_eye* eye, int first,
                    ph_view* view)
{
    PH_ASSERT(eye->wanted <= lookout->seen_count && eye->radius_mm <= lookout->radius_mm_max);

    lookout->eye = *eye;
    lookout->eye.verdicts = lookout->verdicts;
    eye = &lookout->eye; // the sweep goes on looking at it
    const int always_count =
        ph_grid_always(lookout->grid, crowd, eye, first, lookout->scratch, lookout->seen);
    lookout->always_count = always_count < first ? always_count : first;
    view->near_always_end = end_of_orders(lookout->seen, lookout->always_count);
    view->wide_always_end = end_of_orders(lookout->seen, always_count);
    const int wanted = eye->wanted - always_count;
    const int first_left = first - lookout->always_count;
    lookout->sweep =
        lookout->groups == NULL
            ? ph_grid_gather(lookout->grid, eye, wanted, first_left, view, lookout->scratch)
            : ph_groups_gather(lookout->groups, lookout->grid, crowd, eye->viewer, eye, wanted,
                               first_left, view, lookout->scratch);
    ph_sweep_view(&lookout->sweep, wanted, first_left, view);
    view->enter_count += lookout->always_count;
}

int ph_lookout_find_newcomers(ph_lookout* lookout, const ph_view* view, const ph_slots* slots,
                              int expected)
{
    ph_sweep* sweep = &lookout->sweep;
    const int always_count = ph_slots_sift(slots, lookout->seen, lookout->always_count);
    ph_seen* seen = lookout->seen + always_count;
    expected -= always_count;
    // Most have just come across the edge; else they are looked for from the outside in.
    int count = ph_slots_sift(slots, seen, ph_sweep_list_edge(sweep, &view->enter, seen));
    if (count < expected) {
        const ph_reach inside = {.distance2 = view->enter.distance2 / 8 * 7};
        count = ph_slots_sift(slots, seen, ph_sweep_list(sweep, &inside, &view->enter, seen));
        if (count < expected) {
            const ph_reach nobody = {0};
            ph_seen* rest = seen + count;
            count += ph_slots_sift(slots, rest, ph_sweep_list(sweep, &nobody, &inside, rest));
        }
    }
    return always_count + count;
}

bool ph_lookout_validate(const ph_lookout* lookout, const ph_crowd* crowd, const ph_eye* eyes)
{
    return ph_grid_validate(lookout->grid, crowd) &&
           (lookout->groups == NULL || ph_groups_validate(lookout->groups, eyes));
}
