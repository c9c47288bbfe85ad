// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whether a table of classes makes sense.

#ifndef PH_SCHEMA_CHECK_H
#define PH_SCHEMA_CHECK_H

#include "schema/prepare.h"

// @return False with *error filled; error may be NULL. Line and column are 0.
bool ph_schema_check(const ph_class_def* classes, int class_count, ph_schema_error* error);

// Whether everything about one entity of the class fits into a datagram (PH_CLASS_BITS_MAX). Its
// properties are good. @return False with *error filled; error may be NULL. Line and column are 0.
bool ph_schema_check_size(const ph_class_def* type, ph_schema_error* error);

// Writes "class kart, property heading: ..." for a refused property of a class. Line and column are
// left alone. error may be NULL.
void ph_schema_explain(ph_schema_error* error, const ph_class_def* type, int property_index,
                       const char* message);

#endif
