// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The one place in the library that knows malloc and free.

#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

// Applied to both ends of an allocation, so that release is given the size that allocate was.
static size_t at_least_one(size_t size)
{
    return size > 0 ? size : 1;
}

void* ph_allocate(const ph_allocator* allocator, size_t size)
{
    PH_ASSERT((allocator->allocate == NULL) == (allocator->release == NULL));

    if (allocator->allocate == NULL) {
        return malloc(at_least_one(size));
    }
    return allocator->allocate(allocator->context, at_least_one(size));
}

// No calloc: a game's allocator has none, and both kinds should behave alike.
void* ph_allocate_zeroed(const ph_allocator* allocator, size_t size)
{
    void* memory = ph_allocate(allocator, size);
    if (memory != NULL) {
        memset(memory, 0, size);
    }
    return memory;
}

void* ph_allocate_array(const ph_allocator* allocator, size_t count, size_t element_size)
{
    if (element_size > 0 && count > SIZE_MAX / element_size) {
        return NULL;
    }
    return ph_allocate(allocator, count * element_size);
}

void ph_release(const ph_allocator* allocator, void* memory, size_t size)
{
    PH_ASSERT((allocator->allocate == NULL) == (allocator->release == NULL));

    if (memory == NULL) {
        return;
    }
    if (allocator->release == NULL) {
        free(memory);
        return;
    }
    allocator->release(allocator->context, memory, at_least_one(size));
}

void ph_release_array(const ph_allocator* allocator, void* memory, size_t count,
                      size_t element_size)
{
    ph_release(allocator, memory, count * element_size);
}
