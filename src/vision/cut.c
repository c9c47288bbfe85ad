// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// No integer division, no gather, no branch inside the loops: compilers make vectors of them.

#include "vision/cut.h"

enum {
    BAND_COUNT = 16, // few enough to compare one by one
    MISSES_MAX = 3,  // guesses in proportion that may fail to halve the bracket in a row
};

int ph_key_count(const int32_t* key, int count, int32_t limit)
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
static void tighten(const int32_t* key, int count, ph_cut* cut)
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
static void narrow(ph_cut* cut, int wanted, int32_t guess, int within)
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
// right. It aims a little beside the rank, towards the wider side, to cut that off.
static int32_t guess_by_proportion(const ph_cut* cut, int wanted)
{
    const int below = wanted - cut->low_count;
    const int above = cut->high_count - wanted;
    const float aim = (float)below + (below > above ? -0.25f : 0.25f) * (float)BAND_COUNT;
    const float share = aim / (float)(cut->high_count - cut->low_count);
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
            tighten(key, count, cut);
            if (cut->high - cut->low <= 1) {
                return;
            }
            guess = guess_by_bisection(cut);
        }
        if (guess > cut->low && guess < cut->high) {
            narrow(cut, wanted, guess, ph_key_count(key, count, guess));
        }
        misses += cut->high_count - cut->low_count > inside / 2;
    }
}
