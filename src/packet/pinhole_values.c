// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Values of the pinhole profile except positions, once per value that is sent: numbers as
// differences, the plain codings for everything else, values of an enter that is coded relative to
// another one, headings. A value that is told may be the known one: it changed and changed back
// while the first change was in flight.

#include "packet/pinhole_records.h"

#include <string.h>

#define ABSOLUTE (PH_NUMBER_SYMBOLS - 1)
#define DIFFERENCE_LENGTH_MAX 32
// What an enter is expected to turn away from its direction, and how far that is worth trying.
#define FIRST_HEADING_SIZE 20
#define FIRST_HEADING_PART_BITS 3
// Velocities are short displacements: the direction is computed from one that is so many times as long.
#define FIRST_HEADING_FACTOR 4

// An update of something that the client is known to have a value of.
static bool has_known(const ph_pinhole_frame* frame, const ph_pinhole_record* coded, int property)
{
    return coded->record.kind == PH_RECORD_UPDATE &&
           frame->packings[coded->record.class_index].size[property] > 0;
}

static uint64_t load_known(const ph_pinhole_frame* frame, const ph_pinhole_record* coded,
                           int property)
{
    const ph_packing* packing = &frame->packings[coded->record.class_index];
    uint32_t words[PH_VALUE_WORDS_MAX] = {0};
    ph_packing_load(packing, property, coded->known + packing->offset[property], words);
    return (uint64_t)words[1] << 32 | words[0];
}

// ---- plain codings

static void code_reference(const ph_pinhole_frame* frame, ph_coder* coder, uint32_t* words)
{
    const bool is_reading = coder->reader != NULL;
    const bool is_some = ph_coder_raw(coder, !is_reading && words[0] != 0 ? 1 : 0, 1) != 0;
    const uint64_t slot = is_reading || !is_some ? 0 : words[0] - 1;
    const uint64_t association = is_reading || !is_some ? 0 : words[1];
    if (!is_some) {
        words[0] = 0;
        words[1] = 0;
        return;
    }
    const uint32_t told_slot = (uint32_t)ph_coder_raw(coder, slot, frame->frame.slot_bits);
    const uint32_t told_association =
        (uint32_t)ph_coder_raw(coder, association, PH_CLASSIC_ASSOCIATION_BITS);
    if (is_reading) {
        words[0] = told_slot + 1;
        words[1] = told_association;
    }
}

static void read_plain(ph_coder* coder, const ph_pinhole_record* coded, const ph_layout* layout,
                       int property)
{
    const ph_property* described = &layout->described->properties[property];
    ph_bit_reader* reader = &coder->reader->raw;
    uint32_t* words = coded->record.words + layout->word[property];
    if (!described->is_text) {
        ph_property_read(described, reader, words, NULL, NULL);
        return;
    }
    uint8_t* bytes = coded->record.texts + layout->text[property] + sizeof(uint16_t);
    ph_text text = {.bytes = bytes};
    ph_property_read(described, reader, words, bytes, &text.length);
    ph_layout_store_text(layout, coded->record.texts, property, text);
}

static int plain_bits(const ph_pinhole_record* coded, const ph_layout* layout, int property)
{
    const ph_property* described = &layout->described->properties[property];
    const ph_text text =
        described->is_text ? ph_layout_text(layout, coded->record.texts, property) : (ph_text){0};
    return ph_property_cost_bits(described, coded->record.words + layout->word[property], text);
}

static void write_plain(ph_coder* coder, const ph_pinhole_record* coded, const ph_layout* layout,
                        int property)
{
    const ph_property* described = &layout->described->properties[property];
    coder->cost256 += (uint32_t)plain_bits(coded, layout, property) * PH_COST_PER_BIT;
    if (!ph_coder_has_buffer(coder)) {
        return;
    }
    uint8_t bytes[PH_PAYLOAD_MAX];
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    const ph_text text =
        described->is_text ? ph_layout_text(layout, coded->record.texts, property) : (ph_text){0};
    ph_property_write(described, &writer, coded->record.words + layout->word[property], text);
    ph_symbol_buffer_append(&coder->symbols, &writer);
}

