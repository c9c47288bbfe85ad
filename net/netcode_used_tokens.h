// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which tokens were used, from where, and how many packets were sent with their keys: a token that was seen on
// the wire is of no use from another address, and no sequence number is used twice with its keys. Known by
// their tags. When the table is full, the token that expires first is forgotten; if it could still be used, all
// unknown tokens that expire no later are refused from then on: one of them may be the forgotten one.
// Once per genuine request; allocates at creation only.
//
//   by_tag: first half of the tag -> index      order: a heap of indices, the first to expire at its top

#ifndef PINHOLE_NET_NETCODE_USED_TOKENS_H
#define PINHOLE_NET_NETCODE_USED_TOKENS_H

#include "base/hash.h"
#include "net/netcode_bytes.h"

// When a token expires and when it was made. Of tokens that expire at the same time, the undated come first.
typedef struct ph_token_age {
    uint64_t expire_s; // UINT64_MAX is never
    uint64_t made_us;  // Unix microseconds; 0 unless dated
    bool is_dated;
} ph_token_age;

typedef struct ph_used_token {
    uint8_t tag[PH_NETCODE_TAG_SIZE];
    ph_address address; // {0}: any other than the one from which it comes
    uint64_t expire_s;
    uint64_t made;    // made_us of dated ones; undated ones are counted
    uint32_t packets; // that were sent with its keys by connections that have ended
    uint16_t id_rate; // of its client id, among those of the server
    bool is_dated : 1;
    bool is_spent : 1; // a connection was made with it
    bool is_noted : 1; // in the spent-tokens file
} ph_used_token;

// {0} may be destroyed. Fields are read-only outside netcode_used_tokens.c, those of a token are not.
typedef struct ph_used_tokens {
    ph_used_token* tokens;
    int32_t* order;
    int capacity;
    int count;
    uint64_t undated_count; // that ever were here
    ph_token_age forgotten; // the last to expire of those that were forgotten too early
    ph_hash_map by_tag;
    ph_allocator allocator;
} ph_used_tokens;

// @return PH_OK, or PH_ERROR_MEMORY with *tokens set to {0}.
ph_result ph_used_tokens_create(ph_used_tokens* tokens, const ph_allocator* allocator, int capacity,
                                uint64_t seed);
void ph_used_tokens_destroy(ph_used_tokens* tokens); // leaves {0}

// The token with this tag, or NULL when it was never used, or is forgotten.
ph_used_token* ph_used_tokens_find(const ph_used_tokens* tokens,
                                   const uint8_t tag[PH_NETCODE_TAG_SIZE]);

// Whether a token that is not known may be one that was forgotten. Never of undated tokens that never expire: of
// these any could be, and none would be let in any more.
bool ph_used_tokens_may_have_forgotten(const ph_used_tokens* tokens, const ph_token_age* age);

// Remembers a token that is not known. unix_s: what has expired by then is forgotten without consequences.
ph_used_token* ph_used_tokens_add(ph_used_tokens* tokens, const uint8_t tag[PH_NETCODE_TAG_SIZE],
                                  const ph_token_age* age, const ph_address* address,
                                  uint64_t unix_s);

// Whether tokens, order and map agree. For tests.
bool ph_used_tokens_validate(const ph_used_tokens* tokens);

#endif
