// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The transport in memory that tests of clusters rest on: it keeps what a transport promises, breaks everything else,
// and does so the same way for the same seed.

#include "support/memory_bus.h"

#include "support/test_support.h"

#include <string.h>

enum { MS = 1000, SECOND = 1000000 };

typedef struct pair {
    memory_bus* bus;
    int a;
    int b;
    ph_bus_transport from; // of a
    ph_bus_transport to;   // of b
} pair;

static pair make_pair(memory_bus_def def)
{
    pair p = {.bus = memory_bus_create(&def)};
    p.a = memory_bus_add(p.bus);
    p.b = memory_bus_add(p.bus);
    p.from = memory_bus_transport(p.bus, p.a);
    p.to = memory_bus_transport(p.bus, p.b);
    return p;
}

static bool publish_number(const ph_bus_transport* t, const char* subject, int number)
{
    return t->publish(t->context, subject, &number, sizeof number);
}

// -1: there is none.
static int next_number(const ph_bus_transport* t)
{
    ph_bus_message message;
    if (!t->next(t->context, &message)) {
        return -1;
    }
    int number;
    assert_int_equal(message.size, sizeof number);
    memcpy(&number, message.bytes, sizeof number);
    return number;
}

static int count_numbers(const ph_bus_transport* t)
{
    int count = 0;
    while (next_number(t) >= 0) {
        ++count;
    }
    return count;
}

static ph_bus_answer only_answer(pair* p, const ph_bus_transport* t)
{
    memory_bus_advance(p->bus, 10 * SECOND);
    ph_bus_answer answer;
    assert_true(t->next_answer(t->context, &answer));
    return answer;
}

static ph_bus_answer swap_text(pair* p, uint64_t revision, const char* text)
{
    p->from.swap(p->from.context, "region.1", revision, text, strlen(text), 7);
    return only_answer(p, &p->from);
}

// ---- messages --------------------------------------------------------------------------------------

static void patterns_match_as_in_nats(void** state)
{
    (void)state;
    assert_true(memory_bus_matches("a.b", "a.b"));
    assert_false(memory_bus_matches("a.b", "a.bc"));
    assert_false(memory_bus_matches("a.b", "a"));
    assert_false(memory_bus_matches("a", "a.b"));
    assert_true(memory_bus_matches("a.*.c", "a.b.c"));
    assert_false(memory_bus_matches("a.*", "a.b.c"));
    assert_false(memory_bus_matches("a.*", "a"));
    assert_true(memory_bus_matches("a.>", "a.b.c"));
    assert_false(memory_bus_matches("a.>", "a"));
    assert_true(memory_bus_matches(">", "a"));
}

static void a_subject_that_is_none_is_refused(void** state)
{
    (void)state;
    pair p = make_pair((memory_bus_def){.seed = 1});
    static const char* const wrong[] = {"", ".", "a.", ".a", "a..b", "a b", "a*", "a.>.b", ">a"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        assert_int_equal(p.to.subscribe(p.to.context, wrong[i]), 0);
    }
    memory_bus_destroy(p.bus);
}

static void a_publisher_does_not_hear_itself(void** state)
{
    (void)state;
    pair p = make_pair((memory_bus_def){.seed = 1});
    p.from.subscribe(p.from.context, ">");
    p.to.subscribe(p.to.context, "x.*");
    p.to.subscribe(p.to.context, "x.y");
    assert_true(publish_number(&p.from, "x.y", 5));
    memory_bus_advance(p.bus, 0);
    assert_int_equal(count_numbers(&p.from), 0);
    assert_int_equal(count_numbers(&p.to), 2);
    memory_bus_destroy(p.bus);
}

static void messages_of_one_publisher_keep_their_order(void** state)
{
    (void)state;
    pair p = make_pair(
        (memory_bus_def){.seed = 3, .delay_min_us = MS, .delay_max_us = 90 * MS, .loss = 0.1});
    p.to.subscribe(p.to.context, "n.*");
    memory_bus_advance(p.bus, MS);
    int last = -1;
    int count = 0;
    for (int i = 0; i < 5000; ++i) {
        publish_number(&p.from, i % 2 == 0 ? "n.even" : "n.odd", i);
        memory_bus_advance(p.bus, MS);
        for (int number; (number = next_number(&p.to)) >= 0; ++count) {
            assert_true(number > last);
            last = number;
        }
    }
    assert_in_range(count, 4200, 4700); // 10 % are lost
    memory_bus_destroy(p.bus);
}

