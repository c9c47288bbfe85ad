// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The rate controller on simulated links: what it gives away where nothing is wrong, how fast it finds a
// hidden bottleneck, how short the queue stays, and how clients share. With PH_RATE_PRINT in the
// environment the figures are printed, as docs/rate.md has them.

#include "support/rate_stage.h"

#include <pinhole/stats.h>

#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 13000 };

static rate_stage stage; // the seed is in each test

static void print(const char* what, const rate_figures* f)
{
    if (getenv("PH_RATE_PRINT") != NULL) {
        printf("| %-52s | %5.1f | %5.1f | %4.0f | %4.0f | %4.1f | %.2f |\n", what,
               f->rate_bps / 1e3, f->delivered_bps / 1e3, f->queue_ms, f->queue_worst_ms,
               100.0 * f->loss, f->fairness);
    }
}

static void begin(uint64_t seed, int beats_per_second, double loss)
{
    stage = (rate_stage){
        .seed = seed,
        .beats_per_second = beats_per_second,
        .network = {.delay_us = 40000, .jitter_us = 20000, .loss = loss},
    };
}

static void narrow(int bits_per_second, int queue_ms)
{
    stage.narrow = (ph_bottleneck){
        .bits_per_second = bits_per_second,
        .queue_bytes = bits_per_second / 8 * queue_ms / 1000,
    };
}

static rate_figures run(const char* what, double seconds)
{
    const rate_figures figures = rate_stage_run(&stage, seconds);
    print(what, &figures);
    return figures;
}

// ---- nothing is wrong

static void a_good_link_gets_everything(void** state)
{
    (void)state;
    begin(1, 10, 0.0);
    rate_stage_setup(&stage, 1, LIMIT);
    const rate_figures figures = run("good link", 60.0);
    assert_true(figures.least_bps == LIMIT);
    rate_stage_teardown(&stage);
}

// Mean over seeds and beats, because a trial costs a little whenever chance looks like congestion.
static double rate_with_loss(double loss, double* worst)
{
    double sum = 0.0;
    int count = 0;
    for (uint64_t seed = 100; seed < 108; ++seed) {
        for (int beats = 5; beats <= 20; beats *= 2) {
            begin(seed, beats, loss);
            rate_stage_setup(&stage, 1, LIMIT);
            const double rate = rate_stage_run(&stage, 60.0).rate_bps / LIMIT;
            rate_stage_teardown(&stage);
            *worst = rate < *worst ? rate : *worst;
            sum += rate;
            ++count;
        }
    }
    return sum / count;
}

static void random_loss_alone_does_not_starve_a_client(void** state)
{
    (void)state;
    static const double LOSSES[] = {0.01, 0.05, 0.2, 0.3};
    for (size_t i = 0; i < sizeof LOSSES / sizeof LOSSES[0]; ++i) {
        double worst = 1.0;
        const double mean = rate_with_loss(LOSSES[i], &worst);
        if (getenv("PH_RATE_PRINT") != NULL) {
            printf("loss %.0f %%: %.1f %% of the limit, worst run %.1f %%\n", 100.0 * LOSSES[i],
                   100.0 * mean, 100.0 * worst);
        }
        assert_true(mean > 0.945);
        assert_true(worst > 0.65);
    }
}

static void a_way_that_becomes_longer_is_no_queue(void** state)
{
    (void)state;
    begin(3, 10, 0.01);
    rate_stage_setup(&stage, 1, LIMIT);
    run("before", 30.0);
    stage.network.delay_us = 140000;
    rate_stage_change(&stage);
    const rate_figures first = run("100 ms more each way, first 20 s", 20.0);
    const rate_figures then = run("then", 20.0);
    assert_true(first.rate_bps > 0.5 * LIMIT);
    assert_true(then.rate_bps > 0.95 * LIMIT);
    rate_stage_teardown(&stage);
}

// ---- a bottleneck

