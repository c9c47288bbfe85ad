// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The server's time as a client estimates it: close, steady, usable at once, over links that delay,
// lose and change, with clocks that drift apart.

#include "support/test_support.h"

#include "motion/clock.h"

#include <math.h>

// A link and what is measured on it; times in us. Our clock reads start_us when the server's is 0.
typedef struct link {
    double way_us;    // one way, without jitter
    double jitter_us; // evenly 0..this, each way
    double loss;
    double rate_hz;
    double drift; // our clock runs so much faster
    uint64_t start_us;
    test_rng rng;
    ph_clock clock;
} link;

static link make_default_link(uint64_t seed)
{
    return (link){.way_us = 50000.0,
                  .jitter_us = 20000.0,
                  .loss = 0.01,
                  .rate_hz = 5.0,
                  .start_us = UINT64_C(7000000000),
                  .rng = {.state = seed}};
}

static uint64_t our_time(const link* l, double server_us)
{
    return l->start_us + (uint64_t)(server_us * (1.0 + l->drift));
}

static double error_ms(const link* l, double server_us)
{
    return fabs(ph_clock_server_us(&l->clock, our_time(l, server_us)) - server_us) / 1000.0;
}

// Sends one packet; the round trip is known to 8 ms, as packet headers tell it. @return Arrival.
static double send(link* l, double server_us, bool has_rtt)
{
    const double down_us = l->way_us + l->jitter_us * test_rng_unit(&l->rng);
    const double up_us = l->way_us + l->jitter_us * test_rng_unit(&l->rng);
    const double unknown_us = 4000.0 - 8000.0 * test_rng_unit(&l->rng);
    const bool is_lost = test_rng_unit(&l->rng) < l->loss;
    const double arrival_us = server_us + down_us;
    if (!is_lost) {
        const double taken_us = (down_us + up_us + unknown_us) * (1.0 + l->drift);
        const double rtt_us = has_rtt ? taken_us : PH_CLOCK_NO_RTT;
        ph_clock_add(&l->clock, our_time(l, arrival_us), server_us, rtt_us);
    }
    return arrival_us;
}

// Mean absolute error in ms between two moments, asked ten times per packet.
static double run(link* l, double from_s, double to_s)
{
    const double interval_us = 1e6 / l->rate_hz;
    double sum_ms = 0.0;
    int count = 0;
    for (double t = from_s * 1e6; t < to_s * 1e6; t += interval_us) {
        const double arrival_us = send(l, t, t > 100000.0);
        for (int i = 0; i < 10; ++i) {
            sum_ms += error_ms(l, arrival_us + interval_us * 0.05 * i);
            ++count;
        }
    }
    return sum_ms / count;
}

static void the_first_packet_gives_a_time(void** state)
{
    (void)state;
    link l = make_default_link(1);
    assert_true(ph_clock_server_us(&l.clock, 12345) == 0.0);
    send(&l, 0.0, false);
    assert_true(error_ms(&l, 100000.0) < 25.0);
}

// Twenty seeds: 0.5 ms on average after the first second, 5 ms within it.
static void the_default_link_is_known_to_a_millisecond(void** state)
{
    (void)state;
    double early_ms = 0.0;
    double late_ms = 0.0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        link l = make_default_link(seed);
        early_ms += run(&l, 0.0, 1.0) / 20.0;
        late_ms += run(&l, 1.0, 60.0) / 20.0;
    }
    print_message("first second %.2f ms, then %.2f ms\n", early_ms, late_ms);
    assert_true(early_ms < 8.0);
    assert_true(late_ms < 1.0);
}

static void faster_packets_help(void** state)
{
    (void)state;
    double late_ms = 0.0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        link l = make_default_link(seed);
        l.rate_hz = 20.0;
        run(&l, 0.0, 2.0);
        late_ms += run(&l, 2.0, 30.0) / 20.0;
    }
    print_message("20 packets a second: %.2f ms\n", late_ms);
    assert_true(late_ms < 1.0);
}

