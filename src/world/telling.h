// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a tick leaves for the sends that follow it: who came into each view and who left it, and
// which properties may have become due. Once per tick and viewer.

#ifndef PH_WORLD_TELLING_H
#define PH_WORLD_TELLING_H

#include "world/world_state.h"

// After the viewers were refreshed, before the changes are forgotten. Allocates nothing.
void ph_tell_tick(ph_world* world);

#endif
