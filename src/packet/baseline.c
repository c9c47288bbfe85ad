// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Baselines: sizes of residuals, directions, what was applied taken in, motion predicted. All of it is
// computed by both ends, so there are integers only, and coordinates wrap.

#include "packet/baseline.h"

#include "base/bitset.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "codec/rotation.h"

#include <stdlib.h>
#include <string.h>

#define VELOCITY_US 125000
// What is expected of slots without residuals yet.
#define NEW_HEADING_SIZE 24
#define NEW_TURNED_SIZE 20
#define NEW_REST_SIZE 12
#define NEW_KEPT_SIZE 24
#define NEW_SPINNING_SIZE 20
// A displacement shorter than this many steps has no direction worth guessing from.
#define WAY_STEPS_MIN 12

// ---- sizes of residuals

// Eighths begin at 280, 305, 332, 363, 395, 431 and 470 in 1/256.
const uint8_t ph_eighths[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
    4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
    5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
    6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
};

int ph_log2_eighths(uint64_t value)
{
    const int whole = ph_word_width(value | 1) - 1;
    const unsigned mantissa = (unsigned)(value << (63 - whole) >> 55); // 256..511
    return PH_SIZE_PER_BIT * whole + ph_eighths[mantissa & 255];
}

// In 1/8 bit: how much a residual grows from a quarter of a second to this time. Growth:
// PH_GROWTH_.... Time 0 counts as 1 us.
static int size_growth(uint64_t time_us, int growth)
{
    const uint64_t grown_us = time_us < PH_CARRY_US ? time_us : PH_CARRY_US;
    return (ph_log2_eighths(grown_us) - PH_NORMAL_TIME_EIGHTHS) * growth / PH_GROWTH_UNIT;
}

void ph_growths_fill(int16_t growths[PH_GROWTH_TICKS], uint32_t tick_us)
{
    for (uint32_t ticks = 0; ticks < PH_GROWTH_TICKS; ++ticks) {
        growths[ticks] = (int16_t)size_growth((uint64_t)ticks * tick_us, PH_GROWTH_POSITION);
    }
}

const uint8_t ph_sizes[PH_SIZES] = {
    0,  12, 18, 22, 25, 27, 29, 31, 32, 33, 35, 36, 37, 38, 38, 39, 40, 41, 41, 42, 42, 43, 43, 44,
    44, 45, 45, 46, 46, 47, 47, 47, 48, 48, 48, 49, 49, 49, 50, 50, 50, 51, 51, 51, 51, 52, 52, 52,
    52, 53, 53, 53, 53, 53, 54, 54, 54, 54, 54, 55, 55, 55, 55, 55, 56, 56, 56, 56, 56, 56, 57, 57,
    57, 57, 57, 57, 58, 58, 58, 58, 58, 58, 58, 59, 59, 59, 59, 59, 59, 59, 59, 60, 60, 60, 60, 60,
    60, 60, 60, 61, 61, 61, 61, 61, 61, 61, 61, 61, 62, 62, 62, 62, 62, 62, 62, 62, 62, 63, 63, 63,
    63, 63, 63, 63, 63, 63, 63, 63, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 65, 65, 65, 65,
    65, 65, 65, 65, 65, 65, 65, 65, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 66, 67, 67,
    67, 67, 67, 67, 67, 67, 67, 67, 67, 67, 67, 67, 67, 68, 68, 68, 68, 68, 68, 68, 68, 68, 68, 68,
    68, 68, 68, 68, 68, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 70,
    70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 71, 71, 71, 71, 71,
    71, 71, 71, 71, 71, 71, 71, 71, 71, 71, 71, 71, 71, 71, 71, 71,
};

uint8_t ph_size_of(uint64_t steps)
{
    if (steps < PH_SIZES) {
        return ph_sizes[steps];
    }
    // From 2^31 on they are the greatest.
    return (uint8_t)(steps >> 31 == 0 ? ph_log2_eighths(2 * steps + 1) : PH_SIZE_MAX);
}

// What a size measured over a time would have been over a quarter of a second, by what
// size_growth() says of that time. Nothing is no smaller for having been short.
static uint8_t size_less(uint8_t size, int growth)
{
    const int normal = size == 0 ? 0 : size - growth;
    return (uint8_t)(normal < 0 ? 0 : normal < PH_SIZE_MAX ? normal : PH_SIZE_MAX);
}

void ph_normals_fill(ph_normals* normals, uint32_t tick_us)
{
    for (uint32_t ticks = 0; ticks < PH_GROWTH_TICKS; ++ticks) {
        const int growth = size_growth((uint64_t)ticks * tick_us, PH_GROWTH_POSITION);
        for (int steps = 0; steps < PH_SIZES; ++steps) {
            normals->size[ticks][steps] = size_less(ph_sizes[steps], growth);
        }
    }
}

uint8_t ph_size_normal(uint8_t size, uint64_t time_us, int growth)
{
    return size_less(size, size_growth(time_us, growth));
}

