// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records as the pinhole profile writes them: differences to the baseline (baseline.h), as symbols
// of static models, whose contexts both ends know. docs/wire_pinhole.md describes every symbol.
//
//   packet    header (raw bits, header.h) | leaves | enters | for each slot that is entered in
//             the baseline, in ascending order: sent or not; if sent, which properties as one symbol,
//             then their values
//   told      probability by the density that the header states, and by how much a viewer would miss
//             the slot (urgency)
//   position  residual of the predicted one, in steps of 2^coarse; contexts: size of the last
//             residuals, time since the baseline
//   heading   residual of the last one, or of the direction of motion where that was the better guess
//   orientation  residual of the last one, or of where it has turned to where that was the better guess
//   numbers   difference or absolute, whichever is cheaper; everything else by its plain coding, raw
//   enter     slot, association, class, key, position, whether it jumped since an enter that may have
//             arrived, heading, velocity, other values. The first is coded relative to the eye, the greatest
//             key known and initial values, others from the enter before them. Slots that are
//             entered in the baseline cannot be entered
//
// An update says nothing of slot or association: both follow from the baseline. Costs are in 1/256
// bit, rounded up; a packet is never larger than their sum rounded up to bits, plus
// PH_PINHOLE_SLACK_BITS, rounded up to bytes.
//
// The chapters: pinhole_forecast.c has what both ends expect of a slot before a packet tells anything,
// and the flags; pinhole_records.c records and updates; pinhole_values.c values except positions and
// orientations; pinhole_rotation.c orientations; pinhole_enters.c leaves and enters. Each step is one function for cost, symbol buffer and reader
// (symbols.h).

#ifndef PH_PACKET_PINHOLE_RECORDS_H
#define PH_PACKET_PINHOLE_RECORDS_H

#include "packet/baseline.h"
#include "packet/symbols.h"

// Bits that the last symbol of a packet needs, to be told apart from what follows.
#define PH_PINHOLE_SLACK_BITS 2
#define PH_COARSE_MAX 7
#define PH_DENSITY_NONE 0 // no slot is sent, and there are no flags that say so
// The most that the first enter of a packet takes beside its values but the position, each in its
// plain coding: no symbol costs more than the bits of its model. (Others may take more; one that does
// not fit behind another one is the first of the next packet.)
//   slot 15 + 15, association 2, class 8, key 15 + 15 + 63, position 3 * (15 + 32) + 15 (its layer),
//   jump 15, velocity 15 + 3 * (15 + 15), heading 15 + 15, others 15 + 63; and what rounding costs of
//   64 values in parts of a bit takes
#define PH_PINHOLE_ENTER_BITS_MAX 520

// What velocity an enter is expected to have.
typedef enum ph_pinhole_motion {
    PH_MOTION_RESTING, // none
    PH_MOTION_BESIDE,  // that of the one before
    PH_MOTION_AHEAD,   // as fast as that, to where it is headed itself; without a heading as BESIDE
    PH_MOTIONS,
} ph_pinhole_motion;

// How far enters of one packet are from those before them, as widths of the differences: what their
// models are chosen by. 0: not stated.
typedef struct ph_pinhole_spread {
    uint8_t place;    // 0..PH_SPREADS-1, in steps that are not coarse
    uint8_t velocity; // 0..PH_SPREADS-1
    uint8_t heading;  // 0..PH_SPREADS-1
    uint8_t key;      // 0..PH_KEY_SPREADS-1
    uint8_t motion;   // ph_pinhole_motion
    uint8_t coarse;   // 0..PH_COARSE_MAX: how coarse their places are at most; 0: all are exact
} ph_pinhole_spread;

// What the records of one packet have in common.
typedef struct ph_pinhole_frame {
    ph_frame frame;             // its eye is that of the packet, as in classic
    const ph_packing* packings; // by class
    uint64_t key_base;          // greatest key of all enters up to the horizon, at first 0
    uint32_t tick;              // of the packet, all 32 bits
    uint32_t tick_us;
    int density; // 0..PH_DENSITIES-1: how many of the slots are sent, as in the header
    ph_pinhole_spread spread;
    // How often the finest step is doubled for positions of updates, unless something else is said or suits large
    // residuals: 0..PH_STEPS-1. 0 unless a class has a finest step below its step.
    int step;
    // Positions may be coarser the further away, never by more than this angle, in 1/1024 mrad (those
    // of enters by more, see PH_ENTER_PRECISION); 0: always exact. Both ends have it from the hello.
    uint32_t precision;
    const int16_t* growths; // of ph_growths_fill(); NULL: worked out each time
    // Universal codes in place of the models, see symbols.h. Both ends have it from the hello.
    bool is_universal;
    // Optional: how often each symbol was used, for learning tables (NULL in games). Writing counts.
    struct ph_pinhole_counts* counts;
} ph_pinhole_frame;

