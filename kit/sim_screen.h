// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What one client shows, frame by frame, in the words of the meter. Keeps a card for every slot:
// which entity is there, and which of its values differ from the truth. Only what changed at one of
// the ends since the last frame is compared again.

#ifndef PINHOLE_KIT_SIM_SCREEN_H
#define PINHOLE_KIT_SIM_SCREEN_H

#include "kit/meter.h"
#include "kit/sim_stage.h"
#include "kit/way_client.h"

// {0} may be destroyed. Read-only outside.
typedef struct ph_sim_screen {
    const ph_sim_stage* stage;
    int entity; // the viewer's own, which is not shown
    struct ph_sim_card* cards;
    int card_count; // slots
    ph_shown* shown;
    int shown_count;
} ph_sim_screen;

// @return False when there is no memory.
bool ph_sim_screen_create(ph_sim_screen* screen, const ph_sim_stage* stage, int entity,
                          int slot_count);
void ph_sim_screen_destroy(ph_sim_screen* screen);

// In every frame, after the client has advanced to it: fills shown.
void ph_sim_screen_look(ph_sim_screen* screen, ph_way_client* client);

#endif
