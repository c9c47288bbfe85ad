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

static const ph_column_bindings* bindings_of(const ph_source* source, int row)
{
    return &source->bindings[ph_recording_class(source->recording, row)];
}

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

// A vector, or a quaternion that is no orientation. Empty cells stand for the initial value.
static ph_result set_parts(const ph_recording* recording, ph_world* world, ph_entity_id id, int row,
                           const ph_column_binding* binding)
{
    const int count = ph_column_binding_parts(binding);
    double parts[4];
    bool is_empty = false;
    for (int i = 0; i < count; ++i) {
        const int column = i == 0 ? binding->column : binding->others[i - 1];
        parts[i] = recording->columns[column].value[row];
        is_empty = is_empty || isnan(parts[i]);
    }
    for (int i = 0; i < count && is_empty; ++i) {
        parts[i] = count == 3 ? binding->initial : i == 3 ? 1.0 : 0.0;
    }
    return ph_world_set_property(world, id, binding->property, binding->field, parts,
                                 (size_t)count * sizeof parts[0]);
}

static ph_result set_cell(const ph_source* source, ph_world* world, ph_entity_id id, int row,
                          const ph_column_binding* binding)
{
    if (binding->column == PH_BINDING_ROTATION) {
        return set_rotation(source, world, id, row, binding);
    }
    if (binding->field == PH_FIELD_ENTITY) {
        return PH_OK; // when all are there
    }
    if (ph_column_binding_parts(binding) > 1) {
        return set_parts(source->recording, world, id, row, binding);
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
    const ph_column_bindings* bindings = bindings_of(source, row);
    const ph_spawn spawn = {
        .class_index = bindings->class_index,
        .key = key,
        .position_mm = {recording->x_mm[row], recording->y_mm[row], recording->z_mm[row]},
    };
    ph_result result = ph_world_spawn(world, &spawn, id);
    for (int f = 0; f < bindings->count && result == PH_OK; ++f) {
        result = set_cell(source, world, *id, row, &bindings->items[f]);
    }
    if (result != PH_OK) {
        ph_world_despawn(world, *id);
        *id = (ph_entity_id){0};
    }
    return result;
}

static bool is_same_value(const ph_recording* recording, const ph_column_binding* binding, int a,
                          int b)
{
    if (binding->column == PH_BINDING_ROTATION ||
        !is_same_cell(cell_of(recording, binding, a), cell_of(recording, binding, b))) {
        return false;
    }
    for (int i = 0; i < ph_column_binding_parts(binding) - 1; ++i) {
        const double* values = recording->columns[binding->others[i]].value;
        if (!is_same_cell(values[a], values[b])) {
            return false;
        }
    }
    return true;
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
    const ph_column_bindings* bindings = bindings_of(source, row);
    int class_index;
    ph_result result = ph_world_identify(world, id, NULL, &class_index);
    if (result == PH_OK && class_index != bindings->class_index) {
        result = PH_ERROR_ARGUMENT;
    }
    if (result != PH_OK) {
        return result;
    }
    if (old_row < 0 || !is_same_place(recording, row, old_row)) {
        // What the recording says a game could have said; what was found the world has to find.
        ph_result (*const put)(ph_world*, ph_entity_id, int64_t, int64_t, int64_t) =
            recording->has_marks && recording->is_jump[row] ? ph_world_jump : ph_world_move;
        result = put(world, id, recording->x_mm[row], recording->y_mm[row], recording->z_mm[row]);
    }
    for (int f = 0; f < bindings->count && result == PH_OK; ++f) {
        const ph_column_binding* binding = &bindings->items[f];
        if (old_row < 0 || !is_same_value(recording, binding, row, old_row)) {
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
    if (was_present && bindings_of(source, source->row[entity])->class_index !=
                           bindings_of(source, source->put_row[entity])->class_index) {
        vanish(source, world, entity);
        return appear(source, world, entity);
    }
    return was_present ? change(source, world, entity) : appear(source, world, entity);
}

// Of one entity, to others of this tick: what names none that is there is none.
static ph_result refer(ph_source* source, ph_world* world, int entity)
{
    const ph_recording* recording = source->recording;
    const ph_column_bindings* bindings = bindings_of(source, source->row[entity]);
    ph_result result = PH_OK;
    for (int f = 0; f < bindings->count && result == PH_OK; ++f) {
        if (bindings->items[f].field != PH_FIELD_ENTITY) {
            continue;
        }
        const double cell = cell_of(recording, &bindings->items[f], source->row[entity]);
        const int target =
            cell >= 0.0 && cell <= UINT32_MAX ? ph_recording_find(recording, (uint32_t)cell) : -1;
        const ph_entity_id id =
            target >= 0 ? source->entity_id[target] : (ph_entity_id){.index1 = 0};
        result =
            ph_world_set_property(world, source->entity_id[entity], bindings->items[f].property,
                                  PH_FIELD_ENTITY, &id, sizeof id);
    }
    return result;
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
    ph_result result = PH_OK;
    for (int e = 0;
         e < source->recording->entity_count && source->has_references && result == PH_OK; ++e) {
        result = source->present[e] ? refer(source, world, e) : PH_OK;
    }
    return result;
}

// ---- memory

static bool find_bindings(ph_source* source, bool* is_turning, ph_fault* fault)
{
    source->bindings = ph_column_bindings_make_all(source->schema, source->recording, fault);
    const int count = source->bindings != NULL ? ph_recording_class_count(source->recording) : 0;
    for (int i = 0; i < count; ++i) {
        const ph_column_bindings* of = &source->bindings[i];
        *is_turning = *is_turning || of->rotation >= 0;
        for (int f = 0; f < of->count; ++f) {
            source->has_references =
                source->has_references || of->items[f].field == PH_FIELD_ENTITY;
        }
    }
    return source->bindings != NULL;
}

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
    bool is_turning = recording->rotation_form != PH_ATTITUDE_NONE;
    is_made = is_made && find_bindings(source, &is_turning, fault);
    if (is_made && is_turning) {
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
    free(source->bindings);
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
