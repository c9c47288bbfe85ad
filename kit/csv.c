// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per byte of a recording: a few hundred million bytes a second.

#include "kit/csv.h"

#include "kit/file_text.h"

#include <pinhole/base.h>

#include <string.h>

enum { DIGITS_MAX = 15, QUOTED_MAX = 24 };

static const char BYTE_ORDER_MARK[] = "\xEF\xBB\xBF";

ph_csv ph_csv_make(const char* text, size_t length)
{
    PH_ASSERT(length <= PH_FILE_TEXT_MAX);
    const size_t mark = sizeof BYTE_ORDER_MARK - 1;
    const bool is_marked = length >= mark && memcmp(text, BYTE_ORDER_MARK, mark) == 0;
    const char* next = is_marked ? text + mark : text;
    return (ph_csv){.next = next, .end = length > 0 ? text + length : text};
}

static bool is_blank(const char* begin, const char* end)
{
    while (begin < end && (*begin == ' ' || *begin == '\t')) {
        ++begin;
    }
    return begin == end;
}

bool ph_csv_next_line(ph_csv* csv)
{
    while (csv->next != csv->end) {
        csv->begin = csv->next;
        const char* found = memchr(csv->begin, '\n', (size_t)(csv->end - csv->begin));
        csv->next = found != NULL ? found + 1 : csv->end;
        csv->line_end = found != NULL ? found : csv->end;
        if (csv->line_end > csv->begin && csv->line_end[-1] == '\r') {
            --csv->line_end;
        }
        csv->at = csv->begin;
        ++csv->line;
        if (!is_blank(csv->begin, csv->line_end)) {
            return true;
        }
    }
    return false;
}

bool ph_csv_next_cell(ph_csv* csv, ph_csv_cell* cell)
{
    if (csv->at == NULL) {
        return false;
    }
    // Cells are a few bytes: a loop beats the call of memchr().
    const char* end = csv->at;
    while (end < csv->line_end && *end != ',') {
        ++end;
    }
    *cell = (ph_csv_cell){
        .text = csv->at,
        .length = (int)(end - csv->at),
        .column = (int)(csv->at - csv->begin) + 1,
    };
    csv->at = end < csv->line_end ? end + 1 : NULL;
    return true;
}

int ph_csv_end_column(const ph_csv* csv)
{
    return (int)(csv->line_end - csv->begin) + 1;
}

bool ph_csv_cell_is(const ph_csv_cell* cell, const char* word)
{
    return strlen(word) == (size_t)cell->length &&
           memcmp(cell->text, word, (size_t)cell->length) == 0;
}

// ---- numbers

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

bool ph_csv_cell_read_number(const ph_csv_cell* cell, ph_csv_cell_number* number)
{
    const char* at = cell->text;
    const char* end = cell->text + cell->length;
    const bool is_negative = at < end && *at == '-';
    at += is_negative ? 1 : 0;

    int64_t digits = 0;
    int count = 0;
    int whole_count = -1; // digits before the point, once it was met
    for (; at < end; ++at) {
        if (*at == '.' && whole_count < 0) {
            whole_count = count;
            continue;
        }
        if (!is_digit(*at)) {
            return false;
        }
        if (count == DIGITS_MAX) {
            if (whole_count < 0) {
                return false;
            }
            continue;
        }
        digits = digits * 10 + (*at - '0');
        ++count;
    }
    const bool has_point = whole_count >= 0;
    if (count == 0 || end[-1] == '.' || whole_count == 0) {
        return false;
    }
    number->digits = is_negative ? -digits : digits;
    number->decimals = has_point ? count - whole_count : 0;
    return true;
}

double ph_cell_number_value(ph_csv_cell_number number)
{
    static const double POWERS[DIGITS_MAX + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    PH_ASSERT(number.decimals >= 0 && number.decimals <= DIGITS_MAX);
    // Both are exact, so the quotient is the double nearest to what was written.
    return (double)number.digits / POWERS[number.decimals];
}

// ---- messages

ph_csv_cell_text ph_csv_cell_quote(const ph_csv_cell* cell)
{
    ph_csv_cell_text quoted = {{0}};
    const int length = cell->length < QUOTED_MAX ? cell->length : QUOTED_MAX;
    for (int i = 0; i < length; ++i) {
        const char byte = cell->text[i];
        quoted.text[i] = byte;
        if (byte < ' ' || byte > '~') {
            quoted.text[i] = '?';
        }
    }
    if (cell->length > QUOTED_MAX) {
        memcpy(quoted.text + QUOTED_MAX, "...", 4);
    }
    return quoted;
}
