// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sealing, opening and the replay window. Sealing 160 bytes takes about 0.6 us, nearly all of it
// in libsodium.
//
//   associated data, 22:  | version 13 | protocol id 8 | prefix 1 |

#include "net/netcode_bytes.h"
#include "net/netcode_private.h"
#include "net/netcode_packet.h"

#include <sodium.h>

enum {
    SEALED_MIN = 1 + 1 + PH_NETCODE_TAG_SIZE, // prefix, sequence, tag
    SEQUENCE_BYTES_MAX = 8,
    ASSOCIATED_SIZE = PH_NETCODE_VERSION_SIZE + 8 + 1,
};

_Static_assert(PH_NETCODE_OVERHEAD_MAX == 1 + SEQUENCE_BYTES_MAX + PH_NETCODE_TAG_SIZE &&
                   PH_NETCODE_DATAGRAM_MAX == PH_NETCODE_OVERHEAD_MAX + PH_NETCODE_PAYLOAD_MAX,
               "the header says so");
_Static_assert(PH_NETCODE_REQUEST_SIZE == 1 + PH_NETCODE_VERSION_SIZE + 8 + 8 +
                                              PH_TOKEN_NONCE_SIZE + PH_TOKEN_PRIVATE_SIZE,
               "the header says so");

void ph_netcode_start(void)
{
    if (sodium_init() < 0) {
        // In every build: without randomness there are no keys, and nothing to go on with.
        ph_assert_fail("sodium_init() >= 0", __FILE__, __LINE__);
    }
}

const char* ph_net_refusal_name(ph_net_refusal refusal)
{
    static const char* const names[PH_NET_REFUSAL_COUNT] = {
#define NAME(name, text) text,
        PH_NET_REFUSALS(NAME)
#undef NAME
    };
    return (unsigned)refusal < PH_NET_REFUSAL_COUNT ? names[refusal] : "unknown";
}

const char* ph_net_denial_name(ph_net_denial denial)
{
    static const char* const names[PH_NET_DENIAL_COUNT] = {
#define NAME(name, text) text,
        PH_NET_DENIALS(NAME)
#undef NAME
    };
    return (unsigned)denial < PH_NET_DENIAL_COUNT ? names[denial] : "unknown";
}

// ---- replays

static uint64_t* word_of(ph_netcode_replay* replay, uint64_t sequence)
{
    return &replay->seen[sequence % PH_NETCODE_REPLAY_WINDOW / 64];
}

bool ph_netcode_replay_has(const ph_netcode_replay* replay, uint64_t sequence)
{
    // A subtraction: the sum of a sequence number and 256 may not be one.
    if (replay->newest >= PH_NETCODE_REPLAY_WINDOW &&
        sequence <= replay->newest - PH_NETCODE_REPLAY_WINDOW) {
        return true;
    }
    if (sequence > replay->newest) {
        return false;
    }
    const uint64_t word = replay->seen[sequence % PH_NETCODE_REPLAY_WINDOW / 64];
    return (word >> (sequence % 64) & 1) != 0;
}

void ph_netcode_replay_add(ph_netcode_replay* replay, uint64_t sequence)
{
    PH_ASSERT(!ph_netcode_replay_has(replay, sequence));

    if (sequence > replay->newest && sequence - replay->newest >= PH_NETCODE_REPLAY_WINDOW) {
        memset(replay->seen, 0, sizeof replay->seen);
        replay->newest = sequence;
    }
    // What comes into the window takes the bits of what falls out.
    while (replay->newest < sequence) {
        ++replay->newest;
        *word_of(replay, replay->newest) &= ~(UINT64_C(1) << (replay->newest % 64));
    }
    *word_of(replay, sequence) |= UINT64_C(1) << (sequence % 64);
}

// ---- sealed packets

static int sequence_size(uint64_t sequence)
{
    int size = 1;
    while (size < SEQUENCE_BYTES_MAX && sequence >> (8 * size) != 0) {
        ++size;
    }
    return size;
}

static void put_associated(uint8_t associated[ASSOCIATED_SIZE], const ph_netcode_lock* lock,
                           uint8_t prefix)
{
    uint8_t* at = ph_put_version(associated);
    at = ph_put_u64(at, lock->protocol_id);
    *at = prefix;
}

size_t ph_netcode_sealed_size(uint64_t sequence, size_t data_size)
{
    return 1 + (size_t)sequence_size(sequence) + data_size + PH_NETCODE_TAG_SIZE;
}

