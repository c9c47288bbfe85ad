// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Recorders and replays: every tick comes back as the world was, with any schema; what is cut off, damaged or not
// written takes no more with it than its part; the tick never waits; memory.

#include "support/draw.h"
#include "support/session_values.h"
#include "support/test_memory.h"
#include "support/test_support.h"

#include "base/hash.h"
#include "journal/journal_part.h"
#include "schema/property.h"

#include <pinhole/recorder.h>

#include <stdlib.h>
#include <string.h>

enum { AREA_MM = 100000, KEYS_MAX = 8000, TICKS_MAX = 80000, ROUNDS = 12, FILE_MAX = 1 << 22 };

typedef struct written_file {
    uint8_t* bytes;
    size_t size;
    int calls;
    int fails_at; // the call that fails, from 1; 0: none
} written_file;

typedef struct fixture {
    test_rng rng;
    ph_schema* schema;
    ph_world* world;
    ph_recorder* recorder;
    uint64_t keys[KEYS_MAX];
    int key_count;
    written_file file;
    uint64_t* hashes; // of the world at each tick
    int tick_count;
    int taken_count; // ticks for which there was room
    test_memory memory;
} fixture;

static bool write_file(void* context, const void* bytes, size_t size)
{
    written_file* to = context;
    if (++to->calls == to->fails_at) {
        return false;
    }
    assert_true(to->size + size <= FILE_MAX);
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return true;
}

// ---- what a world is at a tick: a sum over its entities, as their order means nothing

typedef union any_value {
    uint8_t bytes[2 + PH_TEXT_LENGTH_MAX + 1];
    uint64_t key;
    ph_entity_id id;
    double align;
} any_value;

static size_t size_of_value(const ph_property_def* def)
{
    return ph_field_size(ph_coding_field(def->coding), def->max_length);
}

static uint64_t hash_entity(const ph_replay_entity* entity, ph_hash* values)
{
    ph_hash_add_u64(values, entity->key);
    ph_hash_add_u64(values, (uint64_t)entity->class_index);
    for (int i = 0; i < 3; ++i) {
        ph_hash_add_u64(values, (uint32_t)entity->position_mm[i]);
    }
    ph_hash_add_u64(values, entity->seen_by);
    ph_hash_add_u64(values, entity->is_always_visible + 2u * entity->is_never_visible);
    return ph_hash_value(values);
}

static uint64_t hash_world_entity(const ph_world* world, const ph_schema* schema, ph_entity_id id)
{
    ph_spawn spawn;
    assert_int_equal(ph_world_describe(world, id, &spawn), PH_OK);
    const ph_class_def* type = ph_schema_class(schema, spawn.class_index);
    ph_hash hash = ph_hash_make(0);
    for (int p = 0; p < type->property_count; ++p) {
        const ph_property_def* def = &type->properties[p];
        any_value value = {{0}};
        if (def->coding == PH_CODING_POSITION) {
            continue;
        }
        assert_int_equal(ph_world_get_property(world, id, p, ph_coding_field(def->coding), &value,
                                               size_of_value(def)),
                         PH_OK);
        if (def->coding == PH_CODING_ENTITY) {
            uint64_t key = 0;
            const bool is_named = ph_world_identify(world, value.id, &key, NULL) == PH_OK;
            ph_hash_add_u64(&hash, is_named ? key : UINT64_C(0xEEEE));
        } else {
            ph_hash_add(&hash, &value, size_of_value(def));
        }
    }
    const ph_replay_entity entity = {
        .key = spawn.key,
        .class_index = spawn.class_index,
        .position_mm = {(int32_t)spawn.position_mm[0], (int32_t)spawn.position_mm[1],
                        (int32_t)spawn.position_mm[2]},
        .seen_by = spawn.seen_by,
        .is_always_visible = spawn.is_always_visible,
        .is_never_visible = spawn.is_never_visible,
    };
    return hash_entity(&entity, &hash);
}

