// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Strings and byte strings: the length in as many bits as the longest needs, then the bytes. An
// almost empty name[128] costs its few letters and 7 bits. Strings are UTF-8, checked on both
// sides, and hold no zero byte, so that a C string comes back as it went.

#ifndef PINHOLE_TEXT_H
#define PINHOLE_TEXT_H

#include <pinhole/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

/// True for well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF) without a
/// zero byte.
PH_API bool ph_text_is_valid(const char* text, size_t length);

/// Exact cost of a string or byte string of length bytes: 8 * length + the bits of max_length.
PH_API size_t ph_bytes_cost_bits(size_t length, size_t max_length);

/// Fails the writer with PH_ERROR_TEXT or PH_ERROR_TOO_LONG. text needs no terminator.
PH_API void ph_string_write(ph_bit_writer* writer, const char* text, size_t length,
                            size_t max_length);

/// Reads into text[0..text_size), terminated by a zero byte: text_size is max_length + 1 at least,
/// or the reader fails with PH_ERROR_TOO_LONG. max_length is that of the writer.
/// @return Length without the terminator; 0 and an empty string after a failure.
PH_API size_t ph_string_read(ph_bit_reader* reader, char* text, size_t text_size,
                             size_t max_length);

/// Any bytes. More than max_length fail the writer with PH_ERROR_TOO_LONG.
PH_API void ph_bytes_write(ph_bit_writer* writer, const void* bytes, size_t length,
                           size_t max_length);

/// Reads into bytes[0..max_length). @return Length; 0 after a failure.
PH_API size_t ph_bytes_read(ph_bit_reader* reader, void* bytes, size_t max_length);

#ifdef __cplusplus
}
#endif

#endif
