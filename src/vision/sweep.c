// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The loops over keys. No integer division, no gather, no branch inside: gcc 12 at -O3 and clang
// make vectors of four from them with SSE2 alone.

#include "vision/sweep.h"

#include "base/bitset.h"
#include "base/wide.h"
#include "vision/cut.h"
#include "vision/select.h"

#include <string.h>

// By so many ranks the reach of the last view may be wrong.
enum { DRIFT_COUNT = 3 };

// Runs, none of them empty, and four arrays of four bytes with their overhang, then the band: in the worst
// case everybody.
static size_t padded_count(int capacity)
{
    return (size_t)capacity + 2 * PH_SWEEP_STEP;
}

int ph_sweep_scratch_count(int capacity)
{
    PH_ASSERT(capacity >= 0);

    const size_t bytes = padded_count(capacity) * (4 * sizeof(uint32_t) + sizeof(ph_sweep_run));
    return (int)((bytes + sizeof(ph_seen) - 1) / sizeof(ph_seen)) + capacity;
}

ph_sweep ph_sweep_make(const ph_lineup* lineup, const ph_eye* eye, ph_seen* scratch, int capacity)
{
    const size_t padded = padded_count(capacity);
    ph_sweep_run* runs = (ph_sweep_run*)(void*)scratch;
    uint32_t* words = (uint32_t*)(void*)(runs + padded);
    return (ph_sweep){
        .lineup = lineup,
        .eye = eye,
        .runs = runs,
        .key = (int32_t*)(void*)words,
        .place = words + padded,
        .near = {.in = -1, .edge = -1},
        .wide = {.in = -1, .edge = -1},
        .mark = words + 2 * padded,
        .marked = words + 3 * padded,
        .edge = scratch + (ph_sweep_scratch_count(capacity) - capacity),
    };
}

// In a crowd of even density distance squared grows with the rank.
static ph_sweep_band expect_rank(uint64_t distance2, int rank)
{
    const float drift = (float)DRIFT_COUNT / (float)(rank + DRIFT_COUNT);
    return (ph_sweep_band){
        .in = ph_key_of((float)distance2 * (1.0f - drift)),
        .edge = ph_key_of((float)distance2 * (1.0f + drift)),
    };
}

void ph_sweep_expect(ph_sweep* sweep, const ph_view* last, int wanted, int first)
{
    sweep->near = expect_rank(last->near.distance2, first);
    sweep->wide = expect_rank(last->wide.distance2, wanted);
    sweep->expected_count = wanted;
}

static float square(int64_t radius_mm)
{
    return (float)((double)radius_mm * (double)radius_mm);
}

// ---- gathering

// Whole steps: what is too much is overwritten by the next run, or never looked at.
PH_WIDE static void make_keys(const int32_t* restrict x_mm, const int32_t* restrict y_mm,
                              const ph_eye* eye, uint32_t count, int32_t* restrict key)
{
    const uint32_t eye_x = (uint32_t)eye->x_mm;
    const uint32_t eye_y = (uint32_t)eye->y_mm;
    const uint32_t padded = (count + PH_SWEEP_STEP - 1) / PH_SWEEP_STEP * PH_SWEEP_STEP;
    for (uint32_t i = 0; i < padded; ++i) {
        const float dx = (float)(int32_t)((uint32_t)x_mm[i] - eye_x);
        const float dy = (float)(int32_t)((uint32_t)y_mm[i] - eye_y);
        key[i] = ph_key_of(dx * dx + dy * dy);
    }
}

static void hide_masked(const ph_sweep* sweep, uint32_t begin, uint32_t count)
{
    const uint32_t* seen_by = sweep->lineup->seen_by + begin;
    int32_t* restrict key = sweep->key + sweep->count;
    const uint32_t sees = sweep->eye->sees;
    for (uint32_t i = 0; i < count; ++i) {
        // Bits instead of a condition, which would become a branch.
        key[i] |= (int32_t)(ph_bits_if((seen_by[i] & sees) == 0) & (uint32_t)PH_KEY_HIDDEN);
    }
}

