// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Strings and byte strings. Names and chat: rare beside numbers, so plain loops over bytes.

#include "pinhole/text.h"

#include "bits/entropy_run.h"
#include "pinhole/integers.h"

// What the first byte of a character says: how many bytes follow, and which second bytes are legal.
// The second byte alone tells overlong forms, surrogates and what lies above U+10FFFF from the
// rest.
typedef struct lead_byte {
    size_t following;
    uint8_t second_lo;
    uint8_t second_hi;
} lead_byte;

// following is 0 for ASCII, SIZE_MAX for a byte that starts no character: 00, 80..C1, F5..FF.
static lead_byte look_up(uint8_t lead)
{
    if (lead >= 0x01 && lead <= 0x7F) {
        return (lead_byte){0, 0, 0};
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return (lead_byte){1, 0x80, 0xBF};
    }
    if (lead >= 0xE0 && lead <= 0xEF) {
        return (lead_byte){2, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF};
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        return (lead_byte){3, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF};
    }
    return (lead_byte){SIZE_MAX, 0, 0};
}

bool ph_text_is_valid(const char* text, size_t length)
{
    size_t i = 0;
    while (i < length) {
        const lead_byte lead = look_up((uint8_t)text[i++]);
        if (lead.following > length - i) {
            return false;
        }
        for (size_t k = 0; k < lead.following; ++k) {
            const uint8_t byte = (uint8_t)text[i++];
            const uint8_t lo = k == 0 ? lead.second_lo : 0x80;
            const uint8_t hi = k == 0 ? lead.second_hi : 0xBF;
            if (byte < lo || byte > hi) {
                return false;
            }
        }
    }
    return true;
}

size_t ph_bytes_cost_bits(size_t length, size_t max_length)
{
    return 8 * length + (size_t)ph_width_of(max_length);
}

void ph_string_write(ph_bit_writer* writer, const char* text, size_t length, size_t max_length)
{
    if (length <= max_length && !ph_text_is_valid(text, length)) {
        ph_bit_writer_fail(writer, PH_ERROR_TEXT);
        return;
    }
    ph_bytes_write(writer, text, length, max_length);
}

size_t ph_string_read(ph_bit_reader* reader, char* text, size_t text_size, size_t max_length)
{
    PH_ASSERT(text_size > max_length);
    if (text_size <= max_length) {
        ph_bit_reader_fail(reader, PH_ERROR_TOO_LONG);
        if (text_size > 0) {
            text[0] = '\0';
        }
        return 0;
    }
    const size_t length = ph_bytes_read(reader, text, max_length);
    text[length] = '\0';
    if (!ph_text_is_valid(text, length)) {
        ph_bit_reader_fail(reader, PH_ERROR_TEXT);
        // Nothing of a refused string stays behind.
        memset(text, 0, length);
        return 0;
    }
    return length;
}

void ph_bytes_write(ph_bit_writer* writer, const void* bytes, size_t length, size_t max_length)
{
    if (length > max_length) {
        ph_bit_writer_fail(writer, PH_ERROR_TOO_LONG);
        return;
    }
    if (!ph_bits_require(writer, ph_bytes_cost_bits(length, max_length))) {
        return;
    }
    ph_bits_write(writer, length, ph_width_of(max_length));
    ph_bits_write_bytes(writer, bytes, length);
}

size_t ph_bytes_read(ph_bit_reader* reader, void* bytes, size_t max_length)
{
    const uint64_t length = ph_bits_read(reader, ph_width_of(max_length));
    if (length > max_length) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
        return 0;
    }
    // Before the copy: a length that lies costs nothing, whatever the maximum.
    if (length > ph_bit_reader_left_bits(reader) / 8) {
        ph_bit_reader_fail(reader, PH_ERROR_END);
        return 0;
    }
    ph_bits_read_bytes(reader, bytes, (size_t)length);
    return (size_t)length;
}
