// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Wrong defs and wrong calls, each with the sentence that it is answered by: which field or argument, its
// value, what is allowed (pinhole/error.h). One row each; what is no fault says nothing.

#include "test_support.h"

#include <pinhole/net/host.h>
#include <pinhole/net/netcode_client.h>
#include <pinhole/pinhole.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct kart {
    int64_t position_mm[3];
    float heading_deg;
    float speed;
    uint8_t shells;
    char name[8];
} kart;

enum { POSITION, HEADING, SPEED, SHELLS, NAME, TURN };

static const ph_property_def kart_properties[] = {
    {.name = "position",
     .coding = PH_CODING_POSITION,
     .field = PH_FIELD_I64X3,
     .offset = offsetof(kart, position_mm)},
    {.name = "heading",
     .coding = PH_CODING_ANGLE,
     .field = PH_FIELD_F32,
     .offset = offsetof(kart, heading_deg)},
    {.name = "speed",
     .coding = PH_CODING_FIXED,
     .lo = -10,
     .hi = 10,
     .step = 0.5,
     .field = PH_FIELD_F32,
     .offset = offsetof(kart, speed)},
    {.name = "shells",
     .coding = PH_CODING_RANGE,
     .hi = 3,
     .field = PH_FIELD_U8,
     .offset = offsetof(kart, shells)},
    {.name = "name",
     .coding = PH_CODING_STRING,
     .max_length = 7,
     .field = PH_FIELD_TEXT,
     .offset = offsetof(kart, name)},
    {.name = "turn", .coding = PH_CODING_QUATERNION},
};

static const ph_class_def kart_class = {.name = "kart",
                                        .properties = kart_properties,
                                        .property_count = 6,
                                        .struct_size = sizeof(kart)};

typedef struct fixture {
    ph_error error; // the newest
    int error_count;
    ph_schema* schema;
    ph_world* world;
    ph_entity_id entity;
    ph_viewer_id viewer;
    ph_client* client;
    ph_messages* messages;
} fixture;

static int row_count;

static void note(void* context, const ph_error* error)
{
    fixture* f = context;
    f->error = *error;
    ++f->error_count;
}

static ph_world_def world_def(fixture* f)
{
    ph_world_def def = ph_world_def_default();
    def.schema = f->schema;
    def.on_error = note;
    def.on_error_context = f;
    return def;
}

static int setup(void** state)
{
    static fixture f;
    f = (fixture){0};
    assert_int_equal(ph_schema_create(&kart_class, 1, NULL, &f.schema, NULL), PH_OK);
    const ph_world_def def = world_def(&f);
    assert_int_equal(ph_world_create(&def, &f.world), PH_OK);
    assert_int_equal(ph_world_spawn(f.world, &(ph_spawn){.key = 1}, &f.entity), PH_OK);
    const ph_viewer_def viewer = ph_viewer_def_default();
    assert_int_equal(ph_world_add_viewer(f.world, &viewer, &f.viewer), PH_OK);
    ph_client_def client = ph_client_def_default();
    client.schema = f.schema;
    client.on_error = note;
    client.on_error_context = &f;
    assert_int_equal(ph_client_create(&client, &f.client), PH_OK);
    ph_messages_def messages = ph_messages_def_default();
    messages.on_error = note;
    messages.on_error_context = &f;
    assert_int_equal(ph_messages_create(&messages, &f.messages), PH_OK);
    *state = &f;
    return 0;
}

static int teardown(void** state)
{
    fixture* f = *state;
    ph_messages_destroy(f->messages);
    ph_client_destroy(f->client);
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
    return 0;
}

// ---- rows

static void expect_error(fixture* f, ph_result result, ph_result expected, const char* field,
                         const char* text)
{
    if (result != expected || f->error_count != 1 || strcmp(f->error.text, text) != 0) {
        fail_msg("%s: %d (%s), %d errors, \"%s\"", text, (int)result, ph_result_text(result),
                 f->error_count, f->error.text);
    }
    assert_string_equal(f->error.field, field);
    assert_int_equal(f->error.result, expected);
    assert_non_null(f->error.function);
    assert_int_equal(strncmp(f->error.function, "ph_", 3), 0);
    f->error = (ph_error){0};
    f->error_count = 0;
    ++row_count;
}

