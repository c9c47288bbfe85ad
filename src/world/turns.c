// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/turns.h"

#include "base/bitset.h"

#include <float.h>
#include <string.h>

// More are put in order as all others are.
enum { FEW_NEWCOMERS = 16 };

bool ph_turns_is_told_coarsely(const ph_turns* turns, int slot)
{
    const ph_knowledge* knowledge = &turns->sender->knowledge;
    const ph_layout* layouts = turns->outlook->world->forms.layouts.layouts;
    return turns->stage != PH_TURN_REFINE &&
           knowledge->touched[slot] == layouts[knowledge->class_index[slot]].position;
}

// ---- the order of each stage

static bool is_overdue(const ph_turns* turns, int slot)
{
    const uint32_t since_ms = turns->sender->knowledge.waiting_ms[slot];
    return since_ms != 0 && turns->now_ms - since_ms > turns->sender->patience_ms;
}

static float nearness(const ph_turns* turns, int slot)
{
    const ph_entities* entities = &turns->outlook->world->entities;
    const ph_entity_index entity = turns->outlook->entities[slot];
    const int32_t* position_mm = entities->whereabouts[entity].position_mm;
    const uint64_t distance2 = ph_distance2(position_mm[0], position_mm[1],
                                            turns->outlook->eye_x_mm, turns->outlook->eye_y_mm);
    return 1.0f / (1.0f + (float)distance2);
}

static float waited_rank(uint32_t now_ms, uint32_t since_ms)
{
    return 1.0f + (float)(now_ms - since_ms);
}

// By priority, and behind them whoever has none.
static float refined_rank(const ph_turns* turns, int slot)
{
    const float priority = turns->scratch->priority[slot];
    return priority > 0.0f ? priority : FLT_MIN;
}

static float rank_of(const ph_turns* turns, int slot)
{
    if (turns->outlook->entities[slot] == PH_ENTITY_NONE ||
        turns->sender->knowledge.touched[slot] == 0) {
        return 0.0f;
    }
    if (turns->stage == PH_TURN_REFINE) {
        return refined_rank(turns, slot);
    }
    return ph_turns_is_newcomer(turns, slot) ? nearness(turns, slot) : 0.0f;
}

// Mostly there is nobody. In vectors.
static void rank_rest(ph_turns* turns)
{
    const ph_entity_index* shows = turns->outlook->entities;
    const uint64_t* touched = turns->sender->knowledge.touched;
    const float* priority = turns->scratch->priority;
    const uint32_t* waiting_ms = turns->sender->knowledge.waiting_ms;
    float* restrict rank = turns->scratch->rank;
    const uint32_t now_ms = turns->now_ms;
    const int slot_end = turns->outlook->slot_end;
    for (int slot = 0; slot < slot_end; ++slot) {
        const uint32_t any = (uint32_t)(touched[slot] | touched[slot] >> 32);
        const bool is_left =
            (any != 0) & (shows[slot] != PH_ENTITY_NONE) & !(priority[slot] > 0.0f);
        rank[slot] = ph_float_if(is_left, waited_rank(now_ms, waiting_ms[slot]));
    }
}

// Fills the ranks of the other stages that have their own order.
static void rank_stage(ph_turns* turns)
{
    for (int slot = 0; slot < turns->outlook->slot_end; ++slot) {
        turns->scratch->rank[slot] = rank_of(turns, slot);
    }
}

static void begin_overdue(ph_turns* turns, int overdue_count)
{
    const ph_send_scratch* scratch = turns->scratch;
    const uint32_t* waiting_ms = turns->sender->knowledge.waiting_ms;
    const int slot_end = turns->outlook->slot_end;
    if (overdue_count == 0) {
        ph_order_begin_empty(&turns->overdue);
        return;
    }
    for (int slot = 0; slot < slot_end; ++slot) {
        scratch->waited[slot] =
            is_overdue(turns, slot) ? waited_rank(turns->now_ms, waiting_ms[slot]) : 0.0f;
    }
    ph_order_begin(&turns->overdue, scratch->waited, slot_end, &scratch->overdue);
}

static void fetch_first(const ph_turns* turns)
{
    for (int place = 0; place < PH_TURN_FETCH_AHEAD; ++place) {
        ph_turns_fetch(turns, place);
    }
}

