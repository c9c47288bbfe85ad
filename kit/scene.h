// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Actors that move about, for tests, benchmarks and the demo. The same name, count, rate and seed
// give the same motion to the last bit, with every compiler.
//
//   wander   people walk between places, stop there, look around, go indoors and come out again;
//            1,000 to the km2
//   crowd    all walk to one point from up to 200 m away and stay there, stepping about
//   edge     actor 0 stands in the middle; all others dance to and fro on a circle of
//            PH_SCENE_EDGE_RADIUS_MM around it, some across it by a step, some by tens of metres
//   still    all stand where they are; 1,000 to the km2
//   race     cars at 20 to 60 m/s on a closed track with hills, which they pitch and roll with: they brake for corners, overtake,
//            now and then spin off and are put back
//   asteroids  bodies drift and spin in a ball of 120 m radius, each pushed once a second on average;
//            extra columns spin (degrees per second) and size (dm)
//   town     players walk the streets and a gallery above them, meet, fight, change clothes, go
//            indoors; some fly. Two layers of ground; extra columns hat, clothes, weapon, health and
//            activity
//
//     ph_scene* scene = ph_scene_create("wander", 0, 0, 1); // as many and as often as it likes
//     for (...) {
//         ph_scene_step(scene);
//         ... scene->x_mm[i] ...
//     }
//     ph_scene_destroy(scene);

#ifndef PINHOLE_KIT_SCENE_H
#define PINHOLE_KIT_SCENE_H

#include <pinhole/ground.h>

#include <stdbool.h>
#include <stdint.h>

// The radius of a viewer that its world does not say otherwise of.
#define PH_SCENE_EDGE_RADIUS_MM 250000

enum { PH_SCENE_ROTATION_DECIMALS = 6 };

// A column of whole numbers beside position and heading, such as health. The name is one word of
// small letters, digits and _, as in the first line of a recording.
typedef struct ph_scene_column {
    const char* name;
    int32_t low; // no value is below low or above high
    int32_t high;
} ph_scene_column;

// What can be known of a scene without playing it. Static storage: valid for ever.
typedef struct ph_scene_info {
    const char* name;
    int default_count;
    double default_rate_hz;
    const ph_scene_column* extras; // extra_count of them; NULL when there are none
    int extra_count;
    // What actors stand on; ground.layers is NULL when altitudes are just altitudes. Those that
    // stand have exactly the height of a layer, all others fly or jump.
    ph_ground ground;
    // How altitudes on that ground are best written.
    ph_altitude altitude;
    bool
        has_rotation; // its actors turn in space; the heading is what a game on a plane would have of it
} ph_scene_info;

// Arrays by actor, read-only outside kit. Coordinates lie within a few kilometres of 0.
typedef struct ph_scene {
    const char* name; // that of info
    const ph_scene_info* info;
    int count;
    double rate_hz;
    uint32_t steps; // so far
    int32_t* x_mm;
    int32_t* y_mm;
    int32_t* z_mm;      // on gentle hills, see ph_scene_ground_mm(), or as its scene says
    float* heading_deg; // 0 <= heading < 360, from the x axis towards the y axis
    bool* present;      // the other arrays mean nothing while it is false
    // By actor x, y, z, w, unit quaternions, rounded to PH_SCENE_ROTATION_DECIMALS; NULL when nothing turns
    // but the heading.
    double (*rotation)[4];
    int32_t** extra; // by column of info->extras, then by actor; NULL when there are none
    struct ph_scene_actors* actors;
} ph_scene;

// A scene at its first moment. count and rate_hz are 1 or more, or 0: the scene's own.
// @return NULL when there is no such scene, or no memory.
ph_scene* ph_scene_create(const char* name, int count, double rate_hz, uint64_t seed);
void ph_scene_destroy(ph_scene* scene); // NULL is allowed

// Goes on by 1 / rate_hz seconds.
void ph_scene_step(ph_scene* scene);

// @return NULL when there is no such scene.
const ph_scene_info* ph_scene_find(const char* name);

// The names there are; NULL at the end. index is 0 or more.
const char* ph_scene_name(int index);

// How high the ground is.
int32_t ph_scene_ground_mm(double x_mm, double y_mm);

#endif
