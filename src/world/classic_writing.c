// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Datagrams of the classic profile: whole bits.

#include "world/datagram.h"

static int record_bits(ph_datagram* datagram, const ph_choice* choice)
{
    const ph_record record = ph_wording_record(&datagram->wording, choice);
    return ph_classic_record_bits(&datagram->frame, &record, NULL);
}

// What the choice adds to a record that is there already, in bits.
static int joined_bits(ph_datagram* datagram, const ph_choice* choice, const ph_chosen* before)
{
    ph_choice whole = *choice;
    whole.has_words = false;
    whole.properties = before->properties;
    const int before_bits = record_bits(datagram, &whole);
    whole.properties |= choice->properties;
    return record_bits(datagram, &whole) - before_bits;
}

bool ph_classic_add(ph_datagram* datagram, const ph_choice* choice, ph_chosen* before)
{
    ph_sender* sender = datagram->sender;
    const int more_bits = before != NULL ? joined_bits(datagram, choice, before) : 0;
    const ph_record record = ph_wording_record(&datagram->wording, choice);
    const int bits =
        before != NULL ? more_bits : ph_classic_record_bits(&datagram->frame, &record, NULL);
    ph_flight_item item = ph_wording_item(&datagram->wording, &record);
    if (datagram->bits + bits > datagram->limit_bits ||
        !ph_flight_has_room(&sender->flight, item.value_bytes)) {
        return false;
    }
    const uint16_t place = ph_flight_add(&sender->flight, &item);
    sender->knowledge.mileage_mm[choice->slot] += item.mileage_mm;
    ph_datagram_note(datagram, &(ph_addition){choice, before, &record, &item, place});
    if (before == NULL && choice->kind == PH_RECORD_UPDATE) {
        ph_chosen* chosen = &datagram->chosen[datagram->count - 1];
        chosen->is_jump = record.is_jump;
        chosen->kept = ph_wording_keep(&datagram->wording, &record);
    }
    datagram->bits += bits;
    return true;
}

static void write_change(ph_datagram* datagram, ph_booking* booking, ph_bit_writer* writer,
                         const ph_chosen* chosen)
{
    const ph_choice choice = ph_chosen_choice(chosen);
    const ph_record record = ph_wording_record(&datagram->wording, &choice);
    const size_t before_bits = ph_bit_writer_size_bits(writer);
    ph_classic_write_record(&datagram->frame, &record, writer);
    const uint64_t bits = ph_bit_writer_size_bits(writer) - before_bits;
    ph_booking_change(booking, choice.kind, bits * PH_COST_PER_BIT, chosen->is_repeat);
}

// Made when it was chosen, unless it was added to since, or has no place among those that are kept.
static ph_record update_of(ph_datagram* datagram, const ph_chosen* chosen)
{
    if (chosen->kept == PH_KEPT_NONE) {
        const ph_choice choice = ph_chosen_choice(chosen);
        return ph_wording_record(&datagram->wording, &choice);
    }
    const ph_knowledge* knowledge = &datagram->sender->knowledge;
    const int slot = ph_chosen_slot(chosen);
    return (ph_record){
        .properties = chosen->properties,
        .association = ph_knowledge_at(knowledge, slot)->association,
        .slot = (uint16_t)slot,
        .kind = PH_RECORD_UPDATE,
        .class_index = knowledge->class_index[slot],
        .is_jump = chosen->is_jump,
        .words = datagram->wording.words + chosen->kept,
    };
}

static void write_update(ph_datagram* datagram, ph_booking* booking, ph_bit_writer* writer,
                         const ph_chosen* chosen)
{
    const ph_record record = update_of(datagram, chosen);
    ph_bill bill;
    ph_classic_write_billed(&datagram->frame, &record, writer, &bill);
    const ph_booked_update update = {
        .properties = record.properties,
        .repeats = chosen->repeats,
        .bill = &bill,
        .unit = PH_COST_PER_BIT,
        .first_property = datagram->outlook->world->forms.first_property[record.class_index],
        .is_significant = chosen->is_significant,
    };
    ph_booking_update(booking, &update);
}

size_t ph_classic_write(ph_datagram* datagram, ph_booking* booking, uint8_t bytes[PH_PAYLOAD_MAX])
{
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_PAYLOAD_MAX);
    ph_header_write(&datagram->header, &writer);
    for (int i = 0; i < datagram->count; ++i) {
        const ph_chosen* chosen = &datagram->chosen[i];
        if (ph_chosen_kind(chosen) == PH_RECORD_UPDATE) {
            write_update(datagram, booking, &writer, chosen);
        } else {
            write_change(datagram, booking, &writer, chosen);
        }
    }
    datagram->wording.kept_count = 0;
    PH_ASSERT(ph_bit_writer_result(&writer) == PH_OK);
    PH_ASSERT((int64_t)ph_bit_writer_size_bits(&writer) == datagram->bits);
    return ph_bit_writer_finish(&writer);
}
