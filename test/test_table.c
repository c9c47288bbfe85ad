// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The columns of a class: rows are reused, values are compared word by word, and the version of a
// text changes exactly when its content does.

#include "support/test_support.h"
#include "support/small_world.h"

#include "entities/columns.h"

#include <string.h>

typedef struct fixture {
    small_world f;
    test_memory memory;
    ph_table table;
} fixture;

static void setup(fixture* t, int capacity)
{
    *t = (fixture){0};
    small_world_setup(&t->f, 0);
    const ph_allocator allocator = test_memory_allocator(&t->memory);
    const ph_class* described = ph_schema_class_at(t->f.schema, 0);
    assert_int_equal(ph_table_create(&t->table, described, &allocator, capacity), PH_OK);
}

static void teardown(fixture* t)
{
    assert_true(ph_table_validate(&t->table));
    ph_table_destroy(&t->table);
    test_memory_assert_clean(&t->memory);
    small_world_teardown(&t->f);
}

static ph_text text_of(const char* text)
{
    return (ph_text){.bytes = (const uint8_t*)text, .length = (uint16_t)strlen(text)};
}

static void a_version_changes_exactly_when_the_content_does(void** state)
{
    (void)state;
    fixture t;
    setup(&t, 4);
    const uint32_t row = ph_table_take_row(&t.table, 0);
    const uint32_t* version = ph_table_value(&t.table, NAME, row);
    const char* const contents[] = {"a", "b", "ab", "a", "", "longest of all!"};
    for (int i = 0; i < 6; ++i) {
        const uint32_t before = *version;
        assert_true(ph_table_store_text(&t.table, NAME, row, text_of(contents[i])));
        const uint32_t after = *version;
        assert_int_not_equal(after, before);
        assert_false(ph_table_store_text(&t.table, NAME, row, text_of(contents[i])));
        assert_int_equal(*version, after);
        const ph_text kept = ph_table_text(&t.table, NAME, row);
        assert_int_equal(kept.length, strlen(contents[i]));
        assert_memory_equal(kept.bytes, contents[i], kept.length);
    }
    teardown(&t);
}

static void a_change_in_any_word_is_seen(void** state)
{
    (void)state;
    fixture t;
    setup(&t, 4);
    const uint32_t row = ph_table_take_row(&t.table, 0);
    uint32_t words[3] = {0};
    ph_table_store(&t.table, VELOCITY, row, words);
    for (int i = 0; i < 3; ++i) {
        ++words[i];
        assert_true(ph_table_store(&t.table, VELOCITY, row, words));
        assert_false(ph_table_store(&t.table, VELOCITY, row, words));
    }
    teardown(&t);
}

static void rows_keep_their_values_while_others_come_and_go(void** state)
{
    (void)state;
    fixture t;
    setup(&t, 0);
    uint32_t rows[64];
    for (uint32_t i = 0; i < 64; ++i) {
        if (ph_table_is_full(&t.table)) {
            assert_int_equal(ph_table_reserve(&t.table, (int)i * 2 + 1), PH_OK);
        }
        rows[i] = ph_table_take_row(&t.table, i);
        ph_table_store(&t.table, HEALTH, rows[i], &i);
        const char letter[] = {(char)('A' + i), '\0'};
        ph_table_store_text(&t.table, NAME, rows[i], text_of(letter));
        if (i % 3 == 2) {
            ph_table_give_back_row(&t.table, rows[i - 1]);
        }
        assert_true(ph_table_validate(&t.table));
    }
    for (uint32_t i = 0; i < 64; ++i) {
        if (i % 3 == 1 && i + 1 < 64) {
            continue; // given back
        }
        assert_int_equal(*ph_table_value(&t.table, HEALTH, rows[i]), i);
        assert_int_equal(ph_table_text(&t.table, NAME, rows[i]).bytes[0], 'A' + i);
        assert_int_equal(t.table.owner[rows[i]], i);
    }
    assert_true(t.table.used_count < 64);
    teardown(&t);
}

// The world reserves only when a table is full; the table itself may grow at any time.
static void a_table_that_grows_still_knows_its_free_rows(void** state)
{
    (void)state;
    fixture t;
    setup(&t, 4);
    for (uint32_t i = 0; i < 4; ++i) {
        ph_table_take_row(&t.table, i);
    }
    ph_table_give_back_row(&t.table, 1);
    ph_table_give_back_row(&t.table, 3);
    assert_int_equal(ph_table_reserve(&t.table, 8), PH_OK);
    assert_true(ph_table_validate(&t.table));
    assert_int_equal(ph_table_take_row(&t.table, 10), 3); // the last one first
    assert_int_equal(ph_table_take_row(&t.table, 11), 1);
    assert_int_equal(ph_table_take_row(&t.table, 12), 4);
    teardown(&t);
}

static void no_memory_leaves_the_table_as_it_was(void** state)
{
    (void)state;
    fixture t;
    setup(&t, 1);
    const uint32_t row = ph_table_take_row(&t.table, 5);
    ph_table_store_text(&t.table, NAME, row, text_of("Ada"));
    t.memory.fail_at = t.memory.allocate_count + 1;
    assert_int_equal(ph_table_reserve(&t.table, 100), PH_ERROR_MEMORY);
    assert_true(ph_table_is_full(&t.table));
    assert_memory_equal(ph_table_text(&t.table, NAME, row).bytes, "Ada", 3);
    teardown(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_changes_exactly_when_the_content_does),
        cmocka_unit_test(a_change_in_any_word_is_seen),
        cmocka_unit_test(rows_keep_their_values_while_others_come_and_go),
        cmocka_unit_test(a_table_that_grows_still_knows_its_free_rows),
        cmocka_unit_test(no_memory_leaves_the_table_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
