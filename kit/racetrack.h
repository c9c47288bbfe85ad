// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A closed race track: a smooth line through fixed corners, cut into equal parts, with the speed
// that can be driven at each: slow in corners, and before them as fast as the brakes allow. The same
// bits everywhere.

#ifndef PINHOLE_KIT_RACETRACK_H
#define PINHOLE_KIT_RACETRACK_H

enum { PH_RACETRACK_PARTS = 4096 };

#define PH_RACETRACK_SLOWEST_MM_S 20000.0
#define PH_RACETRACK_FASTEST_MM_S 60000.0
#define PH_RACETRACK_BRAKING_MM_S2 9000.0
// From the middle line to each side.
#define PH_RACETRACK_HALF_WIDTH_MM 6000.0

// Arrays by part; each holds for the beginning of its part. Read-only.
typedef struct ph_racetrack {
    double length_mm;
    double x_mm[PH_RACETRACK_PARTS];
    double y_mm[PH_RACETRACK_PARTS];
    double heading_deg[PH_RACETRACK_PARTS]; // -180..180
    double bend_per_mm[PH_RACETRACK_PARTS]; // 1 / radius, positive to the left
    double limit_mm_s[PH_RACETRACK_PARTS];
} ph_racetrack;

// One place of the middle line.
typedef struct ph_racetrack_spot {
    double x_mm;
    double y_mm;
    double heading_deg; // -180..180
    double bend_per_mm;
    double limit_mm_s;
} ph_racetrack_spot;

// A few milliseconds.
void ph_racetrack_init(ph_racetrack* track);

// The way back to 0 <= way < length; it may be one lap off.
double ph_racetrack_wrap_mm(const ph_racetrack* track, double way_mm);

// way_mm along the middle line from its start, 0 <= way < length.
ph_racetrack_spot ph_racetrack_find(const ph_racetrack* track, double way_mm);

#endif
