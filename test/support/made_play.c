// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "support/made_play.h"

#include <math.h>

enum {
    SIDE_MM = 300000,
    RUNNER = MADE_PLAY_VIEWERS, // there for less than 10 s
    RUNNER_TICKS = 10 * MADE_PLAY_RATE_HZ - 1,
};

static int below(test_rng* rng, int limit)
{
    return (int)test_rng_below(rng, (uint64_t)limit);
}

static bool is_one_in(test_rng* rng, int limit)
{
    return below(rng, limit) == 0;
}

// ---- the truth

static void place_anywhere(test_rng* rng, made_tick* now, int entity)
{
    now->x_mm[entity] = below(rng, SIDE_MM);
    now->y_mm[entity] = below(rng, SIDE_MM);
    now->z_mm[entity] = below(rng, 3000);
}

static int speed_of(int entity)
{
    if (entity == RUNNER) {
        return 200000;
    }
    return entity < MADE_PLAY_VIEWERS ? 20000 - 200 * entity : 1500;
}

static int32_t onto_square(int32_t mm)
{
    if (mm < 0) {
        return 0;
    }
    return mm < SIDE_MM ? mm : SIDE_MM - 1;
}

// A walker turns a little at a time, and round at the edge of the square.
static void walk(test_rng* rng, made_tick* now, int entity)
{
    const bool is_at_edge = now->x_mm[entity] != onto_square(now->x_mm[entity]) ||
                            now->y_mm[entity] != onto_square(now->y_mm[entity]);
    const int turn_tenths = is_at_edge ? 1800 : below(rng, 301) - 150;
    now->x_mm[entity] = onto_square(now->x_mm[entity]);
    now->y_mm[entity] = onto_square(now->y_mm[entity]);
    const int tenths = ((int)lrintf(now->heading_deg[entity] * 10.0f) + turn_tenths + 3600) % 3600;
    const double heading = (double)tenths / 1800.0 * 3.14159265358979;
    const double step_mm = (double)speed_of(entity) / MADE_PLAY_RATE_HZ;
    now->heading_deg[entity] = (float)tenths / 10.0f;
    now->x_mm[entity] += (int32_t)(step_mm * cos(heading));
    now->y_mm[entity] += (int32_t)(step_mm * sin(heading));
}

// Viewers are away for a while, too.
static void come_and_go(test_rng* rng, made_tick* now, int entity)
{
    const int one_in = entity < MADE_PLAY_VIEWERS ? 150 : 60;
    if (now->present[entity] ? is_one_in(rng, one_in) : is_one_in(rng, 12)) {
        now->present[entity] = !now->present[entity];
        if (is_one_in(rng, 2)) {
            place_anywhere(rng, now, entity);
        }
    }
}

static void step(test_rng* rng, made_tick* now, int tick)
{
    for (int i = 0; i < MADE_PLAY_ENTITIES; ++i) {
        walk(rng, now, i);
        come_and_go(rng, now, i);
        now->is_jump[i] = is_one_in(rng, 300) && i >= MADE_PLAY_VIEWERS;
        if (now->is_jump[i]) {
            place_anywhere(rng, now, i);
        }
    }
    now->present[RUNNER] = tick < RUNNER_TICKS;
}

static void make_truth(test_rng* rng, made_play* play)
{
    made_tick now = {0};
    for (int i = 0; i < MADE_PLAY_ENTITIES; ++i) {
        now.present[i] = i % 3 != 2 || i < MADE_PLAY_VIEWERS;
        place_anywhere(rng, &now, i);
    }
    for (int tick = 0; tick < MADE_PLAY_TICKS; ++tick) {
        step(rng, &now, tick);
        play->ticks[tick] = now;
    }
}

// ---- clients

typedef struct made_client {
    bool is_shown[MADE_PLAY_ENTITIES];
    double off_mm[MADE_PLAY_ENTITIES][3];
} made_client;

static bool is_in_sight(const made_tick* then, int viewer, int entity)
{
    const double x_mm = then->x_mm[entity] - then->x_mm[viewer];
    const double y_mm = then->y_mm[entity] - then->y_mm[viewer];
    return then->present[entity] && hypot(x_mm, y_mm) < MADE_PLAY_RADIUS_M * 1000.0;
}

