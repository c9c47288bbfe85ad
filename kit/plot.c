// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per picture. The paper, in pixels:
//
//   title                                            subtitle below it
//   legend                                           in one row, when a line has no name at its end
//   y label
//   |----------------------------o- name             names at the ends of lines where they have room
//   |        o-------o----------
//   +---------------------------------
//     4      8      13      26     52
//                              x label

#include "kit/plot.h"

#include "kit/plot_axis.h"
#include "kit/plot_text.h"

#include <pinhole/base.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 960.0
#define HEIGHT 600.0
#define EDGE 40.0
#define AREA_TOP 164.0
#define AREA_BOTTOM 508.0
#define LEGEND_Y 120.0
#define LEGEND_HEIGHT 40.0
#define TICK_GAP 14.0
// Room to the right of the lines for their names.
#define NAMES_LEAST 56.0
#define NAMES_MOST 280.0

#define TITLE_PX 30.0
#define TEXT_PX 22.0
#define BOLD_LETTER_WIDTH 0.64
#define WIDE_LETTER_WIDTH 0.66 // digits, and the m of units
// Names at the ends of lines: least distance, and how far one may be moved for it.
#define NAME_GAP 26.0
#define NAME_SHIFT 36.0

// Attributes, with a class each for what is other on dark paper. A viewer that knows no style sheets
// shows the light one.
#define INK "class=\"ink\" fill=\"#1b1f24\""
#define FAINT_INK "class=\"faint\" fill=\"#57606a\""
#define GRID "class=\"grid\" stroke=\"#e4e7eb\""
#define AXIS "class=\"axis\" stroke=\"#57606a\""
#define PAPER "class=\"paper\" fill=\"#ffffff\" stroke=\"#d0d7de\""
#define RIM "class=\"rim\" stroke=\"#ffffff\""
#define DARK_STYLE                                                                                 \
    "<style>@media (prefers-color-scheme: dark) { .ink { fill: #e6edf3 } .faint { fill: #a3adb8 "  \
    "} "                                                                                           \
    ".grid { stroke: #2b323b } .axis { stroke: #a3adb8 } "                                         \
    ".paper { fill: #0d1117; stroke: #3d444d } .rim { stroke: #0d1117 } }</style>\n"

// Of series that bring none: Okabe and Ito's, those that show on white and on black. Markers and
// dashes differ, too.
static const char* const COLOURS[PH_PLOT_SERIES_MAX] = {"#0072b2", "#d55e00", "#008560", "#b0508a",
                                                        "#7a7f87", "#4a9fd4", "#b87d00", "#8f8f00"};
static const char* const DASHES[PH_PLOT_SERIES_MAX] = {"none", "none", "none", "none",
                                                       "10 5", "10 5", "10 5", "10 5"};

// What is worked out before anything is drawn.
typedef struct plot_sheet {
    const ph_plot* plot;
    FILE* file;
    ph_plot_axis x;
    ph_plot_axis y;
    bool is_empty; // no point has a place
    bool has_legend;
    double name_y[PH_PLOT_SERIES_MAX]; // of the name at the end of a line
    bool has_name[PH_PLOT_SERIES_MAX];
} plot_sheet;

// ---- text

static const char* or_empty(const char* text)
{
    return text != NULL ? text : "";
}

// Smaller than wanted when the text would not fit otherwise.
static double fit_size(const char* text, double size_px, double letter_width, double room_px)
{
    const double width_px = ph_plot_text_letters(text) * letter_width * size_px;
    return width_px > room_px ? size_px * room_px / width_px : size_px;
}

// attributes: those of the SVG element, beside place and size.
static void draw_text(const plot_sheet* sheet, double x, double y, double size_px,
                      const char* attributes, const char* text)
{
    fprintf(sheet->file, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" %s>", x, y, size_px,
            attributes);
    ph_plot_text_write(sheet->file, text);
    fputs("</text>\n", sheet->file);
}

static const char* colour_of(const plot_sheet* sheet, int index)
{
    const char* colour = sheet->plot->series[index].colour;
    return colour != NULL ? colour : COLOURS[index];
}

