// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

//   private token, 1024:
//   | client id 8 | timeout 4 | count 4 | addresses | keys 32 + 32 | user data 256 | zeros |
//   | mark 8 | made at 8 | tag 16 |
//
//   Mark and time are ours, in what the standard fills with zeros and does not read; tokens of other makers
//   have zeros there.
//
//   challenge, 308:
//   | sequence 8 | client id 8 | user data 256 | zeros 20 | tag 16 |

#include "net/netcode_private.h"

#include "net/netcode_bytes.h"

#include <sodium.h>

enum {
    PRIVATE_PLAIN_SIZE = PH_TOKEN_PRIVATE_SIZE - PH_NETCODE_TAG_SIZE,
    CHALLENGE_PLAIN_SIZE = PH_CHALLENGE_SIZE - PH_NETCODE_TAG_SIZE,
    MARK_AT = PRIVATE_PLAIN_SIZE - 16,
    PRIVATE_ASSOCIATED_SIZE = PH_NETCODE_VERSION_SIZE + 8 + 8,
};

_Static_assert(8 + 4 + 4 + PH_TOKEN_ADDRESSES_MAX * PH_NETCODE_IPV6_SIZE + 2 * PH_NETCODE_KEY_SIZE +
                       PH_TOKEN_USER_DATA_SIZE <=
                   MARK_AT,
               "the longest private token fits");
_Static_assert(PH_NETCODE_TAG_SIZE == crypto_aead_xchacha20poly1305_ietf_ABYTES &&
                   PH_NETCODE_TAG_SIZE == crypto_aead_chacha20poly1305_ietf_ABYTES &&
                   PH_NETCODE_KEY_SIZE == crypto_aead_xchacha20poly1305_ietf_KEYBYTES &&
                   PH_NETCODE_KEY_SIZE == crypto_aead_chacha20poly1305_ietf_KEYBYTES &&
                   PH_TOKEN_NONCE_SIZE == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES &&
                   (int)PH_NETCODE_SEQUENCE_NONCE_SIZE ==
                       (int)crypto_aead_chacha20poly1305_ietf_NPUBBYTES,
               "the standard's sizes are libsodium's");

// ---- private token

#define MARK "pinhole\1" // and its zero, which does not count
_Static_assert(sizeof MARK == 9, "eight letters");

static void put_associated(uint8_t associated[PRIVATE_ASSOCIATED_SIZE], const ph_token_seal* seal)
{
    uint8_t* at = ph_put_version(associated);
    at = ph_put_u64(at, seal->protocol_id);
    ph_put_u64(at, seal->expire_s);
}

void ph_token_private_seal(const ph_token_private* token, const ph_token_seal* seal,
                           uint8_t sealed[PH_TOKEN_PRIVATE_SIZE])
{
    memset(sealed, 0, PH_TOKEN_PRIVATE_SIZE);
    uint8_t* at = ph_put_u64(sealed, token->client_id);
    at = ph_put_u32(at, (uint32_t)token->timeout_s);
    at = ph_put_addresses(at, token->addresses, token->address_count);
    at = ph_put_bytes(at, token->client_to_server_key, PH_NETCODE_KEY_SIZE);
    at = ph_put_bytes(at, token->server_to_client_key, PH_NETCODE_KEY_SIZE);
    ph_put_bytes(at, token->user_data, PH_TOKEN_USER_DATA_SIZE);
    if (token->is_dated) {
        ph_put_u64(ph_put_bytes(sealed + MARK_AT, MARK, 8), token->made_us);
    }

    uint8_t associated[PRIVATE_ASSOCIATED_SIZE];
    put_associated(associated, seal);
    crypto_aead_xchacha20poly1305_ietf_encrypt(sealed, NULL, sealed, PRIVATE_PLAIN_SIZE, associated,
                                               sizeof associated, NULL, seal->nonce, seal->key);
}

