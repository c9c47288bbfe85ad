// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Groups of viewers: memory, membership and questions, then the update. A question runs once per viewer
// and refresh, and most sweep the list that the one before has made. The update runs once per tick.

#include "vision/groups.h"

#include "base/allocator.h"
#include "base/hash.h"

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

// Room for more entities empties a list.
static ph_result reserve_list(ph_groups* groups, ph_group_list* list, int entity_capacity)
{
    if (list->candidates.block != NULL && entity_capacity <= list->candidates.capacity) {
        return PH_OK;
    }
    list->group = PH_GROUP_NONE;
    return ph_candidates_reserve(&list->candidates, &groups->allocator, entity_capacity);
}

// After a failure some have more room than they need.
static ph_result reserve_all_lists(ph_groups* groups, int entity_capacity)
{
    for (int i = 0; i < groups->list_count; ++i) {
        if (reserve_list(groups, &groups->lists[i], entity_capacity) != PH_OK) {
            return PH_ERROR_MEMORY;
        }
    }
    groups->list_capacity = ph_greatest(entity_capacity, groups->list_capacity);
    return PH_OK;
}

static void release_lists(const ph_groups* groups, ph_group_list* lists, int first, int count)
{
    for (int i = first; i < count; ++i) {
        ph_candidates_destroy(&lists[i].candidates, &groups->allocator);
    }
    ph_release_array(&groups->allocator, lists, (size_t)count, sizeof *lists);
}

