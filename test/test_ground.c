// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Altitude by layer, and the raster that gives the layers.

#include "pinhole/ground.h"

#include "support/test_support.h"

#include <stdlib.h>
#include <string.h>

// The same layers everywhere.
typedef struct plain {
    int64_t heights_mm[PH_GROUND_LAYERS_MAX];
    int count;
} plain;

static int plain_layers(const void* context, int64_t x_mm, int64_t y_mm,
                        int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)x_mm;
    (void)y_mm;
    const plain* p = context;
    memcpy(heights_mm, p->heights_mm, sizeof p->heights_mm);
    return p->count;
}

static ph_ground ground_of(const plain* p)
{
    return (ph_ground){plain_layers, p};
}

// A floor, a bridge 5 m above it, a roof.
static const plain town = {{-200, 4800, 12000}, 3};
static const ph_altitude half_metre = {.tolerance_mm = 500, .escape_shift = 4};

static int32_t distance_mm(int64_t a, int64_t b)
{
    const int64_t away = a > b ? a - b : b - a;
    return away < INT32_MAX ? (int32_t)away : INT32_MAX;
}

static ph_altitude_level encode(const ph_altitude* coding, const plain* p, int64_t z_mm)
{
    const ph_ground ground = ground_of(p);
    return ph_altitude_encode(coding, &ground, 7, -7, z_mm);
}

static int64_t decode(const ph_altitude* coding, const plain* p, ph_altitude_level level)
{
    const ph_ground ground = ground_of(p);
    return ph_altitude_decode(coding, &ground, 7, -7, level);
}

// Writes a level, checks its exact cost, reads it back.
static ph_altitude_level send(const ph_altitude* coding, const plain* p, ph_altitude_level level)
{
    const ph_ground ground = ground_of(p);
    uint8_t bytes[8];
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_altitude_write(coding, &ground, 7, -7, &writer, level);
    assert_int_equal(ph_bit_writer_result(&writer), PH_OK);
    assert_int_equal(ph_bit_writer_size_bits(&writer),
                     ph_altitude_cost_bits(coding, &ground, 7, -7, level));
    ph_bit_reader reader = ph_bit_reader_make(bytes, ph_bit_writer_finish(&writer));
    const ph_altitude_level read = ph_altitude_read(coding, &ground, 7, -7, &reader);
    assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
    return read;
}

static ph_result writing(const ph_altitude* coding, const plain* p, ph_altitude_level level)
{
    const ph_ground ground = ground_of(p);
    uint8_t bytes[8];
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_altitude_write(coding, &ground, 7, -7, &writer, level);
    if (ph_bit_writer_result(&writer) != PH_OK) {
        assert_int_equal(ph_bit_writer_size_bits(&writer), 0);
    }
    return ph_bit_writer_result(&writer);
}

// Reads what a writer that knows no rules has written: an index, then perhaps an altitude.
static ph_result reading(const plain* p, uint32_t index, int index_bits, int64_t steps)
{
    const ph_ground ground = ground_of(p);
    uint8_t bytes[8];
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_bits_write(&writer, index, index_bits);
    if ((int)index == p->count) {
        ph_bits_write(&writer, (uint64_t)(steps + (INT64_C(1) << 27)), 28);
    }
    ph_bit_reader reader = ph_bit_reader_make(bytes, ph_bit_writer_finish(&writer));
    const ph_altitude_level level = ph_altitude_read(&half_metre, &ground, 7, -7, &reader);
    if (ph_bit_reader_result(&reader) != PH_OK) {
        assert_int_equal(level.layer, -1);
        assert_int_equal(level.steps, 0);
    }
    return ph_bit_reader_finish(&reader);
}

static void what_stands_on_a_layer_costs_its_index(void** state)
{
    (void)state;
    for (int i = 0; i < town.count; ++i) {
        const ph_altitude_level level = encode(&half_metre, &town, town.heights_mm[i] + 300);
        assert_int_equal(level.layer, i);
        const ph_ground ground = ground_of(&town);
        assert_int_equal(ph_altitude_cost_bits(&half_metre, &ground, 7, -7, level), 2);
        assert_int_equal(decode(&half_metre, &town, send(&half_metre, &town, level)),
                         town.heights_mm[i]);
    }
}

