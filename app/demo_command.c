// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole demo`: opens everything, goes round until it is over, says what was seen. One thread: the stage,
// the players with their hosts, the page's server and the terminal take turns.

#include "demo_command.h"

#include "command.h"
#include "demo_options.h"
#include "demo_picture.h"
#include "demo_summary.h"
#include "demo_terminal.h"
#include "demo_web.h"
#include "scene_help.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FRAME_US = 100000,
    WAIT_MAX_US = 20000,    // keys are looked for so often
    WEB_WAIT_MAX_US = 2000, // and players, while the page's server waits
    NOTE_US = 6000000,
    NOTE_MAX = 400,
};

typedef struct demo {
    demo_options options;
    demo_stage* stage;
    demo_players* players;
    demo_web* web; // NULL: there is no page
    bool has_terminal;
    demo_colours colours;
    demo_canvas canvas;
    demo_picture picture;
    char note[NOTE_MAX];    // why something is not as it was asked for
    uint64_t note_until_us; // real time, as the next one
    uint64_t frame_us;
    uint64_t start_us;
    bool is_over;
} demo;

// ---- opening and closing

static bool open_players(demo* of, ph_fault* fault)
{
    const demo_options* options = &of->options;
    const demo_players_def def = {
        .stage = of->stage,
        .count = options->players,
        .kbps = options->kbps,
        .loss = options->loss_percent / 100.0,
        .rtt_ms = options->rtt_ms,
        .jitter_ms = options->jitter_ms,
        .seed = (uint64_t)options->seed,
    };
    of->players = demo_players_create(&def, fault);
    return of->players != NULL;
}

static bool open_stage(demo* of, ph_fault* fault)
{
    const demo_options* options = &of->options;
    demo_stage_def def = demo_stage_def_default();
    def.source = options->source;
    def.rate_hz = options->rate_hz;
    def.entities = options->entities;
    def.seed = (uint64_t)options->seed;
    of->stage = demo_stage_create(&def, fault);
    if (of->stage == NULL) {
        return false;
    }
    app_scene_note("pinhole demo", options->source,
                   ph_sim_material_note(&of->stage->scene->material));
    return true;
}

static demo_web* open_web_at(demo* of, int port, ph_fault* fault)
{
    const demo_options* options = &of->options;
    const bool is_recording = of->stage->scene->is_recording;
    const demo_web_def def = {
        .stage = of->stage,
        .listen = options->listen,
        .port = port,
        .password = options->password,
        .recordings = &options->source,
        .recording_count = is_recording ? 1 : 0,
        .kbps = options->kbps,
        .loss_percent = options->loss_percent,
        .rtt_ms = options->rtt_ms,
        .jitter_ms = options->jitter_ms,
        .seed = (uint64_t)options->seed,
    };
    return demo_web_open(&def, fault);
}

// Without a page the demo is still worth running, unless something was said about the page.
static bool open_web(demo* of, ph_fault* fault)
{
    const demo_options* options = &of->options;
    if (options->is_pageless) {
        return true;
    }
    of->web = open_web_at(of, options->port, fault);
    if (of->web != NULL || options->port_text != NULL) {
        return of->web != NULL;
    }
    of->web = open_web_at(of, 0, fault);
    if (of->web != NULL) {
        snprintf(of->note, sizeof of->note, "Port %d is taken: the page is at %s.", options->port,
                 demo_web_url(of->web));
    } else if (options->listen == NULL && options->password == NULL) {
        snprintf(of->note, sizeof of->note, "There is no page: %s.", fault->message);
        return true;
    }
    return of->web != NULL;
}

static void say_where(const demo* of)
{
    if (of->note[0] != '\0') {
        printf("%s\n", of->note);
    } else if (of->web != NULL) {
        printf("The page is at %s\n", demo_web_url(of->web));
    }
    const char* warning = of->web != NULL ? demo_web_warning(of->web) : NULL;
    if (warning != NULL) {
        printf("%s\n", warning);
    }
    fflush(stdout);
}

