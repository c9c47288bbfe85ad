// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A C++17 program outside the tree: built by make test against the installed library.

#include <pinhole/pinhole.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

// What reaches into the C library's mathematics, and into every folder of ours.
static bool check_values()
{
    ph_fixed metres;
    std::uint32_t level = 0;
    const ph_angle degrees = {8, PH_TURN_DEGREES};
    ph_property_def properties[] = {ph_property_position("place"),
                                    ph_property_range("health", 0, 100)};
    const ph_class_def creature = {"creature", properties, 2, 0};
    ph_schema* schema = nullptr;
    const bool is_made = ph_schema_create(&creature, 1, nullptr, &schema, nullptr) == PH_OK;
    ph_schema_destroy(schema);
    return is_made && ph_fixed_make(0, 1000, 0.1, &metres) == PH_OK && metres.width == 14 &&
           ph_angle_encode(&degrees, -90.0, &level) == PH_OK && level == 192;
}

int main()
{
    if (!check_values()) {
        return 1;
    }
    std::array<std::uint8_t, 16> bytes;
    bytes.fill(0xFF);
    ph_bit_writer writer = ph_bit_writer_make(bytes.data(), bytes.size());
    ph_bits_write(&writer, 5, 3);
    ph_bits_write(&writer, 0x123456789ABCDEF0u, 64);
    const std::size_t size = ph_bit_writer_finish(&writer);

    ph_bit_reader reader = ph_bit_reader_make(bytes.data(), size);
    const std::uint64_t small = ph_bits_read(&reader, 3);
    const std::uint64_t large = ph_bits_read(&reader, 64);
    const ph_result result = ph_bit_reader_finish(&reader);

    std::printf("%zu bytes, %s\n", size, ph_result_text(result));
    return size == 9 && small == 5 && large == 0x123456789ABCDEF0u && result == PH_OK ? 0 : 1;
}
