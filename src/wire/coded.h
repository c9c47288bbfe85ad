// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records as the pinhole profile writes them: differences to the baseline (baseline.h), as symbols
// of static models, whose contexts both ends know. docs/wire_format.md describes every symbol.
//
//   packet    header (raw bits) | leaves | enters | for each slot of the baseline in ascending order:
//             told or not; if told, which properties as one symbol, then their values
//   told      probability by the density that the header states
//   position  residual of the predicted one, in steps of 2^coarse; contexts: size of the last
//             residual, time since the baseline
//   heading   residual of the last one, or of the direction of motion where that was the better guess
//   numbers   difference or absolute, whichever is cheaper; everything else by its plain coding, raw
//
// Costs are in 1/256 bit; a packet is never larger than their sum rounded up, plus
// PH_CODED_SLACK_BITS.

#ifndef PH_WIRE_CODED_H
#define PH_WIRE_CODED_H

#include "wire/baseline.h"

#include <pinhole/entropy.h>

#define PH_CODED_SLACK_BITS 16
#define PH_COARSE_MAX 7

// What the records of one packet have in common, beside ph_frame.
typedef struct ph_coded_frame {
    ph_frame frame;
    uint32_t tick; // of the packet
    uint32_t tick_us;
    int density; // 0..15: how many of the slots are told, see ph_coded_density()
    // Positions are coarser the further away, never by more than this angle, in 1/1024 mrad; 0: always
    // exact. Both ends have it from the hello.
    uint32_t precision;
    // Optional: how often each symbol was used, for learning tables (NULL in games).
    struct ph_coded_counts* counts;
} ph_coded_frame;

int ph_coded_density(int told_count, int slot_count);

// How many low bits beyond the step a position may lack at this distance and interval, by what both
// ends know: 0..PH_COARSE_MAX.
int ph_coded_coarse(const ph_coded_frame* frame, const ph_layout* layout,
                    const ph_baseline* baseline);

// Rounds position words to the nearest multiple of the step << coarse (with a ground, z anew).
void ph_coded_round(const ph_coded_frame* frame, const ph_layout* layout, int coarse,
                    uint32_t words[3]);

// A record and what it is a difference to. record->coarse says how a position was rounded.
typedef struct ph_coded_record {
    ph_record record;
    const ph_baseline* baseline; // UPDATE
    const uint8_t* known;        // UPDATE: packed
    uint8_t coarse;              // 0, or what ph_coded_coarse() says
} ph_coded_record;

// bill (in 1/256 bit here) may be NULL.
uint32_t ph_coded_cost256(const ph_coded_frame* frame, const ph_coded_record* coded, ph_bill* bill);
// Of one slot of the baseline that is or is not told.
uint32_t ph_coded_told_cost256(const ph_coded_frame* frame, bool is_told);

void ph_coded_write_told(const ph_coded_frame* frame, ph_entropy_writer* writer, bool is_told);
void ph_coded_write(const ph_coded_frame* frame, ph_entropy_writer* writer,
                    const ph_coded_record* coded);

bool ph_coded_read_told(const ph_coded_frame* frame, ph_entropy_reader* reader);
// LEAVE, ENTER: who; then what. UPDATE: slot, class, association, baseline, known and blocks are set
// by the caller. Fails the reader for what no sender writes.
void ph_coded_read_who(const ph_coded_frame* frame, ph_entropy_reader* reader,
                       ph_coded_record* coded);
void ph_coded_read(const ph_coded_frame* frame, ph_entropy_reader* reader, ph_coded_record* coded);

#endif
