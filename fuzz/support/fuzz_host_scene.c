// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "support/fuzz_host_scene.h"

#include "net/host_state.h"
#include "net/netcode_packet.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVENTS_ALL = 1000,
    // The bucket of a budget is never smaller: the dearest enter, what is reserved beside it, headers.
    LEAST_BURST_BITS = 8 * 1800,
};

#define FIRST_UNIX_S UINT64_C(1700000000)

static const char SCHEMA[] = "class thing\n    place: position\n    mood: range 0..99\n"
                             "class sign\n    place: position\n    text: string 20\n";

static host_scene the_scene;

// ---- randomness: the same for the same input

static uint64_t random_state;

static uint32_t next_random(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 32);
}

static void fill_random(void* bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        ((uint8_t*)bytes)[i] = (uint8_t)next_random();
    }
}

static const char* random_name(void)
{
    return "fuzz_host";
}

static void begin_random(void)
{
    static randombytes_implementation own = {
        .implementation_name = random_name,
        .random = next_random,
        .buf = fill_random,
    };
    randombytes_set_implementation(&own);
    random_state = 1;
}

// ---- memory

static void* allocate(void* context, size_t size)
{
    host_memory* memory = context;
    if (memory->fail_in > 0 && --memory->fail_in == 0) {
        return NULL;
    }
    void* block = malloc(size);
    memory->live_blocks += block != NULL;
    return block;
}

static void release(void* context, void* block, size_t size)
{
    (void)size;
    host_memory* memory = context;
    --memory->live_blocks;
    free(block);
}

// ---- clock and network

static uint64_t now_us(void* context)
{
    return ((const host_scene*)context)->now_us;
}

static uint64_t unix_s(void* context)
{
    return ((const host_scene*)context)->unix_s;
}

// The host at 10.0.0.1, players at 10.0.0.2 and so on, the last of them an IPv6 address.
static ph_address address_of(int player)
{
    if (player == HOST_PLAYERS - 1) {
        const uint8_t bytes[16] = {0x20, 0x01, [15] = 1};
        return ph_address_make_ipv6(bytes, 50000);
    }
    const uint8_t bytes[4] = {10, 0, 0, (uint8_t)(2 + player)};
    return ph_address_make_ipv4(bytes, 50000);
}

ph_address host_scene_address(void)
{
    const uint8_t bytes[4] = {10, 0, 0, 1};
    return ph_address_make_ipv4(bytes, 40000);
}

static int player_at(const ph_address* address)
{
    for (int i = 0; i <= HOST_PLAYERS; ++i) {
        const ph_address other = address_of(i);
        if (ph_address_is_equal(address, &other)) {
            return i;
        }
    }
    fuzz_demand(false); // the host sends to no one it has not heard of
    return 0;
}

static void put(host_queue* queue, int player, const void* bytes, size_t size)
{
    if (queue->count == HOST_QUEUE) {
        return;
    }
    host_datagram* datagram = &queue->datagrams[queue->count++];
    datagram->player = player;
    datagram->size = size < HOST_ROOM ? size : HOST_ROOM;
    memcpy(datagram->bytes, bytes, datagram->size);
}

void host_scene_put_up(host_scene* it, int player, const void* bytes, size_t size)
{
    put(&it->up, player, bytes, size);
    if (size > 0 && it->up.count > 0) {
        it->kept[it->kept_count++ % HOST_KEPT] = it->up.datagrams[it->up.count - 1];
    }
}

static void forget_handed(host_scene* it)
{
    for (int i = 0; i < it->handed_count; ++i) {
        free(it->handed[i]);
    }
    it->handed_count = 0;
}

static void note_arrival(host_scene* it, const host_datagram* datagram)
{
    host_account* account = &it->accounts[datagram->player];
    ++it->received_count;
    account->bytes_from += datagram->size;
    account->has_responded |=
        datagram->size > 0 && (datagram->bytes[0] & 15) == PH_NETCODE_RESPONSE;
}

