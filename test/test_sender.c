// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Budget and pacing of one viewer: what may be spent when, and when it is its turn.

#include "support/test_support.h"
#include "support/small_world.h"

#include "replication/sender.h"
#include "world/world_state.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <math.h>

#define SECOND_US UINT64_C(1000000)

typedef struct counter {
    int datagrams[8]; // by viewer
    uint64_t wire_bits;
    size_t largest;
} counter;

static void count(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)bytes;
    counter* c = context;
    ++c->datagrams[viewer.index1 - 1];
    c->wire_bits += 8 * (size + 48);
    c->largest = size > c->largest ? size : c->largest;
}

// A viewer among entities that all move at every tick, whose client never answers but is believed
// to.
typedef struct fixture {
    small_world f;
    ph_entity_id people[60];
    ph_viewer_id viewer;
    uint64_t now_us;
    counter counter;
} fixture;

static void setup(fixture* x, ph_viewer_def def)
{
    *x = (fixture){.now_us = 5000000};
    small_world_setup(&x->f, 64);
    for (int i = 0; i < 60; ++i) {
        x->people[i] = small_world_spawn_at(&x->f, (uint64_t)i, 1000 * i, 0);
    }
    assert_int_equal(ph_world_add_viewer(x->f.world, &def, &x->viewer), PH_OK);
}

static ph_sender* sender_of(const fixture* x)
{
    return x->f.world->viewers.viewers[x->viewer.index1 - 1].sender;
}

static void acknowledge(fixture* x)
{
    const ph_sender* sender = sender_of(x);
    const int news = sender->flight.count;
    if (news == 0) {
        return;
    }
    const uint64_t old = news < 64 ? sender->acked << news : 0;
    const uint64_t fresh = news < 64 ? (UINT64_C(1) << news) - 1 : UINT64_MAX;
    uint8_t bytes[PH_ACK_SIZE];
    const uint64_t applied = old | fresh;
    for (int i = 0; i < 4; ++i) {
        bytes[i] = (uint8_t)(sender->newest >> 8 * i);
    }
    for (int i = 0; i < 8; ++i) {
        bytes[4 + i] = (uint8_t)(applied >> 8 * i);
    }
    assert_int_equal(ph_viewer_receive_ack(x->f.world, x->viewer, x->now_us, bytes, sizeof bytes),
                     PH_OK);
}

static void step(fixture* x, uint64_t elapsed_us)
{
    x->now_us += elapsed_us;
    for (int i = 0; i < 60; ++i) {
        const int32_t x_mm = 1000 * i + (int32_t)(x->now_us / 100 % 9973);
        assert_int_equal(ph_world_move(x->f.world, x->people[i], x_mm, 0, 0), PH_OK);
    }
    ph_world_tick(x->f.world);
    assert_int_equal(ph_viewer_send(x->f.world, x->viewer, x->now_us, count, &x->counter), PH_OK);
    acknowledge(x);
}

// Over any time no more than the burst and what came in; and no less than nearly all of it.
static void what_comes_in_is_spent_and_no_more(void** state)
{
    (void)state;
    const int rates[] = {2000, 4000, 13000, 100000};
    for (int r = 0; r < 4; ++r) {
        ph_viewer_def def = ph_viewer_def_default();
        def.bits_per_second = rates[r];
        fixture x;
        setup(&x, def);
        test_rng rng = {.state = 4105 + (uint64_t)r};
        const uint64_t start_us = x.now_us;
        step(&x, 0);
        const uint64_t burst = (uint64_t)sender_of(&x)->depth_bits;
        for (int i = 0; i < 200; ++i) {
            step(&x, 1000 + test_rng_below(&rng, 300000));
            const uint64_t income = (x.now_us - start_us) * (uint64_t)rates[r] / SECOND_US;
            assert_true(x.counter.wire_bits <= burst + income);
            assert_true(x.counter.wire_bits + 2 * 48 * 8 + 1000 >= income ||
                        rates[r] == 100000); // where so much is never due
        }
        small_world_teardown(&x.f);
    }
}

