// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Tells the processor what will be looked at soon: the memory of thousands of clients is in no cache,
// and comes while something else is worked on. Never needed for the result; any address will do.
// (The library has the same for itself; programs see public headers alone.)

#ifndef PH_APP_FETCH_AHEAD_H
#define PH_APP_FETCH_AHEAD_H

#include <stddef.h>

enum { FETCH_LINE_BYTES = 64 };

static inline void fetch_ahead(const void* bytes, size_t size)
{
#if defined(__GNUC__)
    for (size_t i = 0; i < size; i += FETCH_LINE_BYTES) {
        __builtin_prefetch((const char*)bytes + i);
    }
#else
    (void)bytes;
    (void)size;
#endif
}

#endif
