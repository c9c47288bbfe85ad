// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Two parts: the search for the key of a rank, and the candidates of a question. The loops over
// keys have no integer division, no gather and no branch inside: gcc 12 at -O3 and clang make
// vectors of them.

#include "vision/sweep.h"

#include "base/bitset.h"
#include "base/compiler.h"
#include "vision/select.h"

#include <string.h>

// ---- the search for the key of a rank

enum {
    BAND_COUNT = 16, // few enough to compare one by one
    MISSES_MAX = 3,  // guesses in proportion that may fail to halve the bracket in a row
};

PH_WIDE int ph_key_count(const int32_t* key, int count, int32_t limit)
{
    int within = 0;
    for (int i = 0; i < count; ++i) {
        within += key[i] <= limit;
    }
    return within;
}

int ph_marks_list(uint32_t* mark, int count, uint32_t* marked)
{
    const size_t end = (size_t)count;
    memset(mark + end, 0, PH_MARKS_STEP * sizeof *mark);
    size_t listed = 0;
    for (size_t i = 0; i < end; i += PH_MARKS_STEP) {
        uint64_t words[PH_MARKS_STEP / 2];
        memcpy(words, mark + i, sizeof words);
        if ((words[0] | words[1]) == 0) {
            continue;
        }
        for (size_t k = i; k < i + PH_MARKS_STEP; ++k) {
            marked[listed] = (uint32_t)k;
            listed += mark[k] != 0;
        }
    }
    return (int)listed;
}

// Moves both ends to keys that are there. Ends the search in one step when all stand on one point.
static void tighten_cut(const int32_t* key, int count, ph_cut* cut)
{
    const int32_t low = cut->low;
    const int32_t high = cut->high;
    int32_t least = high;
    int32_t most = low;
    for (int i = 0; i < count; ++i) {
        const int32_t at_least = key[i] > low ? key[i] : high;
        const int32_t at_most = key[i] <= high ? key[i] : low;
        least = at_least < least ? at_least : least;
        most = at_most > most ? at_most : most;
    }
    cut->low = least - 1;
    cut->high = most;
}

// `within` keys are up to a guess.
static void narrow_cut(ph_cut* cut, int wanted, int32_t guess, int within)
{
    if (within < wanted) {
        cut->low = guess;
        cut->low_count = within;
    } else {
        cut->high = guess;
        cut->high_count = within;
    }
}

// In a crowd of even density distance squared is evenly spread, so a guess in proportion is nearly
// right. The target lies a little beside the rank, towards the wider side, to cut that off.
static int32_t guess_by_proportion(const ph_cut* cut, int wanted)
{
    const int below = wanted - cut->low_count;
    const int above = cut->high_count - wanted;
    const float target = (float)below + (below > above ? -0.25f : 0.25f) * (float)BAND_COUNT;
    const float share = target / (float)(cut->high_count - cut->low_count);
    const float low = cut->low > 0 ? ph_key_float(cut->low) : 0.0f;
    return ph_key_of(low + (ph_key_float(cut->high) - low) * share);
}

static int32_t guess_by_bisection(const ph_cut* cut)
{
    return cut->low + (cut->high - cut->low) / 2;
}

void ph_cut_find(const int32_t* key, int count, int wanted, ph_cut* cut)
{
    int misses = 0;
    while (cut->high_count - cut->low_count > BAND_COUNT) {
        const int inside = cut->high_count - cut->low_count;
        int32_t guess = guess_by_proportion(cut, wanted);
        if (misses > MISSES_MAX) {
            misses = 0;
            tighten_cut(key, count, cut);
            if (cut->high - cut->low <= 1) {
                return;
            }
            guess = guess_by_bisection(cut);
        }
        if (guess > cut->low && guess < cut->high) {
            narrow_cut(cut, wanted, guess, ph_key_count(key, count, guess));
        }
        misses += cut->high_count - cut->low_count > inside / 2;
    }
}

// ---- memory

// By so many ranks the reach of the last view may be wrong.
enum { DRIFT_COUNT = 3 };

