// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Positions: residuals of the motion, places around the eye, layers of a ground, and how coarse a
// position may be. Coordinates wrap: a residual is the shorter way round.

#include "wire/coded_position.h"

// Below this interval precision is finer: coarse steps in quick succession would show as jitter of
// the velocity.
#define CALM_US 500000
#define MRAD_PER_RAD 1000
#define PRECISION_PER_MRAD 1024
// Half a step along each of three axes is less than 7/8 of a step: so far off is who is rounded, in 1/8
// of a step, times what precision is measured in.
#define OFF_STEP8 (UINT64_C(7) * MRAD_PER_RAD * PRECISION_PER_MRAD)
#define OFF_STEP8_WIDTH 23
_Static_assert(OFF_STEP8 >> (OFF_STEP8_WIDTH - 1) == 1, "that is how long it is");

// ---- one coordinate

// How a number of steps is coded: a surprise of a size, or by its length.
typedef struct manner {
    ph_coded_family family;
    int size;
    int model; // of a length
    bool is_length;
} manner;

// @return How many steps.
static int64_t code_coordinate(ph_coder* coder, manner how, int shift, uint32_t expected,
                               uint32_t* word)
{
    if (!how.is_length) {
        return ph_coded_surprise(coder, how.family, how.size, shift, expected, word);
    }
    const int64_t given =
        ph_coder_is_reading(coder) ? 0 : ph_coded_steps_from(expected, *word, shift);
    const int64_t steps = ph_coder_signed_length(coder, how.family, how.model, given);
    ph_coded_take_steps(coder, expected, shift, steps, word);
    return steps;
}

// ---- altitude on a ground

enum { LAYER_EXPECTED, LAYER_OTHER, LAYER_NONE };

typedef struct layer_set {
    int32_t heights_mm[PH_GROUND_LAYERS_MAX];
    int count;
    int expected; // the one nearest to the altitude expected
} layer_set;

static layer_set layers_at(const ph_ground* ground, const uint32_t words[3], uint32_t expected_mm)
{
    layer_set set = {0};
    if (ground->layers != NULL) {
        set.count =
            ground->layers(ground->context, (int32_t)words[0], (int32_t)words[1], set.heights_mm);
    }
    int64_t nearest_mm = INT64_MAX;
    for (int i = 0; i < set.count; ++i) {
        const int64_t way_mm = (int64_t)set.heights_mm[i] - (int32_t)expected_mm;
        const int64_t away_mm = way_mm < 0 ? -way_mm : way_mm;
        if (away_mm < nearest_mm) {
            nearest_mm = away_mm;
            set.expected = i;
        }
    }
    return set;
}

static int layer_of(const ph_coded_frame* frame, const ph_layout* layout, const uint32_t words[3])
{
    return ph_altitude_encode(ph_layout_altitude(layout), frame->frame.ground, (int32_t)words[0],
                              (int32_t)words[1], (int32_t)words[2])
        .layer;
}

static int code_other_layer(ph_coder* coder, const layer_set* set, int layer)
{
    ph_coder_refuse_if(coder, set->count < 2);
    const uint32_t others = set->count < 2 ? 1 : (uint32_t)set->count - 1;
    const int given = layer > set->expected ? layer - 1 : layer;
    const int other = (int)ph_coder_uniform(coder, (uint32_t)given, others);
    return other >= set->expected && set->count >= 2 ? other + 1 : other;
}

