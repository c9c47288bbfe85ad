// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Positions: truncated absolute coordinates, altitudes as layers of a ground, and a raster that is a
// ground. Shortened once per moved entity, for all viewers; restored once per position received.

#include "codec/places.h"

#include "base/allocator.h"
#include "base/check.h"
#include "base/position.h"
#include "pinhole/coordinate.h"
#include "pinhole/ground.h"
#include "pinhole/integers.h"

// ---- coordinates: unsigned arithmetic only, which wraps where coordinates wrap

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

// ---- altitude by layer, and the raster ground
//
// A raster is filled when a place is loaded and asked on every position. It is one block of memory:
//
//     | ph_raster | heights of cell 0 (8) | of cell 1 | ... | counts, one byte a cell |
//
// Eight heights a cell whether used or not: 33 bytes a cell buy a lookup without a search.

#define RASTER_COOKIE 0x50485241u

struct ph_raster {
    ph_raster_def def;
    size_t size_bytes; // of the whole block
    uint8_t* counts;   // behind the heights
    int32_t heights_mm[][PH_GROUND_LAYERS_MAX];
};

// The layers at one place.
typedef struct place_layers {
    int64_t heights_mm[PH_GROUND_LAYERS_MAX];
    int count;
} place_layers;

int ph_ground_layers(const ph_ground* ground, int64_t x_mm, int64_t y_mm,
                     int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    const int given =
        ground->layers != NULL ? ground->layers(ground->context, x_mm, y_mm, heights_mm) : 0;
    PH_ASSERT(given >= 0 && given <= PH_GROUND_LAYERS_MAX);
    int count = 0;
    for (int i = 0; i < given; ++i) {
        if (ph_is_coordinate(heights_mm[i])) {
            heights_mm[count++] = heights_mm[i];
        }
    }
    return count;
}

static place_layers place_layers_at(const ph_ground* ground, int64_t x_mm, int64_t y_mm)
{
    place_layers set = {.count = 0};
    set.count = ph_ground_layers(ground, x_mm, y_mm, set.heights_mm);
    return set;
}

// The layer nearest to z within the tolerance, or -1. Heights ascend, so the lower of two comes
// first.
static int nearest_layer(const place_layers* set, int64_t z_mm, int32_t tolerance_mm)
{
    int nearest = -1;
    int64_t nearest_mm = (int64_t)tolerance_mm + 1;
    for (int i = 0; i < set->count; ++i) {
        const int64_t away_mm =
            z_mm > set->heights_mm[i] ? z_mm - set->heights_mm[i] : set->heights_mm[i] - z_mm;
        if (away_mm < nearest_mm) {
            nearest = i;
            nearest_mm = away_mm;
        }
    }
    return nearest;
}

// Escaped altitudes are -steps_end .. steps_end - 1.
static int64_t steps_end(const ph_altitude* coding)
{
    return INT64_C(1) << (31 - coding->escape_shift);
}

// Rounds down, below zero too, where C leaves the right shift to the compiler.
static int32_t steps_of(const ph_altitude* coding, int64_t z_mm)
{
    const uint32_t above_lowest = (uint32_t)z_mm + UINT32_C(0x80000000);
    return (int32_t)((int64_t)(above_lowest >> coding->escape_shift) - steps_end(coding));
}

static int64_t altitude_of(const ph_altitude* coding, int32_t steps)
{
    return steps * (INT64_C(1) << coding->escape_shift);
}

// What the writer writes and the reader takes: a layer that exists, or an escape where none would
// serve.
static bool is_place_legal(const ph_altitude* coding, const place_layers* set,
                           ph_altitude_level level)
{
    if (level.layer >= 0) {
        return level.layer < set->count;
    }
    if (level.layer < -1 || level.steps < -steps_end(coding) || level.steps >= steps_end(coding)) {
        return false;
    }
    return nearest_layer(set, altitude_of(coding, level.steps), coding->tolerance_mm) < 0;
}

ph_result ph_altitude_check(const ph_altitude* coding)
{
    if (coding->tolerance_mm < 0) {
        return PH_ERROR_RANGE;
    }
    if (coding->escape_shift < 0 || coding->escape_shift > 31) {
        return PH_ERROR_WIDTH;
    }
    return PH_OK;
}

