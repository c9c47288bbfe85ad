// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Baselines at the horizon, and what was applied after it. Once per packet, a few instructions per
// record. An item of the flight has the packed values of its record; an enter has an enter_tail behind
// them:
//
//   | values of the properties ... | [ spin x y z ] | association | velocity x y z | class |
//
// A spin is only there with an orientation, whose state makes the room for it in a known block.

#include "client/client_baselines.h"

#include "base/allocator.h"
#include "base/hash.h"
#include "packet/header.h"

#include <string.h>

typedef struct enter_tail {
    uint32_t association;
    int16_t velocity[3];
    uint8_t class_index;
    uint8_t zero;
} enter_tail;

_Static_assert(sizeof(enter_tail) == 12, "no gaps: the bytes are hashed");

// ---- creation

static bool has_wide_class(const ph_layouts* layouts)
{
    bool is_wide = false;
    for (int i = 0; i < layouts->count; ++i) {
        is_wide = is_wide || layouts->layouts[i].described->def.property_count > 32;
    }
    return is_wide;
}

// As much as a sender can have in flight, or all that so many slots can get.
static uint32_t units_for(bool is_wide, uint32_t stride, int capacity)
{
    const uint32_t item_units = ph_flight_item_units(is_wide, stride + sizeof(enter_tail));
    // One more than can be needed, because an item never straddles the end.
    const uint64_t all = ((uint64_t)capacity * PH_FLIGHT_MAX + 1) * item_units;
    return all < PH_FLIGHT_UNITS_MAX ? (uint32_t)all : PH_FLIGHT_UNITS_MAX;
}

static bool allocate_baselines(ph_client_baselines* baselines, const ph_layouts* layouts)
{
    const ph_allocator* allocator = &baselines->allocator;
    const size_t slots = (size_t)baselines->capacity;
    const size_t bit_words = (size_t)ph_bitset_word_count(baselines->capacity);
    baselines->slots = ph_allocate_array(allocator, slots, sizeof(ph_client_baseline));
    baselines->known = ph_allocate_array(allocator, slots, baselines->stride);
    baselines->units = ph_allocate_array(allocator, baselines->unit_count, sizeof(uint32_t));
    baselines->words =
        ph_allocate_array(allocator, (size_t)layouts->word_count_max, sizeof(uint32_t));
    baselines->saved = ph_allocate_array(allocator, slots, sizeof(uint16_t));
    baselines->saved_slots = ph_allocate_array(allocator, slots, sizeof(ph_client_baseline));
    baselines->saved_known = ph_allocate_array(allocator, slots, baselines->stride);
    baselines->saved_words = ph_allocate_array(allocator, bit_words, sizeof(uint64_t));
    return baselines->slots != NULL && baselines->known != NULL && baselines->units != NULL &&
           baselines->words != NULL && baselines->saved != NULL && baselines->saved_slots != NULL &&
           baselines->saved_known != NULL && baselines->saved_words != NULL;
}

static void make_packings(ph_client_baselines* baselines, const ph_layouts* layouts)
{
    for (int i = 0; i < layouts->count; ++i) {
        baselines->packings[i] = ph_packing_make(&layouts->layouts[i]);
        if (baselines->packings[i].stride > baselines->stride) {
            baselines->stride = baselines->packings[i].stride;
        }
    }
}

ph_result ph_client_baselines_create(ph_client_baselines* baselines, const ph_layouts* layouts,
                                     const ph_allocator* allocator, int capacity)
{
    *baselines = (ph_client_baselines){
        .rules = {.layouts = layouts}, .capacity = capacity, .allocator = *allocator};
    baselines->packings = ph_allocate_array(allocator, (size_t)layouts->count, sizeof(ph_packing));
    if (baselines->packings == NULL) {
        ph_client_baselines_destroy(baselines);
        return PH_ERROR_MEMORY;
    }
    make_packings(baselines, layouts);
    baselines->rules.packings = baselines->packings;
    const bool is_wide = has_wide_class(layouts);
    baselines->unit_count = units_for(is_wide, baselines->stride, capacity);
    if (!allocate_baselines(baselines, layouts)) {
        ph_client_baselines_destroy(baselines);
        return PH_ERROR_MEMORY;
    }
    memset(baselines->slots, 0, (size_t)capacity * sizeof(ph_client_baseline));
    memset(baselines->known, 0, (size_t)capacity * baselines->stride);
    memset(baselines->words, 0, (size_t)layouts->word_count_max * sizeof(uint32_t));
    ph_flight_init(&baselines->flight, baselines->units, baselines->unit_count, is_wide);
    baselines->is_saved = ph_bitset_make(baselines->saved_words, capacity);
    return PH_OK;
}

