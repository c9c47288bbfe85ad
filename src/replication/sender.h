// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One viewer's side of a connection: what its client has and what is in flight to it (replica.h), what
// may be spent, when it is worth sending, and what was spent. All in one block, but for the ring of the
// flight, which grows with the budget, and the estimates:
//
//   | ph_sender | masks by class | bits by property | replicas |
//
// Sends (send.c), acks (ack.c) and ticks change it; each viewer by itself, so different viewers may be
// served by different threads.

#ifndef PH_REPLICATION_SENDER_H
#define PH_REPLICATION_SENDER_H

#include "base/hash.h"
#include "entities/store.h"
#include "replication/replica.h"
#include "schedule/pacing.h"
#include "tools/tools.h"

#include <pinhole/viewer.h>
#include <pinhole/stats.h>

// ---- hints

// How much one viewer cares about certain entities: "my target", "attacks me". Few per viewer, and kept
// whether they are in view or not. Set by the game, looked up when an entity enters; only setting
// allocates. {0} is without hints and without memory.
typedef struct ph_hints {
    ph_hash_map weights; // id as one number -> the bits of a float
} ph_hints;

void ph_hints_destroy(ph_hints* hints);

// A weight of 1 is forgotten. Hints for entities that are gone make room first.
// @return PH_OK, or PH_ERROR_MEMORY with all hints as they were.
ph_result ph_hints_set(ph_hints* hints, const ph_entities* entities, const ph_allocator* allocator,
                       ph_entity_id entity, float weight);

// 1 without a hint.
float ph_hints_weight(const ph_hints* hints, ph_entity_id entity);

// ---- the clock

// The clock that the game has lent.
typedef struct ph_lent_clock {
    ph_now_ns_fn* now_ns; // NULL: none, and nothing is measured
    void* context;
} ph_lent_clock;

// Where the time goes, if there is a clock. Without one a lap is a branch, and there are about six of
// them per viewer and send.
typedef struct ph_stopwatch {
    ph_lent_clock clock;
    ph_stage_times* sums;
    uint64_t last_ns;
} ph_stopwatch;

// Started. sums are where the laps go: each thread has its own.
ph_stopwatch ph_stopwatch_make(ph_lent_clock clock, ph_stage_times* sums);

// From now on; what was before is not counted.
void ph_stopwatch_start(ph_stopwatch* watch);

// The time since the last start or lap went into this.
void ph_stopwatch_lap(ph_stopwatch* watch, ph_stage stage);

// ---- the sender

// What records have cost lately, in 1/256 bit, smoothed.
typedef struct ph_prices {
    uint32_t slot256; // a slot that may have something to tell, whether it had or not
    uint32_t enter256;
} ph_prices;

// One more send: so many bits for so many.
void ph_price_learn(uint32_t* price256, int64_t cost256, int count);

