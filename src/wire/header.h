// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What stands at the front of a classic packet: 68 bits, then what they announce.
//
//   number    32   of this packet; a probe names the newest one sent, which it is not itself
//   horizon    7   1..64: number - horizon, the newest number up to which the sender knows
//                  everybody's fate; 0: a probe; 126: a probe, 127: a packet, with a hello, whose
//                  horizon is the session's number
//   tick      11   low bits of the world's tick; the client knows the rest by its own clock
//   wait       5   how long the newest ack had lain at the sender when this packet left, in units
//                  of 8 ms; 31: longer, or no ack yet. The client learns its round trip from it: from
//                  its ack of the horizon to this packet, less the wait
//   eye        1   1: full coordinates of the eye follow; 0: the eye of the horizon
//   leaves     6   how many leaves follow
//   enters     6   how many enters follow the leaves; updates fill the rest
//   [hello]        version 8, slot count 16, tick length in us 32, session 32, fingerprint 64
//   [eye]          x, y, z 32 each
//
// Once per packet; nothing allocates.

#ifndef PH_WIRE_HEADER_H
#define PH_WIRE_HEADER_H

#include <pinhole/bits.h>
#include <pinhole/packet.h>

#define PH_HEADER_BITS 68
#define PH_HELLO_BITS 152
#define PH_EYE_BITS 96
#define PH_HEADER_COUNT_MAX 63 // of leaves, and of enters
#define PH_CLASSIC_VERSION 1
#define PH_TICK_BITS 11
#define PH_WAIT_UNIT_US 8000
#define PH_WAIT_UNKNOWN 31

typedef struct ph_hello {
    uint64_t fingerprint;
    uint32_t session;
    uint32_t tick_us;
    uint16_t slot_count;
    uint8_t version;
    uint16_t precision; // pinhole profile, see ph_coded_frame; classic: 0
} ph_hello;

typedef struct ph_header {
    uint32_t number;
    uint32_t horizon;    // with a hello: the session's number; of a probe without: number
    uint16_t tick;       // 0..2047
    uint32_t whole_tick; // pinhole profile, see coded_header.h; classic: 0
    uint8_t wait;        // 0..PH_WAIT_UNKNOWN
    uint8_t density;     // pinhole profile, see ph_coded_best_density(); classic: 0
    bool is_probe;
    bool has_hello;
    bool has_eye;
    int leave_count;
    int enter_count;
    ph_hello hello;
    int32_t eye_mm[3];
} ph_header;

// Exact.
int ph_header_bits(const ph_header* header);
void ph_header_write(const ph_header* header, ph_bit_writer* writer);

// Fails the reader for what no sender writes: reserved horizons, a probe with an eye or records, a
// hello whose number is not 1..PH_FLIGHT_MAX ahead of its session, whose tick length is not
// 1,000..10,000,000 us or whose slot count is below 2. *header is {0} then. Of a
// hello of another version nothing is read but the version, and nothing is checked. Nothing may follow
// a probe; whoever reads on finds that out with ph_bit_reader_finish().
void ph_header_read(ph_bit_reader* reader, ph_header* header);

#endif
