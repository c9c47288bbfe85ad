// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "kit/plot_text.h"

#include <pinhole/text.h>

#include <stdbool.h>
#include <string.h>

static void write_byte(FILE* file, unsigned char byte, bool is_text)
{
    switch (byte) {
    case '&':
        fputs("&amp;", file);
        return;
    case '<':
        fputs("&lt;", file);
        return;
    case '>':
        fputs("&gt;", file);
        return;
    case '"':
        fputs("&quot;", file);
        return;
    default:
        break;
    }
    // XML has no control characters, and no bytes that are not UTF-8.
    const bool is_strange = byte == 0x7F || (byte >= 0x80 && !is_text);
    fputc(byte < 0x20 ? ' ' : is_strange ? '?' : byte, file);
}

void ph_plot_text_write(FILE* file, const char* text)
{
    const size_t length = strlen(text);
    const bool is_text = ph_text_is_valid(text, length);
    for (size_t i = 0; i < length; ++i) {
        write_byte(file, (unsigned char)text[i], is_text);
    }
}

double ph_plot_text_letters(const char* text)
{
    double count = 0.0;
    for (; *text != '\0'; ++text) {
        count += ((unsigned char)*text & 0xC0) != 0x80;
    }
    return count;
}

double ph_plot_text_width(const char* text, double size_px)
{
    return ph_plot_text_letters(text) * PH_PLOT_LETTER_WIDTH * size_px;
}