static bool open_all(demo* of, ph_fault* fault)
{
    if (!open_stage(of, fault) || !open_players(of, fault) || !open_web(of, fault)) {
        return false;
    }
    demo_terminal_hear_signals();
    of->start_us = demo_stage_now_us(of->stage);
    of->has_terminal = demo_terminal_is_there();
    of->colours = demo_terminal_colours();
    of->note_until_us = of->note[0] != '\0' ? ph_socket_now_us() + NOTE_US : 0;
    if (of->options.seconds == 0.0 && !of->has_terminal) {
        of->options.seconds = DEMO_SECONDS_USUAL;
    }
    if (!of->has_terminal) {
        say_where(of);
    }
    return !of->has_terminal || demo_terminal_open() ||
           ph_fault_set(fault, 0, 0, "the terminal cannot be drawn on");
}

static void close_all(demo* of)
{
    demo_terminal_close();
    demo_canvas_destroy(&of->canvas);
    demo_web_close(of->web);
    demo_players_destroy(of->players);
    demo_stage_destroy(of->stage);
}

// ---- keys

static const double LOSSES[] = {0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7};
static const double BUDGETS[] = {2, 4, 6, 8, 10, 13, 16, 20, 26, 32, 48, 64, 100, 200};

// The next value of a list, above or below the present one, which need not be in it.
static double next_of(const double* list, int count, double now, bool is_up)
{
    double next = now;
    for (int i = 0; i < count; ++i) {
        const double value = list[is_up ? count - 1 - i : i];
        next = is_up ? (value > now + 1e-9 ? value : next) : (value < now - 1e-9 ? value : next);
    }
    return next;
}

static void change_loss(demo* of, bool is_up)
{
    const double now = demo_players_get_def(of->players)->loss;
    const int count = sizeof LOSSES / sizeof LOSSES[0];
    demo_players_set_loss(of->players, next_of(LOSSES, count, now, is_up));
}

static void change_budget(demo* of, bool is_up)
{
    const double now = demo_players_get_def(of->players)->kbps;
    const int count = sizeof BUDGETS / sizeof BUDGETS[0];
    demo_players_set_kbps(of->players, next_of(BUDGETS, count, now, is_up));
}

static void change_magnification(demo_picture* picture)
{
    static const int STEPS[] = {0, 1, 10, 50}; // 0: as it finds best
    const int count = sizeof STEPS / sizeof STEPS[0];
    int at = 0;
    while (at < count - 1 && STEPS[at] != picture->magnified) {
        ++at;
    }
    picture->magnified = STEPS[(at + 1) % count];
}

static void take_key(demo* of, int key)
{
    switch (key) {
    case ' ':
        demo_stage_set_paused(of->stage, !of->stage->is_paused);
        break;
    case 's':
        demo_stage_set_paused(of->stage, true);
        demo_stage_step(of->stage);
        break;
    case 'l':
    case 'L':
        change_loss(of, key == 'L');
        break;
    case 'b':
    case 'B':
        change_budget(of, key == 'B');
        break;
    case '+':
    case '-':
        of->picture.zoom += key == '+' ? 1 : -1;
        break;
    case 'e':
        change_magnification(&of->picture);
        break;
    case 'q':
    case 'Q':
        of->is_over = true;
        break;
    default:
        return;
    }
    of->frame_us = 0; // shown at once
}

// ---- drawing

static void draw(demo* of, uint64_t real_us)
{
    int width;
    int height;
    if (!of->has_terminal || real_us < of->frame_us) {
        return;
    }
    of->frame_us = real_us + FRAME_US;
    demo_terminal_get_size(&width, &height);
    if (!demo_canvas_begin(&of->canvas, width, height)) {
        return;
    }
    if (demo_terminal_take_change()) {
        demo_canvas_forget(&of->canvas);
        demo_terminal_write("\033[2J", 4);
    }
    const demo_picture_def def = {
        .players = of->players,
        .address = of->web != NULL ? demo_web_url(of->web) : NULL,
        .note = real_us < of->note_until_us ? of->note : NULL,
    };
    demo_picture_draw(&of->picture, &def, &of->canvas);
    size_t size;
    const char* bytes = demo_canvas_write(&of->canvas, of->colours, &size);
    of->is_over = of->is_over || !demo_terminal_write(bytes, size);
}