static void index_costs_what_the_number_of_layers_needs(void** state)
{
    (void)state;
    const int expected_bits[PH_GROUND_LAYERS_MAX + 1] = {0, 1, 2, 2, 3, 3, 3, 3, 4};
    plain p = {.heights_mm = {0, 5000, 10000, 15000, 20000, 25000, 30000, 35000}};
    for (p.count = 0; p.count <= PH_GROUND_LAYERS_MAX; ++p.count) {
        const ph_ground ground = ground_of(&p);
        const ph_altitude_level flying = encode(&half_metre, &p, 2000);
        assert_int_equal(flying.layer, -1);
        assert_int_equal(ph_altitude_cost_bits(&half_metre, &ground, 7, -7, flying),
                         expected_bits[p.count] + 28);
        assert_int_equal(send(&half_metre, &p, flying).steps, 2000 / 16);
        for (int i = 0; i < p.count; ++i) {
            const ph_altitude_level level = encode(&half_metre, &p, p.heights_mm[i]);
            assert_int_equal(ph_altitude_cost_bits(&half_metre, &ground, 7, -7, level),
                             expected_bits[p.count]);
            assert_int_equal(send(&half_metre, &p, level).layer, i);
        }
    }
}

static void tolerance_is_inclusive(void** state)
{
    (void)state;
    const ph_altitude coding = {.tolerance_mm = 500, .escape_shift = 0};
    assert_int_equal(encode(&coding, &town, 5300).layer, 1);
    assert_int_equal(encode(&coding, &town, 5301).layer, -1);
    assert_int_equal(encode(&coding, &town, 4300).layer, 1);
    assert_int_equal(encode(&coding, &town, 4299).layer, -1);
}

static void nearest_layer_is_taken_and_the_lower_of_two(void** state)
{
    (void)state;
    const ph_altitude coding = {.tolerance_mm = 1000, .escape_shift = 0};
    const plain p = {{0, 100, 1000}, 3};
    assert_int_equal(encode(&coding, &p, 49).layer, 0);
    assert_int_equal(encode(&coding, &p, 50).layer, 0);
    assert_int_equal(encode(&coding, &p, 51).layer, 1);
    assert_int_equal(encode(&coding, &p, 550).layer, 1);
    assert_int_equal(encode(&coding, &p, 551).layer, 2);
}

static void what_stands_exactly_on_a_layer_gets_it_however_coarse_the_escape(void** state)
{
    (void)state;
    const ph_altitude coding = {.tolerance_mm = 0, .escape_shift = 10};
    const plain p = {{-777, 5, 1023}, 3};
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(encode(&coding, &p, p.heights_mm[i]).layer, i);
    }
    assert_int_equal(encode(&coding, &p, 6).layer, -1);
}

static void escape_rounds_down_below_zero_too(void** state)
{
    (void)state;
    const plain nothing = {.count = 0};
    const int32_t altitudes[] = {0, 15, 16, -1, -16, -17, INT32_MAX, INT32_MIN};
    const int32_t steps[] = {0, 0, 1, -1, -1, -2, INT32_MAX / 16, INT32_MIN / 16};
    for (int i = 0; i < 8; ++i) {
        const ph_altitude_level level = encode(&half_metre, &nothing, altitudes[i]);
        assert_int_equal(level.layer, -1);
        assert_int_equal(level.steps, steps[i]);
        assert_int_equal(send(&half_metre, &nothing, level).steps, steps[i]);
        assert_int_equal(decode(&half_metre, &nothing, level), steps[i] * 16);
    }
}

// The lowest altitude is far from every default: nothing is taken for "on the ground" but a layer.
static void negative_altitude_is_not_the_default(void** state)
{
    (void)state;
    const plain road = {{0}, 1};
    const ph_altitude_level level = encode(&half_metre, &road, -3000);
    assert_int_equal(level.layer, -1);
    assert_int_equal(decode(&half_metre, &road, send(&half_metre, &road, level)), -3008);
}

