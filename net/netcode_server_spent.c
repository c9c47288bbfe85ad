// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a server has of its spent-tokens file: read at creation, written anew without what has expired at the start,
// one record more for each connection. While the server runs no more is written than that: the tick waits for it.

#include "net/netcode_server_state.h"

#include "base/check.h"

#include <errno.h>
#include <string.h>

#define FIELD "ph_net_server_def.spent_tokens_path"

enum {
    RECORDS_MAX = 1 << 20, // for which there is room in memory beside the tokens of this run
    RETRY_US = 1000000,    // a file that could not be written is not tried again before
};

// ---- creation

static ph_result fail_to_open(const ph_check* call, ph_result result, const char* path)
{
    switch (result) {
    case PH_ERROR_MEMORY:
        return result; // said by the caller
    case PH_ERROR_TAKEN:
        return ph_fail(call, result, FIELD, "is %s, which another server has; each needs one",
                       path);
    case PH_ERROR_FULL:
        return ph_fail(call, PH_ERROR_ARGUMENT, FIELD,
                       "is %s, which is too large; it must be a spent-tokens file, or none yet",
                       path);
    default:
        return ph_fail(call, PH_ERROR_SYSTEM, FIELD, "is %s; the operating system refuses it: %s",
                       path, strerror(errno));
    }
}

static ph_result check_kind(const ph_check* call, ph_spent_kind kind, const char* path)
{
    if (kind == PH_SPENT_STRANGE) {
        return ph_fail(call, PH_ERROR_ARGUMENT, FIELD,
                       "is %s, which holds something else; it must be a spent-tokens file, or none "
                       "yet",
                       path);
    }
    if (kind == PH_SPENT_LATER) {
        return ph_fail(call, PH_ERROR_ARGUMENT, FIELD,
                       "is %s, of another version; it must be of version %d", path,
                       PH_SPENT_VERSION);
    }
    return PH_OK;
}

// When they were made is not known: they count as the last of their second.
static void add_record(ph_net_server* server, const ph_spent_record* record)
{
    const ph_address nowhere = {0};
    const ph_token_age age = {
        .expire_s = record->expire_s,
        .made_us = UINT64_MAX,
        .is_dated = true,
    };
    if (ph_used_tokens_find(&server->used_tokens, record->tag) == NULL) {
        ph_used_token* used =
            ph_used_tokens_add(&server->used_tokens, record->tag, &age, &nowhere, 0);
        used->is_spent = true;
        used->is_noted = true;
    }
}

static ph_result take_records(ph_net_server* server, const ph_check* call, const uint8_t* bytes,
                              size_t size, uint64_t seed)
{
    ph_spent_reader reader;
    const ph_spent_kind kind = ph_spent_reader_begin(&reader, bytes, size);
    ph_result result = check_kind(call, kind, server->spent_file.path);
    const uint64_t in_file = server->spent_file.record_count;
    const int room = in_file < RECORDS_MAX ? (int)in_file : RECORDS_MAX;
    const int capacity = server->def.used_token_capacity;
    if (result == PH_OK) {
        result =
            ph_used_tokens_create(&server->used_tokens, &server->def.allocator,
                                  capacity < INT32_MAX - room ? capacity + room : capacity, seed);
    }
    if (result != PH_OK) {
        return result;
    }
    for (ph_spent_record record; ph_spent_reader_next(&reader, &record);) {
        add_record(server, &record);
    }
    server->oldest_token_us = reader.since_us;
    server->spent_dropped_s = reader.dropped_s;
    if (reader.dropped_s > server->used_tokens.forgotten.expire_s) {
        server->used_tokens.forgotten =
            (ph_token_age){.expire_s = reader.dropped_s, .made_us = UINT64_MAX, .is_dated = true};
    }
    server->is_spent_file_incomplete = kind == PH_SPENT_NEW || reader.damaged_count > 0;
    if (reader.damaged_count > 0) {
        (void)ph_fail(call, PH_ERROR_VALUE, FIELD,
                      "is %s, of which %d records are damaged; the others count, and dated tokens "
                      "made before this start are refused",
                      server->spent_file.path, reader.damaged_count);
    }
    return PH_OK;
}

