// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The loops over keys. No integer division, no gather, no branch inside: gcc 12 at -O3 and clang
// make vectors of four from them with SSE2 alone.

#include "vision/sweep.h"

#include "vision/select.h"

#include <math.h>
#include <string.h>

// A float that keys are made from differs from the true distance squared by less than 5 * 2^-24 of
// it: two conversions, two products and a sum, each rounded once. Whatever is further apart than
// this is surely so.
#define MARGIN 0x1p-20f

// Above every distance.
#define KEY_HIDDEN INT32_MAX

enum {
    BAND_COUNT = 16, // few enough to compare one by one
    MISSES_MAX = 3,  // guesses in proportion that may fail to halve the bracket in a row
};

int ph_sweep_scratch_count(int capacity)
{
    PH_ASSERT(capacity >= 0);

    // Three arrays of four bytes with their overhang, then the band: in the worst case everybody.
    const size_t padded = (size_t)capacity + 2 * PH_SWEEP_STEP;
    const size_t arrays = (3 * padded * sizeof(uint32_t) + sizeof(ph_seen) - 1) / sizeof(ph_seen);
    return (int)arrays + capacity;
}

ph_sweep ph_sweep_make(const ph_lineup* lineup, const ph_eye* eye, ph_seen* scratch, int capacity)
{
    const size_t padded = (size_t)capacity + 2 * PH_SWEEP_STEP;
    uint32_t* words = (uint32_t*)(void*)scratch;
    return (ph_sweep){
        .lineup = lineup,
        .eye = eye,
        .key = (int32_t*)(void*)words,
        .place = words + padded,
        .edge_place = words + 2 * padded,
        .edge = scratch + (ph_sweep_scratch_count(capacity) - capacity),
    };
}

// ---- keys: the bits of a float that is not negative, which as integers have the same order

static int32_t key_of(float value)
{
    int32_t key;
    memcpy(&key, &value, sizeof key);
    return key;
}

static float float_of(int32_t key)
{
    float value;
    memcpy(&value, &key, sizeof value);
    return value;
}

// The greatest key that is surely below, and the one below which all that may be below are.
static int32_t key_surely_below(float distance2)
{
    return key_of(distance2 * (1.0f - MARGIN));
}

static int32_t key_maybe_below(float distance2)
{
    return key_of(distance2 * (1.0f + MARGIN));
}

static float square(int64_t radius_mm)
{
    return (float)((double)radius_mm * (double)radius_mm);
}

// ---- gathering

static void make_keys(const ph_sweep* sweep, uint32_t begin, uint32_t count)
{
    const int32_t* x_mm = sweep->lineup->x_mm + begin;
    const int32_t* y_mm = sweep->lineup->y_mm + begin;
    const uint32_t* seen_by = sweep->lineup->seen_by + begin;
    const ph_entity_index* entity = sweep->lineup->entity + begin;
    int32_t* restrict key = sweep->key + sweep->count;
    uint32_t* restrict place = sweep->place + sweep->count;
    const uint32_t eye_x = (uint32_t)sweep->eye->x_mm;
    const uint32_t eye_y = (uint32_t)sweep->eye->y_mm;
    const uint32_t sees = sweep->eye->sees;
    const ph_entity_index own = sweep->eye->own;
    // Whole steps: what is too much is overwritten by the next run, or never looked at.
    const uint32_t padded = (count + PH_SWEEP_STEP - 1) & ~(uint32_t)(PH_SWEEP_STEP - 1);
    for (uint32_t i = 0; i < padded; ++i) {
        const float dx = (float)(int32_t)((uint32_t)x_mm[i] - eye_x);
        const float dy = (float)(int32_t)((uint32_t)y_mm[i] - eye_y);
        // Bits instead of a condition, which would become a branch.
        const int32_t is_masked = -(int32_t)((seen_by[i] & sees) == 0);
        const int32_t is_own = -(int32_t)(entity[i] == own);
        key[i] = key_of(dx * dx + dy * dy) | ((is_masked | is_own) & KEY_HIDDEN);
        place[i] = begin + i;
    }
}

