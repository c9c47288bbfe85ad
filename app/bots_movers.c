// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// All of them on one thread, each ticked a hundred times a second: some microseconds, and what its view costs.

#include "bots_movers.h"

#include "key_file.h"
#include "kit/json.h"
#include "wall.h"

#include <pinhole/net/peer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define SECOND_US UINT64_C(1000000)

enum {
    TICK_US = 10000,
    SPARE_EVERY_US = 500000, // not more often
    TOKEN_SECONDS = 3600,    // a spare may wait for long
    TIMEOUT_S = 10,
    INTERRUPTED_MAX_MS = 2000,
};

typedef struct mover {
    ph_peer* peer;
    uint64_t client_id;
    uint64_t spare_us; // when it last got one
    bool has_moved;
    uint32_t longest_ms;
} mover;

// ---- tokens

// Bots have the key, so they make what a backend would give them.
static bool make_token(const bots_movers_def* def, uint64_t client_id, int server,
                       uint8_t token[PH_TOKEN_SIZE])
{
    ph_token_def made = ph_token_def_default();
    made.protocol_id = APP_PROTOCOL_ID;
    made.client_id = client_id;
    made.create_s = app_wall_unix_s();
    made.lifetime_s = TOKEN_SECONDS;
    made.timeout_s = TIMEOUT_S;
    made.addresses[made.address_count++] = def->servers[server];
    memcpy(made.private_key, def->terms->key, sizeof made.private_key);
    const bool is_made = ph_token_write(&made, token) == PH_OK;
    app_key_wipe(made.private_key);
    return is_made;
}

static void start(const bots_movers_def* def, mover* it)
{
    uint8_t token[PH_TOKEN_SIZE];
    if (make_token(def, it->client_id, 0, token)) {
        ph_peer_connect(it->peer, token, sizeof token);
    }
}

// For the server that it is not at. Again now and then, since one that was started anew refuses older tokens.
static void give_spare(const bots_movers_def* def, mover* it, uint64_t now_us)
{
    if (ph_peer_get_state(it->peer) != PH_PEER_STATE_JOINED || ph_peer_spare_count(it->peer) > 0 ||
        now_us < it->spare_us + SPARE_EVERY_US) {
        return;
    }
    uint8_t token[PH_TOKEN_SIZE];
    const ph_address at = ph_peer_server(it->peer);
    const int other = ph_address_is_equal(&at, &def->servers[0]) ? 1 : 0;
    it->spare_us = now_us;
    if (make_token(def, it->client_id, other, token)) {
        (void)ph_peer_add_spare(it->peer, token, sizeof token);
    }
}

// ---- running

