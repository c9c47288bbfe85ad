// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What was written is read back by a reader of its own, made from docs/wire_feed.md.

#include "test_support.h"

#include "kit/derive.h"
#include "kit/feed.h"
#include "kit/scene_recording.h"

#include <math.h>
#include <string.h>

// ---- a reader

typedef struct reader {
    const uint8_t* at;
    const uint8_t* end;
} reader;

static uint64_t take(reader* from, int size)
{
    uint64_t value = 0;
    assert_true(from->end - from->at >= size);
    for (int i = 0; i < size; ++i) {
        value += (uint64_t)from->at[i] << (8 * i);
    }
    from->at += size;
    return value;
}

static void pass_over(reader* from, int size)
{
    assert_true(from->end - from->at >= size);
    from->at += size;
}

// The next frame of a file, which must be of that kind.
static reader take_frame(reader* file, int kind)
{
    const size_t size = (size_t)take(file, 4);
    assert_true((size_t)(file->end - file->at) >= size);
    reader frame = {file->at, file->at + size};
    file->at += size;
    assert_int_equal(take(&frame, 1), kind);
    return frame;
}

static reader read_from(const ph_feed* feed)
{
    assert_false(feed->is_failed);
    return (reader){feed->bytes, feed->bytes + feed->size};
}

static void assert_has(reader frame, const char* text)
{
    static char body[40000];
    const size_t size = (size_t)(frame.end - frame.at);
    assert_true(size < sizeof body);
    memcpy(body, frame.at, size);
    body[size] = '\0';
    if (strstr(body, text) == NULL) {
        fail_msg("%s is not in %s", text, body);
    }
}

// ---- a truth

typedef struct fixture {
    ph_recording* recording;
    ph_schema* schema;
    ph_source* source;
    ph_feed feed;
} fixture;

static void set_up(fixture* f, const char* scene, int count)
{
    ph_fault fault = {0};
    const ph_scene_recording_def def = {.scene = scene, .count = count, .seconds = 2.0, .seed = 3};
    *f = (fixture){.recording = ph_scene_recording_make(&def, &fault)};
    f->schema = ph_derive_schema(f->recording, &fault);
    f->source = ph_source_create(f->recording, f->schema, &fault);
    assert_non_null(f->source);
}

static void tear_down(fixture* f)
{
    ph_feed_destroy(&f->feed);
    ph_source_destroy(f->source);
    ph_schema_destroy(f->schema);
    ph_recording_destroy(f->recording);
}

static ph_feed_truth truth_of(const fixture* f, int most)
{
    return (ph_feed_truth){.time_us = UINT64_C(0x1122334455667788),
                           .tick = 0x99AABBCC,
                           .source = f->source,
                           .eye = 1,
                           .most = most};
}

// ---- frames

static void truth_has_every_present_entity_in_order(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "edge", 40);
    const ph_feed_truth truth = truth_of(&f, 0);
    ph_feed_write_truth(&f.feed, &truth);
    reader file = read_from(&f.feed);
    reader frame = take_frame(&file, PH_FEED_TRUTH);
    assert_true(file.at == file.end);
    assert_true(take(&frame, 8) == UINT64_C(0x1122334455667788));
    assert_int_equal(take(&frame, 4), 0x99AABBCC);
    assert_int_equal(take(&frame, 4), f.source->present_count);
    for (int e = 0; e < f.recording->entity_count; ++e) {
        if (!f.source->present[e]) {
            continue;
        }
        assert_int_equal(take(&frame, 4), f.recording->id[e]);
        assert_int_equal((int32_t)take(&frame, 4), f.source->x_mm[e]);
        assert_int_equal((int32_t)take(&frame, 4), f.source->y_mm[e]);
        assert_int_equal((int32_t)take(&frame, 4), f.source->z_mm[e]);
        const double heading_deg = (double)take(&frame, 2) / 100.0;
        const double off = fabs(heading_deg - (double)f.source->heading_deg[e]);
        assert_true(heading_deg < 360.0);
        assert_true(off <= 0.0051 || off >= 359.9949);
    }
    assert_true(frame.at == frame.end);
    tear_down(&f);
}

static double distance_of(const fixture* f, int entity)
{
    return hypot((double)(f->source->x_mm[entity] - f->source->x_mm[1]),
                 (double)(f->source->y_mm[entity] - f->source->y_mm[1]));
}

