// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The server's tables, its clock, and its connections. Datagrams are in netcode_traffic.c, those of
// unknown senders in netcode_handshake.c. The tick goes over all slots, a few microseconds for each
// thousand plus what it sends.

#include "net/netcode_server_state.h"

#include "base/allocator.h"
#include "base/check.h"
#include "net/net_tools.h"
#include "net/netcode_insecure.h"
#include "net/netcode_packet.h"
#include "net/wall_clock.h"

#include <sodium.h>

#define COOKIE UINT32_C(0x4E455431)

enum {
    DISCONNECT_PACKETS = 10, // at once; any one is enough
    PENDING_MIN = 256,
    USED_TOKENS_MIN = 2048,
    USED_TOKENS_PER_CLIENT = 8,
    REQUESTS_PER_SECOND = 10000,
    LAPSE_US = 1000000,
};

// ---- creation

ph_net_server_def ph_net_server_def_default(void)
{
    return (ph_net_server_def){
        .client_capacity = 64, .pending_per_client = 4, .keep_alive_ms = 100, .cookie = COOKIE};
}

static int at_least(int value, int minimum)
{
    return value > minimum ? value : minimum;
}

// Zeros become what they stand for.
static void fill_in(ph_net_server_def* def)
{
    if (def->pending_capacity == 0) {
        def->pending_capacity = at_least(def->client_capacity, PENDING_MIN);
    }
    if (def->used_token_capacity == 0) {
        def->used_token_capacity =
            at_least(def->client_capacity * USED_TOKENS_PER_CLIENT, USED_TOKENS_MIN);
    }
    if (def->requests_per_second == 0) {
        def->requests_per_second = REQUESTS_PER_SECOND;
    }
}

static void check_keys(ph_check* check, const ph_net_server_def* def)
{
    ph_insecure_check_key(check, "ph_net_server_def.private_key", def->private_key,
                          def->is_insecure_dev);
    if (def->has_second_key) {
        ph_insecure_check_key(check, "ph_net_server_def.second_key", def->second_key, false);
    }
    for (int i = 0; def->is_insecure_dev && i < def->address_count && check->result == PH_OK; ++i) {
        ph_insecure_check_address(check, "ph_net_server_def.addresses", &def->addresses[i]);
    }
}

static void check_def(ph_check* check, const ph_net_server_def* def)
{
    ph_check_range(check, "ph_net_server_def.client_capacity", def->client_capacity, 1,
                   PH_NET_CLIENTS_MAX);
    ph_check_range(check, "ph_net_server_def.pending_capacity", def->pending_capacity, 0,
                   PH_NO_END);
    ph_check_range(check, "ph_net_server_def.pending_per_client", def->pending_per_client, 0,
                   PH_NO_END);
    ph_check_range(check, "ph_net_server_def.pending_per_prefix", def->pending_per_prefix, 0,
                   PH_NO_END);
    ph_check_range(check, "ph_net_server_def.used_token_capacity", def->used_token_capacity, 0,
                   PH_NO_END);
    ph_check_range(check, "ph_net_server_def.requests_per_second", def->requests_per_second, 0,
                   PH_NO_END);
    ph_check_range(check, "ph_net_server_def.replace_silent_ms", def->replace_silent_ms, 0,
                   PH_NO_END);
    ph_check_range(check, "ph_net_server_def.keep_alive_ms", def->keep_alive_ms, 1, PH_NO_END);
    ph_check_range(check, "ph_net_server_def.address_count", def->address_count, 1,
                   PH_NET_SERVER_ADDRESSES_MAX);
    for (int i = 0; i < def->address_count && check->result == PH_OK; ++i) {
        ph_check_range(check, "ph_net_server_def.addresses.kind", def->addresses[i].kind,
                       PH_ADDRESS_IPV4, PH_ADDRESS_IPV6);
    }
    check_keys(check, def);
}

static void fill_random(const ph_net_server* server, void* bytes, size_t size)
{
    if (server->random != NULL) {
        server->random(server->random_context, bytes, size);
    } else {
        randombytes_buf(bytes, size);
    }
}