static void no_overflow_at_the_ends_of_the_range(void** state)
{
    (void)state;
    const plain p = {{INT32_MIN, INT32_MAX}, 2};
    const ph_altitude any = {.tolerance_mm = INT32_MAX, .escape_shift = 0};
    assert_int_equal(encode(&any, &p, INT32_MIN).layer, 0);
    assert_int_equal(encode(&any, &p, INT32_MAX).layer, 1);
    assert_int_equal(encode(&any, &p, -1).layer, 0);
    assert_int_equal(encode(&any, &p, 0).layer, 1);
    const ph_altitude none = {.tolerance_mm = 0, .escape_shift = 31};
    assert_int_equal(encode(&none, &p, INT32_MAX - 1).layer, -1);
    assert_int_equal(encode(&none, &p, INT32_MAX - 1).steps, 0);
}

static void zero_ground_escapes_everything(void** state)
{
    (void)state;
    const ph_ground ground = {0};
    const ph_altitude_level level = ph_altitude_encode(&half_metre, &ground, 0, 0, 1600);
    assert_int_equal(level.layer, -1);
    assert_int_equal(ph_altitude_cost_bits(&half_metre, &ground, 0, 0, level), 28);
    assert_int_equal(ph_altitude_decode(&half_metre, &ground, 0, 0, level), 1600);
}

static void missing_layer_decodes_to_the_highest_there_is(void** state)
{
    (void)state;
    const ph_altitude_level seventh = {.layer = 7};
    assert_int_equal(decode(&half_metre, &town, seventh), 12000);
    const plain nothing = {.count = 0};
    assert_int_equal(decode(&half_metre, &nothing, seventh), 0);
}

static void writer_refuses_what_the_reader_would(void** state)
{
    (void)state;
    assert_int_equal(writing(&half_metre, &town, (ph_altitude_level){.layer = 2}), PH_OK);
    // The number of the escape is no layer.
    assert_int_equal(writing(&half_metre, &town, (ph_altitude_level){.layer = 3}), PH_ERROR_VALUE);
    assert_int_equal(writing(&half_metre, &town, (ph_altitude_level){-2, 2000 / 16}),
                     PH_ERROR_VALUE);
    assert_int_equal(writing(&half_metre, &town, (ph_altitude_level){-1, 4800 / 16}),
                     PH_ERROR_VALUE);
    assert_int_equal(writing(&half_metre, &town, (ph_altitude_level){-1, (1 << 27) - 1}), PH_OK);
    assert_int_equal(writing(&half_metre, &town, (ph_altitude_level){-1, 1 << 27}), PH_ERROR_VALUE);
    assert_int_equal(writing(&half_metre, &town, (ph_altitude_level){-1, -(1 << 27) - 1}),
                     PH_ERROR_VALUE);
}

static void reader_refuses_a_missing_layer(void** state)
{
    (void)state;
    const plain four = {{0, 5000, 10000, 15000}, 4};
    assert_int_equal(reading(&four, 3, 3, 0), PH_OK);
    assert_int_equal(reading(&four, 5, 3, 0), PH_ERROR_VALUE);
    assert_int_equal(reading(&four, 7, 3, 0), PH_ERROR_VALUE);
}

static void reader_refuses_an_escape_to_where_a_layer_would_serve(void** state)
{
    (void)state;
    assert_int_equal(reading(&town, 3, 2, 2000 / 16), PH_OK);
    assert_int_equal(reading(&town, 3, 2, 4800 / 16), PH_ERROR_VALUE);
    assert_int_equal(reading(&town, 3, 2, 5296 / 16), PH_ERROR_VALUE);
    assert_int_equal(reading(&town, 3, 2, 5312 / 16), PH_OK);
    assert_int_equal(reading(&town, 3, 2, 4304 / 16), PH_ERROR_VALUE);
    assert_int_equal(reading(&town, 3, 2, 4288 / 16), PH_OK);
}

static void bytes_that_end_early_read_as_an_escape_to_zero(void** state)
{
    (void)state;
    const plain nothing = {.count = 0};
    const plain* const grounds[2] = {&nothing, &town};
    for (size_t size = 0; size < 4; ++size) {
        const ph_ground ground = ground_of(grounds[size % 2]);
        // Of the town's layers the first index, 3, is the escape.
        const uint8_t bytes[3] = {3, 2, 3};
        ph_bit_reader reader = ph_bit_reader_make(bytes, size % 2 == 0 ? size : size - 1);
        const ph_altitude_level level = ph_altitude_read(&half_metre, &ground, 7, -7, &reader);
        assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_END);
        assert_int_equal(level.layer, -1);
        assert_int_equal(level.steps, 0);
    }
}

