// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The players of a front: from the connection to the sim that owns their entity, and until they have left.
//
//   connected ── ATTACH ──▶ attaching ── ATTACHED ──▶ attached ── disconnected ──▶ leaving (DETACH)
//                              │ FIND, FOUND: where is it?  │ REFUSED by a higher generation
//                              ▼                            ▼
//                           refused                        over: another front has it; the client leaves by itself
//
// Everything that is sent may be lost and is sent again. A player's viewer follows its entity when that is in the local
// world, and stands where the sim says as long as it is not. Its cells are chosen anew when it has moved; to see that,
// a part of the players is looked at in each tick.

#include "bus/front_state.h"

#include <inttypes.h>
#include <string.h>

enum { FOLLOW_TICKS = 8, DETACH_COUNT = 3, UP_FLUSH_BYTES = 48 * 1024, UPS_MAX = 64 };

// How long a client may stay that another front has by now.
#define OVER_US 15000000

// ---- the table

bool front_players_create(ph_bus_front* front)
{
    if (front->def.host == NULL) {
        return true;
    }
    front->client_capacity = PH_NET_CLIENTS_MAX;
    front->player_of_client = ph_allocate_zeroed(
        &front->allocator, (size_t)front->client_capacity * sizeof *front->player_of_client);
    return front->player_of_client != NULL &&
           ph_hash_map_create(&front->player_map, &front->allocator, 64, 5) == PH_OK &&
           ph_hash_map_create(&front->key_map, &front->allocator, 64, 6) == PH_OK;
}

void front_players_destroy(ph_bus_front* front)
{
    const ph_allocator* allocator = &front->allocator;
    for (int i = 0; i < front->player_count; ++i) {
        front_session_destroy(front, &front->players[i]);
        front_interest_destroy(front, &front->players[i].interest);
        front_token_release(front, &front->players[i]);
    }
    for (int i = 0; i < front->up_count; ++i) {
        bus_writer_destroy(&front->ups[i].writer);
    }
    ph_release_array(allocator, front->players, (size_t)front->player_capacity,
                     sizeof *front->players);
    ph_release_array(allocator, front->player_of_client, (size_t)front->client_capacity,
                     sizeof *front->player_of_client);
    ph_release_array(allocator, front->arrived, (size_t)front->arrived_capacity,
                     sizeof *front->arrived);
    ph_release_array(allocator, front->ups, (size_t)front->up_capacity, sizeof *front->ups);
    ph_release(allocator, front->state, front->state_capacity);
    ph_hash_map_destroy(&front->player_map);
    ph_hash_map_destroy(&front->key_map);
}

front_player* front_find_player(ph_bus_front* front, uint64_t client_id)
{
    uint32_t place;
    return front->def.host != NULL && ph_hash_map_try_find(&front->player_map, client_id, &place)
               ? &front->players[place]
               : NULL;
}

static front_player* player_of(ph_bus_front* front, int client)
{
    const int place1 =
        client >= 0 && client < front->client_capacity ? front->player_of_client[client] : 0;
    return place1 != 0 ? &front->players[place1 - 1] : NULL;
}

static void free_player(ph_bus_front* front, front_player* player)
{
    const uint32_t place = (uint32_t)(player - front->players);
    uint32_t found;
    if (ph_hash_map_try_find(&front->player_map, player->client_id, &found) && found == place) {
        ph_hash_map_remove(&front->player_map, player->client_id);
    }
    if (ph_hash_map_try_find(&front->key_map, player->key, &found) && found == place) {
        ph_hash_map_remove(&front->key_map, player->key);
    }
    front_token_release(front, player);
    // Buffers stay with the place.
    const front_player kept = {
        .up = {player->up.bytes, 0, player->up.capacity},
        .down = {player->down.bytes, 0, player->down.capacity},
        .interest = {.cells = player->interest.cells,
                     .cell_capacity = player->interest.cell_capacity},
        .client = (int)front->free_player1,
    };
    *player = kept;
    front->free_player1 = place + 1;
}

static front_player* take_place(ph_bus_front* front)
{
    if (front->free_player1 != 0) {
        front_player* player = &front->players[front->free_player1 - 1];
        front->free_player1 = (uint32_t)player->client;
        return player;
    }
    if (!front_grow(front, (void**)&front->players, &front->player_capacity,
                    front->player_count + 1, sizeof *front->players)) {
        return NULL;
    }
    front->players[front->player_count] = (front_player){0};
    return &front->players[front->player_count++];
}