// The callback is asked before anything is counted.
static void ask_callback(ph_sweep* sweep, int from)
{
    const ph_eye* eye = sweep->eye;
    for (int i = from; i < sweep->count; ++i) {
        if (sweep->key[i] != KEY_HIDDEN &&
            !eye->callback(eye->context, eye->viewer, sweep->lineup->entity[sweep->place[i]])) {
            sweep->key[i] = KEY_HIDDEN;
        }
    }
}

void ph_sweep_gather(ph_sweep* sweep, uint32_t begin, uint32_t end)
{
    PH_ASSERT(begin <= end);

    const int from = sweep->count;
    make_keys(sweep, begin, end - begin);
    sweep->count += (int)(end - begin);
    if (sweep->eye->callback != NULL) {
        ask_callback(sweep, from);
    }
}

// ---- counting

static int count_up_to(const int32_t* key, int count, int32_t limit)
{
    int within = 0;
    for (int i = 0; i < count; ++i) {
        within += key[i] <= limit;
    }
    return within;
}

int ph_sweep_count_within(ph_sweep* sweep, int64_t radius_mm)
{
    PH_ASSERT(0 <= radius_mm && radius_mm <= INT64_C(1) << 31);

    sweep->radius_mm = radius_mm;
    sweep->within_count =
        count_up_to(sweep->key, sweep->count, key_surely_below(square(radius_mm)));
    return sweep->within_count;
}

// ---- finding the cut

// The key of the wanted rank is above `low` and not above `high`.
typedef struct bracket {
    int32_t low; // -1 at first
    int32_t high;
    int low_count; // keys up to low: fewer than wanted
    int high_count;
} bracket;

// Moves both ends to keys that are there. Ends the search in one step when all stand on one point.
static void tighten(const int32_t* key, int count, bracket* cut)
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

static void narrow(const int32_t* key, int count, int wanted, int32_t guess, bracket* cut)
{
    const int within = count_up_to(key, count, guess);
    if (within < wanted) {
        cut->low = guess;
        cut->low_count = within;
    } else {
        cut->high = guess;
        cut->high_count = within;
    }
}

// In a crowd of even density distance squared is evenly spread, so a guess in proportion is nearly
// right. It aims a little beside the rank, towards the wider side, to cut that off.
static int32_t guess_by_proportion(const bracket* cut, int wanted)
{
    const int below = wanted - cut->low_count;
    const int above = cut->high_count - wanted;
    const float aim = (float)below + (below > above ? -0.25f : 0.25f) * (float)BAND_COUNT;
    const float share = aim / (float)(cut->high_count - cut->low_count);
    const float low = cut->low > 0 ? float_of(cut->low) : 0.0f;
    return key_of(low + (float_of(cut->high) - low) * share);
}

static int32_t guess_by_bisection(const bracket* cut)
{
    return cut->low + (cut->high - cut->low) / 2;
}

// Narrows until few are inside, or all inside have the same key. Where guesses in proportion are no
// good, the keys are halved every few steps: 31 times leaves nothing in any crowd.
static void find_cut(const int32_t* key, int count, int wanted, bracket* cut)
{
    int misses = 0;
    while (cut->high_count - cut->low_count > BAND_COUNT) {
        const int inside = cut->high_count - cut->low_count;
        int32_t guess = guess_by_proportion(cut, wanted);
        if (misses > MISSES_MAX) {
            misses = 0;
            tighten(key, count, cut);
            if (cut->high - cut->low <= 1) {
                return;
            }
            guess = guess_by_bisection(cut);
        }
        if (guess > cut->low && guess < cut->high) {
            narrow(key, count, wanted, guess, cut);
        }
        misses += cut->high_count - cut->low_count > inside / 2;
    }
}

// ---- choosing

// What is at or below `in` is surely in, what is above `edge` surely out.
typedef struct limits {
    int32_t in;
    int32_t edge;
} limits;

