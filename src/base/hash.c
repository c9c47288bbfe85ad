// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The digest: words of eight bytes, lowest first, are mixed into the state one after the other,
// then the rest padded with zeros, then the length. Two multiplications a word, where byte-wise
// FNV-1a would need eight.

#include "base/hash.h"

// One to one in the state and in the word: two messages that differ in one word never collide.
// The constant (2^64 / golden ratio) keeps zero words from leaving a zero state as it was.
static uint64_t absorb(uint64_t state, uint64_t word)
{
    return ph_hash_mix((state ^ word) + UINT64_C(0x9E3779B97F4A7C15));
}

// Spelled out, because gcc makes one load of this and not of a loop.
static uint64_t read_word(const uint8_t* bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
           (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
           (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

static void add_byte(ph_hash* hash, uint8_t byte)
{
    hash->pending |= (uint64_t)byte << (8 * (hash->length % 8));
    ++hash->length;
    if (hash->length % 8 == 0) {
        hash->state = absorb(hash->state, hash->pending);
        hash->pending = 0;
    }
}

ph_hash ph_hash_make(uint64_t seed)
{
    return (ph_hash){.state = absorb(0, seed)};
}

void ph_hash_add(ph_hash* hash, const void* bytes, size_t size)
{
    const uint8_t* next = bytes;
    size_t left = size;
    for (; left > 0 && hash->length % 8 != 0; --left) {
        add_byte(hash, *next++);
    }
    for (; left >= 8; left -= 8) {
        hash->state = absorb(hash->state, read_word(next));
        hash->length += 8;
        next += 8;
    }
    for (; left > 0; --left) {
        add_byte(hash, *next++);
    }
}

void ph_hash_add_u64(ph_hash* hash, uint64_t value)
{
    if (hash->length % 8 == 0) {
        hash->state = absorb(hash->state, value);
        hash->length += 8;
        return;
    }
    for (int i = 0; i < 8; ++i) {
        add_byte(hash, (uint8_t)(value >> (8 * i)));
    }
}

uint64_t ph_hash_value(const ph_hash* hash)
{
    return absorb(absorb(hash->state, hash->pending), hash->length);
}