static front_player* make_player(ph_bus_front* front, const ph_net_event* event,
                                 const ph_ticket* ticket)
{
    if (event->client < 0 || event->client >= front->client_capacity ||
        !front_grow_map(&front->player_map) || !front_grow_map(&front->key_map)) {
        return NULL;
    }
    front_player* before = front_find_player(front, event->client_id);
    if (before != NULL && before->state == PLAYER_LEAVING) {
        free_player(front, before);
    }
    front_player* player = take_place(front);
    if (player == NULL) {
        return NULL;
    }
    const uint32_t place = (uint32_t)(player - front->players);
    player->state = PLAYER_ATTACHING;
    player->client = event->client;
    player->client_id = event->client_id;
    player->generation = ticket->generation;
    player->key = ticket->key;
    player->region = ticket->region;
    player->is_spare = ticket->is_spare;
    player->since_us = front->now_us;
    front->player_of_client[event->client] = (int)place + 1;
    ph_hash_map_insert(&front->player_map, player->client_id, place);
    ph_hash_map_insert(&front->key_map, player->key, place);
    return player;
}

// ---- what is said to sims

static void flush_up(ph_bus_front* front, front_up* up)
{
    const ph_bus_transport* transport = &front->def.transport;
    if (up->count > 0 && bus_items_end(&up->writer, up->count)) {
        char subject[PH_BUS_SUBJECT_MAX];
        bus_subject_region(subject, "in", front->world_name, up->region);
        transport->publish(transport->context, subject, up->writer.bytes, up->writer.size);
    }
    up->count = 0;
}

void front_ups_flush(ph_bus_front* front)
{
    for (int i = 0; i < front->up_count; ++i) {
        flush_up(front, &front->ups[i]);
    }
}

static front_up* up_of(ph_bus_front* front, int region)
{
    front_up* idle = NULL;
    for (int i = 0; i < front->up_count; ++i) {
        if (front->ups[i].count > 0 && front->ups[i].region == region) {
            return &front->ups[i];
        }
        idle = front->ups[i].count == 0 && idle == NULL ? &front->ups[i] : idle;
    }
    if (idle == NULL && front->up_count < UPS_MAX &&
        front_grow(front, (void**)&front->ups, &front->up_capacity, front->up_count + 1,
                   sizeof *front->ups)) {
        idle = &front->ups[front->up_count++];
        *idle = (front_up){0};
        bus_writer_init(&idle->writer, &front->allocator);
    }
    if (idle == NULL && front->up_count > 0) {
        idle = &front->ups[region % front->up_count];
        flush_up(front, idle);
    }
    if (idle != NULL) {
        idle->region = region;
    }
    return idle;
}

static bool add_item(ph_bus_front* front, front_up* up, const bus_item* item)
{
    if (up->count == 0) {
        bus_items head = {.kind = BUS_UP, .region = up->region};
        memcpy(head.name, front->name, sizeof head.name);
        bus_writer_clear(&up->writer);
        bus_items_begin(&up->writer, &head);
    }
    if (!bus_items_add(&up->writer, item)) {
        return false;
    }
    ++up->count;
    return true;
}

void front_player_say(ph_bus_front* front, const front_player* player, const bus_item* item)
{
    bus_item whose = *item;
    whose.client_id = player->client_id;
    whose.generation = player->generation;
    whose.key = player->key;
    front_up* up = player->region != PH_REGION_NONE ? up_of(front, player->region) : NULL;
    if (up == NULL) {
        return;
    }
    if (!add_item(front, up, &whose) && up->count > 0) {
        flush_up(front, up);
        add_item(front, up, &whose);
    }
    if (up->writer.size >= UP_FLUSH_BYTES) {
        flush_up(front, up);
    }
}

void front_player_attach(ph_bus_front* front, front_player* player)
{
    front_player_say(front, player,
                     &(bus_item){.kind = BUS_ITEM_ATTACH, .is_anew = !player->is_spare});
    player->asked_us = front->now_us;
}

