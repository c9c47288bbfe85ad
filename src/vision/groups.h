// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Dynamic groups of viewers: those that stand together share one list of candidates.
//
// A group is a set of viewers of one visibility class (same mask, radius, wanted number, and
// callback or none); it has a centre of gravity and a reach, the distance of its furthest member.
// Once per tick:
//   1. The centres follow their members. One that jumped (further than twice group_split_mm from
//      the old centre) leaves before that, or it would drag the centre away from the others.
//   2. A member further from the centre than group_split_mm leaves.
//   3. A viewer without a group joins the nearest one whose centre is within the join distance, half way
//      between group_merge_mm and group_split_mm, or founds its own.
//   4. Groups whose centres are nearer than group_merge_mm become one, if none would have to
//      leave at once; each at most once per tick.
// A viewer that joins or leaves moves the centre from the next tick on. Leaving takes a way of group_split_mm
// from the centre, coming back (by joining or merging) at most the join distance to it: so nothing
// is undone before a viewer has walked the difference.
//
// The candidates of a group are a superset of what any member sees: if the class sees more than
// `wanted` entities within a distance d of the centre (one more, as a member's own entity is no
// result), then no member's nearest lie further from the centre than d + 2 * reach, nor than radius
// + reach. With a callback only the second bound holds. Each member then takes its own nearest from
// the list, so the result does not depend on the group at all.
//
// There is memory for a few lists, of all entities at most: the list of another group replaces the one
// that is there. Ask in the order of ph_groups_order(), by one of them, and every list is made once.
// Each thread that asks has a list of its own.

#ifndef PH_VISION_GROUPS_H
#define PH_VISION_GROUPS_H

#include "base/compiler.h"
#include "vision/grid.h"
#include "vision/group_candidates.h"

#include <pinhole/stats.h>

typedef struct ph_groups ph_groups;

// Of the def the two distances count: 0 < group_merge_mm < group_split_mm / 2.
// Memory: about 120 bytes per viewer, and 52 per entity and list. There is one list at first.
// @return PH_OK or PH_ERROR_MEMORY with *groups NULL.
ph_result ph_groups_create(const ph_allocator* allocator, const ph_vision_def* def,
                           int viewer_capacity, int entity_capacity, ph_groups** groups);

void ph_groups_destroy(ph_groups* groups); // NULL is allowed

// Makes room for more; never shrinks. On PH_ERROR_MEMORY everything is as it was.
ph_result ph_groups_reserve(ph_groups* groups, int viewer_capacity, int entity_capacity);

// The same for lists; those that were made are lost.
ph_result ph_groups_reserve_lists(ph_groups* groups, int list_count);

// Viewers are 0..viewer_capacity-1. A new one gets its group by the next update; until then it asks
// the grid by itself.
void ph_groups_add(ph_groups* groups, uint32_t viewer, const ph_eye* eye);

void ph_groups_remove(ph_groups* groups, uint32_t viewer);

// Once per tick: moves the members, then splits and merges; forgets the candidate lists.
// eyes is by viewer and has an entry for every viewer that was added. An eye whose class changed
// finds another group. Allocates nothing; in proportion to the viewers.
void ph_groups_update(ph_groups* groups, const ph_eye* eyes);

// All viewers that were there at the last update (those removed since excepted: they must not be
// asked for), group by group. Borrowed until the next change. @return How many are in *viewers.
int ph_groups_order(const ph_groups* groups, const uint32_t** viewers);

// As ph_grid_gather() and ph_grid_nearest(), for a viewer that was added; make the group's list when
// another one is there. A viewer that is alone in its group needs none and asks the grid. scratch as
// for the grid. The eye is the one of the last update, but for its own entity. Nothing is changed but
// the list, so different lists may be asked at the same time; ph_groups_nearest() asks the first.
ph_sweep ph_groups_gather(const ph_groups* groups, int list, const ph_grid* grid,
                          const ph_entity_arrays* arrays, const ph_eye* eye, int wanted,
                          const ph_view* last, ph_seen* scratch);

// Forgets which group's candidates the list has.
void ph_groups_forget_list(const ph_groups* groups, int list);

int ph_groups_nearest(ph_groups* groups, const ph_grid* grid, const ph_entity_arrays* arrays,
                      const ph_eye* eye, int first, ph_seen* scratch, ph_seen* seen);

// The group of a viewer, a small number that may be used again, or -1.
int ph_groups_find(const ph_groups* groups, uint32_t viewer);

// Sets groups, splits (members that left because they were too far), merges, lists and
// shared_lists; leaves the other fields alone.
void ph_groups_stats(const ph_groups* groups, ph_vision_stats* stats);

// Whether members, centres, reaches, classes and order agree; eyes as at the last update. For
// tests.
bool ph_groups_validate(const ph_groups* groups, const ph_eye* eyes);

// ---- what is inside the groups; for groups.c
//
//   block   | groups | group_of | order | free_groups | map.nexts | map.heads |
//             struct   i32        u32     i32           i32         i32 (2..4 per viewer)
//
// There can be as many groups as viewers, so everything is sized by viewers. Nothing in here
// decides what a viewer sees: a bad group costs time, not truth.

// Marks in group_of.
enum {
    PH_GROUP_NO_VIEWER = -1, // no viewer was added here
    PH_GROUP_LOOSE = -2,     // to be given a group by the update
};

// Viewers that differ in any of these never share a list.
typedef struct ph_group_class {
    int64_t radius_mm;
    uint32_t sees;
    int wanted;
    bool has_callback;
} ph_group_class;

// The candidates of one group.
typedef struct ph_group_list {
    ph_candidates candidates;
    int group;     // whose list it is, or PH_GROUP_NONE
    bool is_sound; // false: it would reach too far, members ask the grid
    uint64_t made_count;
    uint64_t shared_count;
    uint8_t apart[PH_CACHE_LINE]; // from the next one, which is another thread's
} ph_group_list;

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

    ph_group_list* lists;
    int list_count;
    int list_capacity; // entities that each has room for

    int64_t split_mm;
    int64_t join_mm;
    int64_t merge_mm;
    uint64_t splits;
    uint64_t merges;
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
