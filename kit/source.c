// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Stepping and putting run once per tick, over all entities that the recording ever has. Putting
// compares with the row that was put last: what stays the same costs no call into the world.

#include "kit/source.h"

#include "kit/recording_attitude.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the present tick

// A quaternion tells the heading, too; whatever else the recording calls one is not of this entity's
// nose.
static void look_turned(ph_source* source, int entity, int row)
{
    double* rotation = source->rotation[entity];
    ph_attitude_of_row(source->recording, row, rotation);
    if (source->recording->rotation_form == PH_ATTITUDE_QUATERNION) {
        source->heading_deg[entity] = (float)ph_attitude_heading_deg(rotation);
    }
}

static void look(ph_source* source)
{
    const ph_recording* recording = source->recording;
    source->present_count = 0;
    for (int e = 0; e < recording->entity_count; ++e) {
        const int row = ph_recording_row(recording, e, source->tick);
        source->row[e] = row;
        source->present[e] = row >= 0;
        if (row < 0) {
            continue;
        }
        ++source->present_count;
        source->x_mm[e] = recording->x_mm[row];
        source->y_mm[e] = recording->y_mm[row];
        source->z_mm[e] = recording->z_mm[row];
        source->heading_deg[e] = recording->heading_deg[row];
        if (source->rotation != NULL) {
            look_turned(source, e, row);
        }
        source->is_jump[e] = recording->is_jump[row];
    }
}

bool ph_source_step(ph_source* source)
{
    if (source->tick + 1 >= source->recording->tick_count) {
        return false;
    }
    ++source->tick;
    look(source);
    return true;
}

void ph_source_loop(ph_source* source)
{
    source->tick = 0;
    look(source);
}

void ph_source_rewind(ph_source* source)
{
    const int count = source->recording->entity_count;
    for (int e = 0; e < count; ++e) {
        source->x_mm[e] = 0;
        source->y_mm[e] = 0;
        source->z_mm[e] = 0;
        source->heading_deg[e] = 0.0f;
        source->is_jump[e] = false;
        source->entity_id[e] = (ph_entity_id){0};
        source->put_row[e] = -1;
    }
    source->tick = 0;
    look(source);
}

double ph_source_value(const ph_source* source, int column, int entity)
{
    PH_ASSERT(source->present[entity]);
    return source->recording->columns[column].value[source->row[entity]];
}

// ---- into a world

static double cell_of(const ph_recording* recording, const ph_column_binding* binding, int row)
{
    return binding->column == PH_BINDING_HEADING ? (double)recording->heading_deg[row]
                                                 : recording->columns[binding->column].value[row];
}

static ph_result set_text(ph_world* world, ph_entity_id entity, const ph_column_binding* binding,
                          const char* text)
{
    return ph_world_set_property(world, entity, binding->property, PH_FIELD_TEXT, text,
                                 strlen(text) + 1);
}

static ph_result set_rotation(const ph_source* source, ph_world* world, ph_entity_id id, int row,
                              const ph_column_binding* binding)
{
    double rotation[4];
    ph_attitude_of_row(source->recording, row, rotation);
    return ph_world_set_property(world, id, binding->property, PH_FIELD_F64X4, rotation,
                                 sizeof rotation);
}

static ph_result set_cell(const ph_source* source, ph_world* world, ph_entity_id id, int row,
                          const ph_column_binding* binding)
{
    if (binding->column == PH_BINDING_ROTATION) {
        return set_rotation(source, world, id, row, binding);
    }
    const double cell = cell_of(source->recording, binding, row);
    if (binding->field == PH_FIELD_TEXT) {
        const ph_column* column = &source->recording->columns[binding->column];
        return set_text(world, id, binding, isnan(cell) ? "" : column->lexicon.words[(int)cell]);
    }
    const double value = isnan(cell) ? binding->initial : cell * binding->scale;
    if (binding->field == PH_FIELD_I64) {
        const int64_t whole = (int64_t)value;
        return ph_world_set_property(world, id, binding->property, PH_FIELD_I64, &whole,
                                     sizeof whole);
    }
    return ph_world_set_property(world, id, binding->property, PH_FIELD_F64, &value, sizeof value);
}

