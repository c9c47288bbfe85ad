// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records of the classic profile: cost, writing, reading. Run for every record of every packet; an
// update with a position is the case that counts. Neighbouring flags and numbers are gathered into
// one field where they fit; values are found by walking the mask of what is there.

#include "packet/classic_records.h"

#include "base/bitset.h"
#include "packet/header.h"

// A schema promises that an enter always fits a datagram, whatever else stands in it.
_Static_assert(PH_CLASS_BITS_MAX <= 8 * PH_PAYLOAD_MAX - PH_HEADER_BITS - PH_HELLO_BITS -
                                        PH_EYE_BITS - PH_CLASSIC_ENTER_BITS_MAX -
                                        (PH_PROPERTIES_MAX - 1),
               "what is left of a datagram with one enter for the values");

_Static_assert(PH_REFERENCE_BITS_MAX == 1 + PH_CLASSIC_SLOT_BITS_MAX + PH_CLASSIC_ASSOCIATION_BITS,
               "the dearest reference");

_Static_assert(PH_CLASSES_MAX <= 1 << PH_CLASSIC_CLASS_BITS, "every class has a number");

// The time flag with the two bits that may follow it.
#define TIME_IS_SPECIAL 1u
#define TIME_JUMP 2u
#define TIME_FULL 4u
#define TIME_BITS 1
#define TIME_SPECIAL_BITS 3

// ---- what cost, writing and reading agree on

static const ph_layout* record_layout(const ph_frame* frame, const ph_record* record)
{
    PH_ASSERT(record->class_index < frame->layouts->count);
    return &frame->layouts->layouts[record->class_index];
}

// The one presence flag that is never written is that of the position: what lies above it moves
// down.
static uint64_t presence_flags(const ph_layout* layout, uint64_t properties)
{
    const uint64_t below = layout->position - 1;
    return (properties & below) | (properties >> 1 & ~below);
}

static uint64_t properties_of_flags(const ph_layout* layout, uint64_t flags)
{
    const uint64_t below = layout->position - 1;
    return (flags & below) | (flags & ~below) << 1;
}

// Added to a word of a position that is rounded already: less than a window if
// ph_coordinate_is_in_window(), whose three calls were half the time of a cost.
static uint32_t window_of(const ph_coordinate* coding, int32_t eye_mm)
{
    const uint32_t eye = (uint32_t)eye_mm & UINT32_MAX << coding->shift;
    return (UINT32_C(1) << (coding->shift + coding->width - 1)) - eye;
}

// Whether the receiver restores the shortened position to this very one. An altitude by layer is
// never shortened.
static inline bool is_in_window(const ph_frame* frame, const ph_layout* layout,
                                const uint32_t* words)
{
    const ph_coordinate* coding = &layout->coordinate;
    const uint32_t x = words[0] + window_of(coding, frame->eye_mm[0]);
    const uint32_t y = words[1] + window_of(coding, frame->eye_mm[1]);
    const uint32_t z = layout->has_ground ? 0 : words[2] + window_of(coding, frame->eye_mm[2]);
    return (uint64_t)(x | y | z) >> (coding->shift + coding->width) == 0;
}

static int coordinate_bits(const ph_layout* layout, bool is_full)
{
    return is_full ? 32 - layout->coordinate.shift : layout->coordinate.width;
}

static ph_altitude_level record_level(const ph_frame* frame, const ph_layout* layout,
                                      const uint32_t* words)
{
    return ph_altitude_encode(ph_layout_altitude(layout), frame->ground, (int32_t)words[0],
                              (int32_t)words[1], (int32_t)words[2]);
}

// What a record to be costed or written is made of.
typedef struct shape {
    const ph_layout* layout;
    const uint32_t* position_words; // NULL: it says nothing of the position
    uint64_t rest;                  // the other properties
    uint32_t time;                  // flag and bits
    int time_bits;
    bool is_full;
} shape;

static inline shape shape_of(const ph_frame* frame, const ph_record* record)
{
    const ph_layout* layout = record_layout(frame, record);
    shape it = {
        .layout = layout, .rest = record->properties & ~layout->position, .time_bits = TIME_BITS};
    PH_ASSERT(record->properties != 0 && (record->properties & ~layout->all) == 0);
    if ((record->properties & layout->position) != 0) {
        it.position_words = record->words + layout->position_word;
        it.is_full = !is_in_window(frame, layout, it.position_words);
    }
    PH_ASSERT(record->kind != PH_RECORD_ENTER || it.position_words != NULL);
    PH_ASSERT(!record->is_jump || it.position_words != NULL);
    if (record->is_jump || it.is_full) {
        it.time =
            TIME_IS_SPECIAL | (record->is_jump ? TIME_JUMP : 0) | (it.is_full ? TIME_FULL : 0);
        it.time_bits = TIME_SPECIAL_BITS;
    }
    return it;
}

