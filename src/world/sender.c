// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Memory and budget of one viewer's sending half. Memory is taken when a viewer is added, and when
// its budget grows.

#include "world/sender.h"

#include "base/allocator.h"
#include "wire/classic.h"
#include "wire/header.h"

#define US_PER_SECOND UINT64_C(1000000)
#define PARTS_PER_US 1024.0

// Round trips up to this keep the budget busy. A longer one is served, but with pauses.
#define FLIGHT_SECONDS 2
// A position takes 61 bits on the wire and 8 units in the ring; little is denser.
#define FLIGHT_BITS 60
#define FLIGHT_UNITS 8

// Nearer than this no eye is worth its bits, however large the radius is for its window.
#define EYE_MARGIN_MIN_MM 4000

// ---- sizes

static int default_burst(int bits_per_second, int burst_bits)
{
    return burst_bits != 0 ? burst_bits : bits_per_second;
}

static int64_t least_depth_bits(const ph_forms* forms, int overhead_bytes)
{
    const int payload_bits =
        PH_HEADER_BITS + PH_HELLO_BITS + PH_EYE_BITS + forms->layouts.enter_bits_max;
    return 8 * (int64_t)((payload_bits + 7) / 8 + overhead_bytes);
}

static int64_t depth_of(const ph_forms* forms, int bits_per_second, int burst_bits,
                        int overhead_bytes)
{
    const int64_t wanted = default_burst(bits_per_second, burst_bits);
    const int64_t least = least_depth_bits(forms, overhead_bytes);
    return wanted > least ? wanted : least;
}

// What two seconds may carry, or a full bucket and one second; at least what the largest enter needs
// beside as many small packets as there may be.
static uint32_t flight_units(const ph_forms* forms, int bits_per_second, int64_t depth_bits)
{
    if (bits_per_second == 0) {
        return PH_FLIGHT_UNITS_MAX;
    }
    const int64_t largest = ph_flight_item_units(forms->is_wide, forms->known_stride);
    const int64_t smallest = ph_flight_item_units(forms->is_wide, 1);
    const int64_t least = 2 * largest + PH_FLIGHT_MAX * (PH_FLIGHT_EYE_UNITS + smallest);
    const int64_t steady_bits = (int64_t)bits_per_second * FLIGHT_SECONDS;
    const int64_t burst_bits = (int64_t)bits_per_second + depth_bits;
    const int64_t wanted =
        (steady_bits > burst_bits ? steady_bits : burst_bits) / FLIGHT_BITS * FLIGHT_UNITS;
    const int64_t units = wanted > least ? wanted : least;
    return units < PH_FLIGHT_UNITS_MAX ? (uint32_t)units : PH_FLIGHT_UNITS_MAX;
}

static int32_t eye_margin(const ph_forms* forms, int32_t radius_mm)
{
    const int64_t reach_mm = (int64_t)radius_mm + radius_mm / 10;
    const int64_t margin_mm = (forms->half_window_mm - reach_mm) / 2;
    return margin_mm > EYE_MARGIN_MIN_MM ? (int32_t)margin_mm : EYE_MARGIN_MIN_MM;
}

// ---- creation

static void fill(ph_sender* sender, const ph_sender_def* def)
{
    const ph_viewer_def* viewer = def->viewer;
    sender->bits_per_second = viewer->bits_per_second;
    sender->depth_bits =
        depth_of(def->forms, viewer->bits_per_second, viewer->burst_bits, viewer->overhead_bytes);
    sender->overhead_bytes = viewer->overhead_bytes;
    sender->scheduler = viewer->scheduler.rank != NULL ? viewer->scheduler : ph_scheduler_score();
    sender->patience_ms = (uint32_t)viewer->patience_ms;
    sender->first_slot = PH_SLOT_NOBODY;
    sender->session = viewer->session;
    sender->newest = viewer->session;
    sender->horizon = viewer->session;
    sender->eye_margin_mm = eye_margin(def->forms, viewer->radius_mm);
    sender->period_parts =
        (uint64_t)((double)US_PER_SECOND * PARTS_PER_US / viewer->sends_per_second + 0.5);
    const int class_count = def->forms->layouts.count;
    for (int i = 0; i < class_count; ++i) {
        const uint64_t often = ~def->forms->layouts.layouts[i].once;
        sender->masks[i] = often & ph_forms_audience(def->forms, i, viewer->audience, false);
        sender->masks[class_count + i] =
            often & ph_forms_audience(def->forms, i, viewer->audience, true);
    }
}

