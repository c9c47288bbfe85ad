// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The server's time, as a client can know. Once per packet.

#include "motion/clock.h"

#include <math.h>

// Half a round trip before one was measured. Wrong by some 50 ms at worst on common links, for the
// few packets until the first measurement.
#define GUESSED_HALF_RTT_US 50000.0

// Packets that the average remembers, more or less. 8 let it wander twice as much; many more would be
// late when a way becomes longer in one direction.
#define MEMORY_PACKETS 48

// How well the offset is known before the first measurement: not at all.
#define OFFSET_FIRST_US 1e6
// Most clocks drift by less than 1e-4; one that is new to us may be worse. With 5e-3 a race on a good
// link is shown 0.4 % worse, because jitter of the first seconds is taken for drift; with 2e-4 a drift
// of 0.5 % costs it 12 % instead of 7.
#define DRIFT_FIRST 1e-3
// By so much it may change within a second, unnoticed.
#define DRIFT_PER_S 1e-5
// When it has changed: so much, or less.
#define DRIFT_CHANGED 2e-2
#define DRIFT_MAX 0.05

// It has changed when packets were beyond EXCESS_FREE deviations on the same side, by so much
// altogether (a CUSUM). With 0.75 and 5, noise alone does it once in a few hundred packets, and the
// clock is a third worse; with these it is as good as never, and a drift of 2 % is found after about a
// second.
#define EXCESS_FREE 1.0
#define EXCESS_MAX 6.0

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

// Without packets the drift is extrapolated for so long: 10 s. Within that even the largest, wrongly learned or
// over by now, puts the clock no further off than can be set right without a jump.
#define EXTRAPOLATED_MAX_US (JUMP_US / DRIFT_MAX)

static double clamp_offset(double value, double limit)
{
    return value < -limit ? -limit : value > limit ? limit : value;
}

static double passed_since_us(const ph_clock* clock, uint64_t now_us)
{
    return now_us > clock->since_us ? (double)(now_us - clock->since_us) : 0.0;
}

// The average, so long after the last packet.
static double extrapolated_offset(const ph_clock* clock, double passed_us)
{
    return clock->offset_us + clock->drift * fmin(passed_us, EXTRAPOLATED_MAX_US);
}

static double shown_offset(const ph_clock* clock, uint64_t now_us)
{
    const double passed_us = passed_since_us(clock, now_us);
    const double offset_us = extrapolated_offset(clock, passed_us);
    return clock->from_us + clamp_offset(offset_us - clock->from_us, SLEW * passed_us);
}

static void forget_offset(ph_clock* clock)
{
    clock->variance[0] = OFFSET_FIRST_US * OFFSET_FIRST_US;
    clock->variance[1] = 0.0;
    clock->excess[0] = 0.0;
    clock->excess[1] = 0.0;
    clock->is_measured = false;
}

static void set_offset(ph_clock* clock, uint64_t now_us, double offset_us)
{
    forget_offset(clock);
    clock->variance[2] = DRIFT_FIRST * DRIFT_FIRST;
    clock->offset_us = offset_us;
    clock->deviation_us = DEVIATION_FIRST_US;
    clock->from_us = offset_us;
    clock->since_us = now_us;
    clock->strays = 0;
    clock->has_begun = true;
}

// Half a round trip, by the server's clock. A packet with a measurement of its own uses that: what
// delayed it is then in both terms and cancels by half.
static double half_rtt_us(const ph_clock* clock, double rtt_us)
{
    const double whole_us = rtt_us >= 0.0         ? rtt_us
                            : clock->rtt_us > 0.0 ? clock->rtt_us
                                                  : 2.0 * GUESSED_HALF_RTT_US;
    return whole_us / 2.0 * (1.0 - clock->drift);
}

static void learn_rtt(ph_clock* clock, double rtt_us)
{
    if (rtt_us < 0.0) {
        return;
    }
    if (clock->rtt_us <= 0.0) {
        // All before was a guess: begin again, so that it does not weigh.
        forget_offset(clock);
        clock->rtt_us = rtt_us;
    }
    clock->rtt_us += (rtt_us - clock->rtt_us) / 8.0;
}

