// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The simulated network: what it promises of loss, delay and order, and that a datagram's fate is
// its own.

#define _POSIX_C_SOURCE 200809L // fork

#include "support/test_links.h"
#include "support/test_memory.h"

#include "base/hash.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEND_COUNT = 20000, INTERVAL_US = 1000 };

// ---- a run: SEND_COUNT datagrams, one per interval, each holding its number

typedef struct arrivals {
    int count[SEND_COUNT]; // by number
    uint64_t time_us[SEND_COUNT][2];
    int total;
    int overtaken; // came behind one with a higher number
} arrivals;

static void send_number(ph_link* link, uint64_t now_us, uint64_t number)
{
    ph_link_send(link, now_us, &number, sizeof number);
}

// Takes everything out, each at the very moment it arrives.
static void receive_all(ph_link* link, arrivals* seen)
{
    uint64_t number;
    uint64_t highest = 0;
    for (uint64_t now_us; (now_us = ph_link_next_us(link)) != UINT64_MAX;) {
        assert_true(now_us == 0 || ph_link_receive(link, now_us - 1, &number, sizeof number) == 0);
        assert_int_equal(ph_link_receive(link, now_us, &number, sizeof number), sizeof number);
        assert_in_range(seen->count[number], 0, 1);
        seen->time_us[number][seen->count[number]++] = now_us;
        seen->total += 1;
        seen->overtaken += number < highest;
        highest = number > highest ? number : highest;
    }
}

static ph_link_stats run(const ph_link_def* def, arrivals* seen)
{
    memset(seen, 0, sizeof *seen);
    ph_link* link = test_link_create(def);
    for (uint64_t number = 0; number < SEND_COUNT; ++number) {
        send_number(link, number * INTERVAL_US, number);
    }
    receive_all(link, seen);
    const ph_link_stats stats = ph_link_get_stats(link);
    ph_link_destroy(link);
    return stats;
}

// ---- tests

static void a_zero_def_is_perfect(void** state)
{
    (void)state;
    ph_link* link = test_link_create(&(ph_link_def){0});
    char bytes[8];
    assert_true(ph_link_next_us(link) == UINT64_MAX);
    assert_int_equal(ph_link_receive(link, UINT64_MAX, bytes, sizeof bytes), 0);
    ph_link_send(link, 5, "one", 3);
    ph_link_send(link, 5, "three", 5);
    assert_true(ph_link_next_us(link) == 5);
    assert_int_equal(ph_link_receive(link, 4, bytes, sizeof bytes), 0);
    assert_int_equal(ph_link_receive(link, 5, bytes, sizeof bytes), 3);
    assert_memory_equal(bytes, "one", 3);
    assert_int_equal(ph_link_receive(link, 5, bytes, sizeof bytes), 5);
    assert_memory_equal(bytes, "three", 5);
    assert_int_equal(ph_link_receive(link, 5, bytes, sizeof bytes), 0);
    ph_link_destroy(link);
}

static void nothing_to_destroy_is_fine(void** state)
{
    (void)state;
    ph_link_destroy(NULL);
}

static void a_def_out_of_range_is_refused(void** state)
{
    (void)state;
    ph_bottleneck narrow[] = {{.bits_per_second = -1}, {.queue_bytes = -1}, {.overhead_bytes = -1}};
    const ph_link_def wrong[] = {{.loss = -0.001},
                                 {.loss = 1.001},
                                 {.loss = NAN},
                                 {.duplication = -0.001},
                                 {.duplication = 1.001},
                                 {.duplication = NAN},
                                 {.bottleneck = &narrow[0]},
                                 {.bottleneck = &narrow[1]},
                                 {.bottleneck = &narrow[2]}};
    const char* const sentences[] = {
        "ph_link_def.loss is -0.001; it must be 0..1",
        "ph_link_def.loss is 1.001; it must be 0..1",
        NULL, // how NaN is written differs between systems
        "ph_link_def.duplication is -0.001; it must be 0..1",
        "ph_link_def.duplication is 1.001; it must be 0..1",
        NULL,
        "ph_bottleneck.bits_per_second is -1; it must be 0..2,147,483,647",
        "ph_bottleneck.queue_bytes is -1; it must be 0..2,147,483,647",
        "ph_bottleneck.overhead_bytes is -1; it must be 0..2,147,483,647",
    };
    ph_link* sound = test_link_create(&(ph_link_def){.delay_us = 7});
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        ph_link* link = sound;
        ph_error error = {0};
        ph_link_def def = wrong[i];
        def.on_error = ph_error_keep;
        def.on_error_context = &error;
        assert_int_equal(ph_link_create(&def, &link), PH_ERROR_ARGUMENT);
        assert_null(link);
        if (sentences[i] != NULL) {
            assert_string_equal(error.text, sentences[i]);
        }
        assert_int_equal(ph_link_change(sound, &def), PH_ERROR_ARGUMENT);
    }
    ph_link_send(sound, 0, "a", 1);
    assert_true(ph_link_next_us(sound) == 7); // it is as it was
    ph_link_destroy(sound);
}

