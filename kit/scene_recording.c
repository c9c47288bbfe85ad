// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per run of the simulator, for every actor and tick.

#include "kit/scene_recording.h"

#include "kit/jump_marks.h"
#include "kit/rows.h"
#include "kit/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECONDS_USUAL 60.0

static bool add_tick(const ph_scene* scene, int tick, ph_rows* rows)
{
    double cells[PH_RECORDING_COLUMNS_MAX];
    for (int i = 0; i < scene->count; ++i) {
        if (!scene->present[i]) {
            continue;
        }
        for (int c = 0; c < rows->column_count; ++c) {
            cells[c] = scene->extra[c][i];
        }
        const ph_row row = {
            .tick = tick,
            .id = (uint32_t)i,
            .position_mm = {scene->x_mm[i], scene->y_mm[i], scene->z_mm[i]},
            .heading_deg = scene->heading_deg[i],
        };
        if (!ph_rows_add(rows, &row, cells)) {
            return false;
        }
    }
    return true;
}

static bool play(ph_scene* scene, int tick_count, ph_rows* rows, ph_fault* fault)
{
    for (int tick = 0; tick < tick_count; ++tick) {
        if (tick > 0) {
            ph_scene_step(scene);
        }
        if (!add_tick(scene, tick, rows)) {
            return ph_fault_set_memory(fault);
        }
    }
    return rows->count > 0 ||
           ph_fault_set(fault, 0, 0, "no actor is ever present in the scene %s", scene->name);
}

static ph_recording* finish(const ph_scene* scene, const ph_rows* rows, ph_fault* fault)
{
    ph_recording* made = ph_rows_finish(rows);
    if (made == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    for (int c = 0; c < made->column_count; ++c) {
        const ph_scene_column* extra = &scene->info->extras[c];
        ph_column* column = &made->columns[c];
        snprintf(column->name, sizeof column->name, "%s", extra->name);
        column->kind = PH_COLUMN_WHOLE;
        column->low = extra->low;
        column->high = extra->high;
    }
    made->rate_hz = scene->rate_hz;
    ph_jump_marks_find(made);
    made->ground = scene->info->ground;
    made->altitude = scene->info->altitude;
    return made;
}

static int tick_count_of(double seconds, double rate_hz)
{
    const double count = floor((seconds > 0.0 ? seconds : SECONDS_USUAL) * rate_hz + 0.5);
    return count < 1.0 ? 1 : count > 1e9 ? 1000000000 : (int)count;
}

ph_recording* ph_scene_recording_make(const ph_scene_recording_def* def, ph_fault* fault)
{
    if (ph_scene_find(def->scene) == NULL) {
        ph_fault_set(fault, 0, 0, "there is no scene %.40s", def->scene);
        return NULL;
    }
    ph_scene* scene = ph_scene_create(def->scene, def->count, def->rate_hz, def->seed);
    if (scene == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    PH_ASSERT(scene->info->extra_count <= PH_RECORDING_COLUMNS_MAX);
    ph_rows rows = {.column_count = def->is_pose_only ? 0 : scene->info->extra_count};
    const int tick_count = tick_count_of(def->seconds, scene->rate_hz);
    const bool is_played = play(scene, tick_count, &rows, fault);
    ph_recording* made = is_played ? finish(scene, &rows, fault) : NULL;
    ph_rows_clear(&rows);
    ph_scene_destroy(scene);
    return made;
}
