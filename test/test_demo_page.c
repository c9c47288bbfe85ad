// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A page's session without any socket: this test reads its frames as a page does, has clients as a page has, and
// answers with their acks. The clock is the test's.

#include "test_support.h"

#include "demo_page_frames.h"

#include "kit/sim_equality.h"
#include "kit/way_client.h"

#include <pinhole/link.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDING "some/recording.csv"
#define MS UINT64_C(1000)
#define SECOND UINT64_C(1000000)
enum { OVERHEAD_BYTES = 48 };

// What came since the counts were last cleared.
typedef struct tally {
    int frames[PH_FEED_NOTE + 1];
    int datagrams[PH_WAY_COUNT];
    int traces[PH_WAY_COUNT];
    size_t wire_bytes[PH_WAY_COUNT];
    uint64_t latest_us; // since the tick before it, of any datagram
} tally;

typedef struct fixture {
    uint64_t real_us;
    demo_stage* stage;
    demo_page* page;
    ph_way_client* clients[PH_WAY_COUNT];
    int way_count;
    bool is_silent;   // no acks
    char scene[8192]; // the last frame SCENE
    char note[400];
    char explain[4096];
    uint64_t time_us; // of the newest frame with a time: they never go back
    tally seen;
} fixture;

static uint64_t real_of(void* context)
{
    return ((const fixture*)context)->real_us;
}

// ---- reading frames

static uint64_t u64_at(const uint8_t* bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
        value |= (uint64_t)bytes[i] << 8 * i;
    }
    return value;
}

static void take_time(fixture* f, uint64_t time_us)
{
    assert_true(time_us >= f->time_us);
    f->time_us = time_us;
}

static void clear_clients(fixture* f)
{
    for (int i = 0; i < f->way_count; ++i) {
        ph_way_client_destroy(f->clients[i]);
        f->clients[i] = NULL;
    }
    f->way_count = 0;
}

// The page makes its clients of the words of the frame; here those words come from the session.
static void take_scene(fixture* f, const uint8_t* text, size_t size)
{
    assert_in_range(size, 1, sizeof f->scene - 1);
    memcpy(f->scene, text, size);
    f->scene[size] = '\0';
    clear_clients(f);
    f->time_us = 0; // the truth of the present tick is told again
    const demo_scene* scene = f->stage->scene;
    for (int i = 0; i < demo_page_way_count(f->page); ++i) {
        const ph_way_client_def def = {
            .way = f->page->ways[i].way,
            .schema = scene->material.schema,
            .ground = scene->material.recording->ground,
            .terms = ph_way_sender_terms(f->page->ways[i].sender),
            .tick_us = scene->ways[0]->tick_us,
        };
        f->clients[i] = ph_way_client_create(&def);
        assert_non_null(f->clients[i]);
        ++f->way_count;
    }
}

static void answer(fixture* f, int way, uint64_t now_us)
{
    uint8_t message[2 + PH_ACK_SIZE] = {1, (uint8_t)way};
    const size_t size = ph_way_client_write_ack(f->clients[way], now_us, message + 2);
    demo_request_ack ack;
    if (size > 0 && !f->is_silent) {
        assert_true(demo_request_read_ack(message, 2 + size, f->way_count, &ack));
        assert_true(demo_page_take_ack(f->page, &ack));
    }
}

static void take_datagram(fixture* f, const uint8_t* body, size_t size)
{
    const int way = body[0];
    const uint64_t at_us = u64_at(body + 1);
    assert_true(way < f->way_count);
    take_time(f, at_us);
    const uint64_t tick_us = demo_stage_tick_us(f->stage);
    f->seen.latest_us = at_us > tick_us && at_us - tick_us > f->seen.latest_us ? at_us - tick_us
                                                                               : f->seen.latest_us;
    ++f->seen.datagrams[way];
    f->seen.wire_bytes[way] += size - 9 + OVERHEAD_BYTES;
    ph_way_client_receive(f->clients[way], at_us, body + 9, size - 9);
    answer(f, way, at_us);
}

static void take_truth(fixture* f, const uint8_t* body)
{
    take_time(f, u64_at(body));
    for (int i = 0; i < f->way_count; ++i) {
        ph_way_client_advance(f->clients[i], f->time_us);
        if (ph_way_client_ack_due_us(f->clients[i]) <= f->time_us) {
            answer(f, i, f->time_us);
        }
    }
}

