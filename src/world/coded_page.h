// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the records of one pinhole packet cost while they are chosen. Every slot that the client is
// known to have costs a flag, told or not, by how urgent it is and how many are told: the header
// states a density for that. So the page counts who is told and who is not, by urgency, and the
// density may be chosen again at any time.
//
//   page    | leaves | enters | flag [record] flag flag [record] ... |
//
// Begun for every packet, with a look at every slot; a few additions per record.

#ifndef PH_WORLD_CODED_PAGE_H
#define PH_WORLD_CODED_PAGE_H

#include "wire/coded.h"
#include "world/baselines.h"

typedef struct ph_coded_page {
    ph_coded_frame frame;
    const ph_baselines* baselines;
    int slot_count;
    int told[PH_URGENCIES]; // slots, by urgency
    int silent[PH_URGENCIES];
    int64_t flags256;
    int64_t records256;
} ph_coded_page;

// Nobody is told yet. Of the frame only the density may change from now on.
void ph_coded_page_begin(ph_coded_page* page, const ph_coded_frame* frame, ph_baselines* baselines,
                         int slot_count);

// Flags and records so far, in whole bits, with all that may be lost at the end.
int64_t ph_coded_page_bits(const ph_coded_page* page);

// An update: its slot's flag turns, its record costs so much.
void ph_coded_page_tell(ph_coded_page* page, int slot, int64_t record256);

// A moment to go back to. Who was told since then is to be named.
typedef struct ph_page_mark {
    int64_t flags256;
    int64_t records256;
    int density;
} ph_page_mark;
ph_page_mark ph_coded_page_mark(const ph_coded_page* page);
void ph_coded_page_untell(ph_coded_page* page, int slot);
void ph_coded_page_return(ph_coded_page* page, const ph_page_mark* mark);

// The density that makes the flags cheapest.
void ph_coded_page_settle(ph_coded_page* page);

#endif
