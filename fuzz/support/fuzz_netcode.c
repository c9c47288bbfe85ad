// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "support/fuzz_netcode.h"

#include <string.h>

size_t fuzz_netcode_take_bytes(fuzz_source* input, uint8_t* bytes, size_t most)
{
    size_t size = fuzz_take(input, 256);
    size |= (size_t)fuzz_take(input, 8) << 8;
    size = size < most ? size : most;
    size = size < input->left ? size : input->left;
    memcpy(bytes, input->bytes, size);
    input->bytes += size;
    input->left -= size;
    return size;
}

uint64_t fuzz_netcode_take_sequence(fuzz_source* input)
{
    static const uint64_t bases[] = {0, 0, 250, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX};
    const uint64_t base = bases[fuzz_take(input, 6)];
    const uint64_t offset = fuzz_take(input, 256) * (1 + fuzz_take(input, 4));
    return base == UINT64_MAX ? base - offset : base + offset;
}

ph_address fuzz_netcode_address(uint32_t number)
{
    if (number == FUZZ_NETCODE_ADDRESSES - 1) {
        const uint8_t bytes[16] = {0x20, 0x01, [15] = 1};
        return ph_address_make_ipv6(bytes, 40000);
    }
    const uint8_t bytes[4] = {10, 0, 0, (uint8_t)(1 + number)};
    return ph_address_make_ipv4(bytes, 40000);
}

ph_token_def fuzz_netcode_token(uint32_t player, uint32_t number, ph_token_secrets* secrets)
{
    memset(secrets, (int)(player * 16 + number), sizeof *secrets);
    secrets->server_to_client_key[0] ^= 0xFF;
    ph_token_def def = ph_token_def_default();
    def.protocol_id = 7;
    def.client_id = player;
    def.private_key[0] = 1;
    def.create_s = FUZZ_NETCODE_UNIX_S;
    def.lifetime_s = 60;
    def.timeout_s = number == 0 ? -1 : (int32_t)number; // one of them has none
    def.addresses[0] = fuzz_netcode_address(0);
    def.addresses[1] = fuzz_netcode_address(FUZZ_NETCODE_ADDRESSES - 1);
    def.address_count = 2;
    memset(def.user_data, (int)player, sizeof def.user_data);
    return def;
}
