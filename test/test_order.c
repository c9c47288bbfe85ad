// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The order of slots against a plain sort, for every kind of priority a scheduler might come up
// with.

#include "support/test_support.h"

#include "base/partial_sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MAX = UINT16_MAX };

typedef struct ranked {
    float priority;
    int slot;
} ranked;

// Allocated to size: AddressSanitizer sees every step past an end.
typedef struct fixture {
    int slot_count;
    float* priority;
    ph_order_memory memory;
    ranked* expected;
    ph_order order;
} fixture;

static void setup(fixture* f, int slot_count)
{
    const size_t count = (size_t)slot_count;
    f->slot_count = slot_count;
    f->priority = malloc(count * sizeof(float));
    f->memory.ready = malloc(count * sizeof(uint16_t));
    f->memory.buckets = malloc(count * sizeof(uint16_t));
    f->memory.scratch = malloc(count * sizeof(uint16_t));
    f->expected = malloc(count * sizeof(ranked));
    assert_true(f->priority && f->memory.ready && f->memory.buckets && f->memory.scratch);
    assert_non_null(f->expected);
}

static void teardown(fixture* f)
{
    free(f->priority);
    free(f->memory.ready);
    free(f->memory.buckets);
    free(f->memory.scratch);
    free(f->expected);
}

static int compare(const void* left, const void* right)
{
    const ranked* a = left;
    const ranked* b = right;
    if (a->priority != b->priority) {
        return a->priority > b->priority ? -1 : 1;
    }
    return a->slot - b->slot;
}

static int sort_plainly(fixture* f)
{
    int count = 0;
    for (int i = 0; i < f->slot_count; ++i) {
        if (f->priority[i] > 0.0f) {
            f->expected[count++] = (ranked){f->priority[i], i};
        }
    }
    qsort(f->expected, (size_t)count, sizeof *f->expected, compare);
    return count;
}

// Takes up to `wanted` and, if that is beyond the last, looks for the end.
static void assert_sorted(fixture* f, int wanted)
{
    const int count = sort_plainly(f);
    ph_order_begin(&f->order, f->priority, f->slot_count, &f->memory);
    for (int i = 0; i < wanted && i < count; ++i) {
        assert_true(ph_order_has_more(&f->order));
        assert_int_equal(ph_order_next(&f->order), f->expected[i].slot);
    }
    if (wanted > count) {
        assert_false(ph_order_has_more(&f->order));
        assert_int_equal(ph_order_next(&f->order), -1);
        assert_int_equal(ph_order_next(&f->order), -1);
    }
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// ---- kinds of priorities

static float draw_score(test_rng* rng)
{
    const float sends = (float)test_rng_below(rng, 50);
    return sends * 10000.0f / (1.0f + (float)test_rng_below(rng, 250000));
}

static float draw_few_levels(test_rng* rng)
{
    return (float)test_rng_below(rng, 4);
}

static float draw_equal(test_rng* rng)
{
    (void)rng;
    return 0.37f;
}

// Every float there is: NaN, infinities, denormals and negative ones among them.
static float draw_any_bits(test_rng* rng)
{
    return from_bits((uint32_t)test_rng_next(rng));
}

// Next to each bound of what counts. 0x7F800001 is the first NaN behind infinity.
static float draw_special(test_rng* rng)
{
    const float special[] = {
        0.0f,     -0.0f,     0x1p-149f, -0x1p-149f, 0x1p-126f, 0x1p127f,
        INFINITY, -INFINITY, NAN,       -NAN,       1.0f,      0x1.000002p0f,
    };
    const uint64_t choice = test_rng_below(rng, 1 + sizeof special / sizeof special[0]);
    return choice == 0 ? from_bits(0x7F800001) : special[choice - 1];
}

static float draw_denormal(test_rng* rng)
{
    return from_bits((uint32_t)test_rng_below(rng, 0x00800000));
}

// Most in one bucket, a few far away.
static float draw_crowded(test_rng* rng)
{
    const float close = 1.0f + (float)test_rng_below(rng, 1 << 20) * 0x1p-23f;
    return test_rng_below(rng, 40) == 0 ? draw_any_bits(rng) : close;
}

static float (*const KINDS[])(test_rng*) = {
    draw_score,   draw_few_levels, draw_equal,   draw_any_bits,
    draw_special, draw_denormal,   draw_crowded,
};
enum { KIND_COUNT = sizeof KINDS / sizeof KINDS[0] };

static void draw(fixture* f, test_rng* rng, int kind)
{
    for (int i = 0; i < f->slot_count; ++i) {
        f->priority[i] = KINDS[kind](rng);
    }
}

// ---- tests

static void equals_a_plain_sort_for_any_priorities(void** state)
{
    (void)state;
    test_rng rng = {.state = 5150};
    for (int round = 0; round < 1400; ++round) {
        fixture f;
        setup(&f, 1 + (int)test_rng_below(&rng, round % 5 == 0 ? 3000 : 300));
        draw(&f, &rng, round % KIND_COUNT);
        assert_sorted(&f, f.slot_count + 1);
        teardown(&f);
    }
}

static void the_first_few_are_those_of_the_full_order(void** state)
{
    (void)state;
    test_rng rng = {.state = 5151};
    for (int round = 0; round < 700; ++round) {
        fixture f;
        setup(&f, 250);
        draw(&f, &rng, round % KIND_COUNT);
        assert_sorted(&f, 30);
        teardown(&f);
    }
}

static void all_sizes_up_to_the_greatest_work(void** state)
{
    (void)state;
    test_rng rng = {.state = 5152};
    const int sizes[] = {1, 2, 31, 32, 33, 34, 127, 128, 129, 4097, SLOTS_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        for (int kind = 0; kind < KIND_COUNT; ++kind) {
            fixture f;
            setup(&f, sizes[i]);
            draw(&f, &rng, kind);
            assert_sorted(&f, f.slot_count + 1);
            teardown(&f);
        }
    }
}

static void ties_come_by_slot(void** state)
{
    (void)state;
    const float priority[] = {2.0f, 5.0f, 2.0f, 5.0f, INFINITY, 2.0f, INFINITY};
    const int expected[] = {4, 6, 1, 3, 0, 2, 5, -1};
    uint16_t lanes[3][7];
    ph_order order;
    ph_order_begin(&order, priority, 7, &(ph_order_memory){lanes[0], lanes[1], lanes[2]});
    for (int i = 0; i < 8; ++i) {
        assert_int_equal(ph_order_next(&order), expected[i]);
    }
}

static void what_is_not_above_zero_never_comes(void** state)
{
    (void)state;
    const float priority[] = {0.0f, -0.0f, -1.0f, NAN, -NAN, -INFINITY, -0x1p-149f};
    uint16_t lanes[3][7];
    ph_order order;
    ph_order_begin(&order, priority, 7, &(ph_order_memory){lanes[0], lanes[1], lanes[2]});
    assert_int_equal(ph_order_next(&order), -1);
}

static void no_slots_have_an_end_only(void** state)
{
    (void)state;
    ph_order order;
    ph_order_begin(&order, NULL, 0, &(ph_order_memory){0});
    assert_int_equal(ph_order_next(&order), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_a_plain_sort_for_any_priorities),
        cmocka_unit_test(the_first_few_are_those_of_the_full_order),
        cmocka_unit_test(all_sizes_up_to_the_greatest_work),
        cmocka_unit_test(ties_come_by_slot),
        cmocka_unit_test(what_is_not_above_zero_never_comes),
        cmocka_unit_test(no_slots_have_an_end_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