static bool has_unit(const ph_plot_side* side)
{
    return side->unit != NULL && side->unit[0] != '\0';
}

// As people say it: 20 mm, 1.5 m, 12 km. Rounded first, so that 999.96 mm are 1 m.
static void format_length(char* text, size_t size, double value_mm)
{
    char rounded[32];
    snprintf(rounded, sizeof rounded, "%.4g", value_mm);
    const double mm = strtod(rounded, NULL);
    const double step_mm = fabs(mm) >= 1e6 ? 1e6 : fabs(mm) >= 1e3 ? 1e3 : 1.0;
    snprintf(text, size, "%.4g %s", mm / step_mm,
             step_mm == 1e6   ? "km"
             : step_mm == 1e3 ? "m"
                              : "mm");
}

static void format_tick(char* text, size_t size, double value, const ph_plot_side* side)
{
    if (side->is_length_mm) {
        format_length(text, size, value);
    } else {
        snprintf(text, size, "%.4g", value);
    }
}

static void write_value(FILE* file, double value, const ph_plot_side* side)
{
    char text[48];
    format_tick(text, sizeof text, value, side);
    fputs(text, file);
    if (has_unit(side) && !side->is_length_mm) {
        fputc(' ', file);
        ph_plot_text_write(file, side->unit);
    }
}

// "label, unit"; lengths have theirs at each tick.
static void draw_side_label(const plot_sheet* sheet, const ph_plot_side* side, const char* place)
{
    fprintf(sheet->file, "<text %s font-size=\"%.0f\" " FAINT_INK ">", place, TEXT_PX);
    ph_plot_text_write(sheet->file, or_empty(side->label));
    if (has_unit(side) && !side->is_length_mm) {
        fputs(side->label != NULL ? ", " : "", sheet->file);
        ph_plot_text_write(sheet->file, side->unit);
    }
    fputs("</text>\n", sheet->file);
}

// ---- the axes

static bool is_shown(const ph_plot* plot, const ph_plot_series* series, int index)
{
    return ph_plot_axis_holds(plot->x.is_log, series->x[index]) &&
           ph_plot_axis_holds(plot->y.is_log, series->y[index]);
}

// Distinct values of x, ascending. @return How many, PH_PLOT_TICKS_MAX + 1 when there are more.
static int collect_x(const ph_plot* plot, double values[PH_PLOT_TICKS_MAX])
{
    int count = 0;
    for (int s = 0; s < plot->series_count; ++s) {
        for (int i = 0; i < plot->series[s].count; ++i) {
            const double x = plot->series[s].x[i];
            int at = 0;
            while (at < count && values[at] < x) {
                ++at;
            }
            if (!is_shown(plot, &plot->series[s], i) || (at < count && values[at] == x)) {
                continue;
            }
            if (count == PH_PLOT_TICKS_MAX) {
                return count + 1;
            }
            memmove(&values[at + 1], &values[at], (size_t)(count - at) * sizeof values[0]);
            values[at] = x;
            ++count;
        }
    }
    return count;
}

// @return False when no point has a place.
static bool find_range(const ph_plot* plot, bool is_x, double* low, double* high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int s = 0; s < plot->series_count; ++s) {
        const ph_plot_series* series = &plot->series[s];
        for (int i = 0; i < series->count; ++i) {
            if (is_shown(plot, series, i)) {
                const double value = is_x ? series->x[i] : series->y[i];
                *low = fmin(*low, value);
                *high = fmax(*high, value);
            }
        }
    }
    return *low <= *high;
}

static bool has_room(const ph_plot_axis* axis, double least_px)
{
    for (int i = 1; i < axis->tick_count; ++i) {
        const double gap_px =
            ph_plot_axis_px(axis, axis->ticks[i]) - ph_plot_axis_px(axis, axis->ticks[i - 1]);
        if (fabs(gap_px) < least_px) {
            return false;
        }
    }
    return true;
}

