// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The part of preparing a property that differs from coding to coding.

#ifndef PH_SCHEMA_PREPARE_CODING_H
#define PH_SCHEMA_PREPARE_CODING_H

#include "schema/problem.h"
#include "schema/property.h"

// property->def has a coding and a field that suits it, finite numbers, and no parameter that the
// coding does not take. Spells out what zero means and declares the codings, still without their
// defaults. @return False with *problem filled.
bool ph_coding_prepare(ph_property* property, ph_problem* problem);

#endif