// Since the last packet: the offset goes on, and less is known of it. When nothing is known of it any more, it
// does not tell of the drift either; a covariance that was kept then would be too large for the variances.
static void pass_time(ph_clock* clock, double passed_us)
{
    const double wander_us = clock->deviation_us / MEMORY_PACKETS;
    const double change = DRIFT_PER_S * 1e-6 * passed_us;
    double* variance = clock->variance;
    clock->offset_us = extrapolated_offset(clock, passed_us);
    variance[0] += passed_us * (2.0 * variance[1] + passed_us * variance[2]);
    variance[0] += wander_us * wander_us;
    variance[1] += passed_us * variance[2];
    if (variance[0] > OFFSET_FIRST_US * OFFSET_FIRST_US) {
        variance[0] = OFFSET_FIRST_US * OFFSET_FIRST_US;
        variance[1] = 0.0;
    }
    variance[2] = fmin(variance[2] + change * change, DRIFT_CHANGED * DRIFT_CHANGED);
}

// Whether packets lie to one side, beyond what chance does.
static bool has_drift_changed(ph_clock* clock, double gap_us)
{
    const double off = clamp_offset(gap_us / clock->deviation_us, TRUSTED_DEVIATIONS);
    clock->excess[0] = fmax(0.0, clock->excess[0] + off - EXCESS_FREE);
    clock->excess[1] = fmax(0.0, clock->excess[1] - off - EXCESS_FREE);
    return clock->excess[0] > EXCESS_MAX || clock->excess[1] > EXCESS_MAX;
}

static void forget_drift(ph_clock* clock, double gap_us)
{
    clock->variance[0] += gap_us * gap_us;
    clock->variance[1] = 0.0;
    clock->variance[2] = DRIFT_CHANGED * DRIFT_CHANGED;
    clock->excess[0] = 0.0;
    clock->excess[1] = 0.0;
}

static void learn_deviation(ph_clock* clock, double gap_us)
{
    const double residual_us = fmin(fabs(gap_us), 8.0 * clock->deviation_us);
    clock->deviation_us += (residual_us - clock->deviation_us) / 16.0;
    clock->deviation_us = fmax(clock->deviation_us, DEVIATION_MIN_US);
}

static void learn_offset(ph_clock* clock, double offset_us)
{
    const double gap_us = offset_us - clock->offset_us;
    const bool is_first = !clock->is_measured;
    clock->is_measured = true;
    if (!is_first && has_drift_changed(clock, gap_us)) {
        forget_drift(clock, gap_us);
    }
    double* variance = clock->variance;
    const double noise_us2 = clock->deviation_us * clock->deviation_us;
    const double whole_us2 = variance[0] + noise_us2;
    const double offset_share = variance[0] / whole_us2;
    const double drift_share = variance[1] / whole_us2;
    // The first measurement replaces the guess; later ones are held against what is usual.
    const double trusted_us = TRUSTED_DEVIATIONS * clock->deviation_us;
    const double counted_us = is_first ? gap_us : clamp_offset(gap_us, trusted_us);
    clock->offset_us += offset_share * counted_us;
    clock->drift = clamp_offset(clock->drift + drift_share * counted_us, DRIFT_MAX);
    variance[2] -= drift_share * variance[1];
    variance[1] -= offset_share * variance[1];
    variance[0] -= offset_share * variance[0];
    if (!is_first) {
        learn_deviation(clock, gap_us);
    }
}

void ph_clock_add(ph_clock* clock, uint64_t now_us, double server_us, double rtt_us)
{
    const double offset_us = (double)now_us - server_us - half_rtt_us(clock, rtt_us);
    const double passed_us = passed_since_us(clock, now_us);
    const bool is_stray = fabs(offset_us - extrapolated_offset(clock, passed_us)) > JUMP_US;
    clock->strays = is_stray ? clock->strays + 1 : 0;
    if (!clock->has_begun || clock->strays == STRAYS_MAX) {
        set_offset(clock, now_us, offset_us);
    } else {
        clock->from_us = shown_offset(clock, now_us);
        pass_time(clock, passed_us);
    }
    clock->since_us = now_us > clock->since_us ? now_us : clock->since_us;
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
