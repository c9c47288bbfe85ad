// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One viewer's side of a connection: its memory, which is taken when a viewer is added and when its
// budget grows; its budget; when it is worth sending; hints; the stopwatch. Once per viewer and send.

#include "replication/sender.h"

#include "base/allocator.h"
#include "packet/header.h"
#include "packet/pinhole_records.h"
#include "replication/shown_estimate.h"
#include "replication/trace.h"
#include "schedule/pacing.h"
#include "tools/tools.h"

#include <math.h>
#include <string.h>

#define BUDGET_SECOND_US UINT64_C(1000000)
#define PARTS_PER_US 1024.0
// Round trips up to this keep the budget busy. A longer one is served, but with pauses.
#define FLIGHT_SECONDS 2
// A position takes 61 bits on the wire and 8 units in the ring; little is denser.
#define FLIGHT_BITS 60
#define FLIGHT_UNITS 8
// The same for the pinhole profile.
#define PINHOLE_FLIGHT_BITS 10
#define PINHOLE_FLIGHT_UNITS 9
// Nearer than this no eye is worth its bits, however large the radius is for its window.
#define EYE_MARGIN_MIN_MM 4000
// Urgency and precision go by the distance to the eye that the client has.
#define PINHOLE_EYE_SHARE 32
#define CLASSIC_SENDS_PER_SECOND 5.0
// What an enter of the pinhole profile may take beyond the classic one: improbable symbols.
#define PINHOLE_ENTER_EXTRA_BITS (PH_PINHOLE_ENTER_BITS_MAX - PH_CLASSIC_ENTER_BITS_MAX)
#define PRECISION_STEPS_PER_MRAD 1024.0
// Prices to begin with, and how fast they follow: an eighth of the new.
#define FIRST_SLOT_PRICE256 (10 * PH_COST_PER_BIT)
#define FIRST_ENTER_PRICE256 (80 * PH_COST_PER_BIT)
#define PRICE_SHARE 8
// Of all that could be sent, this much is worth waiting for when the scheduler knows what is seen to
// be wrong; the rest is hardly seen. Eight viewers among walkers for 50 s at 13 kbit/s: 13.9 mrad with
// 100, 8.1 with 70, 8.0 with 50, 9.8 with 35; cars hardly care. Fitted to these walkers alone.
#define NEWS_PERCENT 60
// And so many times the overhead of a datagram are enough whatever comes: with newcomers in masses
// waiting for more makes them late. Walkers at 4 kbit/s, missing: 0.85 % with 4, 0.77 with 6, 0.75
// with 7, 0.78 with 8.
#define ENOUGH_OVERHEADS 7
// When an ack is late: before the first round trip, and beside one and a quarter.
#define FIRST_ACK_WAIT_MS 500
#define LEAST_ACK_WAIT_MS 30
#define MOST_ROUND_TRIP_MS 60000.0 // a clock may leap by weeks
// What a leave takes, at about.
#define LEAVE_BITS 12
// A leave waits so long at most while there are tokens for a datagram: when that one gets
// lost, the next one still comes within a second. Walkers at 4 kbit/s are a second apart else, and a
// leave that got lost came after 1.2 s or more (0.002 % ghosts; 0 with 600 ms, at the same error; with
// 500 ms a hundredth more error).
#define LEAVE_WAIT_US 600000

// ---- sizes

// What sizes follow from.
typedef struct sizing {
    const ph_class_info* class_info;
    int bits_per_second;
    int burst_bits; // 0: one second's worth
    int overhead_bytes;
    bool is_pinhole;
} sizing;

// What a packet states of its step.
static int step_bits(const ph_layouts* layouts)
{
    return layouts->has_finer ? PH_PINHOLE_STEP_BITS : 0;
}

