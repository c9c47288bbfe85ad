// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What stands at the front of a classic packet: 68 bits, then what they announce.
//
//   sequence  32   of this packet; a probe names the newest one sent, which it is not itself
//   horizon    7   1..64: sequence - horizon, the newest sequence up to which the sender knows
//                  the fate of all; 0: a probe; 126: a probe, 127: a packet, with a hello, whose
//                  horizon is the session's sequence
//   tick      11   low bits of the world's tick; the client knows the rest by its own clock
//   wait       5   how long the newest ack had waited at the sender when this packet left, in units
//                  of 8 ms; 31: longer, or no ack yet. The client learns its round trip from it: from
//                  its ack of the horizon to this packet, less the wait
//   eye        1   1: full coordinates of the eye follow; 0: the eye of the horizon
//   leaves     6   how many leaves follow
//   enters     6   how many enters follow the leaves; updates fill the rest
//   [hello]        version 8, slot count 16, tick length in us 32, session 32, fingerprint 64
//   [eye]          x, y, z 32 each
//
// Once per packet; nothing allocates.

#ifndef PH_PACKET_HEADER_H
#define PH_PACKET_HEADER_H

#include <pinhole/bits.h>
#include <pinhole/packet.h>

#define PH_HEADER_BITS 68
#define PH_HELLO_BITS 152
#define PH_EYE_BITS 96
#define PH_HEADER_COUNT_MAX 63 // of leaves, and of enters
#define PH_CLASSIC_VERSION PH_WIRE_VERSION_CLASSIC
#define PH_TICK_BITS 11
#define PH_WAIT_UNIT_US 8000
#define PH_WAIT_UNKNOWN 31

typedef struct ph_hello {
    uint64_t fingerprint;
    uint32_t session;
    uint32_t tick_us;
    uint16_t slot_count;
    uint8_t version;
    uint16_t precision; // pinhole profile, see ph_pinhole_frame; classic: 0
} ph_hello;

typedef struct ph_header {
    uint32_t sequence;
    uint32_t horizon;    // with a hello: the session's sequence; of a probe without: sequence
    uint16_t tick;       // 0..2047
    uint32_t whole_tick; // pinhole profile, see below; classic: 0
    uint8_t wait;        // 0..PH_WAIT_UNKNOWN
    uint8_t density;     // pinhole profile, see ph_pinhole_best_density(); classic: 0
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
// hello whose sequence is not 1..PH_FLIGHT_MAX ahead of its session, whose tick length is not
// 1,000..10,000,000 us or whose slot count is below 2. *header is {0} then. Of a
// hello of another version nothing is read but the version, and nothing is checked. Nothing may follow
// a probe: ph_bit_reader_finish() finds that out.
void ph_header_read(ph_bit_reader* reader, ph_header* header);

#define PH_HORIZON_BITS 7
#define PH_WAIT_BITS 5

// How many bits a slot takes, in both profiles.
int ph_slot_bits(int slot_count);

// What stands at the front of a pinhole packet, all of it raw bits: 46 of them without enters and
// leaves.
//
//   sequence  16   low bits; the client knows the rest from the newest sequence that it has heard of,
//                  or from the session
//   horizon    7   as in classic, with its codes for probes and hellos
//   tick      11   ticks since that of the newest packet known (at the horizon) to be applied, 0..2046;
//                  2047: all of it follows. So no clock has a say in how positions are read
//   wait       5
//   eye        1
//   density    4   ph_pinhole_best_density()
//   leaves   1-13  gamma
//   enters   1-13  gamma
//   [hello]        as in classic, version 4 (or 5: universal codes); behind it precision 16
//   [tick]         the tick itself, 32; always with the hello of a packet
//   [eye]          x, y, z 32 each
//
// Once per packet; nothing allocates.

#define PH_PINHOLE_VERSION PH_WIRE_VERSION_PINHOLE
// The same with universal codes in place of the models.
#define PH_UNIVERSAL_VERSION 7
#define PH_PINHOLE_TICK_WHOLE 2047
#define PH_PINHOLE_COUNT_MAX 126 // of leaves, and of enters
#define PH_PINHOLE_HEADER_BITS_MIN 46
#define PH_PINHOLE_HEADER_BITS_MAX (46 + 2 * 12 + PH_HELLO_BITS + 16 + 32 + PH_EYE_BITS)
// Behind it, where a class has a finest step: the step of the packet.
#define PH_PINHOLE_STEP_BITS 3
// Both at most, in a packet with one enter alone.
#define PH_PINHOLE_ENTER_HEAD_BITS_MAX                                                             \
    (PH_PINHOLE_HEADER_BITS_MAX - 2 * 12 + 2 + PH_PINHOLE_STEP_BITS)

bool ph_pinhole_is_version(int version);

// Exact.
int ph_pinhole_header_bits(const ph_header* header);

// To the raw end of an entropy writer.
void ph_pinhole_header_write(const ph_header* header, ph_bit_writer* writer);

// From the raw end of an entropy reader. newest: the sequence that the client has heard of last; a
// hello needs none. Fails for what no sender writes, as ph_header_read() does; *header is {0} then. Of a
// hello of another version nothing is read but the version, and nothing is checked.
void ph_pinhole_header_read(ph_bit_reader* reader, uint32_t newest, ph_header* header);

// Acks, and the receiving end's memory of which packets it applied.
//
// Packets are applied only in ascending order: one that is not newer than the newest heard of is
// dropped unread. So an ack is a promise about all packets up to its newest sequence:
//
//   newest     32 bits   the newest sequence heard of, applied or not
//   applied    64 bits   bit i (the lowest first): newest - i was applied
//   lag         8 bits   how long after the first one that named this newest sequence it leaves, in ms
//
// Numbers wrap: they are compared by difference. One ack per packet, nothing allocates.

// Whether a comes behind b: less than half of all sequences ahead.
bool ph_sequence_is_ahead(uint32_t a, uint32_t b);

typedef struct ph_ack {
    uint32_t newest;
    uint64_t applied;
    uint8_t lag_ms; // 0: the first, or as good as
} ph_ack;

// So long, or longer.
#define PH_ACK_LAG_UNKNOWN 255

void ph_ack_write(const ph_ack* ack, uint8_t bytes[PH_ACK_SIZE]);

// @return False, and *ack untouched, when the bytes are no ack by their size. What they say is the
// sender's to judge.
bool ph_ack_read(const void* bytes, size_t size, ph_ack* ack);

// The receiving end: what it keeps is what it says, but for the lag. Begins with a hello at the
// session's sequence; sequences up to it count as never applied.
typedef ph_ack ph_receipt;

ph_receipt ph_receipt_make(uint32_t session);

// Whether this sequence is newer than everything heard of. A new one is at most PH_FLIGHT_MAX ahead of
// its horizon, and that is not ahead of the newest heard of: the sender could not know of it. A
// probe, whose horizon is its own sequence, is at most PH_FLIGHT_MAX ahead of the newest.
typedef enum ph_news {
    PH_NEWS_OLD = 0,
    PH_NEWS_NEW,
    PH_NEWS_IMPOSSIBLE,
} ph_news;

ph_news ph_receipt_judge(const ph_receipt* receipt, uint32_t sequence, uint32_t horizon);

// A new sequence was heard of; whether its packet was applied (a probe never is). Only what was judged
// new.
void ph_receipt_note(ph_receipt* receipt, uint32_t sequence, bool is_applied);

#endif
