// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Baselines: what both ends know, and where they expect things to be.

#include "packet/baseline.h"

#include "base/hash.h"
#include "support/test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TICK_US 50000

static const char SCHEMA[] = "class thing\n"
                             "place: position\n"
                             "heading: angle 8\n"
                             "health: range 0..100\n"
                             "name: string 8\n"
                             "friend: entity\n";

enum { PLACE, HEADING, HEALTH, NAME, FRIEND, WORDS = 16, KNOWN = 64 };

typedef struct fixture {
    ph_schema* schema;
    ph_layouts layouts;
    ph_packing packing;
    ph_baseline_rules rules;
    ph_baseline baseline;
    uint8_t known[KNOWN];
    uint32_t words[WORDS];
    uint8_t texts[WORDS];
} fixture;

static void setup_with(fixture* f, const char* schema, size_t length)
{
    *f = (fixture){0};
    assert_int_equal(ph_schema_parse(schema, length, NULL, &f->schema, NULL), PH_OK);
    assert_int_equal(ph_layouts_create(&f->layouts, f->schema, NULL), PH_OK);
    f->packing = ph_packing_make(&f->layouts.layouts[0]);
    f->rules =
        (ph_baseline_rules){.layouts = &f->layouts, .packings = &f->packing, .tick_us = TICK_US};
}

static void setup(fixture* f)
{
    setup_with(f, SCHEMA, sizeof SCHEMA - 1);
    assert_int_equal(f->layouts.layouts[0].word[HEADING], 3);
}

static void teardown(fixture* f)
{
    ph_layouts_destroy(&f->layouts);
    ph_schema_destroy(f->schema);
}

static ph_record record_at(fixture* f, ph_record_kind kind, int32_t x_mm, int32_t y_mm)
{
    f->words[0] = (uint32_t)x_mm;
    f->words[1] = (uint32_t)y_mm;
    f->words[2] = 0;
    return (ph_record){
        .kind = (uint8_t)kind, .properties = 1u << PLACE, .words = f->words, .texts = f->texts};
}

static void take(fixture* f, const ph_record* record, uint32_t tick)
{
    ph_baseline_take(&f->baseline, f->known, &f->rules, record, tick);
}

static void enter_and_move(fixture* f, int32_t x_mm, int32_t step_mm, uint32_t tick)
{
    ph_record record = record_at(f, PH_RECORD_ENTER, x_mm, 0);
    take(f, &record, tick);
    record = record_at(f, PH_RECORD_UPDATE, (int32_t)((uint32_t)x_mm + (uint32_t)step_mm), 0);
    take(f, &record, tick + 2);
}

static int32_t predicted_x(const fixture* f, uint32_t tick)
{
    int32_t position_mm[3];
    ph_baseline_predict(&f->baseline, tick, TICK_US, position_mm);
    return position_mm[0];
}

static void an_entity_that_enters_stays_unless_it_brings_a_velocity(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    ph_record record = record_at(&f, PH_RECORD_ENTER, 1600, 0);
    take(&f, &record, 100);
    assert_int_equal(predicted_x(&f, 110), 1600);
    record.velocity[0] = -5; // 80 mm in 3 ticks
    take(&f, &record, 100);
    assert_int_equal(predicted_x(&f, 100), 1600);
    assert_int_equal(predicted_x(&f, 109), 1600 - 240);
    teardown(&f);
}

static void motion_goes_on_through_the_two_newest_samples(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter_and_move(&f, 0, 160, 100);
    assert_int_equal(predicted_x(&f, 102), 160);
    assert_int_equal(predicted_x(&f, 103), 240);
    assert_int_equal(predicted_x(&f, 104), 320);
    const ph_record record = record_at(&f, PH_RECORD_UPDATE, 160, 0);
    take(&f, &record, 104);
    assert_int_equal(predicted_x(&f, 120), 160);
    teardown(&f);
}

