// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the fuzz targets of netcode share: an input that is eaten byte by byte, and tokens whose keys
// the fuzzer knows, so that it gets behind every seal.

#ifndef PINHOLE_FUZZ_NETCODE_H
#define PINHOLE_FUZZ_NETCODE_H

#include <pinhole/net/netcode.h>

enum { FUZZ_NETCODE_UNIX_S = 1000000, FUZZ_NETCODE_ADDRESSES = 4 };

// Aborts unless it holds.
void fuzz_netcode_demand(bool condition);

typedef struct fuzz_netcode_input {
    const uint8_t* bytes;
    size_t left;
} fuzz_netcode_input;

// 0..limit-1 from one byte; 0 when there is nothing left.
uint32_t fuzz_netcode_take(fuzz_netcode_input* input, uint32_t limit);

// Up to `most` bytes, as many as the next two say and are there. @return How many.
size_t fuzz_netcode_take_bytes(fuzz_netcode_input* input, uint8_t* bytes, size_t most);

// Small, near the middle or near the end of all numbers.
uint64_t fuzz_netcode_take_sequence(fuzz_netcode_input* input);

// 10.0.0.(1 + number):40000, or an IPv6 one for the last.
ph_address fuzz_netcode_address(uint32_t number);

// A token for a player, its keys made of both numbers; for the servers at addresses 0 and 3.
ph_token_def fuzz_netcode_token(uint32_t player, uint32_t number, ph_token_secrets* secrets);

#endif
