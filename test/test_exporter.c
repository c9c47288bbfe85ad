// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Exporters: worlds that follow some channels, or some cells, have what is there and nothing else,
// whatever happens; what is told on a channel depends on nothing else; departures come last; memory.

#include "support/draw.h"
#include "support/session_values.h"
#include "support/test_memory.h"
#include "support/test_support.h"

#include "transfer/export.h"
#include "transfer/transfer_wire.h"
#include "world/world_state.h"
#include "tools/tools.h"

#include <pinhole/transfer.h>

#include <stdlib.h>
#include <string.h>

enum {
    CELL_MM = 20000,
    AREA_MM = 100000,
    ENTITIES = 80,
    KEYS_MAX = 4000,
    FOLLOWERS = 4,
    BYTES_MAX = 1 << 22,
    ROUNDS = 10,
    STEPS = 12
};

typedef struct follower {
    ph_world* world;
    ph_importer* importer;
    uint64_t channels; // that it follows
    bool is_west;      // cells of negative x, and those everywhere, only
    int created;
    int removed;
    int owner_changed;
} follower;

typedef struct fixture {
    test_rng rng;
    ph_schema* schema;
    ph_world* world;
    ph_exporter* exporter;
    follower followers[FOLLOWERS];
    uint64_t keys[KEYS_MAX];
    int key_count;
    uint32_t stamp;
    bool has_handovers;
    test_memory memory;
} fixture;

// ---- worlds

static void count_event(void* context, ph_import_event event, ph_entity_id entity, uint64_t key)
{
    follower* of = context;
    // The key may be that of another entity by now.
    assert_int_equal(ph_world_is_alive(of->world, entity), event != PH_IMPORT_REMOVED);
    assert_true(event == PH_IMPORT_REMOVED ||
                ph_world_find(of->world, key).index1 == entity.index1);
    of->created += event == PH_IMPORT_CREATED;
    of->removed += event == PH_IMPORT_REMOVED;
    of->owner_changed += event == PH_IMPORT_OWNER_CHANGED;
}

static ph_world* make_world(const ph_schema* schema, test_memory* memory)
{
    ph_world_def def = ph_world_def_default();
    def.schema = schema;
    def.entity_capacity = 10;
    if (memory != NULL) {
        def.allocator = test_memory_allocator(memory);
    }
    ph_world* world;
    assert_int_equal(ph_world_create(&def, &world), PH_OK);
    return world;
}

static ph_exporter* make_exporter(ph_world* world, int batch_bytes)
{
    ph_exporter_def def = ph_exporter_def_default();
    def.world = world;
    def.cell_mm = CELL_MM;
    def.as_owner = 7;
    def.batch_bytes = batch_bytes;
    ph_exporter* exporter;
    assert_int_equal(ph_exporter_create(&def, &exporter), PH_OK);
    return exporter;
}

static void setup(fixture* f, uint64_t seed)
{
    *f = (fixture){.rng = {.state = seed}, .stamp = 100, .has_handovers = true};
    f->schema = draw_schema(&f->rng, &(draw_schema_limits){4, 12});
    f->world = make_world(f->schema, &f->memory);
    f->exporter =
        make_exporter(f->world, PH_EXPORT_BATCH_BYTES_MIN + (int)test_rng_below(&f->rng, 3000));
    const uint64_t all = (UINT64_C(1) << PH_CHANNEL_COUNT) - 1;
    const uint64_t channels[FOLLOWERS] = {all, 1, 1u << 1 | 1u << 2, 1 | 1u << 2};
    for (int i = 0; i < FOLLOWERS; ++i) {
        follower* of = &f->followers[i];
        *of = (follower){.world = make_world(f->schema, NULL), .channels = channels[i]};
        of->is_west = i == 3;
        const ph_importer_def def = {.world = of->world,
                                     .tombstone_capacity = 100,
                                     .on_entity = count_event,
                                     .on_entity_context = of};
        assert_int_equal(ph_importer_create(&def, &of->importer), PH_OK);
    }
}

