// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The promise of ids: one that was given back never matches again, whatever has its index now.

#include "support/test_support.h"
#include "support/test_memory.h"

#include "base/id_pool.h"

#include <string.h>

typedef struct fixture {
    test_memory memory;
    ph_allocator allocator;
    ph_id_pool pool;
} fixture;

static void setup(fixture* f, int capacity)
{
    *f = (fixture){0};
    f->allocator = test_memory_allocator(&f->memory);
    assert_int_equal(ph_id_pool_create(&f->pool, &f->allocator, capacity), PH_OK);
    assert_true(ph_id_pool_validate(&f->pool));
}

static void teardown(fixture* f)
{
    assert_true(ph_id_pool_validate(&f->pool));
    ph_id_pool_destroy(&f->pool);
    test_memory_assert_clean(&f->memory);
}

static bool is_null(ph_id id)
{
    return id.index1 == 0 && id.generation == 0;
}

static void null_and_invented_ids_are_not_live(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 4);
    memset(f.pool.slots, 0xFF, 4 * sizeof(ph_id_slot)); // blank slots may hold anything
    const ph_id invented[] = {
        {0, 0}, {0, 1}, {1, 0}, {1, 1}, {5, 1}, {2, UINT32_MAX}, {UINT32_MAX, UINT32_MAX}};
    for (size_t i = 0; i < sizeof(invented) / sizeof(invented[0]); ++i) {
        assert_false(ph_id_pool_is_live(&f.pool, invented[i]));
        assert_false(ph_id_pool_give_back(&f.pool, invented[i]));
    }
    ph_id id = ph_id_pool_take(&f.pool);
    assert_false(ph_id_pool_is_live(&f.pool, (ph_id){id.index1, id.generation + 1}));
    assert_false(ph_id_pool_is_live(&f.pool, (ph_id){id.index1 + 1, id.generation}));
    assert_false(ph_id_pool_is_live(&f.pool, (ph_id){id.index1, 0}));
    assert_int_equal(f.pool.live_count, 1);
    teardown(&f);
}

static void a_full_pool_returns_null_until_it_is_told_to_grow(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 3);
    for (int i = 0; i < 3; ++i) {
        ph_id id = ph_id_pool_take(&f.pool);
        assert_int_equal(ph_id_index(id), i);
        assert_int_equal(id.generation, 1);
    }
    assert_true(is_null(ph_id_pool_take(&f.pool)));
    assert_int_equal(f.memory.allocate_count, 1);
    assert_int_equal(ph_id_pool_reserve(&f.pool, 2), PH_OK);
    assert_int_equal(f.memory.allocate_count, 1);
    assert_int_equal(ph_id_pool_reserve(&f.pool, 4), PH_OK);
    assert_true(ph_id_pool_is_live(&f.pool, (ph_id){2, 1}));
    assert_int_equal(ph_id_index(ph_id_pool_take(&f.pool)), 3);
    assert_true(is_null(ph_id_pool_take(&f.pool)));
    teardown(&f);
}

static void the_index_given_back_last_is_taken_first(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 8);
    ph_id ids[4];
    for (int i = 0; i < 4; ++i) {
        ids[i] = ph_id_pool_take(&f.pool);
    }
    assert_true(ph_id_pool_give_back(&f.pool, ids[2]));
    assert_true(ph_id_pool_give_back(&f.pool, ids[0]));
    assert_int_equal(ph_id_index(ph_id_pool_take(&f.pool)), 0);
    assert_int_equal(ph_id_index(ph_id_pool_take(&f.pool)), 2);
    assert_int_equal(ph_id_index(ph_id_pool_take(&f.pool)), 4);
    teardown(&f);
}

static void giving_back_twice_is_refused(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 2);
    ph_id id = ph_id_pool_take(&f.pool);
    assert_true(ph_id_pool_give_back(&f.pool, id));
    assert_false(ph_id_pool_give_back(&f.pool, id));
    ph_id heir = ph_id_pool_take(&f.pool);
    assert_int_equal(heir.index1, id.index1);
    assert_false(ph_id_pool_give_back(&f.pool, id));
    assert_true(ph_id_pool_is_live(&f.pool, heir));
    teardown(&f);
}

