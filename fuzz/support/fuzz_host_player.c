// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The players of a fuzzed host: clients of the library, with tokens whose keys are known.

#include "support/fuzz_host_scene.h"

#include <string.h>

static void end_client(host_player* player)
{
    ph_client_destroy(player->client);
    ph_messages_destroy(player->messages);
    player->client = NULL;
    player->messages = NULL;
}

// One connection has one client and one end of messages.
static void begin_client(host_player* player)
{
    const host_scene* it = player->scene;
    end_client(player);
    ph_client_def def = ph_client_def_default();
    def.schema = it->schema;
    def.profile = it->profile;
    def.slot_capacity = HOST_SLOTS;
    fuzz_demand(ph_client_create(&def, &player->client) == PH_OK);
    const ph_messages_def messages = ph_messages_def_default();
    fuzz_demand(ph_messages_create(&messages, &player->messages) == PH_OK);
    player->is_honest = true;
    player->input_number = 0;
    player->messages_sent = 0;
    player->messages_returned = 0;
}

// A token is used once, or again, or is none of this host's.
void host_player_connect(host_player* player, uint32_t variant)
{
    static const int32_t timeouts_s[] = {5, 1, -1};
    host_scene* it = player->scene;
    ph_token_secrets secrets;
    memset(&secrets, 16 * player->index, sizeof secrets);
    secrets.nonce[0] = (uint8_t)++player->tokens_made;
    secrets.client_to_server_key[0] = (uint8_t)player->tokens_made;
    secrets.server_to_client_key[0] = (uint8_t)player->tokens_made;
    secrets.server_to_client_key[1] = 1;
    ph_token_def def = ph_token_def_default();
    def.protocol_id = variant == 4 ? HOST_PROTOCOL + 1 : HOST_PROTOCOL;
    def.client_id = variant == 5 ? 0 : (uint64_t)player->index;
    def.create_s = variant == 6 ? it->unix_s - 60 : it->unix_s;
    def.lifetime_s = 30;
    def.timeout_s = timeouts_s[variant < 3 ? variant : 0];
    def.addresses[0] = host_scene_address();
    def.address_count = 1;
    memset(def.private_key, variant == 7 ? 0x44 : HOST_KEY_BYTE, sizeof def.private_key);
    memset(def.user_data, player->index, sizeof def.user_data);
    fuzz_demand(ph_token_write_with(&def, &secrets, player->token) == PH_OK);
    host_player_use_token(player);
}

void host_player_use_token(host_player* player)
{
    begin_client(player);
    ph_net_client_connect(player->net, player->token, sizeof player->token, player->scene->now_us);
}

static void answer(host_player* player)
{
    uint8_t ack[PH_ACK_SIZE];
    uint8_t whole[PH_PAYLOAD_MAX];
    const uint64_t time_us = player->scene->now_us;
    ph_messages_plan(player->messages, time_us);
    const size_t size = ph_client_write_ack(player->client, time_us, ack);
    ph_net_client_send(player->net, whole, ph_messages_pack(player->messages, ack, size, whole));
}

// The host sends back what came, in order, each once; it may be without room for some of them.
static void read_messages(host_player* player)
{
    uint8_t message[PH_MESSAGE_SIZE_MAX];
    for (size_t size; (size = ph_messages_receive(player->messages, message)) > 0;) {
        if (player->is_honest && message[0] == 'p') {
            const uint32_t number = (uint32_t)message[1] | (uint32_t)message[2] << 8;
            fuzz_demand(size >= 3 && number >= player->messages_returned);
            fuzz_demand(number < player->messages_sent);
            player->messages_returned = number + 1;
        }
    }
}

// A host sends an honest player nothing that makes no sense.
static void judge_client(const host_player* player)
{
    const ph_client_stats stats = ph_client_get_stats(player->client);
    fuzz_demand(stats.refused_datagrams[PH_CLIENT_REFUSAL_HELLO] == 0);
    fuzz_demand(stats.refused_datagrams[PH_CLIENT_REFUSAL_SEQUENCE] == 0);
    fuzz_demand(stats.refused_datagrams[PH_CLIENT_REFUSAL_SIZE] == 0);
    fuzz_demand(stats.refused_datagrams[PH_CLIENT_REFUSAL_RECORD] == 0);
    for (int slot = 0; slot < ph_client_slot_count(player->client); ++slot) {
        uint64_t key = 0;
        const ph_entity_id entity = ph_client_entity_at(player->client, slot);
        (void)ph_client_identify(player->client, entity, &key, NULL);
        fuzz_demand(key < HOST_ENTITIES);
    }
}

static void take_payload(host_player* player, const ph_net_payload* payload)
{
    ph_messages_rest rest;
    const ph_result result = ph_messages_unpack(player->messages, player->scene->now_us,
                                                payload->bytes, payload->size, &rest);
    fuzz_demand(result == PH_OK || !player->is_honest);
    if (result != PH_OK) {
        return;
    }
    read_messages(player);
    if (rest.size > 0) {
        ph_client_receive(player->client, player->scene->now_us, rest.bytes, rest.size);
    }
    if (player->is_honest) {
        judge_client(player);
    }
    answer(player);
}

static void take_down(host_player* player, host_datagram* datagram)
{
    ph_net_payload payload;
    const ph_address host = host_scene_address();
    ph_net_client_advance(player->net, player->scene->now_us);
    ph_net_client_receive(player->net, &host, datagram->bytes, datagram->size, &payload);
    if (payload.size > 0 && player->client != NULL) {
        take_payload(player, &payload);
    }
}

void host_scene_pump(host_scene* it)
{
    for (int i = 0; i < it->down.count; ++i) {
        host_datagram* datagram = &it->down.datagrams[i];
        if (datagram->player < HOST_PLAYERS) {
            take_down(&it->players[datagram->player], datagram);
        }
    }
    it->down.count = 0;
    for (int i = 0; i < HOST_PLAYERS; ++i) {
        host_player* player = &it->players[i];
        ph_net_client_tick(player->net, it->now_us);
        const bool is_connected = ph_net_client_get_state(player->net) == PH_NET_CLIENT_CONNECTED;
        if (is_connected && (it->now_us >= ph_client_ack_due_us(player->client) ||
                             ph_messages_plan_alone(player->messages, it->now_us) > 0)) {
            answer(player);
        }
    }
}

void host_player_end(host_player* player)
{
    end_client(player);
    ph_net_client_destroy(player->net);
}