static uint32_t number_at(const uint8_t* bytes, int size)
{
    uint32_t value = 0;
    for (int i = 0; i < size; ++i) {
        value |= (uint32_t)bytes[i] << 8 * i;
    }
    return value;
}

// All bits of a datagram are explained, no more and no less.
static void take_trace(fixture* f, const uint8_t* body, size_t size)
{
    enum { HEAD = 1 + 8 + 4 + 2 + 2 + 2, ITEM = 1 + 1 + 2 + 4 + 4 + 1, BITS_AT = 8 };
    const uint32_t payload_bytes = number_at(body + 13, 2);
    const uint32_t item_count = number_at(body + 17, 2);
    uint64_t bits256 = 0;
    assert_int_equal(size, HEAD + item_count * ITEM);
    for (uint32_t i = 0; i < item_count; ++i) {
        bits256 += number_at(body + HEAD + i * ITEM + BITS_AT, 4);
    }
    assert_int_equal(bits256, 2048 * (uint64_t)payload_bytes);
    assert_int_equal(number_at(body + 15, 2), OVERHEAD_BYTES);
    assert_int_equal(u64_at(body + 1), demo_stage_tick_us(f->stage));
    ++f->seen.traces[body[0]];
}

static void keep_text(char* to, size_t room, const uint8_t* body, size_t size)
{
    snprintf(to, room, "%.*s", (int)size, (const char*)body);
}

static void take_frame(fixture* f, const uint8_t* frame, size_t size)
{
    ++f->seen.frames[frame[0]];
    switch (frame[0]) {
    case PH_FEED_SCENE:
        take_scene(f, frame + 1, size - 1);
        break;
    case PH_FEED_TRUTH:
        take_truth(f, frame + 1);
        break;
    case PH_FEED_DATAGRAM:
        take_datagram(f, frame + 1, size - 1);
        break;
    case PH_FEED_TRACE:
        take_trace(f, frame + 1, size - 1);
        break;
    case PH_FEED_NOTE:
        keep_text(f->note, sizeof f->note, frame + 1, size - 1);
        break;
    case PH_FEED_EXPLAIN:
        keep_text(f->explain, sizeof f->explain, frame + 1, size - 1);
        break;
    default:
        break;
    }
}

static void read_frames(fixture* f)
{
    ph_feed* feed = demo_page_feed(f->page);
    const uint8_t* frame = NULL;
    size_t size = 0;
    size_t at = 0;
    assert_false(feed->is_failed);
    while (ph_feed_next(feed, &at, &frame, &size)) {
        take_frame(f, frame, size);
    }
    ph_feed_clear(feed);
}

// ---- time

static void play_tick(fixture* f)
{
    ph_fault fault = {0};
    assert_true(demo_stage_put(f->stage, &fault));
    assert_true(demo_page_attend(f->page, &fault));
    demo_stage_tick(f->stage);
    demo_page_tick(f->page);
    read_frames(f);
}

// As a server does: what arrives is told at its time.
static void go_on(fixture* f, uint64_t duration_us)
{
    const uint64_t end_us = f->real_us + duration_us;
    while (f->real_us < end_us) {
        if (demo_stage_is_due(f->stage)) {
            play_tick(f);
        }
        demo_page_advance(f->page, demo_stage_now_us(f->stage));
        read_frames(f);
        f->real_us += MS;
    }
}

static void say(fixture* f, const char* text)
{
    demo_request request;
    ph_fault fault = {0};
    assert_int_equal(demo_request_read(text, strlen(text), &request), DEMO_REQUEST_OK);
    assert_true(demo_page_apply(f->page, &request));
    assert_true(demo_page_renew(f->page, &fault));
    read_frames(f);
}

static void clear(fixture* f)
{
    f->seen = (tally){0};
}

// ---- a demo and a page

