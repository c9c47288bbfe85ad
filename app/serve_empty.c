// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per client, and a question per tick.

#include "serve_empty.h"

#include "wall.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_US UINT64_C(1000000)

enum {
    TOKEN_SECONDS = 30,
    TIMEOUT_S = 10,
    WAIT_S = 20, // then the rest is told that it ends
};

struct serve_empty {
    serve_empty_def def;
    serve_key_pair* pair;
    int clients; // at the beginning
    uint64_t begun_us;
    bool is_told;
};

static bool give(void* context, int client, uint8_t token[PH_TOKEN_SIZE])
{
    const serve_empty* empty = context;
    ph_net_client_info info;
    if (!ph_host_get_client(empty->def.host, client, &info)) {
        return false;
    }
    ph_token_def made = ph_token_def_default();
    made.protocol_id = APP_PROTOCOL_ID;
    made.client_id = info.client_id;
    made.create_s = app_wall_unix_s();
    made.lifetime_s = TOKEN_SECONDS;
    made.timeout_s = TIMEOUT_S;
    made.addresses[made.address_count++] = empty->def.to;
    memcpy(made.private_key, empty->pair->key, sizeof made.private_key);
    const bool is_made = ph_token_write(&made, token) == PH_OK;
    app_key_wipe(made.private_key);
    return is_made;
}

serve_empty* serve_empty_begin(const serve_empty_def* def, ph_fault* fault)
{
    serve_empty* empty = calloc(1, sizeof *empty);
    if (empty == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    empty->def = *def;
    empty->pair = serve_keys_open(def->keys, fault);
    if (empty->pair == NULL) {
        free(empty);
        return NULL;
    }
    char address[PH_ADDRESS_TEXT_MAX];
    empty->clients = ph_host_client_count(def->host);
    empty->begun_us = ph_socket_now_us();
    serve_writer_add(def->log, "emptying: %d clients are sent on to %s", empty->clients,
                     ph_address_print(&def->to, address));
    ph_host_empty(def->host, give, empty);
    return empty;
}

void serve_empty_end(serve_empty* empty)
{
    if (empty == NULL) {
        return;
    }
    ph_host_empty(empty->def.host, NULL, NULL);
    serve_key_pair_destroy(empty->pair);
    free(empty);
}

bool serve_empty_is_done(serve_empty* empty)
{
    const int left = ph_host_client_count(empty->def.host);
    const uint64_t took_us = ph_socket_now_us() - empty->begun_us;
    const bool is_done = left == 0 || took_us >= WAIT_S * SECOND_US;
    if (is_done && !empty->is_told) {
        empty->is_told = true;
        serve_writer_add(empty->def.log, "emptied: %d of %d clients have gone in %.1f s",
                         empty->clients - left, empty->clients, (double)took_us / 1e6);
    }
    return is_done;
}
