// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The town's people stand on its ground, on both of its layers, or fly; what they wear and how they
// are changes as often as a yardstick needs it.

#include "support/test_support.h"

#include "kit/plane.h"
#include "kit/scene.h"
#include "kit/town.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PLAYER_COUNT = 80, RATE_HZ = 10, SECONDS = 300 };
enum { HAT, CLOTHES, WEAPON, HEALTH, ACTIVITY };
enum { STANDS, WALKS, RUNS, FIGHTS, FLIES };

static ph_scene* make_town(void)
{
    ph_scene* scene = ph_scene_create("town", 0, 0, 2024);
    assert_int_equal(scene->count, PLAYER_COUNT);
    assert_int_equal(scene->rate_hz, RATE_HZ);
    return scene;
}

// @return The number of the layer that has exactly this height, or -1.
static int find_layer(const ph_scene* scene, int index)
{
    const ph_ground* ground = &scene->info->ground;
    int64_t heights_mm[PH_GROUND_LAYERS_MAX];
    const int count =
        ground->layers(ground->context, scene->x_mm[index], scene->y_mm[index], heights_mm);
    for (int i = 0; i < count; ++i) {
        if (heights_mm[i] == scene->z_mm[index]) {
            return i;
        }
    }
    return -1;
}

static void every_player_stands_on_a_layer_or_flies(void** state)
{
    (void)state;
    ph_scene* scene = make_town();
    int below = 0, above = 0, in_the_air = 0;
    for (int step = 0; step < SECONDS * RATE_HZ; ++step) {
        ph_scene_step(scene);
        for (int i = 0; i < scene->count; ++i) {
            if (!scene->present[i]) {
                continue;
            }
            const int layer = find_layer(scene, i);
            assert_true(layer >= 0 || scene->extra[ACTIVITY][i] == FLIES);
            below += layer == 0;
            above += layer == 1;
            in_the_air += layer < 0;
        }
    }
    // Of 240,000 moments.
    assert_in_range(below, 150000, 235000);
    assert_in_range(above, 10000, 60000);
    assert_in_range(in_the_air, 3000, 20000);
    ph_scene_destroy(scene);
}

// The wire writes the layer, and only those in the air need their altitude.
static void altitudes_on_the_wire_are_layers(void** state)
{
    (void)state;
    ph_scene* scene = make_town();
    const ph_scene_info* info = scene->info;
    assert_int_equal(ph_altitude_check(&info->altitude), PH_OK);
    for (int step = 0; step < SECONDS * RATE_HZ; ++step) {
        ph_scene_step(scene);
        for (int i = 0; i < scene->count; ++i) {
            if (!scene->present[i] || scene->extra[ACTIVITY][i] == FLIES) {
                continue;
            }
            // As positions of 16 mm come out on the other side.
            const int32_t x_mm = (scene->x_mm[i] + 4096000) / 16 * 16 - 4096000;
            const int32_t y_mm = (scene->y_mm[i] + 4096000) / 16 * 16 - 4096000;
            const ph_altitude_level level =
                ph_altitude_encode(&info->altitude, &info->ground, x_mm, y_mm, scene->z_mm[i]);
            assert_true(level.layer >= 0);
            const int32_t z_mm =
                (int32_t)ph_altitude_decode(&info->altitude, &info->ground, x_mm, y_mm, level);
            assert_in_range(abs(z_mm - scene->z_mm[i]), 0, 250);
        }
    }
    ph_scene_destroy(scene);
}