static void set_pixels(ph_plot_axis* axis, double low_px, double high_px)
{
    axis->low_px = low_px;
    axis->high_px = high_px;
}

static double bold_width(const char* name)
{
    return ph_plot_text_letters(or_empty(name)) * BOLD_LETTER_WIDTH * TEXT_PX;
}

static double names_width(const ph_plot* plot)
{
    double width_px = NAMES_LEAST;
    for (int s = 0; s < plot->series_count; ++s) {
        const double name_px = bold_width(plot->series[s].name) + EDGE;
        width_px = fmax(width_px, name_px);
    }
    return fmin(width_px, NAMES_MOST);
}

// Of the widest label beside the y axis.
static double ticks_width(const plot_sheet* sheet)
{
    double width_px = 0.0;
    for (int i = 0; i < sheet->y.tick_count; ++i) {
        char label[48];
        format_tick(label, sizeof label, sheet->y.ticks[i], &sheet->plot->y);
        width_px = fmax(width_px, ph_plot_text_letters(label) * WIDE_LETTER_WIDTH * TEXT_PX);
    }
    return width_px;
}

// A few measured values make the best ticks: the budgets that were tried.
static void make_x_axis(plot_sheet* sheet, double low, double high)
{
    const ph_plot* plot = sheet->plot;
    const double left_px = EDGE + ticks_width(sheet) + TICK_GAP;
    const double right_px = WIDTH - names_width(plot);
    double values[PH_PLOT_TICKS_MAX];
    const int count = collect_x(plot, values);
    if (count >= 2 && count <= PH_PLOT_TICKS_MAX) {
        sheet->x = ph_plot_axis_make_at(plot->x.is_log, values, count);
        set_pixels(&sheet->x, left_px, right_px);
        if (has_room(&sheet->x, 44.0)) {
            return;
        }
    }
    sheet->x = ph_plot_axis_make(plot->x.is_log, low, high);
    set_pixels(&sheet->x, left_px, right_px);
}

static void make_axes(plot_sheet* sheet)
{
    const ph_plot* plot = sheet->plot;
    double low[2] = {1.0, 1.0}, high[2] = {10.0, 10.0};
    double found_low, found_high;
    sheet->is_empty = !find_range(plot, true, &found_low, &found_high);
    if (!sheet->is_empty) {
        find_range(plot, true, &low[0], &high[0]);
        find_range(plot, false, &low[1], &high[1]);
    }
    sheet->y = ph_plot_axis_make(plot->y.is_log, low[1], high[1]);
    set_pixels(&sheet->y, AREA_BOTTOM, AREA_TOP + (sheet->has_legend ? LEGEND_HEIGHT : 0.0));
    make_x_axis(sheet, low[0], high[0]);
}

static void draw_axes(const plot_sheet* sheet)
{
    FILE* file = sheet->file;
    const double left = sheet->x.low_px, right = sheet->x.high_px;
    char label[48];
    for (int i = 0; i < sheet->y.tick_count; ++i) {
        const double y = ph_plot_axis_px(&sheet->y, sheet->y.ticks[i]);
        fprintf(file, "<path d=\"M%.1f %.1fH%.1f\" " GRID " stroke-width=\"1.5\"/>\n", left, y,
                right);
        format_tick(label, sizeof label, sheet->y.ticks[i], &sheet->plot->y);
        draw_text(sheet, left - TICK_GAP, y + 8.0, TEXT_PX, "text-anchor=\"end\" " INK, label);
    }
    for (int i = 0; i < sheet->x.tick_count; ++i) {
        const double x = ph_plot_axis_px(&sheet->x, sheet->x.ticks[i]);
        fprintf(file, "<path d=\"M%.1f %.1fv8\" " AXIS " stroke-width=\"2\"/>\n", x, AREA_BOTTOM);
        format_tick(label, sizeof label, sheet->x.ticks[i], &sheet->plot->x);
        draw_text(sheet, x, AREA_BOTTOM + 34.0, TEXT_PX, "text-anchor=\"middle\" " INK, label);
    }
    fprintf(file, "<path d=\"M%.1f %.1fH%.1f\" " AXIS " stroke-width=\"2\"/>\n", left, AREA_BOTTOM,
            right);
    char place[96];
    snprintf(place, sizeof place, "x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\"",
             (left + right) / 2.0, AREA_BOTTOM + 70.0);
    draw_side_label(sheet, &sheet->plot->x, place);
    snprintf(place, sizeof place, "x=\"%.1f\" y=\"%.1f\"", EDGE, sheet->y.high_px - 26.0);
    draw_side_label(sheet, &sheet->plot->y, place);
}

