// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One viewer's side of a connection, as its world uses it: it takes changes, sends, takes acks, and
// reports statistics. Nothing here allocates but the scratch blocks; different viewers may be
// served by different threads.
//
// And one send under way, for the chapters that take part in it, in this order:
//
//   rank.c        refreshes the replicas and ranks the slots
//   send_queue.c  hands out slot after slot, by stages
//   send.c        visits each: compares, adds what fits to the packet, stops at the budget
//   encoder.c     writes the packet, with the filling of its profile

#ifndef PH_REPLICATION_SEND_H
#define PH_REPLICATION_SEND_H

#include "base/partial_sort.h"
#include "replication/diff.h"
#include "replication/encoder.h"
#include "replication/shown_estimate.h"

#include <pinhole/viewer.h>
#include <pinhole/stats.h>

#include <stdatomic.h>

// ---- the queue of a send

// In which order slots are visited.
typedef enum ph_queue_stage {
    PH_QUEUE_FIRST,     // what did not fit last time
    PH_QUEUE_LEAVES,    // cheap, and they make room
    PH_QUEUE_NEWCOMERS, // nearest first; with all others if the scheduler ranks_newcomers
    PH_QUEUE_PRIORITY,  // by the scheduler, what its filter lets through
    PH_QUEUE_SPARE,     // the same again, with what the filter held back
    PH_QUEUE_REST,      // whatever has no priority, longest wait first: what can be spent is spent
    PH_QUEUE_REFINE,    // when more than half of what can be saved up is left: coarse positions
                        // become exact, and enters in flight are sent anew
    PH_QUEUE_DONE,
} ph_queue_stage;

// One slot whose turn it is.
typedef struct ph_send_turn {
    bool is_overdue;  // comes before the others, on credit
    bool is_exact;    // its position, however far away
    bool is_filtered; // what the scheduler's filter holds back is not for this turn
    bool is_ordered;  // by priority, and nothing overdue is left: every slot behind it has one turn
    uint16_t slot;
} ph_send_turn;

// Others that are tried after one has not fitted.
enum { PH_QUEUE_TRIES_MAX = 4 };

typedef struct ph_send_turn_list {
    ph_send_turn list[PH_QUEUE_TRIES_MAX];
    int count;
    int next;
} ph_send_turn_list;

typedef struct ph_send_queue {
    ph_queue_stage stage;
    ph_queue_stage unfinished; // its kind of record had no place in the packet; DONE: none
    bool is_stage_begun;
    int cursor;        // PH_QUEUE_LEAVES
    int visited_count; // PH_QUEUE_PRIORITY: slots that had their turn
    uint16_t* visited; // by priority
    float* rank;       // by slot: of the present stage
    ph_order order;    // of the present stage
    ph_order_memory order_memory;
    float* waited;    // by slot: rank of what is overdue
    ph_order overdue; // begun if anything is
    ph_order_memory overdue_memory;
    ph_send_turn_list again; // did not fit the last packet
    ph_send_turn_list later; // do not fit the present one
} ph_send_queue;

// ---- one send under way

// Lies in a scratch block; arrays have room for as many slots as any viewer has.
typedef struct ph_sending {
    const ph_send_context* context;
    ph_sender* sender;
    uint32_t now_ms; // never 0
    ph_deliver_fn* deliver;
    void* deliver_context;
    ph_stopwatch watch;
    // By slot, from rank.c on.
    float* distance_mm; // Manhattan; INFINITY where no entity is
    uint32_t* mileage_mm;
    float* change;
    float* priority; // the scheduler's
    uint32_t* notes; // the scheduler's
    ph_error_arrays error_arrays;
    ph_ranking_errors errors; // {0} where there is no estimate
    int overdue_count;        // slots that have waited for longer than max_starve_ms
    int dirty_count;          // slots with a dirty property
    bool may_be_coarse;       // positions in updates
    int sent_count;           // packets
    ph_send_queue queue;
    ph_encoder encoder;
} ph_sending;

