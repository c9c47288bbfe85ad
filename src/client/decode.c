// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From the bytes behind a header to a decoded packet. Once per packet, a few steps per record: open
// a row, read which entity the record is about, check that, read its values, check them, close the
// row. A check asks whether a server can have written this to a client that knows what ours knows,
// before the packet; one record that fails refuses the packet.

#include "client/decode.h"

#include "base/allocator.h"
#include "packet/pinhole_records.h"

// No classic record is shorter than a leave.
#define RECORD_BITS_MIN (PH_CLASSIC_SLOT_BITS_MIN + PH_CLASSIC_ASSOCIATION_BITS)
#define RECORDS_MAX (8 * PH_PAYLOAD_MAX / RECORD_BITS_MIN)

// ---- creation

ph_result ph_decoded_packet_create(ph_decoded_packet* decoded, const ph_layouts* layouts,
                                   const ph_allocator* allocator, ph_profile profile,
                                   int slot_capacity)
{
    const bool is_limited = profile == PH_PROFILE_CLASSIC && slot_capacity > RECORDS_MAX;
    const int capacity = is_limited ? RECORDS_MAX : slot_capacity;
    const size_t count = (size_t)capacity;
    const size_t bit_words = (size_t)ph_bitset_word_count(slot_capacity);
    *decoded = (ph_decoded_packet){.layouts = layouts,
                                   .capacity = capacity,
                                   .slot_capacity = slot_capacity,
                                   .allocator = *allocator};
    decoded->records = ph_allocate_array(allocator, count, sizeof(ph_record));
    decoded->words =
        ph_allocate_array(allocator, count, (size_t)layouts->word_count_max * sizeof(uint32_t));
    decoded->slot_words = ph_allocate_array(allocator, bit_words, sizeof(uint64_t));
    bool is_complete =
        decoded->records != NULL && decoded->words != NULL && decoded->slot_words != NULL;
    if (layouts->text_bytes_max > 0) {
        decoded->texts = ph_allocate_array(allocator, count, layouts->text_bytes_max);
        is_complete = is_complete && decoded->texts != NULL;
    }
    if (!is_complete) {
        ph_decoded_packet_destroy(decoded);
        return PH_ERROR_MEMORY;
    }
    decoded->is_mentioned = ph_bitset_make(decoded->slot_words, slot_capacity);
    return PH_OK;
}

void ph_decoded_packet_destroy(ph_decoded_packet* decoded)
{
    const ph_allocator* allocator = &decoded->allocator;
    const ph_layouts* layouts = decoded->layouts;
    const size_t count = (size_t)decoded->capacity;
    if (count > 0) {
        ph_release_array(allocator, decoded->texts, count, layouts->text_bytes_max);
        ph_release_array(allocator, decoded->slot_words,
                         (size_t)ph_bitset_word_count(decoded->slot_capacity), sizeof(uint64_t));
        ph_release_array(allocator, decoded->words, count,
                         (size_t)layouts->word_count_max * sizeof(uint32_t));
        ph_release_array(allocator, decoded->records, count, sizeof(ph_record));
    }
    *decoded = (ph_decoded_packet){0};
}

// ---- rows

static void clear_rows(ph_decoded_packet* decoded)
{
    for (int i = 0; i < decoded->count; ++i) {
        ph_bitset_clear(&decoded->is_mentioned, decoded->records[i].slot);
    }
    decoded->count = 0;
}

// The next record, with its kind and a row of its own. @return NULL when there is no room.
static ph_record* open_row(ph_decoded_packet* decoded, ph_record_kind kind)
{
    if (decoded->count == decoded->capacity) {
        return NULL;
    }
    const size_t row = (size_t)decoded->count;
    ph_record* record = &decoded->records[row];
    *record = (ph_record){
        .kind = (uint8_t)kind,
        .words = decoded->words + row * (size_t)decoded->layouts->word_count_max,
        .texts =
            decoded->texts != NULL ? decoded->texts + row * decoded->layouts->text_bytes_max : NULL,
    };
    return record;
}

