// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Adding runs once per row. Finishing sorts by entity without comparing: count, sum up, scatter.

#include "kit/rows.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void ph_rows_clear(ph_rows* rows)
{
    free(rows->row);
    free(rows->entity);
    free(rows->cell);
    free(rows->id);
    ph_hash_map_destroy(&rows->entities);
    *rows = (ph_rows){.column_count = rows->column_count};
}

// ---- adding

// Arrays that could be made longer stay so when a later one cannot: the capacity tells what holds.
static bool reserve_row(ph_rows* rows)
{
    if (rows->count < rows->capacity) {
        return true;
    }
    if (rows->capacity > INT_MAX / 4) {
        return false;
    }
    const size_t capacity = (size_t)rows->capacity * 2 + 64;
    ph_row* row = realloc(rows->row, capacity * sizeof(ph_row));
    rows->row = row != NULL ? row : rows->row;
    int* entity = realloc(rows->entity, capacity * sizeof(int));
    rows->entity = entity != NULL ? entity : rows->entity;
    // Room for one column at least: realloc() to nothing is not portable.
    const size_t cells = capacity * (size_t)(rows->column_count > 0 ? rows->column_count : 1);
    double* cell = realloc(rows->cell, cells * sizeof(double));
    rows->cell = cell != NULL ? cell : rows->cell;
    if (row == NULL || entity == NULL || cell == NULL) {
        return false;
    }
    rows->capacity = (int)capacity;
    return true;
}

static bool reserve_entity(ph_rows* rows)
{
    if (rows->entity_count < rows->entity_capacity) {
        return true;
    }
    const int capacity = rows->entity_capacity * 2 + 64;
    uint32_t* id = realloc(rows->id, (size_t)capacity * sizeof(uint32_t));
    rows->id = id != NULL ? id : rows->id;
    if (id == NULL || ph_hash_map_reserve(&rows->entities, capacity) != PH_OK) {
        return false;
    }
    rows->entity_capacity = capacity;
    return true;
}

// The number of an entity, new or not; -1 when there is no memory.
static int number_of(ph_rows* rows, uint32_t id)
{
    uint32_t number;
    if (ph_hash_map_try_find(&rows->entities, id, &number)) {
        return (int)number;
    }
    if (!reserve_entity(rows)) {
        return -1;
    }
    rows->id[rows->entity_count] = id;
    ph_hash_map_insert(&rows->entities, id, (uint32_t)rows->entity_count);
    return rows->entity_count++;
}

bool ph_rows_add(ph_rows* rows, const ph_row* row, const double* cells)
{
    if (!reserve_row(rows)) {
        return false;
    }
    const int entity = number_of(rows, row->id);
    if (entity < 0) {
        return false;
    }
    rows->row[rows->count] = *row;
    rows->entity[rows->count] = entity;
    for (int c = 0; c < rows->column_count; ++c) {
        rows->cell[(size_t)rows->count * (size_t)rows->column_count + (size_t)c] = cells[c];
    }
    ++rows->count;
    return true;
}

// ---- finishing

static int compare_ids(const void* a, const void* b)
{
    const uint32_t left = *(const uint32_t*)a;
    const uint32_t right = *(const uint32_t*)b;
    return (left > right) - (left < right);
}

static void* room_for(int count, size_t element_size)
{
    return malloc((count > 0 ? (size_t)count : 1) * element_size);
}

static ph_recording* allocate(const ph_rows* rows)
{
    ph_recording* made = calloc(1, sizeof(ph_recording));
    if (made == NULL) {
        return NULL;
    }
    made->row_count = rows->count;
    made->class_column = -1;
    made->entity_count = rows->entity_count;
    made->id = room_for(rows->entity_count, sizeof(uint32_t));
    made->x_mm = room_for(rows->count, sizeof(int32_t));
    made->y_mm = room_for(rows->count, sizeof(int32_t));
    made->z_mm = room_for(rows->count, sizeof(int32_t));
    made->heading_deg = room_for(rows->count, sizeof(float));
    made->is_jump = room_for(rows->count, sizeof(bool));
    made->line = room_for(rows->count, sizeof(int32_t));
    made->first_span = room_for(rows->entity_count + 1, sizeof(int));
    made->columns = calloc((size_t)rows->column_count + 1, sizeof(ph_column));
    bool is_complete = made->id != NULL && made->x_mm != NULL && made->y_mm != NULL &&
                       made->z_mm != NULL && made->heading_deg != NULL && made->is_jump != NULL &&
                       made->line != NULL && made->first_span != NULL && made->columns != NULL;
    for (int c = 0; is_complete && c < rows->column_count; ++c) {
        made->column_count = c + 1;
        made->columns[c].value = room_for(rows->count, sizeof(double));
        is_complete = made->columns[c].value != NULL;
    }
    if (!is_complete) {
        ph_recording_destroy(made);
        return NULL;
    }
    return made;
}