// ---- memory

// Datagrams of growing size, each twice: every kind of memory that a link takes.
static ph_result send_growing(ph_link* link, int count)
{
    static const uint8_t bytes[64] = {0};
    for (int i = 1; i <= count; ++i) {
        const ph_link_stats before = ph_link_get_stats(link);
        const ph_result result = ph_link_send(link, 0, bytes, (size_t)i);
        if (result != PH_OK) {
            const ph_link_stats after = ph_link_get_stats(link);
            assert_memory_equal(&before, &after, sizeof before);
            assert_int_equal(ph_link_send(link, 0, bytes, (size_t)i), PH_OK); // there is some again
            return result;
        }
    }
    return PH_OK;
}

static void without_memory_a_call_does_nothing(void** state)
{
    (void)state;
    ph_bottleneck narrow = {.bits_per_second = 8, .queue_bytes = 1000};
    int refused = 0;
    for (int n = 1;; ++n) {
        test_memory memory = {.fail_at = n};
        const ph_link_def def = {
            .duplication = 1.0, .bottleneck = &narrow, .allocator = test_memory_allocator(&memory)};
        narrow.free_us = narrow.passed = narrow.dropped = 0;
        ph_link* link;
        ph_result result = ph_link_create(&def, &link);
        assert_true((result == PH_OK) == (link != NULL));
        if (result == PH_OK) {
            result = send_growing(link, 20);
            assert_int_equal(narrow.passed, ph_link_get_stats(link).sent_datagrams);
        }
        ph_link_destroy(link);
        test_memory_assert_clean(&memory);
        if (result == PH_OK) {
            break;
        }
        assert_int_equal(result, PH_ERROR_MEMORY);
        ++refused;
    }
    assert_true(refused > 40); // the link, its array twice, two buffers for each datagram
}

static void a_warm_link_takes_no_more_memory(void** state)
{
    (void)state;
    test_memory memory = {0};
    ph_link* link = test_link_create(
        &(ph_link_def){.delay_us = 10, .allocator = test_memory_allocator(&memory)});
    const uint8_t bytes[100] = {0};
    uint8_t got[sizeof bytes];
    int warm_count = 0;
    for (uint64_t now_us = 0; now_us < 1000; ++now_us) {
        ph_link_send(link, now_us, bytes, sizeof bytes);
        ph_link_receive(link, now_us, got, sizeof got);
        warm_count = now_us == 20 ? memory.allocate_count : warm_count;
    }
    assert_int_equal(memory.allocate_count, warm_count);
    ph_link_destroy(link);
    test_memory_assert_clean(&memory);
}

static void delay_keeps_the_order(void** state)
{
    (void)state;
    static arrivals seen;
    run(&(ph_link_def){.seed = 1, .delay_us = 50000}, &seen);
    assert_int_equal(seen.total, SEND_COUNT);
    assert_int_equal(seen.overtaken, 0);
    for (uint64_t number = 0; number < SEND_COUNT; ++number) {
        assert_true(seen.time_us[number][0] == number * INTERVAL_US + 50000);
    }
}

// Mean 0.2 * 20000 = 4000, standard deviation 57: five of them either way.
static void loses_its_share(void** state)
{
    (void)state;
    static arrivals seen;
    const ph_link_stats stats = run(&(ph_link_def){.seed = 2, .loss = 0.2}, &seen);
    assert_in_range(stats.lost_datagrams, 4000 - 285, 4000 + 285);
    assert_int_equal(stats.received_datagrams, SEND_COUNT - stats.lost_datagrams);
    assert_int_equal(seen.total, stats.received_datagrams);
    assert_int_equal(stats.sent_datagrams, SEND_COUNT);
    assert_int_equal(stats.sent_bytes, SEND_COUNT * sizeof(uint64_t));
}