// x and y of the words are known already.
static void code_altitude(const ph_coded_frame* frame, ph_coder* coder, const ph_layout* layout,
                          manner how, uint32_t expected_mm, uint32_t words[3])
{
    const layer_set set = layers_at(frame->frame.ground, words, expected_mm);
    const bool is_reading = ph_coder_is_reading(coder);
    const int layer = is_reading ? 0 : layer_of(frame, layout, words);
    int symbol = layer < 0 ? LAYER_NONE : layer == set.expected ? LAYER_EXPECTED : LAYER_OTHER;
    symbol = set.count == 0 ? LAYER_NONE : ph_coder_symbol(coder, PH_FAMILY_LAYER, 0, symbol);
    if (symbol == LAYER_NONE) {
        code_coordinate(coder, how, ph_layout_altitude(layout)->escape_shift, expected_mm,
                        &words[2]);
        // An escape to where a layer would have served.
        ph_coder_refuse_if(coder, is_reading && layer_of(frame, layout, words) >= 0);
    } else {
        const int told =
            symbol == LAYER_EXPECTED ? set.expected : code_other_layer(coder, &set, layer);
        words[2] = (uint32_t)set.heights_mm[told];
    }
}

void ph_coded_altitude(const ph_coded_frame* frame, ph_coder* coder, const ph_layout* layout,
                       ph_coded_family family, const ph_forecast* forecast, uint32_t words[3])
{
    const manner upright = {.family = family, .size = forecast->z_size};
    code_altitude(frame, coder, layout, upright, (uint32_t)forecast->position_mm[2], words);
}

// ---- precision

static uint32_t away(uint32_t from_mm, uint32_t to_mm)
{
    const uint32_t way_mm = to_mm - from_mm;
    return (int32_t)way_mm < 0 ? 0 - way_mm : way_mm;
}

// Whether rounding to step << coarse stays within the angle, seen from so far.
static bool is_fine_enough(uint64_t precision, int shift, int coarse, uint64_t distance_mm)
{
    return OFF_STEP8 << (shift + coarse) <= 8 * distance_mm * precision;
}

bool ph_coded_is_fine_enough(const ph_coded_frame* frame, const ph_layout* layout, int coarse,
                             const uint32_t words[3])
{
    return is_fine_enough(frame->precision, layout->coordinate.shift, coarse,
                          ph_coded_distance(frame, words));
}

// The greatest that is_fine_enough(): how often the step can be doubled.
static inline int coarse_at(const ph_coded_frame* frame, int shift, const int32_t predicted_mm[3],
                            uint64_t time_us)
{
    const uint32_t words[3] = {(uint32_t)predicted_mm[0], (uint32_t)predicted_mm[1],
                               (uint32_t)predicted_mm[2]};
    uint64_t distance_mm = ph_coded_distance(frame, words);
    if (time_us < CALM_US) {
        distance_mm = distance_mm * time_us / CALM_US;
    }
    const uint64_t most = 8 * distance_mm * frame->precision;
    const int doubled = ph_word_width(most) - OFF_STEP8_WIDTH - shift;
    if (doubled <= 0) {
        return 0;
    }
    const int coarse = OFF_STEP8 << (shift + doubled) > most ? doubled - 1 : doubled;
    return coarse < PH_COARSE_MAX ? coarse : PH_COARSE_MAX;
}

void ph_coded_forecast(const ph_coded_frame* frame, const ph_baseline* baseline,
                       ph_forecast* forecast)
{
    const int growth = ph_coded_growth(frame, baseline);
    forecast->plane_size = baseline->plane_size + growth;
    forecast->z_size = baseline->z_size + growth;
    int32_t position_mm[3];
    ph_baseline_predict(baseline, frame->tick, frame->tick_us, position_mm);
    const uint64_t time_us = ph_baseline_time_us(baseline->tick[0], frame->tick, frame->tick_us);
    forecast->coarse =
        frame->precision == 0 ? 0 : coarse_at(frame, baseline->shift, position_mm, time_us);
    for (int i = 0; i < 3; ++i) {
        forecast->position_mm[i] = position_mm[i];
    }
}

int ph_coded_coarse(const ph_coded_frame* frame, const ph_baseline* baseline)
{
    ph_forecast forecast;
    ph_coded_forecast(frame, baseline, &forecast);
    return forecast.coarse;
}

// How a position is rounded.
typedef struct rounding {
    const ph_coded_frame* frame;
    const ph_layout* layout;
    int coarse;
    uint64_t precision;
} rounding;

