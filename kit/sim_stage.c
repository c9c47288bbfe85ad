// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per tick, over all entities.

#include "kit/sim_stage.h"

#include "kit/sim_clock.h"

#include <math.h>
#include <stdlib.h>

#define US_PER_SECOND 1000000u
// Any start time would do but 0, which many fields use for "none".
#define START_US UINT64_C(5000000)

// ---- what clients are judged by

bool ph_sim_is_for_all(const ph_property_def* property)
{
    return property->when == PH_SEND_ON_CHANGE && property->audience == PH_AUDIENCE_ALL;
}

// @return -1 where there is no room for another one.
static int find_trait(ph_sim_stage* stage, int column, double distance_m)
{
    for (int t = 0; t < stage->trait_count; ++t) {
        if (stage->traits[t].column == column && stage->traits[t].distance_m == distance_m) {
            return t;
        }
    }
    if (stage->trait_count == PH_PROPERTIES_MAX) {
        return -1;
    }
    stage->traits[stage->trait_count] = (ph_sim_trait){.column = column, .distance_m = distance_m};
    return stage->trait_count++;
}

static bool choose_traits(ph_sim_stage* stage)
{
    const int class_count = ph_recording_class_count(stage->recording);
    stage->parts = calloc((size_t)class_count * PH_PROPERTIES_MAX, sizeof *stage->parts);
    for (int c = 0; stage->parts != NULL && c < class_count; ++c) {
        const ph_column_bindings* bindings = &stage->source->bindings[c];
        const ph_class_def* kind = ph_schema_class(stage->schema, bindings->class_index);
        for (int i = 0; i < bindings->count; ++i) {
            const ph_column_binding* binding = &bindings->items[i];
            const ph_property_def* property = &kind->properties[binding->property];
            if (binding->column < 0 || binding->field == PH_FIELD_ENTITY ||
                !ph_sim_is_for_all(property)) {
                continue;
            }
            const int trait = find_trait(stage, binding->column, property->distance_m);
            if (trait >= 0) {
                stage->parts[c * PH_PROPERTIES_MAX + trait] = (ph_sim_trait_part){
                    .is_there = true,
                    .property = (uint8_t)binding->property,
                    .field = binding->field,
                };
            }
        }
    }
    return stage->parts != NULL;
}

const ph_sim_trait_part* ph_sim_stage_part(const ph_sim_stage* stage, int entity, int trait)
{
    const int row = stage->source->row[entity];
    return &stage->parts[ph_recording_class(stage->recording, row) * PH_PROPERTIES_MAX + trait];
}

bool ph_sim_stage_create_meter(const ph_sim_stage* stage, int entity, ph_meter** meter)
{
    double distance_m[PH_PROPERTIES_MAX];
    for (int t = 0; t < stage->trait_count; ++t) {
        distance_m[t] = stage->traits[t].distance_m;
    }
    const ph_meter_def def = {
        .history = stage->history,
        .viewer = entity,
        .radius_mm = (int32_t)(stage->def->radius_m * 1000.0),
        .slots = stage->def->slots,
        .property_distance_m = distance_m,
        .property_count = stage->trait_count,
    };
    return ph_meter_create(&def, meter) == PH_OK;
}

int ph_sim_slot_capacity(const ph_sim_def* def)
{
    const int wanted = 2 * def->slots;
    return wanted < 256 ? 256 : wanted > UINT16_MAX ? UINT16_MAX : wanted;
}

// ---- memory

static ph_result create_world(ph_sim_stage* stage)
{
    ph_world_def def = ph_world_def_default();
    def.schema = stage->schema;
    def.profile = stage->def->profile;
    def.entity_capacity = stage->recording->entity_count;
    def.viewer_capacity = stage->def->viewers;
    def.radius_max_mm = (int32_t)(stage->def->radius_m * 1000.0);
    def.tick_us = stage->tick_us;
    def.ground = stage->recording->ground;
    def.vision.kind = stage->def->vision;
    return ph_world_create(&def, &stage->world);
}

static bool fill(ph_sim_stage* stage, ph_fault* fault)
{
    const size_t count = (size_t)stage->recording->entity_count;
    stage->has = calloc(count, sizeof *stage->has);
    stage->changed = calloc(count, sizeof *stage->changed);
    const ph_truth_history_def history = {.entity_count = stage->recording->entity_count,
                                          .rate_hz = stage->recording->rate_hz};
    if (stage->has == NULL || stage->changed == NULL ||
        ph_truth_history_create(&history, &stage->history) != PH_OK) {
        return ph_fault_set_memory(fault);
    }
    stage->source = ph_source_create(stage->recording, stage->schema, fault);
    if (stage->source == NULL) {
        return false;
    }
    if (!choose_traits(stage)) {
        return ph_fault_set_memory(fault);
    }
    const ph_result result = create_world(stage);
    return result == PH_OK ||
           ph_fault_set(fault, 0, 0, "no world can be made of this: %s", ph_result_text(result));
}