static void nothing_is_sent_that_cannot_be_paid(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 1000;
    fixture x;
    setup(&x, def);
    step(&x, 0);
    assert_true(x.counter.datagrams[0] > 0);
    const int before = x.counter.datagrams[0];
    step(&x, 1000);
    step(&x, 1000);
    assert_int_equal(x.counter.datagrams[0], before);
    step(&x, SECOND_US);
    assert_int_equal(x.counter.datagrams[0], before + 1);
    small_world_teardown(&x.f);
}

static void without_a_limit_everything_goes_at_once(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 0;
    fixture x;
    setup(&x, def);
    for (int i = 0; i < 60; ++i) {
        assert_int_equal(ph_world_set_struct(x.f.world, x.people[i], &test_entity), PH_OK);
    }
    step(&x, 0);
    assert_true(x.counter.datagrams[0] > 1); // so many do not fit into one
    assert_true(x.counter.largest <= PH_PAYLOAD_MAX);
    ph_viewer_stats stats;
    assert_int_equal(ph_viewer_get_stats(x.f.world, x.viewer, &stats), PH_OK);
    assert_int_equal(stats.sent_enters, 60);
    assert_false(stats.has_diff);
    small_world_teardown(&x.f);
}

static void a_raised_budget_does_not_count_for_the_past(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 1000;
    fixture x;
    setup(&x, def);
    for (int i = 0; i < 20; ++i) {
        step(&x, SECOND_US);
    }
    const int64_t before = ph_token_bucket_bits(&sender_of(&x)->bucket);
    assert_int_equal(ph_viewer_set_budget(x.f.world, x.viewer, 1000000, 0), PH_OK);
    ph_sender_pass_time(sender_of(&x), x.now_us + 500000);
    assert_int_equal(ph_token_bucket_bits(&sender_of(&x)->bucket), before + 500);
    ph_sender_pass_time(sender_of(&x), x.now_us + 600000);
    assert_int_equal(ph_token_bucket_bits(&sender_of(&x)->bucket), before + 500 + 100000);
    assert_int_equal(ph_viewer_set_budget(x.f.world, x.viewer, 999, 0), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_viewer_set_budget(x.f.world, x.viewer, 1000, -1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_viewer_set_budget(x.f.world, (ph_viewer_id){0}, 0, 0), PH_ERROR_STALE);
    small_world_teardown(&x.f);
}

// What did not fit comes first the next time, before any entity that is nearer.
static int64_t tokens_of(const fixture* x)
{
    ph_viewer_stats stats;
    assert_int_equal(ph_viewer_get_stats(x->f.world, x->viewer, &stats), PH_OK);
    return stats.token_bits;
}

static void ignore(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)context;
    (void)viewer;
    (void)bytes;
    (void)size;
}

// Full at the start means: of the burst that is in force at the first send.
static void a_budget_of_before_the_first_send_begins_full(void** state)
{
    (void)state;
    static const int BURSTS[][2] = {{20000, 50000}, {50000, 20000}};
    for (int i = 0; i < 2; ++i) {
        fixture x;
        ph_viewer_def def = ph_viewer_def_default();
        def.burst_bits = BURSTS[i][0];
        setup(&x, def);
        assert_int_equal(tokens_of(&x), BURSTS[i][0]);
        assert_int_equal(ph_viewer_set_budget(x.f.world, x.viewer, 5000, BURSTS[i][1]), PH_OK);
        assert_int_equal(tokens_of(&x), BURSTS[i][1]);
        assert_int_equal(ph_viewer_spend(x.f.world, x.viewer, x.now_us, 52), PH_OK);
        assert_int_equal(tokens_of(&x), BURSTS[i][1] - 800);
        // From then on what is there stays, up to the burst.
        assert_int_equal(ph_viewer_set_budget(x.f.world, x.viewer, 5000, 60000), PH_OK);
        assert_int_equal(ph_viewer_spend(x.f.world, x.viewer, x.now_us, 52), PH_OK);
        assert_int_equal(tokens_of(&x), BURSTS[i][1] - 1600);
        small_world_teardown(&x.f);
    }
}

