// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sentences about refused declarations.

#include "schema/problem.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

bool ph_refuse(ph_problem* problem, ph_parameter parameter, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    problem->parameter = parameter;
    vsnprintf(problem->message, sizeof problem->message, format, arguments);
    va_end(arguments);
    return false;
}

ph_decimal ph_number_text(double value)
{
    return isfinite(value) ? ph_decimal_print(value) : (ph_decimal){"no finite number"};
}