int ph_size_stretched(uint8_t normal, uint64_t time_us, int growth)
{
    return normal + size_growth(time_us, growth);
}

// The old size fades as news comes in.
static uint8_t size_faded(uint8_t old, uint8_t now)
{
    return (uint8_t)((2 * old + now + 1) / 3);
}

// ---- directions

// CORDIC: the displacement is turned towards the x axis by angles whose tangents are 1, 1/2, 1/4 ..., and
// the angles are added up; or from the x axis by angles that add up to the direction. Shifts and
// additions only.

// atan(2^-i) in 1/65536 of a turn, times 16.
static const int32_t ANGLES[] = {131072, 77376, 40884, 20753, 10417, 5213, 2607,
                                 1304,   652,   326,   163,   81,    41,   20};

enum { ANGLE_COUNT = sizeof ANGLES / sizeof ANGLES[0], ANGLE_SHIFT = 4, LENGTH_BITS = 30 };

#define ANGLE_SUM 290909

uint16_t ph_direction_of(int32_t x, int32_t y)
{
    if (x == 0 && y == 0) {
        return 0;
    }
    // Unpredictable branches: use masks of all bits or none. First into the half plane of positive x,
    // where the turning starts.
    const int64_t behind = -(int64_t)(x < 0);
    int64_t ahead = (x ^ behind) - behind;
    int64_t aside = (y ^ behind) - behind;
    // Short displacements are made long, or the shifts below would leave nothing of them.
    const int64_t longest = ahead > llabs(aside) ? ahead : llabs(aside);
    const int64_t scale = INT64_C(1) << (LENGTH_BITS + 2 - ph_word_width((uint64_t)longest));
    ahead *= scale;
    aside *= scale;
    int32_t angle = ANGLE_SUM; // were all turns to the left
    for (int i = 0; i < ANGLE_COUNT; ++i) {
        // Neither of the shifted is below 0: parts are rounded towards it.
        const int64_t right = -(int64_t)(aside < 0);
        const int64_t off = llabs(aside) >> i;
        aside += right - (ahead >> i ^ right);
        ahead += off;
        angle -= (int32_t)right & 2 * ANGLES[i];
    }
    const uint32_t half_turn = (uint32_t)behind & 32768;
    const int32_t rounded =
        (angle + (1 << (ANGLE_SHIFT - 1)) + (65536 << ANGLE_SHIFT)) >> ANGLE_SHIFT;
    return (uint16_t)((uint32_t)rounded + half_turn);
}

// All turns together make it longer; 65536 times one over that.
#define SHORTER 39797
#define SHORTER_BITS 16

static int32_t rounded_part(int64_t value)
{
    const int64_t half = INT64_C(1) << (SHORTER_BITS - 1);
    const int32_t magnitude = (int32_t)((llabs(value) + half) >> SHORTER_BITS);
    return value < 0 ? -magnitude : magnitude;
}

void ph_direction_go(uint16_t direction, int32_t length, int32_t displacement[2])
{
    PH_ASSERT(length >= 0 && length <= UINT16_MAX);

    const bool is_behind = direction > 16384 && direction < 49152;
    const uint16_t half_turn = is_behind ? 32768 : 0;
    int32_t left = (int16_t)(uint16_t)(direction - half_turn) * (1 << ANGLE_SHIFT);
    int64_t ahead = (int64_t)length * SHORTER;
    int64_t aside = 0;
    for (int i = 0; i < ANGLE_COUNT; ++i) {
        const int64_t part = INT64_C(1) << i;
        const int64_t turn = left >= 0 ? 1 : -1;
        const int64_t next = ahead - turn * (aside / part);
        aside += turn * (ahead / part);
        ahead = next;
        left -= (int32_t)turn * ANGLES[i];
    }
    displacement[0] = rounded_part(is_behind ? -ahead : ahead);
    displacement[1] = rounded_part(is_behind ? -aside : aside);
}

// ---- time and motion

// From one coordinate to another, the shorter way round.
static int32_t shortest_mm(int32_t from_mm, int32_t to_mm)
{
    return (int32_t)((uint32_t)to_mm - (uint32_t)from_mm);
}

static uint32_t magnitude_of(int32_t displacement)
{
    return displacement < 0 ? 0 - (uint32_t)displacement : (uint32_t)displacement;
}

uint64_t ph_baseline_time_us(uint32_t from_tick, uint32_t to_tick, uint32_t tick_us)
{
    const uint32_t ticks = to_tick - from_tick;
    return ticks <= INT32_MAX ? (uint64_t)ticks * tick_us : 0;
}

static int64_t divide_rounded(int64_t dividend, int64_t divisor)
{
    const int64_t half = divisor / 2;
    return dividend >= 0 ? (dividend + half) / divisor : -((half - dividend) / divisor);
}

// One over so many ticks, 2^31 times, rounded up. A division takes as long as all the rest of a prediction.
// Exact: what is below 2^25, times a reciprocal, is too large by so little that it never comes to the next
// whole number (that takes 2^31 / ticks).
#define RECIPROCAL_BITS 31

