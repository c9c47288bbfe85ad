// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sessions of players (docs/moving.md says what they must do): attached by a front-end, fed by it, told things through
// it. Everything that a front-end or a sim says may be said again, so nothing here minds repeats. What leaves this sim,
// confirmations and messages to players, is first safe in the mirror: a standby that takes over never tells a player
// another message under a number that was used, nor asks for one that was confirmed.
//
// Per tick: the items that have come, and one pass over the players.

#include "bus/sim_state.h"

#include <string.h>

// ---- who there is

static sim_player* find_in(ph_bus_sim* sim, const ph_hash_map* map, uint64_t key)
{
    uint32_t at;
    return ph_hash_map_try_find(map, key, &at) ? &sim->players[at] : NULL;
}

sim_player* sim_find_player(ph_bus_sim* sim, const sim_region* region, uint64_t client_id)
{
    return find_in(sim, &region->by_client, client_id);
}

sim_player* sim_player_of_key(ph_bus_sim* sim, const sim_region* region, uint64_t key)
{
    return find_in(sim, &region->by_key, key);
}

// All places below the first free one are used: many players that come one after the other cost one pass together.
static int find_place(ph_bus_sim* sim)
{
    while (sim->first_free < sim->player_limit && sim->players[sim->first_free].is_used) {
        ++sim->first_free;
    }
    return sim->first_free;
}

sim_player* sim_add_player(ph_bus_sim* sim, sim_region* region, uint64_t client_id, uint64_t key)
{
    sim_player* other = sim_player_of_key(sim, region, key);
    if (other != NULL) {
        sim_remove_player(sim, other); // an entity has one player
    }
    const int at = find_place(sim);
    if (at == sim->def.player_capacity ||
        !sim_map_insert(&region->by_client, client_id, (uint32_t)at)) {
        return NULL;
    }
    if (!sim_map_insert(&region->by_key, key, (uint32_t)at)) {
        ph_hash_map_remove(&region->by_client, client_id);
        return NULL;
    }
    sim_player* player = &sim->players[at];
    const sim_bytes state = {player->state.bytes, 0, player->state.capacity};
    const sim_bytes queue = {player->queue.bytes, 0, player->queue.capacity};
    *player = (sim_player){
        .is_used = true,
        .region = sim_region_index(sim, region),
        .client_id = client_id,
        .key = key,
        .state = state,
        .queue = queue,
        .detached_us = sim->now_us,
    };
    sim->player_limit = at == sim->player_limit ? at + 1 : sim->player_limit;
    return player;
}

void sim_remove_player(ph_bus_sim* sim, sim_player* player)
{
    sim_region* region = &sim->regions[player->region];
    ph_hash_map_remove(&region->by_client, player->client_id);
    ph_hash_map_remove(&region->by_key, player->key);
    player->is_used = false;
    const int at = (int)(player - sim->players);
    sim->first_free = at < sim->first_free ? at : sim->first_free;
}

bool sim_move_player(ph_bus_sim* sim, sim_player* player, sim_region* to)
{
    const uint32_t at = (uint32_t)(player - sim->players);
    sim_region* from = &sim->regions[player->region];
    sim_player* other = sim_find_player(sim, to, player->client_id);
    if (other != NULL) {
        sim_remove_player(sim, other);
    }
    other = sim_player_of_key(sim, to, player->key);
    if (other != NULL) {
        sim_remove_player(sim, other);
    }
    if (!sim_map_insert(&to->by_client, player->client_id, at) ||
        !sim_map_insert(&to->by_key, player->key, at)) {
        ph_hash_map_remove(&to->by_client, player->client_id);
        sim_remove_player(sim, player);
        return false;
    }
    ph_hash_map_remove(&from->by_client, player->client_id);
    ph_hash_map_remove(&from->by_key, player->key);
    player->region = sim_region_index(sim, to);
    return true;
}

bool sim_player_is_frozen(ph_bus_sim* sim, const sim_player* player)
{
    const sim_filed* filed = sim_find_filed(sim, player->key);
    return filed != NULL && filed->to_region != PH_REGION_NONE;
}

void sim_player_event(ph_bus_sim* sim, const sim_player* player, ph_bus_event_kind kind,
                      bool is_new)
{
    const ph_bus_event event = {
        .kind = kind,
        .region = sim->regions[player->region].number,
        .is_new = is_new,
        .entity = ph_world_find(sim->world, player->key),
        .key = player->key,
        .client_id = player->client_id,
    };
    sim_push_event(sim, &event);
}

// ---- attach

