// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads fixed-point levels and vectors. The first byte chooses the ladder, the second how many
// values follow. What is accepted must be written again as the same bytes, from the levels and from
// the values.

#include "pinhole/fixed.h"

#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 15

static ph_fixed choose_ladder(unsigned choice)
{
    static const double ladders[8][3] = {
        {0, 1000, 0.1}, {0, 20, 0.1},  {-20, 20, 0.1},         {-7, -3, 0.5},
        {0, 1, 1},      {5, 6, 0.001}, {0, 4294967295.0, 1.0}, {-2147483648.0, 2147483647.0, 1.0},
    };
    const double* ladder = ladders[choice % 8];
    ph_fixed coding;
    if (ph_fixed_make(ladder[0], ladder[1], ladder[2], &coding) != PH_OK) {
        abort();
    }
    const double defaults[4] = {0, coding.lo, coding.hi, coding.lo + 4 * coding.step};
    if (choice / 8 % 2 != 0) {
        // May lie outside, then there is none.
        (void)ph_fixed_set_default(&coding, defaults[choice / 16 % 4]);
    }
    return coding;
}

static void expect_same(ph_bit_writer* writer, const uint8_t* written, const uint8_t* data,
                        size_t size)
{
    if (ph_bit_writer_finish(writer) != size || memcmp(written, data, size) != 0) {
        abort();
    }
}

static void check_levels(const ph_fixed* coding, int count, const uint8_t* data, size_t size)
{
    uint32_t levels[VALUES_MAX];
    ph_bit_reader reader = ph_bit_reader_make(data, size);
    for (int i = 0; i < count; ++i) {
        levels[i] = ph_fixed_read_level(coding, &reader);
    }
    if (ph_bit_reader_finish(&reader) != PH_OK) {
        return;
    }
    uint8_t written[8 * VALUES_MAX] = {0};
    ph_bit_writer writer = ph_bit_writer_make(written, sizeof written);
    size_t cost_bits = 0;
    for (int i = 0; i < count; ++i) {
        ph_fixed_write(coding, &writer, ph_fixed_decode(coding, levels[i]));
        cost_bits += (size_t)ph_fixed_cost_bits(coding, levels[i]);
    }
    if (ph_bit_writer_size_bits(&writer) != cost_bits) {
        abort();
    }
    expect_same(&writer, written, data, size);
}

static void check_vector(const ph_vec3_coding* coding, const uint8_t* data, size_t size)
{
    ph_bit_reader reader = ph_bit_reader_make(data, size);
    const ph_vec3 value = ph_vec3_read(coding, &reader);
    if (ph_bit_reader_finish(&reader) != PH_OK) {
        return;
    }
    uint8_t written[16] = {0};
    ph_bit_writer writer = ph_bit_writer_make(written, sizeof written);
    ph_vec3_write(coding, &writer, value);
    expect_same(&writer, written, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    const ph_fixed coding = choose_ladder(data[0]);
    check_levels(&coding, data[1] % (VALUES_MAX + 1), data + 2, size - 2);
    const ph_vec3_coding vector = {coding, choose_ladder(data[1]),
                                   choose_ladder(data[0] ^ data[1])};
    check_vector(&vector, data + 2, size - 2);
    return 0;
}
