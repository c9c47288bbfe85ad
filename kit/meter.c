// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One viewer's meter. Runs once per viewer and frame: a sweep over all entities that are present
// (which are near, which are in the core), then one look at each shown entity. Some 50 ns per shown
// entity.
//
// Of each entity it remembers the ticks at which something last was so; "for the last second" is
// then one comparison, and nothing has to be cleared from frame to frame:
//
//   core_first .. core_last    it was in the core at all of these ticks
//   near_last                  it was last present and within 1.2 x radius
//   shown_last                 it was last shown, at tenths[], with differing properties

#include "kit/meter.h"

#include "base/allocator.h"
#include "kit/nearest.h"
#include "kit/attitude.h"
#include "kit/wrap.h"

#include <math.h>

#define HEADING_DISTANCE_MM 50000.0
#define DISTANCE_FLOOR_MM 1000.0
#define MRAD_MAX 1000.0
#define JOLT_MM 50.0
#define JOLT_STEPS 3.0

// What was last seen of one entity.
typedef struct glance {
    int32_t core_first;
    int32_t core_last;
    int32_t near_last;
    int32_t shown_last;
    int64_t tenths[3];
    uint64_t differing;
} glance;

_Static_assert(sizeof(glance) <= 64, "one cache line per shown entity and frame");

// Properties that are sent equally far.
typedef struct reach {
    double distance2; // mm2
    uint64_t properties;
} reach;

struct ph_meter {
    ph_meter_def def;
    ph_meter_miss_fn* on_miss;
    void* miss_context;
    ph_figures figures;
    double core2;  // squared distances in mm2
    double near2;  //
    int core_rank; // the last that is in the core
    reach reaches[PH_METER_PROPERTIES_MAX];
    int reach_count;
    glance* glances;      // by entity
    int32_t* differ_tick; // by entity and property: since when it differs, while it does
    ph_near* core;        // scratch of a frame: the entities of the core
    int core_count;
    int32_t first_tick; // of the viewer's first frame
    int32_t stay_tick;  // the first of its present stay
    int32_t last_tick;  // of its newest frame
    bool has_joined;
};

// ---- memory

static size_t entity_count(const ph_meter* meter)
{
    return (size_t)meter->def.history->entity_count;
}

static size_t differ_count(const ph_meter* meter)
{
    return entity_count(meter) * (size_t)meter->def.property_count;
}

void ph_meter_destroy(ph_meter* meter)
{
    if (meter == NULL) {
        return;
    }
    const ph_allocator allocator = meter->def.allocator;
    ph_release_array(&allocator, meter->core, entity_count(meter), sizeof *meter->core);
    ph_release_array(&allocator, meter->differ_tick, differ_count(meter),
                     sizeof *meter->differ_tick);
    ph_release_array(&allocator, meter->glances, entity_count(meter), sizeof *meter->glances);
    ph_figures_destroy(&meter->figures);
    ph_release(&allocator, meter, sizeof *meter);
}

static bool take_memory(ph_meter* meter)
{
    const ph_allocator* allocator = &meter->def.allocator;
    const size_t count = entity_count(meter);
    meter->glances = ph_allocate_array(allocator, count, sizeof *meter->glances);
    meter->differ_tick =
        ph_allocate_array(allocator, differ_count(meter), sizeof *meter->differ_tick);
    meter->core = ph_allocate_array(allocator, count, sizeof *meter->core);
    return meter->glances != NULL && meter->differ_tick != NULL && meter->core != NULL &&
           ph_figures_create(&meter->figures, meter->def.history->rate_hz, allocator) == PH_OK;
}

static void add_reach(ph_meter* meter, double distance_m, int property)
{
    const double distance_mm = distance_m > 0.0 ? distance_m * 1000.0 : INFINITY;
    const double distance2 = distance_mm * distance_mm;
    int i = 0;
    while (i < meter->reach_count && meter->reaches[i].distance2 != distance2) {
        ++i;
    }
    if (i == meter->reach_count) {
        meter->reaches[meter->reach_count++] = (reach){.distance2 = distance2};
    }
    meter->reaches[i].properties |= (uint64_t)1 << property;
}