// A field of a def: everything else is as usual.
#define WRONG_DEF(made, create, object, field, value, text)                                        \
    do {                                                                                           \
        made.field = value;                                                                        \
        expect_error(f, create(&made, object), PH_ERROR_ARGUMENT, strtok(copy_of(text), " "),      \
                     text);                                                                        \
    } while (0)

static char* copy_of(const char* text)
{
    static char copy[PH_ERROR_TEXT_SIZE];
    strcpy(copy, text);
    return copy;
}

#define WRONG_WORLD(field, value, text)                                                            \
    do {                                                                                           \
        ph_world_def def = world_def(f);                                                           \
        ph_world* world;                                                                           \
        WRONG_DEF(def, ph_world_create, &world, field, value, text);                               \
        assert_null(world);                                                                        \
    } while (0)

static void defs_of_worlds(void** state)
{
    fixture* f = *state;
    ph_world_def bare = {.schema = f->schema, .on_error = note, .on_error_context = f};
    ph_world* none;
    expect_error(f, ph_world_create(&bare, &none), PH_ERROR_ARGUMENT, "ph_world_def",
                 "ph_world_create: ph_world_def was not made by ph_world_def_default(); start from "
                 "that and change fields");
    assert_null(none);
    WRONG_WORLD(schema, NULL, "ph_world_def.schema is NULL; it must be a schema");
    WRONG_WORLD(entity_capacity, -1, "ph_world_def.entity_capacity is -1; it must be 0 or more");
    WRONG_WORLD(viewer_capacity, INT32_MIN,
                "ph_world_def.viewer_capacity is -2,147,483,648; it must be 0 or more");
    WRONG_WORLD(radius_max_mm, -5, "ph_world_def.radius_max_mm is -5; it must be 0 or more");
    WRONG_WORLD(vision.kind, (ph_vision_kind)7, "ph_world_def.vision.kind is 7; it must be 0..1");
    WRONG_WORLD(vision.cell_mm, 0, "ph_world_def.vision.cell_mm is 0; it must be 1 or more");
    WRONG_WORLD(vision.group_split_mm, 0,
                "ph_world_def.vision.group_split_mm is 0; it must be 1 or more");
    WRONG_WORLD(vision.group_merge_mm, 30000,
                "ph_world_def.vision.group_merge_mm is 30,000; it must be 1..29,999");
    WRONG_WORLD(vision.refresh_ticks, 0,
                "ph_world_def.vision.refresh_ticks is 0; it must be 1 or more");
    WRONG_WORLD(vision.stay_ticks, -1,
                "ph_world_def.vision.stay_ticks is -1; it must be 0 or more");
    WRONG_WORLD(vision.hysteresis, 0.5, "ph_world_def.vision.hysteresis is 0.5; it must be 1..16");
    WRONG_WORLD(vision.hysteresis, (double)NAN,
                "ph_world_def.vision.hysteresis is NaN; it must be 1..16");
    WRONG_WORLD(profile, (ph_profile)2, "ph_world_def.profile is 2; it must be 0..1");
    WRONG_WORLD(tick_us, 0, "ph_world_def.tick_us is 0; it must be 1,000..10,000,000");
    WRONG_WORLD(tick_us, 10000001,
                "ph_world_def.tick_us is 10,000,001; it must be 1,000..10,000,000");
    WRONG_WORLD(jump_mm, -1, "ph_world_def.jump_mm is -1; it must be 0 or more");
    WRONG_WORLD(sends_at_once, 257, "ph_world_def.sends_at_once is 257; it must be 1..256");
    WRONG_WORLD(removal_capacity, -1, "ph_world_def.removal_capacity is -1; it must be 0 or more");
}