static void a_hidden_bottleneck_is_found_within_seconds(void** state)
{
    (void)state;
    static const int QUEUES_MS[] = {300, 1000, 5000};
    for (size_t i = 0; i < sizeof QUEUES_MS / sizeof QUEUES_MS[0]; ++i) {
        char what[64];
        begin(10 + i, 10, 0.0);
        narrow(8000, QUEUES_MS[i]);
        rate_stage_setup(&stage, 1, LIMIT);
        snprintf(what, sizeof what, "8 kbit/s, queue of %d ms, first 10 s", QUEUES_MS[i]);
        const rate_figures first = run(what, 10.0);
        const rate_figures then = run("the next 50 s", 50.0);
        assert_true(first.queue_worst_ms < 1500.0);
        assert_true(then.rate_bps < 8400.0);
        assert_true(then.delivered_bps > 0.9 * 8000.0);
        assert_true(then.queue_ms < 150.0);
        assert_true(then.loss < 0.03);
        rate_stage_teardown(&stage);
    }
}

// Twice a second: a datagram alone takes half a second through it.
static void large_datagrams_are_no_queue(void** state)
{
    (void)state;
    for (int beats = 2; beats <= 5; beats += 3) {
        char what[64];
        begin(20, beats, 0.0);
        narrow(8000, 1000);
        rate_stage_setup(&stage, 1, LIMIT);
        snprintf(what, sizeof what, "8 kbit/s, %d Hz, queue of 1000 ms, first 10 s", beats);
        run(what, 10.0);
        const rate_figures then = run("the next 50 s", 50.0);
        assert_true(then.delivered_bps > 0.8 * 8000.0);
        assert_true(then.queue_ms < (beats == 2 ? 400.0 : 200.0));
        rate_stage_teardown(&stage);
    }
}

static void a_bottleneck_with_random_loss_is_found_too(void** state)
{
    (void)state;
    begin(21, 10, 0.05);
    narrow(8000, 1000);
    rate_stage_setup(&stage, 1, LIMIT);
    run("8 kbit/s and 5 % loss, first 10 s", 10.0);
    const rate_figures then = run("the next 50 s", 50.0);
    assert_true(then.delivered_bps > 0.7 * 8000.0);
    assert_true(then.queue_ms < 200.0);
    rate_stage_teardown(&stage);
}

// Too short to show in the round trips: only losses tell of it.
static void a_short_queue_is_found_by_its_losses(void** state)
{
    (void)state;
    begin(22, 20, 0.0);
    narrow(60000, 60);
    rate_stage_setup(&stage, 1, 100000);
    run("60 of 100 kbit/s, queue of 60 ms, first 10 s", 10.0);
    const rate_figures then = run("the next 50 s", 50.0);
    assert_true(then.delivered_bps > 0.7 * 60000.0);
    assert_true(then.loss < 0.06); // 40 % of what the limit would send
    rate_stage_teardown(&stage);
}

// When the rate was lowered, what is answered for another round trip tells of the old one. A controller that listened
// to it would lower again and again, or take a trial for failed; it would lose two and a half times as much.
static void what_was_sent_before_a_change_does_not_count(void** state)
{
    (void)state;
    enum { RUNS = 8 };
    double loss = 0.0;
    double delivered_bps = 0.0;
    for (uint64_t seed = 300; seed < 300 + RUNS; ++seed) {
        begin(seed, 20, 0.0);
        narrow(60000, 60);
        rate_stage_setup(&stage, 1, 100000);
        run("60 of 100 kbit/s, queue of 60 ms, first 10 s", 10.0);
        const rate_figures then = run("the next 50 s", 50.0);
        loss += then.loss / RUNS;
        delivered_bps += then.delivered_bps / RUNS;
        rate_stage_teardown(&stage);
    }
    assert_true(loss < 0.06); // 0.039, and 0.087 if it listened
    assert_true(delivered_bps > 0.75 * 60000.0);
}

static void when_the_bottleneck_goes_the_rate_comes_back(void** state)
{
    (void)state;
    begin(23, 10, 0.01);
    narrow(6000, 500);
    rate_stage_setup(&stage, 1, LIMIT);
    assert_true(rate_stage_run(&stage, 40.0).rate_bps < 8000.0);
    stage.narrow.bits_per_second = 0;
    run("6 kbit/s until now; the first 15 s without", 15.0);
    const rate_figures then = run("then", 20.0);
    assert_true(then.rate_bps > 0.97 * LIMIT);
    rate_stage_teardown(&stage);
}