// Random layers, tolerances, shifts and altitudes: within the tolerance or a step, read back as
// written, and what was decoded encodes to the same level.
static void altitude_is_within_tolerance_or_step_and_settles_at_once(void** state)
{
    (void)state;
    test_rng rng = {.state = 6001};
    for (int round = 0; round < 100000; ++round) {
        plain p = {.count = (int)test_rng_below(&rng, PH_GROUND_LAYERS_MAX + 1)};
        int32_t height = (int32_t)test_rng_below(&rng, 10000) - 5000;
        for (int i = 0; i < p.count; ++i) {
            p.heights_mm[i] = height;
            height += 1 + (int32_t)test_rng_below(&rng, 3000);
        }
        const ph_altitude coding = {.tolerance_mm = (int32_t)test_rng_below(&rng, 600),
                                    .escape_shift = (int)test_rng_below(&rng, 12)};
        const int32_t z_mm = (int32_t)test_rng_below(&rng, 40000) - 10000;
        const ph_altitude_level level = encode(&coding, &p, z_mm);
        const ph_altitude_level read = send(&coding, &p, level);
        assert_int_equal(read.layer, level.layer);
        assert_int_equal(read.steps, level.steps);

        const int64_t shown_mm = decode(&coding, &p, level);
        const int32_t step_mm = 1 << coding.escape_shift;
        const int32_t away_mm = distance_mm(z_mm, shown_mm);
        const int32_t allowed_mm =
            level.layer < 0 ? step_mm - 1 : coding.tolerance_mm + step_mm - 1;
        assert_in_range(away_mm, 0, allowed_mm);
        const ph_altitude_level again = encode(&coding, &p, shown_mm);
        assert_int_equal(again.layer, level.layer);
        assert_int_equal(again.steps, level.steps);
    }
}

static void altitude_declarations_are_checked(void** state)
{
    (void)state;
    const ph_altitude codings[] = {{0, 0}, {INT32_MAX, 31}, {-1, 0}, {0, -1}, {0, 32}};
    const ph_result results[] = {PH_OK, PH_OK, PH_ERROR_RANGE, PH_ERROR_WIDTH, PH_ERROR_WIDTH};
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(ph_altitude_check(&codings[i]), results[i]);
    }
}

static ph_raster* make_raster(int32_t origin_x_mm, int32_t origin_y_mm, int32_t cell_mm,
                              int32_t columns, int32_t rows)
{
    ph_raster_def def = ph_raster_def_default();
    def.origin_x_mm = origin_x_mm;
    def.origin_y_mm = origin_y_mm;
    def.cell_mm = cell_mm;
    def.columns = columns;
    def.rows = rows;
    ph_raster* raster = NULL;
    assert_int_equal(ph_raster_create(&def, &raster), PH_OK);
    return raster;
}

// How many layers a raster has at a place, and the lowest.
static int layers_at(const ph_raster* raster, int32_t x_mm, int32_t y_mm, int64_t* lowest_mm)
{
    const ph_ground ground = ph_raster_ground(raster);
    int64_t heights_mm[PH_GROUND_LAYERS_MAX] = {0};
    const int count = ground.layers(ground.context, x_mm, y_mm, heights_mm);
    *lowest_mm = heights_mm[0];
    return count;
}

static void raster_gives_each_cell_its_own_layers(void** state)
{
    (void)state;
    ph_raster* raster = make_raster(-1500, 700, 1000, 5, 4);
    for (int32_t row = 0; row < 4; ++row) {
        for (int32_t column = 0; column < 5; ++column) {
            const int64_t heights_mm[2] = {100 * row + column, 100000};
            assert_int_equal(ph_raster_set(raster, column, row, heights_mm, 2), PH_OK);
        }
    }
    for (int32_t row = 0; row < 4; ++row) {
        for (int32_t column = 0; column < 5; ++column) {
            const int32_t x_mm = -1500 + 1000 * column;
            const int32_t y_mm = 700 + 1000 * row;
            int64_t lowest_mm;
            assert_int_equal(layers_at(raster, x_mm, y_mm, &lowest_mm), 2);
            assert_int_equal(lowest_mm, 100 * row + column);
            assert_int_equal(layers_at(raster, x_mm + 999, y_mm + 999, &lowest_mm), 2);
            assert_int_equal(lowest_mm, 100 * row + column);
        }
    }
    ph_raster_destroy(raster);
}