static void motion_is_not_carried_on_for_ever(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter_and_move(&f, 0, 160, 100);
    const int32_t end_mm = predicted_x(&f, 102 + 4000000 / TICK_US);
    assert_int_equal(end_mm, 160 + 80 * (4000000 / TICK_US));
    assert_int_equal(predicted_x(&f, 102 + 4000000 / TICK_US + 1), end_mm);
    assert_int_equal(predicted_x(&f, 100 + 2000000000u), end_mm);
    teardown(&f);
}

static void a_tick_before_the_newest_sample_is_no_time(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter_and_move(&f, 0, 160, 100);
    assert_int_equal(predicted_x(&f, 90), 160);
    teardown(&f);
}

static void coordinates_and_ticks_wrap(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter_and_move(&f, INT32_MAX - 15, 32, UINT32_MAX - 1);
    assert_int_equal(f.baseline.position_mm[0][0], INT32_MIN + 16);
    assert_int_equal(predicted_x(&f, 2), INT32_MIN + 48);
    teardown(&f);
}

static void a_jump_leaves_no_motion(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter_and_move(&f, 0, 160, 100);
    ph_record record = record_at(&f, PH_RECORD_UPDATE, 160000, 0);
    record.is_jump = true;
    const uint8_t size = f.baseline.plane_size;
    take(&f, &record, 104);
    assert_int_equal(predicted_x(&f, 120), 160000);
    assert_int_equal(f.baseline.plane_size, size);
    teardown(&f);
}

static void a_second_sample_of_the_same_tick_replaces_the_first(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter_and_move(&f, 0, 160, 100);
    const ph_record record = record_at(&f, PH_RECORD_UPDATE, 320, 0);
    take(&f, &record, 102);
    assert_int_equal(predicted_x(&f, 104), 640);
    teardown(&f);
}

static void residuals_grow_and_fade(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter_and_move(&f, 0, 160, 100);
    ph_record record = record_at(&f, PH_RECORD_UPDATE, 20000, 20000);
    take(&f, &record, 104);
    const uint8_t large = f.baseline.plane_size;
    assert_true(large > 40);
    for (uint32_t i = 0; i < 10; ++i) {
        int32_t position_mm[3];
        ph_baseline_predict(&f.baseline, 106 + i, TICK_US, position_mm);
        record = record_at(&f, PH_RECORD_UPDATE, position_mm[0], position_mm[1]);
        take(&f, &record, 106 + i);
    }
    assert_true(f.baseline.plane_size < large / 4);
    assert_int_equal(f.baseline.z_size, 0);
    teardown(&f);
}

static void an_update_of_no_entity_and_a_leave_leave_nothing(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    ph_record record = record_at(&f, PH_RECORD_UPDATE, 16, 0);
    take(&f, &record, 5);
    assert_false(f.baseline.is_entered);
    enter_and_move(&f, 0, 160, 100);
    record.kind = PH_RECORD_LEAVE;
    take(&f, &record, 105);
    const ph_baseline empty = {0};
    assert_memory_equal(&f.baseline, &empty, sizeof empty);
    teardown(&f);
}

static void an_enter_starts_from_initial_values(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    ph_record record = record_at(&f, PH_RECORD_ENTER, 16, 0);
    record.properties |= 1u << HEALTH;
    f.words[f.layouts.layouts[0].word[HEALTH]] = 70;
    take(&f, &record, 5);
    uint32_t health;
    ph_packing_load(&f.packing, HEALTH, f.known + f.packing.offset[HEALTH], &health);
    assert_int_equal(health, 70);
    record.properties = 1u << PLACE;
    take(&f, &record, 6);
    ph_packing_load(&f.packing, HEALTH, f.known + f.packing.offset[HEALTH], &health);
    assert_int_equal(health, 0);
    teardown(&f);
}

