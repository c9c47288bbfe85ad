// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records of the pinhole profile: who, which properties, and what. Each step is one function for
// cost, tape and reader (coder.h); the three entrances differ in the coder that they make.

#include "wire/coded.h"

#include "base/bitset.h"
#include "wire/coded_header.h"
#include "wire/coded_position.h"
#include "wire/coded_values.h"
#include "wire/coder.h"
#include "wire/surprise.h"

#include <string.h>

// A schema promises that an enter always fits a datagram, whatever else stands in it.
_Static_assert(PH_CLASS_BITS_MAX + PH_CODED_ENTER_BITS_MAX + PH_CODED_SLACK_BITS +
                       PH_CODED_HEADER_BITS_MAX <=
                   8 * PH_PAYLOAD_MAX,
               "one enter with the dearest values");
_Static_assert(PH_CODED_ENTER_BITS_MAX >=
                   (PH_MODEL_BITS + 15) + 2 + 8 + (2 * PH_MODEL_BITS + 63) +
                       (3 * (PH_MODEL_BITS + 32) + PH_MODEL_BITS) + PH_MODEL_BITS +
                       (PH_MODEL_BITS + 3 * (PH_MODEL_BITS + 15)) + 2 * PH_MODEL_BITS +
                       (PH_MODEL_BITS + PH_PROPERTIES_MAX - 1) + 1,
               "the sum of its parts");

// ---- which slots are told

// The share of slots told, in 1/1024, up to which a density is chosen, from 1 on; beyond the last one,
// the last density. Each is about 1.8 times as likely as the one before, as odds go.
static const uint16_t DENSITY_SHARES[PH_DENSITIES - 2] = {5,   9,   16,  28,  49,  84,  140,
                                                          225, 340, 470, 610, 730, 840, 920};

// More than any of the tables, so that a sender who supposes that nobody is told supposes no less
// than it needs when somebody is.
#define UNFORESEEN256 (16 * PH_COST_PER_BIT)

int ph_coded_density(int told_count, int slot_count)
{
    PH_ASSERT(told_count >= 0 && told_count <= slot_count);

    if (told_count == 0) {
        return PH_DENSITY_NOBODY;
    }
    const int share = (int)((int64_t)told_count * 1024 / slot_count);
    int density = PH_DENSITY_NOBODY + 1;
    while (density < PH_DENSITIES - 1 && share > DENSITY_SHARES[density - 1]) {
        ++density;
    }
    return density;
}

static int told_model(int density, int urgency)
{
    PH_ASSERT(density > PH_DENSITY_NOBODY && density < PH_DENSITIES);
    PH_ASSERT(urgency >= 0 && urgency < PH_URGENCIES);
    return (density - 1) * PH_URGENCIES + urgency;
}

static int told_entry(int density, int urgency)
{
    enum { ENTRIES = 3 }; // told or not, and the end
    return PH_AT_TOLD + ENTRIES * told_model(density, urgency);
}

static uint32_t told_cost256(int density, int urgency, bool is_told)
{
    if (density == PH_DENSITY_NOBODY) {
        return is_told ? UNFORESEEN256 : 0;
    }
    return ph_coded_costs[told_entry(density, urgency) + (is_told ? 1 : 0)];
}

int ph_coded_best_density(const int told[PH_URGENCIES], const int silent[PH_URGENCIES])
{
    int told_count = 0;
    for (int i = 0; i < PH_URGENCIES; ++i) {
        told_count += told[i];
    }
    int best = PH_DENSITY_NOBODY;
    uint64_t best256 = UINT64_MAX;
    for (int density = 1; density < PH_DENSITIES && told_count > 0; ++density) {
        uint64_t cost256 = 0;
        for (int i = 0; i < PH_URGENCIES; ++i) {
            cost256 += (uint64_t)told[i] * told_cost256(density, i, true) +
                       (uint64_t)silent[i] * told_cost256(density, i, false);
        }
        if (cost256 < best256) {
            best = density;
            best256 = cost256;
        }
    }
    return best;
}

