// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Leaves and enters of the pinhole profile. The first of a packet is told by itself, others from the one
// before them: slots and keys as gaps, places and velocities as differences. How far enters of a packet
// are from each other, its spread, is stated before the first.
//
//   leave   slot | association
//   enter   slot | association | class | key | place | jump | heading, velocity | other values
//
// Once per enter or leave.

#include "base/bitset.h"
#include "packet/pinhole_records.h"

#include <pinhole/integers.h>

#include <string.h>

// ---- slot, association, class and key

static void code_slot(const ph_pinhole_frame* frame, ph_coder* coder, ph_pinhole_record* coded)
{
    ph_record* record = &coded->record;
    const bool is_reading = coder->reader != NULL;
    const uint32_t floor = coded->before != NULL ? coded->before->slot + UINT32_C(1) : 0;
    PH_ASSERT(is_reading || record->slot >= floor);
    const uint64_t given = is_reading ? 0 : (uint64_t)(record->slot - floor);
    uint64_t slot;
    if (coded->before == NULL) {
        slot = ph_coder_raw(coder, given, frame->frame.slot_bits);
    } else {
        const int model =
            (record->kind == PH_RECORD_ENTER ? 2 : 0) + (coded->before->is_next ? 1 : 0);
        slot = floor + ph_coder_length(coder, PH_FAMILY_SLOT, model, given);
    }
    ph_coder_refuse_if(coder, slot >> frame->frame.slot_bits != 0);
    if (is_reading) {
        record->slot = (uint16_t)slot;
    }
}

// Slots that follow each other have mostly been used as often as each other.
static void code_association(ph_coder* coder, ph_pinhole_record* coded)
{
    ph_record* record = &coded->record;
    const ph_pinhole_neighbour* before = coded->before;
    const bool has_likely = before != NULL && record->slot == before->slot + 1;
    const uint32_t likely = has_likely ? before->association & PH_CLASSIC_ASSOCIATION_MASK : 0;
    const uint32_t given = record->association & PH_CLASSIC_ASSOCIATION_MASK;
    if (has_likely && ph_coder_flag(coder, PH_FAMILY_ASSOCIATION, 0, given == likely)) {
        record->association = likely;
        return;
    }
    const uint32_t told = (uint32_t)ph_coder_raw(coder, given, PH_CLASSIC_ASSOCIATION_BITS);
    ph_coder_refuse_if(coder, has_likely && told == likely);
    if (coder->reader != NULL) {
        record->association = told;
    }
}

// Of the first: keys up to the greatest one known are about equally likely; above it, near ones are
// likelier.
static uint64_t code_first_key(const ph_pinhole_frame* frame, ph_coder* coder, uint64_t key)
{
    const uint64_t base = frame->key_base;
    const bool is_above = base < UINT64_MAX && ph_coder_flag(coder, PH_FAMILY_NAME, 0, key > base);
    if (is_above) {
        const uint64_t given = coder->reader != NULL ? 0 : key - base - 1;
        const uint64_t above = ph_coder_length(coder, PH_FAMILY_NAME_ABOVE, 0, given);
        ph_coder_refuse_if(coder, above > UINT64_MAX - base - 1);
        return base + 1 + above;
    }
    if (base < UINT32_MAX) {
        return ph_coder_uniform(coder, (uint32_t)key, (uint32_t)base + 1);
    }
    const uint64_t told = ph_coder_raw(coder, key, ph_width_of(base));
    ph_coder_refuse_if(coder, told > base);
    return told;
}

// Of others: entities that stand together have often come together, and have keys that follow each other.
static uint64_t code_key(const ph_pinhole_frame* frame, ph_coder* coder, uint64_t beside,
                         uint64_t key)
{
    const bool is_reading = coder->reader != NULL;
    const int spread = frame->spread.key;
    const bool is_above =
        beside < UINT64_MAX && ph_coder_flag(coder, PH_FAMILY_NAME, 1, key > beside);
    const int model = spread != 0 ? 1 + spread : is_above ? 1 : 0;
    if (is_above) {
        const uint64_t above =
            ph_coder_length(coder, PH_FAMILY_NAME_BESIDE, model, is_reading ? 0 : key - beside - 1);
        ph_coder_refuse_if(coder, above > UINT64_MAX - beside - 1);
        return beside + 1 + above;
    }
    const uint64_t below =
        ph_coder_length(coder, PH_FAMILY_NAME_BESIDE, model, is_reading ? 0 : beside - key);
    ph_coder_refuse_if(coder, below > beside);
    return beside - below;
}

