// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Hashing runs for every value that is compared: some millions of times a minute.

#include "soak/soak_schema.h"

#include "base/hash.h"
#include "kit/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 40 };

static bool coin(ph_rng* rng)
{
    return ph_rng_below(rng, 2) == 0;
}

// ---- tables

static void draw_range(ph_property_def* def, ph_rng* rng, int bits)
{
    const double size = ldexp(1.0, (int)ph_rng_below(rng, (uint64_t)bits + 1));
    def->lo = coin(rng) ? 0.0 : floor(ph_random_between(rng, -size / 2, size / 2));
    def->hi = def->lo + 1.0 + floor(ph_random_between(rng, 0, size / 2));
}

static void draw_ladder(ph_property_def* def, ph_rng* rng)
{
    static const double steps[] = {0.1, 0.25, 1, 1e-9, 3e12, 1.0 / 3.0, 0.7};
    def->step = coin(rng) ? steps[ph_rng_below(rng, 7)] : ph_random_between(rng, 1e-3, 10);
    const double below = coin(rng) ? 0.0 : floor(ph_random_between(rng, 0, 1000));
    const double above = 1.0 + floor(ph_random_between(rng, 0, 1000));
    def->lo = -below * def->step;
    def->hi = above * def->step;
    if (def->coding == PH_CODING_VEC3 && coin(rng)) {
        def->z_lo = def->lo - def->step;
        def->z_hi = def->hi;
    }
}

static void draw_default(ph_property_def* def, ph_rng* rng, double lo, double hi, bool is_whole)
{
    if (coin(rng)) {
        return;
    }
    const double value = ph_random_between(rng, lo, hi);
    def->default_value = is_whole ? floor(value) : value;
    const bool can_spend = lo <= 0.0 || def->default_value != 0.0;
    def->has_default = can_spend && coin(rng) ? 1 + (int)ph_rng_below(rng, 7) : 0;
}

static void draw_whole_coding(ph_property_def* def, ph_rng* rng)
{
    double hi = 1.0;
    if (def->coding == PH_CODING_ENUM) {
        def->count = 2 + (int)(ph_rng_next(rng) >> (40 + ph_rng_below(rng, 23)));
        hi = def->count - 1.0;
    } else if (def->coding != PH_CODING_BOOL) {
        const bool is_long = def->coding == PH_CODING_RANGE || def->coding == PH_CODING_VARINT;
        draw_range(def, rng, is_long ? 53 : 31);
        hi = def->hi;
    }
    if (def->coding == PH_CODING_RICE) {
        def->rice_k = (int)ph_rng_below(rng, 32);
    }
    if (def->coding == PH_CODING_ENUM || def->coding == PH_CODING_RANGE) {
        def->is_arithmetic = hi - def->lo < 4294967295.0 && coin(rng);
    }
    draw_default(def, rng, def->lo, hi, true);
}

static void draw_coding(ph_property_def* def, ph_rng* rng)
{
    switch (def->coding) {
    case PH_CODING_FIXED:
    case PH_CODING_VEC3:
        draw_ladder(def, rng);
        draw_default(def, rng, def->lo, def->hi, false);
        return;
    case PH_CODING_ANGLE:
        def->bits = (int)ph_rng_below(rng, 33);
        def->turn = coin(rng) ? 0.0 : ph_random_between(rng, 0.1, 1000);
        draw_default(def, rng, -1000, 1000, false);
        return;
    case PH_CODING_QUATERNION:
        def->bits = 8 + (int)ph_rng_below(rng, 9);
        return;
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        def->max_length = 1 + (int)ph_rng_below(rng, coin(rng) ? TEXT_MAX : 6);
        return;
    case PH_CODING_POSITION:
        def->step = ldexp(1.0, (int)ph_rng_below(rng, 8));
        if (coin(rng)) {
            def->finest = fmax(ldexp(def->step, -(int)ph_rng_below(rng, 8)), 1.0);
        }
        def->bits = coin(rng) ? 0 : 12 + (int)ph_rng_below(rng, 9);
        def->ground_tolerance_mm = coin(rng) ? 0 : (int)ph_rng_below(rng, 2000);
        def->significant = coin(rng) ? 0.0 : ph_random_between(rng, 0, 1000);
        return;
    case PH_CODING_ENTITY:
        return;
    default:
        draw_whole_coding(def, rng);
        return;
    }
}

