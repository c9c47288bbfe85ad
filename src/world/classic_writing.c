// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Datagrams of the classic profile: whole bits. A record is written and booked when it is added, to
// bytes of its own, so that what it costs is known by doing it; closing the datagram puts the records
// together in their order. Only one that is added to later is made anew then.

#include "world/datagram.h"

#include "base/bitset.h"
#include "base/inline.h"

// Place among the chosen ones; kind and slot stand above.
#define KEY_PLACE_BITS 10
_Static_assert(PH_DATAGRAM_RECORDS_MAX <= 1 << KEY_PLACE_BITS, "every place has a number");
_Static_assert(PH_CHOSEN_KIND_SHIFT + 2 + KEY_PLACE_BITS < 32, "kind, slot and place fit a key");

// Up to so many slots are put in order by their bits.
#define BIT_SLOTS_MAX 1024
#define BIT_WORDS (BIT_SLOTS_MAX / 64)
#define KINDS (PH_RECORD_UPDATE + 1)

// ---- adding

static ph_booked_update booked(const ph_datagram* datagram, const ph_chosen* chosen,
                               const ph_bill* bill)
{
    const int class_index = datagram->sender->knowledge.class_index[ph_chosen_slot(chosen)];
    return (ph_booked_update){
        .properties = chosen->properties,
        .repeats = chosen->repeats,
        .bill = bill,
        .first_property = datagram->outlook->world->forms.first_property[class_index],
        .is_significant = chosen->is_significant,
    };
}

static void book_update(ph_datagram* datagram, const ph_chosen* chosen, const ph_bill* bill)
{
    const ph_booked_update update = booked(datagram, chosen, bill);
    ph_booking_update(&datagram->booking, &update);
}

// ---- any record

// The flight's and the knowledge's part of it. @return False when it does not fit.
static bool try_note(ph_datagram* datagram, const ph_choice* choice, ph_chosen* before,
                     const ph_record* record, int bits)
{
    ph_sender* sender = datagram->sender;
    if (datagram->bits + bits > datagram->limit_bits) {
        return false;
    }
    const ph_place* at = ph_wording_at(&datagram->wording, choice->slot);
    ph_flight_item item = ph_wording_measure(at, record->properties, choice->kind, false);
    ph_wording_complete(&datagram->wording, at, record->is_jump, &item);
    uint16_t place;
    if (!ph_flight_try_add(&sender->flight, &item, &place)) {
        return false;
    }
    sender->knowledge.mileage_mm[choice->slot] += item.mileage_mm;
    ph_datagram_note(
        datagram,
        &(ph_addition){.choice = choice,
                       .at = at,
                       .before = before,
                       .record = record,
                       .kind = choice->kind,
                       .item = &item,
                       .place = place,
                       .kept = before == NULL ? (uint16_t)datagram->kept_count : PH_KEPT_NONE,
                       .kept_bits = (uint16_t)bits});
    datagram->bits += bits;
    return true;
}

// A leave or an enter by itself. @return How many bits.
static int write_change(const ph_frame* frame, const ph_record* record, uint8_t* bytes)
{
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_CLASSIC_RECORD_BYTES);
    ph_classic_write_record(frame, record, &writer);
    ph_bit_writer_finish(&writer);
    PH_ASSERT(ph_bit_writer_result(&writer) == PH_OK);
    return (int)ph_bit_writer_size_bits(&writer);
}

// The last few that are tried in a datagram mostly do not fit.
static bool may_fit(ph_datagram* datagram, const ph_choice* choice)
{
    const ph_layout* layout = ph_wording_at(&datagram->wording, choice->slot)->layout;
    return choice->kind != PH_RECORD_UPDATE ||
           datagram->bits + ph_classic_least_bits(&datagram->frame, layout, choice->properties) <=
               datagram->limit_bits;
}

PH_OUT_OF_LINE static bool add_first(ph_datagram* datagram, const ph_choice* choice)
{
    if (!may_fit(datagram, choice)) {
        return false;
    }
    ph_record record;
    ph_wording_record(&datagram->wording, choice, &record);
    const bool is_update = choice->kind == PH_RECORD_UPDATE;
    uint8_t* bytes = datagram->kept + datagram->kept_count;
    ph_bill bill;
    const int bits = is_update ? ph_classic_write_update(&datagram->frame, &record, bytes, &bill)
                               : write_change(&datagram->frame, &record, bytes);
    if (!try_note(datagram, choice, NULL, &record, bits)) {
        return false;
    }
    const ph_chosen* chosen = &datagram->chosen[datagram->count - 1];
    datagram->kept_count += (bits + 7) / 8;
    if (is_update) {
        book_update(datagram, chosen, &bill);
    } else {
        ph_booking_change(&datagram->booking, choice->kind, (uint64_t)bits * PH_COST_PER_BIT,
                          chosen->is_repeat);
    }
    return true;
}