static uint64_t hash_world(const ph_world* world, const ph_schema* schema)
{
    uint64_t sum = 0;
    for (int i = 0; i < ph_world_entity_count(world); ++i) {
        sum += hash_world_entity(world, schema, ph_world_live_entity(world, i));
    }
    return sum;
}

static uint64_t hash_replay_entity(const ph_replay* replay, int place,
                                   const ph_replay_entity* entity)
{
    const ph_class_def* type = ph_schema_class(ph_replay_schema(replay), entity->class_index);
    ph_hash hash = ph_hash_make(0);
    for (int p = 0; p < type->property_count; ++p) {
        const ph_property_def* def = &type->properties[p];
        any_value value = {{0}};
        if (def->coding == PH_CODING_POSITION) {
            continue;
        }
        if (def->coding == PH_CODING_ENTITY) {
            const ph_result result =
                ph_replay_get_property(replay, place, p, PH_FIELD_U64, &value, sizeof value.key);
            assert_true(result == PH_OK || result == PH_ERROR_STALE);
            ph_hash_add_u64(&hash, result == PH_OK ? value.key : UINT64_C(0xEEEE));
        } else {
            assert_int_equal(ph_replay_get_property(replay, place, p, ph_coding_field(def->coding),
                                                    &value, size_of_value(def)),
                             PH_OK);
            ph_hash_add(&hash, &value, size_of_value(def));
        }
    }
    return hash_entity(entity, &hash);
}

static uint64_t hash_replay(const ph_replay* replay)
{
    uint64_t sum = 0;
    for (int place = 0; place < ph_replay_place_count(replay); ++place) {
        ph_replay_entity entity;
        if (ph_replay_get(replay, place, &entity)) {
            assert_int_equal(ph_replay_find(replay, entity.key), place);
            sum += hash_replay_entity(replay, place, &entity);
        }
    }
    return sum;
}

// ---- a game

static void setup_at(fixture* f, uint64_t seed, const char* schema_text, int buffer_bytes,
                     uint32_t tick_us)
{
    *f = (fixture){.rng = {.state = seed},
                   .file.bytes = malloc(FILE_MAX),
                   .hashes = calloc(TICKS_MAX, sizeof *f->hashes)};
    assert_true(f->file.bytes != NULL && f->hashes != NULL);
    if (schema_text != NULL) {
        assert_int_equal(ph_schema_parse(schema_text, strlen(schema_text), NULL, &f->schema, NULL),
                         PH_OK);
    } else {
        f->schema = draw_schema(&f->rng, &(draw_schema_limits){4, 12});
    }
    ph_world_def world = ph_world_def_default();
    world.schema = f->schema;
    world.entity_capacity = 4;
    world.tick_us = tick_us;
    assert_int_equal(ph_world_create(&world, &f->world), PH_OK);
    ph_recorder_def def = ph_recorder_def_default();
    def.world = f->world;
    def.buffer_bytes = buffer_bytes;
    def.allocator = test_memory_allocator(&f->memory);
    assert_int_equal(ph_recorder_create(&def, &f->recorder), PH_OK);
}

// A part for each tick, a key part for every ten.
static void setup_with(fixture* f, uint64_t seed, const char* schema_text, int buffer_bytes)
{
    setup_at(f, seed, schema_text, buffer_bytes, 1000000);
}

static void teardown(fixture* f)
{
    ph_recorder_destroy(f->recorder);
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
    free(f->file.bytes);
    free(f->hashes);
    test_memory_assert_clean(&f->memory);
}

static int64_t draw_coordinate(fixture* f)
{
    return test_rng_below(&f->rng, 50) == 0 ? draw_whole(&f->rng, INT32_MIN, INT32_MAX)
                                            : draw_whole(&f->rng, -AREA_MM, AREA_MM);
}

