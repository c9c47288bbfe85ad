// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs when a slot is entered or left. Removal closes the gap instead of leaving a tombstone: a
// table that lives as long as its viewer would silt up otherwise.

#include "vision/slot_table.h"

#include <string.h>

static int shift_for(int slot_count)
{
    int shift = 31;
    while ((UINT32_MAX >> shift) + 1 < 2 * (uint32_t)slot_count) {
        --shift;
    }
    return shift;
}

size_t ph_slot_table_size(int slot_count)
{
    PH_ASSERT(slot_count >= 1 && slot_count <= PH_SLOT_NONE);

    return (size_t)(UINT32_MAX >> shift_for(slot_count)) + 1;
}

ph_slot_table ph_slot_table_make(uint16_t* entries, const ph_entity_index* entities, int slot_count)
{
    memset(entries, 0xFF, ph_slot_table_size(slot_count) * sizeof(uint16_t));
    return (ph_slot_table){
        .entries = entries, .entities = entities, .shift = shift_for(slot_count)};
}

void ph_slot_table_insert(ph_slot_table* table, ph_entity_index entity, int slot)
{
    const uint32_t place = ph_slot_table_place(table, entity);
    PH_ASSERT(table->entries[place] == PH_SLOT_NONE);

    table->entries[place] = (uint16_t)slot;
}

// Whatever follows the gap and may stand nearer to its home moves into it.
void ph_slot_table_remove(ph_slot_table* table, ph_entity_index entity)
{
    const uint32_t last = ph_slot_table_last(table);
    uint32_t gap = ph_slot_table_place(table, entity);
    PH_ASSERT(table->entries[gap] != PH_SLOT_NONE);

    for (uint32_t place = (gap + 1) & last; table->entries[place] != PH_SLOT_NONE;
         place = (place + 1) & last) {
        const uint32_t home = ph_slot_table_home(table, table->entities[table->entries[place]]);
        if (((place - home) & last) >= ((place - gap) & last)) {
            table->entries[gap] = table->entries[place];
            gap = place;
        }
    }
    table->entries[gap] = PH_SLOT_NONE;
}

int ph_slot_table_count(const ph_slot_table* table)
{
    int count = 0;
    for (size_t i = 0; i <= ph_slot_table_last(table); ++i) {
        count += table->entries[i] != PH_SLOT_NONE;
    }
    return count;
}