// ---- the lines

// About 7 px to each side, the first four shapes told apart at half size.
static void draw_marker(FILE* file, int index, double x, double y)
{
    switch (index % 4) {
    case 0:
        fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"7\">", x, y);
        return;
    case 1:
        fprintf(file, "<path d=\"M%.1f %.1fh13v13h-13z\">", x - 6.5, y - 6.5);
        return;
    case 2:
        fprintf(file, "<path d=\"M%.1f %.1fl8.5 15h-17z\">", x, y - 9.5);
        return;
    default:
        fprintf(file, "<path d=\"M%.1f %.1fl9 9-9 9-9-9z\">", x, y - 9.0);
        return;
    }
}

static void end_marker(FILE* file, int index)
{
    fputs(index % 4 == 0 ? "</circle>\n" : "</path>\n", file);
}

static void draw_line(const plot_sheet* sheet, int index)
{
    const ph_plot_series* series = &sheet->plot->series[index];
    fprintf(sheet->file,
            "<path fill=\"none\" stroke=\"%s\" stroke-width=\"4\" stroke-dasharray=\"%s\" "
            "stroke-linejoin=\"round\" stroke-linecap=\"round\" d=\"",
            colour_of(sheet, index), DASHES[index]);
    bool is_down = false;
    for (int i = 0; i < series->count; ++i) {
        const bool is_point = is_shown(sheet->plot, series, i);
        if (is_point) {
            fprintf(sheet->file, "%c%.1f %.1f", is_down ? 'L' : 'M',
                    ph_plot_axis_px(&sheet->x, series->x[i]),
                    ph_plot_axis_px(&sheet->y, series->y[i]));
        }
        is_down = is_point;
    }
    fputs("\"/>\n", sheet->file);
}

// With a tooltip each.
static void draw_points(const plot_sheet* sheet, int index)
{
    const ph_plot* plot = sheet->plot;
    const ph_plot_series* series = &plot->series[index];
    fprintf(sheet->file, "<g fill=\"%s\" " RIM " stroke-width=\"2\">\n", colour_of(sheet, index));
    for (int i = 0; i < series->count; ++i) {
        if (!is_shown(plot, series, i)) {
            continue;
        }
        draw_marker(sheet->file, index, ph_plot_axis_px(&sheet->x, series->x[i]),
                    ph_plot_axis_px(&sheet->y, series->y[i]));
        fputs("<title>", sheet->file);
        ph_plot_text_write(sheet->file, or_empty(series->name));
        fputs(": ", sheet->file);
        write_value(sheet->file, series->y[i], &plot->y);
        fputs(" at ", sheet->file);
        write_value(sheet->file, series->x[i], &plot->x);
        fputs("</title>", sheet->file);
        end_marker(sheet->file, index);
    }
    fputs("</g>\n", sheet->file);
}

// ---- names at the ends of lines

// @return False when the line has no end near the right side, where there is room.
static bool find_end(const plot_sheet* sheet, int index, double* y)
{
    const ph_plot_series* series = &sheet->plot->series[index];
    for (int i = series->count - 1; i >= 0; --i) {
        if (is_shown(sheet->plot, series, i)) {
            const double x = ph_plot_axis_px(&sheet->x, series->x[i]);
            *y = ph_plot_axis_px(&sheet->y, series->y[i]);
            return sheet->x.high_px - x < 0.06 * (sheet->x.high_px - sheet->x.low_px);
        }
    }
    return false;
}