static int64_t least_depth_bits(const sizing* of)
{
    const int classic_bits = PH_HEADER_BITS + PH_HELLO_BITS + PH_EYE_BITS;
    const int pinhole_bits = PH_PINHOLE_HEADER_BITS_MAX + step_bits(&of->class_info->layouts) +
                             PH_PINHOLE_SLACK_BITS + PINHOLE_ENTER_EXTRA_BITS;
    const int payload_bits =
        (of->is_pinhole ? pinhole_bits : classic_bits) + of->class_info->layouts.enter_bits_max;
    // Presence flags are in both sums: of the largest classes more than a datagram holds.
    const int payload_bytes = (payload_bits + 7) / 8;
    return 8 * (int64_t)((payload_bytes < PH_PAYLOAD_MAX ? payload_bytes : PH_PAYLOAD_MAX) +
                         of->overhead_bytes);
}

static int64_t depth_of(const sizing* of)
{
    const int64_t wanted = of->burst_bits != 0 ? of->burst_bits : of->bits_per_second;
    const int64_t least = least_depth_bits(of);
    return wanted > least ? wanted : least;
}

// What two seconds may carry, or a full bucket and one second; at least what the largest enter needs
// beside as many small packets as there may be.
static uint32_t flight_units(const sizing* of)
{
    if (of->bits_per_second == 0) {
        return PH_FLIGHT_UNITS_MAX;
    }
    const bool is_wide = of->class_info->is_wide;
    const size_t extra = of->is_pinhole ? PH_ENTER_EXTRA_BYTES : 0;
    const int64_t largest = ph_flight_item_units(is_wide, of->class_info->known_stride + extra);
    const int64_t smallest = ph_flight_item_units(is_wide, 1);
    const int64_t least = 2 * largest + PH_FLIGHT_MAX * (PH_FLIGHT_EYE_UNITS + smallest);
    const int64_t steady_bits = (int64_t)of->bits_per_second * FLIGHT_SECONDS;
    const int64_t burst_bits = of->bits_per_second + depth_of(of);
    const int64_t most_bits = steady_bits > burst_bits ? steady_bits : burst_bits;
    const int64_t wanted = of->is_pinhole ? most_bits / PINHOLE_FLIGHT_BITS * PINHOLE_FLIGHT_UNITS
                                          : most_bits / FLIGHT_BITS * FLIGHT_UNITS;
    const int64_t units = wanted > least ? wanted : least;
    return units < PH_FLIGHT_UNITS_MAX ? (uint32_t)units : PH_FLIGHT_UNITS_MAX;
}

static int32_t eye_margin(const ph_class_info* class_info, int32_t radius_mm, bool is_pinhole)
{
    const int64_t reach_mm = (int64_t)radius_mm + radius_mm / 10;
    const int64_t margin_mm =
        is_pinhole ? radius_mm / PINHOLE_EYE_SHARE : (class_info->half_window_mm - reach_mm) / 2;
    return margin_mm > EYE_MARGIN_MIN_MM ? (int32_t)margin_mm : EYE_MARGIN_MIN_MM;
}

// ---- creation

static sizing sizing_of(const ph_sender_def* def)
{
    return (sizing){
        .class_info = &def->store->class_info,
        .bits_per_second = def->viewer->bits_per_second,
        .burst_bits = def->viewer->burst_bits,
        .overhead_bytes = def->viewer->overhead_bytes,
        .is_pinhole = def->profile == PH_PROFILE_PINHOLE,
    };
}

static uint64_t period_parts(double sends_per_second, bool is_pinhole)
{
    if (sends_per_second == PH_SENDS_AUTO || (sends_per_second == 0.0 && is_pinhole)) {
        return 0;
    }
    const double often = sends_per_second != 0.0 ? sends_per_second : CLASSIC_SENDS_PER_SECOND;
    return (uint64_t)((double)BUDGET_SECOND_US * PARTS_PER_US / often + 0.5);
}

ph_scheduler ph_sender_scheduler(const ph_sender_def* def)
{
    if (def->viewer->scheduler.rank != NULL) {
        return def->viewer->scheduler;
    }
    return def->profile == PH_PROFILE_PINHOLE ? ph_scheduler_error() : ph_scheduler_score();
}

