// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A plot is one well-formed SVG that holds every point, name and unit, whatever the texts and
// figures are.

#include "support/test_support.h"

#include "kit/plot.h"
#include "kit/plot_axis.h"
#include "kit/profile_colours.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double KBPS[] = {4, 8, 13, 26, 52};
static const double SCORE[] = {131, 99, 80.5, 47, 24.5};
static const double BUCKETS[] = {118, 86, 62, 38.5, 21};
static const ph_plot_series SERIES[] = {
    {.name = "classic, score", .x = KBPS, .y = SCORE, .count = 5},
    {.name = "classic, buckets", .x = KBPS, .y = BUCKETS, .count = 5}};

static ph_plot make_plot(void)
{
    return (ph_plot){.title = "Error over budget",
                     .subtitle = "32 viewers",
                     .description = "Errors fall.",
                     .x = {.label = "budget", .unit = "kbit/s", .is_log = true},
                     .y = {.label = "mean error", .unit = "mrad"},
                     .series = SERIES,
                     .series_count = 2};
}

// The caller frees it.
static char* draw(const ph_plot* plot)
{
    FILE* file = tmpfile();
    assert_non_null(file);
    assert_true(ph_plot_write(plot, file));
    const long size = ftell(file);
    rewind(file);
    char* svg = calloc((size_t)size + 1, 1);
    assert_int_equal(fread(svg, 1, (size_t)size, file), size);
    fclose(file);
    return svg;
}

static int count_of(const char* text, const char* part)
{
    int count = 0;
    for (const char* at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        ++count;
    }
    return count;
}

