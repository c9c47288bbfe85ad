// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// When a property is worth sending, and to which viewers: distances, audiences, significance,
// hints; and what every bit was for.

#include "support/test_support.h"
#include "support/inbox.h"
#include "support/test_memory.h"

#include "replication/sender.h"
#include "world/world_state.h"
#include "tools/tools.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <string.h>

#define SEND_US 200000
#define TICK_US 200000
#define BIT(property) (UINT64_C(1) << (property))

enum { POSITION, TURN, SECRET, TEAM, NEAR, KIND, FRIEND, PROPERTY_COUNT };
#define TEAM_AUDIENCE 4u

static const ph_property_def properties[PROPERTY_COUNT] = {
    [POSITION] = {.name = "position", .coding = PH_CODING_POSITION, .ground_tolerance_mm = 100},
    [TURN] = {.name = "turn", .coding = PH_CODING_ANGLE, .significant = 5},
    [SECRET] = {.name = "secret",
                .coding = PH_CODING_RANGE,
                .hi = 100,
                .audience = PH_AUDIENCE_OWNER},
    [TEAM] = {.name = "team",
              .coding = PH_CODING_RANGE,
              .hi = 100,
              .audience = PH_AUDIENCE_MASK,
              .audience_mask = TEAM_AUDIENCE},
    [NEAR] = {.name = "near", .coding = PH_CODING_RANGE, .hi = 100, .distance_m = 50},
    [KIND] = {.name = "kind", .coding = PH_CODING_RANGE, .hi = 100, .when = PH_SEND_ONCE},
    [FRIEND] = {.name = "friend", .coding = PH_CODING_ENTITY},
};

typedef struct fixture {
    test_memory memory;
    ph_schema* schema;
    ph_world* world;
    ph_viewer_id viewer;
    ph_entity_id own;
    inbox box;
} fixture;

static fixture shared; // too large for a stack

// One floor at 1 m, everywhere.
static int floor_heights(const void* context, int64_t x_mm, int64_t y_mm,
                         int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)context;
    (void)x_mm;
    (void)y_mm;
    heights_mm[0] = 1003;
    return 1;
}

static ph_entity_id spawn(fixture* x, uint64_t name, int32_t x_mm)
{
    ph_entity_id id;
    const ph_spawn newcomer = {.key = name, .position_mm = {x_mm, 0, 1003}};
    assert_int_equal(ph_world_spawn(x->world, &newcomer, &id), PH_OK);
    return id;
}

static fixture* setup_with(ph_viewer_def def)
{
    fixture* x = &shared;
    memset(x, 0, sizeof *x);
    const ph_class_def described = {
        .name = "thing", .properties = properties, .property_count = PROPERTY_COUNT};
    assert_int_equal(ph_schema_create(&described, 1, NULL, &x->schema, NULL), PH_OK);
    ph_world_def world_def = ph_world_def_default();
    world_def.profile = PH_PROFILE_CLASSIC; // inboxes read it
    world_def.schema = x->schema;
    world_def.entity_capacity = 300;
    world_def.tick_us = TICK_US;
    world_def.ground.layers = floor_heights;
    world_def.allocator = test_memory_allocator(&x->memory);
    assert_int_equal(ph_world_create(&world_def, &x->world), PH_OK);
    x->own = spawn(x, 1, 0);
    def.entity = x->own;
    assert_int_equal(ph_world_add_viewer(x->world, &def, &x->viewer), PH_OK);
    inbox_setup(&x->box, x->world, x->schema, x->viewer);
    return x;
}

static fixture* setup(void)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 1000000;
    return setup_with(def);
}

static void teardown(fixture* x)
{
    assert_true(ph_world_validate(x->world));
    inbox_teardown(&x->box);
    ph_world_destroy(x->world);
    ph_schema_destroy(x->schema);
    test_memory_assert_clean(&x->memory);
}

