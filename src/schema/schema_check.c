// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Checks a table of classes. Runs once per schema. Names are compared each with each: 64 properties
// are 2,016 comparisons, 256 classes 32,640.

#include "schema/schema_check.h"

#include "schema/field.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Returns false, so that a check can end with it.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool
fail(ph_schema_error* error, const char* format, ...)
{
    if (error == NULL) {
        return false;
    }
    *error = (ph_schema_error){0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

void ph_schema_explain(ph_schema_error* error, const ph_class_def* type, int property_index,
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
    snprintf(error->message, sizeof error->message, "class %s, property %s: %s", type->name, name,
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
        return ph_refuse(problem, PH_PARAMETER_FIELD,
                         "%.0f bytes at offset %.0f do not fit into struct_size, which is %.0f",
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

bool ph_schema_check_size(const ph_class_def* type, ph_schema_error* error)
{
    int bits = 0;
    for (int i = 0; i < type->property_count; ++i) {
        ph_property property;
        ph_problem problem;
        const bool is_good = ph_property_prepare(&type->properties[i], &property, &problem);
        PH_ASSERT(is_good);
        bits += is_good ? ph_property_max_bits(&property) : 0;
    }
    if (bits > PH_CLASS_BITS_MAX) {
        // Numbers alone never come near it.
        return fail(error,
                    "class %s: its values may take %d bits, but must fit a datagram, which has "
                    "%d for them: lower max_length of its texts",
                    type->name, bits, PH_CLASS_BITS_MAX);
    }
    return true;
}

static bool check_class(const ph_class_def* type, ph_schema_error* error)
{
    const int count = type->property_count;
    if (count < 1 || count > PH_PROPERTIES_MAX || type->properties == NULL) {
        return fail(error, "class %s: property_count must be 1..%d, got %d", type->name,
                    PH_PROPERTIES_MAX, type->properties == NULL ? 0 : count);
    }
    int position_count = 0;
    for (int i = 0; i < count; ++i) {
        ph_problem problem;
        if (!check_property(type, i, &problem)) {
            (void)fail(error, "%s", "");
            ph_schema_explain(error, type, i, problem.message);
            return false;
        }
        position_count += type->properties[i].coding == PH_CODING_POSITION ? 1 : 0;
    }
    if (position_count != 1) {
        return fail(error, "class %s: exactly one property must have the coding position, got %d",
                    type->name, position_count);
    }
    return ph_schema_check_size(type, error);
}

bool ph_schema_check(const ph_class_def* classes, int class_count, ph_schema_error* error)
{
    if (class_count < 1 || class_count > PH_CLASSES_MAX || classes == NULL) {
        return fail(error, "class_count must be 1..%d, got %d", PH_CLASSES_MAX,
                    classes == NULL ? 0 : class_count);
    }
    for (int c = 0; c < class_count; ++c) {
        if (!ph_name_is_valid(classes[c].name)) {
            return fail(error,
                        "class %d: name must be 1..%d letters, digits and underscores, not a digit "
                        "first",
                        c, PH_SCHEMA_NAME_MAX);
        }
        for (int i = 0; i < c; ++i) {
            if (strcmp(classes[i].name, classes[c].name) == 0) {
                return fail(error, "class %s: name must be unique, but class %d has it, too",
                            classes[c].name, i);
            }
        }
        if (!check_class(&classes[c], error)) {
            return false;
        }
    }
    return true;
}
