// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One datagram under way: records are added as long as they fit, by their exact cost, and written
// in slot order when it is closed. What is added is in the flight and in the knowledge from then
// on: a datagram with records is always sent.

#ifndef PH_WORLD_DATAGRAM_H
#define PH_WORLD_DATAGRAM_H

#include "wire/classic.h"
#include "wire/header.h"
#include "world/due.h"

// No record but a leave takes less than 15 bits, and there are at most 63 leaves.
#define PH_DATAGRAM_RECORDS_MAX 768

// All texts of an entity; the schema sees to it that an enter fits a datagram.
#define PH_DATAGRAM_TEXT_BYTES 1536

// One slot, and what to say of it.
typedef struct ph_choice {
    int slot;
    ph_record_kind kind;
    uint64_t properties; // of an enter all that it says, of a leave 0
    bool is_significant;
} ph_choice;

typedef struct ph_chosen {
    uint64_t properties;
    uint64_t repeats;    // of these: said before, and lost
    uint32_t order;      // kind, then slot
    bool is_repeat;      // enters and leaves: said before, and lost
    bool is_significant; // updates
} ph_chosen;

typedef struct ph_datagram {
    const ph_outlook* outlook;
    ph_sender* sender;
    ph_frame frame;
    int32_t eye_mm[3]; // where the viewer is now
    bool has_eye;      // and is told
    bool is_open;
    int64_t limit_bits;
    int64_t bits;  // of header and records so far
    int counts[3]; // by ph_record_kind
    int count;
    ph_chosen chosen[PH_DATAGRAM_RECORDS_MAX];
    // Of one record.
    uint32_t words[PH_PROPERTIES_MAX * PH_VALUE_WORDS_MAX];
    uint8_t texts[PH_DATAGRAM_TEXT_BYTES];
} ph_datagram;

// For several datagrams, one after the other.
void ph_datagram_init(ph_datagram* datagram, const ph_outlook* outlook, ph_sender* sender,
                      const int32_t eye_mm[3]);

// Begins one, within what may be spent now. @return False when nothing would fit.
bool ph_datagram_open(ph_datagram* datagram);

// Adds a record; or, where there is an update of this slot already, more properties to it.
// @return False, with nothing done, when it does not fit.
bool ph_datagram_add(ph_datagram* datagram, const ph_choice* choice);

// Writes it and pays for it; at least one record. @return Its size in bytes.
size_t ph_datagram_close(ph_datagram* datagram, uint8_t bytes[PH_PAYLOAD_MAX]);

// Takes back one without records.
void ph_datagram_cancel(ph_datagram* datagram);

// A probe, if it can be paid for. @return Its size in bytes, else 0.
size_t ph_datagram_probe(ph_datagram* datagram, uint8_t bytes[PH_PAYLOAD_MAX]);

#endif