// One that tells of no position has flags.
static int least_update_bits(const ph_sender_def* def)
{
    const ph_frame frame = {
        .layouts = &def->store->class_info.layouts,
        .slot_bits = ph_slot_bits(def->slot_count),
    };
    int least = PH_PAYLOAD_MAX * 8;
    for (int i = 0; i < frame.layouts->count; ++i) {
        const ph_layout* layout = &frame.layouts->layouts[i];
        const uint64_t others = layout->all & ~layout->position;
        const int position_bits = ph_classic_least_bits(&frame, layout, layout->position);
        const int others_bits = ph_classic_least_bits(&frame, layout, others);
        least = position_bits < least ? position_bits : least;
        least = others != 0 && others_bits < least ? others_bits : least;
    }
    return least;
}

static void set_defaults(ph_sender* sender, const ph_sender_def* def)
{
    const ph_viewer_def* viewer = def->viewer;
    const ph_class_info* class_info = &def->store->class_info;
    const bool is_pinhole = sender->is_pinhole;
    sender->bits_per_second = viewer->bits_per_second;
    sender->overhead_bytes = viewer->overhead_bytes;
    const sizing size_of = sizing_of(def);
    sender->depth_bits = depth_of(&size_of);
    sender->least_depth_bits = least_depth_bits(&size_of);
    sender->least_update_bits = is_pinhole ? 0 : least_update_bits(def);
    sender->scheduler = ph_sender_scheduler(def);
    sender->max_starve_ms = (uint32_t)viewer->max_starve_ms;
    sender->first_slot = PH_SLOT_NONE;
    sender->overdue_credit_bits = 1; // the first of them may go at once
    sender->now_ms = 1;
    sender->session = viewer->session;
    sender->newest = viewer->session;
    sender->horizon = viewer->session;
    sender->eye_margin_mm = eye_margin(class_info, viewer->radius_mm, is_pinhole);
    sender->eye_sequence = viewer->session;
    sender->precision =
        is_pinhole ? (uint32_t)(viewer->precision_mrad * PRECISION_STEPS_PER_MRAD + 0.5) : 0;
    sender->prices = (ph_prices){.slot256 = FIRST_SLOT_PRICE256, .enter256 = FIRST_ENTER_PRICE256};
    sender->period_parts = period_parts(viewer->sends_per_second, is_pinhole);
    const int class_count = class_info->layouts.count;
    for (int i = 0; i < class_count; ++i) {
        const uint64_t often = ~class_info->layouts.layouts[i].once;
        sender->masks[i] = often & ph_class_info_audience(class_info, i, viewer->audience, false);
        sender->masks[class_count + i] =
            often & ph_class_info_audience(class_info, i, viewer->audience, true);
    }
}

