// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Ten times a second. From top to bottom: a title with the page's address, both maps, their figures with
// bars, errors over time where there is room, a sentence, the keys.

#include "demo_picture.h"

#include "demo_map.h"
#include "demo_summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FIGURE_ROWS = 5,
    FOOT_ROWS = 2,
    CHART_ROWS = 6,
    CHART_HEIGHT_MIN = 38, // of the terminal, for a chart
    CHART_SECONDS = 120,
    LEGEND_WIDTH_MIN = 76, // of a map
    LEGEND_CELLS = 42,
    SCALE_DOTS = 24,
    TEXT_MAX = 200,
};
// Half of the smaller side of a map shows so far, at first.
#define REACH_MM 90000.0
#define ZOOM_STEP 1.4142135623730951

// ---- the layout

typedef struct layout {
    int width;
    int height;
    int map_top;
    int map_height;
    int figures_top;
    int chart_top; // 0: none
    int foot_top;
    int column_width; // of one side
} layout;

static layout layout_of(const demo_canvas* canvas)
{
    const bool has_chart = canvas->height >= CHART_HEIGHT_MIN;
    const int air = has_chart ? 1 : 0; // rows between the parts
    layout to = {
        .width = canvas->width,
        .height = canvas->height,
        .map_top = 2,
        .foot_top = canvas->height - FOOT_ROWS,
        .column_width = (canvas->width - 1) / 2,
    };
    to.chart_top = has_chart ? to.foot_top - air - CHART_ROWS - 1 : 0;
    to.figures_top = (has_chart ? to.chart_top - air : to.foot_top) - FIGURE_ROWS;
    to.map_height = to.figures_top - to.map_top;
    return to;
}

static int column_of(const layout* to, int way)
{
    return way == PH_WAY_CLASSIC ? 0 : to->column_width + 1;
}

static demo_style style_of(int way)
{
    return way == PH_WAY_CLASSIC ? DEMO_STYLE_CLASSIC : DEMO_STYLE_PINHOLE;
}

// ---- the title

static void draw_title(const demo_picture_def* def, const layout* to, demo_canvas* canvas)
{
    const demo_scene* scene = demo_players_get_def(def->players)->stage->scene;
    const int entities = scene->material.recording->entity_count;
    const int players = demo_players_count(def->players);
    char page[TEXT_MAX] = "";
    char whole[TEXT_MAX];
    char brief[TEXT_MAX];
    char least[TEXT_MAX];
    if (def->address != NULL) {
        snprintf(page, sizeof page, " page: %s", def->address);
    }
    snprintf(whole, sizeof whole, " · %.60s · %d entities · %d + %d players over UDP",
             scene->source, entities, players, players);
    snprintf(brief, sizeof brief, " · %.60s · %d entities", scene->source, entities);
    snprintf(least, sizeof least, " · %.60s", scene->source);
    const char* const texts[] = {whole, brief, least, "", NULL};
    const int end = demo_canvas_text(canvas, 1, 0, DEMO_STYLE_TITLE, "Pinhole");
    const int room = to->width - 1 - end - demo_canvas_length(page);
    demo_canvas_text(canvas, end, 0, DEMO_STYLE_FAINT, demo_canvas_fitting(texts, room));
    demo_canvas_text_right(canvas, 0, to->width - 1, 0, DEMO_STYLE_BOLD, page);
}

// ---- the maps

static double mm_per_dot(const demo_picture* picture, const layout* to)
{
    const int dots =
        2 * to->column_width < 4 * to->map_height ? 2 * to->column_width : 4 * to->map_height;
    return 2.0 * REACH_MM / dots / pow(ZOOM_STEP, picture->zoom);
}

// So that a usual error of classic takes a dot or two.
static int magnification(demo_picture* picture, const demo_players* players, double dot_mm)
{
    static const int STEPS[] = {1, 2, 5, 10, 20, 50, 100};
    const demo_figures recent = demo_players_recent(players, PH_WAY_CLASSIC);
    if (picture->magnified > 0) {
        return picture->magnified;
    }
    if (recent.seconds > 0.0 && recent.error_mm > 0.0) {
        const double wanted = 1.5 * dot_mm / recent.error_mm;
        const bool is_far_off =
            wanted > 2.2 * picture->magnified_auto || wanted < 0.7 * picture->magnified_auto;
        for (size_t i = 0; is_far_off && i < sizeof STEPS / sizeof STEPS[0]; ++i) {
            if (i == 0 || STEPS[i] <= wanted * 1.2) {
                picture->magnified_auto = STEPS[i];
            }
        }
    }
    return picture->magnified_auto > 0 ? picture->magnified_auto : 1;
}

