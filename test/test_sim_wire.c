// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is measured at the link: by hand-made datagrams whose figures are known.

#include "test_support.h"

#include "kit/sim_wire.h"

#define SECOND_US UINT64_C(1000000)

typedef struct fixture {
    ph_sim_wire wire;
    ph_sim_traffic traffic;
} fixture;

// 8,000 bits a second, as many deep; 10 bytes of overhead; 4 ticks a second.
static void set_up(fixture* f, int64_t bits_per_second)
{
    f->traffic = (ph_sim_traffic){0};
    const ph_sim_wire_def def = {
        .bits_per_second = bits_per_second,
        .depth_bits = 8000,
        .overhead_bytes = 10,
        .rate_hz = 4,
        .now_us = SECOND_US,
    };
    assert_true(ph_sim_wire_create(&f->wire, &def, &f->traffic));
    ph_sim_wire_tick(&f->wire, SECOND_US, true);
}

static void tear_down(fixture* f)
{
    ph_sim_wire_destroy(&f->wire);
}

static void a_full_bucket_pays_to_the_last_bit(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 8000);
    ph_sim_wire_send(&f.wire, 990);
    assert_int_equal(f.traffic.overruns, 0);
    ph_sim_wire_tick(&f.wire, SECOND_US + SECOND_US / 4, true);
    ph_sim_wire_send(&f.wire, 240);
    assert_int_equal(f.traffic.overruns, 0);
    tear_down(&f);
}

static void one_byte_too_many_is_an_overrun(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 8000);
    ph_sim_wire_send(&f.wire, 991);
    assert_int_equal(f.traffic.overruns, 1);
    tear_down(&f);
}

static void one_microsecond_too_early_is_an_overrun(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 8000);
    ph_sim_wire_send(&f.wire, 990);
    ph_sim_wire_tick(&f.wire, SECOND_US + SECOND_US / 4 - 1, true);
    ph_sim_wire_send(&f.wire, 240);
    assert_int_equal(f.traffic.overruns, 1);
    tear_down(&f);
}

static void without_a_limit_nothing_overruns(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 0);
    for (int i = 0; i < 100; ++i) {
        ph_sim_wire_send(&f.wire, 1200);
    }
    assert_int_equal(f.traffic.overruns, 0);
    assert_int_equal(f.traffic.wire_bytes, 121000);
    tear_down(&f);
}

static void the_worst_second_slides(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 0);
    // 100 bytes in the ticks 0, 3 and 4: two of them within any second.
    for (int tick = 0; tick < 12; ++tick) {
        if (tick > 0) {
            ph_sim_wire_tick(&f.wire, SECOND_US + (uint64_t)tick * SECOND_US / 4, true);
        }
        if (tick == 0 || tick == 3 || tick == 4) {
            ph_sim_wire_send(&f.wire, 90);
        }
    }
    assert_int_equal(f.traffic.worst_1s_bytes, 200);
    tear_down(&f);
}

static void what_is_not_counted_leaves_no_trace_but_overruns(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 8000);
    ph_sim_wire_tick(&f.wire, SECOND_US, false);
    ph_sim_wire_send(&f.wire, 500);
    assert_int_equal(f.traffic.wire_bytes, 0);
    assert_int_equal(f.traffic.datagrams, 0);
    ph_sim_wire_send(&f.wire, 1000);
    assert_int_equal(f.traffic.overruns, 1);
    tear_down(&f);
}

static void tokens_over_the_brim_are_wasted_only_when_something_is_due(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 8000);
    ph_sim_wire_end_send(&f.wire, false);
    ph_sim_wire_tick(&f.wire, 2 * SECOND_US, true);
    assert_true(f.traffic.wasted_bits == 0.0);
    ph_sim_wire_end_send(&f.wire, true);
    ph_sim_wire_tick(&f.wire, 2 * SECOND_US + SECOND_US / 4, true);
    assert_true(f.traffic.wasted_bits == 2000.0);
    tear_down(&f);
}

static void tokens_left_by_the_last_send_are_wasted_when_something_is_due(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, 8000);
    ph_sim_wire_send(&f.wire, 490);
    ph_sim_wire_end_send(&f.wire, true);
    ph_sim_wire_tick(&f.wire, SECOND_US + SECOND_US / 4, true);
    ph_sim_wire_finish(&f.wire);
    assert_true(f.traffic.wasted_bits == 4000.0);
    const ph_sim_result result = {.rate_hz = 4, .traffic = f.traffic};
    assert_true(ph_sim_result_rates(&result).budget_used_pct == 50.0);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_bucket_pays_to_the_last_bit),
        cmocka_unit_test(one_byte_too_many_is_an_overrun),
        cmocka_unit_test(one_microsecond_too_early_is_an_overrun),
        cmocka_unit_test(without_a_limit_nothing_overruns),
        cmocka_unit_test(the_worst_second_slides),
        cmocka_unit_test(what_is_not_counted_leaves_no_trace_but_overruns),
        cmocka_unit_test(tokens_over_the_brim_are_wasted_only_when_something_is_due),
        cmocka_unit_test(tokens_left_by_the_last_send_are_wasted_when_something_is_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
