// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Real numbers as text, without loss and the same under every locale. Printing finds the shortest
// digits that read back as the same double. For schemas and messages: some microseconds each.

#ifndef PH_SCHEMA_DECIMAL_H
#define PH_SCHEMA_DECIMAL_H

#include <stddef.h>

// Long enough for every double.
typedef struct ph_decimal {
    char text[48];
} ph_decimal;

// value is finite. 0.1, -3, 9007199254740992, 1e300; a negative zero prints as 0.
ph_decimal ph_decimal_print(double value);

// Reads [-] digits [. digits] [e [+|-] digits] from the start of text[0..length), as far as that
// goes: of "0..3" it takes the first 0.
// @return Bytes used, or 0 when no number starts there, it has more than 60 digits, or it is larger
// than any double.
size_t ph_decimal_read(const char* text, size_t length, double* value);

#endif
