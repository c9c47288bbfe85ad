// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The baselines of one viewer's slots (wire/baseline.h), as its sender moves them on: by each item of
// a packet that the client has applied, when that becomes known. So they are always those of the
// horizon that the next packet states. Pinhole profile only.
//
// An item holds packed values. Behind those of an enter stands what else its record said:
//
//   | values | name 8 | velocity 2 2 2 |
//
// Once per record whose fate is learned; nothing allocates.

#ifndef PH_WORLD_BASELINES_H
#define PH_WORLD_BASELINES_H

#include "wire/baseline.h"
#include "wire/flight.h"
#include "world/knowledge.h"

#define PH_ENTER_EXTRA_BYTES 14

// Writes what follows the values of an enter. value_bytes counts it already.
void ph_baselines_store_extra(const ph_flight_item* item, const ph_record* enter);

// {0} is of no use; the arrays are the caller's.
typedef struct ph_baselines {
    ph_baseline* slots; // by slot; NULL: the profile knows no baselines
    // Of the packet under way.
    uint16_t* chosen;   // by slot: 1 + place among those chosen for it; 0: not chosen
    uint8_t* urgencies; // by slot
    uint8_t* coarse;    // by slot: of the position that is told; 0: exactly, or none
    uint64_t name_base; // greatest name of all enters that were applied
    int entered_end;    // slots from here on are not entered
} ph_baselines;

#define PH_BASELINES_BYTES_PER_SLOT (sizeof(ph_baseline) + sizeof(uint16_t) + 2)
void ph_baselines_init(ph_baselines* baselines, void* memory, int slot_count);

// What is the same for all items of a packet that was applied.
typedef struct ph_taking {
    ph_baseline_rules rules;
    const ph_flight* flight;
    const ph_knowledge* knowledge; // learns of an item after this
    uint32_t tick;                 // of the packet
    uint32_t head_units;           // of its items
} ph_taking;

// What is rare reads the item anew: so whoever goes over them need not keep it in memory.
void ph_baselines_take_enter(ph_baselines* baselines, const ph_taking* taking, uint32_t place);
void ph_baselines_take_heading(ph_baselines* baselines, const ph_taking* taking, uint32_t place);

static inline void ph_baselines_take_update(ph_baselines* baselines, const ph_taking* taking,
                                            uint32_t place)
{
    const ph_flight_item item = ph_flight_read(taking->flight, place);
    ph_baseline* baseline = &baselines->slots[item.slot];
    // Without properties it was withdrawn and says nothing.
    if (item.properties == 0 || !baseline->is_entered) {
        return;
    }
    const int class_index = baseline->class_index;
    const ph_layout* layout = &taking->rules.layouts->layouts[class_index];
    if ((item.properties & layout->heading) != 0) {
        ph_baselines_take_heading(baselines, taking, place);
    }
    baseline->told_mask = ph_baseline_told(layout, item.properties, item.is_jump);
    if ((item.properties & layout->position) != 0) {
        const uint8_t* position = ph_packing_within(&taking->rules.packings[class_index],
                                                    item.properties, layout->position, item.values);
        if (item.is_jump) {
            ph_baseline_jump(baseline, position, taking->tick);
        } else {
            ph_baseline_step(baseline, &taking->rules, position, taking->tick);
        }
    }
}

// The item at a place of the flight.
static inline void ph_baselines_take(ph_baselines* baselines, const ph_taking* taking,
                                     uint32_t place)
{
    const ph_flight_item item = ph_flight_read(taking->flight, place);
    if (item.kind == PH_RECORD_UPDATE) {
        ph_baselines_take_update(baselines, taking, place);
    } else if (item.kind == PH_RECORD_ENTER) {
        ph_baselines_take_enter(baselines, taking, place);
    } else {
        baselines->slots[item.slot] = (ph_baseline){0};
    }
}

#endif
