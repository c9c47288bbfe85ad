// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What both ends expect of a slot before a packet tells anything of it: where its motion leads and how
// far off that may be, how coarse its position may be sent, how urgently a viewer waits for news; and the
// flags that say which slots are sent, whose probabilities follow from that.
//
// Forecasts once per record with a position, urgencies and flags once per slot and packet, the density
// once per packet. Integers only, the same at both ends.

#include "base/bitset.h"
#include "bits/entropy_run.h"
#include "packet/header.h"
#include "packet/pinhole_records.h"
#include "schema/property.h"

// Below this interval precision is finer: coarse steps in quick succession would show as jitter of
// the velocity.
#define CALM_US 500000
// Beyond a residual of so many steps, as a size, finer ones are for nothing. Of 32 viewers of walkers at 52 kbit/s
// and of cars at 13, with a finest step of an eighth: size 10 2.69 and 4.73 mrad, 24 1.85 and 4.76, 40 1.81 and 4.90.
#define FIT_SIZE 24
#define MRAD_PER_RAD 1000
#define ANGLE_UNITS_PER_MRAD 1024
// Half a step along each of three axes is less than 7/8 of a step: so far off is what is rounded, in 1/8
// of a step, times what precision is measured in.
#define OFF_STEP8 (UINT64_C(7) * MRAD_PER_RAD * ANGLE_UNITS_PER_MRAD)
#define OFF_STEP8_WIDTH 23

_Static_assert(OFF_STEP8 >> (OFF_STEP8_WIDTH - 1) == 1, "that is how long it is");

// ---- forecast

static uint32_t away(uint32_t from_mm, uint32_t to_mm)
{
    const uint32_t displacement_mm = to_mm - from_mm;
    return (int32_t)displacement_mm < 0 ? 0 - displacement_mm : displacement_mm;
}

uint32_t ph_pinhole_distance(const ph_pinhole_frame* frame, const uint32_t words[3])
{
    uint32_t most_mm = 0;
    for (int i = 0; i < 3; ++i) {
        const uint32_t away_mm = away((uint32_t)frame->frame.eye_mm[i], words[i]);
        most_mm = away_mm > most_mm ? away_mm : most_mm;
    }
    return most_mm;
}

bool ph_pinhole_is_fine_enough(uint64_t precision, int shift, int coarse, uint64_t distance_mm)
{
    return OFF_STEP8 << (shift + coarse) <= 8 * distance_mm * precision;
}