// About as many are visited as in the last send, and some more are fetched.
static void begin_priority(ph_turns* turns)
{
    const ph_send_scratch* scratch = turns->scratch;
    const int wanted = turns->sender->turn_count + PH_LIKELY_MAX;
    turns->visited_count = 0;
    ph_order_begin_best(&turns->order, scratch->priority, turns->outlook->slot_end, wanted,
                        &scratch->order);
    fetch_first(turns);
}

static void begin_order(ph_turns* turns, const float* priority)
{
    ph_order_begin(&turns->order, priority, turns->outlook->slot_end, &turns->scratch->order);
    fetch_first(turns);
}

// Mostly a few have come across the edge: these are put in order as they are found.
static int list_newcomers(const ph_turns* turns, uint16_t* listed)
{
    const uint8_t* told = turns->sender->knowledge.told;
    const uint8_t* end = told + turns->outlook->slot_end;
    float* rank = turns->scratch->rank;
    int count = 0;
    const uint8_t* at = told;
    while (at < end && (at = memchr(at, PH_TOLD_NOTHING, (size_t)(end - at))) != NULL) {
        const int slot = (int)(at++ - told);
        rank[slot] = rank_of(turns, slot);
        if (rank[slot] > 0.0f) {
            int place = count++;
            for (; place > 0 && rank[listed[place - 1]] < rank[slot]; --place) {
                listed[place] = listed[place - 1];
            }
            listed[place] = (uint16_t)slot;
        }
    }
    return count;
}

static void begin_newcomers(ph_turns* turns)
{
    if (turns->sender->knowledge.newcomer_count > FEW_NEWCOMERS) {
        rank_stage(turns);
        begin_order(turns, turns->scratch->rank);
        return;
    }
    uint16_t* listed = turns->scratch->order.ready;
    ph_order_begin_sorted(&turns->order, listed, list_newcomers(turns, listed));
    fetch_first(turns);
}

void ph_turns_begin(ph_turns* turns, const ph_turns_def* def)
{
    turns->outlook = def->outlook;
    turns->sender = def->sender;
    turns->scratch = def->scratch;
    turns->now_ms = def->now_ms;
    turns->stage = PH_TURN_FIRST;
    turns->is_stage_begun = false;
    turns->visited_count = 0;
    turns->is_usual = false;
    turns->unfinished = PH_TURN_DONE;
    turns->again.count = 0;
    turns->again.next = 0;
    turns->later.count = 0;
    ph_order_begin_empty(&turns->order);
    begin_overdue(turns, def->overdue_count);
}

// ---- stages

static void begin_next_stage(ph_turns* turns)
{
    turns->stage = (ph_turn_stage)(turns->stage + 1);
    turns->is_stage_begun = false;
    turns->is_usual = false;
}

// Who moves is told of anew soon, and more exactly for nothing: that is for bits that nobody needs.
static bool can_refine(const ph_turns* turns, int64_t spoken_bits)
{
    const ph_sender* sender = turns->sender;
    return ph_sender_is_coded(sender) && sender->precision != 0 &&
           ph_token_bucket_bits(&sender->bucket) - spoken_bits > sender->depth_bits / 2;
}

// @return False when there is nothing to be done in this stage.
static bool begin_stage(ph_turns* turns, int64_t spoken_bits)
{
    const ph_sender* sender = turns->sender;
    switch (turns->stage) {
    case PH_TURN_NEWCOMERS:
        if (sender->scheduler.ranks_newcomers || sender->knowledge.newcomer_count == 0) {
            return false;
        }
        begin_newcomers(turns);
        return true;
    case PH_TURN_REST:
        rank_rest(turns);
        begin_order(turns, turns->scratch->rank);
        return true;
    case PH_TURN_REFINE:
        if (!can_refine(turns, spoken_bits)) {
            return false;
        }
        rank_stage(turns);
        begin_order(turns, turns->scratch->rank);
        return true;
    case PH_TURN_PRIORITY:
        begin_priority(turns);
        return true;
    case PH_TURN_SPARE:
        // The same once more, all of which had their turn. Whoever was passed over then had nothing to
        // tell, and gets nothing by waiting.
        ph_order_begin_sorted(&turns->order, turns->scratch->visited, turns->visited_count);
        fetch_first(turns);
        return true;
    default:
        turns->cursor = 0;
        return true;
    }
}

