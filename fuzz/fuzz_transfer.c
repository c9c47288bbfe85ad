// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Batches from anybody into a world that has a few entities. What is refused has changed nothing. What is
// taken leaves a sound world, and the entities that the batch names, exported again and imported into
// a third world, are the same there.

#include "support/fuzz_source.h"

#include "transfer/transfer_wire.h"
#include "tools/tools.h"

#include <pinhole/transfer.h>

#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 6, DESCRIPTION_MAX = 1 << 18 };

static const char declarations[] = "class walker\n    place: position\n    health: range 0..100\n"
                                   "    leader: entity\n    name: string 12\n"
                                   "class stone\n    place: position\n";

// Everything of a world but its tick, in one piece.
typedef struct description {
    uint8_t* bytes;
    size_t size;
} description;

static void add_bytes(void* context, const void* bytes, size_t size)
{
    description* to = context;
    fuzz_demand(to->size + size <= DESCRIPTION_MAX);
    memcpy(to->bytes + to->size, bytes, size);
    memset(to->bytes + to->size + 8, 0, 4);
    to->size += size;
}

static description describe(const ph_world* world, uint32_t owner)
{
    description made = {.bytes = malloc(DESCRIPTION_MAX)};
    fuzz_demand(made.bytes != NULL);
    ph_export_def def = ph_export_def_default();
    def.is_whole = true;
    def.owner = owner;
    def.as_owner = owner;
    def.batch_bytes = DESCRIPTION_MAX;
    fuzz_demand(ph_world_export(world, &def, add_bytes, &made) == PH_OK);
    return made;
}

static bool is_same(const description* a, const description* b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static ph_world* make_world(const ph_schema* schema, int entity_count)
{
    ph_world_def def = ph_world_def_default();
    def.schema = schema;
    def.entity_capacity = 4;
    ph_world* world;
    fuzz_demand(ph_world_create(&def, &world) == PH_OK);
    for (int i = 0; i < entity_count; ++i) {
        const ph_spawn spawn = {
            .class_index = i % 2, .key = (uint64_t)i * 100, .position_mm = {i, i * 1000, 0}};
        ph_entity_id id;
        fuzz_demand(ph_world_spawn(world, &spawn, &id) == PH_OK);
    }
    return world;
}

// What an import took goes on to another world unharmed.
static void check_onward(const ph_schema* schema, const ph_world* world, uint32_t owner)
{
    ph_world* third = make_world(schema, 0);
    ph_importer* importer;
    fuzz_demand(ph_importer_create(&(ph_importer_def){.world = third}, &importer) == PH_OK);
    const description from = describe(world, owner);
    fuzz_demand(ph_importer_take(importer, from.bytes, from.size) == PH_OK);
    fuzz_demand(ph_world_validate(third));
    const description to = describe(third, owner);
    fuzz_demand(ph_importer_get_stats(importer).waiting_references > 0 || is_same(&from, &to));
    free(from.bytes);
    free(to.bytes);
    ph_importer_destroy(importer);
    ph_world_destroy(third);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    ph_schema* schema;
    fuzz_demand(ph_schema_parse(declarations, sizeof declarations - 1, NULL, &schema, NULL) ==
                PH_OK);
    ph_world* world = make_world(schema, ENTITIES);
    ph_importer* importer;
    fuzz_demand(ph_importer_create(&(ph_importer_def){.world = world}, &importer) == PH_OK);
    const description before = describe(world, 0);
    const ph_result result = ph_importer_take(importer, data, size);
    fuzz_demand(result == PH_OK || result == PH_ERROR_SCHEMA || result == PH_ERROR_VALUE);
    fuzz_demand(ph_world_validate(world));
    if (result != PH_OK) {
        const description after = describe(world, 0);
        fuzz_demand(is_same(&before, &after));
        free(after.bytes);
    } else {
        ph_batch_header header;
        ph_import_refusal refusal;
        fuzz_demand(ph_batch_header_read(&header, data, size, &refusal));
        check_onward(schema, world, header.owner);
    }
    free(before.bytes);
    ph_importer_destroy(importer);
    ph_world_destroy(world);
    ph_schema_destroy(schema);
    return 0;
}
