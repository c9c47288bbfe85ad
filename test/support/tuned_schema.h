// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Schemas that bring models along, at random.

#ifndef PH_TEST_TUNED_SCHEMA_H
#define PH_TEST_TUNED_SCHEMA_H

#include <pinhole/schema.h>

// The schema with models for a third of what can have some, and for all its properties; takes the place of
// the plain one, which is destroyed.
ph_schema* tuned_schema_make(ph_schema* plain, uint64_t seed);

#endif
