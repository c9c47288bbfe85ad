// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Records of the pinhole profile: who, which properties, and what. Each step is one function for
// cost, tape and reader (coder.h); the three entrances differ in the coder that they make.

#include "wire/coded.h"

#include "base/bitset.h"
#include "wire/coded_header.h"
#include "wire/coded_position.h"
#include "wire/coded_values.h"
#include "wire/coded_velocity.h"
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
    int count;
    ph_coded_family family;
} mask_set;

static inline mask_set masks_of(const ph_layout* layout)
{
    const bool has_heading = layout->heading != 0;
    const bool has_others = layout->others != 0;
    if (has_heading && has_others) {
        return (mask_set){MASKS_ALL, sizeof MASKS_ALL, PH_FAMILY_MASK_ALL};
    }
    if (has_heading) {
        return (mask_set){MASKS_HEADING, sizeof MASKS_HEADING, PH_FAMILY_MASK_HEADING};
    }
    return has_others ? (mask_set){MASKS_OTHERS, sizeof MASKS_OTHERS, PH_FAMILY_MASK_OTHERS}
                      : (mask_set){MASKS_PLACE, sizeof MASKS_PLACE, PH_FAMILY_MASK_PLACE};
}

// What the newest record was like, by its mask, and whether it moves.
PH_ALWAYS_INLINE int mask_model(const ph_baseline* baseline, ph_baseline_moves moves)
{
    static const uint8_t kinds[] = {0, 1, 2, 2, 3, 3, 3, 3, 1, 1, 2, 2, 3, 3, 3, 3};
    _Static_assert(PH_TOLD_POSITION == 1 && PH_TOLD_HEADING == 2 && PH_TOLD_OTHERS == 4 &&
                       PH_TOLD_JUMP == 8,
                   "entered; place; heading; others");
    return 2 * kinds[baseline->told_mask] + (ph_baseline_is_moving(moves) ? 1 : 0);
}

