// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Connect tokens, both parts. The first byte says which: the public part as a client reads it, or
// the private part behind its seal, as a server reads it. What is accepted is written again and
// must be the same, as far as it says anything.

#include "net/netcode_bytes.h"
#include "net/netcode_private.h"
#include "support/fuzz_netcode.h"
#include "net/net_tools.h"
#include "net/netcode_packet.h"

#include <sodium.h>
#include <string.h>

enum {
    ADDRESSES_AT = PH_NETCODE_VERSION_SIZE + 24 + PH_TOKEN_NONCE_SIZE + PH_TOKEN_PRIVATE_SIZE + 4,
    PRIVATE_PLAIN_SIZE = PH_TOKEN_PRIVATE_SIZE - PH_NETCODE_TAG_SIZE,
};

// An IPv4 address in IPv6 clothes is read as what it is, and written as that.
static bool has_mapped(const uint8_t* at, int count)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    for (int i = 0; i < count; ++i) {
        if (*at == PH_ADDRESS_IPV6 && memcmp(at + 1, mapped, sizeof mapped) == 0) {
            return true;
        }
        at += *at == PH_ADDRESS_IPV6 ? PH_NETCODE_IPV6_SIZE : 7;
    }
    return false;
}

static void try_public(fuzz_source* input)
{
    ph_token_secrets secrets;
    const ph_token_def def = fuzz_netcode_token(1, 1, &secrets);
    uint8_t bytes[PH_TOKEN_SIZE];
    fuzz_demand(ph_token_write_with(&def, &secrets, bytes) == PH_OK);
    // The input lies over a good token, at a place of its choice.
    size_t place = fuzz_take(input, 2) == 0 ? 0 : ADDRESSES_AT - 4;
    place += fuzz_take(input, 64);
    fuzz_netcode_take_bytes(input, bytes + place, sizeof bytes - place);
    ph_token token;
    if (ph_token_read(bytes, sizeof bytes, &token) != PH_TOKEN_GOOD) {
        static const ph_token zeros;
        fuzz_demand(memcmp(&token, &zeros, sizeof token) == 0);
        return;
    }
    fuzz_demand(token.create_s <= token.expire_s);
    if (has_mapped(bytes + ADDRESSES_AT + 4, token.address_count)) {
        return;
    }
    uint8_t again[PH_TOKEN_SIZE];
    uint8_t* end = ph_put_addresses(again, token.addresses, token.address_count);
    end = ph_put_bytes(end, token.secrets.client_to_server_key, PH_NETCODE_KEY_SIZE);
    end = ph_put_bytes(end, token.secrets.server_to_client_key, PH_NETCODE_KEY_SIZE);
    fuzz_demand(memcmp(again, bytes + ADDRESSES_AT, (size_t)(end - again)) == 0);
}

static void try_private(fuzz_source* input)
{
    static const uint8_t key[PH_NETCODE_KEY_SIZE] = {1};
    static const uint8_t nonce[PH_TOKEN_NONCE_SIZE] = {2};
    const ph_token_seal seal = {.protocol_id = 7, .expire_s = 9, .nonce = nonce, .key = key};
    uint8_t plain[PRIVATE_PLAIN_SIZE] = {0};
    fuzz_netcode_take_bytes(input, plain, sizeof plain);
    uint8_t associated[PH_NETCODE_VERSION_SIZE + 16];
    ph_put_u64(ph_put_u64(ph_put_version(associated), seal.protocol_id), seal.expire_s);
    uint8_t sealed[PH_TOKEN_PRIVATE_SIZE];
    crypto_aead_xchacha20poly1305_ietf_encrypt(sealed, NULL, plain, sizeof plain, associated,
                                               sizeof associated, NULL, nonce, key);
    ph_token_private token;
    const ph_net_refusal refusal = ph_token_private_open(sealed, &seal, &token);
    fuzz_demand(refusal == PH_NET_REFUSAL_NONE || refusal == PH_NET_REFUSAL_TOKEN_DATA);
    if (refusal != PH_NET_REFUSAL_NONE || has_mapped(plain + 16, token.address_count)) {
        return;
    }
    uint8_t again[PRIVATE_PLAIN_SIZE];
    uint8_t* end = ph_put_u64(again, token.client_id);
    end = ph_put_u32(end, (uint32_t)token.timeout_s);
    end = ph_put_addresses(end, token.addresses, token.address_count);
    end = ph_put_bytes(end, token.client_to_server_key, PH_NETCODE_KEY_SIZE);
    end = ph_put_bytes(end, token.server_to_client_key, PH_NETCODE_KEY_SIZE);
    end = ph_put_bytes(end, token.user_data, PH_TOKEN_USER_DATA_SIZE);
    fuzz_demand(memcmp(again, plain, (size_t)(end - again)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    ph_netcode_start();
    fuzz_source input = {.bytes = data, .left = size};
    if (fuzz_take(&input, 2) == 0) {
        try_public(&input);
    } else {
        try_private(&input);
    }
    return 0;
}