static void set_some(fixture* f, ph_entity_id id)
{
    int class_index;
    ph_entity_id targets[3];
    for (int i = 0; i < 3; ++i) {
        targets[i] =
            ph_world_find(f->world, f->keys[test_rng_below(&f->rng, (uint64_t)f->key_count)]);
    }
    assert_int_equal(ph_world_identify(f->world, id, NULL, &class_index), PH_OK);
    const ph_class_def* type = ph_schema_class(f->schema, class_index);
    for (int p = 0; p < type->property_count; ++p) {
        if (type->properties[p].coding != PH_CODING_POSITION && test_rng_below(&f->rng, 3) == 0) {
            session_value_set_wide(f->world, id, &type->properties[p], p, &f->rng, targets, 3);
        }
    }
}

static void spawn_any(fixture* f, uint64_t key)
{
    const ph_spawn spawn = {
        .class_index = (int)test_rng_below(&f->rng, (uint64_t)ph_schema_class_count(f->schema)),
        .key = key,
        .position_mm = {draw_coordinate(f), draw_coordinate(f), 5},
        .seen_by = (uint32_t)test_rng_below(&f->rng, 3),
        .is_never_visible = test_rng_below(&f->rng, 10) == 0,
    };
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(f->world, &spawn, &id), PH_OK);
    set_some(f, id);
}

static void spawn_new(fixture* f)
{
    assert_true(f->key_count < KEYS_MAX);
    const uint64_t key =
        test_rng_below(&f->rng, 4) == 0 ? test_rng_next(&f->rng) : (uint64_t)f->key_count + 1;
    f->keys[f->key_count++] = key;
    spawn_any(f, key);
}

static void change_one(fixture* f)
{
    const uint64_t key = f->keys[test_rng_below(&f->rng, (uint64_t)f->key_count)];
    const ph_entity_id id = ph_world_find(f->world, key);
    if (id.index1 == 0) {
        return;
    }
    switch (test_rng_below(&f->rng, 8)) {
    case 0:
        assert_int_equal(ph_world_despawn(f->world, id), PH_OK);
        if (test_rng_below(&f->rng, 2) == 0) {
            spawn_any(f, key);
        }
        break;
    case 1:
        assert_int_equal(ph_world_set_visibility(f->world, id, (uint32_t)test_rng_next(&f->rng),
                                                 test_rng_below(&f->rng, 2) == 0, false),
                         PH_OK);
        break;
    case 2:
        spawn_new(f);
        break;
    case 3:
        ph_world_jump(f->world, id, draw_coordinate(f), draw_coordinate(f), 0);
        break;
    case 4:
    case 5:
        ph_world_move(f->world, id, draw_coordinate(f), draw_coordinate(f), 0);
        break;
    default:
        set_some(f, id);
    }
}

static ph_result tick(fixture* f)
{
    ph_world_tick(f->world);
    const ph_result result = ph_recorder_tick(f->recorder);
    assert_true(f->tick_count < TICKS_MAX);
    f->hashes[f->tick_count++] = hash_world(f->world, f->schema);
    f->taken_count += result == PH_OK;
    return result;
}

static void play(fixture* f, int ticks, int changes)
{
    for (int t = 0; t < ticks; ++t) {
        for (int i = 0; i < changes; ++i) {
            change_one(f);
        }
        tick(f);
        ph_recorder_drain(f->recorder, write_file, &f->file);
    }
}

static void begin_play(fixture* f, int entities, int ticks, int changes)
{
    for (int i = 0; i < entities; ++i) {
        spawn_new(f);
    }
    play(f, ticks, changes);
}

