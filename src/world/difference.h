// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How far apart two values of a property are. Runs for every value that changes and for every one
// that a visit finds changed.

#ifndef PH_WORLD_DIFFERENCE_H
#define PH_WORLD_DIFFERENCE_H

#include "schema/property.h"

// Of two values that are not the same, in the steps of significant_steps. Where nothing can be
// subtracted, it is as large as is significant.
uint64_t ph_difference_steps(const ph_property* property, const uint32_t* a, const uint32_t* b);

// A step counted as a path: in PH_STIR_UNIT parts of a significant difference, times the weight of
// the property; PH_STIR_MAX significant differences at most, so that one leap does not count for
// ever. At least 1.
#define PH_STIR_UNIT 16
#define PH_STIR_MAX 8
uint32_t ph_difference_stir(const ph_property* property, const uint32_t* a, const uint32_t* b);

#endif
