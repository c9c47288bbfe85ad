// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Baselines at the horizon, and what was applied behind it. Once per packet, a few instructions per
// record. An item of the flight has the packed values of its record, and behind those of an enter
// whom it shows:
//
//   | values of the properties ... | association | velocity x y z | class |

#include "client/horizon.h"

#include "base/allocator.h"
#include "base/hash.h"
#include "wire/ack.h"

#include <string.h>

typedef struct newcomer {
    uint32_t association;
    int16_t velocity[3];
    uint8_t class_index;
    uint8_t zero;
} newcomer;

_Static_assert(sizeof(newcomer) == 12, "no gaps: the bytes are hashed");

// ---- creation

static bool has_wide_class(const ph_layouts* layouts)
{
    bool is_wide = false;
    for (int i = 0; i < layouts->count; ++i) {
        is_wide = is_wide || layouts->layouts[i].described->def.property_count > 32;
    }
    return is_wide;
}

// As much as a sender can have on its way, or all that so many slots can be told.
static uint32_t units_for(bool is_wide, uint32_t stride, int capacity)
{
    const uint32_t item_units = ph_flight_item_units(is_wide, stride + sizeof(newcomer));
    // One more than can be needed, because an item never straddles the end.
    const uint64_t all = ((uint64_t)capacity * PH_FLIGHT_MAX + 1) * item_units;
    return all < PH_FLIGHT_UNITS_MAX ? (uint32_t)all : PH_FLIGHT_UNITS_MAX;
}

static bool allocate(ph_horizon* horizon, const ph_layouts* layouts)
{
    const ph_allocator* allocator = &horizon->allocator;
    const size_t slots = (size_t)horizon->capacity;
    const size_t bit_words = (size_t)ph_bitset_word_count(horizon->capacity);
    horizon->slots = ph_allocate_array(allocator, slots, sizeof(ph_horizon_slot));
    horizon->known = ph_allocate_array(allocator, slots, horizon->stride);
    horizon->units = ph_allocate_array(allocator, horizon->unit_count, sizeof(uint32_t));
    horizon->words =
        ph_allocate_array(allocator, (size_t)layouts->word_count_max, sizeof(uint32_t));
    horizon->kept = ph_allocate_array(allocator, slots, sizeof(uint16_t));
    horizon->kept_slots = ph_allocate_array(allocator, slots, sizeof(ph_horizon_slot));
    horizon->kept_known = ph_allocate_array(allocator, slots, horizon->stride);
    horizon->kept_words = ph_allocate_array(allocator, bit_words, sizeof(uint64_t));
    return horizon->slots != NULL && horizon->known != NULL && horizon->units != NULL &&
           horizon->words != NULL && horizon->kept != NULL && horizon->kept_slots != NULL &&
           horizon->kept_known != NULL && horizon->kept_words != NULL;
}

static void make_packings(ph_horizon* horizon, const ph_layouts* layouts)
{
    for (int i = 0; i < layouts->count; ++i) {
        horizon->packings[i] = ph_packing_make(&layouts->layouts[i]);
        if (horizon->packings[i].stride > horizon->stride) {
            horizon->stride = horizon->packings[i].stride;
        }
    }
}

ph_result ph_horizon_create(ph_horizon* horizon, const ph_layouts* layouts,
                            const ph_allocator* allocator, int capacity)
{
    *horizon =
        (ph_horizon){.rules = {.layouts = layouts}, .capacity = capacity, .allocator = *allocator};
    horizon->packings = ph_allocate_array(allocator, (size_t)layouts->count, sizeof(ph_packing));
    if (horizon->packings == NULL) {
        ph_horizon_destroy(horizon);
        return PH_ERROR_MEMORY;
    }
    make_packings(horizon, layouts);
    horizon->rules.packings = horizon->packings;
    const bool is_wide = has_wide_class(layouts);
    horizon->unit_count = units_for(is_wide, horizon->stride, capacity);
    if (!allocate(horizon, layouts)) {
        ph_horizon_destroy(horizon);
        return PH_ERROR_MEMORY;
    }
    memset(horizon->slots, 0, (size_t)capacity * sizeof(ph_horizon_slot));
    memset(horizon->known, 0, (size_t)capacity * horizon->stride);
    memset(horizon->words, 0, (size_t)layouts->word_count_max * sizeof(uint32_t));
    ph_flight_init(&horizon->flight, horizon->units, horizon->unit_count, is_wide);
    horizon->is_kept = ph_bitset_make(horizon->kept_words, capacity);
    return PH_OK;
}

