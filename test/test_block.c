// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Blocks between two ends over simulated links: whole, in order, each once, in good time, and no message waits for
// them.

#include "support/bulk_pair.h"

#include "message/bulk.h"

#include <stdlib.h>
#include <string.h>

enum { TICK_US = 50000, STEPS_MAX = 40000, KB = 1024 };

static const ph_link_def good_link = {.delay_us = 10000};
static const ph_link_def bad_link = {
    .seed = 3, .delay_us = 30000, .jitter_us = 60000, .loss = 0.3, .duplication = 0.1};

static ph_block_end end_of(bulk_pair* pair, int at)
{
    ph_block_end end;
    assert_true(ph_messages_next_block_end(pair->ends[at], &end));
    return end;
}

// Until a block has come. @return Its tag.
static uint32_t wait_for_block(bulk_pair* pair, int at)
{
    uint32_t tag = 0;
    for (int step = 0; tag == 0; ++step) {
        assert_true(step < STEPS_MAX);
        bulk_pair_step(pair);
        tag = bulk_pair_receive(pair, at);
    }
    return tag;
}

static void wait_for_end(bulk_pair* pair, int from)
{
    for (int step = 0; pair->ends[from]->bulk->outbox.end_count == 0; ++step) {
        assert_true(step < STEPS_MAX);
        bulk_pair_step(pair);
    }
}

// Blocks of all sizes around a piece and a datagram, the last a large one.
static void send_blocks(const ph_link_def* link, uint64_t seed, uint16_t first_number)
{
    static const size_t sizes[] = {1, 63, 64, 65, 1200, 18 * 64, 18 * 64 + 1, 200 * KB + 7};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    bulk_pair pair;
    ph_link_def seeded = *link;
    seeded.seed = seed;
    bulk_pair_setup(&pair, NULL, &seeded, TICK_US);
    for (int i = 0; i < 2; ++i) {
        pair.ends[i]->bulk->outbox.number = first_number;
        pair.ends[i]->bulk->outbox.was_one_before = first_number > 0;
        pair.ends[i]->bulk->inbox.number = first_number;
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        bulk_pair_send(&pair, 0, i + 1, sizes[i]);
        bulk_pair_send(&pair, 1, 100 + i, sizes[COUNT - 1 - i]);
    }
    uint32_t come[2] = {0};
    for (int step = 0; come[0] < COUNT || come[1] < COUNT || ph_messages_has_bulk(pair.ends[0]) ||
                       ph_messages_has_bulk(pair.ends[1]);
         ++step) {
        assert_true(step < STEPS_MAX);
        bulk_pair_step(&pair);
        for (int at = 0; at < 2; ++at) {
            const uint32_t tag = bulk_pair_receive(&pair, at);
            if (tag != 0) { // in order, each once
                assert_int_equal(tag, (at == 1 ? 1 : 100) + come[at]);
                ++come[at];
            }
        }
    }
    for (int at = 0; at < 2; ++at) {
        const ph_messages_stats stats = ph_messages_get_stats(pair.ends[at]);
        assert_int_equal(stats.sent_blocks, COUNT);
        assert_int_equal(stats.acked_blocks, COUNT);
        assert_int_equal(stats.received_blocks, COUNT);
        for (uint32_t i = 0; i < COUNT; ++i) {
            const ph_block_end end = end_of(&pair, at);
            assert_int_equal(end.outcome, PH_BLOCK_SENT);
            assert_int_equal(end.id, i + 1);
            assert_int_equal(end.size, sizes[at == 0 ? i : COUNT - 1 - i]);
        }
    }
    bulk_pair_teardown(&pair);
}

static void blocks_arrive_in_order_and_once(void** state)
{
    (void)state;
    send_blocks(&good_link, 1, 0);
}

static void blocks_arrive_over_a_bad_link(void** state)
{
    (void)state;
    for (uint64_t seed = 10; seed < 14; ++seed) {
        send_blocks(&bad_link, seed, 0);
    }
}

static void numbers_of_blocks_wrap(void** state)
{
    (void)state;
    send_blocks(&bad_link, 20, 65533);
}