static void teardown(fixture* f)
{
    for (int i = 0; i < FOLLOWERS; ++i) {
        ph_importer_destroy(f->followers[i].importer);
        ph_world_destroy(f->followers[i].world);
    }
    ph_exporter_destroy(f->exporter);
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
    test_memory_assert_clean(&f->memory);
}

static int64_t draw_coordinate(fixture* f)
{
    return test_rng_below(&f->rng, 50) == 0 ? draw_whole(&f->rng, INT32_MIN, INT32_MAX)
                                            : draw_whole(&f->rng, -AREA_MM, AREA_MM);
}

static uint32_t draw_mask(fixture* f)
{
    static const uint32_t MASKS[] = {UINT32_MAX, UINT32_MAX, 1, 2, 3, 0, 6};
    return MASKS[test_rng_below(&f->rng, 7)];
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
    const ph_class* described = ph_schema_class_at(f->schema, class_index);
    for (int p = 0; p < described->def.property_count; ++p) {
        if (p != described->position && test_rng_below(&f->rng, 3) == 0) {
            session_value_set_wide(f->world, id, &described->properties[p].def, p, &f->rng, targets,
                                   3);
        }
    }
}

static void spawn_any(fixture* f, uint64_t key)
{
    const ph_spawn spawn = {
        .class_index = (int)test_rng_below(&f->rng, (uint64_t)ph_schema_class_count(f->schema)),
        .key = key,
        .position_mm = {draw_coordinate(f), draw_coordinate(f), 5},
        .seen_by = draw_mask(f),
        .is_always_visible = test_rng_below(&f->rng, 10) == 0,
        .is_never_visible = test_rng_below(&f->rng, 10) == 0,
    };
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(f->world, &spawn, &id), PH_OK);
    set_some(f, id);
}

static void spawn_new(fixture* f)
{
    const uint64_t key =
        test_rng_below(&f->rng, 4) == 0 ? test_rng_next(&f->rng) : (uint64_t)f->key_count + 1;
    assert_true(f->key_count < KEYS_MAX);
    f->keys[f->key_count++] = key;
    spawn_any(f, key);
}

static void change_one(fixture* f)
{
    const uint64_t key = f->keys[test_rng_below(&f->rng, (uint64_t)f->key_count)];
    const ph_entity_id id = ph_world_find(f->world, key);
    ph_ownership ownership;
    if (id.index1 == 0) {
        return;
    }
    switch (test_rng_below(&f->rng, 9)) {
    case 0:
        assert_int_equal(ph_world_despawn(f->world, id), PH_OK);
        if (test_rng_below(&f->rng, 2) == 0) {
            spawn_any(f, key);
        }
        break;
    case 1:
        assert_int_equal(ph_world_set_visibility(f->world, id, draw_mask(f),
                                                 test_rng_below(&f->rng, 10) == 0,
                                                 test_rng_below(&f->rng, 10) == 0),
                         PH_OK);
        break;
    case 2:
        spawn_new(f);
        break;
    case 3: // handed over and taken back
        if (!f->has_handovers) {
            break;
        }
        assert_int_equal(ph_world_get_ownership(f->world, id, &ownership), PH_OK);
        ownership = (ph_ownership){ownership.owner == 0 ? 9 : 0, ownership.epoch + 1};
        assert_int_equal(ph_world_set_ownership(f->world, id, ownership), PH_OK);
        break;
    case 4:
    case 5:
    case 6:
        assert_int_equal(ph_world_move(f->world, id, draw_coordinate(f), draw_coordinate(f), 0),
                         PH_OK);
        break;
    default:
        set_some(f, id);
    }
}

static void change_some(fixture* f)
{
    for (int i = 0; i < 40; ++i) {
        change_one(f);
    }
    ph_world_tick(f->world);
}

