// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Five times a second.

#include "cluster_table.h"

#include "cluster_row.h"
#include "demo_terminal.h"

#include <pinhole/net/socket.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FRAME_US UINT64_C(200000)
#define LINE_US UINT64_C(2000000)
#define TELL_US UINT64_C(5000000)
enum { ROW_MAX = 240 };

void cluster_table_open(cluster_table* table)
{
    table->has_terminal = demo_terminal_is_there() && demo_terminal_open();
    table->colours = demo_terminal_colours();
    table->begun_us = ph_socket_now_us();
}

void cluster_table_close(cluster_table* table)
{
    demo_terminal_close();
    demo_canvas_destroy(&table->canvas);
}

void cluster_table_note(cluster_table* table, const char* format, ...)
{
    if (table->note_count == CLUSTER_NOTES) {
        memmove(table->notes[0], table->notes[1], sizeof table->notes - sizeof table->notes[0]);
        --table->note_count;
    }
    char* note = table->notes[table->note_count++];
    const double seconds = (double)(ph_socket_now_us() - table->begun_us) / 1e6;
    const int length = snprintf(note, CLUSTER_NOTE_MAX, "%6.1f s  ", seconds);
    va_list values;
    va_start(values, format);
    vsnprintf(note + length, CLUSTER_NOTE_MAX - (size_t)length, format, values);
    va_end(values);
    if (!table->has_terminal) {
        printf("%s\n", note);
        fflush(stdout);
    }
}

// ---- a row

// What matters most stands within 80 columns; what a narrow terminal has no room for is cut off.
static const char HEAD[] =
    "    part      state    regions                entities players last fault       "
    "  kbit/s    gaps restarts  pid";

static void print_row(const cluster_stage* stage, const cluster_part* part, int number,
                      bool is_chosen, char* text)
{
    const cluster_row row = cluster_row_of(stage, part);
    snprintf(text, ROW_MAX, "%c%2d %-9s %-8s %-22s %8s %7s %-17s %8s %7s %8d  %ld",
             is_chosen ? '>' : ' ', number, part->name, row.state, row.regions, row.entities,
             row.players, part->last_fault, row.kbps, row.gaps, part->restarts, (long)part->pid);
}

static void print_players(const cluster_stage* stage, char* row)
{
    const char* bots = cluster_stage_bots(stage);
    const double moves = cluster_report_number(bots, "moves");
    char took[64] = "";
    if (moves > 0.0) {
        snprintf(took, sizeof took, " (median %.0f ms, most %.0f ms)",
                 cluster_report_number(bots, "p50"), cluster_report_number(bots, "max"));
    }
    snprintf(row, ROW_MAX, "players: %.0f of %d connected; %.0f moved%s; %.0f ended",
             cluster_report_number(bots, "connected"), stage->def.bots, moves, took,
             cluster_report_number(bots, "ended"));
}

static void print_messages(const cluster_stage* stage, char* row)
{
    const char* bots = cluster_stage_bots(stage);
    snprintf(
        row, ROW_MAX,
        "messages: %.0f sent, %.0f back, %.0f wrong; inputs gone back: %.0f; false alarms: %.0f",
        cluster_report_number(bots, "sent"), cluster_report_number(bots, "returned"),
        cluster_report_number(bots, "wrong"), cluster_report_number(bots, "backward"),
        cluster_report_number(bots, "alarms"));
}

// ---- drawing

static void draw(cluster_table* table, const cluster_stage* stage)
{
    int width = 0;
    int height = 0;
    char row[ROW_MAX];
    size_t size = 0;
    demo_terminal_get_size(&width, &height);
    if (demo_terminal_take_change()) {
        demo_canvas_forget(&table->canvas);
    }
    if (!demo_canvas_begin(&table->canvas, width, height)) {
        return;
    }
    demo_canvas_text(&table->canvas, 0, 0, DEMO_STYLE_TITLE,
                     "pinhole cluster: one world, four sims, three front-ends, three nats-servers");
    if (table->page[0] != '\0') {
        const int end = demo_canvas_text(&table->canvas, 0, 1, DEMO_STYLE_PLAIN, "page: ");
        demo_canvas_text(&table->canvas, end, 1, DEMO_STYLE_PLAIN, table->page);
    }
    demo_canvas_text(&table->canvas, 0, 2, DEMO_STYLE_BOLD, HEAD);
    int y = 3;
    for (int i = 0; i < stage->parts.count; ++i, ++y) {
        const cluster_part* part = &stage->parts.all[i];
        const bool is_ill = part->pid == 0 || part->is_stopped;
        print_row(stage, part, i + 1, i == table->chosen, row);
        demo_canvas_text(&table->canvas, 0, y,
                         i == table->chosen ? DEMO_STYLE_PINHOLE
                         : is_ill           ? DEMO_STYLE_WARNING
                                            : DEMO_STYLE_PLAIN,
                         row);
    }
    print_players(stage, row);
    demo_canvas_text(&table->canvas, 0, y + 1, DEMO_STYLE_PLAIN, row);
    print_messages(stage, row);
    demo_canvas_text(&table->canvas, 0, y + 2, DEMO_STYLE_PLAIN, row);
    demo_canvas_text(
        &table->canvas, 0, y + 3, DEMO_STYLE_FAINT,
        "+ - 1..9 choose; k kill -9, f freeze for 3 s, e empty or stop in order; q end");
    for (int i = 0; i < table->note_count; ++i) {
        demo_canvas_text(&table->canvas, 0, y + 5 + i, DEMO_STYLE_PLAIN, table->notes[i]);
    }
    const char* bytes = demo_canvas_write(&table->canvas, table->colours, &size);
    demo_terminal_write(bytes, size);
}

