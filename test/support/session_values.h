// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Values in tests of whole sessions: schemas to choose from, random values for any of them, and a
// hash of each value that both ends agree on. A reference counts by the name of its target.

#ifndef PINHOLE_SESSION_VALUES_H
#define PINHOLE_SESSION_VALUES_H

#include "test_support.h"

#include <pinhole/client.h>
#include <pinhole/world.h>

typedef enum session_schema {
    SESSION_CREATURES, // kit/creature, and a class that has a position and nothing else
    SESSION_WALKERS,   // a few properties on a ground of several layers, steps of 4 mm
    SESSION_PEBBLES,   // as little as possible
    SESSION_RANDOM,    // any codings, by the seed
    SESSION_SCHEMA_COUNT,
    SESSION_CARRIED, // bodies that turn, and carry each other
} session_schema;

// The ground beneath all of them is random_record_ground().
ph_schema* session_schema_make(session_schema kind, uint64_t seed);

// A random legal value of any property but the position; references to one of `targets`, or none.
void session_value_set(ph_world* world, ph_entity_id entity, const ph_property_def* def,
                       int property, test_rng* rng, const ph_entity_id* targets, int target_count);

// The same from the whole range of the property, its ends most of all; and what lies beyond them where it
// clamps.
void session_value_set_wide(ph_world* world, ph_entity_id entity, const ph_property_def* def,
                            int property, test_rng* rng, const ph_entity_id* targets,
                            int target_count);

// What a reference to no entity hashes to.
#define SESSION_NO_ENTITY UINT64_C(0)

uint64_t session_world_value(const ph_world* world, ph_entity_id entity, const ph_property_def* def,
                             int property);
uint64_t session_client_value(const ph_client* client, ph_entity_id entity,
                              const ph_property_def* def, int property);

// Names are what they say: their hash as a reference.
uint64_t session_name_value(uint64_t name);

#endif