// ---- cost

int ph_classic_least_bits(const ph_frame* frame, const ph_layout* layout, uint64_t properties)
{
    const bool has_position = (properties & layout->position) != 0;
    return frame->slot_bits + PH_CLASSIC_ASSOCIATION_BITS + 3 +
           (has_position ? (layout->has_ground ? 2 : 3) * layout->coordinate.width : 0) +
           ((properties & ~layout->position) != 0 ? layout->flag_count : 0);
}

static int key_bits(uint64_t key)
{
    return 1 + (key >> PH_CLASSIC_KEY_BITS == 0 ? PH_CLASSIC_KEY_BITS : PH_CLASSIC_WIDE_KEY_BITS);
}

static int position_bits(const ph_frame* frame, const shape* it)
{
    const ph_layout* layout = it->layout;
    const int bits = coordinate_bits(layout, it->is_full);
    if (!layout->has_ground) {
        return 3 * bits;
    }
    const uint32_t* words = it->position_words;
    return 2 * bits + ph_altitude_cost_bits(ph_layout_altitude(layout), frame->ground,
                                            (int32_t)words[0], (int32_t)words[1],
                                            record_level(frame, layout, words));
}

static ph_text text_of(const ph_layout* layout, const ph_record* record, int property)
{
    const bool is_text = (layout->texts >> property & 1) != 0;
    return is_text ? ph_layout_text(layout, record->texts, property) : (ph_text){0};
}

static int value_bits(const ph_frame* frame, const ph_layout* layout, const ph_record* record,
                      int property)
{
    if ((layout->plain >> property & 1) != 0) {
        return layout->plain_bits[property];
    }
    const uint32_t* words = record->words + layout->word[property];
    if ((layout->references >> property & 1) != 0) {
        return words[0] == 0 ? 1 : 1 + frame->slot_bits + PH_CLASSIC_ASSOCIATION_BITS;
    }
    return ph_property_cost_bits(&layout->described->properties[property], words,
                                 text_of(layout, record, property));
}

static int values_bits(const ph_frame* frame, const shape* it, const ph_record* record,
                       ph_record_bits* stats)
{
    int total_bits = 0;
    for (uint64_t left = it->rest; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const int bits = value_bits(frame, it->layout, record, property);
        total_bits += bits;
        if (stats != NULL) {
            stats->property_bits[property] += (uint32_t)bits;
        }
    }
    return total_bits;
}

int ph_classic_record_bits(const ph_frame* frame, const ph_record* record, ph_record_bits* stats)
{
    int who_bits = frame->slot_bits + PH_CLASSIC_ASSOCIATION_BITS;
    int mask_bits = 0;
    int values = 0;
    if (record->kind != PH_RECORD_LEAVE) {
        const shape it = shape_of(frame, record);
        const bool is_enter = record->kind == PH_RECORD_ENTER;
        who_bits += is_enter ? PH_CLASSIC_CLASS_BITS + key_bits(record->key) : 0;
        mask_bits =
            it.time_bits + (is_enter ? 0 : 1) + 1 + (it.rest != 0 ? it.layout->flag_count : 0);
        values = values_bits(frame, &it, record, stats);
        if (it.position_words != NULL) {
            const int bits = position_bits(frame, &it);
            values += bits;
            if (stats != NULL) {
                stats->property_bits[it.layout->position_property] += (uint32_t)bits;
            }
        }
    }
    if (stats != NULL) {
        stats->slot_bits += (uint32_t)who_bits;
        stats->mask_bits += (uint32_t)mask_bits;
    }
    return who_bits + mask_bits + values;
}

// ---- writing
//
// On a writer whose address is not given away, so that it stays in registers. What is not inline gets a
// copy.

// A head goes out in one field with the first coordinate.
_Static_assert(PH_CLASSIC_SLOT_BITS_MAX + PH_CLASSIC_ASSOCIATION_BITS + TIME_SPECIAL_BITS + 1 +
                       32 <=
                   PH_BITS_FAST_WIDTH,
               "slot, association, time, the flag of the position, x");

static void write_key(const ph_record* record, ph_bit_writer* writer)
{
    ph_bits_write(writer, record->class_index, PH_CLASSIC_CLASS_BITS);
    const bool is_wide = record->key >> PH_CLASSIC_KEY_BITS != 0;
    if (!is_wide) {
        ph_bits_write(writer, record->key << 1, 1 + PH_CLASSIC_KEY_BITS);
        return;
    }
    ph_bits_write_bool(writer, true);
    ph_bits_write(writer, record->key, PH_CLASSIC_WIDE_KEY_BITS);
}

