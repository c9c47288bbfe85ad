// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The narrowest place of a simulated network, in one link and in several.

#include "support/test_links.h"

// Sends so many bytes. Returns when they arrive; UINT64_MAX when they are dropped.
static uint64_t arrival_us(ph_bottleneck* narrow, uint64_t now_us, size_t size)
{
    static const uint8_t bytes[1000] = {0};
    ph_link* link = test_link_create(&(ph_link_def){.bottleneck = narrow});
    assert_int_equal(ph_link_send(link, now_us, bytes, size), PH_OK);
    const uint64_t arrival = ph_link_next_us(link);
    ph_link_destroy(link);
    return arrival;
}

static void datagrams_leave_one_after_the_other(void** state)
{
    (void)state;
    ph_bottleneck narrow = {.bits_per_second = 8000, .queue_bytes = 1000, .overhead_bytes = 40};
    for (uint64_t i = 1; i <= 3; ++i) {
        assert_int_equal(arrival_us(&narrow, 5000, 60), 5000 + i * 100000); // 100 ms each
    }
    assert_int_equal(ph_bottleneck_wait_us(&narrow, 55000), 250000);
    assert_int_equal(ph_bottleneck_wait_us(&narrow, 305000), 0);
    assert_int_equal(arrival_us(&narrow, 400000, 60), 500000);
}

static void what_finds_no_room_is_dropped(void** state)
{
    (void)state;
    ph_bottleneck narrow = {.bits_per_second = 8000, .queue_bytes = 250};
    assert_true(arrival_us(&narrow, 0, 100) == 100000);
    assert_true(arrival_us(&narrow, 0, 100) == 200000);
    assert_true(arrival_us(&narrow, 0, 100) == UINT64_MAX);
    assert_true(arrival_us(&narrow, 49000, 100) == UINT64_MAX);
    assert_true(arrival_us(&narrow, 50000, 100) == 300000);
    assert_int_equal(narrow.dropped, 2);
    assert_int_equal(narrow.passed, 3);
}

static void an_empty_queue_takes_a_datagram_of_any_size(void** state)
{
    (void)state;
    ph_bottleneck narrow = {.bits_per_second = 8000, .queue_bytes = 10};
    assert_true(arrival_us(&narrow, 0, 100) == 100000);
    assert_true(arrival_us(&narrow, 99999, 100) == UINT64_MAX);
    assert_true(arrival_us(&narrow, 100000, 100) == 200000);
}

static void no_rate_is_no_bottleneck(void** state)
{
    (void)state;
    ph_bottleneck narrow = {.queue_bytes = 1};
    for (int i = 0; i < 100; ++i) {
        assert_int_equal(arrival_us(&narrow, 7, 1000), 7);
    }
}

// A datagram that the network loses has passed the bottleneck before.
static void lost_datagrams_take_their_time(void** state)
{
    (void)state;
    ph_bottleneck narrow = {.bits_per_second = 8000, .queue_bytes = 250};
    ph_link* link = test_link_create(&(ph_link_def){.loss = 1.0, .bottleneck = &narrow});
    const uint8_t bytes[100] = {0};
    assert_int_equal(ph_link_send(link, 0, bytes, sizeof bytes), PH_OK);
    assert_int_equal(ph_bottleneck_wait_us(&narrow, 0), 100000);
    assert_int_equal(ph_link_get_stats(link).lost_datagrams, 1);
    ph_link_destroy(link);
}

static void links_share_it(void** state)
{
    (void)state;
    ph_bottleneck narrow = {.bits_per_second = 80000, .queue_bytes = 250};
    const ph_link_def def = {.delay_us = 3000, .bottleneck = &narrow};
    ph_link* links[2] = {test_link_create(&def), test_link_create(&def)};
    const uint8_t bytes[100] = {0};
    for (int i = 0; i < 4; ++i) {
        ph_link_send(links[i % 2], 1000, bytes, sizeof bytes);
    }
    assert_int_equal(ph_link_next_us(links[0]), 1000 + 10000 + 3000);
    assert_int_equal(ph_link_next_us(links[1]), 1000 + 20000 + 3000);
    assert_int_equal(ph_link_get_stats(links[0]).lost_datagrams, 1); // the third
    assert_int_equal(ph_link_get_stats(links[1]).lost_datagrams, 1);
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
        cmocka_unit_test(lost_datagrams_take_their_time),
        cmocka_unit_test(links_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
