// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records as the pinhole profile writes them: differences to the baseline (baseline.h), as symbols
// of static models, whose contexts both ends know. docs/wire_pinhole.md describes every symbol.
//
//   packet    header (raw bits, coded_header.h) | leaves | enters | for each slot that is entered in
//             the baseline, in ascending order: told or not; if told, which properties as one symbol,
//             then their values
//   told      probability by the density that the header states, and by how much a viewer would miss
//             the slot (urgency)
//   position  residual of the predicted one, in steps of 2^coarse; contexts: size of the last
//             residuals, time since the baseline
//   heading   residual of the last one, or of the direction of motion where that was the better guess
//   numbers   difference or absolute, whichever is cheaper; everything else by its plain coding, raw
//   enter     slot, association, class, name, position, whether it jumped since an enter that may have
//             arrived, heading, velocity, other values. The first is told from the eye, the greatest
//             name known and initial values, others from the enter before them. Slots that are
//             entered in the baseline cannot be entered
//
// An update says nothing of slot or association: both follow from the baseline. Costs are in 1/256
// bit, rounded up; a packet is never larger than their sum rounded up to bits, plus
// PH_CODED_SLACK_BITS, rounded up to bytes.

#ifndef PH_WIRE_CODED_H
#define PH_WIRE_CODED_H

#include "wire/baseline.h"
#include "wire/surprise.h"
#include "wire/tape.h"

// What the last symbol of a packet takes to be told from what follows.
#define PH_CODED_SLACK_BITS 2
#define PH_COARSE_MAX 7
#define PH_DENSITIES 16
#define PH_DENSITY_NOBODY 0 // no slot is told, and there are no flags that say so
#define PH_URGENCIES 16

// The most that the first enter of a packet takes beside its values but the position, each in its
// plain coding: no symbol costs more than the bits of its model. (Others may take more; whoever does
// not fit behind another one is the first of the next packet.)
//   slot 15 + 15, association 2, class 8, name 15 + 15 + 63, position 3 * (15 + 32) + 15 (its layer),
//   jump 15, velocity 15 + 3 * (15 + 15), heading 15 + 15, others 15 + 63; and what rounding costs of
//   64 values in parts of a bit takes
#define PH_CODED_ENTER_BITS_MAX 520

// What velocity an enter is expected to have.
typedef enum ph_coded_motion {
    PH_MOTION_RESTING, // none
    PH_MOTION_BESIDE,  // that of the one before
    PH_MOTION_AHEAD,   // as fast as that, to where it is headed itself; without a heading as BESIDE
    PH_MOTIONS,
} ph_coded_motion;

// How far enters of one packet are from those before them, as widths of the differences: what their
// models are chosen by. 0: not stated.
typedef struct ph_coded_spread {
    uint8_t place;    // 0..PH_SPREADS-1, in steps that are not coarse
    uint8_t velocity; // 0..PH_SPREADS-1
    uint8_t heading;  // 0..PH_SPREADS-1
    uint8_t name;     // 0..PH_NAME_SPREADS-1
    uint8_t motion;   // ph_coded_motion
    uint8_t coarse;   // 0..PH_COARSE_MAX: how coarse their places are at most; 0: all are exact
} ph_coded_spread;

// What the records of one packet have in common.
typedef struct ph_coded_frame {
    ph_frame frame;             // its eye is that of the packet, as in classic
    const ph_packing* packings; // by class
    uint64_t name_base;         // greatest name of all enters up to the horizon, at first 0
    uint32_t tick;              // of the packet, all 32 bits
    uint32_t tick_us;
    int density; // 0..PH_DENSITIES-1: how many of the slots are told, as in the header
    ph_coded_spread spread;
    // Positions may be coarser the further away, never by more than this angle, in 1/1024 mrad (those
    // of enters by more, see PH_ENTER_PRECISION); 0: always exact. Both ends have it from the hello.
    uint32_t precision;
    const int16_t* growths; // of ph_growths_fill(); NULL: worked out each time
    // Universal codes in place of the models, see coder.h. Both ends have it from the hello.
    bool is_universal;
    // Optional: how often each symbol was used, for learning tables (NULL in games). Writing counts.
    struct ph_coded_counts* counts;
} ph_coded_frame;

// From the eye: the largest of three coordinates, which is never more than the distance, and exact.
static inline uint32_t ph_coded_distance(const ph_coded_frame* frame, const uint32_t words[3])
{
    uint32_t most_mm = 0;
    for (int i = 0; i < 3; ++i) {
        const uint32_t way_mm = words[i] - (uint32_t)frame->frame.eye_mm[i];
        const uint32_t away_mm = (int32_t)way_mm < 0 ? 0 - way_mm : way_mm;
        most_mm = away_mm > most_mm ? away_mm : most_mm;
    }
    return most_mm;
}