static uint32_t alternatives_of(const ph_property* property)
{
    return (uint32_t)((uint64_t)property->integer.hi - (uint64_t)property->integer.lo) + 1;
}

static void code_absolute(const ph_pinhole_frame* frame, ph_coder* coder,
                          const ph_pinhole_record* coded, const ph_layout* layout, int property)
{
    const ph_property* described = &layout->described->properties[property];
    uint32_t* words = coded->record.words + layout->word[property];
    const bool is_reading = coder->reader != NULL;
    if (described->def.is_arithmetic) {
        words[0] = ph_coder_uniform(coder, is_reading ? 0 : words[0], alternatives_of(described));
    } else if (described->def.coding == PH_CODING_ENTITY) {
        code_reference(frame, coder, words);
    } else if (is_reading) {
        read_plain(coder, coded, layout, property);
    } else {
        write_plain(coder, coded, layout, property);
    }
}

// ---- numbers

// A number, as a difference to the one that it is coded relative to.
typedef struct known_difference {
    uint64_t known;
    int64_t value;
    int length; // in bits, of its magnitude
    ph_pinhole_family family;
    int model; // by the width of the range
    int own;   // where the model of the property begins that its schema has learned; 0: none
    bool is_wrapping;
    uint64_t top; // the greatest value
} known_difference;

static int width_class(uint64_t top)
{
    const int width = ph_width_of(top);
    return width <= 4 ? 0 : width <= 8 ? 1 : width <= 16 ? 2 : 3;
}

static uint32_t length_cost256(const ph_coder* coder, const known_difference* it, int symbol)
{
    return it->own != 0 && !coder->is_universal
               ? coder->costs[it->own + symbol]
               : ph_coder_symbol_cost256(coder, it->family, it->model, symbol);
}

static int code_length(ph_coder* coder, const known_difference* it, int symbol)
{
    return it->own != 0 && !coder->is_universal
               ? ph_coder_own_symbol(coder, it->own, PH_NUMBER_SYMBOLS, symbol)
               : ph_coder_symbol(coder, it->family, it->model, symbol);
}

static known_difference make_difference(const ph_property* property, uint64_t known)
{
    const uint64_t top = ph_property_top(property, 0);
    return (known_difference){.known = known,
                              .family = PH_FAMILY_NUMBER,
                              .model = width_class(top),
                              .is_wrapping = property->def.coding == PH_CODING_ANGLE,
                              .top = top};
}

static void set_difference(known_difference* it, uint64_t value)
{
    it->value = (int64_t)(value - it->known);
    if (it->is_wrapping) {
        const uint64_t up = (value - it->known) & it->top;
        it->value = up <= it->top / 2 ? (int64_t)up : (int64_t)up - (int64_t)it->top - 1;
    }
    it->length = ph_width_of(it->value < 0 ? 0 - (uint64_t)it->value : (uint64_t)it->value);
}

// Both ends decide alike, from the value itself.
static bool is_absolute_cheaper(const ph_coder* coder, const known_difference* it,
                                const ph_pinhole_record* coded, const ph_layout* layout,
                                int property)
{
    if (it->length > DIFFERENCE_LENGTH_MAX) {
        return true;
    }
    const ph_property* described = &layout->described->properties[property];
    const uint32_t absolute256 =
        described->def.is_arithmetic
            ? ph_uniform_cost(alternatives_of(described))
            : (uint32_t)plain_bits(coded, layout, property) * PH_COST_PER_BIT;
    const uint32_t difference256 =
        length_cost256(coder, it, it->length) + (uint32_t)it->length * PH_COST_PER_BIT;
    return length_cost256(coder, it, ABSOLUTE) + absolute256 < difference256;
}

// What a reader has of a difference.
static uint64_t add_difference(ph_coder* coder, const known_difference* it, uint64_t magnitude,
                               bool is_negative)
{
    uint64_t value = is_negative ? it->known - magnitude : it->known + magnitude;
    if (it->is_wrapping) {
        const bool is_longer_turn = magnitude > it->top / 2 + (is_negative ? 1 : 0);
        ph_coder_refuse_if(coder, is_longer_turn);
        value &= it->top;
    }
    ph_coder_refuse_if(coder, value > it->top);
    return value <= it->top ? value : 0;
}