static void hide_own(const ph_sweep* sweep, uint32_t begin, uint32_t count)
{
    const ph_lineup* lineup = sweep->lineup;
    const ph_entity_index own = sweep->eye->own;
    if (own == PH_ENTITY_NONE) {
        return;
    }
    // Where it would be, if it has a place: else this is where another one is, or nobody.
    uint32_t at = lineup->place_of != NULL ? lineup->place_of[own] - begin : 0;
    while (lineup->place_of == NULL && at < count && lineup->entity[begin + at] != own) {
        ++at;
    }
    if (at < count && lineup->entity[begin + at] == own) {
        sweep->key[sweep->count + (int)at] = PH_KEY_HIDDEN;
    }
}

// The callback is asked before anything is counted.
static void ask_callback(const ph_sweep* sweep, uint32_t begin, uint32_t count)
{
    const ph_entity_index* entity = sweep->lineup->entity + begin;
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
    const ph_lineup* lineup = sweep->lineup;
    if (count == 0) {
        return;
    }
    make_keys(lineup->x_mm + begin, lineup->y_mm + begin, sweep->eye, count,
              sweep->key + sweep->count);
    if ((lineup->seen_by_every & sweep->eye->sees) == 0) {
        hide_masked(sweep, begin, count);
    }
    hide_own(sweep, begin, count);
    if (sweep->eye->callback != NULL) {
        ask_callback(sweep, begin, count);
    }
    sweep->runs[sweep->run_count++] = (ph_sweep_run){(uint32_t)sweep->count, begin};
    sweep->count += (int)count;
}

// ---- places

// Where the candidates of a run end.
static uint32_t end_of_run(const ph_sweep* sweep, int run)
{
    return run + 1 < sweep->run_count ? sweep->runs[run + 1].from : (uint32_t)sweep->count;
}

// For those who look at candidates anywhere.
static void spell_places(ph_sweep* sweep)
{
    if (sweep->placed_count == sweep->count) {
        return;
    }
    uint32_t* restrict place = sweep->place;
    for (int run = 0; run < sweep->run_count; ++run) {
        const uint32_t from = sweep->runs[run].from;
        const uint32_t end = end_of_run(sweep, run);
        const uint32_t offset = sweep->runs[run].begin - from;
        for (uint32_t i = from; i < end; ++i) {
            place[i] = offset + i;
        }
    }
    sweep->placed_count = sweep->count;
}

// Marked ones are few, and in order.
static void place_marked(ph_sweep* sweep)
{
    int run = -1;
    uint32_t end = 0;
    uint32_t offset = 0;
    for (int i = 0; i < sweep->marked_count; ++i) {
        const uint32_t k = sweep->marked[i];
        while (k >= end) {
            end = end_of_run(sweep, ++run);
            offset = sweep->runs[run].begin - sweep->runs[run].from;
        }
        sweep->mark[i] = offset + k;
    }
}

// ---- counting

// Counts and marks those in the expected bands, in one pass.
PH_WIDE static void count_bands(ph_sweep* sweep)
{
    const int32_t* restrict key = sweep->key;
    uint32_t* restrict mark = sweep->mark;
    const int count = sweep->count;
    const ph_sweep_band near = sweep->near;
    const ph_sweep_band wide = sweep->wide;
    uint32_t above[4] = {0};
    for (int i = 0; i < count; ++i) {
        const uint32_t is_above_near = ph_bits_if(key[i] > near.in);
        const uint32_t is_out_of_near = ph_bits_if(key[i] > near.edge);
        const uint32_t is_above_wide = ph_bits_if(key[i] > wide.in);
        const uint32_t is_out_of_wide = ph_bits_if(key[i] > wide.edge);
        above[0] -= is_above_near;
        above[1] -= is_out_of_near;
        above[2] -= is_above_wide;
        above[3] -= is_out_of_wide;
        mark[i] = (is_above_near & ~is_out_of_near) | (is_above_wide & ~is_out_of_wide);
    }
    sweep->marked_count = ph_marks_list(mark, count, sweep->marked);
    place_marked(sweep);
    sweep->near.in_count = count - (int)above[0];
    sweep->near.edge_count = count - (int)above[1];
    sweep->wide.in_count = count - (int)above[2];
    sweep->wide.edge_count = count - (int)above[3];
}