static void set(fixture* x, ph_entity_id id, int property, int32_t value)
{
    assert_int_equal(
        ph_world_set_property(x->world, id, property, PH_FIELD_I32, &value, sizeof value), PH_OK);
}

static void turn(fixture* x, ph_entity_id id, float degrees)
{
    assert_int_equal(
        ph_world_set_property(x->world, id, TURN, PH_FIELD_F32, &degrees, sizeof degrees), PH_OK);
}

static int slot_of(const fixture* x, ph_entity_id id)
{
    return ph_slots_find(x->world->viewers.viewers[0].slots, id.index1 - 1);
}

static const ph_record* told(const fixture* x, ph_entity_id id)
{
    return inbox_find(&x->box, slot_of(x, id));
}

static void step_and_ack(fixture* x)
{
    inbox_step(&x->box, SEND_US);
    if (x->box.count > 0 && inbox_stats(&x->box).in_flight_count > 0) {
        inbox_ack_all(&x->box);
    }
}

// ---- which viewer gets what

static void the_owners_property_goes_to_the_owner_alone(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id other = spawn(x, 2, 1000);
    set(x, x->own, SECRET, 5);
    set(x, other, SECRET, 6);
    step_and_ack(x);
    assert_true(told(x, x->own)->properties == (BIT(POSITION) | BIT(SECRET)));
    assert_true(told(x, other)->properties == BIT(POSITION));
    set(x, x->own, SECRET, 7);
    set(x, other, SECRET, 8);
    ph_world_tick(x->world);
    const ph_sender* sender = x->world->viewers.viewers[0].sender;
    assert_true(sender->replicas.dirty[slot_of(x, other)] == 0); // not even looked at
    step_and_ack(x);
    assert_true(told(x, x->own)->properties == BIT(SECRET));
    assert_null(told(x, other));
    teardown(x);
}

static void an_audience_gets_what_is_meant_for_it(void** state)
{
    (void)state;
    for (uint32_t audience = 0; audience <= TEAM_AUDIENCE; audience += TEAM_AUDIENCE) {
        ph_viewer_def def = ph_viewer_def_default();
        def.audience = audience;
        fixture* x = setup_with(def);
        const ph_entity_id other = spawn(x, 2, 1000);
        set(x, other, TEAM, 5);
        step_and_ack(x);
        assert_int_equal((told(x, other)->properties & BIT(TEAM)) != 0, audience != 0);
        set(x, other, TEAM, 6);
        step_and_ack(x);
        assert_int_equal(told(x, other) != NULL, audience != 0);
        teardown(x);
    }
}

static void what_is_sent_once_comes_with_the_enter(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id other = spawn(x, 2, 200000);
    set(x, other, KIND, 9);
    step_and_ack(x);
    assert_int_equal(inbox_value(&x->box, told(x, other), KIND)[0], 9);
    set(x, other, KIND, 10);
    step_and_ack(x);
    assert_null(told(x, other));
    teardown(x);
}

static void a_limited_property_goes_when_it_is_near_enough(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id other = spawn(x, 2, 60000);
    set(x, other, NEAR, 5);
    step_and_ack(x);
    assert_true(told(x, other)->properties == BIT(POSITION));
    assert_false(inbox_stats(&x->box).has_diff);
    assert_int_equal(ph_world_move(x->world, other, 49000, 0, 1003), PH_OK);
    step_and_ack(x);
    assert_true(told(x, other)->properties == (BIT(POSITION) | BIT(NEAR)));
    assert_int_equal(ph_world_move(x->world, other, 60000, 0, 1003), PH_OK);
    set(x, other, NEAR, 6);
    step_and_ack(x);
    assert_true(told(x, other)->properties == BIT(POSITION));
    // Back to what the client has: nothing to tell any more, however near.
    set(x, other, NEAR, 5);
    assert_int_equal(ph_world_move(x->world, other, 49000, 0, 1003), PH_OK);
    step_and_ack(x);
    assert_true(told(x, other)->properties == BIT(POSITION));
    teardown(x);
}

