// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One send to one viewer. First a survey of its slots, then slot after slot is visited when it is
// its turn (turns.h), until nothing is due or nothing more can be paid for.
//
// A visit compares, and adds a record if it fits. If it would not even fit into an empty datagram,
// everything waits until it can be paid, and the slot comes first in the next send.
//
// Everything lives on the stack (about 100 kB, of which a usual send touches a quarter), or in
// memory of the viewer's own: different viewers may be served by different threads.

#include "world/sending.h"

#include "base/inline.h"
#include "schedule/error.h"
#include "schedule/score.h"
#include "schedule/waiting.h"
#include "world/comparing.h"
#include "world/datagram.h"
#include "world/errors.h"
#include "world/fetching.h"
#include "world/priorities.h"
#include "world/stopwatch.h"
#include "world/survey.h"
#include "world/telling.h"
#include "world/turns.h"
#include "world/unrest.h"

#define US_PER_SECOND UINT64_C(1000000)

// One in so many bits goes to those who wait too long, before the others.
enum { OVERDUE_SHARE = 4 };

// Who is shown wrong by less than so many coarse steps is told exactly: else rounding would be most of
// what is seen of it, and most of its velocity. Wanderers at 13 kbit/s: always coarse 0.48 mrad and 12.6
// jolts a minute, with 1 0.29 and 1.8, 2 0.20 and 0.3, 4 and 8 0.19 and 0.2; asteroids, which have large
// errors, 4.95 mrad, with 4 5.01, 8 5.13, never coarse 6.4.
#define COARSE_STEPS 4.0f
// So many newcomers at once are a crowd, and the least that each of them takes. With 36, which is about
// what they take, walkers at 13 kbit/s would have 2.1 jolts a minute instead of 2.0, because all of them
// nearly fit; with 18 a tenth more of them would be missing at 4 kbit/s.
enum { CROWD = 24, CROWD_ENTER_BITS = 24 };

typedef struct sending {
    ph_outlook outlook;
    ph_sender* sender;
    ph_send_scratch scratch;
    ph_error_lanes lanes; // unless nobody wants them: there is no expectation then
    ph_ranking_errors errors;
    uint32_t now_ms;
    ph_surveyed surveyed;
    ph_turns turns;
    ph_foresight foresight;
    bool is_by_error;   // the scheduler's filter is that of errors
    bool is_by_score;   // or that of scores
    bool has_scores;    // it remembers something between sends
    bool is_score_gone; // which is nothing once a record was sent
    bool may_be_coarse; // positions in updates
    int sent_count;
    ph_stopwatch watch;
    ph_datagram datagram;
    ph_viewer_id viewer;
    ph_deliver* deliver;
    void* context;
} sending;

// Slots that were left before the client can have heard of them.
static void free_gone(sending* s, ph_slots* slots)
{
    ph_knowledge* knowledge = &s->sender->knowledge;
    for (int slot = 0; knowledge->leaving_count > 0 && slot < knowledge->slot_count; ++slot) {
        if (ph_knowledge_is_gone(knowledge, slot)) {
            ph_knowledge_free(knowledge, slot, false);
            ph_slots_free(slots, slot);
        }
    }
}

// ---- a visit

typedef enum outcome {
    OUTCOME_NOTHING, // to be said, or to be said now
    OUTCOME_ADDED,
    // Put off:
    OUTCOME_NO_ROOM,
    OUTCOME_NO_PLACE, // for another leave or enter, whatever its size
} outcome;

// Who has nothing due does not wait, and who has nothing due but its position is at rest.
static inline void note_rest(sending* s, const ph_place* at)
{
    ph_knowledge* knowledge = &s->sender->knowledge;
    const uint64_t touched = knowledge->touched[at->slot];
    // Nobody could guess that.
    knowledge->waiting_ms[at->slot] &= ph_bits_if(touched != 0);
    if ((touched & ~at->layout->position) == 0) {
        ph_unrest_settle(&s->outlook, at);
    }
}