static bool read_private(const uint8_t plain[PRIVATE_PLAIN_SIZE], ph_token_private* token)
{
    uint32_t timeout;
    const uint8_t* at = ph_take_u64(plain, &token->client_id);
    at = ph_take_u32(at, &timeout);
    if (ph_take_addresses(&at, token->addresses, &token->address_count) != PH_ADDRESSES_GOOD) {
        return false;
    }
    memcpy(&token->timeout_s, &timeout, sizeof timeout); // two's complement, whatever the compiler
    at = ph_take_bytes(at, token->client_to_server_key, PH_NETCODE_KEY_SIZE);
    at = ph_take_bytes(at, token->server_to_client_key, PH_NETCODE_KEY_SIZE);
    ph_take_bytes(at, token->user_data, PH_TOKEN_USER_DATA_SIZE);
    token->is_dated = memcmp(plain + MARK_AT, MARK, 8) == 0;
    token->made_us = token->is_dated ? ph_number_at(plain + MARK_AT + 8, 8) : 0;
    return token->timeout_s != 0; // a connection that ends at once
}

ph_net_refusal ph_token_private_open(const uint8_t sealed[PH_TOKEN_PRIVATE_SIZE],
                                     const ph_token_seal* seal, ph_token_private* token)
{
    memset(token, 0, sizeof *token);
    uint8_t associated[PRIVATE_ASSOCIATED_SIZE];
    put_associated(associated, seal);
    uint8_t plain[PRIVATE_PLAIN_SIZE];
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(plain, NULL, NULL, sealed, PH_TOKEN_PRIVATE_SIZE,
                                                   associated, sizeof associated, seal->nonce,
                                                   seal->key) != 0) {
        return PH_NET_REFUSAL_TOKEN_SEAL;
    }
    const bool is_good = read_private(plain, token);
    sodium_memzero(plain, sizeof plain);
    if (!is_good) {
        sodium_memzero(token, sizeof *token);
        return PH_NET_REFUSAL_TOKEN_DATA;
    }
    return PH_NET_REFUSAL_NONE;
}

// ---- challenge

void ph_netcode_nonce(uint64_t sequence, uint8_t nonce[PH_NETCODE_SEQUENCE_NONCE_SIZE])
{
    ph_put_u64(ph_put_u32(nonce, 0), sequence);
}

void ph_challenge_seal(const ph_challenge* challenge, const uint8_t key[PH_NETCODE_KEY_SIZE],
                       uint8_t data[PH_CHALLENGE_DATA_SIZE])
{
    uint8_t* token = ph_put_u64(data, challenge->sequence);
    memset(token, 0, PH_CHALLENGE_SIZE);
    ph_put_bytes(ph_put_u64(token, challenge->client_id), challenge->user_data,
                 PH_TOKEN_USER_DATA_SIZE);
    uint8_t nonce[PH_NETCODE_SEQUENCE_NONCE_SIZE];
    ph_netcode_nonce(challenge->sequence, nonce);
    crypto_aead_chacha20poly1305_ietf_encrypt(token, NULL, token, CHALLENGE_PLAIN_SIZE, NULL, 0,
                                              NULL, nonce, key);
}

bool ph_challenge_open(const uint8_t data[PH_CHALLENGE_DATA_SIZE],
                       const uint8_t key[PH_NETCODE_KEY_SIZE], ph_challenge* challenge)
{
    const uint8_t* token = ph_take_u64(data, &challenge->sequence);
    uint8_t nonce[PH_NETCODE_SEQUENCE_NONCE_SIZE];
    ph_netcode_nonce(challenge->sequence, nonce);
    uint8_t plain[CHALLENGE_PLAIN_SIZE];
    if (crypto_aead_chacha20poly1305_ietf_decrypt(plain, NULL, NULL, token, PH_CHALLENGE_SIZE, NULL,
                                                  0, nonce, key) != 0) {
        return false;
    }
    ph_take_bytes(ph_take_u64(plain, &challenge->client_id), challenge->user_data,
                  PH_TOKEN_USER_DATA_SIZE);
    return true;
}
