// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A schema with one interesting property.

#include "one_property.h"

#include "test_support.h"

one_property one_property_make(ph_property_def def)
{
    const ph_property_def properties[] = {ph_property_position("place"), def};
    const ph_class_def type = {
        .name = "thing", .properties = properties, .property_count = 2, .struct_size = 4096};
    one_property one = {0};
    ph_error error = {0};
    if (ph_schema_create(&type, 1, NULL, &one.schema, &error) != PH_OK) {
        print_error("%s\n", error.text);
        fail();
    }
    one.property = &ph_schema_class_at(one.schema, 0)->properties[1];
    return one;
}

void one_property_destroy(one_property* one)
{
    ph_schema_destroy(one->schema);
    *one = (one_property){0};
}