// ---- following

static void take_batch(void* context, const ph_cell_batch* batch)
{
    fixture* f = context;
    ph_import_peek peek;
    assert_true(ph_importer_peek(batch->bytes, batch->size, &peek));
    assert_true(peek.has_cell && ph_cell_is_same(peek.cell, batch->cell) &&
                peek.channel == batch->channel && peek.record_count == batch->record_count &&
                peek.stamp == f->stamp && peek.owner == 7 && peek.cell_mm == CELL_MM);
    for (int i = 0; i < FOLLOWERS; ++i) {
        const follower* of = &f->followers[i];
        if ((of->channels >> batch->channel & 1) != 0 && (!of->is_west || batch->cell.x < 0)) {
            assert_int_equal(ph_importer_take(of->importer, batch->bytes, batch->size), PH_OK);
        }
    }
}

static void tell(fixture* f)
{
    ++f->stamp;
    assert_int_equal(ph_exporter_changes(f->exporter, f->stamp, take_batch, f), PH_OK);
}

static bool is_followed(const fixture* f, const follower* of, ph_entity_index index)
{
    const ph_entities* entities = &f->world->store.entities;
    const ph_placement at = ph_placement_of(entities, index, CELL_MM);
    return entities->whereabouts[index].owner == 0 && (at.channels & of->channels) != 0 &&
           (!of->is_west || at.cell.x < 0);
}

// Everything of an entity but what its references name.
static size_t describe(const ph_world* world, ph_entity_index index, uint8_t* bytes)
{
    return ph_transfer_write_state(bytes, &world->store, index, 0);
}

static void assert_followed(const fixture* f, const follower* of)
{
    const ph_entities* entities = &f->world->store.entities;
    int count = 0;
    for (int i = 0; i < entities->live_count; ++i) {
        const ph_entity_index index = entities->live[i];
        ph_entity_index theirs;
        if (!is_followed(f, of, index)) {
            continue;
        }
        ++count;
        assert_true(ph_entities_has_key(&of->world->store.entities, entities->key[index], &theirs));
        uint8_t here[PH_EXPORT_BATCH_BYTES_MIN];
        uint8_t there[PH_EXPORT_BATCH_BYTES_MIN];
        const size_t size = describe(f->world, index, here);
        assert_int_equal(describe(of->world, theirs, there), size);
        assert_memory_equal(here, there, size);
    }
    assert_int_equal(ph_world_entity_count(of->world), count);
    assert_int_equal(of->created - of->removed, count);
    assert_true(ph_world_validate(of->world));
}

static void followers_have_what_is_on_their_channels_at_any_setting(void** state)
{
    (void)state;
    const draw_rounds rounds = draw_rounds_of(ROUNDS);
    for (int round = rounds.first; round < rounds.end; ++round) {
        draw_begin(round);
        fixture f;
        setup(&f, 100 + (uint64_t)round);
        for (int i = 0; i < ENTITIES; ++i) {
            spawn_new(&f);
        }
        for (int step = 0; step < STEPS; ++step) {
            for (uint64_t ticks = test_rng_below(&f.rng, 7); ticks-- > 0;) {
                change_some(&f);
            }
            tell(&f);
            for (int i = 0; i < FOLLOWERS; ++i) {
                assert_followed(&f, &f.followers[i]);
            }
        }
        teardown(&f);
    }
    draw_end();
}

