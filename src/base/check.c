// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The sentences about wrong calls. Nothing here runs when a call is right, but for the comparisons of
// the checks at creation.

#include "base/check.h"

#include "base/position.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- numbers as text

const char* ph_count_text(int64_t value, char text[PH_COUNT_TEXT_SIZE])
{
    char backward[PH_COUNT_TEXT_SIZE];
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int length = 0;
    int digits = 0;
    do {
        if (digits > 0 && digits % 3 == 0) {
            backward[length++] = ',';
        }
        backward[length++] = (char)('0' + rest % 10);
        rest /= 10;
        ++digits;
    } while (rest > 0);
    if (value < 0) {
        backward[length++] = '-';
    }
    for (int i = 0; i < length; ++i) {
        text[i] = backward[length - 1 - i];
    }
    text[length] = '\0';
    return text;
}

const char* ph_real_text(double value, char text[PH_COUNT_TEXT_SIZE])
{
    if (!isfinite(value)) {
        snprintf(text, PH_COUNT_TEXT_SIZE, "%s", isnan(value) ? "NaN" : "infinite");
        return text;
    }
    // A whole number reads better with its thousands apart; 2^53 is where doubles stop counting.
    if (value > -9007199254740992.0 && value < 9007199254740992.0 &&
        value == (double)(int64_t)value) {
        return ph_count_text((int64_t)value, text);
    }
    snprintf(text, PH_COUNT_TEXT_SIZE, "%.6g", value);
    char* point = strchr(text, ','); // of another locale
    if (point != NULL) {
        *point = '.';
    }
    return text;
}

// ---- sentences

static void fill(ph_error* error, ph_result result, const char* function, const char* field,
                 const char* format, va_list arguments)
{
    *error = (ph_error){.result = result, .function = function};
    size_t length = 0;
    const bool has_field = field != NULL && field[0] != '\0';
    if (has_field) {
        snprintf(error->field, sizeof error->field, "%s", field);
    }
    if (!has_field || strchr(field, '.') == NULL) {
        length = (size_t)snprintf(error->text, sizeof error->text, "%s: ", function);
    }
    if (has_field && length < sizeof error->text) {
        length += (size_t)snprintf(error->text + length, sizeof error->text - length, "%s ", field);
    }
    if (length < sizeof error->text) {
        vsnprintf(error->text + length, sizeof error->text - length, format, arguments);
    }
}

ph_result ph_fail(const ph_check* call, ph_result result, const char* field, const char* format,
                  ...)
{
    if (call->on_error != NULL) {
        ph_error error;
        va_list arguments;
        va_start(arguments, format);
        fill(&error, result, call->function, field, format, arguments);
        va_end(arguments);
        call->on_error(call->context, &error);
    }
    return result;
}

ph_result ph_error_set(ph_error* error, ph_result result, const char* function, const char* field,
                       const char* format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, result, function, field, format, arguments);
        va_end(arguments);
    }
    return result;
}

ph_result ph_fail_memory(const ph_check* call)
{
    return ph_fail(call, PH_ERROR_MEMORY, NULL, "the allocator had no memory left");
}

ph_result ph_fail_stale(const ph_check* call, const char* what, uint32_t index1,
                        uint32_t generation)
{
    return ph_fail(call, PH_ERROR_STALE, what,
                   "is {%lu, %lu}; it must be the id of %s %s of this world that is still there",
                   (unsigned long)index1, (unsigned long)generation,
                   strchr("aeiou", what[0]) != NULL ? "an" : "a", what);
}

// ---- checks

void ph_check_range(ph_check* check, const char* field, int64_t value, int64_t lo, int64_t hi)
{
    if (check->result != PH_OK || (value >= lo && value <= hi)) {
        return;
    }
    char is[PH_COUNT_TEXT_SIZE];
    char low[PH_COUNT_TEXT_SIZE];
    char high[PH_COUNT_TEXT_SIZE];
    ph_count_text(value, is);
    ph_count_text(lo, low);
    if (hi == PH_NO_END) {
        check->result =
            ph_fail(check, PH_ERROR_ARGUMENT, field, "is %s; it must be %s or more", is, low);
    } else if (hi < lo) {
        check->result =
            ph_fail(check, PH_ERROR_ARGUMENT, field, "is %s; nothing is allowed now", is);
    } else if (hi == lo) {
        check->result = ph_fail(check, PH_ERROR_ARGUMENT, field, "is %s; it must be %s", is, low);
    } else {
        check->result = ph_fail(check, PH_ERROR_ARGUMENT, field, "is %s; it must be %s..%s", is,
                                low, ph_count_text(hi, high));
    }
}

void ph_check_real(ph_check* check, const char* field, double value, double lo, double hi)
{
    // NaN compares false to everything, and is refused.
    if (check->result != PH_OK || (value >= lo && value <= hi)) {
        return;
    }
    char is[PH_COUNT_TEXT_SIZE];
    char low[PH_COUNT_TEXT_SIZE];
    char high[PH_COUNT_TEXT_SIZE];
    check->result = ph_fail(check, PH_ERROR_ARGUMENT, field, "is %s; it must be %s..%s",
                            ph_real_text(value, is), ph_real_text(lo, low), ph_real_text(hi, high));
}

void ph_check_position(ph_check* check, const char* field, const int64_t position_mm[3])
{
    for (int axis = 0; axis < 3 && check->result == PH_OK; ++axis) {
        if (!ph_is_coordinate(position_mm[axis])) {
            char is[PH_COUNT_TEXT_SIZE];
            check->result =
                ph_fail(check, check->failure != PH_OK ? check->failure : PH_ERROR_ARGUMENT, field,
                        "has %c = %s mm; it must be -2,147,483,648..2,147,483,647", "xyz"[axis],
                        ph_count_text(position_mm[axis], is));
        }
    }
}

void ph_check_made(ph_check* check, bool is_made, const char* def)
{
    if (check->result == PH_OK && !is_made) {
        check->result =
            ph_fail(check, PH_ERROR_ARGUMENT, def,
                    "was not made by %s_default(); start from that and change fields", def);
    }
}

void ph_check_that(ph_check* check, bool is_right, const char* field, const char* value,
                   const char* allowed)
{
    if (check->result == PH_OK && !is_right) {
        check->result =
            ph_fail(check, PH_ERROR_ARGUMENT, field, "is %s; it must be %s", value, allowed);
    }
}