// One loss says nothing of the next: pairs of losses are as frequent as chance has it. Mean 0.04 *
// 20000 = 800; pairs overlap, so the standard deviation is somewhat above 28.
static void losses_are_independent(void** state)
{
    (void)state;
    static arrivals seen;
    run(&(ph_link_def){.seed = 3, .loss = 0.2}, &seen);
    int pairs = 0;
    for (int number = 1; number < SEND_COUNT; ++number) {
        pairs += seen.count[number] == 0 && seen.count[number - 1] == 0;
    }
    assert_in_range(pairs, 800 - 170, 800 + 170);
}

static void loss_of_one_and_zero_are_certain(void** state)
{
    (void)state;
    static arrivals seen;
    assert_int_equal(run(&(ph_link_def){.loss = 1.0, .duplication = 1.0}, &seen).lost_datagrams,
                     SEND_COUNT);
    assert_int_equal(seen.total, 0);
    assert_int_equal(run(&(ph_link_def){.loss = 0.0}, &seen).lost_datagrams, 0);
}

static void jitter_is_even_and_reorders(void** state)
{
    (void)state;
    static arrivals seen;
    run(&(ph_link_def){.seed = 4, .delay_us = 30000, .jitter_us = 9999}, &seen);
    int by_tenth[10] = {0};
    for (uint64_t number = 0; number < SEND_COUNT; ++number) {
        const uint64_t jitter_us = seen.time_us[number][0] - number * INTERVAL_US - 30000;
        assert_in_range(jitter_us, 0, 9999);
        by_tenth[jitter_us / 1000] += 1;
    }
    for (int tenth = 0; tenth < 10; ++tenth) {
        assert_in_range(by_tenth[tenth], 2000 - 215, 2000 + 215); // five standard deviations
    }
    assert_true(seen.overtaken > SEND_COUNT / 4);
}

static void jitter_below_the_interval_keeps_the_order(void** state)
{
    (void)state;
    static arrivals seen;
    run(&(ph_link_def){.seed = 5, .jitter_us = INTERVAL_US - 1}, &seen);
    assert_int_equal(seen.total, SEND_COUNT);
    assert_int_equal(seen.overtaken, 0);
}

static void duplicates_its_share_each_copy_with_its_own_jitter(void** state)
{
    (void)state;
    static arrivals seen;
    const ph_link_stats stats =
        run(&(ph_link_def){.seed = 6, .jitter_us = 9999, .duplication = 0.1}, &seen);
    assert_in_range(stats.duplicated_datagrams, 2000 - 215, 2000 + 215);
    assert_int_equal(seen.total, SEND_COUNT + stats.duplicated_datagrams);
    uint64_t apart = 0;
    for (int number = 0; number < SEND_COUNT; ++number) {
        assert_in_range(seen.count[number], 1, 2);
        apart += seen.count[number] == 2 && seen.time_us[number][0] != seen.time_us[number][1];
    }
    assert_true(apart > stats.duplicated_datagrams * 9 / 10);
}

// Of the same time the one sent first comes first, in whatever order times come.
static void equal_times_come_in_the_order_of_sending(void** state)
{
    (void)state;
    ph_link* link = test_link_create(&(ph_link_def){0});
    test_rng rng = {.state = 7070};
    for (uint64_t number = 0; number < 3000; ++number) {
        const uint64_t tagged = test_rng_below(&rng, 10) << 32 | number;
        send_number(link, tagged >> 32, tagged);
    }
    uint64_t before = 0;
    for (int i = 0; i < 3000; ++i) {
        uint64_t tagged;
        assert_int_equal(ph_link_receive(link, 10, &tagged, sizeof tagged), sizeof tagged);
        assert_true(i == 0 || tagged > before);
        before = tagged;
    }
    ph_link_destroy(link);
}

// Sends and receives in turn, sizes of every kind: whatever comes out is what went in.
static void bytes_arrive_as_they_were_sent(void** state)
{
    (void)state;
    enum { SIZE_MAX_USED = 65507 };
    static uint8_t bytes[SIZE_MAX_USED];
    test_rng rng = {.state = 8080};
    ph_link* link = test_link_create(
        &(ph_link_def){.seed = 8, .jitter_us = 40000, .loss = 0.1, .duplication = 0.1});
    for (uint64_t now_us = 0; now_us < 3000000; now_us += INTERVAL_US) {
        const size_t limit = test_rng_below(&rng, 100) == 0 ? SIZE_MAX_USED : 1200;
        const size_t size = 1 + (size_t)test_rng_below(&rng, limit);
        const int mark = (int)test_rng_below(&rng, 256);
        memset(bytes, mark, size);
        bytes[0] = (uint8_t)size;
        ph_link_send(link, now_us, bytes, size);
        size_t got;
        while ((got = ph_link_receive(link, now_us, bytes, sizeof bytes)) > 0) {
            assert_int_equal(bytes[0], (uint8_t)got);
            assert_true(got < 3 || memcmp(bytes + 1, bytes + 2, got - 2) == 0);
        }
    }
    ph_link_destroy(link);
}

