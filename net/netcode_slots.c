// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "net/netcode_slots.h"

#include "base/allocator.h"
#include "base/compiler.h"

#include <sodium.h>
#include <stddef.h>
#include <string.h>

enum { EVENTS_PER_SLOT = 2 };

// Where whole words are aligned to less, it is a little smaller.
_Static_assert(_Alignof(uint64_t) < 8 || (sizeof(ph_net_slot) == 4 * PH_CACHE_LINE &&
                                          offsetof(ph_net_slot, send_key) == PH_CACHE_LINE &&
                                          offsetof(ph_net_slot, receive_key) == 2 * PH_CACHE_LINE),
               "two thousand clients fit into a cache, and each direction into its lines");

static bool allocate(ph_net_slots* slots)
{
    const size_t capacity = (size_t)slots->capacity;
    const ph_allocator* allocator = &slots->allocator;
    slots->slots = ph_allocate_zeroed(allocator, capacity * sizeof *slots->slots);
    slots->user_data = ph_allocate_zeroed(allocator, capacity * sizeof *slots->user_data);
    slots->free = ph_allocate_array(allocator, capacity, sizeof *slots->free);
    slots->events = ph_allocate_array(allocator, capacity * EVENTS_PER_SLOT, sizeof *slots->events);
    const uint64_t seed = ph_address_key(&(ph_address){0}, &slots->secret);
    return slots->slots != NULL && slots->user_data != NULL && slots->free != NULL &&
           slots->events != NULL &&
           ph_hash_map_create(&slots->by_address, allocator, slots->capacity, seed) == PH_OK &&
           ph_hash_map_create(&slots->by_client_id, allocator, slots->capacity, seed) == PH_OK;
}

ph_result ph_net_slots_create(ph_net_slots* slots, const ph_allocator* allocator, int capacity,
                              const ph_address_secret* secret)
{
    *slots = (ph_net_slots){.capacity = capacity, .secret = *secret, .allocator = *allocator};
    if (!allocate(slots)) {
        ph_net_slots_destroy(slots);
        return PH_ERROR_MEMORY;
    }
    slots->free_count = capacity;
    for (int i = 0; i < capacity; ++i) {
        slots->free[i] = capacity - 1 - i; // the lowest first
    }
    return PH_OK;
}

void ph_net_slots_destroy(ph_net_slots* slots)
{
    const size_t capacity = (size_t)slots->capacity;
    const ph_allocator* allocator = &slots->allocator;
    if (slots->slots != NULL) {
        sodium_memzero(slots->slots, capacity * sizeof *slots->slots);
    }
    if (slots->user_data != NULL) {
        sodium_memzero(slots->user_data, capacity * sizeof *slots->user_data);
    }
    ph_release(allocator, slots->slots, capacity * sizeof *slots->slots);
    ph_release(allocator, slots->user_data, capacity * sizeof *slots->user_data);
    ph_release_array(allocator, slots->free, capacity, sizeof *slots->free);
    ph_release_array(allocator, slots->events, capacity * EVENTS_PER_SLOT, sizeof *slots->events);
    ph_hash_map_destroy(&slots->by_address);
    ph_hash_map_destroy(&slots->by_client_id);
    sodium_memzero(slots, sizeof *slots);
}

int ph_net_slots_find(const ph_net_slots* slots, const ph_address* address)
{
    uint32_t index;
    const uint64_t key = ph_address_key(address, &slots->secret);
    const bool is_found = ph_hash_map_try_find(&slots->by_address, key, &index) &&
                          ph_address_is_equal(&slots->slots[index].address, address);
    return is_found ? (int)index : -1;
}

int ph_net_slots_find_client_id(const ph_net_slots* slots, uint64_t client_id)
{
    uint32_t index;
    return ph_hash_map_try_find(&slots->by_client_id, client_id, &index) ? (int)index : -1;
}

ph_net_slot* ph_net_slots_at(const ph_net_slots* slots, int client)
{
    if (client < 0 || client >= slots->capacity) {
        return NULL;
    }
    ph_net_slot* slot = &slots->slots[client];
    return slot->is_connected && !ph_net_slot_is_leaving(slot) ? slot : NULL;
}

static void push_event(ph_net_slots* slots, ph_net_happening event)
{
    PH_ASSERT(slots->event_count < slots->capacity * EVENTS_PER_SLOT);

    const int place =
        (slots->event_first + slots->event_count) % (slots->capacity * EVENTS_PER_SLOT);
    slots->events[place] = event;
    ++slots->event_count;
}

