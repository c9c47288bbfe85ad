// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A C program outside the tree: built by make test against the installed library.

#include <pinhole/pinhole.h>

#include <stdio.h>
#include <string.h>

// What reaches into the C library's mathematics, and into every folder of ours.
static int check_values(void)
{
    ph_fixed metres;
    uint32_t level = 0;
    const ph_angle degrees = {8, PH_TURN_DEGREES};
    ph_quaternion_levels levels;
    const ph_quaternion identity = {0, 0, 0, 1};
    return ph_fixed_make(0, 1000, 0.1, &metres) == PH_OK && metres.width == 14 &&
           ph_angle_encode(&degrees, -90.0, &level) == PH_OK && level == 192 &&
           ph_quaternion_encode(9, identity, &levels) == PH_OK && levels.largest == 3;
}

int main(void)
{
    if (!check_values() || strcmp(ph_version(), PH_VERSION_TEXT) != 0) {
        return 1;
    }
    uint8_t bytes[16];
    memset(bytes, 0xFF, sizeof bytes);
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_bits_write(&writer, 5, 3);
    ph_bits_write(&writer, UINT64_C(0x123456789ABCDEF0), 64);
    size_t size = ph_bit_writer_finish(&writer);

    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    uint64_t small = ph_bits_read(&reader, 3);
    uint64_t large = ph_bits_read(&reader, 64);
    ph_result result = ph_bit_reader_finish(&reader);

    printf("%zu bytes, %s\n", size, ph_result_text(result));
    return size == 9 && small == 5 && large == UINT64_C(0x123456789ABCDEF0) && result == PH_OK ? 0
                                                                                               : 1;
}
