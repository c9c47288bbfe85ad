// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Messages over bad networks: everything arrives, in order and once, while a third is lost both ways, the
// rest comes in another order and some of it twice.

#include "support/message_pair.h"
#include "support/test_links.h"

#include <pinhole/stats.h>

#include <string.h>

enum { MESSAGES = 300, TICK_US = 20000 };

typedef struct side {
    uint32_t posted;
    uint32_t taken;
    uint32_t input;
    ph_link* link; // that it sends into
} side;

typedef struct network {
    message_pair pair;
    side sides[2];
    test_rng rng;
} network;

static size_t size_of(int from, uint32_t number)
{
    test_rng rng = {.state = number * 2 + (uint32_t)from};
    return test_rng_below(&rng, 8) == 0 ? 1 + test_rng_below(&rng, PH_MESSAGE_SIZE_MAX)
                                        : 1 + test_rng_below(&rng, 60);
}

static void post_some(network* net, int from)
{
    side* it = &net->sides[from];
    while (it->posted < MESSAGES && test_rng_below(&net->rng, 4) == 0) {
        if (message_pair_post(&net->pair, from, size_of(from, it->posted), it->posted) != PH_OK) {
            return;
        }
        ++it->posted;
    }
}

static void take_all(network* net, int at)
{
    const int from = 1 - at;
    side* sender = &net->sides[from];
    uint8_t bytes[PH_MESSAGE_SIZE_MAX];
    uint8_t expected[PH_MESSAGE_SIZE_MAX];
    size_t size;
    while ((size = ph_messages_receive(net->pair.ends[at], bytes)) > 0) {
        assert_true(sender->taken < sender->posted);
        assert_int_equal(size, size_of(from, sender->taken));
        message_pair_fill(expected, size, sender->taken);
        assert_memory_equal(bytes, expected, size);
        ++sender->taken;
    }
}

// Numbers never go back, and what came is what was set.
static void check_input(network* net)
{
    ph_messages* server = net->pair.ends[1];
    const ph_input input = ph_messages_newest_input(server);
    if (input.number > 0) {
        uint8_t expected[12];
        message_pair_fill(expected, sizeof expected, input.number);
        assert_int_equal(input.size, sizeof expected);
        assert_memory_equal(input.bytes, expected, sizeof expected);
        assert_int_equal(ph_messages_set_processed_input(server, input.number), PH_OK);
    }
    assert_true(ph_messages_processed_input(net->pair.ends[0]) <= input.number);
}

static void send_and_receive(network* net, int from)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    ph_messages_plan(net->pair.ends[from], net->pair.now_us);
    const size_t size = ph_messages_pack(net->pair.ends[from], "packet", 6, bytes);
    ph_link_send(net->sides[from].link, net->pair.now_us, bytes, size);
    size_t arrived;
    while ((arrived = ph_link_receive(net->sides[1 - from].link, net->pair.now_us, bytes,
                                      sizeof bytes)) > 0) {
        ph_messages_rest rest;
        assert_int_equal(
            ph_messages_unpack(net->pair.ends[from], net->pair.now_us, bytes, arrived, &rest),
            PH_OK);
        assert_int_equal(rest.size, 6);
        assert_memory_equal(rest.bytes, "packet", 6);
        take_all(net, from);
    }
}

static bool is_done(const network* net)
{
    return net->sides[0].taken == MESSAGES && net->sides[1].taken == MESSAGES &&
           ph_messages_is_all_acked(net->pair.ends[0]) &&
           ph_messages_is_all_acked(net->pair.ends[1]) &&
           ph_messages_processed_input(net->pair.ends[0]) == net->sides[0].input;
}

static void step(network* net, int tick)
{
    for (int i = 0; i < 2; ++i) {
        post_some(net, i);
        // The server sends five times a second, the client as often as it has input.
        if (tick % (i == 0 ? 3 : 10) == 0) {
            send_and_receive(net, i);
        }
    }
    if (tick < 2000 && tick % 3 == 0) {
        uint8_t input[12];
        message_pair_fill(input, sizeof input, ++net->sides[0].input);
        assert_int_equal(
            ph_messages_set_input(net->pair.ends[0], net->sides[0].input, input, sizeof input),
            PH_OK);
    }
    check_input(net);
    net->pair.now_us += TICK_US;
}

// @return Seconds until everything has arrived and is known to have.
static double run(const ph_link_def* link, const ph_messages_def* def, uint64_t seed)
{
    static network net;
    net = (network){.rng = {.state = seed}};
    message_pair_setup(&net.pair, def);
    for (int i = 0; i < 2; ++i) {
        ph_link_def made = *link;
        made.seed = seed;
        made.key = (uint64_t)i;
        net.sides[i].link = test_link_create(&made);
    }
    int tick = 0;
    while (!is_done(&net)) {
        assert_true(tick < 100000);
        step(&net, tick++);
    }
    for (int i = 0; i < 2; ++i) {
        const ph_messages_stats stats = ph_messages_get_stats(net.pair.ends[i]);
        assert_int_equal(stats.sent_messages, MESSAGES);
        assert_int_equal(stats.acked_messages, MESSAGES);
        assert_int_equal(stats.received_messages, MESSAGES);
        ph_link_destroy(net.sides[i].link);
    }
    message_pair_teardown(&net.pair);
    return tick * (TICK_US * 1e-6);
}

static void everything_arrives_on_a_good_link(void** state)
{
    (void)state;
    const ph_link_def link = {.delay_us = 40000};
    run(&link, NULL, 1);
}

static void everything_arrives_with_a_third_lost(void** state)
{
    (void)state;
    for (uint64_t seed = 10; seed < 22; ++seed) {
        const ph_link_def link = {
            .delay_us = 50000, .jitter_us = 150000, .loss = 0.3, .duplication = 0.1};
        run(&link, NULL, seed);
    }
}

static void everything_arrives_within_a_small_share(void** state)
{
    (void)state;
    ph_messages_def def = ph_messages_def_default();
    def.bits_per_second = 40000;
    const ph_link_def link = {.delay_us = 30000, .jitter_us = 20000, .loss = 0.3};
    for (uint64_t seed = 30; seed < 33; ++seed) {
        run(&link, &def, seed);
    }
}

// A third lost costs time, but not much more than what is said twice.
static void losses_cost_no_more_than_they_must(void** state)
{
    (void)state;
    const ph_link_def good = {.delay_us = 50000};
    const ph_link_def bad = {.delay_us = 50000, .loss = 0.3};
    const double good_s = run(&good, NULL, 40);
    const double bad_s = run(&bad, NULL, 40);
    assert_true(bad_s < 3.0 * good_s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_arrives_on_a_good_link),
        cmocka_unit_test(everything_arrives_with_a_third_lost),
        cmocka_unit_test(everything_arrives_within_a_small_share),
        cmocka_unit_test(losses_cost_no_more_than_they_must),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