static fixture* create(const char* source, bool has_snapshot)
{
    static const char* const RECORDINGS[] = {RECORDING};
    fixture* f = calloc(1, sizeof *f);
    ph_fault fault = {0};
    demo_stage_def stage = demo_stage_def_default();
    f->real_us = 77000000;
    stage.source = source;
    stage.real_us = real_of;
    stage.real_context = f;
    f->stage = demo_stage_create(&stage, &fault);
    assert_non_null(f->stage);
    const demo_page_def def = {
        .stage = f->stage,
        .controls = {.kbps = 13,
                     .loss_percent = 5,
                     .rtt_ms = 100,
                     .jitter_ms = 20,
                     .scheduler = "",
                     .has_snapshot = has_snapshot},
        .seed = 3,
        .recordings = RECORDINGS,
        .recording_count = 1,
    };
    f->page = demo_page_create(&def);
    assert_non_null(f->page);
    play_tick(f);
    return f;
}

static void destroy(fixture* f)
{
    clear_clients(f);
    demo_page_destroy(f->page);
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        assert_int_equal(ph_world_get_stats(f->stage->scene->ways[way]->world).viewer_count, 0);
    }
    demo_stage_destroy(f->stage);
    free(f);
}

static int viewer_count(const fixture* f, ph_way way)
{
    return ph_world_get_stats(f->stage->scene->ways[way]->world).viewer_count;
}

// ---- tests

static bool is_equal(const fixture* f, int way)
{
    const demo_page_way* of = &f->page->ways[way];
    const ph_sim_pair pair = {.stage = of->stage,
                              .client = f->clients[way],
                              .viewer = of->viewer,
                              .entity = f->page->entity};
    return ph_sim_is_equal(&pair);
}

// The promise of the page: what its clients show is what the worlds have, once these stand still.
static void clients_that_are_fed_by_frames_become_equal_to_the_worlds(void** state)
{
    (void)state;
    fixture* f = create("scene:town", true);
    assert_int_equal(f->way_count, 3);
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        assert_false(is_equal(f, way)); // nothing has arrived yet
    }
    go_on(f, 10 * SECOND);
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        f->stage->scene->ways[way]->is_standing = true;
    }
    go_on(f, 60 * SECOND);
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        assert_true(is_equal(f, way));
        const ph_sim_arrivals arrivals = ph_way_client_arrivals(f->clients[way]);
        assert_in_range(arrivals.received, 10, 100000);
        assert_int_equal(arrivals.refused, 0);
        const ph_link_stats link = ph_link_get_stats(f->page->ways[way].down);
        assert_int_equal(f->seen.traces[way], link.sent_datagrams);
    }
    assert_int_equal(demo_page_refused_acks(f->page), 0);
    destroy(f);
}

static void all_ways_meet_the_same_network(void** state)
{
    (void)state;
    fixture* f = create("scene:town", true);
    say(f, "loss 30");
    uint64_t arrivals[PH_WAY_COUNT][1000] = {{0}};
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        // The draws depend on how many datagrams were sent before: as many by each.
        const uint64_t now_us = f->time_us + SECOND;
        ph_link* down = f->page->ways[way].down;
        uint8_t bytes[PH_PAYLOAD_MAX];
        while (ph_link_receive(down, UINT64_MAX / 2, bytes, sizeof bytes) > 0) {
        }
        while (ph_link_get_stats(down).sent_datagrams < 1000) {
            const uint64_t number = ph_link_get_stats(down).sent_datagrams;
            ph_link_send(down, now_us + number, "x", 1);
            const uint64_t next_us = ph_link_next_us(down);
            arrivals[way][number] = next_us == UINT64_MAX ? 1 : next_us - now_us - number;
            ph_link_receive(down, UINT64_MAX / 2, bytes, sizeof bytes);
        }
    }
    int lost = 0;
    for (int i = 100; i < 1000; ++i) { // the first ones were the senders' own
        assert_int_equal(arrivals[0][i], arrivals[1][i]);
        assert_int_equal(arrivals[0][i], arrivals[2][i]);
        lost += arrivals[0][i] == 1 ? 1 : 0;
    }
    assert_in_range(lost, 200, 350);
    destroy(f);
}

static void the_budget_changes_at_once(void** state)
{
    (void)state;
    fixture* f = create("scene:crowd", false);
    say(f, "loss 0");
    say(f, "rtt 0");
    say(f, "jitter 0");
    go_on(f, 5 * SECOND);
    for (int round = 0; round < 2; ++round) {
        const double kbps = round == 0 ? 13.0 : 50.0;
        say(f, round == 0 ? "kbps 13" : "kbps 50");
        go_on(f, 2 * SECOND); // what was saved up is gone
        clear(f);
        go_on(f, 5 * SECOND);
        for (int way = 0; way < 2; ++way) {
            const double sent_kbps = (double)f->seen.wire_bytes[way] * 8.0 / 5000.0;
            assert_true(sent_kbps < kbps * 1.21);
            assert_true(sent_kbps > kbps * 0.9 || way == PH_WAY_PINHOLE); // which needs less here
        }
    }
    destroy(f);
}

