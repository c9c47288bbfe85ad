// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What an importer makes of batches by cell that come late, twice or in another order: tombstones, entities that
// have left, cells that are no longer followed, entities that are handed over.

#include "support/test_support.h"

#include "tools/tools.h"

#include <pinhole/transfer.h>

#include <string.h>

enum { CELL_MM = 20000, BATCHES_MAX = 32, OWNER = 7 };

static const char PLAIN[] = "class plain\n    place: position\n    health: range 0..100\n";

typedef struct tape {
    uint8_t bytes[BATCHES_MAX][PH_EXPORT_BATCH_BYTES_MIN];
    size_t sizes[BATCHES_MAX];
    int count;
} tape;

typedef struct fixture {
    ph_schema* schema;
    ph_world* from;
    ph_world* to;
    ph_exporter* exporter;
    ph_importer* importer;
    ph_import_event events[BATCHES_MAX];
    uint64_t keys[BATCHES_MAX];
    int event_count;
    uint32_t stamp;
} fixture;

static void note(void* context, ph_import_event event, ph_entity_id entity, uint64_t key)
{
    fixture* f = context;
    assert_true(f->event_count < BATCHES_MAX);
    assert_int_equal(ph_world_is_alive(f->to, entity), event != PH_IMPORT_REMOVED);
    f->events[f->event_count] = event;
    f->keys[f->event_count++] = key;
}

static void setup(fixture* f, int tombstone_capacity)
{
    *f = (fixture){.stamp = 10};
    assert_int_equal(ph_schema_parse(PLAIN, sizeof PLAIN - 1, NULL, &f->schema, NULL), PH_OK);
    ph_world_def world = ph_world_def_default();
    world.schema = f->schema;
    assert_int_equal(ph_world_create(&world, &f->from), PH_OK);
    assert_int_equal(ph_world_create(&world, &f->to), PH_OK);
    ph_exporter_def def = ph_exporter_def_default();
    def.world = f->from;
    def.cell_mm = CELL_MM;
    def.as_owner = OWNER;
    def.batch_bytes = PH_EXPORT_BATCH_BYTES_MIN;
    assert_int_equal(ph_exporter_create(&def, &f->exporter), PH_OK);
    const ph_importer_def importer = {.world = f->to,
                                      .tombstone_capacity = tombstone_capacity,
                                      .on_entity = note,
                                      .on_entity_context = f};
    assert_int_equal(ph_importer_create(&importer, &f->importer), PH_OK);
}

static void teardown(fixture* f)
{
    assert_true(ph_world_validate(f->to));
    ph_exporter_destroy(f->exporter);
    ph_importer_destroy(f->importer);
    ph_world_destroy(f->from);
    ph_world_destroy(f->to);
    ph_schema_destroy(f->schema);
}

static ph_entity_id spawn(ph_world* world, uint64_t key, int64_t x_mm)
{
    ph_entity_id id;
    const ph_spawn made = {.key = key, .position_mm = {x_mm, 0, 0}};
    assert_int_equal(ph_world_spawn(world, &made, &id), PH_OK);
    return id;
}

static void keep(void* context, const ph_cell_batch* batch)
{
    tape* to = context;
    assert_true(to->count < BATCHES_MAX && batch->size <= sizeof to->bytes[0]);
    memcpy(to->bytes[to->count], batch->bytes, batch->size);
    to->sizes[to->count++] = batch->size;
}

static void tell(fixture* f, tape* to)
{
    to->count = 0;
    ph_world_tick(f->from);
    assert_int_equal(ph_exporter_changes(f->exporter, f->stamp++, keep, to), PH_OK);
}

static void take(fixture* f, const tape* from)
{
    for (int i = 0; i < from->count; ++i) {
        assert_int_equal(ph_importer_take(f->importer, from->bytes[i], from->sizes[i]), PH_OK);
    }
}

static bool has(const fixture* f, uint64_t key)
{
    return ph_world_find(f->to, key).index1 != 0;
}

// ---- tombstones

static void what_was_removed_stays_so(void** state)
{
    (void)state;
    static tape before;
    static tape after;
    fixture f;
    setup(&f, 4);
    const ph_entity_id id = spawn(f.from, 5, 0);
    tell(&f, &before);
    take(&f, &before);
    assert_int_equal(ph_world_despawn(f.from, id), PH_OK);
    tell(&f, &after);
    take(&f, &after);
    take(&f, &before);
    assert_false(has(&f, 5));
    assert_int_equal(ph_importer_get_stats(f.importer).buried, 1);
    // Another entity with the same key is not the one that is gone.
    spawn(f.from, 5, 0);
    tell(&f, &after);
    take(&f, &after);
    assert_true(has(&f, 5));
    teardown(&f);
}

