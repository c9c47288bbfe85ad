// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A row of datagrams of every type against one lock and one replay window: bytes as they come, and
// packets sealed with the right key whatever they hold. What opens is sealed again and must be the
// same datagram; no sequence number opens twice; what a plain list calls old is old.

#include "support/fuzz_netcode.h"
#include "net/netcode_packet.h"

#include <stdlib.h>
#include <string.h>

enum { SEEN_MAX = 64 };

static const uint8_t the_key[PH_NETCODE_KEY_SIZE] = {3, 1, 4};
static const ph_netcode_lock the_lock = {.protocol_id = 7, .key = the_key};

typedef struct session {
    ph_netcode_replay replay;
    uint64_t seen[SEEN_MAX];
    int seen_count;
    uint64_t newest;
} session;

static bool is_known(const session* it, uint64_t sequence)
{
    if (it->newest >= 256 && sequence <= it->newest - 256) {
        return true;
    }
    for (int i = 0; i < it->seen_count; ++i) {
        if (it->seen[i] == sequence) {
            return true;
        }
    }
    return false;
}

static void remember(session* it, uint64_t sequence)
{
    fuzz_demand(!is_known(it, sequence));
    it->seen[it->seen_count++] = sequence;
    it->newest = sequence > it->newest ? sequence : it->newest;
}

static void try_open(session* it, const uint8_t* bytes, size_t size)
{
    uint8_t* datagram = malloc(size > 0 ? size : 1); // so that a step too far is seen
    memcpy(datagram, bytes, size);
    ph_netcode_opened peeked;
    const ph_net_refusal glance = ph_netcode_peek(datagram, size, &peeked);
    ph_netcode_opened opened;
    const ph_net_refusal refusal = ph_netcode_open(&the_lock, &it->replay, datagram, size, &opened);
    const bool is_counted = peeked.type >= PH_NETCODE_KEEP_ALIVE;
    if (glance != PH_NET_REFUSAL_NONE) {
        fuzz_demand(refusal == glance);
    } else if (is_counted && is_known(it, peeked.sequence)) {
        fuzz_demand(refusal == PH_NET_REFUSAL_REPLAYED);
    } else if (refusal != PH_NET_REFUSAL_SEAL && is_counted) {
        remember(it, peeked.sequence);
    }
    if (refusal == PH_NET_REFUSAL_NONE) {
        uint8_t again[PH_NETCODE_DATAGRAM_MAX];
        const size_t again_size = ph_netcode_seal(&the_lock, opened.type, opened.sequence,
                                                  opened.data, opened.data_size, again);
        // Zeros before a sequence number are allowed, but not written.
        if (again[0] == bytes[0]) {
            fuzz_demand(again_size == size && memcmp(again, bytes, size) == 0);
        }
    }
    free(datagram);
}

static void try_sealed(session* it, fuzz_source* input)
{
    const ph_netcode_type type = (ph_netcode_type)(1 + fuzz_take(input, 6));
    const uint64_t sequence = fuzz_netcode_take_sequence(input);
    uint8_t data[PH_NETCODE_PAYLOAD_MAX] = {0};
    static const size_t right_sizes[] = {0, 0, 308, 308, 8, 100, 0};
    size_t size = right_sizes[type];
    if (fuzz_take(input, 4) == 0) {
        size = fuzz_netcode_take_bytes(input, data, sizeof data);
    }
    uint8_t datagram[PH_NETCODE_DATAGRAM_MAX];
    size_t datagram_size = ph_netcode_seal(&the_lock, type, sequence, data, size, datagram);
    if (fuzz_take(input, 4) == 0) {
        datagram[fuzz_take(input, 18)] ^= (uint8_t)fuzz_take(input, 256);
    }
    if (fuzz_take(input, 8) == 0) {
        datagram_size -= fuzz_take(input, 18);
    }
    try_open(it, datagram, datagram_size);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    ph_netcode_start();
    fuzz_source input = {.bytes = data, .left = size};
    session it = {.seen_count = 0};
    while (input.left > 0 && it.seen_count < SEEN_MAX) {
        if (fuzz_take(&input, 8) > 0) {
            try_sealed(&it, &input);
            continue;
        }
        uint8_t bytes[PH_NETCODE_DATAGRAM_MAX + 10];
        const size_t bytes_size = fuzz_netcode_take_bytes(&input, bytes, sizeof bytes);
        try_open(&it, bytes, bytes_size);
    }
    return 0;
}
