// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Opening, the tick, and the sends of a tick, a few clients at a time: the world writes, netcode seals,
// the thread's own socket sends. Some microseconds per client and tick.

#include "net/host_state.h"

#include "base/allocator.h"
#include "base/check.h"
#include "net/netcode_insecure.h"
#include "net/netcode_server_state.h"
#include "tools/tools.h"
#include "net/net_tools.h"
#include "net/netcode_packet.h"

#include <pinhole/viewer.h>

#include <sodium.h>
#include <string.h>

#define COOKIE 0x686f7374u // "host"

// A client that is sent to once a second is kept alive by that, even when a send comes some ticks
// late: so it is more than a second.
enum { KEEP_ALIVE_MS = 1500, CHUNK = 32 };
// Of a game that runs something comes several times a second: acks, or netcode's keep-alives.
enum { REPLACE_SILENT_MS = 2000 };
// So much is no leap of the time of day; a leap ahead is believed after so long.
enum { LEAP_S = 5, BELIEVE_US = 60000000 };
enum { GATHER_US = 1000, STRANGER_REFUSALS = 3 };
enum { THREADS_MAX = 256 }; // sends at once, as those of a world

// ---- opening and closing

ph_host_def ph_host_def_default(void)
{
    return (ph_host_def){
        .listen_address = ph_socket_def_default().local_address,
        .client_capacity = 64,
        .pending_per_client = ph_net_server_def_default().pending_per_client,
        .cookie = COOKIE,
    };
}

// Where the caller's datagrams go while nothing else runs.
static ph_socket_batch* own_outbox(const ph_host* host)
{
    return &ph_host_workers_batch(&host->workers, 0)->outbox;
}

// What netcode says by itself. Only keep-alives belong to a budget: the rest comes before a session
// or ends it.
static void send_of_netcode(void* context, const ph_address* to, const void* bytes, size_t size)
{
    ph_host* host = context;
    const int client = ph_net_server_find(host->server, to);
    if ((*(const uint8_t*)bytes & 15) == PH_NETCODE_KEEP_ALIVE) {
        ph_host_session* session = ph_host_sessions_find(&host->sessions, client);
        if (session != NULL) {
            ph_host_session_pay(host, session, size, ph_host_now_us(host));
        }
    }
    const ph_address* local = host->answers_from;
    if (local == NULL && client >= 0) {
        local = &host->workers.local_of[client];
    }
    ph_socket_batch_add_from(own_outbox(host), to, local, bytes, size);
}

// Where all addresses of the machine will do, only for development, this is one of them.
static ph_address loopback_of(const ph_address* any)
{
    const uint8_t ipv4[4] = {127, 0, 0, 1};
    const uint8_t ipv6[16] = {[15] = 1};
    return any->kind == PH_ADDRESS_IPV6 ? ph_address_make_ipv6(ipv6, any->port)
                                        : ph_address_make_ipv4(ipv4, any->port);
}

static ph_address public_address(const ph_host* host, const ph_host_def* def)
{
    ph_address address =
        def->public_address.kind != PH_ADDRESS_NONE ? def->public_address : def->listen_address;
    if (address.port == 0) {
        address.port = ph_host_local_address(host).port;
    }
    return def->is_insecure_dev && ph_address_is_any(&address) ? loopback_of(&address) : address;
}

// All addresses of a machine are none that a client could send to, and no token could name this host.
static bool is_reachable(const ph_host_def* def)
{
    return def->public_address.kind != PH_ADDRESS_NONE ||
           !ph_address_is_any(&def->listen_address) || def->is_insecure_dev;
}

static void check_tick(ph_check* check, const ph_host_def* def)
{
    if (check->result != PH_OK || def->tick_us == 0 ||
        def->tick_us == ph_world_get_def(def->world)->tick_us) {
        return;
    }
    char own[PH_COUNT_TEXT_SIZE];
    char worlds[PH_COUNT_TEXT_SIZE];
    check->result = ph_fail(check, PH_ERROR_ARGUMENT, "ph_host_def.tick_us",
                            "is %s, but that of its world is %s; it must be the same, or 0",
                            ph_count_text(def->tick_us, own),
                            ph_count_text(ph_world_get_def(def->world)->tick_us, worlds));
}

static void check_keys(ph_check* check, const ph_host_def* def)
{
    ph_insecure_check_key(check, "ph_host_def.private_key", def->private_key, def->is_insecure_dev);
    if (def->has_second_key) {
        ph_insecure_check_key(check, "ph_host_def.second_key", def->second_key, false);
    }
    if (def->is_insecure_dev) {
        ph_insecure_check_address(check, "ph_host_def.listen_address", &def->listen_address);
        ph_insecure_check_address(check, "ph_host_def.public_address", &def->public_address);
    }
}

