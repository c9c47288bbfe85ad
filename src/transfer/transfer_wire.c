// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Header, then records: first written, then read.

#include "transfer/transfer_wire.h"

#include "schema/property.h"

#include <pinhole/integers.h>

#include <string.h>

enum {
    FORMAT_VERSION = 1,
    FLAG_WHOLE = 1,
    FLAG_AREA = 2,
    FLAGS_ALL = FLAG_WHOLE | FLAG_AREA,
    PLAIN_HEADER_SIZE = 20,
    KIND_BITS = 2,
    FLAGS_BITS = 2, // PH_SEEN_ALWAYS, PH_SEEN_NEVER
};

// ---- the header

size_t ph_batch_header_size(const ph_batch_header* header)
{
    return PLAIN_HEADER_SIZE + (header->is_whole ? 2 * sizeof(uint64_t) : 0) +
           (header->has_area ? 4 * sizeof(int32_t) : 0);
}

static uint8_t* put_number(uint8_t* bytes, uint64_t value, int size)
{
    for (int i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
    return bytes + size;
}

static uint64_t get_number(const uint8_t** bytes, int size)
{
    uint64_t value = 0;
    for (int i = 0; i < size; ++i) {
        value |= (uint64_t)(*bytes)[i] << (8 * i);
    }
    *bytes += size;
    return value;
}

void ph_batch_header_write(const ph_batch_header* header, uint8_t* bytes)
{
    const int flags = (header->is_whole ? FLAG_WHOLE : 0) | (header->has_area ? FLAG_AREA : 0);
    bytes = put_number(bytes, FORMAT_VERSION, 1);
    bytes = put_number(bytes, (uint64_t)flags, 1);
    bytes = put_number(bytes, (uint64_t)header->record_count, 2);
    bytes = put_number(bytes, header->owner, 4);
    bytes = put_number(bytes, header->tick, 4);
    bytes = put_number(bytes, header->fingerprint, 8);
    if (header->is_whole) {
        bytes = put_number(bytes, header->first_key, 8);
        bytes = put_number(bytes, header->last_key, 8);
    }
    for (int i = 0; header->has_area && i < 2; ++i) {
        bytes = put_number(bytes, (uint32_t)header->from_mm[i], 4);
        bytes = put_number(bytes, (uint32_t)header->to_mm[i], 4);
    }
}

bool ph_batch_header_read(ph_batch_header* header, const uint8_t* bytes, size_t size,
                          ph_import_refusal* refusal)
{
    *header = (ph_batch_header){0};
    *refusal = PH_IMPORT_REFUSAL_SIZE;
    if (size < PLAIN_HEADER_SIZE || size > PH_EXPORT_BATCH_BYTES_MAX) {
        return false;
    }
    *refusal = PH_IMPORT_REFUSAL_FORMAT;
    const uint8_t version = bytes[0];
    const uint8_t flags = bytes[1];
    if (version != FORMAT_VERSION || (flags & ~FLAGS_ALL) != 0) {
        return false;
    }
    header->is_whole = (flags & FLAG_WHOLE) != 0;
    header->has_area = (flags & FLAG_AREA) != 0;
    *refusal = PH_IMPORT_REFUSAL_SIZE;
    if (size < ph_batch_header_size(header)) {
        return false;
    }
    bytes += 2;
    header->record_count = (int)get_number(&bytes, 2);
    header->owner = (uint32_t)get_number(&bytes, 4);
    header->tick = (uint32_t)get_number(&bytes, 4);
    header->fingerprint = get_number(&bytes, 8);
    if (header->is_whole) {
        header->first_key = get_number(&bytes, 8);
        header->last_key = get_number(&bytes, 8);
    }
    bool is_area = true;
    for (int i = 0; header->has_area && i < 2; ++i) {
        header->from_mm[i] = (int32_t)get_number(&bytes, 4);
        header->to_mm[i] = (int32_t)get_number(&bytes, 4);
        is_area = is_area && header->from_mm[i] <= header->to_mm[i];
    }
    *refusal = PH_IMPORT_REFUSAL_RANGE;
    return is_area && header->first_key <= header->last_key;
}

bool ph_batch_has_place(const ph_batch_header* header, const int32_t* place_mm)
{
    return !header->has_area ||
           (header->from_mm[0] <= place_mm[0] && place_mm[0] <= header->to_mm[0] &&
            header->from_mm[1] <= place_mm[1] && place_mm[1] <= header->to_mm[1]);
}

// ---- records, written

uint64_t ph_transfer_mask_of(const ph_class* described)
{
    const int count = described->def.property_count;
    const uint64_t all = count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
    return all & ~(UINT64_C(1) << described->position);
}

void ph_transfer_write_removed(ph_bit_writer* writer, const ph_removal* removal)
{
    ph_bits_write(writer, PH_TRANSFER_REMOVED, KIND_BITS);
    ph_varint_write(writer, removal->key);
    ph_varint_write(writer, removal->incarnation);
    ph_varint_write(writer, removal->ownership.epoch);
}

static void write_record_head(ph_bit_writer* writer, ph_transfer_kind kind, const ph_store* store,
                              ph_entity_index index)
{
    const ph_entities* entities = &store->entities;
    ph_bits_write(writer, kind, KIND_BITS);
    ph_varint_write(writer, entities->key[index]);
    ph_varint_write(writer, entities->incarnation[index]);
    ph_varint_write(writer, entities->whereabouts[index].epoch);
    ph_bits_write(writer, entities->class_index[index],
                  ph_width_of((uint64_t)store->class_count - 1));
}

static void write_transfer_position(ph_bit_writer* writer, const ph_whereabouts* at)
{
    for (int axis = 0; axis < 3; ++axis) {
        ph_bits_write(writer, (uint32_t)at->position_mm[axis], 32);
    }
}

// Ids are a world's own; keys are the same in all of them.
static void write_target(ph_bit_writer* writer, const ph_entities* entities, const uint32_t* words)
{
    const ph_entity_id id = {.index1 = words[0], .generation = words[1]};
    const ph_entity_index target = ph_entities_find(entities, id);
    ph_bits_write_bool(writer, target != PH_ENTITY_NONE);
    if (target != PH_ENTITY_NONE) {
        ph_varint_write(writer, entities->key[target]);
        ph_varint_write(writer, entities->incarnation[target]);
    }
}

static void write_transfer_values(ph_bit_writer* writer, const ph_store* store,
                                  ph_entity_index index, uint64_t mask)
{
    const ph_table* table = &store->tables[store->entities.class_index[index]];
    const uint32_t row = store->entities.whereabouts[index].row;
    for (int p = 0; p < table->described->def.property_count; ++p) {
        if ((mask >> p & 1) == 0) {
            continue;
        }
        const ph_property* property = &table->described->properties[p];
        const uint32_t* words = ph_table_value(table, p, row);
        if (property->def.coding == PH_CODING_ENTITY) {
            write_target(writer, &store->entities, words);
        } else {
            const ph_text text = property->is_text ? ph_table_text(table, p, row) : (ph_text){0};
            ph_property_write(property, writer, words, text);
        }
    }
}

void ph_transfer_write_state(ph_bit_writer* writer, const ph_store* store, ph_entity_index index)
{
    const ph_entities* entities = &store->entities;
    const int class_index = entities->class_index[index];
    write_record_head(writer, PH_TRANSFER_STATE, store, index);
    ph_bits_write(writer, entities->seen_by[index], 32);
    ph_bits_write(writer, entities->flags[index], FLAGS_BITS);
    write_transfer_position(writer, &entities->whereabouts[index]);
    write_transfer_values(writer, store, index,
                          ph_transfer_mask_of(store->tables[class_index].described));
}

void ph_transfer_write_changed(ph_bit_writer* writer, const ph_store* store, ph_entity_index index,
                               uint64_t mask, bool has_position)
{
    PH_ASSERT(mask != 0 || has_position);

    const ph_entities* entities = &store->entities;
    const int class_index = entities->class_index[index];
    write_record_head(writer, PH_TRANSFER_CHANGED, store, index);
    ph_bits_write(writer, mask, store->tables[class_index].described->def.property_count);
    ph_bits_write_bool(writer, has_position);
    if (has_position) {
        write_transfer_position(writer, &entities->whereabouts[index]);
    }
    write_transfer_values(writer, store, index, mask);
}

// ---- records, read

static uint32_t read_u32(ph_bit_reader* reader)
{
    const uint64_t value = ph_varint_read(reader);
    if (value > UINT32_MAX) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    return (uint32_t)value;
}

static void read_target(ph_bit_reader* reader, ph_transfer_record* record, int property)
{
    ph_transfer_target* target = &record->targets[property];
    *target = (ph_transfer_target){.is_named = ph_bits_read_bool(reader)};
    if (target->is_named) {
        target->key = ph_varint_read(reader);
        target->incarnation = read_u32(reader);
        ++record->reference_count;
    }
}

static void read_transfer_values(ph_bit_reader* reader, const ph_class* described,
                                 ph_transfer_record* record)
{
    uint8_t* text_bytes = record->text_bytes;
    record->reference_count = 0;
    for (int p = 0; p < described->def.property_count; ++p) {
        if ((record->mask >> p & 1) == 0) {
            continue;
        }
        const ph_property* property = &described->properties[p];
        if (property->def.coding == PH_CODING_ENTITY) {
            read_target(reader, record, p);
            continue;
        }
        record->texts[p] = (ph_text){.bytes = text_bytes};
        ph_property_read(property, reader, record->words[p], text_bytes, &record->texts[p].length);
        // Room for the longest of each: what a class may cost is limited, and with it their sum.
        text_bytes += property->is_text ? property->def.max_length + 1 : 0;
    }
}

static void read_transfer_position(ph_bit_reader* reader, ph_transfer_record* record)
{
    for (int axis = 0; axis < 3; ++axis) {
        record->position_mm[axis] = (int32_t)(uint32_t)ph_bits_read(reader, 32);
    }
}

// @return Whether the mask says something, and nothing of the position.
static bool read_changed_mask(ph_bit_reader* reader, const ph_class* described,
                              ph_transfer_record* record)
{
    record->mask = ph_bits_read(reader, described->def.property_count);
    record->has_position = ph_bits_read_bool(reader);
    return (record->mask & ~ph_transfer_mask_of(described)) == 0 &&
           (record->mask != 0 || record->has_position);
}

bool ph_transfer_read(ph_bit_reader* reader, const ph_schema* schema, ph_transfer_record* record)
{
    record->kind = (ph_transfer_kind)ph_bits_read(reader, KIND_BITS);
    record->key = ph_varint_read(reader);
    record->incarnation = read_u32(reader);
    record->epoch = read_u32(reader);
    if (record->kind >= PH_TRANSFER_KIND_COUNT) {
        return false;
    }
    if (record->kind == PH_TRANSFER_REMOVED) {
        return ph_bit_reader_result(reader) == PH_OK;
    }
    const int class_count = ph_schema_class_count(schema);
    record->class_index = (int)ph_bits_read(reader, ph_width_of((uint64_t)class_count - 1));
    if (record->class_index >= class_count) {
        return false;
    }
    const ph_class* described = ph_schema_class_at(schema, record->class_index);
    if (record->kind == PH_TRANSFER_STATE) {
        record->seen_by = (uint32_t)ph_bits_read(reader, 32);
        record->flags = (uint8_t)ph_bits_read(reader, FLAGS_BITS);
        record->has_position = true;
        record->mask = ph_transfer_mask_of(described);
    } else if (!read_changed_mask(reader, described, record)) {
        return false;
    }
    if (record->has_position) {
        read_transfer_position(reader, record);
    }
    read_transfer_values(reader, described, record);
    return ph_bit_reader_result(reader) == PH_OK;
}