// Walkers look where they go: after a few samples the direction is the better guess.
static void headings_are_guessed_from_where_it_goes(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    ph_record record = record_at(&f, PH_RECORD_ENTER, 0, 0);
    take(&f, &record, 0);
    for (int i = 1; i <= 8; ++i) {
        const double turn = 0.7 * i;
        record = record_at(&f, PH_RECORD_UPDATE, (int32_t)(1600 * cos(turn)) / 16 * 16,
                           (int32_t)(1600 * sin(turn)) / 16 * 16);
        record.properties |= 1u << HEADING;
        const uint16_t direction =
            ph_direction_of((int32_t)f.words[0] - f.baseline.position_mm[0][0],
                            (int32_t)f.words[1] - f.baseline.position_mm[0][1]);
        f.words[3] = (direction + 128u) >> 8 & 255u;
        take(&f, &record, (uint32_t)i * 5);
    }
    assert_true(f.baseline.turned_size < f.baseline.heading_size);
    assert_true(f.baseline.turned_size <= 3);
    teardown(&f);
}

static void a_digest_sees_all_but_texts_and_high_associations(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    enter_and_move(&f, 0, 160, 100);
    const uint64_t digest = ph_baseline_digest(&f.baseline, f.known, &f.rules);
    uint8_t known[KNOWN];
    memcpy(known, f.known, sizeof known);
    ph_packing_store(&f.packing, NAME, &(uint32_t){7}, known + f.packing.offset[NAME]);
    ph_packing_store(&f.packing, FRIEND, (uint32_t[]){0, 4}, known + f.packing.offset[FRIEND]);
    assert_true(ph_baseline_digest(&f.baseline, known, &f.rules) == digest);
    ph_packing_store(&f.packing, FRIEND, (uint32_t[]){0, 5}, known + f.packing.offset[FRIEND]);
    assert_true(ph_baseline_digest(&f.baseline, known, &f.rules) != digest);
    memcpy(known, f.known, sizeof known);
    ph_packing_store(&f.packing, HEALTH, &(uint32_t){7}, known + f.packing.offset[HEALTH]);
    assert_true(ph_baseline_digest(&f.baseline, known, &f.rules) != digest);
    ph_baseline other = f.baseline;
    other.position_mm[1][2] += 16;
    assert_true(ph_baseline_digest(&other, f.known, &f.rules) != digest);
    other = f.baseline;
    other.z_size += 1;
    assert_true(ph_baseline_digest(&other, f.known, &f.rules) != digest);
    teardown(&f);
}

static void directions_are_right_all_the_way_round(void** state)
{
    (void)state;
    for (int i = 0; i < 4000; ++i) {
        const double turn = i / 4000.0;
        const double length = exp2(4 + i % 27);
        const int32_t x = (int32_t)lround(length * cos(turn * 2 * acos(-1)));
        const int32_t y = (int32_t)lround(length * sin(turn * 2 * acos(-1)));
        const double exact = atan2(y, x) / (2 * acos(-1)) * 65536;
        const int16_t off = (int16_t)(ph_direction_of(x, y) - (int32_t)lround(exact));
        assert_in_range(off + 8, 0, 16);
    }
    assert_int_equal(ph_direction_of(0, 0), 0);
    assert_in_range(ph_direction_of(INT32_MIN, 0), 32767, 32769);
    assert_in_range(ph_direction_of(0, INT32_MIN), 49151, 49153);
}

// Both ends work them out, with any compiler: not one may ever change.
static void directions_are_those_of_all_versions(void** state)
{
    (void)state;
    ph_hash hash = ph_hash_make(1);
    uint32_t random = 1;
    for (int i = 0; i < 100000; ++i) {
        int32_t way[2];
        for (int k = 0; k < 2; ++k) {
            random = random * 1664525u + 1013904223u;
            way[k] = (int32_t)random / (INT32_C(1) << (i % 31));
        }
        ph_hash_add_u64(&hash, ph_direction_of(way[0], way[1]));
    }
    assert_true(ph_hash_value(&hash) == UINT64_C(0x81dcb2abe9da6c60));
}

// ---- short ways through the arithmetic

static int64_t rounded(int64_t dividend, int64_t divisor)
{
    const int64_t magnitude = (llabs(dividend) + divisor / 2) / divisor;
    return dividend < 0 ? -magnitude : magnitude;
}