void ph_pinhole_identity(const ph_pinhole_frame* frame, ph_coder* coder, ph_pinhole_record* coded)
{
    ph_record* record = &coded->record;
    code_slot(frame, coder, coded);
    code_association(coder, coded);
    if (record->kind != PH_RECORD_ENTER) {
        return;
    }
    const bool is_reading = coder->reader != NULL;
    record->class_index = (uint8_t)ph_coder_uniform(coder, is_reading ? 0 : record->class_index,
                                                    (uint32_t)frame->frame.layouts->count);
    const uint64_t given = is_reading ? 0 : record->key;
    record->key = coded->before != NULL ? code_key(frame, coder, coded->before->key, given)
                                        : code_first_key(frame, coder, given);
}

// ---- places

// How the three coordinates of a place are coded relative to another one.
typedef struct place_models {
    ph_pinhole_axis x;
    ph_pinhole_axis y; // its model is chosen by x where it has several
    ph_pinhole_axis z;
    int coarse;
    int spread; // of places, in steps as coarse as that; 0: not stated
} place_models;

// Neighbours keep a distance: one that is hardly aside is further ahead.
static int model_of_y(const place_models* how, uint64_t x_steps)
{
    if (how->spread == 0) {
        const int length = ph_word_width(x_steps);
        return length < PH_SIDES ? length : PH_SIDES - 1;
    }
    const uint64_t parts = how->spread > 2 ? x_steps >> (how->spread - 2) : x_steps;
    return PH_SIDES + PH_SIDE_PARTS * (how->spread - 1) +
           (int)(parts < PH_SIDE_PARTS ? parts : PH_SIDE_PARTS - 1);
}

static void code_place(const ph_pinhole_frame* frame, ph_coder* coder, const ph_layout* layout,
                       const place_models* how, const uint32_t from[3], uint32_t words[3])
{
    const int shift = layout->coordinate.shift + how->coarse;
    const int64_t x_steps = ph_pinhole_coordinate(coder, how->x, shift, from[0], &words[0]);
    ph_pinhole_axis y = how->y;
    if (y.family == PH_FAMILY_BESIDE_Y) {
        y.model = model_of_y(how, ph_coder_magnitude_of(x_steps));
    }
    ph_pinhole_coordinate(coder, y, shift, from[1], &words[1]);
    if (layout->has_ground) {
        ph_pinhole_altitude(frame, coder, layout, how->z, from[2], words);
    } else {
        ph_pinhole_coordinate(coder, how->z, shift, from[2], &words[2]);
    }
}

void ph_pinhole_place(const ph_pinhole_frame* frame, ph_coder* coder, const ph_layout* layout,
                      uint32_t words[3])
{
    const place_models how = {.x = {.family = PH_FAMILY_ENTER_X, .is_length = true},
                              .y = {.family = PH_FAMILY_ENTER_Y, .is_length = true},
                              .z = {.family = PH_FAMILY_ENTER_Z, .is_length = true}};
    const uint32_t eye_mm[3] = {(uint32_t)frame->frame.eye_mm[0], (uint32_t)frame->frame.eye_mm[1],
                                (uint32_t)frame->frame.eye_mm[2]};
    code_place(frame, coder, layout, &how, eye_mm, words);
}

// Steps of more than 2^31 mm do not exist; such a record ends as refused, but with steps that do.
static void code_coarse_beside(const ph_pinhole_frame* frame, ph_coder* coder,
                               ph_pinhole_record* coded, const ph_layout* layout)
{
    const int limit = frame->spread.coarse;
    coded->coarse = limit == 0 ? 0
                               : (uint8_t)ph_coder_symbol(coder, PH_FAMILY_BESIDE_COARSE,
                                                          coded->before->coarse, coded->coarse);
    const bool is_refused = coded->coarse > limit || layout->coordinate.shift + coded->coarse > 31;
    ph_coder_refuse_if(coder, is_refused);
    coded->coarse = is_refused ? 0 : coded->coarse;
}

