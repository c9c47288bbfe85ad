// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Widths of differences, and their means. Once per enter.

#include "wire/coded_neighbour.h"

#include "wire/coded_values.h"
#include "wire/coded_velocity.h"
#include "wire/coder.h"

#include <pinhole/integers.h>

#include <string.h>

ph_coded_neighbour ph_coded_neighbour_of(const ph_coded_frame* frame, const ph_coded_record* coded)
{
    const ph_record* record = &coded->record;
    const ph_coded_neighbour* before = coded->before;
    ph_coded_neighbour neighbour = {
        .slot = record->slot,
        .association = record->association,
        .is_next = before != NULL && record->slot == before->slot + 1,
    };
    if (record->kind != PH_RECORD_ENTER) {
        return neighbour;
    }
    const ph_layout* layout = &frame->frame.layouts->layouts[record->class_index];
    neighbour.name = record->name;
    neighbour.class_index = record->class_index;
    neighbour.shift = (uint8_t)layout->coordinate.shift;
    neighbour.coarse = before != NULL ? coded->coarse : frame->spread.coarse;
    neighbour.properties = record->properties;
    neighbour.words = record->words;
    memcpy(neighbour.place, record->words + layout->position_word, sizeof neighbour.place);
    memcpy(neighbour.velocity, record->velocity, sizeof neighbour.velocity);
    neighbour.heading = ph_coded_heading_of(layout, record);
    neighbour.is_flat = before != NULL && neighbour.place[2] == before->place[2];
    neighbour.is_beside = before != NULL && record->class_index == before->class_index;
    neighbour.differing = neighbour.is_beside ? ph_coded_differing(layout, before, record) : 0;
    return neighbour;
}

static int width_between(int64_t from, int64_t to)
{
    return ph_word_width((uint64_t)(from < to ? to - from : from - to));
}

static void add_motion(ph_coded_steps* steps, const ph_layout* layout,
                       const ph_coded_neighbour* from, const ph_coded_neighbour* to)
{
    for (int motion = 0; motion < PH_MOTIONS; ++motion) {
        int32_t expected[3];
        ph_coded_expected_velocity(layout, (ph_coded_motion)motion, from, to->heading, expected);
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

void ph_coded_steps_add(ph_coded_steps* steps, const ph_coded_frame* frame,
                        const ph_coded_neighbour* from, const ph_coded_neighbour* to)
{
    for (int i = 0; i < 2; ++i) {
        const int64_t way_mm = (int32_t)(to->place[i] - from->place[i]);
        steps->place_bits += width_between(0, way_mm >> to->shift);
    }
    steps->name_bits +=
        ph_word_width(from->name < to->name ? to->name - from->name : from->name - to->name);
    steps->count += 1;
    if (to->is_beside) {
        add_motion(steps, &frame->frame.layouts->layouts[to->class_index], from, to);
    }
}

// Sums of two coordinates each, or of one number; rounded, at least 1.
static uint8_t mean_width(int sum, int count, int most)
{
    const int mean = count > 0 ? (sum + count / 2) / count : 0;
    return (uint8_t)(mean < 1 ? 1 : mean < most ? mean : most);
}

ph_coded_spread ph_coded_steps_spread(const ph_coded_steps* steps)
{
    if (steps->count == 0) {
        return (ph_coded_spread){0};
    }
    int motion = 0;
    for (int other = 1; other < PH_MOTIONS; ++other) {
        motion = steps->velocity_bits[other] < steps->velocity_bits[motion] ? other : motion;
    }
    return (ph_coded_spread){
        .place = mean_width(steps->place_bits, 2 * steps->count, PH_SPREADS - 1),
        .velocity =
            mean_width(steps->velocity_bits[motion], 2 * steps->beside_count, PH_SPREADS - 1),
        .heading = mean_width(steps->heading_bits, steps->beside_count, PH_SPREADS - 1),
        .name = mean_width(steps->name_bits, steps->count, PH_NAME_SPREADS - 1),
        .motion = (uint8_t)motion,
    };
}

#define SPREAD_BITS 4
#define NAME_SPREAD_BITS 5
#define MOTION_BITS 2
_Static_assert(PH_SPREADS == 1 << SPREAD_BITS && PH_NAME_SPREADS == 1 << NAME_SPREAD_BITS,
               "spreads fill their fields");
#define STATED_BITS (1 + 3 * SPREAD_BITS + NAME_SPREAD_BITS + MOTION_BITS)
#define COARSE_BITS_MAX 7
_Static_assert(PH_SPREAD_BITS_MAX == COARSE_BITS_MAX + STATED_BITS, "all of it");

static bool is_stated(const ph_coded_spread* spread)
{
    return spread->place != 0 || spread->velocity != 0 || spread->heading != 0 ||
           spread->name != 0 || spread->motion != PH_MOTION_RESTING;
}

static bool has_coarse(const ph_coded_frame* frame)
{
    return frame->precision != 0;
}

int ph_coded_spread_bits(const ph_coded_frame* frame, int enter_count)
{
    if (enter_count < 2) {
        return 0;
    }
    return (is_stated(&frame->spread) ? STATED_BITS : 1) +
           (has_coarse(frame) ? ph_gamma_cost_bits(frame->spread.coarse) : 0);
}

void ph_coded_write_spread(const ph_coded_frame* frame, ph_entropy_writer* writer, int enter_count)
{
    const ph_coded_spread* spread = &frame->spread;
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
        ph_bits_write(&writer->raw, spread->name, NAME_SPREAD_BITS);
        ph_bits_write(&writer->raw, spread->motion, MOTION_BITS);
    }
}

void ph_coded_read_spread(ph_coded_frame* frame, ph_entropy_reader* reader, int enter_count)
{
    frame->spread = (ph_coded_spread){0};
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
    frame->spread.name = (uint8_t)ph_bits_read(&reader->raw, NAME_SPREAD_BITS);
    frame->spread.motion = (uint8_t)ph_bits_read(&reader->raw, MOTION_BITS);
    if (!is_stated(&frame->spread) || frame->spread.motion >= PH_MOTIONS) {
        ph_bit_reader_fail(&reader->raw, PH_ERROR_VALUE);
    }
}
