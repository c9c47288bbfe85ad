// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The different words of a column, each with a number.

#ifndef PINHOLE_KIT_LEXICON_H
#define PINHOLE_KIT_LEXICON_H

#include <pinhole/base.h>

struct ph_hash_map;

// So many different words in one column are no longer a choice among a few.
#define PH_LEXICON_MAX 65536

// {0} is an empty one. Read-only outside lexicon.c.
typedef struct ph_lexicon {
    char** words; // ended by a zero byte each
    int count;
    int capacity;
    struct ph_hash_map* numbers; // from the hash of a word
} ph_lexicon;

void ph_lexicon_clear(ph_lexicon* lexicon); // leaves {0}

// The number of a word, which is new or not: at first they count in the order in which they come.
// @return -1 when there is no memory or there are PH_LEXICON_MAX.
int ph_lexicon_add(ph_lexicon* lexicon, const char* text, int length);

// Numbers the words in the order of their bytes, so that two recordings with the same words have
// the same numbers. new_number has room for count: where each old number went. Nothing can be added
// any more.
// @return false, with nothing changed, when there is no memory.
bool ph_lexicon_sort(ph_lexicon* lexicon, int* new_number);

#endif