static void print_lines(const cluster_stage* stage)
{
    char row[ROW_MAX];
    printf("%s\n", HEAD);
    for (int i = 0; i < stage->parts.count; ++i) {
        print_row(stage, &stage->parts.all[i], i + 1, false, row);
        printf("%s\n", row);
    }
    print_players(stage, row);
    printf("%s\n", row);
    print_messages(stage, row);
    printf("%s\n\n", row);
    fflush(stdout);
}

// ---- keys

static void act(cluster_table* table, cluster_stage* stage, cluster_act what)
{
    cluster_part* part = &stage->parts.all[table->chosen];
    if (what == CLUSTER_EMPTY && part->kind != CLUSTER_FRONT && part->kind != CLUSTER_SIM) {
        cluster_table_note(table, "%s has nothing to give away: only front-ends and sims have",
                           part->name);
        return;
    }
    const char* bots = cluster_stage_bots(stage);
    table->moves_before = (int)cluster_report_number(bots, "moves");
    table->ended_before = (int)cluster_report_number(bots, "ended");
    const char* done = cluster_part_act(part, what, stage->now_us);
    cluster_table_note(table, "%s: %s", part->name, done);
    snprintf(table->tell_what, sizeof table->tell_what, "%s", part->name);
    table->tell_us = stage->now_us + TELL_US;
}

static void tell_players(cluster_table* table, const cluster_stage* stage)
{
    const char* bots = cluster_stage_bots(stage);
    const int moved = (int)cluster_report_number(bots, "moves") - table->moves_before;
    const int ended = (int)cluster_report_number(bots, "ended") - table->ended_before;
    table->tell_us = 0;
    if (moved > 0) {
        cluster_table_note(table, "%s: %d players moved (median %.0f ms, most %.0f ms); %d ended",
                           table->tell_what, moved, cluster_report_number(bots, "p50"),
                           cluster_report_number(bots, "max"), ended);
    } else {
        cluster_table_note(table, "%s: no player had to move; %d connections ended",
                           table->tell_what, ended);
    }
}

static bool take_keys(cluster_table* table, cluster_stage* stage)
{
    for (int key; (key = demo_terminal_key()) != 0;) {
        const int count = stage->parts.count;
        if (key >= '1' && key <= '9' && key - '1' < count) {
            table->chosen = key - '1';
        } else if (key == '+' || key == 'j' || key == ' ') {
            table->chosen = (table->chosen + 1) % count;
        } else if (key == '-' || key == 'i') {
            table->chosen = (table->chosen + count - 1) % count;
        } else if (key == 'k') {
            act(table, stage, CLUSTER_KILL);
        } else if (key == 'f') {
            act(table, stage, CLUSTER_STOP);
        } else if (key == 'e') {
            act(table, stage, CLUSTER_EMPTY);
        } else if (key == 'q') {
            return false;
        }
    }
    return true;
}

bool cluster_table_turn(cluster_table* table, cluster_stage* stage)
{
    if (demo_terminal_is_stopped() || (table->has_terminal && !take_keys(table, stage))) {
        return false;
    }
    if (stage->ended[0] != '\0') {
        cluster_table_note(table, "%s has ended, and is started anew", stage->ended);
        stage->ended[0] = '\0';
    }
    if (table->tell_us != 0 && stage->now_us >= table->tell_us) {
        tell_players(table, stage);
    }
    if (table->has_terminal && stage->now_us - table->drawn_us >= FRAME_US) {
        table->drawn_us = stage->now_us;
        draw(table, stage);
    } else if (!table->has_terminal && stage->now_us - table->printed_us >= LINE_US) {
        table->printed_us = stage->now_us;
        print_lines(stage);
    }
    return true;
}
