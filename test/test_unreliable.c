// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Unreliable messages: newest wins, or each at most once; soon or not at all; within the messages' share.

#include "support/bulk_pair.h"

#include "message/bulk.h"

#include <string.h>

enum { TICK_US = 20000, MESSAGES = 3000 };

static const ph_link_def good_link = {.delay_us = 10000};

static ph_result send(bulk_pair* pair, ph_unreliable_kind kind, int channel, uint32_t number,
                      size_t size)
{
    uint8_t bytes[PH_UNRELIABLE_SIZE_MAX] = {0};
    memcpy(bytes, &number, sizeof number);
    return ph_messages_send_unreliable(pair->ends[0], kind, channel, bytes, size);
}

static uint32_t number_of(const ph_unreliable* message)
{
    uint32_t number;
    assert_true(message->size >= sizeof number);
    memcpy(&number, message->bytes, sizeof number);
    return number;
}

static void they_arrive_as_they_were_sent(void** state)
{
    (void)state;
    bulk_pair pair;
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    uint8_t bytes[PH_UNRELIABLE_SIZE_MAX];
    static const size_t sizes[] = {1, 200, PH_UNRELIABLE_SIZE_MAX};
    for (int i = 0; i < 3; ++i) {
        bulk_pair_fill(bytes, sizes[i], (uint32_t)i);
        const ph_unreliable_kind kind = i == 1 ? PH_UNRELIABLE_NEWEST : PH_UNRELIABLE_ONCE;
        assert_int_equal(ph_messages_send_unreliable(pair.ends[0], kind, 5 * i, bytes, sizes[i]),
                         PH_OK);
    }
    int came = 0;
    for (int step = 0; step < 40; ++step) {
        bulk_pair_step(&pair);
        for (ph_unreliable message; ph_messages_receive_unreliable(pair.ends[1], &message);) {
            // The largest has no room in a datagram with a packet, and goes alone.
            bulk_pair_fill(bytes, message.size, (uint32_t)came);
            assert_int_equal(message.size, sizes[came]);
            assert_int_equal(message.channel, 5 * came);
            assert_int_equal(message.kind, came == 1 ? PH_UNRELIABLE_NEWEST : PH_UNRELIABLE_ONCE);
            assert_memory_equal(message.bytes, bytes, message.size);
            ++came;
        }
    }
    assert_int_equal(came, 3);
    const ph_messages_stats stats = ph_messages_get_stats(pair.ends[0]);
    assert_int_equal(stats.sent_unreliable, 3);
    assert_int_equal(stats.dropped_unreliable, 0);
    assert_int_equal(ph_messages_get_stats(pair.ends[1]).received_unreliable, 3);
    assert_false(ph_messages_has_bulk(pair.ends[0]));
    bulk_pair_teardown(&pair);
}

// The network loses, doubles and reorders; numbers wrap on the way.
static void none_is_older_and_none_comes_twice(void** state)
{
    (void)state;
    bulk_pair pair;
    const ph_link_def link = {
        .seed = 9, .delay_us = 10000, .jitter_us = 90000, .loss = 0.1, .duplication = 0.3};
    static uint8_t seen[MESSAGES];
    uint32_t newest[4] = {0};
    int came[2] = {0};
    memset(seen, 0, sizeof seen);
    bulk_pair_setup(&pair, NULL, &link, TICK_US);
    ph_bulk* from = pair.ends[0]->bulk;
    ph_bulk* to = pair.ends[1]->bulk;
    from->once_sequence = to->seen.once = 65000;
    for (int i = 0; i < 4; ++i) {
        from->newest_sequence[i] = to->seen.newest[i] = 65400;
    }
    for (uint32_t number = 1; number < MESSAGES; ++number) {
        assert_int_equal(send(&pair, PH_UNRELIABLE_ONCE, 0, number, 8), PH_OK);
        assert_int_equal(send(&pair, PH_UNRELIABLE_NEWEST, (int)number % 4, number, 12), PH_OK);
        bulk_pair_step(&pair);
        for (ph_unreliable message; ph_messages_receive_unreliable(pair.ends[1], &message);) {
            const uint32_t got = number_of(&message);
            assert_true(got <= number);
            if (message.kind == PH_UNRELIABLE_ONCE) {
                assert_int_equal(seen[got]++, 0);
            } else {
                assert_true(got > newest[message.channel]);
                newest[message.channel] = got;
            }
            ++came[message.kind];
        }
    }
    assert_true(came[PH_UNRELIABLE_ONCE] > MESSAGES * 8 / 10);
    assert_true(came[PH_UNRELIABLE_NEWEST] > MESSAGES / 4);
    assert_true(ph_messages_get_stats(pair.ends[1]).late_unreliable > MESSAGES / 10);
    bulk_pair_teardown(&pair);
}