// References to hidden ones are told as none, and told when they are shown.
static void references_are_as_the_channel_may_know_at_any_setting(void** state)
{
    (void)state;
    const draw_rounds rounds = draw_rounds_of(ROUNDS);
    for (int round = rounds.first; round < rounds.end; ++round) {
        draw_begin(round);
        fixture f;
        setup(&f, 200 + (uint64_t)round);
        f.has_handovers = false; // those who took it over would have to tell of it
        for (int i = 0; i < ENTITIES; ++i) {
            spawn_new(&f);
        }
        for (int step = 0; step < STEPS; ++step) {
            change_some(&f);
            tell(&f);
        }
        // A new follower of all cells of a channel gets the same from snapshots as an old one from changes.
        follower* of = &f.followers[1];
        for (int i = 0; i < f.world->store.entities.live_count; ++i) {
            const ph_entity_index index = f.world->store.entities.live[i];
            if (!is_followed(&f, of, index)) {
                continue;
            }
            ph_entity_index theirs;
            assert_true(ph_entities_has_key(&of->world->store.entities,
                                            f.world->store.entities.key[index], &theirs));
            uint8_t here[PH_EXPORT_BATCH_BYTES_MIN];
            uint8_t there[PH_EXPORT_BATCH_BYTES_MIN];
            const size_t size = ph_transfer_write_state(here, &f.world->store, index,
                                                        ph_export_named(&f.world->store, index, 1));
            assert_int_equal(ph_transfer_write_state(there, &of->world->store, theirs, UINT64_MAX),
                             size);
            assert_memory_equal(here, there, size);
        }
        teardown(&f);
    }
    draw_end();
}

// ---- snapshots

static void take_by_first(void* context, const ph_cell_batch* batch)
{
    fixture* f = context;
    assert_int_equal(ph_importer_take(f->followers[0].importer, batch->bytes, batch->size), PH_OK);
}

static void lose_batch(void* context, const ph_cell_batch* batch)
{
    (void)context;
    (void)batch;
}

static void snapshot_all(fixture* f)
{
    const int end = AREA_MM / CELL_MM + 1;
    assert_int_equal(ph_exporter_changes(f->exporter, ++f->stamp, lose_batch, NULL), PH_OK);
    for (int channel = 0; channel < PH_CHANNEL_COUNT; ++channel) {
        for (int32_t x = -end; x < end; ++x) {
            for (int32_t y = -end; y < end; ++y) {
                assert_int_equal(ph_exporter_cell(f->exporter, (ph_cell){x, y}, channel, f->stamp,
                                                  take_by_first, f),
                                 PH_OK);
            }
        }
        assert_int_equal(
            ph_exporter_cell(f->exporter, PH_CELL_EVERYWHERE, channel, f->stamp, take_by_first, f),
            PH_OK);
    }
}

static void snapshots_make_good_what_was_lost(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 300);
    for (int i = 0; i < ENTITIES; ++i) {
        const ph_spawn spawn = {.key = (uint64_t)i * 3,
                                .position_mm = {i * 1000 - 40000, 1, 2},
                                .seen_by = i % 3 == 0 ? 6 : UINT32_MAX};
        ph_entity_id id;
        assert_int_equal(ph_world_spawn(f.world, &spawn, &id), PH_OK);
        f.keys[f.key_count++] = spawn.key;
    }
    for (int step = 0; step < 3; ++step) {
        snapshot_all(&f);
        assert_followed(&f, &f.followers[0]);
        for (int i = step; i < ENTITIES; i += 4) {
            const ph_entity_id id = ph_world_find(f.world, f.keys[i]);
            if (i % 8 == 0) {
                ph_world_despawn(f.world, id);
            } else {
                ph_world_move(f.world, id, -i * 1000, 3, 4);
                ph_world_set_visibility(f.world, id, i % 5 == 0 ? 4 : UINT32_MAX, i % 7 == 0,
                                        false);
            }
        }
        ph_world_tick(f.world);
    }
    teardown(&f);
}

// ---- secrecy

typedef struct recording {
    uint8_t* bytes[PH_CHANNEL_COUNT];
    size_t size[PH_CHANNEL_COUNT];
} recording;

