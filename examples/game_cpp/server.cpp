// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The server of examples/game in C++20: 300 wanderers, and players who walk among them, are bitten,
// and chat.
//
//     game_cpp_server [ADDRESS [SECONDS]]      game_cpp_server 0.0.0.0:40000

#include "game.hpp"

#include <pinhole/net/net.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>

constexpr int TICK_US = 50000, BITE_MM = 5000;

struct actor : creature {
    pinhole::entity<creature> id;
};

static const pinhole::schema schema = make_schema();
static pinhole::world world;
static pinhole::host host;
static std::map<std::uint64_t, actor> wanderers; // by key
static std::map<int, actor> players;             // by client

static void spawn(actor& it, const char* class_name, std::uint64_t key)
{
    std::generate_n(it.place_mm, 2, [] { return std::rand() % 200000; });
    set_name(it, class_name + (' ' + std::to_string(key)));
    ph_spawn def = {};
    def.key = key;
    def.is_always_visible = class_name == std::string_view("player");
    (void)world.spawn(schema.find_class<creature>(class_name), def, it.id);
}

// A key makes it secure: players need a token. Without, anyone near may come in.
static bool start(const char* address, const char* key)
{
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = schema.get();
    world_def.tick_us = TICK_US;
    world_def.on_error = ph_error_print;
    if (world.create(world_def) != PH_OK) {
        return false;
    }
    for (std::uint64_t i = 0; i < 300; ++i) {
        spawn(wanderers[i], "wanderer", i);
    }
    ph_host_def def = ph_host_def_default();
    def.world = world.get();
    def.on_error = ph_error_print; // also says what is wrong with the address or the key
    def.is_insecure_dev = key == nullptr;
    ph_key_parse(key, def.private_key);
    (void)pinhole::parse_address(address, def.listen_address);
    return host.open(def) == PH_OK;
}

static void on_event(const ph_net_event& event)
{
    actor& player = players[event.client];
    if (event.kind == PH_NET_CONNECTED) {
        ph_viewer_def viewer = ph_viewer_def_default(); // 13 kbit/s, the nearest 250 within 250 m
        spawn(player, "player", 1000 + static_cast<std::uint64_t>(event.client));
        viewer.entity = player.id;
        (void)host.admit(event.client, viewer);
    } else {
        std::printf("%s has left. %s\n", player.name, event.reason);
        (void)world.despawn(player.id);
        players.erase(event.client);
    }
}

// A wanderer is after any player near it, and bites.
static void wander(actor& it)
{
    it.heading_deg += static_cast<float>(std::rand() % 21 - 10);
    walk(it.place_mm, it.heading_deg, 50.0);
    it.target = {};
    for (auto& [client, player] : players) {
        if (distance_mm(it, player) < BITE_MM) {
            it.target = player.id;
            player.hit_points = std::max(1, player.hit_points - 1); // not to death
        }
    }
    (void)world.set_struct(it.id, it);
}

static void say_to_all(const std::string& line)
{
    for (int i = 0; i < host.client_count(); ++i) {
        ph_messages_send(host.messages_of(host.client_at(i)), line.data(), line.size());
    }
}

// What a player has said, and what it does.
static void play(actor& player, ph_messages* messages)
{
    std::uint8_t bytes[PH_MESSAGE_SIZE_MAX];
    while (const std::size_t size = ph_messages_receive(messages, bytes)) {
        const std::string text = printable(bytes, size);
        if (text.starts_with("/name ")) {
            set_name(player, text.substr(6));
        } else {
            say_to_all(player.name + (": " + text));
        }
    }
    const ph_input input = ph_messages_newest_input(messages);
    if (input.size == 1) { // a heading, in 256 parts of a turn; nothing: it stands still
        player.heading_deg = input.bytes[0] * 360.0f / 256.0f;
        walk(player.place_mm, player.heading_deg, WALK_MM_PER_S * TICK_US / 1e6);
    }
    ph_messages_set_processed_input(messages, input.number);
    (void)world.set_struct(player.id, player);
}

int main(int argc, char** argv)
{
    const int ticks = 1000000 / TICK_US * (argc > 2 ? std::atoi(argv[2]) : 3600);
    if (!start(argc > 1 ? argv[1] : "0.0.0.0:40000", std::getenv("GAME_KEY"))) {
        return 1;
    }
    std::puts("the game is open");
    std::uint64_t due_us = ph_socket_now_us();
    for (int tick = 0; tick < ticks; ++tick) {
        host.receive(due_us += TICK_US); // waits until then
        host.tick();
        for (ph_net_event event; host.next_event(event);) {
            on_event(event);
        }
        for (int i = 0; i < host.client_count(); ++i) {
            play(players[host.client_at(i)], host.messages_of(host.client_at(i)));
        }
        for (auto& [key, wanderer] : wanderers) {
            wander(wanderer);
        }
        world.tick();
        host.send();
    }
    host.stop(); // tells all clients
}
