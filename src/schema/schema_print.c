// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Writes the text form (docs/schema.md). Everything that decides the wire is spelled out, defaults
// included: a text that was kept still means the same when a default changes. Policies are written
// where they say something. Runs for tools and recordings.

#include "schema/schema_state.h"

#include "schema/decimal.h"
#include "schema/prepare.h"
#include "schema/vocabulary.h"

#include <stdarg.h>
#include <stdio.h>

// Counts on when the buffer is full, so that the caller learns how much it takes.
typedef struct printer {
    char* text;
    size_t capacity;
    size_t length;
} printer;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
print(printer* out, const char* format, ...)
{
    const bool has_room = out->length < out->capacity;
    va_list arguments;
    va_start(arguments, format);
    const int added = vsnprintf(has_room ? out->text + out->length : NULL,
                                has_room ? out->capacity - out->length : 0, format, arguments);
    va_end(arguments);
    out->length += (size_t)added;
}

static void print_number(printer* out, const char* word, double value)
{
    print(out, " %s %s", word, ph_decimal_print(value).text);
}

static void print_range(printer* out, double lo, double hi)
{
    print(out, " %s..%s", ph_decimal_print(lo).text, ph_decimal_print(hi).text);
}

static void print_subject(printer* out, const ph_property_def* def)
{
    switch (ph_coding_row_of(def->coding)->subject) {
    case PH_PARAMETER_RANGE:
        print_range(out, def->lo, def->hi);
        return;
    case PH_PARAMETER_BITS:
        print(out, " %d", def->bits);
        return;
    case PH_PARAMETER_COUNT:
        print(out, " %d", def->count);
        return;
    case PH_PARAMETER_LENGTH:
        print(out, " %d", def->max_length);
        return;
    default:
        return;
    }
}

// The parameters of the coding that have a word.
static void print_parameters(printer* out, const ph_property_def* def)
{
    if (ph_coding_uses(def->coding, PH_PARAMETER_STEP)) {
        print_number(out, "step", def->step);
    }
    const bool is_z_special = def->z_lo != def->lo || def->z_hi != def->hi;
    if (ph_coding_uses(def->coding, PH_PARAMETER_Z) && is_z_special) {
        print(out, " z");
        print_range(out, def->z_lo, def->z_hi);
    }
    if (ph_coding_uses(def->coding, PH_PARAMETER_TURN)) {
        print_number(out, "turn", def->turn);
    }
    if (ph_coding_uses(def->coding, PH_PARAMETER_RICE_K)) {
        print(out, " k %d", def->rice_k);
    }
    if (def->is_arithmetic) {
        print(out, " arithmetic");
    }
    if (def->ground_tolerance_mm != 0) {
        print(out, " ground %d", def->ground_tolerance_mm);
    }
}

static void print_default(printer* out, const ph_property* property)
{
    const ph_property_def* def = &property->def;
    if (def->has_default != 0) {
        print_number(out, "default", def->default_value);
        if (def->coding == PH_CODING_VEC3) {
            print(out, " %s%s%s", (def->has_default & PH_DEFAULT_X) != 0 ? "x" : "",
                  (def->has_default & PH_DEFAULT_Y) != 0 ? "y" : "",
                  (def->has_default & PH_DEFAULT_Z) != 0 ? "z" : "");
        }
    } else if (ph_coding_uses(def->coding, PH_PARAMETER_DEFAULT) &&
               def->default_value != ph_property_automatic_initial(property)) {
        print_number(out, "initial", def->default_value);
    }
}

static void print_policy(printer* out, const ph_property_def* def)
{
    if (def->distance_m != 0.0) {
        print_number(out, "distance", def->distance_m);
    }
    if (def->significant != 0.0) {
        print_number(out, "significant", def->significant);
    }
    if (def->weight != 1.0) {
        print_number(out, "weight", def->weight);
    }
    if (def->when == PH_SEND_ONCE) {
        print(out, " once");
    }
    if (def->audience == PH_AUDIENCE_OWNER) {
        print(out, " owner");
    } else if (def->audience == PH_AUDIENCE_MASK) {
        print(out, " audience 0x%x", (unsigned)def->audience_mask);
    }
}

size_t ph_schema_print(const ph_schema* schema, char* text, size_t capacity)
{
    PH_ASSERT(text != NULL || capacity == 0);

    printer out = {.text = text, .capacity = capacity};
    for (int c = 0; c < schema->class_count; ++c) {
        const ph_class* type = &schema->classes[c];
        print(&out, "%sclass %s\n", c > 0 ? "\n" : "", type->def.name);
        for (int p = 0; p < type->def.property_count; ++p) {
            const ph_property* property = &type->properties[p];
            print(&out, "    %s: %s", property->def.name,
                  ph_coding_row_of(property->def.coding)->word);
            print_subject(&out, &property->def);
            print_parameters(&out, &property->def);
            print_default(&out, property);
            print_policy(&out, &property->def);
            print(&out, "\n");
        }
    }
    return out.length;
}
