// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Orientations of the pinhole profile. Once per orientation that is sent, and per enter of a class that
// has one.
//
//   update   how coarse | which component is the largest | residuals of the other three
//   enter    as expected, or how coarse and plain | whether it spins | how
//
// What is expected is a rotation in fixed point (codec/rotation.h). It is asked for its components in the
// chart of the one that is told, in which the same component is left out: so every rotation can be told from
// every other one, and at coarse 0 it is exact.

#include "packet/pinhole_records.h"

#include <string.h>

#define SYMBOL_EXPECTED 0 // of ENTER_ROTATION; then 1 + how coarse
#define LARGEST_BITS 2
// How far the second largest component is behind, in sizes beyond that of the residuals.
#define NEARLY_EIGHTHS 8
#define FAR_EIGHTHS 24

static uint32_t* orientation_words(const ph_layout* layout, const ph_record* record)
{
    return record->words + layout->word[layout->orientation_property];
}

const uint32_t* ph_pinhole_orientation_of(const ph_layout* layout, const ph_record* record)
{
    return (record->properties & layout->orientation) != 0
               ? orientation_words(layout, record)
               : layout->described->properties[layout->orientation_property].initial;
}

int ph_pinhole_round_orientation(const ph_layout* layout, const ph_record* record, int coarse)
{
    if (coarse == 0 || (record->properties & layout->orientation) == 0) {
        return 0;
    }
    const int width = layout->orientation_bits;
    uint32_t* words = orientation_words(layout, record);
    const ph_quaternion_levels levels = ph_rotation_levels_of_words(width, words);
    ph_rotation_words_of_levels(width, ph_rotation_coarse(width, levels, coarse), words);
    return coarse;
}

static int greatest_level(int width)
{
    return (1 << (width - 1)) - 1;
}

static const ph_quaternion_levels no_rotation = {.largest = 3};

// What a reader has of levels; what is none, no sender writes.
static void take_levels(ph_coder* coder, int width, const int64_t rest[3], int largest,
                        uint32_t words[2])
{
    ph_quaternion_levels levels = {.largest = (uint8_t)largest};
    bool is_good = true;
    for (int i = 0; i < 3; ++i) {
        const bool is_level = rest[i] >= -greatest_level(width) && rest[i] <= greatest_level(width);
        is_good = is_good && is_level;
        levels.rest[i] = (int16_t)(is_level ? rest[i] : 0);
    }
    is_good = is_good && ph_quaternion_is_valid(width, levels);
    ph_coder_refuse_if(coder, !is_good);
    ph_rotation_words_of_levels(width, is_good ? levels : no_rotation, words);
}

// ---- updates

// The largest component is nearly always that of the rotation expected, unless the second is about as large.
static int largest_model(int width, const ph_turning_forecast* forecast, const uint8_t order[4])
{
    const uint32_t behind = ph_rotation_levels_behind(width, &forecast->rotation, order);
    const int more = ph_size_of(behind) - forecast->size;
    return more < 0 ? 0 : more < NEARLY_EIGHTHS ? 1 : more < FAR_EIGHTHS ? 2 : 3;
}

static int code_largest(ph_coder* coder, int width, const ph_turning_forecast* forecast, int given)
{
    uint8_t order[4];
    ph_rotation_order(&forecast->rotation, order);
    int rank = 0;
    while (coder->reader == NULL && order[rank] != given) {
        ++rank;
    }
    const int model = largest_model(width, forecast, order);
    return order[ph_coder_symbol(coder, PH_FAMILY_ROTATION_LARGEST, model, rank)];
}

// The multiple of 2^coarse that is nearest, the upper one of two.
static int32_t nearest_multiple(int32_t level, int coarse)
{
    const int32_t step = 1 << coarse;
    const int32_t raised = level + step / 2;
    const int32_t past = raised % step;
    return raised - past - (past < 0 ? step : 0);
}

// One after the other: residuals tend to be large together, so those told have a part in what is expected of the
// next.
static void code_components(ph_coder* coder, const ph_turning_forecast* forecast, int coarse,
                            const int32_t expected[3], int64_t rest[3])
{
    const ph_pinhole_family first =
        forecast->is_turned ? PH_FAMILY_ROTATION_TURNED : PH_FAMILY_ROTATION_KEPT;
    const int step = 1 << coarse;
    const int size = forecast->size - PH_SIZE_PER_BIT * coarse;
    int sizes = 0; // of those told
    for (int i = 0; i < 3; ++i) {
        const int32_t base = nearest_multiple(expected[i], coarse);
        const int64_t given = coder->reader != NULL ? 0 : (rest[i] - base) / step;
        const int likely = ((4 - i) * size + sizes) / 4;
        const int64_t steps =
            ph_coder_residual(coder, i == 0 ? first : PH_FAMILY_ROTATION_NEXT, likely, given);
        sizes += ph_size_of(ph_coder_magnitude_of(steps));
        rest[i] = base + steps * step;
    }
}

