// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Cells and channels, the header, then records: first written, then read. A record is one per entity and
// tick; its fixed part is numbers of whole bytes, each loaded or stored by one move whatever its width.

#include "transfer/transfer_wire.h"

#include "base/bitset.h"
#include "base/compiler.h"
#include "base/math.h"
#include "schema/property.h"

#include <pinhole/integers.h>

#include <string.h>

enum {
    FORMAT_VERSION = 2,
    FLAG_WHOLE = 1,
    FLAG_AREA = 2,
    FLAG_CELL = 4,
    FLAGS_ALL = FLAG_WHOLE | FLAG_AREA | FLAG_CELL,
    PLAIN_HEADER_SIZE = 20,
};

// ---- cells and channels

static int32_t floor_quotient(int32_t value, int32_t divisor)
{
    return value / divisor - (value % divisor < 0);
}

ph_cell ph_cell_at(int32_t x_mm, int32_t y_mm, int32_t cell_mm)
{
    PH_ASSERT(cell_mm > 0);

    return (ph_cell){floor_quotient(x_mm, cell_mm), floor_quotient(y_mm, cell_mm)};
}

bool ph_cell_is_same(ph_cell a, ph_cell b)
{
    return a.x == b.x && a.y == b.y;
}

uint64_t ph_channels_of(uint32_t seen_by, bool is_never_visible)
{
    if (seen_by == 0 || is_never_visible) {
        return UINT64_C(1) << PH_CHANNEL_OWN;
    }
    return seen_by == UINT32_MAX ? UINT64_C(1) << PH_CHANNEL_PUBLIC
                                 : (uint64_t)seen_by << PH_CHANNEL_BIT0;
}

uint64_t ph_channels_of_entity(const ph_entities* entities, ph_entity_index index)
{
    return ph_channels_of(entities->seen_by[index], (entities->flags[index] & PH_SEEN_NEVER) != 0);
}

ph_placement ph_placement_of(const ph_entities* entities, ph_entity_index index, int32_t cell_mm)
{
    const bool is_everywhere = (entities->flags[index] & PH_SEEN_ALWAYS) != 0;
    return (ph_placement){
        .cell = is_everywhere ? PH_CELL_EVERYWHERE
                              : ph_cell_at(entities->x_mm[index], entities->y_mm[index], cell_mm),
        .channels = ph_channels_of_entity(entities, index),
    };
}

bool ph_is_in_cell(const ph_entities* entities, ph_entity_index index, ph_cell cell,
                   int32_t cell_mm)
{
    return ph_cell_is_same(ph_placement_of(entities, index, cell_mm).cell, cell);
}

bool ph_is_cell(ph_cell cell, int32_t cell_mm)
{
    const ph_cell first = ph_cell_at(INT32_MIN, INT32_MIN, cell_mm);
    const ph_cell last = ph_cell_at(INT32_MAX, INT32_MAX, cell_mm);
    return ph_cell_is_same(cell, PH_CELL_EVERYWHERE) ||
           (first.x <= cell.x && cell.x <= last.x && first.y <= cell.y && cell.y <= last.y);
}

// ---- the header

size_t ph_batch_header_size(const ph_batch_header* header)
{
    return PLAIN_HEADER_SIZE + (header->has_cell ? 3 * sizeof(int32_t) + 1 : 0) +
           (header->is_whole ? 2 * sizeof(uint64_t) : 0) +
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
    const int flags = (header->is_whole ? FLAG_WHOLE : 0) | (header->has_area ? FLAG_AREA : 0) |
                      (header->has_cell ? FLAG_CELL : 0);
    bytes = put_number(bytes, FORMAT_VERSION, 1);
    bytes = put_number(bytes, (uint64_t)flags, 1);
    bytes = put_number(bytes, (uint64_t)header->record_count, 2);
    bytes = put_number(bytes, header->owner, 4);
    bytes = put_number(bytes, header->stamp, 4);
    bytes = put_number(bytes, header->fingerprint, 8);
    if (header->has_cell) {
        bytes = put_number(bytes, (uint32_t)header->cell.x, 4);
        bytes = put_number(bytes, (uint32_t)header->cell.y, 4);
        bytes = put_number(bytes, (uint32_t)header->cell_mm, 4);
        bytes = put_number(bytes, (uint64_t)header->channel, 1);
    }
    if (header->is_whole) {
        bytes = put_number(bytes, header->first_key, 8);
        bytes = put_number(bytes, header->last_key, 8);
    }
    for (int i = 0; header->has_area && i < 2; ++i) {
        bytes = put_number(bytes, (uint32_t)header->from_mm[i], 4);
        bytes = put_number(bytes, (uint32_t)header->to_mm[i], 4);
    }
}