static int update_bits(ph_datagram* datagram, int slot, uint64_t properties, ph_bill* bill)
{
    const ph_choice choice = {.slot = slot, .kind = PH_RECORD_UPDATE, .properties = properties};
    ph_record record;
    ph_wording_record(&datagram->wording, &choice, &record);
    return ph_classic_record_bits(&datagram->frame, &record, bill);
}

// More of a slot that is told of already: two items in the flight, but one record.
PH_OUT_OF_LINE static bool add_more(ph_datagram* datagram, const ph_choice* choice,
                                    ph_chosen* before)
{
    const ph_chosen was = *before;
    ph_bill old_bill = {0};
    ph_bill bill = {0};
    const uint64_t whole = was.properties | choice->properties;
    const int old_bits = update_bits(datagram, choice->slot, was.properties, &old_bill);
    const int bits = update_bits(datagram, choice->slot, whole, &bill);
    ph_record record;
    ph_wording_record(&datagram->wording, choice, &record);
    if (!try_note(datagram, choice, before, &record, bits - old_bits)) {
        return false;
    }
    const ph_booked_update old_update = booked(datagram, &was, &old_bill);
    ph_booking_take_back(&datagram->booking, &old_update);
    book_update(datagram, before, &bill);
    return true;
}

// ---- usual updates: in one piece, and nothing of one is put together in memory

static int first_property_of(const ph_datagram* datagram, const ph_layout* layout)
{
    const ph_forms* forms = &datagram->outlook->world->forms;
    return forms->first_property[layout - forms->layouts.layouts];
}

// Those that tell of nothing else: each costs the same.
static void book_positions(ph_datagram* datagram)
{
    const ph_classic_usual* usual = &datagram->usual;
    const uint64_t count = (uint64_t)datagram->usual_count;
    if (count == 0) {
        return;
    }
    ph_bill bill;
    ph_classic_usual_bill(usual, 0, &bill);
    const ph_booked_update update = {
        .properties = usual->layout->position,
        .bill = &bill,
        .first_property = first_property_of(datagram, usual->layout),
    };
    ph_booking_count(&datagram->booking, &update, count * PH_COST_PER_BIT);
    datagram->sender->stats.updates += count;
    datagram->usual_count = 0;
}

PH_OUT_OF_LINE static void turn_to_class(ph_datagram* datagram, const ph_layout* layout)
{
    book_positions(datagram);
    datagram->usual = ph_classic_usual_make(&datagram->frame, layout);
    // Who expects something of records is told of each, in full.
    if (datagram->sender->expectation != NULL) {
        datagram->usual.properties = 0;
    }
}

static inline bool is_usual(ph_datagram* datagram, const ph_choice* choice)
{
    const ph_place* at = &datagram->wording.at;
    if (datagram->usual.layout != at->layout) {
        turn_to_class(datagram, at->layout);
    }
    return choice->has_words &&
           ph_classic_is_usual(&datagram->usual, choice->properties, datagram->wording.words) &&
           datagram->outlook->world->entities.whereabouts[at->entity].jumps == at->dossier->jumps;
}

// What tells of more, or is said again, is booked by itself.
PH_OUT_OF_LINE static void book_apart(ph_datagram* datagram, const ph_chosen* chosen)
{
    const ph_classic_usual* usual = &datagram->usual;
    ph_bill bill;
    ph_classic_usual_bill(usual, chosen->properties & ~usual->layout->position, &bill);
    book_update(datagram, chosen, &bill);
}

static bool add_usual(ph_datagram* datagram, const ph_choice* choice)
{
    const ph_place at = datagram->wording.at;
    const uint64_t rest = choice->properties & ~at.layout->position;
    const int64_t room_bits = datagram->limit_bits - datagram->bits;
    if (ph_classic_usual_bits(&datagram->usual, rest) > room_bits) {
        return false; // as the last few that are tried in a datagram
    }
    const int bits =
        ph_classic_usual_write(&datagram->usual, (uint32_t)at.slot, at.dossier->association, rest,
                               datagram->wording.words, datagram->kept + datagram->kept_count);
    ph_flight_item item = ph_wording_measure(&at, choice->properties, PH_RECORD_UPDATE, false);
    ph_wording_complete(&datagram->wording, &at, false, &item);
    uint16_t place;
    if (bits > room_bits || !ph_flight_try_add(&datagram->sender->flight, &item, &place)) {
        return false;
    }
    ph_wording_pack(&at, datagram->wording.words, &item);
    ph_knowledge* knowledge = &datagram->sender->knowledge;
    knowledge->mileage_mm[at.slot] += item.mileage_mm;
    ph_datagram_note_chosen(datagram, &(ph_addition){.choice = choice,
                                                     .at = &at,
                                                     .kind = PH_RECORD_UPDATE,
                                                     .kept = (uint16_t)datagram->kept_count,
                                                     .kept_bits = (uint16_t)bits});
    ph_knowledge_note_sent(knowledge, at.dossier, &item, place);
    datagram->bits += bits;
    datagram->kept_count += (int)(((unsigned)bits + 7) / 8);
    const ph_chosen* chosen = &datagram->chosen[datagram->count - 1];
    if (rest != 0 || chosen->repeats != 0) {
        book_apart(datagram, chosen);
    } else {
        ++datagram->usual_count;
        datagram->sender->stats.significant_updates += choice->is_significant;
    }
    return true;
}

