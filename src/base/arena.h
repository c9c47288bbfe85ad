// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Scratch memory: one block, taken from the allocator at creation, handed out from front to back
// and given back all at once or down to a mark. Runs many times per tick; never grows.
// Built with AddressSanitizer, what is not handed out is poisoned.
//
//   memory                  used_bytes           capacity_bytes
//   |--- a ---|pad|-- b --|.......... free .........|

#ifndef PINHOLE_BASE_ARENA_H
#define PINHOLE_BASE_ARENA_H

#include "pinhole/base.h"

enum {
    PH_ARENA_ALIGNMENT = 16,     // of every allocation that does not ask for another
    PH_ARENA_ALIGNMENT_MAX = 64, // a cache line, and the widest vector
};

// {0} is an arena that is always full; it may be destroyed. Fields are read-only outside arena.c.
typedef struct ph_arena {
    uint8_t* memory; // on a multiple of PH_ARENA_ALIGNMENT_MAX: what fits never depends on luck
    size_t capacity_bytes;
    size_t used_bytes;       // padding included
    size_t high_water_bytes; // the largest used_bytes since creation
    void* block;             // as the allocator returned it
    ph_allocator allocator;
} ph_arena;

// Takes one block that holds capacity_bytes (0 is allowed). The allocator is copied; its context
// outlives the arena.
// @return PH_OK, or PH_ERROR_MEMORY with *arena set to {0}.
ph_result ph_arena_create(ph_arena* arena, const ph_allocator* allocator, size_t capacity_bytes);

// Gives the block back, with all that was handed out of it. Leaves {0}.
void ph_arena_destroy(ph_arena* arena);

// Returns size bytes, not zeroed, aligned to PH_ARENA_ALIGNMENT, or NULL when the arena is full.
// They live until the arena is reset, or rewound to an earlier mark. Size 0 counts as 1.
void* ph_arena_allocate(ph_arena* arena, size_t size);

// The same on a multiple of alignment: a power of two, 1..PH_ARENA_ALIGNMENT_MAX.
void* ph_arena_allocate_aligned(ph_arena* arena, size_t size, size_t alignment);

// Room for count elements. NULL also when count * element_size is no size_t.
void* ph_arena_allocate_array(ph_arena* arena, size_t count, size_t element_size);

// Names the present state, in bytes; 0 is the empty arena. Marks nest: last made, first rewound to.
size_t ph_arena_mark(const ph_arena* arena);

// Gives back everything handed out since the mark was made.
void ph_arena_rewind(ph_arena* arena, size_t mark);

// Gives back everything. The high-water mark stays.
void ph_arena_reset(ph_arena* arena);

// Whether every field agrees with the others. For tests.
bool ph_arena_validate(const ph_arena* arena);

#endif
