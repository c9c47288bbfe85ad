// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "net/netcode_used_tokens.h"

#include "base/allocator.h"

#include <string.h>

// Tags of genuine tokens are as good as random: only a holder of the private key can choose one.
static uint64_t key_of(const uint8_t tag[PH_NETCODE_TAG_SIZE])
{
    return ph_number_at(tag, 8);
}

ph_result ph_used_tokens_create(ph_used_tokens* tokens, const ph_allocator* allocator, int capacity,
                                uint64_t seed)
{
    *tokens = (ph_used_tokens){.capacity = capacity, .allocator = *allocator};
    ph_result result = ph_hash_map_create(&tokens->by_tag, allocator, capacity, seed);
    if (result != PH_OK) {
        *tokens = (ph_used_tokens){0};
        return result;
    }
    tokens->ring = ph_allocate_array(allocator, (size_t)capacity, sizeof *tokens->ring);
    if (tokens->ring == NULL) {
        ph_used_tokens_destroy(tokens);
        return PH_ERROR_MEMORY;
    }
    return PH_OK;
}

void ph_used_tokens_destroy(ph_used_tokens* tokens)
{
    ph_hash_map_destroy(&tokens->by_tag);
    ph_release_array(&tokens->allocator, tokens->ring, (size_t)tokens->capacity,
                     sizeof *tokens->ring);
    *tokens = (ph_used_tokens){0};
}

static ph_used_token* find_key(const ph_used_tokens* tokens, uint64_t key)
{
    uint32_t place;
    return ph_hash_map_try_find(&tokens->by_tag, key, &place) ? &tokens->ring[place] : NULL;
}

ph_used_token* ph_used_tokens_find(const ph_used_tokens* tokens,
                                   const uint8_t tag[PH_NETCODE_TAG_SIZE])
{
    ph_used_token* token = find_key(tokens, key_of(tag));
    return token != NULL && memcmp(token->tag, tag, PH_NETCODE_TAG_SIZE) == 0 ? token : NULL;
}

void ph_used_tokens_add(ph_used_tokens* tokens, const uint8_t tag[PH_NETCODE_TAG_SIZE],
                        const ph_address* address)
{
    PH_ASSERT(ph_used_tokens_find(tokens, tag) == NULL);

    ph_used_token* token = &tokens->ring[tokens->next];
    if (tokens->count < tokens->capacity) {
        ++tokens->count;
    } else if (find_key(tokens, key_of(token->tag)) == token) {
        // Unless a later one with the same first half has taken its key over.
        ph_hash_map_remove(&tokens->by_tag, key_of(token->tag));
    }
    memcpy(token->tag, tag, PH_NETCODE_TAG_SIZE);
    token->address = *address;
    token->is_spent = false;
    ph_hash_map_insert(&tokens->by_tag, key_of(tag), (uint32_t)tokens->next);
    tokens->next = (tokens->next + 1) % tokens->capacity;
}

bool ph_used_tokens_validate(const ph_used_tokens* tokens)
{
    int found_count = 0;
    for (int i = 0; i < tokens->count; ++i) {
        found_count += ph_used_tokens_find(tokens, tokens->ring[i].tag) == &tokens->ring[i];
    }
    return found_count == tokens->by_tag.count && tokens->count <= tokens->capacity &&
           ph_hash_map_validate(&tokens->by_tag);
}
