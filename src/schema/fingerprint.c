// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The fingerprint: a digest of what decides which bits stand for which value. Runs once per schema.
//
// It takes the declared codings, not the declarations: a bool and an enum of two are the same choice,
// a turn of 360 degrees and one of 2 pi radians are the same parts of a turn. A range is no choice,
// even where it writes the same bits: a number may be written as a difference, a choice may not. What
// a reader refuses is part of the wire, and so is what both ends take a property to be before it is
// heard of (the initial value), and whether it is told once. See docs/schema.md.

#include "schema/schema_state.h"

#include "base/hash.h"
#include "schema/vocabulary.h"

#include <string.h>

// Spells "schema 1" in bytes. Another number after it, when the rules below change.
#define SEED UINT64_C(0x3120616D65686373)

// Numbers of their own, because the enums of the headers may be sorted anew one day.
enum {
    MARK_CLASS = 1,
    MARK_WHOLE, // range; the next four are the other kinds of ph_integer
    MARK_VARINT,
    MARK_TWO_BIT,
    MARK_GAMMA,
    MARK_RICE,
    MARK_LADDER,
    MARK_VEC3,
    MARK_ANGLE,
    MARK_QUATERNION,
    MARK_STRING,
    MARK_BYTES,
    MARK_ENTITY,
    MARK_POSITION,
    MARK_CHOICE, // bool, enum
    MARK_ONCE,   // behind the initial value
};

static uint64_t mark_of_kind(ph_integer_kind kind)
{
    switch (kind) {
    case PH_INTEGER_VARINT:
        return MARK_VARINT;
    case PH_INTEGER_TWO_BIT:
        return MARK_TWO_BIT;
    case PH_INTEGER_GAMMA:
        return MARK_GAMMA;
    case PH_INTEGER_RICE:
        return MARK_RICE;
    default:
        return MARK_WHOLE;
    }
}

static void add_real(ph_hash* hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    ph_hash_add_u64(hash, bits);
}

static void add_whole(ph_hash* hash, const ph_property* property)
{
    const ph_integer* integer = &property->integer;
    const ph_coding coding = property->def.coding;
    const bool is_choice = coding == PH_CODING_BOOL || coding == PH_CODING_ENUM;
    ph_hash_add_u64(hash, is_choice ? MARK_CHOICE : mark_of_kind(integer->kind));
    ph_hash_add_u64(hash, (uint64_t)integer->lo);
    ph_hash_add_u64(hash, (uint64_t)integer->hi);
    ph_hash_add_u64(hash, (uint64_t)integer->rice_k);
    ph_hash_add_u64(hash, integer->has_default ? 1 : 0);
    ph_hash_add_u64(hash, property->def.is_arithmetic ? 1 : 0);
}

// Not the declared step: 0.1 and 0.1f make the same ladder.
static void add_ladders(ph_hash* hash, const ph_property* property)
{
    ph_hash_add_u64(hash, property->words == 1 ? MARK_LADDER : MARK_VEC3);
    for (int i = 0; i < property->words; ++i) {
        add_real(hash, property->fixed[i].lo);
        add_real(hash, property->fixed[i].hi);
        ph_hash_add_u64(hash, property->fixed[i].top_level);
        ph_hash_add_u64(hash, property->fixed[i].has_default ? 1 : 0);
    }
}

static void add_position(ph_hash* hash, const ph_property* property)
{
    ph_hash_add_u64(hash, MARK_POSITION);
    ph_hash_add_u64(hash, (uint64_t)property->coordinate.width);
    ph_hash_add_u64(hash, (uint64_t)property->coordinate.shift);
    ph_hash_add_u64(hash, (uint64_t)property->def.ground_tolerance_mm);
}

static void add_coding(ph_hash* hash, const ph_property* property)
{
    switch (property->def.coding) {
    case PH_CODING_FIXED:
    case PH_CODING_VEC3:
        add_ladders(hash, property);
        return;
    case PH_CODING_ANGLE:
        ph_hash_add_u64(hash, MARK_ANGLE);
        ph_hash_add_u64(hash, (uint64_t)property->angle.width);
        ph_hash_add_u64(hash, (uint64_t)property->def.has_default);
        return;
    case PH_CODING_QUATERNION:
        ph_hash_add_u64(hash, MARK_QUATERNION);
        ph_hash_add_u64(hash, (uint64_t)property->def.bits);
        return;
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        ph_hash_add_u64(hash, property->def.coding == PH_CODING_STRING ? MARK_STRING : MARK_BYTES);
        ph_hash_add_u64(hash, (uint64_t)property->def.max_length);
        return;
    case PH_CODING_ENTITY:
        ph_hash_add_u64(hash, MARK_ENTITY);
        return;
    case PH_CODING_POSITION:
        add_position(hash, property);
        return;
    default:
        add_whole(hash, property);
        return;
    }
}

// Of what is told once nobody keeps what is known, so the pinhole profile writes no differences to it.
// Positions are kept all the same.
static void add_once(ph_hash* hash, const ph_property* property)
{
    if (property->def.when == PH_SEND_ONCE && property->def.coding != PH_CODING_POSITION) {
        ph_hash_add_u64(hash, MARK_ONCE);
    }
}

uint64_t ph_fingerprint_of(const ph_class* classes, int class_count)
{
    ph_hash hash = ph_hash_make(SEED);
    for (int c = 0; c < class_count; ++c) {
        ph_hash_add_u64(&hash, MARK_CLASS);
        ph_hash_add_u64(&hash, (uint64_t)classes[c].def.property_count);
        for (int p = 0; p < classes[c].def.property_count; ++p) {
            const ph_property* property = &classes[c].properties[p];
            add_coding(&hash, property);
            for (int w = 0; w < property->words; ++w) {
                ph_hash_add_u64(&hash, property->initial[w]);
            }
            add_once(&hash, property);
        }
    }
    return ph_hash_value(&hash);
}