static ph_result create_tables(ph_net_server* server, const ph_check* call)
{
    const ph_net_server_def* def = &server->def;
    ph_address_secret secret;
    uint64_t seed;
    fill_random(server, secret.bytes, sizeof secret.bytes);
    fill_random(server, &seed, sizeof seed);
    fill_random(server, &server->id_seed, sizeof server->id_seed);
    ph_result result =
        ph_net_slots_create(&server->slots, &def->allocator, def->client_capacity, &secret);
    if (result == PH_OK) {
        const ph_pending_def pending = {
            .capacity = def->pending_capacity,
            .group_max = {[PH_PENDING_BY_CLIENT_ID] = def->pending_per_client,
                          [PH_PENDING_BY_PREFIX] = def->pending_per_prefix},
        };
        result = ph_pending_create(&server->pending, &def->allocator, &pending, &secret);
    }
    if (result == PH_OK) {
        result = ph_net_server_create_used(server, call, seed);
    }
    return result;
}

ph_result ph_net_server_create_with(const ph_net_server_def* def, ph_net_random_fn* random,
                                    void* context, ph_net_server** server)
{
    *server = NULL;
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, "ph_net_server_create");
    ph_check_made(&check, def->cookie == COOKIE, "ph_net_server_def");
    check_def(&check, def);
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_netcode_start();
    ph_net_server* created = ph_allocate_zeroed(&def->allocator, sizeof *created);
    if (created == NULL) {
        return ph_fail_memory(&check);
    }
    created->def = *def;
    created->random = random;
    created->random_context = context;
    fill_in(&created->def);
    const ph_result result = create_tables(created, &check);
    // Set here and never again: after a stop and a start it goes on where it was. A token has one
    // server-to-client key for all servers that it names and for all their starts. Two packets with one
    // key and number would give away the key that seals: so each server object counts from a place of
    // its own, of 2^61 in the upper half. With 2^32 packets each, two of them meet with a chance of
    // 2^-28.
    uint64_t start = 0;
    fill_random(created, &start, sizeof start);
    created->global_sequence = UINT64_C(1) << 63 | start >> 3;
    if (result != PH_OK) {
        ph_net_server_destroy(created);
        return result == PH_ERROR_MEMORY ? ph_fail_memory(&check) : result;
    }
    *server = created;
    return PH_OK;
}

ph_result ph_net_server_create(const ph_net_server_def* def, ph_net_server** server)
{
    return ph_net_server_create_with(def, NULL, NULL, server);
}

// Where a key that opened a pending token is among the keys from now on, or -1.
static int place_of_key(const ph_net_server_def* def, const uint8_t* key)
{
    if (sodium_memcmp(def->private_key, key, PH_NETCODE_KEY_SIZE) == 0) {
        return 0;
    }
    return def->has_second_key && sodium_memcmp(def->second_key, key, PH_NETCODE_KEY_SIZE) == 0
               ? 1
               : -1;
}

void ph_net_server_set_keys(ph_net_server* server, const uint8_t private_key[PH_NETCODE_KEY_SIZE],
                            const uint8_t* second_key)
{
    uint8_t former[2][PH_NETCODE_KEY_SIZE];
    ph_net_server_def* def = &server->def;
    const ph_check call = ph_check_begin(def->on_error, def->on_error_context, __func__);
    if (!ph_insecure_may_change(&call, def->is_insecure_dev, private_key, second_key)) {
        return;
    }
    memcpy(former[0], def->private_key, PH_NETCODE_KEY_SIZE);
    memcpy(former[1], def->second_key, PH_NETCODE_KEY_SIZE);
    memcpy(def->private_key, private_key, PH_NETCODE_KEY_SIZE);
    def->has_second_key = second_key != NULL;
    if (second_key != NULL) {
        memcpy(def->second_key, second_key, PH_NETCODE_KEY_SIZE);
    } else {
        sodium_memzero(def->second_key, PH_NETCODE_KEY_SIZE);
    }
    const int places[2] = {place_of_key(def, former[0]), place_of_key(def, former[1])};
    ph_pending_change_keys(&server->pending, places);
    sodium_memzero(former, sizeof former);
}

void ph_net_server_destroy(ph_net_server* server)
{
    if (server == NULL) {
        return;
    }
    ph_net_slots_destroy(&server->slots);
    ph_pending_destroy(&server->pending);
    ph_used_tokens_destroy(&server->used_tokens);
    ph_spent_file_close(&server->spent_file);
    const ph_allocator allocator = server->def.allocator;
    sodium_memzero(server, sizeof *server);
    ph_release(&allocator, server, sizeof *server);
}

// ---- time

