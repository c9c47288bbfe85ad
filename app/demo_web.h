// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The web side of pinhole demo: serves the page, and feeds every page that is open from viewers of its own in the
// worlds of the stage (demo_page_session.h). One thread, the stage's; only the sweep behind "classic needs N kbit/s"
// has a thread of its own.
//
//     demo_web_serve(web, wait_us);     between ticks; pages are sent to
//     demo_web_finish(web);             what is left of that
//     demo_stage_put(stage, &fault);
//     demo_web_attend(web, &fault);     viewers come and go
//     demo_stage_tick(stage);
//     demo_web_tick(web);
//
// Who may connect is decided in demo_gate.h. No page can make the demo wait: what is to be sent lies in a queue of
// bounded size, and a page that does not read it is dropped.

#ifndef PH_APP_DEMO_WEB_H
#define PH_APP_DEMO_WEB_H

#include "demo_stage.h"

enum { DEMO_WEB_PAGES_MAX = 64, DEMO_WEB_PLAYERS_MAX = 8 };

// What a page begins with, and what all of them share.
typedef struct demo_web_def {
    demo_stage* stage;    // outlives the server
    const char* listen;   // an IP address; NULL: 127.0.0.1. Any but a loopback one needs a password
    int port;             // 0: any that is free
    const char* password; // NULL: none is wanted
    // Recordings that pages may choose beside the scenes, as on the command line: they cannot open other files.
    const char* const* recordings;
    int recording_count;
    double kbps; // of each page's own link, at first; the page may change these five
    double loss_percent;
    double rtt_ms;
    double jitter_ms;
    double hz; // 0: the sender chooses
    uint64_t seed;
} demo_web_def;

typedef struct demo_web demo_web;

// @return NULL with *fault filled: the address is taken, or a password is missing, or this program has no server.
demo_web* demo_web_open(const demo_web_def* def, ph_fault* fault);
void demo_web_close(demo_web* web); // NULL is allowed

// "http://127.0.0.1:7777". Lives as long as the server.
const char* demo_web_url(const demo_web* web);

// What to know about it, as a sentence: that others on the network can reach it, and read the password. NULL: nothing.
const char* demo_web_warning(const demo_web* web);

// Serves what comes, for at most so long in real time; returns at once after a page has changed something
// that the next tick depends on: pause, step, source.
void demo_web_serve(demo_web* web, uint64_t wait_us);

// Between demo_stage_put() and demo_stage_tick(). @return False with *fault filled: no memory, or a world that takes
// no viewer; the demo is over.
bool demo_web_attend(demo_web* web, ph_fault* fault);

// After demo_stage_tick(): all pages are to be sent this tick, a few at a time while demo_web_serve() runs.
void demo_web_tick(demo_web* web);

// Before demo_stage_put(): those that were not yet are.
void demo_web_finish(demo_web* web);

// The native players over UDP, as they did in the last seconds: pages are told four times a second. NaN: not measured.
typedef struct demo_web_player {
    const char* way; // "classic"; outlives the server
    double wire_kbps;
    double error_mrad;
    double error_mm;
    double missing_pct;
} demo_web_player;

void demo_web_set_players(demo_web* web, const demo_web_player* players, int count);

// Since the start.
typedef struct demo_web_counts {
    int pages;         // open now
    uint64_t requests; // of HTTP, and
    uint64_t
        refused_requests; // those of them that were not answered with a file: a wrong path, method or host
    uint64_t opened;            // pages that were let in
    uint64_t refused_origins;   // WebSockets from another origin, or from none
    uint64_t refused_hosts;     // requests for a name that is not ours
    uint64_t refused_passwords; // wrong, missing, too late or too often
    uint64_t refused_pages;     // more than DEMO_WEB_PAGES_MAX at once
    uint64_t refused_messages;  // too long, too many, or nothing that a page says
    uint64_t refused_acks;      // bytes that are no ack of the session
    uint64_t dropped_readers;   // pages that did not read
    uint64_t commands;          // that were taken
} demo_web_counts;

demo_web_counts demo_web_get_counts(const demo_web* web);

// One line about them, for the end.
void demo_web_print_counts(const demo_web_counts* counts, char* text, size_t size);

#endif
