// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the project's own tools ask of libpinhole-net beside the contract, as src/tools/tools.h of the
// library: tests want known keys, the benchmark wants to know where time goes. Not installed.

#ifndef PINHOLE_NET_TOOLS_H
#define PINHOLE_NET_TOOLS_H

#include "net/net_simulation.h"

#include "tools/tools.h"

// Whether all tables of a server agree with each other. Slow.
bool ph_net_server_validate(const ph_net_server* server);

// Fills size bytes.
typedef void ph_net_random_fn(void* context, void* bytes, size_t size);

// ph_net_server_create() with keys from here instead of libsodium.
ph_result ph_net_server_create_with(const ph_net_server_def* def, ph_net_random_fn* random,
                                    void* context, ph_net_server** server);

// ph_token_write() with keys and nonce that are given, and as other makers write it: without the time at which it
// was made.
ph_result ph_token_write_with(const ph_token_def* def, const ph_token_secrets* secrets,
                              uint8_t token[PH_TOKEN_SIZE]);

// What sealing and the sockets of a host took, in ns.
typedef struct ph_host_times {
    uint64_t seal_ns;
    uint64_t send_ns;
} ph_host_times;

// Lends it a clock to measure sends by; NULL, as at the start: nothing is measured. Asserts that there
// is one thread only: no pool, or one of one.
void ph_host_set_clock(ph_host* host, ph_now_ns_fn* now_ns, void* context);
ph_host_times ph_host_stage_times(const ph_host* host);

#endif
