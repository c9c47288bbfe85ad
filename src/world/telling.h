// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a tick leaves for the sends that follow it: who came into each view and who left it, and
// which properties may have become due. The former once per tick and viewer, the latter when it is
// wanted: most viewers are not sent to in every tick, and what they know is in no cache.

#ifndef PH_WORLD_TELLING_H
#define PH_WORLD_TELLING_H

#include "world/world_state.h"

// After the viewers were refreshed, before the changes are filed. Allocates nothing.
void ph_tell_tick(ph_world* world);

// Tells one viewer of all changes up to the last tick: before `touched` of its slots is looked at.
// Nothing that can be seen from outside changes, so the world may be constant.
void ph_tell_viewer(const ph_world* world, uint32_t index);

// `touched` of one slot as the next ph_tell_viewer() will leave it, for whoever only asks: several
// threads may, at once.
uint64_t ph_tell_touched(const ph_world* world, uint32_t index, int slot);

#endif
