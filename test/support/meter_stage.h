// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A small truth and a client made by hand, for tests of the meter. 10 ticks a second; entity 0 is
// the viewer and stands at the origin; radius 100 m, 10 slots.
//
//     meter_stage stage;
//     meter_stage_open(&stage, 2);
//     stage.x_mm[1] = 5000;
//     meter_stage_show(&stage, 1, 5003.0, 0.0, 0.0);
//     meter_stage_tick(&stage);
//     ... meter_stage_figures(&stage) ...
//     meter_stage_close(&stage);

#ifndef PINHOLE_TEST_METER_STAGE_H
#define PINHOLE_TEST_METER_STAGE_H

#include "kit/meter.h"

enum {
    METER_STAGE_ENTITIES = 32,
    METER_STAGE_RATE_HZ = 10,
    METER_STAGE_RADIUS_MM = 100000,
    METER_STAGE_SLOTS = 10,
};

// The arrays are for the test to change, between ticks.
typedef struct meter_stage {
    bool present[METER_STAGE_ENTITIES];
    int32_t x_mm[METER_STAGE_ENTITIES];
    int32_t y_mm[METER_STAGE_ENTITIES];
    int32_t z_mm[METER_STAGE_ENTITIES];
    float heading_deg[METER_STAGE_ENTITIES];
    double rotation[METER_STAGE_ENTITIES][4];
    bool has_rotations;                 // of the truth
    bool is_jump[METER_STAGE_ENTITIES]; // of the next tick alone
    bool is_shown[METER_STAGE_ENTITIES];
    ph_shown shown[METER_STAGE_ENTITIES];
    ph_truth_history* history;
    ph_meter* meter;
} meter_stage;

// All entities are present, at the origin, and none is shown.
void meter_stage_open(meter_stage* stage, int entity_count);

// The same with these differences: entity_count, slots and properties are the def's.
void meter_stage_open_with(meter_stage* stage, int entity_count, const ph_meter_def* def);

void meter_stage_close(meter_stage* stage);

// Shows an entity there from the next tick on.
void meter_stage_show(meter_stage* stage, int entity, double x_mm, double y_mm, double z_mm);

void meter_stage_tick(meter_stage* stage);
void meter_stage_ticks(meter_stage* stage, int count);

// So far. summary: the same as figures to be told.
const ph_figures* meter_stage_figures(const meter_stage* stage);
ph_figures_summary meter_stage_summary(const meter_stage* stage);

#endif
