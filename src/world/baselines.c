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

void ph_baselines_take_enter(ph_baselines* baselines, const ph_taking* taking, uint32_t place)
{
    const ph_flight_item item = ph_flight_read(taking->flight, place);
    const int class_index = taking->knowledge->class_index[item.slot];
    const uint64_t position = taking->rules.layouts->layouts[class_index].position;
    const ph_packing* packing = &taking->rules.packings[class_index];
    ph_record enter = {.class_index = (uint8_t)class_index};
    const uint8_t* extra = item.values + item.value_bytes - PH_ENTER_EXTRA_BYTES;
    memcpy(&enter.name, extra, sizeof enter.name);
    memcpy(enter.velocity, extra + sizeof enter.name, sizeof enter.velocity);
    baselines->name_base = enter.name > baselines->name_base ? enter.name : baselines->name_base;
    baselines->entered_end =
        item.slot < baselines->entered_end ? baselines->entered_end : item.slot + 1;
    ph_baseline_enter(&baselines->slots[item.slot], &taking->rules, &enter,
                      ph_packing_within(packing, item.properties, position, item.values),
                      taking->tick);
}

void ph_baselines_take_heading(ph_baselines* baselines, const ph_taking* taking, uint32_t place)
{
    const ph_flight_item item = ph_flight_read(taking->flight, place);
    ph_baseline* baseline = &baselines->slots[item.slot];
    const ph_layout* layout = &taking->rules.layouts->layouts[baseline->class_index];
    const ph_packing* packing = &taking->rules.packings[baseline->class_index];
    const int property = layout->heading_property;
    if (packing->size[property] == 0) {
        return; // told once
    }
    const uint8_t* known = ph_knowledge_known(taking->knowledge, item.slot);
    ph_turning turn = {0};
    ph_packing_load(packing, property, known + packing->offset[property], &turn.known_level);
    ph_packing_load(packing, property,
                    ph_packing_within(packing, item.properties, layout->heading, item.values),
                    &turn.level);
    if ((item.properties & layout->position) != 0 && !item.is_jump) {
        turn.position = ph_packing_within(packing, item.properties, layout->position, item.values);
    }
    ph_baseline_turn(baseline, &taking->rules, &turn, taking->tick);
}
