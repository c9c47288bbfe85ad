// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The only way to memory inside the library: every call goes to the game's ph_allocator, or to
// malloc and free when that is zero-initialised. Runs at creation and at explicit growth, never
// inside a warm tick. No thread safety of its own: that of the allocator.

#ifndef PH_BASE_ALLOCATOR_H
#define PH_BASE_ALLOCATOR_H

#include "pinhole/base.h"

// Returns size bytes, not zeroed, aligned for any type, or NULL when there is no memory.
// Size 0 is asked for as one byte, so that NULL always means failure.
void* ph_allocate(const ph_allocator* allocator, size_t size);

// The same with every byte zero.
void* ph_allocate_zeroed(const ph_allocator* allocator, size_t size);

// Room for count elements, not zeroed. NULL also when count * element_size is no size_t: an
// allocator never sees a product that wrapped.
void* ph_allocate_array(const ph_allocator* allocator, size_t count, size_t element_size);

// Gives back what one of the above returned, with the same size. NULL memory is allowed.
void ph_release(const ph_allocator* allocator, void* memory, size_t size);

// The twin of ph_allocate_array. NULL memory is allowed, with any count.
void ph_release_array(const ph_allocator* allocator, void* memory, size_t count,
                      size_t element_size);

#endif
