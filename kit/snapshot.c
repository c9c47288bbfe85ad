// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Snapshots in memory. Copied and compared once per snapshot.

#include "kit/snapshot.h"

#include <stdlib.h>
#include <string.h>

#define POSITION_BYTES 12
#define HEADING_NAME "heading"

// ---- layout

static bool is_sent(const ph_property_def* def)
{
    const ph_field field = ph_coding_field(def->coding);
    return def->audience == PH_AUDIENCE_ALL && (field == PH_FIELD_I64 || field == PH_FIELD_F64 ||
                                                field == PH_FIELD_TEXT || def->is_orientation);
}

static uint16_t value_size(const ph_property* described)
{
    return (uint16_t)(described->is_text ? sizeof(uint16_t) + (size_t)described->def.max_length
                                         : (size_t)described->words * sizeof(uint32_t));
}

static void add_property(ph_snapshot_layout* layout, const ph_property* described, int index)
{
    // Of rounded positions: none that is within the distance is left out.
    const double slack_mm = 2.0 * (double)(UINT32_C(1) << layout->position->coordinate.shift);
    const double distance_m = described->def.distance_m;
    const double distance_mm = distance_m > 0.0 ? distance_m * 1000.0 + slack_mm : 0.0;
    ph_snapshot_property* property = &layout->properties[layout->count];
    *property = (ph_snapshot_property){
        .property = index,
        .described = described,
        .field = ph_coding_field(described->def.coding),
        .offset = (uint16_t)layout->stride,
        .size = value_size(described),
        .is_once = described->def.when == PH_SEND_ONCE,
        .distance_mm2 = distance_mm * distance_mm,
        .significant = described->significant_steps,
    };
    if (described->def.coding == PH_CODING_ANGLE &&
        strcmp(described->def.name, HEADING_NAME) == 0) {
        layout->heading = layout->count;
    }
    if (described->def.is_orientation) {
        layout->orientation = layout->count;
    }
    layout->stride += property->size;
    ++layout->count;
}

static int bits_for(int count)
{
    int bits = 1;
    while (1 << bits < count) {
        ++bits;
    }
    return bits;
}

bool ph_snapshot_layout_make(ph_snapshot_layout* layout, const ph_schema* schema,
                             const ph_ground* ground, const ph_way_terms* terms)
{
    const ph_class* type = ph_schema_class_at(schema, 0);
    if (ph_schema_class_count(schema) != 1 || terms->slot_count < 1 ||
        terms->slot_count > UINT16_MAX || terms->payload_max < PH_SNAPSHOT_PAYLOAD_MIN ||
        terms->payload_max > PH_PAYLOAD_MAX) {
        return false;
    }
    *layout = (ph_snapshot_layout){
        .position = &type->properties[type->position],
        .position_property = type->position,
        .heading = -1,
        .orientation = -1,
        .stride = POSITION_BYTES,
        .slot_count = terms->slot_count,
        .slot_bits = bits_for(terms->slot_count),
        .payload_max = terms->payload_max,
    };
    if (layout->position->def.ground_tolerance_mm > 0) {
        layout->ground = *ground;
    }
    for (int i = 0; i < type->def.property_count; ++i) {
        const ph_property* described = &type->properties[i];
        if (is_sent(&described->def) && layout->count < PH_SNAPSHOT_PROPERTIES_MAX) {
            add_property(layout, described, i);
        }
    }
    return true;
}

int ph_snapshot_entity_bits_max(const ph_snapshot_layout* layout)
{
    // Slot, key, flags, classes, age of a jump; the position as a whole.
    int bits = 1 + 16 + 2 + 64 + 8 + 8 + 1 + 3 * 40;
    for (int i = 0; i < layout->count; ++i) {
        bits += 2 + 64 + ph_property_max_bits(layout->properties[i].described);
    }
    return bits;
}

// ---- snapshots

bool ph_snapshot_create(ph_snapshot* snapshot, const ph_snapshot_layout* layout)
{
    const size_t count = (size_t)layout->slot_count;
    *snapshot = (ph_snapshot){
        .is_there = calloc(count, sizeof(bool)),
        .keys = calloc(count, sizeof(uint64_t)),
        .jump_ages = calloc(count, 1),
        .blocks = calloc(count, (size_t)layout->stride),
    };
    return snapshot->is_there != NULL && snapshot->keys != NULL && snapshot->jump_ages != NULL &&
           snapshot->blocks != NULL;
}

