// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Datagrams of the pinhole profile, as they are closed: the header, those who leave and enter, and flags
// for everybody whom the client has, each with the tape of what is told. Once per packet, slot and
// record.

#include "world/datagram.h"

#include "wire/coded_header.h"
#include "wire/coded_neighbour.h"
#include "world/party.h"

static void write_change(ph_datagram* datagram, ph_booking* booking, ph_entropy_writer* writer,
                         const ph_chosen* chosen, ph_party_walk* walk)
{
    const ph_choice choice = ph_chosen_choice(chosen);
    ph_coded_record made;
    ph_party_word(datagram, walk, &choice, &made);
    const uint32_t cost256 = ph_coded_write(&datagram->page.frame, writer, &made);
    ph_booking_change(booking, choice.kind, cost256, chosen->is_repeat);
    ph_party_pass(datagram, walk, &made);
}

// What was chosen for a slot if it is of this kind, else NULL.
static inline const ph_chosen* chosen_of(const ph_datagram* datagram, int slot, ph_record_kind kind)
{
    const unsigned place = datagram->sender->baselines.chosen[slot];
    if (place == 0 || ph_chosen_kind(&datagram->chosen[place - 1]) != kind) {
        return NULL;
    }
    return &datagram->chosen[place - 1];
}

// Leaves or enters, in the order of slots.
static void write_changes(ph_datagram* datagram, ph_booking* booking, ph_entropy_writer* writer,
                          ph_record_kind kind)
{
    ph_party_walk walk = {.is_begun = false};
    int left = datagram->counts[kind];
    for (int slot = 0; left > 0; ++slot) {
        PH_ASSERT(slot < datagram->sender->knowledge.slot_count);
        const ph_chosen* chosen = chosen_of(datagram, slot, kind);
        if (chosen != NULL) {
            write_change(datagram, booking, writer, chosen, &walk);
            --left;
        }
    }
}

// What of an update was said before, and lost; who and which only if nothing else is said.
static PH_OUT_OF_LINE uint64_t repeated256(const ph_datagram* datagram, const ph_chosen* chosen)
{
    const int urgency = datagram->sender->baselines.urgencies[ph_chosen_slot(chosen)];
    ph_bill bill = {0};
    ph_tape_bill(&datagram->tokens[chosen->kept], &bill);
    uint64_t cost256 = 0;
    for (uint64_t left = chosen->repeats; left != 0; left &= left - 1) {
        cost256 += bill.property_bits[ph_word_lowest_bit(left)];
    }
    if (chosen->repeats == chosen->properties) {
        cost256 += bill.mask_bits + ph_coded_told_cost256(&datagram->page.frame, urgency, true);
    }
    return cost256;
}

// What the updates are, but for what their marks say.
static ph_booked_updates sum_updates(const ph_datagram* datagram)
{
    ph_booked_updates updates = {
        .flags256 = (uint64_t)ph_coded_page_flags256(&datagram->page),
        .count = datagram->counts[PH_RECORD_UPDATE],
    };
    for (int i = 0; i < datagram->count; ++i) {
        const ph_chosen* chosen = &datagram->chosen[i];
        if (ph_chosen_kind(chosen) != PH_RECORD_UPDATE) {
            continue;
        }
        updates.values256 += chosen->cost256;
        updates.significant += chosen->is_significant;
        if (PH_UNLIKELY(chosen->repeats != 0)) {
            updates.repeats256 += repeated256(datagram, chosen);
        }
    }
    return updates;
}

// Everybody whom the client has, in the order of slots, with what is told of them. Properties are billed.
// @return What it took to say which.
static uint64_t write_flags(const ph_datagram* datagram, ph_entropy_writer* writer)
{
    const ph_sender* sender = datagram->sender;
    const int* first_property = datagram->outlook->world->forms.first_property;
    const uint8_t* class_index = sender->knowledge.class_index;
    const uint8_t* urgencies = sender->baselines.urgencies;
    const int density = datagram->page.frame.density;
    const int entered_end = sender->baselines.entered_end;
    ph_tape_costs costs = {0};
    ph_entropy_run run = ph_entropy_run_begin(writer);
    ph_raw_bits raw = {0};
    for (int slot = 0; slot < entered_end; ++slot) {
        const int urgency = urgencies[slot];
        if (urgency == PH_URGENCY_NONE) {
            continue;
        }
        const ph_chosen* chosen = chosen_of(datagram, slot, PH_RECORD_UPDATE);
        if (chosen == NULL) {
            ph_coded_run_told(density, &run, urgency, false);
            continue;
        }
        ph_coded_run_told(density, &run, urgency, true);
        costs.properties256 = sender->property_bits256 + first_property[class_index[slot]];
        ph_tape_play(&datagram->tokens[chosen->kept], &run, &raw, &costs);
    }
    ph_raw_bits_flush(&raw, &run);
    ph_entropy_run_end(&run);
    return costs.others256[0];
}

#if !defined(NDEBUG) || defined(PH_ENABLE_ASSERTS)
// Whether the page has what is written and nothing of what did not fit. Those who enter are told by each
// other, and how is settled last: so records are compared where nobody does.
static bool is_page_exact(const ph_datagram* datagram, const ph_booked_updates* updates)
{
    const ph_coded_page* page = &datagram->page;
    uint64_t flags256 = 0;
    for (int slot = 0; slot < page->baselines->entered_end; ++slot) {
        const int urgency = page->baselines->urgencies[slot];
        const bool is_told = chosen_of(datagram, slot, PH_RECORD_UPDATE) != NULL;
        flags256 +=
            urgency != PH_URGENCY_NONE ? ph_coded_told_cost256(&page->frame, urgency, is_told) : 0;
    }
    return flags256 == updates->flags256 &&
           (datagram->count > updates->count || page->records256 == (int64_t)updates->values256);
}
#endif

static void write_updates(ph_datagram* datagram, ph_booking* booking, ph_entropy_writer* writer)
{
    ph_booked_updates updates = sum_updates(datagram);
    PH_ASSERT(is_page_exact(datagram, &updates));
    if (datagram->page.frame.density != PH_DENSITY_NOBODY) {
        updates.masks256 = write_flags(datagram, writer);
        updates.values256 -= updates.masks256;
    }
    ph_booking_updates(booking, &updates);
}

size_t ph_coded_write_all(ph_datagram* datagram, ph_booking* booking, uint8_t bytes[PH_PAYLOAD_MAX])
{
    ph_party_settle(datagram);
    ph_coded_page_settle(&datagram->page);
    datagram->header.density = (uint8_t)datagram->page.frame.density;
    datagram->sender->density = datagram->page.frame.density;
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, PH_PAYLOAD_MAX);
    ph_coded_header_write(&datagram->header, &writer.raw);
    write_changes(datagram, booking, &writer, PH_RECORD_LEAVE);
    ph_coded_write_spread(&datagram->page.frame, &writer, datagram->counts[PH_RECORD_ENTER]);
    write_changes(datagram, booking, &writer, PH_RECORD_ENTER);
    write_updates(datagram, booking, &writer);
    PH_ASSERT(ph_entropy_writer_result(&writer) == PH_OK);
    return ph_entropy_writer_finish(&writer);
}
