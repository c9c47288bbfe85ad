// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads angles. The first byte chooses width and unit, the second how many follow. What is accepted
// must be written again as the same bytes. From the third byte on the input is also taken for an
// angle to encode.

#include "pinhole/angle.h"

#include <stdlib.h>
#include <string.h>

#define ANGLES_MAX 15

static void check_reading(const ph_angle* coding, int count, const uint8_t* data, size_t size)
{
    double angles[ANGLES_MAX];
    ph_bit_reader reader = ph_bit_reader_make(data, size);
    for (int i = 0; i < count; ++i) {
        angles[i] = ph_angle_read(coding, &reader);
    }
    if (ph_bit_reader_finish(&reader) != PH_OK) {
        return;
    }
    uint8_t written[4 * ANGLES_MAX] = {0};
    ph_bit_writer writer = ph_bit_writer_make(written, sizeof written);
    for (int i = 0; i < count; ++i) {
        if (!(angles[i] >= 0.0 && angles[i] < coding->turn)) {
            abort();
        }
        ph_angle_write(coding, &writer, angles[i]);
    }
    if (ph_bit_writer_finish(&writer) != size || memcmp(written, data, size) != 0) {
        abort();
    }
}

// Any double: refused, or encoded to a level that decodes and encodes to itself.
static void check_encoding(const ph_angle* coding, double angle)
{
    uint32_t level = 0;
    uint32_t again = 0;
    if (ph_angle_encode(coding, angle, &level) != PH_OK) {
        return;
    }
    if (ph_angle_encode(coding, ph_angle_decode(coding, level), &again) != PH_OK ||
        again != level) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const double turns[4] = {PH_TURN_DEGREES, PH_TURN_RADIANS, 65536.0, 1e-300};
    if (size < 2) {
        return 0;
    }
    const ph_angle coding = {1 + data[0] % 32, turns[data[0] / 64]};
    check_reading(&coding, data[1] % (ANGLES_MAX + 1), data + 2, size - 2);
    if (size >= 2 + sizeof(double)) {
        double angle;
        memcpy(&angle, data + 2, sizeof angle);
        check_encoding(&coding, angle);
    }
    return 0;
}