static void no_player_falls_in_town(uint64_t seed)
{
    ph_scene* scene = ph_scene_create("town", PLAYER_COUNT, RATE_HZ, seed);
    for (int step = 0; step < SECONDS * RATE_HZ; ++step) {
        int32_t z_mm[PLAYER_COUNT], x_mm[PLAYER_COUNT], y_mm[PLAYER_COUNT];
        bool was_present[PLAYER_COUNT];
        memcpy(x_mm, scene->x_mm, sizeof x_mm);
        memcpy(y_mm, scene->y_mm, sizeof y_mm);
        memcpy(z_mm, scene->z_mm, sizeof z_mm);
        memcpy(was_present, scene->present, sizeof was_present);
        ph_scene_step(scene);
        for (int i = 0; i < scene->count; ++i) {
            if (!scene->present[i] || !was_present[i]) {
                continue;
            }
            // Two stairs at a run.
            assert_in_range(abs(scene->z_mm[i] - z_mm[i]), 0, 510);
            const double way_mm =
                ph_plane_length(scene->x_mm[i] - x_mm[i], scene->y_mm[i] - y_mm[i]);
            const bool is_flying = scene->extra[ACTIVITY][i] == FLIES;
            assert_true(way_mm <= (is_flying ? 12000.0 : 6000.0) / RATE_HZ + 2.0);
            assert_in_range(abs(scene->x_mm[i]), 0, 135000);
            assert_in_range(abs(scene->y_mm[i]), 0, 135000);
        }
    }
    ph_scene_destroy(scene);
}

// The corner between stairs and terrace is the place for it: a player that cuts it too short steps
// into the air. One seed has one such player or none, so it takes several.
static void no_player_falls_off_the_gallery(void** state)
{
    (void)state;
    for (uint64_t seed = 2024; seed < 2034; ++seed) {
        no_player_falls_in_town(seed);
    }
}

typedef struct tally {
    int changes[5];    // by column, of players that were there before and after
    int activities[5]; // moments by activity
    int present;       // moments
    int comings;       // absent, then there
    int most_hits;     // of one player within a second
    int hits[PLAYER_COUNT];
} tally;

static void count_changes(const ph_scene* scene, int32_t before[5][PLAYER_COUNT], tally* counts)
{
    for (int i = 0; i < scene->count; ++i) {
        if (!scene->present[i]) {
            continue;
        }
        ++counts->present;
        ++counts->activities[scene->extra[ACTIVITY][i]];
        for (int k = 0; k < 5; ++k) {
            counts->changes[k] += scene->extra[k][i] != before[k][i];
        }
        counts->hits[i] += scene->extra[HEALTH][i] < before[HEALTH][i];
        if (counts->hits[i] > counts->most_hits) {
            counts->most_hits = counts->hits[i];
        }
    }
}

static void play(tally* counts)
{
    ph_scene* scene = make_town();
    memset(counts, 0, sizeof *counts);
    for (int step = 0; step < SECONDS * RATE_HZ; ++step) {
        int32_t before[5][PLAYER_COUNT];
        bool was_present[PLAYER_COUNT];
        memcpy(was_present, scene->present, sizeof was_present);
        for (int k = 0; k < 5; ++k) {
            memcpy(before[k], scene->extra[k], sizeof before[k]);
        }
        if (step % RATE_HZ == 0) {
            memset(counts->hits, 0, sizeof counts->hits);
        }
        ph_scene_step(scene);
        count_changes(scene, before, counts);
        for (int i = 0; i < scene->count; ++i) {
            counts->comings += scene->present[i] && !was_present[i];
        }
    }
    ph_scene_destroy(scene);
}

static void equipment_changes_every_few_tens_of_seconds(void** state)
{
    (void)state;
    tally counts;
    play(&counts);
    const double present_s = (double)counts.present / RATE_HZ;
    const int changes = counts.changes[HAT] + counts.changes[CLOTHES] + counts.changes[WEAPON];
    assert_true(present_s / changes > 20.0 && present_s / changes < 45.0);
    assert_in_range(counts.changes[HAT], 150, 400);
    assert_in_range(counts.changes[CLOTHES], 150, 400);
    assert_in_range(counts.changes[WEAPON], 150, 500);
}