static int receive(void* context, ph_datagram* datagrams, int max)
{
    host_scene* it = context;
    forget_handed(it);
    const int count = it->up.count < max ? it->up.count : max;
    for (int i = 0; i < count; ++i) {
        const host_datagram* from = &it->up.datagrams[i];
        uint8_t* copy = malloc(from->size > 0 ? from->size : 1); // so that a step too far is seen
        memcpy(copy, from->bytes, from->size);
        it->handed[it->handed_count++] = copy;
        datagrams[i] = (ph_datagram){
            .peer = address_of(from->player),
            .bytes = copy,
            .size = from->size,
        };
        note_arrival(it, from);
    }
    it->up.count -= count;
    memmove(it->up.datagrams, it->up.datagrams + count,
            (size_t)it->up.count * sizeof *it->up.datagrams);
    return count;
}

// Every bit to an admitted client is within its budget: no more than rate x time + burst since it came.
static void judge_budget(host_scene* it, int player, const ph_datagram* datagram)
{
    const uint64_t header_bytes = datagram->peer.kind == PH_ADDRESS_IPV6 ? 48 : 28;
    for (int i = 0; i < HOST_CAPACITY; ++i) {
        host_client* client = &it->clients[i];
        if (!client->is_admitted || client->player != player || client->bits_per_second == 0) {
            continue;
        }
        client->wire_bits += 8 * (datagram->size + header_bytes);
        const uint64_t rate = (uint64_t)client->bits_per_second;
        uint64_t burst_bits = client->burst_bits > 0 ? (uint64_t)client->burst_bits : rate;
        burst_bits = burst_bits > LEAST_BURST_BITS ? burst_bits : LEAST_BURST_BITS;
        const uint64_t elapsed_us = it->now_us - client->admitted_us;
        fuzz_demand(client->wire_bits <= burst_bits + (rate * elapsed_us + 999999) / 1000000);
    }
}

// An unknown sender gets less than it sent; packets of a connection go where a response came from.
static void judge_sent(host_scene* it, const ph_datagram* datagram)
{
    const int index = player_at(&datagram->peer);
    host_account* account = &it->accounts[index];
    const int type = datagram->bytes[0] & 15;
    if (type == PH_NETCODE_DENIED || type == PH_NETCODE_CHALLENGE) {
        account->answer_bytes += datagram->size;
        fuzz_demand(account->answer_bytes < account->bytes_from);
        return;
    }
    fuzz_demand(type == PH_NETCODE_KEEP_ALIVE || type == PH_NETCODE_PAYLOAD ||
                type == PH_NETCODE_DISCONNECT);
    fuzz_demand(account->has_responded);
    if (type != PH_NETCODE_DISCONNECT) {
        judge_budget(it, index, datagram);
    }
}

static int send_all(void* context, const ph_datagram* datagrams, int count)
{
    host_scene* it = context;
    int sent = 0;
    for (int i = 0; i < count; ++i) {
        judge_sent(it, &datagrams[i]);
        if (it->refusals_left > 0) {
            --it->refusals_left;
            ++it->refused_count;
            continue;
        }
        ++sent;
        put(&it->down, player_at(&datagrams[i].peer), datagrams[i].bytes, datagrams[i].size);
    }
    it->sent_count += (uint64_t)sent;
    return sent;
}

// ---- opening

// Sends back what came, as `pinhole serve` does.
static void on_messages(void* context, int client, ph_messages* messages)
{
    const host_scene* it = context;
    fuzz_demand(it->clients[client].is_admitted);
    uint8_t message[PH_MESSAGE_SIZE_MAX];
    for (size_t size; (size = ph_messages_receive(messages, message)) > 0;) {
        (void)ph_messages_send(messages, message, size);
    }
    (void)ph_messages_set_processed_input(messages, ph_messages_newest_input(messages).number);
}

