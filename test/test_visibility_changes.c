// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is hidden counts at once, not from the next tick: between a tick and a send entities are
// hidden and shown, and viewers lose what was theirs.

#include "test_support.h"

#include <pinhole/client.h>
#include <pinhole/viewer.h>
#include <pinhole/stats.h>

#include "base/hash.h"
#include "tools/tools.h"

#include <string.h>

enum { TARGET = 1, SECRET = 1 };
#define SEND_US UINT64_C(100000)
#define SEEN 1u
#define HIDDEN 2u

typedef struct fixture {
    ph_schema* schema;
    ph_world* world;
    ph_viewer_id viewer;
    ph_client* client;
    uint64_t now_us;
} fixture;

static void setup(fixture* f, const char* text)
{
    *f = (fixture){.now_us = 1000000};
    assert_int_equal(ph_schema_parse(text, strlen(text), NULL, &f->schema, NULL), PH_OK);
    ph_world_def world = ph_world_def_default();
    world.schema = f->schema;
    world.vision.stay_ticks = 0;
    assert_int_equal(ph_world_create(&world, &f->world), PH_OK);
    ph_client_def client = ph_client_def_default();
    client.schema = f->schema;
    assert_int_equal(ph_client_create(&client, &f->client), PH_OK);
}

static void join(fixture* f, ph_entity_id own)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.entity = own;
    def.sees = SEEN;
    assert_int_equal(ph_world_add_viewer(f->world, &def, &f->viewer), PH_OK);
}

static void teardown(fixture* f)
{
    assert_true(ph_world_validate(f->world));
    ph_client_destroy(f->client);
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
}

static ph_entity_id spawn(fixture* f, uint64_t name, int32_t x_mm)
{
    ph_entity_id id;
    const ph_spawn def = {.key = name, .position_mm = {x_mm, 0, 0}};
    assert_int_equal(ph_world_spawn(f->world, &def, &id), PH_OK);
    return id;
}

static void set_seen_by(fixture* f, ph_entity_id entity, uint32_t seen_by)
{
    assert_int_equal(ph_world_set_visibility(f->world, entity, seen_by, false, false), PH_OK);
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    fixture* f = context;
    assert_int_equal(ph_client_receive(f->client, f->now_us, bytes, size), PH_OK);
}

static void send(fixture* f)
{
    f->now_us += SEND_US;
    assert_int_equal(ph_viewer_send(f->world, f->viewer, f->now_us, deliver, f), PH_OK);
    uint8_t ack[PH_ACK_SIZE];
    const size_t size = ph_client_write_ack(f->client, f->now_us, ack);
    assert_int_equal(ph_viewer_receive_ack(f->world, f->viewer, f->now_us, ack, size), PH_OK);
}

static void step(fixture* f, int times)
{
    for (int i = 0; i < times; ++i) {
        ph_world_tick(f->world);
        send(f);
    }
}

static void point(fixture* f, ph_entity_id from, ph_entity_id to)
{
    assert_int_equal(ph_world_set_property(f->world, from, TARGET, PH_FIELD_ENTITY, &to, sizeof to),
                     PH_OK);
}

// The entity that it refers to at the client; 0: none.
static uint64_t target_of(const fixture* f, uint64_t name)
{
    ph_entity_id target = {0};
    assert_int_equal(ph_client_get_property(f->client, ph_client_find(f->client, name), TARGET,
                                            PH_FIELD_ENTITY, &target, sizeof target),
                     PH_OK);
    uint64_t found = 0;
    if (target.index1 != 0) {
        assert_int_equal(ph_client_identify(f->client, target, &found, NULL), PH_OK);
    }
    return found;
}

static const char POINTING[] = "class d\n    place: position\n    target: entity\n";

