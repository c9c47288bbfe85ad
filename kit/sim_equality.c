// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Values are read at both ends in the same way, from levels that are equal or not; so equal bytes
// are equal levels. While a run is measured, only what changed at one of the ends is compared; the
// whole is compared while the world stands still.

#include "kit/sim_equality.h"

#include "kit/wrap.h"

#include <pinhole/viewer.h>

#include <string.h>

typedef union value {
    int64_t whole;
    double number[4];
    int32_t place[3];
    char text[PH_TEXT_LENGTH_MAX + 1];
} value;

typedef struct ends {
    const ph_sim_pair* pair;
    ph_entity_id shown;
    ph_entity_id real;
} ends;

static bool is_same(const ends* of, int property, ph_field field)
{
    value there;
    value here;
    const size_t size = ph_field_size(field, PH_TEXT_LENGTH_MAX);
    if (ph_world_get_property(of->pair->stage->world, of->real, property, field, &there, size) !=
            PH_OK ||
        ph_way_client_get_property(of->pair->client, of->shown, property, field, &here, size) !=
            PH_OK) {
        return false;
    }
    return field == PH_FIELD_TEXT ? strcmp(there.text, here.text) == 0
                                  : memcmp(&there, &here, size) == 0;
}

uint64_t ph_sim_differing(const ph_sim_pair* pair, ph_entity_id shown, int entity, uint64_t traits)
{
    const ph_sim_stage* stage = pair->stage;
    const ends of = {.pair = pair, .shown = shown, .real = stage->source->entity_id[entity]};
    uint64_t differing = 0;
    for (int t = 0; t < stage->trait_count && traits >> t != 0; ++t) {
        if ((traits >> t & 1) == 0) {
            continue;
        }
        const ph_sim_trait_part* part = ph_sim_stage_part(stage, entity, t);
        differing |= is_same(&of, part->property, part->field) ? 0 : (uint64_t)1 << t;
    }
    return differing;
}

// ---- everything

static bool is_within(const ph_sim_pair* pair, int entity, double distance_m)
{
    const ph_source* source = pair->stage->source;
    const double x_mm = ph_wrap_mm(source->x_mm[pair->entity], source->x_mm[entity]);
    const double y_mm = ph_wrap_mm(source->y_mm[pair->entity], source->y_mm[entity]);
    const double distance_mm = distance_m * 1000.0;
    return distance_m == 0.0 || x_mm * x_mm + y_mm * y_mm <= distance_mm * distance_mm;
}

// Of the position as well. References are other numbers at both ends.
static bool are_values_alike(const ends* of, int entity)
{
    const ph_sim_stage* stage = of->pair->stage;
    const int row = stage->source->row[entity];
    const ph_column_bindings* bindings =
        &stage->source->bindings[ph_recording_class(stage->recording, row)];
    const ph_class_def* kind = ph_schema_class(stage->schema, bindings->class_index);
    for (int i = 0; i < kind->property_count; ++i) {
        if (kind->properties[i].coding == PH_CODING_POSITION && !is_same(of, i, PH_FIELD_I32X3)) {
            return false;
        }
    }
    for (int i = 0; i < bindings->count; ++i) {
        const ph_column_binding* binding = &bindings->items[i];
        const ph_property_def* property = &kind->properties[binding->property];
        const bool is_due = ph_sim_is_for_all(property) && binding->field != PH_FIELD_ENTITY &&
                            is_within(of->pair, entity, property->distance_m);
        if (is_due && !is_same(of, binding->property, binding->field)) {
            return false;
        }
    }
    return true;
}

static bool is_entity_alike(const ph_sim_pair* pair, ph_entity_id real)
{
    const ph_sim_stage* stage = pair->stage;
    uint64_t name = 0;
    if (ph_world_identify(stage->world, real, &name, NULL) != PH_OK) {
        return false;
    }
    const ph_entity_id shown = ph_way_client_find(pair->client, name);
    const ends of = {.pair = pair, .shown = shown, .real = real};
    const int entity = ph_recording_find(stage->recording, (uint32_t)name);
    return of.shown.index1 != 0 && entity >= 0 && are_values_alike(&of, entity);
}

bool ph_sim_is_equal(const ph_sim_pair* pair)
{
    const ph_world* world = pair->stage->world;
    ph_vision sight;
    if (ph_viewer_get_vision(world, pair->viewer, &sight) != PH_OK) {
        return false;
    }
    int count = 0;
    for (int slot = 0; slot < sight.slot_count; ++slot) {
        if (sight.entities[slot] == PH_ENTITY_NONE) {
            continue;
        }
        ++count;
        if (!is_entity_alike(pair, ph_world_entity_at(world, sight.entities[slot]))) {
            return false;
        }
    }
    return count == ph_way_client_entity_count(pair->client);
}
