// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Random schemas with every coding, parameter and policy; values for their properties; and what a value
// should have become. A value is compared by a hash of what the contract hands out.

#ifndef PINHOLE_SOAK_SCHEMA_H
#define PINHOLE_SOAK_SCHEMA_H

#include "base/rng.h"

#include <pinhole/client.h>
#include <pinhole/world.h>

enum {
    SOAK_CLASSES_MAX = 4,
    SOAK_PROPERTIES_MAX = 14,
};

// Audiences: what all players have, what some have, and what no judged player ever has.
#define SOAK_AUDIENCE_ALL 1u
#define SOAK_AUDIENCE_SOME 2u
#define SOAK_AUDIENCE_SECRET 4u

// A reference to none. No other value has this hash.
#define SOAK_NO_ENTITY UINT64_C(0)

// Stays where it is: the defs point into it.
typedef struct soak_schema {
    ph_class_def classes[SOAK_CLASSES_MAX];
    int class_count;
    ph_property_def properties[SOAK_CLASSES_MAX][SOAK_PROPERTIES_MAX];
    char class_names[SOAK_CLASSES_MAX][20];
    char names[SOAK_CLASSES_MAX][SOAK_PROPERTIES_MAX][20];
    uint64_t initial[SOAK_CLASSES_MAX][SOAK_PROPERTIES_MAX]; // hashes, of what was never set
    int position[SOAK_CLASSES_MAX];                          // index of the property
    ph_schema* checked;
} soak_schema;

// Draws tables, makes the schema. @return False when there is no memory: *schema may be destroyed.
bool soak_schema_make(soak_schema* schema, uint64_t seed, const ph_allocator* allocator);
void soak_schema_destroy(soak_schema* schema);

// The property as the schema keeps it, with every default spelled out.
const ph_property_def* soak_property(const soak_schema* schema, int class_index, int property);
int soak_property_count(const soak_schema* schema, int class_index);

// A value as it was set: what the world must hand out afterwards is found from this alone.
typedef struct soak_value {
    double reals[4];
    int64_t whole;
    ph_entity_id target;
    size_t size; // of bytes
    uint8_t bytes[64];
} soak_value;

soak_value soak_value_draw(const ph_property_def* def, ph_rng* rng);

// Not for a POSITION.
ph_result soak_value_set(ph_world* world, ph_entity_id entity, const ph_property_def* def,
                         int property, const soak_value* value);

// Whether the world has what was set, within the precision of the coding.
bool soak_value_is_kept(const ph_world* world, ph_entity_id entity, const ph_property_def* def,
                        int property, const soak_value* value);

// The value as a hash; a reference as that of the key, SOAK_NO_ENTITY for none.
uint64_t soak_world_hash(const ph_world* world, ph_entity_id entity, const ph_property_def* def,
                         int property);
uint64_t soak_client_hash(const ph_client* client, ph_entity_id entity, const ph_property_def* def,
                          int property);
uint64_t soak_key_hash(uint64_t key);

#endif
