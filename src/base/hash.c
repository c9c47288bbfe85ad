// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The digest, then the hash map; hash.h says what for.

#include "base/hash.h"

#include "base/allocator.h"
#include "base/compiler.h"

#include <string.h>

// ---- the digest
//
// Words of eight bytes, lowest first, are mixed into the state one after the other, then the rest padded
// with zeros, then the length. Two multiplications a word, where byte-wise FNV-1a would need eight.

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

// ---- the map
//
// Robin Hood hashing on linear probing: along a run of slots no entry is further from home than its
// predecessor is by more than one step. So a search ends where it meets an entry nearer to home
// than itself, and a removal moves the followers back by one slot until one is at home; no
// tombstones. Three quarters full, a search looks at three slots on average, found or not.

// A slot always stays empty, where searches end: the limit is below the capacity.
enum {
    CAPACITY_MIN = 4,
    CAPACITY_MAX = 1 << 30,
};

static int limit_of(uint32_t capacity)
{
    return (int)(capacity / 4 * 3);
}

static uint32_t home_of(const ph_hash_map* map, uint64_t key)
{
    return (uint32_t)ph_hash_key(key, map->seed) & (map->capacity - 1);
}

static uint32_t slot_after(const ph_hash_map* map, uint32_t slot)
{
    return (slot + 1) & (map->capacity - 1);
}

static ph_hash_entry* find(const ph_hash_map* map, uint64_t key)
{
    if (map->count == 0) {
        return NULL;
    }
    uint32_t slot = home_of(map, key);
    for (uint32_t distance1 = 1; map->entries[slot].distance1 >= distance1; ++distance1) {
        if (map->entries[slot].key == key) {
            return &map->entries[slot];
        }
        slot = slot_after(map, slot);
    }
    return NULL;
}

// The key is not in the map and there is an empty slot.
static void place_entry(ph_hash_map* map, uint64_t key, uint32_t value)
{
    ph_hash_entry moving = {.key = key, .value = value, .distance1 = 1};
    uint32_t slot = home_of(map, key);
    while (map->entries[slot].distance1 != 0) {
        if (map->entries[slot].distance1 < moving.distance1) {
            ph_hash_entry richer = map->entries[slot];
            map->entries[slot] = moving;
            moving = richer;
        }
        slot = slot_after(map, slot);
        ++moving.distance1;
    }
    map->entries[slot] = moving;
    ++map->count;
}

ph_result ph_hash_map_create(ph_hash_map* map, const ph_allocator* allocator, int entry_count,
                             uint64_t seed)
{
    *map = (ph_hash_map){.seed = seed, .allocator = *allocator};
    ph_result result = ph_hash_map_reserve(map, entry_count);
    if (result != PH_OK) {
        *map = (ph_hash_map){0};
    }
    return result;
}

void ph_hash_map_destroy(ph_hash_map* map)
{
    ph_release_array(&map->allocator, map->entries, map->capacity, sizeof(ph_hash_entry));
    *map = (ph_hash_map){0};
}

ph_result ph_hash_map_reserve(ph_hash_map* map, int entry_count)
{
    PH_ASSERT(entry_count >= 0);

    if (entry_count <= map->limit) {
        return PH_OK;
    }
    uint32_t capacity = CAPACITY_MIN;
    while (capacity < CAPACITY_MAX && limit_of(capacity) < entry_count) {
        capacity *= 2;
    }
    if (limit_of(capacity) < entry_count) {
        return PH_ERROR_MEMORY;
    }
    ph_hash_map grown = *map;
    grown.entries = ph_allocate_array(&map->allocator, capacity, sizeof(ph_hash_entry));
    if (grown.entries == NULL) {
        return PH_ERROR_MEMORY;
    }
    grown.capacity = capacity;
    grown.limit = limit_of(capacity);
    ph_hash_map_clear(&grown);
    for (uint32_t i = 0; i < map->capacity; ++i) {
        if (map->entries[i].distance1 != 0) {
            place_entry(&grown, map->entries[i].key, map->entries[i].value);
        }
    }
    ph_release_array(&map->allocator, map->entries, map->capacity, sizeof(ph_hash_entry));
    *map = grown;
    return PH_OK;
}

bool ph_hash_map_insert(ph_hash_map* map, uint64_t key, uint32_t value)
{
    ph_hash_entry* entry = find(map, key);
    if (entry != NULL) {
        entry->value = value;
        return true;
    }
    if (map->count >= map->limit) {
        return false;
    }
    place_entry(map, key, value);
    return true;
}

bool ph_hash_map_try_find(const ph_hash_map* map, uint64_t key, uint32_t* value)
{
    const ph_hash_entry* entry = find(map, key);
    if (entry == NULL) {
        return false;
    }
    *value = entry->value;
    return true;
}

void ph_hash_map_prefetch(const ph_hash_map* map, uint64_t key)
{
    if (map->capacity > 0) {
        PH_PREFETCH(&map->entries[home_of(map, key)]);
    }
}

bool ph_hash_map_remove(ph_hash_map* map, uint64_t key)
{
    const ph_hash_entry* entry = find(map, key);
    if (entry == NULL) {
        return false;
    }
    uint32_t hole = (uint32_t)(entry - map->entries);
    uint32_t next = slot_after(map, hole);
    while (map->entries[next].distance1 > 1) {
        map->entries[hole] = map->entries[next];
        --map->entries[hole].distance1;
        hole = next;
        next = slot_after(map, next);
    }
    map->entries[hole] = (ph_hash_entry){0};
    --map->count;
    return true;
}

void ph_hash_map_clear(ph_hash_map* map)
{
    if (map->capacity > 0) {
        memset(map->entries, 0, map->capacity * sizeof(ph_hash_entry));
    }
    map->count = 0;
}

bool ph_hash_map_validate(const ph_hash_map* map)
{
    if (map->capacity == 0) {
        return map->entries == NULL && map->count == 0 && map->limit == 0;
    }
    if ((map->capacity & (map->capacity - 1)) != 0 || map->limit != limit_of(map->capacity)) {
        return false;
    }
    int count = 0;
    uint32_t distance1_before = map->entries[map->capacity - 1].distance1;
    for (uint32_t i = 0; i < map->capacity; ++i) {
        const ph_hash_entry* entry = &map->entries[i];
        if (entry->distance1 > distance1_before + 1) {
            return false;
        }
        distance1_before = entry->distance1;
        if (entry->distance1 == 0) {
            continue;
        }
        uint32_t home = (i - (entry->distance1 - 1)) & (map->capacity - 1);
        if (home != home_of(map, entry->key)) {
            return false;
        }
        ++count;
    }
    return count == map->count && count <= map->limit;
}