// The eye comes nearer, the entity rests.
static void a_limited_property_goes_when_the_eye_is_near_enough(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id other = spawn(x, 2, 60000);
    set(x, other, NEAR, 5);
    step_and_ack(x);
    assert_int_equal(ph_world_move(x->world, x->own, 20000, 0, 1003), PH_OK);
    step_and_ack(x);
    assert_true(told(x, other)->properties == BIT(NEAR));
    teardown(x);
}

// ---- when

// With few bits a small turn waits; after a second without change it counts.
static void a_small_difference_counts_after_a_second(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 8000;
    fixture* x = setup_with(def);
    const ph_entity_id other = spawn(x, 2, 1000);
    step_and_ack(x);
    for (int i = 0; i < 10; ++i) {
        ph_world_tick(x->world);
    }
    const uint64_t before = inbox_stats(&x->box).sent_significant_updates;
    turn(x, other, 3.0f);
    step_and_ack(x); // spare bits: it goes, but not as significant
    assert_true(told(x, other)->properties == BIT(TURN));
    assert_int_equal(inbox_stats(&x->box).sent_significant_updates, before);
    turn(x, other, 9.0f);
    step_and_ack(x);
    assert_int_equal(inbox_stats(&x->box).sent_significant_updates, before + 1);
    // Lost for longer than a second: it goes at once, and still differs by little.
    turn(x, other, 11.0f);
    inbox_step(&x->box, SEND_US);
    for (int i = 0; i < 6; ++i) {
        ph_world_tick(x->world);
    }
    inbox_lose_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_int_equal(inbox_stats(&x->box).sent_significant_updates, before + 1);
    teardown(x);
}

// A hint of 0 means last, but max_starve_ms brings each entity its turn.
static void no_entity_waits_for_ever(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 3000;
    def.max_starve_ms = 5000;
    fixture* x = setup_with(def);
    ph_entity_id ids[40];
    for (int i = 0; i < 40; ++i) {
        ids[i] = spawn(x, 10 + (uint64_t)i, 1000 + i);
        assert_int_equal(ph_viewer_set_hint(x->world, x->viewer, ids[i], i == 39 ? 0.0 : 5.0),
                         PH_OK);
    }
    double oldest_ms = 0.0;
    int served_count = 0;
    for (int i = 0; i < 600; ++i) {
        for (int k = 0; k < 40; ++k) {
            assert_int_equal(ph_world_move(x->world, ids[k], 1000 + k + (i % 7) * 4000, k, 1003),
                             PH_OK);
        }
        step_and_ack(x);
        const double waited_ms = inbox_stats(&x->box).longest_wait_ms;
        oldest_ms = i > 200 && waited_ms > oldest_ms ? waited_ms : oldest_ms;
        served_count += i > 200 && told(x, ids[39]) != NULL;
    }
    assert_true(served_count >= 8);
    // The max starve time, and 41 records of at most 16 bytes with a quarter of what overhead
    // leaves.
    assert_true(oldest_ms < 5000.0 + 41 * 16 * 8 / (0.25 * (3000.0 - 5 * (48 + 9) * 8)) * 1000.0);
    teardown(x);
}

static void a_hint_brings_its_entity_forward(void** state)
{
    (void)state;
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 4000;
    fixture* x = setup_with(def);
    ph_entity_id ids[40];
    for (int i = 0; i < 40; ++i) {
        ids[i] = spawn(x, 10 + (uint64_t)i, 20000);
    }
    int counts[40] = {0};
    for (int i = 0; i < 400; ++i) {
        for (int k = 0; k < 40; ++k) {
            assert_int_equal(ph_world_move(x->world, ids[k], 20000 + (i % 7) * 4000, 0, 1003),
                             PH_OK);
        }
        if (i == 100) {
            assert_int_equal(ph_viewer_set_hint(x->world, x->viewer, ids[30], 20.0), PH_OK);
        }
        step_and_ack(x);
        for (int k = 0; i > 100 && k < 40; ++k) {
            counts[k] += told(x, ids[k]) != NULL;
        }
    }
    assert_true(counts[30] > 3 * counts[29] && counts[29] > 0);
    teardown(x);
}

