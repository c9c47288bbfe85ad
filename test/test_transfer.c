// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Export and import: another world becomes the same as the first, whole, by areas, or change by change;
// what is older, wrong or has no memory changes nothing.

#include "support/draw.h"
#include "support/session_values.h"
#include "support/test_memory.h"
#include "support/test_support.h"

#include "world/world_state.h"
#include "tools/tools.h"

#include <pinhole/transfer.h>

#include <stdlib.h>
#include <string.h>

enum {
    ENTITIES = 60,
    KEYS_MAX = 2000,
    BYTES_MAX = 1 << 22,
    BATCHES_MAX = 4096,
    AREA_MM = 100000,
    ROUNDS = 12
};

// Batches, one behind the other.
typedef struct tape {
    uint8_t* bytes;
    size_t begins[BATCHES_MAX + 1];
    int count;
} tape;

typedef struct fixture {
    test_rng rng;
    ph_schema* schema;
    ph_world* from;
    ph_world* to;
    ph_importer* importer;
    uint64_t keys[KEYS_MAX]; // that were used in the first world, living or not
    int key_count;
    tape tape;
    tape other;
    test_memory memory; // of the world that is imported to
    test_memory from_memory;
} fixture;

// ---- tapes

static void tape_add(void* context, const void* bytes, size_t size)
{
    tape* to = context;
    const size_t begin = to->begins[to->count];
    assert_true(to->count < BATCHES_MAX && begin + size <= BYTES_MAX);
    memcpy(to->bytes + begin, bytes, size);
    to->begins[++to->count] = begin + size;
}

static const uint8_t* batch_of(const tape* of, int i, size_t* size)
{
    *size = of->begins[i + 1] - of->begins[i];
    return of->bytes + of->begins[i];
}

static void export_to(const ph_world* world, const ph_export_def* def, tape* to)
{
    to->count = 0;
    assert_int_equal(ph_world_export(world, def, tape_add, to), PH_OK);
    for (int i = 0; i < to->count; ++i) {
        assert_in_range(to->begins[i + 1] - to->begins[i], 20, def->batch_bytes);
    }
}

static void import_all(ph_importer* importer, const tape* from)
{
    for (int i = 0; i < from->count; ++i) {
        size_t size;
        const uint8_t* bytes = batch_of(from, i, &size);
        assert_int_equal(ph_importer_take(importer, bytes, size), PH_OK);
    }
}

// Everything of a world but its tick.
static void describe(const ph_world* world, uint32_t owner, tape* to)
{
    ph_export_def def = ph_export_def_default();
    def.is_whole = true;
    def.owner = owner;
    def.batch_bytes = PH_EXPORT_BATCH_BYTES_MAX;
    export_to(world, &def, to);
    for (int i = 0; i < to->count; ++i) {
        memset(to->bytes + to->begins[i] + 8, 0, 4);
    }
}

static void assert_same(fixture* f)
{
    describe(f->from, 0, &f->tape);
    describe(f->to, 0, &f->other);
    assert_int_equal(f->tape.begins[f->tape.count], f->other.begins[f->other.count]);
    assert_memory_equal(f->tape.bytes, f->other.bytes, f->tape.begins[f->tape.count]);
    assert_true(ph_world_validate(f->to));
}

// ---- worlds

static void setup_with(fixture* f, uint64_t seed, ph_schema* schema, int removal_capacity)
{
    *f = (fixture){.rng = {.state = seed}, .schema = schema};
    f->tape.bytes = malloc(BYTES_MAX);
    f->other.bytes = malloc(BYTES_MAX);
    assert_true(f->tape.bytes != NULL && f->other.bytes != NULL);
    ph_world_def def = ph_world_def_default();
    def.schema = schema;
    def.entity_capacity = (int)test_rng_below(&f->rng, ENTITIES);
    def.removal_capacity = removal_capacity;
    def.allocator = test_memory_allocator(&f->from_memory);
    assert_int_equal(ph_world_create(&def, &f->from), PH_OK);
    def.entity_capacity = (int)test_rng_below(&f->rng, ENTITIES);
    def.allocator = test_memory_allocator(&f->memory);
    assert_int_equal(ph_world_create(&def, &f->to), PH_OK);
    assert_int_equal(ph_importer_create(&(ph_importer_def){.world = f->to}, &f->importer), PH_OK);
}

