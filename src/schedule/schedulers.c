// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The three schedulers: score (the one Ryzom shipped), buckets (the one it tried first) and error (that
// of the pinhole profile). Each is a table of functions over plain arrays; `rank` runs once per viewer
// and send over all slots, in vectors: no branch, no integer division, each slot for itself, so that
// every width gives the same bits. The rest runs once per visit or packet.

#include "base/bitset.h"
#include "base/compiler.h"

#include <pinhole/schedule.h>

#include <float.h>
#include <string.h>

static float larger(float a, float b)
{
    return a > b ? a : b;
}

static bool is_any_dirty(uint64_t dirty)
{
    return ((uint32_t)dirty | (uint32_t)(dirty >> 32)) != 0;
}

// ---- what score and buckets share

// A score is what waiting has earned: gone once a record was sent, and back on top when that record
// got lost.
static float waiting_sent(void* context, float score)
{
    (void)context;
    (void)score;
    return 0.0f;
}

static float waiting_lost(void* context, float score, float score_then)
{
    (void)context;
    return score + score_then;
}

// ---- score: the nearer, the faster the score grows; what is sent begins anew

// Per send, times the weight.
#define GAIN_AT_1_MM 10000.0f
#define TOUCHING_MM 100.0f
#define TOUCHING_GAIN 100.0f
// Path in units of the distance that makes a position worth sending: a hundredth of it.
#define MILEAGE_FACTOR 100.0

PH_WIDE static void score_rank(void* context, const ph_ranking* ranking)
{
    (void)context;
    const float* restrict distance_mm = ranking->distance_mm;
    const float* restrict weight = ranking->weight;
    const uint64_t* restrict dirty = ranking->dirty;
    float* restrict score = ranking->score;
    float* restrict priority = ranking->priority;
    const int slot_count = ranking->slot_count;
    for (int i = 0; i < slot_count; ++i) {
        const float touching = ph_float_if(distance_mm[i] < TOUCHING_MM, TOUCHING_GAIN);
        const float grown = score[i] + weight[i] * (GAIN_AT_1_MM / distance_mm[i] + touching);
        // No entity is there at an infinite distance: whatever was left behind goes.
        const float kept = ph_float_if(distance_mm[i] <= FLT_MAX, grown);
        score[i] = kept;
        // What is left of a score from before the hint was 0 does not count.
        priority[i] = ph_float_if(is_any_dirty(dirty[i]) & (weight[i] > 0.0f), kept);
    }
}

// A moving position goes by its path alone: by the plain policy of the property, every entity that
// walks would be sent at every visit.
static uint64_t score_filter(void* context, const ph_visit* visit)
{
    (void)context;
    const bool is_far_enough =
        (double)visit->mileage_mm * MILEAGE_FACTOR > (double)visit->distance_mm;
    const uint64_t pressing = visit->lost | visit->settled;
    const uint64_t position = is_far_enough ? visit->position : pressing & visit->position;
    return ((visit->significant & ~visit->position) | position) & visit->diff;
}

ph_scheduler ph_scheduler_score(void)
{
    return (ph_scheduler){.name = "score",
                          .rank = score_rank,
                          .filter = score_filter,
                          .sent = waiting_sent,
                          .lost = waiting_lost};
}

// ---- buckets: each property of each entity in view has a priority, by how much of the picture its
// change concerns. Priorities stand on shelves, one for each power of two, in four buckets each:
//
//   shelf    | 8 ............ | 4 ............ | 2 ............ | 1 ............ |
//   bucket   | 14  12  10   8 |  7   6   5   4 | 3.5  3 2.5   2 | ...            |
//
// A priority is rounded down to its bucket, and the buckets are emptied from the left; equal ones go
// by slot.
//
// What a change concerns: an angle, length over distance. Of a position the length is its path since
// it was sent, so that walking round a wall counts. Everything else is measured in looks (a hat put
// on is another look), summed up when a property changes and not when a viewer looks: to compare all
// values of all pairs is what made the first algorithm too slow. Another look counts as if half a
// metre of the picture had moved. Counting every significant turn of five degrees as much was tried:
// in a dense crowd a third of the bits went into headings.
//
// And an angle is multiplied by the sends it has waited for, so that nothing starves. It is also the
// best that can be done with positions: with n entities whose errors grow at rates r, and a fixed
// number of updates for all of them, the mean error is least when each is sent at intervals t with
// equal r t^2, which is angle times waiting. By the angle alone the far ones would wait too long, as
// they do by score.

