// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per conversion: about a million rows a second.

#include "kit/recording_write.h"

#include <pinhole/recorder.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADING_DECIMALS_MAX = 6,
    TEXT_BYTES = 1 << 16,
    // A comma and any double, of which the greatest has 309 digits; a word is shorter.
    CELL_BYTES_MAX = 330,
    ROW_BYTES_MAX = (PH_RECORDING_COLUMNS_MAX + 2) * CELL_BYTES_MAX,
};

// As in kit/derive.c: a step must not drown in the rounding of the ends.
#define STEPS_MAX 1073741824.0
#define NO_CLASS (-1)

// ---- as text

typedef struct text_out {
    const ph_recording_sink* sink;
    char* text;
    size_t length;
    bool has_failed;
} text_out;

static void flush_text(text_out* out)
{
    if (out->length > 0 && !out->has_failed) {
        out->has_failed = !out->sink->write(out->sink->context, out->text, out->length);
    }
    out->length = 0;
}

static void add_number(text_out* out, double number, int decimals)
{
    out->length +=
        (size_t)snprintf(out->text + out->length, CELL_BYTES_MAX, ",%.*f", decimals, number);
}

static double power_of_ten(int exponent)
{
    double power = 1.0;
    for (int i = 0; i < exponent; ++i) {
        power *= 10.0;
    }
    return power;
}

// The fewest decimals that tell every heading, as the float that it is.
static int heading_decimals(const ph_recording* recording)
{
    int decimals = 0;
    for (int row = 0; row < recording->row_count && decimals < HEADING_DECIMALS_MAX; ++row) {
        const double heading = (double)recording->heading_deg[row];
        for (; decimals < HEADING_DECIMALS_MAX; ++decimals) {
            const double power = power_of_ten(decimals);
            if ((float)(floor(heading * power + 0.5) / power) == recording->heading_deg[row]) {
                break;
            }
        }
    }
    return decimals;
}

static void add_head(const ph_recording* recording, text_out* out)
{
    out->length += (size_t)snprintf(out->text, TEXT_BYTES,
                                    "# rate %.12g\ntick,entity,x_mm,y_mm,z_mm,heading_deg%s",
                                    recording->rate_hz, recording->has_marks ? ",teleport" : "");
    for (int c = 0; c < recording->column_count; ++c) {
        out->length +=
            (size_t)snprintf(out->text + out->length, 64, ",%s", recording->columns[c].name);
    }
    out->text[out->length++] = '\n';
}

static void add_cell(const ph_column* column, int row, text_out* out)
{
    const double value = column->value[row];
    if (isnan(value)) {
        out->text[out->length++] = ',';
    } else if (column->kind == PH_COLUMN_WORD) {
        out->length +=
            (size_t)snprintf(out->text + out->length, 80, ",%s", column->lexicon.words[(int)value]);
    } else {
        add_number(out, value, column->kind == PH_COLUMN_DECIMAL ? column->decimals : 0);
    }
}

static void add_row(const ph_recording* recording, int tick, int entity, int row, int decimals,
                    text_out* out)
{
    if (TEXT_BYTES - out->length < ROW_BYTES_MAX) {
        flush_text(out);
    }
    out->length += (size_t)snprintf(
        out->text + out->length, 128, "%lld,%lu,%ld,%ld,%ld",
        (long long)recording->first_tick + tick, (unsigned long)recording->id[entity],
        (long)recording->x_mm[row], (long)recording->y_mm[row], (long)recording->z_mm[row]);
    add_number(out, (double)recording->heading_deg[row], decimals);
    if (recording->has_marks) {
        add_number(out, recording->is_jump[row] ? 1.0 : 0.0, 0);
    }
    for (int c = 0; c < recording->column_count; ++c) {
        add_cell(&recording->columns[c], row, out);
    }
    out->text[out->length++] = '\n';
}