static void clocks_that_drift_apart_are_followed(void** state)
{
    (void)state;
    double late_ms = 0.0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        link l = make_default_link(seed);
        l.drift = seed % 2 == 0 ? 1e-4 : -1e-4;
        run(&l, 0.0, 30.0);
        late_ms += run(&l, 30.0, 150.0) / 20.0;
    }
    print_message("drift of 100 ppm: %.2f ms\n", late_ms);
    assert_true(late_ms < 1.2);
}

// The clock goes on from what it shows at this moment.
static void change_drift(link* l, double server_us, double drift)
{
    const uint64_t before_us = our_time(l, server_us);
    l->drift = drift;
    l->start_us += before_us - our_time(l, server_us);
}

// Nothing comes for longer than the filter can say how wrong it may be, right when the drift has changed and it knows
// nothing of it. What it knows of both stays a covariance (a variance below 0 would turn corrections around).
static void a_pause_behind_a_change_of_drift_leaves_a_covariance(void** state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        link l = make_default_link(seed);
        run(&l, 0.0, 20.0);
        change_drift(&l, 20e6, 0.02);
        double t_us = 20e6;
        while (l.clock.variance[2] < 1e-4) { // until that is found
            send(&l, t_us, true);
            t_us += 2e5;
        }
        change_drift(&l, t_us, l.clock.drift / 10.0);
        t_us += 100e6;
        l.loss = 0.0;
        for (int i = 0; i < 100; ++i) {
            const link before = l;
            const uint64_t now_us = our_time(&l, send(&l, t_us, true));
            const double* variance = l.clock.variance;
            assert_true(variance[0] >= 0.0 && variance[2] >= 0.0);
            assert_true(variance[1] * variance[1] <= 1.001 * variance[0] * variance[2]);
            assert_true(fabs(ph_clock_server_us(&l.clock, now_us) -
                             ph_clock_server_us(&before.clock, now_us)) < 1.0);
            t_us += 2e5;
        }
        assert_true(run(&l, t_us * 1e-6, t_us * 1e-6 + 10.0) < 5.0);
    }
}

// A drift that was learned is extrapolated for ten seconds without a packet, and no longer: who knows whether it still
// is. Half a minute or an hour later the clock is off by that, and not by more.
static void drift_is_not_extrapolated_for_ever(void** state)
{
    (void)state;
    static const double PAUSES_S[] = {9.0, 30.0, 3600.0};
    for (size_t i = 0; i < sizeof PAUSES_S / sizeof PAUSES_S[0]; ++i) {
        link l = make_default_link(12);
        l.drift = 0.02;
        run(&l, 0.0, 20.0);
        change_drift(&l, 20e6, 0.0);
        const double extrapolated_s = fmin(PAUSES_S[i], 10.0);
        const double pause_us = PAUSES_S[i] * 1e6;
        const double off_ms = error_ms(&l, 20e6 + pause_us);
        assert_true(fabs(off_ms - 20.0 * extrapolated_s) < 20.0);
        // And from there packets set it right without a jump.
        l.loss = 0.0;
        for (int k = 0; k < 30; ++k) {
            const link before = l;
            const uint64_t now_us = our_time(&l, send(&l, 20e6 + pause_us + k * 2e5, true));
            assert_true(fabs(ph_clock_server_us(&l.clock, now_us) -
                             ph_clock_server_us(&before.clock, now_us)) < 1.0);
        }
        assert_true(error_ms(&l, 20e6 + pause_us + 6e6) < 20.0);
    }
}

static double mean_error_with_drift(double rate_hz, double drift)
{
    const double known_s = fmax(10.0, 100.0 / rate_hz);
    double late_ms = 0.0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        link l = make_default_link(seed);
        l.rate_hz = rate_hz;
        l.drift = drift;
        run(&l, 0.0, known_s);
        late_ms += run(&l, known_s, known_s + 50.0) / 20.0;
    }
    return late_ms;
}