ph_result ph_net_server_create_used(ph_net_server* server, const ph_check* call, uint64_t seed)
{
    const ph_net_server_def* def = &server->def;
    if (def->spent_tokens_path == NULL) {
        return ph_used_tokens_create(&server->used_tokens, &def->allocator,
                                     def->used_token_capacity, seed);
    }
    uint8_t* bytes;
    size_t size;
    ph_result result = ph_spent_file_open(&server->spent_file, def->spent_tokens_path,
                                          &def->allocator, &bytes, &size);
    if (result != PH_OK) {
        return fail_to_open(call, result, def->spent_tokens_path);
    }
    result = take_records(server, call, bytes, size, seed);
    ph_spent_file_release(&server->spent_file, bytes, size);
    server->def.spent_tokens_path = NULL; // the caller's
    return result;
}

// ---- while it runs

typedef struct going_over {
    const ph_net_server* server;
    int place;
} going_over;

static bool next_spent(void* context, ph_spent_record* record)
{
    going_over* now = context;
    const ph_used_tokens* tokens = &now->server->used_tokens;
    while (now->place < tokens->count) {
        const ph_used_token* token = &tokens->tokens[now->place++];
        if (token->is_noted && token->expire_s > now->server->unix_s) {
            memcpy(record->tag, token->tag, PH_NETCODE_TAG_SIZE);
            record->expire_s = token->expire_s;
            return true;
        }
    }
    return false;
}

// Of those that next_spent() leaves out; one that never expires is never left out.
static uint32_t last_dropped(const ph_net_server* server)
{
    uint64_t last_s = server->spent_dropped_s;
    for (int i = 0; i < server->used_tokens.count; ++i) {
        const ph_used_token* token = &server->used_tokens.tokens[i];
        if (token->is_noted && token->expire_s <= server->unix_s && token->expire_s > last_s) {
            last_s = token->expire_s;
        }
    }
    const uint64_t forgotten_s = server->used_tokens.forgotten.expire_s;
    last_s = forgotten_s > last_s ? forgotten_s : last_s;
    return last_s < UINT32_MAX ? (uint32_t)last_s : UINT32_MAX;
}

static bool rewrite(ph_net_server* server)
{
    going_over now = {.server = server};
    const uint32_t dropped_s = last_dropped(server);
    if (!ph_spent_file_rewrite(&server->spent_file, server->oldest_token_us, dropped_s, next_spent,
                               &now)) {
        return false;
    }
    server->spent_dropped_s = dropped_s;
    server->is_spent_file_incomplete = false;
    return true;
}

static bool report(ph_net_server* server, bool is_written, const char* function)
{
    ph_spent_file* file = &server->spent_file;
    if (!is_written && !file->is_failing) {
        const ph_check call =
            ph_check_begin(server->def.on_error, server->def.on_error_context, function);
        (void)ph_fail(&call, PH_ERROR_SYSTEM, FIELD,
                      "is %s, which cannot be written: %s; newcomers are refused until it can",
                      file->path, strerror(errno));
    }
    file->is_failing = !is_written;
    return is_written;
}

void ph_net_server_start_spent(ph_net_server* server, uint64_t start_us)
{
    // A file that says it begins in the future was made by a clock that was wrong.
    if (server->spent_file.path == NULL || server->is_spent_file_incomplete ||
        server->oldest_token_us > start_us) {
        server->oldest_token_us = start_us;
    }
    if (server->spent_file.path != NULL) {
        const bool is_written = rewrite(server);
        if (server->is_spent_file_incomplete) {
            report(server, is_written, "ph_net_server_start");
        }
    }
}

static bool add(ph_net_server* server, const ph_used_token* used)
{
    // What is not said to be missing must not be missing.
    if (server->is_spent_file_incomplete && server->now_us < server->spent_retry_us) {
        return false;
    }
    if (server->is_spent_file_incomplete && !rewrite(server)) {
        server->spent_retry_us = server->now_us + RETRY_US;
        return false;
    }
    ph_spent_record record = {.expire_s = used->expire_s};
    memcpy(record.tag, used->tag, PH_NETCODE_TAG_SIZE);
    return ph_spent_file_add(&server->spent_file, &record);
}

bool ph_net_server_note_spent(ph_net_server* server, ph_used_token* used)
{
    ph_spent_file* file = &server->spent_file;
    if (file->path == NULL || used->is_noted) {
        return true;
    }
    used->is_noted = report(server, add(server, used), "ph_net_server_receive");
    return used->is_noted;
}
