// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What server and client of the game share: what a creature is, and how it walks. The wire is that of
// examples/game: clients and servers of both go together.

#ifndef GAME_HPP
#define GAME_HPP

#include <pinhole/pinhole.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

enum { PLACE, HEADING, NAME, HIT_POINTS, TARGET }; // the properties
constexpr double WALK_MM_PER_S = 4000.0;           // of a player

struct creature {
    std::int64_t place_mm[3] = {};
    float heading_deg = 0.0f;
    char name[16] = "";
    std::int32_t hit_points = 100;
    pinhole::entity_id target = {}; // null: none
};

inline pinhole::schema make_schema()
{
    const auto creature_class = [](const char* name) {
        return pinhole::class_builder<creature, 5>(name)
            .position("place", &creature::place_mm)
            .angle("heading", &creature::heading_deg)
            .string("name", &creature::name)
            .range("hit_points", &creature::hit_points, 0, 100)
            .entity("target", &creature::target);
    };
    return pinhole::schema(creature_class("wanderer"), creature_class("player"));
}

inline void set_name(creature& it, std::string_view name)
{
    it.name[name.copy(it.name, sizeof it.name - 1)] = '\0';
}

// What comes over a network may be anything: letters that a terminal would obey, or none at all.
inline std::string printable(const std::uint8_t* bytes, std::size_t size)
{
    std::string text(bytes, bytes + size);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return text;
}

// Both ends move players by this.
inline void walk(std::int64_t (&place_mm)[3], double heading_deg, double far_mm)
{
    place_mm[0] += std::llround(far_mm * std::cos(heading_deg / 57.29578));
    place_mm[1] += std::llround(far_mm * std::sin(heading_deg / 57.29578));
}

inline double distance_mm(const creature& a, const creature& b)
{
    return std::hypot(static_cast<double>(a.place_mm[0] - b.place_mm[0]),
                      static_cast<double>(a.place_mm[1] - b.place_mm[1]));
}

#endif