static void record_batch(void* context, const ph_cell_batch* batch)
{
    recording* to = context;
    uint8_t** bytes = &to->bytes[batch->channel];
    size_t* size = &to->size[batch->channel];
    *bytes = *bytes != NULL ? *bytes : malloc(BYTES_MAX);
    assert_true(*bytes != NULL && *size + batch->size <= BYTES_MAX);
    memcpy(*bytes + *size, batch->bytes, batch->size);
    *size += batch->size;
}

enum { PLAIN_LEADER = 2, COMMON_CHANNEL = 4, COMMON = 100 };
static const char PLAIN[] = "class plain\n    place: position\n    health: range 0..100\n"
                            "    leader: entity\n    name: string 40\n";

// Two worlds with the same entities on PUBLIC and channel 4; the second has others, too.
typedef struct twins {
    test_rng rng;
    test_rng hidden_rng;
    ph_world* worlds[2];
    ph_exporter* exporters[2];
} twins;

static void spawn_twin(twins* t, int world, uint64_t key, test_rng* rng)
{
    static const uint32_t SHOWN[] = {UINT32_MAX, 1u << (COMMON_CHANNEL - 1),
                                     1u << (COMMON_CHANNEL - 1) | 1};
    const ph_spawn spawn = {
        .key = key,
        .position_mm = {draw_whole(rng, -AREA_MM, AREA_MM), draw_whole(rng, 0, AREA_MM), 0},
        .seen_by = world < 2 ? SHOWN[test_rng_below(rng, 3)] : 1u << test_rng_below(rng, 3),
        .is_always_visible = test_rng_below(rng, 9) == 0,
        .is_never_visible = world == 2 && test_rng_below(rng, 3) == 0,
    };
    ph_entity_id id;
    for (int i = world == 2 ? 1 : 0; i < 2; ++i) {
        assert_int_equal(ph_world_spawn(t->worlds[i], &spawn, &id), PH_OK);
    }
}

static void change_twin(twins* t, uint64_t key)
{
    const uint64_t act = test_rng_below(&t->rng, 6);
    const int64_t x_mm = draw_whole(&t->rng, -AREA_MM, AREA_MM);
    const uint8_t health = (uint8_t)test_rng_below(&t->rng, 100);
    const uint64_t target = test_rng_below(&t->rng, COMMON);
    const bool is_respawned = test_rng_below(&t->rng, 2) == 0;
    const bool is_hidden_target = test_rng_below(&t->rng, 2) == 0;
    test_rng before = t->rng;
    for (int i = 0; i < 2; ++i) {
        ph_world* world = t->worlds[i];
        const ph_entity_id id = ph_world_find(world, key);
        if (id.index1 == 0) {
            return;
        }
        ph_entity_id leader = ph_world_find(world, target);
        if (is_hidden_target) {
            leader = ph_world_find(world, 100000 + target); // {0} in the first world
        }
        if (act == 0) {
            assert_int_equal(ph_world_despawn(world, id), PH_OK);
        } else if (act == 1) {
            ph_world_set_property(world, id, 1, PH_FIELD_U8, &health, 1);
        } else if (act == 2) {
            ph_world_set_property(world, id, PLAIN_LEADER, PH_FIELD_ENTITY, &leader, sizeof leader);
        } else {
            assert_int_equal(ph_world_move(world, id, x_mm, 0, 0), PH_OK);
        }
    }
    if (act == 0 && is_respawned) {
        spawn_twin(t, 0, key, &before);
    }
}

// Spawns, despawns and moves of the second world alone.
static void change_hidden(twins* t)
{
    const uint64_t key = 100000 + test_rng_below(&t->hidden_rng, COMMON);
    const ph_entity_id id = ph_world_find(t->worlds[1], key);
    if (id.index1 == 0) {
        spawn_twin(t, 2, key, &t->hidden_rng);
    } else if (test_rng_below(&t->hidden_rng, 2) == 0) {
        assert_int_equal(ph_world_despawn(t->worlds[1], id), PH_OK);
    } else {
        assert_int_equal(ph_world_move(t->worlds[1], id, -5, 6, 7), PH_OK);
    }
}