// Three arrays of four bytes with their overhang, then the band: in the worst case everything.
static size_t padded_count(int capacity)
{
    return (size_t)capacity + 2 * PH_SWEEP_STEP;
}

int ph_sweep_scratch_count(int capacity)
{
    PH_ASSERT(capacity >= 0);

    const size_t bytes = padded_count(capacity) * 3 * sizeof(uint32_t);
    return (int)((bytes + sizeof(ph_seen) - 1) / sizeof(ph_seen)) + capacity;
}

ph_sweep ph_sweep_make(const ph_cell_sorted* sorted, const ph_eye* eye, ph_seen* scratch,
                       int capacity)
{
    const size_t padded = padded_count(capacity);
    uint32_t* words = (uint32_t*)(void*)scratch;
    return (ph_sweep){
        .sorted = sorted,
        .eye = eye,
        .key = (int32_t*)(void*)words,
        .place = words + padded,
        .listed = words + 2 * padded,
        .edge = scratch + (ph_sweep_scratch_count(capacity) - capacity),
    };
}

// ---- gathering

// Whole steps: what is too much is overwritten by the next places, or never looked at.
PH_WIDE static void make_keys(const ph_sweep* sweep, uint32_t begin, uint32_t count)
{
    const int32_t* restrict x_mm = sweep->sorted->x_mm + begin;
    const int32_t* restrict y_mm = sweep->sorted->y_mm + begin;
    int32_t* restrict key = sweep->key + sweep->count;
    uint32_t* restrict place = sweep->place + sweep->count;
    const int32_t eye_x = sweep->eye->x_mm;
    const int32_t eye_y = sweep->eye->y_mm;
    const uint32_t padded = (count + PH_SWEEP_STEP - 1) / PH_SWEEP_STEP * PH_SWEEP_STEP;
    for (uint32_t i = 0; i < padded; ++i) {
        const float dx = (float)ph_difference_mm(x_mm[i], eye_x);
        const float dy = (float)ph_difference_mm(y_mm[i], eye_y);
        key[i] = ph_key_of(dx * dx + dy * dy);
        place[i] = begin + i;
    }
}

static void hide_masked(const ph_sweep* sweep, uint32_t begin, uint32_t count)
{
    const uint32_t* seen_by = sweep->sorted->seen_by + begin;
    int32_t* restrict key = sweep->key + sweep->count;
    const uint32_t sees = sweep->eye->sees;
    for (uint32_t i = 0; i < count; ++i) {
        // Bits instead of a condition, which would become a branch.
        key[i] |= (int32_t)(ph_bits_if((seen_by[i] & sees) == 0) & (uint32_t)PH_KEY_HIDDEN);
    }
}

static void hide_own(const ph_sweep* sweep, uint32_t begin, uint32_t count)
{
    const ph_cell_sorted* sorted = sweep->sorted;
    const ph_entity_index own = sweep->eye->own;
    if (own == PH_ENTITY_NONE) {
        return;
    }
    // Where it would be, if it has a place: else this is where another one is, or none.
    uint32_t at = sorted->place_of != NULL ? sorted->place_of[own] - begin : 0;
    while (sorted->place_of == NULL && at < count && sorted->entity[begin + at] != own) {
        ++at;
    }
    if (at < count && sorted->entity[begin + at] == own) {
        sweep->key[sweep->count + (int)at] = PH_KEY_HIDDEN;
    }
}

// The callback is asked before anything is counted.
static void ask_callback(const ph_sweep* sweep, uint32_t begin, uint32_t count)
{
    const ph_entity_index* entity = sweep->sorted->entity + begin;
    int32_t* key = sweep->key + sweep->count;
    for (uint32_t i = 0; i < count; ++i) {
        if (key[i] != PH_KEY_HIDDEN && !ph_eye_ask(sweep->eye, entity[i])) {
            key[i] = PH_KEY_HIDDEN;
        }
    }
}