ph_sim_stage* ph_sim_stage_create(const ph_sim_def* def, const ph_recording* recording,
                                  const ph_schema* schema, ph_fault* fault)
{
    ph_sim_stage* stage = calloc(1, sizeof *stage);
    if (stage == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    stage->def = def;
    stage->recording = recording;
    stage->schema = schema;
    stage->start_us = START_US;
    stage->tick_us = (uint32_t)(US_PER_SECOND / recording->rate_hz + 0.5);
    if (!fill(stage, fault)) {
        ph_sim_stage_destroy(stage);
        return NULL;
    }
    return stage;
}

void ph_sim_stage_destroy(ph_sim_stage* stage)
{
    if (stage == NULL) {
        return;
    }
    ph_world_destroy(stage->world);
    ph_source_destroy(stage->source);
    ph_truth_history_destroy(stage->history);
    free(stage->parts);
    free(stage->changed);
    free(stage->has);
    free(stage);
}

// ---- a tick

uint64_t ph_sim_stage_now_us(const ph_sim_stage* stage)
{
    return stage->start_us + (uint64_t)stage->tick * stage->tick_us;
}

uint64_t ph_sim_stage_next_us(const ph_sim_stage* stage)
{
    return ph_sim_stage_now_us(stage) + stage->tick_us;
}

static uint64_t traits_of(const ph_sim_stage* stage, int entity)
{
    uint64_t has = 0;
    for (int t = 0; t < stage->trait_count; ++t) {
        if (ph_sim_stage_part(stage, entity, t)->is_there) {
            const double value = ph_source_value(stage->source, stage->traits[t].column, entity);
            has |= isnan(value) ? 0 : (uint64_t)1 << t;
        }
    }
    return has;
}

// Which traits may have another value in the world than a tick ago.
static uint64_t changes_of(const ph_sim_stage* stage, int entity)
{
    const uint64_t properties =
        ph_world_changed_properties(stage->world, stage->source->entity_id[entity]);
    uint64_t changed = 0;
    for (int t = 0; t < stage->trait_count; ++t) {
        changed |= (properties >> ph_sim_stage_part(stage, entity, t)->property & 1) << t;
    }
    return changed;
}

static void note_changes(ph_sim_stage* stage)
{
    const ph_source* source = stage->source;
    for (int e = 0; e < stage->recording->entity_count; ++e) {
        const bool is_new =
            source->present[e] && stage->history->trails[e].last_tick != stage->tick - 1;
        stage->has[e] = source->present[e] ? traits_of(stage, e) : 0;
        stage->changed[e] = !source->present[e] ? 0 : is_new ? UINT64_MAX : changes_of(stage, e);
    }
}

bool ph_sim_stage_put(ph_sim_stage* stage, ph_fault* fault)
{
    const ph_source* source = stage->source;
    if (stage->is_standing) {
        return true;
    }
    const ph_result result = ph_source_put(stage->source, stage->world);
    if (result != PH_OK) {
        return ph_fault_set(fault, 0, 0, "tick %d does not go into the world: %s",
                            stage->recording->first_tick + stage->tick, ph_result_text(result));
    }
    note_changes(stage);
    const ph_truth_moment now = {
        .present = source->present,
        .x_mm = source->x_mm,
        .y_mm = source->y_mm,
        .z_mm = source->z_mm,
        .heading_deg = source->heading_deg,
        .rotation = (const double(*)[4])source->rotation,
        .is_jump = source->is_jump,
    };
    ph_truth_history_step(stage->history, &now);
    return true;
}

void ph_sim_stage_tick(ph_sim_stage* stage)
{
    const uint64_t start_ns = ph_sim_clock_ns();
    ph_world_tick(stage->world);
    stage->world_ns += ph_sim_clock_ns() - start_ns;
}

void ph_sim_stage_step(ph_sim_stage* stage)
{
    ++stage->tick;
    if (!stage->is_standing && !ph_source_step(stage->source) && stage->is_looping) {
        ph_source_loop(stage->source);
    }
}