static void clients_behind_one_bottleneck_share_it(void** state)
{
    (void)state;
    for (int count = 2; count <= RATE_CLIENTS_MAX; count *= 2) {
        char what[64];
        begin(30 + (uint64_t)count, 10, 0.01);
        narrow(count * LIMIT / 2, 500);
        rate_stage_setup(&stage, count, LIMIT);
        snprintf(what, sizeof what, "%d clients, half of what they want, first 20 s", count);
        run(what, 20.0);
        const rate_figures then = run("the next 60 s", 60.0);
        assert_true(then.fairness > 0.9);
        assert_true(then.delivered_bps > 0.85 * count * LIMIT / 2.0);
        assert_true(then.queue_ms < 200.0);
        assert_true(then.loss < 0.05);
        rate_stage_teardown(&stage);
    }
}

// Beats of 200 ms and a queue of six datagrams: all of them would fill it before the first epoch is over,
// and then always the same ones would find it full, whatever they send.
static void a_steady_beat_lets_no_sender_starve(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        begin(7, 5, 0.01);
        stage.tells_all = i == 1;
        stage.network.jitter_us = 10000;
        narrow(8 * LIMIT / 2, 333);
        rate_stage_setup(&stage, 8, LIMIT);
        run("8 clients, 5 Hz, queue of 333 ms, first 20 s", 20.0);
        const rate_figures then = run("the next 60 s", 60.0);
        assert_true(then.fairness > 0.9);
        assert_true(then.loss < 0.05);
        assert_true(then.queue_ms < 150.0);
        rate_stage_teardown(&stage);
    }
}

// Each wants another part of its rate, and more from second to second.
static void begin_unequal(uint64_t seed, int queue_ms)
{
    enum { COUNT = 8, BUDGET = 26000 };
    begin(seed, 5, 0.0);
    stage.tells_all = true;
    stage.network.delay_us = 500;
    stage.network.jitter_us = 500;
    narrow(90000, queue_ms);
    rate_stage_setup(&stage, COUNT, BUDGET);
    test_rng rng = {.state = seed};
    double wants_bps[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        wants_bps[i] = BUDGET / 2.0 + (double)test_rng_below(&rng, BUDGET / 2);
    }
    for (int second = 0; second < 6; ++second) {
        for (int i = 0; i < COUNT; ++i) {
            stage.clients[i].wants_bps = wants_bps[i] * (second < 3 ? 0.4 : 0.2 * second);
        }
        rate_stage_run(&stage, 1.0);
    }
}

// To lower a rate that is not used empties no queue, and some lower theirs while others raise it. Who takes the queue
// that stays for a longer way fills it for good, and takes what it drops for a bad link.
static void a_queue_that_all_fill_is_no_longer_way(void** state)
{
    (void)state;
    static const int QUEUES_MS[] = {300, 700, 1500};
    enum { RUNS = 64 };
    for (size_t i = 0; i < sizeof QUEUES_MS / sizeof QUEUES_MS[0]; ++i) {
        char what[64];
        double queue_ms = 0.0;
        for (uint64_t seed = 400; seed < 400 + RUNS; ++seed) {
            begin_unequal(seed, QUEUES_MS[i]);
            snprintf(what, sizeof what, "8 unequal clients, queue of %d ms, first 6 s",
                     QUEUES_MS[i]);
            run(what, 6.0);
            queue_ms += run("the next 10 s", 10.0).queue_ms / RUNS;
            const rate_figures then = run("the next 40 s", 40.0);
            assert_true(then.loss < 0.01);
            assert_true(then.queue_ms < 150.0);
            rate_stage_teardown(&stage);
        }
        assert_true(queue_ms < 200.0);
    }
}

// The one that comes last finds the line taken, by senders that have found out what it carries.
static void a_latecomer_gets_its_share(void** state)
{
    (void)state;
    begin(50, 10, 0.0);
    narrow(3 * LIMIT / 2, 500);
    rate_stage_setup(&stage, 3, LIMIT);
    stage.clients[2].use = 0.0;
    run("2 clients and three quarters of what they want, first 30 s", 30.0);
    stage.clients[2].rate.rate = stage.clients[2].rate.least;
    stage.clients[2].use = 1.0;
    run("a third one comes, first 40 s", 40.0);
    const rate_figures then = run("the next 60 s", 60.0);
    assert_true(then.fairness > 0.95);
    rate_stage_teardown(&stage);
}

// ---- the rest