static uint64_t number_of(const ph_property* property, const uint32_t* words)
{
    return property->words > 1 ? (uint64_t)words[1] << 32 | words[0] : words[0];
}

// A difference by its length or, where that is cheaper, absolute.
static void code_number(const ph_pinhole_frame* frame, ph_coder* coder,
                        const ph_pinhole_record* coded, const ph_layout* layout, int property,
                        known_difference* it)
{
    const bool is_reading = coder->reader != NULL;
    const ph_property* described = &layout->described->properties[property];
    uint32_t* words = coded->record.words + layout->word[property];
    int symbol = 0;
    if (!is_reading) {
        set_difference(it, number_of(described, words));
        symbol = is_absolute_cheaper(coder, it, coded, layout, property) ? ABSOLUTE : it->length;
    }
    symbol = code_length(coder, it, symbol);
    if (symbol == ABSOLUTE) {
        code_absolute(frame, coder, coded, layout, property);
    } else {
        const uint64_t magnitude =
            ph_coder_below_length(coder, symbol, ph_coder_magnitude_of(it->value));
        const bool is_negative =
            magnitude != 0 && ph_coder_raw(coder, it->value < 0 ? 1 : 0, 1) != 0;
        if (is_reading) {
            const uint64_t value = add_difference(coder, it, magnitude, is_negative);
            words[0] = (uint32_t)value;
            if (described->words > 1) {
                words[1] = (uint32_t)(value >> 32);
            }
        }
    }
    if (is_reading) {
        set_difference(it, number_of(described, words));
        const bool is_absolute = is_absolute_cheaper(coder, it, coded, layout, property);
        ph_coder_refuse_if(coder, is_absolute != (symbol == ABSOLUTE));
    }
}

// One of two values: nearly always the other one.
static void code_either(const ph_pinhole_frame* frame, ph_coder* coder,
                        const ph_pinhole_record* coded, const ph_layout* layout, int property)
{
    uint32_t* words = coded->record.words + layout->word[property];
    const uint32_t known = (uint32_t)load_known(frame, coded, property);
    const bool is_same = coder->reader == NULL && words[0] == known;
    words[0] = ph_coder_flag(coder, PH_FAMILY_SAME, 0, is_same) ? known : 1 - known;
}

static bool has_two_values(const ph_property* property)
{
    return property->def.coding == PH_CODING_BOOL ||
           (property->is_number && property->def.coding != PH_CODING_ANGLE &&
            ph_property_top(property, 0) == 1);
}

static bool is_ordered(const ph_property* property)
{
    return property->is_number && property->def.coding != PH_CODING_ENUM;
}

void ph_pinhole_value(const ph_pinhole_frame* frame, ph_coder* coder,
                      const ph_pinhole_record* coded, const ph_layout* layout, int property)
{
    const ph_property* described = &layout->described->properties[property];
    const bool is_known = has_known(frame, coded, property);
    if (is_known && has_two_values(described)) {
        code_either(frame, coder, coded, layout, property);
    } else if (is_known && is_ordered(described)) {
        known_difference it = make_difference(described, load_known(frame, coded, property));
        if ((layout->own_numbers >> property & 1) != 0) {
            it.own = ph_learned_number_entry(layout->first_property + property);
        }
        code_number(frame, coder, coded, layout, property, &it);
    } else {
        code_absolute(frame, coder, coded, layout, property);
    }
    if (coded->record.kind == PH_RECORD_ENTER && coder->reader != NULL) {
        ph_coder_refuse_if(coder, ph_layout_is_initial(layout, coded->record.words,
                                                       coded->record.texts, property));
    }
}

// ---- others, beside another enter

// What differed between the two before is likely to differ again.
static int history_of(const ph_pinhole_neighbour* before, uint64_t properties)
{
    return !before->is_beside ? 0 : (before->differing & properties) == 0 ? 1 : 2;
}