static inline uint32_t half_step(const rounding* how)
{
    return how->coarse > 0 ? UINT32_C(1) << (how->layout->coordinate.shift + how->coarse - 1) : 0;
}

static inline uint32_t round_word(const rounding* how, uint32_t word)
{
    const uint32_t step = UINT32_C(1) << (how->layout->coordinate.shift + how->coarse);
    return (word + half_step(how)) & (0 - step);
}

// @return False, with the words as they were, when that is too near to be so coarse.
static inline bool try_place(const rounding* how, uint32_t x, uint32_t y, uint32_t z,
                             uint32_t words[3])
{
    const uint32_t rounded[3] = {x, y, z};
    if (how->coarse != 0 && !is_fine_enough(how->precision, how->layout->coordinate.shift,
                                            how->coarse, ph_coded_distance(how->frame, rounded))) {
        return false;
    }
    words[0] = x;
    words[1] = y;
    words[2] = z;
    return true;
}

// With z anew.
PH_OUT_OF_LINE static bool round_on_ground(const rounding how, uint32_t words[3])
{
    const ph_altitude* altitude = ph_layout_altitude(how.layout);
    const ph_ground* ground = how.frame->frame.ground;
    const uint32_t x = round_word(&how, words[0]);
    const uint32_t y = round_word(&how, words[1]);
    const ph_altitude_level level =
        ph_altitude_encode(altitude, ground, (int32_t)x, (int32_t)y, (int32_t)words[2]);
    const uint32_t z =
        (uint32_t)ph_altitude_decode(altitude, ground, (int32_t)x, (int32_t)y, level);
    // A cliff is none of the three half steps.
    const bool is_level = how.coarse == 0 || away(words[2], z) <= half_step(&how);
    return is_level && try_place(&how, x, y, z, words);
}

static inline bool round_within(const rounding how, uint32_t words[3])
{
    if (PH_UNLIKELY(how.layout->has_ground)) {
        return round_on_ground(how, words);
    }
    return try_place(&how, round_word(&how, words[0]), round_word(&how, words[1]),
                     round_word(&how, words[2]), words);
}

bool ph_coded_round(const ph_coded_frame* frame, const ph_layout* layout, int coarse,
                    uint32_t words[3])
{
    return round_within((rounding){frame, layout, coarse, frame->precision}, words);
}

static uint64_t enter_precision(const ph_coded_frame* frame)
{
    const uint64_t wide = PH_ENTER_PRECISION * (uint64_t)frame->precision;
    const uint64_t most = wide < PH_ENTER_PRECISION_MAX ? wide : PH_ENTER_PRECISION_MAX;
    return frame->precision > most ? frame->precision : most;
}

int ph_coded_round_enter(const ph_coded_frame* frame, const ph_layout* layout, uint32_t words[3])
{
    const uint64_t distance_mm = ph_coded_distance(frame, words);
    int coarse = 0;
    while (
        coarse < frame->spread.coarse &&
        is_fine_enough(enter_precision(frame), layout->coordinate.shift, coarse + 1, distance_mm)) {
        ++coarse;
    }
    // What it is rounded to may be nearer.
    for (; coarse > 0; --coarse) {
        if (round_within((rounding){frame, layout, coarse, enter_precision(frame)}, words)) {
            return coarse;
        }
    }
    return 0;
}

// ---- places

// How the three coordinates of a place are told from another one.
typedef struct manners {
    manner x;
    manner y; // its model is chosen by x where it has several
    manner z;
    int coarse;
    int spread; // of places, in steps as coarse as that; 0: not stated
} manners;

