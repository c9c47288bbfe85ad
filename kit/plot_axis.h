// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One axis of a plot: from numbers to places on the paper, and the round numbers to write beside it.
// Made once per plot.

#ifndef PINHOLE_KIT_PLOT_AXIS_H
#define PINHOLE_KIT_PLOT_AXIS_H

#include <stdbool.h>

enum { PH_PLOT_TICKS_MAX = 16 };

typedef struct ph_plot_axis {
    bool is_log;
    double low; // above 0 when is_log
    double high;
    double low_px;                   // where low is
    double high_px;                  // where high is; may be less than low_px
    double ticks[PH_PLOT_TICKS_MAX]; // ascending, within low..high
    int tick_count;
} ph_plot_axis;

// Whether a number has a place on such an axis: it is finite, and above 0 if is_log.
bool ph_plot_axis_holds(bool is_log, double value);

// An axis that holds low..high and ends at round numbers; a linear one begins at 0 unless low is
// negative. low <= high, both held. Pixels are the caller's to set.
ph_plot_axis ph_plot_axis_make(bool is_log, double low, double high);

// An axis for a few measured values, ascending and held, each of them a tick: budgets of a sweep,
// say. count is 1..PH_PLOT_TICKS_MAX. A logarithmic one begins and ends a little outside of them.
ph_plot_axis ph_plot_axis_make_at(bool is_log, const double* values, int count);

double ph_plot_axis_px(const ph_plot_axis* axis, double value);

#endif
