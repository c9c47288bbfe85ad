// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A front-end in small: view, messages and input in the same datagrams over a bad network, by the lines that
// message.h shows. Never over the budget on the wire, whatever is posted; the view is not starved; all of it
// arrives.

#include "support/message_pair.h"
#include "support/test_links.h"

#include <pinhole/client.h>
#include <pinhole/net/rate.h>
#include <pinhole/viewer.h>
#include <pinhole/stats.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ENTITIES = 30, TICK_US = 50000, RATE = 13000, OVERHEAD = 48 };

typedef struct front_end {
    message_pair pair; // 0: server, 1: client
    ph_schema* schema;
    ph_world* world;
    ph_client* client;
    ph_viewer_id viewer;
    ph_entity_id ids[ENTITIES];
    ph_link* down;
    ph_link* up;
    ph_bottleneck narrow;
    ph_rate rate;
    bool is_controlled;
    test_rng rng;
    // A bucket of our own for what goes down.
    double bucket_bits;
    uint64_t filled_us;
    uint64_t wire_bytes;
    uint64_t view_bytes;
    int alone_count;
} front_end;

static const char declarations[] = "class walker\nplace: position\nhealth: range 0..100\n";

static void setup(front_end* f, ph_profile profile, double loss)
{
    *f = (front_end){.rng = {.state = 55}, .bucket_bits = 2 * RATE};
    const ph_messages_def message_def = ph_messages_def_default();
    message_pair_setup(&f->pair, &message_def);
    assert_int_equal(ph_schema_parse(declarations, sizeof declarations - 1, NULL, &f->schema, NULL),
                     PH_OK);
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = f->schema;
    world_def.profile = profile;
    world_def.tick_us = TICK_US;
    assert_int_equal(ph_world_create(&world_def, &f->world), PH_OK);
    for (int i = 0; i < ENTITIES; ++i) {
        const ph_spawn spawned = {.key = (uint64_t)i + 1, .position_mm = {i * 2000, 0, 0}};
        assert_int_equal(ph_world_spawn(f->world, &spawned, &f->ids[i]), PH_OK);
    }
    ph_viewer_def viewer_def = ph_viewer_def_default();
    viewer_def.entity = f->ids[0];
    viewer_def.bits_per_second = RATE;
    viewer_def.burst_bits = 2 * RATE;
    viewer_def.overhead_bytes = OVERHEAD;
    viewer_def.sends_per_second = PH_SENDS_AUTO;
    viewer_def.session = 77;
    assert_int_equal(ph_world_add_viewer(f->world, &viewer_def, &f->viewer), PH_OK);
    ph_client_def client_def = ph_client_def_default();
    client_def.schema = f->schema;
    client_def.profile = profile;
    assert_int_equal(ph_client_create(&client_def, &f->client), PH_OK);
    const ph_rate_def rate_def = ph_rate_def_default();
    f->rate = ph_rate_make(&rate_def);
    f->narrow.overhead_bytes = OVERHEAD;
    ph_link_def link = {
        .seed = 5, .delay_us = 40000, .jitter_us = 30000, .loss = loss, .duplication = 0.05};
    f->up = test_link_create(&link);
    link.bottleneck = &f->narrow;
    f->down = test_link_create(&link);
}

static void teardown(front_end* f)
{
    ph_link_destroy(f->down);
    ph_link_destroy(f->up);
    ph_client_destroy(f->client);
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
    message_pair_teardown(&f->pair);
}

// ---- the server

static void send_down(front_end* f, const uint8_t* bytes, size_t size)
{
    const uint64_t passed_us = f->pair.now_us - f->filled_us;
    f->filled_us = f->pair.now_us;
    f->bucket_bits = fmin(2 * RATE, f->bucket_bits + (double)passed_us * RATE * 1e-6);
    f->bucket_bits -= 8.0 * (double)(size + OVERHEAD);
    assert_true(size <= PH_PAYLOAD_MAX);
    assert_true(f->bucket_bits >= -1e-3);
    f->wire_bytes += size + OVERHEAD;
    ph_link_send(f->down, f->pair.now_us, bytes, size);
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    front_end* f = context;
    uint8_t datagram[PH_PAYLOAD_MAX];
    f->view_bytes += size;
    send_down(f, datagram, ph_messages_pack(f->pair.ends[0], bytes, size, datagram));
}

static void control(front_end* f)
{
    ph_viewer_network_stats link;
    ph_viewer_get_network_stats(f->world, f->viewer, &link);
    if (ph_rate_update(&f->rate, f->pair.now_us, &link)) {
        const int rate = ph_rate_bits_per_second(&f->rate);
        assert_int_equal(ph_viewer_set_budget(f->world, f->viewer, rate, 2 * RATE), PH_OK);
        ph_messages_set_budget(f->pair.ends[0], rate);
    }
}

