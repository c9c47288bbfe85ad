// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per run of the simulator; the values of a column are looked at one by one only when one
// of them is wrong.

#include "kit/column_bindings.h"

#include "kit/recording_attitude.h"

#include <pinhole/text.h>

#include <math.h>
#include <string.h>

typedef struct matching {
    const ph_recording* recording;
    const ph_property_def* def;
    int column; // or PH_BINDING_HEADING
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

static void limits_of(const ph_property_def* def, double* low, double* high)
{
    *low = def->lo;
    *high = def->hi;
    if (def->coding == PH_CODING_BOOL || def->coding == PH_CODING_ENUM) {
        *low = 0.0;
        *high = def->coding == PH_CODING_BOOL ? 1.0 : (double)def->count - 1.0;
    } else if (def->coding == PH_CODING_ANGLE) {
        *low = -HUGE_VAL;
        *high = HUGE_VAL;
    }
}

// ---- values

static bool is_wrong(const matching* m, double value)
{
    if (isnan(value)) {
        return false;
    }
    double low;
    double high;
    limits_of(m->def, &low, &high);
    return value < low || value > high ||
           (is_whole_coding(m->def->coding) && floor(value) != value);
}

// The wrong value that stands first in the file; -1 when there is none.
static int first_wrong_row(const matching* m)
{
    int found = -1;
    for (int row = 0; row < m->recording->row_count; ++row) {
        if (is_wrong(m, value_at(m, row)) &&
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
    limits_of(m->def, &low, &high);
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
        const int line = m->recording->line[first_row_of_word(m, w)];
        return ph_fault_set(
            m->fault, line, 0,
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
    return refuse_kind(m, is_word ? "words" : "numbers");
}

// The column for a property, PH_BINDING_HEADING, or -2 for none.
static int column_for(const ph_recording* recording, const char* name)
{
    const int column = ph_recording_find_property(recording, name);
    if (column >= 0 && recording->columns[column].kind != PH_COLUMN_EMPTY) {
        return column;
    }
    const bool is_heading = strcmp(name, "heading") == 0 || strcmp(name, "heading_deg") == 0;
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
    }
    for (int c = 0; is_turned && c < recording->column_count; ++c) {
        if (ph_attitude_has_column(recording, c)) {
            bindings->ignored_columns &= ~(UINT64_C(1) << c);
        }
    }
}

bool ph_column_bindings_make(const ph_schema* schema, const ph_recording* recording,
                             ph_column_bindings* bindings, ph_fault* fault)
{
    *bindings = (ph_column_bindings){.rotation = -1};
    if (ph_schema_class_count(schema) != 1) {
        return ph_fault_set(fault, 0, 0,
                            "the schema has %d classes; a recording knows only one: leave the "
                            "schema out, or put the properties of all into one class",
                            ph_schema_class_count(schema));
    }
    const ph_class_def* only = ph_schema_class(schema, 0);
    for (int p = 0; p < only->property_count; ++p) {
        matching m = {.recording = recording, .def = &only->properties[p], .fault = fault};
        if (m.def->coding == PH_CODING_POSITION) {
            continue;
        }
        if (ph_attitude_is_orientation(m.def)) {
            bindings->rotation = p;
            bindings->items[bindings->count++] = (ph_column_binding){
                .property = p, .column = PH_BINDING_ROTATION, .field = PH_FIELD_F64X4};
            continue;
        }
        m.column = column_for(recording, m.def->name);
        if (m.column < PH_BINDING_HEADING) {
            bindings->unbound_properties |= UINT64_C(1) << p;
            continue;
        }
        ph_column_binding* binding = &bindings->items[bindings->count];
        *binding = (ph_column_binding){.property = p,
                                       .column = m.column,
                                       .scale = scale_of(&m),
                                       .initial = m.def->default_value};
        if (!match(&m, &binding->field)) {
            return false;
        }
        ++bindings->count;
    }
    note_ignored(recording, bindings);
    return true;
}