// ├── 20 m ──┤ in the lower left corner of a map.
static void draw_scale(const demo_map_def* map, demo_canvas* canvas)
{
    const int dots = map->area.width / 2 < SCALE_DOTS ? map->area.width / 2 : SCALE_DOTS;
    const double scale_mm = demo_map_scale_mm(map->mm_per_dot, dots);
    const int cells = (int)(scale_mm / map->mm_per_dot / 2.0 + 0.5);
    const int x = map->area.x + 1;
    const int y = map->area.y + map->area.height - 1;
    char text[TEXT_MAX];
    for (int i = 0; i < cells; ++i) {
        demo_canvas_put(canvas, x + i, y, DEMO_STYLE_PLAIN,
                        i == 0           ? 0x251C
                        : i == cells - 1 ? 0x2524
                                         : 0x2500);
    }
    snprintf(text, sizeof text, " %g %s ", scale_mm < 1000.0 ? scale_mm : scale_mm / 1000.0,
             scale_mm < 1000.0 ? "mm" : "m");
    const int end = demo_canvas_text(canvas, x + cells, y, DEMO_STYLE_PLAIN, text);
    if (map->magnified > 1) {
        char middle[TEXT_MAX];
        char brief[TEXT_MAX];
        snprintf(text, sizeof text, " errors drawn %d times as long", map->magnified);
        snprintf(middle, sizeof middle, " errors drawn × %d", map->magnified);
        snprintf(brief, sizeof brief, " errors × %d", map->magnified);
        const char* const texts[] = {text, middle, brief, NULL};
        const int room = map->area.width - (map->area.width >= LEGEND_WIDTH_MIN ? LEGEND_CELLS : 2);
        demo_canvas_text(canvas, end, y, DEMO_STYLE_FAINT,
                         demo_canvas_fitting(texts, x + room - end));
    }
}

static void draw_heading(const layout* to, int way, demo_canvas* canvas)
{
    static const char* const TEXTS[DEMO_PLAYER_WAYS][4] = {
        {"  what player 1 is shown; the truth is faint", "  what player 1 is shown",
         "  for player 1", NULL},
        {"  the same player, the same network, the same budget", "  the same player", "", NULL},
    };
    const int x = column_of(to, way) + 1;
    const int y = to->map_top - 1;
    const int end = demo_canvas_text(canvas, x, y, style_of(way), ph_way_name((ph_way)way));
    demo_canvas_text(canvas, end, y, DEMO_STYLE_FAINT,
                     demo_canvas_fitting(TEXTS[way], x + to->column_width - 1 - end));
}

static void draw_maps(demo_picture* picture, const demo_picture_def* def, const layout* to,
                      demo_canvas* canvas)
{
    const double dot_mm = mm_per_dot(picture, to);
    const int magnified = magnification(picture, def->players, dot_mm);
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        const demo_map_def map = {
            .screen = demo_players_screen(def->players, (ph_way)way, 0),
            .area = {.x = column_of(to, way),
                     .y = to->map_top,
                     .width = to->column_width,
                     .height = to->map_height},
            .mm_per_dot = dot_mm,
            .magnified = magnified,
        };
        draw_heading(to, way, canvas);
        demo_map_draw(&map, canvas);
        draw_scale(&map, canvas);
    }
    if (to->column_width >= LEGEND_WIDTH_MIN) {
        demo_map_draw_legend(canvas, to->width - 1, to->map_top + to->map_height - 1);
    }
    for (int y = to->map_top - 1; y < to->figures_top + FIGURE_ROWS; ++y) {
        demo_canvas_put(canvas, to->column_width, y, DEMO_STYLE_FRAME, 0x2502);
    }
}

// ---- figures

typedef struct figure {
    const char* name;
    const char* unit;
    double values[DEMO_PLAYER_WAYS];
    int digits;
    const char* const* extra[DEMO_PLAYER_WAYS]; // in place of a bar: texts of several lengths
} figure;