static void check_def(ph_check* check, const ph_host_def* def)
{
    ph_check_that(check, def->world != NULL, "ph_host_def.world", "NULL", "a world");
    check_tick(check, def);
    ph_check_that(check,
                  def->listen_address.kind == PH_ADDRESS_IPV4 ||
                      def->listen_address.kind == PH_ADDRESS_IPV6,
                  "ph_host_def.listen_address", "none", "an IPv4 or IPv6 address");
    ph_check_range(check, "ph_host_def.client_capacity", def->client_capacity, 1,
                   PH_NET_CLIENTS_MAX);
    ph_check_range(check, "ph_host_def.pending_capacity", def->pending_capacity, 0, PH_NO_END);
    ph_check_range(check, "ph_host_def.pending_per_client", def->pending_per_client, 0, PH_NO_END);
    ph_check_range(check, "ph_host_def.pending_per_prefix", def->pending_per_prefix, 0, PH_NO_END);
    ph_check_range(check, "ph_host_def.requests_per_second", def->requests_per_second, 0,
                   PH_NO_END);
    ph_check_range(check, "ph_host_def.public_address.kind", def->public_address.kind,
                   PH_ADDRESS_NONE, PH_ADDRESS_IPV6);
    if (def->pool != NULL) {
        ph_check_range(check, "ph_pool_thread_count() of ph_host_def.pool",
                       ph_pool_thread_count(def->pool), 1, THREADS_MAX);
    }
    char listen[PH_ADDRESS_TEXT_MAX];
    if (check->result == PH_OK && !is_reachable(def)) {
        check->result =
            ph_fail(check, PH_ERROR_ARGUMENT, "ph_host_def.public_address",
                    "is none, and ph_host_def.listen_address is %s, all addresses of the machine; "
                    "it must be the one that clients send to",
                    ph_address_print(&def->listen_address, listen));
    }
    check_keys(check, def);
}

static ph_result create_server(ph_host* host, const ph_host_def* def)
{
    ph_net_server_def server = ph_net_server_def_default();
    server.protocol_id = def->protocol_id;
    memcpy(server.private_key, def->private_key, sizeof server.private_key);
    memcpy(server.second_key, def->second_key, sizeof server.second_key);
    server.has_second_key = def->has_second_key;
    server.is_insecure_dev = def->is_insecure_dev;
    server.addresses[server.address_count++] = host->public_address;
    server.client_capacity = def->client_capacity;
    server.pending_capacity = def->pending_capacity;
    server.pending_per_client = def->pending_per_client;
    server.pending_per_prefix = def->pending_per_prefix;
    server.requests_per_second = def->requests_per_second;
    server.spent_tokens_path = def->spent_tokens_path;
    server.on_error = def->on_error;
    server.on_error_context = def->on_error_context;
    server.keep_alive_ms = KEEP_ALIVE_MS;
    server.refuses_spent_tokens = true;
    server.gives_reasons = true;
    server.replace_silent_ms = REPLACE_SILENT_MS;
    server.allocator = def->allocator;
    server.sink = (ph_net_sink){send_of_netcode, host};
    const ph_result result = ph_net_server_create(&server, &host->server);
    sodium_memzero(&server, sizeof server);
    if (result == PH_OK) {
        host->day_s = ph_host_unix_s(host);
        host->day_us = ph_host_now_us(host);
        ph_net_server_start(host->server, host->day_us, host->day_s);
    }
    return result;
}

static ph_result open_parts(ph_host* host, const ph_host_def* def)
{
    ph_result result = ph_host_workers_open(&host->workers, def, host->simulation);
    if (result == PH_OK) {
        // Each thread sends to one client at a time.
        result = ph_world_set_sends_at_once(def->world, host->workers.count);
    }
    if (result == PH_OK) {
        result = ph_host_admissions_create(&host->admissions, def);
    }
    if (result == PH_OK) {
        result = ph_host_spares_create(&host->spares, def->client_capacity, &def->allocator);
    }
    if (result == PH_OK) {
        host->public_address = public_address(host, def);
        result = ph_host_sessions_create(&host->sessions, def->client_capacity, &def->allocator);
    }
    return result == PH_OK ? create_server(host, def) : result;
}

