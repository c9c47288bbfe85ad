// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is inside the groups: shared by groups.c, which keeps and asks them, and group_update.c,
// which moves, splits and merges them.
//
//   block   | groups | group_of | order | free_groups | map.nexts | map.heads |
//             struct   i32        u32     i32           i32         i32 (2..4 per viewer)
//
// There can be as many groups as viewers, so everything is sized by viewers. Nothing in here
// decides what anybody sees: a bad group costs time, not truth.

#ifndef PH_VISION_GROUP_TABLE_H
#define PH_VISION_GROUP_TABLE_H

#include "vision/candidates.h"
#include "vision/group_map.h"
#include "vision/groups.h"

// Marks in group_of.
enum {
    PH_GROUP_NO_VIEWER = -1, // nobody was added here
    PH_GROUP_LOOSE = -2,     // to be given a group by the update
};

// Viewers that differ in any of these never share a list.
typedef struct ph_group_class {
    int64_t radius_mm;
    uint32_t sees;
    int wanted;
    bool has_callback;
} ph_group_class;

typedef struct ph_group {
    ph_group_class kind;
    uint64_t class_key;
    int64_t sum_x_mm; // of the members' way from the centre, while that is moved
    int64_t sum_y_mm;
    uint64_t reach2; // square of the furthest member's distance
    int64_t reach_mm;
    int32_t x_mm; // centre
    int32_t y_mm;
    int member_count; // 0: there is no such group
    int order_end;    // while the order is made
    bool is_merged;   // took part in a merge of this update
    int heir;         // the group that took its members over, itself if none did
} ph_group;

struct ph_groups {
    ph_group* groups;
    int32_t* group_of; // by viewer
    uint32_t* order;
    int32_t* free_groups; // a stack
    ph_group_map map;
    int viewer_capacity;
    int viewer_end; // viewers are below it
    int group_end;  // groups are below it
    int free_count;
    int group_count;
    int order_count;

    ph_candidates candidates;
    int list_group;     // whose list it is, or PH_GROUP_NONE
    bool is_list_sound; // false: it would reach too far, members ask the grid

    int64_t split_mm;
    int64_t join_mm;
    int64_t merge_mm;
    uint64_t splits;
    uint64_t merges;
    uint64_t lists;
    uint64_t shared_lists;
    ph_allocator allocator;
};

static inline ph_group_class ph_group_class_of(const ph_eye* eye)
{
    return (ph_group_class){.radius_mm = eye->radius_mm,
                            .sees = eye->sees,
                            .wanted = eye->wanted,
                            .has_callback = eye->callback != NULL};
}

static inline bool ph_group_is_same_class(const ph_group_class* a, const ph_group_class* b)
{
    return a->radius_mm == b->radius_mm && a->sees == b->sees && a->wanted == b->wanted &&
           a->has_callback == b->has_callback;
}

static inline uint64_t ph_group_distance2(const ph_group* at, const ph_eye* eye)
{
    return ph_distance2(eye->x_mm, eye->y_mm, at->x_mm, at->y_mm);
}

// Whether the group's list is made for such an eye.
static inline bool ph_group_is_member(const ph_group* at, const ph_eye* eye)
{
    const ph_group_class kind = ph_group_class_of(eye);
    return ph_group_is_same_class(&kind, &at->kind) && ph_group_distance2(at, eye) <= at->reach2;
}

// Gives the number of a group without members back.
void ph_groups_end(ph_groups* groups, int index);

#endif
