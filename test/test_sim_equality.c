// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client that has everything is alike; each thing that it does not have is found.

#include "test_support.h"

#include "kit/derive.h"
#include "kit/scene_recording.h"
#include "kit/recording_csv.h"
#include "kit/sim_equality.h"
#include "kit/way_sender.h"

#include <pinhole/viewer.h>

#include <string.h>

#define TICK_US UINT64_C(100000)

typedef struct fixture {
    ph_recording* recording;
    ph_schema* schema;
    ph_sim_def def;
    ph_sim_stage* stage;
    ph_way_sender* sender;
    ph_way_client* client;
    ph_sim_pair pair;
    uint64_t now_us;
} fixture;

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    fixture* f = context;
    ph_way_client_receive(f->client, f->now_us, bytes, size);
}

// Sends all that is due, over a perfect link.
static void exchange(fixture* f)
{
    for (int i = 0; i < 5; ++i) {
        f->now_us += TICK_US;
        ph_way_sender_send(f->sender, f->now_us, deliver, f);
        uint8_t ack[PH_ACK_SIZE];
        const size_t size = ph_way_client_write_ack(f->client, f->now_us, ack);
        ph_way_sender_take_ack(f->sender, f->now_us, ack, size);
        ph_way_sender_attend(f->sender);
        ph_sim_stage_tick(f->stage);
    }
    assert_int_equal(ph_way_client_arrivals(f->client).refused, 0);
}

// Each test is run with a profile and with snapshots.
static ph_way way_of(void** state)
{
    return *(const ph_way*)*state;
}

static void set_up_on(fixture* f, ph_way way, ph_recording* recording)
{
    ph_fault fault = {0};
    assert_non_null(recording);
    *f = (fixture){.def = ph_sim_def_default(), .now_us = 1000000, .recording = recording};
    f->def.kbps = 0.0;
    f->schema = ph_derive_schema(f->recording, &fault);
    f->stage = ph_sim_stage_create(&f->def, f->recording, f->schema, &fault);
    assert_non_null(f->stage);
    assert_true(ph_sim_stage_put(f->stage, &fault));
    int own = 0;
    while (!f->stage->source->present[own]) {
        ++own;
    }
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.entity = f->stage->source->entity_id[own];
    viewer.bits_per_second = 0;
    f->pair = (ph_sim_pair){.stage = f->stage, .entity = own};
    assert_int_equal(ph_world_add_viewer(f->stage->world, &viewer, &f->pair.viewer), PH_OK);
    const ph_way_sender_def sender = {
        .way = way,
        .world = f->stage->world,
        .schema = f->schema,
        .ground = f->recording->ground,
        .viewer = f->pair.viewer,
        .overhead_bytes = f->def.overhead_bytes,
        .tick_us = TICK_US,
        .now_us = f->now_us,
    };
    f->sender = ph_way_sender_create(&sender);
    assert_non_null(f->sender);
    const ph_way_client_def client = {
        .way = way,
        .schema = f->schema,
        .ground = f->recording->ground,
        .terms = ph_way_sender_terms(f->sender),
        .tick_us = TICK_US,
    };
    f->client = ph_way_client_create(&client);
    assert_non_null(f->client);
    f->pair.client = f->client;
    ph_sim_stage_tick(f->stage);
}

static void set_up(fixture* f, ph_way way)
{
    ph_fault fault = {0};
    const ph_scene_recording_def recording = {
        .scene = "town", .count = 12, .seconds = 2.0, .seed = 3};
    set_up_on(f, way, ph_scene_recording_make(&recording, &fault));
}

static void tear_down(fixture* f)
{
    ph_way_client_destroy(f->client);
    ph_way_sender_destroy(f->sender);
    ph_sim_stage_destroy(f->stage);
    ph_schema_destroy(f->schema);
    ph_recording_destroy(f->recording);
}

// The entity as the client has it; {0}: not at all.
static ph_entity_id find(const fixture* f, int entity)
{
    return ph_way_client_find(f->client, f->recording->id[entity]);
}

static void a_client_is_alike_once_it_was_told_everything(void** state)
{
    fixture f;
    set_up(&f, way_of(state));
    assert_false(ph_sim_is_equal(&f.pair));
    exchange(&f);
    assert_true(ph_way_client_entity_count(f.client) > 1);
    assert_true(ph_sim_is_equal(&f.pair));
    tear_down(&f);
}

static void a_value_that_was_not_told_is_found(void** state)
{
    fixture f;
    set_up(&f, way_of(state));
    exchange(&f);
    const ph_entity_id own = f.stage->source->entity_id[f.pair.entity];
    const ph_entity_id shown = find(&f, f.pair.entity);
    assert_int_equal(ph_sim_differing(&f.pair, shown, f.pair.entity, UINT64_MAX), 0);
    const int trait = f.stage->trait_count - 1;
    int64_t value = 0;
    const int property = f.stage->parts[trait].property;
    ph_world_get_property(f.stage->world, own, property, PH_FIELD_I64, &value, sizeof value);
    value = value == 0 ? 1 : 0;
    assert_int_equal(
        ph_world_set_property(f.stage->world, own, property, PH_FIELD_I64, &value, sizeof value),
        PH_OK);
    assert_int_equal(ph_sim_differing(&f.pair, shown, f.pair.entity, UINT64_MAX),
                     (uint64_t)1 << trait);
    assert_false(ph_sim_is_equal(&f.pair));
    exchange(&f);
    assert_true(ph_sim_is_equal(&f.pair));
    tear_down(&f);
}