static void set_limits(ph_meter* meter)
{
    const ph_meter_def* def = &meter->def;
    const double core_mm = 9.0 * def->radius_mm / 10.0;
    const double near_mm = 12.0 * def->radius_mm / 10.0;
    meter->core2 = core_mm * core_mm;
    meter->near2 = near_mm * near_mm;
    meter->core_rank = (int)((int64_t)def->slots * 9 / 10);
    for (int i = 0; i < def->property_count; ++i) {
        add_reach(meter, def->property_distance_m[i], i);
    }
    meter->def.property_distance_m = NULL; // the caller's
    meter->last_tick = PH_TRUTH_HISTORY_NEVER;
}

ph_result ph_meter_create(const ph_meter_def* def, ph_meter** meter)
{
    PH_ASSERT(def->viewer >= 0 && def->viewer < def->history->entity_count);
    PH_ASSERT(def->radius_mm >= 0 && def->slots >= 0);
    PH_ASSERT(def->property_count >= 0 && def->property_count <= PH_METER_PROPERTIES_MAX);

    *meter = NULL;
    ph_meter* made = ph_allocate_zeroed(&def->allocator, sizeof *made);
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    made->def = *def;
    set_limits(made);
    if (!take_memory(made)) {
        ph_meter_destroy(made);
        return PH_ERROR_MEMORY;
    }
    for (size_t i = 0; i < entity_count(made); ++i) {
        made->glances[i] = (glance){.core_first = PH_TRUTH_HISTORY_NEVER,
                                    .core_last = PH_TRUTH_HISTORY_NEVER,
                                    .near_last = PH_TRUTH_HISTORY_NEVER,
                                    .shown_last = PH_TRUTH_HISTORY_NEVER};
    }
    *meter = made;
    return PH_OK;
}

void ph_meter_set_miss(ph_meter* meter, ph_meter_miss_fn* on_miss, void* context)
{
    meter->on_miss = on_miss;
    meter->miss_context = context;
}

const ph_figures* ph_meter_figures(const ph_meter* meter)
{
    return &meter->figures;
}

void ph_meter_clear(ph_meter* meter)
{
    ph_figures_clear(&meter->figures);
}

// ---- rounding

int64_t ph_meter_tenths(double mm)
{
    PH_ASSERT(mm >= -0x1p40 && mm <= 0x1p40);
    return (int64_t)nearbyint(mm * 10.0);
}

int32_t ph_meter_hundredths(double heading_deg)
{
    PH_ASSERT(heading_deg >= -1e6 && heading_deg <= 1e6);
    const int32_t turned = (int32_t)nearbyint(heading_deg * 100.0) % 36000;
    return turned < 0 ? turned + 36000 : turned;
}

int32_t ph_meter_millionths(double part)
{
    PH_ASSERT(part >= -2.0 && part <= 2.0);
    return (int32_t)nearbyint(part * 1e6);
}

// ---- which entities are near

static bool is_a_second(const ph_meter* meter, int32_t first_tick)
{
    return meter->last_tick - first_tick >= meter->def.history->second_ticks;
}

// Finds all entities that are near, and among them those in the core.
static void look_around(ph_meter* meter)
{
    const ph_truth_history* history = meter->def.history;
    int count = 0;
    for (int i = 0; i < history->present_count; ++i) {
        const int32_t entity = history->present[i];
        const uint64_t planar2 = ph_truth_history_planar2(history, meter->def.viewer, entity);
        if ((double)planar2 > meter->near2 || entity == meter->def.viewer) {
            continue;
        }
        meter->glances[entity].near_last = history->tick;
        if ((double)planar2 <= meter->core2) {
            meter->core[count++] = (ph_near){.distance2 = planar2,
                                             .first_tick = history->trails[entity].first_tick,
                                             .entity = entity};
        }
    }
    // An entity that is nearer than one of these is one of these: ranks among them are true ranks.
    meter->core_count = ph_nearest_select(meter->core, count, meter->core_rank);
}

static void remember_core(ph_meter* meter)
{
    const int32_t tick = meter->last_tick;
    for (int i = 0; i < meter->core_count; ++i) {
        glance* before = &meter->glances[meter->core[i].entity];
        if (before->core_last != tick - 1) {
            before->core_first = tick;
        }
        before->core_last = tick;
    }
}

