// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The narrowest place of a simulated network, by itself and in links.

#include "kit/bottleneck.h"
#include "kit/link.h"

#include "support/test_support.h"

static void datagrams_leave_one_after_the_other(void** state)
{
    (void)state;
    ph_bottleneck narrow = {.bits_per_second = 8000, .queue_bytes = 1000, .overhead_bytes = 40};
    uint64_t leave_us;
    for (uint64_t i = 1; i <= 3; ++i) {
        assert_true(ph_bottleneck_pass(&narrow, 5000, 60, &leave_us)); // 100 ms each
        assert_int_equal(leave_us, 5000 + i * 100000);
    }
    assert_int_equal(ph_bottleneck_wait_us(&narrow, 55000), 250000);
    assert_int_equal(ph_bottleneck_wait_us(&narrow, 305000), 0);
    assert_true(ph_bottleneck_pass(&narrow, 400000, 60, &leave_us));
    assert_int_equal(leave_us, 500000);
}

static void what_finds_no_room_is_dropped(void** state)
{
    (void)state;
    ph_bottleneck narrow = {.bits_per_second = 8000, .queue_bytes = 250};
    uint64_t leave_us;
    assert_true(ph_bottleneck_pass(&narrow, 0, 100, &leave_us));
    assert_true(ph_bottleneck_pass(&narrow, 0, 100, &leave_us));
    assert_false(ph_bottleneck_pass(&narrow, 0, 100, &leave_us));
    assert_false(ph_bottleneck_pass(&narrow, 49000, 100, &leave_us));
    assert_true(ph_bottleneck_pass(&narrow, 50000, 100, &leave_us));
    assert_int_equal(narrow.dropped, 2);
    assert_int_equal(narrow.passed, 3);
}

static void an_empty_queue_takes_a_datagram_of_any_size(void** state)
{
    (void)state;
    ph_bottleneck narrow = {.bits_per_second = 8000, .queue_bytes = 10};
    uint64_t leave_us;
    assert_true(ph_bottleneck_pass(&narrow, 0, 100, &leave_us));
    assert_false(ph_bottleneck_pass(&narrow, 99999, 100, &leave_us));
    assert_true(ph_bottleneck_pass(&narrow, 100000, 100, &leave_us));
}

static void no_rate_is_no_bottleneck(void** state)
{
    (void)state;
    ph_bottleneck narrow = {.queue_bytes = 1};
    uint64_t leave_us;
    for (int i = 0; i < 100; ++i) {
        assert_true(ph_bottleneck_pass(&narrow, 7, 1000, &leave_us));
        assert_int_equal(leave_us, 7);
    }
}

static void links_share_it(void** state)
{
    (void)state;
    ph_bottleneck narrow = {.bits_per_second = 80000, .queue_bytes = 250};
    const ph_link_def def = {.delay_us = 3000, .bottleneck = &narrow};
    ph_link* links[2] = {ph_link_create(&def), ph_link_create(&def)};
    const uint8_t bytes[100] = {0};
    for (int i = 0; i < 4; ++i) {
        ph_link_send(links[i % 2], 1000, bytes, sizeof bytes);
    }
    assert_int_equal(ph_link_next_us(links[0]), 1000 + 10000 + 3000);
    assert_int_equal(ph_link_next_us(links[1]), 1000 + 20000 + 3000);
    assert_int_equal(ph_link_get_stats(links[0]).lost, 1); // the third
    assert_int_equal(ph_link_get_stats(links[1]).lost, 1);
    ph_link_destroy(links[0]);
    ph_link_destroy(links[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(datagrams_leave_one_after_the_other),
        cmocka_unit_test(what_finds_no_room_is_dropped),
        cmocka_unit_test(an_empty_queue_takes_a_datagram_of_any_size),
        cmocka_unit_test(no_rate_is_no_bottleneck),
        cmocka_unit_test(links_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
