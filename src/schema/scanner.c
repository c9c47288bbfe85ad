// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Lines and words of the text form. Runs when a schema is parsed; each byte is looked at two or
// three times.

#include "schema/scanner.h"

#include "schema/decimal.h"

#include <limits.h>
#include <math.h>
#include <string.h>

// A carriage return is a blank: files from Windows are read as they are.
static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_at_end_of_line(const ph_scanner* scanner, size_t at)
{
    return at == scanner->length || scanner->text[at] == '\n' || scanner->text[at] == '#';
}

static int clamped(size_t number)
{
    return number < INT_MAX ? (int)number : INT_MAX;
}

ph_word ph_scanner_word(ph_scanner* scanner)
{
    const char* text = scanner->text;
    while (scanner->next < scanner->length && is_blank(text[scanner->next])) {
        ++scanner->next;
    }
    const size_t start = scanner->next;
    size_t end = start;
    while (!is_at_end_of_line(scanner, end) && !is_blank(text[end]) && text[end] != ':') {
        ++end;
    }
    if (end == start && !is_at_end_of_line(scanner, end)) {
        ++end; // a colon
    }
    scanner->next = end;
    return (ph_word){.start = text + start,
                     .length = end - start,
                     .column = clamped(start - scanner->line_start + 1)};
}

ph_word ph_scanner_peek(const ph_scanner* scanner)
{
    ph_scanner ahead = *scanner;
    return ph_scanner_word(&ahead);
}

bool ph_scanner_next_line(ph_scanner* scanner)
{
    for (bool is_first = scanner->line == 0;; is_first = false) {
        if (!is_first) {
            const char* rest = scanner->text + scanner->next;
            const char* end = memchr(rest, '\n', scanner->length - scanner->next);
            if (end == NULL) {
                return false;
            }
            scanner->next += (size_t)(end - rest) + 1;
        }
        scanner->line_start = scanner->next;
        scanner->line += scanner->line < INT_MAX ? 1 : 0;
        if (ph_scanner_peek(scanner).length > 0) {
            return true;
        }
        if (scanner->next == scanner->length) {
            return false;
        }
    }
}

bool ph_word_is(ph_word word, const char* text)
{
    return word.length == strlen(text) && memcmp(word.start, text, word.length) == 0;
}

bool ph_word_number(ph_word word, double* value)
{
    return word.length > 0 && ph_decimal_read(word.start, word.length, value) == word.length;
}

bool ph_word_range(ph_word word, double* lo, double* hi)
{
    const size_t used = ph_decimal_read(word.start, word.length, lo);
    if (used == 0 || word.length - used < 3 || memcmp(word.start + used, "..", 2) != 0) {
        return false;
    }
    const ph_word second = {.start = word.start + used + 2, .length = word.length - used - 2};
    return ph_word_number(second, hi) && *lo < *hi;
}

bool ph_word_int(ph_word word, int lowest, int* value)
{
    double number;
    if (!ph_word_number(word, &number) || floor(number) != number || number < lowest ||
        number > INT_MAX) {
        return false;
    }
    *value = (int)number;
    return true;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool ph_word_mask(ph_word word, uint32_t* mask)
{
    if (word.length < 3 || word.length > 10 || memcmp(word.start, "0x", 2) != 0) {
        return false;
    }
    uint32_t bits = 0;
    for (size_t i = 2; i < word.length; ++i) {
        const int digit = digit_of(word.start[i]);
        if (digit < 0) {
            return false;
        }
        bits = bits << 4 | (uint32_t)digit;
    }
    *mask = bits;
    return true;
}