void front_player_find(ph_bus_front* front, front_player* player)
{
    bus_find message = {.key = player->key};
    memcpy(message.reply_to, front->name, sizeof message.reply_to);
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_world(subject, "find", front->world_name);
    bus_writer_clear(&front->writer);
    bus_write_find(&front->writer, &message);
    front_publish(front, subject);
    player->found_us = front->now_us;
}

void front_take_found(ph_bus_front* front, const ph_bus_message* message)
{
    bus_found found;
    ph_bus_refusal refusal;
    uint32_t place;
    if (!bus_read_found(&found, message->bytes, message->size, &refusal)) {
        front_refuse(front, refusal);
        return;
    }
    if (front->def.host == NULL || !ph_hash_map_try_find(&front->key_map, found.key, &place) ||
        front->players[place].found_us == 0) {
        front_refuse(front, PH_BUS_REFUSAL_UNASKED);
        return;
    }
    front_player* player = &front->players[place];
    if (found.region == PH_REGION_NONE || !front_hear_epoch(front, found.region, found.epoch)) {
        return;
    }
    player->found_us = 0;
    player->region = found.region;
    if (player->state == PLAYER_ATTACHING) {
        front_player_attach(front, player);
    } else if (player->state == PLAYER_ATTACHED) {
        front_session_resend(front, player);
    }
}

// ---- coming and going

static bool get_position(const ph_bus_front* front, ph_entity_id entity, int64_t place_mm[3])
{
    int class_index;
    return ph_world_identify(front->def.world, entity, NULL, &class_index) == PH_OK &&
           ph_world_get_property(front->def.world, entity, front->position_property[class_index],
                                 PH_FIELD_I64X3, place_mm, 3 * sizeof *place_mm) == PH_OK;
}

static void say_leaving(ph_bus_front* front, front_player* player)
{
    if (player->up.size > 0) {
        front_session_resend(front, player);
    }
    front_player_say(front, player, &(bus_item){.kind = BUS_ITEM_DETACH});
    player->asked_us = front->now_us;
    ++player->tries;
}

// No cell brings what has come to this player alone, and so none takes it away. It may be on a cell's channel by now.
static void remove_own(ph_bus_front* front, const front_player* player)
{
    int64_t place_mm[3];
    const ph_entity_id entity = ph_world_find(front->def.world, player->key);
    if (player->has_own_batch && get_position(front, entity, place_mm)) {
        ph_world_despawn(front->def.world, entity);
        front_doubt_cell(
            front, ph_cell_at((int32_t)place_mm[0], (int32_t)place_mm[1], front->def.cell_mm));
        front_doubt_cell(front, PH_CELL_EVERYWHERE);
    }
}

static void leave(ph_bus_front* front, front_player* player)
{
    front->player_of_client[player->client] = 0;
    player->client = -1;
    remove_own(front, player);
    front_interest_clear(front, &player->interest);
    if (player->state == PLAYER_OVER) {
        free_player(front, player);
        return;
    }
    player->state = PLAYER_LEAVING;
    player->since_us = front->now_us;
    player->tries = 0;
    say_leaving(front, player);
}

bool front_players_take(ph_bus_front* front, const ph_net_event* event)
{
    if (event->kind == PH_NET_DISCONNECTED) {
        front_player* gone = player_of(front, event->client);
        if (gone != NULL) {
            leave(front, gone);
        }
        return gone != NULL;
    }
    ph_ticket ticket;
    if (!ph_ticket_read(&ticket, event->user_data)) {
        return false;
    }
    front_player* player = make_player(front, event, &ticket);
    if (player == NULL) {
        ph_host_refuse(front->def.host, event->client, "the server has no memory left");
        ++front->stats.refused_players;
        return true;
    }
    if (player->region == PH_REGION_NONE) {
        front_player_find(front, player);
        player->asked_us = front->now_us;
    } else {
        front_player_attach(front, player);
        front_ups_flush(front); // the tick may be far
    }
    return true;
}

void front_player_refuse(ph_bus_front* front, front_player* player, const char* text)
{
    player->state = PLAYER_REFUSED;
    player->since_us = front->now_us;
    ++front->stats.refused_players;
    ph_host_refuse(front->def.host, player->client, text);
}

// ---- following the entity

