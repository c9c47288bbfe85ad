// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The hash map against a plain array over a small set of keys, so that every kind of collision,
// wrap-around and closing-up happens many times.

#include "support/test_support.h"
#include "support/test_memory.h"

#include "base/hash.h"

#include <string.h>

typedef struct fixture {
    test_memory memory;
    ph_allocator allocator;
    ph_hash_map map;
} fixture;

static void setup(fixture* f, int entry_count, uint64_t seed)
{
    *f = (fixture){0};
    f->allocator = test_memory_allocator(&f->memory);
    assert_int_equal(ph_hash_map_create(&f->map, &f->allocator, entry_count, seed), PH_OK);
    assert_true(ph_hash_map_validate(&f->map));
}

static void teardown(fixture* f)
{
    assert_true(ph_hash_map_validate(&f->map));
    ph_hash_map_destroy(&f->map);
    test_memory_assert_clean(&f->memory);
}

static void assert_found(const ph_hash_map* map, uint64_t key, uint32_t expected)
{
    uint32_t value = ~expected;
    assert_true(ph_hash_map_try_find(map, key, &value));
    assert_int_equal(value, expected);
}

static void assert_missing(const ph_hash_map* map, uint64_t key)
{
    uint32_t value = 4711;
    assert_false(ph_hash_map_try_find(map, key, &value));
    assert_int_equal(value, 4711);
}

static void any_key_and_value_will_do(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 4, 0);
    const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63};
    for (uint32_t i = 0; i < 4; ++i) {
        assert_missing(&f.map, keys[i]);
        assert_true(ph_hash_map_insert(&f.map, keys[i], i % 2 == 0 ? 0 : UINT32_MAX));
    }
    for (uint32_t i = 0; i < 4; ++i) {
        assert_found(&f.map, keys[i], i % 2 == 0 ? 0 : UINT32_MAX);
    }
    teardown(&f);
}

static void inserting_again_replaces_the_value(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 4, 0);
    assert_true(ph_hash_map_insert(&f.map, 5, 1));
    assert_true(ph_hash_map_insert(&f.map, 5, 2));
    assert_found(&f.map, 5, 2);
    assert_int_equal(f.map.count, 1);
    teardown(&f);
}

static void a_full_map_refuses_new_keys_only(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 6, 0);
    assert_int_equal(f.map.limit, 6);
    for (uint32_t i = 0; i < 6; ++i) {
        assert_true(ph_hash_map_insert(&f.map, i, i));
    }
    assert_false(ph_hash_map_insert(&f.map, 6, 6));
    assert_missing(&f.map, 6);
    assert_true(ph_hash_map_insert(&f.map, 3, 33));
    assert_found(&f.map, 3, 33);
    assert_int_equal(f.memory.allocate_count, 1);
    assert_true(ph_hash_map_remove(&f.map, 0));
    assert_true(ph_hash_map_insert(&f.map, 6, 6));
    teardown(&f);
}

static void as_many_fit_as_were_asked_for(void** state)
{
    (void)state;
    for (int entry_count = 0; entry_count <= 100; ++entry_count) {
        fixture f;
        setup(&f, entry_count, 1);
        for (int i = 0; i < entry_count; ++i) {
            assert_true(ph_hash_map_insert(&f.map, (uint64_t)i, 0));
        }
        assert_true(f.map.limit < (int)f.map.capacity || f.map.capacity == 0);
        teardown(&f);
    }
}

static void reserving_keeps_every_entry(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 100, 3);
    for (uint32_t i = 0; i < 100; ++i) {
        assert_true(ph_hash_map_insert(&f.map, i * UINT64_C(1000), i));
    }
    assert_int_equal(ph_hash_map_reserve(&f.map, 50), PH_OK);
    assert_int_equal(f.memory.allocate_count, 1);
    assert_int_equal(ph_hash_map_reserve(&f.map, 5000), PH_OK);
    assert_int_equal(f.memory.allocate_count, 2);
    assert_int_equal(f.map.count, 100);
    for (uint32_t i = 0; i < 100; ++i) {
        assert_found(&f.map, i * UINT64_C(1000), i);
    }
    teardown(&f);
}

static void clearing_keeps_the_memory(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 10, 3);
    assert_true(ph_hash_map_insert(&f.map, 1, 1));
    ph_hash_map_clear(&f.map);
    assert_int_equal(f.map.count, 0);
    assert_missing(&f.map, 1);
    assert_true(ph_hash_map_insert(&f.map, 1, 2));
    assert_int_equal(f.memory.allocate_count, 1);
    teardown(&f);
}

static void a_zero_map_is_empty_and_can_grow(void** state)
{
    (void)state;
    ph_hash_map map = {0};
    assert_true(ph_hash_map_validate(&map));
    assert_missing(&map, 0);
    assert_false(ph_hash_map_insert(&map, 0, 0));
    assert_false(ph_hash_map_remove(&map, 0));
    ph_hash_map_clear(&map);
    assert_int_equal(ph_hash_map_reserve(&map, 1), PH_OK);
    assert_true(ph_hash_map_insert(&map, 0, 0));
    ph_hash_map_destroy(&map);
    ph_hash_map_destroy(&map);
}