static void draw_figure(const figure* one, const layout* to, int row, demo_canvas* canvas)
{
    const double most = fmax(one->values[0], one->values[1]);
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        const int x = column_of(to, way);
        char text[60];
        demo_canvas_text(canvas, x + 1, row, DEMO_STYLE_FAINT, one->name);
        snprintf(text, sizeof text, "%.*f", one->digits, one->values[way]);
        demo_canvas_text_right(canvas, x + 9, x + 15, row, style_of(way), text);
        const int end = demo_canvas_text(canvas, x + 16, row, DEMO_STYLE_PLAIN, one->unit);
        const int bar = x + 23;
        if (one->extra[way] != NULL) {
            demo_canvas_text(canvas, end + 1, row, DEMO_STYLE_PLAIN,
                             demo_canvas_fitting(one->extra[way], x + to->column_width - 2 - end));
        } else if (most > 0.0) {
            demo_canvas_bar(canvas, bar, row, x + to->column_width - 1 - bar,
                            one->values[way] / most, style_of(way));
        }
    }
}

static void draw_figures(const demo_picture_def* def, const layout* to, demo_canvas* canvas)
{
    const demo_figures f[DEMO_PLAYER_WAYS] = {demo_players_recent(def->players, PH_WAY_CLASSIC),
                                              demo_players_recent(def->players, PH_WAY_PINHOLE)};
    char whole[DEMO_PLAYER_WAYS][TEXT_MAX];
    char brief[DEMO_PLAYER_WAYS][TEXT_MAX];
    const char* network[DEMO_PLAYER_WAYS][4];
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        snprintf(whole[way], TEXT_MAX, "lost, %.0f ms round trip", f[way].rtt_ms);
        snprintf(brief[way], TEXT_MAX, "lost, %.0f ms", f[way].rtt_ms);
        network[way][0] = whole[way];
        network[way][1] = brief[way];
        network[way][2] = "lost";
        network[way][3] = NULL;
    }
    const figure rows[FIGURE_ROWS] = {
        {"sent", "kbit/s", {f[0].wire_kbps, f[1].wire_kbps}, 1, {0}},
        {"error", "mrad", {f[0].error_mrad, f[1].error_mrad}, 2, {0}},
        {"", "mm", {f[0].error_mm, f[1].error_mm}, 0, {0}},
        {"missing", "%", {f[0].missing_pct, f[1].missing_pct}, 1, {0}},
        {"network", "%", {f[0].lost_pct, f[1].lost_pct}, 1, {network[0], network[1]}},
    };
    for (int i = 0; i < FIGURE_ROWS; ++i) {
        draw_figure(&rows[i], to, to->figures_top + i, canvas);
    }
}

// ---- errors over time

static void remember(demo_picture* picture, const demo_players* players)
{
    const demo_figures recent = demo_players_recent(players, PH_WAY_CLASSIC);
    const double now_us = (double)demo_stage_tick_us(demo_players_get_def(players)->stage);
    if (recent.seconds == 0.0 || now_us < picture->history_us + 1e6) {
        return;
    }
    picture->history_us = now_us;
    if (picture->history_count == DEMO_HISTORY_MAX) {
        for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
            float* values = picture->history_mrad[way];
            memmove(values, values + 1, (DEMO_HISTORY_MAX - 1) * sizeof *values);
        }
        --picture->history_count;
    }
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        picture->history_mrad[way][picture->history_count] =
            (float)demo_players_recent(players, (ph_way)way).error_mrad;
    }
    ++picture->history_count;
}

static float most_of(const demo_picture* picture, int first)
{
    float most = 0.0f;
    for (int i = first; i < picture->history_count; ++i) {
        most = fmaxf(most, fmaxf(picture->history_mrad[0][i], picture->history_mrad[1][i]));
    }
    return most;
}

static void draw_curve(const demo_picture* picture, int way, float most, const demo_rect* area,
                       demo_canvas* canvas)
{
    const int right = 2 * area->width - 1;
    const int bottom = 4 * area->height - 1;
    int before[2] = {-1, 0};
    for (int age = 0; age < picture->history_count && age <= CHART_SECONDS; ++age) {
        const float value = picture->history_mrad[way][picture->history_count - 1 - age];
        const int at[2] = {right - right * age / CHART_SECONDS,
                           bottom - (int)((float)bottom * value / most + 0.5f)};
        demo_canvas_dot(canvas, area, at[0], at[1], style_of(way));
        if (age > 0) {
            demo_canvas_line(canvas, area, before, at, style_of(way));
        }
        before[0] = at[0];
        before[1] = at[1];
    }
}