void ph_client_baselines_destroy(ph_client_baselines* baselines)
{
    const ph_allocator* allocator = &baselines->allocator;
    const size_t slots = (size_t)baselines->capacity;
    if (slots > 0) {
        const ph_layouts* layouts = baselines->rules.layouts;
        ph_release_array(allocator, baselines->saved_words,
                         (size_t)ph_bitset_word_count(baselines->capacity), sizeof(uint64_t));
        ph_release_array(allocator, baselines->saved_known, slots, baselines->stride);
        ph_release_array(allocator, baselines->saved_slots, slots, sizeof(ph_client_baseline));
        ph_release_array(allocator, baselines->saved, slots, sizeof(uint16_t));
        ph_release_array(allocator, baselines->words, (size_t)layouts->word_count_max,
                         sizeof(uint32_t));
        ph_release_array(allocator, baselines->units, baselines->unit_count, sizeof(uint32_t));
        ph_release_array(allocator, baselines->known, slots, baselines->stride);
        ph_release_array(allocator, baselines->slots, slots, sizeof(ph_client_baseline));
        ph_release_array(allocator, baselines->packings, (size_t)layouts->count,
                         sizeof(ph_packing));
    }
    *baselines = (ph_client_baselines){0};
}

// ---- advancing

static uint8_t* packed_of(const ph_client_baselines* baselines, int slot)
{
    return baselines->known + (size_t)slot * baselines->stride;
}

// Before its first change.
static void save_slot(ph_client_baselines* baselines, int slot)
{
    if (ph_bitset_test(&baselines->is_saved, slot)) {
        return;
    }
    ph_bitset_set(&baselines->is_saved, slot);
    const int place = baselines->saved_count++;
    const uint32_t stride = baselines->stride;
    baselines->saved[place] = (uint16_t)slot;
    baselines->saved_slots[place] = baselines->slots[slot];
    memcpy(baselines->saved_known + (size_t)place * stride, packed_of(baselines, slot), stride);
}

static void fold_item(ph_client_baselines* baselines, const ph_flight_item* item, uint32_t tick)
{
    save_slot(baselines, item->slot);
    ph_client_baseline* slot = &baselines->slots[item->slot];
    const bool is_enter = item->kind == PH_RECORD_ENTER;
    enter_tail tail = {0};
    if (is_enter) {
        memcpy(&tail, item->values + item->value_bytes - sizeof tail, sizeof tail);
        slot->association = tail.association;
    }
    ph_record record = {
        .properties = item->properties,
        .slot = item->slot,
        .kind = item->kind,
        .class_index = is_enter ? tail.class_index : slot->baseline.class_index,
        .is_jump = item->is_jump,
        .velocity = {tail.velocity[0], tail.velocity[1], tail.velocity[2]},
        .words = baselines->words,
    };
    const ph_packing* packing = &baselines->packings[record.class_index];
    const ph_layout* layout = &baselines->rules.layouts->layouts[record.class_index];
    if (is_enter && packing->turning != 0) {
        memcpy(record.spin, item->values + item->value_bytes - sizeof tail - sizeof record.spin,
               sizeof record.spin);
    }
    const uint8_t* bytes = item->values;
    for (uint64_t left = item->properties; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        ph_packing_load(packing, p, bytes, baselines->words + layout->word[p]);
        bytes += packing->size[p];
    }
    ph_baseline_take(&slot->baseline, packed_of(baselines, item->slot), &baselines->rules, &record,
                     tick);
}

void ph_client_baselines_advance(ph_client_baselines* baselines, uint32_t sequence)
{
    PH_ASSERT(baselines->advanced_count == 0 && baselines->saved_count == 0);

    const ph_flight* flight = &baselines->flight;
    baselines->saved_key_base = baselines->key_base;
    for (; baselines->advanced_count < flight->count; ++baselines->advanced_count) {
        const int index = (flight->first + baselines->advanced_count) % PH_FLIGHT_MAX;
        const ph_flight_packet* packet = &flight->packets[index];
        if (ph_sequence_is_ahead(packet->stamp.sequence, sequence)) {
            break; // it is newer
        }
        ph_flight_walk walk = ph_flight_walk_make(flight, packet);
        for (int i = 0; i < packet->item_count; ++i, ph_flight_walk_on(&walk)) {
            const ph_flight_item item = ph_flight_read(flight, walk.place);
            fold_item(baselines, &item, packet->stamp.tick);
        }
        if (baselines->greatest_keys[index] > baselines->key_base) {
            baselines->key_base = baselines->greatest_keys[index];
        }
    }
}

static void forget_saved(ph_client_baselines* baselines)
{
    for (int i = 0; i < baselines->saved_count; ++i) {
        ph_bitset_clear(&baselines->is_saved, baselines->saved[i]);
    }
    baselines->saved_count = 0;
    baselines->advanced_count = 0;
}

void ph_client_baselines_roll_back(ph_client_baselines* baselines)
{
    const uint32_t stride = baselines->stride;
    for (int i = 0; i < baselines->saved_count; ++i) {
        const int slot = baselines->saved[i];
        baselines->slots[slot] = baselines->saved_slots[i];
        memcpy(packed_of(baselines, slot), baselines->saved_known + (size_t)i * stride, stride);
    }
    baselines->key_base = baselines->saved_key_base;
    forget_saved(baselines);
}

void ph_client_baselines_commit(ph_client_baselines* baselines)
{
    for (int i = 0; i < baselines->advanced_count; ++i) {
        ph_flight_retire(&baselines->flight);
    }
    forget_saved(baselines);
}

