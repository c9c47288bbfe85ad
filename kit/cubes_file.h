// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Recordings of the public delta compression challenge of networked cubes: 901 cubes at 60 Hz, frame after frame
// without any header, plain or packed by xz. A record is eight little-endian 32-bit numbers, in the order of ph_cube.

#ifndef PINHOLE_KIT_CUBES_FILE_H
#define PINHOLE_KIT_CUBES_FILE_H

#include "kit/fault.h"

#include <stddef.h>
#include <stdint.h>

enum {
    PH_CUBES = 901,
    PH_CUBES_LEVELS = 512,      // of a component of a rotation
    PH_CUBES_PLACE_MAX = 16383, // x and y, to both sides, in 1/512 m
    PH_CUBES_HEIGHT_MAX = 8191, // z, from 0
    PH_CUBES_RECORD_BYTES = 32,
    PH_CUBES_FRAME_BYTES = PH_CUBES * PH_CUBES_RECORD_BYTES,
};

typedef struct ph_cube {
    int16_t place[3]; // in 1/512 m
    // A quaternion in 512 levels from -sqrt(1/2) to sqrt(1/2), without its largest component, and with its sign
    // turned so that this one is not negative.
    int16_t rest[3];
    uint8_t largest;        // 0 x, 1 y, 2 z, 3 w
    uint8_t is_interacting; // 0 or 1: it was touched
} ph_cube;

typedef struct ph_cubes_file {
    ph_cube* cubes; // frame after frame
    int frame_count;
} ph_cubes_file;

// Frames in memory as they are in a plain file. Every number is checked.
// @return False with *fault filled and *file {0}.
bool ph_cubes_file_parse(const uint8_t* bytes, size_t size, ph_cubes_file* file, ph_fault* fault);

// The whole of a plain or packed file. @return As above.
bool ph_cubes_file_load(const char* path, ph_cubes_file* file, ph_fault* fault);

// Gives the memory back and leaves {0}.
void ph_cubes_file_unload(ph_cubes_file* file);

#endif