int ph_sweep_count_within(ph_sweep* sweep, int64_t radius_mm)
{
    PH_ASSERT(0 <= radius_mm && radius_mm <= INT64_C(1) << 31);

    const bool is_expected = sweep->wide.edge >= 0;
    sweep->radius_mm = radius_mm;
    sweep->within_key = ph_key_surely_below(square(radius_mm));
    if (is_expected) {
        count_bands(sweep);
        if (sweep->wide.edge <= sweep->within_key &&
            sweep->wide.edge_count >= sweep->expected_count) {
            sweep->within_key = sweep->wide.edge;
            sweep->within_count = sweep->wide.edge_count;
            return sweep->within_count;
        }
    }
    sweep->within_count = ph_key_count(sweep->key, sweep->count, sweep->within_key);
    return sweep->within_count;
}

// ---- choosing

static ph_seen answer(const ph_sweep* sweep, uint32_t place)
{
    const ph_lineup* lineup = sweep->lineup;
    return (ph_seen){
        .distance2 = ph_distance2(lineup->x_mm[place], lineup->y_mm[place], sweep->eye->x_mm,
                                  sweep->eye->y_mm),
        .spawn_order = lineup->spawn_order[place],
        .entity = lineup->entity[place],
    };
}

// Keys cannot tell who is beyond the radius by a hair, distances can. @return How many are within.
static int hide_beyond(ph_sweep* sweep)
{
    spell_places(sweep);
    const uint64_t radius2 = (uint64_t)(sweep->radius_mm * sweep->radius_mm);
    const int32_t in_limit = ph_key_surely_below(square(sweep->radius_mm));
    const int32_t edge_limit = ph_key_maybe_below(square(sweep->radius_mm));
    int within = 0;
    for (int i = 0; i < sweep->count; ++i) {
        const bool is_edge = sweep->key[i] > in_limit && sweep->key[i] <= edge_limit;
        if (is_edge && answer(sweep, sweep->place[i]).distance2 > radius2) {
            sweep->key[i] = PH_KEY_HIDDEN;
        }
        within += sweep->key[i] <= edge_limit;
    }
    return within;
}

// Moves those in an expected band to the edge. @return How many, or 0 when this is not where the answer
// of `wanted` ends: when too few or too many are at or below `in`, or may be by what keys can tell.
static int collect_expected(const ph_sweep* sweep, const ph_sweep_band* band, int wanted)
{
    const int32_t maybe_in = ph_key_maybe_below(ph_key_float(band->in));
    const int32_t surely_out = ph_key_surely_below(ph_key_float(band->edge));
    if (band->in_count >= wanted || band->edge_count < wanted) {
        return 0;
    }
    int collected = 0;
    int maybe_in_count = 0;
    int maybe_out_count = 0;
    for (int i = 0; i < sweep->marked_count; ++i) {
        const uint32_t k = sweep->marked[i];
        const int32_t key = sweep->key[k];
        if (key > band->in && key <= band->edge) {
            maybe_in_count += key <= maybe_in;
            maybe_out_count += key > surely_out;
            sweep->edge[collected++] = answer(sweep, sweep->mark[i]);
        }
    }
    const bool is_sound =
        band->in_count + maybe_in_count < wanted && band->edge_count - maybe_out_count >= wanted;
    return is_sound ? collected : 0;
}

// Moves those in the band to the edge. @return How many.
static int collect(const ph_sweep* sweep, const ph_sweep_band* band)
{
    int collected = 0;
    for (int i = 0; i < sweep->count; ++i) {
        if (sweep->key[i] > band->in && sweep->key[i] <= band->edge) {
            sweep->edge[collected++] = answer(sweep, sweep->place[i]);
        }
    }
    return collected;
}

// The band where the answer of `wanted` ends; `within` are in the radius, whose key is `high` at most.
static ph_sweep_band find_band(const ph_sweep* sweep, int wanted, int32_t high, int within)
{
    ph_cut cut = {.low = -1, .high = high, .high_count = within};
    ph_cut_find(sweep->key, sweep->count, wanted, &cut);
    const int32_t in = cut.low > 0 ? ph_key_surely_below(ph_key_float(cut.low)) : -1;
    return (ph_sweep_band){
        .in = in,
        .edge = ph_key_maybe_below(ph_key_float(cut.high)),
    };
}