static limits limits_of(const bracket* cut)
{
    return (limits){
        .in = cut->low > 0 ? key_surely_below(float_of(cut->low)) : -1,
        .edge = key_maybe_below(float_of(cut->high)),
    };
}

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

// Among those within the radius, who is taken. Keys cannot tell who is beyond the radius by a hair,
// distances can.
static limits limits_at_radius(ph_sweep* sweep, int wanted)
{
    const uint64_t radius2 = (uint64_t)(sweep->radius_mm * sweep->radius_mm);
    const int32_t in_limit = key_surely_below(square(sweep->radius_mm));
    const int32_t edge_limit = key_maybe_below(square(sweep->radius_mm));
    int within = 0;
    for (int i = 0; i < sweep->count; ++i) {
        const bool is_edge = sweep->key[i] > in_limit && sweep->key[i] <= edge_limit;
        if (is_edge && answer(sweep, sweep->place[i]).distance2 > radius2) {
            sweep->key[i] = KEY_HIDDEN;
        }
        within += sweep->key[i] <= edge_limit;
    }
    if (within <= wanted) {
        return (limits){.in = edge_limit, .edge = edge_limit};
    }
    bracket cut = {.low = -1, .high = edge_limit, .high_count = within};
    find_cut(sweep->key, sweep->count, wanted, &cut);
    // Some of the band may be beyond the radius; then enough others are nearer.
    return limits_of(&cut);
}

static limits limits_of_taken(ph_sweep* sweep, int wanted)
{
    if (sweep->within_count < wanted) {
        return limits_at_radius(sweep, wanted);
    }
    bracket cut = {
        .low = -1,
        .high = key_surely_below(square(sweep->radius_mm)),
        .high_count = sweep->within_count,
    };
    find_cut(sweep->key, sweep->count, wanted, &cut);
    return limits_of(&cut);
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

// Moves the places of those surely in to the front and notes who is in the band; the others are
// gone. Returns how many are in the band.
static int split(ph_sweep* sweep, limits limit)
{
    const int32_t* restrict key = sweep->key;
    uint32_t* place = sweep->place;
    uint32_t* restrict edge_place = sweep->edge_place;
    const size_t count = (size_t)sweep->count;
    size_t in_count = 0;
    size_t edge_count = 0;
    for (size_t i = 0; i < count; ++i) {
        const uint32_t this_place = place[i];
        const size_t is_in = key[i] <= limit.in;
        const size_t is_near = key[i] <= limit.edge;
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

// Narrows to the answers, and the limits to those among which the nearest `first` are not yet
// known.
static limits limits_of_first(ph_sweep* sweep, int first, limits limit)
{
    keep_up_to(sweep, limit.edge);
    if (first >= sweep->count) {
        return limit;
    }
    bracket cut = {.low = -1, .high = limit.edge, .high_count = sweep->count};
    find_cut(sweep->key, sweep->count, first, &cut);
    const int32_t in_limit = limits_of(&cut).in;
    return (limits){.in = in_limit < limit.in ? in_limit : limit.in, .edge = limit.edge};
}

int ph_sweep_take(ph_sweep* sweep, int wanted, int first, ph_seen* seen)
{
    PH_ASSERT(0 <= first && first <= wanted);

    if (wanted == 0) {
        return 0;
    }
    limits limit = limits_of_taken(sweep, wanted);
    if (0 < first && first < wanted) {
        limit = limits_of_first(sweep, first, limit);
    }
    const int edge_count = split(sweep, limit);
    const int in_count = sweep->count;
    answer_all(sweep, sweep->place, in_count, seen);
    answer_all(sweep, sweep->edge_place, edge_count, sweep->edge);
    const int edge_kept = ph_select_nearest(sweep->edge, edge_count, wanted - in_count);
    if (first > in_count) {
        ph_select_nearest(sweep->edge, edge_kept, first - in_count);
    }
    memcpy(seen + in_count, sweep->edge, (size_t)edge_kept * sizeof *seen);
    return in_count + edge_kept;
}