static void a_reference_to_an_entity_just_hidden_is_none(void** state)
{
    (void)state;
    fixture f;
    setup(&f, POINTING);
    join(&f, (ph_entity_id){0});
    const ph_entity_id from = spawn(&f, 2, 1000);
    const ph_entity_id hidden = spawn(&f, 3, 2000);
    const ph_entity_id other = spawn(&f, 4, 3000);
    step(&f, 4);
    point(&f, from, other);
    ph_world_tick(f.world);
    set_seen_by(&f, hidden, HIDDEN);
    point(&f, from, hidden);
    send(&f);
    assert_int_equal(target_of(&f, 2), 0);
    // Shown again before a send.
    set_seen_by(&f, hidden, SEEN);
    send(&f);
    assert_int_equal(target_of(&f, 2), 3);
    teardown(&f);
}

// Its reference becomes one to an entity in view while it is hidden for a moment.
static void a_reference_of_an_entity_hidden_for_a_moment_is_sent(void** state)
{
    (void)state;
    fixture f;
    setup(&f, POINTING);
    join(&f, (ph_entity_id){0});
    const ph_entity_id from = spawn(&f, 2, 1000);
    step(&f, 4);
    const ph_entity_id to = spawn(&f, 3, 2000);
    point(&f, from, to);
    step(&f, 1); // its enter is sent and acknowledged
    set_seen_by(&f, from, HIDDEN);
    send(&f);
    set_seen_by(&f, from, SEEN);
    step(&f, 3);
    assert_int_equal(target_of(&f, 2), 3);
    ph_viewer_stats stats;
    ph_viewer_get_stats(f.world, f.viewer, &stats);
    assert_false(stats.has_diff);
    teardown(&f);
}

enum { CROWD = 30 };

typedef struct tale {
    fixture f;
    ph_hash packets;
} tale;

static void note(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    tale* t = context;
    ph_hash_add(&t->packets, bytes, size);
    deliver(&t->f, viewer, bytes, size);
}

static void turn(fixture* f, ph_entity_id entity, double heading_deg)
{
    assert_int_equal(
        ph_world_set_property(f->world, entity, 1, PH_FIELD_F64, &heading_deg, sizeof heading_deg),
        PH_OK);
}

// An entity turns there and back while it is hidden, or does not; then it is shown, and comes near
// enough for its heading to be told.
static uint64_t hash_of_packets(bool has_turned)
{
    static tale t;
    fixture* f = &t.f;
    setup(
        f,
        "class d\n    place: position\n    heading: angle 8 turn 360 distance 50 significant 30\n");
    t.packets = ph_hash_make(0);
    ph_viewer_def def = ph_viewer_def_default();
    def.sees = SEEN;
    def.bits_per_second = 6000;
    assert_int_equal(ph_world_add_viewer(f->world, &def, &f->viewer), PH_OK);
    ph_entity_id crowd[CROWD];
    for (int i = 0; i < CROWD; ++i) {
        crowd[i] = spawn(f, 10 + (uint64_t)i, 5000 + i * 100);
    }
    const ph_entity_id hidden = spawn(f, 1, 60000);
    set_seen_by(f, hidden, HIDDEN);
    turn(f, hidden, 10.0);
    for (int step = 0; step < 160; ++step) {
        for (int i = 0; i < CROWD; ++i) {
            ph_world_move(f->world, crowd[i], 5000 + i * 100, step * 700 % 9000, 0);
        }
        if (has_turned && (step == 98 || step == 99)) {
            turn(f, hidden, step == 98 ? 90.0 : 10.0);
        }
        if (step == 100) {
            ph_viewer_set_hint(f->world, f->viewer, hidden, 1000.0);
            set_seen_by(f, hidden, SEEN);
        }
        if (step >= 103) {
            ph_world_move(f->world, hidden, 4000, step * 900 - 50000, 0);
        }
        ph_world_tick(f->world);
        f->now_us += SEND_US;
        ph_viewer_send(f->world, f->viewer, f->now_us, note, &t);
        uint8_t ack[PH_ACK_SIZE];
        const size_t size = ph_client_write_ack(f->client, f->now_us, ack);
        ph_viewer_receive_ack(f->world, f->viewer, f->now_us, ack, size);
    }
    teardown(f);
    return ph_hash_value(&t.packets);
}