// Of texts and references there is no other one to compare with: as if that were initial.
static bool is_compared(const ph_layout* layout, int property)
{
    return ((layout->texts | layout->references) >> property & 1) == 0;
}

static const uint32_t* words_beside(const ph_layout* layout, const ph_pinhole_neighbour* before,
                                    int property)
{
    return is_compared(layout, property) && (before->properties >> property & 1) != 0
               ? before->words + layout->word[property]
               : layout->described->properties[property].initial;
}

static bool is_as_beside(const ph_layout* layout, const ph_pinhole_neighbour* before,
                         const ph_record* record, int property)
{
    const ph_property* described = &layout->described->properties[property];
    const bool is_told = (record->properties >> property & 1) != 0;
    if (!is_compared(layout, property)) {
        return !is_told;
    }
    const uint32_t* words = is_told ? record->words + layout->word[property] : described->initial;
    return memcmp(words, words_beside(layout, before, property),
                  (size_t)described->words * sizeof words[0]) == 0;
}

uint64_t ph_pinhole_differing(const ph_layout* layout, const ph_pinhole_neighbour* before,
                              const ph_record* record)
{
    uint64_t differing = 0;
    for (uint64_t left = layout->others; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const uint64_t bit = UINT64_C(1) << property;
        differing |= is_as_beside(layout, before, record, property) ? 0 : bit;
    }
    return differing;
}

static void copy_beside(const ph_pinhole_record* coded, const ph_layout* layout, int property)
{
    if (is_compared(layout, property)) {
        uint32_t* words = coded->record.words + layout->word[property];
        memcpy(words, words_beside(layout, coded->before, property),
               (size_t)layout->described->properties[property].words * sizeof words[0]);
    }
}

// What a record does not tell is initial, but need not be there.
static void fill_untold(const ph_pinhole_record* coded, const ph_layout* layout)
{
    const uint64_t untold = layout->others & ~coded->record.properties;
    for (uint64_t left = untold & ~layout->texts; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const ph_property* described = &layout->described->properties[property];
        memcpy(coded->record.words + layout->word[property], described->initial,
               (size_t)described->words * sizeof described->initial[0]);
    }
}

static void refuse_unless_different(ph_coder* coder, const ph_pinhole_record* coded,
                                    const ph_layout* layout, int property)
{
    const ph_record* record = &coded->record;
    if (coder->reader != NULL) {
        const ph_property* described = &layout->described->properties[property];
        const bool is_same =
            is_compared(layout, property)
                ? memcmp(record->words + layout->word[property],
                         words_beside(layout, coded->before, property),
                         (size_t)described->words * sizeof record->words[0]) == 0
                : ph_layout_is_initial(layout, record->words, record->texts, property);
        ph_coder_refuse_if(coder, is_same);
    }
}

// A number as a difference; of anything else whether it is the same, or else itself. @return Whether
// it is the same.
static bool code_value_beside(const ph_pinhole_frame* frame, ph_coder* coder,
                              const ph_pinhole_record* coded, const ph_layout* layout, int property,
                              bool is_same)
{
    const ph_pinhole_neighbour* before = coded->before;
    const ph_property* described = &layout->described->properties[property];
    const uint32_t* beside = words_beside(layout, before, property);
    uint32_t* words = coded->record.words + layout->word[property];
    const int history = history_of(before, UINT64_C(1) << property);
    const bool is_number = is_compared(layout, property) && is_ordered(described);
    if (is_number && !has_two_values(described)) {
        known_difference it = make_difference(described, number_of(described, beside));
        it.family = PH_FAMILY_BESIDE_NUMBER;
        it.model = 3 * it.model + history;
        code_number(frame, coder, coded, layout, property, &it);
        return it.length == 0;
    }
    if (ph_coder_flag(coder, PH_FAMILY_BESIDE_SAME, history, is_same)) {
        copy_beside(coded, layout, property);
        return true;
    }
    if (is_compared(layout, property) && has_two_values(described)) {
        words[0] = 1 - beside[0];
        return false;
    }
    code_absolute(frame, coder, coded, layout, property);
    refuse_unless_different(coder, coded, layout, property);
    return false;
}

