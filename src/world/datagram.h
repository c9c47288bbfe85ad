// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One datagram under way: records are added as long as they fit, by their exact cost, and stand in it
// in slot order when it is closed. What is added is in the flight and in the knowledge from then
// on: a datagram with records is always sent.
//
//   datagram.c         what both profiles do
//   classic_writing.c  the classic one: whole bits, written when they are added; two items for a slot
//                      that is added to
//   coded_writing.c    the pinhole one: costs in parts of a bit, one item for each slot
//   coded_closing.c    and how that is written, when it is closed

#ifndef PH_WORLD_DATAGRAM_H
#define PH_WORLD_DATAGRAM_H

#include "base/bitset.h"
#include "base/inline.h"
#include "wire/classic_usual.h"
#include "wire/header.h"
#include "world/booking.h"
#include "world/expectation.h"
#include "world/coded_page.h"
#include "world/wording.h"

// No classic record but a leave takes less than 15 bits, and there are at most 63 leaves.
#define PH_DATAGRAM_RECORDS_MAX 768

// The order of a chosen one.
#define PH_CHOSEN_KIND_SHIFT 16
#define PH_CHOSEN_SLOT_MASK 0xFFFFu

typedef struct ph_chosen {
    uint64_t properties;
    uint64_t repeats;    // of these: said before, and lost
    uint32_t order;      // kind, then slot
    uint32_t cost256;    // pinhole: of the record without its flag
    bool is_repeat;      // enters and leaves: said before, and lost
    bool is_significant; // updates
    uint16_t kept;       // classic: where its bits are, or PH_KEPT_NONE; pinhole: tokens of updates
    uint16_t kept_bits;  // classic
    uint8_t coarse;      // pinhole: of the position
} ph_chosen;

#define PH_KEPT_NONE UINT16_MAX

// The records of a classic datagram, each from a byte of its own on, and behind them the one that is
// tried.
#define PH_DATAGRAM_KEPT_BYTES (PH_PAYLOAD_MAX + PH_DATAGRAM_RECORDS_MAX + PH_CLASSIC_RECORD_BYTES)
_Static_assert(PH_DATAGRAM_KEPT_BYTES < PH_KEPT_NONE, "every place has a number");

// What the updates of a pinhole datagram say. Seldom more than ten for each; when there is no room
// for another one the datagram is full.
#define PH_DATAGRAM_TOKENS_MAX 8192
_Static_assert(PH_DATAGRAM_TOKENS_MAX >= PH_TAPE_RECORD_MAX, "any record fits an empty one");

typedef struct ph_datagram {
    const ph_outlook* outlook;
    ph_sender* sender;
    ph_frame frame;
    ph_coded_page page; // pinhole
    ph_tape tape;       // pinhole: of updates
    ph_header header;
    int32_t eye_mm[3]; // where the viewer is now
    bool is_open;
    int64_t limit_bits;
    int64_t bits;  // of header and records so far
    int head_bits; // pinhole: of these, what is no record and no flag
    int counts[3]; // by ph_record_kind
    int count;
    int64_t enters256; // that all datagrams together have spent on enters
    int64_t others256; // and on all other records
    ph_booking booking;
    ph_wording wording;
    ph_classic_usual usual; // classic: updates of the class that was last added
    int usual_count;        // that tell of a position alone and are not booked yet
    int kept_count;         // bytes
    uint8_t kept[PH_DATAGRAM_KEPT_BYTES];
    ph_chosen chosen[PH_DATAGRAM_RECORDS_MAX];
    uint32_t tokens[PH_DATAGRAM_TOKENS_MAX];
} ph_datagram;

// For several datagrams, one after the other.
void ph_datagram_init(ph_datagram* datagram, const ph_outlook* outlook, ph_sender* sender,
                      const int32_t eye_mm[3]);

// Begins one, within what may be spent now. @return False when nothing would fit.
bool ph_datagram_open(ph_datagram* datagram);

// Whether no update of another slot can fit any more, whatever it says.
static inline bool ph_datagram_is_full(const ph_datagram* datagram)
{
    return datagram->limit_bits - datagram->bits < datagram->sender->least_update_bits;
}

// Whether there may be another record of this kind, whatever its size.
bool ph_datagram_has_place(const ph_datagram* datagram, ph_record_kind kind);

// Adds a record; or, where there is an update of this slot already, more properties to it.
// @return False, with nothing done, when it does not fit.
bool ph_datagram_add(ph_datagram* datagram, const ph_choice* choice);

// Writes it and pays for it; at least one record. @return Its size in bytes.
size_t ph_datagram_close(ph_datagram* datagram, uint8_t bytes[PH_PAYLOAD_MAX]);