// Positions end where int32_t does; the last cells are cut off there.
static int32_t end_of_position(int64_t mm)
{
    return mm < INT32_MIN ? INT32_MIN : mm > INT32_MAX ? INT32_MAX : (int32_t)mm;
}

void ph_batch_header_set_ends(ph_batch_header* header)
{
    if (header->has_area) {
        return;
    }
    const int32_t cell[2] = {header->cell.x, header->cell.y};
    const bool is_square = header->has_cell && !ph_cell_is_same(header->cell, PH_CELL_EVERYWHERE);
    for (int i = 0; i < 2; ++i) {
        const int64_t from_mm = (int64_t)cell[i] * header->cell_mm;
        header->from_mm[i] = is_square ? end_of_position(from_mm) : INT32_MIN;
        header->to_mm[i] = is_square ? end_of_position(from_mm + header->cell_mm - 1) : INT32_MAX;
    }
}

static const uint8_t* read_cell(ph_batch_header* header, const uint8_t* bytes)
{
    header->cell.x = (int32_t)get_number(&bytes, 4);
    header->cell.y = (int32_t)get_number(&bytes, 4);
    header->cell_mm = (int32_t)get_number(&bytes, 4);
    header->channel = (int)get_number(&bytes, 1);
    return bytes;
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
    if (version != FORMAT_VERSION || (flags & ~FLAGS_ALL) != 0 ||
        (flags & (FLAG_AREA | FLAG_CELL)) == (FLAG_AREA | FLAG_CELL)) {
        return false;
    }
    header->is_whole = (flags & FLAG_WHOLE) != 0;
    header->has_area = (flags & FLAG_AREA) != 0;
    header->has_cell = (flags & FLAG_CELL) != 0;
    *refusal = PH_IMPORT_REFUSAL_SIZE;
    if (size < ph_batch_header_size(header)) {
        return false;
    }
    bytes += 2;
    header->record_count = (int)get_number(&bytes, 2);
    header->owner = (uint32_t)get_number(&bytes, 4);
    header->stamp = (uint32_t)get_number(&bytes, 4);
    header->fingerprint = get_number(&bytes, 8);
    bytes = header->has_cell ? read_cell(header, bytes) : bytes;
    if (header->is_whole) {
        header->first_key = get_number(&bytes, 8);
        header->last_key = get_number(&bytes, 8);
    }
    for (int i = 0; header->has_area && i < 2; ++i) {
        header->from_mm[i] = (int32_t)get_number(&bytes, 4);
        header->to_mm[i] = (int32_t)get_number(&bytes, 4);
    }
    *refusal = PH_IMPORT_REFUSAL_RANGE;
    if (header->has_cell &&
        (header->cell_mm < PH_CELL_MM_MIN || header->cell_mm > PH_CELL_MM_MAX ||
         header->channel >= PH_CHANNEL_COUNT || !ph_is_cell(header->cell, header->cell_mm))) {
        return false;
    }
    ph_batch_header_set_ends(header);
    return header->from_mm[0] <= header->to_mm[0] && header->from_mm[1] <= header->to_mm[1] &&
           header->first_key <= header->last_key;
}

// ---- records: the fixed part
//
//   head 2 │ key 1..8 │ incarnation 1..4 │ epoch 0..4 │ class 1 │ ...
//
// The head says how wide the numbers are. Byte-aligned, so that each is one load or store and one pass checks
// everything; between machines of one game that is worth the few bits that version 1 saved.

enum {
    KIND_MASK = 3,
    HEAD_POSITION = 1 << 2,
    HEAD_VALUES = 1 << 3,
    KEY_SHIFT = 4,
    INCARNATION_SHIFT = 7,
    EPOCH_SHIFT = 9,
    HEAD_SPARE = 0xF << 12,
    // Before the class: what the longest takes, and a load of eight bytes at its last number.
    FIXED_MAX = 2 + 8 + 4 + 4 + 8,
};

static inline int byte_width(uint64_t value)
{
    return (ph_word_width(value | 1) + 7) >> 3;
}

// Of 0..8 bytes.
static inline uint64_t width_mask(int width)
{
    return width == 0 ? 0 : UINT64_MAX >> (64 - 8 * width);
}

