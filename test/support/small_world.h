// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A world for tests: two classes, one with a property of each kind, one with little; memory that
// counts and fails on demand.

#ifndef PINHOLE_TEST_SMALL_WORLD_H
#define PINHOLE_TEST_SMALL_WORLD_H

#include "pinhole/world.h"
#include "support/test_memory.h"

// Class 0.
typedef struct person {
    int32_t position_mm[3];
    float heading_deg;
    uint8_t health;
    char name[16];
    ph_entity_id target;
    struct {
        uint16_t length;
        uint8_t bytes[8];
    } badge;
    float velocity[3];
    int64_t money;
    int unbound; // of no interest to the world
} person;

// Its properties, in this order. MOOD is bound to no field.
enum { POSITION, HEADING, HEALTH, NAME, TARGET, BADGE, VELOCITY, MONEY, MOOD, PERSON_COUNT };

// Class 1 is a stone: its only property is its position, in steps of 1 mm, bound to no struct.
#define STONE 1

#define BIT(property) (UINT64_C(1) << (property))

typedef struct small_world {
    test_memory memory;
    ph_schema* schema;
    ph_world_def def; // what the world was made from; viewer_capacity is 1
    ph_world* world;
} small_world;

void small_world_setup(small_world* f, int entity_capacity);

// Another world, made from f->def as it is now, in place of the present one.
void small_world_again(small_world* f);

// Validates the world once more and looks for leaks.
void small_world_teardown(small_world* f);

// A person at (0, 0, 0).
ph_entity_id small_world_spawn(small_world* f, uint64_t name);

ph_entity_id small_world_spawn_at(small_world* f, uint64_t name, int32_t x_mm, int32_t y_mm);

// own may be {0}.
ph_viewer_id small_world_add_viewer(small_world* f, ph_entity_id own, int visible_max);

ph_vision small_world_sight(const small_world* f, ph_viewer_id viewer);

// The slot in which a viewer sees an entity, or -1; seeing does not count the own one in slot 0.
int small_world_slot(const small_world* f, ph_viewer_id viewer, ph_entity_id entity);
bool small_world_sees(const small_world* f, ph_viewer_id viewer, ph_entity_id entity);

// Frees all slots that the last tick left.
void small_world_free_left(small_world* f, ph_viewer_id viewer);

bool test_is_same(ph_entity_id a, ph_entity_id b);
bool test_is_none(ph_entity_id id);

// Every field filled, but for the target.
extern const person test_entity;

#endif
