// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// In which order a send visits slots: stage after stage (send.h lists them), each with an order of its
// own, worked out when the stage begins.
//
// After the leaves, what has waited longer than max_starve_ms goes before all others, longest first,
// with a quarter of the bits: newcomers could else keep it waiting for ever. Its credit is a quarter
// of what the last packet cost; what is not used is not saved, and a dear record may borrow. So a
// stage may be interrupted by overdue slots whenever another packet was paid for.
//
// A packet has room for so many leaves and enters only: when it is full of them the stage is put off,
// and taken up again in the next packet. What does not fit has its turn again in the next packet;
// meanwhile a few smaller ones may go.
//
// Some tens of turns per send, some tens of instructions each.

#include "replication/send.h"

#include "base/bitset.h"

#include <float.h>

// So many turns before its own a slot's replica is asked for.
enum { TURNS_AHEAD = 8 };

static bool is_newcomer(const ph_sending* send, int slot)
{
    return send->context->entities[slot] != PH_ENTITY_NONE &&
           send->sender->replicas.state[slot] == PH_REPLICA_ABSENT;
}

bool ph_send_queue_is_told(const ph_sending* send, int slot)
{
    const ph_sender* sender = send->sender;
    const ph_replicas* replicas = &sender->replicas;
    const ph_layout* layouts = send->context->store->class_info.layouts.layouts;
    const uint8_t coarse = send->encoder.coarse[slot];
    if (!sender->is_pinhole || coarse == 0 || send->queue.stage == PH_QUEUE_REFINE) {
        return false;
    }
    const ph_layout* layout = &layouts[replicas->class_index[slot]];
    const uint64_t told = ((coarse & PH_COARSE_OF_POSITION) != 0 ? layout->position : 0) |
                          ((coarse & ~PH_COARSE_OF_POSITION) != 0 ? layout->orientation : 0);
    return replicas->dirty[slot] != 0 && (replicas->dirty[slot] & ~told) == 0;
}

// ---- ranks of stages that have their own

static float waited_rank(uint32_t now_ms, uint32_t since_ms)
{
    return 1.0f + (float)(now_ms - since_ms);
}

// Nearest first.
static void rank_newcomers(ph_sending* send)
{
    const ph_send_context* context = send->context;
    for (int slot = 0; slot < context->slot_end; ++slot) {
        float rank = 0.0f;
        if (is_newcomer(send, slot) && send->sender->replicas.dirty[slot] != 0) {
            const ph_entity_index entity = context->entities[slot];
            const int32_t* position_mm = context->store->entities.whereabouts[entity].position_mm;
            rank = 1.0f / (1.0f + (float)ph_distance2(position_mm[0], position_mm[1],
                                                      context->eye_x_mm, context->eye_y_mm));
        }
        send->queue.rank[slot] = rank;
    }
}

// What has no priority. Mostly there is nothing; in vectors.
static void rank_rest(ph_sending* send)
{
    const ph_entity_index* shows = send->context->entities;
    const uint64_t* dirty = send->sender->replicas.dirty;
    const float* priority = send->priority;
    const uint32_t* waiting_ms = send->sender->replicas.waiting_ms;
    float* restrict rank = send->queue.rank;
    const uint32_t now_ms = send->now_ms;
    const int slot_end = send->context->slot_end;
    for (int slot = 0; slot < slot_end; ++slot) {
        const uint32_t any = (uint32_t)(dirty[slot] | dirty[slot] >> 32);
        const bool is_left =
            (any != 0) & (shows[slot] != PH_ENTITY_NONE) & !(priority[slot] > 0.0f);
        rank[slot] = ph_float_if(is_left, waited_rank(now_ms, waiting_ms[slot]));
    }
}

// By priority, and behind those whatever has none.
static void rank_refined(ph_sending* send)
{
    const ph_replicas* replicas = &send->sender->replicas;
    for (int slot = 0; slot < send->context->slot_end; ++slot) {
        const bool is_waiting =
            send->context->entities[slot] != PH_ENTITY_NONE &&
            (replicas->dirty[slot] != 0 || ph_replicas_is_rounded(replicas, slot));
        const float priority = send->priority[slot] > 0.0f ? send->priority[slot] : FLT_MIN;
        send->queue.rank[slot] = is_waiting ? priority : 0.0f;
    }
}