static void a_message_takes_its_time(void** state)
{
    (void)state;
    pair p = make_pair((memory_bus_def){.seed = 3, .delay_min_us = 5 * MS, .delay_max_us = 5 * MS});
    p.to.subscribe(p.to.context, "n");
    publish_number(&p.from, "n", 1); // the subscription is under way
    memory_bus_advance(p.bus, 5 * MS);
    publish_number(&p.from, "n", 2);
    memory_bus_advance(p.bus, 5 * MS - 1);
    assert_int_equal(next_number(&p.to), -1);
    assert_int_equal(memory_bus_next_us(p.bus), memory_bus_now_us(p.bus) + 1);
    memory_bus_advance(p.bus, 1);
    assert_int_equal(next_number(&p.to), 2);
    memory_bus_destroy(p.bus);
}

static void some_messages_come_twice(void** state)
{
    (void)state;
    pair p = make_pair((memory_bus_def){.seed = 4, .delay_max_us = MS, .duplication = 0.2});
    p.to.subscribe(p.to.context, "n");
    for (int i = 0; i < 1000; ++i) {
        publish_number(&p.from, "n", i);
    }
    memory_bus_advance(p.bus, SECOND);
    assert_int_equal(count_numbers(&p.to), 1000 + memory_bus_get_stats(p.bus).duplicated);
    assert_in_range(memory_bus_get_stats(p.bus).duplicated, 150, 250);
    memory_bus_destroy(p.bus);
}

static void nothing_comes_after_unsubscribe(void** state)
{
    (void)state;
    pair p = make_pair((memory_bus_def){.seed = 1});
    const uint64_t gone = p.to.subscribe(p.to.context, "n");
    publish_number(&p.from, "n", 1);
    memory_bus_advance(p.bus, 0);
    publish_number(&p.from, "n", 2);
    p.to.unsubscribe(p.to.context, gone);
    p.to.unsubscribe(p.to.context, 0);
    memory_bus_advance(p.bus, 0);
    assert_int_equal(next_number(&p.to), -1);
    memory_bus_destroy(p.bus);
}

// ---- faults ----------------------------------------------------------------------------------------

static void a_cut_endpoint_loses_both_ways_and_is_told(void** state)
{
    (void)state;
    pair p = make_pair((memory_bus_def){.seed = 1});
    p.to.subscribe(p.to.context, "n");
    p.from.subscribe(p.from.context, "back");
    publish_number(&p.from, "n", 1);
    memory_bus_cut(p.bus, p.b);
    assert_false(p.to.is_connected(p.to.context));
    assert_int_equal(p.to.lost_count(p.to.context), 1);
    assert_false(publish_number(&p.to, "back", 2));
    assert_true(publish_number(&p.from, "n", 3));
    memory_bus_advance(p.bus, SECOND);
    assert_int_equal(next_number(&p.to), -1);
    assert_int_equal(next_number(&p.from), -1);
    memory_bus_join(p.bus, p.b);
    assert_true(p.to.is_connected(p.to.context));
    assert_int_equal(p.to.lost_count(p.to.context), 1);
    publish_number(&p.from, "n", 4);
    memory_bus_advance(p.bus, 0);
    assert_int_equal(next_number(&p.to), 4);
    memory_bus_destroy(p.bus);
}

static void a_cut_may_go_unnoticed_for_a_while(void** state)
{
    (void)state;
    pair p = make_pair((memory_bus_def){.seed = 1, .notice_max_us = SECOND});
    int silently_lost = 0;
    for (int round = 0; round < 100; ++round) {
        memory_bus_cut(p.bus, p.a);
        for (int i = 0; i < 10; ++i) {
            silently_lost += publish_number(&p.from, "n", i);
            memory_bus_advance(p.bus, 100 * MS);
        }
        memory_bus_advance(p.bus, 1);
        assert_false(p.from.is_connected(p.from.context));
        memory_bus_join(p.bus, p.a);
        assert_int_equal(p.from.lost_count(p.from.context), round + 1);
    }
    assert_in_range(silently_lost, 300, 700);
    memory_bus_destroy(p.bus);
}

static void a_frozen_endpoint_gets_everything_when_it_thaws(void** state)
{
    (void)state;
    pair p = make_pair((memory_bus_def){.seed = 1, .delay_max_us = MS});
    p.to.subscribe(p.to.context, "n");
    memory_bus_freeze(p.bus, p.b);
    p.to.read(p.to.context, "region.1", 1);
    for (int i = 0; i < 50; ++i) {
        publish_number(&p.from, "n", i);
        memory_bus_advance(p.bus, 100 * MS);
    }
    ph_bus_answer answer;
    assert_int_equal(next_number(&p.to), -1);
    assert_false(p.to.next_answer(p.to.context, &answer));
    memory_bus_thaw(p.bus, p.b);
    for (int i = 0; i < 50; ++i) {
        assert_int_equal(next_number(&p.to), i);
    }
    assert_true(p.to.next_answer(p.to.context, &answer));
    memory_bus_destroy(p.bus);
}