ph_result ph_sender_create(const ph_allocator* allocator, const ph_sender_def* def,
                           ph_sender** sender)
{
    *sender = NULL;
    const ph_class_info* class_info = &def->store->class_info;
    const bool is_pinhole = def->profile == PH_PROFILE_PINHOLE;
    ph_replicas_def replicas = {
        .rules = {.layouts = &class_info->layouts,
                  .packings = class_info->packings,
                  .tick_us = def->store->tick_us,
                  .normals = &def->store->normals},
        .known_stride = class_info->known_stride,
        .slot_count = def->slot_count,
        .is_pinhole = is_pinhole,
    };
    const size_t mask_count = 2 * (size_t)class_info->layouts.count;
    const size_t property_count = (size_t)class_info->property_count;
    const size_t slots_size = ph_replicas_bytes(&replicas);
    const size_t size =
        sizeof(ph_sender) + (mask_count + property_count) * sizeof(uint64_t) + slots_size;
    ph_sender* made = ph_allocate_zeroed(allocator, size);
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    made->size_bytes = size;
    made->allocator = *allocator;
    made->is_pinhole = is_pinhole;
    made->masks = (uint64_t*)(made + 1);
    made->property_bits256 = made->masks + mask_count;
    uint8_t* slots = (uint8_t*)(made->property_bits256 + property_count);
    replicas.flight = &made->flight;
    replicas.scheduler = &made->scheduler;
    ph_replicas_init(&made->replicas, &replicas, slots);
    set_defaults(made, def);
    const sizing size_of = sizing_of(def);
    const uint32_t units = flight_units(&size_of);
    uint32_t* ring = ph_allocate_array(allocator, units, sizeof(uint32_t));
    if (ring != NULL) {
        ph_flight_init(&made->flight, ring, units, class_info->is_wide);
    }
    // A client of the pinhole profile relies on being sent what stands still, whatever the scheduler is.
    if (ring == NULL ||
        ((is_pinhole || made->scheduler.wants_errors) &&
         ph_shown_estimates_create(allocator, def->slot_count, &class_info->layouts, is_pinhole,
                                   &made->replicas.estimates) != PH_OK)) {
        ph_sender_destroy(made);
        return PH_ERROR_MEMORY;
    }
    *sender = made;
    return PH_OK;
}

void ph_sender_destroy(ph_sender* sender)
{
    if (sender == NULL) {
        return;
    }
    const ph_allocator allocator = sender->allocator;
    ph_tracer_destroy(sender);
    ph_hints_destroy(&sender->hints);
    ph_shown_estimates_destroy(sender->replicas.estimates);
    ph_release_array(&allocator, sender->flight.units, sender->flight.capacity, sizeof(uint32_t));
    ph_release(&allocator, sender, sender->size_bytes);
}

// ---- budget

static void enlarge_flight(ph_sender* sender, uint32_t* ring, uint32_t units)
{
    const ph_flight before = sender->flight;
    ph_flight_move(&sender->flight, ring, units);
    for (int slot = 0; slot < sender->replicas.slot_count; ++slot) {
        uint16_t* place = &ph_replicas_at(&sender->replicas, slot)->newest_item;
        *place = ph_flight_moved(&before, *place);
    }
    ph_release_array(&sender->allocator, before.units, before.capacity, sizeof(uint32_t));
}

// What time has passed since the last send is not known here: it counts at the lower rate, and up to
// the lower depth; if there was no limit, before or after, not at all. Before the first send there is no
// bucket: it begins full of what is set by then.
static void tell_bucket(ph_sender* sender)
{
    if (!sender->is_started) {
        return;
    }
    const int64_t rate_before = sender->bucket.bits_per_second;
    const int64_t depth_before = sender->bucket.depth_bits;
    const bool is_faster =
        sender->bits_per_second == 0 || (rate_before != 0 && sender->bits_per_second > rate_before);
    const bool is_deeper = sender->depth_bits > depth_before;
    ph_token_bucket_change(&sender->bucket, is_faster ? rate_before : sender->bits_per_second,
                           is_deeper ? depth_before : sender->depth_bits);
    sender->is_raised = true;
    sender->is_unlimited |= rate_before == 0 || sender->bits_per_second == 0;
}

ph_result ph_sender_set_budget(ph_sender* sender, const ph_class_info* class_info,
                               int bits_per_second, int burst_bits)
{
    sizing size_of = {
        .class_info = class_info,
        .bits_per_second = bits_per_second,
        .burst_bits = burst_bits,
        .overhead_bytes = sender->overhead_bytes,
        .is_pinhole = sender->is_pinhole,
    };
    // What the caller adds is not in flight: a budget that is no larger than the first allocates nothing.
    const uint32_t units = flight_units(&size_of);
    size_of.overhead_bytes += sender->reserved_peak_bytes;
    const int64_t depth_bits = depth_of(&size_of);
    if (units > sender->flight.capacity) {
        uint32_t* ring = ph_allocate_array(&sender->allocator, units, sizeof(uint32_t));
        if (ring == NULL) {
            return PH_ERROR_MEMORY;
        }
        enlarge_flight(sender, ring, units);
    }
    sender->bits_per_second = bits_per_second;
    sender->depth_bits = depth_bits;
    tell_bucket(sender);
    return PH_OK;
}