static void the_newest_replaces_the_one_that_waits(void** state)
{
    (void)state;
    bulk_pair pair;
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    for (uint32_t number = 1; number <= 50; ++number) {
        assert_int_equal(send(&pair, PH_UNRELIABLE_NEWEST, (int)number % 2, number, 900), PH_OK);
    }
    assert_int_equal(ph_messages_get_stats(pair.ends[0]).dropped_unreliable, 48);
    assert_int_equal(send(&pair, PH_UNRELIABLE_ONCE, 0, 51, 900), PH_ERROR_FULL);
    uint32_t sum = 0;
    for (int step = 0; step < 40; ++step) {
        bulk_pair_step(&pair);
        for (ph_unreliable message; ph_messages_receive_unreliable(pair.ends[1], &message);) {
            sum += number_of(&message);
        }
    }
    assert_int_equal(sum, 49 + 50);
    bulk_pair_teardown(&pair);
}

// A newest one that has no room leaves the one that waits.
static void one_without_room_replaces_nothing(void** state)
{
    (void)state;
    bulk_pair pair;
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    assert_int_equal(send(&pair, PH_UNRELIABLE_NEWEST, 1, 1, 8), PH_OK);
    assert_int_equal(send(&pair, PH_UNRELIABLE_ONCE, 0, 2, 1000), PH_OK);
    assert_int_equal(send(&pair, PH_UNRELIABLE_ONCE, 0, 3, 800), PH_OK);
    // 2,048 - 24 - 1,016 - 816 bytes are left, and the 24 of the one that would be replaced.
    assert_int_equal(send(&pair, PH_UNRELIABLE_NEWEST, 1, 4, 201), PH_ERROR_FULL);
    assert_int_equal(ph_messages_get_stats(pair.ends[0]).dropped_unreliable, 0);
    assert_int_equal(send(&pair, PH_UNRELIABLE_NEWEST, 1, 5, 200), PH_OK);
    assert_int_equal(ph_messages_get_stats(pair.ends[0]).dropped_unreliable, 1);
    assert_int_equal(send(&pair, PH_UNRELIABLE_NEWEST, 1, 6, 201), PH_ERROR_FULL);
    uint32_t sum = 0;
    for (int step = 0; step < 40; ++step) {
        bulk_pair_step(&pair);
        for (ph_unreliable message; ph_messages_receive_unreliable(pair.ends[1], &message);) {
            sum += number_of(&message);
        }
    }
    assert_int_equal(sum, 2 + 3 + 5);
    bulk_pair_teardown(&pair);
}

// However many were replaced or waited too long: the next that goes is ahead of the last that went.
static void what_never_went_takes_no_number(void** state)
{
    (void)state;
    enum { NEVER_SENT = 40000 };
    bulk_pair pair;
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    ph_messages* end = pair.ends[0];
    uint64_t now_us = pair.now_us;
    for (uint32_t number = 1; number <= NEVER_SENT; ++number) {
        assert_int_equal(send(&pair, PH_UNRELIABLE_NEWEST, 2, number, 8), PH_OK);
    }
    for (uint32_t number = 1; number <= NEVER_SENT; ++number) {
        assert_int_equal(send(&pair, PH_UNRELIABLE_ONCE, 2, number, 8), PH_OK);
        ph_messages_plan(end, now_us);
        ph_messages_plan(end, now_us += 300000);
    }
    assert_int_equal(ph_messages_get_stats(end).dropped_unreliable, 2 * NEVER_SENT);
    assert_int_equal(send(&pair, PH_UNRELIABLE_NEWEST, 2, 1, 8), PH_OK);
    assert_int_equal(send(&pair, PH_UNRELIABLE_ONCE, 2, 2, 8), PH_OK);
    assert_int_equal(send(&pair, PH_UNRELIABLE_ONCE, 2, 3, 8), PH_OK);
    uint8_t bytes[PH_PAYLOAD_MAX];
    ph_messages_plan(end, now_us);
    const size_t size = ph_messages_pack(end, "packet", 6, bytes);
    ph_messages_rest rest;
    assert_int_equal(ph_messages_unpack(pair.ends[1], now_us, bytes, size, &rest), PH_OK);
    uint32_t sum = 0;
    for (ph_unreliable message; ph_messages_receive_unreliable(pair.ends[1], &message);) {
        sum += number_of(&message);
    }
    assert_int_equal(sum, 1 + 2 + 3);
    bulk_pair_teardown(&pair);
}