// What another look counts for; and whatever is due at least: the step of the wire.
#define CHANGE_MM 500.0f
#define LEAST_MM 16.0f
// Of the bits of a float, those that name shelf and bucket: exponent, and two of the fraction.
#define BUCKET_MASK UINT32_C(0xFFE00000)
// A position that stands up to two shelves below what brought its entity here goes along: the slot
// is paid for. Everything else costs little beside a position and always goes along.
#define SHELVES_ALONG 4.0f

static float bucket_of(float priority)
{
    uint32_t bits;
    memcpy(&bits, &priority, sizeof bits);
    bits &= BUCKET_MASK;
    memcpy(&priority, &bits, sizeof priority);
    return priority;
}

// The score is how many sends an entity has waited for.
PH_WIDE static void buckets_rank(void* context, const ph_ranking* ranking)
{
    (void)context;
    const float* restrict distance_mm = ranking->distance_mm;
    const float* restrict weight = ranking->weight;
    const uint32_t* restrict mileage_mm = ranking->mileage_mm;
    const float* restrict change = ranking->change;
    const uint64_t* restrict dirty = ranking->dirty;
    float* restrict score = ranking->score;
    float* restrict priority = ranking->priority;
    const int slot_count = ranking->slot_count;
    for (int i = 0; i < slot_count; ++i) {
        const bool is_waiting = is_any_dirty(dirty[i]) & (distance_mm[i] <= FLT_MAX);
        const float waited = ph_float_if(is_waiting, score[i] + 1.0f);
        const float length_mm = larger((float)mileage_mm[i], CHANGE_MM * change[i]);
        const float angle = larger(length_mm, LEAST_MM) / distance_mm[i];
        score[i] = waited;
        priority[i] = bucket_of(ph_float_if(is_waiting, weight[i] * angle * waited));
    }
}

static uint64_t buckets_filter(void* context, const ph_visit* visit)
{
    (void)context;
    const uint64_t others = visit->significant & ~visit->position;
    const float moved_mm = larger((float)visit->mileage_mm, LEAST_MM);
    // Differences that are not significant did not bring the entity here.
    const float changed_mm = others != 0 ? CHANGE_MM * visit->change : 0.0f;
    const uint64_t position = moved_mm * SHELVES_ALONG >= changed_mm ? visit->position : 0;
    return (position | others | visit->lost | visit->settled) & visit->diff;
}

ph_scheduler ph_scheduler_buckets(void)
{
    return (ph_scheduler){
        .name = "buckets",
        .rank = buckets_rank,
        .filter = buckets_filter,
        .sent = waiting_sent,
        .lost = waiting_lost,
        .wants_change = true,
    };
}