#define WRONG_VIEWER(field_, value, text)                                                          \
    do {                                                                                           \
        ph_viewer_def def = ph_viewer_def_default();                                               \
        ph_viewer_id viewer;                                                                       \
        def.field_ = value;                                                                        \
        expect_error(f, ph_world_add_viewer(f->world, &def, &viewer), PH_ERROR_ARGUMENT,           \
                     strtok(copy_of(text), " "), text);                                            \
        assert_int_equal(viewer.index1, 0);                                                        \
    } while (0)

static void defs_of_viewers(void** state)
{
    fixture* f = *state;
    WRONG_VIEWER(eye_mm[1], INT64_C(3000000000),
                 "ph_viewer_def.eye_mm has y = 3,000,000,000 mm; it must be "
                 "-2,147,483,648..2,147,483,647");
    WRONG_VIEWER(radius_mm, 250001,
                 "ph_viewer_def.radius_mm is 250,001; it must be 0..250,000, and no more than "
                 "ph_world_def.radius_max_mm");
    WRONG_VIEWER(visible_max, 0, "ph_viewer_def.visible_max is 0; it must be 1..4,095");
    WRONG_VIEWER(visible_max, 4096, "ph_viewer_def.visible_max is 4,096; it must be 1..4,095");
    WRONG_VIEWER(slot_count, 250, "ph_viewer_def.slot_count is 250; it must be 251..65,535");
    WRONG_VIEWER(bits_per_second, 999,
                 "ph_viewer_def.bits_per_second is 999; it must be 0 (no limit), or 1,000 or more");
    WRONG_VIEWER(burst_bits, -1, "ph_viewer_def.burst_bits is -1; it must be 0 or more");
    WRONG_VIEWER(overhead_bytes, 1001,
                 "ph_viewer_def.overhead_bytes is 1,001; it must be 0..1,000");
    WRONG_VIEWER(
        sends_per_second, -2.0,
        "ph_viewer_def.sends_per_second is -2; it must be 0, PH_SENDS_AUTO, or 0.1..1,000");
    WRONG_VIEWER(precision_mrad, 60.5, "ph_viewer_def.precision_mrad is 60.5; it must be 0..60");
    WRONG_VIEWER(max_starve_ms, -1, "ph_viewer_def.max_starve_ms is -1; it must be 0 or more");
    WRONG_VIEWER(
        scheduler.rank, ph_scheduler_score().rank,
        "ph_viewer_def.scheduler is incomplete; it must be {0}, or have rank, filter, sent "
        "and lost");
}

static void defs_of_clients_and_messages(void** state)
{
    fixture* f = *state;
#define WRONG_CLIENT(field, value, text)                                                           \
    do {                                                                                           \
        ph_client_def def = ph_client_def_default();                                               \
        def.schema = f->schema;                                                                    \
        def.on_error = note;                                                                       \
        def.on_error_context = f;                                                                  \
        ph_client* client;                                                                         \
        WRONG_DEF(def, ph_client_create, &client, field, value, text);                             \
    } while (0)
    ph_client_def bare = {.schema = f->schema, .on_error = note, .on_error_context = f};
    ph_client* none;
    expect_error(f, ph_client_create(&bare, &none), PH_ERROR_ARGUMENT, "ph_client_def",
                 "ph_client_create: ph_client_def was not made by ph_client_def_default(); start "
                 "from that and change fields");
    assert_null(none);
    WRONG_CLIENT(schema, NULL, "ph_client_def.schema is NULL; it must be a schema");
    WRONG_CLIENT(profile, (ph_profile)9, "ph_client_def.profile is 9; it must be 0..1");
    WRONG_CLIENT(slot_capacity, 1, "ph_client_def.slot_capacity is 1; it must be 2..65,535");
    WRONG_CLIENT(interpolation_delay_ms, 10001,
                 "ph_client_def.interpolation_delay_ms is 10,001; it must be 0..10,000");
#define WRONG_MESSAGES(field, value, text)                                                         \
    do {                                                                                           \
        ph_messages_def def = ph_messages_def_default();                                           \
        def.on_error = note;                                                                       \
        def.on_error_context = f;                                                                  \
        ph_messages* messages;                                                                     \
        WRONG_DEF(def, ph_messages_create, &messages, field, value, text);                         \
    } while (0)
    WRONG_MESSAGES(bits_per_second, -1,
                   "ph_messages_def.bits_per_second is -1; it must be 0 or more");
    WRONG_MESSAGES(share_percent, 101, "ph_messages_def.share_percent is 101; it must be 1..100");
    WRONG_MESSAGES(section_max, 95, "ph_messages_def.section_max is 95; it must be 96..1,200");
    WRONG_MESSAGES(overhead_bytes, -1, "ph_messages_def.overhead_bytes is -1; it must be 0..1,000");
    WRONG_MESSAGES(max_wait_ms, 60001,
                   "ph_messages_def.max_wait_ms is 60,001; it must be 0..60,000");
    WRONG_MESSAGES(send_queue_fragments, 48,
                   "ph_messages_def.send_queue_fragments is 48; it must be a power of two in "
                   "32..1,024");
    WRONG_MESSAGES(receive_queue_fragments, 2048,
                   "ph_messages_def.receive_queue_fragments is 2,048; it must be a power of two in "
                   "32..1,024");
}

