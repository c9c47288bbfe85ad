// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One send to one viewer, from top to bottom: refresh the replicas and rank the slots (rank.c), visit
// slot after slot in the order of the queue (send_queue.c), compare each with what was sent (diff.c),
// add what fits to the packet (encoder.c), until nothing differs or the budget is spent.
//
// A record is added only when its exact cost fits. One that would not even fit an empty packet waits
// until it can be paid for: its slot comes first in the next send.
//
// Everything lies in a scratch block of the world: a send needs little stack and no memory of its own.

#include "replication/send.h"

#include "base/allocator.h"
#include "base/bitset.h"
#include "base/compiler.h"
#include "tools/tools.h"

#define PROBE_PERIOD_US UINT64_C(1000000)

// One in so many bits goes to slots that wait too long, before the others.
enum { OVERDUE_SHARE = 4 };

// A position that is shown wrong by less than so many coarse steps is sent exactly: else rounding would
// be most of what is seen of it, and most of its velocity. Wanderers at 13 kbit/s: always coarse 0.48
// mrad and 12.6 jolts a minute, with 1 0.29 and 1.8, 2 0.20 and 0.3, 4 and 8 0.19 and 0.2; asteroids,
// which have large errors, 4.95 mrad, with 4 5.01, 8 5.13, never coarse 6.4.
#define COARSE_STEPS 4.0f
// An orientation that is shown wrong by less than this does not wait.
#define RIGHT_RAD 4e-3f
// So many newcomers at once are a crowd, and the least that each of them takes. With 36, which is about
// what they take, walkers at 13 kbit/s would have 2.1 jolts a minute instead of 2.0, because all of
// them nearly fit; with 18 a tenth more of them would be missing at 4 kbit/s. An orientation takes more: asteroids at
// 13 kbit/s have 5.2 mrad with it, 5.7 without.
enum { CROWD = 24, CROWD_ENTER_BITS = 24, ORIENTATION_ENTER_BITS = 30 };

// Updates that come in intervals of 0.1 s (as ph_log2_eighths()) are told in finest steps; a step doubles twice as often
// as the interval, when that is so far off. Intervals are smoothed over so many sends. Walkers of 250 with 32 viewers,
// 2 mm finest: at 13 kbit/s intervals are 0.22 s, 16 mm best; at 26 0.12 s, 4 mm; at 52 0.075 s, 2 mm.
#define STEP_FINEST_EIGHTHS 134
enum { STEP_EIGHTHS = 3, STEP_APART = 2, STEP_SHARE = 8 };
#define STEP_PASSED_MAX_US UINT64_C(10000000)

// ---- scratch blocks

// Bytes of a block: the send itself, then its arrays by slot.
static size_t block_bytes(int slot_count)
{
    enum { WORDS = 7 + PH_ERROR_ARRAYS, HALVES = 8 };
    return sizeof(ph_sending) +
           (size_t)slot_count * (WORDS * sizeof(float) + HALVES * sizeof(uint16_t));
}

// Cuts the arrays of a block for so many slots.
static void lay_out_block(ph_sending* send, int slot_count)
{
    const size_t count = (size_t)slot_count;
    float* words = (float*)(send + 1);
    send->distance_mm = words;
    send->change = words + count;
    send->priority = words + 2 * count;
    send->queue.rank = words + 3 * count;
    send->queue.waited = words + 4 * count;
    send->mileage_mm = (uint32_t*)(words + 5 * count);
    send->notes = (uint32_t*)(words + 6 * count);
    send->error_arrays = ph_error_arrays_make(words + 7 * count, slot_count);
    uint16_t* halves = (uint16_t*)(words + (7 + PH_ERROR_ARRAYS) * count);
    send->queue.visited = halves;
    send->queue.order_memory = (ph_order_memory){
        .ready = halves + count, .buckets = halves + 2 * count, .scratch = halves + 3 * count};
    send->queue.overdue_memory = (ph_order_memory){
        .ready = halves + 4 * count, .buckets = halves + 5 * count, .scratch = halves + 3 * count};
    send->encoder.by_slot = halves + 6 * count;
    send->encoder.urgencies = (uint8_t*)(halves + 7 * count);
    send->encoder.coarse = send->encoder.urgencies + count;
}

