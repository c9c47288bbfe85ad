// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Memory and budget of one viewer's sending half. Memory is taken when a viewer is added, and when
// its budget grows.

#include "world/sender.h"

#include "base/allocator.h"
#include "schedule/rhythm.h"
#include "wire/coded.h"
#include "wire/coded_header.h"
#include "world/expectation.h"

#define US_PER_SECOND UINT64_C(1000000)
#define PARTS_PER_US 1024.0

// Round trips up to this keep the budget busy. A longer one is served, but with pauses.
#define FLIGHT_SECONDS 2
// A position takes 61 bits on the wire and 8 units in the ring; little is denser.
#define FLIGHT_BITS 60
#define FLIGHT_UNITS 8
// The same for the pinhole profile.
#define CODED_FLIGHT_BITS 10
#define CODED_FLIGHT_UNITS 9

// Nearer than this no eye is worth its bits, however large the radius is for its window.
#define EYE_MARGIN_MIN_MM 4000
// Urgency and precision go by the distance to the eye that the client has.
#define CODED_EYE_SHARE 32

#define CLASSIC_SENDS_PER_SECOND 5.0

// What an enter of the pinhole profile may take beyond the classic one: improbable symbols.
#define CODED_ENTER_EXTRA_BITS (PH_CODED_ENTER_BITS_MAX - PH_CLASSIC_ENTER_BITS_MAX)
#define PRECISION_PER_MRAD 1024.0

// Prices to begin with, and how fast they follow: an eighth of the new.
#define FIRST_SLOT_PRICE256 (10 * PH_COST_PER_BIT)
#define FIRST_ENTER_PRICE256 (80 * PH_COST_PER_BIT)
#define PRICE_SHARE 8

// Of all that could be told, this much is worth waiting for when the scheduler knows what is seen to
// be wrong; the rest is hardly seen. Eight viewers among walkers for 50 s at 13 kbit/s: 13.9 mrad with
// 100, 8.1 with 70, 8.0 with 50, 9.8 with 35; cars hardly care. Fitted to these walkers alone.
#define NEWS_PERCENT 60
// And so many times the overhead of a datagram are enough whatever comes: with newcomers in masses
// waiting for more makes them late. Walkers at 4 kbit/s, missing: 0.85 % with 4, 0.77 with 6, 0.75
// with 7, 0.78 with 8.
#define ENOUGH_OVERHEADS 7

// When what was sent is in doubt: before the first round trip, and beside one and a quarter.
#define FIRST_DOUBT_MS 500
#define LEAST_DOUBT_MS 30
// What a leave takes, at about.
#define LEAVE_BITS 12
// Whoever has left waits so long at most while there are tokens for a datagram: when that one gets
// lost, the next one still comes within a second. Walkers at 4 kbit/s are a second apart else, and a
// leave that got lost came after 1.2 s or more (0.002 % ghosts; 0 with 600 ms, at the same error; with
// 500 ms a hundredth more error).
#define LEAVE_WAIT_US 600000

// ---- sizes

// What sizes follow from.
typedef struct sizing {
    const ph_forms* forms;
    int bits_per_second;
    int burst_bits; // 0: one second's worth
    int overhead_bytes;
    bool is_coded;
} sizing;

static int64_t least_depth_bits(const sizing* of)
{
    const int classic_bits = PH_HEADER_BITS + PH_HELLO_BITS + PH_EYE_BITS;
    const int coded_bits = PH_CODED_HEADER_BITS_MAX + PH_CODED_SLACK_BITS + CODED_ENTER_EXTRA_BITS;
    const int payload_bits =
        (of->is_coded ? coded_bits : classic_bits) + of->forms->layouts.enter_bits_max;
    return 8 * (int64_t)((payload_bits + 7) / 8 + of->overhead_bytes);
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
    const bool is_wide = of->forms->is_wide;
    const size_t extra = of->is_coded ? PH_ENTER_EXTRA_BYTES : 0;
    const int64_t largest = ph_flight_item_units(is_wide, of->forms->known_stride + extra);
    const int64_t smallest = ph_flight_item_units(is_wide, 1);
    const int64_t least = 2 * largest + PH_FLIGHT_MAX * (PH_FLIGHT_EYE_UNITS + smallest);
    const int64_t steady_bits = (int64_t)of->bits_per_second * FLIGHT_SECONDS;
    const int64_t burst_bits = of->bits_per_second + depth_of(of);
    const int64_t most_bits = steady_bits > burst_bits ? steady_bits : burst_bits;
    const int64_t wanted = of->is_coded ? most_bits / CODED_FLIGHT_BITS * CODED_FLIGHT_UNITS
                                        : most_bits / FLIGHT_BITS * FLIGHT_UNITS;
    const int64_t units = wanted > least ? wanted : least;
    return units < PH_FLIGHT_UNITS_MAX ? (uint32_t)units : PH_FLIGHT_UNITS_MAX;
}

