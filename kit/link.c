// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is on its way lies in a binary heap, the next to arrive at the root. Runs once per datagram
// and in the long run allocates nothing: the places behind the heap keep the buffers of what left.
//
//   transits  | root | ... heap ... | spare buffers ... |
//                                   count               capacity

#include "kit/link.h"

#include "base/hash.h"
#include "base/rng.h"

#include <pinhole/base.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The largest payload of UDP over IPv4.
enum { DATAGRAM_MAX = 65507 };

typedef struct transit {
    uint64_t arrival_us;
    uint64_t order; // of equal times the one that was put in first
    uint8_t* bytes; // NULL in places that were never used
    size_t size;
    size_t room; // of bytes
} transit;

struct ph_link {
    ph_link_def def;
    ph_link_stats stats;
    uint64_t put_count; // copies so far
    transit* transits;
    size_t count;
    size_t capacity;
};

static void check(const ph_link_def* def)
{
    PH_ASSERT(def->loss >= 0.0 && def->loss <= 1.0);
    PH_ASSERT(def->doubling >= 0.0 && def->doubling <= 1.0);
    (void)def;
}

ph_link* ph_link_create(const ph_link_def* def)
{
    check(def);

    ph_link* link = calloc(1, sizeof *link);
    if (link != NULL) {
        link->def = *def;
    }
    return link;
}

void ph_link_destroy(ph_link* link)
{
    if (link == NULL) {
        return;
    }
    for (size_t i = 0; i < link->capacity; ++i) {
        free(link->transits[i].bytes);
    }
    free(link->transits);
    free(link);
}

void ph_link_change(ph_link* link, const ph_link_def* def)
{
    check(def);

    const uint64_t seed = link->def.seed;
    const uint64_t key = link->def.key;
    link->def = *def;
    link->def.seed = seed;
    link->def.key = key;
}

// ---- the heap

static bool is_before(const transit* left, const transit* right)
{
    if (left->arrival_us != right->arrival_us) {
        return left->arrival_us < right->arrival_us;
    }
    return left->order < right->order;
}

static void swap(transit* left, transit* right)
{
    const transit kept = *left;
    *left = *right;
    *right = kept;
}

static void move_up(transit* heap, size_t place)
{
    while (place > 0 && is_before(&heap[place], &heap[(place - 1) / 2])) {
        swap(&heap[place], &heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
}

static void move_down(transit* heap, size_t count)
{
    size_t place = 0;
    for (;;) {
        size_t first = place;
        for (size_t child = 2 * place + 1; child <= 2 * place + 2 && child < count; ++child) {
            first = is_before(&heap[child], &heap[first]) ? child : first;
        }
        if (first == place) {
            return;
        }
        swap(&heap[place], &heap[first]);
        place = first;
    }
}

static void* grow_or_abort(void* memory, size_t size)
{
    void* grown = realloc(memory, size);
    if (grown == NULL) {
        fprintf(stderr, "kit/link: no memory\n");
        abort();
    }
    return grown;
}

// The place behind the heap, with room for size bytes.
static transit* make_room(ph_link* link, size_t size)
{
    if (link->count == link->capacity) {
        const size_t capacity = link->capacity == 0 ? 16 : 2 * link->capacity;
        link->transits = grow_or_abort(link->transits, capacity * sizeof *link->transits);
        memset(link->transits + link->capacity, 0,
               (capacity - link->capacity) * sizeof *link->transits);
        link->capacity = capacity;
    }
    transit* place = &link->transits[link->count];
    if (place->room < size) {
        place->bytes = grow_or_abort(place->bytes, size);
        place->room = size;
    }
    return place;
}

static void put(ph_link* link, uint64_t arrival_us, const void* bytes, size_t size)
{
    transit* place = make_room(link, size);
    place->arrival_us = arrival_us;
    place->order = link->put_count++;
    place->size = size;
    memcpy(place->bytes, bytes, size);
    move_up(link->transits, link->count++);
}

// ---- what becomes of a datagram

typedef struct fate {
    bool is_lost;
    bool is_doubled;
    uint64_t jitter_us[2]; // of each copy
} fate;

// Always draws the same numbers for the same purpose: under another loss or jitter, everything else
// stays as it was, and what is lost at 10 % is also lost at 20 %.
static fate draw_fate(const ph_link_def* def, uint64_t number)
{
    ph_hash hash = ph_hash_make(def->seed);
    ph_hash_add_u64(&hash, def->key);
    ph_hash_add_u64(&hash, number);
    ph_rng rng = ph_rng_make(ph_hash_value(&hash));
    fate drawn;
    drawn.is_lost = ph_rng_chance(&rng, def->loss);
    drawn.is_doubled = ph_rng_chance(&rng, def->doubling);
    for (int copy = 0; copy < 2; ++copy) {
        drawn.jitter_us[copy] = (uint64_t)(ph_rng_double(&rng) * ((double)def->jitter_us + 1.0));
    }
    return drawn;
}

void ph_link_send(ph_link* link, uint64_t now_us, const void* bytes, size_t size)
{
    PH_ASSERT(1 <= size && size <= DATAGRAM_MAX);

    const fate drawn = draw_fate(&link->def, link->stats.sent);
    link->stats.sent += 1;
    link->stats.bytes_sent += size;
    uint64_t leave_us = now_us;
    const bool passes = link->def.bottleneck == NULL ||
                        ph_bottleneck_pass(link->def.bottleneck, now_us, size, &leave_us);
    if (!passes || drawn.is_lost) {
        link->stats.lost += 1;
        return;
    }
    const uint64_t due_us = leave_us + link->def.delay_us;
    put(link, due_us + drawn.jitter_us[0], bytes, size);
    if (drawn.is_doubled) {
        link->stats.doubled += 1;
        put(link, due_us + drawn.jitter_us[1], bytes, size);
    }
}

size_t ph_link_receive(ph_link* link, uint64_t now_us, void* bytes, size_t capacity)
{
    if (link->count == 0 || link->transits[0].arrival_us > now_us) {
        return 0;
    }
    const transit* arrived = &link->transits[0];
    PH_ASSERT(arrived->size <= capacity);

    const size_t size = arrived->size < capacity ? arrived->size : capacity;
    memcpy(bytes, arrived->bytes, size);
    // It goes behind the heap, where its buffer waits for the next one.
    link->count -= 1;
    swap(&link->transits[0], &link->transits[link->count]);
    move_down(link->transits, link->count);
    link->stats.arrived += 1;
    return size;
}

uint64_t ph_link_next_us(const ph_link* link)
{
    return link->count > 0 ? link->transits[0].arrival_us : UINT64_MAX;
}

ph_link_stats ph_link_get_stats(const ph_link* link)
{
    return link->stats;
}
