// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A whole ph_host among players: real clients of ours with good and bad tokens, over a network that loses,
// doubles, swaps, damages and replays; some of them lie. The input is a list of what happens. Time is
// simulated: the clock of the connections leaps forward but never back (the contract of now_us), the time
// of day leaps both ways. After each step the host's tables are sound and its counts agree with what passed
// (fuzz_host_scene.c); every bit is within its budget; in the end each connection that was reported has its
// end reported, and nothing is left in memory.

#include "support/fuzz_host_scene.h"

#include "net/netcode_packet.h"

#include <string.h>

enum { STEPS_MAX = 150, VALIDATE_EVERY = 16 };

static void step_run(host_scene* it, fuzz_source* input)
{
    for (uint32_t left = 1 + fuzz_take(input, 8); left > 0; --left) {
        it->now_us += HOST_TICK_US;
        host_scene_pump(it);
        host_scene_cycle(it);
    }
}

static void step_part(host_scene* it, fuzz_source* input)
{
    switch (fuzz_take(input, 6)) {
    case 0:
        host_scene_receive(it);
        break;
    case 1:
        ph_host_tick(it->host);
        break;
    case 2:
        host_scene_take_events(it, 1);
        break;
    case 3:
        ph_world_tick(it->world);
        break;
    case 4:
        ph_host_send(it->host, 0); // late: the first group of clients alone
        break;
    default:
        host_scene_pump(it);
        break;
    }
}

static void step_time(host_scene* it, fuzz_source* input)
{
    static const uint64_t leaps_us[] = {1000, 10000, 1000000, 60000000, 3600000000, 86400000000};
    static const uint64_t leaps_s[] = {1, 20, 60, 86400};
    const uint32_t count = fuzz_take(input, 32);
    it->now_us += count * leaps_us[fuzz_take(input, 6)];
    const uint32_t direction = fuzz_take(input, 4);
    const uint64_t day_s = count * leaps_s[fuzz_take(input, 4)];
    it->unix_s += direction == 1 ? day_s : 0;
    it->unix_s -= direction == 2 ? day_s : 0;
}

static void step_connect(host_scene* it, fuzz_source* input)
{
    host_player* player = &it->players[fuzz_take(input, HOST_PLAYERS)];
    const uint32_t variant = fuzz_take(input, 10);
    if (variant == 9 && player->tokens_made > 0) {
        host_player_use_token(player);
    } else {
        host_player_connect(player, variant);
    }
}

// ---- the network

static void swap(host_datagram* a, host_datagram* b)
{
    static host_datagram kept;
    kept = *a;
    *a = *b;
    *b = kept;
}

static void step_network(host_scene* it, fuzz_source* input)
{
    host_queue* queue = fuzz_take(input, 2) == 0 ? &it->up : &it->down;
    const uint32_t action = fuzz_take(input, 6);
    if (queue->count == 0) {
        return;
    }
    host_datagram* datagram = &queue->datagrams[fuzz_take(input, (uint32_t)queue->count)];
    host_datagram* last = &queue->datagrams[queue->count - 1];
    switch (action) {
    case 0: // lost
        *datagram = *last;
        --queue->count;
        break;
    case 1: // all of them
        queue->count = 0;
        break;
    case 2: // doubled
        if (queue->count < HOST_QUEUE) {
            queue->datagrams[queue->count++] = *datagram;
        }
        break;
    case 3:
        swap(datagram, last);
        break;
    case 4: // damaged
        datagram->bytes[fuzz_take(input, 256) % HOST_ROOM] ^= (uint8_t)(1 + fuzz_take(input, 255));
        break;
    default: // cut, or with something behind it
        datagram->size = datagram->size + fuzz_take(input, 9) - 4;
        datagram->size = datagram->size <= HOST_ROOM ? datagram->size : 0;
        break;
    }
}

static void step_raw(host_scene* it, fuzz_source* input)
{
    const int from = (int)fuzz_take(input, HOST_PLAYERS + 1);
    size_t size = fuzz_take(input, 256) * (1 + fuzz_take(input, 5));
    size = size < input->left ? size : input->left;
    size = size < HOST_ROOM ? size : HOST_ROOM;
    host_scene_put_up(it, from, input->bytes, size);
    input->bytes += size;
    input->left -= size;
}

static void step_replay(host_scene* it, fuzz_source* input)
{
    const int kept_count = it->kept_count < HOST_KEPT ? it->kept_count : HOST_KEPT;
    if (kept_count == 0) {
        return;
    }
    const host_datagram datagram = it->kept[fuzz_take(input, (uint32_t)kept_count)];
    const int from =
        fuzz_take(input, 4) == 0 ? (int)fuzz_take(input, HOST_PLAYERS + 1) : datagram.player;
    host_scene_put_up(it, from, datagram.bytes, datagram.size);
}

// ---- the players, the game