static void progress_grows_at_both_ends(void** state)
{
    (void)state;
    bulk_pair pair;
    ph_block_progress sending = {0};
    ph_block_progress receiving = {0};
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    assert_false(ph_messages_sending_block(pair.ends[0], &sending));
    assert_false(ph_messages_receiving_block(pair.ends[1], &receiving));
    bulk_pair_send(&pair, 0, 7, 300 * KB);
    int told[2] = {0};
    while (bulk_pair_receive(&pair, 1) == 0) {
        ph_block_progress before[2] = {sending, receiving};
        bulk_pair_step(&pair);
        if (ph_messages_sending_block(pair.ends[0], &sending)) {
            assert_int_equal(sending.tag, 7);
            assert_int_equal(sending.size, 300 * KB);
            assert_true(sending.done >= before[0].done && sending.done <= sending.size);
            told[0] += sending.done > before[0].done;
        }
        if (ph_messages_receiving_block(pair.ends[1], &receiving)) {
            assert_int_equal(receiving.tag, 7);
            assert_int_equal(receiving.size, 300 * KB);
            assert_true(receiving.done >= before[1].done && receiving.done < receiving.size);
            told[1] += receiving.done > before[1].done;
        }
        assert_true(sending.done <= receiving.done || receiving.size == 0);
    }
    assert_true(told[0] >= 3 && told[1] >= 3);
    bulk_pair_teardown(&pair);
}

// ---- how long it takes

static double seconds_for(size_t size, uint32_t tick_us, double loss, uint64_t seed)
{
    bulk_pair pair;
    const ph_link_def link = {.seed = seed, .delay_us = 10000, .loss = loss};
    bulk_pair_setup(&pair, NULL, &link, tick_us);
    pair.tick_us[1] = 16000; // frames of a client
    const uint64_t start_us = pair.now_us;
    bulk_pair_send(&pair, 0, 1, size);
    wait_for_block(&pair, 1);
    const double seconds = (double)(pair.now_us - start_us) * 1e-6;
    bulk_pair_teardown(&pair);
    return seconds;
}

static void a_quarter_of_a_megabyte_takes_less_than_a_second(void** state)
{
    (void)state;
    for (uint32_t tick_us = 25000; tick_us <= 100000; tick_us *= 2) {
        const double seconds = seconds_for(256 * KB, tick_us, 0.0, 1);
        print_message("256 KB, 20 ms, a tick of %u ms: %.3f s\n", tick_us / 1000, seconds);
        assert_true(seconds < 1.0);
    }
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        const double seconds = seconds_for(256 * KB, 50000, 0.05, seed);
        print_message("256 KB, 20 ms, a tick of 50 ms, 5 %% lost: %.3f s\n", seconds);
        assert_true(seconds < 2.0);
    }
}

// A link that carries 1 Mbit/s with a short queue: little is lost in vain.
static void a_narrow_link_is_not_flooded(void** state)
{
    (void)state;
    bulk_pair pair;
    ph_bottleneck narrow = {
        .bits_per_second = 1000000, .queue_bytes = 20 * KB, .overhead_bytes = 48};
    const ph_link_def link = {.delay_us = 20000};
    bulk_pair_setup(&pair, NULL, &link, 20000);
    ph_link_def narrowed = link;
    narrowed.bottleneck = &narrow;
    assert_int_equal(ph_link_change(pair.links[0], &narrowed), PH_OK);
    bulk_pair_send(&pair, 0, 1, 1024 * KB);
    const uint64_t start_us = pair.now_us;
    wait_for_block(&pair, 1);
    const ph_messages_stats stats = ph_messages_get_stats(pair.ends[0]);
    const double seconds = (double)(pair.now_us - start_us) * 1e-6;
    print_message("1 MB over 1 Mbit/s: %.1f s, %.1f %% sent again\n", seconds,
                  100.0 * (double)stats.resent_pieces / (double)stats.sent_pieces);
    assert_true(seconds < 16.0); // 8.8 at best
    assert_true(stats.resent_pieces * 10 < stats.sent_pieces);
    bulk_pair_teardown(&pair);
}

