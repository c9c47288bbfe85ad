// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reads an altitude on a ground made from the input: shift, tolerance, number of layers, then the
// layers as gaps. What is accepted must, decoded and encoded, be written again as the same bytes.

#include "pinhole/ground.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_SIZE (8 + 2 * PH_GROUND_LAYERS_MAX)

typedef struct layers {
    int64_t heights_mm[PH_GROUND_LAYERS_MAX];
    int count;
} layers;

static int get_layers(const void* context, int64_t x_mm, int64_t y_mm,
                      int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)x_mm;
    (void)y_mm;
    const layers* all = context;
    memcpy(heights_mm, all->heights_mm, sizeof all->heights_mm);
    return all->count;
}

// Ascending from anywhere; what would go beyond the highest altitude is left out.
static layers make_layers(const uint8_t* data)
{
    layers made = {.count = 0};
    const int wanted = data[3] % (PH_GROUND_LAYERS_MAX + 1);
    uint32_t bits;
    memcpy(&bits, data + 4, sizeof bits);
    int64_t height = (int64_t)bits + INT32_MIN;
    while (made.count < wanted && height <= INT32_MAX) {
        made.heights_mm[made.count] = (int32_t)height;
        const uint8_t* gap = data + 8 + 2 * made.count;
        // A low byte and an exponent: from one millimetre to the whole range.
        height += ((int64_t)gap[0] + 1) << gap[1] % 25;
        made.count += 1;
    }
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < HEADER_SIZE) {
        return 0;
    }
    const ph_altitude coding = {.tolerance_mm = (data[1] << (data[2] % 24)),
                                .escape_shift = data[0] % 32};
    const layers all = make_layers(data);
    const ph_ground ground = {get_layers, &all};
    const uint8_t* message = data + HEADER_SIZE;
    const size_t message_size = size - HEADER_SIZE;

    ph_bit_reader reader = ph_bit_reader_make(message, message_size);
    const ph_altitude_level level = ph_altitude_read(&coding, &ground, 0, 0, &reader);
    const int64_t z_mm = ph_altitude_decode(&coding, &ground, 0, 0, level);
    if (ph_bit_reader_finish(&reader) != PH_OK) {
        return 0;
    }
    const ph_altitude_level again = ph_altitude_encode(&coding, &ground, 0, 0, z_mm);
    uint8_t written[8] = {0};
    ph_bit_writer writer = ph_bit_writer_make(written, sizeof written);
    ph_altitude_write(&coding, &ground, 0, 0, &writer, again);
    const int cost_bits = ph_altitude_cost_bits(&coding, &ground, 0, 0, again);
    if (ph_bit_writer_size_bits(&writer) != (size_t)cost_bits) {
        abort();
    }
    if (ph_bit_writer_finish(&writer) != message_size ||
        memcmp(written, message, message_size) != 0) {
        abort();
    }
    return 0;
}
