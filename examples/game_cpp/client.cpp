// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The client of examples/game in C++20: a player that walks in squares, says hello, and draws a map
// once a second.
//
//     game_cpp_client ADDRESS_OR_TOKEN NAME [SECONDS]      game_cpp_client localhost:40000 Ann

#include "game.hpp"

#include <pinhole/net/net.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

constexpr int ROWS = 17, COLUMNS = 51, SIDE_S = 4, FRAME_US = 20000, WANTED = 200;

static const pinhole::schema schema = make_schema();
static const auto player_class = schema.find_class<creature>("player");
static pinhole::peer peer;
static std::int64_t place_mm[3]; // where we are, ahead of what the server says
static int lines_heard;
static bool is_refused;

// While we develop by address, else with a token: a new one each time.
static void join(const char* target, const std::string& name)
{
    std::ifstream file(target, std::ios::binary);
    if (file) {
        const std::vector<char> token(std::istreambuf_iterator<char>(file), {});
        (void)peer.connect(token.data(), token.size());
    } else {
        (void)peer.connect_to(target);
    }
    (void)peer.send("/name " + name);
    (void)peer.send("hello");
}

static void on_event(const ph_peer_event& event)
{
    creature it;
    const auto player = peer.entity_of(player_class, event.entity.entity);
    switch (event.kind) {
    case PH_PEER_ENTERED:
    case PH_PEER_UPDATED:
        if ((event.entity.properties >> NAME & 1) != 0 && peer.get_struct(player, it) == PH_OK) {
            std::printf("%s is in view\n", it.name);
        }
        break;
    case PH_PEER_LEFT:
        if (event.entity.class_index == player_class.index) {
            std::puts("a player is out of view");
        }
        break;
    case PH_PEER_MESSAGE:
        std::puts(printable(event.bytes, event.size).c_str());
        ++lines_heard;
        break;
    default: // connected; or refused, disconnected, cannot send: the text says why
        std::puts(event.kind == PH_PEER_CONNECTED ? "we are in the game" : event.text);
        is_refused = event.kind == PH_PEER_REFUSED;
    }
}

// We walk at once. As long as the server has us walk as we do now, we drift to where it has us.
static void move(std::uint8_t heading, double seconds)
{
    static std::uint8_t headings[256]; // of our last inputs, by number
    headings[peer.set_input(&heading, sizeof heading) % 256] = heading;
    walk(place_mm, heading * 360.0 / 256.0, WALK_MM_PER_S * seconds);
    const std::uint8_t processed = headings[peer.processed_input() % 256];
    ph_pose pose;
    if (processed == heading && peer.get_pose(peer.own(), pose) == PH_OK) {
        place_mm[0] += (std::llround(pose.position_mm[0]) - place_mm[0]) / 10;
        place_mm[1] += (std::llround(pose.position_mm[1]) - place_mm[1]) / 10;
    }
}

// What is around us: a letter stands for 2 m by 4 m, and is the first of a name.
static void draw()
{
    std::vector<std::string> map(ROWS, std::string(COLUMNS, ' '));
    creature it = {};
    int hunters = 0;
    const ph_peer_stats stats = peer.stats();
    for (int slot = stats.slot_count - 1; slot >= 0; --slot) {    // our own is the last
        const pinhole::entity<creature> id(peer.entity_at(slot)); // both classes have this struct
        ph_pose pose;
        if (peer.get_struct(id, it) != PH_OK || peer.get_pose(id, pose) != PH_OK) {
            continue;
        }
        const auto column = COLUMNS / 2 + (std::llround(pose.position_mm[0]) - place_mm[0]) / 2000;
        const auto row = ROWS / 2 - (std::llround(pose.position_mm[1]) - place_mm[1]) / 4000;
        if (column >= 0 && column < COLUMNS && row >= 0 && row < ROWS) {
            map[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = it.name[0];
        }
        hunters += it.target == peer.own();
    }
    for (const std::string& row : map) {
        std::puts(row.c_str());
    }
    std::printf("%s at %d, %d m: %d hit points, %d after us, %d in view, %.1f kbit/s\n", it.name,
                int(place_mm[0] / 1000), int(place_mm[1] / 1000), it.hit_points, hunters,
                stats.entity_count, stats.received_kbps);
}

int main(int argc, char** argv)
{
    ph_peer_def def = ph_peer_def_default();
    def.schema = schema.get();
    def.on_error = ph_error_print;
    if (argc < 3 || peer.open(def) != PH_OK) {
        std::puts("usage: game_cpp_client ADDRESS_OR_TOKEN NAME [SECONDS]");
        return 1;
    }
    auto last_us = ph_socket_now_us();
    const std::uint64_t end_us =
        last_us + 1000000 * std::strtoul(argc > 3 ? argv[3] : "60", nullptr, 10);
    for (auto now_us = last_us; now_us < end_us && !is_refused; now_us = ph_socket_now_us()) {
        peer.tick();
        for (ph_peer_event event; peer.next_event(event);) {
            on_event(event);
        }
        move(static_cast<std::uint8_t>(now_us / 1000000 / SIDE_S * 64),
             static_cast<double>(now_us - last_us) / 1e6);
        if (now_us / 1000000 != last_us / 1000000) {  // once a second
            if (peer.state() == PH_PEER_STATE_IDLE) { // not yet, or no longer
                join(argv[1], argv[2]);
            } else if (peer.state() == PH_PEER_STATE_JOINED) {
                draw();
            }
        }
        last_us = now_us;
        peer.wait(FRAME_US); // where a game draws
    }
    return lines_heard > 0 && peer.stats().entity_count >= WANTED ? 0 : 1;
}
