// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Things that are stuck to a tumbling ship: told from where it takes them they cost a fraction, and clients have the
// same in the end. Whatever else is random is in test_eventual_equality.c and test_second_decoder.c.

#include "support/test_support.h"

#include <pinhole/client.h>
#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CRATES = 40, TICKS = 60, WARM_TICKS = 10, TICK_US = 100000 };

typedef struct deck {
    ph_schema* schema;
    ph_world* world;
    ph_client* client;
    ph_viewer_id viewer;
    ph_entity_id ship;
    ph_entity_id crates[CRATES];
    uint64_t now_us;
    uint64_t bytes; // since it is warm
    bool is_lossy;
    test_rng rng;
} deck;

static void make(deck* d, const char* carrier_option, bool is_lossy)
{
    *d = (deck){.is_lossy = is_lossy, .rng = {.state = 11}};
    char text[200];
    const int length = snprintf(text, sizeof text,
                                "class thing\n place: position 16 step 1\n"
                                " turned: quaternion 12 orientation\n ship: entity %s\n",
                                carrier_option);
    assert_int_equal(ph_schema_parse(text, (size_t)length, NULL, &d->schema, NULL), PH_OK);
    ph_world_def world = ph_world_def_default();
    world.schema = d->schema;
    world.tick_us = TICK_US;
    assert_int_equal(ph_world_create(&world, &d->world), PH_OK);
    assert_int_equal(ph_world_spawn(d->world, &(ph_spawn){.key = 1}, &d->ship), PH_OK);
    for (int i = 0; i < CRATES; ++i) {
        const ph_spawn spawn = {.key = 2 + (uint64_t)i};
        assert_int_equal(ph_world_spawn(d->world, &spawn, &d->crates[i]), PH_OK);
        assert_int_equal(ph_world_set_property(d->world, d->crates[i], 2, PH_FIELD_ENTITY, &d->ship,
                                               sizeof d->ship),
                         PH_OK);
    }
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.entity = d->ship;
    viewer.bits_per_second = 0;
    assert_int_equal(ph_world_add_viewer(d->world, &viewer, &d->viewer), PH_OK);
    ph_client_def client = ph_client_def_default();
    client.schema = d->schema;
    assert_int_equal(ph_client_create(&client, &d->client), PH_OK);
}

static void destroy(deck* d)
{
    ph_client_destroy(d->client);
    ph_world_destroy(d->world);
    ph_schema_destroy(d->schema);
}

// Tumbles at a pace that changes all the time.
static double angle_at(int tick)
{
    return 0.12 * tick + 0.4 * sin(0.37 * tick);
}

static void put(deck* d, ph_entity_id id, const double beside_mm[3], const double axis[3], int tick)
{
    const double half = angle_at(tick) / 2;
    const double q[4] = {axis[0] * sin(half), axis[1] * sin(half), axis[2] * sin(half), cos(half)};
    double t[3];
    int64_t place_mm[3];
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3;
        const int k = (i + 2) % 3;
        t[i] = 2.0 * (q[j] * beside_mm[k] - q[k] * beside_mm[j]);
    }
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3;
        const int k = (i + 2) % 3;
        const double turned = beside_mm[i] + q[3] * t[i] + q[j] * t[k] - q[k] * t[j];
        place_mm[i] = (int64_t)floor(20000.0 + 900.0 * tick * (i == 0) + turned + 0.5);
    }
    assert_int_equal(ph_world_move(d->world, id, place_mm[0], place_mm[1], place_mm[2]), PH_OK);
    assert_int_equal(ph_world_set_property(d->world, id, 1, PH_FIELD_F64X4, q, sizeof q), PH_OK);
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    deck* d = context;
    d->bytes += size;
    if (!d->is_lossy || test_rng_below(&d->rng, 3) != 0) {
        assert_int_equal(ph_client_receive(d->client, d->now_us, bytes, size), PH_OK);
    }
}

static void step(deck* d, int tick)
{
    static const double AXIS[3] = {0.48, -0.6, 0.64};
    static const double NONE[3] = {0};
    d->now_us += TICK_US;
    put(d, d->ship, NONE, AXIS, tick);
    for (int i = 0; i < CRATES; ++i) {
        const double beside_mm[3] = {700.0 * (i % 7) - 2000.0, 900.0 * (i / 7), 150.0 * (i % 5)};
        put(d, d->crates[i], beside_mm, AXIS, tick);
    }
    ph_world_tick(d->world);
    assert_int_equal(ph_viewer_send(d->world, d->viewer, d->now_us, deliver, d), PH_OK);
    uint8_t ack[PH_ACK_SIZE];
    const size_t size = ph_client_write_ack(d->client, d->now_us, ack);
    if (size > 0) {
        assert_int_equal(ph_viewer_receive_ack(d->world, d->viewer, d->now_us, ack, size), PH_OK);
    }
}

static void assert_equal_value(const deck* d, ph_entity_id id, int property, ph_field field,
                               size_t size)
{
    double here[4];
    double there[4];
    uint64_t key;
    assert_int_equal(ph_world_identify(d->world, id, &key, NULL), PH_OK);
    assert_int_equal(ph_world_get_property(d->world, id, property, field, here, size), PH_OK);
    assert_int_equal(ph_client_get_property(d->client, ph_client_find(d->client, key), property,
                                            field, there, size),
                     PH_OK);
    assert_memory_equal(there, here, size);
}

static void assert_equal_all(const deck* d)
{
    for (int i = 0; i < CRATES; ++i) {
        assert_equal_value(d, d->crates[i], 0, PH_FIELD_I64X3, 3 * sizeof(int64_t));
        assert_equal_value(d, d->crates[i], 1, PH_FIELD_F64X4, 4 * sizeof(double));
    }
}

static uint64_t bytes_with(const char* carrier_option)
{
    deck d;
    make(&d, carrier_option, false);
    for (int tick = 0; tick < TICKS; ++tick) {
        d.bytes = tick <= WARM_TICKS ? 0 : d.bytes;
        step(&d, tick);
        if (tick > WARM_TICKS) {
            assert_equal_all(&d);
        }
    }
    destroy(&d);
    return d.bytes;
}

static void what_is_carried_costs_a_fraction(void** state)
{
    (void)state;
    const uint64_t alone = bytes_with("");
    const uint64_t carried = bytes_with("carrier");
    assert_true(carried * 2 < alone);
}

// Both ends go on alike when packets are lost, and the client has all of it when they no longer are.
static void losses_change_nothing_in_the_end(void** state)
{
    (void)state;
    deck d;
    make(&d, "carrier", true);
    int tick = 0;
    for (; tick < TICKS; ++tick) {
        step(&d, tick);
    }
    d.is_lossy = false;
    for (int i = 0; i < 30; ++i) {
        step(&d, tick);
    }
    assert_equal_all(&d);
    destroy(&d);
}

static void a_class_has_one_carrier(void** state)
{
    (void)state;
    static const char TEXT[] =
        "class thing\n place: position\n a: entity carrier\n b: entity carrier\n";
    ph_schema* schema;
    ph_error error;
    assert_int_equal(ph_schema_parse(TEXT, strlen(TEXT), NULL, &schema, &error), PH_ERROR_SCHEMA);
    assert_non_null(strstr(error.text, "expected one carrier in class thing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_carried_costs_a_fraction),
        cmocka_unit_test(losses_change_nothing_in_the_end),
        cmocka_unit_test(a_class_has_one_carrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
