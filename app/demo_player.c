// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A frame runs once per player and tick, some 100 ns for each entity shown.

#include "demo_player.h"

static void drop_screen(demo_player* player)
{
    ph_sim_screen_destroy(&player->screen);
    ph_way_client_destroy(player->client);
    player->client = NULL;
}

// A screen belongs to one client, and a client to one connection.
static bool make_screen(demo_player* player)
{
    const ph_way_client_def client = {.borrowed = player->bot->client};
    player->client = ph_way_client_create(&client);
    return player->client != NULL &&
           ph_sim_screen_create(&player->screen, player->stage, player->entity,
                                player->bot->terms->slot_capacity);
}

bool demo_player_create(demo_player* player, const demo_player_def* def)
{
    *player = (demo_player){.stage = def->stage, .entity = def->entity};
    player->bot = bot_create(def->terms, def->client_id, BOT_GOOD);
    return player->bot != NULL && make_screen(player) &&
           ph_sim_stage_create_meter(def->stage, def->entity, &player->meter) &&
           ph_sim_stage_create_meter(def->stage, def->entity, &player->second_meter) &&
           bot_start(player->bot, def->now_us);
}

void demo_player_destroy(demo_player* player)
{
    drop_screen(player);
    ph_meter_destroy(player->second_meter);
    ph_meter_destroy(player->meter);
    bot_destroy(player->bot);
    *player = (demo_player){0};
}

bool demo_player_come_back(demo_player* player, uint64_t now_us)
{
    if (ph_net_client_get_state(player->bot->net) > PH_NET_CLIENT_DISCONNECTED) {
        return true;
    }
    drop_screen(player);
    return bot_begin_anew(player->bot, now_us) && make_screen(player);
}

void demo_player_measure(demo_player* player, uint64_t now_us, bool is_counted)
{
    ph_way_client_advance(player->client, now_us);
    ph_sim_screen_look(&player->screen, player->client);
    if (is_counted) {
        ph_meter_frame(player->meter, player->screen.shown, player->screen.shown_count);
        ph_meter_frame(player->second_meter, player->screen.shown, player->screen.shown_count);
    }
}
