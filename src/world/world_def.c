// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Declarations of worlds, visions and viewers: their defaults, and which of them make sense. Runs
// at creation.

#include "world/world_def.h"

#include "vision/slots.h"

#include <math.h>

#define WORLD_COOKIE UINT32_C(0x70776F72)
#define VIEWER_COOKIE UINT32_C(0x70766965)

// Beyond this hysteresis no longer describes an edge, and counts derived from it stay small ints.
#define HYSTERESIS_MAX 16.0

// A product with a decimal misses its whole number by some 1e-14: 100 * 1.1 is 110, not 111.
#define COUNT_SLACK 1e-6

ph_vision_def ph_vision_def_default(void)
{
    return (ph_vision_def){
        .kind = PH_VISION_GRID,
        .cell_mm = 131072,
        .group_split_mm = 60000,
        .group_merge_mm = 20000,
        .refresh_ticks = 1,
        .stay_ticks = 10,
        .hysteresis = 1.1,
    };
}

ph_world_def ph_world_def_default(void)
{
    return (ph_world_def){
        .entity_capacity = 1024,
        .viewer_capacity = 64,
        .radius_max_mm = 250000,
        .vision = ph_vision_def_default(),
        .cookie = WORLD_COOKIE,
    };
}

ph_viewer_def ph_viewer_def_default(void)
{
    return (ph_viewer_def){
        .sees = UINT32_MAX,
        .radius_mm = 250000,
        .visible_max = 250,
        .cookie = VIEWER_COOKIE,
    };
}

static bool is_vision_sensible(const ph_vision_def* def)
{
    // NaN compares false to everything and is refused, too.
    return (def->kind == PH_VISION_GRID || def->kind == PH_VISION_GROUPS) && def->cell_mm > 0 &&
           def->group_split_mm > 0 && def->group_merge_mm > 0 &&
           def->group_merge_mm < def->group_split_mm - def->group_merge_mm &&
           def->refresh_ticks >= 1 && def->stay_ticks >= 0 && def->hysteresis >= 1.0 &&
           def->hysteresis <= HYSTERESIS_MAX;
}

bool ph_world_def_is_sensible(const ph_world_def* def)
{
    PH_ASSERT(def->cookie == WORLD_COOKIE); // start from ph_world_def_default()

    return def->schema != NULL && def->entity_capacity >= 0 && def->viewer_capacity >= 0 &&
           def->radius_max_mm >= 0 && is_vision_sensible(&def->vision);
}

bool ph_viewer_def_is_sensible(const ph_viewer_def* def, int32_t radius_max_mm)
{
    PH_ASSERT(def->cookie == VIEWER_COOKIE); // start from ph_viewer_def_default()

    return def->radius_mm >= 0 && def->radius_mm <= radius_max_mm && def->visible_max >= 1 &&
           def->visible_max <= PH_VISIBLE_MAX &&
           (def->slot_count == 0 ||
            (def->slot_count > def->visible_max && def->slot_count <= PH_SLOT_COUNT_MAX));
}

int ph_wider_count(int visible_max, double hysteresis)
{
    return (int)ceil(visible_max * hysteresis - COUNT_SLACK);
}

int64_t ph_wider_radius(int32_t radius_mm, double hysteresis)
{
    const double wider_mm = radius_mm * hysteresis;
    return wider_mm < (double)PH_RADIUS_MAX_MM ? (int64_t)wider_mm : PH_RADIUS_MAX_MM;
}
