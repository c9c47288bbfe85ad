// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client that goes on with another server: worlds that move, both profiles, links that lose. What the game is told, that
// ids and pointers stay, that nothing jumps, and that in the end the view is the new server's.

#include "support/test_memory.h"
#include "support/test_support.h"

#include "client/client_state.h"
#include "tools/tools.h"

#include <pinhole/pinhole.h>

#include <math.h>
#include <string.h>

enum { ENTITIES = 60, KEYS = 200, FRAME_US = 20000, TICK_US = 100000, SPEED_MM = 300 };

static const char SCHEMA[] = "class walker\n"
                             "    place: position\n"
                             "    health: range 0..100\n"
                             "    target: entity\n"
                             "    name: string 12\n"
                             "class stone\n"
                             "    place: position\n";

// What a game keeps of an entity that it was told of.
typedef struct known {
    bool is_known;
    ph_entity_id id;
    ph_pose pose;
    bool has_pose;
    int tag; // the game's pointer points here
} known;

typedef struct scene {
    ph_schema* schema;
    ph_world* world;
    ph_viewer_id viewer;
    ph_entity_id entities[KEYS];
    double place_mm[KEYS][2];
    double step_mm[KEYS][2];
    ph_client* client;
    test_memory memory;
    test_rng rng;
    uint64_t now_us;
    uint32_t session;
    int loss_percent;
    known known[KEYS];
    int counts[3]; // of events
    double largest_jump_mm;
} scene;

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    scene* s = context;
    if ((int)(test_rng_next(&s->rng) % 100) >= s->loss_percent) {
        const ph_result result = ph_client_receive(s->client, s->now_us, bytes, size);
        assert_true(result == PH_OK || result == PH_ERROR_STALE);
    }
}

// ---- the game

static void take_events(scene* s)
{
    for (ph_event event; ph_client_poll(s->client, &event);) {
        assert_true(event.key < KEYS);
        known* it = &s->known[event.key];
        ++s->counts[event.kind];
        switch (event.kind) {
        case PH_EVENT_ENTER:
            assert_false(it->is_known);
            *it = (known){.is_known = true, .id = event.entity};
            assert_null(event.user);
            assert_int_equal(ph_client_set_user(s->client, event.entity, it), PH_OK);
            break;
        case PH_EVENT_UPDATE:
        case PH_EVENT_LEAVE:
            assert_true(it->is_known);
            assert_true(event.user == it);
            assert_int_equal(event.entity.index1, it->id.index1);
            assert_int_equal(event.entity.generation, it->id.generation);
            it->is_known = event.kind == PH_EVENT_UPDATE;
            break;
        }
    }
    assert_true(ph_client_validate(s->client));
}

static void note_pose(scene* s, known* it)
{
    ph_pose pose;
    assert_int_equal(ph_client_get_pose(s->client, it->id, &pose), PH_OK);
    if (it->has_pose) {
        const double moved = hypot(pose.position_mm[0] - it->pose.position_mm[0],
                                   pose.position_mm[1] - it->pose.position_mm[1]);
        s->largest_jump_mm = moved > s->largest_jump_mm ? moved : s->largest_jump_mm;
    }
    it->pose = pose;
    it->has_pose = true;
}

// Each entity that the game knows is there, once, by id, key, slot and pointer.
static void look(scene* s)
{
    int count = 0;
    for (uint64_t key = 0; key < KEYS; ++key) {
        known* it = &s->known[key];
        if (!it->is_known) {
            continue;
        }
        ++count;
        uint64_t same;
        assert_int_equal(ph_client_identify(s->client, it->id, &same, NULL), PH_OK);
        assert_int_equal(same, key);
        assert_true(ph_client_user(s->client, it->id) == it);
        assert_int_equal(ph_client_find(s->client, key).index1, it->id.index1);
        assert_int_equal(ph_client_find(s->client, key).generation, it->id.generation);
        note_pose(s, it);
    }
    assert_int_equal(ph_client_entity_count(s->client), count);
    int listed = 0;
    for (int slot = 0; slot < ph_client_slot_count(s->client); ++slot) {
        const ph_entity_id id = ph_client_entity_at(s->client, slot);
        listed += id.index1 != 0;
        assert_true(id.index1 == 0 || ph_client_is_in_view(s->client, id));
    }
    assert_int_equal(listed, count);
}

// ---- the server