static void silence_lowers_to_the_least_and_no_further(void** state)
{
    (void)state;
    ph_rate_def def = ph_rate_def_default();
    ph_rate rate = ph_rate_make(&def);
    ph_viewer_network_stats link = {0};
    for (uint64_t now_us = 1000000; now_us < 60000000; now_us += 100000) {
        link.sent_datagrams += 1;
        link.sent_wire_bytes += 160;
        link.in_flight_packets += 1;
        ph_rate_update(&rate, now_us, &link);
    }
    assert_int_equal(ph_rate_bits_per_second(&rate), 3250);
}

// Blocks and messages go, and the view has nothing to tell: no ack is owed.
static void datagrams_without_packets_are_no_silence(void** state)
{
    (void)state;
    ph_rate_def def = ph_rate_def_default();
    ph_rate rate = ph_rate_make(&def);
    ph_viewer_network_stats link = {.sent_datagrams = 1, .resolved_packets = 1};
    for (uint64_t now_us = 1000000; now_us < 60000000; now_us += 100000) {
        link.sent_datagrams += 1;
        link.sent_wire_bytes += 160;
        ph_rate_update(&rate, now_us, &link);
    }
    assert_int_equal(ph_rate_bits_per_second(&rate), def.limit_bits_per_second);
}

typedef struct talker {
    ph_rate rate;
    ph_viewer_network_stats link;
    uint64_t now_us;
    uint64_t share; // of the rate that is used: one in so many
} talker;

// Sends and answers of one client, two a second. Senders fall silent but for a
// probe a second when they have not been answered for two seconds.
static void talk(talker* t, int ticks, bool is_answered)
{
    enum { ROUND_TRIP_US = 80000, PERIOD_US = 500000, SENDS_IN_SILENCE = 4 };
    ph_viewer_network_stats* link = &t->link;
    for (int i = 0; i < ticks; ++i) {
        t->now_us += PERIOD_US;
        const bool is_sending = is_answered || i < SENDS_IN_SILENCE || i % 2 == 0;
        const bool is_probe = !is_answered && i >= SENDS_IN_SILENCE;
        if (is_sending) {
            link->sent_datagrams += 1;
            link->sent_wire_bytes +=
                is_probe ? 60 : (uint64_t)ph_rate_bits_per_second(&t->rate) / 8 / 2 / t->share;
        }
        if (!is_answered) {
            link->in_flight_packets = link->sent_datagrams - link->resolved_packets;
        } else {
            link->resolved_packets = link->sent_datagrams;
            link->rtt_samples += 1;
            link->rtt_sum_us += ROUND_TRIP_US;
        }
        ph_rate_update(&t->rate, t->now_us, link);
    }
}

// @return The rate with which it goes on when answers come again, after so many of them. A queue is left
// for queue_ticks: more is in flight than was sent since.
static int rate_after_silence(uint64_t share, int queue_ticks, int* answers)
{
    const ph_rate_def def = ph_rate_def_default();
    talker t = {.rate = ph_rate_make(&def), .now_us = 1000000, .share = share};
    talk(&t, 300, true);
    assert_int_equal(ph_rate_bits_per_second(&t.rate), 13000);
    talk(&t, 40, false);
    assert_int_equal(ph_rate_bits_per_second(&t.rate), 3250);
    for (*answers = 1; *answers < 100; ++*answers) {
        t.link.in_flight_packets = *answers <= queue_ticks ? 20 : 0;
        talk(&t, 1, true);
        if (ph_rate_get_state(&t.rate) == PH_RATE_RISING) {
            return ph_rate_bits_per_second(&t.rate);
        }
    }
    return 0;
}

static void silence_that_leaves_no_queue_was_a_stall(void** state)
{
    (void)state;
    int answers;
    assert_int_equal(rate_after_silence(1, 0, &answers), 13000);
    assert_int_equal(answers, 1);
}

// Answers come one by one: a line that carries nearly nothing was silent, too.
static void a_rate_that_was_used_comes_back_lower_after_silence_with_a_queue(void** state)
{
    (void)state;
    int answers;
    assert_in_range(rate_after_silence(1, 4, &answers), 10900, 11100);
    assert_true(answers > 1);
    assert_int_equal(rate_after_silence(3, 4, &answers),
                     13000); // hardly used: nothing is known against it
}

