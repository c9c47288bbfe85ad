// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Parts of packets, the same for both profiles.

#include "support/fuzz_server.h"

#include "packet/header.h"

#include <string.h>

static int layers(const void* context, int64_t x_mm, int64_t y_mm, int64_t heights_mm[])
{
    (void)context;
    heights_mm[0] = 1000;
    heights_mm[1] = 4000;
    return (x_mm >= 0 ? 1 : 0) + (y_mm >= 0 ? 1 : 0);
}

const ph_ground fuzz_ground = {.layers = layers};

ph_known_eye fuzz_eye_of(const ph_client* client, const ph_header* header)
{
    if (!header->has_eye) {
        return ph_arrivals_eye(&client->session.arrivals, header->horizon);
    }
    return (ph_known_eye){.mm = {header->eye_mm[0], header->eye_mm[1], header->eye_mm[2]},
                          .is_known = true};
}

ph_frame fuzz_frame_of(const ph_client* client, const ph_header* header)
{
    const ph_known_eye eye = fuzz_eye_of(client, header);
    return (ph_frame){.layouts = &client->layouts,
                      .ground = &fuzz_ground,
                      .slot_bits = ph_slot_bits(FUZZ_SLOTS),
                      .eye_mm = {eye.mm[0], eye.mm[1], eye.mm[2]}};
}

// ---- headers

static uint8_t version_of(const ph_client* client)
{
    return client->def.profile == PH_PROFILE_PINHOLE ? PH_PINHOLE_VERSION : PH_CLASSIC_VERSION;
}

ph_header fuzz_make_header(const ph_client* client, fuzz_source* from)
{
    const ph_session* session = &client->session;
    const uint32_t newest = session->has_begun ? session->arrivals.receipt.newest : FUZZ_SESSION;
    const uint32_t horizon = session->has_begun ? session->horizon : FUZZ_SESSION;
    ph_header header = {
        .sequence = newest + 1 + fuzz_take(from, 3),
        .horizon = horizon + fuzz_take(from, newest - horizon + 1),
        .tick = (uint16_t)(fuzz_take(from, 256) * 8),
        .wait = (uint8_t)fuzz_take(from, PH_WAIT_UNKNOWN + 1),
        .has_hello = !session->has_begun || (horizon == FUZZ_SESSION && fuzz_take(from, 2) == 0),
    };
    if (header.sequence - header.horizon > PH_FLIGHT_MAX) {
        header.horizon = newest;
    }
    if (header.has_hello) {
        header.horizon = FUZZ_SESSION;
        header.hello = (ph_hello){.fingerprint = ph_schema_fingerprint(client->def.schema),
                                  .session = FUZZ_SESSION,
                                  .tick_us = 50000,
                                  .slot_count = FUZZ_SLOTS,
                                  .version = version_of(client)};
        header.sequence =
            header.sequence - FUZZ_SESSION > PH_FLIGHT_MAX ? FUZZ_SESSION + 1 : header.sequence;
    }
    header.has_eye = !fuzz_eye_of(client, &header).is_known || fuzz_take(from, 4) == 0;
    header.eye_mm[0] = header.has_eye ? (int32_t)(fuzz_take(from, 256) * 100000) : 0;
    return header;
}

size_t fuzz_write_probe(const ph_client* client, fuzz_source* from, uint8_t bytes[PH_PAYLOAD_MAX])
{
    const ph_header header = {.sequence =
                                  client->session.arrivals.receipt.newest + fuzz_take(from, 70),
                              .is_probe = true};
    if (client->def.profile == PH_PROFILE_PINHOLE) {
        ph_entropy_writer writer;
        ph_entropy_writer_init(&writer, bytes, PH_PAYLOAD_MAX);
        ph_pinhole_header_write(&header, &writer.raw);
        return ph_entropy_writer_finish(&writer);
    }
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_PAYLOAD_MAX);
    ph_header_write(&header, &writer);
    return ph_bit_writer_finish(&writer);
}

// ---- records

static void make_text(const ph_layout* layout, int property, uint8_t* texts, fuzz_source* from)
{
    const int max_length = layout->described->properties[property].def.max_length;
    uint8_t letters[8];
    const uint16_t length = (uint16_t)fuzz_take(from, (uint32_t)max_length + 1);
    for (int i = 0; i < length; ++i) {
        letters[i] = (uint8_t)('a' + fuzz_take(from, 26));
    }
    ph_layout_store_text(layout, texts, property, (ph_text){.bytes = letters, .length = length});
}

