// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The pool: every index once, whatever the number of threads. Also run under ThreadSanitizer.

#include "test_support.h"

#include <pinhole/net/pool.h>

#include <stdlib.h>

enum { COUNT_MAX = 1000 };

static void count_up(void* context, int index)
{
    int* counts = context;
    ++counts[index];
}

static void run_rounds(int thread_count, int count, int rounds)
{
    int counts[COUNT_MAX] = {0};
    ph_pool* pool = ph_pool_create(thread_count);
    assert_non_null(pool);
    for (int round = 0; round < rounds; ++round) {
        ph_pool_run(pool, count, count_up, counts);
    }
    for (int i = 0; i < COUNT_MAX; ++i) {
        assert_int_equal(counts[i], i < count ? rounds : 0);
    }
    ph_pool_destroy(pool);
}

static void each_index_is_worked_on_once(void** state)
{
    (void)state;
    run_rounds(1, 100, 10);
    run_rounds(2, 1, 200);
    run_rounds(3, COUNT_MAX, 200);
    run_rounds(7, 5, 200); // more threads than work
    run_rounds(0, 64, 50); // as many as there are cores
}

static void no_work_is_no_wait(void** state)
{
    (void)state;
    run_rounds(2, 0, 100);
}

// What one run wrote, the next one reads, on whichever thread.
static void add_neighbour(void* context, int index)
{
    long* values = context;
    values[COUNT_MAX + index] = values[index] + values[(index + 1) % COUNT_MAX];
}

static void copy_back(void* context, int index)
{
    long* values = context;
    values[index] = values[COUNT_MAX + index] % 1000003;
}

static void runs_see_what_the_run_before_wrote(void** state)
{
    (void)state;
    long* values[2];
    for (int i = 0; i < 2; ++i) {
        values[i] = calloc(2 * COUNT_MAX, sizeof(long));
        values[i][0] = 1;
        ph_pool* pool = ph_pool_create(1 + 3 * i);
        for (int round = 0; round < 50; ++round) {
            ph_pool_run(pool, COUNT_MAX, add_neighbour, values[i]);
            ph_pool_run(pool, COUNT_MAX, copy_back, values[i]);
        }
        ph_pool_destroy(pool);
    }
    assert_memory_equal(values[0], values[1], COUNT_MAX * sizeof(long));
    free(values[0]);
    free(values[1]);
}

static void an_idle_pool_can_be_destroyed(void** state)
{
    (void)state;
    ph_pool* pool = ph_pool_create(4);
    assert_int_equal(ph_pool_thread_count(pool), 4);
    ph_pool_destroy(pool);
    ph_pool_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_index_is_worked_on_once),
        cmocka_unit_test(no_work_is_no_wait),
        cmocka_unit_test(runs_see_what_the_run_before_wrote),
        cmocka_unit_test(an_idle_pool_can_be_destroyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