// The greatest that ph_pinhole_is_fine_enough(): how often the step can be doubled.
static int coarse_at(const ph_pinhole_frame* frame, int shift, const int32_t predicted_mm[3],
                     uint64_t time_us)
{
    const uint32_t words[3] = {(uint32_t)predicted_mm[0], (uint32_t)predicted_mm[1],
                               (uint32_t)predicted_mm[2]};
    uint64_t distance_mm = ph_pinhole_distance(frame, words);
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

// Rounding does not matter where it is small beside what is off anyway.
static int fit_of(const ph_pinhole_frame* frame, const ph_baseline* baseline, int size)
{
    const int suits = size > FIT_SIZE ? (size - FIT_SIZE) / PH_SIZE_PER_BIT : 0;
    const int fit = suits > frame->step ? suits : frame->step;
    return fit < baseline->finer ? fit : baseline->finer;
}

void ph_pinhole_forecast(const ph_pinhole_frame* frame, const ph_baseline* baseline,
                         ph_forecast* forecast)
{
    const int growth = ph_baseline_growth(baseline, frame->growths, frame->tick, frame->tick_us);
    forecast->plane_size = baseline->plane_size + growth;
    forecast->z_size = baseline->z_size + growth;
    ph_baseline_predict(baseline, frame->tick, frame->tick_us, forecast->position_mm);
    const uint64_t time_us = ph_baseline_time_us(baseline->tick[0], frame->tick, frame->tick_us);
    const int shift = baseline->shift + baseline->finer;
    const int coarse =
        frame->precision == 0 ? 0 : coarse_at(frame, shift, forecast->position_mm, time_us);
    forecast->coarse = coarse != 0 ? baseline->finer + coarse : 0;
    forecast->fit = baseline->finer == 0 ? 0 : fit_of(frame, baseline, forecast->plane_size);
}

int ph_pinhole_coarse(const ph_pinhole_frame* frame, const ph_baseline* baseline)
{
    ph_forecast forecast;
    ph_pinhole_forecast(frame, baseline, &forecast);
    return forecast.coarse;
}

// ---- the step of a packet

_Static_assert(PH_STEPS == 1 << PH_PINHOLE_STEP_BITS && PH_STEPS == PH_FINER_MAX + 1,
               "any step fits");

int ph_pinhole_step_bits(const ph_pinhole_frame* frame)
{
    return frame->frame.layouts->has_finer ? PH_PINHOLE_STEP_BITS : 0;
}

void ph_pinhole_write_step(const ph_pinhole_frame* frame, ph_entropy_writer* writer)
{
    ph_bits_write(&writer->raw, (uint64_t)frame->step, ph_pinhole_step_bits(frame));
}

void ph_pinhole_read_step(ph_pinhole_frame* frame, ph_entropy_reader* reader)
{
    frame->step = (int)ph_bits_read(&reader->raw, ph_pinhole_step_bits(frame));
}

// ---- rounding

// How a position is rounded.
typedef struct rounding {
    const ph_pinhole_frame* frame;
    const ph_layout* layout;
    int coarse;
    uint64_t precision;
} rounding;

// How much coarser than the step of the class; at most 0: as fine as that, wherever it is.
static int beyond_step(const rounding* how)
{
    return how->coarse - how->layout->finer;
}

static uint32_t half_step(const rounding* how)
{
    return beyond_step(how) > 0 ? UINT32_C(1) << (how->layout->finest_shift + how->coarse - 1) : 0;
}

// Down to the step of the class, as every position without a finer one; what is coarser to the nearest.
static uint32_t round_word(const rounding* how, uint32_t word)
{
    const uint32_t class_step = UINT32_C(1) << how->layout->coordinate.shift;
    const uint32_t step = UINT32_C(1) << (how->layout->finest_shift + how->coarse);
    const uint32_t told = beyond_step(how) > 0 ? word & (0 - class_step) : word;
    return (told + half_step(how)) & (0 - step);
}

// @return False, with the words as they were, when that is too near to be so coarse.
static bool try_rounded(const rounding* how, uint32_t x, uint32_t y, uint32_t z, uint32_t words[3])
{
    const uint32_t rounded[3] = {x, y, z};
    if (beyond_step(how) > 0 &&
        !ph_pinhole_is_fine_enough(how->precision, how->layout->coordinate.shift, beyond_step(how),
                                   ph_pinhole_distance(how->frame, rounded))) {
        return false;
    }
    words[0] = x;
    words[1] = y;
    words[2] = z;
    return true;
}

// With z anew.
static bool round_on_ground(const rounding how, uint32_t words[3])
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
    const bool is_level = beyond_step(&how) <= 0 || away(words[2], z) <= half_step(&how);
    return is_level && try_rounded(&how, x, y, z, words);
}

static bool round_within(const rounding how, uint32_t words[3])
{
    if (PH_UNLIKELY(how.layout->has_ground)) {
        return round_on_ground(how, words);
    }
    return try_rounded(&how, round_word(&how, words[0]), round_word(&how, words[1]),
                       round_word(&how, words[2]), words);
}

bool ph_pinhole_round(const ph_pinhole_frame* frame, const ph_layout* layout, int coarse,
                      uint32_t words[3])
{
    return round_within((rounding){frame, layout, coarse, frame->precision}, words);
}