// Far away, a path of a few metres is worth telling, not each step of it: however high its
// priority, unless bits are left.
static void a_distant_walk_is_told_in_strides(void** state)
{
    (void)state;
    for (int is_rich = 0; is_rich <= 1; ++is_rich) {
        ph_viewer_def def = ph_viewer_def_default();
        def.bits_per_second = is_rich != 0 ? 100000 : 4000;
        fixture* x = setup_with(def);
        const ph_entity_id walker = spawn(x, 2, 200000);
        assert_int_equal(ph_viewer_set_hint(x->world, x->viewer, walker, 1e6), PH_OK);
        ph_entity_id ids[30];
        for (int i = 0; i < 30; ++i) {
            ids[i] = spawn(x, 10 + (uint64_t)i, 20000);
        }
        int count = 0;
        for (int i = 0; i < 300; ++i) {
            for (int k = 0; k < 30; ++k) { // what else there is to tell
                assert_int_equal(ph_world_move(x->world, ids[k], 20000 + (i % 7) * 4000, 0, 1003),
                                 PH_OK);
            }
            assert_int_equal(ph_world_move(x->world, walker, 200000 + 100 * i, 0, 1003), PH_OK);
            step_and_ack(x);
            count += i >= 100 && told(x, walker) != NULL;
        }
        // Every 2.1 m or so, of 20 m; or always.
        assert_in_range(count, is_rich != 0 ? 199 : 8, is_rich != 0 ? 200 : 12);
        teardown(x);
    }
}

static void hints_outlive_a_lack_of_memory(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id other = spawn(x, 2, 1000);
    x->memory.fail_at = x->memory.allocate_count + 1;
    assert_int_equal(ph_viewer_set_hint(x->world, x->viewer, other, 2.0), PH_ERROR_MEMORY);
    assert_int_equal(ph_viewer_set_hint(x->world, x->viewer, other, 2.0), PH_OK);
    assert_int_equal(ph_viewer_set_hint(x->world, x->viewer, other, -1.0), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_viewer_set_hint(x->world, x->viewer, other, 1e7), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_viewer_set_hint(x->world, x->viewer, (ph_entity_id){0}, 1), PH_ERROR_STALE);
    assert_int_equal(ph_viewer_set_hint(x->world, (ph_viewer_id){0}, other, 1), PH_ERROR_STALE);
    inbox_step(&x->box, SEND_US);
    const ph_sender* sender = x->world->viewers.viewers[0].sender;
    assert_true(sender->replicas.weight[slot_of(x, other)] == 2.0f);
    teardown(x);
}

// ---- on the ground

static void the_world_shows_the_ground_as_clients_do(void** state)
{
    (void)state;
    fixture* x = setup();
    const ph_entity_id other = spawn(x, 2, 1000);
    int32_t shown_mm[3];
    assert_int_equal(ph_world_move(x->world, other, 1000, 0, 1100), PH_OK);
    assert_int_equal(
        ph_world_get_property(x->world, other, POSITION, PH_FIELD_I32X3, shown_mm, sizeof shown_mm),
        PH_OK);
    assert_int_equal(shown_mm[2], 1003);
    ph_world_tick(x->world);
    // Within the same step of 16 mm, but out of the tolerance: it flies.
    assert_int_equal(ph_world_move(x->world, other, 1000, 0, 1104), PH_OK);
    assert_true(ph_world_changed_properties(x->world, other) == BIT(POSITION));
    assert_int_equal(
        ph_world_get_property(x->world, other, POSITION, PH_FIELD_I32X3, shown_mm, sizeof shown_mm),
        PH_OK);
    assert_int_equal(shown_mm[2], 1104);
    ph_world_tick(x->world);
    // Anywhere within the tolerance is the same place.
    assert_int_equal(ph_world_move(x->world, other, 1000, 0, 1050), PH_OK);
    ph_world_tick(x->world);
    assert_int_equal(ph_world_move(x->world, other, 1000, 0, 950), PH_OK);
    assert_true(ph_world_changed_properties(x->world, other) == 0);
    teardown(x);
}

