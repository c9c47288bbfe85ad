// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Numbers and addresses as netcode writes them: little-endian, one behind the other, in buffers
// whose size is fixed by the standard. Each function returns the place behind what it wrote or
// read; that it lies inside the buffer follows from the layouts, which are asserted where they are
// used.

#ifndef PINHOLE_NET_NETCODE_BYTES_H
#define PINHOLE_NET_NETCODE_BYTES_H

#include <pinhole/net/address.h>

#include <string.h>

enum {
    PH_NETCODE_VERSION_SIZE = 13,
    PH_NETCODE_TAG_SIZE = 16,
    PH_NETCODE_IPV6_SIZE = 19, // the longest address: kind, 8 groups, port
};

// With its zero at the end.
#define PH_NETCODE_VERSION "NETCODE 1.02"
_Static_assert(sizeof PH_NETCODE_VERSION == PH_NETCODE_VERSION_SIZE, "the zero belongs to it");

static inline uint8_t* ph_put_number(uint8_t* at, uint64_t value, int size)
{
    for (int i = 0; i < size; ++i) {
        *at++ = (uint8_t)(value >> (8 * i));
    }
    return at;
}

static inline uint8_t* ph_put_u32(uint8_t* at, uint32_t value)
{
    return ph_put_number(at, value, 4);
}

static inline uint8_t* ph_put_u64(uint8_t* at, uint64_t value)
{
    return ph_put_number(at, value, 8);
}

static inline uint8_t* ph_put_bytes(uint8_t* at, const void* bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

static inline uint8_t* ph_put_version(uint8_t* at)
{
    return ph_put_bytes(at, PH_NETCODE_VERSION, PH_NETCODE_VERSION_SIZE);
}

static inline uint64_t ph_number_at(const uint8_t* at, int size)
{
    uint64_t value = 0;
    for (int i = size - 1; i >= 0; --i) {
        value = value << 8 | at[i];
    }
    return value;
}

static inline const uint8_t* ph_take_u32(const uint8_t* at, uint32_t* value)
{
    *value = (uint32_t)ph_number_at(at, 4);
    return at + 4;
}

static inline const uint8_t* ph_take_u64(const uint8_t* at, uint64_t* value)
{
    *value = ph_number_at(at, 8);
    return at + 8;
}

static inline const uint8_t* ph_take_bytes(const uint8_t* at, void* bytes, size_t size)
{
    memcpy(bytes, at, size);
    return at + size;
}

static inline bool ph_is_version(const uint8_t* at)
{
    return memcmp(at, PH_NETCODE_VERSION, PH_NETCODE_VERSION_SIZE) == 0;
}

// IPv4: kind, 4 bytes, port. IPv6: kind, 8 groups as numbers (so their bytes change places), port.
uint8_t* ph_put_address(uint8_t* at, const ph_address* address);

// @return NULL when the kind is neither.
const uint8_t* ph_take_address(const uint8_t* at, ph_address* address);

// Number of addresses, then the addresses: at most 4 + 32 * 19 bytes.
uint8_t* ph_put_addresses(uint8_t* at, const ph_address* addresses, int count);

typedef enum ph_addresses_fault {
    PH_ADDRESSES_GOOD = 0,
    PH_ADDRESSES_COUNT,
    PH_ADDRESSES_KIND,
} ph_addresses_fault;

// Reads into an array of 32. On a fault *at and what was read mean nothing.
ph_addresses_fault ph_take_addresses(const uint8_t** at, ph_address* addresses, int* count);

#endif
