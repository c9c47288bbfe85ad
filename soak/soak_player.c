// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The clients' side: what connects, receives, acks, and what lies. Every datagram carries, behind its last
// byte, the step at which it was sent; that is the model's, and taken off before anything else sees it.

#include "soak/soak_stage.h"

#include "base/hash.h"
#include "kit/random.h"
#include "net/netcode_packet.h"

#include <string.h>

enum {
    TRAILER = 4,
    ROOM = PH_NETCODE_DATAGRAM_MAX + 1 + TRAILER,
    UP_STEPS = 3, // a client says something at least this often
    TIMEOUT_S = 5,
    LIFETIME_S = 30,
};

// ---- links

static void link_send(const soak_stage* stage, ph_link* link, const void* bytes, size_t size)
{
    uint8_t room[ROOM];
    memcpy(room, bytes, size);
    memcpy(room + size, &stage->step, TRAILER);
    ph_link_send(link, stage->now_us, room, size + TRAILER); // out of memory: it is lost
}

static size_t link_receive(const soak_stage* stage, ph_link* link, uint8_t room[ROOM],
                           int32_t* sent_step)
{
    const size_t size = link != NULL ? ph_link_receive(link, stage->now_us, room, ROOM) : 0;
    if (size == 0) {
        return 0;
    }
    memcpy(sent_step, room + size - TRAILER, TRAILER);
    return size - TRAILER;
}

void soak_player_set_network(soak_stage* stage, soak_player* player)
{
    if (!player->is_there) {
        return;
    }
    ph_link_def def = player->network;
    if (stage->is_calm) {
        def.loss = 0.0;
        def.duplication = 0.0;
        def.jitter_us = 0;
        def.delay_us = def.delay_us < 100000 ? def.delay_us : 100000;
    } else if (stage->step < player->parted_until) {
        def.loss = 1.0;
    }
    ph_link_change(player->down, &def);
    ph_link_change(player->up, &def);
}

// ---- coming

static ph_viewer_def draw_viewer(const soak_stage* stage, const soak_player* player, ph_rng* rng)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.radius_mm = ph_random_below(rng, stage->params.radius_max_mm + 1);
    def.visible_max = 1 + ph_random_below(rng, 60);
    def.slot_count = def.visible_max + 1 + ph_random_below(rng, 60);
    static const int rates[] = {3000, 8000, 13000, 26000, 64000, 300000};
    def.bits_per_second = rates[ph_rng_below(rng, 6)] + ph_random_below(rng, 999);
    if (player->is_direct && ph_rng_below(rng, 8) == 0) {
        def.bits_per_second = 0;
    }
    def.burst_bits = ph_rng_below(rng, 3) == 0 ? 0 : 12000 + ph_random_below(rng, 30000);
    def.overhead_bytes = player->is_direct ? ph_random_below(rng, 80) : 48;
    def.precision_mrad = ph_rng_below(rng, 2) == 0 ? 1.0 : ph_random_between(rng, 0, 20);
    static const int starves_ms[] = {200, 1000, 3000, 10000};
    def.max_starve_ms = starves_ms[ph_rng_below(rng, 4)];
    const uint64_t order = ph_rng_below(rng, 4);
    if (order > 0) {
        def.scheduler = order == 1   ? ph_scheduler_score()
                        : order == 2 ? ph_scheduler_buckets()
                                     : ph_scheduler_error();
    }
    def.sends_per_second = ph_rng_below(rng, 2) == 0 ? 0.0 : 2.0 + ph_random_below(rng, 20);
    def.sees = player->is_secret ? soak_secret_sees(stage)
                                 : 1 + (uint32_t)ph_rng_below(rng, SOAK_PUBLIC_MASK);
    def.audience = player->is_secret
                       ? 7u
                       : SOAK_AUDIENCE_ALL | (ph_rng_below(rng, 2) == 0 ? SOAK_AUDIENCE_SOME : 0u);
    def.session = (uint32_t)ph_rng_next(rng);
    return def;
}

