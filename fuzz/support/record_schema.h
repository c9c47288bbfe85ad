// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A schema with every coding and a ground of up to three floors, for targets that read records.

#ifndef PINHOLE_FUZZ_RECORD_SCHEMA_H
#define PINHOLE_FUZZ_RECORD_SCHEMA_H

#include "packet/layout.h"

enum { FUZZ_RECORD_CLASSES = 5, FUZZ_RECORD_WORDS_MAX = 128, FUZZ_RECORD_TEXTS_MAX = 128 };

// last: the coding of the last property of the first class, like "entity". Made by the first call
// and kept: it would take nearly all of the time. All calls of a program say the same.
const ph_layouts* fuzz_record_layouts(const char* last);

// 0 to 3 floors, changing every 16 m.
extern const ph_ground fuzz_record_ground;

#endif
