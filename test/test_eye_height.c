// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// An eye has a height: a viewer that flies is far from what is on the ground below it. Errors are ranked by that
// distance, and positions need less precision.

#include "support/test_support.h"

#include <pinhole/client.h>
#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <math.h>

enum { CROWD = 30, TICK_US = 100000, HEIGHT_MM = 150000 };

static const char SCHEMA[] = "class thing\n    place: position\n";

typedef struct fixture {
    ph_schema* schema;
    ph_world* world;
    ph_client* client;
    ph_viewer_id viewer;
    ph_entity_id own;
    ph_entity_id crowd[CROWD];
    uint64_t now_us;
    test_rng rng;
} fixture;

// How the eye gets its height.
typedef enum height_by { BY_DEF, BY_SET_EYE, BY_ENTITY, BY_COUNT } height_by;

static int32_t around(fixture* f, int32_t reach_mm)
{
    return (int32_t)test_rng_below(&f->rng, 2 * (uint64_t)reach_mm) - reach_mm;
}

static void setup(fixture* f, height_by by, int32_t height_mm)
{
    *f = (fixture){.now_us = 1000000, .rng = {.state = 88}};
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &f->schema, NULL), PH_OK);
    ph_world_def def = ph_world_def_default();
    def.schema = f->schema;
    def.tick_us = TICK_US;
    assert_int_equal(ph_world_create(&def, &f->world), PH_OK);
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.bits_per_second = 16000;
    viewer.sends_per_second = 10;
    if (by == BY_ENTITY) {
        const ph_spawn spawn = {.key = 1, .position_mm = {0, 0, height_mm}};
        assert_int_equal(ph_world_spawn(f->world, &spawn, &f->own), PH_OK);
        viewer.entity = f->own;
    }
    viewer.eye_mm[2] = by == BY_DEF ? height_mm : 0;
    assert_int_equal(ph_world_add_viewer(f->world, &viewer, &f->viewer), PH_OK);
    if (by == BY_SET_EYE) {
        assert_int_equal(ph_viewer_set_eye(f->world, f->viewer, 0, 0, height_mm), PH_OK);
    }
    for (int i = 0; i < CROWD; ++i) {
        const ph_spawn spawn = {.key = 10 + (uint64_t)i,
                                .position_mm = {around(f, 20000), around(f, 20000), 0}};
        assert_int_equal(ph_world_spawn(f->world, &spawn, &f->crowd[i]), PH_OK);
    }
    ph_client_def client = ph_client_def_default();
    client.schema = f->schema;
    assert_int_equal(ph_client_create(&client, &f->client), PH_OK);
}

static void teardown(fixture* f)
{
    ph_client_destroy(f->client);
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    fixture* f = context;
    assert_int_equal(ph_client_receive(f->client, f->now_us, bytes, size), PH_OK);
}

static void step(fixture* f)
{
    ph_world_tick(f->world);
    ph_world_send_all(f->world, f->now_us, deliver, f);
    uint8_t ack[PH_ACK_SIZE];
    const size_t size = ph_client_write_ack(f->client, f->now_us, ack);
    if (size > 0) {
        assert_int_equal(ph_viewer_receive_ack(f->world, f->viewer, f->now_us, ack, size), PH_OK);
    }
    f->now_us += TICK_US;
}

static void the_way_to_an_entity_has_a_height(void** state)
{
    (void)state;
    for (int by = 0; by < BY_COUNT; ++by) {
        static fixture f;
        setup(&f, (height_by)by, HEIGHT_MM);
        for (int i = 0; i < 10; ++i) {
            step(&f);
        }
        for (int i = 0; i < CROWD; ++i) {
            int32_t at_mm[3];
            ph_explanation explanation;
            assert_int_equal(
                ph_world_get_property(f.world, f.crowd[i], 0, PH_FIELD_I32X3, at_mm, sizeof at_mm),
                PH_OK);
            assert_int_equal(ph_viewer_explain(f.world, f.viewer, f.crowd[i], &explanation), PH_OK);
            const double ground_mm = hypot(at_mm[0], at_mm[1]);
            const double range_mm = hypot(ground_mm, at_mm[2] - HEIGHT_MM);
            assert_true(fabs(explanation.range_mm - range_mm) < 0.01 * range_mm);
        }
        teardown(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_way_to_an_entity_has_a_height),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
