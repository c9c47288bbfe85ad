// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which entities a packet carries first. A scheduler is four functions over plain arrays that the
// world fills. Three are ready; a game may bring its own:
//
//     def.scheduler = ph_scheduler_buckets();     // of ph_viewer_def
//
// Around every scheduler stand the same rules: leaves and newcomers first, only what differs from what
// was last sent, exactly the budget, and no entity starves (max_starve_ms of ph_viewer_def).

#ifndef PINHOLE_SCHEDULE_H
#define PINHOLE_SCHEDULE_H

#include <pinhole/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What is wrong with what a client shows, by slot: what it will show when a record that is sent now
/// arrives, and nothing more comes, against where the entity will be then.
typedef struct ph_ranking_errors {
    /// From the eye, in space, in mm, at least 1,000.
    const float* range_mm;
    /// Between the position shown and the true one, in mm; 0 where nothing is shown yet.
    const float* error_mm;
    /// How fast the two move apart, in mm/s.
    const float* growth_mm_s;
    /// Between the heading shown and the true one, in radians; 0 where it is not sent so far away.
    const float* turn_rad;
    /// Since the newest position that was sent, in s; of newcomers, since they came into view.
    const float* age_s;
    /// 1 for a newcomer, 0 for what is shown; between them, the chance that an enter got lost.
    const float* missing;
    /// What a position would take, in bits, at about.
    const float* position_bits;
    /// How far the surface of an entity is shown from where it is, by its orientation, in mm, and how fast that
    /// grows, in mm/s: the angle times 0.8 of the radius of its class. Both NULL where no class has an orientation.
    const float* rotation_mm;
    const float* rotation_growth_mm_s;
    /// What an orientation would take, in bits, at about.
    float rotation_bits;
    /// What else records take, at about: slot and mask; a heading; other properties; a whole enter.
    float record_bits;
    float heading_bits;
    float other_bits;
    float enter_bits;
} ph_ranking_errors;

/// One viewer at one send; arrays by slot. Empty slots have distance INFINITY.
typedef struct ph_ranking {
    int slot_count;
    /// To the viewer, in the plane, |dx| + |dy| in mm, at least 1.
    const float* distance_mm;
    /// The game's hint for this entity; 1 is usual, 0 means never by priority.
    const float* weight;
    /// Path since the position was last sent, in mm.
    const uint32_t* mileage_mm;
    /// Bit p: property p may differ from what was last sent. 0: nothing to send.
    const uint64_t* dirty;
    /// The scheduler's own memory of each slot, kept between sends; 0 when a slot takes an entity.
    float* score;
    /// To be filled: the highest goes first, ties by slot; 0 or less is not visited.
    float* priority;
    /// The scheduler's own within one send: what `rank` leaves here `filter` finds as `note`. Holds
    /// anything before.
    uint32_t* notes;
    /// How much beside the position has changed since it was last sent: 1 for another value where
    /// every difference is significant, else an eighth for each significant difference, at most 1;
    /// times the weight of the property; as a path, so there and back counts twice. References,
    /// properties for certain audiences and what got lost count 1 each. 0 when nothing but the
    /// position may differ. NULL unless the scheduler wants_change.
    const float* change;
    /// NULL unless the scheduler wants_errors.
    const ph_ranking_errors* errors;
} ph_ranking;

/// One entity that is about to be compared and written.
typedef struct ph_visit {
    float distance_mm;
    float weight;
    float score;
    uint32_t mileage_mm;
    /// Bit p: property p differs from what was last sent, and may be sent to this viewer now.
    uint64_t diff;
    /// Of these, what its policy calls a significant difference: at least `significant`, or any
    /// after a second without change, or lost on the way.
    uint64_t significant;
    /// Of these, what was sent before and got lost.
    uint64_t lost;
    /// Of these, what has not changed for a second: waiting would gather nothing more.
    uint64_t settled;
    /// The bit of the position.
    uint64_t position;
    /// As in ph_ranking; 0 unless the scheduler wants_change.
    float change;
    /// As in ph_ranking; NULL unless the scheduler wants_errors. `slot` is where to look in there.
    const ph_ranking_errors* errors;
    int slot;
    /// The bit of the heading, or of the orientation; 0 when there is none, or unless the scheduler wants_errors.
    uint64_t heading;
    /// What `rank` left in `notes` for this slot.
    uint32_t note;
} ph_visit;

/// A scheduler. Its functions must be fast, must not allocate and must depend on nothing but their
/// arguments; they are called for different viewers from different threads. {0} stands for that of the
/// profile: classic ph_scheduler_score(), pinhole ph_scheduler_error().
typedef struct ph_scheduler {
    const char* name;
    void* context;
    /// Once per send.
    void (*rank)(void* context, const ph_ranking* ranking);
    /// Once per visit, in order of priority, until the budget is spent. @return Which of `diff` to
    /// send now. What is held back goes out later, or now if bits are left at the end.
    uint64_t (*filter)(void* context, const ph_visit* visit);
    /// The score after a record was sent; one that was visited in vain keeps its score.
    float (*sent)(void* context, float score);
    /// The score after a record was lost that was sent at score_then.
    float (*lost)(void* context, float score, float score_then);
    /// Whether it looks at `change`, which costs a little to fill.
    bool wants_change;
    /// Whether it looks at `errors`, which cost memory (some 120 bytes for each slot) and time; has
    /// `change`, too, in which headings then count only beside something else.
    bool wants_errors;
    /// Newcomers are not sent before all others, but when their priority says so.
    bool ranks_newcomers;
} ph_scheduler;

/// score += 10000 / distance_mm per send (and 100 under 0.1 m), times the hint; 0 when sent, added
/// back when lost. A position goes when 100 times the path since the last one exceeds the distance,
/// when it has settled or when it was lost; everything else when its difference is significant.
PH_API ph_scheduler ph_scheduler_score(void);

/// Each property has a priority by how much of the picture its change concerns: the path of a
/// position, or half a metre for each `change` of something else ("put on a hat"), over the distance;
/// times the hint and the sends since it has differed. Rounded down to a quarter of a power of
/// two: buckets on shelves, whose order needs no sorting. An entity stands in the bucket of its best
/// property. A position goes if it is at most two shelves below, has settled or was lost; everything
/// else when its difference is significant.
PH_API ph_scheduler ph_scheduler_buckets(void);

/// What a record is expected to remove of visible error, per bit: the angle between what the client
/// will show when it arrives and the truth, times the time since the last position. A heading counts
/// for a radian 25 mm and an eighth of the position's error, another look ("put on a hat") 50 mm,
/// a newcomer three metres for ten seconds; all over the distance, times the hint. What is too small to
/// be seen (0.1 mrad) waits for spare bits. Its filter goes by the notes that its rank leaves: take both
/// or neither.
PH_API ph_scheduler ph_scheduler_error(void);

#ifdef __cplusplus
}
#endif

#endif
