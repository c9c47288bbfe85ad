// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A schema: checks a table of classes, keeps it in one block, answers questions, and makes the
// fingerprint that both ends compare. Runs once per schema. Names are compared each with each: 64
// properties are 2,016 comparisons, 256 classes 32,640.

#include "schema/schema_state.h"

#include "base/allocator.h"
#include "base/check.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "schema/property.h"
#include "schema/vocabulary.h"

#include <pinhole/entropy.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Returns false, so that a check can end with it.
PH_PRINTF(2, 3)
static bool fail_schema(ph_error* error, const char* format, ...)
{
    if (error == NULL) {
        return false;
    }
    *error = (ph_error){.result = PH_ERROR_SCHEMA, .function = "ph_schema_create"};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

void ph_schema_explain(ph_error* error, const ph_class_def* type, int property_index,
                       const char* message)
{
    if (error == NULL) {
        return;
    }
    const char* name = type->properties[property_index].name;
    char number[16];
    if (!ph_name_is_valid(name)) {
        snprintf(number, sizeof number, "%d", property_index);
        name = number;
    }
    snprintf(error->field, sizeof error->field, "%s.%s", type->name, name);
    snprintf(error->text, sizeof error->text, "class %s, property %s: %s", type->name, name,
             message);
}

// The struct ends before the field does.
static bool is_outside(const ph_class_def* type, const ph_property_def* def)
{
    const size_t size = ph_field_size(def->field, def->max_length);
    return size > type->struct_size || def->offset > type->struct_size - size;
}

static bool check_property(const ph_class_def* type, int index, ph_problem* problem)
{
    const ph_property_def* def = &type->properties[index];
    ph_property property;
    if (!ph_property_prepare(def, &property, problem)) {
        return false;
    }
    if (def->field != PH_FIELD_NONE && is_outside(type, def)) {
        return ph_refuse(
            problem, PH_PARAMETER_FIELD,
            "%.0f bytes at offset %.0f do not fit into struct_size, which is %.0f; it must be "
            "sizeof the struct",
            // as doubles: not every C library prints a size_t
            (double)ph_field_size(def->field, def->max_length), (double)def->offset,
            (double)type->struct_size);
    }
    for (int i = 0; i < index; ++i) {
        if (strcmp(type->properties[i].name, def->name) == 0) {
            return ph_refuse(problem, PH_PARAMETER_NAME,
                             "name must be unique, but property %d has it, too", i);
        }
    }
    return true;
}

static int class_value_bits(const ph_class_def* type)
{
    int bits = 0;
    for (int i = 0; i < type->property_count; ++i) {
        ph_property property;
        ph_problem problem;
        const bool is_good = ph_property_prepare(&type->properties[i], &property, &problem);
        PH_ASSERT(is_good);
        bits += is_good ? ph_property_max_bits(&property) : 0;
        bits += is_good && property.def.is_orientation ? PH_ORIENTATION_EXTRA_BITS : 0;
        bits += is_good && property.def.is_carrier ? PH_MODEL_BITS : 0;
    }
    return bits;
}

bool ph_schema_check_size(const ph_class_def* type, ph_error* error)
{
    const int bits = class_value_bits(type);
    if (bits > PH_CLASS_BITS_MAX) {
        // Numbers alone never come near it.
        return fail_schema(
            error,
            "class %s: its values may take %d bits, but must fit a datagram, which has "
            "%d for them: lower max_length of its texts",
            type->name, bits, PH_CLASS_BITS_MAX);
    }
    return true;
}

// With models of its own, to say of a property that it is told, or not, may be as dear as a symbol can be: an update that
// tells all of them must fit a datagram, too.
static bool check_size_with_models(const ph_class_def* type, ph_error* error)
{
    const int bits = class_value_bits(type);
    const int limit = PH_CLASS_BITS_MAX - PH_MODEL_BITS * type->property_count;
    if (bits > limit) {
        return fail_schema(error,
                           "class %s: its values may take %d bits, but with models a datagram has "
                           "%d for them: lower max_length of its texts, or leave the models out",
                           type->name, bits, limit);
    }
    return true;
}

// Of motion a class has one of a kind, and what is turned in space has no heading beside that.
static bool check_class_motion(const ph_class_def* type, ph_error* error)
{
    int marked = -1;
    for (int i = 0; i < type->property_count; ++i) {
        const ph_property_def* def = &type->properties[i];
        if (!def->is_orientation && !def->is_heading) {
            continue;
        }
        if (marked >= 0) {
            const ph_property_def* former = &type->properties[marked];
            return fail_schema(error,
                               "class %s: only one property can be its orientation or heading, got "
                               "%s and %s",
                               type->name, former->name, def->name);
        }
        marked = i;
    }
    return true;
}

static bool check_class_bend_and_leg(const ph_class_def* type, ph_error* error)
{
    const bool is_bend =
        type->bend == PH_BEND_NONE || (type->bend >= 0.0 && type->bend <= PH_BEND_MAX);
    if (!is_bend) {
        return fail_schema(error, "class %s: bend must be 0..%s or PH_BEND_NONE, got %s",
                           type->name, ph_number_text(PH_BEND_MAX).text,
                           ph_number_text(type->bend).text);
    }
    if (type->leg_ms < 0 || type->leg_ms > PH_LEG_MS_MAX) {
        return fail_schema(error, "class %s: leg_ms must be 0..%d, got %d", type->name,
                           PH_LEG_MS_MAX, type->leg_ms);
    }
    return true;
}

static bool check_carrier(const ph_class_def* type, ph_error* error)
{
    int carrier = -1;
    for (int i = 0; i < type->property_count; ++i) {
        if (type->properties[i].is_carrier && carrier >= 0) {
            return fail_schema(
                error, "class %s: only one property can be its carrier, got %s and %s", type->name,
                type->properties[carrier].name, type->properties[i].name);
        }
        carrier = type->properties[i].is_carrier ? i : carrier;
    }
    return true;
}

static bool check_class_radius(const ph_class_def* type, ph_error* error)
{
    const bool is_good = type->radius_m == 0.0 ||
                         (type->radius_m >= PH_RADIUS_MIN_M && type->radius_m <= PH_RADIUS_MAX_M);
    return is_good || fail_schema(error,
                                  "class %s: radius_m must be 0.001..100000 (or 0, which "
                                  "means 0.5), got %s",
                                  type->name, ph_number_text(type->radius_m).text);
}

static bool check_class(const ph_class_def* type, ph_error* error)
{
    const int count = type->property_count;
    if (count < 1 || count > PH_PROPERTIES_MAX || type->properties == NULL) {
        return fail_schema(error, "class %s: property_count must be 1..%d, got %d", type->name,
                           PH_PROPERTIES_MAX, type->properties == NULL ? 0 : count);
    }
    int position_count = 0;
    for (int i = 0; i < count; ++i) {
        ph_problem problem;
        if (!check_property(type, i, &problem)) {
            (void)fail_schema(error, "%s", "");
            ph_schema_explain(error, type, i, problem.message);
            return false;
        }
        position_count += type->properties[i].coding == PH_CODING_POSITION ? 1 : 0;
    }
    if (position_count != 1) {
        return fail_schema(error,
                           "class %s: exactly one property must have the coding position, got %d",
                           type->name, position_count);
    }
    return check_class_motion(type, error) && check_carrier(type, error) &&
           check_class_radius(type, error) && check_class_bend_and_leg(type, error) &&
           ph_schema_check_size(type, error);
}

bool ph_schema_check(const ph_class_def* classes, int class_count, ph_error* error)
{
    if (class_count < 1 || class_count > PH_CLASSES_MAX || classes == NULL) {
        return fail_schema(error, "class_count must be 1..%d, got %d", PH_CLASSES_MAX,
                           classes == NULL ? 0 : class_count);
    }
    for (int c = 0; c < class_count; ++c) {
        if (!ph_name_is_valid(classes[c].name)) {
            return fail_schema(
                error,
                "class %d: name must be 1..%d letters, digits and underscores, not a digit "
                "first",
                c, PH_SCHEMA_NAME_MAX);
        }
        for (int i = 0; i < c; ++i) {
            if (strcmp(classes[i].name, classes[c].name) == 0) {
                return fail_schema(error, "class %s: name must be unique, but class %d has it, too",
                                   classes[c].name, i);
            }
        }
        if (!check_class(&classes[c], error)) {
            return false;
        }
    }
    return true;
}

// ---- schemas: made once, asked for ever
//
// Everything is checked before any memory is taken, so a refused declaration costs nothing and there is
// one allocation to fail.

// The parts of the block lie behind each other; all but the names have the alignment of a double.
_Static_assert(sizeof(ph_schema) % _Alignof(ph_class) == 0, "classes follow the schema");

_Static_assert(sizeof(ph_class) % _Alignof(ph_property) == 0, "properties follow the classes");

_Static_assert(sizeof(ph_property) % _Alignof(ph_property_def) == 0, "defs follow the properties");

typedef struct block_sizes {
    size_t classes;
    size_t properties;
    size_t defs;
    size_t models;
    size_t names;
    int property_count;
} block_sizes;

static block_sizes measure_schema(const ph_class_def* classes, int class_count, bool has_models)
{
    const size_t entry_size = 2 * sizeof(uint16_t) + sizeof(uint8_t); // cumulative, cost, code
    size_t property_count = 0;
    size_t name_bytes = 0;
    for (int c = 0; c < class_count; ++c) {
        property_count += (size_t)classes[c].property_count;
        name_bytes += strlen(classes[c].name) + 1;
        for (int p = 0; p < classes[c].property_count; ++p) {
            name_bytes += strlen(classes[c].properties[p].name) + 1;
        }
    }
    return (block_sizes){
        .classes = (size_t)class_count * sizeof(ph_class),
        .properties = property_count * sizeof(ph_property),
        .defs = property_count * sizeof(ph_property_def),
        .models = has_models ? entry_size * (size_t)ph_learned_entry_count((int)property_count) : 0,
        .names = name_bytes,
        .property_count = (int)property_count};
}

// Copies a name to *next and moves *next behind it.
static const char* keep_name(const char* name, char** next)
{
    char* kept = *next;
    const size_t size = strlen(name) + 1;
    memcpy(kept, name, size);
    *next += size;
    return kept;
}

// What of its properties is its orientation, or else its heading.
static void find_motion(ph_class* type)
{
    int angle = -1;
    type->orientation = -1;
    type->heading = -1;
    type->carrier = -1;
    for (int i = type->def.property_count - 1; i >= 0; --i) {
        const ph_property_def* def = &type->properties[i].def;
        angle = def->coding == PH_CODING_ANGLE && !def->is_smooth ? i : angle;
        type->orientation = def->is_orientation ? i : type->orientation;
        type->heading = def->is_heading ? i : type->heading;
        type->carrier = def->is_carrier ? i : type->carrier;
        type->properties[i].motion_mark = def->is_smooth ? PH_MARK_SMOOTH : PH_MARK_NONE;
    }
    if (type->orientation >= 0) {
        type->properties[type->orientation].motion_mark = PH_MARK_ORIENTATION;
    } else if (type->heading < 0) {
        type->heading = angle;
    } else if (type->heading != angle) {
        type->properties[type->heading].motion_mark = PH_MARK_HEADING;
    }
    if (type->carrier >= 0) {
        type->properties[type->carrier].motion_mark = PH_MARK_CARRIER;
    }
}

// Fills one class: its properties, and their declarations once more, side by side for
// ph_schema_class().
static void fill_class(ph_class* type, const ph_class_def* def, ph_property_def* defs, char** names)
{
    type->def = *def;
    type->def.name = keep_name(def->name, names);
    type->def.properties = defs;
    type->def.radius_m = def->radius_m == 0.0 ? PH_RADIUS_M : def->radius_m;
    type->def.bend = def->bend == 0.0 ? PH_BEND_DEFAULT : def->bend;
    type->def.leg_ms = def->leg_ms == 0 ? PH_LEG_MS_DEFAULT : def->leg_ms;
    for (int i = 0; i < def->property_count; ++i) {
        ph_property* property = &type->properties[i];
        ph_problem problem;
        const bool is_good = ph_property_prepare(&def->properties[i], property, &problem);
        PH_ASSERT(is_good);
        (void)is_good;
        property->def.name = keep_name(def->properties[i].name, names);
        defs[i] = property->def;
        if (property->def.coding == PH_CODING_POSITION) {
            type->position = i;
        }
    }
    find_motion(type);
}

// Behind the declarations.
static void fill_models(ph_schema* schema, const uint8_t* codes, uint8_t* block)
{
    schema->models = ph_library_models;
    if (codes == NULL) {
        return;
    }
    const size_t count = (size_t)ph_learned_entry_count(schema->property_count);
    uint16_t* cumulative = (uint16_t*)(void*)block;
    uint16_t* costs = cumulative + count;
    uint8_t* kept = (uint8_t*)(costs + count);
    memcpy(kept, codes, count);
    ph_learned_fill(kept, schema->property_count, cumulative, costs);
    schema->models = (ph_model_set){cumulative, costs};
    schema->codes = kept;
    schema->fingerprint = ph_learned_fingerprint(schema->fingerprint, kept, schema->property_count);
}

ph_result ph_schema_make(const ph_class_def* classes, int class_count, const uint8_t* codes,
                         const ph_allocator* allocator, ph_schema** schema, ph_error* error)
{
    *schema = NULL;
    if (!ph_schema_check(classes, class_count, error)) {
        return PH_ERROR_SCHEMA;
    }
    for (int c = 0; codes != NULL && c < class_count; ++c) {
        if (!check_size_with_models(&classes[c], error)) {
            return PH_ERROR_SCHEMA;
        }
    }
    const ph_allocator source = allocator != NULL ? *allocator : (ph_allocator){0};
    const block_sizes sizes = measure_schema(classes, class_count, codes != NULL);
    const size_t size_bytes = sizeof(ph_schema) + sizes.classes + sizes.properties + sizes.defs +
                              sizes.models + sizes.names;
    uint8_t* block = ph_allocate_zeroed(&source, size_bytes);
    if (block == NULL) {
        return ph_error_set(error, PH_ERROR_MEMORY, "ph_schema_create", NULL, "%s",
                            "the allocator had no memory left");
    }

    ph_schema* made = (ph_schema*)(void*)block;
    uint8_t* next = block + sizeof(ph_schema);
    *made = (ph_schema){.classes = (ph_class*)(void*)next,
                        .class_count = class_count,
                        .property_count = sizes.property_count,
                        .allocator = source,
                        .size_bytes = size_bytes};
    next += sizes.classes;
    ph_property* properties = (ph_property*)(void*)next;
    next += sizes.properties;
    ph_property_def* defs = (ph_property_def*)(void*)next;
    uint8_t* models = next + sizes.defs;
    char* names = (char*)models + sizes.models;
    for (int c = 0; c < class_count; ++c) {
        made->classes[c].properties = properties;
        fill_class(&made->classes[c], &classes[c], defs, &names);
        properties += classes[c].property_count;
        defs += classes[c].property_count;
    }
    made->fingerprint = ph_fingerprint_of(made->classes, class_count);
    fill_models(made, codes, models);
    *schema = made;
    return PH_OK;
}

ph_result ph_schema_create(const ph_class_def* classes, int class_count,
                           const ph_allocator* allocator, ph_schema** schema, ph_error* error)
{
    PH_ASSERT(schema != NULL);

    return ph_schema_make(classes, class_count, NULL, allocator, schema, error);
}

// ---- models of another schema

// Where a property of the same class and name stands in a schema, or -1.
static int find_alike(const ph_schema* schema, const char* class_name, const char* name)
{
    const int found = ph_schema_find_class(schema, class_name);
    const int property = found >= 0 ? ph_schema_find_property(schema, found, name) : -1;
    return property >= 0 ? ph_schema_first_property(schema, found) + property : -1;
}

static void copy_codes(const ph_schema* plain, const ph_schema* tuned, uint8_t* codes)
{
    memset(codes, PH_MODEL_CODE_NONE, (size_t)ph_learned_entry_count(plain->property_count));
    memcpy(codes, tuned->codes, PH_PINHOLE_ENTRIES);
    for (int c = 0; c < plain->class_count; ++c) {
        const ph_class_def* type = &plain->classes[c].def;
        for (int p = 0; p < type->property_count; ++p) {
            const int from = find_alike(tuned, type->name, type->properties[p].name);
            if (from >= 0) {
                const int to = ph_schema_first_property(plain, c) + p;
                memcpy(codes + ph_learned_told_entry(to, false),
                       tuned->codes + ph_learned_told_entry(from, false),
                       PH_LEARNED_PROPERTY_ENTRIES);
            }
        }
    }
}

// How a class moves, where its table leaves that open.
static void copy_motion(const ph_class_def* classes, const ph_schema* tuned, ph_schema* schema)
{
    for (int c = 0; c < schema->class_count; ++c) {
        const int from = ph_schema_find_class(tuned, classes[c].name);
        ph_class_def* to = &schema->classes[c].def;
        if (from >= 0) {
            to->bend = classes[c].bend == 0.0 ? tuned->classes[from].def.bend : to->bend;
            to->leg_ms = classes[c].leg_ms == 0 ? tuned->classes[from].def.leg_ms : to->leg_ms;
        }
    }
}

ph_result ph_schema_create_tuned(const ph_class_def* classes, int class_count,
                                 const ph_schema* tuned, const ph_allocator* allocator,
                                 ph_schema** schema, ph_error* error)
{
    PH_ASSERT(schema != NULL && tuned != NULL);

    const ph_result result = ph_schema_create(classes, class_count, allocator, schema, error);
    if (result != PH_OK) {
        return result;
    }
    copy_motion(classes, tuned, *schema);
    if (tuned->codes == NULL) {
        return PH_OK;
    }
    ph_schema* plain = *schema;
    const ph_allocator source = plain->allocator;
    *schema = NULL;
    if (plain->property_count > PH_LEARNED_PROPERTIES_MAX) {
        (void)fail_schema(error, "models: a schema that has some may have %d properties, got %d",
                          (int)PH_LEARNED_PROPERTIES_MAX, plain->property_count);
        ph_schema_destroy(plain);
        return PH_ERROR_SCHEMA;
    }
    const size_t size = (size_t)ph_learned_entry_count(plain->property_count);
    uint8_t* codes = ph_allocate_zeroed(&source, size);
    ph_result made = PH_ERROR_MEMORY;
    if (codes == NULL) {
        (void)ph_error_set(error, made, __func__, NULL, "the allocator had no memory left");
    } else {
        copy_codes(plain, tuned, codes);
        made = ph_schema_make(classes, class_count, codes, &source, schema, error);
        if (made == PH_OK) {
            copy_motion(classes, tuned, *schema);
        }
        ph_release(&source, codes, size);
    }
    ph_schema_destroy(plain);
    return made;
}

ph_model_set ph_schema_models(const ph_schema* schema)
{
    return schema->models;
}

bool ph_schema_has_model(const ph_schema* schema, int first)
{
    return schema->codes != NULL && schema->codes[first] != PH_MODEL_CODE_NONE;
}

int ph_schema_first_property(const ph_schema* schema, int class_index)
{
    return (int)(schema->classes[class_index].properties - schema->classes[0].properties);
}

int ph_schema_property_count(const ph_schema* schema)
{
    return schema->property_count;
}

void ph_schema_destroy(ph_schema* schema)
{
    if (schema == NULL) {
        return;
    }
    const ph_allocator allocator = schema->allocator;
    ph_release(&allocator, schema, schema->size_bytes);
}

uint64_t ph_schema_fingerprint(const ph_schema* schema)
{
    return schema->fingerprint;
}

int ph_schema_class_count(const ph_schema* schema)
{
    return schema->class_count;
}

const ph_class* ph_schema_class_at(const ph_schema* schema, int index)
{
    PH_ASSERT(index >= 0 && index < schema->class_count);
    return &schema->classes[index];
}

const ph_class_def* ph_schema_class(const ph_schema* schema, int class_index)
{
    return &ph_schema_class_at(schema, class_index)->def;
}

int ph_schema_find_class(const ph_schema* schema, const char* name)
{
    for (int i = 0; i < schema->class_count; ++i) {
        if (strcmp(schema->classes[i].def.name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int ph_schema_find_property(const ph_schema* schema, int class_index, const char* name)
{
    const ph_class_def* def = ph_schema_class(schema, class_index);
    for (int i = 0; i < def->property_count; ++i) {
        if (strcmp(def->properties[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

// ---- the fingerprint: a digest of what decides which bits stand for which value
//
// It takes the declared codings, not the declarations: a bool and an enum of two are the same choice,
// a turn of 360 degrees and one of 2 pi radians are the same parts of a turn. A range is no choice,
// even where it writes the same bits: a number may be written as a difference, a choice may not. What
// a reader refuses is part of the wire, and so is what both ends take a property to be before it is
// heard of (the initial value), and whether it is told once. See docs/schema.md.

// Spells "schema 1" in bytes. Another number after it, when the rules below change.
#define SEED UINT64_C(0x3120616D65686373)

// Numbers of their own, because the enums of the headers may be sorted anew one day.
enum {
    MARK_CLASS = 1,
    MARK_WHOLE, // range; the next four are the other kinds of ph_integer
    MARK_VARINT,
    MARK_TWO_BIT,
    MARK_GAMMA,
    MARK_RICE,
    MARK_LADDER,
    MARK_VEC3,
    MARK_ANGLE,
    MARK_QUATERNION,
    MARK_STRING,
    MARK_BYTES,
    MARK_ENTITY,
    MARK_POSITION,
    MARK_CHOICE,           // bool, enum
    MARK_ONCE,             // behind the initial value
    MARK_ORIENTATION = 32, // behind all of these
    MARK_HEADING,
    MARK_CARRIER,
    MARK_SMOOTH,
    MARK_FINEST,
};

static uint64_t mark_of_kind(ph_integer_kind kind)
{
    switch (kind) {
    case PH_INTEGER_VARINT:
        return MARK_VARINT;
    case PH_INTEGER_TWO_BIT:
        return MARK_TWO_BIT;
    case PH_INTEGER_GAMMA:
        return MARK_GAMMA;
    case PH_INTEGER_RICE:
        return MARK_RICE;
    default:
        return MARK_WHOLE;
    }
}

static void add_real(ph_hash* hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    ph_hash_add_u64(hash, bits);
}

static void add_whole(ph_hash* hash, const ph_property* property)
{
    const ph_integer* integer = &property->integer;
    const ph_coding coding = property->def.coding;
    const bool is_choice = coding == PH_CODING_BOOL || coding == PH_CODING_ENUM;
    ph_hash_add_u64(hash, is_choice ? MARK_CHOICE : mark_of_kind(integer->kind));
    ph_hash_add_u64(hash, (uint64_t)integer->lo);
    ph_hash_add_u64(hash, (uint64_t)integer->hi);
    ph_hash_add_u64(hash, (uint64_t)integer->rice_k);
    ph_hash_add_u64(hash, integer->has_default ? 1 : 0);
    ph_hash_add_u64(hash, property->def.is_arithmetic ? 1 : 0);
}

// Not the declared step: 0.1 and 0.1f make the same ladder.
static void add_ladders(ph_hash* hash, const ph_property* property)
{
    ph_hash_add_u64(hash, property->words == 1 ? MARK_LADDER : MARK_VEC3);
    for (int i = 0; i < property->words; ++i) {
        add_real(hash, property->fixed[i].lo);
        add_real(hash, property->fixed[i].hi);
        ph_hash_add_u64(hash, property->fixed[i].top_level);
        ph_hash_add_u64(hash, property->fixed[i].has_default ? 1 : 0);
    }
}

static void add_position(ph_hash* hash, const ph_property* property)
{
    ph_hash_add_u64(hash, MARK_POSITION);
    ph_hash_add_u64(hash, (uint64_t)property->coordinate.width);
    ph_hash_add_u64(hash, (uint64_t)property->coordinate.shift);
    ph_hash_add_u64(hash, (uint64_t)property->def.ground_tolerance_mm);
    if (property->finest_shift != property->coordinate.shift) {
        ph_hash_add_u64(hash, MARK_FINEST);
        ph_hash_add_u64(hash, (uint64_t)property->finest_shift);
    }
}

static void add_coding(ph_hash* hash, const ph_property* property)
{
    switch (property->def.coding) {
    case PH_CODING_FIXED:
    case PH_CODING_VEC3:
        add_ladders(hash, property);
        return;
    case PH_CODING_ANGLE:
        ph_hash_add_u64(hash, MARK_ANGLE);
        ph_hash_add_u64(hash, (uint64_t)property->angle.width);
        ph_hash_add_u64(hash, (uint64_t)property->def.has_default);
        return;
    case PH_CODING_QUATERNION:
        ph_hash_add_u64(hash, MARK_QUATERNION);
        ph_hash_add_u64(hash, (uint64_t)property->def.bits);
        return;
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        ph_hash_add_u64(hash, property->def.coding == PH_CODING_STRING ? MARK_STRING : MARK_BYTES);
        ph_hash_add_u64(hash, (uint64_t)property->def.max_length);
        return;
    case PH_CODING_ENTITY:
        ph_hash_add_u64(hash, MARK_ENTITY);
        return;
    case PH_CODING_POSITION:
        add_position(hash, property);
        return;
    default:
        add_whole(hash, property);
        return;
    }
}

// A property that is sent once has no baseline, so the pinhole profile writes no differences to it.
// Positions are kept all the same.
static void add_once(ph_hash* hash, const ph_property* property)
{
    if (property->def.when == PH_SEND_ONCE && property->def.coding != PH_CODING_POSITION) {
        ph_hash_add_u64(hash, MARK_ONCE);
    }
}

// What decides how the pinhole profile writes it, and when: silence about what is smooth is taken for motion.
// A heading that is one without a mark is no news.
static void add_motion(ph_hash* hash, const ph_property* property)
{
    if (property->motion_mark == PH_MARK_ORIENTATION) {
        ph_hash_add_u64(hash, MARK_ORIENTATION);
    } else if (property->motion_mark == PH_MARK_HEADING) {
        ph_hash_add_u64(hash, MARK_HEADING);
    } else if (property->motion_mark == PH_MARK_CARRIER) {
        ph_hash_add_u64(hash, MARK_CARRIER);
    } else if (property->motion_mark == PH_MARK_SMOOTH) {
        ph_hash_add_u64(hash, MARK_SMOOTH);
    }
}

static void add_property_to_hash(ph_hash* hash, const ph_property* property)
{
    add_coding(hash, property);
    for (int w = 0; w < property->words; ++w) {
        ph_hash_add_u64(hash, property->initial[w]);
    }
    add_once(hash, property);
    add_motion(hash, property);
}

uint64_t ph_property_fingerprint(const ph_property* property)
{
    ph_hash hash = ph_hash_make(SEED);
    add_property_to_hash(&hash, property);
    return ph_hash_value(&hash);
}

uint64_t ph_fingerprint_of(const ph_class* classes, int class_count)
{
    ph_hash hash = ph_hash_make(SEED);
    for (int c = 0; c < class_count; ++c) {
        ph_hash_add_u64(&hash, MARK_CLASS);
        ph_hash_add_u64(&hash, (uint64_t)classes[c].def.property_count);
        for (int p = 0; p < classes[c].def.property_count; ++p) {
            add_property_to_hash(&hash, &classes[c].properties[p]);
        }
    }
    return ph_hash_value(&hash);
}