static int next_leaving(ph_turns* turns)
{
    const ph_knowledge* knowledge = &turns->sender->knowledge;
    while (knowledge->leaving_count > 0 && turns->cursor < knowledge->slot_count) {
        const int slot = turns->cursor++;
        if (ph_knowledge_is_leaving(knowledge, slot) &&
            (knowledge->touched[slot] != 0 || ph_sender_is_doubtful(turns->sender, slot))) {
            return slot;
        }
    }
    return -1;
}

static int next_ordered(ph_turns* turns, int64_t spoken_bits)
{
    if (turns->stage == PH_TURN_REFINE && !can_refine(turns, spoken_bits)) {
        return -1;
    }
    return ph_turns_next_ordered(turns, turns->stage, spoken_bits != 0);
}

static int next_of_stage(ph_turns* turns, int64_t spoken_bits)
{
    if (!turns->is_stage_begun) {
        turns->is_stage_begun = true;
        if (!begin_stage(turns, spoken_bits)) {
            return -1;
        }
    }
    switch (turns->stage) {
    case PH_TURN_FIRST: {
        const int slot = turns->sender->first_slot;
        turns->sender->first_slot = PH_SLOT_NOBODY;
        return slot != PH_SLOT_NOBODY ? slot : -1;
    }
    case PH_TURN_LEAVES:
        return next_leaving(turns);
    default:
        return next_ordered(turns, spoken_bits);
    }
}

// Of those who have waited too long, as long as there is credit for them.
static int next_overdue(ph_turns* turns)
{
    const ph_knowledge* knowledge = &turns->sender->knowledge;
    if (!ph_order_has_more(&turns->overdue) || turns->stage <= PH_TURN_LEAVES ||
        turns->sender->overdue_credit_bits <= 0) {
        return -1;
    }
    int slot = ph_order_next(&turns->overdue);
    while (slot >= 0 && knowledge->touched[slot] == 0) {
        slot = ph_order_next(&turns->overdue);
    }
    return slot;
}

bool ph_turns_try_next(ph_turns* turns, int64_t spoken_bits, ph_turn* next)
{
    if (turns->again.next < turns->again.count) {
        *next = turns->again.list[turns->again.next++];
        return true;
    }
    while (turns->stage != PH_TURN_DONE) {
        const int overdue = next_overdue(turns);
        if (overdue >= 0) {
            *next = (ph_turn){.slot = (uint16_t)overdue, .is_overdue = true};
            return true;
        }
        const int slot = next_of_stage(turns, spoken_bits);
        if (slot >= 0) {
            turns->is_usual =
                turns->stage == PH_TURN_PRIORITY && !ph_order_has_more(&turns->overdue);
            *next = (ph_turn){
                .slot = (uint16_t)slot,
                .is_filtered = turns->stage == PH_TURN_PRIORITY || turns->stage == PH_TURN_FIRST,
                .is_exact = turns->stage == PH_TURN_REFINE,
            };
            return true;
        }
        begin_next_stage(turns);
    }
    return false;
}

// ---- from one datagram to the next

bool ph_turns_retry(ph_turns* turns, ph_turn turn)
{
    turns->later.list[turns->later.count++] = turn;
    return turns->later.count == PH_TURN_TRIES_MAX;
}

void ph_turns_put_off(ph_turns* turns, ph_turn turn)
{
    turns->unfinished = turns->unfinished < turns->stage ? turns->unfinished : turns->stage;
    if (turns->stage == PH_TURN_LEAVES || (turns->stage == PH_TURN_NEWCOMERS && !turn.is_overdue)) {
        begin_next_stage(turns);
    }
}

bool ph_turns_has_more(const ph_turns* turns)
{
    return turns->later.count > 0 || turns->unfinished != PH_TURN_DONE;
}

void ph_turns_turn_over(ph_turns* turns)
{
    turns->is_usual = false;
    turns->again = turns->later;
    turns->again.next = 0;
    turns->later.count = 0;
    if (turns->unfinished != PH_TURN_DONE) {
        turns->stage = turns->unfinished;
        turns->is_stage_begun = false;
        turns->unfinished = PH_TURN_DONE;
    }
}