static void spawn(scene* s, uint64_t key)
{
    ph_spawn spawn = {.key = key, .class_index = key % 7 == 6 ? 1 : 0};
    s->place_mm[key][0] = (double)(test_rng_next(&s->rng) % 100000) - 50000.0;
    s->place_mm[key][1] = (double)(test_rng_next(&s->rng) % 100000) - 50000.0;
    const double way = (double)(test_rng_next(&s->rng) % 628) / 100.0;
    s->step_mm[key][0] = SPEED_MM * cos(way);
    s->step_mm[key][1] = SPEED_MM * sin(way);
    spawn.position_mm[0] = (int64_t)s->place_mm[key][0];
    spawn.position_mm[1] = (int64_t)s->place_mm[key][1];
    assert_int_equal(ph_world_spawn(s->world, &spawn, &s->entities[key]), PH_OK);
}

static void add_viewer(scene* s)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.bits_per_second = 100000;
    def.session = s->session += 100000;
    def.entity = s->entities[0];
    def.visible_max = 100;
    assert_int_equal(ph_world_add_viewer(s->world, &def, &s->viewer), PH_OK);
}

static void setup_with(scene* s, ph_profile profile, uint64_t seed)
{
    *s = (scene){.now_us = 1000000, .rng = {.state = seed}, .loss_percent = 5};
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &s->schema, NULL), PH_OK);
    ph_world_def world = ph_world_def_default();
    world.schema = s->schema;
    world.profile = profile;
    world.tick_us = TICK_US;
    assert_int_equal(ph_world_create(&world, &s->world), PH_OK);
    for (uint64_t key = 0; key < ENTITIES; ++key) {
        spawn(s, key);
    }
    ph_client_def def = ph_client_def_default();
    def.schema = s->schema;
    def.profile = profile;
    def.allocator = test_memory_allocator(&s->memory);
    assert_int_equal(ph_client_create(&def, &s->client), PH_OK);
    add_viewer(s);
}

static void teardown_scene(scene* s)
{
    ph_client_destroy(s->client);
    ph_world_destroy(s->world);
    ph_schema_destroy(s->schema);
    test_memory_assert_clean(&s->memory);
}

static void tick_world(scene* s)
{
    for (uint64_t key = 0; key < KEYS; ++key) {
        if (!ph_world_is_alive(s->world, s->entities[key])) {
            continue;
        }
        s->place_mm[key][0] += s->step_mm[key][0];
        s->place_mm[key][1] += s->step_mm[key][1];
        ph_world_move(s->world, s->entities[key], (int64_t)s->place_mm[key][0],
                      (int64_t)s->place_mm[key][1], 0);
    }
    ph_world_tick(s->world);
}

static void answer(scene* s)
{
    uint8_t ack[PH_ACK_SIZE];
    const size_t size = ph_client_write_ack(s->client, s->now_us, ack);
    if (size > 0 && (int)(test_rng_next(&s->rng) % 100) >= s->loss_percent) {
        ph_viewer_receive_ack(s->world, s->viewer, s->now_us, ack, size);
    }
}

// has_server: else it is dead, and the client alone goes on.
static void run(scene* s, int duration_ms, bool has_server)
{
    for (int ms = 0; ms < duration_ms; ms += FRAME_US / 1000) {
        s->now_us += FRAME_US;
        if (s->now_us % TICK_US == 0) {
            tick_world(s);
            if (has_server) {
                ph_viewer_send(s->world, s->viewer, s->now_us, deliver, s);
                answer(s);
            }
        }
        ph_client_advance(s->client, s->now_us);
        take_events(s);
        look(s);
    }
}

static void move(scene* s, ph_profile profile)
{
    ph_world_remove_viewer(s->world, s->viewer);
    add_viewer(s);
    assert_int_equal(ph_client_move(s->client, profile, ph_viewer_slot_count(s->world, s->viewer)),
                     PH_OK);
    assert_true(ph_client_validate(s->client));
}

static void expect_all(const scene* s)
{
    int count = 0;
    for (uint64_t key = 0; key < KEYS; ++key) {
        assert_int_equal(s->known[key].is_known, ph_world_is_alive(s->world, s->entities[key]));
        count += s->known[key].is_known;
    }
    assert_int_equal(ph_client_entity_count(s->client), count);
    assert_null(s->client->former);
}

// ---- tests

// Nothing enters and nothing leaves; what is shown goes on by its own speed, though the server is silent for a while.
static void turn_all(scene* s, double angle)
{
    for (uint64_t key = 0; key < KEYS; ++key) {
        const double x = s->step_mm[key][0];
        const double y = s->step_mm[key][1];
        s->step_mm[key][0] = x * cos(angle) - y * sin(angle);
        s->step_mm[key][1] = x * sin(angle) + y * cos(angle);
    }
}