static void send_message(host_player* player, fuzz_source* input)
{
    uint8_t message[PH_MESSAGE_SIZE_MAX] = {'p', (uint8_t)player->messages_sent,
                                            (uint8_t)(player->messages_sent >> 8)};
    const size_t size = 3 + 4 * fuzz_take(input, 256);
    if (ph_messages_send(player->messages, message,
                         size < sizeof message ? size : sizeof message) == PH_OK) {
        ++player->messages_sent;
    }
}

// Sealed as it should be, and nonsense.
static void send_lie(host_player* player, fuzz_source* input)
{
    uint8_t payload[PH_NETCODE_PAYLOAD_MAX];
    size_t size = 1 + fuzz_take(input, 256);
    size = size < input->left ? size : input->left;
    memcpy(payload, input->bytes, size);
    input->bytes += size;
    input->left -= size;
    if (size > 0 && ph_net_client_send(player->net, payload, size)) {
        player->is_honest = false;
    }
}

static void step_player(host_scene* it, fuzz_source* input)
{
    host_player* player = &it->players[fuzz_take(input, HOST_PLAYERS)];
    const uint32_t action = fuzz_take(input, 5);
    if (player->client == NULL) {
        return;
    }
    switch (action) {
    case 0:
        send_message(player, input);
        break;
    case 1: {
        uint8_t bytes[PH_INPUT_SIZE_MAX] = {1};
        ph_messages_set_input(player->messages, ++player->input_number, bytes,
                              fuzz_take(input, PH_INPUT_SIZE_MAX + 1));
        break;
    }
    case 2:
        send_lie(player, input);
        break;
    default:
        ph_net_client_disconnect(player->net);
        break;
    }
}

static void step_game(host_scene* it, fuzz_source* input)
{
    const int client = (int)fuzz_take(input, HOST_CAPACITY + 1);
    const ph_viewer_id viewer = ph_host_viewer(it->host, client);
    const ph_entity_id entity = it->entities[fuzz_take(input, HOST_ENTITIES)];
    switch (fuzz_take(input, 8)) {
    case 0:
        ph_host_disconnect(it->host, client);
        break;
    case 1: {
        const uint8_t message[200] = {'h'};
        ph_messages* messages = ph_host_messages(it->host, client);
        if (messages != NULL) {
            ph_messages_send(messages, message, 1 + fuzz_take(input, 200));
        }
        break;
    }
    case 2:
        ph_viewer_set_eye(it->world, viewer, (int64_t)fuzz_take(input, 256) * 2000, 0, 0);
        break;
    case 3:
        ph_viewer_set_entity(it->world, viewer, entity);
        break;
    case 4:
        ph_viewer_set_sees(it->world, viewer, fuzz_take(input, 4));
        break;
    case 5:
        it->admit_mode = (int)fuzz_take(input, 17);
        break;
    case 6:
        it->admit_fail_in = (int)fuzz_take(input, 64);
        break;
    default:
        it->refusals_left = (int)fuzz_take(input, 16);
        break;
    }
}

static void step_world(host_scene* it, fuzz_source* input)
{
    const uint32_t index = fuzz_take(input, HOST_ENTITIES);
    ph_entity_id* entity = &it->entities[index];
    const int64_t x_mm = (int64_t)fuzz_take(input, 256) * 3000 - 300000;
    const uint32_t value = fuzz_take(input, 100);
    switch (fuzz_take(input, 5)) {
    case 0: {
        const ph_spawn spawn = {
            .key = index,
            .class_index = (int)(value % 2),
            .position_mm = {x_mm, 0, 0},
            .seen_by = value % 4,
        };
        ph_entity_id spawned;
        if (ph_world_spawn(it->world, &spawn, &spawned) == PH_OK) {
            *entity = spawned;
        }
        break;
    }
    case 1:
        ph_world_despawn(it->world, *entity);
        break;
    case 2:
        ph_world_set_property(it->world, *entity, 1, PH_FIELD_U32, &value, sizeof value);
        break;
    case 3:
        ph_world_set_visibility(it->world, *entity, 1 + value % 3, value % 5 == 0, value % 7 == 0);
        break;
    default:
        ph_world_move(it->world, *entity, x_mm, value * 1000, 0);
        break;
    }
}

static void step(host_scene* it, fuzz_source* input)
{
    switch (fuzz_take(input, 13)) {
    case 0:
    case 1:
    case 2:
        step_run(it, input);
        break;
    case 3:
        step_part(it, input);
        break;
    case 4:
        step_time(it, input);
        break;
    case 5:
    case 6:
        step_connect(it, input);
        break;
    case 7:
        step_network(it, input);
        break;
    case 8:
        step_raw(it, input);
        break;
    case 9:
        step_replay(it, input);
        break;
    case 10:
        step_player(it, input);
        break;
    case 11:
        step_game(it, input);
        break;
    default:
        step_world(it, input);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_source input = {.bytes = data, .left = size};
    host_scene* it = host_scene_open(&input);
    for (int i = 0; i < STEPS_MAX && input.left > 0; ++i) {
        step(it, &input);
        host_scene_judge(it);
        if (i % VALIDATE_EVERY == 0) {
            host_scene_validate(it);
        }
    }
    host_scene_close(it);
    return 0;
}
