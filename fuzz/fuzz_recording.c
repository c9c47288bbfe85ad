// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads a recording as text. What is accepted must be written again to a text that reads the same,
// fit the schema derived from it, and lead from every row back to its entity and tick; what is
// refused must say where, inside the text.

#include "support/fuzz_source.h"

#include "kit/derive.h"
#include "kit/column_bindings.h"
#include "kit/observers.h"
#include "kit/recording_attitude.h"
#include "kit/recording_csv.h"
#include "kit/source.h"
#include "tools/tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_fault(const ph_fault* fault, const uint8_t* data, size_t size)
{
    int line_count = 1;
    for (size_t i = 0; i < size; ++i) {
        line_count += data[i] == '\n' ? 1 : 0;
    }
    fuzz_demand(fault->line >= 0 && fault->line <= line_count);
    fuzz_demand(fault->column >= 0 && (size_t)fault->column <= size + 1);
    fuzz_demand(fault->message[0] != '\0' &&
                memchr(fault->message, '\0', sizeof fault->message) != NULL);
}

// Every row belongs to exactly one entity and tick.
static void check_rows(const ph_recording* made)
{
    int next_row = 0;
    for (int e = 0; e < made->entity_count; ++e) {
        fuzz_demand(ph_recording_find(made, made->id[e]) == e);
        for (int s = made->first_span[e]; s < made->first_span[e + 1]; ++s) {
            const ph_span* span = &made->spans[s];
            fuzz_demand(span->first_row == next_row && span->first_tick < span->end_tick);
            fuzz_demand(span->first_tick >= 0 && span->end_tick <= made->tick_count);
            for (int tick = span->first_tick; tick < span->end_tick; ++tick) {
                fuzz_demand(ph_recording_row(made, e, tick) == next_row++);
            }
        }
    }
    fuzz_demand(next_row == made->row_count);
}

// ---- written again

typedef struct text {
    char* bytes;
    size_t length;
    size_t capacity;
} text;

static void append(text* to, const char* piece)
{
    const size_t length = strlen(piece);
    if (to->length + length + 1 > to->capacity) {
        to->capacity = (to->length + length + 1) * 2;
        to->bytes = realloc(to->bytes, to->capacity);
        fuzz_demand(to->bytes != NULL);
    }
    memcpy(to->bytes + to->length, piece, length + 1);
    to->length += length;
}

static void append_cell(text* to, const ph_column* column, int row)
{
    char number[400];
    append(to, ",");
    const double value = column->value[row];
    if (isnan(value)) {
        return;
    }
    if (column->kind == PH_COLUMN_WORD) {
        append(to, column->lexicon.words[(int)value]);
        return;
    }
    // As few decimals as read the same: cells hold 15 digits in all.
    for (int d = 0; d <= column->decimals; ++d) {
        snprintf(number, sizeof number, "%.*f", d, value);
        if (strtod(number, NULL) == value) {
            break;
        }
    }
    append(to, number);
}

static void append_row(text* to, const ph_recording* made, int entity, int tick, int row)
{
    char pose[200];
    snprintf(pose, sizeof pose, "%d,%u,%d,%d,%d,%.15f", made->first_tick + tick, made->id[entity],
             made->x_mm[row], made->y_mm[row], made->z_mm[row], (double)made->heading_deg[row]);
    append(to, pose);
    for (int c = 0; c < made->column_count; ++c) {
        append_cell(to, &made->columns[c], row);
    }
    append(to, "\n");
}

// Ticks without any entity are many in some inputs: goes from one occupied tick to the next.
static int next_tick(const ph_recording* made, int tick)
{
    int next = made->tick_count;
    for (int s = 0; s < made->first_span[made->entity_count]; ++s) {
        const ph_span* span = &made->spans[s];
        const int candidate = span->first_tick > tick ? span->first_tick : tick + 1;
        next = candidate < span->end_tick && candidate < next ? candidate : next;
    }
    return next;
}