static void code_place_beside(const ph_pinhole_frame* frame, ph_coder* coder,
                              ph_pinhole_record* coded, const ph_layout* layout, uint32_t words[3])
{
    code_coarse_beside(frame, coder, coded, layout);
    const ph_pinhole_neighbour* before = coded->before;
    const bool is_next = coded->record.slot == before->slot + 1;
    const uint32_t low = (UINT32_C(1) << layout->coordinate.shift) - 1;
    const int finer = frame->spread.place - coded->coarse;
    const int spread = frame->spread.place == 0 ? 0 : finer > 1 ? finer : 1;
    const bool is_level =
        before->is_flat || before->place[2] == ((uint32_t)frame->frame.eye_mm[2] & ~low);
    const place_models how = {
        .x = {.family = PH_FAMILY_BESIDE_X,
              .model = spread != 0 ? 1 + spread
                       : is_next   ? 0
                                   : 1,
              .is_length = true},
        .y = {.family = PH_FAMILY_BESIDE_Y, .is_length = true},
        .z = {.family = PH_FAMILY_BESIDE_Z, .model = is_level ? 1 : 0, .is_length = true},
        .coarse = coded->coarse,
        .spread = spread,
    };
    code_place(frame, coder, layout, &how, before->place, words);
    if (coder->reader != NULL && coded->coarse != 0) {
        ph_coder_refuse_if(coder, !ph_pinhole_is_fine_enough(
                                      ph_pinhole_enter_precision(frame), layout->coordinate.shift,
                                      coded->coarse, ph_pinhole_distance(frame, words)));
    }
}

// ---- velocities
//
// In a crowd all go about as fast as their neighbours, but each its own way: so the speed is taken from the
// one before, the direction from the heading.

#define DIRECTION_BITS 16

static bool is_rest(const int16_t velocity[3])
{
    return velocity[0] == 0 && velocity[1] == 0 && velocity[2] == 0;
}

// In the plane, rounded down.
static int32_t plane_speed(const int16_t velocity[3])
{
    const int64_t x = velocity[0];
    const int64_t y = velocity[1];
    const int64_t square = x * x + y * y;
    int64_t root = 0;
    for (int64_t bit = INT64_C(1) << (DIRECTION_BITS - 1); bit != 0; bit >>= 1) {
        root += (root + bit) * (root + bit) <= square ? bit : 0;
    }
    return (int32_t)root;
}

static uint16_t direction_of(const ph_layout* layout, uint32_t level)
{
    const int width = layout->described->properties[layout->heading_property].angle.width;
    return (uint16_t)(width < DIRECTION_BITS ? level << (DIRECTION_BITS - width)
                                             : level >> (width - DIRECTION_BITS));
}

void ph_pinhole_expected_velocity(const ph_layout* layout, ph_pinhole_motion motion,
                                  const ph_pinhole_neighbour* before, uint32_t heading,
                                  int32_t velocity[3])
{
    for (int i = 0; i < 3; ++i) {
        velocity[i] = motion == PH_MOTION_RESTING ? 0 : before->velocity[i];
    }
    if (motion == PH_MOTION_AHEAD && layout->heading != 0) {
        ph_direction_go(direction_of(layout, heading), plane_speed(before->velocity), velocity);
    }
}

static void code_first_velocity(ph_coder* coder, ph_pinhole_record* coded)
{
    int16_t* velocity = coded->record.velocity;
    if (!ph_coder_flag(coder, PH_FAMILY_ENTER_MOVING, 0, !is_rest(velocity))) {
        memset(velocity, 0, 3 * sizeof velocity[0]);
        return;
    }
    for (int i = 0; i < 3; ++i) {
        velocity[i] =
            (int16_t)ph_coder_signed_length(coder, PH_FAMILY_ENTER_VELOCITY, i, velocity[i]);
    }
    ph_coder_refuse_if(coder, is_rest(velocity));
}

