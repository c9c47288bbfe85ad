// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The track is made once; places are looked up once per car and step.

#include "kit/racetrack.h"

#include "kit/plane.h"

#include <math.h>

// A long straight, a fast bend, an esse, a hairpin, a chicane and the way back, in metres.
static const double CORNERS_M[][2] = {
    {-330, -200}, {-90, -205}, {150, -200}, {335, -165}, {385, -60},  {315, 20},
    {200, 25},    {135, 85},   {165, 170},  {95, 240},   {-40, 215},  {-105, 125},
    {-215, 95},   {-295, 160}, {-405, 145}, {-440, 10},  {-430, -130}};
enum {
    CORNER_COUNT = sizeof CORNERS_M / sizeof CORNERS_M[0],
    SAMPLES_PER_CORNER = 1024,
    SAMPLE_COUNT = CORNER_COUNT * SAMPLES_PER_CORNER,
};

#define CORNERING_MM_S2 13000.0
#define RADIANS_PER_DEGREE 0.017453292519943295
// A bend is taken over so many parts to either side: about 2 m.
#define BEND_PARTS 4

// One coordinate of the curve (Catmull and Rom's) between corners b and c, share 0..1.
static double blend(double a, double b, double c, double d, double share)
{
    const double linear = c - a;
    const double square = 2.0 * a - 5.0 * b + 4.0 * c - d;
    const double cube = 3.0 * (b - c) + d - a;
    return b + 0.5 * share * (linear + share * (square + share * cube));
}

// Sample 0..SAMPLE_COUNT of the curve; the last is the first again.
static void find_sample(int sample, double* x_mm, double* y_mm)
{
    const int corner = sample / SAMPLES_PER_CORNER;
    const double share = sample % SAMPLES_PER_CORNER / (double)SAMPLES_PER_CORNER;
    const double* a = CORNERS_M[(corner + CORNER_COUNT - 1) % CORNER_COUNT];
    const double* b = CORNERS_M[corner % CORNER_COUNT];
    const double* c = CORNERS_M[(corner + 1) % CORNER_COUNT];
    const double* d = CORNERS_M[(corner + 2) % CORNER_COUNT];
    *x_mm = 1000.0 * blend(a[0], b[0], c[0], d[0], share);
    *y_mm = 1000.0 * blend(a[1], b[1], c[1], d[1], share);
}

// Walks the samples once. Places the parts, spacing_mm apart, unless that is 0.
// @return The length of the walk.
static double walk(ph_racetrack* track, double spacing_mm)
{
    double way_mm = 0.0;
    int part = 0;
    double x_mm, y_mm;
    find_sample(0, &x_mm, &y_mm);
    for (int i = 1; i <= SAMPLE_COUNT; ++i) {
        double next_x_mm, next_y_mm;
        find_sample(i, &next_x_mm, &next_y_mm);
        const double step_mm = ph_plane_length(next_x_mm - x_mm, next_y_mm - y_mm);
        while (spacing_mm > 0.0 && part < PH_RACETRACK_PARTS &&
               part * spacing_mm <= way_mm + step_mm) {
            const double share = (part * spacing_mm - way_mm) / step_mm;
            track->x_mm[part] = x_mm + share * (next_x_mm - x_mm);
            track->y_mm[part] = y_mm + share * (next_y_mm - y_mm);
            ++part;
        }
        way_mm += step_mm;
        x_mm = next_x_mm;
        y_mm = next_y_mm;
    }
    return way_mm;
}

static int wrap_part(int part)
{
    return (part + PH_RACETRACK_PARTS) % PH_RACETRACK_PARTS;
}

static void find_headings(ph_racetrack* track)
{
    for (int i = 0; i < PH_RACETRACK_PARTS; ++i) {
        const int before = wrap_part(i - 1);
        const int after = wrap_part(i + 1);
        track->heading_deg[i] = ph_plane_bearing_deg(track->x_mm[after] - track->x_mm[before],
                                                     track->y_mm[after] - track->y_mm[before]);
    }
}

static double corner_limit_mm_s(double bend_per_mm)
{
    // Also where there is no bend at all.
    const double fast_bend =
        CORNERING_MM_S2 / (PH_RACETRACK_FASTEST_MM_S * PH_RACETRACK_FASTEST_MM_S);
    if (fabs(bend_per_mm) <= fast_bend) {
        return PH_RACETRACK_FASTEST_MM_S;
    }
    const double limit_mm_s = sqrt(CORNERING_MM_S2 / fabs(bend_per_mm));
    return limit_mm_s > PH_RACETRACK_SLOWEST_MM_S ? limit_mm_s : PH_RACETRACK_SLOWEST_MM_S;
}

static void find_bends(ph_racetrack* track, double spacing_mm)
{
    for (int i = 0; i < PH_RACETRACK_PARTS; ++i) {
        const double turn_deg = ph_plane_wrap_deg(track->heading_deg[wrap_part(i + BEND_PARTS)] -
                                                  track->heading_deg[wrap_part(i - BEND_PARTS)]);
        track->bend_per_mm[i] = turn_deg * RADIANS_PER_DEGREE / (2.0 * BEND_PARTS * spacing_mm);
        track->limit_mm_s[i] = corner_limit_mm_s(track->bend_per_mm[i]);
    }
}

// Backwards, two laps: the corner after the start line is braked for before it.
static void brake_for_corners(ph_racetrack* track, double spacing_mm)
{
    for (int i = 2 * PH_RACETRACK_PARTS; i > 0; --i) {
        const double next_mm_s = track->limit_mm_s[i % PH_RACETRACK_PARTS];
        double* limit_mm_s = &track->limit_mm_s[(i - 1) % PH_RACETRACK_PARTS];
        const double braked_mm_s =
            sqrt(next_mm_s * next_mm_s + 2.0 * PH_RACETRACK_BRAKING_MM_S2 * spacing_mm);
        *limit_mm_s = braked_mm_s < *limit_mm_s ? braked_mm_s : *limit_mm_s;
    }
}

void ph_racetrack_init(ph_racetrack* track)
{
    track->length_mm = walk(track, 0.0);
    const double spacing_mm = track->length_mm / PH_RACETRACK_PARTS;
    walk(track, spacing_mm);
    find_headings(track);
    find_bends(track, spacing_mm);
    brake_for_corners(track, spacing_mm);
}

double ph_racetrack_wrap_mm(const ph_racetrack* track, double way_mm)
{
    if (way_mm < 0.0) {
        way_mm += track->length_mm;
    }
    return way_mm < track->length_mm ? way_mm : way_mm - track->length_mm;
}

ph_racetrack_spot ph_racetrack_find(const ph_racetrack* track, double way_mm)
{
    const double parts = way_mm / track->length_mm * PH_RACETRACK_PARTS;
    const int part = (int)parts < PH_RACETRACK_PARTS ? (int)parts : PH_RACETRACK_PARTS - 1;
    const int next = (part + 1) % PH_RACETRACK_PARTS;
    const double share = parts - part;
    const double turn_deg = ph_plane_wrap_deg(track->heading_deg[next] - track->heading_deg[part]);
    return (ph_racetrack_spot){
        .x_mm = track->x_mm[part] + share * (track->x_mm[next] - track->x_mm[part]),
        .y_mm = track->y_mm[part] + share * (track->y_mm[next] - track->y_mm[part]),
        .heading_deg = ph_plane_wrap_deg(track->heading_deg[part] + share * turn_deg),
        .bend_per_mm = track->bend_per_mm[part],
        .limit_mm_s = track->limit_mm_s[part],
    };
}
