// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the fuzz targets of netcode share: runs of bytes and sequence numbers from the input, and tokens
// whose keys the fuzzer knows, so that it gets behind every seal.

#ifndef PINHOLE_FUZZ_NETCODE_H
#define PINHOLE_FUZZ_NETCODE_H

#include "support/fuzz_source.h"

#include <pinhole/net/netcode.h>

enum { FUZZ_NETCODE_UNIX_S = 1000000, FUZZ_NETCODE_ADDRESSES = 4 };

// Up to `most` bytes, as many as the next two say and are there. @return How many.
size_t fuzz_netcode_take_bytes(fuzz_source* input, uint8_t* bytes, size_t most);

// Small, near the middle or near the end of all numbers.
uint64_t fuzz_netcode_take_sequence(fuzz_source* input);

// 10.0.0.(1 + number):40000, or an IPv6 one for the last.
ph_address fuzz_netcode_address(uint32_t number);

// A token for a player, its keys made of both numbers; for the servers at addresses 0 and 3.
ph_token_def fuzz_netcode_token(uint32_t player, uint32_t number, ph_token_secrets* secrets);

#endif