void ph_pinhole_orientation(const ph_pinhole_frame* frame, ph_coder* coder,
                            ph_pinhole_record* coded, const ph_layout* layout)
{
    const int width = layout->orientation_bits;
    const ph_baseline_rules rules = {
        .layouts = frame->frame.layouts, .packings = frame->packings, .tick_us = frame->tick_us};
    ph_turning_forecast forecast;
    ph_turning_predict(coded->known, &rules, coded->record.class_index, frame->tick, &forecast);
    if (coded->is_carried) {
        forecast.rotation = coded->carried.rotation;
        forecast.size = coded->carried.rotation_size;
        forecast.is_turned = true;
    }
    uint32_t* words = orientation_words(layout, &coded->record);
    const bool is_reading = coder->reader != NULL;
    const ph_quaternion_levels given =
        is_reading ? no_rotation : ph_rotation_levels_of_words(width, words);
    PH_ASSERT(is_reading || ph_rotation_coarse_of(given) >= coded->rotation_coarse);
    coded->rotation_coarse =
        (uint8_t)ph_coder_symbol(coder, PH_FAMILY_ROTATION_COARSE,
                                 ph_rotation_coarse_of(forecast.known), coded->rotation_coarse);
    const int largest = code_largest(coder, width, &forecast, given.largest);
    int32_t expected[3];
    ph_rotation_chart(width, &forecast.rotation, largest, expected);
    int64_t rest[3] = {given.rest[0], given.rest[1], given.rest[2]};
    code_components(coder, &forecast, coded->rotation_coarse, expected, rest);
    if (is_reading) {
        take_levels(coder, width, rest, largest, words);
    }
}

// ---- enters

// As many bits as levels of a coarser property take: there is one level for each 2^coarse.
static void code_plain(ph_coder* coder, int width, int coarse, uint32_t words[2])
{
    const bool is_reading = coder->reader != NULL;
    const ph_quaternion_levels given =
        is_reading ? no_rotation : ph_rotation_levels_of_words(width, words);
    const int top = greatest_level(width - coarse);
    const int largest = (int)ph_coder_raw(coder, given.largest, LARGEST_BITS);
    int64_t rest[3];
    for (int i = 0; i < 3; ++i) {
        const uint64_t level = (uint64_t)(given.rest[i] / (1 << coarse) + top);
        const int64_t told = (int64_t)ph_coder_raw(coder, level, width - coarse) - top;
        ph_coder_refuse_if(coder, told > top);
        rest[i] = told * (1 << coarse);
    }
    if (is_reading) {
        take_levels(coder, width, rest, largest, words);
    }
}

static bool is_still(const int16_t spin[3])
{
    return spin[0] == 0 && spin[1] == 0 && spin[2] == 0;
}

static void code_spin(ph_coder* coder, ph_pinhole_record* coded, int width, bool is_beside)
{
    int16_t* spin = coded->record.spin;
    const int model = !is_beside ? 0 : coded->before->is_spinning ? 2 : 1;
    if (!ph_coder_flag(coder, PH_FAMILY_ENTER_SPINNING, model, !is_still(spin))) {
        memset(spin, 0, 3 * sizeof spin[0]);
        return;
    }
    int64_t rest[3];
    for (int i = 0; i < 3; ++i) {
        rest[i] = ph_coder_signed_length(coder, PH_FAMILY_ENTER_SPIN, 0, spin[i]);
    }
    if (coder->reader != NULL) {
        uint32_t words[2];
        take_levels(coder, width, rest, 3, words);
        const ph_quaternion_levels levels = ph_rotation_levels_of_words(width, words);
        memcpy(spin, levels.rest, sizeof levels.rest);
        ph_coder_refuse_if(coder, is_still(spin));
    }
}

void ph_pinhole_first_orientation(ph_coder* coder, ph_pinhole_record* coded,
                                  const ph_layout* layout, bool is_beside)
{
    ph_record* record = &coded->record;
    const int width = layout->orientation_bits;
    const uint32_t* initial = layout->described->properties[layout->orientation_property].initial;
    const uint32_t* expected = is_beside ? coded->before->orientation : initial;
    uint32_t* words = orientation_words(layout, record);
    if (coder->reader == NULL) {
        memmove(words, ph_pinhole_orientation_of(layout, record), 2 * sizeof words[0]);
    }
    const bool is_expected =
        coder->reader == NULL && memcmp(words, expected, 2 * sizeof words[0]) == 0;
    const int model = is_beside ? 1 + coded->before->rotation_symbol : 0;
    const int symbol = ph_coder_symbol(coder, PH_FAMILY_ENTER_ROTATION, model,
                                       is_expected ? SYMBOL_EXPECTED : 1 + coded->rotation_coarse);
    if (symbol == SYMBOL_EXPECTED) {
        memcpy(words, expected, 2 * sizeof words[0]);
    } else {
        coded->rotation_coarse = (uint8_t)(symbol - 1);
        code_plain(coder, width, coded->rotation_coarse, words);
        ph_coder_refuse_if(coder, memcmp(words, expected, 2 * sizeof words[0]) == 0);
    }
    const bool is_initial = memcmp(words, initial, 2 * sizeof words[0]) == 0;
    record->properties &= ~layout->orientation;
    record->properties |= is_initial ? 0 : layout->orientation;
    code_spin(coder, coded, width, is_beside);
}

void ph_pinhole_note_orientation(const ph_layout* layout, const ph_pinhole_record* coded,
                                 ph_pinhole_neighbour* neighbour)
{
    const ph_record* record = &coded->record;
    const uint32_t* words = ph_pinhole_orientation_of(layout, record);
    const uint32_t* expected =
        neighbour->is_beside ? coded->before->orientation
                             : layout->described->properties[layout->orientation_property].initial;
    const bool is_expected = memcmp(words, expected, sizeof neighbour->orientation) == 0;
    memcpy(neighbour->orientation, words, sizeof neighbour->orientation);
    neighbour->rotation_symbol =
        (uint8_t)(is_expected ? SYMBOL_EXPECTED : 1 + coded->rotation_coarse);
    neighbour->is_spinning = !is_still(record->spin);
}