// Whether its two newest samples differ at all.
static bool is_moving(const ph_baseline* baseline)
{
    return baseline->sample_count == 2 && memcmp(baseline->position_mm[0], baseline->position_mm[1],
                                                 sizeof baseline->position_mm[0]) != 0;
}

// The surprise to be expected by now, as an angle: in bits, from 2^-16 on. Who rests surprises
// nobody for long, whatever the time: the first four are for those.
int ph_coded_urgency(const ph_coded_frame* frame, const ph_baseline* baseline)
{
    enum { NEAREST_MM = 1000, LEAST_BITS = 16, RESTING = 4 };
    const ph_layout* layout = &frame->frame.layouts->layouts[baseline->class_index];
    const int shift = layout->described->properties[layout->described->position].coordinate.shift;
    uint64_t distance_mm = NEAREST_MM;
    for (int i = 0; i < 3; ++i) {
        const int64_t way_mm =
            (int32_t)((uint32_t)baseline->position_mm[0][i] - (uint32_t)frame->frame.eye_mm[i]);
        const uint64_t away_mm = (uint64_t)(way_mm < 0 ? -way_mm : way_mm);
        distance_mm = away_mm > distance_mm ? away_mm : distance_mm;
    }
    const uint64_t time_us = ph_baseline_time_us(baseline->tick[0], frame->tick, frame->tick_us);
    const int size = ph_size_stretched(baseline->plane_size, time_us, PH_GROWTH_POSITION) +
                     PH_SIZE_PER_BIT * (shift - 1 + LEAST_BITS) - ph_log2_eighths(distance_mm);
    int urgency = size > 0 ? size / PH_SIZE_PER_BIT : 0;
    urgency = urgency < PH_URGENCIES ? urgency : PH_URGENCIES - 1;
    if (!is_moving(baseline)) {
        return urgency / RESTING;
    }
    return urgency < RESTING ? RESTING : urgency;
}

uint32_t ph_coded_told_cost256(const ph_coded_frame* frame, int urgency, bool is_told)
{
    return told_cost256(frame->density, urgency, is_told);
}

void ph_coded_write_told(const ph_coded_frame* frame, ph_entropy_writer* writer, int urgency,
                         bool is_told)
{
    PH_ASSERT(!is_told || frame->density != PH_DENSITY_NOBODY);

    if (frame->density == PH_DENSITY_NOBODY) {
        return;
    }
    const int first = told_entry(frame->density, urgency);
    ph_entropy_write(writer, &(ph_model){.cumulative = &ph_coded_cumulative[first], .count = 2},
                     is_told);
    if (frame->counts != NULL) {
        ++frame->counts->seen[first + is_told];
    }
}

bool ph_coded_read_told(const ph_coded_frame* frame, ph_entropy_reader* reader, int urgency)
{
    if (frame->density == PH_DENSITY_NOBODY) {
        return false;
    }
    ph_coder coder = {.reader = reader, .is_universal = frame->is_universal};
    return ph_coder_flag(&coder, PH_FAMILY_TOLD, told_model(frame->density, urgency), false);
}

// ---- who

static const ph_layout* layout_of(const ph_coded_frame* frame, const ph_record* record)
{
    PH_ASSERT(record->class_index < frame->frame.layouts->count);
    return &frame->frame.layouts->layouts[record->class_index];
}

static void code_slot(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded)
{
    ph_record* record = &coded->record;
    const bool is_reading = ph_coder_is_reading(coder);
    const uint32_t floor = coded->before != NULL ? coded->before->slot + UINT32_C(1) : 0;
    PH_ASSERT(is_reading || record->slot >= floor);
    const int model = (record->kind == PH_RECORD_ENTER ? 2 : 0) + (coded->before != NULL ? 1 : 0);
    const uint64_t gap = ph_coder_length(coder, PH_FAMILY_SLOT, model,
                                         is_reading ? 0 : (uint64_t)(record->slot - floor));
    const uint64_t slot = floor + gap;
    ph_coder_refuse_if(coder, slot >> frame->frame.slot_bits != 0);
    if (is_reading) {
        record->slot = (uint16_t)slot;
    }
}

