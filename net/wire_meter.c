// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "net/wire_meter.h"

#define PARTS_PER_BIT INT64_C(1000000)

ph_wire_meter ph_wire_meter_make(int64_t bits_per_second, int64_t depth_bits, uint64_t now_us)
{
    return (ph_wire_meter){
        .bits_per_second = bits_per_second,
        .depth_bits = depth_bits,
        .level_parts = depth_bits * PARTS_PER_BIT,
        .filled_us = now_us,
    };
}

static void fill(ph_wire_meter* meter, uint64_t now_us)
{
    const int64_t brim = meter->depth_bits * PARTS_PER_BIT;
    const int64_t room = brim - meter->level_parts;
    const int64_t elapsed_us = now_us > meter->filled_us ? (int64_t)(now_us - meter->filled_us) : 0;
    if (meter->bits_per_second > 0) {
        const bool is_full = elapsed_us > room / meter->bits_per_second;
        meter->level_parts =
            is_full ? brim : meter->level_parts + elapsed_us * meter->bits_per_second;
    }
    meter->filled_us += (uint64_t)elapsed_us;
}

void ph_wire_meter_change(ph_wire_meter* meter, int64_t bits_per_second, int64_t depth_bits,
                          uint64_t now_us)
{
    fill(meter, now_us);
    const bool was_unlimited = meter->bits_per_second == 0;
    meter->bits_per_second = bits_per_second;
    meter->depth_bits = depth_bits;
    if (was_unlimited || meter->level_parts > depth_bits * PARTS_PER_BIT) {
        meter->level_parts = depth_bits * PARTS_PER_BIT;
    }
}

void ph_wire_meter_pass(ph_wire_meter* meter, size_t wire_bytes, uint64_t now_us)
{
    fill(meter, now_us);
    meter->bytes += wire_bytes;
    ++meter->datagrams;
    if (meter->bits_per_second == 0) {
        return;
    }
    meter->level_parts -= (int64_t)wire_bytes * 8 * PARTS_PER_BIT;
    if (meter->level_parts < 0) {
        ++meter->overruns;
        meter->level_parts = 0; // each is counted by itself
    }
}