// How a surprise of the position has grown by the tick of the packet, in 1/8 bit.
static inline int ph_coded_growth(const ph_coded_frame* frame, const ph_baseline* baseline)
{
    return ph_baseline_growth(baseline, frame->growths, frame->tick, frame->tick_us);
}

// What both ends expect of a slot's position at the tick of a packet.
typedef struct ph_forecast {
    int32_t position_mm[3];
    int plane_size; // of the surprise of x and y, of z: surprise.h
    int z_size;
    int coarse; // how many low bits beyond the step it may lack by distance and interval
} ph_forecast;

// The leave or enter before one of the same kind: slots are told as gaps, and who enters is told
// from its neighbour. What it had in common with the one before itself is likely to go on.
typedef struct ph_coded_neighbour {
    uint64_t name;
    uint64_t properties; // told
    uint64_t differing;  // others that are not as those of the one before; texts, references: told
    const uint32_t* words; // of its record
    uint32_t place[3];     // position words
    uint32_t association;
    int16_t velocity[3];
    uint32_t heading; // level
    uint16_t slot;
    uint8_t class_index;
    uint8_t shift;  // of its position's steps
    uint8_t coarse; // of its position
    bool is_next;   // it has the slot behind that of the one before
    bool is_flat;   // and is as high
    bool is_beside; // the one before is of its class
} ph_coded_neighbour;

// A record and what it is a difference to.
typedef struct ph_coded_record {
    ph_record record;
    const ph_baseline* baseline; // UPDATE
    const uint8_t* known;        // UPDATE: packed
    // UPDATE with a position: may be NULL. Whoever has worked it out already says what came of it.
    const ph_forecast* forecast;
    const ph_coded_neighbour* before; // LEAVE, ENTER: NULL for the first of its kind
    // UPDATE with a position: 0, or what ph_coded_coarse() says. ENTER: as it was rounded
    uint8_t coarse;
} ph_coded_record;

// ---- precision

void ph_coded_forecast(const ph_coded_frame* frame, const ph_baseline* baseline,
                       ph_forecast* forecast);

// How many low bits beyond the step a position may lack by distance and interval, by what both ends
// know: 0..PH_COARSE_MAX. The same as in the forecast.
int ph_coded_coarse(const ph_coded_frame* frame, const ph_baseline* baseline);

// Rounds position words to the nearest multiple of the step << coarse (with a ground, z anew).
// @return False, with the words as they were, when the place is so near that coarse is too coarse for
// it: tell it exactly then.
bool ph_coded_round(const ph_coded_frame* frame, const ph_layout* layout, int coarse,
                    uint32_t words[3]);

// Whoever enters in a crowd may be told with less precision: it is better seen there at once than
// exactly, and most will have moved on when the next record comes.
#define PH_ENTER_PRECISION 32
#define PH_ENTER_PRECISION_MAX (32 * 1024) // unless positions are less precise anyway
// Rounds the position words of an enter as far as that and the frame's spread allow. @return How
// coarse they are.
int ph_coded_round_enter(const ph_coded_frame* frame, const ph_layout* layout, uint32_t words[3]);

// ---- records

// All return what the record costs, in 1/256 bit; of an update without that of being told.
// bill (in 1/256 bit here) is added to; may be NULL.
uint32_t ph_coded_cost256(const ph_coded_frame* frame, const ph_coded_record* coded, ph_bill* bill);
// An UPDATE is worked out once, to be written later by ph_tape_play(): going over a record is what costs
// time. The frame's density may be another one then. layout: that of the record's class.
uint32_t ph_coded_tape(const ph_coded_frame* frame, const ph_layout* layout, ph_coded_record* coded,
                       ph_tape* tape);
uint32_t ph_coded_write(const ph_coded_frame* frame, ph_entropy_writer* writer,
                        const ph_coded_record* coded);

// LEAVE, ENTER: who (`before` set by the caller; slot, association with its two low bits, class,
// name), then what of an ENTER. UPDATE: slot, class, association, baseline, known and blocks are set
// by the caller. Only what was told is written to the blocks, and of an enter what is initial. Fails
// the reader for what no sender writes; the blocks are worth nothing then. Whether a slot exists, or
// is entered already, is for the caller to check.
void ph_coded_read_who(const ph_coded_frame* frame, ph_entropy_reader* reader,
                       ph_coded_record* coded);
void ph_coded_read(const ph_coded_frame* frame, ph_entropy_reader* reader, ph_coded_record* coded);

#endif
