// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads quaternions. The first byte chooses the width, the second how many follow. What is accepted
// must be written again as the same bytes, decode to a unit quaternion, and be what some rotation
// encodes to.

#include "pinhole/quaternion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QUATERNIONS_MAX 7

// The rotation nearest to the middle of the cube that rounds to the levels, a hair inside.
static ph_quaternion innermost(int width, ph_quaternion_levels levels)
{
    const double step = sqrt(2.0) / ((1 << width) - 2);
    double c[4];
    double left = 1.0;
    int next = 0;
    for (int i = 0; i < 4; ++i) {
        if (i != levels.largest) {
            const int level = levels.rest[next++];
            const double inner = level == 0 ? 0.0 : fabs((double)level) - 0.5 + 1e-7;
            c[i] = copysign(inner, level) * step;
            left -= c[i] * c[i];
        }
    }
    c[levels.largest] = sqrt(left);
    return (ph_quaternion){c[0], c[1], c[2], c[3]};
}

static void check_levels(int width, ph_quaternion_levels levels)
{
    const ph_quaternion q = ph_quaternion_decode(width, levels);
    const double square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    if (!(fabs(square - 1.0) < 1e-12)) {
        abort();
    }
    ph_quaternion_levels given;
    if (ph_quaternion_encode(width, innermost(width, levels), &given) != PH_OK ||
        given.largest != levels.largest ||
        memcmp(given.rest, levels.rest, sizeof levels.rest) != 0) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    const int width = PH_QUATERNION_WIDTH_MIN + data[0] % 9;
    const int count = data[1] % (QUATERNIONS_MAX + 1);
    ph_quaternion_levels levels[QUATERNIONS_MAX];
    ph_bit_reader reader = ph_bit_reader_make(data + 2, size - 2);
    for (int i = 0; i < count; ++i) {
        levels[i] = ph_quaternion_read_levels(width, &reader);
    }
    if (ph_bit_reader_finish(&reader) != PH_OK) {
        return 0;
    }
    uint8_t written[7 * QUATERNIONS_MAX] = {0};
    ph_bit_writer writer = ph_bit_writer_make(written, sizeof written);
    for (int i = 0; i < count; ++i) {
        check_levels(width, levels[i]);
        ph_quaternion_write_levels(width, &writer, levels[i]);
    }
    if (ph_bit_writer_finish(&writer) != size - 2 || memcmp(written, data + 2, size - 2) != 0) {
        abort();
    }
    return 0;
}