static void raster_starts_empty_and_has_nothing_outside(void** state)
{
    (void)state;
    ph_raster* raster = make_raster(-1000, -1000, 1000, 2, 2);
    int64_t lowest_mm;
    assert_int_equal(layers_at(raster, 0, 0, &lowest_mm), 0);
    const int64_t floor_mm = 42;
    for (int32_t cell = 0; cell < 4; ++cell) {
        assert_int_equal(ph_raster_set(raster, cell % 2, cell / 2, &floor_mm, 1), PH_OK);
    }
    assert_int_equal(layers_at(raster, -1000, 999, &lowest_mm), 1);
    assert_int_equal(layers_at(raster, -1001, 0, &lowest_mm), 0);
    assert_int_equal(layers_at(raster, 1000, 0, &lowest_mm), 0);
    assert_int_equal(layers_at(raster, 0, -1001, &lowest_mm), 0);
    assert_int_equal(layers_at(raster, 0, 1000, &lowest_mm), 0);
    assert_int_equal(layers_at(raster, INT32_MIN, INT32_MIN, &lowest_mm), 0);
    assert_int_equal(layers_at(raster, INT32_MAX, INT32_MAX, &lowest_mm), 0);
    ph_raster_destroy(raster);
}

static void raster_reaches_the_ends_of_the_world_and_over_them(void** state)
{
    (void)state;
    // Two cells on each side of the wrap.
    ph_raster* raster = make_raster(INT32_MAX - 1999, INT32_MIN, INT32_MAX, 2, 2);
    const int64_t floor_mm = 42;
    assert_int_equal(ph_raster_set(raster, 0, 0, &floor_mm, 1), PH_OK);
    int64_t lowest_mm;
    assert_int_equal(layers_at(raster, INT32_MAX, INT32_MIN, &lowest_mm), 1);
    assert_int_equal(layers_at(raster, INT32_MIN, INT32_MIN, &lowest_mm), 1);
    assert_int_equal(layers_at(raster, INT32_MIN, -2, &lowest_mm), 1);
    assert_int_equal(layers_at(raster, INT32_MIN, -1, &lowest_mm), 0);
    assert_int_equal(layers_at(raster, INT32_MAX - 2000, 0, &lowest_mm), 0);
    ph_raster_destroy(raster);
}

