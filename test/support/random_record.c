// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Random records. Values are drawn as words, straight from what each coding allows.

#include "random_record.h"

#include <math.h>
#include <string.h>

// Squares of 8 m: nothing, a floor, a floor and a bridge, or eight storeys.
static int layers_at(const void* context, int64_t x_mm, int64_t y_mm,
                     int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)context;
    static const int counts[] = {0, 1, 2, PH_GROUND_LAYERS_MAX};
    const uint32_t square = ((uint32_t)x_mm >> 13) * 7 + ((uint32_t)y_mm >> 13);
    const int count = counts[square % 4];
    for (int i = 0; i < count; ++i) {
        heights_mm[i] = -1500 + (int32_t)(square % 97) + 3100 * i;
    }
    return count;
}

ph_ground random_record_ground(void)
{
    return (ph_ground){.layers = layers_at};
}

static bool one_in(test_rng* rng, uint64_t count)
{
    return test_rng_below(rng, count) == 0;
}

// 0..top, every size of number about equally often, the ends too.
static uint64_t up_to(test_rng* rng, uint64_t top)
{
    uint64_t number = test_rng_next(rng);
    number >>= test_rng_below(rng, 64);
    return one_in(rng, 8) ? top : number <= top ? number : number % (top + 1);
}

static void draw_whole(const ph_property* property, test_rng* rng, uint32_t* words)
{
    const uint64_t above_lo =
        up_to(rng, (uint64_t)property->integer.hi - (uint64_t)property->integer.lo);
    words[0] = (uint32_t)above_lo;
    if (property->words > 1) {
        words[1] = (uint32_t)(above_lo >> 32);
    }
}

static void draw_quaternion(const ph_property* property, test_rng* rng, uint32_t* words)
{
    double value[4];
    double squares = 0.0;
    for (int i = 0; i < 4; ++i) {
        value[i] = 2.0 * test_rng_unit(rng) - 1.0 + (i == 3 ? 1.5 : 0.0);
        squares += value[i] * value[i];
    }
    for (int i = 0; i < 4; ++i) {
        value[i] /= sqrt(squares);
    }
    assert_int_equal(ph_property_quantise_field(property, PH_FIELD_F64X4, value, words), PH_OK);
}

static void draw_text(const ph_layout* layout, int property, test_rng* rng, uint8_t* texts)
{
    const ph_property_def* def = &layout->described->properties[property].def;
    uint8_t bytes[PH_TEXT_LENGTH_MAX];
    const uint16_t length = (uint16_t)up_to(rng, (uint64_t)def->max_length);
    for (int i = 0; i < length; ++i) {
        const uint64_t any = test_rng_next(rng);
        bytes[i] = (uint8_t)(def->coding == PH_CODING_BYTES ? any : 1 + any % 127);
    }
    ph_layout_store_text(layout, texts, property, (ph_text){.bytes = bytes, .length = length});
}

// Near the eye, near the edge of its window, anywhere.
static void draw_position(const ph_frame* frame, const ph_layout* layout, test_rng* rng,
                          uint32_t words[3])
{
    const ph_coordinate* coding =
        &layout->described->properties[layout->described->position].coordinate;
    const uint32_t half = UINT32_C(1) << (coding->shift + coding->width - 1);
    const uint64_t place = test_rng_below(rng, 8);
    int32_t position_mm[3];
    for (int i = 0; i < 3; ++i) {
        const uint32_t eye = (uint32_t)frame->eye_mm[i];
        const uint32_t near_half = (uint32_t)test_rng_below(rng, half);
        const uint32_t edge = half - 40 + (uint32_t)test_rng_below(rng, 80);
        const uint32_t away = place == 0   ? edge
                              : place == 1 ? (uint32_t)test_rng_next(rng)
                                           : near_half;
        position_mm[i] = (int32_t)(one_in(rng, 2) ? eye + away : eye - away);
    }
    if (one_in(rng, 2)) {
        position_mm[2] = -2000 + (int32_t)test_rng_below(rng, 30000);
    }
    ph_layout_round_position(layout, frame->ground, position_mm, words);
}

static void draw_reference(const ph_frame* frame, test_rng* rng, uint32_t* words)
{
    words[0] = (uint32_t)test_rng_below(rng, (UINT64_C(1) << frame->slot_bits) + 1);
    words[1] = words[0] == 0 ? 0 : (uint32_t)test_rng_next(rng);
}

