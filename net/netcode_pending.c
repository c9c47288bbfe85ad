// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "net/netcode_pending.h"

#include "base/allocator.h"

#include <sodium.h>
#include <string.h>

enum { PREFIX_BYTES_IPV4 = 3, PREFIX_BYTES_IPV6 = 7 };

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

// ---- groups

static bool is_loopback(const ph_address* address)
{
    static const uint8_t ipv6[16] = {[15] = 1};
    return address->kind == PH_ADDRESS_IPV4 ? address->bytes[0] == 127
                                            : memcmp(address->bytes, ipv6, sizeof ipv6) == 0;
}

static ph_address network_of(const ph_address* address)
{
    ph_address network = {.kind = address->kind};
    memcpy(network.bytes, address->bytes,
           address->kind == PH_ADDRESS_IPV4 ? PREFIX_BYTES_IPV4 : PREFIX_BYTES_IPV6);
    return network;
}

// @return Whether an entry is in such a group.
static bool find_group(const ph_pending_table* table, const ph_pending* entry, int group,
                       uint64_t* key)
{
    if (table->group_max[group] == 0) {
        return false;
    }
    if (group == PH_PENDING_BY_CLIENT_ID) {
        *key = entry->client_id;
        return true;
    }
    const ph_address network = network_of(&entry->address);
    *key = ph_address_key(&network, &table->secret);
    return !is_loopback(&entry->address);
}

static void join_groups(ph_pending_table* table, ph_pending* entry)
{
    for (int group = 0; group < PH_PENDING_GROUPS; ++group) {
        uint64_t key;
        uint32_t newest;
        if (!find_group(table, entry, group, &key)) {
            continue;
        }
        entry->of_group[group].older1 = 0;
        entry->of_group[group].newer1 = 0;
        if (ph_hash_map_try_find(&table->by_group[group], key, &newest)) {
            entry->of_group[group].older1 = (int32_t)newest + 1;
            table->entries[newest].of_group[group].newer1 = index1_of(table, entry);
        }
        ph_hash_map_insert(&table->by_group[group], key, (uint32_t)(entry - table->entries));
    }
}

static void leave_groups(ph_pending_table* table, const ph_pending* entry)
{
    for (int group = 0; group < PH_PENDING_GROUPS; ++group) {
        uint64_t key;
        if (!find_group(table, entry, group, &key)) {
            continue;
        }
        const int32_t older1 = entry->of_group[group].older1;
        const int32_t newer1 = entry->of_group[group].newer1;
        if (older1 != 0) {
            table->entries[older1 - 1].of_group[group].newer1 = newer1;
        }
        if (newer1 != 0) {
            table->entries[newer1 - 1].of_group[group].older1 = older1;
        } else if (older1 != 0) {
            ph_hash_map_insert(&table->by_group[group], key, (uint32_t)(older1 - 1));
        } else {
            ph_hash_map_remove(&table->by_group[group], key);
        }
    }
}

// The oldest of a group that has as many entries as it may have, or NULL. The limits are small.
static ph_pending* find_beyond(ph_pending_table* table, const ph_pending* entry, int group)
{
    uint64_t key;
    uint32_t newest;
    if (!find_group(table, entry, group, &key) ||
        !ph_hash_map_try_find(&table->by_group[group], key, &newest)) {
        return NULL;
    }
    ph_pending* oldest = &table->entries[newest];
    int count = 1;
    while (oldest->of_group[group].older1 != 0) {
        oldest = &table->entries[oldest->of_group[group].older1 - 1];
        ++count;
    }
    return count >= table->group_max[group] ? oldest : NULL;
}

// ---- the table

static ph_result create_maps(ph_pending_table* table)
{
    const uint64_t seed = ph_address_key(&(ph_address){0}, &table->secret);
    ph_result result =
        ph_hash_map_create(&table->by_address, &table->allocator, table->capacity, seed);
    for (int group = 0; group < PH_PENDING_GROUPS && result == PH_OK; ++group) {
        const int room = table->group_max[group] > 0 ? table->capacity : 0;
        result = ph_hash_map_create(&table->by_group[group], &table->allocator, room, seed);
    }
    return result;
}

