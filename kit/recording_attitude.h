// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How the entities of a recording are turned: which of its columns say so, and the rotation of a row.

#ifndef PINHOLE_KIT_RECORDING_ATTITUDE_H
#define PINHOLE_KIT_RECORDING_ATTITUDE_H

#include "kit/recording.h"
#include "kit/attitude.h"

// What columns a recording has of the rotation of its entities; ph_recording.rotation_form.
typedef enum ph_attitude_form {
    PH_ATTITUDE_NONE = 0,
    PH_ATTITUDE_QUATERNION, // qx, qy, qz, qw
    PH_ATTITUDE_ANGLES,     // heading_deg, pitch_deg, roll_deg
} ph_attitude_form;

// Finds them by their names among the columns, which must be numbers, and notes what there is.
void ph_attitude_find(ph_recording* recording);

// Whether a column is part of the rotation.
bool ph_attitude_has_column(const ph_recording* recording, int column);

// The names of the columns of a form; count is 4 or 2 (the heading is no column of its own).
const char* const* ph_attitude_column_names(ph_attitude_form form, int* count);

// Whether a property is how its entity is turned.
bool ph_attitude_is_orientation(const ph_property_def* property);

// Of a row: an empty cell counts as 0, and a recording without such columns turns by the heading
// alone.
void ph_attitude_of_row(const ph_recording* recording, int row, double q[4]);

#endif
