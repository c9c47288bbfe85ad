// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Recordings as comma-separated text, plain or packed by gzip:
//
//     # rate 16
//     tick,entity,x_mm,y_mm,z_mm,heading_deg,kind,health
//     0,7,1200,3400,0,45.0,wolf,100
//     0,9,1500,3000,0,270.5,chest,
//     1,7,1240,3420,0,45.5,wolf,98
//
// The first lines may be comments, one of which may say the rate in ticks per second. Then the names
// of the columns, in any order; the first six above are needed, all others are extra. Then the rows,
// sorted by tick, then by entity. A row says that the entity is present at that tick and gives its
// whole state. Blank lines mean nothing.
//
//   tick         0..1000000000; the first row is the beginning
//   entity       0..2147483647; a number is never given to another object
//   x_mm ...     whole numbers of 32 bits
//   heading_deg  0 <= heading < 360, from +x towards +y
//   teleport     need not be there. 1: the entity did not move here from where it was at the tick
//                before, it jumped; 0 or empty: it moved. Without it kit/jump_marks.h finds the jumps
//   class        need not be there: of which class the entity is, a name in every cell. Where it is anything
//                else it is an extra column
//   qx, qy, qz, qw or pitch_deg, roll_deg: how the entity is turned in space, see kit/attitude.h. They are
//                extra columns, too
//   extra        the first cell that is not empty decides: numbers or words (1..63 bytes, without
//                quotes or control characters). A cell may be empty.

#ifndef PINHOLE_KIT_RECORDING_CSV_H
#define PINHOLE_KIT_RECORDING_CSV_H

#include "kit/recording.h"

#include <stddef.h>

// Zero-initialised: as the file says, all of it.
typedef struct ph_recording_def {
    double rate_hz;    // goes before what the file says; 0: the file must say it
    double seconds;    // how much of it is read; 0: all
    bool is_pose_only; // leaves the extra columns out but for those of the rotation
    bool is_flat;      // nothing turns but the heading: those of the rotation are ordinary columns
} ph_recording_def;

// Also what ph_recorder has written (kit/recording_replay.h), packed by gzip or not.
// @return NULL with *fault filled: what is wrong, in which line and column.
ph_recording* ph_recording_load(const char* path, const ph_recording_def* def, ph_fault* fault);

// The same from memory; length is at most PH_FILE_TEXT_MAX. Nothing is kept of the text.
ph_recording* ph_recording_parse(const char* text, size_t length, const ph_recording_def* def,
                                 ph_fault* fault);

#endif