static void loss_takes_datagrams_and_delay_delays_them(void** state)
{
    (void)state;
    fixture* f = create("scene:town", false);
    say(f, "jitter 0");
    say(f, "loss 0");
    say(f, "rtt 60");
    go_on(f, SECOND);
    clear(f);
    go_on(f, 5 * SECOND);
    const int usual = f->seen.datagrams[1];
    assert_int_equal(f->seen.latest_us, 30 * MS); // half of a round trip after the tick
    say(f, "rtt 90");
    go_on(f, SECOND);
    clear(f);
    go_on(f, SECOND);
    assert_int_equal(f->seen.latest_us, 45 * MS);
    say(f, "jitter 40");
    clear(f);
    go_on(f, 5 * SECOND);
    assert_in_range(f->seen.latest_us, 46 * MS, 85 * MS);
    say(f, "loss 90");
    go_on(f, SECOND);
    clear(f);
    go_on(f, 5 * SECOND);
    assert_in_range(f->seen.datagrams[1], 0, usual / 2);
    destroy(f);
}

static void the_page_may_choose_how_often_is_sent(void** state)
{
    (void)state;
    fixture* f = create("scene:town", false);
    say(f, "loss 0");
    say(f, "kbps 100");
    for (int hz = 1; hz <= 5; hz += 4) {
        say(f, hz == 1 ? "hz 1" : "hz 5");
        go_on(f, 2 * SECOND);
        clear(f);
        go_on(f, 6 * SECOND);
        // Fewer ticks than that had a send; each of up to two datagrams here.
        assert_in_range(f->seen.datagrams[0], 6 * hz - 1, 6 * hz * 2);
    }
    destroy(f);
}

static void what_the_clients_must_know_begins_anew(void** state)
{
    (void)state;
    fixture* f = create("scene:town", false);
    go_on(f, SECOND);
    static const char* const COMMANDS[] = {"snapshot 1", "scheduler buckets", "viewer 7",
                                           "snapshot 0"};
    static const char* const WORDS[] = {"\"snapshot\": true", "\"scheduler\": \"buckets\"",
                                        "\"viewer\": 7", "\"snapshot\": false"};
    for (int i = 0; i < 4; ++i) {
        clear(f);
        say(f, COMMANDS[i]);
        assert_int_equal(f->seen.frames[PH_FEED_SCENE], 1);
        assert_int_equal(f->seen.frames[PH_FEED_TRUTH], 1); // so that a paused page shows something
        assert_non_null(strstr(f->scene, WORDS[i]));
        assert_int_equal(f->way_count, i < 3 ? 3 : 2);
        assert_int_equal(viewer_count(f, PH_WAY_SNAPSHOT), i < 3 ? 1 : 0);
        assert_int_equal(viewer_count(f, PH_WAY_CLASSIC), 1);
        go_on(f, SECOND);
        assert_in_range(f->seen.datagrams[f->way_count - 1], 1, 100);
        say(f, COMMANDS[i]); // what is so already changes nothing
        assert_int_equal(f->seen.frames[PH_FEED_SCENE], 1);
    }
    say(f, "kbps 14");
    assert_int_equal(f->seen.frames[PH_FEED_SCENE], 1);
    destroy(f);
}

static void an_entity_that_does_not_exist_is_refused_with_a_note(void** state)
{
    (void)state;
    fixture* f = create("scene:town", false);
    clear(f);
    say(f, "viewer 4000000");
    assert_int_equal(f->seen.frames[PH_FEED_SCENE], 0);
    assert_non_null(strstr(f->note, "no entity 4000000"));
    say(f, "select 4000000");
    assert_int_equal(f->seen.frames[PH_FEED_EXPLAIN], 0);
    destroy(f);
}

