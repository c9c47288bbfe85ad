// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Tells the processor what will be read soon. The state of thousands of viewers is in no cache; asked
// for early, it comes while something else is worked on. Never needed for the result.

#ifndef PH_BASE_PREFETCH_H
#define PH_BASE_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#define PH_CACHE_LINE 64

// Any address will do.
static inline void ph_prefetch(const void* address)
{
#if defined(__GNUC__)
    __builtin_prefetch(address);
    // gcc takes a function that does nothing else for one without effect, and leaves its calls out.
    __asm__ volatile("" : : "r"(address));
#else
    (void)address;
#endif
}

// All lines of an array.
static inline void ph_prefetch_bytes(const void* bytes, size_t size)
{
    for (size_t i = 0; i < size; i += PH_CACHE_LINE) {
        ph_prefetch((const uint8_t*)bytes + i);
    }
}

#endif
