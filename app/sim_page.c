// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From top to bottom: which ways, the runs, the feed, the file. Once per program.

#include "sim_page.h"

#include "scene_help.h"
#include "web_assets.h"
#include "web_page.h"

#include "kit/gzip.h"
#include "kit/need.h"
#include "kit/observers.h"
#include "kit/recording.h"
#include "kit/sim_capture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Of a feed before it is packed: more would never become a page.
#define FEED_SIZE_MAX ((size_t)256 << 20)
// Four letters for three bytes.
#define PACKED_SIZE_MAX (SIM_PAGE_SIZE_MAX / 4 * 3)
// The range in which a budget is looked for, as in the demo; and how many viewers, and for how long, are
// enough for that: it takes some forty runs.
#define NEED_LOW_KBPS 2.0
#define NEED_HIGH_KBPS 200.0
#define NEED_SECONDS 15.0
enum { NEED_VIEWERS = 4 };
// Share of the work that the runs of the ways are; the rest is the search for a budget.
#define RUNS_SHARE 0.2

typedef struct page_way {
    sim_parts parts;
    ph_sim_def sim;
} page_way;

typedef struct page_work {
    const sim_page* page;
    ph_fault* fault;
    page_way ways[PH_WAY_COUNT];
    ph_sim_capture captures[PH_WAY_COUNT];
    int way_count;
    int run_count; // that are done
    ph_feed feed;
} page_work;

// ---- which ways

static bool is_word(const char* word, const char* other)
{
    return word != NULL && strcmp(word, other) == 0;
}

static bool is_shown(const sim_options* options, const char* profile)
{
    const char* compared = options->compared;
    return !is_word(profile, "snapshot") || is_word(options->asked.profile, profile) ||
           is_word(compared, profile) || is_word(compared, "all");
}

// Each profile as it is, but the one that is asked for with its parts exchanged.
static void choose_ways(page_work* work)
{
    const sim_options* options = work->page->options;
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        const char* profile = ph_way_name((ph_way)way);
        const char* asked = options->asked.profile != NULL ? options->asked.profile : "pinhole";
        if (!is_shown(options, profile)) {
            continue;
        }
        page_way* of = &work->ways[work->way_count];
        of->parts = (sim_parts){.profile = profile};
        if (is_word(asked, profile)) {
            of->parts = options->asked;
        }
        sim_parts_complete(&of->parts);
        of->sim = options->def;
        of->sim.kbps = options->budgets_kbps[0];
        of->sim.skips_standstill = true;
        sim_parts_apply(&of->parts, &of->sim);
        work->captures[work->way_count] =
            (ph_sim_capture){.place = work->way_count, .size_max = FEED_SIZE_MAX};
        ++work->way_count;
    }
}

// ---- the runs

static void tell_run(void* context, double done)
{
    const page_work* work = context;
    work->page->progress(work->page->context,
                         RUNS_SHARE * (work->run_count + done) / work->way_count);
}

static bool refuse_size(const page_work* work, double excess)
{
    const ph_recording* recording = work->page->material->recording;
    const double seconds = (double)recording->tick_count / recording->rate_hz;
    return ph_fault_set(work->fault, 0, 0,
                        "the page would have more than %d MB: play less of it, as with '--seconds "
                        "%.0f'",
                        SIM_PAGE_SIZE_MAX / 1000000, fmax(10.0, floor(0.9 * seconds / excess)));
}

static bool run_way(page_work* work, int place)
{
    const sim_page* page = work->page;
    ph_sim_def sim = work->ways[place].sim;
    ph_sim_result result;
    sim.viewers = 1;
    sim.capture = &work->captures[place];
    sim.progress = tell_run;
    sim.progress_context = work;
    if (!ph_sim_run(&sim, page->material->recording, page->material->schema, page->pool, &result,
                    work->fault)) {
        return false;
    }
    ++work->run_count;
    return !work->captures[place].is_cut || refuse_size(work, 4.0);
}

static bool run_ways(page_work* work)
{
    for (int i = 0; i < work->way_count; ++i) {
        if (!run_way(work, i)) {
            return false;
        }
    }
    return true;
}

// ---- the feed

static void write_controls(const page_work* work, ph_json* json)
{
    const sim_options* options = work->page->options;
    ph_json_open(json, "controls");
    ph_json_number(json, "kbps", options->budgets_kbps[0]);
    ph_json_number(json, "loss", options->loss_pct);
    ph_json_number(json, "rtt", options->def.rtt_ms);
    ph_json_number(json, "jitter", options->def.jitter_ms);
    ph_json_text(json, "source", app_source_name(options->source));
    ph_json_integer(json, "entities", work->page->material->recording->entity_count);
    ph_json_integer(json, "viewer", work->captures[0].viewer);
    ph_json_bool(json, "snapshot", work->way_count == PH_WAY_COUNT);
    ph_json_close(json);
}