// Entities that are told, as bits.
static uint64_t read_told(const fixture* f, int most)
{
    uint64_t told = 0;
    uint32_t last_id = 0;
    ph_feed feed = {0};
    const ph_feed_truth truth = truth_of(f, most);
    ph_feed_write_truth(&feed, &truth);
    reader file = read_from(&feed);
    reader frame = take_frame(&file, PH_FEED_TRUTH);
    pass_over(&frame, 12);
    assert_int_equal(take(&frame, 4), most);
    for (int i = 0; i < most; ++i) {
        const uint32_t id = (uint32_t)take(&frame, 4);
        assert_true(i == 0 || id > last_id);
        last_id = id;
        told |= UINT64_C(1) << ph_recording_find(f->recording, id);
        pass_over(&frame, 14);
    }
    assert_true(frame.at == frame.end);
    ph_feed_destroy(&feed);
    return told;
}

static void where_there_is_too_much_the_nearest_are_told(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "wander", 60);
    for (int most = 1; most < f.source->present_count; most += 7) {
        const uint64_t told = read_told(&f, most);
        double farthest_told = 0.0;
        double nearest_left = HUGE_VAL;
        for (int e = 0; e < f.recording->entity_count; ++e) {
            if (!f.source->present[e]) {
                continue;
            }
            if ((told >> e & 1) != 0) {
                farthest_told = fmax(farthest_told, distance_of(&f, e));
            } else {
                nearest_left = fmin(nearest_left, distance_of(&f, e));
            }
        }
        assert_true(farthest_told <= nearest_left);
    }
    tear_down(&f);
}

// All but one stand at the same place; the one with the highest id is nearest.
static void of_equally_far_ones_the_first_are_told(void** state)
{
    (void)state;
    fixture f;
    set_up(&f, "still", 20);
    assert_int_equal(f.source->present_count, f.recording->entity_count);
    const int last = f.recording->entity_count - 1;
    for (int e = 0; e <= last; ++e) {
        f.source->x_mm[e] = e == 1 ? 0 : e == last ? 1000 : 2000;
        f.source->y_mm[e] = 0;
    }
    // The eye itself, the near one, and the first two of the others.
    assert_true(read_told(&f, 4) == (UINT64_C(1) << 1 | UINT64_C(1) << last | 1 | 1 << 2));
    tear_down(&f);
}

static void datagram_is_carried_as_it_is(void** state)
{
    (void)state;
    ph_feed feed = {0};
    ph_feed_write_datagram(&feed, 2, 77, "\1\0\xFF", 3);
    ph_feed_write_datagram(&feed, 0, UINT64_MAX, NULL, 0);
    reader file = read_from(&feed);
    reader frame = take_frame(&file, PH_FEED_DATAGRAM);
    assert_int_equal(take(&frame, 1), 2);
    assert_int_equal(take(&frame, 8), 77);
    assert_int_equal(frame.end - frame.at, 3);
    assert_memory_equal(frame.at, "\1\0\xFF", 3);
    frame = take_frame(&file, PH_FEED_DATAGRAM);
    assert_int_equal(take(&frame, 1), 0);
    assert_true(take(&frame, 8) == UINT64_MAX);
    assert_true(frame.at == frame.end);
    assert_true(file.at == file.end);
    ph_feed_destroy(&feed);
}

static void trace_has_every_item(void** state)
{
    (void)state;
    ph_feed feed = {0};
    const ph_trace_item items[] = {
        {.bits256 = 2048, .slot = -1, .class_index = -1, .property = -1, .reason = 0},
        {.key = 4000000000u,
         .bits256 = 300000,
         .slot = 511,
         .property = 7,
         .reason = PH_REASON_PROPERTY,
         .is_resent = true,
         .is_first = true},
    };
    const ph_packet_trace trace = {.sequence = 0xFEDCBA98,
                                   .payload_bytes = 1200,
                                   .overhead_bytes = 48,
                                   .items = items,
                                   .item_count = 2};
    ph_feed_write_trace(&feed, 1, 99, &trace);
    reader file = read_from(&feed);
    reader frame = take_frame(&file, PH_FEED_TRACE);
    assert_int_equal(take(&frame, 1), 1);
    assert_int_equal(take(&frame, 8), 99);
    assert_int_equal(take(&frame, 4), 0xFEDCBA98);
    assert_int_equal(take(&frame, 2), 1200);
    assert_int_equal(take(&frame, 2), 48);
    assert_int_equal(take(&frame, 2), 2);
    static const uint64_t EXPECTED[2][6] = {
        {0, 255, 65535, 0xFFFFFFFF, 2048, 0},
        {PH_REASON_PROPERTY, 7, 511, 4000000000u, 300000, 3},
    };
    static const int SIZES[6] = {1, 1, 2, 4, 4, 1};
    for (int i = 0; i < 2; ++i) {
        for (int field = 0; field < 6; ++field) {
            assert_true(take(&frame, SIZES[field]) == EXPECTED[i][field]);
        }
    }
    assert_true(frame.at == frame.end);
    ph_feed_destroy(&feed);
}

