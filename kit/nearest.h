// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The nearest few of many, for the meter: by rules of its own, so that an error in vision cannot
// hide itself. Runs once per viewer and frame.

#ifndef PINHOLE_KIT_NEAREST_H
#define PINHOLE_KIT_NEAREST_H

#include <stdint.h>

// In order of distance; those equally far by first_tick, then by entity. No entity twice.
typedef struct ph_near {
    uint64_t distance2;
    int32_t first_tick;
    int32_t entity;
} ph_near;

// Moves the wanted ones that come first to the front, in no particular order.
// @return How many: the lesser of count and wanted.
int ph_nearest_select(ph_near* near, int count, int wanted);

#endif
