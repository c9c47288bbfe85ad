// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Memory, membership and questions. A question runs once per viewer and refresh; most of them sweep
// the list that the one before has made.

#include "vision/groups.h"

#include "base/allocator.h"
#include "vision/group_table.h"

#include <string.h>

// ---- memory

static size_t roster_size(int viewer_capacity)
{
    const size_t per_viewer = sizeof(ph_group) + 4 * sizeof(int32_t);
    return (size_t)viewer_capacity * per_viewer +
           ph_group_map_size(viewer_capacity) * sizeof(int32_t);
}

static void lay_out_roster(ph_groups* groups, void* block, int viewer_capacity)
{
    const size_t count = (size_t)viewer_capacity;
    groups->groups = block;
    groups->group_of = (int32_t*)(void*)(groups->groups + count);
    groups->order = (uint32_t*)(groups->group_of + count);
    groups->free_groups = (int32_t*)(groups->order + count);
    groups->map.nexts = groups->free_groups + count;
    groups->map.heads = groups->map.nexts + count;
    groups->map.last = (uint32_t)ph_group_map_size(viewer_capacity) - 1;
    groups->viewer_capacity = viewer_capacity;
}

// What the map holds is of one update only and is not moved.
static void move_roster(ph_groups* groups, void* block, int viewer_capacity)
{
    const ph_groups old = *groups;
    lay_out_roster(groups, block, viewer_capacity);
    if (old.groups != NULL) {
        memcpy(groups->groups, old.groups, (size_t)old.group_end * sizeof(ph_group));
        memcpy(groups->group_of, old.group_of, (size_t)old.viewer_end * sizeof(int32_t));
        memcpy(groups->order, old.order, (size_t)old.order_count * sizeof(uint32_t));
        memcpy(groups->free_groups, old.free_groups, (size_t)old.free_count * sizeof(int32_t));
        ph_release(&groups->allocator, old.groups, roster_size(old.viewer_capacity));
    }
}

ph_result ph_groups_reserve(ph_groups* groups, int viewer_capacity, int entity_capacity)
{
    PH_ASSERT(viewer_capacity >= 0 && entity_capacity >= 0);

    void* roster = NULL;
    const bool grows = groups->groups == NULL || viewer_capacity > groups->viewer_capacity;
    if (grows) {
        roster = ph_allocate(&groups->allocator, roster_size(viewer_capacity));
        if (roster == NULL) {
            return PH_ERROR_MEMORY;
        }
    }
    const int list_capacity = groups->candidates.capacity;
    const ph_result result =
        ph_candidates_reserve(&groups->candidates, &groups->allocator, entity_capacity);
    if (result != PH_OK) {
        ph_release(&groups->allocator, roster, roster_size(viewer_capacity));
        return result;
    }
    if (groups->candidates.capacity != list_capacity) {
        groups->list_group = PH_GROUP_NONE;
    }
    if (grows) {
        move_roster(groups, roster, viewer_capacity);
    }
    return PH_OK;
}

ph_result ph_groups_create(const ph_allocator* allocator, const ph_vision_def* def,
                           int viewer_capacity, int entity_capacity, ph_groups** groups_out)
{
    PH_ASSERT(def->group_merge_mm > 0 &&
              def->group_merge_mm < def->group_split_mm - def->group_merge_mm);

    *groups_out = NULL;
    ph_groups* groups = ph_allocate_zeroed(allocator, sizeof(ph_groups));
    if (groups == NULL) {
        return PH_ERROR_MEMORY;
    }
    groups->allocator = *allocator;
    groups->split_mm = def->group_split_mm;
    groups->merge_mm = def->group_merge_mm;
    groups->join_mm = (groups->split_mm + groups->merge_mm) / 2;
    groups->map.cell_shift = ph_group_map_shift((int32_t)groups->join_mm);
    groups->list_group = PH_GROUP_NONE;
    const ph_result result = ph_groups_reserve(groups, viewer_capacity, entity_capacity);
    if (result != PH_OK) {
        ph_release(allocator, groups, sizeof(ph_groups));
        return result;
    }
    *groups_out = groups;
    return PH_OK;
}

void ph_groups_destroy(ph_groups* groups)
{
    if (groups == NULL) {
        return;
    }
    const ph_allocator allocator = groups->allocator;
    ph_candidates_destroy(&groups->candidates, &allocator);
    ph_release(&allocator, groups->groups, roster_size(groups->viewer_capacity));
    ph_release(&allocator, groups, sizeof(ph_groups));
}

// ---- members

void ph_groups_end(ph_groups* groups, int index)
{
    groups->groups[index].heir = PH_GROUP_NONE;
    groups->free_groups[groups->free_count++] = index;
    --groups->group_count;
}

void ph_groups_add(ph_groups* groups, uint32_t viewer, const ph_eye* eye)
{
    (void)eye; // the update looks at it
    PH_ASSERT(viewer < (uint32_t)groups->viewer_capacity);

    while (groups->viewer_end <= (int)viewer) {
        groups->group_of[groups->viewer_end++] = PH_GROUP_NO_VIEWER;
    }
    PH_ASSERT(groups->group_of[viewer] == PH_GROUP_NO_VIEWER);
    groups->group_of[viewer] = PH_GROUP_LOOSE;
}