static void code_velocity_beside(const ph_pinhole_frame* frame, ph_coder* coder,
                                 ph_pinhole_record* coded, const ph_layout* layout)
{
    const ph_pinhole_neighbour* before = coded->before;
    const int spread = frame->spread.velocity;
    int16_t* velocity = coded->record.velocity;
    const int state = (spread == 0 ? 1 : spread == 1 ? 3 : 5) + (is_rest(before->velocity) ? 0 : 1);
    if (!ph_coder_flag(coder, PH_FAMILY_ENTER_MOVING, state, !is_rest(velocity))) {
        memset(velocity, 0, 3 * sizeof velocity[0]);
        return;
    }
    int32_t expected[3];
    ph_pinhole_expected_velocity(layout, (ph_pinhole_motion)frame->spread.motion, before,
                                 ph_pinhole_heading_of(layout, &coded->record), expected);
    for (int i = 0; i < 3; ++i) {
        const int model = i == 2 ? (expected[2] == 0 ? 1 : 2) : spread != 0 ? 2 + spread : 0;
        const int64_t told =
            expected[i] + ph_coder_signed_length(coder, PH_FAMILY_BESIDE_VELOCITY, model,
                                                 (int64_t)velocity[i] - expected[i]);
        ph_coder_refuse_if(coder, told < -INT16_MAX || told > INT16_MAX);
        velocity[i] = (int16_t)told;
    }
    ph_coder_refuse_if(coder, is_rest(velocity));
}

// ---- an enter

static uint64_t code_enter_flags(ph_coder* coder, const ph_layout* layout, const ph_record* record)
{
    const uint64_t others = layout->others;
    const uint64_t given =
        coder->reader != NULL ? 0 : ph_pinhole_ranks_of(others, record->properties);
    if (others == 0 || !ph_coder_flag(coder, PH_FAMILY_ENTER_OTHERS, 0, given != 0)) {
        return 0;
    }
    const uint64_t told = ph_coder_raw(coder, given, ph_word_count_bits(others));
    ph_coder_refuse_if(coder, told == 0);
    return ph_pinhole_properties_of(others, told);
}

static void code_orientation(ph_coder* coder, ph_pinhole_record* coded, const ph_layout* layout,
                             bool is_beside)
{
    if (layout->orientation != 0) {
        ph_pinhole_first_orientation(coder, coded, layout, is_beside);
        ph_coder_mark(coder, layout->orientation_property);
    }
}

// By itself: its motion says where it is headed.
static uint64_t code_enter_alone(const ph_pinhole_frame* frame, ph_coder* coder,
                                 ph_pinhole_record* coded, const ph_layout* layout)
{
    code_first_velocity(coder, coded);
    ph_coder_mark(coder, layout->position_property);
    if (layout->heading != 0) {
        ph_pinhole_first_heading(coder, coded, layout);
        ph_coder_mark(coder, layout->heading_property);
    }
    code_orientation(coder, coded, layout, false);
    const uint64_t others = code_enter_flags(coder, layout, &coded->record);
    ph_coder_mark(coder, PH_SYMBOL_BUFFER_MASK);
    for (uint64_t left = others; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        ph_pinhole_value(frame, coder, coded, layout, property);
        ph_coder_mark(coder, property);
    }
    return others;
}

// From another one of its class: where it is headed says how it moves.
static uint64_t code_enter_beside(const ph_pinhole_frame* frame, ph_coder* coder,
                                  ph_pinhole_record* coded, const ph_layout* layout)
{
    ph_coder_mark(coder, layout->position_property);
    if (layout->heading != 0) {
        ph_pinhole_heading_beside(frame, coder, coded, layout);
        ph_coder_mark(coder, layout->heading_property);
    }
    code_orientation(coder, coded, layout, true);
    code_velocity_beside(frame, coder, coded, layout);
    ph_coder_mark(coder, layout->position_property);
    return layout->others != 0 ? ph_pinhole_others_beside(frame, coder, coded, layout) : 0;
}

void ph_pinhole_enter(const ph_pinhole_frame* frame, ph_coder* coder, ph_pinhole_record* coded)
{
    ph_record* record = &coded->record;
    const ph_layout* layout = ph_pinhole_layout(frame, record);
    uint32_t* words = record->words + layout->position_word;
    if (coded->before != NULL) {
        code_place_beside(frame, coder, coded, layout, words);
    } else {
        ph_pinhole_place(frame, coder, layout, words);
    }
    record->is_jump = ph_coder_flag(coder, PH_FAMILY_ENTER_JUMP, 0, record->is_jump);
    const bool is_beside =
        coded->before != NULL && coded->before->class_index == record->class_index;
    const uint64_t others = is_beside ? code_enter_beside(frame, coder, coded, layout)
                                      : code_enter_alone(frame, coder, coded, layout);
    record->properties = (record->properties & layout->facing) | layout->position | others;
}

