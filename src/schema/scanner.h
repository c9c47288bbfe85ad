// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Words of a text: lines and words of the text form, and real numbers as text, without loss and the same
// under every locale. For schemas and messages: some microseconds each.

#ifndef PH_SCHEMA_SCANNER_H
#define PH_SCHEMA_SCANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Long enough for every double.
typedef struct ph_decimal {
    char text[48];
} ph_decimal;

// The shortest digits that read back as the same double. value is finite. 0.1, -3, 9007199254740992,
// 1e300; a negative zero prints as 0.
ph_decimal ph_decimal_print(double value);

// Reads [-] digits [. digits] [e [+|-] digits] from the start of text[0..length), as far as that
// goes: of "0..3" it takes the first 0.
// @return Bytes used, or 0 when no number starts there, it has more than 60 digits, or it is larger
// than any double.
size_t ph_decimal_read(const char* text, size_t length, double* value);

// ---- lines and words
//
// Cuts the text form into lines and words, and reads numbers out of words. Trusts nothing: any bytes
// may come.

// Start from {.text, .length}.
typedef struct ph_scanner {
    const char* text;
    size_t length;
    size_t next;       // first byte not looked at
    size_t line_start; // first byte of the line
    int line;          // from 1; 0 before the first
} ph_scanner;

// Some bytes without blanks, or a single colon. length 0: the line has ended.
typedef struct ph_word {
    const char* start;
    size_t length;
    int column; // from 1, in bytes; of the end of the line's content when there is no word
} ph_word;

// Goes to the next line that has a word. @return False when there is none.
bool ph_scanner_next_line(ph_scanner* scanner);

// The next word of the line. Comments are no words.
ph_word ph_scanner_word(ph_scanner* scanner);

// The same without taking it.
ph_word ph_scanner_peek(const ph_scanner* scanner);

bool ph_word_is(ph_word word, const char* text);

// The whole word has to be the number, the range lo..hi (lo below hi), the whole number
// lowest..2^31-1, or the mask in hexadecimal (0x3).
bool ph_word_number(ph_word word, double* value);

bool ph_word_range(ph_word word, double* lo, double* hi);

bool ph_word_int(ph_word word, int lowest, int* value);

bool ph_word_mask(ph_word word, uint32_t* mask);

#endif
