// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs for every shown entity of every frame, if a dump is wanted at all: then it is most of the
// work. So digits are made by hand, a dozen times quicker than printf.

#include "kit/sim_dump.h"

#include <stdlib.h>
#include <string.h>

// Three numbers of 15 digits, two of 10, time, heading and rotation, all with signs and commas.
#define ROW_MAX 192
#define FIRST_CAPACITY ((size_t)1 << 16)

static bool make_room(ph_sim_dump* dump)
{
    if (dump->capacity - dump->length >= ROW_MAX) {
        return true;
    }
    const size_t capacity = dump->capacity == 0 ? FIRST_CAPACITY : 2 * dump->capacity;
    char* text = realloc(dump->text, capacity);
    if (text == NULL) {
        return false;
    }
    dump->text = text;
    dump->capacity = capacity;
    return true;
}

static void put_char(ph_sim_dump* dump, char c)
{
    dump->text[dump->length++] = c;
}

static void put_whole(ph_sim_dump* dump, uint64_t number, int least_digits)
{
    char digits[24];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0 || count < least_digits);
    while (count > 0) {
        put_char(dump, digits[--count]);
    }
}

// A number in parts of a power of ten: 1234 with 2 decimals is 12.34.
static void put_decimal(ph_sim_dump* dump, int64_t number, int decimals)
{
    uint64_t unit = 1;
    for (int i = 0; i < decimals; ++i) {
        unit *= 10;
    }
    if (number < 0) {
        put_char(dump, '-');
    }
    const uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    put_whole(dump, size / unit, 1);
    put_char(dump, '.');
    put_whole(dump, size % unit, decimals);
}

void ph_sim_dump_add(ph_sim_dump* dump, const ph_sim_row* row, const ph_shown* shown)
{
    if (!make_room(dump)) {
        dump->has_failed = true;
        return;
    }
    put_decimal(dump, (int64_t)(row->time_ms * 1000.0 + 0.5), 3);
    put_char(dump, ',');
    put_whole(dump, row->viewer, 1);
    put_char(dump, ',');
    put_whole(dump, row->entity, 1);
    for (int axis = 0; axis < 3; ++axis) {
        put_char(dump, ',');
        put_decimal(dump, ph_meter_tenths(shown->position_mm[axis]), 1);
    }
    put_char(dump, ',');
    if (shown->has_heading) {
        put_decimal(dump, ph_meter_hundredths(shown->heading_deg), 2);
    }
    for (int k = 0; dump->is_turned && k < 4; ++k) {
        put_char(dump, ',');
        if (shown->has_rotation) {
            put_decimal(dump, ph_meter_millionths(shown->rotation[k]), 6);
        }
    }
    put_char(dump, '\n');
}

bool ph_sim_dump_flush(ph_sim_dump* dump, FILE* file)
{
    if (dump->length == 0) {
        return !dump->has_failed;
    }
    const bool is_written = fwrite(dump->text, 1, dump->length, file) == dump->length;
    dump->length = 0;
    return is_written && !dump->has_failed;
}

void ph_sim_dump_destroy(ph_sim_dump* dump)
{
    free(dump->text);
    *dump = (ph_sim_dump){0};
}
