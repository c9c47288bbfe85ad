// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per record with a smooth property, and once per frame, or send, and part.

#include "packet/smooth_parts.h"

#include "codec/rotation.h"

#include <math.h>

int ph_smooth_parts(const ph_property* property)
{
    return property->def.coding == PH_CODING_VEC3 ? 3 : 1;
}

bool ph_smooth_is_rotation(const ph_property* property)
{
    return property->def.coding == PH_CODING_QUATERNION;
}

void ph_smooth_rotation(const ph_property* property, const uint32_t words[2], float rotation[4])
{
    const int width = property->def.bits;
    const ph_quaternion decoded =
        ph_quaternion_decode(width, ph_rotation_levels_of_words(width, words));
    rotation[0] = (float)decoded.x;
    rotation[1] = (float)decoded.y;
    rotation[2] = (float)decoded.z;
    rotation[3] = (float)decoded.w;
}

// A level is a sine: square root of 2 over the levels to a side.
float ph_smooth_rotation_step(const ph_property* property)
{
    return 1.41421356f / (float)((1 << (property->def.bits - 1)) - 1);
}

double ph_smooth_number(const ph_property* property, const uint32_t* words, int part)
{
    if (property->def.coding == PH_CODING_VEC3) {
        return (double)words[part];
    }
    const uint64_t high = property->words > 1 ? words[1] : 0;
    return (double)(words[0] | high << 32);
}

ph_number_scale ph_smooth_scale(const ph_property* property, int part)
{
    const bool is_turn = property->def.coding == PH_CODING_ANGLE;
    const double top = (double)ph_property_top(property, part);
    return (ph_number_scale){.top = is_turn ? top + 1.0 : top, .is_turn = is_turn};
}

// On a step exactly what is got of the property itself.
double ph_smooth_unit(const ph_property* property, int part, double number)
{
    const bool is_step = number == floor(number);
    switch (property->def.coding) {
    case PH_CODING_ANGLE: {
        const double full = (double)(UINT64_C(1) << property->angle.width);
        const double rest = number - full * floor(number / full);
        const double turned = rest < full ? rest : 0.0;
        return is_step ? ph_angle_decode(&property->angle, (uint32_t)turned)
                       : turned / full * property->angle.turn;
    }
    case PH_CODING_FIXED:
    case PH_CODING_VEC3: {
        const ph_fixed* ladder = &property->fixed[part];
        return is_step ? ph_fixed_decode(ladder, (uint32_t)number)
                       : fmin(ladder->lo + number * ladder->step, ladder->hi);
    }
    default:
        return (double)property->integer.lo + number;
    }
}