void ph_sweep_gather(ph_sweep* sweep, uint32_t begin, uint32_t end)
{
    PH_ASSERT(begin <= end);

    const uint32_t count = end - begin;
    const ph_cell_sorted* sorted = sweep->sorted;
    if (count == 0) {
        return;
    }
    make_keys(sweep, begin, count);
    if ((sorted->seen_by_every & sweep->eye->sees) == 0) {
        hide_masked(sweep, begin, count);
    }
    hide_own(sweep, begin, count);
    if (sweep->eye->callback != NULL) {
        ask_callback(sweep, begin, count);
    }
    sweep->count += (int)count;
}

// ---- listing

static float square_of_radius(int64_t radius_mm)
{
    return (float)((double)radius_mm * (double)radius_mm);
}

int ph_sweep_count_within(ph_sweep* sweep, int64_t radius_mm)
{
    PH_ASSERT(0 <= radius_mm && radius_mm <= INT64_C(1) << 31);

    sweep->radius_mm = radius_mm;
    sweep->within_key = ph_key_surely_below(square_of_radius(radius_mm));
    sweep->within_count = ph_key_count(sweep->key, sweep->count, sweep->within_key);
    return sweep->within_count;
}

// Lists the places with a key above low and up to high. Without a branch: half of them are. @return
// How many.
static int list_between(const ph_sweep* sweep, int32_t low, int32_t high)
{
    const int32_t* restrict key = sweep->key;
    const uint32_t* restrict place = sweep->place;
    uint32_t* restrict listed = sweep->listed;
    const size_t end = (size_t)sweep->count;
    size_t count = 0;
    for (size_t i = 0; i < end; ++i) {
        listed[count] = place[i];
        count += (size_t)((key[i] > low) & (key[i] <= high));
    }
    return (int)count;
}

static ph_seen see_place(const ph_sweep* sweep, uint32_t place)
{
    const ph_cell_sorted* sorted = sweep->sorted;
    return (ph_seen){
        .distance2 = ph_distance2(sorted->x_mm[place], sorted->y_mm[place], sweep->eye->x_mm,
                                  sweep->eye->y_mm),
        .spawn_order = sorted->spawn_order[place],
        .entity = sorted->entity[place],
    };
}

int ph_sweep_list(const ph_sweep* sweep, const ph_reach* outside, const ph_reach* within,
                  ph_seen* restrict seen)
{
    const int listed_count = list_between(sweep, ph_key_surely_below((float)outside->distance2),
                                          ph_key_maybe_below((float)within->distance2));
    int count = 0;
    for (int i = 0; i < listed_count; ++i) {
        const ph_seen found = see_place(sweep, sweep->listed[i]);
        if (ph_reach_has(within, found.distance2, found.spawn_order) &&
            !ph_reach_has(outside, found.distance2, found.spawn_order)) {
            seen[count++] = found;
        }
    }
    return count;
}

// ---- how far the nearest reach

// Keys cannot tell what is beyond the radius by a hair, distances can. @return How many are within.
static int hide_beyond(ph_sweep* sweep)
{
    const uint64_t radius2 = (uint64_t)(sweep->radius_mm * sweep->radius_mm);
    const int32_t edge_limit = ph_key_maybe_below(square_of_radius(sweep->radius_mm));
    int within = 0;
    for (int i = 0; i < sweep->count; ++i) {
        const bool is_edge = sweep->key[i] > sweep->within_key && sweep->key[i] <= edge_limit;
        if (is_edge && see_place(sweep, sweep->place[i]).distance2 > radius2) {
            sweep->key[i] = PH_KEY_HIDDEN;
        }
        within += sweep->key[i] <= edge_limit;
    }
    return within;
}

static ph_reach reach_of_radius(int64_t radius_mm)
{
    return (ph_reach){.distance2 = (uint64_t)(radius_mm * radius_mm) + 1};
}