static void release_blocks(ph_send_blocks* blocks, ph_sending* const* list, int count,
                           int slot_count)
{
    for (int i = 0; i < count; ++i) {
        ph_release(&blocks->allocator, list[i], block_bytes(slot_count));
    }
}

ph_result ph_send_blocks_reserve(ph_send_blocks* blocks, int count, int slot_count)
{
    count = count > blocks->count ? count : blocks->count;
    slot_count = slot_count > blocks->slot_count ? slot_count : blocks->slot_count;
    PH_ASSERT(count >= 1 && count <= PH_SENDS_AT_ONCE_MAX);
    if (count == blocks->count && slot_count == blocks->slot_count) {
        return PH_OK;
    }
    ph_sending* made[PH_SENDS_AT_ONCE_MAX];
    for (int i = 0; i < count; ++i) {
        made[i] = ph_allocate(&blocks->allocator, block_bytes(slot_count));
        if (made[i] == NULL) {
            release_blocks(blocks, made, i, slot_count);
            return PH_ERROR_MEMORY;
        }
    }
    release_blocks(blocks, blocks->blocks, blocks->count, blocks->slot_count);
    for (int i = 0; i < count; ++i) {
        blocks->blocks[i] = made[i];
        lay_out_block(made[i], slot_count);
    }
    blocks->count = count;
    blocks->slot_count = slot_count;
    return PH_OK;
}

void ph_send_blocks_destroy(ph_send_blocks* blocks)
{
    release_blocks(blocks, blocks->blocks, blocks->count, blocks->slot_count);
    blocks->count = 0;
}

ph_sending* ph_send_blocks_take(ph_send_blocks* blocks)
{
    for (int i = 0; i < blocks->count; ++i) {
        if (!atomic_flag_test_and_set_explicit(&blocks->is_taken[i], memory_order_acquire)) {
            return blocks->blocks[i];
        }
    }
    return NULL;
}

void ph_send_blocks_give_back(ph_send_blocks* blocks, const ph_sending* block)
{
    int i = 0;
    while (blocks->blocks[i] != block) {
        ++i;
    }
    atomic_flag_clear_explicit(&blocks->is_taken[i], memory_order_release);
}

// ---- enters

// What the packet under way will take of the budget.
static int64_t spoken_bits(const ph_sending* send)
{
    return send->encoder.is_open
               ? send->encoder.bits + 8 * (int64_t)ph_sender_overhead(send->sender)
               : 0;
}

// How coarse positions may be of entities that enter with the packet under way: when a crowd waits for
// which the budget has no room, it is sent sooner with less precision. Only entities that may be
// seen count: no other may leave a trace, not even by number.
static int enter_coarseness(const ph_sending* send)
{
    const ph_sender* sender = send->sender;
    const ph_replicas* replicas = &sender->replicas;
    if (!sender->is_pinhole || sender->precision == 0 || sender->bits_per_second == 0 ||
        replicas->newcomer_count < CROWD) {
        return 0;
    }
    const ph_layout* layouts = send->context->store->class_info.layouts.layouts;
    int count = 0;
    int64_t bits = 0;
    for (int i = 0; i < send->context->shown.count; ++i) {
        const int slot = send->context->shown.slots[i];
        if (replicas->state[slot] == PH_REPLICA_ABSENT &&
            ph_send_context_is_there(send->context, slot)) {
            const bool turns = layouts[replicas->class_index[slot]].orientation != 0;
            bits += CROWD_ENTER_BITS + (turns ? ORIENTATION_ENTER_BITS : 0);
            ++count;
        }
    }
    const int64_t left_bits = ph_token_bucket_bits(&sender->bucket) - spoken_bits(send);
    return count >= CROWD && bits > left_bits ? PH_COARSE_MAX : 0;
}

