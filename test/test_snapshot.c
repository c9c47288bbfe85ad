// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Plain snapshots, both ends over a link that loses: what arrives is what was sent, baselines are acked
// ones, and no bytes from outside do harm. The simulator's promises for them are in test_sim.c.

#include "test_support.h"

#include "kit/derive.h"
#include "kit/scene_recording.h"
#include "kit/sim_stage.h"
#include "kit/snapshot_client.h"
#include "kit/snapshot_sender.h"
#include "kit/snapshot_difference.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

#define TICK_US UINT64_C(100000)
#define DATAGRAMS_MAX 4096

typedef struct datagram {
    uint8_t bytes[PH_PAYLOAD_MAX];
    size_t size;
} datagram;

typedef struct fixture {
    ph_recording* recording;
    ph_schema* schema;
    ph_sim_def def;
    ph_sim_stage* stage;
    ph_viewer_id viewer;
    ph_snapshot_layout layout;
    ph_snapshot_sender* sender;
    ph_snapshot_client* client;
    uint64_t now_us;
    ph_rng rng;
    double loss;                          // of both directions
    bool is_acked[PH_SNAPSHOT_SEQUENCES]; // what the client has told, arrived or not
    datagram sent[DATAGRAMS_MAX];         // by the last send
    int sent_count;
    int applied; // snapshots
} fixture;

// ---- set up

static ph_snapshot_client* make_client(const fixture* f)
{
    const ph_snapshot_client_def def = {.layout = &f->layout, .tick_us = (uint32_t)TICK_US};
    ph_snapshot_client* client = ph_snapshot_client_create(&def);
    assert_non_null(client);
    return client;
}

static void make_ends(fixture* f, int64_t bits_per_second, int payload_max)
{
    const ph_way_terms terms = {
        .slot_count = ph_viewer_slot_count(f->stage->world, f->viewer),
        .payload_max = payload_max,
    };
    assert_true(ph_snapshot_layout_make(&f->layout, f->schema, &f->recording->ground, &terms));
    const ph_snapshot_sender_def sender = {
        .world = f->stage->world,
        .layout = &f->layout,
        .viewer = f->viewer,
        .bits_per_second = bits_per_second,
        .depth_bits = bits_per_second,
        .overhead_bytes = 48,
        .tick_us = (uint32_t)TICK_US,
        .now_us = f->now_us,
    };
    f->sender = ph_snapshot_sender_create(&sender);
    assert_non_null(f->sender);
    f->client = make_client(f);
}

static fixture* set_up(const char* scene, int64_t bits_per_second, int payload_max)
{
    ph_fault fault = {0};
    fixture* f = calloc(1, sizeof *f);
    const ph_scene_recording_def recording = {
        .scene = scene,
        .count = 40,
        .seconds = 120.0,
        .seed = 5,
        .is_flat = strcmp(scene, "race") == 0, // for its headings
    };
    f->recording = ph_scene_recording_make(&recording, &fault);
    f->schema = ph_derive_schema(f->recording, &fault);
    f->def = ph_sim_def_default();
    f->def.profile = PH_PROFILE_CLASSIC;
    f->now_us = 1000000;
    f->rng = ph_rng_make(11);
    f->stage = ph_sim_stage_create(&f->def, f->recording, f->schema, &fault);
    assert_non_null(f->stage);
    assert_true(ph_sim_stage_put(f->stage, &fault));
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.entity = f->stage->source->entity_id[0];
    assert_int_equal(ph_world_add_viewer(f->stage->world, &viewer, &f->viewer), PH_OK);
    make_ends(f, bits_per_second, payload_max);
    return f;
}

static void tear_down(fixture* f)
{
    ph_snapshot_client_destroy(f->client);
    ph_snapshot_sender_destroy(f->sender);
    ph_sim_stage_destroy(f->stage);
    ph_schema_destroy(f->schema);
    ph_recording_destroy(f->recording);
    free(f);
}

// ---- a tick

static bool is_lost(fixture* f)
{
    return (double)ph_rng_below(&f->rng, 1000000) < f->loss * 1e6;
}

static uint32_t sequence_of(const datagram* of)
{
    return (of->bytes[0] | (uint32_t)of->bytes[1] << 8) & 0x7FFFu;
}

static bool is_fragment(const datagram* of)
{
    return of->bytes[1] >> 7 != 0;
}

