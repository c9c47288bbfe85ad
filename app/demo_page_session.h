// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What one page sees: a viewer of its own in the world of each way, at one budget, behind links with equal draws; and
// the feed that tells the page about it (kit/feed.h). Knows no socket: a server moves the frames and the acks, a test
// does the same.
//
//   world of a way ──▶ ph_way_sender ──▶ link down ──▶ DATAGRAM frames ──▶ page
//                          ▲                                                │
//                          └──────── link up ◀── demo_page_take_ack() ◀─────┘
//
// Times are those of the demo's clock (demo_stage.h), which is also the clock of the page's clients: while the demo
// is paused, datagrams stay where they are, and nothing is lost.

#ifndef PH_APP_DEMO_PAGE_SESSION_H
#define PH_APP_DEMO_PAGE_SESSION_H

#include "demo_request.h"
#include "demo_stage.h"

#include "kit/feed.h"
#include "kit/way_sender.h"

enum { DEMO_PAGE_TRUTH_MAX = 4096 };

// What the page can change for itself.
typedef struct demo_page_controls {
    double kbps;
    double loss_percent; // each direction
    double rtt_ms;
    double jitter_ms;
    double hz;             // sends per second; 0: as is usual for the way
    const char* scheduler; // one of demo_request_schedulers; "": each profile's own
    uint32_t viewer;       // id of the entity that it looks from
    bool has_snapshot;     // a third way: plain snapshots
} demo_page_controls;

// Of a name among demo_request_schedulers; "": the usual one.
ph_scheduler demo_page_scheduler(const char* name, ph_scheduler usual);

typedef struct demo_page_def {
    demo_stage* stage; // outlives the page
    // viewer: any id, until the page asks for one: the scene's steadiest observer is taken.
    demo_page_controls controls;
    uint64_t seed; // of the links
    // Recordings that the page may ask for, beside all scenes. Outlive the page.
    const char* const* recordings;
    int recording_count;
} demo_page_def;

typedef struct demo_page demo_page;

// Not in any world yet. @return NULL when there is no memory.
demo_page* demo_page_create(const demo_page_def* def);
void demo_page_destroy(demo_page* page); // NULL is allowed; its viewers leave the worlds

// What the page is to be told: to be sent, then cleared by ph_feed_clear().
ph_feed* demo_page_feed(demo_page* page);

// ---- in time

// Between two ticks: where the scene is another one, or a control asks for it, everything begins anew with a frame
// SCENE. @return False with *fault filled.
bool demo_page_renew(demo_page* page, ph_fault* fault);

// Between demo_stage_put() and demo_stage_tick(): the same, and viewers follow their entities.
bool demo_page_attend(demo_page* page, ph_fault* fault);

// After demo_stage_tick(): sends, then the frames of this tick.
void demo_page_tick(demo_page* page);

// All that arrives until now, in both directions; and when the next thing does (UINT64_MAX: nothing is on its way).
void demo_page_advance(demo_page* page, uint64_t now_us);
uint64_t demo_page_next_us(const demo_page* page);

// ---- what the page says

// @return False when the page has no such way; what the bytes say, the sender judges when they arrive.
bool demo_page_take_ack(demo_page* page, const demo_request_ack* ack);

// A command of the kinds that change this page alone; others are left to the caller. What cannot be is refused with a
// NOTE. @return False for a command that is not of this page alone.
bool demo_page_apply(demo_page* page, const demo_request* request);

// The source that a page means by a name: a scene that moves, or one of the recordings, which pages know by the name of the file
// alone. NULL: there is none.
const char* demo_page_find_source(const demo_page* page, const char* name);

int demo_page_way_count(const demo_page* page);
int demo_page_scene_count(const demo_page* page); // frames SCENE so far
const demo_page_controls* demo_page_get_controls(const demo_page* page);

// Acks that were none of this session, since the page was created.
uint64_t demo_page_refused_acks(const demo_page* page);

// ---- four times a second

// A frame STATE with the page's own values; the caller adds what concerns all pages, and closes it by ph_feed_close().
ph_json* demo_page_open_state(demo_page* page, int page_count);

#endif