static void draw_policy(ph_property_def* def, ph_rng* rng)
{
    def->weight = coin(rng) ? 0.0 : ph_random_between(rng, 0.001, 1000);
    if (def->coding == PH_CODING_POSITION) {
        return;
    }
    if (def->coding != PH_CODING_ENTITY && ph_rng_below(rng, 5) == 0) {
        def->when = PH_SEND_ONCE;
    }
    def->distance_m = ph_rng_below(rng, 3) > 0 ? 0.0 : ph_random_between(rng, 5, 120);
    const uint64_t audience = ph_rng_below(rng, 6);
    if (audience == 0) {
        def->audience = PH_AUDIENCE_OWNER;
    } else if (audience <= 2) {
        def->audience = PH_AUDIENCE_MASK;
        def->audience_mask = 1 + (uint32_t)ph_rng_below(rng, 7);
    }
}

static void draw_class(soak_schema* schema, int c, ph_rng* rng)
{
    snprintf(schema->class_names[c], sizeof schema->class_names[c], "class_%d", c);
    const int count = 1 + (int)ph_rng_below(rng, SOAK_PROPERTIES_MAX);
    schema->classes[c] = (ph_class_def){.name = schema->class_names[c],
                                        .properties = schema->properties[c],
                                        .property_count = count};
    schema->position[c] = (int)ph_rng_below(rng, (uint64_t)count);
    bool has_heading = false;
    for (int p = 0; p < count; ++p) {
        ph_property_def* def = &schema->properties[c][p];
        *def = (ph_property_def){.name = schema->names[c][p]};
        def->coding = p == schema->position[c]
                          ? PH_CODING_POSITION
                          : (ph_coding)(1 + ph_rng_below(rng, PH_CODING_POSITION - 1));
        const bool is_heading = def->coding == PH_CODING_ANGLE && !has_heading && coin(rng);
        has_heading |= is_heading;
        snprintf(schema->names[c][p], sizeof schema->names[c][p], is_heading ? "heading" : "p%d",
                 p);
        draw_coding(def, rng);
        draw_policy(def, rng);
        def->is_smooth = !is_heading && def->when != PH_SEND_ONCE &&
                         def->coding >= PH_CODING_RANGE && def->coding <= PH_CODING_VEC3 &&
                         coin(rng);
    }
}

// What a client has of a property that it was never told: that of a fresh entity.
static void find_initial(soak_schema* schema)
{
    ph_world_def def = ph_world_def_default();
    def.schema = schema->checked;
    def.entity_capacity = SOAK_CLASSES_MAX;
    ph_world* world = NULL;
    if (ph_world_create(&def, &world) != PH_OK) {
        return;
    }
    for (int c = 0; c < schema->class_count; ++c) {
        ph_entity_id id;
        ph_world_spawn(world, &(ph_spawn){.class_index = c, .key = (uint64_t)c}, &id);
        for (int p = 0; p < soak_property_count(schema, c); ++p) {
            schema->initial[c][p] = soak_world_hash(world, id, soak_property(schema, c, p), p);
        }
    }
    ph_world_destroy(world);
}

bool soak_schema_make(soak_schema* schema, uint64_t seed, const ph_allocator* allocator)
{
    ph_rng rng = ph_random_part(seed, 0x5C4E);
    *schema = (soak_schema){.class_count = 1 + (int)ph_rng_below(&rng, SOAK_CLASSES_MAX)};
    for (int c = 0; c < schema->class_count; ++c) {
        draw_class(schema, c, &rng);
    }
    ph_error error = {0};
    if (ph_schema_create(schema->classes, schema->class_count, allocator, &schema->checked,
                         &error) != PH_OK) {
        return false;
    }
    find_initial(schema);
    return true;
}

void soak_schema_destroy(soak_schema* schema)
{
    ph_schema_destroy(schema->checked);
    schema->checked = NULL;
}

const ph_property_def* soak_property(const soak_schema* schema, int class_index, int property)
{
    return &ph_schema_class(schema->checked, class_index)->properties[property];
}

int soak_property_count(const soak_schema* schema, int class_index)
{
    return schema->classes[class_index].property_count;
}

// ---- setting

static double top_of(const ph_property_def* def)
{
    return def->coding == PH_CODING_BOOL   ? 1.0
           : def->coding == PH_CODING_ENUM ? def->count - 1.0
                                           : def->hi;
}