// Slow to show and slower to forget.
static void change_mind(test_rng* rng, made_client* client, bool is_wanted, int entity)
{
    const bool is_changed = client->is_shown[entity]
                                ? is_one_in(rng, is_wanted ? 300 : 14)
                                : (is_wanted ? is_one_in(rng, 6) : is_one_in(rng, 3000));
    if (is_changed) {
        client->is_shown[entity] = !client->is_shown[entity];
    }
}

static ph_shown show(test_rng* rng, made_client* client, const made_tick* then, int entity)
{
    double* off_mm = client->off_mm[entity];
    const int shake_mm = is_one_in(rng, 30) ? 2000 : 60;
    for (int axis = 0; axis < 3; ++axis) {
        off_mm[axis] = 0.8 * off_mm[axis] + (test_rng_unit(rng) - 0.5) * shake_mm;
    }
    return (ph_shown){
        .entity = entity,
        .has_heading = !is_one_in(rng, 5),
        .position_mm = {then->x_mm[entity] + off_mm[0], then->y_mm[entity] + off_mm[1],
                        then->z_mm[entity] + off_mm[2]},
        .heading_deg = (double)then->heading_deg[entity] + 40.0 * (test_rng_unit(rng) - 0.5),
    };
}

static void make_frames(test_rng* rng, made_play* play, int viewer)
{
    made_client client = {0};
    for (int tick = 0; tick < MADE_PLAY_TICKS; ++tick) {
        made_frame* frame = &play->frames[viewer][tick];
        const int late = tick > MADE_PLAY_LATE_TICKS ? tick - MADE_PLAY_LATE_TICKS : 0;
        const made_tick* then = &play->ticks[late];
        for (int i = 0; i < MADE_PLAY_ENTITIES; ++i) {
            change_mind(rng, &client, is_in_sight(then, viewer, i), i);
            if (client.is_shown[i] && i != viewer) {
                frame->shown[frame->count++] = show(rng, &client, then, i);
            }
        }
    }
}

void made_play_init(made_play* play, uint64_t seed)
{
    *play = (made_play){0};
    test_rng rng = {.state = seed};
    make_truth(&rng, play);
    for (int viewer = 0; viewer < MADE_PLAY_VIEWERS; ++viewer) {
        make_frames(&rng, play, viewer);
    }
}

ph_truth_moment made_play_moment(const made_play* play, int tick)
{
    const made_tick* now = &play->ticks[tick];
    return (ph_truth_moment){
        .present = now->present,
        .x_mm = now->x_mm,
        .y_mm = now->y_mm,
        .z_mm = now->z_mm,
        .heading_deg = now->heading_deg,
        .is_jump = now->is_jump,
    };
}

// ---- measuring

static ph_meter* make_meter(const ph_truth_history* history, int viewer)
{
    const ph_meter_def def = {
        .history = history,
        .viewer = viewer,
        .radius_mm = MADE_PLAY_RADIUS_M * 1000,
        .slots = MADE_PLAY_SLOTS,
    };
    ph_meter* meter;
    assert_int_equal(ph_meter_create(&def, &meter), PH_OK);
    return meter;
}

void made_play_measure(const made_play* play, int first, int last, ph_figures* figures)
{
    const ph_truth_history_def def = {.entity_count = MADE_PLAY_ENTITIES,
                                      .rate_hz = MADE_PLAY_RATE_HZ};
    ph_truth_history* history;
    ph_meter* meters[MADE_PLAY_VIEWERS] = {0};
    assert_int_equal(ph_truth_history_create(&def, &history), PH_OK);
    for (int viewer = first; viewer <= last; ++viewer) {
        meters[viewer] = make_meter(history, viewer);
    }
    for (int tick = 0; tick < MADE_PLAY_TICKS; ++tick) {
        const ph_truth_moment now = made_play_moment(play, tick);
        ph_truth_history_step(history, &now);
        for (int viewer = first; viewer <= last; ++viewer) {
            const made_frame* frame = &play->frames[viewer][tick];
            ph_meter_frame(meters[viewer], frame->shown, frame->count);
        }
    }
    assert_int_equal(ph_figures_create(figures, MADE_PLAY_RATE_HZ, NULL), PH_OK);
    for (int viewer = first; viewer <= last; ++viewer) {
        ph_figures_merge(figures, ph_meter_figures(meters[viewer]));
        ph_meter_destroy(meters[viewer]);
    }
    ph_truth_history_destroy(history);
}
