// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The grid gives exactly what brute force gives, whatever the crowd, and nothing that may
// not be seen changes it.

#include "test_support.h"

#include "random_crowd.h"
#include "test_memory.h"
#include "vision/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    random_crowd world;
    test_memory memory;
    ph_allocator allocator;
    ph_grid* grid;
    ph_seen* scratch;
    ph_seen* seen;
} fixture;

static void setup(fixture* f, int32_t cell_mm, int64_t radius_mm_max)
{
    f->allocator = test_memory_allocator(&f->memory);
    const int capacity = f->world.crowd.capacity;
    assert_int_equal(ph_grid_create(&f->allocator, cell_mm, capacity, radius_mm_max, &f->grid),
                     PH_OK);
    f->scratch = malloc((size_t)ph_grid_scratch_count(f->grid) * sizeof(ph_seen));
    f->seen = malloc((size_t)(capacity + 1) * sizeof(ph_seen));
    assert_true(f->scratch != NULL && f->seen != NULL);
    ph_grid_rebuild(f->grid, &f->world.crowd);
}

static void teardown(fixture* f)
{
    ph_grid_destroy(f->grid);
    test_memory_assert_clean(&f->memory);
    free(f->scratch);
    free(f->seen);
}

static int look(fixture* f, const ph_eye* eye, int first)
{
    return ph_grid_nearest(f->grid, &f->world.crowd, eye, first, f->scratch, f->seen);
}

// Cells from a hundredth of the area to all of it.
static int32_t random_cell(const random_crowd* world, test_rng* rng)
{
    const int64_t cell_mm = world->side_mm / (1 + (int64_t)test_rng_below(rng, 100));
    return (int32_t)(cell_mm < 1 ? 1 : cell_mm > 1 << 29 ? 1 << 29 : cell_mm);
}

// The promise of the grid, over a thousand worlds.
static void equals_brute_force_in_1000_random_worlds(void** state)
{
    (void)state;
    test_rng rng = {.state = 3003};
    for (int round = 0; round < 1000; ++round) {
        fixture f = {0};
        random_crowd_make(&f.world, &rng);
        // The largest radius promised to the grid is a matter of speed only.
        const int64_t radius_mm_max = test_rng_below(&rng, 2) == 0 ? f.world.side_mm / 2 : 1000;
        setup(&f, random_cell(&f.world, &rng), radius_mm_max);
        assert_true(ph_grid_validate(f.grid, &f.world.crowd));
        for (int question = 0; question < 8; ++question) {
            const ph_eye eye = random_eye_make(&f.world, &rng);
            const int first = (int)test_rng_below(&rng, (uint64_t)eye.wanted + 1);
            const int count = look(&f, &eye, first);
            assert_exact_answer(&f.world.crowd, &eye, first, f.seen, count);
        }
        teardown(&f);
    }
}

static int compare_indices(const void* left, const void* right)
{
    const ph_entity_index a = *(const ph_entity_index*)left;
    const ph_entity_index b = *(const ph_entity_index*)right;
    return (a > b) - (a < b);
}

static void within_finds_every_entity_in_the_radius_once(void** state)
{
    (void)state;
    test_rng rng = {.state = 77};
    for (int round = 0; round < 200; ++round) {
        fixture f = {0};
        random_crowd_make(&f.world, &rng);
        memset(f.world.flags, 0, sizeof f.world.flags);
        setup(&f, random_cell(&f.world, &rng), f.world.side_mm / 2);
        ph_eye eye = random_eye_make(&f.world, &rng);
        eye.wanted = RANDOM_CROWD_MAX;
        static ph_entity_index found[RANDOM_CROWD_MAX];
        static ph_entity_index exact[RANDOM_CROWD_MAX];
        const int count = look(&f, &eye, 0);
        for (int i = 0; i < count; ++i) {
            exact[i] = f.seen[i].entity;
        }
        assert_int_equal(ph_grid_within(f.grid, &f.world.crowd, &eye, found), count);
        qsort(found, (size_t)count, sizeof found[0], compare_indices);
        qsort(exact, (size_t)count, sizeof exact[0], compare_indices);
        assert_memory_equal(found, exact, (size_t)count * sizeof found[0]);
        teardown(&f);
    }
}

// So many at their places, with nothing special about them.
static void make_plain(random_crowd* world, int count)
{
    for (int i = 0; i < count; ++i) {
        world->seen_by[i] = 1;
        world->flags[i] = 0;
        world->spawn_order[i] = (uint64_t)i + 10;
        world->live[i] = (ph_entity_index)i;
    }
    world->crowd = (ph_entity_arrays){
        .x_mm = world->x_mm,
        .y_mm = world->y_mm,
        .seen_by = world->seen_by,
        .flags = world->flags,
        .spawn_order = world->spawn_order,
        .live = world->live,
        .live_count = count,
        .capacity = count,
    };
}