static void entities(void** state)
{
    fixture* f = *state;
    ph_entity_id made;
    expect_error(f, ph_world_spawn(f->world, &(ph_spawn){.class_index = 1, .key = 2}, &made),
                 PH_ERROR_ARGUMENT, "ph_spawn.class_index",
                 "ph_spawn.class_index is 1; it must be 0");
    expect_error(
        f, ph_world_spawn(f->world, &(ph_spawn){.key = 2, .position_mm = {0, 0, INT64_MIN}}, &made),
        PH_ERROR_ARGUMENT, "ph_spawn.position_mm",
        "ph_spawn.position_mm has z = -9,223,372,036,854,775,808 mm; it must be "
        "-2,147,483,648..2,147,483,647");
    kart outside = {.position_mm = {0, INT64_MAX, 0}};
    expect_error(f, ph_world_set_struct(f->world, f->entity, &outside), PH_ERROR_VALUE,
                 "kart.position",
                 "kart.position has y = 9,223,372,036,854,775,807 mm; it must be "
                 "-2,147,483,648..2,147,483,647");
    ph_viewer_def of_another = ph_viewer_def_default();
    of_another.entity = (ph_entity_id){.index1 = 77, .generation = 1};
    ph_viewer_id viewer;
    expect_error(
        f, ph_world_add_viewer(f->world, &of_another, &viewer), PH_ERROR_STALE,
        "ph_viewer_def.entity",
        "ph_viewer_def.entity names no entity that lives; it must be {0} or the id of one");
    expect_error(f, ph_world_spawn(f->world, &(ph_spawn){.key = 1}, &made), PH_ERROR_TAKEN,
                 "ph_spawn.key",
                 "ph_spawn.key is 1, which another entity has; it must be unique in the world");
    expect_error(f, ph_world_despawn(f->world, (ph_entity_id){0}), PH_ERROR_STALE, "entity",
                 "ph_world_despawn: entity is {0, 0}; it must be the id of an entity of this world "
                 "that is still there");
    expect_error(
        f, ph_world_move(f->world, (ph_entity_id){9, 9}, 0, 0, 0), PH_ERROR_STALE, "entity",
        "ph_world_move: entity is {9, 9}; it must be the id of an entity of this world that "
        "is still there");
    expect_error(f, ph_world_move(f->world, f->entity, INT64_C(1) << 31, 0, 0), PH_ERROR_ARGUMENT,
                 "position",
                 "ph_world_move: position has x = 2,147,483,648 mm; it must be "
                 "-2,147,483,648..2,147,483,647");
    uint8_t byte = 1;
    expect_error(f, ph_world_set_property(f->world, f->entity, 6, PH_FIELD_U8, &byte, 1),
                 PH_ERROR_ARGUMENT, "property",
                 "ph_world_set_property: property is 6; it must be 0..5");
    expect_error(f, ph_world_set_property(f->world, f->entity, SHELLS, PH_FIELD_U8, &byte, 2),
                 PH_ERROR_ARGUMENT, "size",
                 "ph_world_set_property: size is 2; it must be 1 for field type u8");
    expect_error(f, ph_world_get_property(f->world, f->entity, NAME, PH_FIELD_U8, &byte, 1),
                 PH_ERROR_ARGUMENT, "kart.name",
                 "kart.name takes no value of field type u8 and 1 bytes; its coding takes text");
    expect_error(
        f, ph_world_get_property(f->world, f->entity, TURN, PH_FIELD_U8, &byte, 1),
        PH_ERROR_ARGUMENT, "kart.turn",
        "kart.turn takes no value of field type u8 and 1 bytes; its coding takes f32x4, f64x4");
}

