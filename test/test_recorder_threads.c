// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One thread ticks and records, another one drains at the same time, now and then too slowly. What was taken is read
// back as it was; under ThreadSanitizer nothing is shared without order.

#include "support/test_support.h"

#include <pinhole/recorder.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 200, TICKS = 3000, FILE_MAX = 1 << 23 };

typedef struct drainer {
    ph_recorder* recorder;
    uint8_t* bytes;
    size_t size;
    atomic_bool is_over;
} drainer;

static bool write_file(void* context, const void* bytes, size_t size)
{
    drainer* to = context;
    if (to->size + size > FILE_MAX) {
        return false;
    }
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return true;
}

static void* drain_all(void* context)
{
    drainer* of = context;
    while (!atomic_load(&of->is_over)) {
        ph_recorder_drain(of->recorder, write_file, of);
    }
    return NULL;
}

static int64_t place_of(int tick, uint64_t key)
{
    return (int64_t)tick * (int64_t)(key % 7) + (int64_t)key * 1000;
}

static ph_world* make_world(const ph_schema* schema, ph_entity_id* ids)
{
    ph_world_def def = ph_world_def_default();
    ph_world* world;
    def.schema = schema;
    assert_int_equal(ph_world_create(&def, &world), PH_OK);
    for (int i = 0; i < ENTITIES; ++i) {
        const ph_spawn spawn = {.key = (uint64_t)i};
        assert_int_equal(ph_world_spawn(world, &spawn, &ids[i]), PH_OK);
    }
    return world;
}

static int assert_read_back(const drainer* of)
{
    ph_replay* replay;
    int count = 0;
    assert_int_equal(ph_replay_create(of->bytes, of->size, NULL, &replay, NULL), PH_OK);
    while (ph_replay_next(replay)) {
        for (uint64_t key = 0; key < ENTITIES; ++key) {
            ph_replay_entity entity;
            assert_true(ph_replay_get(replay, ph_replay_find(replay, key), &entity));
            assert_int_equal(entity.position_mm[0], place_of((int)ph_replay_tick(replay), key));
        }
        ++count;
    }
    assert_int_equal(ph_replay_get_damage(replay).damaged_places, 0);
    ph_replay_destroy(replay);
    return count;
}

static void a_recorder_is_drained_while_it_takes_ticks(void** state)
{
    (void)state;
    static const char SCHEMA[] = "class walker\n    place: position\n";
    ph_schema* schema;
    ph_entity_id ids[ENTITIES];
    assert_int_equal(ph_schema_parse(SCHEMA, strlen(SCHEMA), NULL, &schema, NULL), PH_OK);
    ph_world* world = make_world(schema, ids);
    drainer of = {.bytes = malloc(FILE_MAX)};
    assert_non_null(of.bytes);
    ph_recorder_def def = ph_recorder_def_default();
    def.world = world;
    def.buffer_bytes = 65536; // ten ticks: sometimes full
    assert_int_equal(ph_recorder_create(&def, &of.recorder), PH_OK);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, drain_all, &of), 0);
    int taken = 0;
    for (int tick = 0; tick < TICKS; ++tick) {
        for (int i = 0; i < ENTITIES; ++i) {
            ph_world_move(world, ids[i], place_of(tick, (uint64_t)i), tick, 0);
        }
        ph_world_tick(world);
        taken += ph_recorder_tick(of.recorder) == PH_OK;
    }
    atomic_store(&of.is_over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(ph_recorder_finish(of.recorder, write_file, &of), PH_OK);
    const ph_recorder_stats stats = ph_recorder_get_stats(of.recorder);
    assert_true(taken > 10);
    assert_int_equal(stats.ticks, taken);
    assert_int_equal(stats.ticks + stats.dropped_ticks, TICKS);
    assert_int_equal(assert_read_back(&of), taken);
    ph_recorder_destroy(of.recorder);
    ph_world_destroy(world);
    ph_schema_destroy(schema);
    free(of.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recorder_is_drained_while_it_takes_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