// ---- error: bits go where they remove the most visible error. All kinds of error are lengths that one
// sees wrong, in mm; over the distance that is an angle:
//
//   position    how far away from the truth it is shown, and how far it will drift in half a second
//   heading     for a radian 25 mm, and an eighth of what is wrong with the position: what is large
//               and fast has large errors of both, and a nose in the wrong place. (With 50 mm walkers
//               at 13 kbit/s: 5.6 mrad and 10.5 degrees instead of 5.4 and 12; without the eighth
//               cars at 4 kbit/s: 43 degrees instead of 31)
//   orientation how far it moves the surface, and will in half a second, twice: one rotation is right for longer
//               than one position. (Spinning bodies at 13 kbit/s: once 1.02 mrad and 3.0 degrees, 1.5 times 1.05
//               and 1.9, twice 1.06 and 1.7; cars 4.28 mrad and 12.1 degrees, 4.32 and 10.1, 4.39 and 9.6)
//   others      50 mm for another look ("put on a hat"). Cars with six more properties at 4 kbit/s:
//               500 mm 60 mrad and 274 ms stale, 150 mm 33 and 266, 50 mm 20 and 337
//   missing     3 m, for 10 s: as if the place had been empty all the time; and nine times that more
//               with every second since it came into view, enters that are lost or not acked yet included.
//               (Cars with six more properties at 4 kbit/s, ten seeds: without 0.010 % missing, with
//               four times 0.0005, nine 0.0002; walkers at 4 kbit/s 0.54, 0.51 and 0.50 %, at 27.1,
//               27.4 and 27.4 mrad)
//
// A record may say some of it or all; the best of these counts by what it removes per bit. And it is
// multiplied by the time since the last sample: what is removed stays away for about as long again,
// until the next one. (With errors that grow at a rate r, the mean is least when r t^2 is the same
// for all.) 0.3 s are added to that time, because an error that appears at once does not go either.
//
// Leaves need no price: a ghost is as wrong as a missing entity, and costs a tenth. They stay first.

#define DRIFT_S 0.5f
#define HEADING_MM 25.0f
#define HEADING_SHARE 0.125f
#define ROTATION_SHARE 2.0f
#define OTHER_MM 50.0f
#define MISSING_MM_S 30000.0f
#define MISSING_GROWTH 9.0f // 1/s
#define SUDDEN_S 0.3f

// What removes less per bit than this share of the whole record does not go along.
#define ALONG 0.5f
// Less than a tenth of a milliradian is not seen.
#define LEAST_RAD 1e-4f
// Whatever has anything due is visited at last, with bits that nothing else needs.
#define AT_LAST 1e-30f

// Visible lengths that a record would make right.
typedef struct gains {
    float position_mm;
    float heading_mm;
    float other_mm;
} gains;

// Where a class has an orientation, that of an entity counts instead of its heading.
PH_ALWAYS_INLINE gains gains_of(const ph_ranking_errors* errors, int slot, float change,
                                bool has_rotations)
{
    const float position_mm = errors->error_mm[slot] + DRIFT_S * errors->growth_mm_s[slot];
    return (gains){
        .position_mm = position_mm,
        .heading_mm =
            (HEADING_MM + HEADING_SHARE * position_mm) * errors->turn_rad[slot] +
            (has_rotations ? ROTATION_SHARE * (errors->rotation_mm[slot] +
                                               DRIFT_S * errors->rotation_growth_mm_s[slot])
                           : 0.0f),
        .other_mm = OTHER_MM * change,
    };
}

// The most per bit that a record can remove, whatever of it is said.
static float density_of(const ph_ranking_errors* errors, int slot, gains gain)
{
    const float record = errors->record_bits;
    const float heading = errors->heading_bits;
    const float other = errors->other_bits;
    const float position = record + errors->position_bits[slot];
    const float turned_mm = gain.position_mm + gain.heading_mm;
    const float moving = larger(gain.position_mm / position, turned_mm / (position + heading));
    const float standing =
        larger(gain.heading_mm / (record + heading), gain.other_mm / (record + other));
    const float all = (turned_mm + gain.other_mm) / (position + heading + other);
    return larger(larger(moving, standing), all);
}

// Newcomers about as far away as each other are sent in the order of their slots: neighbours come
// together then, and each is coded relative to the one before.
static float about(float range_mm)
{
    uint32_t bits;
    memcpy(&bits, &range_mm, sizeof bits);
    bits = (bits & UINT32_C(0x7F800000)) | UINT32_C(0x00400000); // 1.5 times a power of two
    memcpy(&range_mm, &bits, sizeof range_mm);
    return range_mm;
}

// What of a slot is worth sending: `rank` leaves a sum of these as a note for `filter`.
enum { WORTH_POSITION = 1, WORTH_HEADING = 2, WORTH_OTHERS = 4 };

