// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Schemas, random values and their hashes. Hashing runs for every property that a test compares.

#include "session_values.h"

#include "base/hash.h"
#include "draw.h"
#include "kit/creature.h"
#include "random_schema.h"
#include "schema/property.h"

#include <math.h>
#include <string.h>

#define POSITION_ONLY                                                                              \
    {                                                                                              \
        .name = "position", .coding = PH_CODING_POSITION                                           \
    }

static const ph_property_def STONE[] = {POSITION_ONLY};

static const ph_property_def WALKER[] = {
    {.name = "heading", .coding = PH_CODING_ANGLE, .bits = 6, .significant = 20, .distance_m = 40},
    {.name = "position", .coding = PH_CODING_POSITION, .step = 4, .ground_tolerance_mm = 250},
    {.name = "leader", .coding = PH_CODING_ENTITY},
    {.name = "title", .coding = PH_CODING_STRING, .max_length = 9},
    {.name = "purse", .coding = PH_CODING_VARINT, .audience = PH_AUDIENCE_OWNER},
    {.name = "order",
     .coding = PH_CODING_ENUM,
     .count = 5,
     .audience = PH_AUDIENCE_MASK,
     .audience_mask = 2},
};

static const ph_property_def PEBBLE[] = {
    POSITION_ONLY,
    {.name = "colour", .coding = PH_CODING_ENUM, .count = 4},
};

static const ph_property_def BODY[] = {
    {.name = "carrier", .coding = PH_CODING_ENTITY, .is_carrier = true},
    POSITION_ONLY,
    {.name = "turned", .coding = PH_CODING_QUATERNION, .is_orientation = true},
};

#define CLASS(label, table)                                                                        \
    (ph_class_def)                                                                                 \
    {                                                                                              \
        .name = label, .properties = table, .property_count = sizeof table / sizeof table[0]       \
    }

// Two classes at most, with distances that matter in a small place.
static int fill_random(random_schema* tables, uint64_t seed)
{
    test_rng rng = {.state = seed};
    random_schema_fill(tables, &rng);
    for (int c = 0; c < tables->class_count; ++c) {
        for (int p = 0; p < tables->classes[c].property_count; ++p) {
            ph_property_def* def = &tables->properties[c][p];
            if (def->distance_m > 0.0) {
                def->distance_m = 5.0 + (double)test_rng_below(&rng, 100);
            }
            def->max_length = def->max_length > 24 ? 24 : def->max_length;
            def->audience_mask &= 7u;
            if (def->audience == PH_AUDIENCE_MASK && def->audience_mask == 0) {
                def->audience_mask = 1;
            }
        }
    }
    return tables->class_count < 2 ? tables->class_count : 2;
}

ph_schema* session_schema_make(session_schema kind, uint64_t seed)
{
    ph_class_def classes[2];
    int count = 1;
    static random_schema tables;
    switch (kind) {
    case SESSION_CREATURES:
        classes[0] = ph_creature_class();
        classes[1] = CLASS("stone", STONE);
        count = 2;
        break;
    case SESSION_WALKERS:
        classes[0] = CLASS("walker", WALKER);
        break;
    case SESSION_PEBBLES:
        classes[0] = CLASS("pebble", PEBBLE);
        break;
    case SESSION_CARRIED:
        classes[0] = CLASS("body", BODY);
        break;
    default:
        count = fill_random(&tables, seed);
        classes[0] = tables.classes[0];
        classes[1] = tables.classes[1];
        break;
    }
    ph_schema* schema = NULL;
    ph_error error;
    if (ph_schema_create(classes, count, NULL, &schema, &error) != PH_OK) {
        fail_msg("schema %d, seed %llu: %s", (int)kind, (unsigned long long)seed, error.text);
    }
    return schema;
}

// ---- setting

static double between(test_rng* rng, double lo, double hi)
{
    return lo + (hi - lo) * test_rng_unit(rng);
}