// Every tick that is read is right. @return How many.
static int assert_right(const fixture* f, const uint8_t* bytes, size_t size,
                        ph_replay_damage* damage)
{
    ph_replay* replay;
    int count = 0;
    uint32_t last = 0;
    *damage = (ph_replay_damage){.is_open = true};
    ph_error error = {0};
    if (ph_replay_create(bytes, size, NULL, &replay, &error) != PH_OK) {
        assert_int_equal(error.result, PH_ERROR_VALUE);
        assert_true(error.text[0] != '\0');
        return 0;
    }
    while (ph_replay_next(replay)) {
        const uint32_t at = ph_replay_tick(replay);
        assert_true(at < (uint32_t)f->tick_count && (count == 0 || at > last));
        assert_true(hash_replay(replay) == f->hashes[at]);
        last = at;
        ++count;
    }
    assert_int_equal(ph_replay_result(replay), PH_OK);
    assert_false(ph_replay_next(replay));
    *damage = ph_replay_get_damage(replay);
    ph_replay_destroy(replay);
    return count;
}

static void finish(fixture* f)
{
    assert_int_equal(ph_recorder_finish(f->recorder, write_file, &f->file), PH_OK);
}

// ---- tests

static void every_tick_comes_back_with_any_schema(void** state)
{
    (void)state;
    const draw_rounds rounds = draw_rounds_of(ROUNDS);
    for (int round = rounds.first; round < rounds.end; ++round) {
        draw_begin(round);
        fixture f;
        ph_replay_damage damage;
        setup_with(&f, 100 + (uint64_t)round, NULL, 1 << 23);
        begin_play(&f, 60, 45, 30);
        finish(&f);
        assert_int_equal(assert_right(&f, f.file.bytes, f.file.size, &damage), 45);
        assert_false(damage.is_open);
        assert_int_equal(damage.damaged_places, 0);
        assert_int_equal(damage.missing_ticks, 0);
        const ph_recorder_stats stats = ph_recorder_get_stats(f.recorder);
        assert_int_equal(stats.ticks, 45);
        assert_int_equal(stats.bytes, f.file.size);
        assert_int_equal(stats.dropped_ticks + stats.lost_ticks, 0);
        teardown(&f);
    }
    draw_end();
}

static const char SMALL[] = "class walker\n    place: position\n    heading: angle 8\n"
                            "    name: string 6\n    friend: entity\n";

static void jumps_and_spawns_are_said_in_the_tick_of_their_own(void** state)
{
    (void)state;
    fixture f;
    setup_with(&f, 1, SMALL, 1 << 20);
    ph_entity_id id;
    ph_world_spawn(f.world, &(ph_spawn){.key = 3}, &id);
    for (int t = 0; t < 25; ++t) {
        if (t % 4 == 1) {
            ph_world_jump(f.world, id, 100 * t, 0, 0);
        } else if (t == 14) {
            ph_world_despawn(f.world, id);
            ph_world_spawn(f.world, &(ph_spawn){.key = 3}, &id);
        } else {
            ph_world_move(f.world, id, 100 * t, 7, 0);
        }
        assert_int_equal(tick(&f), PH_OK);
        assert_int_equal(tick(&f) == PH_OK ? ph_recorder_tick(f.recorder) : PH_OK, PH_OK);
    }
    finish(&f);
    ph_replay* replay;
    assert_int_equal(ph_replay_create(f.file.bytes, f.file.size, NULL, &replay, NULL), PH_OK);
    assert_true(ph_replay_has_jumps(replay));
    assert_true(ph_replay_rate_hz(replay) == 1.0);
    for (uint32_t t = 0; t < 50; ++t) {
        ph_replay_entity entity;
        assert_true(ph_replay_next(replay));
        assert_int_equal(ph_replay_tick(replay), t);
        assert_true(ph_replay_get(replay, ph_replay_find(replay, 3), &entity));
        assert_int_equal(entity.is_new, t == 0 || t == 28);
        assert_int_equal(entity.has_jumped, t % 8 == 2);
    }
    ph_replay_destroy(replay);
    teardown(&f);
}