static void viewers(void** state)
{
    fixture* f = *state;
    const ph_viewer_id gone = {4, 2};
    expect_error(
        f, ph_viewer_send(f->world, gone, 0, NULL, NULL), PH_ERROR_STALE, "viewer",
        "ph_viewer_send: viewer is {4, 2}; it must be the id of a viewer of this world that "
        "is still there");
    expect_error(f, ph_viewer_receive_ack(f->world, gone, 0, "", 0), PH_ERROR_STALE, "viewer",
                 "ph_viewer_receive_ack: viewer is {4, 2}; it must be the id of a viewer of this "
                 "world that is still there");
    expect_error(f, ph_viewer_set_hint(f->world, f->viewer, f->entity, -1.0), PH_ERROR_ARGUMENT,
                 "weight", "ph_viewer_set_hint: weight is -1; it must be 0..1,000,000");
    expect_error(f, ph_viewer_set_hint(f->world, f->viewer, f->entity, (double)NAN),
                 PH_ERROR_ARGUMENT, "weight",
                 "ph_viewer_set_hint: weight is NaN; it must be 0..1,000,000");
    expect_error(
        f, ph_viewer_set_hint(f->world, f->viewer, (ph_entity_id){5, 5}, 1.0), PH_ERROR_STALE,
        "entity",
        "ph_viewer_set_hint: entity is {5, 5}; it must be the id of an entity of this world "
        "that is still there");
    expect_error(f, ph_viewer_set_eye(f->world, f->viewer, 0, INT64_MAX, 0), PH_ERROR_ARGUMENT,
                 "eye",
                 "ph_viewer_set_eye: eye has y = 9,223,372,036,854,775,807 mm; it must be "
                 "-2,147,483,648..2,147,483,647");
    expect_error(
        f, ph_viewer_set_budget(f->world, f->viewer, 500, 0), PH_ERROR_ARGUMENT, "bits_per_second",
        "ph_viewer_set_budget: bits_per_second is 500; it must be 0 (no limit), or 1,000 or "
        "more");
    expect_error(f, ph_viewer_reserve(f->world, f->viewer, -1, 0), PH_ERROR_ARGUMENT, "each_bytes",
                 "ph_viewer_reserve: each_bytes is -1; it must be 0..1,064");
    expect_error(f, ph_viewer_spend(f->world, f->viewer, 0, 1201), PH_ERROR_ARGUMENT, "bytes",
                 "ph_viewer_spend: bytes is 1,201; it must be 1..1,200");
    expect_error(f, ph_viewer_free_slot(f->world, f->viewer, 500), PH_ERROR_ARGUMENT, "slot",
                 "ph_viewer_free_slot: slot is 500; it must be 0..499");
    expect_error(f, ph_world_set_sends_at_once(f->world, 0), PH_ERROR_ARGUMENT, "count",
                 "ph_world_set_sends_at_once: count is 0; it must be 1..256");
    assert_int_equal(ph_viewer_set_entity(f->world, f->viewer, f->entity), PH_OK);
    expect_error(f, ph_viewer_set_eye(f->world, f->viewer, 0, 0, 0), PH_ERROR_ARGUMENT, "viewer",
                 "ph_viewer_set_eye: viewer has an entity that its eye follows; it must be a "
                 "spectator");
}