// All pairs of times; of the ways, those around which the result changes, and the longest.
static void reciprocals_divide_exactly(void** state)
{
    (void)state;
    for (uint32_t ticks = 1; ticks < PH_RECIPROCALS; ++ticks) {
        for (uint32_t ahead = 0; ahead < PH_RECIPROCALS; ++ahead) {
            for (int32_t i = 0; i < 200; ++i) {
                const int32_t spread = i < 100 ? i : PH_CARRIED_MM_END - 1 - (i - 100) * 5150;
                for (int32_t off = -1; off <= 1; ++off) {
                    const int32_t turning =
                        spread / (int32_t)ticks * (int32_t)ticks + (int32_t)ticks / 2 + off;
                    const int32_t way =
                        turning < 0 || turning >= PH_CARRIED_MM_END ? spread : turning;
                    const int64_t exact = rounded((int64_t)way * ahead, ticks);
                    assert_true(ph_baseline_extrapolated(way, ticks, ahead) == exact);
                    assert_true(ph_baseline_extrapolated(-way, ticks, ahead) == -exact);
                }
            }
        }
    }
}

static void predict_plainly(const ph_baseline* baseline, uint32_t tick, int32_t position_mm[3])
{
    const uint64_t ahead_us = ph_baseline_time_us(baseline->tick[0], tick, TICK_US);
    const uint64_t carried_us = ahead_us < PH_CARRY_US ? ahead_us : PH_CARRY_US;
    const uint32_t between = baseline->tick[0] - baseline->tick[1];
    for (int i = 0; i < 3; ++i) {
        const int32_t way_mm = (int32_t)((uint32_t)baseline->position_mm[0][i] -
                                         (uint32_t)baseline->position_mm[1][i]);
        const bool goes_on = baseline->sample_count == 2 && (i < 2 || !baseline->has_ground);
        const int64_t moved_mm = goes_on && between != 0
                                     ? rounded(way_mm * (int64_t)(carried_us / TICK_US), between)
                                     : 0;
        position_mm[i] = (int32_t)((uint32_t)baseline->position_mm[0][i] + (uint32_t)moved_mm);
    }
}

static uint32_t draw_ticks(test_rng* rng)
{
    return (uint32_t)test_rng_next(rng) >> (test_rng_below(rng, 8) == 0 ? 0 : 26);
}

static ph_baseline draw_baseline(test_rng* rng)
{
    ph_baseline drawn = {.is_entered = true,
                         .has_ground = test_rng_below(rng, 4) == 0,
                         .shift = (uint8_t)test_rng_below(rng, 8),
                         .sample_count = (uint8_t)(1 + (test_rng_below(rng, 8) != 0)),
                         .plane_size = (uint8_t)test_rng_below(rng, 256),
                         .z_size = (uint8_t)test_rng_below(rng, 256)};
    drawn.tick[0] = (uint32_t)test_rng_next(rng);
    drawn.tick[1] = drawn.tick[0] - draw_ticks(rng);
    const int shift = (int)test_rng_below(rng, 32);
    for (int i = 0; i < 3; ++i) {
        drawn.position_mm[0][i] = (int32_t)test_rng_next(rng);
        drawn.position_mm[1][i] = (int32_t)((uint32_t)drawn.position_mm[0][i] +
                                            (uint32_t)((int32_t)test_rng_next(rng) >> shift));
    }
    return drawn;
}

static void predictions_are_the_last_step_carried_on(void** state)
{
    (void)state;
    test_rng rng = {.state = 5};
    for (int round = 0; round < 200000; ++round) {
        const ph_baseline baseline = draw_baseline(&rng);
        const bool is_steady = test_rng_below(&rng, 3) == 0;
        const uint32_t tick =
            baseline.tick[0] + (is_steady ? baseline.tick[0] - baseline.tick[1] : draw_ticks(&rng));
        int32_t position_mm[3];
        int32_t plain_mm[3];
        ph_baseline_predict(&baseline, tick, TICK_US, position_mm);
        predict_plainly(&baseline, tick, plain_mm);
        assert_memory_equal(position_mm, plain_mm, sizeof plain_mm);
    }
}

