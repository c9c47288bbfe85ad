// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Baselines: taking in what was applied, predicting from it. Whatever is computed here is computed
// by both ends, so there are integers only, and coordinates wrap.

#include "wire/baseline.h"

#include "base/bitset.h"
#include "base/hash.h"
#include "base/inline.h"
#include "wire/direction.h"

#include <string.h>

#define VELOCITY_US 125000
// What is expected of those who have not surprised anybody yet.
#define NEW_HEADING_SIZE 24
#define NEW_TURNED_SIZE 20
#define NEW_REST_SIZE 12

// A way shorter than this many steps has no direction worth guessing from.
#define WAY_STEPS_MIN 12

// ---- time and motion

static int64_t divide_rounded(int64_t dividend, int64_t divisor)
{
    const int64_t half = divisor / 2;
    return dividend >= 0 ? (dividend + half) / divisor : -((half - dividend) / divisor);
}

#define RECIPROCAL(ticks) ((UINT32_C(1) << PH_RECIPROCAL_BITS) / (ticks) + 1)
#define RECIPROCALS_FROM(ticks)                                                                    \
    RECIPROCAL(ticks), RECIPROCAL((ticks) + 1), RECIPROCAL((ticks) + 2), RECIPROCAL((ticks) + 3)
const uint32_t ph_reciprocals[PH_RECIPROCALS] = {
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

void ph_baseline_carry(int32_t way_mm[3], uint32_t ticks, uint32_t ahead)
{
    for (int i = 0; i < 3; ++i) {
        way_mm[i] = (int32_t)divide_rounded((int64_t)way_mm[i] * ahead, ticks);
    }
}

int ph_baseline_velocity_ticks(uint32_t tick_us)
{
    const uint32_t ticks = (VELOCITY_US + tick_us / 2) / tick_us;
    return ticks > 0 ? (int)ticks : 1;
}

void ph_baseline_velocity(const ph_layout* layout, uint32_t tick_us, const int32_t way_mm[3],
                          int ticks, int16_t velocity[3])
{
    PH_ASSERT(ticks >= 1);

    const int64_t step_ticks = (int64_t)ticks << layout->coordinate.shift;
    for (int i = 0; i < 3; ++i) {
        const int64_t steps =
            divide_rounded((int64_t)way_mm[i] * ph_baseline_velocity_ticks(tick_us), step_ticks);
        velocity[i] = (int16_t)(steps > INT16_MAX    ? INT16_MAX
                                : steps < -INT16_MAX ? -INT16_MAX
                                                     : steps);
    }
}

// ---- heading

static uint32_t level_of(uint16_t direction, int width)
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
    int32_t way_mm[2] = {0};
    for (int i = 0; i < 2; ++i) {
        if (position_words != NULL) {
            way_mm[i] = ph_baseline_way(baseline->position_mm[0][i], (int32_t)position_words[i]);
        } else if (baseline->sample_count == 2) {
            way_mm[i] = ph_baseline_way(baseline->position_mm[1][i], baseline->position_mm[0][i]);
        }
    }
    const uint64_t long_mm = (uint64_t)WAY_STEPS_MIN << layout->coordinate.shift;
    if ((uint64_t)ph_baseline_magnitude(way_mm[0]) + ph_baseline_magnitude(way_mm[1]) < long_mm) {
        return known_level;
    }
    const ph_property* heading = &layout->described->properties[layout->heading_property];
    return level_of(ph_direction_of(way_mm[0], way_mm[1]), heading->angle.width);
}

static uint64_t turn_between(int width, uint32_t from_level, uint32_t to_level)
{
    const uint64_t top = UINT32_MAX >> (32 - width);
    const uint64_t up = (to_level - from_level) & top;
    return up <= top / 2 ? up : top + 1 - up;
}

// ---- taking

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
        ph_size_normal(ph_size_of(turn_between(width, turn->known_level, turn->level)), time_us,
                       PH_GROWTH_HEADING);
    const uint8_t turned = ph_size_of(turn_between(width, turned_level, turn->level));
    baseline->heading_size = ph_size_faded(baseline->heading_size, kept);
    baseline->turned_size = ph_size_faded(baseline->turned_size, turned);
    baseline->heading_tick = tick;
}

// Sizes of a surprise as they are kept: of x and y together, of z.
typedef struct surprise {
    uint8_t plane;
    uint8_t z;
} surprise;

static inline surprise surprise_of(uint8_t x, uint8_t y, uint8_t z)
{
    return (surprise){.plane = (uint8_t)((x + y + 1) / 2), .z = z};
}

// A way of so many steps, in a time.
typedef struct off_way {
    uint32_t steps[3];
    uint32_t ticks;
} off_way;