int ph_sender_reserve_max(const ph_sender* sender)
{
    return PH_PAYLOAD_MAX - (int)(sender->least_depth_bits / 8 - sender->overhead_bytes);
}

// The depth never shrinks again: it would cost tokens whenever the caller has less to add.
void ph_sender_reserve(ph_sender* sender, int each_bytes, int next_bytes)
{
    PH_ASSERT(each_bytes >= 0 && next_bytes >= 0);
    PH_ASSERT(each_bytes + next_bytes <= ph_sender_reserve_max(sender));

    sender->reserved_bytes = each_bytes;
    sender->reserved_next_bytes = next_bytes;
    if (each_bytes + next_bytes <= sender->reserved_peak_bytes) {
        return;
    }
    sender->reserved_peak_bytes = each_bytes + next_bytes;
    const int64_t least_bits = sender->least_depth_bits + 8 * (int64_t)(each_bytes + next_bytes);
    if (least_bits > sender->depth_bits) {
        sender->depth_bits = least_bits;
        tell_bucket(sender);
    }
}

int ph_sender_overhead(const ph_sender* sender)
{
    return sender->overhead_bytes + sender->reserved_bytes + sender->reserved_next_bytes;
}

int ph_sender_room(const ph_sender* sender)
{
    return PH_PAYLOAD_MAX - sender->reserved_bytes - sender->reserved_next_bytes;
}

void ph_sender_pay(ph_sender* sender, int payload_bytes)
{
    const int wire_bytes = payload_bytes + sender->overhead_bytes;
    ph_token_bucket_spend(&sender->bucket, 8 * (int64_t)wire_bytes);
    ++sender->stats.sent_datagrams;
    sender->stats.sent_payload_bytes += (uint64_t)payload_bytes;
    sender->stats.sent_wire_bytes += (uint64_t)wire_bytes;
    sender->second_bytes += (uint64_t)wire_bytes;
}

// ---- time

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
    const uint32_t now_ms = (uint32_t)(now_us / 1000);
    sender->now_us = now_us;
    sender->now_ms = now_ms + (now_ms == 0);
    if (sender->is_pinhole) {
        // A round trip and a quarter: acks come at once.
        const double rtt_ms = fmin(sender->stats.rtt_ms, MOST_ROUND_TRIP_MS);
        sender->ack_wait_ms =
            rtt_ms > 0.0 ? LEAST_ACK_WAIT_MS + (uint32_t)(1.25 * rtt_ms) : FIRST_ACK_WAIT_MS;
    }
    if (sender->is_unlimited) {
        ph_token_bucket_skip(&sender->bucket, now_us);
    }
    ph_token_bucket_fill(&sender->bucket, now_us);
    if (sender->is_raised) {
        sender->is_raised = false;
        sender->is_unlimited = false;
        ph_token_bucket_change(&sender->bucket, sender->bits_per_second, sender->depth_bits);
    }
    const uint64_t seconds = (now_us - sender->second_us) / BUDGET_SECOND_US;
    if (seconds > 0) {
        sender->last_second_bytes = seconds == 1 ? sender->second_bytes : 0;
        sender->second_bytes = 0;
        sender->second_us += seconds * BUDGET_SECOND_US;
    }
}

bool ph_sender_is_ack_late(const ph_sender* sender, int slot)
{
    const ph_replicas* replicas = &sender->replicas;
    const int state = replicas->state[slot];
    const bool is_left = (state == PH_REPLICA_LEAVING || state == PH_REPLICA_LEAVING_UNSURE) &&
                         replicas->dirty[slot] == 0;
    return sender->ack_wait_ms != 0 && (state == PH_REPLICA_ENTERING || is_left) &&
           sender->now_ms - ph_replicas_at(replicas, slot)->served_ms > sender->ack_wait_ms;
}

