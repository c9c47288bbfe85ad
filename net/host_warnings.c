// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "net/host_state.h"

#include "base/check.h"
#include "net/netcode_server_state.h"

enum {
    INSECURE_EVERY_US = 60000000,
    REQUESTS_EVERY_US = 10000000,
    LOOK_EVERY_US = 1000000,
    WAITING_US = 5000000,
};

static ph_check begin(const ph_host* host)
{
    return ph_check_begin(host->def.on_error, host->def.on_error_context, "ph_host_tick");
}

// ---- insecure

static void warn_insecure(ph_host* host, uint64_t now_us)
{
    uint64_t* told_us = &host->warnings.insecure_us;
    if (*told_us != 0 && now_us - *told_us < INSECURE_EVERY_US) {
        return;
    }
    *told_us = now_us > 0 ? now_us : 1;
    const ph_check call = begin(host);
    char address[PH_ADDRESS_TEXT_MAX];
    const ph_address local = ph_host_local_address(host);
    (void)ph_fail(&call, PH_OK, "ph_host_def.is_insecure_dev",
                  "is set: whoever reaches %s from this machine or a private network is let in, "
                  "without a token and under any client id; for development only",
                  ph_address_print(&local, address));
}

// ---- requests

static const ph_net_refusal KINDS[PH_HOST_WARNINGS] = {
    PH_NET_REFUSAL_TOKEN_SEAL,   PH_NET_REFUSAL_PROTOCOL,    PH_NET_REFUSAL_EXPIRED,
    PH_NET_REFUSAL_TOKEN_SERVER, PH_NET_REFUSAL_NOT_PRIVATE,
};

void ph_host_note_refusal(ph_host* host, ph_net_refusal refusal, const ph_address* from)
{
    for (int i = 0; i < PH_HOST_WARNINGS; ++i) {
        if (KINDS[i] == refusal) {
            ++host->warnings.requests[i].count;
            host->warnings.requests[i].last = *from;
            host->warnings.has_new = true;
        }
    }
}

// What is the matter, and what to look at.
static const char* sentence_of(const ph_host* host, ph_net_refusal refusal)
{
    switch (refusal) {
    case PH_NET_REFUSAL_TOKEN_SEAL:
        return host->def.is_insecure_dev
                   ? "with tokens, which a host with is_insecure_dev does not take: its clients "
                     "connect by ph_peer_connect_to()"
                   : "with tokens that the private key does not open: backend and host must have "
                     "the same key, and ph_peer_connect_to() needs is_insecure_dev";
    case PH_NET_REFUSAL_PROTOCOL:
        return "for another protocol_id than that of ph_host_def: it must be the same in the "
               "tokens";
    case PH_NET_REFUSAL_EXPIRED:
        return "with tokens that have expired: create_s must be the time at which one is made, and "
               "the clocks of backend and host must agree";
    case PH_NET_REFUSAL_TOKEN_SERVER:
        return "with tokens for other servers: their addresses must be what "
               "ph_host_public_address() says, set by public_address";
    default:
        return "from public addresses, which a host with is_insecure_dev does not answer";
    }
}

static void warn_requests(ph_host* host, uint64_t now_us)
{
    host->warnings.has_new = false;
    for (int i = 0; i < PH_HOST_WARNINGS; ++i) {
        ph_host_warning* warning = &host->warnings.requests[i];
        const bool is_due = warning->told_us == 0 || now_us - warning->told_us >= REQUESTS_EVERY_US;
        if (warning->count > 0 && is_due) {
            const ph_check call = begin(host);
            char count[PH_COUNT_TEXT_SIZE];
            char address[PH_ADDRESS_TEXT_MAX];
            (void)ph_fail(&call, PH_OK, NULL, "%s request%s %s; the last came from %s",
                          ph_count_text((int64_t)warning->count, count),
                          warning->count == 1 ? "" : "s", sentence_of(host, KINDS[i]),
                          ph_address_print(&warning->last, address));
            *warning = (ph_host_warning){.told_us = now_us > 0 ? now_us : 1};
        }
        host->warnings.has_new = host->warnings.has_new || warning->count > 0;
    }
}

// ---- clients that wait

static void warn_waiting(ph_host* host, uint64_t now_us)
{
    const ph_net_slots* slots = &host->server->slots;
    if (slots->connected_count <= host->sessions.count ||
        now_us - host->warnings.waiting_us < LOOK_EVERY_US) {
        return;
    }
    host->warnings.waiting_us = now_us;
    for (int client = 0; client < slots->capacity; ++client) {
        const ph_net_slot* slot = &slots->slots[client];
        if (!slot->is_connected || now_us - slot->connected_us < WAITING_US ||
            ph_host_sessions_find(&host->sessions, client) != NULL) {
            continue;
        }
        const ph_check call = begin(host);
        (void)ph_fail(&call, PH_OK, NULL,
                      "client %d connected %d s ago and was not admitted: call ph_host_admit() "
                      "when ph_host_next_event() gives PH_NET_CONNECTED; told once",
                      client, (int)((now_us - slot->connected_us) / 1000000));
        host->warnings.is_waiting_told = true;
        return;
    }
}

// ---- calls that are forgotten

static void warn_idle(ph_host* host, uint64_t now_us)
{
    ph_host_warnings* warnings = &host->warnings;
    const bool has_ticked = ph_world_tick_count(host->def.world) > 0;
    if (host->sessions.count == 0 || (warnings->has_sent && has_ticked)) {
        warnings->is_idle_told = host->sessions.count > 0;
        warnings->admitted_us = 0;
        return;
    }
    if (warnings->admitted_us == 0) {
        warnings->admitted_us = now_us > 0 ? now_us : 1;
    } else if (now_us - warnings->admitted_us >= WAITING_US) {
        const ph_check call = begin(host);
        (void)ph_fail(
            &call, PH_OK, NULL, "a client was admitted 5 s ago, and %s; told once",
            warnings->has_sent
                ? "the world was never ticked: call ph_world_tick() before each ph_host_send()"
                : "nothing was sent: call ph_host_send() after each ph_world_tick()");
        warnings->is_idle_told = true;
    }
}

void ph_host_warn(ph_host* host, uint64_t now_us)
{
    if (host->def.is_insecure_dev) {
        warn_insecure(host, now_us);
    }
    if (host->warnings.has_new) {
        warn_requests(host, now_us);
    }
    if (!host->warnings.is_waiting_told) {
        warn_waiting(host, now_us);
    }
    if (!host->warnings.is_idle_told) {
        warn_idle(host, now_us);
    }
}