// Two questions. The entity's own altitude, so that what stands on a layer gets it however coarse
// the escape; then the altitude that the escape would show. The reader knows only that one, and
// refuses it when a layer would serve: so no altitude has two encodings, and what was decoded
// encodes to the same.
ph_altitude_level ph_altitude_encode(const ph_altitude* coding, const ph_ground* ground,
                                     int64_t x_mm, int64_t y_mm, int64_t z_mm)
{
    PH_ASSERT(ph_altitude_check(coding) == PH_OK);

    const place_layers set = place_layers_at(ground, x_mm, y_mm);
    const int32_t steps = steps_of(coding, z_mm);
    int layer = nearest_layer(&set, z_mm, coding->tolerance_mm);
    if (layer < 0) {
        layer = nearest_layer(&set, altitude_of(coding, steps), coding->tolerance_mm);
    }
    if (layer >= 0) {
        return (ph_altitude_level){.layer = layer};
    }
    return (ph_altitude_level){.layer = -1, .steps = steps};
}

int64_t ph_altitude_decode(const ph_altitude* coding, const ph_ground* ground, int64_t x_mm,
                           int64_t y_mm, ph_altitude_level level)
{
    PH_ASSERT(ph_altitude_check(coding) == PH_OK);

    if (level.layer < 0) {
        PH_ASSERT(level.steps >= -steps_end(coding) && level.steps < steps_end(coding));
        return altitude_of(coding, level.steps);
    }
    const place_layers set = place_layers_at(ground, x_mm, y_mm);
    if (set.count == 0) {
        return 0;
    }
    return set.heights_mm[level.layer < set.count ? level.layer : set.count - 1];
}

int ph_altitude_cost_bits(const ph_altitude* coding, const ph_ground* ground, int64_t x_mm,
                          int64_t y_mm, ph_altitude_level level)
{
    const place_layers set = place_layers_at(ground, x_mm, y_mm);
    const int index_bits = ph_range_cost_bits(0, set.count);
    return level.layer < 0 ? index_bits + 32 - coding->escape_shift : index_bits;
}

void ph_altitude_write(const ph_altitude* coding, const ph_ground* ground, int64_t x_mm,
                       int64_t y_mm, ph_bit_writer* writer, ph_altitude_level level)
{
    PH_ASSERT(ph_altitude_check(coding) == PH_OK);

    const place_layers set = place_layers_at(ground, x_mm, y_mm);
    if (!is_place_legal(coding, &set, level)) {
        ph_bit_writer_fail(writer, PH_ERROR_VALUE);
        return;
    }
    ph_range_write(writer, level.layer < 0 ? set.count : level.layer, 0, set.count);
    if (level.layer < 0) {
        ph_range_write(writer, level.steps, -steps_end(coding), steps_end(coding) - 1);
    }
}

ph_altitude_level ph_altitude_read(const ph_altitude* coding, const ph_ground* ground, int64_t x_mm,
                                   int64_t y_mm, ph_bit_reader* reader)
{
    PH_ASSERT(ph_altitude_check(coding) == PH_OK);

    const place_layers set = place_layers_at(ground, x_mm, y_mm);
    // The range refuses what lies beyond the escape, which is the last index.
    ph_altitude_level level = {.layer = (int32_t)ph_range_read(reader, 0, set.count)};
    if (level.layer == set.count) {
        const int64_t steps = ph_range_read(reader, -steps_end(coding), steps_end(coding) - 1);
        level = (ph_altitude_level){.layer = -1, .steps = (int32_t)steps};
    }
    if (!is_place_legal(coding, &set, level)) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    if (ph_bit_reader_result(reader) != PH_OK) {
        return (ph_altitude_level){.layer = -1};
    }
    return level;
}

ph_raster_def ph_raster_def_default(void)
{
    return (ph_raster_def){.cell_mm = 1000, .cookie = RASTER_COOKIE};
}

// Bytes of a whole raster, or 0 when they are more than a size_t counts.
static size_t raster_size_bytes(size_t columns, size_t rows)
{
    const size_t cell_bytes = sizeof(int32_t[PH_GROUND_LAYERS_MAX]) + sizeof(uint8_t);
    const size_t cells_max = (SIZE_MAX - sizeof(ph_raster)) / cell_bytes;
    return rows > cells_max / columns ? 0 : sizeof(ph_raster) + columns * rows * cell_bytes;
}

