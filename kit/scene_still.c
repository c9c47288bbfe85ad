// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// All actors stand where they are: what remains to be sent when nothing changes.

#include "kit/scene_play.h"

static void begin(ph_scene* scene, int index)
{
    ph_scene_scatter(scene, ph_scene_actor(scene, index));
}

static void step(ph_scene* scene, int index)
{
    (void)scene;
    (void)index;
}

const ph_play ph_play_still = {
    .info = {.name = "still", .default_count = 1000, .default_rate_hz = 10},
    .begin = begin,
    .step = step,
};
