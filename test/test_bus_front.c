// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A front without players: which cells it wants and what it subscribes to for them, and that its world is what is true
// whatever is lost, doubled, late or a lie. Sims are played by a script (front_stage); all on a bus in memory.

#include "front_stage.h"

#include "base/hash.h"

#include <pinhole/viewer.h>

#include <stdlib.h>
#include <string.h>

enum { RADIUS = 150000, ALL = -1 };

static const uint32_t EVERYTHING = UINT32_MAX;

static front_stage* begin(const memory_bus_def* bus)
{
    front_stage* s = front_stage_setup(bus);
    front_stage_open(s);
    return s;
}

static void move(front_stage* s, int interest, int32_t x_mm, int32_t y_mm)
{
    ph_bus_front_move_interest(s->front, interest, (const int64_t[3]){x_mm, y_mm, 0});
}

static ph_bus_front_stats stats_of(const front_stage* s)
{
    return ph_bus_front_get_stats(s->front);
}

// ---- cells

static void cells_around_an_interest_are_known_whole(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    front_stage_scatter(s, 300, 1200000);
    front_stage_run(s, 500);
    front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    assert_false(ph_bus_front_is_complete(s->front));
    front_stage_settle(s);
    assert_true(stats_of(s).entities > 10);
    assert_true(stats_of(s).entities < 200); // not the whole world
    front_stage_expect(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_run(s, 5000);
    front_stage_settle(s);
    front_stage_expect(s, 0, 0, RADIUS, EVERYTHING);
    assert_int_equal(stats_of(s).gaps, 0);
    assert_int_equal(front_stage_refused(s), 0);
    front_stage_teardown(s);
}

static void a_viewer_that_stays_near_costs_no_subscription(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    const int interest = front_stage_interest(s, 50000, 50000, RADIUS, EVERYTHING);
    front_stage_run(s, 200);
    const int before = s->spy.subscribes;
    for (int i = 0; i < 1000; ++i) {
        move(s, interest, 50000 + i % 10 * 1000, 50000 - i % 7 * 1000);
    }
    front_stage_run(s, 5000);
    assert_int_equal(s->spy.subscribes, before);
    assert_int_equal(s->spy.unsubscribes, 0);
    front_stage_teardown(s);
}

// To and fro over the border of a cell, further than half of the margin: what was chosen stays.
static void what_is_held_is_kept_a_little_further(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    s->def.keep_mm = 20000;
    const int interest = front_stage_interest(s, 0, 0, 75000, EVERYTHING);
    move(s, interest, 11000, 0); // 75 + 20 + 11 km: touches the next column
    front_stage_run(s, 4000);
    const int before = s->spy.subscribes;
    for (int i = 0; i < 10; ++i) {
        move(s, interest, 0, 0);
        front_stage_run(s, 4000);
        move(s, interest, 11000, 0);
        front_stage_run(s, 4000);
    }
    assert_int_equal(s->spy.subscribes, before);
    assert_int_equal(s->spy.unsubscribes, 0);
    front_stage_teardown(s);
}

static void what_is_left_is_kept_for_a_while_and_then_dropped(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    front_stage_scatter(s, 300, 1200000);
    const int interest = front_stage_interest(s, -300000, 0, RADIUS, EVERYTHING);
    front_stage_settle(s);
    const int entities = stats_of(s).entities;
    const int subscriptions = stats_of(s).subscriptions;
    assert_true(entities > 0);
    s->is_still = true;
    ph_bus_front_remove_interest(s->front, interest);
    front_stage_run(s, 2500);
    assert_int_equal(stats_of(s).entities, entities);
    assert_int_equal(stats_of(s).subscriptions, subscriptions);
    front_stage_run(s, 1000);
    assert_int_equal(stats_of(s).entities, 0);
    assert_int_equal(stats_of(s).subscriptions, 0);
    assert_int_equal(stats_of(s).cells, 0);
    assert_true(ph_bus_front_is_complete(s->front));
    front_stage_teardown(s);
}

static void cells_are_counted_by_reference(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    const int first = front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_run(s, 200);
    const int subscribes = s->spy.subscribes;
    const int second = front_stage_interest(s, 1000, 0, RADIUS, EVERYTHING);
    ph_bus_front_remove_interest(s->front, first);
    front_stage_run(s, 5000);
    assert_int_equal(s->spy.subscribes, subscribes);
    ph_bus_front_remove_interest(s->front, second);
    front_stage_run(s, 5000);
    assert_int_equal(stats_of(s).subscriptions, 0);
    front_stage_teardown(s);
}

static void most_of_a_block_is_one_subscription(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    front_stage_scatter(s, 400, 2400000);
    const int interest = front_stage_interest(s, 0, 0, 800000, EVERYTHING);
    front_stage_settle(s);
    assert_true(stats_of(s).cells > 200);
    assert_true(stats_of(s).subscriptions < stats_of(s).cells / 4);
    front_stage_expect(s, 0, 0, 800000, EVERYTHING);
    front_stage_run(s, 2000);
    // On to a place where other cells of the same blocks are wanted.
    for (int i = 1; i <= 20; ++i) {
        move(s, interest, i * 60000, 0);
        front_stage_run(s, 500);
    }
    front_stage_settle(s);
    front_stage_expect(s, 1200000, 0, 800000, EVERYTHING);
    assert_int_equal(front_stage_refused(s), 0);
    assert_int_equal(stats_of(s).gaps, 0); // also where a block takes the place of cells
    ph_bus_front_remove_interest(s->front, interest);
    front_stage_run(s, 4000);
    assert_int_equal(stats_of(s).subscriptions, 0);
    assert_int_equal(stats_of(s).entities, 0);
    front_stage_teardown(s);
}

static void the_world_goes_on_behind_its_edge(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    s->is_still = true;
    front_stage_spawn(s, 1001, INT32_MAX - 5000, 0, 0);
    front_stage_spawn(s, 1002, INT32_MIN + 5000, 0, 0);
    front_stage_spawn(s, 1003, INT32_MIN + 5000, INT32_MAX - 5000, 0);
    front_stage_interest(s, INT32_MAX - 1000, 0, RADIUS, EVERYTHING);
    front_stage_settle(s);
    assert_int_equal(stats_of(s).entities, 2);
    front_stage_teardown(s);
}

static void what_is_seen_everywhere_is_seen_anywhere(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    const ph_entity_id sun = front_stage_spawn(s, 7, 9000000, 0, 0);
    assert_int_equal(ph_world_set_visibility(s->truth, sun, UINT32_MAX, true, false), PH_OK);
    front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_settle(s);
    assert_true(ph_world_find(s->world, 7).index1 != 0);
    front_stage_teardown(s);
}

// ---- what may be seen

static void only_channels_that_somebody_may_see_are_subscribed_to(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    front_stage_spawn(s, 1001, 1000, 0, 0);
    front_stage_spawn(s, 11, 2000, 0, 1u << 3);
    front_stage_spawn(s, 12, 3000, 0, 1u << 4);
    front_stage_spawn(s, 13, 3000, 0, 1u << 3 | 1u << 4);
    s->is_still = true;
    const int few = front_stage_interest(s, 0, 0, RADIUS, 1u << 4);
    front_stage_settle(s);
    assert_true(ph_world_find(s->world, 1001).index1 != 0);
    assert_true(ph_world_find(s->world, 11).index1 == 0);
    assert_true(ph_world_find(s->world, 12).index1 != 0);
    assert_true(ph_world_find(s->world, 13).index1 != 0);
    const int all = front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_settle(s);
    assert_int_equal(stats_of(s).entities, 4);
    ph_bus_front_remove_interest(s->front, all);
    front_stage_run(s, 4000);
    front_stage_settle(s);
    assert_true(ph_world_find(s->world, 12).index1 != 0); // never gone
    ph_bus_front_remove_interest(s->front, few);
    front_stage_interest(s, 0, 0, RADIUS, 1u << 9);
    front_stage_run(s, 4000);
    front_stage_settle(s);
    assert_int_equal(stats_of(s).entities, 1);
    assert_int_equal(stats_of(s).gaps, 0);
    front_stage_teardown(s);
}

static void a_viewer_that_sees_nothing_subscribes_to_nothing(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    front_stage_interest(s, 0, 0, RADIUS, 0);
    front_stage_run(s, 500);
    assert_int_equal(stats_of(s).subscriptions, 0);
    front_stage_teardown(s);
}

typedef struct secrecy {
    uint64_t received; // by the front
    uint64_t sent;     // to its client
    uint64_t messages;
    uint64_t datagrams;
} secrecy;

static void digest_datagram(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    secrecy* it = context;
    ph_hash hash = ph_hash_make(it->sent);
    ph_hash_add(&hash, bytes, size);
    it->sent = ph_hash_value(&hash);
    ++it->datagrams;
}

static secrecy run_with_secret(bool has_secret)
{
    front_stage* s =
        begin(&(memory_bus_def){.seed = 9, .delay_min_us = 1000, .delay_max_us = 1000});
    front_stage_scatter(s, 60, 300000);
    ph_entity_id hidden = {0};
    if (has_secret) {
        const ph_spawn spawn = {.key = 5, .position_mm = {1000, 1000, 0}, .seen_by = 1u << 7};
        assert_int_equal(ph_world_spawn(s->truth, &spawn, &hidden), PH_OK);
        ph_world_set_ownership(s->truth, hidden, (ph_ownership){PH_REGION_OWNER(1), 0});
    }
    front_stage_interest(s, 0, 0, RADIUS, 1u << 2 | 1u << 3);
    ph_viewer_def view = ph_viewer_def_default();
    view.sees = 1u << 2 | 1u << 3;
    ph_viewer_id viewer;
    assert_int_equal(ph_world_add_viewer(s->world, &view, &viewer), PH_OK);
    secrecy it = {0};
    for (int i = 0; i < 200; ++i) {
        if (has_secret) {
            ph_world_move(s->truth, hidden, 1000 + i * 100, 1000 - i * 50, 0);
        }
        front_stage_tick(s);
        ph_world_send_all(s->world, s->now_us, digest_datagram, &it);
    }
    if (has_secret) {
        assert_true(ph_world_find(s->world, 5).index1 == 0);
    }
    it.received = s->spy.digest;
    it.messages = (uint64_t)s->spy.messages;
    front_stage_teardown(s);
    return it;
}

// The promise: not a byte at the front, nor at its clients, depends on what none of them may see.
static void a_hidden_entity_changes_no_byte_at_the_front_and_its_clients(void** state)
{
    (void)state;
    const secrecy without = run_with_secret(false);
    const secrecy with = run_with_secret(true);
    assert_true(without.messages > 100 && without.datagrams > 20);
    assert_int_equal(without.messages, with.messages);
    assert_true(without.received == with.received);
    assert_int_equal(without.datagrams, with.datagrams);
    assert_true(without.sent == with.sent);
}

// ---- gaps, doubles, delays

static void a_lost_message_is_made_good_by_a_snapshot(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    front_stage_scatter(s, 100, 400000);
    front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_settle(s);
    const ph_entity_id gone = s->things[0];
    for (int i = 0; i < 20; ++i) {
        s->sims[i % 2].loses = 1 + i % 3;
        front_stage_run(s, 300);
    }
    s->sims[0].loses = 1000;
    s->sims[1].loses = 1000;
    front_stage_despawn(s, gone); // nothing of that is heard
    front_stage_tick(s);
    s->sims[0].loses = 0;
    s->sims[1].loses = 0;
    front_stage_settle(s);
    assert_true(stats_of(s).gaps > 5);
    front_stage_expect(s, 0, 0, RADIUS, EVERYTHING);
    assert_int_equal(front_stage_refused(s), 0);
    front_stage_teardown(s);
}

// Nothing follows by which the gap could show, but the heartbeat.
static void a_lost_last_message_shows_by_the_heartbeat(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    const ph_entity_id only = front_stage_spawn(s, 1001, 1000, 1000, 0);
    front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_settle(s);
    s->is_still = true;
    s->sims[1].loses = 1;
    ph_world_move(s->truth, only, 5000, 5000, 0);
    front_stage_tick(s);
    assert_int_equal(s->sims[1].loses, 0);
    front_stage_settle(s);
    assert_int_equal(stats_of(s).gaps, 1);
    front_stage_expect(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_teardown(s);
}

// 40 rounds with all that a network does; the truth after each.
static void whatever_the_network_does_the_truth_is_found(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; ++seed) {
        const memory_bus_def bad = {
            .seed = seed,
            .delay_min_us = 1000,
            .delay_max_us = 120000,
            .loss = 0.05,
            .duplication = 0.05,
        };
        front_stage* s = begin(&bad);
        s->rng.state = seed;
        front_stage_scatter(s, 200, 600000);
        const int interest = front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
        for (int round = 0; round < 5; ++round) {
            for (int i = 0; i < 40; ++i) {
                if (s->thing_count > 50 && test_rng_below(&s->rng, 4) == 0) {
                    front_stage_despawn(
                        s, s->things[test_rng_below(&s->rng, (uint64_t)s->thing_count)]);
                }
                front_stage_tick(s);
            }
            const int32_t x = (int32_t)test_rng_below(&s->rng, 300000) - 150000;
            move(s, interest, x, 0);
            front_stage_run(s, 1000);
            memory_bus_change(s->bus, &(memory_bus_def){.delay_max_us = 10000});
            front_stage_settle(s);
            front_stage_expect(s, x, 0, RADIUS - 10000, EVERYTHING);
            memory_bus_change(s->bus, &bad);
        }
        assert_true(stats_of(s).gaps > 0);
        assert_true(stats_of(s).old_sequence > 0);
        front_stage_teardown(s);
    }
}

static void a_snapshot_in_parts_counts_when_it_is_whole(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    s->is_still = true;
    for (int i = 0; i < 600; ++i) {
        front_stage_spawn(s, 1000 + (uint64_t)i, 10000 + i * 10, 10000, 0);
    }
    front_stage_run(s, 200);
    s->sims[1].loses_parts = 2;
    front_stage_interest(s, 10000, 10000, 20000, EVERYTHING);
    front_stage_tick(s); // asks
    front_stage_tick(s); // gets all parts but two
    front_stage_tick(s);
    assert_true(s->sims[1].parts > 4);
    assert_int_equal(s->sims[1].loses_parts, 0);
    assert_false(ph_bus_front_is_complete(s->front));
    front_stage_settle(s);
    front_stage_expect(s, 10000, 10000, 20000, EVERYTHING);
    assert_int_equal(stats_of(s).entities, 600);
    front_stage_teardown(s);
}

// Answers take longer than ticks, so that changes come between a question and its answer.
static void snapshots_and_changes_may_cross(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        front_stage* s =
            begin(&(memory_bus_def){.seed = seed, .delay_min_us = 80000, .delay_max_us = 200000});
        front_stage_scatter(s, 200, 400000);
        const int interest = front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
        for (int i = 0; i < 30; ++i) {
            s->sims[i % 2].loses = i % 2;
            front_stage_run(s, 200);
        }
        front_stage_settle(s);
        front_stage_expect(s, 0, 0, RADIUS, EVERYTHING);
        ph_bus_front_remove_interest(s->front, interest);
        front_stage_teardown(s);
    }
}

