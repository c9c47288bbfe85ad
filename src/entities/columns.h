// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The values of entities: how far apart two values of a property are, and the state of all entities of
// one class as columns.

#ifndef PH_ENTITIES_COLUMNS_H
#define PH_ENTITIES_COLUMNS_H

#include "schema/property.h"

#include <pinhole/vision.h>

// ---- how far apart two values are: for every value that changes, and every one that a visit finds
// changed

// Of two values that are not the same, in the steps of significant_steps. Where nothing can be
// subtracted, it is as large as is significant.
uint64_t ph_difference_steps(const ph_property* property, const uint32_t* a, const uint32_t* b);

// A change counted as a path, in PH_STIR_UNIT parts of another look, times the weight of the property.
// Where every difference is significant (a hat), each is another look; where there is a scale (a
// heading, a bar), PH_STIR_WHOLE significant differences or more are one. At least 1.
#define PH_STIR_UNIT 64
#define PH_STIR_WHOLE 8

uint32_t ph_difference_stir(const ph_property* property, const uint32_t* a, const uint32_t* b);

// ---- columns
//
// The state of all entities of one class: a column for each property, a row for each entity. Values
// are the words that src/schema/property.h describes: quantised once, compared as integers ever
// after.
//
//   columns[1]   heading of row 0 | row 1 | row 2 | ...            one word each
//   columns[2]   target  of row 0         | row 1         | ...    two words each
//   changed[1]   tick of row 0    | row 1 | row 2 | ...            when it became what it is
//   columns[3]   version of row 0 | row 1 | row 2 | ...            a string: its version
//   texts[3]     length, bytes of row 0   | row 1         | ...    its content, at a fixed stride
//
// The position has no column: it is swept every tick and lives in entities.h. Content has room for
// the longest string in every row, so that setting one never needs memory; keep max_length near
// what is used. Storing runs for every property of every struct that is set; only create and
// reserve allocate.

// Above every entity index, since capacities are ints.
#define PH_ROW_FREE UINT32_C(0x80000000)

// What an orientation was at two earlier ticks, at least `mark_ticks` apart: how an entity turns is taken over at least
// so long, because one step in one tick would be mostly rounding.
typedef struct ph_table_turn {
    uint32_t mark[2]; // words, the newer of the two
    uint32_t former[2];
    uint32_t mark_tick;
    uint32_t former_tick;
    uint32_t count; // of them: 0..2
} ph_table_turn;

typedef struct ph_table {
    const ph_class* described;
    uint32_t* columns[PH_PROPERTIES_MAX]; // NULL for the position
    uint8_t* texts[PH_PROPERTIES_MAX];    // NULL for everything but STRING and BYTES
    uint32_t* changed[PH_PROPERTIES_MAX]; // NULL for the position
    ph_table_turn* turns;                 // by row; NULL without an orientation
    uint32_t mark_ticks;                  // set by the owner; 0 counts as 1
    ph_entity_index* owner; // by row; PH_ROW_FREE + place in free_rows where it is free
    uint32_t* free_rows;    // given back, the last one on top
    int free_count;
    int used_count; // rows below this were taken at least once
    int capacity;
    void* block; // holds all of the above
    ph_allocator allocator;
} ph_table;

// capacity may be 0. described must outlive the table.
// @return PH_OK, or PH_ERROR_MEMORY with *table set to {0}.
ph_result ph_table_create(ph_table* table, const ph_class* described, const ph_allocator* allocator,
                          int capacity);

void ph_table_destroy(ph_table* table);

// Makes room for capacity rows in all. @return PH_OK, or PH_ERROR_MEMORY with the table as it was.
ph_result ph_table_reserve(ph_table* table, int capacity);

bool ph_table_is_full(const ph_table* table);

// A row with every property at its initial value; not when full.
uint32_t ph_table_take_row(ph_table* table, ph_entity_index owner);

void ph_table_give_back_row(ph_table* table, uint32_t row);

// The words of one value. Not for the position.
uint32_t* ph_table_value(const ph_table* table, int property, uint32_t row);

// When a value changed is for the caller to note, by its own clock; 0 in a new row.
void ph_table_stamp(ph_table* table, int property, uint32_t row, uint32_t tick);

uint32_t ph_table_changed(const ph_table* table, int property, uint32_t row);

// The words of the orientation at the latest tick that is `mark_ticks` or more before this one.
// @return NULL when none is known.
const uint32_t* ph_table_turned_from(const ph_table* table, uint32_t row, uint32_t tick,
                                     uint32_t* from_tick);

// @return Whether the value is another one than before.
bool ph_table_store(ph_table* table, int property, uint32_t row, const uint32_t* words);

// STRING and BYTES. The text is borrowed until the next store to it, or reserve.
ph_text ph_table_text(const ph_table* table, int property, uint32_t row);

// At most max_length bytes. The version changes exactly when the content does.
// @return Whether it did.
bool ph_table_store_text(ph_table* table, int property, uint32_t row, ph_text text);

// Whether rows, free list and lengths agree. For tests; walks everything.
bool ph_table_validate(const ph_table* table);

#endif