static void make_value(const ph_client* client, const ph_layout* layout, int property,
                       ph_record* record, fuzz_source* from)
{
    const ph_property* described = &layout->described->properties[property];
    uint32_t* words = record->words + layout->word[property];
    switch (described->def.coding) {
    case PH_CODING_POSITION: {
        const uint32_t step_mm = UINT32_C(1) << fuzz_take(from, 32);
        const int32_t place_mm[3] = {(int32_t)(step_mm * fuzz_take(from, 256)),
                                     (int32_t)(0u - 16u * fuzz_take(from, 256)),
                                     (int32_t)(16u * fuzz_take(from, 256))};
        ph_layout_round_position(layout, &fuzz_ground, place_mm, words);
        break;
    }
    case PH_CODING_ENTITY: {
        const uint32_t slot = fuzz_take(from, FUZZ_SLOTS + 2);
        words[0] = slot < FUZZ_SLOTS ? slot + 1 : 0;
        words[1] = slot < FUZZ_SLOTS ? client->entities.association[slot] : 0;
        break;
    }
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        make_text(layout, property, record->texts, from);
        break;
    default:
        words[0] = fuzz_take(from, 101);
        break;
    }
}

static void make_values(const ph_client* client, ph_record* record, fuzz_source* from)
{
    const ph_layout* layout = &client->layouts.layouts[record->class_index];
    const bool is_enter = record->kind == PH_RECORD_ENTER;
    record->properties = fuzz_take(from, 256) & layout->all;
    if (is_enter || record->properties == 0) {
        record->properties |= layout->position;
    }
    for (int p = 0; p < layout->described->def.property_count; ++p) {
        const uint64_t bit = UINT64_C(1) << p;
        if ((record->properties & bit) == 0) {
            continue;
        }
        make_value(client, layout, p, record, from);
        if (is_enter && bit != layout->position &&
            ph_layout_is_initial(layout, record->words, record->texts, p)) {
            record->properties &= ~bit;
        }
    }
    record->is_jump =
        !is_enter && (record->properties & layout->position) != 0 && fuzz_take(from, 4) == 0;
}

void fuzz_make_record(const ph_client* client, ph_record_kind kind, int slot, fuzz_source* from,
                      fuzz_record* made)
{
    const ph_client_entities* entities = &client->entities;
    const bool is_entered = ph_bitset_test(&entities->is_entered, slot);
    memset(made, 0, sizeof *made);
    ph_record* record = &made->record;
    *record = (ph_record){
        .kind = (uint8_t)kind, .slot = (uint16_t)slot, .words = made->words, .texts = made->texts};
    record->association = entities->association[slot] + (is_entered ? 0 : 1);
    record->class_index = is_entered ? entities->class_index[slot] : 0;
    if (kind == PH_RECORD_LEAVE) {
        // Of one that left before, too.
        record->association -= !is_entered && record->association > 1 && fuzz_take(from, 2) == 0;
        return;
    }
    if (kind == PH_RECORD_ENTER && !is_entered) {
        record->class_index = (uint8_t)fuzz_take(from, 2);
    }
    record->key = is_entered ? entities->key[slot] : fuzz_take(from, 2 * FUZZ_SLOTS);
    make_values(client, record, from);
}

fuzz_plan fuzz_make_plan(const ph_client* client, ph_header* header, fuzz_source* from)
{
    fuzz_plan made = {{0}};
    for (int slot = 0; slot < FUZZ_SLOTS; ++slot) {
        const bool is_entered = ph_bitset_test(&client->entities.is_entered, slot);
        uint8_t kind1 = (uint8_t)fuzz_take(from, 6);
        if (kind1 > PH_RECORD_UPDATE + 1 || (kind1 == PH_RECORD_UPDATE + 1 && !is_entered)) {
            kind1 = 0;
        }
        made.kind1[slot] = kind1;
        header->leave_count += kind1 == PH_RECORD_LEAVE + 1;
        header->enter_count += kind1 == PH_RECORD_ENTER + 1;
    }
    return made;
}