static void setup(fixture* f, uint64_t seed)
{
    test_rng rng = {.state = seed};
    setup_with(f, seed, draw_schema(&rng, &(draw_schema_limits){4, 20}), 1000);
}

static void teardown(fixture* f)
{
    ph_importer_destroy(f->importer);
    ph_world_destroy(f->from);
    ph_world_destroy(f->to);
    ph_schema_destroy(f->schema);
    free(f->tape.bytes);
    free(f->other.bytes);
    test_memory_assert_clean(&f->memory);
    test_memory_assert_clean(&f->from_memory);
}

static uint64_t draw_key(fixture* f)
{
    return f->key_count == 0 ? 0 : f->keys[test_rng_below(&f->rng, (uint64_t)f->key_count)];
}

static ph_entity_id draw_entity(fixture* f, const ph_world* world)
{
    return ph_world_find(world, draw_key(f));
}

static void set_some(fixture* f, ph_world* world, ph_entity_id id)
{
    int class_index;
    ph_entity_id targets[3];
    for (int i = 0; i < 3; ++i) {
        targets[i] = draw_entity(f, world);
    }
    assert_int_equal(ph_world_identify(world, id, NULL, &class_index), PH_OK);
    const ph_class* described = ph_schema_class_at(f->schema, class_index);
    for (int p = 0; p < described->def.property_count; ++p) {
        if (p != described->position && test_rng_below(&f->rng, 3) == 0) {
            session_value_set_wide(world, id, &described->properties[p].def, p, &f->rng, targets,
                                   3);
        }
    }
}

static int64_t draw_coordinate(fixture* f)
{
    return test_rng_below(&f->rng, 8) == 0 ? draw_whole(&f->rng, INT32_MIN, INT32_MAX)
                                           : (int64_t)test_rng_below(&f->rng, AREA_MM);
}

static void spawn_any(fixture* f, ph_world* world, uint64_t key)
{
    const ph_spawn spawn = {
        .class_index = (int)test_rng_below(&f->rng, (uint64_t)ph_schema_class_count(f->schema)),
        .key = key,
        .position_mm = {draw_coordinate(f), draw_coordinate(f), draw_coordinate(f)},
        .seen_by = (uint32_t)test_rng_below(&f->rng, 4),
        .is_always_visible = test_rng_below(&f->rng, 5) == 0,
        .is_never_visible = test_rng_below(&f->rng, 5) == 0,
    };
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(world, &spawn, &id), PH_OK);
    set_some(f, world, id);
}

// Small keys, and some large ones.
static void spawn_many(fixture* f, int count)
{
    for (int i = 0; i < count; ++i) {
        const uint64_t key = test_rng_below(&f->rng, 5) == 0 ? test_rng_next(&f->rng) >> 2
                                                             : (uint64_t)f->key_count + 1;
        assert_true(f->key_count < KEYS_MAX);
        f->keys[f->key_count++] = key;
        spawn_any(f, f->from, key);
    }
}

// What a game does between two ticks.
static void change_one(fixture* f)
{
    const uint64_t key = draw_key(f);
    const ph_entity_id id = ph_world_find(f->from, key);
    if (id.index1 == 0) {
        return;
    }
    switch (test_rng_below(&f->rng, 8)) {
    case 0:
        assert_int_equal(ph_world_despawn(f->from, id), PH_OK);
        if (test_rng_below(&f->rng, 2) == 0) {
            spawn_any(f, f->from, key); // the same key, perhaps another class
        }
        break;
    case 1:
        assert_int_equal(ph_world_set_visibility(f->from, id, (uint32_t)test_rng_below(&f->rng, 3),
                                                 false, test_rng_below(&f->rng, 3) == 0),
                         PH_OK);
        break;
    case 2:
        spawn_many(f, 1);
        break;
    case 3:
    case 4:
        assert_int_equal(
            ph_world_move(f->from, id, draw_coordinate(f), draw_coordinate(f), draw_coordinate(f)),
            PH_OK);
        break;
    default:
        set_some(f, f->from, id);
    }
}

