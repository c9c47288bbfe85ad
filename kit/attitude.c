// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per entity and tick of a truth that turns in space.

#include "kit/attitude.h"

#include "kit/plane.h"
#include "kit/random.h"

#include <math.h>
#include <string.h>

#define DEGREES_PER_RADIAN 57.29577951308232
#define QUARTER_TURN 1.5707963267948966

// ---- quaternions

void ph_attitude_multiply(const double a[4], const double b[4], double q[4])
{
    const double product[4] = {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
        a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    };
    memcpy(q, product, sizeof product);
}

void ph_attitude_normalise(double q[4])
{
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length > 1e-9 && length < 1e9)) {
        q[0] = q[1] = q[2] = 0.0;
        q[3] = 1.0;
        return;
    }
    for (int k = 0; k < 4; ++k) {
        q[k] /= length;
    }
}

// Of half an angle, -90 to 90 degrees. The C library's sine is not the same everywhere, and that of
// kit/plane.h not exact enough to measure by.
static double half_radians(double angle_deg)
{
    return ph_plane_wrap_deg(angle_deg) / (2.0 * DEGREES_PER_RADIAN);
}

// Its series: 10^-12 off at 90 degrees.
static double sine(double radians)
{
    const double square = radians * radians;
    double sum = 1.0;
    for (int n = 16; n >= 2; n -= 2) {
        sum = 1.0 - sum * square / (n * (n + 1));
    }
    return radians * sum;
}

static double cosine(double radians)
{
    return sine(QUARTER_TURN - fabs(radians));
}

void ph_attitude_from_angles(double yaw_deg, double pitch_deg, double roll_deg, double q[4])
{
    const double yaw = half_radians(yaw_deg);
    const double pitch = half_radians(pitch_deg);
    const double roll = half_radians(roll_deg);
    const double turn[4] = {0.0, 0.0, sine(yaw), cosine(yaw)};
    const double raise[4] = {0.0, -sine(pitch), 0.0, cosine(pitch)};
    const double lean[4] = {-sine(roll), 0.0, 0.0, cosine(roll)};
    ph_attitude_multiply(turn, raise, q);
    ph_attitude_multiply(q, lean, q);
    ph_attitude_normalise(q);
}

// The tangent of a quarter of a small angle t gives its half exactly; here 4 tan(t / 4) is about t
// (1 + t^2 / 48), which is 0.02 degrees of 12 off at most, and always the same.
void ph_attitude_spin(double q[4], const double spin_deg_s[3], double seconds)
{
    double quarter[3];
    double square = 0.0;
    for (int k = 0; k < 3; ++k) {
        quarter[k] = spin_deg_s[k] * seconds / DEGREES_PER_RADIAN / 4.0;
        square += quarter[k] * quarter[k];
    }
    const double stretch = 1.0 + square / 3.0; // the tangent's next term
    const double tangent2 = square * stretch * stretch;
    const double turn[4] = {
        2.0 * quarter[0] * stretch / (1.0 + tangent2),
        2.0 * quarter[1] * stretch / (1.0 + tangent2),
        2.0 * quarter[2] * stretch / (1.0 + tangent2),
        (1.0 - tangent2) / (1.0 + tangent2),
    };
    ph_attitude_multiply(turn, q, q);
    ph_attitude_normalise(q);
}

// The direction of a point of the unit ball of four dimensions, never of its middle.
void ph_attitude_draw(ph_rng* random, double q[4])
{
    double square;
    do {
        square = 0.0;
        for (int k = 0; k < 4; ++k) {
            q[k] = ph_random_between(random, -1.0, 1.0);
            square += q[k] * q[k];
        }
    } while (square > 1.0 || square < 0.01);
    ph_attitude_normalise(q);
}

double ph_attitude_heading_deg(const double q[4])
{
    const double x = 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]);
    const double y = 2.0 * (q[0] * q[1] + q[2] * q[3]);
    const double heading = atan2(y, x) * DEGREES_PER_RADIAN;
    const double turned = heading < 0.0 ? heading + 360.0 : heading;
    return turned < 360.0 ? turned : 0.0;
}

// By the sine and the cosine of half of it: the cosine alone says nothing of small angles.
double ph_attitude_between_deg(const double a[4], const double b[4])
{
    const double back[4] = {-a[0], -a[1], -a[2], a[3]};
    double q[4];
    ph_attitude_multiply(back, b, q);
    const double sine = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    return 2.0 * atan2(sine, fabs(q[3])) * DEGREES_PER_RADIAN;
}