// With a table of sizes or without: both ends arrive at the same.
static void steps_are_the_same_with_and_without_a_table(void** state)
{
    (void)state;
    enum { STEPS = 40 };
    static ph_normals normals;
    ph_normals_fill(&normals, TICK_US);
    const ph_baseline_rules quick = {.tick_us = TICK_US, .normals = &normals};
    const ph_baseline_rules plain = {.tick_us = TICK_US};
    test_rng rng = {.state = 6};
    for (int round = 0; round < 2000; ++round) {
        const uint32_t tick = (uint32_t)test_rng_next(&rng);
        for (int i = 0; i < STEPS; ++i) {
            int32_t position_mm[3];
            ph_baseline drawn = draw_baseline(&rng);
            const uint32_t between = drawn.tick[0] - drawn.tick[1];
            drawn.tick[0] = tick - draw_ticks(&rng);
            drawn.tick[1] = drawn.tick[0] - between;
            ph_baseline_predict(&drawn, tick, TICK_US, position_mm);
            const int shift = (int)test_rng_below(&rng, 32);
            for (int k = 0; k < 3; ++k) {
                const uint32_t off = (uint32_t)((int32_t)test_rng_next(&rng) >> shift);
                position_mm[k] = (int32_t)((uint32_t)position_mm[k] + off);
            }
            ph_baseline with = drawn;
            ph_baseline without = drawn;
            ph_baseline_step(&with, &quick, (const uint8_t*)position_mm, tick);
            ph_baseline_step(&without, &plain, (const uint8_t*)position_mm, tick);
            assert_memory_equal(&with, &without, sizeof with);
        }
    }
}

static void sizes_are_logarithms_in_eighths(void** state)
{
    (void)state;
    for (uint64_t value = 2; value < 100000; value += 1 + value / 50) {
        const double exact = 8 * log2((double)value);
        assert_true(fabs(ph_log2_eighths(value) - floor(exact + 1e-9)) <= 1);
    }
    assert_int_equal(ph_log2_eighths(UINT64_MAX), 8 * 63 + 7);
    for (int i = 0; i < 256; ++i) {
        assert_int_equal(ph_eighths[i], (int)floor(8 * log2(1 + i / 256.0)));
    }
    for (uint32_t steps = 0; steps < PH_SIZES; ++steps) {
        assert_int_equal(ph_sizes[steps], ph_log2_eighths(2 * (uint64_t)steps + 1));
    }
    assert_int_equal(ph_size_of(0), 0);
    assert_int_equal(ph_size_of(1), 12);
    assert_int_equal(ph_size_of(INT32_MAX), PH_SIZE_MAX);
    assert_int_equal(ph_size_of(INT32_MAX / 64), PH_SIZE_MAX - 8 * 6);
    assert_int_equal(ph_size_of(UINT64_MAX), PH_SIZE_MAX);
    assert_int_equal(ph_size_stretched(ph_size_normal(40, 1000000, 4), 1000000, 4), 40);
    assert_int_equal(ph_size_normal(40, 500000, 4), 32);
}

static void residuals_grow_no_longer_than_motion_is_carried_on(void** state)
{
    (void)state;
    const int most = ph_size_stretched(40, PH_CARRY_US, PH_GROWTH_POSITION);
    assert_true(most > ph_size_stretched(40, PH_CARRY_US / 2, PH_GROWTH_POSITION));
    assert_int_equal(ph_size_stretched(40, 60 * (uint64_t)PH_CARRY_US, PH_GROWTH_POSITION), most);
    assert_int_equal(ph_size_normal(200, 60 * (uint64_t)PH_CARRY_US, PH_GROWTH_POSITION),
                     ph_size_normal(200, PH_CARRY_US, PH_GROWTH_POSITION));
}

static void growths_are_the_same_from_a_table(void** state)
{
    (void)state;
    int16_t growths[PH_GROWTH_TICKS];
    ph_growths_fill(growths, 250000);
    for (uint32_t ticks = 0; ticks < 2 * PH_GROWTH_TICKS; ++ticks) {
        const ph_baseline baseline = {.tick = {UINT32_MAX - 5}};
        const uint32_t tick = baseline.tick[0] + ticks;
        const int growth = ph_baseline_growth(&baseline, growths, tick, 250000);
        assert_int_equal(growth, ph_baseline_growth(&baseline, NULL, tick, 250000));
    }
}