static void an_index_without_generations_left_is_retired(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 2);
    ph_id first = ph_id_pool_take(&f.pool);
    f.pool.slots[0].generation = UINT32_MAX; // as after four thousand million lives
    ph_id last = {first.index1, UINT32_MAX};
    assert_true(ph_id_pool_is_live(&f.pool, last));
    assert_true(ph_id_pool_give_back(&f.pool, last));
    assert_false(ph_id_pool_is_live(&f.pool, last));
    assert_false(ph_id_pool_give_back(&f.pool, last));
    assert_int_equal(f.pool.retired_count, 1);
    assert_true(ph_id_pool_validate(&f.pool));
    assert_int_equal(ph_id_index(ph_id_pool_take(&f.pool)), 1);
    assert_true(is_null(ph_id_pool_take(&f.pool)));
    assert_true(is_null(ph_id_pool_at(&f.pool, 0)));
    teardown(&f);
}

static void the_generation_before_the_last_is_still_used(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 1);
    ph_id_pool_take(&f.pool);
    f.pool.slots[0].generation = UINT32_MAX - 1;
    assert_true(ph_id_pool_give_back(&f.pool, (ph_id){1, UINT32_MAX - 1}));
    ph_id last = ph_id_pool_take(&f.pool);
    assert_int_equal(last.generation, UINT32_MAX);
    assert_true(ph_id_pool_give_back(&f.pool, last));
    assert_true(is_null(ph_id_pool_take(&f.pool)));
    teardown(&f);
}

static void a_zero_pool_can_grow(void** state)
{
    (void)state;
    ph_id_pool pool = {0};
    assert_true(ph_id_pool_validate(&pool));
    assert_true(is_null(ph_id_pool_take(&pool)));
    assert_false(ph_id_pool_is_live(&pool, (ph_id){1, 1}));
    assert_int_equal(ph_id_pool_reserve(&pool, 1), PH_OK);
    assert_false(is_null(ph_id_pool_take(&pool)));
    ph_id_pool_destroy(&pool);
    ph_id_pool_destroy(&pool);
}

static void no_memory_leaves_the_pool_as_it_was(void** state)
{
    (void)state;
    test_memory memory = {.fail_at = 1};
    ph_allocator allocator = test_memory_allocator(&memory);
    ph_id_pool pool;
    memset(&pool, 0xFF, sizeof(pool));
    assert_int_equal(ph_id_pool_create(&pool, &allocator, 4), PH_ERROR_MEMORY);
    assert_true(ph_id_pool_validate(&pool));
    assert_int_equal(pool.capacity, 0);

    memory.fail_at = 3;
    assert_int_equal(ph_id_pool_create(&pool, &allocator, 1), PH_OK);
    ph_id id = ph_id_pool_take(&pool);
    ph_id_pool before = pool;
    assert_int_equal(ph_id_pool_reserve(&pool, 100), PH_ERROR_MEMORY);
    assert_memory_equal(&pool, &before, sizeof(pool));
    assert_true(ph_id_pool_is_live(&pool, id));
    assert_true(ph_id_pool_validate(&pool));
    ph_id_pool_destroy(&pool);
    test_memory_assert_clean(&memory);
}

static void validate_sees_damage(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 4);
    for (int i = 0; i < 3; ++i) {
        ph_id_pool_take(&f.pool);
    }
    ph_id_pool_give_back(&f.pool, (ph_id){1, 1});
    ph_id_pool_give_back(&f.pool, (ph_id){2, 1});
    ph_id_slot good = f.pool.slots[0];
    f.pool.slots[0].next1 = 2; // a circle
    assert_false(ph_id_pool_validate(&f.pool));
    f.pool.slots[0].next1 = 4; // out of the used part
    assert_false(ph_id_pool_validate(&f.pool));
    f.pool.slots[0] = good;
    f.pool.slots[0].generation = 0;
    assert_false(ph_id_pool_validate(&f.pool));
    f.pool.slots[0] = good;
    ++f.pool.live_count;
    assert_false(ph_id_pool_validate(&f.pool));
    --f.pool.live_count;
    teardown(&f);
}

