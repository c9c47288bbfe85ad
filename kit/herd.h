// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A herd of creatures with 25 properties each (kit/creature.h) that walk about in a square, turn now
// and then, and are wounded: the load that a server of an online role-playing game has. As many to
// the km2 as give everybody 250 in view. The same count and seed give the same motion.
//
//     ph_herd* herd = ph_herd_create(2000, 1);
//     ph_herd_put(herd, world);            // spawns all; the world's schema is the herd's
//     for (...) {
//         ph_herd_step(herd, world);
//         ph_world_tick(world);
//     }
//     ph_herd_destroy(herd);

#ifndef PINHOLE_KIT_HERD_H
#define PINHOLE_KIT_HERD_H

#include <pinhole/world.h>

enum { PH_HERD_RATE_HZ = 10 };

// So far that even in a corner of the square there are enough in view.
#define PH_HERD_RADIUS_MM 500000

// Arrays by creature, read-only outside. The name of creature i is i + 1.
typedef struct ph_herd {
    int count;
    ph_schema* schema; // of the one class
    ph_entity_id* id;
    int32_t* x_mm;
    int32_t* y_mm;
    struct ph_herd_walk* walks;
} ph_herd;

// count is 1 or more. @return NULL when there is no memory.
ph_herd* ph_herd_create(int count, uint64_t seed);
void ph_herd_destroy(ph_herd* herd); // NULL is allowed

// Spawns everybody where it is. Once. @return PH_OK, or why not.
ph_result ph_herd_put(ph_herd* herd, ph_world* world);

// Goes on by a tenth of a second.
void ph_herd_step(ph_herd* herd, ph_world* world);

#endif
