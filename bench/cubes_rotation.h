// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Rotations of the challenge as the library has them. The challenge has 512 levels of a component, none of which is 0;
// the library one less, an odd number, so its level is that of the challenge less 256. And the challenge leaves out
// whichever component was the largest before it was rounded. What the library cannot say of a record, one in some five
// hundred that change, is a number beside it, the slip: which component is left out, and how far each level is off.

#ifndef PH_BENCH_CUBES_ROTATION_H
#define PH_BENCH_CUBES_ROTATION_H

#include "kit/cubes_file.h"

#define CUBES_QUATERNION_BITS 9

typedef struct cubes_rotation {
    double components[4]; // x, y, z, w
    uint16_t slip;        // 0: none
} cubes_rotation;

// The rotation of a record.
cubes_rotation cubes_rotation_of(const ph_cube* cube);

// Rotation levels of the record from what a client has.
void cubes_rotation_read(const cubes_rotation* rotation, ph_cube* cube);

#endif