uint64_t ph_pinhole_enter_precision(const ph_pinhole_frame* frame)
{
    const uint64_t wide = PH_ENTER_PRECISION * (uint64_t)frame->precision;
    const uint64_t most = wide < PH_ENTER_PRECISION_MAX ? wide : PH_ENTER_PRECISION_MAX;
    return frame->precision > most ? frame->precision : most;
}

int ph_pinhole_round_enter(const ph_pinhole_frame* frame, const ph_layout* layout,
                           uint32_t words[3])
{
    const uint64_t distance_mm = ph_pinhole_distance(frame, words);
    int coarse = 0;
    while (coarse < frame->spread.coarse &&
           ph_pinhole_is_fine_enough(ph_pinhole_enter_precision(frame), layout->coordinate.shift,
                                     coarse + 1, distance_mm)) {
        ++coarse;
    }
    // What it is rounded to may be nearer.
    for (; coarse > 0; --coarse) {
        if (round_within((rounding){frame, layout, layout->finer + coarse,
                                    ph_pinhole_enter_precision(frame)},
                         words)) {
            return coarse;
        }
    }
    if (layout->finer != 0) {
        (void)round_within((rounding){frame, layout, layout->finer, 0}, words);
    }
    return 0;
}

// ---- urgency

// The residual to be expected by now, as an angle: in bits, from 2^-16 on. What rests has no residuals for
// long, whatever the time: the first four urgencies are for that.
int ph_pinhole_urgency(const ph_pinhole_frame* frame, const ph_baseline* baseline)
{
    enum { NEAREST_MM = 1000, RESTING = 4, LEAST_BITS = 16 };
    const int32_t* newest_mm = baseline->position_mm[0];
    const uint32_t words[3] = {(uint32_t)newest_mm[0], (uint32_t)newest_mm[1],
                               (uint32_t)newest_mm[2]};
    const uint32_t distance_mm = ph_pinhole_distance(frame, words);
    const int size = baseline->plane_size +
                     ph_baseline_growth(baseline, frame->growths, frame->tick, frame->tick_us) +
                     PH_SIZE_PER_BIT * (baseline->shift - 1 + LEAST_BITS) -
                     ph_log2_eighths(distance_mm > NEAREST_MM ? distance_mm : NEAREST_MM);
    int urgency = size > 0 ? size / PH_SIZE_PER_BIT : 0;
    urgency = urgency < PH_URGENCIES ? urgency : PH_URGENCIES - 1;
    const ph_baseline_moves moves = ph_baseline_moves_of(baseline);
    if (!moves.is_level && !moves.is_rising) {
        return urgency / RESTING;
    }
    return urgency < RESTING ? RESTING : urgency;
}

// Counted in two halves, of every other slot, because a count that follows another one of the same urgency
// would wait for it. The frame is copied, so that it stays in registers.
void ph_pinhole_urgencies(const ph_pinhole_frame* frame, const ph_baseline* slots, int slot_end,
                          uint8_t* urgencies, int counts[PH_URGENCIES + 1])
{
    const ph_pinhole_frame own = *frame;
    int halves[2][PH_URGENCIES + 1] = {{0}};
    for (int slot = 0; slot < slot_end; ++slot) {
        const int urgency =
            slots[slot].is_entered ? ph_pinhole_urgency(&own, &slots[slot]) : PH_URGENCY_NONE;
        urgencies[slot] = (uint8_t)urgency;
        ++halves[slot % 2][urgency];
    }
    for (int i = 0; i <= PH_URGENCIES; ++i) {
        counts[i] = halves[0][i] + halves[1][i];
    }
}

// ---- flags
//
// A flag is one symbol of a model of two.

static int flag_model(int density, int urgency)
{
    PH_ASSERT(density > PH_DENSITY_NONE && density < PH_DENSITIES);
    PH_ASSERT(urgency >= 0 && urgency < PH_URGENCIES);
    return (density - 1) * PH_URGENCIES + urgency;
}