enum { STEP_COUNT = 20000, CAPACITY_LAST = 300 };

typedef struct model {
    ph_id issued[STEP_COUNT]; // every id ever
    bool is_live[STEP_COUNT];
    int owner[CAPACITY_LAST]; // which of them lives at an index, or -1
    int issued_count;
    int live_count;
} model;

static void model_take(model* m, ph_id id)
{
    assert_false(is_null(id));
    assert_int_not_equal(id.generation, 0);
    int index = ph_id_index(id);
    assert_in_range(index, 0, CAPACITY_LAST - 1);
    assert_int_equal(m->owner[index], -1);
    m->owner[index] = m->issued_count;
    m->is_live[m->issued_count] = true;
    m->issued[m->issued_count++] = id;
    ++m->live_count;
}

static void model_give_back(model* m, int which)
{
    m->is_live[which] = false;
    m->owner[ph_id_index(m->issued[which])] = -1;
    --m->live_count;
}

static void assert_agrees(const ph_id_pool* pool, const model* m)
{
    assert_true(ph_id_pool_validate(pool));
    for (int i = 0; i < m->issued_count; ++i) {
        assert_int_equal(ph_id_pool_is_live(pool, m->issued[i]), m->is_live[i]);
    }
    for (int i = 0; i < pool->capacity; ++i) {
        ph_id id = ph_id_pool_at(pool, i);
        ph_id expected = m->owner[i] < 0 ? (ph_id){0} : m->issued[m->owner[i]];
        assert_int_equal(id.index1, expected.index1);
        assert_int_equal(id.generation, expected.generation);
    }
}

// Every id that was ever issued is remembered and asked about again and again.
static void random_lives_agree_with_a_list_of_all_ids(void** state)
{
    (void)state;
    static model m;
    memset(&m, 0, sizeof(m));
    for (int i = 0; i < CAPACITY_LAST; ++i) {
        m.owner[i] = -1;
    }
    test_rng rng = {.state = 7};
    fixture f;
    setup(&f, 10);
    for (int step = 0; step < STEP_COUNT; ++step) {
        uint64_t dice = test_rng_below(&rng, 100);
        if (dice == 0 && f.pool.capacity < CAPACITY_LAST) {
            assert_int_equal(ph_id_pool_reserve(&f.pool, f.pool.capacity + 10), PH_OK);
        } else if (dice < 52) {
            ph_id id = ph_id_pool_take(&f.pool);
            if (m.live_count == f.pool.capacity) {
                assert_true(is_null(id));
            } else {
                model_take(&m, id);
            }
        } else if (m.issued_count > 0) {
            int which = (int)test_rng_below(&rng, (uint64_t)m.issued_count);
            if (dice < 90) { // mostly young ones, which are live more often
                int young = m.issued_count < 100 ? m.issued_count : 100;
                which = m.issued_count - 1 - (int)test_rng_below(&rng, (uint64_t)young);
            }
            assert_int_equal(ph_id_pool_give_back(&f.pool, m.issued[which]), m.is_live[which]);
            if (m.is_live[which]) {
                model_give_back(&m, which);
            }
        }
        assert_int_equal(f.pool.live_count, m.live_count);
        if (step % 200 == 0) {
            assert_agrees(&f.pool, &m);
        }
    }
    assert_agrees(&f.pool, &m);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_and_invented_ids_are_not_live),
        cmocka_unit_test(a_full_pool_returns_null_until_it_is_told_to_grow),
        cmocka_unit_test(the_index_given_back_last_is_taken_first),
        cmocka_unit_test(giving_back_twice_is_refused),
        cmocka_unit_test(an_index_without_generations_left_is_retired),
        cmocka_unit_test(the_generation_before_the_last_is_still_used),
        cmocka_unit_test(a_zero_pool_can_grow),
        cmocka_unit_test(no_memory_leaves_the_pool_as_it_was),
        cmocka_unit_test(validate_sees_damage),
        cmocka_unit_test(random_lives_agree_with_a_list_of_all_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
