// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Written for clarity: brute force looks at every entity.

#include "groups_scene.h"

#include "test_support.h"

#include "vision/select.h"

#include <stdlib.h>

void groups_scene_setup(groups_scene* scene)
{
    *scene = (groups_scene){0};
    scene->crowd = (ph_entity_arrays){.x_mm = scene->x_mm,
                                      .y_mm = scene->y_mm,
                                      .seen_by = scene->seen_by,
                                      .flags = scene->flags,
                                      .spawn_order = scene->spawn_order,
                                      .live = scene->live,
                                      .capacity = GROUPS_CROWD};
    for (int i = 0; i < GROUPS_CROWD; ++i) {
        scene->spawn_order[i] = UINT64_MAX;
    }
    scene->def = (ph_vision_def){.kind = PH_VISION_GROUPS,
                                 .group_split_mm = 60 * GROUPS_METRE,
                                 .group_merge_mm = 20 * GROUPS_METRE};
    const ph_allocator allocator = test_memory_allocator(&scene->memory);
    assert_int_equal(ph_grid_create(&allocator, 1 << 17, GROUPS_CROWD, 1000000, &scene->grid),
                     PH_OK);
    assert_int_equal(
        ph_groups_create(&allocator, &scene->def, GROUPS_VIEWERS, GROUPS_CROWD, &scene->groups),
        PH_OK);
    scene->scratch = malloc((size_t)ph_grid_scratch_count(scene->grid) * sizeof(ph_seen));
    assert_non_null(scene->scratch);
}

void groups_scene_teardown(groups_scene* scene)
{
    free(scene->scratch);
    ph_groups_destroy(scene->groups);
    ph_grid_destroy(scene->grid);
    test_memory_assert_clean(&scene->memory);
}

void groups_scene_spawn(groups_scene* scene, int32_t x_mm, int32_t y_mm)
{
    const int entity = scene->crowd.live_count++;
    scene->x_mm[entity] = x_mm;
    scene->y_mm[entity] = y_mm;
    scene->seen_by[entity] = 1;
    scene->flags[entity] = 0;
    scene->spawn_order[entity] = (uint64_t)entity;
    scene->live[entity] = (ph_entity_index)entity;
}

void groups_scene_add(groups_scene* scene, uint32_t viewer, int32_t x_mm, int32_t y_mm)
{
    scene->eyes[viewer] = (ph_eye){
        .x_mm = x_mm,
        .y_mm = y_mm,
        .sees = 1,
        .viewer = viewer,
        .own = PH_ENTITY_NONE,
        .radius_mm = 100 * GROUPS_METRE,
        .wanted = 10,
    };
    scene->is_added[viewer] = true;
    ph_groups_add(scene->groups, viewer, &scene->eyes[viewer]);
}

void groups_scene_remove(groups_scene* scene, uint32_t viewer)
{
    scene->is_added[viewer] = false;
    ph_groups_remove(scene->groups, viewer);
}

void groups_scene_update(groups_scene* scene)
{
    const int allocate_count = scene->memory.allocate_count;
    ph_grid_rebuild(scene->grid, &scene->crowd);
    ph_groups_update(scene->groups, scene->eyes);
    assert_int_equal(scene->memory.allocate_count, allocate_count);
    assert_true(ph_groups_validate(scene->groups, scene->eyes));
    ph_groups_stats(scene->groups, &scene->stats);
}

void groups_scene_check(groups_scene* scene, uint32_t viewer, int first)
{
    ph_seen expected[GROUPS_WANTED_MAX];
    ph_seen seen[GROUPS_WANTED_MAX];
    const ph_eye* eye = &scene->eyes[viewer];
    const int expected_count =
        ph_nearest_brute_force(&scene->crowd, eye, first, scene->scratch, expected);
    const int count = ph_groups_nearest(scene->groups, scene->grid, &scene->crowd, eye, first,
                                        scene->scratch, seen);
    assert_int_equal(count, expected_count);
    // Both parts are sets: the nearest of them, and the others.
    const int first_count = count < first ? count : first;
    ph_sort_nearest(seen, first_count);
    ph_sort_nearest(seen + first_count, count - first_count);
    ph_sort_nearest(expected, first_count);
    ph_sort_nearest(expected + first_count, count - first_count);
    for (int i = 0; i < count; ++i) {
        assert_int_equal(seen[i].entity, expected[i].entity);
        assert_int_equal(seen[i].distance2, expected[i].distance2);
        assert_int_equal(seen[i].spawn_order, expected[i].spawn_order);
    }
    ph_groups_stats(scene->groups, &scene->stats);
}

void groups_scene_check_all(groups_scene* scene)
{
    const int allocate_count = scene->memory.allocate_count;
    const uint32_t* viewers;
    const int count = ph_groups_order(scene->groups, &viewers);
    for (int i = 0; i < count; ++i) {
        groups_scene_check(scene, viewers[i], scene->eyes[viewers[i]].wanted * 10 / 11);
    }
    assert_int_equal(scene->memory.allocate_count, allocate_count);
}