// Of what a killed one has published, a first part arrives, sometimes all of it and sometimes nothing.
static void a_killed_endpoint_leaves_the_first_part_of_what_it_said(void** state)
{
    (void)state;
    int fewest = 100;
    int most = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        pair p =
            make_pair((memory_bus_def){.seed = seed, .delay_min_us = 0, .delay_max_us = 20 * MS});
        p.to.subscribe(p.to.context, "n");
        for (int i = 0; i < 10; ++i) {
            publish_number(&p.from, "n", i);
            memory_bus_advance(p.bus, MS);
        }
        memory_bus_kill(p.bus, p.a);
        memory_bus_advance(p.bus, SECOND);
        int count = 0;
        for (int number; (number = next_number(&p.to)) >= 0; ++count) {
            assert_int_equal(number, count);
        }
        fewest = count < fewest ? count : fewest;
        most = count > most ? count : most;
        memory_bus_destroy(p.bus);
    }
    assert_true(fewest < 5);
    assert_int_equal(most, 10);
}

// ---- records ---------------------------------------------------------------------------------------

static void a_swap_needs_the_newest_revision(void** state)
{
    (void)state;
    pair p = make_pair((memory_bus_def){.seed = 1, .answer_min_us = MS, .answer_max_us = 9 * MS});
    const ph_bus_answer made = swap_text(&p, 0, "one");
    assert_int_equal(made.ticket, 7);
    assert_int_equal(made.outcome, PH_BUS_DONE);
    assert_int_equal(swap_text(&p, 0, "two").outcome, PH_BUS_CONFLICT);
    const ph_bus_answer changed = swap_text(&p, made.revision, "three");
    assert_int_equal(changed.outcome, PH_BUS_DONE);
    assert_true(changed.revision > made.revision);
    p.to.read(p.to.context, "region.1", 8);
    const ph_bus_answer read = only_answer(&p, &p.to);
    assert_int_equal(read.revision, changed.revision);
    assert_memory_equal(read.bytes, "three", read.size);
    p.to.read(p.to.context, "region.2", 9);
    const ph_bus_answer none = only_answer(&p, &p.to);
    assert_int_equal(none.outcome, PH_BUS_DONE);
    assert_int_equal(none.revision, 0);
    assert_int_equal(none.size, 0);
    memory_bus_destroy(p.bus);
}

static void of_two_swaps_one_wins(void** state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        pair p = make_pair((memory_bus_def){.seed = seed, .answer_max_us = 10 * MS});
        p.from.swap(p.from.context, "region.1", 0, "a", 1, 1);
        p.to.swap(p.to.context, "region.1", 0, "b", 1, 2);
        const ph_bus_outcome a = only_answer(&p, &p.from).outcome;
        const ph_bus_outcome b = only_answer(&p, &p.to).outcome;
        const uint8_t* bytes;
        size_t size;
        assert_int_not_equal(memory_bus_get_record(p.bus, "region.1", &bytes, &size), 0);
        assert_int_equal(a, *bytes == 'a' ? PH_BUS_DONE : PH_BUS_CONFLICT);
        assert_int_equal(b, *bytes == 'b' ? PH_BUS_DONE : PH_BUS_CONFLICT);
        memory_bus_destroy(p.bus);
    }
}

static void a_read_may_be_stale_but_not_older_than_it_says(void** state)
{
    (void)state;
    pair p = make_pair((memory_bus_def){.seed = 1, .stale_us = SECOND});
    const uint64_t first = swap_text(&p, 0, "one").revision;
    const uint64_t second = swap_text(&p, first, "two").revision; // swapped 10 s ago
    p.from.read(p.from.context, "region.1", 1);
    assert_int_equal(only_answer(&p, &p.from).revision, second);

    p.from.swap(p.from.context, "region.1", second, "three", 5, 1);
    memory_bus_advance(p.bus, SECOND / 2);
    for (int i = 0; i < 100; ++i) {
        p.to.read(p.to.context, "region.1", 1);
    }
    memory_bus_advance(p.bus, 0);
    int stale = 0;
    ph_bus_answer answer;
    while (p.to.next_answer(p.to.context, &answer)) {
        stale += answer.revision == second;
    }
    assert_in_range(stale, 20, 80);
    memory_bus_destroy(p.bus);
}

