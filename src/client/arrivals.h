// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The last PH_FLIGHT_MAX packet numbers: when each was answered, what its tick was, which eye it
// carried. From these come the eye of a horizon, the whole tick behind its low bits, and the round trip. A
// ring by number; a horizon is never further back than it reaches.
//
//   number      87     88     89     90     91
//   time_us   1.000   lost  1.400  1.600  1.800
//   eye          A      .      .      B      .        horizon 87..89: A, 90 and 91: B
//
// Once per packet.

#ifndef PH_CLIENT_ARRIVALS_H
#define PH_CLIENT_ARRIVALS_H

#include "wire/ack.h"
#include "wire/header.h"

#include <pinhole/packet.h>

typedef struct ph_known_eye {
    int32_t mm[3];
    bool is_known;
} ph_known_eye;

// {0} is a number never heard of.
typedef struct ph_arrival {
    uint64_t time_us;     // when it came
    uint64_t answered_us; // when an acknowledgement first named it as the newest; is_answered only
    uint64_t tick;        // the wire has its low bits; ours never wraps
    ph_known_eye eye;     // that it carried
    bool is_heard;
    bool is_applied;
    bool is_answered;
    bool is_asked_again; // a probe came once more after the answer: which one counts, nobody knows
    bool is_rare;        // nothing had come for a while before it
    bool is_repeated;    // was answered more than once since it was last asked
} ph_arrival;

typedef struct ph_arrivals {
    ph_arrival ring[PH_FLIGHT_MAX]; // by number modulo PH_FLIGHT_MAX
    ph_receipt receipt;             // the newest heard of, and what we say of it
    uint64_t number_count;          // that there were, from the session's on
    ph_known_eye older_eye;         // of the newest packet with one that the ring has lost
    uint64_t older_tick;            // of the newest applied packet that the ring has lost
    bool has_older_tick;
    ph_arrival last;   // the newest applied one, however long ago
    uint64_t heard_us; // when the newest number came
} ph_arrivals;

// Numbers begin behind the session's.
ph_arrivals ph_arrivals_make(uint32_t session);

// The eye that the newest applied packet with one carried, at or before the horizon, which is not
// behind the ring. Unknown if there was none.
ph_known_eye ph_arrivals_eye(const ph_arrivals* arrivals, uint32_t horizon);

// The tick nearest to what our own clock expects that ends in these bits, but none before that of the
// last applied packet: packets are applied in the order in which they were sent. The first packet
// has nothing to go by and stands for 0..2047.
uint64_t ph_arrivals_tick(const ph_arrivals* arrivals, uint64_t now_us, uint32_t tick_us,
                          uint16_t low_bits);

// The tick of a pinhole packet, which no clock of ours may touch, because positions are read by it:
// counted from that of the newest packet applied at or before the horizon, or told as a whole when
// there is none, or when it is further than the field reaches.
// @return False for what no server says: told as a whole without need, not at all, or before the
// tick of the newest packet.
bool ph_arrivals_try_coded_tick(const ph_arrivals* arrivals, const ph_header* header,
                                uint64_t* tick);

// A number newer than all was heard of, at most PH_FLIGHT_MAX ahead.
void ph_arrivals_note(ph_arrivals* arrivals, uint32_t number, const ph_arrival* arrival);

// The newest number is heard of again, from a probe that was not answered, or whose answer was lost.
void ph_arrivals_note_again(ph_arrivals* arrivals);

// An acknowledgement leaves now; it names the newest number. @return How long after the first that
// did, as an ack has it.
uint8_t ph_arrivals_answer(ph_arrivals* arrivals, uint64_t now_us);

// When the next one should leave: at once if the newest number is not answered, and a little later
// once more if packets come seldom. UINT64_MAX: there is nothing to say.
uint64_t ph_arrivals_answer_due_us(const ph_arrivals* arrivals);

// The round trip as an applied packet tells it: from the acknowledgement that first named its horizon
// to now, less what the server says that this waited there. Before the packet itself is noted.
// @return In us, or PH_CLOCK_NO_RTT when there is nothing to measure.
double ph_arrivals_measure(const ph_arrivals* arrivals, uint64_t now_us, uint32_t horizon,
                           uint8_t wait);

bool ph_arrivals_validate(const ph_arrivals* arrivals);

#endif
