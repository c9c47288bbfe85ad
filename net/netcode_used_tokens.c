// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "net/netcode_used_tokens.h"

#include "base/allocator.h"

#include <string.h>

// Where whole words are aligned to less, it is a little smaller.
_Static_assert(_Alignof(uint64_t) < 8 || sizeof(ph_used_token) == 64, "one to a cache line");

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
    tokens->tokens = ph_allocate_array(allocator, (size_t)capacity, sizeof *tokens->tokens);
    tokens->order = ph_allocate_array(allocator, (size_t)capacity, sizeof *tokens->order);
    if (tokens->tokens == NULL || tokens->order == NULL) {
        ph_used_tokens_destroy(tokens);
        return PH_ERROR_MEMORY;
    }
    return PH_OK;
}

void ph_used_tokens_destroy(ph_used_tokens* tokens)
{
    const size_t capacity = (size_t)tokens->capacity;
    ph_hash_map_destroy(&tokens->by_tag);
    ph_release_array(&tokens->allocator, tokens->tokens, capacity, sizeof *tokens->tokens);
    ph_release_array(&tokens->allocator, tokens->order, capacity, sizeof *tokens->order);
    *tokens = (ph_used_tokens){0};
}

static ph_used_token* find_key(const ph_used_tokens* tokens, uint64_t key)
{
    uint32_t place;
    return ph_hash_map_try_find(&tokens->by_tag, key, &place) ? &tokens->tokens[place] : NULL;
}

ph_used_token* ph_used_tokens_find(const ph_used_tokens* tokens,
                                   const uint8_t tag[PH_NETCODE_TAG_SIZE])
{
    ph_used_token* token = find_key(tokens, key_of(tag));
    return token != NULL && memcmp(token->tag, tag, PH_NETCODE_TAG_SIZE) == 0 ? token : NULL;
}

// ---- the order

// Whether a is forgotten before b.
static bool is_before(const ph_used_token* a, const ph_used_token* b)
{
    if (a->expire_s != b->expire_s) {
        return a->expire_s < b->expire_s;
    }
    return a->is_dated != b->is_dated ? b->is_dated : a->made < b->made;
}

static bool is_place_before(const ph_used_tokens* tokens, int a, int b)
{
    return is_before(&tokens->tokens[tokens->order[a]], &tokens->tokens[tokens->order[b]]);
}

static void swap(ph_used_tokens* tokens, int a, int b)
{
    const int32_t kept = tokens->order[a];
    tokens->order[a] = tokens->order[b];
    tokens->order[b] = kept;
}

static void rise(ph_used_tokens* tokens, int place)
{
    while (place > 0 && is_place_before(tokens, place, (place - 1) / 2)) {
        swap(tokens, place, (place - 1) / 2);
        place = (place - 1) / 2;
    }
}

static void sink(ph_used_tokens* tokens)
{
    for (int place = 0;;) {
        int first = place;
        for (int child = 2 * place + 1; child <= 2 * place + 2 && child < tokens->count; ++child) {
            first = is_place_before(tokens, child, first) ? child : first;
        }
        if (first == place) {
            return;
        }
        swap(tokens, place, first);
        place = first;
    }
}

// ---- forgetting

bool ph_used_tokens_may_have_forgotten(const ph_used_tokens* tokens, const ph_token_age* age)
{
    const ph_token_age* last = &tokens->forgotten;
    if (age->expire_s != last->expire_s) {
        return age->expire_s < last->expire_s;
    }
    if (!age->is_dated) {
        return age->expire_s != UINT64_MAX;
    }
    return last->is_dated && age->made_us <= last->made_us;
}

static void forget(ph_used_tokens* tokens, const ph_used_token* token, uint64_t unix_s)
{
    if (find_key(tokens, key_of(token->tag)) == token) {
        // Unless a later one with the same first half has taken its key over.
        ph_hash_map_remove(&tokens->by_tag, key_of(token->tag));
    }
    const ph_token_age age = {
        .expire_s = token->expire_s,
        .made_us = token->is_dated ? token->made : 0,
        .is_dated = token->is_dated,
    };
    const bool is_for_ever = !age.is_dated && age.expire_s == UINT64_MAX;
    if (age.expire_s > unix_s && !is_for_ever && !ph_used_tokens_may_have_forgotten(tokens, &age)) {
        tokens->forgotten = age;
    }
}

ph_used_token* ph_used_tokens_add(ph_used_tokens* tokens, const uint8_t tag[PH_NETCODE_TAG_SIZE],
                                  const ph_token_age* age, const ph_address* address,
                                  uint64_t unix_s)
{
    PH_ASSERT(ph_used_tokens_find(tokens, tag) == NULL);

    ph_used_token added = {
        .address = *address,
        .expire_s = age->expire_s,
        .made = age->is_dated ? age->made_us : tokens->undated_count++,
        .is_dated = age->is_dated,
    };
    memcpy(added.tag, tag, PH_NETCODE_TAG_SIZE);
    int32_t index;
    if (tokens->count < tokens->capacity) {
        index = tokens->count++;
        tokens->order[index] = index;
        tokens->tokens[index] = added;
        rise(tokens, index);
    } else {
        index = tokens->order[0];
        forget(tokens, &tokens->tokens[index], unix_s);
        tokens->tokens[index] = added;
        sink(tokens);
    }
    ph_hash_map_insert(&tokens->by_tag, key_of(tag), (uint32_t)index);
    return &tokens->tokens[index];
}

bool ph_used_tokens_validate(const ph_used_tokens* tokens)
{
    int found_count = 0;
    for (int i = 0; i < tokens->count; ++i) {
        found_count += ph_used_tokens_find(tokens, tokens->tokens[i].tag) == &tokens->tokens[i];
        if (i > 0 && is_place_before(tokens, i, (i - 1) / 2)) {
            return false;
        }
    }
    return found_count == tokens->by_tag.count && tokens->count <= tokens->capacity &&
           ph_hash_map_validate(&tokens->by_tag);
}