ph_result ph_sender_create(const ph_allocator* allocator, const ph_sender_def* def,
                           ph_sender** sender)
{
    *sender = NULL;
    const size_t mask_count = 2 * (size_t)def->forms->layouts.count;
    const size_t bill_count = (size_t)def->forms->property_count;
    const size_t slots_size = ph_knowledge_bytes(def->slot_count, def->forms->known_stride);
    const bool is_large = def->slot_count > PH_STACK_SLOTS;
    const size_t scratch_size = is_large ? (size_t)def->slot_count * PH_SCRATCH_BYTES_PER_SLOT : 0;
    const size_t size = sizeof(ph_sender) + (mask_count + bill_count) * sizeof(uint64_t) +
                        slots_size + scratch_size;
    ph_sender* made = ph_allocate_zeroed(allocator, size);
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    const int64_t depth_bits = depth_of(def->forms, def->viewer->bits_per_second,
                                        def->viewer->burst_bits, def->viewer->overhead_bytes);
    const uint32_t units = flight_units(def->forms, def->viewer->bits_per_second, depth_bits);
    uint32_t* ring = ph_allocate_array(allocator, units, sizeof(uint32_t));
    if (ring == NULL) {
        ph_release(allocator, made, size);
        return PH_ERROR_MEMORY;
    }
    made->size_bytes = size;
    made->allocator = *allocator;
    made->masks = (uint64_t*)(made + 1);
    made->property_bits256 = made->masks + mask_count;
    uint8_t* slots = (uint8_t*)(made->property_bits256 + bill_count);
    ph_knowledge_init(&made->knowledge, slots, def->slot_count, def->forms->known_stride);
    made->scratch = is_large ? slots + slots_size : NULL;
    ph_flight_init(&made->flight, ring, units, def->forms->is_wide);
    fill(made, def);
    *sender = made;
    return PH_OK;
}

void ph_sender_destroy(ph_sender* sender)
{
    if (sender == NULL) {
        return;
    }
    const ph_allocator allocator = sender->allocator;
    ph_hints_destroy(&sender->hints);
    ph_release_array(&allocator, sender->flight.units, sender->flight.capacity, sizeof(uint32_t));
    ph_release(&allocator, sender, sender->size_bytes);
}

ph_send_scratch ph_send_scratch_make(void* memory, int slot_count)
{
    const size_t count = (size_t)slot_count;
    ph_send_scratch scratch = {.distance_mm = memory};
    scratch.priority = scratch.distance_mm + count;
    scratch.rank = scratch.priority + count;
    scratch.mileage_mm = (uint32_t*)(scratch.rank + count);
    scratch.change = (float*)(scratch.mileage_mm + count);
    scratch.ready = (uint16_t*)(scratch.change + count);
    scratch.sorted = scratch.ready + count;
    return scratch;
}

// ---- budget

static void enlarge_flight(ph_sender* sender, uint32_t* ring, uint32_t units)
{
    const ph_flight before = sender->flight;
    ph_flight_move(&sender->flight, ring, units);
    for (int slot = 0; slot < sender->knowledge.slot_count; ++slot) {
        uint16_t* place = &sender->knowledge.newest_item[slot];
        *place = ph_flight_moved(&before, *place);
    }
    ph_release_array(&sender->allocator, before.units, before.capacity, sizeof(uint32_t));
}