static void fill_credit(uint64_t* credit, uint64_t rate, uint64_t elapsed_us)
{
    const uint64_t limit = rate * 1000000; // a second's worth
    *credit = elapsed_us >= 1000000 ? limit : *credit + elapsed_us * rate;
    if (*credit > limit) {
        *credit = limit;
    }
}

void ph_net_server_advance(ph_net_server* server, uint64_t now_us, uint64_t unix_s)
{
    if (unix_s > server->unix_s) {
        server->unix_s = unix_s; // a clock that is set back brings no token back to life
    }
    if (now_us <= server->now_us) {
        return;
    }
    const uint64_t elapsed_us = now_us - server->now_us;
    fill_credit(&server->request_credit, (uint64_t)server->def.requests_per_second, elapsed_us);
    fill_credit(&server->reason_credit, PH_NET_REASONS_PER_SECOND, elapsed_us);
    server->now_us = now_us;
}

// The time of a start, to the microsecond when it is that of the system's clock.
static uint64_t start_us(uint64_t unix_s)
{
    const uint64_t now_us = ph_wall_now_us();
    const bool is_now = now_us / 1000000 == unix_s || now_us / 1000000 == unix_s + 1;
    return is_now ? now_us : unix_s * 1000000;
}

void ph_net_server_start(ph_net_server* server, uint64_t now_us, uint64_t unix_s)
{
    PH_ASSERT(!server->is_running);

    fill_random(server, server->challenge_key, sizeof server->challenge_key);
    server->challenge_sequence = 0;
    server->request_credit = (uint64_t)server->def.requests_per_second * 1000000;
    server->reason_credit = (uint64_t)PH_NET_REASONS_PER_SECOND * 1000000;
    for (int i = 0; i < PH_NET_ID_RATES; ++i) {
        server->id_rates[i] = (ph_net_id_rate){
            .filled_us = now_us,
            .credit = PH_NET_ID_REQUESTS_PER_SECOND * 1000000,
        };
    }
    server->now_us = now_us;
    server->lapsed_us = now_us;
    if (unix_s > server->unix_s) {
        server->unix_s = unix_s;
    }
    if (!server->has_started) {
        server->has_started = true; // later starts know which tokens were spent before
        ph_net_server_start_spent(server, start_us(unix_s));
    }
    server->is_running = true;
}

void ph_net_server_stop(ph_net_server* server)
{
    ph_net_server_disconnect_all(server);
    ph_pending_clear(&server->pending);
    sodium_memzero(server->challenge_key, sizeof server->challenge_key);
    server->is_running = false;
}

static bool has_timed_out(const ph_net_server* server, const ph_net_slot* slot)
{
    return slot->timeout_s >= 0 &&
           server->now_us - slot->received_us >= (uint64_t)slot->timeout_s * 1000000;
}

bool ph_net_server_is_silent(const ph_net_server* server, int client)
{
    const uint64_t silent_us = (uint64_t)server->def.replace_silent_ms * 1000;
    return silent_us > 0 && server->now_us - server->slots.slots[client].received_us >= silent_us;
}

static void tick_client(ph_net_server* server, int client)
{
    const ph_net_slot* slot = &server->slots.slots[client];
    if (ph_net_slot_is_leaving(slot)) {
        ph_net_server_end(server, client, PH_NET_END_CLIENT);
    } else if (slot->packets >= PH_NET_PACKETS_END) {
        ph_net_server_disconnect(server, client); // before its numbers are used up
    } else if (has_timed_out(server, slot)) {
        ph_net_server_end(server, client, PH_NET_END_TIMED_OUT);
    } else if (server->now_us - slot->sent_us >= (uint64_t)server->def.keep_alive_ms * 1000) {
        ph_net_server_send_keep_alive(server, client, &server->def.sink);
    }
}

void ph_net_server_tick(ph_net_server* server, uint64_t now_us, uint64_t unix_s)
{
    ph_net_server_advance(server, now_us, unix_s);
    if (!server->is_running) {
        return;
    }
    for (int client = 0; client < server->slots.capacity; ++client) {
        if (server->slots.slots[client].is_connected) {
            tick_client(server, client);
        }
    }
    if (server->now_us - server->lapsed_us >= LAPSE_US) {
        server->lapsed_us = server->now_us;
        ph_pending_lapse(&server->pending, server->now_us);
    }
}

// ---- connections

