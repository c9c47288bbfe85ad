// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The connection of the transport over NATS: how libnats is set up, what it says when the connection comes and goes,
// opening and closing. Runs when a program starts and ends, and when a server fails.
//
// libnats calls from its own threads, also for a while after the connection was closed: the state has as many users as
// can still call.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "bus/nats_state.h"

#include "base/allocator.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    PAYLOAD_MAX = 1024 * 1024, // until a server says how much it takes

    // A server that is silent is left after PINGS + 1 intervals at most.
    PING_MS = 350,
    PINGS = 2,
    CONNECT_MS = 1000,
    RETRY_MS = 100, // and up to as much again by chance
    // A write that takes longer breaks the connection, and keeps the sender no longer than that.
    WRITE_MS = 500,
    // Above it gives nothing: 64 KiB and 256 KiB took the same time per message.
    IO_BYTES = 64 * 1024,
    // What is published while it connects again would be sent after that, and be old. 1 keeps one message at most;
    // with -1 libnats takes all, says that it is sent, and loses it.
    RECONNECT_BYTES = 1,
};

static const ph_allocator MEMORY = {0}; // malloc and free

int64_t ph_nats_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// ---- what the owner is told ------------------------------------------------------------------------

ph_check ph_nats_call(const ph_nats* nats, const char* function)
{
    return ph_check_begin(nats->on_error, nats->on_error_context, function);
}

void ph_nats_tell(ph_nats* nats, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&nats->news_mutex);
    if (nats->error_count < PH_NATS_ERRORS_MAX) {
        vsnprintf(nats->errors[nats->error_count++], PH_ERROR_TEXT_SIZE, format, arguments);
    } else {
        nats->left_out_count += 1;
    }
    pthread_mutex_unlock(&nats->news_mutex);
    va_end(arguments);
    atomic_store_explicit(&nats->has_news, true, memory_order_release);
}

void ph_nats_tell_owner(ph_nats* nats)
{
    if (!atomic_load_explicit(&nats->has_news, memory_order_acquire)) {
        return;
    }
    char texts[PH_NATS_ERRORS_MAX][PH_ERROR_TEXT_SIZE];
    pthread_mutex_lock(&nats->news_mutex);
    const int count = nats->error_count;
    const int left_out = nats->left_out_count;
    memcpy(texts, nats->errors, (size_t)count * sizeof *texts);
    nats->error_count = 0;
    nats->left_out_count = 0;
    atomic_store_explicit(&nats->has_news, false, memory_order_relaxed);
    pthread_mutex_unlock(&nats->news_mutex);
    const ph_check call = ph_nats_call(nats, "ph_nats");
    for (int i = 0; i < count; ++i) {
        ph_fail(&call, PH_ERROR_SYSTEM, NULL, "%s", texts[i]);
    }
    if (left_out > 0) {
        ph_fail(&call, PH_ERROR_SYSTEM, NULL, "%d more errors were left out", left_out);
    }
}

// ---- what libnats says -----------------------------------------------------------------------------

static void keep_server(ph_nats* nats, natsConnection* connection)
{
    char url[256] = "";
    if (connection != NULL) {
        natsConnection_GetConnectedUrl(connection, url, sizeof url);
    }
    const char* start = strstr(url, "://");
    start = start != NULL ? start + 3 : url;
    const char* at = strrchr(start, '@'); // user and password are not to be shown
    pthread_mutex_lock(&nats->news_mutex);
    snprintf(nats->server, sizeof nats->server, "%.63s", at != NULL ? at + 1 : start);
    pthread_mutex_unlock(&nats->news_mutex);
}

static void ask_server(ph_nats* nats, natsConnection* connection)
{
    const int64_t payload_max = natsConnection_GetMaxPayload(connection);
    atomic_store(&nats->payload_max, payload_max > 0 && payload_max < PH_NATS_PENDING_MAX
                                         ? (int)payload_max
                                         : PAYLOAD_MAX);
    keep_server(nats, connection);
}

static void on_connected(natsConnection* connection, void* closure)
{
    ph_nats* nats = closure;
    ask_server(nats, connection);
    atomic_store(&nats->is_connected, true);
}

static void on_reconnected(natsConnection* connection, void* closure)
{
    ph_nats* nats = closure;
    atomic_fetch_add(&nats->reconnects, 1);
    on_connected(connection, nats);
}

static void on_disconnected(natsConnection* connection, void* closure)
{
    (void)connection;
    ph_nats* nats = closure;
    // Of one that has never been there, opening has counted it.
    if (atomic_exchange(&nats->is_connected, false)) {
        atomic_fetch_add(&nats->losses, 1);
        keep_server(nats, NULL);
    }
}