// Takes back one without records.
void ph_datagram_cancel(ph_datagram* datagram);

// A probe, if it can be paid for. @return Its size in bytes, else 0.
size_t ph_datagram_probe(ph_datagram* datagram, uint8_t bytes[PH_PAYLOAD_MAX]);

// ---- the profiles; for datagram.c only

static inline int ph_chosen_slot(const ph_chosen* chosen)
{
    return (int)(chosen->order & PH_CHOSEN_SLOT_MASK);
}

static inline ph_record_kind ph_chosen_kind(const ph_chosen* chosen)
{
    return (ph_record_kind)(chosen->order >> PH_CHOSEN_KIND_SHIFT);
}

// The choice that a chosen one stands for.
ph_choice ph_chosen_choice(const ph_chosen* chosen);

// before: what the datagram says of the slot already, or NULL. @return False when it does not fit.
bool ph_classic_add(ph_datagram* datagram, const ph_choice* choice, ph_chosen* before);
bool ph_coded_add(ph_datagram* datagram, const ph_choice* choice, ph_chosen* before);

// A record was given an item of the flight.
typedef struct ph_addition {
    const ph_choice* choice;
    const ph_place* at;
    ph_chosen* before; // or NULL
    const ph_record* record;
    ph_record_kind kind; // its kind, for the compiler to know
    const ph_flight_item* item;
    uint16_t place;
    // As in ph_chosen.
    uint32_t cost256;
    uint16_t kept;
    uint16_t kept_bits;
    uint8_t coarse;
} ph_addition;

// A reference that the client will have may have to be taken back later.
static inline void ph_datagram_note_references(ph_datagram* datagram, const ph_place* at,
                                               const ph_record* record)
{
    const ph_layout* layout = at->layout;
    for (uint64_t left = record->properties & layout->references; left != 0; left &= left - 1) {
        if (record->words[layout->word[ph_word_lowest_bit(left)]] != 0) {
            datagram->sender->knowledge.points[at->slot] = 1;
        }
    }
}

PH_ALWAYS_INLINE void ph_datagram_note_chosen(ph_datagram* datagram, const ph_addition* addition)
{
    const ph_choice* choice = addition->choice;
    const uint64_t repeats = addition->at->dossier->repeats;
    ph_chosen* chosen = addition->before;
    if (chosen != NULL) {
        chosen->properties |= choice->properties;
        chosen->repeats |= repeats & choice->properties;
        chosen->is_significant |= choice->is_significant;
    } else {
        const uint32_t kind = addition->kind;
        chosen = &datagram->chosen[datagram->count++];
        chosen->properties = choice->properties;
        chosen->repeats = repeats & choice->properties;
        chosen->order = kind << PH_CHOSEN_KIND_SHIFT | (uint32_t)choice->slot;
        chosen->is_repeat = repeats != 0;
        chosen->is_significant = choice->is_significant;
        ++datagram->counts[kind];
    }
    chosen->cost256 = addition->cost256;
    chosen->kept = addition->kept;
    chosen->kept_bits = addition->kept_bits;
    chosen->coarse = addition->coarse;
}

// Others are given copies of the item: one whose address is known outside would be in memory all the
// while.
PH_ALWAYS_INLINE void ph_datagram_note(ph_datagram* datagram, const ph_addition* addition)
{
    ph_sender* sender = datagram->sender;
    ph_datagram_note_chosen(datagram, addition);
    ph_knowledge_note_sent(&sender->knowledge, addition->at->dossier, addition->item,
                           addition->place);
    if (addition->kind == PH_RECORD_LEAVE) {
        return;
    }
    ph_wording_pack(addition->at, addition->record->words, addition->item);
    if (addition->kind == PH_RECORD_ENTER && ph_sender_is_coded(sender)) {
        const ph_flight_item item = *addition->item;
        ph_baselines_store_extra(&item, addition->record);
    }
    ph_datagram_note_references(datagram, addition->at, addition->record);
    if (sender->expectation != NULL) {
        const ph_flight_item item = *addition->item;
        ph_expectation_note_sent(sender->expectation, datagram->outlook->world, sender, &item,
                                 addition->record);
    }
}

// Header and chosen ones; classic ones are booked already. @return The size in bytes.
size_t ph_classic_write(ph_datagram* datagram, uint8_t bytes[PH_PAYLOAD_MAX]);
size_t ph_coded_write_all(ph_datagram* datagram, ph_booking* booking,
                          uint8_t bytes[PH_PAYLOAD_MAX]);

#endif