static void what_is_reserved_before_the_first_send_is_full_too(void** state)
{
    (void)state;
    fixture x;
    ph_viewer_def def = ph_viewer_def_default();
    def.burst_bits = 1;
    setup(&x, def);
    const int64_t least_bits = tokens_of(&x);
    assert_int_equal(ph_viewer_reserve(x.f.world, x.viewer, 100, 20), PH_OK);
    assert_int_equal(tokens_of(&x), least_bits + 960);
    assert_int_equal(ph_viewer_spend(x.f.world, x.viewer, x.now_us, 52), PH_OK);
    assert_int_equal(tokens_of(&x), least_bits + 960 - 800);
    // Later a deeper bucket is only deeper.
    assert_int_equal(ph_viewer_reserve(x.f.world, x.viewer, 200, 20), PH_OK);
    assert_int_equal(ph_viewer_spend(x.f.world, x.viewer, x.now_us, 2), PH_OK);
    assert_int_equal(tokens_of(&x), least_bits + 960 - 800 - 400);
    small_world_teardown(&x.f);
}

// It is unknown when since the last send the limit came or went: none of that time counts.
static void time_without_a_limit_saves_nothing_up(void** state)
{
    (void)state;
    fixture x;
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 10000;
    setup(&x, def);
    assert_int_equal(ph_viewer_spend(x.f.world, x.viewer, x.now_us, 1000), PH_OK);
    assert_int_equal(tokens_of(&x), 10000 - 8384);
    // To none and back, with and without a send between.
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(ph_viewer_set_budget(x.f.world, x.viewer, 0, 10000), PH_OK);
        x.now_us += SECOND_US;
        if (i == 1) {
            ph_viewer_send(x.f.world, x.viewer, x.now_us, ignore, NULL);
            x.now_us += SECOND_US;
        }
        assert_int_equal(ph_viewer_set_budget(x.f.world, x.viewer, 10000, 0), PH_OK);
        assert_int_equal(ph_viewer_spend(x.f.world, x.viewer, x.now_us, 2), PH_OK);
        assert_int_equal(tokens_of(&x), 10000 - 8384 - 400 * (i + 1));
    }
    // And from then on time counts again.
    x.now_us += SECOND_US / 10;
    assert_int_equal(ph_viewer_spend(x.f.world, x.viewer, x.now_us, 2), PH_OK);
    assert_int_equal(tokens_of(&x), 10000 - 8384 - 1200 + 1000);
    small_world_teardown(&x.f);
}

static void what_did_not_fit_comes_first(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 1000;
    ph_viewer_id viewer;
    assert_int_equal(ph_world_add_viewer(f.world, &def, &viewer), PH_OK);
    small_world_spawn_at(&f, 1, 1000, 0);
    const ph_entity_id large = small_world_spawn_at(&f, 2, 50000, 0);
    person much = test_entity;
    much.position_mm[0] = 50000;
    assert_int_equal(ph_world_set_struct(f.world, large, &much), PH_OK);
    ph_world_tick(f.world);
    ph_sender* sender = f.world->viewers.viewers[0].sender;
    counter c = {0};
    // Room for header, hello, eye and one small enter, a little more than that.
    ph_sender_pass_time(sender, 1000000);
    ph_token_bucket_spend(&sender->bucket, ph_token_bucket_bits(&sender->bucket) - 8 * (48 + 64));
    assert_int_equal(ph_viewer_send(f.world, viewer, 1000000, count, &c), PH_OK);
    assert_int_equal(sender->stats.sent_enters, 1);
    assert_int_equal(sender->first_slot, small_world_slot(&f, viewer, large));
    small_world_spawn_at(&f, 3, 2000, 0);
    ph_world_tick(f.world);
    for (uint64_t now_us = 1000000; sender->stats.sent_enters == 1; now_us += 10000) {
        assert_int_equal(ph_viewer_send(f.world, viewer, now_us, count, &c), PH_OK);
    }
    assert_int_equal(sender->replicas.state[small_world_slot(&f, viewer, large)],
                     PH_REPLICA_ENTERING);
    small_world_teardown(&f);
}

