// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// PH_TWIN declares the one exported copy of a PH_INLINE function, in the .c of its header. Only
// Windows wants the mark here; elsewhere it stands at the definition, where clang insists on it.

#ifndef PINHOLE_BASE_TWIN_H
#define PINHOLE_BASE_TWIN_H

#include "pinhole/base.h"

#if defined(_WIN32)
#define PH_TWIN PH_API extern inline
#else
#define PH_TWIN extern inline
#endif

#endif
