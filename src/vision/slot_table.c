// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From an entity to its slot, and the order in which neighbours take slots. Runs when a slot is entered
// or left.

#include "vision/slot_table.h"

#include <string.h>

// ---- the table
//
// Removal closes the gap instead of leaving a tombstone: a table that lives as long as its viewer would
// silt up otherwise.

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

// ---- neighbours beside each other
//
// Greedy: a few thousand distances for a block. The best way through all of them would be a fifth
// shorter, which is a third of a bit for each.

// Which power of two the distance is in.
static int class_of(uint64_t distance2)
{
    int bits = 0;
    for (; distance2 > 3; distance2 >>= 2) {
        ++bits;
    }
    return bits;
}

// Of first..end-1, the nearest to one of them all; the first of several.
static int nearest_to(const ph_seen* from, const ph_seen* seen, int first, int end,
                      const int32_t* x_mm, const int32_t* y_mm)
{
    int best = first;
    uint64_t best2 = UINT64_MAX;
    for (int i = first; i < end; ++i) {
        const ph_entity_index each = seen[i].entity;
        const uint64_t distance2 =
            ph_distance2(x_mm[each], y_mm[each], x_mm[from->entity], y_mm[from->entity]);
        if (distance2 < best2) {
            best = i;
            best2 = distance2;
        }
    }
    return best;
}

// Whether one belongs to the block that begins with the other.
static bool is_as_near(const ph_seen* first, const ph_seen* other)
{
    return class_of(first->distance2) == class_of(other->distance2);
}

void ph_chain_neighbours(ph_seen* seen, int count, const int32_t* x_mm, const int32_t* y_mm)
{
    int first = 0;
    while (first < count) {
        int end = first + 1;
        while (end < count && end - first < PH_CHAIN_LENGTH &&
               is_as_near(&seen[first], &seen[end])) {
            ++end;
        }
        for (int i = first > 0 ? first : 1; i < end; ++i) {
            const int best = nearest_to(&seen[i - 1], seen, i, end, x_mm, y_mm);
            const ph_seen next = seen[best];
            seen[best] = seen[i];
            seen[i] = next;
        }
        first = end;
    }
}