static void change_some(fixture* f)
{
    for (int i = 0; i < 30; ++i) {
        change_one(f);
    }
}

static ph_export_def draw_export(fixture* f)
{
    ph_export_def def = ph_export_def_default();
    def.batch_bytes = (int)draw_whole(&f->rng, PH_EXPORT_BATCH_BYTES_MIN, 40000);
    return def;
}

static void send_whole(fixture* f)
{
    ph_export_def def = draw_export(f);
    def.is_whole = true;
    export_to(f->from, &def, &f->tape);
    import_all(f->importer, &f->tape);
}

// ---- whole worlds

static void a_whole_export_makes_the_same_world_at_any_setting(void** state)
{
    (void)state;
    const draw_rounds rounds = draw_rounds_of(ROUNDS);
    for (int round = rounds.first; round < rounds.end; ++round) {
        draw_begin(round);
        fixture f;
        setup(&f, 100 + (uint64_t)round);
        spawn_many(&f, ENTITIES);
        send_whole(&f);
        assert_same(&f);
        // The other world has changed in the meantime: it becomes the same again.
        spawn_any(&f, f.to, UINT64_MAX);
        assert_int_equal(ph_world_despawn(f.to, ph_world_find(f.to, f.keys[0])), PH_OK);
        for (int i = 0; i < 3; ++i) {
            change_some(&f);
        }
        send_whole(&f);
        assert_same(&f);
        teardown(&f);
    }
    draw_end();
}

static void an_empty_world_makes_an_empty_world(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 7);
    spawn_any(&f, f.to, 5);
    send_whole(&f);
    assert_int_equal(f.tape.count, 1);
    assert_int_equal(ph_world_entity_count(f.to), 0);
    teardown(&f);
}

// ---- changes

static void changes_keep_another_world_the_same_at_any_setting(void** state)
{
    (void)state;
    const draw_rounds rounds = draw_rounds_of(ROUNDS);
    for (int round = rounds.first; round < rounds.end; ++round) {
        draw_begin(round);
        fixture f;
        setup(&f, 300 + (uint64_t)round);
        spawn_many(&f, ENTITIES);
        uint32_t since = 0;
        for (int step = 0; step < 12; ++step) {
            ph_export_def def = draw_export(&f);
            def.since_tick = since;
            // What was told already may be told again.
            since = ph_world_tick_count(f.from) - (since > 0 && step % 5 == 0);
            export_to(f.from, &def, &f.tape);
            import_all(f.importer, &f.tape);
            assert_same(&f);
            for (uint64_t ticks = test_rng_below(&f.rng, 8); ticks-- > 0;) {
                change_some(&f);
                ph_world_tick(f.from);
            }
            change_some(&f);
            ph_world_tick(f.to);
        }
        const ph_import_stats stats = ph_importer_get_stats(f.importer);
        assert_true(stats.created > ENTITIES && stats.removed > 10 && stats.missing == 0);
        teardown(&f);
    }
    draw_end();
}

static void nothing_new_makes_no_batch(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 11);
    spawn_many(&f, 10);
    ph_world_tick(f.from);
    ph_export_def def = ph_export_def_default();
    def.since_tick = 1;
    export_to(f.from, &def, &f.tape);
    assert_int_equal(f.tape.count, 0);
    teardown(&f);
}