static void serve(front_end* f)
{
    ph_messages* messages = f->pair.ends[0];
    const uint64_t now_us = f->pair.now_us;
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
    while ((size = ph_link_receive(f->up, now_us, bytes, sizeof bytes)) > 0) {
        ph_messages_rest rest;
        assert_int_equal(ph_messages_unpack(messages, now_us, bytes, size, &rest), PH_OK);
        if (rest.size > 0) {
            assert_int_equal(
                ph_viewer_receive_ack(f->world, f->viewer, now_us, rest.bytes, rest.size), PH_OK);
        }
        assert_int_equal(
            ph_messages_set_processed_input(messages, ph_messages_newest_input(messages).number),
            PH_OK);
    }
    if (f->is_controlled) {
        control(f);
    }
    ph_world_tick(f->world);
    if (ph_viewer_is_send_due(f->world, f->viewer, now_us)) {
        const int next = (int)ph_messages_plan(messages, now_us) - PH_MESSAGES_EMPTY_SIZE;
        assert_int_equal(ph_viewer_reserve(f->world, f->viewer, PH_MESSAGES_EMPTY_SIZE, next),
                         PH_OK);
        ph_viewer_send(f->world, f->viewer, now_us, deliver, f);
    }
    const size_t alone = ph_messages_plan_alone(messages, now_us);
    if (alone > 0 && ph_viewer_spend(f->world, f->viewer, now_us, (int)alone) == PH_OK) {
        size = ph_messages_pack(messages, NULL, 0, bytes);
        assert_int_equal(size, alone);
        ++f->alone_count;
        send_down(f, bytes, size);
    }
}

// ---- the client

static void play(front_end* f)
{
    ph_messages* messages = f->pair.ends[1];
    const uint64_t now_us = f->pair.now_us;
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
    while ((size = ph_link_receive(f->down, now_us, bytes, sizeof bytes)) > 0) {
        ph_messages_rest rest;
        assert_int_equal(ph_messages_unpack(messages, now_us, bytes, size, &rest), PH_OK);
        if (rest.size > 0) {
            const ph_result result = ph_client_receive(f->client, now_us, rest.bytes, rest.size);
            assert_true(result == PH_OK || result == PH_ERROR_STALE);
        }
    }
    uint8_t ack[PH_ACK_SIZE];
    const size_t ack_size = ph_client_write_ack(f->client, now_us, ack);
    ph_messages_plan(messages, now_us);
    size = ph_messages_pack(messages, ack, ack_size, bytes);
    ph_link_send(f->up, now_us, bytes, size);
}

static void step(front_end* f, bool is_moving)
{
    for (int i = 0; is_moving && i < ENTITIES; ++i) {
        const int32_t x_mm = (int32_t)test_rng_below(&f->rng, 60000);
        assert_int_equal(ph_world_move(f->world, f->ids[i], x_mm, 0, 0), PH_OK);
    }
    serve(f);
    play(f);
    f->pair.now_us += TICK_US;
}

static bool is_equal(const front_end* f)
{
    for (int i = 0; i < ENTITIES; ++i) {
        const ph_entity_id shown = ph_client_find(f->client, (uint64_t)i + 1);
        int32_t shown_mm[3];
        int32_t true_mm[3];
        if (ph_client_get_property(f->client, shown, 0, PH_FIELD_I32X3, shown_mm, 12) != PH_OK ||
            ph_world_get_property(f->world, f->ids[i], 0, PH_FIELD_I32X3, true_mm, 12) != PH_OK ||
            memcmp(shown_mm, true_mm, 12) != 0) {
            return false;
        }
    }
    return true;
}

// ---- tests

// All entities jump about, and there is always more to say than the budget carries.
static void a_flood_of_messages_starves_no_entity(void** state)
{
    (void)state;
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        front_end f;
        setup(&f, (ph_profile)profile, 0.1);
        uint32_t posted = 0;
        uint32_t taken = 0;
        for (int tick = 0; tick < 1200; ++tick) {
            while (message_pair_post(&f.pair, 0, 80, posted) == PH_OK) {
                ++posted;
            }
            step(&f, true);
            uint8_t message[PH_MESSAGE_SIZE_MAX];
            uint8_t expected[80];
            while (ph_messages_receive(f.pair.ends[1], message) > 0) {
                message_pair_fill(expected, sizeof expected, taken++);
                assert_memory_equal(message, expected, sizeof expected);
            }
        }
        // A minute of 1,625 bytes a second, of which messages have at most a quarter.
        const uint64_t most = 60 * RATE / 8;
        assert_true(f.wire_bytes > 95 * most / 100);
        assert_true(f.view_bytes > 40 * most / 100);
        const ph_messages_stats stats = ph_messages_get_stats(f.pair.ends[0]);
        assert_in_range(stats.sent_bytes, 20 * most / 100, 29 * most / 100);
        assert_true(taken > 150);
        // What the world counts is what went over the wire.
        ph_viewer_stats figures;
        ph_viewer_get_stats(f.world, f.viewer, &figures);
        assert_int_equal(figures.sent_wire_bytes, f.wire_bytes);
        assert_int_equal(figures.ledger.bits256[PH_REASON_RESERVED], 2048 * stats.sent_bytes);
        teardown(&f);
    }
}

