// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The README's hello world in C++: a hundred dancers, watched over a link that loses one datagram in ten.

#include <pinhole/pinhole.hpp>

#include <cmath>
#include <cstdio>

struct dancer {
    std::int64_t place_mm[3];
};

int main()
{
    pinhole::schema schema(
        pinhole::class_builder<dancer>("dancer").position("place", &dancer::place_mm));
    const auto dancers = schema.find_class<dancer>("dancer");
    ph_world_def world_def = ph_world_def_default();
    ph_client_def client_def = ph_client_def_default();
    world_def.schema = client_def.schema = schema.get();
    world_def.on_error = client_def.on_error = ph_error_print; // should a call be wrong
    pinhole::world world(world_def);
    pinhole::client client(client_def);
    ph_link_def link_def = {}; // a simulated network, where a game has its sockets
    link_def.seed = 2;
    link_def.delay_us = 50000;
    link_def.loss = 0.1;
    pinhole::link down(link_def);
    link_def.seed = 3;
    link_def.loss = 0.0;
    pinhole::link up(link_def);
    pinhole::viewer_id viewer;
    pinhole::entity<dancer> all[100];
    bool is_well =
        world && client && down && up && world.add_viewer(ph_viewer_def_default(), viewer) == PH_OK;
    ph_spawn spawn = {};
    for (; spawn.key < 100 && is_well; ++spawn.key) {
        is_well = world.spawn(dancers, spawn, all[spawn.key]) == PH_OK;
    }
    std::puts(is_well ? "second  kbit/s  in view  updates  lost  mean error" : "cannot start");
    for (int frame = 0; frame <= 200 && is_well; ++frame) {
        const std::uint64_t now_us = 50000 * std::uint64_t(frame);
        std::uint8_t data[PH_PAYLOAD_MAX];
        while (const std::size_t size = down.receive(now_us, data, sizeof data)) {
            client.receive(now_us, data, size);
            const std::size_t ack_size = client.write_ack(now_us, data);
            is_well &= up.send(now_us, data, ack_size) == PH_OK;
        }
        while (const std::size_t size = up.receive(now_us, data, sizeof data)) {
            is_well &= world.receive_ack(viewer, now_us, data, size) == PH_OK;
        }
        if (frame % 2 != 0) {
            continue; // a tick is two frames
        }
        const int tick = frame / 2;
        double error_mm = 0.0;
        client.advance(now_us);
        for (unsigned i = 0; i < 100; ++i) {
            const double x_mm = std::trunc(1000.0 * i * std::cos(i + 0.002 * tick));
            const double y_mm = std::trunc(1000.0 * i * std::sin(i + 0.002 * tick));
            const dancer state = {{std::int64_t(x_mm), std::int64_t(y_mm), 0}};
            is_well &= world.set_struct(all[i], state) == PH_OK;
            ph_pose pose;
            if (client.get_pose(client.find(i), pose) == PH_OK) {
                error_mm += std::hypot(pose.position_mm[0] - x_mm, pose.position_mm[1] - y_mm) /
                            client.entity_count();
            }
        }
        world.tick();
        world.send_all(now_us, [&](pinhole::viewer_id, const void* bytes, std::size_t size) {
            is_well &= down.send(now_us, bytes, size) == PH_OK;
        });
        ph_viewer_stats stats;
        if (tick % 10 == 0 && world.get_viewer_stats(viewer, stats) == PH_OK) {
            std::printf("%6d  %6.1f  %7d  %7d  %4d  %7.0f mm\n", tick / 10, stats.sent_kbps,
                        client.entity_count(), int(stats.sent_updates), int(stats.lost_packets),
                        error_mm);
        }
    }
    return is_well ? 0 : 1;
}