// Where the entity is, if it is not this region's: the front-end is told to go there. Otherwise silence.
static void send_elsewhere(ph_bus_sim* sim, int region, const char* front, const bus_item* about)
{
    const ph_entity_id entity = ph_world_find(sim->world, about->key);
    const sim_gone* gone = sim_find_gone(sim, about->key);
    ph_ownership ownership;
    int number = PH_REGION_NONE;
    if (ph_world_is_alive(sim->world, entity) &&
        ph_world_get_ownership(sim->world, entity, &ownership) == PH_OK && ownership.owner != 0) {
        number = (int)(ownership.owner - 1);
    } else if (gone != NULL) {
        number = gone->region;
    }
    if (number != PH_REGION_NONE && number != sim->regions[region].number) {
        const bus_item item = {
            .kind = BUS_ITEM_MOVED,
            .client_id = about->client_id,
            .generation = about->generation,
            .key = about->key,
            .region = number,
        };
        sim_send_item(sim, region, front, &item);
    }
}

static void begin_anew(sim_player* player)
{
    player->state.size = 0;
    player->queue.size = 0;
    player->queue_count = 0;
    player->received = 0;
    player->input = 0;
    player->told = 0;
    player->sent_told = 0;
    player->mark_count = 0;
    player->safe_received = 0;
    player->safe_told = 0;
    player->safe_input = 0;
}

// The older connection of this player, or of another one with this entity, ends.
static void replace_older(ph_bus_sim* sim, sim_player* older, const char* front,
                          uint64_t generation)
{
    if (older->front[0] != '\0' && strcmp(older->front, front) != 0) {
        bus_item about = sim_item_of(older, BUS_ITEM_REFUSED);
        about.generation = generation;
        sim_send_refused(sim, older->region, older->front, &about,
                         "a newer connection has taken over");
    }
}

static sim_player* player_to_attach(ph_bus_sim* sim, sim_region* region, const bus_item* item,
                                    const char* front)
{
    sim_player* player = sim_find_player(sim, region, item->client_id);
    sim_player* other = sim_player_of_key(sim, region, item->key);
    sim_player* const ends[] = {player != NULL && player->key != item->key ? player : NULL,
                                other != player ? other : NULL};
    for (int i = 0; i < 2; ++i) {
        if (ends[i] != NULL) {
            replace_older(sim, ends[i], front, item->generation);
            if (ends[i]->front[0] != '\0') {
                sim_player_event(sim, ends[i], PH_BUS_PLAYER_DETACHED, false);
            }
            sim_note_ended(
                sim, &(sim_ended){.client_id = ends[i]->client_id, .region = ends[i]->region});
            sim_remove_player(sim, ends[i]);
        }
    }
    return sim_find_player(sim, region, item->client_id);
}

static bool is_allowed(ph_bus_sim* sim, const bus_item* item, ph_entity_id entity,
                       ph_bus_view* view)
{
    *view = (ph_bus_view){.sees = UINT32_MAX};
    return sim->def.on_attach == NULL ||
           sim->def.on_attach(sim->def.on_attach_context, item->client_id, item->key, entity, view);
}

static void attach(ph_bus_sim* sim, sim_region* region, const bus_item* item, const char* front)
{
    const int index = sim_region_index(sim, region);
    sim_player* known = sim_find_player(sim, region, item->client_id);
    if (known != NULL && known->generation == item->generation && known->key == item->key &&
        strcmp(known->front, front) == 0) {
        known->answers = true; // asked again
        sim->has_attached = true;
        known->is_dirty = true;
        return;
    }
    const sim_player* rival = sim_player_of_key(sim, region, item->key);
    ph_bus_view view;
    if ((known != NULL && known->generation >= item->generation) ||
        (rival != NULL && rival->generation >= item->generation)) {
        bus_item about = *item;
        about.generation = known != NULL ? known->generation : rival->generation;
        ++sim->stats.refused_attaches;
        sim_send_refused(sim, index, front, &about, "a newer connection has taken over");
        return;
    }
    if (!is_allowed(sim, item, ph_world_find(sim->world, item->key), &view)) {
        ++sim->stats.refused_attaches;
        sim_send_refused(sim, index, front, item, "the game does not let it in");
        return;
    }
    sim_player* player = player_to_attach(sim, region, item, front);
    const bool is_new = player == NULL || item->is_anew;
    if (player == NULL) {
        player = sim_add_player(sim, region, item->client_id, item->key);
    }
    if (player == NULL) {
        ++sim->stats.refused_attaches;
        sim_send_refused(sim, index, front, item, "there is no room");
        return;
    }
    const bool was_attached = player->front[0] != '\0';
    replace_older(sim, player, front, item->generation);
    if (is_new) {
        if (was_attached) {
            sim_player_event(sim, player, PH_BUS_PLAYER_DETACHED, false);
        }
        begin_anew(player);
    }
    player->generation = item->generation;
    player->sees = view.sees;
    player->audience = view.audience;
    memcpy(player->front, front, strlen(front) + 1);
    player->sent_told = player->told;
    player->own_us = 0;
    player->answers = true;
    sim->has_attached = true;
    player->is_dirty = true;
    if (is_new || !was_attached) {
        sim_player_event(sim, player, PH_BUS_PLAYER_ATTACHED, is_new);
    }
}

