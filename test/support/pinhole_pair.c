// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Random packets of the pinhole profile, there and back.

#include "pinhole_pair.h"
#include "packet/pinhole_records.h"

#include <string.h>

#define COUNT_BITS 8

static bool one_in(test_rng* rng, uint64_t count)
{
    return test_rng_below(rng, count) == 0;
}

void pinhole_pair_setup(pinhole_pair* pair, test_rng* rng)
{
    random_schema_fill(&pair->tables, rng);
    ph_error error;
    if (ph_schema_create(pair->tables.classes, pair->tables.class_count, NULL, &pair->schema,
                         &error) != PH_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(ph_layouts_create(&pair->layouts, pair->schema, NULL), PH_OK);
    for (int i = 0; i < pair->layouts.count; ++i) {
        pair->packings[i] = ph_packing_make(&pair->layouts.layouts[i]);
    }
    pair->ground = random_record_ground();
    const uint32_t tick_us = 1000 + (uint32_t)test_rng_below(rng, 200000);
    pair->rules = (ph_baseline_rules){
        .layouts = &pair->layouts, .packings = pair->packings, .tick_us = tick_us};
    // One draw a statement: compilers choose the order within one.
    const ph_frame frame = random_frame_make(&pair->layouts, &pair->ground, rng);
    const uint32_t tick = (uint32_t)test_rng_next(rng);
    pair->frame = (ph_pinhole_frame){
        .frame = frame, .packings = pair->packings, .tick = tick, .tick_us = tick_us};
}

void pinhole_pair_teardown(pinhole_pair* pair)
{
    ph_layouts_destroy(&pair->layouts);
    ph_schema_destroy(pair->schema);
}

void pinhole_pair_next(pinhole_pair* pair, test_rng* rng)
{
    ph_pinhole_frame* frame = &pair->frame;
    frame->tick += (uint32_t)test_rng_below(rng, UINT64_C(1) << test_rng_below(rng, 10));
    frame->density = 1 + (int)test_rng_below(rng, PH_DENSITIES - 1);
    frame->precision = one_in(rng, 2) ? 0 : (uint32_t)test_rng_below(rng, 65536);
    frame->step = (int)test_rng_below(rng, PH_STEPS);
    if (one_in(rng, 4)) {
        frame->frame = random_frame_make(&pair->layouts, &pair->ground, rng);
    }
}

// ---- filling

// Where it is expected, a little off, or far away.
static void draw_position(const pinhole_pair* pair, const ph_baseline* baseline,
                          const ph_layout* layout, test_rng* rng, uint32_t* words)
{
    int32_t position_mm[3];
    ph_baseline_predict(baseline, pair->frame.tick, pair->frame.tick_us, position_mm);
    const uint64_t spread = UINT64_C(1) << (1 + test_rng_below(rng, one_in(rng, 8) ? 32 : 12));
    for (int i = 0; i < 3; ++i) {
        const uint32_t off = (uint32_t)(test_rng_below(rng, spread) - spread / 2);
        position_mm[i] = (int32_t)((uint32_t)position_mm[i] + off);
    }
    ph_layout_round_position(layout, &pair->ground, position_mm, words);
}

// Where it is expected, a little off; and as coarse as it happens.
static void draw_orientation(const pinhole_pair* pair, const ph_layout* layout,
                             ph_pinhole_record* coded, test_rng* rng)
{
    const int width = layout->orientation_bits;
    uint32_t* words = coded->record.words + layout->word[layout->orientation_property];
    if (!one_in(rng, 4)) {
        ph_turning_forecast forecast;
        ph_turning_predict(coded->known, &pair->rules, coded->record.class_index, pair->frame.tick,
                           &forecast);
        uint8_t order[4];
        ph_rotation_order(&forecast.rotation, order);
        int32_t rest[3];
        ph_rotation_chart(width, &forecast.rotation, order[0], rest);
        const int32_t top = (1 << (width - 1)) - 1;
        const uint64_t spread = UINT64_C(1) << test_rng_below(rng, 8);
        ph_quaternion_levels levels = {.largest = order[0]};
        for (int i = 0; i < 3; ++i) {
            const int32_t level =
                rest[i] + (int32_t)(test_rng_below(rng, spread) - (uint32_t)spread / 2);
            levels.rest[i] = (int16_t)(level < -top ? -top : level > top ? top : level);
        }
        if (ph_quaternion_is_valid(width, levels)) {
            ph_rotation_words_of_levels(width, levels, words);
        }
    }
    const int coarse = one_in(rng, 2) ? (int)test_rng_below(rng, PH_ROTATION_COARSE_MAX + 1) : 0;
    coded->rotation_coarse = (uint8_t)ph_pinhole_round_orientation(layout, &coded->record, coarse);
}

static void fill_update(pinhole_pair* pair, const pinhole_end* end, ph_pinhole_record* coded,
                        test_rng* rng)
{
    ph_record* record = &coded->record;
    const ph_baseline* baseline = &end->baselines[record->slot];
    const ph_layout* layout = &pair->layouts.layouts[baseline->class_index];
    coded->baseline = baseline;
    coded->known = end->known[record->slot];
    record->properties = test_rng_next(rng) & test_rng_next(rng) & layout->all;
    if (record->properties == 0 || one_in(rng, 2)) {
        record->properties |= layout->position;
    }
    const bool has_position = (record->properties & layout->position) != 0;
    record->is_jump = has_position && one_in(rng, 8);
    if ((record->properties & layout->orientation) != 0) {
        draw_orientation(pair, layout, coded, rng);
    }
    uint32_t* words = record->words + layout->word[layout->described->position];
    if (record->is_jump) {
        assert_true(ph_pinhole_round(&pair->frame, layout, layout->finer, words));
    }
    if (!has_position || record->is_jump) {
        return;
    }
    if (!one_in(rng, 4)) {
        draw_position(pair, baseline, layout, rng, words);
    }
    const int coarse = ph_pinhole_coarse(&pair->frame, baseline);
    uint32_t rounded[3];
    memcpy(rounded, words, sizeof rounded);
    if (coarse > 0 && one_in(rng, 2) && ph_pinhole_round(&pair->frame, layout, coarse, rounded)) {
        memcpy(words, rounded, sizeof rounded);
        coded->coarse = (uint8_t)coarse;
    } else {
        coded->coarse = (uint8_t)test_rng_below(rng, (uint64_t)layout->finer + 1);
        assert_true(ph_pinhole_round(&pair->frame, layout, coded->coarse, words));
    }
}

// Of some values, or of all, what the one before has.
static void copy_before(const ph_layout* layout, const ph_pinhole_record* coded, test_rng* rng)
{
    const ph_pinhole_neighbour* other = coded->before;
    if (other == NULL || other->class_index != coded->record.class_index || one_in(rng, 3)) {
        return;
    }
    const bool is_copy = one_in(rng, 3);
    for (int i = 0; i < layout->described->def.property_count; ++i) {
        const ph_property* described = &layout->described->properties[i];
        const bool is_kept = ((layout->position | layout->references) >> i & 1) != 0;
        if (described->is_text && is_copy) {
            ph_layout_store_text(layout, coded->record.texts, i, (ph_text){0});
        } else if (!described->is_text && !is_kept && (is_copy || one_in(rng, 2))) {
            memcpy(coded->record.words + layout->word[i], other->words + layout->word[i],
                   (size_t)described->words * sizeof(uint32_t));
        }
    }
}

static void draw_enter_rotation(const ph_layout* layout, ph_pinhole_record* coded, test_rng* rng)
{
    const int coarse = one_in(rng, 2) ? (int)test_rng_below(rng, PH_ROTATION_COARSE_MAX + 1) : 0;
    (void)ph_pinhole_round_orientation(layout, &coded->record, coarse);
    coded->rotation_coarse = (uint8_t)coarse;
    const int top = (1 << (layout->orientation_bits - 1)) - 1;
    ph_quaternion_levels spin = {.largest = 3};
    for (int i = 0; i < 3; ++i) {
        spin.rest[i] = (int16_t)((int)test_rng_below(rng, (uint64_t)(2 * top + 1)) - top);
    }
    if (one_in(rng, 2) && ph_quaternion_is_valid(layout->orientation_bits, spin)) {
        memcpy(coded->record.spin, spin.rest, sizeof spin.rest);
    }
}

static void fill_enter(const pinhole_pair* pair, const ph_layout* layout, ph_pinhole_record* coded,
                       test_rng* rng)
{
    ph_record* record = &coded->record;
    copy_before(layout, coded, rng);
    uint32_t* place = record->words + layout->word[layout->described->position];
    if (coded->before != NULL) {
        coded->coarse = (uint8_t)ph_pinhole_round_enter(&pair->frame, layout, place);
    } else {
        assert_true(ph_pinhole_round(&pair->frame, layout, layout->finer, place));
    }
    record->key = test_rng_next(rng);
    record->key >>= test_rng_below(rng, 64);
    record->properties = layout->position | layout->orientation;
    if (layout->orientation != 0) {
        draw_enter_rotation(layout, coded, rng);
    }
    record->properties = layout->position;
    for (int i = 0; i < layout->described->def.property_count; ++i) {
        if (!ph_layout_is_initial(layout, record->words, record->texts, i)) {
            record->properties |= UINT64_C(1) << i;
        }
    }
    for (int i = 0; i < 3 && one_in(rng, 2); ++i) {
        record->velocity[i] = (int16_t)((int)test_rng_below(rng, 65535) - 32767);
    }
}

static const ph_pinhole_neighbour* before(const pinhole_pair* pair, pinhole_packet* packet,
                                          uint8_t kind)
{
    if (packet->count == 0 || packet->coded[packet->count - 1].record.kind != kind) {
        return NULL;
    }
    ph_pinhole_neighbour* neighbour = &packet->neighbours[packet->count];
    *neighbour = ph_pinhole_neighbour_of(&pair->frame, &packet->coded[packet->count - 1]);
    return neighbour;
}

static void add_record(pinhole_pair* pair, const pinhole_end* end, pinhole_packet* packet, int slot,
                       uint8_t kind, test_rng* rng)
{
    random_record* blocks = &packet->blocks[packet->count];
    ph_pinhole_record* coded = &packet->coded[packet->count];
    const int class_index = kind == PH_RECORD_UPDATE
                                ? end->baselines[slot].class_index
                                : (int)test_rng_below(rng, (uint64_t)pair->layouts.count);
    const ph_layout* layout = &pair->layouts.layouts[class_index];
    *coded =
        (ph_pinhole_record){.record = {.kind = kind,
                                       .slot = (uint16_t)slot,
                                       .association = (uint32_t)test_rng_next(rng),
                                       .class_index = (uint8_t)class_index,
                                       .words = blocks->words,
                                       .texts = layout->text_bytes > 0 ? blocks->texts : NULL},
                            .before = kind != PH_RECORD_UPDATE ? before(pair, packet, kind) : NULL};
    ph_layout_reset(layout, blocks->words, blocks->texts);
    for (int i = 0; i < layout->described->def.property_count; ++i) {
        random_value_make(&pair->frame.frame, layout, i, rng, blocks->words, blocks->texts);
    }
    if (kind == PH_RECORD_ENTER) {
        fill_enter(pair, layout, coded, rng);
    } else if (kind == PH_RECORD_UPDATE) {
        fill_update(pair, end, coded, rng);
    }
    packet->leave_count += kind == PH_RECORD_LEAVE ? 1 : 0;
    packet->enter_count += kind == PH_RECORD_ENTER ? 1 : 0;
    packet->count += 1;
}

static int draw_kind(bool is_entered, test_rng* rng)
{
    if (one_in(rng, 2)) {
        return -1;
    }
    if (is_entered) {
        return one_in(rng, 12) ? PH_RECORD_LEAVE : PH_RECORD_UPDATE;
    }
    return one_in(rng, 8) ? PH_RECORD_LEAVE : PH_RECORD_ENTER;
}

void pinhole_pair_fill(pinhole_pair* pair, const pinhole_end* end, pinhole_packet* packet,
                       test_rng* rng)
{
    int kinds[PINHOLE_SLOTS];
    for (int i = 0; i < PINHOLE_SLOTS; ++i) {
        kinds[i] = draw_kind(end->baselines[i].is_entered, rng);
    }
    packet->count = 0;
    packet->leave_count = 0;
    packet->enter_count = 0;
    packet->tick = pair->frame.tick;
    pair->frame.key_base = end->key_base;
    packet->spread = (ph_pinhole_spread){0};
    if (one_in(rng, 2)) {
        packet->spread.place = (uint8_t)test_rng_below(rng, PH_SPREADS);
        packet->spread.velocity = (uint8_t)test_rng_below(rng, PH_SPREADS);
        packet->spread.heading = (uint8_t)test_rng_below(rng, PH_SPREADS);
        packet->spread.key = (uint8_t)test_rng_below(rng, PH_KEY_SPREADS);
        packet->spread.motion = (uint8_t)test_rng_below(rng, PH_MOTIONS);
    }
    if (pair->frame.precision != 0 && one_in(rng, 2)) {
        packet->spread.coarse = (uint8_t)test_rng_below(rng, PH_COARSE_MAX + 1);
    }
    pair->frame.spread = packet->spread;
    for (int kind = PH_RECORD_LEAVE; kind <= PH_RECORD_UPDATE; ++kind) {
        for (int i = 0; i < PINHOLE_SLOTS; ++i) {
            if (kinds[i] == kind) {
                add_record(pair, end, packet, i, (uint8_t)kind, rng);
            }
        }
    }
}

// ---- there and back

static void write_one(const pinhole_pair* pair, ph_entropy_writer* writer,
                      const ph_pinhole_record* coded, uint64_t* cost256)
{
    *cost256 += ph_pinhole_cost256(&pair->frame, coded, NULL);
    ph_pinhole_write(&pair->frame, writer, coded);
}

size_t pinhole_pair_write(pinhole_pair* pair, const pinhole_end* end, const pinhole_packet* packet,
                          uint8_t* bytes, uint64_t* cost256)
{
    pair->frame.key_base = end->key_base;
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, PINHOLE_BYTES_MAX);
    ph_bits_write(&writer.raw, (uint64_t)packet->leave_count, COUNT_BITS);
    ph_bits_write(&writer.raw, (uint64_t)packet->enter_count, COUNT_BITS);
    *cost256 = 2 * COUNT_BITS * PH_COST_PER_BIT;
    int next = 0;
    for (; next < packet->leave_count; ++next) {
        write_one(pair, &writer, &packet->coded[next], cost256);
    }
    pair->frame.spread = packet->spread;
    ph_pinhole_write_spread(&pair->frame, &writer, packet->enter_count);
    *cost256 +=
        (uint64_t)ph_pinhole_spread_bits(&pair->frame, packet->enter_count) * PH_COST_PER_BIT;
    for (; next < packet->leave_count + packet->enter_count; ++next) {
        write_one(pair, &writer, &packet->coded[next], cost256);
    }
    for (int i = 0; i < PINHOLE_SLOTS; ++i) {
        if (!end->baselines[i].is_entered) {
            continue;
        }
        const int urgency = ph_pinhole_urgency(&pair->frame, &end->baselines[i]);
        const bool is_told = next < packet->count && packet->coded[next].record.slot == i;
        *cost256 += ph_pinhole_flag_cost256(ph_pinhole_models(&pair->frame), pair->frame.density,
                                            urgency, is_told);
        ph_pinhole_write_told(&pair->frame, &writer, urgency, is_told);
        if (is_told) {
            write_one(pair, &writer, &packet->coded[next++], cost256);
        }
    }
    assert_int_equal(next, packet->count);
    return ph_entropy_writer_finish(&writer);
}

