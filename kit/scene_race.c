// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Cars on a closed track with hills: they brake for corners, follow, overtake, and now and then one
// spins, slides off and is put back where it left the track (a jump). Fast, and foreseeable for a
// while: what a display makes of speed shows here.

#include "kit/plane.h"
#include "kit/scene_play.h"
#include "kit/racetrack.h"
#include "kit/attitude.h"

#include <math.h>

enum { RACING, SPINNING, STRANDED };

#define GRID_GAP_MM 22000.0
#define EDGE_MM (PH_RACETRACK_HALF_WIDTH_MM - 1200.0)
#define CAR_WIDTH_MM 2600.0
#define SIDEWAYS_MM_S 4500.0
#define SIDEWAYS_MM_S2 9000.0
// No car ahead: further away than any driver looks.
#define FREE_MM 1e9
#define SPINS_PER_S (1.0 / 150.0)
#define SLIDING_MM_S2 11000.0
// The slope under a car is taken over so far to each side.
#define SLOPE_MM 2000.0
#define LEAN_DEG 4.0

typedef struct racer {
    double way_mm;         // along the middle of the track
    double side_mm;        // to the left of it
    double sideways_mm_s;  // how fast side_mm changes
    double speed_mm_s;     // along the track, or of the slide
    double liked_side_mm;  // when no car is in the way
    double daring;         // share of the track's limit that the driver takes just now
    double position_mm[2]; // on the plane
    double slide_deg;      // direction of a slide
    double heading_deg;    // -180..180
    double spin_deg_s;
} racer;

typedef struct circuit {
    ph_racetrack track;
    racer cars[];
} circuit;

static size_t stage_bytes(int count)
{
    return sizeof(circuit) + (size_t)count * sizeof(racer);
}

