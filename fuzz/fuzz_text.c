// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads a string and a byte string. The first byte says how long they may be. What is accepted must
// be written again as the same bytes; a string holds no zero byte and is terminated.

#include "pinhole/text.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH_MAX 255

static void expect_same(ph_bit_writer* writer, const uint8_t* written, const uint8_t* data,
                        size_t size)
{
    if (ph_bit_writer_finish(writer) != size || memcmp(written, data, size) != 0) {
        abort();
    }
}

static void check_string(size_t max_length, const uint8_t* data, size_t size)
{
    // Exactly as large as promised: AddressSanitizer sees one byte more.
    char* text = malloc(max_length + 1);
    if (text == NULL) {
        return;
    }
    ph_bit_reader reader = ph_bit_reader_make(data, size);
    const size_t length = ph_string_read(&reader, text, max_length + 1, max_length);
    if (length > max_length || strlen(text) != length) {
        abort();
    }
    if (ph_bit_reader_result(&reader) != PH_OK && length != 0) {
        abort();
    }
    if (ph_bit_reader_finish(&reader) == PH_OK) {
        uint8_t written[LENGTH_MAX + 2] = {0};
        ph_bit_writer writer = ph_bit_writer_make(written, sizeof written);
        ph_string_write(&writer, text, length, max_length);
        expect_same(&writer, written, data, size);
    }
    free(text);
}

static void check_bytes(size_t max_length, const uint8_t* data, size_t size)
{
    uint8_t* bytes = malloc(max_length > 0 ? max_length : 1);
    if (bytes == NULL) {
        return;
    }
    ph_bit_reader reader = ph_bit_reader_make(data, size);
    const size_t length = ph_bytes_read(&reader, bytes, max_length);
    if (ph_bit_reader_finish(&reader) == PH_OK) {
        uint8_t written[LENGTH_MAX + 2] = {0};
        ph_bit_writer writer = ph_bit_writer_make(written, sizeof written);
        ph_bytes_write(&writer, bytes, length, max_length);
        if (ph_bit_writer_size_bits(&writer) != ph_bytes_cost_bits(length, max_length)) {
            abort();
        }
        expect_same(&writer, written, data, size);
    }
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    check_string(data[0], data + 1, size - 1);
    check_bytes(data[0], data + 1, size - 1);
    return 0;
}