ph_result ph_host_open_simulated(const ph_host_def* def, const ph_net_simulation* simulation,
                                 ph_host** host)
{
    *host = NULL;
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, "ph_host_open");
    ph_check_made(&check, def->cookie == COOKIE, "ph_host_def");
    check_def(&check, def);
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_host* opened = ph_allocate_zeroed(&def->allocator, sizeof *opened);
    if (opened == NULL) {
        return ph_fail_memory(&check);
    }
    opened->def = *def;
    if (def->is_insecure_dev && def->on_error == NULL) {
        opened->def.on_error = ph_error_print; // it is never silent about it
    }
    opened->def.tick_us = ph_world_get_def(def->world)->tick_us;
    opened->simulation = simulation;
    // The server alone keeps the keys.
    sodium_memzero(opened->def.private_key, sizeof opened->def.private_key);
    sodium_memzero(opened->def.second_key, sizeof opened->def.second_key);
    opened->def.spent_tokens_path = NULL;
    const ph_result result = open_parts(opened, def);
    if (result != PH_OK) {
        ph_host_close(opened);
        return result == PH_ERROR_MEMORY ? ph_fail_memory(&check) : result;
    }
    *host = opened;
    ph_host_warn(opened, ph_host_now_us(opened));
    return PH_OK;
}

ph_result ph_host_open(const ph_host_def* def, ph_host** host)
{
    return ph_host_open_simulated(def, NULL, host);
}

void ph_host_close(ph_host* host)
{
    if (host == NULL) {
        return;
    }
    while (host->sessions.count > 0) {
        ph_host_session_end(host, host->sessions.active[0]);
    }
    ph_net_server_destroy(host->server);
    ph_host_sessions_destroy(&host->sessions);
    ph_host_admissions_destroy(&host->admissions);
    ph_host_spares_destroy(&host->spares);
    ph_host_workers_close(&host->workers);
    const ph_allocator allocator = host->def.allocator;
    ph_release(&allocator, host, sizeof *host);
}

void ph_host_set_keys(ph_host* host, const uint8_t private_key[PH_NETCODE_KEY_SIZE],
                      const uint8_t* second_key)
{
    ph_net_server_set_keys(host->server, private_key, second_key);
}

ph_address ph_host_local_address(const ph_host* host)
{
    return ph_socket_local_address(host->workers.sockets[0]);
}

ph_address ph_host_public_address(const ph_host* host)
{
    return host->public_address;
}

// ---- the time of day

// The server keeps the latest time that it was told, so that a clock that is set back revives no token. Then a
// clock that leaps ahead for a moment would lock all newcomers out for as long as the leap was. So a leap
// counts once it has lasted for a while; until then the time goes on as the clock that never jumps says.
static uint64_t time_of_day(ph_host* host)
{
    const uint64_t now_us = ph_host_now_us(host);
    const uint64_t told_s = ph_host_unix_s(host);
    const uint64_t expected_s = host->day_s + (now_us - host->day_us) / 1000000;
    if (told_s > expected_s + LEAP_S) {
        host->ahead_us = host->ahead_us != 0 ? host->ahead_us : now_us;
        if (now_us - host->ahead_us < BELIEVE_US) {
            return expected_s;
        }
    } else {
        host->ahead_us = 0;
    }
    if (told_s + LEAP_S >= expected_s) { // not while it is set back: it may return
        host->day_s = told_s;
        host->day_us = now_us;
    }
    return told_s;
}

// ---- receiving

// What comes first is seldom alone: one call for many costs less than a call for each, and nothing
// but the next tick waits for it.
static void gather(const ph_host* host, uint64_t until_us)
{
    const uint64_t now_us = ph_host_now_us(host);
    if (now_us < until_us) {
        ph_socket_sleep(until_us - now_us < GATHER_US ? until_us - now_us : GATHER_US);
    }
}

void ph_host_receive(ph_host* host, uint64_t until_us)
{
    for (;;) {
        // What comes now has come now, or a silence would seem to begin at the last tick.
        ph_net_server_advance(host->server, ph_host_now_us(host), time_of_day(host));
        ph_host_workers_receive(host);
        ph_host_spares_answer(host);
        const uint64_t now_us = ph_host_now_us(host);
        if (now_us >= until_us || host->simulation != NULL) {
            return;
        }
        if (ph_socket_wait_any(host->workers.sockets, host->workers.socket_count,
                               until_us - now_us)) {
            gather(host, until_us);
        }
    }
}

// ---- a tick