PH_ALWAYS_INLINE int code_mask(ph_coder* coder, const ph_layout* layout, int model, int mask)
{
    const mask_set set = masks_of(layout);
    int symbol = 0; // a position alone, whatever the class
    while (!ph_coder_is_reading(coder) && mask != PH_TOLD_POSITION && set.masks[symbol] != mask) {
        ++symbol;
        PH_ASSERT(symbol < set.count);
    }
    const int told = ph_coder_symbol_of(coder, set.family, set.count, model, symbol);
    return ph_coder_is_reading(coder) ? set.masks[told] : mask;
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

// What is rarer than a position where motion led to.
static void code_update_rest(const ph_coded_frame* frame, ph_coder* coder,
                             const ph_coded_record* coded, const ph_layout* layout, int mask,
                             uint64_t others)
{
    if ((mask & PH_TOLD_JUMP) != 0) {
        ph_coded_place(frame, coder, layout, coded->record.words + layout->position_word);
        ph_coder_mark(coder, layout->position_property);
    }
    if ((mask & PH_TOLD_HEADING) != 0) {
        ph_coded_heading(frame, coder, coded, layout);
        ph_coder_mark(coder, layout->heading_property);
    }
    code_values(frame, coder, coded, layout, others);
}

// given: what the record tells, unless that is read.
PH_ALWAYS_INLINE void code_update(const ph_coded_frame* frame, ph_coder* coder,
                                  ph_coded_record* coded, const ph_layout* layout, int given)
{
    ph_record* record = &coded->record;
    const ph_baseline_moves moves = ph_baseline_moves_of(coded->baseline);
    const int mask = code_mask(coder, layout, mask_model(coded->baseline, moves), given);
    uint64_t others = 0;
    if (PH_UNLIKELY((mask & PH_TOLD_OTHERS) != 0)) {
        ph_coder copy = ph_coder_copy(coder);
        others = code_others(&copy, layout, record);
        ph_coder_take(coder, &copy);
    }
    if (ph_coder_is_reading(coder)) {
        record->is_jump = (mask & PH_TOLD_JUMP) != 0;
        record->properties = others | ((mask & PH_TOLD_POSITION) != 0 ? layout->position : 0) |
                             ((mask & PH_TOLD_HEADING) != 0 ? layout->heading : 0);
    }
    ph_coder_mark(coder, PH_TAPE_MASK);
    if ((mask & (PH_TOLD_POSITION | PH_TOLD_JUMP)) == PH_TOLD_POSITION) {
        ph_coded_position(frame, coder, coded, layout, moves);
        ph_coder_mark(coder, layout->position_property);
    }
    if ((mask & (PH_TOLD_JUMP | PH_TOLD_HEADING | PH_TOLD_OTHERS)) != 0) {
        ph_coder copy = ph_coder_copy(coder);
        code_update_rest(frame, &copy, coded, layout, mask, others);
        ph_coder_take(coder, &copy);
    }
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

static bool is_beside(const ph_coded_record* coded)
{
    return coded->before != NULL && coded->before->class_index == coded->record.class_index;
}

// By itself: its motion says where it is headed.
static uint64_t code_enter_alone(const ph_coded_frame* frame, ph_coder* coder,
                                 ph_coded_record* coded, const ph_layout* layout)
{
    ph_coded_first_velocity(coder, coded);
    ph_coder_mark(coder, layout->position_property);
    if (layout->heading != 0) {
        ph_coded_first_heading(coder, coded, layout);
        ph_coder_mark(coder, layout->heading_property);
    }
    const uint64_t others = code_enter_flags(coder, layout, &coded->record);
    ph_coder_mark(coder, PH_TAPE_MASK);
    code_values(frame, coder, coded, layout, others);
    return others;
}

// From another one of its class: where it is headed says how it moves.
static uint64_t code_enter_beside(const ph_coded_frame* frame, ph_coder* coder,
                                  ph_coded_record* coded, const ph_layout* layout)
{
    ph_coder_mark(coder, layout->position_property);
    if (layout->heading != 0) {
        ph_coded_heading_beside(frame, coder, coded, layout);
        ph_coder_mark(coder, layout->heading_property);
    }
    ph_coded_velocity_beside(frame, coder, coded, layout);
    ph_coder_mark(coder, layout->position_property);
    return layout->others != 0 ? ph_coded_others_beside(frame, coder, coded, layout) : 0;
}

static void code_enter(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded)
{
    ph_record* record = &coded->record;
    const ph_layout* layout = layout_of(frame, record);
    uint32_t* words = record->words + layout->position_word;
    if (coded->before != NULL) {
        ph_coded_place_beside(frame, coder, coded, layout, words);
    } else {
        ph_coded_place(frame, coder, layout, words);
    }
    record->is_jump = ph_coder_flag(coder, PH_FAMILY_ENTER_JUMP, 0, record->is_jump);
    const uint64_t others = is_beside(coded) ? code_enter_beside(frame, coder, coded, layout)
                                             : code_enter_alone(frame, coder, coded, layout);
    record->properties = (record->properties & layout->heading) | layout->position | others;
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

// By any coder.
static void code_any_update(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded)
{
    const ph_layout* layout = layout_of(frame, &coded->record);
    const int mask = ph_coder_is_reading(coder) ? 0 : (int)ph_baseline_mask(layout, &coded->record);
    code_update(frame, coder, coded, layout, mask);
}

static void code_record(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded)
{
    check(frame, coded);
    if (coded->record.kind == PH_RECORD_UPDATE) {
        code_any_update(frame, coder, coded);
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

static uint32_t tape_any(const ph_coded_frame* frame, ph_coded_record* coded, ph_tape* tape)
{
    ph_coder coder = ph_coder_make_tape(tape, frame->is_universal);
    code_record(frame, &coder, coded);
    ph_coder_end_tape(&coder, tape);
    return coder.cost256;
}

// With models.
PH_ALWAYS_INLINE uint32_t tape_update(const ph_coded_frame* frame, ph_coded_record* coded,
                                      const ph_layout* layout, ph_coder coder, ph_tape* tape,
                                      int mask)
{
    code_update(frame, &coder, coded, layout, mask);
    ph_coder_end_tape(&coder, tape);
    return coder.cost256;
}

PH_OUT_OF_LINE static uint32_t tape_more(const ph_coded_frame* frame, ph_coded_record* coded,
                                         ph_tape* tape)
{
    const ph_layout* layout = layout_of(frame, &coded->record);
    const int mask = ph_baseline_mask(layout, &coded->record);
    return tape_update(frame, coded, layout, ph_coder_make_tape(tape, false), tape, mask);
}

// More than a position takes: a mask, a flag, three symbols, their raw bits, two marks and the end.
#define POSITION_TOKENS 32

uint32_t ph_coded_tape(const ph_coded_frame* frame, const ph_layout* layout, ph_coded_record* coded,
                       ph_tape* tape)
{
    PH_ASSERT(coded->record.kind == PH_RECORD_UPDATE);
    PH_ASSERT(layout == layout_of(frame, &coded->record));

    check(frame, coded);
    if (PH_UNLIKELY(frame->is_universal)) {
        return tape_any(frame, coded, tape);
    }
    const ph_record* record = &coded->record;
    if (record->properties != layout->position || record->is_jump ||
        !ph_tape_has_room(tape, POSITION_TOKENS)) {
        return tape_more(frame, coded, tape);
    }
    // A position alone, which is what most updates tell: all of that is known to the compiler.
    ph_coder coder = ph_coder_make_tape(tape, false);
    coder.tape.is_roomy = true;
    coder.tape.is_full = false;
    return tape_update(frame, coded, layout, coder, tape, PH_TOLD_POSITION);
}

uint32_t ph_coded_write(const ph_coded_frame* frame, ph_entropy_writer* writer,
                        const ph_coded_record* coded)
{
    uint32_t tokens[PH_TAPE_RECORD_MAX];
    ph_tape tape = ph_tape_make(tokens, PH_TAPE_RECORD_MAX);
    ph_coded_record copy = *coded;
    const uint32_t cost256 = tape_any(frame, &copy, &tape);
    PH_ASSERT(!tape.is_full);
    ph_entropy_run run = ph_entropy_run_begin(writer);
    ph_raw_bits raw = {0};
    ph_tape_play(tokens, &run, &raw, NULL);
    ph_raw_bits_flush(&raw, &run);
    ph_entropy_run_end(&run);
    if (frame->counts != NULL) {
        ph_tape_count(tokens, frame->counts);
    }
    return cost256;
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
        code_any_update(frame, &coder, coded);
    } else {
        code_enter(frame, &coder, coded);
    }
}