// Pushing down what overlaps is one solution, pushing up another; what lies half-way between two
// solutions is one as well, and the fairest.
static void spread_names(plot_sheet* sheet, const int* order, const double* end_y, int count)
{
    double down[PH_PLOT_SERIES_MAX], up[PH_PLOT_SERIES_MAX];
    for (int i = 0; i < count; ++i) {
        down[i] = i > 0 ? fmax(end_y[i], down[i - 1] + NAME_GAP) : end_y[i];
    }
    for (int i = count - 1; i >= 0; --i) {
        up[i] = i < count - 1 ? fmin(end_y[i], up[i + 1] - NAME_GAP) : end_y[i];
    }
    double furthest_px = 0.0;
    for (int i = 0; i < count; ++i) {
        sheet->name_y[order[i]] = (down[i] + up[i]) / 2.0;
        furthest_px = fmax(furthest_px, fabs(sheet->name_y[order[i]] - end_y[i]));
    }
    // Names that have to be moved far cannot be matched with their lines: the legend names these.
    const double most_px = furthest_px <= NAME_SHIFT ? NAME_SHIFT : 2.0;
    for (int i = 0; i < count; ++i) {
        sheet->has_name[order[i]] = fabs(sheet->name_y[order[i]] - end_y[i]) <= most_px;
    }
}

static void place_names(plot_sheet* sheet)
{
    int order[PH_PLOT_SERIES_MAX];
    double end_y[PH_PLOT_SERIES_MAX]; // ascending
    int count = 0;
    for (int s = 0; s < sheet->plot->series_count; ++s) {
        double y;
        const double width_px = bold_width(sheet->plot->series[s].name) + EDGE;
        if (width_px > NAMES_MOST || !find_end(sheet, s, &y)) {
            continue;
        }
        int at = count++;
        for (; at > 0 && end_y[at - 1] > y; --at) {
            end_y[at] = end_y[at - 1];
            order[at] = order[at - 1];
        }
        end_y[at] = y;
        order[at] = s;
    }
    spread_names(sheet, order, end_y, count);
}

// Names at the ends of lines say it all; a legend is for those that have no room there.
static void lay_out(plot_sheet* sheet)
{
    make_axes(sheet);
    place_names(sheet);
    for (int s = 0; s < sheet->plot->series_count; ++s) {
        sheet->has_legend = sheet->has_legend || !sheet->has_name[s];
    }
    if (sheet->has_legend) {
        memset(sheet->has_name, 0, sizeof sheet->has_name);
        make_axes(sheet);
        place_names(sheet);
    }
}

static void draw_name(const plot_sheet* sheet, int index)
{
    if (!sheet->has_name[index]) {
        return;
    }
    char attributes[64];
    snprintf(attributes, sizeof attributes, "font-weight=\"600\" fill=\"%s\"",
             colour_of(sheet, index));
    draw_text(sheet, sheet->x.high_px + 12.0, sheet->name_y[index] + 7.0, TEXT_PX, attributes,
              or_empty(sheet->plot->series[index].name));
}

// ---- around it

// One row; smaller when there is much of it.
static void draw_legend(const plot_sheet* sheet)
{
    const ph_plot* plot = sheet->plot;
    const double mark_px = 54.0, gap_px = 34.0;
    double width_px = 0.0;
    for (int s = 0; s < plot->series_count; ++s) {
        width_px += mark_px + gap_px + ph_plot_text_width(or_empty(plot->series[s].name), TEXT_PX);
    }
    const double room_px = WIDTH - 2.0 * EDGE;
    const double scale = width_px > room_px ? room_px / width_px : 1.0;
    fprintf(sheet->file, "<g transform=\"translate(%.1f %.1f) scale(%.3f)\">\n", EDGE, LEGEND_Y,
            scale);
    double x = 0.0;
    for (int s = 0; s < plot->series_count; ++s) {
        fprintf(sheet->file,
                "<path d=\"M%.1f 0h40\" stroke=\"%s\" stroke-width=\"4\" "
                "stroke-dasharray=\"%s\"/>\n<g fill=\"%s\" " RIM " stroke-width=\"2\">",
                x, colour_of(sheet, s), DASHES[s], colour_of(sheet, s));
        draw_marker(sheet->file, s, x + 20.0, 0.0);
        end_marker(sheet->file, s);
        fputs("</g>\n", sheet->file);
        const char* name = or_empty(plot->series[s].name);
        draw_text(sheet, x + mark_px - 4.0, 7.0, TEXT_PX, "" INK, name);
        x += mark_px + gap_px + ph_plot_text_width(name, TEXT_PX);
    }
    fputs("</g>\n", sheet->file);
}

