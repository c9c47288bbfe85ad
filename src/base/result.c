// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The version, the words for results, what may be done with an error, and the end of the program when
// an assertion fails. None of them runs in normal operation.

#include "pinhole/error.h"

#include <stdio.h>
#include <stdlib.h>

const char* ph_version(void)
{
    return PH_VERSION_TEXT;
}

static const char* const TEXTS[] = {
    [PH_OK] = "Done.",
    [PH_ERROR_ARGUMENT] = "A field of a def or an argument is not allowed; on_error says which.",
    [PH_ERROR_MEMORY] = "The allocator had no memory left.",
    [PH_ERROR_END] = "The buffer ends before the value does.",
    [PH_ERROR_VALUE] = "The value lies outside its declared range, or its encoding is not legal.",
    [PH_ERROR_NOT_A_NUMBER] = "The value is not a number, or infinite where no end can hold it.",
    [PH_ERROR_NOT_UNIT] = "The quaternion's length is not 1.",
    [PH_ERROR_TEXT] =
        "The text is not of the form that is wanted, not UTF-8, or holds a zero byte.",
    [PH_ERROR_TOO_LONG] = "The value is longer than its declared maximum.",
    [PH_ERROR_RANGE] = "The declared range is empty, or one of its ends is not finite.",
    [PH_ERROR_STEP] = "The declared step is not positive, or does not divide the range.",
    [PH_ERROR_ZERO] = "Zero lies inside the declared range but between two steps.",
    [PH_ERROR_WIDTH] = "The declaration needs more levels or bits than the coding has.",
    [PH_ERROR_SCHEMA] =
        "The declaration or text makes no sense, or the other end has another schema.",
    [PH_ERROR_STALE] = "The id names something that is gone, or never was.",
    [PH_ERROR_TAKEN] = "The key, address or the like is in use already.",
    [PH_ERROR_SYSTEM] = "The operating system said no.",
    [PH_ERROR_FULL] = "There is no room for it now; try again later.",
};

_Static_assert(sizeof(TEXTS) / sizeof(TEXTS[0]) == PH_RESULT_COUNT, "each result needs a sentence");

const char* ph_result_text(ph_result result)
{
    // A number from outside cast to the enum is no reason to crash in an error message.
    if ((unsigned)result >= PH_RESULT_COUNT || TEXTS[result] == NULL) {
        return "This result is unknown.";
    }
    return TEXTS[result];
}

void ph_error_keep(void* context, const ph_error* error)
{
    *(ph_error*)context = *error;
}

void ph_error_print(void* context, const ph_error* error)
{
    (void)context;
    fprintf(stderr, "pinhole: %s\n", error->text);
}

void ph_assert_fail(const char* condition, const char* file, int line)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