void ph_snapshot_destroy(ph_snapshot* snapshot)
{
    free(snapshot->blocks);
    free(snapshot->jump_ages);
    free(snapshot->keys);
    free(snapshot->is_there);
    *snapshot = (ph_snapshot){0};
}

void ph_snapshot_copy(ph_snapshot* snapshot, const ph_snapshot* from,
                      const ph_snapshot_layout* layout)
{
    const size_t count = (size_t)layout->slot_count;
    snapshot->sequence = from->sequence;
    snapshot->tick = from->tick;
    snapshot->is_used = from->is_used;
    snapshot->is_quiet = from->is_quiet;
    snapshot->entity_count = from->entity_count;
    memcpy(snapshot->is_there, from->is_there, count * sizeof(bool));
    memcpy(snapshot->keys, from->keys, count * sizeof(uint64_t));
    memcpy(snapshot->jump_ages, from->jump_ages, count);
    memcpy(snapshot->blocks, from->blocks, count * (size_t)layout->stride);
}

void ph_snapshot_clear(ph_snapshot* snapshot, const ph_snapshot_layout* layout)
{
    const size_t count = (size_t)layout->slot_count;
    snapshot->entity_count = 0;
    memset(snapshot->is_there, 0, count * sizeof(bool));
    memset(snapshot->jump_ages, 0, count);
}

uint8_t* ph_snapshot_block(const ph_snapshot* snapshot, const ph_snapshot_layout* layout, int slot)
{
    return snapshot->blocks + (size_t)slot * (size_t)layout->stride;
}

bool ph_snapshot_is_same(const ph_snapshot* a, const ph_snapshot* b,
                         const ph_snapshot_layout* layout)
{
    for (int slot = 0; slot < layout->slot_count; ++slot) {
        if (a->is_there[slot] != b->is_there[slot]) {
            return false;
        }
        if (a->is_there[slot] &&
            (a->keys[slot] != b->keys[slot] ||
             memcmp(ph_snapshot_block(a, layout, slot), ph_snapshot_block(b, layout, slot),
                    (size_t)layout->stride) != 0)) {
            return false;
        }
    }
    return true;
}

int ph_snapshot_sequence_difference(uint32_t a, uint32_t b)
{
    const int ahead = (int)((a - b) % PH_SNAPSHOT_SEQUENCES);
    const int half = (int)(PH_SNAPSHOT_SEQUENCES / 2);
    return ahead < half ? ahead : ahead - (int)PH_SNAPSHOT_SEQUENCES;
}

// ---- values

void ph_snapshot_reset_block(const ph_snapshot_layout* layout, uint8_t* block)
{
    memset(block, 0, (size_t)layout->stride);
    for (int i = 0; i < layout->count; ++i) {
        const ph_snapshot_property* property = &layout->properties[i];
        if (!property->described->is_text) {
            memcpy(block + property->offset, property->described->initial, property->size);
        }
    }
}

void ph_snapshot_load(const ph_snapshot_property* property, const uint8_t* block, uint32_t* words)
{
    memcpy(words, block + property->offset, property->size);
}

void ph_snapshot_store(const ph_snapshot_property* property, const uint32_t* words, uint8_t* block)
{
    memcpy(block + property->offset, words, property->size);
}

ph_text ph_snapshot_text(const ph_snapshot_property* property, const uint8_t* block)
{
    ph_text text = {.bytes = block + property->offset + sizeof text.length};
    memcpy(&text.length, block + property->offset, sizeof text.length);
    return text;
}

void ph_snapshot_store_text(const ph_snapshot_property* property, ph_text text, uint8_t* block)
{
    memset(block + property->offset, 0, property->size); // so that blocks compare
    memcpy(block + property->offset, &text.length, sizeof text.length);
    if (text.length > 0) {
        memcpy(block + property->offset + sizeof text.length, text.bytes, text.length);
    }
}

void ph_snapshot_load_position(const uint8_t* block, uint32_t words[3])
{
    memcpy(words, block, POSITION_BYTES);
}

void ph_snapshot_store_position(const uint32_t words[3], uint8_t* block)
{
    memcpy(block, words, POSITION_BYTES);
}
