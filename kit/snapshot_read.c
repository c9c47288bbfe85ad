// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reading a snapshot. Bytes come from outside: every slot, key, width and value is checked, in every
// build, and a snapshot is refused as a whole.

#include "kit/snapshot_code.h"

#include "kit/snapshot_difference.h"

#include <string.h>

// One snapshot while it is read.
typedef struct reading {
    const ph_snapshot_layout* layout;
    ph_bit_reader* reader;
    ph_snapshot* snapshot;
    ph_snapshot_change_head head;
} reading;

static void refuse(const reading* of)
{
    ph_bit_reader_fail(of->reader, PH_ERROR_VALUE);
}

static bool is_refused(const reading* of)
{
    return ph_bit_reader_result(of->reader) != PH_OK;
}

ph_snapshot_head ph_snapshot_read_head(ph_bit_reader* reader)
{
    ph_snapshot_head head = {.back = (int)ph_bits_read(reader, PH_SNAPSHOT_BACK_BITS)};
    head.wait = (uint8_t)ph_bits_read(reader, PH_SNAPSHOT_WAIT_BITS);
    head.tick = head.back > 0 ? (uint32_t)ph_bits_read(reader, PH_SNAPSHOT_TICK_BITS)
                              : PH_SNAPSHOT_TICKS_MAX;
    head.is_whole_tick = head.tick == PH_SNAPSHOT_TICKS_MAX;
    if (head.is_whole_tick) {
        head.tick = (uint32_t)ph_bits_read(reader, PH_SNAPSHOT_WHOLE_TICK_BITS);
    }
    return head;
}

// ---- values

static void read_whole(const reading* of, const ph_snapshot_property* property, uint8_t* block)
{
    uint32_t words[PH_VALUE_WORDS_MAX] = {0};
    uint8_t bytes[PH_TEXT_LENGTH_MAX + 1];
    ph_text text = {.bytes = bytes};
    ph_property_read(property->described, of->reader, words, bytes, &text.length);
    if (property->described->is_text) {
        ph_snapshot_store_text(property, text, block);
    } else {
        ph_snapshot_store(property, words, block);
    }
}

static void read_changed(const reading* of, int index, uint8_t* block)
{
    const ph_snapshot_property* property = &of->layout->properties[index];
    const int width = of->head.small_width[index];
    if (width == 0 || !ph_bits_read_bool(of->reader)) {
        read_whole(of, property, block);
        return;
    }
    const uint64_t bits = ph_bits_read(of->reader, width);
    const int64_t difference =
        (bits & 1) != 0 ? -(int64_t)(bits / 2) - 1 : (int64_t)(bits / 2); // widths are below 32
    const int64_t top = (int64_t)ph_property_top(property->described, 0);
    int64_t number = (int64_t)ph_snapshot_number(property, block) + difference;
    if (property->described->def.coding == PH_CODING_ANGLE) {
        number += number < 0 ? top + 1 : 0;
        number -= number > top ? top + 1 : 0;
    }
    if (number < 0 || number > top) {
        refuse(of);
        return;
    }
    const uint32_t words[PH_VALUE_WORDS_MAX] = {(uint32_t)number,
                                                (uint32_t)((uint64_t)number >> 32)};
    ph_snapshot_store(property, words, block);
}

static uint32_t read_difference(const reading* of, const ph_snapshot_classes* classes, int shift,
                                int found, uint32_t from)
{
    const int width = ph_snapshot_class_width(classes, found, PH_SNAPSHOT_COORDINATE_BITS - shift);
    const uint32_t bits = (uint32_t)ph_bits_read(of->reader, width);
    return ph_snapshot_step_onward(from, ph_snapshot_unzigzag(bits), shift);
}

static uint32_t read_layer(const reading* of, const uint32_t position[3])
{
    const ph_altitude* altitude = &of->layout->position->altitude;
    const int64_t x_mm = (int32_t)position[0];
    const int64_t y_mm = (int32_t)position[1];
    const ph_altitude_level level =
        ph_altitude_read(altitude, &of->layout->ground, x_mm, y_mm, of->reader);
    return (uint32_t)ph_altitude_decode(altitude, &of->layout->ground, x_mm, y_mm, level);
}

