// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program.

#include "kit/sim_material.h"

#include "kit/derive.h"
#include "kit/truth.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)PH_SIM_RATE_MAX == (int)PH_RECORDING_RATE_MAX, "one limit by two names");

static bool open_truth(ph_sim_material* material, const ph_sim_material_def* def, ph_fault* fault)
{
    static const char RATE[] = "missing rate";
    const ph_truth_def truth = {
        .source = def->source,
        .rate_hz = def->rate_hz,
        .seconds = def->seconds,
        .is_pose_only = def->is_pose_only,
        .is_flat = def->is_flat,
        .count = def->count,
        .seed = def->seed,
    };
    material->recording = ph_truth_open(&truth, fault);
    material->lacks_rate =
        material->recording == NULL && strncmp(fault->message, RATE, sizeof RATE - 1) == 0;
    return material->recording != NULL;
}

static bool open_schema(ph_sim_material* material, const ph_sim_material_def* def, ph_fault* fault)
{
    material->schema = def->schema_path != NULL ? ph_derive_load(def->schema_path, fault)
                                                : ph_derive_schema(material->recording, fault);
    material->is_schema_bad = material->schema == NULL && def->schema_path != NULL;
    return material->schema != NULL;
}

// The schema with the models of another one.
static bool take_tables(ph_sim_material* material, const ph_sim_material_def* def, ph_fault* fault)
{
    if (def->tables_path == NULL) {
        return true;
    }
    ph_schema* tables = ph_derive_load(def->tables_path, fault);
    material->is_tables_bad = tables == NULL;
    if (tables == NULL) {
        return false;
    }
    const int count = ph_schema_class_count(material->schema);
    ph_class_def* classes = malloc((size_t)count * sizeof classes[0]);
    for (int c = 0; classes != NULL && c < count; ++c) {
        classes[c] = *ph_schema_class(material->schema, c);
    }
    ph_schema* tuned = NULL;
    const bool is_made = classes != NULL && ph_schema_create_tuned(classes, count, tables, NULL,
                                                                   &tuned, NULL) == PH_OK;
    free(classes);
    ph_schema_destroy(tables);
    if (!is_made) {
        return ph_fault_set_memory(fault);
    }
    ph_schema_destroy(material->schema);
    material->schema = tuned;
    return true;
}

static bool print_schema(ph_sim_material* material, ph_fault* fault)
{
    const size_t size = ph_schema_print(material->schema, NULL, 0) + 1;
    material->schema_text = malloc(size);
    if (material->schema_text == NULL) {
        return ph_fault_set_memory(fault);
    }
    ph_schema_print(material->schema, material->schema_text, size);
    return true;
}

bool ph_sim_material_open(ph_sim_material* material, const ph_sim_material_def* def,
                          ph_fault* fault)
{
    *material = (ph_sim_material){0};
    if (open_truth(material, def, fault) && open_schema(material, def, fault) &&
        take_tables(material, def, fault) && print_schema(material, fault)) {
        return true;
    }
    const bool lacks_rate = material->lacks_rate;
    const bool is_schema_bad = material->is_schema_bad;
    const bool is_tables_bad = material->is_tables_bad;
    ph_sim_material_close(material);
    material->lacks_rate = lacks_rate;
    material->is_tables_bad = is_tables_bad;
    material->is_schema_bad = is_schema_bad;
    return false;
}

const char* ph_sim_material_note(const ph_sim_material* material)
{
    return material->recording != NULL ? material->recording->note : "";
}

void ph_sim_material_close(ph_sim_material* material)
{
    free(material->schema_text);
    ph_schema_destroy(material->schema);
    ph_recording_destroy(material->recording);
    *material = (ph_sim_material){0};
}
