// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// All that replication reads of a world: the entities, their values by class, the tick; and class info,
// which is how the entities of each class go on the wire and what follows from that. Class info is
// made once with the world and read for every record.

#ifndef PH_ENTITIES_STORE_H
#define PH_ENTITIES_STORE_H

#include "entities/columns.h"
#include "entities/entities.h"
#include "packet/baseline.h"
#include "packet/layout.h"
#include "packet/pinhole_records.h"

// {0} may be destroyed. Fields are read-only outside store.c.
typedef struct ph_class_info {
    ph_layouts layouts;
    ph_packing* packings;    // by class
    uint64_t* for_owners;    // by class: properties that only the own viewer gets
    uint64_t* for_audiences; // by class: properties for certain viewers
    uint64_t* stirring;  // by class: what all viewers get in updates, but for motion and references
    int* first_property; // by class: where its properties begin when all are numbered in a row
    int property_count;  // of all classes together
    size_t known_stride; // bytes of the largest packed entity
    bool is_wide;        // a class has more than 32 properties
    int32_t half_window_mm; // of the narrowest shortened position
    ph_allocator allocator;
} ph_class_info;

// @return PH_OK, or PH_ERROR_MEMORY with *class_info set to {0}.
ph_result ph_class_info_create(ph_class_info* class_info, const ph_schema* schema,
                               ph_profile profile, const ph_allocator* allocator);

void ph_class_info_destroy(ph_class_info* class_info);

// The properties of a class that a viewer with this audience may get, is_own: of its own entity.
uint64_t ph_class_info_audience(const ph_class_info* class_info, int class_index, uint32_t audience,
                                bool is_own);

// All entities of a world with their values, as the replication of every viewer reads them. Changes
// between sends only. {0} may be destroyed.
typedef struct ph_store {
    ph_entities entities;
    ph_table* tables; // by class
    int class_count;
    ph_class_info class_info;
    const ph_schema* schema;
    ph_ground ground;
    uint32_t tick;    // the present one
    uint32_t tick_us; // its length
    float tick_s;
    bool has_filter; // the game decides by a callback which viewer may see which entity
    // Worked out once from the length of a tick, for the pinhole profile.
    int16_t growths[PH_GROWTH_TICKS]; // of residuals
    ph_told_costs told_costs;
    ph_normals normals;
    ph_allocator allocator;
} ph_store;

typedef struct ph_store_def {
    const ph_schema* schema;
    ph_profile profile;
    ph_ground ground;
    uint32_t tick_us;
    int64_t jump_mm; // the game's own rule; 0: by how each entity moves
    int entity_capacity;
    bool has_filter;
} ph_store_def;

// @return PH_OK, or PH_ERROR_MEMORY with *store set to {0}.
ph_result ph_store_create(ph_store* store, const ph_store_def* def, const ph_allocator* allocator);
void ph_store_destroy(ph_store* store);

// Room for one more row of this class; the entity itself needs ph_entities_reserve().
// @return PH_OK, or PH_ERROR_MEMORY with everything as it was.
ph_result ph_store_make_row(ph_store* store, int class_index);

// The double of a capacity, or at least 16. @return 0 when no int is that large.
int ph_grown_capacity(int capacity);

// Whether tables, rows and entities agree. For tests; walks everything.
bool ph_store_validate(const ph_store* store);

#endif