static void tell_progress(const ph_recording* recording, const ph_recording_sink* sink, int tick)
{
    if (sink->progress != NULL) {
        sink->progress(sink->context, tick, recording->tick_count);
    }
}

bool ph_recording_write_csv(const ph_recording* recording, const ph_recording_sink* sink,
                            ph_fault* fault)
{
    text_out out = {.sink = sink, .text = malloc(TEXT_BYTES)};
    if (out.text == NULL) {
        return ph_fault_set_memory(fault);
    }
    const int decimals = heading_decimals(recording);
    add_head(recording, &out);
    for (int tick = 0; tick < recording->tick_count && !out.has_failed; ++tick) {
        for (int e = 0; e < recording->entity_count; ++e) {
            const int row = ph_recording_row(recording, e, tick);
            if (row >= 0) {
                add_row(recording, tick, e, row, decimals, &out);
            }
        }
        tell_progress(recording, sink, tick + 1);
    }
    flush_text(&out);
    free(out.text);
    return !out.has_failed || ph_fault_set(fault, 0, 0, "it cannot be written. Is the disk full?");
}

// ---- as a recorder writes it: the schema

typedef struct row_class {
    uint64_t mask;                   // of columns that are filled in
    int property[PH_PROPERTIES_MAX]; // by column
} row_class;

typedef struct writing {
    const ph_recording* recording;
    const ph_recording_sink* sink;
    ph_fault* fault;
    ph_property_def heading;
    ph_property_def columns[PH_PROPERTIES_MAX]; // by column
    uint64_t filled;                            // columns that are filled in anywhere
    row_class* classes;                         // PH_CLASSES_MAX of them
    int class_count;
    ph_schema* schema;
    ph_world* world;
    ph_recorder* recorder;
    ph_entity_id* id; // by entity of the recording
    int* class_of;    // by entity: NO_CLASS while it is absent
    int* put_row;     // by entity: what was put last
} writing;

static ph_property_def fixed_of(const char* name, double low, double high, int decimals)
{
    const double parts = power_of_ten(decimals);
    const double lowest = floor(low * parts + 0.5);
    const double highest = floor(high * parts + 0.5);
    return ph_property_fixed(name, lowest / parts,
                             (highest > lowest ? highest : lowest + 1.0) / parts, 1.0 / parts);
}

static int decimals_that_fit(const ph_column* column)
{
    const double furthest = fmax(fabs(column->low), fabs(column->high));
    int decimals = column->decimals;
    while (decimals > 0 && furthest * power_of_ten(decimals) > STEPS_MAX) {
        --decimals;
    }
    return decimals;
}

static int longest_word(const ph_column* column)
{
    size_t longest = 1;
    for (int w = 0; w < column->lexicon.count; ++w) {
        const size_t length = strlen(column->lexicon.words[w]);
        longest = length > longest ? length : longest;
    }
    return (int)longest;
}

static ph_property_def property_of(const ph_column* column)
{
    if (column->kind == PH_COLUMN_WORD) {
        return ph_property_string(column->name, longest_word(column));
    }
    if (column->kind == PH_COLUMN_DECIMAL) {
        return fixed_of(column->name, column->low, column->high, decimals_that_fit(column));
    }
    const double high = column->high > column->low ? column->high : column->low + 1.0;
    return ph_property_range(column->name, column->low, high);
}

// Names and what cannot be kept.
static void describe_columns(writing* out, char* note)
{
    const ph_recording* recording = out->recording;
    const int decimals = heading_decimals(recording);
    out->heading = fixed_of("heading_deg", 0.0, 360.0 - 1.0 / power_of_ten(decimals), decimals);
    note[0] = '\0';
    for (int c = 0; c < recording->column_count; ++c) {
        const ph_column* column = &recording->columns[c];
        const size_t used = strlen(note);
        if (column->kind == PH_COLUMN_EMPTY) {
            snprintf(note + used, PH_RECORDING_NOTE_MAX - used, "%scolumn %s is empty and left out",
                     used > 0 ? "; " : "", column->name);
            continue;
        }
        out->filled |= UINT64_C(1) << c;
        out->columns[c] = property_of(column);
        if (column->kind == PH_COLUMN_DECIMAL && decimals_that_fit(column) < column->decimals) {
            snprintf(note + used, PH_RECORDING_NOTE_MAX - used,
                     "%scolumn %s is kept to %d of its %d decimals", used > 0 ? "; " : "",
                     column->name, decimals_that_fit(column), column->decimals);
        }
    }
}