static void add_counts(ph_net_server_stats* stats, const ph_net_slot* slot)
{
    stats->received_datagrams += slot->datagrams_received;
    stats->received_bytes += slot->bytes_received;
    stats->received_payloads += slot->payloads_received;
    stats->sent_datagrams += slot->datagrams_sent;
    stats->sent_bytes += slot->bytes_sent;
    stats->sent_payloads += slot->payloads_sent;
}

void ph_net_server_end(ph_net_server* server, int client, ph_net_end reason)
{
    const ph_net_slot* slot = &server->slots.slots[client];
    ph_used_token* used = ph_used_tokens_find(&server->used_tokens, slot->tag);
    if (used != NULL) {
        const uint64_t packets = slot->packets;
        used->packets = packets < UINT32_MAX ? (uint32_t)packets : UINT32_MAX;
    }
    add_counts(&server->stats, slot);
    ++server->stats.disconnected_clients[reason];
    ph_net_slots_end(&server->slots, client, reason);
}

static void tell_end(ph_net_server* server, int client)
{
    ph_net_server_send_packet(server, client, PH_NETCODE_DISCONNECT, NULL, 0, &server->def.sink);
}

void ph_net_server_disconnect(ph_net_server* server, int client)
{
    if (ph_net_slots_at(&server->slots, client) == NULL) {
        return;
    }
    for (int i = 0; i < DISCONNECT_PACKETS; ++i) {
        tell_end(server, client);
    }
    ph_net_server_end(server, client, PH_NET_END_SERVER);
}

void ph_net_server_disconnect_all(ph_net_server* server)
{
    // Round by round: where a system's buffer is full for a while, no client loses all of its
    // packets.
    for (int i = 1; i < DISCONNECT_PACKETS; ++i) {
        for (int client = 0; client < server->slots.capacity; ++client) {
            if (ph_net_slots_at(&server->slots, client) != NULL) {
                tell_end(server, client);
            }
        }
    }
    for (int client = 0; client < server->slots.capacity; ++client) {
        if (ph_net_slot_is_leaving(&server->slots.slots[client])) {
            ph_net_server_end(server, client, PH_NET_END_CLIENT);
        } else if (server->slots.slots[client].is_connected) {
            tell_end(server, client);
            ph_net_server_end(server, client, PH_NET_END_SERVER);
        }
    }
}

bool ph_net_server_next_event(ph_net_server* server, ph_net_event* event)
{
    return ph_net_slots_next_event(&server->slots, event);
}

bool ph_net_server_get_client(const ph_net_server* server, int client, ph_net_client_info* info)
{
    *info = (ph_net_client_info){0};
    const ph_net_slot* slot = ph_net_slots_at(&server->slots, client);
    if (slot == NULL) {
        return false;
    }
    info->client_id = slot->client_id;
    info->address = slot->address;
    info->is_confirmed = ph_net_slot_is_confirmed(slot);
    info->newest_us = slot->received_us;
    info->received_packets = slot->datagrams_received;
    info->received_bytes = slot->bytes_received;
    info->sent_packets = slot->datagrams_sent;
    info->sent_bytes = slot->bytes_sent;
    return true;
}

ph_net_server_stats ph_net_server_get_stats(const ph_net_server* server)
{
    ph_net_server_stats stats = server->stats;
    stats.client_count = server->slots.connected_count;
    stats.pending_count = server->pending.count;
    for (int i = 0; i < PH_NET_REFUSAL_COUNT; ++i) {
        stats.refused_datagrams[i] =
            atomic_load_explicit(&server->refused[i], memory_order_relaxed);
    }
    for (int client = 0; client < server->slots.capacity; ++client) {
        add_counts(&stats, &server->slots.slots[client]);
    }
    return stats;
}

bool ph_net_server_validate(const ph_net_server* server)
{
    return ph_net_slots_validate(&server->slots) && ph_pending_validate(&server->pending) &&
           ph_used_tokens_validate(&server->used_tokens) &&
           server->global_sequence >= UINT64_C(1) << 63;
}

const char* ph_net_end_name(ph_net_end reason)
{
    static const char* const names[PH_NET_END_COUNT] = {
        [PH_NET_END_NONE] = "none",
        [PH_NET_END_CLIENT] = "client",
        [PH_NET_END_TIMED_OUT] = "timed_out",
        [PH_NET_END_SERVER] = "server",
        [PH_NET_END_TAKEN_OVER] = "taken_over",
    };
    return (unsigned)reason < PH_NET_END_COUNT ? names[reason] : "unknown";
}
