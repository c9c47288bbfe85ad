// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "support/meter_stage.h"

#include "support/test_support.h"

#include <string.h>

void meter_stage_open(meter_stage* stage, int entity_count)
{
    const ph_meter_def def = {.slots = METER_STAGE_SLOTS};
    meter_stage_open_with(stage, entity_count, &def);
}

void meter_stage_open_with(meter_stage* stage, int entity_count, const ph_meter_def* def)
{
    assert_in_range(entity_count, 1, METER_STAGE_ENTITIES);
    *stage = (meter_stage){0};
    const ph_truth_history_def history_def = {.entity_count = entity_count,
                                              .rate_hz = METER_STAGE_RATE_HZ};
    assert_int_equal(ph_truth_history_create(&history_def, &stage->history), PH_OK);
    ph_meter_def meter_def = *def;
    meter_def.history = stage->history;
    meter_def.radius_mm = METER_STAGE_RADIUS_MM;
    assert_int_equal(ph_meter_create(&meter_def, &stage->meter), PH_OK);
    for (int i = 0; i < entity_count; ++i) {
        stage->present[i] = true;
        stage->shown[i].entity = i;
    }
}

void meter_stage_close(meter_stage* stage)
{
    ph_meter_destroy(stage->meter);
    ph_truth_history_destroy(stage->history);
}

void meter_stage_show(meter_stage* stage, int entity, double x_mm, double y_mm, double z_mm)
{
    stage->is_shown[entity] = true;
    stage->shown[entity].position_mm[0] = x_mm;
    stage->shown[entity].position_mm[1] = y_mm;
    stage->shown[entity].position_mm[2] = z_mm;
}

void meter_stage_tick(meter_stage* stage)
{
    const ph_truth_moment truth = {
        .present = stage->present,
        .x_mm = stage->x_mm,
        .y_mm = stage->y_mm,
        .z_mm = stage->z_mm,
        .heading_deg = stage->heading_deg,
        .rotation = stage->has_rotations ? (const double(*)[4])stage->rotation : NULL,
        .is_jump = stage->is_jump,
    };
    ph_truth_history_step(stage->history, &truth);
    memset(stage->is_jump, 0, sizeof stage->is_jump);

    ph_shown shown[METER_STAGE_ENTITIES];
    int count = 0;
    for (int i = 0; i < stage->history->entity_count; ++i) {
        if (stage->is_shown[i]) {
            shown[count++] = stage->shown[i];
        }
    }
    ph_meter_frame(stage->meter, shown, count);
}

void meter_stage_ticks(meter_stage* stage, int count)
{
    for (int i = 0; i < count; ++i) {
        meter_stage_tick(stage);
    }
}

const ph_figures* meter_stage_figures(const meter_stage* stage)
{
    return ph_meter_figures(stage->meter);
}

ph_figures_summary meter_stage_summary(const meter_stage* stage)
{
    return ph_figures_summarise(meter_stage_figures(stage));
}
