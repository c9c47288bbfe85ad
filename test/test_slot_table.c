// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From entities to slots, against an array that is searched from end to end.

#include "support/test_support.h"

#include "vision/slot_table.h"

enum { SLOT_COUNT = 100, ENTRIES_MAX = 512 };

typedef struct fixture {
    uint16_t entries[ENTRIES_MAX];
    ph_entity_index entities[SLOT_COUNT];
    ph_slot_table table;
} fixture;

static void setup(fixture* f)
{
    assert_true(ph_slot_table_size(SLOT_COUNT) <= ENTRIES_MAX);
    for (int slot = 0; slot < SLOT_COUNT; ++slot) {
        f->entities[slot] = PH_ENTITY_NONE;
    }
    f->table = ph_slot_table_make(f->entries, f->entities, SLOT_COUNT);
}

static int search(const fixture* f, ph_entity_index entity)
{
    for (int slot = 0; slot < SLOT_COUNT; ++slot) {
        if (f->entities[slot] == entity) {
            return slot;
        }
    }
    return -1;
}

static void toggle(fixture* f, ph_entity_index entity)
{
    const int slot = search(f, entity);
    if (slot >= 0) {
        ph_slot_table_remove(&f->table, entity);
        f->entities[slot] = PH_ENTITY_NONE;
        return;
    }
    const int empty = search(f, PH_ENTITY_NONE);
    if (empty >= 0) {
        ph_slot_table_insert(&f->table, entity, empty);
        f->entities[empty] = entity;
    }
}

static void at_least_half_of_the_table_is_empty(void** state)
{
    (void)state;
    assert_int_equal(ph_slot_table_size(1), 2);
    assert_int_equal(ph_slot_table_size(2), 4);
    assert_int_equal(ph_slot_table_size(64), 128);
    assert_int_equal(ph_slot_table_size(65), 256);
    assert_int_equal(ph_slot_table_size(65535), 131072);
}

static void a_new_table_finds_nothing(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    assert_int_equal(ph_slot_table_find(&f.table, 0), -1);
    assert_int_equal(ph_slot_table_find(&f.table, PH_ENTITY_NONE), -1);
    assert_int_equal(ph_slot_table_count(&f.table), 0);
}

// Few entities, so that everything comes and goes often, and a full table at times. Multiples of a
// large power of two share their home: long runs, which removal has to close correctly.
static void finds_what_a_search_finds(void** state)
{
    (void)state;
    test_rng rng = {.state = 31};
    fixture f;
    setup(&f);
    for (int step = 0; step < 20000; ++step) {
        const uint32_t number = (uint32_t)test_rng_below(&rng, 120);
        const ph_entity_index entity = number % 3 == 0 ? number << 24 : number;
        toggle(&f, entity);
        const uint32_t other = (uint32_t)test_rng_below(&rng, 120);
        assert_int_equal(ph_slot_table_find(&f.table, other), search(&f, other));
        assert_int_equal(ph_slot_table_find(&f.table, entity), search(&f, entity));
    }
}

static void every_entity_stays_findable_while_others_leave(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    for (uint32_t i = 0; i < SLOT_COUNT; ++i) {
        toggle(&f, i * 7919);
    }
    assert_int_equal(ph_slot_table_count(&f.table), SLOT_COUNT);
    for (uint32_t i = 0; i < SLOT_COUNT; ++i) {
        toggle(&f, i * 7919);
        for (uint32_t j = 0; j < SLOT_COUNT; ++j) {
            assert_int_equal(ph_slot_table_find(&f.table, j * 7919), j <= i ? -1 : (int)j);
        }
    }
    assert_int_equal(ph_slot_table_count(&f.table), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_least_half_of_the_table_is_empty),
        cmocka_unit_test(a_new_table_finds_nothing),
        cmocka_unit_test(finds_what_a_search_finds),
        cmocka_unit_test(every_entity_stays_findable_while_others_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