// What removes enough of the error, for its bits and by itself. A sum of WORTH_...
static uint32_t worth_of(const ph_ranking_errors* errors, int slot, gains gain, float density)
{
    const float least = ALONG * density;
    const float least_mm = LEAST_RAD * errors->range_mm[slot];
    const bool is_position =
        (gain.position_mm >= least * errors->position_bits[slot]) & (gain.position_mm >= least_mm);
    const bool is_heading =
        (gain.heading_mm >= least * errors->heading_bits) & (gain.heading_mm >= least_mm);
    const bool is_other = gain.other_mm >= least * errors->other_bits;
    return (ph_bits_if(is_position) & WORTH_POSITION) | (ph_bits_if(is_heading) & WORTH_HEADING) |
           (ph_bits_if(is_other) & WORTH_OTHERS);
}

// As parameters, so that compilers believe that the two are not each other's.
PH_ALWAYS_INLINE void rank_all_errors(const ph_ranking* ranking, float* restrict priority,
                                      uint32_t* restrict notes, bool has_rotations)
{
    ph_ranking_errors errors = *ranking->errors;
    // Entities with a heading are priced too high beside those with an orientation; worlds have seldom both.
    errors.heading_bits = has_rotations ? errors.rotation_bits : errors.heading_bits;
    const float* change = ranking->change;
    const float* weight = ranking->weight;
    const float* distance_mm = ranking->distance_mm;
    const uint64_t* dirty = ranking->dirty;
    const float enter = MISSING_MM_S / errors.enter_bits;
    const int slot_count = ranking->slot_count;
    for (int i = 0; i < slot_count; ++i) {
        const gains gain = gains_of(&errors, i, change[i], has_rotations);
        const float density = density_of(&errors, i, gain);
        const float known = density * (errors.age_s[i] + SUDDEN_S);
        const float missing = errors.missing[i];
        const float range_mm = errors.range_mm[i];
        const float entering = enter * (1.0f + MISSING_GROWTH * errors.age_s[i]);
        const float worth =
            missing * entering / about(range_mm) + (1.0f - missing) * known / range_mm;
        const bool is_waiting = is_any_dirty(dirty[i]) & (distance_mm[i] <= FLT_MAX);
        notes[i] = worth_of(&errors, i, gain, density);
        priority[i] = ph_float_if(is_waiting, weight[i] * (worth + AT_LAST));
    }
}

PH_WIDE static void rank_errors(const ph_ranking* ranking, float* restrict priority,
                                uint32_t* restrict notes)
{
    rank_all_errors(ranking, priority, notes, false);
}

PH_WIDE static void rank_turned_errors(const ph_ranking* ranking, float* restrict priority,
                                       uint32_t* restrict notes)
{
    rank_all_errors(ranking, priority, notes, true);
}

static void error_rank(void* context, const ph_ranking* ranking)
{
    (void)context;
    const bool has_rotations = ranking->errors->rotation_mm != NULL;
    (has_rotations ? rank_turned_errors : rank_errors)(ranking, ranking->priority, ranking->notes);
}

static uint64_t error_filter(void* context, const ph_visit* visit)
{
    (void)context;
    const uint64_t named = visit->position | visit->heading;
    uint64_t chosen = (visit->note & WORTH_OTHERS) != 0 ? visit->significant & ~named : 0;
    chosen |= (visit->note & WORTH_POSITION) != 0 ? visit->position : 0;
    chosen |= (visit->note & WORTH_HEADING) != 0 ? visit->heading : 0;
    return (chosen | visit->settled | visit->lost) & visit->diff;
}

// There is nothing to remember: errors tell it all.
static float error_sent(void* context, float score)
{
    (void)context;
    return score;
}

static float error_lost(void* context, float score, float score_then)
{
    (void)context;
    (void)score_then;
    return score;
}

ph_scheduler ph_scheduler_error(void)
{
    return (ph_scheduler){
        .name = "error",
        .rank = error_rank,
        .filter = error_filter,
        .sent = error_sent,
        .lost = error_lost,
        .wants_change = true,
        .wants_errors = true,
        .ranks_newcomers = true,
    };
}