static void drop_batch(void* context, const void* bytes, size_t size)
{
    (void)context;
    (void)bytes;
    (void)size;
}

static void exports_and_imports(void** state)
{
    fixture* f = *state;
    ph_export_def def = ph_export_def_default();
    def.batch_bytes = 100;
    expect_error(f, ph_world_export(f->world, &def, drop_batch, NULL), PH_ERROR_ARGUMENT,
                 "ph_export_def.batch_bytes",
                 "ph_export_def.batch_bytes is 100; it must be 2,048..1,048,576");
    def = ph_export_def_default();
    ph_entity_id id;
    assert_int_equal(ph_world_spawn(f->world, &(ph_spawn){.key = 4711}, &id), PH_OK);
    assert_int_equal(ph_world_despawn(f->world, id), PH_OK);
    expect_error(
        f, ph_world_export(f->world, &def, drop_batch, NULL), PH_ERROR_STALE,
        "ph_export_def.since_tick",
        "ph_export_def.since_tick is 0, but entities that were despawned after 0 ticks are "
        "forgotten; export the whole, or raise ph_world_def.removal_capacity (0)");
    ph_importer* importer;
    assert_int_equal(ph_importer_create(&(ph_importer_def){.world = f->world}, &importer), PH_OK);
    expect_error(
        f, ph_importer_take(importer, "", 0), PH_ERROR_VALUE, "bytes",
        "ph_importer_take: bytes are no batch that this world can take: it is shorter than "
        "its header, or too long");
    ph_importer_destroy(importer);
}

static void messages_and_input(void** state)
{
    fixture* f = *state;
    static const uint8_t bytes[1025];
    expect_error(f, ph_messages_send(f->messages, bytes, 0), PH_ERROR_ARGUMENT, "size",
                 "ph_messages_send: size is 0; it must be 1..1,024");
    expect_error(f, ph_messages_send(f->messages, bytes, sizeof bytes), PH_ERROR_ARGUMENT, "size",
                 "ph_messages_send: size is 1,025; it must be 1..1,024");
    expect_error(f, ph_messages_set_input(f->messages, 1, bytes, 256), PH_ERROR_ARGUMENT, "size",
                 "ph_messages_set_input: size is 256; it must be 0..255");
    expect_error(f, ph_messages_set_input(f->messages, 0, bytes, 1), PH_ERROR_ARGUMENT, "number",
                 "ph_messages_set_input: number is 0; it must be 1..32,767");
    expect_error(f, ph_messages_set_processed_input(f->messages, 1), PH_ERROR_ARGUMENT, "number",
                 "ph_messages_set_processed_input: number is 1; it must be 0");
}

static void grounds(void** state)
{
    fixture* f = *state;
    ph_raster_def def = ph_raster_def_default();
    def.on_error = note;
    def.on_error_context = f;
    ph_raster* raster;
    expect_error(f, ph_raster_create(&def, &raster), PH_ERROR_ARGUMENT, "ph_raster_def.columns",
                 "ph_raster_def.columns is 0; it must be 1 or more");
    def.columns = def.rows = 4;
    assert_int_equal(ph_raster_create(&def, &raster), PH_OK);
    static const int64_t falling_mm[] = {100, 100};
    expect_error(f, ph_raster_set(raster, 4, 0, falling_mm, 1), PH_ERROR_ARGUMENT, "column",
                 "ph_raster_set: column is 4; it must be 0..3");
    expect_error(f, ph_raster_set(raster, 0, 0, falling_mm, 9), PH_ERROR_ARGUMENT, "count",
                 "ph_raster_set: count is 9; it must be 0..8");
    expect_error(f, ph_raster_set(raster, 0, 0, falling_mm, 2), PH_ERROR_ARGUMENT, "heights_mm",
                 "ph_raster_set: heights_mm is 100; it must be 101..2,147,483,647");
    ph_raster_destroy(raster);
}