// The last call of a connection. Not only by closing: libnats gives up when a server refuses the credentials twice.
static void on_closed(natsConnection* connection, void* closure)
{
    ph_nats* nats = closure;
    on_disconnected(connection, nats);
    if (!atomic_load(&nats->is_closing)) {
        const char* reason = NULL;
        natsConnection_GetLastError(connection, &reason);
        ph_nats_tell(nats, "the connection is closed for good: %s",
                     reason != NULL ? reason : "without a reason");
    }
    ph_nats_release(nats);
}

static void on_complaint(natsConnection* connection, natsSubscription* subscription,
                         natsStatus status, void* closure)
{
    (void)subscription;
    ph_nats* nats = closure;
    if (status == NATS_SLOW_CONSUMER) {
        ph_nats_count_drop(nats, 1); // not to be expected: no subscription has a limit
        return;
    }
    const char* reason = NULL;
    natsConnection_GetLastError(connection, &reason);
    ph_nats_tell(nats, "libnats says: %s%s%s", natsStatus_GetText(status),
                 reason != NULL && *reason != '\0' ? ": " : "", reason != NULL ? reason : "");
}

// ---- opening ---------------------------------------------------------------------------------------

static ph_result set_secrets(natsOptions* options, const ph_nats_def* def,
                             const ph_nats_servers* list)
{
    natsStatus status = NATS_OK;
    if (def->user != NULL) {
        status = natsOptions_SetUserInfo(options, def->user, def->password);
    } else if (def->token != NULL) {
        status = natsOptions_SetToken(options, def->token);
    } else if (def->credentials_path != NULL) {
        const ph_result result = ph_nats_check_credentials_file(def);
        if (result != PH_OK) {
            return result;
        }
        status = natsOptions_SetUserCredentialsFromFiles(options, def->credentials_path, NULL);
    }
    if (status == NATS_OK && ph_nats_has_tls(def, list)) {
        status = natsOptions_SetSecure(options, true);
    }
    if (status != NATS_OK) {
        return PH_ERROR_MEMORY;
    }
    if (def->ca_path != NULL) {
        status = natsOptions_LoadCATrustedCertificates(options, def->ca_path);
        if (status != NATS_OK) {
            return ph_nats_refuse_file(def, "ph_nats_def.ca_path", def->ca_path,
                                       natsStatus_GetText(status));
        }
    }
    if (def->certificate_path != NULL) {
        status = natsOptions_LoadCertificatesChain(options, def->certificate_path, def->key_path);
        if (status != NATS_OK) {
            return ph_nats_refuse_file(def, "ph_nats_def.certificate_path", def->certificate_path,
                                       natsStatus_GetText(status));
        }
    }
    return PH_OK;
}

static bool set_behaviour(natsOptions* options, const ph_nats_def* def, ph_nats_servers* list)
{
    // Servers that others tell of are not checked like those of the def.
    const bool is_closed_network = !def->is_open_network && !ph_nats_has_tls(def, list) &&
                                   !ph_nats_has_credentials(def, list->urls[0]);
    return natsOptions_SetServers(options, list->urls, list->count) == NATS_OK &&
           natsOptions_SetName(options, def->name) == NATS_OK &&
           natsOptions_SetNoRandomize(options, true) == NATS_OK &&
           natsOptions_SetIgnoreDiscoveredServers(options, is_closed_network) == NATS_OK &&
           natsOptions_UseGlobalMessageDelivery(options, true) == NATS_OK &&
           natsOptions_SetNoEcho(options, true) == NATS_OK &&
           natsOptions_SetTimeout(options, CONNECT_MS) == NATS_OK &&
           natsOptions_SetMaxReconnect(options, -1) == NATS_OK &&
           natsOptions_SetReconnectWait(options, RETRY_MS) == NATS_OK &&
           natsOptions_SetReconnectJitter(options, RETRY_MS, RETRY_MS) == NATS_OK &&
           natsOptions_SetReconnectBufSize(options, RECONNECT_BYTES) == NATS_OK &&
           natsOptions_SetPingInterval(options, PING_MS) == NATS_OK &&
           natsOptions_SetMaxPingsOut(options, PINGS) == NATS_OK &&
           natsOptions_SetWriteDeadline(options, WRITE_MS) == NATS_OK &&
           natsOptions_SetIOBufSize(options, IO_BYTES) == NATS_OK &&
           natsOptions_SetFailRequestsOnDisconnect(options, true) == NATS_OK;
}

