// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Meters on a made-up play with every kind of fault in it. Given a folder, this program also leaves
// recording.csv, dump.csv and result.json there, as `pinhole sim` would: test/check_meter.py has
// test/recompute.py arrive at the same figures.

#include "kit/meter.h"

#include "support/made_play.h"
#include "support/test_memory.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static made_play* new_play(void)
{
    made_play* play = malloc(sizeof *play);
    assert_non_null(play);
    made_play_init(play, 81);
    return play;
}

// If a fault did not occur, it was not measured.
static void the_play_has_every_kind_of_fault(void** state)
{
    (void)state;
    made_play* play = new_play();
    ph_figures figures;
    made_play_measure(play, 0, MADE_PLAY_VIEWERS - 1, &figures);
    assert_in_range(figures.missing_count, 100, figures.must_count / 2);
    assert_in_range(figures.ghost_count, 100, figures.shown_count / 2);
    assert_in_range(figures.jolt_count, 100, figures.error_mm.count / 2);
    assert_in_range(figures.heading_deg.count, 1000, figures.error_mm.count);
    assert_int_equal(figures.join_count, MADE_PLAY_VIEWERS);
    assert_in_range(figures.join_ticks, MADE_PLAY_VIEWERS, MADE_PLAY_TICKS);
    ph_figures_destroy(&figures);
    free(play);
}

// As on one thread, and on as many as there are viewers.
static void the_result_does_not_depend_on_the_order_of_meters(void** state)
{
    (void)state;
    made_play* play = new_play();
    ph_figures together;
    made_play_measure(play, 0, MADE_PLAY_VIEWERS - 1, &together);
    ph_figures merged;
    assert_int_equal(ph_figures_create(&merged, MADE_PLAY_RATE_HZ, NULL), PH_OK);
    for (int viewer = 0; viewer < MADE_PLAY_VIEWERS; ++viewer) {
        ph_figures figures;
        made_play_measure(play, viewer, viewer, &figures);
        ph_figures_merge(&merged, &figures);
        ph_figures_destroy(&figures);
    }
    const ph_figures_summary one = ph_figures_summarise(&together);
    const ph_figures_summary other = ph_figures_summarise(&merged);
    assert_memory_equal(&one, &other, sizeof one);
    ph_figures_destroy(&merged);
    ph_figures_destroy(&together);
    free(play);
}

static void frames_allocate_nothing(void** state)
{
    (void)state;
    made_play* play = new_play();
    test_memory memory = {0};
    const ph_allocator allocator = test_memory_allocator(&memory);
    const ph_truth_history_def history_def = {
        .entity_count = MADE_PLAY_ENTITIES, .rate_hz = MADE_PLAY_RATE_HZ, .allocator = allocator};
    ph_truth_history* history;
    assert_int_equal(ph_truth_history_create(&history_def, &history), PH_OK);
    const ph_meter_def def = {
        .history = history, .radius_mm = 100000, .slots = 250, .allocator = allocator};
    ph_meter* meter;
    assert_int_equal(ph_meter_create(&def, &meter), PH_OK);
    const int allocations = memory.allocate_count;
    for (int tick = 0; tick < MADE_PLAY_TICKS; ++tick) {
        const ph_truth_moment now = made_play_moment(play, tick);
        ph_truth_history_step(history, &now);
        ph_meter_frame(meter, play->frames[0][tick].shown, play->frames[0][tick].count);
    }
    assert_int_equal(memory.allocate_count, allocations);
    ph_meter_destroy(meter);
    ph_truth_history_destroy(history);
    test_memory_assert_clean(&memory);
    free(play);
}

// ---- files

static FILE* open_in(const char* folder, const char* name)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    return file;
}

// Not the number in the truth: code that mixes them up is found out.
static int id_of(int entity)
{
    return 100 + 7 * entity;
}

static void write_recording(const made_play* play, FILE* file)
{
    fprintf(file, "# rate %d\ntick,entity,x_mm,y_mm,z_mm,heading_deg,teleport\n",
            MADE_PLAY_RATE_HZ);
    for (int tick = 0; tick < MADE_PLAY_TICKS; ++tick) {
        const made_tick* now = &play->ticks[tick];
        for (int i = 0; i < MADE_PLAY_ENTITIES; ++i) {
            if (now->present[i]) {
                fprintf(file, "%d,%d,%d,%d,%d,%.1f,%d\n", tick, id_of(i), now->x_mm[i],
                        now->y_mm[i], now->z_mm[i], (double)now->heading_deg[i], now->is_jump[i]);
            }
        }
    }
    fclose(file);
}

static void write_shown(FILE* file, int viewer, int tick, const ph_shown* shown)
{
    fprintf(file, "%.3f,%d,%d,%.1f,%.1f,%.1f,", 1000.0 * tick / MADE_PLAY_RATE_HZ, id_of(viewer),
            id_of(shown->entity), shown->position_mm[0], shown->position_mm[1],
            shown->position_mm[2]);
    if (shown->has_heading) {
        fprintf(file, "%.2f", shown->heading_deg);
    }
    fputc('\n', file);
}

static void write_dump(const made_play* play, FILE* file)
{
    fputs("time_ms,viewer,entity,x_mm,y_mm,z_mm,heading_deg\n", file);
    for (int tick = 0; tick < MADE_PLAY_TICKS; ++tick) {
        for (int viewer = 0; viewer < MADE_PLAY_VIEWERS; ++viewer) {
            const made_frame* frame = &play->frames[viewer][tick];
            for (int i = 0; i < frame->count; ++i) {
                write_shown(file, viewer, tick, &frame->shown[i]);
            }
        }
    }
    fclose(file);
}

static void write_result(const made_play* play, FILE* file)
{
    ph_figures figures;
    made_play_measure(play, 0, MADE_PLAY_VIEWERS - 1, &figures);
    const ph_figures_summary summary = ph_figures_summarise(&figures);
    ph_json json = ph_json_make(file);
    ph_json_open(&json, NULL);
    ph_json_integer(&json, "viewers", MADE_PLAY_VIEWERS);
    ph_json_integer(&json, "radius", MADE_PLAY_RADIUS_M);
    ph_json_integer(&json, "slots", MADE_PLAY_SLOTS);
    ph_figures_write(&summary, &json);
    ph_json_close(&json);
    ph_figures_destroy(&figures);
    fclose(file);
}

static void write_files(const char* folder)
{
    made_play* play = new_play();
    write_recording(play, open_in(folder, "recording.csv"));
    write_dump(play, open_in(folder, "dump.csv"));
    write_result(play, open_in(folder, "result.json"));
    free(play);
}

int main(int argument_count, char** arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_play_has_every_kind_of_fault),
        cmocka_unit_test(the_result_does_not_depend_on_the_order_of_meters),
        cmocka_unit_test(frames_allocate_nothing),
    };
    if (argument_count > 1) {
        write_files(arguments[1]);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
