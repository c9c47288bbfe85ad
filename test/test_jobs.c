// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sends to all viewers and the refresh of their visions as jobs: on however many threads and in
// whichever order they run, every viewer sees the same and gets the same datagrams. Also run under
// ThreadSanitizer.

#include "support/draw.h"
#include "support/test_memory.h"
#include "support/test_support.h"

#include "base/hash.h"

#include <pinhole/net/pool.h>
#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <string.h>

enum { WALKERS = 60, VIEWERS = 24, GONE = VIEWERS / 2, TICKS = 40, TICK_US = 100000 };
static const char SCHEMA[] = "class walker\n    place: position\n";

// By the number of the viewer, so that each is written by one job at a time.
typedef struct post {
    uint64_t hashes[VIEWERS];
    int datagrams[VIEWERS];
} post;

static void note(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    post* all = context;
    const uint32_t index = viewer.index1 - 1;
    ph_hash hash = ph_hash_make(all->hashes[index]);
    ph_hash_add(&hash, bytes, size);
    all->hashes[index] = ph_hash_value(&hash);
    ++all->datagrams[index];
}

static ph_world* make_world(const ph_schema* schema, ph_profile profile, ph_run_jobs_fn* run_jobs,
                            void* context)
{
    ph_world_def def = ph_world_def_default();
    def.schema = schema;
    def.profile = profile;
    def.tick_us = TICK_US;
    def.run_jobs = run_jobs;
    def.run_jobs_context = context;
    ph_world* world;
    assert_int_equal(ph_world_create(&def, &world), PH_OK);
    for (uint32_t i = 0; i < WALKERS; ++i) {
        assert_int_equal(ph_world_spawn(world, &(ph_spawn){.key = i}, &(ph_entity_id){0}), PH_OK);
    }
    ph_viewer_id ids[VIEWERS];
    for (int32_t i = 0; i < VIEWERS; ++i) {
        ph_viewer_def viewer = ph_viewer_def_default();
        viewer.session = 7;
        viewer.eye_mm[0] = 1000 * i;
        viewer.bits_per_second = 0; // or nothing new would be sent soon, as no client answers
        assert_int_equal(ph_world_add_viewer(world, &viewer, &ids[i]), PH_OK);
    }
    assert_int_equal(ph_world_remove_viewer(world, ids[GONE]), PH_OK);
    return world;
}

static post play(ph_profile profile, ph_run_jobs_fn* run_jobs, void* context)
{
    post all = {{0}, {0}};
    ph_schema* schema;
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &schema, NULL), PH_OK);
    ph_world* world = make_world(schema, profile, run_jobs, context);
    for (int tick = 0; tick < TICKS; ++tick) {
        for (uint32_t i = 0; i < WALKERS; ++i) {
            const int32_t x_mm = (int32_t)i * 900 + tick * (int32_t)(i % 7) * 130;
            ph_world_move(world, ph_world_find(world, i), x_mm, (int32_t)(i % 5) * 2000, 0);
        }
        ph_world_tick(world);
        ph_world_send_all(world, (uint64_t)tick * TICK_US, note, &all);
    }
    ph_world_destroy(world);
    ph_schema_destroy(schema);
    return all;
}

static void backwards(void* context, int count, ph_job_fn* job, void* job_context)
{
    ++*(int*)context;
    for (int i = count; i-- > 0;) {
        job(job_context, i);
    }
}

static void every_viewer_gets_the_same_in_any_order(void** state)
{
    (void)state;
    for (int profile = PH_PROFILE_CLASSIC; profile <= PH_PROFILE_PINHOLE; ++profile) {
        int calls = 0;
        const post plain = play((ph_profile)profile, NULL, NULL);
        const post other = play((ph_profile)profile, backwards, &calls);
        assert_memory_equal(&plain, &other, sizeof plain);
        assert_int_equal(calls, TICKS);
        for (int i = 0; i < VIEWERS; ++i) {
            assert_true(i == GONE ? plain.datagrams[i] == 0 : plain.datagrams[i] >= TICKS / 4);
        }
        assert_true(plain.hashes[0] != plain.hashes[VIEWERS - 1]);
    }
}