static void when_something_changed_while_it_was_hidden_is_a_secret(void** state)
{
    (void)state;
    assert_true(hash_of_packets(false) == hash_of_packets(true));
}

static void set_secret(fixture* f, ph_entity_id entity, int32_t value)
{
    assert_int_equal(
        ph_world_set_property(f->world, entity, SECRET, PH_FIELD_I32, &value, sizeof value), PH_OK);
}

static void what_only_an_owner_knows_ends_with_owning(void** state)
{
    (void)state;
    for (int is_hidden = 0; is_hidden < 2; ++is_hidden) {
        fixture f;
        setup(&f, "class d\n    place: position\n    secret: range 0..1000 owner\n");
        const ph_entity_id own = spawn(&f, 2, 1000);
        join(&f, own);
        set_secret(&f, own, 3);
        step(&f, 4);
        set_secret(&f, own, 5);
        ph_world_tick(f.world);
        assert_int_equal(ph_viewer_set_entity(f.world, f.viewer, (ph_entity_id){0}), PH_OK);
        set_secret(&f, own, 777);
        if (is_hidden != 0) {
            set_seen_by(&f, own, HIDDEN);
        }
        send(&f);
        int32_t known = 0;
        ph_client_get_property(f.client, ph_client_find(f.client, 2), SECRET, PH_FIELD_I32, &known,
                               sizeof known);
        assert_int_equal(known, 3);
        teardown(&f);
    }
}

// Findings of pinhole soak: the visibility of an entity that the viewer never saw is set between a tick and
// a send. What happens to other entities must not look different for it.

typedef struct elsewhere {
    fixture f;
    ph_entity_id secret;
    bool is_set; // the visibility of the secret, at every step
    ph_hash packets;
} elsewhere;

static void setup_elsewhere(elsewhere* e, const char* text, bool is_set, ph_scheduler scheduler)
{
    *e = (elsewhere){.is_set = is_set, .packets = ph_hash_make(0)};
    setup(&e->f, text);
    ph_viewer_def def = ph_viewer_def_default();
    def.sees = SEEN;
    def.scheduler = scheduler;
    assert_int_equal(ph_world_add_viewer(e->f.world, &def, &e->f.viewer), PH_OK);
    e->secret = spawn(&e->f, 1, 500);
    set_seen_by(&e->f, e->secret, HIDDEN);
}

static void set_secret_elsewhere(elsewhere* e)
{
    if (e->is_set) {
        set_seen_by(&e->f, e->secret, HIDDEN);
    }
}

// A reference that is set behind the tick is found at the next one.
static void what_is_hidden_elsewhere_hurries_no_reference(void** state)
{
    (void)state;
    for (int is_set = 0; is_set < 2; ++is_set) {
        elsewhere e;
        setup_elsewhere(&e, POINTING, is_set != 0, ph_scheduler_error());
        const ph_entity_id from = spawn(&e.f, 2, 1000);
        const ph_entity_id to = spawn(&e.f, 3, 2000);
        const ph_entity_id other = spawn(&e.f, 4, 3000);
        point(&e.f, from, other);
        step(&e.f, 6);
        assert_int_equal(target_of(&e.f, 2), 4);
        ph_world_tick(e.f.world);
        set_secret_elsewhere(&e);
        send(&e.f);
        ph_world_tick(e.f.world);
        point(&e.f, from, to);
        send(&e.f);
        assert_int_equal(target_of(&e.f, 2), 4);
        step(&e.f, 1);
        assert_int_equal(target_of(&e.f, 2), 3);
        teardown(&e.f);
    }
}

