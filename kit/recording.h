// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The truth of a measurement: where every entity is at every tick, and what else is known of it.
// Read from a file (kit/recording_csv.h) or recorded from a scene (kit/scene_recording.h); it never
// changes afterwards, so any number of threads may read it at once.
//
//   rows, by entity, then by tick           spans
//   ┌ entity 0 ─────────┬ entity 1 ──┐      entity 0: ticks 0..2  from row 0
//   │ t0 t1 t2 │ t7 t8  │ t1 t2 t3   │                ticks 7..8  from row 3
//   └───────────────────┴────────────┘      entity 1: ticks 1..3  from row 5
//
// By entity, because a meter asks for the last second of one entity; and as most are
// present without a break, (tick, entity) leads to its row in a few instructions.
//
// Ticks count from 0 here; first_tick is what the file calls that tick. Entities count from 0 in the
// order of their ids.

#ifndef PINHOLE_KIT_RECORDING_H
#define PINHOLE_KIT_RECORDING_H

#include "kit/column.h"
#include "kit/fault.h"

#include <pinhole/ground.h>
#include <pinhole/schema.h>

enum {
    // Columns beside the six that every recording has: a class has 64 properties, and two of them
    // are position and heading.
    PH_RECORDING_COLUMNS_MAX = PH_PROPERTIES_MAX - 2,
    PH_RECORDING_RATE_MAX = 1000,
};

// The column that says of which class an entity is.
#define PH_RECORDING_CLASS "class"

// A time without a break in which an entity is present.
typedef struct ph_span {
    int first_tick;
    int end_tick; // the first one without it
    int first_row;
} ph_span;

// Read-only outside kit.
typedef struct ph_recording {
    double rate_hz; // 1..PH_RECORDING_RATE_MAX
    int first_tick;
    int tick_count; // from the first row to the last; 1 or more
    int row_count;
    int entity_count;
    uint32_t* id; // by entity, ascending: the number that the file gives it
    // By row.
    int32_t* x_mm;
    int32_t* y_mm;
    int32_t* z_mm;
    float* heading_deg; // 0 <= heading < 360, from the x axis towards the y axis
    bool* is_jump;      // it did not move here: as the file says, or as kit/jump_marks.h finds
    int32_t* line;      // of the file; 0: recorded
    bool has_marks;     // the file says what is a jump
    ph_column* columns;
    int column_count;
    int class_column; // its words are the classes of the entities; -1: nothing says of which class they are
    int rotation_form;      // ph_attitude_form of kit/recording_attitude.h
    int rotation_column[4]; // its columns, as many as it has
    ph_span* spans;
    int* first_span; // by entity; one more at the end
    // What there is to stand on, and how altitudes are best written; zero in files.
    ph_ground ground;
    ph_altitude altitude;
    // What is missing in it or was not understood, as the end of a sentence that begins with its name, such as
    // ":12: class is empty here"; empty: nothing.
    char note[240];
} ph_recording;

void ph_recording_destroy(ph_recording* recording); // NULL is allowed

// Of all that ever happens: x0, y0, x1, y1.
void ph_recording_bounds(const ph_recording* recording, int32_t bounds_mm[4]);

// The row of an entity at a tick, -1 when it is absent. Any tick may be asked for.
int ph_recording_row(const ph_recording* recording, int entity, int tick);

// All rows of an entity, over all its spans: *first is the first one. @return How many, 1 or more.
int ph_recording_rows(const ph_recording* recording, int entity, int* first);

// The entity of this id, or -1.
int ph_recording_find(const ph_recording* recording, uint32_t id);

// The first tick at which the most entities are present. @return -1 when there is no memory.
int ph_recording_fullest_tick(const ph_recording* recording);

// ---- classes: what the column "class" says, where every cell of it is a name that a class may have

// Finds that column and sets class_column; says in the note why a column of that name is none.
void ph_recording_find_classes(ph_recording* recording);

// How many there are; 1 where nothing says so.
int ph_recording_class_count(const ph_recording* recording);

// "thing" where nothing says so.
const char* ph_recording_class_name(const ph_recording* recording, int recorded_class);

// Which one an entity is of in a row: 0 where nothing says so. An entity may become one of another class.
static inline int ph_recording_class(const ph_recording* recording, int row)
{
    return recording->class_column < 0
               ? 0
               : (int)recording->columns[recording->class_column].value[row];
}

// @return -1 when there is no such column.
int ph_recording_find_column(const ph_recording* recording, const char* name);

// Whether every recording has something of this name beside its columns. The column of a property that is named so
// has a _ behind it.
bool ph_recording_is_own_name(const char* name);

// The column that has the values of a property of this name. @return -1 when there is none.
int ph_recording_find_property(const ph_recording* recording, const char* name);

#endif
