// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The sending half of one viewer: what its client knows, what is on its way to it, what may be
// spent, and what was. All in one block, but for the ring of the flight, which grows with the
// budget:
//
//   | ph_sender | masks by class | bits by property | arrays by slot | scratch of large viewers |
//   | baselines, unless classic |
//
// Sends (sending.c) and acknowledgements (acknowledge.c) change it, and ticks (telling.c); each
// viewer by itself, so different viewers may be served by different threads.

#ifndef PH_WORLD_SENDER_H
#define PH_WORLD_SENDER_H

#include "base/prefetch.h"
#include "schedule/order.h"
#include "schedule/token_bucket.h"
#include "world/baselines.h"
#include "world/forms.h"
#include "world/hints.h"
#include "world/knowledge.h"

#include <pinhole/world.h>

// So many dossiers are fetched before a send begins; it fetches the others while it visits these.
#define PH_LIKELY_MAX 12
#define PH_NOBODY_FOLLOWS UINT32_MAX

// What one send works with, by slot. Up to so many slots it lies on the stack.
#define PH_STACK_SLOTS 512
typedef struct ph_send_scratch {
    float* distance_mm;
    float* priority; // the scheduler's
    float* rank;     // of the present stage
    uint32_t* mileage_mm;
    float* change; // for schedulers that want it
    float* waited; // rank of those who wait too long
    ph_order_memory order;
    ph_order_memory overdue; // of those who wait too long
    uint16_t* visited;       // by priority
} ph_send_scratch;
#define PH_SCRATCH_BYTES_PER_SLOT 36

#define PH_SLOT_NOBODY UINT16_MAX

// What records have cost lately, in 1/256 bit, smoothed.
typedef struct ph_prices {
    uint32_t slot256; // a slot that may have something to tell, whether it had or not
    uint32_t enter256;
} ph_prices;

// One more send: so many bits for so many.
void ph_price_learn(uint32_t* price256, int64_t cost256, int count);

typedef struct ph_sender {
    ph_knowledge knowledge;
    ph_flight flight;
    ph_hints hints;
    struct ph_expectation* expectation; // NULL when classic, unless the scheduler wants_errors
    ph_baselines baselines;             // pinhole profile
    uint64_t* masks; // by class, then once more for the own entity: what updates may tell
    uint64_t* property_bits256; // by property of all classes, in updates
    void* scratch;              // NULL: on the stack

    // Budget.
    ph_token_bucket bucket; // from the first send on
    int bits_per_second;
    int64_t depth_bits;
    int64_t least_depth_bits; // of the dearest datagram, without anything reserved
    int least_update_bits;    // classic: of a slot that is not told of yet, of any class; else 0
    int overhead_bytes;
    int reserved_bytes;      // that the caller adds to each datagram
    int reserved_next_bytes; // and to the next one
    int reserved_peak_bytes; // the most that both were: the bucket is deep enough for it
    bool is_started;
    bool is_raised; // the bucket learns of the present budget when time has passed

    // Order of service.
    ph_scheduler scheduler;
    uint32_t patience_ms;
    int64_t overdue_credit_bits; // what those who wait too long may have now, before the others
    uint16_t first_slot;         // did not fit last time, comes first now; or PH_SLOT_NOBODY
    uint32_t follower;           // index of the viewer who is sent to next, or PH_NOBODY_FOLLOWS
    uint16_t turn_count;         // how many had a turn by priority in the last send, at about
    // Slots whose turn was to come next: to be fetched before the next send.
    uint16_t likely[PH_LIKELY_MAX];
    uint16_t likely_count;

    // Numbers.
    uint32_t session;
    uint32_t newest;       // number of the newest packet; session before the first
    uint32_t horizon;      // up to which every packet's fate is known
    uint64_t packet_count; // sent
    uint64_t fates;        // bit i: packet horizon - i was applied
    bool is_answered;
    uint64_t answered_us; // when the newest acknowledgement came, less its lag
    uint64_t sent_us;     // when the newest datagram left
    uint64_t now_us;      // the latest time heard of

    // The eye that the client has: of the newest applied packet that carried one.
    bool has_eye;
    int32_t eye_mm[3];
    int32_t eye_margin_mm; // further away from it, a new one is sent
    uint32_t eye_number;   // of the newest packet that carried one

    // Pinhole profile.
    uint32_t applied_tick; // of the newest packet known to be applied, if there is one
    bool has_applied_tick;
    bool is_universal;     // codes, in place of the models
    uint32_t precision;    // in 1/1024 mrad; 0: exactly
    uint32_t widened_tick; // when it was last given more to see
    int density;           // of the last packet
    // After so long without an answer what was sent is as likely lost as its answer is: enters and
    // leaves are then told again, because the next answer may be a second away. 0: never.
    uint32_t doubt_ms;
    uint64_t nobody_leaves_us; // the last time when no leave was waiting to be told at all
    ph_prices prices;

    // Rhythm of ph_world_send_all(), in 1/1024 us; 0: by what the news would take.
    uint64_t period_parts;
    uint64_t next_parts;
    bool has_rhythm;

    // Figures.
    ph_viewer_stats stats;
    ph_stage_times times;
    uint64_t second_us; // when the present second began
    uint64_t second_bytes;
    uint64_t last_second_bytes;

    size_t size_bytes;
    ph_allocator allocator;
} ph_sender;