void ph_horizon_destroy(ph_horizon* horizon)
{
    const ph_allocator* allocator = &horizon->allocator;
    const size_t slots = (size_t)horizon->capacity;
    if (slots > 0) {
        const ph_layouts* layouts = horizon->rules.layouts;
        ph_release_array(allocator, horizon->kept_words,
                         (size_t)ph_bitset_word_count(horizon->capacity), sizeof(uint64_t));
        ph_release_array(allocator, horizon->kept_known, slots, horizon->stride);
        ph_release_array(allocator, horizon->kept_slots, slots, sizeof(ph_horizon_slot));
        ph_release_array(allocator, horizon->kept, slots, sizeof(uint16_t));
        ph_release_array(allocator, horizon->words, (size_t)layouts->word_count_max,
                         sizeof(uint32_t));
        ph_release_array(allocator, horizon->units, horizon->unit_count, sizeof(uint32_t));
        ph_release_array(allocator, horizon->known, slots, horizon->stride);
        ph_release_array(allocator, horizon->slots, slots, sizeof(ph_horizon_slot));
        ph_release_array(allocator, horizon->packings, (size_t)layouts->count, sizeof(ph_packing));
    }
    *horizon = (ph_horizon){0};
}

void ph_horizon_begin(ph_horizon* horizon, uint32_t tick_us)
{
    horizon->rules.tick_us = tick_us;
}

// ---- moving on

static void copy_slot(ph_horizon_slot* to, uint8_t* to_known, const ph_horizon_slot* from,
                      const uint8_t* from_known, uint32_t stride)
{
    *to = *from;
    memcpy(to_known, from_known, stride);
}

// Before its first change.
static void keep(ph_horizon* horizon, int slot)
{
    if (ph_bitset_test(&horizon->is_kept, slot)) {
        return;
    }
    ph_bitset_set(&horizon->is_kept, slot);
    const int place = horizon->kept_count++;
    horizon->kept[place] = (uint16_t)slot;
    copy_slot(&horizon->kept_slots[place], horizon->kept_known + (size_t)place * horizon->stride,
              &horizon->slots[slot], ph_horizon_known(horizon, slot), horizon->stride);
}

// Puts the values of an item into the block of words.
static void unpack(ph_horizon* horizon, const ph_flight_item* item, int class_index)
{
    const ph_packing* packing = &horizon->packings[class_index];
    const ph_layout* layout = &horizon->rules.layouts->layouts[class_index];
    const uint8_t* bytes = item->values;
    for (uint64_t left = item->properties; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        ph_packing_load(packing, property, bytes, horizon->words + layout->word[property]);
        bytes += packing->size[property];
    }
}

static newcomer newcomer_of(const ph_flight_item* item)
{
    newcomer who = {0};
    if (item->kind == PH_RECORD_ENTER) {
        memcpy(&who, item->values + item->value_bytes - sizeof who, sizeof who);
    }
    return who;
}

static void fold(ph_horizon* horizon, const ph_flight_item* item, uint32_t tick)
{
    keep(horizon, item->slot);
    ph_horizon_slot* slot = &horizon->slots[item->slot];
    const newcomer who = newcomer_of(item);
    const bool is_enter = item->kind == PH_RECORD_ENTER;
    const ph_record record = {
        .properties = item->properties,
        .slot = item->slot,
        .kind = item->kind,
        .class_index = is_enter ? who.class_index : slot->baseline.class_index,
        .is_jump = item->is_jump,
        .velocity = {who.velocity[0], who.velocity[1], who.velocity[2]},
        .words = horizon->words,
    };
    unpack(horizon, item, record.class_index);
    uint8_t* known = horizon->known + (size_t)item->slot * horizon->stride;
    ph_baseline_take(&slot->baseline, known, &horizon->rules, &record, tick);
    if (is_enter) {
        slot->association = who.association;
    }
}

static void fold_packet(ph_horizon* horizon, int index)
{
    const ph_flight* flight = &horizon->flight;
    const ph_flight_packet* packet = &flight->packets[index];
    ph_flight_walk walk = ph_flight_walk_make(flight, packet);
    for (int i = 0; i < packet->item_count; ++i, ph_flight_walk_on(&walk)) {
        const ph_flight_item item = ph_flight_read(flight, walk.place);
        fold(horizon, &item, packet->stamp.tick);
    }
    if (horizon->greatest_names[index] > horizon->name_base) {
        horizon->name_base = horizon->greatest_names[index];
    }
}

void ph_horizon_move(ph_horizon* horizon, uint32_t number)
{
    PH_ASSERT(horizon->moved_count == 0 && horizon->kept_count == 0);

    const ph_flight* flight = &horizon->flight;
    horizon->kept_name_base = horizon->name_base;
    while (horizon->moved_count < flight->count) {
        const int index = (flight->first + horizon->moved_count) % PH_FLIGHT_MAX;
        if (ph_number_is_ahead(flight->packets[index].stamp.number, number)) {
            break; // it is newer
        }
        fold_packet(horizon, index);
        ++horizon->moved_count;
    }
}

static void forget_kept(ph_horizon* horizon)
{
    for (int i = 0; i < horizon->kept_count; ++i) {
        ph_bitset_clear(&horizon->is_kept, horizon->kept[i]);
    }
    horizon->kept_count = 0;
    horizon->moved_count = 0;
}

void ph_horizon_restore(ph_horizon* horizon)
{
    const uint32_t stride = horizon->stride;
    for (int i = 0; i < horizon->kept_count; ++i) {
        const size_t slot = horizon->kept[i];
        copy_slot(&horizon->slots[slot], horizon->known + slot * stride, &horizon->kept_slots[i],
                  horizon->kept_known + (size_t)i * stride, stride);
    }
    horizon->name_base = horizon->kept_name_base;
    forget_kept(horizon);
}

