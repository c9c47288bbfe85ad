// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The feed of a page: frames that say what happened, which docs/wire_feed.md describes byte by byte. The
// page's own clients and meters make pictures and figures of them. A server sends frames as they are
// written; a file has those of a whole run, one after the other.
//
//     ph_feed feed = {0};
//     ph_json* json = ph_feed_open_scene(&feed, &scene);
//     ...                                            what only a live page is told
//     ph_feed_close(&feed);
//     ph_feed_write_datagram(&feed, PH_WAY_PINHOLE, now_us, bytes, size);
//     if (feed.is_failed) { ... }                    no memory, at any time before
//
// In the buffer each frame comes after its size. Once per datagram and tick: some microseconds.

#ifndef PINHOLE_KIT_FEED_H
#define PINHOLE_KIT_FEED_H

#include "kit/json.h"
#include "kit/source.h"
#include "kit/way.h"

#include <pinhole/stats.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PH_FEED_VERSION = 1 };

// The first byte of a frame.
typedef enum ph_feed_kind {
    PH_FEED_SCENE = 1,
    PH_FEED_TRUTH,
    PH_FEED_DATAGRAM,
    PH_FEED_TRACE,
    PH_FEED_STATE,
    PH_FEED_EXPLAIN,
    PH_FEED_NEED,
    PH_FEED_NOTE,
} ph_feed_kind;

// Frames in memory. {0} is empty. Read-only outside.
typedef struct ph_feed {
    uint8_t* bytes; // u32 size, frame, u32 size, frame ...
    size_t size;
    size_t capacity;
    size_t begin;   // of the frame that is being written
    bool is_failed; // there was no memory; nothing is added any more
    ph_json json;   // of a frame of text
} ph_feed;

void ph_feed_destroy(ph_feed* feed); // leaves {0}
// Empty again; the memory stays, and what failed may be tried anew.
void ph_feed_clear(ph_feed* feed);

// One frame after the other: *at is 0 at first. @return False when there is none left.
bool ph_feed_next(const ph_feed* feed, size_t* at, const uint8_t** frame, size_t* size);

// A frame of another feed.
void ph_feed_append(ph_feed* feed, const uint8_t* frame, size_t size);

// ---- frames of text

// Begins a frame whose body is one object of JSON, which is open: add its values, then close the frame.
ph_json* ph_feed_open(ph_feed* feed, ph_feed_kind kind);
void ph_feed_close(ph_feed* feed);

// What a page must know before anything else.
typedef struct ph_feed_scene {
    int scene;          // another number, and everything begins anew
    const char* source; // as it was asked for
    double rate_hz;
    uint32_t tick_us;
    const char* schema; // as ph_schema_print() writes it
    const ph_ground* ground;
    int entity_count;
    uint32_t viewer; // id of its entity
    int32_t radius_mm;
    int slots; // entities visible at most
    int32_t cell_mm;
    int show_delay_ms;
    int32_t bounds_mm[4]; // x0, y0, x1, y1
    bool is_live;
    // Shown side by side: by place in the feed, as frames count them. A name that is NULL is that of the way.
    const char* names[PH_WAY_COUNT];
    ph_way ways[PH_WAY_COUNT];
    ph_way_terms terms[PH_WAY_COUNT];
    int way_count;
} ph_feed_scene;

// A scene's frame with all this in it; live pages are told more before it is closed.
ph_json* ph_feed_open_scene(ph_feed* feed, const ph_feed_scene* scene);

// A sentence for the person.
void ph_feed_write_note(ph_feed* feed, const char* text);

// ---- frames of numbers

// The truth of one tick.
typedef struct ph_feed_truth {
    uint64_t time_us; // of the clients' clock, as all times of a feed
    uint32_t tick;
    const ph_source* source;
    int eye; // an entity of the recording: what is nearest to it comes first when there is too much
    int most; // entities; 0: all
} ph_feed_truth;

void ph_feed_write_truth(ph_feed* feed, const ph_feed_truth* truth);

// A datagram that arrives at the client of a way, by its place in the scene.
void ph_feed_write_datagram(ph_feed* feed, int way, uint64_t time_us, const void* bytes,
                            size_t size);

// What the bits of a datagram were for, which leaves now; from a ph_trace_fn. Keys are ids.
void ph_feed_write_trace(ph_feed* feed, int way, uint64_t time_us, const ph_packet_trace* trace);

#endif