static void what_nobody_answers_is_asked_again(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    front_stage_scatter(s, 100, 400000);
    s->sims[0].is_mute = true;
    front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_run(s, 5000);
    assert_false(ph_bus_front_is_complete(s->front));
    s->sims[0].is_mute = false;
    front_stage_settle(s);
    front_stage_expect(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_teardown(s);
}

static void a_front_that_was_cut_off_finds_the_truth_again(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 3, .notice_max_us = 300000});
    front_stage_scatter(s, 150, 400000);
    front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_settle(s);
    for (int i = 0; i < 4; ++i) {
        memory_bus_cut(s->bus, s->endpoint);
        front_stage_run(s, 1500);
        front_stage_despawn(s, s->things[i]);
        front_stage_run(s, 100);
        memory_bus_join(s->bus, s->endpoint);
        front_stage_settle(s);
        front_stage_expect(s, 0, 0, RADIUS, EVERYTHING);
    }
    front_stage_teardown(s);
}

// A loss that only the transport knows of: nothing moves, no heartbeat shows it.
static void a_loss_of_the_transport_asks_for_everything(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    front_stage_scatter(s, 50, 200000);
    front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_settle(s);
    const uint64_t before = stats_of(s).snapshots;
    s->spy.is_lost = true;
    front_stage_tick(s);
    assert_true(stats_of(s).snapshots > before);
    assert_false(ph_bus_front_is_complete(s->front));
    front_stage_settle(s);
    front_stage_expect(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_teardown(s);
}

static void a_silent_stream_is_asked_for(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    s->is_still = true;
    const ph_entity_id one = front_stage_spawn(s, 1001, 1000, 1000, 0);
    front_stage_interest(s, 1000, 1000, 20000, EVERYTHING);
    front_stage_settle(s);
    front_stage_despawn(s, one);
    front_stage_take_over(s, 1); // by one that never had it, and so says nothing of it
    front_stage_run(s, 4000);
    assert_int_equal(stats_of(s).entities, 0);
    front_stage_teardown(s);
}

// ---- epochs

static void a_new_owner_is_believed_and_the_old_one_is_not(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    front_stage_scatter(s, 100, 400000);
    front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_settle(s);
    // The old owner's message, kept and sent later.
    const ph_entity_id one = s->things[0];
    s->is_still = true;
    front_stage_run(s, 200);
    front_stage_take_over(s, 1);
    front_stage_despawn(s, one);
    s->is_still = false;
    front_stage_run(s, 1000);
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    const bus_cell late = {.region = 1, .epoch = 1, .cell = {0, 0}, .sequence = 100000};
    assert_true(bus_write_cell(&writer, &late));
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_cell(subject, "w", late.cell, 0, 1);
    s->sims[0].transport.publish(s->sims[0].transport.context, subject, writer.bytes, writer.size);
    bus_writer_destroy(&writer);
    front_stage_settle(s);
    assert_int_equal(stats_of(s).old_epoch, 1);
    front_stage_expect(s, 0, 0, RADIUS, EVERYTHING);
    bool was_seen = false;
    for (int i = 0; i < ph_world_entity_count(s->world); ++i) {
        ph_bus_source source;
        assert_true(ph_bus_front_get_source(s->front, ph_world_live_entity(s->world, i), &source));
        if (source.region == 1) {
            was_seen = true;
            assert_int_equal(source.epoch, 2);
            assert_string_equal(source.sim, "sim-c");
        }
    }
    assert_true(was_seen);
    ph_bus_source source;
    assert_false(ph_bus_front_get_source(s->front, (ph_entity_id){0}, &source));
    assert_int_equal(source.region, PH_REGION_NONE);
    front_stage_teardown(s);
}

// Somebody claims a high epoch: the rightful owner would not be heard any more. The record knows better.
static void an_epoch_that_there_is_not_is_found_out(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    front_stage_scatter(s, 100, 400000);
    front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_settle(s);
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    const bus_cell lie = {.region = 1, .epoch = UINT32_MAX, .cell = {0, 0}, .sequence = 5};
    assert_true(bus_write_cell(&writer, &lie));
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_cell(subject, "w", lie.cell, 0, 1);
    s->sims[0].transport.publish(s->sims[0].transport.context, subject, writer.bytes, writer.size);
    bus_writer_destroy(&writer);
    front_stage_run(s, 500);
    assert_true(stats_of(s).old_epoch > 0);
    front_stage_run(s, 4000);
    front_stage_settle(s);
    front_stage_expect(s, 0, 0, RADIUS, EVERYTHING);
    assert_int_equal(stats_of(s).refused[PH_BUS_REFUSAL_FIELD], 1);
    front_stage_teardown(s);
}

// ---- lies

typedef struct liar {
    front_stage* stage;
    ph_bus_transport transport;
} liar;

static liar make_liar(front_stage* s)
{
    return (liar){.stage = s, .transport = memory_bus_transport(s->bus, memory_bus_add(s->bus))};
}

static void tell_cell(const liar* l, const bus_cell* head, const char* subject)
{
    bus_writer writer;
    bus_writer_init(&writer, &(ph_allocator){0});
    assert_true(bus_write_cell(&writer, head));
    l->transport.publish(l->transport.context, subject, writer.bytes, writer.size);
    bus_writer_destroy(&writer);
}

typedef struct kept_batch {
    uint8_t bytes[PH_EXPORT_BATCH_BYTES_MAX];
    size_t size;
} kept_batch;

static void keep_batch(void* context, const ph_cell_batch* batch)
{
    kept_batch* kept = context;
    memcpy(kept->bytes, batch->bytes, batch->size);
    kept->size = batch->size;
}

static void what_a_message_says_must_fit_its_subject_and_its_batch(void** state)
{
    (void)state;
    static kept_batch kept;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    s->is_still = true;
    front_stage_spawn(s, 1001, 1000, 1000, 0);
    front_stage_spawn(s, 1002, -1000, 1000, 0);
    front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_settle(s);
    const liar l = make_liar(s);
    assert_int_equal(
        ph_exporter_cell(s->sims[1].exporter, (ph_cell){0, 0}, 0, 1 << 20, keep_batch, &kept),
        PH_OK);
    char right[PH_BUS_SUBJECT_MAX];
    char wrong[PH_BUS_SUBJECT_MAX];
    char private[PH_BUS_SUBJECT_MAX];
    bus_subject_cell(right, "w", (ph_cell){0, 0}, 0, 1);
    bus_subject_cell(wrong, "w", (ph_cell){0, 0}, 0, 0);
    bus_subject_to(private, "w", "front");
    const bus_cell lie = {.region = 1,
                          .epoch = 1,
                          .cell = {0, 0},
                          .sequence = 1000,
                          .batch = kept.bytes,
                          .batch_size = kept.size};
    const uint64_t* refused = s->front != NULL ? stats_of(s).refused : NULL;
    (void)refused;
    tell_cell(&l, &lie, wrong); // of another region
    front_stage_tick(s);
    assert_int_equal(stats_of(s).refused[PH_BUS_REFUSAL_SUBJECT], 1);
    tell_cell(&l, &lie, right); // a whole batch among changes
    front_stage_tick(s);
    assert_int_equal(stats_of(s).refused[PH_BUS_REFUSAL_BATCH], 1);
    tell_cell(&l, &lie, private); // changes for one alone
    front_stage_tick(s);
    assert_int_equal(stats_of(s).refused[PH_BUS_REFUSAL_SUBJECT], 2);
    bus_cell snapshot = lie;
    snapshot.is_snapshot = true;
    snapshot.is_last_part = true;
    tell_cell(&l, &snapshot, right); // a snapshot for all
    front_stage_tick(s);
    assert_int_equal(stats_of(s).refused[PH_BUS_REFUSAL_SUBJECT], 3);
    tell_cell(&l, &snapshot, private); // not asked for
    front_stage_tick(s);
    assert_int_equal(stats_of(s).refused[PH_BUS_REFUSAL_UNASKED], 1);
    snapshot.region = 0; // the batch of another owner
    tell_cell(&l, &snapshot, private);
    front_stage_tick(s);
    assert_int_equal(stats_of(s).refused[PH_BUS_REFUSAL_BATCH], 2);
    snapshot.cell = (ph_cell){500, 500}; // not wanted
    tell_cell(&l, &snapshot, private);
    front_stage_tick(s);
    assert_int_equal(stats_of(s).refused[PH_BUS_REFUSAL_UNASKED], 2);
    bus_cell ahead = lie; // a heartbeat from the future: nothing would be new any more
    ahead.batch = NULL;
    ahead.batch_size = 0;
    ahead.sequence = UINT64_MAX;
    tell_cell(&l, &ahead, right);
    s->is_still = false;
    front_stage_run(s, 8000);
    front_stage_settle(s);
    front_stage_expect(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_teardown(s);
}

// Random bytes, and true messages with a few bits flipped, on the subjects that a front hears.
static void malformed_messages_harm_nothing(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1, .has_log = true});
    front_stage_scatter(s, 50, 300000);
    front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_run(s, 1500);
    const liar l = make_liar(s);
    int log_count;
    memory_bus_log(s->bus, &log_count);
    const int true_count = log_count;
    static uint8_t bytes[1 << 16];
    for (int i = 0; i < 4000; ++i) {
        const memory_bus_entry* log = memory_bus_log(s->bus, &log_count);
        const memory_bus_entry* one = &log[test_rng_below(&s->rng, (uint64_t)true_count)];
        size_t size = one->size;
        assert_true(size <= sizeof bytes);
        memcpy(bytes, one->bytes, size);
        char subject[PH_BUS_SUBJECT_MAX];
        memcpy(subject, one->subject, sizeof subject);
        if (i % 4 == 0) {
            bus_subject_to(subject, "w", "front");
        }
        if (i % 8 == 7) {
            size = (size_t)test_rng_below(&s->rng, 100);
            for (size_t k = 0; k < size; ++k) {
                bytes[k] = (uint8_t)test_rng_next(&s->rng);
            }
            if (i % 16 == 7) {
                bytes[0] = BUS_VERSION;
                bytes[1] = (uint8_t)(i / 16 % 20);
            }
        }
        for (int k = (int)test_rng_below(&s->rng, 4); k > 0 && size > 0; --k) {
            uint8_t* at = &bytes[test_rng_below(&s->rng, size)];
            *at = (uint8_t)(*at ^ 1u << test_rng_below(&s->rng, 8));
        }
        size -= size > 0 && i % 5 == 0 ? (size_t)test_rng_below(&s->rng, size) : 0;
        l.transport.publish(l.transport.context, subject, bytes, size);
        if (i % 40 == 0) {
            front_stage_tick(s);
        }
    }
    front_stage_run(s, 1000);
    assert_true(front_stage_refused(s) > 1000);
    // What a lie has brought in goes when its stream is asked for the next time.
    s->spy.is_lost = true;
    front_stage_run(s, 5000);
    front_stage_teardown(s);
}