typedef struct ph_sender_def {
    const ph_forms* forms;
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
ph_result ph_sender_set_budget(ph_sender* sender, const ph_forms* forms, int bits_per_second,
                               int burst_bits);

// Fetches what sends and acknowledgements look at of it, without the ring of packets.
void ph_sender_fetch(const ph_sender* sender);

// What the caller adds to each datagram, and to the next one beside that.
void ph_sender_reserve(ph_sender* sender, int each_bytes, int next_bytes);

// Beside the dearest datagram.
int ph_sender_reserve_max(const ph_sender* sender);

// What the next datagram costs beside the bytes of its packet.
static inline int ph_sender_overhead(const ph_sender* sender)
{
    return sender->overhead_bytes + sender->reserved_bytes + sender->reserved_next_bytes;
}

// What its packet may take at most.
static inline int ph_sender_room(const ph_sender* sender)
{
    return PH_PAYLOAD_MAX - sender->reserved_bytes - sender->reserved_next_bytes;
}

// A datagram with so much payload leaves: it is paid for and counted, but for the reason of its bits.
void ph_sender_pay(ph_sender* sender, int payload_bytes);

// Time passes: tokens come in, seconds become full.
void ph_sender_pass_time(ph_sender* sender, uint64_t now_us);

// As ph_world_sends_per_second().
double ph_sender_often(const ph_sender* sender);

// Whether ph_world_send_all() sends to it now; if so, its next time is set. Viewers are spread over
// the period by their numbers; a new one is served at once.
bool ph_sender_is_time(ph_sender* sender, uint32_t viewer, uint64_t now_us);

// Whether it is worth sending now, when there is no fixed rhythm: see schedule/rhythm.h. Time has
// passed already, and references are settled.
bool ph_sender_is_worth(ph_sender* sender);

// The time of what was served and of who waits since when: never 0, which says that nobody waits.
static inline uint32_t ph_sender_now_ms(const ph_sender* sender)
{
    const uint32_t now_ms = (uint32_t)(sender->now_us / 1000);
    return now_ms + (now_ms == 0);
}

// Whether the enter or leave that was sent last of a slot should have been answered by now.
static inline bool ph_sender_is_doubtful(const ph_sender* sender, int slot)
{
    const ph_knowledge* knowledge = &sender->knowledge;
    const int told = knowledge->told[slot];
    const bool is_left = (told == PH_TOLD_LEAVING || told == PH_TOLD_LEAVING_UNSURE) &&
                         knowledge->touched[slot] == 0;
    return sender->doubt_ms != 0 && (told == PH_TOLD_ENTER || is_left) &&
           ph_sender_now_ms(sender) - ph_knowledge_at(knowledge, slot)->served_ms >
               sender->doubt_ms;
}

// Soon this slot is visited, or an item of it is answered: fetches what that changes. Of the known values
// mostly the first.
static inline void ph_sender_fetch_slot(const ph_sender* sender, int slot)
{
    const ph_baseline* baselines = sender->baselines.slots;
    ph_prefetch(ph_knowledge_at(&sender->knowledge, slot));
    if (baselines != NULL) {
        const ph_baseline* baseline = &baselines[slot];
        ph_prefetch(baseline);
        ph_prefetch((const uint8_t*)(baseline + 1) - 1); // it may lie across two lines
    }
}

// What updates may tell of what this slot shows, for whoever knows its class.
static inline uint64_t ph_sender_class_mask(const ph_sender* sender, int class_count, int slot,
                                            int class_index)
{
    return sender->masks[(slot == 0 ? class_count : 0) + class_index];
}
static inline uint64_t ph_sender_mask(const ph_sender* sender, int class_count, int slot)
{
    return ph_sender_class_mask(sender, class_count, slot, sender->knowledge.class_index[slot]);
}

// Whether packets are written by the pinhole profile.
static inline bool ph_sender_is_coded(const ph_sender* sender)
{
    return sender->baselines.slots != NULL;
}

// The arrays of one send, in memory of PH_SCRATCH_BYTES_PER_SLOT * slot_count bytes.
ph_send_scratch ph_send_scratch_make(void* memory, int slot_count);

// Whether numbers, knowledge and flight agree. For tests.
bool ph_sender_validate(const ph_sender* sender);

#endif