// While an enter is in flight, each record would be a whole enter again: that can wait for the ack,
// which comes soon, unless nothing else needs the bits (seven eighths of what can be saved up are
// there); and one of this very send is as good as it gets.
static bool is_enter_enough(const ph_sending* send, int slot, ph_send_turn turn)
{
    const ph_sender* sender = send->sender;
    if (turn.is_filtered || !sender->is_pinhole) {
        return turn.is_filtered;
    }
    const bool is_bucket_full = ph_token_bucket_bits(&sender->bucket) - spoken_bits(send) >
                                sender->depth_bits - sender->depth_bits / 8;
    return ph_replicas_at(&sender->replicas, slot)->served_ms == send->now_ms ||
           (!turn.is_overdue && !(turn.is_exact && is_bucket_full));
}

// ---- updates

// What the scheduler lets through.
static uint64_t filter_diff(const ph_sending* send, const ph_place* at, const ph_diff* diff)
{
    const ph_replicas* replicas = &send->sender->replicas;
    const ph_scheduler* scheduler = &send->sender->scheduler;
    const int slot = at->slot;
    const uint64_t lost = at->replica->lost & diff->different;
    const bool has_errors = scheduler->wants_errors;
    const ph_visit visit = {
        .distance_mm = send->distance_mm[slot],
        .weight = replicas->weight[slot],
        .score = replicas->score[slot],
        .mileage_mm = send->mileage_mm[slot],
        .diff = diff->different,
        .significant = diff->significant | lost,
        .lost = lost,
        .settled = diff->settled,
        .position = at->layout->position,
        .change = scheduler->wants_change || has_errors ? send->change[slot] : 0.0f,
        .errors = has_errors ? &send->errors : NULL,
        .slot = slot,
        .heading = has_errors ? at->layout->facing : 0,
        .note = send->notes[slot],
    };
    return scheduler->filter(scheduler->context, &visit) & diff->different;
}

static bool is_coarse_worth_it(const ph_sending* send, const ph_place* at, int coarse)
{
    const int64_t step_mm = INT64_C(1) << (at->layout->finest_shift + coarse);
    return send->error_arrays.error_mm[at->slot] >= COARSE_STEPS * (float)step_mm;
}

// How coarse the position is sent now, if it is chosen: how often its finest step is doubled. Exactly, if the
// entity has been where it is for a while, or if the client overshoots it though it is where it was last sent.
// One that stands elsewhere than it was sent, be it by rounding, is not known from one that still moves, nor is
// one that has waited too long: they are sent in a step, and refined later.
static int position_coarseness(ph_sending* send, const ph_place* at, ph_send_turn turn,
                               const ph_diff* diff, uint64_t chosen)
{
    const uint64_t position = at->layout->position;
    const int finer = at->layout->finer;
    if (!send->may_be_coarse || (chosen & position) == 0 || send->queue.stage == PH_QUEUE_REFINE ||
        (diff->settled & position) != 0 ||
        ((diff->large & position) == 0 &&
         (send->sender->replicas.overshoots[at->slot] & PH_OVERSHOOT_POSITION) != 0)) {
        return 0;
    }
    if (!turn.is_exact && is_coarse_worth_it(send, at, finer + 1)) {
        const int coarse = ph_encoder_coarse(&send->encoder);
        if (coarse > 0 && is_coarse_worth_it(send, at, coarse)) {
            return coarse;
        }
    }
    return finer != 0 ? ph_encoder_fit(&send->encoder) : 0;
}