static size_t draw_text(const ph_property_def* def, test_rng* rng, bool is_wide, uint8_t* bytes)
{
    const size_t length = is_wide ? (size_t)draw_whole(rng, 0, def->max_length)
                                  : (size_t)test_rng_below(rng, (uint64_t)def->max_length + 1);
    uint8_t* text = bytes;
    if (def->coding == PH_CODING_BYTES) {
        const uint16_t stated = (uint16_t)length;
        memcpy(bytes, &stated, sizeof stated);
        text += sizeof stated;
    }
    for (size_t i = 0; i < length; ++i) {
        text[i] = (uint8_t)('a' + test_rng_below(rng, 26));
    }
    return (size_t)(text - bytes) + length;
}

static void draw_quaternion(test_rng* rng, bool is_wide, double value[4])
{
    double square = 0.0;
    if (is_wide && test_rng_below(rng, 2) == 0) {
        value[test_rng_below(rng, 4)] = test_rng_below(rng, 2) == 0 ? -1.0 : 1.0;
        return;
    }
    for (int i = 0; i < 4; ++i) {
        value[i] = between(rng, -1, 1) + (i == 0 ? 1.5 : 0.0);
        square += value[i] * value[i];
    }
    for (int i = 0; i < 4; ++i) {
        value[i] /= sqrt(square);
    }
}

static double top_of(const ph_property_def* def)
{
    return def->coding == PH_CODING_BOOL   ? 1.0
           : def->coding == PH_CODING_ENUM ? def->count - 1.0
                                           : def->hi;
}

static double draw_level(test_rng* rng, double lo, double hi)
{
    const double out_of_range = test_rng_below(rng, 8) == 0 ? hi - lo : 0.0;
    return draw_real(rng, lo - out_of_range, hi + out_of_range);
}

// What is smooth mostly goes on evenly with time, to the end of its range and from its beginning again.
static bool step_on(ph_world* world, ph_entity_id entity, const ph_property_def* def, int property,
                    test_rng* rng)
{
    const bool is_angle = def->coding == PH_CODING_ANGLE;
    if (!def->is_smooth || (def->coding != PH_CODING_FIXED && !is_angle) ||
        test_rng_below(rng, 4) == 0) {
        return false;
    }
    const double lo = is_angle ? 0.0 : def->lo;
    const double hi = is_angle ? def->turn : def->hi;
    const double value = lo + (hi - lo) / 64.0 * (double)(ph_world_tick_count(world) % 64);
    assert_int_equal(
        ph_world_set_property(world, entity, property, PH_FIELD_F64, &value, sizeof value), PH_OK);
    return true;
}

static void set_value(ph_world* world, ph_entity_id entity, const ph_property_def* def,
                      int property, test_rng* rng, const ph_entity_id* targets, int target_count,
                      bool is_wide)
{
    double reals[4] = {0.0};
    int64_t whole = 0;
    uint8_t bytes[PH_TEXT_LENGTH_MAX + 2];
    ph_entity_id target = {0};
    ph_result result;
    if (step_on(world, entity, def, property, rng)) {
        return;
    }
    switch (def->coding) {
    case PH_CODING_POSITION:
        return;
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        result =
            ph_world_set_property(world, entity, property,
                                  def->coding == PH_CODING_STRING ? PH_FIELD_TEXT : PH_FIELD_BYTES,
                                  bytes, draw_text(def, rng, is_wide, bytes));
        break;
    case PH_CODING_ENTITY:
        if (target_count > 0 && test_rng_below(rng, 4) > 0) {
            target = targets[test_rng_below(rng, (uint64_t)target_count)];
        }
        result =
            ph_world_set_property(world, entity, property, PH_FIELD_ENTITY, &target, sizeof target);
        break;
    case PH_CODING_QUATERNION:
        draw_quaternion(rng, is_wide, reals);
        result = ph_world_set_property(world, entity, property, PH_FIELD_F64X4, reals,
                                       4 * sizeof(double));
        break;
    case PH_CODING_VEC3:
        for (int i = 0; i < 3; ++i) {
            reals[i] = !is_wide ? between(rng, def->lo, def->hi)
                                : draw_level(rng, i == 2 ? def->z_lo : def->lo,
                                             i == 2 ? def->z_hi : def->hi);
        }
        result = ph_world_set_property(world, entity, property, PH_FIELD_F64X3, reals,
                                       3 * sizeof(double));
        break;
    case PH_CODING_FIXED:
    case PH_CODING_ANGLE:
        reals[0] = def->coding == PH_CODING_ANGLE
                       ? (is_wide ? draw_level(rng, 0, def->turn) : between(rng, 0, def->turn))
                   : is_wide ? draw_level(rng, def->lo, def->hi)
                             : between(rng, def->lo, def->hi);
        result =
            ph_world_set_property(world, entity, property, PH_FIELD_F64, reals, sizeof(double));
        break;
    default:
        whole = is_wide ? draw_whole(rng, (int64_t)def->lo, (int64_t)top_of(def))
                        : (int64_t)floor(between(rng, def->lo, top_of(def) + 0.999));
        result = ph_world_set_property(world, entity, property, PH_FIELD_I64, &whole, sizeof whole);
        break;
    }
    if (result != PH_OK) {
        fail_msg("%s refused: %s", def->name, ph_result_text(result));
    }
}