static inline void write_reference(const ph_frame* frame, const uint32_t* words,
                                   ph_bit_writer* writer)
{
    if (words[0] == 0) {
        ph_bits_write_bool(writer, false);
        return;
    }
    const uint32_t slot = words[0] - 1;
    PH_ASSERT(slot >> frame->slot_bits == 0);
    const uint64_t association = words[1]; // the writer takes its two low bits
    ph_bits_write(writer, 1 | (uint64_t)slot << 1 | association << (1 + frame->slot_bits),
                  1 + frame->slot_bits + PH_CLASSIC_ASSOCIATION_BITS);
}

static inline void write_value(const ph_frame* frame, const ph_layout* layout,
                               const ph_record* record, int property, ph_bit_writer* writer)
{
    const uint32_t* words = record->words + layout->word[property];
    if ((layout->plain >> property & 1) != 0) {
        PH_ASSERT(words[0] <= layout->plain_top[property]);
        ph_bits_write(writer, words[0], layout->plain_bits[property]);
    } else if ((layout->references >> property & 1) != 0) {
        write_reference(frame, words, writer);
    } else {
        ph_bit_writer copy = *writer;
        ph_property_write(&layout->described->properties[property], &copy, words,
                          text_of(layout, record, property));
        *writer = copy;
    }
}

static uint32_t bits_since(const ph_bit_writer* writer, size_t before_bits)
{
    return (uint32_t)(ph_bit_writer_size_bits(writer) - before_bits);
}

// The layer, or what flies or falls.
static void write_altitude(const ph_frame* frame, const shape* it, ph_bit_writer* writer)
{
    const uint32_t* words = it->position_words;
    ph_bit_writer copy = *writer;
    ph_altitude_write(ph_layout_altitude(it->layout), frame->ground, (int32_t)words[0],
                      (int32_t)words[1], &copy, record_level(frame, it->layout, words));
    *writer = copy;
}

// stats may be NULL.
static inline void write_values(const ph_frame* frame, const shape* it, const ph_record* record,
                                ph_bit_writer* writer, ph_record_bits* stats)
{
    const ph_layout* layout = it->layout;
    ph_bits_write(writer, presence_flags(layout, it->rest), layout->flag_count);
    for (uint64_t left = it->rest; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        PH_ASSERT(record->kind != PH_RECORD_ENTER ||
                  !ph_layout_is_initial(layout, record->words, record->texts, property));
        const size_t before_bits = ph_bit_writer_size_bits(writer);
        write_value(frame, layout, record, property, writer);
        if (stats != NULL) {
            stats->property_bits[property] = bits_since(writer, before_bits);
        }
    }
}

// What comes before the position, some bits, goes out with the first coordinate, and the flag of the
// rest with the last. Of coordinates the writer cuts off what lies above, if nothing else does: that is
// all there is to shortening.
typedef struct head {
    uint64_t bits;
    int count;
} head;

// Appends a field, cut to its width.
static inline head with(head before, uint64_t value, int count)
{
    const uint64_t field = value & ((UINT64_C(1) << count) - 1);
    return (head){before.bits | field << before.count, before.count + count};
}

// stats may be NULL.
static inline void write_body(const ph_frame* frame, const shape* it, const ph_record* record,
                              head before, ph_bit_writer* writer, ph_record_bits* stats)
{
    const ph_layout* layout = it->layout;
    if (it->position_words != NULL) {
        const uint32_t* words = it->position_words;
        const int shift = layout->coordinate.shift;
        const int count = coordinate_bits(layout, it->is_full);
        const size_t begin_bits = ph_bit_writer_size_bits(writer) + (size_t)before.count;
        before = with(before, words[0] >> shift, count);
        ph_bits_write(writer, before.bits, before.count);
        ph_bits_write(writer, words[1] >> shift, count);
        before = with((head){0}, words[2] >> shift, count);
        if (layout->has_ground) {
            write_altitude(frame, it, writer);
            before = (head){0};
        }
        if (stats != NULL) {
            stats->property_bits[layout->position_property] =
                bits_since(writer, begin_bits) + (uint32_t)before.count;
        }
    }
    before = with(before, it->rest != 0 ? 1 : 0, 1);
    ph_bits_write(writer, before.bits, before.count);
    if (it->rest != 0) {
        write_values(frame, it, record, writer, stats);
    }
}