static void removals_that_are_forgotten_ask_for_a_whole_export(void** state)
{
    (void)state;
    fixture f;
    test_rng rng = {.state = 12};
    setup_with(&f, 12, draw_schema(&rng, &(draw_schema_limits){1, 3}), 2);
    spawn_many(&f, 5);
    ph_export_def def = ph_export_def_default();
    ph_world_tick(f.from);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(ph_world_despawn(f.from, ph_world_find(f.from, f.keys[i])), PH_OK);
    }
    assert_int_equal(ph_world_export(f.from, &def, tape_add, &f.tape), PH_OK);
    ph_world_tick(f.from);
    assert_int_equal(ph_world_despawn(f.from, ph_world_find(f.from, f.keys[2])), PH_OK);
    f.tape.count = 0;
    def.since_tick = 1;
    assert_int_equal(ph_world_export(f.from, &def, tape_add, &f.tape), PH_ERROR_STALE);
    assert_int_equal(f.tape.count, 0);
    def.since_tick = 2;
    assert_int_equal(ph_world_export(f.from, &def, tape_add, &f.tape), PH_OK);
    assert_int_equal(f.tape.count, 1);
    teardown(&f);
}

// ---- areas

static void a_whole_area_says_nothing_of_the_others(void** state)
{
    (void)state;
    const draw_rounds rounds = draw_rounds_of(ROUNDS);
    for (int round = rounds.first; round < rounds.end; ++round) {
        draw_begin(round);
        fixture f;
        setup(&f, 500 + (uint64_t)round);
        spawn_many(&f, ENTITIES);
        for (int i = 0; i < 5; ++i) {
            spawn_any(&f, f.to, UINT64_MAX - (uint64_t)i); // not in the first world
        }
        const int32_t x_mm = (int32_t)test_rng_below(&f.rng, AREA_MM);
        const int32_t y_mm = (int32_t)test_rng_below(&f.rng, AREA_MM);
        for (int quarter = 0; quarter < 4; ++quarter) {
            ph_export_def def = draw_export(&f);
            def.is_whole = true;
            def.has_area = true;
            def.from_mm[0] = quarter % 2 == 0 ? INT32_MIN : x_mm + 1;
            def.to_mm[0] = quarter % 2 == 0 ? x_mm : INT32_MAX;
            def.from_mm[1] = quarter / 2 == 0 ? INT32_MIN : y_mm + 1;
            def.to_mm[1] = quarter / 2 == 0 ? y_mm : INT32_MAX;
            const ph_import_stats before = ph_importer_get_stats(f.importer);
            export_to(f.from, &def, &f.tape);
            import_all(f.importer, &f.tape);
            const ph_import_stats after = ph_importer_get_stats(f.importer);
            assert_int_equal(after.applied - before.applied, after.created - before.created);
        }
        assert_same(&f);
        assert_int_equal(ph_importer_get_stats(f.importer).removed, 5);
        teardown(&f);
    }
    draw_end();
}

// ---- what is newer counts

static const char PLAIN[] = "class plain\n    place: position\n    health: range 0..100\n"
                            "    leader: entity\n";
enum { HEALTH = 1, LEADER = 2 };

static void setup_plain(fixture* f)
{
    ph_schema* schema;
    assert_int_equal(ph_schema_parse(PLAIN, sizeof PLAIN - 1, NULL, &schema, NULL), PH_OK);
    setup_with(f, 1, schema, 100);
}

static void spawn_plain(fixture* f, uint64_t key)
{
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(f->from, &(ph_spawn){.key = key}, &id), PH_OK);
}

static void set_health(ph_world* world, uint64_t key, uint8_t health)
{
    assert_int_equal(ph_world_set_property(world, ph_world_find(world, key), HEALTH, PH_FIELD_U8,
                                           &health, sizeof health),
                     PH_OK);
}

static int health_of(const ph_world* world, uint64_t key)
{
    uint8_t health = 0;
    assert_int_equal(ph_world_get_property(world, ph_world_find(world, key), HEALTH, PH_FIELD_U8,
                                           &health, sizeof health),
                     PH_OK);
    return health;
}

