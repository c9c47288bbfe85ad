// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Differences between two snapshots and their size classes: what the writer and the reader of bits
// share. A few instructions each.

#ifndef PINHOLE_KIT_SNAPSHOT_DIFFERENCE_H
#define PINHOLE_KIT_SNAPSHOT_DIFFERENCE_H

#include "kit/snapshot.h"

#include <string.h>

enum {
    PH_SNAPSHOT_BACK_BITS = 5,
    PH_SNAPSHOT_WAIT_BITS = 5,
    PH_SNAPSHOT_TICK_BITS = 16,
    PH_SNAPSHOT_WHOLE_TICK_BITS = 32,
    PH_SNAPSHOT_TICKS_MAX = 0xFFFF, // and beyond: a whole tick follows
    PH_SNAPSHOT_WIDTH_BITS = 5,
    PH_SNAPSHOT_CLASS_BITS = 2,
    PH_SNAPSHOT_CLASSES = 3, // and the whole coordinate
    PH_SNAPSHOT_WIDTH_MAX = 31,
    PH_SNAPSHOT_AGE_BITS = 8,
    PH_SNAPSHOT_KEY_SIZE_BITS = 2,
    PH_SNAPSHOT_COORDINATE_BITS = 32,
    PH_SNAPSHOT_PLANE = 0, // in masks: x and y, then z, then the properties
    PH_SNAPSHOT_HEIGHT = 1,
    PH_SNAPSHOT_FIRST_PROPERTY = 2,
};

_Static_assert(1 << PH_SNAPSHOT_BACK_BITS == PH_SNAPSHOT_RING, "a baseline is in the ring");

// ---- differences

// The sign in the lowest bit: 0, -1, 1, -2 are 0, 1, 2, 3.
static inline uint32_t ph_snapshot_zigzag(int32_t value)
{
    return ((uint32_t)value << 1) ^ (value < 0 ? UINT32_MAX : 0);
}

static inline int32_t ph_snapshot_unzigzag(uint32_t bits)
{
    return (int32_t)((bits >> 1) ^ ((bits & 1) != 0 ? UINT32_MAX : 0));
}

// Bits that it takes; 0 for 0.
static inline int ph_snapshot_width(uint64_t value)
{
    int width = 0;
    while (value >> width != 0) {
        ++width;
    }
    return width;
}

// Steps of 2^shift from one coordinate to another, the shorter way round the world.
static inline int32_t ph_snapshot_steps(uint32_t from, uint32_t to, int shift)
{
    const uint32_t steps = (to >> shift) - (from >> shift);
    return (int32_t)((int64_t)(int32_t)(steps << shift) / (INT64_C(1) << shift));
}

static inline uint32_t ph_snapshot_step_onward(uint32_t from, int32_t steps, int shift)
{
    return ((from >> shift) + (uint32_t)steps) << shift;
}

static inline int ph_snapshot_plane_shift(const ph_snapshot_layout* layout)
{
    return layout->position->coordinate.shift;
}

static inline bool ph_snapshot_has_ground(const ph_snapshot_layout* layout)
{
    return layout->position->def.ground_tolerance_mm > 0;
}

static inline int ph_snapshot_height_shift(const ph_snapshot_layout* layout)
{
    return ph_snapshot_has_ground(layout) ? layout->position->altitude.escape_shift
                                          : ph_snapshot_plane_shift(layout);
}

// The height that an entity has at a new place if it stays on its layer, or as high as it was.
static inline uint32_t ph_snapshot_expected_z(const ph_snapshot_layout* layout,
                                              const uint32_t from[3], const uint32_t to[3])
{
    if (!ph_snapshot_has_ground(layout)) {
        return from[2];
    }
    const ph_altitude* altitude = &layout->position->altitude;
    const ph_altitude_level level = ph_altitude_encode(altitude, &layout->ground, (int32_t)from[0],
                                                       (int32_t)from[1], (int32_t)from[2]);
    return level.layer < 0 ? from[2]
                           : (uint32_t)ph_altitude_decode(altitude, &layout->ground, (int32_t)to[0],
                                                          (int32_t)to[1], level);
}

static inline uint64_t ph_snapshot_number(const ph_snapshot_property* property,
                                          const uint8_t* block)
{
    uint32_t words[PH_VALUE_WORDS_MAX] = {0};
    ph_snapshot_load(property, block, words);
    return words[0] | (property->described->words > 1 ? (uint64_t)words[1] << 32 : 0);
}

// Signed, modulo the turn for angles. Numbers are below 2^54.
static inline int64_t ph_snapshot_number_difference(const ph_snapshot_property* property,
                                                    const uint8_t* from, const uint8_t* to)
{
    const int64_t top = (int64_t)ph_property_top(property->described, 0);
    int64_t difference =
        (int64_t)ph_snapshot_number(property, to) - (int64_t)ph_snapshot_number(property, from);
    if (property->described->def.coding == PH_CODING_ANGLE) {
        difference -= difference > top / 2 ? top + 1 : 0;
        difference += difference < -(top / 2) - 1 ? top + 1 : 0;
    }
    return difference;
}

static inline bool ph_snapshot_is_same_value(const ph_snapshot_property* property, const uint8_t* a,
                                             const uint8_t* b)
{
    return memcmp(a + property->offset, b + property->offset, property->size) == 0;
}

// Levels between two values of a number, the shorter way for angles; 0 for the same, and for what is
// no number at most 1.
static inline uint64_t ph_snapshot_difference(const ph_snapshot_property* property,
                                              const uint8_t* from, const uint8_t* to)
{
    if (!property->described->is_number) {
        return ph_snapshot_is_same_value(property, from, to) ? 0 : 1;
    }
    const int64_t difference = ph_snapshot_number_difference(property, from, to);
    return (uint64_t)(difference < 0 ? -difference : difference);
}

static inline uint64_t ph_snapshot_zigzag_number(int64_t value)
{
    return value < 0 ? (uint64_t)(-value) * 2 - 1 : (uint64_t)value * 2;
}

// ---- size classes

// Of x and y, or of z.
typedef struct ph_snapshot_classes {
    uint8_t widths[PH_SNAPSHOT_CLASSES]; // ascending
} ph_snapshot_classes;

static inline int ph_snapshot_class_width(const ph_snapshot_classes* of, int found, int whole)
{
    return found < PH_SNAPSHOT_CLASSES ? of->widths[found] : whole;
}

// How the changes of one snapshot are written.
typedef struct ph_snapshot_change_head {
    uint64_t mask; // bit 0: x and y, bit 1: z, then the properties
    ph_snapshot_classes plane;
    ph_snapshot_classes height;
    uint8_t small_width[PH_PROPERTIES_MAX]; // 0: values are whole
    bool has_jumps;
} ph_snapshot_change_head;

#endif