static void write_scene(page_work* work)
{
    const sim_options* options = work->page->options;
    const ph_sim_material* material = work->page->material;
    const ph_sim_capture* first = &work->captures[0];
    ph_feed_scene scene = {
        .scene = 1,
        .source = app_source_name(options->source),
        .rate_hz = material->recording->rate_hz,
        .tick_us = first->tick_us,
        .schema = material->schema_text,
        .ground = &material->recording->ground,
        .entity_count = material->recording->entity_count,
        .viewer = first->viewer,
        .radius_mm = (int32_t)(options->def.radius_m * 1000.0),
        .slots = options->def.slots,
        .cell_mm = ph_vision_def_default().cell_mm,
        .show_delay_ms = first->show_delay_ms,
        .way_count = work->way_count,
    };
    ph_recording_bounds(material->recording, scene.bounds_mm);
    for (int i = 0; i < work->way_count; ++i) {
        scene.names[i] = work->ways[i].parts.profile;
        scene.ways[i] = work->captures[i].way;
        scene.terms[i] = work->captures[i].terms;
    }
    ph_json* json = ph_feed_open_scene(&work->feed, &scene);
    write_controls(work, json);
    ph_feed_close(&work->feed);
}

static void tell_need(void* context, const ph_need* so_far)
{
    const page_work* work = context;
    work->page->progress(work->page->context, RUNS_SHARE + (1.0 - RUNS_SHARE) * so_far->progress);
}

// From the beginning until all of them have been there for a while.
static double need_seconds(const ph_recording* recording, int viewers)
{
    int entities[NEED_VIEWERS];
    const int count = ph_observers_choose(recording, viewers, entities);
    int latest_tick = 0;
    for (int i = 0; i < count; ++i) {
        const ph_span* first = &recording->spans[recording->first_span[entities[i]]];
        latest_tick = first->first_tick > latest_tick ? first->first_tick : latest_tick;
    }
    return latest_tick / recording->rate_hz + NEED_SECONDS;
}

static bool write_need(page_work* work)
{
    const sim_page* page = work->page;
    const double kbps = page->options->budgets_kbps[0];
    if (kbps == 0.0) {
        return true; // without a limit there is nothing to ask for
    }
    ph_need_def def = {
        .recording = page->material->recording,
        .schema = page->material->schema,
        .low_kbps = fmin(NEED_LOW_KBPS, kbps),
        .high_kbps = fmax(NEED_HIGH_KBPS, kbps),
        .on_progress = tell_need,
        .context = work,
    };
    const int asked_viewers = page->options->def.viewers;
    const int viewers = asked_viewers < NEED_VIEWERS ? asked_viewers : NEED_VIEWERS;
    const double seconds = need_seconds(def.recording, viewers);
    for (int i = 0; i < work->way_count; ++i) {
        ph_way way;
        ph_way_find(work->ways[i].parts.profile, &way);
        def.is_asked[way] = true;
        def.sims[way] = work->ways[i].sim;
        def.sims[way].viewers = viewers;
        def.sims[way].seconds = seconds;
    }
    ph_need need;
    if (!ph_need_find(&def, page->pool, &need, work->fault)) {
        return false;
    }
    ph_need_write(&need, ph_feed_open(&work->feed, PH_FEED_NEED));
    ph_feed_close(&work->feed);
    return true;
}

// ---- the file

static bool write_file(page_work* work)
{
    uint8_t* packed;
    size_t size;
    if (!ph_gzip_pack(work->feed.bytes, work->feed.size, &packed, &size, work->fault)) {
        return false;
    }
    const bool fits = size <= PACKED_SIZE_MAX;
    const bool is_done = fits && web_page_write(work->page->file, packed, size);
    free(packed);
    if (!fits) {
        return refuse_size(work, (double)size / PACKED_SIZE_MAX);
    }
    return is_done || ph_fault_set(work->fault, 0, 0, "it cannot be written: the disk may be full");
}

static bool compose(page_work* work)
{
    write_scene(work);
    if (!write_need(work)) {
        return false;
    }
    ph_sim_capture_merge(work->captures, work->way_count, &work->feed);
    if (work->feed.is_failed) {
        return ph_fault_set_memory(work->fault);
    }
    return write_file(work);
}

bool sim_page_write(const sim_page* page, ph_fault* fault)
{
    page_work work = {.page = page, .fault = fault};
    choose_ways(&work);
    const bool is_done = run_ways(&work) && compose(&work);
    for (int i = 0; i < work.way_count; ++i) {
        ph_sim_capture_destroy(&work.captures[i]);
    }
    ph_feed_destroy(&work.feed);
    return is_done;
}