static ph_pinhole_record* start_record(const pinhole_pair* pair, pinhole_packet* packet,
                                       uint8_t kind)
{
    random_record* blocks = &packet->blocks[packet->count];
    ph_pinhole_record* coded = &packet->coded[packet->count];
    memset(blocks->words, 0xAB, sizeof blocks->words);
    memset(blocks->texts, 0xAB, sizeof blocks->texts);
    *coded = (ph_pinhole_record){
        .record = {.kind = kind, .words = blocks->words, .texts = blocks->texts},
        .before = kind != PH_RECORD_UPDATE ? before(pair, packet, kind) : NULL};
    packet->count += 1;
    return coded;
}

// False also for what the client itself checks.
static bool read_named(const pinhole_pair* pair, const pinhole_end* end, ph_entropy_reader* reader,
                       pinhole_packet* packet, uint8_t kind)
{
    ph_pinhole_record* coded = start_record(pair, packet, kind);
    ph_pinhole_read_identity(&pair->frame, reader, coded);
    if (coded->record.slot >= PINHOLE_SLOTS) {
        return false;
    }
    if (kind == PH_RECORD_ENTER) {
        if (end->baselines[coded->record.slot].is_entered) {
            return false;
        }
        ph_pinhole_read(&pair->frame, reader, coded);
    }
    return ph_entropy_reader_result(reader) == PH_OK;
}