static void scene_says_what_a_client_is_made_of(void** state)
{
    (void)state;
    ph_feed feed = {0};
    ph_ground ground;
    assert_true(ph_way_find_ground("town", &ground));
    const ph_feed_scene scene = {
        .scene = 3,
        .source = "a \"b\".csv",
        .rate_hz = 23.976,
        .tick_us = 41708,
        .schema = "class thing\nplace: position 16\n",
        .ground = &ground,
        .entity_count = 80,
        .viewer = 4294967295u,
        .radius_mm = 250000,
        .slots = 250,
        .cell_mm = 131072,
        .bounds_mm = {-1, -2, 3, 4},
        .ways = {PH_WAY_CLASSIC, PH_WAY_SNAPSHOT},
        .terms = {{256, 1200}, {300, 600}},
        .way_count = 2,
    };
    ph_json* json = ph_feed_open_scene(&feed, &scene);
    ph_json_integer(json, "pages", 5);
    ph_feed_close(&feed);
    ph_feed_write_note(&feed, "60 is too much");
    reader file = read_from(&feed);
    const reader frame = take_frame(&file, PH_FEED_SCENE);
    static const char* const EXPECTED[] = {
        "\"version\": 1",
        "\"scene\": 3",
        "\"source\": \"a \\\"b\\\".csv\"",
        "\"rate\": 23.976",
        "\"tick_us\": 41708",
        "\"schema\": \"class thing\\u000aplace: position 16\\u000a\"",
        "\"ground\": \"town\"",
        "\"entities\": 80",
        "\"viewer\": 4294967295",
        "\"slot_capacity\": 300",
        "-1,\n  -2,\n  3,\n  4]",
        "{\"name\": \"classic\", \"profile\": \"classic\", \"slots\": 256, \"payload_max\": 1200}",
        "{\"name\": \"snapshot\", \"profile\": \"snapshot\", \"slots\": 300, \"payload_max\": 600}",
        "\"is_live\": false",
        "\"pages\": 5}\n",
    };
    for (size_t i = 0; i < sizeof EXPECTED / sizeof EXPECTED[0]; ++i) {
        assert_has(frame, EXPECTED[i]);
    }
    assert_has(take_frame(&file, PH_FEED_NOTE), "{\n \"text\": \"60 is too much\"}\n");
    ph_feed_destroy(&feed);
}

// ---- the buffer

static void frames_come_one_by_one(void** state)
{
    (void)state;
    ph_feed feed = {0};
    size_t at = 0;
    const uint8_t* frame;
    size_t size;
    assert_false(ph_feed_next(&feed, &at, &frame, &size));
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 500; ++i) { // so many that the buffer grows
            ph_feed_write_datagram(&feed, i % 3, (uint64_t)i, "abcdefgh", (size_t)i % 9);
        }
        at = 0;
        for (int i = 0; i < 500; ++i) {
            assert_true(ph_feed_next(&feed, &at, &frame, &size));
            assert_int_equal(size, 10 + i % 9);
            assert_int_equal(frame[0], PH_FEED_DATAGRAM);
            assert_int_equal(frame[1], i % 3);
        }
        assert_false(ph_feed_next(&feed, &at, &frame, &size));
        ph_feed_clear(&feed);
    }
    ph_feed_destroy(&feed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_has_every_present_entity_in_order),
        cmocka_unit_test(where_there_is_too_much_the_nearest_are_told),
        cmocka_unit_test(of_equally_far_ones_the_first_are_told),
        cmocka_unit_test(datagram_is_carried_as_it_is),
        cmocka_unit_test(trace_has_every_item),
        cmocka_unit_test(scene_says_what_a_client_is_made_of),
        cmocka_unit_test(frames_come_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