// Up to the one that comes `taken`th of these, which are in no particular order.
static ph_reach reach_of(ph_seen* edge, int count, int taken)
{
    ph_select_nearest(edge, count, taken);
    ph_seen last = edge[0];
    for (int i = 1; i < taken; ++i) {
        last = ph_seen_is_nearer(&last, &edge[i]) ? edge[i] : last;
    }
    bool is_tie = false;
    for (int i = taken; i < count; ++i) {
        is_tie |= edge[i].distance2 == last.distance2;
    }
    return is_tie ? (ph_reach){last.distance2, last.spawn_order + 1}
                  : (ph_reach){last.distance2 + 1, 0};
}

static ph_reach reach_of_radius(int64_t radius_mm)
{
    return (ph_reach){.distance2 = (uint64_t)(radius_mm * radius_mm) + 1};
}

// Of the `wanted` nearest, where `within` are in the radius, all with a key up to `high`.
static ph_reach find_reach(ph_sweep* sweep, int wanted, int32_t high, int within)
{
    if (within < wanted) {
        return reach_of_radius(sweep->radius_mm);
    }
    if (wanted == 0) {
        return (ph_reach){0};
    }
    const ph_sweep_band band = find_band(sweep, wanted, high, within);
    spell_places(sweep);
    const int count = collect(sweep, &band);
    const int in_count = ph_key_count(sweep->key, sweep->count, band.in);
    return reach_of(sweep->edge, count, wanted - in_count);
}

// The same, when enough are surely within the radius.
static ph_reach expect_reach(ph_sweep* sweep, const ph_sweep_band* band, int wanted)
{
    const int count = collect_expected(sweep, band, wanted);
    if (count > 0) {
        return reach_of(sweep->edge, count, wanted - band->in_count);
    }
    return find_reach(sweep, wanted, sweep->within_key, sweep->within_count);
}

// Both reaches, and how many are within the near one.
static int find_reaches(ph_sweep* sweep, int wanted, int first, ph_view* view)
{
    PH_ASSERT(0 <= first && first <= wanted);

    if (sweep->within_count >= wanted) {
        view->near = expect_reach(sweep, &sweep->near, first);
        view->wide = expect_reach(sweep, &sweep->wide, wanted);
        return first;
    }
    const int within = hide_beyond(sweep);
    const int32_t high = ph_key_maybe_below(square(sweep->radius_mm));
    view->near = find_reach(sweep, first, high, within);
    view->wide = find_reach(sweep, wanted, high, within);
    return within < first ? within : first;
}

static int count_in(ph_sweep* sweep, const ph_reach* reach)
{
    const int32_t in_limit = ph_key_surely_below((float)reach->distance2);
    const int32_t edge_limit = ph_key_maybe_below((float)reach->distance2);
    int count = ph_key_count(sweep->key, sweep->count, in_limit);
    if (ph_key_count(sweep->key, sweep->count, edge_limit) == count) {
        return count;
    }
    spell_places(sweep);
    for (int i = 0; i < sweep->count; ++i) {
        if (sweep->key[i] > in_limit && sweep->key[i] <= edge_limit) {
            const ph_seen seen = answer(sweep, sweep->place[i]);
            count += ph_reach_has(reach, seen.distance2, seen.spawn_order);
        }
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
        view->enter_count = count_in(sweep, &view->enter);
    }
}

int ph_sweep_list_edge(const ph_sweep* sweep, const ph_reach* within, ph_seen* seen)
{
    int count = 0;
    for (int i = 0; i < sweep->marked_count; ++i) {
        const ph_seen found = answer(sweep, sweep->mark[i]);
        if (ph_reach_has(within, found.distance2, found.spawn_order)) {
            seen[count++] = found;
        }
    }
    return count;
}

int ph_sweep_list(ph_sweep* sweep, const ph_reach* beyond, const ph_reach* within, ph_seen* seen)
{
    spell_places(sweep);
    const int32_t low = ph_key_surely_below((float)beyond->distance2);
    const int32_t high = ph_key_maybe_below((float)within->distance2);
    int count = 0;
    for (int i = 0; i < sweep->count; ++i) {
        if (sweep->key[i] <= low || sweep->key[i] > high) {
            continue;
        }
        const ph_seen found = answer(sweep, sweep->place[i]);
        if (ph_reach_has(within, found.distance2, found.spawn_order) &&
            !ph_reach_has(beyond, found.distance2, found.spawn_order)) {
            seen[count++] = found;
        }
    }
    return count;
}

