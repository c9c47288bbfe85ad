// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The bucket at the socket: exact, and each datagram is judged by itself.

#include "test_support.h"

#include "net/wire_meter.h"

enum { SECOND_US = 1000000, RATE = 8000, DEPTH = 4000 }; // 1,000 bytes a second, 500 saved up

static void what_is_saved_up_may_be_spent_and_not_a_bit_more(void** state)
{
    (void)state;
    ph_wire_meter meter = ph_wire_meter_make(RATE, DEPTH, SECOND_US);
    ph_wire_meter_pass(&meter, 500, SECOND_US);
    assert_int_equal(meter.overruns, 0);
    ph_wire_meter_pass(&meter, 1, SECOND_US + 999); // a microsecond too early
    assert_int_equal(meter.overruns, 1);
    ph_wire_meter_pass(&meter, 1, SECOND_US + 1999);
    assert_int_equal(meter.overruns, 1);
    assert_int_equal(meter.datagrams, 3);
    assert_int_equal(meter.bytes, 502);
}

static void nothing_is_saved_up_beyond_the_depth(void** state)
{
    (void)state;
    ph_wire_meter meter = ph_wire_meter_make(RATE, DEPTH, 0);
    ph_wire_meter_pass(&meter, 501, UINT64_C(1) << 62); // however long it was
    assert_int_equal(meter.overruns, 1);
    ph_wire_meter_pass(&meter, 500, UINT64_C(1) << 62); // that one has emptied it
    assert_int_equal(meter.overruns, 2);
}

static void another_budget_counts_from_then_on(void** state)
{
    (void)state;
    ph_wire_meter meter = ph_wire_meter_make(RATE, DEPTH, 0);
    ph_wire_meter_pass(&meter, 500, 0);
    ph_wire_meter_change(&meter, 2 * RATE, 2 * DEPTH, SECOND_US / 4); // 250 bytes until then
    ph_wire_meter_pass(&meter, 750, SECOND_US / 2);                   // and 500 from then on
    assert_int_equal(meter.overruns, 0);
    ph_wire_meter_change(&meter, RATE, 800, SECOND_US);
    ph_wire_meter_pass(&meter, 101, SECOND_US);
    assert_int_equal(meter.overruns, 1);
}

static void without_a_limit_it_only_counts(void** state)
{
    (void)state;
    ph_wire_meter meter = ph_wire_meter_make(0, 0, 0);
    ph_wire_meter_pass(&meter, 100000, 0);
    assert_int_equal(meter.overruns, 0);
    assert_int_equal(meter.bytes, 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_saved_up_may_be_spent_and_not_a_bit_more),
        cmocka_unit_test(nothing_is_saved_up_beyond_the_depth),
        cmocka_unit_test(another_budget_counts_from_then_on),
        cmocka_unit_test(without_a_limit_it_only_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
