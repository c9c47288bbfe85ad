// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A block beside a view, in simulated time, by the lines that message.h shows: blocks use their share of the budget,
// and what the view leaves; the budget is never exceeded by a bit.

#include "support/test_links.h"
#include "support/test_memory.h"

#include <pinhole/client.h>
#include <pinhole/message.h>
#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 300, OVERHEAD = 48, SECONDS = 30, BLOCK_SIZE = 4 << 20 };

typedef struct stage {
    ph_schema* schema;
    ph_world* world;
    ph_client* client;
    ph_messages* ends[2]; // server, client
    ph_viewer_id viewer;
    ph_entity_id ids[ENTITIES];
    ph_link* down;
    ph_link* up;
    test_rng rng;
    uint64_t now_us;
    uint32_t tick_us;
    int rate;
    // A bucket of our own for what goes down.
    double bucket_bits;
    uint64_t filled_us;
    uint64_t wire_bytes;
    uint64_t block_bytes; // of that, with the headers of datagrams for blocks alone
    uint64_t view_bytes;
    uint8_t* block;
} stage;

static const char declarations[] = "class walker\nplace: position\nhealth: range 0..100\n";

static void setup_world(stage* s, double sends_per_second)
{
    assert_int_equal(ph_schema_parse(declarations, sizeof declarations - 1, NULL, &s->schema, NULL),
                     PH_OK);
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = s->schema;
    world_def.tick_us = s->tick_us;
    assert_int_equal(ph_world_create(&world_def, &s->world), PH_OK);
    for (int i = 0; i < ENTITIES; ++i) {
        const ph_spawn spawned = {.key = (uint64_t)i + 1, .position_mm = {i * 200, 0, 0}};
        assert_int_equal(ph_world_spawn(s->world, &spawned, &s->ids[i]), PH_OK);
    }
    ph_viewer_def viewer_def = ph_viewer_def_default();
    viewer_def.entity = s->ids[0];
    viewer_def.bits_per_second = s->rate;
    viewer_def.overhead_bytes = OVERHEAD;
    viewer_def.sends_per_second = sends_per_second;
    viewer_def.session = 77;
    assert_int_equal(ph_world_add_viewer(s->world, &viewer_def, &s->viewer), PH_OK);
    ph_client_def client_def = ph_client_def_default();
    client_def.schema = s->schema;
    client_def.profile = world_def.profile;
    assert_int_equal(ph_client_create(&client_def, &s->client), PH_OK);
}

static void setup(stage* s, int rate, uint32_t tick_us, double sends_per_second)
{
    *s = (stage){.rng = {.state = 55}, .now_us = 1000000, .tick_us = tick_us, .rate = rate};
    ph_messages_def def = ph_messages_def_default();
    def.overhead_bytes = OVERHEAD;
    def.bits_per_second = rate;
    assert_int_equal(ph_messages_create(&def, &s->ends[0]), PH_OK);
    def.bits_per_second = 0;
    def.block_size_max = BLOCK_SIZE;
    assert_int_equal(ph_messages_create(&def, &s->ends[1]), PH_OK);
    setup_world(s, sends_per_second);
    const ph_link_def link = {.seed = 5, .delay_us = 40000};
    s->up = test_link_create(&link);
    s->down = test_link_create(&link);
    s->block = calloc(1, BLOCK_SIZE);
    // A second, or the largest enter beside what is reserved.
    s->bucket_bits = fmax(rate, 8.0 * (PH_PAYLOAD_MAX + OVERHEAD));
}

static void teardown(stage* s)
{
    ph_link_destroy(s->down);
    ph_link_destroy(s->up);
    ph_client_destroy(s->client);
    ph_world_destroy(s->world);
    ph_schema_destroy(s->schema);
    ph_messages_destroy(s->ends[0]);
    ph_messages_destroy(s->ends[1]);
    free(s->block);
}