// Records are read as words, whatever the queues' size: the sanitizers look on.
static void queues_of_any_size_are_aligned(void** state)
{
    (void)state;
    static const int sizes[] = {1025, 1030, 1039, 2047, 65535};
    for (int i = 0; i < 5; ++i) {
        bulk_pair pair;
        ph_messages_def def = ph_messages_def_default();
        def.bits_per_second = 0;
        def.unreliable_queue_bytes = sizes[i];
        bulk_pair_setup(&pair, &def, &good_link, TICK_US);
        uint32_t came = 0;
        for (uint32_t number = 1; number <= 20; ++number) {
            assert_int_equal(send(&pair, PH_UNRELIABLE_ONCE, 0, number, 4 + number), PH_OK);
            bulk_pair_step(&pair);
            for (ph_unreliable message; ph_messages_receive_unreliable(pair.ends[1], &message);) {
                assert_int_equal(number_of(&message), ++came);
                assert_int_equal((uintptr_t)message.bytes % 8, 0);
            }
        }
        assert_true(came > 10);
        // The last bytes of both queues.
        while (send(&pair, PH_UNRELIABLE_ONCE, 0, 1, 8) == PH_OK) {
        }
        while (send(&pair, PH_UNRELIABLE_ONCE, 0, 1, 4) == PH_OK) {
        }
        for (int step = 0; step < 40; ++step) {
            bulk_pair_step(&pair);
        }
        bulk_pair_teardown(&pair);
    }
}

// ---- waiting and the share

static void what_cannot_go_soon_is_dropped(void** state)
{
    (void)state;
    bulk_pair pair;
    ph_messages_def def = ph_messages_def_default();
    def.bits_per_second = 13000; // saves up 432 bytes, in a datagram of its own with 48 around it
    bulk_pair_setup(&pair, &def, &good_link, TICK_US);
    ph_messages* end = pair.ends[0];
    assert_int_equal(send(&pair, PH_UNRELIABLE_ONCE, 0, 1, 500), PH_OK);
    uint64_t now_us = 1000000;
    assert_int_equal(ph_messages_plan(end, now_us), PH_MESSAGES_EMPTY_SIZE);
    assert_int_equal(ph_messages_plan(end, now_us + 250000), PH_MESSAGES_EMPTY_SIZE);
    assert_true(ph_messages_has_bulk(end));
    assert_int_equal(ph_messages_plan(end, now_us + 250001), PH_MESSAGES_EMPTY_SIZE);
    assert_false(ph_messages_has_bulk(end));
    assert_int_equal(ph_messages_get_stats(end).dropped_unreliable, 1);
    bulk_pair_teardown(&pair);
}

static void after_a_short_wait_they_go_alone(void** state)
{
    (void)state;
    bulk_pair pair;
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    ph_messages* end = pair.ends[0];
    assert_int_equal(send(&pair, PH_UNRELIABLE_ONCE, 0, 1, 20), PH_OK);
    assert_int_equal(ph_messages_plan_alone(end, 1000000), 0);
    assert_int_equal(ph_messages_plan_alone(end, 1062499), 0);
    uint8_t bytes[PH_PAYLOAD_MAX];
    const size_t size = ph_messages_plan_alone(end, 1062500);
    assert_true(size > 20 && size < 30);
    assert_int_equal(ph_messages_pack(end, NULL, 0, bytes), size);
    assert_int_equal(ph_messages_plan_alone(end, 1062500), 0);
    bulk_pair_teardown(&pair);
}