static void the_selected_entity_is_explained_at_every_tick(void** state)
{
    (void)state;
    fixture* f = create("scene:town", true);
    go_on(f, SECOND);
    clear(f);
    say(f, "select 7");
    go_on(f, SECOND);
    assert_int_equal(f->seen.frames[PH_FEED_EXPLAIN], f->seen.frames[PH_FEED_TRUTH] + 1);
    assert_non_null(strstr(f->explain, "\"entity\": 7"));
    assert_non_null(strstr(f->explain, "\"priority\""));
    assert_non_null(strstr(f->explain, "null]")); // snapshots have no priorities
    say(f, "select none");
    clear(f);
    go_on(f, SECOND);
    assert_int_equal(f->seen.frames[PH_FEED_EXPLAIN], 0);
    destroy(f);
}

static void another_scene_begins_anew_and_leaves_nothing_behind(void** state)
{
    (void)state;
    fixture* f = create("scene:town", true);
    ph_fault fault = {0};
    say(f, "viewer 79");
    go_on(f, 2 * SECOND);
    clear(f);
    assert_true(demo_stage_change(f->stage, "scene:race", 20, &fault));
    go_on(f, 2 * SECOND);
    assert_int_equal(f->seen.frames[PH_FEED_SCENE], 1);
    assert_non_null(strstr(f->scene, "\"source\": \"scene:race\""));
    assert_non_null(strstr(f->scene, "\"entities\": 20"));
    assert_null(strstr(f->scene, "\"viewer\": 79")); // there are no so many
    for (int way = 0; way < 3; ++way) {
        assert_in_range(f->seen.datagrams[way], 1, 200);
        assert_in_range(ph_way_client_entity_count(f->clients[way]), 1, 20);
    }
    destroy(f);
}

// A scene that has had no tick has viewers all the same, of pages that said something meanwhile.
static void the_scene_may_change_again_before_a_tick(void** state)
{
    (void)state;
    fixture* f = create("scene:town", true);
    ph_fault fault = {0};
    go_on(f, SECOND);
    clear(f);
    static const char* const SOURCES[] = {"scene:race", "scene:crowd", "scene:wander"};
    for (int i = 0; i < 3; ++i) {
        assert_true(demo_stage_change(f->stage, SOURCES[i], 20, &fault));
        say(f, "loss 3");
    }
    go_on(f, SECOND);
    assert_int_equal(f->seen.frames[PH_FEED_SCENE], 3);
    assert_non_null(strstr(f->scene, "\"source\": \"scene:wander\""));
    assert_null(f->stage->leaving);
    assert_int_equal(viewer_count(f, PH_WAY_PINHOLE), 1);
    destroy(f);
}

// Where a viewer cannot be made, the page has none: half a way would be used at the next tick.
static void a_page_that_cannot_begin_has_no_ways(void** state)
{
    (void)state;
    fixture* f = create("scene:town", true);
    ph_fault fault = {0};
    go_on(f, SECOND);
    f->page->controls.kbps = -1.0; // no command can ask for that
    f->page->is_stale = true;
    assert_false(demo_page_renew(f->page, &fault));
    assert_int_equal(demo_page_way_count(f->page), 0);
    clear_clients(f);
    go_on(f, SECOND);
    f->page->controls.kbps = 13.0;
    f->page->is_stale = true;
    assert_true(demo_page_renew(f->page, &fault));
    go_on(f, SECOND);
    assert_int_equal(f->way_count, 3);
    destroy(f);
}

static ph_viewer_stats stats_of(const fixture* f, int way)
{
    ph_viewer_stats stats;
    ph_viewer_get_stats(f->page->ways[way].world, f->page->ways[way].viewer, &stats);
    return stats;
}

static void while_it_is_paused_nothing_is_lost(void** state)
{
    (void)state;
    fixture* f = create("scene:town", false);
    say(f, "loss 0");
    say(f, "jitter 0"); // what is overtaken is lost
    say(f, "rtt 1000");
    go_on(f, 4 * SECOND);
    const ph_viewer_stats before[] = {stats_of(f, 0), stats_of(f, 1)};
    demo_stage_set_paused(f->stage, true);
    go_on(f, MS);
    clear(f);
    go_on(f, 60 * SECOND);
    assert_int_equal(f->seen.frames[PH_FEED_TRUTH], 0);
    assert_int_equal(f->seen.datagrams[1], 0); // they are still under way
    demo_stage_step(f->stage);
    go_on(f, SECOND);
    assert_int_equal(f->seen.frames[PH_FEED_TRUTH], 1);
    demo_stage_set_paused(f->stage, false);
    go_on(f, 4 * SECOND);
    for (int way = 0; way < 2; ++way) {
        const ph_viewer_stats after = stats_of(f, way);
        assert_int_equal(after.lost_packets, before[way].lost_packets);
        assert_in_range(after.resolved_packets - before[way].resolved_packets, 5, 1000);
    }
    destroy(f);
}