// What both ends expect of a slot's position at the tick of a packet.
typedef struct ph_forecast {
    int32_t position_mm[3];
    int plane_size; // of the residual of x and y, of z: baseline.h
    int z_size;
    // How often the finest step is doubled in the coarsest that distance and interval allow; 0: none coarser
    // than the step.
    int coarse;
    int fit; // the same of the step that the packet suggests for it, up to the step of its class
} ph_forecast;

// The leave or enter before one of the same kind: slots are coded as gaps, and an enter is coded
// relative to its neighbour. What that had in common with the one before itself is likely to go on.
typedef struct ph_pinhole_neighbour {
    uint64_t key;
    uint64_t properties; // told
    uint64_t differing;  // others that are not as those of the one before; texts, references: told
    const uint32_t* words; // of its record
    uint32_t place[3];     // position words
    uint32_t association;
    int16_t velocity[3];
    uint32_t heading;        // level
    uint32_t orientation[2]; // words
    uint8_t rotation_symbol; // how it was told
    bool is_spinning;
    uint16_t slot;
    uint8_t class_index;
    uint8_t shift;  // of its position's steps
    uint8_t coarse; // of its position
    bool is_next;   // it has the slot behind that of the one before
    bool is_flat;   // and is as high
    bool is_beside; // the one before is of its class
} ph_pinhole_neighbour;

// What both ends know of the slot that carries another one, when that one is told.
typedef struct ph_carrier_step {
    uint32_t place_mm[3]; // as it is told
    ph_rotation turn;     // since it was told before
} ph_carrier_step;

typedef struct ph_pinhole_carrier {
    const ph_baseline* baseline;
    const uint8_t* known;        // packed
    const ph_carrier_step* step; // NULL: the packet has told nothing of where it is before
} ph_pinhole_carrier;

// What is expected of a slot that is carried.
typedef struct ph_carried_forecast {
    int model;            // of the flag that says that it is
    uint32_t place_mm[3]; // with a step
    int size;             // of residuals of the place
    ph_rotation rotation; // with a step, of a class with an orientation
    int rotation_size;
} ph_carried_forecast;

// A record and what it is a difference to.
typedef struct ph_pinhole_record {
    ph_record record;
    const ph_baseline* baseline; // UPDATE
    const uint8_t* known;        // UPDATE: packed
    // UPDATE with a position: what was worked out already, or NULL.
    const ph_forecast* forecast;
    const ph_pinhole_neighbour* before; // LEAVE, ENTER: NULL for the first of its kind
    // UPDATE with a position: how often the finest step is doubled, up to the step, or what
    // ph_pinhole_coarse() says. ENTER: how often the step is
    uint8_t coarse;
    uint8_t rotation_coarse; // of an orientation: as it was rounded, 0..PH_ROTATION_COARSE_MAX
    bool is_carried;         // UPDATE with a position: told from where its carrier takes it
    // UPDATE: NULL: nothing carries it. Of one that reads it is set by the caller, as known is.
    const ph_pinhole_carrier* carrier;
    ph_carried_forecast carried; // worked out with the position
} ph_pinhole_record;

// ---- forecast and precision

void ph_pinhole_forecast(const ph_pinhole_frame* frame, const ph_baseline* baseline,
                         ph_forecast* forecast);

// How often the finest step of a position may be doubled by distance and interval, by what both ends
// know: 0, or more than to its step. The same as in the forecast.
int ph_pinhole_coarse(const ph_pinhole_frame* frame, const ph_baseline* baseline);

// Rounds position words to the nearest multiple of the finest step << coarse (with a ground, z anew).
// @return False, with the words as they were, when the place is so near that coarse is too coarse for
// it: it is never where that is no more than the step.
bool ph_pinhole_round(const ph_pinhole_frame* frame, const ph_layout* layout, int coarse,
                      uint32_t words[3]);