static void send_down(stage* s, const uint8_t* bytes, size_t size)
{
    const uint64_t passed_us = s->now_us - s->filled_us;
    const double depth_bits = fmax(s->rate, 8.0 * (PH_PAYLOAD_MAX + OVERHEAD));
    s->filled_us = s->now_us;
    s->bucket_bits = fmin(depth_bits, s->bucket_bits + (double)passed_us * s->rate * 1e-6);
    s->bucket_bits -= 8.0 * (double)(size + OVERHEAD);
    assert_true(size <= PH_PAYLOAD_MAX);
    assert_true(s->bucket_bits >= -1e-3);
    s->wire_bytes += size + OVERHEAD;
    ph_link_send(s->down, s->now_us, bytes, size);
}

static void deliver(void* context, ph_viewer_id viewer, const void* packet, size_t size)
{
    (void)viewer;
    stage* s = context;
    uint8_t bytes[PH_PAYLOAD_MAX];
    const size_t whole = ph_messages_pack(s->ends[0], packet, size, bytes);
    s->view_bytes += size;
    s->block_bytes += whole - size - PH_MESSAGES_EMPTY_SIZE;
    send_down(s, bytes, whole);
}

static void send_blocks(stage* s, bool is_behind)
{
    for (;;) {
        const int64_t left_bits = ph_viewer_left_bits(s->world, s->viewer, s->now_us);
        const int64_t spare_bits =
            is_behind ? ph_viewer_spare_bits(s->world, s->viewer, s->now_us) : 0;
        const size_t planned = ph_messages_plan_block(s->ends[0], s->now_us, left_bits, spare_bits);
        if (planned == 0 ||
            ph_viewer_spend(s->world, s->viewer, s->now_us, (int)planned) != PH_OK) {
            return;
        }
        uint8_t bytes[PH_PAYLOAD_MAX];
        const size_t size = ph_messages_pack(s->ends[0], NULL, 0, bytes);
        assert_int_equal(size, planned);
        s->block_bytes += size + OVERHEAD;
        send_down(s, bytes, size);
    }
}

static void serve(stage* s)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
    while ((size = ph_link_receive(s->up, s->now_us, bytes, sizeof bytes)) > 0) {
        ph_messages_rest rest;
        assert_int_equal(ph_messages_unpack(s->ends[0], s->now_us, bytes, size, &rest), PH_OK);
        ph_viewer_receive_ack(s->world, s->viewer, s->now_us, rest.bytes, rest.size);
    }
    ph_world_tick(s->world);
    send_blocks(s, false);
    if (ph_viewer_is_send_due(s->world, s->viewer, s->now_us)) {
        const int next = (int)ph_messages_plan(s->ends[0], s->now_us) - PH_MESSAGES_EMPTY_SIZE;
        assert_int_equal(ph_viewer_reserve(s->world, s->viewer, PH_MESSAGES_EMPTY_SIZE, next),
                         PH_OK);
        ph_viewer_send(s->world, s->viewer, s->now_us, deliver, s);
    }
    send_blocks(s, true);
}

static void play(stage* s)
{
    uint8_t bytes[PH_PAYLOAD_MAX];
    uint8_t ack[PH_ACK_SIZE];
    size_t size;
    while ((size = ph_link_receive(s->down, s->now_us, bytes, sizeof bytes)) > 0) {
        ph_messages_rest rest;
        assert_int_equal(ph_messages_unpack(s->ends[1], s->now_us, bytes, size, &rest), PH_OK);
        if (rest.size > 0) {
            ph_client_receive(s->client, s->now_us, rest.bytes, rest.size);
        }
    }
    ph_messages_plan(s->ends[1], s->now_us);
    const size_t ack_size = ph_client_write_ack(s->client, s->now_us, ack);
    size = ph_messages_pack(s->ends[1], ack, ack_size, bytes);
    ph_link_send(s->up, s->now_us, bytes, size);
}