static void begin_overdue(ph_sending* send)
{
    ph_send_queue* queue = &send->queue;
    const uint32_t* waiting_ms = send->sender->replicas.waiting_ms;
    const int slot_end = send->context->slot_end;
    if (send->overdue_count == 0) {
        ph_order_begin_sorted(&queue->overdue, NULL, 0);
        return;
    }
    for (int slot = 0; slot < slot_end; ++slot) {
        const uint32_t since_ms = waiting_ms[slot];
        const bool is_overdue =
            since_ms != 0 && send->now_ms - since_ms > send->sender->max_starve_ms;
        queue->waited[slot] = is_overdue ? waited_rank(send->now_ms, since_ms) : 0.0f;
    }
    ph_order_begin(&queue->overdue, queue->waited, slot_end, &queue->overdue_memory);
}

void ph_send_queue_begin(ph_sending* send)
{
    ph_send_queue* queue = &send->queue;
    queue->stage = PH_QUEUE_FIRST;
    queue->unfinished = PH_QUEUE_DONE;
    queue->is_stage_begun = false;
    queue->visited_count = 0;
    queue->again.count = 0;
    queue->again.next = 0;
    queue->later.count = 0;
    ph_order_begin_sorted(&queue->order, NULL, 0);
    begin_overdue(send);
}

// ---- stages

// @return False when there is nothing to be done in this stage.
static bool begin_stage(ph_sending* send, int64_t spoken_bits)
{
    ph_send_queue* queue = &send->queue;
    const ph_sender* sender = send->sender;
    const int slot_end = send->context->slot_end;
    switch (queue->stage) {
    case PH_QUEUE_NEWCOMERS:
        if (sender->scheduler.ranks_newcomers || sender->replicas.newcomer_count == 0) {
            return false;
        }
        rank_newcomers(send);
        ph_order_begin(&queue->order, queue->rank, slot_end, &queue->order_memory);
        return true;
    case PH_QUEUE_PRIORITY:
        queue->visited_count = 0;
        ph_order_begin(&queue->order, send->priority, slot_end, &queue->order_memory);
        return true;
    case PH_QUEUE_SPARE:
        // The same once more, all of which had their turn. What was passed over then had nothing to
        // tell, and gets nothing by waiting.
        ph_order_begin_sorted(&queue->order, queue->visited, queue->visited_count);
        return true;
    case PH_QUEUE_REST:
        rank_rest(send);
        ph_order_begin(&queue->order, queue->rank, slot_end, &queue->order_memory);
        return true;
    case PH_QUEUE_REFINE:
        if (!ph_sender_can_refine(send->sender, spoken_bits)) {
            return false;
        }
        rank_refined(send);
        ph_order_begin(&queue->order, queue->rank, slot_end, &queue->order_memory);
        return true;
    default:
        queue->cursor = 0;
        return true;
    }
}

static int next_leaving(ph_sending* send)
{
    const ph_replicas* replicas = &send->sender->replicas;
    while (replicas->leaving_count > 0 && send->queue.cursor < replicas->slot_count) {
        const int slot = send->queue.cursor++;
        if (ph_replicas_is_leaving(replicas, slot) &&
            (replicas->dirty[slot] != 0 || ph_sender_is_ack_late(send->sender, slot))) {
            return slot;
        }
    }
    return -1;
}

// What was sent meanwhile is passed over.
static int next_ordered(ph_sending* send, bool is_open)
{
    ph_send_queue* queue = &send->queue;
    const ph_sender* sender = send->sender;
    for (;;) {
        const int slot = ph_order_next(&queue->order);
        if (slot < 0) {
            return slot;
        }
        const int ahead = ph_order_ahead(&queue->order, TURNS_AHEAD);
        if (ahead >= 0) {
            ph_replicas_expect(&sender->replicas, ahead);
        }
        const bool is_refined =
            queue->stage == PH_QUEUE_REFINE && ph_replicas_is_rounded(&sender->replicas, slot);
        if ((sender->replicas.dirty[slot] == 0 && !is_refined) ||
            (!sender->scheduler.ranks_newcomers &&
             is_newcomer(send, slot) != (queue->stage == PH_QUEUE_NEWCOMERS))) {
            continue;
        }
        if (queue->stage == PH_QUEUE_PRIORITY) {
            queue->visited[queue->visited_count++] = (uint16_t)slot;
        }
        if (!is_open || !ph_send_queue_is_told(send, slot)) {
            return slot;
        }
    }
}