static void open_world(host_scene* it, fuzz_source* input)
{
    const ph_allocator allocator = {
        .allocate = allocate, .release = release, .context = &it->memory};
    fuzz_demand(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, &allocator, &it->schema, NULL) == PH_OK);
    ph_world_def def = ph_world_def_default();
    def.schema = it->schema;
    def.tick_us = HOST_TICK_US;
    it->profile = fuzz_take(input, 2) == 0 ? PH_PROFILE_PINHOLE : PH_PROFILE_CLASSIC;
    def.profile = it->profile;
    def.entity_capacity = HOST_ENTITIES;
    def.allocator = allocator;
    fuzz_demand(ph_world_create(&def, &it->world) == PH_OK);
    for (uint32_t i = 0; i < HOST_ENTITIES / 2; ++i) {
        const ph_spawn spawn = {
            .key = i,
            .class_index = (int)(i % 2),
            .position_mm = {(int32_t)i * 1000, 0, 0},
        };
        fuzz_demand(ph_world_spawn(it->world, &spawn, &it->entities[i]) == PH_OK);
    }
    ph_host_def host = ph_host_def_default();
    host.world = it->world;
    host.tick_us = HOST_TICK_US;
    host.listen_address = host_scene_address();
    host.protocol_id = HOST_PROTOCOL;
    memset(host.private_key, HOST_KEY_BYTE, sizeof host.private_key);
    host.client_capacity = HOST_CAPACITY;
    host.is_rate_fixed = fuzz_take(input, 2) == 1;
    host.on_messages = on_messages;
    host.on_messages_context = it;
    host.allocator = allocator;
    fuzz_demand(ph_host_open_simulated(&host, &it->simulation, &it->host) == PH_OK);
}

static void send_up(void* context, const ph_address* to, const void* bytes, size_t size)
{
    host_player* player = context;
    const ph_address host = host_scene_address();
    if (ph_address_is_equal(to, &host)) {
        host_scene_put_up(player->scene, player->index, bytes, size);
    }
}

host_scene* host_scene_open(fuzz_source* input)
{
    host_scene* it = &the_scene;
    begin_random();
    memset(it, 0, sizeof *it);
    it->now_us = 1000000;
    it->unix_s = FIRST_UNIX_S;
    it->simulation = (ph_net_simulation){
        .now_us = now_us,
        .unix_s = unix_s,
        .receive = receive,
        .send = send_all,
        .context = it,
    };
    open_world(it, input);
    for (int i = 0; i < HOST_PLAYERS; ++i) {
        host_player* player = &it->players[i];
        *player = (host_player){.scene = it, .index = i};
        ph_net_client_def def = ph_net_client_def_default();
        def.sink = (ph_net_sink){send_up, player};
        fuzz_demand(ph_net_client_create(&def, &player->net) == PH_OK);
    }
    return it;
}

void host_scene_close(host_scene* it)
{
    ph_host_stop(it->host);
    it->is_stopped = true;
    host_scene_take_events(it, EVENTS_ALL);
    for (int i = 0; i < HOST_CAPACITY; ++i) {
        fuzz_demand(!it->clients[i].is_connected && !it->clients[i].is_admitted);
    }
    host_scene_judge(it);
    host_scene_validate(it);
    fuzz_demand(ph_host_client_count(it->host) == 0);
    const uint64_t sent = it->sent_count + it->refused_count;
    host_scene_cycle(it); // a stopped host says nothing
    fuzz_demand(it->sent_count + it->refused_count == sent);
    ph_host_close(it->host);
    ph_world_destroy(it->world);
    for (int i = 0; i < HOST_PLAYERS; ++i) {
        host_player_end(&it->players[i]);
    }
    ph_schema_destroy(it->schema);
    forget_handed(it);
    fuzz_demand(it->memory.live_blocks == 0);
}

// ---- the host's turn

static ph_viewer_def viewer_of(const host_scene* it)
{
    static const int rates[] = {13000, 0, 1000, 100000};
    static const double sends[] = {0.0, PH_SENDS_AUTO, 20.0, 1.0};
    ph_viewer_def def = ph_viewer_def_default();
    def.visible_max = HOST_SLOTS / 2;
    def.slot_count = HOST_SLOTS;
    def.bits_per_second = rates[it->admit_mode % 4];
    def.sends_per_second = sends[it->admit_mode / 4 % 4];
    def.burst_bits = it->admit_mode % 3 == 2 ? 20000 : 0;
    return def;
}