// Slots that follow each other have mostly been used as often as each other.
static void code_association(ph_coder* coder, ph_coded_record* coded)
{
    ph_record* record = &coded->record;
    const ph_coded_neighbour* before = coded->before;
    const bool has_likely = before != NULL && record->slot == before->slot + 1;
    const uint32_t likely = has_likely ? before->association & PH_CLASSIC_ASSOCIATION_MASK : 0;
    const uint32_t given = record->association & PH_CLASSIC_ASSOCIATION_MASK;
    if (has_likely && ph_coder_flag(coder, PH_FAMILY_ASSOCIATION, 0, given == likely)) {
        record->association = likely;
        return;
    }
    const uint32_t told = (uint32_t)ph_coder_raw(coder, given, PH_CLASSIC_ASSOCIATION_BITS);
    ph_coder_refuse_if(coder, has_likely && told == likely);
    if (ph_coder_is_reading(coder)) {
        record->association = told;
    }
}

// Of the first: names up to the greatest one known are about equally likely; above it, near ones are
// likelier.
static uint64_t code_first_name(const ph_coded_frame* frame, ph_coder* coder, uint64_t name)
{
    const uint64_t base = frame->name_base;
    const bool is_above = base < UINT64_MAX && ph_coder_flag(coder, PH_FAMILY_NAME, 0, name > base);
    if (is_above) {
        const uint64_t given = ph_coder_is_reading(coder) ? 0 : name - base - 1;
        const uint64_t above = ph_coder_length(coder, PH_FAMILY_NAME_ABOVE, 0, given);
        ph_coder_refuse_if(coder, above > UINT64_MAX - base - 1);
        return base + 1 + above;
    }
    if (base < UINT32_MAX) {
        return ph_coder_uniform(coder, (uint32_t)name, (uint32_t)base + 1);
    }
    const uint64_t told = ph_coder_raw(coder, name, ph_width_of(base));
    ph_coder_refuse_if(coder, told > base);
    return told;
}

// Of others: who stand together have often come together, and have names that follow each other.
static uint64_t code_name(const ph_coded_frame* frame, ph_coder* coder, uint64_t beside,
                          uint64_t name)
{
    const bool is_reading = ph_coder_is_reading(coder);
    const int spread = frame->spread.name;
    const bool is_above =
        beside < UINT64_MAX && ph_coder_flag(coder, PH_FAMILY_NAME, 1, name > beside);
    const int model = spread != 0 ? 1 + spread : is_above ? 1 : 0;
    if (is_above) {
        const uint64_t above = ph_coder_length(coder, PH_FAMILY_NAME_BESIDE, model,
                                               is_reading ? 0 : name - beside - 1);
        ph_coder_refuse_if(coder, above > UINT64_MAX - beside - 1);
        return beside + 1 + above;
    }
    const uint64_t below =
        ph_coder_length(coder, PH_FAMILY_NAME_BESIDE, model, is_reading ? 0 : beside - name);
    ph_coder_refuse_if(coder, below > beside);
    return beside - below;
}

static void code_who(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded)
{
    ph_record* record = &coded->record;
    code_slot(frame, coder, coded);
    code_association(coder, coded);
    if (record->kind != PH_RECORD_ENTER) {
        return;
    }
    const bool is_reading = ph_coder_is_reading(coder);
    record->class_index = (uint8_t)ph_coder_uniform(coder, is_reading ? 0 : record->class_index,
                                                    (uint32_t)frame->frame.layouts->count);
    const uint64_t given = is_reading ? 0 : record->name;
    record->name = coded->before != NULL ? code_name(frame, coder, coded->before->name, given)
                                         : code_first_name(frame, coder, given);
}

