// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From a declaration to a property that can work: checks everything that can be said about one
// property by itself, spells out what zero means, and declares the codings.

#ifndef PH_SCHEMA_PREPARE_H
#define PH_SCHEMA_PREPARE_H

#include "schema/problem.h"
#include "schema/property.h"

// Fills *property from *def. The name is not copied. @return False with *problem filled.
bool ph_property_prepare(const ph_property_def* def, ph_property* property, ph_problem* problem);

// Whether a class or property may be called this. NULL may not.
bool ph_name_is_valid(const char* name);

// What default_value of a prepared number or VEC3 is when nobody says: 0, or the end of lo..hi that
// is nearer to it.
double ph_property_automatic_initial(const ph_property* property);

#endif
