// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Values of the pinhole profile but positions, costed, written or read by one function each
// (coder.h). Words and texts of the record are given when they are written, filled when they are
// read. Once per value told.

#ifndef PH_WIRE_CODED_VALUES_H
#define PH_WIRE_CODED_VALUES_H

#include "wire/coded.h"
#include "wire/coder.h"

// An update's heading: difference to what is known or to the direction of motion. The record's
// position, if it tells one, is there already.
void ph_coded_heading(const ph_coded_frame* frame, ph_coder* coder, const ph_coded_record* coded,
                      const ph_layout* layout);

// The level of an enter, told or initial; 0 without a heading.
uint32_t ph_coded_heading_of(const ph_layout* layout, const ph_record* record);

// The heading of a newcomer, whose velocity is there already; or of one who is told from another one
// of its class. Both set or clear its bit of the record's properties.
void ph_coded_first_heading(ph_coder* coder, ph_coded_record* coded, const ph_layout* layout);
void ph_coded_heading_beside(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded,
                             const ph_layout* layout);

// All other values of an enter that is told from one of its class. @return Which are not initial.
uint64_t ph_coded_others_beside(const ph_coded_frame* frame, ph_coder* coder,
                                const ph_coded_record* coded, const ph_layout* layout);
// Those in which an enter differs from the one before; of texts and references, those it tells.
uint64_t ph_coded_differing(const ph_layout* layout, const ph_coded_neighbour* before,
                            const ph_record* record);

// Any other value of an update, a difference where that is cheaper; or of an enter, never at its
// initial value.
void ph_coded_value(const ph_coded_frame* frame, ph_coder* coder, const ph_coded_record* coded,
                    const ph_layout* layout, int property);

#endif