// Each may be initial, which is not told then.
static uint64_t told_of(const ph_layout* layout, const ph_record* record, int property,
                        bool is_same)
{
    const bool is_told = is_compared(layout, property)
                             ? !ph_layout_is_initial(layout, record->words, record->texts, property)
                             : !is_same;
    return is_told ? UINT64_C(1) << property : 0;
}

// One after the other; not all are the same.
static uint64_t code_values_beside(const ph_pinhole_frame* frame, ph_coder* coder,
                                   const ph_pinhole_record* coded, const ph_layout* layout,
                                   uint64_t differing)
{
    ph_record record = coded->record;
    record.properties = 0;
    for (uint64_t left = layout->others; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const bool is_same = (differing >> property & 1) == 0;
        const bool is_still = code_value_beside(frame, coder, coded, layout, property, is_same);
        record.properties |= told_of(layout, &record, property, is_still);
        ph_coder_mark(coder, property);
    }
    return record.properties;
}

uint64_t ph_pinhole_others_beside(const ph_pinhole_frame* frame, ph_coder* coder,
                                  const ph_pinhole_record* coded, const ph_layout* layout)
{
    const ph_pinhole_neighbour* before = coded->before;
    const bool is_reading = coder->reader != NULL;
    const uint64_t given = is_reading ? 0 : ph_pinhole_differing(layout, before, &coded->record);
    const bool is_same = ph_coder_flag(coder, PH_FAMILY_BESIDE_OTHERS,
                                       history_of(before, layout->others), given == 0);
    ph_coder_mark(coder, PH_SYMBOL_BUFFER_MASK);
    if (is_same) {
        for (uint64_t left = before->properties & layout->others; left != 0; left &= left - 1) {
            copy_beside(coded, layout, ph_word_lowest_bit(left));
        }
        return before->properties & layout->others & ~(layout->texts | layout->references);
    }
    fill_untold(coded, layout);
    ph_record read = coded->record;
    read.properties = code_values_beside(frame, coder, coded, layout, given);
    ph_coder_refuse_if(coder, ph_pinhole_differing(layout, before, &read) == 0);
    return read.properties;
}

// ---- headings

// The shorter way from one level to another.
static int64_t turn_between(int width, uint32_t from_level, uint32_t to_level)
{
    const uint64_t top = UINT32_MAX >> (32 - width);
    const uint64_t up = (to_level - from_level) & top;
    return up <= top / 2 ? (int64_t)up : (int64_t)up - (int64_t)top - 1;
}

// The level that a turn leads to. The longer way round is what no sender writes.
static uint32_t turned_level(ph_coder* coder, int width, uint32_t from_level, int64_t turn)
{
    const uint32_t level = (from_level + (uint32_t)turn) & UINT32_MAX >> (32 - width);
    ph_coder_refuse_if(coder, turn_between(width, from_level, level) != turn);
    return level;
}

void ph_pinhole_heading(const ph_pinhole_frame* frame, ph_coder* coder,
                        const ph_pinhole_record* coded, const ph_layout* layout)
{
    const int property = layout->heading_property;
    if (!has_known(frame, coded, property)) {
        code_absolute(frame, coder, coded, layout, property);
        return;
    }
    const ph_baseline* baseline = coded->baseline;
    const ph_record* record = &coded->record;
    const bool has_displacement = (record->properties & layout->position) != 0 && !record->is_jump;
    const uint32_t* place = has_displacement ? record->words + layout->position_word : NULL;
    uint32_t from_level = (uint32_t)load_known(frame, coded, property);
    const uint64_t time_us =
        ph_baseline_time_us(baseline->heading_tick, frame->tick, frame->tick_us);
    ph_pinhole_family family = PH_FAMILY_HEADING_KEPT;
    int size = ph_size_stretched(baseline->heading_size, time_us, PH_GROWTH_HEADING);
    if (baseline->turned_size < size) {
        family = PH_FAMILY_HEADING_TURNED;
        size = baseline->turned_size;
        from_level = ph_baseline_turned(baseline, layout, from_level, place);
    }
    const int width = layout->described->properties[property].angle.width;
    uint32_t* level = record->words + layout->word[property];
    const int64_t given = coder->reader != NULL ? 0 : turn_between(width, from_level, *level);
    const int64_t turn = ph_coder_residual(coder, family, size, given);
    *level = turned_level(coder, width, from_level, turn);
}