static void draw_bytes(const ph_property_def* def, ph_rng* rng, soak_value* value)
{
    const size_t length = (size_t)ph_rng_below(rng, (uint64_t)def->max_length + 1);
    uint8_t* text = value->bytes;
    if (def->coding == PH_CODING_BYTES) {
        const uint16_t stated = (uint16_t)length;
        memcpy(text, &stated, sizeof stated);
        text += sizeof stated;
    }
    for (size_t i = 0; i < length; ++i) {
        text[i] = def->coding == PH_CODING_BYTES ? (uint8_t)ph_rng_below(rng, 256)
                                                 : (uint8_t)('a' + ph_rng_below(rng, 26));
    }
    value->size = (size_t)(text - value->bytes) + length;
}

static void draw_quaternion(ph_rng* rng, double value[4])
{
    double square = 0.0;
    for (int i = 0; i < 4; ++i) {
        value[i] = ph_random_between(rng, -1, 1);
        square += value[i] * value[i];
    }
    if (square < 0.01) {
        value[3] = 1.0;
        square = value[0] * value[0] + value[1] * value[1] + value[2] * value[2] + 1.0;
    }
    for (int i = 0; i < 4; ++i) {
        value[i] /= sqrt(square);
    }
}

// Now and then beyond the end: it is clamped.
static double draw_real(ph_rng* rng, double lo, double hi)
{
    const double beyond = ph_rng_below(rng, 16) == 0 ? hi - lo : 0.0;
    return ph_random_between(rng, lo - beyond, hi + beyond);
}

soak_value soak_value_draw(const ph_property_def* def, ph_rng* rng)
{
    soak_value value = {0};
    switch (def->coding) {
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        draw_bytes(def, rng, &value);
        break;
    case PH_CODING_QUATERNION:
        draw_quaternion(rng, value.reals);
        break;
    case PH_CODING_VEC3:
        for (int i = 0; i < 3; ++i) {
            value.reals[i] = i == 2 && def->z_lo < def->z_hi ? draw_real(rng, def->z_lo, def->z_hi)
                                                             : draw_real(rng, def->lo, def->hi);
        }
        break;
    case PH_CODING_FIXED:
        value.reals[0] = draw_real(rng, def->lo, def->hi);
        break;
    case PH_CODING_ANGLE:
        value.reals[0] = draw_real(rng, 0, def->turn);
        break;
    case PH_CODING_ENTITY:
    case PH_CODING_POSITION:
        break;
    default: {
        const double top = top_of(def);
        const bool is_small = top - def->lo > 16 && coin(rng);
        const double hi = is_small ? def->lo + 16 : top;
        value.whole = (int64_t)floor(ph_random_between(rng, def->lo, hi));
        value.whole += value.whole < (int64_t)top && coin(rng) ? 1 : 0;
        break;
    }
    }
    return value;
}

ph_result soak_value_set(ph_world* world, ph_entity_id entity, const ph_property_def* def,
                         int property, const soak_value* value)
{
    const ph_field field = ph_coding_field(def->coding);
    const void* bytes = &value->whole;
    size_t size = ph_field_size(field, 0);
    if (field == PH_FIELD_TEXT || field == PH_FIELD_BYTES) {
        bytes = value->bytes;
        size = value->size;
    } else if (field == PH_FIELD_ENTITY) {
        bytes = &value->target;
    } else if (field != PH_FIELD_I64) {
        bytes = value->reals;
    }
    return ph_world_set_property(world, entity, property, field, bytes, size);
}

// ---- what it must have become

static bool is_near(double set, double got, double lo, double hi, double step)
{
    const double clamped = set < lo ? lo : set > hi ? hi : set;
    return fabs(clamped - got) <= 0.5001 * step + 1e-9 * fabs(clamped);
}

static bool is_angle_near(const ph_property_def* def, double set, double got)
{
    const double apart = fabs(remainder(set - got, def->turn));
    return apart <= 0.5001 * ldexp(def->turn, -def->bits) + 1e-9 * (fabs(set) + def->turn);
}

// The same rotation: q and -q are one.
static bool is_rotation_near(const ph_property_def* def, const double set[4], const double got[4])
{
    double dot = 0.0;
    for (int i = 0; i < 4; ++i) {
        dot += set[i] * got[i];
    }
    const double sign = dot < 0.0 ? -1.0 : 1.0;
    double square = 0.0;
    for (int i = 0; i < 4; ++i) {
        square += (set[i] - sign * got[i]) * (set[i] - sign * got[i]);
    }
    return sqrt(square) <= 3.5 * sqrt(2.0) / (ldexp(1.0, def->bits) - 2.0);
}