// ---- what the next one is coded relative to

ph_pinhole_neighbour ph_pinhole_neighbour_of(const ph_pinhole_frame* frame,
                                             const ph_pinhole_record* coded)
{
    const ph_record* record = &coded->record;
    const ph_pinhole_neighbour* before = coded->before;
    ph_pinhole_neighbour neighbour = {
        .slot = record->slot,
        .association = record->association,
        .is_next = before != NULL && record->slot == before->slot + 1,
    };
    if (record->kind != PH_RECORD_ENTER) {
        return neighbour;
    }
    const ph_layout* layout = &frame->frame.layouts->layouts[record->class_index];
    neighbour.key = record->key;
    neighbour.class_index = record->class_index;
    neighbour.shift = (uint8_t)layout->coordinate.shift;
    neighbour.coarse = before != NULL ? coded->coarse : frame->spread.coarse;
    neighbour.properties = record->properties;
    neighbour.words = record->words;
    memcpy(neighbour.place, record->words + layout->position_word, sizeof neighbour.place);
    memcpy(neighbour.velocity, record->velocity, sizeof neighbour.velocity);
    neighbour.heading = ph_pinhole_heading_of(layout, record);
    neighbour.is_beside = before != NULL && record->class_index == before->class_index;
    if (layout->orientation != 0) {
        ph_pinhole_note_orientation(layout, coded, &neighbour);
    }
    neighbour.is_flat = before != NULL && neighbour.place[2] == before->place[2];
    neighbour.differing = neighbour.is_beside ? ph_pinhole_differing(layout, before, record) : 0;
    return neighbour;
}

static int width_between(int64_t from, int64_t to)
{
    return ph_word_width((uint64_t)(from < to ? to - from : from - to));
}

static void add_motion_step(ph_pinhole_steps* steps, const ph_layout* layout,
                            const ph_pinhole_neighbour* from, const ph_pinhole_neighbour* to)
{
    for (int motion = 0; motion < PH_MOTIONS; ++motion) {
        int32_t expected[3];
        ph_pinhole_expected_velocity(layout, (ph_pinhole_motion)motion, from, to->heading,
                                     expected);
        steps->velocity_bits[motion] += width_between(expected[0], to->velocity[0]) +
                                        width_between(expected[1], to->velocity[1]);
    }
    if (layout->heading != 0) {
        const int width = layout->described->properties[layout->heading_property].angle.width;
        const int32_t turn = (int32_t)((to->heading - from->heading) << (32 - width));
        steps->heading_bits += width_between(0, turn >> (32 - width));
    }
    steps->beside_count += 1;
}

void ph_pinhole_steps_add(ph_pinhole_steps* steps, const ph_pinhole_frame* frame,
                          const ph_pinhole_neighbour* from, const ph_pinhole_neighbour* to)
{
    for (int i = 0; i < 2; ++i) {
        const int64_t displacement_mm = (int32_t)(to->place[i] - from->place[i]);
        steps->place_bits += width_between(0, displacement_mm >> to->shift);
    }
    steps->key_bits +=
        ph_word_width(from->key < to->key ? to->key - from->key : from->key - to->key);
    steps->count += 1;
    if (to->is_beside) {
        add_motion_step(steps, &frame->frame.layouts->layouts[to->class_index], from, to);
    }
}

// Sums of two coordinates each, or of one number; rounded, at least 1.
static uint8_t mean_width(int sum, int count, int most)
{
    const int mean = count > 0 ? (sum + count / 2) / count : 0;
    return (uint8_t)(mean < 1 ? 1 : mean < most ? mean : most);
}