// Of the `wanted` nearest, where `within` are in the radius, all with a key up to `high`. expected2: about
// how far they reach, squared, or 0. Keys find the reach but for a narrow band, distances decide there.
static ph_reach find_reach(ph_sweep* sweep, int wanted, int32_t high, int within,
                           uint64_t expected2)
{
    if (within < wanted) {
        return reach_of_radius(sweep->radius_mm);
    }
    if (wanted == 0) {
        return (ph_reach){0};
    }
    // In a crowd of even density distance squared grows with the rank.
    const float drift = (float)DRIFT_COUNT / (float)(wanted + DRIFT_COUNT);
    const int32_t guesses[] = {ph_key_of((float)expected2 * (1.0f - drift)),
                               ph_key_of((float)expected2 * (1.0f + drift))};
    ph_cut cut = {.low = -1, .high = high, .high_count = within};
    for (int i = 0; i < 2; ++i) {
        if (expected2 > 0 && guesses[i] > cut.low && guesses[i] < cut.high) {
            const int count = ph_key_count(sweep->key, sweep->count, guesses[i]);
            narrow_cut(&cut, wanted, guesses[i], count);
        }
    }
    ph_cut_find(sweep->key, sweep->count, wanted, &cut);
    const int32_t in = cut.low > 0 ? ph_key_surely_below(ph_key_float(cut.low)) : -1;
    const int32_t edge = ph_key_maybe_below(ph_key_float(cut.high));
    const int count = list_between(sweep, in, edge);
    for (int i = 0; i < count; ++i) {
        sweep->edge[i] = see_place(sweep, sweep->listed[i]);
    }
    const int taken = wanted - ph_key_count(sweep->key, sweep->count, in);
    ph_select_nearest(sweep->edge, count, taken);
    const ph_seen last = sweep->edge[0];
    bool is_tie = false;
    for (int i = taken; i < count; ++i) {
        is_tie |= sweep->edge[i].distance2 == last.distance2;
    }
    return is_tie ? (ph_reach){last.distance2, last.spawn_order + 1}
                  : (ph_reach){last.distance2 + 1, 0};
}

// Both reaches, and how many are within the near one.
static int find_reaches(ph_sweep* sweep, int wanted, int first, ph_view* view)
{
    PH_ASSERT(0 <= first && first <= wanted);

    int within = sweep->within_count;
    int32_t high = sweep->within_key;
    if (within < wanted) {
        within = hide_beyond(sweep);
        high = ph_key_maybe_below(square_of_radius(sweep->radius_mm));
    }
    view->near = find_reach(sweep, first, high, within, view->near.distance2);
    view->wide = first == wanted ? view->near
                                 : find_reach(sweep, wanted, high, within, view->wide.distance2);
    return ph_least(within, first);
}

static int count_in_reach(ph_sweep* sweep, const ph_reach* reach)
{
    const int32_t in = ph_key_surely_below((float)reach->distance2);
    const int edge_count = list_between(sweep, in, ph_key_maybe_below((float)reach->distance2));
    int count = ph_key_count(sweep->key, sweep->count, in);
    for (int i = 0; i < edge_count; ++i) {
        const ph_seen seen = see_place(sweep, sweep->listed[i]);
        count += ph_reach_has(reach, seen.distance2, seen.spawn_order);
    }
    return count;
}

void ph_sweep_view(ph_sweep* sweep, int wanted, int first, ph_view* view)
{
    PH_ASSERT(0 <= sweep->eye->enter_mm && sweep->eye->enter_mm <= sweep->eye->radius_mm);

    const int near_count = find_reaches(sweep, wanted, first, view);
    view->enter = reach_of_radius(sweep->eye->enter_mm);
    if (!ph_reach_is_further(&view->near, &view->enter)) {
        view->enter = view->near;
        view->enter_count = near_count;
    } else {
        view->enter_count = count_in_reach(sweep, &view->enter);
    }
}

int ph_sweep_take(ph_sweep* sweep, int wanted, int first, ph_seen* seen)
{
    ph_view view = {0};
    find_reaches(sweep, wanted, first, &view);
    const int count = ph_sweep_list(sweep, &(ph_reach){0}, &view.near, seen);
    return first == wanted ? count
                           : count + ph_sweep_list(sweep, &view.near, &view.wide, seen + count);
}