static void without_an_object(void** state)
{
    fixture* f = *state;
    ph_schema* schema;
    f->error_count = 1;
    static const char text[] = "class kart\n    heading: angle 40\n";
    expect_error(f, ph_schema_parse(text, sizeof text - 1, NULL, &schema, &f->error),
                 PH_ERROR_SCHEMA, "kart.heading",
                 "class kart, property heading: bits must be 1..32, got 40");
    f->error_count = 1;
    expect_error(f, ph_schema_create(NULL, 0, NULL, &schema, &f->error), PH_ERROR_SCHEMA, "",
                 "class_count must be 1..256, got 0");
    f->error_count = 1;
    ph_address address;
    expect_error(f, ph_address_parse("192.0.2.256:1", &address, &f->error), PH_ERROR_TEXT, "text",
                 "ph_address_parse: text is \"192.0.2.256:1\"; it must be like 192.0.2.1:40000 or "
                 "[2001:db8::1]:40000 (ph_address_resolve() takes names)");
    ph_token_def token_def = ph_token_def_default();
    token_def.on_error = note;
    token_def.on_error_context = f;
    uint8_t token[PH_TOKEN_SIZE];
    expect_error(
        f, ph_token_write(&token_def, token), PH_ERROR_ARGUMENT, "ph_token_def.create_s",
        "ph_token_def.create_s is 0, so that it has expired; it must be the time now, in Unix "
        "seconds, as time(NULL) gives it");
    token_def.create_s = 1700000000;
    expect_error(f, ph_token_write(&token_def, token), PH_ERROR_ARGUMENT,
                 "ph_token_def.address_count", "ph_token_def.address_count is 0; it must be 1..32");
    token_def.address_count = 1;
    expect_error(f, ph_token_write(&token_def, token), PH_ERROR_ARGUMENT,
                 "ph_token_def.addresses.kind",
                 "ph_token_def.addresses.kind is 0; it must be 1..2");
}

#define WRONG_HOST(field_, value, text)                                                            \
    do {                                                                                           \
        ph_host_def def = ph_host_def_default();                                                   \
        def.world = f->world;                                                                      \
        def.private_key[0] = 1;                                                                    \
        def.on_error = note;                                                                       \
        def.on_error_context = f;                                                                  \
        ph_host* host;                                                                             \
        WRONG_DEF(def, ph_host_open, &host, field_, value, text);                                  \
        assert_null(host);                                                                         \
    } while (0)

static void connections(void** state)
{
    fixture* f = *state;
    WRONG_HOST(world, NULL, "ph_host_def.world is NULL; it must be a world");
    WRONG_HOST(client_capacity, 16385,
               "ph_host_def.client_capacity is 16,385; it must be 1..16,384");
    WRONG_HOST(listen_address, (ph_address){0},
               "ph_host_def.listen_address is none; it must be an IPv4 or IPv6 address");
    WRONG_HOST(
        listen_address, (ph_address){.kind = PH_ADDRESS_IPV4},
        "ph_host_def.public_address is none, and ph_host_def.listen_address is 0.0.0.0:0, all "
        "addresses of the machine; it must be the one that clients send to");
    ph_socket_def socket_def = ph_socket_def_default();
    socket_def.on_error = note;
    socket_def.on_error_context = f;
    ph_socket* first;
    assert_int_equal(ph_socket_open(&socket_def, &first), PH_OK);
    socket_def.local_address = ph_socket_local_address(first);
    char expected[PH_ERROR_TEXT_SIZE];
    char printed[PH_ADDRESS_TEXT_MAX];
    ph_address_print(&socket_def.local_address, printed);
    snprintf(
        expected, sizeof expected,
        "ph_socket_def.local_address is %s; the operating system refuses it: Address already in "
        "use",
        printed);
    ph_socket* second;
    expect_error(f, ph_socket_open(&socket_def, &second), PH_ERROR_TAKEN,
                 "ph_socket_def.local_address", expected);
    ph_host_def host_def = ph_host_def_default();
    host_def.world = f->world;
    host_def.private_key[0] = 1;
    host_def.listen_address = socket_def.local_address;
    host_def.on_error = note;
    host_def.on_error_context = f;
    snprintf(
        expected, sizeof expected,
        "ph_host_def.listen_address is %s; the operating system refuses it: Address already in "
        "use",
        printed);
    ph_host* host;
    expect_error(f, ph_host_open(&host_def, &host), PH_ERROR_TAKEN, "ph_host_def.listen_address",
                 expected);
    ph_socket_close(first);
    ph_net_server_def server_def = ph_net_server_def_default();
    server_def.on_error = note;
    server_def.on_error_context = f;
    ph_net_server* server;
    expect_error(f, ph_net_server_create(&server_def, &server), PH_ERROR_ARGUMENT,
                 "ph_net_server_def.address_count",
                 "ph_net_server_def.address_count is 0; it must be 1..8");
    ph_net_client_def client_def = ph_net_client_def_default();
    client_def.on_error = note;
    client_def.on_error_context = f;
    ph_net_client* client;
    WRONG_DEF(client_def, ph_net_client_create, &client, keep_alive_ms, 0,
              "ph_net_client_def.keep_alive_ms is 0; it must be 1 or more");
    client_def.keep_alive_ms = 100;
    assert_int_equal(ph_net_client_create(&client_def, &client), PH_OK);
    ph_net_client_connect(client, "token", 5, 0);
    expect_error(
        f, f->error.result, PH_ERROR_ARGUMENT, "token",
        "ph_net_client_connect: token is of no use: a token has 2,048 bytes, no more and no less");
    ph_net_client_destroy(client);
}