// Silence that ends with losses and a long round trip was a full queue. A stall that comes later has
// nothing to do with it: the rate from before the silence does not come back by that.
static void a_full_queue_behind_silence_is_not_forgotten_by_the_next_stall(void** state)
{
    (void)state;
    const ph_rate_def def = ph_rate_def_default();
    talker t = {.rate = ph_rate_make(&def), .now_us = 1000000, .share = 1};
    talk(&t, 300, true);
    talk(&t, 40, false);
    t.link.lost_packets += 8;
    t.link.rtt_samples += 1;
    t.link.rtt_sum_us += 5000000;
    talk(&t, 1, true);
    const int found_bps = ph_rate_bits_per_second(&t.rate);
    assert_true(found_bps < LIMIT / 2);
    talk(&t, 5, false); // too short for silence
    talk(&t, 1, true);
    assert_int_equal(ph_rate_bits_per_second(&t.rate), found_bps);
}

// ---- stalls

typedef enum stall {
    CLIENT_STALLS, // what was sent waits in its socket, and is answered at once when it goes on
    LINK_DIES,     // what was sent is lost
    STALL_COUNT,
} stall;

static void set_stall(stall kind, bool is_on, double loss)
{
    if (kind == CLIENT_STALLS) {
        stage.clients[0].is_stalled = is_on;
    } else {
        stage.network.loss = is_on ? 1.0 : loss;
        rate_stage_change(&stage);
    }
}

// Neither queue nor loss of a stall is a bottleneck: half a second behind it, all is sent again.
static void after_a_stall_the_rate_is_back_at_once(void** state)
{
    (void)state;
    static const double STALLS_S[] = {1.2, 2.5, 6.0, 9.0};
    for (int i = 0; i < STALL_COUNT * 4 * 3; ++i) {
        const stall kind = (stall)(i / 12);
        const double stall_s = STALLS_S[i / 3 % 4];
        const int beats = 5 << i % 3;
        if (kind == LINK_DIES && stall_s * beats < 8.0) {
            continue; // so few may be lost by chance
        }
        char what[64];
        begin(50 + (uint64_t)i, beats, 0.01);
        stage.tells_all = true;
        rate_stage_setup(&stage, 1, LIMIT);
        run("before", 20.0);
        const double before_bps = stage.clients[0].rate.rate;
        set_stall(kind, true, 0.01);
        run("stalled", stall_s);
        set_stall(kind, false, 0.01);
        run("first half second", 0.5);
        snprintf(what, sizeof what, "%s stalled for %.1f s, %d Hz, next 3 s",
                 kind == CLIENT_STALLS ? "client" : "link", stall_s, beats);
        const rate_figures next = run(what, 3.0);
        assert_true(next.least_bps >= 0.99 * before_bps);
        rate_stage_teardown(&stage);
    }
}

// A line that carries a kilobit, with a queue of ten seconds, is silent for longer than a stall, and its answers
// are far apart. It is no stall: nothing comes at once.
static void a_line_that_carries_nearly_nothing_is_no_stall(void** state)
{
    (void)state;
    begin(90, 10, 0.01);
    stage.tells_all = true;
    rate_stage_setup(&stage, 1, LIMIT);
    run("before", 20.0);
    stage.narrow.bits_per_second = 1000;
    stage.narrow.queue_bytes = 1250;
    run("1 kbit/s, queue of 10 s, first 5 s", 5.0);
    const rate_figures then = run("the next 40 s", 40.0);
    assert_true(then.rate_bps < 0.35 * LIMIT);
    rate_stage_teardown(&stage);
}

static void a_sender_with_nothing_to_send_keeps_its_rate(void** state)
{
    (void)state;
    begin(40, 10, 0.01);
    narrow(8000, 500);
    rate_stage_setup(&stage, 1, LIMIT);
    stage.clients[0].use = 0.4;
    const rate_figures figures = run("8 kbit/s, and only 5 are used", 60.0);
    assert_true(figures.rate_bps > 0.9 * LIMIT);
    // Nor does it rise by that: it is unknown whether the link carries more.
    stage.clients[0].rate.rate = 7000.0;
    assert_true(run("the same from 7 on", 20.0).rate_bps < 7001.0);
    rate_stage_teardown(&stage);
}