static void every_viewer_gets_the_same_from_many_threads(void** state)
{
    (void)state;
    ph_pool* pool = ph_pool_create(4);
    assert_non_null(pool);
    for (int profile = PH_PROFILE_CLASSIC; profile <= PH_PROFILE_PINHOLE; ++profile) {
        const post plain = play((ph_profile)profile, NULL, NULL);
        const post other = play((ph_profile)profile, ph_pool_run_jobs, pool);
        assert_memory_equal(&plain, &other, sizeof plain);
    }
    ph_pool_destroy(pool);
}

// ---- visions, in worlds that are large enough to be shared by several threads

enum { SIGHT_VIEWERS = 520, SIGHT_ENTITIES = 150, SIGHT_TICKS = 4, SIGHT_ROUNDS = 4 };
enum { SIGHT_DELIVERIES = 0, SIGHT_VISIONS, SIGHT_STATS, SIGHT_SUMS };

// Everything that a world shows, in one number each.
typedef struct sight_result {
    uint64_t sums[SIGHT_SUMS];
    int shown_count;
} sight_result;

typedef struct sight_play {
    test_rng rng;
    ph_world* world;
    int32_t side_mm;
    uint64_t next_key;
    ph_viewer_id viewers[SIGHT_VIEWERS];
    uint64_t datagrams[SIGHT_VIEWERS];
    test_memory memory;
} sight_play;

// Depends on nothing but the two, as it must.
static bool is_odd_pair(void* context, ph_viewer_id viewer, ph_entity_id entity)
{
    (void)context;
    return (viewer.index1 * 7 + entity.index1) % 5 != 0;
}

static void note_bytes(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    sight_play* p = context;
    ph_hash hash = ph_hash_make(p->datagrams[viewer.index1 - 1]);
    ph_hash_add(&hash, bytes, size);
    p->datagrams[viewer.index1 - 1] = ph_hash_value(&hash);
}

static int64_t draw_place(sight_play* p)
{
    return (int64_t)test_rng_below(&p->rng, (uint64_t)p->side_mm);
}

static void spawn_one(sight_play* p)
{
    ph_spawn spawn = {
        .key = p->next_key++,
        .position_mm = {draw_place(p), draw_place(p), 0},
        .seen_by = 1u << test_rng_below(&p->rng, 3),
        .is_always_visible = test_rng_below(&p->rng, 200) == 0,
    };
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(p->world, &spawn, &id), PH_OK);
}

static void add_one(sight_play* p, int index, int32_t radius_max_mm)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.entity = test_rng_below(&p->rng, 3) == 0
                     ? (ph_entity_id){0}
                     : ph_world_find(p->world, test_rng_below(&p->rng, p->next_key));
    def.eye_mm[0] = draw_place(p);
    def.eye_mm[1] = draw_place(p);
    def.sees = 7;
    def.radius_mm = radius_max_mm;
    def.visible_max = 20;
    // Most are alike, so that groups of many share their lists.
    if (test_rng_below(&p->rng, 4) == 0) {
        def.sees = (uint32_t)draw_whole(&p->rng, 1, 7);
        def.radius_mm = (int32_t)draw_whole(&p->rng, 1, radius_max_mm);
        def.visible_max = (int)draw_whole(&p->rng, 1, 30);
    }
    def.session = 7;
    assert_int_equal(ph_world_add_viewer(p->world, &def, &p->viewers[index]), PH_OK);
}

static void make_sight(sight_play* p, const ph_schema* schema, ph_pool* pool)
{
    ph_world_def def = draw_world_def(&p->rng);
    // Some of them crowds, in which many are within reach.
    p->side_mm = (int32_t)draw_whole(&p->rng, 1000, INT32_MAX);
    def.schema = schema;
    def.profile = test_rng_below(&p->rng, 2) == 0 ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE;
    def.may_see = test_rng_below(&p->rng, 2) == 0 ? is_odd_pair : NULL;
    def.allocator = test_memory_allocator(&p->memory);
    if (pool != NULL) {
        def.run_jobs = ph_pool_run_jobs;
        def.run_jobs_context = pool;
        def.sends_at_once = ph_pool_thread_count(pool);
    }
    assert_int_equal(ph_world_create(&def, &p->world), PH_OK);
    for (int i = 0; i < SIGHT_ENTITIES; ++i) {
        spawn_one(p);
    }
    for (int i = 0; i < SIGHT_VIEWERS; ++i) {
        add_one(p, i, def.radius_max_mm);
    }
}

