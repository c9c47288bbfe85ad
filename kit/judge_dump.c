// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Two passes over the text: one for the viewers, one that plays. About two million rows a second.

#include "kit/judge_dump.h"

#include "kit/csv.h"
#include "kit/derive.h"
#include "kit/meter.h"
#include "kit/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIME_MS,
    VIEWER,
    ENTITY,
    X_MM,
    Y_MM,
    Z_MM,
    HEADING_DEG,
    ROTATION, // four cells, which a file need not have
    CELL_COUNT = ROTATION + 4,
    VIEWERS_MAX = 4096
};

static const char* const CELL_NAMES[CELL_COUNT] = {
    "time_ms", "viewer", "entity", "x_mm", "y_mm", "z_mm", "heading_deg", "qx", "qy", "qz", "qw"};

// Of a tick, to either side of it: files say times to a thousandth of a millisecond.
#define TIME_TOLERANCE 0.1
#define POSITION_MAX_MM 1099511627776.0
#define HEADING_MAX_DEG 1000000.0
#define ROTATION_TOLERANCE 0.01

typedef struct judged_viewer {
    int entity;
    ph_meter* meter;
    ph_shown* shown;  // at this tick
    int* shown_ticks; // by entity: the last tick with a row of it, from 1
    int shown_count;
} judged_viewer;

typedef struct judging {
    const ph_judge_dump_def* def;
    ph_fault* fault;
    ph_csv csv;
    judged_viewer* viewers;
    int viewer_count;
    int* viewer_of; // by entity: its viewer, or -1
    ph_schema* schema;
    ph_source* source;
    ph_truth_history* history;
    int tick; // that is being filled
    int64_t row_count;
    int cell_count; // of a row
} judging;

typedef struct dump_row {
    int tick;
    int viewer; // entities of the truth
    int entity;
    double position_mm[3];
    double heading_deg;
    bool has_heading;
    double rotation[4];
    int rotation_count; // of its cells that are filled
} dump_row;

// ---- rows

static bool refuse(const judging* in, const ph_csv_cell* cell, int field, const char* expected)
{
    return ph_fault_set(in->fault, in->csv.line, cell->column, "%s: expected %s, found '%s'",
                        CELL_NAMES[field], expected, ph_csv_cell_quote(cell).text);
}

static bool read_tick(const judging* in, const ph_csv_cell* cell, double time_ms, int* tick)
{
    const ph_recording* truth = in->def->truth;
    const double exact = time_ms * truth->rate_hz / 1000.0 - truth->first_tick;
    const double nearest = floor(exact + 0.5);
    if (!(nearest >= 0.0 && nearest < truth->tick_count)) {
        return refuse(in, cell, TIME_MS, "a time that the truth has");
    }
    if (fabs(exact - nearest) > TIME_TOLERANCE) {
        return refuse(in, cell, TIME_MS, "the time of a tick of the truth");
    }
    *tick = (int)nearest;
    return true;
}

static bool read_entity(const judging* in, const ph_csv_cell* cell, int field, double number,
                        int* entity)
{
    const bool is_id = number >= 0.0 && number <= (double)UINT32_MAX && floor(number) == number;
    *entity = is_id ? ph_recording_find(in->def->truth, (uint32_t)number) : -1;
    return *entity >= 0 || refuse(in, cell, field, "an entity of the truth");
}

static bool read_cell(const judging* in, const ph_csv_cell* cell, int field, dump_row* row)
{
    ph_csv_cell_number read;
    if (field == HEADING_DEG && cell->length == 0) {
        row->has_heading = false;
        return true;
    }
    if (field >= ROTATION && cell->length == 0) {
        return true;
    }
    if (!ph_csv_cell_read_number(cell, &read)) {
        return refuse(in, cell, field, "a number");
    }
    const double number = ph_cell_number_value(read);
    switch (field) {
    case TIME_MS:
        return read_tick(in, cell, number, &row->tick);
    case VIEWER:
        return read_entity(in, cell, field, number, &row->viewer);
    case ENTITY:
        return read_entity(in, cell, field, number, &row->entity);
    case HEADING_DEG:
        row->has_heading = true;
        row->heading_deg = number;
        return fabs(number) <= HEADING_MAX_DEG ||
               refuse(in, cell, field, "at most a million degrees");
    case ROTATION:
    case ROTATION + 1:
    case ROTATION + 2:
    case ROTATION + 3:
        row->rotation[field - ROTATION] = number;
        ++row->rotation_count;
        return fabs(number) <= 1.0 + ROTATION_TOLERANCE || refuse(in, cell, field, "-1 to 1");
    default:
        row->position_mm[field - X_MM] = number;
        return fabs(number) <= POSITION_MAX_MM ||
               refuse(in, cell, field, "at most 2^40 millimetres");
    }
}