// ---- which properties

// What a class can tell beside its position decides which masks there are.
static const uint8_t MASKS_PLACE[] = {1, 9};
static const uint8_t MASKS_HEADING[] = {1, 2, 3, 9, 11};
static const uint8_t MASKS_OTHERS[] = {1, 4, 5, 9, 13};
static const uint8_t MASKS_ALL[] = {1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15};

typedef struct mask_set {
    const uint8_t* masks;
    ph_coded_family family;
} mask_set;

static mask_set masks_of(const ph_layout* layout)
{
    const bool has_heading = layout->heading != 0;
    const bool has_others = layout->others != 0;
    if (has_heading && has_others) {
        return (mask_set){MASKS_ALL, PH_FAMILY_MASK_ALL};
    }
    if (has_heading) {
        return (mask_set){MASKS_HEADING, PH_FAMILY_MASK_HEADING};
    }
    return has_others ? (mask_set){MASKS_OTHERS, PH_FAMILY_MASK_OTHERS}
                      : (mask_set){MASKS_PLACE, PH_FAMILY_MASK_PLACE};
}

// What the newest record was like, and whether it moves.
static int mask_model(const ph_baseline* baseline)
{
    const int mask = baseline->told_mask;
    const int kind = mask == 0                       ? 0
                     : (mask & PH_TOLD_OTHERS) != 0  ? 3
                     : (mask & PH_TOLD_HEADING) != 0 ? 2
                                                     : 1;
    return 2 * kind + (is_moving(baseline) ? 1 : 0);
}

static int code_mask(ph_coder* coder, const ph_layout* layout, const ph_coded_record* coded)
{
    const mask_set set = masks_of(layout);
    int symbol = 0;
    if (!ph_coder_is_reading(coder)) {
        const int mask = ph_baseline_mask(layout, &coded->record);
        while (set.masks[symbol] != mask) {
            ++symbol;
            PH_ASSERT(symbol < ph_coded_families[set.family].symbols);
        }
    }
    return set.masks[ph_coder_symbol(coder, set.family, mask_model(coded->baseline), symbol)];
}

// Up to three others are named one by one, more by flags.
enum { NAMED_MAX = 3 };

static int code_others_count(ph_coder* coder, int available, int count)
{
    static const ph_coded_family families[] = {PH_FAMILY_OTHERS_2, PH_FAMILY_OTHERS_3,
                                               PH_FAMILY_OTHERS_MANY};
    if (available == 1) {
        return 1;
    }
    const int most = available <= NAMED_MAX ? available : NAMED_MAX + 1;
    const int given = count < most ? count : most;
    return 1 + ph_coder_symbol(coder, families[most - 2], 0, given - 1);
}

// Ascending, each among those that leave enough behind it. Ranks among the others of the class.
static uint64_t code_named(ph_coder* coder, int available, int count, uint64_t ranks)
{
    uint64_t told = 0;
    int first = 0;
    for (int left = count; left > 0; --left) {
        const int choices = available - first - (left - 1);
        const int given = ranks != 0 ? ph_word_lowest_bit(ranks) - first : 0;
        const int rank = first + (int)ph_coder_uniform(coder, (uint32_t)given, (uint32_t)choices);
        told |= UINT64_C(1) << rank;
        ranks &= ranks - 1;
        first = rank + 1;
    }
    return told;
}

// The properties of a class that are not its position or heading, pressed together, and back.
static uint64_t ranks_of(uint64_t others, uint64_t properties)
{
    uint64_t ranks = 0;
    uint64_t bit = 1;
    for (uint64_t left = others; left != 0; left &= left - 1, bit <<= 1) {
        ranks |= (properties & left & (0 - left)) != 0 ? bit : 0;
    }
    return ranks;
}

