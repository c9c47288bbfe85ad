// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What differs between compilers and processors: what is inlined and what is not, formats that
// are checked, copies of hot loops for wider vectors, the size of cache lines, hints.

#ifndef PH_BASE_COMPILER_H
#define PH_BASE_COMPILER_H

#include "pinhole/base.h"

#include <stdio.h> // says how mingw formats

// For functions that only make sense as part of their caller: whose arguments are mostly constants, or
// whose structs are to live in registers. A single one that is called after all takes the address of
// such a struct, and with it all registers.
#if defined(PH_HAS_EXTENSIONS)
#define PH_ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define PH_ALWAYS_INLINE static inline
#endif

// For what is rare: as part of its caller it would take registers from what is not.
#if defined(PH_HAS_EXTENSIONS)
#define PH_OUT_OF_LINE __attribute__((noinline))
#else
#define PH_OUT_OF_LINE
#endif

// PH_PRINTF(text, first) before a function that takes a format as printf does: which of its parameters
// that is, counted from 1, and which is the first value.
#if defined(PH_HAS_EXTENSIONS) && defined(__MINGW_PRINTF_FORMAT)
#define PH_PRINTF(text, first) __attribute__((format(__MINGW_PRINTF_FORMAT, text, first)))
#elif defined(PH_HAS_EXTENSIONS)
#define PH_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define PH_PRINTF(text, first)
#endif

// PH_WIDE before a function whose loops compilers turn into vectors: where the system can choose at load
// time, there is a second copy of it for processors with vectors of eight. Each lane stands for itself and
// nothing is fused (-ffp-contract=off), so both copies give the same bits. A call goes through a pointer:
// for sweeps over many slots, not for single ones.

// Set by the build where it has tried that.
#if defined(PH_HAS_CLONES) && defined(PH_HAS_EXTENSIONS)
#define PH_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define PH_WIDE
#endif

// PH_TWIN declares the one exported copy of a PH_INLINE function, in the .c of its header. Only
// Windows wants the mark here; elsewhere it stands at the definition, where clang insists on it.

#if defined(_WIN32)
#define PH_TWIN PH_API extern inline
#else
#define PH_TWIN extern inline
#endif

// Bytes that a processor fetches together.
#define PH_CACHE_LINE 64

// A hint that this address will be read soon. Changes no result. Only beside the figure that it gains.
#if defined(PH_HAS_EXTENSIONS)
// gcc takes a function that does nothing else for one without effect, and leaves its calls out: hence
// the empty statement of assembler.
#define PH_PREFETCH(address)                                                                       \
    do {                                                                                           \
        __builtin_prefetch(address);                                                               \
        __asm__ volatile("" : : "r"(address));                                                     \
    } while (0)
#else
#define PH_PREFETCH(address) ((void)(address))
#endif

#endif