// The tape of changes since a tick.
static void export_since(fixture* f, uint32_t since, uint32_t as_owner, tape* to)
{
    ph_export_def def = ph_export_def_default();
    def.since_tick = since;
    def.as_owner = as_owner;
    export_to(f->from, &def, to);
}

static void what_comes_late_is_ignored(void** state)
{
    (void)state;
    fixture f;
    setup_plain(&f);
    spawn_plain(&f, 1);
    set_health(f.from, 1, 10);
    export_since(&f, 0, 0, &f.tape);
    ph_world_tick(f.from);
    set_health(f.from, 1, 20);
    export_since(&f, 0, 0, &f.other);
    import_all(f.importer, &f.other);
    import_all(f.importer, &f.tape);
    assert_int_equal(health_of(f.to, 1), 20);
    assert_int_equal(ph_importer_get_stats(f.importer).older, 1);
    // A game that goes back to an earlier save wants just that.
    ph_importer* back;
    assert_int_equal(
        ph_importer_create(&(ph_importer_def){.world = f.to, .takes_older = true}, &back), PH_OK);
    import_all(back, &f.tape);
    assert_int_equal(health_of(f.to, 1), 10);
    ph_importer_destroy(back);
    teardown(&f);
}

static void another_owner_needs_a_higher_epoch(void** state)
{
    (void)state;
    fixture f;
    setup_plain(&f);
    spawn_plain(&f, 1);
    set_health(f.from, 1, 10);
    export_since(&f, 0, 3, &f.tape);
    import_all(f.importer, &f.tape);
    ph_ownership ownership;
    assert_int_equal(ph_world_get_ownership(f.to, ph_world_find(f.to, 1), &ownership), PH_OK);
    assert_int_equal(ownership.owner, 3);
    ph_world_tick(f.from);
    set_health(f.from, 1, 20);
    export_since(&f, 0, 4, &f.tape);
    import_all(f.importer, &f.tape);
    assert_int_equal(health_of(f.to, 1), 10);
    // This world takes the entity over: what the others go on saying of it counts no longer.
    assert_int_equal(ph_world_set_ownership(f.to, ph_world_find(f.to, 1), (ph_ownership){0, 1}),
                     PH_OK);
    export_since(&f, 0, 3, &f.tape);
    import_all(f.importer, &f.tape);
    assert_int_equal(health_of(f.to, 1), 10);
    // Until one of them does.
    assert_int_equal(ph_world_set_ownership(f.from, ph_world_find(f.from, 1), (ph_ownership){0, 2}),
                     PH_OK);
    export_since(&f, 1, 4, &f.tape);
    import_all(f.importer, &f.tape);
    assert_int_equal(health_of(f.to, 1), 20);
    assert_int_equal(ph_world_get_ownership(f.to, ph_world_find(f.to, 1), &ownership), PH_OK);
    assert_int_equal(ownership.owner, 4);
    assert_int_equal(ownership.epoch, 2);
    teardown(&f);
}

// An import of one owner's whole world leaves those of others alone, and an export of one owner
// has no other's entities.
static void owners_do_not_touch_each_other(void** state)
{
    (void)state;
    fixture f;
    setup_plain(&f);
    spawn_plain(&f, 1);
    export_since(&f, 0, 3, &f.tape);
    import_all(f.importer, &f.tape);
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(f.to, &(ph_spawn){.key = 2}, &id), PH_OK);
    ph_export_def def = ph_export_def_default();
    def.is_whole = true;
    def.as_owner = 3;
    assert_int_equal(ph_world_despawn(f.from, ph_world_find(f.from, 1)), PH_OK);
    export_to(f.from, &def, &f.tape);
    describe(f.to, 3, &f.other);
    assert_int_equal(f.other.bytes[2], 1);
    import_all(f.importer, &f.tape);
    assert_int_equal(ph_world_entity_count(f.to), 1);
    assert_true(ph_world_is_alive(f.to, id));
    describe(f.to, 3, &f.other);
    assert_int_equal(f.other.bytes[2], 0);
    teardown(&f);
}