static void a_recording_that_is_cut_anywhere_is_read_up_to_there(void** state)
{
    (void)state;
    fixture f;
    ph_replay_damage damage;
    setup_with(&f, 2, SMALL, 1 << 20);
    begin_play(&f, 6, 33, 4);
    finish(&f);
    int before = 0;
    for (size_t size = 0; size <= f.file.size; size += 1 + size / 700) {
        uint8_t* bytes = malloc(size + 1); // a reader that goes on behind the end is caught
        assert_non_null(bytes);
        memcpy(bytes, f.file.bytes, size);
        const int count = assert_right(&f, bytes, size, &damage);
        free(bytes);
        assert_true(count >= before && count <= 33);
        assert_int_equal(damage.is_open, size < f.file.size);
        before = count;
    }
    assert_int_equal(assert_right(&f, f.file.bytes, f.file.size, &damage), 33);
    // Each part is used as soon as it is whole: here that is each tick.
    assert_true(before >= 32);
    teardown(&f);
}

// The schema stands in it again, not at its ends alone.
static void the_middle_of_a_recording_can_be_read(void** state)
{
    (void)state;
    fixture f;
    ph_replay_damage damage;
    setup_with(&f, 12, SMALL, 1 << 20);
    begin_play(&f, 5, 90, 3);
    finish(&f);
    const size_t begin = f.file.size / 10;
    const int count = assert_right(&f, f.file.bytes + begin, f.file.size * 8 / 10, &damage);
    assert_in_range(count, 50, 80);
    assert_true(damage.is_open);
    teardown(&f);
}

static void a_flipped_bit_takes_no_more_than_up_to_the_next_key_part(void** state)
{
    (void)state;
    fixture f;
    ph_replay_damage damage;
    setup_with(&f, 3, SMALL, 1 << 20);
    begin_play(&f, 5, 35, 3);
    finish(&f);
    int least = 35;
    for (size_t i = 0; i < f.file.size; ++i) {
        f.file.bytes[i] ^= (uint8_t)(1 << i % 8);
        const int count = assert_right(&f, f.file.bytes, f.file.size, &damage);
        f.file.bytes[i] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(damage.damaged_places, 1);
        assert_true(damage.first_offset <= i && damage.skipped_bytes > 0);
        assert_true(count >= 25);
        // However far from another key part: those that are lost are counted.
        assert_int_equal(damage.missing_ticks, 35 - count);
        least = count < least ? count : least;
    }
    assert_int_equal(least, 25); // in a key part: all until the next one
    teardown(&f);
}

static void a_full_ring_leaves_ticks_out_and_goes_on_whole(void** state)
{
    (void)state;
    fixture f;
    ph_replay_damage damage;
    setup_with(&f, 4, SMALL, 65536);
    for (int i = 0; i < 300; ++i) {
        spawn_new(&f);
    }
    for (int round = 0; round < 6; ++round) {
        for (int t = 0; t < 40; ++t) {
            for (int i = 0; i < 150; ++i) {
                change_one(&f);
            }
            const ph_result result = tick(&f);
            assert_true(result == PH_OK || result == PH_ERROR_FULL);
        }
        assert_int_equal(ph_recorder_drain(f.recorder, write_file, &f.file), PH_OK);
    }
    finish(&f);
    const ph_recorder_stats stats = ph_recorder_get_stats(f.recorder);
    assert_true(stats.dropped_ticks > 20 && stats.ticks > 20);
    assert_int_equal(stats.ticks, f.taken_count);
    assert_int_equal(assert_right(&f, f.file.bytes, f.file.size, &damage), f.taken_count);
    assert_int_equal(damage.dropped_ticks, stats.dropped_ticks);
    assert_int_equal(damage.damaged_places, 0);
    teardown(&f);
}

static bool walk_on(fixture* f, ph_entity_id id)
{
    assert_int_equal(ph_world_move(f->world, id, 10 * f->tick_count, 0, 0), PH_OK);
    return tick(f) == PH_OK;
}

