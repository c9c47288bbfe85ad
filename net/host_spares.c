// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few times per connection, and once per probe.

#include "net/host_spares.h"

#include "base/allocator.h"
#include "base/check.h"
#include "net/host_state.h"

#include <sodium.h>
#include <string.h>

enum {
    SECOND_US = 1000000,
    RESEND_US = 300000,    // of a part
    REST_US = 100000,      // behind each, in which the view has the budget
    GIVE_UP_US = 10000000, // then the client is none that takes spares
    ASK_AGAIN_US = 3000000,
};

typedef enum give_kind {
    GIVE_MORE,    // beside those that it has
    GIVE_RENEWED, // in place of them
    GIVE_MOVE,    // to be used at once
} give_kind;

// ---- the table

ph_result ph_host_spares_create(ph_host_spares* spares, int capacity, const ph_allocator* allocator)
{
    const size_t room = (size_t)capacity;
    *spares = (ph_host_spares){
        .by_client = ph_allocate_zeroed(allocator, room * sizeof *spares->by_client),
        .probed = ph_allocate_array(allocator, room, sizeof *spares->probed),
        .capacity = capacity,
        .allocator = *allocator,
    };
    if (spares->by_client == NULL || spares->probed == NULL) {
        ph_host_spares_destroy(spares);
        return PH_ERROR_MEMORY;
    }
    return PH_OK;
}

// A token is a secret.
static void release_token(ph_host_spares* spares, ph_host_spare* it)
{
    if (it->token != NULL) {
        sodium_memzero(it->token, PH_TOKEN_SIZE);
        ph_release(&spares->allocator, it->token, PH_TOKEN_SIZE);
        it->token = NULL;
    }
}

void ph_host_spares_destroy(ph_host_spares* spares)
{
    for (int i = 0; spares->by_client != NULL && i < spares->capacity; ++i) {
        release_token(spares, &spares->by_client[i]);
    }
    const ph_allocator allocator = spares->allocator;
    const size_t room = (size_t)spares->capacity;
    ph_release(&allocator, spares->by_client, room * sizeof *spares->by_client);
    ph_release_array(&allocator, spares->probed, room, sizeof *spares->probed);
    *spares = (ph_host_spares){0};
}

void ph_host_spares_end(ph_host_spares* spares, int client)
{
    ph_host_spare* it = &spares->by_client[client];
    const bool is_probed = it->is_probed; // it is still in the list
    release_token(spares, it);
    *it = (ph_host_spare){.is_probed = is_probed};
}

// ---- what comes

static bool take_have(const ph_host* host, int client, const ph_admission* have)
{
    ph_host_spare* it = &host->spares.by_client[client];
    it->held = have->held;
    if (have->number == it->number && it->token != NULL) {
        it->parts |= have->parts & ph_admission_all_parts(it->size);
    }
    return have->number == 0 || it->number != 0; // else there was none to have
}

bool ph_host_spares_take(const ph_host* host, int client, const ph_admission* admission)
{
    if (admission->kind == PH_ADMISSION_HAVE) {
        return take_have(host, client, admission);
    }
    ph_host_spares* spares = (ph_host_spares*)(uintptr_t)&host->spares; // the list alone is shared
    ph_host_spare* it = &spares->by_client[client];
    if (!it->is_probed) {
        it->is_probed = true;
        const int place = atomic_fetch_add_explicit(&spares->probed_count, 1, memory_order_relaxed);
        spares->probed[place] = client;
    }
    return true;
}

void ph_host_spares_answer(ph_host* host)
{
    ph_host_spares* spares = &host->spares;
    const int count = atomic_load_explicit(&spares->probed_count, memory_order_relaxed);
    if (count == 0) {
        return;
    }
    atomic_store_explicit(&spares->probed_count, 0, memory_order_relaxed);
    const uint64_t now_us = ph_host_now_us(host);
    ph_host_send_batch* batch = ph_host_workers_batch(&host->workers, 0);
    const ph_admission answer = {.kind = PH_ADMISSION_ANSWER};
    for (int i = 0; i < count; ++i) {
        const int client = spares->probed[i];
        spares->by_client[client].is_probed = false;
        // A budget that cannot pay for it has just been spent: then something is on its way.
        if (ph_host_sessions_find(&host->sessions, client) != NULL &&
            ph_host_session_say(host, client, now_us, &answer, batch)) {
            ++spares->answered;
        }
    }
    ph_host_send_batch_send(host, batch);
}

