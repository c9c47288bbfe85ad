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

// Intervals shorter than a tenth of a second hang on the sender's rhythm, not on the entity.
#define INTERVAL_BASE_S 0.1f
#define PATIENCE_FIRST 3.0f
#define PATIENCE_MIN 1.2f
#define PATIENCE_MAX 20.0f
#define PATIENCE_QUANTILE 0.99f
#define FIRST_PAUSE_FIRST_S 2.0f
#define FIRST_PAUSE_MAX_S 20.0f
#define FIRST_PAUSE_QUANTILE 0.9f
#define QUANTILE_STEP 0.1f

#define FORWARD_MEMORY 50
#define FORWARD_PRIOR 5.0f

ph_manner ph_manner_make(void)
{
    return (ph_manner){.patience = PATIENCE_FIRST, .first_pause_s = FIRST_PAUSE_FIRST_S};
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

float ph_manner_limit_s(const ph_manner* manner, float interval_s)
{
    return manner->patience * (interval_s + INTERVAL_BASE_S);
}

float ph_manner_forward(const ph_manner* manner)
{
    const float count = (float)manner->forward_count;
    return manner->forward_mm_s * (count / (count + FORWARD_PRIOR));
}

// ---- learning

void ph_manner_learn_way(ph_manner* manner, const float promised_mm[3], const float gone_mm[3],
                         float pause_s)
{
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

void ph_manner_learn_pause(ph_manner* manner, float pause_s, float interval_s)
{
    const float intervals = pause_s / (interval_s + INTERVAL_BASE_S);
    const float patience = follow_quantile(manner->patience, intervals, PATIENCE_QUANTILE);
    manner->patience = fminf(fmaxf(patience, PATIENCE_MIN), PATIENCE_MAX);
}

void ph_manner_learn_first_pause(ph_manner* manner, float pause_s)
{
    const float longer = follow_quantile(manner->first_pause_s, pause_s, FIRST_PAUSE_QUANTILE);
    manner->first_pause_s = fminf(longer, FIRST_PAUSE_MAX_S);
}

void ph_manner_learn_forward(ph_manner* manner, float speed_mm_s)
{
    if (manner->forward_count < FORWARD_MEMORY) {
        ++manner->forward_count;
    }
    manner->forward_mm_s += (speed_mm_s - manner->forward_mm_s) / (float)manner->forward_count;
}
