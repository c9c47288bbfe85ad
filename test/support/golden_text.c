// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Prints packets, from both ends.

#include "golden_text.h"

#include <inttypes.h>
#include <pinhole/quaternion.h>
#include <stdio.h>

void golden_print(golden_lines* lines, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    lines->length += vsnprintf(lines->text + lines->length,
                               sizeof lines->text - (size_t)lines->length, format, arguments);
    va_end(arguments);
    assert_true((size_t)lines->length < sizeof lines->text);
}

void golden_print_eye(golden_lines* lines, const ph_header* header)
{
    if (header->has_eye) {
        golden_print(lines, "eye x=%d y=%d z=%d\n", header->eye_mm[0], header->eye_mm[1],
                     header->eye_mm[2]);
    }
}

static void print_header(golden_lines* lines, const ph_header* header)
{
    lines->length = 0;
    golden_print(lines,
                 "header number=%" PRIu32 " horizon=%" PRIu32
                 " tick=%d wait=%d probe=%d hello=%d eye=%d leaves=%d enters=%d\n",
                 header->sequence, header->horizon, header->tick, header->wait, header->is_probe,
                 header->has_hello, header->has_eye, header->leave_count, header->enter_count);
    if (header->has_hello) {
        const ph_hello* hello = &header->hello;
        golden_print(lines,
                     "hello version=%d slots=%d tick_us=%" PRIu32 " session=%" PRIu32
                     " fingerprint=0x%016" PRIx64 "\n",
                     hello->version, hello->slot_count, hello->tick_us, hello->session,
                     hello->fingerprint);
    }
    golden_print_eye(lines, header);
}

static void print_bytes(golden_lines* lines, ph_text text)
{
    for (int i = 0; i < text.length; ++i) {
        golden_print(lines, "%02x", text.bytes[i]);
    }
}

static void print_rotation(golden_lines* lines, int width, const uint32_t* words)
{
    uint8_t bytes[8];
    ph_bits_store64(bytes, (uint64_t)words[1] << 32 | words[0]);
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    const ph_quaternion_levels levels = ph_quaternion_read_levels(width, &reader);
    golden_print(lines, "%d,%d,%d,%d", levels.largest, levels.rest[0], levels.rest[1],
                 levels.rest[2]);
}

static void print_value(golden_lines* lines, const ph_layout* layout, const ph_record* record,
                        int index)
{
    const ph_property* property = &layout->described->properties[index];
    const uint32_t* words = record->words + layout->word[index];
    golden_print(lines, " %s=", property->def.name);
    switch (property->def.coding) {
    case PH_CODING_POSITION:
        golden_print(lines, "%d,%d,%d", (int32_t)words[0], (int32_t)words[1], (int32_t)words[2]);
        return;
    case PH_CODING_ENTITY:
        if (words[0] == 0) {
            golden_print(lines, "none");
        } else {
            golden_print(lines, "%" PRIu32 "/%" PRIu32, words[0] - 1, words[1] & 3);
        }
        return;
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        print_bytes(lines, ph_layout_text(layout, record->texts, index));
        return;
    case PH_CODING_QUATERNION:
        print_rotation(lines, property->def.bits, words);
        return;
    case PH_CODING_VEC3:
        golden_print(lines, "%" PRIu32 ",%" PRIu32 ",%" PRIu32, words[0], words[1], words[2]);
        return;
    case PH_CODING_FIXED:
    case PH_CODING_ANGLE:
        golden_print(lines, "%" PRIu32, words[0]);
        return;
    default:
        golden_print(
            lines, "%" PRId64,
            property->integer.lo +
                (int64_t)((property->words > 1 ? (uint64_t)words[1] << 32 : 0) | words[0]));
        return;
    }
}

void golden_print_values(golden_lines* lines, const ph_layout* layout, const ph_record* record)
{
    for (int i = 0; i < layout->described->def.property_count; ++i) {
        if ((record->properties >> i & 1) != 0) {
            print_value(lines, layout, record, i);
        }
    }
    golden_print(lines, "\n");
}

static void print_record(golden_lines* lines, const ph_frame* frame, const ph_record* record)
{
    static const char* const kinds[] = {"leave", "enter", "update"};
    const int bits = ph_classic_record_bits(frame, record, NULL);
    golden_print(lines, "%s slot=%d association=%" PRIu32, kinds[record->kind], record->slot,
                 record->association & 3);
    if (record->kind == PH_RECORD_LEAVE) {
        golden_print(lines, " bits=%d\n", bits);
        return;
    }
    const ph_layout* layout = &frame->layouts->layouts[record->class_index];
    golden_print(lines, " class=%s", layout->described->def.name);
    if (record->kind == PH_RECORD_ENTER) {
        golden_print(lines, " name=%" PRIu64, record->key);
    }
    golden_print(lines, " jump=%d bits=%d :", record->is_jump, bits);
    golden_print_values(lines, layout, record);
}

void golden_print_packet(golden_lines* lines, const golden_session* golden, size_t size)
{
    print_header(lines, &golden->header);
    int bits = ph_header_bits(&golden->header);
    for (int i = 0; i < golden->record_count; ++i) {
        print_record(lines, &golden->frame, &golden->records[i]);
        bits += ph_classic_record_bits(&golden->frame, &golden->records[i], NULL);
    }
    golden_print(lines, "padding bits=%d\n", 8 * (int)size - bits);
}

void golden_print_bytes(golden_lines* lines, const golden_session* golden, const uint8_t* bytes,
                        size_t size)
{
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    ph_header header;
    ph_header_read(&reader, &header);
    print_header(lines, &header);
    for (int i = 0;
         i < header.leave_count + header.enter_count || ph_bit_reader_left_bits(&reader) >= 8;
         ++i) {
        uint32_t words[GOLDEN_WORDS];
        uint8_t texts[GOLDEN_TEXTS];
        ph_record record = {.words = words, .texts = texts, .kind = PH_RECORD_UPDATE};
        if (i < header.leave_count + header.enter_count) {
            record.kind = i < header.leave_count ? PH_RECORD_LEAVE : PH_RECORD_ENTER;
        }
        ph_classic_read_slot(&golden->frame, &reader, &record);
        record.class_index = golden->class_of[record.slot];
        if (record.kind == PH_RECORD_ENTER) {
            ph_classic_read_key(&golden->frame, &reader, &record);
        }
        if (record.kind != PH_RECORD_LEAVE) {
            ph_classic_read_body(&golden->frame, &reader, &record);
        }
        assert_int_equal(ph_bit_reader_result(&reader), PH_OK);
        print_record(lines, &golden->frame, &record);
    }
    golden_print(lines, "padding bits=%d\n", (int)ph_bit_reader_left_bits(&reader));
    assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
}