// Of the messages' share and no more, with datagrams of their own paid, headers included.
static void they_stay_within_the_share(void** state)
{
    (void)state;
    for (int is_alone = 0; is_alone < 2; ++is_alone) {
        bulk_pair pair;
        ph_messages_def def = ph_messages_def_default();
        bulk_pair_setup(&pair, &def, &good_link, TICK_US);
        ph_messages* end = pair.ends[0];
        uint64_t spent_bytes = 0;
        uint64_t now_us = 1000000;
        for (uint32_t number = 1; number <= 1000; ++number, now_us += TICK_US) {
            uint8_t bytes[PH_PAYLOAD_MAX];
            send(&pair, PH_UNRELIABLE_ONCE, 0, number, 60);
            const size_t planned =
                is_alone ? ph_messages_plan_alone(end, now_us) : ph_messages_plan(end, now_us);
            if (planned > 0) {
                const size_t packet = is_alone ? 0 : 10;
                const size_t size =
                    ph_messages_pack(end, packet > 0 ? "0123456789" : NULL, packet, bytes);
                assert_int_equal(size, planned + packet);
                spent_bytes += is_alone ? size + 48 : size - packet - PH_MESSAGES_EMPTY_SIZE;
            }
        }
        const double share_bytes = 20.0 * 13000 * 0.25 / 8;
        assert_true((double)spent_bytes <= share_bytes + 432);
        assert_true((double)spent_bytes > 0.9 * share_bytes);
        const ph_messages_stats stats = ph_messages_get_stats(end);
        assert_true(stats.dropped_unreliable > 500);
        bulk_pair_teardown(&pair);
    }
}

static void what_the_game_does_not_receive_is_counted(void** state)
{
    (void)state;
    bulk_pair pair;
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    for (uint32_t number = 1; number <= 100; ++number) {
        assert_int_equal(send(&pair, PH_UNRELIABLE_ONCE, 3, number, 100), PH_OK);
        bulk_pair_step(&pair);
    }
    const uint64_t crowded = ph_messages_get_stats(pair.ends[1]).crowded_unreliable;
    assert_true(crowded > 50);
    uint32_t expected = 0;
    for (ph_unreliable message; ph_messages_receive_unreliable(pair.ends[1], &message);) {
        assert_int_equal(number_of(&message), ++expected);
    }
    assert_int_equal(expected, 2048 / (16 + 104));
    bulk_pair_teardown(&pair);
}

static void wrong_calls_are_refused(void** state)
{
    (void)state;
    bulk_pair pair;
    bulk_pair_setup(&pair, NULL, &good_link, TICK_US);
    ph_messages* end = pair.ends[0];
    uint8_t bytes[PH_UNRELIABLE_SIZE_MAX + 1] = {0};
    assert_int_equal(ph_messages_send_unreliable(end, PH_UNRELIABLE_ONCE, 0, bytes, 0),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_messages_send_unreliable(end, PH_UNRELIABLE_ONCE, 0, bytes, sizeof bytes),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_messages_send_unreliable(end, PH_UNRELIABLE_NEWEST, 16, bytes, 1),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_messages_send_unreliable(end, PH_UNRELIABLE_NEWEST, -1, bytes, 1),
                     PH_ERROR_ARGUMENT);
    assert_int_equal(ph_messages_send_unreliable(end, (ph_unreliable_kind)2, 0, bytes, 1),
                     PH_ERROR_ARGUMENT);
    assert_false(ph_messages_has_bulk(end));
    bulk_pair_teardown(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_arrive_as_they_were_sent),
        cmocka_unit_test(none_is_older_and_none_comes_twice),
        cmocka_unit_test(the_newest_replaces_the_one_that_waits),
        cmocka_unit_test(one_without_room_replaces_nothing),
        cmocka_unit_test(what_never_went_takes_no_number),
        cmocka_unit_test(queues_of_any_size_are_aligned),
        cmocka_unit_test(what_cannot_go_soon_is_dropped),
        cmocka_unit_test(after_a_short_wait_they_go_alone),
        cmocka_unit_test(they_stay_within_the_share),
        cmocka_unit_test(what_the_game_does_not_receive_is_counted),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