static void detach(ph_bus_sim* sim, sim_player* player)
{
    sim_player_event(sim, player, PH_BUS_PLAYER_DETACHED, false);
    player->front[0] = '\0';
    player->detached_us = sim->now_us;
    player->is_dirty = true;
}

// ---- data

static void drop_told(sim_player* player, uint64_t told)
{
    const uint8_t* rest = player->queue.bytes;
    size_t rest_size = player->queue.size;
    const uint8_t* bytes;
    size_t size;
    while (player->told < told && bus_next_message(&rest, &rest_size, &bytes, &size)) {
        ++player->told;
        --player->queue_count;
    }
    if (rest_size > 0) {
        memmove(player->queue.bytes, rest, rest_size);
    }
    player->queue.size = rest_size;
}

static void take_messages(ph_bus_sim* sim, sim_player* player, const bus_item* item)
{
    const uint8_t* rest = item->bytes;
    size_t rest_size = item->size;
    const uint8_t* bytes;
    size_t size;
    uint64_t number = item->first;
    for (; bus_next_message(&rest, &rest_size, &bytes, &size); ++number) {
        if (number <= player->received) {
            ++sim->stats.repeated_messages;
            continue;
        }
        const ph_bus_event event = {
            .kind = PH_BUS_PLAYER_MESSAGE,
            .region = sim->regions[player->region].number,
            .entity = ph_world_find(sim->world, player->key),
            .key = player->key,
            .client_id = player->client_id,
            .number = number,
            .bytes = bytes,
            .size = size,
        };
        if (number != player->received + 1 || !sim_push_event(sim, &event)) {
            return; // the rest comes again
        }
        player->received = number;
        player->has_effects = true;
        ++sim->stats.received_messages;
    }
}

static void take_input(ph_bus_sim* sim, sim_player* player, const bus_item* item)
{
    const ph_bus_event event = {
        .kind = PH_BUS_PLAYER_INPUT,
        .region = sim->regions[player->region].number,
        .entity = ph_world_find(sim->world, player->key),
        .key = player->key,
        .client_id = player->client_id,
        .number = item->input,
        .bytes = item->input_bytes,
        .size = item->input_size,
    };
    if (item->input > player->input && sim_push_event(sim, &event)) {
        player->input = item->input;
        player->has_news = true;
        ++sim->stats.received_inputs;
    }
}

// The state of the front-end's end belongs to the messages that it has taken in: with a hole before them, or when a
// copy comes late, it would lose some, or go back behind what was confirmed.
static void take_data(ph_bus_sim* sim, sim_player* player, const bus_item* item)
{
    const uint64_t newest_told = player->told + (uint64_t)player->queue_count;
    if (item->told > newest_told || item->state_size > SIM_STATE_BYTES_MAX) {
        sim_refuse(sim, PH_BUS_REFUSAL_FIELD);
        return;
    }
    take_messages(sim, player, item);
    take_input(sim, player, item);
    if (item->state_size > 0 && item->first + item->count - 1 == player->received &&
        item->told >= player->told &&
        sim_bytes_set(sim, &player->state, item->state, item->state_size)) {
        drop_told(player, item->told);
    }
    player->is_dirty = true;
    player->confirms = true;
}

static void take_up_item(ph_bus_sim* sim, sim_region* region, const bus_item* item,
                         const char* front)
{
    const int index = sim_region_index(sim, region);
    sim_player* player = sim_find_player(sim, region, item->client_id);
    const sim_filed* filed = sim_find_filed(sim, item->key);
    const bool is_here = filed != NULL && filed->region == index;
    if (is_here && filed->to_region != PH_REGION_NONE) {
        return; // it is being handed over: they ask again
    }
    if (item->kind == BUS_ITEM_ATTACH && is_here) {
        attach(sim, region, item, front);
        return;
    }
    if (player == NULL || player->key != item->key || item->kind == BUS_ITEM_ATTACH ||
        (filed != NULL && !is_here)) {
        send_elsewhere(sim, index, front, item);
        return;
    }
    if (item->generation < player->generation) {
        const bus_item about = sim_item_of(player, BUS_ITEM_REFUSED);
        sim_send_refused(sim, index, front, &about, "a newer connection has taken over");
        return;
    }
    if (item->generation > player->generation || strcmp(player->front, front) != 0) {
        sim->stats.refused[PH_BUS_REFUSAL_UNASKED] += item->kind != BUS_ITEM_DETACH;
        return;
    }
    if (item->kind == BUS_ITEM_DETACH) {
        detach(sim, player);
    } else {
        take_data(sim, player, item);
    }
}

