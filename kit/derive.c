// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per run of the simulator.

#include "kit/derive.h"

#include "kit/file_text.h"
#include "kit/recording_attitude.h"

#include <pinhole/recorder.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// As in the system that classic copies.
#define HEADING_DISTANCE_M 50.0
#define HEADING_SIGNIFICANT_DEG 5.0
#define OTHERS_DISTANCE_M 100.0
// A tenth of a degree.
enum { ANGLE_BITS = 8, ORIENTATION_BITS = 11 };

// No end is more steps than this from 0: decimals are dropped until that holds. More would be no
// use, and a step must not drown in the rounding of the ends.
#define STEPS_MAX 1073741824.0

static bool ends_with(const char* name, const char* ending)
{
    const size_t length = strlen(name);
    const size_t ending_length = strlen(ending);
    return length >= ending_length && strcmp(name + length - ending_length, ending) == 0;
}

// ---- decimals

// A ladder whose levels are multiples of its step, so that 0 is one of them. A step is a part of a
// unit or a number of units: decimal fractions are exact only as quotients.
typedef struct ladder {
    double parts; // steps in one unit; 1 when units are more
    double units; // units in one step; 1 when parts are more
} ladder;

static double level(ladder steps, double number)
{
    return number * steps.units / steps.parts;
}

static ladder find_step(const ph_column* column)
{
    ladder steps = {.parts = 1.0, .units = 1.0};
    for (int d = 0; d < column->decimals; ++d) {
        steps.parts *= 10.0;
    }
    const double furthest = fmax(fabs(column->low), fabs(column->high));
    while (furthest * steps.parts / steps.units > STEPS_MAX) {
        if (steps.parts > 1.0) {
            steps.parts /= 10.0;
        } else {
            steps.units *= 10.0;
        }
    }
    return steps;
}

// The nearest levels are the ends themselves, unless decimals were dropped: then one step further.
static ph_property_def make_fixed(const ph_column* column)
{
    const ladder steps = find_step(column);
    double low = floor(column->low * steps.parts / steps.units + 0.5);
    double high = floor(column->high * steps.parts / steps.units + 0.5);
    if (level(steps, low) > column->low) {
        low -= 1.0;
    }
    if (level(steps, high) < column->high || high == low) {
        high += 1.0;
    }
    return ph_property_fixed(column->name, level(steps, low), level(steps, high),
                             level(steps, 1.0));
}

// ---- columns

static ph_property_def make_range(const ph_column* column)
{
    const double high = column->high > column->low ? column->high : column->low + 1.0;
    return ph_property_range(column->name, column->low, high);
}

static ph_property_def make_property(const ph_column* column)
{
    ph_property_def made;
    if (column->kind == PH_COLUMN_WORD) {
        const int count = column->lexicon.count;
        made = ph_property_enum(column->name, count > 2 ? count : 2);
    } else if (ends_with(column->name, "_deg")) {
        made = ph_property_angle(column->name, ANGLE_BITS);
    } else if (column->kind == PH_COLUMN_DECIMAL) {
        made = make_fixed(column);
    } else {
        made = make_range(column);
    }
    made.distance_m = OTHERS_DISTANCE_M;
    return made;
}

// ---- classes of several recordings

// What of a column becomes a property.
typedef struct merged_class {
    char name[PH_SCHEMA_NAME_MAX + 1];
    bool turns_in_space;
    bool has_heading;
    ph_column columns[PH_RECORDING_COLUMNS_MAX];
    int count;
} merged_class;

typedef struct merging {
    const ph_recording* const* recordings;
    int recording_count;
    merged_class* classes;
    int class_count;
    ph_fault* fault;
} merging;

static void widen_column(ph_column* column, const ph_column* more)
{
    if (more->kind == PH_COLUMN_WORD) {
        column->lexicon.count = more->lexicon.count > column->lexicon.count ? more->lexicon.count
                                                                            : column->lexicon.count;
        return;
    }
    column->kind = more->kind == PH_COLUMN_DECIMAL ? more->kind : column->kind;
    column->decimals = more->decimals > column->decimals ? more->decimals : column->decimals;
    column->low = fmin(column->low, more->low);
    column->high = fmax(column->high, more->high);
}