static uint64_t who_of(const ph_frame* frame, const ph_record* record)
{
    PH_ASSERT(record->slot >> frame->slot_bits == 0);

    const uint64_t association = record->association & PH_CLASSIC_ASSOCIATION_MASK;
    return record->slot | association << frame->slot_bits;
}

static inline head record_head(const ph_frame* frame, const shape* it, const ph_record* record)
{
    const int who_bits = frame->slot_bits + PH_CLASSIC_ASSOCIATION_BITS;
    const uint64_t has_position = it->position_words != NULL ? 1 : 0;
    const uint64_t flags = it->time | has_position << it->time_bits;
    return (head){who_of(frame, record) | flags << who_bits, who_bits + it->time_bits + 1};
}

// An update in any form.
static void write_fields(const ph_frame* frame, const shape* it, const ph_record* record,
                         ph_bit_writer* writer, ph_record_bits* stats)
{
    ph_bit_writer own = *writer;
    write_body(frame, it, record, record_head(frame, it, record), &own, stats);
    *writer = own;
}

int ph_classic_write_update(const ph_frame* frame, const ph_record* record, uint8_t* bytes,
                            ph_record_bits* stats)
{
    PH_ASSERT(record->kind == PH_RECORD_UPDATE);

    const shape it = shape_of(frame, record);
    stats->slot_bits = (uint32_t)(frame->slot_bits + PH_CLASSIC_ASSOCIATION_BITS);
    stats->mask_bits =
        (uint32_t)it.time_bits + 2 + (uint32_t)(it.rest != 0 ? it.layout->flag_count : 0);
    ph_bit_writer writer = ph_bit_writer_make(bytes, PH_CLASSIC_RECORD_BYTES);
    write_fields(frame, &it, record, &writer, stats);
    ph_bit_writer_finish(&writer);
    PH_ASSERT(ph_bit_writer_result(&writer) == PH_OK);
    return (int)ph_bit_writer_size_bits(&writer);
}

void ph_classic_write_record(const ph_frame* frame, const ph_record* record, ph_bit_writer* writer)
{
    if (record->kind == PH_RECORD_UPDATE) {
        ph_record_bits stats;
        const shape it = shape_of(frame, record);
        write_fields(frame, &it, record, writer, &stats);
        return;
    }
    ph_bits_write(writer, who_of(frame, record), frame->slot_bits + PH_CLASSIC_ASSOCIATION_BITS);
    if (record->kind == PH_RECORD_ENTER) {
        const shape it = shape_of(frame, record);
        write_key(record, writer);
        write_body(frame, &it, record, (head){it.time, it.time_bits}, writer, NULL);
    }
}

void ph_classic_write_kept(const uint8_t* bytes, int bits, ph_bit_writer* writer)
{
    for (; bits > PH_BITS_FAST_WIDTH; bits -= PH_BITS_FAST_WIDTH) {
        ph_bits_write(writer, ph_bits_load64(bytes), PH_BITS_FAST_WIDTH);
        bytes += PH_BITS_FAST_WIDTH / 8;
    }
    ph_bits_write(writer, ph_bits_load64(bytes), bits);
}

// ---- reading

void ph_classic_read_slot(const ph_frame* frame, ph_bit_reader* reader, ph_record* record)
{
    record->slot = (uint16_t)ph_bits_read(reader, frame->slot_bits);
    record->association = (uint32_t)ph_bits_read(reader, PH_CLASSIC_ASSOCIATION_BITS);
}

void ph_classic_read_key(const ph_frame* frame, ph_bit_reader* reader, ph_record* record)
{
    const int class_index = (int)ph_bits_read(reader, PH_CLASSIC_CLASS_BITS);
    const bool is_wide = ph_bits_read_bool(reader);
    record->key = ph_bits_read(reader, is_wide ? PH_CLASSIC_WIDE_KEY_BITS : PH_CLASSIC_KEY_BITS);
    const bool is_overlong = is_wide && record->key >> PH_CLASSIC_KEY_BITS == 0;
    if (is_overlong || class_index >= frame->layouts->count) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    const bool is_read = ph_bit_reader_result(reader) == PH_OK;
    record->class_index = (uint8_t)(is_read ? class_index : 0);
}

static void read_coordinates(const ph_frame* frame, const ph_layout* layout, bool is_full,
                             int count, ph_bit_reader* reader, uint32_t* words)
{
    const ph_coordinate* coding = &layout->coordinate;
    const int bits = coordinate_bits(layout, is_full);
    for (int i = 0; i < count; ++i) {
        const uint32_t read = (uint32_t)ph_bits_read(reader, bits);
        words[i] = is_full ? read << coding->shift
                           : ph_coordinate_restore(coding, (uint32_t)frame->eye_mm[i], read);
    }
}