// Datagrams of their own are paid from the share, headers included, and use all of it.
static void blocks_alone_take_their_share_and_no_more(void** state)
{
    (void)state;
    for (int kbps = 4; kbps <= 64; kbps *= 4) {
        bulk_pair pair;
        ph_messages_def def = ph_messages_def_default();
        def.bits_per_second = kbps * 1000;
        def.block_size_max = 8 << 20;
        bulk_pair_setup(&pair, &def, &good_link, TICK_US);
        bulk_pair_send(&pair, 0, 1, 400 * KB);
        enum { SECONDS = 40 };
        uint64_t spent_bytes = 0;
        for (uint64_t now_us = 1000000; now_us < 1000000 * (1 + SECONDS); now_us += TICK_US) {
            uint8_t bytes[PH_PAYLOAD_MAX];
            size_t size;
            while ((size = ph_messages_plan_block(pair.ends[0], now_us, INT64_MAX, 0)) > 0) {
                assert_int_equal(ph_messages_pack(pair.ends[0], NULL, 0, bytes), size);
                spent_bytes += size + (size_t)def.overhead_bytes;
                // It arrives, and is acked at once.
                ph_messages_rest rest;
                assert_int_equal(ph_messages_unpack(pair.ends[1], now_us, bytes, size, &rest),
                                 PH_OK);
                ph_messages_plan(pair.ends[1], now_us);
                size = ph_messages_pack(pair.ends[1], "packet", 6, bytes);
                assert_int_equal(ph_messages_unpack(pair.ends[0], now_us, bytes, size, &rest),
                                 PH_OK);
            }
        }
        const double share_bytes = 0.25 * kbps * 1000 / 8;
        const double saved_bytes = share_bytes > 48 + 384 ? share_bytes : 48 + 384;
        assert_true((double)spent_bytes <= share_bytes * SECONDS + saved_bytes);
        assert_true((double)spent_bytes >= 0.95 * share_bytes * SECONDS);
        bulk_pair_teardown(&pair);
    }
}

// A game that does not receive its blocks is not sent the next one's first pieces again and again.
static void a_block_that_has_no_room_yet_is_tried_less_and_less(void** state)
{
    (void)state;
    bulk_pair pair;
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    bulk_pair_send(&pair, 0, 1, 100);
    bulk_pair_send(&pair, 0, 2, 100 * KB);
    uint64_t sent[3] = {0};
    for (int minute = 1; minute <= 2; ++minute) {
        for (int step = 0; step < 2 * 60 * 20; ++step) {
            bulk_pair_step(&pair);
        }
        sent[minute] = ph_messages_get_stats(pair.ends[0]).sent_pieces;
        print_message("minute %d without room: %.0f pieces sent\n", minute,
                      (double)(sent[minute] - sent[minute - 1]));
    }
    assert_true(sent[2] - sent[1] > 0);
    assert_true(sent[2] - sent[1] < 700); // 32 each 3.2 s
    assert_int_equal(bulk_pair_receive(&pair, 1), 1);
    for (int step = 0; bulk_pair_receive(&pair, 1) != 2; ++step) {
        assert_true(step < 2 * 8 * 20);
        bulk_pair_step(&pair);
    }
    bulk_pair_teardown(&pair);
}

static void ack_pieces(bulk_pair* pair, uint64_t now_us, uint32_t next)
{
    const ph_block_ack ack = {.next = next};
    ph_block_outbox* outbox = &pair->ends[0]->bulk->outbox;
    assert_true(ph_block_outbox_is_possible(outbox, &ack));
    ph_block_outbox_take_ack(outbox, &pair->ends[0]->def.allocator, now_us, &ack);
}

static void send_pieces(bulk_pair* pair, uint64_t now_us)
{
    ph_block_pieces pieces;
    ph_block_outbox* outbox = &pair->ends[0]->bulk->outbox;
    while (ph_block_outbox_compose(outbox, now_us, 8000, &pieces) > 0) {
        ph_block_outbox_note_sent(outbox, now_us, &pieces);
    }
}

// Of what went twice no ack tells when; the window is halved for it all the same.
static void a_round_of_resent_pieces_ends(void** state)
{
    (void)state;
    bulk_pair pair;
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    bulk_pair_send(&pair, 0, 1, 400 * KB);
    const ph_block_congestion* congestion = &pair.ends[0]->bulk->outbox.congestion;
    send_pieces(&pair, 1000000);
    ack_pieces(&pair, 1020000, 256);
    const int window = congestion->window;
    assert_int_equal(window, 512);
    send_pieces(&pair, 1019000); // on their way before the ack came
    send_pieces(&pair, 1300000); // and all of them again
    ack_pieces(&pair, 1320000, 300);
    assert_int_equal(congestion->window, window); // the round is under way
    for (uint32_t i = 1; i <= 10 && congestion->window == window; ++i) {
        ack_pieces(&pair, 1320000 + i * 100000, 300 + i);
    }
    assert_int_equal(congestion->window, window / 2);
    bulk_pair_teardown(&pair);
}