static void raster_refuses_cells_and_layers_that_are_none(void** state)
{
    (void)state;
    ph_raster* raster = make_raster(0, 0, 1000, 2, 3);
    const int64_t eight[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    assert_int_equal(ph_raster_set(raster, 1, 2, eight, 8), PH_OK);
    assert_int_equal(ph_raster_set(raster, 1, 2, eight, 9), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_raster_set(raster, 1, 2, eight, -1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_raster_set(raster, 2, 0, eight, 1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_raster_set(raster, 0, 3, eight, 1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_raster_set(raster, -1, 0, eight, 1), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_raster_set(raster, 0, -1, eight, 1), PH_ERROR_ARGUMENT);
    const int64_t twice[3] = {11, 12, 12};
    assert_int_equal(ph_raster_set(raster, 1, 2, twice, 3), PH_ERROR_ARGUMENT);
    // Nothing changed.
    int64_t lowest_mm;
    assert_int_equal(layers_at(raster, 1000, 2000, &lowest_mm), 8);
    assert_int_equal(lowest_mm, 1);
    assert_int_equal(ph_raster_set(raster, 1, 2, NULL, 0), PH_OK);
    assert_int_equal(layers_at(raster, 1000, 2000, &lowest_mm), 0);
    ph_raster_destroy(raster);
}

// Counts what is held, and gives out at most so many blocks.
typedef struct meter {
    int blocks_left;
    size_t held_bytes;
} meter;

static void* meter_allocate(void* context, size_t size)
{
    meter* m = context;
    if (m->blocks_left == 0) {
        return NULL;
    }
    m->blocks_left -= 1;
    m->held_bytes += size;
    return malloc(size);
}

static void meter_release(void* context, void* memory, size_t size)
{
    meter* m = context;
    m->held_bytes -= size;
    free(memory);
}

static ph_result creation(ph_raster_def def)
{
    ph_raster* raster = (ph_raster*)&def;
    const ph_result result = ph_raster_create(&def, &raster);
    if (result != PH_OK) {
        assert_null(raster);
    }
    ph_raster_destroy(raster);
    return result;
}

static void raster_takes_its_memory_from_the_allocator_and_leaks_nothing(void** state)
{
    (void)state;
    meter m = {0};
    ph_raster_def def = ph_raster_def_default();
    def.columns = 10;
    def.rows = 10;
    def.allocator = (ph_allocator){meter_allocate, meter_release, &m};
    for (int blocks = 0; blocks < 3; ++blocks) {
        m.blocks_left = blocks;
        assert_int_equal(creation(def), blocks == 0 ? PH_ERROR_MEMORY : PH_OK);
        assert_int_equal(m.held_bytes, 0);
    }
    ph_raster_destroy(NULL);
}

static void raster_larger_than_memory_counts_is_refused(void** state)
{
    (void)state;
    ph_raster_def def = ph_raster_def_default();
    def.columns = INT32_MAX;
    def.rows = INT32_MAX;
    meter m = {.blocks_left = 1};
    def.allocator = (ph_allocator){meter_allocate, meter_release, &m};
    assert_int_equal(creation(def), PH_ERROR_MEMORY);
    // Not even asked for: the product does not wrap to something small.
    assert_int_equal(m.blocks_left, 1);
}

static void raster_declarations_are_checked(void** state)
{
    (void)state;
    ph_raster_def def = ph_raster_def_default();
    assert_int_equal(def.cell_mm, 1000);
    assert_int_equal(creation(def), PH_ERROR_ARGUMENT);
    def.columns = 1;
    assert_int_equal(creation(def), PH_ERROR_ARGUMENT);
    def.rows = 1;
    assert_int_equal(creation(def), PH_OK);
    def.columns = 0;
    assert_int_equal(creation(def), PH_ERROR_ARGUMENT);
    def.columns = -1;
    assert_int_equal(creation(def), PH_ERROR_ARGUMENT);
    def.columns = 1;
    def.cell_mm = 0;
    assert_int_equal(creation(def), PH_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_on_a_layer_costs_its_index),
        cmocka_unit_test(index_costs_what_the_number_of_layers_needs),
        cmocka_unit_test(tolerance_is_inclusive),
        cmocka_unit_test(nearest_layer_is_taken_and_the_lower_of_two),
        cmocka_unit_test(what_stands_exactly_on_a_layer_gets_it_however_coarse_the_escape),
        cmocka_unit_test(escape_rounds_down_below_zero_too),
        cmocka_unit_test(negative_altitude_is_not_the_default),
        cmocka_unit_test(no_overflow_at_the_ends_of_the_range),
        cmocka_unit_test(zero_ground_escapes_everything),
        cmocka_unit_test(missing_layer_decodes_to_the_highest_there_is),
        cmocka_unit_test(writer_refuses_what_the_reader_would),
        cmocka_unit_test(reader_refuses_a_missing_layer),
        cmocka_unit_test(reader_refuses_an_escape_to_where_a_layer_would_serve),
        cmocka_unit_test(bytes_that_end_early_read_as_an_escape_to_zero),
        cmocka_unit_test(altitude_is_within_tolerance_or_step_and_settles_at_once),
        cmocka_unit_test(altitude_declarations_are_checked),
        cmocka_unit_test(raster_gives_each_cell_its_own_layers),
        cmocka_unit_test(raster_starts_empty_and_has_nothing_outside),
        cmocka_unit_test(raster_reaches_the_ends_of_the_world_and_over_them),
        cmocka_unit_test(raster_refuses_cells_and_layers_that_are_none),
        cmocka_unit_test(raster_takes_its_memory_from_the_allocator_and_leaks_nothing),
        cmocka_unit_test(raster_larger_than_memory_counts_is_refused),
        cmocka_unit_test(raster_declarations_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