static void run(stage* s, int seconds, bool is_moving)
{
    const uint64_t end_us = s->now_us + (uint64_t)seconds * 1000000;
    for (; s->now_us < end_us; s->now_us += s->tick_us) {
        for (int i = 0; is_moving && i < ENTITIES; ++i) {
            const int32_t x_mm = (int32_t)test_rng_below(&s->rng, 80000);
            assert_int_equal(ph_world_move(s->world, s->ids[i], x_mm, 0, 0), PH_OK);
        }
        serve(s);
        play(s);
    }
}

// @return How much of their share blocks have used, and in *budget how much of the budget was, both 0..1.
static double use(int rate, uint32_t tick_us, double sends_per_second, bool is_moving,
                  double* budget)
{
    stage s;
    setup(&s, rate, tick_us, sends_per_second);
    run(&s, 10, is_moving); // everything is in view
    assert_int_equal(ph_messages_lend_block(s.ends[0], 1, s.block, BLOCK_SIZE, NULL), PH_OK);
    const uint64_t before_bytes = s.wire_bytes;
    run(&s, SECONDS, is_moving);
    const double used = 8.0 * (double)s.block_bytes / (0.25 * rate * SECONDS);
    *budget = 8.0 * (double)(s.wire_bytes - before_bytes) / ((double)rate * SECONDS);
    ph_block_progress progress;
    assert_true(ph_messages_sending_block(s.ends[0], &progress));
    print_message("%d bit/s, a tick of %u ms, %s sends, a %s view: share used to %.1f %%, budget "
                  "to %.1f %%, %zu bytes of the block\n",
                  rate, tick_us / 1000, sends_per_second == PH_SENDS_AUTO ? "paced" : "fixed",
                  is_moving ? "full" : "still", 100 * used, 100 * *budget, progress.done);
    teardown(&s);
    return used;
}

static void the_share_is_used_beside_a_full_view(void** state)
{
    (void)state;
    double budget;
    for (int i = 0; i < 8; ++i) {
        const int rate = (i & 1) != 0 ? 64000 : 13000;
        const uint32_t tick_us = (i & 2) != 0 ? 100000 : 50000;
        const double used = use(rate, tick_us, (i & 4) != 0 ? 5.0 : PH_SENDS_AUTO, true, &budget);
        assert_true(used >= 0.95);
        // A full view leaves nothing: it is what was saved up, and the share, headers included.
        const double saved_bits = fmax(0.25 * rate, 8.0 * (OVERHEAD + 384));
        assert_true(used * 0.25 * rate * SECONDS <= saved_bits + 0.25 * rate * SECONDS);
    }
    assert_true(use(250000, 50000, 20.0, true, &budget) >= 0.95);
}

static void blocks_use_what_a_still_view_leaves(void** state)
{
    (void)state;
    double budget;
    assert_true(use(13000, 50000, PH_SENDS_AUTO, false, &budget) > 3.0);
    assert_true(budget > 0.9);
    assert_true(use(64000, 50000, PH_SENDS_AUTO, false, &budget) > 3.0);
    assert_true(budget > 0.9);
}

// The view has at least what is not the blocks' share.
static void a_full_view_is_not_starved(void** state)
{
    (void)state;
    uint64_t view_bytes[2];
    for (int has_block = 0; has_block < 2; ++has_block) {
        stage s;
        setup(&s, 13000, 50000, PH_SENDS_AUTO);
        if (has_block) {
            assert_int_equal(ph_messages_lend_block(s.ends[0], 1, s.block, BLOCK_SIZE, NULL),
                             PH_OK);
        }
        run(&s, SECONDS, true);
        view_bytes[has_block] = s.view_bytes;
        teardown(&s);
    }
    assert_true((double)view_bytes[1] > 0.65 * (double)view_bytes[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_is_used_beside_a_full_view),
        cmocka_unit_test(blocks_use_what_a_still_view_leaves),
        cmocka_unit_test(a_full_view_is_not_starved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