static void on_a_ground_altitudes_stay(void** state)
{
    (void)state;
    static const char GROUNDED[] = "class walker\nplace: position ground 500\n";
    fixture f;
    setup_with(&f, GROUNDED, sizeof GROUNDED - 1);
    enter_and_move(&f, 0, 160, 100);
    ph_record record = record_at(&f, PH_RECORD_UPDATE, 320, 0);
    f.words[2] = 4800;
    take(&f, &record, 104);
    int32_t position_mm[3];
    ph_baseline_predict(&f.baseline, 106, TICK_US, position_mm);
    assert_int_equal(position_mm[0], 480);
    assert_int_equal(position_mm[2], 4800);
    teardown(&f);
}

// What it was is unknown afterwards: a client has no words for it to compare with.
static void a_heading_told_once_leaves_no_sizes(void** state)
{
    (void)state;
    static const char ONCE[] = "class walker\nplace: position\nheading: angle 8 once\n";
    fixture f;
    setup_with(&f, ONCE, sizeof ONCE - 1);
    enter_and_move(&f, 0, 160, 100);
    const ph_baseline before = f.baseline;
    ph_record record = record_at(&f, PH_RECORD_UPDATE, 320, 0);
    record.properties = 1u << HEADING;
    f.words[3] = 99;
    take(&f, &record, 104);
    assert_int_equal(f.baseline.heading_size, before.heading_size);
    assert_int_equal(f.baseline.turned_size, before.turned_size);
    assert_int_equal(f.baseline.heading_tick, before.heading_tick);
    teardown(&f);
}

static void a_velocity_is_a_way_of_an_eighth_of_a_second_in_steps(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    int16_t velocity[3];
    assert_int_equal(ph_baseline_velocity_ticks(TICK_US), 3);
    assert_int_equal(ph_baseline_velocity_ticks(10000000), 1);
    ph_baseline_velocity(&f.layouts.layouts[0], TICK_US, (int32_t[]){160, -161, INT32_MIN}, 1,
                         velocity);
    assert_int_equal(velocity[0], 30);
    assert_int_equal(velocity[1], -30);
    assert_int_equal(velocity[2], -INT16_MAX);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entity_that_enters_stays_unless_it_brings_a_velocity),
        cmocka_unit_test(motion_goes_on_through_the_two_newest_samples),
        cmocka_unit_test(motion_is_not_carried_on_for_ever),
        cmocka_unit_test(a_tick_before_the_newest_sample_is_no_time),
        cmocka_unit_test(coordinates_and_ticks_wrap),
        cmocka_unit_test(a_jump_leaves_no_motion),
        cmocka_unit_test(a_second_sample_of_the_same_tick_replaces_the_first),
        cmocka_unit_test(residuals_grow_and_fade),
        cmocka_unit_test(an_update_of_no_entity_and_a_leave_leave_nothing),
        cmocka_unit_test(an_enter_starts_from_initial_values),
        cmocka_unit_test(headings_are_guessed_from_where_it_goes),
        cmocka_unit_test(a_digest_sees_all_but_texts_and_high_associations),
        cmocka_unit_test(directions_are_right_all_the_way_round),
        cmocka_unit_test(directions_are_those_of_all_versions),
        cmocka_unit_test(reciprocals_divide_exactly),
        cmocka_unit_test(predictions_are_the_last_step_carried_on),
        cmocka_unit_test(steps_are_the_same_with_and_without_a_table),
        cmocka_unit_test(sizes_are_logarithms_in_eighths),
        cmocka_unit_test(residuals_grow_no_longer_than_motion_is_carried_on),
        cmocka_unit_test(growths_are_the_same_from_a_table),
        cmocka_unit_test(on_a_ground_altitudes_stay),
        cmocka_unit_test(a_heading_told_once_leaves_no_sizes),
        cmocka_unit_test(a_velocity_is_a_way_of_an_eighth_of_a_second_in_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
