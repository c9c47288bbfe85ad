// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Frames about a page's own session: the scene when it begins, the truth at every tick, and what the figures on the
// page are made of. docs/wire_feed.md has their fields.

#include "demo_page_frames.h"

#include "scene_help.h"

#include "kit/scene.h"

#include <pinhole/stats.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SOURCE_MAX = 64 };

// ---- the scene

static void print_source(int scene, char text[SOURCE_MAX])
{
    snprintf(text, SOURCE_MAX, "scene:%s", ph_scene_name(scene));
}

const char* demo_page_find_source(const demo_page* page, const char* name)
{
    char scene[SOURCE_MAX];
    for (int i = 0; ph_scene_name(i) != NULL; ++i) {
        print_source(i, scene);
        if (strcmp(scene, name) == 0 && app_scene_moves(scene)) {
            return name;
        }
    }
    for (int i = 0; i < page->def.recording_count; ++i) {
        if (strcmp(app_source_name(page->def.recordings[i]), name) == 0) {
            return page->def.recordings[i];
        }
    }
    return NULL;
}

static void write_sources(ph_json* json, const demo_page* page)
{
    char scene[SOURCE_MAX];
    ph_json_open_list(json, "sources");
    for (int i = 0; ph_scene_name(i) != NULL; ++i) {
        print_source(i, scene);
        if (app_scene_moves(scene)) {
            ph_json_text(json, NULL, scene);
        }
    }
    for (int i = 0; i < page->def.recording_count; ++i) {
        ph_json_text(json, NULL, app_source_name(page->def.recordings[i]));
    }
    ph_json_close(json);
}

static void write_controls(ph_json* json, const demo_page* page)
{
    const demo_page_controls* controls = &page->controls;
    const demo_scene* scene = page->def.stage->scene;
    ph_json_open(json, "controls");
    ph_json_number(json, "kbps", controls->kbps);
    ph_json_number(json, "loss", controls->loss_percent);
    ph_json_number(json, "rtt", controls->rtt_ms);
    ph_json_number(json, "jitter", controls->jitter_ms);
    ph_json_number(json, "hz", controls->hz);
    ph_json_text(json, "scheduler", controls->scheduler);
    ph_json_text(json, "source", app_source_name(scene->source));
    ph_json_integer(json, "entities", scene->material.recording->entity_count);
    ph_json_integer(json, "viewer", controls->viewer);
    ph_json_bool(json, "snapshot", controls->has_snapshot);
    ph_json_close(json);
}

static void write_ranges(ph_json* json)
{
    ph_json_open(json, "ranges");
    for (int kind = 0; kind < DEMO_REQUEST_RANGES; ++kind) {
        const demo_request_range range = demo_request_range_of((demo_request_kind)kind);
        ph_json_open_list(json, demo_request_name((demo_request_kind)kind));
        ph_json_number(json, NULL, range.low);
        ph_json_number(json, NULL, range.high);
        ph_json_close(json);
    }
    ph_json_close(json);
    ph_json_open_list(json, "schedulers");
    for (int i = 0; demo_request_schedulers[i] != NULL; ++i) {
        ph_json_text(json, NULL, demo_request_schedulers[i]);
    }
    ph_json_close(json);
}

static ph_feed_scene describe(const demo_page* page)
{
    const demo_scene* scene = page->scene;
    const ph_recording* recording = scene->material.recording;
    const ph_sim_stage* stage = scene->ways[0];
    ph_feed_scene of = {
        .scene = page->scene_count,
        .source = app_source_name(scene->source),
        .rate_hz = recording->rate_hz,
        .tick_us = stage->tick_us,
        .schema = scene->material.schema_text,
        .ground = &recording->ground,
        .entity_count = recording->entity_count,
        .viewer = page->controls.viewer,
        .radius_mm = (int32_t)(stage->def->radius_m * 1000.0),
        .slots = stage->def->slots,
        .cell_mm = ph_world_def_default().vision.cell_mm,
        .is_live = true,
        .way_count = page->way_count,
    };
    memcpy(of.bounds_mm, scene->bounds_mm, sizeof of.bounds_mm);
    for (int i = 0; i < page->way_count; ++i) {
        of.ways[i] = page->ways[i].way;
        of.terms[i] = ph_way_sender_terms(page->ways[i].sender);
    }
    return of;
}

void demo_page_write_scene(demo_page* page)
{
    const ph_feed_scene scene = describe(page);
    ph_json* json = ph_feed_open_scene(&page->feed, &scene);
    write_sources(json, page);
    write_controls(json, page);
    write_ranges(json);
    ph_feed_close(&page->feed);
}

void demo_page_write_truth(demo_page* page)
{
    const ph_sim_stage* stage = page->scene->ways[0];
    const ph_feed_truth truth = {
        .time_us = demo_stage_tick_us(page->def.stage),
        .tick = (uint32_t)stage->tick,
        .source = stage->source,
        .eye = page->entity,
        .most = DEMO_PAGE_TRUTH_MAX,
    };
    ph_feed_write_truth(&page->feed, &truth);
}

