// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Datagrams in flight lie in a binary heap, the next to arrive at the root. Runs once per datagram
// and in the long run allocates nothing: the places behind the heap keep the buffers of what left.
//
//   transits  | root | ... heap ... | spare buffers ... |
//                                   count               capacity
//
// A bottleneck's queue is known by when it will be empty.

#include "pinhole/link.h"

#include "base/allocator.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/rng.h"

#include <limits.h>
#include <string.h>

enum { TRANSITS_AT_FIRST = 16 };

#define ONE_BIT_PER_SECOND_US 8000000ull // microseconds that a byte takes at 1 bit/s

typedef struct transit {
    uint64_t arrival_us;
    uint64_t order; // of equal times the one that was put in first
    uint8_t* bytes; // NULL in places that were never used
    size_t size;
    size_t capacity; // of bytes
} transit;

struct ph_link {
    ph_link_def def;
    ph_link_stats stats;
    uint64_t put_count; // copies so far
    transit* transits;
    size_t count;
    size_t capacity;
};

// ---- create, change, destroy

static ph_result check_link_def(const ph_link_def* def, const char* function)
{
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, function);
    ph_check_real(&check, "ph_link_def.loss", def->loss, 0.0, 1.0);
    ph_check_real(&check, "ph_link_def.duplication", def->duplication, 0.0, 1.0);
    const ph_bottleneck* narrow = def->bottleneck;
    if (narrow != NULL) {
        ph_check_range(&check, "ph_bottleneck.bits_per_second", narrow->bits_per_second, 0,
                       INT_MAX);
        ph_check_range(&check, "ph_bottleneck.queue_bytes", narrow->queue_bytes, 0, INT_MAX);
        ph_check_range(&check, "ph_bottleneck.overhead_bytes", narrow->overhead_bytes, 0, INT_MAX);
    }
    return check.result;
}

static ph_check link_call(const ph_link* link, const char* function)
{
    return ph_check_begin(link->def.on_error, link->def.on_error_context, function);
}

ph_result ph_link_create(const ph_link_def* def, ph_link** link)
{
    *link = NULL;
    const ph_result result = check_link_def(def, "ph_link_create");
    if (result != PH_OK) {
        return result;
    }
    ph_link* created = ph_allocate_zeroed(&def->allocator, sizeof *created);
    if (created == NULL) {
        const ph_check call =
            ph_check_begin(def->on_error, def->on_error_context, "ph_link_create");
        return ph_fail_memory(&call);
    }
    created->def = *def;
    *link = created;
    return PH_OK;
}

void ph_link_destroy(ph_link* link)
{
    if (link == NULL) {
        return;
    }
    const ph_allocator allocator = link->def.allocator;
    for (size_t i = 0; i < link->capacity; ++i) {
        ph_release(&allocator, link->transits[i].bytes, link->transits[i].capacity);
    }
    ph_release_array(&allocator, link->transits, link->capacity, sizeof *link->transits);
    ph_release(&allocator, link, sizeof *link);
}

ph_result ph_link_change(ph_link* link, const ph_link_def* def)
{
    const ph_result result = check_link_def(def, "ph_link_change");
    if (result != PH_OK) {
        return result;
    }
    const ph_link_def before = link->def;
    link->def = *def;
    link->def.seed = before.seed;
    link->def.key = before.key;
    link->def.allocator = before.allocator;
    return PH_OK;
}

// ---- the bottleneck

uint64_t ph_bottleneck_wait_us(const ph_bottleneck* bottleneck, uint64_t now_us)
{
    return bottleneck->free_us > now_us ? bottleneck->free_us - now_us : 0;
}

// Returns false when the datagram is dropped; else *leave_us is when the last of it has left.
static bool pass_bottleneck(ph_bottleneck* narrow, uint64_t now_us, size_t size, uint64_t* leave_us)
{
    *leave_us = now_us;
    if (narrow == NULL || narrow->bits_per_second == 0) {
        return true;
    }
    const uint64_t rate = (uint64_t)narrow->bits_per_second;
    const uint64_t bytes = size + (uint64_t)narrow->overhead_bytes;
    const uint64_t wait_us = ph_bottleneck_wait_us(narrow, now_us);
    const uint64_t queued_bytes = wait_us * rate / ONE_BIT_PER_SECOND_US;
    if (wait_us > 0 && queued_bytes + bytes > (uint64_t)narrow->queue_bytes) {
        ++narrow->dropped;
        return false;
    }
    ++narrow->passed;
    narrow->free_us = now_us + wait_us + (bytes * ONE_BIT_PER_SECOND_US + rate - 1) / rate;
    *leave_us = narrow->free_us;
    return true;
}

