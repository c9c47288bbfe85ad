// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a ph_schema is inside. It never changes after it was made.
//
// One block holds it all:
//
//   | ph_schema | ph_class x classes | ph_property x all | ph_property_def x all | names |

#ifndef PH_SCHEMA_STATE_H
#define PH_SCHEMA_STATE_H

#include "schema/property.h"

struct ph_schema {
    ph_class* classes;
    int class_count;
    uint64_t fingerprint;
    ph_allocator allocator;
    size_t size_bytes; // of the block
};

// Of everything that decides how the classes are written; see fingerprint.c.
uint64_t ph_fingerprint_of(const ph_class* classes, int class_count);

#endif
