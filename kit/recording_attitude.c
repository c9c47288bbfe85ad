// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Columns are found once per recording; rows are asked for once per entity and tick.

#include "kit/recording_attitude.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char* const QUATERNION_NAMES[] = {"qx", "qy", "qz", "qw"};
static const char* const ANGLE_NAMES[] = {"pitch_deg", "roll_deg"};

const char* const* ph_attitude_column_names(ph_attitude_form form, int* count)
{
    *count = form == PH_ATTITUDE_QUATERNION ? 4 : form == PH_ATTITUDE_ANGLES ? 2 : 0;
    return form == PH_ATTITUDE_QUATERNION ? QUATERNION_NAMES : ANGLE_NAMES;
}

static bool find_form(const ph_recording* recording, ph_attitude_form form, int found[4])
{
    int count;
    const char* const* names = ph_attitude_column_names(form, &count);
    for (int i = 0; i < count; ++i) {
        found[i] = ph_recording_find_column(recording, names[i]);
        const ph_column_kind kind =
            found[i] >= 0 ? recording->columns[found[i]].kind : PH_COLUMN_EMPTY;
        if (kind != PH_COLUMN_WHOLE && kind != PH_COLUMN_DECIMAL) {
            return false;
        }
    }
    return true;
}

void ph_attitude_find(ph_recording* recording)
{
    static const ph_attitude_form FORMS[] = {PH_ATTITUDE_QUATERNION, PH_ATTITUDE_ANGLES};
    recording->rotation_form = (int)PH_ATTITUDE_NONE;
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; ++i) {
        if (find_form(recording, FORMS[i], recording->rotation_column)) {
            recording->rotation_form = (int)FORMS[i];
            return;
        }
    }
}

bool ph_attitude_has_column(const ph_recording* recording, int column)
{
    int count;
    ph_attitude_column_names((ph_attitude_form)recording->rotation_form, &count);
    for (int i = 0; i < count; ++i) {
        if (recording->rotation_column[i] == column) {
            return true;
        }
    }
    return false;
}

bool ph_attitude_is_orientation(const ph_property_def* property)
{
    return property->is_orientation;
}

static double cell_of(const ph_recording* recording, int part, int row)
{
    const double cell = recording->columns[recording->rotation_column[part]].value[row];
    return isnan(cell) ? 0.0 : cell;
}

void ph_attitude_of_row(const ph_recording* recording, int row, double q[4])
{
    const double heading_deg = (double)recording->heading_deg[row];
    if (recording->rotation_form == PH_ATTITUDE_QUATERNION) {
        for (int k = 0; k < 4; ++k) {
            q[k] = cell_of(recording, k, row);
        }
        ph_attitude_normalise(q);
        return;
    }
    const bool has_angles = recording->rotation_form == PH_ATTITUDE_ANGLES;
    ph_attitude_from_angles(heading_deg, has_angles ? cell_of(recording, 0, row) : 0.0,
                            has_angles ? cell_of(recording, 1, row) : 0.0, q);
}