// A clock that runs 2 % fast or slow, from the beginning on: after 100 packets it does no harm. (Without knowing
// the drift, 128 ms at 5 packets a second.)
static void a_clock_that_is_two_percent_off_is_followed(void** state)
{
    (void)state;
    static const double RATES_HZ[] = {2.0, 5.0, 20.0, 128.0};
    for (size_t i = 0; i < sizeof RATES_HZ / sizeof RATES_HZ[0]; ++i) {
        const double none_ms = mean_error_with_drift(RATES_HZ[i], 0.0);
        const double fast_ms = mean_error_with_drift(RATES_HZ[i], 0.02);
        const double slow_ms = mean_error_with_drift(RATES_HZ[i], -0.02);
        print_message("%g packets a second: %.2f ms, 2 %% fast %.2f ms, slow %.2f ms\n",
                      RATES_HZ[i], none_ms, fast_ms, slow_ms);
        assert_true(none_ms < 1.2);
        assert_true(fast_ms < 1.2 * none_ms);
        assert_true(slow_ms < 1.2 * none_ms);
    }
}

// Every 20 s the drift changes its sign: 4 % at once. Two seconds later that is known.
static void drift_that_changes_its_sign_is_followed(void** state)
{
    (void)state;
    double turn_ms = 0.0;
    double late_ms = 0.0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        link l = make_default_link(seed);
        run(&l, 0.0, 20.0);
        for (int turn = 1; turn <= 4; ++turn) {
            const double from_s = 20.0 * turn;
            change_drift(&l, from_s * 1e6, turn % 2 == 0 ? 0.02 : -0.02);
            turn_ms += run(&l, from_s, from_s + 3.0) / 80.0;
            late_ms += run(&l, from_s + 3.0, from_s + 20.0) / 80.0;
        }
    }
    print_message("drift that turns: 3 s after it %.2f ms, then %.2f ms\n", turn_ms, late_ms);
    assert_true(turn_ms < 15.0);
    assert_true(late_ms < 3.0);
}

// Jitter and loss are no drift: what is shown runs at the pace of the server's clock, but for half a percent.
static void jitter_is_not_taken_for_drift(void** state)
{
    (void)state;
    double off = 0.0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        link l = make_default_link(seed);
        l.jitter_us = 60000.0;
        l.loss = 0.2;
        run(&l, 0.0, 10.0);
        for (int second = 10; second < 60; ++second) {
            run(&l, second, second + 1.0);
            off += fabs(l.clock.drift) / 1000.0;
        }
    }
    print_message("jitter of 60 ms, a fifth lost: taken for a drift of %.0f ppm\n", off * 1e6);
    assert_true(off < 1e-3);
}

static void a_long_way_is_found(void** state)
{
    (void)state;
    link l = make_default_link(5);
    l.way_us = 150000.0;
    l.loss = 0.2;
    run(&l, 0.0, 3.0);
    assert_true(run(&l, 3.0, 60.0) < 3.0);
}

static void a_single_late_packet_hardly_moves_it(void** state)
{
    (void)state;
    link l = make_default_link(6);
    run(&l, 0.0, 20.0);
    const double before_us = l.clock.offset_us;
    ph_clock_add(&l.clock, our_time(&l, 20.5e6), 20.0e6, PH_CLOCK_NO_RTT);
    assert_true(fabs(l.clock.offset_us - before_us) < 1500.0);
}

static void a_lasting_change_of_the_network_is_followed(void** state)
{
    (void)state;
    link l = make_default_link(7);
    run(&l, 0.0, 20.0);
    l.way_us = 120000.0;
    run(&l, 20.0, 40.0);
    assert_true(run(&l, 40.0, 60.0) < 3.0);
}