static void draw_network(ph_rng* rng, uint64_t key, ph_link_def* network)
{
    *network = (ph_link_def){.key = key};
    if (ph_rng_below(rng, 3) == 0) {
        return;
    }
    network->delay_us = (uint32_t)ph_rng_below(rng, 200000);
    network->jitter_us = ph_rng_below(rng, 2) == 0 ? 0 : (uint32_t)ph_rng_below(rng, 200000);
    network->loss = ph_rng_below(rng, 2) == 0 ? 0.0 : ph_random_between(rng, 0, 0.5);
    network->duplication = ph_rng_below(rng, 2) == 0 ? 0.0 : ph_random_between(rng, 0, 0.4);
}

static void net_send(void* context, const ph_address* to, const void* bytes, size_t size);

typedef struct netcode_route {
    soak_stage* stage;
    soak_player* player;
} netcode_route;

static netcode_route routes[2][SOAK_PLAYERS_MAX]; // by twin; a sink has one pointer for both

static ph_result create_net(soak_stage* stage, soak_player* player)
{
    netcode_route* route = &routes[stage->has_secrets][player->index];
    *route = (netcode_route){stage, player};
    ph_net_client_def def = ph_net_client_def_default();
    def.sink = (ph_net_sink){net_send, route};
    def.allocator = soak_memory_allocator(&stage->client_memory);
    ph_result result = ph_net_client_create(&def, &player->net);
    if (result == PH_OK) {
        ph_messages_def messages = ph_messages_def_default();
        messages.bits_per_second = 0;
        messages.block_size_max = SOAK_BLOCK_MAX;
        messages.allocator = def.allocator;
        result = ph_messages_create(&messages, &player->messages);
    }
    return result;
}

static ph_result create_parts(soak_stage* stage, soak_player* player)
{
    ph_link_def link = player->network;
    link.allocator = soak_memory_allocator(&stage->client_memory);
    link.seed = stage->scenario->seed + (uint64_t)player->generation;
    link.key = 2 * (uint64_t)player->index;
    ph_result result = ph_link_create(&link, &player->down);
    link.key += 1;
    result = result == PH_OK ? ph_link_create(&link, &player->up) : result;
    ph_client_def def = ph_client_def_default();
    player->is_waiting = player->index % 2 != 0;
    def.reorder_wait_ms = player->is_waiting ? def.reorder_wait_ms : 0;
    def.schema = stage->schema.checked;
    def.profile = stage->params.profile;
    def.slot_capacity = SOAK_SLOTS_MAX;
    def.ground = soak_ground(stage);
    def.allocator = link.allocator;
    result = result == PH_OK ? ph_client_create(&def, &player->client) : result;
    return result == PH_OK && !player->is_direct ? create_net(stage, player) : result;
}

static void connect(soak_stage* stage, soak_player* player)
{
    const uint8_t address[4] = {198, 51, 100, (uint8_t)(1 + player->index)};
    player->address = ph_address_make_ipv4(address, (uint16_t)(1024 + player->generation));
    player->client_id = 1 + (uint64_t)player->index + 64 * (uint64_t)player->generation;
    ph_token_def def = ph_token_def_default();
    def.protocol_id = SOAK_PROTOCOL_ID;
    def.client_id = player->client_id;
    def.create_s = stage->unix_s;
    def.lifetime_s = LIFETIME_S;
    def.timeout_s = TIMEOUT_S;
    def.addresses[def.address_count++] = ph_host_public_address(stage->host);
    memset(def.private_key, SOAK_KEY_BYTE, sizeof def.private_key);
    uint8_t token[PH_TOKEN_SIZE];
    if (ph_token_write(&def, token) != PH_OK) {
        soak_fail(stage, SOAK_PROMISE_CALLS, "a token cannot be made");
        return;
    }
    ph_net_client_connect(player->net, token, sizeof token, stage->now_us);
}

