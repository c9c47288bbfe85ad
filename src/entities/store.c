// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Class info, and the tables by class. Made when the world is; a table grows when a spawn finds no room.

#include "entities/store.h"

#include "base/allocator.h"
#include "base/bitset.h"

#include <limits.h>

#define NARROW_PROPERTIES 32

// ---- class info

static void add_class(ph_class_info* class_info, int index)
{
    const ph_layout* layout = &class_info->layouts.layouts[index];
    const ph_class* described = layout->described;
    class_info->packings[index] = ph_packing_make(layout);
    class_info->for_owners[index] = 0;
    class_info->for_audiences[index] = 0;
    for (int p = 0; p < described->def.property_count; ++p) {
        const ph_audience audience = described->properties[p].def.audience;
        class_info->for_owners[index] |= (uint64_t)(audience == PH_AUDIENCE_OWNER) << p;
        class_info->for_audiences[index] |= (uint64_t)(audience == PH_AUDIENCE_MASK) << p;
    }
    class_info->stirring[index] =
        layout->all &
        ~(layout->position | layout->orientation | layout->smooth | layout->references |
          layout->once | class_info->for_owners[index] | class_info->for_audiences[index]);
    class_info->first_property[index] = class_info->property_count;
    class_info->property_count += described->def.property_count;
    class_info->is_wide |= described->def.property_count > NARROW_PROPERTIES;
    if (class_info->packings[index].stride > class_info->known_stride) {
        class_info->known_stride = class_info->packings[index].stride;
    }
    const ph_coordinate* coordinate = &described->properties[described->position].coordinate;
    const int half_bits = coordinate->shift + coordinate->width - 1;
    const int32_t half_mm = half_bits >= 31 ? INT32_MAX : INT32_C(1) << half_bits;
    if (half_mm < class_info->half_window_mm) {
        class_info->half_window_mm = half_mm;
    }
}

ph_result ph_class_info_create(ph_class_info* class_info, const ph_schema* schema,
                               ph_profile profile, const ph_allocator* allocator)
{
    *class_info = (ph_class_info){.allocator = *allocator, .half_window_mm = INT32_MAX};
    if (ph_layouts_create(&class_info->layouts, schema, allocator) != PH_OK) {
        *class_info = (ph_class_info){0};
        return PH_ERROR_MEMORY;
    }
    if (profile == PH_PROFILE_CLASSIC) {
        ph_layouts_forget_finest(&class_info->layouts);
    }
    const size_t count = (size_t)class_info->layouts.count;
    class_info->packings = ph_allocate_array(allocator, count, sizeof(ph_packing));
    class_info->for_owners = ph_allocate_array(allocator, count, sizeof(uint64_t));
    class_info->for_audiences = ph_allocate_array(allocator, count, sizeof(uint64_t));
    class_info->stirring = ph_allocate_array(allocator, count, sizeof(uint64_t));
    class_info->first_property = ph_allocate_array(allocator, count, sizeof(int));
    if (class_info->packings == NULL || class_info->for_owners == NULL ||
        class_info->for_audiences == NULL || class_info->stirring == NULL ||
        class_info->first_property == NULL) {
        ph_class_info_destroy(class_info);
        return PH_ERROR_MEMORY;
    }
    for (int i = 0; i < class_info->layouts.count; ++i) {
        add_class(class_info, i);
    }
    return PH_OK;
}

void ph_class_info_destroy(ph_class_info* class_info)
{
    const size_t count = (size_t)class_info->layouts.count;
    ph_release_array(&class_info->allocator, class_info->packings, count, sizeof(ph_packing));
    ph_release_array(&class_info->allocator, class_info->for_owners, count, sizeof(uint64_t));
    ph_release_array(&class_info->allocator, class_info->for_audiences, count, sizeof(uint64_t));
    ph_release_array(&class_info->allocator, class_info->stirring, count, sizeof(uint64_t));
    ph_release_array(&class_info->allocator, class_info->first_property, count, sizeof(int));
    ph_layouts_destroy(&class_info->layouts);
    *class_info = (ph_class_info){0};
}

uint64_t ph_class_info_audience(const ph_class_info* class_info, int class_index, uint32_t audience,
                                bool is_own)
{
    const ph_layout* layout = &class_info->layouts.layouts[class_index];
    uint64_t refused = is_own ? 0 : class_info->for_owners[class_index];
    for (uint64_t left = class_info->for_audiences[class_index]; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const ph_property* described = &layout->described->properties[property];
        refused |= (described->def.audience_mask & audience) == 0 ? left & -left : 0;
    }
    return layout->all & ~refused;
}

// ---- the store