// What a game does between two ticks: walks, jumps, spawns, despawns, hides; viewers come and go.
static void change_world(sight_play* p)
{
    for (uint64_t key = 0; key < p->next_key; ++key) {
        const ph_entity_id id = ph_world_find(p->world, key);
        if (id.index1 == 0 || test_rng_below(&p->rng, 2) == 0) {
            continue;
        }
        switch (test_rng_below(&p->rng, 60)) {
        case 0:
            assert_int_equal(ph_world_despawn(p->world, id), PH_OK);
            break;
        case 1:
            assert_int_equal(ph_world_set_visibility(p->world, id, 1u, false, false), PH_OK);
            break;
        default:
            assert_int_equal(ph_world_move(p->world, id, draw_place(p), draw_place(p), 0), PH_OK);
        }
    }
    spawn_one(p);
    const int index = (int)test_rng_below(&p->rng, SIGHT_VIEWERS);
    assert_int_equal(ph_world_remove_viewer(p->world, p->viewers[index]), PH_OK);
    add_one(p, index, ph_world_get_def(p->world)->radius_max_mm);
}

static void add_sum(uint64_t* sum, const void* bytes, size_t size)
{
    ph_hash hash = ph_hash_make(*sum);
    ph_hash_add(&hash, bytes, size);
    *sum = ph_hash_value(&hash);
}

static void note_visions(const sight_play* p, sight_result* result)
{
    uint64_t* sum = &result->sums[SIGHT_VISIONS];
    for (int i = 0; i < SIGHT_VIEWERS; ++i) {
        ph_vision vision;
        assert_int_equal(ph_viewer_get_vision(p->world, p->viewers[i], &vision), PH_OK);
        add_sum(sum, vision.entities, (size_t)vision.slot_count * sizeof *vision.entities);
        add_sum(sum, vision.enters, (size_t)vision.enter_count * sizeof *vision.enters);
        add_sum(sum, vision.leaves, (size_t)vision.leave_count * sizeof *vision.leaves);
        result->shown_count += vision.visible_count;
    }
    const ph_vision_stats stats = ph_world_get_stats(p->world).vision;
    const uint64_t counts[] = {stats.refreshes,  stats.enters,       stats.leaves,
                               stats.slot_waits, stats.split_groups, stats.merged_groups,
                               stats.made_lists, stats.shared_lists};
    add_sum(&result->sums[SIGHT_STATS], counts, sizeof counts);
}

static sight_result play_sight(int round, ph_pool* pool)
{
    static sight_play p; // too large for a stack
    p = (sight_play){.rng = {.state = 5150 + (uint64_t)round}};
    sight_result result = {{0}, 0};
    ph_schema* schema;
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &schema, NULL), PH_OK);
    make_sight(&p, schema, pool);
    for (int tick = 0; tick < SIGHT_TICKS; ++tick) {
        change_world(&p);
        const int allocate_count = p.memory.allocate_count;
        ph_world_tick(p.world);
        assert_int_equal(p.memory.allocate_count, allocate_count);
        ph_world_send_all(p.world, (uint64_t)tick * TICK_US, note_bytes, &p);
        note_visions(&p, &result);
    }
    add_sum(&result.sums[SIGHT_DELIVERIES], p.datagrams, sizeof p.datagrams);
    ph_world_destroy(p.world);
    ph_schema_destroy(schema);
    test_memory_assert_clean(&p.memory);
    return result;
}

static void every_viewer_sees_the_same_on_any_threads_at_any_setting(void** state)
{
    (void)state;
    static const int THREADS[] = {1, 2, 3, 8};
    int shown_count = 0;
    const draw_rounds rounds = draw_rounds_of(SIGHT_ROUNDS);
    for (int round = rounds.first; round < rounds.end; ++round) {
        draw_begin(round);
        const sight_result plain = play_sight(round, NULL);
        for (size_t i = 0; i < sizeof THREADS / sizeof THREADS[0]; ++i) {
            ph_pool* pool = ph_pool_create(THREADS[i]);
            assert_non_null(pool);
            const sight_result other = play_sight(round, pool);
            ph_pool_destroy(pool);
            assert_memory_equal(&plain, &other, sizeof plain);
        }
        shown_count += plain.shown_count;
    }
    draw_end();
    assert_true(shown_count > 1000 * (rounds.end - rounds.first));
}

int main(void)
{
    draw_filter_tests();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_viewer_gets_the_same_in_any_order),
        cmocka_unit_test(every_viewer_gets_the_same_from_many_threads),
        draw_unit_test(every_viewer_sees_the_same_on_any_threads_at_any_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