static uint64_t mask_of_row(const writing* out, int row)
{
    uint64_t mask = 0;
    for (int c = 0; c < out->recording->column_count; ++c) {
        mask |= (uint64_t)!isnan(out->recording->columns[c].value[row]) << c;
    }
    return mask & out->filled;
}

static int find_class(const writing* out, uint64_t mask)
{
    for (int i = 0; i < out->class_count; ++i) {
        if (out->classes[i].mask == mask) {
            return i;
        }
    }
    return NO_CLASS;
}

static bool find_classes(writing* out)
{
    for (int row = 0; row < out->recording->row_count; ++row) {
        const uint64_t mask = mask_of_row(out, row);
        if (out->class_count > 0 && find_class(out, mask) != NO_CLASS) {
            continue;
        }
        if (out->class_count == PH_CLASSES_MAX) {
            return ph_fault_set(out->fault, out->recording->line[row], 0,
                                "more than %d combinations of empty cells: a schema has no more "
                                "classes",
                                PH_CLASSES_MAX);
        }
        out->classes[out->class_count++].mask = mask;
    }
    return true;
}

static bool make_schema(writing* out)
{
    ph_class_def* defs = calloc((size_t)out->class_count, sizeof *defs);
    ph_property_def* properties =
        calloc((size_t)out->class_count * PH_PROPERTIES_MAX, sizeof *properties);
    char(*names)[16] = calloc((size_t)out->class_count, sizeof *names);
    ph_error error = {0};
    ph_result result = PH_ERROR_MEMORY;
    for (int i = 0; defs != NULL && properties != NULL && names != NULL && i < out->class_count;
         ++i) {
        ph_property_def* first = properties + (size_t)i * PH_PROPERTIES_MAX;
        int count = 0;
        first[count++] = ph_property_position("position");
        first[count++] = out->heading;
        for (int c = 0; c < out->recording->column_count; ++c) {
            if ((out->classes[i].mask >> c & 1) != 0) {
                out->classes[i].property[c] = count;
                first[count++] = out->columns[c];
            }
        }
        snprintf(names[i], sizeof names[i], i == 0 ? "thing" : "thing_%d", i + 1);
        defs[i] = (ph_class_def){.name = names[i], .properties = first, .property_count = count};
        result = PH_OK;
    }
    if (result == PH_OK) {
        result = ph_schema_create(defs, out->class_count, NULL, &out->schema, &error);
    }
    free(defs);
    free(properties);
    free(names);
    return result == PH_OK ||
           (result == PH_ERROR_MEMORY
                ? ph_fault_set_memory(out->fault)
                : ph_fault_set(out->fault, 0, 0, "no schema fits: %.200s", error.text));
}

// ---- into the world

static bool complain_world(const writing* out, int row, const ph_error* error)
{
    return ph_fault_set(out->fault, out->recording->line[row], 0, "%.230s",
                        error->text[0] != '\0' ? error->text : "there is not enough memory");
}

static ph_result set_number(ph_world* world, ph_entity_id id, int property, ph_coding coding,
                            double value)
{
    if (coding == PH_CODING_RANGE) {
        const int64_t whole = (int64_t)value;
        return ph_world_set_property(world, id, property, PH_FIELD_I64, &whole, sizeof whole);
    }
    return ph_world_set_property(world, id, property, PH_FIELD_F64, &value, sizeof value);
}

static bool is_same(const double* values, int row, int old_row)
{
    return old_row >= 0 && values[row] == values[old_row];
}

