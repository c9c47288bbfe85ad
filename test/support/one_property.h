// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A schema of one class, "thing", with a position and one more property, for tests of that
// property.

#ifndef PINHOLE_ONE_PROPERTY_H
#define PINHOLE_ONE_PROPERTY_H

#include "schema/property.h"

typedef struct one_property {
    ph_schema* schema;
    const ph_property* property; // valid as long as the schema
} one_property;

/// Fails the test, with the reason printed, when the declaration is refused. The struct that it may
/// be bound to has 4,096 bytes.
one_property one_property_make(ph_property_def def);

void one_property_destroy(one_property* one);

#endif