static uint32_t read_height(const reading* of, const uint32_t position[3], uint32_t from)
{
    if (ph_snapshot_has_ground(of->layout) && ph_bits_read_bool(of->reader)) {
        return read_layer(of, position);
    }
    const int found = (int)ph_bits_read(of->reader, PH_SNAPSHOT_CLASS_BITS);
    return read_difference(of, &of->head.height, ph_snapshot_height_shift(of->layout), found, from);
}

static void read_position(const reading* of, uint64_t mask, int slot, uint8_t* block)
{
    uint32_t was[3];
    uint32_t is[3];
    ph_snapshot_load_position(block, was);
    memcpy(is, was, sizeof is);
    if ((mask >> PH_SNAPSHOT_PLANE & 1) != 0) {
        const int found = (int)ph_bits_read(of->reader, PH_SNAPSHOT_CLASS_BITS);
        const int shift = ph_snapshot_plane_shift(of->layout);
        for (int k = 0; k < 2; ++k) {
            is[k] = read_difference(of, &of->head.plane, shift, found, was[k]);
        }
    }
    is[2] = (mask >> PH_SNAPSHOT_HEIGHT & 1) != 0 ? read_height(of, is, was[2])
                                                  : ph_snapshot_expected_z(of->layout, was, is);
    if (of->head.has_jumps && (mask & 3) != 0 && ph_bits_read_bool(of->reader)) {
        of->snapshot->jump_ages[slot] = (uint8_t)ph_bits_read(of->reader, PH_SNAPSHOT_AGE_BITS);
        if (of->snapshot->jump_ages[slot] == 0) {
            refuse(of);
        }
    }
    ph_snapshot_store_position(is, block);
}

// ---- changes

static void read_classes(const reading* of, ph_snapshot_classes* classes)
{
    for (int i = 0; i < PH_SNAPSHOT_CLASSES; ++i) {
        classes->widths[i] = (uint8_t)ph_bits_read(of->reader, PH_SNAPSHOT_WIDTH_BITS);
        if (i > 0 && classes->widths[i] < classes->widths[i - 1]) {
            refuse(of);
        }
    }
}

static void read_change_head(reading* of)
{
    ph_snapshot_change_head* head = &of->head;
    const int count = of->layout->count;
    head->mask = ph_bits_read(of->reader, PH_SNAPSHOT_FIRST_PROPERTY + count);
    if (head->mask == 0) {
        return;
    }
    if ((head->mask >> PH_SNAPSHOT_PLANE & 1) != 0) {
        read_classes(of, &head->plane);
    }
    if ((head->mask >> PH_SNAPSHOT_HEIGHT & 1) != 0) {
        read_classes(of, &head->height);
    }
    for (int i = 0; i < count; ++i) {
        if ((head->mask >> (PH_SNAPSHOT_FIRST_PROPERTY + i) & 1) != 0 &&
            of->layout->properties[i].described->is_number) {
            head->small_width[i] = (uint8_t)ph_bits_read(of->reader, PH_SNAPSHOT_WIDTH_BITS);
        }
    }
    head->has_jumps = ph_bits_read_bool(of->reader);
}

static void read_entity(const reading* of, int slot)
{
    if (!ph_bits_read_bool(of->reader)) {
        return;
    }
    uint8_t* block = ph_snapshot_block(of->snapshot, of->layout, slot);
    const int count = PH_SNAPSHOT_FIRST_PROPERTY + of->layout->count;
    uint64_t mask = 0;
    for (int i = 0; i < count; ++i) {
        if ((of->head.mask >> i & 1) != 0 && ph_bits_read_bool(of->reader)) {
            mask |= UINT64_C(1) << i;
        }
    }
    if (mask == 0) {
        refuse(of);
    }
    if ((mask & 3) != 0) {
        read_position(of, mask, slot, block);
    }
    for (int i = 0; i < of->layout->count; ++i) {
        if ((mask >> (PH_SNAPSHOT_FIRST_PROPERTY + i) & 1) != 0) {
            read_changed(of, i, block);
        }
    }
}