static void keep_sent(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    fixture* f = context;
    assert_true(f->sent_count < DATAGRAMS_MAX && size <= PH_PAYLOAD_MAX);
    memcpy(f->sent[f->sent_count].bytes, bytes, size);
    f->sent[f->sent_count++].size = size;
}

// The world goes on; what is sent is in f->sent.
static void send(fixture* f)
{
    ph_fault fault = {0};
    ph_snapshot_sender_free_slots(f->sender);
    if (f->stage->tick > 0) {
        assert_true(ph_sim_stage_put(f->stage, &fault));
    }
    ph_sim_stage_tick(f->stage);
    f->now_us += TICK_US;
    f->sent_count = 0;
    ph_snapshot_sender_send(f->sender, (uint32_t)f->stage->tick + 1, f->now_us, keep_sent, f);
    ph_sim_stage_step(f->stage);
}

// What the client has is what the sender thinks it has.
static void check_alike(fixture* f, const ph_snapshot* before)
{
    const ph_snapshot* newest = ph_snapshot_client_newest(f->client);
    if (newest == NULL || (before != NULL && before->sequence == newest->sequence)) {
        return;
    }
    const ph_snapshot* sent = ph_snapshot_sender_sent(f->sender, newest->sequence);
    assert_non_null(sent);
    assert_int_equal(sent->entity_count, newest->entity_count);
    assert_true(ph_snapshot_is_same(sent, newest, &f->layout));
    ++f->applied;
}

static void receive(fixture* f)
{
    for (int i = 0; i < f->sent_count; ++i) {
        if (is_lost(f)) {
            continue;
        }
        const ph_snapshot* newest = ph_snapshot_client_newest(f->client);
        const ph_snapshot before = newest != NULL ? *newest : (ph_snapshot){0};
        assert_true(ph_snapshot_client_receive(f->client, f->now_us, f->sent[i].bytes,
                                               f->sent[i].size) != PH_ERROR_VALUE);
        check_alike(f, newest != NULL ? &before : NULL);
    }
}

static void acknowledge(fixture* f)
{
    uint8_t ack[PH_SNAPSHOT_ACK_SIZE];
    if (ph_snapshot_client_write_ack(f->client, f->now_us, ack) == 0) {
        return;
    }
    f->is_acked[ack[0] | (uint32_t)ack[1] << 8] = true;
    if (!is_lost(f)) {
        assert_true(ph_snapshot_sender_take_ack(f->sender, f->now_us, ack, sizeof ack) !=
                    PH_ERROR_VALUE);
    }
}

static void exchange(fixture* f, int ticks)
{
    for (int i = 0; i < ticks; ++i) {
        send(f);
        receive(f);
        acknowledge(f);
    }
}

// ---- what arrives

static void what_arrives_is_what_was_sent(void** state)
{
    (void)state;
    static const char* const SCENES[] = {"town", "asteroids", "race", "edge", "wander"};
    for (size_t i = 0; i < sizeof SCENES / sizeof SCENES[0]; ++i) {
        fixture* f = set_up(SCENES[i], 40000, PH_PAYLOAD_MAX);
        f->loss = 0.3;
        exchange(f, 300);
        assert_true(f->applied > 50);
        assert_int_equal(ph_snapshot_client_arrivals(f->client).refused, 0);
        tear_down(f);
    }
}

// Every baseline that a datagram names, parsed from its bytes, is one that the client has acked.
static void baselines_are_acked_ones(void** state)
{
    (void)state;
    fixture* f = set_up("town", 40000, PH_PAYLOAD_MAX);
    f->loss = 0.5;
    int named = 0;
    for (int tick = 0; tick < 400; ++tick) {
        send(f);
        for (int i = 0; i < f->sent_count; ++i) {
            if (is_fragment(&f->sent[i])) {
                continue;
            }
            ph_bit_reader reader = ph_bit_reader_make(f->sent[i].bytes + PH_SNAPSHOT_DATAGRAM_HEAD,
                                                      f->sent[i].size - PH_SNAPSHOT_DATAGRAM_HEAD);
            const int back = ph_snapshot_read_head(&reader).back;
            const uint32_t base =
                (sequence_of(&f->sent[i]) - (uint32_t)back) % PH_SNAPSHOT_SEQUENCES;
            assert_true(back == 0 || f->is_acked[base]);
            named += back > 0;
        }
        receive(f);
        acknowledge(f);
    }
    assert_true(named > 100);
    tear_down(f);
}

