// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Greedy: a few thousand distances for a block. The best way through all of them would be a fifth
// shorter, which is a third of a bit for each.

#include "vision/chain.h"

// Which power of two the distance is in.
static int class_of(uint64_t distance2)
{
    int bits = 0;
    for (; distance2 > 3; distance2 >>= 2) {
        ++bits;
    }
    return bits;
}

// Of first..end-1, the nearest to one of them all; the first of several.
static int nearest_to(const ph_seen* from, const ph_seen* seen, int first, int end,
                      const int32_t* x_mm, const int32_t* y_mm)
{
    int best = first;
    uint64_t best2 = UINT64_MAX;
    for (int i = first; i < end; ++i) {
        const ph_entity_index each = seen[i].entity;
        const uint64_t distance2 =
            ph_distance2(x_mm[each], y_mm[each], x_mm[from->entity], y_mm[from->entity]);
        if (distance2 < best2) {
            best = i;
            best2 = distance2;
        }
    }
    return best;
}

// Whether one belongs to the block that begins with the other.
static bool is_as_near(const ph_seen* first, const ph_seen* other)
{
    return class_of(first->distance2) == class_of(other->distance2);
}

void ph_chain_neighbours(ph_seen* seen, int count, const int32_t* x_mm, const int32_t* y_mm)
{
    int first = 0;
    while (first < count) {
        int end = first + 1;
        while (end < count && end - first < PH_CHAIN_LENGTH &&
               is_as_near(&seen[first], &seen[end])) {
            ++end;
        }
        for (int i = first > 0 ? first : 1; i < end; ++i) {
            const int best = nearest_to(&seen[i - 1], seen, i, end, x_mm, y_mm);
            const ph_seen next = seen[best];
            seen[best] = seen[i];
            seen[i] = next;
        }
        first = end;
    }
}