// ---- what goes

static size_t size_without_zeros(const uint8_t token[PH_TOKEN_SIZE])
{
    size_t size = PH_TOKEN_SIZE;
    while (size > 1 && token[size - 1] == 0) {
        --size;
    }
    return size;
}

bool ph_host_spares_send(ph_host* host, int client, uint64_t now_us, ph_host_send_batch* batch)
{
    ph_host_spare* it = &host->spares.by_client[client];
    for (int part = 0; it->token != NULL && part * PH_ADMISSION_PART_MAX < it->size; ++part) {
        if ((it->parts >> part & 1) != 0 ||
            (it->sent_us[part] != 0 && now_us < it->sent_us[part] + RESEND_US)) {
            continue;
        }
        const size_t offset = (size_t)part * PH_ADMISSION_PART_MAX;
        const ph_admission spare = {
            .kind = PH_ADMISSION_SPARE,
            .number = it->number,
            .asks_move = it->asks_move,
            .renews = it->renews,
            .spare_size = it->size,
            .offset = (uint32_t)offset,
            .bytes = it->token + offset,
            .size = ph_admission_part_size(it->size, offset),
        };
        if (!ph_host_session_say(host, client, now_us, &spare, batch)) {
            return now_us < it->rested_us;
        }
        it->sent_us[part] = now_us;
        it->rested_us = now_us + REST_US;
    }
    return true;
}

static ph_result give(ph_host* host, int client, const void* token, give_kind kind)
{
    ph_host_spares* spares = &host->spares;
    ph_host_spare* it = &spares->by_client[client];
    if (it->token == NULL) {
        it->token = ph_allocate(&spares->allocator, PH_TOKEN_SIZE);
    }
    if (it->token == NULL) {
        return PH_ERROR_MEMORY;
    }
    memcpy(it->token, token, PH_TOKEN_SIZE);
    memset(it->sent_us, 0, sizeof it->sent_us);
    it->size = (uint16_t)size_without_zeros(it->token);
    it->number = (uint8_t)(it->number % UINT8_MAX + 1); // never 0
    it->parts = 0;
    it->asks_move = kind == GIVE_MOVE;
    it->renews = kind == GIVE_RENEWED;
    it->given_us = ph_host_now_us(host);
    host->sessions.turns[client].has_spare = true;
    ++spares->given;
    return PH_OK;
}

static ph_result check_spare(const ph_host* host, const ph_check* call, const void* token,
                             size_t size)
{
    ph_token read;
    const ph_token_fault fault = ph_token_read(token, size, &read);
    const uint64_t protocol_id = read.protocol_id;
    ph_token_wipe(&read);
    if (fault != PH_TOKEN_GOOD) {
        return ph_fail(call, PH_ERROR_ARGUMENT, "token", "is of no use: %s",
                       ph_token_fault_text(fault));
    }
    return protocol_id == host->def.protocol_id
               ? PH_OK
               : ph_fail(call, PH_ERROR_ARGUMENT, "token",
                         "is of protocol %llu, but ph_host_def.protocol_id is %llu; it must be for "
                         "a host of the same game",
                         (unsigned long long)protocol_id,
                         (unsigned long long)host->def.protocol_id);
}

static ph_result give_checked(ph_host* host, int client, const void* token, size_t size,
                              give_kind kind, const char* function)
{
    if (ph_host_sessions_find(&host->sessions, client) == NULL) {
        return PH_ERROR_STALE; // it may have left
    }
    const ph_check call = ph_check_begin(host->def.on_error, host->def.on_error_context, function);
    const ph_result result = check_spare(host, &call, token, size);
    if (result != PH_OK) {
        return result;
    }
    return give(host, client, token, kind) == PH_OK ? PH_OK : ph_fail_memory(&call);
}

