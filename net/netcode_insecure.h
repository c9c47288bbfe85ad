// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Development without tokens: servers with is_insecure_dev, whose key is all zeros, so that every client makes its own
// token. That key is refused everywhere else, and such a server answers on private networks only. A few times
// per object.

#ifndef PINHOLE_NET_NETCODE_INSECURE_H
#define PINHOLE_NET_NETCODE_INSECURE_H

#include "base/check.h"

#include <pinhole/net/netcode_server.h>

// In constant time.
bool ph_insecure_is_zero(const uint8_t key[PH_NETCODE_KEY_SIZE]);

// A key of zeros with is_insecure_dev, any other without.
void ph_insecure_check_key(ph_check* check, const char* field,
                           const uint8_t key[PH_NETCODE_KEY_SIZE], bool is_insecure_dev);

// What stays when keys change: no key becomes zero, and none takes the place of zero.
// @return Whether the keys may change; reported otherwise.
bool ph_insecure_may_change(const ph_check* call, bool is_insecure_dev, const uint8_t* key,
                            const uint8_t* second_key);

// An address that such a server may have: private, or all of the machine.
void ph_insecure_check_address(ph_check* check, const char* field, const ph_address* address);

// A token that a client makes for itself.
typedef struct ph_insecure_wish {
    uint64_t protocol_id;
    uint64_t client_id; // 0: a random one
    const ph_address* addresses;
    int address_count;
} ph_insecure_wish;

ph_result ph_insecure_write_token(const ph_insecure_wish* wish, uint8_t token[PH_TOKEN_SIZE]);

#endif