void session_value_set(ph_world* world, ph_entity_id entity, const ph_property_def* def,
                       int property, test_rng* rng, const ph_entity_id* targets, int target_count)
{
    set_value(world, entity, def, property, rng, targets, target_count, false);
}

void session_value_set_wide(ph_world* world, ph_entity_id entity, const ph_property_def* def,
                            int property, test_rng* rng, const ph_entity_id* targets,
                            int target_count)
{
    set_value(world, entity, def, property, rng, targets, target_count, true);
}

// ---- reading

typedef struct raw_value {
    _Alignas(8) uint8_t bytes[PH_TEXT_LENGTH_MAX + 2];
} raw_value;

static uint64_t hash_raw(const raw_value* raw, ph_field field)
{
    size_t size = ph_field_size(field, 0);
    if (field == PH_FIELD_TEXT) {
        size = strlen((const char*)raw->bytes);
    } else if (field == PH_FIELD_BYTES) {
        uint16_t length;
        memcpy(&length, raw->bytes, sizeof length);
        size = sizeof length + length;
    }
    ph_hash hash = ph_hash_make(17);
    ph_hash_add(&hash, raw->bytes, size);
    return ph_hash_value(&hash);
}

uint64_t session_name_value(uint64_t name)
{
    return ph_hash_mix(name + 0x5EED) | 1u;
}

uint64_t session_world_value(const ph_world* world, ph_entity_id entity, const ph_property_def* def,
                             int property)
{
    raw_value raw;
    const ph_field field = ph_coding_field(def->coding);
    const bool is_text = field == PH_FIELD_TEXT || field == PH_FIELD_BYTES;
    const size_t size = is_text ? sizeof raw.bytes : ph_field_size(field, 0);
    assert_int_equal(ph_world_get_property(world, entity, property, field, raw.bytes, size), PH_OK);
    if (field == PH_FIELD_ENTITY) {
        ph_entity_id target;
        uint64_t name;
        memcpy(&target, raw.bytes, sizeof target);
        return ph_world_identify(world, target, &name, NULL) == PH_OK ? session_name_value(name)
                                                                      : SESSION_NO_ENTITY;
    }
    return hash_raw(&raw, field);
}

uint64_t session_client_value(const ph_client* client, ph_entity_id entity,
                              const ph_property_def* def, int property)
{
    raw_value raw;
    const ph_field field = ph_coding_field(def->coding);
    const bool is_text = field == PH_FIELD_TEXT || field == PH_FIELD_BYTES;
    const size_t size = is_text ? sizeof raw.bytes : ph_field_size(field, 0);
    assert_int_equal(ph_client_get_property(client, entity, property, field, raw.bytes, size),
                     PH_OK);
    if (field == PH_FIELD_ENTITY) {
        ph_entity_id target;
        uint64_t name;
        memcpy(&target, raw.bytes, sizeof target);
        return ph_client_identify(client, target, &name, NULL) == PH_OK ? session_name_value(name)
                                                                        : SESSION_NO_ENTITY;
    }
    return hash_raw(&raw, field);
}
