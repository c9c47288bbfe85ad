// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How a public function checks what its caller gave it, and says what was wrong (pinhole/error.h):
//
//     ph_check check = ph_check_begin(def->on_error, def->on_error_context, "ph_world_create");
//     ph_check_range(&check, "ph_world_def.tick_us", def->tick_us, 1000, 10000000);
//     ...
//     return check.result;
//
// The first check that fails is reported, the others do nothing. Or one sentence at once, which gives
// the result back: return ph_fail(&call, PH_ERROR_STALE, "entity", "is ...").
//
// A field with a point in its name says by itself where it belongs; of others the sentence begins with
// the function. Checks run at creation; failing costs nothing but a branch where it does not happen, and
// no formatting where there is no on_error.

#ifndef PH_BASE_CHECK_H
#define PH_BASE_CHECK_H

#include "base/compiler.h"

#include <pinhole/error.h>

typedef struct ph_check {
    ph_error_fn* on_error;
    void* context;
    const char* function;
    ph_result result;  // PH_OK until a check fails
    ph_result failure; // what it is then; PH_OK means PH_ERROR_ARGUMENT
} ph_check;

static inline ph_check ph_check_begin(ph_error_fn* on_error, void* context, const char* function)
{
    return (ph_check){.on_error = on_error, .context = context, .function = function};
}

// For hi: there is no upper end but that of the type.
#define PH_NO_END INT64_MAX

// A whole number within lo..hi.
void ph_check_range(ph_check* check, const char* field, int64_t value, int64_t lo, int64_t hi);

// A real number within lo..hi; NaN is not.
void ph_check_real(ph_check* check, const char* field, double value, double lo, double hi);

// Three coordinates within PH_POSITION_MIN_MM..PH_POSITION_MAX_MM. Minds `failure`; the others do not need it.
void ph_check_position(ph_check* check, const char* field, const int64_t position_mm[3]);

// A def that its ..._def_default() has made, which a bare {0} is not. def is its type ("ph_world_def").
void ph_check_made(ph_check* check, bool is_made, const char* def);

// Anything else. The sentence is "<field> is <value>; it must be <allowed>".
void ph_check_that(ph_check* check, bool is_right, const char* field, const char* value,
                   const char* allowed);

// Reports one failure: "<field> " and what the format gives; without a field (NULL) the function and
// what the format gives. Returns the result that it is given.
PH_PRINTF(4, 5)
ph_result ph_fail(const ph_check* call, ph_result result, const char* field, const char* format,
                  ...);

// The allocator gave nothing. @return PH_ERROR_MEMORY.
ph_result ph_fail_memory(const ph_check* call);

// An id that names nothing. what is "entity" or "viewer", also the name of the argument.
// @return PH_ERROR_STALE.
ph_result ph_fail_stale(const ph_check* call, const char* what, uint32_t index1,
                        uint32_t generation);

// "1,234,567" into text. @return text.
#define PH_COUNT_TEXT_SIZE 32
const char* ph_count_text(int64_t value, char text[PH_COUNT_TEXT_SIZE]);

// The shortest that is right to six digits ("0.1"), with a point in every locale. @return text.
const char* ph_real_text(double value, char text[PH_COUNT_TEXT_SIZE]);

// Fills an error for a function without an object; error may be NULL. @return result.
PH_PRINTF(5, 6)
ph_result ph_error_set(ph_error* error, ph_result result, const char* function, const char* field,
                       const char* format, ...);

#endif
