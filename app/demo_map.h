// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One client's view from above, in Braille dots: the truth faint, what is shown solid, a line of dots between
// the two. Colours tell how wrong it looks from where the player stands.

#ifndef PH_APP_DEMO_MAP_H
#define PH_APP_DEMO_MAP_H

#include "demo_canvas.h"

#include "kit/sim_screen.h"

typedef struct demo_map_def {
    const ph_sim_screen* screen;
    demo_rect area;    // of the canvas
    double mm_per_dot; // north is up
    int magnified;     // the line is drawn so many times as long as the error is
} demo_map_def;

void demo_map_draw(const demo_map_def* def, demo_canvas* canvas);

// What the colours mean, with its end there; 40 cells or so.
void demo_map_draw_legend(demo_canvas* canvas, int end, int y);

// How far, in mm, a round number of metres is that takes at most so many dots.
double demo_map_scale_mm(double mm_per_dot, int dots_max);

// The colour of an error, in thousandths of its distance.
demo_style demo_map_error_style(double error_mrad);

#endif