static void compare_twins(twins* t, uint32_t stamp)
{
    recording of[2] = {0};
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(ph_exporter_changes(t->exporters[i], stamp, record_batch, &of[i]), PH_OK);
        assert_int_equal(ph_exporter_cell(t->exporters[i], (ph_cell){0, 0}, COMMON_CHANNEL, stamp,
                                          record_batch, &of[i]),
                         PH_OK);
    }
    static const int CHANNELS[] = {PH_CHANNEL_PUBLIC, COMMON_CHANNEL};
    for (int i = 0; i < 2; ++i) {
        const int channel = CHANNELS[i];
        assert_int_equal(of[0].size[channel], of[1].size[channel]);
        assert_true(of[0].size[channel] > 0);
        assert_memory_equal(of[0].bytes[channel], of[1].bytes[channel], of[0].size[channel]);
    }
    for (int i = 0; i < PH_CHANNEL_COUNT; ++i) {
        free(of[0].bytes[i]);
        free(of[1].bytes[i]);
    }
}

static void what_is_told_on_a_channel_depends_on_nothing_else(void** state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; ++seed) {
        ph_schema* schema;
        assert_int_equal(ph_schema_parse(PLAIN, sizeof PLAIN - 1, NULL, &schema, NULL), PH_OK);
        twins t = {.rng = {.state = 400 + seed}, .hidden_rng = {.state = 500 + seed}};
        for (int i = 0; i < 2; ++i) {
            t.worlds[i] = make_world(schema, NULL);
            t.exporters[i] = make_exporter(t.worlds[i], PH_EXPORT_BATCH_BYTES_MIN);
        }
        for (uint64_t key = 0; key < COMMON; ++key) {
            change_hidden(&t);
            spawn_twin(&t, 0, key, &t.rng);
        }
        for (uint32_t step = 0; step < 20; ++step) {
            for (int i = 0; i < 60; ++i) {
                change_hidden(&t);
                change_twin(&t, test_rng_below(&t.rng, COMMON));
            }
            ph_world_tick(t.worlds[0]);
            ph_world_tick(t.worlds[1]);
            compare_twins(&t, step);
        }
        for (int i = 0; i < 2; ++i) {
            ph_exporter_destroy(t.exporters[i]);
            ph_world_destroy(t.worlds[i]);
        }
        ph_schema_destroy(schema);
    }
}

// ---- order

typedef struct order {
    const ph_schema* schema;
    bool has_departed;
    int arrivals;
    int departures;
} order;

static void watch_order(void* context, const ph_cell_batch* batch)
{
    order* of = context;
    ph_batch_header header;
    ph_import_refusal refusal;
    assert_true(ph_batch_header_read(&header, batch->bytes, batch->size, &refusal));
    const size_t header_size = ph_batch_header_size(&header);
    ph_transfer_reader reader = {.bytes = (const uint8_t*)batch->bytes + header_size,
                                 .size = batch->size - header_size,
                                 .schema = of->schema};
    static ph_transfer_values values;
    uint64_t last_key = 0;
    for (int i = 0; i < header.record_count; ++i) {
        ph_transfer_record record;
        assert_true(ph_transfer_read(&reader, &record, &refusal));
        assert_true(record.mask == 0 ||
                    ph_transfer_read_values(&reader, &record, &values, &refusal));
        const bool is_departure = record.kind < PH_TRANSFER_CHANGED;
        assert_true(!of->has_departed || is_departure);
        assert_true(i == 0 || record.key > last_key);
        last_key = record.key;
        of->has_departed |= is_departure;
        of->departures += is_departure;
        of->arrivals += !is_departure;
    }
}