static outcome no_room(const sending* s, ph_record_kind kind)
{
    return ph_datagram_has_place(&s->datagram, kind) ? OUTCOME_NO_ROOM : OUTCOME_NO_PLACE;
}

static inline outcome add(sending* s, const ph_place* at, ph_turn who, const ph_choice* choice)
{
    ph_sender* sender = s->sender;
    const int64_t before_bits = s->datagram.bits;
    if (!ph_datagram_add(&s->datagram, choice)) {
        return no_room(s, choice->kind);
    }
    if (who.is_overdue) {
        sender->overdue_credit_bits -= s->datagram.bits - before_bits;
    }
    at->dossier->served_ms = s->now_ms;
    if (s->has_scores && choice->kind != PH_RECORD_LEAVE) {
        float* score = &sender->knowledge.score[at->slot];
        *score =
            s->is_score_gone ? 0.0f : sender->scheduler.sent(sender->scheduler.context, *score);
    }
    return OUTCOME_ADDED;
}

// What the datagram under way will take of the budget.
static int64_t spoken_bits(const sending* s)
{
    return s->datagram.is_open ? s->datagram.bits + 8 * (int64_t)ph_sender_overhead(s->sender) : 0;
}

// Those who wait to be told of. Nobody else may leave a trace, not even by number.
static int count_newcomers(const sending* s)
{
    const ph_knowledge* knowledge = &s->sender->knowledge;
    int count = 0;
    for (int i = 0; i < s->outlook.shown.count; ++i) {
        const int slot = s->outlook.shown.slots[i];
        count += knowledge->told[slot] == PH_TOLD_NOTHING && ph_outlook_is_there(&s->outlook, slot);
    }
    return count;
}

// How coarse those may be who enter with the datagram under way: when a crowd waits for which the
// budget has no room, they are told of sooner with less precision.
static int judge_newcomers(const sending* s)
{
    const ph_sender* sender = s->sender;
    if (!ph_sender_is_coded(sender) || sender->precision == 0 || sender->bits_per_second == 0 ||
        sender->knowledge.newcomer_count < CROWD) {
        return 0;
    }
    const int count = count_newcomers(s);
    const int64_t left_bits = ph_token_bucket_bits(&sender->bucket) - spoken_bits(s);
    return count >= CROWD && count * (int64_t)CROWD_ENTER_BITS > left_bits ? PH_COARSE_MAX : 0;
}

PH_OUT_OF_LINE static outcome add_enter(sending* s, const ph_place* at, ph_turn who)
{
    ph_due rest;
    if (s->datagram.counts[PH_RECORD_ENTER] == 0) {
        s->datagram.page.frame.spread.coarse = (uint8_t)judge_newcomers(s);
    }
    const ph_choice choice = {
        .slot = at->slot,
        .kind = PH_RECORD_ENTER,
        .properties = ph_outlook_complete(&s->outlook, at, &rest),
    };
    const outcome result = add(s, at, who, &choice);
    if (result == OUTCOME_ADDED) {
        note_rest(s, at);
        at->dossier->beyond = rest.beyond;
        s->sender->knowledge.wake_mm2[at->slot] = rest.wake_mm2;
    }
    return result;
}

// ---- what of it is told

PH_OUT_OF_LINE static uint64_t ask_filter(const sending* s, const ph_place* at, const ph_due* due,
                                          uint64_t lost)
{
    const ph_knowledge* knowledge = &s->sender->knowledge;
    const ph_scheduler* scheduler = &s->sender->scheduler;
    const int slot = at->slot;
    const bool has_errors = scheduler->wants_errors;
    const bool has_change = scheduler->wants_change || has_errors;
    const ph_visit visit = {
        .distance_mm = s->scratch.distance_mm[slot],
        .weight = knowledge->weight[slot],
        .score = knowledge->score[slot],
        .mileage_mm = s->scratch.mileage_mm[slot],
        .due = due->due,
        .significant = due->significant | lost,
        .lost = lost,
        .settled = due->settled,
        .position = at->layout->position,
        .change = has_change ? s->scratch.change[slot] : 0.0f,
        .errors = has_errors ? &s->errors : NULL,
        .slot = slot,
        .heading = has_errors ? at->layout->heading : 0,
    };
    return scheduler->filter(scheduler->context, &visit);
}