// A viewer without a host: it is there at once.
static void add_direct(soak_stage* stage, soak_player* player)
{
    const uint64_t failures = stage->server_memory.failures;
    const ph_result result = ph_world_add_viewer(stage->world, &player->def, &player->viewer);
    player->is_admitted = result == PH_OK;
    soak_note_viewer(stage, player, result == PH_OK);
    if (result != PH_OK && stage->server_memory.failures == failures) {
        soak_fail(stage, SOAK_PROMISE_CALLS, "a viewer is refused: %s", ph_result_text(result));
    }
    if (result != PH_OK) {
        soak_player_end(stage, player);
        return;
    }
    player->sends_per_second = player->def.sends_per_second;
    player->next_send_us = stage->now_us;
    soak_meter_begin(
        &player->meter, player->def.bits_per_second,
        soak_meter_depth(stage, player, player->def.bits_per_second, player->def.burst_bits),
        stage->now_us);
}

void soak_player_join(soak_stage* stage, soak_player* player, uint64_t draw)
{
    if (player->is_there) {
        return;
    }
    ph_rng rng = ph_rng_make(draw);
    const int generation = player->generation + 1;
    const int index = player->index;
    const uint64_t digest = player->payload_digest;
    const uint64_t count = player->payload_count;
    *player = (soak_player){.index = index,
                            .is_direct = index >= SOAK_HOST_PLAYERS,
                            .is_secret = index >= SOAK_FIRST_SECRET_PLAYER,
                            .is_there = true,
                            .generation = generation,
                            .host_client = -1,
                            .own = -1,
                            .payload_digest = digest,
                            .payload_count = count,
                            .healthy_us = stage->now_us};
    for (int i = 0; i < SOAK_SLOTS_MAX; ++i) {
        player->known[i].entity = -1;
    }
    player->def = draw_viewer(stage, player, &rng);
    const int own = ph_random_below(&rng, stage->params.public_count);
    if (ph_rng_below(&rng, 3) > 0 && stage->entities[own].class_index >= 0 &&
        !stage->entities[own].is_disturbed) {
        player->own = own;
        player->own_incarnation = stage->entities[own].incarnation;
        player->def.entity = stage->entities[own].id;
        memcpy(player->eye_mm, stage->entities[own].mm, sizeof player->eye_mm);
    } else {
        for (int i = 0; i < 2; ++i) {
            const uint32_t place = (uint32_t)stage->params.origin_mm +
                                   (uint32_t)ph_random_below(&rng, stage->params.side_mm);
            player->eye_mm[i] = (int32_t)place;
        }
        memcpy(player->def.eye_mm, player->eye_mm, sizeof player->eye_mm);
    }
    draw_network(&rng, 0, &player->network);
    player->clock_us = (int64_t)ph_rng_below(&rng, 1000000000);
    if (create_parts(stage, player) != PH_OK) {
        soak_player_end(stage, player);
        return;
    }
    stage->keys = ph_random_part(stage->scenario->seed ^ draw, 4); // the same in both twins
    ++stage->result->connections;
    if (player->is_direct) {
        add_direct(stage, player);
    } else {
        connect(stage, player);
    }
}

void soak_player_end(soak_stage* stage, soak_player* player)
{
    if (player->is_direct && player->is_admitted) {
        ph_world_remove_viewer(stage->world, player->viewer);
        player->is_admitted = false;
    }
    ph_net_client_destroy(player->net);
    ph_messages_destroy(player->messages);
    ph_client_destroy(player->client);
    ph_link_destroy(player->down);
    ph_link_destroy(player->up);
    player->net = NULL;
    player->messages = NULL;
    player->client = NULL;
    player->down = NULL;
    player->up = NULL;
    player->is_there = false;
}

// ---- what the host says

