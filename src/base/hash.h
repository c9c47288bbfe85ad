// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// 64-bit hashing: a mixer for keys and an incremental digest over bytes. Both give the same numbers
// on every machine, whatever its byte order or the alignment of the bytes; stored fingerprints rest
// on that, so the numbers never change. Not cryptographic: whoever knows the seed can make
// collisions.

#ifndef PINHOLE_BASE_HASH_H
#define PINHOLE_BASE_HASH_H

#include "pinhole/base.h"

// Scatters 64 bits one to one: flipping any bit flips each result bit about half of the time.
// 0 stays 0. (Stafford's variant 13 of the MurmurHash3 finaliser, as in splitmix64.)
static inline uint64_t ph_hash_mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB);
    return bits ^ (bits >> 31);
}

// The hash of a key under a secret seed, for tables whose keys strangers may choose. One to one for
// each seed. Mixed twice: between the two, the difference of two keys depends on the seed, so
// keys that share a bucket under one seed do not under another.
static inline uint64_t ph_hash_key(uint64_t key, uint64_t seed)
{
    return ph_hash_mix(ph_hash_mix(key ^ seed) + seed);
}

// A digest under way. Start from ph_hash_make(). Plain data: copy it to branch off.
typedef struct ph_hash {
    uint64_t state;   // of the whole words so far
    uint64_t pending; // up to 7 bytes of a word that is not whole yet, the first lowest
    uint64_t length;  // bytes so far
} ph_hash;

// Different seeds give unrelated digests. 0 is a seed like any other.
ph_hash ph_hash_make(uint64_t seed);

// Takes in size bytes. How a message is cut into calls makes no difference. NULL with size 0 is
// allowed.
void ph_hash_add(ph_hash* hash, const void* bytes, size_t size);

// Takes in eight bytes, lowest first.
void ph_hash_add_u64(ph_hash* hash, uint64_t value);

// The digest of all bytes so far. More may follow.
uint64_t ph_hash_value(const ph_hash* hash);

#endif