// What finishing needs for a moment.
typedef struct sorting {
    int* rank;    // by entity in the order of coming: its place in the order of ids
    int* row_end; // by entity in the order of ids: the row behind its last one
    int* place;   // by row in the order of coming: its place by entity, then tick
    int* tick;    // by row in its place
} sorting;

static void free_sorting(sorting* sort)
{
    free(sort->rank);
    free(sort->row_end);
    free(sort->place);
    free(sort->tick);
}

static bool allocate_sorting(const ph_rows* rows, sorting* sort)
{
    *sort = (sorting){
        .rank = room_for(rows->entity_count, sizeof(int)),
        .row_end = calloc((size_t)rows->entity_count + 1, sizeof(int)),
        .place = room_for(rows->count, sizeof(int)),
        .tick = room_for(rows->count, sizeof(int)),
    };
    return sort->rank != NULL && sort->row_end != NULL && sort->place != NULL && sort->tick != NULL;
}

static void sort_entities(const ph_rows* rows, ph_recording* made, sorting* sort)
{
    memcpy(made->id, rows->id, (size_t)rows->entity_count * sizeof(uint32_t));
    qsort(made->id, (size_t)rows->entity_count, sizeof(uint32_t), compare_ids);
    for (int e = 0; e < rows->entity_count; ++e) {
        sort->rank[e] = ph_recording_find(made, rows->id[e]);
    }
}

static void sort_rows(const ph_rows* rows, sorting* sort)
{
    int* next = sort->row_end; // one entity further on, until the last loop has moved it
    for (int i = 0; i < rows->count; ++i) {
        ++next[sort->rank[rows->entity[i]] + 1];
    }
    for (int e = 0; e < rows->entity_count; ++e) {
        next[e + 1] += next[e];
    }
    for (int i = 0; i < rows->count; ++i) {
        sort->place[i] = next[sort->rank[rows->entity[i]]]++;
    }
}

static void scatter(const ph_rows* rows, const sorting* sort, ph_recording* made)
{
    for (int i = 0; i < rows->count; ++i) {
        const ph_row* row = &rows->row[i];
        const int to = sort->place[i];
        sort->tick[to] = row->tick - made->first_tick;
        made->x_mm[to] = row->position_mm[0];
        made->y_mm[to] = row->position_mm[1];
        made->z_mm[to] = row->position_mm[2];
        made->heading_deg[to] = row->heading_deg;
        made->is_jump[to] = row->is_jump;
        made->line[to] = row->line;
        const double* cells = rows->cell + (size_t)i * (size_t)rows->column_count;
        for (int c = 0; c < rows->column_count; ++c) {
            made->columns[c].value[to] = cells[c];
        }
    }
}

// @return How many spans there are; they are written when there is room for them.
static int walk_spans(ph_recording* made, const sorting* sort)
{
    int count = 0;
    int i = 0;
    for (int e = 0; e < made->entity_count; ++e) {
        made->first_span[e] = count;
        for (const int first = i; i < sort->row_end[e]; ++i) {
            const int tick = sort->tick[i];
            if (i == first || tick != sort->tick[i - 1] + 1) {
                ++count;
                if (made->spans != NULL) {
                    made->spans[count - 1] = (ph_span){.first_tick = tick, .first_row = i};
                }
            }
            if (made->spans != NULL) {
                made->spans[count - 1].end_tick = tick + 1;
            }
        }
    }
    made->first_span[made->entity_count] = count;
    return count;
}

static bool find_spans(ph_recording* made, const sorting* sort)
{
    made->spans = room_for(walk_spans(made, sort), sizeof(ph_span));
    if (made->spans == NULL) {
        return false;
    }
    walk_spans(made, sort);
    return true;
}

ph_recording* ph_rows_finish(const ph_rows* rows)
{
    PH_ASSERT(rows->count > 0);
    ph_recording* made = allocate(rows);
    if (made == NULL) {
        return NULL;
    }
    made->first_tick = rows->row[0].tick;
    made->tick_count = rows->row[rows->count - 1].tick - made->first_tick + 1;
    sorting sort;
    bool is_done = allocate_sorting(rows, &sort);
    if (is_done) {
        sort_entities(rows, made, &sort);
        sort_rows(rows, &sort);
        scatter(rows, &sort, made);
        is_done = find_spans(made, &sort);
    }
    free_sorting(&sort);
    if (!is_done) {
        ph_recording_destroy(made);
        return NULL;
    }
    return made;
}