// An entity that is away for a while and then back; when that is, in ticks.
static int find_wanderer(const ph_recording* recording, int* back_tick)
{
    for (int e = 0; e < recording->entity_count; ++e) {
        const int first = recording->first_span[e];
        if (recording->first_span[e + 1] - first > 1 && recording->spans[first].first_tick == 0 &&
            recording->spans[first + 1].first_tick < 600) {
            *back_tick = recording->spans[first + 1].first_tick;
            return e;
        }
    }
    fail_msg("all of them stay where they can be seen");
    return -1;
}

static void a_viewer_follows_its_entity_when_it_comes_back(void** state)
{
    (void)state;
    fixture* f = create("scene:town", false);
    int back_tick = 0;
    char text[40];
    const ph_recording* recording = f->stage->scene->material.recording;
    const int entity = find_wanderer(recording, &back_tick);
    snprintf(text, sizeof text, "viewer %lu", (unsigned long)recording->id[entity]);
    say(f, text);
    go_on(f, ((uint64_t)back_tick + 2) * 100 * MS);
    for (int way = 0; way < 2; ++way) {
        assert_true(f->page->ways[way].stage->source->present[entity]);
        // The eye of a viewer that has an entity cannot be moved.
        assert_int_equal(
            ph_viewer_set_eye(f->page->ways[way].world, f->page->ways[way].viewer, 0, 0, 0),
            PH_ERROR_ARGUMENT);
    }
    destroy(f);
}

static void only_scenes_and_given_recordings_may_be_played(void** state)
{
    (void)state;
    fixture* f = create("scene:town", false);
    assert_string_equal(demo_page_find_source(f->page, "scene:wander"), "scene:wander");
    assert_string_equal(demo_page_find_source(f->page, "recording.csv"), RECORDING);
    assert_non_null(strstr(f->scene, "\"scene:wander\""));
    assert_non_null(strstr(f->scene, "\"recording.csv\""));
    assert_null(strstr(f->scene, RECORDING));
    assert_null(strstr(f->scene, "scene:still"));
    static const char* const WRONG[] = {
        "/etc/passwd", "some/other.csv", "scene:",      "scene:nowhere",         RECORDING,
        "scene:still", "wander",         "scene:town ", "test/recordings/a.csv", ""};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; ++i) {
        assert_null(demo_page_find_source(f->page, WRONG[i]));
    }
    destroy(f);
}

static void bytes_that_are_no_ack_are_counted(void** state)
{
    (void)state;
    fixture* f = create("scene:town", false);
    say(f, "loss 0");
    go_on(f, SECOND);
    const uint8_t bytes[PH_ACK_SIZE] = {0xff, 0xff, 0xff};
    for (int way = 0; way < 2; ++way) {
        const demo_request_ack ack = {.way = way, .bytes = bytes, .size = sizeof bytes};
        assert_true(demo_page_take_ack(f->page, &ack));
    }
    const demo_request_ack other = {.way = 2, .bytes = bytes, .size = 1};
    assert_false(demo_page_take_ack(f->page, &other));
    go_on(f, SECOND);
    assert_int_equal(demo_page_refused_acks(f->page), 2);
    destroy(f);
}

// Takes one that was written at this time. @return When it arrives, by the demo's clock.
static uint64_t arrival_of(fixture* f, uint64_t time_us)
{
    const uint8_t bytes[] = {0xff};
    const demo_request_ack ack = {.way = 1, .time_us = time_us, .bytes = bytes, .size = 1};
    uint8_t taken[PH_ACK_SIZE];
    assert_int_equal(ph_link_next_us(f->page->ways[1].up), UINT64_MAX);
    assert_true(demo_page_take_ack(f->page, &ack));
    const uint64_t at_us = ph_link_next_us(f->page->ways[1].up);
    assert_int_equal(ph_link_receive(f->page->ways[1].up, at_us, taken, sizeof taken), 1);
    return at_us;
}