// A tick of one walker takes 11 words of 16,384, one in which nothing happens 4. So the ring is drained up to most of the
// words before it begins again, and is full there the next time round.
static void a_ring_that_is_full_at_its_end_overwrites_nothing(void** state)
{
    (void)state;
    for (int i = 0; i < 22; ++i) {
        const int walks = 1487 + i % 2;
        const int rests = i / 2;
        fixture f;
        ph_replay_damage damage;
        setup_at(&f, 10, SMALL, 65536, 10000);
        ph_entity_id id;
        assert_int_equal(ph_world_spawn(f.world, &(ph_spawn){.key = 1}, &id), PH_OK);
        while (f.tick_count < walks && walk_on(&f, id)) {
        }
        for (int t = 0; t < rests; ++t) {
            tick(&f);
        }
        assert_int_equal(ph_recorder_drain(f.recorder, write_file, &f.file), PH_OK);
        const int drained = f.tick_count;
        while (walk_on(&f, id)) {
        }
        assert_in_range(f.taken_count, drained + 1480, drained + 1490);
        finish(&f);
        assert_int_equal(assert_right(&f, f.file.bytes, f.file.size, &damage), f.taken_count);
        assert_int_equal(damage.damaged_places, 0);
        teardown(&f);
    }
}

// A part has 65,535 ticks at most, with those that are missing.
static void a_pause_of_any_length_is_missing_ticks(void** state)
{
    (void)state;
    static const int PAUSES[] = {65532, 65533, 65534, 70000};
    for (int i = 0; i < 4; ++i) {
        fixture f;
        ph_replay_damage damage;
        setup_at(&f, 11, SMALL, 1 << 20, 10000);
        begin_play(&f, 4, 3, 2);
        for (int t = 0; t < PAUSES[i]; ++t) {
            ph_world_tick(f.world);
        }
        f.tick_count += PAUSES[i];
        play(&f, 3, 2);
        finish(&f);
        assert_int_equal(assert_right(&f, f.file.bytes, f.file.size, &damage), 6);
        assert_int_equal(damage.missing_ticks, PAUSES[i]);
        assert_int_equal(damage.damaged_places, 0);
        teardown(&f);
    }
}

static void what_is_not_written_is_lost_alone(void** state)
{
    (void)state;
    for (int fails_at = 1; fails_at < 30; fails_at += 3) {
        fixture f;
        ph_replay_damage damage;
        setup_with(&f, 5, SMALL, 1 << 20);
        f.file.fails_at = fails_at;
        begin_play(&f, 6, 30, 4);
        finish(&f);
        const ph_recorder_stats stats = ph_recorder_get_stats(f.recorder);
        const int count = assert_right(&f, f.file.bytes, f.file.size, &damage);
        assert_true(stats.lost_ticks >= 1 && stats.lost_ticks <= 2);
        assert_int_equal((uint64_t)count + stats.lost_ticks, 30);
        assert_int_equal(damage.damaged_places, 0);
        teardown(&f);
    }
}

static void every_allocation_may_fail(void** state)
{
    (void)state;
    for (int n = 1; n < 200; ++n) {
        fixture f;
        ph_replay_damage damage;
        setup_with(&f, 6, SMALL, 65536);
        f.memory.fail_at = f.memory.allocate_count + n;
        begin_play(&f, 100, 12, 20);
        f.memory.fail_at = 0;
        finish(&f);
        const ph_recorder_stats stats = ph_recorder_get_stats(f.recorder);
        const int count = assert_right(&f, f.file.bytes, f.file.size, &damage);
        assert_int_equal((uint64_t)count + stats.lost_ticks + stats.dropped_ticks, 12);
        const bool is_done = n > f.memory.allocate_count;
        teardown(&f);
        if (is_done) {
            break;
        }
    }
    for (int n = 1;; ++n) {
        fixture f;
        setup_with(&f, 6, SMALL, 65536);
        ph_recorder* recorder;
        test_memory memory = {.fail_at = n};
        ph_recorder_def def = ph_recorder_def_default();
        def.world = f.world;
        def.allocator = test_memory_allocator(&memory);
        const ph_result result = ph_recorder_create(&def, &recorder);
        ph_recorder_destroy(recorder);
        test_memory_assert_clean(&memory);
        teardown(&f);
        if (result == PH_OK) {
            break;
        }
        assert_int_equal(result, PH_ERROR_MEMORY);
    }
}