// A block that never went leaves no waiting behind: the next one waits for company of its own.
static void a_cancelled_block_has_not_waited_for_the_next(void** state)
{
    (void)state;
    bulk_pair pair;
    ph_messages_def def = ph_messages_def_default();
    def.bits_per_second = 64000;
    def.block_size_max = 8 << 20;
    bulk_pair_setup(&pair, &def, &good_link, TICK_US);
    ph_messages* end = pair.ends[0];
    uint64_t now_us = 1000000;
    const uint32_t id = bulk_pair_send(&pair, 0, 1, 100);
    enum { LEFT_BITS = 4000 }; // of the viewer: too few to send at once
    assert_int_equal(ph_messages_plan_block(end, now_us, LEFT_BITS, 0), 0);
    assert_int_equal(ph_messages_cancel_block(end, id), PH_OK);
    now_us += 1000000;
    bulk_pair_send(&pair, 0, 2, 100);
    assert_int_equal(ph_messages_plan_block(end, now_us, LEFT_BITS, 0), 0);
    assert_int_equal(ph_messages_plan_block(end, now_us + 99999, LEFT_BITS, 0), 0);
    assert_true(ph_messages_plan_block(end, now_us + 100000, LEFT_BITS, 0) > 100);
    bulk_pair_teardown(&pair);
}

// ---- memory

static void one_block_at_a_time_takes_memory(void** state)
{
    (void)state;
    bulk_pair pair;
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    const size_t bare_bytes = pair.memory[1].live_bytes;
    for (uint32_t tag = 1; tag <= 4; ++tag) {
        bulk_pair_send(&pair, 0, tag, 100 * KB);
    }
    ph_block block;
    // One waits to be received: nothing else comes in.
    for (int step = 0; step < 200; ++step) {
        bulk_pair_step(&pair);
    }
    assert_int_equal(pair.memory[1].live_bytes, bare_bytes + 100 * KB);
    assert_true(ph_messages_receive_block(pair.ends[1], &block));
    assert_int_equal(block.tag, 1);
    for (int step = 0; step < 200; ++step) { // and it is still handed out
        bulk_pair_step(&pair);
    }
    uint8_t* expected = malloc(block.size);
    bulk_pair_fill(expected, block.size, 1);
    assert_memory_equal(block.bytes, expected, block.size);
    free(expected);
    assert_false(ph_messages_receive_block(pair.ends[1], &block));
    assert_int_equal(pair.memory[1].live_bytes, bare_bytes);
    for (uint32_t tag = 2; tag <= 4; ++tag) {
        assert_int_equal(wait_for_block(&pair, 1), tag);
    }
    assert_int_equal(pair.memory[1].peak_bytes, bare_bytes + 100 * KB);
    bulk_pair_teardown(&pair);
}

static void ticks_allocate_nothing_while_a_block_goes(void** state)
{
    (void)state;
    bulk_pair pair;
    bulk_pair_setup(&pair, NULL, &bad_link, TICK_US);
    uint8_t* bytes = malloc(500 * KB);
    bulk_pair_fill(bytes, 500 * KB, 5);
    const int bare = pair.memory[0].allocate_count;
    assert_int_equal(ph_messages_lend_block(pair.ends[0], 5, bytes, 500 * KB, NULL), PH_OK);
    assert_int_equal(pair.memory[0].allocate_count, bare + 1); // the window, and no copy
    for (int step = 0; step < 20; ++step) {
        bulk_pair_step(&pair);
    }
    const int begun = pair.memory[1].allocate_count;
    assert_int_equal(begun, 2);
    assert_int_equal(wait_for_block(&pair, 1), 5);
    assert_int_equal(pair.memory[0].allocate_count, bare + 1);
    assert_int_equal(pair.memory[1].allocate_count, begun);
    wait_for_end(&pair, 0);
    free(bytes);
    bulk_pair_teardown(&pair);
}

// ---- refused and cancelled

