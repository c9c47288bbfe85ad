// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How a newcomer of the pinhole profile moves: by itself, or as a difference to what is expected of it
// beside the enter before, as the packet states. Once per enter.

#ifndef PH_WIRE_CODED_VELOCITY_H
#define PH_WIRE_CODED_VELOCITY_H

#include "wire/coded.h"
#include "wire/coder.h"

// The velocity that is expected of one with this heading (a level), behind another one of its class.
void ph_coded_expected_velocity(const ph_layout* layout, ph_coded_motion motion,
                                const ph_coded_neighbour* before, uint32_t heading,
                                int32_t velocity[3]);

// Of an enter that is told from none of its class: costed, taped or read by one function (coder.h).
void ph_coded_first_velocity(ph_coder* coder, ph_coded_record* coded);
// Of others, whose heading is there already.
void ph_coded_velocity_beside(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded,
                              const ph_layout* layout);

#endif