static void draw_chart(const demo_picture* picture, const layout* to, demo_canvas* canvas)
{
    const demo_rect area = {
        .x = 10, .y = to->chart_top + 1, .width = to->width - 11, .height = CHART_ROWS};
    const int count = picture->history_count;
    const float most = most_of(picture, count > CHART_SECONDS ? count - 1 - CHART_SECONDS : 0);
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "position error of all players in the last %d s, lower is better",
             CHART_SECONDS);
    int end = demo_canvas_text(canvas, 1, to->chart_top, DEMO_STYLE_FAINT, text);
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        end = demo_canvas_text(canvas, end + 2, to->chart_top, style_of(way),
                               ph_way_name((ph_way)way));
    }
    if (most > 0.0f) {
        snprintf(text, sizeof text, "%.1f mrad", (double)most);
        demo_canvas_text_right(canvas, 0, 9, area.y, DEMO_STYLE_FAINT, text);
        demo_canvas_text_right(canvas, 0, 9, area.y + area.height - 1, DEMO_STYLE_FAINT, "0");
        draw_curve(picture, PH_WAY_CLASSIC, most, &area, canvas);
        draw_curve(picture, PH_WAY_PINHOLE, most, &area, canvas);
    }
}

// ---- the foot

static void draw_keys(const demo_players_def* def, const layout* to, demo_canvas* canvas)
{
    char whole[TEXT_MAX];
    char brief[TEXT_MAX];
    char least[TEXT_MAX];
    const double loss = 100.0 * def->loss;
    snprintf(whole, sizeof whole,
             "space pause   s step   l/L loss %g %%   b/B budget %g kbit/s   +/- zoom   e how long "
             "errors are drawn   q quit",
             loss, def->kbps);
    snprintf(brief, sizeof brief,
             "space pause  s step  l/L loss %g %%  b/B %g kbit/s  +/- zoom  e errors  q quit", loss,
             def->kbps);
    snprintf(least, sizeof least, "space s  l/L loss %g %%  b/B %g kbit/s  +/-  e  q quit", loss,
             def->kbps);
    const char* const texts[] = {whole, brief, least, NULL};
    demo_canvas_text(canvas, 1, to->foot_top + 1, DEMO_STYLE_FAINT,
                     demo_canvas_fitting(texts, to->width - 2));
}

static void draw_foot(const demo_picture_def* def, const layout* to, demo_canvas* canvas)
{
    const demo_players_def* of = demo_players_get_def(def->players);
    const demo_figures figures[DEMO_PLAYER_WAYS] = {
        demo_players_recent(def->players, PH_WAY_CLASSIC),
        demo_players_recent(def->players, PH_WAY_PINHOLE)};
    char sentence[DEMO_SENTENCE_MAX];
    demo_summary_sentence(def->players, figures, to->width < 80, sentence);
    if (def->note != NULL) {
        demo_canvas_text(canvas, 1, to->foot_top, DEMO_STYLE_WARNING, def->note);
    } else {
        demo_canvas_text(canvas, 1, to->foot_top, DEMO_STYLE_BOLD, sentence);
    }
    if (of->stage->is_paused) {
        demo_canvas_text_right(canvas, 0, to->width - 1, to->foot_top, DEMO_STYLE_WARNING,
                               " paused");
    }
    draw_keys(of, to, canvas);
}

// ---- all of it

static void draw_hint(demo_canvas* canvas)
{
    char text[80];
    snprintf(text, sizeof text, "Pinhole: %d x %d needed.", DEMO_PICTURE_WIDTH_MIN,
             DEMO_PICTURE_HEIGHT_MIN);
    demo_canvas_text(canvas, 0, 0, DEMO_STYLE_PLAIN, text);
    demo_canvas_text(canvas, 0, 1, DEMO_STYLE_PLAIN, "Please enlarge");
    demo_canvas_text(canvas, 0, 2, DEMO_STYLE_PLAIN, "the window; q quits.");
}

void demo_picture_draw(demo_picture* picture, const demo_picture_def* def, demo_canvas* canvas)
{
    if (canvas->width < DEMO_PICTURE_WIDTH_MIN || canvas->height < DEMO_PICTURE_HEIGHT_MIN) {
        draw_hint(canvas);
        return;
    }
    const int scene = demo_players_get_def(def->players)->stage->scene->number;
    if (scene != picture->scene) {
        *picture = (demo_picture){.scene = scene};
    }
    const layout to = layout_of(canvas);
    remember(picture, def->players);
    draw_title(def, &to, canvas);
    draw_maps(picture, def, &to, canvas);
    draw_figures(def, &to, canvas);
    if (to.chart_top > 0) {
        draw_chart(picture, &to, canvas);
    }
    draw_foot(def, &to, canvas);
}
