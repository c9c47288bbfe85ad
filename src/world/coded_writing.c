// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records of the pinhole profile, as they are added to a datagram: costs in parts of a bit, and one item
// of the flight for each slot, because baselines move on by whole records.

#include "world/datagram.h"

#include "wire/coded_header.h"
#include "world/party.h"

// About what an enter takes.
#define NEARLY_FULL_BITS 80

// What is said of a slot in all.
static ph_choice whole_choice(const ph_datagram* datagram, const ph_choice* choice,
                              const ph_chosen* before)
{
    const int class_index = datagram->sender->knowledge.class_index[choice->slot];
    const uint64_t position = datagram->frame.layouts->layouts[class_index].position;
    ph_choice whole = *choice;
    whole.properties |= before->properties;
    whole.has_words = false;
    if ((choice->properties & position) == 0) {
        whole.coarse = before->coarse;
    }
    return whole;
}

// The page with this update in it. @return What it costs.
static inline uint32_t put_update(ph_datagram* datagram, ph_coded_record* coded,
                                  const ph_chosen* before)
{
    ph_coded_page* page = &datagram->page;
    const uint32_t cost256 = ph_coded_tape(&page->frame, coded, &datagram->tape);
    if (before == NULL) {
        ph_coded_page_tell(page, coded->record.slot, cost256);
    } else {
        page->records256 += (int64_t)cost256 - before->cost256;
    }
    return cost256;
}

// What stands before the updates, beside the records of leaves and enters: for so many more of them.
static int head_bits_with(ph_datagram* datagram, int leaves, int enters)
{
    ph_header* header = &datagram->header;
    header->leave_count = datagram->counts[PH_RECORD_LEAVE] + leaves;
    header->enter_count = datagram->counts[PH_RECORD_ENTER] + enters;
    return ph_coded_header_bits(header) + ph_party_spread_bits(datagram, header->enter_count);
}

// Another density may make the room that is missing.
static bool fits(ph_datagram* datagram, int head_bits, int64_t* bits)
{
    if (datagram->tape.is_full) {
        return false;
    }
    *bits = head_bits + ph_coded_page_bits(&datagram->page);
    if (*bits > datagram->limit_bits) {
        ph_coded_page_settle(&datagram->page);
        *bits = head_bits + ph_coded_page_bits(&datagram->page);
    }
    return *bits <= datagram->limit_bits;
}

// The new item of a slot says everything that the one before in the same packet did. If it is of the
// same properties it takes its place.
static uint16_t replace_item(ph_datagram* datagram, ph_flight_item* item)
{
    ph_sender* sender = datagram->sender;
    ph_dossier* dossier = ph_knowledge_at(&sender->knowledge, item->slot);
    const uint16_t place = dossier->newest_item;
    const ph_flight_item before = ph_flight_read(&sender->flight, place);
    if (before.properties == item->properties) {
        ph_flight_add_mileage(&sender->flight, place, item->mileage_mm);
        item->values = before.values;
        --dossier->in_flight; // it is noted as sent once more
        return place;
    }
    item->score = before.score;
    item->mileage_mm += before.mileage_mm;
    ph_flight_withdraw(&sender->flight, place);
    return ph_flight_add(&sender->flight, item);
}

static void keep_due(ph_datagram* datagram, int slot)
{
    ph_knowledge* knowledge = &datagram->sender->knowledge;
    const int class_index = knowledge->class_index[slot];
    // The clock goes on for whatever else is due.
    if (knowledge->touched[slot] == 0) {
        knowledge->waiting_ms[slot] = 0;
    }
    knowledge->touched[slot] |= datagram->frame.layouts->layouts[class_index].position;
}

