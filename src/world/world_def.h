// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which declarations of worlds and viewers make sense, and what hysteresis makes of them.

#ifndef PH_WORLD_WORLD_DEF_H
#define PH_WORLD_WORLD_DEF_H

#include <pinhole/world.h>

// Half way round the world: nothing is further along an axis.
#define PH_RADIUS_MAX_MM (INT64_C(1) << 31)

bool ph_world_def_is_sensible(const ph_world_def* def);
bool ph_viewer_def_is_sensible(const ph_viewer_def* def, int32_t radius_max_mm);
bool ph_budget_is_sensible(int bits_per_second, int burst_bits);

// What the zeros of a declaration stand for.
int32_t ph_jump_limit(const ph_world_def* def);
int ph_slot_count_of(const ph_viewer_def* def, ph_profile profile);

// Rank and distance at which an entity leaves.
int ph_wider_count(int visible_max, double hysteresis);
int64_t ph_wider_radius(int32_t radius_mm, double hysteresis);

#endif
