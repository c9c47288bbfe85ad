// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which column of a recording sets which property of a schema: matched by name, checked value by
// value before anything is played.

#ifndef PINHOLE_KIT_COLUMN_BINDINGS_H
#define PINHOLE_KIT_COLUMN_BINDINGS_H

#include "kit/recording.h"

enum { PH_BINDING_HEADING = -1, PH_BINDING_ROTATION = -2 };

typedef struct ph_column_binding {
    int property;   // of the schema's only class
    int column;     // of the recording, or PH_BINDING_HEADING or _ROTATION
    ph_field field; // as what it is set: I64, F64, TEXT, or F64X4 of a rotation
    double scale;   // from the column's unit to the property's: degrees to parts of its turn
    double initial; // what an empty cell stands for, in the property's unit; TEXT: the empty string
} ph_column_binding;

typedef struct ph_column_bindings {
    ph_column_binding items[PH_PROPERTIES_MAX];
    int count;
    // For a note to the user who gave the schema.
    uint64_t ignored_columns;    // bit by column: no property wants it, or all its cells are empty
    uint64_t unbound_properties; // bit by property: it keeps its initial value
    bool is_heading_ignored;
    int rotation; // the property that is how an entity is turned, or -1
} ph_column_bindings;

// Position is set by x_mm, y_mm and z_mm, whatever it is called; "heading" or "heading_deg" by
// heading_deg; the orientation by what the recording has of the rotation (kit/attitude.h); all others by the column of their name. Whole numbers and words (by their number)
// set bool, enum, range and the other codings of whole numbers; numbers set fixed and angle;
// words set strings.
// @return false with *fault filled: the schema has several classes, a column cannot set the
// property of its name, or a value is outside of what was declared; with its line, if it has one.
bool ph_column_bindings_make(const ph_schema* schema, const ph_recording* recording,
                             ph_column_bindings* bindings, ph_fault* fault);

#endif