// Three around the eye: one here, one a metre to the east, one a hundred kilometres to the north.
static void make_three(fixture* f, int32_t x_mm, int32_t y_mm)
{
    random_crowd* world = &f->world;
    const int32_t step_x[] = {0, 1000, 0};
    const int32_t step_y[] = {0, 0, 100000000};
    for (int i = 0; i < 3; ++i) {
        world->x_mm[i] = (int32_t)((uint32_t)x_mm + (uint32_t)step_x[i]);
        world->y_mm[i] = (int32_t)((uint32_t)y_mm + (uint32_t)step_y[i]);
    }
    make_plain(world, 3);
}

static ph_eye eye_at(int32_t x_mm, int32_t y_mm, int64_t radius_mm, int wanted)
{
    return (ph_eye){
        .x_mm = x_mm,
        .y_mm = y_mm,
        .sees = 1,
        .own = PH_ENTITY_NONE,
        .radius_mm = radius_mm,
        .wanted = wanted,
    };
}

static void sees_across_the_edge_of_the_world(void** state)
{
    (void)state;
    fixture f = {0};
    make_three(&f, INT32_MAX, INT32_MIN);
    setup(&f, 131072, 250000);
    const ph_eye eye = eye_at(INT32_MAX - 5, INT32_MIN, 1005, 10);
    assert_int_equal(look(&f, &eye, 10), 2);
    ph_eye nearer = eye;
    nearer.radius_mm = 1004;
    assert_int_equal(look(&f, &nearer, 10), 1);
    assert_int_equal(f.seen[0].entity, 0);
    assert_int_equal(f.seen[0].distance2, 25);
    teardown(&f);
}

// A thousand kilometres away, all on a circle but for the rounding to millimetres: no 32-bit number
// tells them apart.
static void distances_that_differ_by_a_hair_are_told_apart(void** state)
{
    (void)state;
    enum { COUNT = 1000, RADIUS_MM = 1000000007 };
    fixture f = {0};
    test_rng rng = {.state = 31};
    random_crowd* world = &f.world;
    for (int i = 0; i < COUNT; ++i) {
        const double angle = 6.283185307 * test_rng_unit(&rng);
        world->x_mm[i] = (int32_t)(RADIUS_MM * cos(angle));
        world->y_mm[i] = (int32_t)(RADIUS_MM * sin(angle));
        world->seen_by[i] = 1;
        world->spawn_order[i] = (uint64_t)i;
        world->live[i] = (ph_entity_index)i;
    }
    world->crowd = (ph_entity_arrays){world->x_mm,        world->y_mm, world->seen_by, world->flags,
                                      world->spawn_order, world->live, COUNT,          COUNT};
    setup(&f, 1 << 25, RADIUS_MM);
    for (int wanted = 0; wanted <= COUNT; wanted += 20) {
        const ph_eye eye = eye_at(0, 0, RADIUS_MM - wanted % 3, wanted);
        const int count = look(&f, &eye, wanted / 2);
        assert_exact_answer(&world->crowd, &eye, wanted / 2, f.seen, count);
    }
    teardown(&f);
}

static void own_entity_is_never_an_answer(void** state)
{
    (void)state;
    fixture f = {0};
    make_three(&f, 0, 0);
    f.world.flags[0] = PH_SEEN_ALWAYS;
    setup(&f, 131072, 250000);
    ph_eye eye = eye_at(0, 0, 250000, 10);
    for (ph_entity_index own = 0; own < 2; ++own) {
        eye.own = own;
        assert_int_equal(look(&f, &eye, 10), 1);
        assert_int_equal(f.seen[0].entity, 1 - own);
    }
    teardown(&f);
}

static void always_seen_comes_first_from_any_distance(void** state)
{
    (void)state;
    fixture f = {0};
    make_three(&f, 0, 0);
    f.world.flags[2] = PH_SEEN_ALWAYS;
    setup(&f, 131072, 250000);
    const ph_eye eye = eye_at(0, 0, 250000, 2);
    assert_int_equal(look(&f, &eye, 1), 2);
    assert_int_equal(f.seen[0].entity, 2);
    assert_int_equal(f.seen[0].distance2, 0);
    assert_int_equal(f.seen[1].entity, 0);
    teardown(&f);
}