static void read_leaves(const reading* of)
{
    while (ph_bits_read_bool(of->reader)) {
        const int slot = (int)ph_bits_read(of->reader, of->layout->slot_bits);
        if (slot >= of->layout->slot_count || !of->snapshot->is_there[slot]) {
            refuse(of);
            return;
        }
        of->snapshot->is_there[slot] = false;
        --of->snapshot->entity_count;
    }
}

// ---- enters

static uint32_t read_coordinate(const reading* of, uint32_t own)
{
    const ph_coordinate* coding = &of->layout->position->coordinate;
    const bool is_near = ph_bits_read_bool(of->reader);
    const int width = is_near ? coding->width : PH_SNAPSHOT_COORDINATE_BITS - coding->shift;
    const uint32_t bits = (uint32_t)ph_bits_read(of->reader, width);
    return ph_snapshot_step_onward(own, ph_snapshot_unzigzag(bits), coding->shift);
}

static bool is_known(const reading* of, uint64_t key)
{
    for (int slot = 0; slot < of->layout->slot_count; ++slot) {
        if (of->snapshot->is_there[slot] && of->snapshot->keys[slot] == key) {
            return true;
        }
    }
    return false;
}

static void read_newcomer(const reading* of, int slot)
{
    const ph_snapshot_layout* layout = of->layout;
    uint8_t* block = ph_snapshot_block(of->snapshot, layout, slot);
    uint32_t own[3] = {0};
    if (of->snapshot->is_there[0]) {
        ph_snapshot_load_position(ph_snapshot_block(of->snapshot, layout, 0), own);
    }
    const int size_log2 = (int)ph_bits_read(of->reader, PH_SNAPSHOT_KEY_SIZE_BITS);
    const uint64_t key = ph_bits_read(of->reader, 8 << size_log2);
    uint32_t position[3];
    position[0] = read_coordinate(of, own[0]);
    position[1] = read_coordinate(of, own[1]);
    position[2] =
        ph_snapshot_has_ground(layout) ? read_layer(of, position) : read_coordinate(of, own[2]);
    ph_snapshot_reset_block(layout, block);
    ph_snapshot_store_position(position, block);
    for (int i = 0; i < layout->count; ++i) {
        if (ph_bits_read_bool(of->reader)) {
            read_whole(of, &layout->properties[i], block);
        }
    }
    if (is_refused(of) || is_known(of, key)) {
        refuse(of);
        return;
    }
    of->snapshot->keys[slot] = key;
    of->snapshot->is_there[slot] = true;
    ++of->snapshot->entity_count;
}

static void read_newcomers(const reading* of)
{
    while (ph_bits_read_bool(of->reader)) {
        const int slot = (int)ph_bits_read(of->reader, of->layout->slot_bits);
        if (slot >= of->layout->slot_count || of->snapshot->is_there[slot]) {
            refuse(of);
            return;
        }
        read_newcomer(of, slot);
    }
}

// ---- the whole

ph_result ph_snapshot_read(ph_bit_reader* reader, const ph_snapshot_layout* layout,
                           const ph_snapshot* baseline, ph_snapshot* snapshot)
{
    reading of = {.layout = layout, .reader = reader, .snapshot = snapshot};
    if (baseline != NULL) {
        ph_snapshot_copy(snapshot, baseline, layout);
        memset(snapshot->jump_ages, 0, (size_t)layout->slot_count);
        read_leaves(&of);
        read_change_head(&of);
        for (int slot = 0; of.head.mask != 0 && slot < layout->slot_count; ++slot) {
            if (snapshot->is_there[slot]) {
                read_entity(&of, slot);
            }
        }
    } else {
        ph_snapshot_clear(snapshot, layout);
    }
    read_newcomers(&of);
    return ph_bit_reader_finish(reader) == PH_OK ? PH_OK : PH_ERROR_VALUE;
}