// Whatever the network does within half a second: later is later, at nine tenths of the speed or more.
static void time_never_runs_backwards(void** state)
{
    (void)state;
    link l = make_default_link(8);
    l.jitter_us = 150000.0;
    double last_us = -INFINITY;
    for (int i = 0; i < 600; ++i) {
        const double arrival_us = send(&l, i * 200000.0, i % 3 != 0);
        for (int k = 0; k < 5; ++k) {
            const double us = ph_clock_server_us(&l.clock, our_time(&l, arrival_us + k * 9000.0));
            assert_true(us >= last_us + (k > 0 ? 0.89 * 9000.0 : 0.0));
            last_us = us;
        }
    }
}

// A packet says that the clock is wrong: at that moment it shows the same as before, then it runs at most a tenth
// faster or slower. Neither back nor ahead does what is shown jump.
static void a_packet_bends_the_shown_time_and_does_not_move_it(void** state)
{
    (void)state;
    link l = make_default_link(10);
    run(&l, 0.0, 10.0);
    int ahead = 0;
    int behind = 0;
    for (int i = 0; i < 400; ++i) {
        // Longer and shorter by turns, for a while each: the clock has to follow in both directions.
        l.way_us = i / 40 % 2 == 0 ? 10000.0 : 130000.0;
        const double server_us = 10e6 + i * 200000.0;
        const double arrival_us = server_us + l.way_us;
        const uint64_t now_us = our_time(&l, arrival_us);
        const double before_us = ph_clock_server_us(&l.clock, now_us);
        ph_clock_add(&l.clock, now_us, server_us, PH_CLOCK_NO_RTT);
        assert_true(fabs(ph_clock_server_us(&l.clock, now_us) - before_us) < 1.0);
        for (int ms = 10; ms <= 70; ms += 10) {
            const double passed_us = ms * 1000.0;
            const double us = ph_clock_server_us(&l.clock, now_us + (uint64_t)passed_us);
            const double pace = (us - before_us) / passed_us;
            assert_true(pace > 0.899 && pace < 1.101);
            ahead += pace > 1.001;
            behind += pace < 0.999;
        }
    }
    assert_true(ahead > 100 && behind > 100);
}

// A client that was suspended: its clock stood still for a minute.
static void a_clock_that_is_wrong_by_seconds_is_set(void** state)
{
    (void)state;
    link l = make_default_link(9);
    run(&l, 0.0, 10.0);
    l.start_us -= 60000000;
    run(&l, 10.0, 12.0);
    assert_true(run(&l, 12.0, 30.0) < 3.0);
}

// And one whose clock was set ahead.
static void a_clock_that_is_wrong_by_seconds_the_other_way_is_set(void** state)
{
    (void)state;
    link l = make_default_link(11);
    run(&l, 0.0, 10.0);
    l.start_us += 60000000;
    run(&l, 10.0, 12.0);
    assert_true(run(&l, 12.0, 30.0) < 3.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_packet_gives_a_time),
        cmocka_unit_test(the_default_link_is_known_to_a_millisecond),
        cmocka_unit_test(faster_packets_help),
        cmocka_unit_test(clocks_that_drift_apart_are_followed),
        cmocka_unit_test(a_clock_that_is_two_percent_off_is_followed),
        cmocka_unit_test(drift_that_changes_its_sign_is_followed),
        cmocka_unit_test(a_pause_behind_a_change_of_drift_leaves_a_covariance),
        cmocka_unit_test(drift_is_not_extrapolated_for_ever),
        cmocka_unit_test(jitter_is_not_taken_for_drift),
        cmocka_unit_test(a_long_way_is_found),
        cmocka_unit_test(a_single_late_packet_hardly_moves_it),
        cmocka_unit_test(a_lasting_change_of_the_network_is_followed),
        cmocka_unit_test(time_never_runs_backwards),
        cmocka_unit_test(a_packet_bends_the_shown_time_and_does_not_move_it),
        cmocka_unit_test(a_clock_that_is_wrong_by_seconds_is_set),
        cmocka_unit_test(a_clock_that_is_wrong_by_seconds_the_other_way_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
