// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// PH_WIDE before a function whose loops compilers turn into vectors: where the system can choose at load
// time, there is a second copy of it for processors with vectors of eight. Each lane stands for itself and
// nothing is fused (-ffp-contract=off), so both copies give the same bits. A call goes through a pointer:
// for sweeps over many slots, not for single ones.

#ifndef PINHOLE_BASE_WIDE_H
#define PINHOLE_BASE_WIDE_H

// Set by the build where it has tried that.
#if defined(PH_HAS_CLONES)
#define PH_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define PH_WIDE
#endif

#endif
