// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a scheduler that wants it is told of changes beside the position.

#include "support/test_support.h"
#include "support/inbox.h"
#include "support/small_world.h"

#include <pinhole/viewer.h>

#include <string.h>

#define SEND_US 200000

// What the scheduler saw last of the one slot that matters.
typedef struct spy {
    int slot;
    float change;
    float visit_change;
    bool has_array;
} spy;

static void rank(void* context, const ph_ranking* ranking)
{
    spy* seen = context;
    seen->has_array = ranking->change != NULL;
    for (int i = 0; i < ranking->slot_count; ++i) {
        ranking->priority[i] = ranking->dirty[i] != 0 ? 1.0f : 0.0f;
    }
    if (seen->has_array && seen->slot >= 0) {
        seen->change = ranking->change[seen->slot];
    }
}

static uint64_t filter(void* context, const ph_visit* visit)
{
    spy* seen = context;
    seen->visit_change = visit->change;
    return visit->significant & visit->diff;
}

static float sent(void* context, float score)
{
    (void)context;
    return score;
}

static float lost(void* context, float score, float score_then)
{
    (void)context;
    (void)score_then;
    return score;
}

typedef struct fixture {
    small_world f;
    ph_viewer_id viewer;
    inbox box;
    spy seen;
    ph_entity_id id;
} fixture;

static fixture shared; // too large for a stack

static fixture* setup_with(bool wants_change)
{
    fixture* x = &shared;
    small_world_setup(&x->f, 64);
    x->seen = (spy){.slot = -1};
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 100000;
    def.scheduler = (ph_scheduler){.name = "spy",
                                   .context = &x->seen,
                                   .rank = rank,
                                   .filter = filter,
                                   .sent = sent,
                                   .lost = lost,
                                   .wants_change = wants_change};
    assert_int_equal(ph_world_add_viewer(x->f.world, &def, &x->viewer), PH_OK);
    inbox_setup(&x->box, x->f.world, x->f.schema, x->viewer);
    x->id = small_world_spawn_at(&x->f, 1, 5000, 0);
    inbox_step(&x->box, SEND_US);
    inbox_ack_all(&x->box);
    x->seen.slot = small_world_slot(&x->f, x->viewer, x->id);
    assert_true(x->seen.slot >= 0);
    return x;
}

static fixture* setup(void)
{
    return setup_with(true);
}

static void teardown(fixture* x)
{
    inbox_teardown(&x->box);
    small_world_teardown(&x->f);
}

static void set_health(fixture* x, uint8_t health)
{
    assert_int_equal(
        ph_world_set_property(x->f.world, x->id, HEALTH, PH_FIELD_U8, &health, sizeof health),
        PH_OK);
}

static void at_rest_nothing_has_changed(void** state)
{
    (void)state;
    fixture* x = setup();
    x->seen.change = 1.0f;
    inbox_step(&x->box, SEND_US);
    assert_true(x->seen.change == 0.0f);
    teardown(x);
}

static void a_walk_is_no_change(void** state)
{
    (void)state;
    fixture* x = setup();
    x->seen.change = 1.0f;
    assert_int_equal(ph_world_move(x->f.world, x->id, 9000, 0, 0), PH_OK);
    inbox_step(&x->box, SEND_US);
    assert_true(x->seen.change == 0.0f);
    teardown(x);
}

static void a_change_counts_until_it_was_sent(void** state)
{
    (void)state;
    fixture* x = setup();
    set_health(x, 50);
    inbox_step(&x->box, SEND_US);
    assert_true(x->seen.change >= 1.0f);
    assert_true(x->seen.visit_change == x->seen.change);
    assert_int_equal(x->box.count, 1);
    inbox_step(&x->box, SEND_US);
    assert_true(x->seen.change == 0.0f);
    teardown(x);
}

static void changes_add_up_as_a_path(void** state)
{
    (void)state;
    fixture* x = setup();
    set_health(x, 50);
    inbox_step(&x->box, SEND_US);
    const float once = x->seen.change;
    set_health(x, 60);
    set_health(x, 50);
    inbox_step(&x->box, SEND_US);
    assert_true(x->seen.change == 2.0f * once);
    assert_int_equal(x->box.count, 0); // nothing differs
    inbox_step(&x->box, SEND_US);
    assert_true(x->seen.change == 0.0f);
    teardown(x);
}

static void what_got_lost_counts_again(void** state)
{
    (void)state;
    fixture* x = setup();
    set_health(x, 50);
    inbox_step(&x->box, SEND_US);
    inbox_lose_all(&x->box);
    inbox_step(&x->box, SEND_US);
    assert_true(x->seen.change >= 1.0f);
    teardown(x);
}