static bool merge_column(merged_class* merged, const ph_column* column, ph_fault* fault)
{
    for (int c = 0; c < merged->count; ++c) {
        ph_column* other = &merged->columns[c];
        if (strcmp(other->name, column->name) != 0) {
            continue;
        }
        if ((other->kind == PH_COLUMN_WORD) != (column->kind == PH_COLUMN_WORD)) {
            return ph_fault_set(fault, 0, 0,
                                "column %s has words in one recording and numbers in "
                                "another",
                                column->name);
        }
        widen_column(other, column);
        return true;
    }
    if (merged->count == PH_RECORDING_COLUMNS_MAX) {
        return ph_fault_set(fault, 0, 0, "the recordings have more than %d columns together",
                            (int)PH_RECORDING_COLUMNS_MAX);
    }
    merged->columns[merged->count++] = *column;
    return true;
}

// Of a column the cells of one class. A recording of one class knows more than its cells say: how far they may go.
static ph_column part_of(const ph_recording* recording, int recorded_class, int c)
{
    ph_column part = recording->columns[c];
    if (recording->class_column < 0 || part.kind == PH_COLUMN_EMPTY) {
        return part;
    }
    part.kind = PH_COLUMN_EMPTY;
    for (int row = 0; row < recording->row_count; ++row) {
        const double value = part.value[row];
        if (isnan(value) || ph_recording_class(recording, row) != recorded_class) {
            continue;
        }
        part.low = part.kind == PH_COLUMN_EMPTY || value < part.low ? value : part.low;
        part.high = part.kind == PH_COLUMN_EMPTY || value > part.high ? value : part.high;
        part.kind = recording->columns[c].kind;
    }
    return part;
}

static bool merge_columns(merged_class* merged, const ph_recording* recording, int recorded_class,
                          ph_fault* fault)
{
    for (int c = 0; c < recording->column_count; ++c) {
        if (c == recording->class_column || ph_attitude_has_column(recording, c)) {
            continue;
        }
        const ph_column part = part_of(recording, recorded_class, c);
        if (part.kind != PH_COLUMN_EMPTY && !merge_column(merged, &part, fault)) {
            return false;
        }
    }
    return true;
}

// Where there are several classes, some may be turned by nothing.
static bool class_turns_in_space(const ph_recording* recording, int recorded_class)
{
    bool turns = recording->rotation_form != (int)PH_ATTITUDE_NONE && recording->class_column < 0;
    for (int c = 0; c < recording->column_count && recording->class_column >= 0; ++c) {
        turns = turns || (ph_attitude_has_column(recording, c) &&
                          part_of(recording, recorded_class, c).kind != PH_COLUMN_EMPTY);
    }
    return turns;
}

static bool class_has_heading(const ph_recording* recording, int recorded_class)
{
    for (int row = 0; row < recording->row_count && recording->class_column >= 0; ++row) {
        if (ph_recording_class(recording, row) == recorded_class &&
            recording->heading_deg[row] != 0.0f) {
            return true;
        }
    }
    return recording->class_column < 0;
}

static merged_class* find_class(merging* of, const char* name)
{
    for (int i = 0; i < of->class_count; ++i) {
        if (strcmp(of->classes[i].name, name) == 0) {
            return &of->classes[i];
        }
    }
    return NULL;
}

static bool merge_class(merging* of, const ph_recording* recording, int recorded_class)
{
    const char* name = ph_recording_class_name(recording, recorded_class);
    const bool turns_in_space = class_turns_in_space(recording, recorded_class);
    merged_class* merged = find_class(of, name);
    if (merged == NULL && of->class_count == PH_CLASSES_MAX) {
        return ph_fault_set(of->fault, 0, 0, "the recordings have more than %d classes together",
                            PH_CLASSES_MAX);
    }
    if (merged == NULL) {
        merged = &of->classes[of->class_count++];
        memcpy(merged->name, name, strlen(name) + 1);
        merged->turns_in_space = turns_in_space;
    } else if (merged->turns_in_space != turns_in_space) {
        return ph_fault_set(
            of->fault, 0, 0,
            "what is recorded turns in space in one recording and on a plane in another");
    }
    merged->has_heading = merged->has_heading || class_has_heading(recording, recorded_class);
    return merge_columns(merged, recording, recorded_class, of->fault);
}

static bool merge_all(merging* of)
{
    int most = 0;
    for (int r = 0; r < of->recording_count; ++r) {
        most += ph_recording_class_count(of->recordings[r]);
        if ((of->recordings[r]->class_column < 0) != (of->recordings[0]->class_column < 0)) {
            return ph_fault_set(of->fault, 0, 0,
                                "one recording says of which class its entities are, and another "
                                "does not");
        }
    }
    of->classes =
        calloc((size_t)(most < PH_CLASSES_MAX ? most : PH_CLASSES_MAX), sizeof *of->classes);
    if (of->classes == NULL) {
        return ph_fault_set_memory(of->fault);
    }
    for (int r = 0; r < of->recording_count; ++r) {
        for (int i = 0; i < ph_recording_class_count(of->recordings[r]); ++i) {
            if (!merge_class(of, of->recordings[r], i)) {
                return false;
            }
        }
    }
    return true;
}