static void note_elsewhere(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    elsewhere* e = context;
    ph_hash_add(&e->packets, bytes, size);
    deliver(&e->f, viewer, bytes, size);
}

// Some walk, and one after the other is despawned between a tick and a send.
static uint64_t hash_of_despawns(bool is_set, ph_scheduler scheduler)
{
    elsewhere e;
    fixture* f = &e.f;
    setup_elsewhere(&e, POINTING, is_set, scheduler);
    ph_entity_id crowd[CROWD];
    for (int i = 0; i < CROWD; ++i) {
        crowd[i] = spawn(f, 10 + (uint64_t)i, 5000 + i * 3000);
        point(f, crowd[i], crowd[i / 2]);
    }
    for (int step_count = 0; step_count < 2 * CROWD; ++step_count) {
        const int gone = step_count / 2;
        for (int i = gone; i < CROWD; ++i) {
            ph_world_move(f->world, crowd[i], 5000 + i * 3000, step_count * 70 * (i % 5), 0);
        }
        ph_world_tick(f->world);
        if (step_count % 2 == 1) {
            set_secret_elsewhere(&e);
            assert_int_equal(ph_world_despawn(f->world, crowd[gone]), PH_OK);
        }
        f->now_us += SEND_US;
        if (ph_viewer_is_send_due(f->world, f->viewer, f->now_us)) {
            ph_viewer_send(f->world, f->viewer, f->now_us, note_elsewhere, &e);
        }
        uint8_t ack[PH_ACK_SIZE];
        const size_t size = ph_client_write_ack(f->client, f->now_us, ack);
        ph_viewer_receive_ack(f->world, f->viewer, f->now_us, ack, size);
    }
    teardown(f);
    return ph_hash_value(&e.packets);
}

static void what_is_hidden_elsewhere_changes_no_packet(void** state)
{
    (void)state;
    const ph_scheduler schedulers[] = {ph_scheduler_score(), ph_scheduler_buckets(),
                                       ph_scheduler_error()};
    for (int i = 0; i < 3; ++i) {
        assert_true(hash_of_despawns(false, schedulers[i]) ==
                    hash_of_despawns(true, schedulers[i]));
    }
}

static bool answer_of_the_game(void* context, ph_viewer_id viewer, ph_entity_id entity)
{
    (void)viewer;
    (void)entity;
    return *(const bool*)context;
}

// What is seen at any distance leaves when the game says no.
static void the_game_refuses_what_is_always_seen(void** state)
{
    (void)state;
    fixture f;
    bool may_see = true;
    setup(&f, POINTING);
    ph_world_destroy(f.world);
    ph_world_def def = ph_world_def_default();
    def.schema = f.schema;
    def.vision.stay_ticks = 0;
    def.may_see = answer_of_the_game;
    def.may_see_context = &may_see;
    assert_int_equal(ph_world_create(&def, &f.world), PH_OK);
    join(&f, (ph_entity_id){0});
    const ph_entity_id beacon = spawn(&f, 2, 1000);
    assert_int_equal(ph_world_set_visibility(f.world, beacon, SEEN, true, false), PH_OK);
    step(&f, 4);
    assert_true(ph_client_find(f.client, 2).index1 != 0);
    may_see = false;
    step(&f, 4);
    assert_int_equal(ph_client_find(f.client, 2).index1, 0);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reference_to_an_entity_just_hidden_is_none),
        cmocka_unit_test(a_reference_of_an_entity_hidden_for_a_moment_is_sent),
        cmocka_unit_test(when_something_changed_while_it_was_hidden_is_a_secret),
        cmocka_unit_test(what_only_an_owner_knows_ends_with_owning),
        cmocka_unit_test(what_is_hidden_elsewhere_hurries_no_reference),
        cmocka_unit_test(what_is_hidden_elsewhere_changes_no_packet),
        cmocka_unit_test(the_game_refuses_what_is_always_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
