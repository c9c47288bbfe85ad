// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The table of codings. Asked when a schema is made, and once per value for the field.

#include "schema/vocabulary.h"

#include <string.h>

#define PARAMETER(name) (UINT32_C(1) << PH_PARAMETER_##name)
#define FIELD(name) (UINT32_C(1) << PH_FIELD_##name)

_Static_assert(PH_PARAMETERS_END <= 32 && PH_FIELD_COUNT <= 32, "sets of them are 32 bits");

// Every property has these.
#define COMMON                                                                                     \
    (PARAMETER(NAME) | PARAMETER(CODING) | PARAMETER(WEIGHT) | PARAMETER(WHEN) | PARAMETER(FIELD))
// Everything but the position may be kept from some viewers.
#define POLICY (COMMON | PARAMETER(DISTANCE) | PARAMETER(AUDIENCE))
#define NUMBER (POLICY | PARAMETER(DEFAULT) | PARAMETER(SIGNIFICANT) | PARAMETER(SMOOTH))

#define WHOLE_FIELDS                                                                               \
    (FIELD(BOOL) | FIELD(I8) | FIELD(I16) | FIELD(I32) | FIELD(I64) | FIELD(U8) | FIELD(U16) |     \
     FIELD(U32) | FIELD(U64))
// A ladder or an angle may be kept in a struct as an integer: hit points in steps of ten.
#define NUMBER_FIELDS ((WHOLE_FIELDS & ~FIELD(BOOL)) | FIELD(F32) | FIELD(F64))

static const ph_coding_row WORD_ROWS[] = {
    [PH_CODING_AUTO] = {"auto", 0, 0, PH_PARAMETERS_END, true},
    [PH_CODING_BOOL] = {"bool", POLICY | PARAMETER(DEFAULT), WHOLE_FIELDS, PH_PARAMETERS_END, true},
    [PH_CODING_ENUM] = {"enum",
                        POLICY | PARAMETER(DEFAULT) | PARAMETER(COUNT) | PARAMETER(ARITHMETIC),
                        WHOLE_FIELDS, PH_PARAMETER_COUNT, false},
    [PH_CODING_RANGE] = {"range",
                         NUMBER | PARAMETER(RANGE) | PARAMETER(STRICT) | PARAMETER(ARITHMETIC),
                         WHOLE_FIELDS, PH_PARAMETER_RANGE, false},
    [PH_CODING_VARINT] = {"varint", NUMBER | PARAMETER(RANGE) | PARAMETER(STRICT), WHOLE_FIELDS,
                          PH_PARAMETER_RANGE, true},
    [PH_CODING_TWO_BIT] = {"two_bit", NUMBER | PARAMETER(RANGE) | PARAMETER(STRICT), WHOLE_FIELDS,
                           PH_PARAMETER_RANGE, true},
    [PH_CODING_GAMMA] = {"gamma", NUMBER | PARAMETER(RANGE) | PARAMETER(STRICT), WHOLE_FIELDS,
                         PH_PARAMETER_RANGE, true},
    [PH_CODING_RICE] = {"rice", NUMBER | PARAMETER(RANGE) | PARAMETER(STRICT) | PARAMETER(RICE_K),
                        WHOLE_FIELDS, PH_PARAMETER_RANGE, true},
    [PH_CODING_FIXED] = {"fixed", NUMBER | PARAMETER(RANGE) | PARAMETER(STRICT) | PARAMETER(STEP),
                         NUMBER_FIELDS, PH_PARAMETER_RANGE, false},
    [PH_CODING_ANGLE] = {"angle", NUMBER | PARAMETER(BITS) | PARAMETER(TURN) | PARAMETER(HEADING),
                         NUMBER_FIELDS, PH_PARAMETER_BITS, true},
    [PH_CODING_QUATERNION] = {"quaternion",
                              POLICY | PARAMETER(BITS) | PARAMETER(ORIENTATION) | PARAMETER(SMOOTH),
                              FIELD(F32X4) | FIELD(F64X4), PH_PARAMETER_BITS, true},
    [PH_CODING_VEC3] = {"vec3",
                        NUMBER | PARAMETER(RANGE) | PARAMETER(STRICT) | PARAMETER(STEP) |
                            PARAMETER(Z),
                        FIELD(I32X3) | FIELD(F32X3) | FIELD(F64X3), PH_PARAMETER_RANGE, false},
    [PH_CODING_STRING] = {"string", POLICY | PARAMETER(LENGTH), FIELD(TEXT), PH_PARAMETER_LENGTH,
                          false},
    [PH_CODING_BYTES] = {"bytes", POLICY | PARAMETER(LENGTH), FIELD(BYTES), PH_PARAMETER_LENGTH,
                         false},
    [PH_CODING_ENTITY] = {"entity", POLICY | PARAMETER(CARRIER), FIELD(ENTITY), PH_PARAMETERS_END,
                          true},
    [PH_CODING_POSITION] = {"position",
                            COMMON | PARAMETER(BITS) | PARAMETER(STEP) | PARAMETER(FINEST) |
                                PARAMETER(GROUND) | PARAMETER(SIGNIFICANT),
                            FIELD(I32X3) | FIELD(I64X3), PH_PARAMETER_BITS, true},
};