static text write_again(const ph_recording* made)
{
    text written = {0};
    append(&written, "tick,entity,x_mm,y_mm,z_mm,heading_deg");
    for (int c = 0; c < made->column_count; ++c) {
        append(&written, ",");
        append(&written, made->columns[c].name);
    }
    append(&written, "\n");
    for (int tick = 0; tick < made->tick_count; tick = next_tick(made, tick)) {
        for (int e = 0; e < made->entity_count; ++e) {
            const int row = ph_recording_row(made, e, tick);
            if (row >= 0) {
                append_row(&written, made, e, tick, row);
            }
        }
    }
    return written;
}

static void check_same(const ph_recording* a, const ph_recording* b)
{
    fuzz_demand(a->row_count == b->row_count && a->entity_count == b->entity_count &&
                a->tick_count == b->tick_count && a->first_tick == b->first_tick);
    const size_t bytes = (size_t)a->row_count * sizeof(int32_t);
    fuzz_demand(memcmp(a->x_mm, b->x_mm, bytes) == 0 && memcmp(a->y_mm, b->y_mm, bytes) == 0 &&
                memcmp(a->z_mm, b->z_mm, bytes) == 0);
    for (int i = 0; i < a->row_count; ++i) {
        // Of a heading of 0.00000001 degrees, 15 decimals do not hold all bits.
        fuzz_demand(fabsf(a->heading_deg[i] - b->heading_deg[i]) < 1e-12f);
        for (int c = 0; c < a->column_count; ++c) {
            const double left = a->columns[c].value[i];
            const double right = b->columns[c].value[i];
            fuzz_demand(left == right || (isnan(left) && isnan(right)));
        }
    }
}

static void check_again(const ph_recording* made)
{
    const text written = write_again(made);
    const ph_recording_def def = {.rate_hz = made->rate_hz};
    ph_fault fault;
    ph_recording* again = ph_recording_parse(written.bytes, written.length, &def, &fault);
    fuzz_demand(again != NULL);
    check_same(made, again);
    ph_recording_destroy(again);
    free(written.bytes);
}

static void check_derived(const ph_recording* made)
{
    ph_fault fault = {0};
    ph_schema* schema = ph_derive_schema(made, &fault);
    fuzz_demand(schema != NULL);
    ph_column_bindings* bindings = ph_column_bindings_make_all(schema, made, &fault);
    fuzz_demand(bindings != NULL);
    for (int i = 0; i < ph_recording_class_count(made); ++i) {
        fuzz_demand(bindings[i].unbound_properties == 0);
        fuzz_demand(made->class_column >= 0 || made->rotation_form == (int)PH_ATTITUDE_QUATERNION ||
                    !bindings[i].is_heading_ignored);
    }
    free(bindings);
    ph_schema_destroy(schema);
}

// Some ticks of it go into a world, each entity as one of its class.
static void check_played(const ph_recording* made)
{
    ph_fault fault = {0};
    ph_schema* schema = ph_derive_schema(made, &fault);
    ph_source* source = ph_source_create(made, schema, &fault);
    fuzz_demand(source != NULL);
    ph_world_def def = ph_world_def_default();
    def.schema = schema;
    def.entity_capacity = 1;
    ph_world* world;
    fuzz_demand(ph_world_create(&def, &world) == PH_OK);
    bool is_on = true;
    for (int i = 0; i < 4 && is_on; ++i) {
        fuzz_demand(ph_source_put(source, world) == PH_OK);
        fuzz_demand(ph_world_entity_count(world) == source->present_count);
        ph_world_tick(world);
        is_on = ph_source_step(source);
    }
    fuzz_demand(ph_world_validate(world));
    ph_world_destroy(world);
    ph_source_destroy(source);
    ph_schema_destroy(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    ph_recording* made = ph_recording_parse((const char*)data, size, &def, &fault);
    if (made == NULL) {
        check_fault(&fault, data, size);
        return 0;
    }
    check_rows(made);
    check_again(made);
    check_derived(made);
    check_played(made);
    const int fullest = ph_recording_fullest_tick(made);
    fuzz_demand(fullest >= 0 && fullest < made->tick_count);
    int chosen[4];
    fuzz_demand(ph_observers_choose(made, 4, chosen) >= 0);
    ph_recording_destroy(made);
    return 0;
}
