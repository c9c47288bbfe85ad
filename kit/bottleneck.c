// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The queue is known by when it will be empty. Once per datagram.

#include "kit/bottleneck.h"

#define BITS_US 8000000ull // microseconds that one byte takes at 1 bit/s

uint64_t ph_bottleneck_wait_us(const ph_bottleneck* bottleneck, uint64_t now_us)
{
    return bottleneck->free_us > now_us ? bottleneck->free_us - now_us : 0;
}

bool ph_bottleneck_pass(ph_bottleneck* bottleneck, uint64_t now_us, size_t size, uint64_t* leave_us)
{
    *leave_us = now_us;
    if (bottleneck->bits_per_second == 0) {
        return true;
    }
    const uint64_t rate = (uint64_t)bottleneck->bits_per_second;
    const uint64_t bytes = size + (uint64_t)bottleneck->overhead_bytes;
    const uint64_t wait_us = ph_bottleneck_wait_us(bottleneck, now_us);
    const uint64_t queued_bytes = wait_us * rate / BITS_US;
    if (wait_us > 0 && queued_bytes + bytes > (uint64_t)bottleneck->queue_bytes) {
        ++bottleneck->dropped;
        return false;
    }
    ++bottleneck->passed;
    bottleneck->free_us = now_us + wait_us + (bytes * BITS_US + rate - 1) / rate;
    *leave_us = bottleneck->free_us;
    return true;
}