// ---- what is shown

static double square_of(const double v[3])
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

static void judge_position(ph_meter* meter, int32_t entity, const int64_t tenths[3])
{
    const ph_truth_history* history = meter->def.history;
    const int32_t truth_mm[3] = {history->now.x_mm[entity], history->now.y_mm[entity],
                                 history->now.z_mm[entity]};
    double off_mm[3];
    for (int i = 0; i < 3; ++i) {
        off_mm[i] = (double)ph_wrap_tenths((int64_t)truth_mm[i] * 10, tenths[i]) / 10.0;
    }
    const double error_mm = sqrt(square_of(off_mm));
    ph_spread_add(&meter->figures.error_mm, error_mm);

    const double distance2 = (double)ph_truth_history_distance2(history, meter->def.viewer, entity);
    const double distance_mm = fmax(sqrt(distance2), DISTANCE_FLOOR_MM);
    const double error_mrad = fmin(1000.0 * error_mm / distance_mm, MRAD_MAX);
    ph_spread_add(&meter->figures.error_mrad, error_mrad);
    if (meter->on_miss != NULL) {
        meter->on_miss(meter->miss_context, entity, error_mrad);
    }
}

static void judge_heading(ph_meter* meter, const ph_shown* shown)
{
    const int32_t truth = ph_meter_hundredths(meter->def.history->now.heading_deg[shown->entity]);
    const int32_t turn = (ph_meter_hundredths(shown->heading_deg) - truth + 36000) % 36000;
    ph_spread_add(&meter->figures.heading_deg, (turn <= 18000 ? turn : 36000 - turn) / 100.0);
}

static void judge_rotation(ph_meter* meter, const ph_shown* shown)
{
    double rotation[4];
    for (int k = 0; k < 4; ++k) {
        rotation[k] = ph_meter_millionths(shown->rotation[k]);
    }
    ph_attitude_normalise(rotation);
    ph_spread_add(
        &meter->figures.rotation_deg,
        ph_attitude_between_deg(rotation, meter->def.history->now.rotation[shown->entity]));
}

static uint64_t properties_within(const ph_meter* meter, double planar2)
{
    uint64_t within = 0;
    for (int i = 0; i < meter->reach_count; ++i) {
        within |= planar2 <= meter->reaches[i].distance2 ? meter->reaches[i].properties : 0;
    }
    return within;
}

static int count_bits(uint64_t bits)
{
    int count = 0;
    for (; bits != 0; bits &= bits - 1) {
        ++count;
    }
    return count;
}

// Most properties agree most of the time: only those that differ are looked at one by one.
// @return Those that differ.
static uint64_t judge_properties(ph_meter* meter, const ph_shown* shown, uint64_t former,
                                 double planar2)
{
    const uint64_t judged = shown->properties & properties_within(meter, planar2);
    const uint64_t differing = shown->differing & judged;
    ph_spread* stale_ms = &meter->figures.stale_ms;
    ph_spread_add_many(stale_ms, 0.0, (uint64_t)count_bits(judged & ~differing));

    int32_t* since = &meter->differ_tick[(size_t)shown->entity * (size_t)meter->def.property_count];
    for (int p = 0; differing != 0 && p < meter->def.property_count; ++p) {
        if ((differing >> p & 1) == 0) {
            continue;
        }
        if ((former >> p & 1) == 0) {
            since[p] = meter->last_tick;
        }
        const int32_t ticks = meter->last_tick - since[p];
        ph_spread_add(stale_ms, 1000.0 * ticks / meter->def.history->rate_hz);
    }
    return differing;
}

static bool is_jolt(const ph_meter* meter, int32_t entity, const int64_t tenths[3])
{
    const ph_truth_history* history = meter->def.history;
    const ph_trail* trail = &history->trails[entity];
    const glance* before = &meter->glances[entity];
    if (before->shown_last != history->tick - 1 || ph_truth_history_has_jumped(history, entity)) {
        return false;
    }
    double moved_mm[3];
    double along = 0.0;
    for (int i = 0; i < 3; ++i) {
        moved_mm[i] = (double)ph_wrap_tenths(before->tenths[i], tenths[i]) / 10.0;
        along += moved_mm[i] * trail->way_mm[i];
    }
    if (sqrt(square_of(moved_mm)) > JOLT_STEPS * trail->longest_step_mm + JOLT_MM) {
        return true;
    }
    return trail->way_length_mm > 0.0 && along / trail->way_length_mm < -JOLT_MM;
}

