// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A token bucket at the socket, apart from the one of the world: says whether what really goes over
// the wire keeps to the budget. Exact to the millionth of a bit. Runs once per datagram.

#ifndef PINHOLE_NET_WIRE_METER_H
#define PINHOLE_NET_WIRE_METER_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

// Bytes of IP and UDP before every datagram.
enum { PH_WIRE_HEADERS_IPV4 = 28, PH_WIRE_HEADERS_IPV6 = 48 };

// Plain data; read-only outside.
typedef struct ph_wire_meter {
    int64_t bits_per_second; // 0: no limit
    int64_t depth_bits;
    int64_t level_parts; // millionths of a bit
    uint64_t filled_us;
    uint64_t bytes;
    uint64_t datagrams;
    uint64_t overruns; // datagrams that drove it below zero
} ph_wire_meter;

// A full bucket.
ph_wire_meter ph_wire_meter_make(int64_t bits_per_second, int64_t depth_bits, uint64_t now_us);

// The budget is another one from now on; what is saved up stays, as far as there is room. Behind no limit it is full:
// nothing was counted.
void ph_wire_meter_change(ph_wire_meter* meter, int64_t bits_per_second, int64_t depth_bits,
                          uint64_t now_us);

// One datagram passes, headers included.
void ph_wire_meter_pass(ph_wire_meter* meter, size_t wire_bytes, uint64_t now_us);

#endif