// @return Whether it may be admitted.
static bool note_connected(host_scene* it, const ph_net_event* event)
{
    host_client* client = &it->clients[event->client];
    fuzz_demand(!client->is_connected && !client->is_admitted);
    ph_net_client_info info;
    const bool is_there = ph_host_get_client(it->host, event->client, &info);
    *client = (host_client){.is_connected = true, .player = HOST_PLAYERS};
    if (is_there) {
        client->player = player_at(&info.address);
        fuzz_demand(info.client_id == event->client_id && client->player < HOST_PLAYERS);
        fuzz_demand(event->user_data[0] == client->player); // who used it is who it was made for
    }
    return is_there;
}

static void admit(host_scene* it, int client)
{
    const ph_viewer_def def = viewer_of(it);
    it->memory.fail_in = it->admit_fail_in;
    const ph_result result = ph_host_admit(it->host, client, &def, NULL);
    it->memory.fail_in = 0;
    const bool has_failed = it->admit_fail_in != 0 && result == PH_ERROR_MEMORY;
    fuzz_demand(result == PH_OK || has_failed);
    it->admit_fail_in = 0;
    it->clients[client].is_admitted = result == PH_OK;
    it->clients[client].admitted_us = it->now_us;
    it->clients[client].bits_per_second = def.bits_per_second;
    it->clients[client].burst_bits = def.burst_bits;
}

void host_scene_take_events(host_scene* it, int most)
{
    ph_net_event event;
    for (int i = 0; i < most && ph_host_next_event(it->host, &event); ++i) {
        fuzz_demand(event.client >= 0 && event.client < HOST_CAPACITY);
        host_client* client = &it->clients[event.client];
        if (event.kind == PH_NET_DISCONNECTED) {
            fuzz_demand(client->is_connected);
            *client = (host_client){0};
        } else if (note_connected(it, &event) && it->admit_mode != 16) {
            admit(it, event.client);
        } else if (it->admit_mode == 16) {
            ph_host_disconnect(it->host, event.client);
        }
    }
}

void host_scene_receive(host_scene* it)
{
    ph_host_receive(it->host, it->now_us);
}

void host_scene_cycle(host_scene* it)
{
    host_scene_receive(it);
    ph_host_tick(it->host);
    host_scene_take_events(it, EVENTS_ALL);
    ph_world_tick(it->world);
    ph_host_send(it->host, UINT64_MAX);
}

// ---- what must be true

static void judge_counts(const host_scene* it, const ph_host_stats* stats)
{
    uint64_t ended = 0;
    for (int i = 0; i < PH_NET_END_COUNT; ++i) {
        ended += stats->net.disconnected_clients[i];
    }
    fuzz_demand(stats->net.connected_clients == ended + (uint64_t)stats->net.client_count);
    fuzz_demand(stats->net.client_count >= 0 && stats->net.client_count <= HOST_CAPACITY);
    fuzz_demand(stats->net.received_datagrams == it->received_count);
    fuzz_demand(stats->socket.received_datagrams == it->received_count);
    fuzz_demand(stats->socket.sent_datagrams == it->sent_count);
    fuzz_demand(stats->socket.unsent_datagrams == it->refused_count);
    fuzz_demand(stats->net.sent_datagrams == it->sent_count + it->refused_count);
    fuzz_demand(stats->over_budget_datagrams == 0);
}

void host_scene_validate(const host_scene* it)
{
    fuzz_demand(ph_net_server_validate(it->host->server));
}

void host_scene_judge(host_scene* it)
{
    const ph_host_stats stats = ph_host_get_stats(it->host);
    judge_counts(it, &stats);
    int admitted = 0;
    for (int i = 0; i < HOST_CAPACITY; ++i) {
        const host_client* client = &it->clients[i];
        admitted += client->is_admitted;
        fuzz_demand(client->is_connected || !client->is_admitted);
        fuzz_demand((ph_host_viewer(it->host, i).index1 != 0) == client->is_admitted);
    }
    fuzz_demand(ph_host_client_count(it->host) == admitted);
    for (int i = 0; i < admitted; ++i) {
        fuzz_demand(it->clients[ph_host_client_at(it->host, i)].is_admitted);
    }
}