static void watch_ticks(ph_host* host, uint64_t now_us)
{
    const uint64_t mean_us = ph_tick_watch_note(
        &host->tick_watch, now_us, ph_world_tick_count(host->def.world), host->def.tick_us);
    if (mean_us == 0) {
        return;
    }
    const ph_check call =
        ph_check_begin(host->def.on_error, host->def.on_error_context, "ph_host_tick");
    char says[PH_COUNT_TEXT_SIZE];
    char takes[PH_COUNT_TEXT_SIZE];
    (void)ph_fail(&call, PH_ERROR_ARGUMENT, "ph_world_def.tick_us",
                  "is %s, but the world is ticked every %s us: clients show its entities where "
                  "they are not; tick it as often as it says",
                  ph_count_text(host->def.tick_us, says), ph_count_text((int64_t)mean_us, takes));
}

void ph_host_tick(ph_host* host)
{
    const uint64_t now_us = ph_host_now_us(host);
    watch_ticks(host, now_us);
    ph_host_warn(host, now_us);
    ph_net_server_tick(host->server, now_us, time_of_day(host));
    for (int i = 0; i < host->sessions.count; ++i) {
        const int client = host->sessions.active[i];
        if (host->sessions.turns[client].is_view_held) {
            ph_host_admission_tick(host, client, now_us);
        } else if (!host->def.is_rate_fixed && ph_host_session_is_due(host, client, now_us)) {
            ph_host_session_adapt(host, &host->sessions.by_client[client], now_us);
        }
    }
    ph_host_spares_tick(host, now_us);
    ph_socket_batch_flush(own_outbox(host));
}

bool ph_host_next_event(ph_host* host, ph_net_event* event)
{
    if (!ph_net_server_next_event(host->server, event)) {
        return false;
    }
    if (event->kind == PH_NET_DISCONNECTED) {
        ph_host_session_end(host, event->client);
        ph_host_spares_end(&host->spares, event->client);
        if (event->end == PH_NET_END_TAKEN_OVER) {
            ph_host_admission_take_over(host, event->client);
        }
        event->reason = ph_host_admission_end(host, event->client);
    }
    return true;
}

ph_result ph_host_admit(ph_host* host, int client, const ph_viewer_def* viewer,
                        const ph_messages_def* messages)
{
    return ph_host_session_begin(host, client, viewer, messages);
}

void ph_host_disconnect(ph_host* host, int client)
{
    ph_net_server_disconnect(host->server, client);
    ph_socket_batch_flush(own_outbox(host));
}

// To one that has no view, and no budget: netcode's disconnect packets are not paid either. All of it together
// is less than the request that its connection began with.
static void refuse_stranger(ph_host* host, int client, const char* text)
{
    uint8_t bytes[PH_ADMISSION_SIZE_MAX];
    const size_t size = ph_host_admission_write_refusal(host, client, text, bytes);
    for (int i = 0; i < STRANGER_REFUSALS; ++i) {
        ph_net_server_send(host->server, client, bytes, size);
    }
    ph_host_disconnect(host, client);
}

void ph_host_refuse(ph_host* host, int client, const char* text)
{
    ph_net_client_info info;
    if (ph_host_sessions_find(&host->sessions, client) != NULL) {
        ph_host_admission_refuse(host, client, ph_host_now_us(host), PH_REFUSAL_GAME, text);
    } else if (ph_net_server_get_client(host->server, client, &info)) {
        refuse_stranger(host, client, text);
    }
}

void ph_host_stop(ph_host* host)
{
    ph_net_server_stop(host->server);
    ph_socket_batch_flush(own_outbox(host));
}

// ---- sending

// The clients of a chunk that may be sent to now.
static int pick(const ph_host* host, int chunk, uint64_t now_us, int clients[CHUNK])
{
    const ph_host_sessions* sessions = &host->sessions;
    const int whole = (chunk + 1) * CHUNK;
    const int end = whole < sessions->count ? whole : sessions->count;
    int count = 0;
    for (int i = chunk * CHUNK; i < end; ++i) {
        const int place = host->first + i;
        const int client =
            sessions->active[place - (place < sessions->count ? 0 : sessions->count)];
        const ph_host_turn* turn = &sessions->turns[client];
        if (turn->has_messages || turn->has_admission || turn->has_spare ||
            ph_host_turn_may_be_due(host, turn, now_us)) {
            clients[count++] = client;
        }
    }
    return count;
}

static void send_chunk(ph_host* host, int chunk, uint64_t now_us, ph_host_send_batch* batch)
{
    int clients[CHUNK];
    const int count = pick(host, chunk, now_us, clients);
    for (int i = 0; i < count; ++i) {
        ph_host_session_serve(host, clients[i], now_us, batch);
    }
}