// The same of its orientation: as coarse as the position that goes along, or might now. One that rests is sent exactly.
static int rotation_coarseness(ph_sending* send, const ph_place* at, ph_send_turn turn,
                               const ph_diff* diff, const ph_record_request* request)
{
    const ph_layout* layout = at->layout;
    if ((request->properties & layout->orientation) == 0 || !send->sender->is_pinhole ||
        send->sender->precision == 0 || turn.is_exact ||
        (diff->settled & layout->orientation) != 0) {
        return 0;
    }
    const bool has_position = (request->properties & layout->position) != 0;
    const int coarse = has_position          ? request->coarse
                       : send->may_be_coarse ? ph_encoder_coarse(&send->encoder)
                                             : 0;
    const int beyond = coarse > layout->finer ? coarse - layout->finer : 0;
    const float step_mm = (float)(INT64_C(1) << (layout->coordinate.shift + beyond));
    return ph_turn_coarseness(layout, step_mm, send->error_arrays.rotation_rad[at->slot]);
}

// ---- a visit

typedef enum outcome {
    OUTCOME_NOTHING, // to be said, or to be said now
    OUTCOME_ADDED,
    // Put off:
    OUTCOME_NO_ROOM,
    OUTCOME_NO_PLACE, // for another leave or enter, whatever its size
} outcome;

static outcome add_record(ph_sending* send, const ph_place* at, ph_send_turn turn,
                          const ph_record_request* request)
{
    ph_sender* sender = send->sender;
    const int64_t before_bits = send->encoder.bits;
    if (!ph_encoder_add(&send->encoder, request)) {
        return ph_encoder_has_place(&send->encoder, request->kind) ? OUTCOME_NO_ROOM
                                                                   : OUTCOME_NO_PLACE;
    }
    if (turn.is_overdue) {
        sender->overdue_credit_bits -= send->encoder.bits - before_bits;
    }
    at->replica->served_ms = send->now_ms;
    if (request->kind != PH_RECORD_LEAVE) {
        float* score = &sender->replicas.score[at->slot];
        *score = sender->scheduler.sent(sender->scheduler.context, *score);
    }
    return OUTCOME_ADDED;
}

// Whatever of *diff is then left is out of range.
static void ask_for_enter(ph_sending* send, const ph_place* at, ph_record_request* request,
                          ph_diff* diff)
{
    if (send->encoder.counts[PH_RECORD_ENTER] == 0) {
        send->encoder.pinhole.frame.spread.coarse = (uint8_t)enter_coarseness(send);
    }
    request->kind = PH_RECORD_ENTER;
    request->properties = ph_diff_complete(send->context, at, diff);
    if (send->encoder.pinhole.frame.spread.coarse != 0) {
        request->rotation_coarse = ph_turn_newcomer_coarseness(at->layout);
    }
}

// Nothing is said of an orientation while what the client shows of it is right, even with the last bits that nothing
// else needs: they are worth more when something turns otherwise. But what rests is sent exactly, and once more when the
// client turns it on.
static bool is_shown_turned(const ph_sending* send, const ph_place* at, ph_send_turn turn,
                            const ph_diff* diff)
{
    const ph_layout* layout = at->layout;
    const uint64_t orientation = layout->orientation & diff->different & ~diff->settled;
    if (orientation == 0 || send->sender->replicas.estimates == NULL || turn.is_exact ||
        turn.is_overdue || (at->replica->lost & orientation) != 0 ||
        (diff->large & orientation) == 0) {
        return false;
    }
    // With half of what can be saved up whatever differs is sent, as coarse positions are.
    const ph_sender* sender = send->sender;
    if (sender->bits_per_second == 0 ||
        (!turn.is_filtered &&
         ph_token_bucket_bits(&sender->bucket) - spoken_bits(send) > sender->depth_bits / 2)) {
        return false;
    }
    return send->error_arrays.rotation_rad[at->slot] <
           ph_turn_right(&sender->replicas.estimates->turns, layout, at->slot);
}

