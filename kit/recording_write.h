// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Recordings into files: as ph_recorder writes them (docs/wire_recording.md), or as text.
//
// The first goes through a world and a recorder, with a schema that holds every cell exactly:
//
//   heading       fixed 0.., a step of its last decimal; at most 6
//   whole numbers range lowest..highest
//   decimals      fixed lowest..highest, a step of their last decimal, as many as 30 bits hold
//   words         string
//
// Entities with the same columns filled in are a class. One that gets another cell, or loses one, becomes an
// entity of another class under the same key.

#ifndef PINHOLE_KIT_RECORDING_WRITE_H
#define PINHOLE_KIT_RECORDING_WRITE_H

#include "kit/recording.h"

#include <stddef.h>

typedef struct ph_recording_sink {
    // @return False where it could not be written.
    bool (*write)(void* context, const void* bytes, size_t size);
    // May be NULL. Of `total` ticks so many are done.
    void (*progress)(void* context, int done, int total);
    void* context;
} ph_recording_sink;

// What a file cannot hold stands in note, or nothing: the end of a sentence.
enum { PH_RECORDING_NOTE_MAX = 240 };

// @return False with *fault filled: no schema fits, the sink failed, no memory.
bool ph_recording_write(const ph_recording* recording, const ph_recording_sink* sink,
                        char note[PH_RECORDING_NOTE_MAX], ph_fault* fault);

// As docs/measuring.md describes it: the rate, names, rows. @return False with *fault filled.
bool ph_recording_write_csv(const ph_recording* recording, const ph_recording_sink* sink,
                            ph_fault* fault);

#endif
