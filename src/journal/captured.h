// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A captured tick, between recorder.c, which takes it from a world, and journal_writer.c, which codes it. It is words of
// 32 bits:
//
//     TICK, tick, words                                      the first; words of the whole tick
//     WHOLE, tick, words                                     instead: nothing of before counts
//     GONE                                                   an entity of before is not there
//     STATE, key 2, seen by, class + 2^8 flags + 2^16 jumped + 2^17 new, all values
//                                                            an entity that was not there
//     SHOWN, seen by, flags                                  its visibility was set
//     CHANGE, mask 2, move, [position 3], values of the mask
//     DONE                                                   the last
//
// The first word of each has the kind in its low 3 bits, above it the index of the entity in the world. Values
// are the words of schema/property.h; a reference is the key + 1 in two words, a text its length and bytes in
// whole words.

#ifndef PH_JOURNAL_CAPTURED_H
#define PH_JOURNAL_CAPTURED_H

#include "journal/journal_state.h"

typedef enum ph_captured {
    PH_CAPTURED_SKIP = 0, // goes on where the ring begins
    PH_CAPTURED_TICK,
    PH_CAPTURED_WHOLE,
    PH_CAPTURED_GONE,
    PH_CAPTURED_STATE,
    PH_CAPTURED_SHOWN,
    PH_CAPTURED_CHANGE,
    PH_CAPTURED_DONE,
} ph_captured;

#define PH_CAPTURED_TICK_WORDS 3

static inline ph_captured ph_captured_kind(const uint32_t* record)
{
    return (ph_captured)(record[0] & 7);
}

static inline uint32_t ph_captured_index(const uint32_t* record)
{
    return record[0] >> 3;
}

static inline uint64_t ph_captured_wide(const uint32_t* words)
{
    return (uint64_t)words[1] << 32 | words[0];
}

// The values that a STATE has, and those that a CHANGE has.
uint64_t ph_captured_all(const ph_journal_class* type);
uint64_t ph_captured_mask(const ph_journal_class* type, const uint32_t* change);

// The words behind the values of a mask.
const uint32_t* ph_captured_behind(const ph_journal_class* type, uint64_t mask, const uint32_t* at);

// Reads the values of a mask; texts stay where they are.
void ph_captured_read(const ph_journal_class* type, uint64_t mask, const uint32_t* at,
                      ph_journal_change* change);

#endif