_Static_assert((uint64_t)PH_CARRIED_MM_END* PH_RECIPROCALS* PH_RECIPROCALS <=
                   UINT64_C(1) << RECIPROCAL_BITS,
               "the quotients are exact");

#define RECIPROCAL(ticks) ((UINT32_C(1) << RECIPROCAL_BITS) / (ticks) + 1)

#define RECIPROCALS_FROM(ticks)                                                                    \
    RECIPROCAL(ticks), RECIPROCAL((ticks) + 1), RECIPROCAL((ticks) + 2), RECIPROCAL((ticks) + 3)

static const uint32_t reciprocals[PH_RECIPROCALS] = {
    0,
    RECIPROCAL(1),
    RECIPROCAL(2),
    RECIPROCAL(3),
    RECIPROCALS_FROM(4),
    RECIPROCALS_FROM(8),
    RECIPROCALS_FROM(12),
    RECIPROCALS_FROM(16),
    RECIPROCALS_FROM(20),
    RECIPROCALS_FROM(24),
    RECIPROCALS_FROM(28),
    RECIPROCALS_FROM(32),
    RECIPROCALS_FROM(36),
    RECIPROCALS_FROM(40),
    RECIPROCALS_FROM(44),
    RECIPROCALS_FROM(48),
    RECIPROCALS_FROM(52),
    RECIPROCALS_FROM(56),
    RECIPROCALS_FROM(60),
};

int32_t ph_baseline_extrapolated(int32_t displacement_mm, uint32_t ticks, uint32_t ahead)
{
    const uint32_t displacement_ticks = magnitude_of(displacement_mm) * ahead + ticks / 2;
    const int32_t extrapolated_mm =
        (int32_t)((uint64_t)displacement_ticks * reciprocals[ticks] >> RECIPROCAL_BITS);
    return displacement_mm < 0 ? -extrapolated_mm : extrapolated_mm;
}

void ph_baseline_predict(const ph_baseline* baseline, uint32_t tick, uint32_t tick_us,
                         int32_t position_mm[3])
{
    PH_ASSERT(baseline->is_entered);

    const int32_t* newest_mm = baseline->position_mm[0];
    const int32_t* former_mm = baseline->position_mm[1];
    int32_t x_mm = shortest_mm(former_mm[0], newest_mm[0]);
    int32_t y_mm = shortest_mm(former_mm[1], newest_mm[1]);
    int32_t z_mm = shortest_mm(former_mm[2], newest_mm[2]) & -(int32_t)!baseline->has_ground;
    uint32_t ahead = tick - baseline->tick[0];
    if (PH_UNLIKELY((uint64_t)ahead * tick_us > PH_CARRY_US)) {
        ahead = ahead <= INT32_MAX ? PH_CARRY_US / tick_us : 0;
    }
    const uint32_t between = baseline->tick[0] - baseline->tick[1];
    if (PH_UNLIKELY(baseline->sample_count < 2 || between == 0)) {
        x_mm = y_mm = z_mm = 0;
    } else if (ahead != between) { // else it keeps its pacing, as most do
        const uint32_t farthest_mm = magnitude_of(x_mm) | magnitude_of(y_mm) | magnitude_of(z_mm);
        if (PH_LIKELY(farthest_mm < PH_CARRIED_MM_END && (between | ahead) < PH_RECIPROCALS)) {
            x_mm = ph_baseline_extrapolated(x_mm, between, ahead);
            y_mm = ph_baseline_extrapolated(y_mm, between, ahead);
            z_mm = ph_baseline_extrapolated(z_mm, between, ahead);
        } else {
            x_mm = (int32_t)divide_rounded((int64_t)x_mm * ahead, between);
            y_mm = (int32_t)divide_rounded((int64_t)y_mm * ahead, between);
            z_mm = (int32_t)divide_rounded((int64_t)z_mm * ahead, between);
        }
    }
    position_mm[0] = (int32_t)((uint32_t)newest_mm[0] + (uint32_t)x_mm);
    position_mm[1] = (int32_t)((uint32_t)newest_mm[1] + (uint32_t)y_mm);
    position_mm[2] = (int32_t)((uint32_t)newest_mm[2] + (uint32_t)z_mm);
}

int ph_baseline_growth(const ph_baseline* baseline, const int16_t* growths, uint32_t tick,
                       uint32_t tick_us)
{
    const uint32_t ticks = tick - baseline->tick[0];
    if (growths != NULL && ticks < PH_GROWTH_TICKS) {
        return growths[ticks];
    }
    return size_growth(ph_baseline_time_us(baseline->tick[0], tick, tick_us), PH_GROWTH_POSITION);
}