// A record that is on the page goes into the flight. @return False, with nothing done, when that or the
// datagram is too small for it.
PH_ALWAYS_INLINE bool try_note(ph_datagram* datagram, const ph_choice* choice, ph_chosen* before,
                               const ph_record* record, int head_bits)
{
    ph_sender* sender = datagram->sender;
    ph_flight_item item = ph_wording_item(&datagram->wording, record);
    int64_t bits;
    if (!fits(datagram, head_bits, &bits) ||
        !ph_flight_has_room(&sender->flight, item.value_bytes)) {
        return false;
    }
    sender->knowledge.mileage_mm[choice->slot] += item.mileage_mm;
    const uint16_t place =
        before != NULL ? replace_item(datagram, &item) : ph_flight_add(&sender->flight, &item);
    ph_datagram_note(datagram, &(ph_addition){choice, before, record, &item, place});
    if (before == NULL) {
        sender->baselines.chosen[choice->slot] = (uint16_t)datagram->count;
    }
    datagram->bits = bits;
    return true;
}

// All that is said of a slot.
PH_ALWAYS_INLINE bool add_update(ph_datagram* datagram, const ph_choice* choice, ph_chosen* before)
{
    ph_baselines* baselines = &datagram->sender->baselines;
    const ph_page_mark page_before = ph_coded_page_mark(&datagram->page);
    uint32_t* tape_before = datagram->tape.next;
    ph_coded_wording made;
    ph_wording_update(&datagram->wording, &datagram->page.frame, choice, &made);
    const uint32_t cost256 = put_update(datagram, &made.coded, before);
    if (!try_note(datagram, choice, before, &made.coded.record, datagram->head_bits)) {
        if (before == NULL) {
            ph_coded_page_untell(&datagram->page, choice->slot);
        }
        ph_coded_page_return(&datagram->page, &page_before);
        ph_tape_rewind(&datagram->tape, tape_before);
        return false;
    }
    ph_chosen* chosen = before != NULL ? before : &datagram->chosen[datagram->count - 1];
    chosen->cost256 = cost256;
    chosen->coarse = made.coded.coarse;
    chosen->kept = (uint16_t)(tape_before - datagram->tokens);
    baselines->coarse[choice->slot] = made.coded.coarse;
    if (made.is_rounded) {
        keep_due(datagram, choice->slot);
    }
    return true;
}

static void note_change(ph_datagram* datagram, const ph_coded_record* made, uint32_t cost256)
{
    ph_chosen* chosen = &datagram->chosen[datagram->count - 1];
    const int slot = made->record.slot;
    chosen->cost256 = cost256;
    chosen->coarse = made->coarse;
    datagram->sender->baselines.coarse[slot] = made->coarse;
    if (made->coarse != 0) {
        keep_due(datagram, slot);
    }
}

// A leave or an enter.
static bool add_change(ph_datagram* datagram, const ph_choice* choice)
{
    if (datagram->limit_bits - datagram->bits < NEARLY_FULL_BITS) {
        ph_party_settle(datagram);
    }
    const bool is_enter = choice->kind == PH_RECORD_ENTER;
    const int head_bits = head_bits_with(datagram, is_enter ? 0 : 1, is_enter ? 1 : 0);
    const ph_page_mark page_before = ph_coded_page_mark(&datagram->page);
    const uint32_t cost256 = ph_party_join(datagram, choice);
    ph_coded_record made;
    ph_wording_change(&datagram->wording, &datagram->page.frame, choice, &made);
    const bool is_added = try_note(datagram, choice, NULL, &made.record, head_bits);
    if (is_added) {
        note_change(datagram, &made, cost256);
    } else {
        ph_coded_page_return(&datagram->page, &page_before);
    }
    datagram->head_bits = head_bits_with(datagram, 0, 0);
    return is_added;
}

bool ph_coded_add(ph_datagram* datagram, const ph_choice* choice, ph_chosen* before)
{
    if (choice->kind != PH_RECORD_UPDATE) {
        return add_change(datagram, choice);
    }
    ph_choice whole;
    if (before != NULL) {
        whole = whole_choice(datagram, choice, before);
        choice = &whole;
    }
    return add_update(datagram, choice, before);
}
