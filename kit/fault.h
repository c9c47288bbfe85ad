// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Why a file was refused, and where in it.

#ifndef PINHOLE_KIT_FAULT_H
#define PINHOLE_KIT_FAULT_H

#include <stdbool.h>

// Line and column (in bytes) count from 1; 0 where it is about the whole file, or the whole line.
typedef struct ph_fault {
    int line;
    int column;
    char message[240]; // one sentence, without full stop
} ph_fault;

// Fills *fault as printf does. Always returns false, so that a check can end with it.
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
bool ph_fault_set(ph_fault* fault, int line, int column, const char* format, ...);

// The same for a lack of memory.
bool ph_fault_set_memory(ph_fault* fault);

#endif
