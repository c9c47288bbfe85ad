// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Fields of the game's structs. Loads run for every bound property of every put, stores for every
// property that a client shows.

#include "schema/field.h"

#include <float.h>
#include <math.h>
#include <string.h>

_Static_assert(sizeof(bool) == 1, "a bool is loaded as a byte");
_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "IEEE 754");

typedef struct field_row {
    const char* name;
    ph_field element;
    size_t size; // TEXT, BYTES: what comes on top of max_length
} field_row;

static const field_row ROWS[] = {
    [PH_FIELD_NONE] = {"none", PH_FIELD_NONE, 0},
    [PH_FIELD_BOOL] = {"bool", PH_FIELD_BOOL, 1},
    [PH_FIELD_I8] = {"i8", PH_FIELD_I8, 1},
    [PH_FIELD_I16] = {"i16", PH_FIELD_I16, 2},
    [PH_FIELD_I32] = {"i32", PH_FIELD_I32, 4},
    [PH_FIELD_I64] = {"i64", PH_FIELD_I64, 8},
    [PH_FIELD_U8] = {"u8", PH_FIELD_U8, 1},
    [PH_FIELD_U16] = {"u16", PH_FIELD_U16, 2},
    [PH_FIELD_U32] = {"u32", PH_FIELD_U32, 4},
    [PH_FIELD_U64] = {"u64", PH_FIELD_U64, 8},
    [PH_FIELD_F32] = {"f32", PH_FIELD_F32, 4},
    [PH_FIELD_F64] = {"f64", PH_FIELD_F64, 8},
    [PH_FIELD_I32X3] = {"i32x3", PH_FIELD_I32, 12},
    [PH_FIELD_F32X3] = {"f32x3", PH_FIELD_F32, 12},
    [PH_FIELD_F64X3] = {"f64x3", PH_FIELD_F64, 24},
    [PH_FIELD_F32X4] = {"f32x4", PH_FIELD_F32, 16},
    [PH_FIELD_F64X4] = {"f64x4", PH_FIELD_F64, 32},
    [PH_FIELD_TEXT] = {"text", PH_FIELD_TEXT, 1},
    [PH_FIELD_BYTES] = {"bytes", PH_FIELD_BYTES, sizeof(uint16_t)},
    [PH_FIELD_ENTITY] = {"entity", PH_FIELD_ENTITY, sizeof(ph_entity_id)},
};

_Static_assert(sizeof ROWS / sizeof ROWS[0] == PH_FIELD_COUNT, "each field needs a row");

const char* ph_field_name(ph_field field)
{
    return ROWS[field].name;
}

size_t ph_field_size(ph_field field, int max_length)
{
    const bool has_length = field == PH_FIELD_TEXT || field == PH_FIELD_BYTES;
    return ROWS[field].size + (has_length ? (size_t)max_length : 0);
}

ph_field ph_field_element(ph_field field)
{
    return ROWS[field].element;
}

ph_field_limits ph_field_limits_of(ph_field field)
{
    switch (field) {
    case PH_FIELD_BOOL:
        return (ph_field_limits){0, 1, true};
    case PH_FIELD_I8:
        return (ph_field_limits){INT8_MIN, INT8_MAX, true};
    case PH_FIELD_I16:
        return (ph_field_limits){INT16_MIN, INT16_MAX, true};
    case PH_FIELD_I32:
        return (ph_field_limits){INT32_MIN, INT32_MAX, true};
    case PH_FIELD_I64:
        return (ph_field_limits){-PH_WHOLE_MAX, PH_WHOLE_MAX, true};
    case PH_FIELD_U8:
        return (ph_field_limits){0, UINT8_MAX, true};
    case PH_FIELD_U16:
        return (ph_field_limits){0, UINT16_MAX, true};
    case PH_FIELD_U32:
        return (ph_field_limits){0, UINT32_MAX, true};
    case PH_FIELD_U64:
        return (ph_field_limits){0, PH_WHOLE_MAX, true};
    case PH_FIELD_F32:
        return (ph_field_limits){-(double)FLT_MAX, (double)FLT_MAX, false};
    default:
        PH_ASSERT(field == PH_FIELD_F64);
        return (ph_field_limits){-DBL_MAX, DBL_MAX, false};
    }
}

