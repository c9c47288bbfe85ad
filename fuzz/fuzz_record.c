// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads whole packets of the classic profile. The first byte chooses how wide slots are; the class of
// an update follows from its slot. What is accepted must be written again as the same bytes, each
// record at the promised cost.

#include "support/record_schema.h"

#include "packet/classic_records.h"
#include "packet/header.h"

#include <stdlib.h>
#include <string.h>

// One record from the reader to the writer.
static void copy_record(const ph_frame* frame, ph_record_kind kind, ph_bit_reader* reader,
                        ph_bit_writer* writer)
{
    uint32_t words[FUZZ_RECORD_WORDS_MAX];
    uint8_t texts[FUZZ_RECORD_TEXTS_MAX];
    const size_t before_bits = ph_bit_reader_left_bits(reader);
    ph_record record = {.kind = (uint8_t)kind, .words = words, .texts = texts};
    ph_classic_read_slot(frame, reader, &record);
    record.class_index = (uint8_t)(record.slot % frame->layouts->count);
    if (kind == PH_RECORD_ENTER) {
        ph_classic_read_key(frame, reader, &record);
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
    ph_frame frame = {.layouts = fuzz_record_layouts("entity"),
                      .ground = &fuzz_record_ground,
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