static void a_removal_that_overtakes_counts(void** state)
{
    (void)state;
    static tape before;
    static tape after;
    fixture f;
    setup(&f, 4);
    const ph_entity_id id = spawn(f.from, 5, 0);
    tell(&f, &before);
    assert_int_equal(ph_world_despawn(f.from, id), PH_OK);
    tell(&f, &after);
    take(&f, &after);
    take(&f, &before);
    assert_false(has(&f, 5));
    teardown(&f);
}

static void the_oldest_tombstones_are_forgotten(void** state)
{
    (void)state;
    for (int capacity = 0; capacity <= 6; ++capacity) {
        static tape before;
        static tape after;
        fixture f;
        setup(&f, capacity);
        ph_entity_id ids[6];
        for (uint64_t i = 0; i < 6; ++i) {
            ids[i] = spawn(f.from, i, 0);
        }
        tell(&f, &before);
        take(&f, &before);
        for (int i = 0; i < 6; ++i) {
            assert_int_equal(ph_world_despawn(f.from, ids[i]), PH_OK);
        }
        tell(&f, &after);
        take(&f, &after);
        take(&f, &before);
        for (uint64_t i = 0; i < 6; ++i) {
            assert_int_equal(has(&f, i), (int)i < 6 - capacity);
        }
        teardown(&f);
    }
}

// ---- cells

static void one_that_left_is_removed_where_its_new_cell_is_not_followed(void** state)
{
    (void)state;
    static tape first;
    static tape moved;
    fixture f;
    setup(&f, 4);
    const ph_entity_id id = spawn(f.from, 5, 0);
    tell(&f, &first);
    take(&f, &first);
    assert_int_equal(ph_world_move(f.from, id, CELL_MM, 0, 0), PH_OK);
    tell(&f, &moved);
    assert_int_equal(moved.count, 2); // it arrives, then it leaves
    assert_int_equal(ph_importer_take(f.importer, moved.bytes[1], moved.sizes[1]), PH_OK);
    assert_false(has(&f, 5));
    take(&f, &first); // late
    assert_false(has(&f, 5));
    assert_int_equal(ph_importer_take(f.importer, moved.bytes[0], moved.sizes[0]), PH_OK);
    assert_true(has(&f, 5)); // at the same time, elsewhere
    assert_int_equal(ph_importer_take(f.importer, moved.bytes[1], moved.sizes[1]), PH_OK);
    assert_true(has(&f, 5)); // it stands elsewhere
    teardown(&f);
}

static void hiding_removes_it_from_the_public_channel(void** state)
{
    (void)state;
    static tape batches;
    fixture f;
    setup(&f, 4);
    const ph_entity_id id = spawn(f.from, 5, 0);
    tell(&f, &batches);
    take(&f, &batches);
    assert_int_equal(ph_world_set_visibility(f.from, id, 4, false, false), PH_OK);
    tell(&f, &batches);
    assert_int_equal(batches.count, 2);
    for (int i = 0; i < 2; ++i) {
        ph_import_peek peek;
        assert_true(ph_importer_peek(batches.bytes[i], batches.sizes[i], &peek));
        if (peek.channel == PH_CHANNEL_PUBLIC) {
            assert_int_equal(ph_importer_take(f.importer, batches.bytes[i], batches.sizes[i]),
                             PH_OK);
        }
    }
    assert_false(has(&f, 5));
    teardown(&f);
}

static void a_cell_that_is_dropped_is_empty(void** state)
{
    (void)state;
    static tape batches;
    fixture f;
    setup(&f, 4);
    spawn(f.from, 5, 0);
    spawn(f.from, 6, -1);
    spawn(f.to, 7, 0); // its own
    tell(&f, &batches);
    take(&f, &batches);
    f.event_count = 0;
    assert_int_equal(ph_importer_drop(f.importer, (ph_cell){0, 0}, CELL_MM, 1), 0);
    assert_int_equal(ph_importer_drop(f.importer, (ph_cell){0, 0}, CELL_MM, 0), 1);
    assert_false(has(&f, 5));
    assert_true(has(&f, 6) && has(&f, 7));
    assert_int_equal(f.event_count, 1);
    assert_int_equal(f.keys[0], 5);
    teardown(&f);
}

