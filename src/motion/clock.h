// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What time it is at the server, as a client can know: each packet says when it left (its tick), our
// own clock says when it came, and now and then there is a round trip, half of which is the
// time that the packet took.
//
//   packet came at        1.260   1.455   1.671  ...    ours
//   it had left at        7.200   7.400   7.600         the server's
//   less half a round trip  .055    .052    .061
//   offset               -5.995  -5.997  -5.990         ours - the server's: what is averaged
//
// One packet's offset is wrong by half the difference of what the network delayed it and our ack,
// some 4 ms on a link with 20 ms of jitter. The average forgets (over some 48 packets), and single
// packets that come much too late hardly count.
//
// Clocks drift apart. How fast is learned with the offset, by a Kalman filter of two states, and the
// offset goes on at that speed between packets, for ten seconds at most. A drift of some 100 ppm is
// learned slowly, so that jitter does not disturb it. When packets lie to one side of what is expected,
// one after the other, the drift has changed (a clock that runs 2 % fast, a server that ticks slower than
// it says): the filter forgets what it knew of it, and learns it anew from a few packets.
//
// What is shown follows the average at a limited speed: a clock that jumps makes everything that
// moves jump. Once per packet; asking costs a few instructions.

#ifndef PH_MOTION_CLOCK_H
#define PH_MOTION_CLOCK_H

#include <pinhole/base.h>

// Times of either end lie within this much of 0, some 146,000 years, so that no difference of two
// overflows.
#define PH_TIME_US_MAX (INT64_C(1) << 62)

// A time of ours within PH_TIME_US_MAX.
uint64_t ph_clock_clamp_us(uint64_t now_us);

// For ph_clock_add(): no round trip was measured.
#define PH_CLOCK_NO_RTT (-1.0)

// {0} has no packet yet. Offsets are our time less the server's, in us.
typedef struct ph_clock {
    double offset_us;    // the average, when the last packet came
    double drift;        // what it changes by, in us per us of our time
    double variance[3];  // of the offset (us2), of both together (us), of the drift
    double excess[2];    // by how many deviations packets came too late, and too early, lately
    double deviation_us; // of single packets from what was expected, on average
    double rtt_us;       // smoothed; 0 before the first measurement
    double from_us;      // shown offset when the last packet came ...
    uint64_t since_us;   // ... and when that was; from there it goes towards the average
    uint32_t strays;     // the last so many were wrong by more than half a second
    bool has_begun;
    bool is_measured; // by at least one packet since it was set, or since the first round trip
} ph_clock;

// A packet that left the server at server_us has come. Packets come in the order they were sent.
// @param rtt_us A round trip measured with this packet, or PH_CLOCK_NO_RTT.
void ph_clock_add(ph_clock* clock, uint64_t now_us, double server_us, double rtt_us);

// The server's time at a time of ours. Never earlier than it said for an earlier time, unless
// several packets in a row say that it is wrong by more than half a second. Before the first packet 0.
double ph_clock_server_us(const ph_clock* clock, uint64_t now_us);

#endif