static void ask_for_update(ph_sending* send, const ph_place* at, ph_send_turn turn,
                           const ph_diff* diff, ph_record_request* request)
{
    uint64_t chosen = turn.is_filtered ? filter_diff(send, at, diff) : diff->different;
    if (is_shown_turned(send, at, turn, diff)) {
        chosen &= ~at->layout->orientation;
    }
    if (chosen == 0) {
        return;
    }
    // What others are carried by says how it goes as a whole.
    if (send->context->store->class_info.layouts.has_carriers &&
        (chosen & at->layout->position) != 0) {
        chosen |= diff->different & at->layout->orientation;
    }
    request->kind = PH_RECORD_UPDATE;
    request->properties = chosen;
    request->is_significant = (diff->large & chosen) != 0;
    request->has_words = true;
    request->coarse = position_coarseness(send, at, turn, diff, chosen);
    request->rotation_coarse = rotation_coarseness(send, at, turn, diff, request);
}

// Its orientation alone was held back, because what is shown of it is right, as far as that can be seen from so
// far away.
static bool is_turned_right(const ph_sending* send, const ph_place* at)
{
    const uint64_t orientation = at->layout->orientation;
    return orientation != 0 && send->sender->replicas.dirty[at->slot] == orientation &&
           send->sender->replicas.estimates != NULL &&
           send->errors.rotation_mm[at->slot] <= RIGHT_RAD * send->errors.range_mm[at->slot];
}

// A slot without a difference does not wait, nor does one that is turned right; one that differs only in its position
// or orientation has settled: changes that are to come count from now on.
static void note_rest(ph_sending* send, const ph_place* at, bool is_added)
{
    ph_replicas* replicas = &send->sender->replicas;
    const uint64_t dirty = replicas->dirty[at->slot];
    // Unpredictable branch: use a mask.
    replicas->waiting_ms[at->slot] &= ph_bits_if(dirty != 0);
    if (is_added && is_turned_right(send, at)) {
        replicas->waiting_ms[at->slot] = 0;
    }
    // An orientation is not in that sum, and may be held back, or sent coarsely, for long.
    if ((dirty & ~(at->layout->position | at->layout->orientation)) == 0) {
        at->replica->stir = send->context->store->entities.whereabouts[at->entity].stir;
    }
}

static outcome visit_one(ph_sending* send, ph_send_turn turn)
{
    ph_replicas* replicas = &send->sender->replicas;
    const int slot = turn.slot;
    const ph_replica_state state = replicas->state[slot];
    const bool is_ack_late = ph_sender_is_ack_late(send->sender, slot);
    uint64_t dirty = replicas->dirty[slot];
    const bool is_refined =
        send->queue.stage == PH_QUEUE_REFINE && ph_replicas_is_rounded(replicas, slot);
    if (dirty == 0 && !is_ack_late && !is_refined) {
        return OUTCOME_NOTHING;
    }
    const ph_place* at = ph_record_builder_move(&send->encoder.builder, slot);
    if (ph_replicas_is_leaving(replicas, slot)) {
        const ph_record_request request = {.slot = slot, .kind = PH_RECORD_LEAVE};
        return add_record(send, at, turn, &request);
    }
    if (!ph_send_context_is_there(send->context, slot)) {
        return OUTCOME_NOTHING;
    }
    const bool is_enter_due = state == PH_REPLICA_ABSENT || is_ack_late;
    if (!is_enter_due && !turn.is_overdue && ph_send_queue_is_told(send, slot)) {
        return OUTCOME_NOTHING;
    }
    if (is_refined) {
        // From here on its position is compared: what differs stays dirty, sent or not.
        replicas->rounded[slot] = 0;
        dirty |= at->layout->position;
    }
    ph_diff diff;
    bool is_enter = is_enter_due;
    if (!is_enter_due) {
        const uint64_t mask = ph_sender_mask(send->sender, send->context->store->class_count, slot);
        ph_diff_compare(send->context, at, dirty & mask, send->encoder.builder.words, &diff);
        ph_diff_keep(replicas, at, dirty, &diff);
        is_enter = diff.different != 0 && state != PH_REPLICA_ENTERED &&
                   !is_enter_enough(send, slot, turn);
    }
    ph_record_request request = {.slot = slot};
    if (is_enter) {
        ask_for_enter(send, at, &request, &diff);
    } else if (diff.different != 0 && state == PH_REPLICA_ENTERED) {
        ask_for_update(send, at, turn, &diff, &request);
    }
    const outcome result =
        request.properties != 0 ? add_record(send, at, turn, &request) : OUTCOME_NOTHING;
    if (is_enter && result == OUTCOME_ADDED) {
        at->replica->out_of_range = diff.out_of_range;
        replicas->wake_mm2[slot] = diff.wake_mm2;
    }
    if (!is_enter_due || result == OUTCOME_ADDED) {
        note_rest(send, at, result == OUTCOME_ADDED);
    }
    return result;
}

