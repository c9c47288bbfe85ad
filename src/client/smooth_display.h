// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client shows of smooth properties: for each slot a track for each part (packet/smooth_parts.h). Fed with
// each record that tells one, advanced once per frame. A part of display.h.
//
//   tracks    | slot 0: part, part | slot 1: part, part | ...      as many as the class with the most has
//
// Memory is taken at creation, and only where a class has smooth properties. Some 12 ns per number and frame.

#ifndef PH_CLIENT_SMOOTH_DISPLAY_H
#define PH_CLIENT_SMOOTH_DISPLAY_H

#include "motion/motion_model.h"
#include "packet/layout.h"
#include "packet/smooth_parts.h"

typedef struct ph_smooth_track {
    union {
        ph_number_track number;
        ph_turn_track turn;
    };
} ph_smooth_track;

// {0} has no tracks and may be destroyed.
typedef struct ph_smooth_display {
    ph_smooth_track* tracks;
    int parts; // of a slot
    int capacity;
} ph_smooth_display;

// @return PH_OK or PH_ERROR_MEMORY, with *display without tracks.
ph_result ph_smooth_display_create(ph_smooth_display* display, const ph_layouts* layouts,
                                   const ph_allocator* allocator, int capacity);
void ph_smooth_display_destroy(ph_smooth_display* display, const ph_allocator* allocator);

// The slot shows a new entity.
void ph_smooth_display_enter(ph_smooth_display* display, int slot);

// What a record said of the entity in a slot.
typedef struct ph_smooth_sample {
    int64_t time_us;       // the server's time
    const uint32_t* words; // all values of the entity (packet/layout.h)
    uint64_t properties;   // that are new
    bool is_jump;          // its entity was moved there
} ph_smooth_sample;

void ph_smooth_display_add(ph_smooth_display* display, int slot, const ph_layout* layout,
                           const ph_smooth_sample* sample);

// The slot's entity is shown on from where another display has shown it.
void ph_smooth_display_inherit(ph_smooth_display* display, int slot, const ph_layout* layout,
                               const ph_smooth_display* from, int from_slot);

void ph_smooth_display_advance(ph_smooth_display* display, int slot, const ph_layout* layout,
                               const ph_motion_model* motion_model, const ph_frame_time* frame);

// What is shown of a smooth property, in the unit of its field: a number, three of a VEC3, x, y, z, w of a
// QUATERNION. words: those of the entity, for what no frame has shown yet. @return How many numbers: 1, 3 or 4.
int ph_smooth_display_get(const ph_smooth_display* display, int slot, const ph_layout* layout,
                          int property, const uint32_t* words, double numbers[4]);

#endif