static void a_game_notices_nothing(ph_profile profile, double jump_max_mm)
{
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        scene s;
        setup_with(&s, profile, seed);
        run(&s, 3000, true);
        expect_all(&s);
        assert_int_equal(s.counts[PH_EVENT_ENTER], ENTITIES);
        const ph_entity_id own = ph_client_entity_at(s.client, 0);
        s.largest_jump_mm = 0.0;
        turn_all(&s, 0.3); // which the client does not know
        run(&s, 900, false);
        move(&s, profile);
        run(&s, 100, false);
        assert_int_equal(ph_client_entity_at(s.client, 0).generation, own.generation);
        run(&s, 4000, true);
        expect_all(&s);
        assert_int_equal(s.counts[PH_EVENT_ENTER], ENTITIES);
        assert_int_equal(s.counts[PH_EVENT_LEAVE], 0);
        assert_int_equal(ph_client_entity_at(s.client, 0).generation, own.generation);
        assert_true(s.largest_jump_mm < jump_max_mm);
        teardown_scene(&s);
    }
}

static void a_game_notices_nothing_pinhole(void** state)
{
    (void)state;
    // 3 m/s are 60 mm in a frame; what a second of silence made wrong is caught up with at a limited speed.
    a_game_notices_nothing(PH_PROFILE_PINHOLE, 300.0);
}

static void a_game_notices_nothing_classic(void** state)
{
    (void)state;
    // Here silence means that an entity stands: what is more than a limit away is shown as one jump.
    a_game_notices_nothing(PH_PROFILE_CLASSIC, 4000.0);
}

static void what_came_and_went_meanwhile_enters_and_leaves_once(void** state)
{
    (void)state;
    scene s;
    setup_with(&s, PH_PROFILE_PINHOLE, 1);
    run(&s, 3000, true);
    for (uint64_t key = 10; key < 20; ++key) {
        ph_world_despawn(s.world, s.entities[key]);
        spawn(&s, key + 100);
    }
    move(&s, PH_PROFILE_PINHOLE);
    run(&s, 300, true);
    assert_true(s.known[15].is_known); // as long as the new view may not be complete
    run(&s, 3000, true);
    expect_all(&s);
    assert_int_equal(s.counts[PH_EVENT_ENTER], ENTITIES + 10);
    assert_int_equal(s.counts[PH_EVENT_LEAVE], 10);
    teardown_scene(&s);
}

// Where something always enters, what is not there leaves all the same.
static void a_view_that_never_rests_settles_in_5_s(void** state)
{
    (void)state;
    scene s;
    setup_with(&s, PH_PROFILE_PINHOLE, 1);
    run(&s, 3000, true);
    ph_world_despawn(s.world, s.entities[5]);
    move(&s, PH_PROFILE_PINHOLE);
    for (uint64_t key = 100; key < 120; ++key) {
        spawn(&s, key);
        run(&s, 300, true);
        assert_int_equal(s.known[5].is_known, key < 100 + 5000 / 300);
    }
    teardown_scene(&s);
}

static void moves_in_a_row_keep_what_is_shown(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        scene s;
        setup_with(&s, PH_PROFILE_PINHOLE, seed);
        run(&s, 3000, true);
        for (int i = 0; i < 6; ++i) {
            move(&s, PH_PROFILE_PINHOLE);
            run(&s, (int)(test_rng_next(&s.rng) % 5) * 100, i % 2 == 0);
        }
        run(&s, 4000, true);
        expect_all(&s);
        assert_int_equal(s.counts[PH_EVENT_ENTER], ENTITIES);
        assert_int_equal(s.counts[PH_EVENT_LEAVE], 0);
        teardown_scene(&s);
    }
}

// A game that does not ask for a while gets the same in the end, and memory does not grow without end.
static void events_that_were_not_fetched_are_kept(void** state)
{
    (void)state;
    scene s;
    setup_with(&s, PH_PROFILE_PINHOLE, 3);
    s.loss_percent = 0;
    for (int i = 0; i < 100; ++i) { // nothing is fetched
        s.now_us += TICK_US;
        tick_world(&s);
        ph_viewer_send(s.world, s.viewer, s.now_us, deliver, &s);
        answer(&s);
        ph_client_advance(s.client, s.now_us);
        if (i % 10 == 9) {
            move(&s, PH_PROFILE_PINHOLE);
        }
        if (i == 50) {
            take_events(&s); // once: some are announced
            ph_world_despawn(s.world, s.entities[7]);
        }
    }
    int depth = 0;
    for (const ph_client* at = s.client; at != NULL; at = at->former) {
        ++depth;
    }
    assert_true(depth <= 3);
    run(&s, 4000, true);
    expect_all(&s);
    assert_int_equal(s.counts[PH_EVENT_ENTER], ENTITIES);
    assert_int_equal(s.counts[PH_EVENT_LEAVE], 1);
    teardown_scene(&s);
}