static int32_t eye_margin(const ph_forms* forms, int32_t radius_mm, bool is_coded)
{
    const int64_t reach_mm = (int64_t)radius_mm + radius_mm / 10;
    const int64_t margin_mm =
        is_coded ? radius_mm / CODED_EYE_SHARE : (forms->half_window_mm - reach_mm) / 2;
    return margin_mm > EYE_MARGIN_MIN_MM ? (int32_t)margin_mm : EYE_MARGIN_MIN_MM;
}

// ---- creation

static sizing sizing_of(const ph_sender_def* def)
{
    return (sizing){
        .forms = def->forms,
        .bits_per_second = def->viewer->bits_per_second,
        .burst_bits = def->viewer->burst_bits,
        .overhead_bytes = def->viewer->overhead_bytes,
        .is_coded = def->profile == PH_PROFILE_PINHOLE,
    };
}

static uint64_t period_parts(double sends_per_second, bool is_coded)
{
    if (sends_per_second == PH_SENDS_AUTO || (sends_per_second == 0.0 && is_coded)) {
        return 0;
    }
    const double often = sends_per_second != 0.0 ? sends_per_second : CLASSIC_SENDS_PER_SECOND;
    return (uint64_t)((double)US_PER_SECOND * PARTS_PER_US / often + 0.5);
}

double ph_sender_often(const ph_sender* sender)
{
    return sender->period_parts == 0
               ? PH_SENDS_AUTO
               : (double)US_PER_SECOND * PARTS_PER_US / (double)sender->period_parts;
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
        .layouts = &def->forms->layouts,
        .slot_bits = ph_classic_slot_bits(def->slot_count),
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

static void fill(ph_sender* sender, const ph_sender_def* def)
{
    const ph_viewer_def* viewer = def->viewer;
    const bool is_coded = ph_sender_is_coded(sender);
    sender->bits_per_second = viewer->bits_per_second;
    sender->overhead_bytes = viewer->overhead_bytes;
    const sizing size_of = sizing_of(def);
    sender->depth_bits = depth_of(&size_of);
    sender->least_depth_bits = least_depth_bits(&size_of);
    sender->least_update_bits = is_coded ? 0 : least_update_bits(def);
    sender->scheduler = ph_sender_scheduler(def);
    sender->patience_ms = (uint32_t)viewer->patience_ms;
    sender->first_slot = PH_SLOT_NOBODY;
    sender->follower = PH_NOBODY_FOLLOWS;
    sender->overdue_credit_bits = 1; // the first of them may go at once
    sender->session = viewer->session;
    sender->newest = viewer->session;
    sender->horizon = viewer->session;
    sender->eye_margin_mm = eye_margin(def->forms, viewer->radius_mm, is_coded);
    sender->eye_number = viewer->session;
    sender->precision =
        is_coded ? (uint32_t)(viewer->precision_mrad * PRECISION_PER_MRAD + 0.5) : 0;
    sender->is_universal = viewer->is_universal;
    sender->prices = (ph_prices){.slot256 = FIRST_SLOT_PRICE256, .enter256 = FIRST_ENTER_PRICE256};
    sender->period_parts = period_parts(viewer->sends_per_second, is_coded);
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
    const bool is_coded = def->profile == PH_PROFILE_PINHOLE;
    const size_t baselines_size =
        is_coded ? (size_t)def->slot_count * PH_BASELINES_BYTES_PER_SLOT : 0;
    const size_t size = sizeof(ph_sender) + (mask_count + bill_count) * sizeof(uint64_t) +
                        slots_size + scratch_size + baselines_size;
    ph_sender* made = ph_allocate_zeroed(allocator, size);
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    const sizing size_of = sizing_of(def);
    const uint32_t units = flight_units(&size_of);
    uint32_t* ring = ph_allocate_array(allocator, units, sizeof(uint32_t));
    if (ring == NULL) {
        ph_release(allocator, made, size);
        return PH_ERROR_MEMORY;
    }
    made->size_bytes = size;
    made->allocator = *allocator;
    // A client of the pinhole profile relies on being told who stands, whatever the scheduler is.
    if ((is_coded || ph_sender_scheduler(def).wants_errors) &&
        ph_expectation_create(allocator, def->slot_count, &def->forms->layouts, is_coded,
                              &made->expectation) != PH_OK) {
        ph_release_array(allocator, ring, units, sizeof(uint32_t));
        ph_release(allocator, made, size);
        return PH_ERROR_MEMORY;
    }
    made->masks = (uint64_t*)(made + 1);
    made->property_bits256 = made->masks + mask_count;
    uint8_t* slots = (uint8_t*)(made->property_bits256 + bill_count);
    ph_knowledge_init(&made->knowledge, slots, def->slot_count, def->forms->known_stride);
    made->scratch = is_large ? slots + slots_size : NULL;
    if (is_coded) {
        ph_baselines_init(&made->baselines, slots + slots_size + scratch_size, def->slot_count);
    }
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
    ph_expectation_destroy(sender->expectation);
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
    scratch.waited = scratch.change + count;
    scratch.visited = (uint16_t*)(scratch.waited + count);
    scratch.order.scratch = scratch.visited + count;
    scratch.order.ready = scratch.order.scratch + count;
    scratch.order.buckets = scratch.order.ready + count;
    scratch.overdue.scratch = scratch.order.scratch;
    scratch.overdue.ready = scratch.order.buckets + count;
    scratch.overdue.buckets = scratch.overdue.ready + count;
    return scratch;
}

// ---- budget

static void enlarge_flight(ph_sender* sender, uint32_t* ring, uint32_t units)
{
    const ph_flight before = sender->flight;
    ph_flight_move(&sender->flight, ring, units);
    for (int slot = 0; slot < sender->knowledge.slot_count; ++slot) {
        uint16_t* place = &ph_knowledge_at(&sender->knowledge, slot)->newest_item;
        *place = ph_flight_moved(&before, *place);
    }
    ph_release_array(&sender->allocator, before.units, before.capacity, sizeof(uint32_t));
}

// What time has passed since the last send is not known here: it counts at the lower rate, and up to
// the lower depth.
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
}