static inline uint8_t* write_fixed(uint8_t* bytes, unsigned head_bits, uint64_t key,
                                   uint32_t incarnation, uint32_t epoch)
{
    const int key_width = byte_width(key);
    const int incarnation_width = byte_width(incarnation);
    const int epoch_width = epoch == 0 ? 0 : byte_width(epoch);
    head_bits |= (unsigned)(key_width - 1) << KEY_SHIFT |
                 (unsigned)(incarnation_width - 1) << INCARNATION_SHIFT |
                 (unsigned)epoch_width << EPOCH_SHIFT;
    bytes[0] = (uint8_t)head_bits;
    bytes[1] = (uint8_t)(head_bits >> 8);
    bytes += 2;
    ph_bits_store64(bytes, key);
    bytes += key_width;
    ph_bits_store64(bytes, incarnation);
    bytes += incarnation_width;
    ph_bits_store64(bytes, epoch);
    return bytes + epoch_width;
}

static inline uint8_t* write_transfer_position(uint8_t* bytes, const int32_t* position_mm)
{
    const uint64_t x = (uint32_t)position_mm[0];
    ph_bits_store64(bytes, x | (uint64_t)(uint32_t)position_mm[1] << 32);
    ph_bits_store64(bytes + 8, (uint32_t)position_mm[2]);
    return bytes + 12;
}

// ---- records, written

uint64_t ph_transfer_mask_of(const ph_class* described)
{
    const int count = described->def.property_count;
    const uint64_t all = count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
    return all & ~(UINT64_C(1) << described->position);
}

uint64_t ph_transfer_references_of(const ph_class* described)
{
    uint64_t mask = 0;
    for (int p = 0; p < described->def.property_count; ++p) {
        mask |= (uint64_t)(described->properties[p].def.coding == PH_CODING_ENTITY) << p;
    }
    return mask;
}

static int mask_bytes(const ph_class* described)
{
    return (described->def.property_count + 7) / 8;
}

size_t ph_transfer_write_gone(uint8_t* bytes, ph_transfer_kind kind, uint64_t key,
                              uint32_t incarnation, uint32_t epoch)
{
    return (size_t)(write_fixed(bytes, kind, key, incarnation, epoch) - bytes);
}

// Ids are a world's own; keys are the same in all of them.
static void write_target(ph_bit_writer* writer, const ph_entities* entities, const uint32_t* words,
                         bool may_be_named)
{
    const ph_entity_id id = {.index1 = words[0], .generation = words[1]};
    const ph_entity_index target = may_be_named ? ph_entities_find(entities, id) : PH_ENTITY_NONE;
    ph_bits_write_bool(writer, target != PH_ENTITY_NONE);
    if (target != PH_ENTITY_NONE) {
        ph_varint_write(writer, entities->key[target]);
        ph_varint_write(writer, entities->incarnation[target]);
    }
}

static size_t write_transfer_values(uint8_t* bytes, const ph_store* store,
                                    const ph_transfer_change* change)
{
    const ph_table* table = &store->tables[store->entities.class_index[change->index]];
    const uint32_t row = store->entities.whereabouts[change->index].row;
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_TRANSFER_RECORD_MAX);
    for (uint64_t left = change->mask; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        const ph_property* property = &table->described->properties[p];
        const uint32_t* words = ph_table_value(table, p, row);
        if (property->def.coding == PH_CODING_ENTITY) {
            write_target(&writer, &store->entities, words, (change->named >> p & 1) != 0);
        } else {
            const ph_text text = property->is_text ? ph_table_text(table, p, row) : (ph_text){0};
            ph_property_write(property, &writer, words, text);
        }
    }
    return ph_bit_writer_finish(&writer);
}

size_t ph_transfer_write_state(uint8_t* bytes, const ph_store* store, ph_entity_index index,
                               uint64_t named)
{
    const ph_entities* entities = &store->entities;
    const int class_index = entities->class_index[index];
    uint8_t* next = write_fixed(bytes, PH_TRANSFER_STATE, entities->key[index],
                                entities->incarnation[index], entities->whereabouts[index].epoch);
    *next++ = (uint8_t)class_index;
    next = put_number(next, entities->seen_by[index], 4);
    *next++ = entities->flags[index];
    next = write_transfer_position(next, entities->whereabouts[index].position_mm);
    const ph_transfer_change all = {
        .index = index,
        .mask = ph_transfer_mask_of(store->tables[class_index].described),
        .named = named,
    };
    return (size_t)(next - bytes) + write_transfer_values(next, store, &all);
}