// What carries a slot goes first: then the packet says where it takes the slot. Should there be no room for it, its own
// turn comes.
static outcome visit_slot(ph_sending* send, ph_send_turn turn)
{
    const ph_replicas* replicas = &send->sender->replicas;
    if (PH_UNLIKELY(send->context->store->class_info.layouts.has_carriers) &&
        send->sender->is_pinhole && replicas->dirty[turn.slot] != 0) {
        const int carrier = ph_encoder_carrier(&send->encoder, turn.slot);
        if (carrier >= 0 && replicas->state[carrier] == PH_REPLICA_ENTERED) {
            ph_send_turn first = turn;
            first.slot = (uint16_t)carrier;
            first.is_overdue = false;
            first.is_filtered = false;
            first.is_exact = true;
            (void)visit_one(send, first);
        }
    }
    return visit_one(send, turn);
}

// ---- packets

static void close_packet(ph_sending* send)
{
    if (!send->encoder.is_open) {
        return;
    }
    if (send->encoder.count == 0) {
        ph_encoder_cancel(&send->encoder);
        return;
    }
    ph_stopwatch_lap(&send->watch, PH_STAGE_PICK);
    const size_t size = ph_encoder_finish(&send->encoder);
    ph_stopwatch_lap(&send->watch, PH_STAGE_ENCODE);
    if (PH_UNLIKELY(size == 0)) {
        return; // withheld
    }
    // Overdue slots go on credit from what was really sent.
    const int64_t wire_bits = 8 * ((int64_t)size + send->sender->overhead_bytes);
    int64_t* credit_bits = &send->sender->overdue_credit_bits;
    *credit_bits = (*credit_bits < 0 ? *credit_bits : 0) + wire_bits / OVERDUE_SHARE;
    ++send->sent_count;
    send->deliver(send->deliver_context, send->context->viewer, send->encoder.bytes, size);
    ph_stopwatch_start(&send->watch);
}

// What becomes of a send after a turn for which there was no room or no place.
typedef enum put_off_result {
    PUT_OFF_GO_ON,
    PUT_OFF_NEXT_PACKET,
    PUT_OFF_END, // the record cannot be paid for
} put_off_result;

static put_off_result put_off(ph_sending* send, ph_send_turn turn, outcome result)
{
    if (result == OUTCOME_NO_PLACE) {
        ph_send_queue_put_off(&send->queue, turn);
        return PUT_OFF_GO_ON;
    }
    if (send->encoder.count == 0) {
        return PUT_OFF_END;
    }
    // Among slots by priority, each of which has one turn, others are not worth a try when none can
    // fit. More of a slot that is in the packet already may, for fewer bits: that waits for the next.
    const bool is_full = turn.is_ordered && ph_encoder_is_full(&send->encoder);
    return ph_send_queue_retry(&send->queue, turn) || is_full ? PUT_OFF_NEXT_PACKET : PUT_OFF_GO_ON;
}