// Of an entity that the truth has, too. @return Which of its properties differ.
static uint64_t judge_present(ph_meter* meter, const ph_shown* shown, const int64_t tenths[3])
{
    const ph_truth_history* history = meter->def.history;
    const glance* before = &meter->glances[shown->entity];
    const double planar2 =
        (double)ph_truth_history_planar2(history, meter->def.viewer, shown->entity);
    judge_position(meter, shown->entity, tenths);
    if (shown->has_heading && history->now.heading_deg != NULL &&
        planar2 <= HEADING_DISTANCE_MM * HEADING_DISTANCE_MM) {
        judge_heading(meter, shown);
    }
    if (shown->has_rotation && history->now.rotation != NULL) {
        judge_rotation(meter, shown);
    }
    meter->figures.jolt_count += is_jolt(meter, shown->entity, tenths) ? 1 : 0;
    const uint64_t former = before->shown_last == history->tick - 1 ? before->differing : 0;
    return judge_properties(meter, shown, former, planar2);
}

static void judge(ph_meter* meter, const ph_shown* shown)
{
    const ph_truth_history* history = meter->def.history;
    glance* before = &meter->glances[shown->entity];
    PH_ASSERT(before->shown_last != history->tick); // each at most once

    ++meter->figures.shown_count;
    if (is_a_second(meter, meter->stay_tick) &&
        before->near_last < history->tick - history->second_ticks) {
        ++meter->figures.ghost_count;
    }
    const int64_t tenths[3] = {ph_meter_tenths(shown->position_mm[0]),
                               ph_meter_tenths(shown->position_mm[1]),
                               ph_meter_tenths(shown->position_mm[2])};
    before->differing =
        history->now.present[shown->entity] ? judge_present(meter, shown, tenths) : 0;
    for (int i = 0; i < 3; ++i) {
        before->tenths[i] = tenths[i];
    }
    before->shown_last = history->tick;
}

// ---- what must be shown

static void judge_core(ph_meter* meter)
{
    int asked_to_join = 0;
    int shown_to_join = 0;
    for (int i = 0; i < meter->core_count; ++i) {
        const glance* before = &meter->glances[meter->core[i].entity];
        const bool is_shown = before->shown_last == meter->last_tick;
        const bool must_be_shown = is_a_second(meter, before->core_first);
        meter->figures.must_count += must_be_shown ? 1 : 0;
        meter->figures.missing_count += must_be_shown && !is_shown ? 1 : 0;
        if (must_be_shown || before->core_first == meter->stay_tick) {
            ++asked_to_join;
            shown_to_join += is_shown ? 1 : 0;
        }
    }
    if (!meter->has_joined) {
        meter->figures.join_count = 1;
        meter->figures.join_ticks = (uint64_t)(meter->last_tick - meter->first_tick);
        meter->has_joined = shown_to_join * 100 >= asked_to_join * 95;
    }
}

void ph_meter_frame(ph_meter* meter, const ph_shown* shown, int shown_count)
{
    const ph_truth_history* history = meter->def.history;
    PH_ASSERT(history->tick > meter->last_tick);

    if (!history->now.present[meter->def.viewer]) {
        return;
    }
    if (meter->last_tick == PH_TRUTH_HISTORY_NEVER) {
        meter->first_tick = history->tick;
    }
    if (meter->last_tick != history->tick - 1) {
        meter->stay_tick = history->tick;
    }
    meter->last_tick = history->tick;

    look_around(meter);
    remember_core(meter);
    for (int i = 0; i < shown_count; ++i) {
        PH_ASSERT(shown[i].entity >= 0 && shown[i].entity < history->entity_count);
        if (shown[i].entity != meter->def.viewer) {
            judge(meter, &shown[i]);
        }
    }
    judge_core(meter);
}
