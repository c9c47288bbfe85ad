// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// For functions that only make sense as part of their caller: whose arguments are mostly constants, or
// whose structs are to live in registers. A single one that is called after all takes the address of
// such a struct, and with it all registers.

#ifndef PINHOLE_BASE_INLINE_H
#define PINHOLE_BASE_INLINE_H

#if defined(__GNUC__)
#define PH_ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define PH_ALWAYS_INLINE static inline
#endif

// For what is rare: as part of its caller it would take registers from what is not.
#if defined(__GNUC__)
#define PH_OUT_OF_LINE __attribute__((noinline))
#else
#define PH_OUT_OF_LINE
#endif

#endif