// The record is read and sound.
static void close_row(ph_decoded_packet* decoded)
{
    ph_bitset_set(&decoded->is_mentioned, decoded->records[decoded->count].slot);
    ++decoded->count;
}

// ---- what a server can have written

// Slots ascend within a kind, which begins at row kind_first, and none is in a packet twice.
static bool is_slot_next(const ph_decoded_packet* decoded, const ph_decode_source* source,
                         int kind_first, int slot)
{
    if (slot >= source->slot_count || ph_bitset_test(&decoded->is_mentioned, slot)) {
        return false;
    }
    return decoded->count == kind_first || decoded->records[decoded->count - 1].slot < slot;
}

// Steps from what the slot counts to what a record names by the two low bits: 0..3. Senders and
// receivers are at most one apart, so two bits are enough.
static uint32_t association_steps(const ph_client_entities* entities, int slot, uint32_t low_bits)
{
    return (low_bits - entities->association[slot]) & PH_CLASSIC_ASSOCIATION_MASK;
}

// Makes the association number whole. @return Whether the slot's entity can have such a record; of
// an enter, class and key are read already.
static bool try_complete_association(const ph_client_entities* entities, ph_record* record)
{
    const int slot = record->slot;
    const uint32_t steps = association_steps(entities, slot, record->association);
    const bool is_entered = ph_bitset_test(&entities->is_entered, slot);
    record->association = entities->association[slot] + steps;
    switch (record->kind) {
    case PH_RECORD_LEAVE:
        // The entity that the slot shows. In an empty slot: the last one again, because the server
        // does not know yet that its leave has arrived; or the next one, whose enter has not.
        return steps == 0 ? entities->association[slot] != 0 : steps == 1 && !is_entered;
    case PH_RECORD_ENTER:
        // The entity that the slot shows, once more as a whole; or the next one in an empty slot.
        return is_entered ? steps == 0 && entities->key[slot] == record->key &&
                                entities->class_index[slot] == record->class_index
                          : steps == 1;
    default:
        return is_entered && steps == 0;
    }
}

// Makes references whole. A server refers only to entities whose enter it knows to have arrived: so
// each names one that was in view before this packet.
static bool try_complete_values(const ph_decode_source* source, const ph_record* record)
{
    const ph_client_entities* entities = source->entities;
    const ph_layout* layout = &source->frame.frame.layouts->layouts[record->class_index];
    if ((record->properties & layout->position) != 0 && !source->is_eye_known) {
        return false; // a position around an eye that no packet had
    }
    for (uint64_t left = record->properties & layout->references; left != 0; left &= left - 1) {
        uint32_t* words = record->words + layout->word[ph_word_lowest_bit(left)];
        if (words[0] == 0) {
            continue;
        }
        const int target = (int)(words[0] - 1);
        if (target >= source->slot_count || !ph_bitset_test(&entities->is_entered, target) ||
            association_steps(entities, target, words[1]) != 0) {
            return false;
        }
        words[1] = entities->association[target];
    }
    return true;
}

static bool is_left_in_packet(const ph_decoded_packet* decoded, int slot)
{
    for (int i = 0; i < decoded->enter_first; ++i) {
        if (decoded->records[i].slot == slot) {
            return true;
        }
    }
    return false;
}

static bool is_entered_before(const ph_decoded_packet* decoded, int record, uint64_t key)
{
    for (int i = decoded->enter_first; i < record; ++i) {
        if (decoded->records[i].key == key) {
            return true;
        }
    }
    return false;
}

// Of the whole packet: keys are those of a server's entities, and none is in two slots. An entity
// that we have in another slot has left that one, whether its leave arrived or not; but then the
// packet has no other record of it.
static bool are_keys_possible(const ph_decoded_packet* decoded, const ph_client_entities* entities)
{
    for (int i = decoded->enter_first; i < decoded->update_first; ++i) {
        const ph_record* record = &decoded->records[i];
        if (is_entered_before(decoded, i, record->key)) {
            return false;
        }
        const int known = ph_client_entities_find(entities, record->key);
        if (known >= 0 && known != record->slot && ph_bitset_test(&decoded->is_mentioned, known) &&
            !is_left_in_packet(decoded, known)) {
            return false;
        }
    }
    return true;
}