static bool set_calls(natsOptions* options, ph_nats* nats, bool is_waiting)
{
    return natsOptions_SetErrorHandler(options, on_complaint, nats) == NATS_OK &&
           natsOptions_SetDisconnectedCB(options, on_disconnected, nats) == NATS_OK &&
           natsOptions_SetReconnectedCB(options, on_reconnected, nats) == NATS_OK &&
           natsOptions_SetClosedCB(options, on_closed, nats) == NATS_OK &&
           (is_waiting ||
            natsOptions_SetRetryOnFailedConnect(options, true, on_connected, nats) == NATS_OK);
}

static ph_result make_options(ph_nats* nats, const ph_nats_def* def, ph_nats_servers* list,
                              natsOptions** options)
{
    const ph_check call = ph_nats_call(nats, "ph_nats_open");
    // One thread delivers, so that an order holds over all subscriptions, and thousands of them are cheap.
    nats_Open(-1);
    nats_SetMessageDeliveryPoolSize(1);
    if (natsOptions_Create(options) != NATS_OK) {
        return ph_fail_memory(&call);
    }
    ph_result result = set_secrets(*options, def, list);
    if (result == PH_OK &&
        (!set_behaviour(*options, def, list) || !set_calls(*options, nats, def->wait_ms > 0))) {
        result = PH_ERROR_MEMORY;
    }
    return result == PH_ERROR_MEMORY ? ph_fail_memory(&call) : result;
}

// Until a server answers, one refuses us, or the time is over.
static ph_result wait_for_server(ph_nats* nats, const ph_nats_def* def, natsOptions* options)
{
    const ph_check call = ph_nats_call(nats, "ph_nats_open");
    const int64_t end_ms = ph_nats_now_ms() + def->wait_ms;
    for (;;) {
        // Before it is: on_disconnected may run before libnats comes back, and has the last word.
        atomic_store(&nats->is_connected, def->wait_ms > 0);
        const natsStatus status = natsConnection_Connect(&nats->connection, options);
        if (status == NATS_OK || status == NATS_NOT_YET_CONNECTED) {
            return PH_OK;
        }
        nats->connection = NULL;
        const bool is_refused = status == NATS_CONNECTION_AUTH_FAILED ||
                                status == NATS_NOT_PERMITTED || status == NATS_SSL_ERROR ||
                                status == NATS_SECURE_CONNECTION_REQUIRED ||
                                status == NATS_SECURE_CONNECTION_WANTED;
        if (is_refused || ph_nats_now_ms() >= end_ms) {
            // Where none is there, libnats says nothing more.
            const bool is_absent = status == NATS_NO_SERVER;
            const char* reason = is_absent ? NULL : nats_GetLastError(NULL);
            return ph_fail(&call, PH_ERROR_SYSTEM, NULL, "%s by %.100s: %s%s%.60s%s",
                           is_refused ? "the connection is refused" : "no server answers",
                           // A URL may hold a password.
                           strchr(def->servers, '@') != NULL ? "ph_nats_def.servers" : def->servers,
                           natsStatus_GetText(status), reason != NULL ? ": " : "",
                           reason != NULL ? reason : "",
                           is_absent ? "; 'nats-server -js' starts one" : "");
        }
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000000L}, NULL);
    }
}

static ph_nats* make_state(const ph_nats_def* def)
{
    ph_nats* nats = ph_allocate_zeroed(&MEMORY, sizeof *nats);
    if (nats == NULL) {
        return NULL;
    }
    nats->on_error = def->on_error;
    nats->on_error_context = def->on_error_context;
    nats->pending_bytes = def->pending_bytes;
    nats->replicas = def->replicas;
    memcpy(nats->bucket, def->bucket, strlen(def->bucket) + 1);
    atomic_init(&nats->users, 1);
    atomic_init(&nats->payload_max, PAYLOAD_MAX);
    pthread_mutex_init(&nats->news_mutex, NULL);
    pthread_mutex_init(&nats->outgoing_mutex, NULL);
    pthread_mutex_init(&nats->inbox_mutex, NULL);
    pthread_mutex_init(&nats->records_mutex, NULL);
    pthread_cond_init(&nats->outgoing_wake, NULL);
    pthread_cond_init(&nats->records_wake, NULL);
    return nats;
}

void ph_nats_release(ph_nats* nats)
{
    if (atomic_fetch_sub_explicit(&nats->users, 1, memory_order_acq_rel) != 1) {
        return;
    }
    ph_release_array(&MEMORY, nats->inbox, nats->inbox_capacity, sizeof *nats->inbox);
    pthread_mutex_destroy(&nats->news_mutex);
    pthread_mutex_destroy(&nats->outgoing_mutex);
    pthread_mutex_destroy(&nats->inbox_mutex);
    pthread_mutex_destroy(&nats->records_mutex);
    pthread_cond_destroy(&nats->outgoing_wake);
    pthread_cond_destroy(&nats->records_wake);
    ph_release(&MEMORY, nats, sizeof *nats);
}