// One that enters in a crowd may be sent with less precision: better to be seen there at once than
// exactly, and most will have moved on when the next record comes.
#define PH_ENTER_PRECISION 32
#define PH_ENTER_PRECISION_MAX (32 * 1024) // unless positions are less precise anyway

// Rounds the position words of an enter to its step, or as far beyond as that and the frame's spread allow.
// @return How often the step was doubled.
int ph_pinhole_round_enter(const ph_pinhole_frame* frame, const ph_layout* layout,
                           uint32_t words[3]);

// Rounds the orientation of a record, if it tells one. @return How coarse it is.
int ph_pinhole_round_orientation(const ph_layout* layout, const ph_record* record, int coarse);

// The step that a packet states, raw bits behind its header; nothing where all classes have one step only.
int ph_pinhole_step_bits(const ph_pinhole_frame* frame);

void ph_pinhole_write_step(const ph_pinhole_frame* frame, ph_entropy_writer* writer);

void ph_pinhole_read_step(ph_pinhole_frame* frame, ph_entropy_reader* reader);

// ---- carriers (pinhole_carried.c)

// The slot that carries another one, by what is known of that; -1: none does. It may be any number.
int ph_pinhole_carrier_slot(const ph_pinhole_frame* frame, const ph_baseline* baseline,
                            const uint8_t* known);

// Whether a slot can be told from where the carrier takes it: both were told at the same tick, and the carrier has
// an orientation.
bool ph_pinhole_can_carry(const ph_pinhole_frame* frame, const ph_baseline* baseline,
                          const ph_baseline* carrier);

// What an update of the carrier tells, by the words of its record. @return False when it tells no place.
bool ph_carrier_step_make(const ph_pinhole_frame* frame, const uint8_t* known,
                          const ph_record* update, ph_carrier_step* step);

void ph_pinhole_carried(const ph_pinhole_frame* frame, const ph_pinhole_record* coded,
                        const ph_layout* layout, ph_carried_forecast* forecast);

// ---- records

// All return what the record costs, in 1/256 bit; of an update without that of being told.
// stats (in 1/256 bit here) are added to; may be NULL.
uint32_t ph_pinhole_cost256(const ph_pinhole_frame* frame, const ph_pinhole_record* coded,
                            ph_record_bits* stats);

// An UPDATE is worked out once, to be written later by ph_symbol_player_play(): going over a record is
// what costs time. The frame's density may be another one then. layout: that of the record's class.
uint32_t ph_pinhole_buffer(const ph_pinhole_frame* frame, const ph_layout* layout,
                           ph_pinhole_record* coded, ph_symbol_buffer* symbols);

uint32_t ph_pinhole_write(const ph_pinhole_frame* frame, ph_entropy_writer* writer,
                          const ph_pinhole_record* coded);

// LEAVE, ENTER: first slot, association (its two low bits), class and key, with `before` set by the
// caller; then the values of an ENTER. UPDATE: slot, class, association, baseline, known and blocks are set
// by the caller. Only what was sent is written to the blocks, and of an enter what is initial. Fails
// the reader for what no sender writes; the blocks are worth nothing then. Whether a slot exists, or
// is entered already, is for the caller to check.
void ph_pinhole_read_identity(const ph_pinhole_frame* frame, ph_entropy_reader* reader,
                              ph_pinhole_record* coded);

void ph_pinhole_read(const ph_pinhole_frame* frame, ph_entropy_reader* reader,
                     ph_pinhole_record* coded);

// ---- flags
//
// Which slots an update packet tells of: a flag for each slot that is entered in the baseline, as probable
// as the stated density and the slot's urgency make it. Once per slot and packet.

// How much a viewer is likely to miss news of a slot, by what both ends know: 0..PH_URGENCIES-1.
int ph_pinhole_urgency(const ph_pinhole_frame* frame, const ph_baseline* baseline);

// The same of all slots, PH_URGENCY_NONE of those that are not entered; and how many have each.
#define PH_URGENCY_NONE PH_URGENCIES

void ph_pinhole_urgencies(const ph_pinhole_frame* frame, const ph_baseline* slots, int slot_end,
                          uint8_t* urgencies, int counts[PH_URGENCIES + 1]);