static soak_player* find_player(soak_stage* stage, uint64_t client_id)
{
    for (int i = 0; i < SOAK_HOST_PLAYERS; ++i) {
        if (stage->players[i].client_id == client_id) {
            return &stage->players[i];
        }
    }
    return NULL;
}

void soak_player_admit(soak_stage* stage, int host_client, uint64_t client_id)
{
    soak_player* player = find_player(stage, client_id);
    if (player == NULL) {
        return; // one of an earlier connection, which is gone
    }
    player->host_client = host_client;
    if (player->own >= 0 && (stage->entities[player->own].incarnation != player->own_incarnation ||
                             stage->entities[player->own].class_index < 0)) {
        player->own = -1;
        player->def.entity = (ph_entity_id){0};
        memcpy(player->def.eye_mm, player->eye_mm, sizeof player->eye_mm);
    }
    const uint64_t failures = stage->server_memory.failures;
    stage->keys = ph_random_part(stage->scenario->seed ^ client_id, 5); // its session number
    ph_messages_def messages = ph_messages_def_default();
    messages.block_size_max = SOAK_BLOCK_MAX;
    const ph_result result = ph_host_admit(stage->host, host_client, &player->def, &messages);
    soak_note_viewer(stage, player, result == PH_OK);
    if (result == PH_OK) {
        player->is_admitted = true;
        player->viewer = ph_host_viewer(stage->host, host_client);
        const int depth_bits = player->def.burst_bits;
        soak_meter_begin(&player->meter, player->def.bits_per_second,
                         soak_meter_depth(stage, player, player->def.bits_per_second, depth_bits),
                         stage->now_us);
    } else if (result != PH_ERROR_STALE && stage->server_memory.failures == failures) {
        soak_fail(stage, SOAK_PROMISE_CALLS, "a client is not admitted: %s",
                  ph_result_text(result));
    }
}

void soak_player_gone(soak_stage* stage, int host_client, uint64_t client_id)
{
    soak_player* player = find_player(stage, client_id);
    if (player != NULL && player->host_client == host_client) {
        player->host_client = -1;
        player->is_admitted = false;
        player->client_id = 0;
    }
}

// ---- the simulated socket

int soak_socket_receive(void* context, ph_datagram* datagrams, int max)
{
    soak_stage* stage = context;
    int count = 0;
    for (int i = 0; i < SOAK_HOST_PLAYERS; ++i) {
        uint8_t room[ROOM];
        int32_t sent_step;
        size_t size;
        while (count < max && count < 64 &&
               (size = link_receive(stage, stage->players[i].up, room, &sent_step)) > 0) {
            memcpy(stage->arrivals[count], room, size);
            datagrams[count] = (ph_datagram){
                .peer = stage->players[i].address, .bytes = stage->arrivals[count], .size = size};
            ++count;
        }
    }
    return count;
}

static soak_player* find_address(soak_stage* stage, const ph_address* address)
{
    for (int i = 0; i < SOAK_HOST_PLAYERS; ++i) {
        if (stage->players[i].is_there &&
            ph_address_is_equal(&stage->players[i].address, address)) {
            return &stage->players[i];
        }
    }
    return NULL;
}

int soak_socket_send(void* context, const ph_datagram* datagrams, int count)
{
    enum { HEADERS = 28 }; // of IPv4 and UDP
    soak_stage* stage = context;
    for (int i = 0; i < count; ++i) {
        soak_player* player = find_address(stage, &datagrams[i].peer);
        if (player == NULL) {
            continue; // its client is dead
        }
        const int type = datagrams[i].bytes[0] & 15;
        if (player->is_admitted && (type == PH_NETCODE_KEEP_ALIVE || type == PH_NETCODE_PAYLOAD)) {
            soak_meter_pass(stage, player, datagrams[i].size + HEADERS);
        }
        link_send(stage, player->down, datagrams[i].bytes, datagrams[i].size);
    }
    return count;
}