ph_baseline_moves ph_baseline_moves_of(const ph_baseline* baseline)
{
    const bool is_known = baseline->sample_count == 2;
    const int32_t* newest_mm = baseline->position_mm[0];
    const int32_t* former_mm = baseline->position_mm[1];
    const bool is_apart = ((newest_mm[0] ^ former_mm[0]) | (newest_mm[1] ^ former_mm[1])) != 0;
    return (ph_baseline_moves){is_known & is_apart, is_known & (newest_mm[2] != former_mm[2])};
}

int ph_baseline_velocity_ticks(uint32_t tick_us)
{
    const uint32_t ticks = (VELOCITY_US + tick_us / 2) / tick_us;
    return ticks > 0 ? (int)ticks : 1;
}

void ph_baseline_velocity(const ph_layout* layout, uint32_t tick_us,
                          const int32_t displacement_mm[3], int ticks, int16_t velocity[3])
{
    PH_ASSERT(ticks >= 1);

    const int64_t step_ticks = (int64_t)ticks << layout->coordinate.shift;
    for (int i = 0; i < 3; ++i) {
        const int64_t steps = divide_rounded(
            (int64_t)displacement_mm[i] * ph_baseline_velocity_ticks(tick_us), step_ticks);
        velocity[i] = (int16_t)(steps > INT16_MAX    ? INT16_MAX
                                : steps < -INT16_MAX ? -INT16_MAX
                                                     : steps);
    }
}

// ---- heading

static uint32_t level_of_direction(uint16_t direction, int width)
{
    if (width >= 16) {
        return (uint32_t)direction << (width - 16);
    }
    const uint32_t rounded = (direction + (UINT32_C(1) << (15 - width))) >> (16 - width);
    return rounded & ((UINT32_C(1) << width) - 1);
}

uint32_t ph_baseline_turned(const ph_baseline* baseline, const ph_layout* layout,
                            uint32_t known_level, const uint32_t* position_words)
{
    int32_t displacement_mm[2] = {0};
    for (int i = 0; i < 2; ++i) {
        if (position_words != NULL) {
            displacement_mm[i] =
                shortest_mm(baseline->position_mm[0][i], (int32_t)position_words[i]);
        } else if (baseline->sample_count == 2) {
            displacement_mm[i] =
                shortest_mm(baseline->position_mm[1][i], baseline->position_mm[0][i]);
        }
    }
    const uint64_t long_mm = (uint64_t)WAY_STEPS_MIN << layout->coordinate.shift;
    if ((uint64_t)magnitude_of(displacement_mm[0]) + magnitude_of(displacement_mm[1]) < long_mm) {
        return known_level;
    }
    const ph_property* heading = &layout->described->properties[layout->heading_property];
    return level_of_direction(ph_direction_of(displacement_mm[0], displacement_mm[1]),
                              heading->angle.width);
}

static uint64_t turn_size_between(int width, uint32_t from_level, uint32_t to_level)
{
    const uint64_t top = UINT32_MAX >> (32 - width);
    const uint64_t up = (to_level - from_level) & top;
    return up <= top / 2 ? up : top + 1 - up;
}

// ---- orientation

void ph_turning_load(const ph_packing* packing, const uint8_t* known, ph_turning_state* turning)
{
    PH_ASSERT(packing->turning != 0);
    memcpy(turning, known + packing->turning, sizeof *turning);
}

// The words of the orientation that is known.
static void load_orientation(const ph_layout* layout, const ph_packing* packing,
                             const uint8_t* known, uint32_t words[2])
{
    const int property = layout->orientation_property;
    ph_packing_load(packing, property, known + packing->offset[property], words);
}

// A spin by the levels of the rotation that it makes of none; the last component is left out.
static ph_spin spin_of_levels(int width, const int16_t spin[3], uint32_t ticks)
{
    const ph_quaternion_levels levels = {.largest = 3, .rest = {spin[0], spin[1], spin[2]}};
    const ph_rotation turned = ph_rotation_from_levels(width, levels);
    return ph_rotation_spin(&turned, ticks);
}

void ph_turning_enter(uint8_t* known, const ph_baseline_rules* rules, int class_index,
                      const int16_t spin[3], uint32_t tick)
{
    const ph_layout* layout = &rules->layouts->layouts[class_index];
    const ph_packing* packing = &rules->packings[class_index];
    const uint32_t ticks = (uint32_t)ph_baseline_velocity_ticks(rules->tick_us);
    ph_turning_state turning = {.spin = spin_of_levels(layout->orientation_bits, spin, ticks),
                                .mark_tick = tick,
                                .tick = tick,
                                .kept_size = NEW_KEPT_SIZE,
                                .turned_size = NEW_KEPT_SIZE};
    load_orientation(layout, packing, known, turning.mark);
    if (turning.spin.half != 0) {
        // Of a quarter of a second, twice the time that a spin is the rotation of.
        const uint32_t sum = magnitude_of(spin[0]) + magnitude_of(spin[1]) + magnitude_of(spin[2]);
        const uint8_t kept = ph_size_of(sum);
        turning.kept_size = kept > NEW_KEPT_SIZE ? kept : NEW_KEPT_SIZE;
        turning.turned_size = NEW_SPINNING_SIZE;
    }
    memcpy(known + packing->turning, &turning, sizeof turning);
}

