// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Finding rows runs for every entity and tick that a meter looks back on: most entities have one
// span, the others a few, found by halving.

#include "kit/recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ph_recording_destroy(ph_recording* recording)
{
    if (recording == NULL) {
        return;
    }
    for (int c = 0; c < recording->column_count; ++c) {
        ph_lexicon_clear(&recording->columns[c].lexicon);
        free(recording->columns[c].value);
    }
    free(recording->columns);
    free(recording->id);
    free(recording->x_mm);
    free(recording->y_mm);
    free(recording->z_mm);
    free(recording->heading_deg);
    free(recording->is_jump);
    free(recording->line);
    free(recording->spans);
    free(recording->first_span);
    free(recording);
}

void ph_recording_bounds(const ph_recording* recording, int32_t bounds_mm[4])
{
    bounds_mm[0] = bounds_mm[2] = recording->x_mm[0];
    bounds_mm[1] = bounds_mm[3] = recording->y_mm[0];
    for (int row = 1; row < recording->row_count; ++row) {
        const int32_t x = recording->x_mm[row];
        const int32_t y = recording->y_mm[row];
        bounds_mm[0] = x < bounds_mm[0] ? x : bounds_mm[0];
        bounds_mm[1] = y < bounds_mm[1] ? y : bounds_mm[1];
        bounds_mm[2] = x > bounds_mm[2] ? x : bounds_mm[2];
        bounds_mm[3] = y > bounds_mm[3] ? y : bounds_mm[3];
    }
}