// ---- references

static void set_leader(ph_world* world, uint64_t key, uint64_t leader)
{
    const ph_entity_id id = ph_world_find(world, leader);
    assert_int_equal(ph_world_set_property(world, ph_world_find(world, key), LEADER,
                                           PH_FIELD_ENTITY, &id, sizeof id),
                     PH_OK);
}

static uint64_t leader_of(const ph_world* world, uint64_t key)
{
    ph_entity_id id;
    uint64_t leader = 0;
    assert_int_equal(ph_world_get_property(world, ph_world_find(world, key), LEADER,
                                           PH_FIELD_ENTITY, &id, sizeof id),
                     PH_OK);
    return ph_world_identify(world, id, &leader, NULL) == PH_OK ? leader : 0;
}

static void send_area(fixture* f, int32_t x_mm)
{
    ph_export_def def = ph_export_def_default();
    def.is_whole = true;
    def.has_area = true;
    def.from_mm[0] = def.to_mm[0] = x_mm;
    export_to(f->from, &def, &f->tape);
    import_all(f->importer, &f->tape);
}

static void a_reference_waits_for_its_entity(void** state)
{
    (void)state;
    fixture f;
    setup_plain(&f);
    for (uint64_t key = 1; key <= 4; ++key) {
        spawn_plain(&f, key);
        assert_int_equal(ph_world_move(f.from, ph_world_find(f.from, key), (int64_t)key, 0, 0),
                         PH_OK);
    }
    set_leader(f.from, 1, 3);
    set_leader(f.from, 2, 3);
    set_leader(f.from, 4, 3);
    send_area(&f, 1);
    send_area(&f, 2);
    send_area(&f, 4);
    assert_int_equal(leader_of(f.to, 1), 0);
    assert_int_equal(ph_importer_get_stats(f.importer).waiting_references, 3);
    set_leader(f.from, 2, 1); // no longer waits
    send_area(&f, 2);
    assert_int_equal(leader_of(f.to, 2), 1);
    assert_int_equal(ph_world_despawn(f.to, ph_world_find(f.to, 4)), PH_OK); // never will
    assert_int_equal(ph_importer_get_stats(f.importer).waiting_references, 2);
    send_area(&f, 3);
    assert_int_equal(leader_of(f.to, 1), 3);
    assert_int_equal(leader_of(f.to, 2), 1);
    assert_int_equal(ph_importer_get_stats(f.importer).waiting_references, 0);
    teardown(&f);
}

// The key is in use again, by another entity: that is not the one that was meant.
static void a_reference_does_not_take_another_with_the_same_key(void** state)
{
    (void)state;
    fixture f;
    setup_plain(&f);
    for (uint64_t key = 1; key <= 2; ++key) {
        spawn_plain(&f, key);
        assert_int_equal(ph_world_move(f.from, ph_world_find(f.from, key), (int64_t)key, 0, 0),
                         PH_OK);
    }
    set_leader(f.from, 1, 2);
    send_area(&f, 1);
    assert_int_equal(ph_world_despawn(f.from, ph_world_find(f.from, 2)), PH_OK);
    spawn_plain(&f, 2);
    send_area(&f, 0);
    assert_int_equal(ph_world_entity_count(f.to), 2);
    assert_int_equal(leader_of(f.from, 1), 0);
    assert_int_equal(leader_of(f.to, 1), 0);
    // And the other way round: the reference stays with the one that is gone.
    set_leader(f.from, 1, 2);
    send_area(&f, 1);
    assert_int_equal(leader_of(f.to, 1), 2);
    assert_int_equal(ph_world_despawn(f.from, ph_world_find(f.from, 2)), PH_OK);
    spawn_plain(&f, 2);
    send_area(&f, 0);
    assert_int_equal(leader_of(f.to, 1), 0);
    teardown(&f);
}

// ---- wrong bytes

