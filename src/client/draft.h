// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What one packet says, read and checked as a whole before any of it counts. A row for each enter
// and update; as many as a packet can hold (any number, where records are coded), or as there are
// slots.
//
//   records   | leave 3 | leave 9 | enter 2 | update 0 | update 5 |
//   words                         | row 0   | row 1    | row 2    |
//
// Once per packet; nothing allocates but creation.

#ifndef PH_CLIENT_DRAFT_H
#define PH_CLIENT_DRAFT_H

#include "client/horizon.h"
#include "client/mirror.h"
#include "wire/coded.h"
#include "wire/header.h"

// {0} may be destroyed. Fields are read-only outside draft.c.
typedef struct ph_draft {
    const ph_layouts* layouts;
    ph_record* records; // leaves, enters, updates, as in the packet; references in full
    int count;
    int enter_first; // the first that is no leave
    int update_first;
    ph_coded_spread spread; // pinhole profile: of the enters, as stated
    int capacity;
    uint32_t* words;
    uint8_t* texts; // NULL when no class has any
    uint64_t* slot_words;
    ph_bitset is_mentioned; // by slot
    int slot_capacity;
    ph_allocator allocator;
} ph_draft;

// @return PH_OK, or PH_ERROR_MEMORY with *draft set to {0}.
ph_result ph_draft_create(ph_draft* draft, const ph_layouts* layouts, const ph_allocator* allocator,
                          ph_profile profile, int slot_capacity);
void ph_draft_destroy(ph_draft* draft);

// What is needed to read the records behind a header.
typedef struct ph_draft_source {
    const ph_header* header;
    const ph_mirror* mirror; // as it is before the packet
    ph_frame frame;
    int slot_count;
    bool is_eye_known;
} ph_draft_source;

// Reads everything up to the end of the bytes, padding included. Fails the reader: PH_ERROR_END
// when they end too early, PH_ERROR_VALUE for what no server writes to a client like this one; the
// draft is worth nothing then.
void ph_draft_read(ph_draft* draft, const ph_draft_source* source, ph_bit_reader* reader);

// The same for the pinhole profile; the horizon is moved on to the one that the header states, and
// frame.frame is that of the source.
typedef struct ph_coded_source {
    ph_draft_source source;
    ph_coded_frame frame;
    const ph_horizon* horizon;
} ph_coded_source;

void ph_draft_read_coded(ph_draft* draft, const ph_coded_source* from, ph_entropy_reader* reader);

#endif
