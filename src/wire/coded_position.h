// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Positions of the pinhole profile, costed, written or read by one function each (coder.h). Words
// are given when they are written, filled when they are read. Once per record with a position.

#ifndef PH_WIRE_CODED_POSITION_H
#define PH_WIRE_CODED_POSITION_H

#include "wire/coded.h"
#include "wire/coder.h"

// Relative to where the motion of the baseline leads; coarse as the record says.
void ph_coded_position(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded,
                       const ph_layout* layout);

// Relative to the eye: of those who enter or jump.
void ph_coded_place(const ph_coded_frame* frame, ph_coder* coder, const ph_layout* layout,
                    uint32_t words[3]);

// The same, relative to the enter before.
void ph_coded_place_beside(const ph_coded_frame* frame, ph_coder* coder,
                           const ph_coded_record* coded, const ph_layout* layout,
                           uint32_t words[3]);

// How a newcomer moves.
void ph_coded_velocity(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded);

#endif