static void a_baseline_that_the_client_lacks_is_refused(void** state)
{
    (void)state;
    fixture* f = set_up("town", 0, PH_PAYLOAD_MAX);
    exchange(f, 5);
    send(f);
    assert_int_equal(f->sent_count, 1);
    // Three back, a tick later, and nothing in it: a reader that takes no baseline for an empty one accepts it.
    uint8_t empty[8] = {9, 0};
    ph_bit_writer writer = ph_bit_writer_make(empty + PH_SNAPSHOT_DATAGRAM_HEAD, 6);
    ph_bits_write(&writer, 3, PH_SNAPSHOT_BACK_BITS);
    ph_bits_write(&writer, PH_SNAPSHOT_WAIT_UNKNOWN, PH_SNAPSHOT_WAIT_BITS);
    ph_bits_write(&writer, 1, PH_SNAPSHOT_TICK_BITS);
    ph_bits_write_bool(&writer, false);
    const size_t size = PH_SNAPSHOT_DATAGRAM_HEAD + ph_bit_writer_finish(&writer);
    ph_snapshot_client* other = make_client(f);
    assert_int_equal(ph_snapshot_client_receive(other, f->now_us, empty, size), PH_ERROR_VALUE);
    assert_int_equal(
        ph_snapshot_client_receive(other, f->now_us, f->sent[0].bytes, f->sent[0].size),
        PH_ERROR_VALUE);
    assert_null(ph_snapshot_client_newest(other));
    assert_int_equal(ph_snapshot_client_arrivals(other).refused, 2);
    assert_int_equal(
        ph_snapshot_client_receive(f->client, f->now_us, f->sent[0].bytes, f->sent[0].size), PH_OK);
    ph_snapshot_client_destroy(other);
    tear_down(f);
}

// ---- fragments

static void send_fragments(fixture* f)
{
    send(f);
    for (int i = 0; i < 100 && f->sent_count < 3; ++i) {
        send(f);
    }
    assert_true(f->sent_count >= 3);
    for (int i = 0; i < f->sent_count; ++i) {
        assert_true(is_fragment(&f->sent[i]));
    }
}

static void fragments_come_in_any_order(void** state)
{
    (void)state;
    fixture* f = set_up("town", 0, 150);
    send_fragments(f);
    for (int i = f->sent_count - 1; i >= 0; --i) {
        assert_null(ph_snapshot_client_newest(f->client));
        assert_int_equal(
            ph_snapshot_client_receive(f->client, f->now_us, f->sent[i].bytes, f->sent[i].size),
            PH_OK);
    }
    check_alike(f, NULL);
    assert_int_equal(f->applied, 1);
    tear_down(f);
}

static void a_snapshot_is_lost_with_one_fragment(void** state)
{
    (void)state;
    fixture* f = set_up("town", 0, 150);
    send_fragments(f);
    for (int i = 0; i < f->sent_count; ++i) {
        if (i != 1) {
            ph_snapshot_client_receive(f->client, f->now_us, f->sent[i].bytes, f->sent[i].size);
            assert_int_equal(
                ph_snapshot_client_receive(f->client, f->now_us, f->sent[i].bytes, f->sent[i].size),
                PH_ERROR_STALE);
        }
    }
    assert_null(ph_snapshot_client_newest(f->client));
    const datagram missing = f->sent[1];
    send_fragments(f);
    receive(f);
    assert_int_equal(f->applied, 1);
    assert_int_equal(ph_snapshot_client_receive(f->client, f->now_us, missing.bytes, missing.size),
                     PH_ERROR_STALE);
    tear_down(f);
}

