// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once, when something is refused.

#include "kit/fault.h"

#include <stdarg.h>
#include <stdio.h>

bool ph_fault_set(ph_fault* fault, int line, int column, const char* format, ...)
{
    fault->line = line;
    fault->column = column;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
    return false;
}

bool ph_fault_set_memory(ph_fault* fault)
{
    return ph_fault_set(fault, 0, 0, "there is not enough memory");
}
