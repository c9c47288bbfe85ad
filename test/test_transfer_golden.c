// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Golden batches, byte for byte: written anew and compared with test/golden/transfer/batches.txt, which
// test/read_transfer.py reads by the document alone. With PINHOLE_GOLDEN_WRITE in the environment the
// file is written instead; read the difference.

#include "support/golden_hex.h"
#include "support/test_support.h"

#include "transfer/transfer_wire.h"

#include <stdio.h>
#include <string.h>

static const char path[] = "test/golden/transfer/batches.txt";
static const char heading[] =
    "# Batches of exports, and what they say. docs/wire_transfer.md has the format; written by\n"
    "# test/test_transfer_golden.c, read by test/read_transfer.py. The schema:\n"
    "#   class walker   place: position   health: range 0..100   leader: entity   name: string 12\n"
    "#   class stone    place: position\n";
static const char SCHEMA[] = "class walker\n    place: position\n    health: range 0..100\n"
                             "    leader: entity\n    name: string 12\n"
                             "class stone\n    place: position\n";
enum { HEALTH = 1, LEADER, NAME, TEXT_MAX = GOLDEN_HEX_FILE_MAX };

typedef struct golden {
    ph_schema* schema;
    ph_world* world;
    char* text;
    int length;
} golden;

// ---- a small story

static ph_entity_id spawn(golden* g, int class_index, uint64_t key, int64_t x_mm, int64_t y_mm)
{
    const ph_spawn made = {
        .class_index = class_index, .key = key, .position_mm = {x_mm, y_mm, -7}, .seen_by = 5};
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(g->world, &made, &id), PH_OK);
    return id;
}

static void set_health(golden* g, uint64_t key, uint8_t health)
{
    assert_int_equal(ph_world_set_property(g->world, ph_world_find(g->world, key), HEALTH,
                                           PH_FIELD_U8, &health, sizeof health),
                     PH_OK);
}

static void begin(golden* g)
{
    ph_world_def def = ph_world_def_default();
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &g->schema, NULL), PH_OK);
    def.schema = g->schema;
    def.removal_capacity = 4;
    assert_int_equal(ph_world_create(&def, &g->world), PH_OK);
}

static void populate(golden* g)
{
    const ph_entity_id anna = spawn(g, 0, 1, 1000, -2000);
    const ph_entity_id ben = spawn(g, 0, 300, INT32_MIN, INT32_MAX);
    spawn(g, 1, UINT64_MAX, 0, 0);
    set_health(g, 1, 100);
    assert_int_equal(
        ph_world_set_property(g->world, ben, LEADER, PH_FIELD_ENTITY, &anna, sizeof anna), PH_OK);
    assert_int_equal(ph_world_set_property(g->world, anna, NAME, PH_FIELD_TEXT, "Anna", 4), PH_OK);
    assert_int_equal(ph_world_set_visibility(g->world, ben, 0, false, true), PH_OK);
    assert_int_equal(ph_world_set_ownership(g->world, ben, (ph_ownership){0, 200}), PH_OK);
    ph_world_tick(g->world);
}

static void go_on(golden* g)
{
    set_health(g, 1, 99);
    assert_int_equal(ph_world_move(g->world, ph_world_find(g->world, 300), 1, 2, 3), PH_OK);
    assert_int_equal(ph_world_despawn(g->world, ph_world_find(g->world, UINT64_MAX)), PH_OK);
}

// ---- as text

static int describe_record(const ph_transfer_record* record, const ph_transfer_values* values,
                           char* text)
{
    static const char* const KINDS[] = {"removed", "left", "changed", "state"};
    int length = sprintf(text, "; %s %llu incarnation %u epoch %u", KINDS[record->kind],
                         (unsigned long long)record->key, record->incarnation, record->epoch);
    if (record->kind < PH_TRANSFER_CHANGED) {
        return length;
    }
    length += sprintf(text + length, " class %d", record->class_index);
    if (record->kind == PH_TRANSFER_STATE) {
        length += sprintf(text + length, " seen %08x flags %u", record->seen_by, record->flags);
    }
    if (record->has_position) {
        length += sprintf(text + length, " at %d %d %d", record->position_mm[0],
                          record->position_mm[1], record->position_mm[2]);
    }
    if ((record->mask >> HEALTH & 1) != 0) {
        length += sprintf(text + length, " health %u", values->words[HEALTH][0]);
    }
    const ph_transfer_target* leader = &values->targets[LEADER];
    if ((record->mask >> LEADER & 1) != 0 && leader->is_named) {
        length += sprintf(text + length, " leader %llu incarnation %u",
                          (unsigned long long)leader->key, leader->incarnation);
    } else if ((record->mask >> LEADER & 1) != 0) {
        length += sprintf(text + length, " leader none");
    }
    if ((record->mask >> NAME & 1) != 0) {
        length += sprintf(text + length, " name '%.*s'", values->texts[NAME].length,
                          (const char*)values->texts[NAME].bytes);
    }
    return length;
}

