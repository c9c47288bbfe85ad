// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/baselines.h"

#include "base/bitset.h"

#include <string.h>

_Static_assert(PH_ENTER_EXTRA_BYTES == sizeof(uint64_t) + 3 * sizeof(int16_t),
               "a name and a velocity");

void ph_baselines_init(ph_baselines* baselines, void* memory, int slot_count)
{
    *baselines = (ph_baselines){.slots = memory};
    baselines->chosen = (uint16_t*)(baselines->slots + slot_count);
    baselines->urgencies = (uint8_t*)(baselines->chosen + slot_count);
    baselines->coarse = baselines->urgencies + slot_count;
}

void ph_baselines_store_extra(const ph_flight_item* item, const ph_record* enter)
{
    uint8_t* extra = item->values + item->value_bytes - PH_ENTER_EXTRA_BYTES;
    memcpy(extra, &enter->name, sizeof enter->name);
    memcpy(extra + sizeof enter->name, enter->velocity, sizeof enter->velocity);
}

static void load_extra(const ph_flight_item* item, ph_record* enter)
{
    const uint8_t* extra = item->values + item->value_bytes - PH_ENTER_EXTRA_BYTES;
    memcpy(&enter->name, extra, sizeof enter->name);
    memcpy(enter->velocity, extra + sizeof enter->name, sizeof enter->velocity);
}

// Of these properties alone.
static void unpack(const ph_layout* layout, const ph_packing* packing, const ph_flight_item* item,
                   uint64_t wanted, uint32_t* words)
{
    const uint8_t* values = item->values;
    for (uint64_t left = item->properties & wanted; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const uint64_t before = (left & (0 - left)) - 1;
        ph_packing_load(packing, property,
                        values + ph_packing_size(packing, item->properties & before),
                        words + layout->word[property]);
    }
}

void ph_baselines_take(ph_baselines* baselines, const ph_baseline_rules* rules,
                       const ph_taking* taking)
{
    const ph_flight_item* item = taking->item;
    if (item->kind == PH_RECORD_UPDATE && item->properties == 0) {
        return;
    }
    uint32_t words[PH_PROPERTIES_MAX * PH_VALUE_WORDS_MAX];
    ph_record record = {
        .properties = item->properties,
        .slot = item->slot,
        .kind = item->kind,
        .class_index = (uint8_t)taking->class_index,
        .is_jump = item->is_jump,
        .words = words,
    };
    const ph_layout* layout = &rules->layouts->layouts[taking->class_index];
    unpack(layout, &rules->packings[taking->class_index], item, layout->position | layout->heading,
           words);
    if (record.kind == PH_RECORD_ENTER) {
        load_extra(item, &record);
        const uint64_t name = record.name;
        baselines->name_base = name > baselines->name_base ? name : baselines->name_base;
    }
    ph_baseline_move(&baselines->slots[item->slot], taking->known, rules, &record, taking->tick);
}