// rank.c: once per send, in this order.
void ph_scan_slots(ph_sending* send);
void ph_rank_slots(ph_sending* send);

// References that changed or map to other slots than before are compared at once.
void ph_scan_references(const ph_send_context* context);

// The `change` of one slot (ph_ranking), of which these are dirty.
float ph_change_of(const ph_send_context* context, int slot, uint64_t dirty);

// send_queue.c: the first stage is yet to begin, when everything is ranked.
void ph_send_queue_begin(ph_sending* send);

// spoken_bits: what the packet under way takes already, 0 without one. @return False when every slot
// had its turn.
bool ph_send_queue_next(ph_sending* send, int64_t spoken_bits, ph_send_turn* next);

// There was no room for this turn. @return Whether the packet is to be closed: enough others were
// tried.
bool ph_send_queue_retry(ph_send_queue* queue, ph_send_turn turn);

// There was no place for another leave or enter, whatever its size: others may have the rest of the
// packet.
void ph_send_queue_put_off(ph_send_queue* queue, ph_send_turn turn);

// Whether something waits for the next packet; and that one begins.
bool ph_send_queue_has_more(const ph_send_queue* queue);
void ph_send_queue_turn_over(ph_send_queue* queue);

// Whether the packet under way has the position as coarse as it may be, and nothing else differs:
// until coarse ones are refined the slot needs no turn.
bool ph_send_queue_is_told(const ph_sending* send, int slot);

// ---- scratch blocks

#define PH_SENDS_AT_ONCE_MAX 256

// As many blocks as sends may run at once, taken and given back atomically. {0} has none.
typedef struct ph_send_blocks {
    ph_sending* blocks[PH_SENDS_AT_ONCE_MAX];
    int count;
    int slot_count; // each has room for
    atomic_flag is_taken[PH_SENDS_AT_ONCE_MAX];
    ph_allocator allocator;
} ph_send_blocks;

// Room for so many sends at once, to viewers of so many slots; never less than before. No send runs.
// @return PH_OK, or PH_ERROR_MEMORY with everything as before.
ph_result ph_send_blocks_reserve(ph_send_blocks* blocks, int count, int slot_count);
void ph_send_blocks_destroy(ph_send_blocks* blocks);

// @return NULL when all are in use.
ph_sending* ph_send_blocks_take(ph_send_blocks* blocks);
void ph_send_blocks_give_back(ph_send_blocks* blocks, const ph_sending* block);

// ---- what a tick leaves for the sends that follow it

// Which entities came into the view and which left it.
void ph_propagate_vision(const ph_store* store, ph_sender* sender, const ph_vision* sight);

// Propagates dirty properties, up to the last tick in the change log.
void ph_propagate_dirty(const ph_store* store, ph_sender* sender, const ph_slots* slots,
                        uint32_t last_tick);

// The dirty mask of one slot as the next ph_propagate_dirty() will leave it; changes nothing, so that
// several threads may ask at once.
uint64_t ph_dirty_of(const ph_send_context* context, int slot);

// ---- sends, acks, questions

// Without a fixed pacing: whether everything worth sending can be paid for.
bool ph_send_is_worth(const ph_send_context* context, uint64_t now_us);

// As many packets as are due and can be paid for, each handed to `deliver`.
void ph_send_run(ph_sending* block, const ph_send_context* context, uint64_t now_us,
                 ph_deliver_fn* deliver, void* deliver_context);

// @return As ph_viewer_receive_ack().
ph_result ph_ack_receive(const ph_send_context* context, uint64_t now_us, const void* bytes,
                         size_t size);

void ph_explain(const ph_send_context* context, int slot, ph_explanation* explanation);
void ph_viewer_stats_fill(const ph_send_context* context, ph_viewer_stats* stats);

#endif
