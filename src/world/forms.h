// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How the entities of each class are told: their layouts on the wire, how values are remembered,
// and what follows from those. Made once with the world, read for every record.

#ifndef PH_WORLD_FORMS_H
#define PH_WORLD_FORMS_H

#include "wire/packing.h"

// {0} may be destroyed. Fields are read-only outside forms.c.
typedef struct ph_forms {
    ph_layouts layouts;
    ph_packing* packings;    // by class
    uint64_t* for_owners;    // by class: properties that only the own viewer gets
    uint64_t* for_audiences; // by class: properties for certain viewers
    uint64_t*
        stirring; // by class: what everybody gets in updates, but for the position and references
    int* first_property;    // by class: where its properties begin when all are numbered in a row
    int property_count;     // of all classes together
    size_t known_stride;    // bytes of the largest packed entity
    bool is_wide;           // a class has more than 32 properties
    int32_t half_window_mm; // of the narrowest shortened position
    ph_allocator allocator;
} ph_forms;

// @return PH_OK, or PH_ERROR_MEMORY with *forms set to {0}.
ph_result ph_forms_create(ph_forms* forms, const ph_schema* schema, const ph_allocator* allocator);
void ph_forms_destroy(ph_forms* forms);

// The properties of a class that a viewer with this audience may get, is_own: of its own entity.
uint64_t ph_forms_audience(const ph_forms* forms, int class_index, uint32_t audience, bool is_own);

#endif