static bool is_same_cell(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

ph_result ph_source_spawn_row(const ph_source* source, ph_world* world, int row, uint64_t key,
                              ph_entity_id* id)
{
    const ph_recording* recording = source->recording;
    const ph_spawn spawn = {
        .key = key,
        .position_mm = {recording->x_mm[row], recording->y_mm[row], recording->z_mm[row]},
    };
    ph_result result = ph_world_spawn(world, &spawn, id);
    for (int f = 0; f < source->bindings.count && result == PH_OK; ++f) {
        result = set_cell(source, world, *id, row, &source->bindings.items[f]);
    }
    if (result != PH_OK) {
        ph_world_despawn(world, *id);
        *id = (ph_entity_id){0};
    }
    return result;
}

static bool is_same_place(const ph_recording* recording, int a, int b)
{
    return recording->x_mm[a] == recording->x_mm[b] && recording->y_mm[a] == recording->y_mm[b] &&
           recording->z_mm[a] == recording->z_mm[b];
}

ph_result ph_source_set_row(const ph_source* source, ph_world* world, ph_entity_id id, int row,
                            int old_row)
{
    const ph_recording* recording = source->recording;
    ph_result result = PH_OK;
    if (old_row < 0 || !is_same_place(recording, row, old_row)) {
        // What the recording says a game could have said; what was found the world has to find.
        ph_result (*const put)(ph_world*, ph_entity_id, int64_t, int64_t, int64_t) =
            recording->has_marks && recording->is_jump[row] ? ph_world_jump : ph_world_move;
        result = put(world, id, recording->x_mm[row], recording->y_mm[row], recording->z_mm[row]);
    }
    for (int f = 0; f < source->bindings.count && result == PH_OK; ++f) {
        const ph_column_binding* binding = &source->bindings.items[f];
        if (old_row < 0 || binding->column == PH_BINDING_ROTATION ||
            !is_same_cell(cell_of(recording, binding, row), cell_of(recording, binding, old_row))) {
            result = set_cell(source, world, id, row, binding);
        }
    }
    return result;
}

static void vanish(ph_source* source, ph_world* world, int entity)
{
    ph_world_despawn(world, source->entity_id[entity]);
    source->entity_id[entity] = (ph_entity_id){0};
}

static ph_result appear(ph_source* source, ph_world* world, int entity)
{
    return ph_source_spawn_row(source, world, source->row[entity], source->recording->id[entity],
                               &source->entity_id[entity]);
}

static ph_result change(ph_source* source, ph_world* world, int entity)
{
    return ph_source_set_row(source, world, source->entity_id[entity], source->row[entity],
                             source->put_row[entity]);
}

static ph_result put_one(ph_source* source, ph_world* world, int entity)
{
    const bool was_present = source->put_row[entity] >= 0;
    if (!source->present[entity]) {
        if (was_present) {
            vanish(source, world, entity);
        }
        return PH_OK;
    }
    return was_present ? change(source, world, entity) : appear(source, world, entity);
}

ph_result ph_source_put(ph_source* source, ph_world* world)
{
    for (int e = 0; e < source->recording->entity_count; ++e) {
        const ph_result result = put_one(source, world, e);
        if (result != PH_OK) {
            return result;
        }
        source->put_row[e] = source->row[e];
    }
    return PH_OK;
}

// ---- memory

ph_source* ph_source_create(const ph_recording* recording, const ph_schema* schema, ph_fault* fault)
{
    ph_source* source = calloc(1, sizeof(ph_source));
    if (source == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    const size_t count = (size_t)recording->entity_count;
    source->recording = recording;
    source->schema = schema;
    source->present = calloc(count, sizeof(bool));
    source->row = calloc(count, sizeof(int));
    source->x_mm = calloc(count, sizeof(int32_t));
    source->y_mm = calloc(count, sizeof(int32_t));
    source->z_mm = calloc(count, sizeof(int32_t));
    source->heading_deg = calloc(count, sizeof(float));
    source->is_jump = calloc(count, sizeof(bool));
    source->entity_id = calloc(count, sizeof(ph_entity_id));
    source->put_row = calloc(count, sizeof(int));
    bool is_made = source->present != NULL && source->row != NULL && source->x_mm != NULL &&
                   source->y_mm != NULL && source->z_mm != NULL && source->heading_deg != NULL &&
                   source->is_jump != NULL && source->entity_id != NULL && source->put_row != NULL;
    if (!is_made) {
        ph_fault_set_memory(fault);
    }
    is_made = is_made && ph_column_bindings_make(schema, recording, &source->bindings, fault);
    if (is_made &&
        (recording->rotation_form != PH_ATTITUDE_NONE || source->bindings.rotation >= 0)) {
        source->rotation = calloc(count, sizeof *source->rotation);
        is_made = source->rotation != NULL || ph_fault_set_memory(fault);
    }
    if (!is_made) {
        ph_source_destroy(source);
        return NULL;
    }
    ph_source_rewind(source);
    return source;
}

void ph_source_destroy(ph_source* source)
{
    if (source == NULL) {
        return;
    }
    free(source->present);
    free(source->row);
    free(source->x_mm);
    free(source->y_mm);
    free(source->z_mm);
    free(source->heading_deg);
    free(source->rotation);
    free(source->is_jump);
    free(source->entity_id);
    free(source->put_row);
    free(source);
}