// What the scheduler lets through.
static inline uint64_t filter(const sending* s, const ph_place* at, const ph_due* due)
{
    const uint64_t lost = at->dossier->repeats & due->due;
    if (s->is_by_error) {
        const uint64_t worth = ph_error_choose(s->errors.kept[at->slot], at->layout->position,
                                               at->layout->heading, due->significant | lost);
        return (worth | due->settled | lost) & due->due;
    }
    if (s->is_by_score) {
        const ph_score_choice choice = {
            .mileage_mm = s->scratch.mileage_mm[at->slot],
            .distance_mm = s->scratch.distance_mm[at->slot],
            .position = at->layout->position,
            .significant = due->significant | lost,
            .pressing = due->settled | lost,
        };
        return ph_score_choose(choice) & due->due;
    }
    const ph_due asked = *due; // whose own would have to stay in memory
    return ask_filter(s, at, &asked, lost) & due->due;
}

// ---- the pinhole profile

// Who is told to stand was told exactly where.
static inline bool is_to_be_exact(const sending* s, const ph_place* at, ph_turn who,
                                  const ph_due* due)
{
    const uint64_t position = at->layout->position;
    return who.is_exact || who.is_overdue || (due->settled & position) != 0 ||
           ((due->striking & position) == 0 &&
            ph_expectation_is_astray(s->sender->expectation, at->slot));
}

static inline bool is_coarse_worth_it(const sending* s, const ph_place* at, int coarse)
{
    const int64_t step_mm = INT64_C(1) << (at->layout->coordinate.shift + coarse);
    return s->lanes.error_mm[at->slot] >= COARSE_STEPS * (float)step_mm;
}

// How coarse the position is told now, if it is chosen.
static inline int judge_position(sending* s, const ph_place* at, ph_turn who, const ph_due* due,
                                 uint64_t chosen)
{
    if (!s->may_be_coarse || (chosen & at->layout->position) == 0 ||
        !is_coarse_worth_it(s, at, 1) || is_to_be_exact(s, at, who, due)) {
        return 0;
    }
    const int coarse = ph_wording_coarse(&s->datagram.wording, &s->datagram.page.frame, at->slot);
    return coarse > 0 && is_coarse_worth_it(s, at, coarse) ? coarse : 0;
}

// Whether tokens are about to run over: seven eighths of what can be saved up are there.
static bool is_brimful(const sending* s)
{
    const ph_sender* sender = s->sender;
    return ph_token_bucket_bits(&sender->bucket) - spoken_bits(s) >
           sender->depth_bits - sender->depth_bits / 8;
}

// While an enter is on its way, each record would be a whole enter again: that can wait for the answer,
// which comes soon, unless nobody else needs the bits; and one of this very send is as good as it gets.
static bool is_enter_enough(const sending* s, int slot, ph_turn who)
{
    if (who.is_filtered) {
        return true;
    }
    return ph_sender_is_coded(s->sender) &&
           (ph_knowledge_at(&s->sender->knowledge, slot)->served_ms == s->now_ms ||
            (!who.is_overdue && !(who.is_exact && is_brimful(s))));
}

// ---- a visit to somebody known

static inline outcome add_update(sending* s, const ph_place* at, ph_turn who, const ph_due* due)
{
    const uint64_t chosen = who.is_filtered ? filter(s, at, due) : due->due;
    if (chosen == 0) {
        return OUTCOME_NOTHING;
    }
    const ph_choice choice = {
        .slot = at->slot,
        .kind = PH_RECORD_UPDATE,
        .properties = chosen,
        .is_significant = (due->striking & chosen) != 0,
        .has_words = true,
        .coarse = judge_position(s, at, who, due, chosen),
    };
    return add(s, at, who, &choice);
}