static void what_is_too_large_is_refused_and_the_next_goes(void** state)
{
    (void)state;
    bulk_pair pair;
    ph_messages_def def = ph_messages_def_default();
    def.bits_per_second = 0;
    def.block_size_max = 5000;
    bulk_pair_setup(&pair, &def, &bad_link, TICK_US);
    bulk_pair_send(&pair, 0, 1, 5001);
    bulk_pair_send(&pair, 0, 2, 5000);
    bulk_pair_send(&pair, 0, 3, 1 << 20);
    assert_int_equal(wait_for_block(&pair, 1), 2);
    wait_for_end(&pair, 0);
    while (ph_messages_has_bulk(pair.ends[0])) {
        bulk_pair_step(&pair);
        assert_int_equal(bulk_pair_receive(&pair, 1), 0);
    }
    static const ph_block_outcome expected[] = {PH_BLOCK_REFUSED, PH_BLOCK_SENT, PH_BLOCK_REFUSED};
    for (uint32_t i = 0; i < 3; ++i) {
        const ph_block_end end = end_of(&pair, 0);
        assert_int_equal(end.outcome, expected[i]);
        assert_int_equal(end.tag, i + 1);
        assert_int_equal(end.accepted_max, expected[i] == PH_BLOCK_REFUSED ? 5000 : 0);
    }
    assert_int_equal(ph_messages_get_stats(pair.ends[0]).refused_blocks, 2);
    bulk_pair_teardown(&pair);
}

static void without_memory_a_block_is_refused(void** state)
{
    (void)state;
    bulk_pair pair;
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    pair.memory[1].fail_at = pair.memory[1].allocate_count + 1;
    bulk_pair_send(&pair, 0, 1, 9000);
    bulk_pair_send(&pair, 0, 2, 9000);
    assert_int_equal(wait_for_block(&pair, 1), 2);
    const ph_block_end end = end_of(&pair, 0);
    assert_int_equal(end.outcome, PH_BLOCK_REFUSED);
    assert_int_equal(end.accepted_max, 8 << 20);
    bulk_pair_teardown(&pair);
}

static void a_cancelled_block_makes_way(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 6; ++seed) {
        bulk_pair pair;
        ph_link_def link = bad_link;
        link.seed = seed;
        bulk_pair_setup(&pair, NULL, &link, TICK_US);
        const size_t bare_bytes = pair.memory[1].live_bytes;
        const uint32_t first = bulk_pair_send(&pair, 0, 1, 4000 * KB);
        const uint32_t second = bulk_pair_send(&pair, 0, 2, 10);
        ph_block_progress progress;
        while (!ph_messages_receiving_block(pair.ends[1], &progress)) {
            bulk_pair_step(&pair);
        }
        assert_int_equal(ph_messages_cancel_block(pair.ends[0], second), PH_OK); // at once
        assert_int_equal(end_of(&pair, 0).id, second);
        assert_int_equal(ph_messages_cancel_block(pair.ends[0], first), PH_OK);
        assert_int_equal(ph_messages_cancel_block(pair.ends[0], first), PH_OK);
        wait_for_end(&pair, 0);
        const ph_block_end end = end_of(&pair, 0);
        assert_int_equal(end.outcome, PH_BLOCK_CANCELLED);
        assert_int_equal(end.id, first);
        assert_int_equal(pair.memory[1].live_bytes, bare_bytes);
        assert_false(ph_messages_receiving_block(pair.ends[1], &progress));
        assert_int_equal(ph_messages_cancel_block(pair.ends[0], first), PH_ERROR_STALE);
        assert_int_equal(ph_messages_get_stats(pair.ends[0]).cancelled_blocks, 2);
        bulk_pair_send(&pair, 0, 3, 30 * KB);
        assert_int_equal(wait_for_block(&pair, 1), 3);
        bulk_pair_teardown(&pair);
    }
}

// The game frees what it lent at the end of the block, and the end of the connection is one, too.
static void a_connection_may_end_in_the_middle_of_a_block(void** state)
{
    (void)state;
    bulk_pair pair;
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    for (uint32_t tag = 1; tag <= 3; ++tag) {
        bulk_pair_send(&pair, 0, tag, 900 * KB);
    }
    for (int step = 0; step < 8; ++step) {
        bulk_pair_step(&pair);
    }
    ph_block_progress progress;
    assert_true(ph_messages_receiving_block(pair.ends[1], &progress));
    bulk_pair_teardown(&pair); // nothing leaks
}