static void fragments_that_contradict_each_other_are_refused(void** state)
{
    (void)state;
    fixture* f = set_up("town", 0, 100);
    send_fragments(f);
    assert_true(f->sent_count > 3);
    datagram forged = f->sent[1];
    ph_snapshot_client_receive(f->client, f->now_us, f->sent[2].bytes, f->sent[2].size);
    forged.bytes[3] |= 0x80; // the second is the last, and the third has come
    assert_int_equal(ph_snapshot_client_receive(f->client, f->now_us, forged.bytes, forged.size),
                     PH_ERROR_VALUE);
    forged = f->sent[1];
    assert_int_equal(
        ph_snapshot_client_receive(f->client, f->now_us, forged.bytes, forged.size - 1),
        PH_ERROR_VALUE);    // all but the last are of one size
    forged.bytes[3] = 0x7F; // further than any snapshot goes
    assert_int_equal(ph_snapshot_client_receive(f->client, f->now_us, forged.bytes, forged.size),
                     PH_ERROR_VALUE);
    // None of them has done harm to the third, which came before.
    for (int i = 0; i < f->sent_count; ++i) {
        if (i != 2) {
            ph_snapshot_client_receive(f->client, f->now_us, f->sent[i].bytes, f->sent[i].size);
        }
    }
    check_alike(f, NULL);
    assert_int_equal(f->applied, 1);
    tear_down(f);
}

// ---- bytes from outside

// Digest of all that a snapshot can change.
static uint64_t digest(const ph_snapshot* of, const ph_snapshot_layout* layout)
{
    uint64_t sum = of->sequence + 31 * (uint64_t)of->tick + (uint64_t)of->entity_count;
    for (int slot = 0; slot < layout->slot_count; ++slot) {
        sum = sum * 31 + of->is_there[slot];
        const uint8_t* block = ph_snapshot_block(of, layout, slot);
        for (int i = 0; of->is_there[slot] && i < layout->stride; ++i) {
            sum = sum * 31 + block[i];
        }
    }
    return sum;
}

static void bytes_that_no_sender_sends_are_refused_whole(void** state)
{
    (void)state;
    fixture* f = set_up("town", 0, PH_PAYLOAD_MAX);
    exchange(f, 20);
    int refused = 0;
    for (int round = 0; round < 250; ++round) {
        send(f);
        assert_true(f->sent_count > 0);
        const uint64_t before = digest(ph_snapshot_client_newest(f->client), &f->layout);
        datagram forged = f->sent[0];
        for (uint64_t n = 1 + ph_rng_below(&f->rng, 3); n > 0; --n) {
            forged.bytes[2 + ph_rng_below(&f->rng, forged.size - 2)] ^=
                (uint8_t)(1u << ph_rng_below(&f->rng, 8));
        }
        forged.size -= ph_rng_below(&f->rng, 2) * ph_rng_below(&f->rng, forged.size);
        if (ph_snapshot_client_receive(f->client, f->now_us, forged.bytes, forged.size) ==
            PH_ERROR_VALUE) {
            ++refused;
            assert_int_equal(digest(ph_snapshot_client_newest(f->client), &f->layout), before);
            receive(f);
        } else {
            // It says something that a sender might have said: the ends differ from here on.
            ph_snapshot_client_destroy(f->client);
            ph_snapshot_sender_destroy(f->sender);
            make_ends(f, 0, PH_PAYLOAD_MAX);
            exchange(f, 3);
        }
        acknowledge(f);
    }
    assert_true(refused > 100);
    tear_down(f);
}

static void noise_is_refused(void** state)
{
    (void)state;
    fixture* f = set_up("town", 0, PH_PAYLOAD_MAX);
    exchange(f, 20);
    for (int round = 0; round < 20000; ++round) {
        // Not a byte beyond is there to be read.
        const size_t size = ph_rng_below(&f->rng, round % 2 == 0 ? 20 : PH_PAYLOAD_MAX);
        uint8_t* noise = malloc(size > 0 ? size : 1);
        assert_non_null(noise);
        for (size_t i = 0; i < size; ++i) {
            noise[i] = (uint8_t)ph_rng_next(&f->rng);
        }
        ph_snapshot_client_receive(f->client, f->now_us, noise, size);
        ph_snapshot_sender_take_ack(f->sender, f->now_us, noise, size);
        free(noise);
    }
    assert_true(ph_snapshot_client_arrivals(f->client).refused > 5000);
    tear_down(f);
}