static void view_messages_and_input_arrive_with_a_third_lost(void** state)
{
    (void)state;
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        front_end f;
        setup(&f, (ph_profile)profile, 0.3);
        for (uint32_t tick = 0; tick < 300; ++tick) {
            if (tick % 10 == 0) {
                message_pair_post(&f.pair, 0, 40, tick);
                message_pair_post(&f.pair, 1, 40, tick);
            }
            ph_messages_set_input(f.pair.ends[1], tick + 1, "forward", 7);
            step(&f, true);
        }
        for (int tick = 0; tick < 400; ++tick) {
            step(&f, false);
        }
        for (uint32_t tick = 0; tick < 300; tick += 10) {
            message_pair_expect(&f.pair, 1, 40, tick);
            message_pair_expect(&f.pair, 0, 40, tick);
        }
        assert_int_equal(ph_messages_processed_input(f.pair.ends[1]), 300);
        assert_true(is_equal(&f));
        teardown(&f);
    }
}

// Nothing moves, so nothing is sent of the view: messages goes by itself.
static void message_goes_alone_when_the_view_is_silent(void** state)
{
    (void)state;
    front_end f;
    setup(&f, PH_PROFILE_PINHOLE, 0.0);
    for (int tick = 0; tick < 200; ++tick) {
        step(&f, false);
    }
    f.alone_count = 0;
    message_pair_post(&f.pair, 0, 40, 1);
    int waited = 0;
    uint8_t message[PH_MESSAGE_SIZE_MAX];
    while (ph_messages_receive(f.pair.ends[1], message) == 0) {
        step(&f, false);
        assert_true(++waited < 20);
    }
    assert_int_equal(f.alone_count, 1);
    teardown(&f);
}

static uint32_t take_messages(front_end* f, uint32_t taken)
{
    uint8_t message[PH_MESSAGE_SIZE_MAX];
    uint8_t expected[30];
    while (ph_messages_receive(f->pair.ends[1], message) > 0) {
        message_pair_fill(expected, sizeof expected, taken++);
        assert_memory_equal(message, expected, sizeof expected);
    }
    return taken;
}

// 13 kbit/s for a line of seven, with messages beside the view. @return The mean queue in the second
// minute, in ms.
static double queue_ms(ph_profile profile, bool is_controlled)
{
    front_end f;
    setup(&f, profile, 0.01);
    f.is_controlled = is_controlled;
    f.narrow.bits_per_second = 7000;
    f.narrow.queue_bytes = 7000 / 8 * 3;
    double sum_ms = 0.0;
    uint32_t taken = 0;
    for (uint32_t tick = 0; tick < 2800; ++tick) {
        const bool is_moving = tick < 2400;
        if (is_moving && tick % 20 == 0) {
            message_pair_post(&f.pair, 0, 30, tick / 20);
        }
        step(&f, is_moving);
        taken = take_messages(&f, taken);
        const double wait_ms = (double)ph_bottleneck_wait_us(&f.narrow, f.pair.now_us) / 1e3;
        sum_ms += is_moving && tick >= 1200 ? wait_ms : 0.0;
    }
    assert_true(is_equal(&f));
    assert_int_equal(taken, 120);
    teardown(&f);
    return sum_ms / 1200.0;
}

static void the_controller_keeps_the_queue_short(void** state)
{
    (void)state;
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        const double without_ms = queue_ms((ph_profile)profile, false);
        const double with_ms = queue_ms((ph_profile)profile, true);
        print_message("mean queue %.0f ms, without a controller %.0f ms\n", with_ms, without_ms);
        assert_true(without_ms > 1500.0);
        assert_true(with_ms < 500.0);
    }
}

