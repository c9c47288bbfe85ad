// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What one page has yet to be sent: frames, first in, first out, in memory of bounded size. A page that reads too
// slowly is never waited for: its outbox overflows, and then the page is to be dropped.
//
//   │ size │ gap │ frame │ size │ gap │ frame │ ...      the gap is for the head that a server writes before a frame

#ifndef PH_APP_DEMO_OUTBOX_H
#define PH_APP_DEMO_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DEMO_OUTBOX_BYTES_MAX = 4 << 20,
    DEMO_OUTBOX_GAP = 64, // bytes before each frame that its sender may overwrite
};

// Zero-initialised it is empty. Read-only outside.
typedef struct demo_outbox {
    uint8_t* bytes;
    size_t capacity;
    size_t start;
    size_t end;
    bool is_over;   // a frame had no room, or there was no memory: nothing is taken any more
    uint64_t taken; // frames, since the beginning
} demo_outbox;

void demo_outbox_destroy(demo_outbox* outbox); // {0} is allowed; leaves {0}

// Copies a frame of 1 byte or more. @return False when the outbox is over; it stays so.
bool demo_outbox_push(demo_outbox* outbox, const void* frame, size_t size);

// The oldest frame, with its gap before it; valid until the next push. @return NULL when there is none.
uint8_t* demo_outbox_front(demo_outbox* outbox, size_t* size);
void demo_outbox_pop(demo_outbox* outbox);

bool demo_outbox_is_empty(const demo_outbox* outbox);

#endif
