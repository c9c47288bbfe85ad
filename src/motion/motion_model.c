// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How the entities of one class move. Once per sample, and two questions per entity and frame.

#include "motion/motion_model.h"

#include <math.h>

#define FIRST_AGE_S 0.125f
// Samples count by the length of the displacement, not by its square (else the fastest would decide), and
// less when they miss. Below this all is noise of the coding.
#define NOISE_MM 20.0f
// What is known before the first sample: as much as a few of them, and velocities are to be
// followed.
#define PRIOR 5.0f
#define FADING 0.99f
// An entity that speeds up does so for a while.
#define SHARE_MAX 1.1f
#define INTERVAL_LIMIT_FIRST 3.0f
#define INTERVAL_LIMIT_MIN 1.2f
#define INTERVAL_LIMIT_MAX 20.0f
#define INTERVAL_LIMIT_QUANTILE 0.99f
#define USUAL_PAUSE_FIRST_S 0.5f
#define USUAL_PAUSE_MAX_S 20.0f
#define USUAL_PAUSE_QUANTILE 0.9f
#define QUANTILE_STEP 0.1f
// A newcomer whose second sample came later than so many usual pauses stood when it entered.
#define MOVER_PAUSES 3.0f
#define FIRST_PAUSE_FIRST_S 1.0f
#define FIRST_PAUSE_QUANTILE 0.9f
// Newcomers remembered. Those that stand get no second sample, so movers must not be counted
// alone: below the first share of movers all are taken to stand, above the second all to move.
// Without this a town where most stand had four times the error.
#define NEWCOMERS_MAX 64.0f
#define MOVERS_FEW 0.5f
#define MOVERS_MANY 0.75f

ph_motion_model ph_motion_model_make(void)
{
    return (ph_motion_model){.bend = PH_BEND,
                             .leg_s = PH_LEG_S,
                             .interval_limit = INTERVAL_LIMIT_FIRST,
                             .usual_pause_s = USUAL_PAUSE_FIRST_S,
                             .first_pause_s = FIRST_PAUSE_FIRST_S};
}

// ---- questions

static float share_at(const ph_motion_model* motion_model, int i)
{
    const float share = (motion_model->products[i] + PRIOR) / (motion_model->squares[i] + PRIOR);
    return fminf(fmaxf(share, 0.0f), SHARE_MAX);
}

// Where an age lies among those kept: 0..PH_MOTION_MODEL_AGES-1, straight between two powers of two.
static float age_place(float age_s)
{
    if (!(age_s > FIRST_AGE_S)) {
        return 0.0f;
    }
    int exponent;
    const float mantissa = frexpf(age_s / FIRST_AGE_S, &exponent);
    const float at = (float)exponent - 2.0f + 2.0f * mantissa;
    return fminf(at, (float)(PH_MOTION_MODEL_AGES - 1));
}

float ph_motion_model_share(const ph_motion_model* motion_model, float age_s)
{
    const float at = age_place(age_s);
    const int i = (int)at;
    if (i >= PH_MOTION_MODEL_AGES - 1) {
        return share_at(motion_model, PH_MOTION_MODEL_AGES - 1);
    }
    const float low = share_at(motion_model, i);
    return low + (share_at(motion_model, i + 1) - low) * (at - (float)i);
}

float ph_motion_model_forward(const ph_motion_model* motion_model)
{
    const float share = motion_model->movers / fmaxf(motion_model->newcomers, 1.0f);
    const float trust = (share - MOVERS_FEW) / (MOVERS_MANY - MOVERS_FEW);
    return motion_model->forward_mm_s * fminf(fmaxf(trust, 0.0f), 1.0f);
}

// ---- learning

void ph_motion_model_learn_displacement(ph_motion_model* motion_model, const float predicted_mm[3],
                                        const float moved_mm[3], float pause_s)
{
    if (motion_model->is_vouched) {
        return;
    }
    const float share = ph_motion_model_share(motion_model, pause_s);
    float products = 0.0f;
    float squares = 0.0f;
    float misses = 0.0f;
    for (int k = 0; k < 3; ++k) {
        const float miss = moved_mm[k] - share * predicted_mm[k];
        products += moved_mm[k] * predicted_mm[k];
        squares += predicted_mm[k] * predicted_mm[k];
        misses += miss * miss;
    }
    if (!isfinite(products) || !isfinite(squares) || !isfinite(misses)) {
        return; // a speed of no world; what is learned from it would stay for ever
    }
    const float weight = 1.0f / ((sqrtf(misses) + NOISE_MM) * (sqrtf(squares) + NOISE_MM));
    const int i = (int)(age_place(pause_s) + 0.5f);
    motion_model->products[i] = motion_model->products[i] * FADING + weight * products;
    motion_model->squares[i] = motion_model->squares[i] * FADING + weight * squares;
}

// A step up when a sample lies above, a small one down when below: settles where the quantile is,
// and needs no memory of samples.
static float follow_quantile(float value, float sample, float quantile)
{
    return value * (sample > value ? 1.0f + QUANTILE_STEP * quantile
                                   : 1.0f - QUANTILE_STEP * (1.0f - quantile));
}

void ph_motion_model_learn_pause(ph_motion_model* motion_model, float pause_s, float interval_s)
{
    const float intervals = pause_s / (interval_s + PH_INTERVAL_BASE_S);
    const float limit =
        follow_quantile(motion_model->interval_limit, intervals, INTERVAL_LIMIT_QUANTILE);
    motion_model->interval_limit = fminf(fmaxf(limit, INTERVAL_LIMIT_MIN), INTERVAL_LIMIT_MAX);
    const float usual_s =
        follow_quantile(motion_model->usual_pause_s, pause_s, USUAL_PAUSE_QUANTILE);
    motion_model->usual_pause_s = fminf(usual_s, USUAL_PAUSE_MAX_S);
}

void ph_motion_model_learn_newcomer(ph_motion_model* motion_model)
{
    motion_model->newcomers += 1.0f;
    if (motion_model->newcomers > NEWCOMERS_MAX) {
        motion_model->newcomers *= 0.5f;
        motion_model->movers *= 0.5f;
    }
}

void ph_motion_model_learn_second(ph_motion_model* motion_model, float pause_s, float forward_mm_s)
{
    if (pause_s <= MOVER_PAUSES * motion_model->usual_pause_s) {
        motion_model->first_pause_s =
            follow_quantile(motion_model->first_pause_s, pause_s, FIRST_PAUSE_QUANTILE);
        motion_model->movers = fminf(motion_model->movers + 1.0f, motion_model->newcomers);
        motion_model->forward_mm_s +=
            (forward_mm_s - motion_model->forward_mm_s) / fmaxf(motion_model->movers, 1.0f);
    }
}
