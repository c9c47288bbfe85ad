// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few of these per actor and step.

#include "kit/plane.h"

#include <math.h>

#define RADIANS_PER_DEGREE 0.017453292519943295

double ph_plane_wrap_deg(double angle_deg)
{
    return angle_deg - 360.0 * floor((angle_deg + 180.0) / 360.0);
}

// The series of the sine up to the ninth power: 4 * 10^-6 off at 90 degrees.
double ph_plane_sin_deg(double angle_deg)
{
    double folded_deg = ph_plane_wrap_deg(angle_deg);
    if (folded_deg > 90.0) {
        folded_deg = 180.0 - folded_deg;
    } else if (folded_deg < -90.0) {
        folded_deg = -180.0 - folded_deg;
    }
    const double x = folded_deg * RADIANS_PER_DEGREE;
    const double x2 = x * x;
    return x * (1.0 - x2 / 6.0 * (1.0 - x2 / 20.0 * (1.0 - x2 / 42.0 * (1.0 - x2 / 72.0))));
}

double ph_plane_cos_deg(double angle_deg)
{
    return ph_plane_sin_deg(angle_deg + 90.0);
}

// Of a slope 0..1, in radians: a polynomial fitted for the least greatest error, 10^-5.
static double arc_tangent(double slope)
{
    const double s2 = slope * slope;
    return slope *
           (0.99997726 +
            s2 * (-0.33262347 +
                  s2 * (0.19354346 + s2 * (-0.11643287 + s2 * (0.05265332 + s2 * -0.01172120)))));
}

double ph_plane_bearing_deg(double x, double y)
{
    const double across = fabs(x);
    const double along = fabs(y);
    if (across == 0.0 && along == 0.0) {
        return 0.0;
    }
    double angle_deg = along <= across ? arc_tangent(along / across) / RADIANS_PER_DEGREE
                                       : 90.0 - arc_tangent(across / along) / RADIANS_PER_DEGREE;
    angle_deg = x < 0.0 ? 180.0 - angle_deg : angle_deg;
    return y < 0.0 ? -angle_deg : angle_deg;
}

double ph_plane_length(double x, double y)
{
    return sqrt(x * x + y * y);
}