static ph_result create_tables(ph_store* store, int entity_capacity)
{
    const int class_count = ph_schema_class_count(store->schema);
    store->tables = ph_allocate_zeroed(&store->allocator, (size_t)class_count * sizeof(ph_table));
    if (store->tables == NULL) {
        return PH_ERROR_MEMORY;
    }
    store->class_count = class_count;
    for (int i = 0; i < class_count; ++i) {
        // Which classes will be many is not known yet: each gets an equal share to start with.
        const ph_class* described = ph_schema_class_at(store->schema, i);
        const int rows = entity_capacity / class_count;
        if (ph_table_create(&store->tables[i], described, &store->allocator, rows) != PH_OK) {
            return PH_ERROR_MEMORY;
        }
        store->tables[i].mark_ticks = (PH_MARK_US + store->tick_us - 1) / store->tick_us;
    }
    return PH_OK;
}

ph_result ph_store_create(ph_store* store, const ph_store_def* def, const ph_allocator* allocator)
{
    *store = (ph_store){
        .schema = def->schema,
        .ground = def->ground,
        .tick_us = def->tick_us,
        .tick_s = (float)def->tick_us * 1e-6f,
        .has_filter = def->has_filter,
        .allocator = *allocator,
    };
    ph_growths_fill(store->growths, def->tick_us);
    ph_normals_fill(&store->normals, def->tick_us);
    if (ph_entities_create(&store->entities, allocator, def->entity_capacity) != PH_OK ||
        create_tables(store, def->entity_capacity) != PH_OK ||
        ph_class_info_create(&store->class_info, def->schema, def->profile, allocator) != PH_OK) {
        ph_store_destroy(store);
        return PH_ERROR_MEMORY;
    }
    ph_told_costs_fill(&store->told_costs, &store->class_info.layouts.models);
    store->entities.stride_rule = ph_stride_rule_make(def->tick_us);
    // A step of what the game hides by a callback may be told as a jump or not only by what it is itself: how the entity
    // moved before may be a secret, and it is not known since when.
    store->entities.is_far_a_jump = def->jump_mm != 0 || def->has_filter;
    store->entities.far_mm =
        def->jump_mm != 0 ? def->jump_mm : (int64_t)store->entities.stride_rule.slow_mm;
    return PH_OK;
}

void ph_store_destroy(ph_store* store)
{
    ph_class_info_destroy(&store->class_info);
    for (int i = 0; i < store->class_count; ++i) {
        ph_table_destroy(&store->tables[i]);
    }
    ph_release_array(&store->allocator, store->tables, (size_t)store->class_count,
                     sizeof(ph_table));
    ph_entities_destroy(&store->entities);
    *store = (ph_store){0};
}

int ph_grown_capacity(int capacity)
{
    if (capacity > INT_MAX / 2) {
        return 0;
    }
    return capacity < 8 ? 16 : 2 * capacity;
}

ph_result ph_store_make_row(ph_store* store, int class_index)
{
    ph_table* table = &store->tables[class_index];
    if (!ph_table_is_full(table)) {
        return PH_OK;
    }
    const int rows = ph_grown_capacity(table->capacity);
    return rows == 0 ? PH_ERROR_MEMORY : ph_table_reserve(table, rows);
}

// ---- validation

// References name an entity that lives or lived, or none.
static bool are_references_sound(const ph_store* store, const ph_table* table, uint32_t row)
{
    for (int p = 0; p < table->described->def.property_count; ++p) {
        if (table->described->properties[p].def.coding != PH_CODING_ENTITY) {
            continue;
        }
        const uint32_t* words = ph_table_value(table, p, row);
        const ph_id_pool* ids = &store->entities.ids;
        const bool is_none = words[0] == 0 && words[1] == 0;
        if (!is_none && (words[0] == 0 || words[0] > (uint32_t)ids->used_count || words[1] == 0 ||
                         words[1] > ids->slots[words[0] - 1].generation)) {
            return false;
        }
    }
    return true;
}

static bool are_rows_sound(const ph_store* store)
{
    const ph_entities* entities = &store->entities;
    for (int i = 0; i < entities->live_count; ++i) {
        const ph_entity_index index = entities->live[i];
        if (entities->class_index[index] >= store->class_count) {
            return false;
        }
        const ph_table* table = &store->tables[entities->class_index[index]];
        const uint32_t row = entities->whereabouts[index].row;
        if (row >= (uint32_t)table->used_count || table->owner[row] != index ||
            !are_references_sound(store, table, row)) {
            return false;
        }
    }
    return true;
}

bool ph_store_validate(const ph_store* store)
{
    int rows = 0;
    for (int i = 0; i < store->class_count; ++i) {
        if (!ph_table_validate(&store->tables[i])) {
            return false;
        }
        rows += store->tables[i].used_count - store->tables[i].free_count;
    }
    return ph_entities_validate(&store->entities) && rows == store->entities.live_count &&
           are_rows_sound(store);
}
