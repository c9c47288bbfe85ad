// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The two ends of each way: a client that was made of words and numbers alone, as a page makes it, has
// what its sender's world has, and a sender keeps to a budget that changes.

#include "test_support.h"

#include "kit/derive.h"
#include "kit/scene_recording.h"
#include "kit/sim_equality.h"
#include "kit/way_sender.h"

#include <stdlib.h>

#define TICK_US UINT64_C(100000)
#define OVERHEAD_BYTES 48

typedef struct fixture {
    ph_recording* recording;
    ph_schema* schema;
    ph_schema* client_schema;
    ph_sim_def def;
    ph_sim_stage* stage;
    ph_way way;
    ph_way_sender* sender;
    ph_way_client* client;
    ph_viewer_id viewer;
    uint64_t now_us;
    uint64_t wire_bits; // that were sent
    // Of traces.
    ph_sim_counts traced;
    int traced_payload; // of the datagram that is about to leave
    int fragments;      // items that go on from one datagram to the next
} fixture;

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    fixture* f = context;
    f->wire_bits += 8 * (size + OVERHEAD_BYTES);
    assert_true(f->traced_payload == 0 || f->traced_payload == (int)size);
    assert_int_equal(ph_way_client_receive(f->client, f->now_us, bytes, size), PH_OK);
}

static void play_tick(fixture* f)
{
    ph_fault fault = {0};
    uint8_t ack[PH_ACK_SIZE];
    assert_true(ph_sim_stage_put(f->stage, &fault));
    ph_way_sender_attend(f->sender);
    ph_sim_stage_tick(f->stage);
    if (ph_way_sender_is_send_due(f->sender, f->now_us)) {
        ph_way_sender_send(f->sender, f->now_us, deliver, f);
    }
    const size_t size = ph_way_client_write_ack(f->client, f->now_us, ack);
    if (size > 0) {
        ph_way_sender_take_ack(f->sender, f->now_us, ack, size);
    }
    ph_way_client_advance(f->client, f->now_us);
    ph_sim_stage_step(f->stage);
    f->now_us += TICK_US;
}

static void add_sender(fixture* f, int bits_per_second, int payload_max)
{
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.entity = f->stage->source->entity_id[0];
    viewer.bits_per_second = bits_per_second;
    viewer.overhead_bytes = OVERHEAD_BYTES;
    assert_int_equal(ph_world_add_viewer(f->stage->world, &viewer, &f->viewer), PH_OK);
    const ph_way_sender_def def = {
        .way = f->way,
        .world = f->stage->world,
        .schema = f->schema,
        .ground = f->recording->ground,
        .viewer = f->viewer,
        .bits_per_second = bits_per_second,
        .overhead_bytes = OVERHEAD_BYTES,
        .tick_us = TICK_US,
        .now_us = f->now_us,
        .payload_max = payload_max,
    };
    f->sender = ph_way_sender_create(&def);
    assert_non_null(f->sender);
}

// Of what a page is told: texts and numbers.
static ph_way_client* make_client(fixture* f, const char* ground, ph_way_terms terms)
{
    ph_way_client_def def = {
        .way = f->way, .schema = f->client_schema, .terms = terms, .tick_us = TICK_US};
    assert_true(ph_way_find_ground(ground, &def.ground));
    return ph_way_client_create(&def);
}

static fixture* set_up(ph_way way, int bits_per_second, int payload_max)
{
    static char text[20000];
    ph_fault fault = {0};
    fixture* f = calloc(1, sizeof *f);
    const ph_scene_recording_def recording = {
        .scene = "town", .count = 30, .seconds = 60.0, .seed = 7};
    f->way = way;
    f->now_us = 1000000;
    f->recording = ph_scene_recording_make(&recording, &fault);
    f->schema = ph_derive_schema(f->recording, &fault);
    assert_true(ph_schema_print(f->schema, text, sizeof text) < sizeof text);
    assert_int_equal(ph_schema_parse(text, strlen(text), NULL, &f->client_schema, NULL), PH_OK);
    f->def = ph_sim_def_default();
    f->def.profile = way == PH_WAY_PINHOLE ? PH_PROFILE_PINHOLE : PH_PROFILE_CLASSIC;
    f->stage = ph_sim_stage_create(&f->def, f->recording, f->schema, &fault);
    assert_non_null(f->stage);
    assert_true(ph_sim_stage_put(f->stage, &fault));
    add_sender(f, bits_per_second, payload_max);
    f->client =
        make_client(f, ph_way_ground_name(&f->recording->ground), ph_way_sender_terms(f->sender));
    assert_non_null(f->client);
    return f;
}