// ---- why an entity has the priority it has

static const char* state_name(ph_explain_state state)
{
    static const char* const NAMES[] = {"unseen", "newcomer", "entering", "entered"};
    return NAMES[state];
}

static void write_explanation(ph_json* json, const ph_explanation* of)
{
    ph_json_open(json, NULL);
    ph_json_text(json, "state", state_name(of->state));
    ph_json_integer(json, "slot", of->slot);
    ph_json_integer(json, "dirty", (int64_t)of->dirty);
    ph_json_number(json, "distance_mm", of->distance_mm);
    ph_json_number(json, "weight", of->weight);
    ph_json_number(json, "score", of->score);
    ph_json_number(json, "priority", of->priority);
    ph_json_number(json, "mileage_mm", of->mileage_mm);
    ph_json_number(json, "change", of->change);
    ph_json_number(json, "since_sent_ms", of->since_sent_ms);
    ph_json_number(json, "wait_ms", of->wait_ms);
    ph_json_number(json, "range_mm", of->range_mm);
    ph_json_number(json, "error_mm", of->error_mm);
    ph_json_number(json, "error_mrad", of->error_mrad);
    ph_json_number(json, "growth_mrad_s", of->growth_mrad_s);
    ph_json_number(json, "heading_rad", of->heading_rad);
    ph_json_number(json, "position_bits", of->position_bits);
    ph_json_close(json);
}

// Snapshots have no priorities; and an entity that is away has none.
static bool explain(const demo_page_way* way, int entity, ph_explanation* of)
{
    const ph_entity_id id = way->stage->source->entity_id[entity];
    return way->way != PH_WAY_SNAPSHOT && id.index1 != 0 &&
           ph_viewer_explain(way->world, way->viewer, id, of) == PH_OK;
}

void demo_page_write_explain(demo_page* page)
{
    if (!page->has_selected || page->scene == NULL) {
        return;
    }
    const int entity = ph_recording_find(page->scene->material.recording, page->selected);
    if (entity < 0) {
        return;
    }
    const double now_us = (double)demo_stage_tick_us(page->def.stage);
    double served_us = NAN;
    ph_json* json = ph_feed_open(&page->feed, PH_FEED_EXPLAIN);
    ph_json_integer(json, "entity", page->selected);
    ph_json_open_list(json, "ways");
    for (int i = 0; i < page->way_count; ++i) {
        ph_explanation of = {0};
        if (!explain(&page->ways[i], entity, &of)) {
            ph_json_null(json, NULL);
            continue;
        }
        write_explanation(json, &of);
        const double at_us = now_us - of.since_sent_ms * 1000.0;
        served_us = of.since_sent_ms >= 0.0 ? fmax(served_us, at_us) : served_us;
    }
    ph_json_close(json);
    ph_json_number(json, "served_us", floor(served_us));
    ph_feed_close(&page->feed);
}

// ---- four times a second

static double lost_share(const ph_sim_counts* counts)
{
    return counts->resolved > 0 ? (double)counts->lost / (double)counts->resolved : NAN;
}

static void write_way(ph_json* json, const demo_page* page, const demo_page_way* way)
{
    const demo_page_controls* controls = &page->controls;
    const ph_budget_def budget = demo_page_budget(controls);
    const ph_sim_counts counts = ph_way_sender_counts(way->sender);
    const bool is_profile = way->way != PH_WAY_SNAPSHOT;
    ph_viewer_stats stats;
    ph_viewer_get_stats(way->world, way->viewer, &stats);
    ph_json_open(json, NULL);
    ph_json_integer(json, "token_bits", ph_way_sender_token_bits(way->sender));
    ph_json_integer(json, "burst_bits", ph_budget_depth_bits(&budget, way->stage->schema));
    ph_json_number(json, "budget_used_pct", 100.0 * way->sent_kbps / controls->kbps);
    ph_json_number(json, "sent_kbps", way->sent_kbps);
    ph_json_number(json, "lost_pct", 100.0 * (is_profile ? stats.loss : lost_share(&counts)));
    // Of a sender of snapshots these are not known.
    ph_json_number(json, "rtt_ms", is_profile && stats.rtt_samples > 0 ? stats.rtt_ms : NAN);
    ph_json_number(json, "in_flight", is_profile ? (double)stats.in_flight_count : NAN);
    ph_json_number(json, "longest_wait_ms", is_profile ? stats.longest_wait_ms : NAN);
    ph_json_close(json);
}

ph_json* demo_page_open_state(demo_page* page, int page_count)
{
    const demo_stage* stage = page->def.stage;
    ph_json* json = ph_feed_open(&page->feed, PH_FEED_STATE);
    ph_json_integer(json, "time_us", (int64_t)demo_stage_now_us(stage));
    ph_json_bool(json, "is_paused", stage->is_paused);
    ph_json_integer(json, "pages", page_count);
    write_controls(json, page);
    ph_json_open_list(json, "ways");
    for (int i = 0; i < page->way_count; ++i) {
        write_way(json, page, &page->ways[i]);
    }
    ph_json_close(json);
    return json;
}