typedef struct ph_sender {
    bool is_pinhole; // the profile
    ph_replicas replicas;
    ph_flight flight;
    ph_hints hints;
    uint64_t* masks; // by class, then once more for the own entity: what updates may tell
    uint64_t* property_bits256; // by property of all classes, in updates

    // Budget.
    ph_token_bucket bucket; // from the first send on
    int bits_per_second;
    int64_t depth_bits;
    int64_t least_depth_bits; // of the dearest datagram, without anything reserved
    int least_update_bits;    // classic: of a slot that the packet has no record of yet; else 0
    int overhead_bytes;
    int reserved_bytes;      // that the caller adds to each datagram
    int reserved_next_bytes; // and to the next one
    int reserved_peak_bytes; // the most that both were: the bucket is deep enough for it
    bool is_started;
    bool is_raised;    // the bucket learns of the present budget when time has passed
    bool is_unlimited; // or was, since the time was last told: then that time saves nothing up

    uint32_t propagated_tick; // up to which the dirty masks know of changes

    // Order of service.
    ph_scheduler scheduler;
    uint32_t max_starve_ms;
    int64_t overdue_credit_bits; // what slots that wait too long may have now, before the others
    uint16_t first_slot;         // did not fit last time, comes first now; or PH_SLOT_NONE

    // Sequences.
    uint32_t session;
    uint32_t newest;       // sequence of the newest packet; session before the first
    uint32_t horizon;      // up to which every packet is acked or lost
    uint64_t packet_count; // sent
    uint64_t acked;        // bit i: packet horizon - i was applied
    bool has_ack;
    uint64_t newest_ack_us; // when the newest ack came, less its lag
    uint64_t sent_us;       // when the newest datagram left
    uint64_t now_us;        // the latest time heard of
    uint32_t now_ms;        // the same, but never 0, which says that a slot does not wait

    // The eye that the client has: of the newest applied packet that carried one.
    bool has_eye;
    int32_t eye_mm[3];
    int32_t eye_margin_mm; // further away from it, a new one is sent
    uint32_t eye_sequence; // of the newest packet that carried one

    // Pinhole profile.
    int64_t interval_us;   // in which updates reach what has something to tell, smoothed
    int step;              // that positions are told in: so often the finest one is doubled
    uint32_t applied_tick; // of the newest packet known to be applied, if there is one
    bool has_applied_tick;
    bool is_universal;         // codes, in place of the models
    ph_pinhole_counts* counts; // of symbols, while models are learned; NULL: none
    uint32_t precision;        // in 1/1024 mrad; 0: exactly
    uint32_t widened_tick;     // when it was last given more to see
    int density;               // of the last packet
    // After so long without an ack what was sent is as likely lost as its ack is: enters and leaves
    // are then sent again, because the next ack may be a second away. 0: never.
    uint32_t ack_wait_ms;
    uint64_t no_leaves_us; // the last time when no leave was waiting to be sent
    ph_prices prices;

    // Pacing of ph_world_send_all(), in 1/1024 us; 0: by what the news would take.
    uint64_t period_parts;
    uint64_t next_parts;
    bool has_pacing;

    // Figures.
    struct ph_tracer* tracer; // NULL: nothing is traced
    ph_viewer_stats stats;
    ph_stage_times times;
    uint64_t second_us; // when the present second began
    uint64_t second_bytes;
    uint64_t last_second_bytes;

    size_t size_bytes;
    ph_allocator allocator;
} ph_sender;

typedef struct ph_sender_def {
    const ph_store* store; // outlives the sender
    const ph_viewer_def* viewer;
    ph_profile profile;
    int slot_count;
} ph_sender_def;

// That of the viewer, or of its profile.
ph_scheduler ph_sender_scheduler(const ph_sender_def* def);

// @return PH_OK, or PH_ERROR_MEMORY with *sender NULL.
ph_result ph_sender_create(const ph_allocator* allocator, const ph_sender_def* def,
                           ph_sender** sender);

void ph_sender_destroy(ph_sender* sender); // NULL is allowed

// Another budget: the flight may need a larger ring.
// @return PH_OK, or PH_ERROR_MEMORY with everything as before.
ph_result ph_sender_set_budget(ph_sender* sender, const ph_class_info* class_info,
                               int bits_per_second, int burst_bits);

// What the caller adds to each datagram, and to the next one beside that.
void ph_sender_reserve(ph_sender* sender, int each_bytes, int next_bytes);

// Beside the dearest datagram.
int ph_sender_reserve_max(const ph_sender* sender);

// What the next datagram costs beside the bytes of its packet.
int ph_sender_overhead(const ph_sender* sender);

// What its packet may take at most.
int ph_sender_room(const ph_sender* sender);

// A datagram with so much payload leaves: it is paid for and counted, but for the reason of its bits.
void ph_sender_pay(ph_sender* sender, int payload_bytes);

// Time passes: tokens come in, seconds become full.
void ph_sender_pass_time(ph_sender* sender, uint64_t now_us);

// As ph_viewer_sends_per_second().
double ph_sender_often(const ph_sender* sender);

// Whether ph_world_send_all() sends to it now; if so, its next time is set. Viewers are spread over
// the period by their numbers; a new one is served at once.
bool ph_sender_is_time(ph_sender* sender, uint32_t viewer, uint64_t now_us);

// Whether bits are left for what nothing else needs, behind those that are spoken for.
bool ph_sender_can_refine(const ph_sender* sender, int64_t spoken_bits);

// Whether it is worth sending now, when there is no fixed pacing: see schedule/pacing.h. Time has
// passed already, and references are up to date.
bool ph_sender_is_worth(ph_sender* sender);

// Whether the enter or leave that was sent last of a slot should have been acked by now.
bool ph_sender_is_ack_late(const ph_sender* sender, int slot);

// What updates may tell of what this slot shows.
uint64_t ph_sender_mask(const ph_sender* sender, int class_count, int slot);

// Whether sequences, replicas and flight agree. For tests.
bool ph_sender_validate(const ph_sender* sender);

#endif