// 100,000 on one point: the eye sees those that were there first.
static void a_crowd_on_one_point_is_seen_by_spawn_order(void** state)
{
    (void)state;
    enum { COUNT = 100000, WANTED = 250 };
    int32_t* position = calloc(COUNT, sizeof *position);
    uint32_t* seen_by = malloc(COUNT * sizeof *seen_by);
    uint8_t* flags = calloc(COUNT, sizeof *flags);
    uint64_t* spawn_order = malloc(COUNT * sizeof *spawn_order);
    ph_entity_index* live = malloc(COUNT * sizeof *live);
    assert_true(position && seen_by && flags && spawn_order && live);
    for (int i = 0; i < COUNT; ++i) {
        seen_by[i] = 1;
        spawn_order[i] = (uint64_t)(i * 7919LL % COUNT);
        live[i] = (ph_entity_index)i;
    }
    const ph_entity_arrays crowd = {position,    position, seen_by, flags,
                                    spawn_order, live,     COUNT,   COUNT};
    fixture f = {.world.crowd = crowd};
    setup(&f, 131072, 250000);
    const ph_eye eye = eye_at(3000, 4000, 250000, WANTED);
    assert_int_equal(look(&f, &eye, WANTED / 2), WANTED);
    for (int i = 0; i < WANTED; ++i) {
        assert_in_range(f.seen[i].spawn_order, 0, WANTED - 1);
        assert_true((f.seen[i].spawn_order < WANTED / 2) == (i < WANTED / 2));
    }
    teardown(&f);
    free(live);
    free(spawn_order);
    free(flags);
    free(seen_by);
    free(position);
}

// The filter is a security boundary: whatever hidden entities do, the answer stays the same.
static void what_may_not_be_seen_changes_no_answer(void** state)
{
    (void)state;
    test_rng rng = {.state = 4711};
    for (int round = 0; round < 300; ++round) {
        fixture f = {0};
        random_crowd_make(&f.world, &rng);
        setup(&f, random_cell(&f.world, &rng), f.world.side_mm / 2);
        ph_eye eye = random_eye_make(&f.world, &rng);
        const int before_count = look(&f, &eye, eye.wanted / 2);
        static ph_seen before[RANDOM_CROWD_MAX + 1];
        memcpy(before, f.seen, (size_t)before_count * sizeof before[0]);
        for (int i = 0; i < f.world.crowd.capacity; ++i) {
            const bool is_masked = (f.world.seen_by[i] & eye.sees) == 0;
            const bool is_refused =
                eye.callback != NULL && !eye.callback(NULL, eye.viewer, (uint32_t)i);
            if (is_masked || is_refused || (f.world.flags[i] & PH_SEEN_NEVER) != 0) {
                // Onto the eye, or away, or first in every tie.
                f.world.x_mm[i] = (int32_t)((uint32_t)eye.x_mm + (uint32_t)test_rng_below(&rng, 3));
                f.world.y_mm[i] = eye.y_mm;
                f.world.spawn_order[i] = 2000000 + (uint64_t)i;
                f.world.seen_by[i] = is_masked ? 0 : f.world.seen_by[i];
            }
        }
        ph_grid_rebuild(f.grid, &f.world.crowd);
        const int count = look(&f, &eye, eye.wanted / 2);
        assert_int_equal(count, before_count);
        assert_exact_answer(&f.world.crowd, &eye, eye.wanted / 2, before, before_count);
        assert_exact_answer(&f.world.crowd, &eye, eye.wanted / 2, f.seen, count);
        teardown(&f);
    }
}

static void rebuilding_and_asking_allocate_nothing(void** state)
{
    (void)state;
    test_rng rng = {.state = 5};
    fixture f = {0};
    random_crowd_make(&f.world, &rng);
    setup(&f, 100, f.world.side_mm);
    const int before = f.memory.allocate_count;
    for (int i = 0; i < 20; ++i) {
        const ph_eye eye = random_eye_make(&f.world, &rng);
        ph_grid_rebuild(f.grid, &f.world.crowd);
        look(&f, &eye, 0);
    }
    assert_int_equal(f.memory.allocate_count, before);
    teardown(&f);
}

static void failing_allocations_create_nothing(void** state)
{
    (void)state;
    for (int n = 1;; ++n) {
        test_memory memory = {.fail_at = n};
        const ph_allocator allocator = test_memory_allocator(&memory);
        ph_grid* grid;
        const ph_result result = ph_grid_create(&allocator, 1000, 100, 5000, &grid);
        if (result == PH_OK) {
            assert_true(n > 9);
            ph_grid_destroy(grid);
            test_memory_assert_clean(&memory);
            return;
        }
        assert_int_equal(result, PH_ERROR_MEMORY);
        assert_null(grid);
        test_memory_assert_clean(&memory);
    }
}

static void failing_growth_leaves_the_grid_as_it_was(void** state)
{
    (void)state;
    bool is_grown = false;
    for (int n = 1; !is_grown; ++n) {
        fixture f = {0};
        make_three(&f, -500, 500);
        setup(&f, 1000, 5000);
        f.memory.fail_at = f.memory.allocate_count + n;
        const ph_result result = ph_grid_reserve(f.grid, 1000, 500000);
        is_grown = result == PH_OK;
        if (!is_grown) {
            assert_int_equal(result, PH_ERROR_MEMORY);
            assert_true(ph_grid_validate(f.grid, &f.world.crowd));
            const ph_eye eye = eye_at(-500, 500, 1000, 5);
            assert_int_equal(look(&f, &eye, 5), 2);
        }
        teardown(&f);
    }
}