// Receives five bytes into three, in a child process. Returns how that ended: 0 when three came.
static int status_of_small_capacity(void)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(STDERR_FILENO);
        char bytes[4] = {0};
        ph_link* link = test_link_create(&(ph_link_def){0});
        ph_link_send(link, 0, "three", 5);
        const size_t got = ph_link_receive(link, 0, bytes, 3);
        _exit(got == 3 && strcmp(bytes, "thr") == 0 ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void a_capacity_below_the_size_is_misuse(void** state)
{
    (void)state;
    const int status = status_of_small_capacity();
#if defined(NDEBUG) && !defined(PH_ENABLE_ASSERTS)
    assert_int_equal(status, 0); // cut off
#else
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
#endif
}

static void the_ledger_adds_up(void** state)
{
    (void)state;
    ph_link* link = test_link_create(
        &(ph_link_def){.seed = 9, .delay_us = 100, .loss = 0.3, .duplication = 0.3});
    for (uint64_t number = 0; number < 1000; ++number) {
        send_number(link, number < 500 ? 0 : 1000, number);
    }
    uint64_t number;
    uint64_t left = 0;
    while (ph_link_receive(link, 100, &number, sizeof number) > 0) {
        assert_true(number < 500);
    }
    const ph_link_stats stats = ph_link_get_stats(link);
    while (ph_link_receive(link, UINT64_MAX, &number, sizeof number) > 0) {
        ++left;
    }
    assert_true(left > 0 && stats.received_datagrams > 0 && stats.duplicated_datagrams > 0);
    assert_int_equal(stats.sent_datagrams + stats.duplicated_datagrams,
                     stats.lost_datagrams + stats.received_datagrams + left);
    ph_link_destroy(link);
}

// ---- fate

static void the_fate_of_a_number_is_its_own(void** state)
{
    (void)state;
    const ph_link_def def = {
        .seed = 10, .key = 3, .jitter_us = 5000, .loss = 0.2, .duplication = 0.1};
    static arrivals plain;
    run(&def, &plain);
    // Other sizes, other times, received in between: the numbers are what counts.
    ph_link* link = test_link_create(&def);
    test_rng rng = {.state = 9090};
    uint8_t bytes[64] = {0};
    for (int number = 0; number < SEND_COUNT; ++number) {
        const uint64_t now_us = test_rng_below(&rng, 1000000);
        ph_link_send(link, now_us, bytes, 1 + (size_t)test_rng_below(&rng, sizeof bytes));
        uint64_t first_us = ph_link_next_us(link);
        int copies = 0;
        while (ph_link_receive(link, UINT64_MAX, bytes, sizeof bytes) > 0) {
            ++copies;
        }
        assert_int_equal(copies, plain.count[number]);
        const uint64_t sent_us = (uint64_t)number * INTERVAL_US;
        assert_true(copies == 0 || first_us - now_us == plain.time_us[number][0] - sent_us);
    }
    ph_link_destroy(link);
}

static void more_loss_takes_more_and_changes_nothing_else(void** state)
{
    (void)state;
    static arrivals low;
    static arrivals high;
    run(&(ph_link_def){.seed = 11, .jitter_us = 5000, .loss = 0.1, .duplication = 0.1}, &low);
    run(&(ph_link_def){.seed = 11, .jitter_us = 5000, .loss = 0.3, .duplication = 0.1}, &high);
    assert_true(high.total < low.total);
    for (int number = 0; number < SEND_COUNT; ++number) {
        if (high.count[number] > 0) {
            assert_int_equal(high.count[number], low.count[number]);
            assert_memory_equal(high.time_us[number], low.time_us[number], sizeof low.time_us[0]);
        }
    }
}

// Two links with half of everything lost agree on half of the datagrams, by chance.
static void another_seed_or_key_is_another_network(void** state)
{
    (void)state;
    const ph_link_def others[] = {{.seed = 12, .key = 2, .loss = 0.5},
                                  {.seed = 13, .key = 1, .loss = 0.5},
                                  {.seed = 1, .key = 12, .loss = 0.5}};
    static arrivals seen;
    static arrivals other;
    run(&(ph_link_def){.seed = 12, .key = 1, .loss = 0.5}, &seen);
    for (int i = 0; i < 3; ++i) {
        run(&others[i], &other);
        int same = 0;
        for (int number = 0; number < SEND_COUNT; ++number) {
            same += seen.count[number] == other.count[number];
        }
        assert_in_range(same, SEND_COUNT / 2 - 355, SEND_COUNT / 2 + 355);
    }
}

static void a_run_has_a_golden_hash(void** state)
{
    (void)state;
    static arrivals seen;
    run(&(ph_link_def){.seed = 14,
                       .key = 5,
                       .delay_us = 50000,
                       .jitter_us = 20000,
                       .loss = 0.05,
                       .duplication = 0.02},
        &seen);
    ph_hash hash = ph_hash_make(0);
    for (int number = 0; number < SEND_COUNT; ++number) {
        ph_hash_add_u64(&hash, (uint64_t)seen.count[number]);
        ph_hash_add_u64(&hash, seen.time_us[number][0]);
        ph_hash_add_u64(&hash, seen.time_us[number][1]);
    }
    assert_true(ph_hash_value(&hash) == UINT64_C(0xD0B9006696DFE854));
}

// ---- a change

static void a_change_leaves_what_is_in_flight(void** state)
{
    (void)state;
    ph_link* link = test_link_create(&(ph_link_def){.delay_us = 1000});
    send_number(link, 0, 1);
    ph_link_change(link, &(ph_link_def){.delay_us = 100});
    send_number(link, 0, 2);
    ph_link_change(link, &(ph_link_def){.loss = 1.0});
    send_number(link, 0, 3);
    uint64_t number;
    assert_true(ph_link_next_us(link) == 100);
    assert_int_equal(ph_link_receive(link, 100, &number, sizeof number), sizeof number);
    assert_int_equal(number, 2);
    assert_true(ph_link_next_us(link) == 1000);
    assert_int_equal(ph_link_receive(link, 1000, &number, sizeof number), sizeof number);
    assert_int_equal(number, 1);
    assert_true(ph_link_next_us(link) == UINT64_MAX);
    ph_link_destroy(link);
}

static void a_change_keeps_seed_key_and_allocator(void** state)
{
    (void)state;
    const ph_link_def def = {.seed = 15, .key = 4, .loss = 0.3};
    static arrivals seen;
    run(&def, &seen);
    test_memory memory = {0};
    ph_link* link = test_link_create(
        &(ph_link_def){.seed = 15, .key = 4, .allocator = test_memory_allocator(&memory)});
    ph_link_change(link, &(ph_link_def){.seed = 99, .key = 77, .loss = 0.3});
    for (uint64_t number = 0; number < 1000; ++number) {
        send_number(link, 0, number);
        uint64_t got;
        const bool has_come = ph_link_receive(link, 0, &got, sizeof got) > 0;
        assert_int_equal(has_come, seen.count[number]);
    }
    assert_true(memory.allocate_count > 1);
    ph_link_destroy(link);
    test_memory_assert_clean(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zero_def_is_perfect),
        cmocka_unit_test(nothing_to_destroy_is_fine),
        cmocka_unit_test(a_def_out_of_range_is_refused),
        cmocka_unit_test(without_memory_a_call_does_nothing),
        cmocka_unit_test(a_warm_link_takes_no_more_memory),
        cmocka_unit_test(delay_keeps_the_order),
        cmocka_unit_test(loses_its_share),
        cmocka_unit_test(losses_are_independent),
        cmocka_unit_test(loss_of_one_and_zero_are_certain),
        cmocka_unit_test(jitter_is_even_and_reorders),
        cmocka_unit_test(jitter_below_the_interval_keeps_the_order),
        cmocka_unit_test(duplicates_its_share_each_copy_with_its_own_jitter),
        cmocka_unit_test(equal_times_come_in_the_order_of_sending),
        cmocka_unit_test(bytes_arrive_as_they_were_sent),
        cmocka_unit_test(a_capacity_below_the_size_is_misuse),
        cmocka_unit_test(the_ledger_adds_up),
        cmocka_unit_test(the_fate_of_a_number_is_its_own),
        cmocka_unit_test(more_loss_takes_more_and_changes_nothing_else),
        cmocka_unit_test(another_seed_or_key_is_another_network),
        cmocka_unit_test(a_run_has_a_golden_hash),
        cmocka_unit_test(a_change_leaves_what_is_in_flight),
        cmocka_unit_test(a_change_keeps_seed_key_and_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