static ph_result connect_to_servers(ph_nats* nats, const ph_nats_def* def, ph_nats_servers* list)
{
    natsOptions* options = NULL;
    ph_result result = make_options(nats, def, list, &options);
    atomic_fetch_add(&nats->users, 1); // on_closed gives it back
    if (result == PH_OK) {
        result = wait_for_server(nats, def, options);
    }
    natsOptions_Destroy(options);
    if (result != PH_OK) {
        atomic_fetch_sub(&nats->users, 1);
        return result;
    }
    if (def->wait_ms > 0) {
        ask_server(nats, nats->connection);
    } else if (!atomic_load(&nats->is_connected)) {
        atomic_store(&nats->losses, 1); // one that is not there now
    }
    return PH_OK;
}

static ph_result start_threads(ph_nats* nats)
{
    const ph_check call = ph_nats_call(nats, "ph_nats_open");
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = 2000;
    if (natsConnection_JetStream(&nats->records, nats->connection, &options) != NATS_OK) {
        return ph_fail_memory(&call);
    }
    if (!ph_nats_start_sender(nats) || !ph_nats_start_records(nats)) {
        return ph_fail(&call, PH_ERROR_SYSTEM, NULL, "the system starts no more threads");
    }
    return PH_OK;
}

ph_result ph_nats_open(const ph_nats_def* def, ph_nats** nats)
{
    *nats = NULL;
    ph_nats_servers list;
    ph_result result = ph_nats_check_def(def, &list);
    if (result != PH_OK) {
        return result;
    }
    ph_nats* made = make_state(def);
    if (made == NULL) {
        const ph_check call = ph_check_begin(def->on_error, def->on_error_context, "ph_nats_open");
        return ph_fail_memory(&call);
    }
    result = connect_to_servers(made, def, &list);
    if (result == PH_OK) {
        result = start_threads(made);
    }
    if (result != PH_OK) {
        ph_nats_close(made);
        return result;
    }
    *nats = made;
    return PH_OK;
}

void ph_nats_close(ph_nats* nats)
{
    if (nats == NULL) {
        return;
    }
    ph_nats_stop_sender(nats);
    ph_nats_tell_owner(nats);
    atomic_store(&nats->is_closing, true);
    if (nats->connection != NULL) {
        natsConnection_Close(nats->connection); // ends a request that waits
    }
    ph_nats_stop_records(nats);
    ph_nats_destroy_records(nats);
    ph_nats_destroy_messages(nats);
    jsCtx_Destroy(nats->records);
    natsConnection_Destroy(nats->connection);
    ph_nats_release(nats);
}

// ---- the transport ---------------------------------------------------------------------------------

static uint64_t lost_count(void* context)
{
    return ph_nats_count_losses(context);
}

static bool is_connected(void* context)
{
    const ph_nats* nats = context;
    return atomic_load_explicit(&nats->is_connected, memory_order_relaxed);
}

ph_bus_transport ph_nats_transport(ph_nats* nats)
{
    return (ph_bus_transport){.context = nats,
                              .publish = ph_nats_publish,
                              .subscribe = ph_nats_subscribe,
                              .unsubscribe = ph_nats_unsubscribe,
                              .next = ph_nats_next,
                              .read = ph_nats_read,
                              .swap = ph_nats_swap,
                              .next_answer = ph_nats_next_answer,
                              .lost_count = lost_count,
                              .is_connected = is_connected};
}

ph_nats_stats ph_nats_get_stats(const ph_nats* of)
{
    ph_nats* nats = (ph_nats*)of; // for its locks
    ph_nats_stats stats = {.published_messages = nats->published_messages,
                           .published_bytes = nats->published_bytes,
                           .received_messages = nats->received_messages,
                           .received_bytes = nats->received_bytes,
                           .unsent_messages = atomic_load(&nats->unsent_messages),
                           .reconnects = atomic_load(&nats->reconnects),
                           .subscriptions = nats->subscription_count};
    pthread_mutex_lock(&nats->inbox_mutex);
    stats.dropped_messages = nats->dropped_messages;
    pthread_mutex_unlock(&nats->inbox_mutex);
    pthread_mutex_lock(&nats->news_mutex);
    memcpy(stats.server, nats->server, sizeof stats.server);
    pthread_mutex_unlock(&nats->news_mutex);
    return stats;
}