// ---- memory

static void a_warm_tick_allocates_nothing(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    front_stage_scatter(s, 200, 300000);
    const int interest = front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    for (int i = 0; i < 40; ++i) {
        s->sims[i % 2].loses = i % 5 == 0;
        move(s, interest, i % 8 * 20000, 0);
        front_stage_run(s, 1000);
    }
    const int before = s->memory.allocate_count;
    for (int i = 0; i < 40; ++i) {
        s->sims[i % 2].loses = i % 5 == 0;
        move(s, interest, i % 8 * 20000, 0);
        front_stage_run(s, 1000);
    }
    assert_int_equal(s->memory.allocate_count, before);
    front_stage_teardown(s);
}

static void a_front_without_memory_is_refused_and_leaks_nothing(void** state)
{
    (void)state;
    front_stage* s = front_stage_setup(&(memory_bus_def){.seed = 1});
    test_memory memory = {0};
    s->def.allocator = test_memory_allocator(&memory);
    for (int n = 1;; ++n) {
        memory = (test_memory){.fail_at = n};
        ph_bus_front* front;
        const ph_result result = ph_bus_front_create(&s->def, &front);
        if (result == PH_OK) {
            assert_true(n > 3);
            ph_bus_front_destroy(front);
            test_memory_assert_clean(&memory);
            break;
        }
        assert_int_equal(result, PH_ERROR_MEMORY);
        assert_null(front);
        test_memory_assert_clean(&memory);
    }
    front_stage_teardown(s);
}