// Of a rotation, the levels that leave the last component out. @return False where that is not the largest.
static bool try_spin_levels(int width, const ph_rotation* turned, int16_t spin[3])
{
    int32_t levels[3];
    ph_rotation_chart(width, turned, 3, levels);
    ph_quaternion_levels made = {.largest = 3};
    const int32_t top = (1 << (width - 1)) - 1;
    for (int i = 0; i < 3; ++i) {
        if (levels[i] < -top || levels[i] > top) {
            return false;
        }
        made.rest[i] = (int16_t)levels[i];
    }
    if (!ph_quaternion_is_valid(width, made)) {
        return false;
    }
    memcpy(spin, made.rest, sizeof made.rest);
    return true;
}

void ph_turning_spin(const ph_layout* layout, uint32_t tick_us, const uint32_t from[2],
                     const uint32_t to[2], uint32_t ticks, int16_t spin[3])
{
    PH_ASSERT(ticks >= 1);

    const int width = layout->orientation_bits;
    const ph_rotation before =
        ph_rotation_from_levels(width, ph_rotation_levels_of_words(width, from));
    const ph_rotation after =
        ph_rotation_from_levels(width, ph_rotation_levels_of_words(width, to));
    const ph_spin turn = ph_rotation_between(&before, &after, ticks);
    const uint32_t velocity_ticks = (uint32_t)ph_baseline_velocity_ticks(tick_us);
    const ph_rotation none = {{0, 0, 0, PH_ROTATION_ONE}};
    const ph_rotation turned = ph_rotation_turned(&none, &turn, velocity_ticks);
    // What turns by more within those ticks has another largest component, or seems to turn back.
    const bool is_slow = (uint64_t)turn.half * velocity_ticks < (uint64_t)ticks << 29;
    if (!is_slow || !try_spin_levels(width, &turned, spin)) {
        memset(spin, 0, 3 * sizeof spin[0]);
    }
}

// Where it has turned to by a tick; as with positions, that is known for a limited time.
static ph_rotation turned_until(const ph_rotation* rotation, const ph_turning_state* turning,
                                uint32_t tick, uint32_t tick_us)
{
    const uint64_t time_us = ph_baseline_time_us(turning->tick, tick, tick_us);
    const uint64_t ahead = (time_us < PH_CARRY_US ? time_us : PH_CARRY_US) / tick_us;
    return ph_rotation_turned(rotation, &turning->spin, (uint32_t)ahead);
}

// Of the mean of the residuals of all three components: what turns about one axis may have but one of them.
uint8_t ph_turning_residual(int width, const ph_rotation* guess, ph_quaternion_levels levels)
{
    int32_t expected[3];
    ph_rotation_chart(width, guess, levels.largest, expected);
    uint32_t sum = 0;
    for (int i = 0; i < 3; ++i) {
        sum += magnitude_of(levels.rest[i] - expected[i]);
    }
    return (uint8_t)ph_log2_eighths((2 * sum + 3) / 3);
}

void ph_turning_take(uint8_t* known, const ph_baseline_rules* rules, int class_index,
                     const uint32_t words[2], bool is_jump, uint32_t tick)
{
    const ph_layout* layout = &rules->layouts->layouts[class_index];
    const ph_packing* packing = &rules->packings[class_index];
    const int width = layout->orientation_bits;
    ph_turning_state turning;
    ph_turning_load(packing, known, &turning);
    uint32_t before[2];
    load_orientation(layout, packing, known, before);
    const ph_quaternion_levels levels = ph_rotation_levels_of_words(width, words);
    const ph_rotation kept =
        ph_rotation_from_levels(width, ph_rotation_levels_of_words(width, before));
    const ph_rotation turned = turned_until(&kept, &turning, tick, rules->tick_us);
    const uint64_t time_us = ph_baseline_time_us(turning.tick, tick, rules->tick_us);
    turning.kept_size =
        size_faded(turning.kept_size, ph_size_normal(ph_turning_residual(width, &kept, levels),
                                                     time_us, PH_GROWTH_KEPT));
    turning.turned_size =
        size_faded(turning.turned_size, ph_size_normal(ph_turning_residual(width, &turned, levels),
                                                       time_us, PH_GROWTH_TURNED));
    turning.tick = tick;
    if (is_jump || ph_baseline_time_us(turning.mark_tick, tick, rules->tick_us) >= PH_MARK_US) {
        const ph_rotation from =
            ph_rotation_from_levels(width, ph_rotation_levels_of_words(width, turning.mark));
        const ph_rotation to = ph_rotation_from_levels(width, levels);
        turning.spin = is_jump ? (ph_spin){.between = 1}
                               : ph_rotation_between(&from, &to, tick - turning.mark_tick);
        memcpy(turning.mark, words, sizeof turning.mark);
        turning.mark_tick = tick;
    }
    memcpy(known + packing->turning, &turning, sizeof turning);
}