// One of the threads, by its own socket: takes the next chunk until none is left, or no time. For one
// there is always time, or a server that is late at every tick would never send at all. A thread
// that has no time takes none: so what is taken is served, and what is left is all behind it.
static void send_by_worker(void* context, int worker)
{
    ph_host* host = context;
    ph_host_send_batch* batch = ph_host_workers_batch(&host->workers, worker);
    for (bool is_first = true;; is_first = false) {
        const uint64_t now_us = ph_host_now_us(host);
        if (!is_first && now_us > host->until_us) {
            break;
        }
        const int chunk = atomic_fetch_add_explicit(&host->next_chunk, 1, memory_order_relaxed);
        if (chunk >= host->chunk_count) {
            break;
        }
        send_chunk(host, chunk, now_us, batch);
    }
    ph_host_send_batch_send(host, batch);
}

// The next sends begin with the first client that got no turn. All before it got one, and none
// behind it: whatever the threads do, no client is more than one turn ahead of another, as long as
// none comes or goes.
static void go_on_with_the_rest(ph_host* host)
{
    const int served = atomic_load(&host->next_chunk) * CHUNK;
    const int left = host->sessions.count - served;
    if (left > 0) {
        host->put_off += (uint64_t)left;
        host->first = (host->first + served) % host->sessions.count;
    }
}

void ph_host_send(ph_host* host, uint64_t until_us)
{
    if (host->def.recorder != NULL) {
        (void)ph_recorder_tick(host->def.recorder); // counts what there is no room for
    }
    host->chunk_count = (host->sessions.count + CHUNK - 1) / CHUNK;
    if (host->chunk_count == 0) {
        return;
    }
    host->warnings.has_sent = true;
    host->first %= host->sessions.count;
    host->until_us = until_us;
    atomic_store(&host->next_chunk, 0);
    ph_host_run(host, host->workers.count, send_by_worker);
    go_on_with_the_rest(host);
}

// ---- questions

int ph_host_client_count(const ph_host* host)
{
    return host->sessions.count;
}

int ph_host_client_at(const ph_host* host, int i)
{
    PH_ASSERT(i >= 0 && i < host->sessions.count);

    return host->sessions.active[i];
}

ph_viewer_id ph_host_viewer(const ph_host* host, int client)
{
    const ph_host_session* session = ph_host_sessions_find(&host->sessions, client);
    return session != NULL ? session->viewer : (ph_viewer_id){0};
}

bool ph_host_get_client(const ph_host* host, int client, ph_net_client_info* info)
{
    return ph_net_server_get_client(host->server, client, info);
}

ph_messages* ph_host_messages(ph_host* host, int client)
{
    const ph_host_session* session = ph_host_sessions_find(&host->sessions, client);
    if (session == NULL) {
        return NULL;
    }
    host->sessions.turns[client].has_messages = true; // a caller that asks has something to send
    return session->messages;
}

ph_result ph_host_set_budget(ph_host* host, int client, int bits_per_second, int burst_bits)
{
    ph_host_session* session = ph_host_sessions_find(&host->sessions, client);
    return session != NULL ? ph_host_session_set_budget(host, session, bits_per_second, burst_bits)
                           : PH_ERROR_STALE;
}

int ph_host_bits_per_second(const ph_host* host, int client)
{
    const ph_host_session* session = ph_host_sessions_find(&host->sessions, client);
    return session != NULL ? (int)session->meter.bits_per_second : 0;
}

ph_host_stats ph_host_get_stats(const ph_host* host)
{
    ph_host_stats stats = host->sessions.ended;
    for (int i = 0; i < host->sessions.count; ++i) {
        ph_host_session_count(&host->sessions.by_client[host->sessions.active[i]], &stats);
    }
    memcpy(stats.refused_clients, host->admissions.refused, sizeof stats.refused_clients);
    stats.postponed_sends = host->put_off;
    stats.given_spares = host->spares.given;
    stats.taken_spares = host->spares.taken;
    stats.acked_probes = host->spares.answered;
    stats.net = ph_net_server_get_stats(host->server);
    stats.socket = ph_host_workers_stats(&host->workers);
    return stats;
}

void ph_host_set_clock(ph_host* host, ph_now_ns_fn* now_ns, void* context)
{
    PH_ASSERT(host->workers.count == 1); // threads would add to the same times

    host->now_ns = now_ns;
    host->clock_context = context;
}

ph_host_times ph_host_stage_times(const ph_host* host)
{
    return host->times;
}