// Every figure, for those who cannot see the lines.
static void write_description(const plot_sheet* sheet)
{
    const ph_plot* plot = sheet->plot;
    FILE* file = sheet->file;
    fputs("<desc id=\"plot-desc\">", file);
    ph_plot_text_write(file, or_empty(plot->description));
    for (int s = 0; s < plot->series_count; ++s) {
        const ph_plot_series* series = &plot->series[s];
        fputc(' ', file);
        ph_plot_text_write(file, or_empty(series->name));
        for (int i = 0; i < series->count; ++i) {
            fputs(i == 0 ? ": " : ", ", file);
            write_value(file, series->y[i], &plot->y);
            fputs(" at ", file);
            write_value(file, series->x[i], &plot->x);
        }
        fputc('.', file);
    }
    fputs("</desc>\n", file);
}

static void write_head(const plot_sheet* sheet)
{
    const ph_plot* plot = sheet->plot;
    FILE* file = sheet->file;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
            "height=\"%.0f\" role=\"img\" aria-labelledby=\"plot-title plot-desc\" "
            "font-family=\"system-ui, 'Segoe UI', Roboto, Helvetica, Arial, 'DejaVu Sans', "
            "sans-serif\">\n<title id=\"plot-title\">",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    ph_plot_text_write(file, or_empty(plot->title));
    fputs("</title>\n", file);
    write_description(sheet);
    fputs(DARK_STYLE, file);
    // Its own paper, with an edge, so that it stands on white and on dark pages alike, also where
    // the page's colours are not those that the reader prefers.
    fprintf(file,
            "<rect x=\"1\" y=\"1\" width=\"%.0f\" height=\"%.0f\" rx=\"14\" " PAPER
            " stroke-width=\"2\"/>\n",
            WIDTH - 2.0, HEIGHT - 2.0);
    const double room_px = WIDTH - 2.0 * EDGE;
    const char* title = or_empty(plot->title);
    const char* subtitle = or_empty(plot->subtitle);
    draw_text(sheet, EDGE, 52.0, fit_size(title, TITLE_PX, BOLD_LETTER_WIDTH, room_px),
              "font-weight=\"700\" " INK, title);
    draw_text(sheet, EDGE, 86.0, fit_size(subtitle, TEXT_PX, PH_PLOT_LETTER_WIDTH, room_px),
              "" FAINT_INK, subtitle);
}

bool ph_plot_write(const ph_plot* plot, FILE* file)
{
    PH_ASSERT(plot->series_count >= 0 && plot->series_count <= PH_PLOT_SERIES_MAX);
    plot_sheet sheet = {.plot = plot, .file = file};
    lay_out(&sheet);
    write_head(&sheet);
    if (sheet.has_legend) {
        draw_legend(&sheet);
    }
    draw_axes(&sheet);
    for (int s = 0; s < plot->series_count; ++s) {
        draw_line(&sheet, s);
    }
    for (int s = 0; s < plot->series_count; ++s) {
        draw_points(&sheet, s);
        draw_name(&sheet, s);
    }
    if (sheet.is_empty) {
        draw_text(&sheet, (sheet.x.low_px + sheet.x.high_px) / 2.0,
                  (sheet.y.low_px + sheet.y.high_px) / 2.0, TEXT_PX,
                  "text-anchor=\"middle\" " FAINT_INK, "no data");
    }
    fputs("</svg>\n", file);
    return fflush(file) == 0 && ferror(file) == 0;
}
