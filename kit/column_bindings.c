// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per run of the simulator; the values of a column are looked at one by one only when one
// of them is wrong.

#include "kit/column_bindings.h"

#include "kit/recording_attitude.h"
#include "kit/recording_replay.h"

#include <pinhole/text.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct matching {
    const ph_recording* recording;
    const ph_property_def* def;
    int recorded_class;
    int column; // or PH_BINDING_HEADING
    int part;   // of a vector
    ph_fault* fault;
} matching;

// The heading as a column like any other.
static ph_column heading_column(void)
{
    return (ph_column){.name = "heading_deg", .kind = PH_COLUMN_DECIMAL, .high = 360.0};
}

static ph_column described(const matching* m)
{
    return m->column == PH_BINDING_HEADING ? heading_column() : m->recording->columns[m->column];
}

static double value_at(const matching* m, int row)
{
    return m->column == PH_BINDING_HEADING ? (double)m->recording->heading_deg[row]
                                           : m->recording->columns[m->column].value[row];
}

// ---- what a coding takes

static bool is_whole_coding(ph_coding coding)
{
    switch (coding) {
    case PH_CODING_BOOL:
    case PH_CODING_ENUM:
    case PH_CODING_RANGE:
    case PH_CODING_VARINT:
    case PH_CODING_TWO_BIT:
    case PH_CODING_GAMMA:
    case PH_CODING_RICE:
        return true;
    default:
        return false;
    }
}

static bool is_real_coding(ph_coding coding)
{
    return coding == PH_CODING_FIXED || coding == PH_CODING_ANGLE;
}

static void limits_of(const matching* m, double* low, double* high)
{
    const ph_property_def* def = m->def;
    *low = def->lo;
    *high = def->hi;
    if (def->coding == PH_CODING_BOOL || def->coding == PH_CODING_ENUM) {
        *low = 0.0;
        *high = def->coding == PH_CODING_BOOL ? 1.0 : (double)def->count - 1.0;
    } else if (def->coding == PH_CODING_ANGLE) {
        *low = -HUGE_VAL;
        *high = HUGE_VAL;
    } else if (def->coding == PH_CODING_VEC3 && m->part == 2) {
        *low = def->z_lo;
        *high = def->z_hi;
    }
}

// ---- values

static bool is_wrong(const matching* m, int row)
{
    const double value = value_at(m, row);
    if (isnan(value) || ph_recording_class(m->recording, row) != m->recorded_class) {
        return false;
    }
    double low;
    double high;
    limits_of(m, &low, &high);
    return value < low || value > high ||
           (is_whole_coding(m->def->coding) && floor(value) != value);
}

// The wrong value that stands first in the file; -1 when there is none.
static int first_wrong_row(const matching* m)
{
    int found = -1;
    for (int row = 0; row < m->recording->row_count; ++row) {
        if (is_wrong(m, row) &&
            (found < 0 || m->recording->line[row] < m->recording->line[found])) {
            found = row;
        }
    }
    return found;
}

static bool check_values(const matching* m)
{
    const int row = first_wrong_row(m);
    if (row < 0) {
        return true;
    }
    const ph_column column = described(m);
    const int line = m->recording->line[row];
    const double value = value_at(m, row);
    double low;
    double high;
    limits_of(m, &low, &high);
    if (column.kind == PH_COLUMN_WORD) {
        return ph_fault_set(m->fault, line, 0,
                            "column %s: '%s' is word number %.0f, outside of %.15g..%.15g of "
                            "property %s",
                            column.name, column.lexicon.words[(int)value], value, low, high,
                            m->def->name);
    }
    if (value >= low && value <= high) {
        return ph_fault_set(m->fault, line, 0,
                            "column %s: %.15g is no whole number as property %s needs it",
                            column.name, value, m->def->name);
    }
    return ph_fault_set(m->fault, line, 0,
                        "column %s: %.15g is outside of %.15g..%.15g of property %s", column.name,
                        value, low, high, m->def->name);
}

static int first_row_of_word(const matching* m, int word)
{
    int found = -1;
    for (int row = 0; row < m->recording->row_count; ++row) {
        if (value_at(m, row) == word &&
            ph_recording_class(m->recording, row) == m->recorded_class &&
            (found < 0 || m->recording->line[row] < m->recording->line[found])) {
            found = row;
        }
    }
    return found;
}

