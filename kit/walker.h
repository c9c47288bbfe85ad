// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One walking person: turns towards its goal, speeds up, slows down before it, stops. So its paths
// have curves, and its speed changes as that of people does; a player's hand on keys and mouse
// turns and starts it much faster, and never steers quite straight.

#ifndef PINHOLE_KIT_WALKER_H
#define PINHOLE_KIT_WALKER_H

#include <stdbool.h>

// How quickly it obeys.
typedef enum ph_gait {
    PH_GAIT_PEDESTRIAN,
    PH_GAIT_PLAYER,
} ph_gait;

typedef struct ph_walker {
    double x_mm;
    double y_mm;
    double heading_deg; // -180..180, from the x axis towards the y axis
    double speed_mm_s;
    double cruise_mm_s; // on a free way
    double goal_x_mm;
    double goal_y_mm;
    double swerve_deg; // added to the direction of the goal: a player steers by hand
    ph_gait gait;
} ph_walker;

// One step of 1 / rate_hz seconds. @return True when it stands at its goal.
bool ph_walker_step(ph_walker* walker, double rate_hz);

// Turns on the spot by at most one step's worth. @return True when it looks there.
bool ph_walker_face(ph_walker* walker, double heading_deg, double rate_hz);

#endif
