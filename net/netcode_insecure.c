// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "net/netcode_insecure.h"

#include "net/net_tools.h"
#include "net/netcode_packet.h"

#include <sodium.h>
#include <string.h>

enum {
    // Also how long a client tries, at most; still within 32 bits.
    LIFETIME_S = 10 * 365 * 86400,
    TIMEOUT_S = 10,
};

bool ph_insecure_is_zero(const uint8_t key[PH_NETCODE_KEY_SIZE])
{
    return sodium_is_zero(key, PH_NETCODE_KEY_SIZE) == 1;
}

static const char* const ALL_ZERO =
    "is all zero, which everybody can guess; make one with 'pinhole token --make-key FILE', or set "
    "is_insecure_dev to develop without tokens";

void ph_insecure_check_key(ph_check* check, const char* field,
                           const uint8_t key[PH_NETCODE_KEY_SIZE], bool is_insecure_dev)
{
    const bool is_zero = ph_insecure_is_zero(key);
    if (check->result != PH_OK || is_zero == is_insecure_dev) {
        return;
    }
    check->result = is_zero ? ph_fail(check, PH_ERROR_ARGUMENT, field, "%s", ALL_ZERO)
                            : ph_fail(check, PH_ERROR_ARGUMENT, field,
                                      "is set, and so is is_insecure_dev, which lets everybody in; "
                                      "leave one of them out");
}

bool ph_insecure_may_change(const ph_check* call, bool is_insecure_dev, const uint8_t* key,
                            const uint8_t* second_key)
{
    if (is_insecure_dev) {
        (void)ph_fail(call, PH_ERROR_ARGUMENT, NULL,
                      "a server with is_insecure_dev has no keys that could change");
        return false;
    }
    const bool is_zero = ph_insecure_is_zero(key);
    if (is_zero || (second_key != NULL && ph_insecure_is_zero(second_key))) {
        (void)ph_fail(call, PH_ERROR_ARGUMENT, is_zero ? "private_key" : "second_key",
                      "is all zero, which everybody can guess; the keys stay as they were");
        return false;
    }
    return true;
}

void ph_insecure_check_address(ph_check* check, const char* field, const ph_address* address)
{
    if (check->result != PH_OK || ph_address_is_private(address) || ph_address_is_any(address)) {
        return;
    }
    char text[PH_ADDRESS_TEXT_MAX];
    check->result = ph_fail(check, PH_ERROR_ARGUMENT, field,
                            "is %s, a public address; with is_insecure_dev it must be one of "
                            "loopback, of a private network, or all of the machine",
                            ph_address_print(address, text));
}

ph_result ph_insecure_write_token(const ph_insecure_wish* wish, uint8_t token[PH_TOKEN_SIZE])
{
    ph_netcode_start();
    ph_token_secrets secrets;
    randombytes_buf(&secrets, sizeof secrets);
    ph_token_def def = ph_token_def_default();
    def.is_insecure_dev = true;
    def.protocol_id = wish->protocol_id;
    def.client_id = wish->client_id;
    while (def.client_id == 0) {
        randombytes_buf(&def.client_id, sizeof def.client_id);
    }
    // It never expires, so that no server forgets one and takes others for it.
    def.create_s = UINT64_MAX - LIFETIME_S;
    def.lifetime_s = LIFETIME_S;
    def.timeout_s = TIMEOUT_S;
    def.address_count = wish->address_count;
    memcpy(def.addresses, wish->addresses, (size_t)wish->address_count * sizeof *wish->addresses);
    // Undated: a server takes it whenever that was started, and by whatever clock.
    const ph_result result = ph_token_write_with(&def, &secrets, token);
    sodium_memzero(&secrets, sizeof secrets);
    return result;
}
