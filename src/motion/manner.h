// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How the entities of one class move, as one client learns it from their samples: how far ahead a
// velocity is worth following, how long a silence must last to mean that somebody stands, how fast
// a newcomer is that has shown nothing but its heading. Walkers keep their way for seconds, cars on
// a field for half a second; and whether the sender is silent because nothing moves or because it
// has no bits left, only its rhythm tells. A few dozen numbers for each class, some arithmetic for
// each sample.

#ifndef PH_MOTION_MANNER_H
#define PH_MOTION_MANNER_H

#include <pinhole/base.h>

// Intervals shorter than a tenth of a second hang on the sender's rhythm, not on the entity.
#define PH_INTERVAL_BASE_S 0.1f
// Of senders that vouch for velocities. With silence taken for standing walkers at 4 kbit/s with a
// fifth of the packets lost, of whom nothing is heard for seconds, had 9.3 jolts a minute; with 4 s
// 6.9, 8 s 2.8, 15 s or for ever 2.5.
#define PH_VOUCHED_LIMIT_S 15.0f

// Ages from 1/8 s, doubling: 1/8, 1/4 ... 8 s.
#define PH_MANNER_AGES 7

typedef struct ph_manner {
    // By age: how much of the way that the last velocity promised was gone, as a sum of products
    // over a sum of squares. Old samples fade.
    float gone[PH_MANNER_AGES];
    float promised[PH_MANNER_AGES];
    float patience;      // 99 of 100 samples come within so many intervals of the last one
    float usual_pause_s; // 9 of 10 samples come within so long of the last one
    float first_pause_s; // 9 of 10 newcomers that move show their second sample within
    float forward_mm_s;  // speed of newcomers along the heading, on average
    float newcomers;     // that entered; old ones fade
    float movers;        // of these: with a second sample within the usual pause
    // The sender vouches for velocities: it is silent as long as they hold, and tells who stands. So
    // samples are no fair witnesses of them, and silence says nothing: velocities are followed in
    // full, and for longer than any silence but that of a dead link.
    bool is_vouched;
} ph_manner;

// Knows nothing yet: follows velocities in full.
ph_manner ph_manner_make(void);

// The share of a velocity to follow to reach an age, 0..1.1.
float ph_manner_share(const ph_manner* manner, float age_s);

// How long after a sample, which came interval_s after the one before, its entity still moves.
static inline float ph_manner_limit_s(const ph_manner* manner, float interval_s)
{
    return manner->is_vouched ? PH_VOUCHED_LIMIT_S
                              : manner->patience * (interval_s + PH_INTERVAL_BASE_S);
}

// The velocity along its heading to expect of a newcomer; 0 unless most of them move.
float ph_manner_forward(const ph_manner* manner);

// What a new sample teaches.

// promised_mm: the last velocity times pause_s, the time since the last sample; gone_mm: the way
// that was really gone.
void ph_manner_learn_way(ph_manner* manner, const float promised_mm[3], const float gone_mm[3],
                         float pause_s);
void ph_manner_learn_pause(ph_manner* manner, float pause_s, float interval_s);
// Somebody entered; and its second sample came: how long after, how fast it went along its heading.
// Who took longer than usual stood at first.
void ph_manner_learn_newcomer(ph_manner* manner);
void ph_manner_learn_second(ph_manner* manner, float pause_s, float forward_mm_s);

#endif