void ph_groups_remove(ph_groups* groups, uint32_t viewer)
{
    PH_ASSERT((int)viewer < groups->viewer_end && groups->group_of[viewer] != PH_GROUP_NO_VIEWER);

    const int index = groups->group_of[viewer];
    groups->group_of[viewer] = PH_GROUP_NO_VIEWER;
    if (index >= 0 && --groups->groups[index].member_count == 0) {
        ph_groups_end(groups, index);
    }
}

int ph_groups_find(const ph_groups* groups, uint32_t viewer)
{
    const bool is_there = (int64_t)viewer < groups->viewer_end && groups->group_of[viewer] >= 0;
    return is_there ? groups->group_of[viewer] : -1;
}

int ph_groups_order(const ph_groups* groups, const uint32_t** viewers)
{
    *viewers = groups->order;
    return groups->order_count;
}

// ---- questions

// Makes the list of this group the one that is there. @return Whether it can be used.
static bool prepare_list(ph_groups* groups, const ph_grid* grid, const ph_crowd* crowd, int index,
                         const ph_eye* eye, ph_seen* scratch)
{
    if (groups->list_group == index) {
        groups->shared_lists += groups->is_list_sound;
        return groups->is_list_sound;
    }
    const ph_group* at = &groups->groups[index];
    ph_eye centre = *eye;
    centre.x_mm = at->x_mm;
    centre.y_mm = at->y_mm;
    groups->is_list_sound =
        ph_candidates_try_make(&groups->candidates, grid, crowd, &centre, at->reach_mm, scratch);
    groups->list_group = index;
    groups->lists += groups->is_list_sound;
    return groups->is_list_sound;
}

ph_sweep ph_groups_gather(ph_groups* groups, const ph_grid* grid, const ph_crowd* crowd,
                          uint32_t viewer, const ph_eye* eye, int wanted, int first,
                          const ph_view* last, ph_seen* scratch)
{
    PH_ASSERT((int)viewer < groups->viewer_end && groups->group_of[viewer] != PH_GROUP_NO_VIEWER);

    const int index = groups->group_of[viewer];
    if (index < 0 || groups->groups[index].member_count == 1 ||
        !prepare_list(groups, grid, crowd, index, eye, scratch)) {
        return ph_grid_gather(grid, eye, wanted, first, last, scratch);
    }
    PH_ASSERT(ph_group_is_member(&groups->groups[index], eye));
    return ph_candidates_gather(&groups->candidates, eye, wanted, first, last, scratch);
}

int ph_groups_nearest(ph_groups* groups, const ph_grid* grid, const ph_crowd* crowd,
                      uint32_t viewer, const ph_eye* eye, int first, ph_seen* scratch,
                      ph_seen* seen)
{
    PH_ASSERT(0 <= first && first <= eye->wanted);

    const int always_count = ph_grid_always(grid, crowd, eye, first, scratch, seen);
    const int wanted = eye->wanted - always_count;
    const int first_left = first > always_count ? first - always_count : 0;
    ph_sweep sweep =
        ph_groups_gather(groups, grid, crowd, viewer, eye, wanted, first_left, NULL, scratch);
    return always_count + ph_sweep_take(&sweep, wanted, first_left, seen + always_count);
}

void ph_groups_stats(const ph_groups* groups, ph_vision_stats* stats)
{
    stats->groups = groups->group_count;
    stats->splits = groups->splits;
    stats->merges = groups->merges;
    stats->lists = groups->lists;
    stats->shared_lists = groups->shared_lists;
}

// ---- soundness

static bool is_group_sound(const ph_groups* groups, const ph_eye* eyes, int index)
{
    const ph_group* at = &groups->groups[index];
    int member_count = 0;
    for (int viewer = 0; viewer < groups->viewer_end; ++viewer) {
        if (groups->group_of[viewer] != index) {
            continue;
        }
        if (!ph_group_is_member(at, &eyes[viewer])) {
            return false;
        }
        ++member_count;
    }
    return member_count == at->member_count &&
           (member_count == 0 || (at->heir == index && at->reach_mm <= groups->split_mm &&
                                  at->reach_mm == ph_square_root_up(at->reach2)));
}

// Every viewer of the order is in a group or was removed since, and groups do not come back.
static bool is_order_sound(const ph_groups* groups)
{
    int last = PH_GROUP_NONE;
    uint32_t last_viewer = 0;
    for (int i = 0; i < groups->order_count; ++i) {
        const uint32_t viewer = groups->order[i];
        if (viewer >= (uint32_t)groups->viewer_end) {
            return false;
        }
        const int index = groups->group_of[viewer];
        if (index < 0) {
            continue;
        }
        if (index < last || (index == last && viewer <= last_viewer)) {
            return false;
        }
        last = index;
        last_viewer = viewer;
    }
    return true;
}

bool ph_groups_validate(const ph_groups* groups, const ph_eye* eyes)
{
    int group_count = 0;
    int member_count = 0;
    for (int i = 0; i < groups->group_end; ++i) {
        if (!is_group_sound(groups, eyes, i)) {
            return false;
        }
        group_count += groups->groups[i].member_count > 0;
        member_count += groups->groups[i].member_count;
    }
    return group_count == groups->group_count && member_count <= groups->order_count &&
           group_count + groups->free_count == groups->group_end && is_order_sound(groups);
}