// ---- going round

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// Until something is due, or has come.
static void wait(demo* of)
{
    const uint64_t next_us =
        lesser(demo_stage_due_us(of->stage), demo_players_next_us(of->players));
    const uint64_t wait_us = lesser(demo_stage_wait_us(of->stage, next_us), WAIT_MAX_US);
    if (of->web != NULL) {
        demo_web_serve(of->web, lesser(wait_us, WEB_WAIT_MAX_US));
    } else if (wait_us > 0) {
        demo_players_wait(of->players, wait_us);
    }
}

static void tell_pages(demo* of)
{
    demo_web_player told[DEMO_PLAYER_WAYS];
    for (int way = 0; way < DEMO_PLAYER_WAYS; ++way) {
        const demo_figures figures = demo_players_recent(of->players, (ph_way)way);
        const bool is_known = figures.seconds > 0.0;
        told[way] = (demo_web_player){
            .way = ph_way_name((ph_way)way),
            .wire_kbps = is_known ? figures.wire_kbps : NAN,
            .error_mrad = is_known ? figures.error_mrad : NAN,
            .error_mm = is_known ? figures.error_mm : NAN,
            .missing_pct = is_known ? figures.missing_pct : NAN,
        };
    }
    demo_web_set_players(of->web, told, DEMO_PLAYER_WAYS);
}

static bool tick(demo* of, ph_fault* fault)
{
    if (of->web != NULL) {
        demo_web_finish(of->web);
    }
    if (!demo_stage_put(of->stage, fault) || !demo_players_attend(of->players, fault) ||
        (of->web != NULL && !demo_web_attend(of->web, fault))) {
        return false;
    }
    demo_stage_tick(of->stage);
    demo_players_send(of->players);
    if (of->web != NULL) {
        tell_pages(of);
        demo_web_tick(of->web);
    }
    return true;
}

static bool is_time_up(const demo* of)
{
    const double seconds = (double)(demo_stage_now_us(of->stage) - of->start_us) / 1e6;
    return of->options.seconds > 0.0 && seconds >= of->options.seconds;
}

static bool run(demo* of, ph_fault* fault)
{
    while (!of->is_over && !demo_terminal_is_stopped() && !is_time_up(of)) {
        wait(of);
        demo_players_serve(of->players);
        if (demo_stage_is_due(of->stage) && !tick(of, fault)) {
            return false;
        }
        for (int key; (key = demo_terminal_key()) != 0;) {
            take_key(of, key);
        }
        draw(of, ph_socket_now_us());
    }
    return true;
}

static bool sum_up(const demo* of)
{
    const bool is_kept = demo_summary_print(of->players, stdout);
    if (of->web != NULL) {
        const demo_web_counts counts = demo_web_get_counts(of->web);
        char text[NOTE_MAX];
        demo_web_print_counts(&counts, text, sizeof text);
        if (counts.requests > 0) {
            printf("%s\n", text);
        }
    }
    return is_kept;
}

int demo_command(int argc, char** argv)
{
    demo of = {0};
    int status = APP_EXIT_OK;
    ph_fault fault = {0};
    if (!demo_options_parse(argc, argv, &of.options, &status)) {
        return status;
    }
    const bool is_done = open_all(&of, &fault) && run(&of, &fault);
    demo_terminal_close();
    if (!is_done) {
        const bool lacks_rate = strstr(fault.message, "missing rate") != NULL;
        fprintf(stderr, DEMO_COMMAND ": %s.\n%s", fault.message,
                lacks_rate ? "Say how many ticks a second has, as in '--rate 16'.\n" : "");
        status = APP_EXIT_FAILURE;
    } else {
        status = sum_up(&of) ? APP_EXIT_OK : APP_EXIT_FAILURE;
    }
    close_all(&of);
    return status;
}