uint64_t ph_sender_mask(const ph_sender* sender, int class_count, int slot)
{
    const int own = slot == 0 ? class_count : 0;
    return sender->masks[own + sender->replicas.class_index[slot]];
}

// ---- pacing

double ph_sender_often(const ph_sender* sender)
{
    return sender->period_parts == 0
               ? PH_SENDS_AUTO
               : (double)BUDGET_SECOND_US * PARTS_PER_US / (double)sender->period_parts;
}

// The first of start, start + period, ... that is not before `earliest`.
static uint64_t next_time(uint64_t start, uint64_t period, uint64_t earliest)
{
    if (earliest <= start) {
        return start;
    }
    return start + (earliest - start + period - 1) / period * period;
}

// Times of a viewer lie a whole number of periods apart, from a start of its own: nothing drifts.
bool ph_sender_is_time(ph_sender* sender, uint32_t viewer, uint64_t now_us)
{
    const uint64_t now_parts = now_us * (uint64_t)PARTS_PER_US;
    const uint64_t period = sender->period_parts;
    if (!sender->has_pacing) {
        // Fractions of the golden ratio spread any number of viewers evenly.
        const uint32_t turn = viewer * UINT32_C(0x9E3779B9);
        const uint64_t start = (uint64_t)((double)period * ((double)turn / 4294967296.0));
        sender->next_parts = next_time(start, period, now_parts + period / 2);
        sender->has_pacing = true;
        return true;
    }
    if (now_parts < sender->next_parts) {
        return false;
    }
    sender->next_parts += period;
    if (sender->next_parts <= now_parts) {
        // Times that were missed are not made up for.
        sender->next_parts = next_time(sender->next_parts, period, now_parts + 1);
    }
    return true;
}

void ph_price_learn(uint32_t* price256, int64_t cost256, int count)
{
    if (count > 0) {
        const int64_t off256 = cost256 / count - (int64_t)*price256;
        *price256 = (uint32_t)((int64_t)*price256 + off256 / PRICE_SHARE);
    }
}

// A moving entity is sent anew soon, and more exactly for nothing: refining is for bits that
// nothing else needs.
bool ph_sender_can_refine(const ph_sender* sender, int64_t spoken_bits)
{
    return sender->is_pinhole &&
           (sender->precision != 0 || sender->replicas.rules.layouts->has_finer) &&
           ph_token_bucket_bits(&sender->bucket) - spoken_bits > sender->depth_bits / 2;
}

// Of all dirty slots, without a diff. Dirty references are to be up to date: see
// ph_scan_references().
static int64_t news_bits(const ph_sender* sender)
{
    const ph_replicas* replicas = &sender->replicas;
    const bool can_refine = ph_sender_can_refine(sender, 0);
    int dirty_count = 0;
    for (int slot = 0; slot < replicas->slot_count; ++slot) {
        const bool is_dirty =
            replicas->dirty[slot] != 0 || (can_refine && ph_replicas_is_rounded(replicas, slot));
        dirty_count += is_dirty && !ph_replicas_is_gone(replicas, slot);
    }
    const int64_t enters = replicas->newcomer_count;
    const int64_t others = dirty_count > enters ? dirty_count - enters : 0;
    const int64_t news256 = enters * sender->prices.enter256 + others * sender->prices.slot256;
    return dirty_count == 0 ? 0 : 1 + news256 / PH_COST_PER_BIT;
}

// What cannot wait for all the other news, in bits.
typedef struct urgent_bits {
    int64_t again; // enters not acked in time, and leaves that are to be sent once more
    int64_t left;  // of these the leaves; and all others, when one of them has waited too long
} urgent_bits;