// A new entity takes the slot: what its former entity went through is forgotten.
static void a_newcomer_has_not_changed(void** state)
{
    (void)state;
    fixture* x = setup();
    for (int i = 0; i < 10; ++i) {
        set_health(x, (uint8_t)(10 + i));
        inbox_step(&x->box, SEND_US);
        inbox_ack_all(&x->box);
    }
    assert_int_equal(ph_world_despawn(x->f.world, x->id), PH_OK);
    for (int i = 0; i < 3; ++i) {
        inbox_step(&x->box, SEND_US);
        if (x->box.count > 0) {
            inbox_ack_all(&x->box);
        }
    }
    x->id = small_world_spawn_at(&x->f, 2, 5000, 0);
    inbox_step(&x->box, SEND_US);
    inbox_ack_all(&x->box);
    x->seen.slot = small_world_slot(&x->f, x->viewer, x->id);
    inbox_step(&x->box, SEND_US);
    assert_true(x->seen.change == 0.0f);
    teardown(x);
}

static void a_scheduler_that_does_not_ask_is_told_nothing(void** state)
{
    (void)state;
    fixture* x = setup_with(false);
    set_health(x, 50);
    x->seen.visit_change = 1.0f;
    inbox_step(&x->box, SEND_US);
    assert_false(x->seen.has_array);
    assert_true(x->seen.visit_change == 0.0f);
    teardown(x);
}

// ---- what is not for all viewers

enum { PLACE, HAT, PURSE };

static const ph_property_def secretive[] = {
    [PLACE] = {.name = "place", .coding = PH_CODING_POSITION},
    [HAT] = {.name = "hat", .coding = PH_CODING_ENUM, .count = 8},
    [PURSE] = {.name = "purse", .coding = PH_CODING_VARINT, .audience = PH_AUDIENCE_OWNER},
};

static void discard(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)context;
    (void)viewer;
    (void)bytes;
    (void)size;
}

static void send(ph_world* world, ph_viewer_id viewer)
{
    ph_world_tick(world);
    const uint64_t now_us = (uint64_t)ph_world_tick_count(world) * SEND_US;
    assert_int_equal(ph_viewer_send(world, viewer, now_us, discard, NULL), PH_OK);
}

// What another viewer's scheduler learns when an entity puts on a hat and pays for it.
static float change_with_purse(uint32_t purse)
{
    const ph_class_def class_def = {
        .name = "rich", .properties = secretive, .property_count = PURSE + 1};
    ph_world_def def = ph_world_def_default();
    ph_schema* schema;
    assert_int_equal(ph_schema_create(&class_def, 1, NULL, &schema, NULL), PH_OK);
    def.schema = schema;
    ph_world* world;
    assert_int_equal(ph_world_create(&def, &world), PH_OK);
    spy seen = {.slot = 1};
    ph_viewer_def viewer_def = ph_viewer_def_default();
    viewer_def.scheduler = (ph_scheduler){.name = "spy",
                                          .context = &seen,
                                          .rank = rank,
                                          .filter = filter,
                                          .sent = sent,
                                          .lost = lost,
                                          .wants_change = true};
    ph_viewer_id viewer;
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(world, &(ph_spawn){.key = 1}, &id), PH_OK);
    assert_int_equal(ph_world_add_viewer(world, &viewer_def, &viewer), PH_OK);
    send(world, viewer);
    const uint8_t hat = 3;
    assert_int_equal(ph_world_set_property(world, id, HAT, PH_FIELD_U8, &hat, sizeof hat), PH_OK);
    assert_int_equal(ph_world_set_property(world, id, PURSE, PH_FIELD_U32, &purse, sizeof purse),
                     PH_OK);
    send(world, viewer);
    ph_world_destroy(world);
    ph_schema_destroy(schema);
    return seen.change;
}

static void what_is_for_others_alone_is_not_felt(void** state)
{
    (void)state;
    const float plain = change_with_purse(0);
    assert_true(plain >= 1.0f);
    assert_true(change_with_purse(1000000) == plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_rest_nothing_has_changed),
        cmocka_unit_test(a_walk_is_no_change),
        cmocka_unit_test(a_change_counts_until_it_was_sent),
        cmocka_unit_test(changes_add_up_as_a_path),
        cmocka_unit_test(what_got_lost_counts_again),
        cmocka_unit_test(a_newcomer_has_not_changed),
        cmocka_unit_test(a_scheduler_that_does_not_ask_is_told_nothing),
        cmocka_unit_test(what_is_for_others_alone_is_not_felt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