ph_result ph_host_give_spare(ph_host* host, int client, const void* token, size_t size)
{
    return give_checked(host, client, token, size, GIVE_MORE, __func__);
}

ph_result ph_host_renew_spares(ph_host* host, int client, const void* token, size_t size)
{
    return give_checked(host, client, token, size, GIVE_RENEWED, __func__);
}

ph_result ph_host_send_on(ph_host* host, int client, const void* token, size_t size)
{
    return give_checked(host, client, token, size, GIVE_MOVE, __func__);
}

bool ph_host_is_giving_spare(const ph_host* host, int client)
{
    return ph_host_sessions_find(&host->sessions, client) != NULL &&
           host->spares.by_client[client].token != NULL;
}

int ph_host_spare_count(const ph_host* host, int client)
{
    if (ph_host_sessions_find(&host->sessions, client) == NULL) {
        return 0;
    }
    const ph_host_spare* it = &host->spares.by_client[client];
    return it->held + (it->token != NULL ? 1 : 0);
}

// ---- emptying

void ph_host_empty(ph_host* host, ph_host_give_spare_fn* give_spare, void* context)
{
    host->spares.give = give_spare;
    host->spares.give_context = context;
}

static void ask_to_move(ph_host* host, int client, uint64_t now_us)
{
    ph_host_spares* spares = &host->spares;
    uint8_t token[PH_TOKEN_SIZE];
    const ph_check call =
        ph_check_begin(host->def.on_error, host->def.on_error_context, "ph_host_empty");
    if (spares->give(spares->give_context, client, token) &&
        check_spare(host, &call, token, sizeof token) == PH_OK &&
        give(host, client, token, GIVE_MOVE) == PH_OK) {
        spares->by_client[client].asked_us = now_us;
    }
    sodium_memzero(token, sizeof token);
}

static bool may_be_asked(const ph_host* host, int client, uint64_t now_us)
{
    const ph_host_spare* it = &host->spares.by_client[client];
    // While a token is under way, another one would only begin anew with its first part.
    return host->admissions.by_client[client].state == PH_HOST_ADMISSION_JOINED &&
           (it->asked_us == 0 ||
            (!(it->asks_move && it->token != NULL) && now_us >= it->asked_us + ASK_AGAIN_US));
}

// All of them in a second: the other host has a handshake with each.
static void empty(ph_host* host, uint64_t now_us)
{
    const ph_host_sessions* sessions = &host->sessions;
    const int64_t share = (int64_t)sessions->count * host->def.tick_us / SECOND_US;
    int64_t left = share + 1;
    for (int i = 0; i < sessions->count && left > 0; ++i) {
        if (may_be_asked(host, sessions->active[i], now_us)) {
            ask_to_move(host, sessions->active[i], now_us);
            --left;
        }
    }
}

static void finish(ph_host* host, int client, uint64_t now_us)
{
    ph_host_spare* it = &host->spares.by_client[client];
    const bool is_taken = it->token != NULL && it->parts == ph_admission_all_parts(it->size);
    if (is_taken || it->token == NULL || now_us >= it->given_us + GIVE_UP_US) {
        host->spares.taken += is_taken;
        it->asked_us = it->asks_move && it->token != NULL ? now_us : it->asked_us;
        release_token(&host->spares, it);
        host->sessions.turns[client].has_spare = false;
    }
}

void ph_host_spares_tick(ph_host* host, uint64_t now_us)
{
    for (int i = 0; i < host->sessions.count; ++i) {
        const int client = host->sessions.active[i];
        if (host->sessions.turns[client].has_spare) {
            finish(host, client, now_us);
        }
    }
    if (host->spares.give != NULL) {
        empty(host, now_us);
    }
}