static urgent_bits find_urgent(ph_sender* sender)
{
    const ph_flight* flight = &sender->flight;
    const bool is_old =
        flight->count > 0 && sender->now_us - ph_flight_oldest(flight)->stamp.sent_us >=
                                 1000 * (uint64_t)sender->ack_wait_ms;
    // Mostly no slot is leaving, and nothing has been in flight for long: then no slot is looked at.
    if (sender->replicas.leaving_count == 0 && !is_old) {
        sender->no_leaves_us = sender->now_us;
        return (urgent_bits){0};
    }
    const ph_replicas* replicas = &sender->replicas;
    const int64_t enter_bits = (int64_t)sender->prices.enter256 / PH_COST_PER_BIT;
    int entered = 0; // not acked in time
    int left = 0;    // to be sent again
    int leaving = 0; // to be sent for the first time
    for (int slot = 0; slot < replicas->slot_count; ++slot) {
        if (ph_replicas_is_gone(replicas, slot)) {
            continue; // the client never had it: there is nothing to send
        }
        const bool is_late = ph_sender_is_ack_late(sender, slot);
        if (ph_replicas_is_leaving(replicas, slot)) {
            // Of enters what was lost may be far away, and its turn is not near then.
            const bool is_again = is_late || ph_replicas_at(replicas, slot)->lost != 0;
            left += is_again;
            leaving += !is_again && replicas->dirty[slot] != 0;
        } else {
            entered += is_late;
        }
    }
    if (leaving == 0 || sender->no_leaves_us < sender->sent_us) {
        sender->no_leaves_us = sender->now_us;
    }
    const bool has_waited = sender->now_us - sender->no_leaves_us >= LEAVE_WAIT_US;
    return (urgent_bits){
        .again = entered * enter_bits + left * LEAVE_BITS,
        .left = (left + (has_waited ? leaving : 0)) * LEAVE_BITS,
    };
}

// So many bits are not to wait for more.
static void hurry(ph_pacing* pacing, int64_t bits)
{
    if (bits > 0) {
        pacing->news_bits = pacing->news_bits > 0 ? pacing->news_bits : bits;
        pacing->room_bits = bits < pacing->room_bits ? bits : pacing->room_bits;
    }
}

bool ph_sender_is_worth(ph_sender* sender)
{
    PH_ASSERT(sender->is_started);

    const int pinhole_bits = PH_PINHOLE_HEADER_BITS_MIN +
                             step_bits(sender->replicas.rules.layouts) + PH_PINHOLE_SLACK_BITS;
    const int64_t header_bits = (sender->is_pinhole ? pinhole_bits : PH_HEADER_BITS) +
                                (sender->has_ack ? 0 : PH_HELLO_BITS);
    ph_pacing pacing = {
        .tokens_bits = ph_token_bucket_bits(&sender->bucket),
        .depth_bits = sender->depth_bits,
        .overhead_bits = 8 * (int64_t)ph_sender_overhead(sender) + header_bits,
        .room_bits = 8 * (int64_t)ph_sender_room(sender) - header_bits,
        .news_bits = news_bits(sender),
        .since_us = sender->now_us - sender->sent_us,
    };
    if (sender->scheduler.wants_errors) {
        const int64_t enough_bits =
            ENOUGH_OVERHEADS * (8 * (int64_t)sender->overhead_bytes + header_bits);
        pacing.news_bits = (pacing.news_bits * NEWS_PERCENT + 99) / 100;
        pacing.room_bits = enough_bits < pacing.room_bits ? enough_bits : pacing.room_bits;
    }
    if (sender->ack_wait_ms != 0) {
        const urgent_bits now = find_urgent(sender);
        hurry(&pacing, now.again);
        hurry(&pacing, now.left);
    }
    return ph_pacing_is_due(&pacing);
}

// ---- hints

// In a hash map. The key has the generation in it, so a hint never reaches the entity that gets the
// same index later; what is out of date is thrown out when the map is full.

#define HINT_NONE 1.0f
#define HINTS_AT_FIRST 8
// Keys are the world's own ids: any seed will do.
#define HINT_SEED UINT64_C(0x68696E74)

