// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Altitude by layer: most entities stand on something, and both ends know what there is to stand
// on. A ground gives the heights of its layers at (x, y): the floor, the bridge above it, the roof.
// The wire carries the number of the layer, or an escape and the altitude for what flies or falls.
//
//     ph_raster_def def = ph_raster_def_default();
//     def.columns = def.rows = 500;                      // 500 m, in cells of 1 m
//     ph_raster* raster;
//     ph_raster_create(&def, &raster);
//     const int64_t floor_and_bridge_mm[] = {0, 4000};
//     ph_raster_set(raster, 17, 4, floor_and_bridge_mm, 2);
//     world_def.ground = ph_raster_ground(raster);       // and the client's
//
// Positions are int64 here as everywhere in the contract; for now they lie within PH_POSITION_MIN_MM..
// PH_POSITION_MAX_MM.
//
// Integers only: both ends agree exactly, as long as both ask with the coordinates that the wire
// carries (the restored ones), not with the server's finer ones.

#ifndef PINHOLE_GROUND_H
#define PINHOLE_GROUND_H

#include <pinhole/bits.h>
#include <pinhole/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PH_GROUND_LAYERS_MAX 8

/// What there is to stand on. Zero-initialised: no ground anywhere, every altitude is escaped.
typedef struct ph_ground {
    /// Writes the heights of the layers at (x, y) in mm, strictly ascending, and returns how many
    /// (0..PH_GROUND_LAYERS_MAX). Heights beyond PH_POSITION_MIN_MM..PH_POSITION_MAX_MM are ignored.
    /// Must give the same on both ends, and from any thread.
    int (*layers)(const void* context, int64_t x_mm, int64_t y_mm,
                  int64_t heights_mm[PH_GROUND_LAYERS_MAX]);
    const void* context;
} ph_ground;

/// How altitude is written.
typedef struct ph_altitude {
    /// An entity this near to a layer, or nearer, stands on it; so does one whose escaped altitude
    /// would be this near. At least 0.
    int32_t tolerance_mm;
    /// An escaped altitude loses this many low bits and costs 32 minus as many; 0..31.
    int escape_shift;
} ph_altitude;

/// An altitude as it goes on the wire: what is stored and compared.
typedef struct ph_altitude_level {
    /// Number of the layer, or -1 for an escape.
    int32_t layer;
    /// Escape only: altitude >> escape_shift.
    int32_t steps;
} ph_altitude_level;

/// @return PH_OK, PH_ERROR_RANGE (tolerance) or PH_ERROR_WIDTH (shift).
PH_API ph_result ph_altitude_check(const ph_altitude* coding);

/// The nearest layer within the tolerance (the lower one of two equally near), else an escape. What
/// was decoded at a place is encoded there to the same level again.
PH_API ph_altitude_level ph_altitude_encode(const ph_altitude* coding, const ph_ground* ground,
                                            int64_t x_mm, int64_t y_mm, int64_t z_mm);

/// The altitude in mm. A layer that does not exist there gives the highest one that does, or 0.
PH_API int64_t ph_altitude_decode(const ph_altitude* coding, const ph_ground* ground, int64_t x_mm,
                                  int64_t y_mm, ph_altitude_level level);

/// Exact cost: ceil(log2(layers there + 1)) bits, and 32 - escape_shift more for an escape.
PH_API int ph_altitude_cost_bits(const ph_altitude* coding, const ph_ground* ground, int64_t x_mm,
                                 int64_t y_mm, ph_altitude_level level);

/// Fails the writer with PH_ERROR_VALUE where the reader would refuse.
PH_API void ph_altitude_write(const ph_altitude* coding, const ph_ground* ground, int64_t x_mm,
                              int64_t y_mm, ph_bit_writer* writer, ph_altitude_level level);

/// Refuses a layer that does not exist there, and an escape to where a layer would have served.
/// @return An escape to altitude 0 after a failure.
PH_API ph_altitude_level ph_altitude_read(const ph_altitude* coding, const ph_ground* ground,
                                          int64_t x_mm, int64_t y_mm, ph_bit_reader* reader);

/// A ground in memory: a raster of square cells, each with up to PH_GROUND_LAYERS_MAX flat layers.
typedef struct ph_raster_def {
    /// Lower corner of cell (0, 0). A raster may reach over the end of the coordinates, where they
    /// wrap.
    int64_t origin_x_mm;
    int64_t origin_y_mm;
    /// Side of a cell, at least 1. Default 1000.
    int32_t cell_mm;
    /// Cells along x and y, at least 1 each. Outside of them there is no layer.
    int32_t columns;
    int32_t rows;
    /// Zero-initialised means malloc and free.
    ph_allocator allocator;
    /// Is told what was wrong with a call (pinhole/error.h). Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;
    /// Set by ph_raster_def_default(). Do not touch.
    uint32_t cookie;
} ph_raster_def;

typedef struct ph_raster ph_raster;

/// The defaults named above; columns and rows are still to be set.
PH_API ph_raster_def ph_raster_def_default(void);

/// Creates a raster without layers.
/// @return PH_OK, PH_ERROR_ARGUMENT, or PH_ERROR_MEMORY; *raster is NULL unless PH_OK.
PH_API ph_result ph_raster_create(const ph_raster_def* def, ph_raster** raster);

/// NULL is allowed.
PH_API void ph_raster_destroy(ph_raster* raster);

/// Sets the layers of one cell; heights must be strictly ascending, count 0..PH_GROUND_LAYERS_MAX.
/// @return PH_OK, or PH_ERROR_ARGUMENT with nothing changed.
PH_API ph_result ph_raster_set(ph_raster* raster, int32_t column, int32_t row,
                               const int64_t* heights_mm, int count);

/// The raster as a ground. Valid until the raster is destroyed; do not set cells while it is in
/// use.
PH_API ph_ground ph_raster_ground(const ph_raster* raster);

#ifdef __cplusplus
}
#endif

#endif