// ---- owners

static void an_entity_changes_its_owner_by_a_higher_epoch_only(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 4);
    const ph_entity_id id = spawn(f.from, 5, 0);
    spawn(f.to, 5, 3);
    uint8_t bytes[PH_EXPORT_BATCH_BYTES_MIN];
    size_t size = ph_exporter_entity(f.exporter, id, 20, bytes, sizeof bytes);
    assert_int_equal(ph_exporter_entity(f.exporter, id, 20, bytes, size - 1), 0);
    ph_ownership ownership;
    // Another incarnation of the key, of another owner: with an equal epoch nothing happens.
    assert_int_equal(ph_importer_take(f.importer, bytes, size), PH_OK);
    assert_int_equal(ph_world_get_ownership(f.to, ph_world_find(f.to, 5), &ownership), PH_OK);
    assert_int_equal(ownership.owner, 0);
    assert_int_equal(f.event_count, 0);
    assert_int_equal(ph_world_set_ownership(f.from, id, (ph_ownership){0, 1}), PH_OK);
    size = ph_exporter_entity(f.exporter, id, 20, bytes, sizeof bytes);
    assert_int_equal(ph_importer_take(f.importer, bytes, size), PH_OK);
    assert_int_equal(ph_world_get_ownership(f.to, ph_world_find(f.to, 5), &ownership), PH_OK);
    assert_int_equal(ownership.owner, OWNER);
    assert_int_equal(ownership.epoch, 1);
    assert_int_equal(f.event_count, 1);
    assert_int_equal(f.events[0], PH_IMPORT_OWNER_CHANGED);
    assert_int_equal(f.keys[0], 5);
    teardown(&f);
}

static void one_that_was_handed_over_leaves(void** state)
{
    (void)state;
    static tape batches;
    fixture f;
    setup(&f, 4);
    const ph_entity_id id = spawn(f.from, 5, 0);
    tell(&f, &batches);
    take(&f, &batches);
    // Its new owner speaks first: what the old one says no longer counts.
    assert_int_equal(ph_world_set_ownership(f.to, ph_world_find(f.to, 5), (ph_ownership){9, 1}),
                     PH_OK);
    assert_int_equal(ph_world_set_ownership(f.from, id, (ph_ownership){9, 1}), PH_OK);
    tell(&f, &batches);
    assert_int_equal(batches.count, 1);
    take(&f, &batches);
    assert_true(has(&f, 5));
    // And back: a state.
    assert_int_equal(ph_world_set_ownership(f.from, id, (ph_ownership){0, 2}), PH_OK);
    tell(&f, &batches);
    take(&f, &batches);
    ph_ownership ownership;
    assert_int_equal(ph_world_get_ownership(f.to, ph_world_find(f.to, 5), &ownership), PH_OK);
    assert_int_equal(ownership.owner, OWNER);
    teardown(&f);
}

static void cells_and_channels_are_as_documented(void** state)
{
    (void)state;
    assert_true(ph_cell_is_same(ph_cell_at(-1, 0, CELL_MM), (ph_cell){-1, 0}));
    assert_true(ph_cell_is_same(ph_cell_at(-CELL_MM, CELL_MM - 1, CELL_MM), (ph_cell){-1, 0}));
    assert_true(ph_cell_is_same(ph_cell_at(-CELL_MM - 1, CELL_MM, CELL_MM), (ph_cell){-2, 1}));
    assert_true(ph_channels_of(UINT32_MAX, false) == 1);
    assert_true(ph_channels_of(UINT32_MAX, true) == UINT64_C(1) << PH_CHANNEL_OWN);
    assert_true(ph_channels_of(0, false) == UINT64_C(1) << PH_CHANNEL_OWN);
    assert_true(ph_channels_of(UINT32_C(0x80000001), false) == (UINT64_C(1) << 32 | 1u << 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_removed_stays_so),
        cmocka_unit_test(a_removal_that_overtakes_counts),
        cmocka_unit_test(the_oldest_tombstones_are_forgotten),
        cmocka_unit_test(one_that_left_is_removed_where_its_new_cell_is_not_followed),
        cmocka_unit_test(hiding_removes_it_from_the_public_channel),
        cmocka_unit_test(a_cell_that_is_dropped_is_empty),
        cmocka_unit_test(an_entity_changes_its_owner_by_a_higher_epoch_only),
        cmocka_unit_test(one_that_was_handed_over_leaves),
        cmocka_unit_test(cells_and_channels_are_as_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
