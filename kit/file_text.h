// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A whole file as text in memory, plain or packed by gzip.

#ifndef PINHOLE_KIT_FILE_TEXT_H
#define PINHOLE_KIT_FILE_TEXT_H

#include "kit/fault.h"

#include <stddef.h>

// The most that is read: lines and columns are counted by int.
#define PH_FILE_TEXT_MAX ((size_t)2000000000)

typedef struct ph_file_text {
    char* bytes; // not ended by a zero byte
    size_t length;
} ph_file_text;

// Reads a file to its end. A packed file that breaks off or is damaged is refused; the fault names
// the line where it happens.
// @return false with *fault filled and *text set to {0}.
bool ph_file_text_load(const char* path, ph_file_text* text, ph_fault* fault);

// Gives the memory back and leaves {0}.
void ph_file_text_unload(ph_file_text* text);

#endif
