// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some dozens of frames a second and page.

#include "demo_outbox.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY_LEAST = 1 << 16, HEAD = (int)sizeof(uint32_t) + DEMO_OUTBOX_GAP };

void demo_outbox_destroy(demo_outbox* outbox)
{
    free(outbox->bytes);
    *outbox = (demo_outbox){0};
}

static bool make_room(demo_outbox* outbox, size_t more)
{
    const size_t used = outbox->end - outbox->start;
    const size_t wanted = used + more;
    if (outbox->end + more <= outbox->capacity) {
        return true;
    }
    if (wanted > DEMO_OUTBOX_BYTES_MAX) {
        return false;
    }
    if (wanted > outbox->capacity / 2) {
        size_t capacity = outbox->capacity > 0 ? outbox->capacity : CAPACITY_LEAST;
        while (capacity / 2 < wanted && capacity < DEMO_OUTBOX_BYTES_MAX) {
            capacity *= 2;
        }
        uint8_t* bytes = realloc(outbox->bytes, capacity);
        if (bytes == NULL) {
            return false;
        }
        outbox->bytes = bytes;
        outbox->capacity = capacity;
    }
    memmove(outbox->bytes, outbox->bytes + outbox->start, used);
    outbox->start = 0;
    outbox->end = used;
    return true;
}

bool demo_outbox_push(demo_outbox* outbox, const void* frame, size_t size)
{
    if (outbox->is_over || size > DEMO_OUTBOX_BYTES_MAX || !make_room(outbox, HEAD + size)) {
        outbox->is_over = true;
        return false;
    }
    const uint32_t count = (uint32_t)size;
    memcpy(outbox->bytes + outbox->end, &count, sizeof count);
    memcpy(outbox->bytes + outbox->end + HEAD, frame, size);
    outbox->end += HEAD + size;
    return true;
}

bool demo_outbox_is_empty(const demo_outbox* outbox)
{
    return outbox->start == outbox->end;
}

uint8_t* demo_outbox_front(demo_outbox* outbox, size_t* size)
{
    if (demo_outbox_is_empty(outbox)) {
        return NULL;
    }
    uint32_t count;
    memcpy(&count, outbox->bytes + outbox->start, sizeof count);
    *size = count;
    return outbox->bytes + outbox->start + HEAD;
}

void demo_outbox_pop(demo_outbox* outbox)
{
    size_t size = 0;
    if (demo_outbox_front(outbox, &size) != NULL) {
        outbox->start += HEAD + size;
        ++outbox->taken;
    }
    if (demo_outbox_is_empty(outbox)) {
        outbox->start = 0;
        outbox->end = 0;
    }
}
