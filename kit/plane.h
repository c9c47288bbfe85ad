// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Angles in the plane, the same bits on every machine: the C library's sine is not. Built from + -
// * / and square root alone, which are exact to the last bit everywhere as long as nothing is fused
// (-ffp-contract=off). Good to 10^-5, which is plenty for actors that walk about.

#ifndef PINHOLE_KIT_PLANE_H
#define PINHOLE_KIT_PLANE_H

// Degrees count from the x axis towards the y axis.

// Any number of turns. @return -180 <= angle < 180.
double ph_plane_wrap_deg(double angle_deg);

// Of an angle within -100000..100000 degrees.
double ph_plane_sin_deg(double angle_deg);
double ph_plane_cos_deg(double angle_deg);

// Where (x, y) lies from the origin, -180..180; 0 for the origin itself.
double ph_plane_bearing_deg(double x, double y);

double ph_plane_length(double x, double y);

#endif