static void net_send(void* context, const ph_address* to, const void* bytes, size_t size)
{
    (void)to;
    const netcode_route* route = context;
    link_send(route->stage, route->player->up, bytes, size);
}

// ---- messages

size_t soak_message_fill(const soak_player* player, int direction, uint64_t number,
                         uint8_t bytes[PH_MESSAGE_SIZE_MAX])
{
    ph_rng rng = ph_random_part(number, (uint64_t)(2 * player->index + direction) +
                                            64 * (uint64_t)player->generation);
    const size_t size =
        8 + (size_t)ph_rng_below(&rng, ph_rng_below(&rng, 8) == 0 ? SOAK_MESSAGE_ROOM : 40);
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)ph_rng_next(&rng);
    }
    return size;
}

void soak_messages_take(soak_stage* stage, soak_player* player, ph_messages* messages,
                        int direction)
{
    uint8_t got[PH_MESSAGE_SIZE_MAX];
    uint8_t wanted[PH_MESSAGE_SIZE_MAX];
    size_t size;
    while ((size = ph_messages_receive(messages, got)) > 0) {
        const uint64_t number = player->messages_received[direction]++;
        if (number >= player->messages_sent[direction] ||
            soak_message_fill(player, direction, number, wanted) != size ||
            memcmp(got, wanted, size) != 0) {
            soak_fail(stage, SOAK_PROMISE_MESSAGES,
                      "player %d: message %llu is not the one that was sent", player->index,
                      (unsigned long long)number);
            return;
        }
        ++stage->result->sent_messages;
    }
    soak_bulk_take(stage, player, messages, direction);
}

// ---- a step of a client

static uint64_t client_us(const soak_stage* stage, const soak_player* player)
{
    return stage->now_us + (uint64_t)player->clock_us;
}

static void note_payload(soak_stage* stage, soak_player* player, const void* bytes, size_t size)
{
    ph_hash hash = ph_hash_make(player->payload_digest);
    ph_hash_add_u64(&hash, (uint64_t)stage->step);
    ph_hash_add(&hash, bytes, size);
    player->payload_digest = ph_hash_value(&hash);
    ++player->payload_count;
}

static void take_packet(soak_stage* stage, soak_player* player, const void* bytes, size_t size,
                        int32_t sent_step)
{
    const uint64_t before = stage->client_memory.allocations;
    const ph_result result =
        ph_client_receive(player->client, client_us(stage, player), bytes, size);
    if (stage->client_memory.allocations != before) {
        soak_fail(stage, SOAK_PROMISE_MEMORY, "ph_client_receive() allocates");
    }
    if (result == PH_OK) {
        soak_judge_packet(stage, player, sent_step);
    } else if (result != PH_ERROR_STALE && !player->is_liar) {
        soak_fail(stage, SOAK_PROMISE_PHANTOM, "player %d: a packet of the server is refused: %s",
                  player->index, ph_result_text(result));
    }
}

static void take_datagram(soak_stage* stage, soak_player* player, uint8_t* bytes, size_t size,
                          int32_t sent_step)
{
    if (player->is_direct) {
        note_payload(stage, player, bytes, size);
        take_packet(stage, player, bytes, size, sent_step);
        return;
    }
    const ph_address server = ph_host_public_address(stage->host);
    ph_net_payload payload;
    ph_net_client_receive(player->net, &server, bytes, size, &payload);
    if (payload.size == 0) {
        return;
    }
    note_payload(stage, player, payload.bytes, payload.size);
    ph_messages_rest rest;
    if (ph_messages_unpack(player->messages, client_us(stage, player), payload.bytes, payload.size,
                           &rest) != PH_OK) {
        soak_fail(stage, SOAK_PROMISE_MESSAGES, "player %d: a section of the server is refused",
                  player->index);
        return;
    }
    soak_messages_take(stage, player, player->messages, 0);
    if (rest.size > 0) {
        take_packet(stage, player, rest.bytes, rest.size, sent_step);
    }
}

