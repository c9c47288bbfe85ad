// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Addresses as keys of a hash map. Unknown senders choose addresses, so the key is SipHash under a
// secret: no sender can aim at one bucket, nor at one key. Once per datagram.

#ifndef PINHOLE_NET_ADDRESS_KEY_H
#define PINHOLE_NET_ADDRESS_KEY_H

#include <pinhole/net/address.h>

#include <sodium/crypto_shorthash.h>

// The secret of one server.
typedef struct ph_address_secret {
    uint8_t bytes[crypto_shorthash_KEYBYTES];
} ph_address_secret;

static inline uint64_t ph_address_key(const ph_address* address, const ph_address_secret* secret)
{
    uint8_t hash[crypto_shorthash_BYTES];
    crypto_shorthash(hash, (const uint8_t*)address, sizeof *address, secret->bytes);
    uint64_t key = 0;
    for (int i = 0; i < 8; ++i) {
        key |= (uint64_t)hash[i] << (8 * i);
    }
    return key;
}

#endif
