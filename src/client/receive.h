// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client remembers of the packets that came. The last PH_FLIGHT_MAX sequences: when each
// was acked, what its tick was, which eye it carried. From these come the eye of a horizon, the whole
// tick behind its low bits, and the round trip. A ring by sequence; a horizon is never further back
// than it reaches.
//
//   sequence    87     88     89     90     91
//   time_us   1.000   lost  1.400  1.600  1.800
//   eye          A      .      .      B      .        horizon 87..89: A, 90 and 91: B
//
// Once per packet.

#ifndef PH_CLIENT_RECEIVE_H
#define PH_CLIENT_RECEIVE_H

#include "packet/header.h"

#include <pinhole/packet.h>

typedef struct ph_known_eye {
    int32_t mm[3];
    bool is_known;
} ph_known_eye;

// {0} is a sequence that never came.
typedef struct ph_arrival {
    uint64_t time_us;  // when it came
    uint64_t acked_us; // when an ack first named it as the newest; is_acked only
    uint64_t tick;     // the wire has its low bits; ours never wraps
    ph_known_eye eye;  // that it carried
    bool is_heard;
    bool is_applied;
    bool is_acked;
    bool is_probed_again; // the same probe came after the ack: the round trip is ambiguous
    bool is_rare;         // nothing had come for a while before it
    bool is_reacked;      // was acked more than once since it last came
} ph_arrival;

typedef struct ph_arrivals {
    ph_arrival ring[PH_FLIGHT_MAX]; // by sequence modulo PH_FLIGHT_MAX
    ph_receipt receipt;             // the newest sequence, and what an ack says of it
    uint64_t sequence_count;        // that there were, from the session's on
    ph_known_eye older_eye;         // of the newest packet with one that the ring has lost
    uint64_t older_tick;            // of the newest applied packet that the ring has lost
    bool has_older_tick;
    ph_arrival last;   // the newest applied one, however long ago
    uint64_t heard_us; // when the newest sequence came
} ph_arrivals;

// What the first hello said, and which packets came since. {0} before.
typedef struct ph_session {
    bool has_begun;
    ph_hello hello;
    int slot_bits;
    uint32_t horizon; // the newest that a packet stated; it never goes back
    ph_arrivals arrivals;
} ph_session;

// Payload by whole seconds.
typedef struct ph_receive_rate {
    uint64_t second;
    uint64_t bytes;      // in it so far
    uint64_t last_bytes; // in the one before
} ph_receive_rate;

// Sequences begin after the session's.
void ph_arrivals_init(ph_arrivals* arrivals, uint32_t session);

// The eye that the newest applied packet with one carried, at or before the horizon, which is not
// behind the ring. Unknown if there was none.
ph_known_eye ph_arrivals_eye(const ph_arrivals* arrivals, uint32_t horizon);

// The tick of a classic packet: the one nearest to what our own clock expects that ends in these bits,
// but none before that of the last applied packet, because packets are applied in the order in which
// they were sent. The first packet has nothing to compare with and stands for 0..2047.
uint64_t ph_arrivals_classic_tick(const ph_arrivals* arrivals, uint64_t now_us, uint32_t tick_us,
                                  uint16_t low_bits);

// The tick of a pinhole packet, which must not depend on any clock, because positions are read by it:
// counted from that of the newest packet applied at or before the horizon, or stated as a whole when
// there is none, or when it is further than the field reaches.
// @return False for what no server writes: stated as a whole without need, not at all, or before the
// tick of the newest packet.
bool ph_arrivals_try_pinhole_tick(const ph_arrivals* arrivals, const ph_header* header,
                                  uint64_t* tick);

// A sequence newer than all came, at most PH_FLIGHT_MAX ahead.
void ph_arrivals_add(ph_arrivals* arrivals, uint32_t sequence, const ph_arrival* arrival);

// The newest sequence came again: a probe that was not acked, or whose ack was lost.
void ph_arrivals_add_again(ph_arrivals* arrivals);

// An ack leaves now; it names the newest sequence. @return How long after the first that did, as an
// ack has it.
uint8_t ph_arrivals_ack(ph_arrivals* arrivals, uint64_t now_us);

// When the next ack should leave: at once if the newest sequence is not acked, and a little later
// once more if packets come seldom. UINT64_MAX: there is nothing to ack.
uint64_t ph_arrivals_ack_due_us(const ph_arrivals* arrivals);

// The round trip as an applied packet shows it: from the ack that first named its horizon to now, less
// what the server says that this waited there. Before the packet itself is added.
// @return In us, or PH_CLOCK_NO_RTT when there is nothing to measure.
double ph_arrivals_rtt_us(const ph_arrivals* arrivals, uint64_t now_us, uint32_t horizon,
                          uint8_t wait);

// Whether a sequence that is not newer than all comes late: it was not heard of. late_us: since when a
// newer one had come.
bool ph_arrivals_is_late(const ph_arrivals* arrivals, uint32_t sequence, uint64_t now_us,
                         uint64_t* late_us);

bool ph_arrivals_validate(const ph_arrivals* arrivals);

#endif
