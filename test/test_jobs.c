// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sends to all viewers as jobs: on however many threads and in whichever order they run, every
// viewer gets the same datagrams. Also run under ThreadSanitizer.

#include "support/test_support.h"

#include "base/hash.h"

#include <pinhole/net/pool.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_viewer_gets_the_same_in_any_order),
        cmocka_unit_test(every_viewer_gets_the_same_from_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
