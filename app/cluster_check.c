// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few times a second and client while the world stands; some 200 ns for each entity shown.

#include "cluster_check.h"

#include "truth_wire.h"

#include <math.h>

// As ph_vision_def: what has entered stays until it is so much beyond; and a metre, as both ends round.
#define HYSTERESIS 1.1
#define ROUNDING_MM 1000.0
enum { SLOTS_USUAL = 250 };

bool cluster_check_begin(cluster_check* check, const cluster_truth* truth, int32_t radius_mm,
                         ph_fault* fault)
{
    *check = (cluster_check){.truth = truth, .radius_mm = radius_mm, .slots = SLOTS_USUAL};
    check->world = cluster_truth_make_world(truth, fault);
    return check->world != NULL;
}

void cluster_check_end(cluster_check* check)
{
    ph_world_destroy(check->world);
    *check = (cluster_check){0};
}

static double distance_mm(const int32_t* a, const int32_t* b)
{
    return hypot((double)a[0] - b[0], (double)a[1] - b[1]);
}

static bool is_for_all(const ph_property_def* property)
{
    return property->when == PH_SEND_ON_CHANGE && property->audience == PH_AUDIENCE_ALL;
}

static bool is_alike(const cluster_check* check, const ph_client* client, uint64_t key,
                     double away_mm)
{
    const ph_entity_id shown = ph_client_find(client, key);
    const ph_entity_id true_one = ph_world_find(check->world, key);
    int class_index = 0;
    int true_class = 0;
    if (ph_client_identify(client, shown, NULL, &class_index) != PH_OK ||
        ph_world_identify(check->world, true_one, NULL, &true_class) != PH_OK ||
        class_index != true_class) {
        return false;
    }
    const ph_class_def* kind = ph_schema_class(check->truth->schema, class_index);
    for (int p = 0; p < kind->property_count; ++p) {
        const ph_property_def* def = &kind->properties[p];
        const bool is_told =
            is_for_all(def) && (def->distance_m == 0.0 || away_mm <= def->distance_m * 1000.0);
        if (is_told && truth_value_of_client(client, shown, p, def) !=
                           truth_value_of_world(check->world, true_one, p, def)) {
            return false;
        }
    }
    return true;
}

// Where the viewer stands in a crowd that does not fit into its slots, the nearest ones are asked for alone.
static double reach_mm(const cluster_check* check, const int32_t* eye_mm)
{
    const cluster_truth* truth = check->truth;
    double reach = check->radius_mm;
    for (;;) {
        int within = 0;
        for (int actor = 0; actor < truth->actor_count; ++actor) {
            int32_t place_mm[3];
            if (truth->row[actor] >= 0) {
                cluster_truth_place(truth, truth->row[actor], place_mm);
                within += distance_mm(place_mm, eye_mm) <= reach * HYSTERESIS;
            }
        }
        if (within <= check->slots) {
            return reach;
        }
        reach *= 0.9;
    }
}

static void count_missing(const cluster_check* check, const ph_client* client,
                          const int32_t* eye_mm, cluster_difference* difference)
{
    const cluster_truth* truth = check->truth;
    const double reach = reach_mm(check, eye_mm) - ROUNDING_MM;
    for (int actor = 0; actor < truth->actor_count; ++actor) {
        int32_t place_mm[3];
        if (truth->row[actor] < 0) {
            continue;
        }
        cluster_truth_place(truth, truth->row[actor], place_mm);
        const double away_mm = distance_mm(place_mm, eye_mm);
        const uint64_t key = truth->key[actor];
        if (ph_client_find(client, key).index1 == 0) {
            if (away_mm <= reach) {
                ++difference->missing;
                difference->key = key;
            }
        } else if (!is_alike(check, client, key, away_mm)) {
            ++difference->wrong;
            difference->key = key;
        }
    }
}

static void count_phantoms(const cluster_check* check, const ph_client* client,
                           const int32_t* eye_mm, cluster_difference* difference)
{
    const int slot_count = ph_client_slot_count(client);
    for (int slot = 0; slot < slot_count; ++slot) {
        uint64_t key = 0;
        int32_t place_mm[3];
        const ph_entity_id shown = ph_client_entity_at(client, slot);
        if (shown.index1 == 0 || ph_client_identify(client, shown, &key, NULL) != PH_OK) {
            continue;
        }
        const int actor = cluster_truth_find(check->truth, key);
        if (actor >= 0) {
            cluster_truth_place(check->truth, check->truth->row[actor], place_mm);
        }
        if (actor < 0 ||
            distance_mm(place_mm, eye_mm) > check->radius_mm * HYSTERESIS + ROUNDING_MM) {
            ++difference->phantoms;
            difference->key = key;
        }
    }
}

bool cluster_check_is_equal(const cluster_check* check, const ph_client* client, uint64_t own_key,
                            cluster_difference* difference)
{
    int32_t eye_mm[3];
    *difference = (cluster_difference){0};
    const int own = cluster_truth_find(check->truth, own_key);
    if (own < 0 || client == NULL) {
        ++difference->missing;
        difference->key = own_key;
        return false;
    }
    cluster_truth_place(check->truth, check->truth->row[own], eye_mm);
    count_missing(check, client, eye_mm, difference);
    count_phantoms(check, client, eye_mm, difference);
    return difference->missing + difference->phantoms + difference->wrong == 0;
}
