// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Declarations for languages without designated initialisers. Run while a game builds its tables.

#include "pinhole/schema.h"

ph_property_def ph_property_bool(const char* name)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_BOOL};
}

ph_property_def ph_property_enum(const char* name, int count)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_ENUM, .count = count};
}

ph_property_def ph_property_range(const char* name, double lo, double hi)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_RANGE, .lo = lo, .hi = hi};
}

ph_property_def ph_property_varint(const char* name)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_VARINT};
}

ph_property_def ph_property_two_bit(const char* name)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_TWO_BIT};
}

ph_property_def ph_property_gamma(const char* name)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_GAMMA};
}

ph_property_def ph_property_rice(const char* name, int rice_k)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_RICE, .rice_k = rice_k};
}

ph_property_def ph_property_fixed(const char* name, double lo, double hi, double step)
{
    return (ph_property_def){
        .name = name, .coding = PH_CODING_FIXED, .lo = lo, .hi = hi, .step = step};
}

ph_property_def ph_property_angle(const char* name, int bits)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_ANGLE, .bits = bits};
}

ph_property_def ph_property_quaternion(const char* name, int bits)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_QUATERNION, .bits = bits};
}

ph_property_def ph_property_vec3(const char* name, double lo, double hi, double step)
{
    return (ph_property_def){
        .name = name, .coding = PH_CODING_VEC3, .lo = lo, .hi = hi, .step = step};
}

ph_property_def ph_property_string(const char* name, int max_length)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_STRING, .max_length = max_length};
}

ph_property_def ph_property_bytes(const char* name, int max_length)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_BYTES, .max_length = max_length};
}

ph_property_def ph_property_entity(const char* name)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_ENTITY};
}

ph_property_def ph_property_position(const char* name)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_POSITION};
}

ph_property_def ph_property_bound(ph_property_def property, ph_field field, size_t offset)
{
    property.field = field;
    property.offset = offset;
    return property;
}
