// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A message of the bus of any kind: written, read, as text in the words of test/read_bus.py, and drawn at random.

#ifndef PINHOLE_TEST_BUS_ANY_H
#define PINHOLE_TEST_BUS_ANY_H

#include "bus/bus_wire.h"

#include "support/test_support.h"

enum { BUS_ANY_ITEMS = 8 };

typedef struct bus_any {
    bus_kind kind;
    bus_cell cell;
    bus_snapshot snapshot;
    bus_beat beat;
    bus_offer offer;
    bus_accept accept;
    bus_find find;
    bus_found found;
    bus_mirrored mirrored;
    bus_front_report front_report;
    bus_wish wish;
    bus_grant grant;
    bus_items items; // UP, DOWN, MIRROR
    bus_item item[BUS_ANY_ITEMS];
} bus_any;

bool bus_any_write(bus_writer* writer, const bus_any* any);
/// By its kind. At most BUS_ANY_ITEMS items.
bool bus_any_read(bus_any* any, const uint8_t* bytes, size_t size, ph_bus_refusal* refusal);

/// What it says, for free().
char* bus_any_text(const bus_any* any);

/// Draws from the whole range of every field. Round 0 has the least of everything, round 1 the most, others are random
/// and have both ends often.
typedef struct bus_draw {
    test_rng rng;
    int round;
    uint8_t* pool; // bytes that messages lead to
    size_t used;
} bus_draw;

enum { BUS_DRAW_POOL = 1 << 20 };

void bus_any_draw(bus_draw* draw, bus_kind kind, bus_any* any);

#endif