static void no_memory_leaves_the_map_as_it_was(void** state)
{
    (void)state;
    test_memory memory = {.fail_at = 1};
    ph_allocator allocator = test_memory_allocator(&memory);
    ph_hash_map map;
    memset(&map, 0xFF, sizeof(map));
    assert_int_equal(ph_hash_map_create(&map, &allocator, 4, 9), PH_ERROR_MEMORY);
    assert_true(ph_hash_map_validate(&map));
    assert_int_equal(map.capacity, 0);

    memory.fail_at = 3;
    assert_int_equal(ph_hash_map_create(&map, &allocator, 4, 9), PH_OK);
    assert_true(ph_hash_map_insert(&map, 1, 2));
    ph_hash_map before = map;
    assert_int_equal(ph_hash_map_reserve(&map, 100), PH_ERROR_MEMORY);
    assert_memory_equal(&map, &before, sizeof(map));
    assert_int_equal(ph_hash_map_reserve(&map, INT32_MAX), PH_ERROR_MEMORY);
    assert_memory_equal(&map, &before, sizeof(map));
    assert_int_equal(memory.allocate_count, 3); // the last one was too much to even ask for
    assert_found(&map, 1, 2);
    assert_true(ph_hash_map_validate(&map));
    ph_hash_map_destroy(&map);
    test_memory_assert_clean(&memory);
}

static void the_same_calls_give_the_same_layout(void** state)
{
    (void)state;
    fixture one;
    fixture two;
    setup(&one, 200, 42);
    setup(&two, 200, 42);
    test_rng rng = {.state = 8};
    for (int i = 0; i < 2000; ++i) {
        uint64_t key = test_rng_below(&rng, 300);
        if (test_rng_below(&rng, 3) == 0) {
            ph_hash_map_remove(&one.map, key);
            ph_hash_map_remove(&two.map, key);
        } else {
            ph_hash_map_insert(&one.map, key, (uint32_t)i);
            ph_hash_map_insert(&two.map, key, (uint32_t)i);
        }
    }
    assert_memory_equal(one.map.entries, two.map.entries, one.map.capacity * sizeof(ph_hash_entry));
    teardown(&one);
    teardown(&two);
}

// Without the seed, an attacker who knows the hash could fill one bucket and make each search a
// long walk.
static void keys_chosen_against_one_seed_are_harmless_under_another(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 700, 1234);
    int count = 0;
    for (uint64_t key = 0; count < 700; ++key) {
        if (ph_hash_key(key, 1) % f.map.capacity == 0) {
            assert_true(ph_hash_map_insert(&f.map, key, 0));
            ++count;
        }
    }
    uint32_t longest = 0;
    for (uint32_t i = 0; i < f.map.capacity; ++i) {
        if (longest < f.map.entries[i].distance1) {
            longest = f.map.entries[i].distance1;
        }
    }
    assert_in_range(longest, 1, 32);
    teardown(&f);
}

static void validate_sees_damage(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 12, 0);
    for (uint32_t i = 0; i < 8; ++i) {
        assert_true(ph_hash_map_insert(&f.map, i, i));
    }
    ph_hash_entry* entry = f.map.entries;
    while (entry->distance1 == 0) {
        ++entry;
    }
    ph_hash_entry good = *entry;
    ++entry->distance1;
    assert_false(ph_hash_map_validate(&f.map));
    *entry = (ph_hash_entry){0};
    assert_false(ph_hash_map_validate(&f.map));
    *entry = good;
    ++f.map.count;
    assert_false(ph_hash_map_validate(&f.map));
    --f.map.count;
    teardown(&f);
}

enum { KEY_COUNT = 150 };

typedef struct model {
    uint32_t values[KEY_COUNT];
    bool is_in[KEY_COUNT];
    int count;
} model;

static void random_step(fixture* f, model* m, test_rng* rng)
{
    uint64_t key = test_rng_below(rng, KEY_COUNT);
    if (test_rng_below(rng, 100) < 55) {
        uint32_t value = (uint32_t)test_rng_next(rng);
        bool fits = m->is_in[key] || m->count < f->map.limit;
        assert_int_equal(ph_hash_map_insert(&f->map, key, value), fits);
        if (fits) {
            m->count += !m->is_in[key];
            m->is_in[key] = true;
            m->values[key] = value;
        }
    } else {
        assert_int_equal(ph_hash_map_remove(&f->map, key), m->is_in[key]);
        m->count -= m->is_in[key];
        m->is_in[key] = false;
    }
}

static void assert_agrees(const ph_hash_map* map, const model* m)
{
    assert_true(ph_hash_map_validate(map));
    assert_int_equal(map->count, m->count);
    for (uint64_t key = 0; key < KEY_COUNT; ++key) {
        if (m->is_in[key]) {
            assert_found(map, key, m->values[key]);
        } else {
            assert_missing(map, key);
        }
    }
}

static void random_operations_agree_with_an_array(void** state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        test_rng rng = {.state = seed};
        fixture f;
        model m = {0};
        setup(&f, 3, seed);
        for (int step = 0; step < 3000; ++step) {
            random_step(&f, &m, &rng);
            if (test_rng_below(&rng, 200) == 0 && f.map.limit < 96) {
                assert_int_equal(ph_hash_map_reserve(&f.map, f.map.limit + 1), PH_OK);
            }
            if (step % 10 == 0) {
                assert_agrees(&f.map, &m);
            }
        }
        assert_agrees(&f.map, &m);
        teardown(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_key_and_value_will_do),
        cmocka_unit_test(inserting_again_replaces_the_value),
        cmocka_unit_test(a_full_map_refuses_new_keys_only),
        cmocka_unit_test(as_many_fit_as_were_asked_for),
        cmocka_unit_test(reserving_keeps_every_entry),
        cmocka_unit_test(clearing_keeps_the_memory),
        cmocka_unit_test(a_zero_map_is_empty_and_can_grow),
        cmocka_unit_test(no_memory_leaves_the_map_as_it_was),
        cmocka_unit_test(the_same_calls_give_the_same_layout),
        cmocka_unit_test(keys_chosen_against_one_seed_are_harmless_under_another),
        cmocka_unit_test(validate_sees_damage),
        cmocka_unit_test(random_operations_agree_with_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
