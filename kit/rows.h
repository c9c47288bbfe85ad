// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The rows of a recording in the making: they come by tick, then entity, and are turned into a
// recording at the end. Kit only.

#ifndef PINHOLE_KIT_ROWS_H
#define PINHOLE_KIT_ROWS_H

#include "base/hash.h"
#include "kit/recording.h"

typedef struct ph_row {
    int32_t tick; // 0 or more
    uint32_t id;
    int32_t line;
    int32_t position_mm[3];
    float heading_deg;
    bool is_jump; // as the file says
} ph_row;

_Static_assert(sizeof(ph_row) == 32, "hundreds of thousands of them");

// Start from {.column_count = ...}.
typedef struct ph_rows {
    int column_count; // beside those of ph_row
    ph_row* row;
    int* entity;  // of each row: entities in the order in which they come
    double* cell; // column_count of each row; NaN: empty
    int count;
    int capacity;
    uint32_t* id; // by entity
    int entity_count;
    int entity_capacity;
    ph_hash_map entities; // by id
} ph_rows;

// Rows come sorted, none twice. cells has column_count values.
// @return false, with nothing added, when there is no memory.
bool ph_rows_add(ph_rows* rows, const ph_row* row, const double* cells);

void ph_rows_clear(ph_rows* rows);

// A recording with all of its rows; there is at least one. The columns have their values, and no
// names, kinds or lexicons yet. @return NULL when there is no memory.
ph_recording* ph_rows_finish(const ph_rows* rows);

#endif
