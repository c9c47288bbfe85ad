// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Ten times a second, for each entity once.

#include "demo_map.h"

#include <math.h>
#include <stdio.h>

// An eye sees about 0.3 mrad.
static const double ERROR_STEPS_MRAD[] = {0.5, 1.5, 4.0, 10.0};
enum { ERROR_STEP_COUNT = sizeof ERROR_STEPS_MRAD / sizeof ERROR_STEPS_MRAD[0] };
// Nearer ones are judged as if they were here; as in kit/meter.h.
#define NEAREST_MM 1000.0
#define DIAMOND 0x25C6
#define SQUARE 0x25A0
enum { LEGEND_CELLS = 41, WIDE_MAP = 60 };

demo_style demo_map_error_style(double error_mrad)
{
    int step = 0;
    while (step < ERROR_STEP_COUNT && error_mrad > ERROR_STEPS_MRAD[step]) {
        ++step;
    }
    return (demo_style)(DEMO_STYLE_ERROR_0 + step);
}

double demo_map_scale_mm(double mm_per_dot, int dots_max)
{
    static const double STEPS[] = {1.0, 2.0, 5.0, 10.0};
    const double most_mm = mm_per_dot * dots_max;
    const double decade_mm = pow(10.0, floor(log10(most_mm)));
    double best_mm = decade_mm;
    for (int i = 0; i < 4; ++i) {
        best_mm = STEPS[i] * decade_mm <= most_mm ? STEPS[i] * decade_mm : best_mm;
    }
    return best_mm;
}

// ---- places

// Where that is, from the player's eye, in dots of the area.
static void dot_of(const demo_map_def* def, const double offset_mm[2], int dot[2])
{
    dot[0] = def->area.width + (int)floor(offset_mm[0] / def->mm_per_dot + 0.5);
    dot[1] = 2 * def->area.height - (int)floor(offset_mm[1] / def->mm_per_dot + 0.5);
}

// Across the edge of the 32-bit world, too.
static double wrapped(double mm)
{
    const double world_mm = 4294967296.0;
    return mm - world_mm * floor(mm / world_mm + 0.5);
}

static void offset_of(const ph_source* source, int entity, int eye, double offset_mm[2])
{
    offset_mm[0] = wrapped((double)source->x_mm[entity] - source->x_mm[eye]);
    offset_mm[1] = wrapped((double)source->y_mm[entity] - source->y_mm[eye]);
}

// ---- entities

static double error_of(const ph_shown* shown, const ph_source* source, int eye, double plane_mm[2])
{
    const int e = shown->entity;
    plane_mm[0] = wrapped(shown->position_mm[0] - source->x_mm[e]);
    plane_mm[1] = wrapped(shown->position_mm[1] - source->y_mm[e]);
    const double z_mm = wrapped(shown->position_mm[2] - source->z_mm[e]);
    const double error_mm =
        sqrt(plane_mm[0] * plane_mm[0] + plane_mm[1] * plane_mm[1] + z_mm * z_mm);
    double offset_mm[2];
    offset_of(source, e, eye, offset_mm);
    const double up_mm = wrapped((double)source->z_mm[e] - source->z_mm[eye]);
    const double distance_mm =
        sqrt(offset_mm[0] * offset_mm[0] + offset_mm[1] * offset_mm[1] + up_mm * up_mm);
    return 1000.0 * error_mm / fmax(distance_mm, NEAREST_MM);
}

static void draw_shown(const demo_map_def* def, demo_canvas* canvas, const ph_shown* shown)
{
    const ph_source* source = def->screen->stage->source;
    if (!source->present[shown->entity]) {
        return; // it has just gone
    }
    double error_mm[2];
    double offset_mm[2];
    const double error_mrad = error_of(shown, source, def->screen->entity, error_mm);
    const demo_style style = demo_map_error_style(error_mrad);
    offset_of(source, shown->entity, def->screen->entity, offset_mm);
    int truth[2];
    int drawn[2];
    dot_of(def, offset_mm, truth);
    offset_mm[0] += error_mm[0] * def->magnified;
    offset_mm[1] += error_mm[1] * def->magnified;
    dot_of(def, offset_mm, drawn);
    demo_canvas_line(canvas, &def->area, truth, drawn, style);
    const int side = def->area.width >= WIDE_MAP ? 3 : 2;
    for (int i = 0; i < side * side; ++i) {
        demo_canvas_dot(canvas, &def->area, drawn[0] - side / 2 + i % side,
                        drawn[1] - side / 2 + i / side, style);
    }
}

static void draw_truth(const demo_map_def* def, demo_canvas* canvas)
{
    const ph_source* source = def->screen->stage->source;
    for (int e = 0; e < source->recording->entity_count; ++e) {
        if (source->present[e] && e != def->screen->entity) {
            double offset_mm[2];
            offset_of(source, e, def->screen->entity, offset_mm);
            int at[2];
            dot_of(def, offset_mm, at);
            demo_canvas_dot(canvas, &def->area, at[0], at[1], DEMO_STYLE_TRUTH);
        }
    }
}

// The edge of what the player can see.
static void draw_radius(const demo_map_def* def, demo_canvas* canvas)
{
    const double radius_mm = def->screen->stage->def->radius_m * 1000.0;
    const int steps = (int)(2.0 * 3.14159265 * radius_mm / def->mm_per_dot / 3.0);
    for (int i = 0; i < steps && i < 2000; ++i) {
        const double angle = 2.0 * 3.14159265 * i / steps;
        const double offset_mm[2] = {radius_mm * cos(angle), radius_mm * sin(angle)};
        int at[2];
        dot_of(def, offset_mm, at);
        demo_canvas_dot(canvas, &def->area, at[0], at[1], DEMO_STYLE_FRAME);
    }
}

// "■ 0.5 ■ 1.5 ... mrad", with its end there.
void demo_map_draw_legend(demo_canvas* canvas, int end, int y)
{
    char text[32];
    int x = end - LEGEND_CELLS;
    for (int step = 0; step <= ERROR_STEP_COUNT; ++step) {
        demo_canvas_put(canvas, x, y, (demo_style)(DEMO_STYLE_ERROR_0 + step), SQUARE);
        if (step < ERROR_STEP_COUNT) {
            snprintf(text, sizeof text, " < %g ", ERROR_STEPS_MRAD[step]);
        } else {
            snprintf(text, sizeof text, " mrad off");
        }
        x = demo_canvas_text(canvas, x + 1, y, DEMO_STYLE_FAINT, text);
    }
}

void demo_map_draw(const demo_map_def* def, demo_canvas* canvas)
{
    draw_radius(def, canvas);
    draw_truth(def, canvas);
    for (int i = 0; i < def->screen->shown_count; ++i) {
        draw_shown(def, canvas, &def->screen->shown[i]);
    }
    demo_canvas_put(canvas, def->area.x + def->area.width / 2, def->area.y + def->area.height / 2,
                    DEMO_STYLE_SELF, DIAMOND);
}
