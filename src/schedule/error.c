// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The scheduler of the pinhole profile: bits go where they remove the most visible error. All kinds
// of error are lengths that one sees wrong, in mm; over the distance that is an angle:
//
//   position    how far away from the truth it is shown, and how far it will drift in half a second
//   heading     for a radian 25 mm, and an eighth of what is wrong with the position: what is large
//               and fast has large errors of both, and a nose in the wrong place. (With 50 mm walkers
//               at 13 kbit/s: 5.6 mrad and 10.5 degrees instead of 5.4 and 12; without the eighth
//               cars at 4 kbit/s: 43 degrees instead of 31)
//   others      50 mm for another look ("put on a hat"). Cars with six more properties at 4 kbit/s:
//               500 mm 60 mrad and 274 ms stale, 150 mm 33 and 266, 50 mm 20 and 337
//   missing     3 m, for 10 s: as if the place had been empty all the time; and nine times that more
//               with every second since it came into view, lost enters and those in doubt included.
//               (Cars with six more properties at 4 kbit/s, ten seeds: without 0.010 % missing, with
//               four times 0.0005, nine 0.0002; walkers at 4 kbit/s 0.54, 0.51 and 0.50 %, at 27.1,
//               27.4 and 27.4 mrad)
//
// A record may say some of it or all; the best of these counts by what it removes per bit. And it is
// multiplied by the time since the last sample: what is removed stays away for about as long again,
// until the next one. (With errors that grow at a rate r, the mean is least when r t^2 is the same
// for all.) 0.3 s are added to that time, because an error that appears at once does not go either.
//
// Leaves need no price: a ghost is as wrong as somebody missing, and costs a tenth. They stay first.
//
// rank runs once per viewer and send over all slots, filter once per visit.

#include "schedule/error.h"

#include "base/bitset.h"
#include "base/wide.h"

#include <float.h>
#include <string.h>

#define DRIFT_S 0.5f
#define HEADING_MM 25.0f
#define HEADING_SHARE 0.125f
#define OTHER_MM 50.0f
#define MISSING_MM_S 30000.0f
#define MISSING_GROWTH 9.0f // 1/s
#define SUDDEN_S 0.3f

// What removes less per bit than this share of the whole record does not go along.
#define ALONG 0.5f
// Nobody sees less than a tenth of a milliradian.
#define LEAST_RAD 1e-4f
// Whoever has anything due is visited at last, with bits that nobody else needs.
#define AT_LAST 1e-30f

// Visible lengths that a record would make right.
typedef struct gains {
    float position_mm;
    float heading_mm;
    float other_mm;
} gains;

static gains gains_of(const ph_ranking_errors* errors, int slot, float change)
{
    const float position_mm = errors->error_mm[slot] + DRIFT_S * errors->growth_mm_s[slot];
    return (gains){
        .position_mm = position_mm,
        .heading_mm = (HEADING_MM + HEADING_SHARE * position_mm) * errors->turn_rad[slot],
        .other_mm = OTHER_MM * change,
    };
}

static float larger(float a, float b)
{
    return a > b ? a : b;
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

// Newcomers about as far away as each other are told in the order of their slots: neighbours come
// together then, and each is told from the one before.
static float about(float range_mm)
{
    uint32_t bits;
    memcpy(&bits, &range_mm, sizeof bits);
    bits = (bits & UINT32_C(0x7F800000)) | UINT32_C(0x00400000); // 1.5 times a power of two
    memcpy(&range_mm, &bits, sizeof range_mm);
    return range_mm;
}

// What removes enough of the error, for its bits and by itself. The bits are a sum of PH_WORTH_...
static float worth_of(const ph_ranking_errors* errors, int slot, gains gain, float density)
{
    const float least = ALONG * density;
    const float least_mm = LEAST_RAD * errors->range_mm[slot];
    const bool is_position =
        (gain.position_mm >= least * errors->position_bits[slot]) & (gain.position_mm >= least_mm);
    const bool is_heading =
        (gain.heading_mm >= least * errors->heading_bits) & (gain.heading_mm >= least_mm);
    const bool is_other = gain.other_mm >= least * errors->other_bits;
    const uint32_t bits = (ph_bits_if(is_position) & PH_WORTH_POSITION) |
                          (ph_bits_if(is_heading) & PH_WORTH_HEADING) |
                          (ph_bits_if(is_other) & PH_WORTH_OTHERS);
    float worth;
    memcpy(&worth, &bits, sizeof worth);
    return worth;
}

// Whoever writes more than one lane must say that they are not each other's.
PH_WIDE static void rank_all(const ph_ranking* ranking, float* restrict priority,
                             float* restrict worths)
{
    const ph_ranking_errors errors = *ranking->errors;
    const float* change = ranking->change;
    const float* weight = ranking->weight;
    const float* distance_mm = ranking->distance_mm;
    const uint64_t* touched = ranking->touched;
    const float enter = MISSING_MM_S / errors.enter_bits;
    const int slot_count = ranking->slot_count;
    for (int i = 0; i < slot_count; ++i) {
        const gains gain = gains_of(&errors, i, change[i]);
        const float density = density_of(&errors, i, gain);
        const float known = density * (errors.age_s[i] + SUDDEN_S);
        const float missing = errors.missing[i];
        const float range_mm = errors.range_mm[i];
        const float entering = enter * (1.0f + MISSING_GROWTH * errors.age_s[i]);
        const float worth =
            missing * entering / about(range_mm) + (1.0f - missing) * known / range_mm;
        const uint32_t any = (uint32_t)touched[i] | (uint32_t)(touched[i] >> 32);
        const bool is_waiting = (any != 0) & (distance_mm[i] <= FLT_MAX);
        worths[i] = worth_of(&errors, i, gain, density);
        priority[i] = ph_float_if(is_waiting, weight[i] * (worth + AT_LAST));
    }
}

static void rank(void* context, const ph_ranking* ranking)
{
    (void)context;
    rank_all(ranking, ranking->priority, ranking->errors->kept);
}

uint64_t ph_error_filter(void* context, const ph_visit* visit)
{
    (void)context;
    const float kept = visit->errors->kept[visit->slot];
    const uint64_t chosen =
        ph_error_choose(kept, visit->position, visit->heading, visit->significant);
    return (chosen | visit->settled | visit->lost) & visit->due;
}

// There is nothing to remember: errors tell it all.
float ph_error_sent(void* context, float score)
{
    (void)context;
    return score;
}

static float lost(void* context, float score, float score_then)
{
    (void)context;
    (void)score_then;
    return score;
}

ph_scheduler ph_scheduler_error(void)
{
    return (ph_scheduler){
        .name = "error",
        .rank = rank,
        .filter = ph_error_filter,
        .sent = ph_error_sent,
        .lost = lost,
        .wants_change = true,
        .wants_errors = true,
        .ranks_newcomers = true,
    };
}
