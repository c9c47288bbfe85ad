// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "test_support.h"

#include "base/rng.h"
#include "demo_outbox.h"

#include <stdlib.h>
#include <string.h>

static void fill(uint8_t* bytes, size_t size, uint32_t number)
{
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)(number * 31 + i);
    }
}

static void assert_front(demo_outbox* outbox, size_t size, uint32_t number)
{
    uint8_t wanted[2000];
    size_t found = 0;
    uint8_t* front = demo_outbox_front(outbox, &found);
    assert_non_null(front);
    assert_int_equal(found, size);
    fill(wanted, size, number);
    assert_memory_equal(front, wanted, size);
    memset(front - DEMO_OUTBOX_GAP, 0xff, DEMO_OUTBOX_GAP); // as a server does
    assert_int_equal(demo_outbox_front(outbox, &found) - front, 0);
    assert_int_equal(found, size);
}

// Pushes and pops at random, seed 7: what comes out is what went in, in order.
static void frames_come_out_as_they_went_in(void** state)
{
    (void)state;
    ph_rng rng = ph_rng_make(7);
    demo_outbox outbox = {0};
    size_t sizes[4000];
    uint8_t frame[2000];
    uint32_t in = 0;
    uint32_t out = 0;
    while (in < 4000) {
        if (ph_rng_below(&rng, 3) > 0) {
            sizes[in] = 1 + ph_rng_below(&rng, sizeof frame);
            fill(frame, sizes[in], in);
            assert_true(demo_outbox_push(&outbox, frame, sizes[in]));
            ++in;
        }
        if (ph_rng_below(&rng, 2) > 0 && out < in) {
            assert_front(&outbox, sizes[out], out);
            demo_outbox_pop(&outbox);
            ++out;
        }
    }
    while (out < in) {
        assert_front(&outbox, sizes[out], out);
        demo_outbox_pop(&outbox);
        ++out;
    }
    assert_true(demo_outbox_is_empty(&outbox));
    assert_int_equal(outbox.taken, 4000);
    demo_outbox_destroy(&outbox);
}

static void a_reader_that_does_not_read_costs_bounded_memory(void** state)
{
    (void)state;
    demo_outbox outbox = {0};
    uint8_t* frame = calloc(1, 100000);
    int count = 0;
    while (demo_outbox_push(&outbox, frame, 100000)) {
        ++count;
        assert_in_range(outbox.capacity, 0, DEMO_OUTBOX_BYTES_MAX);
    }
    assert_in_range(count, 35, DEMO_OUTBOX_BYTES_MAX / 100000);
    assert_true(outbox.is_over);
    for (int i = 0; i < count; ++i) {
        demo_outbox_pop(&outbox);
    }
    assert_false(demo_outbox_push(&outbox, frame, 1)); // there is a hole in the feed: it stays over
    free(frame);
    demo_outbox_destroy(&outbox);
}

static void an_empty_one_has_nothing(void** state)
{
    (void)state;
    demo_outbox outbox = {0};
    size_t size = 0;
    assert_true(demo_outbox_is_empty(&outbox));
    assert_null(demo_outbox_front(&outbox, &size));
    demo_outbox_pop(&outbox);
    assert_int_equal(outbox.taken, 0);
    demo_outbox_destroy(&outbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_out_as_they_went_in),
        cmocka_unit_test(a_reader_that_does_not_read_costs_bounded_memory),
        cmocka_unit_test(an_empty_one_has_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
