// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A line chart as a self-contained SVG: its own background, light or dark as the reader prefers, no
// scripts, no fonts from elsewhere. For a talk, a README or a report; readable at half its size, and
// by those who tell colours badly or use a screen reader.
//
//     const double kbps[] = {4, 13, 52}, score[] = {100, 80, 31};
//     const ph_plot_series series[] = {{.name = "classic", .x = kbps, .y = score, .count = 3}};
//     const ph_plot plot = {.title = "Error over budget",
//                           .x = {.label = "budget per player", .unit = "kbit/s", .is_log = true},
//                           .y = {.label = "mean error", .unit = "mrad"},
//                           .series = series,
//                           .series_count = 1};
//     bool is_written = ph_plot_write(&plot, file);

#ifndef PINHOLE_KIT_PLOT_H
#define PINHOLE_KIT_PLOT_H

#include <stdbool.h>
#include <stdio.h>

enum { PH_PLOT_SERIES_MAX = 8 };

// Points in ascending order of x. One that has no place on the axes (not finite, or not above 0 on
// a logarithmic one) leaves a gap.
typedef struct ph_plot_series {
    const char* name;
    const double* x;
    const double* y;
    int count;
    const char* colour; // as in "#1b9e77"; NULL: by its place
} ph_plot_series;

typedef struct ph_plot_side {
    const char* label;
    const char* unit; // NULL: none
    bool is_log;
    bool is_length_mm; // written as 20 mm, 1.5 m, 12 km, at each tick; has no other unit
} ph_plot_side;

// Texts are UTF-8 and any of them may be NULL; they are escaped.
typedef struct ph_plot {
    const char* title;
    const char* subtitle;
    const char* description; // for screen readers, before the figures
    ph_plot_side x;
    ph_plot_side y;
    const ph_plot_series* series;
    int series_count; // 0..PH_PLOT_SERIES_MAX
} ph_plot;

// @return False when the file took not all of it.
bool ph_plot_write(const ph_plot* plot, FILE* file);

#endif