ph_result ph_sender_set_budget(ph_sender* sender, const ph_forms* forms, int bits_per_second,
                               int burst_bits)
{
    const sizing size_of = {
        .forms = forms,
        .bits_per_second = bits_per_second,
        .burst_bits = burst_bits,
        .overhead_bytes = sender->overhead_bytes + sender->reserved_peak_bytes,
        .is_coded = ph_sender_is_coded(sender),
    };
    const int64_t depth_bits = depth_of(&size_of);
    const uint32_t units = flight_units(&size_of);
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

void ph_sender_pay(ph_sender* sender, int payload_bytes)
{
    const int wire_bytes = payload_bytes + sender->overhead_bytes;
    ph_token_bucket_spend(&sender->bucket, 8 * (int64_t)wire_bytes);
    ++sender->stats.datagrams;
    sender->stats.payload_bytes += (uint64_t)payload_bytes;
    sender->stats.wire_bytes += (uint64_t)wire_bytes;
    sender->second_bytes += (uint64_t)wire_bytes;
}

// A round trip and a quarter: acknowledgements come at once.
static uint32_t doubt_after_ms(const ph_sender* sender)
{
    if (!ph_sender_is_coded(sender)) {
        return 0;
    }
    return sender->stats.rtt_ms > 0.0 ? LEAST_DOUBT_MS + (uint32_t)(1.25 * sender->stats.rtt_ms)
                                      : FIRST_DOUBT_MS;
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
    sender->doubt_ms = doubt_after_ms(sender);
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

void ph_price_learn(uint32_t* price256, int64_t cost256, int count)
{
    if (count > 0) {
        const int64_t off256 = cost256 / count - (int64_t)*price256;
        *price256 = (uint32_t)((int64_t)*price256 + off256 / PRICE_SHARE);
    }
}

// Everybody who was touched, as far as can be told without comparing. References that were touched
// are to be settled before: see ph_survey_references().
static int64_t news_bits(const ph_sender* sender)
{
    const ph_knowledge* knowledge = &sender->knowledge;
    int touched_count = 0;
    for (int slot = 0; slot < knowledge->slot_count; ++slot) {
        touched_count += knowledge->touched[slot] != 0 && !ph_knowledge_is_gone(knowledge, slot);
    }
    const int64_t enters = knowledge->newcomer_count;
    const int64_t others = touched_count > enters ? touched_count - enters : 0;
    const int64_t news256 = enters * sender->prices.enter256 + others * sender->prices.slot256;
    return touched_count == 0 ? 0 : 1 + news256 / PH_COST_PER_BIT;
}

// What cannot wait for all the other news, in bits.
typedef struct urgent {
    int64_t again; // enters not answered for by now, and leaves that are to be told once more
    int64_t left;  // of these the leaves; and all others, when one of them has waited too long
} urgent;

// Of a leave: it was lost, or is not answered for by now. (Of enters what was lost may be far away, and
// its turn is not near then.)
static bool is_to_be_told_again(const ph_sender* sender, int slot)
{
    return ph_knowledge_at(&sender->knowledge, slot)->repeats != 0 ||
           ph_sender_is_doubtful(sender, slot);
}

// Mostly nobody leaves, and nothing has been on its way for long: then no slot is looked at.
static bool may_be_urgent(const ph_sender* sender)
{
    const ph_flight* flight = &sender->flight;
    return sender->knowledge.leaving_count > 0 ||
           (flight->count > 0 &&
            sender->now_us - ph_flight_oldest(flight)->stamp.sent_us >= 1000 * sender->doubt_ms);
}

static urgent find_urgent(ph_sender* sender)
{
    if (!may_be_urgent(sender)) {
        sender->nobody_leaves_us = sender->now_us;
        return (urgent){0};
    }
    const ph_knowledge* knowledge = &sender->knowledge;
    const int64_t enter_bits = (int64_t)sender->prices.enter256 / PH_COST_PER_BIT;
    int entered = 0; // in doubt
    int left = 0;    // to be told again
    int leaving = 0; // to be told for the first time
    for (int slot = 0; slot < knowledge->slot_count; ++slot) {
        if (ph_knowledge_is_gone(knowledge, slot)) {
            continue; // the client never had it: there is nothing to tell
        }
        if (ph_knowledge_is_leaving(knowledge, slot)) {
            const bool is_again = is_to_be_told_again(sender, slot);
            left += is_again;
            leaving += !is_again && knowledge->touched[slot] != 0;
        } else {
            entered += ph_sender_is_doubtful(sender, slot);
        }
    }
    if (leaving == 0 || sender->nobody_leaves_us < sender->sent_us) {
        sender->nobody_leaves_us = sender->now_us;
    }
    const bool is_late = sender->now_us - sender->nobody_leaves_us >= LEAVE_WAIT_US;
    return (urgent){
        .again = entered * enter_bits + left * LEAVE_BITS,
        .left = (left + (is_late ? leaving : 0)) * LEAVE_BITS,
    };
}

// So many bits are not to wait for more.
static void hurry(ph_rhythm* rhythm, int64_t bits)
{
    if (bits > 0) {
        rhythm->news_bits = rhythm->news_bits > 0 ? rhythm->news_bits : bits;
        rhythm->room_bits = bits < rhythm->room_bits ? bits : rhythm->room_bits;
    }
}

bool ph_sender_is_worth(ph_sender* sender)
{
    PH_ASSERT(sender->is_started);

    const int64_t header_bits =
        (ph_sender_is_coded(sender) ? PH_CODED_HEADER_BITS_MIN + PH_CODED_SLACK_BITS
                                    : PH_HEADER_BITS) +
        (sender->is_answered ? 0 : PH_HELLO_BITS);
    ph_rhythm rhythm = {
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
        rhythm.news_bits = (rhythm.news_bits * NEWS_PERCENT + 99) / 100;
        rhythm.room_bits = enough_bits < rhythm.room_bits ? enough_bits : rhythm.room_bits;
    }
    if (sender->doubt_ms != 0) {
        const urgent now = find_urgent(sender);
        hurry(&rhythm, now.again);
        hurry(&rhythm, now.left);
    }
    return ph_rhythm_is_due(&rhythm);
}

// ---- soundness

// Entered by the baseline is who the client is known to have, also on the way out.
static bool are_baselines_sound(const ph_sender* sender)
{
    const ph_knowledge* knowledge = &sender->knowledge;
    for (int slot = 0; ph_sender_is_coded(sender) && slot < knowledge->slot_count; ++slot) {
        const int told = knowledge->told[slot];
        const ph_baseline* baseline = &sender->baselines.slots[slot];
        if (baseline->is_entered != (told == PH_TOLD_ENTERED || told == PH_TOLD_LEAVING) ||
            (baseline->is_entered && (baseline->class_index != knowledge->class_index[slot] ||
                                      slot >= sender->baselines.entered_end))) {
            return false;
        }
    }
    return true;
}

bool ph_sender_validate(const ph_sender* sender)
{
    const ph_flight* flight = &sender->flight;
    return ph_flight_validate(flight) && ph_knowledge_validate(&sender->knowledge, flight) &&
           ph_hash_map_validate(&sender->hints.weights) && are_baselines_sound(sender) &&
           sender->newest - sender->horizon == (uint32_t)flight->count &&
           sender->newest - sender->session == (uint32_t)sender->packet_count &&
           sender->stats.resolved + (uint64_t)flight->count == sender->packet_count;
}