static uint64_t properties_of(uint64_t others, uint64_t ranks)
{
    uint64_t properties = 0;
    for (uint64_t left = others; left != 0; left &= left - 1, ranks >>= 1) {
        properties |= (ranks & 1) != 0 ? left & (0 - left) : 0;
    }
    return properties;
}

static uint64_t code_others(ph_coder* coder, const ph_layout* layout, const ph_record* record)
{
    const uint64_t others = layout->others;
    const int available = ph_word_count_bits(others);
    const bool is_reading = ph_coder_is_reading(coder);
    const uint64_t given = is_reading ? 0 : ranks_of(others, record->properties);
    const int count = code_others_count(coder, available, ph_word_count_bits(given) + is_reading);
    uint64_t told;
    if (count <= NAMED_MAX) {
        told = code_named(coder, available, count, given);
    } else {
        told = ph_coder_raw(coder, given, available);
        ph_coder_refuse_if(coder, ph_word_count_bits(told) <= NAMED_MAX);
    }
    return properties_of(others, told);
}

// ---- what

static void code_values(const ph_coded_frame* frame, ph_coder* coder, const ph_coded_record* coded,
                        const ph_layout* layout, uint64_t properties)
{
    for (uint64_t left = properties; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        ph_coded_value(frame, coder, coded, layout, property);
        ph_coder_mark(coder, property);
    }
}

static void code_update(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded)
{
    ph_record* record = &coded->record;
    const ph_layout* layout = layout_of(frame, record);
    const int position = layout->described->position;
    const int mask = code_mask(coder, layout, coded);
    const uint64_t others = (mask & PH_TOLD_OTHERS) != 0 ? code_others(coder, layout, record) : 0;
    record->is_jump = (mask & PH_TOLD_JUMP) != 0;
    record->properties = others | ((mask & PH_TOLD_POSITION) != 0 ? layout->position : 0) |
                         ((mask & PH_TOLD_HEADING) != 0 ? layout->heading : 0);
    ph_coder_mark(coder, PH_TAPE_MASK);
    if (record->is_jump) {
        ph_coded_place(frame, coder, layout, record->words + layout->word[position]);
    } else if ((mask & PH_TOLD_POSITION) != 0) {
        ph_coded_position(frame, coder, coded, layout);
    }
    ph_coder_mark(coder, position);
    if ((mask & PH_TOLD_HEADING) != 0) {
        ph_coded_heading(frame, coder, coded, layout);
        ph_coder_mark(coder, layout->heading_property);
    }
    code_values(frame, coder, coded, layout, others);
}

static uint64_t code_enter_flags(ph_coder* coder, const ph_layout* layout, const ph_record* record)
{
    const uint64_t others = layout->others;
    const uint64_t given = ph_coder_is_reading(coder) ? 0 : ranks_of(others, record->properties);
    if (others == 0 || !ph_coder_flag(coder, PH_FAMILY_ENTER_OTHERS, 0, given != 0)) {
        return 0;
    }
    const uint64_t told = ph_coder_raw(coder, given, ph_word_count_bits(others));
    ph_coder_refuse_if(coder, told == 0);
    return properties_of(others, told);
}

static void code_enter(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded)
{
    ph_record* record = &coded->record;
    const ph_layout* layout = layout_of(frame, record);
    const int position = layout->described->position;
    uint32_t* words = record->words + layout->word[position];
    if (coded->before != NULL) {
        ph_coded_place_beside(frame, coder, coded, layout, words);
    } else {
        ph_coded_place(frame, coder, layout, words);
    }
    record->is_jump = ph_coder_flag(coder, PH_FAMILY_ENTER_JUMP, 0, record->is_jump);
    ph_coded_velocity(frame, coder, coded);
    ph_coder_mark(coder, position);
    record->properties |= layout->position;
    if (layout->heading != 0) {
        ph_coded_first_heading(coder, coded, layout);
        ph_coder_mark(coder, layout->heading_property);
    }
    const uint64_t others = code_enter_flags(coder, layout, record);
    ph_coder_mark(coder, PH_TAPE_MASK);
    code_values(frame, coder, coded, layout, others);
    record->properties = (record->properties & ~layout->others) | others;
}

