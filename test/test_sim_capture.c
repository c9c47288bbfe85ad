// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The run of a viewer, captured as a feed and played again by other clients: the same figures to the last
// bit, for each way. As the page does it, whose clients and judge are the same code.

#include "test_support.h"

#include "kit/derive.h"
#include "kit/gzip.h"
#include "kit/judge.h"
#include "kit/scene_recording.h"
#include "kit/sim.h"
#include "kit/sim_capture.h"
#include "kit/way_client.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct fixture {
    ph_recording* recording;
    ph_schema* schema;
    ph_pool* pool;
    ph_sim_def def;
    ph_sim_capture captures[PH_WAY_COUNT];
    ph_sim_result results[PH_WAY_COUNT];
    ph_feed feed;
} fixture;

static void set_up(fixture* f, const char* scene)
{
    ph_fault fault = {0};
    const ph_scene_recording_def recording = {
        .scene = scene, .count = 40, .seconds = 15.0, .seed = 5};
    *f = (fixture){.pool = ph_pool_create(1), .def = ph_sim_def_default()};
    f->recording = ph_scene_recording_make(&recording, &fault);
    f->schema = ph_derive_schema(f->recording, &fault);
    assert_non_null(f->schema);
    f->def.viewers = 1;
    f->def.skips_standstill = true;
}

static void tear_down(fixture* f)
{
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        ph_sim_capture_destroy(&f->captures[way]);
    }
    ph_feed_destroy(&f->feed);
    ph_schema_destroy(f->schema);
    ph_recording_destroy(f->recording);
    ph_pool_destroy(f->pool);
}

static void run_ways(fixture* f)
{
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        ph_fault fault = {0};
        ph_sim_def def = f->def;
        def.profile = way == PH_WAY_PINHOLE ? PH_PROFILE_PINHOLE : PH_PROFILE_CLASSIC;
        def.is_snapshot = way == PH_WAY_SNAPSHOT;
        def.hz = way == PH_WAY_CLASSIC ? 5.0 : 0.0;
        def.capture = &f->captures[way];
        f->captures[way].place = way;
        if (!ph_sim_run(&def, f->recording, f->schema, f->pool, &f->results[way], &fault)) {
            fail_msg("%s", fault.message);
        }
        assert_int_equal(f->captures[way].way, way);
    }
    ph_sim_capture_merge(f->captures, PH_WAY_COUNT, &f->feed);
    assert_false(f->feed.is_failed);
}

// ---- playing it again

typedef struct replay {
    ph_way_client* clients[PH_WAY_COUNT];
    ph_judge* judge;
    uint64_t last_us;
    int counts[9]; // frames by kind
} replay;

static void open_replay(replay* of, const fixture* f)
{
    *of = (replay){0};
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        const ph_sim_capture* capture = &f->captures[way];
        const ph_way_client_def def = {
            .way = capture->way,
            .schema = f->schema,
            .ground = f->recording->ground,
            .terms = capture->terms,
            .tick_us = capture->tick_us,
            .show_delay_ms = capture->show_delay_ms,
        };
        of->clients[way] = ph_way_client_create(&def);
        assert_non_null(of->clients[way]);
    }
    const ph_judge_def judge = {
        .rate_hz = f->recording->rate_hz,
        .viewer = f->captures[0].viewer,
        .radius_mm = 250000,
        .slots = f->def.slots,
        .way_count = PH_WAY_COUNT,
        .ids = f->recording->id,
        .id_count = f->recording->entity_count,
        .capacity = f->recording->entity_count + 1,
    };
    of->judge = ph_judge_create(&judge);
    assert_non_null(of->judge);
}

static void close_replay(replay* of)
{
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        ph_way_client_destroy(of->clients[way]);
    }
    ph_judge_destroy(of->judge);
}

static uint64_t time_of(const uint8_t* bytes)
{
    uint64_t time_us = 0;
    for (int i = 7; i >= 0; --i) {
        time_us = time_us << 8 | bytes[i];
    }
    return time_us;
}

// Acks go nowhere, but when a client writes them is part of what it knows.
static void write_acks(ph_way_client* client, uint64_t until_us)
{
    uint8_t ack[PH_ACK_SIZE];
    for (uint64_t due_us = ph_way_client_ack_due_us(client); due_us <= until_us;
         due_us = ph_way_client_ack_due_us(client)) {
        ph_way_client_write_ack(client, due_us, ack);
    }
}

static void show(replay* of, int way, uint64_t now_us)
{
    ph_way_client* client = of->clients[way];
    write_acks(client, now_us);
    ph_way_client_advance(client, now_us);
    for (int slot = 0; slot < ph_way_client_slot_count(client); ++slot) {
        const ph_entity_id entity = ph_way_client_entity_at(client, slot);
        uint64_t key;
        ph_pose pose;
        if (ph_way_client_identify(client, entity, &key) == PH_OK &&
            ph_way_client_get_pose(client, entity, &pose) == PH_OK) {
            ph_judge_show(of->judge, key, &pose);
        }
    }
    ph_judge_measure(of->judge, way);
}

