// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Widths of differences, and their means. Once per enter.

#include "wire/coded_neighbour.h"

#include "wire/coded_values.h"
#include "wire/coder.h"

#include <string.h>

ph_coded_neighbour ph_coded_neighbour_of(const ph_coded_frame* frame, const ph_record* record)
{
    ph_coded_neighbour neighbour = {.slot = record->slot, .association = record->association};
    if (record->kind == PH_RECORD_ENTER) {
        const ph_layout* layout = &frame->frame.layouts->layouts[record->class_index];
        const ph_property* position = &layout->described->properties[layout->described->position];
        neighbour.name = record->name;
        neighbour.class_index = record->class_index;
        neighbour.shift = (uint8_t)position->coordinate.shift;
        memcpy(neighbour.place, record->words + layout->word[layout->described->position],
               sizeof neighbour.place);
        memcpy(neighbour.velocity, record->velocity, sizeof neighbour.velocity);
        neighbour.heading = ph_coded_heading_of(layout, record);
    }
    return neighbour;
}

static int width_between(int64_t from, int64_t to)
{
    return ph_word_width((uint64_t)(from < to ? to - from : from - to));
}

void ph_coded_steps_add(ph_coded_steps* steps, const ph_coded_neighbour* from,
                        const ph_coded_neighbour* to)
{
    const bool is_next = to->slot == from->slot + 1;
    for (int i = 0; i < 2; ++i) {
        const int64_t way_mm = (int32_t)(to->place[i] - from->place[i]);
        steps->place_bits += width_between(0, way_mm >> to->shift);
        steps->velocity_bits += width_between(is_next ? from->velocity[i] : 0, to->velocity[i]);
    }
    steps->name_bits +=
        ph_word_width(from->name < to->name ? to->name - from->name : from->name - to->name);
    steps->count += 1;
}

// Sums of two coordinates each, or of one number; rounded, at least 1.
static uint8_t mean_width(int sum, int count, int most)
{
    const int mean = (sum + count / 2) / count;
    return (uint8_t)(mean < 1 ? 1 : mean < most ? mean : most);
}

ph_coded_spread ph_coded_steps_spread(const ph_coded_steps* steps)
{
    if (steps->count == 0) {
        return (ph_coded_spread){0};
    }
    return (ph_coded_spread){
        .place = mean_width(steps->place_bits, 2 * steps->count, PH_SPREADS - 1),
        .velocity = mean_width(steps->velocity_bits, 2 * steps->count, PH_SPREADS - 1),
        .name = mean_width(steps->name_bits, steps->count, PH_NAME_SPREADS - 1),
    };
}

#define SPREAD_BITS 4
#define NAME_SPREAD_BITS 5
_Static_assert(PH_SPREADS == 1 << SPREAD_BITS && PH_NAME_SPREADS == 1 << NAME_SPREAD_BITS,
               "spreads fill their fields");
_Static_assert(PH_SPREAD_BITS_MAX == 1 + 2 * SPREAD_BITS + NAME_SPREAD_BITS, "all of it");

static bool is_stated(const ph_coded_spread* spread)
{
    return spread->place != 0 || spread->velocity != 0 || spread->name != 0;
}

int ph_coded_spread_bits(const ph_coded_spread* spread, int enter_count)
{
    return enter_count < 2 ? 0 : is_stated(spread) ? PH_SPREAD_BITS_MAX : 1;
}

void ph_coded_write_spread(const ph_coded_frame* frame, ph_entropy_writer* writer, int enter_count)
{
    const ph_coded_spread* spread = &frame->spread;
    if (enter_count < 2) {
        return;
    }
    ph_bits_write_bool(&writer->raw, is_stated(spread));
    if (is_stated(spread)) {
        ph_bits_write(&writer->raw, spread->place, SPREAD_BITS);
        ph_bits_write(&writer->raw, spread->velocity, SPREAD_BITS);
        ph_bits_write(&writer->raw, spread->name, NAME_SPREAD_BITS);
    }
}

void ph_coded_read_spread(ph_coded_frame* frame, ph_entropy_reader* reader, int enter_count)
{
    frame->spread = (ph_coded_spread){0};
    if (enter_count < 2 || !ph_bits_read_bool(&reader->raw)) {
        return;
    }
    frame->spread.place = (uint8_t)ph_bits_read(&reader->raw, SPREAD_BITS);
    frame->spread.velocity = (uint8_t)ph_bits_read(&reader->raw, SPREAD_BITS);
    frame->spread.name = (uint8_t)ph_bits_read(&reader->raw, NAME_SPREAD_BITS);
    if (!is_stated(&frame->spread)) {
        ph_bit_reader_fail(&reader->raw, PH_ERROR_VALUE);
    }
}