ph_result ph_pending_create(ph_pending_table* table, const ph_allocator* allocator,
                            const ph_pending_def* def, const ph_address_secret* secret)
{
    *table =
        (ph_pending_table){.capacity = def->capacity, .secret = *secret, .allocator = *allocator};
    memcpy(table->group_max, def->group_max, sizeof table->group_max);
    const size_t size = (size_t)def->capacity * sizeof *table->entries;
    ph_result result = create_maps(table);
    if (result == PH_OK) {
        table->entries = ph_allocate_zeroed(allocator, size);
        result = table->entries != NULL ? PH_OK : PH_ERROR_MEMORY;
    }
    if (result != PH_OK) {
        ph_pending_destroy(table);
        return result;
    }
    free_all(table);
    return PH_OK;
}

void ph_pending_destroy(ph_pending_table* table)
{
    ph_hash_map_destroy(&table->by_address);
    for (int group = 0; group < PH_PENDING_GROUPS; ++group) {
        ph_hash_map_destroy(&table->by_group[group]);
    }
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

// The entry that must make room for a new one: of the same key, of its groups, or the oldest of a full table.
static ph_pending* find_in_the_way(ph_pending_table* table, const ph_pending* added, uint64_t key)
{
    uint32_t index;
    if (ph_hash_map_try_find(&table->by_address, key, &index)) {
        return &table->entries[index];
    }
    for (int group = 0; group < PH_PENDING_GROUPS; ++group) {
        ph_pending* oldest = find_beyond(table, added, group);
        if (oldest != NULL) {
            return oldest;
        }
    }
    return table->free1 == 0 ? &table->entries[table->oldest1 - 1] : NULL;
}

ph_pending* ph_pending_put(ph_pending_table* table, const ph_address* address, uint64_t client_id)
{
    ph_pending* entry = ph_pending_find(table, address);
    if (entry != NULL && entry->client_id == client_id) {
        take_out(table, entry);
        link_newest(table, entry);
        leave_groups(table, entry);
        join_groups(table, entry);
        return entry;
    }
    const uint64_t key = ph_address_key(address, &table->secret);
    const ph_pending added = {.address = *address, .client_id = client_id};
    for (ph_pending* other; (other = find_in_the_way(table, &added, key)) != NULL;) {
        ph_pending_remove(table, other);
    }
    entry = &table->entries[table->free1 - 1];
    ph_hash_map_insert(&table->by_address, key, (uint32_t)(table->free1 - 1));
    table->free1 = entry->newer1;
    *entry = added;
    link_newest(table, entry);
    join_groups(table, entry);
    ++table->count;
    return entry;
}

void ph_pending_remove(ph_pending_table* table, ph_pending* entry)
{
    ph_hash_map_remove(&table->by_address, ph_address_key(&entry->address, &table->secret));
    leave_groups(table, entry);
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

// Whether each entry is in the lists of its groups, and no list is longer than its limit.
static bool validate_group(const ph_pending_table* table, int group)
{
    int listed_count = 0;
    int member_count = 0;
    for (int32_t index1 = table->oldest1; index1 != 0; index1 = table->entries[index1 - 1].newer1) {
        const ph_pending* entry = &table->entries[index1 - 1];
        uint64_t key;
        uint32_t newest = 0;
        if (!find_group(table, entry, group, &key)) {
            continue;
        }
        ++member_count;
        if (entry->of_group[group].newer1 != 0) {
            continue; // counted from its newest
        }
        if (!ph_hash_map_try_find(&table->by_group[group], key, &newest) ||
            (int32_t)newest != index1 - 1) {
            return false;
        }
        int count = 0;
        for (int32_t at1 = index1; at1 != 0; at1 = table->entries[at1 - 1].of_group[group].older1) {
            if (++count > table->group_max[group]) {
                return false;
            }
        }
        listed_count += count;
    }
    return listed_count == member_count && ph_hash_map_validate(&table->by_group[group]);
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
           ph_hash_map_validate(&table->by_address) &&
           validate_group(table, PH_PENDING_BY_CLIENT_ID) &&
           validate_group(table, PH_PENDING_BY_PREFIX);
}
