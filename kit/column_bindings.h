// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which column of a recording sets which property of a schema: matched by name, checked value by
// value before anything is played.

#ifndef PINHOLE_KIT_COLUMN_BINDINGS_H
#define PINHOLE_KIT_COLUMN_BINDINGS_H

#include "kit/recording.h"

enum { PH_BINDING_HEADING = -1, PH_BINDING_ROTATION = -2 };

typedef struct ph_column_binding {
    int property;   // of the class
    int column;     // of the recording, or PH_BINDING_HEADING or _ROTATION; of several the first
    int others[3];  // of a vector: y, z; of a rotation that is no orientation: y, z, w
    ph_field field; // as what it is set: I64, F64, TEXT, F64X3, F64X4, or ENTITY: the number of one
    double scale;   // from the column's unit to the property's: degrees to parts of its turn
    double initial; // what an empty cell stands for, in the property's unit; TEXT: the empty string
} ph_column_binding;

// Of one class of the recording.
typedef struct ph_column_bindings {
    int class_index; // of the schema, which its entities are of
    ph_column_binding items[PH_PROPERTIES_MAX];
    int count;
    // For a note to the user who gave the schema.
    uint64_t ignored_columns;    // bit by column: no property wants it, or all its cells are empty
    uint64_t unbound_properties; // bit by property: it keeps its initial value
    bool is_heading_ignored;
    int rotation; // the property that is how an entity is turned, or -1
} ph_column_bindings;

// How many columns it has: those of a vector, of a rotation, or one.
int ph_column_binding_parts(const ph_column_binding* binding);

// Entities are of the class of the schema that has the name of theirs; all are of the only one.
//
// Position is set by x_mm, y_mm and z_mm, whatever it is called; "heading" or "heading_deg" by
// heading_deg; the orientation by what the recording has of the rotation (kit/attitude.h);
// all others by the column of their name. Whole numbers and words (by their number) set bool, enum, range and
// the other codings of whole numbers, and references by the number of an entity; numbers set fixed and angle;
// words set strings; columns of the name with _x, _y and _z a vector, with _w as well a quaternion.
// recorded_class: 0..ph_recording_class_count() - 1
// @return false with *fault filled: the schema has several classes, and none of this name; a column cannot set
// the property of its name; or a value is outside of what was declared; with its line, if it has one.
bool ph_column_bindings_make(const ph_schema* schema, const ph_recording* recording,
                             int recorded_class, ph_column_bindings* bindings, ph_fault* fault);

// The same of all classes of a recording, in one block that free() frees. @return NULL with *fault filled.
ph_column_bindings* ph_column_bindings_make_all(const ph_schema* schema,
                                                const ph_recording* recording, ph_fault* fault);

#endif