ph_result ph_raster_create(const ph_raster_def* def, ph_raster** raster)
{
    *raster = NULL;
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, __func__);
    ph_check_made(&check, def->cookie == RASTER_COOKIE, "ph_raster_def");
    ph_check_range(&check, "ph_raster_def.cell_mm", def->cell_mm, 1, PH_NO_END);
    ph_check_range(&check, "ph_raster_def.columns", def->columns, 1, PH_NO_END);
    ph_check_range(&check, "ph_raster_def.rows", def->rows, 1, PH_NO_END);
    ph_check_range(&check, "ph_raster_def.origin_x_mm", def->origin_x_mm, PH_POSITION_MIN_MM,
                   PH_POSITION_MAX_MM);
    ph_check_range(&check, "ph_raster_def.origin_y_mm", def->origin_y_mm, PH_POSITION_MIN_MM,
                   PH_POSITION_MAX_MM);
    if (check.result != PH_OK) {
        return check.result;
    }
    const size_t size_bytes = raster_size_bytes((size_t)def->columns, (size_t)def->rows);
    ph_raster* made = size_bytes > 0 ? ph_allocate(&def->allocator, size_bytes) : NULL;
    if (made == NULL) {
        return ph_fail_memory(&check);
    }
    const size_t cell_count = (size_t)def->columns * (size_t)def->rows;
    made->def = *def;
    made->size_bytes = size_bytes;
    made->counts = (uint8_t*)&made->heights_mm[cell_count];
    memset(made->counts, 0, cell_count);
    *raster = made;
    return PH_OK;
}

void ph_raster_destroy(ph_raster* raster)
{
    if (raster != NULL) {
        const ph_allocator allocator = raster->def.allocator;
        ph_release(&allocator, raster, raster->size_bytes);
    }
}

ph_result ph_raster_set(ph_raster* raster, int32_t column, int32_t row, const int64_t* heights_mm,
                        int count)
{
    const ph_raster_def* def = &raster->def;
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, __func__);
    ph_check_range(&check, "column", column, 0, def->columns - 1);
    ph_check_range(&check, "row", row, 0, def->rows - 1);
    ph_check_range(&check, "count", count, 0, PH_GROUND_LAYERS_MAX);
    for (int i = 0; i < count && check.result == PH_OK; ++i) {
        ph_check_range(&check, "heights_mm", heights_mm[i],
                       i > 0 ? heights_mm[i - 1] + 1 : PH_POSITION_MIN_MM, PH_POSITION_MAX_MM);
    }
    if (check.result != PH_OK) {
        return check.result;
    }
    const size_t cell = (size_t)row * (size_t)raster->def.columns + (size_t)column;
    for (int i = 0; i < count; ++i) {
        raster->heights_mm[cell][i] = (int32_t)heights_mm[i];
    }
    raster->counts[cell] = (uint8_t)count;
    return PH_OK;
}

// Distance from the origin, going up and round: what lies below the origin comes out far above it,
// and a raster may lie across the place where coordinates wrap.
static uint32_t cell_along(int64_t coordinate_mm, int64_t origin_mm, int32_t cell_mm)
{
    return ((uint32_t)coordinate_mm - (uint32_t)origin_mm) / (uint32_t)cell_mm;
}

static int raster_layers(const void* context, int64_t x_mm, int64_t y_mm,
                         int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    const ph_raster* raster = context;
    const ph_raster_def* def = &raster->def;
    const uint32_t column = cell_along(x_mm, def->origin_x_mm, def->cell_mm);
    const uint32_t row = cell_along(y_mm, def->origin_y_mm, def->cell_mm);
    if (column >= (uint32_t)def->columns || row >= (uint32_t)def->rows) {
        return 0;
    }
    const size_t cell = (size_t)row * (size_t)def->columns + column;
    const int count = raster->counts[cell];
    for (int i = 0; i < count; ++i) {
        heights_mm[i] = raster->heights_mm[cell][i];
    }
    return count;
}

ph_ground ph_raster_ground(const ph_raster* raster)
{
    return (ph_ground){.layers = raster_layers, .context = raster};
}
