// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What differs between two schemas, as a sentence (ph_schema_difference()). Runs when two ends of a
// connection disagree, and in tools.
//
// The wire knows no names, so the places of classes and properties decide whether there is a difference,
// and names only help to say it. Where one side has more of them, the first whose name the other side
// does not have is the difference: what stands behind it is shifted. Where both have as many, it is the
// first place that is written differently.

#include "base/compiler.h"
#include "schema/schema_state.h"
#include "schema/schema_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 200 };

typedef struct schema_side {
    const ph_schema* schema;
    const char* name;
    const ph_class* type; // the class that is compared
} schema_side;

// Cut off where it is too long.
PH_PRINTF(2, 3)
static void tell_difference(char* text, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, PH_ERROR_TEXT_SIZE, format, arguments);
    va_end(arguments);
}

static bool is_class_same(const ph_class* one, const ph_class* other)
{
    if (one->def.property_count != other->def.property_count) {
        return false;
    }
    for (int p = 0; p < one->def.property_count; ++p) {
        if (ph_property_fingerprint(&one->properties[p]) !=
            ph_property_fingerprint(&other->properties[p])) {
            return false;
        }
    }
    return true;
}

static bool has_class(const ph_schema* schema, const char* name)
{
    return ph_schema_find_class(schema, name) >= 0;
}

static bool has_property(const ph_class* type, const char* name)
{
    for (int p = 0; p < type->def.property_count; ++p) {
        if (strcmp(type->def.properties[p].name, name) == 0) {
            return true;
        }
    }
    return false;
}

// "class ship", or "class 2 (server: ship, client: boat)".
static const char* class_text(const schema_side* one, const schema_side* other,
                              char text[LINE_SIZE])
{
    const char* name = one->type->def.name;
    const int number = (int)(one->type - one->schema->classes) + 1;
    if (strcmp(name, other->type->def.name) == 0) {
        snprintf(text, LINE_SIZE, "class %s", name);
    } else {
        snprintf(text, LINE_SIZE, "class %d (%s: %s, %s: %s)", number, one->name, name, other->name,
                 other->type->def.name);
    }
    return text;
}

// Names are unique, so the longer of two lists has one that the other does not have.
static void tell_missing_property(const schema_side* longer, const schema_side* shorter, char* text)
{
    for (int p = 0; p < longer->type->def.property_count; ++p) {
        const char* name = longer->type->def.properties[p].name;
        if (!has_property(shorter->type, name)) {
            tell_difference(text, "%s: class %s has property %s, %s: not", longer->name,
                            longer->type->def.name, name, shorter->name);
            return;
        }
    }
}

static void tell_property(const schema_side* one, const schema_side* other, int place, char* text)
{
    char type[LINE_SIZE];
    char lines[2][LINE_SIZE];
    const ph_property* left = &one->type->properties[place];
    const ph_property* right = &other->type->properties[place];
    class_text(one, other, type);
    ph_property_print_wire(left, lines[0], LINE_SIZE);
    ph_property_print_wire(right, lines[1], LINE_SIZE);
    const char* name = left->def.name;
    const char* other_name = right->def.name;
    if (strcmp(name, other_name) == 0) {
        tell_difference(text, "%s, property %s: %s %s, %s %s", type, name, one->name, lines[0],
                        other->name, lines[1]);
    } else if (has_property(other->type, name) && has_property(one->type, other_name)) {
        tell_difference(
            text, "%s has its properties in another order: number %d is %s at the %s, %s at the %s",
            type, place + 1, name, one->name, other_name, other->name);
    } else {
        tell_difference(text, "%s, property %d: %s %s (%s), %s %s (%s)", type, place + 1, one->name,
                        name, lines[0], other->name, other_name, lines[1]);
    }
}

static void tell_in_class(const schema_side* one, const schema_side* other, char* text)
{
    const int count = one->type->def.property_count;
    const int other_count = other->type->def.property_count;
    if (count != other_count) {
        tell_missing_property(count > other_count ? one : other, count > other_count ? other : one,
                              text);
        return;
    }
    for (int p = 0; p < count; ++p) {
        if (ph_property_fingerprint(&one->type->properties[p]) !=
            ph_property_fingerprint(&other->type->properties[p])) {
            tell_property(one, other, p, text);
            return;
        }
    }
}

static void tell_missing_class(const schema_side* longer, const schema_side* shorter, char* text)
{
    for (int c = 0; c < longer->schema->class_count; ++c) {
        const char* name = longer->schema->classes[c].def.name;
        if (!has_class(shorter->schema, name)) {
            tell_difference(text, "%s: the schema has class %s, %s: not", longer->name, name,
                            shorter->name);
            return;
        }
    }
}

static void tell_class(schema_side* one, schema_side* other, int place, char* text)
{
    one->type = &one->schema->classes[place];
    other->type = &other->schema->classes[place];
    const char* name = one->type->def.name;
    const char* other_name = other->type->def.name;
    // One that has another name and stands elsewhere at the other side, too, is not meant to be the same.
    if (strcmp(name, other_name) != 0 &&
        (has_class(other->schema, name) || has_class(one->schema, other_name))) {
        tell_difference(text, "class %d is %s at the %s, %s at the %s", place + 1, name, one->name,
                        other_name, other->name);
    } else {
        tell_in_class(one, other, text);
    }
}

bool ph_schema_difference(const ph_schema* one, const char* one_name, const ph_schema* other,
                          const char* other_name, char text[PH_ERROR_TEXT_SIZE])
{
    text[0] = '\0';
    if (one->fingerprint == other->fingerprint) {
        return false;
    }
    schema_side left = {.schema = one, .name = one_name};
    schema_side right = {.schema = other, .name = other_name};
    if (one->class_count != other->class_count) {
        const bool is_longer = one->class_count > other->class_count;
        tell_missing_class(is_longer ? &left : &right, is_longer ? &right : &left, text);
        return true;
    }
    for (int c = 0; c < one->class_count; ++c) {
        if (!is_class_same(&one->classes[c], &other->classes[c])) {
            tell_class(&left, &right, c, text);
            return true;
        }
    }
    if ((one->codes == NULL) != (other->codes == NULL)) {
        tell_difference(text, "%s brings models along that were learned, %s does not",
                        one->codes != NULL ? one_name : other_name,
                        one->codes != NULL ? other_name : one_name);
    } else {
        tell_difference(text, "%s and %s were tuned differently: they bring other models along",
                        one_name, other_name);
    }
    return true;
}