static bool check_words(const matching* m)
{
    const ph_column column = described(m);
    for (int w = 0; w < column.lexicon.count; ++w) {
        const char* word = column.lexicon.words[w];
        const size_t length = strlen(word);
        if (length <= (size_t)m->def->max_length && ph_text_is_valid(word, length)) {
            continue;
        }
        const int row = first_row_of_word(m, w);
        if (row < 0) {
            continue; // of another class
        }
        return ph_fault_set(
            m->fault, m->recording->line[row], 0,
            "column %s: '%s' is no text of at most %d bytes as property %s needs it", column.name,
            word, m->def->max_length, m->def->name);
    }
    return true;
}

// ---- one property

static bool refuse_kind(const matching* m, const char* kind)
{
    return ph_fault_set(m->fault, 0, 0, "column %s holds %s, which cannot set property %s",
                        described(m).name, kind, m->def->name);
}

// @return false with the fault filled, else *field says as what the column is set.
static bool match(const matching* m, ph_field* field)
{
    const ph_column column = described(m);
    const bool is_word = column.kind == PH_COLUMN_WORD;
    if (is_whole_coding(m->def->coding)) {
        *field = PH_FIELD_I64;
        return check_values(m);
    }
    if (is_real_coding(m->def->coding)) {
        *field = PH_FIELD_F64;
        return is_word ? refuse_kind(m, "words") : check_values(m);
    }
    if (m->def->coding == PH_CODING_STRING) {
        *field = PH_FIELD_TEXT;
        return is_word ? check_words(m) : refuse_kind(m, "numbers");
    }
    if (m->def->coding == PH_CODING_ENTITY && column.kind == PH_COLUMN_WHOLE) {
        *field = PH_FIELD_ENTITY;
        return true;
    }
    return refuse_kind(m, is_word ? "words" : "numbers");
}

// A vector or a quaternion has a column of numbers for each of its parts, or none at all.
static bool find_parts(const matching* m, ph_column_binding* binding)
{
    static const char* const ENDINGS[] = {"x", "y", "z", "w"};
    const int count = m->def->coding == PH_CODING_VEC3 ? 3 : 4;
    binding->field = count == 3 ? PH_FIELD_F64X3 : PH_FIELD_F64X4;
    for (int i = 0; i < count; ++i) {
        char name[PH_SCHEMA_NAME_MAX + 3];
        snprintf(name, sizeof name, "%s_%s", m->def->name, ENDINGS[i]);
        const int column = ph_recording_find_column(m->recording, name);
        const ph_column_kind kind =
            column >= 0 ? m->recording->columns[column].kind : PH_COLUMN_EMPTY;
        if (kind != PH_COLUMN_WHOLE && kind != PH_COLUMN_DECIMAL) {
            return false;
        }
        *(i == 0 ? &binding->column : &binding->others[i - 1]) = column;
    }
    return true;
}

static bool check_parts(const matching* m, const ph_column_binding* binding)
{
    matching part = *m;
    for (; part.part < 3 && m->def->coding == PH_CODING_VEC3; ++part.part) {
        part.column = part.part == 0 ? binding->column : binding->others[part.part - 1];
        if (!check_values(&part)) {
            return false;
        }
    }
    return true;
}

// The column for a property, PH_BINDING_HEADING, or -2 for none.
static int column_for(const ph_recording* recording, const ph_property_def* def)
{
    if (ph_recording_replay_is_heading(def)) {
        return PH_BINDING_HEADING;
    }
    const int column = ph_recording_find_property(recording, def->name);
    if (column >= 0 && recording->columns[column].kind != PH_COLUMN_EMPTY) {
        return column;
    }
    const bool is_heading =
        strcmp(def->name, "heading") == 0 || strcmp(def->name, "heading_deg") == 0;
    return is_heading ? PH_BINDING_HEADING : -2;
}

// A column in degrees sets an angle of any unit.
static double scale_of(const matching* m)
{
    const ph_column column = described(m);
    const size_t length = strlen(column.name);
    const bool is_in_degrees = length >= 4 && strcmp(column.name + length - 4, "_deg") == 0;
    return m->def->coding == PH_CODING_ANGLE && is_in_degrees ? m->def->turn / 360.0 : 1.0;
}

// ---- all

