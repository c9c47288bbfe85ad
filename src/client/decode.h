// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What one packet says, read and checked as a whole before any of it takes effect. A row for each
// record; as many as a packet can hold (any number in the pinhole profile), or as there are slots.
//
//   records   | leave 3 | leave 9 | enter 2 | update 0 | update 5 |
//   words     |         |         | values  | values   | values   |     as wide as the widest class
//
// Once per packet; nothing allocates but creation.

#ifndef PH_CLIENT_DECODE_H
#define PH_CLIENT_DECODE_H

#include "client/client_baselines.h"
#include "client/client_entities.h"
#include "packet/header.h"
#include "packet/pinhole_records.h"

// {0} may be destroyed. Fields are read-only outside decode.c.
typedef struct ph_decoded_packet {
    const ph_layouts* layouts;
    ph_record* records; // leaves, enters, updates, as in the packet; references in full
    int count;
    int enter_first; // the first that is no leave
    int update_first;
    ph_pinhole_spread spread; // pinhole profile: of the enters, as stated
    int capacity;
    uint32_t* words;
    uint8_t* texts; // NULL when no class has any
    uint64_t* slot_words;
    ph_bitset is_mentioned; // by slot
    int slot_capacity;
    ph_allocator allocator;
} ph_decoded_packet;

// @return PH_OK, or PH_ERROR_MEMORY with *decoded set to {0}.
ph_result ph_decoded_packet_create(ph_decoded_packet* decoded, const ph_layouts* layouts,
                                   const ph_allocator* allocator, ph_profile profile,
                                   int slot_capacity);

void ph_decoded_packet_destroy(ph_decoded_packet* decoded);

// What is needed to read the records behind a header.
typedef struct ph_decode_source {
    const ph_header* header;
    const ph_client_entities* entities;   // as they are before the packet
    const ph_client_baselines* baselines; // pinhole profile: at the horizon of the header
    ph_pinhole_frame frame;               // classic: only frame.frame
    int slot_count;
    bool is_eye_known;
} ph_decode_source;

// Reads everything up to the end of the bytes, padding included. @return False for what no server
// writes to a client like this one; the reader has PH_ERROR_END when the bytes end too early. What
// is decoded is worth nothing then.
bool ph_decode_classic(ph_decoded_packet* decoded, const ph_decode_source* source,
                       ph_bit_reader* reader);

bool ph_decode_pinhole(ph_decoded_packet* decoded, const ph_decode_source* source,
                       ph_entropy_reader* reader);

#endif