// Where a set of models has a flag.
int ph_pinhole_flag_entry(int density, int urgency, bool is_told);

// Where the density says that no slot is sent, none can be: that has a price all the same, so that sums
// over it are 0 exactly when none is. No packet is ever paid for at it.
uint32_t ph_pinhole_flag_cost256(const ph_model_set* models, int density, int urgency,
                                 bool is_told);

// What flags cost, by urgency, for all densities side by side.
typedef struct ph_told_costs {
    int16_t silent256[PH_URGENCIES][PH_DENSITIES];
    int16_t turned256[PH_URGENCIES][PH_DENSITIES]; // how much dearer it is to be sent
} ph_told_costs;

void ph_told_costs_fill(ph_told_costs* costs, const ph_model_set* models);

// What the flags of a packet are: with so many slots the costs of all of them are less than 2^31.
typedef struct ph_told_sums {
    int32_t silent256[PH_DENSITIES]; // what they would cost if no slot were sent
    int32_t told[PH_URGENCIES];      // how many are
} ph_told_sums;

// So many slots of each urgency, none of them sent. One that is sent later is counted in `told`.
void ph_told_sums_begin(ph_told_sums* sums, const ph_told_costs* costs,
                        const int silent[PH_URGENCIES]);

// What they cost together, at one density.
int32_t ph_told_sums_cost256(const ph_told_sums* sums, const ph_told_costs* costs, int density);

// The cheapest density. The sender may state any other one than PH_DENSITY_NONE when a slot is sent.
int ph_pinhole_best_density(const ph_told_sums* sums, const ph_told_costs* costs);

void ph_pinhole_write_told(const ph_pinhole_frame* frame, ph_entropy_writer* writer, int urgency,
                           bool is_told);

bool ph_pinhole_read_told(const ph_pinhole_frame* frame, ph_entropy_reader* reader, int urgency);

// ---- enters

// What the next leave or enter is coded relative to. The words of the record stay where they are.
ph_pinhole_neighbour ph_pinhole_neighbour_of(const ph_pinhole_frame* frame,
                                             const ph_pinhole_record* coded);

// The spread that suits so many steps from one enter to the next.
typedef struct ph_pinhole_steps {
    int count;
    int beside_count; // of these, to one of the same class
    int place_bits;   // sums of widths
    int velocity_bits[PH_MOTIONS];
    int heading_bits;
    int key_bits;
} ph_pinhole_steps;

void ph_pinhole_steps_add(ph_pinhole_steps* steps, const ph_pinhole_frame* frame,
                          const ph_pinhole_neighbour* from, const ph_pinhole_neighbour* to);

// Places are as coarse as they are: that is the caller's to state.
ph_pinhole_spread ph_pinhole_steps_spread(const ph_pinhole_steps* steps);

// The spread stands before the enters of a packet that has two or more; any of them is legal.
#define PH_SPREAD_BITS_MAX 27

int ph_pinhole_spread_bits(const ph_pinhole_frame* frame, int enter_count);

void ph_pinhole_write_spread(const ph_pinhole_frame* frame, ph_entropy_writer* writer,
                             int enter_count);

void ph_pinhole_read_spread(ph_pinhole_frame* frame, ph_entropy_reader* reader, int enter_count);

// ---- between the chapters
//
// Words and texts of the record are given when they are written, filled when they are read.

// Those of the schema.
PH_ALWAYS_INLINE const ph_model_set* ph_pinhole_models(const ph_pinhole_frame* frame)
{
    return &frame->frame.layouts->models;
}

ph_coder ph_pinhole_reading(const ph_pinhole_frame* frame, ph_entropy_reader* reader);

const ph_layout* ph_pinhole_layout(const ph_pinhole_frame* frame, const ph_record* record);

// From the eye: the largest of three coordinates, which is never more than the distance, and exact.
uint32_t ph_pinhole_distance(const ph_pinhole_frame* frame, const uint32_t words[3]);

// Whether rounding to step << coarse stays within an angle, seen from so far.
bool ph_pinhole_is_fine_enough(uint64_t precision, int shift, int coarse, uint64_t distance_mm);

// The angle by which positions of enters may be coarse.
uint64_t ph_pinhole_enter_precision(const ph_pinhole_frame* frame);