void ph_turning_predict(const uint8_t* known, const ph_baseline_rules* rules, int class_index,
                        uint32_t tick, ph_turning_forecast* forecast)
{
    const ph_layout* layout = &rules->layouts->layouts[class_index];
    const ph_packing* packing = &rules->packings[class_index];
    const int width = layout->orientation_bits;
    ph_turning_state turning;
    ph_turning_load(packing, known, &turning);
    uint32_t words[2];
    load_orientation(layout, packing, known, words);
    forecast->known = ph_rotation_levels_of_words(width, words);
    forecast->rotation = ph_rotation_from_levels(width, forecast->known);
    const uint64_t time_us = ph_baseline_time_us(turning.tick, tick, rules->tick_us);
    const int kept = ph_size_stretched(turning.kept_size, time_us, PH_GROWTH_KEPT);
    const int turned = ph_size_stretched(turning.turned_size, time_us, PH_GROWTH_TURNED);
    forecast->is_turned = turned < kept;
    forecast->size = forecast->is_turned ? turned : kept;
    if (forecast->is_turned) {
        forecast->rotation = turned_until(&forecast->rotation, &turning, tick, rules->tick_us);
    }
}

// ---- taking

uint8_t ph_baseline_told(const ph_layout* layout, uint64_t properties, bool is_jump)
{
    return (uint8_t)(((properties & layout->position) != 0 ? PH_UPDATE_HAD_POSITION : 0) |
                     ((properties & layout->facing) != 0 ? PH_UPDATE_HAD_HEADING : 0) |
                     ((properties & layout->others) != 0 ? PH_UPDATE_HAD_OTHERS : 0) |
                     (is_jump ? PH_UPDATE_HAD_JUMP : 0));
}

// What the old values would have led one to expect.
void ph_baseline_turn(ph_baseline* baseline, const ph_baseline_rules* rules, const ph_turning* turn,
                      uint32_t tick)
{
    const ph_layout* layout = &rules->layouts->layouts[baseline->class_index];
    uint32_t words[3];
    if (turn->position != NULL) {
        memcpy(words, turn->position, sizeof words);
    }
    const uint32_t turned_level = ph_baseline_turned(baseline, layout, turn->known_level,
                                                     turn->position != NULL ? words : NULL);
    const int width = layout->described->properties[layout->heading_property].angle.width;
    const uint64_t time_us = ph_baseline_time_us(baseline->heading_tick, tick, rules->tick_us);
    const uint8_t kept =
        ph_size_normal(ph_size_of(turn_size_between(width, turn->known_level, turn->level)),
                       time_us, PH_GROWTH_HEADING);
    const uint8_t turned = ph_size_of(turn_size_between(width, turned_level, turn->level));
    baseline->heading_size = size_faded(baseline->heading_size, kept);
    baseline->turned_size = size_faded(baseline->turned_size, turned);
    baseline->heading_tick = tick;
}

// Sizes of a residual as they are kept: of x and y together, of z.
typedef struct residual {
    uint8_t plane;
    uint8_t z;
} residual;

static inline residual residual_of(uint8_t x, uint8_t y, uint8_t z)
{
    return (residual){.plane = (uint8_t)((x + y + 1) / 2), .z = z};
}

// So many steps off the forecast, after a time.
typedef struct deviation {
    uint32_t steps[3];
    uint32_t ticks;
} deviation;

PH_OUT_OF_LINE static residual work_out_residual(deviation off, uint32_t tick_us)
{
    const uint64_t time_us = ph_baseline_time_us(0, off.ticks, tick_us);
    uint8_t sizes[3];
    for (int i = 0; i < 3; ++i) {
        sizes[i] = ph_size_normal(ph_size_of(off.steps[i]), time_us, PH_GROWTH_POSITION);
    }
    return residual_of(sizes[0], sizes[1], sizes[2]);
}

// Of steps that were doubled so often.
static inline residual in_finest(residual found, int coarse)
{
    const int more = PH_SIZE_PER_BIT * coarse;
    const int plane = found.plane + more;
    const int z = found.z + more;
    return (residual){.plane = (uint8_t)(plane < PH_SIZE_MAX ? plane : PH_SIZE_MAX),
                      .z = (uint8_t)(z < PH_SIZE_MAX ? z : PH_SIZE_MAX)};
}

int ph_baseline_coarse_of(const ph_baseline* baseline, const uint8_t* position)
{
    uint32_t words[2];
    if (baseline->finer == 0) {
        return 0;
    }
    memcpy(words, position, sizeof words);
    const uint32_t steps = words[0] | words[1] | UINT32_C(1) << (baseline->shift + baseline->finer);
    return ph_word_lowest_bit(steps) - baseline->shift;
}

static inline uint32_t steps_to(const uint8_t* word, int32_t from_mm, int shift, uint32_t half)
{
    int32_t to_mm;
    memcpy(&to_mm, word, sizeof to_mm);
    return (magnitude_of(shortest_mm(from_mm, to_mm)) + half) >> shift;
}