// What the bytes are, read as unsigned; the sign is put back by the caller.
static uint64_t load_unsigned(const void* bytes, size_t size)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (size) {
    case sizeof one:
        memcpy(&one, bytes, sizeof one);
        return one;
    case sizeof two:
        memcpy(&two, bytes, sizeof two);
        return two;
    case sizeof four:
        memcpy(&four, bytes, sizeof four);
        return four;
    default:
        memcpy(&eight, bytes, sizeof eight);
        return eight;
    }
}

static void store_unsigned(uint64_t value, void* bytes, size_t size)
{
    const uint8_t one = (uint8_t)value;
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    switch (size) {
    case sizeof one:
        memcpy(bytes, &one, sizeof one);
        return;
    case sizeof two:
        memcpy(bytes, &two, sizeof two);
        return;
    case sizeof four:
        memcpy(bytes, &four, sizeof four);
        return;
    default:
        memcpy(bytes, &value, sizeof value);
        return;
    }
}

static bool is_signed(ph_field field)
{
    return field >= PH_FIELD_I8 && field <= PH_FIELD_I64;
}

// Of a number of size bytes that was read as unsigned.
static int64_t with_sign(uint64_t value, size_t size)
{
    const uint64_t sign = UINT64_C(1) << (8 * size - 1);
    if ((value & sign) == 0) {
        return (int64_t)value;
    }
    return -(int64_t)(sign - 1 - (value & (sign - 1))) - 1;
}

bool ph_field_load_whole(ph_field field, const void* bytes, int64_t* value)
{
    const size_t size = ROWS[field].size;
    const uint64_t loaded = load_unsigned(bytes, size);
    if (is_signed(field)) {
        *value = with_sign(loaded, size);
        return true;
    }
    // A byte of a bool that is neither 0 nor 1 is the game's fault, but no reason to trip over it.
    *value = (int64_t)(field == PH_FIELD_BOOL ? loaded != 0 : loaded & INT64_MAX);
    return loaded <= INT64_MAX;
}

bool ph_field_store_whole(ph_field field, int64_t value, void* bytes)
{
    const ph_field_limits limits = ph_field_limits_of(field);
    if (value < (int64_t)limits.lo || value > (int64_t)limits.hi) {
        return false;
    }
    store_unsigned((uint64_t)value, bytes, ROWS[field].size);
    return true;
}

double ph_field_load_real(ph_field field, const void* bytes)
{
    float single;
    double value;
    if (field == PH_FIELD_F32) {
        memcpy(&single, bytes, sizeof single);
        return (double)single;
    }
    if (field == PH_FIELD_F64) {
        memcpy(&value, bytes, sizeof value);
        return value;
    }
    const uint64_t loaded = load_unsigned(bytes, ROWS[field].size);
    return is_signed(field) ? (double)with_sign(loaded, ROWS[field].size) : (double)loaded;
}

bool ph_field_store_real(ph_field field, double value, void* bytes)
{
    const ph_field_limits limits = ph_field_limits_of(field);
    const double stored = limits.is_whole ? floor(value + 0.5) : value;
    if (!(stored >= limits.lo && stored <= limits.hi)) {
        return false;
    }
    if (field == PH_FIELD_F64) {
        memcpy(bytes, &stored, sizeof stored);
    } else if (field == PH_FIELD_F32) {
        const float single = (float)stored;
        memcpy(bytes, &single, sizeof single);
    } else {
        store_unsigned((uint64_t)(int64_t)stored, bytes, ROWS[field].size);
    }
    return true;
}