ph_pinhole_spread ph_pinhole_steps_spread(const ph_pinhole_steps* steps)
{
    if (steps->count == 0) {
        return (ph_pinhole_spread){0};
    }
    int motion = 0;
    for (int other = 1; other < PH_MOTIONS; ++other) {
        motion = steps->velocity_bits[other] < steps->velocity_bits[motion] ? other : motion;
    }
    return (ph_pinhole_spread){
        .place = mean_width(steps->place_bits, 2 * steps->count, PH_SPREADS - 1),
        .velocity =
            mean_width(steps->velocity_bits[motion], 2 * steps->beside_count, PH_SPREADS - 1),
        .heading = mean_width(steps->heading_bits, steps->beside_count, PH_SPREADS - 1),
        .key = mean_width(steps->key_bits, steps->count, PH_KEY_SPREADS - 1),
        .motion = (uint8_t)motion,
    };
}

// ---- the spread in the packet

#define SPREAD_BITS 4
#define KEY_SPREAD_BITS 5
#define MOTION_BITS 2

_Static_assert(PH_SPREADS == 1 << SPREAD_BITS && PH_KEY_SPREADS == 1 << KEY_SPREAD_BITS,
               "spreads fill their fields");

#define STATED_BITS (1 + 3 * SPREAD_BITS + KEY_SPREAD_BITS + MOTION_BITS)
#define COARSE_BITS_MAX 7

_Static_assert(PH_SPREAD_BITS_MAX == COARSE_BITS_MAX + STATED_BITS, "all of it");

static bool is_stated(const ph_pinhole_spread* spread)
{
    return spread->place != 0 || spread->velocity != 0 || spread->heading != 0 ||
           spread->key != 0 || spread->motion != PH_MOTION_RESTING;
}

static bool has_coarse(const ph_pinhole_frame* frame)
{
    return frame->precision != 0;
}

int ph_pinhole_spread_bits(const ph_pinhole_frame* frame, int enter_count)
{
    if (enter_count < 2) {
        return 0;
    }
    return (is_stated(&frame->spread) ? STATED_BITS : 1) +
           (has_coarse(frame) ? ph_gamma_cost_bits(frame->spread.coarse) : 0);
}

void ph_pinhole_write_spread(const ph_pinhole_frame* frame, ph_entropy_writer* writer,
                             int enter_count)
{
    const ph_pinhole_spread* spread = &frame->spread;
    if (enter_count < 2) {
        return;
    }
    if (has_coarse(frame)) {
        ph_gamma_write(&writer->raw, spread->coarse);
    }
    ph_bits_write_bool(&writer->raw, is_stated(spread));
    if (is_stated(spread)) {
        ph_bits_write(&writer->raw, spread->place, SPREAD_BITS);
        ph_bits_write(&writer->raw, spread->velocity, SPREAD_BITS);
        ph_bits_write(&writer->raw, spread->heading, SPREAD_BITS);
        ph_bits_write(&writer->raw, spread->key, KEY_SPREAD_BITS);
        ph_bits_write(&writer->raw, spread->motion, MOTION_BITS);
    }
}

void ph_pinhole_read_spread(ph_pinhole_frame* frame, ph_entropy_reader* reader, int enter_count)
{
    frame->spread = (ph_pinhole_spread){0};
    if (enter_count < 2) {
        return;
    }
    const uint32_t coarse = has_coarse(frame) ? ph_gamma_read(&reader->raw) : 0;
    if (coarse > PH_COARSE_MAX) {
        ph_bit_reader_fail(&reader->raw, PH_ERROR_VALUE);
        return;
    }
    frame->spread.coarse = (uint8_t)coarse;
    if (!ph_bits_read_bool(&reader->raw)) {
        return;
    }
    frame->spread.place = (uint8_t)ph_bits_read(&reader->raw, SPREAD_BITS);
    frame->spread.velocity = (uint8_t)ph_bits_read(&reader->raw, SPREAD_BITS);
    frame->spread.heading = (uint8_t)ph_bits_read(&reader->raw, SPREAD_BITS);
    frame->spread.key = (uint8_t)ph_bits_read(&reader->raw, KEY_SPREAD_BITS);
    frame->spread.motion = (uint8_t)ph_bits_read(&reader->raw, MOTION_BITS);
    if (!is_stated(&frame->spread) || frame->spread.motion >= PH_MOTIONS) {
        ph_bit_reader_fail(&reader->raw, PH_ERROR_VALUE);
    }
}