// ---- neighbours

ph_coded_neighbour ph_coded_neighbour_of(const ph_coded_frame* frame, const ph_record* record)
{
    ph_coded_neighbour neighbour = {.slot = record->slot, .association = record->association};
    if (record->kind == PH_RECORD_ENTER) {
        const ph_layout* layout = layout_of(frame, record);
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
    return ph_width_of((uint64_t)(from < to ? to - from : from - to));
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
        ph_width_of(from->name < to->name ? to->name - from->name : from->name - to->name);
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

// ---- the three entrances

static void check(const ph_coded_frame* frame, const ph_coded_record* coded)
{
    const ph_record* record = &coded->record;
    (void)frame;
    (void)record;
    PH_ASSERT(record->kind == PH_RECORD_UPDATE || record->slot >> frame->frame.slot_bits == 0);
    PH_ASSERT(record->kind != PH_RECORD_UPDATE || record->properties != 0);
    PH_ASSERT(record->kind != PH_RECORD_UPDATE ||
              (coded->baseline->is_entered && coded->baseline->class_index == record->class_index));
}

static void code_record(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded)
{
    check(frame, coded);
    if (coded->record.kind == PH_RECORD_UPDATE) {
        code_update(frame, coder, coded);
        return;
    }
    code_who(frame, coder, coded);
    ph_coder_mark(coder, PH_TAPE_WHO);
    if (coded->record.kind == PH_RECORD_ENTER) {
        code_enter(frame, coder, coded);
    }
}

uint32_t ph_coded_cost256(const ph_coded_frame* frame, const ph_coded_record* coded, ph_bill* bill)
{
    ph_coder coder = {.bill = bill, .is_universal = frame->is_universal};
    ph_coded_record copy = *coded;
    code_record(frame, &coder, &copy);
    return coder.cost256;
}

uint32_t ph_coded_tape(const ph_coded_frame* frame, ph_coded_record* coded, ph_tape* tape)
{
    ph_coder coder = {.tape = tape, .is_universal = frame->is_universal};
    code_record(frame, &coder, coded);
    ph_tape_end(tape);
    return coder.cost256;
}

uint32_t ph_coded_write(const ph_coded_frame* frame, ph_entropy_writer* writer,
                        const ph_coded_record* coded)
{
    uint32_t tokens[PH_TAPE_RECORD_MAX];
    ph_tape tape = {.tokens = tokens, .capacity = PH_TAPE_RECORD_MAX};
    ph_coded_record copy = *coded;
    (void)ph_coded_tape(frame, &copy, &tape);
    PH_ASSERT(!tape.is_full);
    return ph_tape_play(tokens, writer, NULL, frame->counts);
}

void ph_coded_read_who(const ph_coded_frame* frame, ph_entropy_reader* reader,
                       ph_coded_record* coded)
{
    PH_ASSERT(coded->record.kind != PH_RECORD_UPDATE);

    ph_coder coder = {.reader = reader, .is_universal = frame->is_universal};
    code_who(frame, &coder, coded);
}

void ph_coded_read(const ph_coded_frame* frame, ph_entropy_reader* reader, ph_coded_record* coded)
{
    PH_ASSERT(coded->record.kind != PH_RECORD_LEAVE);

    ph_coder coder = {.reader = reader, .is_universal = frame->is_universal};
    coded->record.properties = 0;
    if (coded->record.kind == PH_RECORD_UPDATE) {
        code_update(frame, &coder, coded);
    } else {
        code_enter(frame, &coder, coded);
    }
}
