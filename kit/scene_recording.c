// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per run of the simulator, for every actor and tick.

#include "kit/scene_recording.h"

#include "kit/jump_marks.h"
#include "kit/recording_attitude.h"
#include "kit/rows.h"
#include "kit/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECONDS_USUAL 60.0

static bool add_tick(const ph_scene* scene, int tick, int extra_count, ph_rows* rows)
{
    double cells[PH_RECORDING_COLUMNS_MAX];
    for (int i = 0; i < scene->count; ++i) {
        if (!scene->present[i]) {
            continue;
        }
        // Behind the extra columns those of the rotation, if they are wanted.
        for (int c = 0; c < rows->column_count; ++c) {
            cells[c] =
                c < extra_count ? (double)scene->extra[c][i] : scene->rotation[i][c - extra_count];
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

static bool play(ph_scene* scene, int tick_count, int extra_count, ph_rows* rows, ph_fault* fault)
{
    for (int tick = 0; tick < tick_count; ++tick) {
        if (tick > 0) {
            ph_scene_step(scene);
        }
        if (!add_tick(scene, tick, extra_count, rows)) {
            return ph_fault_set_memory(fault);
        }
    }
    return rows->count > 0 ||
           ph_fault_set(fault, 0, 0, "no actor is ever present in the scene %s", scene->name);
}

// Of columns of whole numbers, which are not more than extra_count, and of the rotation behind them.
static void name_columns(const ph_scene* scene, int extra_count, ph_recording* made)
{
    int name_count;
    const char* const* names = ph_attitude_column_names(PH_ATTITUDE_QUATERNION, &name_count);
    for (int c = 0; c < made->column_count; ++c) {
        ph_column* column = &made->columns[c];
        const bool is_extra = c < extra_count;
        const ph_scene_column* extra = is_extra ? &scene->info->extras[c] : NULL;
        snprintf(column->name, sizeof column->name, "%s",
                 is_extra ? extra->name : names[c - extra_count]);
        column->kind = is_extra ? PH_COLUMN_WHOLE : PH_COLUMN_DECIMAL;
        column->decimals = is_extra ? 0 : PH_SCENE_ROTATION_DECIMALS;
        column->low = is_extra ? extra->low : -1.0;
        column->high = is_extra ? extra->high : 1.0;
    }
}

static ph_recording* finish(const ph_scene* scene, int extra_count, const ph_rows* rows,
                            ph_fault* fault)
{
    ph_recording* made = ph_rows_finish(rows);
    if (made == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    name_columns(scene, extra_count, made);
    ph_attitude_find(made);
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
    const int extra_count = def->is_pose_only ? 0 : scene->info->extra_count;
    ph_rows rows = {.column_count = extra_count};
    if (scene->rotation != NULL && !def->is_flat) {
        rows.column_count += 4;
    }
    PH_ASSERT(rows.column_count <= PH_RECORDING_COLUMNS_MAX);
    const int tick_count = tick_count_of(def->seconds, scene->rate_hz);
    const bool is_played = play(scene, tick_count, extra_count, &rows, fault);
    ph_recording* made = is_played ? finish(scene, extra_count, &rows, fault) : NULL;
    ph_rows_clear(&rows);
    ph_scene_destroy(scene);
    return made;
}
