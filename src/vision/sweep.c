// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The loops over keys. No integer division, no gather, no branch inside: gcc 12 at -O3 and clang
// make vectors of four from them with SSE2 alone.

#include "vision/sweep.h"

#include "vision/select.h"

#include <math.h>
#include <string.h>

// A key differs from the true distance squared by less than 5 * 2^-24 of it: two conversions, two
// products and a sum, each rounded once. Whatever is further apart than this is surely so.
#define MARGIN 0x1p-20f

// Few enough to compare one by one.
enum { BAND_COUNT = 16 };
// Guesses in proportion that may fail to halve the bracket before the floats are halved.
enum { MISSES_MAX = 3 };

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
    _Static_assert(sizeof(float) == sizeof(uint32_t), "both arrays have the same size");

    const size_t padded = (size_t)capacity + 2 * PH_SWEEP_STEP;
    uint32_t* words = (uint32_t*)(void*)scratch;
    return (ph_sweep){
        .lineup = lineup,
        .eye = eye,
        .key = (float*)(void*)words,
        .place = words + padded,
        .edge_place = words + 2 * padded,
        .edge = scratch + (ph_sweep_scratch_count(capacity) - capacity),
    };
}

// ---- gathering

static void make_keys(const ph_sweep* sweep, uint32_t begin, uint32_t count)
{
    const int32_t* x_mm = sweep->lineup->x_mm + begin;
    const int32_t* y_mm = sweep->lineup->y_mm + begin;
    const uint32_t* seen_by = sweep->lineup->seen_by + begin;
    const ph_entity_index* entity = sweep->lineup->entity + begin;
    float* restrict key = sweep->key + sweep->count;
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
        const float distance2 = dx * dx + dy * dy;
        const bool is_hidden = ((seen_by[i] & sees) == 0) | (entity[i] == own);
        key[i] = is_hidden ? INFINITY : distance2;
        place[i] = begin + i;
    }
}

