// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads whole packets of the classic profile. The first byte chooses how wide slots are; the class of
// an update follows from its slot. What is accepted must be written again as the same bytes, each
// record at the promised cost.

#include "wire/classic.h"
#include "wire/header.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 128
#define TEXTS_MAX 128

static const char declarations[] = "class creature\n"
                                   "a: bool initial 1\n"
                                   "b: enum 5 default 2\n"
                                   "place: position\n"
                                   "c: range -3..3\n"
                                   "d: range 0..9007199254740992\n"
                                   "e: varint -100..100\n"
                                   "f: two_bit\n"
                                   "g: gamma\n"
                                   "h: rice k 2 default 7\n"
                                   "i: fixed -10..10 step 0.1\n"
                                   "j: angle 8\n"
                                   "k: quaternion 8\n"
                                   "l: vec3 0..1000 step 0.1 z 0..20 default 0 yz\n"
                                   "m: string 20\n"
                                   "n: bytes 20\n"
                                   "o: entity\n"
                                   "p: entity\n"
                                   "class walker\n"
                                   "heading: angle 8\n"
                                   "place: position ground 500\n"
                                   "class mark\n"
                                   "place: position 12 step 64\n";

// 0 to 3 floors, changing every 16 m.
static int floors(const void* context, int32_t x_mm, int32_t y_mm,
                  int32_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)context;
    const int count = (int)(((uint32_t)x_mm >> 14 ^ (uint32_t)y_mm >> 15) % 4);
    for (int i = 0; i < count; ++i) {
        heights_mm[i] = -1000 + 3000 * i;
    }
    return count;
}

// Made once: they would take nearly all of the time.
static const ph_layouts* layouts_once(void)
{
    static ph_layouts layouts;
    ph_schema* schema;
    if (layouts.layouts == NULL &&
        (ph_schema_parse(declarations, sizeof declarations - 1, NULL, &schema, NULL) != PH_OK ||
         ph_layouts_create(&layouts, schema, NULL) != PH_OK || layouts.word_count_max > WORDS_MAX ||
         layouts.text_bytes_max > TEXTS_MAX)) {
        abort();
    }
    return &layouts;
}

// One record from the reader to the writer.
static void copy_record(const ph_frame* frame, ph_record_kind kind, ph_bit_reader* reader,
                        ph_bit_writer* writer)
{
    uint32_t words[WORDS_MAX];
    uint8_t texts[TEXTS_MAX];
    const size_t before_bits = ph_bit_reader_left_bits(reader);
    ph_record record = {.kind = (uint8_t)kind, .words = words, .texts = texts};
    ph_classic_read_slot(frame, reader, &record);
    record.class_index = (uint8_t)(record.slot % frame->layouts->count);
    if (kind == PH_RECORD_ENTER) {
        ph_classic_read_name(frame, reader, &record);
    }
    if (kind != PH_RECORD_LEAVE) {
        ph_classic_read_body(frame, reader, &record);
    }
    if (ph_bit_reader_result(reader) != PH_OK) {
        return;
    }
    const size_t read_bits = before_bits - ph_bit_reader_left_bits(reader);
    if ((size_t)ph_classic_record_bits(frame, &record, NULL) != read_bits) {
        abort();
    }
    ph_classic_write_record(frame, &record, writer);
}

static void copy_records(const ph_frame* frame, const ph_header* header, ph_bit_reader* reader,
                         ph_bit_writer* writer)
{
    for (int i = 0; i < header->leave_count; ++i) {
        copy_record(frame, PH_RECORD_LEAVE, reader, writer);
    }
    for (int i = 0; i < header->enter_count; ++i) {
        copy_record(frame, PH_RECORD_ENTER, reader, writer);
    }
    while (!header->is_probe && ph_bit_reader_left_bits(reader) >= 8) {
        copy_record(frame, PH_RECORD_UPDATE, reader, writer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 1 || size > 1 + PH_PAYLOAD_MAX) {
        return 0;
    }
    const ph_ground ground = {.layers = floors};
    ph_frame frame = {.layouts = layouts_once(),
                      .ground = &ground,
                      .slot_bits = PH_CLASSIC_SLOT_BITS_MIN + data[0] % 9};
    uint8_t written[PH_PAYLOAD_MAX + 8];
    ph_bit_writer writer = ph_bit_writer_make(written, sizeof written);
    ph_bit_reader reader = ph_bit_reader_make(data + 1, size - 1);
    ph_header header;
    ph_header_read(&reader, &header);
    if (ph_bit_reader_result(&reader) != PH_OK ||
        (header.has_hello && header.hello.version != PH_CLASSIC_VERSION)) {
        return 0;
    }
    ph_header_write(&header, &writer);
    memcpy(frame.eye_mm, header.eye_mm, sizeof frame.eye_mm);
    copy_records(&frame, &header, &reader, &writer);
    if (ph_bit_reader_finish(&reader) != PH_OK) {
        return 0;
    }
    if (ph_bit_writer_finish(&writer) != size - 1 || memcmp(written, data + 1, size - 1) != 0) {
        abort();
    }
    return 0;
}
