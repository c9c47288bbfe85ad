// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Golden packets of the pinhole profile. The script is that of golden_session.h: slots are dressed
// and placed, records added in the order of the packet. Here they are written as differences, by
// baselines that are worked out anew for each packet from all that was applied up to its horizon;
// read back by those of the other end, which has only what it read; and given to a real client.
//
//   golden_pinhole_begin(&golden, &header, tick, eye);
//   golden_update(&golden.base, 3, 1, "place", false);
//   golden_pinhole_end(&golden, "03_walk");

#ifndef PINHOLE_GOLDEN_PINHOLE_H
#define PINHOLE_GOLDEN_PINHOLE_H

#include "golden_session.h"

#include "packet/pinhole_records.h"
#include "schema/model_tables.h"

#include <pinhole/client.h>

enum { GOLDEN_PACKETS = 32, GOLDEN_CLASSES = 11, GOLDEN_KNOWN = 160 };

/// One packet as one end has it.
typedef struct golden_content {
    ph_header header;
    uint32_t tick;
    int count;
    ph_pinhole_record coded[GOLDEN_RECORDS];
    ph_pinhole_neighbour neighbours[GOLDEN_RECORDS]; // of which each is told, if it is
    ph_pinhole_carrier carriers[GOLDEN_RECORDS];     // of those that have one
    ph_carrier_step steps[GOLDEN_RECORDS];
    ph_pinhole_spread spread;
    int step;
    uint32_t words[GOLDEN_RECORDS][GOLDEN_WORDS];
    uint8_t texts[GOLDEN_RECORDS][GOLDEN_TEXTS];
    // How many raw bits each record took; and of the whole: of symbols, raw, left over.
    int raw_bits[GOLDEN_RECORDS];
    int end_bits[3];
} golden_content;

/// Everything that was applied, as one end has it.
typedef struct golden_past {
    golden_content packets[GOLDEN_PACKETS];
    int count;
} golden_past;

/// What both ends know at one horizon.
typedef struct golden_moment {
    ph_baseline baselines[GOLDEN_SLOTS];
    uint8_t known[GOLDEN_SLOTS][GOLDEN_KNOWN];
    uint64_t key_base;
    uint32_t tick; // of the newest packet applied
    bool has_tick;
} golden_moment;

/// Large: one static object.
typedef struct golden_pinhole {
    golden_session base;
    const char* session; // what its files begin with
    ph_packing packings[GOLDEN_CLASSES];
    ph_hello hello; // of the session
    ph_client* client;
    uint64_t now_us;
    golden_past sent;
    golden_past heard;
    golden_moment moment;   // of the packet at hand
    ph_pinhole_frame frame; // the same
    uint8_t coarse[GOLDEN_RECORDS];
    uint8_t rotation_coarse[GOLDEN_RECORDS];
    bool is_carried[GOLDEN_RECORDS];
    ph_pinhole_counts counts; // of all symbols written
} golden_pinhole;

/// session: what its files begin with. hello: all but the fingerprint, which is filled in.
void golden_pinhole_setup(golden_pinhole* golden, const char* session, const ph_hello* hello);
void golden_pinhole_teardown(golden_pinhole* golden);

/// The header's tick field follows from the tick. Probes have neither.
void golden_pinhole_begin(golden_pinhole* golden, const ph_header* header, uint32_t tick,
                          const int32_t eye_mm[3]);
/// Of the enters of the packet: see ph_pinhole_spread.
void golden_pinhole_spread(golden_pinhole* golden, ph_pinhole_spread spread);
/// Of the enter added last, in steps.
void golden_pinhole_velocity(golden_pinhole* golden, int x, int y, int z);
/// The enter added last says that its entity jumped since an earlier one.
void golden_pinhole_jump(golden_pinhole* golden);
/// The enter or update added last tells its position as coarsely as it may.
void golden_pinhole_coarse(golden_pinhole* golden);
/// The packet says that positions are told in finest steps doubled so often.
void golden_pinhole_packet_step(golden_pinhole* golden, int step);
/// The update added last tells its position in the finest step doubled so often.
void golden_pinhole_step(golden_pinhole* golden, int coarse);
/// Of the enter added last: how it turns, in levels of the rotation within velocity ticks.
void golden_pinhole_spin(golden_pinhole* golden, int x, int y, int z);
/// The enter or update added last tells its orientation as coarsely as this.
void golden_pinhole_rotation_coarse(golden_pinhole* golden, int coarse);
/// The last update is told from where its carrier takes it.
void golden_pinhole_carried(golden_pinhole* golden);
/// Compares with test/golden/pinhole/<session>_<name>.bin and .txt; with PINHOLE_GOLDEN_WRITE in the
/// environment, writes the two files first. The packet is applied by both ends and by the client.
void golden_pinhole_end(golden_pinhole* golden, const char* name);

/// The same with <session>_shown.txt: what the client shows by now.
void golden_pinhole_shown(golden_pinhole* golden);

/// What one end knows of all slots at a horizon.
void golden_pinhole_moment(const golden_pinhole* golden, const golden_past* past, uint32_t horizon,
                           golden_moment* moment);

#endif