static void acks_of_what_was_not_sent_are_refused(void** state)
{
    (void)state;
    fixture* f = set_up("town", 13000, PH_PAYLOAD_MAX);
    exchange(f, 20);
    const ph_snapshot* baseline = ph_snapshot_sender_baseline(f->sender);
    assert_non_null(baseline);
    const uint32_t acked = baseline->sequence;
    static const int AHEAD[] = {100, 5000, 16000};
    for (size_t i = 0; i < 3; ++i) {
        const uint32_t sequence = acked + (uint32_t)AHEAD[i];
        const uint8_t ack[] = {(uint8_t)sequence, (uint8_t)(sequence >> 8), 0};
        assert_int_equal(ph_snapshot_sender_take_ack(f->sender, f->now_us, ack, 3), PH_ERROR_VALUE);
    }
    const uint8_t again[] = {(uint8_t)acked, (uint8_t)(acked >> 8), 0, 0};
    assert_int_equal(ph_snapshot_sender_take_ack(f->sender, f->now_us, again, 3), PH_ERROR_STALE);
    assert_int_equal(ph_snapshot_sender_take_ack(f->sender, f->now_us, again, 4), PH_ERROR_VALUE);
    assert_int_equal(ph_snapshot_sender_take_ack(f->sender, f->now_us, again, 0), PH_ERROR_VALUE);
    assert_ptr_equal(ph_snapshot_sender_baseline(f->sender), baseline);
    tear_down(f);
}

// A snapshot of which a part waits for tokens cannot have arrived.
static void a_part_of_a_snapshot_is_not_acked(void** state)
{
    (void)state;
    fixture* f = set_up("asteroids", 1500, 120);
    bool is_partly_sent = false;
    for (int i = 0; i < 1000 && !is_partly_sent; ++i) {
        exchange(f, 1);
        is_partly_sent = f->sent_count > 0 && ph_snapshot_sender_is_waiting(f->sender);
    }
    assert_true(is_partly_sent);
    const ph_snapshot* baseline = ph_snapshot_sender_baseline(f->sender);
    const uint32_t sequence = sequence_of(&f->sent[0]);
    const uint8_t ack[] = {(uint8_t)sequence, (uint8_t)(sequence >> 8), 0};
    assert_int_equal(ph_snapshot_sender_take_ack(f->sender, f->now_us, ack, 3), PH_ERROR_VALUE);
    assert_ptr_equal(ph_snapshot_sender_baseline(f->sender), baseline);
    tear_down(f);
}

// ---- when it sends

// Headings are told within 50 m, and while an entity moves only when they differ by 5 degrees.
static int check_headings(const fixture* f)
{
    const ph_snapshot* newest = ph_snapshot_client_newest(f->client);
    const int property = f->layout.properties[f->layout.heading].property;
    uint32_t own[3];
    ph_snapshot_load_position(ph_snapshot_block(newest, &f->layout, 0), own);
    int checked = 0;
    for (int slot = 0; slot < f->layout.slot_count; ++slot) {
        uint32_t place[3];
        ph_snapshot_load_position(ph_snapshot_block(newest, &f->layout, slot), place);
        if (!newest->is_there[slot] || abs((int32_t)(place[0] - own[0])) > 30000 ||
            abs((int32_t)(place[1] - own[1])) > 30000) {
            continue;
        }
        const int entity = ph_recording_find(f->recording, (uint32_t)newest->keys[slot]);
        double here = 0.0;
        double there = 1.0;
        ph_snapshot_client_get_property(f->client,
                                        ph_snapshot_client_find(f->client, newest->keys[slot]),
                                        property, PH_FIELD_F64, &here, sizeof here);
        ph_world_get_property(f->stage->world, f->stage->source->entity_id[entity], property,
                              PH_FIELD_F64, &there, sizeof there);
        assert_true(here == there);
        ++checked;
    }
    return checked;
}

static void a_world_that_stands_is_told_to_the_end_and_then_no_more(void** state)
{
    (void)state;
    int checked = 0;
    for (int moved = 50; moved < 100; moved += 5) {
        fixture* f = set_up(moved % 2 == 0 ? "town" : "race", 13000, PH_PAYLOAD_MAX);
        f->loss = 0.3;
        exchange(f, moved);
        f->stage->is_standing = true;
        exchange(f, 80);
        int sent = 0;
        for (int i = 0; i < 50; ++i) {
            exchange(f, 1);
            sent += f->sent_count;
        }
        assert_int_equal(sent, 0);
        checked += check_headings(f);
        tear_down(f);
    }
    assert_true(checked > 20);
}

