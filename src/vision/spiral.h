// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The order in which a query looks at the cells around its own: offsets by distance, made once.
// Equally far cells come row by row.
//
//              9
//           5  1  6
//       10  2  0  3 11
//           7  4  8
//             12

#ifndef PH_VISION_SPIRAL_H
#define PH_VISION_SPIRAL_H

#include <pinhole/base.h>

typedef struct ph_spiral_step {
    int16_t column;
    int16_t row;
} ph_spiral_step;

// How many steps reach no further than `reach` cells (0..PH_SPIRAL_REACH_MAX) from the middle to
// the middle. At least 1: the cell itself.
#define PH_SPIRAL_REACH_MAX 64
int ph_spiral_count(int reach);

// Fills that many steps, nearest first.
void ph_spiral_fill(ph_spiral_step* steps, int reach);

#endif