static inline residual find_residual(const ph_baseline* baseline, const ph_baseline_rules* rules,
                                     const uint8_t* position, uint32_t tick)
{
    int32_t predicted_mm[3];
    ph_baseline_predict(baseline, tick, rules->tick_us, predicted_mm);
    const int coarse = ph_baseline_coarse_of(baseline, position);
    const int shift = baseline->shift + coarse;
    const uint32_t half = (UINT32_C(1) << shift) / 2;
    const uint32_t x = steps_to(position, predicted_mm[0], shift, half);
    const uint32_t y = steps_to(position + 4, predicted_mm[1], shift, half);
    const uint32_t z = steps_to(position + 8, predicted_mm[2], shift, half);
    const uint32_t ticks = tick - baseline->tick[0];
    if (PH_UNLIKELY((x | y | z) >= PH_SIZES || ticks >= PH_GROWTH_TICKS ||
                    rules->normals == NULL)) {
        return in_finest(
            work_out_residual((deviation){.steps = {x, y, z}, .ticks = ticks}, rules->tick_us),
            coarse);
    }
    const uint8_t* normal = rules->normals->size[ticks];
    return in_finest(residual_of(normal[x], normal[y], normal[z]), coarse);
}

// Always the two newest, however close: keeping an older one, so that rounding does not make a
// velocity, costs cars 6 % more bits and gains walkers nothing.
void ph_baseline_step(ph_baseline* baseline, const ph_baseline_rules* rules,
                      const uint8_t* position, uint32_t tick)
{
    PH_ASSERT(baseline->is_entered);

    const residual found = find_residual(baseline, rules, position, tick);
    baseline->plane_size = size_faded(baseline->plane_size, found.plane);
    baseline->z_size = size_faded(baseline->z_size, found.z);
    if (PH_LIKELY(tick != baseline->tick[0])) {
        memcpy(baseline->position_mm[1], baseline->position_mm[0], sizeof baseline->position_mm[0]);
        baseline->tick[1] = baseline->tick[0];
        baseline->sample_count = 2;
    }
    memcpy(baseline->position_mm[0], position, sizeof baseline->position_mm[0]);
    baseline->tick[0] = tick;
}

void ph_baseline_jump(ph_baseline* baseline, const uint8_t* position, uint32_t tick)
{
    PH_ASSERT(baseline->is_entered);

    memcpy(baseline->position_mm[0], position, sizeof baseline->position_mm[0]);
    baseline->tick[0] = tick;
    baseline->sample_count = 1;
}

// There were no residuals yet; one that is fast will have larger ones.
static void expect_sizes(ph_baseline* baseline, const ph_record* record)
{
    const int finer = baseline->finer;
    const uint64_t plane_steps =
        magnitude_of(record->velocity[0]) + magnitude_of(record->velocity[1]);
    const int plane = ph_size_of(plane_steps / 4);
    baseline->plane_size =
        (uint8_t)((plane > NEW_REST_SIZE ? plane : NEW_REST_SIZE) + PH_SIZE_PER_BIT * finer);
    const int z = ph_size_of(magnitude_of(record->velocity[2]) / 2) + PH_SIZE_PER_BIT * finer;
    baseline->z_size = (uint8_t)z;
    baseline->heading_size = NEW_HEADING_SIZE;
    baseline->turned_size = NEW_TURNED_SIZE;
}

void ph_baseline_enter(ph_baseline* baseline, const ph_baseline_rules* rules,
                       const ph_record* enter, const uint8_t* position, uint32_t tick)
{
    const ph_layout* layout = &rules->layouts->layouts[enter->class_index];
    const uint32_t velocity_ticks = (uint32_t)ph_baseline_velocity_ticks(rules->tick_us);
    const int16_t* velocity = enter->velocity;
    const bool is_moving = velocity[0] != 0 || velocity[1] != 0 || velocity[2] != 0;
    *baseline = (ph_baseline){.is_entered = true,
                              .has_ground = layout->has_ground,
                              .class_index = enter->class_index,
                              .shift = (uint8_t)layout->finest_shift,
                              .finer = (uint8_t)layout->finer,
                              .sample_count = is_moving ? 2 : 1,
                              .heading_tick = tick,
                              .tick = {tick, tick - velocity_ticks}};
    uint32_t words[3];
    memcpy(words, position, sizeof words);
    const int shift = layout->coordinate.shift;
    for (int i = 0; i < 3; ++i) {
        baseline->position_mm[0][i] = (int32_t)words[i];
        baseline->position_mm[1][i] = (int32_t)(words[i] - ((uint32_t)velocity[i] << shift));
    }
    expect_sizes(baseline, enter);
}

static void store_known(uint8_t* known, const ph_layout* layout, const ph_packing* packing,
                        const ph_record* record)
{
    for (uint64_t left = record->properties; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        ph_packing_store(packing, property, record->words + layout->word[property],
                         known + packing->offset[property]);
    }
}

