// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "golden_hex.h"

#include "test_support.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

int golden_add_hex(char* text, const uint8_t* bytes, size_t size)
{
    int length = 0;
    for (size_t i = 0; i < size; ++i) {
        length += sprintf(text + length, "%02x", bytes[i]);
    }
    return length;
}

void golden_expect_file(const char* path, const char* text, int length)
{
    static char kept[GOLDEN_HEX_FILE_MAX];
    const bool is_writing = getenv("PINHOLE_GOLDEN_WRITE") != NULL;
    FILE* file = fopen(path, is_writing ? "wb" : "rb");
    assert_non_null(file);
    if (is_writing) {
        assert_int_equal(fwrite(text, 1, (size_t)length, file), length);
    } else {
        kept[fread(kept, 1, sizeof kept - 1, file)] = '\0';
        assert_string_equal(text, kept);
    }
    fclose(file);
}