// ---- what is no fault

static void what_is_no_fault_says_nothing(void** state)
{
    fixture* f = *state;
    ph_pose pose;
    kart shown;
    const ph_entity_id left = {3, 1};
    assert_int_equal(ph_client_get_pose(f->client, left, &pose), PH_ERROR_STALE);
    assert_int_equal(ph_client_get_struct(f->client, left, &shown), PH_ERROR_STALE);
    assert_int_not_equal(ph_client_receive(f->client, 0, "noise", 5), PH_OK);
    assert_int_equal(ph_viewer_receive_ack(f->world, f->viewer, 0, "noise", 5), PH_ERROR_VALUE);
    assert_int_equal(ph_world_find(f->world, 77).index1, 0);
    assert_false(ph_world_is_alive(f->world, left));
    ph_messages_rest rest;
    assert_int_not_equal(ph_messages_unpack(f->messages, 0, "\xFF", 1, &rest), PH_OK);
    ph_result result = PH_OK;
    while (result == PH_OK) {
        result = ph_messages_send(f->messages, "again", 5);
    }
    assert_int_equal(result, PH_ERROR_FULL);
    while (ph_viewer_spend(f->world, f->viewer, 0, 1200) == PH_OK) {
    }
    assert_int_equal(f->error_count, 0);
}

static void a_kept_error_is_a_copy(void** state)
{
    fixture* f = *state;
    ph_error kept = {0};
    ph_world_def def = world_def(f);
    def.tick_us = 0;
    def.on_error = ph_error_keep;
    def.on_error_context = &kept;
    ph_world* world;
    assert_int_equal(ph_world_create(&def, &world), PH_ERROR_ARGUMENT);
    assert_string_equal(kept.text, "ph_world_def.tick_us is 0; it must be 1,000..10,000,000");
    assert_string_equal(kept.function, "ph_world_create");
    assert_int_equal(kept.line, 0);
}

static void the_table_has_forty_rows_and_more(void** state)
{
    (void)state;
    assert_in_range(row_count, 40, 1000);
    print_message("%d wrong defs and calls\n", row_count);
}

#define ROWS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROWS(defs_of_worlds),
        ROWS(defs_of_viewers),
        ROWS(defs_of_clients_and_messages),
        ROWS(entities),
        ROWS(viewers),
        ROWS(exports_and_imports),
        ROWS(messages_and_input),
        ROWS(grounds),
        ROWS(without_an_object),
        ROWS(connections),
        ROWS(what_is_no_fault_says_nothing),
        ROWS(a_kept_error_is_a_copy),
        cmocka_unit_test(the_table_has_forty_rows_and_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