// Tags open and close in order, and attributes are quoted: enough to notice every slip of a pen.
static void assert_well_formed(const char* svg)
{
    char open[16][16];
    int depth = 0;
    for (const char* at = strchr(svg, '<'); at != NULL; at = strchr(at + 1, '<')) {
        const char* end = strchr(at, '>');
        assert_non_null(end);
        int quotes = 0;
        for (const char* c = at + 1; c < end; ++c) {
            assert_int_not_equal(*c, '<');
            quotes += *c == '"';
        }
        assert_int_equal(quotes % 2, 0);
        char name[16] = {0};
        sscanf(at[1] == '/' ? at + 2 : at + 1, "%15[a-z]", name);
        if (at[1] == '/') {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (end[-1] != '/') {
            assert_true(depth < 16);
            memcpy(open[depth++], name, sizeof name);
        }
    }
    assert_int_equal(depth, 0);
    assert_int_equal(count_of(svg, "nan"), 0);
    assert_int_equal(count_of(svg, "inf"), 0);
}

static void a_plot_shows_every_point_name_and_unit(void** state)
{
    (void)state;
    const ph_plot plot = make_plot();
    char* svg = draw(&plot);
    assert_well_formed(svg);
    assert_int_equal(count_of(svg, "<circle "), 5); // one per point of the first series
    assert_int_equal(count_of(svg, "<title>classic, buckets: "), 5);
    assert_int_equal(count_of(svg, "<title>classic, score: 80.5 mrad at 13 kbit/s</title>"), 1);
    assert_int_equal(count_of(svg, ">classic, score</text>"), 1); // at the end of the line
    assert_int_equal(count_of(svg, ">classic, buckets</text>"), 1);
    assert_int_equal(count_of(svg, ">budget, kbit/s</text>"), 1);
    assert_int_equal(count_of(svg, ">mean error, mrad</text>"), 1);
    assert_int_equal(count_of(svg, ">Error over budget</text>"), 1);
    assert_int_equal(count_of(svg, ">32 viewers</text>"), 1);
    // The budgets that were tried are the ticks.
    assert_int_equal(count_of(svg, ">13</text>"), 1);
    assert_int_equal(count_of(svg, ">52</text>"), 1);
    free(svg);
}

static void a_legend_names_what_has_no_room_at_its_end(void** state)
{
    (void)state;
    const double equal[] = {100, 50};
    ph_plot_series series[PH_PLOT_SERIES_MAX];
    for (int s = 0; s < PH_PLOT_SERIES_MAX; ++s) {
        series[s] = (ph_plot_series){.name = "name", .x = KBPS, .y = equal, .count = 2};
    }
    ph_plot plot = make_plot();
    plot.series = series;
    plot.series_count = PH_PLOT_SERIES_MAX;
    char* svg = draw(&plot);
    assert_well_formed(svg);
    assert_true(count_of(svg, ">name</text>") >= PH_PLOT_SERIES_MAX);
    assert_int_equal(count_of(svg, "<circle "),
                     2 * 2 + 2); // two points and the legend, of two series
    free(svg);
}

static void lengths_are_written_as_people_say_them(void** state)
{
    (void)state;
    const double mm[] = {12000, 2000, 1500, 999.96, 20};
    const ph_plot_series series[] = {{.name = "far", .x = KBPS, .y = mm, .count = 5}};
    ph_plot plot = make_plot();
    plot.y = (ph_plot_side){.label = "position error", .is_log = true, .is_length_mm = true};
    plot.series = series;
    plot.series_count = 1;
    char* svg = draw(&plot);
    assert_well_formed(svg);
    assert_int_equal(count_of(svg, ">position error</text>"), 1);
    assert_int_equal(count_of(svg, ">20 m</text>"), 1);
    assert_int_equal(count_of(svg, ">1 m</text>"), 1);
    assert_int_equal(count_of(svg, ">500 mm</text>"), 1);
    assert_int_equal(count_of(svg, ">20 mm</text>"), 1);
    assert_int_equal(count_of(svg, "<title>far: 1.5 m at 13 kbit/s</title>"), 1);
    assert_int_equal(count_of(svg, "<title>far: 1 m at 26 kbit/s</title>"), 1);
    free(svg);
}

// The x of every label beside the y axis is its right end: what is left of it must hold the label.
static void labels_of_the_y_axis_are_on_the_paper(void** state)
{
    (void)state;
    const double mm[] = {900, 200};
    const ph_plot_series series[] = {{.name = "a", .x = KBPS, .y = mm, .count = 2}};
    ph_plot plot = make_plot();
    plot.y = (ph_plot_side){.is_log = true, .is_length_mm = true};
    plot.series = series;
    plot.series_count = 1;
    char* svg = draw(&plot);
    const char* label = strstr(svg, ">500 mm</text>");
    assert_non_null(label);
    while (strncmp(label, "<text x=\"", 9) != 0) {
        --label;
    }
    assert_true(atof(label + 9) > 7 * 0.6 * 20.0);
    free(svg);
}

static void a_series_may_bring_its_colour_and_paper_may_be_dark(void** state)
{
    (void)state;
    const ph_plot_series series[] = {
        {.name = "pinhole", .x = KBPS, .y = SCORE, .count = 5, .colour = PH_COLOUR_PINHOLE}};
    ph_plot plot = make_plot();
    plot.series = series;
    plot.series_count = 1;
    char* svg = draw(&plot);
    assert_int_equal(count_of(svg, "#1b9e77"), 3); // line, points, name
    assert_int_equal(count_of(svg, "@media (prefers-color-scheme: dark)"), 1);
    assert_string_equal(ph_profile_colour("classic"), "#d95f02");
    assert_string_equal(ph_profile_colour("snapshot"), "#7570b3");
    assert_string_equal(ph_profile_colour("pinhole"), "#1b9e77");
    assert_null(ph_profile_colour("asked"));
    free(svg);
}

static void a_plot_needs_nothing_from_elsewhere_and_speaks_to_screen_readers(void** state)
{
    (void)state;
    const ph_plot plot = make_plot();
    char* svg = draw(&plot);
    assert_int_equal(count_of(svg, "http"), 1); // the name of the language
    assert_int_equal(count_of(svg, "<script"), 0);
    assert_int_equal(count_of(svg, "url("), 0);
    assert_int_equal(count_of(svg, "href"), 0);
    assert_int_equal(count_of(svg, "role=\"img\""), 1);
    assert_int_equal(count_of(svg, "<title id=\"plot-title\">Error over budget</title>"), 1);
    assert_int_equal(count_of(svg, "Errors fall. classic, score: 131 mrad at 4 kbit/s, 99"), 1);
    // Its own paper, over all of it.
    assert_int_equal(count_of(svg, "<rect "), 1);
    free(svg);
}

static void texts_are_escaped_and_hold_no_strange_bytes(void** state)
{
    (void)state;
    ph_plot plot = make_plot();
    plot.title = "a < b & \"c\" > d";
    plot.subtitle = "bell\a, \xE2\x82\xAC";
    plot.description = "broken \xFF\xC3";
    plot.x.unit = "<&>";
    plot.y.label = "</svg>";
    char* svg = draw(&plot);
    assert_well_formed(svg);
    assert_int_equal(count_of(svg, ">a &lt; b &amp; &quot;c&quot; &gt; d</text>"), 1);
    assert_int_equal(count_of(svg, ">bell , \xE2\x82\xAC</text>"), 1);
    assert_int_equal(count_of(svg, "broken ??"), 1);
    assert_int_equal(count_of(svg, "</svg>"), 1);
    free(svg);
}

static void points_without_a_place_leave_a_gap(void** state)
{
    (void)state;
    const double y[] = {10, -1, 5, NAN, 2};
    const ph_plot_series series[] = {{.name = "holes", .x = KBPS, .y = y, .count = 5}};
    ph_plot plot = make_plot();
    plot.y.is_log = true;
    plot.series = series;
    plot.series_count = 1;
    char* svg = draw(&plot);
    assert_int_equal(count_of(svg, "<circle "), 3);
    const char* line = strstr(svg, "stroke-linecap=\"round\" d=\"M");
    assert_non_null(line);
    const char* end = strstr(line, "\"/>");
    int pieces = 0;
    for (const char* c = line; c < end; ++c) {
        pieces += *c == 'M';
        assert_int_not_equal(*c, 'L');
    }
    assert_int_equal(pieces, 3);
    free(svg);
}

static void a_plot_without_data_says_so(void** state)
{
    (void)state;
    const ph_plot empty = {0};
    char* svg = draw(&empty);
    assert_well_formed(svg);
    assert_int_equal(count_of(svg, ">no data</text>"), 1);
    free(svg);
    const double nowhere[] = {NAN};
    const ph_plot_series series[] = {{.x = nowhere, .y = nowhere, .count = 1}};
    ph_plot plot = {.series = series, .series_count = 1, .x.is_log = true};
    plot.x.unit = NULL;
    svg = draw(&plot);
    assert_int_equal(count_of(svg, ">no data</text>"), 1);
    free(svg);
}

// The height of every name at the end of a line, as drawn.
static int find_name_heights(const char* svg, double* heights)
{
    int count = 0;
    const char* bold = "font-weight=\"600\"";
    for (const char* at = strstr(svg, bold); at != NULL; at = strstr(at + 1, bold)) {
        const char* y = at;
        while (strncmp(y, " y=\"", 4) != 0) {
            --y;
        }
        heights[count++] = atof(y + 4);
    }
    return count;
}

static void names_at_the_ends_of_lines_never_overlap(void** state)
{
    (void)state;
    test_rng rng = {.state = 2024};
    for (int round = 0; round < 300; ++round) {
        double y[PH_PLOT_SERIES_MAX][2];
        ph_plot_series series[PH_PLOT_SERIES_MAX];
        for (int s = 0; s < PH_PLOT_SERIES_MAX; ++s) {
            y[s][0] = 100.0;
            y[s][1] = test_rng_unit(&rng) * 100.0;
            series[s] = (ph_plot_series){.name = "name", .x = KBPS, .y = y[s], .count = 2};
        }
        ph_plot plot = make_plot();
        plot.series = series;
        plot.series_count = 1 + (int)test_rng_below(&rng, PH_PLOT_SERIES_MAX);
        char* svg = draw(&plot);
        double heights[PH_PLOT_SERIES_MAX];
        const int count = find_name_heights(svg, heights);
        assert_true(plot.series_count > 2 || count == plot.series_count);
        for (int i = 0; i < count * count; ++i) {
            const double gap_px = fabs(heights[i / count] - heights[i % count]);
            assert_true(i / count == i % count || gap_px > 23.8);
        }
        free(svg);
    }
}

static void a_full_disk_is_an_error(void** state)
{
    (void)state;
    FILE* file = fopen("/dev/full", "w");
    if (file == NULL) {
        skip();
    }
    const ph_plot plot = make_plot();
    assert_false(ph_plot_write(&plot, file));
    fclose(file);
}

static void assert_ticks(const ph_plot_axis* axis, const double* ticks, int count)
{
    assert_int_equal(axis->tick_count, count);
    for (int i = 0; i < count; ++i) {
        assert_true(fabs(axis->ticks[i] - ticks[i]) <= 1e-9 * fabs(ticks[i]));
    }
}

static void ticks_are_round_numbers(void** state)
{
    (void)state;
    ph_plot_axis axis = ph_plot_axis_make(false, 24.5, 131.0);
    assert_ticks(&axis, (const double[]){0, 50, 100, 150}, 4);
    axis = ph_plot_axis_make(false, 0.003, 0.06);
    assert_ticks(&axis, (const double[]){0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06}, 7);
    axis = ph_plot_axis_make(false, -3.0, 12.0);
    assert_ticks(&axis, (const double[]){-5, 0, 5, 10, 15}, 5);
    axis = ph_plot_axis_make(true, 15.0, 131.0);
    assert_ticks(&axis, (const double[]){10, 20, 50, 100, 200}, 5);
    axis = ph_plot_axis_make(true, 0.02, 0.02);
    assert_ticks(&axis, (const double[]){0.02, 0.05}, 2);
    axis = ph_plot_axis_make(true, 1.0, 1e5);
    assert_ticks(&axis, (const double[]){1, 10, 100, 1000, 1e4, 1e5}, 6);
}

static void an_axis_holds_what_it_was_made_for(void** state)
{
    (void)state;
    test_rng rng = {.state = 7};
    for (int round = 0; round < 20000; ++round) {
        const bool is_log = round % 2 == 0;
        const double scale = pow(10.0, test_rng_unit(&rng) * 24.0 - 12.0);
        const double a = (test_rng_unit(&rng) - (is_log ? 0.0 : 0.5)) * scale;
        const double b = test_rng_unit(&rng) * scale * (round % 3 == 0 ? 1e6 : 1.0);
        const double low = fmin(a, b), high = fmax(a, b);
        if (!ph_plot_axis_holds(is_log, low) || !ph_plot_axis_holds(is_log, high)) {
            continue;
        }
        ph_plot_axis axis = ph_plot_axis_make(is_log, low, high);
        axis.low_px = 0.0;
        axis.high_px = 1000.0;
        assert_true(ph_plot_axis_px(&axis, low) >= -0.01);
        assert_true(ph_plot_axis_px(&axis, high) <= 1000.01);
        assert_in_range(axis.tick_count, 2, PH_PLOT_TICKS_MAX);
        for (int i = 1; i < axis.tick_count; ++i) {
            assert_true(axis.ticks[i] > axis.ticks[i - 1]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plot_shows_every_point_name_and_unit),
        cmocka_unit_test(a_legend_names_what_has_no_room_at_its_end),
        cmocka_unit_test(lengths_are_written_as_people_say_them),
        cmocka_unit_test(labels_of_the_y_axis_are_on_the_paper),
        cmocka_unit_test(a_series_may_bring_its_colour_and_paper_may_be_dark),
        cmocka_unit_test(a_plot_needs_nothing_from_elsewhere_and_speaks_to_screen_readers),
        cmocka_unit_test(texts_are_escaped_and_hold_no_strange_bytes),
        cmocka_unit_test(points_without_a_place_leave_a_gap),
        cmocka_unit_test(a_plot_without_data_says_so),
        cmocka_unit_test(names_at_the_ends_of_lines_never_overlap),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(ticks_are_round_numbers),
        cmocka_unit_test(an_axis_holds_what_it_was_made_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
