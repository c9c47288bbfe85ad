// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Who comes next in one send: slot after slot, in stages:
//
//   first       what did not fit last time
//   leaves      cheap, and they make room
//   newcomers   nearest first; by priority, with the others, if the scheduler ranks_newcomers
//   priority    by the scheduler, what its filter lets through
//   spare       the same again, with what the filter held back
//   rest        whoever has no priority, longest wait first: what can be spent is spent
//   refine      pinhole profile, when more than half of what can be saved up is left: coarse
//               positions become exact, and enters on their way are told anew
//
// After the leaves, whoever has waited longer than patience allows goes before all others, longest
// first, with a quarter of the bits: newcomers could else keep it waiting for ever. Its credit is a
// quarter of what the last datagram cost; what is not used is not saved, and a dear record may
// borrow. So a stage may be interrupted by the overdue whenever another datagram was paid for.
//
// A datagram has room for so many leaves and enters only: when it is full of them the stage is put
// off, and taken up again in the next datagram. Whoever does not fit has its turn again in the next
// datagram; meanwhile a few smaller ones may go.
//
// Some tens of turns per send, some tens of instructions each, and an order (schedule/order.h) for
// each stage that gets so far.

#ifndef PH_WORLD_TURNS_H
#define PH_WORLD_TURNS_H

#include "base/prefetch.h"
#include "schedule/order.h"
#include "world/due.h"
#include "world/expectation.h"

typedef enum ph_turn_stage {
    PH_TURN_FIRST,
    PH_TURN_LEAVES,
    PH_TURN_NEWCOMERS,
    PH_TURN_PRIORITY,
    PH_TURN_SPARE,
    PH_TURN_REST,
    PH_TURN_REFINE,
    PH_TURN_DONE,
} ph_turn_stage;

// What is asked for together stands together: a wider load than the stores before it waits for them.
typedef struct ph_turn {
    bool is_overdue;  // comes before the others, on credit
    bool is_exact;    // its position, however far away
    bool is_filtered; // what the scheduler's filter holds back is not for this turn
    uint16_t slot;
} ph_turn;

// How far ahead of its visit is fetched what belongs to a slot.
enum { PH_TURN_FETCH_AHEAD = 12 };

// Others that are tried after one has not fitted.
enum { PH_TURN_TRIES_MAX = 4 };

typedef struct ph_turn_list {
    ph_turn list[PH_TURN_TRIES_MAX];
    int count;
    int next;
} ph_turn_list;

// Fields are read-only outside turns.c.
typedef struct ph_turns {
    const ph_outlook* outlook;
    ph_sender* sender;
    const ph_send_scratch* scratch; // priorities are filled
    uint32_t now_ms;
    ph_turn_stage stage;
    bool is_stage_begun;
    ph_turn_stage unfinished; // its kind of record had no place in the datagram; DONE: none
    int cursor;               // PH_TURN_LEAVES
    int visited_count;        // PH_TURN_PRIORITY: those who had their turn
    ph_order order;
    ph_order overdue;   // begun if anybody is
    bool is_usual;      // PH_TURN_PRIORITY, and nobody comes before them
    ph_turn_list again; // did not fit the last datagram
    ph_turn_list later; // do not fit the present one
} ph_turns;

// What turns go by; all of it stays while there are turns.
typedef struct ph_turns_def {
    const ph_outlook* outlook;
    ph_sender* sender;
    const ph_send_scratch* scratch;
    uint32_t now_ms;   // never 0
    int overdue_count; // how many have waited longer than patience allows
} ph_turns_def;

// The first stage is yet to begin. When everybody is surveyed and ranked.
void ph_turns_begin(ph_turns* turns, const ph_turns_def* def);

// Whether the datagram under way tells its position as coarsely as it may, and there is nothing else to
// tell: until coarse ones are refined it needs no turn.
bool ph_turns_is_told_coarsely(const ph_turns* turns, int slot);
static inline bool ph_turns_is_told(const ph_turns* turns, int slot)
{
    const ph_sender* sender = turns->sender;
    return ph_sender_is_coded(sender) && sender->baselines.coarse[slot] != 0 &&
           ph_turns_is_told_coarsely(turns, slot);
}

static inline bool ph_turns_is_newcomer(const ph_turns* turns, int slot)
{
    return turns->outlook->entities[slot] != PH_ENTITY_NONE &&
           turns->sender->knowledge.told[slot] == PH_TOLD_NOTHING;
}

// What a visit changes, of so many viewers, is in no cache: it is fetched some visits ahead.
static inline void ph_turns_fetch(const ph_turns* turns, int place)
{
    const ph_order* order = &turns->order;
    if (place < order->ready_count) {
        const int slot = order->ready[place];
        ph_knowledge_fetch(&turns->sender->knowledge, slot);
        ph_expectation_prefetch_slot(turns->sender->expectation, slot);
    }
}

// The next one of the order, which is that of the stage, or -1. Those who were told of meanwhile are
// passed over. is_open: there is a datagram under way.
static inline int ph_turns_next_ordered(ph_turns* turns, ph_turn_stage stage, bool is_open)
{
    const ph_sender* sender = turns->sender;
    for (;;) {
        const int slot = ph_order_next(&turns->order);
        // Behind what is in order the next ones are only about right, which is good enough.
        ph_turns_fetch(turns, turns->order.next + PH_TURN_FETCH_AHEAD);
        if (slot < 0) {
            return slot;
        }
        if (sender->knowledge.touched[slot] != 0 &&
            (sender->scheduler.ranks_newcomers ||
             ph_turns_is_newcomer(turns, slot) == (stage == PH_TURN_NEWCOMERS))) {
            if (stage == PH_TURN_PRIORITY) {
                turns->scratch->visited[turns->visited_count++] = (uint16_t)slot;
            }
            if (!is_open || !ph_turns_is_told(turns, slot)) {
                return slot;
            }
        }
    }
}

// Most turns are of those by priority: a short way to the next one of them, while is_usual and a datagram
// is under way. -1 when nobody is left: ph_turns_try_next() knows what comes then.
static inline int ph_turns_next_usual(ph_turns* turns)
{
    PH_ASSERT(turns->is_usual);

    return ph_turns_next_ordered(turns, PH_TURN_PRIORITY, true);
}

// spoken_bits: what the datagram under way takes already, 0 without one. @return False when everybody
// had a turn.
bool ph_turns_try_next(ph_turns* turns, int64_t spoken_bits, ph_turn* next);

// There was no room for the one whose turn it is. @return Whether the datagram is to be closed:
// enough others were tried.
bool ph_turns_retry(ph_turns* turns, ph_turn turn);

// There was no place for another leave or enter, whatever its size: others may have the rest of the
// datagram.
void ph_turns_put_off(ph_turns* turns, ph_turn turn);

// Leaves word of how many had a turn, and who would have come next: mostly they do, in the next send.
static inline void ph_turns_note_likely(const ph_turns* turns)
{
    const ph_order* order = &turns->order;
    ph_sender* sender = turns->sender;
    const int left = order->ready_count - order->next;
    sender->turn_count = (uint16_t)turns->visited_count;
    sender->likely_count = (uint16_t)(left < PH_LIKELY_MAX ? left : PH_LIKELY_MAX);
    for (int i = 0; i < sender->likely_count; ++i) {
        sender->likely[i] = order->ready[order->next + i];
    }
}

// Whether somebody waits for the next datagram; and that one begins.
bool ph_turns_has_more(const ph_turns* turns);
void ph_turns_turn_over(ph_turns* turns);

#endif
