// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Comma-separated text, line by line and cell by cell, without copying. No quotes: recordings hold
// numbers and single words.
//
//     ph_csv csv = ph_csv_make(text, length);
//     while (ph_csv_next_line(&csv)) {
//         ph_csv_cell cell;
//         while (ph_csv_next_cell(&csv, &cell)) { ... }
//     }

#ifndef PINHOLE_KIT_CSV_H
#define PINHOLE_KIT_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where one is in a text. The text is borrowed.
typedef struct ph_csv {
    const char* next;     // the line after this one
    const char* end;      // of the text
    const char* begin;    // of this line
    const char* line_end; // without its \n or \r\n
    const char* at;       // the next cell of it; NULL behind the last one
    int line;             // its number, from 1; 0 before the first
} ph_csv;

// What stands between two commas. length may be 0.
typedef struct ph_csv_cell {
    const char* text;
    int length;
    int column; // of its first byte, from 1
} ph_csv_cell;

// length is at most PH_FILE_TEXT_MAX. A byte order mark in front is skipped.
ph_csv ph_csv_make(const char* text, size_t length);

// Goes on to the next line that is not blank. @return false at the end of the text.
bool ph_csv_next_line(ph_csv* csv);

// The next cell of the line; an empty line has one, which is empty. @return false behind the last.
bool ph_csv_next_cell(ph_csv* csv, ph_csv_cell* cell);

// Where the line ends: the column for what is missing there.
int ph_csv_end_column(const ph_csv* csv);

bool ph_csv_cell_is(const ph_csv_cell* cell, const char* word);

// A number as it was written: digits / 10^decimals.
typedef struct ph_csv_cell_number {
    int64_t digits; // within 10^15, so that a double holds it exactly
    int decimals;   // digits behind the point, 0..15
} ph_csv_cell_number;

// [-] digits [. digits], whatever the locale. Behind the point, digits after the 15th in all are
// dropped: programs write doubles with 17. Before it they are too many.
// @return false, with nothing written, when the cell is anything else.
bool ph_csv_cell_read_number(const ph_csv_cell* cell, ph_csv_cell_number* number);

// The nearest double.
double ph_cell_number_value(ph_csv_cell_number number);

// A cell for a message: at most 24 bytes of it, what cannot be printed as ?.
typedef struct ph_csv_cell_text {
    char text[32];
} ph_csv_cell_text;

ph_csv_cell_text ph_csv_cell_quote(const ph_csv_cell* cell);

#endif
