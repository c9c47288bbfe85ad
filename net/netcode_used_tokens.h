// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which tokens were used, and from where: a token that was seen on the wire is of no use from
// another address. Known by their tags. A ring: when it is full, the oldest is forgotten.
// Once per genuine request.

#ifndef PINHOLE_NET_NETCODE_USED_TOKENS_H
#define PINHOLE_NET_NETCODE_USED_TOKENS_H

#include "base/hash.h"
#include "net/netcode_bytes.h"

typedef struct ph_used_token {
    uint8_t tag[PH_NETCODE_TAG_SIZE];
    ph_address address;
    bool is_spent; // a connection was made with it
} ph_used_token;

// {0} may be destroyed. Fields are read-only outside netcode_used_tokens.c.
typedef struct ph_used_tokens {
    ph_used_token* ring;
    int capacity;
    int count;
    int next;           // where the next goes
    ph_hash_map by_tag; // its first eight bytes -> place in the ring
    ph_allocator allocator;
} ph_used_tokens;

// @return PH_OK, or PH_ERROR_MEMORY with *tokens set to {0}.
ph_result ph_used_tokens_create(ph_used_tokens* tokens, const ph_allocator* allocator, int capacity,
                                uint64_t seed);
void ph_used_tokens_destroy(ph_used_tokens* tokens); // leaves {0}

// The token with this tag, or NULL when it was never used, or long ago.
ph_used_token* ph_used_tokens_find(const ph_used_tokens* tokens,
                                   const uint8_t tag[PH_NETCODE_TAG_SIZE]);

// Remembers a token that is not known.
void ph_used_tokens_add(ph_used_tokens* tokens, const uint8_t tag[PH_NETCODE_TAG_SIZE],
                        const ph_address* address);

// Whether ring and map agree. For tests.
bool ph_used_tokens_validate(const ph_used_tokens* tokens);

#endif