static ph_result set_values(const writing* out, int entity, int row, int old_row)
{
    const ph_recording* recording = out->recording;
    const row_class* type = &out->classes[out->class_of[entity]];
    const ph_entity_id id = out->id[entity];
    ph_result result = PH_OK;
    if (old_row < 0 || recording->heading_deg[row] != recording->heading_deg[old_row]) {
        result =
            set_number(out->world, id, 1, PH_CODING_FIXED, (double)recording->heading_deg[row]);
    }
    for (int c = 0; c < recording->column_count && result == PH_OK; ++c) {
        const ph_column* column = &recording->columns[c];
        if ((type->mask >> c & 1) == 0 || is_same(column->value, row, old_row)) {
            continue;
        }
        if (column->kind == PH_COLUMN_WORD) {
            const char* word = column->lexicon.words[(int)column->value[row]];
            result = ph_world_set_property(out->world, id, type->property[c], PH_FIELD_TEXT, word,
                                           strlen(word) + 1);
        } else {
            result = set_number(out->world, id, type->property[c], out->columns[c].coding,
                                column->value[row]);
        }
    }
    return result;
}

// The world counts a jump only where something moves.
static ph_result jump_to(const writing* out, int entity, int row)
{
    const ph_recording* recording = out->recording;
    const int64_t x = recording->x_mm[row];
    const int64_t y = recording->y_mm[row];
    const int64_t z = recording->z_mm[row];
    const ph_result result =
        ph_world_move(out->world, out->id[entity], x > 0 ? x - 1 : x + 1, y, z);
    return result == PH_OK ? ph_world_jump(out->world, out->id[entity], x, y, z) : result;
}

static ph_result put_position(const writing* out, int entity, int row, int old_row)
{
    const ph_recording* recording = out->recording;
    if (recording->has_marks && recording->is_jump[row]) {
        return jump_to(out, entity, row);
    }
    if (recording->x_mm[row] == recording->x_mm[old_row] &&
        recording->y_mm[row] == recording->y_mm[old_row] &&
        recording->z_mm[row] == recording->z_mm[old_row]) {
        return PH_OK;
    }
    return ph_world_move(out->world, out->id[entity], recording->x_mm[row], recording->y_mm[row],
                         recording->z_mm[row]);
}

static ph_result appear(writing* out, int entity, int row)
{
    const ph_recording* recording = out->recording;
    const ph_spawn spawn = {
        .class_index = out->class_of[entity],
        .key = recording->id[entity],
        .position_mm = {recording->x_mm[row], recording->y_mm[row], recording->z_mm[row]},
    };
    ph_result result = ph_world_spawn(out->world, &spawn, &out->id[entity]);
    if (result == PH_OK && recording->has_marks && recording->is_jump[row]) {
        result = jump_to(out, entity, row);
    }
    return result == PH_OK ? set_values(out, entity, row, -1) : result;
}

static void vanish(writing* out, int entity)
{
    if (out->class_of[entity] != NO_CLASS) {
        ph_world_despawn(out->world, out->id[entity]);
        out->class_of[entity] = NO_CLASS;
    }
}

static ph_result put_entity(writing* out, int entity, int row)
{
    if (row < 0) {
        vanish(out, entity);
        return PH_OK;
    }
    const int old_class = out->class_of[entity];
    const uint64_t mask = mask_of_row(out, row);
    ph_result result;
    if (old_class == NO_CLASS || out->classes[old_class].mask != mask) {
        vanish(out, entity);
        out->class_of[entity] = find_class(out, mask);
        result = appear(out, entity, row);
    } else {
        result = put_position(out, entity, row, out->put_row[entity]);
        if (result == PH_OK) {
            result = set_values(out, entity, row, out->put_row[entity]);
        }
    }
    out->put_row[entity] = row;
    return result;
}