bool soak_value_is_kept(const ph_world* world, ph_entity_id entity, const ph_property_def* def,
                        int property, const soak_value* value)
{
    _Alignas(8) uint8_t raw[64] = {0};
    double reals[4];
    int64_t whole;
    const ph_field field = ph_coding_field(def->coding);
    const bool is_text = field == PH_FIELD_TEXT || field == PH_FIELD_BYTES;
    if (ph_world_get_property(world, entity, property, field, raw,
                              is_text ? sizeof raw : ph_field_size(field, 0)) != PH_OK) {
        return false;
    }
    memcpy(reals, raw, sizeof reals);
    memcpy(&whole, raw, sizeof whole);
    switch (def->coding) {
    case PH_CODING_STRING:
        return strlen((const char*)raw) == value->size &&
               memcmp(raw, value->bytes, value->size) == 0;
    case PH_CODING_BYTES:
        return memcmp(raw, value->bytes, value->size) == 0;
    case PH_CODING_FIXED:
        return is_near(value->reals[0], reals[0], def->lo, def->hi, def->step);
    case PH_CODING_VEC3:
        return is_near(value->reals[0], reals[0], def->lo, def->hi, def->step) &&
               is_near(value->reals[1], reals[1], def->lo, def->hi, def->step) &&
               is_near(value->reals[2], reals[2], def->z_lo < def->z_hi ? def->z_lo : def->lo,
                       def->z_lo < def->z_hi ? def->z_hi : def->hi, def->step);
    case PH_CODING_ANGLE:
        return is_angle_near(def, value->reals[0], reals[0]);
    case PH_CODING_QUATERNION:
        return is_rotation_near(def, value->reals, reals);
    case PH_CODING_ENTITY:
        return memcmp(raw, &value->target, sizeof value->target) == 0;
    default:
        return whole == value->whole;
    }
}

// ---- hashes

static uint64_t hash_bytes(const void* bytes, size_t size)
{
    ph_hash hash = ph_hash_make(17);
    ph_hash_add(&hash, bytes, size);
    return ph_hash_value(&hash) | 1u;
}

uint64_t soak_key_hash(uint64_t key)
{
    return ph_hash_mix(key + 0x5EED) | 1u;
}

static uint64_t hash_raw(const uint8_t* raw, ph_field field)
{
    size_t size = ph_field_size(field, 0);
    if (field == PH_FIELD_TEXT) {
        size = strlen((const char*)raw);
    } else if (field == PH_FIELD_BYTES) {
        uint16_t length;
        memcpy(&length, raw, sizeof length);
        size = sizeof length + length;
    }
    return hash_bytes(raw, size);
}

uint64_t soak_world_hash(const ph_world* world, ph_entity_id entity, const ph_property_def* def,
                         int property)
{
    _Alignas(8) uint8_t raw[64] = {0};
    const ph_field field = ph_coding_field(def->coding);
    const bool is_text = field == PH_FIELD_TEXT || field == PH_FIELD_BYTES;
    ph_world_get_property(world, entity, property, field, raw,
                          is_text ? sizeof raw : ph_field_size(field, 0));
    if (field == PH_FIELD_ENTITY) {
        ph_entity_id target;
        uint64_t key;
        memcpy(&target, raw, sizeof target);
        return ph_world_identify(world, target, &key, NULL) == PH_OK ? soak_key_hash(key)
                                                                     : SOAK_NO_ENTITY;
    }
    return hash_raw(raw, field);
}

uint64_t soak_client_hash(const ph_client* client, ph_entity_id entity, const ph_property_def* def,
                          int property)
{
    _Alignas(8) uint8_t raw[64] = {0};
    const ph_field field = ph_coding_field(def->coding);
    const bool is_text = field == PH_FIELD_TEXT || field == PH_FIELD_BYTES;
    ph_client_get_property(client, entity, property, field, raw,
                           is_text ? sizeof raw : ph_field_size(field, 0));
    if (field == PH_FIELD_ENTITY) {
        ph_entity_id target;
        uint64_t key;
        memcpy(&target, raw, sizeof target);
        return ph_client_identify(client, target, &key, NULL) == PH_OK ? soak_key_hash(key)
                                                                       : SOAK_NO_ENTITY;
    }
    return hash_raw(raw, field);
}