int ph_pinhole_flag_entry(int density, int urgency, bool is_told)
{
    enum { ENTRIES = 3 }; // told or not, and the end
    return PH_AT_TOLD + ENTRIES * flag_model(density, urgency) + (is_told ? 1 : 0);
}

uint32_t ph_pinhole_flag_cost256(const ph_model_set* models, int density, int urgency, bool is_told)
{
    enum { IMPOSSIBLE256 = 16 * PH_COST_PER_BIT };
    if (density == PH_DENSITY_NONE) {
        return is_told ? IMPOSSIBLE256 : 0;
    }
    return models->costs[ph_pinhole_flag_entry(density, urgency, is_told)];
}

void ph_told_costs_fill(ph_told_costs* costs, const ph_model_set* models)
{
    for (int urgency = 0; urgency < PH_URGENCIES; ++urgency) {
        for (int density = 0; density < PH_DENSITIES; ++density) {
            const int silent256 = (int)ph_pinhole_flag_cost256(models, density, urgency, false);
            const int told256 = (int)ph_pinhole_flag_cost256(models, density, urgency, true);
            costs->silent256[urgency][density] = (int16_t)silent256;
            costs->turned256[urgency][density] = (int16_t)(told256 - silent256);
        }
    }
}

void ph_told_sums_begin(ph_told_sums* sums, const ph_told_costs* costs,
                        const int silent[PH_URGENCIES])
{
    *sums = (ph_told_sums){0};
    for (int urgency = 0; urgency < PH_URGENCIES; ++urgency) {
        const int32_t count = silent[urgency];
        if (count == 0) {
            continue; // most are of few urgencies
        }
        for (int density = 0; density < PH_DENSITIES; ++density) {
            sums->silent256[density] += count * costs->silent256[urgency][density];
        }
    }
}

int32_t ph_told_sums_cost256(const ph_told_sums* sums, const ph_told_costs* costs, int density)
{
    int32_t cost256 = sums->silent256[density];
    for (int urgency = 0; urgency < PH_URGENCIES; ++urgency) {
        cost256 += sums->told[urgency] * costs->turned256[urgency][density];
    }
    return cost256;
}

// Where no slot is sent that costs nothing; to be told would cost the most of all there.
int ph_pinhole_best_density(const ph_told_sums* sums, const ph_told_costs* costs)
{
    if (ph_told_sums_cost256(sums, costs, PH_DENSITY_NONE) == 0) {
        return PH_DENSITY_NONE;
    }
    int best = 1;
    int32_t best256 = INT32_MAX;
    for (int density = 1; density < PH_DENSITIES; ++density) {
        const int32_t cost256 = ph_told_sums_cost256(sums, costs, density);
        best = cost256 < best256 ? density : best;
        best256 = cost256 < best256 ? cost256 : best256;
    }
    return best;
}

void ph_pinhole_write_told(const ph_pinhole_frame* frame, ph_entropy_writer* writer, int urgency,
                           bool is_told)
{
    PH_ASSERT(!is_told || frame->density != PH_DENSITY_NONE);

    if (frame->density == PH_DENSITY_NONE) {
        return;
    }
    const uint16_t entry = (uint16_t)ph_pinhole_flag_entry(frame->density, urgency, is_told);
    ph_entropy_write_entries(writer, ph_pinhole_models(frame)->cumulative, &entry, 1);
    if (frame->counts != NULL) {
        ++frame->counts->seen[entry];
    }
}

bool ph_pinhole_read_told(const ph_pinhole_frame* frame, ph_entropy_reader* reader, int urgency)
{
    if (frame->density == PH_DENSITY_NONE) {
        return false;
    }
    const ph_coder coder = ph_pinhole_reading(frame, reader);
    return ph_coder_read_symbol(&coder, PH_FAMILY_TOLD, flag_model(frame->density, urgency)) != 0;
}
