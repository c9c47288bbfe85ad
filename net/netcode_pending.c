// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "net/netcode_pending.h"

#include "base/allocator.h"

#include <sodium.h>

// ---- the list

static int32_t index1_of(const ph_pending_table* table, const ph_pending* entry)
{
    return (int32_t)(entry - table->entries) + 1;
}

static void link_newest(ph_pending_table* table, ph_pending* entry)
{
    const int32_t index1 = index1_of(table, entry);
    entry->older1 = table->newest1;
    entry->newer1 = 0;
    if (table->newest1 != 0) {
        table->entries[table->newest1 - 1].newer1 = index1;
    } else {
        table->oldest1 = index1;
    }
    table->newest1 = index1;
}

static void take_out(ph_pending_table* table, const ph_pending* entry)
{
    if (entry->older1 != 0) {
        table->entries[entry->older1 - 1].newer1 = entry->newer1;
    } else {
        table->oldest1 = entry->newer1;
    }
    if (entry->newer1 != 0) {
        table->entries[entry->newer1 - 1].older1 = entry->older1;
    } else {
        table->newest1 = entry->older1;
    }
}

static void free_all(ph_pending_table* table)
{
    for (int i = 0; i < table->capacity; ++i) {
        table->entries[i].newer1 = i + 2 <= table->capacity ? i + 2 : 0;
    }
    table->free1 = 1;
}

// ---- the table

ph_result ph_pending_create(ph_pending_table* table, const ph_allocator* allocator, int capacity,
                            const ph_address_secret* secret)
{
    *table = (ph_pending_table){.capacity = capacity, .secret = *secret, .allocator = *allocator};
    const uint64_t seed = ph_address_key(&(ph_address){0}, secret);
    ph_result result = ph_hash_map_create(&table->by_address, allocator, capacity, seed);
    if (result != PH_OK) {
        *table = (ph_pending_table){0};
        return result;
    }
    const size_t size = (size_t)capacity * sizeof *table->entries;
    table->entries = ph_allocate_zeroed(allocator, size);
    if (table->entries == NULL) {
        ph_pending_destroy(table);
        return PH_ERROR_MEMORY;
    }
    free_all(table);
    return PH_OK;
}

void ph_pending_destroy(ph_pending_table* table)
{
    ph_hash_map_destroy(&table->by_address);
    const size_t size = (size_t)table->capacity * sizeof *table->entries;
    if (table->entries != NULL) {
        sodium_memzero(table->entries, size);
    }
    ph_release(&table->allocator, table->entries, size);
    sodium_memzero(table, sizeof *table);
}

// Two addresses with one key are as likely as a guessed key. Should it happen, they are told apart.
ph_pending* ph_pending_find(const ph_pending_table* table, const ph_address* address)
{
    uint32_t index;
    if (!ph_hash_map_try_find(&table->by_address, ph_address_key(address, &table->secret),
                              &index)) {
        return NULL;
    }
    ph_pending* entry = &table->entries[index];
    return ph_address_is_equal(&entry->address, address) ? entry : NULL;
}

// The entry that must make room for this address: of the same key, or the oldest of a full table.
static ph_pending* find_in_the_way(ph_pending_table* table, uint64_t key)
{
    uint32_t index;
    if (ph_hash_map_try_find(&table->by_address, key, &index)) {
        return &table->entries[index];
    }
    return table->free1 == 0 ? &table->entries[table->oldest1 - 1] : NULL;
}

ph_pending* ph_pending_put(ph_pending_table* table, const ph_address* address)
{
    ph_pending* entry = ph_pending_find(table, address);
    if (entry != NULL) {
        take_out(table, entry);
        link_newest(table, entry);
        return entry;
    }
    const uint64_t key = ph_address_key(address, &table->secret);
    ph_pending* in_the_way = find_in_the_way(table, key);
    if (in_the_way != NULL) {
        ph_pending_remove(table, in_the_way);
    }
    entry = &table->entries[table->free1 - 1];
    ph_hash_map_insert(&table->by_address, key, (uint32_t)(table->free1 - 1));
    table->free1 = entry->newer1;
    *entry = (ph_pending){.address = *address};
    link_newest(table, entry);
    ++table->count;
    return entry;
}

void ph_pending_remove(ph_pending_table* table, ph_pending* entry)
{
    ph_hash_map_remove(&table->by_address, ph_address_key(&entry->address, &table->secret));
    take_out(table, entry);
    sodium_memzero(entry, sizeof *entry);
    entry->newer1 = table->free1;
    table->free1 = index1_of(table, entry);
    --table->count;
}

void ph_pending_lapse(ph_pending_table* table, uint64_t now_us)
{
    int32_t next1;
    for (int32_t index1 = table->oldest1; index1 != 0; index1 = next1) {
        ph_pending* entry = &table->entries[index1 - 1];
        next1 = entry->newer1;
        const int32_t timeout_s = entry->timeout_s;
        if (timeout_s >= 0 && now_us - entry->requested_us >= (uint64_t)timeout_s * 1000000) {
            ph_pending_remove(table, entry);
        }
    }
}

void ph_pending_change_keys(ph_pending_table* table, const int places[2])
{
    int32_t next1;
    for (int32_t index1 = table->oldest1; index1 != 0; index1 = next1) {
        ph_pending* entry = &table->entries[index1 - 1];
        next1 = entry->newer1;
        const int place = places[entry->key_place];
        if (place < 0) {
            ph_pending_remove(table, entry);
        } else {
            entry->key_place = (uint8_t)place;
        }
    }
}

void ph_pending_clear(ph_pending_table* table)
{
    while (table->oldest1 != 0) {
        ph_pending_remove(table, &table->entries[table->oldest1 - 1]);
    }
}

bool ph_pending_validate(const ph_pending_table* table)
{
    int count = 0;
    int32_t older1 = 0;
    for (int32_t index1 = table->oldest1; index1 != 0;) {
        const ph_pending* entry = &table->entries[index1 - 1];
        if (entry->older1 != older1 || ++count > table->count ||
            ph_pending_find(table, &entry->address) != entry) {
            return false;
        }
        older1 = index1;
        index1 = entry->newer1;
    }
    int free_count = 0;
    for (int32_t index1 = table->free1; index1 != 0 && free_count <= table->capacity;) {
        ++free_count;
        index1 = table->entries[index1 - 1].newer1;
    }
    return older1 == table->newest1 && count == table->count &&
           free_count == table->capacity - count && table->by_address.count == count &&
           ph_hash_map_validate(&table->by_address);
}