static void tear_down(fixture* f)
{
    ph_way_client_destroy(f->client);
    ph_way_sender_destroy(f->sender);
    ph_sim_stage_destroy(f->stage);
    ph_schema_destroy(f->client_schema);
    ph_schema_destroy(f->schema);
    ph_recording_destroy(f->recording);
    free(f);
}

// ---- ends

static void client_made_of_words_has_what_the_world_has(void** state)
{
    (void)state;
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        fixture* f = set_up((ph_way)way, 0, 0);
        for (int i = 0; i < 20; ++i) {
            play_tick(f);
        }
        f->stage->is_standing = true;
        for (int i = 0; i < 20; ++i) {
            play_tick(f);
        }
        const ph_sim_pair pair = {
            .stage = f->stage, .client = f->client, .viewer = f->viewer, .entity = 0};
        assert_true(ph_way_client_entity_count(f->client) > 5);
        assert_true(ph_sim_is_equal(&pair));
        tear_down(f);
    }
}

static void every_slot_names_its_entity(void** state)
{
    (void)state;
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        fixture* f = set_up((ph_way)way, 0, 0);
        assert_int_equal(ph_way_client_slot_count(f->client), 0);
        assert_int_equal(ph_way_client_entity_at(f->client, 0).index1, 0);
        play_tick(f);
        int count = 0;
        for (int slot = -1; slot <= ph_way_client_slot_count(f->client); ++slot) {
            const ph_entity_id entity = ph_way_client_entity_at(f->client, slot);
            uint64_t key = 0;
            if (entity.index1 == 0) {
                continue;
            }
            ++count;
            assert_int_equal(ph_way_client_identify(f->client, entity, &key), PH_OK);
            const ph_entity_id found = ph_way_client_find(f->client, key);
            assert_int_equal(found.index1, entity.index1);
            assert_int_equal(found.generation, entity.generation);
        }
        uint64_t key = 0;
        assert_true(count > 1);
        assert_int_equal(count, ph_way_client_entity_count(f->client));
        assert_int_equal(ph_way_client_identify(f->client, (ph_entity_id){0}, &key),
                         PH_ERROR_STALE);
        tear_down(f);
    }
}

static void terms_that_no_sender_has_make_no_client(void** state)
{
    (void)state;
    static const ph_way_terms WRONG[] = {{0, 1200},   {-1, 1200}, {70000, 1200},
                                         {256, 1201}, {256, 0},   {256, -5}};
    fixture* f = set_up(PH_WAY_SNAPSHOT, 0, 0);
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; ++i) {
        assert_null(make_client(f, "town", WRONG[i]));
    }
    tear_down(f);
}

static void names_are_found_again(void** state)
{
    (void)state;
    ph_way way = PH_WAY_COUNT;
    ph_ground ground;
    for (int i = 0; i < PH_WAY_COUNT; ++i) {
        assert_true(ph_way_find(ph_way_name((ph_way)i), &way));
        assert_int_equal(way, i);
    }
    assert_false(ph_way_find("delta", &way));
    assert_true(ph_way_find_ground("", &ground));
    assert_string_equal(ph_way_ground_name(&ground), "");
    assert_true(ph_way_find_ground("town", &ground));
    assert_string_equal(ph_way_ground_name(&ground), "town");
    assert_false(ph_way_find_ground("moon", &ground));
}

// ---- budgets

static uint64_t bits_in(fixture* f, int seconds)
{
    const uint64_t before = f->wire_bits;
    for (int i = 0; i < 10 * seconds; ++i) {
        play_tick(f);
    }
    return f->wire_bits - before;
}

