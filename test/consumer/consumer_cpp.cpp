// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A C++17 program outside the tree: built by make test against the installed library.

#include <pinhole/pinhole.hpp>

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
    const ph_class_def creature = {"creature", properties, 2, 0, 0.0, 0.0, 0};
    ph_schema* schema = nullptr;
    const bool is_made = ph_schema_create(&creature, 1, nullptr, &schema, nullptr) == PH_OK;
    ph_schema_destroy(schema);
    return is_made && ph_fixed_make(0, 1000, 0.1, &metres) == PH_OK && metres.width == 14 &&
           ph_angle_encode(&degrees, -90.0, &level) == PH_OK && level == 192;
}

struct chest {
    std::int64_t place_mm[3];
    std::uint8_t coins;
};

// A struct bound by its members, a world that ends by itself, and what it sends.
static bool check_world()
{
    const pinhole::schema schema(pinhole::class_builder<chest>("chest")
                                     .position("place", &chest::place_mm)
                                     .range("coins", &chest::coins, 0, 100));
    pinhole::world world(schema);
    pinhole::client client(schema);
    pinhole::viewer_id viewer;
    pinhole::entity<chest> made;
    const auto chests = schema.find_class<chest>("chest");
    const chest full = {{1600, 3200, 0}, 77};
    if (!world || !client || world.add_viewer(ph_viewer_def_default(), viewer) != PH_OK ||
        world.spawn(chests, ph_spawn{}, made) != PH_OK || world.set_struct(made, full) != PH_OK) {
        return false;
    }
    world.tick();
    world.send_all(0, [&](pinhole::viewer_id, const void* bytes, std::size_t size) {
        client.receive(1000, bytes, size);
    });
    chest shown = {};
    return client.get_struct(client.entity_of(chests, client.find(0)), shown) == PH_OK &&
           shown.coins == 77 && shown.place_mm[1] == 3200;
}

int main()
{
    if (!check_values() || !check_world()) {
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
