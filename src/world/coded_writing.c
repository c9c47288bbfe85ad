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

// What stands before the updates, beside the records of leaves and enters: for so many more of them.
static int head_bits_with(ph_datagram* datagram, int leaves, int enters)
{
    ph_header* header = &datagram->header;
    header->leave_count = datagram->counts[PH_RECORD_LEAVE] + leaves;
    header->enter_count = datagram->counts[PH_RECORD_ENTER] + enters;
    return ph_coded_header_bits(header) + ph_party_spread_bits(datagram, header->enter_count);
}

static int64_t bits_with(const ph_datagram* datagram, int head_bits)
{
    return head_bits + ph_coded_page_bits(&datagram->page);
}

// Another density may make the room that is missing. @return False, at the same one, when none does.
PH_OUT_OF_LINE static bool try_settle(ph_datagram* datagram, int head_bits)
{
    const ph_page_mark before = ph_coded_page_mark(&datagram->page);
    ph_coded_page_settle(&datagram->page);
    if (bits_with(datagram, head_bits) <= datagram->limit_bits) {
        return true;
    }
    ph_coded_page_return(&datagram->page, &before);
    return false;
}

static inline bool fits(ph_datagram* datagram, int head_bits)
{
    return !datagram->tape.is_full && (bits_with(datagram, head_bits) <= datagram->limit_bits ||
                                       try_settle(datagram, head_bits));
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

static inline void keep_due(ph_datagram* datagram, const ph_place* at)
{
    ph_knowledge* knowledge = &datagram->sender->knowledge;
    // The clock goes on for whatever else is due.
    if (knowledge->touched[at->slot] == 0) {
        knowledge->waiting_ms[at->slot] = 0;
    }
    knowledge->touched[at->slot] |= at->layout->position;
}

// A record that is on the page goes into the flight. Of the addition the item is yet to come. @return
// False, with nothing done, when that or the datagram is too small for it.
PH_ALWAYS_INLINE bool try_note(ph_datagram* datagram, ph_addition addition, int head_bits)
{
    ph_sender* sender = datagram->sender;
    const ph_place* at = addition.at;
    ph_flight_item item = ph_wording_measure(at, addition.record->properties, addition.kind, true);
    const uint32_t found = ph_flight_find(&sender->flight, item.value_bytes);
    if (found == PH_FLIGHT_NO_ROOM || !fits(datagram, head_bits)) {
        return false;
    }
    datagram->bits = bits_with(datagram, head_bits);
    ph_wording_complete(&datagram->wording, at, addition.record->is_jump, &item);
    sender->knowledge.mileage_mm[at->slot] += item.mileage_mm;
    if (addition.before == NULL) {
        ph_flight_put(&sender->flight, found, &item);
        addition.place = (uint16_t)found;
        sender->baselines.chosen[at->slot] = (uint16_t)(datagram->count + 1);
    } else {
        addition.place = replace_item(datagram, &item);
    }
    sender->baselines.coarse[at->slot] = addition.coarse;
    addition.item = &item;
    ph_datagram_note(datagram, &addition);
    return true;
}

// All that is said of a slot.
PH_ALWAYS_INLINE bool add_update(ph_datagram* datagram, const ph_choice* choice, ph_chosen* before)
{
    ph_coded_page* page = &datagram->page;
    const ph_place* at = ph_wording_at(&datagram->wording, choice->slot);
    const bool is_rounded = ph_wording_update(&datagram->wording, &page->frame, at, choice);
    ph_coded_record* made = &datagram->wording.update;
    uint32_t* tape_before = datagram->tape.next;
    const uint32_t cost256 = ph_coded_tape(&page->frame, at->layout, made, &datagram->tape);
    const int64_t more256 = before != NULL ? (int64_t)cost256 - before->cost256 : cost256;
    if (before == NULL) {
        ph_coded_page_tell(page, at->slot, more256);
    } else {
        page->records256 += more256;
    }
    const ph_addition addition = {.choice = choice,
                                  .at = at,
                                  .before = before,
                                  .record = &made->record,
                                  .kind = PH_RECORD_UPDATE,
                                  .cost256 = cost256,
                                  .kept = (uint16_t)(tape_before - datagram->tokens),
                                  .coarse = made->coarse};
    if (!try_note(datagram, addition, datagram->head_bits)) {
        if (before == NULL) {
            ph_coded_page_untell(page, at->slot, more256);
        } else {
            page->records256 -= more256;
        }
        ph_tape_rewind(&datagram->tape, tape_before);
        return false;
    }
    if (is_rounded) {
        keep_due(datagram, at);
    }
    return true;
}

// More of a slot that is told of already.
PH_OUT_OF_LINE static bool add_more(ph_datagram* datagram, const ph_choice* choice,
                                    ph_chosen* before)
{
    const ph_choice whole = whole_choice(datagram, choice, before);
    return add_update(datagram, &whole, before);
}

// A leave or an enter.
PH_OUT_OF_LINE static bool add_change(ph_datagram* datagram, const ph_choice* choice)
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
    const ph_addition addition = {.choice = choice,
                                  .at = ph_wording_at(&datagram->wording, choice->slot),
                                  .record = &made.record,
                                  .kind = choice->kind,
                                  .cost256 = cost256,
                                  .kept = PH_KEPT_NONE,
                                  .coarse = made.coarse};
    const bool is_added = try_note(datagram, addition, head_bits);
    if (!is_added) {
        ph_coded_page_return(&datagram->page, &page_before);
    } else if (made.coarse != 0) {
        keep_due(datagram, addition.at);
    }
    datagram->head_bits = head_bits_with(datagram, 0, 0);
    return is_added;
}

bool ph_coded_add(ph_datagram* datagram, const ph_choice* choice, ph_chosen* before)
{
    if (choice->kind != PH_RECORD_UPDATE) {
        return add_change(datagram, choice);
    }
    return PH_UNLIKELY(before != NULL) ? add_more(datagram, choice, before)
                                       : add_update(datagram, choice, NULL);
}
