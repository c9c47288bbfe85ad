// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Declarations of worlds, visions and viewers: their defaults, and which of them make sense. Runs
// at creation.

#include "world/world_state.h"

#include "base/position.h"
#include "vision/slots.h"

#include <math.h>

#define WORLD_COOKIE UINT32_C(0x70776F72)
#define VIEWER_COOKIE UINT32_C(0x70766965)
// Beyond this hysteresis no longer describes an edge, and counts derived from it stay small ints.
#define HYSTERESIS_MAX 16.0
// A product with a decimal misses its whole number by some 1e-14: 100 * 1.1 is 110, not 111.
#define COUNT_SLACK 1e-6
#define WORLD_TICK_US_MIN 1000
#define WORLD_TICK_US_MAX 10000000
#define JUMP_US_PER_MM 10
#define BITS_PER_SECOND_MIN 1000
#define VIEWER_OVERHEAD_BYTES_MAX 1000
#define SENDS_MIN 0.1
#define SENDS_MAX 1000.0
#define PRECISION_MAX_MRAD 60.0 // the wire has 16 bits for 1/1024 mrad
// As many as the least that a slot costs in the classic profile can name.
#define CHEAP_SLOTS 256

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
        .profile = PH_PROFILE_PINHOLE,
        .tick_us = 100000,
        .sends_at_once = 1,
        .cookie = WORLD_COOKIE,
    };
}

ph_viewer_def ph_viewer_def_default(void)
{
    return (ph_viewer_def){
        .sees = UINT32_MAX,
        .radius_mm = 250000,
        .visible_max = 250,
        .bits_per_second = 13000,
        .overhead_bytes = 48,
        .precision_mrad = 1.0,
        .max_starve_ms = 10000,
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
           def->radius_max_mm >= 0 && is_vision_sensible(&def->vision) &&
           (unsigned)def->profile < PH_PROFILE_COUNT && def->tick_us >= WORLD_TICK_US_MIN &&
           def->tick_us <= WORLD_TICK_US_MAX && def->jump_mm >= 0 && def->sends_at_once >= 1 &&
           def->sends_at_once <= PH_SENDS_AT_ONCE_MAX;
}

bool ph_budget_is_sensible(int bits_per_second, int burst_bits)
{
    return (bits_per_second == 0 || bits_per_second >= BITS_PER_SECOND_MIN) && burst_bits >= 0;
}

static bool is_sending_sensible(const ph_viewer_def* def)
{
    const ph_scheduler* scheduler = &def->scheduler;
    const bool has_all = scheduler->rank != NULL && scheduler->filter != NULL &&
                         scheduler->sent != NULL && scheduler->lost != NULL;
    const bool has_none = scheduler->rank == NULL && scheduler->filter == NULL &&
                          scheduler->sent == NULL && scheduler->lost == NULL;
    return ph_budget_is_sensible(def->bits_per_second, def->burst_bits) &&
           def->overhead_bytes >= 0 && def->overhead_bytes <= VIEWER_OVERHEAD_BYTES_MAX &&
           (def->sends_per_second == 0.0 || def->sends_per_second == PH_SENDS_AUTO ||
            (def->sends_per_second >= SENDS_MIN && def->sends_per_second <= SENDS_MAX)) &&
           def->precision_mrad >= 0.0 && def->precision_mrad <= PRECISION_MAX_MRAD &&
           def->max_starve_ms >= 0 && (has_all || has_none);
}

bool ph_viewer_def_is_sensible(const ph_viewer_def* def, int32_t radius_max_mm)
{
    PH_ASSERT(def->cookie == VIEWER_COOKIE); // start from ph_viewer_def_default()

    return ph_is_position(def->eye_mm) && def->radius_mm >= 0 && def->radius_mm <= radius_max_mm &&
           def->visible_max >= 1 && def->visible_max <= PH_VISIBLE_MAX &&
           (def->slot_count == 0 ||
            (def->slot_count > def->visible_max && def->slot_count <= PH_SLOT_COUNT_MAX)) &&
           is_sending_sensible(def);
}

// 100 m/s for the length of a tick.
int32_t ph_jump_limit(const ph_world_def* def)
{
    return def->jump_mm != 0 ? def->jump_mm : (int32_t)(def->tick_us / JUMP_US_PER_MM);
}

int ph_slot_count_of(const ph_viewer_def* def, ph_profile profile)
{
    if (def->slot_count != 0) {
        return def->slot_count;
    }
    const int twice = 2 * def->visible_max;
    const bool is_cheaper = profile == PH_PROFILE_CLASSIC && def->visible_max < CHEAP_SLOTS;
    return is_cheaper && twice > CHEAP_SLOTS ? CHEAP_SLOTS : twice;
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
