// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What both ends make of the values of a smooth property: parts that move on their own. A number or a
// rotation is one part, a VEC3 three. The parts of a class stand side by side, in the order of its
// properties. Nothing of it is on the wire: a client shows by it, and a sender knows what it shows.

#ifndef PH_PACKET_SMOOTH_PARTS_H
#define PH_PACKET_SMOOTH_PARTS_H

#include "motion/smooth.h"
#include "motion/turn.h"
#include "schema/property.h"

// Parts of a smooth property, 1 or 3.
int ph_smooth_parts(const ph_property* property);

// Whether its one part is a rotation: then ph_smooth_rotation() and motion/turn.h, else the others and
// motion/smooth.h.
bool ph_smooth_is_rotation(const ph_property* property);

// Of any quaternion, an orientation, too.
void ph_smooth_rotation(const ph_property* property, const uint32_t words[2], float rotation[4]);

// The angle that a step of the coding is.
float ph_smooth_rotation_step(const ph_property* property);

// A part in steps of the coding, and what it can be.
double ph_smooth_number(const ph_property* property, const uint32_t* words, int part);
ph_number_scale ph_smooth_scale(const ph_property* property, int part);

// Such a number, with what lies between the steps, in the unit of the field. Of an angle 0 <= it < a turn.
double ph_smooth_unit(const ph_property* property, int part, double number);

#endif