// Neighbours keep a distance: one who is hardly aside is further ahead.
static int model_of_y(const manners* how, uint64_t x_steps)
{
    if (how->spread == 0) {
        const int length = ph_word_width(x_steps);
        return length < PH_SIDES ? length : PH_SIDES - 1;
    }
    const uint64_t parts = how->spread > 2 ? x_steps >> (how->spread - 2) : x_steps;
    return PH_SIDES + PH_SIDE_PARTS * (how->spread - 1) +
           (int)(parts < PH_SIDE_PARTS ? parts : PH_SIDE_PARTS - 1);
}

static void code_place(const ph_coded_frame* frame, ph_coder* coder, const ph_layout* layout,
                       const manners* how, const uint32_t from[3], uint32_t words[3])
{
    const int shift = layout->coordinate.shift + how->coarse;
    const int64_t x_steps = code_coordinate(coder, how->x, shift, from[0], &words[0]);
    manner y = how->y;
    if (y.family == PH_FAMILY_BESIDE_Y) {
        y.model = model_of_y(how, ph_coder_magnitude_of(x_steps));
    }
    code_coordinate(coder, y, shift, from[1], &words[1]);
    if (layout->has_ground) {
        code_altitude(frame, coder, layout, how->z, from[2], words);
    } else {
        code_coordinate(coder, how->z, shift, from[2], &words[2]);
    }
}

void ph_coded_place(const ph_coded_frame* frame, ph_coder* coder, const ph_layout* layout,
                    uint32_t words[3])
{
    const manners how = {.x = {.family = PH_FAMILY_ENTER_X, .is_length = true},
                         .y = {.family = PH_FAMILY_ENTER_Y, .is_length = true},
                         .z = {.family = PH_FAMILY_ENTER_Z, .is_length = true}};
    const uint32_t eye_mm[3] = {(uint32_t)frame->frame.eye_mm[0], (uint32_t)frame->frame.eye_mm[1],
                                (uint32_t)frame->frame.eye_mm[2]};
    code_place(frame, coder, layout, &how, eye_mm, words);
}

// Steps of more than 2^31 mm do not exist; such a record ends as refused, but with steps that do.
static void code_coarse_beside(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded,
                               const ph_layout* layout)
{
    const int limit = frame->spread.coarse;
    coded->coarse = limit == 0 ? 0
                               : (uint8_t)ph_coder_symbol(coder, PH_FAMILY_BESIDE_COARSE,
                                                          coded->before->coarse, coded->coarse);
    const bool is_refused = coded->coarse > limit || layout->coordinate.shift + coded->coarse > 31;
    ph_coder_refuse_if(coder, is_refused);
    coded->coarse = is_refused ? 0 : coded->coarse;
}

void ph_coded_place_beside(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded,
                           const ph_layout* layout, uint32_t words[3])
{
    code_coarse_beside(frame, coder, coded, layout);
    const ph_coded_neighbour* before = coded->before;
    const bool is_next = coded->record.slot == before->slot + 1;
    const uint32_t low = (UINT32_C(1) << layout->coordinate.shift) - 1;
    const int finer = frame->spread.place - coded->coarse;
    const int spread = frame->spread.place == 0 ? 0 : finer > 1 ? finer : 1;
    const bool is_level =
        before->is_flat || before->place[2] == ((uint32_t)frame->frame.eye_mm[2] & ~low);
    const manners how = {
        .x = {.family = PH_FAMILY_BESIDE_X,
              .model = spread != 0 ? 1 + spread
                       : is_next   ? 0
                                   : 1,
              .is_length = true},
        .y = {.family = PH_FAMILY_BESIDE_Y, .is_length = true},
        .z = {.family = PH_FAMILY_BESIDE_Z, .model = is_level ? 1 : 0, .is_length = true},
        .coarse = coded->coarse,
        .spread = spread,
    };
    code_place(frame, coder, layout, &how, before->place, words);
    if (ph_coder_is_reading(coder) && coded->coarse != 0) {
        ph_coder_refuse_if(coder, !is_fine_enough(enter_precision(frame), layout->coordinate.shift,
                                                  coded->coarse, ph_coded_distance(frame, words)));
    }
}