static int next_of_stage(ph_sending* send, int64_t spoken_bits)
{
    ph_send_queue* queue = &send->queue;
    if (!queue->is_stage_begun) {
        queue->is_stage_begun = true;
        if (!begin_stage(send, spoken_bits)) {
            return -1;
        }
    }
    if (queue->stage == PH_QUEUE_FIRST) {
        const int slot = send->sender->first_slot;
        send->sender->first_slot = PH_SLOT_NONE;
        return slot != PH_SLOT_NONE ? slot : -1;
    }
    if (queue->stage == PH_QUEUE_LEAVES) {
        return next_leaving(send);
    }
    if (queue->stage == PH_QUEUE_REFINE && !ph_sender_can_refine(send->sender, spoken_bits)) {
        return -1;
    }
    return next_ordered(send, spoken_bits != 0);
}

// Of what has waited too long, as long as there is credit for it.
static int next_overdue(ph_sending* send)
{
    ph_send_queue* queue = &send->queue;
    if (!ph_order_has_more(&queue->overdue) || queue->stage <= PH_QUEUE_LEAVES ||
        send->sender->overdue_credit_bits <= 0) {
        return -1;
    }
    int slot = ph_order_next(&queue->overdue);
    while (slot >= 0 && send->sender->replicas.dirty[slot] == 0) {
        slot = ph_order_next(&queue->overdue);
    }
    return slot;
}

static void begin_next_stage(ph_send_queue* queue)
{
    queue->stage = (ph_queue_stage)(queue->stage + 1);
    queue->is_stage_begun = false;
}

bool ph_send_queue_next(ph_sending* send, int64_t spoken_bits, ph_send_turn* next)
{
    ph_send_queue* queue = &send->queue;
    if (queue->again.next < queue->again.count) {
        *next = queue->again.list[queue->again.next++];
        return true;
    }
    for (; queue->stage != PH_QUEUE_DONE; begin_next_stage(queue)) {
        const int overdue = next_overdue(send);
        if (overdue >= 0) {
            *next = (ph_send_turn){.slot = (uint16_t)overdue, .is_overdue = true};
            return true;
        }
        const int slot = next_of_stage(send, spoken_bits);
        if (slot >= 0) {
            *next = (ph_send_turn){
                .slot = (uint16_t)slot,
                .is_filtered = queue->stage == PH_QUEUE_PRIORITY || queue->stage == PH_QUEUE_FIRST,
                .is_exact = queue->stage == PH_QUEUE_REFINE,
                .is_ordered =
                    queue->stage == PH_QUEUE_PRIORITY && !ph_order_has_more(&queue->overdue),
            };
            return true;
        }
    }
    return false;
}

// ---- from one packet to the next

bool ph_send_queue_retry(ph_send_queue* queue, ph_send_turn turn)
{
    turn.is_ordered = false;
    queue->later.list[queue->later.count++] = turn;
    return queue->later.count == PH_QUEUE_TRIES_MAX;
}

void ph_send_queue_put_off(ph_send_queue* queue, ph_send_turn turn)
{
    queue->unfinished = queue->unfinished < queue->stage ? queue->unfinished : queue->stage;
    if (queue->stage == PH_QUEUE_LEAVES ||
        (queue->stage == PH_QUEUE_NEWCOMERS && !turn.is_overdue)) {
        begin_next_stage(queue);
    }
}

bool ph_send_queue_has_more(const ph_send_queue* queue)
{
    return queue->later.count > 0 || queue->unfinished != PH_QUEUE_DONE;
}

void ph_send_queue_turn_over(ph_send_queue* queue)
{
    queue->again = queue->later;
    queue->again.next = 0;
    queue->later.count = 0;
    if (queue->unfinished != PH_QUEUE_DONE) {
        queue->stage = queue->unfinished;
        queue->is_stage_begun = false;
        queue->unfinished = PH_QUEUE_DONE;
    }
}