PH_OUT_OF_LINE static surprise work_out(off_way off, uint32_t tick_us)
{
    const uint64_t time_us = ph_baseline_time_us(0, off.ticks, tick_us);
    uint8_t sizes[3];
    for (int i = 0; i < 3; ++i) {
        sizes[i] = ph_size_normal(ph_size_of(off.steps[i]), time_us, PH_GROWTH_POSITION);
    }
    return surprise_of(sizes[0], sizes[1], sizes[2]);
}

static inline uint32_t steps_to(const uint8_t* word, int32_t from_mm, int shift, uint32_t half)
{
    int32_t to_mm;
    memcpy(&to_mm, word, sizeof to_mm);
    return (ph_baseline_magnitude(ph_baseline_way(from_mm, to_mm)) + half) >> shift;
}

static inline surprise find_surprise(const ph_baseline* baseline, const ph_baseline_rules* rules,
                                     const uint8_t* position, uint32_t tick)
{
    int32_t predicted_mm[3];
    ph_baseline_predict(baseline, tick, rules->tick_us, predicted_mm);
    const int shift = baseline->shift;
    const uint32_t half = (UINT32_C(1) << shift) / 2;
    const uint32_t x = steps_to(position, predicted_mm[0], shift, half);
    const uint32_t y = steps_to(position + 4, predicted_mm[1], shift, half);
    const uint32_t z = steps_to(position + 8, predicted_mm[2], shift, half);
    const uint32_t ticks = tick - baseline->tick[0];
    if (PH_UNLIKELY((x | y | z) >= PH_SIZES || ticks >= PH_GROWTH_TICKS ||
                    rules->normals == NULL)) {
        return work_out((off_way){.steps = {x, y, z}, .ticks = ticks}, rules->tick_us);
    }
    const uint8_t* normal = rules->normals->size[ticks];
    return surprise_of(normal[x], normal[y], normal[z]);
}

// Always the two newest, however close: keeping an older one, so that rounding does not make a
// velocity, costs cars 6 % more bits and gains walkers nothing.
static inline void step(ph_baseline* baseline, const ph_baseline_rules* rules,
                        const uint8_t* position, uint32_t tick)
{
    PH_ASSERT(baseline->is_entered);

    const surprise found = find_surprise(baseline, rules, position, tick);
    baseline->plane_size = ph_size_faded(baseline->plane_size, found.plane);
    baseline->z_size = ph_size_faded(baseline->z_size, found.z);
    if (PH_LIKELY(tick != baseline->tick[0])) {
        memcpy(baseline->position_mm[1], baseline->position_mm[0], sizeof baseline->position_mm[0]);
        baseline->tick[1] = baseline->tick[0];
        baseline->sample_count = 2;
    }
    memcpy(baseline->position_mm[0], position, sizeof baseline->position_mm[0]);
    baseline->tick[0] = tick;
}

void ph_baseline_step(ph_baseline* baseline, const ph_baseline_rules* rules,
                      const uint8_t* position, uint32_t tick)
{
    step(baseline, rules, position, tick);
}

// In a loop of their own, where what they have in common stays in registers.
void ph_baseline_step_all(const ph_baseline_told_step* steps, int count,
                          const ph_baseline_rules* rules, uint32_t tick)
{
    const ph_baseline_rules own = *rules;
    for (int i = 0; i < count; ++i) {
        steps[i].baseline->told_mask = PH_TOLD_POSITION;
        step(steps[i].baseline, &own, steps[i].position, tick);
    }
}

void ph_baseline_jump(ph_baseline* baseline, const uint8_t* position, uint32_t tick)
{
    PH_ASSERT(baseline->is_entered);

    memcpy(baseline->position_mm[0], position, sizeof baseline->position_mm[0]);
    baseline->tick[0] = tick;
    baseline->sample_count = 1;
}

// Nobody has been surprised yet; who is fast will surprise more.
static void expect_sizes(ph_baseline* baseline, const ph_record* record)
{
    const uint64_t plane_steps =
        ph_baseline_magnitude(record->velocity[0]) + ph_baseline_magnitude(record->velocity[1]);
    const uint8_t plane = ph_size_of(plane_steps / 4);
    baseline->plane_size = plane > NEW_REST_SIZE ? plane : NEW_REST_SIZE;
    baseline->z_size = ph_size_of(ph_baseline_magnitude(record->velocity[2]) / 2);
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
                              .shift = (uint8_t)layout->coordinate.shift,
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

static void take_update(ph_baseline* baseline, const uint8_t* known, const ph_baseline_rules* rules,
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
    if (has_position && record->is_jump) {
        ph_baseline_jump(baseline, position, tick);
    } else if (has_position) {
        ph_baseline_step(baseline, rules, position, tick);
    }
    baseline->told_mask = ph_baseline_mask(layout, record);
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
}

// ---- digest

static void add_value(ph_hash* hash, const ph_property* property, const uint32_t* words)
{
    for (int i = 0; i < property->words; ++i) {
        const bool is_association = property->def.coding == PH_CODING_ENTITY && i == 1;
        ph_hash_add_u64(hash, is_association ? words[i] & 3 : words[i]);
    }
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