static circuit* find_stage(const ph_scene* scene)
{
    return scene->actors->stage;
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static void prepare(ph_scene* scene)
{
    ph_racetrack_init(&find_stage(scene)->track);
}

// Where on the track it likes to be and how hard it drives, for a while.
static void choose_driving(const ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    racer* car = &find_stage(scene)->cars[index];
    car->liked_side_mm = ph_random_between(&actor->random, -0.7 * EDGE_MM, 0.7 * EDGE_MM);
    car->daring = ph_random_between(&actor->random, 0.78, 1.0);
    actor->wait_steps = ph_scene_draw_steps(scene, actor, 4.0, 15.0);
}

// ---- on the track

static void place_on_track(const ph_racetrack* track, racer* car)
{
    const ph_racetrack_spot spot = ph_racetrack_find(track, car->way_mm);
    car->position_mm[0] = spot.x_mm - car->side_mm * ph_plane_sin_deg(spot.heading_deg);
    car->position_mm[1] = spot.y_mm + car->side_mm * ph_plane_cos_deg(spot.heading_deg);
    car->heading_deg = ph_plane_wrap_deg(spot.heading_deg +
                                         ph_plane_bearing_deg(car->speed_mm_s, car->sideways_mm_s));
}

// A rolling start, two by two.
static void begin(ph_scene* scene, int index)
{
    circuit* stage = find_stage(scene);
    racer* car = &stage->cars[index];
    const double length_mm = stage->track.length_mm;
    // More cars than the track is long start in several rounds of it.
    const double back_mm = fmod(index * GRID_GAP_MM / 2.0, length_mm);
    car->way_mm = ph_racetrack_wrap_mm(&stage->track, length_mm - back_mm);
    car->side_mm = index % 2 == 0 ? 2500.0 : -2500.0;
    car->speed_mm_s = PH_RACETRACK_SLOWEST_MM_S;
    choose_driving(scene, index);
    place_on_track(&stage->track, car);
}

// The nearest car in front that is in the way. @return The way to it, FREE_MM when there is none.
static double look_ahead(const ph_scene* scene, int index, const racer** ahead)
{
    const circuit* stage = find_stage(scene);
    const racer* self = &stage->cars[index];
    double nearest_mm = FREE_MM;
    for (int i = 0; i < scene->count; ++i) {
        const racer* other = &stage->cars[i];
        if (i == index || ph_scene_actor(scene, i)->mode != RACING ||
            fabs(other->side_mm - self->side_mm) > CAR_WIDTH_MM) {
            continue;
        }
        const double gap_mm = ph_racetrack_wrap_mm(&stage->track, other->way_mm - self->way_mm);
        if (gap_mm > 0.0 && gap_mm < nearest_mm) {
            nearest_mm = gap_mm;
            *ahead = other;
        }
    }
    return nearest_mm;
}

// Beside the car in front, on the side with more room.
static double passing_side_mm(const racer* ahead)
{
    const double aside_mm = ahead->side_mm > 0.0 ? -1.3 * CAR_WIDTH_MM : 1.3 * CAR_WIDTH_MM;
    return clamp(ahead->side_mm + aside_mm, -EDGE_MM, EDGE_MM);
}

static void steer(racer* car, double wanted_side_mm, double rate_hz)
{
    const double left_mm = wanted_side_mm - car->side_mm;
    // As fast as it may be here to be straight again when it is there.
    const double most_mm_s = clamp(sqrt(2.0 * SIDEWAYS_MM_S2 * fabs(left_mm)), 0.0, SIDEWAYS_MM_S);
    const double reach_mm_s = fmin(most_mm_s, fabs(left_mm) * rate_hz);
    const double wanted_mm_s = left_mm < 0.0 ? -reach_mm_s : reach_mm_s;
    const double change_mm_s = SIDEWAYS_MM_S2 / rate_hz;
    car->sideways_mm_s =
        clamp(wanted_mm_s, car->sideways_mm_s - change_mm_s, car->sideways_mm_s + change_mm_s);
    car->side_mm = clamp(car->side_mm + car->sideways_mm_s / rate_hz, -EDGE_MM, EDGE_MM);
}

// Engines pull less the faster they are; brakes give a little more than the track asks for.
static void change_speed(racer* car, double wanted_mm_s, double rate_hz)
{
    const double pull_mm_s2 = 11000.0 * (1.0 - car->speed_mm_s / 75000.0);
    const double braking_mm_s2 = 1.3 * PH_RACETRACK_BRAKING_MM_S2;
    const double speed_mm_s = clamp(wanted_mm_s, car->speed_mm_s - braking_mm_s2 / rate_hz,
                                    car->speed_mm_s + pull_mm_s2 / rate_hz);
    car->speed_mm_s = clamp(speed_mm_s, PH_RACETRACK_SLOWEST_MM_S, PH_RACETRACK_FASTEST_MM_S);
}

static void start_spin(const ph_scene* scene, int index)
{
    racer* car = &find_stage(scene)->cars[index];
    ph_actor* actor = ph_scene_actor(scene, index);
    actor->mode = SPINNING;
    car->slide_deg = car->heading_deg;
    const double spin_deg_s = ph_random_between(&actor->random, 250.0, 700.0);
    car->spin_deg_s = ph_random_below(&actor->random, 2) == 0 ? spin_deg_s : -spin_deg_s;
}

static void race(const ph_scene* scene, int index)
{
    circuit* stage = find_stage(scene);
    racer* car = &stage->cars[index];
    ph_actor* actor = ph_scene_actor(scene, index);
    if (--actor->wait_steps <= 0) {
        choose_driving(scene, index);
    }
    const ph_racetrack_spot spot = ph_racetrack_find(&stage->track, car->way_mm);
    double wanted_mm_s = spot.limit_mm_s * car->daring;
    double wanted_side_mm = car->liked_side_mm;
    const racer* ahead = NULL;
    const double gap_mm = look_ahead(scene, index, &ahead);
    if (gap_mm < 10000.0 + 1.2 * car->speed_mm_s && ahead->speed_mm_s < wanted_mm_s) {
        wanted_side_mm = passing_side_mm(ahead);
        if (gap_mm < 6000.0 + 0.2 * car->speed_mm_s) {
            wanted_mm_s = fmin(wanted_mm_s, 0.98 * ahead->speed_mm_s);
        }
    }
    steer(car, wanted_side_mm, scene->rate_hz);
    change_speed(car, wanted_mm_s, scene->rate_hz);
    // The inner side of a bend is shorter.
    const double lane = 1.0 - car->side_mm * spot.bend_per_mm;
    car->way_mm =
        ph_racetrack_wrap_mm(&stage->track, car->way_mm + car->speed_mm_s / lane / scene->rate_hz);
    place_on_track(&stage->track, car);
    if (ph_rng_chance(&actor->random, SPINS_PER_S / scene->rate_hz)) {
        start_spin(scene, index);
    }
}

// ---- off the track

// Straight on, turning, ever slower.
static void slide(const ph_scene* scene, int index)
{
    racer* car = &find_stage(scene)->cars[index];
    ph_actor* actor = ph_scene_actor(scene, index);
    const double before_mm_s = car->speed_mm_s;
    car->speed_mm_s = fmax(0.0, before_mm_s - SLIDING_MM_S2 / scene->rate_hz);
    car->spin_deg_s *= before_mm_s > 0.0 ? car->speed_mm_s / before_mm_s : 0.0;
    const double step_mm = car->speed_mm_s / scene->rate_hz;
    car->position_mm[0] += step_mm * ph_plane_cos_deg(car->slide_deg);
    car->position_mm[1] += step_mm * ph_plane_sin_deg(car->slide_deg);
    car->heading_deg = ph_plane_wrap_deg(car->heading_deg + car->spin_deg_s / scene->rate_hz);
    if (car->speed_mm_s <= 0.0) {
        actor->mode = STRANDED;
        actor->wait_steps = ph_scene_draw_steps(scene, actor, 1.5, 4.0);
    }
}

static void put_back(const ph_scene* scene, int index)
{
    circuit* stage = find_stage(scene);
    racer* car = &stage->cars[index];
    ph_scene_actor(scene, index)->mode = RACING;
    car->speed_mm_s = PH_RACETRACK_SLOWEST_MM_S;
    car->sideways_mm_s = 0.0;
    car->side_mm = 0.0;
    choose_driving(scene, index);
    place_on_track(&stage->track, car);
}

static void step(ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    switch (actor->mode) {
    case SPINNING:
        slide(scene, index);
        return;
    case STRANDED:
        if (--actor->wait_steps <= 0) {
            put_back(scene, index);
        }
        return;
    default:
        race(scene, index);
        return;
    }
}

// How much the hills rise along a direction, in degrees; they are never steep.
static double slope_deg(double x_mm, double y_mm, double along_x, double along_y)
{
    const double ahead_mm =
        ph_scene_ground_mm(x_mm + SLOPE_MM * along_x, y_mm + SLOPE_MM * along_y);
    const double behind_mm =
        ph_scene_ground_mm(x_mm - SLOPE_MM * along_x, y_mm - SLOPE_MM * along_y);
    return ph_plane_bearing_deg(2.0 * SLOPE_MM, ahead_mm - behind_mm);
}

// Its nose follows the hills, and it leans with them and out of bends.
static void show_rotation(ph_scene* scene, int index, const racer* car)
{
    const double nose_x = ph_plane_cos_deg(car->heading_deg);
    const double nose_y = ph_plane_sin_deg(car->heading_deg);
    const double x_mm = car->position_mm[0];
    const double y_mm = car->position_mm[1];
    const double pitch_deg = slope_deg(x_mm, y_mm, nose_x, nose_y);
    const double lean_deg = LEAN_DEG * car->sideways_mm_s / SIDEWAYS_MM_S;
    double rotation[4];
    ph_attitude_from_angles(car->heading_deg, pitch_deg,
                            lean_deg - slope_deg(x_mm, y_mm, -nose_y, nose_x), rotation);
    ph_scene_show_rotation(scene, index, rotation);
}

static void show(ph_scene* scene, int index)
{
    const racer* car = &find_stage(scene)->cars[index];
    const double x_mm = car->position_mm[0];
    const double y_mm = car->position_mm[1];
    const double position_mm[3] = {x_mm, y_mm, ph_scene_ground_mm(x_mm, y_mm)};
    ph_scene_show(scene, index, position_mm, car->heading_deg);
    show_rotation(scene, index, car);
}

const ph_play ph_play_race = {
    .info = {.name = "race", .default_count = 24, .default_rate_hz = 20, .has_rotation = true},
    .begin = begin,
    .step = step,
    .stage_bytes = stage_bytes,
    .prepare = prepare,
    .show = show,
};