// The callback is asked before anything is counted.
static void ask_callback(ph_sweep* sweep, int from)
{
    const ph_eye* eye = sweep->eye;
    for (int i = from; i < sweep->count; ++i) {
        if (sweep->key[i] < INFINITY &&
            !eye->callback(eye->context, eye->viewer, sweep->lineup->entity[sweep->place[i]])) {
            sweep->key[i] = INFINITY;
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

static int count_up_to(const float* key, int count, float limit)
{
    int within = 0;
    for (int i = 0; i < count; ++i) {
        within += key[i] <= limit;
    }
    return within;
}

static float square(int64_t radius_mm)
{
    return (float)((double)radius_mm * (double)radius_mm);
}

int ph_sweep_count_within(ph_sweep* sweep, int64_t radius_mm)
{
    PH_ASSERT(0 <= radius_mm && radius_mm <= INT64_C(1) << 31);

    sweep->radius_mm = radius_mm;
    sweep->within_count =
        count_up_to(sweep->key, sweep->count, square(radius_mm) * (1.0f - MARGIN));
    return sweep->within_count;
}

// ---- finding the cut

// The key of the wanted rank is above `low` and not above `high`.
typedef struct bracket {
    float low;
    float high;
    int low_count; // keys up to low: fewer than wanted
    int high_count;
} bracket;

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Moves both ends to keys that are there. Ends the search in one step when all stand on one point.
static void tighten(const float* key, int count, bracket* cut)
{
    float least = cut->high;
    float most = 0.0f;
    for (int i = 0; i < count; ++i) {
        const float inside = key[i] > cut->low && key[i] <= cut->high ? key[i] : cut->high;
        least = inside < least ? inside : least;
    }
    for (int i = 0; i < count; ++i) {
        const float inside = key[i] <= cut->high ? key[i] : 0.0f;
        most = inside > most ? inside : most;
    }
    cut->high = most;
    // The float below it, so that `least` itself is inside.
    cut->low = least > 0.0f ? float_of(bits_of(least) - 1) : -1.0f;
}

static void narrow(const float* key, int count, int wanted, float guess, bracket* cut)
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
// right. It aims a little beside the rank, on the side where the bracket is wider.
static float guess_by_proportion(const bracket* cut, int wanted)
{
    const int below = wanted - cut->low_count;
    const int above = cut->high_count - wanted;
    const float aim = (float)below + (below > above ? -0.25f : 0.25f) * (float)BAND_COUNT;
    const float share = aim / (float)(cut->high_count - cut->low_count);
    const float low = cut->low > 0.0f ? cut->low : 0.0f;
    return low + (cut->high - low) * share;
}

// Half of the floats between.
static float guess_by_bisection(const bracket* cut)
{
    const uint32_t low = cut->low > 0.0f ? bits_of(cut->low) : 0;
    return float_of(low + (bits_of(cut->high) - low) / 2);
}

static bool is_single_value(const bracket* cut)
{
    const uint32_t low = cut->low > 0.0f ? bits_of(cut->low) : 0;
    return bits_of(cut->high) - low <= 1;
}

// Narrows until few are inside, or all inside have the same key. Where guesses in proportion are no
// good, the floats are halved every few steps: 31 times leaves nothing in any crowd.
static void find_cut(const float* key, int count, int wanted, bracket* cut)
{
    int misses = 0;
    while (cut->high_count - cut->low_count > BAND_COUNT) {
        const int inside = cut->high_count - cut->low_count;
        float guess = guess_by_proportion(cut, wanted);
        if (misses > MISSES_MAX) {
            misses = 0;
            tighten(key, count, cut);
            if (is_single_value(cut)) {
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
    float in;
    float edge;
} limits;

static limits limits_of(const bracket* cut)
{
    return (limits){.in = cut->low * (1.0f - MARGIN), .edge = cut->high * (1.0f + MARGIN)};
}

// Moves those surely in to the front and notes who is in the band; the others are gone. Returns how
// many are surely in.
static int split(ph_sweep* sweep, limits limit, int* edge_count)
{
    float* key = sweep->key;
    uint32_t* place = sweep->place;
    uint32_t* edge_place = sweep->edge_place;
    int in_count = 0;
    int edges = 0;
    for (int i = 0; i < sweep->count; ++i) {
        const float this_key = key[i];
        const uint32_t this_place = place[i];
        const int is_in = this_key <= limit.in;
        key[in_count] = this_key;
        place[in_count] = this_place;
        edge_place[edges] = this_place;
        in_count += is_in;
        edges += (this_key <= limit.edge) - is_in;
    }
    *edge_count = edges;
    return in_count;
}

static uint64_t distance2_of(const ph_sweep* sweep, uint32_t place)
{
    return ph_distance2(sweep->lineup->x_mm[place], sweep->lineup->y_mm[place], sweep->eye->x_mm,
                        sweep->eye->y_mm);
}

static void answer(const ph_sweep* sweep, const uint32_t* place, int count, ph_seen* seen)
{
    for (int i = 0; i < count; ++i) {
        seen[i] = (ph_seen){
            .distance2 = distance2_of(sweep, place[i]),
            .spawn_order = sweep->lineup->spawn_order[place[i]],
            .entity = sweep->lineup->entity[place[i]],
        };
    }
}

// Of those within the radius, all of whom are wanted or not: the limits of who is taken.
// Keys cannot tell who is beyond the radius by a hair, distances can.
static limits limits_at_radius(ph_sweep* sweep, int wanted)
{
    const uint64_t radius2 = (uint64_t)(sweep->radius_mm * sweep->radius_mm);
    const float in_limit = square(sweep->radius_mm) * (1.0f - MARGIN);
    const float edge_limit = square(sweep->radius_mm) * (1.0f + MARGIN);
    int within = 0;
    for (int i = 0; i < sweep->count; ++i) {
        if (sweep->key[i] > in_limit && sweep->key[i] <= edge_limit &&
            distance2_of(sweep, sweep->place[i]) > radius2) {
            sweep->key[i] = INFINITY;
        }
        within += sweep->key[i] <= edge_limit;
    }
    if (within <= wanted) {
        return (limits){.in = edge_limit, .edge = edge_limit};
    }
    bracket cut = {.low = -1.0f, .high = edge_limit, .high_count = within};
    find_cut(sweep->key, sweep->count, wanted, &cut);
    const limits limit = limits_of(&cut);
    return (limits){.in = limit.in, .edge = limit.edge < edge_limit ? limit.edge : edge_limit};
}

static limits limits_of_taken(ph_sweep* sweep, int wanted)
{
    if (sweep->within_count < wanted) {
        return limits_at_radius(sweep, wanted);
    }
    bracket cut = {
        .low = -1.0f,
        .high = square(sweep->radius_mm) * (1.0f - MARGIN),
        .high_count = sweep->within_count,
    };
    find_cut(sweep->key, sweep->count, wanted, &cut);
    return limits_of(&cut);
}

// Writes the answers for all that are left in the sweep, the `first` nearest first as a set.
static void answer_first(ph_sweep* sweep, int first, ph_seen* seen)
{
    float most = 0.0f;
    for (int i = 0; i < sweep->count; ++i) {
        most = sweep->key[i] > most ? sweep->key[i] : most;
    }
    bracket cut = {.low = -1.0f, .high = most, .high_count = sweep->count};
    find_cut(sweep->key, sweep->count, first, &cut);
    const limits limit = limits_of(&cut);

    // The others are kept from the far end of the list of edges; both fit, as nobody is in two
    // lists.
    uint32_t* rest = sweep->edge_place + sweep->count;
    int in_count = 0;
    int edges = 0;
    for (int i = 0; i < sweep->count; ++i) {
        const float key = sweep->key[i];
        const uint32_t place = sweep->place[i];
        if (key <= limit.in) {
            sweep->place[in_count++] = place;
        } else if (key <= limit.edge) {
            sweep->edge_place[edges++] = place;
        } else {
            *--rest = place;
        }
    }
    answer(sweep, sweep->place, in_count, seen);
    answer(sweep, sweep->edge_place, edges, seen + in_count);
    ph_select_nearest(seen + in_count, edges, first - in_count);
    answer(sweep, rest, sweep->count - in_count - edges, seen + in_count + edges);
}

int ph_sweep_take(ph_sweep* sweep, int wanted, int first, ph_seen* seen)
{
    PH_ASSERT(0 <= first && first <= wanted);

    if (wanted == 0) {
        return 0;
    }
    int edge_count;
    const limits limit = limits_of_taken(sweep, wanted);
    sweep->count = split(sweep, limit, &edge_count);
    const int in_count = sweep->count;
    answer(sweep, sweep->edge_place, edge_count, sweep->edge);
    const int edge_kept = ph_select_nearest(sweep->edge, edge_count, wanted - in_count);
    if (first > in_count) {
        ph_select_nearest(sweep->edge, edge_kept, first - in_count);
    }
    memcpy(seen + in_count, sweep->edge, (size_t)edge_kept * sizeof *seen);
    if (0 < first && first < in_count) {
        answer_first(sweep, first, seen);
    } else {
        answer(sweep, sweep->place, in_count, seen);
    }
    return in_count + edge_kept;
}