enum { FIRST_INITIAL, FIRST_NEAR, FIRST_ANY };

static bool is_near(int width, uint32_t from_level, uint32_t level)
{
    if (width < FIRST_HEADING_PART_BITS) {
        return false;
    }
    const int64_t turn = turn_between(width, from_level, level);
    const int64_t part = INT64_C(1) << (width - FIRST_HEADING_PART_BITS);
    return turn >= -part && turn < part;
}

// The direction of a velocity, if it has one.
static bool try_direction(const ph_pinhole_record* coded, const ph_layout* layout, uint32_t* level)
{
    uint32_t words[3];
    const ph_baseline stands = {0};
    const int shift = layout->coordinate.shift;
    for (int i = 0; i < 3; ++i) {
        words[i] = (uint32_t)(FIRST_HEADING_FACTOR * coded->record.velocity[i]) << shift;
    }
    *level = ph_baseline_turned(&stands, layout, UINT32_MAX, words);
    return *level != UINT32_MAX;
}

uint32_t ph_pinhole_heading_of(const ph_layout* layout, const ph_record* record)
{
    if (layout->heading == 0) {
        return 0;
    }
    return (record->properties & layout->heading) != 0
               ? record->words[layout->word[layout->heading_property]]
               : layout->described->properties[layout->heading_property].initial[0];
}

void ph_pinhole_first_heading(ph_coder* coder, ph_pinhole_record* coded, const ph_layout* layout)
{
    const int property = layout->heading_property;
    const ph_property* described = &layout->described->properties[property];
    const int width = described->angle.width;
    uint32_t* level = coded->record.words + layout->word[property];
    uint32_t direction;
    const bool has_direction = try_direction(coded, layout, &direction);
    int symbol = FIRST_INITIAL;
    if (coder->reader == NULL && (coded->record.properties & layout->heading) != 0) {
        symbol = has_direction && is_near(width, direction, *level) ? FIRST_NEAR : FIRST_ANY;
    }
    symbol = ph_coder_symbol(coder, PH_FAMILY_ENTER_HEADING, has_direction ? 1 : 0, symbol);
    if (symbol == FIRST_INITIAL) {
        coded->record.properties &= ~layout->heading;
        return;
    }
    coded->record.properties |= layout->heading;
    if (symbol == FIRST_ANY) {
        *level = (uint32_t)ph_coder_raw(coder, coder->reader != NULL ? 0 : *level, width);
    } else {
        const int64_t given = coder->reader != NULL ? 0 : turn_between(width, direction, *level);
        const int64_t turn =
            ph_coder_residual(coder, PH_FAMILY_HEADING_TURNED, FIRST_HEADING_SIZE, given);
        *level = turned_level(coder, width, direction, turn);
    }
    const bool is_near_it = has_direction && is_near(width, direction, *level);
    ph_coder_refuse_if(coder,
                       (symbol == FIRST_NEAR) != is_near_it || *level == described->initial[0]);
}

void ph_pinhole_heading_beside(const ph_pinhole_frame* frame, ph_coder* coder,
                               ph_pinhole_record* coded, const ph_layout* layout)
{
    const int property = layout->heading_property;
    const ph_property* described = &layout->described->properties[property];
    const int width = described->angle.width;
    const uint32_t beside = coded->before->heading;
    const int64_t given =
        turn_between(width, beside, ph_pinhole_heading_of(layout, &coded->record));
    const int64_t turn =
        ph_coder_signed_length(coder, PH_FAMILY_BESIDE_HEADING, frame->spread.heading, given);
    const uint32_t level = turned_level(coder, width, beside, turn);
    coded->record.words[layout->word[property]] = level;
    coded->record.properties &= ~layout->heading;
    coded->record.properties |= level != described->initial[0] ? layout->heading : 0;
}