// Each further record would be a whole enter: the others come first.
static void an_enter_in_flight_is_not_told_again_without_need(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 6000;
    fixture x;
    setup(&x, def);
    for (int i = 0; i < 60; ++i) {
        step(&x, 200000);
    }
    assert_int_equal(sender_of(&x)->stats.sent_enters, 60);
    const ph_entity_id late = small_world_spawn_at(&x.f, 99, 500, 500);
    for (int i = 0; i < 10; ++i) { // without an answer
        x.now_us += 200000;
        for (int k = 0; k < 60; ++k) {
            const int32_t x_mm = 1000 * k + 3000 * i;
            assert_int_equal(ph_world_move(x.f.world, x.people[k], x_mm, 0, 0), PH_OK);
        }
        assert_int_equal(ph_world_move(x.f.world, late, 500 + 100 * i, 500, 0), PH_OK);
        ph_world_tick(x.f.world);
        assert_int_equal(ph_viewer_send(x.f.world, x.viewer, x.now_us, count, &x.counter), PH_OK);
    }
    assert_int_equal(sender_of(&x)->stats.sent_enters, 61);
    small_world_teardown(&x.f);
}

static void a_full_second_gives_the_rate(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    fixture x;
    setup(&x, def);
    for (int i = 0; i < 30; ++i) {
        step(&x, 200000);
    }
    ph_viewer_stats stats;
    assert_int_equal(ph_viewer_get_stats(x.f.world, x.viewer, &stats), PH_OK);
    assert_true(stats.sent_kbps > 12.0 && stats.sent_kbps < 14.0);
    ph_sender_pass_time(sender_of(&x), x.now_us + 3 * SECOND_US);
    assert_int_equal(ph_viewer_get_stats(x.f.world, x.viewer, &stats), PH_OK);
    assert_true(stats.sent_kbps == 0.0);
    small_world_teardown(&x.f);
}

static void senseless_viewers_are_refused(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    ph_viewer_id viewer;
#define REFUSED(field, value)                                                                      \
    do {                                                                                           \
        ph_viewer_def def = ph_viewer_def_default();                                               \
        def.field = value;                                                                         \
        assert_int_equal(ph_world_add_viewer(f.world, &def, &viewer), PH_ERROR_ARGUMENT);          \
    } while (0)
    REFUSED(bits_per_second, -1);
    REFUSED(bits_per_second, 999);
    REFUSED(burst_bits, -1);
    REFUSED(overhead_bytes, -1);
    REFUSED(overhead_bytes, 1001);
    REFUSED(sends_per_second, 0.05);
    REFUSED(sends_per_second, 1001.0);
    REFUSED(sends_per_second, (double)NAN);
    REFUSED(max_starve_ms, -1);
    REFUSED(scheduler.rank, ph_scheduler_score().rank); // half of one
#undef REFUSED
    small_world_teardown(&f);
}

static void slots_are_twice_the_visible_as_long_as_they_are_cheap(void** state)
{
    (void)state;
    const int cases[][2] = {{1, 2}, {100, 200}, {250, 256}, {255, 256}, {256, 512}, {4095, 8190}};
    small_world f;
    small_world_setup(&f, 16);
    for (int i = 0; i < 6; ++i) {
        const ph_viewer_id viewer = small_world_add_viewer(&f, (ph_entity_id){0}, cases[i][0]);
        assert_int_equal(small_world_sight(&f, viewer).slot_count, cases[i][1]);
        assert_int_equal(ph_world_remove_viewer(f.world, viewer), PH_OK);
    }
    small_world_teardown(&f);
}

// ---- pacing