static void a_warm_tick_allocates_nothing(void** state)
{
    (void)state;
    fixture f;
    setup_with(&f, 7, SMALL, 1 << 22);
    begin_play(&f, 50, 30, 10);
    const int before = f.memory.allocate_count;
    for (int t = 0; t < 20; ++t) {
        change_one(&f);
        assert_int_equal(tick(&f), PH_OK);
    }
    assert_int_equal(f.memory.allocate_count, before);
    teardown(&f);
}

static void gaps_between_calls_are_missing_ticks(void** state)
{
    (void)state;
    fixture f;
    setup_with(&f, 8, SMALL, 1 << 22);
    spawn_new(&f);
    for (int t = 0; t < 60; ++t) {
        for (int i = 0; i < 1 + t % 7; ++i) { // also longer than changes are kept by tick
            change_one(&f);
            spawn_new(&f);
            ph_world_tick(f.world);
            f.hashes[f.tick_count++] = hash_world(f.world, f.schema);
        }
        ph_recorder_tick(f.recorder);
    }
    finish(&f);
    ph_replay_damage damage;
    assert_int_equal(assert_right(&f, f.file.bytes, f.file.size, &damage), 60);
    assert_int_equal(damage.missing_ticks, (uint64_t)f.tick_count - 60);
    teardown(&f);
}

static void what_is_no_recording_is_refused(void** state)
{
    (void)state;
    static const char TEXT[] = "tick,entity,x_mm\n";
    ph_replay* replay;
    ph_error error = {0};
    assert_false(ph_replay_is_recording("", 0));
    assert_false(ph_replay_is_recording(TEXT, sizeof TEXT));
    assert_int_equal(ph_replay_create(TEXT, sizeof TEXT, NULL, &replay, &error), PH_ERROR_VALUE);
    assert_null(replay);
    assert_string_equal(error.text, "ph_replay_create: no part of a recording can be read");
}

static void wrong_defs_are_refused(void** state)
{
    (void)state;
    fixture f;
    setup_with(&f, 9, SMALL, 1 << 20);
    ph_recorder* recorder;
    ph_recorder_def def = ph_recorder_def_default();
    assert_int_equal(ph_recorder_create(&def, &recorder), PH_ERROR_ARGUMENT);
    def.world = f.world;
    def.buffer_bytes = 65535;
    assert_int_equal(ph_recorder_create(&def, &recorder), PH_ERROR_ARGUMENT);
    def.buffer_bytes = 65536;
    def.rate_hz = 1001.0;
    assert_int_equal(ph_recorder_create(&def, &recorder), PH_ERROR_ARGUMENT);
    assert_null(recorder);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tick_comes_back_with_any_schema),
        cmocka_unit_test(jumps_and_spawns_are_said_in_the_tick_of_their_own),
        cmocka_unit_test(a_recording_that_is_cut_anywhere_is_read_up_to_there),
        cmocka_unit_test(the_middle_of_a_recording_can_be_read),
        cmocka_unit_test(a_flipped_bit_takes_no_more_than_up_to_the_next_key_part),
        cmocka_unit_test(a_full_ring_leaves_ticks_out_and_goes_on_whole),
        cmocka_unit_test(a_ring_that_is_full_at_its_end_overwrites_nothing),
        cmocka_unit_test(a_pause_of_any_length_is_missing_ticks),
        cmocka_unit_test(what_is_not_written_is_lost_alone),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_warm_tick_allocates_nothing),
        cmocka_unit_test(gaps_between_calls_are_missing_ticks),
        cmocka_unit_test(what_is_no_recording_is_refused),
        cmocka_unit_test(wrong_defs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