int ph_net_slots_take(ph_net_slots* slots, const ph_address* address, uint64_t client_id,
                      const uint8_t user_data[PH_TOKEN_USER_DATA_SIZE])
{
    PH_ASSERT(ph_net_slots_find(slots, address) < 0);
    PH_ASSERT(ph_net_slots_find_client_id(slots, client_id) < 0);

    uint32_t other;
    const uint64_t key = ph_address_key(address, &slots->secret);
    // Two addresses with one key are as likely as a guessed key; the second is told that it is full.
    if (slots->free_count == 0 || ph_hash_map_try_find(&slots->by_address, key, &other)) {
        return -1;
    }
    const int client = slots->free[--slots->free_count];
    ph_net_slot* slot = &slots->slots[client];
    memset(slot, 0, sizeof *slot);
    slot->address = *address;
    slot->client_id = client_id;
    slot->is_connected = true;
    memcpy(slots->user_data[client], user_data, PH_TOKEN_USER_DATA_SIZE);
    ph_hash_map_insert(&slots->by_address, key, (uint32_t)client);
    ph_hash_map_insert(&slots->by_client_id, client_id, (uint32_t)client);
    ++slots->connected_count;
    push_event(slots, (ph_net_happening){.kind = PH_NET_CONNECTED, .client = client});
    return client;
}

void ph_net_slots_end(ph_net_slots* slots, int client, ph_net_end end)
{
    ph_net_slot* slot = &slots->slots[client];
    PH_ASSERT(slot->is_connected);

    ph_hash_map_remove(&slots->by_address, ph_address_key(&slot->address, &slots->secret));
    ph_hash_map_remove(&slots->by_client_id, slot->client_id);
    const uint64_t client_id = slot->client_id; // for the events
    sodium_memzero(slot, sizeof *slot);
    slot->client_id = client_id;
    --slots->connected_count;
    push_event(slots,
               (ph_net_happening){.kind = PH_NET_DISCONNECTED, .end = end, .client = client});
}

bool ph_net_slots_next_event(ph_net_slots* slots, ph_net_event* event)
{
    if (slots->event_count == 0) {
        return false;
    }
    const ph_net_happening* next = &slots->events[slots->event_first];
    const int client = next->client;
    *event = (ph_net_event){
        .kind = next->kind,
        .end = next->end,
        .client = client,
        .client_id = slots->slots[client].client_id,
        .reason = "",
    };
    memcpy(event->user_data, slots->user_data[client], PH_TOKEN_USER_DATA_SIZE);
    slots->event_first = (slots->event_first + 1) % (slots->capacity * EVENTS_PER_SLOT);
    --slots->event_count;
    if (event->kind == PH_NET_DISCONNECTED) {
        sodium_memzero(slots->user_data[client], PH_TOKEN_USER_DATA_SIZE);
        slots->slots[client].client_id = 0;
        slots->free[slots->free_count++] = client;
    }
    return true;
}

static int count_ends(const ph_net_slots* slots)
{
    int count = 0;
    for (int i = 0; i < slots->event_count; ++i) {
        const int place = (slots->event_first + i) % (slots->capacity * EVENTS_PER_SLOT);
        count += slots->events[place].kind == PH_NET_DISCONNECTED;
    }
    return count;
}

bool ph_net_slots_validate(const ph_net_slots* slots)
{
    int connected_count = 0;
    for (int i = 0; i < slots->capacity; ++i) {
        const ph_net_slot* slot = &slots->slots[i];
        if (!slot->is_connected) {
            continue;
        }
        ++connected_count;
        uint32_t index;
        if (ph_net_slots_find(slots, &slot->address) != i ||
            !ph_hash_map_try_find(&slots->by_client_id, slot->client_id, &index) ||
            index != (uint32_t)i) {
            return false;
        }
    }
    for (int i = 0; i < slots->free_count; ++i) {
        if (slots->slots[slots->free[i]].is_connected) {
            return false;
        }
    }
    return connected_count == slots->connected_count &&
           slots->by_address.count == connected_count &&
           slots->by_client_id.count == connected_count &&
           slots->free_count + connected_count + count_ends(slots) == slots->capacity &&
           ph_hash_map_validate(&slots->by_address) && ph_hash_map_validate(&slots->by_client_id);
}
