// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the records of packets ask of a ground beside the public codings.

#ifndef PH_CODEC_PLACES_H
#define PH_CODEC_PLACES_H

#include <pinhole/ground.h>

// The layers of a ground at (x, y), {0} included. Altitudes have 32 bits on the wire: what lies beyond
// is no layer. @return How many.
int ph_ground_layers(const ph_ground* ground, int64_t x_mm, int64_t y_mm,
                     int64_t heights_mm[PH_GROUND_LAYERS_MAX]);

#endif