static void a_subscription_that_fails_is_tried_again(void** state)
{
    (void)state;
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    front_stage_scatter(s, 50, 300000);
    s->spy.refuses = true;
    front_stage_interest(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_run(s, 2000);
    assert_false(ph_bus_front_is_complete(s->front));
    s->spy.refuses = false;
    front_stage_run(s, 2000);
    front_stage_settle(s);
    front_stage_run(s, 2000);
    front_stage_settle(s);
    front_stage_expect(s, 0, 0, RADIUS, EVERYTHING);
    front_stage_teardown(s);
}

static void a_def_that_is_wrong_is_refused(void** state)
{
    (void)state;
    front_stage* s = front_stage_setup(&(memory_bus_def){.seed = 1});
    ph_error error = {0};
    s->def.on_error = ph_error_keep;
    s->def.on_error_context = &error;
    ph_bus_front* front;
    ph_bus_front_def def = s->def;
    def.world_name = "a.b";
    assert_int_equal(ph_bus_front_create(&def, &front), PH_ERROR_ARGUMENT);
    assert_string_equal(error.field, "ph_bus_front_def.world_name");
    def = s->def;
    def.name = "";
    assert_int_equal(ph_bus_front_create(&def, &front), PH_ERROR_ARGUMENT);
    def = s->def;
    def.world = NULL;
    assert_int_equal(ph_bus_front_create(&def, &front), PH_ERROR_ARGUMENT);
    def = s->def;
    def.transport.next = NULL;
    assert_int_equal(ph_bus_front_create(&def, &front), PH_ERROR_ARGUMENT);
    def = s->def;
    def.cell_mm = 1;
    assert_int_equal(ph_bus_front_create(&def, &front), PH_ERROR_ARGUMENT);
    def = s->def;
    def.cookie = 0;
    assert_int_equal(ph_bus_front_create(&def, &front), PH_ERROR_ARGUMENT);
    front_stage_teardown(s);
}

static void another_cell_size_is_told_of_once(void** state)
{
    (void)state;
    front_stage* s = front_stage_setup(&(memory_bus_def){.seed = 1});
    ph_error error = {0};
    s->def.on_error = ph_error_keep;
    s->def.on_error_context = &error;
    s->def.cell_mm = STAGE_CELL_MM / 2;
    front_stage_open(s);
    front_stage_spawn(s, 1001, 1000, 1000, 0);
    front_stage_interest(s, 0, 0, 40000, EVERYTHING);
    front_stage_run(s, 2000);
    assert_string_equal(error.field, "ph_bus_front_def.cell_mm");
    assert_non_null(strstr(error.text, "is 50000, and a sim says 100000"));
    error = (ph_error){0};
    front_stage_run(s, 2000);
    assert_int_equal(error.result, PH_OK);
    front_stage_teardown(s);
}

// 20,000 viewers in a square of 4 km: cells are counted, and a small step subscribes to nothing.
static void twenty_thousand_viewers_share_their_cells(void** state)
{
    (void)state;
    enum { COUNT = 20000 };
    front_stage* s = begin(&(memory_bus_def){.seed = 1});
    s->is_still = true;
    int32_t(*places)[2] = calloc(COUNT, sizeof *places);
    for (int i = 0; i < COUNT; ++i) {
        places[i][0] = (int32_t)test_rng_below(&s->rng, 4000000);
        places[i][1] = (int32_t)test_rng_below(&s->rng, 4000000);
        assert_int_equal(front_stage_interest(s, places[i][0], places[i][1], RADIUS, EVERYTHING),
                         i + 1);
    }
    front_stage_run(s, 100);
    assert_in_range(stats_of(s).cells, 1600, 2100);
    assert_in_range(stats_of(s).subscriptions, 100, 500);
    const int before = s->spy.subscribes;
    for (int i = 0; i < COUNT; ++i) {
        move(s, i + 1, places[i][0] + 3000, places[i][1] - 3000);
    }
    assert_int_equal(s->spy.subscribes, before);
    free(places);
    front_stage_teardown(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_around_an_interest_are_known_whole),
        cmocka_unit_test(a_viewer_that_stays_near_costs_no_subscription),
        cmocka_unit_test(what_is_held_is_kept_a_little_further),
        cmocka_unit_test(what_is_left_is_kept_for_a_while_and_then_dropped),
        cmocka_unit_test(cells_are_counted_by_reference),
        cmocka_unit_test(most_of_a_block_is_one_subscription),
        cmocka_unit_test(the_world_goes_on_behind_its_edge),
        cmocka_unit_test(what_is_seen_everywhere_is_seen_anywhere),
        cmocka_unit_test(only_channels_that_somebody_may_see_are_subscribed_to),
        cmocka_unit_test(a_viewer_that_sees_nothing_subscribes_to_nothing),
        cmocka_unit_test(a_hidden_entity_changes_no_byte_at_the_front_and_its_clients),
        cmocka_unit_test(a_lost_message_is_made_good_by_a_snapshot),
        cmocka_unit_test(a_lost_last_message_shows_by_the_heartbeat),
        cmocka_unit_test(whatever_the_network_does_the_truth_is_found),
        cmocka_unit_test(a_snapshot_in_parts_counts_when_it_is_whole),
        cmocka_unit_test(snapshots_and_changes_may_cross),
        cmocka_unit_test(what_nobody_answers_is_asked_again),
        cmocka_unit_test(a_front_that_was_cut_off_finds_the_truth_again),
        cmocka_unit_test(a_loss_of_the_transport_asks_for_everything),
        cmocka_unit_test(a_silent_stream_is_asked_for),
        cmocka_unit_test(a_new_owner_is_believed_and_the_old_one_is_not),
        cmocka_unit_test(an_epoch_that_there_is_not_is_found_out),
        cmocka_unit_test(what_a_message_says_must_fit_its_subject_and_its_batch),
        cmocka_unit_test(malformed_messages_harm_nothing),
        cmocka_unit_test(a_warm_tick_allocates_nothing),
        cmocka_unit_test(a_front_without_memory_is_refused_and_leaks_nothing),
        cmocka_unit_test(a_subscription_that_fails_is_tried_again),
        cmocka_unit_test(a_def_that_is_wrong_is_refused),
        cmocka_unit_test(another_cell_size_is_told_of_once),
        cmocka_unit_test(twenty_thousand_viewers_share_their_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
