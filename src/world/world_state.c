// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Declarations of worlds, visions and viewers: their defaults, and which of them make sense. Runs
// at creation.

#include "world/world_state.h"

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

static void check_vision(ph_check* check, const ph_vision_def* def)
{
    ph_check_range(check, "ph_world_def.vision.kind", def->kind, PH_VISION_GRID, PH_VISION_GROUPS);
    ph_check_range(check, "ph_world_def.vision.cell_mm", def->cell_mm, 1, PH_NO_END);
    ph_check_range(check, "ph_world_def.vision.group_split_mm", def->group_split_mm, 1, PH_NO_END);
    // Less than half of it, rounded so that an odd distance counts.
    ph_check_range(check, "ph_world_def.vision.group_merge_mm", def->group_merge_mm, 1,
                   (def->group_split_mm - 1) / 2);
    ph_check_range(check, "ph_world_def.vision.refresh_ticks", def->refresh_ticks, 1, PH_NO_END);
    ph_check_range(check, "ph_world_def.vision.stay_ticks", def->stay_ticks, 0, PH_NO_END);
    ph_check_real(check, "ph_world_def.vision.hysteresis", def->hysteresis, 1.0, HYSTERESIS_MAX);
}

ph_result ph_world_def_check(const ph_world_def* def)
{
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, "ph_world_create");
    ph_check_made(&check, def->cookie == WORLD_COOKIE, "ph_world_def");
    ph_check_that(&check, def->schema != NULL, "ph_world_def.schema", "NULL", "a schema");
    ph_check_range(&check, "ph_world_def.entity_capacity", def->entity_capacity, 0, PH_NO_END);
    ph_check_range(&check, "ph_world_def.viewer_capacity", def->viewer_capacity, 0, PH_NO_END);
    ph_check_range(&check, "ph_world_def.radius_max_mm", def->radius_max_mm, 0, PH_NO_END);
    check_vision(&check, &def->vision);
    ph_check_range(&check, "ph_world_def.profile", def->profile, 0, PH_PROFILE_COUNT - 1);
    ph_check_range(&check, "ph_world_def.tick_us", def->tick_us, WORLD_TICK_US_MIN,
                   WORLD_TICK_US_MAX);
    ph_check_range(&check, "ph_world_def.jump_mm", def->jump_mm, 0, PH_NO_END);
    ph_check_range(&check, "ph_world_def.removal_capacity", def->removal_capacity, 0, PH_NO_END);
    ph_check_range(&check, "ph_world_def.sends_at_once", def->sends_at_once, 1,
                   PH_SENDS_AT_ONCE_MAX);
    return check.result;
}

void ph_budget_check(ph_check* check, const char* rate_field, int bits_per_second,
                     const char* burst_field, int burst_bits)
{
    if (bits_per_second < BITS_PER_SECOND_MIN && bits_per_second != 0 && check->result == PH_OK) {
        char is[PH_COUNT_TEXT_SIZE];
        check->result = ph_fail(check, PH_ERROR_ARGUMENT, rate_field,
                                "is %s; it must be 0 (no limit), or 1,000 or more",
                                ph_count_text(bits_per_second, is));
    }
    ph_check_range(check, burst_field, burst_bits, 0, PH_NO_END);
}

static void check_scheduler(ph_check* check, const ph_scheduler* scheduler)
{
    const bool has_all = scheduler->rank != NULL && scheduler->filter != NULL &&
                         scheduler->sent != NULL && scheduler->lost != NULL;
    const bool has_none = scheduler->rank == NULL && scheduler->filter == NULL &&
                          scheduler->sent == NULL && scheduler->lost == NULL;
    ph_check_that(check, has_all || has_none, "ph_viewer_def.scheduler", "incomplete",
                  "{0}, or have rank, filter, sent and lost");
}

static void check_sending(ph_check* check, const ph_viewer_def* def)
{
    ph_budget_check(check, "ph_viewer_def.bits_per_second", def->bits_per_second,
                    "ph_viewer_def.burst_bits", def->burst_bits);
    ph_check_range(check, "ph_viewer_def.overhead_bytes", def->overhead_bytes, 0,
                   VIEWER_OVERHEAD_BYTES_MAX);
    const double sends = def->sends_per_second;
    if (sends != 0.0 && sends != PH_SENDS_AUTO && !(sends >= SENDS_MIN && sends <= SENDS_MAX) &&
        check->result == PH_OK) {
        char is[PH_COUNT_TEXT_SIZE];
        check->result =
            ph_fail(check, PH_ERROR_ARGUMENT, "ph_viewer_def.sends_per_second",
                    "is %s; it must be 0, PH_SENDS_AUTO, or 0.1..1,000", ph_real_text(sends, is));
    }
    ph_check_real(check, "ph_viewer_def.precision_mrad", def->precision_mrad, 0.0,
                  PRECISION_MAX_MRAD);
    ph_check_range(check, "ph_viewer_def.max_starve_ms", def->max_starve_ms, 0, PH_NO_END);
    check_scheduler(check, &def->scheduler);
}

static void check_radius(ph_check* check, int32_t radius_mm, int32_t radius_max_mm)
{
    if (check->result != PH_OK || (radius_mm >= 0 && radius_mm <= radius_max_mm)) {
        return;
    }
    char is[PH_COUNT_TEXT_SIZE];
    char most[PH_COUNT_TEXT_SIZE];
    check->result = ph_fail(check, PH_ERROR_ARGUMENT, "ph_viewer_def.radius_mm",
                            "is %s; it must be 0..%s, and no more than ph_world_def.radius_max_mm",
                            ph_count_text(radius_mm, is), ph_count_text(radius_max_mm, most));
}

void ph_viewer_def_check(ph_check* check, const ph_viewer_def* def, int32_t radius_max_mm)
{
    ph_check_made(check, def->cookie == VIEWER_COOKIE, "ph_viewer_def");
    ph_check_position(check, "ph_viewer_def.eye_mm", def->eye_mm);
    check_radius(check, def->radius_mm, radius_max_mm);
    ph_check_range(check, "ph_viewer_def.visible_max", def->visible_max, 1, PH_VISIBLE_MAX);
    if (def->slot_count != 0) {
        ph_check_range(check, "ph_viewer_def.slot_count", def->slot_count,
                       (int64_t)def->visible_max + 1, PH_SLOT_COUNT_MAX);
    }
    check_sending(check, def);
}

// ---- what was wrong with a call

ph_check ph_world_call(const ph_world* world, const char* function)
{
    return ph_check_begin(world->def.on_error, world->def.on_error_context, function);
}

ph_result ph_world_fail_entity(const ph_world* world, const char* function, ph_entity_id entity)
{
    const ph_check call = ph_world_call(world, function);
    return ph_fail_stale(&call, "entity", entity.index1, entity.generation);
}

ph_result ph_world_fail_viewer(const ph_world* world, const char* function, ph_viewer_id viewer)
{
    const ph_check call = ph_world_call(world, function);
    return ph_fail_stale(&call, "viewer", viewer.index1, viewer.generation);
}

// ---- what zeros and factors stand for

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