static void changed_budget_is_kept_and_used(void** state)
{
    (void)state;
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        fixture* f = set_up((ph_way)way, 40000, 600);
        bits_in(f, 5);
        assert_int_equal(ph_way_sender_set_budget(f->sender, f->now_us, 6000, 6000), PH_OK);
        const int64_t saved = ph_way_sender_token_bits(f->sender);
        assert_true(saved <= 6000);
        const uint64_t low = bits_in(f, 10);
        assert_true(low <= (uint64_t)saved + 60000);
        assert_true(low >= 40000);
        assert_int_equal(ph_way_sender_set_budget(f->sender, f->now_us, 20000, 20000), PH_OK);
        const uint64_t high = bits_in(f, 10);
        assert_true(high <= 6000 + 200000);
        assert_true(high > low);
        assert_int_equal(ph_way_client_arrivals(f->client).refused, 0);
        tear_down(f);
    }
}

// ---- traces

static void take_trace(void* context, const ph_packet_trace* trace)
{
    fixture* f = context;
    uint64_t sum = 0;
    for (int i = 0; i < trace->item_count; ++i) {
        const ph_trace_item* item = &trace->items[i];
        sum += item->bits256;
        f->traced.ledger.bits256[item->reason] += item->bits256;
        f->traced.enters += item->is_first && item->reason == PH_REASON_ENTER ? 1 : 0;
        f->traced.leaves += item->is_first && item->reason == PH_REASON_LEAVE ? 1 : 0;
        f->traced.updates += item->is_first && item->reason > PH_REASON_ENTER ? 1 : 0;
        if (item->reason == PH_REASON_PROPERTY) {
            f->traced.property_bits256[item->property] += item->bits256;
        }
        if (item->slot >= 0) {
            assert_true(ph_recording_find(f->recording, (uint32_t)item->key) >= 0);
            assert_int_equal(item->class_index, 0);
            const bool goes_on = i == 0 || trace->items[i - 1].slot != item->slot;
            f->fragments += goes_on && !item->is_first ? 1 : 0;
        } else {
            assert_true(item->key == 0 && item->property == -1 && !item->is_first);
        }
    }
    assert_true(sum == 2048 * (uint64_t)trace->payload_bytes);
    assert_int_equal(trace->overhead_bytes, OVERHEAD_BYTES);
    f->traced_payload = trace->payload_bytes;
}

// Whenever no snapshot is sent in part.
static void compare_counts(const fixture* f)
{
    const ph_sim_counts counts = ph_way_sender_counts(f->sender);
    for (int i = 0; i < PH_REASON_COUNT; ++i) {
        assert_true(f->traced.ledger.bits256[i] == counts.ledger.bits256[i]);
    }
    for (int i = 0; i < PH_PROPERTIES_MAX; ++i) {
        assert_true(f->traced.property_bits256[i] == counts.property_bits256[i]);
    }
    assert_int_equal(f->traced.enters, counts.enters);
    assert_int_equal(f->traced.leaves, counts.leaves);
    assert_int_equal(f->traced.updates, counts.updates);
}

static void traces_add_up_to_the_counts(void** state)
{
    (void)state;
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        fixture* f = set_up((ph_way)way, 2000, 120); // too little for all enters at once
        int compared = 0;
        assert_int_equal(ph_way_sender_set_trace(f->sender, take_trace, f), PH_OK);
        for (int i = 0; i < 500; ++i) {
            play_tick(f);
            if (way != PH_WAY_SNAPSHOT || !ph_way_sender_has_diff(f->sender)) {
                compare_counts(f);
                ++compared;
            }
        }
        assert_true(compared > 30);
        assert_true(f->traced.updates > 100);
        assert_true((f->fragments > 0) == (way == PH_WAY_SNAPSHOT));
        assert_int_equal(ph_way_sender_set_trace(f->sender, NULL, NULL), PH_OK);
        const uint64_t updates = f->traced.updates;
        f->traced_payload = 0;
        play_tick(f);
        assert_int_equal(f->traced.updates, updates);
        tear_down(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(client_made_of_words_has_what_the_world_has),
        cmocka_unit_test(every_slot_names_its_entity),
        cmocka_unit_test(terms_that_no_sender_has_make_no_client),
        cmocka_unit_test(names_are_found_again),
        cmocka_unit_test(changed_budget_is_kept_and_used),
        cmocka_unit_test(traces_add_up_to_the_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
