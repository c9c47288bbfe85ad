// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How the entities of one class move. Once per sample, and two questions per entity and frame.

#include "motion/manner.h"

#include <math.h>

#define FIRST_AGE_S 0.125f

// Samples count by the length of the way, not by its square (else the fastest would decide), and
// less when they surprise. Below this all is noise of the coding.
#define NOISE_MM 20.0f
// What is known before the first sample: as much as a few of them, and velocities are to be
// followed.
#define PRIOR 5.0f
#define FADING 0.99f
// Who speeds up does so for a while.
#define SHARE_MAX 1.1f

#define PATIENCE_FIRST 3.0f
#define PATIENCE_MIN 1.2f
#define PATIENCE_MAX 20.0f
#define PATIENCE_QUANTILE 0.99f
#define USUAL_PAUSE_FIRST_S 0.5f
#define USUAL_PAUSE_MAX_S 20.0f
#define USUAL_PAUSE_QUANTILE 0.9f
#define QUANTILE_STEP 0.1f

// A newcomer whose second sample came later than so many usual pauses stood when it entered.
#define MOVER_PAUSES 3.0f
#define FIRST_PAUSE_FIRST_S 1.0f
#define FIRST_PAUSE_QUANTILE 0.9f
// Newcomers remembered. Those that stand are never heard of again, so movers must not be counted
// alone: below the first share of movers all are taken to stand, above the second all to move.
// Without this a town where most stand had four times the error.
#define NEWCOMERS_MAX 64.0f
#define MOVERS_FEW 0.5f
#define MOVERS_MANY 0.75f

ph_manner ph_manner_make(void)
{
    return (ph_manner){.patience = PATIENCE_FIRST,
                       .usual_pause_s = USUAL_PAUSE_FIRST_S,
                       .first_pause_s = FIRST_PAUSE_FIRST_S};
}

// ---- questions

static float share_at(const ph_manner* manner, int i)
{
    const float share = (manner->gone[i] + PRIOR) / (manner->promised[i] + PRIOR);
    return fminf(fmaxf(share, 0.0f), SHARE_MAX);
}

// Where an age lies among those kept: 0..PH_MANNER_AGES-1, straight between two powers of two.
static float place(float age_s)
{
    if (!(age_s > FIRST_AGE_S)) {
        return 0.0f;
    }
    int exponent;
    const float mantissa = frexpf(age_s / FIRST_AGE_S, &exponent);
    const float at = (float)exponent - 2.0f + 2.0f * mantissa;
    return fminf(at, (float)(PH_MANNER_AGES - 1));
}

float ph_manner_share(const ph_manner* manner, float age_s)
{
    const float at = place(age_s);
    const int i = (int)at;
    if (i >= PH_MANNER_AGES - 1) {
        return share_at(manner, PH_MANNER_AGES - 1);
    }
    const float low = share_at(manner, i);
    return low + (share_at(manner, i + 1) - low) * (at - (float)i);
}

float ph_manner_forward(const ph_manner* manner)
{
    const float share = manner->movers / fmaxf(manner->newcomers, 1.0f);
    const float trust = (share - MOVERS_FEW) / (MOVERS_MANY - MOVERS_FEW);
    return manner->forward_mm_s * fminf(fmaxf(trust, 0.0f), 1.0f);
}

// ---- learning

void ph_manner_learn_way(ph_manner* manner, const float promised_mm[3], const float gone_mm[3],
                         float pause_s)
{
    if (manner->is_vouched) {
        return;
    }
    const float share = ph_manner_share(manner, pause_s);
    float products = 0.0f;
    float squares = 0.0f;
    float misses = 0.0f;
    for (int k = 0; k < 3; ++k) {
        const float miss = gone_mm[k] - share * promised_mm[k];
        products += gone_mm[k] * promised_mm[k];
        squares += promised_mm[k] * promised_mm[k];
        misses += miss * miss;
    }
    if (!isfinite(products) || !isfinite(squares) || !isfinite(misses)) {
        return; // a speed of no world; what is learned from it would stay for ever
    }
    const float weight = 1.0f / ((sqrtf(misses) + NOISE_MM) * (sqrtf(squares) + NOISE_MM));
    const int i = (int)(place(pause_s) + 0.5f);
    manner->gone[i] = manner->gone[i] * FADING + weight * products;
    manner->promised[i] = manner->promised[i] * FADING + weight * squares;
}

// A step up when a sample lies above, a small one down when below: settles where the quantile is,
// and needs no memory of samples.
static float follow_quantile(float value, float sample, float quantile)
{
    return value * (sample > value ? 1.0f + QUANTILE_STEP * quantile
                                   : 1.0f - QUANTILE_STEP * (1.0f - quantile));
}

static void learn_usual_pause(ph_manner* manner, float pause_s)
{
    const float usual_s = follow_quantile(manner->usual_pause_s, pause_s, USUAL_PAUSE_QUANTILE);
    manner->usual_pause_s = fminf(usual_s, USUAL_PAUSE_MAX_S);
}

void ph_manner_learn_pause(ph_manner* manner, float pause_s, float interval_s)
{
    const float intervals = pause_s / (interval_s + PH_INTERVAL_BASE_S);
    const float patience = follow_quantile(manner->patience, intervals, PATIENCE_QUANTILE);
    manner->patience = fminf(fmaxf(patience, PATIENCE_MIN), PATIENCE_MAX);
    learn_usual_pause(manner, pause_s);
}

void ph_manner_learn_newcomer(ph_manner* manner)
{
    manner->newcomers += 1.0f;
    if (manner->newcomers > NEWCOMERS_MAX) {
        manner->newcomers *= 0.5f;
        manner->movers *= 0.5f;
    }
}

void ph_manner_learn_second(ph_manner* manner, float pause_s, float forward_mm_s)
{
    if (pause_s <= MOVER_PAUSES * manner->usual_pause_s) {
        manner->first_pause_s =
            follow_quantile(manner->first_pause_s, pause_s, FIRST_PAUSE_QUANTILE);
        manner->movers = fminf(manner->movers + 1.0f, manner->newcomers);
        manner->forward_mm_s += (forward_mm_s - manner->forward_mm_s) / fmaxf(manner->movers, 1.0f);
    }
}