static void take_update(ph_baseline* baseline, uint8_t* known, const ph_baseline_rules* rules,
                        const ph_record* record, uint32_t tick)
{
    const ph_layout* layout = &rules->layouts->layouts[baseline->class_index];
    const ph_packing* packing = &rules->packings[baseline->class_index];
    const uint8_t* position = (const uint8_t*)(record->words + layout->position_word);
    const bool has_position = (record->properties & layout->position) != 0;
    const int property = layout->heading_property;
    if ((record->properties & layout->heading) != 0 && packing->size[property] > 0) {
        ph_turning turn = {.level = record->words[layout->word[property]],
                           .position = has_position && !record->is_jump ? position : NULL};
        ph_packing_load(packing, property, known + packing->offset[property], &turn.known_level);
        ph_baseline_turn(baseline, rules, &turn, tick);
    }
    if ((record->properties & layout->orientation) != 0) {
        ph_turning_take(known, rules, baseline->class_index,
                        record->words + layout->word[layout->orientation_property], record->is_jump,
                        tick);
    }
    if (has_position && record->is_jump) {
        ph_baseline_jump(baseline, position, tick);
    } else if (has_position) {
        ph_baseline_step(baseline, rules, position, tick);
    }
    baseline->told_mask = ph_baseline_told(layout, record->properties, record->is_jump);
}

void ph_baseline_take(ph_baseline* baseline, uint8_t* known, const ph_baseline_rules* rules,
                      const ph_record* record, uint32_t tick)
{
    if (record->kind == PH_RECORD_LEAVE) {
        *baseline = (ph_baseline){0};
        return;
    }
    if (record->kind == PH_RECORD_ENTER) {
        const ph_packing* packing = &rules->packings[record->class_index];
        const int position_word = rules->layouts->layouts[record->class_index].position_word;
        ph_baseline_enter(baseline, rules, record, (const uint8_t*)(record->words + position_word),
                          tick);
        memcpy(known, packing->initial, packing->stride);
    } else if (baseline->is_entered) {
        take_update(baseline, known, rules, record, tick);
    } else {
        return;
    }
    const int class_index = baseline->class_index;
    store_known(known, &rules->layouts->layouts[class_index], &rules->packings[class_index],
                record);
    if (record->kind == PH_RECORD_ENTER && rules->packings[class_index].turning != 0) {
        ph_turning_enter(known, rules, class_index, record->spin, tick);
    }
}

// ---- digest

static void add_value(ph_hash* hash, const ph_property* property, const uint32_t* words)
{
    for (int i = 0; i < property->words; ++i) {
        const bool is_association = property->def.coding == PH_CODING_ENTITY && i == 1;
        ph_hash_add_u64(hash, is_association ? words[i] & 3 : words[i]);
    }
}

static void add_turning(ph_hash* hash, const ph_packing* packing, const uint8_t* known)
{
    ph_turning_state turning;
    ph_turning_load(packing, known, &turning);
    ph_hash_add_u64(hash, turning.tick % 256);
    ph_hash_add_u64(hash, turning.mark_tick % 256);
    turning.tick = 0;
    turning.mark_tick = 0;
    ph_hash_add(hash, &turning, sizeof turning);
}

// A client counts ticks from where it joined, so only what is left of them in a packet is compared.
uint64_t ph_baseline_digest(const ph_baseline* baseline, const uint8_t* known,
                            const ph_baseline_rules* rules)
{
    ph_hash hash = ph_hash_make(baseline->is_entered ? 1 : 0);
    if (!baseline->is_entered) {
        return ph_hash_value(&hash);
    }
    const int samples = baseline->sample_count;
    for (int i = 0; i < samples; ++i) {
        for (int k = 0; k < 3; ++k) {
            ph_hash_add_u64(&hash, (uint32_t)baseline->position_mm[i][k]);
        }
        ph_hash_add_u64(&hash, baseline->tick[i] % 2048);
    }
    const uint8_t sizes[] = {baseline->sample_count, baseline->class_index,
                             baseline->told_mask,    baseline->plane_size,
                             baseline->z_size,       baseline->heading_size,
                             baseline->turned_size,  (uint8_t)(baseline->heading_tick % 256)};
    ph_hash_add(&hash, sizes, sizeof sizes);
    const ph_class* described = rules->layouts->layouts[baseline->class_index].described;
    const ph_packing* packing = &rules->packings[baseline->class_index];
    if (packing->turning != 0) {
        add_turning(&hash, packing, known);
    }
    for (int i = 0; i < described->def.property_count; ++i) {
        const ph_property* property = &described->properties[i];
        if (!property->is_text && packing->size[i] > 0) {
            uint32_t words[PH_VALUE_WORDS_MAX] = {0};
            ph_packing_load(packing, i, known + packing->offset[i], words);
            add_value(&hash, property, words);
        }
    }
    return ph_hash_value(&hash);
}
