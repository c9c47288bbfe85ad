// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some 200 ns for each entity shown.

#include "bots_check.h"

#include <math.h>

#define EYE_MM_LEAST 1000.0
#define MRAD_MOST 1000.0

// ---- while it moves

static double distance_mm(const double a[3], const double b[3])
{
    const double x = a[0] - b[0];
    const double y = a[1] - b[1];
    const double z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

static bool find_eye(const bot* of, const bots_truth* truth, uint64_t now_us, double eye_mm[3])
{
    uint64_t name = 0;
    const ph_entity_id own = ph_client_entity_at(of->client, 0);
    if (of->input_number > 0) {
        for (int axis = 0; axis < 3; ++axis) {
            eye_mm[axis] = of->eye_mm[axis];
        }
        return true;
    }
    return ph_client_identify(of->client, own, &name, NULL) == PH_OK &&
           bots_truth_place(truth, name, now_us, eye_mm);
}

static void check_one(bot* of, const bots_truth* truth, ph_entity_id entity, uint64_t now_us,
                      const double* eye_mm, bots_errors* errors)
{
    uint64_t name = 0;
    ph_pose pose;
    double place_mm[3];
    if (ph_client_identify(of->client, entity, &name, NULL) != PH_OK ||
        ph_client_get_pose(of->client, entity, &pose) != PH_OK) {
        return;
    }
    if (!bots_truth_place(truth, name, now_us, place_mm)) {
        ++of->strangers; // it has just left, and the news is in flight
        return;
    }
    const double error_mm = distance_mm(pose.position_mm, place_mm);
    const double range_mm = fmax(distance_mm(place_mm, eye_mm), EYE_MM_LEAST);
    const double error_mrad = fmin(1000.0 * error_mm / range_mm, MRAD_MOST);
    ++of->error.samples;
    of->error.sum_mm += error_mm;
    of->error.sum_mrad += error_mrad;
    ph_spread_add(&errors->mm, error_mm);
    ph_spread_add(&errors->mrad, error_mrad);
}

void bots_check_error(bot* of, const bots_truth* truth, uint64_t now_us, bots_errors* errors)
{
    double eye_mm[3];
    ph_client_advance(of->client, now_us);
    if (!find_eye(of, truth, now_us, eye_mm)) {
        return;
    }
    const int slot_count = ph_client_slot_count(of->client);
    for (int slot = 1; slot < slot_count; ++slot) {
        const ph_entity_id entity = ph_client_entity_at(of->client, slot);
        if (entity.index1 != 0) {
            check_one(of, truth, entity, now_us, eye_mm, errors);
        }
    }
}

// ---- while it stands still

static bool is_for_all(const ph_property_def* property)
{
    return property->when == PH_SEND_ON_CHANGE && property->audience == PH_AUDIENCE_ALL;
}

static bool is_within(const int32_t* eye_mm, const int32_t* place_mm, double distance_m)
{
    const double x_mm = (double)place_mm[0] - eye_mm[0];
    const double y_mm = (double)place_mm[1] - eye_mm[1];
    return distance_m == 0.0 || hypot(x_mm, y_mm) <= distance_m * 1000.0;
}

// A reference to an entity that this client does not see is none for it.
static bool is_value_alike(const bot* of, ph_entity_id entity, int property,
                           const ph_property_def* def, uint64_t expected)
{
    const uint64_t found = truth_value_of_client(of->client, entity, property, def);
    if (found == expected) {
        return true;
    }
    return def->coding == PH_CODING_ENTITY && found == 0 && expected > 0 &&
           ph_client_find(of->client, expected - 1).index1 == 0;
}

static bool is_entity_alike(bot* of, const bots_truth* truth, uint64_t name, const int32_t* eye_mm)
{
    const int at = bots_truth_find_state(truth, name);
    const int32_t* place_mm = truth_moment_find(&truth->now, name);
    const ph_entity_id entity = ph_client_find(of->client, name);
    int class_index = 0;
    of->difference = (bot_difference){.kind = BOT_MISSES, .name = name};
    if (at < 0 || place_mm == NULL ||
        ph_client_identify(of->client, entity, NULL, &class_index) != PH_OK ||
        class_index != truth->state_class[at]) {
        return false;
    }
    const ph_class_def* kind = ph_schema_class(of->terms->schema, class_index);
    const uint64_t* expected = truth->state_values + truth->state_first[at];
    of->difference.kind = BOT_OTHER_VALUE;
    for (int p = 0; p < kind->property_count; ++p) {
        const ph_property_def* def = &kind->properties[p];
        of->difference.property = p;
        if (is_for_all(def) && is_within(eye_mm, place_mm, def->distance_m) &&
            !is_value_alike(of, entity, p, def, expected[p])) {
            return false;
        }
    }
    return true;
}

bool bots_check_alike(bot* of, const bots_truth* truth, const truth_sight* sight)
{
    truth_reader names = sight->names;
    of->difference = (bot_difference){
        .kind = sight->is_connected ? BOT_OTHER_COUNT : BOT_UNKNOWN_TO_SERVER,
        .expected = sight->count,
        .found = ph_client_entity_count(of->client),
    };
    if (!sight->is_connected || of->difference.expected != of->difference.found) {
        return false;
    }
    for (int i = 0; i < sight->count; ++i) {
        if (!is_entity_alike(of, truth, truth_take(&names, 8), sight->eye_mm)) {
            return false;
        }
    }
    return true;
}
