// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per tick: some 100 ns for each entity of the truth and each that is shown.

#include "kit/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRUTH_KIND 2

enum {
    HEAD_SIZE = 1 + 8 + 4 + 4, // kind, time, tick, count
    ROW_SIZE = 4 + 12 + 2,
    HEADING_NONE = 65535,
    HEADING_TURN = 36000,
    WAYS_MAX = 8,
    CAPACITY_MAX = 1 << 20,
    SLOTS_MAX = 65535,
};

// By id, open addressing: the number of an entity plus 1; 0: free.
typedef struct id_table {
    uint32_t* ids;
    int32_t* numbers1;
    uint32_t mask;
} id_table;

struct ph_judge {
    ph_judge_def def;
    ph_truth_history* history;
    id_table table;
    int number_count;
    int own; // number of the viewer's entity; -1: not seen yet
    bool* present;
    int32_t* place_mm[3];
    float* heading_deg;
    ph_shown* shown;
    int shown_count;
    ph_meter* whole[WAYS_MAX];
    ph_meter* second[WAYS_MAX];
    int32_t ticks_measured[WAYS_MAX]; // up to this tick, not included
};

// ---- ids and numbers

static uint32_t place_of(const id_table* table, uint32_t id)
{
    uint32_t place = (id * 2654435761u) & table->mask;
    while (table->numbers1[place] != 0 && table->ids[place] != id) {
        place = (place + 1) & table->mask;
    }
    return place;
}

// @return -1 when it has none.
static int number_of(const ph_judge* judge, uint32_t id)
{
    return judge->table.numbers1[place_of(&judge->table, id)] - 1;
}

// @return -1 when there are no more.
static int give_number(ph_judge* judge, uint32_t id)
{
    const uint32_t place = place_of(&judge->table, id);
    if (judge->table.numbers1[place] == 0 && judge->number_count < judge->def.capacity) {
        judge->table.ids[place] = id;
        judge->table.numbers1[place] = ++judge->number_count;
    }
    return judge->table.numbers1[place] - 1;
}

// ---- memory

static bool create_table(id_table* table, int capacity)
{
    uint32_t size = 16;
    while (size < 2u * (uint32_t)capacity) {
        size *= 2;
    }
    table->mask = size - 1;
    table->ids = calloc(size, sizeof *table->ids);
    table->numbers1 = calloc(size, sizeof *table->numbers1);
    return table->ids != NULL && table->numbers1 != NULL;
}

static bool create_arrays(ph_judge* judge)
{
    const size_t count = (size_t)judge->def.capacity;
    judge->present = calloc(count, sizeof *judge->present);
    judge->heading_deg = calloc(count, sizeof *judge->heading_deg);
    judge->shown = calloc((size_t)judge->def.capacity, sizeof *judge->shown);
    bool is_done = judge->present != NULL && judge->heading_deg != NULL && judge->shown != NULL;
    for (int i = 0; i < 3; ++i) {
        judge->place_mm[i] = calloc(count, sizeof *judge->place_mm[i]);
        is_done = is_done && judge->place_mm[i] != NULL;
    }
    return is_done && create_table(&judge->table, judge->def.capacity);
}

// The viewer's own entity has a number from the start, for the meters.
static bool create_meters(ph_judge* judge)
{
    const ph_truth_history_def history = {
        .entity_count = judge->def.capacity,
        .rate_hz = judge->def.rate_hz,
    };
    if (ph_truth_history_create(&history, &judge->history) != PH_OK) {
        return false;
    }
    const ph_meter_def def = {
        .history = judge->history,
        .viewer = judge->own,
        .radius_mm = judge->def.radius_mm,
        .slots = judge->def.slots,
    };
    for (int way = 0; way < judge->def.way_count; ++way) {
        if (ph_meter_create(&def, &judge->whole[way]) != PH_OK ||
            ph_meter_create(&def, &judge->second[way]) != PH_OK) {
            return false;
        }
    }
    return true;
}

static bool is_def_possible(const ph_judge_def* def)
{
    return def->rate_hz >= 1.0 && def->rate_hz <= 1000.0 && def->radius_mm > 0 && def->slots > 0 &&
           def->slots <= SLOTS_MAX && def->way_count > 0 && def->way_count <= WAYS_MAX &&
           def->capacity > 0 && def->capacity <= CAPACITY_MAX && def->id_count >= 0 &&
           def->id_count < def->capacity;
}

ph_judge* ph_judge_create(const ph_judge_def* def)
{
    ph_judge* judge = is_def_possible(def) ? calloc(1, sizeof *judge) : NULL;
    if (judge == NULL) {
        return NULL;
    }
    judge->def = *def;
    judge->def.ids = NULL;
    if (!create_arrays(judge)) {
        ph_judge_destroy(judge);
        return NULL;
    }
    for (int i = 0; i < def->id_count; ++i) {
        give_number(judge, def->ids[i]);
    }
    judge->own = give_number(judge, def->viewer);
    if (!create_meters(judge)) {
        ph_judge_destroy(judge);
        return NULL;
    }
    return judge;
}