// All of a rotation or nothing, and a unit quaternion.
static bool check_rotation(const judging* in, const dump_row* row)
{
    double square = 0.0;
    for (int k = 0; k < 4; ++k) {
        square += row->rotation[k] * row->rotation[k];
    }
    if (row->rotation_count == 0 ||
        (row->rotation_count == 4 && fabs(square - 1.0) <= 2.0 * ROTATION_TOLERANCE)) {
        return true;
    }
    return ph_fault_set(in->fault, in->csv.line, 0,
                        "qx, qy, qz and qw are a unit quaternion, or all of them are empty");
}

// @return False at the end, or with *is_wrong set.
static bool next_row(judging* in, dump_row* row, bool* is_wrong)
{
    if (!ph_csv_next_line(&in->csv)) {
        return false;
    }
    *is_wrong = true;
    ph_csv_cell cell;
    row->rotation_count = 0;
    for (int field = 0; field < in->cell_count; ++field) {
        if (!ph_csv_next_cell(&in->csv, &cell)) {
            return ph_fault_set(in->fault, in->csv.line, ph_csv_end_column(&in->csv),
                                "the line ends before %s", CELL_NAMES[field]);
        }
        if (!read_cell(in, &cell, field, row)) {
            return false;
        }
    }
    if (ph_csv_next_cell(&in->csv, &cell)) {
        return ph_fault_set(in->fault, in->csv.line, cell.column, "the line goes on behind %s",
                            CELL_NAMES[in->cell_count - 1]);
    }
    if (!check_rotation(in, row)) {
        return false;
    }
    *is_wrong = false;
    return true;
}

static bool read_names(judging* in)
{
    ph_csv_cell cell;
    in->csv = ph_csv_make(in->def->shown, in->def->shown_length);
    if (!ph_csv_next_line(&in->csv)) {
        return ph_fault_set(in->fault, 0, 0, "it is empty");
    }
    int field = 0;
    while (ph_csv_next_cell(&in->csv, &cell) && field < CELL_COUNT &&
           ph_csv_cell_is(&cell, CELL_NAMES[field])) {
        ++field;
    }
    in->cell_count = field;
    const bool is_form = field == CELL_COUNT || field == ROTATION;
    return (is_form && in->csv.at == NULL) ||
           ph_fault_set(
               in->fault, in->csv.line, 0,
               "the first line must be time_ms,viewer,entity,x_mm,y_mm,z_mm,heading_deg, or "
               "that and qx,qy,qz,qw behind it");
}

// ---- viewers

static bool add_viewer(judging* in, int entity)
{
    if (in->viewer_of[entity] >= 0) {
        return true;
    }
    if (in->viewer_count == VIEWERS_MAX) {
        return ph_fault_set(in->fault, in->csv.line, 0, "more than %d viewers", VIEWERS_MAX);
    }
    const size_t entities = (size_t)in->def->truth->entity_count;
    judged_viewer* viewer = &in->viewers[in->viewer_count];
    const ph_meter_def def = {
        .history = in->history,
        .viewer = entity,
        .radius_mm = in->def->radius_mm,
        .slots = in->def->slots,
    };
    viewer->entity = entity;
    viewer->shown = calloc(entities, sizeof *viewer->shown);
    viewer->shown_ticks = calloc(entities, sizeof *viewer->shown_ticks);
    in->viewer_of[entity] = in->viewer_count++;
    return (viewer->shown != NULL && viewer->shown_ticks != NULL &&
            ph_meter_create(&def, &viewer->meter) == PH_OK) ||
           ph_fault_set_memory(in->fault);
}

static bool find_viewers(judging* in)
{
    dump_row row = {0};
    bool is_wrong = false;
    while (next_row(in, &row, &is_wrong)) {
        if (!add_viewer(in, row.viewer)) {
            return false;
        }
        ++in->row_count;
    }
    return !is_wrong && (in->viewer_count > 0 ||
                         ph_fault_set(in->fault, 0, 0, "there is no row below the names"));
}

// ---- frames

static bool end_tick(judging* in)
{
    for (int i = 0; i < in->viewer_count; ++i) {
        judged_viewer* viewer = &in->viewers[i];
        ph_meter_frame(viewer->meter, viewer->shown, viewer->shown_count);
        viewer->shown_count = 0;
    }
    if (in->def->progress != NULL) {
        in->def->progress(in->def->progress_context, in->tick + 1, in->def->truth->tick_count);
    }
    return true;
}