size_t ph_netcode_seal(const ph_netcode_lock* lock, ph_netcode_type type, uint64_t sequence,
                       const void* data, size_t data_size,
                       uint8_t datagram[PH_NETCODE_DATAGRAM_MAX])
{
    PH_ASSERT(type > PH_NETCODE_REQUEST && type < PH_NETCODE_TYPE_COUNT);
    PH_ASSERT(data_size <= PH_NETCODE_PAYLOAD_MAX);

    const int size = sequence_size(sequence);
    const uint8_t prefix = (uint8_t)((unsigned)type | (unsigned)size << 4);
    datagram[0] = prefix;
    uint8_t* sealed = ph_put_number(datagram + 1, sequence, size);

    uint8_t associated[ASSOCIATED_SIZE];
    put_associated(associated, lock, prefix);
    uint8_t nonce[PH_NETCODE_SEQUENCE_NONCE_SIZE];
    ph_netcode_nonce(sequence, nonce);
    crypto_aead_chacha20poly1305_ietf_encrypt(sealed, NULL, data, data_size, associated,
                                              sizeof associated, NULL, nonce, lock->key);
    return ph_netcode_sealed_size(sequence, data_size);
}

ph_net_refusal ph_netcode_peek(const void* datagram, size_t size, ph_netcode_opened* peeked)
{
    *peeked = (ph_netcode_opened){0};
    if (size < SEALED_MIN || size > PH_NETCODE_DATAGRAM_MAX) {
        return PH_NET_REFUSAL_SIZE;
    }
    const uint8_t* bytes = datagram;
    const int type = bytes[0] & 15;
    if (type == PH_NETCODE_REQUEST || type >= PH_NETCODE_TYPE_COUNT) {
        return PH_NET_REFUSAL_TYPE;
    }
    const int sequence_bytes = bytes[0] >> 4;
    if (sequence_bytes < 1 || sequence_bytes > SEQUENCE_BYTES_MAX) {
        return PH_NET_REFUSAL_SEQUENCE_BYTES;
    }
    const size_t around = 1 + (size_t)sequence_bytes + PH_NETCODE_TAG_SIZE;
    if (size < around) {
        return PH_NET_REFUSAL_SIZE;
    }
    peeked->type = (ph_netcode_type)type;
    peeked->sequence = ph_number_at(bytes + 1, sequence_bytes);
    peeked->data = bytes + 1 + sequence_bytes;
    peeked->data_size = size - around;
    return PH_NET_REFUSAL_NONE;
}

static bool is_data_size(ph_netcode_type type, size_t size)
{
    switch (type) {
    case PH_NETCODE_DENIED:
        return size <= 1; // our servers may give a reason
    case PH_NETCODE_DISCONNECT:
        return size == 0;
    case PH_NETCODE_CHALLENGE:
    case PH_NETCODE_RESPONSE:
        return size == PH_CHALLENGE_DATA_SIZE;
    case PH_NETCODE_KEEP_ALIVE:
        return size == 8;
    case PH_NETCODE_PAYLOAD:
        return size >= 1 && size <= PH_NETCODE_PAYLOAD_MAX;
    case PH_NETCODE_REQUEST:
    case PH_NETCODE_TYPE_COUNT:
        break;
    }
    return false;
}

static bool open_in_place(const ph_netcode_lock* lock, uint8_t* datagram,
                          const ph_netcode_opened* peeked)
{
    uint8_t associated[ASSOCIATED_SIZE];
    put_associated(associated, lock, datagram[0]);
    uint8_t nonce[PH_NETCODE_SEQUENCE_NONCE_SIZE];
    ph_netcode_nonce(peeked->sequence, nonce);
    uint8_t* data = datagram + (peeked->data - datagram);
    return crypto_aead_chacha20poly1305_ietf_decrypt(
               data, NULL, NULL, data, peeked->data_size + PH_NETCODE_TAG_SIZE, associated,
               sizeof associated, nonce, lock->key) == 0;
}

ph_net_refusal ph_netcode_open(const ph_netcode_lock* lock, ph_netcode_replay* replay,
                               void* datagram, size_t size, ph_netcode_opened* opened)
{
    const ph_net_refusal refusal = ph_netcode_peek(datagram, size, opened);
    if (refusal != PH_NET_REFUSAL_NONE) {
        return refusal;
    }
    const bool is_counted = replay != NULL && opened->type >= PH_NETCODE_KEEP_ALIVE;
    if (is_counted && ph_netcode_replay_has(replay, opened->sequence)) {
        return PH_NET_REFUSAL_REPLAYED;
    }
    if (!open_in_place(lock, datagram, opened)) {
        return PH_NET_REFUSAL_SEAL;
    }
    if (is_counted) {
        ph_netcode_replay_add(replay, opened->sequence);
    }
    return is_data_size(opened->type, opened->data_size) ? PH_NET_REFUSAL_NONE
                                                         : PH_NET_REFUSAL_DATA_SIZE;
}
