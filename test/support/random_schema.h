// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Random schemas that make sense: every coding, every parameter, every policy.

#ifndef PINHOLE_RANDOM_SCHEMA_H
#define PINHOLE_RANDOM_SCHEMA_H

#include "pinhole/schema.h"
#include "test_support.h"

enum {
    RANDOM_CLASSES_MAX = 5,
    RANDOM_PROPERTIES_MAX = 20,
};

/// Tables for ph_schema_create(). Large; the defs point into the struct itself, so it stays where
/// it is.
typedef struct random_schema {
    ph_class_def classes[RANDOM_CLASSES_MAX];
    int class_count;
    ph_property_def properties[RANDOM_CLASSES_MAX][RANDOM_PROPERTIES_MAX];
    char class_names[RANDOM_CLASSES_MAX][PH_SCHEMA_NAME_MAX + 1];
    char names[RANDOM_CLASSES_MAX][RANDOM_PROPERTIES_MAX][PH_SCHEMA_NAME_MAX + 1];
} random_schema;

void random_schema_fill(random_schema* tables, test_rng* rng);

#endif