static void begin_tick(judging* in, int tick)
{
    if (tick > 0) {
        ph_source_step(in->source);
    }
    const ph_truth_moment now = {
        .present = in->source->present,
        .x_mm = in->source->x_mm,
        .y_mm = in->source->y_mm,
        .z_mm = in->source->z_mm,
        .heading_deg = in->source->heading_deg,
        .rotation = (const double(*)[4])in->source->rotation,
        .is_jump = in->source->is_jump,
    };
    ph_truth_history_step(in->history, &now);
    in->tick = tick;
}

static bool show(judging* in, const dump_row* row)
{
    judged_viewer* viewer = &in->viewers[in->viewer_of[row->viewer]];
    if (row->entity == row->viewer) {
        return true; // never judged
    }
    if (viewer->shown_ticks[row->entity] == row->tick + 1) {
        return ph_fault_set(in->fault, in->csv.line, 0,
                            "this entity has a row for this viewer at this time already");
    }
    viewer->shown_ticks[row->entity] = row->tick + 1;
    viewer->shown[viewer->shown_count++] = (ph_shown){
        .entity = row->entity,
        .has_heading = row->has_heading,
        .position_mm = {row->position_mm[0], row->position_mm[1], row->position_mm[2]},
        .heading_deg = row->has_heading ? row->heading_deg : 0.0,
        .has_rotation = row->rotation_count == 4,
        .rotation = {row->rotation[0], row->rotation[1], row->rotation[2], row->rotation[3]},
    };
    return true;
}

static bool play_rows(judging* in)
{
    dump_row row = {0};
    bool is_wrong = false;
    begin_tick(in, 0);
    while (next_row(in, &row, &is_wrong)) {
        if (row.tick < in->tick) {
            return ph_fault_set(in->fault, in->csv.line, 1, "rows are sorted by time");
        }
        while (in->tick < row.tick) {
            end_tick(in);
            begin_tick(in, in->tick + 1);
        }
        if (!show(in, &row)) {
            return false;
        }
    }
    for (end_tick(in); in->tick + 1 < in->def->truth->tick_count; end_tick(in)) {
        begin_tick(in, in->tick + 1);
    }
    return !is_wrong;
}

// ---- the whole

static bool sum_up(judging* in, ph_judge_dump_result* result)
{
    ph_figures total;
    if (ph_figures_create(&total, in->def->truth->rate_hz, NULL) != PH_OK) {
        return ph_fault_set_memory(in->fault);
    }
    for (int i = 0; i < in->viewer_count; ++i) {
        ph_figures_merge(&total, ph_meter_figures(in->viewers[i].meter));
    }
    *result = (ph_judge_dump_result){
        .figures = ph_figures_summarise(&total),
        .viewer_count = in->viewer_count,
        .row_count = in->row_count,
    };
    ph_figures_destroy(&total);
    return true;
}

static bool open_truth(judging* in)
{
    const ph_recording* truth = in->def->truth;
    const ph_truth_history_def history = {.entity_count = truth->entity_count,
                                          .rate_hz = truth->rate_hz};
    in->viewers = calloc(VIEWERS_MAX, sizeof *in->viewers);
    in->viewer_of = malloc((size_t)truth->entity_count * sizeof *in->viewer_of);
    if (in->viewers == NULL || in->viewer_of == NULL ||
        ph_truth_history_create(&history, &in->history) != PH_OK) {
        return ph_fault_set_memory(in->fault);
    }
    for (int e = 0; e < truth->entity_count; ++e) {
        in->viewer_of[e] = -1;
    }
    in->schema = ph_derive_schema(truth, in->fault);
    in->source = in->schema != NULL ? ph_source_create(truth, in->schema, in->fault) : NULL;
    return in->source != NULL;
}

bool ph_judge_dump(const ph_judge_dump_def* def, ph_judge_dump_result* result, ph_fault* fault)
{
    judging in = {.def = def, .fault = fault};
    const bool is_judged = open_truth(&in) && read_names(&in) && find_viewers(&in) &&
                           read_names(&in) && play_rows(&in) && sum_up(&in, result);
    for (int i = 0; i < in.viewer_count; ++i) {
        ph_meter_destroy(in.viewers[i].meter);
        free(in.viewers[i].shown);
        free(in.viewers[i].shown_ticks);
    }
    ph_source_destroy(in.source);
    ph_schema_destroy(in.schema);
    ph_truth_history_destroy(in.history);
    free(in.viewer_of);
    free(in.viewers);
    return is_judged;
}
