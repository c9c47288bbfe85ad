// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From top to bottom: one run, one way, all of them, JSON.

#include "kit/need.h"

#include <math.h>

// Where the curves have points, beside the ends of the range: each some 1.6 times the one before.
static const double GRID_KBPS[] = {2, 3, 5, 8, 13, 20, 32, 50, 80, 125, 200};

enum {
    GRID_COUNT = sizeof GRID_KBPS / sizeof GRID_KBPS[0],
    // Halves a factor of 1.6 so often: to 1.5 %.
    HALVINGS = 5,
};

_Static_assert(GRID_COUNT + 2 + HALVINGS <= PH_NEED_POINTS_MAX, "all points have room");

typedef struct search {
    const ph_need_def* def;
    ph_pool* pool;
    ph_need* need;
    ph_fault* fault;
    int run_count; // budgets that there will be, at most
    int done_count;
} search;

// ---- one run

static void tell(search* of)
{
    if (of->def->on_progress != NULL) {
        of->def->on_progress(of->def->context, of->need);
    }
}

static void add_point(ph_need_way* way, ph_need_point point)
{
    int at = way->point_count++;
    while (at > 0 && way->curve[at - 1].kbps > point.kbps) {
        way->curve[at] = way->curve[at - 1];
        --at;
    }
    way->curve[at] = point;
}

static bool run_once(search* of, ph_sim_def sim, double* error_mrad)
{
    ph_sim_result result;
    sim.skips_standstill = true;
    sim.dump = NULL;
    sim.progress = NULL;
    sim.on_second = NULL;
    if (!ph_sim_run(&sim, of->def->recording, of->def->schema, of->pool, &result, of->fault)) {
        return false;
    }
    *error_mrad = result.figures.error_mrad.mean;
    return true;
}

static bool note_point(search* of, ph_way way, ph_need_point point)
{
    add_point(&of->need->ways[way], point);
    ++of->done_count;
    of->need->progress = (double)of->done_count / of->run_count;
    return true;
}

// Budgets of a curve are tried from the lowest up: when the last two gave exactly the same, all is sent
// that there is, and more would not change it.
static bool is_saturated(const ph_need_way* way, double kbps)
{
    const int count = way->point_count;
    const ph_need_point* last = count > 1 ? &way->curve[count - 1] : NULL;
    return last != NULL && kbps > last->kbps && last->error_mrad == last[-1].error_mrad;
}

static bool try_budget(search* of, ph_way way, double kbps, double* error_mrad)
{
    ph_sim_def sim = of->def->sims[way];
    const ph_need_way* known = &of->need->ways[way];
    if (is_saturated(known, kbps)) {
        *error_mrad = known->curve[known->point_count - 1].error_mrad;
        return note_point(of, way, (ph_need_point){kbps, *error_mrad});
    }
    sim.kbps = kbps;
    if (!run_once(of, sim, error_mrad)) {
        return false;
    }
    if (sim.hz > 0.0 && way != PH_WAY_PINHOLE) {
        double own_choice_mrad;
        sim.hz = 0.0;
        if (!run_once(of, sim, &own_choice_mrad)) {
            return false;
        }
        *error_mrad = fmin(*error_mrad, own_choice_mrad);
    }
    return note_point(of, way, (ph_need_point){kbps, *error_mrad});
}

// ---- one way

// Budgets of the grid within the range, and both its ends.
static int choose_budgets(const ph_need_def* def, double budgets[GRID_COUNT + 2])
{
    int count = 0;
    budgets[count++] = def->low_kbps;
    for (int i = 0; i < GRID_COUNT; ++i) {
        if (GRID_KBPS[i] > def->low_kbps && GRID_KBPS[i] < def->high_kbps) {
            budgets[count++] = GRID_KBPS[i];
        }
    }
    budgets[count++] = def->high_kbps;
    return count;
}

// Between a budget that does not do and one that does.
static bool halve(search* of, ph_way way, double low, double high)
{
    ph_need_way* found = &of->need->ways[way];
    for (int i = 0; i < HALVINGS; ++i) {
        const double middle = sqrt(low * high);
        double error_mrad;
        if (!try_budget(of, way, middle, &error_mrad)) {
            return false;
        }
        if (error_mrad <= of->need->error_mrad) {
            high = middle;
        } else {
            low = middle;
        }
        tell(of);
    }
    found->is_known = true;
    found->needs_kbps = high;
    tell(of);
    return true;
}