void ph_judge_destroy(ph_judge* judge)
{
    if (judge == NULL) {
        return;
    }
    for (int way = 0; way < WAYS_MAX; ++way) {
        ph_meter_destroy(judge->second[way]);
        ph_meter_destroy(judge->whole[way]);
    }
    ph_truth_history_destroy(judge->history);
    free(judge->table.numbers1);
    free(judge->table.ids);
    for (int i = 0; i < 3; ++i) {
        free(judge->place_mm[i]);
    }
    free(judge->shown);
    free(judge->heading_deg);
    free(judge->present);
    free(judge);
}

// ---- the truth

static uint32_t read_u32(const uint8_t* bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static uint32_t read_u16(const uint8_t* bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
}

static int32_t read_i32(const uint8_t* bytes)
{
    const uint32_t raw = read_u32(bytes);
    int32_t value;
    memcpy(&value, &raw, sizeof value);
    return value;
}

// Ascending ids, and headings of less than a turn.
static bool is_truth(const uint8_t* bytes, size_t size)
{
    if (size < HEAD_SIZE || bytes[0] != TRUTH_KIND) {
        return false;
    }
    const uint32_t count = read_u32(bytes + HEAD_SIZE - 4);
    if (count > PH_JUDGE_TRUTH_MAX || size != HEAD_SIZE + (size_t)count * ROW_SIZE) {
        return false;
    }
    uint64_t next_id = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint8_t* row = bytes + HEAD_SIZE + (size_t)i * ROW_SIZE;
        const uint32_t id = read_u32(row);
        const uint32_t heading = read_u16(row + 16);
        if (id < next_id || (heading >= HEADING_TURN && heading != HEADING_NONE)) {
            return false;
        }
        next_id = (uint64_t)id + 1;
    }
    return true;
}

static void put_row(ph_judge* judge, const uint8_t* row)
{
    const int number = give_number(judge, read_u32(row));
    if (number < 0) {
        return;
    }
    const uint32_t heading = read_u16(row + 16);
    judge->present[number] = true;
    for (int i = 0; i < 3; ++i) {
        judge->place_mm[i][number] = read_i32(row + 4 + 4 * i);
    }
    judge->heading_deg[number] = heading == HEADING_NONE ? NAN : (float)heading / 100.0f;
}

bool ph_judge_take_truth(ph_judge* judge, const uint8_t* bytes, size_t size)
{
    if (!is_truth(bytes, size)) {
        return false;
    }
    const uint32_t count = read_u32(bytes + HEAD_SIZE - 4);
    memset(judge->present, 0, (size_t)judge->def.capacity * sizeof *judge->present);
    for (uint32_t i = 0; i < count; ++i) {
        put_row(judge, bytes + HEAD_SIZE + (size_t)i * ROW_SIZE);
    }
    const ph_truth_moment now = {
        .present = judge->present,
        .x_mm = judge->place_mm[0],
        .y_mm = judge->place_mm[1],
        .z_mm = judge->place_mm[2],
        .heading_deg = judge->heading_deg,
    };
    ph_truth_history_step(judge->history, &now);
    judge->shown_count = 0;
    return true;
}

// ---- what is shown

void ph_judge_show(ph_judge* judge, uint64_t id, const ph_pose* pose)
{
    const int number = id <= UINT32_MAX ? number_of(judge, (uint32_t)id) : -1;
    if (number < 0 || number == judge->own || judge->shown_count == judge->def.capacity) {
        return;
    }
    judge->shown[judge->shown_count++] = (ph_shown){
        .entity = number,
        .has_heading = pose->has_heading && !isnan(judge->heading_deg[number]),
        .position_mm = {pose->position_mm[0], pose->position_mm[1], pose->position_mm[2]},
        .heading_deg = pose->heading_deg,
    };
}

void ph_judge_measure(ph_judge* judge, int way)
{
    if (judge->history->tick >= judge->ticks_measured[way]) {
        judge->ticks_measured[way] = judge->history->tick + 1;
        ph_meter_frame(judge->whole[way], judge->shown, judge->shown_count);
        ph_meter_frame(judge->second[way], judge->shown, judge->shown_count);
    }
    judge->shown_count = 0;
}

ph_figures_summary ph_judge_whole(const ph_judge* judge, int way)
{
    return ph_figures_summarise(ph_meter_figures(judge->whole[way]));
}

ph_figures_summary ph_judge_second(const ph_judge* judge, int way)
{
    return ph_figures_summarise(ph_meter_figures(judge->second[way]));
}

uint64_t ph_judge_second_samples(const ph_judge* judge, int way)
{
    return ph_meter_figures(judge->second[way])->error_mm.count;
}

void ph_judge_clear(ph_judge* judge, int way)
{
    ph_meter_clear(judge->second[way]);
}
