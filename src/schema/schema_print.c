// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Schemas as text (docs/schema.md). Everything that decides the wire is spelled out, defaults included: a text that
// was kept still means the same when a default changes. Policies are written where they say something. Runs when a
// schema is written.

#include "schema/schema_text.h"

#include "base/check.h"
#include "base/compiler.h"
#include "pinhole/schema.h"
#include "schema/learned_text.h"
#include "schema/prepare.h"
#include "schema/scanner.h"
#include "schema/schema_state.h"
#include "schema/vocabulary.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Counts on when the buffer is full, so that the caller learns how much it takes.
typedef struct printer {
    char* text;
    size_t capacity;
    size_t length;
    bool has_policies; // false: only what decides the wire
} printer;

PH_PRINTF(2, 3)
static void print(printer* out, const char* format, ...)
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
    if (def->coding == PH_CODING_POSITION && def->finest != 0.0) {
        print_number(out, "finest", def->finest);
    }
    const bool is_z_special = def->z_lo != def->lo || def->z_hi != def->hi;
    if (ph_coding_uses(def->coding, PH_PARAMETER_Z) && is_z_special) {
        print(out, " z");
        print_range(out, def->z_lo, def->z_hi);
    }
    // Of the wire only the unit of the default.
    const bool is_turn_silent = !out->has_policies && def->turn == 360.0;
    if (ph_coding_uses(def->coding, PH_PARAMETER_TURN) && !is_turn_silent) {
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

// On the wire only what is not so without being said.
static void print_motion(printer* out, const ph_property* property)
{
    const ph_property_def* def = &property->def;
    if (def->is_orientation) {
        print(out, " orientation");
    }
    if (out->has_policies ? def->is_heading : property->motion_mark == PH_MARK_HEADING) {
        print(out, " heading");
    }
    if (def->is_carrier) {
        print(out, " carrier");
    }
    if (def->is_smooth) {
        print(out, " smooth");
    }
}

static void print_policy(printer* out, const ph_property_def* def)
{
    if (def->is_strict) {
        print(out, " strict");
    }
    if (def->distance_m != 0.0) {
        print_number(out, "distance", def->distance_m);
    }
    if (def->significant != 0.0) {
        print_number(out, "significant", def->significant);
    }
    if (def->weight != 1.0) {
        print_number(out, "weight", def->weight);
    }
}

static void print_audience(printer* out, const ph_property_def* def)
{
    if (def->audience == PH_AUDIENCE_OWNER) {
        print(out, " owner");
    } else if (def->audience == PH_AUDIENCE_MASK) {
        print(out, " audience 0x%x", (unsigned)def->audience_mask);
    }
}

// All of a property but its name.
static void print_property(printer* out, const ph_property* property)
{
    const ph_property_def* def = &property->def;
    print(out, "%s", ph_coding_row_of(def->coding)->word);
    print_subject(out, def);
    print_parameters(out, def);
    print_default(out, property);
    print_motion(out, property);
    if (out->has_policies) {
        print_policy(out, def);
    }
    if (def->when == PH_SEND_ONCE && (out->has_policies || def->coding != PH_CODING_POSITION)) {
        print(out, " once");
    }
    if (out->has_policies) {
        print_audience(out, def);
    }
}

// Both ends may think otherwise of it.
static void print_class_words(printer* out, const ph_class_def* def)
{
    if (def->bend != PH_BEND_DEFAULT) {
        print_number(out, "bend", def->bend > 0.0 ? def->bend : 0.0);
    }
    if (def->leg_ms != PH_LEG_MS_DEFAULT) {
        print(out, " leg %d", def->leg_ms);
    }
    if (def->radius_m != PH_RADIUS_M) {
        print_number(out, "radius", def->radius_m);
    }
}

static size_t print_schema(const ph_schema* schema, printer out)
{
    for (int c = 0; c < schema->class_count; ++c) {
        const ph_class* type = &schema->classes[c];
        print(&out, "%sclass %s", c > 0 ? "\n" : "", type->def.name);
        if (out.has_policies) {
            print_class_words(&out, &type->def);
        }
        print(&out, "\n");
        for (int p = 0; p < type->def.property_count; ++p) {
            print(&out, "    %s: ", type->properties[p].def.name);
            print_property(&out, &type->properties[p]);
            print(&out, "\n");
        }
    }
    if (schema->codes != NULL) {
        print(&out, "\n");
        const size_t room = out.length < out.capacity ? out.capacity - out.length : 0;
        out.length += ph_models_print(schema, room > 0 ? out.text + out.length : NULL, room);
    }
    return out.length;
}

size_t ph_schema_print(const ph_schema* schema, char* text, size_t capacity)
{
    PH_ASSERT(text != NULL || capacity == 0);

    return print_schema(schema,
                        (printer){.text = text, .capacity = capacity, .has_policies = true});
}

size_t ph_schema_print_wire(const ph_schema* schema, char* text, size_t capacity)
{
    PH_ASSERT(text != NULL || capacity == 0);

    return print_schema(schema, (printer){.text = text, .capacity = capacity});
}

size_t ph_property_print_wire(const ph_property* property, char* text, size_t capacity)
{
    printer out = {.text = text, .capacity = capacity};
    print_property(&out, property);
    return out.length;
}