static uint64_t hint_key(ph_entity_id entity)
{
    return (uint64_t)entity.index1 << 32 | entity.generation;
}

static bool is_hint_alive(const ph_entities* entities, uint64_t key)
{
    const ph_entity_id id = {.index1 = (uint32_t)(key >> 32), .generation = (uint32_t)key};
    return ph_entities_find(entities, id) != PH_ENTITY_NONE;
}

void ph_hints_destroy(ph_hints* hints)
{
    ph_hash_map_destroy(&hints->weights);
}

// Another map with room for one more than those that still live.
static ph_result renew_hints(ph_hints* hints, const ph_entities* entities,
                             const ph_allocator* allocator)
{
    const ph_hash_map* old = &hints->weights;
    int live_count = 0;
    for (uint32_t i = 0; i < old->capacity; ++i) {
        live_count +=
            old->entries[i].distance1 != 0 && is_hint_alive(entities, old->entries[i].key);
    }
    ph_hash_map made;
    const int room = live_count < HINTS_AT_FIRST ? HINTS_AT_FIRST : 2 * live_count;
    if (ph_hash_map_create(&made, allocator, room, HINT_SEED) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < old->capacity; ++i) {
        if (old->entries[i].distance1 != 0 && is_hint_alive(entities, old->entries[i].key)) {
            (void)ph_hash_map_insert(&made, old->entries[i].key, old->entries[i].value);
        }
    }
    ph_hash_map_destroy(&hints->weights);
    hints->weights = made;
    return PH_OK;
}

ph_result ph_hints_set(ph_hints* hints, const ph_entities* entities, const ph_allocator* allocator,
                       ph_entity_id entity, float weight)
{
    const uint64_t key = hint_key(entity);
    if (weight == HINT_NONE) {
        (void)ph_hash_map_remove(&hints->weights, key);
        return PH_OK;
    }
    uint32_t bits;
    memcpy(&bits, &weight, sizeof bits);
    if (ph_hash_map_insert(&hints->weights, key, bits)) {
        return PH_OK;
    }
    if (renew_hints(hints, entities, allocator) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    const bool is_set = ph_hash_map_insert(&hints->weights, key, bits);
    PH_ASSERT(is_set);
    (void)is_set;
    return PH_OK;
}

float ph_hints_weight(const ph_hints* hints, ph_entity_id entity)
{
    uint32_t bits;
    if (!ph_hash_map_try_find(&hints->weights, hint_key(entity), &bits)) {
        return HINT_NONE;
    }
    float weight;
    memcpy(&weight, &bits, sizeof weight);
    return weight;
}

// ---- the stopwatch

ph_stopwatch ph_stopwatch_make(ph_lent_clock clock, ph_stage_times* sums)
{
    ph_stopwatch watch = {.clock = clock, .sums = sums};
    ph_stopwatch_start(&watch);
    return watch;
}

void ph_stopwatch_start(ph_stopwatch* watch)
{
    if (watch->clock.now_ns != NULL) {
        watch->last_ns = watch->clock.now_ns(watch->clock.context);
    }
}

void ph_stopwatch_lap(ph_stopwatch* watch, ph_stage stage)
{
    if (watch->clock.now_ns != NULL) {
        const uint64_t now_ns = watch->clock.now_ns(watch->clock.context);
        watch->sums->ns[stage] += now_ns - watch->last_ns;
        watch->last_ns = now_ns;
    }
}

// ---- soundness

bool ph_sender_validate(const ph_sender* sender)
{
    const ph_flight* flight = &sender->flight;
    return ph_flight_validate(flight) && ph_replicas_validate(&sender->replicas) &&
           ph_hash_map_validate(&sender->hints.weights) &&
           sender->newest - sender->horizon == (uint32_t)flight->count &&
           sender->newest - sender->session == (uint32_t)sender->packet_count &&
           sender->stats.resolved_packets + (uint64_t)flight->count == sender->packet_count;
}
