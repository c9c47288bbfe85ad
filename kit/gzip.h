// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Bytes, packed as gzip does it. A few times per program.

#ifndef PINHOLE_KIT_GZIP_H
#define PINHOLE_KIT_GZIP_H

#include "kit/fault.h"

#include <stddef.h>
#include <stdint.h>

// *packed is the caller's to free().
// @return False with *fault filled: no memory, or this program was built without zlib.
bool ph_gzip_pack(const void* bytes, size_t size, uint8_t** packed, size_t* packed_size,
                  ph_fault* fault);

#endif
