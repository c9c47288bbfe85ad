// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Choosing the nearest of few, in place, by a heap: of those at the edge of a sweep's cut, of
// ALWAYS entities and of newcomers, all once per viewer and refresh. Distances are chosen by the
// game's players, so no order of the input may be slow.

#include "vision/select.h"

#include <string.h>

static void swap_seen(ph_seen* a, ph_seen* b)
{
    const ph_seen kept = *a;
    *a = *b;
    *b = kept;
}

// seen[0..count) is a heap with the furthest on top, but for seen[root].
static void sift_seen_down(ph_seen* seen, int count, int root)
{
    const ph_seen moving = seen[root];
    while (root < count / 2) {
        int child = 2 * root + 1;
        if (child + 1 < count && ph_seen_is_nearer(&seen[child], &seen[child + 1])) {
            ++child;
        }
        if (!ph_seen_is_nearer(&moving, &seen[child])) {
            break;
        }
        seen[root] = seen[child];
        root = child;
    }
    seen[root] = moving;
}

static void make_heap(ph_seen* seen, int count)
{
    for (int root = count / 2 - 1; root >= 0; --root) {
        sift_seen_down(seen, count, root);
    }
}

int ph_select_nearest(ph_seen* seen, int count, int wanted)
{
    PH_ASSERT(count >= 0 && wanted >= 0);

    const int chosen = ph_least(wanted, count);
    make_heap(seen, chosen);
    for (int i = chosen; i < count && chosen > 0; ++i) {
        if (ph_seen_is_nearer(&seen[i], &seen[0])) {
            swap_seen(&seen[i], &seen[0]);
            sift_seen_down(seen, chosen, 0);
        }
    }
    return chosen;
}

void ph_sort_nearest(ph_seen* seen, int count)
{
    PH_ASSERT(count >= 0);

    make_heap(seen, count);
    for (int last = count - 1; last > 0; --last) {
        swap_seen(&seen[0], &seen[last]);
        sift_seen_down(seen, last, 0);
    }
}

bool ph_eye_may_see(const ph_eye* eye, const ph_entity_arrays* arrays, ph_entity_index entity)
{
    if (entity == eye->own || (arrays->flags[entity] & PH_SEEN_NEVER) != 0 ||
        (arrays->seen_by[entity] & eye->sees) == 0) {
        return false;
    }
    return ph_eye_ask(eye, entity);
}

int ph_select_results(ph_seen* found, int always_count, int count, int wanted, int first)
{
    PH_ASSERT(0 <= first && first <= wanted);
    PH_ASSERT(0 <= always_count && always_count <= count);

    // Their distance of 0 would tie with those that stand on the eye, and they go before these.
    const int always_kept = ph_select_nearest(found, always_count, wanted);
    ph_select_nearest(found, always_kept, first);
    const int kept =
        ph_select_nearest(found + always_count, count - always_count, wanted - always_kept);
    if (first > always_kept) {
        ph_select_nearest(found + always_count, kept, first - always_kept);
    }
    // When some of the first kind were left out, there is no room for the others.
    return always_kept + kept;
}

int ph_nearest_brute_force(const ph_entity_arrays* arrays, const ph_eye* eye, int first,
                           ph_seen* scratch, ph_seen* seen)
{
    PH_ASSERT(0 <= first && first <= eye->wanted);
    PH_ASSERT(0 <= eye->radius_mm && eye->radius_mm <= INT64_C(1) << 31);

    const uint64_t radius2 = (uint64_t)(eye->radius_mm * eye->radius_mm);
    int always_count = 0;
    int count = 0;
    for (int i = 0; i < arrays->live_count; ++i) {
        const ph_entity_index entity = arrays->live[i];
        const bool is_always = (arrays->flags[entity] & PH_SEEN_ALWAYS) != 0;
        const uint64_t distance2 =
            is_always
                ? 0
                : ph_distance2(arrays->x_mm[entity], arrays->y_mm[entity], eye->x_mm, eye->y_mm);
        if (distance2 > radius2 || !ph_eye_may_see(eye, arrays, entity)) {
            continue;
        }
        scratch[count] = (ph_seen){distance2, arrays->spawn_order[entity], entity};
        if (is_always) {
            swap_seen(&scratch[count], &scratch[always_count++]);
        }
        ++count;
    }
    count = ph_select_results(scratch, always_count, count, eye->wanted, first);
    memcpy(seen, scratch, (size_t)count * sizeof *seen);
    return count;
}
