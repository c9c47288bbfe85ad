// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Real numbers as text. The digits come from snprintf and go to strtod, which round correctly; but
// both write and want the decimal point of the locale. So neither ever sees one: 12.5 is given to
// strtod as 125e-1, and of what snprintf printed only the digits are taken.

#include "schema/decimal.h"

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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// digits, without a point, times 10^exponent.
static double value_of(const char* digits, int exponent)
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
    const double magnitude = value_of(digits, exponent);
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
static void lay_out(const char* digits, int exponent, char* text, size_t capacity)
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
        if (value_of(digits, exponent - (count - 1)) == magnitude) {
            break;
        }
    }
    const size_t sign = value < 0.0 ? 1 : 0;
    decimal.text[0] = '-';
    lay_out(digits, exponent, decimal.text + sign, sizeof decimal.text - sign);
    return decimal;
}