// ---- the schema

// The heading tells of what turns on a plane; of what turns in space, the orientation tells both.
static ph_property_def make_turning(const merged_class* merged)
{
    if (merged->turns_in_space) {
        ph_property_def made = ph_property_quaternion("orientation", ORIENTATION_BITS);
        made.is_orientation = true;
        return made;
    }
    ph_property_def made = ph_property_angle("heading", ANGLE_BITS);
    made.significant = HEADING_SIGNIFICANT_DEG;
    made.distance_m = HEADING_DISTANCE_M;
    return made;
}

static int make_properties(const merging* of, const merged_class* merged,
                           ph_property_def* properties)
{
    int count = 0;
    properties[count] = ph_property_position("position");
    if (of->recordings[0]->ground.layers != NULL) {
        properties[count].ground_tolerance_mm = of->recordings[0]->altitude.tolerance_mm;
    }
    ++count;
    if (merged->turns_in_space || merged->has_heading) {
        properties[count++] = make_turning(merged);
    }
    for (int c = 0; c < merged->count; ++c) {
        properties[count++] = make_property(&merged->columns[c]);
    }
    return count;
}

static ph_schema* make_schema(const merging* of)
{
    const size_t count = (size_t)of->class_count;
    ph_class_def* classes = calloc(count, sizeof *classes);
    ph_property_def* properties = calloc(count * PH_PROPERTIES_MAX, sizeof *properties);
    ph_schema* schema = NULL;
    ph_error error = {0};
    if (classes != NULL && properties != NULL) {
        for (int i = 0; i < of->class_count; ++i) {
            ph_property_def* first = properties + (size_t)i * PH_PROPERTIES_MAX;
            classes[i] = (ph_class_def){
                .name = of->classes[i].name,
                .properties = first,
                .property_count = make_properties(of, &of->classes[i], first),
            };
        }
        ph_schema_create(classes, of->class_count, NULL, &schema, &error);
    }
    if (schema == NULL) {
        ph_fault_set(of->fault, 0, 0, "no schema fits: %s",
                     error.text[0] != '\0' ? error.text : "there is not enough memory");
    }
    free(classes);
    free(properties);
    return schema;
}

ph_schema* ph_derive_schema(const ph_recording* recording, ph_fault* fault)
{
    return ph_derive_schema_of(&recording, 1, fault);
}

ph_schema* ph_derive_schema_of(const ph_recording* const* recordings, int recording_count,
                               ph_fault* fault)
{
    merging of = {.recordings = recordings, .recording_count = recording_count, .fault = fault};
    ph_schema* schema = merge_all(&of) ? make_schema(&of) : NULL;
    free(of.classes);
    return schema;
}

// ---- from a file

static ph_schema* parse(const char* text, size_t length, ph_fault* fault)
{
    ph_schema* schema = NULL;
    ph_error error = {0};
    const ph_result result = ph_schema_parse(text, length, NULL, &schema, &error);
    if (result == PH_ERROR_SCHEMA) {
        ph_fault_set(fault, error.line, error.column, "%s", error.text);
    } else if (result != PH_OK) {
        ph_fault_set_memory(fault);
    }
    return schema;
}

// The one of the world that was recorded.
static ph_schema* copy_recorded(const ph_file_text* file, ph_fault* fault)
{
    ph_replay* replay;
    ph_error error = {0};
    if (ph_replay_create(file->bytes, file->length, NULL, &replay, &error) != PH_OK) {
        ph_fault_set(fault, 0, 0, "no schema can be read from this recording: %s",
                     error.text[0] != '\0' ? error.text : "there is not enough memory");
        return NULL;
    }
    const size_t length = ph_schema_print(ph_replay_schema(replay), NULL, 0);
    char* text = malloc(length + 1);
    ph_schema* schema = NULL;
    if (text == NULL) {
        ph_fault_set_memory(fault);
    } else {
        ph_schema_print(ph_replay_schema(replay), text, length + 1);
        schema = parse(text, length, fault);
    }
    free(text);
    ph_replay_destroy(replay);
    return schema;
}

ph_schema* ph_derive_load(const char* path, ph_fault* fault)
{
    ph_file_text text;
    if (!ph_file_text_load(path, &text, fault)) {
        return NULL;
    }
    ph_schema* schema = ph_replay_is_recording(text.bytes, text.length)
                            ? copy_recorded(&text, fault)
                            : parse(text.bytes, text.length, fault);
    ph_file_text_unload(&text);
    return schema;
}