// ---- naming everybody

static ph_sweep_band band_of_taken(ph_sweep* sweep, int wanted)
{
    if (sweep->within_count >= wanted) {
        return find_band(sweep, wanted, sweep->within_key, sweep->within_count);
    }
    const int within = hide_beyond(sweep);
    const int32_t high = ph_key_maybe_below(square(sweep->radius_mm));
    return within <= wanted ? (ph_sweep_band){.in = high, .edge = high}
                            : find_band(sweep, wanted, high, within);
}

// Moves those up to the limit to the front; the others are gone.
static void keep_up_to(ph_sweep* sweep, int32_t limit)
{
    int32_t* key = sweep->key;
    uint32_t* place = sweep->place;
    const size_t count = (size_t)sweep->count;
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
        const int32_t this_key = key[i];
        const uint32_t this_place = place[i];
        key[kept] = this_key;
        place[kept] = this_place;
        kept += this_key <= limit;
    }
    sweep->count = (int)kept;
}

// Narrows to the answers, and the band to those among which the nearest `first` are not yet known.
static ph_sweep_band band_of_first(ph_sweep* sweep, int first, ph_sweep_band band)
{
    keep_up_to(sweep, band.edge);
    if (first < sweep->count) {
        const int32_t in = find_band(sweep, first, band.edge, sweep->count).in;
        band.in = in < band.in ? in : band.in;
    }
    return band;
}

// Moves the places of those surely in to the front and those of the band to edge_place; the others
// are gone. @return How many are in the band.
static int split(ph_sweep* sweep, ph_sweep_band band, uint32_t* restrict edge_place)
{
    const int32_t* restrict key = sweep->key;
    uint32_t* place = sweep->place;
    const size_t count = (size_t)sweep->count;
    size_t in_count = 0;
    size_t edge_count = 0;
    for (size_t i = 0; i < count; ++i) {
        const uint32_t this_place = place[i];
        const size_t is_in = key[i] <= band.in;
        const size_t is_near = key[i] <= band.edge;
        place[in_count] = this_place;
        edge_place[edge_count] = this_place;
        in_count += is_in;
        edge_count += is_near - is_in;
    }
    sweep->count = (int)in_count;
    return (int)edge_count;
}

static void answer_all(const ph_sweep* sweep, const uint32_t* places, int count,
                       ph_seen* restrict seen)
{
    // Copies: so that the compiler knows that no answer changes them.
    const ph_lineup lineup = *sweep->lineup;
    const int32_t eye_x = sweep->eye->x_mm;
    const int32_t eye_y = sweep->eye->y_mm;
    for (int i = 0; i < count; ++i) {
        const uint32_t place = places[i];
        seen[i].distance2 = ph_distance2(lineup.x_mm[place], lineup.y_mm[place], eye_x, eye_y);
        seen[i].spawn_order = lineup.spawn_order[place];
        seen[i].entity = lineup.entity[place];
    }
}

// Without a branch for each, where a view would be found first and then everybody in it.
int ph_sweep_take(ph_sweep* sweep, int wanted, int first, ph_seen* seen)
{
    PH_ASSERT(0 <= first && first <= wanted);

    if (wanted == 0) {
        return 0;
    }
    spell_places(sweep);
    ph_sweep_band band = band_of_taken(sweep, wanted);
    if (0 < first && first < wanted) {
        band = band_of_first(sweep, first, band);
    }
    uint32_t* edge_place = sweep->marked;
    const int edge_count = split(sweep, band, edge_place);
    const int in_count = sweep->count;
    answer_all(sweep, sweep->place, in_count, seen);
    answer_all(sweep, edge_place, edge_count, sweep->edge);
    const int edge_kept = ph_select_nearest(sweep->edge, edge_count, wanted - in_count);
    if (first > in_count) {
        ph_select_nearest(sweep->edge, edge_kept, first - in_count);
    }
    memcpy(seen + in_count, sweep->edge, (size_t)edge_kept * sizeof *seen);
    return in_count + edge_kept;
}