static void a_grown_grid_holds_the_larger_crowd(void** state)
{
    (void)state;
    test_rng rng = {.state = 12};
    fixture f = {0};
    make_three(&f, 0, 0);
    setup(&f, 1000, 5000);
    random_crowd_make(&f.world, &rng);
    assert_int_equal(ph_grid_reserve(f.grid, f.world.crowd.capacity, 500000), PH_OK);
    ph_grid_rebuild(f.grid, &f.world.crowd);
    assert_true(ph_grid_validate(f.grid, &f.world.crowd));
    teardown(&f);
}

static void validate_finds_a_moved_entity(void** state)
{
    (void)state;
    fixture f = {0};
    make_three(&f, 0, 0);
    setup(&f, 1000, 5000);
    assert_true(ph_grid_validate(f.grid, &f.world.crowd));
    f.world.x_mm[1] += 1;
    assert_false(ph_grid_validate(f.grid, &f.world.crowd));
    teardown(&f);
}

// A huge radius over tiny cells must not ask for a table of the whole world.
static void cells_grow_rather_than_the_table(void** state)
{
    (void)state;
    fixture f = {0};
    make_three(&f, 0, 0);
    setup(&f, 1, INT64_C(1) << 31);
    assert_true(f.memory.live_bytes < 32u << 20);
    const ph_eye eye = eye_at(0, 0, INT64_C(1) << 31, 5);
    assert_int_equal(look(&f, &eye, 5), 3);
    teardown(&f);
}

// How far the largest radius reaches costs nothing where few are: the table has no more places than suit
// them, all of which a rebuild goes over, and a question ends when every entity was looked at, not
// at the radius. Counted, not timed: places of the table, and rows of it that questions look at.
static void a_huge_radius_costs_no_more_than_the_crowd(void** state)
{
    (void)state;
    enum { CROWD = 50, PLACES_MAX = 1 << 14, ROWS_MAX = 1 << 7, RINGS_MAX = 2 };
    static const int64_t SIDES_MM[] = {1, 150000, 100000000, INT64_C(1) << 32};
    test_rng rng = {.state = 77};
    for (size_t i = 0; i < sizeof SIDES_MM / sizeof SIDES_MM[0]; ++i) {
        fixture f = {0};
        for (int e = 0; e < CROWD; ++e) {
            f.world.x_mm[e] = (int32_t)(uint32_t)test_rng_below(&rng, (uint64_t)SIDES_MM[i]);
            f.world.y_mm[e] = (int32_t)(uint32_t)test_rng_below(&rng, (uint64_t)SIDES_MM[i]);
        }
        make_plain(&f.world, CROWD);
        setup(&f, 131072, INT32_MAX);
        assert_true(ph_grid_cell_count(f.grid) <= PLACES_MAX);
        for (int wanted = 1; wanted <= 2 * CROWD; wanted += 33) {
            const ph_eye eye = eye_at(0, 0, INT32_MAX, wanted);
            const ph_sweep sweep = ph_grid_gather(f.grid, &eye, wanted, NULL, f.scratch);
            assert_in_range(sweep.row_count, 1, ROWS_MAX * RINGS_MAX);
            const int count = look(&f, &eye, 0);
            assert_exact_answer(&f.world.crowd, &eye, 0, f.seen, count);
        }
        teardown(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_brute_force_in_1000_random_worlds),
        cmocka_unit_test(within_finds_every_entity_in_the_radius_once),
        cmocka_unit_test(sees_across_the_edge_of_the_world),
        cmocka_unit_test(distances_that_differ_by_a_hair_are_told_apart),
        cmocka_unit_test(own_entity_is_never_an_answer),
        cmocka_unit_test(always_seen_comes_first_from_any_distance),
        cmocka_unit_test(a_crowd_on_one_point_is_seen_by_spawn_order),
        cmocka_unit_test(what_may_not_be_seen_changes_no_answer),
        cmocka_unit_test(rebuilding_and_asking_allocate_nothing),
        cmocka_unit_test(failing_allocations_create_nothing),
        cmocka_unit_test(failing_growth_leaves_the_grid_as_it_was),
        cmocka_unit_test(a_grown_grid_holds_the_larger_crowd),
        cmocka_unit_test(validate_finds_a_moved_entity),
        cmocka_unit_test(cells_grow_rather_than_the_table),
        cmocka_unit_test(a_huge_radius_costs_no_more_than_the_crowd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