static void departures_come_after_all_arrivals(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 600);
    for (int i = 0; i < ENTITIES; ++i) {
        spawn_new(&f);
    }
    tell(&f);
    for (int step = 0; step < 20; ++step) {
        change_some(&f);
        order of = {.schema = f.schema};
        assert_int_equal(ph_exporter_changes(f.exporter, ++f.stamp, watch_order, &of), PH_OK);
        assert_true(of.arrivals > 3 && of.departures > 3);
    }
    // Nothing new: nothing is told.
    ph_world_tick(f.world);
    order none = {.schema = f.schema};
    assert_int_equal(ph_exporter_changes(f.exporter, ++f.stamp, watch_order, &none), PH_OK);
    assert_int_equal(none.arrivals + none.departures, 0);
    teardown(&f);
}

// ---- memory

static void a_warm_call_allocates_nothing(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 700);
    for (int i = 0; i < ENTITIES; ++i) {
        spawn_new(&f);
    }
    for (int step = 0; step < 10; ++step) {
        change_some(&f);
        tell(&f);
    }
    for (int step = 0; step < 5; ++step) {
        for (int i = 0; i < f.key_count; ++i) {
            ph_world_move(f.world, ph_world_find(f.world, f.keys[i]), step * 7, i, 0);
        }
        ph_world_despawn(f.world, ph_world_live_entity(f.world, 3));
        ph_world_tick(f.world);
        const int allocate_count = f.memory.allocate_count;
        tell(&f);
        assert_int_equal(step < 2 ? allocate_count : f.memory.allocate_count, allocate_count);
    }
    teardown(&f);
}

// Cells that are empty again make room for others: a world that walks on for days has no more of them.
static void cells_that_are_left_are_forgotten(void** state)
{
    (void)state;
    fixture f;
    int allocate_count = 0;
    setup(&f, 701);
    spawn_new(&f);
    const ph_entity_id id = ph_world_live_entity(f.world, 0);
    for (int step = 0; step < 300; ++step) {
        ph_world_jump(f.world, id, (int64_t)step * PH_CELL_MM_MIN, 0, 0);
        ph_world_tick(f.world);
        assert_int_equal(ph_exporter_changes(f.exporter, ++f.stamp, lose_batch, &f), PH_OK);
        allocate_count = step == 50 ? f.memory.allocate_count : allocate_count;
    }
    assert_int_equal(f.memory.allocate_count, allocate_count);
    teardown(&f);
}

static void lack_of_memory_is_made_good(void** state)
{
    (void)state;
    int failures = 0;
    for (int n = 1; n < 40; ++n) {
        fixture f;
        setup(&f, 800);
        for (int i = 0; i < 4 * ENTITIES; ++i) {
            const ph_spawn spawn = {.key = (uint64_t)i, .position_mm = {i * CELL_MM, 0, 0}};
            ph_entity_id id;
            assert_int_equal(ph_world_spawn(f.world, &spawn, &id), PH_OK);
        }
        f.memory.fail_at = f.memory.allocate_count + n;
        const ph_result result = ph_exporter_changes(f.exporter, ++f.stamp, take_batch, &f);
        assert_true(result == PH_OK || result == PH_ERROR_MEMORY);
        failures += result == PH_ERROR_MEMORY;
        f.memory.fail_at = 0;
        tell(&f);
        assert_followed(&f, &f.followers[0]);
        teardown(&f);
    }
    assert_true(failures > 3);
}

int main(void)
{
    draw_filter_tests();
    const struct CMUnitTest tests[] = {
        draw_unit_test(followers_have_what_is_on_their_channels_at_any_setting),
        draw_unit_test(references_are_as_the_channel_may_know_at_any_setting),
        cmocka_unit_test(snapshots_make_good_what_was_lost),
        cmocka_unit_test(what_is_told_on_a_channel_depends_on_nothing_else),
        cmocka_unit_test(departures_come_after_all_arrivals),
        cmocka_unit_test(a_warm_call_allocates_nothing),
        cmocka_unit_test(cells_that_are_left_are_forgotten),
        cmocka_unit_test(lack_of_memory_is_made_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