// told: what the client was.
PH_ALWAYS_INLINE outcome visit_known(sending* s, const ph_place* at, ph_turn who, ph_told told)
{
    ph_knowledge* knowledge = &s->sender->knowledge;
    const uint64_t touched = knowledge->touched[at->slot];
    const uint64_t mask =
        ph_sender_class_mask(s->sender, s->outlook.world->class_count, at->slot, at->class_index);
    const ph_due due =
        ph_outlook_compare_here(&s->outlook, at, touched & mask, s->datagram.wording.words);
    ph_survey_keep(knowledge, at, touched, touched, &due);
    outcome result = OUTCOME_NOTHING;
    if (due.due != 0 && told == PH_TOLD_ENTERED) {
        result = add_update(s, at, who, &due);
    } else if (due.due != 0 && !is_enter_enough(s, at->slot, who)) {
        result = add_enter(s, at, who);
    }
    note_rest(s, at);
    return result;
}

static ph_turn usual_turn(int slot)
{
    return (ph_turn){.slot = (uint16_t)slot, .is_filtered = true};
}

// Most visits: the client has it, it comes by priority, and something may be due.
static outcome visit_usual(sending* s, int slot)
{
    if (!ph_outlook_is_there(&s->outlook, slot)) {
        return OUTCOME_NOTHING;
    }
    const ph_place* at = ph_wording_move(&s->datagram.wording, slot);
    return visit_known(s, at, usual_turn(slot), PH_TOLD_ENTERED);
}

// Everybody else.
PH_OUT_OF_LINE static outcome visit(sending* s, ph_turn who)
{
    const ph_knowledge* knowledge = &s->sender->knowledge;
    const int slot = who.slot;
    const ph_told told = knowledge->told[slot];
    const bool is_doubtful = ph_sender_is_doubtful(s->sender, slot);
    if (knowledge->touched[slot] == 0 && !is_doubtful) {
        return OUTCOME_NOTHING;
    }
    const ph_place* at = ph_wording_move(&s->datagram.wording, slot);
    if (ph_knowledge_is_leaving(knowledge, slot)) {
        return add(s, at, who, &(ph_choice){.slot = slot, .kind = PH_RECORD_LEAVE});
    }
    if (!ph_outlook_is_there(&s->outlook, slot)) {
        return OUTCOME_NOTHING;
    }
    if (told == PH_TOLD_NOTHING || is_doubtful) {
        return add_enter(s, at, who);
    }
    if (!who.is_overdue && ph_turns_is_told(&s->turns, slot)) {
        return OUTCOME_NOTHING;
    }
    return visit_known(s, at, who, told);
}

// ---- datagrams

// Others go on credit from what was really sent.
static void renew_credit(sending* s, size_t size)
{
    const int64_t wire_bits = 8 * ((int64_t)size + s->sender->overhead_bytes);
    int64_t* credit_bits = &s->sender->overdue_credit_bits;
    *credit_bits = (*credit_bits < 0 ? *credit_bits : 0) + wire_bits / OVERDUE_SHARE;
}

static void close_datagram(sending* s)
{
    if (!s->datagram.is_open) {
        return;
    }
    if (s->datagram.count == 0) {
        ph_datagram_cancel(&s->datagram);
        return;
    }
    uint8_t bytes[PH_PAYLOAD_MAX];
    ph_stopwatch_lap(&s->watch, PH_STAGE_PICK);
    const size_t size = ph_datagram_close(&s->datagram, bytes);
    ph_stopwatch_lap(&s->watch, PH_STAGE_ENCODE);
    renew_credit(s, size);
    ++s->sent_count;
    s->deliver(s->context, s->viewer, bytes, size);
    ph_stopwatch_start(&s->watch);
}

static void turn_over(sending* s)
{
    close_datagram(s);
    ph_turns_turn_over(&s->turns);
}

