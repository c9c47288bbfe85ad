// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The last PH_FLIGHT_MAX packet numbers: when each came, what its tick was, which eye it carried.
// From these come the eye of a horizon, the whole tick behind its low bits, and the round trip. A
// ring by number; a horizon is never further back than it reaches.
//
//   number      87     88     89     90     91
//   time_us   1.000   lost  1.400  1.600  1.800
//   eye          A      .      .      B      .        horizon 87..89: A, 90 and 91: B
//
// Once per packet.

#ifndef PH_CLIENT_ARRIVALS_H
#define PH_CLIENT_ARRIVALS_H

#include "wire/header.h"

#include <pinhole/packet.h>

typedef struct ph_known_eye {
    int32_t mm[3];
    bool is_known;
} ph_known_eye;

// {0} is a number never heard of.
typedef struct ph_arrival {
    uint64_t time_us;
    uint32_t tick;
    ph_known_eye eye; // that it carried
    bool is_heard;
    bool is_applied;
} ph_arrival;

typedef struct ph_arrivals {
    ph_arrival ring[PH_FLIGHT_MAX]; // by number modulo PH_FLIGHT_MAX
    uint32_t newest;                // number heard of
    ph_known_eye older_eye;         // of the newest packet with one that the ring has lost
    uint32_t older_tick;            // of the newest applied packet that the ring has lost
    bool has_older_tick;
    ph_arrival last; // the newest applied one, however long ago
    double rtt_us;   // smoothed; 0 before the first measurement
} ph_arrivals;

// Numbers begin behind the session's.
ph_arrivals ph_arrivals_make(uint32_t session);

// The eye that the newest applied packet with one carried, at or before the horizon, which is not
// behind the ring. Unknown if there was none.
ph_known_eye ph_arrivals_eye(const ph_arrivals* arrivals, uint32_t horizon);

// The tick nearest to what our own clock expects that ends in these bits. The first packet has
// nothing to go by and stands for 0..2047.
uint32_t ph_arrivals_tick(const ph_arrivals* arrivals, uint64_t now_us, uint32_t tick_us,
                          uint16_t low_bits);

// The tick of a pinhole packet, which no clock of ours may touch, because positions are read by it:
// counted from that of the newest packet applied at or before the horizon, or told as a whole when
// there is none, or when it is further than the field reaches.
// @return False for what no server says: told as a whole without need, not at all, or before the
// tick of the newest packet.
bool ph_arrivals_try_coded_tick(const ph_arrivals* arrivals, const ph_header* header,
                                uint32_t* tick);

// A number newer than all was heard of, at most PH_FLIGHT_MAX ahead.
void ph_arrivals_note(ph_arrivals* arrivals, uint32_t number, const ph_arrival* arrival);

// Learns the round trip from an applied packet: from the arrival of the horizon, which is when we
// acknowledged it, to now, less what the server says our acknowledgement waited there. Before the
// packet itself is noted.
// @return This measurement in us, or -1 when there was nothing to measure.
double ph_arrivals_measure(ph_arrivals* arrivals, uint64_t now_us, uint32_t horizon, uint8_t wait);

bool ph_arrivals_validate(const ph_arrivals* arrivals);

#endif