void random_value_make(const ph_frame* frame, const ph_layout* layout, int property, test_rng* rng,
                       uint32_t* words, uint8_t* texts)
{
    const ph_property* described = &layout->described->properties[property];
    uint32_t* out = words + layout->word[property];
    if (described->def.coding != PH_CODING_POSITION && one_in(rng, 3)) {
        memcpy(out, described->initial, (size_t)described->words * sizeof out[0]);
        if (described->is_text) {
            ph_layout_store_text(layout, texts, property, (ph_text){0});
        }
        return;
    }
    switch (described->def.coding) {
    case PH_CODING_FIXED:
    case PH_CODING_VEC3:
        for (int i = 0; i < described->words; ++i) {
            out[i] = (uint32_t)up_to(rng, described->fixed[i].top_level);
        }
        return;
    case PH_CODING_ANGLE:
        out[0] = (uint32_t)up_to(rng, UINT32_MAX >> (32 - described->angle.width));
        return;
    case PH_CODING_QUATERNION:
        draw_quaternion(described, rng, out);
        return;
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        out[0] = 0;
        draw_text(layout, property, rng, texts);
        return;
    case PH_CODING_ENTITY:
        draw_reference(frame, rng, out);
        return;
    case PH_CODING_POSITION:
        draw_position(frame, layout, rng, out);
        return;
    default:
        draw_whole(described, rng, out);
        return;
    }
}

// What an enter tells: the position, and all that is not at its initial value.
static uint64_t told(const random_record* made, const ph_layout* layout)
{
    uint64_t properties = layout->position;
    for (int i = 0; i < layout->described->def.property_count; ++i) {
        if (!ph_layout_is_initial(layout, made->words, made->texts, i)) {
            properties |= UINT64_C(1) << i;
        }
    }
    return properties;
}

void random_record_make(random_record* made, const ph_frame* frame, test_rng* rng)
{
    const int class_index = (int)test_rng_below(rng, (uint64_t)frame->layouts->count);
    const ph_layout* layout = &frame->layouts->layouts[class_index];
    assert_in_range(layout->text_bytes, 0, RANDOM_TEXTS_MAX);
    ph_layout_reset(layout, made->words, made->texts);
    for (int i = 0; i < layout->described->def.property_count; ++i) {
        random_value_make(frame, layout, i, rng, made->words, made->texts);
    }
    ph_record* record = &made->record;
    *record = (ph_record){.class_index = (uint8_t)class_index,
                          .words = made->words,
                          .texts = layout->text_bytes > 0 ? made->texts : NULL};
    // One draw a statement: compilers choose the order within one.
    record->kind = (uint8_t)test_rng_below(rng, 3);
    record->slot = (uint16_t)test_rng_below(rng, UINT64_C(1) << frame->slot_bits);
    record->association = (uint32_t)test_rng_next(rng);
    if (record->kind == PH_RECORD_ENTER) {
        record->key = up_to(rng, UINT64_MAX);
        record->properties = told(made, layout);
        record->is_jump = one_in(rng, 4);
    } else if (record->kind == PH_RECORD_UPDATE) {
        record->properties = test_rng_next(rng) & layout->all;
        if (one_in(rng, 3)) {
            record->properties |= layout->position;
        }
        if (record->properties == 0 || one_in(rng, 8)) {
            record->properties = layout->position;
        }
        record->is_jump = (record->properties & layout->position) != 0 && one_in(rng, 4);
    }
}

ph_frame random_frame_make(const ph_layouts* layouts, const ph_ground* ground, test_rng* rng)
{
    ph_frame frame = {.layouts = layouts,
                      .ground = ground,
                      .slot_bits = PH_CLASSIC_SLOT_BITS_MIN + (int)test_rng_below(rng, 9)};
    for (int i = 0; i < 3; ++i) {
        frame.eye_mm[i] = (int32_t)(uint32_t)up_to(rng, UINT32_MAX);
    }
    return frame;
}

void random_stage_make(random_stage* stage, test_rng* rng)
{
    random_schema_fill(&stage->tables, rng);
    const random_schema* tables = &stage->tables;
    ph_error error;
    if (ph_schema_create(tables->classes, tables->class_count, NULL, &stage->schema, &error) !=
        PH_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(ph_layouts_create(&stage->layouts, stage->schema, NULL), PH_OK);
    ph_layouts_forget_finest(&stage->layouts); // records of the classic profile
    stage->ground = random_record_ground();
    stage->frame = random_frame_make(&stage->layouts, &stage->ground, rng);
}

void random_stage_destroy(random_stage* stage)
{
    ph_layouts_destroy(&stage->layouts);
    ph_schema_destroy(stage->schema);
}

void random_stage_each(random_stage* stage, int stages, int frames, test_rng* rng,
                       random_stage_check* check, void* context)
{
    for (int i = 0; i < stages; ++i) {
        random_stage_make(stage, rng);
        for (int k = 0; k < frames; ++k) {
            stage->frame = random_frame_make(&stage->layouts, &stage->ground, rng);
            check(context, rng);
        }
        random_stage_destroy(stage);
    }
}