static void viewers_are_served_evenly_without_drift(void** state)
{
    (void)state;
    small_world f;
    small_world_setup(&f, 16);
    const double rates[8] = {5, 5, 5, 5, 10, 3, 0.5, 20};
    ph_entity_id ids[8];
    for (int i = 0; i < 8; ++i) {
        ids[i] = small_world_spawn_at(&f, (uint64_t)i, 0, 1000 * i);
        ph_viewer_def def = ph_viewer_def_default();
        def.bits_per_second = 0;
        def.sends_per_second = rates[i];
        ph_viewer_id viewer;
        assert_int_equal(ph_world_add_viewer(f.world, &def, &viewer), PH_OK);
    }
    int times[8] = {0};
    int at_once[3] = {0};
    for (int tick = 0; tick < 1000; ++tick) { // 100 s at 10 Hz
        const uint64_t now_us = 777000 + 100000 * (uint64_t)tick;
        ph_world_tick(f.world);
        for (int i = 0; i < 8; ++i) {
            ph_sender* sender = f.world->viewers.viewers[i].sender;
            const bool is_time = ph_sender_is_time(sender, (uint32_t)i, now_us);
            assert_true(tick > 0 || is_time); // a new one at once
            times[i] += is_time;
            at_once[tick % 2] += tick > 10 && i < 4 && is_time;
        }
    }
    for (int i = 0; i < 8; ++i) {
        const double expected = 100 * (rates[i] < 10 ? rates[i] : 10); // there are but 10 ticks
        assert_true(fabs(times[i] - expected) <= 2.0);
    }
    assert_in_range(at_once[0], at_once[1] - 4, at_once[1] + 4); // two of the four in each tick
    (void)ids;
    small_world_teardown(&f);
}

static void send_all_serves_whose_time_has_come(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 1000000;
    fixture x;
    setup(&x, def);
    for (int tick = 0; tick < 100; ++tick) {
        x.now_us += 100000;
        for (int i = 0; i < 60; ++i) {
            assert_int_equal(ph_world_move(x.f.world, x.people[i], 1000 * i + 100 * tick, 0, 0),
                             PH_OK);
        }
        ph_world_tick(x.f.world);
        const int before = x.counter.datagrams[0];
        ph_world_send_all(x.f.world, x.now_us, count, &x.counter);
        assert_true(tick > 0 || x.counter.datagrams[0] > before);
        acknowledge(&x);
    }
    assert_in_range(x.counter.datagrams[0], 49, 55);
    small_world_teardown(&x.f);
}

// After a stall a viewer has its turn at once, and then at its usual times.
static void turns_that_were_missed_are_not_made_up_for(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 1000000;
    def.sends_per_second = 5;
    fixture x;
    setup(&x, def);
    int turns = 0;
    int turns_after = 0;
    for (int tick = 0; tick < 600; ++tick) {
        x.now_us += tick == 300 ? 7000000 : 10000; // 35 turns
        for (int i = 0; i < 60; ++i) {
            assert_int_equal(ph_world_move(x.f.world, x.people[i], 1000 * i + 100 * tick, 0, 0),
                             PH_OK);
        }
        ph_world_tick(x.f.world);
        const int before = x.counter.datagrams[0];
        ph_world_send_all(x.f.world, x.now_us, count, &x.counter);
        const int sent = x.counter.datagrams[0] > before;
        turns += tick < 300 ? sent : 0;
        turns_after += tick >= 300 ? sent : 0;
        assert_true(tick != 300 || sent > 0);
        acknowledge(&x);
    }
    assert_in_range(turns, 14, 17); // of 3 s each
    assert_in_range(turns_after, 14, 17);
    small_world_teardown(&x.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_in_is_spent_and_no_more),
        cmocka_unit_test(nothing_is_sent_that_cannot_be_paid),
        cmocka_unit_test(without_a_limit_everything_goes_at_once),
        cmocka_unit_test(a_raised_budget_does_not_count_for_the_past),
        cmocka_unit_test(a_budget_of_before_the_first_send_begins_full),
        cmocka_unit_test(what_is_reserved_before_the_first_send_is_full_too),
        cmocka_unit_test(time_without_a_limit_saves_nothing_up),
        cmocka_unit_test(what_did_not_fit_comes_first),
        cmocka_unit_test(an_enter_in_flight_is_not_told_again_without_need),
        cmocka_unit_test(a_full_second_gives_the_rate),
        cmocka_unit_test(senseless_viewers_are_refused),
        cmocka_unit_test(slots_are_twice_the_visible_as_long_as_they_are_cheap),
        cmocka_unit_test(viewers_are_served_evenly_without_drift),
        cmocka_unit_test(send_all_serves_whose_time_has_come),
        cmocka_unit_test(turns_that_were_missed_are_not_made_up_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
