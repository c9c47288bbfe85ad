// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Hints in a hash map. The key has the generation in it, so a hint never reaches the entity that
// gets the same index later; what is out of date is thrown out when the map is full.

#include "world/hints.h"

#include <string.h>

#define USUAL_WEIGHT 1.0f
#define FIRST_COUNT 8

// Keys are the world's own ids: any seed will do.
#define HINT_SEED UINT64_C(0x68696E74)

static uint64_t key_of(ph_entity_id entity)
{
    return (uint64_t)entity.index1 << 32 | entity.generation;
}

static bool is_alive(const ph_entities* entities, uint64_t key)
{
    const ph_entity_id id = {.index1 = (uint32_t)(key >> 32), .generation = (uint32_t)key};
    return ph_entities_find(entities, id) != PH_ENTITY_NONE;
}

void ph_hints_destroy(ph_hints* hints)
{
    ph_hash_map_destroy(&hints->weights);
}

// Another map with room for one more than those that still live.
static ph_result renew(ph_hints* hints, const ph_entities* entities, const ph_allocator* allocator)
{
    const ph_hash_map* old = &hints->weights;
    int live_count = 0;
    for (uint32_t i = 0; i < old->capacity; ++i) {
        live_count += old->entries[i].distance1 != 0 && is_alive(entities, old->entries[i].key);
    }
    ph_hash_map made;
    const int room = live_count < FIRST_COUNT ? FIRST_COUNT : 2 * live_count;
    if (ph_hash_map_create(&made, allocator, room, HINT_SEED) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < old->capacity; ++i) {
        if (old->entries[i].distance1 != 0 && is_alive(entities, old->entries[i].key)) {
            (void)ph_hash_map_insert(&made, old->entries[i].key, old->entries[i].value);
        }
    }
    ph_hash_map_destroy(&hints->weights);
    hints->weights = made;
    return PH_OK;
}

ph_result ph_hints_set(ph_hints* hints, const ph_entities* entities, const ph_allocator* allocator,
                       ph_entity_id entity, float weight)
{
    const uint64_t key = key_of(entity);
    if (weight == USUAL_WEIGHT) {
        (void)ph_hash_map_remove(&hints->weights, key);
        return PH_OK;
    }
    uint32_t bits;
    memcpy(&bits, &weight, sizeof bits);
    if (ph_hash_map_insert(&hints->weights, key, bits)) {
        return PH_OK;
    }
    if (renew(hints, entities, allocator) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    const bool is_set = ph_hash_map_insert(&hints->weights, key, bits);
    PH_ASSERT(is_set);
    (void)is_set;
    return PH_OK;
}

float ph_hints_weight(const ph_hints* hints, ph_entity_id entity)
{
    uint32_t bits;
    if (!ph_hash_map_try_find(&hints->weights, key_of(entity), &bits)) {
        return USUAL_WEIGHT;
    }
    float weight;
    memcpy(&weight, &bits, sizeof weight);
    return weight;
}