static bool find_need(search* of, ph_way way)
{
    double budgets[GRID_COUNT + 2];
    const int count = choose_budgets(of->def, budgets);
    ph_need_way* found = &of->need->ways[way];
    int first = count; // of the budgets that do
    for (int i = 0; i < count; ++i) {
        double error_mrad;
        if (!try_budget(of, way, budgets[i], &error_mrad)) {
            return false;
        }
        first = error_mrad <= of->need->error_mrad && first == count ? i : first;
        tell(of);
    }
    if (first == 0) {
        found->is_known = true;
        found->needs_kbps = budgets[0];
    }
    if (first == 0 || first == count) {
        of->done_count += HALVINGS;
        return true;
    }
    return halve(of, way, budgets[first - 1], budgets[first]);
}

static bool draw_curve(search* of, ph_way way)
{
    double budgets[GRID_COUNT + 2];
    const int count = choose_budgets(of->def, budgets);
    for (int i = 0; i < count; ++i) {
        double error_mrad;
        const bool is_had = budgets[i] == of->need->kbps;
        if (!is_had && !try_budget(of, way, budgets[i], &error_mrad)) {
            return false;
        }
        tell(of);
    }
    return true;
}

// ---- all of them

static int count_runs(const ph_need_def* def)
{
    double budgets[GRID_COUNT + 2];
    const int each = choose_budgets(def, budgets);
    int count = 1;
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        count += def->is_asked[way] ? each + (way == PH_WAY_PINHOLE ? 0 : HALVINGS) : 0;
    }
    return count;
}

bool ph_need_find(const ph_need_def* def, ph_pool* pool, ph_need* need, ph_fault* fault)
{
    *need = (ph_need){
        .kbps = def->sims[PH_WAY_PINHOLE].kbps,
        .error_mrad = NAN,
        .high_kbps = def->high_kbps,
    };
    search of = {
        .def = def, .pool = pool, .need = need, .fault = fault, .run_count = count_runs(def)};
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        need->ways[way].is_asked = def->is_asked[way];
    }
    double error_mrad;
    if (!try_budget(&of, PH_WAY_PINHOLE, need->kbps, &error_mrad)) {
        return false;
    }
    need->error_mrad = error_mrad;
    need->ways[PH_WAY_PINHOLE].is_known = true;
    need->ways[PH_WAY_PINHOLE].needs_kbps = need->kbps;
    tell(&of);
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        if (def->is_asked[way] && way != PH_WAY_PINHOLE && !find_need(&of, (ph_way)way)) {
            return false;
        }
    }
    if (def->is_asked[PH_WAY_PINHOLE] && !draw_curve(&of, PH_WAY_PINHOLE)) {
        return false;
    }
    need->progress = 1.0;
    need->is_done = true;
    tell(&of);
    return true;
}

// ---- JSON

static void write_way(const ph_need* need, ph_way way, ph_json* json)
{
    const ph_need_way* of = &need->ways[way];
    ph_json_open(json, NULL);
    ph_json_text(json, "name", ph_way_name(way));
    ph_json_number(json, "needs_kbps", of->is_known ? of->needs_kbps : NAN);
    if (!of->is_known) {
        ph_json_number(json, "beyond_kbps", need->high_kbps);
    }
    ph_json_open_list(json, "curve");
    for (int i = 0; i < of->point_count; ++i) {
        ph_json_open_list(json, NULL);
        ph_json_number(json, NULL, of->curve[i].kbps);
        ph_json_number(json, NULL, of->curve[i].error_mrad);
        ph_json_close(json);
    }
    ph_json_close(json);
    ph_json_close(json);
}

void ph_need_write(const ph_need* need, ph_json* json)
{
    ph_json_number(json, "kbps", need->kbps);
    ph_json_number(json, "error_mrad", need->error_mrad);
    ph_json_open_list(json, "ways");
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        if (need->ways[way].is_asked) {
            write_way(need, (ph_way)way, json);
        }
    }
    ph_json_close(json);
    ph_json_bool(json, "is_done", need->is_done);
    ph_json_number(json, "progress", need->progress);
}
