// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "kit/plot_axis.h"

#include <math.h>
#include <stddef.h>

// Steps of a linear axis that people count in.
static const double ROUND_STEPS[] = {1.0, 2.0, 5.0, 10.0};
enum { ROUND_STEP_COUNT = sizeof ROUND_STEPS / sizeof ROUND_STEPS[0] };

#define WANTED_TICKS 6.0
// What a computed power may be off.
#define HAIR 1e-9
// So much of its length is left free at the ends of a logarithmic axis of measured values.
#define MARGIN_SHARE 0.03

bool ph_plot_axis_holds(bool is_log, double value)
{
    return isfinite(value) && (!is_log || value > 0.0);
}

// ---- linear

static double choose_step(double span)
{
    const double rough = span / WANTED_TICKS;
    const double power = pow(10.0, floor(log10(rough)));
    for (int i = 0; i < ROUND_STEP_COUNT; ++i) {
        if (ROUND_STEPS[i] * power >= rough * (1.0 - HAIR)) {
            return ROUND_STEPS[i] * power;
        }
    }
    return 10.0 * power;
}

static ph_plot_axis make_linear(double low, double high)
{
    ph_plot_axis axis = {.is_log = false, .low = low < 0.0 ? low : 0.0, .high = high};
    if (axis.high <= axis.low) {
        axis.high = axis.low + 1.0;
    }
    const double step = choose_step(axis.high - axis.low);
    const double first = floor(axis.low / step + HAIR);
    const double last = ceil(axis.high / step - HAIR);
    axis.low = first * step;
    axis.high = last * step;
    for (double i = first; i <= last && axis.tick_count < PH_PLOT_TICKS_MAX; i += 1.0) {
        axis.ticks[axis.tick_count++] = i * step;
    }
    return axis;
}

// ---- logarithmic

// 1, 2, 5, 10, 20 ...: index 0 is 1, -1 is 0.5.
static double round_number(int index)
{
    const int decade = (int)floor(index / 3.0);
    return ROUND_STEPS[index - 3 * decade] * pow(10.0, decade);
}

static ph_plot_axis make_log(double low, double high)
{
    int first = 3 * (int)floor(log10(low)) + 3;
    while (round_number(first) > low * (1.0 + HAIR)) {
        --first;
    }
    int last = first + 1;
    while (round_number(last) < high * (1.0 - HAIR)) {
        ++last;
    }
    // Over many decades powers of ten, or every second one, are enough.
    int stride = 1;
    while ((last - first) / stride + 1 > 10) {
        stride = stride == 1 ? 3 : stride + 3;
    }
    ph_plot_axis axis = {.is_log = true, .low = round_number(first), .high = round_number(last)};
    for (int i = first; i <= last; ++i) {
        if (i % stride == 0) {
            axis.ticks[axis.tick_count++] = round_number(i);
        }
    }
    return axis;
}

ph_plot_axis ph_plot_axis_make(bool is_log, double low, double high)
{
    return is_log ? make_log(low, high) : make_linear(low, high);
}

ph_plot_axis ph_plot_axis_make_at(bool is_log, const double* values, int count)
{
    ph_plot_axis axis = ph_plot_axis_make(is_log, values[0], values[count - 1]);
    if (is_log && count > 1) {
        const double factor = pow(values[count - 1] / values[0], MARGIN_SHARE);
        axis.low = values[0] / factor;
        axis.high = values[count - 1] * factor;
    }
    axis.tick_count = count;
    for (int i = 0; i < count; ++i) {
        axis.ticks[i] = values[i];
    }
    return axis;
}

double ph_plot_axis_px(const ph_plot_axis* axis, double value)
{
    const double share = axis->is_log
                             ? (log(value) - log(axis->low)) / (log(axis->high) - log(axis->low))
                             : (value - axis->low) / (axis->high - axis->low);
    return axis->low_px + share * (axis->high_px - axis->low_px);
}