// @return Whether everything that differs was sent.
static bool visit_slots(ph_sending* send)
{
    ph_send_turn turn;
    put_off_result next = PUT_OFF_GO_ON;
    while (next != PUT_OFF_END) {
        if (next == PUT_OFF_NEXT_PACKET) {
            close_packet(send);
            ph_send_queue_turn_over(&send->queue);
            next = PUT_OFF_GO_ON;
        }
        if (!ph_send_queue_next(send, spoken_bits(send), &turn)) {
            if (!ph_send_queue_has_more(&send->queue)) {
                close_packet(send);
                return true;
            }
            next = PUT_OFF_NEXT_PACKET;
        } else if (!send->encoder.is_open && !ph_encoder_begin(&send->encoder)) {
            next = PUT_OFF_END;
        } else {
            const outcome result = visit_slot(send, turn);
            next = result > OUTCOME_ADDED ? put_off(send, turn, result) : PUT_OFF_GO_ON;
        }
    }
    close_packet(send);
    send->sender->first_slot = turn.slot;
    return false;
}

static void send_probe(ph_sending* send)
{
    if (send->sender->now_us - send->sender->sent_us < PROBE_PERIOD_US) {
        return;
    }
    const size_t size = ph_encoder_probe(&send->encoder);
    if (size > 0) {
        send->deliver(send->deliver_context, send->context->viewer, send->encoder.bytes, size);
    }
}

// ---- the whole

// Slots that were left before the client can have heard of them.
static void free_gone(ph_sending* send)
{
    ph_replicas* replicas = &send->sender->replicas;
    for (int slot = 0; replicas->leaving_count > 0 && slot < replicas->slot_count; ++slot) {
        if (ph_replicas_is_gone(replicas, slot)) {
            ph_replicas_free(replicas, slot);
            ph_slots_free(send->context->slots, slot);
        }
    }
}

// Whether as many packets are in flight as may be: then only probes go out.
static bool is_blocked(const ph_sender* sender, const ph_class_info* class_info)
{
    const size_t extra = sender->is_pinhole ? PH_ENTER_EXTRA_BYTES : 0;
    return !ph_flight_has_place(&sender->flight) ||
           !ph_flight_has_room(&sender->flight,
                               class_info->known_stride + extra + PH_FLIGHT_EYE_UNITS * 4);
}

// What the next send will cost, when pacing has to decide.
static void learn_prices(ph_sending* send, bool is_all_sent, uint64_t enters_before,
                         uint64_t updates_before)
{
    ph_sender* sender = send->sender;
    const int updates = (int)(sender->stats.sent_updates - updates_before);
    const int enters = (int)(sender->stats.sent_enters - enters_before);
    ph_price_learn(&sender->prices.enter256, send->encoder.enters256, enters);
    const int others = send->dirty_count - enters;
    ph_price_learn(&sender->prices.slot256, send->encoder.others256,
                   is_all_sent && others > updates ? others : updates);
}

static int largest_finer(const ph_sending* send)
{
    const ph_layouts* layouts = &send->context->store->class_info.layouts;
    int largest = 0;
    for (int i = 0; layouts->has_finer && i < layouts->count; ++i) {
        const int finer = layouts->layouts[i].finer;
        largest = finer > largest ? finer : largest;
    }
    return largest;
}

// How many slots have something to tell in updates. Of newcomers everything is dirty: they do not count.
static int count_known_dirty(const ph_sending* send)
{
    const ph_replicas* replicas = &send->sender->replicas;
    int count = 0;
    for (int i = 0; i < send->context->shown.count; ++i) {
        const int slot = send->context->shown.slots[i];
        count += replicas->dirty[slot] != 0 && replicas->state[slot] == PH_REPLICA_ENTERED &&
                 ph_send_context_is_there(send->context, slot);
    }
    return count;
}

