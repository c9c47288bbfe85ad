// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Truncated absolute coordinates. Shortened once per moved entity, whoever watches; restored once
// per position received. Unsigned arithmetic only: it wraps where coordinates wrap.

#include "pinhole/coordinate.h"

static uint32_t short_mask(const ph_coordinate* coding)
{
    PH_ASSERT(ph_coordinate_check(coding) == PH_OK);
    return UINT32_MAX >> (32 - coding->width);
}

// Clears what the wire drops. Damping the viewer like this keeps entities still when it moves.
static uint32_t damp(const ph_coordinate* coding, uint32_t full)
{
    return full >> coding->shift << coding->shift;
}

ph_coordinate ph_coordinate_default(void)
{
    return (ph_coordinate){.shift = 4, .width = 16};
}

ph_result ph_coordinate_check(const ph_coordinate* coding)
{
    const bool is_legal =
        coding->shift >= 0 && coding->width >= 1 && coding->width <= 32 - coding->shift;
    return is_legal ? PH_OK : PH_ERROR_WIDTH;
}

uint32_t ph_coordinate_shorten(const ph_coordinate* coding, uint32_t full)
{
    return (full >> coding->shift) & short_mask(coding);
}

uint32_t ph_coordinate_restore(const ph_coordinate* coding, uint32_t viewer, uint32_t shortened)
{
    const uint32_t mask = short_mask(coding);
    const uint32_t sign = mask ^ (mask >> 1);
    uint32_t delta = (shortened - ph_coordinate_shorten(coding, viewer)) & mask;
    if ((delta & sign) != 0) {
        delta |= ~mask;
    }
    return damp(coding, viewer) + (delta << coding->shift);
}

// Asks the receiving side's own question, so that no second formula can disagree with it.
bool ph_coordinate_is_in_window(const ph_coordinate* coding, uint32_t viewer, uint32_t full)
{
    const uint32_t shortened = ph_coordinate_shorten(coding, full);
    return ph_coordinate_restore(coding, viewer, shortened) == damp(coding, full);
}
