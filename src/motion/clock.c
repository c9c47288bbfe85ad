// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The server's time, as a client can know. Once per packet.

#include "motion/clock.h"

#include <math.h>

// Half a round trip before one was measured. Wrong by some 50 ms at worst on common links, for the
// few packets until the first measurement.
#define GUESSED_HALF_RTT_US 50000.0

// Packets that the average remembers, more or less. 8 let it wander twice as much; 128 would follow
// a drift of 100 ppm 2.5 ms late at 5 packets a second.
#define MEMORY_PACKETS 32

// A packet counts as if it were no further from the average than so many deviations: one that came
// 300 ms late moves the clock like one that was 20 ms late. A lasting change of the network soon
// makes the deviation large, and is followed.
#define TRUSTED_DEVIATIONS 3.0
#define DEVIATION_MIN_US 1000.0
#define DEVIATION_FIRST_US 10000.0

// What is shown runs at most so much faster or slower than real time ...
#define SLEW 0.1
// ... but a clock that is wrong by more than this, as so many packets in a row say, is set: the
// program was suspended, or its clock was set.
#define JUMP_US 500000.0
#define STRAYS_MAX 3

static double clamp_offset(double value, double limit)
{
    return value < -limit ? -limit : value > limit ? limit : value;
}

static double shown_offset(const ph_clock* clock, uint64_t now_us)
{
    const double passed_us = now_us > clock->since_us ? (double)(now_us - clock->since_us) : 0.0;
    return clock->from_us + clamp_offset(clock->offset_us - clock->from_us, SLEW * passed_us);
}

static void set_offset(ph_clock* clock, uint64_t now_us, double offset_us)
{
    clock->offset_us = offset_us;
    clock->deviation_us = DEVIATION_FIRST_US;
    clock->from_us = offset_us;
    clock->since_us = now_us;
    clock->count = 0;
    clock->strays = 0;
    clock->has_begun = true;
}

// Half a round trip. A packet with a measurement of its own uses that: what delayed it
// is then in both terms and cancels by half.
static double half_rtt_us(const ph_clock* clock, double rtt_us)
{
    if (rtt_us >= 0.0) {
        return rtt_us / 2.0;
    }
    return clock->rtt_us > 0.0 ? clock->rtt_us / 2.0 : GUESSED_HALF_RTT_US;
}

static void learn_rtt(ph_clock* clock, double rtt_us)
{
    if (rtt_us < 0.0) {
        return;
    }
    if (clock->rtt_us <= 0.0) {
        // All before was a guess: begin again, so that it does not weigh.
        clock->count = 0;
        clock->rtt_us = rtt_us;
    }
    clock->rtt_us += (rtt_us - clock->rtt_us) / 8.0;
}

static void learn_offset(ph_clock* clock, double offset_us)
{
    const double gap_us = offset_us - clock->offset_us;
    if (clock->count < MEMORY_PACKETS) {
        ++clock->count;
    }
    const double share = 1.0 / clock->count;
    // The first measurement replaces the guess; later ones are held against what is usual.
    const double trusted_us = TRUSTED_DEVIATIONS * clock->deviation_us;
    clock->offset_us += share * (clock->count == 1 ? gap_us : clamp_offset(gap_us, trusted_us));
    if (clock->count > 1) {
        const double residual_us = fmin(fabs(gap_us), 8.0 * clock->deviation_us);
        clock->deviation_us += (residual_us - clock->deviation_us) / 16.0;
        clock->deviation_us = fmax(clock->deviation_us, DEVIATION_MIN_US);
    }
}

void ph_clock_add(ph_clock* clock, uint64_t now_us, double server_us, double rtt_us)
{
    const double offset_us = (double)now_us - server_us - half_rtt_us(clock, rtt_us);
    const bool is_stray = fabs(offset_us - clock->offset_us) > JUMP_US;
    clock->strays = is_stray ? clock->strays + 1 : 0;
    if (!clock->has_begun || clock->strays == STRAYS_MAX) {
        set_offset(clock, now_us, offset_us);
    }
    clock->from_us = shown_offset(clock, now_us);
    clock->since_us = now_us;
    learn_rtt(clock, rtt_us);
    learn_offset(clock, offset_us);
}

uint64_t ph_clock_clamp_us(uint64_t now_us)
{
    return now_us < (uint64_t)PH_TIME_US_MAX ? now_us : (uint64_t)PH_TIME_US_MAX;
}

double ph_clock_server_us(const ph_clock* clock, uint64_t now_us)
{
    return clock->has_begun ? (double)now_us - shown_offset(clock, now_us) : 0.0;
}
