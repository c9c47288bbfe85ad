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

// All lines of an array. What is behind it may be asked for, too: nothing is read.
static inline void ph_prefetch_bytes(const void* bytes, size_t size)
{
    for (size_t i = 0; i < size; i += PH_CACHE_LINE) {
        ph_prefetch((const void*)((uintptr_t)bytes + i));
    }
}

// What is to be fetched by and by: a processor fetches only some lines at a time, and drops what it is
// asked for beyond that.
typedef struct ph_stretch {
    const uint8_t* at;
    size_t left_bytes;
} ph_stretch;

// So many lines more, if anything is left. A number that the compiler knows takes no loop.
static inline void ph_stretch_fetch(ph_stretch* stretch, int lines)
{
    const size_t most = (size_t)lines * PH_CACHE_LINE;
    if (stretch->left_bytes > 0) {
        const size_t bytes = stretch->left_bytes < most ? stretch->left_bytes : most;
        ph_prefetch_bytes(stretch->at, most);
        stretch->at += bytes;
        stretch->left_bytes -= bytes;
    }
}

#endif
