// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The bits of a section, written and read. message_section.h has the drawing.

#include "message/message_section.h"

#define MESSAGE_SEQUENCE_BITS 16
#define MASK_BITS 31
#define SIZE_BITS 8
#define STEP_BITS 5
#define LEFT_BITS 4
#define FRAGMENT_SIZE_BITS 6

_Static_assert(PH_MESSAGE_WINDOW == MASK_BITS + 1, "the first of the window needs no bit");

_Static_assert(PH_MESSAGE_WINDOW == 1 << STEP_BITS, "a step stays in the window");

_Static_assert(PH_MESSAGE_LEFT_MAX == (1 << LEFT_BITS) - 1, "left fills its field");

_Static_assert(PH_MESSAGE_FRAGMENT_SIZE == 1 << FRAGMENT_SIZE_BITS, "so does a size, less one");

_Static_assert(PH_INPUT_SIZE_MAX == (1 << SIZE_BITS) - 1, "and that of an input");

_Static_assert(8 * PH_MESSAGES_BESIDE_INPUT >=
                   PH_MESSAGE_FLAG_BITS + (MESSAGE_SEQUENCE_BITS + 1 + MASK_BITS) +
                       (MESSAGE_SEQUENCE_BITS + 1 + SIZE_BITS) +
                       (MESSAGE_SEQUENCE_BITS + 1 + MESSAGE_SEQUENCE_BITS) +
                       (MESSAGE_SEQUENCE_BITS + LEFT_BITS + FRAGMENT_SIZE_BITS + 1) +
                       8 * PH_MESSAGE_FRAGMENT_SIZE,
               "everything but the bytes of an input, and a full fragment");

// ---- costs

int ph_message_ack_bits(uint32_t mask)
{
    return MESSAGE_SEQUENCE_BITS + 1 + (mask != 0 ? MASK_BITS : 0);
}

int ph_message_input_bits(bool has_blob, int size)
{
    return MESSAGE_SEQUENCE_BITS + 1 + (has_blob ? SIZE_BITS + 8 * size : 0);
}

int ph_message_input_ack_bits(bool is_all_processed)
{
    return MESSAGE_SEQUENCE_BITS + 1 + (is_all_processed ? 0 : MESSAGE_SEQUENCE_BITS);
}

int ph_message_fragment_bits(const ph_message_fragment* fragment, int step)
{
    const int step_bits = step == 0 ? MESSAGE_SEQUENCE_BITS : 1 + (step > 1 ? STEP_BITS : 0);
    const int size_bits = fragment->left == 0 ? FRAGMENT_SIZE_BITS : 0;
    return step_bits + LEFT_BITS + size_bits + 8 * fragment->size + 1;
}

// ---- writing

static void write_ack(const ph_message_section* section, ph_bit_writer* writer)
{
    const bool has_mask = section->ack_mask != 0;
    ph_bits_write(writer, section->ack_next, MESSAGE_SEQUENCE_BITS);
    ph_bits_write(writer, has_mask, 1);
    ph_bits_write(writer, section->ack_mask, has_mask ? MASK_BITS : 0);
}

static void write_input(const ph_message_section* section, ph_bit_writer* writer)
{
    ph_bits_write(writer, section->input_number, MESSAGE_SEQUENCE_BITS);
    ph_bits_write(writer, section->has_blob, 1);
    if (section->has_blob) {
        ph_bits_write(writer, section->input_size, SIZE_BITS);
        ph_bits_write_bytes(writer, section->input_bytes, section->input_size);
    }
}

static void write_input_ack(const ph_message_section* section, ph_bit_writer* writer)
{
    const bool is_all_processed = section->input_processed == section->input_received;
    ph_bits_write(writer, section->input_received, MESSAGE_SEQUENCE_BITS);
    ph_bits_write(writer, is_all_processed, 1);
    ph_bits_write(writer, section->input_processed, is_all_processed ? 0 : MESSAGE_SEQUENCE_BITS);
}

static void write_step(int step, ph_bit_writer* writer)
{
    PH_ASSERT(step >= 1 && step < PH_MESSAGE_WINDOW);

    ph_bits_write(writer, step > 1, 1);
    ph_bits_write(writer, (uint64_t)step - 2, step > 1 ? STEP_BITS : 0);
}

static void write_fragment(const ph_message_fragment* fragment, ph_bit_writer* writer)
{
    ph_bits_write(writer, fragment->left, LEFT_BITS);
    ph_bits_write(writer, (uint64_t)fragment->size - 1,
                  fragment->left == 0 ? FRAGMENT_SIZE_BITS : 0);
    ph_bits_write_bytes(writer, fragment->bytes, fragment->size);
}

static void write_fragments(const ph_message_section* section, ph_bit_writer* writer)
{
    const ph_message_fragment* fragments = section->fragments;
    ph_bits_write(writer, fragments[0].sequence, MESSAGE_SEQUENCE_BITS);
    write_fragment(&fragments[0], writer);
    for (int i = 1; i < section->fragment_count; ++i) {
        ph_bits_write(writer, 1, 1);
        write_step((uint16_t)(fragments[i].sequence - fragments[i - 1].sequence), writer);
        write_fragment(&fragments[i], writer);
    }
    ph_bits_write(writer, 0, 1);
}

