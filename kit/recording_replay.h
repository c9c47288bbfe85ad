// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Recordings as ph_recorder writes them (docs/wire_recording.md), as rows like those of a CSV file.
//
//   heading_deg   the property "heading" or "heading_deg", where it is FIXED or ANGLE; else 0
//   columns       all other properties but the position, by their names: whole numbers as such, FIXED and
//                 ANGLE as decimals, a VEC3 as three columns _x, _y, _z, a QUATERNION as four with _w, a
//                 STRING as a word, a reference as the number of the entity. BYTES are left out. Classes
//                 that have a property of the same name share the column; an entity without it has an
//                 empty cell. One that is named as something that all recordings have (ph_recording_is_own_name)
//                 gets a _ behind it: heading_, where a heading is no angle.
//   class         its class, where the world had several: see ph_recording_find_classes()
//   entity        the key; where one is above 2147483647 all are numbered in the order of appearance
//   teleport      a jump, or another entity under the same key

#ifndef PINHOLE_KIT_RECORDING_REPLAY_H
#define PINHOLE_KIT_RECORDING_REPLAY_H

#include "kit/recording_csv.h"

// Whether the bytes are for this reader, be they damaged or cut off.
bool ph_recording_replay_suits(const void* bytes, size_t size);

// What can be read; what is missing stands in the note of the recording.
// @return NULL with *fault filled: nothing can be read.
ph_recording* ph_recording_replay_parse(const void* bytes, size_t size, const ph_recording_def* def,
                                        ph_fault* fault);

// The decimals that a number of the property has: of steps of 0.25, 2. At most 6.
int ph_recording_replay_decimals(const ph_property_def* def);

// The property as a column. heading: it is heading_deg.
bool ph_recording_replay_is_heading(const ph_property_def* def);

#endif