static void wrong_blocks_are_not_taken(void** state)
{
    (void)state;
    bulk_pair pair;
    uint8_t byte = 1;
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    ph_messages* end = pair.ends[0];
    assert_int_equal(ph_messages_send_block(end, 1, &byte, 0, NULL), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_messages_lend_block(end, 1, &byte, (size_t)PH_BLOCK_SIZE_MAX + 1, NULL),
                     PH_ERROR_ARGUMENT);
    for (int i = 0; i < PH_BLOCKS_QUEUED_MAX; ++i) {
        assert_int_equal(ph_messages_send_block(end, 1, &byte, 1, NULL), PH_OK);
    }
    assert_int_equal(ph_messages_send_block(end, 1, &byte, 1, NULL), PH_ERROR_FULL);
    pair.memory[1].fail_at = 2;
    assert_int_equal(ph_messages_send_block(pair.ends[1], 1, &byte, 1, NULL), PH_ERROR_MEMORY);
    pair.memory[1].fail_at = 4;
    assert_int_equal(ph_messages_send_block(pair.ends[1], 1, &byte, 1, NULL), PH_ERROR_MEMORY);
    assert_false(ph_messages_has_bulk(pair.ends[1]));
    bulk_pair_teardown(&pair);
}

// ---- beside messages

// @return Ticks that messages have waited in all, from their send to their receipt.
static uint64_t message_latency(const ph_messages_def* def, bool has_block)
{
    bulk_pair pair;
    const ph_link_def link = {.delay_us = 20000};
    bulk_pair_setup(&pair, def, &link, TICK_US);
    uint64_t waited_us = 0;
    for (uint64_t sent = 0, taken = 0; taken < 100;) {
        uint8_t bytes[PH_MESSAGE_SIZE_MAX] = {0};
        ph_block_progress progress;
        if (has_block && !ph_messages_sending_block(pair.ends[0], &progress)) {
            bulk_pair_send(&pair, 0, 1, 1000 * KB); // one is under way all the time
        }
        if (sent < 100 && pair.now_us >= 1000000 + sent * 160000) {
            memcpy(bytes, &pair.now_us, sizeof pair.now_us);
            assert_int_equal(ph_messages_send(pair.ends[0], bytes, 8 + sent % 40), PH_OK);
            ++sent;
        }
        bulk_pair_step(&pair);
        while (bulk_pair_receive(&pair, 1) != 0) {
        }
        while (ph_messages_receive(pair.ends[1], bytes) > 0) {
            uint64_t sent_us;
            memcpy(&sent_us, bytes, sizeof sent_us);
            waited_us += pair.now_us - sent_us;
            ++taken;
        }
    }
    assert_true(!has_block || ph_messages_get_stats(pair.ends[0]).sent_pieces > 40);
    bulk_pair_teardown(&pair);
    return waited_us;
}

static void a_block_never_holds_up_a_message(void** state)
{
    (void)state;
    ph_messages_def def = ph_messages_def_default();
    def.block_size_max = 8 << 20;
    for (int kbps = 0; kbps <= 64; kbps += 8) {
        def.bits_per_second = kbps * 1000;
        assert_int_equal(message_latency(&def, true), message_latency(&def, false));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_arrive_in_order_and_once),
        cmocka_unit_test(blocks_arrive_over_a_bad_link),
        cmocka_unit_test(numbers_of_blocks_wrap),
        cmocka_unit_test(progress_grows_at_both_ends),
        cmocka_unit_test(a_quarter_of_a_megabyte_takes_less_than_a_second),
        cmocka_unit_test(a_narrow_link_is_not_flooded),
        cmocka_unit_test(blocks_alone_take_their_share_and_no_more),
        cmocka_unit_test(a_block_that_has_no_room_yet_is_tried_less_and_less),
        cmocka_unit_test(a_round_of_resent_pieces_ends),
        cmocka_unit_test(a_cancelled_block_has_not_waited_for_the_next),
        cmocka_unit_test(one_block_at_a_time_takes_memory),
        cmocka_unit_test(ticks_allocate_nothing_while_a_block_goes),
        cmocka_unit_test(what_is_too_large_is_refused_and_the_next_goes),
        cmocka_unit_test(without_memory_a_block_is_refused),
        cmocka_unit_test(a_cancelled_block_makes_way),
        cmocka_unit_test(a_connection_may_end_in_the_middle_of_a_block),
        cmocka_unit_test(wrong_blocks_are_not_taken),
        cmocka_unit_test(a_block_never_holds_up_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