ph_result ph_sender_set_budget(ph_sender* sender, const ph_forms* forms, int bits_per_second,
                               int burst_bits)
{
    const int64_t depth_bits = depth_of(forms, bits_per_second, burst_bits, sender->overhead_bytes);
    const uint32_t units = flight_units(forms, bits_per_second, depth_bits);
    if (units > sender->flight.capacity) {
        uint32_t* ring = ph_allocate_array(&sender->allocator, units, sizeof(uint32_t));
        if (ring == NULL) {
            return PH_ERROR_MEMORY;
        }
        enlarge_flight(sender, ring, units);
    }
    sender->bits_per_second = bits_per_second;
    sender->depth_bits = depth_bits;
    // What time has passed since the last send is not known here: it counts at the lower rate, and
    // up to the lower depth.
    if (sender->is_started) {
        const int64_t rate_before = sender->bucket.bits_per_second;
        const int64_t depth_before = sender->bucket.depth_bits;
        const bool is_faster =
            bits_per_second == 0 || (rate_before != 0 && bits_per_second > rate_before);
        const bool is_deeper = sender->depth_bits > depth_before;
        ph_token_bucket_change(&sender->bucket, is_faster ? rate_before : bits_per_second,
                               is_deeper ? depth_before : sender->depth_bits);
        sender->is_raised = true;
    }
    return PH_OK;
}

void ph_sender_pass_time(ph_sender* sender, uint64_t now_us)
{
    if (!sender->is_started) {
        sender->is_started = true;
        sender->bucket = ph_token_bucket_make(sender->bits_per_second, sender->depth_bits, now_us);
        sender->second_us = now_us;
        sender->now_us = now_us;
    }
    if (now_us < sender->now_us) {
        return;
    }
    sender->now_us = now_us;
    ph_token_bucket_fill(&sender->bucket, now_us);
    if (sender->is_raised) {
        sender->is_raised = false;
        ph_token_bucket_change(&sender->bucket, sender->bits_per_second, sender->depth_bits);
    }
    const uint64_t seconds = (now_us - sender->second_us) / US_PER_SECOND;
    if (seconds > 0) {
        sender->last_second_bytes = seconds == 1 ? sender->second_bytes : 0;
        sender->second_bytes = 0;
        sender->second_us += seconds * US_PER_SECOND;
    }
}

// ---- rhythm

// Times of a viewer lie a whole number of periods apart, from a start of its own: nothing drifts.
// Fractions of the golden ratio spread any number of viewers evenly.
static uint64_t phase_of(const ph_sender* sender, uint32_t viewer)
{
    const uint32_t turn = viewer * UINT32_C(0x9E3779B9);
    return (uint64_t)((double)sender->period_parts * ((double)turn / 4294967296.0));
}

// The first of start, start + period, ... that is not before `earliest`.
static uint64_t next_time(uint64_t start, uint64_t period, uint64_t earliest)
{
    if (earliest <= start) {
        return start;
    }
    return start + (earliest - start + period - 1) / period * period;
}

bool ph_sender_is_time(ph_sender* sender, uint32_t viewer, uint64_t now_us)
{
    const uint64_t now_parts = now_us * (uint64_t)PARTS_PER_US;
    if (sender->has_rhythm && now_parts < sender->next_parts) {
        return false;
    }
    const uint64_t period = sender->period_parts;
    if (!sender->has_rhythm) {
        sender->next_parts = next_time(phase_of(sender, viewer), period, now_parts + period / 2);
        sender->has_rhythm = true;
        return true;
    }
    sender->next_parts += period;
    if (sender->next_parts <= now_parts) {
        // Times that were missed are not made up for.
        sender->next_parts = next_time(sender->next_parts, period, now_parts + 1);
    }
    return true;
}

// ---- soundness

bool ph_sender_validate(const ph_sender* sender)
{
    const ph_flight* flight = &sender->flight;
    return ph_flight_validate(flight) && ph_knowledge_validate(&sender->knowledge, flight) &&
           ph_hash_map_validate(&sender->hints.weights) &&
           sender->newest - sender->horizon == (uint32_t)flight->count &&
           sender->newest - sender->session == (uint32_t)sender->packet_count &&
           sender->stats.resolved + (uint64_t)flight->count == sender->packet_count;
}
