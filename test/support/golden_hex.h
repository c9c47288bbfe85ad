// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Golden bytes as lines of a text: "hex = what they say".

#ifndef PINHOLE_GOLDEN_HEX_H
#define PINHOLE_GOLDEN_HEX_H

#include <stddef.h>
#include <stdint.h>

enum { GOLDEN_HEX_FILE_MAX = 65536 };

/// Two digits a byte. @return How many characters.
int golden_add_hex(char* text, const uint8_t* bytes, size_t size);

/// Asserts that the file holds this text, of less than GOLDEN_HEX_FILE_MAX characters. With PINHOLE_GOLDEN_WRITE in
/// the environment the file is written instead; read the difference.
void golden_expect_file(const char* path, const char* text, int length);

#endif