static void a_batch_ends_where_its_records_do(void** state)
{
    (void)state;
    fixture f;
    setup_plain(&f);
    spawn_plain(&f, 1);
    export_since(&f, 0, 0, &f.tape);
    uint8_t bytes[200] = {0};
    size_t size;
    const uint8_t* written = batch_of(&f.tape, 0, &size);
    assert_true(size < sizeof bytes);
    memcpy(bytes, written, size);
    assert_int_equal(ph_importer_take(f.importer, bytes, size + 1), PH_ERROR_VALUE);
    assert_int_equal(ph_importer_take(f.importer, bytes, size - 1), PH_ERROR_VALUE);
    bytes[size - 1] |= 0x80; // no record reaches there
    assert_int_equal(ph_importer_take(f.importer, bytes, size), PH_ERROR_VALUE);
    assert_int_equal(ph_importer_get_stats(f.importer).refused[PH_IMPORT_REFUSAL_END], 3);
    bytes[size - 1] = written[size - 1];
    assert_int_equal(ph_importer_take(f.importer, bytes, size), PH_OK);
    teardown(&f);
}

// Whatever the bytes: refused with nothing changed, or applied to a sound world.
static void take_wrong(fixture* f, const uint8_t* bytes, size_t size)
{
    describe(f->to, 0, &f->other);
    const size_t was_size = f->other.begins[f->other.count];
    uint8_t* was = malloc(was_size);
    assert_non_null(was);
    memcpy(was, f->other.bytes, was_size);
    if (ph_importer_take(f->importer, bytes, size) != PH_OK) {
        describe(f->to, 0, &f->other);
        assert_int_equal(f->other.begins[f->other.count], was_size);
        assert_memory_equal(f->other.bytes, was, was_size);
    }
    assert_true(ph_world_validate(f->to));
    free(was);
}

static void bytes_that_are_wrong_change_nothing(void** state)
{
    (void)state;
    ph_import_stats sum = {0};
    for (uint64_t seed = 0; seed < 8; ++seed) {
        fixture f;
        setup(&f, 700 + seed);
        spawn_many(&f, 12);
        send_whole(&f);
        for (int round = 0; round < 300; ++round) {
            ph_export_def def = draw_export(&f);
            def.is_whole = test_rng_below(&f.rng, 2) == 0;
            def.has_area = test_rng_below(&f.rng, 2) == 0;
            def.to_mm[0] = def.to_mm[1] = AREA_MM;
            export_to(f.from, &def, &f.tape);
            if (f.tape.count == 0) {
                continue;
            }
            size_t size;
            uint8_t* bytes = malloc(PH_EXPORT_BATCH_BYTES_MAX);
            assert_non_null(bytes);
            memcpy(bytes, batch_of(&f.tape, 0, &size), f.tape.begins[1]);
            const size_t at = test_rng_below(&f.rng, 3) == 0 ? test_rng_below(&f.rng, 52)
                                                             : test_rng_below(&f.rng, size);
            bytes[at < size ? at : size - 1] ^= (uint8_t)(1u << test_rng_below(&f.rng, 8));
            size = test_rng_below(&f.rng, 8) == 0 ? test_rng_below(&f.rng, size + 1) : size;
            take_wrong(&f, bytes, size);
            free(bytes);
        }
        const ph_import_stats stats = ph_importer_get_stats(f.importer);
        for (int i = 0; i < PH_IMPORT_REFUSAL_COUNT; ++i) {
            sum.refused[i] += stats.refused[i];
        }
        teardown(&f);
    }
    for (int i = 0; i < PH_IMPORT_REFUSAL_COUNT; ++i) {
        assert_true(sum.refused[i] > 0);
        assert_true(strlen(ph_import_refusal_text((ph_import_refusal)i)) > 10);
    }
}