static void find_entity(ph_bus_front* front, front_player* player, ph_viewer_id viewer)
{
    player->entity = ph_world_find(front->def.world, player->key);
    if (player->entity.index1 != 0) {
        ph_viewer_set_entity(front->def.world, viewer, player->entity);
        player->had_entity = true;
        player->is_asked_again = false;
    } else if (player->had_entity && !player->is_asked_again) {
        // It may have gone with a cell that was left while it is on a hidden channel: the sim tells it again.
        player->is_asked_again = true;
        front_player_attach(front, player);
    }
}

void front_player_follow(ph_bus_front* front, front_player* player)
{
    const ph_viewer_id viewer = ph_host_viewer(front->def.host, player->client);
    if (viewer.index1 == 0) {
        return;
    }
    if (!ph_world_is_alive(front->def.world, player->entity)) {
        find_entity(front, player, viewer);
    }
    if (player->entity.index1 != 0) {
        get_position(front, player->entity, player->place_mm);
    } else {
        ph_viewer_set_eye(front->def.world, viewer, player->place_mm[0], player->place_mm[1],
                          player->place_mm[2]);
    }
    front_interest_place(front, &player->interest, (int32_t)player->place_mm[0],
                         (int32_t)player->place_mm[1]);
}

void front_players_see(ph_bus_front* front, uint64_t key)
{
    uint32_t place;
    if (front->def.host != NULL && ph_hash_map_try_find(&front->key_map, key, &place) &&
        front_grow(front, (void**)&front->arrived, &front->arrived_capacity,
                   front->arrived_count + 1, sizeof *front->arrived)) {
        front->arrived[front->arrived_count++] = place;
    }
}

static void follow_arrived(ph_bus_front* front)
{
    for (int i = 0; i < front->arrived_count; ++i) {
        front_player* player = &front->players[front->arrived[i]];
        if (player->state == PLAYER_ATTACHED || player->state == PLAYER_OVER) {
            front_player_follow(front, player);
        }
    }
    front->arrived_count = 0;
}

// ---- a tick

// A world of another name is the usual mistake, and looks like this alone.
static void tell_of_silence(ph_bus_front* front, uint64_t key)
{
    if (!front->has_told_silence) {
        const ph_check call =
            ph_check_begin(front->def.on_error, front->def.on_error_context, "ph_bus_front_tick");
        ph_fail(
            &call, PH_ERROR_STALE, NULL,
            "no sim of the world %s has answered for the entity %" PRIu64
            "; one must run, with this world_name, and own an entity with the key of the ticket",
            front->world_name, key);
        front->has_told_silence = true;
    }
}

static void tick_attaching(ph_bus_front* front, front_player* player)
{
    if (front->now_us - player->since_us >= (uint64_t)front->def.attach_ms * 1000) {
        tell_of_silence(front, player->key);
        front_player_refuse(front, player, "the world does not answer");
    } else if (front->now_us - player->asked_us >= FRONT_RESEND_US) {
        ++front->stats.resent;
        front_player_find(front, player);
        front_player_attach(front, player);
    }
}

static void tick_leaving(ph_bus_front* front, front_player* player)
{
    if (front->now_us - player->asked_us < FRONT_RESEND_US) {
        return;
    }
    if (player->tries >= DETACH_COUNT) {
        free_player(front, player);
    } else {
        say_leaving(front, player);
    }
}

static void tick_player(ph_bus_front* front, front_player* player)
{
    switch (player->state) {
    case PLAYER_ATTACHING:
        tick_attaching(front, player);
        break;
    case PLAYER_ATTACHED:
        front_session_tick(front, player);
        break;
    case PLAYER_OVER:
        if (front->now_us - player->since_us >= OVER_US) {
            player->since_us = front->now_us;
            ph_host_disconnect(front->def.host, player->client);
        }
        break;
    case PLAYER_LEAVING:
        tick_leaving(front, player);
        break;
    case PLAYER_REFUSED:
    case PLAYER_NONE:
        break;
    }
}

void front_players_tick(ph_bus_front* front)
{
    follow_arrived(front);
    front->player_sweep = (front->player_sweep + 1) % FOLLOW_TICKS;
    for (int i = 0; i < front->player_count; ++i) {
        front_player* player = &front->players[i];
        tick_player(front, player);
        if (i % FOLLOW_TICKS == front->player_sweep &&
            (player->state == PLAYER_ATTACHED || player->state == PLAYER_OVER)) {
            front_player_follow(front, player);
        }
    }
    front_ups_flush(front);
}