// In which steps positions are told from now on: as fine as updates come often. Where a slot is reached seldom,
// what it does meanwhile is more than rounding, and its bits are worth more as another update. Where bits are left
// they go into finer steps first. By one step at a time, because what changes to and fro costs bits.
static void choose_step(ph_sending* send, int known_count, uint64_t since_us,
                        uint64_t updates_before)
{
    ph_sender* sender = send->sender;
    const uint64_t updates = sender->stats.sent_updates - updates_before;
    const int step_max = send->may_be_coarse ? largest_finer(send) : 0;
    if (step_max == 0) {
        sender->step = 0;
        return;
    }
    if (updates == 0) {
        return; // nothing was measured: it is the first send, or newcomers took all of it
    }
    const uint64_t waiting = (uint64_t)known_count > updates ? (uint64_t)known_count : updates;
    const uint64_t passed_us = since_us < STEP_PASSED_MAX_US ? since_us : STEP_PASSED_MAX_US;
    const uint64_t interval_us =
        ph_sender_can_refine(sender, 0) ? 0 : passed_us * waiting / updates;
    sender->interval_us += ((int64_t)interval_us - sender->interval_us) / STEP_SHARE;
    const int eighths = ph_log2_eighths((uint64_t)sender->interval_us) - STEP_FINEST_EIGHTHS;
    const int apart = eighths - STEP_EIGHTHS * sender->step;
    if (apart >= STEP_APART && sender->step < step_max) {
        ++sender->step;
    } else if (apart <= -STEP_APART && sender->step > 0) {
        --sender->step;
    }
}

void ph_send_run(ph_sending* send, const ph_send_context* context, uint64_t now_us,
                 ph_deliver_fn* deliver, void* deliver_context)
{
    ph_sender* sender = context->sender;
    send->context = context;
    send->sender = sender;
    send->deliver = deliver;
    send->deliver_context = deliver_context;
    send->watch = ph_stopwatch_make(context->clock, &sender->times);
    ph_sender_pass_time(sender, now_us);
    send->now_ms = sender->now_ms;
    send->sent_count = 0;
    send->may_be_coarse =
        sender->is_pinhole && sender->bits_per_second != 0 && sender->precision != 0;
    const int32_t eye_mm[3] = {context->eye_x_mm, context->eye_y_mm, context->eye_z_mm};
    ph_encoder_init(&send->encoder, context, sender, eye_mm);
    ph_propagate_dirty(context->store, sender, context->slots, context->store->tick);
    ph_smooth_judge_all(context);
    free_gone(send);
    if (is_blocked(sender, &context->store->class_info)) {
        send_probe(send);
        return;
    }
    ph_scan_slots(send);
    ph_stopwatch_lap(&send->watch, PH_STAGE_REPLICAS);
    ph_rank_slots(send);
    ph_send_queue_begin(send);
    ph_stopwatch_lap(&send->watch, PH_STAGE_SCORE);
    const uint64_t enters_before = sender->stats.sent_enters;
    const uint64_t updates_before = sender->stats.sent_updates;
    const uint64_t since_us = now_us - sender->sent_us;
    const int known_count =
        context->store->class_info.layouts.has_finer ? count_known_dirty(send) : 0;
    const bool is_all_sent = visit_slots(send);
    ph_stopwatch_lap(&send->watch, PH_STAGE_PICK);
    if (send->sent_count > 0) {
        choose_step(send, known_count, since_us, updates_before);
        learn_prices(send, is_all_sent, enters_before, updates_before);
    }
    // Without anything new to say the fate of what was said last would stay unknown.
    if (is_all_sent && send->sent_count == 0 && sender->flight.count > 0) {
        send_probe(send);
    }
}

bool ph_send_is_worth(const ph_send_context* context, uint64_t now_us)
{
    ph_sender* sender = context->sender;
    ph_sender_pass_time(sender, now_us);
    ph_propagate_dirty(context->store, sender, context->slots, context->store->tick);
    ph_smooth_judge_all(context);
    ph_scan_references(context);
    return ph_sender_is_worth(sender);
}
