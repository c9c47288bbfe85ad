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

static inline void write_update(ph_datagram* datagram, ph_booking* booking, ph_entropy_run* run,
                                ph_raw_bits* raw, const ph_chosen* chosen, uint32_t flag256)
{
    const int class_index = datagram->sender->knowledge.class_index[ph_chosen_slot(chosen)];
    ph_bill bill;
    bill.slot_bits = flag256;
    ph_tape_play(&datagram->tokens[chosen->kept], run, raw, &bill);
    const ph_booked_update update = {
        .properties = chosen->properties,
        .repeats = chosen->repeats,
        .bill = &bill,
        .unit = 1,
        .first_property = datagram->outlook->world->forms.first_property[class_index],
        .is_significant = chosen->is_significant,
    };
    ph_booking_update(booking, &update);
}

// What was chosen for a slot, or NULL.
static const ph_chosen* chosen_of(const ph_datagram* datagram, int slot)
{
    const int place = datagram->sender->baselines.chosen[slot];
    return place > 0 ? &datagram->chosen[place - 1] : NULL;
}

// Leaves or enters, in the order of slots.
static void write_changes(ph_datagram* datagram, ph_booking* booking, ph_entropy_writer* writer,
                          ph_record_kind kind)
{
    ph_party_walk walk = {.is_begun = false};
    int left = datagram->counts[kind];
    for (int slot = 0; left > 0; ++slot) {
        PH_ASSERT(slot < datagram->page.slot_count);
        const ph_chosen* chosen = chosen_of(datagram, slot);
        if (chosen != NULL && ph_chosen_kind(chosen) == kind) {
            write_change(datagram, booking, writer, chosen, &walk);
            --left;
        }
    }
}

// Everybody whom the client has, in the order of slots.
static void write_flags(ph_datagram* datagram, ph_booking* booking, ph_entropy_writer* writer)
{
    const int density = datagram->page.frame.density;
    const uint8_t* urgencies = datagram->sender->baselines.urgencies;
    const int slot_count = density == PH_DENSITY_NOBODY ? 0 : datagram->page.slot_count;
    ph_entropy_run run = ph_entropy_run_begin(writer);
    ph_raw_bits raw = {0};
    for (int slot = 0; slot < slot_count; ++slot) {
        const int urgency = urgencies[slot];
        if (urgency == PH_URGENCY_NONE) {
            continue;
        }
        const ph_chosen* chosen = chosen_of(datagram, slot);
        const bool is_told = chosen != NULL && ph_chosen_kind(chosen) == PH_RECORD_UPDATE;
        ph_coded_run_told(density, &run, urgency, is_told);
        if (is_told) {
            write_update(datagram, booking, &run, &raw, chosen,
                         ph_coded_flag_cost256(density, urgency, true));
        }
    }
    ph_raw_bits_flush(&raw, &run);
    ph_entropy_run_end(&run);
    ph_booking_silence(booking, (uint64_t)ph_coded_page_silence256(&datagram->page));
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
    write_flags(datagram, booking, &writer);
    PH_ASSERT(ph_entropy_writer_result(&writer) == PH_OK);
    return ph_entropy_writer_finish(&writer);
}