// ---- classic packets

static bool try_read_classic(ph_decoded_packet* decoded, const ph_decode_source* source,
                             ph_record_kind kind, int kind_first, ph_bit_reader* reader)
{
    const ph_frame* frame = &source->frame.frame;
    ph_record* record = open_row(decoded, kind);
    if (record == NULL) {
        return false;
    }
    ph_classic_read_slot(frame, reader, record);
    if (ph_bit_reader_result(reader) != PH_OK ||
        !is_slot_next(decoded, source, kind_first, record->slot)) {
        return false;
    }
    if (kind == PH_RECORD_UPDATE) {
        record->class_index = source->entities->class_index[record->slot];
    } else if (kind == PH_RECORD_ENTER) {
        ph_classic_read_key(frame, reader, record);
    }
    if (ph_bit_reader_result(reader) != PH_OK ||
        !try_complete_association(source->entities, record)) {
        return false;
    }
    if (kind != PH_RECORD_LEAVE) {
        ph_classic_read_body(frame, reader, record);
        if (ph_bit_reader_result(reader) != PH_OK || !try_complete_values(source, record)) {
            return false;
        }
    }
    close_row(decoded);
    return true;
}

bool ph_decode_classic(ph_decoded_packet* decoded, const ph_decode_source* source,
                       ph_bit_reader* reader)
{
    const ph_header* header = source->header;
    clear_rows(decoded);
    for (int i = 0; i < header->leave_count; ++i) {
        if (!try_read_classic(decoded, source, PH_RECORD_LEAVE, 0, reader)) {
            return false;
        }
    }
    decoded->enter_first = decoded->count;
    for (int i = 0; i < header->enter_count; ++i) {
        if (!try_read_classic(decoded, source, PH_RECORD_ENTER, decoded->enter_first, reader)) {
            return false;
        }
    }
    decoded->update_first = decoded->count;
    // Less than a byte is padding; an update is never that short.
    while (ph_bit_reader_left_bits(reader) >= 8) {
        if (!try_read_classic(decoded, source, PH_RECORD_UPDATE, decoded->update_first, reader)) {
            return false;
        }
    }
    return ph_bit_reader_finish(reader) == PH_OK && are_keys_possible(decoded, source->entities);
}

// ---- pinhole packets: leaves, enters, then a flag for each slot that is entered in the baselines

// A leave or an enter; the next one is coded as a difference to it.
static bool try_read_change(ph_decoded_packet* decoded, const ph_decode_source* source,
                            const ph_pinhole_frame* frame, ph_record_kind kind,
                            ph_pinhole_neighbour* before, ph_entropy_reader* reader)
{
    const int kind_first = kind == PH_RECORD_ENTER ? decoded->enter_first : 0;
    const bool is_first = decoded->count == kind_first;
    ph_record* row = open_row(decoded, kind);
    if (row == NULL) {
        return false;
    }
    ph_pinhole_record coded = {.record = *row, .before = is_first ? NULL : before};
    ph_record* record = &coded.record;
    ph_pinhole_read_identity(frame, reader, &coded);
    if (reader->raw.result != PH_OK || !is_slot_next(decoded, source, kind_first, record->slot) ||
        !try_complete_association(source->entities, record)) {
        return false;
    }
    if (kind == PH_RECORD_ENTER) {
        // An entity that is entered in the baselines gets updates only.
        if (source->baselines->slots[record->slot].baseline.is_entered) {
            return false;
        }
        ph_pinhole_read(frame, reader, &coded);
        if (reader->raw.result != PH_OK || !try_complete_values(source, record)) {
            return false;
        }
    }
    *row = *record;
    *before = ph_pinhole_neighbour_of(frame, &coded);
    close_row(decoded);
    return true;
}

// What this packet has told of a slot, or NULL. Updates ascend by slot.
static const ph_record* update_before(const ph_decoded_packet* decoded, int slot)
{
    int low = decoded->update_first;
    int high = decoded->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (decoded->records[middle].slot < slot) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < decoded->count && decoded->records[low].slot == slot ? &decoded->records[low]
                                                                      : NULL;
}

