// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Taking runs once per cell.

#include "kit/column.h"

#include <math.h>
#include <stdlib.h>

enum { WORD_MAX = 63 };

// ---- numbers

static void take_number(ph_column* column, ph_csv_cell_number number, double* value)
{
    *value = ph_cell_number_value(number);
    if (column->kind == PH_COLUMN_EMPTY) {
        column->kind = PH_COLUMN_WHOLE;
        column->low = *value;
        column->high = *value;
    }
    if (number.decimals > column->decimals) {
        column->kind = PH_COLUMN_DECIMAL;
        column->decimals = number.decimals;
    }
    column->low = *value < column->low ? *value : column->low;
    column->high = *value > column->high ? *value : column->high;
}

// ---- words

static bool is_clean(const ph_csv_cell* cell)
{
    for (int i = 0; i < cell->length; ++i) {
        const unsigned char byte = (unsigned char)cell->text[i];
        if (byte < ' ' || byte == '"' || byte == 0x7F) {
            return false;
        }
    }
    return cell->length <= WORD_MAX;
}

// Numbers that went wrong do not begin like this.
static bool begins_as_word(const ph_csv_cell* cell)
{
    const unsigned char byte = (unsigned char)cell->text[0];
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
           byte >= 0x80;
}

static bool take_word(ph_column* column, const ph_csv_cell* cell, double* value,
                      const char** expected)
{
    if (!is_clean(cell)) {
        *expected = "a word of at most 63 bytes without quotes and control characters";
        return false;
    }
    column->kind = PH_COLUMN_WORD;
    const int number = ph_lexicon_add(&column->lexicon, cell->text, cell->length);
    if (number < 0) {
        *expected = column->lexicon.count < PH_LEXICON_MAX ? NULL : "one of the 65536 words above";
        return false;
    }
    *value = number;
    return true;
}

// ---- both

bool ph_column_take(ph_column* column, const ph_csv_cell* cell, double* value,
                    const char** expected)
{
    if (cell->length == 0) {
        *value = (double)NAN;
        return true;
    }
    if (column->kind == PH_COLUMN_WORD) {
        return take_word(column, cell, value, expected);
    }
    ph_csv_cell_number number;
    if (ph_csv_cell_read_number(cell, &number)) {
        take_number(column, number, value);
        return true;
    }
    if (column->kind != PH_COLUMN_EMPTY) {
        *expected = "a number as in the lines above";
        return false;
    }
    if (!begins_as_word(cell)) {
        *expected = "a number of at most 15 digits, or a word";
        return false;
    }
    return take_word(column, cell, value, expected);
}

// Words were numbered as they came; now they have an order.
bool ph_column_sort_words(ph_column* column, int row_count)
{
    int* new_number = malloc(((size_t)column->lexicon.count + 1) * sizeof(int));
    const bool is_sorted = new_number != NULL && ph_lexicon_sort(&column->lexicon, new_number);
    for (int i = 0; is_sorted && i < row_count; ++i) {
        if (!isnan(column->value[i])) {
            column->value[i] = new_number[(int)column->value[i]];
        }
    }
    free(new_number);
    return is_sorted;
}