size_t ph_transfer_write_changed(uint8_t* bytes, const ph_store* store,
                                 const ph_transfer_change* change)
{
    PH_ASSERT(change->mask != 0 || change->has_position);

    const ph_entities* entities = &store->entities;
    const ph_entity_index index = change->index;
    const ph_whereabouts* at = &entities->whereabouts[index];
    const int class_index = entities->class_index[index];
    const unsigned head_bits = PH_TRANSFER_CHANGED | (change->has_position ? HEAD_POSITION : 0u) |
                               (change->mask != 0 ? HEAD_VALUES : 0u);
    uint8_t* next = write_fixed(bytes, head_bits, change->key, change->incarnation, at->epoch);
    *next++ = (uint8_t)class_index;
    if (change->has_position) {
        next = write_transfer_position(next, at->position_mm);
    }
    if (change->mask != 0) {
        ph_bits_store64(next, change->mask);
        next += mask_bytes(store->tables[class_index].described);
        next += write_transfer_values(next, store, change);
    }
    return (size_t)(next - bytes);
}

// ---- records, read

// A number of the fixed part, and whether it has no byte too many.
static inline uint64_t read_wide(const uint8_t** bytes, int width, bool* is_short)
{
    const uint64_t value = ph_bits_load64(*bytes) & width_mask(width);
    *is_short &= width <= 1 || value >> (8 * (width - 1)) != 0;
    *bytes += width;
    return value;
}

// The fixed part, of bytes that are long enough for any. @return Its size; 0 where there is no such record.
static inline size_t read_fixed(const uint8_t* bytes, ph_transfer_record* record,
                                ph_import_refusal* refusal)
{
    const unsigned head_bits = bytes[0] | (unsigned)bytes[1] << 8;
    const int epoch_width = (int)(head_bits >> EPOCH_SHIFT & 7);
    const uint8_t* next = bytes + 2;
    bool is_short = true;
    record->kind = head_bits & KIND_MASK;
    record->class_index = 0;
    record->key = read_wide(&next, (int)(head_bits >> KEY_SHIFT & 7) + 1, &is_short);
    record->incarnation =
        (uint32_t)read_wide(&next, (int)(head_bits >> INCARNATION_SHIFT & 3) + 1, &is_short);
    record->epoch = (uint32_t)read_wide(&next, epoch_width & 7, &is_short);
    record->has_position = (head_bits & HEAD_POSITION) != 0;
    record->mask = (head_bits & HEAD_VALUES) != 0;
    *refusal = PH_IMPORT_REFUSAL_RECORD;
    if ((head_bits & HEAD_SPARE) != 0 || epoch_width > 4 ||
        (record->kind == PH_TRANSFER_CHANGED) != (record->has_position || record->mask != 0)) {
        return 0;
    }
    *refusal = PH_IMPORT_REFUSAL_VALUE;
    // A width of 1 may hold a 0, but for the epoch, which then has none.
    return is_short && !(epoch_width == 1 && record->epoch == 0) ? (size_t)(next - bytes) : 0;
}

static inline const uint8_t* read_transfer_position(const uint8_t* bytes,
                                                    ph_transfer_record* record)
{
    const uint64_t x_and_y = ph_bits_load64(bytes);
    record->position_mm[0] = (int32_t)(uint32_t)x_and_y;
    record->position_mm[1] = (int32_t)(uint32_t)(x_and_y >> 32);
    record->position_mm[2] = (int32_t)(uint32_t)(ph_bits_load64(bytes + 4) >> 32);
    return bytes + 12;
}

