// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per viewer and frame; some 100 ns for each entity shown.

#include "kit/sim_screen.h"

#include "kit/sim_equality.h"

#include <stdlib.h>

typedef struct ph_sim_card {
    int entity; // in the truth; -1: none
    ph_entity_id shown;
    uint64_t asked;     // traits that may differ otherwise than was found last
    uint64_t differing; // as was found last
} ph_sim_card;

bool ph_sim_screen_create(ph_sim_screen* screen, const ph_sim_stage* stage, int entity,
                          int slot_count)
{
    *screen = (ph_sim_screen){.stage = stage, .entity = entity, .card_count = slot_count};
    screen->cards = calloc((size_t)slot_count, sizeof *screen->cards);
    screen->shown = calloc((size_t)slot_count, sizeof *screen->shown);
    if (screen->cards == NULL || screen->shown == NULL) {
        ph_sim_screen_destroy(screen);
        return false;
    }
    for (int i = 0; i < slot_count; ++i) {
        screen->cards[i].entity = -1;
    }
    return true;
}

void ph_sim_screen_destroy(ph_sim_screen* screen)
{
    free(screen->shown);
    free(screen->cards);
    *screen = (ph_sim_screen){0};
}

// All that left is told before all that came.
static void hear_events(ph_sim_screen* screen, ph_way_client* client)
{
    ph_event event;
    while (ph_way_client_poll(client, &event)) {
        ph_sim_card* card = &screen->cards[event.entity.index1 - 1];
        if (event.kind == PH_EVENT_LEAVE) {
            *card = (ph_sim_card){.entity = -1};
        } else if (event.kind == PH_EVENT_ENTER) {
            *card = (ph_sim_card){
                .entity = ph_recording_find(screen->stage->recording, (uint32_t)event.key),
                .shown = event.entity,
            };
        }
        // Which trait is which property matters less than missing one.
        card->asked = UINT64_MAX;
    }
}

static void compare_values(const ph_sim_screen* screen, const ph_way_client* client,
                           ph_sim_card* card)
{
    const ph_sim_stage* stage = screen->stage;
    const uint64_t asked = (card->asked | stage->changed[card->entity]) & stage->has[card->entity];
    card->asked = 0;
    if (asked == 0) {
        return;
    }
    const ph_sim_pair pair = {.stage = stage, .client = client};
    card->differing =
        (card->differing & ~asked) | ph_sim_differing(&pair, card->shown, card->entity, asked);
}

// By the client's own means, at its own time.
static bool try_show(const ph_sim_screen* screen, const ph_way_client* client,
                     const ph_sim_card* card, ph_shown* shown)
{
    ph_pose pose;
    if (ph_way_client_get_pose(client, card->shown, &pose) != PH_OK) {
        return false;
    }
    *shown = (ph_shown){
        .entity = card->entity,
        .has_heading = pose.has_heading,
        .position_mm = {pose.position_mm[0], pose.position_mm[1], pose.position_mm[2]},
        .heading_deg = pose.heading_deg,
        .has_rotation = pose.has_rotation,
        .rotation = {pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.rotation.w},
        .properties = screen->stage->has[card->entity],
        .differing = card->differing,
    };
    return true;
}

void ph_sim_screen_look(ph_sim_screen* screen, ph_way_client* client)
{
    hear_events(screen, client);
    screen->shown_count = 0;
    for (int slot = 0; slot < screen->card_count; ++slot) {
        ph_sim_card* card = &screen->cards[slot];
        if (card->entity < 0 || card->entity == screen->entity) {
            continue;
        }
        compare_values(screen, client, card);
        screen->shown_count +=
            try_show(screen, client, card, &screen->shown[screen->shown_count]) ? 1 : 0;
    }
}