size_t ph_message_section_write(const ph_message_section* section, uint8_t* bytes, size_t capacity)
{
    ph_bit_writer writer = ph_bit_writer_make(bytes, capacity);
    ph_bits_write(&writer, section->has_ack, 1);
    ph_bits_write(&writer, section->has_input, 1);
    ph_bits_write(&writer, section->has_input_ack, 1);
    ph_bits_write(&writer, section->fragment_count > 0, 1);
    if (section->has_ack) {
        write_ack(section, &writer);
    }
    if (section->has_input) {
        write_input(section, &writer);
    }
    if (section->has_input_ack) {
        write_input_ack(section, &writer);
    }
    if (section->fragment_count > 0) {
        write_fragments(section, &writer);
    }
    return ph_bit_writer_finish(&writer);
}

// ---- reading

// A mask that says nothing, or that all is processed in more words than one: no end writes that.
static void refuse_if(ph_bit_reader* reader, bool is_strange)
{
    if (is_strange) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
}

static void read_ack(ph_bit_reader* reader, ph_message_section* section)
{
    section->ack_next = (uint16_t)ph_bits_read(reader, MESSAGE_SEQUENCE_BITS);
    if (ph_bits_read(reader, 1) != 0) {
        section->ack_mask = (uint32_t)ph_bits_read(reader, MASK_BITS);
        refuse_if(reader, section->ack_mask == 0);
    }
}

static void read_input(ph_bit_reader* reader, ph_message_section* section,
                       ph_message_storage* storage)
{
    section->input_number = (uint16_t)ph_bits_read(reader, MESSAGE_SEQUENCE_BITS);
    section->has_blob = ph_bits_read(reader, 1) != 0;
    if (section->has_blob) {
        section->input_size = (uint8_t)ph_bits_read(reader, SIZE_BITS);
        section->input_bytes = storage->input;
        ph_bits_read_bytes(reader, storage->input, section->input_size);
    }
}

static void read_input_ack(ph_bit_reader* reader, ph_message_section* section)
{
    section->input_received = (uint16_t)ph_bits_read(reader, MESSAGE_SEQUENCE_BITS);
    section->input_processed = section->input_received;
    if (ph_bits_read(reader, 1) == 0) {
        section->input_processed = (uint16_t)ph_bits_read(reader, MESSAGE_SEQUENCE_BITS);
        refuse_if(reader, section->input_processed == section->input_received);
    }
}

static void read_fragment(ph_bit_reader* reader, uint16_t sequence, uint8_t* bytes,
                          ph_message_fragment* fragment)
{
    *fragment = (ph_message_fragment){.sequence = sequence, .bytes = bytes};
    fragment->left = (uint8_t)ph_bits_read(reader, LEFT_BITS);
    fragment->size = fragment->left == 0 ? (uint8_t)(ph_bits_read(reader, FRAGMENT_SIZE_BITS) + 1)
                                         : PH_MESSAGE_FRAGMENT_SIZE;
    ph_bits_read_bytes(reader, bytes, fragment->size);
}

static uint16_t read_message_step(ph_bit_reader* reader)
{
    if (ph_bits_read(reader, 1) == 0) {
        return 1;
    }
    return (uint16_t)(ph_bits_read(reader, STEP_BITS) + 2);
}

static void read_fragments(ph_bit_reader* reader, ph_message_section* section,
                           ph_message_storage* storage)
{
    const uint16_t first = (uint16_t)ph_bits_read(reader, MESSAGE_SEQUENCE_BITS);
    uint16_t sequence = first;
    int count = 0;
    read_fragment(reader, sequence, storage->fragments[count], &section->fragments[count]);
    ++count;
    while (ph_bits_read(reader, 1) != 0) {
        sequence = (uint16_t)(sequence + read_message_step(reader));
        // So there are never more than a window has, and the reader is not kept busy either.
        refuse_if(reader, (uint16_t)(sequence - first) >= PH_MESSAGE_WINDOW);
        if (ph_bit_reader_result(reader) != PH_OK) {
            return;
        }
        read_fragment(reader, sequence, storage->fragments[count], &section->fragments[count]);
        ++count;
    }
    section->fragment_count = count;
}

// The packet behind it begins at the next whole byte.
static size_t read_padding(ph_bit_reader* reader, size_t size)
{
    const size_t left_bits = ph_bit_reader_left_bits(reader);
    refuse_if(reader, ph_bits_read(reader, (int)(left_bits % 8)) != 0);
    return ph_bit_reader_result(reader) == PH_OK ? size - left_bits / 8 : 0;
}

size_t ph_message_section_read(const void* bytes, size_t size, ph_message_section* section,
                               ph_message_storage* storage)
{
    *section = (ph_message_section){0};
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    section->has_ack = ph_bits_read(&reader, 1) != 0;
    section->has_input = ph_bits_read(&reader, 1) != 0;
    section->has_input_ack = ph_bits_read(&reader, 1) != 0;
    const bool has_fragments = ph_bits_read(&reader, 1) != 0;
    if (section->has_ack) {
        read_ack(&reader, section);
    }
    if (section->has_input) {
        read_input(&reader, section, storage);
    }
    if (section->has_input_ack) {
        read_input_ack(&reader, section);
    }
    if (has_fragments) {
        read_fragments(&reader, section, storage);
    }
    return read_padding(&reader, size);
}