static void a_batch_of_another_schema_is_refused(void** state)
{
    (void)state;
    fixture f;
    fixture other;
    setup_plain(&f);
    setup(&other, 5);
    ph_export_def def = ph_export_def_default();
    def.is_whole = true;
    export_to(other.from, &def, &other.tape);
    size_t size;
    const uint8_t* bytes = batch_of(&other.tape, 0, &size);
    assert_int_equal(ph_importer_take(f.importer, bytes, size), PH_ERROR_SCHEMA);
    assert_int_equal(ph_importer_get_stats(f.importer).refused[PH_IMPORT_REFUSAL_SCHEMA], 1);
    teardown(&other);
    teardown(&f);
}

// ---- memory

static void an_import_survives_every_lack_of_memory(void** state)
{
    (void)state;
    ph_result result = PH_ERROR_MEMORY;
    int n = 0;
    while (result != PH_OK) {
        fixture f;
        setup(&f, 900);
        spawn_many(&f, ENTITIES);
        set_some(&f, f.from, ph_world_find(f.from, f.keys[0]));
        ph_export_def def = ph_export_def_default();
        def.is_whole = true;
        def.batch_bytes = PH_EXPORT_BATCH_BYTES_MAX;
        export_to(f.from, &def, &f.tape);
        size_t size;
        const uint8_t* bytes = batch_of(&f.tape, 0, &size);
        f.memory.fail_at = f.memory.allocate_count + ++n;
        result = ph_importer_take(f.importer, bytes, size);
        f.memory.fail_at = 0;
        if (result == PH_OK) {
            assert_same(&f);
        } else {
            assert_int_equal(result, PH_ERROR_MEMORY);
            assert_int_equal(ph_world_entity_count(f.to), 0);
            assert_true(ph_world_validate(f.to));
        }
        teardown(&f);
    }
    assert_true(n > 5);
}

static void an_import_with_room_allocates_nothing(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 901);
    spawn_many(&f, ENTITIES);
    send_whole(&f);
    ph_export_def def = ph_export_def_default();
    def.is_whole = true;
    export_to(f.from, &def, &f.tape);
    import_all(f.importer, &f.tape);
    const int allocate_count = f.memory.allocate_count;
    import_all(f.importer, &f.tape);
    assert_int_equal(f.memory.allocate_count, allocate_count);
    teardown(&f);
}

static void an_export_without_memory_delivers_nothing(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 902);
    spawn_many(&f, 3);
    const ph_export_def def = ph_export_def_default();
    for (int n = 1; n <= 2; ++n) {
        f.from_memory.fail_at = f.from_memory.allocate_count + n;
        assert_int_equal(ph_world_export(f.from, &def, tape_add, &f.tape), PH_ERROR_MEMORY);
        assert_int_equal(f.tape.count, 0);
    }
    teardown(&f);
}

int main(void)
{
    draw_filter_tests();
    const struct CMUnitTest tests[] = {
        draw_unit_test(a_whole_export_makes_the_same_world_at_any_setting),
        cmocka_unit_test(an_empty_world_makes_an_empty_world),
        draw_unit_test(changes_keep_another_world_the_same_at_any_setting),
        cmocka_unit_test(nothing_new_makes_no_batch),
        cmocka_unit_test(removals_that_are_forgotten_ask_for_a_whole_export),
        draw_unit_test(a_whole_area_says_nothing_of_the_others),
        cmocka_unit_test(what_comes_late_is_ignored),
        cmocka_unit_test(another_owner_needs_a_higher_epoch),
        cmocka_unit_test(owners_do_not_touch_each_other),
        cmocka_unit_test(a_reference_waits_for_its_entity),
        cmocka_unit_test(a_reference_does_not_take_another_with_the_same_key),
        cmocka_unit_test(a_batch_ends_where_its_records_do),
        cmocka_unit_test(bytes_that_are_wrong_change_nothing),
        cmocka_unit_test(a_batch_of_another_schema_is_refused),
        cmocka_unit_test(an_import_survives_every_lack_of_memory),
        cmocka_unit_test(an_import_with_room_allocates_nothing),
        cmocka_unit_test(an_export_without_memory_delivers_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