void ph_horizon_settle(ph_horizon* horizon)
{
    for (int i = 0; i < horizon->moved_count; ++i) {
        ph_flight_retire(&horizon->flight);
    }
    forget_kept(horizon);
}

// ---- what was applied

static size_t value_bytes(const ph_horizon* horizon, const ph_record* record)
{
    if (record->kind == PH_RECORD_LEAVE) {
        return 0;
    }
    const size_t size =
        ph_packing_size(&horizon->packings[record->class_index], record->properties);
    return size + (record->kind == PH_RECORD_ENTER ? sizeof(newcomer) : 0);
}

bool ph_horizon_has_room(const ph_horizon* horizon, const ph_record* records, int count)
{
    ph_flight flight = horizon->flight;
    for (int i = 0; i < horizon->moved_count; ++i) {
        ph_flight_retire(&flight);
    }
    uint32_t all_units = 0;
    uint32_t largest_units = 0;
    for (int i = 0; i < count; ++i) {
        const uint32_t item_units =
            ph_flight_item_units(flight.is_wide, value_bytes(horizon, &records[i]));
        all_units += item_units;
        largest_units = item_units > largest_units ? item_units : largest_units;
    }
    const uint32_t free_units =
        flight.is_wrapped ? flight.tail - flight.head : flight.capacity - flight.head + flight.tail;
    return count == 0 || all_units + largest_units <= free_units;
}

static void add_item(ph_horizon* horizon, const ph_record* record)
{
    const bool is_enter = record->kind == PH_RECORD_ENTER;
    ph_flight_item item = {
        .properties = record->kind == PH_RECORD_LEAVE ? 0 : record->properties,
        .slot = record->slot,
        .is_jump = record->is_jump,
        .kind = record->kind,
        .value_bytes = (uint16_t)value_bytes(horizon, record),
    };
    ph_flight_add(&horizon->flight, &item);
    ph_packing_store_all(&horizon->packings[record->class_index],
                         &horizon->rules.layouts->layouts[record->class_index], item.properties,
                         record->words, item.values);
    if (is_enter) {
        const newcomer who = {
            .association = record->association,
            .velocity = {record->velocity[0], record->velocity[1], record->velocity[2]},
            .class_index = record->class_index,
        };
        memcpy(item.values + item.value_bytes - sizeof who, &who, sizeof who);
    }
}

void ph_horizon_note(ph_horizon* horizon, uint32_t number, uint32_t tick, const ph_record* records,
                     int count)
{
    PH_ASSERT(horizon->moved_count == 0);

    if (count == 0) {
        return;
    }
    ph_flight* flight = &horizon->flight;
    const int index = (flight->first + flight->count) % PH_FLIGHT_MAX;
    const ph_flight_stamp stamp = {.number = number, .tick = tick};
    ph_flight_begin(flight, &stamp, NULL);
    uint64_t greatest_name = 0;
    for (int i = 0; i < count; ++i) {
        add_item(horizon, &records[i]);
        if (records[i].kind == PH_RECORD_ENTER && records[i].name > greatest_name) {
            greatest_name = records[i].name;
        }
    }
    horizon->greatest_names[index] = greatest_name;
    ph_flight_commit(flight);
}

// ---- soundness

uint64_t ph_horizon_digest(const ph_horizon* horizon, int slot_count)
{
    ph_hash hash = ph_hash_make(0);
    for (int i = 0; i < slot_count; ++i) {
        ph_hash_add_u64(&hash, ph_baseline_digest(&horizon->slots[i].baseline,
                                                  ph_horizon_known(horizon, i), &horizon->rules));
    }
    return ph_hash_value(&hash);
}

static bool are_packets_in_order(const ph_flight* flight)
{
    for (int i = 1; i < flight->count; ++i) {
        const ph_flight_stamp* older =
            &flight->packets[(flight->first + i - 1) % PH_FLIGHT_MAX].stamp;
        const ph_flight_stamp* newer = &flight->packets[(flight->first + i) % PH_FLIGHT_MAX].stamp;
        if (newer->number - older->number - 1 >= PH_FLIGHT_MAX ||
            newer->tick - older->tick > INT32_MAX) {
            return false;
        }
    }
    return true;
}

bool ph_horizon_validate(const ph_horizon* horizon)
{
    for (int i = 0; i < horizon->capacity; ++i) {
        const ph_horizon_slot* slot = &horizon->slots[i];
        const bool is_somebody =
            slot->association != 0 && slot->baseline.class_index < horizon->rules.layouts->count;
        if (slot->baseline.is_entered && !is_somebody) {
            return false;
        }
    }
    return horizon->moved_count == 0 && horizon->kept_count == 0 &&
           ph_bitset_count(&horizon->is_kept) == 0 && ph_flight_validate(&horizon->flight) &&
           are_packets_in_order(&horizon->flight);
}