static bool record_tick(writing* out, int tick, const ph_error* error)
{
    for (int e = 0; e < out->recording->entity_count; ++e) {
        const int row = ph_recording_row(out->recording, e, tick);
        if (put_entity(out, e, row) != PH_OK) {
            return complain_world(out, row, error);
        }
    }
    ph_world_tick(out->world);
    ph_result result = ph_recorder_tick(out->recorder);
    if (result == PH_OK) {
        result = ph_recorder_drain(out->recorder, out->sink->write, out->sink->context);
    }
    return result == PH_OK ||
           (result == PH_ERROR_SYSTEM
                ? ph_fault_set(out->fault, 0, 0, "it cannot be written. Is the disk full?")
                : ph_fault_set_memory(out->fault));
}

static bool record_all(writing* out, const ph_error* error)
{
    for (int tick = 0; tick < out->recording->tick_count; ++tick) {
        if (!record_tick(out, tick, error)) {
            return false;
        }
        tell_progress(out->recording, out->sink, tick + 1);
    }
    return ph_recorder_finish(out->recorder, out->sink->write, out->sink->context) == PH_OK ||
           ph_fault_set(out->fault, 0, 0, "it cannot be written. Is the disk full?");
}

// ---- the whole

// A tick in which everything appears must fit.
static int buffer_bytes_of(const ph_recording* recording)
{
    const double most = (double)recording->entity_count * (64.0 + 80.0 * recording->column_count);
    return most > 1e9 ? 1000000000 : most < 8388608.0 ? 8388608 : (int)most;
}

static bool make_world(writing* out, ph_error* error)
{
    const ph_recording* recording = out->recording;
    const double tick_us = floor(1e6 / recording->rate_hz + 0.5);
    ph_world_def world = ph_world_def_default();
    world.schema = out->schema;
    world.entity_capacity = recording->entity_count;
    world.tick_us = (uint32_t)tick_us;
    // Jumps are those of the recording alone.
    world.jump_mm = INT32_MAX;
    world.on_error = ph_error_keep;
    world.on_error_context = error;
    if (ph_world_create(&world, &out->world) != PH_OK) {
        return ph_fault_set_memory(out->fault);
    }
    ph_recorder_def recorder = ph_recorder_def_default();
    recorder.world = out->world;
    recorder.rate_hz = recording->rate_hz;
    recorder.first_tick = (uint32_t)recording->first_tick;
    recorder.leaves_jumps_out = !recording->has_marks;
    recorder.buffer_bytes = buffer_bytes_of(recording);
    return ph_recorder_create(&recorder, &out->recorder) == PH_OK ||
           ph_fault_set_memory(out->fault);
}

static bool make_arrays(writing* out)
{
    const size_t count = (size_t)out->recording->entity_count;
    out->classes = calloc(PH_CLASSES_MAX, sizeof *out->classes);
    out->id = calloc(count, sizeof *out->id);
    out->class_of = malloc(count * sizeof *out->class_of);
    out->put_row = calloc(count, sizeof *out->put_row);
    if (out->classes == NULL || out->id == NULL || out->class_of == NULL || out->put_row == NULL) {
        return ph_fault_set_memory(out->fault);
    }
    for (size_t e = 0; e < count; ++e) {
        out->class_of[e] = NO_CLASS;
    }
    return true;
}

bool ph_recording_write(const ph_recording* recording, const ph_recording_sink* sink,
                        char note[PH_RECORDING_NOTE_MAX], ph_fault* fault)
{
    writing out = {.recording = recording, .sink = sink, .fault = fault};
    ph_error error = {0};
    describe_columns(&out, note);
    const bool is_written = make_arrays(&out) && find_classes(&out) && make_schema(&out) &&
                            make_world(&out, &error) && record_all(&out, &error);
    ph_recorder_destroy(out.recorder);
    ph_world_destroy(out.world);
    ph_schema_destroy(out.schema);
    free(out.classes);
    free(out.id);
    free(out.class_of);
    free(out.put_row);
    return is_written;
}