// ---- what bits were for

static void every_bit_is_in_the_ledger(void** state)
{
    (void)state;
    test_rng rng = {.state = 4104};
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 20000;
    fixture* x = setup_with(def);
    ph_entity_id ids[30];
    for (int i = 0; i < 30; ++i) {
        ids[i] = spawn(x, 10 + (uint64_t)i, 1000 * i);
    }
    for (int round = 0; round < 300; ++round) {
        for (int i = 0; i < 30; ++i) {
            const int32_t x_mm = (int32_t)test_rng_below(&rng, 300000);
            assert_int_equal(ph_world_move(x->world, ids[i], x_mm, 0, 1003), PH_OK);
            set(x, ids[i], NEAR, (int32_t)test_rng_below(&rng, 100));
            assert_int_equal(ph_world_set_property(x->world, ids[i], FRIEND, PH_FIELD_ENTITY,
                                                   &ids[test_rng_below(&rng, 30)], sizeof ids[0]),
                             PH_OK);
        }
        inbox_step(&x->box, SEND_US);
        const uint64_t fate = test_rng_below(&rng, 4);
        if (x->box.count > 0 && fate < 2) {
            (fate == 0 ? inbox_lose_all : inbox_ack_all)(&x->box);
        }
    }
    const ph_viewer_stats stats = inbox_stats(&x->box);
    uint64_t sum = 0;
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        assert_true((stats.ledger.bits256[reason] > 0) == (reason != PH_REASON_RESERVED));
        sum += stats.ledger.bits256[reason];
    }
    assert_true(sum == 2048 * stats.sent_payload_bytes);
    assert_int_equal(stats.sent_payload_bytes, x->box.bytes);
    assert_int_equal(stats.sent_wire_bytes, stats.sent_payload_bytes + 48 * stats.sent_datagrams);
    assert_true(stats.ledger.resent_bits256 > 0 && stats.ledger.resent_bits256 < sum);
    uint64_t by_property = 0;
    for (int p = 0; p < PROPERTY_COUNT; ++p) {
        by_property += ph_viewer_property_bits256(x->world, x->viewer, 0, p);
    }
    assert_true(by_property == stats.ledger.bits256[PH_REASON_PROPERTY]);
    assert_true(ph_viewer_property_bits256(x->world, x->viewer, 0, PROPERTY_COUNT) == 0);
    assert_true(ph_viewer_property_bits256(x->world, x->viewer, 1, 0) == 0);
    teardown(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_owners_property_goes_to_the_owner_alone),
        cmocka_unit_test(an_audience_gets_what_is_meant_for_it),
        cmocka_unit_test(what_is_sent_once_comes_with_the_enter),
        cmocka_unit_test(a_limited_property_goes_when_it_is_near_enough),
        cmocka_unit_test(a_limited_property_goes_when_the_eye_is_near_enough),
        cmocka_unit_test(a_small_difference_counts_after_a_second),
        cmocka_unit_test(no_entity_waits_for_ever),
        cmocka_unit_test(a_hint_brings_its_entity_forward),
        cmocka_unit_test(a_distant_walk_is_told_in_strides),
        cmocka_unit_test(hints_outlive_a_lack_of_memory),
        cmocka_unit_test(the_world_shows_the_ground_as_clients_do),
        cmocka_unit_test(every_bit_is_in_the_ledger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
