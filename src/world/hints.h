// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What one viewer thinks of certain entities: "my target", "attacks me". Few per viewer, and kept
// whether they are in view or not. Set by the game, looked up when an entity enters; only setting
// allocates.

#ifndef PH_WORLD_HINTS_H
#define PH_WORLD_HINTS_H

#include "base/hash_map.h"
#include "world/entities.h"

// {0} is without hints and without memory.
typedef struct ph_hints {
    ph_hash_map weights; // id as one number -> the bits of a float
} ph_hints;

void ph_hints_destroy(ph_hints* hints);

// A weight of 1 is forgotten. Hints for entities that are gone make room first.
// @return PH_OK, or PH_ERROR_MEMORY with all hints as they were.
ph_result ph_hints_set(ph_hints* hints, const ph_entities* entities, const ph_allocator* allocator,
                       ph_entity_id entity, float weight);

// 1 without a hint.
float ph_hints_weight(const ph_hints* hints, ph_entity_id entity);

#endif