// ---- the heap

static bool arrives_before(const transit* left, const transit* right)
{
    if (left->arrival_us != right->arrival_us) {
        return left->arrival_us < right->arrival_us;
    }
    return left->order < right->order;
}

static void swap_transits(transit* left, transit* right)
{
    const transit kept = *left;
    *left = *right;
    *right = kept;
}

static void move_transit_up(transit* heap, size_t place)
{
    while (place > 0 && arrives_before(&heap[place], &heap[(place - 1) / 2])) {
        swap_transits(&heap[place], &heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
}

static void move_root_down(transit* heap, size_t count)
{
    size_t place = 0;
    for (;;) {
        size_t first = place;
        for (size_t child = 2 * place + 1; child <= 2 * place + 2 && child < count; ++child) {
            first = arrives_before(&heap[child], &heap[first]) ? child : first;
        }
        if (first == place) {
            return;
        }
        swap_transits(&heap[place], &heap[first]);
        place = first;
    }
}

// Doubles the array, or makes the first one.
static bool grow_transits(ph_link* link)
{
    const ph_allocator* allocator = &link->def.allocator;
    const size_t capacity = link->capacity == 0 ? TRANSITS_AT_FIRST : 2 * link->capacity;
    transit* grown = ph_allocate_array(allocator, capacity, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    if (link->capacity > 0) {
        memcpy(grown, link->transits, link->capacity * sizeof *grown);
    }
    memset(grown + link->capacity, 0, (capacity - link->capacity) * sizeof *grown);
    ph_release_array(allocator, link->transits, link->capacity, sizeof *grown);
    link->transits = grown;
    link->capacity = capacity;
    return true;
}

// Makes room for copies of size bytes behind the heap: putting them there cannot fail.
static bool reserve_transits(ph_link* link, size_t copies, size_t size)
{
    while (link->capacity - link->count < copies) {
        if (!grow_transits(link)) {
            return false;
        }
    }
    for (size_t i = link->count; i < link->count + copies; ++i) {
        transit* place = &link->transits[i];
        if (place->capacity < size) {
            uint8_t* bytes = ph_allocate(&link->def.allocator, size);
            if (bytes == NULL) {
                return false;
            }
            ph_release(&link->def.allocator, place->bytes, place->capacity);
            place->bytes = bytes;
            place->capacity = size;
        }
    }
    return true;
}

static void put_transit(ph_link* link, uint64_t arrival_us, const void* bytes, size_t size)
{
    transit* place = &link->transits[link->count];
    place->arrival_us = arrival_us;
    place->order = link->put_count++;
    place->size = size;
    memcpy(place->bytes, bytes, size);
    move_transit_up(link->transits, link->count++);
}

// ---- send and receive

// What happens to one datagram.
typedef struct fate {
    bool is_lost;
    bool is_duplicated;
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
    drawn.is_duplicated = ph_rng_chance(&rng, def->duplication);
    for (int copy = 0; copy < 2; ++copy) {
        drawn.jitter_us[copy] = (uint64_t)(ph_rng_double(&rng) * ((double)def->jitter_us + 1.0));
    }
    return drawn;
}

ph_result ph_link_send(ph_link* link, uint64_t now_us, const void* bytes, size_t size)
{
    ph_check check = link_call(link, "ph_link_send");
    ph_check_range(&check, "size", (int64_t)size, 1, PH_LINK_DATAGRAM_MAX);
    if (check.result != PH_OK) {
        return check.result;
    }
    const fate drawn = draw_fate(&link->def, link->stats.sent_datagrams);
    const size_t copies = drawn.is_lost ? 0 : drawn.is_duplicated ? 2 : 1;
    if (!reserve_transits(link, copies, size)) {
        return ph_fail_memory(&check);
    }
    link->stats.sent_datagrams += 1;
    link->stats.sent_bytes += size;
    // A datagram is lost behind the bottleneck: it takes its time there all the same.
    uint64_t leave_us;
    if (!pass_bottleneck(link->def.bottleneck, now_us, size, &leave_us) || copies == 0) {
        link->stats.lost_datagrams += 1;
        return PH_OK;
    }
    for (size_t copy = 0; copy < copies; ++copy) {
        put_transit(link, leave_us + link->def.delay_us + drawn.jitter_us[copy], bytes, size);
    }
    link->stats.duplicated_datagrams += copies - 1;
    return PH_OK;
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
    swap_transits(&link->transits[0], &link->transits[link->count]);
    move_root_down(link->transits, link->count);
    link->stats.received_datagrams += 1;
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