// How the steps of a coordinate are coded: as a residual of a size, or by their length.
typedef struct ph_pinhole_axis {
    ph_pinhole_family family;
    int size;
    int model; // of a length
    bool is_length;
} ph_pinhole_axis;

// A coordinate whose low `shift` bits are zero, coded as a number of steps from the one expected.
// @return How many.
int64_t ph_pinhole_coordinate(ph_coder* coder, ph_pinhole_axis how, int shift, uint32_t expected,
                              uint32_t* word);

// z where the class has a ground; x and y of the words are known already.
void ph_pinhole_altitude(const ph_pinhole_frame* frame, ph_coder* coder, const ph_layout* layout,
                         ph_pinhole_axis how, uint32_t expected_mm, uint32_t words[3]);

// A position relative to the eye: of a jump, and of the first that enters.
void ph_pinhole_place(const ph_pinhole_frame* frame, ph_coder* coder, const ph_layout* layout,
                      uint32_t words[3]);

// A heading of an update: difference to what is known or to the direction of motion. The record's
// position, if it tells one, is there already.
void ph_pinhole_heading(const ph_pinhole_frame* frame, ph_coder* coder,
                        const ph_pinhole_record* coded, const ph_layout* layout);

// The level of an enter's heading, told or initial; 0 without a heading.
uint32_t ph_pinhole_heading_of(const ph_layout* layout, const ph_record* record);

// The heading of an enter, whose velocity is there already; or of one that is coded relative to
// another one of its class. Both set or clear its bit of the record's properties.
void ph_pinhole_first_heading(ph_coder* coder, ph_pinhole_record* coded, const ph_layout* layout);

void ph_pinhole_heading_beside(const ph_pinhole_frame* frame, ph_coder* coder,
                               ph_pinhole_record* coded, const ph_layout* layout);

// An orientation of an update: difference to the last one, or to where it has turned to.
void ph_pinhole_orientation(const ph_pinhole_frame* frame, ph_coder* coder,
                            ph_pinhole_record* coded, const ph_layout* layout);

// The words of an enter's orientation, told or initial.
const uint32_t* ph_pinhole_orientation_of(const ph_layout* layout, const ph_record* record);

// The orientation of an enter, and how it turns; beside: of its class is the one before. Sets or clears its bit of
// the record's properties.
void ph_pinhole_first_orientation(ph_coder* coder, ph_pinhole_record* coded,
                                  const ph_layout* layout, bool is_beside);

// What the next enter has to know of it.
void ph_pinhole_note_orientation(const ph_layout* layout, const ph_pinhole_record* coded,
                                 ph_pinhole_neighbour* neighbour);

// Any other value of an update, a difference where that is cheaper; or of an enter, never at its
// initial value.
void ph_pinhole_value(const ph_pinhole_frame* frame, ph_coder* coder,
                      const ph_pinhole_record* coded, const ph_layout* layout, int property);

// All other values of an enter that is coded relative to one of its class. @return Which are not initial.
uint64_t ph_pinhole_others_beside(const ph_pinhole_frame* frame, ph_coder* coder,
                                  const ph_pinhole_record* coded, const ph_layout* layout);

// Those in which an enter differs from the one before; of texts and references, those it tells.
uint64_t ph_pinhole_differing(const ph_layout* layout, const ph_pinhole_neighbour* before,
                              const ph_record* record);

// The properties of a class that are not its position or heading, pressed together, and back.
uint64_t ph_pinhole_ranks_of(uint64_t others, uint64_t properties);

uint64_t ph_pinhole_properties_of(uint64_t others, uint64_t ranks);

// Slot and association of a leave or enter, then class and key of an enter; and what of an enter.
void ph_pinhole_identity(const ph_pinhole_frame* frame, ph_coder* coder, ph_pinhole_record* coded);

void ph_pinhole_enter(const ph_pinhole_frame* frame, ph_coder* coder, ph_pinhole_record* coded);

// The velocity that is expected of one with this heading (a level), behind another one of its class.
void ph_pinhole_expected_velocity(const ph_layout* layout, ph_pinhole_motion motion,
                                  const ph_pinhole_neighbour* before, uint32_t heading,
                                  int32_t velocity[3]);

#endif
