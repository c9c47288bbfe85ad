// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Draws from the whole documented range of every field of a def. Ends are drawn more often than the
// middle: half of all draws are an end of the range or next to it, the rest are of every size (evenly
// in the logarithm). No function of the C library's mathematics takes part: every machine draws the same.
//
//     test_rng rng = {.state = 2024};
//     const int overhead_bytes = (int)draw_whole(&rng, 0, 1000);

#ifndef PINHOLE_TEST_DRAW_H
#define PINHOLE_TEST_DRAW_H

#include "test_support.h"

#include <pinhole/viewer.h>

// How many rounds a random test runs: usually so many, PH_TEST_ROUNDS times as many when that is
// set. Rounds are numbered from PH_TEST_FIRST on, usually 0: a round that failed is run alone by
// PH_TEST_FIRST=<its number> PH_TEST_ONLY=1.
typedef struct draw_rounds {
    int first;
    int end;
} draw_rounds;
draw_rounds draw_rounds_of(int usual);

// The round that begins, and that all are over. A test that fails in between says which it was, when
// draw_say_round() is its teardown.
void draw_begin(int round);
void draw_end(void);
int draw_say_round(void** state);
#define draw_unit_test(test) cmocka_unit_test_teardown(test, draw_say_round)

// For main() of such tests: PH_TEST_FILTER, such as '*any_setting*', runs only tests of that name.
void draw_filter_tests(void);

int64_t draw_whole(test_rng* rng, int64_t lo, int64_t hi);
double draw_real(test_rng* rng, double lo, double hi);

// ---- schemas

typedef struct draw_schema_limits {
    int classes_max;    // 1..PH_CLASSES_MAX
    int properties_max; // of a class, 1..PH_PROPERTIES_MAX
} draw_schema_limits;

// Every coding, every parameter, every policy.
ph_schema* draw_schema(test_rng* rng, const draw_schema_limits* limits);

// About what one entity of the largest class takes, in bytes.
int draw_schema_bytes(const ph_schema* schema);

// ---- worlds and viewers

// All but schema, profile, ground, may_see and allocator, which stay as they are by default.
ph_world_def draw_world_def(test_rng* rng);

// What keeps a viewer affordable for a test; beyond that it is drawn from everything.
typedef struct draw_viewer_limits {
    int32_t radius_max_mm;   // of the world
    int visible_max;         // 1..PH_VISIBLE_MAX
    int slot_count_max;      // more than visible_max, up to 65535
    int bits_per_second;     // no lower than this, 1,000 or more
    double sends_per_second; // no slower than this
} draw_viewer_limits;

// All but entity, eye, masks and session; and whether it writes codes in place of the models.
ph_viewer_def draw_viewer_def(test_rng* rng, const draw_viewer_limits* limits, bool* is_universal);

// bits_per_second of a viewer: 0 (no limit) sometimes.
int draw_budget(test_rng* rng, int least);
int draw_burst(test_rng* rng);

#endif