static bool read_updates(const pinhole_pair* pair, const pinhole_end* end,
                         ph_entropy_reader* reader, pinhole_packet* packet)
{
    for (int i = 0; i < PINHOLE_SLOTS; ++i) {
        const ph_baseline* baseline = &end->baselines[i];
        if (!baseline->is_entered ||
            !ph_pinhole_read_told(&pair->frame, reader,
                                  ph_pinhole_urgency(&pair->frame, baseline))) {
            continue;
        }
        if (packet->count == PINHOLE_SLOTS) {
            return false; // told twice: a leave stood for it already
        }
        ph_pinhole_record* coded = start_record(pair, packet, PH_RECORD_UPDATE);
        coded->record.slot = (uint16_t)i;
        coded->record.class_index = baseline->class_index;
        coded->baseline = baseline;
        coded->known = end->known[i];
        ph_pinhole_read(&pair->frame, reader, coded);
    }
    return true;
}

ph_result pinhole_pair_read(pinhole_pair* pair, const pinhole_end* end, const uint8_t* bytes,
                            size_t size, pinhole_packet* packet)
{
    pair->frame.key_base = end->key_base;
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, bytes, size);
    packet->count = 0;
    packet->tick = pair->frame.tick;
    packet->leave_count = (int)ph_bits_read(&reader.raw, COUNT_BITS);
    packet->enter_count = (int)ph_bits_read(&reader.raw, COUNT_BITS);
    const int named = packet->leave_count + packet->enter_count;
    bool is_read = named <= PINHOLE_SLOTS;
    for (int i = 0; i < named && is_read; ++i) {
        const uint8_t kind = i < packet->leave_count ? PH_RECORD_LEAVE : PH_RECORD_ENTER;
        if (i == packet->leave_count) {
            ph_pinhole_read_spread(&pair->frame, &reader, packet->enter_count);
            packet->spread = pair->frame.spread;
        }
        is_read = read_named(pair, end, &reader, packet, kind);
    }
    is_read = is_read && read_updates(pair, end, &reader, packet);
    return is_read ? ph_entropy_reader_finish(&reader) : PH_ERROR_VALUE;
}

void pinhole_pair_take(const pinhole_pair* pair, pinhole_end* end, const pinhole_packet* packet)
{
    for (int i = 0; i < packet->count; ++i) {
        const ph_record* record = &packet->coded[i].record;
        ph_baseline_take(&end->baselines[record->slot], end->known[record->slot], &pair->rules,
                         record, packet->tick);
        if (record->kind == PH_RECORD_ENTER && record->key > end->key_base) {
            end->key_base = record->key;
        }
    }
}

uint64_t pinhole_pair_digest(const pinhole_pair* pair, const pinhole_end* end)
{
    uint64_t digest = end->key_base;
    for (int i = 0; i < PINHOLE_SLOTS; ++i) {
        digest = digest * 31 + ph_baseline_digest(&end->baselines[i], end->known[i], &pair->rules);
    }
    return digest;
}
