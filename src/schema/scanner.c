// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Words of a text: real numbers, then lines and words of the text form. Runs when a schema is parsed;
// each byte is looked at two or three times.

#include "schema/scanner.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS_READ_MAX = 60,
    DIGITS_PRINTED_MAX = 17, // tell any two doubles apart
    EXPONENT_MAX = 9999,     // far beyond what a double holds, far below what an int does
};

// ---- real numbers
//
// The digits come from snprintf and go to strtod, which round correctly; but both write and want the
// decimal point of the locale. So neither ever sees one: 12.5 is given to strtod as 125e-1, and of what
// snprintf printed only the digits are taken.

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// digits, without a point, times 10^exponent.
static double digits_value(const char* digits, int exponent)
{
    char text[DIGITS_READ_MAX + 16];
    snprintf(text, sizeof text, "%se%d", digits, exponent);
    return strtod(text, NULL);
}

// Copies the digits from text[start..length) to the end of digits. @return Where they end in text.
static size_t take_digits(const char* text, size_t length, size_t start, char* digits)
{
    size_t count = strlen(digits);
    size_t end = start;
    while (end < length && is_digit(text[end]) && count < DIGITS_READ_MAX) {
        digits[count++] = text[end++];
    }
    digits[count] = '\0';
    return end;
}

// Reads e [+|-] digits at start. @return Where it ends: start itself when there is none.
static size_t take_exponent(const char* text, size_t length, size_t start, int* exponent)
{
    size_t end = start;
    if (end == length || (text[end] != 'e' && text[end] != 'E')) {
        return start;
    }
    ++end;
    const bool is_negative = end < length && text[end] == '-';
    end += end < length && (text[end] == '-' || text[end] == '+') ? 1 : 0;
    const size_t first_digit = end;
    int magnitude = 0;
    for (; end < length && is_digit(text[end]); ++end) {
        magnitude = magnitude < EXPONENT_MAX ? magnitude * 10 + (text[end] - '0') : EXPONENT_MAX;
    }
    *exponent += is_negative ? -magnitude : magnitude;
    return end > first_digit ? end : start;
}

size_t ph_decimal_read(const char* text, size_t length, double* value)
{
    char digits[DIGITS_READ_MAX + 1] = "";
    const bool is_negative = length > 0 && text[0] == '-';
    const size_t first_digit = is_negative ? 1 : 0;
    size_t end = take_digits(text, length, first_digit, digits);
    if (end == first_digit) {
        return 0;
    }
    int exponent = 0;
    if (end + 1 < length && text[end] == '.' && is_digit(text[end + 1])) {
        const size_t point = end;
        end = take_digits(text, length, point + 1, digits);
        exponent = -(int)(end - point - 1);
    }
    if (end < length && is_digit(text[end])) {
        return 0;
    }
    end = take_exponent(text, length, end, &exponent);
    const double magnitude = digits_value(digits, exponent);
    if (!isfinite(magnitude)) {
        return 0;
    }
    *value = is_negative ? -magnitude : magnitude;
    return end;
}

// The count digits that are nearest to value > 0, which is about d.ddd * 10^(*exponent).
static void round_to_digits(double value, int count, char* digits, int* exponent)
{
    char text[48];
    snprintf(text, sizeof text, "%.*e", count - 1, value);
    const char* mark = strchr(text, 'e');
    int length = 0;
    for (const char* next = text; next < mark; ++next) {
        if (is_digit(*next)) {
            digits[length++] = *next;
        }
    }
    digits[length] = '\0';
    *exponent = (int)strtol(mark + 1, NULL, 10);
}

// d.ddde10^exponent from digits, or without an exponent where that is not much longer.
static void lay_out_scanner(const char* digits, int exponent, char* text, size_t capacity)
{
    const int count = (int)strlen(digits);
    if (exponent < -5 || exponent > 20) {
        snprintf(text, capacity, "%c%s%se%d", digits[0], count > 1 ? "." : "", digits + 1,
                 exponent);
    } else if (exponent < 0) {
        snprintf(text, capacity, "0.%.*s%s", -exponent - 1, "0000", digits);
    } else if (count <= exponent + 1) {
        snprintf(text, capacity, "%s%.*s", digits, exponent + 1 - count, "00000000000000000000");
    } else {
        snprintf(text, capacity, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
    }
}

ph_decimal ph_decimal_print(double value)
{
    ph_decimal decimal = {"0"};
    if (value == 0.0) {
        return decimal;
    }
    char digits[DIGITS_PRINTED_MAX + 1];
    int exponent = 0;
    const double magnitude = fabs(value);
    for (int count = 1; count <= DIGITS_PRINTED_MAX; ++count) {
        round_to_digits(magnitude, count, digits, &exponent);
        if (digits_value(digits, exponent - (count - 1)) == magnitude) {
            break;
        }
    }
    const size_t sign = value < 0.0 ? 1 : 0;
    decimal.text[0] = '-';
    lay_out_scanner(digits, exponent, decimal.text + sign, sizeof decimal.text - sign);
    return decimal;
}

// ---- lines and words

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