static void nothing_is_reserved_beyond_the_room(void** state)
{
    (void)state;
    front_end f;
    setup(&f, PH_PROFILE_CLASSIC, 0.0);
    const int most = ph_viewer_reserve_max(f.world, f.viewer);
    assert_in_range(most, PH_PAYLOAD_MAX - 100, PH_PAYLOAD_MAX - 40);
    assert_int_equal(ph_viewer_reserve(f.world, f.viewer, -1, 0), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_viewer_reserve(f.world, f.viewer, 0, -1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_viewer_reserve(f.world, f.viewer, most, 1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_viewer_reserve(f.world, f.viewer, 1, INT32_MAX), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_viewer_reserve(f.world, f.viewer, most, 0), PH_OK);
    assert_int_equal(ph_viewer_spend(f.world, f.viewer, 0, 0), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_viewer_spend(f.world, f.viewer, 0, PH_PAYLOAD_MAX + 1), PH_ERROR_ARGUMENT);
    const ph_viewer_id none = {0};
    ph_viewer_network_stats link = {.lost_packets = 1};
    assert_int_equal(ph_viewer_reserve(f.world, none, 0, 0), PH_ERROR_STALE);
    assert_int_equal(ph_viewer_spend(f.world, none, 0, 1), PH_ERROR_STALE);
    assert_int_equal(ph_viewer_reserve_max(f.world, none), 0);
    assert_int_equal(ph_viewer_get_network_stats(f.world, none, &link), PH_ERROR_STALE);
    assert_int_equal(link.lost_packets, 0);
    teardown(&f);
}

// The largest class with 64 properties that a schema takes.
static ph_schema* make_largest_schema(void)
{
    static char names[PH_PROPERTIES_MAX][16];
    static ph_property_def properties[PH_PROPERTIES_MAX];
    for (int p = 0; p < PH_PROPERTIES_MAX; ++p) {
        snprintf(names[p], sizeof names[p], "p%d", p);
        properties[p] =
            (ph_property_def){.name = names[p], .coding = PH_CODING_BYTES, .max_length = 1};
    }
    properties[0] = (ph_property_def){.name = "p0", .coding = PH_CODING_POSITION};
    const ph_class_def type = {
        .name = "largest", .properties = properties, .property_count = PH_PROPERTIES_MAX};
    ph_schema* schema = NULL;
    for (ph_schema* larger; ph_schema_create(&type, 1, NULL, &larger, NULL) == PH_OK;) {
        ph_schema_destroy(schema);
        schema = larger;
        ++properties[1].max_length;
    }
    assert_non_null(schema);
    return schema;
}

static void the_largest_class_leaves_no_room_and_no_less(void** state)
{
    (void)state;
    ph_schema* schema = make_largest_schema();
    for (int profile = 0; profile < PH_PROFILE_COUNT; ++profile) {
        ph_world_def def = ph_world_def_default();
        def.schema = schema;
        def.profile = (ph_profile)profile;
        ph_world* world;
        ph_viewer_id viewer;
        const ph_viewer_def viewer_def = ph_viewer_def_default();
        assert_int_equal(ph_world_create(&def, &world), PH_OK);
        assert_int_equal(ph_world_add_viewer(world, &viewer_def, &viewer), PH_OK);
        assert_in_range(ph_viewer_reserve_max(world, viewer), 0, 60);
        assert_int_equal(ph_viewer_reserve(world, viewer, 0, 0), PH_OK);
        ph_world_destroy(world);
    }
    ph_schema_destroy(schema);
}

static void the_link_is_told_as_the_figures_have_it(void** state)
{
    (void)state;
    front_end f;
    setup(&f, PH_PROFILE_CLASSIC, 0.2);
    for (int tick = 0; tick < 400; ++tick) {
        step(&f, true);
    }
    ph_viewer_stats stats;
    ph_viewer_network_stats link;
    assert_int_equal(ph_viewer_get_stats(f.world, f.viewer, &stats), PH_OK);
    assert_int_equal(ph_viewer_get_network_stats(f.world, f.viewer, &link), PH_OK);
    assert_int_equal(link.sent_datagrams, stats.sent_datagrams);
    assert_int_equal(link.sent_wire_bytes, stats.sent_wire_bytes);
    assert_int_equal(link.resolved_packets, stats.resolved_packets);
    assert_int_equal(link.lost_packets, stats.lost_packets);
    assert_true(link.rtt_samples > 20 && link.rtt_samples == stats.rtt_samples);
    const double mean_ms = (double)link.rtt_sum_us / (double)link.rtt_samples / 1000.0;
    assert_true(mean_ms > 80.0 && mean_ms < 200.0); // and a tick or two
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flood_of_messages_starves_no_entity),
        cmocka_unit_test(view_messages_and_input_arrive_with_a_third_lost),
        cmocka_unit_test(message_goes_alone_when_the_view_is_silent),
        cmocka_unit_test(the_controller_keeps_the_queue_short),
        cmocka_unit_test(nothing_is_reserved_beyond_the_room),
        cmocka_unit_test(the_largest_class_leaves_no_room_and_no_less),
        cmocka_unit_test(the_link_is_told_as_the_figures_have_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
