// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Schemas: made once, asked for ever. Everything is checked before any memory is taken, so a
// refused declaration costs nothing and there is one allocation to fail.

#include "schema/schema_state.h"

#include "base/allocator.h"
#include "schema/schema_check.h"

#include <string.h>

// The parts of the block lie behind each other; all but the names have the alignment of a double.
_Static_assert(sizeof(ph_schema) % _Alignof(ph_class) == 0, "classes follow the schema");
_Static_assert(sizeof(ph_class) % _Alignof(ph_property) == 0, "properties follow the classes");
_Static_assert(sizeof(ph_property) % _Alignof(ph_property_def) == 0, "defs follow the properties");

typedef struct block_sizes {
    size_t classes;
    size_t properties;
    size_t defs;
    size_t names;
} block_sizes;

static block_sizes measure(const ph_class_def* classes, int class_count)
{
    size_t property_count = 0;
    size_t name_bytes = 0;
    for (int c = 0; c < class_count; ++c) {
        property_count += (size_t)classes[c].property_count;
        name_bytes += strlen(classes[c].name) + 1;
        for (int p = 0; p < classes[c].property_count; ++p) {
            name_bytes += strlen(classes[c].properties[p].name) + 1;
        }
    }
    return (block_sizes){.classes = (size_t)class_count * sizeof(ph_class),
                         .properties = property_count * sizeof(ph_property),
                         .defs = property_count * sizeof(ph_property_def),
                         .names = name_bytes};
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

// Fills one class: its properties, and their declarations once more, side by side for
// ph_schema_class().
static void fill_class(ph_class* type, const ph_class_def* def, ph_property_def* defs, char** names)
{
    type->def = *def;
    type->def.name = keep_name(def->name, names);
    type->def.properties = defs;
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
}

ph_result ph_schema_create(const ph_class_def* classes, int class_count,
                           const ph_allocator* allocator, ph_schema** schema,
                           ph_schema_error* error)
{
    PH_ASSERT(schema != NULL);

    *schema = NULL;
    if (!ph_schema_check(classes, class_count, error)) {
        return PH_ERROR_SCHEMA;
    }
    const ph_allocator source = allocator != NULL ? *allocator : (ph_allocator){0};
    const block_sizes sizes = measure(classes, class_count);
    const size_t size_bytes =
        sizeof(ph_schema) + sizes.classes + sizes.properties + sizes.defs + sizes.names;
    uint8_t* block = ph_allocate_zeroed(&source, size_bytes);
    if (block == NULL) {
        return PH_ERROR_MEMORY;
    }

    ph_schema* made = (ph_schema*)(void*)block;
    uint8_t* next = block + sizeof(ph_schema);
    *made = (ph_schema){.classes = (ph_class*)(void*)next,
                        .class_count = class_count,
                        .allocator = source,
                        .size_bytes = size_bytes};
    next += sizes.classes;
    ph_property* properties = (ph_property*)(void*)next;
    next += sizes.properties;
    ph_property_def* defs = (ph_property_def*)(void*)next;
    char* names = (char*)next + sizes.defs;
    for (int c = 0; c < class_count; ++c) {
        made->classes[c].properties = properties;
        fill_class(&made->classes[c], &classes[c], defs, &names);
        properties += classes[c].property_count;
        defs += classes[c].property_count;
    }
    made->fingerprint = ph_fingerprint_of(made->classes, class_count);
    *schema = made;
    return PH_OK;
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