// Two sockets for each while it moves.
static void allow_sockets(int count)
{
    struct rlimit limit;
    const rlim_t wanted = 2 * (rlim_t)count + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bool open_all(const bots_movers_def* def, mover* movers)
{
    allow_sockets(def->count);
    ph_peer_def peer = ph_peer_def_default();
    peer.schema = def->terms->schema;
    peer.ground = def->terms->ground;
    for (int i = 0; i < def->count; ++i) {
        movers[i].client_id = def->first_id + (uint64_t)i;
        if (ph_peer_open(&peer, &movers[i].peer) != PH_OK) {
            return false;
        }
    }
    return true;
}

static void take_events(mover* it, bots_movers_result* result)
{
    for (ph_peer_event event; ph_peer_next_event(it->peer, &event);) {
        switch (event.kind) {
        case PH_PEER_MOVED:
            it->has_moved = true;
            break;
        case PH_PEER_ENTERED:
            result->entered += it->has_moved;
            break;
        case PH_PEER_LEFT:
            result->left += it->has_moved;
            break;
        case PH_PEER_REFUSED:
        case PH_PEER_DISCONNECTED:
            ++result->ended;
            snprintf(result->text, sizeof result->text, "%s", event.text);
            break;
        default:
            break;
        }
    }
    const uint32_t now_ms = ph_peer_get_stats(it->peer).interrupted_ms;
    it->longest_ms = now_ms > it->longest_ms ? now_ms : it->longest_ms;
}

static void run(const bots_movers_def* def, mover* movers, bots_movers_result* result)
{
    const uint64_t start_us = ph_socket_now_us();
    const uint64_t end_us = start_us + (uint64_t)def->seconds * SECOND_US;
    int started = 0;
    for (uint64_t now_us = start_us; now_us < end_us; now_us = ph_socket_now_us()) {
        const double due =
            def->ramp > 0.0 ? 1.0 + def->ramp * (double)(now_us - start_us) / 1e6 : def->count;
        while (started < def->count && started < due) {
            start(def, &movers[started++]);
        }
        for (int i = 0; i < started; ++i) {
            ph_peer_tick(movers[i].peer);
            take_events(&movers[i], result);
            give_spare(def, &movers[i], now_us);
        }
        const uint64_t took_us = ph_socket_now_us() - now_us;
        ph_socket_sleep(took_us < TICK_US ? TICK_US - took_us : 0);
    }
}

static int compare(const void* a, const void* b)
{
    const uint32_t x = *(const uint32_t*)a;
    const uint32_t y = *(const uint32_t*)b;
    return (x > y) - (x < y);
}

static void add_up(const bots_movers_def* def, const mover* movers, uint32_t* interrupted,
                   bots_movers_result* result)
{
    for (int i = 0; i < def->count; ++i) {
        const ph_peer_stats stats = ph_peer_get_stats(movers[i].peer);
        result->connected += ph_peer_get_state(movers[i].peer) == PH_PEER_STATE_JOINED;
        result->moves += stats.moves;
        result->false_alarms += stats.false_alarms;
        result->failed_moves += stats.failed_moves;
        if (movers[i].has_moved) {
            interrupted[result->moved++] = stats.interrupted_ms;
        }
        if (movers[i].longest_ms > result->interrupted_max_ms) {
            result->interrupted_max_ms = movers[i].longest_ms;
        }
    }
    qsort(interrupted, (size_t)result->moved, sizeof *interrupted, compare);
    result->interrupted_p50_ms = result->moved > 0 ? interrupted[result->moved / 2] : 0;
}

bool bots_movers_run(const bots_movers_def* def, bots_movers_result* result, ph_fault* fault)
{
    *result = (bots_movers_result){0};
    mover* movers = calloc((size_t)def->count, sizeof *movers);
    uint32_t* interrupted = calloc((size_t)def->count, sizeof *interrupted);
    const bool is_open = movers != NULL && interrupted != NULL && open_all(def, movers);
    if (is_open) {
        run(def, movers, result);
        add_up(def, movers, interrupted, result);
    } else {
        ph_fault_set_memory(fault);
    }
    for (int i = 0; movers != NULL && i < def->count; ++i) {
        ph_peer_close(movers[i].peer);
    }
    free(movers);
    free(interrupted);
    return is_open;
}

// ---- output

static void print_json(const bots_movers_def* def, const bots_movers_result* result)
{
    ph_json json = ph_json_make(stdout);
    ph_json_open(&json, NULL);
    ph_json_integer(&json, "bots", def->count);
    ph_json_integer(&json, "connected", result->connected);
    ph_json_integer(&json, "ended", result->ended);
    ph_json_integer(&json, "moved", result->moved);
    ph_json_integer(&json, "moves", (int64_t)result->moves);
    ph_json_integer(&json, "false_alarms", (int64_t)result->false_alarms);
    ph_json_integer(&json, "failed_moves", (int64_t)result->failed_moves);
    ph_json_integer(&json, "interrupted_p50_ms", result->interrupted_p50_ms);
    ph_json_integer(&json, "interrupted_max_ms", result->interrupted_max_ms);
    ph_json_integer(&json, "entered", (int64_t)result->entered);
    ph_json_integer(&json, "left", (int64_t)result->left);
    ph_json_close(&json);
}

void bots_movers_print(const bots_movers_def* def, const bots_movers_result* result)
{
    if (def->is_json) {
        print_json(def, result);
        return;
    }
    printf("%d bots: %d connected, %d have moved, %llu times in all\n", def->count,
           result->connected, result->moved, (unsigned long long)result->moves);
    printf("  %-12s p50 %u ms, max %u ms without a view\n", "interrupted",
           result->interrupted_p50_ms, result->interrupted_max_ms);
    printf("  %-12s %llu false, %llu failed\n", "alarms", (unsigned long long)result->false_alarms,
           (unsigned long long)result->failed_moves);
    printf("  %-12s %llu entered and %llu left since the first move of their bot\n", "entities",
           (unsigned long long)result->entered, (unsigned long long)result->left);
    if (result->ended > 0) {
        printf("  %-12s %d connections; the last: %s\n", "ended", result->ended, result->text);
    }
}

bool bots_movers_judge(const bots_movers_def* def, const bots_movers_result* result)
{
    return result->connected == def->count && result->ended == 0 &&
           result->interrupted_max_ms <= INTERRUPTED_MAX_MS;
}