// ---- what was applied

static size_t value_bytes_of(const ph_client_baselines* baselines, const ph_record* record)
{
    if (record->kind == PH_RECORD_LEAVE) {
        return 0;
    }
    const ph_packing* packing = &baselines->packings[record->class_index];
    const size_t size = ph_packing_size(packing, record->properties);
    const size_t spin_size = packing->turning != 0 ? sizeof record->spin : 0;
    return size + (record->kind == PH_RECORD_ENTER ? spin_size + sizeof(enter_tail) : 0);
}

bool ph_client_baselines_has_room(const ph_client_baselines* baselines, const ph_record* records,
                                  int count)
{
    ph_flight flight = baselines->flight;
    for (int i = 0; i < baselines->advanced_count; ++i) {
        ph_flight_retire(&flight);
    }
    uint32_t all_units = 0;
    uint32_t largest_units = 0;
    for (int i = 0; i < count; ++i) {
        const uint32_t item_units =
            ph_flight_item_units(flight.is_wide, value_bytes_of(baselines, &records[i]));
        all_units += item_units;
        largest_units = item_units > largest_units ? item_units : largest_units;
    }
    const uint32_t free_units =
        flight.is_wrapped ? flight.tail - flight.head : flight.capacity - flight.head + flight.tail;
    return count == 0 || all_units + largest_units <= free_units;
}

static void keep_record(ph_client_baselines* baselines, const ph_record* record)
{
    ph_flight_item item = {
        .properties = record->kind == PH_RECORD_LEAVE ? 0 : record->properties,
        .slot = record->slot,
        .is_jump = record->is_jump,
        .kind = record->kind,
        .value_bytes = (uint16_t)value_bytes_of(baselines, record),
    };
    ph_flight_add(&baselines->flight, &item);
    ph_packing_store_all(&baselines->packings[record->class_index],
                         &baselines->rules.layouts->layouts[record->class_index], item.properties,
                         record->words, item.values);
    if (record->kind == PH_RECORD_ENTER) {
        const enter_tail tail = {
            .association = record->association,
            .velocity = {record->velocity[0], record->velocity[1], record->velocity[2]},
            .class_index = record->class_index,
        };
        uint8_t* end = item.values + item.value_bytes - sizeof tail;
        memcpy(end, &tail, sizeof tail);
        if (baselines->packings[record->class_index].turning != 0) {
            memcpy(end - sizeof record->spin, record->spin, sizeof record->spin);
        }
    }
}

void ph_client_baselines_add(ph_client_baselines* baselines, uint32_t sequence, uint32_t tick,
                             const ph_record* records, int count)
{
    PH_ASSERT(baselines->advanced_count == 0);

    if (count == 0) {
        return;
    }
    ph_flight* flight = &baselines->flight;
    const int index = (flight->first + flight->count) % PH_FLIGHT_MAX;
    const ph_flight_stamp stamp = {.sequence = sequence, .tick = tick};
    ph_flight_begin(flight, &stamp, NULL);
    uint64_t greatest_key = 0;
    for (int i = 0; i < count; ++i) {
        keep_record(baselines, &records[i]);
        if (records[i].kind == PH_RECORD_ENTER && records[i].key > greatest_key) {
            greatest_key = records[i].key;
        }
    }
    baselines->greatest_keys[index] = greatest_key;
    ph_flight_commit(flight);
}

// ---- soundness

uint64_t ph_client_baselines_digest(const ph_client_baselines* baselines, int slot_count)
{
    ph_hash hash = ph_hash_make(0);
    for (int i = 0; i < slot_count; ++i) {
        ph_hash_add_u64(&hash, ph_baseline_digest(&baselines->slots[i].baseline,
                                                  packed_of(baselines, i), &baselines->rules));
    }
    return ph_hash_value(&hash);
}

static bool are_packets_in_order(const ph_flight* flight)
{
    for (int i = 1; i < flight->count; ++i) {
        const ph_flight_stamp* older =
            &flight->packets[(flight->first + i - 1) % PH_FLIGHT_MAX].stamp;
        const ph_flight_stamp* newer = &flight->packets[(flight->first + i) % PH_FLIGHT_MAX].stamp;
        if (newer->sequence - older->sequence - 1 >= PH_FLIGHT_MAX ||
            newer->tick - older->tick > INT32_MAX) {
            return false;
        }
    }
    return true;
}

bool ph_client_baselines_validate(const ph_client_baselines* baselines)
{
    for (int i = 0; i < baselines->capacity; ++i) {
        const ph_client_baseline* slot = &baselines->slots[i];
        const bool is_entity =
            slot->association != 0 && slot->baseline.class_index < baselines->rules.layouts->count;
        if (slot->baseline.is_entered && !is_entity) {
            return false;
        }
    }
    return baselines->advanced_count == 0 && baselines->saved_count == 0 &&
           ph_bitset_count(&baselines->is_saved) == 0 && ph_flight_validate(&baselines->flight) &&
           are_packets_in_order(&baselines->flight);
}