// What carries the slot of an update. @return False when nothing does.
static bool find_carrier(const ph_decoded_packet* decoded, const ph_decode_source* source,
                         const ph_pinhole_record* coded, ph_pinhole_carrier* carrier,
                         ph_carrier_step* step)
{
    const ph_client_baselines* baselines = source->baselines;
    const int slot = ph_pinhole_carrier_slot(&source->frame, coded->baseline, coded->known);
    if (slot < 0 || slot >= source->slot_count) {
        return false;
    }
    carrier->baseline = &baselines->slots[slot].baseline;
    if (!ph_pinhole_can_carry(&source->frame, coded->baseline, carrier->baseline)) {
        return false;
    }
    carrier->known = baselines->known + (size_t)slot * baselines->stride;
    const ph_record* update = update_before(decoded, slot);
    const bool has_step =
        update != NULL && ph_carrier_step_make(&source->frame, carrier->known, update, step);
    carrier->step = has_step ? step : NULL;
    return true;
}

static bool try_read_update(ph_decoded_packet* decoded, const ph_decode_source* source,
                            const ph_pinhole_frame* frame, int slot, ph_entropy_reader* reader)
{
    const ph_client_entities* entities = source->entities;
    const ph_client_baselines* baselines = source->baselines;
    const ph_client_baseline* acked = &baselines->slots[slot];
    ph_record* row = open_row(decoded, PH_RECORD_UPDATE);
    // The baseline may be that of an entity that has left since, or that a newer packet replaced by
    // another: then a server has nothing to say of the slot until it knows that we know.
    if (row == NULL || ph_bitset_test(&decoded->is_mentioned, slot) ||
        !ph_bitset_test(&entities->is_entered, slot) ||
        acked->association != entities->association[slot]) {
        return false;
    }
    ph_pinhole_record coded = {
        .record = *row,
        .baseline = &acked->baseline,
        .known = baselines->known + (size_t)slot * baselines->stride,
    };
    coded.record.slot = (uint16_t)slot;
    coded.record.association = acked->association;
    coded.record.class_index = acked->baseline.class_index;
    ph_pinhole_carrier carrier;
    ph_carrier_step step;
    coded.carrier = find_carrier(decoded, source, &coded, &carrier, &step) ? &carrier : NULL;
    ph_pinhole_read(frame, reader, &coded);
    if (reader->raw.result != PH_OK || !try_complete_values(source, &coded.record)) {
        return false;
    }
    *row = coded.record;
    close_row(decoded);
    return true;
}

bool ph_decode_pinhole(ph_decoded_packet* decoded, const ph_decode_source* source,
                       ph_entropy_reader* reader)
{
    const ph_header* header = source->header;
    ph_pinhole_frame frame = source->frame; // with its step, and the spread of the enters
    ph_pinhole_read_step(&frame, reader);
    ph_pinhole_neighbour before;
    clear_rows(decoded);
    for (int i = 0; i < header->leave_count; ++i) {
        if (!try_read_change(decoded, source, &frame, PH_RECORD_LEAVE, &before, reader)) {
            return false;
        }
    }
    decoded->enter_first = decoded->count;
    if (header->enter_count > 0) {
        ph_pinhole_read_spread(&frame, reader, header->enter_count);
    }
    decoded->spread = frame.spread;
    for (int i = 0; i < header->enter_count; ++i) {
        if (!try_read_change(decoded, source, &frame, PH_RECORD_ENTER, &before, reader)) {
            return false;
        }
    }
    decoded->update_first = decoded->count;
    for (int slot = 0; slot < source->slot_count && reader->raw.result == PH_OK; ++slot) {
        const ph_baseline* baseline = &source->baselines->slots[slot].baseline;
        if (baseline->is_entered &&
            ph_pinhole_read_told(&source->frame, reader,
                                 ph_pinhole_urgency(&source->frame, baseline)) &&
            !try_read_update(decoded, source, &frame, slot, reader)) {
            return false;
        }
    }
    return ph_entropy_reader_finish(reader) == PH_OK &&
           are_keys_possible(decoded, source->entities);
}