// What becomes of a turn for which there was no room or no place. @return False when the send is over,
// because the record cannot be paid for.
PH_OUT_OF_LINE static bool put_off(sending* s, ph_turn who, outcome result)
{
    if (result == OUTCOME_NO_PLACE) {
        ph_turns_put_off(&s->turns, who);
        return true;
    }
    if (s->datagram.count == 0) {
        return false;
    }
    // Among those by priority, each of whom has one turn, others are not worth a try when none can fit. More
    // of a slot that is told of already may, for fewer bits: that waits for the next datagram.
    const bool is_full = s->turns.is_usual && ph_datagram_is_full(&s->datagram);
    if (ph_turns_retry(&s->turns, who) || is_full) {
        turn_over(s);
    }
    return true;
}

// @return As put_off().
static bool visit_in_datagram(sending* s, ph_turn who)
{
    if (!s->datagram.is_open && !ph_datagram_open(&s->datagram)) {
        return false;
    }
    const outcome result = visit(s, who);
    return result <= OUTCOME_ADDED || put_off(s, who, result);
}

// As long as turns are that simple. @return As put_off(); when it is over, *who is whose turn it was.
static bool visit_by_priority(sending* s, ph_turn* who)
{
    while (s->turns.is_usual && s->datagram.is_open) {
        const int slot = ph_turns_next_usual(&s->turns);
        if (slot < 0) {
            return true;
        }
        ph_foresight_go_on(&s->foresight);
        const bool is_entered = s->sender->knowledge.told[slot] == PH_TOLD_ENTERED;
        const outcome result = is_entered ? visit_usual(s, slot) : visit(s, usual_turn(slot));
        if (result > OUTCOME_ADDED) {
            *who = usual_turn(slot);
            if (!put_off(s, *who, result)) {
                return false;
            }
        }
    }
    return true;
}

// @return Whether everything that is due has gone out.
static bool send_datagrams(sending* s)
{
    ph_turn who;
    while (visit_by_priority(s, &who)) {
        if (ph_turns_try_next(&s->turns, spoken_bits(s), &who)) {
            if (!visit_in_datagram(s, who)) {
                break;
            }
        } else if (ph_turns_has_more(&s->turns)) {
            turn_over(s);
        } else {
            close_datagram(s);
            return true;
        }
    }
    close_datagram(s);
    s->sender->first_slot = who.slot;
    return false;
}

static void send_probe(sending* s)
{
    if (s->sender->now_us - s->sender->sent_us < US_PER_SECOND) {
        return;
    }
    uint8_t bytes[PH_PAYLOAD_MAX];
    const size_t size = ph_datagram_probe(&s->datagram, bytes);
    if (size > 0) {
        s->deliver(s->context, s->viewer, bytes, size);
    }
}

// ---- the whole

// Beyond that only probes go out.
static bool is_blocked(const ph_sender* sender, const ph_forms* forms)
{
    const size_t extra = ph_sender_is_coded(sender) ? PH_ENTER_EXTRA_BYTES : 0;
    return !ph_flight_has_place(&sender->flight) ||
           !ph_flight_has_room(&sender->flight,
                               forms->known_stride + extra + PH_FLIGHT_EYE_UNITS * 4);
}

// What the next send will cost, when it is for the rhythm to decide.
static void learn_prices(sending* s, bool is_all_said, uint64_t enters_before,
                         uint64_t updates_before)
{
    ph_sender* sender = s->sender;
    const int updates = (int)(sender->stats.updates - updates_before);
    const int enters = (int)(sender->stats.enters - enters_before);
    ph_price_learn(&sender->prices.enter256, s->datagram.enters256, enters);
    const int others = s->surveyed.touched_count - enters;
    ph_price_learn(&sender->prices.slot256, s->datagram.others256,
                   is_all_said && others > updates ? others : updates);
}