// 4 m apart, and health is told within 100 m.
static void a_value_beyond_the_edge_of_the_world_is_found(void** state)
{
    static const char TEXT[] = "# rate 10\ntick,entity,x_mm,y_mm,z_mm,heading_deg,health\n"
                               "0,1,2147482000,0,0,0,5\n0,2,-2147482000,0,0,0,9\n";
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    fixture f;
    set_up_on(&f, way_of(state), ph_recording_parse(TEXT, strlen(TEXT), &def, &fault));
    exchange(&f);
    assert_true(ph_sim_is_equal(&f.pair));
    int64_t health = 5;
    assert_int_equal(ph_world_set_property(f.stage->world, f.stage->source->entity_id[1],
                                           f.stage->parts[0].property, PH_FIELD_I64, &health,
                                           sizeof health),
                     PH_OK);
    assert_false(ph_sim_is_equal(&f.pair));
    tear_down(&f);
}

// Of the second class of two, whose properties the first has not.
static void a_value_of_another_class_is_found(void** state)
{
    static const char TEXT[] = "# rate 10\ntick,entity,x_mm,y_mm,z_mm,heading_deg,class,health\n"
                               "0,1,0,0,0,0,box,\n0,2,4000,0,0,0,wolf,9\n0,3,4000,0,0,0,box,\n";
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    fixture f;
    set_up_on(&f, way_of(state), ph_recording_parse(TEXT, strlen(TEXT), &def, &fault));
    exchange(&f);
    assert_true(ph_sim_is_equal(&f.pair));
    assert_int_equal(f.stage->trait_count, 1);
    assert_int_equal(f.stage->has[1], 1);
    assert_int_equal(f.stage->has[0] | f.stage->has[2], 0);
    const int64_t health = 10;
    assert_int_equal(ph_world_set_property(f.stage->world, f.stage->source->entity_id[1], 1,
                                           PH_FIELD_I64, &health, sizeof health),
                     PH_OK);
    assert_false(ph_sim_is_equal(&f.pair));
    assert_int_equal(ph_sim_differing(&f.pair, find(&f, 1), 1, 1), 1);
    exchange(&f);
    assert_true(ph_sim_is_equal(&f.pair));
    tear_down(&f);
}

static void a_step_that_was_not_told_is_found(void** state)
{
    fixture f;
    set_up(&f, way_of(state));
    exchange(&f);
    const ph_source* source = f.stage->source;
    const int own = f.pair.entity;
    ph_world_move(f.stage->world, source->entity_id[own], source->x_mm[own] + 16, source->y_mm[own],
                  source->z_mm[own]);
    assert_false(ph_sim_is_equal(&f.pair));
    tear_down(&f);
}

static void an_entity_that_left_and_is_still_shown_is_found(void** state)
{
    fixture f;
    set_up(&f, way_of(state));
    exchange(&f);
    int other = f.pair.entity + 1;
    while (find(&f, other).index1 == 0) {
        ++other;
    }
    ph_world_despawn(f.stage->world, f.stage->source->entity_id[other]);
    ph_sim_stage_tick(f.stage);
    assert_false(ph_sim_is_equal(&f.pair));
    exchange(&f);
    assert_true(ph_sim_is_equal(&f.pair));
    tear_down(&f);
}

int main(void)
{
    static ph_way profile = PH_WAY_PINHOLE;
    static ph_way snapshot = PH_WAY_SNAPSHOT;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(a_client_is_alike_once_it_was_told_everything, &profile),
        cmocka_unit_test_prestate(a_client_is_alike_once_it_was_told_everything, &snapshot),
        cmocka_unit_test_prestate(a_value_that_was_not_told_is_found, &profile),
        cmocka_unit_test_prestate(a_value_that_was_not_told_is_found, &snapshot),
        cmocka_unit_test_prestate(a_value_beyond_the_edge_of_the_world_is_found, &profile),
        cmocka_unit_test_prestate(a_value_beyond_the_edge_of_the_world_is_found, &snapshot),
        cmocka_unit_test_prestate(a_value_of_another_class_is_found, &profile),
        cmocka_unit_test_prestate(a_step_that_was_not_told_is_found, &profile),
        cmocka_unit_test_prestate(a_step_that_was_not_told_is_found, &snapshot),
        cmocka_unit_test_prestate(an_entity_that_left_and_is_still_shown_is_found, &profile),
        cmocka_unit_test_prestate(an_entity_that_left_and_is_still_shown_is_found, &snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
