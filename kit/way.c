// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Asked when connections are made.

#include "kit/way.h"

#include "kit/town.h"

#include <string.h>

static const char* const WAY_NAMES[PH_WAY_COUNT] = {"classic", "pinhole", "snapshot"};

const char* ph_way_name(ph_way way)
{
    return WAY_NAMES[way];
}

bool ph_way_find(const char* name, ph_way* way)
{
    for (int i = 0; i < PH_WAY_COUNT; ++i) {
        if (strcmp(name, WAY_NAMES[i]) == 0) {
            *way = (ph_way)i;
            return true;
        }
    }
    return false;
}

const char* ph_way_ground_name(const ph_ground* ground)
{
    if (ground->layers == NULL) {
        return "";
    }
    return ground->layers == ph_town_layers ? "town" : NULL;
}

bool ph_way_find_ground(const char* name, ph_ground* ground)
{
    const bool is_town = strcmp(name, "town") == 0;
    *ground = (ph_ground){.layers = is_town ? ph_town_layers : NULL};
    return is_town || name[0] == '\0';
}