static void read_position(const ph_frame* frame, const ph_layout* layout, bool is_full,
                          ph_bit_reader* reader, uint32_t* words)
{
    if (!layout->has_ground) {
        read_coordinates(frame, layout, is_full, 3, reader, words);
    } else {
        read_coordinates(frame, layout, is_full, 2, reader, words);
        const ph_altitude* altitude = ph_layout_altitude(layout);
        const int32_t x_mm = (int32_t)words[0];
        const int32_t y_mm = (int32_t)words[1];
        const ph_altitude_level level =
            ph_altitude_read(altitude, frame->ground, x_mm, y_mm, reader);
        words[2] = (uint32_t)ph_altitude_decode(altitude, frame->ground, x_mm, y_mm, level);
    }
    // One position, one encoding: in full only where the short form would be misread.
    if (is_full && is_in_window(frame, layout, words)) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
}

static void read_reference(const ph_frame* frame, ph_bit_reader* reader, uint32_t* words)
{
    words[0] = 0;
    words[1] = 0;
    if (ph_bits_read_bool(reader)) {
        words[0] = (uint32_t)ph_bits_read(reader, frame->slot_bits) + 1;
        words[1] = (uint32_t)ph_bits_read(reader, PH_CLASSIC_ASSOCIATION_BITS);
    }
}

static void read_record_text(const ph_layout* layout, int property, ph_bit_reader* reader,
                             const ph_record* record)
{
    uint8_t* bytes = record->texts + layout->text[property] + sizeof(uint16_t);
    ph_text text = {.bytes = bytes};
    ph_property_read(&layout->described->properties[property], reader,
                     record->words + layout->word[property], bytes, &text.length);
    ph_layout_store_text(layout, record->texts, property, text);
}

static void read_value(const ph_frame* frame, const ph_layout* layout, int property,
                       ph_bit_reader* reader, const ph_record* record)
{
    uint32_t* words = record->words + layout->word[property];
    if ((layout->plain >> property & 1) != 0) {
        words[0] = (uint32_t)ph_bits_read(reader, layout->plain_bits[property]);
        if (words[0] > layout->plain_top[property]) {
            ph_bit_reader_fail(reader, PH_ERROR_VALUE);
        }
    } else if ((layout->references >> property & 1) != 0) {
        read_reference(frame, reader, words);
    } else if ((layout->texts >> property & 1) != 0) {
        read_record_text(layout, property, reader, record);
    } else {
        ph_property_read(&layout->described->properties[property], reader, words, NULL, NULL);
    }
}

static void read_values(const ph_frame* frame, const ph_layout* layout, uint64_t properties,
                        ph_bit_reader* reader, const ph_record* record)
{
    for (uint64_t left = properties; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        read_value(frame, layout, property, reader, record);
        if (record->kind == PH_RECORD_ENTER &&
            ph_layout_is_initial(layout, record->words, record->texts, property)) {
            ph_bit_reader_fail(reader, PH_ERROR_VALUE);
        }
    }
}

// Presence flags, or nothing at all. Flags of which none is set are what no sender writes.
static uint64_t read_flags(const ph_layout* layout, ph_bit_reader* reader)
{
    if (!ph_bits_read_bool(reader)) {
        return 0;
    }
    const uint64_t flags = ph_bits_read(reader, layout->flag_count);
    if (flags == 0) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    return properties_of_flags(layout, flags);
}

void ph_classic_read_body(const ph_frame* frame, ph_bit_reader* reader, ph_record* record)
{
    PH_ASSERT(record->kind == PH_RECORD_ENTER || record->kind == PH_RECORD_UPDATE);

    const ph_layout* layout = record_layout(frame, record);
    const bool is_enter = record->kind == PH_RECORD_ENTER;
    const bool is_special = ph_bits_read_bool(reader);
    const bool is_jump = is_special && ph_bits_read_bool(reader);
    const bool is_full = is_special && ph_bits_read_bool(reader);
    const bool has_position = is_enter || ph_bits_read_bool(reader);
    if (is_special && ((!is_jump && !is_full) || !has_position)) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    if (has_position) {
        read_position(frame, layout, is_full, reader, record->words + layout->position_word);
    }
    const uint64_t rest = read_flags(layout, reader);
    read_values(frame, layout, rest, reader, record);
    record->is_jump = is_jump;
    record->properties = rest | (has_position ? layout->position : 0);
    if (record->properties == 0) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
}