// Without acks it falls to one a second, and goes on with the first that comes.
static void without_acks_it_sends_seldom(void** state)
{
    (void)state;
    fixture* f = set_up("town", 0, PH_PAYLOAD_MAX);
    for (int i = 0; i < PH_SNAPSHOT_RING; ++i) {
        send(f);
        receive(f);
    }
    int sent = 0;
    for (int i = 0; i < 100; ++i) {
        send(f);
        sent += f->sent_count;
        receive(f);
    }
    assert_in_range(sent, 9, 10);
    acknowledge(f);
    exchange(f, 5);
    assert_true(f->sent_count > 0);
    assert_int_equal(
        ph_snapshot_sequence_difference(sequence_of(&f->sent[0]), PH_SNAPSHOT_RING - 1) > 0, 1);
    tear_down(f);
}

// A world that stood for hours goes on: the baseline is older than the bits for ticks reach.
static void a_baseline_may_be_old(void** state)
{
    (void)state;
    static const uint32_t AGES[] = {65533, 65534, 65535, 65536, 10000000};
    for (int i = 0; i < 5; ++i) {
        fixture* f = set_up("town", 0, PH_PAYLOAD_MAX);
        exchange(f, 5);
        f->stage->tick += (int)AGES[i]; // the truth has no such tick: it stands, and was told
        f->now_us += AGES[i] * TICK_US;
        f->stage->is_standing = true;
        const ph_source* source = f->stage->source;
        ph_world_move(f->stage->world, source->entity_id[0], source->x_mm[0] + 1600,
                      source->y_mm[0], source->z_mm[0]);
        const uint32_t tick = (uint32_t)f->stage->tick + 1;
        const int applied = f->applied;
        exchange(f, 1);
        assert_int_equal(f->applied, applied + 1);
        assert_int_equal(ph_snapshot_client_newest(f->client)->tick, tick);
        tear_down(f);
    }
}

// Sequences wrap after 32,768.
static void sequences_wrap(void** state)
{
    (void)state;
    assert_int_equal(ph_snapshot_sequence_difference(3, 0x7FFE), 5);
    assert_int_equal(ph_snapshot_sequence_difference(0x7FFE, 3), -5);
    assert_int_equal(ph_snapshot_sequence_difference(7, 7), 0);
}

// Bits that left add up to the bytes that left, at any moment.
static void bits_add_up_in_the_middle_of_a_snapshot(void** state)
{
    (void)state;
    fixture* f = set_up("asteroids", 2000, 120);
    uint64_t bytes = 0;
    int partly = 0;
    for (int tick = 0; tick < 300; ++tick) {
        send(f);
        for (int i = 0; i < f->sent_count; ++i) {
            bytes += f->sent[i].size;
        }
        const ph_sim_counts counts = ph_snapshot_sender_counts(f->sender);
        uint64_t bits256 = 0;
        uint64_t of_properties = 0;
        for (int i = 0; i < PH_REASON_COUNT; ++i) {
            bits256 += counts.ledger.bits256[i];
        }
        for (int i = 0; i < PH_PROPERTIES_MAX; ++i) {
            of_properties += counts.property_bits256[i];
        }
        assert_int_equal(bits256, bytes * 8 * 256);
        assert_int_equal(of_properties, counts.ledger.bits256[PH_REASON_PROPERTY]);
        partly += ph_snapshot_sender_is_waiting(f->sender);
        receive(f);
        acknowledge(f);
    }
    assert_true(partly > 10);
    tear_down(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_arrives_is_what_was_sent),
        cmocka_unit_test(baselines_are_acked_ones),
        cmocka_unit_test(a_baseline_that_the_client_lacks_is_refused),
        cmocka_unit_test(fragments_come_in_any_order),
        cmocka_unit_test(a_snapshot_is_lost_with_one_fragment),
        cmocka_unit_test(fragments_that_contradict_each_other_are_refused),
        cmocka_unit_test(bytes_that_no_sender_sends_are_refused_whole),
        cmocka_unit_test(noise_is_refused),
        cmocka_unit_test(acks_of_what_was_not_sent_are_refused),
        cmocka_unit_test(a_part_of_a_snapshot_is_not_acked),
        cmocka_unit_test(a_world_that_stands_is_told_to_the_end_and_then_no_more),
        cmocka_unit_test(without_acks_it_sends_seldom),
        cmocka_unit_test(a_baseline_may_be_old),
        cmocka_unit_test(sequences_wrap),
        cmocka_unit_test(bits_add_up_in_the_middle_of_a_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
