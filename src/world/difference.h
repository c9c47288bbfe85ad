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

// A change counted as a path, in PH_STIR_UNIT parts of another look, times the weight of the property.
// Where every difference is significant (a hat), each is another look; where there is a scale (a
// heading, a bar), PH_STIR_WHOLE significant differences or more are one. At least 1.
#define PH_STIR_UNIT 64
#define PH_STIR_WHOLE 8
uint32_t ph_difference_stir(const ph_property* property, const uint32_t* a, const uint32_t* b);

#endif