// Four answers of ten come back: a few datagrams without one say nothing about what the link carries.
// When there is something to say again, a bottleneck is found all the same.
static void an_idle_client_keeps_its_rate_through_heavy_loss(void** state)
{
    (void)state;
    enum { RUNS = 12 };
    double sum = 0.0;
    for (uint64_t seed = 200; seed < 200 + RUNS; ++seed) {
        begin(seed, seed % 2 == 0 ? 1 : 10, 0.3);
        rate_stage_setup(&stage, 1, LIMIT);
        stage.clients[0].wants_bps = 1000.0;
        const rate_figures idle = run("idle, 30 % loss", 300.0);
        assert_true(idle.rate_bps > 0.75 * LIMIT);
        sum += idle.rate_bps;
        rate_stage_teardown(&stage);
    }
    assert_true(sum / RUNS > 0.9 * LIMIT);
}

static void a_client_that_was_idle_finds_a_bottleneck(void** state)
{
    (void)state;
    static const double LOSSES[] = {0.0, 0.1};
    for (int i = 0; i < 2; ++i) {
        begin(220, 10, LOSSES[i]);
        narrow(8000, 1000);
        rate_stage_setup(&stage, 1, LIMIT);
        stage.clients[0].wants_bps = 1000.0;
        run("8 kbit/s, and 1 is used", 120.0);
        stage.clients[0].wants_bps = 0.0;
        run("all is wanted, first 10 s", 10.0);
        const rate_figures then = run("the next 50 s", 50.0);
        assert_true(then.delivered_bps > (i == 0 ? 0.85 : 0.6) * 8000.0);
        assert_true(then.queue_ms < 200.0);
        rate_stage_teardown(&stage);
    }
}

static void a_new_limit_counts_at_once(void** state)
{
    (void)state;
    ph_rate_def def = ph_rate_def_default();
    def.limit_bits_per_second = 200000;
    ph_rate rate = ph_rate_make(&def);
    assert_int_equal(ph_rate_bits_per_second(&rate), 64000); // from there it rises
    ph_rate_set_limit(&rate, 20000);
    assert_int_equal(ph_rate_bits_per_second(&rate), 20000);
    ph_rate_set_limit(&rate, 2000);
    assert_int_equal(ph_rate_bits_per_second(&rate), 2000);
    assert_int_equal(ph_rate_get_state(&rate), PH_RATE_RISING);
    assert_string_equal(ph_rate_state_name(PH_RATE_DRAINING), "draining");
    assert_string_equal(ph_rate_state_name(PH_RATE_STATE_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_link_gets_everything),
        cmocka_unit_test(random_loss_alone_does_not_starve_a_client),
        cmocka_unit_test(a_way_that_becomes_longer_is_no_queue),
        cmocka_unit_test(a_hidden_bottleneck_is_found_within_seconds),
        cmocka_unit_test(large_datagrams_are_no_queue),
        cmocka_unit_test(a_bottleneck_with_random_loss_is_found_too),
        cmocka_unit_test(a_short_queue_is_found_by_its_losses),
        cmocka_unit_test(what_was_sent_before_a_change_does_not_count),
        cmocka_unit_test(when_the_bottleneck_goes_the_rate_comes_back),
        cmocka_unit_test(clients_behind_one_bottleneck_share_it),
        cmocka_unit_test(a_steady_beat_lets_no_sender_starve),
        cmocka_unit_test(a_queue_that_all_fill_is_no_longer_way),
        cmocka_unit_test(a_latecomer_gets_its_share),
        cmocka_unit_test(silence_lowers_to_the_least_and_no_further),
        cmocka_unit_test(datagrams_without_packets_are_no_silence),
        cmocka_unit_test(silence_that_leaves_no_queue_was_a_stall),
        cmocka_unit_test(a_rate_that_was_used_comes_back_lower_after_silence_with_a_queue),
        cmocka_unit_test(a_full_queue_behind_silence_is_not_forgotten_by_the_next_stall),
        cmocka_unit_test(after_a_stall_the_rate_is_back_at_once),
        cmocka_unit_test(a_line_that_carries_nearly_nothing_is_no_stall),
        cmocka_unit_test(a_sender_with_nothing_to_send_keeps_its_rate),
        cmocka_unit_test(an_idle_client_keeps_its_rate_through_heavy_loss),
        cmocka_unit_test(a_client_that_was_idle_finds_a_bottleneck),
        cmocka_unit_test(a_new_limit_counts_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
