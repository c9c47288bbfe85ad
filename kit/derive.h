// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The schema that a recording gets when none is given, and one from a file.
//
//   position             position 16 step 16; on a scene's ground with the tolerance of the scene
//   heading_deg          heading: angle 8 distance 50 significant 5
//   whole numbers        range lowest..highest
//   decimals             fixed lowest..highest, a step of their last decimal
//   numbers named ..._deg  angle 8: they turn round, and are seen as exactly as the heading
//   qx, qy, qz, qw       orientation: quaternion, everywhere, instead of the heading
//   pitch_deg, roll_deg  with the heading the same; see kit/attitude.h
//   words                enum, in the order of their bytes
//
// All but position and heading are sent within 100 m when they differ. An empty cell stands for the
// initial value of its property. A column of empty cells becomes none.
//
// Where a recording says of which class each entity is, each class has the properties whose cells it fills in,
// as wide as it needs them, and no heading where that is always 0.

#ifndef PINHOLE_KIT_DERIVE_H
#define PINHOLE_KIT_DERIVE_H

#include "kit/recording.h"

// One class, "thing", where the recording has no classes. A column that never changes becomes a property all the same: entities differ
// in it, or other recordings may.
// @return NULL with *fault filled.
ph_schema* ph_derive_schema(const ph_recording* recording, ph_fault* fault);

// One that fits several recordings of a game, 1 or more: columns of a name are one property of a class, as wide as all of them
// need; one that some do not have is there, too. The ground is that of the first.
// @return NULL with *fault filled: a column has words in one and numbers in another.
ph_schema* ph_derive_schema_of(const ph_recording* const* recordings, int recording_count,
                               ph_fault* fault);

// Reads a text as in docs/schema.md, or takes the schema of a world that was recorded (pinhole/recorder.h).
// @return NULL with *fault filled.
ph_schema* ph_derive_load(const char* path, ph_fault* fault);

#endif