static void send_up(soak_stage* stage, soak_player* player)
{
    const uint64_t now_us = client_us(stage, player);
    const bool is_due = now_us >= ph_client_ack_due_us(player->client);
    if (!is_due && stage->step - player->last_up_step < UP_STEPS) {
        return;
    }
    player->last_up_step = stage->step;
    uint8_t ack[PH_ACK_SIZE];
    const size_t ack_size = is_due ? ph_client_write_ack(player->client, now_us, ack) : 0;
    if (ack_size > 0) {
        memcpy(player->newest_ack, ack, ack_size);
        player->newest_ack_size = ack_size;
    }
    if (player->is_direct) {
        if (ack_size > 0) {
            link_send(stage, player->up, ack, ack_size);
        }
        return;
    }
    uint8_t bytes[PH_PAYLOAD_MAX];
    ph_messages_plan(player->messages, now_us);
    const size_t size = ph_messages_pack(player->messages, ack, ack_size, bytes);
    ph_net_client_send(player->net, bytes, size);
    while (ph_messages_plan_block(player->messages, now_us, INT64_MAX, 0) > 0) {
        ph_net_client_send(player->net, bytes, ph_messages_pack(player->messages, NULL, 0, bytes));
    }
}

void soak_player_step(soak_stage* stage, soak_player* player)
{
    if (player->parted_until == stage->step) {
        soak_player_set_network(stage, player);
        soak_unsettle(player, stage->now_us);
    }
    if (!player->is_there || stage->step < player->stalled_until) {
        return;
    }
    if (player->net != NULL) {
        ph_net_client_advance(player->net, stage->now_us);
    }
    uint8_t room[ROOM];
    int32_t sent_step;
    size_t size;
    while (!stage->is_over && (size = link_receive(stage, player->down, room, &sent_step)) > 0) {
        take_datagram(stage, player, room, size, sent_step);
    }
    if (player->net != NULL) {
        ph_net_client_tick(player->net, stage->now_us);
        const ph_net_client_state state = ph_net_client_get_state(player->net);
        if (state <= PH_NET_CLIENT_DISCONNECTED) {
            soak_player_end(stage, player);
            return;
        }
        if (state != PH_NET_CLIENT_CONNECTED) {
            return;
        }
    }
    ph_client_advance(player->client, client_us(stage, player));
    send_up(stage, player);
    if (player->is_waiting) {
        soak_take_held(stage, player);
    }
}

// ---- direct players, the world's side

void soak_player_take_acks(soak_stage* stage, soak_player* player)
{
    uint8_t room[ROOM];
    int32_t sent_step;
    size_t size;
    while ((size = link_receive(stage, player->up, room, &sent_step)) > 0) {
        if (player->is_admitted) {
            ph_viewer_receive_ack(stage->world, player->viewer, stage->now_us, room, size);
        }
    }
}

typedef struct delivery {
    soak_stage* stage;
    soak_player* player;
} delivery;

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    const delivery* to = context;
    soak_player* player = to->player;
    const size_t added = (size_t)(player->reserve_each + player->reserve_next);
    player->reserve_next = 0;
    soak_meter_pass(to->stage, player, size + added + (size_t)player->def.overhead_bytes);
    link_send(to->stage, player->down, bytes, size);
}

void soak_player_send(soak_stage* stage, soak_player* player)
{
    if (!player->is_admitted) {
        return;
    }
    if (player->sends_per_second > 0.0) {
        if (stage->now_us < player->next_send_us) {
            return;
        }
        player->next_send_us = stage->now_us + (uint64_t)(1e6 / player->sends_per_second);
    } else if (!ph_viewer_is_send_due(stage->world, player->viewer, stage->now_us)) {
        return;
    }
    delivery to = {stage, player};
    ph_viewer_send(stage->world, player->viewer, stage->now_us, deliver, &to);
}