ph_result ph_groups_reserve_lists(ph_groups* groups, int list_count)
{
    if (list_count <= groups->list_count) {
        return PH_OK;
    }
    const size_t bytes = (size_t)list_count * sizeof(ph_group_list);
    ph_group_list* grown = ph_allocate_zeroed(&groups->allocator, bytes);
    if (grown == NULL) {
        return PH_ERROR_MEMORY;
    }
    for (int i = groups->list_count; i < list_count; ++i) {
        if (reserve_list(groups, &grown[i], groups->list_capacity) != PH_OK) {
            release_lists(groups, grown, groups->list_count, list_count);
            return PH_ERROR_MEMORY;
        }
    }
    for (int i = 0; i < groups->list_count; ++i) {
        grown[i] = groups->lists[i];
    }
    ph_release_array(&groups->allocator, groups->lists, (size_t)groups->list_count, sizeof *grown);
    groups->lists = grown;
    groups->list_count = list_count;
    return PH_OK;
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
    if (reserve_all_lists(groups, entity_capacity) != PH_OK) {
        ph_release(&groups->allocator, roster, roster_size(viewer_capacity));
        return PH_ERROR_MEMORY;
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
    groups->list_capacity = entity_capacity;
    if (ph_groups_reserve_lists(groups, 1) != PH_OK ||
        ph_groups_reserve(groups, viewer_capacity, entity_capacity) != PH_OK) {
        ph_groups_destroy(groups);
        return PH_ERROR_MEMORY;
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
    release_lists(groups, groups->lists, 0, groups->list_count);
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

// Makes the candidates of the eye's group those of the list. @return Whether they can be used.
static bool prepare_list(const ph_groups* groups, ph_group_list* list, const ph_grid* grid,
                         const ph_entity_arrays* arrays, const ph_eye* eye, ph_seen* scratch)
{
    const int index = groups->group_of[eye->viewer];
    if (list->group == index) {
        list->shared_count += list->is_sound;
        return list->is_sound;
    }
    const ph_group* at = &groups->groups[index];
    ph_eye centre = *eye;
    centre.x_mm = at->x_mm;
    centre.y_mm = at->y_mm;
    list->is_sound =
        ph_candidates_try_make(&list->candidates, grid, arrays, &centre, at->reach_mm, scratch);
    list->group = index;
    list->made_count += list->is_sound;
    return list->is_sound;
}

ph_sweep ph_groups_gather(const ph_groups* groups, int list, const ph_grid* grid,
                          const ph_entity_arrays* arrays, const ph_eye* eye, int wanted,
                          const ph_view* last, ph_seen* scratch)
{
    PH_ASSERT((int)eye->viewer < groups->viewer_end && list < groups->list_count &&
              groups->group_of[eye->viewer] != PH_GROUP_NO_VIEWER);

    const int index = groups->group_of[eye->viewer];
    if (index < 0 || groups->groups[index].member_count == 1 ||
        !prepare_list(groups, &groups->lists[list], grid, arrays, eye, scratch)) {
        return ph_grid_gather(grid, eye, wanted, last, scratch);
    }
    PH_ASSERT(ph_group_is_member(&groups->groups[index], eye));
    return ph_candidates_gather(&groups->lists[list].candidates, eye, scratch);
}

void ph_groups_forget_list(const ph_groups* groups, int list)
{
    groups->lists[list].group = PH_GROUP_NONE;
}

int ph_groups_nearest(ph_groups* groups, const ph_grid* grid, const ph_entity_arrays* arrays,
                      const ph_eye* eye, int first, ph_seen* scratch, ph_seen* seen)
{
    PH_ASSERT(0 <= first && first <= eye->wanted);

    const int always_count = ph_grid_always(grid, arrays, eye, first, scratch, seen);
    const int wanted = eye->wanted - always_count;
    const int first_left = first > always_count ? first - always_count : 0;
    ph_sweep sweep = ph_groups_gather(groups, 0, grid, arrays, eye, wanted, NULL, scratch);
    return always_count + ph_sweep_take(&sweep, wanted, first_left, seen + always_count);
}

void ph_groups_stats(const ph_groups* groups, ph_vision_stats* stats)
{
    stats->group_count = groups->group_count;
    stats->split_groups = groups->splits;
    stats->merged_groups = groups->merges;
    stats->made_lists = 0;
    stats->shared_lists = 0;
    for (int i = 0; i < groups->list_count; ++i) {
        stats->made_lists += groups->lists[i].made_count;
        stats->shared_lists += groups->lists[i].shared_count;
    }
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

// ---- the update: a few passes over the viewers and the groups, nothing of which grows faster than they
// do

static uint64_t square_mm(int64_t length_mm)
{
    return (uint64_t)(length_mm * length_mm);
}

static uint64_t class_key_of(const ph_group_class* kind)
{
    const uint64_t key = (uint64_t)kind->sees << 32 | (uint32_t)kind->wanted;
    return ph_hash_key(key, (uint64_t)kind->radius_mm * 2 + kind->has_callback);
}

static ph_group_place place_of(const ph_group* at)
{
    return (ph_group_place){.x_mm = at->x_mm, .y_mm = at->y_mm, .class_key = at->class_key};
}

// Returns the numbers of groups without members.
static void end_empty_groups(ph_groups* groups)
{
    for (int i = 0; i < groups->group_end; ++i) {
        ph_group* at = &groups->groups[i];
        if (at->member_count == 0 && at->heir != PH_GROUP_NONE) {
            ph_groups_end(groups, i);
        }
    }
}

static void set_loose(ph_groups* groups, int viewer)
{
    --groups->groups[groups->group_of[viewer]].member_count;
    groups->group_of[viewer] = PH_GROUP_LOOSE;
}

// Who is of another class now, or has jumped, is no longer part of the centre of gravity.
static void drop_strangers(ph_groups* groups, const ph_eye* eyes)
{
    // At most half the world: its square is still a number, and a viewer that is further has jumped.
    const int64_t half_world_mm = INT64_C(1) << 31;
    const int64_t jump_mm = 2 * groups->split_mm;
    const uint64_t jump2 = square_mm(jump_mm < half_world_mm ? jump_mm : half_world_mm);
    for (int viewer = 0; viewer < groups->viewer_end; ++viewer) {
        if (groups->group_of[viewer] < 0) {
            continue;
        }
        const ph_group* at = &groups->groups[groups->group_of[viewer]];
        const ph_group_class kind = ph_group_class_of(&eyes[viewer]);
        if (!ph_group_is_same_class(&kind, &at->kind)) {
            set_loose(groups, viewer);
        } else if (at->member_count > 1 && ph_group_distance2(at, &eyes[viewer]) > jump2) {
            set_loose(groups, viewer);
            ++groups->splits;
        }
    }
}

// Averages the ways from the old centre, which wrap: no average of coordinates would do at the edge
// of the world.
static void move_centres(ph_groups* groups, const ph_eye* eyes)
{
    for (int i = 0; i < groups->group_end; ++i) {
        groups->groups[i].sum_x_mm = 0;
        groups->groups[i].sum_y_mm = 0;
    }
    for (int viewer = 0; viewer < groups->viewer_end; ++viewer) {
        if (groups->group_of[viewer] >= 0) {
            ph_group* at = &groups->groups[groups->group_of[viewer]];
            at->sum_x_mm += ph_difference_mm(eyes[viewer].x_mm, at->x_mm);
            at->sum_y_mm += ph_difference_mm(eyes[viewer].y_mm, at->y_mm);
        }
    }
    for (int i = 0; i < groups->group_end; ++i) {
        ph_group* at = &groups->groups[i];
        if (at->member_count > 0) {
            at->x_mm = (int32_t)((uint32_t)at->x_mm + (uint32_t)(at->sum_x_mm / at->member_count));
            at->y_mm = (int32_t)((uint32_t)at->y_mm + (uint32_t)(at->sum_y_mm / at->member_count));
        }
    }
}

// The last one keeps the group and is its centre.
static void split_groups(ph_groups* groups, const ph_eye* eyes)
{
    const uint64_t split2 = square_mm(groups->split_mm);
    for (int viewer = 0; viewer < groups->viewer_end; ++viewer) {
        if (groups->group_of[viewer] < 0) {
            continue;
        }
        ph_group* at = &groups->groups[groups->group_of[viewer]];
        if (ph_group_distance2(at, &eyes[viewer]) <= split2) {
            continue;
        }
        if (at->member_count > 1) {
            set_loose(groups, viewer);
            ++groups->splits;
        } else {
            at->x_mm = eyes[viewer].x_mm;
            at->y_mm = eyes[viewer].y_mm;
        }
    }
}

static void fill_map(ph_groups* groups)
{
    ph_group_map_clear(&groups->map);
    for (int i = 0; i < groups->group_end; ++i) {
        if (groups->groups[i].member_count > 0) {
            ph_group_map_insert(&groups->map, i, place_of(&groups->groups[i]));
        }
    }
}

static int found_group(ph_groups* groups, const ph_eye* eye)
{
    const int index =
        groups->free_count > 0 ? groups->free_groups[--groups->free_count] : groups->group_end++;
    const ph_group_class kind = ph_group_class_of(eye);
    groups->groups[index] = (ph_group){
        .kind = kind,
        .class_key = class_key_of(&kind),
        .x_mm = eye->x_mm,
        .y_mm = eye->y_mm,
        .heir = index,
    };
    ++groups->group_count;
    return index;
}

// The nearest group of its class within the join distance (the lower one if two are as near), or
// PH_GROUP_NONE.
static int find_to_join(const ph_groups* groups, const ph_eye* eye)
{
    const ph_group_class kind = ph_group_class_of(eye);
    const ph_group_place place = {eye->x_mm, eye->y_mm, class_key_of(&kind)};
    uint64_t best2 = square_mm(groups->join_mm);
    int best = PH_GROUP_NONE;
    ph_group_walk walk = ph_group_map_walk(&groups->map, place);
    for (int i = ph_group_walk_next(&walk); i >= 0; i = ph_group_walk_next(&walk)) {
        const ph_group* at = &groups->groups[i];
        const uint64_t distance2 = ph_group_distance2(at, eye);
        if (ph_group_is_same_class(&at->kind, &kind) &&
            (distance2 < best2 || (distance2 == best2 && (best < 0 || i < best)))) {
            best2 = distance2;
            best = i;
        }
    }
    return best;
}

static void place_loose(ph_groups* groups, const ph_eye* eyes)
{
    for (int viewer = 0; viewer < groups->viewer_end; ++viewer) {
        if (groups->group_of[viewer] != PH_GROUP_LOOSE) {
            continue;
        }
        int index = find_to_join(groups, &eyes[viewer]);
        if (index == PH_GROUP_NONE) {
            index = found_group(groups, &eyes[viewer]);
            ph_group_map_insert(&groups->map, index, place_of(&groups->groups[index]));
        }
        groups->group_of[viewer] = index;
        ++groups->groups[index].member_count;
    }
}

static void measure_reaches(ph_groups* groups, const ph_eye* eyes)
{
    for (int i = 0; i < groups->group_end; ++i) {
        groups->groups[i].reach2 = 0;
    }
    for (int viewer = 0; viewer < groups->viewer_end; ++viewer) {
        if (groups->group_of[viewer] >= 0) {
            ph_group* at = &groups->groups[groups->group_of[viewer]];
            const uint64_t distance2 = ph_group_distance2(at, &eyes[viewer]);
            at->reach2 = distance2 > at->reach2 ? distance2 : at->reach2;
        }
    }
    for (int i = 0; i < groups->group_end; ++i) {
        groups->groups[i].reach_mm = ph_square_root_up(groups->groups[i].reach2);
    }
}

// Where the centre of gravity of both would be: on the way from a to b, by weight.
static void common_centre(const ph_group* a, const ph_group* b, int32_t* x_mm, int32_t* y_mm)
{
    const int64_t to_b_x_mm = ph_difference_mm(b->x_mm, a->x_mm);
    const int64_t to_b_y_mm = ph_difference_mm(b->y_mm, a->y_mm);
    const int64_t count = (int64_t)a->member_count + b->member_count;
    *x_mm = (int32_t)((uint32_t)a->x_mm + (uint32_t)(to_b_x_mm * b->member_count / count));
    *y_mm = (int32_t)((uint32_t)a->y_mm + (uint32_t)(to_b_y_mm * b->member_count / count));
}

// Whether all members would be within the split distance of the common centre, even the furthest on
// the far side.
static bool would_hold(const ph_groups* groups, const ph_group* a, const ph_group* b)
{
    int32_t x_mm;
    int32_t y_mm;
    common_centre(a, b, &x_mm, &y_mm);
    const int64_t a_mm = ph_square_root_up(ph_distance2(a->x_mm, a->y_mm, x_mm, y_mm));
    const int64_t b_mm = ph_square_root_up(ph_distance2(b->x_mm, b->y_mm, x_mm, y_mm));
    return a->reach_mm + a_mm <= groups->split_mm && b->reach_mm + b_mm <= groups->split_mm;
}

// The nearest group that this one can merge with (the lower one if two are as near), or
// PH_GROUP_NONE.
static int find_to_merge(const ph_groups* groups, int index)
{
    const ph_group* a = &groups->groups[index];
    uint64_t best2 = square_mm(groups->merge_mm);
    int best = PH_GROUP_NONE;
    ph_group_walk walk = ph_group_map_walk(&groups->map, place_of(a));
    for (int i = ph_group_walk_next(&walk); i >= 0; i = ph_group_walk_next(&walk)) {
        const ph_group* b = &groups->groups[i];
        if (i == index || b->is_merged || !ph_group_is_same_class(&a->kind, &b->kind)) {
            continue;
        }
        const uint64_t distance2 = ph_distance2(a->x_mm, a->y_mm, b->x_mm, b->y_mm);
        if ((distance2 < best2 || (distance2 == best2 && i < best)) && would_hold(groups, a, b)) {
            best2 = distance2;
            best = i;
        }
    }
    return best;
}

// Each group merges once at most, so that centres and reaches stay what the map and the passes
// before made them.
static uint64_t merge_groups(ph_groups* groups)
{
    const uint64_t merges_before = groups->merges;
    for (int i = 0; i < groups->group_end; ++i) {
        groups->groups[i].is_merged = false;
    }
    for (int i = 0; i < groups->group_end; ++i) {
        ph_group* a = &groups->groups[i];
        const int other =
            a->member_count == 0 || a->is_merged ? PH_GROUP_NONE : find_to_merge(groups, i);
        if (other == PH_GROUP_NONE) {
            continue;
        }
        ph_group* b = &groups->groups[other];
        common_centre(a, b, &a->x_mm, &a->y_mm);
        a->member_count += b->member_count;
        b->member_count = 0;
        b->heir = i;
        a->is_merged = true;
        b->is_merged = true;
        ++groups->merges;
    }
    return groups->merges - merges_before;
}

static void follow_heirs(ph_groups* groups)
{
    for (int viewer = 0; viewer < groups->viewer_end; ++viewer) {
        if (groups->group_of[viewer] >= 0) {
            groups->group_of[viewer] = groups->groups[groups->group_of[viewer]].heir;
        }
    }
}

// A counting sort by group.
static void make_order(ph_groups* groups)
{
    int begin = 0;
    for (int i = 0; i < groups->group_end; ++i) {
        groups->groups[i].order_end = begin;
        begin += groups->groups[i].member_count;
    }
    for (int viewer = 0; viewer < groups->viewer_end; ++viewer) {
        if (groups->group_of[viewer] >= 0) {
            ph_group* at = &groups->groups[groups->group_of[viewer]];
            groups->order[at->order_end++] = (uint32_t)viewer;
        }
    }
    groups->order_count = begin;
}

void ph_groups_update(ph_groups* groups, const ph_eye* eyes)
{
    drop_strangers(groups, eyes);
    end_empty_groups(groups);
    move_centres(groups, eyes);
    split_groups(groups, eyes);
    fill_map(groups);
    place_loose(groups, eyes);
    measure_reaches(groups, eyes);
    if (merge_groups(groups) > 0) {
        follow_heirs(groups);
        end_empty_groups(groups);
        measure_reaches(groups, eyes);
    }
    make_order(groups);
    for (int i = 0; i < groups->list_count; ++i) {
        ph_groups_forget_list(groups, i);
    }
}