_Static_assert(sizeof WORD_ROWS / sizeof WORD_ROWS[0] == PH_CODING_COUNT,
               "each coding needs a row");

static const char* const PARAMETER_NAMES[] = {
    [PH_PARAMETER_NAME] = "name",
    [PH_PARAMETER_CODING] = "coding",
    [PH_PARAMETER_RANGE] = "lo and hi",
    [PH_PARAMETER_STEP] = "step",
    [PH_PARAMETER_FINEST] = "finest",
    [PH_PARAMETER_Z] = "z_lo and z_hi",
    [PH_PARAMETER_TURN] = "turn",
    [PH_PARAMETER_BITS] = "bits",
    [PH_PARAMETER_COUNT] = "count",
    [PH_PARAMETER_RICE_K] = "rice_k",
    [PH_PARAMETER_LENGTH] = "max_length",
    [PH_PARAMETER_ARITHMETIC] = "is_arithmetic",
    [PH_PARAMETER_STRICT] = "is_strict",
    [PH_PARAMETER_GROUND] = "ground_tolerance_mm",
    [PH_PARAMETER_ORIENTATION] = "is_orientation",
    [PH_PARAMETER_HEADING] = "is_heading",
    [PH_PARAMETER_CARRIER] = "is_carrier",
    [PH_PARAMETER_SMOOTH] = "is_smooth",
    [PH_PARAMETER_DEFAULT] = "has_default and default_value",
    [PH_PARAMETER_DISTANCE] = "distance_m",
    [PH_PARAMETER_SIGNIFICANT] = "significant",
    [PH_PARAMETER_WEIGHT] = "weight",
    [PH_PARAMETER_WHEN] = "when",
    [PH_PARAMETER_AUDIENCE] = "audience and audience_mask",
    [PH_PARAMETER_FIELD] = "field",
};

_Static_assert(sizeof PARAMETER_NAMES / sizeof PARAMETER_NAMES[0] == PH_PARAMETERS_END,
               "each parameter needs a name");

const ph_coding_row* ph_coding_row_of(ph_coding coding)
{
    PH_ASSERT((unsigned)coding < PH_CODING_COUNT);
    return &WORD_ROWS[coding];
}

ph_coding ph_coding_find(const char* word, size_t length)
{
    for (ph_coding coding = PH_CODING_BOOL; coding < PH_CODING_COUNT; ++coding) {
        const char* known = WORD_ROWS[coding].word;
        if (strlen(known) == length && memcmp(known, word, length) == 0) {
            return coding;
        }
    }
    return PH_CODING_AUTO;
}

bool ph_coding_uses(ph_coding coding, ph_parameter parameter)
{
    return (ph_coding_row_of(coding)->parameters >> parameter & 1) != 0;
}

bool ph_coding_suits(ph_coding coding, ph_field field)
{
    return (unsigned)field < PH_FIELD_COUNT && (ph_coding_row_of(coding)->fields >> field & 1) != 0;
}

bool ph_coding_is_whole(ph_coding coding)
{
    return coding >= PH_CODING_BOOL && coding <= PH_CODING_RICE;
}

ph_field ph_coding_field(ph_coding coding)
{
    if ((unsigned)coding >= PH_CODING_COUNT) {
        return PH_FIELD_NONE;
    }
    // Of those that suit, the last holds most; whole numbers lie within +-PH_WHOLE_MAX, so of these not U64.
    ph_field field = ph_coding_is_whole(coding) ? PH_FIELD_I64 : PH_FIELD_COUNT - 1;
    while (field > PH_FIELD_NONE && !ph_coding_suits(coding, field)) {
        --field;
    }
    return field;
}

ph_coding ph_coding_of_field(ph_field field)
{
    switch (field) {
    case PH_FIELD_BOOL:
        return PH_CODING_BOOL;
    case PH_FIELD_TEXT:
        return PH_CODING_STRING;
    case PH_FIELD_BYTES:
        return PH_CODING_BYTES;
    case PH_FIELD_ENTITY:
        return PH_CODING_ENTITY;
    default:
        return ph_coding_suits(PH_CODING_VARINT, field) ? PH_CODING_VARINT : PH_CODING_AUTO;
    }
}

const char* ph_parameter_name(ph_parameter parameter)
{
    PH_ASSERT((unsigned)parameter < PH_PARAMETERS_END);
    return PARAMETER_NAMES[parameter];
}
