// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Rotations of the truth: from angles, by spins, and how far two are apart. Unit
// quaternions x, y, z, w that turn what belongs to a body (its nose is +x, its top +z)
// into the world.
//
// From angles: yaw, then pitch, then roll, each about an axis of the body as the ones before have left it:
//
//   yaw    about z, from +x towards +y: the heading
//   pitch  about y, from +x towards +z: positive raises the nose
//   roll   about x, from +z towards +y: positive lowers the side of +y
//
//   q = q(z, yaw) * q(y, -pitch) * q(x, -roll)

#ifndef PINHOLE_KIT_ATTITUDE_H
#define PINHOLE_KIT_ATTITUDE_H

#include "base/rng.h"

// From angles in degrees; the same bits on every machine.
void ph_attitude_from_angles(double yaw_deg, double pitch_deg, double roll_deg, double q[4]);

// a, then after it b turned along: q = a * b. Any of them may be q.
void ph_attitude_multiply(const double a[4], const double b[4], double q[4]);

// A length of 1 again; the identity where there is none.
void ph_attitude_normalise(double q[4]);

// Goes on turning about an axis of the world at degrees per second, for so long. Without a sine: steps
// of less than 90 degrees.
void ph_attitude_spin(double q[4], const double spin_deg_s[3], double seconds);

// Where the nose points on the plane, 0 <= it < 360; 0 where it points straight up or down.
double ph_attitude_heading_deg(const double q[4]);

// Any rotation, each as likely as the next.
void ph_attitude_draw(ph_rng* random, double q[4]);

// The angle between two, 0..180.
double ph_attitude_between_deg(const double a[4], const double b[4]);

#endif