static void another_class_under_the_same_key_is_another_entity(void** state)
{
    (void)state;
    scene s;
    setup_with(&s, PH_PROFILE_PINHOLE, 1);
    run(&s, 3000, true);
    const ph_entity_id before = s.known[9].id;
    ph_world_despawn(s.world, s.entities[9]);
    ph_world_tick(s.world);
    ph_spawn spawn = {.key = 9, .class_index = 1};
    assert_int_equal(ph_world_spawn(s.world, &spawn, &s.entities[9]), PH_OK);
    move(&s, PH_PROFILE_PINHOLE);
    run(&s, 3000, true);
    assert_int_equal(s.counts[PH_EVENT_ENTER], ENTITIES + 1);
    assert_int_equal(s.counts[PH_EVENT_LEAVE], 1);
    assert_false(ph_client_is_in_view(s.client, before));
    assert_true(ph_client_is_in_view(s.client, s.known[9].id));
    teardown_scene(&s);
}

// Ids of entities that are new at the new server are none that were given before, for entities here or gone.
static void new_ids_are_new(void** state)
{
    (void)state;
    scene s;
    setup_with(&s, PH_PROFILE_PINHOLE, 1);
    run(&s, 3000, true);
    ph_entity_id former[KEYS];
    for (uint64_t key = 0; key < ENTITIES; ++key) {
        former[key] = s.known[key].id;
    }
    for (uint64_t key = 1; key < ENTITIES; key += 2) {
        ph_world_despawn(s.world, s.entities[key]);
        spawn(&s, 100 + key);
    }
    move(&s, PH_PROFILE_PINHOLE);
    run(&s, 5000, true);
    expect_all(&s);
    for (uint64_t key = 0; key < ENTITIES; ++key) {
        assert_int_equal(ph_client_is_in_view(s.client, former[key]), key % 2 == 0);
    }
    teardown_scene(&s);
}

static void references_are_ids_that_the_game_knows(void** state)
{
    (void)state;
    scene s;
    setup_with(&s, PH_PROFILE_PINHOLE, 1);
    for (uint64_t key = 0; key < 6; ++key) {
        assert_int_equal(ph_world_set_property(s.world, s.entities[key], 2, PH_FIELD_ENTITY,
                                               &s.entities[(key + 3) % 6], sizeof(ph_entity_id)),
                         PH_OK);
    }
    run(&s, 3000, true);
    for (int round = 0; round < 40; ++round) {
        for (uint64_t key = 0; key < 6; ++key) {
            ph_entity_id target;
            assert_int_equal(ph_client_get_property(s.client, s.known[key].id, 2, PH_FIELD_ENTITY,
                                                    &target, sizeof target),
                             PH_OK);
            const known* it = &s.known[(key + 3) % 6];
            const bool is_it =
                target.index1 == it->id.index1 && target.generation == it->id.generation;
            assert_true(is_it || (target.index1 == 0 && round > 0 && round < 39));
        }
        if (round == 0) {
            move(&s, PH_PROFILE_PINHOLE);
        }
        run(&s, 100, true);
    }
    teardown_scene(&s);
}

static void a_move_without_memory_changes_nothing(void** state)
{
    (void)state;
    scene s;
    setup_with(&s, PH_PROFILE_PINHOLE, 1);
    run(&s, 3000, true);
    for (int allowed = 0; allowed < 40; ++allowed) {
        s.memory.fail_at = s.memory.allocate_count + 1 + allowed;
        const ph_result result = ph_client_move(s.client, PH_PROFILE_PINHOLE, 200);
        s.memory.fail_at = 0;
        if (result == PH_OK) {
            break;
        }
        assert_int_equal(result, PH_ERROR_MEMORY);
        assert_true(ph_client_validate(s.client));
        run(&s, 100, true);
        expect_all(&s);
    }
    assert_non_null(s.client->former);
    assert_int_equal(ph_client_move(s.client, PH_PROFILE_PINHOLE, 1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_client_move(s.client, (ph_profile)7, 100), PH_ERROR_ARGUMENT);
    teardown_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_game_notices_nothing_pinhole),
        cmocka_unit_test(a_game_notices_nothing_classic),
        cmocka_unit_test(what_came_and_went_meanwhile_enters_and_leaves_once),
        cmocka_unit_test(a_view_that_never_rests_settles_in_5_s),
        cmocka_unit_test(moves_in_a_row_keep_what_is_shown),
        cmocka_unit_test(events_that_were_not_fetched_are_kept),
        cmocka_unit_test(another_class_under_the_same_key_is_another_entity),
        cmocka_unit_test(new_ids_are_new),
        cmocka_unit_test(references_are_ids_that_the_game_knows),
        cmocka_unit_test(a_move_without_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