static void prepare(sending* s, ph_world* world, uint32_t index, uint64_t now_us)
{
    const ph_viewer* viewer = &world->viewers.viewers[index];
    const ph_id id = ph_id_pool_at(&world->viewers.ids, (int)index);
    s->outlook = ph_outlook_make(world, index);
    s->sender = viewer->sender;
    s->watch = ph_stopwatch_make(world->now_ns, world->now_context, &s->sender->times);
    s->viewer = (ph_viewer_id){.index1 = id.index1, .generation = id.generation};
    ph_sender_pass_time(s->sender, now_us);
    s->now_ms = ph_sender_now_ms(s->sender);
    s->sent_count = 0;
    const int32_t eye_mm[3] = {s->outlook.eye_x_mm, s->outlook.eye_y_mm, viewer->eye_z_mm};
    ph_datagram_init(&s->datagram, &s->outlook, s->sender, eye_mm);
    const ph_scheduler* scheduler = &s->sender->scheduler;
    s->is_by_error = scheduler->wants_errors && scheduler->filter == ph_error_filter;
    s->is_by_score = scheduler->filter == ph_score_filter;
    s->has_scores = scheduler->sent != ph_error_sent;
    s->is_score_gone = scheduler->sent == ph_waiting_sent;
    s->may_be_coarse = ph_sender_is_coded(s->sender) && s->sender->bits_per_second != 0 &&
                       s->sender->precision != 0;
}

void ph_sending_run(ph_world* world, uint32_t index, const ph_occasion* occasion)
{
    sending s;
    prepare(&s, world, index, occasion->now_us);
    s.deliver = occasion->deliver;
    s.context = occasion->context;
    const uint32_t follower = ph_sender_take_follower(s.sender);
    ph_tell_viewer(world, index);
    free_gone(&s, world->viewers.viewers[index].slots);
    if (is_blocked(s.sender, &world->forms)) {
        send_probe(&s);
        return;
    }
    float stack[PH_STACK_SLOTS * PH_SCRATCH_BYTES_PER_SLOT / sizeof(float)];
    s.scratch = ph_send_scratch_make(s.sender->scratch != NULL ? s.sender->scratch : stack,
                                     s.sender->knowledge.slot_count);
    float error_stack[PH_STACK_SLOTS * PH_ERROR_LANES];
    if (s.sender->expectation != NULL) {
        float* scratch = s.sender->expectation->scratch;
        s.lanes = ph_error_lanes_make(scratch != NULL ? scratch : error_stack,
                                      s.sender->knowledge.slot_count);
    }
    const ph_survey survey = {
        .outlook = &s.outlook, .sender = s.sender, .scratch = &s.scratch, .now_ms = s.now_ms};
    s.surveyed = ph_survey_all(&survey);
    ph_stopwatch_lap(&s.watch, PH_STAGE_KNOWLEDGE);
    s.errors = ph_priorities_fill(&(ph_priorities){.outlook = &s.outlook,
                                                   .sender = s.sender,
                                                   .scratch = &s.scratch,
                                                   .lanes = &s.lanes,
                                                   .eye_z_mm = s.datagram.eye_mm[2]});
    ph_turns_begin(&s.turns, &(ph_turns_def){.outlook = &s.outlook,
                                             .sender = s.sender,
                                             .scratch = &s.scratch,
                                             .now_ms = s.now_ms,
                                             .overdue_count = s.surveyed.overdue_count});
    ph_stopwatch_lap(&s.watch, PH_STAGE_SCORE);
    const uint64_t enters_before = s.sender->stats.enters;
    const uint64_t updates_before = s.sender->stats.updates;
    s.foresight = ph_foresight_make(world, follower);
    const bool is_all_said = send_datagrams(&s);
    ph_foresight_finish(&s.foresight);
    ph_turns_note_likely(&s.turns);
    ph_stopwatch_lap(&s.watch, PH_STAGE_PICK);
    if (s.sent_count > 0) {
        learn_prices(&s, is_all_said, enters_before, updates_before);
    }
    // Without anything new to say the fate of what was said last would stay unknown.
    if (is_all_said && s.sent_count == 0 && s.sender->flight.count > 0) {
        send_probe(&s);
    }
}