static void without_records_a_swap_happens_or_not(void** state)
{
    (void)state;
    int done = 0;
    int done_late = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        pair p = make_pair((memory_bus_def){.seed = seed, .timeout_us = SECOND});
        memory_bus_set_records_available(p.bus, false);
        p.from.swap(p.from.context, "region.1", 0, "x", 1, 1);
        ph_bus_answer answer;
        memory_bus_advance(p.bus, SECOND - 1);
        assert_false(p.from.next_answer(p.from.context, &answer));
        memory_bus_advance(p.bus, 1);
        assert_true(p.from.next_answer(p.from.context, &answer));
        assert_int_equal(answer.outcome, PH_BUS_UNKNOWN);
        const bool is_done = memory_bus_get_record(p.bus, "region.1", NULL, NULL) != 0;
        memory_bus_advance(p.bus, SECOND);
        const bool is_done_late = memory_bus_get_record(p.bus, "region.1", NULL, NULL) != 0;
        done += is_done;
        done_late += is_done_late && !is_done;
        memory_bus_destroy(p.bus);
    }
    assert_in_range(done, 10, 50);
    assert_in_range(done_late, 10, 50);
}

static void a_cut_endpoint_does_not_learn_what_became_of_its_swap(void** state)
{
    (void)state;
    int done = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        pair p = make_pair(
            (memory_bus_def){.seed = seed, .answer_min_us = 4 * MS, .answer_max_us = 4 * MS});
        p.from.swap(p.from.context, "region.1", 0, "x", 1, 1);
        memory_bus_cut(p.bus, p.a);
        assert_int_equal(only_answer(&p, &p.from).outcome, PH_BUS_UNKNOWN);
        done += memory_bus_get_record(p.bus, "region.1", NULL, NULL) != 0;
        memory_bus_destroy(p.bus);
    }
    assert_in_range(done, 50, 95);
}

static void a_killed_endpoint_has_swapped_or_not(void** state)
{
    (void)state;
    int done = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        pair p = make_pair((memory_bus_def){.seed = seed, .answer_max_us = 4 * MS});
        p.from.swap(p.from.context, "region.1", 0, "x", 1, 1);
        memory_bus_kill(p.bus, p.a);
        memory_bus_advance(p.bus, 10 * SECOND);
        done += memory_bus_get_record(p.bus, "region.1", NULL, NULL) != 0;
        memory_bus_destroy(p.bus);
    }
    assert_in_range(done, 25, 75);
}

// ---- runs ------------------------------------------------------------------------------------------

static uint64_t run_digest(uint64_t seed)
{
    pair p = make_pair((memory_bus_def){
        .seed = seed, .delay_max_us = 30 * MS, .loss = 0.2, .duplication = 0.2, .has_log = true});
    p.from.subscribe(p.from.context, "to.a");
    p.to.subscribe(p.to.context, "to.b");
    publish_number(&p.from, "to.b", 0);
    for (int i = 1; i < 500; ++i) {
        memory_bus_advance(p.bus, 7 * MS);
        for (int number; (number = next_number(&p.from)) >= 0;) {
            publish_number(&p.from, "to.b", number + i);
        }
        for (int number; (number = next_number(&p.to)) >= 0;) {
            publish_number(&p.to, "to.a", number + i);
        }
        publish_number(&p.from, "other", i);
    }
    int count;
    (void)memory_bus_log(p.bus, &count);
    assert_int_equal(count, memory_bus_get_stats(p.bus).published);
    const uint64_t digest = memory_bus_log_digest(p.bus, "to.*");
    memory_bus_destroy(p.bus);
    return digest;
}

static void the_seed_decides_the_run(void** state)
{
    (void)state;
    assert_int_equal(run_digest(11), run_digest(11));
    assert_int_not_equal(run_digest(11), run_digest(12));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_in_nats),
        cmocka_unit_test(a_subject_that_is_none_is_refused),
        cmocka_unit_test(a_publisher_does_not_hear_itself),
        cmocka_unit_test(messages_of_one_publisher_keep_their_order),
        cmocka_unit_test(a_message_takes_its_time),
        cmocka_unit_test(some_messages_come_twice),
        cmocka_unit_test(nothing_comes_after_unsubscribe),
        cmocka_unit_test(a_cut_endpoint_loses_both_ways_and_is_told),
        cmocka_unit_test(a_cut_may_go_unnoticed_for_a_while),
        cmocka_unit_test(a_frozen_endpoint_gets_everything_when_it_thaws),
        cmocka_unit_test(a_killed_endpoint_leaves_the_first_part_of_what_it_said),
        cmocka_unit_test(a_swap_needs_the_newest_revision),
        cmocka_unit_test(of_two_swaps_one_wins),
        cmocka_unit_test(a_read_may_be_stale_but_not_older_than_it_says),
        cmocka_unit_test(without_records_a_swap_happens_or_not),
        cmocka_unit_test(a_cut_endpoint_does_not_learn_what_became_of_its_swap),
        cmocka_unit_test(a_killed_endpoint_has_swapped_or_not),
        cmocka_unit_test(the_seed_decides_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
