// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Truncated absolute coordinates: the server drops the low `shift` bits of a 32-bit coordinate and
// all above `width` more; no viewer is involved, so the short form is made once for everybody. The
// client knows where its viewer stands and puts the entity into the one window around it that fits.
//
//     full coordinate    |  known from the viewer  |   width bits sent   | shift bits dropped |
//     classic (16, 4)    |        12 bits          |       16 bits       |       4 bits       |
//
// With 4 and 16: steps of 16 mm in a window of 1,048 m (half of it to each side). The reconstructed
// coordinate does not move while the viewer does.

#ifndef PINHOLE_COORDINATE_H
#define PINHOLE_COORDINATE_H

#include <pinhole/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How a coordinate is shortened.
typedef struct ph_coordinate {
    /// Low bits dropped, 0..31. A step is 2^shift.
    int shift;
    /// Bits sent, 1..32; shift + width <= 32.
    int width;
} ph_coordinate;

/// The classic one: shift 4, width 16.
PH_API ph_coordinate ph_coordinate_default(void);

/// @return PH_OK or PH_ERROR_WIDTH.
PH_API ph_result ph_coordinate_check(const ph_coordinate* coding);

/// Sending side. Coordinates wrap: int32 values are passed as uint32.
PH_API uint32_t ph_coordinate_shorten(const ph_coordinate* coding, uint32_t full);

/// Receiving side: the full coordinate, rounded down to a step. Right for every entity that is less
/// than half the window away from the viewer when both are rounded down, so for all that are nearer
/// than half the window less one step; across the 32-bit wrap too.
PH_API uint32_t ph_coordinate_restore(const ph_coordinate* coding, uint32_t viewer,
                                      uint32_t shortened);

/// Sending side: true when the client of this viewer will restore this entity to the right place.
PH_API bool ph_coordinate_is_in_window(const ph_coordinate* coding, uint32_t viewer, uint32_t full);

#ifdef __cplusplus
}
#endif

#endif