static void take_datagram(replay* of, const uint8_t* frame, size_t size)
{
    ph_way_client* client = of->clients[frame[1]];
    const uint64_t now_us = time_of(frame + 2);
    uint8_t ack[PH_ACK_SIZE];
    write_acks(client, now_us > 0 ? now_us - 1 : 0);
    ph_way_client_receive(client, now_us, frame + 10, size - 10);
    ph_way_client_write_ack(client, now_us, ack);
}

static void play_frame(replay* of, const uint8_t* frame, size_t size)
{
    const bool is_truth = frame[0] == PH_FEED_TRUTH;
    const uint64_t time_us = time_of(frame + (is_truth ? 1 : 2));
    assert_true(time_us >= of->last_us); // in order
    of->last_us = time_us;
    ++of->counts[frame[0]];
    if (frame[0] == PH_FEED_DATAGRAM) {
        take_datagram(of, frame, size);
    } else if (is_truth) {
        assert_true(ph_judge_take_truth(of->judge, frame, size));
        for (int way = 0; way < PH_WAY_COUNT; ++way) {
            show(of, way, time_us);
        }
    }
}

static void check_replay(const char* scene, double loss, bool is_delayed)
{
    fixture f;
    replay of;
    set_up(&f, scene);
    f.def.loss = loss;
    f.def.is_delayed = is_delayed;
    run_ways(&f);
    open_replay(&of, &f);
    size_t at = 0;
    const uint8_t* frame;
    size_t size;
    while (ph_feed_next(&f.feed, &at, &frame, &size)) {
        play_frame(&of, frame, size);
    }
    uint64_t datagrams = 0;
    uint64_t received = 0;
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        const ph_figures_summary replayed = ph_judge_whole(of.judge, way);
        const ph_figures_summary* run = &f.results[way].figures;
        assert_true(run->error_mrad.mean > 0.0);
        assert_memory_equal(&replayed.error_mm, &run->error_mm, sizeof run->error_mm);
        assert_memory_equal(&replayed.error_mrad, &run->error_mrad, sizeof run->error_mrad);
        assert_true(replayed.missing_pct == run->missing_pct);
        assert_true(replayed.ghost_pct == run->ghost_pct);
        datagrams += f.results[way].traffic.datagrams;
        received += f.results[way].traffic.received;
    }
    assert_int_equal(of.counts[PH_FEED_TRACE], datagrams);
    assert_int_equal(of.counts[PH_FEED_DATAGRAM], received);
    assert_int_equal(of.counts[PH_FEED_TRUTH], f.recording->tick_count);
    close_replay(&of);
    tear_down(&f);
}

static void a_replay_has_the_figures_of_the_run(void** state)
{
    (void)state;
    check_replay("town", 0.01, false);
}

static void a_replay_has_them_with_loss_and_delay(void** state)
{
    (void)state;
    check_replay("crowd", 0.2, true);
}

static void what_is_too_large_is_cut_and_said_so(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "town");
    f.captures[PH_WAY_CLASSIC].size_max = 20000;
    run_ways(&f);
    assert_true(f.captures[PH_WAY_CLASSIC].is_cut);
    assert_false(f.captures[PH_WAY_PINHOLE].is_cut);
    assert_true(f.captures[PH_WAY_CLASSIC].feed.size < 40000);
    tear_down(&f);
}

static void packed_bytes_are_unpacked_by_zlib(void** state)
{
    (void)state;
    enum { SIZE = 100000 };
    ph_fault fault = {0};
    uint8_t* bytes = malloc(SIZE);
    uint8_t* unpacked = malloc(SIZE);
    uint8_t* packed;
    size_t packed_size;
    test_rng rng = {.state = 8};
    for (int i = 0; i < SIZE; ++i) {
        bytes[i] = (uint8_t)test_rng_below(&rng, 20);
    }
    assert_true(ph_gzip_pack(bytes, SIZE, &packed, &packed_size, &fault));
    assert_true(packed_size < SIZE);
    z_stream stream = {.next_in = packed, .avail_in = (uInt)packed_size};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_out = unpacked;
    stream.avail_out = SIZE;
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, SIZE);
    assert_memory_equal(bytes, unpacked, SIZE);
    inflateEnd(&stream);
    free(packed);
    free(unpacked);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_has_the_figures_of_the_run),
        cmocka_unit_test(a_replay_has_them_with_loss_and_delay),
        cmocka_unit_test(what_is_too_large_is_cut_and_said_so),
        cmocka_unit_test(packed_bytes_are_unpacked_by_zlib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
