// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Addresses as they stand in tokens. Runs once per token.

#include "net/netcode_bytes.h"

#include <pinhole/net/netcode_token.h>

enum { IPV6_GROUPS = 8 };

uint8_t* ph_put_address(uint8_t* at, const ph_address* address)
{
    *at++ = (uint8_t)address->kind;
    if (address->kind == PH_ADDRESS_IPV4) {
        at = ph_put_bytes(at, address->bytes, 4);
    } else {
        for (int group = 0; group < IPV6_GROUPS; ++group) {
            *at++ = address->bytes[group * 2 + 1];
            *at++ = address->bytes[group * 2];
        }
    }
    return ph_put_number(at, address->port, 2);
}

const uint8_t* ph_take_address(const uint8_t* at, ph_address* address)
{
    const uint8_t kind = *at++;
    uint8_t bytes[16] = {0};
    if (kind == PH_ADDRESS_IPV4) {
        at = ph_take_bytes(at, bytes, 4);
        *address = ph_address_make_ipv4(bytes, (uint16_t)ph_number_at(at, 2));
        return at + 2;
    }
    if (kind == PH_ADDRESS_IPV6) {
        for (int group = 0; group < IPV6_GROUPS; ++group) {
            bytes[group * 2 + 1] = *at++;
            bytes[group * 2] = *at++;
        }
        *address = ph_address_make_ipv6(bytes, (uint16_t)ph_number_at(at, 2));
        return at + 2;
    }
    return NULL;
}

uint8_t* ph_put_addresses(uint8_t* at, const ph_address* addresses, int count)
{
    at = ph_put_u32(at, (uint32_t)count);
    for (int i = 0; i < count; ++i) {
        at = ph_put_address(at, &addresses[i]);
    }
    return at;
}

ph_addresses_fault ph_take_addresses(const uint8_t** at, ph_address* addresses, int* count)
{
    uint32_t number;
    *at = ph_take_u32(*at, &number);
    if (number < 1 || number > PH_TOKEN_ADDRESSES_MAX) {
        return PH_ADDRESSES_COUNT;
    }
    for (uint32_t i = 0; i < number; ++i) {
        *at = ph_take_address(*at, &addresses[i]);
        if (*at == NULL) {
            return PH_ADDRESSES_KIND;
        }
    }
    *count = (int)number;
    return PH_ADDRESSES_GOOD;
}