static int describe_header(const ph_batch_header* header, char* text)
{
    int length = sprintf(text, "%s owner %u stamp %u fingerprint %016llx records %d",
                         header->is_whole ? "whole" : "changes", header->owner, header->stamp,
                         (unsigned long long)header->fingerprint, header->record_count);
    if (header->has_cell) {
        length += sprintf(text + length, " cell %d %d of %d channel %d", header->cell.x,
                          header->cell.y, header->cell_mm, header->channel);
    }
    if (header->is_whole) {
        length += sprintf(text + length, " keys %llu..%llu", (unsigned long long)header->first_key,
                          (unsigned long long)header->last_key);
    }
    if (header->has_area) {
        length += sprintf(text + length, " x %d..%d y %d..%d", header->from_mm[0], header->to_mm[0],
                          header->from_mm[1], header->to_mm[1]);
    }
    return length;
}

static void add_batch(void* context, const void* bytes, size_t size)
{
    golden* g = context;
    ph_batch_header header;
    ph_import_refusal refusal;
    assert_true(ph_batch_header_read(&header, bytes, size, &refusal));
    g->length += golden_add_hex(g->text + g->length, bytes, size);
    g->length += sprintf(g->text + g->length, " = ");
    g->length += describe_header(&header, g->text + g->length);
    const size_t header_size = ph_batch_header_size(&header);
    ph_transfer_reader reader = {.bytes = (const uint8_t*)bytes + header_size,
                                 .size = size - header_size,
                                 .schema = g->schema};
    for (int i = 0; i < header.record_count; ++i) {
        static ph_transfer_values values;
        ph_transfer_record record;
        assert_true(ph_transfer_read(&reader, &record, &refusal));
        assert_true(record.mask == 0 ||
                    ph_transfer_read_values(&reader, &record, &values, &refusal));
        g->length += describe_record(&record, &values, g->text + g->length);
    }
    assert_int_equal(reader.at, reader.size);
    g->length += sprintf(g->text + g->length, "\n");
}

static void add_cell_batch(void* context, const ph_cell_batch* batch)
{
    add_batch(context, batch->bytes, batch->size);
}

static void export_one(golden* g, ph_exporter* exporter, uint64_t key)
{
    uint8_t bytes[PH_EXPORT_BATCH_BYTES_MIN];
    const size_t size =
        ph_exporter_entity(exporter, ph_world_find(g->world, key), 70, bytes, sizeof bytes);
    assert_true(size > 0);
    add_batch(g, bytes, size);
}

// Cells of 16 m: one walks from one to the next, one is hidden, one is seen everywhere, one is removed.
static void export_cells(golden* g)
{
    ph_exporter_def def = ph_exporter_def_default();
    def.world = g->world;
    def.cell_mm = PH_CELL_MM_MIN;
    def.as_owner = 3;
    ph_exporter* exporter;
    assert_int_equal(ph_exporter_create(&def, &exporter), PH_OK);
    spawn(g, 1, 9, 0, 0);
    assert_int_equal(ph_exporter_changes(exporter, 66, add_cell_batch, g), PH_OK);
    ph_world_tick(g->world);
    set_health(g, 300, 7);
    assert_int_equal(ph_world_move(g->world, ph_world_find(g->world, 1), 17000, -2000, 0), PH_OK);
    assert_int_equal(
        ph_world_set_visibility(g->world, ph_world_find(g->world, 300), UINT32_MAX, true, false),
        PH_OK);
    assert_int_equal(ph_world_despawn(g->world, ph_world_find(g->world, 9)), PH_OK);
    ph_world_tick(g->world);
    assert_int_equal(ph_exporter_changes(exporter, 67, add_cell_batch, g), PH_OK);
    assert_int_equal(ph_world_move(g->world, ph_world_find(g->world, 1), 17001, -2000, 0), PH_OK);
    ph_world_tick(g->world);
    assert_int_equal(ph_exporter_changes(exporter, 68, add_cell_batch, g), PH_OK);
    assert_int_equal(
        ph_exporter_cell(exporter, PH_CELL_EVERYWHERE, PH_CHANNEL_PUBLIC, 69, add_cell_batch, g),
        PH_OK);
    assert_int_equal(ph_exporter_cell(exporter, (ph_cell){1, -1}, 1, 69, add_cell_batch, g), PH_OK);
    assert_int_equal(
        ph_exporter_cell(exporter, (ph_cell){0, 0}, PH_CHANNEL_OWN, 69, add_cell_batch, g), PH_OK);
    export_one(g, exporter, 300);
    ph_exporter_destroy(exporter);
}

static void batches_are_written_as_ever(void** state)
{
    (void)state;
    static char text[TEXT_MAX];
    golden g = {.text = text};
    g.length = sprintf(text, "%s", heading);
    begin(&g);
    ph_export_def whole = ph_export_def_default();
    whole.is_whole = true;
    const ph_export_def changes = ph_export_def_default();
    assert_int_equal(ph_world_export(g.world, &whole, add_batch, &g), PH_OK);
    populate(&g);
    assert_int_equal(ph_world_export(g.world, &whole, add_batch, &g), PH_OK);
    whole.has_area = true;
    whole.from_mm[1] = -3000;
    whole.to_mm[0] = whole.to_mm[1] = 5000;
    whole.as_owner = 70000;
    assert_int_equal(ph_world_export(g.world, &whole, add_batch, &g), PH_OK);
    go_on(&g);
    ph_export_def since = changes;
    since.since_tick = 1;
    assert_int_equal(ph_world_export(g.world, &since, add_batch, &g), PH_OK);
    assert_int_equal(ph_world_export(g.world, &changes, add_batch, &g), PH_OK);
    export_cells(&g);
    golden_expect_file(path, text, g.length);
    ph_world_destroy(g.world);
    ph_schema_destroy(g.schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_written_as_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