static void note_ignored(const ph_recording* recording, ph_column_bindings* bindings)
{
    const bool is_turned = bindings->rotation >= 0;
    bindings->is_heading_ignored = !is_turned || recording->rotation_form == PH_ATTITUDE_QUATERNION;
    bindings->ignored_columns = (UINT64_C(1) << recording->column_count) - 1;
    for (int i = 0; i < bindings->count; ++i) {
        const int column = bindings->items[i].column;
        if (column == PH_BINDING_HEADING) {
            bindings->is_heading_ignored = false;
        } else if (column >= 0) {
            bindings->ignored_columns &= ~(UINT64_C(1) << column);
        }
        for (int k = 0; k < ph_column_binding_parts(&bindings->items[i]) - 1; ++k) {
            bindings->ignored_columns &= ~(UINT64_C(1) << bindings->items[i].others[k]);
        }
    }
    if (recording->class_column >= 0) {
        bindings->ignored_columns &= ~(UINT64_C(1) << recording->class_column);
    }
    for (int c = 0; is_turned && c < recording->column_count; ++c) {
        if (ph_attitude_has_column(recording, c)) {
            bindings->ignored_columns &= ~(UINT64_C(1) << c);
        }
    }
}

// The class of the schema for one of the recording; -1 with the fault filled.
static int class_for(const ph_schema* schema, const ph_recording* recording, int recorded_class,
                     ph_fault* fault)
{
    const int count = ph_schema_class_count(schema);
    const char* name = ph_recording_class_name(recording, recorded_class);
    if (count == 1) {
        return 0;
    }
    for (int i = 0; i < count && recording->class_column >= 0; ++i) {
        if (strcmp(ph_schema_class(schema, i)->name, name) == 0) {
            return i;
        }
    }
    if (recording->class_column >= 0) {
        ph_fault_set(fault, 0, 0, "some of its entities are of class %s, which the schema has not",
                     name);
    } else {
        ph_fault_set(fault, 0, 0,
                     "the schema has %d classes, and nothing says of which one an entity is: that "
                     "takes a column named class with a name in every cell",
                     count);
    }
    return -1;
}

// What sets a property. @return False with the fault filled.
static bool bind(matching* m, int property, ph_column_bindings* bindings)
{
    ph_column_binding* binding = &bindings->items[bindings->count];
    *binding =
        (ph_column_binding){.property = property, .scale = 1.0, .initial = m->def->default_value};
    if (m->def->coding == PH_CODING_POSITION) {
        return true;
    }
    if (ph_attitude_is_orientation(m->def)) {
        bindings->rotation = property;
        binding->column = PH_BINDING_ROTATION;
        binding->field = PH_FIELD_F64X4;
        ++bindings->count;
        return true;
    }
    if ((m->def->coding == PH_CODING_VEC3 || m->def->coding == PH_CODING_QUATERNION) &&
        find_parts(m, binding)) {
        ++bindings->count;
        return check_parts(m, binding);
    }
    m->column = column_for(m->recording, m->def);
    if (m->column < PH_BINDING_HEADING) {
        bindings->unbound_properties |= UINT64_C(1) << property;
        return true;
    }
    binding->column = m->column;
    binding->scale = scale_of(m);
    if (!match(m, &binding->field)) {
        return false;
    }
    ++bindings->count;
    return true;
}

int ph_column_binding_parts(const ph_column_binding* binding)
{
    if (binding->column < 0) {
        return 1;
    }
    return binding->field == PH_FIELD_F64X3 ? 3 : binding->field == PH_FIELD_F64X4 ? 4 : 1;
}

bool ph_column_bindings_make(const ph_schema* schema, const ph_recording* recording,
                             int recorded_class, ph_column_bindings* bindings, ph_fault* fault)
{
    *bindings = (ph_column_bindings){.rotation = -1};
    bindings->class_index = class_for(schema, recording, recorded_class, fault);
    if (bindings->class_index < 0) {
        return false;
    }
    const ph_class_def* type = ph_schema_class(schema, bindings->class_index);
    for (int p = 0; p < type->property_count; ++p) {
        matching m = {.recording = recording,
                      .def = &type->properties[p],
                      .recorded_class = recorded_class,
                      .fault = fault};
        if (!bind(&m, p, bindings)) {
            return false;
        }
    }
    note_ignored(recording, bindings);
    return true;
}

ph_column_bindings* ph_column_bindings_make_all(const ph_schema* schema,
                                                const ph_recording* recording, ph_fault* fault)
{
    const int count = ph_recording_class_count(recording);
    ph_column_bindings* made = calloc((size_t)count, sizeof *made);
    if (made == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    for (int i = 0; i < count; ++i) {
        if (!ph_column_bindings_make(schema, recording, i, &made[i], fault)) {
            free(made);
            return NULL;
        }
    }
    return made;
}
