// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a host tells on_error by itself, in sentences: that it is insecure, every minute. Once per tick, a comparison.

#ifndef PINHOLE_NET_HOST_WARNINGS_H
#define PINHOLE_NET_HOST_WARNINGS_H

#include <stdint.h>

typedef struct ph_host ph_host;

typedef struct ph_host_warnings {
    uint64_t insecure_us; // when it was last told; 0: never
} ph_host_warnings;

// When it opens, and once per tick.
void ph_host_warn(ph_host* host, uint64_t now_us);

#endif
