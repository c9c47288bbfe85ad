// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Choosing the nearest among answers. The grid calls this for the dozen at the edge of its cut,
// groups and slots for short lists, all once per viewer and refresh; brute force runs in tests and
// benchmarks only. Everything is in place. Distances are chosen by whoever moves entities, so no
// order of the input may be slow: where quickselect does badly, a heap takes over.

#include "vision/select.h"

#include <string.h>

// Below this, insertion beats everything else.
enum { SMALL_COUNT = 12 };

static void swap(ph_seen* a, ph_seen* b)
{
    const ph_seen kept = *a;
    *a = *b;
    *b = kept;
}

static void sort_by_insertion(ph_seen* seen, int count)
{
    for (int i = 1; i < count; ++i) {
        const ph_seen moving = seen[i];
        int hole = i;
        for (; hole > 0 && ph_seen_is_nearer(&moving, &seen[hole - 1]); --hole) {
            seen[hole] = seen[hole - 1];
        }
        seen[hole] = moving;
    }
}

// seen[0..count) is a heap with the furthest on top, but for seen[root].
static void sift_down(ph_seen* seen, int count, int root)
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
        sift_down(seen, count, root);
    }
}

// count log wanted, whatever the order.
static void select_by_heap(ph_seen* seen, int count, int wanted)
{
    make_heap(seen, wanted);
    for (int i = wanted; i < count; ++i) {
        if (ph_seen_is_nearer(&seen[i], &seen[0])) {
            swap(&seen[i], &seen[0]);
            sift_down(seen, wanted, 0);
        }
    }
}

// Moves the middle one of first, middle and last to the front.
static void put_pivot_first(ph_seen* seen, int count)
{
    ph_seen* middle = &seen[count / 2];
    ph_seen* last = &seen[count - 1];
    if (ph_seen_is_nearer(last, middle)) {
        swap(last, middle);
    }
    if (ph_seen_is_nearer(last, &seen[0])) {
        swap(last, &seen[0]);
    } else if (ph_seen_is_nearer(&seen[0], middle)) {
        swap(&seen[0], middle);
    }
}

// How many are nearer than the pivot; they stand before it, the others after it.
static int partition(ph_seen* seen, int count)
{
    put_pivot_first(seen, count);
    int nearer = 0;
    for (int i = 1; i < count; ++i) {
        if (ph_seen_is_nearer(&seen[i], &seen[0])) {
            ++nearer;
            swap(&seen[i], &seen[nearer]);
        }
    }
    swap(&seen[0], &seen[nearer]);
    return nearer;
}

int ph_select_nearest(ph_seen* seen, int count, int wanted)
{
    PH_ASSERT(count >= 0 && wanted >= 0);

    if (count <= wanted) {
        return count;
    }
    const int chosen = wanted;
    // A good pivot halves; four halvings' worth of bad ones and the heap takes the rest.
    int patience = 8;
    for (int n = count; n > 1; n /= 2) {
        patience += 2;
    }
    while (wanted > 0 && wanted < count) {
        if (count <= SMALL_COUNT) {
            sort_by_insertion(seen, count);
            break;
        }
        if (patience-- == 0) {
            select_by_heap(seen, count, wanted);
            break;
        }
        const int nearer = partition(seen, count);
        if (wanted <= nearer) {
            count = nearer;
        } else {
            seen += nearer + 1;
            count -= nearer + 1;
            wanted -= nearer + 1;
        }
    }
    return chosen;
}

void ph_sort_nearest(ph_seen* seen, int count)
{
    PH_ASSERT(count >= 0);

    if (count <= SMALL_COUNT) {
        sort_by_insertion(seen, count);
        return;
    }
    make_heap(seen, count);
    for (int last = count - 1; last > 0; --last) {
        swap(&seen[0], &seen[last]);
        sift_down(seen, last, 0);
    }
}

bool ph_eye_may_see(const ph_eye* eye, const ph_crowd* crowd, ph_entity_index entity)
{
    if (entity == eye->own || (crowd->flags[entity] & PH_SEEN_NEVER) != 0 ||
        (crowd->seen_by[entity] & eye->sees) == 0) {
        return false;
    }
    return ph_eye_ask(eye, entity);
}

int ph_select_answers(ph_seen* found, int always_count, int count, int wanted, int first)
{
    PH_ASSERT(0 <= first && first <= wanted);
    PH_ASSERT(0 <= always_count && always_count <= count);

    // Their distance of 0 would tie with those who stand on the eye, and they go before these.
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

int ph_nearest_brute_force(const ph_crowd* crowd, const ph_eye* eye, int first, ph_seen* scratch,
                           ph_seen* seen)
{
    PH_ASSERT(0 <= first && first <= eye->wanted);
    PH_ASSERT(0 <= eye->radius_mm && eye->radius_mm <= INT64_C(1) << 31);

    const uint64_t radius2 = (uint64_t)(eye->radius_mm * eye->radius_mm);
    int always_count = 0;
    int count = 0;
    for (int i = 0; i < crowd->live_count; ++i) {
        const ph_entity_index entity = crowd->live[i];
        const bool is_always = (crowd->flags[entity] & PH_SEEN_ALWAYS) != 0;
        const uint64_t distance2 =
            is_always
                ? 0
                : ph_distance2(crowd->x_mm[entity], crowd->y_mm[entity], eye->x_mm, eye->y_mm);
        if (distance2 > radius2 || !ph_eye_may_see(eye, crowd, entity)) {
            continue;
        }
        scratch[count] = (ph_seen){distance2, crowd->spawn_order[entity], entity};
        if (is_always) {
            swap(&scratch[count], &scratch[always_count++]);
        }
        ++count;
    }
    count = ph_select_answers(scratch, always_count, count, eye->wanted, first);
    memcpy(seen, scratch, (size_t)count * sizeof *seen);
    return count;
}