static void health_changes_several_times_a_second_for_a_few(void** state)
{
    (void)state;
    tally counts;
    play(&counts);
    assert_in_range(counts.changes[HEALTH], 500, 5000);
    assert_in_range(counts.most_hits, 3, 10);
    assert_in_range(counts.activities[FIGHTS], 1500, 24000);
}

static void people_stand_walk_run_fly_and_go_indoors(void** state)
{
    (void)state;
    tally counts;
    play(&counts);
    // Of 240,000 moments.
    assert_in_range(counts.present, 210000, 236000);
    assert_in_range(counts.activities[STANDS], 40000, 140000);
    assert_in_range(counts.activities[WALKS], 20000, 90000);
    assert_in_range(counts.activities[RUNS], 40000, 140000);
    assert_in_range(counts.activities[FLIES], 3000, 20000);
    assert_in_range(counts.comings, 80, 1000);
}

// How many others are within a conversation's distance, for players that stand.
static void people_meet_in_groups(void** state)
{
    (void)state;
    ph_scene* scene = make_town();
    int largest = 0;
    for (int step = 0; step < SECONDS * RATE_HZ; ++step) {
        ph_scene_step(scene);
        for (int i = 0; step % 50 == 0 && i < scene->count; ++i) {
            int near = 0;
            for (int k = 0; k < scene->count; ++k) {
                near += scene->present[k] && scene->extra[ACTIVITY][k] == STANDS &&
                        ph_plane_length(scene->x_mm[i] - scene->x_mm[k],
                                        scene->y_mm[i] - scene->y_mm[k]) < 8000.0;
            }
            largest = near > largest ? near : largest;
        }
    }
    assert_in_range(largest, 8, 40);
    ph_scene_destroy(scene);
}

static void the_ground_has_two_layers_where_the_gallery_is(void** state)
{
    (void)state;
    int64_t heights_mm[PH_GROUND_LAYERS_MAX];
    assert_int_equal(ph_town_layers(NULL, 60000, 0, heights_mm), 1);
    assert_int_equal(heights_mm[0], 1500);
    assert_int_equal(ph_town_layers(NULL, 60000, 30000, heights_mm), 2);
    assert_int_equal(heights_mm[0], 2000);
    assert_int_equal(heights_mm[1], 8000);
    // Half-way up a ramp and up the stairs.
    assert_int_equal(ph_town_layers(NULL, 87000, 30000, heights_mm), 1);
    assert_int_equal(heights_mm[0], 2175 + 500 + 3000);
    assert_int_equal(ph_town_layers(NULL, 10000, 50000, heights_mm), 1);
    assert_int_equal(heights_mm[0], 250 + 833 + 3000);
    // Far away, too: no coordinate overflows.
    assert_int_equal(ph_town_layers(NULL, INT32_MIN, INT32_MIN, heights_mm), 1);
    assert_int_equal(ph_town_layers(NULL, INT32_MAX, 30000, heights_mm), 1);
}

static void every_place_can_be_reached_from_every_other(void** state)
{
    (void)state;
    for (int i = 0; i < PH_TOWN_PLACES * PH_TOWN_PLACES; ++i) {
        const int goal = i / PH_TOWN_PLACES;
        int place = i % PH_TOWN_PLACES;
        int steps = 0;
        while (place != goal) {
            place = ph_town_next(place, goal, i);
            assert_true(++steps < 16);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_player_stands_on_a_layer_or_flies),
        cmocka_unit_test(altitudes_on_the_wire_are_layers),
        cmocka_unit_test(no_player_falls_off_the_gallery),
        cmocka_unit_test(equipment_changes_every_few_tens_of_seconds),
        cmocka_unit_test(health_changes_several_times_a_second_for_a_few),
        cmocka_unit_test(people_stand_walk_run_fly_and_go_indoors),
        cmocka_unit_test(people_meet_in_groups),
        cmocka_unit_test(the_ground_has_two_layers_where_the_gallery_is),
        cmocka_unit_test(every_place_can_be_reached_from_every_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
