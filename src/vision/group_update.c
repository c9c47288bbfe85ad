// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The update runs once per tick: a few passes over the viewers and the groups, nothing of which
// grows faster than they do.

#include "vision/groups.h"

#include "base/hash.h"
#include "vision/group_table.h"

static uint64_t square(int64_t length_mm)
{
    return (uint64_t)(length_mm * length_mm);
}

static uint64_t key_of(const ph_group_class* kind)
{
    const uint64_t key = (uint64_t)kind->sees << 32 | (uint32_t)kind->wanted;
    return ph_hash_key(key, (uint64_t)kind->radius_mm * 2 + kind->has_callback);
}

static ph_group_place place_of(const ph_group* at)
{
    return (ph_group_place){.x_mm = at->x_mm, .y_mm = at->y_mm, .class_key = at->class_key};
}

// Gives the numbers of groups that have lost everybody back.
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
    // At most half the world: its square is still a number, and who is further has jumped.
    const int64_t half_world_mm = INT64_C(1) << 31;
    const int64_t jump_mm = 2 * groups->split_mm;
    const uint64_t jump2 = square(jump_mm < half_world_mm ? jump_mm : half_world_mm);
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
            at->sum_x_mm += (int32_t)((uint32_t)eyes[viewer].x_mm - (uint32_t)at->x_mm);
            at->sum_y_mm += (int32_t)((uint32_t)eyes[viewer].y_mm - (uint32_t)at->y_mm);
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
static void split(ph_groups* groups, const ph_eye* eyes)
{
    const uint64_t split2 = square(groups->split_mm);
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
        .class_key = key_of(&kind),
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
    const ph_group_place place = {eye->x_mm, eye->y_mm, key_of(&kind)};
    uint64_t best2 = square(groups->join_mm);
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
    const int64_t way_x_mm = (int32_t)((uint32_t)b->x_mm - (uint32_t)a->x_mm);
    const int64_t way_y_mm = (int32_t)((uint32_t)b->y_mm - (uint32_t)a->y_mm);
    const int64_t count = (int64_t)a->member_count + b->member_count;
    *x_mm = (int32_t)((uint32_t)a->x_mm + (uint32_t)(way_x_mm * b->member_count / count));
    *y_mm = (int32_t)((uint32_t)a->y_mm + (uint32_t)(way_y_mm * b->member_count / count));
}

// Whether everybody would be within the split distance of the common centre, even the furthest on
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
    uint64_t best2 = square(groups->merge_mm);
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
static uint64_t merge(ph_groups* groups)
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
    split(groups, eyes);
    fill_map(groups);
    place_loose(groups, eyes);
    measure_reaches(groups, eyes);
    if (merge(groups) > 0) {
        follow_heirs(groups);
        end_empty_groups(groups);
        measure_reaches(groups, eyes);
    }
    make_order(groups);
    groups->list_group = PH_GROUP_NONE;
}
