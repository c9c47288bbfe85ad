// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per actor and step.

#include "kit/walker.h"

#include "kit/plane.h"

#include <math.h>

static const struct {
    double turn_deg_s;
    double acceleration_mm_s2;
} GAITS[] = {
    [PH_GAIT_PEDESTRIAN] = {.turn_deg_s = 200.0, .acceleration_mm_s2 = 2500.0},
    // Full speed after a quarter of a second, about-turn in less than half of one.
    [PH_GAIT_PLAYER] = {.turn_deg_s = 400.0, .acceleration_mm_s2 = 25000.0},
};

// A walker that faces away from the goal by more than this turns before it walks.
#define SHARP_TURN_DEG 50.0
// Nearer than this is there.
#define ARRIVED_MM 150.0

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

// @return What is left to turn, before this step.
static double turn_towards(ph_walker* walker, double heading_deg, double rate_hz)
{
    const double left_deg = ph_plane_wrap_deg(heading_deg - walker->heading_deg);
    const double most_deg = GAITS[walker->gait].turn_deg_s / rate_hz;
    walker->heading_deg =
        ph_plane_wrap_deg(walker->heading_deg + clamp(left_deg, -most_deg, most_deg));
    return fabs(left_deg);
}

bool ph_walker_face(ph_walker* walker, double heading_deg, double rate_hz)
{
    return turn_towards(walker, heading_deg, rate_hz) <= GAITS[walker->gait].turn_deg_s / rate_hz;
}

// As fast as it may be here to stop at the goal, and slowly round sharp bends.
static double wanted_speed(const ph_walker* walker, double distance_mm, double turn_deg)
{
    const double braking_mm_s = sqrt(2.0 * GAITS[walker->gait].acceleration_mm_s2 * distance_mm);
    const double free_mm_s =
        turn_deg > SHARP_TURN_DEG ? 0.1 * walker->cruise_mm_s : walker->cruise_mm_s;
    return braking_mm_s < free_mm_s ? braking_mm_s : free_mm_s;
}

bool ph_walker_step(ph_walker* walker, double rate_hz)
{
    const double way_x_mm = walker->goal_x_mm - walker->x_mm;
    const double way_y_mm = walker->goal_y_mm - walker->y_mm;
    const double distance_mm = ph_plane_length(way_x_mm, way_y_mm);
    if (distance_mm <= ARRIVED_MM || distance_mm * rate_hz < walker->speed_mm_s) {
        walker->speed_mm_s = 0.0;
        return true;
    }
    const double turn_deg = turn_towards(
        walker, ph_plane_bearing_deg(way_x_mm, way_y_mm) + walker->swerve_deg, rate_hz);
    const double change_mm_s = GAITS[walker->gait].acceleration_mm_s2 / rate_hz;
    walker->speed_mm_s = clamp(wanted_speed(walker, distance_mm, turn_deg),
                               walker->speed_mm_s - change_mm_s, walker->speed_mm_s + change_mm_s);
    const double step_mm = walker->speed_mm_s / rate_hz;
    walker->x_mm += step_mm * ph_plane_cos_deg(walker->heading_deg);
    walker->y_mm += step_mm * ph_plane_sin_deg(walker->heading_deg);
    return false;
}