// What follows the fixed part but for the values, of bytes that are long enough for any. @return Where it ends;
// NULL where it cannot be.
static inline const uint8_t* read_rest(const uint8_t* bytes, const ph_schema* schema,
                                       ph_transfer_record* record, ph_import_refusal* refusal)
{
    if (record->kind < PH_TRANSFER_CHANGED) {
        return bytes;
    }
    record->class_index = *bytes++;
    *refusal = PH_IMPORT_REFUSAL_RECORD;
    if (record->class_index >= ph_schema_class_count(schema)) {
        return NULL;
    }
    const ph_class* described = ph_schema_class_at(schema, record->class_index);
    if (record->kind == PH_TRANSFER_STATE) {
        record->seen_by = (uint32_t)ph_bits_load64(bytes);
        record->flags = bytes[4];
        record->mask = ph_transfer_mask_of(described);
        record->has_position = true;
        bytes = read_transfer_position(bytes + 5, record);
        return (record->flags & ~(PH_SEEN_ALWAYS | PH_SEEN_NEVER)) == 0 ? bytes : NULL;
    }
    if (record->has_position) {
        bytes = read_transfer_position(bytes, record);
    }
    if (record->mask != 0) {
        const int width = mask_bytes(described);
        record->mask = ph_bits_load64(bytes) & width_mask(width);
        bytes += width;
        return record->mask != 0 && (record->mask & ~ph_transfer_mask_of(described)) == 0 ? bytes
                                                                                          : NULL;
    }
    return bytes;
}

// Everything but values, and a load of eight bytes at its end.
enum { WITHOUT_VALUES_MAX = FIXED_MAX + 1 + 5 + 12 + 8 + 8 };

bool ph_transfer_read(ph_transfer_reader* reader, ph_transfer_record* record,
                      ph_import_refusal* refusal)
{
    const uint8_t* bytes = reader->bytes + reader->at;
    const size_t left = reader->size - reader->at;
    uint8_t padded[WITHOUT_VALUES_MAX] = {0};
    if (PH_UNLIKELY(left < sizeof padded)) {
        // The last records: as if zeros followed. Whether they were needed is found out below.
        if (left > 0) {
            memcpy(padded, bytes, left);
        }
        bytes = padded;
    }
    const size_t fixed_size = read_fixed(bytes, record, refusal);
    const uint8_t* end =
        fixed_size != 0 ? read_rest(bytes + fixed_size, reader->schema, record, refusal) : NULL;
    if (end == NULL) {
        *refusal = left < 2 ? PH_IMPORT_REFUSAL_END : *refusal;
        return false;
    }
    *refusal = PH_IMPORT_REFUSAL_END;
    reader->at += (size_t)(end - bytes);
    record->values_at = (uint32_t)reader->at;
    return (size_t)(end - bytes) <= left;
}

static void read_target(ph_bit_reader* reader, ph_transfer_values* values, int property)
{
    ph_transfer_target* target = &values->targets[property];
    *target = (ph_transfer_target){.is_named = ph_bits_read_bool(reader)};
    if (target->is_named) {
        target->key = ph_varint_read(reader);
        const uint64_t incarnation = ph_varint_read(reader);
        if (incarnation > UINT32_MAX) {
            ph_bit_reader_fail(reader, PH_ERROR_VALUE);
        }
        target->incarnation = (uint32_t)incarnation;
        ++values->reference_count;
    }
}

static void read_mask(ph_bit_reader* reader, const ph_class* described, uint64_t mask,
                      ph_transfer_values* values)
{
    uint8_t* text_bytes = values->text_bytes;
    values->reference_count = 0;
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        const ph_property* property = &described->properties[p];
        if (property->def.coding == PH_CODING_ENTITY) {
            read_target(reader, values, p);
            continue;
        }
        values->texts[p] = (ph_text){.bytes = text_bytes};
        ph_property_read(property, reader, values->words[p], text_bytes, &values->texts[p].length);
        // Room for the longest of each: what a class may cost is limited, and with it their sum.
        text_bytes += property->is_text ? property->def.max_length + 1 : 0;
    }
}

// Zero bits up to the next whole byte.
static void read_value_padding(ph_bit_reader* reader)
{
    const int width = (int)(ph_bit_reader_left_bits(reader) % 8);
    if (ph_bits_read(reader, width) != 0) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
}

bool ph_transfer_read_values(ph_transfer_reader* reader, const ph_transfer_record* record,
                             ph_transfer_values* values, ph_import_refusal* refusal)
{
    const ph_class* described = ph_schema_class_at(reader->schema, record->class_index);
    ph_bit_reader bits =
        ph_bit_reader_make(reader->bytes + record->values_at, reader->size - record->values_at);
    read_mask(&bits, described, record->mask, values);
    read_value_padding(&bits);
    reader->at = reader->size - ph_bit_reader_left_bits(&bits) / 8;
    *refusal = ph_bit_reader_result(&bits) == PH_ERROR_END ? PH_IMPORT_REFUSAL_END
                                                           : PH_IMPORT_REFUSAL_VALUE;
    return ph_bit_reader_result(&bits) == PH_OK;
}