void sim_take_up(ph_bus_sim* sim, const ph_bus_message* message)
{
    bus_items head;
    ph_bus_refusal refusal;
    if (!bus_read_items(&head, message->bytes, message->size, &refusal)) {
        sim_refuse(sim, refusal);
        return;
    }
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_region(subject, "in", sim->world_name, head.region);
    if (head.kind != BUS_UP || strcmp(subject, message->subject) != 0) {
        sim_refuse(sim, PH_BUS_REFUSAL_SUBJECT);
        return;
    }
    sim_region* region = sim_find_region(sim, head.region);
    if (region == NULL || region->state != SIM_OWNER) {
        return;
    }
    bus_item item;
    while (bus_next_item(&head, &item)) {
        take_up_item(sim, region, &item, head.name);
    }
}

void sim_take_find(ph_bus_sim* sim, const ph_bus_message* message)
{
    bus_find find;
    ph_bus_refusal refusal;
    if (!bus_read_find(&find, message->bytes, message->size, &refusal)) {
        sim_refuse(sim, refusal);
        return;
    }
    const sim_filed* filed = sim_find_filed(sim, find.key);
    sim_place place;
    if (filed == NULL || filed->to_region != PH_REGION_NONE ||
        sim->regions[filed->region].state != SIM_OWNER ||
        !sim_place_of(sim, filed->entity, &place)) {
        return;
    }
    const sim_region* region = &sim->regions[filed->region];
    bus_found found = {.key = find.key, .region = region->number, .epoch = region->epoch};
    memcpy(found.place_mm, place.mm, sizeof found.place_mm);
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_to(subject, sim->world_name, find.reply_to);
    bus_write_found(&sim->writer, &found);
    sim_send(sim, subject);
}

// ---- the game's calls

static sim_player* find_attached(ph_bus_sim* sim, uint64_t client_id)
{
    for (int r = 0; r < sim->region_count; ++r) {
        const sim_region* region = &sim->regions[r];
        sim_player* player = sim_find_player(sim, region, client_id);
        if (region->state == SIM_OWNER && player != NULL && player->front[0] != '\0' &&
            !sim_player_is_frozen(sim, player)) {
            return player;
        }
    }
    return NULL;
}

ph_result ph_bus_sim_tell(ph_bus_sim* sim, uint64_t client_id, const void* bytes, size_t size)
{
    const ph_check call = ph_check_begin(sim->def.on_error, sim->def.on_error_context, __func__);
    if (size < 1 || size > PH_MESSAGE_SIZE_MAX) {
        return ph_fail(&call, PH_ERROR_ARGUMENT, "size", "is %zu; it must be 1..%d", size,
                       PH_MESSAGE_SIZE_MAX);
    }
    sim_player* player = find_attached(sim, client_id);
    if (player == NULL) {
        return PH_ERROR_STALE;
    }
    if (player->queue_count >= sim->def.player_queue_messages ||
        !sim_bytes_reserve(sim, &player->queue, player->queue.size + 2 + size)) {
        return PH_ERROR_FULL;
    }
    uint8_t* to = player->queue.bytes + player->queue.size;
    to[0] = (uint8_t)size;
    to[1] = (uint8_t)(size >> 8);
    memcpy(to + 2, bytes, size);
    player->queue.size += 2 + size;
    ++player->queue_count;
    player->has_news = true;
    player->is_dirty = true;
    return PH_OK;
}

void ph_bus_sim_refuse(ph_bus_sim* sim, uint64_t client_id, const char* text)
{
    sim_player* player = find_attached(sim, client_id);
    if (player == NULL) {
        return;
    }
    const bus_item about = sim_item_of(player, BUS_ITEM_REFUSED);
    sim_send_refused(sim, player->region, player->front, &about, text != NULL ? text : "");
    sim_player_event(sim, player, PH_BUS_PLAYER_DETACHED, false);
    sim_note_ended(sim, &(sim_ended){.client_id = client_id, .region = player->region});
    sim_remove_player(sim, player);
}