int ph_recording_row(const ph_recording* recording, int entity, int tick)
{
    PH_ASSERT(entity >= 0 && entity < recording->entity_count);
    int low = recording->first_span[entity];
    int high = recording->first_span[entity + 1] - 1;
    while (low < high) { // the last span that begins at this tick or before
        const int middle = low + (high - low + 1) / 2;
        if (recording->spans[middle].first_tick <= tick) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    const ph_span* span = &recording->spans[low];
    if (tick < span->first_tick || tick >= span->end_tick) {
        return -1;
    }
    return span->first_row + (tick - span->first_tick);
}

int ph_recording_rows(const ph_recording* recording, int entity, int* first)
{
    PH_ASSERT(entity >= 0 && entity < recording->entity_count);
    *first = recording->spans[recording->first_span[entity]].first_row;
    const ph_span* last = &recording->spans[recording->first_span[entity + 1] - 1];
    return last->first_row + (last->end_tick - last->first_tick) - *first;
}

int ph_recording_find(const ph_recording* recording, uint32_t id)
{
    int low = 0;
    int high = recording->entity_count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (recording->id[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < recording->entity_count && recording->id[low] == id ? low : -1;
}

int ph_recording_find_column(const ph_recording* recording, const char* name)
{
    for (int c = 0; c < recording->column_count; ++c) {
        if (strcmp(recording->columns[c].name, name) == 0) {
            return c;
        }
    }
    return -1;
}

// ---- classes

static bool is_class_name(const char* name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < length; ++i) {
        const char byte = name[i];
        const bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        if (!is_letter && byte != '_' && !(byte >= '0' && byte <= '9' && i > 0)) {
            return false;
        }
    }
    return length <= PH_SCHEMA_NAME_MAX;
}

// The first row whose class is none; -1: every one is a class.
static int find_odd_row(const ph_recording* recording, const ph_column* column)
{
    for (int row = 0; row < recording->row_count; ++row) {
        if (isnan(column->value[row]) ||
            !is_class_name(column->lexicon.words[(int)column->value[row]])) {
            return row;
        }
    }
    return -1;
}

// A column of this name is not meant to be a property, so why it is taken for one is said.
static void note_odd_row(ph_recording* recording, const ph_column* column, int row)
{
    char found[80] = "is empty";
    if (!isnan(column->value[row])) {
        snprintf(found, sizeof found, "cannot be named '%s'",
                 column->lexicon.words[(int)column->value[row]]);
    }
    snprintf(recording->note, sizeof recording->note,
             ":%d: class %s here; the column is taken for a property, and all entities for one "
             "class",
             (int)recording->line[row], found);
}

void ph_recording_find_classes(ph_recording* recording)
{
    const int found = ph_recording_find_column(recording, PH_RECORDING_CLASS);
    recording->class_column = -1;
    if (found < 0 || recording->columns[found].kind != PH_COLUMN_WORD) {
        return;
    }
    const ph_column* column = &recording->columns[found];
    if (column->lexicon.count > PH_CLASSES_MAX) {
        snprintf(recording->note, sizeof recording->note,
                 "there are %d classes, more than %d; the column is taken for a property, and all "
                 "entities for one class",
                 column->lexicon.count, PH_CLASSES_MAX);
        return;
    }
    const int odd_row = find_odd_row(recording, column);
    if (odd_row >= 0) {
        note_odd_row(recording, column, odd_row);
        return;
    }
    recording->class_column = found;
}

int ph_recording_class_count(const ph_recording* recording)
{
    return recording->class_column < 0 ? 1
                                       : recording->columns[recording->class_column].lexicon.count;
}

const char* ph_recording_class_name(const ph_recording* recording, int recorded_class)
{
    return recording->class_column < 0
               ? "thing"
               : recording->columns[recording->class_column].lexicon.words[recorded_class];
}

// ---- columns of properties

bool ph_recording_is_own_name(const char* name)
{
    // Columns of the text, and the properties of a derived schema.
    static const char* const NAMES[] = {"tick",    "entity",          "x_mm",     "y_mm",
                                        "z_mm",    "heading_deg",     "teleport", "position",
                                        "heading", PH_RECORDING_CLASS};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; ++i) {
        if (strcmp(name, NAMES[i]) == 0) {
            return true;
        }
    }
    return false;
}

int ph_recording_find_property(const ph_recording* recording, const char* name)
{
    char renamed[PH_SCHEMA_NAME_MAX + 2];
    const bool is_class = strcmp(name, PH_RECORDING_CLASS) == 0;
    if (!ph_recording_is_own_name(name) || (is_class && recording->class_column < 0)) {
        return ph_recording_find_column(recording, name);
    }
    snprintf(renamed, sizeof renamed, "%s_", name);
    const int column = ph_recording_find_column(recording, renamed);
    return column < 0 && is_class ? recording->class_column : column;
}

// ---- the fullest tick

static int compare_ints(const void* a, const void* b)
{
    const int left = *(const int*)a;
    const int right = *(const int*)b;
    return (left > right) - (left < right);
}

// The number grows only where a span begins; by then all spans that ended are to be taken off.
static int find_fullest(const int* begin, const int* end, int count)
{
    int fullest = begin[0];
    int most = 0;
    int ended = 0;
    for (int i = 0; i < count; ++i) {
        while (end[ended] <= begin[i]) {
            ++ended;
        }
        if (i + 1 - ended > most) {
            most = i + 1 - ended;
            fullest = begin[i];
        }
    }
    return fullest;
}

int ph_recording_fullest_tick(const ph_recording* recording)
{
    const int count = recording->first_span[recording->entity_count];
    int* begin = malloc((size_t)count * sizeof(int));
    int* end = malloc((size_t)count * sizeof(int));
    int fullest = -1;
    if (begin != NULL && end != NULL) {
        for (int i = 0; i < count; ++i) {
            begin[i] = recording->spans[i].first_tick;
            end[i] = recording->spans[i].end_tick;
        }
        qsort(begin, (size_t)count, sizeof(int), compare_ints);
        qsort(end, (size_t)count, sizeof(int), compare_ints);
        fullest = find_fullest(begin, end, count);
    }
    free(begin);
    free(end);
    return fullest;
}