// An ack that was on its way when a control asked for new viewers is of packets that these never sent.
static void acks_of_the_viewers_before_are_none_of_these(void** state)
{
    (void)state;
    fixture* f = create("scene:town", false);
    say(f, "loss 0");
    f->is_silent = true;
    go_on(f, SECOND);
    const uint8_t bytes[] = {0xff};
    const demo_request_ack ack = {
        .way = 1, .time_us = demo_stage_now_us(f->stage) - 1, .bytes = bytes, .size = 1};
    f->page->is_stale = true;
    go_on(f, SECOND);
    assert_true(demo_page_take_ack(f->page, &ack));
    assert_int_equal(ph_link_next_us(f->page->ways[1].up), UINT64_MAX);
    assert_true(arrival_of(f, demo_stage_now_us(f->stage)) < UINT64_MAX);
    destroy(f);
}

static void what_a_browser_takes_is_no_part_of_the_link(void** state)
{
    (void)state;
    fixture* f = create("scene:town", false);
    say(f, "loss 0");
    say(f, "jitter 0");
    say(f, "rtt 100");
    f->is_silent = true;
    go_on(f, SECOND);
    const uint64_t now_us = demo_stage_now_us(f->stage);
    assert_int_equal(arrival_of(f, 0), now_us + 50 * MS);
    assert_int_equal(arrival_of(f, now_us), now_us + 50 * MS);
    assert_int_equal(arrival_of(f, now_us - 20 * MS), now_us + 30 * MS);
    assert_int_equal(arrival_of(f, now_us - 70 * MS), now_us); // never before now
    assert_int_equal(arrival_of(f, now_us + SECOND), now_us + 50 * MS);
    assert_int_equal(arrival_of(f, UINT64_MAX), now_us + 50 * MS);
    destroy(f);
}

static void the_state_has_the_figures_of_each_way(void** state)
{
    (void)state;
    fixture* f = create("scene:town", true);
    go_on(f, 3 * SECOND);
    demo_page_open_state(f->page, 5);
    ph_feed* feed = demo_page_feed(f->page);
    ph_feed_close(feed);
    const uint8_t* frame = NULL;
    size_t size = 0;
    size_t at = 0;
    char text[4096];
    assert_true(ph_feed_next(feed, &at, &frame, &size));
    assert_int_equal(frame[0], PH_FEED_STATE);
    keep_text(text, sizeof text, frame + 1, size - 1);
    static const char* const WORDS[] = {"\"pages\": 5", "\"is_paused\": false", "\"token_bits\"",
                                        "\"burst_bits\": 13000", "\"in_flight\": null"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; ++i) {
        assert_non_null(strstr(text, WORDS[i]));
    }
    assert_null(strstr(text, "\"sent_kbps\": 0,"));
    destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_that_are_fed_by_frames_become_equal_to_the_worlds),
        cmocka_unit_test(all_ways_meet_the_same_network),
        cmocka_unit_test(the_budget_changes_at_once),
        cmocka_unit_test(loss_takes_datagrams_and_delay_delays_them),
        cmocka_unit_test(the_page_may_choose_how_often_is_sent),
        cmocka_unit_test(what_the_clients_must_know_begins_anew),
        cmocka_unit_test(an_entity_that_does_not_exist_is_refused_with_a_note),
        cmocka_unit_test(the_selected_entity_is_explained_at_every_tick),
        cmocka_unit_test(another_scene_begins_anew_and_leaves_nothing_behind),
        cmocka_unit_test(the_scene_may_change_again_before_a_tick),
        cmocka_unit_test(a_page_that_cannot_begin_has_no_ways),
        cmocka_unit_test(while_it_is_paused_nothing_is_lost),
        cmocka_unit_test(a_viewer_follows_its_entity_when_it_comes_back),
        cmocka_unit_test(only_scenes_and_given_recordings_may_be_played),
        cmocka_unit_test(bytes_that_are_no_ack_are_counted),
        cmocka_unit_test(acks_of_the_viewers_before_are_none_of_these),
        cmocka_unit_test(what_a_browser_takes_is_no_part_of_the_link),
        cmocka_unit_test(the_state_has_the_figures_of_each_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