bool ph_classic_add(ph_datagram* datagram, const ph_choice* choice, ph_chosen* before)
{
    PH_ASSERT(datagram->wording.at.slot == choice->slot);

    if (before != NULL) {
        return add_more(datagram, choice, before);
    }
    return is_usual(datagram, choice) ? add_usual(datagram, choice) : add_first(datagram, choice);
}

// ---- the order

// Every chosen one has a bit of its own, by kind and slot, and bits come in order: no branch that the
// processor could guess wrong. Writes the places, in order.
static void sort_by_bits(const ph_chosen* chosen, int count, int slot_count, uint16_t* places)
{
    uint64_t bits[KINDS * BIT_WORDS];
    uint16_t place_of[BIT_SLOTS_MAX]; // by slot: nobody is told of twice
    const unsigned row_words = ((unsigned)slot_count + 63) / 64;
    memset(bits, 0, KINDS * row_words * sizeof bits[0]);
    for (int i = 0; i < count; ++i) {
        const unsigned slot = (unsigned)ph_chosen_slot(&chosen[i]);
        bits[ph_chosen_kind(&chosen[i]) * row_words + slot / 64] |= UINT64_C(1) << slot % 64;
        place_of[slot] = (uint16_t)i;
    }
    const uint64_t* row = bits;
    for (int kind = 0; kind < KINDS; ++kind, row += row_words) {
        for (unsigned word = 0; word < row_words; ++word) {
            const uint16_t* place = place_of + word * 64;
            for (uint64_t left = row[word]; left != 0; left &= left - 1) {
                *places++ = place[ph_word_lowest_bit(left)];
            }
        }
    }
}

// Shell's sort: no memory, for any slots. Keys have the place below their order.
static void sort_by_keys(const ph_chosen* chosen, int count, uint16_t* places)
{
    static const int GAPS[] = {301, 132, 57, 23, 10, 4, 1};
    uint32_t keys[PH_DATAGRAM_RECORDS_MAX];
    for (int i = 0; i < count; ++i) {
        keys[i] = chosen[i].order << KEY_PLACE_BITS | (uint32_t)i;
    }
    for (size_t g = 0; g < sizeof GAPS / sizeof GAPS[0]; ++g) {
        const int gap = GAPS[g];
        for (int i = gap; i < count; ++i) {
            const uint32_t moving = keys[i];
            int hole = i;
            while (hole >= gap && keys[hole - gap] > moving) {
                keys[hole] = keys[hole - gap];
                hole -= gap;
            }
            keys[hole] = moving;
        }
    }
    for (int i = 0; i < count; ++i) {
        places[i] = (uint16_t)(keys[i] & ((1u << KEY_PLACE_BITS) - 1));
    }
}

// ---- writing

static void write_anew(ph_datagram* datagram, const ph_chosen* chosen, ph_bit_writer* writer)
{
    const ph_choice choice = ph_chosen_choice(chosen);
    ph_record record;
    ph_wording_record(&datagram->wording, &choice, &record);
    ph_classic_write_record(&datagram->frame, &record, writer);
}

// In this order. The writer that is written to is nobody else's, so it stays in registers.
static void write_all(ph_datagram* datagram, const uint16_t* places, ph_bit_writer* writer)
{
    ph_bit_writer own = *writer;
    const int count = datagram->count;
    for (int i = 0; i < count; ++i) {
        const ph_chosen* chosen = &datagram->chosen[places[i]];
        if (chosen->kept == PH_KEPT_NONE) {
            ph_bit_writer copy = own;
            write_anew(datagram, chosen, &copy);
            own = copy;
        } else {
            ph_classic_write_kept(datagram->kept + chosen->kept, chosen->kept_bits, &own);
        }
    }
    *writer = own;
}

size_t ph_classic_write(ph_datagram* datagram, uint8_t bytes[PH_PAYLOAD_MAX])
{
    uint16_t places[PH_DATAGRAM_RECORDS_MAX];
    const int slot_count = datagram->sender->knowledge.slot_count;
    book_positions(datagram);
    if (slot_count <= BIT_SLOTS_MAX) {
        sort_by_bits(datagram->chosen, datagram->count, slot_count, places);
    } else {
        sort_by_keys(datagram->chosen, datagram->count, places);
    }
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_PAYLOAD_MAX);
    ph_header_write(&datagram->header, &writer);
    write_all(datagram, places, &writer);
    PH_ASSERT(ph_bit_writer_result(&writer) == PH_OK);
    PH_ASSERT((int64_t)ph_bit_writer_size_bits(&writer) == datagram->bits);
    return ph_bit_writer_finish(&writer);
}
